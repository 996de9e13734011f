//! JSON Lines of an agent: bytes to lines to records to the agent's [`Mapper`]. Two objects glued on one line are two
//! records; what is no JSON stays as an opaque entry; a torn last line is held back or reported; a result that stands
//! before its call waits for it, a bounded number of records.

use std::collections::VecDeque;
use std::sync::Arc;

use chipdeck_event::{Code, Id, Place};

use super::sink::{Shelf, Sink};
use crate::lines::{Line, Lines};
use crate::reader::{Batch, Reader};
use crate::skim::stretch;
use crate::source::Source;
use crate::tape::{blanks, Fault, Origin, Tape, Val};

/// One record of a log.
pub(crate) struct Record<'a> {
    pub value: Val<'a>,
    pub origin: Origin,
}

/// What became of a record.
pub(crate) enum Verdict {
    Done,
    /// Nothing yet: it is the result of this call, which has not been seen.
    Needs(Id),
}

/// Turns the records of one agent's log into events.
pub(crate) trait Mapper: Send {
    /// The agent's name, as in `session.start`.
    fn agent(&self) -> &'static str;

    /// Takes the next record. With `hurry` it may not be put off again.
    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, hurry: bool) -> Verdict;

    /// The sessions of the other files of the set.
    fn beside(&mut self, _sessions: &[Box<str>]) {}

    /// Emits the call `id` if this record, which comes later, holds it.
    fn early(&mut self, _record: &Record<'_>, _id: &Id, _sink: &mut Sink<'_>) -> bool {
        false
    }
}

/// A result that stands before its call waits for this many records or bytes; the samples need five.
const PATIENCE: usize = 24;
const PATIENT_BYTES: usize = 16 << 20;

/// A longer line is not held: what it holds would be read from half of its texts. It is shown raw.
const LONGEST: usize = 64 << 20;

struct Held {
    text: String,
    place: Place,
}

pub(crate) struct RecordReader {
    lines: Lines,
    records: Records,
}

struct Records {
    file: u32,
    name: Arc<str>,
    mapper: Box<dyn Mapper>,
    tape: Tape,
    shelf: Shelf,
    held: VecDeque<Held>,
    held_bytes: usize,
    wanted: Option<Id>,
}

impl RecordReader {
    pub(crate) fn new(file: u32, mapper: Box<dyn Mapper>) -> RecordReader {
        let records = Records {
            file,
            name: "".into(),
            mapper,
            tape: Tape::lenient(),
            shelf: Shelf::default(),
            held: VecDeque::new(),
            held_bytes: 0,
            wanted: None,
        };
        RecordReader {
            lines: Lines::skimming(LONGEST),
            records,
        }
    }
}

