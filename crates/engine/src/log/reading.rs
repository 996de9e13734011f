//! A log read whole, for the command: opened, read, put in order. The window's logs are read in the background
//! instead ([`super::Log`]).

use super::findings::Findings;
use super::kept_states::Watched;
use super::look::Look;
use crate::opening::{classify, Kind};
use chipdeck_disk::logs::{FileSource, OpenError};
use chipdeck_ingest::{Format, LogSet, Source};
use chipdeck_replay::{Options, Timeline};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Bytes that are read before a look at whether to go on.
pub(super) const STRIDE: usize = 8 << 20;

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("{} is no log: {why}", path.display())]
    NotALog { path: PathBuf, why: String },
}

pub struct Reading {
    pub source: Arc<FileSource>,
    pub timeline: Timeline,
    pub format: Format,
    /// Blobs beside the log had a part in it.
    pub(super) blobs: bool,
    /// Bytes of each file that were read.
    pub(super) read_to: Vec<u64>,
    /// When the log was last written, before it was read.
    pub(super) modified: Option<i64>,
    findings: Arc<Findings>,
}

impl Reading {
    /// Reads a log set to its end, at rest: a torn last line is an entry.
    ///
    /// # Errors
    /// What cannot be opened or holds no log. A file that cannot be read further is read as far as it goes.
    pub fn of(path: &Path) -> Result<Reading, ReadError> {
        if path.exists() {
            let path = path.to_owned();
            match classify(&path) {
                Kind::Log(_) | Kind::LogSet(..) => {}
                Kind::Chip => {
                    return Err(ReadError::NotALog {
                        path,
                        why: "it is a chip".to_owned(),
                    })
                }
                Kind::EditSnapshot => {
                    return Err(ReadError::NotALog {
                        path,
                        why: "it is an edit snapshot".to_owned(),
                    })
                }
                Kind::Memory => {
                    return Err(ReadError::NotALog {
                        path,
                        why: "it is a database".to_owned(),
                    })
                }
                Kind::Folder => return Err(OpenError::NoLog(path).into()),
                Kind::Unknown(why) => return Err(ReadError::NotALog { path, why }),
            }
        }
        let source = Arc::new(FileSource::open(path)?);
        Reading::of_source(source, &mut |_| true)?
            .ok_or_else(|| OpenError::NoLog(path.to_owned()).into())
    }

    /// Reads what was opened already. `on` is told the bytes that are read, now and then, and says whether to go on;
    /// `None`: it said no.
    ///
    /// # Errors
    /// What the system says.
    pub fn of_source(
        source: Arc<FileSource>,
        on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Option<Reading>, ReadError> {
        let modified = source.modified();
        let watched = Watched {
            inner: source.clone(),
            blobs: AtomicBool::new(false),
        };
        let watched = &watched;
        let mut set = LogSet::open(watched);
        let mut timeline = Timeline::new(options(watched, set.format()));
        loop {
            let before = set.progress(watched).read;
            if !on(before) {
                return Ok(None);
            }
            let read = set.read(watched, STRIDE, &mut |batch, source| {
                timeline.add_findings(batch.findings.drain(..));
                for entry in batch.entries.drain(..) {
                    timeline.append(entry, source);
                }
            });
            match read {
                Ok(progress) if progress.done() || progress.read == before => break,
                Ok(_) => {}
                Err(error) => {
                    return Err(OpenError::Io {
                        path: source.path().to_owned(),
                        error,
                    }
                    .into())
                }
            }
        }
        set.settle(true, watched, &mut |batch, source| {
            timeline.add_findings(batch.findings.drain(..));
            for entry in batch.entries.drain(..) {
                timeline.append(entry, source);
            }
        });
        timeline.arrange(watched);
        let findings = Arc::new(Findings::of(&timeline));
        Ok(Some(Reading {
            source,
            format: set.format(),
            blobs: watched.blobs.load(Ordering::Relaxed),
            read_to: (0..watched.files()).map(|file| set.offset(file)).collect(),
            modified,
            timeline,
            findings,
        }))
    }

    pub fn look(&self) -> Look<'_> {
        Look {
            timeline: &self.timeline,
            source: &*self.source,
            findings: self.findings.clone(),
        }
    }

    /// What the command line takes for N.
    ///
    /// # Errors
    /// One sentence: there is no such position or event.
    pub fn position(&self, text: &str) -> Result<u32, String> {
        super::position::position(&self.timeline, text)
    }
}

/// How a log set is folded.
pub(super) fn options(source: &dyn Source, format: Format) -> Options {
    Options {
        names: (0..source.files()).map(|file| source.name(file)).collect(),
        canonical: format.is_canonical(),
        ..Options::default()
    }
}
