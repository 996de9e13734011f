//! One test binary for the engine and the command; the real window's tests are in `e2e/`.

mod agents;
mod chips;
mod chips_disk;
mod events;
mod fixtures;
mod laws;
mod restore_command;
mod restore_disk;
