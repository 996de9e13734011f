//! The write side of our own log sets: one interface, three places. In memory for tests, one file for a small log,
//! shards for a large one. Lines are only ever added; a crash leaves whole lines, and the unfinished end that it may
//! leave of ours is cut at the next start.
//!
//! Left out: what the lines say, and logs of others (see [`super::append`]).

use super::append::take_back;
use chipdeck_ingest::{lift, MemorySource};
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Strings of a payload over this many bytes are kept in blobs beside the log.
pub const LONG_STRING: usize = 64 << 10;
/// Shards that are held open.
const MOST_OPEN: usize = 64;
/// Bytes that are read at once from the end of a file, to find its last whole line.
const STRIDE: u64 = 64 << 10;

/// An event to write.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// One line of JSON, without its end.
    pub json: &'a str,
    /// Unix milliseconds: the day of its shard.
    pub time: i64,
    /// The session of its shard; of the agent, not `dialog` or `exec`.
    pub session: &'a str,
}

/// When lines are flushed to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Before [`Store::append`] returns.
    Each,
    /// After so many lines, and when asked for.
    Every(u32),
    /// Only when asked for.
    Asked,
}

/// When a new shard begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// `YYYY-MM-DD.jsonl`, by UTC.
    Date,
    /// `<session>.jsonl`.
    Session,
    /// `00001.jsonl`, …: the next one once a shard has so many bytes.
    Size(u64),
}

/// What was cut from the end of a file when it was opened: a line that a crash left unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    pub path: PathBuf,
    pub bytes: u64,
}

/// Where events are written.
pub trait Store: Send {
    /// Adds events, all of one call or (on an error) whole lines of a part of them.
    ///
    /// # Errors
    /// `InvalidInput` for a line break inside a line, with nothing written; else what the system says.
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()>;

    /// All that was added is on the disk when this returns.
    ///
    /// # Errors
    /// What the system says.
    fn flush(&mut self) -> io::Result<()>;
}

fn check(lines: &[Line<'_>]) -> io::Result<()> {
    let broken = |line: &Line<'_>| line.json.contains(['\n', '\r']);
    if lines.iter().any(broken) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a line break inside an event",
        ));
    }
    Ok(())
}

/// Events in memory.
#[derive(Default)]
pub struct MemoryStore {
    text: Vec<u8>,
    blobs: Vec<(String, String)>,
}

impl MemoryStore {
    /// What was written, as a reader sees it.
    pub fn source(&self) -> MemorySource {
        let mut source = MemorySource::single("memory.jsonl", self.text.clone());
        for (sha256, text) in &self.blobs {
            source.add_blob(sha256, text.as_bytes());
        }
        source
    }
}

impl Store for MemoryStore {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        check(lines)?;
        for line in lines {
            let lifted = lift(line.json, LONG_STRING);
            let (json, blobs) = match &lifted {
                Some((json, blobs)) => (json.as_str(), blobs.as_slice()),
                None => (line.json, &[][..]),
            };
            self.text.extend_from_slice(json.as_bytes());
            self.text.push(b'\n');
            let blobs = blobs.iter().map(|it| (it.sha256.clone(), it.text.clone()));
            self.blobs.extend(blobs);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Events in one file; blobs in `<file>.blobs`.
pub struct FileStore {
    shard: Shard,
    blobs: PathBuf,
    flush: Flush,
    unflushed: u32,
}

impl FileStore {
    /// Opens a file of ours, or makes it, and cuts an unfinished last line.
    ///
    /// # Errors
    /// What the system says; `WouldBlock` while another process writes it.
    pub fn open(path: &Path, flush: Flush) -> io::Result<(FileStore, Option<Mended>)> {
        let (shard, mended) = Shard::open(path)?;
        let store = FileStore {
            shard,
            blobs: super::branch::beside(path),
            flush,
            unflushed: 0,
        };
        Ok((store, mended))
    }
}

impl Store for FileStore {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        check(lines)?;
        let mut text = String::new();
        for line in lines {
            push(&mut text, line, &self.blobs)?;
        }
        self.shard.add(text.as_bytes())?;
        self.unflushed = self.unflushed.saturating_add(lines.len() as u32);
        if due(self.flush, self.unflushed) {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.shard.file.sync_all()?;
        self.unflushed = 0;
        Ok(())
    }
}

/// Events in the shards of a folder; blobs in `blobs/` inside it.
pub struct ShardStore {
    folder: PathBuf,
    rotation: Rotation,
    flush: Flush,
    unflushed: u32,
    /// Latest used last.
    open: VecDeque<Shard>,
    /// Shards with lines that are not on the disk yet and were closed meanwhile.
    closed: Vec<PathBuf>,
    mended: Vec<Mended>,
}

impl ShardStore {
    /// Opens a folder of ours, or makes it, and cuts the unfinished last lines of its shards.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(folder: &Path, rotation: Rotation, flush: Flush) -> io::Result<ShardStore> {
        std::fs::create_dir_all(folder)?;
        let mut mended = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let shard = path.extension().is_some_and(|it| it == "jsonl") && path.is_file();
            if !shard || ends_whole(&path)? {
                continue;
            }
            match Shard::open(&path) {
                Ok((_, cut)) => mended.extend(cut),
                // Another process writes it: its last line is on its way.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ShardStore {
            folder: folder.to_owned(),
            rotation,
            flush,
            unflushed: 0,
            open: VecDeque::new(),
            closed: Vec::new(),
            mended,
        })
    }

