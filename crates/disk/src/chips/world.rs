//! Chip folder, edit snapshots and archive together: one look at all of them, and what is asked about one row.
//!
//! Left out: waiting and threads.

use super::archive::{Archive, Facts};
use super::board::{bytes_of, settled_path, Board, Known};
use super::editsnaps::{Deleted, EditSnaps};
use super::files::{read_head, reason, sha256_hex};
use super::model::*;
use super::origin::{self, by_text, matching};
use super::Views;
use chipdeck_chip::{ChipRecord, SnapshotRecord};
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) struct World {
    config: ChipConfig,
    pub(super) board: Board,
    snaps: EditSnaps,
    pub(super) archive: Option<Archive>,
    exists: bool,
    polls: bool,
    rows: Arc<ChipList>,
    workspaces: Arc<Vec<Workspace>>,
    /// Version of the archive that the rows show.
    shown: u64,
    /// Day of the last tidying of the archive.
    tidied: i64,
}

/// Times of deletes by their body.
#[derive(Default)]
struct Times<'a>(HashMap<&'a str, Vec<i64>>);

impl Times<'_> {
    fn of(&self, known: &Known) -> Vec<i64> {
        let mut times = vec![known.facts.created_at];
        let others = self.0.get(known.facts.body.as_str());
        times.extend(others.into_iter().flatten());
        times
    }
}

/// Links a delete to its edit snapshot, if it is one.
fn link(entry: &mut ChipEntry, found: &[&Deleted<'_>]) {
    let Some((first, others)) = found.split_first() else {
        return;
    };
    let same = |other: &&Deleted<'_>| {
        other.facts.id == first.facts.id && other.workspace == first.workspace
    };
    if !others.iter().all(same) {
        return;
    }
    entry.linked = Some(first.facts.id.clone());
    entry.target = Some(Target {
        path: first.facts.file.clone(),
        line: Some(first.first_line.saturating_sub(1)),
        certainty: Certainty::Snapshot,
        because: Some(first.facts.id.clone()),
        workspace: (!first.workspace.is_empty()).then(|| first.workspace.clone()),
    });
}

#[derive(Default)]
pub(super) struct Looked {
    /// Rows changed.
    pub chips: bool,
    /// Files were new or changed (not only a state that changes with time).
    pub chips_read: bool,
    pub snapshots: bool,
    pub again: Option<Duration>,
}

/// Unix seconds.
pub(super) fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .ok()
        .and_then(|since| i64::try_from(since.as_secs()).ok())
        .unwrap_or_default()
}

impl World {
    pub fn new(mut config: ChipConfig) -> World {
        config.folder = settled_path(&config.folder);
        let places = &mut config.snapshots;
        for path in [&mut places.base, &mut places.single].into_iter().flatten() {
            *path = settled_path(path);
        }
        World {
            board: Board::new(config.folder.clone()),
            snaps: EditSnaps::new(config.snapshots.clone()),
            archive: config.archive.clone().map(Archive::open),
            exists: config.folder.is_dir(),
            polls: config.polling,
            rows: Arc::default(),
            workspaces: Arc::default(),
            shown: 0,
            tidied: 0,
            config,
        }
    }

    pub fn configure(&mut self, config: ChipConfig) {
        let polls = self.polls;
        *self = World {
            polls: config.polling || polls,
            ..World::new(config)
        };
        self.look(&HashSet::new(), true, false);
    }

    pub fn chip_folder(&self) -> &Path {
        self.board.folder()
    }

    pub fn polling_asked(&self) -> bool {
        self.config.polling
    }

    /// Beside the chip folder: what has to be watched.
    pub fn watched_folders(&self) -> Vec<PathBuf> {
        let mut folders = self.snaps.folders();
        for place in self.places() {
            // Its parent tells when it appears.
            folders.extend(place.parent().filter(|p| p.is_dir()).map(Path::to_owned));
        }
        folders
    }

    fn places(&self) -> impl Iterator<Item = &PathBuf> {
        let places = self.snaps.places();
        [&places.base, &places.single].into_iter().flatten()
    }

    pub fn concerns(&self, path: &Path) -> bool {
        let near = |place: &Path| path.starts_with(place) || place.starts_with(path);
        near(self.chip_folder()) || self.places().any(|place| near(place))
    }

    pub fn concern_snapshots(&self, paths: &HashSet<PathBuf>) -> bool {
        paths.is_empty()
            || paths.iter().any(|path| {
                self.places()
                    .any(|place| path.starts_with(place) || place.starts_with(path))
            })
    }

