//! A new file that a person named: never over one that is there, and gone again if its writer gives up.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

pub struct NewFile {
    path: PathBuf,
    file: Option<BufWriter<File>>,
}

impl NewFile {
    /// # Errors
    /// `AlreadyExists`: there is something (a link that leads nowhere too); the folder is missing or closed.
    pub fn create(path: &Path) -> io::Result<NewFile> {
        let file = File::options().write(true).create_new(true).open(path)?;
        Ok(NewFile {
            path: path.to_owned(),
            file: Some(BufWriter::with_capacity(256 << 10, file)),
        })
    }

    /// All is written: keeps it, on disk when this returns.
    ///
    /// # Errors
    /// A full disk and the like; the file is gone then.
    pub fn keep(mut self) -> io::Result<()> {
        self.flush()?;
        if let Some(file) = &self.file {
            file.get_ref().sync_all()?;
        }
        self.file = None;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), BufWriter::flush)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_over_another_and_never_half() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert!(!path.exists());
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        file.keep().unwrap();
        let again = NewFile::create(&path).err().unwrap();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
    }
}
