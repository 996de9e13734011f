//! An open log: a thread reads it, puts it in order, and then follows its files. Everybody else looks.

use super::findings::Findings;
use super::lanes::{LaneBook, OnLane};
use super::look::Look;
use super::reading::{options, STRIDE};
use super::search::Searches;
use super::spending::Spending;
use crate::api::{LogView, Notice, Progress};
use chipdeck_disk::logs::{Bell, Fate, FileSource, Wake};
use chipdeck_event::Severity;
use chipdeck_ingest::{Agent, Batch, Format, LogSet, Source};
use chipdeck_replay::{SessionLanes, Timeline};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Entries that are scanned for tokens before the log is let go of.
const SCAN: u32 = 20_000;
/// The first look is at this much of the log.
const FIRST: usize = 256 << 10;
/// Progress is told this often.
const TELL: Duration = Duration::from_millis(100);
/// Findings of a log that is still being read are gathered anew this often.
const STALE: Duration = Duration::from_millis(1_000);
/// Findings that are gathered in less time than this are never behind.
const CHEAP: Duration = Duration::from_millis(10);
/// Share of the time that gathering may take: one in so many.
const COSTLY: u32 = 10;
/// A file that was written within this time is still being written: its last line may be completed.
const WRITING: Duration = Duration::from_secs(3);
/// A pause while the next bytes of a compressed file are unpacked.
const UNPACKING: Duration = Duration::from_millis(10);
/// A document that is being rewritten is read after this pause, and so often tried before it counts as lost.
const REWRITING: Duration = Duration::from_millis(150);
const REWRITES: u32 = 20;
/// A file that was written within this time, or that grew, counts as live.
const LIVE: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Opening,
    Ready,
    Failed,
    Cancelled,
}

impl Phase {
    fn as_str(self) -> &'static str {
        match self {
            Phase::Opening => "opening",
            Phase::Ready => "ready",
            Phase::Failed => "failed",
            Phase::Cancelled => "cancelled",
        }
    }
}

struct Status {
    phase: Phase,
    error: Option<String>,
    progress: Option<Progress>,
    changed: Option<&'static str>,
    format: Format,
    grew: Option<Instant>,
}

struct Gathered {
    generation: u64,
    when: Instant,
    /// How long it took.
    cost: Duration,
    findings: Arc<Findings>,
}

pub struct Log {
    pub id: String,
    pub path: PathBuf,
    pub source: Arc<FileSource>,
    timeline: RwLock<Timeline>,
    /// Counts what was appended, arranged or replaced.
    generation: AtomicU64,
    status: Mutex<Status>,
    gathered: Mutex<Option<Gathered>>,
    pub searches: Mutex<Searches>,
    lanes: Mutex<LaneBook>,
    spending: Mutex<Spending>,
    /// Position and label, sorted.
    pub bookmarks: Mutex<Vec<(u32, String)>>,
    cancelled: AtomicBool,
    closed: AtomicBool,
    bell: Mutex<Option<Bell>>,
    notices: Sender<Notice>,
    /// Folder that relative paths are restored below; told by the engine.
    pub root: Mutex<Option<String>>,
    when_read: WhenRead,
}

