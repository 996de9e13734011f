//! What we remember over a restart: recent logs, and bookmarks by the log's identity. Small JSON files in our own data
//! folder; a damaged one counts as empty and is replaced.

use chipdeck_disk::logs::FileSource;
use chipdeck_disk::own;
use chipdeck_disk::places::Places;
use chipdeck_ingest::Source;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Recent logs that are remembered.
const MOST_RECENT: usize = 40;
/// Bytes of a log's first line that tell it from others.
const PRINT: usize = 64 << 10;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recent {
    pub path: PathBuf,
    pub title: String,
    pub format: String,
    #[serde(default)]
    pub project: Option<String>,
    #[serde(default)]
    pub entries: Option<u64>,
    /// Unix milliseconds.
    pub opened: i64,
}

pub struct Kept {
    data: PathBuf,
    recent: Mutex<Vec<Recent>>,
}

impl Kept {
    pub fn load(places: &Places) -> Kept {
        let data = places.data.clone();
        let text = own::read(&data.join("recent.json"))
            .ok()
            .flatten()
            .unwrap_or_default();
        let recent: Vec<Recent> = serde_json::from_str(&text).unwrap_or_default();
        Kept {
            data,
            recent: Mutex::new(recent),
        }
    }

    /// Newest first.
    pub fn recent(&self) -> Vec<Recent> {
        self.recent
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Adds or updates a log; `opened: None` keeps its place in the list.
    ///
    /// # Errors
    /// What the system says; the list in memory is right nevertheless.
    pub fn remember(&self, entry: Recent, opened: bool) -> io::Result<()> {
        let text = {
            let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
            let place = recent.iter().position(|it| it.path == entry.path);
            match place.and_then(|at| recent.get_mut(at)) {
                Some(held) if !opened => {
                    let opened = held.opened;
                    if *held
                        == (Recent {
                            opened,
                            ..entry.clone()
                        })
                    {
                        return Ok(());
                    }
                    *held = Recent { opened, ..entry };
                }
                None if !opened => return Ok(()),
                _ => {
                    recent.retain(|it| it.path != entry.path);
                    recent.insert(0, entry);
                    recent.truncate(MOST_RECENT);
                }
            }
            serde_json::to_string_pretty(&*recent).map_err(io::Error::from)?
        };
        own::write(&self.data.join("recent.json"), &text)
    }

    /// Position and label, sorted.
    pub fn bookmarks(&self, source: &FileSource) -> Vec<(u32, String)> {
        let text = self
            .bookmark_file(source)
            .and_then(|path| own::read(&path).ok().flatten())
            .unwrap_or_default();
        let mut list: Vec<(u32, String)> = serde_json::from_str(&text).unwrap_or_default();
        list.sort();
        list.dedup_by_key(|(index, _)| *index);
        list
    }

    /// # Errors
    /// What the system says.
    pub fn save_bookmarks(&self, source: &FileSource, list: &[(u32, String)]) -> io::Result<()> {
        let path = self
            .bookmark_file(source)
            .ok_or_else(|| io::Error::other("the log is empty"))?;
        own::write(
            &path,
            &serde_json::to_string(list).map_err(io::Error::from)?,
        )
    }

    fn bookmark_file(&self, source: &FileSource) -> Option<PathBuf> {
        Some(
            self.data
                .join("bookmarks")
                .join(format!("{}.json", print(source)?)),
        )
    }
}

/// A log's identity: its name and its first line, which an append-only log keeps wherever it is moved.
fn print(source: &FileSource) -> Option<String> {
    let head = source.read_at(0, 0, PRINT).ok()?;
    let line = head
        .split(|byte| *byte == b'\n')
        .next()
        .filter(|line| !line.is_empty())?;
    let mut hash = Sha256::new();
    hash.update(name_of(source.path()).as_bytes());
    hash.update([0]);
    hash.update(line);
    Some(
        hash.finalize()
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    )
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
