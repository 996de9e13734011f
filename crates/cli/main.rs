//! `chipdeck`: the command. It parses arguments, asks the engine and prints.
fn main() {}
