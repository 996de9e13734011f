//! Chips and edit snapshots as they lie on disk: where the folders are, what is in them now, what was in them before
//! (the archive), where a deleted text came from. `ChipFolder` is the one handle; the window keeps one open, the
//! command opens one, looks and ends.
//!
//! Left out: the bytes of a record (`chipdeck-chip`), writing into a user's file (a restore plan does that). In the
//! server's folders nothing is ever written, except by `ChipFolder::revive`.

mod archive;
mod board;
mod config;
mod editsnaps;
mod files;
mod model;
mod origin;
mod revive;
mod search;
mod watch;
mod world;

pub use config::{archive_dir, variables_of_this_process};
pub use model::*;
pub use origin::{git_top_level, workspace_ids};

use std::path::PathBuf;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::time::Duration;
use watch::{Signal, Watching, Woken};
use world::World;

/// A chip folder, the edit snapshots beside it and the archive of both. Cheap to clone; the last clone dropped stops
/// the watching.
#[derive(Clone)]
pub struct ChipFolder {
    inner: Arc<Inner>,
}

struct Inner {
    world: Mutex<World>,
    views: RwLock<Views>,
    signals: Sender<Signal>,
}

#[derive(Clone, Default)]
struct Views {
    chips: Arc<ChipList>,
    workspaces: Arc<Vec<Workspace>>,
    archive: ArchiveSize,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Closed: the thread has ended already.
        let _ = self.signals.send(Signal::Stop);
    }
}

/// A second look at files that don't parse, for `ChipFolder::look`.
const SETTLE: Duration = Duration::from_millis(200);

impl ChipFolder {
    /// Looks at the folders once (the list is complete when this returns, except for files that are being written)
    /// and goes on watching them in a thread of its own. Never fails: a missing folder is a state.
    /// The receiver may be dropped; a change is told once, however many files it is about.
    pub fn open(config: ChipConfig) -> (ChipFolder, Receiver<Change>) {
        let (signals, incoming) = channel();
        let (changes, receiver) = channel();
        let mut watching = Watching::new(signals.clone(), config.polling);
        let mut world = World::new(config);
        watching.follow(world.chip_folder(), &world.watched_folders());
        world.set_polls(watching.polls());
        let again = world.look(&Default::default(), true, false).again;
        let folder = ChipFolder::new(world, signals);
        let weak = Arc::downgrade(&folder.inner);
        let run = move || run(&weak, &incoming, &changes, watching, again);
        // Without a thread the list stays as it is; `refresh` still works.
        let _ = std::thread::Builder::new().name("chips".into()).spawn(run);
        (folder, receiver)
    }

    /// Looks once, without watching. With `settle`, unparsable files are looked at again after 200 ms and are then
    /// `Damaged`.
    pub fn look(config: ChipConfig, settle: bool) -> ChipFolder {
        let mut world = World::new(config);
        world.look(&Default::default(), true, false);
        if settle && world.unsettled() {
            std::thread::sleep(SETTLE);
            world.look(&Default::default(), true, true);
        }
        let (signals, _) = channel();
        ChipFolder::new(world, signals)
    }

    fn new(mut world: World, signals: Sender<Signal>) -> ChipFolder {
        let views = RwLock::new(world.views());
        ChipFolder {
            inner: Arc::new(Inner {
                world: Mutex::new(world),
                views,
                signals,
            }),
        }
    }

    fn views(&self) -> Views {
        self.inner.views()
    }

    /// Whether the folder can be listed: an error of kind `NotFound` means that it does not exist (yet).
    pub fn readable(&self) -> std::io::Result<()> {
        std::fs::read_dir(&self.list().folder).map(drop)
    }

    /// What is there now. No disk access.
    pub fn list(&self) -> Arc<ChipList> {
        self.views().chips
    }

    /// Everything about one chip: from the folder, else from the archive.
    pub fn detail(&self, key: &str) -> Result<ChipDetail, ChipError> {
        let entry = self.entry(key)?;
        self.inner.world().detail(entry)
    }

    /// All bytes of one chip file: from the folder, else from the archive. Compare `ChipDetail::raw`.
    pub fn bytes(&self, key: &str) -> Result<Vec<u8>, ChipError> {
        let entry = self.entry(key)?;
        self.inner.world().bytes(&entry)
    }

    fn entry(&self, key: &str) -> Result<ChipEntry, ChipError> {
        let list = self.list();
        let same = list.rows.iter().find(|row| row.key == key);
        same.cloned()
            .ok_or_else(|| ChipError::NotFound(key.to_owned()))
    }

