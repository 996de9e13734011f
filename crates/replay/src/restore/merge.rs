//! Three-way merge of lines (diff3). Conflicts are values with a settlement; nothing is ever written into a text.
//!
//! Changes that overlap or touch are in conflict unless they are equal. Line ends stay byte for byte those of
//! the disk: where the log knows a text with other ends (or without the byte order mark), its side is dressed
//! like the disk's before the merge. Left out: moves, renames, word-level merging.

use super::lines::{changes, dressed_like, split_lines, Change, LineEnds};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// Keep what is on disk.
    Ours,
    /// Take what the log has.
    Theirs,
    /// The disk's lines, then the log's.
    Both,
}

/// A place that both sides changed, differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// From 0, in order.
    pub number: usize,
    /// Line of `ours` where it begins, from 1.
    pub line: usize,
    pub base: Vec<u8>,
    pub ours: Vec<u8>,
    pub theirs: Vec<u8>,
    pub settled: Option<Settlement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    Conflict(Conflict),
}

/// The result, with the places that are still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    parts: Vec<Part>,
}

/// A finished merge, or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    Text(Vec<u8>),
    /// This many conflicts are open.
    Open(usize),
}

impl Merge {
    /// One conflict over the whole file: it can be kept or given up, not merged.
    pub fn whole(base: &[u8], ours: &[u8], theirs: &[u8]) -> Merge {
        Merge {
            parts: vec![Part::Conflict(Conflict {
                number: 0,
                line: 1,
                base: base.to_vec(),
                ours: ours.to_vec(),
                theirs: theirs.to_vec(),
                settled: None,
            })],
        }
    }

    pub fn conflicts(&self) -> impl Iterator<Item = &Conflict> {
        self.parts.iter().filter_map(|part| match part {
            Part::Conflict(conflict) => Some(conflict),
            Part::Text(_) => None,
        })
    }

    /// False: there is no such conflict.
    pub fn settle(&mut self, number: usize, how: Option<Settlement>) -> bool {
        for part in &mut self.parts {
            if let Part::Conflict(conflict) = part {
                if conflict.number == number {
                    conflict.settled = how;
                    return true;
                }
            }
        }
        false
    }

    pub fn open(&self) -> usize {
        self.conflicts().filter(|c| c.settled.is_none()).count()
    }

    pub fn finish(&self) -> Merged {
        match self.open() {
            0 => Merged::Text(self.shown()),
            open => Merged::Open(open),
        }
    }

    /// The text with the disk's lines at each place that is still open: for the preview only.
    pub fn shown(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => push(&mut out, text),
                Part::Conflict(conflict) => match conflict.settled {
                    None | Some(Settlement::Ours) => push(&mut out, &conflict.ours),
                    Some(Settlement::Theirs) => push(&mut out, &conflict.theirs),
                    Some(Settlement::Both) => {
                        push(&mut out, &conflict.ours);
                        push(&mut out, &conflict.theirs);
                    }
                },
            }
        }
        out
    }
}

/// Appends; a piece that lost its place at the end of a text gets the newline that it never had.
fn push(out: &mut Vec<u8>, text: &[u8]) {
    if text.is_empty() {
        return;
    }
    if !out.is_empty() && !out.ends_with(b"\n") {
        if matches!(LineEnds::of(out), LineEnds::CrLf) {
            out.push(b'\r');
        }
        out.push(b'\n');
    }
    out.extend_from_slice(text);
}

/// `ours` is the disk, `theirs` what is wanted, `base` what both came from.
pub fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Merge {
    if theirs == base || theirs == ours {
        return text(ours.to_vec());
    }
    if ours == base {
        return text(theirs.to_vec());
    }
    let base = dressed_like(base, ours);
    let theirs = dressed_like(theirs, ours);
    if theirs == base {
        return text(ours.to_vec());
    }
    diff3(
        &split_lines(&base),
        &split_lines(ours),
        &split_lines(&theirs),
    )
}

/// Takes one old change back and keeps all later ones: `after` and `before` are the file around that change,
/// `now` is the disk.
pub fn undo_change(before: &[u8], after: &[u8], now: &[u8]) -> Merge {
    merge(after, now, before)
}

fn text(bytes: Vec<u8>) -> Merge {
    Merge {
        parts: vec![Part::Text(bytes)],
    }
}

