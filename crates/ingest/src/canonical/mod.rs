//! The canonical reader: JSON Lines of the event log, with its damage.
//!
//! A line is one event, or several glued ones. What is no event keeps its place as an opaque entry; the lines around
//! it are read as ever. Left out on purpose: order over several files ([`crate::order`]), what an event does.

mod fields;
mod payload;
mod sequence;
mod upcast;

use crate::blobs::Blobs;
use crate::lines::{Line, Lines};
use crate::names::Names;
use crate::reader::{Batch, Reader};
use crate::skim::{stretch, Gap};
use crate::source::Source;
use crate::tape::{blanks, Fault, Tape, Val};
use chipdeck_event::{
    Code, Entry, Envelope, Event, Finding, Json, Located, Opaque, Payload, Place, Session, Span,
    Text,
};
use fields::integer;
use sequence::Sequence;

/// Does the head of a file have a line that is an event of ours, or could have been one? An empty file is one to be.
pub fn looks_canonical(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if head.iter().all(u8::is_ascii_whitespace) {
        return true;
    }
    let mut tape = Tape::default();
    head.split(|&b| b == b'\n').any(|line| {
        let text = String::from_utf8_lossy(line);
        let known = |name: &str| REQUIRED.contains(&name);
        match tape.read(&text) {
            Ok(_) => {
                let root = tape.root(&text);
                root.get("eventId").is_some_and(|id| id.is_string())
                    && root.members().filter(|(name, _)| known(name)).count() >= 3
            }
            // The first line may be longer than the head.
            Err(_) => {
                // A writer that sorts its names puts the payload before the trace and the type.
                let named = |name: &&&str| text.contains(&format!("\"{name}\""));
                text.trim_start().starts_with('{')
                    && text.contains("\"eventId\"")
                    && REQUIRED.iter().filter(named).count() >= 2
            }
        }
    })
}

const REQUIRED: [&str; 5] = ["eventId", "traceId", "type", "timestamp", "payload"];

/// A line beyond this is not held whole.
const LONG: usize = 8 << 20;

/// Reads one file of a canonical log.
pub struct CanonicalReader {
    lines: Lines,
    shared: Shared,
}

#[derive(Default)]
struct Shared {
    file: u32,
    tape: Tape,
    names: Names,
    blobs: Blobs,
    sequence: Sequence,
}

/// What is needed to judge the fields of one event.
struct Ground<'g> {
    file: u32,
    line: u64,
    event_id: chipdeck_event::Id,
    origin: Lie<'g>,
    names: &'g mut Names,
    blobs: &'g mut Blobs,
    source: &'g dyn Source,
    findings: &'g mut Vec<Finding>,
}

/// Where the values on the tape lie: turns them into references.
#[derive(Clone, Copy)]
struct Lie<'g> {
    file: u32,
    /// First byte of the line in the file.
    line: u64,
    /// First byte of the text on the tape in what was kept of the line.
    start: usize,
    gaps: &'g [Gap],
}

/// The `line` of values that were computed: they have no place.
const NOWHERE: u64 = u64::MAX;

impl Lie<'_> {
    fn span(self, value: Val<'_>) -> Option<Span> {
        if self.line == NOWHERE {
            return None;
        }
        let from = stretch(self.gaps, self.start + value.start());
        let to = stretch(self.gaps, self.start + value.start() + value.raw().len());
        let len = u32::try_from(to - from).ok()?;
        Some(Span {
            file: self.file,
            offset: self.line + from,
            len,
        })
    }

    fn text(self, value: Val<'_>) -> Text {
        match (value.raw().len() > SHORT, self.span(value)) {
            (true, Some(span)) => Text::Span(span),
            // More than a reference can tell: nothing is known of it.
            (true, None) if self.line != NOWHERE => Text::Missing,
            _ => Text::inline(value.str().unwrap_or_default()),
        }
    }

    fn json(self, value: Val<'_>) -> Json {
        match (value.raw().len() > SHORT, self.span(value)) {
            (true, Some(span)) => Json::Span(span),
            (true, None) if self.line != NOWHERE => Json::Absent,
            _ => Json::Inline(value.raw().into()),
        }
    }
}

