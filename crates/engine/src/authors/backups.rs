//! Claude Code's copies of files from before it changed them: `file-history/<session>/<name>@v<n>` in its folder, named
//! by the `file-history-snapshot` records of a transcript.
//!
//! A copy counts only where a record names it for the path and it lies in the folder of that very session. Left out:
//! copies that no record names.

use super::told::sha256;
use crate::log::Look;
use chipdeck_event::{Entry, Place};
use chipdeck_ingest::load_record;
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Larger copies are not read, in bytes.
const MOST_BYTES: u64 = 32 << 20;
/// Larger records are not looked at, in bytes.
const MOST_RECORD: u64 = 16 << 20;

/// A copy that a record names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// As the record writes it.
    pub name: String,
    pub version: u64,
    /// When it was made, Unix milliseconds.
    pub time: Option<i64>,
    /// The first entry that names it.
    pub index: u32,
    pub file: PathBuf,
}

impl Backup {
    /// Its hash and bytes; `None`: it is gone, or too large.
    pub fn read(&self) -> Option<(String, Vec<u8>)> {
        let metadata = std::fs::symlink_metadata(&self.file).ok()?;
        if !metadata.is_file() || metadata.len() > MOST_BYTES {
            return None;
        }
        let bytes = std::fs::read(&self.file).ok()?;
        Some((sha256(&bytes), bytes))
    }
}

/// The copies of one path that a log names and that are on this machine, oldest first.
pub fn named(look: &Look, log: &Path, path: &str) -> Vec<Backup> {
    let Some(folder) = folder(log) else {
        return Vec::new();
    };
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for index in 1..=look.timeline.len() {
        let Some(place) = snapshot_at(look, index) else {
            continue;
        };
        let Ok(record) = serde_json::from_slice::<Value>(&load_record(place, look.source)) else {
            continue;
        };
        let tracked = record.pointer("/snapshot/trackedFileBackups");
        let Some(tracked) = tracked.and_then(Value::as_object) else {
            continue;
        };
        for (written, backup) in tracked {
            if !means(written, path, look.timeline.cwd()) {
                continue;
            }
            let Some(name) = backup.get("backupFileName").and_then(Value::as_str) else {
                continue;
            };
            let Some(version) = version_of(name) else {
                continue;
            };
            let file = folder.join(name);
            if !seen.insert(name.to_owned()) || !file.is_file() {
                continue;
            }
            let time = backup.get("backupTime").and_then(Value::as_str);
            found.push(Backup {
                name: name.to_owned(),
                version,
                time: time.and_then(unix_ms),
                index,
                file,
            });
        }
    }
    found.sort_by_key(|backup| backup.version);
    found
}

/// The record at an entry, where it is one that names copies.
fn snapshot_at(look: &Look, index: u32) -> Option<Place> {
    let located = look.timeline.entry(index)?;
    let Entry::Event(event) = &located.entry else {
        return None;
    };
    let kind = event.envelope.type_name.as_ref() as &str;
    (kind == "claude-code.file-history-snapshot" && located.place.len <= MOST_RECORD)
        .then_some(located.place)
}

/// `<claude>/projects/<project>/<session>.jsonl` → `<claude>/file-history/<session>`.
fn folder(log: &Path) -> Option<PathBuf> {
    let session = log.file_stem()?.to_str()?;
    let projects = log.parent()?.parent()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !projects.ends_with("projects") || session.is_empty() || !session.chars().all(plain) {
        return None;
    }
    let folder = projects.parent()?.join("file-history").join(session);
    folder.is_dir().then_some(folder)
}

/// The number of a copy's name, `<letters and digits>@v<n>`; `None`: it is no such name.
fn version_of(name: &str) -> Option<u64> {
    let (hash, version) = name.split_once("@v")?;
    let plain = !hash.is_empty() && hash.chars().all(|c| c.is_ascii_alphanumeric());
    version.parse().ok().filter(|_| plain)
}

/// A path as a record writes it (from the working folder, or absolute) means the path of an event.
fn means(written: &str, path: &str, cwd: Option<&str>) -> bool {
    if written == path {
        return true;
    }
    let below = cwd.and_then(|cwd| {
        path.strip_prefix(cwd.trim_end_matches('/'))?
            .strip_prefix('/')
    });
    below.is_some_and(|below| below == written.trim_start_matches("./"))
}

fn unix_ms(text: &str) -> Option<i64> {
    let time = chrono::DateTime::parse_from_rfc3339(text).ok()?;
    Some(time.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_copies() {
        assert_eq!(version_of("0f3a9c1b22d4e5f6@v2"), Some(2));
        for name in [
            "../x@v1",
            "a@v",
            "@v1",
            "a@v-1",
            "a@v1/../../x",
            "a",
            "a.b@v1",
        ] {
            assert_eq!(version_of(name), None, "{name}");
        }
        assert!(means("/p/src/a", "/p/src/a", None));
        assert!(means("src/a", "/p/src/a", Some("/p/")));
        assert!(!means("a", "/p/src/a", Some("/p")));
        assert!(!means("src/a", "/px/src/a", Some("/p")));
        assert_eq!(folder(Path::new("/x/y/s.jsonl")), None);
    }
}
