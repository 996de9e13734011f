//! Requests about one log that need more than a look at it: searches, steps, the disk, bookmarks.

use crate::api::*;
use crate::engine::{hold, read, Answer, Inner};
use crate::filter::Filter;
use crate::log::{Ahead, Log, Look, Marked, Search};
use crate::restoring::image_side;
use chipdeck_disk::chips::archive_dir;
use chipdeck_disk::restore::Located;
use chipdeck_replay::Lanes;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Entries that a background search looks at before it lets go of the log.
const STRIDE: u32 = 2_000;

/// A search answers at once for this long, and tells how far it is this often.
const AT_ONCE: Duration = Duration::from_millis(30);
const TELL: Duration = Duration::from_millis(100);

pub(crate) fn bookmark_rows(log: &Log) -> Vec<Bookmark> {
    let bookmarks = hold(&log.bookmarks);
    bookmarks
        .iter()
        .map(|(index, label)| Bookmark {
            index: u64::from(*index),
            label: label.clone(),
        })
        .collect()
}

impl Inner {
    pub(crate) fn tracks(&self, id: &str, query: &TracksQuery) -> Answer<TracksView> {
        let log = self.log(id)?;
        let hits = match &query.search {
            Some(search) => self.found(&log, search)?.entries,
            None => Arc::default(),
        };
        let bookmarks = hold(&log.bookmarks).clone();
        Ok(log.look(|look| {
            let lanes = query.lanes.then(|| log.lanes(look));
            look.tracks(
                query,
                &Marked {
                    lanes: lanes.as_deref(),
                    hits: &hits,
                    bookmarks: &bookmarks,
                },
            )
        }))
    }

    pub(crate) fn diff(
        &self,
        id: &str,
        path: &str,
        at: u64,
        against: &Against,
        context: u32,
    ) -> Answer<DiffView> {
        let log = self.log(id)?;
        if *against != Against::Disk {
            return Ok(log.look(|look| look.diff(path, at, against, context)));
        }
        let image = self.on_disk(&log, path)?;
        Ok(log.look(|look| {
            let mut text = None;
            let old = look.side(path, look.position(at), &mut text);
            crate::diff::view(path, old, image_side("disk now", &image), context)
        }))
    }

    pub(crate) fn step(
        &self,
        id: &str,
        from: u64,
        by: &StepBy,
        forward: bool,
    ) -> Answer<Option<u64>> {
        let log = self.log(id)?;
        let at = log.look(|look| look.position(from));
        let lanes = |lanes: &[Lanes]| log.look(|look| look.step_lane(lanes, at, forward));
        let next = match by {
            StepBy::Event if forward => (at < log.count()).then_some(at + 1),
            StepBy::Event => at.checked_sub(1),
            StepBy::ToolCall => lanes(&[Lanes::TOOL]),
            StepBy::Error => lanes(&[Lanes::ERROR, Lanes::TOOL_FAILED]),
            StepBy::FileChange { path } => {
                let changes = log.look(|look| look.change_indices(path));
                Look::step_list(&changes, at, forward)
            }
            StepBy::Bookmark => {
                let places: Vec<u32> = hold(&log.bookmarks)
                    .iter()
                    .map(|(index, _)| *index)
                    .collect();
                Look::step_list(&places, at, forward)
            }
            StepBy::Hit { search } => {
                Look::step_list(&self.found(&log, search)?.entries, at, forward)
            }
            StepBy::Filter { filter } => self.step_filter(&log, filter, at, forward)?,
        };
        Ok(next.map(u64::from))
    }

    fn filter(&self, log: &Log, text: &str) -> Result<Filter, crate::filter::Fault> {
        log.look(|look| {
            Filter::parse(text, &|n| {
                crate::log::position(look.timeline, n).map(u64::from)
            })
        })
    }

    /// The nearest entry that matches. The log is let go of now and then, so that it can grow meanwhile.
    pub(crate) fn step_filter(
        &self,
        log: &Log,
        text: &str,
        from: u32,
        forward: bool,
    ) -> Answer<Option<u32>> {
        let filter = self
            .filter(log, text)
            .map_err(|fault| ApiError::new("bad-request", format!("{fault}.")))?;
        let ahead = RefCell::new(Ahead::default());
        let mut at = from;
        loop {
            let (found, next) = log.look(|look| {
                let last = look.timeline.len();
                let end = if forward {
                    at.saturating_add(STRIDE).min(last)
                } else {
                    at.saturating_sub(STRIDE).max(1)
                };
                let matches = |index: &u32| look.matches(&filter, *index, &ahead);
                let found = if forward {
                    (at + 1..=end).find(matches)
                } else {
                    (end..at).rev().find(matches)
                };
                let more = if forward { end < last } else { end > 1 };
                (found, more.then_some(end))
            });
            match (found, next) {
                (Some(index), _) => return Ok(Some(index)),
                (None, Some(next)) => at = next,
                (None, None) => return Ok(None),
            }
        }
    }

