//! Running one step after another, each named on screen, the first failure ending all.

use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

pub type Done = Result<(), String>;

pub fn say(what: &str) {
    println!("\n── {what}");
}

/// The repository.
pub fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root.pop();
    root
}

/// Where cargo builds.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) if !dir.is_empty() => root().join(dir),
        _ => root().join("target"),
    }
}

/// A binary of the dev build.
pub fn binary(name: &str) -> PathBuf {
    target()
        .join("debug")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Runs a program; its own output says what went wrong.
pub fn ran(what: &str, command: &mut Command) -> Done {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what}: {program} ended with {status}")),
        Err(error) => Err(format!("{what}: {program} could not be started: {error}")),
    }
}

/// What a program prints, where it can be started and ends well.
pub fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let out = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .output()
        .ok()?;
    out.status
        .success()
        .then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

fn timed(what: &str, command: &mut Command) -> Done {
    say(what);
    let start = Instant::now();
    ran(what, command)?;
    println!("   {what}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn cargo_command() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

pub fn cargo(what: &str, arguments: &[&str]) -> Done {
    timed(what, cargo_command().args(arguments))
}

/// For what starts the app: it must not build it again with another selection of packages.
pub fn cargo_with_app(what: &str, arguments: &[&str]) -> Done {
    timed(
        what,
        cargo_command()
            .args(arguments)
            .env("CHIPDECK_APP", binary("chipdeck-desktop")),
    )
}

/// The real window. Each test has an X server and a driver of its own; more at once than cores only makes them wait.
pub fn window_tests() -> Done {
    let cores = std::thread::available_parallelism()
        .map_or(2, |n| n.get())
        .clamp(1, 4)
        .to_string();
    cargo_with_app(
        "the real window",
        &[
            "test",
            "--workspace",
            "--exclude",
            "chipdeck",
            "--test",
            "window",
            "--no-fail-fast",
            "--",
            "--test-threads",
            &cores,
        ],
    )
}

/// npm in the page's folder.
pub fn npm(what: &str, arguments: &[&str]) -> Done {
    timed(what, npm_command("npm").args(arguments))
}

fn npm_command(program: &str) -> Command {
    let name = if cfg!(windows) {
        format!("{program}.cmd")
    } else {
        program.into()
    };
    let mut command = Command::new(name);
    command.current_dir(root().join("ui"));
    command
}

/// The bundler is Tauri's own tool, from its npm package; the page is built already.
pub fn npx_tauri_build() -> Done {
    let no_page = r#"{"build":{"beforeBuildCommand":""}}"#;
    let mut command = npm_command("npx");
    command.current_dir(root());
    timed(
        "bundle",
        command.args(["--yes", "@tauri-apps/cli@2", "build", "--config", no_page]),
    )
}
