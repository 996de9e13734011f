//! What happened. An [`Event`] is an [`Envelope`] around a [`Payload`]; an [`Entry`] is one place on a
//! timeline, an event or an [`Opaque`] line; a [`Finding`] is bad input as data.
//!
//! Left out on purpose: JSON, clocks and disks. Readers (`chipdeck-ingest`) make these values, the fold
//! (`chipdeck-replay`) consumes them.

mod finding;
mod payload;
pub mod schema;
mod text;

pub use finding::{Code, Finding, Severity};
pub use payload::*;
pub use text::{Json, Span, Text};

use std::sync::Arc;

/// An interned identifier or name; clones share.
pub type Id = Arc<str>;

/// Which of the two sessions owns an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Session {
    Dialog,
    Exec,
}

/// Ids, order and time around a payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// Unique over the log set; the key for dedup. Derived (stable across runs) where an agent gave none.
    pub event_id: Id,
    /// What a command prints as `eventId` when it differs from `event_id`: in agents' logs several events
    /// (before-image, change, result) come from one tool call and all show that call's id.
    pub shown_id: Option<Id>,
    pub trace_id: Id,
    pub parent: Option<Id>,
    pub correlation: Option<Id>,
    pub seq: Option<u64>,
    pub session: Session,
    /// The type as the log writes it, `noun.verb`.
    pub type_name: Id,
    /// Unix milliseconds. `None` only in agents' logs whose record has no time.
    pub timestamp: Option<i64>,
    /// Version of the payload's shape, 1 where absent.
    pub version: u32,
}

impl Envelope {
    /// The id that people see.
    pub fn shown(&self) -> &Id {
        self.shown_id.as_ref().unwrap_or(&self.event_id)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub envelope: Envelope,
    pub payload: Payload,
}

/// A line that is no event: it keeps its place, the lines around it still replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Opaque {
    /// Why: `NotJson`, `NotAnObject`, `MissingField`, `TornLine` or `ForeignLog`.
    pub code: Code,
    /// For people: what is wrong, or for a foreign line a short summary of it.
    pub message: String,
    /// Unix milliseconds, where a foreign record seems to have a time.
    pub timestamp: Option<i64>,
}

/// One place on the timeline.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    Event(Box<Event>),
    Opaque(Box<Opaque>),
}

impl Entry {
    pub fn event(&self) -> Option<&Event> {
        match self {
            Entry::Event(event) => Some(event),
            Entry::Opaque(_) => None,
        }
    }
}

/// Where an entry's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index into the log set's list of files.
    pub file: u32,
    /// Physical line, from 1; in a file that is one JSON document the line where the object begins.
    pub line: u64,
    /// Byte range of the record in the file.
    pub offset: u64,
    pub len: u64,
}

/// An entry with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    pub place: Place,
    pub entry: Entry,
}
