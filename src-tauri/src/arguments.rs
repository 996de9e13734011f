//! The window's command line: paths to open, `--dir`, `--help`, `--version`. Everything else is `chipdeck`'s.

use std::ffi::OsString;
use std::path::PathBuf;

pub const HINT: &str = "chipdeck-desktop --help lists what it takes.";
pub const NO_DISPLAY: &str =
    "Without a screen, one can be made: xvfb-run -a -s \"-screen 0 1280x800x24\" chipdeck-desktop";
const HELP: &str = "\
Chipdeck: inspector and replayer for AI coding agents

Usage: chipdeck-desktop [--dir CHIPS] [PATH…]

  PATH         logs, folders, chips or databases to open; a folder becomes a root that restores may write to
  --dir CHIPS  the chip folder, where it is not the usual one
  --demo       opens the bundled demo
  --or-demo    opens it when nothing is found on this machine
  --help, --version

A second start hands its paths to the first window. `chipdeck --help` lists what works without a window.";

/// What a start was given.
#[derive(Debug, Default, PartialEq)]
pub struct Given {
    /// Absolute.
    pub paths: Vec<PathBuf>,
    /// Absolute.
    pub chips: Option<PathBuf>,
    pub demo: Demo,
}

/// Whether the bundled demo is opened, when no path is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Demo {
    #[default]
    Never,
    /// When nothing is found on this machine.
    WhenNothing,
    Always,
}

#[derive(Debug, PartialEq)]
pub enum Asked {
    Window(Given),
    Text(String),
}

/// # Errors
/// One sentence for people.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Asked, String> {
    let mut given = Given::default();
    let mut arguments = arguments;
    let mut options = true;
    while let Some(argument) = arguments.next() {
        let text = argument.to_str().unwrap_or_default();
        if !options || !text.starts_with('-') {
            given.paths.push(absolute(argument)?);
            continue;
        }
        match text {
            "--" => options = false,
            "-h" | "--help" => return Ok(Asked::Text(HELP.into())),
            "-V" | "--version" => {
                return Ok(Asked::Text(format!(
                    "chipdeck-desktop {}",
                    env!("CARGO_PKG_VERSION")
                )))
            }
            "--demo" => given.demo = Demo::Always,
            "--or-demo" => given.demo = Demo::WhenNothing,
            "--dir" => {
                let folder = arguments.next().ok_or("--dir needs a folder.")?;
                given.chips = Some(absolute(folder)?);
            }
            _ => match text.strip_prefix("--dir=") {
                Some(folder) => given.chips = Some(absolute(folder.into())?),
                None => return Err(format!("{text:?} is not an option.")),
            },
        }
    }
    Ok(Asked::Window(given))
}

fn absolute(path: OsString) -> Result<PathBuf, String> {
    std::path::absolute(&path).map_err(|error| format!("{path:?} is not a path: {error}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(arguments: &[&str]) -> Result<Asked, String> {
        parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn paths_become_absolute_and_options_end() {
        let Ok(Asked::Window(given)) = ask(&["a b.jsonl", "/x", "--dir", "/chips", "--", "--dir"])
        else {
            panic!()
        };
        let here = std::env::current_dir().unwrap();
        assert_eq!(
            given.paths,
            [here.join("a b.jsonl"), "/x".into(), here.join("--dir")]
        );
        assert_eq!(given.chips, Some("/chips".into()));
    }

    #[test]
    fn what_is_unknown_is_said() {
        assert_eq!(
            ask(&["--frobnicate"]),
            Err("\"--frobnicate\" is not an option.".into())
        );
        assert!(ask(&["--dir"]).is_err());
        assert!(matches!(ask(&["--help"]), Ok(Asked::Text(text)) if text.contains("PATH")));
    }
}
