//! The chip folder's files as rows, from one look to the next: a file that doesn't parse keeps its row (and what was
//! known of it) while it is being written, a file that is gone becomes a row of the archive.
//!
//! Left out: when to look (`watch`), what a record is (`chipdeck-chip`).

use super::archive::{Archive, ChipFacts, Facts, Item, ItemKey};
use super::files::{name_text, read_record, sha256_hex, Stamp};
use super::model::{Certainty, ChipEntry, EntryState, Target};
use chipdeck_chip::{order, summary, target_argument, ChipRecord, MAX_QUEUE};
use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A file that doesn't parse counts as being written for so long after its last change.
pub(super) const WRITING: Duration = Duration::from_secs(2);

/// A chip file as it was last read.
#[derive(Clone)]
pub(super) struct Known {
    pub facts: ChipFacts,
    pub sha256: String,
    pub bytes: u64,
}

/// A row, and what it says when its file can't be read any more.
pub(super) struct Row {
    pub entry: ChipEntry,
    pub known: Option<Known>,
}

struct Seen {
    stamp: Option<Stamp>,
    /// Last change, as far as we know.
    changed: Instant,
    known: Option<Known>,
    /// Why it doesn't parse now.
    fault: Option<String>,
    /// Gone, never having been readable.
    gone: bool,
    /// In the archive, or can't be.
    kept: bool,
}

/// The folder as it was at the last look.
#[derive(Default)]
pub(super) struct Board {
    folder: PathBuf,
    /// By name: the byte order that the queue's sort starts from.
    files: BTreeMap<OsString, Seen>,
}

/// What a look found.
#[derive(Default)]
pub(super) struct Look {
    pub changed: bool,
    /// Some file is being written: look again then.
    pub again: Option<Duration>,
    /// Some file's state depends on the time that has passed.
    pub ages: bool,
    pub exists: bool,
}

