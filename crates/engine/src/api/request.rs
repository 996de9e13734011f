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
    ($( $(#[$doc:meta])* $name:ident { $( $(#[$of:meta])* $field:ident : $ty:ty ),* $(,)? } => $reply:ty; )*) => {
        /// What the page may ask.
        #[derive(Clone, Debug, Serialize, Deserialize, TS)]
        #[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
        pub enum Request { $( $(#[$doc])* $name { $( $(#[$of])* $field: $ty ),* }, )* }

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
    /// The sessions on this machine, newest first, under heads; `folded` heads show no sessions, `opened` sources
    /// show the sessions that they started.
    Sessions { query: String, by: SessionsBy, folded: Vec<String>, opened: Vec<String>, offset: u64, limit: u64 } => SessionsView;
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
    /// Next or previous of a kind, on a lane where one is named; `None` when there is none in that direction.
    Step { log: String, from: u64, by: StepBy, forward: bool, #[ts(optional)] lane: Option<u32> } => Option<u64>;
    Tree { log: String, at: u64, mode: TreeMode, query: String, offset: u64, limit: u64 } => TreeView;
    /// `from_line` counts from 1.
    File { log: String, path: String, at: u64, from_line: u64, limit: u64 } => FileView;
    Diff { log: String, path: String, at: u64, against: Against, context: u32 } => DiffView;
    FileHistory { log: String, path: String } => Vec<FileVersion>;
    /// Of one lane, its past included, where one is named.
    Dialogue { log: String, at: u64, offset: u64, limit: u64, #[ts(optional)] lane: Option<u32> } => Page<DialogueRow>;
    Tools { log: String, at: u64, offset: u64, limit: u64, only: Option<String> } => Page<ToolRow>;
    /// The chip queue as the log has it at this position.
    LogChips { log: String, at: u64 } => Vec<LogChipRow>;
    Findings { log: String, severity: Option<String>, offset: u64, limit: u64 } => Page<FindingRow>;
    /// Raw list of entries, of one lane where one is named; with `after` from behind that entry instead of an offset.
    Entries { log: String, offset: u64, limit: u64, #[ts(optional)] lane: Option<u32>, #[ts(optional)] after: Option<u64> } => Page<EntryRow>;
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

    // --- lanes and the model's context
    /// Lines of conversation in the log; one where nothing was taken back, forked or handed to an agent.
    Lanes { log: String } => Vec<LaneView>;
    /// What the model had in its window, on that lane, else on the one that the playhead is on.
    Context { log: String, at: u64, lane: Option<u32> } => ContextView;
    /// What the window holds, or what its last compaction dropped.
    ContextRows { log: String, at: u64, lane: Option<u32>, dropped: bool, offset: u64, limit: u64 } => Page<ContextRow>;
    /// Tokens by turn, oldest first.
    Turns { log: String, at: u64, lane: Option<u32>, offset: u64, limit: u64 } => Page<TurnRow>;

    // --- a part of a log
    /// What an export of this part would have in it, and which secrets it would mask.
    ReviewExport { log: String, what: ExportWhat } => ExportReview;
    /// Asks in a native dialogue where to, and writes it (desktop only). `keep`: numbers of the values that are not
    /// masked. `None`: the dialogue was cancelled.
    Export { log: String, what: ExportWhat, format: ExportFormat, keep: Vec<u32> } => Option<Exported>;
    /// Where each text has values that look like keys, passwords or tokens.
    SecretsIn { texts: Vec<String> } => Vec<Vec<SecretRange>>;

    // --- one file, all authors
    /// Projects that sessions of this machine worked in, newest first.
    Projects {} => Vec<ProjectRow>;
    /// Files of a project that any session names. Gathered beside: `Notice::Gathered` tells when to ask again.
    ProjectFiles { project: String, query: String, offset: u64, limit: u64 } => ProjectFiles;
    /// Which project's file a log's path is.
    ProjectOf { log: String, path: String } => ProjectPath;
    /// All that is known of a project's file. Gathered beside; `anew` begins again where it had ended.
    PathHistory { project: String, path: String, anew: bool } => PathHistory;
    /// From another side to this version.
    PathDiff { history: String, version: String, against: PathAgainst, context: u32 } => DiffView;
    /// Ends the gathering of a project or a history; what was found stays.
    StopGathering { of: String } => Done;
    /// What git, the disk and backups add to what a log knows of a file.
    Evidence { log: String, path: String } => Evidence;

    // --- the event log in depth
    /// Claims of the dialogue that the execution denies, settled ones too.
    Drifts { log: String, offset: u64, limit: u64 } => Page<DriftRow>;
    /// What a repair would append; writes nothing.
    PlanRepair { log: String } => RepairView;
    /// Appends what the preview showed; refused when the log has changed since.
    ApplyRepair { repair: String } => Repaired;
    /// The catalogue of event types, for forms.
    Schemas {} => Vec<TypeSchemaView>;
    /// What is wrong with a payload (JSON text) of a type.
    CheckPayload { event_type: String, payload: String } => Vec<PayloadFaultRow>;
    /// Lays edits over a log and opens what comes out beside it, as a log of its own. A branch may have branches.
    OpenBranch { log: String, edits: Vec<BranchEdit> } => BranchView;
    /// Branches that are open, of which this log is the recorded side or the branch.
    Branches { log: String } => Vec<BranchView>;
    /// Asks where to, in a native dialogue, and writes the branch as a new log (desktop only); `null`: cancelled.
    SaveBranch { branch: String } => Option<BranchSaved>;
    /// Two open logs, as a branch is compared with what was recorded.
    CompareLogs { left: String, right: String } => BranchView;
    /// What differs at the end of a branch, or of two logs that were compared.
    Differences { left: String, right: String, part: DifferencePart, offset: u64, limit: u64 } => Page<DifferenceRow>;
    /// A file at the ends of two logs.
    DifferenceDiff { left: String, right: String, path: String, context: u32 } => DiffView;
    /// Folds the log again, each event twice: ties, events that are not idempotent, inputs from outside the log.
    Diagnose { log: String } => DiagnosisView;
    /// Operations of a log, in the order in which they begin.
    Traces { log: String, offset: u64, limit: u64 } => Page<TraceSummary>;
    /// The tree of one, walked from its roots down.
    Trace { log: String, trace: String, offset: u64, limit: u64 } => TraceView;
    /// All that carries a correlation, in order, of both sessions.
    Correlation { log: String, correlation: String, offset: u64, limit: u64 } => CorrelationView;
    /// The execution session in figures, up to a position.
    Figures { log: String, at: u64 } => FiguresView;
    /// Breakpoints: the nearest entry at which one of the stops is met.
    NextStop { log: String, from: u64, stops: Vec<Stop>, forward: bool } => Option<StopHit>;

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
