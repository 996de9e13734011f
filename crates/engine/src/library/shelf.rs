//! The sessions of this machine: a thread of its own finds them, looks into each, and then counts them all, a little
//! at a time. Requests only read what is known by then; what a person sees comes first.
//!
//! Left out: what a session says (`facts`), and rows for the page (`rows`).

use super::cards::{self, Card};
use super::facts::{self, Counting};
use crate::api::Notice;
use crate::archiving::Archiving;
use crate::engine::{hold, read, Inner};
use crate::log::Phase;
use chipdeck_disk::logs::{in_projects, newest_first, places, Bell, Found, Homes, Wake, Woken};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How old the list may be where no event tells of a new session.
const SELDOM: Duration = Duration::from_secs(15);
/// Between two scans at least, and so many times what the last one took.
const OFTEN: Duration = Duration::from_millis(400);
const COSTLY: u32 = 20;
/// Folders that are watched: those that changed last.
const MOST_WATCHED: usize = 256;
/// The thread works so long at once, and rests twice as long as it counted.
const PIECE: Duration = Duration::from_millis(40);
const REST: u32 = 2;
/// Logs that are taken up at once.
const SLICE: usize = 1_000;
/// The page is told at most this often while facts and counts come in.
const TELL: Duration = Duration::from_millis(700);
const TELL_COUNTS: Duration = Duration::from_millis(1_500);
/// The cards are written at most this often.
const KEEP: Duration = Duration::from_secs(10);
/// A log that was written within this time is counted later.
const WRITING: i64 = 30_000;
/// A request waits so long for the first scan, and looks so long into what it shows.
const FIRST: Duration = Duration::from_millis(400);
const LOOK: Duration = Duration::from_millis(80);

#[derive(Default)]
pub struct Shelf {
    inside: Mutex<Inside>,
    scanned: Condvar,
    bell: Mutex<Option<Bell>>,
}

#[derive(Default)]
struct Inside {
    found: Arc<Vec<Found>>,
    /// Shared with those that look; copied when it changes meanwhile.
    cards: Arc<HashMap<PathBuf, Arc<Card>>>,
    /// All places were looked at once.
    scanned: bool,
    /// What the page shows: looked into and counted first.
    wanted: Vec<PathBuf>,
    /// Cards that are not written yet.
    unkept: bool,
}

/// What is known now.
pub struct Known {
    pub found: Arc<Vec<Found>>,
    pub cards: Arc<HashMap<PathBuf, Arc<Card>>>,
    pub scanning: bool,
}

impl Shelf {
    /// Places changed: they are looked at soon.
    pub fn look_again(&self) {
        if let Some(bell) = &*hold(&self.bell) {
            bell.ring();
        }
    }

