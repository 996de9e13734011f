//! Searching a log by a filter: entry by entry in the background, and one entry at a time for breakpoints.

use super::look::Look;
use super::rows::{session_name, status_of};
use crate::filter::{Filter, Subject};
use chipdeck_event::{Entry, Event, Payload, Place, Severity, Status};
use chipdeck_replay::Lanes;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that are read at once where records are looked into one after another.
const AHEAD: u64 = 1 << 20;
/// Arguments that name a file.
const PATH_ARGUMENTS: [&str; 8] = [
    "file_path",
    "filePath",
    "path",
    "file",
    "filename",
    "target_file",
    "notebook_path",
    "from",
];

/// Bytes of one file read ahead.
#[derive(Default)]
pub struct Ahead {
    file: u32,
    offset: u64,
    bytes: Vec<u8>,
}

/// An entry as a filter sees it.
pub struct Seen<'a> {
    look: &'a Look<'a>,
    index: u32,
    entry: &'a Entry,
    place: Place,
    ahead: &'a RefCell<Ahead>,
}

impl<'a> Look<'a> {
    /// Whether an entry matches. `ahead` may be kept from entry to entry.
    pub fn matches(&self, filter: &Filter, index: u32, ahead: &RefCell<Ahead>) -> bool {
        match self.timeline.entry(index) {
            Some(located) => filter.matches(&Seen {
                look: self,
                index,
                entry: &located.entry,
                place: located.place,
                ahead,
            }),
            None => false,
        }
    }

    /// An error finding, or a tool's outcome that is not `ok`.
    pub fn is_error(&self, index: u32) -> bool {
        let lanes = self.timeline.lanes(index);
        lanes.has(Lanes::ERROR)
            || lanes.has(Lanes::TOOL_FAILED)
            || self.findings.worst(index) == Some(Severity::Error)
    }
}

impl Seen<'_> {
    fn event(&self) -> Option<&Event> {
        self.entry.event()
    }
}

impl Subject for Seen<'_> {
    fn index(&self) -> u64 {
        u64::from(self.index)
    }

    fn kind(&self) -> &str {
        self.event()
            .map_or("opaque", |event| &event.envelope.type_name)
    }

    fn any_path(&self, test: &mut dyn FnMut(&str) -> bool) -> bool {
        let Some(event) = self.event() else {
            return false;
        };
        match &event.payload {
            Payload::FileCreate { path, .. }
            | Payload::FileChange { path, .. }
            | Payload::FileDelete { path }
            | Payload::FileObserve { path, .. }
            | Payload::ChipInsert { path, .. }
            | Payload::RestoreApply { path, .. } => test(path),
            Payload::FileRename { from, to } => test(from) || test(to),
            Payload::StateSnapshot { contents, .. } => contents.iter().any(|(path, _)| test(path)),
            Payload::ToolCall { args, .. } => {
                let text = super::text::json_head(args, self.look.source, 64 << 10);
                let args =
                    text.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
                let Some(args) = args else { return false };
                PATH_ARGUMENTS
                    .iter()
                    .filter_map(|key| args.get(*key)?.as_str())
                    .any(test)
            }
            _ => false,
        }
    }

    fn tool(&self) -> Option<&str> {
        self.look.tool_name(self.index)
    }

    fn status(&self) -> Option<&str> {
        let payload = &self.event()?.payload;
        match payload {
            // A call answers to what became of it only while nothing did.
            Payload::ToolCall { .. } if self.look.timeline.counterpart(self.index).is_none() => {
                Some("pending")
            }
            payload => status_of(payload).map(Status::as_str),
        }
    }

    fn session(&self) -> Option<&str> {
        self.event()
            .map(|event| session_name(event.envelope.session))
    }

    fn trace(&self) -> Option<&str> {
        self.event().map(|event| event.envelope.trace_id.as_ref())
    }

    fn correlation(&self) -> Option<&str> {
        self.event()?.envelope.correlation.as_deref()
    }

    fn is_error(&self) -> bool {
        self.look.is_error(self.index)
    }

    fn has_finding(&self) -> bool {
        self.look.findings.at(self.index).next().is_some()
    }

    fn is_edit(&self) -> bool {
        matches!(
            self.event().map(|event| &event.payload),
            Some(
                Payload::FileCreate { .. }
                    | Payload::FileChange { .. }
                    | Payload::FileDelete { .. }
                    | Payload::FileRename { .. }
            )
        )
    }

    fn raw(&self) -> Option<Vec<u8>> {
        let place = self.place;
        let len = usize::try_from(place.len).ok()?;
        if place.len > AHEAD / 2 {
            return self.look.source.read_at(place.file, place.offset, len).ok();
        }
        let mut ahead = self.ahead.borrow_mut();
        let inside = ahead.file == place.file
            && place.offset >= ahead.offset
            && place.offset + place.len <= ahead.offset + ahead.bytes.len() as u64;
        if !inside {
            // Whoever goes back reads what lies before.
            let back = ahead.file == place.file && place.offset < ahead.offset;
            let offset = if back {
                (place.offset + place.len).saturating_sub(AHEAD)
            } else {
                place.offset
            };
            ahead.bytes = self
                .look
                .source
                .read_at(place.file, offset, AHEAD as usize)
                .ok()?;
            ahead.file = place.file;
            ahead.offset = offset;
        }
        let start = usize::try_from(place.offset.checked_sub(ahead.offset)?).ok()?;
        Some(
            ahead
                .bytes
                .get(start..ahead.bytes.len().min(start + len))?
                .to_vec(),
        )
    }
}

