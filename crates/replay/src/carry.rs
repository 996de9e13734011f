//! `state.snapshot`: a whole state, carried over from an earlier log, replaces what was folded.
//!
//! A state that is not of its shape folds as nothing; a part that it lacks is empty.

use crate::book::{Call, CarriedRow, Op};
use crate::contents::{measure, Measure};
use crate::effect::{put, Effect};
use crate::files::hex;
use crate::fold::Fold;
use crate::state::*;
use chipdeck_event::{Code, Id, Json, Status, Text, Zone};
use chipdeck_ingest::{load_json, load_text};
use hashbrown::HashMap;
use serde_json::Value;

impl Fold<'_> {
    pub(crate) fn carry(&mut self, state: &Json, contents: &[(Id, Text)]) -> Effect {
        let whole = load_json(state, self.source)
            .and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let Some(whole) = whole.filter(has_shape) else {
            let finding = self.finding(
                Code::BadPayload,
                "the state of the snapshot is not of the shape of a state: ignored",
            );
            self.find(finding);
            return Effect::None;
        };
        let mut state = State {
            changers: self.state.changers,
            ..State::default()
        };
        let texts: HashMap<&str, &Text> = contents
            .iter()
            .map(|(path, text)| (&**path, text))
            .collect();
        self.carry_files(&mut state, &whole, &texts);
        self.carry_dialogue(&mut state, &whole);
        self.carry_tools(&mut state, &whole);
        self.carry_lists(&mut state, &whole);
        Effect::Snapshot(Box::new(state))
    }

    fn carry_files(&mut self, state: &mut State, whole: &Value, texts: &HashMap<&str, &Text>) {
        for (path, file) in members(whole, "files") {
            let path: Id = path.as_str().into();
            let number = self.book.path(&path, self.index);
            let exists = file.get("exists").and_then(Value::as_bool).unwrap_or(true);
            let certainty = match string(file, "certainty") {
                Some("unverified") => Certainty::Unverified,
                Some("unknown") => Certainty::Unknown,
                _ => Certainty::Exact,
            };
            let last = match string(file, "lastEvent") {
                Some(id) => self.book.event_ref(&id.into(), self.entries),
                None => EventRef::Entry(self.index),
            };
            let mut to = FileState {
                exists,
                certainty,
                content: None,
                last,
                why: Why::Observed,
                proven: state.changers,
            };
            if exists && certainty != Certainty::Unknown {
                self.carry_content(&mut to, &path, file, texts.get(&*path).copied());
            }
            put(
                &mut state.files,
                number,
                self.book.file_row(to, self.index) + 1,
                0,
            );
            self.note(number, Op::Observe, to, false);
        }
    }

    fn carry_content(&mut self, to: &mut FileState, path: &Id, file: &Value, text: Option<&Text>) {
        let named = string(file, "sha256").map(str::to_ascii_lowercase);
        match text {
            Some(Text::Missing) => to.certainty = Certainty::Unknown,
            Some(text) => {
                let right = named.as_ref().is_none_or(|named| {
                    load_text(text, self.source)
                        .is_some_and(|text| hex(&measure(&text).sha256) == *named)
                });
                if !right {
                    self.file_finding(
                        Code::HashMismatch,
                        path,
                        "the content of the snapshot has another hash",
                    );
                    to.certainty = Certainty::Unverified;
                }
                to.content = Some(self.book.contents.full(self.index, text.clone()));
            }
            None => {
                let bytes = file.get("bytes").and_then(Value::as_u64);
                match named.as_deref().and_then(unhex).zip(bytes) {
                    Some((sha256, bytes)) => {
                        let measure = Measure { sha256, bytes };
                        to.content = Some(self.book.contents.named(self.index, measure));
                    }
                    None => to.certainty = Certainty::Unknown,
                }
            }
        }
    }

    fn carry_dialogue(&mut self, state: &mut State, whole: &Value) {
        state.said_from = self.book.said.len() as u32;
        for row in items(whole, "dialogue") {
            let Some(id) = string(row, "eventId") else {
                continue;
            };
            let role = match string(row, "role") {
                Some("assistant") => "assistant",
                Some("system") => "system",
                Some("tool") => "tool",
                Some("correction") => "correction",
                _ => "user",
            };
            let said = CarriedRow {
                role,
                content: match row.get("content") {
                    Some(Value::String(text)) => Some(Text::inline(text.as_str())),
                    _ => Some(Text::Missing),
                },
                call: string(row, "callId").map(Id::from),
                status: string(row, "status").and_then(Status::parse),
            };
            let number = self.book.carry(id.into(), Some(said), self.index);
            self.book.said.push(EventRef::Carried(number).pack());
        }
        state.said_to = self.book.said.len() as u32;
        state.context_from = state.said_to;
        for (rank, id) in (0u32..).zip(items(whole, "context").filter_map(Value::as_str)) {
            let event = self.book.event_ref(&id.into(), self.entries);
            let at = (self.index, rank);
            state.context_heads.push_back(ContextItem { event, at });
        }
    }

    fn carry_tools(&mut self, state: &mut State, whole: &Value) {
        for (id, tool) in members(whole, "tools") {
            let call = || Call {
                tool_name: string(tool, "toolName").unwrap_or_default().into(),
                entry: None,
            };
            let number = self
                .book
                .calls
                .number(&id.as_str().into(), self.index, call);
            let result =
                string(tool, "resultEvent").map(|id| self.book.event_ref(&id.into(), self.entries));
            let status = string(tool, "status").and_then(Status::parse);
            let to = ToolState { status, result };
            put(&mut state.tools, number, ToolState::pack(Some(to)), 0);
        }
    }

    fn carry_lists(&mut self, state: &mut State, whole: &Value) {
        let chips = whole.get("chips").unwrap_or(&Value::Null);
        for (name, place) in [
            ("queue", ChipPlace::Queue(0)),
            ("evicted", ChipPlace::Evicted(0)),
        ] {
            for id in items(chips, name).filter_map(Value::as_str) {
                let number = self.book.chips.number(&id.into(), self.index, || ());
                let seat = Seat {
                    place,
                    arrival: state.arrivals,
                };
                state.arrivals += 1;
                put(
                    &mut state.chips,
                    number,
                    seat,
                    Seat {
                        place: ChipPlace::Gone,
                        arrival: 0,
                    },
                );
            }
        }
        let memory = whole.get("memory").unwrap_or(&Value::Null);
        for (name, place) in [
            ("hot", MemoryPlace::Zone(Zone::Hot)),
            ("warm", MemoryPlace::Zone(Zone::Warm)),
            ("cold", MemoryPlace::Zone(Zone::Cold)),
            // Where it came from is not in a state: it goes back to the first zone.
            ("recycled", MemoryPlace::Recycled(Zone::Hot)),
        ] {
            for id in items(memory, name).filter_map(Value::as_str) {
                let number = self.book.memory.number(&id.into(), self.index, || 0);
                if let Some(row) = self.book.memory.row_mut(number) {
                    row.with = 0;
                }
                let seat = Seat {
                    place,
                    arrival: state.arrivals,
                };
                state.arrivals += 1;
                put(
                    &mut state.memory,
                    number,
                    seat,
                    Seat {
                        place: MemoryPlace::Gone,
                        arrival: 0,
                    },
                );
            }
        }
        self.book.tokens.push((self.index, 0, 0));
        for (id, plan) in members(whole, "plans") {
            let status = match string(plan, "status") {
                Some("approved") => PlanStatus::Approved,
                Some("rejected") => PlanStatus::Rejected,
                Some("loaded") => PlanStatus::Loaded,
                _ => PlanStatus::Proposed,
            };
            let number = self
                .book
                .plans
                .number(&id.as_str().into(), self.index, || ());
            put(&mut state.plans, number, Some(status), None);
        }
    }
}