    /// What is known now; right after the start it waits a little.
    pub fn known(&self) -> Known {
        let mut inside = hold(&self.inside);
        if !inside.scanned && hold(&self.bell).is_some() {
            let waited = self
                .scanned
                .wait_timeout_while(inside, FIRST, |it| !it.scanned);
            inside = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Known {
            found: inside.found.clone(),
            cards: inside.cards.clone(),
            scanning: !inside.scanned && hold(&self.bell).is_some(),
        }
    }

    /// Looks into what will be shown, as far as that is quick, and has the rest done first.
    pub fn want(&self, shown: &[Found], known: &mut Known) {
        let begun = Instant::now();
        for found in shown {
            if known
                .cards
                .get(&found.path)
                .is_some_and(|it| it.fits(found))
            {
                continue;
            }
            if begun.elapsed() > LOOK {
                break;
            }
            let card = self.look(found);
            Arc::make_mut(&mut known.cards).insert(found.path.clone(), card);
        }
        // The thread sees it when it takes up the next ones; when it rests there is nothing left to do.
        hold(&self.inside).wanted = shown.iter().map(|it| it.path.clone()).collect();
    }

    /// Looks into one log and keeps its card.
    pub fn look(&self, found: &Found) -> Arc<Card> {
        let before = hold(&self.inside).cards.get(&found.path).cloned();
        let kept = before.as_deref().filter(|it| it.fits(found)).cloned();
        let compared = kept.and_then(|it| it.compared(&found.path));
        let card = compared
            .unwrap_or_else(|| Card::new(found, facts::look(found), before.as_deref().cloned()));
        let card = Arc::new(card);
        let mut inside = hold(&self.inside);
        Arc::make_mut(&mut inside.cards).insert(found.path.clone(), card.clone());
        inside.unkept = true;
        card
    }

    fn put(&self, found: Vec<Found>, done: bool) -> bool {
        let mut inside = hold(&self.inside);
        let other = *inside.found != found || (done && !inside.scanned);
        if other {
            inside.found = Arc::new(found);
        }
        inside.scanned |= done;
        self.scanned.notify_all();
        other
    }

    /// Logs that were not looked into as they are now: shown ones, one of each folder, then the newest.
    fn unlooked(&self) -> Vec<Found> {
        let inside = hold(&self.inside);
        let open = |found: &&Found| {
            let card = inside.cards.get(&found.path);
            !card.is_some_and(|it| it.fits(found) && it.is_sure())
        };
        let wanted: HashSet<&OsStr> = inside.wanted.iter().map(|it| it.as_os_str()).collect();
        let mut folders: HashSet<&OsStr> = HashSet::new();
        let (mut first, mut then) = (Vec::new(), Vec::new());
        for found in inside.found.iter() {
            let folder = found.path.parent().map(Path::as_os_str).unwrap_or_default();
            let strange = folders.insert(folder);
            if !open(&found) {
                continue;
            }
            if strange || wanted.contains(found.path.as_os_str()) {
                first.push(found.clone());
            } else if then.len() < SLICE {
                then.push(found.clone());
            }
            if first.len() >= SLICE {
                break;
            }
        }
        first.append(&mut then);
        first.truncate(SLICE);
        first
    }

    /// Logs whose counts are not those of what they hold now, shown ones first.
    fn uncounted(&self, now: i64) -> Vec<Found> {
        let inside = hold(&self.inside);
        let open = |found: &&Found| {
            let card = inside.cards.get(&found.path);
            card.is_some_and(|it| it.fits(found) && it.facts.is_some() && !it.is_counted(found))
                && found.modified.is_none_or(|at| now - at > WRITING)
        };
        let wanted: HashSet<&PathBuf> = inside.wanted.iter().collect();
        let shown = inside.found.iter().filter(|it| wanted.contains(&it.path));
        let mut list: Vec<Found> = shown.filter(open).take(SLICE).cloned().collect();
        if list.is_empty() {
            list = inside
                .found
                .iter()
                .filter(open)
                .take(SLICE)
                .cloned()
                .collect();
        }
        list
    }

    fn counted(&self, counting: &Counting, counts: crate::api::SessionCounts) {
        let mut inside = hold(&self.inside);
        if let Some(card) = Arc::make_mut(&mut inside.cards).get_mut(&counting.found.path) {
            Arc::make_mut(card).count(&counting.found, counts);
            inside.unkept = true;
        }
    }

    /// Folders of this machine that sessions ran in.
    fn projects(&self) -> Vec<PathBuf> {
        let inside = hold(&self.inside);
        let mut found: Vec<PathBuf> = inside
            .cards
            .values()
            .filter_map(|card| card.facts.as_ref()?.cwd.as_deref().map(PathBuf::from))
            .filter(|path| path.is_absolute())
            .collect();
        found.sort();
        found.dedup();
        found
    }
}

/// Starts the thread; it ends with the engine.
pub fn start(inner: Weak<Inner>) {
    let Some(strong) = inner.upgrade() else {
        return;
    };
    if strong.config.homes.is_none() {
        return;
    }
    let wake = Wake::new();
    *hold(&strong.shelf.bell) = Some(wake.bell());
    drop(strong);
    let mut worker = Worker {
        wake,
        waiting: Vec::new(),
        counting: None,
        scanned: None,
        cost: Duration::ZERO,
        told: Instant::now(),
        kept: Instant::now(),
        untold: false,
        archiving: Archiving::default(),
    };
    // Without a thread the list stays empty; logs are opened by their names.
    let _ = std::thread::Builder::new()
        .name("chipdeck-library".to_owned())
        .spawn(move || worker.run(&inner));
}

struct Worker {
    wake: Wake,
    /// To be looked into, the next one last.
    waiting: Vec<Found>,
    counting: Option<Counting>,
    /// When the last scan ended, and what it took.
    scanned: Option<Instant>,
    cost: Duration,
    told: Instant,
    kept: Instant,
    /// Something changed that the page does not know.
    untold: bool,
    archiving: Archiving,
}

impl Worker {
    fn run(&mut self, weak: &Weak<Inner>) {
        let file = {
            let Some(inner) = weak.upgrade() else { return };
            let file = inner.config.places.cache.join("library.json");
            let cards = cards::load(&file);
            hold(&inner.shelf.inside).cards = Arc::new(cards);
            file
        };
        let mut due = true;
        loop {
            let Some(inner) = weak.upgrade() else { return };
            let pause = OFTEN.max(self.cost * COSTLY);
            let rested = self.scanned.is_none_or(|at| at.elapsed() >= pause);
            let old = self.scanned.is_none_or(|at| at.elapsed() >= SELDOM);
            if (due && rested) || old {
                due = false;
                self.scan(&inner);
            }
            let work = self.work(&inner);
            self.keep(&inner, &file, work == Work::None);
            self.tell(&inner, work);
            drop(inner);
            let patience = match work {
                // The page draws meanwhile.
                Work::Looked => PIECE / 2,
                Work::Counted(took) => took * REST,
                Work::None if due => pause,
                Work::None if self.untold => TELL,
                Work::None => Duration::from_secs(2),
            };
            match self.wake.wait_for(patience) {
                Woken::Rung => due = true,
                Woken::Patience => {}
                Woken::Alone => return,
            }
        }
    }

