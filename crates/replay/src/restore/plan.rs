//! The plan: steps below one root, each with its precondition, and its inverse.
//!
//! Left out: how bytes get onto the disk, and what a path of a log means there.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

/// SHA-256 as lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let mut text = String::with_capacity(64);
    for byte in digest {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    text
}

/// Bytes of a whole file and their hash; clones share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    bytes: Arc<[u8]>,
    sha256: Arc<str>,
}

impl Content {
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Content {
        let bytes = bytes.into();
        let sha256 = sha256_hex(&bytes).into();
        Content { bytes, sha256 }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Lower-case hex.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }
}

/// What a file has beside its bytes, as far as the system tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Attributes {
    /// Unix permission bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
    /// Unix user and group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<(u32, u32)>,
    /// Extended attributes: name to value in hex.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extended: BTreeMap<String, String>,
}

/// A file: its bytes, and its attributes where they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileImage {
    pub content: Content,
    /// Used when a file is created; a file that is replaced keeps what it has.
    pub attributes: Option<Attributes>,
}

impl FileImage {
    /// Bytes alone, as a log knows a file.
    pub fn of(bytes: impl Into<Arc<[u8]>>) -> FileImage {
        FileImage {
            content: Content::new(bytes),
            attributes: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Create,
    Replace,
    Delete,
    /// The disk has it already.
    None,
}

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Create => "create",
            Action::Replace => "replace",
            Action::Delete => "delete",
            Action::None => "none",
        }
    }
}

/// What else a step changes, said in the preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Note {
    /// The file has more names; the others keep the old content.
    HardLink,
    /// The path is a symbolic link inside the root; its target is written, the link stays.
    Symlink,
    /// LF becomes CRLF or the other way round.
    LineEndings,
    /// A newline at the end comes or goes.
    FinalNewline,
    /// A byte order mark comes or goes.
    ByteOrderMark,
    /// The disk had moved on: its changes and the log's were merged.
    Merged,
    /// Folders are made.
    MakesFolders,
    /// The content is plausible, not proven.
    Unverified,
    /// Whole-text rewrite by the server's own form of an insertion.
    ServerForm,
}

impl Note {
    pub const ALL: [Note; 9] = [
        Note::HardLink,
        Note::Symlink,
        Note::LineEndings,
        Note::FinalNewline,
        Note::ByteOrderMark,
        Note::Merged,
        Note::MakesFolders,
        Note::Unverified,
        Note::ServerForm,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Note::HardLink => "hard-link",
            Note::Symlink => "symlink",
            Note::LineEndings => "line-endings",
            Note::FinalNewline => "final-newline",
            Note::ByteOrderMark => "byte-order-mark",
            Note::Merged => "merged",
            Note::MakesFolders => "makes-folders",
            Note::Unverified => "unverified",
            Note::ServerForm => "server-form",
        }
    }
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Relative to the root, `/` between names, nothing like `.` or `..` in it.
    pub path: String,
    /// On the disk when planned (`None`: absent): the precondition, and what an undo puts back.
    pub before: Option<FileImage>,
    /// What will be there (`None`: absent).
    pub after: Option<FileImage>,
    /// Folders below the root that go with a deleted file where they are then empty, deepest first
    /// (those that the restore being undone had made).
    pub prune: Vec<String>,
    pub notes: Vec<Note>,
}

impl Step {
    /// Finds the notes that follow from the bytes; the caller adds those of the file system.
    pub fn new(
        path: impl Into<String>,
        before: Option<FileImage>,
        after: Option<FileImage>,
    ) -> Step {
        let notes = match (&before, &after) {
            (Some(before), Some(after)) => {
                super::lines::notes(before.content.bytes(), after.content.bytes())
            }
            _ => Vec::new(),
        };
        Step {
            path: path.into(),
            before,
            after,
            prune: Vec::new(),
            notes,
        }
    }

    pub fn action(&self) -> Action {
        match (self.before_sha256(), self.after_sha256()) {
            (None, None) => Action::None,
            (None, Some(_)) => Action::Create,
            (Some(_), None) => Action::Delete,
            (Some(before), Some(after)) if before == after => Action::None,
            (Some(_), Some(_)) => Action::Replace,
        }
    }

    pub fn before_sha256(&self) -> Option<&str> {
        self.before.as_ref().map(|file| file.content.sha256())
    }

    pub fn after_sha256(&self) -> Option<&str> {
        self.after.as_ref().map(|file| file.content.sha256())
    }

    pub fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// What was asked for; the `kind` of the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    File,
    Hunk,
    Files,
    Tree,
    UndoChange,
    Chip,
    PutBack,
    EditSnapshot,
    Undo,
    /// A restore that could not be finished, put back.
    Rollback,
}

impl Kind {
    pub const ALL: [Kind; 10] = [
        Kind::File,
        Kind::Hunk,
        Kind::Files,
        Kind::Tree,
        Kind::UndoChange,
        Kind::Chip,
        Kind::PutBack,
        Kind::EditSnapshot,
        Kind::Undo,
        Kind::Rollback,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::Hunk => "hunk",
            Kind::Files => "files",
            Kind::Tree => "tree",
            Kind::UndoChange => "undo-change",
            Kind::Chip => "chip",
            Kind::PutBack => "put-back",
            Kind::EditSnapshot => "edit-snapshot",
            Kind::Undo => "undo",
            Kind::Rollback => "rollback",
        }
    }

    pub fn parse(text: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A step whose precondition does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub path: String,
    /// SHA-256 that the plan counts on; `None`: absent.
    pub expected: Option<String>,
    /// SHA-256 of what is there; `None`: absent.
    pub found: Option<String>,
}

/// What will be written, all of it or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestorePlan {
    pub kind: Kind,
    /// The restore that this one takes back.
    pub undo_of: Option<String>,
    /// What it puts where, for the history: `payment_service.py:30`.
    pub label: Option<String>,
    pub steps: Vec<Step>,
}

impl RestorePlan {
    pub fn new(kind: Kind, steps: Vec<Step>) -> RestorePlan {
        RestorePlan {
            kind,
            undo_of: None,
            label: None,
            steps,
        }
    }

    /// Nothing would change.
    pub fn is_nothing(&self) -> bool {
        self.steps.iter().all(|step| step.action() == Action::None)
    }

    /// Compares each step's precondition with what is there now (`now`: SHA-256, or `None` for absent).
    /// Empty: the plan holds.
    pub fn check<F>(&self, mut now: F) -> Vec<Moved>
    where
        F: FnMut(&str) -> Option<String>,
    {
        let mut moved = Vec::new();
        for step in &self.steps {
            let found = now(&step.path);
            if found.as_deref() != step.before_sha256() {
                moved.push(Moved {
                    path: step.path.clone(),
                    expected: step.before_sha256().map(str::to_owned),
                    found,
                });
            }
        }
        moved
    }

    /// The plan that takes this one back: its precondition is what this one leaves.
    pub fn invert(&self, kind: Kind, undo_of: Option<String>) -> RestorePlan {
        let steps = self.steps.iter().rev().map(|step| {
            let mut back = Step::new(step.path.clone(), step.after.clone(), step.before.clone());
            back.prune = step.prune.clone();
            back
        });
        RestorePlan {
            kind,
            undo_of,
            label: self.label.clone(),
            steps: steps.collect(),
        }
    }
}
