//! The timeline: entries in order, what each did, and the state at any position without reading the log.

use crate::book::{Book, Version};
use crate::contents::Measure;
use crate::edit::{Steps, MOST_STEPS};
use crate::effect::{apply, Effect};
use crate::files::hex;
use crate::fold::Fold;
use crate::judge::judge;
use crate::noted::Noted;
use crate::state::{ContentId, EventRef, State};
use crate::tracks::{Counts, Lanes, Tracks};
use chipdeck_event::{Entry, Finding, Id, Located, Payload, Severity, Status};
use chipdeck_ingest::{Batch, Order, Orderly, Source};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Steps that one event may take before it is skipped (`handler-timeout`), at most [`crate::MOST_STEPS`]. A step
    /// is about the work of moving a byte: a limit of time that is the same on every machine.
    pub steps: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            snapshot_every: 100,
            cache_bytes: 32 << 20,
            names: Vec::new(),
            canonical: true,
            steps: MOST_STEPS,
        }
    }
}

/// A finding with the entry that it stands at, where it has one (from 1).
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub index: Option<u32>,
    pub finding: Finding,
}

/// Entries in order, with what each did.
pub struct Timeline {
    options: Options,
    pub(crate) entries: Vec<Located>,
    effects: Vec<Effect>,
    /// The state after each [`Options::snapshot_every`] entries.
    snapshots: Vec<State>,
    end: State,
    pub(crate) book: Book,
    noted: Noted,
    /// Findings about the order, and those judged at the end, as of the last [`Timeline::arrange`].
    judged: Vec<(Option<u32>, Finding)>,
    /// Lanes that the judged findings added.
    marks: Vec<(u32, Lanes)>,
    tracks: Tracks,
    /// Whether the entries, as they came, are in order.
    orderly: Orderly,
    pub(crate) nameless: Id,
    /// The numbers of all paths in the order of their names, as of so many paths.
    sorted: Mutex<Arc<[u32]>>,
    /// Forgets which events were applied: shows what the check for idempotency finds.
    #[cfg(test)]
    pub(crate) forgetful: bool,
}

impl Timeline {
    pub fn new(options: Options) -> Timeline {
        let options = Options {
            snapshot_every: options.snapshot_every.max(1),
            steps: options.steps.min(MOST_STEPS),
            ..options
        };
        Timeline {
            entries: Vec::new(),
            effects: Vec::new(),
            snapshots: Vec::new(),
            end: State::default(),
            book: Book::new(options.cache_bytes),
            noted: Noted::default(),
            judged: Vec::new(),
            marks: Vec::new(),
            tracks: Tracks::default(),
            orderly: Orderly::new(options.canonical),
            nameless: "".into(),
            sorted: Mutex::new(Arc::new([])),
            #[cfg(test)]
            forgetful: false,
            options,
        }
    }

    /// Takes in what a reader gave: its findings, then its entries.
    pub fn take(&mut self, batch: &mut Batch, source: &dyn Source) {
        self.add_findings(batch.findings.drain(..));
        for entry in batch.entries.drain(..) {
            self.append(entry, source);
        }
    }

    /// Folds one entry more. `source` is read only for the texts that an edit needs.
    pub fn append(&mut self, entry: Located, source: &dyn Source) {
        self.orderly.push(&entry);
        self.entries.push(entry);
        let index = self.entries.len() as u32;
        let found = self.book.found.len();
        let effect = Fold {
            book: &mut self.book,
            entries: &self.entries,
            state: &self.end,
            source,
            index,
            canonical: self.options.canonical,
            steps: Steps::new(self.options.steps),
        }
        .current();
        apply(&mut self.end, &effect);
        if index.is_multiple_of(self.options.snapshot_every) {
            self.snapshots.push(self.end.clone());
        }
        if let Some(located) = self.entries.last() {
            let folded = self
                .book
                .found
                .iter()
                .skip(found)
                .map(|(_, f)| f.code.severity());
            let worst = folded.max().max(self.noted.settle(located, index));
            let lanes = with_severity(lanes(located, &effect), worst);
            self.tracks.push(lanes, time(located));
        }
        self.effects.push(effect);
    }

    /// Folds one entry more, and applies it once more as if the log had it twice. False: the second time changed the
    /// state. What the second time left behind is taken back.
    pub(crate) fn append_twice(&mut self, entry: Located, source: &dyn Source) -> bool {
        self.append(entry.clone(), source);
        let index = self.entries.len() as u32 + 1;
        #[cfg(test)]
        if self.forgetful {
            self.book.ids.truncate(index - 2);
        }
        let found = self.book.found.len();
        self.entries.push(entry);
        let effect = Fold {
            book: &mut self.book,
            entries: &self.entries,
            state: &self.end,
            source,
            index,
            canonical: self.options.canonical,
            steps: Steps::new(self.options.steps),
        }
        .current();
        self.entries.pop();
        self.book.found.truncate(found);
        let mut after = self.end.clone();
        apply(&mut after, &effect);
        after.same_but_position(&self.end)
    }

