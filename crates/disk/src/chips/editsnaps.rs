//! The edit snapshots of every workspace as rows, from one look to the next.
//!
//! Left out: their contents (read again when looked at), transactions.

use super::archive::{Archive, Facts, ItemKey, SnapshotFacts};
use super::board::WRITING;
use super::files::{name_of_text, name_text, read_record, sha256_hex, Stamp};
use super::model::{SnapshotEntry, SnapshotPlaces, Workspace};
use chipdeck_chip::{SnapshotRecord, Text};
use chipdeck_replay::restore::changes;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Most workspaces that are looked at.
const MOST_FOLDERS: usize = 4_000;

struct Seen {
    stamp: Option<Stamp>,
    content: Result<(SnapshotFacts, String, u64), String>,
    /// Last change, as far as we know.
    changed: Instant,
    kept: bool,
}

impl Seen {
    /// Doesn't parse and changed a moment ago: not yet damaged.
    fn writing(&self) -> bool {
        self.content.is_err() && self.changed.elapsed() < WRITING
    }
}

/// Everything below the snapshot folders at the last look.
#[derive(Default)]
pub(super) struct EditSnaps {
    places: SnapshotPlaces,
    files: BTreeMap<PathBuf, BTreeMap<OsString, Seen>>,
}

/// A delete's edit snapshot, for linking.
pub(super) struct Deleted<'a> {
    pub facts: &'a SnapshotFacts,
    pub workspace: String,
    pub folder: PathBuf,
    pub name: OsString,
    pub sha256: &'a str,
    /// First removed line, from 1.
    pub first_line: u64,
}

impl EditSnaps {
    pub fn new(places: SnapshotPlaces) -> EditSnaps {
        EditSnaps {
            places,
            files: BTreeMap::new(),
        }
    }

    pub fn places(&self) -> &SnapshotPlaces {
        &self.places
    }

