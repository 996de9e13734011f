//! `chipdeck`: the command. It parses arguments, asks the library crates and prints; what is printed and with which
//! status a command ends is decided here, what is true is decided below.

mod commands;
mod output;

use clap::Parser;
use std::process::ExitCode;

/// Inspector and replayer for AI coding agents.
#[derive(Parser)]
#[command(name = "chipdeck", version, about, max_term_width = 100)]
struct Arguments {
    /// Print one JSON document (JSON Lines for streams) instead of text for people
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = output::Out::new(arguments.json);
    output::exit(commands::run(arguments.command, &mut out))
}
