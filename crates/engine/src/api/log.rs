//! A log on the timeline.

use super::DiffView;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LogView {
    pub log: String,
    pub title: String,
    /// Files of the log set, for people.
    pub files: Vec<String>,
    pub format: String,
    /// A JSONL that is no known format: each line an opaque entry.
    pub foreign: bool,
    /// `opening`, `ready`, `failed`, `cancelled` (what was read so far stays).
    pub phase: String,
    pub error: Option<String>,
    pub progress: Option<Progress>,
    /// Entries; the last position.
    pub count: u64,
    pub first_time: Option<i64>,
    pub last_time: Option<i64>,
    /// The file is being followed.
    pub live: bool,
    /// `truncated`, `replaced` or `deleted` while open; what was read stays.
    pub changed: Option<String>,
    /// Folder that relative paths are restored below, where a person opened one.
    pub root: Option<String>,
    /// The log's own working folder.
    pub cwd: Option<String>,
    pub tracks: TrackTotals,
    pub findings_error: u64,
    pub findings_warning: u64,
    pub findings_info: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub read_bytes: u64,
    pub total_bytes: u64,
    pub entries: u64,
    /// `reading`, `folding`.
    pub stage: String,
    pub eta_ms: Option<u64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TrackTotals {
    pub dialogue: u64,
    pub tools: u64,
    pub files: u64,
    pub chips: u64,
    pub memory: u64,
    pub errors: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Axis {
    /// Unix milliseconds; a clock that runs back stands still until it is caught up.
    Time,
    /// Positions.
    Event,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TracksQuery {
    pub axis: Axis,
    /// Visible span in the axis' unit, `from < to`.
    pub from: f64,
    pub to: f64,
    /// Columns wanted, at most 8,192.
    pub pixels: u32,
    /// File whose changes are marked.
    pub path: Option<String>,
    /// Search whose hits are marked.
    pub search: Option<String>,
    /// Entries of each lane by column too.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub lanes: bool,
}

/// Counts per column; a dense track has `pixels` numbers, a sparse one only its marks.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TracksView {
    /// Entries of any kind.
    pub entries: Vec<u32>,
    pub dialogue: Vec<u32>,
    pub tools: Vec<u32>,
    /// Of `tools`, those that failed.
    pub tools_failed: Vec<u32>,
    /// Lines or changes: additions (create, change) and removals (delete) apart.
    pub files_plus: Vec<u32>,
    pub files_minus: Vec<u32>,
    pub chips: Vec<Mark>,
    pub errors: Vec<Mark>,
    pub bookmarks: Vec<Mark>,
    /// Changes of the selected file.
    pub path_marks: Vec<Mark>,
    pub hits: Vec<Mark>,
    /// Tokens in the hot and warm zones as a share of their budgets, 0..1, by column; empty without memory events.
    pub memory: Vec<f32>,
    /// Lanes that have entries in view, where they were asked for and there are several; at most 64.
    pub lanes: Vec<super::LaneTrack>,
    /// Ticks of the ruler: place and label are the page's work; this is the span of the whole log on this axis.
    pub start: f64,
    pub end: f64,
    /// Position after the last entry at or before `from` and `to`.
    pub first_index: u64,
    pub last_index: u64,
}

/// Marks in one column: drawn as one sign with a count.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    pub column: u32,
    /// First entry of the column.
    pub index: u64,
    pub count: u32,
    /// Chips: `save`, `evict`, `insert`; errors: `error` or `warning`; bookmarks: their label.
    pub kind: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum SeekTarget {
    Index {
        index: u64,
    },
    /// Place on an axis, in its unit.
    Axis {
        axis: Axis,
        value: f64,
    },
    EventId {
        id: String,
    },
    /// What the command line takes for N: `end`, a position, `@ms`, an ISO time, an event id.
    Text {
        text: String,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Located {
    pub index: u64,
    /// Unix milliseconds on the monotone clock of the time axis.
    pub time: Option<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum StepBy {
    Event,
    ToolCall,
    FileChange {
        path: String,
    },
    Error,
    Bookmark,
    Hit {
        search: String,
    },
    /// Breakpoint: an event that matches a filter.
    Filter {
        filter: String,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MomentView {
    pub at: u64,
    pub count: u64,
    pub event: Option<EntryRow>,
    /// Recorded time of the entry.
    pub timestamp: Option<i64>,
    /// Its place on the time axis.
    pub axis_time: Option<f64>,
    pub files: u64,
    pub files_changed: u64,
    pub dialogue: u64,
    pub tools: u64,
    pub chips: u64,
    /// Findings at or before this position.
    pub findings: u64,
    /// The file that this entry touches.
    pub touches: Option<String>,
    /// The selected file (`path`) at this position: which version of how many, 1-based; 0 before the first.
    pub version: Option<u64>,
    pub versions: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EntryRow {
    pub index: u64,
    pub event_id: Option<String>,
    /// `tool.call`, …; `opaque` for a line that is no event.
    pub kind: String,
    pub session: Option<String>,
    pub timestamp: Option<i64>,
    pub trace_id: Option<String>,
    /// One line for people, at most 200 characters.
    pub summary: String,
    /// The same in parts, where words of ours are in it: the page says it in its own language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub says: Option<RowSays>,
    /// Worst finding: `error`, `warning`, `info`.
    pub finding: Option<String>,
    /// `file:line` in the log.
    pub place: String,
}

/// A row's summary, where it is more than the log's own text. Texts are cut like the summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(
    tag = "code",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum RowSays {
    /// A file's whole text.
    Lines {
        path: String,
        count: u64,
    },
    /// Some edits of a file.
    Edits {
        path: String,
        count: u64,
    },
    Patch {
        path: String,
    },
    /// A file was seen on disk; `whole`: with its content.
    Seen {
        path: String,
        whole: bool,
    },
    SessionEnded,
    /// Outcome of a tool call, `ms` long, with what it says.
    Outcome {
        tool: String,
        status: String,
        ms: Option<i64>,
        text: String,
    },
    Corrects {
        id: String,
        status: String,
    },
    /// An entry of the memory comes into a zone.
    IntoZone {
        id: String,
        zone: String,
        text: String,
    },
    ToZone {
        id: String,
        zone: String,
    },
    Reviewed {
        plan: String,
        approved: bool,
    },
    Tokens {
        plan: String,
        count: i64,
    },
    WholeState {
        files: u64,
    },
    UndoOf {
        path: String,
        restore: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TreeMode {
    /// Files that the log changed up to here.
    Changed,
    /// All files that the log knows.
    All,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TreeView {
    pub total_changed: u64,
    pub total: u64,
    /// Rows of this mode that the query leaves.
    pub matching: u64,
    pub offset: u64,
    /// Sorted by path, folders implied.
    pub rows: Vec<FileRow>,
    /// Common folder of all paths, cut from `label`s.
    pub base: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileRow {
    /// As the log writes it.
    pub path: String,
    /// Path below `base`.
    pub label: String,
    /// `A` added, `M` modified, `D` deleted, `R` renamed, `?` unknown, `=` unchanged (only observed).
    pub status: String,
    /// `exact`, `unverified`, `unknown`.
    pub certainty: String,
    pub exists: bool,
    pub renamed_from: Option<String>,
    pub last_index: u64,
    /// The entry at the playhead touches it.
    pub touched_now: bool,
    pub bytes: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileView {
    pub path: String,
    pub exists: bool,
    pub certainty: String,
    /// `written`, `known-base`, `base-unknown`, `shell-since`, `observed`.
    pub why: String,
    pub sha256: Option<String>,
    pub bytes: Option<u64>,
    pub lines: u64,
    /// Number of the first line in `text`, from 1.
    pub from_line: u64,
    /// Lines without their ends; `None` when unknown or deleted.
    pub text: Option<Vec<String>>,
    pub binary: bool,
    pub language: Option<String>,
    pub endings: Option<String>,
    pub final_newline: bool,
    /// The version shown, 1-based, and how many the log has.
    pub version: u64,
    pub versions: u64,
}

/// What the file at the position asked for is compared with. The earlier one is the old side; the disk is the latest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Against {
    /// The version before the one shown.
    Previous,
    /// What is on disk now, below the root.
    Disk,
    /// Another position (A/B).
    Position { at: u64 },
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileVersion {
    pub index: u64,
    pub event_id: Option<String>,
    pub timestamp: Option<i64>,
    /// `create`, `change`, `delete`, `rename`, `observe`.
    pub op: String,
    pub certainty: String,
    pub why: String,
    pub sha256: Option<String>,
    pub bytes: Option<u64>,
    /// `file:line` in the log.
    pub place: String,
    /// The content changed behind the log: what was observed differs from what it implied.
    pub changed_outside: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DialogueRow {
    pub index: u64,
    pub event_id: String,
    /// `user`, `assistant`, `system`, `tool`, `correction`.
    pub role: String,
    pub timestamp: Option<i64>,
    /// At most 16 KiB; `clipped` tells that there is more (`EventText`). `None`: its blob is missing.
    pub content: Option<String>,
    pub clipped: bool,
    pub status: Option<String>,
    pub call_index: Option<u64>,
    pub tool_name: Option<String>,
    /// Still in the model's context at the playhead.
    pub in_context: bool,
    /// The lane it is on, where the log has several.
    pub lane: Option<u32>,
    /// Lanes that part from the one shown behind this message.
    #[serde(default)]
    pub forks: Vec<super::LaneFork>,
    /// What the execution says instead, where the dialogue claims otherwise.
    pub drift: Option<String>,
    /// The same as it stands in the drift list; there also when a correction has settled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub claim: Option<super::DriftRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolRow {
    pub index: u64,
    pub event_id: String,
    pub tool_name: String,
    /// `pending`, `ok`, `error`, `denied`, `cancelled`, `timeout`, or `interrupted` (no result in the whole log).
    pub status: String,
    pub result_index: Option<u64>,
    pub timestamp: Option<i64>,
    pub duration_ms: Option<i64>,
    /// One line of the arguments.
    pub summary: String,
    /// One line of the error, if any.
    pub error: Option<String>,
    pub drift: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LogChipRow {
    pub id: String,
    pub index: u64,
    pub tool: String,
    pub summary: String,
    pub err_msg: Option<String>,
    pub evicted: bool,
    /// The same chip in the chip folder or the archive, for `Chip`.
    pub chip: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FindingRow {
    pub severity: String,
    pub code: String,
    pub message: String,
    /// Relative to what was opened.
    pub file: String,
    pub line: u64,
    /// The entry it stands at, where it has one.
    pub index: Option<u64>,
    pub event_id: Option<String>,
    pub path: Option<String>,
    pub call_id: Option<String>,
    pub dialogue: Option<String>,
    pub execution: Option<String>,
    /// The line as it is in the file, cut to 400 characters.
    pub excerpt: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventView {
    pub row: EntryRow,
    pub seq: Option<u64>,
    pub version: Option<u32>,
    pub correlation_id: Option<String>,
    pub parent: Option<EntryRow>,
    /// The call of a result, the result of a call.
    pub counterpart: Option<EntryRow>,
    pub status: Option<String>,
    pub duration_ms: Option<i64>,
    pub tool_name: Option<String>,
    /// Events of the same trace and of the same correlation.
    pub trace_events: u64,
    pub correlation_events: u64,
    /// The record as JSON; strings over 2,000 characters are cut, see `long`.
    pub record: Option<serde_json::Value>,
    /// JSON pointers of the strings that were cut, with their full length in bytes.
    pub long: Vec<LongText>,
    /// An opaque line's text, cut to 64 KiB; bytes that are no UTF-8 as U+FFFD.
    pub raw: Option<String>,
    pub bytes: u64,
    /// The messages said before it, newest last, at most one of each role.
    pub said_before: Vec<DialogueRow>,
    pub findings: Vec<FindingRow>,
    /// Paths that this entry changes, with the diff against the state before (short ones only).
    pub changes: Vec<EventChange>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventChange {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    pub diff: Option<DiffView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LongText {
    pub pointer: String,
    pub bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TextSlice {
    pub text: String,
    pub offset: u64,
    pub next_offset: Option<u64>,
    pub bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchView {
    /// Names the search in `Hits`, `Tracks` and `Step`.
    pub search: String,
    pub total: u64,
    pub scanned: u64,
    pub done: bool,
    /// Why the filter was refused, with the place in it; nothing else is then set.
    pub fault: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Bookmark {
    pub index: u64,
    pub label: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PaletteView {
    pub files: Vec<FileRow>,
    pub code: Vec<CodeHit>,
    pub events: Vec<EntryRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CodeHit {
    pub path: String,
    pub line: u64,
    pub text: String,
    /// Position that has it: the playhead, or an earlier one where it is gone now.
    pub at: u64,
    pub gone: bool,
}
