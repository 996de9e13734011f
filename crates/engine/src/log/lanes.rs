//! Lanes of a log: their list, the dialogue on one of them, where others part from it, their entries by column.
//!
//! What is worked out is kept until the log grows; [`SessionLanes`] itself grows with it.

use super::look::Look;
use super::text::{head, json_head, one_line};
use super::tracks::Columns;
use crate::api::{DialogueRow, LaneFork, LaneTrack, LaneView, Page};
use chipdeck_event::Payload;
use chipdeck_ingest::{title_of, Agent};
use chipdeck_replay::{EventRef, LaneKind, Path, SessionLane, SessionLanes, Timeline};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Lanes that are listed with their names, and those with a track of their own.
const LISTED: usize = 2_000;
const TRACKED: usize = 64;
/// Characters of a lane's name.
const TITLE: usize = 80;
/// Lanes whose paths are kept.
const KEPT: usize = 32;

/// One lane with its past: what follows it.
#[derive(Default)]
pub struct OnLane {
    pub path: Path,
    /// Entries of the dialogue on it.
    pub said: Vec<u32>,
    /// By entry of the dialogue: lane, what it is to this one, messages.
    forks: HashMap<u32, Vec<(u32, &'static str, u64)>>,
}

/// What is known of a log's lanes.
#[derive(Default)]
pub struct LaneBook {
    lanes: Arc<SessionLanes>,
    on: HashMap<u32, Arc<OnLane>>,
}

impl LaneBook {
    /// The lanes as of now.
    pub fn lanes(&mut self, look: &Look, agent: Option<Agent>) -> Arc<SessionLanes> {
        if self.lanes.upto() < look.timeline.len() {
            self.on.clear();
            Arc::make_mut(&mut self.lanes).grow(look.timeline, look.source, agent);
        }
        self.lanes.clone()
    }