    pub(crate) fn search(&self, id: &str, text: &str) -> Answer<SearchView> {
        let log = self.log(id)?;
        let filter = match self.filter(&log, text) {
            Ok(filter) => filter,
            Err(fault) => {
                return Ok(SearchView {
                    search: String::new(),
                    total: 0,
                    scanned: 0,
                    done: true,
                    fault: Some(fault.to_string()),
                });
            }
        };
        let search = hold(&log.searches).add(filter);
        self.search_on(&log, &search)?;
        let hits = search.hits();
        Ok(SearchView {
            search: search.id.clone(),
            total: hits.entries.len() as u64,
            scanned: u64::from(hits.scanned),
            done: hits.done,
            fault: None,
        })
    }

    /// Goes on with a search: for a moment here, then beside everything else.
    fn search_on(&self, log: &Arc<Log>, search: &Arc<Search>) -> Answer<()> {
        // Most logs are searched before the page could ask again.
        let begun = Instant::now();
        while log.look(|look| search.step(look, STRIDE)) {
            if begun.elapsed() < AT_ONCE {
                continue;
            }
            if search.begin() {
                let (own, log, notices) = (search.clone(), log.clone(), self.notices.clone());
                let run = move || search_beside(&own, &log, &notices);
                let spawned = std::thread::Builder::new()
                    .name("chipdeck-search".to_owned())
                    .spawn(run);
                spawned.map_err(|error| {
                    search.end();
                    ApiError::new("io", format!("The search could not be started: {error}."))
                })?;
            }
            break;
        }
        Ok(())
    }

    fn found(&self, log: &Arc<Log>, search: &str) -> Answer<crate::log::Hits> {
        let found = hold(&log.searches).get(search);
        let search = found.ok_or_else(|| ApiError::new("not-found", "That search is over."))?;
        // A log that grew since is searched on.
        if !search.is_running() {
            self.search_on(log, &search)?;
        }
        Ok(search.hits())
    }

    pub(crate) fn hits(
        &self,
        id: &str,
        search: &str,
        offset: u64,
        limit: u64,
    ) -> Answer<Page<EntryRow>> {
        let log = self.log(id)?;
        let hits = self.found(&log, search)?.entries;
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let take = usize::try_from(limit.min(2_000)).unwrap_or(0);
        let rows = log.look(|look| {
            hits.iter()
                .skip(skip)
                .take(take)
                .filter_map(|index| look.row(*index))
                .collect()
        });
        Ok(Page {
            offset,
            total: hits.len() as u64,
            rows,
        })
    }

    pub(crate) fn reveal_path(&self, what: &RevealTarget) -> Answer<PathBuf> {
        let gone =
            |what: &str| ApiError::new("not-found", format!("{what} is not on this machine."));
        match what {
            RevealTarget::LogFile { log } => Ok(self.log(log)?.path.clone()),
            RevealTarget::File { log, path } => {
                let log = self.log(log)?;
                let cwd = log.look(|look| look.timeline.cwd().map(str::to_owned));
                match read(&self.roots).locate(path, cwd.as_deref()) {
                    Located::Inside { root, path } => Ok(root.path().join(path)),
                    Located::Ask { folder, file } => Ok(folder.join(file)),
                    Located::Never(_) => Err(gone(path)),
                }
            }
            RevealTarget::Chip { chip } => {
                let path = self.chips.detail(chip)?.entry.path;
                if path.exists() {
                    Ok(path)
                } else {
                    Err(gone("The chip's file"))
                }
            }
            RevealTarget::ChipFolder => Ok(self.chips.list().folder.clone()),
            RevealTarget::Archive => Ok(archive_dir(&self.config.places)),
        }
    }

    pub(crate) fn set_bookmark(
        &self,
        id: &str,
        index: u64,
        label: Option<String>,
    ) -> Answer<Vec<Bookmark>> {
        let log = self.log(id)?;
        let at = log.look(|look| look.position(index));
        {
            let mut bookmarks = hold(&log.bookmarks);
            bookmarks.retain(|(it, _)| *it != at);
            if let Some(label) = label {
                let label = crate::log::one_line(&label, 200);
                let place = bookmarks.partition_point(|(it, _)| *it < at);
                bookmarks.insert(place, (at, label));
            }
            self.kept
                .save_bookmarks(&log.source, &bookmarks)
                .map_err(|error| {
                    ApiError::new("io", format!("The bookmarks cannot be written: {error}."))
                })?;
        }
        Ok(bookmark_rows(&log))
    }
}

fn search_beside(search: &Search, log: &Log, notices: &Sender<Notice>) {
    let mut told = Instant::now();
    loop {
        let more = log.look(|look| search.step(look, STRIDE));
        if search.is_cancelled() {
            break;
        }
        if !more || told.elapsed() >= TELL {
            told = Instant::now();
            let hits = search.hits();
            let told = notices.send(Notice::SearchProgress {
                log: log.id.clone(),
                search: search.id.clone(),
                total: hits.entries.len() as u64,
                scanned: u64::from(hits.scanned),
                done: !more,
            });
            if told.is_err() {
                break;
            }
        }
        if !more {
            break;
        }
    }
    search.end();
}