    /// Takes the findings of the readers in. Before the entries of the same lines, so that these get their mark.
    pub fn add_findings(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            self.noted.add(finding);
        }
    }

    /// All that the files have was read: puts the entries in the order of the format (nothing to do in nearly every
    /// log, else the part that moves is folded again) and judges what can only be judged at the end. Returns the
    /// position up to which nothing changed.
    pub fn arrange(&mut self, source: &dyn Source) -> u32 {
        let order = if self.orderly.holds() {
            Order::default()
        } else {
            chipdeck_ingest::arrange(&self.entries, &self.options.names, self.options.canonical)
        };
        let mut kept = self.len();
        if let Some(moved) = order.moved {
            let first = (0u32..)
                .zip(&moved)
                .position(|(at, &from)| at != from)
                .unwrap_or(moved.len());
            kept = first as u32;
            let mut tail: Vec<Option<Located>> = self
                .entries
                .split_off(first)
                .into_iter()
                .map(Some)
                .collect();
            self.truncate(kept);
            for from in moved.into_iter().skip(first) {
                let entry = tail.get_mut(from as usize - first).and_then(Option::take);
                if let Some(entry) = entry {
                    self.append(entry, source);
                }
            }
        }
        let doubts = if self.options.canonical {
            order.findings
        } else {
            Vec::new()
        };
        self.judge(doubts);
        kept
    }

    /// Judges what can only be judged at the end, and leaves the entries in the order in which they came: a branch has
    /// an order of its own.
    pub(crate) fn judge_in_place(&mut self) {
        self.judge(Vec::new());
    }

    /// The readers' findings, with the entries that they were matched with.
    pub(crate) fn noted_findings(&self) -> &[(Option<u32>, Finding)] {
        self.noted.list()
    }

    /// Findings about the order, and those judged at the end.
    pub(crate) fn judged_findings(&self) -> &[(Option<u32>, Finding)] {
        &self.judged
    }

    fn judge(&mut self, doubts: Vec<Finding>) {
        for (index, lane) in self.marks.drain(..) {
            self.tracks.unmark(index as usize - 1, lane);
        }
        self.judged.clear();
        for doubt in doubts {
            let index = doubt
                .event_id
                .as_deref()
                .and_then(|id| self.index_of_event(id));
            self.judged.push((index, doubt));
        }
        let judged = judge(&self.book, &self.entries, &self.end);
        self.judged.extend(
            judged
                .into_iter()
                .map(|(index, finding)| (Some(index), finding)),
        );
        for (index, finding) in &self.judged {
            let lane = match finding.code.severity() {
                Severity::Error => Lanes::ERROR,
                Severity::Warning => Lanes::WARNING,
                Severity::Info => continue,
            };
            let Some(at) = index.and_then(|index| (index as usize).checked_sub(1)) else {
                continue;
            };
            if !self.tracks.lanes(at).has(lane) {
                self.tracks.mark(at, lane);
                self.marks.push((at as u32 + 1, lane));
            }
        }
    }

    /// Forgets the entries after `position`, with all that followed from them.
    pub fn truncate(&mut self, position: u32) {
        let position = position.min(self.effects.len() as u32);
        self.entries.truncate(position as usize);
        self.effects.truncate(position as usize);
        self.orderly = Orderly::new(self.options.canonical);
        for entry in &self.entries {
            self.orderly.push(entry);
        }
        self.snapshots
            .truncate((position / self.options.snapshot_every) as usize);
        self.end = self.state_at(position);
        self.book.truncate(&self.end);
        self.sorted = Mutex::new(Arc::new([]));
        self.noted.truncate(position);
        self.marks.retain(|(index, _)| *index <= position);
        self.judged
            .retain(|(index, _)| index.is_some_and(|index| index <= position));
        self.tracks.truncate(position as usize);
    }

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

    /// The names of the set's files, where a new one came.
    pub fn set_names(&mut self, names: Vec<Arc<str>>) {
        self.options.names = names;
    }

    /// Entry `index`, from 1.
    pub fn entry(&self, index: u32) -> Option<&Located> {
        self.entries.get((index as usize).checked_sub(1)?)
    }

    pub fn entries(&self) -> &[Located] {
        &self.entries
    }

    pub(crate) fn effect(&self, index: u32) -> Option<&Effect> {
        self.effects.get((index as usize).checked_sub(1)?)
    }

    /// The state at the end.
    pub fn end(&self) -> &State {
        &self.end
    }

    /// The state after the first `position` entries (the end if there are fewer). Reads nothing of the log.
    pub fn state_at(&self, position: u32) -> State {
        let position = position.min(self.effects.len() as u32);
        let nth = position / self.options.snapshot_every;
        let mut state = (nth as usize)
            .checked_sub(1)
            .and_then(|at| self.snapshots.get(at))
            .cloned()
            .unwrap_or_default();
        let from = state.position as usize;
        for effect in self
            .effects
            .get(from..position as usize)
            .unwrap_or_default()
        {
            apply(&mut state, effect);
        }
        state
    }

    /// The first entry with that event id (as the log has it, or as it is shown), from 1.
    pub fn index_of_event(&self, event_id: &str) -> Option<u32> {
        let own = self.book.ids.get(event_id, &self.entries);
        let shown = self.book.shown.get(event_id).copied();
        match (own, shown) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The entry that was applied under an event's own id, from 1: later ones with it are ignored.
    pub fn applied(&self, event_id: &str) -> Option<u32> {
        self.book.ids.get(event_id, &self.entries)
    }

    /// The first entry at a physical line of a file, from 1.
    pub fn index_of_line(&self, file: u32, line: u64) -> Option<u32> {
        let at = self
            .entries
            .iter()
            .position(|l| l.place.file == file && l.place.line == line)?;
        Some(at as u32 + 1)
    }

    /// The position after the last entry, in timeline order, whose timestamp is not later; 0 if there is none.
    pub fn position_at_time(&self, unix_ms: i64) -> u32 {
        let last = self
            .entries
            .iter()
            .rposition(|l| time(l).is_some_and(|time| time <= unix_ms));
        last.map_or(0, |at| at as u32 + 1)
    }

    /// All findings in the order of their entries: the readers', the fold's, and those judged at the end of the set
    /// (as of the last [`Timeline::arrange`]).
    pub fn findings(&self) -> Vec<Found> {
        let noted = self.noted.list().iter().cloned();
        let folded = self
            .book
            .found
            .iter()
            .map(|(index, finding)| (Some(*index), finding.clone()));
        let judged = self.judged.iter().cloned();
        let mut all: Vec<Found> = noted
            .chain(folded)
            .chain(judged)
            .map(|(index, finding)| Found { index, finding })
            .collect();
        all.sort_by_key(|found| found.index.unwrap_or(u32::MAX));
        all
    }

    /// The log's first `cwd`.
    pub fn cwd(&self) -> Option<&str> {
        self.book.cwd.as_ref().map(|(_, cwd)| &**cwd)
    }

    // Files over time.

    /// Every path that the log names in a file event, sorted.
    pub fn paths(&self) -> Vec<&Id> {
        let rows = self.book.paths.rows();
        let sorted = self.sorted_paths();
        sorted
            .iter()
            .filter_map(|&number| Some(&rows.get(number as usize)?.name))
            .collect()
    }

    /// Numbers of all paths, in the order of their names.
    pub(crate) fn sorted_paths(&self) -> Arc<[u32]> {
        let rows = self.book.paths.rows();
        let mut sorted = self.sorted.lock().unwrap_or_else(PoisonError::into_inner);
        if sorted.len() != rows.len() {
            let mut numbers: Vec<u32> = (0..rows.len() as u32).collect();
            numbers.sort_unstable_by_key(|&number| rows.get(number as usize).map(|row| &row.name));
            *sorted = numbers.into();
        }
        sorted.clone()
    }

    /// The versions of a path in order.
    pub fn versions(&self, path: &str) -> &[Version] {
        let number = self.book.paths.get(path);
        number
            .and_then(|number| self.book.paths.row(number))
            .map_or(&[], |row| row.with.as_slice())
    }

    /// The path that an entry touches (the target of a rename).
    pub fn touches(&self, index: u32) -> Option<&Id> {
        let event = self.entry(index)?.entry.event()?;
        match &event.payload {
            Payload::FileCreate { path, .. }
            | Payload::FileChange { path, .. }
            | Payload::FileDelete { path }
            | Payload::FileObserve { path, .. } => Some(path),
            Payload::FileRename { to, .. } => Some(to),
            _ => None,
        }
    }

    // Contents.

    /// The text; `None` when the log no longer has the bytes that it needs.
    pub fn content(&self, content: ContentId, source: &dyn Source) -> Option<Arc<str>> {
        self.book.contents.text(content, &self.entries, source)
    }

    fn measure(&self, content: ContentId, source: &dyn Source) -> Option<Measure> {
        self.book.contents.measure(content, &self.entries, source)
    }

    /// Bytes of a content, computed when first asked for; 0 when the log no longer has it.
    pub fn content_bytes(&self, content: ContentId, source: &dyn Source) -> u64 {
        self.measure(content, source)
            .map_or(0, |measure| measure.bytes)
    }

    pub(crate) fn known_bytes(&self, content: ContentId, source: &dyn Source) -> Option<u64> {
        self.measure(content, source).map(|measure| measure.bytes)
    }

    /// SHA-256 of a content, lower-case hex; computed when first asked for.
    pub fn content_sha256(&self, content: ContentId, source: &dyn Source) -> Option<String> {
        self.measure(content, source)
            .map(|measure| hex(&measure.sha256))
    }

    // Tracks.

    pub fn lanes(&self, index: u32) -> Lanes {
        (index as usize)
            .checked_sub(1)
            .map_or(Lanes::default(), |at| self.tracks.lanes(at))
    }

    /// The entry's place on the time axis: Unix milliseconds on a clock that never runs back. An entry without a time
    /// stands at the one before it; before the first time, at that. `None` where no entry has a time.
    pub fn clock(&self, index: u32) -> Option<i64> {
        self.tracks.clock((index as usize).checked_sub(1)?)
    }

    /// The last entry whose clock is not later, 0 if there is none.
    pub fn position_at_clock(&self, unix_ms: f64) -> u32 {
        self.tracks.until(unix_ms) as u32
    }

    /// How many of the entries `first..=last` are in each lane (indices from 1).
    pub fn counts(&self, first: u32, last: u32) -> Counts {
        self.tracks
            .counts((first as usize).saturating_sub(1), last as usize)
    }

    /// How many of the entries `first..=last` are in this lane.
    pub fn count(&self, lane: Lanes, first: u32, last: u32) -> u32 {
        self.counts(first, last).of(lane)
    }

    /// The next entry after `index` with this lane.
    pub fn next_in_lane(&self, lane: Lanes, index: u32) -> Option<u32> {
        self.tracks
            .next(lane, index as usize)
            .map(|at| at as u32 + 1)
    }

    /// The last entry before `index` with this lane.
    pub fn previous_in_lane(&self, lane: Lanes, index: u32) -> Option<u32> {
        self.tracks
            .previous(lane, (index as usize).saturating_sub(1))
            .map(|at| at as u32 + 1)
    }

    /// Tokens in the hot and the warm zone after each entry that changes them: (index, hot, warm), in order.
    pub fn memory_tokens(&self) -> &[(u32, u32, u32)] {
        &self.book.tokens
    }

    /// An event's id as people see it.
    pub fn event_id(&self, event: EventRef) -> Option<&Id> {
        match event {
            EventRef::Entry(index) => Some(self.entry(index)?.entry.event()?.envelope.shown()),
            EventRef::Carried(number) => Some(&self.book.carried(number)?.id),
        }
    }
}

