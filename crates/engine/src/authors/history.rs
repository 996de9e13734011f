//! One path of a project: gathered from all authors beside everything else, shown as far as it is known.

use super::index::Stamp;
use super::merge::{merge, Row};
use super::place::{Place, Spot};
use super::session::{self, Session};
use super::told::{Contents, From, Told};
use super::{others, Course, KEPT};
use crate::api::*;
use crate::diff::{self, Content, Side};
use crate::engine::{hold, Answer, Engine, Inner};
use crate::log::Reading;
use chipdeck_disk::git::Repository;
use chipdeck_disk::logs::FileSource;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Versions that the page gets, newest first.
const MOST_ROWS: usize = 2_000;
/// Versions whose changed lines are counted for the list, newest first.
const MOST_COUNTED: usize = 300;
/// Contents up to this size are compared with the version before for the list, in bytes.
const COUNTED: usize = 512 << 10;

pub struct History {
    pub id: String,
    pub place: Arc<Place>,
    /// Below the project.
    pub path: String,
    pub course: Course,
    pub(super) told: Mutex<Vec<Told>>,
    pub(super) contents: Mutex<Contents>,
    /// Merged, oldest first; `None`: something came since.
    rows: Mutex<Option<Arc<Vec<Row>>>>,
    clipped: Mutex<bool>,
    /// What each log told, as it was then: one that did not change since is not read again.
    read: Mutex<HashMap<PathBuf, (Stamp, Vec<Told>)>>,
    /// The same history, gathered before.
    before: Mutex<Option<Arc<History>>>,
}

impl History {
    fn rows(&self) -> Arc<Vec<Row>> {
        let mut rows = hold(&self.rows);
        if let Some(rows) = &*rows {
            return rows.clone();
        }
        let mut merged = merge(hold(&self.told).clone());
        self.settle_by_objects(&mut merged);
        let merged = Arc::new(merged);
        *rows = Some(merged.clone());
        merged
    }

    /// What a log told before, where it is still the same and its contents are at hand.
    fn told_before(&self, log: &Path, stamp: &Stamp, contents: &mut Contents) -> Option<Vec<Told>> {
        let before = hold(&self.before).clone()?;
        let held = hold(&before.read).get(log).cloned();
        let (was, told) = held.filter(|(was, _)| was == stamp)?;
        let old = hold(&before.contents);
        for hash in told.iter().filter_map(|it| it.content.as_deref()) {
            contents.put(hash, old.get(hash)?);
        }
        drop(old);
        hold(&self.read).insert(log.to_owned(), (was, told.clone()));
        Some(told)
    }

    fn add(&self, told: Vec<Told>) {
        hold(&self.told).extend(told);
        *hold(&self.rows) = None;
    }

    /// What is still open: git may have an object with the content that no commit at hand has.
    fn settle_by_objects(&self, rows: &mut [Row]) {
        if !self.place.git
            || !rows
                .iter()
                .any(|row| row.told.is_open() && row.settled.is_none())
        {
            return;
        }
        let Some(repository) = Repository::of(&self.place.top) else {
            return;
        };
        for row in rows {
            // An object says nothing of when: it settles no later change.
            if !row.told.is_open() || row.settled.is_some() || row.told.touched {
                continue;
            }
            let content = row.told.content.as_deref();
            let held = content.and_then(|hash| hold(&self.contents).get(hash));
            let Some(held) = held.filter(|bytes| others::has_object(&repository, bytes)) else {
                continue;
            };
            row.settled = Some(Settled {
                by: SettledBy::Object,
                what: repository
                    .blob_id(&held)
                    .map(|id| others::short(&id))
                    .unwrap_or_default(),
                time: None,
            });
        }
    }

    /// Bytes of what somebody told; `None` where it is absent.
    ///
    /// # Errors
    /// Its content is unknown, or can no longer be read.
    fn bytes(&self, told: &Told) -> Answer<Option<Arc<[u8]>>> {
        let Some(hash) = &told.content else {
            if told.exists {
                return Err(ApiError::new(
                    "unknown-content",
                    format!("Nobody knows the content of {} there.", self.path),
                ));
            }
            return Ok(None);
        };
        if let Some(held) = hold(&self.contents).get(hash) {
            return Ok(Some(held));
        }
        let again = self.again(&told.from);
        let again = again.filter(|bytes| super::told::sha256(bytes) == *hash);
        let bytes: Arc<[u8]> = again
            .ok_or_else(|| {
                ApiError::new("unknown-content", "That version can no longer be read.")
                    .hint("Look at the history again.")
            })?
            .into();
        hold(&self.contents).put(hash, bytes.clone());
        Ok(Some(bytes))
    }

