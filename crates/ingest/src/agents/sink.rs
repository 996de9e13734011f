//! Where an agent's reader puts what it found: builds events of our catalogue with ids that are stable across runs,
//! at the place of the record that is being read.
//!
//! Ids: a record's own id where it has one, a call's id for its `tool.call`, `<call>#<n>` for the events that one
//! call's result is split into (they show the call's id), else `<file>@<offset>`.

use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

use chipdeck_event::{
    Change, Code, Entry, Envelope, Event, Finding, Id, Json, Located, Opaque, Payload, Place,
    Reach, Role, Session, Status, Text,
};

use super::paths;
use crate::names::Names;
use crate::reader::Batch;
use crate::tape::{Origin, Val};

/// What one file's reader remembers between records.
#[derive(Default)]
pub(crate) struct Shelf {
    names: Names,
    /// Paths of events so far: does the file exist after them?
    exists: HashMap<Id, bool>,
    /// Record types unknown to the reader: how many, the line of the first.
    unknown: BTreeMap<String, (u64, u64)>,
    /// Records that are copies of earlier ones: how many, the line of the first.
    copies: (u64, u64),
    /// The folder that relative paths are in.
    pub cwd: Option<Id>,
    sessions: HashSet<Id>,
    /// Names of types: those of the catalogue, and those of raw records.
    types: Vec<(&'static str, Id)>,
    kinds: HashMap<Box<str>, Id>,
}

impl Shelf {
    fn name(&mut self, text: &str) -> Id {
        self.names.get(text)
    }

    fn type_name(&mut self, name: &'static str) -> Id {
        if let Some((_, id)) = self.types.iter().find(|(held, _)| *held == name) {
            return id.clone();
        }
        let id: Id = name.into();
        self.types.push((name, id.clone()));
        id
    }

    fn kind(&mut self, agent: &str, kind: &str) -> Id {
        if let Some(id) = self.kinds.get(kind) {
            return id.clone();
        }
        let id: Id = format!("{agent}.{kind}").into();
        self.kinds.insert(kind.into(), id.clone());
        id
    }
}

/// What all events of a record have in common.
#[derive(Clone)]
pub(crate) struct Now {
    pub trace: Id,
    pub parent: Option<Id>,
    pub correlation: Option<Id>,
    pub timestamp: Option<i64>,
}

impl Default for Now {
    fn default() -> Now {
        Now {
            trace: "".into(),
            parent: None,
            correlation: None,
            timestamp: None,
        }
    }
}

/// A tool call as its log tells it.
pub(crate) struct Call<'a> {
    pub id: Id,
    pub name: &'a str,
    pub args: Json,
    pub reach: Reach,
}

/// A call's outcome.
pub(crate) struct Outcome {
    pub call: Id,
    pub status: Status,
    /// What the model was told.
    pub told: Option<Text>,
    pub result: Json,
    pub duration_ms: Option<i64>,
}

