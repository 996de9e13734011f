//! Rows of the library: open and recent logs, and all sessions of this machine under heads, searched and in windows.

use super::cards::Card;
use super::facts::Facts;
use super::shelf::Known;
use super::{last_part, modified, name};
use crate::api::{SessionLine, SessionsBy, SessionsView, SourceRow};
use crate::engine::{hold, now_ms, read, Inner};
use crate::kept::Recent;
use crate::log::Phase;
use chipdeck_disk::logs::{Agent, Found};
use chrono::{Datelike, Local, TimeZone};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A log that was written within this time counts as live.
const LIVE: i64 = 60_000;
/// Found logs in the short list.
const SHORT: usize = 60;
/// Lines in a window.
const MOST_LINES: u64 = 500;

/// What is asked of all sessions.
pub struct Ask<'a> {
    pub query: &'a str,
    pub by: SessionsBy,
    pub folded: &'a [String],
    pub opened: &'a [String],
    pub offset: u64,
    pub limit: u64,
}

impl Inner {
    /// Open ones first, then those opened before, then the newest of those found on this machine.
    pub(super) fn short_list(&self, known: &mut Known) -> Vec<SourceRow> {
        let mut rows = Vec::new();
        let mut seen = HashSet::new();
        for log in read(&self.logs).iter() {
            seen.insert(log.path.clone());
            rows.push(self.open_row(log, known));
        }
        for recent in self.kept.recent() {
            // What is gone is not offered; it comes back with its file.
            let Ok(metadata) = std::fs::metadata(&recent.path) else {
                continue;
            };
            if seen.insert(recent.path.clone()) {
                rows.push(self.recent_row(recent, &metadata, known));
            }
        }
        let newest: Vec<Found> = known
            .found
            .iter()
            .filter(|found| !seen.contains(&found.path) && !known.is_part(found))
            .take(SHORT)
            .cloned()
            .collect();
        self.shelf.want(&newest, known);
        for found in &newest {
            if known.is_log(found) {
                rows.push(self.found_row(found, known));
            }
        }
        rows
    }

    fn open_row(&self, log: &crate::log::Log, known: &Known) -> SourceRow {
        let view = log.view();
        let project = view.cwd.as_deref().and_then(last_part);
        if log.phase() == Phase::Ready {
            let recent = Recent {
                path: log.path.clone(),
                title: view.title.clone(),
                format: view.format.clone(),
                project: project.clone(),
                entries: Some(view.count),
                opened: 0,
            };
            // It will be tried again; the list itself is right.
            let _ = self.kept.remember(recent, false);
        }
        let mut row = SourceRow {
            source: hold(&self.sources).id(&log.path),
            log: Some(log.id.clone()),
            title: view.title,
            path: self.for_people(&log.path),
            project,
            cwd: view.cwd.as_deref().map(|it| self.for_people(Path::new(it))),
            format: view.format,
            bytes: log.source.total_bytes(),
            entries: Some(view.count),
            modified: log.source.modified(),
            live: view.live,
            recent: true,
            looked: true,
            started: view.first_time,
            ended: view.last_time,
            counts: None,
            parts: 0,
            archived: false,
        };
        fill(&mut row, &log.path, known, self);
        row
    }

    fn recent_row(&self, recent: Recent, metadata: &std::fs::Metadata, known: &Known) -> SourceRow {
        let mut row = SourceRow {
            source: hold(&self.sources).id(&recent.path),
            log: None,
            title: recent.title,
            path: self.for_people(&recent.path),
            project: recent.project,
            cwd: None,
            format: recent.format,
            bytes: if metadata.is_dir() { 0 } else { metadata.len() },
            entries: recent.entries,
            modified: modified(metadata),
            live: false,
            recent: true,
            looked: true,
            started: None,
            ended: None,
            counts: None,
            parts: 0,
            archived: false,
        };
        fill(&mut row, &recent.path, known, self);
        row
    }

    fn found_row(&self, found: &Found, known: &Known) -> SourceRow {
        let mut row = SourceRow {
            source: hold(&self.sources).id(&found.path),
            log: None,
            title: name(&found.path),
            path: self.for_people(&found.path),
            project: None,
            cwd: None,
            format: found.agent.name().to_owned(),
            bytes: found.bytes,
            entries: None,
            modified: found.modified,
            live: found.modified.is_some_and(|at| now_ms() - at < LIVE),
            recent: false,
            looked: false,
            started: None,
            ended: None,
            counts: None,
            parts: 0,
            archived: false,
        };
        fill(&mut row, &found.path, known, self);
        row
    }

