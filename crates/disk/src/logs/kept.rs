//! An archive of logs: agents delete old transcripts, a copy here stays. Opt-in; the originals are only read.
//!
//! A log is cut into pieces of 1 MiB from its start, each kept once under the hash of its bytes, compressed, so that a
//! log that grew, a fork or a resumed copy shares what it has in common. In place of each file stands a small list of
//! its pieces, named as the file was; a list opens like the file (see `unpack`). Each piece is checked by its hash
//! when read. Left out: which logs are kept, and when.
//!
//! `logs/pieces/ab/cdef…`, `logs/sets/<id>/set.json`, `logs/sets/<id>/log/…`; folders 0700, files 0600.

use super::discover::{Agent, Found};
use super::source::FileSource;
use crate::own;
use crate::places::{private_folder, Places};
use chipdeck_ingest::Source;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

/// How a list of pieces begins.
pub(super) const MAGIC: &[u8] = b"chipdeck kept log\n";
const PIECE: usize = 1 << 20;
/// A list of more bytes is not one of ours.
const LARGEST_LIST: u64 = 64 << 20;
const LEVEL: i32 = 3;
/// Earlier contents of one log that are kept, where it was cut or written anew.
const MOST_EARLIER: usize = 4;

pub struct LogArchive {
    folder: PathBuf,
}

/// The pieces of a file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct List {
    bytes: u64,
    pieces: Vec<String>,
}

/// A log in the archive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptLog {
    /// Where it was.
    pub original: PathBuf,
    /// Whose folder it was found in.
    pub agent: String,
    pub bytes: u64,
    /// Of the original, Unix milliseconds.
    pub modified: Option<i64>,
    /// When the original was last there, Unix milliseconds.
    pub seen: i64,
    /// An earlier content of a log that was cut or written anew since.
    pub earlier: bool,
    /// What to open, below the set's folder.
    open: PathBuf,
    #[serde(skip)]
    pub path: PathBuf,
    #[serde(skip)]
    set: PathBuf,
}

/// What one `keep` did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeepDone {
    /// Bytes that were written, compressed.
    pub written: u64,
    /// The log had been cut or written anew: what was kept before is kept beside.
    pub earlier: bool,
}

impl KeptLog {
    /// As a log that is found here.
    pub fn found(&self) -> Found {
        Found {
            agent: Agent::named(&self.agent),
            path: self.path.clone(),
            bytes: self.bytes,
            modified: self.modified,
        }
    }
}

impl LogArchive {
    pub fn new(places: &Places) -> LogArchive {
        LogArchive {
            folder: places.data.join("logs"),
        }
    }

    /// Takes in a log as it is now.
    ///
    /// # Errors
    /// What cannot be read or written; what was kept before stays.
    pub fn keep(&self, found: &Found, now: i64) -> io::Result<KeepDone> {
        let path = &*found.path;
        let source = FileSource::open(path).map_err(io::Error::other)?;
        let names = names(&source);
        let id = hex(path.to_string_lossy().as_bytes());
        let set = self
            .folder
            .join("sets")
            .join(id.get(..16).unwrap_or_default());
        let mut done = KeepDone::default();
        let mut lists = Vec::new();
        for (file, name) in (0..).zip(&names) {
            lists.push((name, self.take_in(&source, file, &mut done)?));
        }
        if was_cut(&set, &lists) {
            let beside = set.with_file_name(format!(
                "{}-{now}",
                set.file_name().unwrap_or_default().to_string_lossy()
            ));
            std::fs::rename(&set, &beside)?;
            if let Some(mut old) = read_set(&beside) {
                old.earlier = true;
                write_set(&beside, &old)?;
            }
            done.earlier = true;
            self.forget_earlier(&set)?;
        }
        for (name, list) in &lists {
            let place = set.join("log").join(name);
            private_folder(place.parent().unwrap_or(&set))?;
            let text = serde_json::to_string(list).map_err(io::Error::other)?;
            let head = String::from_utf8_lossy(MAGIC);
            own::write(&place, &format!("{head}{text}\n"))?;
        }
        let open = match source.is_folder() {
            true => PathBuf::from("log").join(root_of(&source)),
            false => PathBuf::from("log").join(names.first().cloned().unwrap_or_default()),
        };
        let kept = KeptLog {
            original: path.to_owned(),
            agent: found.agent.name().to_owned(),
            bytes: found.bytes,
            modified: found.modified,
            seen: now,
            earlier: false,
            open,
            path: PathBuf::new(),
            set: PathBuf::new(),
        };
        write_set(&set, &kept)?;
        Ok(done)
    }

