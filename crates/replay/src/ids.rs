//! Event ids to entries, without a second copy of the ids: the table holds indices, the entries have the texts.

use chipdeck_event::Located;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// The first entry of each event id, from 1.
#[derive(Default)]
pub(crate) struct Ids {
    hasher: DefaultHashBuilder,
    table: HashTable<u32>,
}

fn id(entries: &[Located], index: u32) -> &str {
    let located = (index as usize)
        .checked_sub(1)
        .and_then(|at| entries.get(at));
    located
        .and_then(|l| l.entry.event())
        .map_or("", |event| &event.envelope.event_id)
}

impl Ids {
    pub(crate) fn get(&self, wanted: &str, entries: &[Located]) -> Option<u32> {
        let hash = self.hasher.hash_one(wanted);
        self.table
            .find(hash, |&index| id(entries, index) == wanted)
            .copied()
    }

    /// Takes the id of an entry in; the entry that has it already, if there is one.
    pub(crate) fn put(&mut self, index: u32, entries: &[Located]) -> Option<u32> {
        let own = id(entries, index);
        let hash = self.hasher.hash_one(own);
        if let Some(&first) = self.table.find(hash, |&index| id(entries, index) == own) {
            return Some(first);
        }
        let hasher = &self.hasher;
        self.table
            .insert_unique(hash, index, |&index| hasher.hash_one(id(entries, index)));
        None
    }

    /// Forgets the entries after `position`.
    pub(crate) fn truncate(&mut self, position: u32) {
        self.table.retain(|index| *index <= position);
    }
}
