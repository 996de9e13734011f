//! The order of a log set. If every event has a `seq`, by that; else files are merged by their times and parents.
//!
//! An opaque entry stays right after the entry before it in its file. Left out on purpose: `seq` and clocks within a
//! file (the canonical reader judges these), parents within one file (the fold does).

use chipdeck_event::{Code, Finding, Id, Located};
use hashbrown::{HashMap, HashSet};
use std::cmp::Ordering;
use std::sync::Arc;

/// The order of some entries, and what is doubtful about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// Indices of the entries given, in order; `None` when they are in order already.
    pub moved: Option<Vec<u32>>,
    /// `ambiguous-order`, `missing-seq` and a `seq` that two files use.
    pub findings: Vec<Finding>,
}

/// The usual case, told while entries come, one look each: they come as they should and nothing is doubtful. Either
/// all of one file in the order of its lines, or every event with a higher `seq` than the one before.
#[derive(Clone, Debug)]
pub struct Orderly {
    canonical: bool,
    /// File, line and byte of the last entry.
    last: Option<(u32, u64, u64)>,
    /// `seq` and time of the last event.
    key: Option<(u64, Option<i64>)>,
    one_file: bool,
    /// Lines of one file never went back.
    lines: bool,
    /// Every event so far has a `seq`.
    every: bool,
    /// And none came before one with the same or a higher key.
    keys: bool,
    /// And every event's `seq` is higher than the one before; an opaque entry stands behind an entry of its file.
    strict: bool,
}

impl Orderly {
    /// As for [`arrange`].
    pub fn new(canonical: bool) -> Orderly {
        Orderly {
            canonical,
            last: None,
            key: None,
            one_file: true,
            lines: true,
            every: true,
            keys: true,
            strict: true,
        }
    }

    pub fn push(&mut self, located: &Located) {
        let place = (located.place.file, located.place.line, located.place.offset);
        let same_file = self.last.is_none_or(|last| last.0 == place.0);
        self.one_file &= same_file;
        self.lines &= !self.canonical || self.last.is_none_or(|last| last <= place);
        self.last = Some(place);
        let Some(event) = located.entry.event() else {
            self.strict &= same_file && self.key.is_some();
            return;
        };
        let Some(seq) = event.envelope.seq else {
            self.every = false;
            return;
        };
        let key = (seq, event.envelope.timestamp);
        self.keys &= self.key.is_none_or(|last| last <= key);
        self.strict &= self.key.is_none_or(|last| last.0 < seq);
        self.key = Some(key);
    }

    /// [`arrange`] would move nothing and find nothing.
    pub fn holds(&self) -> bool {
        if self.every && self.strict && self.canonical {
            return true;
        }
        self.one_file && self.lines && (self.keys || !self.every)
    }
}

/// An event with the opaque entries that stay behind it (at the top of a file: before it).
#[derive(Clone, Copy)]
struct Block {
    file: u32,
    /// Its entries: a part of the file's list.
    from: u32,
    to: u32,
    /// The event among them.
    event: Option<u32>,
}

/// Puts entries in order. `names` are the files' names. In a `canonical` log the order within a file is that of its
/// lines, however the entries come; in others it is the order in which they come.
pub fn arrange(entries: &[Located], names: &[Arc<str>], canonical: bool) -> Order {
    let every = entries
        .iter()
        .all(|l| l.entry.event().is_none_or(|e| e.envelope.seq.is_some()));
    let mut files: Vec<Vec<u32>> = Vec::new();
    for (index, located) in entries.iter().enumerate() {
        let file = located.place.file as usize;
        if files.len() <= file {
            files.resize_with(file + 1, Vec::new);
        }
        if let Some(list) = files.get_mut(file) {
            list.push(index as u32);
        }
    }
    let several = files.iter().filter(|list| !list.is_empty()).count() > 1;
    let place = |index: &u32| {
        entries
            .get(*index as usize)
            .map(|l| (l.place.line, l.place.offset))
    };
    for list in &mut files {
        if canonical && !list.is_sorted_by_key(place) {
            list.sort_by_key(place);
        }
    }
    let blocks = (0u32..)
        .zip(&files)
        .map(|(file, list)| cut(entries, file, list))
        .collect();
    let mut findings = Vec::new();
    let blocks = if every {
        by_seq(entries, names, blocks, &mut findings)
    } else {
        merge(entries, names, blocks, &mut findings)
    };
    let mut order: Vec<u32> = Vec::with_capacity(entries.len());
    for block in &blocks {
        let list = files
            .get(block.file as usize)
            .map_or(&[][..], Vec::as_slice);
        let part = list.get(block.from as usize..block.to as usize);
        order.extend_from_slice(part.unwrap_or_default());
    }
    if !every && several {
        let without = order
            .iter()
            .filter_map(|&i| entries.get(i as usize))
            .find(|l| l.entry.event().is_some_and(|e| e.envelope.seq.is_none()));
        if let Some(located) = without {
            let message =
                "an event without `seq` in a set of several files: they are merged by time";
            findings.insert(0, doubt(located, Code::MissingSeq, message));
        }
    }
    let moved = !order.iter().copied().eq(0..entries.len() as u32);
    Order {
        moved: moved.then_some(order),
        findings,
    }
}

