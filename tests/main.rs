//! One test binary for the engine and the command; the real window's tests are in `e2e/`.

mod agents;
mod agents_odd;
mod chips;
mod chips_command;
mod chips_disk;
mod chips_laws;
mod cli;
mod engine;
mod engine_deck;
mod engine_hostile;
mod engine_live;
mod engine_restore;
mod engine_views;
mod events;
mod events_command;
mod events_rules;
mod fixtures;
mod laws;
mod restore_command;
mod restore_disk;
mod restore_journal;
mod restore_killed;
mod restore_paths;
mod restore_tree;
mod restore_world;
