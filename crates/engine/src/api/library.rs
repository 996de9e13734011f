//! The sessions of this machine as the library lists them.

use super::SourceRow;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What counting a whole log gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionCounts {
    /// Places on the timeline.
    pub entries: u64,
    /// Files that the log's own edits touched.
    pub files: u64,
    /// Tool calls that failed.
    pub errors: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum SessionsBy {
    /// Folder that the session ran in, the one with the newest session first.
    Project,
    /// Days of this machine.
    Day,
}

/// A window of the sessions, under heads.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SessionsView {
    pub offset: u64,
    /// Lines, heads included.
    pub total: u64,
    pub rows: Vec<SessionLine>,
    /// Sessions that match, and all there are.
    pub matching: u64,
    pub all: u64,
    /// Bytes of all.
    pub bytes: u64,
    /// Not all places were looked at yet.
    pub scanning: bool,
    /// Sessions that were not looked into yet, and those that were not counted.
    pub unlooked: u64,
    pub uncounted: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[allow(clippy::large_enum_variant)]
pub enum SessionLine {
    Head {
        /// Names the head in `folded`.
        key: String,
        /// The project's name; `None` for a day, and for sessions that name no folder.
        name: Option<String>,
        /// The project's folder, for people.
        path: Option<String>,
        /// `today`, `yesterday`, `week`, or a month as `2026-11`; `never` without a time.
        day: Option<String>,
        sessions: u64,
        /// Unix milliseconds.
        newest: Option<i64>,
        folded: bool,
    },
    Session {
        row: SourceRow,
        /// 1: a sub-agent's, below the session that started it.
        depth: u32,
        /// Sessions that it started, shown below it when its source is in `opened`.
        children: u32,
        opened: bool,
    },
}
