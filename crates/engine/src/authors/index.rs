//! What a log names, remembered in our own cache folder: a log that did not change since is not read again to know
//! whether it says something of a file.

use crate::log::Look;
use chipdeck_disk::logs::FileSource;
use chipdeck_disk::own;
use chipdeck_disk::places::Places;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Grows when an index holds something else than before.
const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Index {
    version: u32,
    path: PathBuf,
    stamp: Stamp,
    pub cwd: Option<String>,
    pub files: Vec<Indexed>,
}

/// What tells a log that changed from one that didn't.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    bytes: u64,
    modified: Option<i64>,
}

impl Stamp {
    pub fn of(source: &FileSource) -> Stamp {
        Stamp {
            bytes: source.total_bytes(),
            modified: source.modified(),
        }
    }
}

/// A file as one log knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Indexed {
    /// As the log writes it.
    pub path: String,
    pub changes: u32,
    /// Last change, else last sight. Unix milliseconds.
    pub last: Option<i64>,
    /// Only seen.
    pub seen: bool,
}

impl Index {
    pub fn of(look: &Look, path: &Path, stamp: Stamp) -> Index {
        let files = look.timeline.paths().into_iter().map(|named| {
            let changes = look.change_indices(named);
            let versions = look.timeline.versions(named);
            let last = changes.last().copied();
            let last = last.or(versions.last().map(|it| it.index));
            Indexed {
                path: named.to_string(),
                changes: u32::try_from(changes.len()).unwrap_or(u32::MAX),
                last: last.and_then(|index| look.timeline.clock(index)),
                seen: changes.is_empty(),
            }
        });
        Index {
            version: VERSION,
            path: path.to_owned(),
            stamp,
            cwd: look.timeline.cwd().map(str::to_owned),
            files: files.collect(),
        }
    }

    /// The one that was kept, where the log is still the same.
    pub fn kept(places: &Places, path: &Path, stamp: &Stamp) -> Option<Index> {
        let text = own::read(&file(places, path)).ok()??;
        let index: Index = serde_json::from_str(&text).ok()?;
        (index.version == VERSION && index.path == path && index.stamp == *stamp).then_some(index)
    }

    /// Keeps it; a failure only costs time later.
    pub fn keep(&self, places: &Places) {
        if let Ok(text) = serde_json::to_string(self) {
            let _ = own::write(&file(places, &self.path), &text);
        }
    }
}

fn file(places: &Places, path: &Path) -> PathBuf {
    let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
    let name: String = hash
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    places.cache.join("named").join(format!("{name}.json"))
}
