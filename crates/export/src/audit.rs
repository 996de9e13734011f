//! An audit: the execution session alone, with figures by tool, status and duration.

use crate::lines::Lines;
use crate::{Error, Log, Part, Scope};
use chipdeck_event::{Payload, Status};
use std::collections::BTreeMap;

/// Figures of one tool. Durations are milliseconds, of the calls that have one.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolFigures {
    pub tool: String,
    pub calls: u64,
    pub ok: u64,
    pub error: u64,
    pub denied: u64,
    pub cancelled: u64,
    pub timeout: u64,
    /// Calls without a result in the part.
    pub interrupted: u64,
    pub timed: u64,
    pub total_ms: u64,
    pub median_ms: u64,
    pub longest_ms: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Audit {
    /// By tool, the most called first.
    pub tools: Vec<ToolFigures>,
    pub all: ToolFigures,
    /// Unix milliseconds.
    pub first: Option<i64>,
    pub last: Option<i64>,
    pub events: u64,
}

/// The figures of a part's execution session; its scope is not looked at.
///
/// # Errors
/// The part has no event of that session.
pub fn audit(log: Log<'_>, part: &Part) -> Result<Audit, Error> {
    let part = Part {
        scope: Scope::Exec,
        ..part.clone()
    };
    Ok(figures(&Lines::of(log, &part)?))
}

#[derive(Default)]
struct Tally {
    figures: ToolFigures,
    durations: Vec<u64>,
}

pub(crate) fn figures(lines: &Lines<'_>) -> Audit {
    let timeline = lines.log.timeline;
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut out = Audit {
        events: lines.events(),
        ..Audit::default()
    };
    let last = lines.indices().next_back().unwrap_or(0);
    let state = timeline.state_at(last);
    for index in lines.indices() {
        let Some(event) = lines.event(index) else {
            continue;
        };
        out.first = out.first.or(event.envelope.timestamp);
        out.last = event.envelope.timestamp.or(out.last);
        let Payload::ToolCall { tool_name, .. } = &event.payload else {
            continue;
        };
        // A second event with an id that was there does nothing.
        if timeline.index_of_event(&event.envelope.event_id) != Some(index) {
            continue;
        }
        let called = timeline.tool(&state, &event.envelope.event_id);
        let result = called.and_then(|it| crate::part::entry_of(it.result?));
        let result = result.and_then(|at| lines.event(at));
        let tally = tallies.entry(tool_name.to_string()).or_default();
        let took = match result.map(|it| (&it.payload, it.envelope.timestamp)) {
            Some((Payload::ToolResult { duration_ms, .. }, time)) => duration_ms.or_else(|| {
                let times = event.envelope.timestamp.zip(time);
                times.map(|(from, to)| to - from)
            }),
            _ => None,
        };
        tally.take(called.and_then(|it| it.status), took);
    }
    let mut all = Tally::default();
    for (tool, mut tally) in tallies {
        all.merge(&tally);
        tally.figures.tool = tool;
        out.tools.push(tally.done());
    }
    out.tools.sort_by_key(|it| std::cmp::Reverse(it.calls));
    out.all = all.done();
    out
}

impl Tally {
    fn take(&mut self, status: Option<Status>, took: Option<i64>) {
        let it = &mut self.figures;
        it.calls += 1;
        let count = match status {
            None => &mut it.interrupted,
            Some(Status::Ok) => &mut it.ok,
            Some(Status::Error) => &mut it.error,
            Some(Status::Denied) => &mut it.denied,
            Some(Status::Cancelled) => &mut it.cancelled,
            Some(Status::Timeout) => &mut it.timeout,
        };
        *count += 1;
        self.durations
            .extend(took.and_then(|it| u64::try_from(it).ok()));
    }

    fn merge(&mut self, other: &Tally) {
        let (it, more) = (&mut self.figures, &other.figures);
        it.calls += more.calls;
        it.ok += more.ok;
        it.error += more.error;
        it.denied += more.denied;
        it.cancelled += more.cancelled;
        it.timeout += more.timeout;
        it.interrupted += more.interrupted;
        self.durations.extend(&other.durations);
    }

    fn done(mut self) -> ToolFigures {
        self.durations.sort_unstable();
        let it = &mut self.figures;
        it.timed = self.durations.len() as u64;
        it.total_ms = self
            .durations
            .iter()
            .fold(0, |sum, it| sum.saturating_add(*it));
        let middle = self.durations.len().saturating_sub(1) / 2;
        it.median_ms = self.durations.get(middle).copied().unwrap_or(0);
        it.longest_ms = self.durations.last().copied().unwrap_or(0);
        self.figures
    }
}
