//! Where the playhead stands: what it points at, the counts beside the tabs, steps from here to the next of a kind.

use super::look::Look;
use super::position::position;
use crate::api::{Axis, EntryRow, Located, MomentView, SeekTarget};
use chipdeck_event::Entry;
use chipdeck_replay::Lanes;

impl Look<'_> {
    pub fn moment(&self, at: u64, path: Option<&str>) -> MomentView {
        let at = self.position(at);
        let state = self.timeline.state_at(at);
        let event: Option<EntryRow> = self.row(at);
        let (queue, _) = self.timeline.chips(&state);
        let said = state.dialogue_len() as u64;
        let counts = self.path_counts(at);
        let versions = path.map(|path| self.timeline.versions(path));
        MomentView {
            at: u64::from(at),
            count: u64::from(self.timeline.len()),
            timestamp: event.as_ref().and_then(|row| row.timestamp),
            axis_time: self.axis_time(at),
            event,
            files: counts.known,
            files_changed: counts.changed,
            dialogue: said,
            tools: u64::from(self.timeline.count(Lanes::TOOL, 1, at)),
            chips: queue.len() as u64,
            findings: self.findings.count_until(at),
            touches: self.timeline.touches(at).map(|path| path.to_string()),
            version: versions
                .as_ref()
                .map(|it| it.partition_point(|version| version.index <= at) as u64),
            versions: versions.as_ref().map(|it| it.len() as u64),
        }
    }

    /// Milliseconds on the time axis; before the first entry, at the first.
    pub fn axis_time(&self, at: u32) -> Option<f64> {
        self.timeline.clock(at.max(1)).map(|ms| ms as f64)
    }

    /// # Errors
    /// There is no such event, position or time: one sentence.
    pub fn locate(&self, target: &SeekTarget) -> Result<Located, String> {
        let at = match target {
            SeekTarget::Index { index } => self.position(*index),
            SeekTarget::Axis { axis, value } if value.is_nan() => self.until(*axis, 0.0),
            SeekTarget::Axis {
                axis: Axis::Event,
                value,
            } => self.until(Axis::Event, value.round()),
            SeekTarget::Axis { axis, value } => self.until(*axis, *value),
            SeekTarget::EventId { id } => self
                .timeline
                .index_of_event(id)
                .ok_or_else(|| format!("no event of the log has the id `{id}`"))?,
            SeekTarget::Text { text } => position(self.timeline, text.trim())?,
        };
        Ok(Located {
            index: u64::from(at),
            time: self.axis_time(at),
        })
    }

    /// The nearest entry with one of the lanes, before or behind a position.
    pub fn step_lane(&self, lanes: &[Lanes], from: u32, forward: bool) -> Option<u32> {
        let any = lanes
            .iter()
            .fold(Lanes::default(), |any, lane| any.with(*lane));
        match forward {
            true => self.timeline.next_in_lane(any, from),
            false => self.timeline.previous_in_lane(any, from),
        }
    }

    /// The nearest of some sorted places.
    pub fn step_list(sorted: &[u32], from: u32, forward: bool) -> Option<u32> {
        if forward {
            sorted
                .get(sorted.partition_point(|it| *it <= from))
                .copied()
        } else {
            sorted
                .partition_point(|it| *it < from)
                .checked_sub(1)
                .and_then(|at| sorted.get(at))
                .copied()
        }
    }

    /// The log's first and last recorded time.
    pub fn times(&self) -> (Option<i64>, Option<i64>) {
        let time = |index| match &self.timeline.entry(index)?.entry {
            Entry::Event(event) => event.envelope.timestamp,
            Entry::Opaque(opaque) => opaque.timestamp,
        };
        let last = self.timeline.len();
        let first = (1..=last.min(1_000)).find_map(time);
        (first, (1..=last).rev().take(1_000).find_map(time))
    }
}
