//! Restore plans, their preview, the history.

use super::{Against, AuthorKind, ChipTarget, DiffView};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum RestoreWhat {
    /// A file as it was at a position.
    File {
        log: String,
        path: String,
        at: u64,
    },
    /// One hunk of a shown diff: the disk gets the old (`-`) side's lines back.
    Hunk {
        log: String,
        path: String,
        at: u64,
        against: Against,
        hunk: String,
    },
    Files {
        log: String,
        paths: Vec<String>,
        at: u64,
    },
    Tree {
        log: String,
        at: u64,
    },
    /// Takes back only this entry's change, keeping all later ones (three-way merge).
    UndoChange {
        log: String,
        path: String,
        index: u64,
    },
    Chip {
        chip: String,
        target: ChipTarget,
        form: InsertForm,
    },
    /// Back where it was cut from; `target` picks one of several candidates.
    PutBack {
        chip: String,
        target: Option<ChipTarget>,
    },
    EditSnapshot {
        snapshot: String,
        before: bool,
    },
    /// A version of a file's history over all authors.
    PathVersion {
        history: String,
        version: String,
    },
    /// A copy that the agent kept beside its log.
    Backup {
        log: String,
        path: String,
        backup: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum InsertForm {
    /// Byte for byte what `be-insert-chip` leaves.
    Header,
    /// The bare text.
    Content,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlanView {
    pub plan: String,
    pub kind: String,
    /// Where it goes, for the button: `payment_service.py:30`, `3 files`.
    pub target: String,
    /// Where the content comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<PlanFrom>,
    /// One sentence: what it puts where and what is lost by it.
    pub summary: String,
    pub steps: Vec<PlanStep>,
    pub warnings: Vec<Warning>,
    /// Can be applied now.
    pub ready: bool,
    /// Nothing would change: the disk has it already.
    pub nothing: bool,
    pub needs: Option<PlanNeed>,
    /// Merge conflicts still to settle; while there are any, nothing can be written.
    pub conflicts: Vec<Conflict>,
    /// Places to choose from, where it is not clear.
    pub candidates: Vec<ChipTarget>,
    /// The file is deleted at that position: the position of the version before its deletion, to be asked for instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before_deletion: Option<u64>,
}

/// Where a restore's content comes from, for sentences in any language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum PlanFrom {
    /// The state at a position; 0 is before the log.
    Event {
        at: u64,
    },
    /// The state before an entry.
    Before {
        index: u64,
    },
    Chip {
        id: String,
    },
    EditSnapshot {
        id: String,
        before: bool,
    },
    /// A version of a file's history: who knows it, and since when.
    Version {
        author: AuthorKind,
        /// A session's title, a commit's subject.
        name: String,
        /// A commit's or an edit snapshot's id.
        id: Option<String>,
        time: Option<i64>,
    },
    /// A copy that the agent kept, made at that time.
    Backup {
        name: String,
        time: Option<i64>,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlanStep {
    /// Below the root, for people.
    pub path: String,
    /// `create`, `replace`, `delete`, `none`.
    pub action: String,
    pub before_sha256: Option<String>,
    pub after_sha256: Option<String>,
    /// From the disk now to what will be there.
    pub diff: DiffView,
    /// What else changes: `line-endings`, `final-newline`, `hard-link`, …, for people.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// `disk-differs`, `unverified`, `unknown-content`, `merged`, …
    pub code: String,
    pub message: String,
    /// Which kind of it, where the code alone doesn't say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub why: Option<String>,
    /// The file it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// How many: line ends that change, files that lie elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub count: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum PlanNeed {
    /// Outside the opened folders: `AllowRoot`.
    Root { folder: String, file: String },
    /// Never: a path that climbs out, a foreign system's path.
    Refused {
        reason: String,
        /// Which of `codes.ts`, `whys`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        why: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        path: Option<String>,
    },
    /// Something on disk would be lost that exists nowhere else: the person confirms.
    Overwrite { lines: u32, path: String },
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    pub path: String,
    pub number: u32,
    pub base: Vec<String>,
    /// On disk now.
    pub ours: Vec<String>,
    /// From the log.
    pub theirs: Vec<String>,
    /// Line on disk where it begins, from 1.
    pub line: u32,
    pub settled: Option<Settlement>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Settlement {
    /// Keep what is on disk.
    Ours,
    /// Take what the log has.
    Theirs,
    /// Disk's lines, then the log's.
    Both,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Applied {
    pub restore: String,
    /// For the toast: `Restored payment_service.py:30`.
    pub summary: String,
    /// What was written, as in the plan's `target`; the kind of deed says the rest.
    #[serde(default)]
    pub label: String,
    /// `restored`, `took-back`, or `restored-again`: an undo that was undone.
    #[serde(default)]
    pub deed: String,
    pub files: Vec<String>,
    pub undo_of: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HistoryRow {
    pub restore: String,
    pub time: i64,
    /// `file`, `hunk`, `files`, `tree`, `undo-change`, `chip`, `put-back`, `edit-snapshot`, `undo`.
    pub kind: String,
    pub summary: String,
    /// What was written: `payment_service.py:30`, `3 files`.
    #[serde(default)]
    pub label: String,
    /// `restored`, `took-back` or `restored-again`.
    #[serde(default)]
    pub deed: String,
    pub root: String,
    pub steps: Vec<HistoryStep>,
    pub undo_of: Option<String>,
    pub undone_by: Option<String>,
    /// It can be taken back: the files are as it left them.
    pub undoable: bool,
    /// Why not.
    pub blocked: Option<String>,
    /// The same by the table of `codes.ts`, `whys`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub blocked_why: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub blocked_about: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HistoryStep {
    pub path: String,
    pub action: String,
    pub added: u32,
    pub removed: u32,
}
