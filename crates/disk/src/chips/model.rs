//! What the chip folder says about itself: plain data, no behaviour.

use chipdeck_chip::{ChipRecord, SnapshotRecord};
use std::path::PathBuf;
use std::time::Duration;

/// Where to look and what to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChipConfig {
    /// The chip folder. It need not exist.
    pub folder: PathBuf,
    pub snapshots: SnapshotPlaces,
    /// `None`: nothing is copied, nothing evicted is known.
    pub archive: Option<ArchiveConfig>,
    /// Don't even try file system events.
    pub polling: bool,
}

/// Where edit snapshots lie. Neither need exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotPlaces {
    /// One folder for each workspace, named by its id.
    pub base: Option<PathBuf>,
    /// One folder without a workspace part (`BETTER_EDIT_SNAPSHOT_DIR`).
    pub single: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveConfig {
    pub dir: PathBuf,
    pub max_bytes: u64,
    pub max_age: Duration,
    /// Nothing is added, pinned or dropped; what is there is listed.
    pub read_only: bool,
}

impl ArchiveConfig {
    pub const MAX_BYTES: u64 = 1 << 30;
    pub const MAX_AGE: Duration = Duration::from_secs(90 * 24 * 3600);

    /// Default limits: 1 GB, 90 days.
    pub fn in_dir(dir: PathBuf) -> ArchiveConfig {
        ArchiveConfig {
            dir,
            max_bytes: Self::MAX_BYTES,
            max_age: Self::MAX_AGE,
            read_only: false,
        }
    }
}

/// What changed, so that a view can be asked for again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Chips,
    Snapshots,
    /// Events, polling, missing: see `ChipList::watch`.
    Watch,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WatchState {
    Events,
    /// No events on this file system (or none came): looked at twice a second.
    Polling,
    /// The folder doesn't exist (yet).
    #[default]
    Missing,
}

#[derive(Clone, Debug, Default)]
pub struct ChipList {
    pub folder: PathBuf,
    pub watch: WatchState,
    /// Readable ones in the order of a server's start (oldest first), then unparsable ones by name, then evicted ones
    /// (oldest first).
    pub rows: Vec<ChipEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    Queue,
    /// In the folder but not among the newest 30: the next start of a server drops it.
    Beyond,
    /// Doesn't parse and changed within the last 2 s. What was known of it before still stands in the row.
    Writing,
    Damaged,
    /// Gone from the folder, kept in the archive.
    Evicted,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChipEntry {
    /// Opaque; stays while the file keeps its name, in the folder or in the archive.
    pub key: String,
    /// As written inside: any text, never part of a path.
    pub id: String,
    pub tool: String,
    /// Unix seconds.
    pub created_at: i64,
    /// Size of the file.
    pub bytes: u64,
    pub err_msg: Option<String>,
    /// One line.
    pub summary: String,
    /// File name, for people.
    pub file: String,
    /// Of the archived copy too: its name in the chip folder, whether it is there or not.
    pub path: PathBuf,
    pub state: EntryState,
    /// 1 = the oldest of the queue.
    pub queue_place: Option<u32>,
    /// The next save of a full queue evicts it.
    pub next_to_go: bool,
    pub pinned: bool,
    /// A successful delete: `_content` is the text.
    pub is_delete: bool,
    /// Id of the edit snapshot of the same delete.
    pub linked: Option<String>,
    pub target: Option<Target>,
    /// `Writing`, `Damaged`: why it doesn't parse.
    pub reason: Option<String>,
}

/// Where a chip points, cheaply known: not checked against any root, not looked at on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// As the server wrote it, relative or absolute.
    pub path: String,
    /// Insert after this line.
    pub line: Option<u64>,
    pub certainty: Certainty,
    /// Edit snapshot's id, for `Snapshot`.
    pub because: Option<String>,
    /// The workspace id below which a relative path counts, where it is known.
    pub workspace: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Certainty {
    Snapshot,
    Log,
    Search,
    /// Named by the call's own arguments.
    Arguments,
}

impl Certainty {
    pub fn as_str(self) -> &'static str {
        match self {
            Certainty::Snapshot => "snapshot",
            Certainty::Log => "log",
            Certainty::Search => "search",
            Certainty::Arguments => "arguments",
        }
    }
}

