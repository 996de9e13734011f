//! What a timeline remembers beside its entries: names by number, contents, findings. Everything is tagged with the
//! entry that brought it, so that a tail can be taken back.

use crate::contents::Contents;
use crate::ids::Ids;
use crate::numbers::Numbers;
use crate::state::{Certainty, ContentId, ContextItem, EventRef, FileState, State, Why};
use chipdeck_event::{Finding, Id, Located, Status, Text};
use hashbrown::HashMap;

/// What an entry did to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Create,
    Change,
    Delete,
    Rename,
    Observe,
}

impl Op {
    pub fn as_str(self) -> &'static str {
        match self {
            Op::Create => "create",
            Op::Change => "change",
            Op::Delete => "delete",
            Op::Rename => "rename",
            Op::Observe => "observe",
        }
    }
}

/// One version of a path: an event that set or proved its content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Version {
    /// Entry, from 1.
    pub index: u32,
    pub op: Op,
    pub certainty: Certainty,
    pub why: Why,
    /// `None` when deleted or unknown.
    pub content: Option<ContentId>,
    pub exists: bool,
    /// Seen on disk, and other than the log implied: it was changed behind the log.
    pub changed_outside: bool,
}

/// A tool call.
pub(crate) struct Call {
    pub tool_name: Id,
    /// Its entry, from 1; `None` where a `state.snapshot` carried it.
    pub entry: Option<u32>,
}

/// An event that a `state.snapshot` carried over: its id, and its row of the dialogue if it has one.
pub(crate) struct Carried {
    pub id: Id,
    born: u32,
    pub said: Option<CarriedRow>,
}

pub(crate) struct CarriedRow {
    pub role: &'static str,
    pub content: Option<Text>,
    pub call: Option<Id>,
    pub status: Option<Status>,
}

pub(crate) struct Book {
    /// Event ids that were applied, to the entry's index.
    pub ids: Ids,
    /// Ids as people see them, where they differ.
    pub shown: HashMap<Id, u32>,
    pub paths: Numbers<Vec<Version>>,
    pub calls: Numbers<Call>,
    pub correlations: Numbers<()>,
    pub chips: Numbers<()>,
    /// With the tokens of the item.
    pub memory: Numbers<u32>,
    pub plans: Numbers<()>,
    pub carried: Vec<Carried>,
    /// All that was said: events, packed. A state has a part of it.
    pub said: Vec<u32>,
    pub carried_ids: HashMap<Id, u32>,
    pub contents: Contents,
    /// States that files had, each with the entry that brought it.
    pub file_rows: Vec<(FileState, u32)>,
    /// The fold's findings, by entry.
    pub found: Vec<(u32, Finding)>,
    /// Entries whose parent was not known when they came.
    pub orphans: Vec<u32>,
    /// The dialogue's words on tool results: `message.toolResult` and `message.correction`.
    pub claims: Vec<u32>,
    /// Results without a call.
    pub strays: Vec<u32>,
    /// The first working folder, and where it stands.
    pub cwd: Option<(u32, Box<str>)>,
    /// (index, hot, warm) after each entry that changes them.
    pub tokens: Vec<(u32, u32, u32)>,
}

impl Book {
    pub(crate) fn new(cache_bytes: usize) -> Book {
        Book {
            ids: Ids::default(),
            shown: HashMap::new(),
            paths: Numbers::default(),
            calls: Numbers::default(),
            correlations: Numbers::default(),
            chips: Numbers::default(),
            memory: Numbers::default(),
            plans: Numbers::default(),
            carried: Vec::new(),
            said: Vec::new(),
            carried_ids: HashMap::new(),
            contents: Contents::new(cache_bytes),
            file_rows: Vec::new(),
            found: Vec::new(),
            orphans: Vec::new(),
            claims: Vec::new(),
            strays: Vec::new(),
            cwd: None,
            tokens: Vec::new(),
        }
    }

