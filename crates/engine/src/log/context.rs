//! The model's window at a position, as far as the log says: what stands in front, the messages since the last
//! compaction, what that one dropped, and the tokens that the log counted.

use super::lanes::entry;
use super::look::Look;
use super::spending::{sum, Request, Spending};
use super::text::{head, one_line};
use crate::api::{CompactionView, ContextView, DialogueRow, FillPoint, Page, StandingRow, TurnRow};
use chipdeck_event::{Payload, Role, Text};
use chipdeck_ingest::load_record;
use chipdeck_replay::{ContextAt, EventRef, Path};

/// Points of the track.
const POINTS: usize = 400;
/// Standing texts that are listed.
const STANDING: usize = 100;
/// Bytes of a summary that the view carries.
const SUMMARY: usize = 16 << 10;

/// Whose window it is.
pub struct Window<'a> {
    pub lane: u32,
    pub title: String,
    pub lanes: u64,
    pub path: &'a Path,
    /// The log has lanes: the window is that of the path alone. Else it is as the fold has it.
    pub by_lane: bool,
}

impl Look<'_> {
    fn window_at(&self, window: &Window, at: u32) -> ContextAt {
        if window.by_lane {
            self.timeline.context_on(window.path, at)
        } else {
            self.timeline.context_at(at)
        }
    }

    pub fn context(&self, window: &Window, spending: &Spending, at: u64) -> ContextView {
        let at = self.position(at);
        let held = self.window_at(window, at);
        let path = window.path;
        let on: Vec<&Request> = spending.on(path, at).collect();
        let turn = self.prompt_before(path, at).unwrap_or(0);
        let in_turn = on.iter().copied().filter(|it| it.index > turn);
        let newest = |list: &[(u32, u64)]| {
            let after = list.partition_point(|(index, _)| *index <= at);
            let known = list.get(..after).unwrap_or_default();
            known
                .iter()
                .rev()
                .find(|(index, _)| path.contains(*index))
                .map(|(_, window)| *window)
        };
        let model = on.iter().rev().find_map(|it| it.spent.model.clone());
        let compaction = held
            .compaction
            .map(|index| self.compaction(index, &held, path, spending));
        // Figures of one message say nothing of the window when its input was not counted.
        let filled = on.iter().rev().find(|it| it.fill() > it.spent.output);
        let since = compaction.as_ref().map_or(0, |it| it.index);
        let after = spending
            .requests
            .iter()
            .filter(|it| path.contains(it.index));
        let track: Vec<FillPoint> = after
            .filter(|it| it.fill() > it.spent.output)
            .map(|it| FillPoint {
                index: u64::from(it.index),
                tokens: it.fill(),
            })
            .collect();
        let first_whole = spending
            .whole
            .iter()
            .rev()
            .find(|(index, _)| path.contains(*index))
            .map(|(index, spent)| {
                sum(std::iter::once(&Request {
                    index: *index,
                    spent: spent.clone(),
                }))
            })
            .filter(|_| spending.requests.iter().all(|it| it.spent.input == 0));
        ContextView {
            lane: window.lane,
            lane_title: window.title.clone(),
            lanes: window.lanes,
            model: model.or_else(|| self.named_model(path, spending, at)),
            window: newest(&spending.windows),
            fill: filled
                .map(|it| it.fill())
                .filter(|_| filled.is_some_and(|it| u64::from(it.index) > since)),
            standing: self.standing(path, spending, at),
            messages: held.items.len() as u64,
            bytes: self.text_bytes(&held.items),
            compaction,
            last: on.last().map(|it| sum(std::iter::once(*it))),
            turn: sum(in_turn),
            total: sum(on.iter().copied()),
            whole: first_whole,
            compactions: self.compactions(path),
            track: thinned(track),
        }
    }

    fn named_model(&self, path: &Path, spending: &Spending, at: u32) -> Option<String> {
        let told = spending.models.iter().rev();
        let told = told
            .filter(|(index, _)| *index <= at)
            .find(|(index, _)| path.contains(*index));
        told.map(|(_, model)| model.to_string()).or_else(|| {
            // Canonical logs name it at the start of a session.
            let starts = path.runs().flat_map(|(first, last)| first..=last.min(at));
            starts
                .take(64)
                .find_map(|index| match self.payload(index)? {
                    Payload::SessionStart { model, .. } => model.as_deref().map(str::to_owned),
                    _ => None,
                })
        })
    }

    fn payload(&self, index: u32) -> Option<&Payload> {
        Some(&self.timeline.entry(index)?.entry.event()?.payload)
    }

    /// The last message of the user on a path that is not after a position.
    fn prompt_before(&self, path: &Path, at: u32) -> Option<u32> {
        let mut at = path.at_or_before(at)?;
        loop {
            if self.is_prompt(at) {
                return Some(at);
            }
            at = path.previous(at)?;
        }
    }

    fn is_prompt(&self, index: u32) -> bool {
        matches!(
            self.payload(index),
            Some(Payload::Message {
                role: Role::User,
                ..
            })
        )
    }

    fn compactions(&self, path: &Path) -> Vec<u64> {
        let entries = path.runs().flat_map(|(first, last)| first..=last);
        entries
            .filter(|index| matches!(self.payload(*index), Some(Payload::ContextCompact { .. })))
            .map(u64::from)
            .collect()
    }

    fn compaction(
        &self,
        index: u32,
        held: &ContextAt,
        path: &Path,
        spending: &Spending,
    ) -> CompactionView {
        let (text, before, after) = match self.payload(index) {
            Some(Payload::ContextCompact {
                summary,
                tokens_before,
                tokens_after,
                ..
            }) => (
                head(summary, self.source, SUMMARY),
                *tokens_before,
                *tokens_after,
            ),
            _ => (None, None, None),
        };
        let filled = spending.on(path, index).rev().find(|it| it.spent.input > 0);
        CompactionView {
            index: u64::from(index),
            timestamp: self.timestamp(index),
            clipped: text.as_ref().is_some_and(|(_, more)| *more),
            summary: text.map(|(text, _)| text),
            tokens_before: before,
            tokens_after: after,
            fill_before: filled.map(Request::fill),
            dropped: held.dropped.len() as u64,
            dropped_bytes: self.text_bytes(&held.dropped),
        }
    }

    /// Bytes of the texts, as they stand in the log.
    fn text_bytes(&self, events: &[EventRef]) -> u64 {
        let entries = events.iter().filter_map(|event| entry(*event));
        let bytes = entries.map(|index| match self.payload(index) {
            Some(Payload::Message { content, .. }) => length(content),
            Some(
                Payload::MessageToolResult { content, .. }
                | Payload::MessageCorrection { content, .. },
            ) => content.as_ref().map_or(0, length),
            Some(Payload::ContextCompact { summary, .. }) => length(summary),
            _ => 0,
        });
        bytes.sum()
    }

    fn standing(&self, path: &Path, spending: &Spending, at: u32) -> Vec<StandingRow> {
        let end = spending.standing.partition_point(|it| it.index <= at);
        let known = spending.standing.get(..end).unwrap_or_default();
        let mut rows: Vec<StandingRow> = Vec::new();
        for it in known.iter().rev().filter(|it| path.contains(it.index)) {
            // What is told whole each time stands once; what adds to what was told stays.
            let adds = it.type_name.ends_with("_delta") || it.type_name.ends_with("nested_memory");
            let told = rows
                .iter()
                .any(|row| row.pointer == it.text.pointer && row.what == it.text.what);
            if (told && !adds) || rows.len() >= STANDING {
                continue;
            }
            rows.push(StandingRow {
                index: u64::from(it.index),
                what: it.text.what.to_owned(),
                pointer: it.text.pointer.to_owned(),
                bytes: it.text.bytes,
                count: it.text.count,
                summary: self.words_at(it.index, it.text.pointer),
            });
        }
        rows.reverse();
        rows
    }

    /// The first words of a value of a record; of a list the names in it.
    fn words_at(&self, index: u32, pointer: &str) -> String {
        let place = self.timeline.entry(index).map(|it| it.place);
        let record = place.map(|place| load_record(place, self.source));
        let record = record.unwrap_or_default();
        let value: Option<serde_json::Value> = serde_json::from_slice(&record).ok();
        let Some(value) = value.as_ref().and_then(|value| value.pointer(pointer)) else {
            return String::new();
        };
        let names = |items: &[serde_json::Value]| {
            let named = items.iter().take(40);
            let named = named.filter_map(|it| it.as_str().or_else(|| it.get("name")?.as_str()));
            named.collect::<Vec<_>>().join(", ")
        };
        let words = match value {
            serde_json::Value::String(text) => super::text::cut(text, 800).to_owned(),
            serde_json::Value::Array(items) => names(items),
            serde_json::Value::Object(members) => {
                let lists = members.values().filter_map(|it| it.as_array());
                let told = lists.map(|it| names(it)).find(|it| !it.is_empty());
                let texts = || {
                    let texts = members.iter().filter(|(key, _)| *key != "type");
                    texts
                        .filter_map(|(_, it)| it.as_str())
                        .max_by_key(|it| it.len())
                };
                told.or_else(|| texts().map(str::to_owned))
                    .unwrap_or_default()
            }
            other => other.to_string(),
        };
        one_line(&words, 160)
    }

    /// What the window holds, or what its last compaction dropped.
    pub fn context_rows(
        &self,
        window: &Window,
        at: u64,
        dropped: bool,
        offset: u64,
        limit: u64,
    ) -> Page<DialogueRow> {
        let held = self.window_at(window, self.position(at));
        let events = if dropped { held.dropped } else { held.items };
        let (skip, take) = super::window(offset, limit);
        let rows = events.iter().skip(skip).take(take);
        Page {
            offset,
            total: events.len() as u64,
            rows: rows
                .filter_map(|event| match self.timeline.said_by(*event) {
                    Some(said) => Some(self.dialogue_row(&said, !dropped)),
                    None => self.summary_row(*event, !dropped),
                })
                .collect(),
        }
    }

    fn summary_row(&self, event: EventRef, in_context: bool) -> Option<DialogueRow> {
        let index = entry(event)?;
        let Some(Payload::ContextCompact { summary, .. }) = self.payload(index) else {
            return None;
        };
        let text = head(summary, self.source, SUMMARY);
        Some(DialogueRow {
            index: u64::from(index),
            event_id: self.timeline.event_id(event)?.to_string(),
            role: "summary".to_owned(),
            timestamp: self.timestamp(index),
            clipped: text.as_ref().is_some_and(|(_, more)| *more),
            content: text.map(|(text, _)| text),
            status: None,
            call_index: None,
            tool_name: None,
            in_context,
            lane: None,
            forks: Vec::new(),
            drift: None,
            claim: None,
        })
    }

    /// Tokens by turn.
    pub fn turns(
        &self,
        window: &Window,
        spending: &Spending,
        at: u64,
        offset: u64,
        limit: u64,
    ) -> Page<TurnRow> {
        let at = self.position(at);
        let path = window.path;
        let mut begins: Vec<u32> = path
            .runs()
            .flat_map(|(first, last)| first..=last.min(at))
            .filter(|index| self.is_prompt(*index))
            .collect();
        let first = spending.on(path, at).next().map(|it| it.index);
        if first.is_some_and(|first| begins.first().is_none_or(|begin| first < *begin)) {
            begins.insert(0, 0);
        }
        let (skip, take) = super::window(offset, limit);
        let rows = begins.iter().enumerate().skip(skip).take(take);
        let rows = rows.map(|(number, &begin)| {
            let end = begins.get(number + 1).map_or(at, |next| next - 1);
            let within: Vec<&Request> = spending
                .on(path, end)
                .filter(|it| it.index > begin)
                .collect();
            let text = match self.payload(begin) {
                Some(Payload::Message { content, .. }) => head(content, self.source, 800),
                _ => None,
            };
            TurnRow {
                index: u64::from(begin),
                timestamp: self.timestamp(begin),
                summary: text.map_or(String::new(), |(text, _)| one_line(&text, 160)),
                fill: within
                    .iter()
                    .rev()
                    .find(|it| it.fill() > it.spent.output)
                    .map(|it| it.fill()),
                spent: sum(within.into_iter()),
            }
        });
        Page {
            offset,
            total: begins.len() as u64,
            rows: rows.collect(),
        }
    }
}

fn length(text: &Text) -> u64 {
    match text {
        Text::Inline(text) => text.len() as u64,
        Text::Span(span) => u64::from(span.len).saturating_sub(2),
        Text::Blob { bytes, .. } => *bytes,
        Text::Missing => 0,
    }
}

/// At most [`POINTS`] of them: of neighbours the highest.
fn thinned(points: Vec<FillPoint>) -> Vec<FillPoint> {
    if points.len() <= POINTS {
        return points;
    }
    let each = points.len().div_ceil(POINTS);
    points
        .chunks(each)
        .filter_map(|part| part.iter().max_by_key(|it| it.tokens).cloned())
        .collect()
}
