//! Base folders that agents keep their logs below, and the variables by which they are told others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Variables that move an agent's folder. Names as the agents read them.
pub const VARIABLES: &[&str] = &[
    "AIDER_CHAT_HISTORY_FILE",
    "AMP_HOME",
    "CLAUDE_CONFIG_DIR",
    "CLINE_DATA_DIR",
    "CLINE_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "FACTORY_DIR",
    "GEMINI_CLI_HOME",
    "GOOSE_PATH_ROOT",
    "KIMI_CODE_HOME",
    "KIMI_SHARE_DIR",
    "OPENCODE_DB",
    "OPENHANDS_CONVERSATIONS_DIR",
    "OPENHANDS_PERSISTENCE_DIR",
    "PI_CODING_AGENT_DIR",
    "PI_CODING_AGENT_SESSION_DIR",
    "QWEN_HOME",
    "QWEN_RUNTIME_DIR",
    "SWE_AGENT_TRAJECTORY_DIR",
    "VSCODE_PORTABLE",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// Where logs are looked for; it comes in so that a test (or `--home`) can choose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homes {
    pub home: PathBuf,
    /// `$XDG_DATA_HOME` or `~/.local/share`: agents use it on every system.
    pub data: PathBuf,
    /// Where editors keep their state: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
    pub config: PathBuf,
    /// The [`VARIABLES`] that are set; they hold for this user's own home.
    pub variables: BTreeMap<String, String>,
    /// Further home folders, of another system or a container; a part that is `*` is any folder.
    pub others: Vec<PathBuf>,
    /// Folders that are looked through for logs of any agent.
    pub folders: Vec<PathBuf>,
}

impl Homes {
    /// `None` when this user has no home folder.
    pub fn of_this_machine() -> Option<Homes> {
        let home = dirs::home_dir()?;
        let mut homes = Homes::below(&home);
        homes.variables = VARIABLES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .filter(|(_, value)| !value.trim().is_empty())
            .collect();
        if let Some(data) = homes.folder("XDG_DATA_HOME") {
            homes.data = data;
        }
        if let Some(config) = dirs::config_dir() {
            homes.config = config;
        }
        Some(homes)
    }

    /// A home with everything at its usual place.
    pub fn below(home: &Path) -> Homes {
        Homes {
            home: home.to_owned(),
            data: home.join(".local/share"),
            config: home.join(".config"),
            variables: BTreeMap::new(),
            others: Vec::new(),
            folders: Vec::new(),
        }
    }

    /// Further homes and folders, as settings give them: `~/` is this home; what is no absolute path is left out.
    pub fn with(mut self, others: &[String], folders: &[String]) -> Homes {
        let absolute = |texts: &[String]| -> Vec<PathBuf> {
            texts.iter().filter_map(|text| self.path(text)).collect()
        };
        let (others, folders) = (absolute(others), absolute(folders));
        self.others = others;
        self.folders = folders;
        self
    }

    /// The folder that a variable names. One that is not absolute depends on where the agent was started: unknown.
    pub(super) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.path(self.variables.get(name)?)
    }

    /// The folders that a variable names, with commas between them.
    pub(super) fn list(&self, name: &str) -> Vec<PathBuf> {
        let value = self.variables.get(name).map(String::as_str);
        let parts = value.unwrap_or_default().split(',');
        parts.filter_map(|part| self.path(part)).collect()
    }

    fn path(&self, text: &str) -> Option<PathBuf> {
        let text = text.trim();
        let path = match text.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None if text == "~" => self.home.clone(),
            None => PathBuf::from(text),
        };
        path.is_absolute().then_some(path)
    }

    /// The other homes that there are, each once.
    pub(super) fn other_homes(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for given in &self.others {
            for home in expand(given) {
                if home != self.home && !found.contains(&home) {
                    found.push(home);
                }
            }
        }
        found
    }
}

/// Most folders that a `*` stands for.
const MOST: usize = 200;

/// The folders that a path with `*` for whole parts stands for.
fn expand(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        if part.as_os_str() != "*" {
            found.iter_mut().for_each(|path| path.push(part));
            continue;
        }
        let mut next = Vec::new();
        for folder in &found {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let folders = entries.map(|entry| entry.path()).filter(|it| it.is_dir());
            next.extend(folders.take(MOST));
        }
        next.sort();
        next.truncate(MOST);
        found = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_given_homes() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["users/a", "users/b", "users/a/x"] {
            std::fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("users/file"), "").unwrap();
        let mut homes = Homes::below(&dir.path().join("users/a")).with(
            &[
                format!("{}/users/*", dir.path().display()),
                "~/x".into(),
                "relative".into(),
            ],
            &["~".into()],
        );
        assert_eq!(
            homes.other_homes(),
            [dir.path().join("users/b"), dir.path().join("users/a/x")]
        );
        assert_eq!(homes.folders, [dir.path().join("users/a")]);
        let mut set = |value: &str| {
            homes
                .variables
                .insert("CLAUDE_CONFIG_DIR".into(), value.into());
            homes.list("CLAUDE_CONFIG_DIR")
        };
        assert_eq!(set("/a, /b,c"), [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert!(set("").is_empty());
    }
}
