//! Records that several files of a set have alike: a session that was resumed or forked into a new file begins with a
//! copy of its past. They are shown once, where they come first.
//!
//! Alike is an event with the same id and the same time in another file; ids that are unique in one file only are kept
//! apart by their times. Left out on purpose: copies within one file (the agent's reader knows those), and copies with
//! new ids and times (Codex forks; their reader knows those too).

use crate::reader::Batch;
use chipdeck_event::{Code, Entry, Finding, Id, Located, Payload};
use hashbrown::HashMap;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Copies {
    /// The time of each event, and the file that it came from.
    seen: HashMap<Id, (Option<i64>, u32)>,
    /// By file: what was left out since the last telling.
    left: HashMap<u32, Left>,
}

struct Left {
    records: u64,
    first_line: u64,
    last_offset: u64,
    /// The file that has them too.
    of: u32,
}

impl Copies {
    /// Leaves out what was there before.
    pub(crate) fn sift(&mut self, entries: &mut Vec<Located>) {
        entries.retain(|located| {
            let Entry::Event(event) = &located.entry else {
                return true;
            };
            let (file, time) = (located.place.file, event.envelope.timestamp);
            match self.seen.get(&event.envelope.event_id) {
                Some((held, of)) if *of != file && *held == time && time.is_some() => {
                    let of = *of;
                    if !matches!(event.payload, Payload::SessionStart { .. }) {
                        self.leave(located, of);
                    }
                    false
                }
                Some(_) => true,
                None => {
                    self.seen
                        .insert(event.envelope.event_id.clone(), (time, file));
                    true
                }
            }
        });
    }

    fn leave(&mut self, located: &Located, of: u32) {
        let place = located.place;
        let left = self.left.entry(place.file).or_insert(Left {
            records: 0,
            first_line: place.line,
            last_offset: u64::MAX,
            of,
        });
        // A record may be several events.
        if left.last_offset != place.offset {
            left.records += 1;
            left.last_offset = place.offset;
        }
    }

    /// A finding for each file that had copies since the last time.
    pub(crate) fn tell(&mut self, name: &dyn Fn(u32) -> Arc<str>, out: &mut Batch) {
        let mut left: Vec<(u32, Left)> = self.left.drain().collect();
        left.sort_unstable_by_key(|(file, _)| *file);
        for (file, left) in left {
            let told = match left.records {
                1 => "1 record of this file is a copy of one".to_owned(),
                n => format!("{n} records of this file are copies of those"),
            };
            let message = format!("{told} in {}: shown once", name(left.of));
            out.findings.push(Finding::new(
                Code::DuplicateEvent,
                file,
                left.first_line,
                message,
            ));
        }
    }
}