/// What else is to be done when all is read, before it is told.
pub type WhenRead = Box<dyn Fn(&Log) + Send + Sync>;

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Log {
    /// Starts reading in a thread of its own.
    pub fn start(
        id: String,
        path: &Path,
        source: FileSource,
        notices: Sender<Notice>,
        when_read: WhenRead,
    ) -> Arc<Log> {
        let set = LogSet::open(&source);
        let log = Arc::new(Log {
            id,
            path: path.to_owned(),
            timeline: RwLock::new(Timeline::new(options(&source, set.format()))),
            source: Arc::new(source),
            generation: AtomicU64::new(0),
            status: Mutex::new(Status {
                phase: Phase::Opening,
                error: None,
                progress: None,
                changed: None,
                format: set.format(),
                grew: None,
            }),
            gathered: Mutex::new(None),
            searches: Mutex::default(),
            lanes: Mutex::default(),
            spending: Mutex::default(),
            bookmarks: Mutex::default(),
            cancelled: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            bell: Mutex::new(None),
            notices,
            root: Mutex::new(None),
            when_read,
        });
        let own = log.clone();
        let spawned = std::thread::Builder::new()
            .name("chipdeck-log".to_owned())
            .spawn(move || own.run(set));
        if let Err(error) = spawned {
            log.fail(format!("cannot start reading: {error}"));
        }
        log
    }

    /// Ends reading; what was read stays.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.cancel();
        hold(&self.searches).cancel_all();
        if let Some(bell) = &*hold(&self.bell) {
            bell.ring();
        }
    }

    /// It will not go on: cancelled, failed, or its file is no longer what was read.
    pub fn is_over(&self) -> bool {
        let status = hold(&self.status);
        matches!(status.phase, Phase::Cancelled | Phase::Failed) || status.changed.is_some()
    }

    pub fn phase(&self) -> Phase {
        hold(&self.status).phase
    }

    pub fn format(&self) -> Format {
        hold(&self.status).format
    }

    /// Answers one question; nothing is appended meanwhile.
    pub fn look<T>(&self, ask: impl FnOnce(&Look) -> T) -> T {
        let timeline = self.timeline.read().unwrap_or_else(PoisonError::into_inner);
        let findings = self.findings(&timeline);
        ask(&Look {
            timeline: &timeline,
            source: &*self.source,
            findings,
        })
    }

    fn agent(&self) -> Option<Agent> {
        match self.format() {
            Format::Agent(agent) => Some(agent),
            _ => None,
        }
    }

    /// The lines of conversation that the log has now.
    pub fn lanes(&self, look: &Look) -> Arc<SessionLanes> {
        hold(&self.lanes).lanes(look, self.agent())
    }

    /// One of them with its past; the first one where there is no such.
    pub fn on_lane(&self, look: &Look, lane: u32) -> (u32, Arc<OnLane>) {
        hold(&self.lanes).on(look, self.agent(), lane)
    }

    /// Reads tokens and standing texts of entries that came since. The log is let go of now and then.
    pub fn scan_spending(&self) {
        let Some(agent) = self.agent() else { return };
        while self.look(|look| hold(&self.spending).scan(look, agent, SCAN)) {
            if self.closed.load(Ordering::SeqCst) {
                break;
            }
        }
    }

    /// What was scanned. To be asked for while the log is looked at, never the other way round.
    pub fn spending(&self) -> MutexGuard<'_, Spending> {
        hold(&self.spending)
    }

    /// What was worked out of entries that are no more.
    fn forget_entries(&self) {
        *hold(&self.lanes) = LaneBook::default();
        *hold(&self.spending) = Spending::default();
    }

    /// Entries now.
    pub fn count(&self) -> u32 {
        self.timeline
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    fn findings(&self, timeline: &Timeline) -> Arc<Findings> {
        let generation = self.generation();
        let opening = self.phase() == Phase::Opening;
        let mut gathered = hold(&self.gathered);
        if let Some(held) = &*gathered {
            // Those of a large log that grows are a little behind rather than always being gathered.
            let patience = if opening {
                STALE
            } else {
                (held.cost * COSTLY).min(STALE)
            };
            if held.generation == generation || held.when.elapsed() < patience {
                return held.findings.clone();
            }
        }
        let begun = Instant::now();
        let findings = Arc::new(Findings::of(timeline));
        *gathered = Some(Gathered {
            generation,
            when: Instant::now(),
            cost: begun.elapsed().saturating_sub(CHEAP),
            findings: findings.clone(),
        });
        findings
    }

    pub fn view(&self) -> LogView {
        let root = hold(&self.root).clone();
        self.look(|look| {
            let status = hold(&self.status);
            let (first_time, last_time) = look.times();
            let names =
                (0..self.source.files().min(100)).map(|file| self.source.name(file).to_string());
            let cwd = look.timeline.cwd().map(str::to_owned);
            LogView {
                log: self.id.clone(),
                title: title(&self.path, status.format, cwd.as_deref()),
                files: names.collect(),
                format: status.format.name().to_owned(),
                foreign: status.format == Format::Raw,
                phase: status.phase.as_str().to_owned(),
                error: status.error.clone(),
                progress: status.progress.clone(),
                count: u64::from(look.timeline.len()),
                first_time,
                last_time,
                live: self.is_live(&status),
                changed: status.changed.map(str::to_owned),
                root,
                cwd,
                tracks: look.totals(),
                findings_error: look.findings.count(Severity::Error),
                findings_warning: look.findings.count(Severity::Warning),
                findings_info: look.findings.count(Severity::Info),
            }
        })
    }

    /// The findings that were shown last are not all there are.
    fn is_behind(&self) -> bool {
        hold(&self.gathered)
            .as_ref()
            .is_some_and(|held| held.generation != self.generation())
    }

    fn is_live(&self, status: &Status) -> bool {
        status.phase == Phase::Ready
            && status.changed.is_none()
            && (status.grew.is_some_and(|it| it.elapsed() < LIVE)
                || self.age().is_some_and(|age| age < LIVE))
    }

    /// How long ago its files were last written.
    fn age(&self) -> Option<Duration> {
        let written = u64::try_from(self.source.modified()?).ok()?;
        let written = std::time::UNIX_EPOCH + Duration::from_millis(written);
        Some(written.elapsed().unwrap_or_default())
    }

    pub fn tell(&self) {
        // Nobody listens any more: nothing to do about it.
        let _ = self.notices.send(Notice::Log { view: self.view() });
    }

    fn fail(&self, error: String) {
        let mut status = hold(&self.status);
        status.phase = Phase::Failed;
        status.error = Some(error);
        status.progress = None;
    }

    fn run(self: Arc<Log>, mut set: LogSet) {
        let done = self.read_all(&mut set);
        let kept = match done {
            Ok(kept) => kept,
            Err(error) => {
                self.settle(&mut set, true);
                self.fail(format!("reading stopped: {error}"));
                self.tell();
                return;
            }
        };
        if self.closed.load(Ordering::SeqCst) {
            return;
        }
        // A line that the cancel cut is no damage of the log.
        let at_rest = kept && self.age().is_none_or(|age| age > WRITING);
        self.settle(&mut set, at_rest);
        {
            let mut status = hold(&self.status);
            status.progress = None;
            status.phase = if kept { Phase::Ready } else { Phase::Cancelled };
        }
        (self.when_read)(&self);
        self.tell();
        if kept {
            self.follow(set, at_rest);
        }
    }

    /// Reads to the end of what there is. False: cancelled.
    fn read_all(&self, set: &mut LogSet) -> std::io::Result<bool> {
        let begun = Instant::now();
        let mut told = None::<Instant>;
        let mut stride = FIRST;
        loop {
            if self.cancelled.load(Ordering::SeqCst) {
                self.source.stop_unpacking();
                return Ok(false);
            }
            // Asked before the reading: what comes after is then in the files.
            let unpacking = self.source.unpacking()?;
            let before = set.progress(&*self.source).read;
            let progress = set.read(&*self.source, stride, &mut |batch, source| {
                self.take(batch, source)
            })?;
            stride = STRIDE;
            let idle = progress.done() || progress.read == before;
            let done = idle && unpacking.is_none();
            let (read, total) = unpacking.unwrap_or((progress.read, progress.total));
            let view = Progress {
                read_bytes: read,
                total_bytes: total,
                entries: u64::from(self.count()),
                stage: if done { "folding" } else { "reading" }.to_owned(),
                eta_ms: eta(begun.elapsed(), read, total),
            };
            hold(&self.status).progress = Some(view.clone());
            match told {
                // The first frame: there is something to look at.
                None => self.tell(),
                Some(when) if when.elapsed() < TELL && !done => {}
                Some(_) => {
                    let _ = self.notices.send(Notice::LogProgress {
                        log: self.id.clone(),
                        progress: view,
                    });
                }
            }
            if told.is_none_or(|when| when.elapsed() >= TELL) {
                told = Some(Instant::now());
            }
            if done {
                return Ok(true);
            }
            if idle {
                std::thread::sleep(UNPACKING);
            }
        }
    }

    fn take(&self, batch: &mut Batch, source: &dyn Source) {
        let mut timeline = self
            .timeline
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        timeline.add_findings(batch.findings.drain(..));
        for entry in batch.entries.drain(..) {
            timeline.append(entry, source);
        }
        drop(timeline);
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    fn settle(&self, set: &mut LogSet, at_rest: bool) {
        set.settle(at_rest, &*self.source, &mut |batch, source| {
            self.take(batch, source)
        });
        let mut timeline = self
            .timeline
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let before = timeline.len();
        let kept = timeline.arrange(&*self.source);
        if kept < before {
            self.forget_entries();
        }
        drop(timeline);
        if kept < before {
            hold(&self.searches).forget_after(kept);
        }
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// Follows the files until the log is closed or what was read is no longer what they hold.
    fn follow(&self, mut set: LogSet, mut at_rest: bool) {
        let mut wake = Wake::new();
        let folder = if self.source.is_folder() {
            Some(self.path.as_path())
        } else {
            self.path.parent()
        };
        for folder in folder.into_iter().filter(|it| !it.as_os_str().is_empty()) {
            wake.watch(folder);
        }
        if folder.is_some_and(|it| it.as_os_str().is_empty()) {
            wake.watch(Path::new("."));
        }
        *hold(&self.bell) = Some(wake.bell());
        let mut was_live = self.is_live(&hold(&self.status));
        while !self.closed.load(Ordering::SeqCst) {
            let fates: Vec<Fate> = (0..self.source.files())
                .map(|file| self.source.look(file, set.offset(file)))
                .collect();
            let rewritten = |fate: &Fate| !matches!(fate, Fate::Same);
            if self.is_document() && fates.iter().any(rewritten) {
                if let Some(fresh) = self.anew() {
                    set = fresh;
                    at_rest = false;
                    hold(&self.status).grew = Some(Instant::now());
                    self.tell();
                    continue;
                }
                if self.closed.load(Ordering::SeqCst) {
                    return;
                }
            }
            if let Some(lost) = fates.iter().find_map(|fate| fate.lost()) {
                hold(&self.status).changed = Some(lost);
                self.tell();
                return;
            }
            let came = self.source.admit();
            if came {
                set.admit(&*self.source);
            }
            let grown = came || fates.contains(&Fate::Grown);
            if grown {
                if std::mem::take(&mut at_rest) && self.ends_torn() {
                    // Its last line was taken for torn and goes on now: read again what was read.
                    set = self.again();
                }
                hold(&self.status).grew = Some(Instant::now());
                if let Err(error) = self.read_more(&mut set) {
                    hold(&self.status).error = Some(format!("reading stopped: {error}"));
                    self.tell();
                    return;
                }
                self.settle(&mut set, false);
                at_rest = false;
            }
            // Nobody has gone on writing: what was held back is all there is.
            let rests = !grown && !at_rest && self.age().is_none_or(|age| age > WRITING);
            if rests {
                at_rest = true;
                self.settle(&mut set, true);
            }
            let live = self.is_live(&hold(&self.status));
            if grown || rests || live != was_live || self.is_behind() {
                was_live = live;
                self.tell();
            }
            // One event may come while there is more to read.
            if !grown && !wake.wait() {
                return;
            }
            // A burst of small writes becomes one step.
            if grown {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// Its writer rewrites the whole file on each change, or keeps it in a database.
    fn is_document(&self) -> bool {
        matches!(hold(&self.status).format, Format::Agent(agent) if agent.is_document())
    }

    /// Reads a rewritten document once it is whole again, beside what is shown, and shows it then: positions stay.
    /// `None`: it does not become whole, is gone, or is another log now.
    fn anew(&self) -> Option<LogSet> {
        let format = hold(&self.status).format;
        let mut pause = REWRITING;
        for _ in 0..REWRITES {
            // A burst of writes becomes one step; a large document is not read all the time.
            std::thread::sleep(pause);
            if self.closed.load(Ordering::SeqCst) {
                return None;
            }
            let begun = Instant::now();
            let Ok(source) = FileSource::open(&self.path) else {
                continue;
            };
            let mut set = LogSet::open(&source);
            if set.format() != format {
                continue;
            }
            let mut fresh = Timeline::new(options(&source, format));
            let read = read_whole(&mut set, &source, &mut fresh, &self.closed);
            pause = REWRITING.max(begun.elapsed() * 4);
            if read.is_err() || fresh.is_empty() {
                continue;
            }
            let mut timeline = self
                .timeline
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            self.source.adopt(source);
            *timeline = fresh;
            self.forget_entries();
            drop(timeline);
            hold(&self.searches).forget_after(0);
            self.generation.fetch_add(1, Ordering::SeqCst);
            return Some(set);
        }
        None
    }

    fn ends_torn(&self) -> bool {
        self.look(|look| {
            let last = look.timeline.entry(look.timeline.len());
            matches!(
                last.map(|it| &it.entry),
                Some(chipdeck_event::Entry::Opaque(opaque)) if opaque.code == chipdeck_event::Code::TornLine
            )
        })
    }

    fn again(&self) -> LogSet {
        let set = LogSet::open(&*self.source);
        let fresh = Timeline::new(options(&*self.source, set.format()));
        let mut timeline = self
            .timeline
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *timeline = fresh;
        self.forget_entries();
        drop(timeline);
        set
    }

    fn read_more(&self, set: &mut LogSet) -> std::io::Result<()> {
        loop {
            let before = set.progress(&*self.source).read;
            let progress = set.read(&*self.source, STRIDE, &mut |batch, source| {
                self.take(batch, source)
            })?;
            if progress.done() || progress.read == before || self.closed.load(Ordering::SeqCst) {
                return Ok(());
            }
        }
    }
}

/// All that a set has now, onto a timeline that nobody sees yet.
fn read_whole(
    set: &mut LogSet,
    source: &FileSource,
    timeline: &mut Timeline,
    closed: &AtomicBool,
) -> std::io::Result<()> {
    loop {
        let before = set.progress(source).read;
        let progress = set.read(source, STRIDE, &mut |batch, at| timeline.take(batch, at))?;
        if progress.done() || progress.read == before || closed.load(Ordering::SeqCst) {
            break;
        }
    }
    set.settle(false, source, &mut |batch, at| timeline.take(batch, at));
    timeline.arrange(source);
    Ok(())
}

fn eta(elapsed: Duration, read: u64, total: u64) -> Option<u64> {
    if read == 0 || elapsed < TELL {
        return None;
    }
    let left = total.saturating_sub(read) as f64 / read as f64;
    Some((elapsed.as_millis() as f64 * left) as u64)
}

/// What a log is called: its project where an agent's log names one, else its file or folder.
pub fn title(path: &Path, format: Format, cwd: Option<&str>) -> String {
    let project = cwd.and_then(|cwd| cwd.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next());
    match project.filter(|it| !it.is_empty()) {
        Some(project) if !format.is_canonical() && format != Format::Raw => project.to_owned(),
        _ => path.file_name().map_or_else(
            || path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        ),
    }
}
