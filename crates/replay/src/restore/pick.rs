//! Which files a restore of a log's state takes, and what is to be there.
//!
//! Left out: reading contents (the caller does it for what is picked), paths on the disk.

use crate::Certainty;

/// A path that the log names somewhere, seen from position N.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedFile {
    pub path: String,
    /// In the state at N; `None`: named only after N.
    pub at: Option<(bool, Certainty)>,
    /// Its first event is a `file.create`.
    pub born_by_create: bool,
}

/// What is to be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// The content of the state at N.
    Content {
        unverified: bool,
    },
    Delete {
        unverified: bool,
    },
    /// Never written: the log doesn't show the content.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    pub path: String,
    pub pick: Pick,
}

/// One file.
pub fn pick_one(file: &LoggedFile) -> Picked {
    let pick = match file.at {
        Some((_, Certainty::Unknown)) => Pick::Unknown,
        Some((exists, certainty)) => {
            let unverified = certainty == Certainty::Unverified;
            match exists {
                true => Pick::Content { unverified },
                false => Pick::Delete { unverified },
            }
        }
        None if file.born_by_create => Pick::Delete { unverified: false },
        None => Pick::Unknown,
    };
    Picked {
        path: file.path.clone(),
        pick,
    }
}

/// The whole tree: every path of the state at N, and those named only later. Paths that the log never named stay.
pub fn pick_all(files: &[LoggedFile]) -> Vec<Picked> {
    files.iter().map(pick_one).collect()
}
