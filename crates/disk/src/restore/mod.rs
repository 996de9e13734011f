//! Restore on the disk: which folders may be written, one plan applied whole or not at all, the journal.
//!
//! The way of a write: [`Root`] says where a path of a log lies (or that it lies outside); [`Root::read`] gives
//! what is there for the plan (`chipdeck-replay`); [`Journal::apply`] checks every precondition, puts images and
//! the journal's entry on the disk, writes each file at once, and puts everything back where a step fails.
//! [`Journal::settle`] does the same for a process that died. Left out: what is to be written, and asking a
//! person.

mod apply;
mod error;
mod images;
mod journal;
mod keeping;
mod root;
mod roots;
mod settle;
mod target;
mod write;

#[cfg(test)]
mod foreign_tests;
#[cfg(test)]
mod selftest;

pub use apply::Applied;
pub use error::{InTheWay, Outside, Reason, RestoreError};
pub use journal::{Journal, PastRestore, PastStep};
pub use keeping::{Keeping, Tidied, ALWAYS};
pub use root::{Found, Root};
pub use roots::{Located, Roots};
pub use settle::{Outcome, Settled};
pub use target::Gone;
