//! The closed table of requests: what the page may ask, and what it gets.

use super::*;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Why a request was not done. `code` is stable; `message` is one clear sentence; `hint` says what to do.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ApiError {
    /// `not-found`, `bad-request`, `precondition`, `outside-root`, `unknown-content`, `conflict`, `nothing-to-undo`,
    /// `cancelled`, `io`, `host-only` (only the desktop can do it).
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
    /// What exactly, from a closed table (`codes.ts`, `whys`): the page says it in its own language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub why: Option<String>,
    /// What it is about, in the order in which a sentence names it: paths, ids, counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub about: Vec<String>,
}

macro_rules! requests {
    ($( $(#[$doc:meta])* $name:ident { $($field:ident : $ty:ty),* $(,)? } => $reply:ty; )*) => {
        /// What the page may ask.
        #[derive(Clone, Debug, Serialize, Deserialize, TS)]
        #[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
        pub enum Request { $( $(#[$doc])* $name { $($field: $ty),* }, )* }

        /// What it gets, one variant for each request. On the wire only the inner value is sent.
        #[derive(Clone, Debug, Serialize)]
        #[serde(untagged)]
        #[allow(clippy::large_enum_variant)]
        pub enum Reply { $( $name($reply), )* }

        /// Request name and reply type, for the generated TypeScript table `Replies`.
        pub(super) fn reply_table(cfg: &ts_rs::Config) -> Vec<(&'static str, String)> {
            vec![ $( (stringify!($name), <$reply as TS>::name(cfg)), )* ]
        }

        /// Visits every type that the table names.
        pub(super) fn visit_all(visitor: &mut impl ts_rs::TypeVisitor) {
            visitor.visit::<Request>();
            visitor.visit::<Notice>();
            visitor.visit::<ApiError>();
            $( visitor.visit::<$reply>(); )*
        }
    };
}

requests! {
    // --- the window as a whole
    /// First request of the page.
    Hello {} => Hello;
    Library {} => LibraryView;
    /// Native file chooser (desktop only); what is picked is opened and arrives as `Notice::Opened`.
    PickFiles {} => Done;
    /// Native folder chooser; the folder becomes a root (and is opened, where it holds logs).
    PickFolder {} => Done;
    /// Opens a source that the library listed.
    OpenSource { source: String } => Done;
    /// Opens the bundled demo.
    OpenDemo {} => Done;
    CloseLog { log: String } => Done;
    CancelOpen { log: String } => Done;
    /// Shows a file in the system's file manager (desktop only); `log` + `path`, or a chip, name it.
    Reveal { what: RevealTarget } => Done;
    GetSettings {} => SettingsView;
    SetSetting { key: String, value: serde_json::Value } => SettingsView;

    // --- a log on the timeline
    Log { log: String } => LogView;
    /// Everything a scrub step needs at once.
    Moment { log: String, at: u64, path: Option<String> } => MomentView;
    Tracks { log: String, query: TracksQuery } => TracksView;
    /// Index ↔ place on the axis.
    Locate { log: String, target: SeekTarget } => Located;
    /// Next or previous of a kind; `None` when there is none in that direction.
    Step { log: String, from: u64, by: StepBy, forward: bool } => Option<u64>;
    Tree { log: String, at: u64, mode: TreeMode, query: String, offset: u64, limit: u64 } => TreeView;
    /// `from_line` counts from 1.
    File { log: String, path: String, at: u64, from_line: u64, limit: u64 } => FileView;
    Diff { log: String, path: String, at: u64, against: Against, context: u32 } => DiffView;
    FileHistory { log: String, path: String } => Vec<FileVersion>;
    Dialogue { log: String, at: u64, offset: u64, limit: u64 } => Page<DialogueRow>;
    Tools { log: String, at: u64, offset: u64, limit: u64, only: Option<String> } => Page<ToolRow>;
    /// The chip queue as the log has it at this position.
    LogChips { log: String, at: u64 } => Vec<LogChipRow>;
    Findings { log: String, severity: Option<String>, offset: u64, limit: u64 } => Page<FindingRow>;
    /// Raw list of entries.
    Entries { log: String, offset: u64, limit: u64 } => Page<EntryRow>;
    Event { log: String, index: u64 } => EventView;
    /// A long string of an event's record, by JSON pointer; UTF-16-safe slices of at most 256 KiB.
    EventText { log: String, index: u64, pointer: String, offset: u64, limit: u64 } => TextSlice;
    /// Starts a search (filter language of the command line); runs in the background, progress as notices.
    Search { log: String, filter: String } => SearchView;
    Hits { log: String, search: String, offset: u64, limit: u64 } => Page<EntryRow>;
    Bookmarks { log: String } => Vec<Bookmark>;
    /// Adds, renames or (with `label: null`) removes.
    SetBookmark { log: String, index: u64, label: Option<String> } => Vec<Bookmark>;
    /// Palette: files, events and code lines at the playhead that match.
    Palette { log: Option<String>, at: u64, query: String } => PaletteView;

    // --- chips and edit snapshots
    Chips { query: String, only: ChipFilter, offset: u64, limit: u64 } => ChipsView;
    Chip { chip: String } => ChipView;
    /// Diff of a chip's content placed at a target: `path` + `line` of an opened root, else the found origin.
    ChipDiff { chip: String, target: Option<ChipTarget> } => DiffView;
    PinChip { chip: String, pinned: bool } => Done;
    /// Writes an evicted chip back into the chip folder.
    ReviveChip { chip: String } => Revived;
    Snapshots {} => Vec<SnapshotWorkspace>;
    Snapshot { snapshot: String } => SnapshotView;

    // --- restore
    /// Plans and previews; writes nothing.
    PlanRestore { what: RestoreWhat } => PlanView;
    /// Settles one conflict of a merge and previews again.
    Settle { plan: String, conflict: u32, choice: Settlement } => PlanView;
    /// Asks the person, in a native dialogue, to let the plan write outside the opened folders (desktop only).
    AllowRoot { plan: String } => PlanView;
    /// Writes what the preview showed; refused when anything moved since.
    Apply { plan: String } => Applied;
    /// Takes back the newest restore, or that one.
    Undo { restore: Option<String> } => Applied;
    History { offset: u64, limit: u64 } => Page<HistoryRow>;
}
