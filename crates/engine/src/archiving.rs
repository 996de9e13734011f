//! The archive of agents' logs, where the settings ask for one: the library's thread takes in, one at a time and when
//! it has nothing else to do, what it found; what agents have deleted since stays in the list.
//!
//! Left out: how it is kept (`chipdeck-disk`).

use crate::api::Notice;
use crate::engine::{now_ms, read, Inner};
use chipdeck_disk::logs::{Found, KeptLog, LogArchive};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A log that was written within this time, in milliseconds, is taken in later.
const WRITING: i64 = 30_000;
/// Limits are looked at so often.
const LIMITS: Duration = Duration::from_secs(3_600);
const DAY: i64 = 86_400_000;

/// What the thread knows of the archive.
#[derive(Default)]
pub(crate) struct Archiving {
    kept: Option<Vec<KeptLog>>,
    /// Logs that could not be taken in as they are.
    failed: HashMap<PathBuf, (u64, Option<i64>)>,
    limited: Option<Instant>,
    told: bool,
}

impl Inner {
    fn log_archive(&self) -> LogArchive {
        LogArchive::new(&self.config.places)
    }

    /// Where a log of the archive was; `None` for any other path.
    pub(crate) fn archived_from(&self, path: &Path) -> Option<PathBuf> {
        self.log_archive().original(path)
    }
}

impl Archiving {
    fn kept(&mut self, inner: &Inner) -> &[KeptLog] {
        self.kept.get_or_insert_with(|| inner.log_archive().list())
    }

    /// Logs of the archive that are nowhere else any more.
    pub(crate) fn gone(&mut self, inner: &Inner, found: &[Found]) -> Vec<Found> {
        let there: HashSet<&Path> = found.iter().map(|it| &*it.path).collect();
        let gone = |it: &&KeptLog| it.earlier || !is_there(it, &there);
        let gone = self.kept(inner).iter().filter(gone);
        gone.map(KeptLog::found).collect()
    }

    /// Takes in one log; what that took. `None`: nothing is to be done.
    pub(crate) fn go_on(&mut self, inner: &Inner, found: &[Found]) -> Option<Duration> {
        let on = read(&inner.settings).get("logs.archive") == true;
        if !on {
            return None;
        }
        let begun = Instant::now();
        let now = now_ms();
        let archive = inner.log_archive();
        let prints: HashMap<PathBuf, (u64, Option<i64>)> = self
            .kept(inner)
            .iter()
            .filter(|it| !it.earlier)
            .map(|it| (it.original.clone(), (it.bytes, it.modified)))
            .collect();
        let next = found.iter().find(|it| {
            let print = (it.bytes, it.modified);
            it.modified.is_none_or(|at| now - at > WRITING)
                && prints.get(&it.path) != Some(&print)
                && self.failed.get(&it.path) != Some(&print)
                && archive.original(&it.path).is_none()
        });
        if let Some(next) = next {
            match archive.keep(next, now) {
                Ok(_) => self.kept = None,
                Err(error) => {
                    self.failed
                        .insert(next.path.clone(), (next.bytes, next.modified));
                    // One sentence is enough: the reason is mostly the same for all.
                    if !std::mem::replace(&mut self.told, true) {
                        let path = inner.for_people(&next.path);
                        let text = format!("{path} could not be taken into the archive: {error}.");
                        let level = "warning".to_owned();
                        inner.tell(Notice::Message { level, text });
                    }
                }
            }
            return Some(begun.elapsed());
        }
        if self.limited.is_none_or(|at| at.elapsed() >= LIMITS) {
            self.limited = Some(Instant::now());
            let there: HashSet<&Path> = found.iter().map(|it| &*it.path).collect();
            let here: Vec<KeptLog> = self
                .kept(inner)
                .iter()
                .filter(|it| !it.earlier && is_there(it, &there))
                .cloned()
                .collect();
            for kept in here.iter().filter(|it| now - it.seen > DAY) {
                let _ = archive.saw(kept, now);
            }
            let here: HashSet<PathBuf> = here.into_iter().map(|it| it.original).collect();
            let settings = read(&inner.settings);
            let most = settings.integer("logs.max_bytes").unwrap_or(0);
            let days = settings.integer("logs.max_days").unwrap_or(0);
            drop(settings);
            let most = u64::try_from(most).unwrap_or(0);
            // What could not be removed is tried again in an hour.
            let _ = archive.limit(most, days, now, &|it| here.contains(&it.original));
            self.kept = None;
            return Some(begun.elapsed());
        }
        None
    }
}

fn is_there(kept: &KeptLog, found: &HashSet<&Path>) -> bool {
    found.contains(&*kept.original) || kept.original.exists()
}