    /// A file's pieces; those that are new are written.
    fn take_in(&self, source: &FileSource, file: u32, done: &mut KeepDone) -> io::Result<List> {
        let mut list = List::default();
        loop {
            let bytes = source.read_at(file, list.bytes, PIECE)?;
            if bytes.is_empty() {
                return Ok(list);
            }
            let name = hex(&bytes);
            let place = self.piece(&name).ok_or(io::ErrorKind::InvalidInput)?;
            if !place.exists() {
                let packed = zstd::bulk::compress(&bytes, LEVEL)?;
                let folder = place.parent().ok_or(io::ErrorKind::InvalidInput)?;
                private_folder(folder)?;
                // Made by a temporary name (0600) and renamed: there is never half a piece.
                let mut new = tempfile::NamedTempFile::new_in(folder)?;
                new.write_all(&packed)?;
                new.as_file().sync_data()?;
                new.persist(&place)?;
                done.written += packed.len() as u64;
            }
            list.bytes += bytes.len() as u64;
            list.pieces.push(name);
            if bytes.len() < PIECE {
                return Ok(list);
            }
        }
    }

    fn piece(&self, name: &str) -> Option<PathBuf> {
        piece_below(&self.folder.join("pieces"), name)
    }

    /// What is in it, in no order.
    pub fn list(&self) -> Vec<KeptLog> {
        let folders = std::fs::read_dir(self.folder.join("sets"));
        let sets = folders.into_iter().flatten().flatten();
        sets.filter_map(|entry| read_set(&entry.path())).collect()
    }

    /// The original is there.
    pub fn saw(&self, kept: &KeptLog, now: i64) -> io::Result<()> {
        let mut kept = kept.clone();
        kept.seen = now;
        let set = kept.set.clone();
        write_set(&set, &kept)
    }

    /// Bytes of all pieces, as they lie here.
    pub fn bytes(&self) -> u64 {
        self.pieces().iter().map(|(_, bytes)| bytes).sum()
    }

    fn pieces(&self) -> Vec<(PathBuf, u64)> {
        let folders = std::fs::read_dir(self.folder.join("pieces"));
        let folders = folders.into_iter().flatten().flatten();
        folders
            .flat_map(|folder| {
                std::fs::read_dir(folder.path())
                    .into_iter()
                    .flatten()
                    .flatten()
            })
            .filter_map(|file| Some((file.path(), file.metadata().ok()?.len())))
            .collect()
    }

    /// Where a log of the archive was; `None` for any other path.
    pub fn original(&self, path: &Path) -> Option<PathBuf> {
        let sets = self.folder.join("sets");
        let below = path.strip_prefix(&sets).ok()?;
        Some(read_set(&sets.join(below.components().next()?))?.original)
    }

    /// Forgets logs whose originals are gone for more than so many days, then, until the archive has at most so many
    /// bytes, the longest gone first, and those that are still `there` last; pieces that none needs go too.
    ///
    /// # Errors
    /// What cannot be removed.
    pub fn limit(
        &self,
        most_bytes: u64,
        days: i64,
        now: i64,
        there: &dyn Fn(&KeptLog) -> bool,
    ) -> io::Result<()> {
        let mut sets = self.list();
        let here = |it: &KeptLog| !it.earlier && there(it);
        sets.sort_by_key(|it| (here(it), !it.earlier, it.seen));
        let oldest = now.saturating_sub(days.saturating_mul(86_400_000));
        let mut removed = false;
        sets.retain(|it| {
            let old = it.seen < oldest && !here(it);
            removed |= old;
            !old || std::fs::remove_dir_all(&it.set).is_err()
        });
        if removed {
            self.sweep()?;
        }
        let mut left = sets.into_iter();
        while self.bytes() > most_bytes {
            let Some(oldest) = left.next() else { break };
            std::fs::remove_dir_all(&oldest.set)?;
            self.sweep()?;
        }
        Ok(())
    }

