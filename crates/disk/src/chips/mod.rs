//! Chips and edit snapshots as they lie on disk: where the folders are, what is in them now, what was in them before
//! (the archive), where a deleted text came from. `ChipFolder` is the one handle; the window keeps one open, the
//! command opens one, looks and ends.
//!
//! Left out: the bytes of a record (`chipdeck-chip`), writing into a user's file (a restore plan does that). In the
//! server's folders nothing is ever written, except by `ChipFolder::revive`.

mod model;

pub use model::*;

use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::sync::Arc;

/// A chip folder, the edit snapshots beside it and the archive of both. Cheap to clone; the last clone dropped stops
/// the watching.
#[derive(Clone)]
pub struct ChipFolder {
    _inner: Arc<()>,
}

impl ChipFolder {
    /// Looks at the folders once (the list is complete when this returns, except for files that are being written)
    /// and goes on watching them in a thread of its own. Never fails: a missing folder is a state.
    /// The receiver may be dropped; a change is told once, however many files it is about.
    pub fn open(config: ChipConfig) -> (ChipFolder, Receiver<Change>) {
        let _ = config;
        let (_, receiver) = std::sync::mpsc::channel();
        (ChipFolder { _inner: Arc::new(()) }, receiver)
    }

    /// Looks once, without watching. With `settle`, unparsable files are looked at again after 200 ms and are then
    /// `Damaged`.
    pub fn look(config: ChipConfig, settle: bool) -> ChipFolder {
        let _ = (config, settle);
        ChipFolder { _inner: Arc::new(()) }
    }

    /// What is there now. No disk access.
    pub fn list(&self) -> Arc<ChipList> {
        Arc::default()
    }

    /// Everything about one chip: from the folder, else from the archive.
    pub fn detail(&self, key: &str) -> Result<ChipDetail, ChipError> {
        Err(ChipError::NotFound(key.into()))
    }

    /// The key of the first row with this id: those of the queue first (oldest first), then the file `chip-<id>.json`,
    /// then evicted ones. Unsafe ids find a row by its inner id, but never a file.
    pub fn find(&self, id: &str) -> Option<String> {
        let _ = id;
        None
    }

    pub fn pin(&self, key: &str, pinned: bool) -> Result<(), ChipError> {
        let _ = pinned;
        Err(ChipError::NotFound(key.into()))
    }

    /// Writes an evicted chip back into the chip folder under its old name: the original bytes with the digits of
    /// `created_at` set to `now` (Unix seconds), or unchanged where `now` is `None`.
    pub fn revive(&self, key: &str, now: Option<i64>) -> Result<Revived, ChipError> {
        let _ = now;
        Err(ChipError::NotFound(key.into()))
    }

    /// Edit snapshots of every workspace. No disk access.
    pub fn workspaces(&self) -> Arc<Vec<Workspace>> {
        Arc::default()
    }

    pub fn snapshot(&self, key: &str) -> Result<SnapshotDetail, ChipError> {
        Err(ChipError::NotFound(key.into()))
    }

    /// Places in the opened `roots` where a deleted text came from, best source only (edit snapshots, else logs, else
    /// search). One: that is the place. Several: to choose from. Reads files; may take a second.
    pub fn origins(&self, key: &str, roots: &[PathBuf], logs: &dyn RemovedTexts) -> Result<Origins, ChipError> {
        let _ = (roots, logs);
        Err(ChipError::NotFound(key.into()))
    }

    /// How much the archive holds.
    pub fn archive(&self) -> ArchiveSize {
        ArchiveSize::default()
    }

    /// Changes folder or limits (settings). The list is complete again when this returns.
    pub fn configure(&self, config: ChipConfig) {
        let _ = config;
    }
}