/// Walks both lists of changes against the base, joining those that overlap or touch into one region.
fn diff3(base: &[&[u8]], ours: &[&[u8]], theirs: &[&[u8]]) -> Merge {
    let our_changes = changes(base, ours);
    let their_changes = changes(base, theirs);
    let mut ours_at = Cursor::new(&our_changes);
    let mut theirs_at = Cursor::new(&their_changes);
    let mut build = Build::default();
    let mut at = 0;
    while let Some(start) = [ours_at.next_start(), theirs_at.next_start()]
        .into_iter()
        .flatten()
        .min()
    {
        build.text(base.get(at..start).unwrap_or_default());
        build.ours_line += start.saturating_sub(at);
        let mut end = start;
        let ours_from = ours_at.map(start);
        let theirs_from = theirs_at.map(start);
        let (mut ours_changed, mut theirs_changed) = (false, false);
        loop {
            let a = ours_at.take_up_to(&mut end);
            let b = theirs_at.take_up_to(&mut end);
            ours_changed |= a;
            theirs_changed |= b;
            if !a && !b {
                break;
            }
        }
        let region = Region {
            base: base.get(start..end).unwrap_or_default(),
            ours: slice(ours, ours_from..ours_at.map(end)),
            theirs: slice(theirs, theirs_from..theirs_at.map(end)),
        };
        build.region(&region, ours_changed, theirs_changed);
        at = end;
    }
    build.text(base.get(at..).unwrap_or_default());
    build.finish()
}

fn slice<'a, 'b>(lines: &'a [&'b [u8]], range: Range<usize>) -> &'a [&'b [u8]] {
    lines.get(range).unwrap_or_default()
}

/// A place in one side's list of changes.
struct Cursor<'a> {
    changes: &'a [Change],
    next: usize,
    /// Lines of the side minus lines of the base, up to here.
    shift: isize,
}

impl<'a> Cursor<'a> {
    fn new(changes: &'a [Change]) -> Cursor<'a> {
        Cursor {
            changes,
            next: 0,
            shift: 0,
        }
    }

    fn next_start(&self) -> Option<usize> {
        self.changes.get(self.next).map(|change| change.old.start)
    }

    /// The side's line that stands where `line` of the base does, outside of changes.
    fn map(&self, line: usize) -> usize {
        line.saturating_add_signed(self.shift)
    }

    /// Takes the next change if it begins at or before `end`, and moves `end` behind it.
    fn take_up_to(&mut self, end: &mut usize) -> bool {
        match self.changes.get(self.next) {
            Some(change) if change.old.start <= *end => {
                *end = (*end).max(change.old.end);
                self.shift += change.new.len() as isize - change.old.len() as isize;
                self.next += 1;
                true
            }
            _ => false,
        }
    }
}

struct Region<'a, 'b> {
    base: &'a [&'b [u8]],
    ours: &'a [&'b [u8]],
    theirs: &'a [&'b [u8]],
}

#[derive(Default)]
struct Build {
    parts: Vec<Part>,
    plain: Vec<u8>,
    conflicts: usize,
    /// Lines of `ours` before this place.
    ours_line: usize,
}

impl Build {
    fn text(&mut self, lines: &[&[u8]]) {
        for line in lines {
            push(&mut self.plain, line);
        }
    }

    fn region(&mut self, region: &Region, ours_changed: bool, theirs_changed: bool) {
        let Region { base, ours, theirs } = *region;
        match (ours_changed, theirs_changed) {
            (_, false) => self.text(ours),
            (false, true) => self.text(theirs),
            (true, true) if ours == theirs => self.text(ours),
            (true, true) => self.conflict(base, ours, theirs),
        }
        self.ours_line += ours.len();
    }

    /// What both sides begin or end with is no part of the conflict.
    fn conflict(&mut self, base: &[&[u8]], ours: &[&[u8]], theirs: &[&[u8]]) {
        let head = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
        let rest = (
            ours.get(head..).unwrap_or_default(),
            theirs.get(head..).unwrap_or_default(),
        );
        let foot = rest.0.iter().rev().zip(rest.1.iter().rev());
        let foot = foot.take_while(|(a, b)| a == b).count();
        let cut = |lines: &[&[u8]]| -> Vec<u8> {
            let end = lines.len().saturating_sub(foot);
            lines.get(..end).unwrap_or_default().concat()
        };
        self.text(ours.get(..head).unwrap_or_default());
        if !self.plain.is_empty() {
            self.parts.push(Part::Text(std::mem::take(&mut self.plain)));
        }
        self.parts.push(Part::Conflict(Conflict {
            number: self.conflicts,
            line: self.ours_line + head + 1,
            base: base.concat(),
            ours: cut(rest.0),
            theirs: cut(rest.1),
            settled: None,
        }));
        self.conflicts += 1;
        let foot_from = ours.len().saturating_sub(foot);
        self.text(ours.get(foot_from..).unwrap_or_default());
    }

    fn finish(mut self) -> Merge {
        if !self.plain.is_empty() {
            self.parts.push(Part::Text(self.plain));
        }
        Merge { parts: self.parts }
    }
}
