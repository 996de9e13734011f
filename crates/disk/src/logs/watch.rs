//! Waiting until something may have happened to some files: file system events where there are any, and a look now
//! and then in any case. What happened is not told; the caller looks.
//!
//! All that wait share one watcher of the system with a budget of folders: systems give few watchers to a user, and
//! not many watches. What is beyond the budget, or on a file system without events, is looked at more often.

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// Look at least this often where events come, and where none do.
const SLOW: Duration = Duration::from_millis(2_000);
const FAST: Duration = Duration::from_millis(250);
/// Most folders watched at once, by all together.
const MOST_FOLDERS: usize = 1_024;

/// Wakes whoever waits when something under one of the watched folders changes, or when told to.
pub struct Wake {
    shared: Arc<Shared>,
    number: u64,
    folders: HashSet<PathBuf>,
    /// Some folder gives no events.
    blind: bool,
    bell: SyncSender<()>,
    rings: Receiver<()>,
}

/// Rings from elsewhere (a cancel).
#[derive(Clone)]
pub struct Bell(SyncSender<()>);

impl Bell {
    pub fn ring(&self) {
        // Full: it rings already. Closed: nobody waits any more.
        let _ = self.0.try_send(());
    }
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    Rung,
    /// It is time to look anyway.
    Patience,
    /// Nobody can ring any more.
    Alone,
}

/// Whose bell rings for which folder.
type Bells = HashMap<PathBuf, Vec<(u64, SyncSender<()>)>>;

struct Shared {
    /// Locked by the watcher's own thread: never while the watcher is asked for something.
    bells: Arc<Mutex<Bells>>,
    watcher: Mutex<Option<RecommendedWatcher>>,
    next: AtomicU64,
    most: usize,
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn new(most: usize) -> Shared {
        let bells: Arc<Mutex<Bells>> = Arc::default();
        let heard = bells.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let bells = hold(&heard);
            let Ok(event) = event else {
                // Some were lost: everybody looks.
                ring(bells.values());
                return;
            };
            // Opening and reading is mostly our own doing: ringing for it would never end.
            let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
            if event.kind.is_access() && event.kind != written {
                return;
            }
            if event.need_rescan() {
                ring(bells.values());
            }
            for path in &event.paths {
                ring(bells.get(path).into_iter());
                ring(path.parent().and_then(|it| bells.get(it)).into_iter());
            }
        });
        Shared {
            bells,
            watcher: Mutex::new(watcher.ok()),
            next: AtomicU64::new(1),
            most,
        }
    }

    /// False: this folder gives no events.
    fn watch(&self, number: u64, folder: &Path, bell: &SyncSender<()>) -> bool {
        let mut watcher = hold(&self.watcher);
        let Some(watcher) = &mut *watcher else {
            return false;
        };
        let known = {
            let bells = hold(&self.bells);
            if !bells.contains_key(folder) && bells.len() >= self.most {
                return false;
            }
            bells.contains_key(folder)
        };
        // Watched again: it may have been replaced by another folder of its name.
        if known {
            let _ = watcher.unwatch(folder);
        }
        if watcher.watch(folder, RecursiveMode::NonRecursive).is_err() {
            return false;
        }
        let mut bells = hold(&self.bells);
        let list = bells.entry(folder.to_owned()).or_default();
        list.push((number, bell.clone()));
        true
    }

    fn leave(&self, number: u64, folder: &Path) {
        let mut watcher = hold(&self.watcher);
        let empty = {
            let mut bells = hold(&self.bells);
            let Some(list) = bells.get_mut(folder) else {
                return;
            };
            list.retain(|(it, _)| *it != number);
            let empty = list.is_empty();
            if empty {
                bells.remove(folder);
            }
            empty
        };
        if let Some(watcher) = watcher.as_mut().filter(|_| empty) {
            // It may be gone with the folder.
            let _ = watcher.unwatch(folder);
        }
    }
}

fn ring<'a>(lists: impl Iterator<Item = &'a Vec<(u64, SyncSender<()>)>>) {
    for (_, bell) in lists.flatten() {
        let _ = bell.try_send(());
    }
}

impl Default for Wake {
    fn default() -> Wake {
        Wake::new()
    }
}

impl Drop for Wake {
    fn drop(&mut self) {
        for folder in std::mem::take(&mut self.folders) {
            self.shared.leave(self.number, &folder);
        }
    }
}