    /// Removes pieces that no list names.
    fn sweep(&self) -> io::Result<()> {
        let mut needed: HashSet<PathBuf> = HashSet::new();
        let mut folders = vec![self.folder.join("sets")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder)?.flatten() {
                let path = entry.path();
                if entry.file_type().is_ok_and(|it| it.is_dir()) {
                    folders.push(path);
                } else if let Ok(list) = read_list(&path) {
                    needed.extend(list.pieces.iter().filter_map(|name| self.piece(name)));
                }
            }
        }
        for (piece, _) in self.pieces() {
            if !needed.contains(&piece) {
                std::fs::remove_file(piece)?;
            }
        }
        Ok(())
    }

    fn forget_earlier(&self, set: &Path) -> io::Result<()> {
        let name = set.file_name().unwrap_or_default().to_string_lossy();
        let start = format!("{name}-");
        let mut earlier: Vec<KeptLog> = self.list();
        earlier.retain(|it| {
            let name = it.set.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(&start)
        });
        earlier.sort_by_key(|it| it.seen);
        let most = earlier.len().saturating_sub(MOST_EARLIER);
        for old in earlier.into_iter().take(most) {
            std::fs::remove_dir_all(old.set)?;
        }
        Ok(())
    }
}

/// Each file's name below the set's `log`: its path below the folder that all have in common; of a database's
/// sessions the names that they have there.
fn names(source: &FileSource) -> Vec<PathBuf> {
    let paths: Vec<Option<PathBuf>> = (0..source.files()).map(|at| source.file_path(at)).collect();
    let all: HashSet<&PathBuf> = paths.iter().flatten().collect();
    let own: Option<Vec<PathBuf>> = (all.len() == paths.len())
        .then(|| {
            let common = common(source, &paths);
            let below = |path: &Option<PathBuf>| {
                let below = path.as_ref()?.strip_prefix(&common).ok()?;
                Some(below.to_owned())
            };
            paths.iter().map(below).collect()
        })
        .flatten();
    own.unwrap_or_else(|| {
        let plain = |name: &str| {
            let parts = Path::new(name).components();
            let parts = parts.filter(|part| matches!(part, Component::Normal(_)));
            parts.collect::<PathBuf>()
        };
        (0..source.files())
            .map(|at| plain(&source.name(at)))
            .collect()
    })
}

fn common(source: &FileSource, paths: &[Option<PathBuf>]) -> PathBuf {
    let path = source.path();
    let start = match source.is_folder() {
        true => path,
        false => path.parent().unwrap_or(path),
    };
    let inside = |folder: &Path| paths.iter().flatten().all(|it| it.starts_with(folder));
    let found = start.ancestors().find(|folder| inside(folder));
    found.unwrap_or(start).to_owned()
}

/// Of a folder: where it is below `log`.
fn root_of(source: &FileSource) -> PathBuf {
    let paths: Vec<Option<PathBuf>> = (0..source.files()).map(|at| source.file_path(at)).collect();
    let common = common(source, &paths);
    let below = source.path().strip_prefix(&common).map(Path::to_owned);
    below.unwrap_or_default()
}

/// What was kept before is more than this, or begins otherwise.
fn was_cut(set: &Path, lists: &[(&PathBuf, List)]) -> bool {
    lists.iter().any(|(name, new)| {
        let Ok(old) = read_list(&set.join("log").join(name)) else {
            return false;
        };
        let lines = name.extension().is_some_and(|it| it == "jsonl");
        // The last piece may have grown.
        let whole = old.pieces.len().saturating_sub(1);
        let same = old
            .pieces
            .iter()
            .zip(&new.pieces)
            .take(whole)
            .all(|(a, b)| a == b);
        new.bytes < old.bytes || lines && !(same && grown(set, &old, new))
    })
}

/// The last piece of the old list is how the piece at its place in the new one begins.
fn grown(set: &Path, old: &List, new: &List) -> bool {
    let Some(last) = old.pieces.last() else {
        return true;
    };
    let at = old.pieces.len() - 1;
    let Some(now) = new.pieces.get(at) else {
        return false;
    };
    if last == now {
        return true;
    }
    let pieces = set.ancestors().nth(2).map(|it| it.join("pieces"));
    let read = |name: &str| read_piece(pieces.as_deref()?, name).ok();
    match (read(last), read(now)) {
        (Some(before), Some(after)) => after.starts_with(&before),
        // A damaged piece proves nothing.
        _ => true,
    }
}

