//! Any other JSON Lines: each line is an opaque entry, and one finding guesses what the file is.

use crate::reader::{Batch, Reader};
use crate::source::Source;

pub struct RawReader {
    offset: u64,
}

impl RawReader {
    pub fn new(_file: u32) -> RawReader {
        RawReader { offset: 0 }
    }
}

impl Reader for RawReader {
    fn push(&mut self, chunk: &[u8], _source: &dyn Source, _out: &mut Batch) {
        self.offset += chunk.len() as u64;
    }

    fn settle(&mut self, _at_rest: bool, _source: &dyn Source, _out: &mut Batch) {}

    fn offset(&self) -> u64 {
        self.offset
    }
}
