//! The tracks of the timeline: counts and marks per column, whatever the zoom. The work grows with the columns, not
//! with the log.

use super::look::Look;
use crate::api::{Axis, Mark, TrackTotals, TracksQuery, TracksView};
use chipdeck_event::Payload;
use chipdeck_replay::{Counts, Lanes};

const MOST_PIXELS: u32 = 8_192;
/// Token budgets of the zones (the format, section 3).
const HOT_BUDGET: f32 = 1_000.0;
const WARM_BUDGET: f32 = 2_000.0;

/// What is marked beside the log itself.
#[derive(Default)]
pub struct Marked<'a> {
    /// Lanes whose entries are counted apart.
    pub lanes: Option<&'a chipdeck_replay::SessionLanes>,
    /// Entries with a hit of the search, sorted.
    pub hits: &'a [u32],
    /// Position and label, sorted.
    pub bookmarks: &'a [(u32, String)],
}

/// Entries of each column.
pub(super) struct Columns {
    /// Last entry before each column begins, and of the last column: one more than there are columns.
    bounds: Vec<u32>,
}

impl Columns {
    pub(super) fn first(&self, column: usize) -> u32 {
        self.bounds.get(column).copied().unwrap_or(0) + 1
    }

    pub(super) fn last(&self, column: usize) -> u32 {
        self.bounds.get(column + 1).copied().unwrap_or(0)
    }

    pub(super) fn len(&self) -> usize {
        self.bounds.len().saturating_sub(1)
    }

    /// The column of an entry.
    fn of(&self, index: u32) -> Option<usize> {
        let column = self
            .bounds
            .partition_point(|bound| *bound < index)
            .checked_sub(1)?;
        (column < self.len()).then_some(column)
    }

    pub(super) fn begin(&self) -> u32 {
        self.bounds.first().copied().unwrap_or(0)
    }

    pub(super) fn end(&self) -> u32 {
        self.bounds.last().copied().unwrap_or(0)
    }
}

