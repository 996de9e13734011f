//! How long the copies of files are kept that an undo needs: as the archive, by size and by age.
//!
//! What the newest restores need that can still be taken back never goes; where that alone is more than the limit, it is
//! told. Left out: the copies themselves (`images`), the settings that the limits come from.

use super::error::RestoreError;
use super::images::FOLDER;
use super::journal::{Held, Journal};
use crate::folder::{Folder, Stands};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// Restores that can always be taken back, however large their copies are.
pub const ALWAYS: usize = 20;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What the copies may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keeping {
    pub max_bytes: u64,
    pub max_days: u32,
}

impl Default for Keeping {
    fn default() -> Keeping {
        Keeping {
            max_bytes: 1_000_000_000,
            max_days: 90,
        }
    }
}

/// What a look through the copies came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Copies that went.
    pub dropped: usize,
    /// Restores that can no longer be taken back because of it.
    pub restores: usize,
    /// Bytes that are left.
    pub bytes: u64,
    /// The copies that the newest restores need are more than the limit.
    pub over: bool,
}

/// A copy on the disk.
struct Copy {
    shelf: Arc<dyn Folder>,
    name: OsString,
    hash: String,
    bytes: u64,
    /// When a restore last had to do with it, else when it was written.
    used: i64,
}

impl Journal {
    /// Drops copies beyond the limits, the longest unused first. Does nothing while another restore is running. `now`
    /// is the time in Unix milliseconds.
    pub fn tidy(&self, keeping: Keeping, now: i64) -> Result<Tidied, RestoreError> {
        if self.data()?.is_none() {
            return Ok(Tidied::default());
        }
        let held = match self.hold() {
            Err(RestoreError::Busy) => return Ok(Tidied::default()),
            held => held?,
        };
        // A restore that waits for its settling needs its copies.
        if !super::settle::intents(&held.data)
            .map_err(RestoreError::io("the intents"))?
            .is_empty()
        {
            return Ok(Tidied::default());
        }
        self.tidy_held(&held, keeping, now)
    }

    fn tidy_held(&self, held: &Held, keeping: Keeping, now: i64) -> Result<Tidied, RestoreError> {
        let failed = |source| RestoreError::Io {
            what: "the kept copies".to_owned(),
            source,
        };
        let history = self.history()?;
        let mut needed: HashSet<&str> = HashSet::new();
        let mut used: HashMap<&str, i64> = HashMap::new();
        let mut undoable = 0;
        for past in &history {
            let stands = past.undone_by.is_none();
            undoable += usize::from(stands);
            for step in &past.steps {
                let both = [&step.before_sha256, &step.after_sha256];
                for hash in both.into_iter().flatten() {
                    let last = used.entry(hash).or_insert(past.time);
                    *last = (*last).max(past.time);
                }
                // A redo needs what the undone restore had written: it is the `before` of its undo.
                if let (true, Some(hash)) = (stands && undoable <= ALWAYS, &step.before_sha256) {
                    needed.insert(hash);
                }
            }
        }
        let mut copies = copies(&held.data, &used).map_err(failed)?;
        copies.sort_by_key(|copy| copy.used);
        let oldest = now.saturating_sub(i64::from(keeping.max_days).saturating_mul(DAY_MS));
        let mut tidied = Tidied {
            bytes: copies.iter().map(|copy| copy.bytes).sum(),
            ..Tidied::default()
        };
        let mut dropped: HashSet<&str> = HashSet::new();
        for copy in &copies {
            let goes = copy.used < oldest || tidied.bytes > keeping.max_bytes;
            if !goes || needed.contains(copy.hash.as_str()) {
                continue;
            }
            copy.shelf.remove_file(&copy.name).map_err(failed)?;
            tidied.bytes = tidied.bytes.saturating_sub(copy.bytes);
            tidied.dropped += 1;
            dropped.insert(&copy.hash);
        }
        let lost = |hash: &Option<String>| hash.as_deref().is_some_and(|it| dropped.contains(it));
        let stands = history.iter().filter(|past| past.undone_by.is_none());
        tidied.restores = stands
            .filter(|past| past.steps.iter().any(|step| lost(&step.before_sha256)))
            .count();
        tidied.over = tidied.bytes > keeping.max_bytes;
        Ok(tidied)
    }
}

fn copies(data: &Arc<dyn Folder>, used: &HashMap<&str, i64>) -> std::io::Result<Vec<Copy>> {
    let mut copies = Vec::new();
    let Some(Stands::Folder) = data.look(OsStr::new(FOLDER))? else {
        return Ok(copies);
    };
    let images = data.folder(OsStr::new(FOLDER))?;
    for first in images.names()? {
        let Some(Stands::Folder) = images.look(&first)? else {
            continue;
        };
        let shelf = images.folder(&first)?;
        for name in shelf.names()? {
            let Some(Stands::File) = shelf.look(&name)? else {
                continue;
            };
            let (bytes, written) = shelf.weigh(&name)?;
            let hash = format!("{}{}", first.to_string_lossy(), name.to_string_lossy());
            copies.push(Copy {
                shelf: shelf.clone(),
                used: used.get(hash.as_str()).copied().unwrap_or(written),
                name,
                hash,
                bytes,
            });
        }
    }
    Ok(copies)
}