#[derive(Debug)]
pub struct ChipDetail {
    pub entry: ChipEntry,
    /// `None`: it doesn't parse.
    pub record: Option<ChipRecord>,
    /// The file's bytes, up to `RAW_LIMIT`.
    pub raw: Vec<u8>,
    pub raw_clipped: bool,
}

/// Longest part of a file that `ChipDetail::raw` and `SnapshotDetail::raw` hold, in bytes.
pub const RAW_LIMIT: usize = 4 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revived {
    pub key: String,
    pub file: String,
    pub id: String,
    pub created_at: i64,
    /// For people: with 30 or more in the folder, the one that the next start of a server drops.
    pub warnings: Vec<String>,
    pub drops: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Workspace {
    /// Folder name: the workspace id; empty for a single folder.
    pub id: String,
    pub folder: PathBuf,
    /// Oldest first, as a server would load them.
    pub rows: Vec<SnapshotEntry>,
    /// File name and reason.
    pub damaged: Vec<(String, String)>,
    /// More than 12 records: the order of equal times is not known.
    pub order_unknown: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct SnapshotEntry {
    pub key: String,
    pub workspace: String,
    pub id: String,
    pub tool: String,
    /// As the server wrote it.
    pub file: String,
    pub summary: String,
    /// Unix seconds.
    pub created_at: i64,
    pub bytes: u64,
    pub added: u32,
    pub removed: u32,
    /// Gone from the folder, kept in the archive.
    pub evicted: bool,
}

#[derive(Debug)]
pub struct SnapshotDetail {
    pub entry: SnapshotEntry,
    pub record: SnapshotRecord,
    pub raw: Vec<u8>,
    pub raw_clipped: bool,
}

/// A text that a log shows being removed from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedText {
    /// As the log has it (absolute, or below one of the roots).
    pub path: String,
    /// The file's whole text before.
    pub before: Vec<u8>,
    /// First removed line, from 1.
    pub first_line: u64,
    /// For people: `e12 of basic.jsonl`.
    pub because: String,
}

/// Open logs, asked where they show this text being removed.
pub trait RemovedTexts {
    /// `created_at`: Unix seconds, the chip's.
    fn removed(&self, text: &[u8], created_at: i64) -> Vec<RemovedText>;
}

/// No logs.
impl RemovedTexts for () {
    fn removed(&self, _: &[u8], _: i64) -> Vec<RemovedText> {
        Vec::new()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    pub places: Vec<Origin>,
    /// `places` is one, and it is where the text came from. Otherwise they are to choose from.
    pub certain: bool,
    /// The one place has the text already: nothing to put back.
    pub already_there: bool,
    /// Why there is no place, or what was not looked at, for people.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Absolute, inside `root`.
    pub path: PathBuf,
    pub root: PathBuf,
    /// Insert after this line of the file as it is now.
    pub line: u64,
    pub certainty: Certainty,
    /// For people: `edit snapshot 4d12f6`.
    pub because: String,
    /// The lines around the place now, without their ends; `None`: top or end of the file.
    pub before: Option<String>,
    pub after: Option<String>,
    /// The file has lines elsewhere than when the text was cut out.
    pub moved: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveSize {
    pub chips: u64,
    pub snapshots: u64,
    pub bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum ChipError {
    #[error("no chip {0:?} here")]
    NotFound(String),
    #[error("{0:?} can't be a file name in the chip folder")]
    UnsafeId(String),
    #[error("{0} exists already")]
    Exists(String),
    #[error("the chip is damaged: {0}")]
    Damaged(String),
    #[error("it is not a delete: nothing says that its text was cut from a file")]
    NotADelete,
    #[error("{what}: {error}")]
    Io {
        what: String,
        #[source]
        error: std::io::Error,
    },
    #[error("the archive is turned off")]
    NoArchive,
}