    /// The folders that exist: the base, the single one, each workspace.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = [&self.places.base, &self.places.single]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        if let Some(base) = &self.places.base {
            if let Ok(entries) = std::fs::read_dir(base) {
                let mut found: Vec<PathBuf> = entries
                    .flatten()
                    .map(|entry| entry.path())
                    .filter(|path| path.is_dir())
                    .take(MOST_FOLDERS)
                    .collect();
                found.sort();
                folders.extend(found);
            }
        }
        folders.retain(|folder| folder.is_dir());
        folders.dedup();
        folders
    }

    /// Reads what is new or changed. True: something changed. `settle`: what doesn't parse is damaged, not being
    /// written.
    pub fn look(&mut self, mut archive: Option<&mut Archive>, now: i64, settle: bool) -> bool {
        let mut changed = false;
        let folders: HashSet<PathBuf> = self.folders().into_iter().collect();
        let before = self.files.len();
        self.files.retain(|folder, _| folders.contains(folder));
        changed |= self.files.len() != before;
        for folder in folders {
            let mut names = HashSet::new();
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let bytes = name.as_encoded_bytes();
                if bytes.starts_with(b"snapshot-")
                    && bytes.ends_with(b".json")
                    && !entry.path().is_dir()
                {
                    names.insert(name);
                }
            }
            let files = self.files.entry(folder.clone()).or_default();
            let before = files.len();
            files.retain(|name, _| names.contains(name));
            changed |= files.len() != before;
            for name in names {
                let path = folder.join(&name);
                let stamp = std::fs::metadata(&path).ok().map(|m| Stamp::of(&m));
                if let Some(seen) = files.get(&name) {
                    let kept = seen.kept || archive.is_none() || seen.content.is_err();
                    if kept && seen.stamp == stamp && stamp.is_some() {
                        continue;
                    }
                }
                changed |= read(files, &folder, name, stamp, archive.as_deref_mut(), now);
            }
        }
        if settle {
            for seen in self.files.values_mut().flat_map(BTreeMap::values_mut) {
                let long_ago = Instant::now().checked_sub(WRITING);
                seen.changed = long_ago.unwrap_or(seen.changed);
            }
        }
        changed || settle
    }

    /// Some file is being written: what is shown of it changes with time.
    pub fn ages(&self) -> bool {
        self.files
            .values()
            .flat_map(BTreeMap::values)
            .any(|seen| seen.content.is_err() && seen.changed.elapsed() < WRITING * 2)
    }

    /// What lies in the folders now, as the archive names it.
    pub fn present(&self) -> HashSet<ItemKey> {
        let mut keys = HashSet::new();
        for (folder, files) in &self.files {
            for (name, seen) in files {
                if let Ok((_, sha256, _)) = &seen.content {
                    keys.insert(item_key(folder, name, sha256));
                }
            }
        }
        keys
    }

    /// Deletes, in the folders and in the archive.
    pub fn deletes<'a>(&'a self, archive: Option<&'a Archive>) -> Vec<Deleted<'a>> {
        let mut found = Vec::new();
        let mut here = HashSet::new();
        for (folder, files) in &self.files {
            for (name, seen) in files {
                let Ok((facts, sha256, _)) = &seen.content else {
                    continue;
                };
                here.insert(item_key(folder, name, sha256));
                if let Some((_, first_line)) = &facts.deleted {
                    found.push(Deleted {
                        facts,
                        workspace: self.workspace(folder),
                        folder: folder.clone(),
                        name: name.clone(),
                        sha256,
                        first_line: *first_line,
                    });
                }
            }
        }
        for (key, item) in archive.iter().flat_map(|archive| archive.items()) {
            let Facts::Snapshot(facts) = &item.facts else {
                continue;
            };
            let (Some((_, first_line)), Some(name)) = (&facts.deleted, name_of_text(&key.name))
            else {
                continue;
            };
            if here.contains(key) {
                continue;
            }
            let Some(folder) = self.own_folder(&key.folder) else {
                continue;
            };
            found.push(Deleted {
                facts,
                workspace: self.workspace(&folder),
                folder,
                name,
                sha256: &key.sha256,
                first_line: *first_line,
            });
        }
        found
    }

    /// A folder that the archive remembers, if it belongs to the places looked at.
    fn own_folder(&self, text: &str) -> Option<PathBuf> {
        let path = decode_path(text)?;
        let below = |place: &Option<PathBuf>| {
            place
                .as_ref()
                .is_some_and(|place| path == *place || path.parent() == Some(place))
        };
        (below(&self.places.base) || self.places.single.as_ref() == Some(&path)).then_some(path)
    }

    /// Folder name; empty for a folder without a workspace part.
    fn workspace(&self, folder: &Path) -> String {
        if self.places.base.as_deref() == folder.parent() && self.places.base.is_some() {
            let name = folder.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        } else {
            String::new()
        }
    }

    pub fn workspaces(&self, archive: Option<&Archive>) -> Vec<Workspace> {
        let mut found: BTreeMap<PathBuf, Workspace> = BTreeMap::new();
        let empty = |folder: &Path| Workspace {
            id: self.workspace(folder),
            folder: folder.to_owned(),
            rows: Vec::new(),
            damaged: Vec::new(),
            order_unknown: false,
        };
        let mut here = HashSet::new();
        for (folder, files) in &self.files {
            let mut workspace = empty(folder);
            // Names ascend; the sort by time is stable here, as it is at the server up to 12 records.
            for (name, seen) in files {
                match &seen.content {
                    Err(_) if seen.writing() => {}
                    Err(reason) => workspace
                        .damaged
                        .push((name.to_string_lossy().into_owned(), reason.clone())),
                    Ok((facts, sha256, bytes)) => {
                        let key = item_key(folder, name, sha256);
                        workspace
                            .rows
                            .push(entry(facts, &workspace.id, &key, *bytes, false));
                        here.insert(key);
                    }
                }
            }
            workspace.rows.sort_by_key(|row| row.created_at);
            let ties = workspace.rows.windows(2).any(|pair| match pair {
                [a, b] => a.created_at == b.created_at,
                _ => false,
            });
            workspace.order_unknown = workspace.rows.len() > 12 && ties;
            if !(workspace.rows.is_empty() && workspace.damaged.is_empty()) {
                found.insert(folder.clone(), workspace);
            }
        }
        for (key, item) in archive.iter().flat_map(|archive| archive.items()) {
            let Facts::Snapshot(facts) = &item.facts else {
                continue;
            };
            if here.contains(key) {
                continue;
            }
            if let Some(folder) = self.own_folder(&key.folder) {
                let workspace = found
                    .entry(folder.clone())
                    .or_insert_with(|| empty(&folder));
                let row = entry(facts, &workspace.id, key, item.bytes, true);
                let at = workspace
                    .rows
                    .partition_point(|other| other.created_at <= row.created_at);
                workspace.rows.insert(at, row);
            }
        }
        found.into_values().collect()
    }

    /// Path and hash of the row's file.
    pub fn find(&self, key: &str) -> Option<(PathBuf, String)> {
        let mut parts = key.rsplitn(3, '|');
        let sha256 = parts.next()?;
        let name = name_of_text(parts.next()?)?;
        let folder = decode_path(parts.next()?)?;
        Some((folder.join(name), sha256.into()))
    }
}

