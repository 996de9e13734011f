//! What was said and which tools were called, up to a position.

use super::look::Look;
use super::text::{head, one_line};
use crate::api::{DialogueRow, LogChipRow, Page, ToolRow};
use chipdeck_event::{Entry, Payload, Status};
use chipdeck_replay::{Called, EventRef, Said};

/// Bytes of a message that a row carries.
const CONTENT: usize = 16 << 10;
/// Characters of a one-line summary.
const SUMMARY: usize = 200;

impl Look<'_> {
    pub fn dialogue(&self, at: u64, offset: u64, limit: u64) -> Page<DialogueRow> {
        let state = self.timeline.state_at(self.position(at));
        let (skip, take) = super::window(offset, limit);
        let said = self.timeline.dialogue_window(&state, skip, take);
        let events: Vec<EventRef> = said.iter().map(|it| it.event).collect();
        let in_context = self.timeline.in_context(&state, &events);
        let rows = said
            .iter()
            .zip(in_context)
            .map(|(it, in_context)| self.dialogue_row(it, in_context));
        Page {
            offset,
            total: state.dialogue_len() as u64,
            rows: rows.collect(),
        }
    }

    pub fn dialogue_row(&self, said: &Said, in_context: bool) -> DialogueRow {
        let index = match said.event {
            EventRef::Entry(index) => index,
            EventRef::Carried(_) => 0,
        };
        let (content, clipped) = match said.content {
            None => (Some(String::new()), false),
            Some(text) => head(text, self.source, CONTENT)
                .map_or((None, false), |(text, more)| (Some(text), more)),
        };
        let call = said.call.and_then(|id| self.timeline.index_of_event(id));
        DialogueRow {
            index: u64::from(index),
            event_id: said.event_id.to_string(),
            role: said.role.to_owned(),
            timestamp: self.timestamp(index),
            content,
            clipped,
            status: said.status.map(|it| it.as_str().to_owned()),
            call_index: call.map(u64::from),
            tool_name: call
                .and_then(|call| self.tool_name(call))
                .map(str::to_owned),
            in_context,
            lane: None,
            forks: Vec::new(),
            drift: self
                .findings
                .drift(index)
                .map(|found| found.finding.message.clone()),
            claim: self
                .findings
                .drift_at(index)
                .map(|drift| self.drift_row(drift)),
        }
    }

    pub fn timestamp(&self, index: u32) -> Option<i64> {
        match &self.timeline.entry(index)?.entry {
            Entry::Event(event) => event.envelope.timestamp,
            Entry::Opaque(opaque) => opaque.timestamp,
        }
    }

    /// Calls up to a position. `only`: a status, `failed` (any but ok and pending), else a tool's name.
    pub fn tools(&self, at: u64, offset: u64, limit: u64, only: Option<&str>) -> Page<ToolRow> {
        let state = self.timeline.state_at(self.position(at));
        let (skip, take) = super::window(offset, limit);
        let wanted = |called: &Called| only.is_none_or(|only| self.call_is(called, only));
        let (total, rows) = self.timeline.tools_window(&state, skip, take, &wanted);
        Page {
            offset,
            total: total as u64,
            rows: rows.iter().map(|it| self.tool_row(it)).collect(),
        }
    }

    fn call_is(&self, called: &Called, only: &str) -> bool {
        match only {
            "failed" => called.status.is_some_and(|status| status != Status::Ok),
            "pending" | "interrupted" => {
                called.status.is_none() && self.call_status(called) == only
            }
            _ => called.status.is_some_and(|it| it.as_str() == only) || &**called.tool_name == only,
        }
    }

    /// A call without a result in the whole log was interrupted; one whose result comes later is pending.
    fn call_status(&self, called: &Called) -> &'static str {
        match (called.status, called.index) {
            (Some(status), _) => status.as_str(),
            (None, Some(index)) if self.timeline.counterpart(index).is_none() => "interrupted",
            (None, _) => "pending",
        }
    }

    fn tool_row(&self, called: &Called) -> ToolRow {
        let result = match called.result {
            Some(EventRef::Entry(index)) => Some(index),
            _ => None,
        };
        let payload = |index: u32| {
            self.timeline
                .entry(index)?
                .entry
                .event()
                .map(|event| &event.payload)
        };
        let (duration_ms, error) = match result.and_then(payload) {
            Some(Payload::ToolResult {
                duration_ms,
                error,
                status,
                ..
            }) => {
                let failed = *status != Status::Ok;
                (
                    *duration_ms,
                    failed.then(|| self.json_line(error)).flatten(),
                )
            }
            _ => (None, None),
        };
        let summary = called
            .index
            .and_then(|index| self.row(index))
            .map(|row| row.summary)
            .unwrap_or_default();
        let drift = self.findings.drift_of_call(called.call_id);
        ToolRow {
            index: called.index.map_or(0, u64::from),
            event_id: called.call_id.to_string(),
            tool_name: called.tool_name.to_string(),
            status: self.call_status(called).to_owned(),
            result_index: result.map(u64::from),
            timestamp: called.index.and_then(|index| self.timestamp(index)),
            duration_ms,
            summary: summary
                .strip_prefix(&**called.tool_name)
                .unwrap_or(&summary)
                .trim_start()
                .to_owned(),
            error,
            drift: drift.map(|found| found.finding.message.clone()),
        }
    }

    fn json_line(&self, json: &chipdeck_event::Json) -> Option<String> {
        let text = super::text::json_head(json, self.source, 4_000)?;
        let said = match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(serde_json::Value::Null) => return None,
            Ok(serde_json::Value::String(text)) => text,
            _ => text.to_string(),
        };
        Some(one_line(&said, SUMMARY))
    }

    /// The chip queue, oldest first, then the evicted ones.
    pub fn chips(&self, at: u64) -> Vec<LogChipRow> {
        let state = self.timeline.state_at(self.position(at));
        let (queue, evicted) = self.timeline.chips(&state);
        let rows = queue
            .iter()
            .map(|chip| (chip, false))
            .chain(evicted.iter().map(|chip| (chip, true)));
        rows.map(|(chip, evicted)| {
            let record = chip
                .index
                .and_then(|index| self.timeline.entry(index))
                .and_then(|it| it.entry.event());
            let record: Option<serde_json::Value> = match record.map(|event| &event.payload) {
                Some(Payload::ChipSave { chip, .. }) => {
                    let text = super::text::json_head(chip, self.source, 1 << 20);
                    text.and_then(|text| serde_json::from_str(&text).ok())
                }
                _ => None,
            };
            let field = |name: &str| record.as_ref()?.get(name)?.as_str().map(str::to_owned);
            let args = record.as_ref().and_then(|it| it.get("args"));
            let told = ["_content", "content", "file", "path"];
            let told = told.iter().find_map(|key| args?.get(*key)?.as_str());
            LogChipRow {
                id: chip.id.to_string(),
                index: chip.index.map_or(0, u64::from),
                tool: field("tool").unwrap_or_default(),
                summary: one_line(told.unwrap_or_default(), SUMMARY),
                err_msg: field("err_msg").filter(|it| !it.is_empty()),
                evicted,
                chip: None,
            }
        })
        .collect()
    }
}
