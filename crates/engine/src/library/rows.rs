//! Rows of the library: open and recent logs, and all sessions of this machine under heads, searched and in windows.

use super::shelf::Known;
use super::{last_part, modified, name};
use crate::api::{SessionLine, SessionsBy, SessionsView, SourceRow};
use crate::engine::{hold, now_ms, read, Inner};
use crate::kept::Recent;
use crate::log::Phase;
use chipdeck_disk::logs::{newest_first, Agent, Found};
use chrono::{Datelike, Local, TimeZone};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

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
        let mut all: Vec<Found> = known.found.to_vec();
        all.extend(opened.iter().map(|(path, row)| Found {
            agent: Agent::Other,
            path: path.clone(),
            bytes: row.bytes,
            modified: row.modified,
        }));
        newest_first(&mut all);
        all.retain(|found| opened.contains_key(&found.path) || known.is_log(found));
        let children = known.children(&all);
        let (lines, matching) = lines(&all, &children, &known, ask, self);
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
                Line::Head(head) => head.clone(),
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
        let rest =
            |it: &dyn Fn(&Found) -> bool| all.iter().filter(|found| it(found)).count() as u64;
        SessionsView {
            offset: ask.offset,
            total: lines.len() as u64,
            rows,
            matching,
            all: all.len() as u64,
            bytes: all.iter().map(|found| found.bytes).sum(),
            scanning: known.scanning,
            unlooked: rest(&|found| {
                !opened.contains_key(&found.path)
                    && !known
                        .cards
                        .get(&found.path)
                        .is_some_and(|it| it.fits(found))
            }),
            uncounted: rest(&|found| {
                let card = known.cards.get(&found.path);
                card.is_some_and(|it| it.facts.is_some() && it.counts().is_none())
            }),
        }
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

    fn cwd(&self, path: &Path) -> Option<&str> {
        self.cards.get(path)?.facts.as_ref()?.cwd.as_deref()
    }

    fn parent(&self, path: &Path) -> Option<&str> {
        self.cards.get(path)?.facts.as_ref()?.parent.as_deref()
    }

    /// Started by another session, which may be in the list too.
    fn is_part(&self, found: &Found) -> bool {
        self.parent(&found.path).is_some()
    }

    /// For each session those that it started, where both are in the list.
    fn children<'a>(&self, all: &'a [Found]) -> HashMap<&'a Path, Vec<&'a Found>> {
        let mut by_id: HashMap<&str, &Path> = HashMap::new();
        for found in all {
            let facts = self.cards.get(&found.path).and_then(|it| it.facts.as_ref());
            if let Some(id) = facts.and_then(|it| it.session.as_deref()) {
                by_id.insert(id, &found.path);
            }
        }
        let mut children: HashMap<&Path, Vec<&Found>> = HashMap::new();
        for found in all {
            let parent = self.parent(&found.path).and_then(|id| by_id.get(id));
            if let Some(parent) = parent.filter(|it| **it != found.path) {
                children.entry(parent).or_default().push(found);
            }
        }
        children
    }
}

enum Line<'a> {
    Head(SessionLine),
    Session {
        found: &'a Found,
        depth: u32,
        children: u32,
        opened: bool,
    },
}

/// The lines of the list, and how many sessions match.
fn lines<'a>(
    all: &'a [Found],
    children: &HashMap<&'a Path, Vec<&'a Found>>,
    known: &Known,
    ask: &Ask,
    inner: &Inner,
) -> (Vec<Line<'a>>, u64) {
    let below: HashSet<&Path> = children
        .values()
        .flatten()
        .map(|found| found.path.as_path())
        .collect();
    // A folder's other logs tell the project of one that was not looked into.
    let mut of_folder: HashMap<&Path, &str> = HashMap::new();
    for found in all {
        if let (Some(folder), Some(cwd)) = (found.path.parent(), known.cwd(&found.path)) {
            of_folder.entry(folder).or_insert(cwd);
        }
    }
    let words: Vec<String> = ask
        .query
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    let days = Days::now();
    let mut groups: Vec<(String, Vec<&Found>)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut matching = 0;
    for found in all {
        let hit = matches(found, known, &words, inner);
        if hit {
            matching += 1;
        }
        if below.contains(found.path.as_path()) {
            continue;
        }
        // One whose sub-agent matches is shown with it.
        let started = children.get(found.path.as_path());
        let deeper = || {
            let mut all = started.into_iter().flatten();
            all.any(|it| matches(it, known, &words, inner))
        };
        if !hit && !deeper() {
            continue;
        }
        let key = match ask.by {
            SessionsBy::Day => days.name(found.modified),
            SessionsBy::Project => {
                let own = known.cwd(&found.path);
                let fits = known
                    .cards
                    .get(&found.path)
                    .is_some_and(|it| it.fits(found));
                let guess = || of_folder.get(found.path.parent()?).copied();
                let cwd = own.or_else(|| if fits { None } else { guess() });
                cwd.map(tidy).unwrap_or_default()
            }
        };
        let at = *places.entry(key.clone()).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        if let Some((_, list)) = groups.get_mut(at) {
            list.push(found);
        }
    }
    // Those that name no folder stand at the end.
    groups.sort_by_key(|(key, _)| key.is_empty());
    let mut lines = Vec::new();
    for (key, list) in groups {
        let folded = ask.folded.contains(&key);
        lines.push(Line::Head(head(&key, &list, folded, ask.by, inner)));
        if folded {
            continue;
        }
        for found in list {
            let started = children.get(found.path.as_path());
            let source = || hold(&inner.sources).id(&found.path);
            let open = started.is_some() && (!words.is_empty() || ask.opened.contains(&source()));
            lines.push(Line::Session {
                found,
                depth: 0,
                children: started.map_or(0, |it| it.len() as u32),
                opened: open,
            });
            for part in started.into_iter().flatten().filter(|_| open) {
                if matches(part, known, &words, inner) {
                    lines.push(Line::Session {
                        found: part,
                        depth: 1,
                        children: 0,
                        opened: false,
                    });
                }
            }
        }
    }
    (lines, matching)
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
fn matches(found: &Found, known: &Known, words: &[String], inner: &Inner) -> bool {
    if words.is_empty() {
        return true;
    }
    let facts = known
        .cards
        .get(&found.path)
        .and_then(|it| it.facts.as_ref());
    let text = [
        facts.and_then(|it| it.title.as_deref()).unwrap_or_default(),
        facts.and_then(|it| it.cwd.as_deref()).unwrap_or_default(),
        facts.map_or(found.agent.name(), |it| it.format.as_str()),
        &inner.for_people(&found.path),
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