/// Is each part that is there of the type that it has in a state?
fn has_shape(whole: &Value) -> bool {
    let named = |value: &Value, name: &str, sound: &dyn Fn(&Value) -> bool| {
        value.get(name).is_none_or(sound)
    };
    let rows = |value: &Value| {
        value
            .as_object()
            .is_some_and(|rows| rows.values().all(Value::is_object))
    };
    let texts = |value: &Value| {
        value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string))
    };
    let said = |value: &Value| {
        let row = |row: &Value| string(row, "eventId").is_some();
        value.as_array().is_some_and(|rows| rows.iter().all(row))
    };
    let lists = |names: &'static [&'static str]| {
        move |value: &Value| {
            value.is_object() && names.iter().all(|name| value.get(*name).is_none_or(texts))
        }
    };
    whole.is_object()
        && ["files", "tools", "plans"]
            .iter()
            .all(|name| named(whole, name, &rows))
        && named(whole, "dialogue", &said)
        && named(whole, "context", &texts)
        && named(whole, "chips", &lists(&["queue", "evicted"]))
        && named(
            whole,
            "memory",
            &lists(&["hot", "warm", "cold", "recycled"]),
        )
}

fn string<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Value::as_str)
}

fn members<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = (&'v String, &'v Value)> {
    value
        .get(name)
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

fn items<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (byte, at) in out.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    Some(out)
}
