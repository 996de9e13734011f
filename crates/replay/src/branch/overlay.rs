//! The bytes of a branch: those of the recorded log, and the lines that came in, as one file more.

use chipdeck_ingest::Source;
use std::io;
use std::sync::Arc;

pub struct Overlay {
    base: Arc<dyn Source>,
    /// Files of the recorded log when the branch was laid: its own file is the next.
    files: u32,
    lines: Vec<u8>,
    /// Where else blobs are looked for.
    others: Vec<Arc<dyn Source>>,
}

/// What the branch's own file is called in findings.
const NAME: &str = "branch.jsonl";

impl Overlay {
    pub(super) fn new(
        base: Arc<dyn Source>,
        lines: Vec<u8>,
        others: Vec<Arc<dyn Source>>,
    ) -> Overlay {
        Overlay {
            files: base.files(),
            base,
            lines,
            others,
        }
    }

    pub(super) fn own_file(&self) -> u32 {
        self.files
    }
}

impl Source for Overlay {
    fn files(&self) -> u32 {
        self.files + 1
    }

    fn name(&self, file: u32) -> Arc<str> {
        if file == self.files {
            return NAME.into();
        }
        self.base.name(file)
    }

    fn len(&self, file: u32) -> u64 {
        match file.cmp(&self.files) {
            std::cmp::Ordering::Less => self.base.len(file),
            std::cmp::Ordering::Equal => self.lines.len() as u64,
            std::cmp::Ordering::Greater => 0,
        }
    }

    fn read_at(&self, file: u32, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        if file != self.files {
            return self.base.read_at(file, offset, len);
        }
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let start = start.min(self.lines.len());
        let end = start.saturating_add(len).min(self.lines.len());
        Ok(self.lines.get(start..end).unwrap_or_default().to_vec())
    }

    fn blob(&self, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        if let Some(found) = self.base.blob(sha256)? {
            return Ok(Some(found));
        }
        for other in &self.others {
            if let Some(found) = other.blob(sha256)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}