    /// All sessions, and the open and recent logs beside them.
    pub(crate) fn session_lines(&self, ask: &Ask) -> SessionsView {
        let mut known = self.shelf.known();
        let opened: HashMap<PathBuf, SourceRow> = self.opened_elsewhere(&known);
        let elsewhere: Vec<Found> = opened
            .iter()
            .map(|(path, row)| Found {
                agent: Agent::Other,
                path: path.clone(),
                bytes: row.bytes,
                modified: row.modified,
            })
            .collect();
        let (found, cards) = (known.found.clone(), known.cards.clone());
        let all = seen(&found, &elsewhere, &cards);
        let children = children(&all);
        let (lines, matching) = lines(&all, &children, ask, self);
        let from = usize::try_from(ask.offset).unwrap_or(usize::MAX);
        let limit = usize::try_from(ask.limit.min(MOST_LINES)).unwrap_or(0);
        let window = lines.get(from.min(lines.len())..).unwrap_or_default();
        let window = window.get(..limit.min(window.len())).unwrap_or_default();
        let shown: Vec<Found> = window
            .iter()
            .filter_map(|line| match line {
                Line::Session { found, .. } => Some((*found).clone()),
                Line::Head(_) => None,
            })
            .filter(|found| !opened.contains_key(&found.path))
            .collect();
        self.shelf.want(&shown, &mut known);
        let rows = window
            .iter()
            .map(|line| match line {
                Line::Head(head) => (**head).clone(),
                Line::Session {
                    found,
                    depth,
                    children,
                    opened: open,
                } => SessionLine::Session {
                    row: match opened.get(&found.path) {
                        Some(row) => row.clone(),
                        None => self.found_row(found, &known),
                    },
                    depth: *depth,
                    children: *children,
                    opened: *open,
                },
            })
            .collect();
        let mut view = SessionsView {
            offset: ask.offset,
            total: lines.len() as u64,
            rows,
            matching,
            all: all.len() as u64,
            bytes: 0,
            scanning: known.scanning,
            unlooked: 0,
            uncounted: 0,
        };
        for one in &all {
            view.bytes += one.found.bytes;
            view.unlooked += u64::from(!one.elsewhere && !one.looked());
            view.uncounted += u64::from(one.facts().is_some() && !one.counted());
        }
        view
    }

    /// Rows of open and recent logs, those that were found on this machine too.
    fn opened_elsewhere(&self, known: &Known) -> HashMap<PathBuf, SourceRow> {
        let mut rows = HashMap::new();
        for log in read(&self.logs).iter() {
            rows.insert(log.path.clone(), self.open_row(log, known));
        }
        for recent in self.kept.recent() {
            let Ok(metadata) = std::fs::metadata(&recent.path) else {
                continue;
            };
            if !rows.contains_key(&recent.path) {
                let path = recent.path.clone();
                rows.insert(path, self.recent_row(recent, &metadata, known));
            }
        }
        rows
    }
}

/// What the card of a log knows beyond its name.
fn fill(row: &mut SourceRow, path: &Path, known: &Known, inner: &Inner) {
    if let Some(original) = inner.archived_from(path) {
        row.archived = true;
        row.live = false;
        row.path = inner.for_people(&original);
    }
    let Some(card) = known.cards.get(path) else {
        return;
    };
    let Some(facts) = &card.facts else { return };
    row.looked = true;
    if let Some(title) = &facts.title {
        row.title = title.clone();
    }
    row.format = facts.format.clone();
    if let Some(cwd) = &facts.cwd {
        row.project = last_part(cwd);
        row.cwd = Some(inner.for_people(Path::new(cwd)));
    }
    row.started = row.started.or(facts.started);
    row.ended = row.ended.or(facts.ended);
    row.parts = facts.parts;
    row.counts = card.counts().cloned();
    row.entries = row.entries.or(row.counts.as_ref().map(|it| it.entries));
}

impl Known {
    /// Not known to be something else.
    fn is_log(&self, found: &Found) -> bool {
        self.cards
            .get(&found.path)
            .is_none_or(|card| card.facts.is_some())
    }

    /// Started by another session, which may be in the list too.
    fn is_part(&self, found: &Found) -> bool {
        let facts = self.cards.get(&found.path).and_then(|it| it.facts.as_ref());
        facts.is_some_and(|it| it.parent.is_some())
    }
}

/// A session with what is known of it: looked up once, since there are thousands.
struct Seen<'a> {
    found: &'a Found,
    card: Option<&'a Card>,
    /// Open or recent: the row is at hand.
    elsewhere: bool,
}

impl<'a> Seen<'a> {
    fn facts(&self) -> Option<&'a Facts> {
        self.card?.facts.as_ref()
    }

    fn cwd(&self) -> Option<&'a str> {
        self.facts()?.cwd.as_deref()
    }

    fn looked(&self) -> bool {
        self.card.is_some_and(|card| card.fits(self.found))
    }

    fn counted(&self) -> bool {
        self.card.is_some_and(|card| card.counts().is_some())
    }

    fn name(&self) -> &'a OsStr {
        self.found.path.as_os_str()
    }
}

