//! Watching the chip folder and the snapshot folders: file system events, gathered for some milliseconds; a look now
//! and then in any case; polling where events don't come. Folders may be missing, vanish or be replaced.
//!
//! Left out: what is looked at (the caller's closure).

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Events are gathered for so long from the first one.
const GATHER: Duration = Duration::from_millis(15);
/// A look in any case.
const SLOW: Duration = Duration::from_secs(2);
/// Without events.
const POLL: Duration = Duration::from_millis(500);
/// A change that no event has told after so long means that events don't come.
const LATE: Duration = Duration::from_millis(700);
/// Most folders watched at once.
const MOST_FOLDERS: usize = 1_000;

pub(super) enum Signal {
    /// Something happened to these paths.
    Touched(Vec<PathBuf>),
    /// Look now.
    Look,
    Stop,
}

/// The folders watched now.
pub(super) struct Watching {
    watcher: Option<RecommendedWatcher>,
    /// Folder and which one it was.
    folders: HashMap<PathBuf, Option<(u64, u64)>>,
    /// Told to poll, or the chip folder can't be watched.
    forced: bool,
    blind: bool,
    /// A change of the chip folder was found that no event had told.
    untold: Option<Instant>,
}

impl Watching {
    pub fn new(signals: Sender<Signal>, forced: bool) -> Watching {
        let watcher = if forced {
            None
        } else {
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let paths = match event {
                    // Opening and reading are our own doing, mostly.
                    Ok(event) => match event.kind {
                        EventKind::Access(AccessKind::Close(AccessMode::Write)) => event.paths,
                        EventKind::Access(_) => return,
                        _ => event.paths,
                    },
                    Err(_) => Vec::new(),
                };
                // Closed: nobody looks any more.
                let _ = signals.send(Signal::Touched(paths));
            })
            .ok()
        };
        Watching {
            watcher,
            folders: HashMap::new(),
            forced,
            blind: false,
            untold: None,
        }
    }

    pub fn set_forced(&mut self, forced: bool) {
        self.forced = forced;
    }

    /// Watches the chip folder (else the nearest folder above it that exists), its parent, and these others. True:
    /// something is watched now that was not before, so that changes may have been missed.
    pub fn follow(&mut self, chips: &Path, others: &[PathBuf]) -> bool {
        if self.watcher.is_none() {
            self.blind = true;
            return false;
        }
        let mut wanted: Vec<PathBuf> = chips
            .ancestors()
            .find(|folder| folder.is_dir())
            .map(Path::to_owned)
            .into_iter()
            .collect();
        wanted.extend(chips.parent().filter(|p| p.is_dir()).map(Path::to_owned));
        wanted.extend(others.iter().cloned());
        wanted.truncate(MOST_FOLDERS);
        let wanted: HashMap<PathBuf, Option<(u64, u64)>> = wanted
            .into_iter()
            .map(|folder| {
                let which = identity(&folder);
                (folder, which)
            })
            .collect();
        let gone: Vec<PathBuf> = self
            .folders
            .iter()
            .filter(|(folder, which)| wanted.get(*folder) != Some(which))
            .map(|(folder, _)| folder.clone())
            .collect();
        let Some(watcher) = &mut self.watcher else {
            return false;
        };
        for folder in gone {
            self.folders.remove(&folder);
            // It may be gone with the folder.
            let _ = watcher.unwatch(&folder);
        }
        let mut new = false;
        for (folder, which) in wanted {
            if self.folders.contains_key(&folder) {
                continue;
            }
            match watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    new = true;
                    if folder == chips {
                        self.blind = without_events(chips);
                        self.untold = None;
                    }
                    self.folders.insert(folder, which);
                }
                Err(_) if folder == chips && chips.is_dir() => self.blind = true,
                Err(_) => {}
            }
        }
        new
    }

    pub fn polls(&self) -> bool {
        self.forced || self.blind
    }

    /// Events came.
    pub fn told(&mut self) {
        self.untold = None;
    }

    /// A look without an event before it found a change.
    pub fn found_untold(&mut self) {
        self.untold.get_or_insert_with(Instant::now);
    }

    /// Decides about events that should have come by now. True: that changed the mode.
    pub fn judge(&mut self) -> bool {
        let late = self.untold.is_some_and(|since| since.elapsed() >= LATE);
        if late {
            self.untold = None;
            let before = self.blind;
            self.blind = true;
            return !before;
        }
        false
    }

    /// How long to wait for a signal at most; `again`: what the last look asked for.
    pub fn patience(&self, again: Option<Duration>) -> Duration {
        let mut wait = if self.polls() { POLL } else { SLOW };
        if self.untold.is_some() {
            wait = wait.min(LATE);
        }
        again.map_or(wait, |again| wait.min(again + Duration::from_millis(5)))
    }
}

