//! One entry to its effect: everything that needs names, texts or the state before is settled here, once.
//!
//! Files are in [`crate::files`], a whole state in [`crate::carry`]. Pure: the same entries give the same effects.

use crate::book::{Book, Call};
use crate::edit::{Steps, LINE};
use crate::effect::Effect;
use crate::files::FileFold;
use crate::reach::reaches;
use crate::state::*;
use chipdeck_event::{Code, Entry, Event, Finding, Id, Located, Payload, Reach, Status, Zone};
use chipdeck_ingest::{load_record, same_json, Source};

/// What one entry is folded with.
pub(crate) struct Fold<'a> {
    pub book: &'a mut Book,
    /// All entries, the current one last.
    pub entries: &'a [Located],
    /// The state before it.
    pub state: &'a State,
    pub source: &'a dyn Source,
    /// Of the current entry, from 1.
    pub index: u32,
    /// Parents are judged.
    pub canonical: bool,
    /// What the entry may take.
    pub steps: Steps,
}

impl Fold<'_> {
    pub(crate) fn current(&mut self) -> Effect {
        let entries = self.entries;
        let Some(located) = entries.last() else {
            return Effect::None;
        };
        let Entry::Event(event) = &located.entry else {
            return Effect::None;
        };
        if let Some(first) = self.book.ids.put(self.index, entries) {
            self.duplicate(first, located);
            return Effect::None;
        }
        if self.canonical {
            if let Some(parent) = &event.envelope.parent {
                // Itself is not before it.
                if self
                    .book
                    .ids
                    .get(parent, entries)
                    .is_none_or(|index| index == self.index)
                {
                    self.book.orphans.push(self.index);
                }
            }
        }
        let effect = self.event(event);
        if let Some(shown) = &event.envelope.shown_id {
            self.book.shown.entry(shown.clone()).or_insert(self.index);
        }
        effect
    }

    fn event(&mut self, event: &Event) -> Effect {
        match &event.payload {
            Payload::SessionStart { cwd, .. } => {
                if let (None, Some(cwd)) = (&self.book.cwd, cwd) {
                    self.book.cwd = Some((self.index, cwd.clone()));
                }
                Effect::None
            }
            Payload::SessionEnd { .. }
            | Payload::ChipInsert { .. }
            | Payload::RestoreApply { .. }
            | Payload::Unknown
            | Payload::Bad => Effect::None,
            Payload::Message { .. } => self.say(),
            Payload::MessageToolResult { .. } | Payload::MessageCorrection { .. } => {
                self.book.claims.push(self.index);
                self.say()
            }
            Payload::ContextCompact { through, .. } => self.compact(through),
            Payload::ToolCall { tool_name, .. } => self.call(event, tool_name),
            Payload::ToolResult { call, status, .. } => self.result(event, call.as_ref(), *status),
            Payload::FileCreate { path, content } => self.create(path, content),
            Payload::FileChange { path, .. } => self.change(path, &event.payload),
            Payload::FileDelete { path } => self.delete(path),
            Payload::FileRename { from, to } => self.rename(from, to),
            Payload::FileObserve {
                path,
                sha256,
                content,
            } => self.observe(path, sha256.as_deref(), content.as_ref()),
            Payload::ChipSave { id, .. } => {
                let chip = self.book.chips.number(id, self.index, || ());
                match self.state.chip(chip) {
                    ChipPlace::Queue(_) => Effect::None,
                    _ => Effect::ChipPut {
                        chip,
                        place: ChipPlace::Queue(self.index),
                    },
                }
            }
            Payload::ChipEvict { id, .. } => {
                let chip = self.book.chips.get(id);
                match chip.map(|chip| (chip, self.state.chip(chip))) {
                    Some((chip, ChipPlace::Queue(saved))) => Effect::ChipPut {
                        chip,
                        place: ChipPlace::Evicted(saved),
                    },
                    _ => self.unknown_id("chip", id),
                }
            }
            Payload::MemoryAdd {
                id, zone, tokens, ..
            } => {
                let tokens = tokens.map_or(0, |tokens| u32::try_from(tokens).unwrap_or(0));
                let item = self.book.memory.number(id, self.index, || tokens);
                if self.state.memory_item(item) != MemoryPlace::Gone {
                    return Effect::None;
                }
                if let Some(row) = self.book.memory.row_mut(item) {
                    row.with = tokens;
                }
                self.memory_put(item, MemoryPlace::Zone(*zone))
            }
            Payload::MemoryMove { id, to, .. } => match self.memory_at(id) {
                Some((item, MemoryPlace::Zone(_))) => self.memory_put(item, MemoryPlace::Zone(*to)),
                _ => self.unknown_id("memory item", id),
            },
            Payload::MemoryRemove { id } => match self.memory_at(id) {
                Some((item, MemoryPlace::Zone(zone))) => {
                    self.memory_put(item, MemoryPlace::Recycled(zone))
                }
                _ => self.unknown_id("memory item", id),
            },
            Payload::MemoryRestore { id } => match self.memory_at(id) {
                Some((item, MemoryPlace::Recycled(zone))) => {
                    self.memory_put(item, MemoryPlace::Zone(zone))
                }
                _ => self.unknown_id("recycled memory item", id),
            },
            Payload::PlanCreate { plan, .. } => {
                let plan = self.book.plans.number(plan, self.index, || ());
                Effect::Plan {
                    plan,
                    status: PlanStatus::Proposed,
                }
            }
            Payload::PlanReview { plan, decision } => {
                let status = match decision {
                    chipdeck_event::Decision::Approved => PlanStatus::Approved,
                    chipdeck_event::Decision::Rejected => PlanStatus::Rejected,
                };
                self.plan(plan, status)
            }
            Payload::ContextLoad { plan, .. } => match plan {
                Some(plan) => self.plan(plan, PlanStatus::Loaded),
                None => Effect::None,
            },
            Payload::StateSnapshot { state, contents } => self.carry(state, contents),
        }
    }

    // Findings.

    pub(crate) fn finding(&self, code: Code, message: impl Into<String>) -> Finding {
        let located = self.entries.last();
        let (file, line) = located.map_or((0, 0), |l| (l.place.file, l.place.line));
        let mut finding = Finding::new(code, file, line, message);
        let event = located.and_then(|l| l.entry.event());
        finding.event_id = event.map(|event| event.envelope.shown().to_string());
        finding
    }

    pub(crate) fn find(&mut self, finding: Finding) {
        self.book.found.push((self.index, finding));
    }

    fn unknown_id(&mut self, what: &str, id: &str) -> Effect {
        let shown: String = id.chars().take(80).collect();
        let finding = self.finding(Code::UnknownId, format!("there is no {what} `{shown}`"));
        self.find(finding);
        Effect::None
    }

    fn duplicate(&mut self, first: u32, second: &Located) {
        let same = (first as usize)
            .checked_sub(1)
            .and_then(|at| self.entries.get(at))
            .is_some_and(|first| {
                first.place == second.place
                    || same_json(
                        &load_record(first.place, self.source),
                        &load_record(second.place, self.source),
                    )
            });
        let finding = if same {
            self.finding(
                Code::DuplicateEvent,
                "an event with this id was applied already: ignored",
            )
        } else {
            self.finding(
                Code::ConflictingDuplicate,
                "another event with this id was applied already: this one is ignored",
            )
        };
        self.find(finding);
    }

    // Dialogue and context.

    fn compact(&mut self, through: &Id) -> Effect {
        // What a `state.snapshot` carried stands there, in the order of its list.
        let carried = self.state.context_heads.iter().find(|item| {
            item.at.1 != u32::MAX && self.book.event_id_is(item.event, self.entries, through)
        });
        let at = match carried {
            Some(item) => Some(item.at),
            None => self
                .book
                .ids
                .get(through, self.entries)
                .map(|index| (index, u32::MAX)),
        };
        let Some(at) = at else {
            return self.unknown_id("earlier event", through);
        };
        let (from, to) = (self.state.context_from, self.state.said_to);
        let said = self
            .book
            .said
            .get(from as usize..to as usize)
            .unwrap_or_default();
        let replaced = said.partition_point(|&event| (event, u32::MAX) <= at);
        Effect::Compact {
            at,
            from: from + replaced as u32,
        }
    }

    fn say(&mut self) -> Effect {
        self.book.said.push(EventRef::Entry(self.index).pack());
        Effect::Say
    }

    // Tools.

    fn call(&mut self, event: &Event, tool_name: &Id) -> Effect {
        let index = self.index;
        let tool = self
            .book
            .calls
            .number(&event.envelope.event_id, index, || Call {
                tool_name: tool_name.clone(),
                entry: Some(index),
            });
        if let Some(row) = self.book.calls.row_mut(tool) {
            row.with.entry = Some(index);
            row.with.tool_name = tool_name.clone();
        }
        let correlation = event.envelope.correlation.as_ref();
        let correlation = correlation.map(|id| self.book.correlations.number(id, index, || ()));
        Effect::Call { tool, correlation }
    }

    fn result(&mut self, event: &Event, call: Option<&Id>, status: Status) -> Effect {
        let known = |id: &Id| {
            self.book
                .calls
                .get(id)
                .filter(|&tool| self.state.tool(tool).is_some())
        };
        let tool = match call {
            Some(call) => known(call),
            None => event.envelope.parent.as_ref().and_then(known).or_else(|| {
                let correlation = event.envelope.correlation.as_ref()?;
                self.state
                    .last_open(self.book.correlations.get(correlation)?)
            }),
        };
        let Some(tool) = tool else {
            self.book.strays.push(self.index);
            let mut finding =
                self.finding(Code::ResultWithoutCall, "a tool result without its call");
            finding.call_id = call.map(|id| id.to_string());
            self.find(finding);
            return Effect::None;
        };
        let entry = self.book.calls.row(tool).and_then(|row| row.with.entry);
        let called = entry
            .and_then(|index| self.entries.get((index as usize).checked_sub(1)?))
            .and_then(|located| located.entry.event());
        let correlation = called
            .and_then(|call| call.envelope.correlation.as_ref())
            .and_then(|id| self.book.correlations.get(id));
        let ran = !matches!(status, Status::Denied | Status::Cancelled);
        let changed = match called.map(|call| &call.payload) {
            Some(Payload::ToolCall {
                reach: Reach::Changer { words },
                ..
            }) if ran => {
                let work = (words.len() as u64).saturating_mul(self.book.paths.rows().len() as u64);
                if !self.steps.spend(work.saturating_mul(LINE)) {
                    let message = "the call's words take more work than one event may: skipped";
                    let finding = self.finding(Code::HandlerTimeout, message);
                    self.find(finding);
                    return Effect::None;
                }
                Some(self.reached(words))
            }
            _ => None,
        };
        Effect::Result {
            tool,
            correlation,
            status,
            changed,
        }
    }

    /// The files that the words of a changer reach are no longer sure.
    fn reached(&mut self, words: &[Box<str>]) -> Box<[(u32, u32)]> {
        let rows = self.book.paths.rows();
        let hit = (0u32..)
            .zip(rows)
            .filter(|(_, row)| reaches(words, &row.name));
        let hit: Vec<u32> = hit.map(|(number, _)| number).collect();
        let mut doubted = Vec::new();
        for path in hit {
            let Some(file) = self.book.file(self.state, path) else {
                continue;
            };
            if file.certainty == Certainty::Exact {
                let to = FileState {
                    certainty: Certainty::Unverified,
                    why: Why::ShellSince,
                    ..file
                };
                doubted.push((path, self.book.file_row(to, self.index)));
            }
        }
        doubted.into()
    }

    // Memory and plans.

    fn memory_at(&self, id: &Id) -> Option<(u32, MemoryPlace)> {
        let item = self.book.memory.get(id)?;
        Some((item, self.state.memory_item(item)))
    }

    fn memory_put(&mut self, item: u32, place: MemoryPlace) -> Effect {
        let (_, mut hot, mut warm) = self.book.tokens.last().copied().unwrap_or_default();
        let tokens = self.book.memory.row(item).map_or(0, |row| row.with);
        match self.state.memory_item(item).zone() {
            Some(Zone::Hot) => hot = hot.saturating_sub(tokens),
            Some(Zone::Warm) => warm = warm.saturating_sub(tokens),
            _ => {}
        }
        match place.zone() {
            Some(Zone::Hot) => hot = hot.saturating_add(tokens),
            Some(Zone::Warm) => warm = warm.saturating_add(tokens),
            _ => {}
        }
        self.book.tokens.push((self.index, hot, warm));
        Effect::MemoryPut { item, place }
    }

    fn plan(&mut self, id: &Id, status: PlanStatus) -> Effect {
        let known = self
            .book
            .plans
            .get(id)
            .filter(|&plan| self.state.plan(plan).is_some());
        match known {
            Some(plan) => Effect::Plan { plan, status },
            None => self.unknown_id("plan", id),
        }
    }
}

impl Book {
    pub(crate) fn event_id_is(&self, event: EventRef, entries: &[Located], id: &str) -> bool {
        match event {
            EventRef::Entry(index) => (index as usize)
                .checked_sub(1)
                .and_then(|at| entries.get(at))
                .and_then(|located| located.entry.event())
                .is_some_and(|event| &*event.envelope.event_id == id),
            EventRef::Carried(number) => self
                .carried(number)
                .is_some_and(|carried| &*carried.id == id),
        }
    }
}
