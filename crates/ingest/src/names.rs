//! Ids and names that recur share one allocation. Only the recent ones are remembered, so that a log with a million
//! ids costs no table of a million.

use chipdeck_event::Id;
use hashbrown::HashSet;

/// Names in each of the two generations.
const GENERATION: usize = 8192;

#[derive(Default)]
pub(crate) struct Names {
    recent: HashSet<Id>,
    older: HashSet<Id>,
}

impl Names {
    pub(crate) fn get(&mut self, name: &str) -> Id {
        if let Some(id) = self.recent.get(name) {
            return id.clone();
        }
        let id = self.older.get(name).cloned().unwrap_or_else(|| name.into());
        if self.recent.len() >= GENERATION {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(id.clone());
        id
    }
}
