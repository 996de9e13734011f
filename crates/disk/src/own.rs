//! Small files of our own (settings, bookmarks, recent logs): read whole, written at once or not at all, for this
//! user alone. Left out: the journal and the archive, which have stricter rules of their own.

use crate::places::private_folder;
use std::io::{self, Read, Write};
use std::path::Path;

/// Larger ones are not ours.
const MOST_BYTES: u64 = 16 << 20;

/// The text; `None` where there is no file.
///
/// # Errors
/// What the system says; `InvalidData` for a file that is no text or far too large.
pub fn read(path: &Path) -> io::Result<Option<String>> {
    let mut options = std::fs::OpenOptions::new();
    dont_wait(options.read(true));
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the file is too large",
        ));
    }
    Ok(Some(text))
}

/// A pipe in the place of the file answers at once.
#[cfg(unix)]
fn dont_wait(options: &mut std::fs::OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
}

#[cfg(not(unix))]
fn dont_wait(_: &mut std::fs::OpenOptions) {}

/// Writes the file (0600) and its folder (0700) where they are missing; a link stays a link.
///
/// # Errors
/// What the system says; the old file is then untouched.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().ok_or(io::ErrorKind::InvalidInput)?;
    if !folder.is_dir() {
        private_folder(folder)?;
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&real)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_for_this_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/config.toml");
        assert_eq!(read(&path).unwrap(), None);
        write(&path, "a = 1\n").unwrap();
        write(&path, "a = 2\n").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("a = 2\n"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
            let link = dir.path().join("link.toml");
            std::os::unix::fs::symlink(&path, &link).unwrap();
            write(&link, "a = 3\n").unwrap();
            assert!(link.symlink_metadata().unwrap().is_symlink());
            assert_eq!(read(&path).unwrap().as_deref(), Some("a = 3\n"));
        }
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "nothing is left over"
        );
    }
}