    /// Reads a content that was let go of.
    fn again(&self, from: &From) -> Option<Vec<u8>> {
        match from {
            From::Session { log, named, at } => {
                let reading = Reading::of(log).ok()?;
                let look = reading.look();
                let state = look.timeline.state_at(*at);
                let file = look.timeline.file(&state, named)?;
                Some(look.content(file.content)?.as_bytes().to_vec())
            }
            From::Git(blob) => Repository::of(&self.place.top)?.content(blob),
            From::Disk(path) => std::fs::read(path).ok(),
            // Small and kept whole; gone with its file.
            From::Snapshot { .. } | From::Nowhere => None,
        }
    }
}

impl Engine {
    /// The history of a file of this machine over all authors, waited for. `top`: the project's folder where it is
    /// neither a repository nor any session's. `on` is told how far it is.
    ///
    /// # Errors
    /// No project holds the file.
    pub fn history_of_file(
        &self,
        file: &Path,
        top: &Path,
        on: &mut dyn FnMut(&Gathering),
    ) -> Answer<PathHistory> {
        let inner = &self.inner;
        let named = file.to_string_lossy();
        // Whoever asks waits for all sessions to be found.
        while inner.shelf.known().scanning {
            std::thread::sleep(WAIT);
        }
        if let Some(top) = top.to_str() {
            hold(&inner.authors.places).add(top);
        }
        let mut places = inner.places(&inner.sessions(true));
        places.sort_by_key(|place| std::cmp::Reverse(place.top.components().count()));
        let found = places
            .iter()
            .find_map(|place| Some((place, place.spot(&named, None)?)));
        let (place, spot) = found
            .ok_or_else(|| ApiError::new("not-found", format!("No project holds {named}.")))?;
        inner.path_history(&place.id, &spot.path, true)?;
        loop {
            let history = inner.path_history(&place.id, &spot.path, false)?;
            on(&history.gathering);
            if history.gathering.done {
                return Ok(history);
            }
            std::thread::sleep(WAIT);
        }
    }
}

/// Between two looks at whether it is done.
const WAIT: Duration = Duration::from_millis(20);

/// A version of a history, for a restore.
pub struct Wanted {
    /// The project's folder, and the file below it.
    pub top: PathBuf,
    pub path: String,
    /// `None`: it is to be absent.
    pub content: Option<Arc<[u8]>>,
    /// The newest content that anybody but the disk knows.
    pub newest: Option<Arc<[u8]>>,
    /// Whether somebody else than the disk knows what is on it.
    pub disk_known: bool,
    pub proven: bool,
    pub time: Option<i64>,
    pub author: PathAuthor,
}

impl Inner {
    /// Begins a history, or gives what it has by now. `anew`: what it had before counts no more.
    pub(crate) fn path_history(
        &self,
        project: &str,
        path: &str,
        anew: bool,
    ) -> Answer<PathHistory> {
        let history = self.history_of(project, path, anew)?;
        if self.look_at_disk(&history) {
            *hold(&history.rows) = None;
        }
        let file = history.place.top.join(&history.path);
        self.looking.shown(&history.id, &history.path, file);
        Ok(self.history_view(&history))
    }

    fn history_of(&self, project: &str, path: &str, anew: bool) -> Answer<Arc<History>> {
        let place = self.project_place(project)?;
        let top = place.top.to_str();
        let spot = place.spot(path, top).filter(|spot| spot.checkout.is_none());
        let path = spot.map(|spot| spot.path).ok_or_else(|| {
            ApiError::new("not-found", format!("{path} is no file of that project."))
        })?;
        let before = {
            let mut kept = hold(&self.authors.histories);
            let same = |it: &Arc<History>| it.place.id == place.id && it.path == path;
            // An older one stays for what the page still shows of it.
            let held = kept.iter().rev().find(|it| same(it)).cloned();
            if let Some(held) = &held {
                if !anew || !held.course.is_done() {
                    return Ok(held.clone());
                }
            }
            while kept.len() >= KEPT {
                if let Some(old) = kept.pop_front() {
                    old.course.stop();
                }
            }
            held
        };
        let history = Arc::new(History {
            id: format!("history-{}", self.number()),
            place,
            path,
            course: Course::default(),
            told: Mutex::default(),
            contents: Mutex::default(),
            rows: Mutex::default(),
            clipped: Mutex::new(false),
            read: Mutex::default(),
            before: Mutex::new(before),
        });
        hold(&self.authors.histories).push_back(history.clone());
        let (own, weak) = (history.clone(), self.own.clone());
        super::beside("chipdeck-history", move || {
            if let Some(inner) = weak.upgrade() {
                inner.gather_history(&own);
            }
        })
        .map_err(|error| ApiError::new("io", format!("The logs cannot be read: {error}.")))?;
        Ok(history)
    }