/// All sessions, newest first.
fn seen<'a>(
    found: &'a [Found],
    elsewhere: &'a [Found],
    cards: &'a HashMap<PathBuf, Arc<Card>>,
) -> Vec<Seen<'a>> {
    let opened: HashSet<&OsStr> = elsewhere.iter().map(|it| it.path.as_os_str()).collect();
    let mut all: Vec<Seen> = found
        .iter()
        .filter(|it| !opened.contains(it.path.as_os_str()))
        .map(|found| (found, false))
        .chain(elsewhere.iter().map(|found| (found, true)))
        .map(|(found, elsewhere)| Seen {
            found,
            card: cards.get(&found.path).map(Arc::as_ref),
            elsewhere,
        })
        .filter(|it| it.elsewhere || it.card.is_none_or(|card| card.facts.is_some()))
        .collect();
    // Most are in order already.
    all.sort_by(|a, b| {
        let time = b.found.modified.cmp(&a.found.modified);
        time.then_with(|| a.name().cmp(b.name()))
    });
    all
}

/// For each session those that it started, where both are in the list.
fn children<'a>(all: &[Seen<'a>]) -> HashMap<&'a OsStr, Vec<&'a Found>> {
    let mut children: HashMap<&OsStr, Vec<&Found>> = HashMap::new();
    let parts: Vec<(&Seen, &str)> = all
        .iter()
        .filter_map(|it| Some((it, it.facts()?.parent.as_deref()?)))
        .collect();
    if parts.is_empty() {
        return children;
    }
    let by_id: HashMap<&str, &Seen> = all
        .iter()
        .filter_map(|it| Some((it.facts()?.session.as_deref()?, it)))
        .collect();
    for (part, parent) in parts {
        if let Some(parent) = by_id.get(parent).filter(|it| it.name() != part.name()) {
            children.entry(parent.name()).or_default().push(part.found);
        }
    }
    children
}

enum Line<'a> {
    Head(Box<SessionLine>),
    Session {
        found: &'a Found,
        depth: u32,
        children: u32,
        opened: bool,
    },
}

/// The lines of the list, and how many sessions match.
fn lines<'a>(
    all: &[Seen<'a>],
    children: &HashMap<&'a OsStr, Vec<&'a Found>>,
    ask: &Ask,
    inner: &Inner,
) -> (Vec<Line<'a>>, u64) {
    let below: HashSet<&OsStr> = children
        .values()
        .flatten()
        .map(|found| found.path.as_os_str())
        .collect();
    let words: Vec<String> = ask
        .query
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    let hits: HashSet<&OsStr> = if words.is_empty() {
        HashSet::new()
    } else {
        let hits = all.iter().filter(|it| matches(it, &words, inner));
        hits.map(Seen::name).collect()
    };
    let hit = |name: &OsStr| words.is_empty() || hits.contains(name);
    let started = |name: &OsStr| {
        if children.is_empty() {
            None
        } else {
            children.get(name)
        }
    };
    // One whose sub-agent matches is shown with it.
    let deeper = |name: &OsStr| {
        let mut parts = started(name).into_iter().flatten();
        parts.any(|it| hit(it.path.as_os_str()))
    };
    let shown: Vec<&Seen> = all
        .iter()
        .filter(|it| below.is_empty() || !below.contains(it.name()))
        .filter(|it| hit(it.name()) || deeper(it.name()))
        .collect();
    let mut lines = Vec::new();
    for (key, list) in groups(all, &shown, ask.by) {
        let folded = ask.folded.contains(&key);
        lines.push(Line::Head(Box::new(head(
            &key, &list, folded, ask.by, inner,
        ))));
        if folded {
            continue;
        }
        for found in list {
            let started = started(found.path.as_os_str());
            let source = || hold(&inner.sources).id(&found.path);
            let open = started.is_some() && (!words.is_empty() || ask.opened.contains(&source()));
            lines.push(Line::Session {
                found,
                depth: 0,
                children: started.map_or(0, |it| it.len() as u32),
                opened: open,
            });
            let parts = started.into_iter().flatten().filter(|_| open);
            for part in parts.filter(|it| hit(it.path.as_os_str())) {
                lines.push(Line::Session {
                    found: part,
                    depth: 1,
                    children: 0,
                    opened: false,
                });
            }
        }
    }
    let matching = if words.is_empty() {
        all.len()
    } else {
        hits.len()
    };
    (lines, matching as u64)
}

