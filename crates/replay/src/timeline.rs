//! The timeline: entries in order, what each did, and the state at any position without reading the log.

use crate::state::{Certainty, ContentId, EventRef, FileState, PlanStatus, State, Why};
use chipdeck_event::{Finding, Id, Located, Status, Text};
use chipdeck_ingest::Source;
use std::sync::Arc;

/// How a timeline is folded.
#[derive(Clone, Debug)]
pub struct Options {
    /// A state is kept every so many entries; at least 1.
    pub snapshot_every: u32,
    /// Bytes of contents kept in memory for quick edits and looks.
    pub cache_bytes: usize,
    /// Names of the log set's files, which decide ties.
    pub names: Vec<Arc<str>>,
    /// A canonical log: order and parents are judged.
    pub canonical: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { snapshot_every: 100, cache_bytes: 32 << 20, names: Vec::new(), canonical: true }
    }
}

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

/// A finding with the entry that it stands at, where it has one (from 1).
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub index: Option<u32>,
    pub finding: Finding,
}

/// What the tracks count of an entry, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lanes(pub u16);

impl Lanes {
    pub const DIALOGUE: Lanes = Lanes(1);
    /// A tool call.
    pub const TOOL: Lanes = Lanes(2);
    /// A result that is not `ok`.
    pub const TOOL_FAILED: Lanes = Lanes(4);
    pub const FILE_PLUS: Lanes = Lanes(8);
    pub const FILE_MINUS: Lanes = Lanes(16);
    pub const CHIP: Lanes = Lanes(32);
    pub const MEMORY: Lanes = Lanes(64);
    /// A finding of severity error stands here.
    pub const ERROR: Lanes = Lanes(128);
    pub const WARNING: Lanes = Lanes(256);

    pub fn has(self, lane: Lanes) -> bool {
        self.0 & lane.0 != 0
    }
}

/// A row of the dialogue.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    pub event: EventRef,
    pub event_id: &'a Id,
    /// `user`, `assistant`, `system`, `tool`, `correction`.
    pub role: &'static str,
    /// `None`: an empty one.
    pub content: Option<&'a Text>,
    pub call: Option<&'a Id>,
    pub status: Option<Status>,
}

/// A row of the tools.
#[derive(Clone, Copy, Debug)]
pub struct Called<'a> {
    pub call_id: &'a Id,
    pub tool_name: &'a Id,
    /// The call's entry, from 1; `None` when carried by a `state.snapshot`.
    pub index: Option<u32>,
    /// `None` while pending.
    pub status: Option<Status>,
    pub result: Option<EventRef>,
}

/// A chip in the queue or evicted.
#[derive(Clone, Copy, Debug)]
pub struct Chip<'a> {
    pub id: &'a Id,
    /// Entry of the last `chip.save`, from 1; `None` when carried by a `state.snapshot`.
    pub index: Option<u32>,
}

/// Ids in the order of arrival.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zones {
    pub hot: Vec<Id>,
    pub warm: Vec<Id>,
    pub cold: Vec<Id>,
    pub recycled: Vec<Id>,
}

/// Entries in order, with what each did.
pub struct Timeline {
    options: Options,
    entries: Vec<Located>,
    end: State,
}

impl Timeline {
    pub fn new(options: Options) -> Timeline {
        Timeline { options, entries: Vec::new(), end: State::default() }
    }

    /// Folds one entry more. `source` is read only for the texts that an edit needs.
    pub fn append(&mut self, entry: Located, _source: &dyn Source) {
        self.entries.push(entry);
    }

    /// Takes the findings of the readers in.
    pub fn add_findings(&mut self, _findings: impl IntoIterator<Item = Finding>) {}

    /// Puts the entries in the order of the format when all that the files have was read: nothing to do in nearly
    /// every log, else the part that moves is folded again. Returns the position up to which nothing changed.
    pub fn arrange(&mut self, _source: &dyn Source) -> u32 {
        self.len()
    }

    /// Forgets the entries after `position`, with all that followed from them.
    pub fn truncate(&mut self, _position: u32) {}

    /// Number of entries, the last position.
    pub fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Entry `index`, from 1.
    pub fn entry(&self, index: u32) -> Option<&Located> {
        self.entries.get((index as usize).checked_sub(1)?)
    }

    pub fn entries(&self) -> &[Located] {
        &self.entries
    }

    /// The state at the end.
    pub fn end(&self) -> &State {
        &self.end
    }

    /// The state after the first `position` entries (the end if there are fewer). Reads nothing of the log.
    pub fn state_at(&self, _position: u32) -> State {
        self.end.clone()
    }

