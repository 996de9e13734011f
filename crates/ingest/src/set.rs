//! A log set as one stream: which files belong to it, their readers, and their entries in a first order.
//!
//! The order that comes out while reading is the final one in nearly every log; [`crate::order`] settles the rest
//! once all is read. Left out on purpose: the disk (see [`Source`]) and the fold.

use crate::copies::Copies;
use crate::format::{detect, Format};
use crate::reader::{Batch, Reader};
use crate::source::{Source, Window};
use crate::tape::Tape;
use crate::weave::Weave;
use std::io;
use std::sync::mpsc;

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
        .filter(|&i| {
            names
                .get(i)
                .is_some_and(|n| n.ends_with(".jsonl") && !n.contains('/'))
        })
        .collect();
    found.sort_by_key(|&i| names.get(i).copied());
    if !found.is_empty() {
        let beside = crate::agents::beside(names, &found);
        found.extend(beside);
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
    weave: Weave,
    copies: Copies,
}

struct Slot {
    /// `None` while the file is too short to tell what it is.
    reader: Option<(Format, Box<dyn Reader>)>,
    /// The session that it is of, where the others have to know.
    session: Option<Box<str>>,
}

/// Bytes of a file that are looked at to tell its format.
const HEAD: usize = 64 << 10;
/// Chunks that are read while those before are worked on.
const AHEAD: usize = 4;
/// Bytes that are read at once, and handed on: few enough to stay in the processor's cache.
const CHUNK: usize = 256 << 10;

impl LogSet {
    /// Looks at the head of each file and makes its reader. A file that cannot be read yet counts as empty.
    pub fn open(source: &dyn Source) -> LogSet {
        let mut set = LogSet {
            slots: Vec::new(),
            weave: Weave::default(),
            copies: Copies::default(),
        };
        set.admit(source);
        set
    }

    /// Takes in files that came since (a new shard), and tells the formats of those that could not be told before.
    pub fn admit(&mut self, source: &dyn Source) {
        self.slots.resize_with(source.files() as usize, || Slot {
            reader: None,
            session: None,
        });
        self.weave.files(self.slots.len());
        self.decide(source, false);
    }

    /// Makes the readers of files that have enough in them; with `anyway` of all that have anything.
    fn decide(&mut self, source: &dyn Source, anyway: bool) {
        if self.slots.iter().all(|slot| slot.reader.is_some()) {
            return;
        }
        let mut told: Vec<(usize, Format, Option<Box<str>>)> = Vec::new();
        for (file, slot) in self.slots.iter().enumerate() {
            if slot.reader.is_some() {
                continue;
            }
            let file_number = file as u32;
            let head = source.read_at(file_number, 0, HEAD).unwrap_or_default();
            if tellable(&head, anyway) {
                let format = detect(&source.name(file_number), &head);
                let session = match format {
                    Format::Agent(agent) => agent.session_of(&head),
                    _ => None,
                };
                told.push((file, format, session));
            }
        }
        // One canonical file makes the set canonical: what is foreign in the others is damage there.
        let canonical = self.format().is_canonical()
            && self.slots.iter().any(|slot| slot.reader.is_some())
            || told.iter().any(|(_, format, _)| format.is_canonical());
        for (file, format, session) in told {
            let format = if canonical { Format::Canonical } else { format };
            if let Some(slot) = self.slots.get_mut(file) {
                slot.reader = Some((format, format.reader(file as u32)));
                slot.session = session;
            }
        }
        self.introduce();
    }

    /// Tells each reader the sessions of the other files.
    fn introduce(&mut self) {
        let sessions: Vec<Option<Box<str>>> =
            self.slots.iter().map(|slot| slot.session.clone()).collect();
        if sessions.iter().flatten().count() < 2 {
            return;
        }
        for (file, slot) in self.slots.iter_mut().enumerate() {
            let others = sessions.iter().enumerate().filter(|(it, _)| *it != file);
            let others: Vec<Box<str>> = others.filter_map(|(_, it)| it.clone()).collect();
            if let (Some((_, reader)), Some(_)) = (&mut slot.reader, &slot.session) {
                reader.beside(&others);
            }
        }
    }

