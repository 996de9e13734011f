//! The files of a project that any session names, newest change first.

use super::index::{Index, Stamp};
use super::place::Place;
use super::session::{self, Session};
use super::Course;
use crate::api::{ApiError, ProjectFileRow, ProjectFiles};
use crate::engine::{hold, Answer, Inner};
use crate::log::Reading;
use chipdeck_disk::logs::FileSource;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A list that is older is gathered anew when it is asked for.
const FRESH: Duration = Duration::from_secs(10);

pub struct Files {
    pub place: Arc<Place>,
    pub course: Course,
    known: Mutex<HashMap<String, Known>>,
    begun: Instant,
}

#[derive(Clone, Default)]
struct Known {
    changes: u64,
    sessions: u64,
    agents: BTreeSet<String>,
    last: Option<i64>,
    /// Only seen so far: `last` is when.
    seen: bool,
}

impl Inner {
    /// What is known by now; more is gathered beside.
    pub(crate) fn project_files(
        &self,
        project: &str,
        query: &str,
        offset: u64,
        limit: u64,
    ) -> Answer<ProjectFiles> {
        let files = self.files_of(project)?;
        // First: what comes meanwhile is told anew.
        let gathering = files.course.gathering();
        let query = query.trim().to_lowercase();
        let words: Vec<&str> = query.split_whitespace().collect();
        let known = hold(&files.known).clone();
        let all = known.len() as u64;
        let mut rows: Vec<(String, Known)> = known
            .into_iter()
            .filter(|(path, _)| {
                let path = path.to_lowercase();
                words.iter().all(|word| path.contains(word))
            })
            .collect();
        rows.sort_by(|(a, x), (b, y)| {
            // What was only read comes after what was changed.
            (x.seen, std::cmp::Reverse(x.last), a).cmp(&(y.seen, std::cmp::Reverse(y.last), b))
        });
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let take = usize::try_from(limit.min(2_000)).unwrap_or(0);
        let total = rows.len() as u64;
        let shown = rows.into_iter().skip(skip).take(take);
        let place = &files.place;
        let sessions = self.sessions(false);
        Ok(ProjectFiles {
            project: self.project_row(place, &sessions),
            known: all,
            offset,
            total,
            rows: shown
                .map(|(path, known)| ProjectFileRow {
                    here: place.here && place.top.join(&path).is_file(),
                    path,
                    changes: known.changes,
                    sessions: known.sessions,
                    agents: known.agents.into_iter().collect(),
                    last: known.last,
                })
                .collect(),
            gathering,
        })
    }

    fn files_of(&self, project: &str) -> Answer<Arc<Files>> {
        let place = self.project_place(project)?;
        let mut all = hold(&self.authors.files);
        if let Some(held) = all.get(project) {
            let old = held.begun.elapsed() > FRESH && held.place != place;
            let stale = held.begun.elapsed() > FRESH && held.course.is_done();
            if !(old || stale) {
                return Ok(held.clone());
            }
        }
        // What was known stays on screen while it is gathered anew.
        let before = all.get(project).map(|it| hold(&it.known).clone());
        let files = Arc::new(Files {
            place,
            course: Course::default(),
            known: Mutex::new(before.unwrap_or_default()),
            begun: Instant::now(),
        });
        all.insert(project.to_owned(), files.clone());
        drop(all);
        let (own, weak) = (files.clone(), self.own.clone());
        super::beside("chipdeck-files", move || {
            if let Some(inner) = weak.upgrade() {
                inner.gather_files(&own);
            }
        })
        .map_err(|error| ApiError::new("io", format!("The logs cannot be read: {error}.")))?;
        Ok(files)
    }

    fn gather_files(&self, files: &Files) {
        let place = &files.place;
        let sessions = self.candidates(place);
        files.course.on(self, &place.id, |it| {
            it.of = sessions.len() as u64;
            it.total_bytes = sessions.iter().map(|it| it.bytes).sum();
        });
        let mut known: HashMap<String, Known> = HashMap::new();
        for session in &sessions {
            if files.course.is_stopped() {
                break;
            }
            if let Some(index) = self.index_of(session, place, &files.course) {
                self.take(&index, session, place, &mut known);
            }
            // What was known before is shown until all is known anew.
            let mut shown = hold(&files.known);
            for (path, now) in &known {
                shown.insert(path.clone(), now.clone());
            }
            drop(shown);
            files.course.on(self, &place.id, |it| {
                it.logs += 1;
                it.bytes += session.bytes;
            });
        }
        let stopped = files.course.is_stopped();
        if !stopped {
            *hold(&files.known) = known;
        }
        files.course.on(self, &place.id, |it| {
            it.done = true;
            it.stopped = stopped;
        });
    }

    /// `None`: it says nothing of the project, or cannot be read.
    pub(super) fn index_of(
        &self,
        session: &Session,
        place: &Place,
        course: &Course,
    ) -> Option<Index> {
        if let Some(log) = session.open.as_ref().filter(|_| session.is_open()) {
            let stamp = Stamp::of(&log.source);
            return Some(log.look(|look| Index::of(look, &session.path, stamp)));
        }
        let source = match FileSource::open(&session.path) {
            Ok(source) => Arc::new(source),
            Err(error) => {
                course.unread(&session.title, format!("{error}"));
                return None;
            }
        };
        let stamp = Stamp::of(&source);
        let places = &self.config.places;
        if let Some(index) = Index::kept(places, &session.path, &stamp) {
            return Some(index);
        }
        // A session that ran above the project or nobody knows where names the project's folder, or it says nothing.
        let certain = session.cwd.as_deref().is_some_and(|cwd| place.holds(cwd));
        let go_on = || !course.is_stopped();
        if !certain {
            let names = |name: &str| session::holds(&*source, name, &mut || !course.is_stopped());
            let folder = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
            let tops: BTreeSet<String> = place.names().map(folder).collect();
            if !tops.iter().any(|top| names(top)) {
                return None;
            }
        }
        let read = Reading::of_source(source, &mut |_| go_on());
        match read {
            Ok(Some(reading)) => {
                let index = Index::of(&reading.look(), &session.path, stamp);
                index.keep(places);
                Some(index)
            }
            Ok(None) => None,
            Err(error) => {
                course.unread(&session.title, format!("{error}"));
                None
            }
        }
    }

    fn take(
        &self,
        index: &Index,
        session: &Session,
        place: &Place,
        known: &mut HashMap<String, Known>,
    ) {
        let locate = |named: &str, cwd: Option<&str>| {
            let log = session.open.as_ref()?;
            self.located(log, named, cwd)
        };
        let mut named = BTreeSet::new();
        for file in &index.files {
            let cwd = index.cwd.as_deref();
            let Some(spot) = session::spot(place, &file.path, cwd, &locate) else {
                continue;
            };
            let held = known.entry(spot.path.clone()).or_insert_with(|| Known {
                seen: true,
                ..Known::default()
            });
            held.changes += u64::from(file.changes);
            held.agents.insert(session.format.clone());
            if named.insert(spot.path) {
                held.sessions += 1;
            }
            // A change counts more than a sight, however old.
            match (held.seen, file.seen) {
                (true, false) => {
                    held.seen = false;
                    held.last = file.last;
                }
                (false, true) => {}
                _ => held.last = held.last.max(file.last),
            }
        }
    }
}