/// The recorded time of an entry, Unix milliseconds.
pub(crate) fn time(located: &Located) -> Option<i64> {
    match &located.entry {
        Entry::Event(event) => event.envelope.timestamp,
        Entry::Opaque(opaque) => opaque.timestamp,
    }
}

fn lanes(located: &Located, effect: &Effect) -> Lanes {
    let Some(event) = located.entry.event() else {
        return Lanes::default();
    };
    match &event.payload {
        Payload::Message { .. }
        | Payload::MessageToolResult { .. }
        | Payload::MessageCorrection { .. }
        | Payload::ContextCompact { .. } => Lanes::DIALOGUE,
        Payload::ToolCall { .. } => Lanes::TOOL,
        Payload::ToolResult { status, .. } if *status != Status::Ok => Lanes::TOOL_FAILED,
        Payload::FileCreate { .. } | Payload::FileChange { .. } => match effect {
            Effect::File { .. } => Lanes::FILE_PLUS,
            _ => Lanes::default(),
        },
        Payload::FileDelete { .. } => Lanes::FILE_MINUS,
        Payload::FileRename { .. } => match effect {
            Effect::Files(_) => Lanes::FILE_PLUS.with(Lanes::FILE_MINUS),
            _ => Lanes::default(),
        },
        Payload::ChipSave { .. } | Payload::ChipEvict { .. } | Payload::ChipInsert { .. } => {
            Lanes::CHIP
        }
        Payload::MemoryAdd { .. }
        | Payload::MemoryMove { .. }
        | Payload::MemoryRemove { .. }
        | Payload::MemoryRestore { .. } => Lanes::MEMORY,
        _ => Lanes::default(),
    }
}

fn with_severity(lanes: Lanes, worst: Option<Severity>) -> Lanes {
    match worst {
        Some(Severity::Error) => lanes.with(Lanes::ERROR),
        Some(Severity::Warning) => lanes.with(Lanes::WARNING),
        _ => lanes,
    }
}
