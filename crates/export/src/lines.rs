//! A part as the lines of a canonical log: the state before it, then its entries in order. A canonical log's own
//! lines stay byte for byte (strings that lay in blobs come back into them); an agent's log is converted.

use crate::part::{paths, Chosen};
use crate::walk::{hex, inline_blobs};
use crate::{convert, Error, Log, Part};
use chipdeck_event::{Entry, Event, Located};
use chipdeck_ingest::load_record;
use serde_json::{json, Map, Value};
use sha2::{Digest, Sha256};

/// One line, without its end.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub json: String,
    /// Bytes that are no text, as they are.
    pub raw: Option<Vec<u8>>,
    /// The entry, from 1; `None`: the state that is told before.
    pub index: Option<u32>,
    /// The log's file and physical line; empty and 0 for a state.
    pub file: String,
    pub line: u64,
    pub event_id: String,
    /// No event: kept as it was written.
    pub opaque: bool,
}

pub(crate) struct Lines<'a> {
    pub log: Log<'a>,
    chosen: Vec<Chosen>,
    audit: bool,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(log: Log<'a>, part: &Part) -> Result<Lines<'a>, Error> {
        let chosen = part.choose(log.timeline);
        match chosen.is_empty() && part.scope != crate::Scope::All {
            true => Err(Error::Empty),
            false => Ok(Lines {
                log,
                chosen,
                audit: part.scope == crate::Scope::Exec,
            }),
        }
    }

    /// The execution session alone.
    pub(crate) fn audit(&self) -> bool {
        self.audit
    }

    /// Entries of the part that are events.
    pub(crate) fn events(&self) -> u64 {
        let entries = self.indices();
        entries.filter(|index| self.event(*index).is_some()).count() as u64
    }

    pub(crate) fn indices(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        self.chosen.iter().map(|it| it.index)
    }

    pub(crate) fn event(&self, index: u32) -> Option<&'a Event> {
        self.log.timeline.entry(index)?.entry.event()
    }

    /// Gives every line in order.
    pub(crate) fn each(
        &self,
        each: &mut dyn FnMut(Line) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for chosen in &self.chosen {
            if chosen.snapshot {
                each(self.state_before(chosen.index))?;
            }
            for line in self.lines_of(chosen.index)? {
                each(line)?;
            }
        }
        Ok(())
    }

    pub(crate) fn lines_of(&self, index: u32) -> Result<Vec<Line>, Error> {
        let located = self.log.timeline.entry(index).ok_or(Error::Gone(index))?;
        if !self.log.timeline.options().canonical {
            return Ok(convert::lines(&self.log, index, located));
        }
        let raw = load_record(located.place, self.log.source);
        if raw.len() as u64 != located.place.len {
            return Err(Error::Gone(index));
        }
        let mut line = place(&self.log, index, located);
        let text = String::from_utf8_lossy(&raw);
        line.json = match &located.entry {
            Entry::Event(_) => inline_blobs(&text, self.log.source),
            Entry::Opaque(_) => text.replace(['\n', '\r'], " "),
        };
        if line.opaque && std::str::from_utf8(&raw).is_err() {
            line.raw = Some(raw);
        }
        Ok(vec![line])
    }

    /// The `state.snapshot` that stands before entry `index`.
    fn state_before(&self, index: u32) -> Line {
        let Log {
            timeline, source, ..
        } = self.log;
        let state = timeline.state_at(index - 1);
        let payload = timeline.snapshot_payload(&state, source);
        let next = (index..=timeline.len()).find_map(|at| self.event(at));
        let previous = timeline
            .entry(index - 1)
            .and_then(|located| located.entry.event())
            .map_or("start", |event| event.envelope.shown());
        let mark = Sha256::digest(format!("{previous}\n{}", index - 1));
        let event_id = format!("state-{}", hex(mark.get(..8).unwrap_or_default()));
        let mut event = Map::new();
        event.insert("eventId".to_owned(), event_id.as_str().into());
        let trace = next.map_or("state", |event| &event.envelope.trace_id);
        event.insert("traceId".to_owned(), trace.into());
        // A set whose events all have `seq` stays in that order.
        if let Some(seq) = next.and_then(|event| event.envelope.seq) {
            event.insert("seq".to_owned(), seq.saturating_sub(1).into());
        }
        event.insert("type".to_owned(), "state.snapshot".into());
        let time = timeline.clock(index - 1).or_else(|| {
            let next = next?;
            next.envelope.timestamp
        });
        event.insert("timestamp".to_owned(), time.unwrap_or(0).into());
        event.insert(
            "payload".to_owned(),
            serde_json::from_str(&payload).unwrap_or(json!({"state": {}, "contents": {}})),
        );
        Line {
            json: Value::Object(event).to_string(),
            raw: None,
            index: None,
            file: String::new(),
            line: 0,
            event_id,
            opaque: false,
        }
    }

    /// Every content that files have in the part, and before it where that is told.
    pub(crate) fn each_content(&self, each: &mut dyn FnMut(&str)) {
        let Log {
            timeline, source, ..
        } = self.log;
        let mut give = |content| {
            if let Some(text) = timeline.content(content, source) {
                each(&text);
            }
        };
        for chosen in &self.chosen {
            if chosen.snapshot {
                let state = timeline.state_at(chosen.index - 1);
                let files = timeline.files(&state).into_iter();
                files
                    .filter_map(|(_, file)| file.content)
                    .for_each(&mut give);
            }
            let Some(event) = self.event(chosen.index) else {
                continue;
            };
            for path in paths(event) {
                let versions = timeline.versions(path);
                let at = versions.partition_point(|it| it.index < chosen.index);
                let version = versions.get(at).filter(|it| it.index == chosen.index);
                version
                    .and_then(|it| it.content)
                    .into_iter()
                    .for_each(&mut give);
            }
        }
    }
}

/// A line with its place and no text yet.
pub(crate) fn place(log: &Log<'_>, index: u32, located: &Located) -> Line {
    let event = located.entry.event();
    Line {
        json: String::new(),
        raw: None,
        index: Some(index),
        file: log.source.name(located.place.file).to_string(),
        line: located.place.line,
        event_id: event.map_or_else(String::new, |it| it.envelope.event_id.to_string()),
        opaque: event.is_none(),
    }
}
