//! Traces: the tree of the events of one trace by their parents, with the span of time of each; what carries one
//! correlation, in order across both sessions.
//!
//! Left out: texts and rows for people. A hostile log may have circles and a million levels: nothing here recurses.

use crate::state::EventRef;
use crate::timeline::{time, Timeline};
use chipdeck_event::{Event, Id, Payload, Status};
use hashbrown::HashMap;

/// What is odd about an event's parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentNote {
    /// No event of the log has that id.
    Missing,
    /// It comes after its child.
    Later,
    /// It is an event of another trace (or of another correlation).
    Outside,
}

impl ParentNote {
    pub fn as_str(self) -> &'static str {
        match self {
            ParentNote::Missing => "missing",
            ParentNote::Later => "later",
            ParentNote::Outside => "outside",
        }
    }
}

/// An event in a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceNode {
    /// Entry, from 1.
    pub index: u32,
    pub depth: u32,
    /// Events directly below it.
    pub children: u32,
    pub parent: Option<u32>,
    pub note: Option<ParentNote>,
    /// Unix milliseconds.
    pub start: Option<i64>,
    /// A call: until its result. Others: until the last event below them; `None` where nothing is.
    pub duration_ms: Option<i64>,
}

/// One trace of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSpan {
    pub trace: Id,
    pub events: u32,
    /// First and last entry.
    pub first: u32,
    pub last: u32,
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub tools: u32,
    pub failed: u32,
    /// Its first message or call, else its first event.
    pub telling: u32,
}

impl Timeline {
    /// All traces, in the order in which they begin. Events without a trace are in none.
    pub fn traces(&self) -> Vec<TraceSpan> {
        let mut spans: Vec<TraceSpan> = Vec::new();
        let mut places: HashMap<&Id, (usize, bool)> = HashMap::new();
        for (index, located) in (1u32..).zip(self.entries()) {
            let Some(event) = located.entry.event() else {
                continue;
            };
            let trace = &event.envelope.trace_id;
            if trace.is_empty() {
                continue;
            }
            let (at, told) = places.entry(trace).or_insert_with(|| {
                spans.push(TraceSpan {
                    trace: trace.clone(),
                    events: 0,
                    first: index,
                    last: index,
                    start: None,
                    end: None,
                    tools: 0,
                    failed: 0,
                    telling: index,
                });
                (spans.len() - 1, false)
            });
            let Some(span) = spans.get_mut(*at) else {
                continue;
            };
            span.events += 1;
            span.last = index;
            if let Some(time) = time(located) {
                span.start = Some(span.start.map_or(time, |it| it.min(time)));
                span.end = Some(span.end.map_or(time, |it| it.max(time)));
            }
            match &event.payload {
                Payload::ToolCall { .. } => span.tools += 1,
                Payload::ToolResult { status, .. } if *status != Status::Ok => span.failed += 1,
                _ => {}
            }
            let tells = matches!(
                event.payload,
                Payload::Message { .. } | Payload::ToolCall { .. }
            );
            if tells && !std::mem::replace(told, true) {
                span.telling = index;
            }
        }
        spans
    }

    /// The tree of a trace, walked from its roots down: children in the order of the log. Empty for an unknown one.
    pub fn trace_tree(&self, trace: &str) -> Vec<TraceNode> {
        self.tree(&|event| *event.envelope.trace_id == *trace)
    }

    /// The events of a correlation in the order of the log, each as deep as its parents among them are.
    pub fn correlated(&self, correlation: &str) -> Vec<TraceNode> {
        let of = |event: &Event| event.envelope.correlation.as_deref() == Some(correlation);
        let mut nodes = self.tree(&of);
        nodes.sort_by_key(|node| node.index);
        nodes
    }