impl Board {
    pub fn new(folder: PathBuf) -> Board {
        Board {
            folder,
            files: BTreeMap::new(),
        }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads what is new or changed; `touched` files are read in any case. `settle`: what doesn't parse is damaged, not
    /// being written.
    pub fn look(
        &mut self,
        touched: &HashSet<OsString>,
        mut archive: Option<&mut Archive>,
        now: i64,
        settle: bool,
    ) -> Look {
        let mut look = Look::default();
        let mut names: HashSet<OsString> = HashSet::new();
        if let Ok(entries) = std::fs::read_dir(&self.folder) {
            look.exists = true;
            for entry in entries.flatten() {
                let name = entry.file_name();
                if name.as_encoded_bytes().ends_with(b".json") && !entry.path().is_dir() {
                    names.insert(name);
                }
            }
        }
        for name in &names {
            if self.read(name, touched.contains(name), archive.as_deref_mut(), now) {
                look.changed = true;
            }
        }
        let mut dropped = Vec::new();
        for (name, seen) in &mut self.files {
            if names.contains(name) {
                continue;
            }
            if seen.known.is_some() || seen.gone && seen.changed.elapsed() >= WRITING {
                dropped.push(name.clone());
            } else if !seen.gone {
                // Perhaps it is being replaced.
                seen.gone = true;
                seen.changed = Instant::now();
                look.changed = true;
            }
        }
        for name in dropped {
            self.files.remove(&name);
            look.changed = true;
        }
        if settle {
            for seen in self.files.values_mut() {
                seen.changed = Instant::now().checked_sub(WRITING).unwrap_or(seen.changed);
            }
        }
        look.ages = self
            .files
            .values()
            .any(|seen| seen.fault.is_some() || seen.gone);
        look.again = self
            .files
            .values()
            .filter(|seen| seen.fault.is_some() || seen.gone)
            .filter_map(|seen| WRITING.checked_sub(seen.changed.elapsed()))
            .filter(|left| !left.is_zero())
            .min();
        look
    }

    /// Some file doesn't parse and counts as being written.
    pub fn unsettled(&self) -> bool {
        self.files.values().any(|seen| seen.fault.is_some())
    }

    /// Reads one file if it may have changed. True: something about its row did.
    fn read(
        &mut self,
        name: &OsStr,
        touched: bool,
        archive: Option<&mut Archive>,
        now: i64,
    ) -> bool {
        let path = self.folder.join(name);
        let stamp = std::fs::metadata(&path).ok().map(|m| Stamp::of(&m));
        let before = self.files.get(name);
        if let Some(seen) = before {
            let kept = seen.kept || archive.is_none() || seen.fault.is_some();
            if !touched && kept && !seen.gone && stamp.is_some() && seen.stamp == stamp {
                return false;
            }
        }
        let was_there = before.is_some();
        match read_record(&path, |input| ChipRecord::read_from(input)) {
            Ok(read) => {
                let same = before.is_some_and(|seen| {
                    seen.fault.is_none()
                        && !seen.gone
                        && seen
                            .known
                            .as_ref()
                            .is_some_and(|known| known.sha256 == read.sha256)
                });
                let known = Known {
                    facts: facts(&read.record),
                    sha256: read.sha256,
                    bytes: read.bytes,
                };
                let mut kept = false;
                if let Some(archive) = archive {
                    let key = self.key(name, &known.sha256);
                    // The list works without; the next look tries again.
                    let done = archive.see(
                        key,
                        known.bytes,
                        Facts::Chip(known.facts.clone()),
                        read.whole.as_deref(),
                        &path,
                        now,
                    );
                    kept = done.map_or_else(|e| e.kind() == io::ErrorKind::FileTooLarge, |()| true);
                }
                self.files.insert(
                    name.to_owned(),
                    Seen {
                        stamp: Some(read.stamp),
                        changed: Instant::now(),
                        known: Some(known),
                        fault: None,
                        gone: false,
                        kept,
                    },
                );
                !same
            }
            Err((fault, read_stamp)) => {
                let stamp = read_stamp.or(stamp);
                // A file found damaged may have been so for long.
                let changed = match (was_there, stamp) {
                    (false, Some(stamp)) => Instant::now()
                        .checked_sub(stamp.age())
                        .unwrap_or_else(Instant::now),
                    _ => Instant::now(),
                };
                let seen = self.files.entry(name.to_owned()).or_insert(Seen {
                    stamp: None,
                    changed,
                    known: None,
                    fault: None,
                    gone: false,
                    kept: false,
                });
                let same_fault = seen.fault.as_ref() == Some(&fault) && !seen.gone;
                if !(same_fault && seen.stamp == stamp) {
                    seen.changed = changed;
                }
                seen.stamp = stamp;
                seen.fault = Some(fault);
                seen.gone = false;
                !same_fault
            }
        }
    }

    pub fn key(&self, name: &OsStr, sha256: &str) -> ItemKey {
        ItemKey {
            folder: name_text(self.folder.as_os_str()),
            name: name_text(name),
            sha256: sha256.into(),
        }
    }

    /// What lies in the folder now, as the archive names it.
    pub fn present(&self) -> HashSet<ItemKey> {
        self.files
            .iter()
            .filter_map(|(name, seen)| Some(self.key(name, &seen.known.as_ref()?.sha256)))
            .collect()
    }

    /// Readable ones in the order of a server's start, then unparsable ones by name.
    pub fn rows(&self, archive: Option<&Archive>) -> Vec<Row> {
        let mut readable: Vec<Row> = Vec::new();
        let mut damaged: Vec<Row> = Vec::new();
        for (name, seen) in &self.files {
            let writing = seen.changed.elapsed() < WRITING;
            let state = match &seen.fault {
                None => EntryState::Queue,
                Some(_) if writing || seen.gone => EntryState::Writing,
                Some(_) => EntryState::Damaged,
            };
            let mut row = self.row(name, seen.known.as_ref(), state);
            row.reason = seen.fault.clone();
            if seen.known.is_none() {
                row.bytes = seen.stamp.map_or(0, |stamp| stamp.bytes);
            }
            if let (Some(archive), Some(known)) = (archive, &seen.known) {
                let item = archive.items().get(&self.key(name, &known.sha256));
                row.pinned = item.is_some_and(|item| item.pinned);
            }
            let row = Row {
                entry: row,
                known: seen.known.clone(),
            };
            if seen.known.is_some() && state != EntryState::Damaged {
                readable.push(row);
            } else {
                damaged.push(row);
            }
        }
        order(&mut readable, |row| row.entry.created_at);
        let beyond = readable.len().saturating_sub(MAX_QUEUE);
        let full = readable.len() >= MAX_QUEUE;
        for (index, row) in readable.iter_mut().enumerate() {
            let row = &mut row.entry;
            match index.checked_sub(beyond) {
                None => {
                    if row.state == EntryState::Queue {
                        row.state = EntryState::Beyond;
                    }
                }
                Some(place) => {
                    row.queue_place = u32::try_from(place + 1).ok();
                    row.next_to_go = place == 0 && full;
                }
            }
        }
        readable.append(&mut damaged);
        readable
    }

    /// Those that were once seen in this folder and are gone, oldest first.
    pub fn evicted(&self, archive: &Archive) -> Vec<Row> {
        let folder = name_text(self.folder.as_os_str());
        // Of one name the newest of each body; those in the folder now hide theirs.
        let mut newest: BTreeMap<(&str, &str), (&ItemKey, &Item, &ChipFacts)> = BTreeMap::new();
        for (key, item) in archive.items() {
            let Facts::Chip(facts) = &item.facts else {
                continue;
            };
            if key.folder != folder {
                continue;
            }
            let slot = newest
                .entry((&key.name, &facts.body))
                .or_insert((key, item, facts));
            if item.seen > slot.1.seen || item.pinned && !slot.1.pinned {
                *slot = (key, item, facts);
            }
        }
        let mut names_seen: HashSet<OsString> = HashSet::new();
        let mut found: Vec<(&ItemKey, &Item, &ChipFacts)> = newest.into_values().collect();
        // Newest first, so that the newest of a name gets the name's key.
        found.sort_by_key(|(_, item, facts)| std::cmp::Reverse((item.seen, facts.created_at)));
        let mut rows = Vec::new();
        for (key, item, facts) in found {
            let Some(name) = super::files::name_of_text(&key.name) else {
                continue;
            };
            let here = self.files.get(&name);
            let known = here.and_then(|seen| seen.known.as_ref());
            // An unreadable file of that name may be this one, being written again.
            let writing = here.is_some_and(|seen| {
                seen.known.is_none() && seen.fault.is_some() && seen.changed.elapsed() < WRITING
            });
            if writing {
                continue;
            }
            if known.is_some_and(|known| known.facts.body == facts.body) {
                continue;
            }
            let known = Known {
                facts: facts.clone(),
                sha256: key.sha256.clone(),
                bytes: item.bytes,
            };
            let mut row = self.row(&name, Some(&known), EntryState::Evicted);
            row.pinned = item.pinned;
            if here.is_some() || !names_seen.insert(name) {
                row.key = format!("{}@{}", row.key, key.sha256);
            }
            rows.push(Row {
                entry: row,
                known: Some(known),
            });
        }
        rows.sort_by(|a, b| {
            let of = |row: &Row| (row.entry.created_at, row.entry.key.clone());
            of(a).cmp(&of(b))
        });
        rows
    }

    fn row(&self, name: &OsStr, known: Option<&Known>, state: EntryState) -> ChipEntry {
        let text = name_text(name);
        let mut row = ChipEntry {
            key: text,
            id: String::new(),
            tool: String::new(),
            created_at: 0,
            bytes: 0,
            err_msg: None,
            summary: String::new(),
            file: name.to_string_lossy().into_owned(),
            path: self.folder.join(name),
            state,
            queue_place: None,
            next_to_go: false,
            pinned: false,
            is_delete: false,
            linked: None,
            target: None,
            reason: None,
        };
        if let Some(known) = known {
            let facts = &known.facts;
            row.id = facts.id.clone();
            row.tool = facts.tool.clone();
            row.created_at = facts.created_at;
            row.bytes = known.bytes;
            row.err_msg = facts.err_msg.clone();
            row.summary = facts.summary.clone();
            row.is_delete = facts.deleted.is_some();
            row.target = facts.target.clone().map(|(path, line)| Target {
                path,
                line,
                certainty: Certainty::Arguments,
                because: None,
                workspace: None,
            });
        } else {
            // Nothing readable says when it was saved: the file's own time.
            row.created_at = written_at(&row.path);
        }
        row
    }

    /// The row's facts, from the folder or the archive: name, hash, facts.
    pub fn find(&self, key: &str, archive: Option<&Archive>) -> Option<(OsString, Known, bool)> {
        let (text, wanted) = match key.rsplit_once('@') {
            Some((text, sha256)) if sha256.len() == 64 => (text, Some(sha256)),
            _ => (key, None),
        };
        let name = super::files::name_of_text(text)?;
        if wanted.is_none() {
            if let Some(seen) = self.files.get(&name) {
                return Some((name, seen.known.clone()?, true));
            }
        }
        let folder = name_text(self.folder.as_os_str());
        archive?
            .of_name(&folder, text)
            .filter(|(item_key, _)| wanted.is_none_or(|sha256| item_key.sha256 == sha256))
            .filter_map(|(item_key, item)| match &item.facts {
                Facts::Chip(facts) => Some((item.seen, facts, item_key, item.bytes)),
                Facts::Snapshot(_) => None,
            })
            .max_by_key(|(seen, facts, ..)| (*seen, facts.created_at))
            .map(|(_, facts, item_key, bytes)| {
                let known = Known {
                    facts: facts.clone(),
                    sha256: item_key.sha256.clone(),
                    bytes,
                };
                (name, known, false)
            })
    }
}

fn facts(record: &ChipRecord) -> ChipFacts {
    let mut body = Vec::new();
    for text in [&record.id, &record.tool, &record.err_msg] {
        body.extend_from_slice(text.as_bytes());
        body.push(0);
    }
    if let Some(args) = &record.args {
        body.extend(args.value().compact());
    }
    ChipFacts {
        id: record.id.clone(),
        tool: record.tool.clone(),
        created_at: record.created_at,
        err_msg: (!record.err_msg.is_empty()).then(|| record.err_msg.clone()),
        summary: summary(record),
        deleted: record.deleted().map(|text| sha256_hex(text.as_bytes())),
        target: target_argument(record).map(|target| (target.path, target.line)),
        body: sha256_hex(&body),
    }
}

/// The chip folder's path as it is compared and remembered: absolute, links above it resolved where they exist.
pub(super) fn settled_path(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = Vec::new();
    let mut at = absolute.as_path();
    loop {
        if let Ok(real) = at.canonicalize() {
            return missing
                .iter()
                .rev()
                .fold(real, |path, name| path.join(name));
        }
        match (at.parent(), at.file_name()) {
            (Some(parent), Some(name)) => {
                missing.push(name.to_owned());
                at = parent;
            }
            _ => return absolute,
        }
    }
}

/// Bytes of a chip: from the folder if they are still the ones that the row is about, else from the archive.
pub(super) fn bytes_of(
    path: &Path,
    sha256: &str,
    archive: Option<&Archive>,
) -> io::Result<Vec<u8>> {
    let from_folder = || {
        let (mut file, _) = super::files::open_regular(path)?;
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(bytes)
    };
    let found: io::Result<Vec<u8>> = from_folder();
    match found {
        Ok(bytes) if sha256_hex(&bytes) == sha256 => Ok(bytes),
        found => match archive.map(|archive| archive.read(sha256)) {
            Some(Ok(bytes)) => Ok(bytes),
            // What lies there now is better than nothing.
            _ => found,
        },
    }
}

/// When the file was last written, Unix seconds; 0 where it can't be told.
fn written_at(path: &std::path::Path) -> i64 {
    std::fs::symlink_metadata(path)
        .and_then(|found| found.modified())
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .and_then(|since| i64::try_from(since.as_secs()).ok())
        .unwrap_or(0)
}
