//! Shows a file in the system's file manager. The path comes from the engine, is absolute, and is handed over as one
//! argument; no shell is involved.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Opens the folder that holds `path`, with it selected where the system can do that without a session bus.
pub fn show(path: &Path) -> io::Result<()> {
    if !path.is_absolute() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not an absolute path",
        ));
    }
    let mut command = manager(path);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    // Whoever waits for it: nobody, but it must not stay as a zombie.
    std::thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(target_os = "macos")]
fn manager(path: &Path) -> Command {
    let mut command = Command::new("open");
    command.arg("-R").arg(path);
    command
}

#[cfg(windows)]
fn manager(path: &Path) -> Command {
    let mut command = Command::new("explorer");
    let mut select = std::ffi::OsString::from("/select,");
    select.push(path);
    command.arg(select);
    command
}

#[cfg(not(any(target_os = "macos", windows)))]
fn manager(path: &Path) -> Command {
    let folder = match path.is_dir() {
        true => path,
        false => path.parent().unwrap_or(path),
    };
    let mut command = Command::new("xdg-open");
    command.arg(folder);
    command
}
