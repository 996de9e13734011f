//! The repair of a drift: for each call on which the dialogue and the execution differ, one `message.correction` that
//! is appended. The execution decides what is true.
//!
//! Left out: the disk (which file is written, and whether it may be), and judging the drift itself.

use crate::restore::sha256_hex;
use crate::timeline::Timeline;
use chipdeck_event::{Code, Id, Payload, Status};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};

/// Where the dialogue claims something that the execution denies.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The dialogue's entry, from 1.
    pub index: u32,
    pub call: Id,
    /// What the dialogue says.
    pub dialogue: Status,
    /// What the execution says; `None`: it has no result.
    pub execution: Option<Status>,
    /// The entry of the call, and of its result, where the log has them.
    pub call_index: Option<u32>,
    pub result_index: Option<u32>,
    /// The entry of the correction that settled it.
    pub settled_by: Option<u32>,
}

/// A line to append.
#[derive(Clone, Debug, PartialEq)]
pub struct Correction {
    /// The dialogue's entry that it corrects (the last of the call), from 1.
    pub index: u32,
    /// The file that holds this entry.
    pub file: u32,
    pub call: Id,
    pub dialogue: Status,
    pub execution: Option<Status>,
    /// The event as one line of JSON, without its end.
    pub record: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    event_id: &'a str,
    trace_id: &'a str,
    parent_event_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    session: &'static str,
    r#type: &'static str,
    timestamp: i64,
    payload: Corrected<'a>,
    version: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Corrected<'a> {
    corrects: &'a str,
    call_id: &'a str,
    status: &'static str,
}

/// The id of a correction: the same for the same call and status, so that it is never appended twice.
pub fn correction_id(call: &str, status: Status) -> String {
    format!(
        "fix-{}",
        sha256_hex(format!("{call}{}", status.as_str()).as_bytes())
    )
}

impl Timeline {
    /// Every claim of the dialogue that the execution denies, in order, as of the last [`Timeline::arrange`]; with
    /// `settled` also those that a later correction has put right.
    pub fn drifts(&self, settled: bool) -> Vec<Drift> {
        let entry = |index: u32| self.entry(index)?.entry.event();
        let mut corrections: BTreeMap<&str, u32> = BTreeMap::new();
        for &index in self.claims() {
            if let Some(Payload::MessageCorrection { call, .. }) =
                entry(index).map(|event| &event.payload)
            {
                corrections.insert(call, index);
            }
        }
        let open: HashSet<u32> = self
            .judged_findings()
            .iter()
            .filter(|(_, finding)| is_drift(finding.code))
            .filter_map(|(index, _)| *index)
            .collect();
        let end = self.end();
        let mut drifts = Vec::new();
        for &index in self.claims() {
            let Some(Payload::MessageToolResult { call, status, .. }) =
                entry(index).map(|event| &event.payload)
            else {
                continue;
            };
            let tool = self.tool(end, call);
            let done = match &tool {
                Some(tool) => tool.status,
                None => None,
            };
            let done = done.or_else(|| self.stray_status(call));
            let settled_by = corrections.get(&**call).filter(|it| **it > index).copied();
            let differs = match (status, done) {
                (Status::Ok, done) => done != Some(Status::Ok),
                (_, done) => done == Some(Status::Ok),
            };
            let listed = open.contains(&index) || settled && settled_by.is_some() && differs;
            if !listed {
                continue;
            }
            drifts.push(Drift {
                index,
                call: call.clone(),
                dialogue: *status,
                execution: done,
                call_index: tool.as_ref().and_then(|tool| tool.index),
                result_index: match tool.and_then(|tool| tool.result) {
                    Some(crate::EventRef::Entry(index)) => Some(index),
                    _ => None,
                },
                settled_by,
            });
        }
        drifts
    }

    /// What a repair appends, in order: one correction for each call that drifts. `now`: Unix milliseconds; a
    /// correction is never older than the log's last event.
    pub fn corrections(&self, now: i64) -> Vec<Correction> {
        let mut last: BTreeMap<Id, Drift> = BTreeMap::new();
        for drift in self.drifts(false) {
            last.insert(drift.call.clone(), drift);
        }
        let mut drifts: Vec<Drift> = last.into_values().collect();
        drifts.sort_by_key(|drift| drift.index);
        let events = || self.entries().iter().filter_map(|it| it.entry.event());
        let mut seq = events().filter_map(|event| event.envelope.seq).max();
        let newest = events().filter_map(|event| event.envelope.timestamp).max();
        let timestamp = newest.map_or(now, |newest| newest.max(now));
        let mut corrections = Vec::new();
        for drift in drifts {
            let Some(located) = self.entry(drift.index) else {
                continue;
            };
            let Some(event) = located.entry.event() else {
                continue;
            };
            let status = drift.execution.unwrap_or(Status::Error);
            let id = correction_id(&drift.call, status);
            if self.index_of_event(&id).is_some() {
                continue;
            }
            seq = seq.map(|seq| seq.saturating_add(1));
            let envelope = &event.envelope;
            let record = Record {
                event_id: &id,
                trace_id: &envelope.trace_id,
                parent_event_id: &envelope.event_id,
                correlation_id: envelope.correlation.as_deref(),
                seq,
                session: "dialog",
                r#type: "message.correction",
                timestamp,
                payload: Corrected {
                    corrects: &envelope.event_id,
                    call_id: &drift.call,
                    status: status.as_str(),
                },
                version: 1,
            };
            let Ok(record) = serde_json::to_string(&record) else {
                continue;
            };
            corrections.push(Correction {
                index: drift.index,
                file: located.place.file,
                call: drift.call,
                dialogue: drift.dialogue,
                execution: drift.execution,
                record,
            });
        }
        corrections
    }

    fn claims(&self) -> &[u32] {
        &self.book.claims
    }

    /// The status of a result whose call the log lacks.
    fn stray_status(&self, call: &str) -> Option<Status> {
        let strays = self.book.strays.iter().rev();
        strays
            .filter_map(|&index| self.entry(index)?.entry.event())
            .find_map(|event| match &event.payload {
                Payload::ToolResult {
                    call: Some(of),
                    status,
                    ..
                } if **of == *call => Some(*status),
                _ => None,
            })
    }
}

pub(crate) fn is_drift(code: Code) -> bool {
    matches!(
        code,
        Code::DriftUnsupportedSuccess | Code::DriftUnsupportedFailure
    )
}
