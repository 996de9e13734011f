//! The bytes of a log set that lies on disk: one file, or the files of a folder that belong together.
//!
//! Files are held open, so that what was read stays readable when the name is taken away or given to another file.

use super::blocks::{Blocks, BLOCK};
use super::companions::beside;
use super::database::{self, Stamp};
use super::members::members_of;
use super::unpack::unpack;
use super::unpacking::{unpack_behind, Unpacking};
use chipdeck_ingest::Source;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Sets of more files are opened file by file when read.
const MOST_HELD: usize = 128;
/// Bytes before the read offset that tell whether a file was rewritten in place.
const MARK: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot read {}: {error}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    #[error("{} is neither a file nor a folder", .0.display())]
    NotAFile(PathBuf),
    #[error("{} holds no log: neither dialog.jsonl and exec.jsonl nor any other .jsonl", .0.display())]
    NoLog(PathBuf),
}

/// What happened to a file since it was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Same,
    /// It has more bytes than were read.
    Grown,
    /// It has fewer bytes than were read.
    Truncated,
    /// The name is another file's now, or the bytes that were read are others now.
    Replaced,
    Deleted,
}

impl Fate {
    /// For `LogView.changed`; `None` where what was read still stands.
    pub fn lost(self) -> Option<&'static str> {
        match self {
            Fate::Same | Fate::Grown => None,
            Fate::Truncated => Some("truncated"),
            Fate::Replaced => Some("replaced"),
            Fate::Deleted => Some("deleted"),
        }
    }
}

pub struct FileSource {
    /// What was opened.
    path: PathBuf,
    folder: bool,
    slots: RwLock<Vec<Slot>>,
    blocks: Blocks,
}

struct Slot {
    name: Arc<str>,
    path: PathBuf,
    /// `None`: opened when read.
    file: Option<File>,
    identity: Option<Identity>,
    /// Bytes just before the offset that was read when it was last looked at.
    mark: (u64, Vec<u8>),
    /// Why a compressed file could not be unpacked.
    broken: Option<String>,
    /// The database that it was taken out of, as it was then.
    stamp: Option<Stamp>,
    /// A compressed file that is still being unpacked.
    unpacking: Option<Unpacking>,
}