/// Texts up to this many bytes are held in memory: as small as the reference.
const SHORT: usize = 24;

impl CanonicalReader {
    pub fn new(file: u32) -> CanonicalReader {
        CanonicalReader {
            lines: Lines::skimming(LONG),
            shared: Shared {
                file,
                ..Shared::default()
            },
        }
    }
}

impl Reader for CanonicalReader {
    fn push(&mut self, chunk: &[u8], source: &dyn Source, out: &mut Batch) {
        let shared = &mut self.shared;
        self.lines
            .push(chunk, |line| shared.line(line, source, out));
    }

    fn settle(&mut self, at_rest: bool, source: &dyn Source, out: &mut Batch) {
        let tail = self.lines.tail();
        if is_blank(tail.bytes) {
            return;
        }
        let taken = match self.shared.whole(tail) {
            // A number may still grow; an object cannot.
            Ok(Whole { object, .. }) if object || at_rest => {
                self.shared.line(tail, source, out);
                true
            }
            Err(fault) if at_rest => {
                let message = format!("the last line is torn: {fault}");
                self.shared.opaque(tail, Code::TornLine, message, out);
                true
            }
            _ => false,
        };
        if taken {
            self.lines.take_tail();
        }
    }

    fn offset(&self) -> u64 {
        self.lines.offset()
    }
}

/// The line as text, or the byte where it is none.
fn utf8(line: &[u8]) -> Result<&str, usize> {
    simdutf8::basic::from_utf8(line)
        .map_err(|_| std::str::from_utf8(line).map_or_else(|fault| fault.valid_up_to(), |_| 0))
}

fn is_blank(line: &[u8]) -> bool {
    blanks(line, 0) == line.len()
}

/// A line that is JSON: where its values end, and whether all of them are objects.
struct Whole<'a> {
    text: &'a str,
    first: usize,
    /// Of the glued ones behind the first.
    more: Vec<usize>,
    object: bool,
}