    /// One of them, with its past. A number that none has is the first one.
    pub fn on(&mut self, look: &Look, agent: Option<Agent>, lane: u32) -> (u32, Arc<OnLane>) {
        let lanes = self.lanes(look, agent);
        let lane = if lanes.get(lane).is_some() { lane } else { 0 };
        if let Some(held) = self.on.get(&lane) {
            return (lane, held.clone());
        }
        if self.on.len() >= KEPT {
            self.on.clear();
        }
        let path = lanes.path(lane);
        let said = look.timeline.said_on(&path);
        let on = Arc::new(OnLane {
            forks: forks(look.timeline, &lanes, lane, &said),
            path,
            said,
        });
        self.on.insert(lane, on.clone());
        (lane, on)
    }
}

/// Where others part from a lane.
fn forks(
    timeline: &Timeline,
    lanes: &SessionLanes,
    lane: u32,
    said: &[u32],
) -> HashMap<u32, Vec<(u32, &'static str, u64)>> {
    let mut forks: HashMap<u32, Vec<(u32, &'static str, u64)>> = HashMap::new();
    let last_said = |index: u32| {
        let after = said.partition_point(|it| *it <= index);
        after
            .checked_sub(1)
            .and_then(|at| said.get(at))
            .or(said.first())
            .copied()
    };
    let mut put = |at: Option<u32>, fork: (u32, &'static str, u64)| {
        if let (Some(at), true) = (at, fork.2 > 0) {
            forks.entry(at).or_default().push(fork);
        }
    };
    let past: HashMap<u32, u32> = lanes.past(lane).into_iter().collect();
    for (&at, &until) in past.iter().filter(|(_, until)| **until < u32::MAX) {
        let Some(row) = lanes.get(at) else { continue };
        let left = row
            .own()
            .runs()
            .flat_map(|(first, last)| first.max(until + 1)..=last);
        let messages = left.filter(|index| is_message(timeline, *index)).count();
        put(last_said(until), (at, "left", messages as u64));
    }
    for (number, row) in (0u32..).zip(lanes.rows()) {
        let parts = row
            .parent
            .and_then(|parent| past.get(&parent))
            .is_some_and(|until| row.from <= *until);
        if past.contains_key(&number) || !parts {
            continue;
        }
        let at = match row.call.and_then(|call| timeline.counterpart(call)) {
            // With the result that the lane's last words are.
            Some(result) if row.kind == LaneKind::SubAgent => {
                let next = said.get(said.partition_point(|it| *it < result)).copied();
                next.filter(|next| *next <= result + 2)
                    .or_else(|| last_said(result))
            }
            _ => last_said(row.from),
        };
        put(at, (number, row.kind.as_str(), u64::from(row.messages)));
    }
    for forks in forks.values_mut() {
        forks.sort_unstable();
    }
    forks
}

fn is_message(timeline: &Timeline, index: u32) -> bool {
    let event = timeline.entry(index).and_then(|it| it.entry.event());
    matches!(
        event.map(|event| &event.payload),
        Some(Payload::Message { .. })
    )
}

impl Look<'_> {
    pub fn lane_views(&self, lanes: &SessionLanes) -> Vec<LaneView> {
        let rows = lanes.rows().iter().take(LISTED);
        (0u32..)
            .zip(rows)
            .map(|(lane, row)| LaneView {
                lane,
                kind: row.kind.as_str().to_owned(),
                title: self.lane_title(row),
                trace_id: row.trace.to_string(),
                parent: row.parent,
                from: u64::from(row.from),
                call: row.call.map(u64::from),
                result: row
                    .call
                    .and_then(|call| self.timeline.counterpart(call))
                    .map(u64::from),
                first: u64::from(row.first()),
                last: u64::from(row.last()),
                entries: u64::from(row.own().len()),
                messages: u64::from(row.messages),
                parts: (row.from > 0).then(|| self.axis_time(row.from)).flatten(),
                begins: self.axis_time(row.first()),
                ends: self.axis_time(row.last()),
            })
            .collect()
    }

    /// What the log calls it, what its call says it is for, else its first words.
    pub fn lane_title(&self, row: &SessionLane) -> String {
        if let Some(title) = &row.title {
            return named(title);
        }
        let payload = |index: u32| Some(&self.timeline.entry(index)?.entry.event()?.payload);
        if let Some(Payload::ToolCall { args, .. }) = row.call.and_then(payload) {
            let text = json_head(args, self.source, 256 << 10);
            let args: Option<serde_json::Value> =
                text.and_then(|text| serde_json::from_str(&text).ok());
            let told = ["description", "title", "name", "agent_name"]
                .iter()
                .find_map(|key| args.as_ref()?.get(*key)?.as_str())
                .filter(|text| !text.trim().is_empty());
            if let Some(told) = told {
                return named(told);
            }
        }
        match row.first_said.and_then(payload) {
            Some(Payload::Message { content, .. }) => head(content, self.source, 4 * TITLE)
                .map_or(String::new(), |(text, _)| named(&text)),
            _ => String::new(),
        }
    }

    /// The dialogue of one lane up to a position.
    pub fn dialogue_on(
        &self,
        lanes: &SessionLanes,
        on: &OnLane,
        at: u64,
        offset: u64,
        limit: u64,
    ) -> Page<DialogueRow> {
        let at = self.position(at);
        let until = on.said.partition_point(|index| *index <= at);
        let said = on.said.get(..until).unwrap_or_default();
        let (skip, take) = super::window(offset, limit);
        let context: HashSet<u32> = self
            .timeline
            .context_on(&on.path, at)
            .items
            .into_iter()
            .filter_map(entry)
            .collect();
        let rows = said.iter().skip(skip).take(take).filter_map(|&index| {
            let said = self.timeline.said_by(EventRef::Entry(index))?;
            let mut row = self.dialogue_row(&said, context.contains(&index));
            row.lane = lanes.of(index);
            let forks = on.forks.get(&index).map_or(&[][..], Vec::as_slice);
            row.forks = forks
                .iter()
                // What parts later than the playhead has not happened yet.
                .filter(|(lane, kind, _)| {
                    *kind == "left" || lanes.get(*lane).is_some_and(|row| row.first() <= at)
                })
                .map(|(lane, kind, messages)| LaneFork {
                    lane: *lane,
                    kind: (*kind).to_owned(),
                    messages: *messages,
                    title: lanes
                        .get(*lane)
                        .map_or(String::new(), |row| self.lane_title(row)),
                })
                .collect();
            Some(row)
        });
        Page {
            offset,
            total: said.len() as u64,
            rows: rows.collect(),
        }
    }

    /// Entries of each lane by column.
    pub(super) fn lane_tracks(&self, columns: &Columns, lanes: &SessionLanes) -> Vec<LaneTrack> {
        if lanes.rows().len() < 2 {
            return Vec::new();
        }
        let (begin, end) = (columns.begin(), columns.end());
        let in_view = |row: &SessionLane| row.own().count_until(end) > row.own().count_until(begin);
        (0u32..)
            .zip(lanes.rows())
            .filter(|(_, row)| in_view(row))
            .take(TRACKED)
            .map(|(lane, row)| {
                let mut track = LaneTrack {
                    lane,
                    columns: Vec::new(),
                    counts: Vec::new(),
                };
                for column in 0..columns.len() {
                    let (first, last) = (columns.first(column), columns.last(column));
                    if first > last {
                        continue;
                    }
                    let own = row.own();
                    let count = own.count_until(last) - own.count_until(first - 1);
                    if count > 0 {
                        track.columns.push(column as u32);
                        track.counts.push(count);
                    }
                }
                track
            })
            .collect()
    }
}

/// A lane's name in one line, without what an agent wrote around it.
fn named(text: &str) -> String {
    let title = title_of(text);
    one_line(title.as_deref().unwrap_or(text), TITLE)
}

pub(super) fn entry(event: EventRef) -> Option<u32> {
    match event {
        EventRef::Entry(index) => Some(index),
        EventRef::Carried(_) => None,
    }
}