impl Look<'_> {
    pub fn totals(&self) -> TrackTotals {
        let count = |lane| u64::from(self.timeline.count(lane, 1, self.timeline.len()));
        TrackTotals {
            dialogue: count(Lanes::DIALOGUE),
            tools: count(Lanes::TOOL),
            files: count(Lanes::FILE_PLUS) + count(Lanes::FILE_MINUS),
            chips: count(Lanes::CHIP),
            memory: count(Lanes::MEMORY),
            errors: count(Lanes::ERROR) + count(Lanes::TOOL_FAILED) + count(Lanes::WARNING),
        }
    }

    /// The whole log on an axis.
    fn span(&self, axis: Axis) -> (f64, f64) {
        let last = self.timeline.len();
        match axis {
            Axis::Event => (0.0, f64::from(last)),
            Axis::Time => {
                let clock = |index| self.timeline.clock(index).map_or(0.0, |ms| ms as f64);
                (clock(1), clock(last))
            }
        }
    }

    /// The last entry before a place on the axis.
    fn before(&self, axis: Axis, place: f64) -> u32 {
        match axis {
            // Entry n lies between position n - 1 and position n.
            Axis::Event => (place.ceil().max(0.0) as u32).min(self.timeline.len()),
            Axis::Time => self.timeline.position_at_clock(place.ceil() - 1.0),
        }
    }

    /// The last entry at or before a place on the axis.
    pub fn until(&self, axis: Axis, place: f64) -> u32 {
        match axis {
            Axis::Event => (place.floor().max(0.0) as u32).min(self.timeline.len()),
            Axis::Time => self.timeline.position_at_clock(place),
        }
    }

    fn columns(&self, query: &TracksQuery) -> Columns {
        let pixels = query.pixels.clamp(1, MOST_PIXELS);
        let sane = query.from.is_finite() && query.to.is_finite() && query.from < query.to;
        if !sane {
            return Columns { bounds: Vec::new() };
        }
        let width = (query.to - query.from) / f64::from(pixels);
        let mut bounds: Vec<u32> = (0..pixels)
            .map(|column| self.before(query.axis, query.from + width * f64::from(column)))
            .collect();
        // The end of the span belongs to it.
        bounds.push(self.until(query.axis, query.to));
        // Rounding must not let a column end before it begins.
        let mut highest = 0;
        for bound in &mut bounds {
            highest = highest.max(*bound);
            *bound = highest;
        }
        Columns { bounds }
    }

    pub fn tracks(&self, query: &TracksQuery, marked: &Marked) -> TracksView {
        let columns = self.columns(query);
        let (start, end) = self.span(query.axis);
        let counts: Vec<Counts> = (0..columns.len())
            .map(
                |column| match (columns.first(column), columns.last(column)) {
                    (first, last) if first > last => Counts::default(),
                    (first, last) => self.timeline.counts(first, last),
                },
            )
            .collect();
        let dense = |lane: Lanes| -> Vec<u32> { counts.iter().map(|it| it.of(lane)).collect() };
        let changes = query
            .path
            .as_deref()
            .map(|path| self.change_indices(path))
            .unwrap_or_default();
        let bookmarks: Vec<u32> = marked
            .bookmarks
            .iter()
            .map(|(position, _)| *position)
            .collect();
        TracksView {
            entries: (0..columns.len())
                .map(|column| (columns.last(column) + 1).saturating_sub(columns.first(column)))
                .collect(),
            dialogue: dense(Lanes::DIALOGUE),
            tools: dense(Lanes::TOOL),
            tools_failed: dense(Lanes::TOOL_FAILED),
            files_plus: dense(Lanes::FILE_PLUS),
            files_minus: dense(Lanes::FILE_MINUS),
            chips: self.lane_marks(&columns, &[Lanes::CHIP], |_, index| self.chip_kind(index)),
            errors: self.lane_marks(
                &columns,
                &[Lanes::ERROR, Lanes::TOOL_FAILED, Lanes::WARNING],
                |counts, _| match counts {
                    [0, 0, _] => "warning".to_owned(),
                    _ => "error".to_owned(),
                },
            ),
            bookmarks: list_marks(&columns, &bookmarks, |at| {
                marked
                    .bookmarks
                    .get(at)
                    .map(|(_, label)| label.clone())
                    .unwrap_or_default()
            }),
            path_marks: list_marks(&columns, &changes, |_| "change".to_owned()),
            hits: list_marks(&columns, marked.hits, |_| "hit".to_owned()),
            memory: self.memory_fill(&columns),
            lanes: marked
                .lanes
                .map_or(Vec::new(), |lanes| self.lane_tracks(&columns, lanes)),
            start,
            end,
            first_index: u64::from(self.until(query.axis, query.from)),
            last_index: u64::from(columns.end()),
        }
    }

    fn chip_kind(&self, index: u32) -> String {
        let payload = self
            .timeline
            .entry(index)
            .and_then(|it| it.entry.event())
            .map(|event| &event.payload);
        match payload {
            Some(Payload::ChipEvict { .. }) => "evict",
            Some(Payload::ChipInsert { .. }) => "insert",
            _ => "save",
        }
        .to_owned()
    }

    /// One mark for each column that has an entry of one of the lanes.
    fn lane_marks(
        &self,
        columns: &Columns,
        lanes: &[Lanes],
        kind: impl Fn(&[u32], u32) -> String,
    ) -> Vec<Mark> {
        let mut marks = Vec::new();
        let mut at = columns.begin();
        let any = lanes
            .iter()
            .fold(Lanes::default(), |any, lane| any.with(*lane));
        while let Some(index) = self.timeline.next_in_lane(any, at) {
            if index > columns.end() {
                break;
            }
            let Some(column) = columns.of(index) else {
                break;
            };
            let last = columns.last(column);
            let all = self.timeline.counts(index, last);
            let counts: Vec<u32> = lanes.iter().map(|lane| all.of(*lane)).collect();
            marks.push(Mark {
                column: column as u32,
                index: u64::from(index),
                count: counts.iter().sum(),
                kind: kind(&counts, index),
            });
            at = last.max(index);
        }
        marks
    }

    /// Fill of the hot and the warm zone at the end of each column.
    fn memory_fill(&self, columns: &Columns) -> Vec<f32> {
        let tokens = self.timeline.memory_tokens();
        if tokens.is_empty() {
            return Vec::new();
        }
        (0..columns.len())
            .map(|column| {
                let after = tokens.partition_point(|(index, _, _)| *index <= columns.last(column));
                let fill = after.checked_sub(1).and_then(|at| tokens.get(at));
                fill.map_or(0.0, |(_, hot, warm)| {
                    ((*hot as f32 + *warm as f32) / (HOT_BUDGET + WARM_BUDGET)).clamp(0.0, 1.0)
                })
            })
            .collect()
    }
}

/// One mark for each column that has some of the sorted entries.
fn list_marks(columns: &Columns, sorted: &[u32], kind: impl Fn(usize) -> String) -> Vec<Mark> {
    let mut marks = Vec::new();
    // A bookmark at position 0 stands before the first entry: with the first column.
    let mut at = sorted.partition_point(|index| *index <= columns.begin() && *index > 0);
    while let Some(&index) = sorted.get(at) {
        let column = if index == 0 && columns.begin() == 0 {
            Some(0)
        } else {
            columns.of(index)
        };
        let Some(column) = column.filter(|_| index <= columns.end() || index == 0) else {
            break;
        };
        let next = sorted
            .partition_point(|it| *it <= columns.last(column))
            .max(at + 1);
        marks.push(Mark {
            column: column as u32,
            index: u64::from(index),
            count: (next - at) as u32,
            kind: kind(at),
        });
        at = next;
    }
    marks
}