fn doubt(located: &Located, code: Code, message: impl Into<String>) -> Finding {
    let mut finding = Finding::new(code, located.place.file, located.place.line, message);
    finding.event_id = located
        .entry
        .event()
        .map(|event| event.envelope.shown().to_string());
    finding
}

fn cut(entries: &[Located], file: u32, list: &[u32]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (at, &index) in (0u32..).zip(list) {
        let event = entries
            .get(index as usize)
            .is_some_and(|l| l.entry.event().is_some());
        let event = event.then_some(index);
        match blocks.last_mut() {
            Some(block) if event.is_none() || block.event.is_none() => {
                block.to = at + 1;
                block.event = block.event.or(event);
            }
            _ => blocks.push(Block {
                file,
                from: at,
                to: at + 1,
                event,
            }),
        }
    }
    blocks
}

fn envelope(entries: &[Located], index: Option<u32>) -> Option<&chipdeck_event::Envelope> {
    let event = entries.get(index? as usize)?.entry.event()?;
    Some(&event.envelope)
}

fn by_seq(
    entries: &[Located],
    names: &[Arc<str>],
    blocks: Vec<Vec<Block>>,
    findings: &mut Vec<Finding>,
) -> Vec<Block> {
    let mut all: Vec<Block> = blocks.into_iter().flatten().collect();
    let key = |block: &Block| envelope(entries, block.event).map(|e| (e.seq, e.timestamp));
    let name = |block: &Block| names.get(block.file as usize);
    let compare = |a: &Block, b: &Block| -> Ordering {
        key(a)
            .cmp(&key(b))
            .then_with(|| name(a).cmp(&name(b)))
            .then_with(|| {
                let at = |block: &Block| (block.file, block.from);
                at(a).cmp(&at(b))
            })
    };
    if !all.is_sorted_by(|a, b| compare(a, b) != Ordering::Greater) {
        all.sort_by(compare);
    }
    for pair in all.windows(2) {
        let [a, b] = pair else { continue };
        let (Some(ka), Some(kb)) = (key(a), key(b)) else {
            continue;
        };
        if ka.0 != kb.0 || a.file == b.file {
            continue;
        }
        let Some(located) = b.event.and_then(|i| entries.get(i as usize)) else {
            continue;
        };
        let seq = ka.0.unwrap_or_default();
        findings.push(doubt(
            located,
            Code::SeqRegress,
            format!("`seq` {seq} is used twice, in two files"),
        ));
        if ka.1 == kb.1 {
            let message = "two files have the same `seq` and time here: ordered by file name";
            findings.push(doubt(located, Code::AmbiguousOrder, message));
        }
    }
    all
}

/// One file of a merge.
struct Lane {
    blocks: std::vec::IntoIter<Block>,
    next: Option<Block>,
    /// Time of the next event, on a clock that never runs back.
    clock: i64,
    /// The next event's parent is in another file and was not taken yet. Once it was, it never waits again.
    waits: bool,
}

