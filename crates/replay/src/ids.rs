//! Event ids to entries, without a second copy of the ids: the table holds indices, the entries have the texts.

use chipdeck_event::Located;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// The first entry of each event id, from 1. Its hash stands beside it: the texts are all over the memory.
#[derive(Default)]
pub(crate) struct Ids {
    hasher: DefaultHashBuilder,
    table: HashTable<(u32, u32)>,
}

fn id(entries: &[Located], index: u32) -> &str {
    let located = (index as usize)
        .checked_sub(1)
        .and_then(|at| entries.get(at));
    located
        .and_then(|l| l.entry.event())
        .map_or("", |event| &event.envelope.event_id)
}

/// What is kept of a hash, as a hash again: the table looks at the highest bits too.
fn wide(short: u32) -> u64 {
    u64::from(short) << 32 | u64::from(short)
}

impl Ids {
    fn hash(&self, id: &str) -> u32 {
        let hash = self.hasher.hash_one(id);
        (hash >> 32) as u32 ^ hash as u32
    }

    pub(crate) fn get(&self, wanted: &str, entries: &[Located]) -> Option<u32> {
        let hash = self.hash(wanted);
        let same = |&(held, index): &(u32, u32)| held == hash && id(entries, index) == wanted;
        self.table.find(wide(hash), same).map(|(_, index)| *index)
    }

    /// Takes the id of an entry in; the entry that has it already, if there is one.
    pub(crate) fn put(&mut self, index: u32, entries: &[Located]) -> Option<u32> {
        let own = id(entries, index);
        let hash = self.hash(own);
        let same = |&(held, index): &(u32, u32)| held == hash && id(entries, index) == own;
        match self.table.entry(wide(hash), same, |(hash, _)| wide(*hash)) {
            Entry::Occupied(first) => Some(first.get().1),
            Entry::Vacant(place) => {
                place.insert((hash, index));
                None
            }
        }
    }

    /// Forgets the entries after `position`.
    pub(crate) fn truncate(&mut self, position: u32) {
        self.table.retain(|(_, index)| *index <= position);
    }
}
