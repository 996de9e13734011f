//! The page: its modules, its build, its checks. Nothing is done again that is as it was.

use crate::steps::{npm, output, root, say, target, Done};
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

/// Installs what the lock file says, when it or Node changed since.
pub fn modules() -> Done {
    if !modules_missing()? {
        return Ok(());
    }
    npm("the page's modules", &["ci", "--no-audit", "--no-fund"])?;
    let stamp = stamp();
    fs::write(&stamp, wanted_modules()?).map_err(|error| format!("{}: {error}", stamp.display()))
}

pub fn modules_missing() -> Result<bool, String> {
    let now = wanted_modules()?;
    Ok(!fs::read_to_string(stamp()).is_ok_and(|before| before == now))
}

fn stamp() -> PathBuf {
    root().join("ui/node_modules/.chipdeck-stamp")
}

/// What the modules depend on.
fn wanted_modules() -> Result<String, String> {
    let lock = fs::read_to_string(root().join("ui/package-lock.json"))
        .map_err(|error| format!("ui/package-lock.json: {error}"))?;
    let node = output("node", &["--version"]).unwrap_or_default();
    Ok(format!("{node}\n{lock}"))
}

/// Builds `ui/dist` when anything in `ui` changed: the app embeds it.
pub fn build() -> Done {
    let ui = root().join("ui");
    let stamp = target().join("xtask-page");
    let now = print_of(&ui)?;
    if ui.join("dist/index.html").exists()
        && fs::read_to_string(&stamp).is_ok_and(|before| before == now)
    {
        say("the page is as it was built");
        return Ok(());
    }
    npm("the page", &["run", "build"])?;
    fs::create_dir_all(target())
        .and_then(|()| fs::write(&stamp, now))
        .map_err(|error| format!("{}: {error}", stamp.display()))
}

/// Types and lint, warnings being errors.
pub fn check() -> Done {
    npm("the page's types", &["run", "check"])?;
    npm("the page's lint", &["run", "lint"])
}

pub fn test() -> Done {
    npm("the page's tests", &["run", "test"])
}

/// A fingerprint of the sources and of the folder they are built in.
fn print_of(ui: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    list(ui, &mut files).map_err(|error| format!("{}: {error}", ui.display()))?;
    files.sort();
    let mut hasher = DefaultHasher::new();
    ui.hash(&mut hasher);
    for file in files {
        file.hash(&mut hasher);
        fs::read(&file)
            .map_err(|error| format!("{}: {error}", file.display()))?
            .hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn list(dir: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "node_modules" && entry.file_name() != "dist" {
                list(&entry.path(), files)?;
            }
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}
