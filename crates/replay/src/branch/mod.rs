//! What-if: a timeline laid over another one by edits. An event is left out, has another payload, others come in behind
//! it, or the log is cut and goes on with the tail of another one. The branch is folded by itself (the fold reaches
//! nothing outside), has every view that a recorded log has, and is written as a canonical log.
//!
//! Left out: files ([`Branch::write`] gives bytes), and what two states differ in ([`difference`]).

mod difference;
mod overlay;
mod payload;

pub use difference::{differences, Differences, FileDifference, Look, Moved, Standing};
pub use overlay::Overlay;
pub use payload::{event_faults, payload_faults, PayloadFault};

use crate::timeline::Timeline;
use chipdeck_event::{Located, Place};
use chipdeck_ingest::{
    load_record, member, read_canonical, same_json, with_member, without_member, Source,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

/// What is laid over the recorded timeline. Entries count from 1.
#[derive(Clone, Default)]
pub struct Edits {
    /// Left out, with later copies of the same event (which would else come in its place).
    pub skip: BTreeSet<u32>,
    /// Another payload, as JSON.
    pub replace: BTreeMap<u32, String>,
    /// Records that come in after an entry (0: before the first), one event each, as JSON on one line.
    pub insert: BTreeMap<u32, Vec<String>>,
    /// Nothing after this position.
    pub cut: Option<u32>,
    /// What comes then.
    pub tail: Option<Tail>,
}

/// The entries of another log after a position.
#[derive(Clone)]
pub struct Tail {
    /// Records in order, as they are in that log.
    pub records: Vec<Vec<u8>>,
    /// For its blobs.
    pub source: Arc<dyn Source>,
}

impl Tail {
    /// What a timeline has after `from`.
    pub fn of(timeline: &Timeline, source: Arc<dyn Source>, from: u32) -> Tail {
        let entries = timeline.entries().get(from as usize..).unwrap_or_default();
        let records = entries
            .iter()
            .map(|located| load_record(located.place, &*source))
            .collect();
        Tail { records, source }
    }
}

/// Why there is no branch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BranchError {
    #[error("there is no entry {0}")]
    NoEntry(u32),
    #[error("entry {0} is no event")]
    NoEvent(u32),
    #[error("entry {0} is left out and edited")]
    Twice(u32),
    #[error("entry {entry} comes after the cut at {cut}")]
    BehindCut { entry: u32, cut: u32 },
    #[error("a record that comes in is no event")]
    NoRecord,
    #[error("the record of entry {0} cannot be read any more")]
    Gone(u32),
    #[error("only a canonical log has branches")]
    Foreign,
}

/// One entry of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strand {
    /// This entry of the recorded timeline, as it is.
    Recorded(u32),
    /// A line of the overlay: an edited one keeps the entry that it stands for.
    Added { line: u32, instead_of: Option<u32> },
}

/// A folded branch.
pub struct Branch {
    pub timeline: Timeline,
    pub source: Arc<Overlay>,
    /// Where each entry comes from, in order.
    pub strands: Vec<Strand>,
    /// The first entry (from 1, of either) in which the branch is not the recorded log; `None`: nowhere.
    pub divergence: Option<u32>,
}

impl Branch {
    /// Lays the edits over a timeline and folds what comes out.
    ///
    /// # Errors
    /// Edits that fit no entry or contradict each other.
    pub fn lay(
        base: &Timeline,
        source: Arc<dyn Source>,
        edits: &Edits,
    ) -> Result<Branch, BranchError> {
        if !base.options().canonical {
            return Err(BranchError::Foreign);
        }
        check(base, edits)?;
        let mut weft = Weft::new(base, &*source, edits);
        weft.run()?;
        let Weft { strands, lines, .. } = weft;
        let blobs = edits.tail.iter().map(|tail| tail.source.clone()).collect();
        let overlay = Arc::new(Overlay::new(source, lines.concat(), blobs));
        let timeline = fold(base, &overlay, &strands)?;
        let divergence = divergence(base, &overlay, &strands, &timeline);
        Ok(Branch {
            timeline,
            source: overlay,
            strands,
            divergence,
        })
    }

