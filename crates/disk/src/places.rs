//! Our own places on this machine: data, settings, cache. Folders 0700, files 0600.
//!
//! `$XDG_DATA_HOME/chipdeck`, `$XDG_CONFIG_HOME/chipdeck`, `$XDG_CACHE_HOME/chipdeck`; on other systems what
//! `dirs` gives. Nothing is made before it is needed. Left out: what is kept there.

use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "chipdeck";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Journal, before-images, archive.
    pub data: PathBuf,
    /// `config.toml`.
    pub config: PathBuf,
    pub cache: PathBuf,
}

impl Places {
    /// Those of the user who runs us. `None`: there is no home folder, or `HOME` is empty (that of the account is not
    /// taken then: whoever empties it wants nothing written there).
    pub fn of_this_user() -> Option<Places> {
        let named = |name| std::env::var_os(name).is_some_and(|it| !it.is_empty());
        let xdg = ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"];
        if cfg!(unix) && !named("HOME") && !xdg.into_iter().all(named) {
            return None;
        }
        Some(Places {
            data: dirs::data_dir()?.join(NAME),
            config: dirs::config_dir()?.join(NAME),
            cache: dirs::cache_dir()?.join(NAME),
        })
    }

    /// All below one folder, for tests.
    pub fn below(folder: &Path) -> Places {
        Places {
            data: folder.join("data").join(NAME),
            config: folder.join("config").join(NAME),
            cache: folder.join("cache").join(NAME),
        }
    }

    /// The user's settings.
    pub fn settings(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    pub fn all(&self) -> [&Path; 3] {
        [&self.data, &self.config, &self.cache]
    }
}

/// Whether the folder is this user's home, or above it: nobody means all of that to be written.
pub fn is_home_or_above(folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    dirs::home_dir().is_some_and(|home| real(&home).starts_with(real(folder)))
}

/// Makes a folder of ours (and what is missing above it) and closes it to others.
pub fn private_folder(path: &Path) -> io::Result<()> {
    make(path)?;
    close(path)
}

#[cfg(unix)]
fn make(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

#[cfg(unix)]
fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let found = std::fs::metadata(path)?.permissions();
    if found.mode() & 0o077 == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

#[cfg(not(unix))]
fn close(_: &Path) -> io::Result<()> {
    Ok(())
}
