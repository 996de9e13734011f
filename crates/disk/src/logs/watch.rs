//! Waiting until something may have happened to some files: file system events where there are any, and a look now
//! and then in any case. What happened is not told; the caller looks.

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{sync_channel, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

/// Look at least this often where events come, and where none do.
const SLOW: Duration = Duration::from_millis(2_000);
const FAST: Duration = Duration::from_millis(250);

/// Wakes whoever waits when something under one of the watched folders changes, or when told to.
pub struct Wake {
    watcher: Option<RecommendedWatcher>,
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

impl Default for Wake {
    fn default() -> Wake {
        Wake::new()
    }
}

impl Wake {
    pub fn new() -> Wake {
        let (bell, rings) = sync_channel(1);
        let ring = bell.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Opening and reading is mostly our own doing: ringing for it would never end.
            let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
            if event.is_ok_and(|event| event.kind.is_access() && event.kind != written) {
                return;
            }
            let _ = ring.try_send(());
        });
        Wake {
            blind: watcher.is_err(),
            watcher: watcher.ok(),
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
        if !self.folders.insert(folder.to_owned()) {
            return;
        }
        let watched = self
            .watcher
            .as_mut()
            .map(|watcher| watcher.watch(folder, RecursiveMode::NonRecursive));
        self.blind |= !matches!(watched, Some(Ok(())));
    }

    /// Waits for a change or until it is time to look anyway. False: nobody can ring any more.
    pub fn wait(&self) -> bool {
        let patience = if self.blind { FAST } else { SLOW };
        match self.rings.recv_timeout(patience) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => false,
        }
    }
}
