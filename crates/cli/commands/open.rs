//! `open`: starts the window on some paths and returns. The window's program lies beside this one, else in PATH.

use crate::output::{End, Failure, Out, Outcome};
use std::path::PathBuf;
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub struct Arguments {
    /// Logs, folders, chips or databases; none: the window as it was left
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

const WINDOW: &str = if cfg!(windows) {
    "chipdeck-desktop.exe"
} else {
    "chipdeck-desktop"
};

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let mut absolute = Vec::new();
    for path in &arguments.paths {
        // The first window may have another current folder than this command.
        let full = std::path::absolute(path)
            .map_err(|e| Failure::no(format!("cannot open {}: {e}", path.display())))?;
        if let Err(error) = full.symlink_metadata() {
            return Err(Failure::no(format!(
                "cannot open {}: {error}",
                path.display()
            )));
        }
        absolute.push(full);
    }
    let program = beside_us().or_else(in_path).ok_or_else(|| {
        Failure::no(format!(
            "the window ({WINDOW}) is neither beside this program nor in PATH"
        ))
        .hint("build and start it with `cargo xtask run`")
    })?;
    let mut command = Command::new(&program);
    command
        .args(absolute)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // A group of its own: Ctrl+C in this terminal is not meant for the window.
        command.process_group(0);
    }
    let child = command
        .spawn()
        .map_err(|e| Failure::no(format!("cannot start {}: {e}", program.display())))?;
    if arguments.paths.is_empty() && !out.json {
        out.line(
            "the window opens; `chipdeck open PATH…` opens logs, folders, chips or databases in it",
        )?;
    }
    if out.json {
        out.document(
            &serde_json::json!({ "program": program.to_string_lossy(), "pid": child.id() }),
        )?;
    }
    Ok(End::Done)
}

fn beside_us() -> Option<PathBuf> {
    let ours = std::env::current_exe().ok()?;
    let found = ours.parent()?.join(WINDOW);
    found.is_file().then_some(found)
}

fn in_path() -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(WINDOW))
        .find(|found| found.is_file())
}
