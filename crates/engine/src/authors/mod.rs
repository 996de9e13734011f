//! One file, all authors: what every session of a project, the chip server, git and the disk know of a path, as one
//! list of versions.
//!
//! Reading many logs takes its time: it is done beside everything else, told as it goes on, and can be stopped. Left
//! out: what one log says alone (`log`), and the write (`restoring`).

mod backups;
mod brought;
mod evidence;
mod files;
mod history;
mod index;
mod merge;
mod others;
mod place;
mod session;
mod told;

pub use history::{History, Wanted};

use crate::api::{Gathering, Notice, ProjectRow, Unread};
use crate::engine::{hold, read, Answer, Inner};
use crate::log::Log;
use chipdeck_disk::restore::{Located, Root};
use files::Files;
use place::{Place, Places};
use session::Session;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Histories that are kept for the page.
const KEPT: usize = 4;
/// A folder that holds nothing of a log is looked into again after this.
const LOOKED: Duration = Duration::from_secs(3);
/// Paths of a log that are looked through for one in a project.
const MOST_PATHS: usize = 2_000;
/// Progress is told this often.
const TELL: Duration = Duration::from_millis(150);

/// A log, its bytes, and a root.
type Laid = (PathBuf, u64, PathBuf);

#[derive(Default)]
pub struct Authors {
    places: Mutex<Places>,
    files: Mutex<HashMap<String, Arc<Files>>>,
    histories: Mutex<VecDeque<Arc<History>>>,
    /// Whether a log, as long as it was then, may be laid onto a root.
    laid: Mutex<HashMap<Laid, (bool, Instant)>>,
}

/// How far a gathering is, and whether it should go on.
#[derive(Default)]
pub struct Course {
    gathering: Mutex<Gathering>,
    stopped: AtomicBool,
    told: Mutex<Option<Instant>>,
}

impl Course {
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    pub fn gathering(&self) -> Gathering {
        hold(&self.gathering).clone()
    }

    pub fn is_done(&self) -> bool {
        hold(&self.gathering).done
    }

    /// Changes how far it is, and tells it now and then.
    pub fn on(&self, inner: &Inner, id: &str, change: impl FnOnce(&mut Gathering)) {
        let gathering = {
            let mut held = hold(&self.gathering);
            change(&mut held);
            held.clone()
        };
        let mut told = hold(&self.told);
        if !gathering.done && told.is_some_and(|when| when.elapsed() < TELL) {
            return;
        }
        *told = Some(Instant::now());
        inner.tell(Notice::Gathered {
            of: id.to_owned(),
            gathering,
        });
    }

    pub fn unread(&self, what: impl Into<String>, why: impl Into<String>) {
        /// As many as anybody reads.
        const MOST: usize = 50;
        let mut held = hold(&self.gathering);
        if held.unread.len() < MOST {
            held.unread.push(Unread {
                what: what.into(),
                why: why.into(),
            });
        }
    }
}