/// Tells one file from another of the same name.
type Identity = (u64, u64);

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(metadata: &Metadata) -> Option<Identity> {
    let made = metadata
        .created()
        .ok()?
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    Some((made.as_secs(), u64::from(made.subsec_nanos())))
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

impl FileSource {
    /// As [`FileSource::open`], but a compressed file comes back while it is still being unpacked: it grows until
    /// [`FileSource::unpacking`] is `None`.
    ///
    /// # Errors
    /// As for [`FileSource::open`].
    pub fn open_behind(path: &Path) -> Result<FileSource, OpenError> {
        let failed = |error| OpenError::Io {
            path: path.to_owned(),
            error,
        };
        // On Windows a read moves the place where the unpacked bytes are written.
        if cfg!(windows) || !path.is_file() {
            return FileSource::open(path);
        }
        let mut file = File::open(path).map_err(failed)?;
        let Some((unpacked, unpacking)) = unpack_behind(&mut file).map_err(failed)? else {
            return FileSource::open(path);
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let slot = Slot {
            name: name.into(),
            path: path.to_owned(),
            identity: file.metadata().ok().as_ref().and_then(identity),
            file: Some(unpacked),
            mark: (0, Vec::new()),
            broken: None,
            stamp: None,
            unpacking: Some(unpacking),
        };
        Ok(FileSource {
            path: path.to_owned(),
            folder: false,
            slots: RwLock::new(vec![slot]),
            blocks: Blocks::default(),
        })
    }

    /// Compressed bytes that were read, and all; `None` where nothing is being unpacked.
    ///
    /// # Errors
    /// `InvalidData`: it stopped before the end.
    pub fn unpacking(&self) -> io::Result<Option<(u64, u64)>> {
        let state = |slot: &Slot| {
            let unpacking = slot.unpacking.as_ref()?;
            Some((unpacking.progress(), unpacking.failed()))
        };
        match self.slot(0, state).flatten() {
            Some((None, Some(failed))) => Err(io::Error::new(io::ErrorKind::InvalidData, failed)),
            Some((progress, _)) => Ok(progress),
            None => Ok(None),
        }
    }

    /// What was unpacked so far is all that is wanted.
    pub fn stop_unpacking(&self) {
        self.slot(0, |slot| slot.unpacking.as_ref().map(Unpacking::stop));
    }

    /// Opens a file, or the log set that a folder holds.
    ///
    /// # Errors
    /// What cannot be read, is a socket or a device, or holds no log.
    pub fn open(path: &Path) -> Result<FileSource, OpenError> {
        let failed = |error| OpenError::Io {
            path: path.to_owned(),
            error,
        };
        if let Some((file, session)) = database::named(path) {
            return FileSource::session(path, &file, &session).map_err(failed);
        }
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if metadata.is_file() && database::is_database(path) {
            let sessions = database::sessions(path).map_err(failed)?;
            let Some(sessions) = sessions else {
                let error = io::Error::new(io::ErrorKind::InvalidData, "no agent's sessions");
                return Err(failed(error));
            };
            // The newest that is nobody's sub-agent.
            let newest = sessions.iter().find(|it| it.parent.is_none());
            let newest = newest.or(sessions.first()).ok_or_else(|| {
                failed(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "it holds no session",
                ))
            })?;
            return FileSource::session(path, path, &newest.id).map_err(failed);
        }
        let mut source = FileSource {
            path: path.to_owned(),
            folder: metadata.is_dir(),
            slots: RwLock::default(),
            blocks: Blocks::default(),
        };
        let slots = if metadata.is_dir() {
            let members = members_of(path);
            if members.is_empty() {
                return Err(OpenError::NoLog(path.to_owned()));
            }
            // A folder with one session: its sub-agents' folder is beside the session's file.
            let more = match members.as_slice() {
                [one] => beside(&path.join(one)),
                _ => Vec::new(),
            };
            let held = members.len() + more.len() <= MOST_HELD;
            members
                .into_iter()
                .map(|name| (path.join(&name), name))
                .chain(more.into_iter().map(|(name, path)| (path, name)))
                .map(|(path, name)| Slot::open(path, &name, held))
                .collect::<Vec<_>>()
        } else if metadata.is_file() {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            let beside = beside(path);
            let held = beside.len() < MOST_HELD;
            std::iter::once(Slot::open(path.to_owned(), &name, true))
                .chain(
                    beside
                        .into_iter()
                        .map(|(name, path)| Slot::open(path, &name, held)),
                )
                .collect()
        } else {
            return Err(OpenError::NotAFile(path.to_owned()));
        };
        if let Some(Slot {
            broken: Some(broken),
            path,
            ..
        }) = slots.first()
        {
            let error = io::Error::new(io::ErrorKind::InvalidData, broken.as_str());
            return Err(OpenError::Io {
                path: path.clone(),
                error,
            });
        }
        // A set of which nothing can be read is told at once.
        if let [Slot {
            file: None, path, ..
        }] = slots.as_slice()
        {
            if let Err(error) = File::open(path) {
                return Err(OpenError::Io {
                    path: path.clone(),
                    error,
                });
            }
        }
        source.slots = RwLock::new(slots);
        Ok(source)
    }

    fn session(path: &Path, database: &Path, session: &str) -> io::Result<FileSource> {
        let stamp = database::stamp(database);
        let slots = database::take_out(database, session)?
            .into_iter()
            .map(|(name, file)| Slot::taken(database, stamp, name, file));
        Ok(FileSource {
            path: path.to_owned(),
            folder: false,
            slots: RwLock::new(slots.collect()),
            blocks: Blocks::default(),
        })
    }

    /// What was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_folder(&self) -> bool {
        self.folder
    }

    /// Where file `file` lies.
    pub fn file_path(&self, file: u32) -> Option<PathBuf> {
        self.slot(file, |slot| slot.path.clone())
    }

    pub fn total_bytes(&self) -> u64 {
        (0..self.files()).map(|file| self.len(file)).sum()
    }

    /// Latest time at which one of the files was written, Unix milliseconds.
    pub fn modified(&self) -> Option<i64> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots
            .iter()
            .filter_map(|slot| unix_ms(&std::fs::metadata(&slot.path).ok()?))
            .max()
    }

    /// Takes in files that came to the folder since (a new shard); true if there are any.
    pub fn admit(&self) -> bool {
        if self.slot(0, |slot| slot.stamp.is_some()) == Some(true) {
            return false;
        }
        let members: Vec<(String, PathBuf)> = if self.folder {
            let below = |name: String| (name.clone(), self.path.join(name));
            members_of(&self.path).into_iter().map(below).collect()
        } else {
            beside(&self.path)
        };
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let before = slots.len();
        for (name, path) in members {
            if !slots.iter().any(|slot| *slot.name == *name) {
                let held = slots.len() < MOST_HELD;
                slots.push(Slot::open(path, &name, held));
            }
        }
        slots.len() > before
    }

    /// Takes over the files of another look at the same place: what was read of them before is forgotten.
    pub fn adopt(&self, other: FileSource) {
        let fresh = other
            .slots
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        *self.slots.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        self.blocks.forget();
    }

    /// What happened to a file of which `read` bytes were read.
    pub fn look(&self, file: u32, read: u64) -> Fate {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let Some(slot) = slots.get_mut(file as usize) else {
            return Fate::Deleted;
        };
        let fate = slot.look(read);
        if fate.lost().is_some() {
            self.blocks.forget();
        }
        fate
    }

    fn slot<T>(&self, file: u32, get: impl FnOnce(&Slot) -> T) -> Option<T> {
        self.slots
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(file as usize)
            .map(get)
    }

    fn read_plain(&self, file: u32, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.slot(file, |slot| slot.read(offset, len))
            .unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))
    }
}

