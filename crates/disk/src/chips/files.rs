//! Reading single files of folders that belong to others: pipes and devices are never opened, a file may change or go
//! at any moment, its name may be any bytes.

use chipdeck_chip::Fault;
use sha2::{Digest, Sha256};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Files above this size are not read, in bytes.
pub(super) const TOO_LARGE: u64 = 1 << 30;

/// Tells whether a file may have changed since it was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub bytes: u64,
    modified: Option<SystemTime>,
    /// Device, inode, and change time in nanoseconds.
    unix: (u64, u64, i128),
}

impl Stamp {
    pub fn of(metadata: &Metadata) -> Stamp {
        #[cfg(unix)]
        let unix = {
            use std::os::unix::fs::MetadataExt;
            (
                metadata.dev(),
                metadata.ino(),
                i128::from(metadata.ctime()) * 1_000_000_000 + i128::from(metadata.ctime_nsec()),
            )
        };
        #[cfg(not(unix))]
        let unix = (0, 0, 0);
        Stamp {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            unix,
        }
    }

    /// How long ago the file was last written; zero for a time in the future.
    pub fn age(&self) -> Duration {
        self.modified
            .and_then(|time| time.elapsed().ok())
            .unwrap_or_default()
    }
}

/// A name as text that keeps every byte apart: bytes that are no UTF-8, and `%`, as `%XX`.
pub(super) fn name_text(name: &OsStr) -> String {
    let mut out = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        out.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The name that `name_text` wrote. Only ever a single path component.
pub(super) fn name_of_text(text: &str) -> Option<OsString> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = after;
    }
    let alone = !bytes.is_empty()
        && bytes != b"."
        && bytes != b".."
        && !bytes.iter().any(|b| matches!(b, b'/' | 0))
        && !(cfg!(windows) && bytes.iter().any(|b| matches!(b, b'\\' | b':')));
    alone.then(|| name_of_bytes(bytes)).flatten()
}

#[cfg(unix)]
fn name_of_bytes(bytes: Vec<u8>) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt;
    Some(OsString::from_vec(bytes))
}

#[cfg(not(unix))]
fn name_of_bytes(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}

/// Opens a regular file for reading; links are followed. Anything else is an error and is not opened, not even where
/// it takes the file's place in between.
pub(super) fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let no_file = || {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "a pipe, device or folder, not opened",
        )
    };
    if !std::fs::metadata(path)?.is_file() {
        return Err(no_file());
    }
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(no_file());
    }
    if metadata.len() > TOO_LARGE {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("too large to be read ({} bytes)", metadata.len()),
        ));
    }
    Ok((file, metadata))
}

/// SHA-256 and length of what goes through.
pub(super) struct Hashing<R> {
    inner: R,
    hash: Sha256,
    pub bytes: u64,
    /// What went through, up to a limit.
    pub kept: Vec<u8>,
    pub keep: usize,
}

/// A file up to this size is kept in memory between being read and being archived, in bytes.
const KEPT: usize = 8 << 20;

impl<R> Hashing<R> {
    pub fn new(inner: R) -> Hashing<R> {
        Hashing {
            inner,
            hash: Sha256::new(),
            bytes: 0,
            kept: Vec::new(),
            keep: KEPT,
        }
    }

    pub fn sha256(&self) -> String {
        hex(&self.hash.clone().finalize())
    }

    /// All of it, where it was short enough.
    pub fn whole(self) -> Option<Vec<u8>> {
        (self.kept.len() as u64 == self.bytes).then_some(self.kept)
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        let new = buffer.get(..n).unwrap_or_default();
        self.hash.update(new);
        self.bytes += n as u64;
        let room = self.keep.saturating_sub(self.kept.len());
        self.kept
            .extend_from_slice(new.get(..n.min(room)).unwrap_or_default());
        Ok(n)
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// What `read_record` gives: the record, the stamp of what was read, SHA-256, and the bytes unless too many.
pub(super) struct ReadFile<T> {
    pub record: T,
    pub stamp: Stamp,
    pub sha256: String,
    pub bytes: u64,
    pub whole: Option<Vec<u8>>,
}

pub(super) fn read_record<T>(
    path: &Path,
    read: impl FnOnce(&mut Hashing<File>) -> Result<T, Fault>,
) -> Result<ReadFile<T>, (String, Option<Stamp>)> {
    let (file, metadata) = open_regular(path).map_err(|error| (error.to_string(), None))?;
    let stamp = Stamp::of(&metadata);
    let mut input = Hashing::new(file);
    let record = read(&mut input).map_err(|fault| (reason(&fault), Some(stamp)))?;
    Ok(ReadFile {
        record,
        stamp,
        sha256: input.sha256(),
        bytes: input.bytes,
        whole: input.whole(),
    })
}

/// Why a file is no record, for people.
pub(super) fn reason(fault: &Fault) -> String {
    match fault {
        Fault::End => "the file is empty or cut off (unexpected end of JSON input)".into(),
        Fault::Syntax { offset, .. } => format!("{fault} (byte {})", offset + 1),
        fault => fault.to_string(),
    }
}

/// Up to `limit` bytes of a regular file, and whether there is more.
pub(super) fn read_head(path: &Path, limit: usize) -> io::Result<(Vec<u8>, bool)> {
    let (file, _) = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    let clipped = bytes.len() > limit;
    bytes.truncate(limit);
    Ok((bytes, clipped))
}
