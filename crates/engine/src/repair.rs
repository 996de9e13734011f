//! Repairing a drift: what would be appended, where, and the append itself. Shared by the window and the command.
//!
//! Left out: judging the drift and the lines' text (`chipdeck-replay`).

use chipdeck_disk::logs::FileSource;
use chipdeck_disk::store::{append, AppendError, Tail};
use chipdeck_ingest::Source;
use chipdeck_replay::{Correction, Timeline};
use std::path::PathBuf;

/// Why nothing is appended.
#[derive(Debug, thiserror::Error)]
pub enum RepairError {
    #[error("only a canonical log can be repaired")]
    Foreign,
    #[error("the last line of {0} has no line end: it may still be written")]
    Torn(String),
    #[error("{0} is compressed, or has changed since it was read")]
    Moved(String),
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error("cannot read {name}: {error}")]
    Io {
        name: String,
        #[source]
        error: std::io::Error,
    },
}

/// What a repair would append.
#[derive(Clone, Debug)]
pub struct Repair {
    pub corrections: Vec<Correction>,
    pub files: Vec<RepairFile>,
}

/// One file that lines are appended to.
#[derive(Clone, Debug)]
pub struct RepairFile {
    /// Index into the log set's files.
    pub file: u32,
    /// Relative to what was opened.
    pub name: String,
    pub path: PathBuf,
    seen: Tail,
    /// The lines, each with its end.
    pub text: String,
}

impl Repair {
    /// Looks at what is to be appended; writes nothing. `now`: Unix milliseconds.
    ///
    /// # Errors
    /// The log is not a canonical one, or a file that would be written cannot be.
    pub fn preview(
        timeline: &Timeline,
        source: &FileSource,
        now: i64,
    ) -> Result<Repair, RepairError> {
        if !timeline.options().canonical {
            return Err(RepairError::Foreign);
        }
        let corrections = timeline.corrections(now);
        let mut files: Vec<RepairFile> = Vec::new();
        for correction in &corrections {
            let line = format!("{}\n", correction.record);
            if let Some(file) = files.iter_mut().find(|it| it.file == correction.file) {
                file.text.push_str(&line);
                continue;
            }
            let name = source.name(correction.file).to_string();
            let Some(path) = source.file_path(correction.file) else {
                return Err(RepairError::Moved(name));
            };
            let seen = match Tail::of(&path) {
                Ok(seen) => seen,
                Err(error) => return Err(RepairError::Io { name, error }),
            };
            if seen.len != source.len(correction.file) {
                return Err(RepairError::Moved(name));
            }
            if !seen.whole {
                return Err(RepairError::Torn(name));
            }
            files.push(RepairFile {
                file: correction.file,
                name,
                path,
                seen,
                text: line,
            });
        }
        Ok(Repair { corrections, files })
    }

    /// Appends what the preview showed, and flushes it.
    ///
    /// # Errors
    /// A file is not what it was at the preview, or cannot be written. Files before it are then written: each line
    /// stands for itself, and another repair adds the rest.
    pub fn apply(&self) -> Result<(), RepairError> {
        for file in &self.files {
            append(&file.path, &file.seen, file.text.as_bytes())?;
        }
        Ok(())
    }
}