    fn kept_history(&self, id: &str) -> Answer<Arc<History>> {
        let kept = hold(&self.authors.histories);
        let found = kept.iter().find(|it| it.id == id).cloned();
        found.ok_or_else(|| {
            ApiError::new("not-found", "That history is no longer here.")
                .hint("Look at the file again.")
        })
    }

    /// Everybody, the quick ones first.
    fn gather_history(&self, history: &History) {
        let (place, path, course) = (&*history.place, history.path.as_str(), &history.course);
        let sessions = self.candidates(place);
        course.on(self, &history.id, |it| {
            it.of = sessions.len() as u64;
            it.total_bytes = sessions.iter().map(|it| it.bytes).sum();
        });
        let gathered = |gather: &mut dyn FnMut(&mut Contents) -> Vec<Told>| {
            // Not held while a log is read: the page asks meanwhile.
            let mut contents = Contents::default();
            let told = gather(&mut contents);
            hold(&history.contents).take(contents);
            if !told.is_empty() {
                history.add(told);
            }
        };
        gathered(&mut |contents| self.snapshots_of(place, path, contents));
        gathered(&mut |contents| {
            let (told, clipped) = others::git(place, path, course, contents);
            *hold(&history.clipped) = clipped;
            told
        });
        course.on(self, &history.id, |_| {});
        for session in &sessions {
            if course.is_stopped() {
                break;
            }
            gathered(&mut |contents| self.session_told(session, history, contents));
            course.on(self, &history.id, |it| {
                it.logs += 1;
                it.bytes += session.bytes;
            });
        }
        *hold(&history.before) = None;
        let stopped = course.is_stopped();
        course.on(self, &history.id, |it| {
            it.done = true;
            it.stopped = stopped;
        });
    }

    fn session_told(
        &self,
        session: &Session,
        history: &History,
        contents: &mut Contents,
    ) -> Vec<Told> {
        let (place, path, course) = (&*history.place, history.path.as_str(), &history.course);
        let locate = |named: &str, cwd: Option<&str>| {
            let log = session.open.as_ref()?;
            self.located(log, named, cwd)
        };
        if let Some(log) = session.open.as_ref().filter(|_| session.is_open()) {
            return log.look(|look| session::told(look, session, place, path, &locate, contents));
        }
        let source = match FileSource::open(&session.path) {
            Ok(source) => Arc::new(source),
            Err(error) => {
                course.unread(&session.title, error.to_string());
                return Vec::new();
            }
        };
        let stamp = Stamp::of(&source);
        if let Some(told) = history.told_before(&session.path, &stamp, contents) {
            return told;
        }
        let index = super::index::Index::kept(&self.config.places, &session.path, &stamp);
        if let Some(index) = index {
            let named = |file: &super::index::Indexed| {
                let cwd = index.cwd.as_deref();
                place
                    .spot(&file.path, cwd)
                    .is_some_and(|spot| spot.path == path)
            };
            if !index.files.iter().any(named) {
                return Vec::new();
            }
        } else if let Some(needle) = session::needle(path) {
            if !session::holds(&*source, needle, &mut || !course.is_stopped()) {
                return Vec::new();
            }
        }
        match Reading::of_source(source, &mut |_| !course.is_stopped()) {
            Ok(Some(reading)) => {
                let look = reading.look();
                super::index::Index::of(&look, &session.path, stamp.clone())
                    .keep(&self.config.places);
                let told = session::told(&look, session, place, path, &locate, contents);
                let kept = (stamp, told.clone());
                hold(&history.read).insert(session.path.clone(), kept);
                told
            }
            Ok(None) => Vec::new(),
            Err(error) => {
                course.unread(&session.title, error.to_string());
                Vec::new()
            }
        }
    }

