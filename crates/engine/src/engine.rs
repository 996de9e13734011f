//! The engine: what is open, what was allowed, and the door that answers requests.
//!
//! Left out: native dialogues, the file manager and the drop itself (the desktop's), and every view's content (the
//! modules beside this one).

use crate::api::*;
use crate::asking::bookmark_rows;
use crate::authors::Authors;
use crate::chips::Chips;
use crate::config::Config;
use crate::events::{self, Deep};
use crate::kept::Kept;
use crate::library::{self, Ask, Shelf};
use crate::log::Log;
use crate::looking::{self, Looking};
use crate::opening::Sources;
use crate::restoring::Plans;
use crate::settings::Settings;
use chipdeck_disk::own;
use chipdeck_disk::restore::{Journal, Roots};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak,
};

/// Where paths came from: what a person opened becomes a root, what was opened again does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Argument,
    Drop,
    Dialogue,
    SecondStart,
    /// From the list of recent logs and of those found on this machine.
    Recent,
}

/// What a person allowed in the native dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    OnlyThisFile,
    ThisFolder,
}

/// Answers requests from any thread; clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub config: Config,
    pub notices: Sender<Notice>,
    pub settings: RwLock<Settings>,
    pub logs: RwLock<Vec<Arc<Log>>>,
    pub focus: Mutex<Option<String>>,
    pub roots: RwLock<Roots>,
    pub sources: Mutex<Sources>,
    pub kept: Kept,
    pub chips: Chips,
    pub journal: Journal,
    pub plans: Mutex<Plans>,
    pub demo: AtomicBool,
    /// Workspace ids of the roots: finding them may start git.
    pub workspaces: Mutex<HashMap<PathBuf, Vec<String>>>,
    pub looking: Looking,
    pub deep: Deep,
    pub authors: Authors,
    pub shelf: Shelf,
    /// Itself, for threads of its own.
    pub own: Weak<Inner>,
    next: AtomicU64,
}

pub(crate) fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

impl ApiError {
    /// A refusal of this code, in one sentence.
    pub fn new(code: &str, message: impl Into<String>) -> ApiError {
        ApiError {
            code: code.to_owned(),
            message: message.into(),
            hint: None,
            why: None,
            about: Vec::new(),
        }
    }

    /// What exactly, as in the table of `api::codes`.
    pub fn why(mut self, why: &str) -> ApiError {
        debug_assert!(crate::api::codes::WHYS.contains(&why), "{why}");
        self.why = Some(why.to_owned());
        self
    }

    /// What it is about: one more name, id or count.
    pub fn about(mut self, what: impl std::fmt::Display) -> ApiError {
        self.about.push(what.to_string());
        self
    }

    /// What to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> ApiError {
        self.hint = Some(hint.into());
        self
    }
}

pub(crate) type Answer<T> = Result<T, ApiError>;

impl Engine {
    /// Reads the settings, watches the chip folder, settles what a crash of ours left. Never fails: what cannot be
    /// read is a fault in a view. Notices end when the last clone is dropped.
    pub fn start(config: Config) -> (Engine, Receiver<Notice>) {
        let (notices, receiver) = channel();
        let file = own::read(&config.places.settings())
            .ok()
            .flatten()
            .unwrap_or_default();
        let settings =
            Settings::layered(&file, config.environment.clone(), config.arguments.clone());
        let chips = Chips::start(&config, &settings, notices.clone());
        let journal = Journal::new(&config.places);
        if let Err(error) = journal.settle(now_ms()) {
            let text = format!("A restore that broke off could not be settled: {error}.");
            let _ = notices.send(Notice::Message {
                level: "error".to_owned(),
                text,
            });
        }
        let inner = |own: &Weak<Inner>| Inner {
            settings: RwLock::new(settings),
            logs: RwLock::default(),
            focus: Mutex::default(),
            roots: RwLock::default(),
            sources: Mutex::default(),
            kept: Kept::load(&config.places),
            chips,
            journal,
            plans: Mutex::default(),
            demo: AtomicBool::new(false),
            workspaces: Mutex::default(),
            looking: Looking::default(),
            deep: Deep::default(),
            authors: Authors::default(),
            shelf: Shelf::default(),
            own: own.clone(),
            next: AtomicU64::new(1),
            notices,
            config,
        };
        let engine = Engine {
            inner: Arc::new_cyclic(inner),
        };
        looking::start(Arc::downgrade(&engine.inner));
        library::start(Arc::downgrade(&engine.inner));
        crate::exporting::warm();
        (engine, receiver)
    }