    pub(crate) fn path(&mut self, path: &Id, index: u32) -> u32 {
        self.paths.number(path, index, Vec::new)
    }

    pub(crate) fn version(&mut self, path: u32, version: Version) {
        if let Some(row) = self.paths.row_mut(path) {
            row.with.push(version);
        }
    }

    /// Events of the dialogue, packed.
    pub(crate) fn dialogue(&self, state: &State) -> &[u32] {
        let part = state.said_from as usize..state.said_to as usize;
        self.said.get(part).unwrap_or_default()
    }

    pub(crate) fn context<'a>(
        &'a self,
        state: &'a State,
    ) -> impl Iterator<Item = ContextItem> + 'a {
        let said = state.context_from as usize..state.said_to as usize;
        let said = self.said.get(said).unwrap_or_default();
        let items = said.iter().map(|packed| {
            let event = EventRef::unpack(*packed);
            let index = match event {
                EventRef::Entry(index) => index,
                EventRef::Carried(_) => 0,
            };
            ContextItem {
                event,
                at: (index, u32::MAX),
            }
        });
        state.context_heads.iter().copied().chain(items)
    }

    /// The file of a path, by number.
    pub(crate) fn file(&self, state: &State, path: u32) -> Option<FileState> {
        self.file_rows
            .get(state.file_row(path)? as usize)
            .map(|(file, _)| *file)
    }

    /// The number of a new state of a file.
    pub(crate) fn file_row(&mut self, file: FileState, index: u32) -> u32 {
        self.file_rows.push((file, index));
        (self.file_rows.len() - 1) as u32
    }

    /// An event by its id: an entry if it is one, else carried.
    pub(crate) fn event_ref(&mut self, id: &Id, entries: &[Located]) -> EventRef {
        if let Some(entry) = self.ids.get(id, entries) {
            return EventRef::Entry(entry);
        }
        if let Some(&number) = self.carried_ids.get(id) {
            return EventRef::Carried(number);
        }
        let number = self.carry(id.clone(), None, entries.len() as u32);
        self.carried_ids.insert(id.clone(), number);
        EventRef::Carried(number)
    }

    pub(crate) fn carry(&mut self, id: Id, said: Option<CarriedRow>, index: u32) -> u32 {
        self.carried.push(Carried {
            id,
            born: index,
            said,
        });
        (self.carried.len() - 1) as u32
    }

    pub(crate) fn carried(&self, number: u32) -> Option<&Carried> {
        self.carried.get(number as usize)
    }

    /// Forgets what came with entries after that position of the state.
    pub(crate) fn truncate(&mut self, end: &State) {
        let position = end.position;
        self.said.truncate(end.said_to as usize);
        self.ids.truncate(position);
        self.shown.retain(|_, index| *index <= position);
        self.paths.truncate(position);
        for number in 0..self.paths.rows().len() as u32 {
            if let Some(row) = self.paths.row_mut(number) {
                while row
                    .with
                    .pop_if(|version| version.index > position)
                    .is_some()
                {}
            }
        }
        self.calls.truncate(position);
        self.correlations.truncate(position);
        self.chips.truncate(position);
        self.memory.truncate(position);
        self.plans.truncate(position);
        while self
            .carried
            .pop_if(|carried| carried.born > position)
            .is_some()
        {}
        let carried = self.carried.len() as u32;
        self.carried_ids.retain(|_, number| *number < carried);
        self.contents.truncate(position);
        while self
            .file_rows
            .pop_if(|(_, born)| *born > position)
            .is_some()
        {}
        while self.found.pop_if(|(index, _)| *index > position).is_some() {}
        for list in [&mut self.orphans, &mut self.claims, &mut self.strays] {
            while list.pop_if(|index| *index > position).is_some() {}
        }
        if self
            .cwd
            .as_ref()
            .is_some_and(|(index, _)| *index > position)
        {
            self.cwd = None;
        }
        while self
            .tokens
            .pop_if(|(index, _, _)| *index > position)
            .is_some()
        {}
    }
}
