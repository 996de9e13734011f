//! Chips and edit snapshots for the page: the chip folder's list, and files that a person opened from elsewhere.
//!
//! Left out: the folder's rules (`chipdeck-disk`), the records' bytes (`chipdeck-chip`), restoring (`restoring`).

mod origins;
mod views;

pub use origins::Found;

use crate::api::{ApiError, Notice, Watch};
use crate::config::Config;
use crate::engine::{hold, Answer};
use crate::settings::Settings;
use chipdeck_chip::{folders, ChipRecord, SnapshotRecord, Variables};
use chipdeck_disk::chips::{
    archive_dir, ArchiveConfig, ArchiveSize, Change, ChipConfig, ChipEntry, ChipError, ChipFolder,
    ChipList, EntryState, SnapshotDetail, SnapshotEntry, SnapshotPlaces, WatchState, Workspace,
    RAW_LIMIT,
};
use chipdeck_disk::places::Places;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub struct Chips {
    folder: ChipFolder,
    /// Files that were opened by hand and lie in none of the folders, newest first.
    loose: Mutex<Vec<Loose>>,
    /// Where chips came from, by key: asked once for a state of the world.
    origins: Mutex<HashMap<String, Found>>,
}

struct Loose {
    key: String,
    path: PathBuf,
    what: Opened,
}

enum Opened {
    Chip,
    Snapshot,
}

/// For the library.
pub struct Counts {
    pub folder: PathBuf,
    pub watch: Watch,
    pub in_queue: u64,
    pub evicted: u64,
    pub damaged: u64,
    pub edit_snapshots: u64,
}

/// A chip with its record, wherever it lies.
pub struct Detail {
    pub entry: ChipEntry,
    /// `None`: it doesn't parse.
    pub record: Option<ChipRecord>,
    pub raw: Vec<u8>,
    pub raw_clipped: bool,
}

impl From<ChipError> for ApiError {
    fn from(error: ChipError) -> ApiError {
        let why = match &error {
            ChipError::NotFound(_) => "no-chip",
            ChipError::UnsafeId(_) => "unsafe-id",
            ChipError::Damaged(_) => "damaged-chip",
            ChipError::NotADelete => "only-deleted",
            ChipError::NoArchive => "no-archive",
            ChipError::Exists(_) => "chip-exists",
            ChipError::Io { .. } => "io",
        };
        let code = match &error {
            ChipError::NotFound(_) => "not-found",
            ChipError::UnsafeId(_)
            | ChipError::Damaged(_)
            | ChipError::NotADelete
            | ChipError::NoArchive => "bad-request",
            ChipError::Exists(_) => "precondition",
            ChipError::Io { .. } => "io",
        };
        ApiError::new(code, format!("{error}.")).why(why)
    }
}

impl Chips {
    pub fn start(config: &Config, settings: &Settings, notices: Sender<Notice>) -> Chips {
        let (folder, changes) = ChipFolder::open(chip_config(config, settings, None));
        let run = move || {
            for change in changes {
                let mut told = match change {
                    Change::Chips => vec![Notice::ChipsChanged],
                    Change::Snapshots => vec![Notice::SnapshotsChanged],
                    Change::Watch => vec![Notice::ChipsChanged],
                };
                told.push(Notice::LibraryChanged);
                if told.into_iter().any(|notice| notices.send(notice).is_err()) {
                    return;
                }
            }
        };
        // Without a thread the list is right whenever it is asked for.
        let _ = std::thread::Builder::new()
            .name("chipdeck-chips".to_owned())
            .spawn(run);
        Chips {
            folder,
            loose: Mutex::default(),
            origins: Mutex::default(),
        }
    }

    /// Another folder or other limits (settings).
    pub fn configure(&self, config: &Config, settings: &Settings) {
        self.folder.configure(chip_config(config, settings, None));
        hold(&self.origins).clear();
    }

    /// Shows the demo's chips where this user has neither chips nor edit snapshots of his own.
    pub fn show_demo(&self, config: &Config, demo: &Path) {
        let dir = demo.join("chips");
        let own = !self.list().rows.is_empty() || !self.workspaces().is_empty();
        if dir.is_dir() && !own {
            let settings = Settings::layered("", [], []);
            let mut chosen = chip_config(config, &settings, Some(&dir));
            // What the demo shows is not this user's: it has no place in his archive.
            chosen.archive = None;
            self.folder.configure(chosen);
        }
    }

    pub fn folder(&self) -> &ChipFolder {
        &self.folder
    }

    pub fn list(&self) -> Arc<ChipList> {
        self.folder.list()
    }

    pub fn workspaces(&self) -> Arc<Vec<Workspace>> {
        self.folder.workspaces()
    }

    pub fn archive(&self) -> ArchiveSize {
        self.folder.archive()
    }

