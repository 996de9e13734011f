//! The catalogue, version 1: one variant for each event type.

use crate::{Id, Json, Text};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    User,
    Assistant,
    System,
}

/// Outcome of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Ok,
    Error,
    Denied,
    Cancelled,
    Timeout,
}

impl Status {
    pub const ALL: [Status; 5] = [
        Status::Ok,
        Status::Error,
        Status::Denied,
        Status::Cancelled,
        Status::Timeout,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Error => "error",
            Status::Denied => "denied",
            Status::Cancelled => "cancelled",
            Status::Timeout => "timeout",
        }
    }

    pub fn parse(text: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|s| s.as_str() == text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Zone {
    Hot,
    Warm,
    Cold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    Approved,
    Rejected,
}

/// One item of `edits`.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Replace the one occurrence of `old`, or every one with `all`.
    Replace { old: Text, new: Text, all: bool },
    /// Replace the lines `start..=end` (from 1); `end = start - 1` inserts before `start`.
    Lines { start: i64, end: i64, content: Text },
    /// Claude Code's rule: the first (or every) occurrence; and deleting a text that does not end in a newline
    /// takes the newline after it too. An empty `old` writes the whole file.
    ReplaceFirst { old: Text, new: Text, all: bool },
}

/// What a `file.change` does; exactly one.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The whole new text.
    Content(Text),
    Edits(Vec<Edit>),
    /// One file's unified hunks.
    Patch(Text),
    /// Hunks without trustworthy line numbers (Codex `*** Update File`), each searched from the end of the one
    /// before: exact, then without trailing blanks, then without outer blanks.
    Chunks(Text),
}

/// What a tool call may do to files that the log does not show (agents' logs only).
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Reach {
    /// Nothing: a reader, or a call whose file effects are events of their own; always so in canonical logs.
    #[default]
    None,
    /// A changer: whole words of its command that may name a path, a folder above it or a glob. Words are as
    /// the shell would see them, joined to the working folder in force where they are relative paths.
    Changer { words: Vec<Box<str>> },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    SessionStart {
        cwd: Option<Box<str>>,
        agent: Option<Box<str>>,
        model: Option<Box<str>>,
    },
    SessionEnd {
        reason: Option<Box<str>>,
    },
    Message {
        role: Role,
        content: Text,
    },
    MessageToolResult {
        call: Id,
        status: Status,
        content: Option<Text>,
    },
    MessageCorrection {
        corrects: Id,
        call: Id,
        status: Status,
        content: Option<Text>,
    },
    ContextCompact {
        through: Id,
        summary: Text,
        tokens_before: Option<i64>,
        tokens_after: Option<i64>,
    },
    ToolCall {
        tool_name: Id,
        args: Json,
        reach: Reach,
    },
    ToolResult {
        call: Option<Id>,
        status: Status,
        result: Json,
        error: Json,
        duration_ms: Option<i64>,
    },
    FileCreate {
        path: Id,
        content: Text,
    },
    FileChange {
        path: Id,
        change: Change,
        before_sha256: Option<Box<str>>,
        after_sha256: Option<Box<str>>,
        /// The log says that it happened but not exactly what: plausible only (agents' logs).
        plausible: bool,
    },
    FileDelete {
        path: Id,
    },
    FileRename {
        from: Id,
        to: Id,
    },
    FileObserve {
        path: Id,
        sha256: Option<Box<str>>,
        content: Option<Text>,
    },
    ChipSave {
        /// The chip record's id.
        id: Id,
        chip: Json,
    },
    ChipEvict {
        id: Id,
        reason: Option<Box<str>>,
    },
    ChipInsert {
        id: Id,
        path: Id,
        line: i64,
    },
    MemoryAdd {
        id: Id,
        zone: Zone,
        role: Option<Box<str>>,
        content: Text,
        tokens: Option<i64>,
    },
    MemoryMove {
        id: Id,
        to: Zone,
        content: Option<Text>,
    },
    MemoryRemove {
        id: Id,
    },
    MemoryRestore {
        id: Id,
    },
    PlanCreate {
        plan: Id,
        task: Text,
        content: Json,
    },
    PlanReview {
        plan: Id,
        decision: Decision,
    },
    ContextLoad {
        plan: Option<Id>,
        tokens: i64,
    },
    /// The whole state at this point; the fold parses `state` (section 7 of the format) itself.
    StateSnapshot {
        state: Json,
        /// `path -> text`.
        contents: Vec<(Id, Text)>,
    },
    RestoreApply {
        restore: Id,
        kind: Box<str>,
        path: Id,
        undo_of: Option<Id>,
    },
    /// A type that the catalogue does not know, or a newer version of one: shown raw, folds as nothing.
    Unknown,
    /// A known type whose payload has a missing, mistyped or out-of-range field: shown, folds as nothing.
    Bad,
}