impl Records {
    /// `whole`: the line ended with a newline.
    fn line(&mut self, line: Line<'_>, whole: bool, out: &mut Batch) {
        let bytes = line.bytes;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let file = self.file;
        let place = |offset: usize, len: usize| Place {
            file,
            line: line.number,
            offset: line.offset + offset as u64,
            len: len as u64,
        };
        let length = stretch(line.gaps, bytes.len());
        if length > LONGEST as u64 {
            return self.long(line, whole, place(0, length as usize), out);
        }
        let Ok(text) = simdutf8::basic::from_utf8(bytes) else {
            let code = if whole { Code::NotJson } else { Code::TornLine };
            return self.opaque(code, "not UTF-8", place(0, bytes.len()), out);
        };
        let mut at = 0;
        let mut records = usize::from(line.continued);
        loop {
            at = blanks(text.as_bytes(), at);
            let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) else {
                return;
            };
            let mut tape = std::mem::replace(&mut self.tape, Tape::lenient());
            match tape.read(rest) {
                Ok(end) => {
                    let place = place(at, end);
                    if records == 1 {
                        let message = "two records on one line, without a newline between";
                        self.sink(place, out).finding(Code::GluedLine, message);
                    }
                    self.feed(&tape, rest.get(..end).unwrap_or_default(), place, out);
                    records += 1;
                    at += end;
                }
                Err(fault) => {
                    let torn = !whole && fault == Fault::Cut;
                    let code = if torn { Code::TornLine } else { Code::NotJson };
                    let cut = || "the last line was cut off".to_string();
                    let message = if torn { cut() } else { fault.describe() };
                    self.opaque(code, &message, place(at, rest.len()), out);
                    at = text.len();
                }
            }
            tape.trim();
            self.tape = tape;
        }
    }

    /// A line of which only a part was held.
    fn long(&mut self, line: Line<'_>, whole: bool, place: Place, out: &mut Batch) {
        let read = std::str::from_utf8(line.bytes).map(|text| self.tape.read(text));
        let what = match (line.fault, read) {
            (None, Ok(Ok(_))) => {
                self.release(out);
                let mut sink = self.sink(place, out);
                let id = sink.place_id();
                return sink.unknown(id, "line of more than 64 MiB");
            }
            (Some(fault), _) => fault.to_owned(),
            (None, Ok(Err(fault))) => fault.describe(),
            (None, Err(_)) => "not UTF-8".to_owned(),
        };
        let code = if whole { Code::NotJson } else { Code::TornLine };
        self.opaque(code, &what, place, out);
    }

    fn sink<'a>(&'a mut self, place: Place, out: &'a mut Batch) -> Sink<'a> {
        let origin = Origin::Log {
            file: self.file,
            offset: place.offset,
        };
        Sink::new(
            self.mapper.agent(),
            self.name.clone(),
            place,
            origin,
            &mut self.shelf,
            out,
        )
    }

    fn opaque(&mut self, code: Code, message: &str, place: Place, out: &mut Batch) {
        self.release(out);
        self.sink(place, out).opaque(code, message);
    }

    /// A record that was parsed onto `tape`.
    fn feed(&mut self, tape: &Tape, text: &str, place: Place, out: &mut Batch) {
        let Some(wanted) = self.wanted.clone() else {
            if let Verdict::Needs(id) = self.map(tape, text, place, false, out) {
                self.wanted = Some(id);
                self.hold(text, place);
            }
            return;
        };
        self.hold(text, place);
        let full = self.held.len() > PATIENCE || self.held_bytes > PATIENT_BYTES;
        if self.early(tape, text, place, &wanted, out) || full {
            self.unblock(true, out);
        }
    }

    fn hold(&mut self, text: &str, place: Place) {
        self.held_bytes += text.len();
        self.held.push_back(Held {
            text: text.to_string(),
            place,
        });
    }

    fn map(
        &mut self,
        tape: &Tape,
        text: &str,
        place: Place,
        hurry: bool,
        out: &mut Batch,
    ) -> Verdict {
        let origin = Origin::Log {
            file: self.file,
            offset: place.offset,
        };
        let record = Record {
            value: tape.root(text),
            origin,
        };
        let mut sink = Sink::new(
            self.mapper.agent(),
            self.name.clone(),
            place,
            origin,
            &mut self.shelf,
            out,
        );
        if !record.value.is_object() {
            sink.opaque(Code::NotAnObject, "JSON, but not an object");
            return Verdict::Done;
        }
        let verdict = self.mapper.record(&record, &mut sink, hurry);
        // A known record without what its reader looks for is still there to be seen.
        if matches!(verdict, Verdict::Done) {
            sink.something();
        }
        verdict
    }

    fn early(&mut self, tape: &Tape, text: &str, place: Place, id: &Id, out: &mut Batch) -> bool {
        let origin = Origin::Log {
            file: self.file,
            offset: place.offset,
        };
        let record = Record {
            value: tape.root(text),
            origin,
        };
        let mut sink = Sink::new(
            self.mapper.agent(),
            self.name.clone(),
            place,
            origin,
            &mut self.shelf,
            out,
        );
        record.value.is_object() && self.mapper.early(&record, id, &mut sink)
    }

    /// Lets held records through until one waits for a call that is not among them. `hurry`: the first may not wait.
    fn unblock(&mut self, hurry: bool, out: &mut Batch) {
        let mut hurry = hurry;
        self.wanted = None;
        let mut tape = Tape::lenient();
        while let Some(held) = self.held.pop_front() {
            self.held_bytes = self.held_bytes.saturating_sub(held.text.len());
            if tape.read(&held.text).is_err() {
                continue;
            }
            let verdict = self.map(&tape, &held.text, held.place, hurry, out);
            hurry = false;
            if let Verdict::Needs(id) = verdict {
                let found = self.find_early(&id, out);
                self.held_bytes += held.text.len();
                self.held.push_front(held);
                if !found {
                    self.wanted = Some(id);
                    break;
                }
                hurry = true;
            }
        }
    }

    fn find_early(&mut self, id: &Id, out: &mut Batch) -> bool {
        let held = std::mem::take(&mut self.held);
        let mut tape = Tape::lenient();
        let found = held.iter().any(|later| {
            tape.read(&later.text).is_ok() && self.early(&tape, &later.text, later.place, id, out)
        });
        self.held = held;
        found
    }

    /// Lets all held records through.
    fn release(&mut self, out: &mut Batch) {
        while !self.held.is_empty() {
            self.unblock(true, out);
        }
        self.wanted = None;
    }
}

/// Whole JSON values and nothing else?
fn is_whole(bytes: &[u8], tape: &mut Tape) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let mut at = 0;
    loop {
        at = blanks(text.as_bytes(), at);
        match text.get(at..) {
            Some("") | None => return true,
            Some(rest) => match tape.read(rest) {
                Ok(end) => at += end,
                Err(_) => return false,
            },
        }
    }
}

impl Reader for RecordReader {
    fn push(&mut self, chunk: &[u8], source: &dyn Source, out: &mut Batch) {
        let records = &mut self.records;
        if records.name.is_empty() {
            records.name = source.name(records.file);
        }
        self.lines.push(chunk, |line| records.line(line, true, out));
    }

    fn settle(&mut self, at_rest: bool, _source: &dyn Source, out: &mut Batch) {
        let tail = self.lines.tail();
        if !tail.bytes.trim_ascii().is_empty()
            && (at_rest || is_whole(tail.bytes, &mut self.records.tape))
        {
            self.records.line(tail, false, out);
            self.lines.take_tail();
        }
        if at_rest {
            self.records.release(out);
        }
        let place = Place {
            file: self.records.file,
            line: 1,
            offset: 0,
            len: 0,
        };
        self.records.sink(place, out).tally();
    }

    fn beside(&mut self, sessions: &[Box<str>]) {
        self.records.mapper.beside(sessions);
    }

    fn offset(&self) -> u64 {
        self.lines.offset()
    }
}