impl Slot {
    fn open(path: PathBuf, name: &str, held: bool) -> Slot {
        let mut file = if held { File::open(&path).ok() } else { None };
        let identity = match &file {
            Some(file) => file.metadata().ok().as_ref().and_then(identity),
            None => std::fs::metadata(&path).ok().as_ref().and_then(identity),
        };
        let mut broken = None;
        match file.as_mut().map(|file| unpack(file, &path)) {
            Some(Ok(Some(unpacked))) => file = Some(unpacked),
            Some(Ok(None)) | None => {}
            Some(Err(error)) => broken = Some(format!("cannot be unpacked: {error}")),
        }
        Slot {
            name: name.replace(std::path::MAIN_SEPARATOR, "/").into(),
            path,
            file,
            identity,
            mark: (0, Vec::new()),
            broken,
            stamp: None,
            unpacking: None,
        }
    }

    fn taken(database: &Path, stamp: Stamp, name: String, file: File) -> Slot {
        Slot {
            name: name.into(),
            path: database.to_owned(),
            file: Some(file),
            identity: None,
            mark: (0, Vec::new()),
            broken: None,
            stamp: Some(stamp),
            unpacking: None,
        }
    }

    fn len(&self) -> u64 {
        let metadata = match &self.file {
            Some(file) => file.metadata(),
            None => std::fs::metadata(&self.path),
        };
        metadata.map_or(0, |metadata| metadata.len())
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_into(offset, len, &mut bytes)?;
        Ok(bytes)
    }

    fn read_into(&self, offset: u64, len: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
        let opened;
        let file = match &self.file {
            Some(file) => file,
            None => {
                opened = File::open(&self.path)?;
                &opened
            }
        };
        // Never more memory than the file has bytes, whatever a damaged reference asks for.
        let there = self.len().saturating_sub(offset);
        bytes.resize(len.min(usize::try_from(there).unwrap_or(usize::MAX)), 0);
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match read_at(file, rest, offset + filled as u64) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(filled);
        Ok(())
    }

