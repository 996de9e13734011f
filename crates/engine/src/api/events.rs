//! The event log in depth: drift and its repair, branches and comparisons, diagnosis, traces, figures, breakpoints.

use super::EntryRow;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Where the dialogue claims something that the execution denies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DriftRow {
    /// The dialogue's entry.
    pub index: u64,
    pub event_id: String,
    pub call_id: String,
    /// What the dialogue says: `ok`, `error`, `denied`, `cancelled`, `timeout`.
    pub dialogue: String,
    /// What the execution says; `null`: it has no result.
    pub execution: Option<String>,
    /// `drift-unsupported-success` or `drift-unsupported-failure`.
    pub code: String,
    pub tool_name: Option<String>,
    pub call_index: Option<u64>,
    pub result_index: Option<u64>,
    pub timestamp: Option<i64>,
    /// The entry of the correction that settled it.
    pub settled_by: Option<u64>,
    /// `file:line` in the log.
    pub place: String,
    /// One line of what the dialogue says.
    pub summary: String,
}

/// What a repair would append.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RepairView {
    /// Names the preview in `ApplyRepair`.
    pub repair: String,
    /// In the order in which they are appended.
    pub lines: Vec<RepairLine>,
    pub files: Vec<RepairFileRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RepairLine {
    /// The dialogue's entry that it corrects.
    pub index: u64,
    pub call_id: String,
    pub dialogue: String,
    pub execution: Option<String>,
    /// What the correction says.
    pub status: String,
    /// Relative to what was opened.
    pub file: String,
    /// The event as it will stand in the file, one line of JSON.
    pub text: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RepairFileRow {
    /// Relative to what was opened.
    pub file: String,
    pub lines: u64,
    pub bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Repaired {
    pub appended: u64,
    pub files: Vec<String>,
}

/// One type of the catalogue, for the form of a payload.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TypeSchemaView {
    /// `file.change`, …
    pub name: String,
    pub version: u32,
    /// `dialog` or `exec`: the session of an event that does not say.
    pub session: String,
    pub fields: Vec<FieldSchema>,
    /// Exactly one of these fields has to be there.
    pub exactly_one: Vec<String>,
    /// At least one of these.
    pub at_least_one: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FieldSchema {
    pub name: String,
    /// `string`, `choice`, `integer`, `number`, `boolean`, `object`, `list`, `edits`, `texts`, `any`.
    pub kind: String,
    pub required: bool,
    /// A long text.
    pub long: bool,
    /// Of a `choice`.
    pub choices: Vec<String>,
    /// Of a `list` whose items are objects.
    pub items: Vec<FieldSchema>,
}

/// Something wrong with an edited payload or a new event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PayloadFaultRow {
    /// JSON pointer below the payload; empty for the whole.
    pub pointer: String,
    /// `missing`, `kind`, `choice`, `together`, `json`.
    pub what: String,
    /// The kind, or the choices, that were expected.
    pub expected: String,
    /// One sentence.
    pub message: String,
}

/// An edit of a branch. Entries are those of the log that the branch is laid over.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum BranchEdit {
    /// Leaves an entry out.
    Skip { index: u64 },
    /// Gives an event another payload.
    Replace {
        index: u64,
        payload: serde_json::Value,
    },
    /// Puts an event in after an entry (0: before the first). Ids, trace and time are made from the entry before it
    /// where they are not given.
    Insert {
        after: u64,
        event_type: String,
        payload: serde_json::Value,
        event_id: Option<String>,
        parent_event_id: Option<String>,
        correlation_id: Option<String>,
        timestamp: Option<i64>,
    },
    /// Nothing after this position; then the entries of another open log after a position of it.
    Cut { at: u64, then: Option<BranchTail> },
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BranchTail {
    pub log: String,
    pub from: u64,
}

/// A branch beside the log that it was laid over, or two logs compared.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BranchView {
    /// The recorded log, or the left one.
    pub left: String,
    /// The branch, or the right one: a log like any other (`Tracks`, `Moment`, `Dialogue`, …). Closed by `CloseLog`.
    pub right: String,
    pub left_title: String,
    pub right_title: String,
    /// It can be saved: a branch, not two logs compared.
    pub branch: bool,
    /// Edits that it has, for people: `skip e5`.
    pub edits: Vec<String>,
    pub left_count: u64,
    pub right_count: u64,
    /// The first entry (of either) in which the two differ; `null`: nowhere.
    pub divergence: Option<u64>,
    pub files: u64,
    pub tools: u64,
    pub memory: u64,
    pub chips: u64,
    pub plans: u64,
    /// Rows of the dialogue after those that are the same.
    pub dialogue_left: u64,
    pub dialogue_right: u64,
    /// Nothing differs, neither entries nor end states.
    pub same: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DifferencePart {
    Files,
    Tools,
    Memory,
    Chips,
    Plans,
}

/// Something that the two end states have otherwise.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DifferenceRow {
    /// A path, or an id.
    pub name: String,
    /// A tool's name.
    pub tool_name: Option<String>,
    /// `null`: that side does not have it. Files: `exact`, `unverified`, `unknown`, `deleted`; tools: a status;
    /// memory: a zone; chips: `queue`, `evicted`; plans: a status.
    pub left: Option<String>,
    pub right: Option<String>,
    /// Of files.
    pub left_sha256: Option<String>,
    pub right_sha256: Option<String>,
    pub left_bytes: Option<u64>,
    pub right_bytes: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BranchSaved {
    /// For people.
    pub path: String,
    pub bytes: u64,
}

/// What a diagnosis found.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisView {
    /// Entries that were folded.
    pub entries: u64,
    /// Events that stand where they stand only by a tie.
    pub ties: u64,
    /// Events that, applied twice, gave another state than once.
    pub not_idempotent: u64,
    /// Events that gave another state when the log was folded a second time.
    pub hidden_inputs: u64,
    /// Events that ran past their limit and were skipped.
    pub timeouts: u64,
    pub rows: Vec<DiagnosisRow>,
    /// More rows were found than are listed.
    pub clipped: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisRow {
    /// `tie`, `not-idempotent`, `hidden-input`, `timeout`.
    pub kind: String,
    pub message: String,
    pub entry: Option<EntryRow>,
}

/// One complete operation.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TraceSummary {
    pub trace_id: String,
    pub events: u64,
    /// First and last entry.
    pub first: u64,
    pub last: u64,
    /// Unix milliseconds.
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub tools: u64,
    /// Of `tools`, those that failed.
    pub failed: u64,
    /// One line of its first message or call.
    pub summary: String,
}

