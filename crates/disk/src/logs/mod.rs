//! Log files: their bytes (plain reads, never a memory map: others write them), what happens to them while they are
//! open, and where agents leave theirs on this machine.
//!
//! Left out: what the bytes mean (`chipdeck-ingest`), and any write.

mod blocks;
mod companions;
mod database;
mod discover;
mod kept;
#[cfg(test)]
mod kept_tests;
mod members;
mod source;
mod unpack;
mod unpacking;
mod watch;

pub use database::{is_database, named, sessions, Stored};
pub use discover::{
    discover, in_projects, memories, newest_first, places, Agent, Found, Homes, Place, VARIABLES,
};
pub use kept::{KeepDone, KeptLog, LogArchive};
pub use source::{Fate, FileSource, OpenError};
pub use unpack::{ends, head};
pub use watch::{Bell, Wake, Woken};
