//! One file for each command (or family). Each has its clap arguments and a `run(arguments, &mut Out) -> Outcome`.

mod branch;
mod check;
mod chips;
mod diff;
mod export;
mod file_history;
mod files;
mod history;
mod log;
mod open;
mod repair;
mod restore;
mod restoring;
mod sources;
mod state;
mod undo;

use crate::output::{warn, Out, Outcome};
use chipdeck_engine::settings::Settings;
use chipdeck_engine::Config;
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {
    /// Start the window on logs, folders, chips or databases
    Open(open::Arguments),
    /// List what is found on this machine: chips, edit snapshots, agents' logs, memory databases
    Sources(sources::Arguments),
    /// Print the entries of a log
    Log(log::Arguments),
    /// Print what a log proves at a position, or one file's text
    State(state::Arguments),
    /// Print each file's history with the line that proves it
    Files(files::Arguments),
    /// Print what all sessions, git, edit snapshots and the disk know of a file
    FileHistory(file_history::Arguments),
    /// List what is wrong or doubtful in a log
    Check(check::Arguments),
    /// List, show and search chips, and put their text back
    Chips(chips::Arguments),
    /// Append what puts the dialogue's false claims right
    Repair(repair::Arguments),
    /// Write a what-if log: leave events out, edit them, put others in, cut
    Branch(branch::Arguments),
    /// Show what differs between two positions of a log, or from the disk
    Diff(diff::Arguments),
    /// Take a part out of a log: for replay, for people, for other engines
    Export(export::Arguments),
    /// Write files of a log as they were
    Restore(restore::Arguments),
    /// Take back a restore
    Undo(undo::Arguments),
    /// List the restores
    History(history::Arguments),
}

pub fn run(command: Command, out: &mut Out) -> Outcome {
    let outcome = match command {
        Command::Open(arguments) => open::run(arguments, out),
        Command::Sources(arguments) => sources::run(arguments, out),
        Command::Log(arguments) => log::run(arguments, out),
        Command::State(arguments) => state::run(arguments, out),
        Command::Files(arguments) => files::run(arguments, out),
        Command::FileHistory(arguments) => file_history::run(arguments, out),
        Command::Check(arguments) => check::run(arguments, out),
        Command::Repair(arguments) => repair::run(arguments, out),
        Command::Branch(arguments) => branch::run(arguments, out),
        Command::Chips(arguments) => chips::run(arguments, out),
        Command::Diff(arguments) => diff::run(arguments, out),
        Command::Export(arguments) => export::run(arguments, out),
        Command::Restore(arguments) => restore::run(arguments, out),
        Command::Undo(arguments) => undo::run(arguments, out),
        Command::History(arguments) => history::run(arguments, out),
    };
    // What was said before a failure is printed before the failure.
    match (out.flush(), outcome) {
        (Err(failure), Ok(_)) => Err(failure),
        (_, outcome) => outcome,
    }
}

/// The user's settings. What is wrong with them is said once, and does not count.
fn settings() -> Settings {
    static SAID: std::sync::Once = std::sync::Once::new();
    let config = Config::of_this_machine();
    let file = config.places.settings();
    let (settings, unread) = config.settings();
    SAID.call_once(|| {
        let file = file.display();
        if let Some(error) = unread {
            warn(format!(
                "the settings {file} cannot be read and do not count: {error}"
            ));
        }
        for fault in settings.faults() {
            warn(format!("settings: {fault}; it does not count ({file})"));
        }
    });
    settings
}