impl Shared {
    /// The values of a line; the tape holds the last of them afterwards.
    fn whole<'a>(&mut self, line: Line<'a>) -> Result<Whole<'a>, String> {
        if let Some(fault) = line.fault {
            return Err(fault.to_owned());
        }
        let line = line.bytes;
        let text = utf8(line).map_err(|at| format!("no UTF-8 at byte {at} of the line"))?;
        let mut whole = Whole {
            text,
            first: 0,
            more: Vec::new(),
            object: true,
        };
        let mut at = 0;
        while blanks(line, at) < line.len() {
            let rest = text.get(at..).unwrap_or_default();
            at += self.tape.read(rest).map_err(Fault::describe)?;
            let object = self.tape.root(rest).is_object();
            if whole.first == 0 {
                whole.first = at;
            } else if object && whole.object {
                whole.more.push(at);
            } else {
                return Err(format!("not JSON from byte {at} of the line on"));
            }
            whole.object &= object;
        }
        Ok(whole)
    }

    fn line(&mut self, line: Line<'_>, source: &dyn Source, out: &mut Batch) {
        if is_blank(line.bytes) {
            return;
        }
        let whole = match self.whole(line) {
            Ok(whole) => whole,
            Err(fault) => return self.opaque(line, Code::NotJson, fault, out),
        };
        let several = !whole.more.is_empty();
        let mut start = 0;
        for (nth, end) in std::iter::once(whole.first).chain(whole.more).enumerate() {
            let part = whole.text.get(start..end).unwrap_or_default();
            // A single value is on the tape already.
            if several && self.tape.read(part).is_err() {
                continue;
            }
            let lead = blanks(part.as_bytes(), 0);
            let from = stretch(line.gaps, start + lead);
            let place = Place {
                file: self.file,
                line: line.number,
                offset: line.offset + from,
                len: stretch(line.gaps, end) - from,
            };
            let ground = Lie {
                file: self.file,
                line: line.offset,
                start,
                gaps: line.gaps,
            };
            let tape = std::mem::take(&mut self.tape);
            self.value(tape.root(part), place, ground, source, out);
            self.tape = tape;
            if line.continued && nth == 0 || !line.continued && nth == 1 {
                let mut finding = Finding::new(
                    Code::GluedLine,
                    self.file,
                    line.number,
                    "several objects stand on one line without a line break between",
                );
                finding.event_id = out
                    .entries
                    .last()
                    .and_then(|l| l.entry.event())
                    .map(|e| e.envelope.event_id.to_string());
                out.findings.push(finding);
            }
            start = end;
        }
        self.tape.trim();
    }

    fn value(
        &mut self,
        root: Val<'_>,
        place: Place,
        lie: Lie<'_>,
        source: &dyn Source,
        out: &mut Batch,
    ) {
        let fault = if root.is_object() {
            match self.event(root, place, lie, source, out) {
                Ok(event) => {
                    out.entries.push(Located {
                        place,
                        entry: Entry::Event(Box::new(event)),
                    });
                    return;
                }
                Err(message) => (Code::MissingField, message),
            }
        } else {
            (
                Code::NotAnObject,
                "the line is JSON but no object".to_owned(),
            )
        };
        push_opaque(place, fault.0, fault.1, out);
    }

    fn event(
        &mut self,
        root: Val<'_>,
        place: Place,
        lie: Lie<'_>,
        source: &dyn Source,
        out: &mut Batch,
    ) -> Result<Event, String> {
        let mut found = Members::default();
        for (name, value) in root.members() {
            found.take(&name, value);
        }
        let event_id = required(found.event_id, "eventId", "string", |v| v.str())?;
        let trace_id = required(found.trace_id, "traceId", "string", |v| v.str())?;
        let type_name = required(found.type_name, "type", "string", |v| v.str())?;
        let timestamp = required(found.timestamp, "timestamp", "integer", integer)?;
        let payload = required(found.payload, "payload", "object", |v| {
            v.is_object().then_some(v)
        })?;

        let mut ground = Ground {
            file: self.file,
            line: place.line,
            event_id: event_id.as_ref().into(),
            origin: lie,
            names: &mut self.names,
            blobs: &mut self.blobs,
            source,
            findings: &mut out.findings,
        };
        let mut optional = |value: Option<Val<'_>>, name: &str, kind: &str, sound: bool| {
            if value.is_some() && !sound {
                ground.find(Code::BadField, format!("`{name}` is no {kind}: ignored"));
            }
        };
        let parent = found.parent.and_then(|v| v.str());
        optional(found.parent, "parentEventId", "string", parent.is_some());
        let correlation = found.correlation.and_then(|v| v.str());
        optional(
            found.correlation,
            "correlationId",
            "string",
            correlation.is_some(),
        );
        let seq = found.seq.and_then(|v| v.raw().parse::<u64>().ok());
        optional(found.seq, "seq", "integer from 0 on", seq.is_some());
        let session = found.session.and_then(|v| match v.str()?.as_ref() {
            "dialog" => Some(Session::Dialog),
            "exec" => Some(Session::Exec),
            _ => None,
        });
        optional(
            found.session,
            "session",
            "`dialog` or `exec`",
            session.is_some(),
        );
        let version = found.version.and_then(integer).filter(|&v| v >= 1);
        optional(
            found.version,
            "version",
            "integer from 1 on",
            version.is_some(),
        );
        let version = u32::try_from(version.unwrap_or(1)).unwrap_or(u32::MAX);

        let odd = self.sequence.next(seq, timestamp);
        if let Some(message) = odd.seq {
            ground.find(Code::SeqRegress, message);
        }
        if let Some(message) = odd.clock {
            ground.find(Code::ClockRegress, message);
        }

        let known = payload::known_version(&type_name);
        let payload = match known {
            None => {
                let shown: String = type_name.chars().take(60).collect();
                ground.find(
                    Code::UnknownType,
                    format!("the catalogue does not know the type `{shown}`"),
                );
                Payload::Unknown
            }
            Some(known) if version > known => {
                ground.find(
                    Code::UnknownVersion,
                    format!("version {version} of `{type_name}` is newer than {known}"),
                );
                Payload::Unknown
            }
            Some(known) if version < known => {
                upcast::read(&type_name, version, payload, &mut ground)
            }
            Some(_) => payload::read(&type_name, payload, &mut ground),
        };
        let dialog = type_name.starts_with("message.")
            || type_name.starts_with("session.")
            || type_name == "context.compact";
        let envelope = Envelope {
            event_id: ground.names.get(&event_id),
            shown_id: None,
            trace_id: ground.names.get(&trace_id),
            parent: parent.map(|name| ground.names.get(&name)),
            correlation: correlation.map(|name| ground.names.get(&name)),
            seq,
            session: session.unwrap_or(if dialog {
                Session::Dialog
            } else {
                Session::Exec
            }),
            type_name: ground.names.get(&type_name),
            timestamp: Some(timestamp),
            version,
        };
        Ok(Event { envelope, payload })
    }

    fn opaque(&mut self, line: Line<'_>, code: Code, message: String, out: &mut Batch) {
        let lead = blanks(line.bytes, 0);
        let bytes = line.bytes.get(lead..).unwrap_or_default();
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let place = Place {
            file: self.file,
            line: line.number,
            offset: line.offset + lead as u64,
            len: stretch(line.gaps, lead + bytes.len()) - lead as u64,
        };
        push_opaque(place, code, message, out);
    }
}