    /// Answers a request. May read files and take a moment: not for a thread that draws.
    ///
    /// # Errors
    /// Codes are listed at [`ApiError`]; `host-only` for what only the desktop can do.
    pub fn handle(&self, request: Request) -> Answer<Reply> {
        let inner = &self.inner;
        Ok(match request {
            Request::Hello {} => Reply::Hello(inner.hello()),
            Request::Library {} => Reply::Library(inner.library()),
            Request::Sessions {
                query,
                by,
                folded,
                opened,
                offset,
                limit,
            } => Reply::Sessions(inner.session_lines(&Ask {
                query: &query,
                by,
                folded: &folded,
                opened: &opened,
                offset,
                limit,
            })),
            Request::PickFiles {}
            | Request::PickFolder {}
            | Request::AllowRoot { .. }
            | Request::Export { .. }
            | Request::SaveBranch { .. }
            | Request::Reveal { .. } => {
                return Err(ApiError::new("host-only", "Only the window can do that."));
            }
            Request::OpenSource { source } => Reply::OpenSource(self.open_source(&source)?),
            Request::OpenDemo {} => Reply::OpenDemo(self.open_demo()?),
            Request::CloseLog { log } => Reply::CloseLog(inner.close_log(&log)?),
            Request::CancelOpen { log } => {
                inner.log(&log)?.cancel();
                Reply::CancelOpen(Done {})
            }
            Request::ReviewExport { log, what } => {
                Reply::ReviewExport(inner.review_export(&log, &what)?)
            }
            Request::SecretsIn { texts } => Reply::SecretsIn(crate::exporting::secrets_in(&texts)),
            Request::GetSettings {} => Reply::GetSettings(inner.settings_view()),
            Request::SetSetting { key, value } => {
                Reply::SetSetting(inner.set_setting(&key, value)?)
            }

            Request::Log { log } => Reply::Log(inner.log_view(&log)?),
            Request::Moment { log, at, path } => Reply::Moment(
                inner
                    .log(&log)?
                    .look(|look| look.moment(at, path.as_deref())),
            ),
            Request::Tracks { log, query } => Reply::Tracks(inner.tracks(&log, &query)?),
            Request::Locate { log, target } => {
                let located = inner.log(&log)?.look(|look| look.locate(&target));
                Reply::Locate(located.map_err(|message| ApiError::new("not-found", message))?)
            }
            Request::Step {
                log,
                from,
                by,
                forward,
                lane,
            } => Reply::Step(inner.step_on(&log, from, &by, forward, lane)?),
            Request::Tree {
                log,
                at,
                mode,
                query,
                offset,
                limit,
            } => Reply::Tree(
                inner
                    .log(&log)?
                    .look(|look| look.tree(at, mode, &query, offset, limit)),
            ),
            Request::File {
                log,
                path,
                at,
                from_line,
                limit,
            } => {
                let view = inner
                    .log(&log)?
                    .look(|look| look.file(&path, at, from_line, limit));
                Reply::File(view.ok_or_else(|| no_path(&path))?)
            }
            Request::Diff {
                log,
                path,
                at,
                against,
                context,
            } => Reply::Diff(inner.diff(&log, &path, at, &against, context)?),
            Request::FileHistory { log, path } => {
                Reply::FileHistory(inner.log(&log)?.look(|look| look.history(&path)))
            }
            Request::Dialogue {
                log,
                at,
                offset,
                limit,
                lane,
            } => Reply::Dialogue(inner.dialogue(&log, at, offset, limit, lane)?),
            Request::Lanes { log } => Reply::Lanes(inner.lanes(&log)?),
            Request::Context { log, at, lane } => Reply::Context(inner.context(&log, at, lane)?),
            Request::ContextRows {
                log,
                at,
                lane,
                dropped,
                offset,
                limit,
            } => Reply::ContextRows(inner.context_rows(&log, at, lane, dropped, offset, limit)?),
            Request::Turns {
                log,
                at,
                lane,
                offset,
                limit,
            } => Reply::Turns(inner.turns(&log, at, lane, offset, limit)?),
            Request::Tools {
                log,
                at,
                offset,
                limit,
                only,
            } => Reply::Tools(
                inner
                    .log(&log)?
                    .look(|look| look.tools(at, offset, limit, only.as_deref())),
            ),
            Request::LogChips { log, at } => {
                let mut rows = inner.log(&log)?.look(|look| look.chips(at));
                for row in &mut rows {
                    row.chip = inner.chips.find(&row.id);
                }
                Reply::LogChips(rows)
            }
            Request::Findings {
                log,
                severity,
                offset,
                limit,
            } => Reply::Findings(
                inner
                    .log(&log)?
                    .look(|look| look.findings(severity.as_deref(), offset, limit)),
            ),
            Request::Entries {
                log,
                offset,
                limit,
                lane,
                after,
            } => Reply::Entries(inner.entries(&log, after.ok_or(offset), limit, lane)?),
            Request::Event { log, index } => {
                let view = inner.log(&log)?.look(|look| look.event(index));
                Reply::Event(view.ok_or_else(|| no_entry(index))?)
            }
            Request::EventText {
                log,
                index,
                pointer,
                offset,
                limit,
            } => {
                let slice = inner
                    .log(&log)?
                    .look(|look| look.event_text(index, &pointer, offset, limit));
                Reply::EventText(slice.map_err(|message| ApiError::new("not-found", message))?)
            }
            Request::Search { log, filter } => Reply::Search(inner.search(&log, &filter)?),
            Request::Hits {
                log,
                search,
                offset,
                limit,
            } => Reply::Hits(inner.hits(&log, &search, offset, limit)?),
            Request::Bookmarks { log } => Reply::Bookmarks(bookmark_rows(&*inner.log(&log)?)),
            Request::SetBookmark { log, index, label } => {
                Reply::SetBookmark(inner.set_bookmark(&log, index, label)?)
            }
            Request::Palette { log, at, query } => Reply::Palette(match log {
                Some(log) => inner.log(&log)?.look(|look| look.palette(at, &query)),
                None => PaletteView {
                    files: Vec::new(),
                    code: Vec::new(),
                    events: Vec::new(),
                },
            }),

            Request::Projects {} => Reply::Projects(inner.projects()),
            Request::ProjectFiles {
                project,
                query,
                offset,
                limit,
            } => Reply::ProjectFiles(inner.project_files(&project, &query, offset, limit)?),
            Request::ProjectOf { log, path } => Reply::ProjectOf(inner.project_of(&log, &path)?),
            Request::PathHistory {
                project,
                path,
                anew,
            } => Reply::PathHistory(inner.path_history(&project, &path, anew)?),
            Request::PathDiff {
                history,
                version,
                against,
                context,
            } => Reply::PathDiff(inner.path_diff(&history, &version, &against, context)?),
            Request::StopGathering { of } => {
                inner.stop_gathering(&of);
                Reply::StopGathering(Done {})
            }
            Request::Evidence { log, path } => Reply::Evidence(inner.evidence(&log, &path)?),

            Request::Drifts { log, offset, limit } => {
                Reply::Drifts(inner.log(&log)?.look(|look| look.drifts(offset, limit)))
            }
            Request::PlanRepair { log } => Reply::PlanRepair(inner.plan_repair(&log)?),
            Request::ApplyRepair { repair } => Reply::ApplyRepair(inner.apply_repair(&repair)?),
            Request::Schemas {} => Reply::Schemas(events::schemas()),
            Request::CheckPayload {
                event_type,
                payload,
            } => Reply::CheckPayload(events::faults(&event_type, &payload)),
            Request::OpenBranch { log, edits } => {
                Reply::OpenBranch(inner.open_branch(&log, &edits)?)
            }
            Request::Branches { log } => Reply::Branches(inner.branches(&log)),
            Request::CompareLogs { left, right } => {
                Reply::CompareLogs(inner.compare(&left, &right)?)
            }
            Request::Differences {
                left,
                right,
                part,
                offset,
                limit,
            } => Reply::Differences(inner.difference_rows((&left, &right), part, offset, limit)?),
            Request::DifferenceDiff {
                left,
                right,
                path,
                context,
            } => Reply::DifferenceDiff(inner.difference_diff((&left, &right), &path, context)?),
            Request::Diagnose { log } => Reply::Diagnose(inner.diagnose(&log)?),
            Request::Traces { log, offset, limit } => {
                Reply::Traces(inner.log(&log)?.look(|look| look.traces(offset, limit)))
            }
            Request::Trace {
                log,
                trace,
                offset,
                limit,
            } => Reply::Trace(
                inner
                    .log(&log)?
                    .look(|look| look.trace(&trace, offset, limit)),
            ),
            Request::Correlation {
                log,
                correlation,
                offset,
                limit,
            } => Reply::Correlation(
                inner
                    .log(&log)?
                    .look(|look| look.correlation(&correlation, offset, limit)),
            ),
            Request::Figures { log, at } => Reply::Figures(inner.log(&log)?.look(|look| {
                events::figures(look.timeline, &look.timeline.state_at(look.position(at)))
            })),
            Request::NextStop {
                log,
                from,
                stops,
                forward,
            } => Reply::NextStop(inner.next_stop(&log, from, &stops, forward)?),

            Request::Chips {
                query,
                only,
                offset,
                limit,
            } => Reply::Chips(inner.chips_view(&query, only, offset, limit)),
            Request::Chip { chip } => Reply::Chip(inner.chip(&chip)?),
            Request::ChipDiff { chip, target } => {
                Reply::ChipDiff(inner.chip_diff(&chip, target.as_ref())?)
            }
            Request::PinChip { chip, pinned } => Reply::PinChip(inner.pin_chip(&chip, pinned)?),
            Request::ReviveChip { chip } => Reply::ReviveChip(inner.revive_chip(&chip)?),
            Request::Snapshots {} => Reply::Snapshots(inner.snapshots()),
            Request::Snapshot { snapshot } => Reply::Snapshot(inner.snapshot(&snapshot)?),

            Request::PlanRestore { what } => Reply::PlanRestore(inner.plan_restore(what)?),
            Request::Settle {
                plan,
                conflict,
                choice,
            } => Reply::Settle(inner.settle(&plan, conflict, choice)?),
            Request::Apply { plan } => Reply::Apply(inner.apply(&plan)?),
            Request::Undo { restore } => Reply::Undo(inner.undo(restore.as_deref())?),
            Request::History { offset, limit } => Reply::History(inner.history(offset, limit)?),
        })
    }