impl Inner {
    /// The logs of this machine, newest first, open ones among them; `all`: also those that nobody looked into yet,
    /// which takes a moment for each.
    fn sessions(&self, all: bool) -> Vec<Session> {
        let logs = read(&self.logs).clone();
        let known = self.shelf.known();
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for log in logs {
            let card = known.cards.get(&log.path);
            let title = card.and_then(|card| card.facts.as_ref()?.title.clone());
            seen.insert(log.path.clone());
            found.push(self.open_session(&log, title));
        }
        for recent in self.kept.recent() {
            let listed = known.found.iter().any(|it| it.path == recent.path);
            let Ok(metadata) = std::fs::metadata(&recent.path) else {
                continue;
            };
            if listed || !seen.insert(recent.path.clone()) {
                continue;
            }
            let written = metadata.modified().ok();
            let since = written.and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok());
            found.push(Session {
                title: recent.title,
                format: recent.format,
                bytes: metadata.len(),
                modified: since.and_then(|it| i64::try_from(it.as_millis()).ok()),
                cwd: None,
                source: hold(&self.sources).id(&recent.path),
                path: recent.path,
                open: None,
            });
        }
        for one in known.found.iter() {
            if seen.contains(&one.path) {
                continue;
            }
            let card = known.cards.get(&one.path).filter(|card| card.fits(one));
            let card = match card {
                Some(card) => card.clone(),
                None if all => self.shelf.look(one),
                None => continue,
            };
            let Some(facts) = &card.facts else { continue };
            found.push(Session {
                title: facts
                    .title
                    .clone()
                    .unwrap_or_else(|| session::name(&one.path)),
                format: facts.format.clone(),
                bytes: one.bytes,
                modified: one.modified,
                cwd: facts.cwd.clone(),
                source: hold(&self.sources).id(&one.path),
                path: one.path.clone(),
                open: None,
            });
        }
        found.sort_by(|a, b| {
            b.modified
                .cmp(&a.modified)
                .then_with(|| a.path.cmp(&b.path))
        });
        found
    }

    fn open_session(&self, log: &Arc<Log>, title: Option<String>) -> Session {
        Session {
            title: title.unwrap_or_else(|| session::name(&log.path)),
            format: log.format().name().to_owned(),
            bytes: log.source.total_bytes(),
            modified: log.source.modified(),
            cwd: log.look(|look| look.timeline.cwd().map(str::to_owned)),
            source: hold(&self.sources).id(&log.path),
            path: log.path.clone(),
            open: Some(log.clone()),
        }
    }

    /// The projects that these sessions worked in, and those of opened folders.
    fn places(&self, sessions: &[Session]) -> Vec<Arc<Place>> {
        let mut places = hold(&self.authors.places);
        for cwd in sessions.iter().filter_map(|it| it.cwd.as_deref()) {
            places.add(cwd);
        }
        for root in read(&self.roots).iter() {
            if let Some(root) = root.path().to_str().filter(|_| root.only_file().is_none()) {
                places.add(root);
            }
        }
        for log in sessions.iter().filter_map(|it| it.open.as_ref()) {
            let Some(cwd) = log.look(|look| look.timeline.cwd().map(str::to_owned)) else {
                continue;
            };
            if Path::new(&cwd).is_dir() {
                continue;
            }
            if let Some(root) = self.laid_on(log) {
                places.lay(&cwd, root.path());
            }
        }
        places.all()
    }

    /// The opened folder that a log of a folder that is not here may be laid onto; the newest first.
    fn laid_on(&self, log: &Log) -> Option<Root> {
        let roots: Vec<Root> = read(&self.roots).iter().rev().cloned().collect();
        let mut whole = roots.into_iter().filter(|it| it.only_file().is_none());
        whole.find(|root| self.may_lie(log, root))
    }

    fn may_lie(&self, log: &Log, root: &Root) -> bool {
        let key = (
            log.path.clone(),
            log.source.total_bytes(),
            root.path().to_owned(),
        );
        if let Some((may, when)) = hold(&self.authors.laid).get(&key).copied() {
            // What is not laid onto it now may be when the folder has a file more.
            if may || when.elapsed() < LOOKED {
                return may;
            }
        }
        let may = log.look(|look| crate::laid::may_lie(look, root));
        let now = Instant::now();
        hold(&self.authors.laid).insert(key, (may, now));
        may
    }

    fn project_place(&self, id: &str) -> Answer<Arc<Place>> {
        let known = |places: Vec<Arc<Place>>| places.into_iter().find(|it| it.id == id);
        let found = known(hold(&self.authors.places).all());
        found
            .or_else(|| known(self.places(&self.sessions(true))))
            .ok_or_else(|| {
                crate::api::ApiError::new("not-found", format!("There is no project {id}."))
            })
    }

    /// Newest first; projects that no session names are not listed.
    pub(crate) fn projects(&self) -> Vec<ProjectRow> {
        let sessions = self.sessions(false);
        let places = self.places(&sessions);
        let mut rows: Vec<ProjectRow> = places
            .iter()
            .map(|place| self.project_row(place, &sessions))
            .filter(|row| row.sessions > 0 || row.here)
            .collect();
        rows.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.path.cmp(&b.path)));
        rows
    }

    fn project_row(&self, place: &Place, sessions: &[Session]) -> ProjectRow {
        let own = sessions.iter().filter(|it| self.is_of(it, place));
        let own: Vec<&Session> = own.collect();
        let agents: BTreeSet<&str> = own.iter().map(|it| it.format.as_str()).collect();
        let name = place.top.file_name().unwrap_or(place.top.as_os_str());
        ProjectRow {
            project: place.id.clone(),
            name: name.to_string_lossy().into_owned(),
            path: self.for_people(&place.top),
            sessions: own.len() as u64,
            agents: agents.into_iter().map(str::to_owned).collect(),
            last: own.iter().filter_map(|it| it.modified).max(),
            here: place.here,
            git: place.git,
        }
    }

    /// A session worked in the project, or is open and its files are written there.
    fn is_of(&self, session: &Session, place: &Place) -> bool {
        if session.cwd.as_deref().is_some_and(|cwd| place.holds(cwd)) {
            return true;
        }
        let Some(log) = &session.open else {
            return false;
        };
        // A folder that merely was opened too is not the session's.
        let root = hold(&log.root).clone();
        if !root.is_some_and(|root| place.holds(&root)) {
            return false;
        }
        let names_one = || {
            log.look(|look| {
                let mut paths = look.timeline.paths().into_iter().take(MOST_PATHS);
                paths.any(|named| place.spot(named, None).is_some())
            })
        };
        let laid = || {
            let found = self.laid_on(log);
            let path = found.as_ref().and_then(|root| root.path().to_str());
            path.is_some_and(|path| place.holds(path))
        };
        names_one() || laid()
    }

    /// The logs that may name a file of the project, newest first.
    fn candidates(&self, place: &Place) -> Vec<Session> {
        let may = |session: &Session| {
            let elsewhere = session
                .cwd
                .as_deref()
                .is_some_and(|cwd| !place.holds(cwd) && !place.is_below(cwd));
            !elsewhere || self.is_of(session, place)
        };
        let mut found = self.sessions(true);
        found.retain(may);
        found
    }

    /// Where a path of an open log lies on this machine, below what a person opened.
    fn located(&self, log: &Log, named: &str, cwd: Option<&str>) -> Option<PathBuf> {
        let roots = read(&self.roots).clone();
        match roots.locate_where(named, cwd, &|root| self.may_lie(log, root)) {
            Located::Inside { root, path } => Some(root.path().join(path)),
            Located::Ask { .. } | Located::Never(_) => None,
        }
    }

    pub(crate) fn stop_gathering(&self, of: &str) {
        if let Some(files) = hold(&self.authors.files).get(of) {
            files.course.stop();
        }
        if let Some(history) = hold(&self.authors.histories).iter().find(|it| it.id == of) {
            history.course.stop();
        }
    }
}

/// Runs in a thread of its own; a fault in what is read ends only that.
fn beside(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(run);
    spawned.map(drop)
}
