//! The window as a whole: library, settings, pages of lists, diffs.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Done, nothing more to say.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Done {}

/// A window of a list.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub offset: u64,
    pub total: u64,
    pub rows: Vec<T>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    pub version: String,
    /// `linux`, `macos` or `windows`.
    pub platform: String,
    pub settings: SettingsView,
    /// Logs already open (from arguments), newest last.
    pub open_logs: Vec<String>,
    /// The log to show first.
    pub focus: Option<String>,
    /// The bundled demo is what is shown, since nothing else was found.
    pub demo: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LibraryView {
    pub chips_in_queue: u64,
    pub chips_evicted: u64,
    pub chips_damaged: u64,
    /// Where chips are watched, for people (home shortened to `~`).
    pub chip_folder: String,
    pub watch: Watch,
    pub edit_snapshots: u64,
    pub archive_chips: u64,
    pub archive_bytes: u64,
    /// Open, recent, and the newest of those found on this machine; `Sessions` gives all.
    pub logs: Vec<SourceRow>,
    /// Sessions on this machine, as far as they were found.
    pub sessions: u64,
    /// Not all places were looked at yet.
    pub scanning: bool,
    pub memory: Vec<SourceRow>,
    pub roots: Vec<RootRow>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum Watch {
    /// File system events.
    Events,
    /// No events on this file system: looked at twice a second.
    Polling,
    /// The folder does not exist (yet); its parent is watched.
    Missing,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SourceRow {
    /// Opaque id for `OpenSource`.
    pub source: String,
    /// The open log, where it is open.
    pub log: Option<String>,
    pub title: String,
    /// For people.
    pub path: String,
    /// Project folder's name, where the log says one.
    pub project: Option<String>,
    /// The folder that the session ran in, for people.
    pub cwd: Option<String>,
    /// `canonical`, `claude-code`, `codex`, …, `raw`.
    pub format: String,
    pub bytes: u64,
    /// Known for logs that were read.
    pub entries: Option<u64>,
    pub modified: Option<i64>,
    pub live: bool,
    /// Opened before by a person (Recent), as opposed to found on this machine.
    pub recent: bool,
    /// The log was looked into: `title` is its own. Else it is the file's name for the time being.
    pub looked: bool,
    /// First and last time that the log names, Unix milliseconds.
    pub started: Option<i64>,
    pub ended: Option<i64>,
    /// Known once it was counted in the background; of a log that grew since, nearly right.
    pub counts: Option<super::SessionCounts>,
    /// Files beside it that are its sub-agents'.
    pub parts: u32,
    /// From our archive: the agent's own file is gone, or was cut or written anew since.
    pub archived: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RootRow {
    pub path: String,
    /// Only this file of it may be written.
    pub only: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum RevealTarget {
    LogFile { log: String },
    File { log: String, path: String },
    Chip { chip: String },
    ChipFolder,
    Archive,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingsView {
    pub rows: Vec<SettingRow>,
    /// Where the user file is, for people.
    pub file: String,
    /// Faults of the settings file: key and what is wrong.
    pub faults: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettingRow {
    /// `chips.dir`, `archive.max_bytes`, `archive.max_days`, `ui.theme` (system|light|dark), `ui.language`
    /// (system|en|zh-CN), `ui.single_keys` (bool), `ui.diff` (auto|inline|split), `play.speed`, `play.paced` (bool).
    pub key: String,
    pub value: serde_json::Value,
    pub default: serde_json::Value,
    /// `default`, `file`, `project`, `env` or `argument`.
    pub source: String,
    /// Allowed values, where there is a closed list.
    pub choices: Option<Vec<String>>,
}

/// A text diff, ready to draw.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffView {
    pub old: Option<DiffSide>,
    pub new: Option<DiffSide>,
    pub added: u32,
    pub removed: u32,
    pub hunks: Vec<Hunk>,
    /// Why there are no hunks: `same`, `binary`, `unknown-old`, `unknown-new`, `too-large`; `None` with hunks.
    pub note: Option<String>,
    /// For highlighting: `rust`, `python`, … by file name; `None` for plain text.
    pub language: Option<String>,
    /// Rows were left out or lines cut (`…`) because there is too much to draw.
    pub clipped: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffSide {
    /// What it is, for people: `event 4,211`, `disk now`, `old text`.
    pub label: String,
    pub exists: bool,
    /// `exact`, `unverified`, `unknown`; `None` for the disk.
    pub certainty: Option<String>,
    pub bytes: Option<u64>,
    pub sha256: Option<String>,
    /// `lf`, `crlf`, `mixed`, `none`.
    pub endings: Option<String>,
    pub final_newline: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// Names the hunk in a restore, valid for this diff's two sides.
    pub id: String,
    pub old_start: u32,
    pub old_lines: u32,
    pub new_start: u32,
    pub new_lines: u32,
    /// The line that the hunk stands under (function, class), where one is found.
    pub heading: Option<String>,
    pub rows: Vec<DiffRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffRow {
    /// `same`, `del`, `add`.
    pub kind: String,
    pub old_line: Option<u32>,
    pub new_line: Option<u32>,
    /// The line without its end, in runs; `changed` marks the words that differ.
    pub runs: Vec<Run>,
    /// The line end, where it is not the side's usual one or missing: `crlf`, `lf`, `none`.
    pub end: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    pub text: String,
    pub changed: bool,
}
