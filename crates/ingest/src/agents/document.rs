//! An agent's file that is one JSON document, or a text that only makes sense whole: it is read once all its bytes
//! are there. A document that was cut off (its writer was killed while it rewrote the file) gives what stands before
//! the cut.
//!
//! Left out on purpose: following a document that is rewritten in place. It is read anew.

use chipdeck_event::{Code, Place};

use super::sink::{Shelf, Sink};
use crate::reader::{Batch, Reader};
use crate::source::Source;
use crate::tape::{Fault, Origin, Tape, Val};

/// Turns one agent's document into events.
pub(crate) trait Document: Send {
    /// The agent's name, as in `session.start`.
    fn agent(&self) -> &'static str;

    /// Is it JSON? Else [`Document::text`] is called.
    fn is_json(&self) -> bool {
        true
    }

    fn json(&mut self, _root: Val<'_>, _sink: &mut Sink<'_>, _source: &dyn Source) {}

    fn text(&mut self, _text: &str, _sink: &mut Sink<'_>) {}
}

/// Larger documents are not read.
const LARGEST: usize = 512 << 20;

pub(crate) struct DocumentReader {
    file: u32,
    document: Box<dyn Document>,
    shelf: Shelf,
    bytes: Vec<u8>,
    offset: u64,
    done: bool,
}

impl DocumentReader {
    pub(crate) fn new(file: u32, document: Box<dyn Document>) -> DocumentReader {
        DocumentReader {
            file,
            document,
            shelf: Shelf::default(),
            bytes: Vec::new(),
            offset: 0,
            done: false,
        }
    }
}

impl DocumentReader {
    /// A JSON document in UTF-16, as a Windows shell writes what a command printed. Its texts are held in memory: no
    /// bytes of the file are JSON literals.
    fn wide(&mut self, text: &str, at_rest: bool, source: &dyn Source, out: &mut Batch) {
        let len = self.bytes.len() as u64;
        let place = Place {
            file: self.file,
            line: 1,
            offset: 0,
            len,
        };
        let name = source.name(self.file);
        let agent = self.document.agent();
        let mut sink = Sink::new(agent, name, place, Origin::Computed, &mut self.shelf, out);
        let mut tape = Tape::lenient();
        match tape.read(text) {
            Ok(_) if self.document.is_json() => {
                self.document.json(tape.root(text), &mut sink, source);
            }
            _ if !at_rest => return,
            _ => sink.opaque(Code::NotJson, "UTF-16, and no JSON document"),
        }
        sink.tally();
        self.done = true;
        self.bytes = Vec::new();
    }
}

/// The text of bytes that begin with the mark of UTF-16 in either order.
pub(crate) fn utf16(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units = bytes
        .get(2..)?
        .chunks_exact(2)
        .filter_map(|pair| pair.try_into().ok().map(unit));
    let letters = char::decode_utf16(units);
    Some(
        letters
            .map(|l| l.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
    )
}

impl Reader for DocumentReader {
    fn push(&mut self, chunk: &[u8], _source: &dyn Source, _out: &mut Batch) {
        self.offset += chunk.len() as u64;
        if !self.done && self.bytes.len() <= LARGEST {
            self.bytes.extend_from_slice(chunk);
        }
    }

    fn settle(&mut self, at_rest: bool, source: &dyn Source, out: &mut Batch) {
        if self.done || self.bytes.is_empty() {
            return;
        }
        if let Some(text) = utf16(&self.bytes) {
            return self.wide(&text, at_rest, source, out);
        }
        let bom = usize::from(self.bytes.starts_with(b"\xef\xbb\xbf")) * 3;
        let bytes = self.bytes.get(bom..).unwrap_or_default();
        let place = Place {
            file: self.file,
            line: 1,
            offset: bom as u64,
            len: bytes.len() as u64,
        };
        let origin = Origin::Log {
            file: self.file,
            offset: bom as u64,
        };
        let mut sink = Sink::new(
            self.document.agent(),
            source.name(self.file),
            place,
            origin,
            &mut self.shelf,
            out,
        );
        let Ok(text) = std::str::from_utf8(bytes) else {
            if at_rest {
                sink.opaque(Code::NotJson, "not UTF-8");
                self.done = true;
            }
            return;
        };
        if self.bytes.len() > LARGEST {
            sink.opaque(Code::NotJson, "a document of more than 512 MiB: not read");
            self.done = true;
            return;
        }
        let mut lines = vec![0];
        lines.extend(memchr::memchr_iter(b'\n', &self.bytes).map(|at| at as u64 + 1));
        sink.lines = Some(&lines);
        if self.document.is_json() {
            let mut tape = Tape::default();
            match tape.read(text) {
                Ok(_) => self.document.json(tape.root(text), &mut sink, source),
                // Being written, or rewritten.
                Err(_) if !at_rest => return,
                Err(fault) => {
                    if fault == Fault::Cut && tape.salvage(text.len()) {
                        self.document.json(tape.root(text), &mut sink, source);
                    }
                    sink.place = place;
                    let cut =
                        "the document is cut off: what stands before the cut is shown".to_string();
                    let torn = fault == Fault::Cut;
                    let code = if torn { Code::TornLine } else { Code::NotJson };
                    sink.opaque(code, &if torn { cut } else { fault.describe() });
                }
            }
        } else {
            self.document.text(text, &mut sink);
        }
        sink.tally();
        self.done = true;
        self.bytes = Vec::new();
    }

    fn offset(&self) -> u64 {
        self.offset
    }
}