fn read_set(set: &Path) -> Option<KeptLog> {
    let text = own::read(&set.join("set.json")).ok()??;
    let mut kept: KeptLog = serde_json::from_str(&text).ok()?;
    let inside = kept
        .open
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    kept.path = set.join(&kept.open);
    kept.set = set.to_owned();
    inside.then_some(kept)
}

fn write_set(set: &Path, kept: &KeptLog) -> io::Result<()> {
    let text = serde_json::to_string(kept).map_err(io::Error::other)?;
    own::write(&set.join("set.json"), &text)
}

fn read_list(path: &Path) -> io::Result<List> {
    list_of(&mut File::open(path)?)
}

fn list_of(file: &mut File) -> io::Result<List> {
    let mut bytes = Vec::new();
    file.take(LARGEST_LIST).read_to_end(&mut bytes)?;
    let text = bytes
        .strip_prefix(MAGIC)
        .ok_or(io::ErrorKind::InvalidData)?;
    serde_json::from_slice(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// `None`: no name of a piece.
fn piece_below(pieces: &Path, name: &str) -> Option<PathBuf> {
    let plain = name.len() == 64
        && name
            .bytes()
            .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
    plain.then_some(())?;
    Some(pieces.join(name.get(..2)?).join(name.get(2..)?))
}

fn read_piece(pieces: &Path, name: &str) -> io::Result<Vec<u8>> {
    let bad = || {
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the piece {name} is damaged"),
        )
    };
    let place = piece_below(pieces, name).ok_or_else(bad)?;
    let packed = std::fs::read(place)?;
    let bytes = zstd::bulk::decompress(&packed, PIECE).map_err(|_| bad())?;
    match hex(&bytes) == name {
        true => Ok(bytes),
        false => Err(bad()),
    }
}

/// The pieces' folder of a list in the archive: beside the `sets` that it is in.
fn pieces_of(list: &Path) -> Option<PathBuf> {
    let sets = list
        .ancestors()
        .find(|it| it.file_name().is_some_and(|name| name == "sets"))?;
    Some(sets.with_file_name("pieces"))
}

/// Writes the pieces of the list in `file`, which lies at `path`. Where one is missing or damaged an empty line
/// stands: what is before and after it is still read.
pub(super) fn lay_out(file: &mut File, path: &Path, out: &mut File) -> io::Result<()> {
    let list = list_of(file)?;
    let pieces = pieces_of(path).ok_or(io::ErrorKind::NotFound)?;
    let mut good = false;
    for name in &list.pieces {
        match read_piece(&pieces, name) {
            Ok(bytes) => {
                good = true;
                out.write_all(&bytes)?;
            }
            Err(_) => out.write_all(b"\n")?,
        }
    }
    match good || list.pieces.is_empty() {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "every piece of this archived log is missing or damaged",
        )),
    }
}

/// The first and the last bytes, each at most `len`, as `unpack::ends` gives them.
pub(super) fn ends(file: &mut File, path: &Path, len: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let list = list_of(file)?;
    let pieces = pieces_of(path).ok_or(io::ErrorKind::NotFound)?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let read = |name: Option<&String>| match name {
        Some(name) => read_piece(&pieces, name).unwrap_or_default(),
        None => Vec::new(),
    };
    let mut head = Vec::new();
    for name in &list.pieces {
        if head.len() >= len {
            break;
        }
        head.extend(read(Some(name)));
    }
    head.truncate(len);
    if list.bytes <= head.len() as u64 {
        return Ok((head, Vec::new()));
    }
    let mut tail = read(list.pieces.last());
    if let [.., before, _] = list.pieces.as_slice() {
        if tail.len() < len {
            tail = [read(Some(before)), tail].concat();
        }
    }
    let left = usize::try_from(list.bytes).unwrap_or(usize::MAX) - head.len();
    let from = tail.len() - tail.len().min(len).min(left);
    Ok((head, tail.split_off(from)))
}

fn hex(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
