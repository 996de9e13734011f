//! Traces and correlations as pages of rows.

use crate::api::*;
use crate::log::{window, Look};
use chipdeck_event::Session;
use chipdeck_replay::{TraceNode, TraceSpan};

impl Look<'_> {
    /// Traces in the order in which they begin.
    pub fn traces(&self, offset: u64, limit: u64) -> Page<TraceSummary> {
        let (skip, take) = window(offset, limit);
        let all = self.timeline.traces();
        let summary = |it: &TraceSpan| TraceSummary {
            trace_id: it.trace.to_string(),
            events: u64::from(it.events),
            first: u64::from(it.first),
            last: u64::from(it.last),
            start: it.start,
            end: it.end,
            tools: u64::from(it.tools),
            failed: u64::from(it.failed),
            summary: self
                .row(it.telling)
                .map(|row| row.summary)
                .unwrap_or_default(),
        };
        Page {
            offset,
            total: all.len() as u64,
            rows: all.iter().skip(skip).take(take).map(summary).collect(),
        }
    }

    pub fn trace(&self, trace: &str, offset: u64, limit: u64) -> TraceView {
        let (skip, take) = window(offset, limit);
        let nodes = self.timeline.trace_tree(trace);
        let (start, end) = span(&nodes);
        TraceView {
            trace_id: trace.to_owned(),
            total: nodes.len() as u64,
            offset,
            start,
            end,
            depth: nodes.iter().map(|node| node.depth).max().unwrap_or(0),
            rows: self.nodes(nodes.iter().skip(skip).take(take)),
        }
    }

    pub fn correlation(&self, correlation: &str, offset: u64, limit: u64) -> CorrelationView {
        let (skip, take) = window(offset, limit);
        let nodes = self.timeline.correlated(correlation);
        let (start, end) = span(&nodes);
        let of = |session: Session| {
            let events = nodes.iter().filter_map(|node| {
                let event = self.timeline.entry(node.index)?.entry.event()?;
                (event.envelope.session == session).then_some(())
            });
            events.count() as u64
        };
        CorrelationView {
            correlation_id: correlation.to_owned(),
            total: nodes.len() as u64,
            offset,
            dialog: of(Session::Dialog),
            exec: of(Session::Exec),
            start,
            end,
            rows: self.nodes(nodes.iter().skip(skip).take(take)),
        }
    }

    fn nodes<'n>(&self, nodes: impl Iterator<Item = &'n TraceNode>) -> Vec<TraceRow> {
        nodes
            .filter_map(|node| {
                let event = self.timeline.entry(node.index)?.entry.event();
                Some(TraceRow {
                    entry: self.row(node.index)?,
                    depth: node.depth,
                    children: node.children,
                    parent_index: node.parent.map(u64::from),
                    parent_note: node.note.map(|it| it.as_str().to_owned()),
                    start: node.start,
                    duration_ms: node.duration_ms,
                    status: self.event_status(node.index, event),
                })
            })
            .collect()
    }
}

/// The ends of a waterfall.
fn span(nodes: &[TraceNode]) -> (Option<i64>, Option<i64>) {
    let starts = nodes.iter().filter_map(|node| node.start);
    let ends = nodes.iter().filter_map(|node| {
        Some(
            node.start?
                .saturating_add(node.duration_ms.unwrap_or_default()),
        )
    });
    (starts.min(), ends.max())
}