    fn look(&mut self, read: u64) -> Fate {
        let metadata = match std::fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Fate::Deleted,
            Err(_) => return Fate::Same,
        };
        if let Some(taken) = &self.stamp {
            let same = database::stamp(&self.path) == *taken;
            return if same { Fate::Same } else { Fate::Replaced };
        }
        if self.identity.is_some() && identity(&metadata) != self.identity {
            return Fate::Replaced;
        }
        let len = self.len();
        if len < read {
            return Fate::Truncated;
        }
        let (at, bytes) = &self.mark;
        if !bytes.is_empty() {
            let there = self.read(at.saturating_sub(bytes.len() as u64), bytes.len());
            if there.is_ok_and(|there| there != *bytes) {
                return Fate::Replaced;
            }
        }
        if self.mark.0 != read {
            let len = MARK.min(usize::try_from(read).unwrap_or(MARK));
            self.mark = (read, self.read(read - len as u64, len).unwrap_or_default());
        }
        if len > read {
            Fate::Grown
        } else {
            Fate::Same
        }
    }
}

impl Source for FileSource {
    fn files(&self) -> u32 {
        self.slots
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .len() as u32
    }

    fn name(&self, file: u32) -> Arc<str> {
        self.slot(file, |slot| slot.name.clone())
            .unwrap_or_else(|| "".into())
    }

    fn len(&self, file: u32) -> u64 {
        self.slot(file, Slot::len).unwrap_or(0)
    }

    fn read_at(&self, file: u32, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let (block, within) = (offset / BLOCK, (offset % BLOCK) as usize);
        // What lies in one block comes from there; larger reads go past it.
        if within + len > BLOCK as usize {
            return self.read_plain(file, offset, len);
        }
        let wanted = within..within + len;
        if let Some(hit) = self
            .blocks
            .get((file, block))
            .and_then(|it| it.get(wanted.clone()).map(<[u8]>::to_vec))
        {
            return Ok(hit);
        }
        let bytes: Arc<[u8]> = self.read_plain(file, block * BLOCK, BLOCK as usize)?.into();
        let hit = bytes
            .get(within.min(bytes.len())..wanted.end.min(bytes.len()))
            .map(<[u8]>::to_vec);
        self.blocks.put((file, block), bytes);
        Ok(hit.unwrap_or_default())
    }

