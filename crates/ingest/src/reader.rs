//! What a reader is: bytes of one file go in by chunks, entries and findings come out.

use crate::source::Source;
use chipdeck_event::{Finding, Located};

/// What came out of some bytes: entries in the order of the file, findings in any order.
#[derive(Debug, Default)]
pub struct Batch {
    pub entries: Vec<Located>,
    pub findings: Vec<Finding>,
}

/// Reads one file incrementally. Laws: the cuts between chunks change nothing; it never fails and never panics.
pub trait Reader: Send {
    /// The next bytes of the file. Whole lines come out, an unfinished last one is held back.
    fn push(&mut self, chunk: &[u8], source: &dyn Source, out: &mut Batch);

    /// No more bytes for now. A held-back line that is whole comes out. With `at_rest` one that is not comes out
    /// too, as a torn line; while the file is followed live it stays held back. Bytes may still be pushed after.
    fn settle(&mut self, at_rest: bool, source: &dyn Source, out: &mut Batch);

    /// The sessions of the other files of the set, told before the first bytes and when files come.
    fn beside(&mut self, _sessions: &[Box<str>]) {}

    /// Bytes taken so far, held-back ones included: the next chunk begins here.
    fn offset(&self) -> u64;
}
