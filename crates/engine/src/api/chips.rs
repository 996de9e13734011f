//! Chips and edit snapshots.

use super::DiffView;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ChipFilter {
    All,
    Failed,
    Deleted,
    Damaged,
    Evicted,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChipsView {
    pub folder: String,
    pub watch: super::Watch,
    /// Counts over everything, whatever the filter.
    pub all: u64,
    pub failed: u64,
    pub deleted: u64,
    pub damaged: u64,
    pub evicted: u64,
    pub in_queue: u64,
    /// Newest first: those in the folder, then evicted ones from the archive.
    pub offset: u64,
    pub total: u64,
    pub rows: Vec<ChipRow>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ChipState {
    Queue,
    /// In the folder but beyond 30: the next start of a server drops it.
    Beyond,
    /// Does not parse and changed within the last 2 s.
    Writing,
    Damaged,
    /// Gone from the folder, kept in the archive.
    Evicted,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChipRow {
    /// Opaque key for the other requests; stable while the file keeps its bytes or name.
    pub chip: String,
    pub id: String,
    pub tool: String,
    /// Unix seconds.
    pub created_at: i64,
    pub bytes: u64,
    pub err_msg: Option<String>,
    pub summary: String,
    pub file: String,
    pub state: ChipState,
    /// 1 = the oldest, of how many; the next save evicts number 1 when the queue is full.
    pub queue_place: Option<u32>,
    /// The next save evicts it.
    pub next_to_go: bool,
    pub pinned: bool,
    pub target: Option<ChipTarget>,
    /// Edit snapshot of the same delete.
    pub linked: Option<String>,
    /// Damaged: why, for people.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChipTarget {
    /// For people and back to the engine: checked against the opened roots when used.
    pub path: String,
    /// Insert after this line; the content came from the lines after it.
    pub line: Option<u64>,
    /// `snapshot`, `log`, `search`, `arguments`, or `chosen` (by the person).
    pub certainty: String,
    /// Inside an opened root.
    pub allowed: bool,
    /// For people: `edit snapshot 4d12f6`, `e12 of basic.jsonl`.
    pub because: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChipView {
    pub row: ChipRow,
    /// Arguments (strings over 2,000 characters cut); null for a damaged one.
    pub args: serde_json::Value,
    /// The file's text, cut to 256 KiB; bytes that are no UTF-8 as U+FFFD.
    pub raw: String,
    pub raw_clipped: bool,
    /// What was lost: `_content` of a delete, else the argument `content`.
    pub content: Option<String>,
    pub content_lines: u64,
    pub content_clipped: bool,
    pub language: Option<String>,
    /// A failed replace: its old text against its new one.
    pub replace: Option<DiffView>,
    /// What `be-insert-chip` would insert.
    pub insert_text: Option<String>,
    /// Places it may have come from, best first; more than one: shown, not guessed.
    pub targets: Vec<ChipTarget>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Revived {
    pub chip: String,
    pub file: String,
    pub created_at: i64,
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotWorkspace {
    /// The workspace id (folder name).
    pub workspace: String,
    /// An opened root with this id.
    pub root: Option<String>,
    /// Newest first.
    pub rows: Vec<SnapshotRow>,
    pub damaged: Vec<String>,
    /// Over 12 records: the order of equal times is not known.
    pub order_unknown: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotRow {
    pub snapshot: String,
    pub id: String,
    pub tool: String,
    /// As the server wrote it.
    pub file: String,
    pub summary: String,
    pub created_at: i64,
    pub added: u32,
    pub removed: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotView {
    pub row: SnapshotRow,
    pub diff: DiffView,
    /// Where the file is, below an opened root; `None`: not known, open its folder first.
    pub target: Option<ChipTarget>,
    pub raw: String,
}
