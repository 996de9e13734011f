//! Taking a part out of a log, and settling which secrets leave with it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A part of a log.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExportWhat {
    /// Positions: the entries after `from` up to `to`. `None`: from the start, to the end.
    pub from: Option<u64>,
    pub to: Option<u64>,
    pub scope: ExportScope,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum ExportScope {
    All {},
    /// The trace of this event.
    TraceOf {
        index: u64,
    },
    /// Both sessions' events of this event's correlation.
    CorrelationOf {
        index: u64,
    },
    /// The execution session alone, with figures.
    Audit {},
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ExportFormat {
    Jsonl,
    Md,
    Html,
    Otlp,
    Parquet,
}

/// What an export would have in it, and what it would mask.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExportReview {
    pub events: u64,
    /// In order; at most 2,000.
    pub places: Vec<MaskedPlace>,
    pub places_total: u64,
    /// Figures by tool, where the scope is `audit`.
    pub tools: Vec<AuditRow>,
}

/// A place that would be masked.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MaskedPlace {
    /// Empty for the state that is told before the part.
    pub file: String,
    pub line: u64,
    pub event_id: String,
    /// JSON pointer into the event.
    pub field: String,
    /// The rule that found it, as Gitleaks names it.
    pub rule: String,
    /// Equal values have the same number: one that is kept is kept wherever it stands.
    pub value: u32,
    /// What stands around it, without the value itself.
    pub excerpt: String,
}

/// UTF-16 offsets into a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SecretRange {
    pub from: u64,
    pub to: u64,
    pub rule: String,
}

/// Calls of one tool; an empty name for all together. Durations in milliseconds.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuditRow {
    pub tool: String,
    pub calls: u64,
    pub ok: u64,
    pub error: u64,
    pub denied: u64,
    pub cancelled: u64,
    pub timeout: u64,
    pub interrupted: u64,
    pub timed: u64,
    pub total_ms: u64,
    pub median_ms: u64,
    pub longest_ms: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    /// The file, for people.
    pub file: String,
    pub events: u64,
    pub masked: u64,
    pub bytes: u64,
}
