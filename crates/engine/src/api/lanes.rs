//! Lanes of a session, and the model's context at a point.

use super::DialogueRow;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A line of conversation: a session's own, one that a rewind began, a fork, a sub-agent's. Numbered in the order in
/// which the log begins them.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaneView {
    pub lane: u32,
    /// `main`, `rewound`, `fork`, `sub-agent`.
    pub kind: String,
    /// What the log calls it, else the first words said on it; may be empty.
    pub title: String,
    pub trace_id: String,
    pub parent: Option<u32>,
    /// The parent's last entry that is its past too; of a sub-agent the entry that started it; 0: none.
    pub from: u64,
    /// The call that started a sub-agent, and its result.
    pub call: Option<u64>,
    pub result: Option<u64>,
    /// Its first and last own entry.
    pub first: u64,
    pub last: u64,
    /// Own entries, and messages among them.
    pub entries: u64,
    pub messages: u64,
    /// Where `from`, its first own entry and its last one stand on the time axis.
    pub parts: Option<f64>,
    pub begins: Option<f64>,
    pub ends: Option<f64>,
}

/// A lane that leaves the one that is shown, or that is left there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaneFork {
    pub lane: u32,
    /// What that lane is to the one shown: `rewound`, `fork`, `sub-agent`; `left` for what was taken back here.
    pub kind: String,
    /// Messages on it from here on.
    pub messages: u64,
    pub title: String,
}

/// Entries of one lane by column; only columns that have any.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LaneTrack {
    pub lane: u32,
    pub columns: Vec<u32>,
    pub counts: Vec<u32>,
}

/// Tokens as the log tells them, each API message counted once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SpentView {
    /// API messages.
    pub requests: u64,
    /// Neither read from a cache nor written to one.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub output: u64,
    /// US dollars, where the log says so; of those messages that say it.
    pub cost: Option<f64>,
}

/// A text that stands in front of the messages.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StandingRow {
    pub index: u64,
    /// `system`, `instructions`, `tools`, `skills`, `agents`, `servers`, `environment`.
    pub what: String,
    /// Into the entry's record.
    pub pointer: String,
    /// Of the value's JSON.
    pub bytes: u64,
    /// How many, of a list.
    pub count: Option<u64>,
    /// Its first words.
    pub summary: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CompactionView {
    pub index: u64,
    pub timestamp: Option<i64>,
    /// At most 16 KiB; `clipped` tells that there is more.
    pub summary: Option<String>,
    pub clipped: bool,
    /// As the log has them.
    pub tokens_before: Option<i64>,
    pub tokens_after: Option<i64>,
    /// Tokens in the window at the last API message before it.
    pub fill_before: Option<u64>,
    /// Messages and results that it replaced, and the bytes of their texts.
    pub dropped: u64,
    pub dropped_bytes: u64,
}

/// Tokens in the window after an API message.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FillPoint {
    pub index: u64,
    pub tokens: u64,
}

/// What the model had in its window at a position, as far as the log says.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ContextView {
    /// Whose window it is: the lane asked for, else the one that the playhead is on.
    pub lane: u32,
    pub lane_title: String,
    pub lanes: u64,
    pub model: Option<String>,
    /// Tokens that the model's window holds, where the log says so.
    pub window: Option<u64>,
    /// Tokens in it after the last API message.
    pub fill: Option<u64>,
    pub standing: Vec<StandingRow>,
    /// Messages and results in it, the compaction's summary included, and the bytes of their texts.
    pub messages: u64,
    pub bytes: u64,
    pub compaction: Option<CompactionView>,
    /// The last API message; the turn that it is of; all up to here.
    pub last: Option<SpentView>,
    pub turn: SpentView,
    pub total: SpentView,
    /// What the log says of the whole session, where it says no more.
    pub whole: Option<SpentView>,
    /// The fill over the whole lane, at most 400 points, and where compactions stand.
    pub track: Vec<FillPoint>,
    pub compactions: Vec<u64>,
}

/// A turn: a message of the user and what the model did about it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnRow {
    /// The message of the user; 0 for what came before the first.
    pub index: u64,
    pub timestamp: Option<i64>,
    /// One line of it.
    pub summary: String,
    pub spent: SpentView,
    /// Tokens in the window at its end.
    pub fill: Option<u64>,
}

/// Rows of the context: messages, results, and a compaction's summary with the role `summary`.
pub type ContextRow = DialogueRow;