    /// True: the state of the watch changed.
    pub fn set_polls(&mut self, polls: bool) -> bool {
        let before = self.watch();
        self.polls = polls;
        before != self.watch() || self.rows.watch != self.watch()
    }

    fn watch(&self) -> WatchState {
        match (self.exists, self.polls) {
            (false, _) => WatchState::Missing,
            (true, true) => WatchState::Polling,
            (true, false) => WatchState::Events,
        }
    }

    pub fn unsettled(&self) -> bool {
        self.board.unsettled() || self.snaps.ages()
    }

    /// Looks at everything that is new or changed; `touched` files are read in any case.
    pub fn look(&mut self, touched: &HashSet<PathBuf>, snapshots: bool, settle: bool) -> Looked {
        let now = now();
        let names: HashSet<OsString> = touched
            .iter()
            .filter(|path| path.parent() == Some(self.board.folder()))
            .filter_map(|path| path.file_name().map(OsString::from))
            .collect();
        if let Some(archive) = &mut self.archive {
            archive.refresh();
        }
        let look = self.board.look(&names, self.archive.as_mut(), now, settle);
        self.exists = look.exists;
        let mut looked = Looked {
            chips_read: look.changed,
            again: look.again,
            ..Looked::default()
        };
        if snapshots {
            looked.snapshots = self.snaps.look(self.archive.as_mut(), now, settle);
        }
        self.tidy(now);
        let version = self.archive.as_ref().map_or(0, Archive::version);
        let stale = version != self.shown || self.rows.folder != self.board.folder();
        if look.changed || look.ages || looked.snapshots || stale || self.snaps.ages() {
            self.shown = version;
            let rows = self.rows();
            looked.chips = rows.rows != self.rows.rows;
            if looked.chips || rows.folder != self.rows.folder {
                self.rows = Arc::new(rows);
            }
            let workspaces = self.snaps.workspaces(self.archive.as_ref());
            if workspaces != *self.workspaces {
                looked.snapshots = true;
                self.workspaces = Arc::new(workspaces);
            }
        }
        looked
    }

    fn tidy(&mut self, now: i64) {
        let Some(archive) = &mut self.archive else {
            return;
        };
        let max = self
            .config
            .archive
            .as_ref()
            .map_or(u64::MAX, |a| a.max_bytes);
        let day = now / (24 * 3600);
        if day == self.tidied && archive.size().bytes <= max {
            return;
        }
        self.tidied = day;
        let mut present = self.board.present();
        present.extend(self.snaps.present());
        // It stays larger than it should be; tried again the next day or when it grows.
        let _ = archive.tidy(&|key| present.contains(key), now);
    }

    fn rows(&self) -> ChipList {
        let archive = self.archive.as_ref();
        let mut rows = self.board.rows(archive);
        if let Some(archive) = archive {
            rows.append(&mut self.board.evicted(archive));
        }
        let deletes = self.snaps.deletes(archive);
        if !deletes.is_empty() {
            let by_text = by_text(&deletes);
            let times = self.times();
            for row in &mut rows {
                let Some(known) = row.known.as_ref().filter(|_| row.entry.is_delete) else {
                    continue;
                };
                link(&mut row.entry, &matching(known, &times.of(known), &by_text));
            }
        }
        ChipList {
            folder: self.board.folder().to_owned(),
            watch: self.watch(),
            rows: rows.into_iter().map(|row| row.entry).collect(),
        }
    }

