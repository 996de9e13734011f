//! The state at the end of a long log without folding all of it: a state that was kept in our cache, with the hash of
//! the bytes that it covers and the fold's version.
//!
//! A log that has not changed has that state. One that grew (canonical, one file) starts from it: the kept state
//! becomes the `state.snapshot` of a short log of its own, and what came since is folded behind it, so there is one
//! fold and no second way in. Whatever could make that differ from a full replay (an id that was there before, an
//! entry that belongs further ahead, a finding) makes the log be read from the start. Left out: the window, which
//! needs every entry for its lists.

use super::reading::{options, ReadError, Reading};
use chipdeck_disk::logs::FileSource;
use chipdeck_disk::store::KeptStates;
use chipdeck_event::{Code, Payload};
use chipdeck_ingest::{LogSet, MemorySource, Source};
use chipdeck_replay::{Timeline, FOLD_VERSION};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// What a log has to have to be worth a kept state: a shorter one is read sooner than its state.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    pub entries: u32,
    pub bytes: u64,
}

impl Default for Least {
    fn default() -> Least {
        Least {
            entries: 100,
            bytes: 1 << 20,
        }
    }
}

/// More than this behind a kept state is not folded in memory.
const MOST_TAIL: u64 = 64 << 20;
const CHUNK: usize = 1 << 20;

/// What the state at the end was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The whole log.
    Beginning,
    /// The kept state after so many entries, and what came since.
    Kept(u32),
}

/// The state at the end, as JSON.
#[derive(Debug)]
pub struct AtEnd {
    pub json: String,
    pub start: Start,
}

/// What a kept state covers.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    fold: u32,
    program: String,
    covered: Vec<Covered>,
    canonical: bool,
    position: u32,
    /// Unix milliseconds; the latest of all entries.
    time: i64,
    /// The highest number, where all events have one.
    seq: Option<u64>,
    /// Some events have a number and some have none: nothing can be told of the order of what comes.
    mixed: bool,
    ids: usize,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Covered {
    name: String,
    bytes: u64,
    sha256: [u8; 32],
    /// Its last byte ends a line.
    whole: bool,
}

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    state: &'a RawValue,
}

/// The state at the end of a log, from the newest kept state that still holds, else by a full replay, which is then
/// kept (where the log is worth it).
///
/// # Errors
/// As for [`Reading::of`].
pub fn state_at_end(path: &Path, states: &KeptStates, least: Least) -> Result<AtEnd, ReadError> {
    for position in states.positions(path) {
        let Some(bytes) = states.read(path, position) else {
            continue;
        };
        if let Some(json) = Kept::of(&bytes).and_then(|kept| kept.end(path)) {
            return Ok(AtEnd {
                json,
                start: Start::Kept(position),
            });
        }
    }
    let reading = Reading::of(path)?;
    let json = reading
        .timeline
        .state_json(reading.timeline.end(), &*reading.source);
    // A cache that cannot be written is no reason to answer nothing.
    let _ = keep(&reading, states, least);
    Ok(AtEnd {
        json,
        start: Start::Beginning,
    })
}

