//! A branch as a file: a new log with the blobs that it needs, whole or not at all, never over an existing file.

use chipdeck_ingest::Source;
use chipdeck_replay::branch::Branch;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a branch was not written.
#[derive(Debug, thiserror::Error)]
pub enum BranchFileError {
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    #[error("cannot write {}: {error}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
}

/// Writes a branch and its blobs, and flushes both. The log appears at once, when all of it is on the disk.
///
/// # Errors
/// The file is there already, or something cannot be written.
pub fn write_branch(branch: &Branch, path: &Path) -> Result<(), BranchFileError> {
    let failed = |error| BranchFileError::Io {
        path: path.to_owned(),
        error,
    };
    if path.symlink_metadata().is_ok() {
        return Err(BranchFileError::Exists(path.to_owned()));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".chipdeck-")
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(failed)?;
    let mut named = Named::default();
    {
        let mut buffered = io::BufWriter::with_capacity(1 << 20, file.as_file_mut());
        branch
            .write(&mut |bytes| {
                named.look(bytes);
                buffered.write_all(bytes)
            })
            .and_then(|()| buffered.flush())
            .map_err(failed)?;
    }
    usual_mode(file.as_file()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    copy_blobs(&named.found, &*branch.source, &beside(path)).map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(BranchFileError::Exists(path.to_owned()))
        }
        Err(error) => return Err(failed(error.error)),
    }
    // The name is on the disk, where the system lets a folder be flushed.
    if let Ok(folder) = std::fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// A temporary file is private; what is written where a person said is as any other file of theirs.
#[cfg(unix)]
pub(super) fn usual_mode(file: &std::fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
pub(super) fn usual_mode(_: &std::fs::File) -> io::Result<()> {
    Ok(())
}

/// `<log file>.blobs`.
pub(super) fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(".blobs");
    path.with_file_name(name)
}

const PREFIX: &[u8] = b"sha256:";
const HEX: usize = 64;

/// The blobs that a stream of records may refer to: whatever looks like a reference.
#[derive(Default)]
struct Named {
    found: BTreeSet<String>,
    /// The end of the part before: a reference may lie across two.
    held: Vec<u8>,
}

impl Named {
    fn look(&mut self, bytes: &[u8]) {
        let keep = PREFIX.len() + HEX - 1;
        let mut head = std::mem::take(&mut self.held);
        head.extend_from_slice(bytes.get(..bytes.len().min(keep)).unwrap_or_default());
        self.scan(&head);
        self.scan(bytes);
        let tail = if bytes.len() >= keep { bytes } else { &head };
        let from = tail.len().saturating_sub(keep);
        self.held = tail.get(from..).unwrap_or_default().to_vec();
    }

    fn scan(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..) {
            let Some(next) = rest.windows(PREFIX.len()).position(|it| it == PREFIX) else {
                return;
            };
            at += next + PREFIX.len();
            let hex = bytes
                .get(at..at + HEX)
                .and_then(|it| std::str::from_utf8(it).ok());
            if let Some(hex) = hex.filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit())) {
                self.found.insert(hex.to_ascii_lowercase());
            }
        }
    }
}

/// Copies blobs; one that is missing stays missing.
fn copy_blobs(names: &BTreeSet<String>, source: &dyn Source, folder: &Path) -> io::Result<()> {
    for sha256 in names {
        let (Some(two), Some(rest)) = (sha256.get(..2), sha256.get(2..)) else {
            continue;
        };
        let target = folder.join(two).join(rest);
        if target.exists() {
            continue;
        }
        let Some(bytes) = source.blob(sha256)? else {
            continue;
        };
        std::fs::create_dir_all(folder.join(two))?;
        let mut file = tempfile::NamedTempFile::new_in(folder.join(two))?;
        file.write_all(&bytes)?;
        usual_mode(file.as_file())?;
        file.as_file().sync_all()?;
        file.persist(&target)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_wherever_the_parts_are_cut() {
        let hex = "ab".repeat(32);
        let text = format!("{{\"content\":{{\"$blob\":\"sha256:{hex}\",\"bytes\":3}}}}\n");
        for cut in 0..text.len() {
            for second in cut..text.len() {
                let mut named = Named::default();
                named.look(&text.as_bytes()[..cut]);
                named.look(&text.as_bytes()[cut..second]);
                named.look(&text.as_bytes()[second..]);
                assert!(named.found.contains(&hex), "cut at {cut} and {second}");
            }
        }
        let mut named = Named::default();
        named.look(b"sha256:short");
        assert!(named.found.is_empty());
    }
}
