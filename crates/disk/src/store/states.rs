//! Kept states on disk, in our cache: sealed bytes under a log's name and a position. A file whose seal does not hold
//! is as if it were not there. Left out: what the bytes say, and whether a state still holds for its log.

use crate::hex::encode as hex;
use crate::places::{private_folder, Places};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A larger state is not kept.
pub const MOST_BYTES: u64 = 256 << 20;
/// All kept states together; the oldest go first.
const MOST_IN_ALL: u64 = 512 << 20;
/// Of one log.
const MOST_OF_A_LOG: usize = 3;
const SUFFIX: &str = "state";
const SEAL: usize = 32;

pub struct KeptStates {
    folder: PathBuf,
}

impl KeptStates {
    pub fn new(places: &Places) -> KeptStates {
        KeptStates {
            folder: places.cache.join("states"),
        }
    }

    /// The positions that are kept of a log, the newest first.
    pub fn positions(&self, log: &Path) -> Vec<u32> {
        let name = name(log);
        let files = self.files().into_iter();
        let mut found: Vec<u32> = files
            .filter_map(|(path, _, _)| position(&path, &name))
            .collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        found
    }

    /// The bytes that were kept; `None`: none, or their seal does not hold.
    pub fn read(&self, log: &Path, position: u32) -> Option<Vec<u8>> {
        let file = fs::File::open(self.path(&name(log), position)).ok()?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > MOST_BYTES {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).ok()?;
        let body = bytes.split_off(SEAL.min(bytes.len()));
        (Sha256::digest(&body).as_slice() == bytes.as_slice()).then_some(body)
    }

    /// Keeps a state, and lets go of what is too old or too much. False: it is too large to be kept.
    ///
    /// # Errors
    /// What the system says; nothing half-written stays.
    pub fn write(&self, log: &Path, position: u32, parts: &[&[u8]]) -> io::Result<bool> {
        let bytes: u64 = parts.iter().map(|part| part.len() as u64).sum();
        if bytes + SEAL as u64 > MOST_BYTES {
            return Ok(false);
        }
        private_folder(&self.folder)?;
        let mut seal = Sha256::new();
        for part in parts {
            seal.update(part);
        }
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&seal.finalize())?;
        for part in parts {
            file.write_all(part)?;
        }
        file.persist(self.path(&name(log), position))?;
        self.let_go(&name(log));
        Ok(true)
    }

    fn let_go(&self, log: &str) {
        let mut files = self.files();
        files.sort_by_key(|(_, made, _)| std::cmp::Reverse(*made));
        let (mut bytes, mut of_log) = (0, 0);
        for (path, _, len) in files {
            bytes += len;
            of_log += usize::from(position(&path, log).is_some());
            let too_many = position(&path, log).is_some() && of_log > MOST_OF_A_LOG;
            if too_many || bytes > MOST_IN_ALL {
                // A cache: what cannot be removed now goes another time.
                let _ = fs::remove_file(path);
            }
        }
    }

    fn files(&self) -> Vec<(PathBuf, SystemTime, u64)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                let path = entry.path();
                let metadata = entry.metadata().ok()?;
                let ours = metadata.is_file() && path.extension().is_some_and(|it| it == SUFFIX);
                ours.then_some((path, metadata.modified().ok()?, metadata.len()))
            })
            .collect()
    }

    fn path(&self, log: &str, position: u32) -> PathBuf {
        self.folder.join(format!("{log}-{position}.{SUFFIX}"))
    }
}

/// A name that no log can choose.
fn name(log: &Path) -> String {
    let real = fs::canonicalize(log).unwrap_or_else(|_| log.to_owned());
    hex(&Sha256::digest(real.as_os_str().as_encoded_bytes()))
}

fn position(path: &Path, log: &str) -> Option<u32> {
    let stem = path.file_stem()?.to_str()?;
    stem.strip_prefix(log)?.strip_prefix('-')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_seal_is_no_state_and_only_the_newest_stay() {
        let dir = tempfile::tempdir().unwrap();
        let states = KeptStates::new(&Places::below(dir.path()));
        let log = dir.path().join("a.jsonl");
        for at in 1..=5 {
            assert!(states.write(&log, at, &[b"head", b"body"]).unwrap());
            std::thread::sleep(std::time::Duration::from_millis(15));
        }
        assert_eq!(states.positions(&log), [5, 4, 3]);
        assert!(states.positions(&dir.path().join("b.jsonl")).is_empty());
        assert_eq!(states.read(&log, 5).unwrap(), b"headbody");
        let path = states.path(&name(&log), 5);
        let whole = fs::read(&path).unwrap();
        for len in 0..whole.len() {
            fs::write(&path, &whole[..len]).unwrap();
            assert_eq!(states.read(&log, 5), None, "cut at {len}");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(states.read(&log, 5), None, "damaged at {at}");
        }
    }
}
