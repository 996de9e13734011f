//! Which entries a part has, and before which of them the state has to be told.

use chipdeck_event::{Event, Payload};
use chipdeck_replay::{EventRef, Timeline};
use std::collections::{HashMap, HashSet};

/// Which events of the span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    All,
    Trace(String),
    Correlation(String),
    /// The execution session alone: an audit.
    Exec,
}

/// A part: the entries after position `from` up to position `to`, those of the scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// `None`: from the start of the log, and of everything; then no state needs to be told before.
    pub from: Option<u32>,
    pub to: Option<u32>,
    pub scope: Scope,
}

/// An entry of the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// From 1.
    pub index: u32,
    /// The state before it is told first.
    pub snapshot: bool,
}

impl Part {
    pub(crate) fn choose(&self, timeline: &Timeline) -> Vec<Chosen> {
        let to = self.to.unwrap_or(u32::MAX).min(timeline.len());
        let from = self.from.unwrap_or(0).min(to);
        let mut chosen: Vec<Chosen> = (from + 1..=to)
            .filter(|index| self.has(timeline, *index))
            .map(|index| Chosen {
                index,
                snapshot: false,
            })
            .collect();
        let whole = self.from.is_none() && self.scope == Scope::All;
        if !whole {
            leave_out_copies(timeline, &mut chosen);
        }
        if let Some(first) = chosen.first_mut() {
            first.snapshot = !whole;
        }
        if self.scope != Scope::All {
            tell_gaps(timeline, &mut chosen);
        }
        chosen
    }

    /// How many events it has.
    pub fn events(&self, timeline: &Timeline) -> u64 {
        let is_event = |it: &Chosen| {
            let entry = timeline.entry(it.index);
            entry.is_some_and(|it| it.entry.event().is_some())
        };
        self.choose(timeline)
            .iter()
            .filter(|it| is_event(it))
            .count() as u64
    }

    fn has(&self, timeline: &Timeline, index: u32) -> bool {
        let event = timeline.entry(index).and_then(|it| it.entry.event());
        match (&self.scope, event) {
            (Scope::All, _) => true,
            (_, None) => false,
            (Scope::Trace(id), Some(event)) => *event.envelope.trace_id == **id,
            (Scope::Correlation(id), Some(event)) => {
                event.envelope.correlation.as_deref() == Some(&**id)
            }
            (Scope::Exec, Some(event)) => event.envelope.session == chipdeck_event::Session::Exec,
        }
    }
}

/// A second event with an id that was applied before is ignored. Without the first one it would not be.
fn leave_out_copies(timeline: &Timeline, chosen: &mut Vec<Chosen>) {
    let inside: HashSet<u32> = chosen.iter().map(|it| it.index).collect();
    chosen.retain(|it| {
        let event = timeline.entry(it.index).and_then(|it| it.entry.event());
        let first = event.and_then(|it| timeline.applied(&it.envelope.event_id));
        first.is_none_or(|first| first == it.index || inside.contains(&first))
    });
}

/// Entries between those of the part may have changed what a later one builds on: then the state is told again.
fn tell_gaps(timeline: &Timeline, chosen: &mut [Chosen]) {
    let inside: HashSet<u32> = chosen.iter().map(|it| it.index).collect();
    // Where each path is named, by an edit that failed too.
    let mut named: HashMap<&str, Vec<u32>> = HashMap::new();
    for index in 1..=chosen.last().map_or(0, |it| it.index) {
        let event = timeline.entry(index).and_then(|it| it.entry.event());
        for path in event.map(paths).unwrap_or_default() {
            named.entry(path).or_default().push(index);
        }
    }
    // The last entry that what was told so far has.
    let mut told = 0;
    for at in chosen.iter_mut() {
        if at.snapshot {
            told = at.index - 1;
            continue;
        }
        let Some(event) = timeline.entry(at.index).and_then(|it| it.entry.event()) else {
            continue;
        };
        let left_out = |index: u32| index > told && index < at.index && !inside.contains(&index);
        let by_file = paths(event).into_iter().any(|path| {
            let named = named.get(path).map(Vec::as_slice).unwrap_or_default();
            named.iter().any(|index| left_out(*index))
        });
        let by_call = match &event.payload {
            Payload::ToolResult { .. } => timeline.counterpart(at.index).is_some_and(left_out),
            _ => false,
        };
        let by_list = family(&event.payload).is_some_and(|wanted| {
            (told + 1..at.index).any(|index| {
                left_out(index)
                    && timeline
                        .entry(index)
                        .and_then(|it| it.entry.event())
                        .and_then(|it| family(&it.payload))
                        == Some(wanted)
            })
        });
        if by_file || by_call || by_list {
            at.snapshot = true;
            told = at.index - 1;
        }
    }
}

pub(crate) fn paths(event: &Event) -> Vec<&str> {
    match &event.payload {
        Payload::FileCreate { path, .. }
        | Payload::FileChange { path, .. }
        | Payload::FileDelete { path }
        | Payload::FileObserve { path, .. } => vec![path],
        Payload::FileRename { from, to } => vec![from, to],
        _ => Vec::new(),
    }
}

/// Events that build on each other's lists.
fn family(payload: &Payload) -> Option<u8> {
    match payload {
        Payload::ChipSave { .. } | Payload::ChipEvict { .. } => Some(0),
        Payload::MemoryAdd { .. }
        | Payload::MemoryMove { .. }
        | Payload::MemoryRemove { .. }
        | Payload::MemoryRestore { .. } => Some(1),
        Payload::PlanCreate { .. } | Payload::PlanReview { .. } | Payload::ContextLoad { .. } => {
            Some(2)
        }
        Payload::ContextCompact { .. } => Some(3),
        _ => None,
    }
}

/// The entry of an event, where it has one.
pub(crate) fn entry_of(event: EventRef) -> Option<u32> {
    match event {
        EventRef::Entry(index) => Some(index),
        EventRef::Carried(_) => None,
    }
}
