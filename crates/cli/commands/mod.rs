//! One file for each command (or family). Each has its clap arguments and a `run(arguments, &mut Out) -> Outcome`.

mod open;

use crate::output::{Out, Outcome};
use clap::Subcommand;

#[derive(Subcommand)]
pub enum Command {
    /// Start the window on logs, folders, chips or databases
    Open(open::Arguments),
}

pub fn run(command: Command, out: &mut Out) -> Outcome {
    let outcome = match command {
        Command::Open(arguments) => open::run(arguments, out),
    };
    // What was said before a failure is printed before the failure.
    match (out.flush(), outcome) {
        (Err(failure), Ok(_)) => Err(failure),
        (_, outcome) => outcome,
    }
}