/// What came in: touched paths, or `None` for a look that nothing asked for.
pub(super) enum Woken {
    Stop,
    Timer,
    Asked,
    Events(HashSet<PathBuf>),
}

/// Waits for a signal and gathers those that follow at once.
pub(super) fn wait(signals: &Receiver<Signal>, patience: Duration) -> Woken {
    let mut touched = HashSet::new();
    let mut asked = false;
    match signals.recv_timeout(patience) {
        Err(RecvTimeoutError::Timeout) => return Woken::Timer,
        Err(RecvTimeoutError::Disconnected) | Ok(Signal::Stop) => return Woken::Stop,
        Ok(Signal::Look) => asked = true,
        Ok(Signal::Touched(paths)) => touched.extend(paths),
    }
    let end = Instant::now() + GATHER;
    while !asked {
        let left = end.saturating_duration_since(Instant::now());
        match signals.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) | Ok(Signal::Stop) => return Woken::Stop,
            Ok(Signal::Look) => asked = true,
            Ok(Signal::Touched(paths)) => touched.extend(paths),
        }
    }
    if asked && touched.is_empty() {
        Woken::Asked
    } else {
        Woken::Events(touched)
    }
}

#[cfg(unix)]
fn identity(folder: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(folder).ok().map(|m| (m.dev(), m.ino()))
}

#[cfg(not(unix))]
fn identity(folder: &Path) -> Option<(u64, u64)> {
    let made = std::fs::metadata(folder).ok()?.created().ok()?;
    let since = made.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((since.as_nanos() as u64, 0))
}

/// File systems whose changes by other machines or programs come without events.
#[cfg(target_os = "linux")]
fn without_events(folder: &Path) -> bool {
    const KINDS: [u64; 10] = [
        0x6969,      // NFS
        0x517b,      // SMB
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB2
        0x6573_5546, // FUSE
        0x0102_1997, // 9P
        0x5346_414f, // AFS
        0x00c3_6400, // Ceph
        0x786f_4256, // VirtualBox shared folders
        0xbacb_acbc, // VMware shared folders
    ];
    rustix::fs::statfs(folder)
        .is_ok_and(|found| KINDS.contains(&(found.f_type as u64 & 0xffff_ffff)))
}

#[cfg(not(target_os = "linux"))]
fn without_events(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_never_come_mean_polling() {
        let (signals, _incoming) = std::sync::mpsc::channel();
        let place = tempfile::tempdir().unwrap();
        let mut watching = Watching::new(signals, false);
        assert!(watching.follow(place.path(), &[]));
        assert!(!watching.polls());
        // A change that an event told, a little late.
        watching.found_untold();
        assert!(!watching.judge());
        watching.told();
        assert_eq!(watching.patience(None), SLOW);
        // One that none tells.
        watching.found_untold();
        assert!(watching.patience(None) <= LATE);
        std::thread::sleep(LATE);
        assert!(watching.judge());
        assert!(watching.polls());
        assert_eq!(watching.patience(None), POLL);
    }
}
