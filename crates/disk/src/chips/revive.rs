//! Writing an evicted chip back into the chip folder: the one thing that is ever written there. The file appears whole
//! or not at all, under its old name, and never over another.

use super::model::{ChipError, EntryState, Revived};
use super::world::World;
use chipdeck_chip::with_created_at;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

impl World {
    pub fn revive(&mut self, key: &str, now: Option<i64>) -> Result<Revived, ChipError> {
        let (name, known, here) = self
            .board
            .find(key, self.archive.as_ref())
            .ok_or_else(|| ChipError::NotFound(key.into()))?;
        let file = name.to_string_lossy().into_owned();
        if here {
            return Err(ChipError::Exists(file));
        }
        if !chipdeck_chip::safe_id(&known.facts.id) {
            return Err(ChipError::UnsafeId(known.facts.id.clone()));
        }
        let archive = self.archive.as_ref().ok_or(ChipError::NoArchive)?;
        let failed = |what: &str| {
            let what = what.to_owned();
            move |error| ChipError::Io { what, error }
        };
        let old = archive
            .read(&known.sha256)
            .map_err(failed("the archived copy"))?;
        let mut warnings = Vec::new();
        let mut created_at = known.facts.created_at;
        let mut bytes = old;
        if let Some(now) = now {
            match with_created_at(&bytes, now) {
                Some(changed) => {
                    bytes = changed;
                    created_at = now;
                }
                None => warnings.push(
                    "the record has no time that could be changed: it goes back as it was".into(),
                ),
            }
        }
        let folder = self.board.folder().to_owned();
        std::fs::create_dir_all(&folder).map_err(failed(&folder.display().to_string()))?;
        put(&folder, &folder.join(&name), &bytes).map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                ChipError::Exists(file.clone())
            } else {
                failed(&file)(error)
            }
        })?;
        self.look(&HashSet::from([folder.join(&name)]), false, false);
        let rows = self.board.rows(self.archive.as_ref());
        let first = rows
            .iter()
            .map(|row| &row.entry)
            .find(|entry| entry.state == EntryState::Beyond);
        if let Some(first) = first {
            warnings.push(format!(
                "the folder holds more than 30: the next start of a server drops {} (id {})",
                first.file, first.id
            ));
        }
        Ok(Revived {
            key: super::files::name_text(&name),
            file,
            id: known.facts.id,
            created_at,
            warnings,
            drops: first.map(|entry| entry.file.clone()),
        })
    }
}

/// A temporary name that no server takes for a chip, then the real one, if it is free.
fn put(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".chipdeck-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As the server makes its files: less the umask.
        builder.permissions(std::fs::Permissions::from_mode(0o644));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    Ok(())
}
