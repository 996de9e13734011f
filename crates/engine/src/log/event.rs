//! Everything about one entry: its record (long strings cut), what belongs to it, what it changed.

use super::look::Look;
use super::rows::status_of;
use super::text::cut;
use crate::api::{DialogueRow, EventChange, EventView, LongText, TextSlice};
use crate::diff;
use chipdeck_event::{Entry, Event, Payload, Role};
use chipdeck_ingest::load_record;
use chipdeck_replay::{EventRef, Said};
use serde_json::Value;

/// Strings of a record that are longer are cut (bytes).
const LONG: usize = 2_000;
/// Records that are longer are not parsed for the page.
const MOST_RECORD: u64 = 64 << 20;
/// An opaque line's text.
const RAW: usize = 64 << 10;
/// A text slice.
const SLICE: u64 = 256 << 10;
/// Larger contents get no diff in the inspector.
const SHORT: u64 = 256 << 10;
/// Entries that are looked back for what was said before.
const BACK: u32 = 5_000;
/// Items of a list or an object that the page gets.
const MOST_ITEMS: usize = 2_000;

impl Look<'_> {
    pub fn event(&self, index: u64) -> Option<EventView> {
        let index = u32::try_from(index).ok()?;
        let located = self.timeline.entry(index)?;
        let row = self.row(index)?;
        let event = located.entry.event();
        let envelope = event.map(|it| &it.envelope);
        let record =
            (located.place.len <= MOST_RECORD).then(|| load_record(located.place, self.source));
        let mut parsed = match (&located.entry, &record) {
            (Entry::Event(_), Some(bytes)) => parse(bytes),
            // A foreign line is often JSON nevertheless.
            (Entry::Opaque(_), Some(bytes)) => parse(bytes),
            (_, None) => None,
        };
        let mut long = Vec::new();
        if let Some(value) = &mut parsed {
            shorten(value, String::new(), &mut long);
        }
        let raw = match (&parsed, record) {
            (None, Some(bytes)) => Some(raw_text(&bytes)),
            (None, None) => {
                let bytes = self
                    .source
                    .read_at(located.place.file, located.place.offset, RAW)
                    .unwrap_or_default();
                Some(raw_text(&bytes))
            }
            (Some(_), _) => None,
        };
        let counterpart = self
            .timeline
            .counterpart(index)
            .or_else(|| self.call_of(index));
        Some(EventView {
            seq: envelope.and_then(|it| it.seq),
            version: envelope.map(|it| it.version),
            correlation_id: envelope
                .and_then(|it| it.correlation.as_ref())
                .map(|it| it.to_string()),
            parent: envelope
                .and_then(|it| it.parent.as_ref())
                .and_then(|id| self.timeline.index_of_event(id))
                .and_then(|parent| self.row(parent)),
            counterpart: counterpart.and_then(|index| self.row(index)),
            status: self.event_status(index, event),
            duration_ms: self.event_duration(index, event),
            tool_name: self.tool_name(index).map(str::to_owned),
            trace_events: envelope
                .filter(|it| !it.trace_id.is_empty())
                .map_or(0, |own| {
                    u64::from(self.timeline.trace_events(&own.trace_id))
                }),
            correlation_events: envelope
                .and_then(|it| it.correlation.as_ref())
                .map_or(0, |own| u64::from(self.timeline.correlation_events(own))),
            record: parsed,
            long,
            raw,
            bytes: located.place.len,
            said_before: self.said_before(index),
            findings: self
                .findings
                .at(index)
                .map(|found| self.finding_row(found))
                .collect(),
            changes: self.changes(index),
            row,
        })
    }

    /// The status that it states; of a call, that of its result.
    pub fn event_status(&self, index: u32, event: Option<&Event>) -> Option<String> {
        let payload = &event?.payload;
        let result = |index| self.timeline.entry(index).and_then(|it| it.entry.event());
        let status = match payload {
            Payload::ToolCall { .. } => match self.timeline.counterpart(index).and_then(result) {
                Some(result) => status_of(&result.payload)?.as_str(),
                None => "interrupted",
            },
            payload => status_of(payload)?.as_str(),
        };
        Some(status.to_owned())
    }

    fn event_duration(&self, index: u32, event: Option<&Event>) -> Option<i64> {
        match &event?.payload {
            Payload::ToolResult { duration_ms, .. } => *duration_ms,
            Payload::ToolCall { .. } => {
                let result = self
                    .timeline
                    .entry(self.timeline.counterpart(index)?)?
                    .entry
                    .event()?;
                match &result.payload {
                    Payload::ToolResult { duration_ms, .. } => *duration_ms,
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The last words of each role before an entry, newest last.
    fn said_before(&self, index: u32) -> Vec<DialogueRow> {
        let mut found: Vec<DialogueRow> = Vec::new();
        for before in (index.saturating_sub(BACK).max(1)..index).rev() {
            let Some(event) = self.timeline.entry(before).and_then(|it| it.entry.event()) else {
                continue;
            };
            let Payload::Message { role, content } = &event.payload else {
                continue;
            };
            let role = role_name(*role);
            if found.iter().any(|row| row.role == role) {
                continue;
            }
            let said = Said {
                event: EventRef::Entry(before),
                event_id: &event.envelope.event_id,
                role,
                content: Some(content),
                call: None,
                status: None,
            };
            let mut row = self.dialogue_row(&said, true);
            if let Some(content) = &mut row.content {
                row.clipped |= content.len() > LONG;
                *content = cut(content, LONG).to_owned();
            }
            found.push(row);
            if found.len() == 3 {
                break;
            }
        }
        found.reverse();
        found
    }

    fn changes(&self, index: u32) -> Vec<EventChange> {
        let payload = self
            .timeline
            .entry(index)
            .and_then(|it| it.entry.event())
            .map(|event| &event.payload);
        let paths: Vec<&str> = match payload {
            Some(Payload::FileRename { from, to }) => vec![from, to],
            _ => self
                .timeline
                .touches(index)
                .map(|it| it.as_ref())
                .into_iter()
                .collect(),
        };
        let mut changes = Vec::new();
        for path in paths {
            let (mut old_text, mut new_text) = (None, None);
            let old = self.side(path, index - 1, &mut old_text);
            let new = self.side(path, index, &mut new_text);
            let bytes = |side: &diff::Side| match side.content {
                diff::Content::Bytes(bytes) => bytes.len() as u64,
                _ => 0,
            };
            let short = bytes(&old).max(bytes(&new)) <= SHORT;
            if old.content == new.content && old.certainty == new.certainty {
                continue;
            }
            let view = short.then(|| {
                self.diff(
                    path,
                    u64::from(index),
                    &crate::api::Against::Position {
                        at: u64::from(index - 1),
                    },
                    3,
                )
            });
            let (added, removed) = match (&view, old.content, new.content) {
                (Some(view), _, _) => (view.added, view.removed),
                (None, diff::Content::Bytes(old), diff::Content::Bytes(new)) => {
                    diff::count(old, new)
                }
                _ => (0, 0),
            };
            changes.push(EventChange {
                path: path.to_owned(),
                added,
                removed,
                diff: view,
            });
        }
        changes
    }

    /// A slice of a string of an entry's record; of an opaque line with the empty pointer.
    ///
    /// # Errors
    /// There is no such entry or string: one sentence.
    pub fn event_text(
        &self,
        index: u64,
        pointer: &str,
        offset: u64,
        limit: u64,
    ) -> Result<TextSlice, String> {
        let located = u32::try_from(index)
            .ok()
            .and_then(|index| self.timeline.entry(index))
            .ok_or_else(|| format!("there is no entry {index}"))?;
        let bytes = load_record(located.place, self.source);
        let text = match serde_json::from_slice::<Value>(&bytes) {
            Ok(value) => match value.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                Some(other) => serde_json::to_string_pretty(other).unwrap_or_default(),
                None => {
                    return Err(format!(
                        "the record of entry {index} has nothing at `{pointer}`"
                    ))
                }
            },
            Err(_) if pointer.is_empty() => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => return Err(format!("entry {index} is no JSON")),
        };
        let start = text.floor_char_boundary(usize::try_from(offset).unwrap_or(usize::MAX));
        let rest = text.get(start..).unwrap_or_default();
        let slice = cut(rest, limit.clamp(4, SLICE) as usize);
        let next = start + slice.len();
        Ok(TextSlice {
            text: slice.to_owned(),
            offset: start as u64,
            next_offset: (next < text.len()).then_some(next as u64),
            bytes: text.len() as u64,
        })
    }
}

pub fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
    }
}

fn parse(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Value>(bytes)
        .ok()
        .filter(|value| value.is_object() || value.is_array())
}

fn raw_text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(RAW)).unwrap_or_default());
    cut(&text, RAW).to_owned()
}

/// Cuts long strings and long lists, and says where strings were cut.
fn shorten(value: &mut Value, pointer: String, long: &mut Vec<LongText>) {
    match value {
        Value::String(text) if text.len() > LONG => {
            let bytes = text.len() as u64;
            *text = cut(text, LONG).to_owned();
            long.push(LongText { pointer, bytes });
        }
        Value::Array(items) => {
            items.truncate(MOST_ITEMS);
            for (at, item) in items.iter_mut().enumerate() {
                shorten(item, format!("{pointer}/{at}"), long);
            }
        }
        Value::Object(object) => {
            for (key, item) in object.iter_mut().take(MOST_ITEMS) {
                let key = key.replace('~', "~0").replace('/', "~1");
                shorten(item, format!("{pointer}/{key}"), long);
            }
        }
        _ => {}
    }
}
