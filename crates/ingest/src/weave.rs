//! A first order of several files while they are read: the heads of all files are compared, the smallest goes out.
//!
//! By `seq` where both have one, else by time on clocks that never run back. What this leaves to do (parents, a `seq`
//! that is missing further down) is [`crate::order`]'s work once all is read.

use chipdeck_event::Located;
use std::collections::VecDeque;

/// Entries of several files that wait for those before them.
#[derive(Default)]
pub(crate) struct Weave {
    lanes: Vec<Lane>,
}

#[derive(Default)]
struct Lane {
    waiting: VecDeque<Located>,
    /// The time of the latest event that went out.
    clock: i64,
    /// Nothing more comes for now.
    ended: bool,
}

impl Weave {
    /// There are so many files.
    pub(crate) fn files(&mut self, files: usize) {
        if self.lanes.len() < files {
            self.lanes.resize_with(files, Lane::default);
        }
    }

    pub(crate) fn put(&mut self, file: u32, entries: &mut Vec<Located>) {
        if let Some(lane) = self.lanes.get_mut(file as usize) {
            lane.waiting.extend(entries.drain(..));
        }
    }

    /// Nothing more comes from the file for now, or something may again.
    pub(crate) fn end(&mut self, file: u32, ended: bool) {
        if let Some(lane) = self.lanes.get_mut(file as usize) {
            lane.ended = ended;
        }
    }

    /// A file whose next entries are needed before anything can go out.
    pub(crate) fn wants(&self) -> Option<u32> {
        let at = self.lanes.iter().position(Lane::starves)?;
        Some(at as u32)
    }

    /// Takes out what is decided.
    pub(crate) fn drain(&mut self, out: &mut Vec<Located>) {
        while self.wants().is_none() {
            let keys = self
                .lanes
                .iter()
                .enumerate()
                .filter_map(|(at, lane)| Some((at, lane.key()?)));
            let Some((at, _)) = keys.min_by(|(_, a), (_, b)| a.before(b)) else {
                return;
            };
            let Some(lane) = self.lanes.get_mut(at) else {
                return;
            };
            let Some(entry) = lane.waiting.pop_front() else {
                return;
            };
            if let Some(time) = entry
                .entry
                .event()
                .and_then(|event| event.envelope.timestamp)
            {
                lane.clock = lane.clock.max(time);
            }
            out.push(entry);
        }
    }
}

/// Where a lane's next entry belongs.
struct Key {
    /// An opaque entry goes out at once, behind the one before it.
    opaque: bool,
    seq: Option<u64>,
    clock: i64,
}

impl Key {
    fn before(&self, other: &Key) -> std::cmp::Ordering {
        other
            .opaque
            .cmp(&self.opaque)
            .then_with(|| match (self.seq, other.seq) {
                (Some(a), Some(b)) => a.cmp(&b).then(self.clock.cmp(&other.clock)),
                _ => self.clock.cmp(&other.clock),
            })
    }
}

impl Lane {
    /// It may still get entries, and has none to spare: an event waits for what stands behind it.
    fn starves(&self) -> bool {
        !self.ended && self.waiting.len() < 2
    }

    fn key(&self) -> Option<Key> {
        let next = self.waiting.front()?;
        Some(match next.entry.event() {
            None => Key {
                opaque: true,
                seq: None,
                clock: self.clock,
            },
            Some(event) => Key {
                opaque: false,
                seq: event.envelope.seq,
                clock: event
                    .envelope
                    .timestamp
                    .unwrap_or(self.clock)
                    .max(self.clock),
            },
        })
    }
}
