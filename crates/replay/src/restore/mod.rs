//! Restore, the pure half: what would be written, checked, taken back, merged.
//!
//! A [`RestorePlan`] is made from what the log proves and what the disk has now; it knows its own inverse.
//! [`Merge`] keeps what is on the disk and takes a change from the log; conflicts are values to settle, never
//! markers in a file. Left out: the disk itself, roots, the journal (`chipdeck-disk`), and drawing a diff.

mod draft;
mod lines;
mod merge;
mod pick;
mod plan;
mod unified;

#[cfg(test)]
mod draft_tests;
#[cfg(test)]
mod tests;

pub use draft::{Draft, Known, Mode, NoBase, Want, Warning};
pub use lines::{changes, dressed_like, hunks, restore_hunk, split_lines, Change, Hunk, LineEnds};
pub use merge::{merge, undo_change, Conflict, Merge, Merged, Settlement};
pub use pick::{want_undone, Picker};
pub use plan::{
    sha256_hex, Action, Attributes, Content, FileImage, Kind, Moved, Note, RestorePlan, Step,
};
pub use unified::unified;