    /// The key of the chip with this id.
    pub fn find(&self, id: &str) -> Option<String> {
        self.folder.find(id)
    }

    pub fn counts(&self) -> Counts {
        let list = self.list();
        let count = |states: &[EntryState]| {
            list.rows
                .iter()
                .filter(|row| states.contains(&row.state))
                .count() as u64
        };
        Counts {
            folder: list.folder.clone(),
            watch: watch(list.watch),
            in_queue: count(&[EntryState::Queue]),
            evicted: count(&[EntryState::Evicted]),
            damaged: count(&[EntryState::Damaged]),
            edit_snapshots: self
                .workspaces()
                .iter()
                .map(|it| it.rows.len() as u64)
                .sum(),
        }
    }

    /// The key of a chip file that a person opened.
    pub fn open_file(&self, path: &Path) -> Answer<String> {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let same = |row: &&ChipEntry| {
            row.state != EntryState::Evicted
                && std::fs::canonicalize(&row.path).is_ok_and(|it| it == real)
        };
        if let Some(row) = self.list().rows.iter().find(same) {
            return Ok(row.key.clone());
        }
        Ok(self.keep(real, Opened::Chip))
    }

    /// The key of an edit snapshot's file that a person opened.
    pub fn open_snapshot(&self, path: &Path) -> Answer<String> {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        for workspace in self.workspaces().iter() {
            let here = std::fs::canonicalize(&workspace.folder).ok();
            if here.as_deref() != real.parent() {
                continue;
            }
            let name = real
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            let of_name = |row: &&SnapshotEntry| {
                chipdeck_chip::snapshot_file_name(&row.id).is_some_and(|it| it == name)
            };
            if let Some(row) = workspace.rows.iter().find(of_name) {
                return Ok(row.key.clone());
            }
        }
        Ok(self.keep(real, Opened::Snapshot))
    }

    fn keep(&self, path: PathBuf, what: Opened) -> String {
        let mut loose = hold(&self.loose);
        if let Some(held) = loose.iter().find(|it| it.path == path) {
            return held.key.clone();
        }
        let key = format!("opened:{}", loose.len() + 1);
        loose.insert(
            0,
            Loose {
                key: key.clone(),
                path,
                what,
            },
        );
        key
    }

    fn loose_path(&self, key: &str) -> Option<PathBuf> {
        hold(&self.loose)
            .iter()
            .find(|it| it.key == key)
            .map(|it| it.path.clone())
    }

    /// Chips that were opened by hand.
    pub fn loose_chips(&self) -> Vec<ChipEntry> {
        let paths: Vec<(String, PathBuf)> = hold(&self.loose)
            .iter()
            .filter(|it| matches!(it.what, Opened::Chip))
            .map(|it| (it.key.clone(), it.path.clone()))
            .collect();
        paths
            .iter()
            .map(|(key, path)| loose_detail(key, path).entry)
            .collect()
    }

    /// # Errors
    /// There is no such chip, or its file can no longer be read.
    pub fn detail(&self, key: &str) -> Answer<Detail> {
        if let Some(path) = self.loose_path(key) {
            return Ok(loose_detail(key, &path));
        }
        let detail = self.folder.detail(key)?;
        Ok(Detail {
            entry: detail.entry,
            record: detail.record,
            raw: detail.raw,
            raw_clipped: detail.raw_clipped,
        })
    }

    /// # Errors
    /// There is no such edit snapshot, or it is damaged.
    pub fn snapshot(&self, key: &str) -> Answer<SnapshotDetail> {
        let Some(path) = self.loose_path(key) else {
            return Ok(self.folder.snapshot(key)?);
        };
        let raw = std::fs::read(&path).map_err(|error| {
            ApiError::new("io", format!("{} cannot be read: {error}.", path.display()))
        })?;
        let record = SnapshotRecord::read(&raw).map_err(|fault| {
            ApiError::new(
                "bad-request",
                format!("The edit snapshot is damaged: {fault}."),
            )
        })?;
        let (added, removed) = crate::diff::count(&record.before.text(), &record.after.text());
        let entry = SnapshotEntry {
            key: key.to_owned(),
            workspace: String::new(),
            id: record.id.clone(),
            tool: record.tool.clone(),
            file: record.file.clone(),
            summary: record.summary.clone(),
            created_at: record.created_at,
            bytes: raw.len() as u64,
            added,
            removed,
            evicted: false,
        };
        let raw_clipped = raw.len() > RAW_LIMIT;
        Ok(SnapshotDetail {
            entry,
            record,
            raw,
            raw_clipped,
        })
    }
}