/// The searches of a log: the newest one runs, a few stay for their marks.
#[derive(Default)]
pub struct Searches {
    kept: Vec<Arc<Search>>,
    next: u64,
}

/// Searches that are kept; an older one is forgotten.
const KEPT: usize = 4;

pub struct Search {
    pub id: String,
    filter: Filter,
    cancelled: AtomicBool,
    /// A thread is at it.
    running: AtomicBool,
    found: Mutex<Hits>,
}

/// What was found so far.
#[derive(Clone, Default)]
pub struct Hits {
    /// Entries, sorted.
    pub entries: Arc<Vec<u32>>,
    /// Entries that were looked at.
    pub scanned: u32,
    pub done: bool,
}

impl Searches {
    /// Adds a search and cancels the one that runs.
    pub fn add(&mut self, filter: Filter) -> Arc<Search> {
        self.cancel_all();
        self.next += 1;
        let id = format!("search-{}", self.next);
        let search = Arc::new(Search {
            id,
            filter,
            cancelled: AtomicBool::new(false),
            running: AtomicBool::new(false),
            found: Mutex::default(),
        });
        if self.kept.len() >= KEPT {
            self.kept.remove(0);
        }
        self.kept.push(search.clone());
        search
    }

    pub fn get(&self, id: &str) -> Option<Arc<Search>> {
        self.kept.iter().find(|search| search.id == id).cloned()
    }

    /// The entries behind a position are others now: they are searched again.
    pub fn forget_after(&self, position: u32) {
        for search in &self.kept {
            let mut hits = search.held();
            if hits.scanned > position {
                let keep = hits.entries.partition_point(|index| *index <= position);
                Arc::make_mut(&mut hits.entries).truncate(keep);
                hits.scanned = position;
                hits.done = false;
            }
        }
    }

    pub fn cancel_all(&self) {
        for search in &self.kept {
            search.cancelled.store(true, Ordering::SeqCst);
        }
    }
}

impl Search {
    pub fn hits(&self) -> Hits {
        self.found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Looks at up to `most` entries more; true while there are more to look at.
    pub fn step(&self, look: &Look, most: u32) -> bool {
        if self.is_cancelled() {
            return false;
        }
        let scanned = self.held().scanned;
        let last = look.timeline.len();
        let end = scanned.saturating_add(most).min(last);
        let ahead = RefCell::new(Ahead::default());
        let found = (scanned + 1..=end).filter(|index| look.matches(&self.filter, *index, &ahead));
        let found: Vec<u32> = found.collect();
        let mut hits = self.held();
        if !found.is_empty() {
            Arc::make_mut(&mut hits.entries).extend(found);
        }
        hits.scanned = hits.scanned.max(end);
        hits.done = end >= last;
        !hits.done
    }

    fn held(&self) -> MutexGuard<'_, Hits> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True: the caller is the one thread that goes on with it.
    pub fn begin(&self) -> bool {
        !self.running.swap(true, Ordering::SeqCst)
    }

    pub fn end(&self) {
        self.running.store(false, Ordering::SeqCst);
    }

    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::SeqCst)
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }
}
