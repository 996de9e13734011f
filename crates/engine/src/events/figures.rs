//! Figures of the execution session alone: calls by tool, by outcome, by duration. Read-only; needs nothing of what
//! was said.

use crate::api::{FiguresView, ToolFigures};
use chipdeck_event::{Payload, Session, Status};
use chipdeck_replay::{EventRef, State, Timeline};
use std::collections::BTreeMap;

#[derive(Default)]
struct Tally {
    row: ToolFigures,
    /// Duration and the call's entry.
    times: Vec<(i64, u32)>,
}

/// Of the calls up to a state, tools sorted by calls (most first), then by name.
pub fn figures(timeline: &Timeline, state: &State) -> FiguresView {
    let mut tools: BTreeMap<&str, Tally> = BTreeMap::new();
    let event = |index: u32| timeline.entry(index)?.entry.event();
    for call in timeline.tools(state) {
        let tally = tools.entry(call.tool_name).or_default();
        let row = &mut tally.row;
        row.calls += 1;
        match call.status {
            Some(Status::Ok) => row.ok += 1,
            Some(Status::Error) => row.error += 1,
            Some(Status::Denied) => row.denied += 1,
            Some(Status::Cancelled) => row.cancelled += 1,
            Some(Status::Timeout) => row.timeout += 1,
            None => row.interrupted += 1,
        }
        let (Some(index), Some(EventRef::Entry(result))) = (call.index, call.result) else {
            continue;
        };
        let Some(done) = event(result) else { continue };
        let recorded = match &done.payload {
            Payload::ToolResult { duration_ms, .. } => *duration_ms,
            _ => None,
        };
        let began = event(index).and_then(|it| it.envelope.timestamp);
        let apart = || Some(done.envelope.timestamp?.checked_sub(began?)?.max(0));
        if let Some(time) = recorded.filter(|it| *it >= 0).or_else(apart) {
            tally.times.push((time, index));
        }
    }
    let exec = timeline
        .entries()
        .iter()
        .take(state.position() as usize)
        .filter_map(|it| it.entry.event())
        .filter(|it| it.envelope.session == Session::Exec);
    let mut view = FiguresView {
        events: exec.count() as u64,
        calls: tools.values().map(|it| it.row.calls).sum(),
        tools: tools.into_iter().map(|(name, it)| row(name, it)).collect(),
    };
    view.tools
        .sort_by(|a, b| b.calls.cmp(&a.calls).then(a.tool_name.cmp(&b.tool_name)));
    view
}

fn row(name: &str, tally: Tally) -> ToolFigures {
    let mut times = tally.times;
    times.sort_unstable();
    // The smallest time that so many of a hundred calls took no longer than.
    let at = |percent: usize| {
        let place = (times.len() * percent).div_ceil(100).max(1) - 1;
        times.get(place).map(|it| it.0)
    };
    ToolFigures {
        tool_name: name.to_owned(),
        timed: times.len() as u64,
        total_ms: times
            .iter()
            .fold(0, |sum: i64, it| sum.saturating_add(it.0)),
        median_ms: at(50),
        p95_ms: at(95),
        longest_ms: times.last().map(|it| it.0),
        longest_index: times.last().map(|it| u64::from(it.1)),
        ..tally.row
    }
}
