//! What the engine tells without being asked.

use super::{ChipTarget, Gathering, LogView, Progress, SettingsView};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[allow(clippy::large_enum_variant)]
pub enum Notice {
    /// The settings are others now (a project's file).
    SettingsChanged {
        view: SettingsView,
    },
    /// Ask `Library` again.
    LibraryChanged,
    /// Ask `Chips` again.
    ChipsChanged,
    SnapshotsChanged,
    /// Something was opened (drop, dialogue, argument, second start): where to look.
    Opened {
        logs: Vec<String>,
        focus: Option<String>,
        chip: Option<String>,
        snapshot: Option<String>,
        /// Folder that may be restored into from now on.
        root: Option<String>,
        /// Items that were not understood, with the reason.
        refused: Vec<DropItem>,
    },
    /// A log's view changed (phase, count, findings, live): the whole view.
    Log {
        view: LogView,
    },
    LogProgress {
        log: String,
        progress: Progress,
    },
    SearchProgress {
        log: String,
        search: String,
        total: u64,
        scanned: u64,
        done: bool,
    },
    /// How far a diagnosis is, in entries.
    DiagnoseProgress {
        log: String,
        done: u64,
        total: u64,
    },
    /// A file that an open log names changed on disk.
    DiskChanged {
        log: String,
        path: String,
    },
    HistoryChanged,
    /// More is known of a project's files (`of`: the project) or of one file (`of`: the history): ask again.
    Gathered {
        of: String,
        gathering: Gathering,
    },
    /// Files hover over the window: what a drop would do.
    DropHover {
        items: Vec<DropItem>,
    },
    DropLeave,
    /// Something to say that needs no answer.
    Message {
        level: String,
        text: String,
    },
    /// A chip's targets were found or changed.
    ChipTargets {
        chip: String,
        targets: Vec<ChipTarget>,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DropItem {
    pub name: String,
    /// `log`, `log-set`, `chip`, `edit-snapshot`, `memory`, `root`, `unknown`.
    pub kind: String,
    /// `one timeline, 18.2 MB`, or the reason with file and line.
    pub detail: String,
    pub understood: bool,
}