fn decode_path(text: &str) -> Option<PathBuf> {
    // Component by component, since a name never holds a separator.
    let mut path = PathBuf::new();
    for (index, part) in text.split('/').enumerate() {
        if part.is_empty() {
            if index == 0 {
                path.push("/");
            }
            continue;
        }
        path.push(name_of_text(part).or_else(|| {
            // A drive, on Windows.
            cfg!(windows).then(|| OsString::from(part))
        })?);
    }
    Some(path)
}

fn item_key(folder: &Path, name: &std::ffi::OsStr, sha256: &str) -> ItemKey {
    ItemKey {
        folder: name_text(folder.as_os_str()),
        name: name_text(name),
        sha256: sha256.into(),
    }
}

fn entry(
    facts: &SnapshotFacts,
    workspace: &str,
    key: &ItemKey,
    bytes: u64,
    evicted: bool,
) -> SnapshotEntry {
    SnapshotEntry {
        key: format!("{}|{}|{}", key.folder, key.name, key.sha256),
        workspace: workspace.into(),
        id: facts.id.clone(),
        tool: facts.tool.clone(),
        file: facts.file.clone(),
        summary: facts.summary.clone(),
        created_at: facts.created_at,
        bytes,
        added: facts.added,
        removed: facts.removed,
        evicted,
    }
}

fn read(
    files: &mut BTreeMap<OsString, Seen>,
    folder: &Path,
    name: OsString,
    stamp: Option<Stamp>,
    archive: Option<&mut Archive>,
    now: i64,
) -> bool {
    let path = folder.join(&name);
    match read_record(&path, |input| SnapshotRecord::read_from(input)) {
        Ok(read) => {
            let facts = facts(&read.record);
            let mut kept = false;
            if let Some(archive) = archive {
                let done = archive.see(
                    item_key(folder, &name, &read.sha256),
                    read.bytes,
                    Facts::Snapshot(facts.clone()),
                    read.whole.as_deref(),
                    &path,
                    now,
                );
                // The list works without; the next look tries again.
                kept = done.map_or_else(|e| e.kind() == io::ErrorKind::FileTooLarge, |()| true);
            }
            let content = Ok((facts, read.sha256, read.bytes));
            let same = files.get(&name).is_some_and(|seen| seen.content == content);
            files.insert(
                name,
                Seen {
                    stamp: Some(read.stamp),
                    content,
                    changed: Instant::now(),
                    kept,
                },
            );
            !same
        }
        Err((fault, read_stamp)) => {
            let content = Err(fault);
            let same = files.get(&name).is_some_and(|seen| seen.content == content);
            let stamp = read_stamp.or(stamp);
            // A file found damaged may have been so for long.
            let age = stamp.map_or(WRITING, |stamp| stamp.age());
            files.insert(
                name,
                Seen {
                    stamp,
                    content,
                    changed: Instant::now().checked_sub(age).unwrap_or_else(Instant::now),
                    kept: false,
                },
            );
            !same
        }
    }
}

fn facts(record: &SnapshotRecord) -> SnapshotFacts {
    let lines = |lines: &[Text]| -> Vec<Vec<u8>> {
        lines.iter().map(|line| line.as_bytes().to_vec()).collect()
    };
    let (before, after) = (lines(record.before.lines()), lines(record.after.lines()));
    let before: Vec<&[u8]> = before.iter().map(Vec::as_slice).collect();
    let after: Vec<&[u8]> = after.iter().map(Vec::as_slice).collect();
    let (mut added, mut removed) = (0, 0);
    for change in changes(&before, &after) {
        added += change.new.len();
        removed += change.old.len();
    }
    SnapshotFacts {
        id: record.id.clone(),
        tool: record.tool.clone(),
        file: record.file.clone(),
        summary: record.summary.clone(),
        created_at: record.created_at,
        added: u32::try_from(added).unwrap_or(u32::MAX),
        removed: u32::try_from(removed).unwrap_or(u32::MAX),
        deleted: record.removed().map(|(first, lines)| {
            let text: Vec<u8> = lines.iter().flat_map(|l| l.as_bytes()).copied().collect();
            (sha256_hex(&text), first as u64)
        }),
    }
}