    fn scan(&mut self, inner: &Inner) {
        let begun = Instant::now();
        let Some(homes) = inner.homes() else { return };
        let first = self.scanned.is_none();
        let mut found: Vec<Found> = Vec::new();
        let mut folders: Vec<(PathBuf, i64)> = Vec::new();
        for place in places(&homes) {
            let look = place.look();
            folders.extend(look.folders);
            if look.found.is_empty() {
                continue;
            }
            found.extend(look.found);
            // The first ones are shown while slow places are still looked at.
            if first && begun.elapsed() > OFTEN {
                newest_first(&mut found);
                self.untold |= inner.shelf.put(found.clone(), false);
                self.tell(inner, Work::Looked);
            }
        }
        let projects = inner.shelf.projects();
        found.extend(in_projects(projects.iter().map(PathBuf::as_path)));
        found.extend(self.archiving.gone(inner, &found));
        newest_first(&mut found);
        let other = inner.shelf.put(found, true);
        if other {
            self.waiting.clear();
        }
        self.untold |= other;
        folders.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        folders.truncate(MOST_WATCHED);
        let folders = folders.into_iter().map(|(folder, _)| folder).collect();
        self.wake.watch_only(&folders);
        self.cost = begun.elapsed();
        self.scanned = Some(Instant::now());
    }

    fn work(&mut self, inner: &Inner) -> Work {
        let begun = Instant::now();
        let mut looked = false;
        // Going through thousands to find those is not for every piece.
        if self.waiting.is_empty() {
            self.waiting = inner.shelf.unlooked();
            self.waiting.reverse();
        }
        let begun_looking = Instant::now();
        while let Some(found) = self.waiting.pop() {
            inner.shelf.look(&found);
            looked = true;
            if begun_looking.elapsed() >= PIECE {
                break;
            }
        }
        if looked {
            self.untold = true;
            return Work::Looked;
        }
        // A person waits for a log: that comes first.
        let opening = read(&inner.logs)
            .iter()
            .any(|log| log.phase() == Phase::Opening);
        if opening {
            return Work::None;
        }
        let mut next = Vec::new().into_iter();
        if self.counting.is_none() {
            next = inner.shelf.uncounted(crate::engine::now_ms()).into_iter();
        }
        while begun.elapsed() < PIECE {
            if self.counting.is_none() {
                let Some(found) = next.next() else {
                    break;
                };
                self.counting = Counting::start(&found);
                if self.counting.is_none() {
                    inner.shelf.look(&found);
                    break;
                }
            }
            let Some(counting) = &mut self.counting else {
                break;
            };
            if let Some(counts) = counting.go_on() {
                inner.shelf.counted(counting, counts);
                self.counting = None;
                self.untold = true;
            }
        }
        if self.counting.is_none() && !self.untold {
            let found = hold(&inner.shelf.inside).found.clone();
            if let Some(took) = self.archiving.go_on(inner, &found) {
                return Work::Counted(took);
            }
        }
        match self.counting {
            None if !self.untold => Work::None,
            _ => Work::Counted(begun.elapsed()),
        }
    }

    fn tell(&mut self, inner: &Inner, work: Work) {
        let pause = match work {
            Work::Counted(_) => TELL_COUNTS,
            _ => TELL,
        };
        if self.untold && self.told.elapsed() >= pause {
            self.told = Instant::now();
            self.untold = false;
            inner.tell(Notice::LibraryChanged);
        }
    }

    fn keep(&mut self, inner: &Inner, file: &Path, idle: bool) {
        let pause = if idle { Duration::from_secs(1) } else { KEEP };
        if self.kept.elapsed() < pause {
            return;
        }
        self.kept = Instant::now();
        let text = {
            let mut inside = hold(&inner.shelf.inside);
            if !inside.scanned || !std::mem::take(&mut inside.unkept) {
                return;
            }
            let found: HashSet<&PathBuf> = inside.found.iter().map(|it| &it.path).collect();
            cards::text(inside.cards.iter().filter(|(path, _)| found.contains(path)))
        };
        // It is a cache: what cannot be kept is looked at again.
        let _ = chipdeck_disk::own::write(file, &text);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Work {
    None,
    Looked,
    Counted(Duration),
}

impl Inner {
    /// Where logs are looked for: those of this machine, and what the settings give.
    pub(crate) fn homes(&self) -> Option<Homes> {
        let homes = self.config.homes.clone()?;
        let settings = read(&self.settings);
        Some(homes.with(
            &settings.texts("library.homes"),
            &settings.texts("library.folders"),
        ))
    }
}
