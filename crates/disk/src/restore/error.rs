//! Why a restore was not done.

use chipdeck_replay::restore::Moved;
use std::io;

/// Why a path lies outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Empty, or with a NUL, or the root itself.
    NoFile,
    /// `..` leads out of the root.
    Climbs,
    /// A path of another system.
    Foreign,
    /// Absolute, and neither below the root nor below the log's working folder.
    NotBelow,
    /// A symbolic link leads out of the root.
    Link,
    /// Our own journal, settings or cache.
    OwnPlace,
    /// Right in the home folder or one above it, which is only opened by name.
    TooWide,
    /// Only another file of this folder may be written.
    NotGranted,
}

/// A path that must not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} {}", .reason.sentence())]
pub struct Outside {
    pub path: String,
    pub reason: Reason,
}

impl Reason {
    fn sentence(self) -> &'static str {
        match self {
            Reason::NoFile => "names no file below the root",
            Reason::Climbs => "climbs out of the root",
            Reason::Foreign => "is a path of another system",
            Reason::NotBelow => "lies neither below the root nor below the log's working folder",
            Reason::Link => "goes through a symbolic link that leaves the root",
            Reason::OwnPlace => "lies in Chipdeck's own folders",
            Reason::TooWide => {
                "lies right in your home folder or one above it, which only you can open by its name"
            }
            Reason::NotGranted => "is not the one file of this folder that may be written",
        }
    }
}

/// Why there can be no file at a path as things stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InTheWay {
    /// A folder stands there.
    Folder,
    /// A file stands where a folder is needed.
    File,
    /// A device, a socket or a pipe stands there.
    Special,
    /// Links that lead to each other.
    Loop,
    /// A link leads up from a folder that is missing.
    MissingBelowLink,
    /// A name is longer than the file system takes.
    NameTooLong,
    /// A name on the way, known from a link, is no UTF-8.
    NotUtf8,
}

impl InTheWay {
    /// For people, in the middle of a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            InTheWay::Folder => "a folder stands there",
            InTheWay::File => "a file stands where a folder is needed",
            InTheWay::Special => "a device, socket or pipe stands there",
            InTheWay::Loop => "links lead to each other",
            InTheWay::MissingBelowLink => "a folder on the way of a link is missing",
            InTheWay::NameTooLong => "the name is too long for this file system",
            InTheWay::NotUtf8 => "a name on the way is not UTF-8",
        }
    }

    /// There is no file of that name, then.
    pub fn means_absent(self) -> bool {
        matches!(
            self,
            InTheWay::Folder | InTheWay::File | InTheWay::NameTooLong
        )
    }
}

#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    #[error(transparent)]
    Outside(#[from] Outside),
    /// Something else than a file stands there, or in the way to it.
    #[error("{path:?}: {}", .what.sentence())]
    NotAFile { path: String, what: InTheWay },
    /// Preconditions that no longer hold; nothing was written.
    #[error("{}", moved_sentence(.0))]
    Moved(Vec<Moved>),
    /// Two steps of one plan lead to the same file.
    #[error("{first:?} and {second:?} are the same file")]
    SameFile { first: String, second: String },
    /// A merge needs what the log last knew of the file, and it knows nothing.
    #[error("{path:?} cannot be merged: the log doesn't know what the disk's content came from")]
    NoBase { path: String },
    #[error("there is no restore {0:?} in the history")]
    UnknownRestore(String),
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// By another restore, or by another process meanwhile.
    #[error("restore {restore:?} was already undone by {by:?}")]
    AlreadyUndone { restore: String, by: String },
    /// A before-image is missing or damaged.
    #[error("the kept copy of {path:?} (sha256 {sha256}) is gone: copies have a limit of size and age, and others may remove them too")]
    ImageGone { path: String, sha256: String },
    /// Another process holds the lock.
    #[error("another restore is running")]
    Busy,
    /// An earlier restore of this root broke off and could not be put back yet.
    #[error("restore {restore:?} broke off and could not be put back yet: {why}")]
    Unsettled { restore: String, why: String },
    /// A step failed; the earlier ones were put back.
    #[error("{path:?} could not be written ({source}); everything is as it was")]
    PutBack { path: String, source: io::Error },
    /// A step failed, and so did putting back: it is tried again at the next start.
    #[error("{path:?} could not be written ({source}), and {left:?} could not be put back ({why}); it is tried again at the next start")]
    Broken {
        path: String,
        source: io::Error,
        left: String,
        why: io::Error,
    },
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
}

impl RestoreError {
    /// The stable code of the engine's errors.
    pub fn code(&self) -> &'static str {
        match self {
            RestoreError::Outside(_) => "outside-root",
            RestoreError::Moved(_) | RestoreError::AlreadyUndone { .. } => "precondition",
            RestoreError::NotAFile { .. } | RestoreError::SameFile { .. } => "bad-request",
            RestoreError::UnknownRestore(_) => "not-found",
            RestoreError::NothingToUndo => "nothing-to-undo",
            RestoreError::ImageGone { .. } | RestoreError::NoBase { .. } => "unknown-content",
            RestoreError::Busy
            | RestoreError::Unsettled { .. }
            | RestoreError::PutBack { .. }
            | RestoreError::Broken { .. }
            | RestoreError::Io { .. } => "io",
        }
    }

    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> RestoreError {
        let what = what.into();
        move |source| RestoreError::Io { what, source }
    }
}

fn moved_sentence(moved: &[Moved]) -> String {
    let mut names: Vec<String> = moved.iter().take(3).map(one_moved).collect();
    if moved.len() > 3 {
        names.push(format!("{} more", moved.len() - 3));
    }
    format!(
        "nothing was written, these files moved on: {}",
        names.join(", ")
    )
}

fn one_moved(moved: &Moved) -> String {
    let what = match (&moved.expected, &moved.found) {
        (None, Some(_)) => "is there now",
        (Some(_), None) => "is gone",
        _ => "has another content",
    };
    format!("{:?} {what}", moved.path)
}