    fn read_into(
        &self,
        file: u32,
        offset: u64,
        len: usize,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        self.slot(file, |slot| slot.read_into(offset, len, buffer))
            .unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))
    }

    fn blob(&self, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        // The name goes into a path: nothing but 64 hex digits does.
        if sha256.len() != 64
            || !sha256
                .bytes()
                .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        {
            return Ok(None);
        }
        let Some((first, rest)) = sha256.split_at_checked(2) else {
            return Ok(None);
        };
        let folder = if self.folder {
            self.path.join("blobs")
        } else {
            let Some(mut name) = self.file_path(0).map(PathBuf::into_os_string) else {
                return Ok(None);
            };
            name.push(".blobs");
            PathBuf::from(name)
        };
        match std::fs::read(folder.join(first).join(rest)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

pub(super) fn unix_ms(metadata: &Metadata) -> Option<i64> {
    let since = metadata
        .modified()
        .ok()?
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    i64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn compressed_logs_are_read_as_what_is_in_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl.zst");
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        std::fs::write(
            &path,
            ruzstd::encoding::compress_to_vec(&b"{\"a\":1}\n"[..], level),
        )
        .unwrap();
        let source = FileSource::open(&path).unwrap();
        assert_eq!(source.len(0), 8);
        assert_eq!(source.read_at(0, 1, 3).unwrap(), b"\"a\"");
        assert_eq!(source.look(0, 8), Fate::Same);
        std::fs::write(&path, [0x28, 0xb5, 0x2f, 0xfd, 0, 0]).unwrap();
        let error = FileSource::open(&path).err().unwrap().to_string();
        assert!(error.contains("cannot be unpacked"), "{error}");
    }

    #[test]
    fn what_lies_beside_a_log_is_part_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let id = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";
        let path = dir.path().join(format!("{id}.jsonl"));
        std::fs::write(&path, "{}\n").unwrap();
        let source = FileSource::open(&path).unwrap();
        assert_eq!((source.files(), source.admit()), (1, false));
        let below = dir.path().join(id).join("subagents");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(below.join("agent-1.jsonl"), "{}\n").unwrap();
        assert!(source.admit(), "a sub-agent that came later");
        assert_eq!(&*source.name(1), format!("{id}/subagents/agent-1.jsonl"));
        assert_eq!(FileSource::open(&path).unwrap().files(), 2);
    }

    #[test]
    fn reads_inside_across_and_beyond_blocks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let bytes: Vec<u8> = (0..200_000u32).map(|n| n as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let source = FileSource::open(&path).unwrap();
        assert_eq!(
            (source.files(), &*source.name(0), source.len(0)),
            (1, "a.jsonl", 200_000)
        );
        for (offset, len) in [
            (0, 10),
            (65_530, 12),
            (65_536, 65_536),
            (199_990, 100),
            (300_000, 5),
            (5, 0),
        ] {
            let want = bytes
                .get(offset.min(bytes.len())..(offset + len).min(bytes.len()))
                .unwrap();
            assert_eq!(
                source.read_at(0, offset as u64, len).unwrap(),
                want,
                "{offset}+{len}"
            );
        }
        // A reference of a damaged log asks for no memory that the file does not have.
        assert_eq!(source.read_at(0, 199_999, usize::MAX / 2).unwrap().len(), 1);
        // The block at the end is read anew when the file grows.
        std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"more")
            .unwrap();
        assert_eq!(source.read_at(0, 200_000, 4).unwrap(), b"more");
    }

    #[test]
    fn fates() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        std::fs::write(&path, b"one\n").unwrap();
        let source = FileSource::open(&path).unwrap();
        assert_eq!(source.look(0, 0), Fate::Grown);
        assert_eq!(source.look(0, 4), Fate::Same);
        std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .unwrap()
            .write_all(b"two\n")
            .unwrap();
        assert_eq!(source.look(0, 4), Fate::Grown);
        assert_eq!(source.look(0, 8), Fate::Same);
        std::fs::write(&path, b"x\n").unwrap();
        assert_eq!(source.look(0, 8), Fate::Truncated);
        std::fs::write(&path, b"other contents, longer\n").unwrap();
        assert_eq!(source.look(0, 8), Fate::Replaced);

        let source = FileSource::open(&path).unwrap();
        assert_eq!(source.look(0, 23), Fate::Same);
        let new = dir.path().join("new");
        std::fs::write(&new, b"new file\n").unwrap();
        std::fs::rename(&new, &path).unwrap();
        assert_eq!(source.look(0, 23), Fate::Replaced);
        assert_eq!(
            source.read_at(0, 0, 5).unwrap(),
            b"other",
            "what was read stays readable"
        );
        std::fs::remove_file(&path).unwrap();
        assert_eq!(source.look(0, 23), Fate::Deleted);
    }

    #[test]
    fn folders_are_sets_and_blobs_never_leave_them() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(
            FileSource::open(dir.path()),
            Err(OpenError::NoLog(_))
        ));
        assert!(matches!(
            FileSource::open(&dir.path().join("gone")),
            Err(OpenError::Io { .. })
        ));
        for name in ["dialog.jsonl", "exec.jsonl", "other.jsonl", "notes.txt"] {
            std::fs::write(dir.path().join(name), b"{}\n").unwrap();
        }
        let source = FileSource::open(dir.path()).unwrap();
        assert_eq!(source.files(), 2);
        assert!(!source.admit());
        std::fs::remove_file(dir.path().join("exec.jsonl")).unwrap();
        let source = FileSource::open(dir.path()).unwrap();
        assert_eq!(
            (0..2).map(|n| source.name(n)).collect::<Vec<_>>(),
            ["dialog.jsonl".into(), "other.jsonl".into()]
        );
        std::fs::write(dir.path().join("new.jsonl"), b"{}\n").unwrap();
        assert!(source.admit());
        assert_eq!(&*source.name(2), "new.jsonl");

        let hash = "ab".repeat(32);
        std::fs::create_dir_all(dir.path().join("blobs/ab")).unwrap();
        std::fs::write(dir.path().join("blobs/ab").join(&hash[2..]), b"text").unwrap();
        assert_eq!(source.blob(&hash).unwrap().as_deref(), Some(&b"text"[..]));
        for bad in [
            "",
            "..",
            "../../etc/passwd",
            &"AB".repeat(32),
            &"/".repeat(64),
            &"cd".repeat(32),
        ] {
            assert_eq!(source.blob(bad).unwrap(), None, "{bad}");
        }
    }
}