/// Keeps the state at the end of a log. False: it is not worth it, or not sure to hold.
///
/// # Errors
/// What the system says.
pub fn keep(reading: &Reading, states: &KeptStates, least: Least) -> std::io::Result<bool> {
    let (timeline, source) = (&reading.timeline, &*reading.source);
    // Blobs are files of their own, which no hash here covers.
    if timeline.len() < least.entries || source.total_bytes() < least.bytes || reading.blobs {
        return Ok(false);
    }
    let mut covered = Vec::new();
    for file in 0..source.files() {
        // A line that is not finished yet, or a file that grows just now.
        if reading.read_to.get(file as usize) != Some(&source.len(file)) {
            return Ok(false);
        }
        match covered_by(source, file, source.len(file)) {
            Some(it) => covered.push(it),
            None => return Ok(false),
        }
    }
    // Written over while it was folded: the hash may be of other bytes than the state.
    if reading.modified != source.modified() {
        return Ok(false);
    }
    let events = || timeline.entries().iter().filter_map(|it| it.entry.event());
    let numbered = events().filter(|it| it.envelope.seq.is_some()).count();
    let mut ids: Vec<u64> = events().map(|it| mark(&it.envelope.event_id)).collect();
    ids.sort_unstable();
    let head = Head {
        fold: FOLD_VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        covered,
        canonical: reading.format.is_canonical(),
        position: timeline.len(),
        time: events()
            .filter_map(|it| it.envelope.timestamp)
            .max()
            .unwrap_or(0),
        seq: events()
            .filter_map(|it| it.envelope.seq)
            .max()
            .filter(|_| numbered == ids.len()),
        mixed: numbered != 0 && numbered != ids.len(),
        ids: ids.len(),
    };
    let head = serde_json::to_vec(&head)?;
    let ids: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
    let payload = timeline.snapshot_payload(timeline.end(), source);
    let len = (head.len() as u64).to_le_bytes();
    states.write(
        source.path(),
        timeline.len(),
        &[&len, &head, &ids, payload.as_bytes()],
    )
}

/// The first 64 bits of an id's hash: equal ids have equal ones, and that is all that is relied on.
fn mark(id: &str) -> u64 {
    let hash = Sha256::digest(id.as_bytes());
    hash.iter()
        .take(8)
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// `None`: the file ends before.
fn covered_by(source: &dyn Source, file: u32, bytes: u64) -> Option<Covered> {
    let mut hash = Sha256::new();
    let (mut at, mut last) = (0, b'\n');
    let mut buffer = Vec::new();
    while at < bytes {
        let len = usize::try_from(bytes - at).map_or(CHUNK, |left| left.min(CHUNK));
        source.read_into(file, at, len, &mut buffer).ok()?;
        last = *buffer.last()?;
        if buffer.len() > len {
            return None;
        }
        hash.update(&buffer);
        at += buffer.len() as u64;
    }
    Some(Covered {
        name: source.name(file).to_string(),
        bytes,
        sha256: hash.finalize().into(),
        whole: last == b'\n',
    })
}

struct Kept<'a> {
    head: Head,
    ids: HashSet<u64>,
    payload: &'a str,
}