    /// What was cut so far from shards that a crash left unfinished.
    pub fn mended(&self) -> &[Mended] {
        &self.mended
    }

    fn name(&self, line: &Line<'_>) -> io::Result<String> {
        Ok(match self.rotation {
            Rotation::Date => format!("{}.jsonl", date(line.time)),
            Rotation::Session => format!("{}.jsonl", plain(line.session)),
            Rotation::Size(most) => {
                let last = self.last()?;
                let full = match last {
                    0 => true,
                    last => self.size(last) >= most,
                };
                format!("{:05}.jsonl", last + u32::from(full))
            }
        })
    }

    /// The number of the last shard by size; 0 where there is none.
    fn last(&self) -> io::Result<u32> {
        if let Some(number) = self.open.back().and_then(|shard| number(&shard.path)) {
            return Ok(number);
        }
        let mut last = 0;
        for entry in std::fs::read_dir(&self.folder)? {
            last = last.max(number(&entry?.path()).unwrap_or(0));
        }
        Ok(last)
    }

    fn size(&self, shard: u32) -> u64 {
        let path = self.folder.join(format!("{shard:05}.jsonl"));
        match self.open.iter().find(|it| it.path == path) {
            Some(open) => open.len,
            None => std::fs::metadata(path).map_or(0, |it| it.len()),
        }
    }