    /// The branch as the bytes of a canonical log: recorded records as they are, one on each line.
    ///
    /// # Errors
    /// Those of `out`, and of the source.
    pub fn write(&self, out: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        for located in self.timeline.entries() {
            copy(located.place, &*self.source, out)?;
            out(b"\n")?;
        }
        Ok(())
    }
}

/// Bytes that are copied at once.
const PART: usize = 4 << 20;

fn copy(
    place: Place,
    source: &dyn Source,
    out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let end = place.offset.saturating_add(place.len);
    let mut at = place.offset;
    while at < end {
        let want = PART.min(usize::try_from(end - at).unwrap_or(PART));
        let bytes = source.read_at(place.file, at, want)?;
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        at += bytes.len() as u64;
        out(&bytes)?;
    }
    Ok(())
}

fn check(base: &Timeline, edits: &Edits) -> Result<(), BranchError> {
    let there = |entry: u32| base.entry(entry).ok_or(BranchError::NoEntry(entry));
    let last = edits.cut.unwrap_or(base.len());
    if last > base.len() {
        return Err(BranchError::NoEntry(last));
    }
    let before_cut = |entry: u32| match edits.cut {
        Some(cut) if entry > cut => Err(BranchError::BehindCut { entry, cut }),
        _ => Ok(()),
    };
    for &entry in &edits.skip {
        there(entry)?;
        before_cut(entry)?;
    }
    for &entry in edits.replace.keys() {
        let event = there(entry)?.entry.event();
        event.ok_or(BranchError::NoEvent(entry))?;
        before_cut(entry)?;
        if edits.skip.contains(&entry) {
            return Err(BranchError::Twice(entry));
        }
    }
    for &entry in edits.insert.keys() {
        if entry > 0 {
            there(entry)?;
        }
        before_cut(entry)?;
    }
    Ok(())
}

/// The lines of the overlay and the order of all entries, as they come about.
struct Weft<'a> {
    base: &'a Timeline,
    source: &'a dyn Source,
    edits: &'a Edits,
    strands: Vec<Strand>,
    /// Each with its line end.
    lines: Vec<Vec<u8>>,
    /// Every event of the recorded log has a `seq`.
    every: bool,
    /// The highest `seq` so far.
    highest: Option<u64>,
}

impl<'a> Weft<'a> {
    fn new(base: &'a Timeline, source: &'a dyn Source, edits: &'a Edits) -> Weft<'a> {
        let mut events = base.entries().iter().filter_map(|it| it.entry.event());
        Weft {
            every: !base.is_empty() && events.all(|event| event.envelope.seq.is_some()),
            base,
            source,
            edits,
            strands: Vec::new(),
            lines: Vec::new(),
            highest: None,
        }
    }

    fn run(&mut self) -> Result<(), BranchError> {
        let edits = self.edits;
        let skipped: BTreeSet<&str> = edits
            .skip
            .iter()
            .filter_map(|&entry| self.id(entry))
            .collect();
        self.insert_after(0)?;
        for entry in 1..=edits.cut.unwrap_or(self.base.len()) {
            let copy = self.id(entry).is_some_and(|id| skipped.contains(id));
            if edits.skip.contains(&entry) || copy {
                // An insertion after it stays where it was to be.
            } else if let Some(payload) = edits.replace.get(&entry) {
                self.replace(entry, payload)?;
            } else {
                self.strands.push(Strand::Recorded(entry));
                self.highest = self.highest.max(self.seq(entry));
            }
            self.insert_after(entry)?;
        }
        if let Some(tail) = &edits.tail {
            self.tail(tail);
        }
        Ok(())
    }

    fn id(&self, entry: u32) -> Option<&'a str> {
        let event = self.base.entry(entry)?.entry.event()?;
        Some(&event.envelope.event_id)
    }