fn merge(
    entries: &[Located],
    names: &[Arc<str>],
    blocks: Vec<Vec<Block>>,
    findings: &mut Vec<Finding>,
) -> Vec<Block> {
    // Where each id that is a parent of something first stands; several files may have it.
    let parents: HashSet<&Id> = entries
        .iter()
        .filter_map(|l| l.entry.event()?.envelope.parent.as_ref())
        .collect();
    let mut homes: HashMap<&Id, Vec<u32>> = HashMap::new();
    if blocks.iter().filter(|list| !list.is_empty()).count() > 1 {
        for located in entries {
            let Some(event) = located.entry.event() else {
                continue;
            };
            if parents.contains(&event.envelope.event_id) {
                let home = homes.entry(&event.envelope.event_id).or_default();
                if !home.contains(&located.place.file) {
                    home.push(located.place.file);
                }
            }
        }
    }
    let mut taken: HashSet<Id> = HashSet::new();
    let mut lanes: Vec<(u32, Lane)> = Vec::new();
    for (file, list) in blocks.into_iter().enumerate() {
        let mut blocks = list.into_iter();
        let next = blocks.next();
        if next.is_some() {
            let mut lane = Lane {
                blocks,
                next,
                clock: i64::MIN,
                waits: false,
            };
            lane.look(entries);
            lanes.push((file as u32, lane));
        }
    }
    lanes.sort_by_key(|(file, _)| (names.get(*file as usize), *file));
    let waits = |file: u32, lane: &Lane, taken: &HashSet<Id>| {
        let next = lane
            .next
            .as_ref()
            .and_then(|block| envelope(entries, block.event));
        let parent = next.and_then(|e| e.parent.as_ref());
        parent.is_some_and(|parent| {
            !taken.contains(parent)
                && homes
                    .get(parent)
                    .is_some_and(|home| home.iter().any(|&other| other != file))
        })
    };
    for (file, lane) in &mut lanes {
        lane.waits = waits(*file, lane, &taken);
    }
    let mut order = Vec::new();
    while !lanes.is_empty() {
        let free = |lane: &Lane| !lane.waits;
        let some_free = lanes.iter().any(|(_, lane)| free(lane));
        let best = lanes
            .iter()
            .enumerate()
            .filter(|(_, (_, lane))| free(lane) || !some_free)
            .min_by_key(|(at, (_, lane))| (lane.clock, *at))
            .map_or(0, |(at, _)| at);
        let clock = lanes.get(best).map_or(0, |(_, lane)| lane.clock);
        let tied = lanes
            .iter()
            .filter(|(_, lane)| {
                (free(lane) || !some_free) && lane.clock == clock && lane.timed(entries)
            })
            .count();
        let Some((file, lane)) = lanes.get_mut(best) else {
            break;
        };
        let file = *file;
        let Some(block) = lane.next.take() else { break };
        if tied > 1 {
            if let Some(located) = block.event.and_then(|i| entries.get(i as usize)) {
                let message =
                    "files are tied on the time that decides the merge: ordered by file name";
                findings.push(doubt(located, Code::AmbiguousOrder, message));
            }
        }
        let id = envelope(entries, block.event).map(|e| e.event_id.clone());
        order.push(block);
        lane.next = lane.blocks.next();
        lane.look(entries);
        let released = id.is_some_and(|id| homes.contains_key(&id) && taken.insert(id));
        if lane.next.is_none() {
            lanes.remove(best);
        } else {
            lane.waits = waits(file, lane, &taken);
        }
        if released {
            for (file, lane) in &mut lanes {
                lane.waits = lane.waits && waits(*file, lane, &taken);
            }
        }
    }
    order
}

impl Lane {
    fn look(&mut self, entries: &[Located]) {
        let next = self
            .next
            .as_ref()
            .and_then(|block| envelope(entries, block.event));
        if let Some(time) = next.and_then(|e| e.timestamp) {
            self.clock = self.clock.max(time);
        }
    }

    /// Its next block has an event with a time: a tie on it means something.
    fn timed(&self, entries: &[Located]) -> bool {
        let next = self
            .next
            .as_ref()
            .and_then(|block| envelope(entries, block.event));
        next.is_some_and(|e| e.timestamp.is_some())
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