    /// The path that `Reveal` is about, for the system's file manager.
    ///
    /// # Errors
    /// There is no such log, file or chip.
    pub fn reveal_path(&self, what: &RevealTarget) -> Answer<PathBuf> {
        self.inner.reveal_path(what)
    }

    /// Writes a branch where a person said, as a new file.
    ///
    /// # Errors
    /// There is no such branch, the file exists, or it cannot be written.
    pub fn save_branch(&self, branch: &str, path: &std::path::Path) -> Answer<BranchSaved> {
        self.inner.save_branch(branch, path)
    }

    /// The name that a branch is offered to be saved under.
    pub fn branch_name(&self, branch: &str) -> Option<String> {
        self.inner.branch_name(branch)
    }

    /// A setting's value: null for none.
    pub fn setting(&self, key: &str) -> serde_json::Value {
        read(&self.inner.settings).get(key)
    }

    /// Closes all logs; their threads end.
    pub fn close(&self) {
        for log in write(&self.inner.logs).drain(..) {
            log.close();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for log in write(&self.logs).drain(..) {
            log.close();
        }
    }
}

pub(crate) fn now_ms() -> i64 {
    chrono::Utc::now().timestamp_millis()
}

pub(crate) fn no_path(path: &str) -> ApiError {
    ApiError::new("not-found", format!("The log never names the path {path}."))
}

fn no_entry(index: u64) -> ApiError {
    ApiError::new("not-found", format!("There is no entry {index}."))
}

impl Inner {
    pub fn tell(&self, notice: Notice) {
        // Nobody listens any more: nothing to do about it.
        let _ = self.notices.send(notice);
    }

