//! The archive: a copy of each chip and edit snapshot that was ever seen, since the server drops the 31st and any start
//! of it deletes more. Content-addressed files (0600) and one index, a list of lines that only grows until it is
//! tidied. Several of our processes may use it at once: every write to the index happens under a lock.
//!
//! Left out: what a chip is (the index holds rows as the list shows them), when to look.

use super::files::{hex, sha256_hex};
use super::{ArchiveConfig, ArchiveSize};
use crate::places::private_folder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What the list shows of a chip without reading it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ChipFacts {
    pub id: String,
    pub tool: String,
    pub created_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub err_msg: Option<String>,
    pub summary: String,
    /// SHA-256 of a delete's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<String>,
    /// Path and line that the arguments name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<(String, Option<u64>)>,
    /// SHA-256 of the record without its time: equal for a chip and the same one revived.
    pub body: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SnapshotFacts {
    pub id: String,
    pub tool: String,
    pub file: String,
    pub summary: String,
    pub created_at: i64,
    pub added: u32,
    pub removed: u32,
    /// A delete: SHA-256 of the removed text and its first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<(String, u64)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Facts {
    Chip(ChipFacts),
    Snapshot(SnapshotFacts),
}

/// Which file it was: folder and name (as `name_text` writes it) and the hash of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct ItemKey {
    pub folder: String,
    pub name: String,
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub bytes: u64,
    /// Last seen, Unix seconds.
    pub seen: i64,
    pub pinned: bool,
    pub facts: Facts,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
// One at a time, never kept.
#[allow(clippy::large_enum_variant)]
enum Line {
    Seen {
        #[serde(flatten)]
        key: ItemKey,
        bytes: u64,
        seen: i64,
        facts: Facts,
    },
    Pin {
        #[serde(flatten)]
        key: ItemKey,
        pinned: bool,
    },
}

pub(super) struct Archive {
    config: ArchiveConfig,
    items: BTreeMap<ItemKey, Item>,
    /// Counts the changes of `items`.
    version: u64,
    size: ArchiveSize,
    /// The version that `size` is of.
    sized: u64,
    /// How far the index was read, and the file that it was.
    read: u64,
    file: Option<(u64, u64)>,
}

/// `seen` is written again when it is older than this, in seconds.
const REFRESH: i64 = 24 * 3600;

impl Archive {
    /// Nothing is made on disk before something is kept.
    pub fn open(config: ArchiveConfig) -> Archive {
        let mut archive = Archive {
            config,
            items: BTreeMap::new(),
            version: 1,
            size: ArchiveSize::default(),
            sized: 0,
            read: 0,
            file: None,
        };
        archive.refresh();
        archive
    }

    pub fn items(&self) -> &BTreeMap<ItemKey, Item> {
        &self.items
    }

    /// Those of one file name, whatever their bytes.
    pub fn of_name<'a>(
        &'a self,
        folder: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = (&'a ItemKey, &'a Item)> {
        let first = ItemKey {
            folder: folder.to_owned(),
            name: name.to_owned(),
            sha256: String::new(),
        };
        self.items
            .range(first..)
            .take_while(move |(key, _)| key.folder == folder && key.name == name)
    }

    /// Changes when anything in it does.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Each content counted once.
    pub fn size(&mut self) -> ArchiveSize {
        if self.sized != self.version {
            self.sized = self.version;
            let mut seen: HashMap<&str, (u64, bool)> = HashMap::new();
            for (key, item) in &self.items {
                let chip = matches!(item.facts, Facts::Chip(_));
                seen.insert(&key.sha256, (item.bytes, chip));
            }
            let chips = seen.values().filter(|(_, chip)| *chip).count() as u64;
            self.size = ArchiveSize {
                chips,
                snapshots: seen.len() as u64 - chips,
                bytes: seen.values().map(|(bytes, _)| bytes).sum(),
            };
        }
        self.size
    }

    /// Reads what other processes (or ourselves) have added. Lines that don't parse are left out.
    pub fn refresh(&mut self) {
        let Ok(file) = File::open(self.index()) else {
            self.version += u64::from(!self.items.is_empty());
            self.items.clear();
            self.read = 0;
            self.file = None;
            return;
        };
        let identity = identity(&file);
        let length = file.metadata().map(|m| m.len()).unwrap_or_default();
        if identity != self.file || length < self.read {
            self.version += 1;
            self.items.clear();
            self.read = 0;
            self.file = identity;
        }
        let mut input = BufReader::new(file);
        if length == self.read || input.seek(SeekFrom::Start(self.read)).is_err() {
            return;
        }
        let mut line = Vec::new();
        loop {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                // A line without its end is still being written.
                Ok(n) if n > 0 && line.ends_with(b"\n") => self.read += n as u64,
                _ => return,
            }
            if let Ok(line) = serde_json::from_slice(&line) {
                self.take(line);
            }
        }
    }

    fn take(&mut self, line: Line) {
        self.version += 1;
        match line {
            Line::Seen {
                key,
                bytes,
                seen,
                facts,
            } => {
                let pinned = self.items.get(&key).is_some_and(|item| item.pinned);
                self.items.insert(
                    key,
                    Item {
                        bytes,
                        seen,
                        pinned,
                        facts,
                    },
                );
            }
            Line::Pin { key, pinned } => {
                if let Some(item) = self.items.get_mut(&key) {
                    item.pinned = pinned;
                }
            }
        }
    }

    /// Keeps a file that was read: `whole` if its bytes are at hand, else it is copied from `path` (and not kept if it
    /// has changed meanwhile). `now`: Unix seconds.
    pub fn see(
        &mut self,
        key: ItemKey,
        bytes: u64,
        facts: Facts,
        whole: Option<&[u8]>,
        path: &Path,
        now: i64,
    ) -> io::Result<()> {
        if self.config.read_only {
            return Ok(());
        }
        if let Some(item) = self.items.get(&key) {
            let fresh = (now - item.seen).abs() < REFRESH;
            if fresh && self.object(&key.sha256).is_file() {
                return Ok(());
            }
        }
        if bytes > self.config.max_bytes {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "larger than the whole archive may be",
            ));
        }
        private_folder(&self.config.dir)?;
        self.keep(&key.sha256, whole, path)?;
        self.append(&Line::Seen {
            key,
            bytes,
            seen: now,
            facts,
        })
    }

    fn keep(&self, sha256: &str, whole: Option<&[u8]>, path: &Path) -> io::Result<()> {
        let object = self.object(sha256);
        if object.is_file() {
            return Ok(());
        }
        let folder = object.parent().unwrap_or(&self.config.dir);
        private_folder(&self.config.dir.join("objects"))?;
        private_folder(folder)?;
        // A temporary file is made with mode 0600.
        let mut copy = tempfile::Builder::new()
            .prefix(".new-")
            .tempfile_in(folder)?;
        match whole {
            Some(bytes) => copy.write_all(bytes)?,
            None => {
                let (mut file, _) = super::files::open_regular(path)?;
                let mut hash = Sha256::new();
                let mut buffer = vec![0; 1 << 16];
                loop {
                    let n = file.read(&mut buffer)?;
                    let new = buffer.get(..n).unwrap_or_default();
                    if n == 0 {
                        break;
                    }
                    hash.update(new);
                    copy.write_all(new)?;
                }
                if hex(&hash.finalize()) != sha256 {
                    return Err(io::Error::other("the file changed while it was copied"));
                }
            }
        }
        copy.persist(&object)?;
        Ok(())
    }

    pub fn pin(&mut self, key: ItemKey, pinned: bool) -> io::Result<()> {
        if self.config.read_only {
            return Err(io::Error::new(
                io::ErrorKind::ReadOnlyFilesystem,
                "it is only read now",
            ));
        }
        self.append(&Line::Pin { key, pinned })
    }

    /// Where the bytes lie. They are checked against the hash when they are read with `read`.
    pub fn object(&self, sha256: &str) -> PathBuf {
        let (first, rest) = sha256.split_at_checked(2).unwrap_or((sha256, "_"));
        self.config.dir.join("objects").join(first).join(rest)
    }

    /// The kept bytes; an error if they are not what was put in.
    pub fn read(&self, sha256: &str) -> io::Result<Vec<u8>> {
        let bytes = std::fs::read(self.object(sha256))?;
        if sha256_hex(&bytes) != sha256 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the archived copy is damaged",
            ));
        }
        Ok(bytes)
    }

    /// Drops what is too old or too much, oldest first; never what is pinned or `present`. `now`: Unix seconds.
    pub fn tidy(&mut self, present: &dyn Fn(&ItemKey) -> bool, now: i64) -> io::Result<()> {
        let oldest =
            now.saturating_sub(i64::try_from(self.config.max_age.as_secs()).unwrap_or(i64::MAX));
        let too_old = |item: &Item| item.seen < oldest;
        let fits = self.size().bytes <= self.config.max_bytes && !self.items.values().any(too_old);
        if fits || self.config.read_only {
            return Ok(());
        }
        let _lock = self.lock()?;
        self.refresh();
        let mut by_age: Vec<(ItemKey, i64)> = self
            .items
            .iter()
            .filter(|(key, item)| !item.pinned && !present(key))
            .map(|(key, item)| (key.clone(), item.seen))
            .collect();
        by_age.sort_by_key(|(_, seen)| *seen);
        let before: HashSet<String> = self.items.keys().map(|key| key.sha256.clone()).collect();
        let mut refs: HashMap<String, usize> = HashMap::new();
        for key in self.items.keys() {
            *refs.entry(key.sha256.clone()).or_default() += 1;
        }
        let mut bytes = self.size().bytes;
        let mut dropped = false;
        for (key, seen) in by_age {
            if seen >= oldest && bytes <= self.config.max_bytes {
                break;
            }
            let Some(item) = self.items.remove(&key) else {
                continue;
            };
            dropped = true;
            self.version += 1;
            if let Some(count) = refs.get_mut(&key.sha256) {
                *count -= 1;
                if *count == 0 {
                    bytes = bytes.saturating_sub(item.bytes);
                }
            }
        }
        if !dropped {
            return Ok(());
        }
        self.rewrite()?;
        for sha256 in before {
            if refs.get(&sha256) == Some(&0) {
                // Still there: it is found and removed the next time the same content is dropped.
                let _ = std::fs::remove_file(self.object(&sha256));
            }
        }
        Ok(())
    }

    /// The whole index anew. Under the lock.
    fn rewrite(&mut self) -> io::Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(".index-")
            .tempfile_in(&self.config.dir)?;
        {
            let mut out = io::BufWriter::new(&mut file);
            for (key, item) in &self.items {
                write_line(
                    &mut out,
                    &Line::Seen {
                        key: key.clone(),
                        bytes: item.bytes,
                        seen: item.seen,
                        facts: item.facts.clone(),
                    },
                )?;
                if item.pinned {
                    write_line(
                        &mut out,
                        &Line::Pin {
                            key: key.clone(),
                            pinned: true,
                        },
                    )?;
                }
            }
            out.flush()?;
        }
        file.as_file().sync_all()?;
        let file = file.persist(self.index())?;
        self.file = identity(&file);
        self.read = file.metadata()?.len();
        Ok(())
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        private_folder(&self.config.dir)?;
        let _lock = self.lock()?;
        let mut options = File::options();
        options.create(true).append(true).read(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = options.open(self.index())?;
        let mut bytes = Vec::new();
        // A process that died in the middle of a line must not spoil the next one.
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                bytes.push(b'\n');
            }
        }
        write_line(&mut bytes, line)?;
        file.write_all(&bytes)?;
        drop(file);
        self.refresh();
        Ok(())
    }

    fn index(&self) -> PathBuf {
        self.config.dir.join("index.jsonl")
    }

    /// Held until dropped.
    fn lock(&self) -> io::Result<File> {
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = options.open(self.config.dir.join("lock"))?;
        file.lock()?;
        Ok(file)
    }
}

fn write_line(out: &mut impl Write, line: &Line) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

#[cfg(unix)]
fn identity(file: &File) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|m| (m.dev(), m.ino()))
}

#[cfg(not(unix))]
fn identity(file: &File) -> Option<(u64, u64)> {
    use std::time::UNIX_EPOCH;
    let made = file.metadata().ok()?.created().ok()?;
    Some((made.duration_since(UNIX_EPOCH).ok()?.as_nanos() as u64, 0))
}
