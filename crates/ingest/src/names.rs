//! Ids and names that recur share one allocation. Only the recent ones are remembered, so that a log with a million
//! ids costs no table of a million.

use chipdeck_event::Id;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Names in each of the two generations.
const GENERATION: usize = 8192;

#[derive(Default)]
pub(crate) struct Names {
    hasher: DefaultHashBuilder,
    recent: HashTable<(u64, Id)>,
    older: HashTable<(u64, Id)>,
}

impl Names {
    pub(crate) fn get(&mut self, name: &str) -> Id {
        let hash = self.hasher.hash_one(name);
        let same = |held: &(u64, Id)| held.0 == hash && &*held.1 == name;
        if let Some((_, id)) = self.recent.find(hash, same) {
            return id.clone();
        }
        let id = match self.older.find(hash, same) {
            Some((_, id)) => id.clone(),
            None => name.into(),
        };
        if self.recent.len() >= GENERATION {
            std::mem::swap(&mut self.recent, &mut self.older);
            self.recent.clear();
        }
        self.recent
            .insert_unique(hash, (hash, id.clone()), |held| held.0);
        id
    }
}