/// A trace as a tree, its events in the order of a walk from the roots down.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TraceView {
    pub trace_id: String,
    pub total: u64,
    pub offset: u64,
    /// Of the whole trace, Unix milliseconds: the ends of the waterfall.
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub depth: u32,
    pub rows: Vec<TraceRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TraceRow {
    pub entry: EntryRow,
    pub depth: u32,
    /// Events directly below it.
    pub children: u32,
    pub parent_index: Option<u64>,
    /// `missing` (no event of the log), `later` (it comes after its child), `outside` (of another trace).
    pub parent_note: Option<String>,
    /// Where its bar begins and how long it is, Unix milliseconds: a call until its result, others until the last
    /// event below them.
    pub start: Option<i64>,
    pub duration_ms: Option<i64>,
    /// Of a call: its status.
    pub status: Option<String>,
}

/// What a page of a correlation's events is.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CorrelationView {
    pub correlation_id: String,
    pub total: u64,
    pub offset: u64,
    pub dialog: u64,
    pub exec: u64,
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub rows: Vec<TraceRow>,
}

/// Figures of the execution session alone.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FiguresView {
    /// Events of the execution session.
    pub events: u64,
    pub calls: u64,
    pub tools: Vec<ToolFigures>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolFigures {
    pub tool_name: String,
    pub calls: u64,
    pub ok: u64,
    pub error: u64,
    pub denied: u64,
    pub cancelled: u64,
    pub timeout: u64,
    /// Without a result.
    pub interrupted: u64,
    /// Calls whose duration is known: as recorded, else from call to result.
    pub timed: u64,
    pub total_ms: i64,
    pub median_ms: Option<i64>,
    /// 95 of 100 calls took no longer.
    pub p95_ms: Option<i64>,
    pub longest_ms: Option<i64>,
    /// The entry of the longest call.
    pub longest_index: Option<u64>,
}

/// Where playback stops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Stop {
    /// An event that matches a filter (the language of the search).
    Filter { filter: String },
    /// A call that failed, or an entry with an error.
    Error,
    /// The first event that touches a file: any file, or this one.
    FirstTouch { path: Option<String> },
    /// An entry with a finding of at least this severity (`error`, `warning`, `info`).
    Finding { severity: String },
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StopHit {
    pub index: u64,
    /// Places in the request's list of those that stop here.
    pub stops: Vec<u32>,
    pub entry: Option<EntryRow>,
}