    /// The key of the first row with this id: those of the queue first (oldest first), then the file `chip-<id>.json`,
    /// then those beyond the queue, then evicted ones (newest first). An id that can't be part of a name finds a row by
    /// its inner id, but never a file.
    pub fn find(&self, id: &str) -> Option<String> {
        let list = self.list();
        let rows = &list.rows;
        let by_id = |wanted: &[EntryState]| {
            rows.iter()
                .find(|row| wanted.contains(&row.state) && row.id == id)
        };
        let here = |row: &&ChipEntry| row.state != EntryState::Evicted;
        let by_name = || {
            let name = chipdeck_chip::chip_file_name(id)?;
            let key = files::name_text(name.as_ref());
            rows.iter().filter(here).find(|row| row.key == key)
        };
        let evicted = || {
            rows.iter()
                .rev()
                .find(|row| row.state == EntryState::Evicted && row.id == id)
        };
        by_id(&[EntryState::Queue])
            .or_else(by_name)
            .or_else(|| by_id(&[EntryState::Beyond, EntryState::Writing, EntryState::Damaged]))
            .or_else(evicted)
            .map(|row| row.key.clone())
    }

    /// Keeps it in the archive whatever its age and the archive's size, or no longer.
    pub fn pin(&self, key: &str, pinned: bool) -> Result<(), ChipError> {
        self.inner.world().pin(key, pinned)?;
        self.inner.publish();
        Ok(())
    }

    /// Writes an evicted chip back into the chip folder under its old name: the original bytes with the digits of
    /// `created_at` set to `now` (Unix seconds), or unchanged where `now` is `None`.
    pub fn revive(&self, key: &str, now: Option<i64>) -> Result<Revived, ChipError> {
        let revived = self.inner.world().revive(key, now)?;
        self.inner.publish();
        Ok(revived)
    }

    /// Edit snapshots of every workspace. No disk access.
    pub fn workspaces(&self) -> Arc<Vec<Workspace>> {
        self.views().workspaces
    }

    /// An edit snapshot with its contents, from its folder, else from the archive.
    pub fn snapshot(&self, key: &str) -> Result<SnapshotDetail, ChipError> {
        let workspaces = self.workspaces();
        let entry = workspaces
            .iter()
            .flat_map(|workspace| &workspace.rows)
            .find(|row| row.key == key)
            .ok_or_else(|| ChipError::NotFound(key.to_owned()))?;
        self.inner.world().snapshot(entry.clone())
    }

    /// Places in the opened `roots` where a deleted text came from, best source only (edit snapshots, else logs, else
    /// search). Reads files and may start git; may take some seconds.
    pub fn origins(
        &self,
        key: &str,
        roots: &[PathBuf],
        logs: &dyn RemovedTexts,
    ) -> Result<Origins, ChipError> {
        let entry = self.entry(key)?;
        self.inner.world().origins(&entry, roots, logs)
    }

    /// How much the archive holds. No disk access.
    pub fn archive(&self) -> ArchiveSize {
        self.views().archive
    }

    /// Changes folder or limits (settings). The list is complete again when this returns.
    pub fn configure(&self, config: ChipConfig) {
        self.inner.world().configure(config);
        self.inner.publish();
        // Closed: there is no thread, nothing is watched.
        let _ = self.inner.signals.send(Signal::Look);
    }

    /// Looks now.
    pub fn refresh(&self) {
        self.inner.world().look(&Default::default(), true, false);
        self.inner.publish();
    }
}

impl Inner {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn views(&self) -> Views {
        let views = self.views.read().unwrap_or_else(PoisonError::into_inner);
        views.clone()
    }

    fn publish(&self) {
        let new = self.world().views();
        *self.views.write().unwrap_or_else(PoisonError::into_inner) = new;
    }
}

/// The watching thread.
fn run(
    inner: &Weak<Inner>,
    signals: &Receiver<Signal>,
    changes: &Sender<Change>,
    mut watching: Watching,
    mut again: Option<Duration>,
) {
    loop {
        let woken = watch::wait(signals, watching.patience(again));
        let Some(inner) = inner.upgrade() else { return };
        let mut world = inner.world();
        let touched = match woken {
            Woken::Stop => return,
            Woken::Timer | Woken::Asked => None,
            Woken::Events(paths) => {
                if !paths.is_empty() && !paths.iter().any(|path| world.concerns(path)) {
                    continue;
                }
                if paths
                    .iter()
                    .any(|path| path.starts_with(world.chip_folder()))
                {
                    watching.told();
                }
                Some(paths)
            }
        };
        let timer = touched.is_none();
        watching.set_forced(world.polling_asked());
        let new = watching.follow(world.chip_folder(), &world.watched_folders());
        let snapshots = touched
            .as_ref()
            .is_none_or(|paths| world.concern_snapshots(paths));
        let look = world.look(&touched.unwrap_or_default(), snapshots, false);
        if look.chips_read && timer && !new && !watching.polls() && again.is_none() {
            watching.found_untold();
        }
        watching.judge();
        again = look.again;
        let watch_changed = world.set_polls(watching.polls());
        let views = world.views();
        drop(world);
        *inner.views.write().unwrap_or_else(PoisonError::into_inner) = views;
        drop(inner);
        // Closed: nobody listens; the list is kept up to date all the same.
        for (changed, what) in [
            (look.chips, Change::Chips),
            (look.snapshots, Change::Snapshots),
            (watch_changed, Change::Watch),
        ] {
            if changed {
                let _ = changes.send(what);
            }
        }
    }
}