    /// Takes out what is decided of the files, each record once.
    fn drain(&mut self, batch: &mut Batch) {
        let held = batch.entries.len();
        self.weave.drain(&mut batch.entries);
        let copies_are_told = match self.format() {
            Format::Agent(agent) => !agent.is_document(),
            _ => false,
        };
        if copies_are_told {
            let mut fresh = batch.entries.split_off(held);
            self.copies.sift(&mut fresh);
            batch.entries.append(&mut fresh);
        }
    }

    /// The format of the set, for people and for what the fold judges. An empty log is one of ours to be.
    pub fn format(&self) -> Format {
        let first = self.slots.iter().find_map(|slot| slot.reader.as_ref());
        first.map_or(Format::Canonical, |(format, _)| *format)
    }

    /// Bytes that were read of file `file`.
    pub fn offset(&self, file: u32) -> u64 {
        let slot = self.slots.get(file as usize);
        slot.and_then(|slot| slot.reader.as_ref())
            .map_or(0, |(_, reader)| reader.offset())
    }

    pub fn progress(&self, source: &dyn Source) -> Progress {
        let mut progress = Progress::default();
        for (file, slot) in self.slots.iter().enumerate() {
            let len = source.len(file as u32);
            // What cannot be told yet is waited for, not read.
            let read = slot
                .reader
                .as_ref()
                .map_or(len, |(_, reader)| reader.offset());
            progress.read += read;
            progress.total += len.max(read);
        }
        progress
    }

    /// Reads about `budget` bytes more and hands the entries to `sink`, together with a source that has the bytes
    /// just read at hand. Call it until the progress is done, then [`LogSet::settle`]. With a budget of several
    /// megabytes the next bytes are read while `sink` works on those before.
    ///
    /// # Errors
    /// Those of the source; what was read before stays read.
    pub fn read(
        &mut self,
        source: &dyn Source,
        budget: usize,
        sink: Sink<'_>,
    ) -> io::Result<Progress> {
        self.decide(source, false);
        match self.slots.as_mut_slice() {
            [Slot {
                reader: Some((_, reader)),
                ..
            }] => {
                let plan = Plan {
                    file: 0,
                    source,
                    budget,
                };
                if budget > CHUNK {
                    plan.ahead(reader.as_mut(), sink)?;
                } else {
                    plan.plain(reader.as_mut(), sink)?;
                }
            }
            _ => self.woven(source, budget, sink)?,
        }
        Ok(self.progress(source))
    }

    /// Several files: always that one is read whose next entry decides.
    fn woven(&mut self, source: &dyn Source, budget: usize, sink: Sink<'_>) -> io::Result<()> {
        let mut left = budget;
        let mut batch = Batch::default();
        for (file, slot) in self.slots.iter().enumerate() {
            let file = file as u32;
            let read = slot
                .reader
                .as_ref()
                .map_or(u64::MAX, |(_, reader)| reader.offset());
            self.weave.end(file, read >= source.len(file));
        }
        while left > 0 {
            let Some(file) = self.weave.wants() else {
                break;
            };
            let Some(Slot {
                reader: Some((_, reader)),
                ..
            }) = self.slots.get_mut(file as usize)
            else {
                break;
            };
            let chunk = (CHUNK / 4).min(left);
            let bytes = source.read_at(file, reader.offset(), chunk)?;
            if bytes.is_empty() {
                self.weave.end(file, true);
            } else {
                left = left.saturating_sub(bytes.len());
                let offset = reader.offset();
                let window = Window {
                    inner: source,
                    file,
                    offset,
                    bytes: &bytes,
                };
                let mut part = Batch::default();
                reader.push(&bytes, &window, &mut part);
                batch.findings.append(&mut part.findings);
                self.weave.put(file, &mut part.entries);
            }
            self.drain(&mut batch);
            sink(&mut batch, source);
            batch = Batch::default();
        }
        self.drain(&mut batch);
        sink(&mut batch, source);
        Ok(())
    }

