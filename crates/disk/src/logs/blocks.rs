//! A few blocks of recently read bytes: rows of a list lie close together in a file, and one read then serves many.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

pub const BLOCK: u64 = 64 << 10;
/// 32 blocks: 2 MiB.
const MOST: usize = 32;

/// Newest last.
#[derive(Default)]
pub struct Blocks(Mutex<VecDeque<(Key, Arc<[u8]>)>>);

/// File and number of the block in it.
pub type Key = (u32, u64);

impl Blocks {
    pub fn get(&self, key: Key) -> Option<Arc<[u8]>> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = held.iter().position(|(it, _)| *it == key)?;
        let entry = held.remove(at)?;
        let bytes = entry.1.clone();
        held.push_back(entry);
        Some(bytes)
    }

    pub fn put(&self, key: Key, bytes: Arc<[u8]>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|(it, _)| *it != key);
        if held.len() >= MOST {
            held.pop_front();
        }
        held.push_back((key, bytes));
    }

    pub fn forget(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}