    /// The first entry with that event id (as the log has it, or as it is shown), from 1.
    pub fn index_of_event(&self, _event_id: &str) -> Option<u32> {
        None
    }

    /// The entry at a physical line of a file, from 1.
    pub fn index_of_line(&self, _file: u32, _line: u64) -> Option<u32> {
        None
    }

    /// The position after the last entry, in timeline order, whose timestamp is not later; 0 if there is none.
    pub fn position_at_time(&self, _unix_ms: i64) -> u32 {
        0
    }

    /// All findings in the order of their entries: the readers', the fold's, and those judged at the end of the set.
    pub fn findings(&self) -> Vec<Found> {
        Vec::new()
    }

    /// The log's first `cwd`.
    pub fn cwd(&self) -> Option<&str> {
        None
    }

    // Names and rows of a state.

    pub fn event_id(&self, _event: EventRef) -> Option<&Id> {
        None
    }

    /// Every path that the state has (deleted ones too), sorted.
    pub fn files<'a>(&'a self, _state: &State) -> Vec<(&'a Id, FileState)> {
        Vec::new()
    }

    pub fn file(&self, _state: &State, _path: &str) -> Option<FileState> {
        None
    }

    pub fn dialogue<'a>(&'a self, _state: &'a State) -> impl ExactSizeIterator<Item = Said<'a>> + 'a {
        std::iter::empty()
    }

    /// What the model would still see, in order.
    pub fn context(&self, _state: &State) -> Vec<EventRef> {
        Vec::new()
    }

    /// Calls in the order in which they came.
    pub fn tools<'a>(&'a self, _state: &'a State) -> impl Iterator<Item = Called<'a>> + 'a {
        std::iter::empty()
    }

    /// The queue, oldest first, and the evicted ones.
    pub fn chips(&self, _state: &State) -> (Vec<Chip<'_>>, Vec<Chip<'_>>) {
        (Vec::new(), Vec::new())
    }

    pub fn memory(&self, _state: &State) -> Zones {
        Zones::default()
    }

    /// Sorted by id.
    pub fn plans<'a>(&'a self, _state: &State) -> Vec<(&'a Id, PlanStatus)> {
        Vec::new()
    }

    /// The call that a result entry belongs to, and the last result of a call entry (indices from 1).
    pub fn counterpart(&self, _index: u32) -> Option<u32> {
        None
    }

    // Files over time.

    /// Every path that the log names in a file event, sorted.
    pub fn paths(&self) -> Vec<&Id> {
        Vec::new()
    }

    /// The versions of a path in order.
    pub fn versions(&self, _path: &str) -> Vec<Version> {
        Vec::new()
    }

    /// The path that an entry touches (the target of a rename).
    pub fn touches(&self, _index: u32) -> Option<&Id> {
        None
    }

    // Contents.

    /// The text; `None` when the log no longer has the bytes that it needs.
    pub fn content(&self, _content: ContentId, _source: &dyn Source) -> Option<Arc<str>> {
        None
    }

    /// Bytes of a content.
    pub fn content_bytes(&self, _content: ContentId) -> u64 {
        0
    }

    /// SHA-256 of a content, lower-case hex; computed when first asked for.
    pub fn content_sha256(&self, _content: ContentId, _source: &dyn Source) -> Option<String> {
        None
    }

    /// The state as JSON, keys sorted.
    pub fn state_json(&self, _state: &State, _source: &dyn Source) -> String {
        String::new()
    }

    // Tracks.

    pub fn lanes(&self, _index: u32) -> Lanes {
        Lanes::default()
    }

    /// The entry's place on the time axis: Unix milliseconds on a clock that never runs back. An entry without a time
    /// stands at the one before it; before the first time, at that.
    pub fn clock(&self, _index: u32) -> Option<i64> {
        None
    }

    /// The last entry whose clock is not later, 0 if there is none.
    pub fn position_at_clock(&self, _unix_ms: f64) -> u32 {
        0
    }

    /// Entries of `first..=last` that have this lane (indices from 1).
    pub fn count(&self, _lane: Lanes, _first: u32, _last: u32) -> u32 {
        0
    }

    /// The next entry after `index` with this lane.
    pub fn next_in_lane(&self, _lane: Lanes, _index: u32) -> Option<u32> {
        None
    }

    /// The last entry before `index` with this lane.
    pub fn previous_in_lane(&self, _lane: Lanes, _index: u32) -> Option<u32> {
        None
    }

    /// Tokens in the hot and the warm zone after each entry that changes them: (index, hot, warm), in order.
    pub fn memory_tokens(&self) -> &[(u32, u32, u32)] {
        &[]
    }
}
