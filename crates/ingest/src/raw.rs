//! Any other JSON Lines: each line is an opaque entry, and one finding guesses what the file is.
//!
//! Nothing is made of the records but a time and a few words for people.

use crate::lines::{Line, Lines};
use crate::reader::{Batch, Reader};
use crate::source::Source;
use crate::tape::{blanks, Kind, Tape, Val};
use chipdeck_event::{Code, Entry, Finding, Located, Opaque, Place};

/// Reads one file of unknown records.
pub struct RawReader {
    lines: Lines,
    shared: Shared,
}

#[derive(Default)]
struct Shared {
    file: u32,
    tape: Tape,
    said: bool,
}

impl RawReader {
    pub fn new(file: u32) -> RawReader {
        RawReader {
            lines: Lines::default(),
            shared: Shared {
                file,
                ..Shared::default()
            },
        }
    }
}

impl Reader for RawReader {
    fn push(&mut self, chunk: &[u8], _source: &dyn Source, out: &mut Batch) {
        let shared = &mut self.shared;
        self.lines.push(chunk, |line| shared.line(line, out));
    }

    fn settle(&mut self, at_rest: bool, _source: &dyn Source, out: &mut Batch) {
        let tail = self.lines.tail();
        let text = std::str::from_utf8(tail.bytes).ok();
        let whole = text.is_some_and(|text| {
            self.shared
                .tape
                .read(text)
                .is_ok_and(|end| blanks(text.as_bytes(), end) == text.len())
                && self.shared.tape.root(text).is_object()
        });
        if whole || at_rest && !tail.bytes.trim_ascii().is_empty() {
            self.shared.line(tail, out);
            self.lines.take_tail();
        }
    }

    fn offset(&self) -> u64 {
        self.lines.offset()
    }
}

impl Shared {
    fn line(&mut self, line: Line<'_>, out: &mut Batch) {
        let bytes = line.bytes.trim_ascii();
        if bytes.is_empty() {
            return;
        }
        let lead = line.bytes.len() - line.bytes.trim_ascii_start().len();
        let place = Place {
            file: self.file,
            line: line.number,
            offset: line.offset + lead as u64,
            len: bytes.len() as u64,
        };
        let text = std::str::from_utf8(bytes).ok();
        let root = text.and_then(|text| {
            self.tape.read(text).ok()?;
            Some(self.tape.root(text))
        });
        let opaque = match root {
            Some(root) => Opaque {
                code: Code::ForeignLog,
                message: summary(root),
                timestamp: time(root),
            },
            None => Opaque {
                code: Code::NotJson,
                message: cut(&String::from_utf8_lossy(bytes.get(..400).unwrap_or(bytes))),
                timestamp: None,
            },
        };
        if !self.said {
            self.said = true;
            let what = root.map_or("lines of text", guess);
            out.findings.push(Finding::new(
                Code::ForeignLog,
                self.file,
                line.number,
                format!(
                    "not an event log of ours: it looks like {what}; each line is shown as it is"
                ),
            ));
        }
        out.entries.push(Located {
            place,
            entry: Entry::Opaque(Box::new(opaque)),
        });
        self.tape.trim();
    }
}

/// What a file whose first record has these members may be.
fn guess(root: Val<'_>) -> &'static str {
    let has = |names: &[&str]| names.iter().all(|name| root.get(name).is_some());
    if !root.is_object() {
        "JSON values, one a line"
    } else if has(&["sessionId", "uuid"]) || has(&["parentUuid"]) {
        "a Claude Code transcript"
    } else if has(&["timestamp", "type", "payload"]) || has(&["record_type"]) {
        "a Codex rollout"
    } else if has(&["resourceSpans"]) || has(&["traceId", "spanId"]) {
        "OpenTelemetry spans"
    } else if has(&["messages"]) || has(&["role", "content"]) {
        "chat messages"
    } else if has(&["level", "msg"]) || has(&["level", "message"]) {
        "a program's structured log"
    } else {
        "JSON records of an unknown program"
    }
}

/// The members that say most, as `key: value`, short.
fn summary(root: Val<'_>) -> String {
    const TELLING: [&str; 10] = [
        "type", "event", "kind", "role", "name", "level", "message", "msg", "text", "content",
    ];
    let mut out = String::new();
    for name in TELLING {
        let Some(value) = root.get(name) else {
            continue;
        };
        let shown = match value.kind() {
            Kind::String => value.str().unwrap_or_default(),
            Kind::Number => value.raw().into(),
            _ => continue,
        };
        if !out.is_empty() {
            out.push_str(" · ");
        }
        out.push_str(&cut(&shown));
        if out.len() > 160 {
            break;
        }
    }
    if out.is_empty() {
        out = cut(root.raw());
    }
    cut(&out)
}

/// One line of at most 160 characters.
fn cut(text: &str) -> String {
    let mut out: String = text
        .chars()
        .take(160)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(160).is_some() {
        out.push('…');
    }
    out
}

/// The time of a record, in Unix milliseconds, from the members that usually have it.
fn time(root: Val<'_>) -> Option<i64> {
    const NAMES: [&str; 9] = [
        "timestamp",
        "time",
        "ts",
        "@timestamp",
        "created_at",
        "createdAt",
        "date",
        "datetime",
        "startTime",
    ];
    NAMES.iter().find_map(|name| {
        let value = root.get(name)?;
        match value.kind() {
            Kind::Number => number_time(value.float()?),
            Kind::String => {
                let text = value.str()?;
                crate::time::iso_millis(&text).or_else(|| number_time(text.parse().ok()?))
            }
            _ => None,
        }
    })
}

/// Seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by size (years 2000 to 2100).
fn number_time(value: f64) -> Option<i64> {
    const FIRST: f64 = 946_684_800.0;
    const LAST: f64 = 4_102_444_800.0;
    [1e3, 1.0, 1e-3, 1e-6].into_iter().find_map(|scale| {
        let seconds = value * scale / 1e3;
        (FIRST..LAST)
            .contains(&seconds)
            .then_some((value * scale) as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemorySource;

    fn read(bytes: &[u8]) -> Batch {
        let mut out = Batch::default();
        let source = MemorySource::new();
        let mut reader = RawReader::new(0);
        reader.push(bytes, &source, &mut out);
        reader.settle(true, &source, &mut out);
        out
    }

    #[test]
    fn each_line_is_an_entry_and_one_finding_guesses() {
        let out = read(b"{\"level\":\"info\",\"msg\":\"started\",\"ts\":1764500000.5}\n\nplain\n{\"level\":\"warn\",\"time\":\"2025-11-30T10:53:20.250Z\",\"msg\":\"torn");
        assert_eq!(out.entries.len(), 3);
        assert_eq!(out.findings.len(), 1);
        assert_eq!(out.findings[0].code, Code::ForeignLog);
        assert!(out.findings[0].message.contains("structured log"));
        let Entry::Opaque(first) = &out.entries[0].entry else {
            panic!()
        };
        assert_eq!(first.timestamp, Some(1_764_500_000_500));
        assert_eq!(first.message, "info · started");
        assert_eq!(out.entries[1].place.line, 3);
    }

    #[test]
    fn times_are_guessed_by_size() {
        assert_eq!(number_time(1_764_500_000.0), Some(1_764_500_000_000));
        assert_eq!(number_time(1_764_500_000_123.0), Some(1_764_500_000_123));
        assert_eq!(
            number_time(1_764_500_000_123_456.0),
            Some(1_764_500_000_123)
        );
        assert_eq!(number_time(12.0), None);
    }
}