    fn seq(&self, entry: u32) -> Option<u64> {
        self.base.entry(entry)?.entry.event()?.envelope.seq
    }

    fn add(&mut self, record: &[u8], instead_of: Option<u32>) {
        self.lines.push([record, b"\n"].concat());
        self.strands.push(Strand::Added {
            line: self.lines.len() as u32,
            instead_of,
        });
    }

    fn replace(&mut self, entry: u32, payload: &str) -> Result<(), BranchError> {
        let place = self.base.entry(entry).map(|it| it.place);
        let place = place.ok_or(BranchError::NoEntry(entry))?;
        let record = load_record(place, self.source);
        let record = std::str::from_utf8(&record).map_err(|_| BranchError::Gone(entry))?;
        let payload = one_line(payload).ok_or(BranchError::NoRecord)?;
        // The form and the check are of the newest shape: so is what they give.
        let newest = self
            .base
            .entry(entry)
            .and_then(|it| it.entry.event())
            .and_then(|event| {
                let known = chipdeck_event::schema::schema_of(&event.envelope.type_name)?;
                (event.envelope.version < known.version).then_some(known.version)
            });
        let edited = with_member(record, "payload", &payload).ok_or(BranchError::Gone(entry))?;
        let edited = match newest {
            Some(version) => with_member(&edited, "version", &version.to_string()),
            None => Some(edited),
        };
        let edited = edited.ok_or(BranchError::Gone(entry))?;
        self.add(edited.as_bytes(), Some(entry));
        self.highest = self.highest.max(self.seq(entry));
        Ok(())
    }

    /// Inserted records get a `seq` of the gap where they come in; where the gap is too small they have none, and the
    /// order of the lines holds.
    fn insert_after(&mut self, entry: u32) -> Result<(), BranchError> {
        let edits = self.edits;
        let Some(records) = edits.insert.get(&entry) else {
            return Ok(());
        };
        let last = edits.cut.unwrap_or(self.base.len());
        let next = (entry + 1..=last)
            .filter(|it| !edits.skip.contains(it))
            .find_map(|it| self.seq(it));
        let count = records.len() as u64;
        for (nth, record) in (0u64..).zip(records) {
            // Those before may have brought numbers of their own.
            let first = self.highest.map_or(0, |highest| highest.saturating_add(1));
            let room = next.is_none_or(|next| next.saturating_sub(first) >= count - nth);
            let record = one_line(record).ok_or(BranchError::NoRecord)?;
            let own = member(&record, "seq").and_then(|seq| seq.parse::<u64>().ok());
            let fits = own.is_some_and(|own| {
                self.highest.is_none_or(|highest| highest < own)
                    && next.is_none_or(|next| own < next)
            });
            let placed = if fits || (!self.every && own.is_none()) {
                Some(record)
            } else if self.every && room {
                with_member(&record, "seq", &first.to_string())
            } else {
                without_member(&record, "seq")
            };
            let placed = placed.ok_or(BranchError::NoRecord)?;
            let seq = member(&placed, "seq").and_then(|seq| seq.parse::<u64>().ok());
            self.highest = self.highest.max(seq);
            self.add(placed.as_bytes(), None);
        }
        Ok(())
    }

    /// The tail's numbers go on where the cut log's end.
    fn tail(&mut self, tail: &Tail) {
        let seqs: Vec<Option<u64>> = tail
            .records
            .iter()
            .map(|record| {
                let record = std::str::from_utf8(record).ok()?;
                member(record, "seq")?.parse::<u64>().ok()
            })
            .collect();
        let lowest = seqs.iter().flatten().min().copied();
        let more = match (self.highest, lowest) {
            (Some(highest), Some(lowest)) if lowest <= highest => highest + 1 - lowest,
            _ => 0,
        };
        for (record, seq) in tail.records.iter().zip(seqs) {
            let moved = match (seq, std::str::from_utf8(record)) {
                (Some(seq), Ok(text)) if more > 0 => {
                    with_member(text, "seq", &seq.saturating_add(more).to_string())
                }
                _ => None,
            };
            match moved {
                Some(moved) => self.add(moved.as_bytes(), None),
                None => self.add(record, None),
            }
        }
    }
}