    /// Times of chips by their body: a revived chip had another time before.
    fn times(&self) -> Times<'_> {
        let mut times = Times::default();
        for item in self
            .archive
            .iter()
            .flat_map(|archive| archive.items().values())
        {
            if let Facts::Chip(facts) = &item.facts {
                if facts.deleted.is_some() {
                    times
                        .0
                        .entry(&facts.body)
                        .or_default()
                        .push(facts.created_at);
                }
            }
        }
        times
    }

    pub fn views(&mut self) -> Views {
        let archive = self.archive.as_mut().map(Archive::size);
        let watch = self.watch();
        if self.rows.watch != watch {
            Arc::make_mut(&mut self.rows).watch = watch;
        }
        Views {
            chips: self.rows.clone(),
            workspaces: self.workspaces.clone(),
            archive: archive.unwrap_or_default(),
        }
    }

    pub fn detail(&self, entry: ChipEntry) -> Result<ChipDetail, ChipError> {
        let io = |error| ChipError::Io {
            what: entry.file.clone(),
            error,
        };
        // While it is written, what was known of it is shown.
        let readable = entry.reason.is_none() || entry.state == EntryState::Writing;
        let known = self.board.find(&entry.key, self.archive.as_ref());
        let Some((_, known, _)) = known.filter(|_| readable) else {
            // Damaged: the bytes as they are.
            let (raw, raw_clipped) = read_head(&entry.path, RAW_LIMIT).map_err(io)?;
            return Ok(ChipDetail {
                entry,
                record: None,
                raw,
                raw_clipped,
            });
        };
        let bytes = bytes_of(&entry.path, &known.sha256, self.archive.as_ref()).map_err(io)?;
        let record = ChipRecord::read(&bytes).ok();
        let (raw, raw_clipped) = clipped(bytes);
        Ok(ChipDetail {
            entry,
            record,
            raw,
            raw_clipped,
        })
    }

    pub fn bytes(&self, entry: &ChipEntry) -> Result<Vec<u8>, ChipError> {
        let (_, known, _) = self
            .board
            .find(&entry.key, self.archive.as_ref())
            .ok_or_else(|| ChipError::NotFound(entry.key.clone()))?;
        bytes_of(&entry.path, &known.sha256, self.archive.as_ref()).map_err(|error| ChipError::Io {
            what: entry.file.clone(),
            error,
        })
    }

    pub fn snapshot(&self, entry: SnapshotEntry) -> Result<SnapshotDetail, ChipError> {
        let (path, sha256) = self
            .snaps
            .find(&entry.key)
            .ok_or_else(|| ChipError::NotFound(entry.key.clone()))?;
        let io = |error| ChipError::Io {
            what: path.display().to_string(),
            error,
        };
        let bytes = bytes_of(&path, &sha256, self.archive.as_ref()).map_err(io)?;
        let record =
            SnapshotRecord::read(&bytes).map_err(|fault| ChipError::Damaged(reason(&fault)))?;
        let (raw, raw_clipped) = clipped(bytes);
        Ok(SnapshotDetail {
            entry,
            record,
            raw,
            raw_clipped,
        })
    }

    pub fn pin(&mut self, key: &str, pinned: bool) -> Result<(), ChipError> {
        let (name, known, _) = self
            .board
            .find(key, self.archive.as_ref())
            .ok_or_else(|| ChipError::NotFound(key.into()))?;
        let item = self.board.key(&name, &known.sha256);
        let archive = self.archive.as_mut().ok_or(ChipError::NoArchive)?;
        if !archive.items().contains_key(&item) {
            let path = self.board.folder().join(&name);
            let whole = std::fs::read(&path).ok();
            let whole = whole.filter(|bytes| sha256_hex(bytes) == known.sha256);
            archive
                .see(
                    item.clone(),
                    known.bytes,
                    Facts::Chip(known.facts.clone()),
                    whole.as_deref(),
                    &path,
                    now(),
                )
                .map_err(|error| ChipError::Io {
                    what: "the archive".into(),
                    error,
                })?;
        }
        archive.pin(item, pinned).map_err(|error| ChipError::Io {
            what: "the archive".into(),
            error,
        })?;
        self.look(&HashSet::new(), false, false);
        Ok(())
    }

    pub fn origins(
        &self,
        entry: &ChipEntry,
        roots: &[PathBuf],
        logs: &dyn RemovedTexts,
    ) -> Result<Origins, ChipError> {
        if !entry.is_delete {
            return Err(match &entry.reason {
                Some(reason) => ChipError::Damaged(reason.clone()),
                None => ChipError::NotADelete,
            });
        }
        let archive = self.archive.as_ref();
        let (_, known, _) = self
            .board
            .find(&entry.key, archive)
            .ok_or_else(|| ChipError::NotFound(entry.key.clone()))?;
        let bytes =
            bytes_of(&entry.path, &known.sha256, archive).map_err(|error| ChipError::Io {
                what: entry.file.clone(),
                error,
            })?;
        let record =
            ChipRecord::read(&bytes).map_err(|fault| ChipError::Damaged(reason(&fault)))?;
        let text = record.deleted().ok_or(ChipError::NotADelete)?;
        let asked = origin::Asked {
            text: text.as_bytes().to_vec(),
            times: self.times().of(&known),
            known: &known,
            roots,
        };
        Ok(origin::origins(&asked, &self.snaps, archive, logs))
    }
}

fn clipped(mut bytes: Vec<u8>) -> (Vec<u8>, bool) {
    let clipped = bytes.len() > RAW_LIMIT;
    bytes.truncate(RAW_LIMIT);
    (bytes, clipped)
}
