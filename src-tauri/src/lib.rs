//! The window: forwards requests and notices, owns the window and its native dialogues, nothing else.
//!
//! What the page may do is decided in three places, each closed: `capabilities/main.json` (two commands),
//! the content security policy in `tauri.conf.json` (nothing from anywhere else) and the engine's table of
//! requests. A path never comes from the page: files and folders are named by the person, in native dialogues,
//! by a drop, on the command line or by a second start.

mod arguments;
mod demo;
mod dialogues;
mod door;
mod drops;
mod instance;
mod reveal;
mod window;

use chipdeck_engine::{Config, Origin};
use door::Door;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tauri::{Manager, RunEvent};

/// Runs the window until it is closed. `arguments` are those after the program's name.
pub fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let given = match arguments::parse(arguments) {
        Ok(arguments::Asked::Window(given)) => given,
        Ok(arguments::Asked::Text(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(sentence) => {
            eprintln!("{sentence}\n{}", arguments::HINT);
            return ExitCode::from(2);
        }
    };
    let config = Config::of_this_machine();
    let listener = match first(&config.places.data, &given.paths) {
        Ok(First::Yes(listener)) => listener,
        Ok(First::HandedOver) => return ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}\nEnd that process, or wait for it, and try again.");
            return ExitCode::FAILURE;
        }
    };
    #[cfg(target_os = "linux")]
    if std::env::var_os("DISPLAY").is_none() && std::env::var_os("WAYLAND_DISPLAY").is_none() {
        eprintln!(
            "There is no display to open a window on.\n{}",
            arguments::NO_DISPLAY
        );
        return ExitCode::FAILURE;
    }
    match show(config, given, listener) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("The window could not be opened: {error}");
            ExitCode::FAILURE
        }
    }
}

enum First {
    Yes(Option<instance::Listener>),
    HandedOver,
}

/// Whether this start makes a window.
fn first(ours: &Path, paths: &[PathBuf]) -> std::io::Result<First> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let started = match instance::place(runtime, ours) {
        Ok(dir) => instance::start(&dir, paths)?,
        Err(error) => instance::Start::Alone(error),
    };
    Ok(match started {
        instance::Start::First(listener) => First::Yes(Some(listener)),
        instance::Start::HandedOver => First::HandedOver,
        instance::Start::Alone(error) => {
            eprintln!("Later starts will not find this window: {error}");
            First::Yes(None)
        }
    })
}

fn show(
    config: Config,
    given: arguments::Given,
    listener: Option<instance::Listener>,
) -> Result<(), Box<dyn std::error::Error>> {
    let data = config.places.data.clone();
    let door = Arc::new(Door::open(config, &given));
    let app = tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .plugin(window::remembered(&data))
        .manage(door.clone())
        .invoke_handler(tauri::generate_handler![door::request, door::subscribe])
        .setup(move |app| {
            let window = window::open(app, &door)?;
            drops::watch(&window, door.clone());
            if let Some(listener) = listener {
                let app = app.handle().clone();
                listener.listen(move |paths| {
                    window::to_front(&app);
                    app.state::<Arc<Door>>()
                        .open_paths(paths, Origin::SecondStart);
                })?;
            }
            door.open_first(&given);
            Ok(())
        })
        .build(tauri::generate_context!())?;
    app.run(|app, event| {
        if let RunEvent::Exit = event {
            app.state::<Arc<Door>>().close();
        }
    });
    Ok(())
}