    fn history_view(&self, history: &History) -> PathHistory {
        // First: what comes meanwhile is told anew.
        let gathering = history.course.gathering();
        let rows = history.rows();
        let mut before: Option<Option<Arc<[u8]>>> = None;
        let mut shown = Vec::new();
        let first = rows.len().saturating_sub(MOST_ROWS);
        let counted_from = rows.len().saturating_sub(MOST_COUNTED);
        for (at, row) in rows.iter().enumerate().skip(first) {
            let held = match &row.told.content {
                Some(hash) => hold(&history.contents).get(hash).map(Some),
                None if !row.told.exists => Some(None),
                None => None,
            };
            let counted = match (&before, &held) {
                _ if at < counted_from => None,
                (Some(old), Some(new)) => counted(old.as_deref(), new.as_deref()),
                (None, Some(new)) if row.told.op == PathOp::Create => counted(None, new.as_deref()),
                _ => None,
            };
            if row.told.is_known() {
                before = held;
            }
            shown.push(self.version_view(row, counted));
        }
        shown.reverse();
        PathHistory {
            history: history.id.clone(),
            project: self.project_row(&history.place, &self.sessions(false)),
            path: history.path.clone(),
            rows: shown,
            clipped: *hold(&history.clipped),
            gathering,
        }
    }

    fn version_view(&self, row: &Row, counted: Option<(u32, u32)>) -> PathVersion {
        let told = &row.told;
        PathVersion {
            version: told.id(),
            time: told.time,
            author: told.author.clone(),
            op: told.op,
            exists: told.exists,
            certainty: told.certainty.to_owned(),
            why: told.why.to_owned(),
            touched: told.touched,
            changed_outside: told.changed_outside,
            settled: row.settled.clone(),
            sha256: told.content.clone(),
            bytes: told.bytes,
            added: counted.map(|it| it.0),
            removed: counted.map(|it| it.1),
            also: row
                .also
                .iter()
                .map(|also| AlsoKnown {
                    author: also.author.clone(),
                    op: also.op,
                    time: also.time,
                })
                .collect(),
            on_disk: row.on_disk(),
            restorable: told.is_known() && !row.on_disk(),
        }
    }

    pub(crate) fn path_diff(
        &self,
        history: &str,
        version: &str,
        against: &PathAgainst,
        context: u32,
    ) -> Answer<DiffView> {
        let history = self.kept_history(history)?;
        let rows = history.rows();
        let at = place_of(&rows, version)?;
        let row = rows.get(at).ok_or_else(gone)?;
        let other = match against {
            PathAgainst::Previous => {
                let earlier = rows.get(..at).unwrap_or_default();
                earlier.iter().rev().find(|row| row.told.is_known())
            }
            PathAgainst::Disk => rows.iter().rev().find(|row| row.on_disk()),
            PathAgainst::Version { version } => {
                Some(rows.get(place_of(&rows, version)?).ok_or_else(gone)?)
            }
        };
        let own = self.held(&history, &row.told)?;
        let other_bytes = match other {
            Some(other) => self.held(&history, &other.told)?,
            None => Held::Absent,
        };
        let side = |row: &Row, held| side(&row.told, held);
        let begins = row.told.op == PathOp::Create;
        let nothing = Side {
            label: "before".to_owned(),
            content: if begins {
                Content::Absent
            } else {
                Content::Unknown
            },
            ..Side::default()
        };
        // From the other to this one; the disk is what a restore would replace, so it is the old side too.
        let old = match other {
            Some(other) if *against == PathAgainst::Disk => Side {
                label: "disk now".to_owned(),
                certainty: None,
                ..side(other, &other_bytes)
            },
            Some(other) => side(other, &other_bytes),
            None if *against == PathAgainst::Disk => Side {
                label: "disk now".to_owned(),
                ..Side::default()
            },
            None => nothing,
        };
        Ok(diff::view(&history.path, old, side(row, &own), context))
    }

    fn held(&self, history: &History, told: &Told) -> Answer<Held> {
        if told.exists && told.content.is_none() {
            return Ok(Held::Unknown);
        }
        if let From::Snapshot { key, before } = &told.from {
            self.snapshot_again(history, told, key, *before);
        }
        Ok(match history.bytes(told)? {
            Some(bytes) => Held::Bytes(bytes),
            None => Held::Absent,
        })
    }

    fn snapshot_again(&self, history: &History, told: &Told, key: &str, before: bool) {
        let Some(hash) = &told.content else { return };
        let mut contents = hold(&history.contents);
        if contents.get(hash).is_some() {
            return;
        }
        if let Ok(detail) = self.chips.snapshot(key) {
            let record = &detail.record;
            let side = if before {
                &record.before
            } else {
                &record.after
            };
            let text = side.text();
            if super::told::sha256(&text) == *hash {
                contents.put(hash, text.into());
            }
        }
    }

