//! One file, all authors: the projects that sessions of this machine worked in, their files, and what everybody who
//! knew a path knows of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A folder that sessions worked in.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProjectRow {
    /// Names it in requests.
    pub project: String,
    /// Its folder's name.
    pub name: String,
    /// For people.
    pub path: String,
    pub sessions: u64,
    /// Formats of these sessions: `claude-code`, `codex`, …
    pub agents: Vec<String>,
    /// When one of them was last written.
    pub last: Option<i64>,
    /// The folder is on this machine.
    pub here: bool,
    /// It is a git work tree.
    pub git: bool,
}

/// How far logs have been read in the background.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Gathering {
    /// Logs that are done, of all that may know something.
    pub logs: u64,
    pub of: u64,
    pub bytes: u64,
    pub total_bytes: u64,
    pub done: bool,
    /// A person stopped it: what is shown is what was found until then.
    pub stopped: bool,
    /// What could not be looked at.
    pub unread: Vec<Unread>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Unread {
    /// A log, or `git`.
    pub what: String,
    pub why: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProjectFiles {
    pub project: ProjectRow,
    /// Files that are known, whatever was asked for.
    pub known: u64,
    pub offset: u64,
    /// Files that match.
    pub total: u64,
    /// Newest change first.
    pub rows: Vec<ProjectFileRow>,
    pub gathering: Gathering,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProjectFileRow {
    /// Below the project.
    pub path: String,
    /// Changes in all sessions.
    pub changes: u64,
    pub sessions: u64,
    pub agents: Vec<String>,
    /// When it was last changed; else when it was last seen.
    pub last: Option<i64>,
    /// It is on the disk now.
    pub here: bool,
}

/// Where a log's file belongs.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProjectPath {
    pub project: String,
    pub path: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PathHistory {
    /// Names it in requests.
    pub history: String,
    pub project: ProjectRow,
    /// Below the project.
    pub path: String,
    /// Newest first; what the disk has now is the first, where it is no older content.
    pub rows: Vec<PathVersion>,
    /// Git has more commits of it than are shown.
    pub clipped: bool,
    pub gathering: Gathering,
}

/// A content that a file had, and everybody who says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PathVersion {
    /// Names it in requests; the same for as long as the same authors say the same.
    pub version: String,
    pub time: Option<i64>,
    /// Who says so first.
    pub author: PathAuthor,
    pub op: PathOp,
    pub exists: bool,
    /// `exact`, `unverified`, `unknown`: what its author alone proves.
    pub certainty: String,
    /// `written`, `known-base`, `base-unknown`, `shell-since`, `observed`; `committed`, `git-restored`, `snapshot`, `lines-rewritten`,
    /// `backup`, `disk`.
    pub why: String,
    /// A shell command of the session may have changed it since.
    pub touched: bool,
    /// The session found another content than it had left.
    pub changed_outside: bool,
    /// Where the author alone does not prove it: who does.
    pub settled: Option<Settled>,
    pub sha256: Option<String>,
    pub bytes: Option<u64>,
    /// Against the version before, where both are known.
    pub added: Option<u32>,
    pub removed: Option<u32>,
    /// Others who had the same content, one after another.
    pub also: Vec<AlsoKnown>,
    /// The disk has it now.
    pub on_disk: bool,
    pub restorable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum PathOp {
    Create,
    Change,
    Delete,
    Rename,
    /// Read, not written.
    Observe,
    Commit,
    /// Put aside by `git stash`.
    Stash,
    /// What `git checkout` and the like most likely brought back.
    Checkout,
    /// The file before an edit of the chip server, and after it.
    SnapshotBefore,
    SnapshotAfter,
    /// A copy that Claude Code made before it changed the file.
    Backup,
    Disk,
    /// Lines that a chip says were cut out of the file: no whole content.
    Cut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum AuthorKind {
    Session,
    Snapshot,
    Chip,
    Git,
    Disk,
}

/// Who knows a version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PathAuthor {
    pub kind: AuthorKind,
    /// A session's title, a commit's subject, a tool of the chip server, a backup's name.
    pub name: String,
    /// Sessions: the format. Git: the commit's author.
    pub by: Option<String>,
    /// A session's event, a commit's short id, a chip's or an edit snapshot's id.
    pub id: Option<String>,
    /// For `OpenSource`.
    pub source: Option<String>,
    /// The entry in that session.
    pub index: Option<u64>,
    /// For `Chip` and `Snapshot`.
    pub key: Option<String>,
    /// Another work tree of the same repository, for people.
    pub checkout: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AlsoKnown {
    pub author: PathAuthor,
    pub op: PathOp,
    pub time: Option<i64>,
}

/// What proves a content that a log alone does not. Never part of a log's own state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Settled {
    pub by: SettledBy,
    /// A commit's short id, a session's title, a backup's name.
    pub what: String,
    /// When it had this content.
    pub time: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "kebab-case")]
pub enum SettledBy {
    Disk,
    Commit,
    /// A blob that no commit at hand has: staged or committed once.
    Object,
    Session,
    Snapshot,
    Backup,
}

/// Another side of a difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum PathAgainst {
    /// The version before it whose content is known.
    Previous,
    Disk,
    Version {
        version: String,
    },
}

/// What git, the disk and backups add to what one log knows of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// By the version's entry; only versions that the log alone does not prove, or that something may have changed
    /// since.
    pub settled: Vec<SettledVersion>,
    pub backups: Vec<BackupRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SettledVersion {
    pub index: u64,
    pub settled: Settled,
}

/// A copy of the file as it was, kept beside the log by the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BackupRow {
    /// Names it in requests: the file's name as the log writes it.
    pub backup: String,
    /// The entry that names it.
    pub index: u64,
    pub version: u64,
    pub time: Option<i64>,
    pub sha256: String,
    pub bytes: u64,
}
