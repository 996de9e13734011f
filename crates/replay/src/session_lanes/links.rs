//! Which call started which sub-agent, where the agent's own records do not tell: the call's result names the agent, or
//! its arguments hold the agent's first message word for word.

use super::{LaneKind, SessionLanes};
use crate::timeline::Timeline;
use chipdeck_event::{Json, Payload};
use chipdeck_ingest::{load_json, load_text, Source};
use std::sync::Arc;

/// Bytes of a call's arguments and of its result that are looked through.
const LOOK: usize = 256 << 10;
/// Calls that are kept in mind.
const MOST: usize = 20_000;
/// Of a first message, this much has to be in the arguments.
const ENOUGH: usize = 400;

/// A call that may have started an agent.
#[derive(Clone, Debug)]
pub(super) struct Starter {
    pub call: u32,
    taken: bool,
}

/// Do calls of this tool start agents?
pub(super) fn starts_agents(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    tool == "task" || tool == "new_task" || tool.contains("agent") || tool.contains("delegate")
}

impl SessionLanes {
    pub(super) fn starter(&mut self, call: u32) {
        if self.starters.len() < MOST {
            self.starters.push(Starter { call, taken: false });
        }
    }

    /// Ties sub-agents to their calls and sessions to those that they come from. `results` counts what is known.
    pub(super) fn tie(&mut self, timeline: &Timeline, source: &dyn Source) {
        self.tie_told();
        let loose: Vec<u32> = (0u32..)
            .zip(&self.rows)
            .filter(|(_, row)| row.kind == LaneKind::SubAgent && row.call.is_none())
            .map(|(at, _)| at)
            .collect();
        let answered = self
            .starters
            .iter()
            .filter(|it| timeline.counterpart(it.call).is_some())
            .count();
        // Nothing new to be learned.
        if loose.is_empty() || self.looked == (loose.len() + self.rows.len(), answered) {
            return;
        }
        self.looked = (loose.len() + self.rows.len(), answered);
        let texts: Vec<_> = self
            .starters
            .iter()
            .filter(|it| !it.taken)
            .map(|it| texts(timeline, source, it.call))
            .collect();
        for lane in loose {
            let Some(row) = self.get(lane) else {
                continue;
            };
            let name: &str = &row.trace;
            let named = |text: &Option<Arc<str>>| {
                name.len() >= 6 && text.as_deref().is_some_and(|text| text.contains(name))
            };
            let first = row
                .first_said
                .and_then(|index| said(timeline, source, index));
            let first = first.as_deref().map(head).filter(|text| text.len() >= 8);
            let asked = |args: &Option<Arc<str>>| {
                first
                    .zip(args.as_deref())
                    .is_some_and(|(first, args)| holds(args, first))
            };
            let free = |call: u32| {
                self.of(call) != Some(lane)
                    && self.starters.iter().any(|it| it.call == call && !it.taken)
            };
            let hit = texts
                .iter()
                .find(|(call, _, result)| free(*call) && named(result))
                .or_else(|| {
                    texts
                        .iter()
                        .find(|(call, args, _)| free(*call) && (asked(args) || named(args)))
                });
            if let Some((call, _, _)) = hit {
                self.start_by(lane, *call);
            }
        }
        // What nobody claims belongs to the session that it ran in.
        self.tie_rest();
    }

    pub(super) fn start_by(&mut self, lane: u32, call: u32) {
        let parent = self.of(call).filter(|parent| *parent != lane);
        let Some(row) = self.rows.get_mut(lane as usize) else {
            return;
        };
        row.call = Some(call);
        row.from = call;
        row.parent = parent;
        for starter in &mut self.starters {
            starter.taken |= starter.call == call;
        }
    }

    /// The session that a first record names, once it is here.
    fn tie_told(&mut self) {
        for at in 0..self.rows.len() {
            let Some(row) = self.rows.get(at) else {
                continue;
            };
            let (None, Some(told)) = (row.parent, &row.told) else {
                continue;
            };
            // Behind its own headers: what was copied stands between them and what it says itself.
            let second = row.own.runs().nth(1).map(|(first, _)| first);
            let Some(begins) = row.first_said.or(second) else {
                continue;
            };
            let found = self
                .rows
                .iter()
                .position(|other| *other.trace == **told)
                .filter(|parent| *parent != at);
            let Some(parent) = found else { continue };
            let from = self
                .rows
                .get(parent)
                .and_then(|row| row.own.previous(begins))
                .unwrap_or(0);
            // A parent that is a lane of this one would be a ring.
            if self
                .past(parent as u32)
                .iter()
                .any(|(it, _)| *it == at as u32)
            {
                continue;
            }
            if let Some(row) = self.rows.get_mut(at) {
                row.parent = Some(parent as u32);
                row.from = from;
            }
        }
    }

    fn tie_rest(&mut self) {
        let main = self.rows.iter().position(|row| row.kind == LaneKind::Main);
        let Some(main) = main else { return };
        for at in 0..self.rows.len() {
            let Some(row) = self.rows.get(at) else {
                continue;
            };
            if row.kind != LaneKind::SubAgent || row.parent.is_some() || at == main {
                continue;
            }
            let first = row.first();
            let from = self.rows.get(main).and_then(|it| it.own.previous(first));
            if let Some(row) = self.rows.get_mut(at) {
                row.parent = Some(main as u32);
                row.from = from.unwrap_or(0);
            }
        }
    }
}

/// A call's arguments and result.
fn texts(
    timeline: &Timeline,
    source: &dyn Source,
    call: u32,
) -> (u32, Option<Arc<str>>, Option<Arc<str>>) {
    let payload = |index: u32| {
        let event = timeline.entry(index)?.entry.event()?;
        Some(&event.payload)
    };
    let args = match payload(call) {
        Some(Payload::ToolCall { args, .. }) => short(args, source),
        _ => None,
    };
    let result = match timeline.counterpart(call).and_then(payload) {
        Some(Payload::ToolResult { result, error, .. }) => {
            short(result, source).or_else(|| short(error, source))
        }
        _ => None,
    };
    (call, args, result)
}

fn short(json: &Json, source: &dyn Source) -> Option<Arc<str>> {
    match json {
        Json::Span(span) if span.len as usize > LOOK => None,
        _ => load_json(json, source),
    }
}

fn said(timeline: &Timeline, source: &dyn Source, index: u32) -> Option<Arc<str>> {
    match &timeline.entry(index)?.entry.event()?.payload {
        Payload::Message { content, .. } => load_text(content, source),
        _ => None,
    }
}

fn head(text: &str) -> &str {
    let text = text.trim();
    let mut end = text.len().min(ENOUGH);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Is one of the strings of this JSON that text, or does it begin with it?
fn holds(json: &str, text: &str) -> bool {
    fn any(value: &serde_json::Value, text: &str) -> bool {
        match value {
            serde_json::Value::String(it) => {
                let it = it.trim();
                it.starts_with(text) || (it.len() >= 40 && text.starts_with(it))
            }
            serde_json::Value::Array(items) => items.iter().any(|it| any(it, text)),
            serde_json::Value::Object(members) => members.values().any(|it| any(it, text)),
            _ => false,
        }
    }
    serde_json::from_str(json).is_ok_and(|value| any(&value, text))
}