fn push_opaque(place: Place, code: Code, message: String, out: &mut Batch) {
    out.findings
        .push(Finding::new(code, place.file, place.line, message.clone()));
    let opaque = Opaque {
        code,
        message,
        timestamp: None,
    };
    out.entries.push(Located {
        place,
        entry: Entry::Opaque(Box::new(opaque)),
    });
}

fn required<'a, T>(
    value: Option<Val<'a>>,
    name: &str,
    kind: &str,
    read: impl Fn(Val<'a>) -> Option<T>,
) -> Result<T, String> {
    match value {
        None => Err(format!("`{name}` is missing")),
        Some(value) => read(value).ok_or_else(|| format!("`{name}` is no {kind}")),
    }
}

/// The members that the envelope knows; of equal keys the last.
#[derive(Default)]
struct Members<'a> {
    event_id: Option<Val<'a>>,
    trace_id: Option<Val<'a>>,
    parent: Option<Val<'a>>,
    correlation: Option<Val<'a>>,
    seq: Option<Val<'a>>,
    session: Option<Val<'a>>,
    type_name: Option<Val<'a>>,
    timestamp: Option<Val<'a>>,
    payload: Option<Val<'a>>,
    version: Option<Val<'a>>,
}

impl<'a> Members<'a> {
    fn take(&mut self, name: &str, value: Val<'a>) {
        let place = match name {
            "eventId" => &mut self.event_id,
            "traceId" => &mut self.trace_id,
            "parentEventId" => &mut self.parent,
            "correlationId" => &mut self.correlation,
            "seq" => &mut self.seq,
            "session" => &mut self.session,
            "type" => &mut self.type_name,
            "timestamp" => &mut self.timestamp,
            "payload" => &mut self.payload,
            "version" => &mut self.version,
            _ => return,
        };
        *place = Some(value);
    }
}

#[cfg(test)]
mod tests;