impl Wake {
    pub fn new() -> Wake {
        static ALL: OnceLock<Arc<Shared>> = OnceLock::new();
        let shared = ALL.get_or_init(|| Arc::new(Shared::new(MOST_FOLDERS)));
        Wake::of(shared.clone())
    }

    fn of(shared: Arc<Shared>) -> Wake {
        let (bell, rings) = sync_channel(1);
        let blind = hold(&shared.watcher).is_none();
        Wake {
            number: shared.next.fetch_add(1, Ordering::SeqCst),
            blind,
            shared,
            folders: HashSet::new(),
            bell,
            rings,
        }
    }

    pub fn bell(&self) -> Bell {
        Bell(self.bell.clone())
    }

    /// Watches what lies directly in a folder.
    pub fn watch(&mut self, folder: &Path) {
        if self.folders.contains(folder) {
            return;
        }
        let told = tells(folder) && self.shared.watch(self.number, folder, &self.bell);
        if told {
            self.folders.insert(folder.to_owned());
        }
        self.blind |= !told;
    }

    /// Watches these folders and no others.
    pub fn watch_only(&mut self, folders: &HashSet<PathBuf>) {
        let gone: Vec<PathBuf> = self.folders.difference(folders).cloned().collect();
        for folder in gone {
            self.folders.remove(&folder);
            self.shared.leave(self.number, &folder);
        }
        self.blind = hold(&self.shared.watcher).is_none();
        for folder in folders {
            self.watch(folder);
        }
    }

    /// Some folder gives no events: it has to be looked at.
    pub fn is_blind(&self) -> bool {
        self.blind
    }

    /// Waits for a change or until it is time to look anyway. False: nobody can ring any more.
    pub fn wait(&self) -> bool {
        let patience = if self.blind { FAST } else { SLOW };
        self.wait_for(patience) != Woken::Alone
    }

    pub fn wait_for(&self, patience: Duration) -> Woken {
        match self.rings.recv_timeout(patience) {
            Ok(()) => Woken::Rung,
            Err(RecvTimeoutError::Timeout) => Woken::Patience,
            Err(RecvTimeoutError::Disconnected) => Woken::Alone,
        }
    }
}

/// Does the file system tell what others do on it? Those that another machine (or the system around a virtual one)
/// serves don't.
#[cfg(target_os = "linux")]
fn tells(folder: &Path) -> bool {
    /// 9p (a drive of Windows in WSL 2), NFS, SMB (three names), FUSE, shared folders of virtual machines, drives of
    /// WSL 1. Numbers of `statfs(2)`.
    const SERVED: &[u32] = &[
        0x0102_1997,
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x6573_5546,
        0x786f_4256,
        0x5346_4846,
    ];
    match rustix::fs::statfs(folder) {
        Ok(system) => !SERVED.contains(&(system.f_type as u32)),
        // What cannot be asked is watched.
        Err(_) => true,
    }
}

#[cfg(not(target_os = "linux"))]
fn tells(_: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_watcher_rings_for_the_right_ones() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        std::fs::create_dir(&a).unwrap();
        std::fs::create_dir(&b).unwrap();
        let shared = Arc::new(Shared::new(2));
        let (mut one, mut two) = (Wake::of(shared.clone()), Wake::of(shared.clone()));
        one.watch(&a);
        two.watch(&b);
        two.watch(&a);
        assert!(!one.is_blind() && !two.is_blind());
        assert_eq!(hold(&shared.bells).len(), 2, "a folder is watched once");

        std::fs::write(b.join("x"), "1").unwrap();
        assert_eq!(two.wait_for(Duration::from_secs(5)), Woken::Rung);
        assert_eq!(one.wait_for(Duration::from_millis(100)), Woken::Patience);
        std::fs::write(a.join("x"), "1").unwrap();
        assert_eq!(one.wait_for(Duration::from_secs(5)), Woken::Rung);
        assert_eq!(two.wait_for(Duration::from_secs(5)), Woken::Rung);
        one.bell().ring();
        assert_eq!(one.wait_for(Duration::from_secs(5)), Woken::Rung);

        // Beyond the budget it is looked at instead; room comes back.
        let mut three = Wake::of(shared.clone());
        three.watch(dir.path());
        assert!(three.is_blind());
        two.watch_only(&HashSet::from([a.clone()]));
        three.watch_only(&HashSet::from([dir.path().to_owned()]));
        assert!(!three.is_blind());
        drop((one, two, three));
        assert!(hold(&shared.bells).is_empty());
    }
}