impl Kept<'_> {
    /// `None`: another version's, or not what a kept state looks like.
    fn of(bytes: &[u8]) -> Option<Kept<'_>> {
        let (len, rest) = bytes.split_first_chunk::<8>()?;
        let (head, rest) =
            rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        let head: Head = serde_json::from_slice(head).ok()?;
        if head.fold != FOLD_VERSION || head.program != env!("CARGO_PKG_VERSION") {
            return None;
        }
        let (ids, payload) = rest.split_at_checked(head.ids.checked_mul(8)?)?;
        let ids = ids.chunks_exact(8).filter_map(|it| it.try_into().ok());
        Some(Kept {
            ids: ids.map(u64::from_le_bytes).collect(),
            payload: std::str::from_utf8(payload).ok()?,
            head,
        })
    }

    /// The state at the end of the log as it is now. `None`: the log has to be read.
    fn end(&self, path: &Path) -> Option<String> {
        let source = FileSource::open(path).ok()?;
        if source.files() as usize != self.head.covered.len() {
            return None;
        }
        let mut grown = false;
        for (file, covered) in (0..).zip(&self.head.covered) {
            let bytes = source.len(file);
            if bytes < covered.bytes || covered_by(&source, file, covered.bytes)? != *covered {
                return None;
            }
            grown |= bytes > covered.bytes;
        }
        match grown {
            false => {
                let whole: Whole = serde_json::from_str(self.payload).ok()?;
                Some(whole.state.get().to_owned())
            }
            true => self.resume(&source),
        }
    }

    fn resume(&self, source: &FileSource) -> Option<String> {
        let [covered] = self.head.covered.as_slice() else {
            return None;
        };
        let left = source.len(0) - covered.bytes;
        if !self.head.canonical || self.head.mixed || !covered.whole || left > MOST_TAIL {
            return None;
        }
        let tail = source
            .read_at(0, covered.bytes, usize::try_from(left).ok()?)
            .ok()
            .filter(|it| it.len() as u64 == left)?;
        let seq = match self.head.seq {
            Some(seq) => format!("\"seq\":{seq},"),
            None => String::new(),
        };
        let mut log = format!(
            "{{\"eventId\":\"kept-state-{}\",\"traceId\":\"kept-state\",{seq}\"type\":\"state.snapshot\",\"timestamp\":{},\"payload\":",
            self.head.position, self.head.time
        )
        .into_bytes();
        log.extend_from_slice(self.payload.as_bytes());
        log.extend_from_slice(b"}\n");
        log.extend_from_slice(&tail);
        let log = MemorySource::single(&covered.name, log);
        let timeline = folded(&log)?;
        let sound = timeline.entries().iter().skip(1).all(|it| {
            it.entry.event().is_some_and(|event| {
                !self.ids.contains(&mark(&event.envelope.event_id))
                    && event.envelope.seq.is_some() == self.head.seq.is_some()
                    // What a state has of recycled memory does not say from where it came.
                    && !matches!(event.payload, Payload::MemoryRestore { .. })
            })
        });
        let harmless = |code: Code| {
            matches!(
                code,
                Code::ParentMissing
                    | Code::CallWithoutResult
                    | Code::UnknownType
                    | Code::UnknownVersion
                    | Code::BadPayload
                    | Code::ChangeOnMissing
                    | Code::CreateOnExisting
                    | Code::DeleteOnMissing
                    | Code::DriftUnsupportedSuccess
                    | Code::DriftUnsupportedFailure
            )
        };
        let clean = timeline
            .findings()
            .iter()
            .all(|it| harmless(it.finding.code));
        (sound && clean)
            .then(|| timeline.state_json_behind(timeline.end(), &log, self.head.position))
    }
}

/// The short log, folded. `None`: something in it belongs elsewhere.
fn folded(log: &MemorySource) -> Option<Timeline> {
    let mut set = LogSet::open(log);
    if !set.format().is_canonical() {
        return None;
    }
    let mut timeline = Timeline::new(options(log, set.format()));
    loop {
        let before = set.progress(log).read;
        let read = set.read(log, CHUNK, &mut |batch, source| {
            timeline.take(batch, source)
        });
        let progress = read.ok()?;
        if progress.done() || progress.read == before {
            break;
        }
    }
    set.settle(true, log, &mut |batch, source| timeline.take(batch, source));
    (timeline.arrange(log) == timeline.len()).then_some(timeline)
}

/// A source that notes whether blobs were asked for.
pub(super) struct Watched {
    pub inner: Arc<FileSource>,
    pub blobs: std::sync::atomic::AtomicBool,
}

impl Source for Watched {
    fn files(&self) -> u32 {
        self.inner.files()
    }

    fn name(&self, file: u32) -> Arc<str> {
        self.inner.name(file)
    }

    fn len(&self, file: u32) -> u64 {
        self.inner.len(file)
    }

    fn read_at(&self, file: u32, offset: u64, len: usize) -> std::io::Result<Vec<u8>> {
        self.inner.read_at(file, offset, len)
    }

    fn read_into(
        &self,
        file: u32,
        offset: u64,
        len: usize,
        buffer: &mut Vec<u8>,
    ) -> std::io::Result<()> {
        self.inner.read_into(file, offset, len, buffer)
    }

    fn at_hand(&self, file: u32, offset: u64, len: usize) -> Option<&[u8]> {
        self.inner.at_hand(file, offset, len)
    }

    fn blob(&self, sha256: &str) -> std::io::Result<Option<Vec<u8>>> {
        self.blobs.store(true, std::sync::atomic::Ordering::Relaxed);
        self.inner.blob(sha256)
    }
}
