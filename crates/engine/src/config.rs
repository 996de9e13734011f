//! What an engine is started with. Places, environment and arguments come in from outside, so that a test has its
//! own and nothing is found by accident.

use crate::settings::Settings;
use chipdeck_disk::logs::Homes;
use chipdeck_disk::own;
use chipdeck_disk::places::Places;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct Config {
    /// Our own folders.
    pub places: Places,
    /// Where agents' logs are looked for; `None`: nowhere.
    pub homes: Option<Homes>,
    /// Settings from the environment (`CHIPDECK_*`), and what decides where the chip folder is.
    pub environment: Vec<(String, String)>,
    /// Settings given on the command line: (`ui.theme`, `dark`).
    pub arguments: Vec<(String, String)>,
    /// The bundled demo: a folder with a log set, `chips/` and `project/`.
    pub demo: Option<PathBuf>,
}

impl Config {
    /// The places of this user on this machine; without a home folder, a temporary one.
    pub fn of_this_machine() -> Config {
        Config {
            places: Places::of_this_user()
                .unwrap_or_else(|| Places::below(&std::env::temp_dir().join("chipdeck"))),
            homes: Homes::of_this_machine(),
            environment: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
            arguments: Vec::new(),
            demo: None,
        }
    }

    /// The settings as a command has them: the user's file and the environment. A file that can't be read counts as
    /// none, and is the second.
    pub fn settings(&self) -> (Settings, Option<String>) {
        let path = self.places.settings();
        let (file, unread) = match own::read(&path) {
            Ok(file) => (file.unwrap_or_default(), None),
            Err(error) => (String::new(), Some(error.to_string())),
        };
        let settings = Settings::layered(&file, self.environment.clone(), self.arguments.clone());
        (settings, unread)
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment
            .iter()
            .find(|(it, _)| it == name)
            .map(|(_, value)| value.as_str())
            .filter(|it| !it.is_empty())
    }
}