pub(crate) struct Sink<'a> {
    pub file: u32,
    /// The file's name in the log set.
    pub file_name: Arc<str>,
    pub place: Place,
    pub origin: Origin,
    pub now: Now,
    pub shelf: &'a mut Shelf,
    /// Where lines begin, in a file that is one JSON document.
    pub lines: Option<&'a [u64]>,
    /// Paths that the present record changed.
    pub changed: Vec<Id>,
    out: &'a mut Batch,
    /// How many entries there were before this record, and whether it is shown elsewhere.
    before: usize,
    elsewhere: bool,
    step: u32,
    /// The next `seq`, where the records themselves are ordered.
    order: Option<u64>,
    agent: &'static str,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(
        agent: &'static str,
        file_name: Arc<str>,
        place: Place,
        origin: Origin,
        shelf: &'a mut Shelf,
        out: &'a mut Batch,
    ) -> Sink<'a> {
        Sink {
            file: place.file,
            file_name,
            place,
            origin,
            now: Now::default(),
            shelf,
            lines: None,
            changed: Vec::new(),
            before: out.entries.len(),
            elsewhere: false,
            out,
            step: 0,
            order: None,
            agent,
        }
    }

    /// Moves to a value inside a document: its events stand there.
    pub(crate) fn at(&mut self, value: Val<'_>) {
        let Origin::Log { offset, .. } = self.origin else {
            return;
        };
        let offset = offset + value.start() as u64;
        self.place = Place {
            file: self.file,
            line: self.line_of(offset),
            offset,
            len: value.raw().len() as u64,
        };
        self.step = 0;
    }

    /// Moves to a piece of a text, at `start` of the document.
    pub(crate) fn place_at(&mut self, start: usize, len: usize) {
        let Origin::Log { offset, .. } = self.origin else {
            return;
        };
        let offset = offset + start as u64;
        self.place = Place {
            file: self.file,
            line: self.line_of(offset),
            offset,
            len: len as u64,
        };
        self.step = 0;
    }

    /// The events that follow get `seq`s from here on. A set whose events all have one is ordered by it.
    pub(crate) fn order_by(&mut self, seq: u64) {
        self.order = Some(seq);
    }

    fn line_of(&self, offset: u64) -> u64 {
        match self.lines {
            Some(starts) => starts.partition_point(|&start| start <= offset) as u64,
            None => self.place.line,
        }
    }

    /// An id for the record from its place.
    pub(crate) fn place_id(&self) -> Id {
        format!("{}@{}", self.file, self.place.offset).into()
    }

    pub(crate) fn name(&mut self, text: &str) -> Id {
        self.shelf.name(text)
    }

    /// The absolute path of a path as the agent wrote it.
    pub(crate) fn path(&mut self, written: &str) -> Id {
        let joined = paths::join(self.shelf.cwd.as_deref(), written);
        self.shelf.name(&joined)
    }

    /// Sets the working folder, if it is one.
    pub(crate) fn enter(&mut self, cwd: &str) {
        if self.shelf.cwd.as_deref() != Some(cwd) && paths::is_absolute(cwd) {
            let joined = paths::join(None, cwd);
            self.shelf.cwd = Some(self.shelf.name(&joined));
        }
    }

    /// An event in the present record. Its id is `id`.
    pub(crate) fn put(&mut self, id: Id, payload: Payload) {
        self.put_shown(id, None, payload);
    }

    fn put_shown(&mut self, event_id: Id, shown_id: Option<Id>, payload: Payload) {
        let type_name = self.shelf.type_name(type_name(&payload));
        self.put_typed(event_id, shown_id, &type_name, payload);
    }

    fn put_typed(&mut self, event_id: Id, shown_id: Option<Id>, type_name: &Id, payload: Payload) {
        let session = match &payload {
            Payload::Message { .. }
            | Payload::MessageToolResult { .. }
            | Payload::MessageCorrection { .. }
            | Payload::ContextCompact { .. }
            | Payload::SessionStart { .. }
            | Payload::SessionEnd { .. }
            | Payload::Unknown => Session::Dialog,
            _ => Session::Exec,
        };
        let seq = self.order;
        self.order = seq.map(|s| s + 1);
        let envelope = Envelope {
            event_id,
            shown_id,
            trace_id: self.now.trace.clone(),
            parent: self.now.parent.clone(),
            correlation: self.now.correlation.clone(),
            seq,
            session,
            type_name: type_name.clone(),
            timestamp: self.now.timestamp,
            version: 1,
        };
        let entry = Entry::Event(Box::new(Event { envelope, payload }));
        self.out.entries.push(Located {
            place: self.place,
            entry,
        });
    }

    /// A record that changes nothing: shown raw under the type `<agent>.<kind>`.
    pub(crate) fn raw(&mut self, id: Id, kind: &str) {
        let type_name = self.shelf.kind(self.agent, kind);
        self.put_typed(id, None, &type_name, Payload::Unknown);
    }

    /// A record of a type that this reader does not know: shown raw and counted.
    pub(crate) fn unknown(&mut self, id: Id, kind: &str) {
        let kind: String = kind.chars().take(80).collect();
        let line = self.place.line;
        let room = self.shelf.unknown.len() < 1000;
        if let Some((count, _)) = self.shelf.unknown.get_mut(&kind) {
            *count += 1;
        } else if room {
            self.shelf.unknown.insert(kind.clone(), (1, line));
        }
        // Types without end would be names without end.
        if room {
            self.raw(id, &kind);
        } else {
            self.raw(id, "other");
        }
    }

    /// A record that was read before (a resumed session copies its past): stands on the timeline, changes nothing.
    pub(crate) fn copy(&mut self) {
        let (count, first) = &mut self.shelf.copies;
        if *count == 0 {
            *first = self.place.line;
        }
        *count += 1;
        self.raw(self.place_id(), "copy");
    }

    /// At the end of a record: where nothing of it is on the timeline, it is shown raw.
    pub(crate) fn something(&mut self) {
        if self.out.entries.len() == self.before && !self.elsewhere {
            self.raw(self.place_id(), "record");
        }
    }

    /// A record whose original is in another file of the set: counted, not shown.
    pub(crate) fn copy_elsewhere(&mut self) {
        self.elsewhere = true;
        let (count, first) = &mut self.shelf.copies;
        if *count == 0 {
            *first = self.place.line;
        }
        *count += 1;
    }

    /// Something on the timeline that is no event.
    pub(crate) fn opaque(&mut self, code: Code, message: &str) {
        let opaque = Opaque {
            code,
            message: message.to_string(),
            timestamp: None,
        };
        self.out.entries.push(Located {
            place: self.place,
            entry: Entry::Opaque(Box::new(opaque)),
        });
        self.finding(code, message);
    }

    pub(crate) fn finding(&mut self, code: Code, message: &str) {
        self.out
            .findings
            .push(Finding::new(code, self.file, self.place.line, message));
    }

    /// The first record of a session opens it; later ones of the same id do nothing.
    pub(crate) fn session(&mut self, id: &str, model: Option<&str>) {
        if self.shelf.sessions.contains(id) {
            return;
        }
        let cwd = self.shelf.cwd.clone();
        self.open(id, cwd.as_deref(), model);
    }

    /// The same for a session whose paths stay below a folder that only texts name.
    pub(crate) fn session_in(&mut self, id: &str, cwd: Option<&str>) {
        self.open(id, cwd, None);
    }

    fn open(&mut self, id: &str, cwd: Option<&str>, model: Option<&str>) {
        let id = self.shelf.name(id);
        if self.shelf.sessions.insert(id.clone()) {
            let cwd = cwd.map(Into::into);
            let start = Payload::SessionStart {
                cwd,
                agent: Some(self.agent.into()),
                model: model.map(Into::into),
            };
            let parent = self.now.parent.take();
            self.put(format!("session:{id}").into(), start);
            self.now.parent = parent;
        }
    }

    pub(crate) fn message(&mut self, id: Id, role: Role, content: Text) {
        self.put(id, Payload::Message { role, content });
    }

    pub(crate) fn call(&mut self, call: Call<'_>) {
        let tool_name = self.shelf.name(call.name);
        self.put(
            call.id,
            Payload::ToolCall {
                tool_name,
                args: call.args,
                reach: call.reach,
            },
        );
    }

    /// The result of a call, for both sessions. Its file events come after it, with [`Sink::begin`].
    pub(crate) fn result(&mut self, outcome: Outcome) -> Id {
        let Outcome {
            call,
            status,
            told,
            result,
            duration_ms,
        } = outcome;
        let parent = self.now.parent.replace(call.clone());
        let error = if status == Status::Ok {
            Json::Absent
        } else {
            result.clone()
        };
        let result = if status == Status::Ok {
            result
        } else {
            Json::Absent
        };
        let id: Id = format!("{call}#result").into();
        self.put_shown(
            id.clone(),
            Some(call.clone()),
            Payload::ToolResult {
                call: Some(call.clone()),
                status,
                result,
                error,
                duration_ms,
            },
        );
        if told.is_some() {
            let told_id: Id = format!("{call}#told").into();
            self.put_shown(
                told_id,
                Some(call.clone()),
                Payload::MessageToolResult {
                    call,
                    status,
                    content: told,
                },
            );
        }
        self.now.parent = parent;
        id
    }

    fn file_event(&mut self, call: &Id, payload: Payload) {
        self.step += 1;
        match &payload {
            Payload::FileCreate { path, .. }
            | Payload::FileChange { path, .. }
            | Payload::FileDelete { path } => self.changed.push(path.clone()),
            Payload::FileRename { from, to } => self.changed.extend([from.clone(), to.clone()]),
            _ => {}
        }
        let id: Id = format!("{call}#{}", self.step).into();
        let parent = self.now.parent.replace(call.clone());
        self.put_shown(id, Some(call.clone()), payload);
        self.now.parent = parent;
    }

    /// The whole content as it was seen.
    pub(crate) fn observe(&mut self, call: &Id, path: &Id, content: Text) {
        self.shelf.exists.insert(path.clone(), true);
        self.file_event(
            call,
            Payload::FileObserve {
                path: path.clone(),
                sha256: None,
                content: Some(content),
            },
        );
    }

    /// The whole content was written. `created`: the tool says that the file was not there before.
    pub(crate) fn write(&mut self, call: &Id, path: &Id, content: Text, created: bool) {
        let there = self.shelf.exists.insert(path.clone(), true) == Some(true);
        let path = path.clone();
        if created && !there {
            self.file_event(call, Payload::FileCreate { path, content });
        } else {
            self.change(call, &path, Change::Content(content), false);
        }
    }

    /// `plausible`: the log says that it happened, but not exactly what.
    pub(crate) fn change(&mut self, call: &Id, path: &Id, change: Change, plausible: bool) {
        self.shelf.exists.insert(path.clone(), true);
        let path = path.clone();
        self.file_event(
            call,
            Payload::FileChange {
                path,
                change,
                before_sha256: None,
                after_sha256: None,
                plausible,
            },
        );
    }

    /// Something changed the file, nobody knows how.
    pub(crate) fn touched(&mut self, call: &Id, path: &Id) {
        self.change(call, path, Change::Edits(Vec::new()), true);
    }

    pub(crate) fn delete(&mut self, call: &Id, path: &Id) {
        self.shelf.exists.insert(path.clone(), false);
        self.file_event(call, Payload::FileDelete { path: path.clone() });
    }

    pub(crate) fn rename(&mut self, call: &Id, from: &Id, to: &Id) {
        self.shelf.exists.insert(from.clone(), false);
        self.shelf.exists.insert(to.clone(), true);
        self.file_event(
            call,
            Payload::FileRename {
                from: from.clone(),
                to: to.clone(),
            },
        );
    }

    /// Findings about what was counted since the last time.
    pub(crate) fn tally(&mut self) {
        let agent = self.agent;
        for (kind, (count, line)) in std::mem::take(&mut self.shelf.unknown) {
            let s = if count == 1 { "" } else { "s" };
            let message = format!("{count} record{s} of the type `{kind}`, which the {agent} reader does not know: shown raw");
            self.out
                .findings
                .push(Finding::new(Code::UnknownType, self.file, line, message));
        }
        let (count, line) = std::mem::take(&mut self.shelf.copies);
        if count > 0 {
            let s = if count == 1 {
                " is a copy of an earlier one"
            } else {
                "s are copies of earlier ones"
            };
            let message = format!("{count} record{s} of this file: counted once");
            self.out
                .findings
                .push(Finding::new(Code::DuplicateEvent, self.file, line, message));
        }
    }
}

fn type_name(payload: &Payload) -> &'static str {
    match payload {
        Payload::SessionStart { .. } => "session.start",
        Payload::SessionEnd { .. } => "session.end",
        Payload::Message {
            role: Role::User, ..
        } => "message.user",
        Payload::Message {
            role: Role::Assistant,
            ..
        } => "message.assistant",
        Payload::Message {
            role: Role::System, ..
        } => "message.system",
        Payload::MessageToolResult { .. } => "message.toolResult",
        Payload::ContextCompact { .. } => "context.compact",
        Payload::ToolCall { .. } => "tool.call",
        Payload::ToolResult { .. } => "tool.result",
        Payload::FileCreate { .. } => "file.create",
        Payload::FileChange { .. } => "file.change",
        Payload::FileDelete { .. } => "file.delete",
        Payload::FileRename { .. } => "file.rename",
        Payload::FileObserve { .. } => "file.observe",
        // No agent's reader makes the others.
        _ => "record",
    }
}
