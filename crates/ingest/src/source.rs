//! Where the bytes of a log set come from. Readers and the fold ask a [`Source`]; real files are `chipdeck-disk`'s,
//! tests and what-if logs use a [`MemorySource`].
//!
//! Left out on purpose: opening, watching, writing.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

/// The bytes of a log set: its files in order, and its blobs. Files may grow (or shrink) while it is held.
pub trait Source: Send + Sync {
    /// Number of files; a file keeps its index for good, new ones come behind.
    fn files(&self) -> u32;

    /// Name relative to what was opened, with `/`; empty for an index beyond the last.
    fn name(&self, file: u32) -> Arc<str>;

    /// Bytes in the file now; 0 for an index beyond the last or a file that is gone.
    fn len(&self, file: u32) -> u64;

    /// Bytes `offset..offset + len`, fewer where the file ends before.
    ///
    /// # Errors
    /// Whatever the system says; `NotFound` for a file that is gone.
    fn read_at(&self, file: u32, offset: u64, len: usize) -> io::Result<Vec<u8>>;

    /// As [`Source::read_at`], into a buffer that was used before.
    ///
    /// # Errors
    /// As there; what is in the buffer then is nothing.
    fn read_into(
        &self,
        file: u32,
        offset: u64,
        len: usize,
        buffer: &mut Vec<u8>,
    ) -> io::Result<()> {
        *buffer = self.read_at(file, offset, len)?;
        Ok(())
    }

    /// The same bytes without a copy, all of them, where they are in memory anyway.
    fn at_hand(&self, _file: u32, _offset: u64, _len: usize) -> Option<&[u8]> {
        None
    }

    /// The blob with this hash (64 lower-case hex digits), as it is on disk: the caller checks its hash.
    /// `None` where there is none.
    ///
    /// # Errors
    /// Whatever the system says.
    fn blob(&self, sha256: &str) -> io::Result<Option<Vec<u8>>>;

    fn is_empty(&self) -> bool {
        self.files() == 0
    }
}

/// A log set in memory.
#[derive(Clone, Debug, Default)]
pub struct MemorySource {
    files: Vec<(Arc<str>, Vec<u8>)>,
    blobs: BTreeMap<String, Vec<u8>>,
}

impl MemorySource {
    pub fn new() -> MemorySource {
        MemorySource::default()
    }

    /// One file of that name.
    pub fn single(name: &str, bytes: impl Into<Vec<u8>>) -> MemorySource {
        let mut source = MemorySource::new();
        source.add(name, bytes);
        source
    }

    /// Adds a file, returns its index.
    pub fn add(&mut self, name: &str, bytes: impl Into<Vec<u8>>) -> u32 {
        self.files.push((name.into(), bytes.into()));
        (self.files.len() - 1) as u32
    }

    /// Appends to a file, as a writer would.
    pub fn grow(&mut self, file: u32, bytes: &[u8]) {
        if let Some((_, held)) = self.files.get_mut(file as usize) {
            held.extend_from_slice(bytes);
        }
    }

    pub fn add_blob(&mut self, sha256: &str, bytes: impl Into<Vec<u8>>) {
        self.blobs.insert(sha256.to_owned(), bytes.into());
    }
}

impl Source for MemorySource {
    fn files(&self) -> u32 {
        self.files.len() as u32
    }

    fn name(&self, file: u32) -> Arc<str> {
        self.files
            .get(file as usize)
            .map_or_else(|| "".into(), |(name, _)| name.clone())
    }

    fn len(&self, file: u32) -> u64 {
        self.files
            .get(file as usize)
            .map_or(0, |(_, bytes)| bytes.len() as u64)
    }

    fn read_at(&self, file: u32, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let (_, bytes) = self
            .files
            .get(file as usize)
            .ok_or(io::ErrorKind::NotFound)?;
        let start = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let end = start.saturating_add(len).min(bytes.len());
        Ok(bytes.get(start..end).unwrap_or_default().to_vec())
    }

    fn at_hand(&self, file: u32, offset: u64, len: usize) -> Option<&[u8]> {
        let (_, bytes) = self.files.get(file as usize)?;
        let start = usize::try_from(offset).ok()?;
        bytes.get(start..start.checked_add(len)?)
    }

    fn blob(&self, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.blobs.get(sha256).cloned())
    }
}

/// A source with some bytes of one file already at hand: reads inside them touch nothing else. Used while a chunk
/// that was just read is parsed and folded.
pub struct Window<'a> {
    pub inner: &'a dyn Source,
    pub file: u32,
    pub offset: u64,
    pub bytes: &'a [u8],
}

impl Source for Window<'_> {
    fn files(&self) -> u32 {
        self.inner.files()
    }

    fn name(&self, file: u32) -> Arc<str> {
        self.inner.name(file)
    }

    fn len(&self, file: u32) -> u64 {
        self.inner.len(file)
    }

    fn read_at(&self, file: u32, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        if let Some(hit) = self.at_hand(file, offset, len) {
            return Ok(hit.to_vec());
        }
        self.inner.read_at(file, offset, len)
    }

    fn at_hand(&self, file: u32, offset: u64, len: usize) -> Option<&[u8]> {
        let start = offset
            .checked_sub(self.offset)
            .and_then(|at| usize::try_from(at).ok());
        let hit = start
            .filter(|_| file == self.file)
            .and_then(|at| self.bytes.get(at..at.checked_add(len)?));
        hit.or_else(|| self.inner.at_hand(file, offset, len))
    }

    fn blob(&self, sha256: &str) -> io::Result<Option<Vec<u8>>> {
        self.inner.blob(sha256)
    }
}