    /// What a restore of a version needs to know.
    ///
    /// # Errors
    /// There is no such version, or its content is unknown.
    pub(crate) fn wanted(&self, history: &str, version: &str) -> Answer<Wanted> {
        let history = self.kept_history(history)?;
        if self.look_at_disk(&history) {
            *hold(&history.rows) = None;
        }
        let rows = history.rows();
        let row = rows.get(place_of(&rows, version)?).ok_or_else(gone)?;
        let content = match self.held(&history, &row.told)? {
            Held::Bytes(bytes) => Some(bytes),
            Held::Absent => None,
            Held::Unknown => {
                history.bytes(&row.told)?;
                None
            }
        };
        let others = |row: &&Row| {
            row.all().any(|told| told.author.kind != AuthorKind::Disk) && row.told.content.is_some()
        };
        let newest = rows.iter().rev().find(others);
        let newest = newest.and_then(|row| match self.held(&history, &row.told) {
            Ok(Held::Bytes(bytes)) => Some(bytes),
            _ => None,
        });
        let disk = rows.iter().rev().find(|row| row.on_disk());
        let same = |one: &Row, other: &Row| one.told.same_content(&other.told);
        let disk_known = disk.is_none_or(|disk| {
            !disk.told.exists || rows.iter().any(|row| others(&row) && same(row, disk))
        });
        Ok(Wanted {
            top: history.place.top.clone(),
            path: history.path.clone(),
            content,
            newest,
            disk_known,
            proven: !row.told.is_open() || row.settled.is_some(),
            time: row.told.time,
            author: row.told.author.clone(),
        })
    }

    /// The project and the path in it of a log's file.
    pub(crate) fn project_of(&self, log: &str, named: &str) -> Answer<ProjectPath> {
        let log = self.log(log)?;
        let cwd = log.look(|look| look.timeline.cwd().map(str::to_owned));
        let sessions = self.sessions(false);
        let mut places = self.places(&sessions);
        // The deepest one that holds it.
        places.sort_by_key(|place| std::cmp::Reverse(place.top.components().count()));
        let there = self.located(&log, named, cwd.as_deref());
        let there = there.as_deref().and_then(std::path::Path::to_str);
        let of = |spot: &dyn Fn(&Place) -> Option<Spot>| {
            places.iter().find_map(|place| {
                Some(ProjectPath {
                    project: place.id.clone(),
                    path: spot(place)?.path,
                })
            })
        };
        // Where a person opened it counts more than where the log says that it was.
        let opened = there.and_then(|there| of(&|place| place.spot(there, None)));
        let found = opened.or_else(|| of(&|place| place.spot(named, cwd.as_deref())));
        found.ok_or_else(|| {
            ApiError::new(
                "not-found",
                format!("Nothing says which project's file {named} is."),
            )
            .hint("Open the folder of its project.")
        })
    }
}

enum Held {
    Absent,
    Unknown,
    Bytes(Arc<[u8]>),
}

fn side<'a>(told: &Told, held: &'a Held) -> Side<'a> {
    let author = &told.author;
    let label = match (author.kind, &author.id) {
        (AuthorKind::Disk, _) => "disk now".to_owned(),
        (AuthorKind::Git, Some(id)) => format!("commit {id}"),
        (AuthorKind::Snapshot, Some(id)) => format!("edit snapshot {id}"),
        (AuthorKind::Chip, Some(id)) => format!("chip {id}"),
        _ => author.name.clone(),
    };
    Side {
        label,
        content: match held {
            Held::Absent => Content::Absent,
            Held::Unknown => Content::Unknown,
            Held::Bytes(bytes) => Content::Bytes(bytes),
        },
        certainty: (author.kind != AuthorKind::Disk).then(|| told.certainty.to_owned()),
        sha256: told.content.clone(),
    }
}

fn gone() -> ApiError {
    ApiError::new("not-found", "That version is no longer in the list.")
        .hint("Look at the history again.")
}

fn place_of(rows: &[Row], version: &str) -> Answer<usize> {
    let found = rows.iter().position(|row| row.told.id() == version);
    found.ok_or_else(gone)
}

/// Lines added and removed, of contents that are not too large to ask.
fn counted(old: Option<&[u8]>, new: Option<&[u8]>) -> Option<(u32, u32)> {
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    (old.len().max(new.len()) <= COUNTED).then(|| diff::count(old, new))
}
