//! A log set as one stream: which files belong to it, their readers, and their entries in a first order.
//!
//! The order that comes out while reading is the final one in nearly every log; [`crate::order`] settles the rest
//! once all is read. Left out on purpose: the disk (see [`Source`]) and the fold.

use crate::format::{detect, Format};
use crate::reader::{Batch, Reader};
use crate::source::{Source, Window};
use std::io;

/// What a folder of logs is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `dialog.jsonl` and `exec.jsonl`; other files are not read.
    Pair,
    /// Every `.jsonl` of the folder.
    Shards,
    /// An agent's own folder: files at fixed places below it.
    Tree,
}

/// Which files of a folder make its log set: indices into `names` (below the folder, with `/`) in the order in which
/// their entries are tied. `None` when none is a log.
pub fn members(names: &[&str]) -> Option<(Shape, Vec<usize>)> {
    let at = |wanted: &str| names.iter().position(|name| *name == wanted);
    if let (Some(dialog), Some(exec)) = (at("dialog.jsonl"), at("exec.jsonl")) {
        return Some((Shape::Pair, vec![dialog, exec]));
    }
    let mut found: Vec<usize> = (0..names.len())
        .filter(|&i| names.get(i).is_some_and(|n| n.ends_with(".jsonl") && !n.contains('/')))
        .collect();
    found.sort_by_key(|&i| names.get(i).copied());
    if !found.is_empty() {
        return Some((Shape::Shards, found));
    }
    crate::agents::tree(names).map(|found| (Shape::Tree, found))
}

/// Bytes read and to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub read: u64,
    pub total: u64,
}

impl Progress {
    /// Everything that the files have now was read.
    pub fn done(self) -> bool {
        self.read >= self.total
    }
}

/// The readers of a log set.
pub struct LogSet {
    slots: Vec<Slot>,
    format: Format,
}

struct Slot {
    reader: Box<dyn Reader>,
    format: Format,
}

/// Bytes of a file that are looked at to tell its format.
const HEAD: usize = 64 << 10;

impl LogSet {
    /// Looks at the head of each file and makes its reader. A file that cannot be read yet counts as empty.
    pub fn open(source: &dyn Source) -> LogSet {
        let mut set = LogSet {
            slots: Vec::new(),
            format: Format::Raw,
        };
        set.admit(source);
        set
    }

    /// Readers for files that came since (a new shard).
    pub fn admit(&mut self, source: &dyn Source) {
        let formats: Vec<Format> = (self.slots.len() as u32..source.files())
            .map(|file| {
                detect(
                    &source.name(file),
                    &source.read_at(file, 0, HEAD).unwrap_or_default(),
                )
            })
            .collect();
        let first = self.slots.is_empty();
        // One canonical file makes the set canonical: what is foreign in the others is damage there.
        let canonical = self.format.is_canonical() && !first
            || formats.iter().any(|format| format.is_canonical());
        for format in formats {
            let format = if canonical { Format::Canonical } else { format };
            let file = self.slots.len() as u32;
            self.slots.push(Slot {
                reader: format.reader(file),
                format,
            });
        }
        if let Some(slot) = self.slots.first() {
            self.format = slot.format;
        }
    }

    /// The format of the set, for people and for what the fold judges.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Bytes that were read of file `file`.
    pub fn offset(&self, file: u32) -> u64 {
        self.slots
            .get(file as usize)
            .map_or(0, |slot| slot.reader.offset())
    }

    pub fn progress(&self, source: &dyn Source) -> Progress {
        let mut progress = Progress::default();
        for (file, slot) in self.slots.iter().enumerate() {
            let read = slot.reader.offset();
            progress.read += read;
            progress.total += source.len(file as u32).max(read);
        }
        progress
    }

    /// Reads about `budget` bytes more and hands the entries to `sink`, together with a source that has the bytes
    /// just read at hand. Call it until the progress is done, then [`LogSet::settle`].
    ///
    /// # Errors
    /// Those of the source; what was read before stays read.
    pub fn read(
        &mut self,
        source: &dyn Source,
        budget: usize,
        sink: &mut dyn FnMut(&mut Batch, &dyn Source),
    ) -> io::Result<Progress> {
        let mut left = budget;
        for (file, slot) in self.slots.iter_mut().enumerate() {
            let file = file as u32;
            while left > 0 {
                let offset = slot.reader.offset();
                let bytes = source.read_at(file, offset, left.min(1 << 20))?;
                if bytes.is_empty() {
                    break;
                }
                left = left.saturating_sub(bytes.len());
                let window = Window {
                    inner: source,
                    file,
                    offset,
                    bytes: &bytes,
                };
                let mut batch = Batch::default();
                slot.reader.push(&bytes, &window, &mut batch);
                sink(&mut batch, &window);
            }
        }
        Ok(self.progress(source))
    }

    /// The files have nothing more for now: hands out held-back last lines (see [`Reader::settle`]).
    pub fn settle(
        &mut self,
        at_rest: bool,
        source: &dyn Source,
        sink: &mut dyn FnMut(&mut Batch, &dyn Source),
    ) {
        for slot in &mut self.slots {
            let mut batch = Batch::default();
            slot.reader.settle(at_rest, source, &mut batch);
            sink(&mut batch, source);
        }
    }
}