fn loose_detail(key: &str, path: &Path) -> Detail {
    let raw = std::fs::read(path).unwrap_or_default();
    let parsed = ChipRecord::read(&raw);
    let reason = parsed.as_ref().err().map(ToString::to_string);
    let record = parsed.ok();
    let entry = ChipEntry {
        key: key.to_owned(),
        id: record.as_ref().map(|it| it.id.clone()).unwrap_or_default(),
        tool: record
            .as_ref()
            .map(|it| it.tool.clone())
            .unwrap_or_default(),
        created_at: record.as_ref().map_or(0, |it| it.created_at),
        bytes: raw.len() as u64,
        err_msg: record
            .as_ref()
            .map(|it| it.err_msg.clone())
            .filter(|it| !it.is_empty()),
        summary: record
            .as_ref()
            .map(chipdeck_chip::summary)
            .unwrap_or_default(),
        file: path
            .file_name()
            .map(|it| it.to_string_lossy().into_owned())
            .unwrap_or_default(),
        path: path.to_owned(),
        state: if record.is_some() {
            EntryState::Queue
        } else {
            EntryState::Damaged
        },
        queue_place: None,
        next_to_go: false,
        pinned: false,
        is_delete: record.as_ref().is_some_and(|it| it.deleted().is_some()),
        linked: None,
        target: record
            .as_ref()
            .and_then(chipdeck_chip::target_argument)
            .map(|it| chipdeck_disk::chips::Target {
                path: it.path,
                line: it.line,
                certainty: chipdeck_disk::chips::Certainty::Arguments,
                because: None,
                workspace: None,
            }),
        reason,
    };
    let raw_clipped = raw.len() > RAW_LIMIT;
    Detail {
        entry,
        record,
        raw,
        raw_clipped,
    }
}

pub fn watch(state: WatchState) -> Watch {
    match state {
        WatchState::Events => Watch::Events,
        WatchState::Polling => Watch::Polling,
        WatchState::Missing => Watch::Missing,
    }
}

/// Where the chips are: the settings, else the rules of the server with the environment that we were given.
fn chip_config(config: &Config, settings: &Settings, dir: Option<&Path>) -> ChipConfig {
    let path = |name: &str| config.variable(name).map(PathBuf::from);
    let home = config.homes.as_ref().map(|homes| homes.home.clone());
    let variables = Variables {
        xdg_cache_home: path("XDG_CACHE_HOME"),
        home: path("HOME").or(home),
        local_app_data: path("LOCALAPPDATA"),
        better_edit_snapshot_dir: path("BETTER_EDIT_SNAPSHOT_DIR"),
        better_edit_snapshot_persist: config
            .variable("BETTER_EDIT_SNAPSHOT_PERSIST")
            .map(str::to_owned),
    };
    let current = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
    let found = folders(&variables, cfg!(windows), &current);
    let chosen = dir
        .map(Path::to_owned)
        .or_else(|| settings.text("chips.dir").map(|dir| expand(&dir, config)));
    let beside = chosen
        .as_ref()
        .filter(|dir| dir.ends_with("chips"))
        .map(|dir| dir.with_file_name("snapshots"));
    let snapshots = match beside.filter(|it| it.is_dir()) {
        Some(base) => SnapshotPlaces {
            base: Some(base),
            single: None,
        },
        None => SnapshotPlaces {
            base: Some(found.snapshot_base),
            single: found.snapshot_dir,
        },
    };
    let mut archive = ArchiveConfig::in_dir(archive_dir(&config.places));
    if let Some(bytes) = settings
        .integer("archive.max_bytes")
        .and_then(|it| u64::try_from(it).ok())
    {
        archive.max_bytes = bytes;
    }
    if let Some(days) = settings
        .integer("archive.max_days")
        .and_then(|it| u64::try_from(it).ok())
    {
        archive.max_age = Duration::from_secs(days.saturating_mul(24 * 3600));
    }
    ChipConfig {
        folder: chosen.unwrap_or(found.chips),
        snapshots,
        archive: Some(archive),
        polling: false,
    }
}

/// The chip folder of this user for a command: the one that was named, else that of the settings, else by the rules
/// of the server. `snapshots`: another folder of edit snapshots.
pub fn chip_config_of_this_user(dir: Option<&Path>, snapshots: Option<&Path>) -> ChipConfig {
    let config = Config::of_this_machine();
    let (settings, _) = config.settings();
    let mut chosen = chip_config(&config, &settings, dir);
    if let Some(base) = snapshots {
        chosen.snapshots = SnapshotPlaces {
            base: Some(base.to_owned()),
            single: None,
        };
    }
    if Places::of_this_user().is_none() {
        chosen.archive = None;
    }
    chosen
}

/// `~/x` of a settings file.
fn expand(dir: &str, config: &Config) -> PathBuf {
    match (dir.strip_prefix("~/"), &config.homes) {
        (Some(rest), Some(homes)) => homes.home.join(rest),
        _ => PathBuf::from(dir),
    }
}
