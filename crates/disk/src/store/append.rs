//! Lines at the end of a log that is not ours alone: only while it is what the preview showed, whole or not at all.

use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes before the end that tell whether a file is still the same.
const MARK: u64 = 64 << 10;

/// The end of a file as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Bytes of the file.
    pub len: u64,
    /// Of its last 64 KiB.
    sha256: [u8; 32],
    /// It is empty, or its last line has an end.
    pub whole: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The file is not what the preview showed: something was written since.
    #[error("{} has changed since", .0.display())]
    Moved(PathBuf),
    #[error("the last line of {} has no line end: it may still be written", .0.display())]
    Torn(PathBuf),
    #[error("cannot write to {}: {error}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
}

impl Tail {
    /// Looks at the end of a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(path: &Path) -> io::Result<Tail> {
        Tail::read(&mut File::open(path)?)
    }

    fn read(file: &mut File) -> io::Result<Tail> {
        let len = file.metadata()?.len();
        let from = len.saturating_sub(MARK);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(len - from).read_to_end(&mut bytes)?;
        Ok(Tail {
            len,
            sha256: Sha256::digest(&bytes).into(),
            whole: bytes.last().is_none_or(|byte| *byte == b'\n'),
        })
    }
}

/// Appends lines (each with its end) and flushes them to the disk. What could not be written whole is taken back, as
/// long as nobody wrote behind it.
///
/// # Errors
/// The file moved on since `seen`, ends inside a line, or cannot be written; it is then as it was.
pub fn append(path: &Path, seen: &Tail, lines: &[u8]) -> Result<(), AppendError> {
    let failed = |error| AppendError::Io {
        path: path.to_owned(),
        error,
    };
    let mut options = OpenOptions::new();
    let mut file = options.read(true).append(true).open(path).map_err(failed)?;
    // Between two of us; other writers know no lock.
    match file.try_lock() {
        Ok(()) | Err(std::fs::TryLockError::Error(_)) => {}
        Err(std::fs::TryLockError::WouldBlock) => {
            return Err(AppendError::Moved(path.to_owned()));
        }
    }
    let now = Tail::read(&mut file).map_err(failed)?;
    if now != *seen {
        return Err(AppendError::Moved(path.to_owned()));
    }
    if !now.whole {
        return Err(AppendError::Torn(path.to_owned()));
    }
    match file.write_all(lines).and_then(|()| file.sync_all()) {
        Ok(()) => Ok(()),
        Err(error) => {
            take_back(&mut file, seen.len, lines);
            Err(failed(error))
        }
    }
}

/// Cuts what was written of `lines` behind `len`, if it is all that stands there.
pub(super) fn take_back(file: &mut File, len: u64, lines: &[u8]) {
    let mut there = Vec::new();
    let most = lines.len() as u64 + 1;
    let read = file
        .seek(SeekFrom::Start(len))
        .and_then(|_| file.take(most).read_to_end(&mut there));
    if read.is_ok() && lines.starts_with(&there) {
        // The error that led here is told; this is all that can be done about it.
        let _ = file.set_len(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_onto_what_was_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        std::fs::write(&path, "one\n").unwrap();
        let seen = Tail::of(&path).unwrap();
        append(&path, &seen, b"two\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntwo\n");
        assert!(matches!(
            append(&path, &seen, b"x\n"),
            Err(AppendError::Moved(_))
        ));
        // Other bytes of the same length.
        let seen = Tail::of(&path).unwrap();
        std::fs::write(&path, "one\ntoo\n").unwrap();
        assert!(matches!(
            append(&path, &seen, b"x\n"),
            Err(AppendError::Moved(_))
        ));
        std::fs::write(&path, "one\ntw").unwrap();
        let seen = Tail::of(&path).unwrap();
        assert!(matches!(
            append(&path, &seen, b"x\n"),
            Err(AppendError::Torn(_))
        ));
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntw");
        std::fs::write(&path, "").unwrap();
        append(&path, &Tail::of(&path).unwrap(), b"first\n").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"first\n");
    }

    #[test]
    fn a_part_is_taken_back_but_not_what_others_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let open = || {
            let mut options = OpenOptions::new();
            options.read(true).write(true).open(&path).unwrap()
        };
        std::fs::write(&path, "one\nhal").unwrap();
        take_back(&mut open(), 4, b"half\n");
        assert_eq!(std::fs::read(&path).unwrap(), b"one\n");
        std::fs::write(&path, "one\nhalother\n").unwrap();
        take_back(&mut open(), 4, b"half\n");
        assert_eq!(std::fs::read(&path).unwrap(), b"one\nhalother\n");
    }
}