/// JSON on one line: a line break may only stand between its tokens.
fn one_line(json: &str) -> Option<String> {
    let json = json.trim();
    if !json.contains(['\n', '\r']) {
        return Some(json.to_owned());
    }
    // Line breaks inside a string are no JSON, so each is blank.
    serde_json::from_str::<&serde_json::value::RawValue>(json).ok()?;
    Some(json.replace(['\n', '\r'], " "))
}

/// Folds the strands in their order: the recorded entries keep their places, the others are read from the overlay.
fn fold(base: &Timeline, overlay: &Overlay, strands: &[Strand]) -> Result<Timeline, BranchError> {
    let file = overlay.own_file();
    let read = read_canonical(overlay, file).map_err(|_| BranchError::NoRecord)?;
    let mut options = base.options().clone();
    options.names = (0..=file).map(|file| overlay.name(file)).collect();
    let mut timeline = Timeline::new(options);
    let recorded: BTreeSet<u32> = strands
        .iter()
        .filter_map(|strand| match strand {
            Strand::Recorded(entry) => Some(*entry),
            Strand::Added { .. } => None,
        })
        .collect();
    let noted = base.noted_findings().iter();
    timeline.add_findings(
        noted
            .filter(|(index, _)| index.is_some_and(|index| recorded.contains(&index)))
            .map(|(_, finding)| finding.clone()),
    );
    timeline.add_findings(read.findings);
    let mut added: BTreeMap<u64, Vec<Located>> = BTreeMap::new();
    for located in read.entries {
        added.entry(located.place.line).or_default().push(located);
    }
    for strand in strands {
        match strand {
            Strand::Recorded(entry) => {
                let located = base.entry(*entry).ok_or(BranchError::NoEntry(*entry))?;
                timeline.append(located.clone(), overlay);
            }
            Strand::Added { line, .. } => {
                // A line of a tail may be damage: an entry nevertheless.
                for located in added.remove(&u64::from(*line)).unwrap_or_default() {
                    timeline.append(located, overlay);
                }
            }
        }
    }
    timeline.judge_in_place();
    Ok(timeline)
}

/// The first entry that differs.
fn divergence(
    base: &Timeline,
    overlay: &Overlay,
    strands: &[Strand],
    branch: &Timeline,
) -> Option<u32> {
    for (at, strand) in (1u32..).zip(strands) {
        match strand {
            Strand::Recorded(entry) if *entry == at => {}
            _ => {
                let same = match (base.entry(at), branch.entry(at)) {
                    (Some(old), Some(new)) => same_json(
                        &load_record(old.place, overlay),
                        &load_record(new.place, overlay),
                    ),
                    _ => false,
                };
                if !same {
                    return Some(at);
                }
            }
        }
    }
    (branch.len() != base.len()).then_some(branch.len().min(base.len()) + 1)
}

/// The first entry (from 1) in which two logs are not the same JSON; `None`: they are the same.
pub fn first_difference(
    left: (&Timeline, &dyn Source),
    right: (&Timeline, &dyn Source),
) -> Option<u32> {
    let pairs = left.0.entries().iter().zip(right.0.entries());
    for (at, (a, b)) in (1u32..).zip(pairs) {
        let same = same_json(
            &load_record(a.place, left.1),
            &load_record(b.place, right.1),
        );
        if !same {
            return Some(at);
        }
    }
    let (a, b) = (left.0.len(), right.0.len());
    (a != b).then_some(a.min(b) + 1)
}