    pub fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::SeqCst)
    }

    pub fn log(&self, id: &str) -> Answer<Arc<Log>> {
        let logs = read(&self.logs);
        let found = logs.iter().find(|log| log.id == id).cloned();
        found.ok_or_else(|| ApiError::new("not-found", format!("There is no open log {id}.")))
    }

    fn hello(&self) -> Hello {
        Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            platform: match std::env::consts::OS {
                "macos" => "macos",
                "windows" => "windows",
                _ => "linux",
            }
            .to_owned(),
            settings: self.settings_view(),
            open_logs: read(&self.logs).iter().map(|log| log.id.clone()).collect(),
            focus: hold(&self.focus).clone(),
            demo: self.demo.load(Ordering::SeqCst),
        }
    }

    fn settings_view(&self) -> SettingsView {
        read(&self.settings).view(&self.for_people(&self.config.places.settings()))
    }

    /// A path with the home folder as `~`.
    pub fn for_people(&self, path: &std::path::Path) -> String {
        let home = self.config.homes.as_ref().map(|homes| homes.home.as_path());
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) if !below.as_os_str().is_empty() => {
                PathBuf::from("~").join(below).display().to_string()
            }
            Some(_) => "~".to_owned(),
            None => path.display().to_string(),
        }
    }

    /// A folder was opened: its `.chipdeck.toml`, where it has one, is laid over the user's settings.
    pub(crate) fn project_settings(&self, root: &std::path::Path) {
        let path = root.join(".chipdeck.toml");
        // Not followed out of the folder: a link is no project file.
        let plain = std::fs::symlink_metadata(&path).is_ok_and(|it| it.is_file());
        let text = match plain {
            true => own::read(&path),
            false => Ok(None),
        };
        let project = match text {
            Ok(None) => None,
            Ok(Some(text)) => Some((self.for_people(&path), text)),
            Err(error) => {
                let text = format!("{} cannot be read: {error}.", self.for_people(&path));
                let level = "warning".to_owned();
                let _ = self.notices.send(Notice::Message { level, text });
                None
            }
        };
        {
            let mut settings = write(&self.settings);
            if project.is_none() && !settings.has_project() {
                return;
            }
            *settings = settings.with_project(project);
        }
        let view = self.settings_view();
        let _ = self.notices.send(Notice::SettingsChanged { view });
    }

    fn set_setting(&self, key: &str, value: serde_json::Value) -> Answer<SettingsView> {
        let path = self.config.places.settings();
        {
            let mut settings = write(&self.settings);
            // Another program, or a person, may have changed the file since.
            let there = own::read(&path).map_err(|error| {
                ApiError::new("io", format!("The settings file cannot be read: {error}."))
            })?;
            let current = settings.over(there.unwrap_or_default());
            let next = current
                .with(key, value)
                .map_err(|error| ApiError::new("bad-request", format!("{error}.")))?;
            own::write(&path, &next).map_err(|error| {
                ApiError::new(
                    "io",
                    format!("The settings file cannot be written: {error}."),
                )
            })?;
            *settings = current.over(next);
            if key.starts_with("chips.") || key.starts_with("archive.") {
                self.chips.configure(&self.config, &settings);
            }
            if key.starts_with("library.") {
                self.shelf.look_again();
            }
        }
        Ok(self.settings_view())
    }
}
