//! Branches that nobody saved: each in a folder of its own below our cache, gone when it is dropped.

use super::branch::{beside, usual_mode, write_branch, BranchFileError};
use crate::places::{private_folder, Places};
use chipdeck_replay::branch::Branch;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a process that died left behind is swept after this long.
const OLD: Duration = Duration::from_secs(7 * 24 * 3_600);

/// A branch on disk for as long as it is looked at.
pub struct Scratch {
    path: PathBuf,
    /// Removed on drop.
    _folder: tempfile::TempDir,
}

impl Scratch {
    /// Writes a branch below the cache, as `<name>.jsonl`.
    ///
    /// # Errors
    /// What cannot be made or written there.
    pub fn write(places: &Places, name: &str, branch: &Branch) -> Result<Scratch, BranchFileError> {
        let shelf = places.cache.join("branches");
        let failed = |error| BranchFileError::Io {
            path: shelf.clone(),
            error,
        };
        private_folder(&shelf).map_err(failed)?;
        sweep(&shelf);
        let folder = tempfile::Builder::new()
            .prefix("branch-")
            .tempdir_in(&shelf)
            .map_err(failed)?;
        let path = folder.path().join(format!("{}.jsonl", plain(name)));
        write_branch(branch, &path)?;
        Ok(Scratch {
            path,
            _folder: folder,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the branch where a person said; never over a file. Returns its bytes.
    ///
    /// # Errors
    /// The file is there already, or something cannot be written.
    pub fn save(&self, target: &Path) -> Result<u64, BranchFileError> {
        let failed = |error| BranchFileError::Io {
            path: target.to_owned(),
            error,
        };
        if target.symlink_metadata().is_ok() {
            return Err(BranchFileError::Exists(target.to_owned()));
        }
        let folder = match target.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        copy_folder(&beside(&self.path), &beside(target)).map_err(failed)?;
        let mut file = tempfile::Builder::new()
            .prefix(".chipdeck-")
            .suffix(".tmp")
            .tempfile_in(folder)
            .map_err(failed)?;
        let mut from = std::fs::File::open(&self.path).map_err(failed)?;
        let bytes = io::copy(&mut from, file.as_file_mut()).map_err(failed)?;
        usual_mode(file.as_file()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        match file.persist_noclobber(target) {
            Ok(_) => Ok(bytes),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(BranchFileError::Exists(target.to_owned()))
            }
            Err(error) => Err(failed(error.error)),
        }
    }
}

/// A name without anything that a path could be made of.
fn plain(name: &str) -> String {
    let kept: String = name
        .chars()
        .map(|c| match c {
            c if c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '+') => c,
            _ => '-',
        })
        .take(80)
        .collect();
    match kept.trim() {
        "" => "branch".to_owned(),
        kept => kept.to_owned(),
    }
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(entries) = std::fs::read_dir(from) else {
        return Ok(());
    };
    for two in entries {
        let two = two?;
        let below = to.join(two.file_name());
        std::fs::create_dir_all(&below)?;
        for blob in std::fs::read_dir(two.path())? {
            let blob = blob?;
            let target = below.join(blob.file_name());
            // Named by its hash: one that is there is the same.
            if !target.exists() {
                std::fs::copy(blob.path(), target)?;
            }
        }
    }
    Ok(())
}

fn sweep(shelf: &Path) {
    for entry in std::fs::read_dir(shelf).into_iter().flatten().flatten() {
        let age = entry
            .metadata()
            .and_then(|it| it.modified())
            .ok()
            .and_then(|it| it.elapsed().ok());
        let ours = entry.file_name().to_string_lossy().starts_with("branch-");
        if ours && age.is_some_and(|age| age > OLD) {
            // What cannot be removed is tried again next time.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}