    fn shard(&mut self, name: &str) -> io::Result<&mut Shard> {
        let path = self.folder.join(name);
        let shard = match self.open.iter().position(|it| it.path == path) {
            Some(at) => self.open.remove(at),
            None => {
                if self.open.len() >= MOST_OPEN {
                    if let Some(oldest) = self.open.pop_front().filter(|it| it.dirty) {
                        self.closed.push(oldest.path);
                    }
                }
                let (shard, mended) = Shard::open(&path)?;
                self.mended.extend(mended);
                Some(shard)
            }
        };
        self.open.extend(shard);
        self.open
            .back_mut()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Store for ShardStore {
    fn append(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        check(lines)?;
        let blobs = self.folder.join("blobs");
        let mut at = 0;
        while let Some(first) = lines.get(at) {
            let name = self.name(first)?;
            let mut text = String::new();
            // Lines of one shard in a row go out together; a shard by size may become full after each.
            while let Some(line) = lines.get(at) {
                let by_size = matches!(self.rotation, Rotation::Size(_));
                if !text.is_empty() && (by_size || self.name(line)? != name) {
                    break;
                }
                push(&mut text, line, &blobs)?;
                at += 1;
            }
            self.shard(&name)?.add(text.as_bytes())?;
        }
        self.unflushed = self.unflushed.saturating_add(lines.len() as u32);
        if due(self.flush, self.unflushed) {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        for path in self.closed.drain(..) {
            File::open(path)?.sync_all()?;
        }
        for shard in self.open.iter_mut().filter(|shard| shard.dirty) {
            shard.file.sync_all()?;
            shard.dirty = false;
        }
        flush_folder(&self.folder)?;
        self.unflushed = 0;
        Ok(())
    }
}

fn due(flush: Flush, unflushed: u32) -> bool {
    match flush {
        Flush::Each => true,
        Flush::Every(most) => unflushed >= most.max(1),
        Flush::Asked => false,
    }
}

/// A line with its end; its long strings are on the disk before it is.
fn push(text: &mut String, line: &Line<'_>, blobs: &Path) -> io::Result<()> {
    match lift(line.json, LONG_STRING) {
        None => text.push_str(line.json),
        Some((json, lifted)) => {
            for blob in lifted {
                put_blob(blobs, &blob.sha256, blob.text.as_bytes())?;
            }
            text.push_str(&json);
        }
    }
    text.push('\n');
    Ok(())
}

fn put_blob(folder: &Path, sha256: &str, bytes: &[u8]) -> io::Result<()> {
    let (Some(two), Some(rest)) = (sha256.get(..2), sha256.get(2..)) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let below = folder.join(two);
    let target = below.join(rest);
    if target.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(&below)?;
    let mut file = tempfile::NamedTempFile::new_in(&below)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    flush_folder(&below)
}

fn flush_folder(folder: &Path) -> io::Result<()> {
    // A system that lets no folder be flushed needs none.
    match File::open(folder) {
        Ok(folder) => folder.sync_all().or_else(|error| match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied => Ok(()),
            _ => Err(error),
        }),
        Err(_) => Ok(()),
    }
}

/// One file that lines are added to.
struct Shard {
    path: PathBuf,
    file: File,
    /// Bytes of whole lines.
    len: u64,
    dirty: bool,
}

impl Shard {
    fn open(path: &Path) -> io::Result<(Shard, Option<Mended>)> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
            // A file system without locks.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        let there = file.metadata()?.len();
        let len = whole_lines(&mut file, there)?;
        let mended = (len < there).then(|| Mended {
            path: path.to_owned(),
            bytes: there - len,
        });
        if mended.is_some() {
            file.set_len(len)?;
            file.sync_all()?;
        }
        if let Some(folder) = path.parent().filter(|_| there == 0) {
            flush_folder(folder)?;
        }
        let shard = Shard {
            path: path.to_owned(),
            file,
            len,
            dirty: false,
        };
        Ok((shard, mended))
    }

    /// Adds whole lines; what could not be written whole is taken back.
    fn add(&mut self, text: &[u8]) -> io::Result<()> {
        self.dirty = true;
        match self.file.write_all(text) {
            Ok(()) => {
                self.len += text.len() as u64;
                Ok(())
            }
            Err(error) => {
                take_back(&mut self.file, self.len, text);
                Err(error)
            }
        }
    }
}

/// It is empty, or its last byte ends a line.
fn ends_whole(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    if len == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(len - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Bytes up to the end of the last whole line.
fn whole_lines(file: &mut File, len: u64) -> io::Result<u64> {
    let mut end = len;
    while end > 0 {
        let from = end.saturating_sub(STRIDE);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(end - from).read_to_end(&mut bytes)?;
        if let Some(at) = bytes.iter().rposition(|byte| *byte == b'\n') {
            return Ok(from + at as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

/// `00007.jsonl` to 7.
fn number(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let digits = !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit());
    digits.then(|| name.parse().ok())?
}

/// A session's id as a name: anything else than letters, digits, `-`, `_` and `.` is told by its hash.
fn plain(session: &str) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let sound = !session.is_empty()
        && session.len() <= 100
        && !session.starts_with('.')
        && session.chars().all(kept);
    if sound {
        return session.to_owned();
    }
    let hash = chipdeck_replay::restore::sha256_hex(session.as_bytes());
    format!("session-{}", hash.get(..16).unwrap_or_default())
}

/// `YYYY-MM-DD` of Unix milliseconds, by UTC (the civil calendar's own arithmetic).
fn date(unix_ms: i64) -> String {
    let days = unix_ms.div_euclid(86_400_000) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: &str, time: i64) -> Line<'_> {
        Line {
            json,
            time,
            session: "s",
        }
    }

    #[test]
    fn dates() {
        for (time, day) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (951_782_399_999, "2000-02-28"),
            (951_782_400_000, "2000-02-29"),
            (1_764_504_000_000, "2025-11-30"),
            (4_107_542_400_000, "2100-03-01"),
        ] {
            assert_eq!(date(time), day);
        }
    }

    #[test]
    fn a_crash_at_any_byte_leaves_whole_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let whole = b"{\"a\":1}\n{\"b\":\"\xc3\xa4\"}\n";
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut store, mended) = FileStore::open(&path, Flush::Each).unwrap();
            let kept = whole[..cut]
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |at| at + 1);
            assert_eq!(mended.map_or(0, |it| it.bytes), (cut - kept) as u64);
            store.append(&[line("{\"c\":3}", 0)]).unwrap();
            let now = std::fs::read(&path).unwrap();
            assert_eq!(
                now,
                [&whole[..kept], b"{\"c\":3}\n"].concat(),
                "cut at {cut}"
            );
        }
        // One that is being written is not cut by another.
        let (_held, _) = FileStore::open(&path, Flush::Each).unwrap();
        let second = FileStore::open(&path, Flush::Each);
        assert_eq!(
            second.err().map(|it| it.kind()),
            Some(io::ErrorKind::WouldBlock)
        );
    }

    #[test]
    fn a_long_unfinished_line_is_found_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let torn = "x".repeat(300_000);
        std::fs::write(&path, format!("{{}}\n{torn}")).unwrap();
        let (_, mended) = FileStore::open(&path, Flush::Asked).unwrap();
        assert_eq!(mended.unwrap().bytes, 300_000);
        assert_eq!(std::fs::read(&path).unwrap(), b"{}\n");
    }

    #[test]
    fn shards_begin_when_their_rule_says() {
        let names = |rotation, lines: &[Line<'_>]| {
            let dir = tempfile::tempdir().unwrap();
            let mut store = ShardStore::open(dir.path(), rotation, Flush::Each).unwrap();
            store.append(lines).unwrap();
            let mut found: Vec<(String, String)> = std::fs::read_dir(dir.path())
                .unwrap()
                .map(|it| it.unwrap())
                .map(|it| {
                    (
                        it.file_name().into_string().unwrap(),
                        std::fs::read_to_string(it.path()).unwrap(),
                    )
                })
                .collect();
            found.sort();
            found
        };
        let own = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let day = 86_400_000;
        assert_eq!(
            names(
                Rotation::Date,
                &[line("1", 0), line("2", day), line("3", 5)]
            ),
            [
                own("1970-01-01.jsonl", "1\n3\n"),
                own("1970-01-02.jsonl", "2\n")
            ]
        );
        let of = |json: &'static str, session: &'static str| Line {
            json,
            time: 0,
            session,
        };
        let by_session = names(
            Rotation::Session,
            &[of("1", "one"), of("2", "../up"), of("3", "one")],
        );
        assert_eq!(by_session[0], own("one.jsonl", "1\n3\n"));
        assert!(
            by_session[1].0.starts_with("session-"),
            "no name leads out: {by_session:?}"
        );
        assert_eq!(
            names(
                Rotation::Size(4),
                &[line("11", 0), line("22", 0), line("3", 0)]
            ),
            [own("00001.jsonl", "11\n22\n"), own("00002.jsonl", "3\n")]
        );
        let dir = tempfile::tempdir().unwrap();
        let mut store = ShardStore::open(dir.path(), Rotation::Date, Flush::Each).unwrap();
        assert!(store.append(&[line("1", 0), line("a\nb", 0)]).is_err());
        assert_eq!(
            std::fs::read_dir(dir.path()).unwrap().count(),
            0,
            "nothing of it was written"
        );
    }

    #[test]
    fn a_shard_goes_on_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let open = || ShardStore::open(dir.path(), Rotation::Size(6), Flush::Every(2)).unwrap();
        open().append(&[line("1", 0), line("2", 0)]).unwrap();
        std::fs::write(dir.path().join("00001.jsonl"), "1\n2\nto").unwrap();
        let mut store = open();
        store.append(&[line("3", 0), line("4", 0)]).unwrap();
        assert_eq!(store.mended().len(), 1);
        let text = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        // The torn piece made the first shard look full.
        assert_eq!(
            [text("00001.jsonl"), text("00002.jsonl")],
            ["1\n2\n3\n", "4\n"]
        );
    }
}