    /// The files have nothing more for now: hands out held-back last lines (see [`Reader::settle`]).
    pub fn settle(&mut self, at_rest: bool, source: &dyn Source, sink: Sink<'_>) {
        let several = self.slots.len() > 1;
        let short: Vec<usize> = (0..self.slots.len())
            .filter(|&at| self.slots.get(at).is_some_and(|slot| slot.reader.is_none()))
            .collect();
        self.decide(source, at_rest);
        for file in short {
            // A file that was too short to be told: all of it is in its head.
            let Some(Slot {
                reader: Some((_, reader)),
                ..
            }) = self.slots.get_mut(file)
            else {
                continue;
            };
            let head = source.read_at(file as u32, 0, HEAD).unwrap_or_default();
            let mut batch = Batch::default();
            reader.push(&head, source, &mut batch);
            if several {
                self.weave.put(file as u32, &mut batch.entries);
            }
            sink(&mut batch, source);
        }
        for (file, slot) in self.slots.iter_mut().enumerate() {
            let Some((_, reader)) = &mut slot.reader else {
                continue;
            };
            let mut batch = Batch::default();
            reader.settle(at_rest, source, &mut batch);
            if several {
                self.weave.put(file as u32, &mut batch.entries);
                self.weave.end(file as u32, true);
            }
            sink(&mut batch, source);
        }
        if several {
            let mut batch = Batch::default();
            for file in 0..self.slots.len() as u32 {
                self.weave.end(file, true);
            }
            self.drain(&mut batch);
            self.copies.tell(&|file| source.name(file), &mut batch);
            sink(&mut batch, source);
        }
    }
}

/// Takes what was read, with a source that has the bytes at hand.
pub type Sink<'a> = &'a mut dyn FnMut(&mut Batch, &dyn Source);

/// Is there enough to tell a file's format by?
fn tellable(head: &[u8], anyway: bool) -> bool {
    let blank = head.iter().all(u8::is_ascii_whitespace);
    let whole = || std::str::from_utf8(head).is_ok_and(|text| Tape::default().read(text).is_ok());
    !blank && (anyway || head.len() >= HEAD || head.contains(&b'\n') || whole())
}

/// Reading one file.
struct Plan<'a> {
    file: u32,
    source: &'a dyn Source,
    budget: usize,
}

impl Plan<'_> {
    fn plain(&self, reader: &mut dyn Reader, sink: Sink<'_>) -> io::Result<()> {
        let mut left = self.budget;
        let mut bytes = Vec::new();
        while left > 0 {
            let Some((offset, mut batch)) = self.step(reader, left, &mut bytes)? else {
                break;
            };
            left = left.saturating_sub(bytes.len());
            sink(&mut batch, &self.window(offset, &bytes));
        }
        Ok(())
    }

    /// The next bytes and what the reader makes of them; `None` at the end.
    fn step(
        &self,
        reader: &mut dyn Reader,
        left: usize,
        bytes: &mut Vec<u8>,
    ) -> io::Result<Option<(u64, Batch)>> {
        let offset = reader.offset();
        self.source
            .read_into(self.file, offset, left.min(CHUNK), bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let mut batch = Batch::default();
        reader.push(bytes, &self.window(offset, bytes), &mut batch);
        Ok(Some((offset, batch)))
    }

    fn window<'a>(&'a self, offset: u64, bytes: &'a [u8]) -> Window<'a> {
        Window {
            inner: self.source,
            file: self.file,
            offset,
            bytes,
        }
    }

    /// As [`Plan::plain`], with a thread that reads ahead.
    fn ahead(&self, reader: &mut dyn Reader, sink: Sink<'_>) -> io::Result<()> {
        let (give, take) = mpsc::sync_channel::<(u64, Vec<u8>, Batch)>(AHEAD);
        let (give_back, take_back) = mpsc::channel::<Vec<u8>>();
        std::thread::scope(|scope| {
            let read = scope.spawn(move || {
                let mut left = self.budget;
                while left > 0 {
                    let mut bytes = take_back.try_recv().unwrap_or_default();
                    let Some((offset, batch)) = self.step(reader, left, &mut bytes)? else {
                        break;
                    };
                    left = left.saturating_sub(bytes.len());
                    if give.send((offset, bytes, batch)).is_err() {
                        break;
                    }
                }
                Ok(())
            });
            for (offset, bytes, mut batch) in take {
                sink(&mut batch, &self.window(offset, &bytes));
                // The reader is gone at the end.
                let _ = give_back.send(bytes);
            }
            read.join()
                .unwrap_or_else(|_| Err(io::Error::other("the reader stopped")))
        })
    }
}