/// The shown sessions under their project or day, the group with the newest first.
fn groups<'a>(
    all: &[Seen<'a>],
    shown: &[&Seen<'a>],
    by: SessionsBy,
) -> Vec<(String, Vec<&'a Found>)> {
    // A folder's other logs tell the project of one that was not looked into.
    let mut of_folder: HashMap<&OsStr, &str> = HashMap::new();
    if all.iter().any(|it| !it.looked()) {
        for one in all {
            if let (Some(folder), Some(cwd)) = (one.found.path.parent(), one.cwd()) {
                of_folder.entry(folder.as_os_str()).or_insert(cwd);
            }
        }
    }
    let days = Days::now();
    let mut groups: Vec<(String, Vec<&Found>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    // The same folder as it is written in the log: nearly always seen before.
    let mut written: HashMap<&str, usize> = HashMap::new();
    for one in shown {
        let cwd = match by {
            SessionsBy::Day => None,
            SessionsBy::Project => one.cwd().or_else(|| {
                let folder = one.found.path.parent().filter(|_| !one.looked())?;
                of_folder.get(folder.as_os_str()).copied()
            }),
        };
        let known = cwd.and_then(|cwd| written.get(cwd).copied());
        let at = known.unwrap_or_else(|| {
            let key = match by {
                SessionsBy::Day => days.name(one.found.modified),
                SessionsBy::Project => cwd.map(tidy).unwrap_or_default(),
            };
            *places.entry(key.clone()).or_insert_with(|| {
                groups.push((key, Vec::new()));
                groups.len() - 1
            })
        });
        if let (Some(cwd), None) = (cwd, known) {
            written.insert(cwd, at);
        }
        if let Some((_, list)) = groups.get_mut(at) {
            list.push(one.found);
        }
    }
    // Those that name no folder stand at the end.
    groups.sort_by_key(|(key, _)| key.is_empty());
    groups
}

fn head(key: &str, list: &[&Found], folded: bool, by: SessionsBy, inner: &Inner) -> SessionLine {
    let project = by == SessionsBy::Project && !key.is_empty();
    SessionLine::Head {
        key: key.to_owned(),
        name: project.then(|| last_part(key).unwrap_or_else(|| key.to_owned())),
        path: project.then(|| inner.for_people(Path::new(key))),
        day: (by == SessionsBy::Day).then(|| key.to_owned()),
        sessions: list.len() as u64,
        newest: list.iter().filter_map(|it| it.modified).max(),
        folded,
    }
}

/// A drive's letter is written in both ways.
fn tidy(cwd: &str) -> String {
    let cwd = match cwd.trim_end_matches(['/', '\\']) {
        "" => cwd,
        short => short,
    };
    let mut letters = cwd.chars();
    match (letters.next(), letters.next()) {
        (Some(drive), Some(':')) => format!("{}:{}", drive.to_ascii_uppercase(), letters.as_str()),
        _ => cwd.to_owned(),
    }
}

/// Every word is in the title, the folder, the path or the agent's name.
fn matches(one: &Seen, words: &[String], inner: &Inner) -> bool {
    let facts = one.facts();
    let text = [
        facts.and_then(|it| it.title.as_deref()).unwrap_or_default(),
        one.cwd().unwrap_or_default(),
        facts.map_or(one.found.agent.name(), |it| it.format.as_str()),
        &inner.for_people(&one.found.path),
    ]
    .join("\n")
    .to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

/// Days as this machine's clock has them.
struct Days {
    today: i64,
    yesterday: i64,
    week: i64,
}

impl Days {
    fn now() -> Days {
        let now = Local::now();
        let midnight = |back: i64| {
            let day = now.date_naive() - chrono::Days::new(back.unsigned_abs());
            let start = day.and_hms_opt(0, 0, 0)?;
            Some(
                Local
                    .from_local_datetime(&start)
                    .earliest()?
                    .timestamp_millis(),
            )
        };
        let ago = |back: i64| now.timestamp_millis() - back * 86_400_000;
        Days {
            today: midnight(0).unwrap_or_else(|| ago(1)),
            yesterday: midnight(1).unwrap_or_else(|| ago(2)),
            week: midnight(6).unwrap_or_else(|| ago(7)),
        }
    }

    fn name(&self, time: Option<i64>) -> String {
        match time {
            None => "never".to_owned(),
            Some(at) if at >= self.today => "today".to_owned(),
            Some(at) if at >= self.yesterday => "yesterday".to_owned(),
            Some(at) if at >= self.week => "week".to_owned(),
            Some(at) => match Local.timestamp_millis_opt(at).earliest() {
                Some(day) => format!("{:04}-{:02}", day.year(), day.month()),
                None => "never".to_owned(),
            },
        }
    }
}