    fn tree(&self, wanted: &dyn Fn(&Event) -> bool) -> Vec<TraceNode> {
        let mut nodes: Vec<TraceNode> = Vec::new();
        // By entry, its place in `nodes`.
        let mut places: HashMap<u32, usize> = HashMap::new();
        for (index, located) in (1u32..).zip(self.entries()) {
            let Some(event) = located.entry.event().filter(|it| wanted(it)) else {
                continue;
            };
            places.insert(index, nodes.len());
            let parent = event.envelope.parent.as_ref();
            let found = parent.and_then(|id| self.book.ids.get(id, self.entries()));
            let note = match (parent, found) {
                (Some(_), None) => Some(ParentNote::Missing),
                (Some(_), Some(found)) if found >= index => Some(ParentNote::Later),
                _ => None,
            };
            nodes.push(TraceNode {
                index,
                depth: 0,
                children: 0,
                parent: found.filter(|found| *found != index),
                note,
                start: time(located),
                duration_ms: None,
            });
        }
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        let mut roots: Vec<usize> = Vec::new();
        for (at, node) in nodes.iter_mut().enumerate() {
            let parent = node.parent.map(|parent| places.get(&parent).copied());
            match parent {
                Some(Some(parent)) => match below.get_mut(parent) {
                    Some(list) => list.push(at),
                    None => roots.push(at),
                },
                Some(None) => {
                    node.note = Some(node.note.unwrap_or(ParentNote::Outside));
                    roots.push(at);
                }
                None => roots.push(at),
            }
        }
        // Those in a circle hang below no root: they are walked from the first of them.
        let (mut order, mut seen) = (Vec::with_capacity(nodes.len()), vec![false; nodes.len()]);
        let mut waiting: Vec<(usize, u32)> = Vec::new();
        let rest = 0..nodes.len();
        for start in roots.into_iter().chain(rest) {
            waiting.push((start, 0));
            while let Some((at, depth)) = waiting.pop() {
                match seen.get_mut(at) {
                    Some(seen) if !*seen => *seen = true,
                    _ => continue,
                }
                let children = below.get(at).map(Vec::as_slice).unwrap_or_default();
                if let Some(node) = nodes.get_mut(at) {
                    node.depth = depth;
                    node.children = children.len() as u32;
                }
                order.push(at);
                waiting.extend(children.iter().rev().map(|&child| (child, depth + 1)));
            }
        }
        self.durations(&mut nodes, &order, &places);
        order
            .into_iter()
            .filter_map(|at| nodes.get(at).cloned())
            .collect()
    }

    /// From the leaves up: a walk backwards meets every child before its parent.
    fn durations(&self, nodes: &mut [TraceNode], order: &[usize], places: &HashMap<u32, usize>) {
        let mut ends: Vec<Option<i64>> = nodes.iter().map(|node| node.start).collect();
        for &at in order.iter().rev() {
            let Some(node) = nodes.get_mut(at) else {
                continue;
            };
            let end = ends.get(at).copied().flatten();
            let below = match (node.start, end) {
                (Some(start), Some(end)) if node.children > 0 => Some((end - start).max(0)),
                _ => None,
            };
            node.duration_ms = self.call_duration(node.index).or(below);
            let reaches = match (node.start, node.duration_ms) {
                (Some(start), Some(duration)) => Some(start.saturating_add(duration)),
                (start, _) => start,
            };
            let reaches = reaches.max(end);
            let parent = node.parent.and_then(|parent| places.get(&parent));
            if let Some(slot) = parent.and_then(|&parent| ends.get_mut(parent)) {
                *slot = (*slot).max(reaches);
            }
        }
    }

    /// How long a call took: as its result says, else from the one to the other.
    pub fn call_duration(&self, call: u32) -> Option<i64> {
        let called = self.entry(call)?.entry.event()?;
        let Payload::ToolCall { .. } = called.payload else {
            return None;
        };
        let tool = self.tool(self.end(), &called.envelope.event_id)?;
        let Some(EventRef::Entry(result)) = tool.result else {
            return None;
        };
        let done = self.entry(result)?.entry.event()?;
        match &done.payload {
            Payload::ToolResult {
                duration_ms: Some(recorded),
                ..
            } if *recorded >= 0 => Some(*recorded),
            _ => {
                let (from, to) = (called.envelope.timestamp?, done.envelope.timestamp?);
                Some(to.saturating_sub(from).max(0))
            }
        }
    }
}
