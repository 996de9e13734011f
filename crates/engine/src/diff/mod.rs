//! Text diffs, ready to draw: lines first, then the words that differ inside replaced lines, hunks with the heading
//! they stand under. Bounded: a deadline for each diff, and a limit on what one view carries.
//!
//! Left out: where the two texts come from, and unified diff text (that is the command's).

mod heading;
mod language;
mod words;

pub use language::language_of;

use crate::api::{DiffRow, DiffSide, DiffView, Hunk, Run};
use similar::{Algorithm, DiffOp, DiffTag};
use std::ops::Range;
use std::time::{Duration, Instant};

/// How long a diff may think before it settles for a coarser answer.
const PATIENCE: Duration = Duration::from_millis(300);
/// Larger texts get no diff at all, only the note `too-large`.
const MOST_BYTES: usize = 64 << 20;
/// Rows that one view carries; later hunks are left out and the view says so.
const MOST_ROWS: usize = 20_000;
/// Characters of one row; longer lines are cut and the view says so.
const MOST_CHARS: usize = 4_000;

/// One side of a diff.
#[derive(Clone, Debug, Default)]
pub struct Side<'a> {
    /// For people: `event 4,211`, `disk now`.
    pub label: String,
    pub content: Content<'a>,
    /// `exact`, `unverified`, `unknown`; `None` for the disk.
    pub certainty: Option<String>,
    pub sha256: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content<'a> {
    /// There is no such file.
    #[default]
    Absent,
    /// There is one, but nobody knows what is in it.
    Unknown,
    Bytes(&'a [u8]),
}

impl<'a> Content<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Content::Bytes(bytes) => bytes,
            Content::Absent | Content::Unknown => &[],
        }
    }
}

/// The diff of two sides, with `context` unchanged lines around each change (`u32::MAX`: the whole file).
pub fn view(path: &str, old: Side, new: Side, context: u32) -> DiffView {
    let mut view = DiffView {
        old: Some(describe(&old)),
        new: Some(describe(&new)),
        language: language_of(path).map(str::to_owned),
        ..DiffView::default()
    };
    let note = match (old.content, new.content) {
        (_, Content::Unknown) => Some("unknown-new"),
        (Content::Unknown, _) => Some("unknown-old"),
        (a, b) if a == b => Some("same"),
        (a, b) if a.bytes().len().max(b.bytes().len()) > MOST_BYTES => Some("too-large"),
        (a, b) if is_binary(a.bytes()) || is_binary(b.bytes()) => Some("binary"),
        _ => None,
    };
    if let Some(note) = note {
        view.note = Some(note.to_owned());
        return view;
    }
    let pair = Pair::new(old.content.bytes(), new.content.bytes());
    pair.fill(&mut view, context);
    if view.hunks.is_empty() {
        // One is absent and the other empty.
        view.note = Some("same".to_owned());
    }
    view
}

/// Lines that a change adds and removes.
pub fn count(old: &[u8], new: &[u8]) -> (u32, u32) {
    if old == new || is_binary(old) || is_binary(new) || old.len().max(new.len()) > MOST_BYTES {
        return (0, 0);
    }
    Pair::new(old, new).count()
}

/// What a hunk's id names: lines of both sides, and a print of the two texts it is valid for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkRef {
    /// Lines of the old side, from 0.
    pub old: Range<usize>,
    /// Lines of the new side, from 0.
    pub new: Range<usize>,
    print: String,
}

impl HunkRef {
    /// Reads an id; `None` for anything that is none.
    pub fn parse(id: &str) -> Option<HunkRef> {
        let mut parts = id.split('.');
        let mut number = || parts.next()?.parse::<usize>().ok();
        let (old, old_len, new, new_len) = (number()?, number()?, number()?, number()?);
        let print = parts.next()?.to_owned();
        let end = old.checked_add(old_len)?;
        let new_end = new.checked_add(new_len)?;
        parts.next().is_none().then_some(HunkRef {
            old: old..end,
            new: new..new_end,
            print,
        })
    }

    /// It was given out for exactly these two texts.
    pub fn is_of(&self, old: &[u8], new: &[u8]) -> bool {
        self.print == print(old, new)
    }

    /// The new text with this hunk's lines as the old text has them; `None` when the id is for other texts.
    pub fn taken_back(&self, old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
        if !self.is_of(old, new) {
            return None;
        }
        let (old_lines, new_lines) = (lines(old), lines(new));
        let mut out = Vec::with_capacity(new.len());
        out.extend(new_lines.get(..self.new.start)?.concat());
        out.extend(old_lines.get(self.old.clone())?.concat());
        out.extend(new_lines.get(self.new.end..)?.concat());
        Some(out)
    }
}

/// Short print of two texts, so that an id given out for others is noticed.
fn print(old: &[u8], new: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    hash.update((old.len() as u64).to_le_bytes());
    hash.update(old);
    hash.update(new);
    hash.finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Texts with NUL, or that are no UTF-8, have no lines to show.
pub fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_some() || std::str::from_utf8(bytes).is_err()
}

/// Lines with their ends; split at `\n` only.
pub fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// `lf`, `crlf`, `mixed`, or `none` for a text without a line end.
pub fn endings(bytes: &[u8]) -> &'static str {
    let all = memchr::memchr_iter(b'\n', bytes).count();
    let crlf = memchr::memmem::find_iter(bytes, b"\r\n").count();
    match (all, crlf) {
        (0, _) => "none",
        (_, 0) => "lf",
        (all, crlf) if all == crlf => "crlf",
        _ => "mixed",
    }
}

fn describe(side: &Side) -> DiffSide {
    let bytes = match side.content {
        Content::Bytes(bytes) => Some(bytes),
        Content::Absent | Content::Unknown => None,
    };
    DiffSide {
        label: side.label.clone(),
        exists: side.content != Content::Absent,
        certainty: side.certainty.clone(),
        bytes: bytes.map(|it| it.len() as u64),
        sha256: side.sha256.clone(),
        endings: bytes.map(|it| endings(it).to_owned()),
        final_newline: bytes.is_some_and(|it| it.last() == Some(&b'\n')),
    }
}

/// Two texts in lines.
struct Pair<'a> {
    old: Vec<&'a [u8]>,
    new: Vec<&'a [u8]>,
    old_bytes: &'a [u8],
    new_bytes: &'a [u8],
    deadline: Instant,
}

impl<'a> Pair<'a> {
    fn new(old: &'a [u8], new: &'a [u8]) -> Pair<'a> {
        Pair {
            old: lines(old),
            new: lines(new),
            old_bytes: old,
            new_bytes: new,
            deadline: Instant::now() + PATIENCE,
        }
    }

    fn ops(&self) -> Vec<DiffOp> {
        similar::capture_diff_slices_deadline(
            Algorithm::Patience,
            &self.old,
            &self.new,
            Some(self.deadline),
        )
    }

    fn count(&self) -> (u32, u32) {
        tally(&self.ops())
    }

    fn fill(&self, view: &mut DiffView, context: u32) {
        let ops = self.ops();
        (view.added, view.removed) = tally(&ops);
        let print = print(self.old_bytes, self.new_bytes);
        let (old_usual, new_usual) = (usual_end(self.old_bytes), usual_end(self.new_bytes));
        let context = usize::try_from(context)
            .unwrap_or(usize::MAX)
            .min(self.old.len() + self.new.len());
        let mut rows_left = MOST_ROWS;
        for group in similar::group_diff_ops(ops, context) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else {
                continue;
            };
            let old = first.old_range().start..last.old_range().end;
            let new = first.new_range().start..last.new_range().end;
            let mut hunk = Hunk {
                id: format!(
                    "{}.{}.{}.{}.{print}",
                    old.start,
                    old.len(),
                    new.start,
                    new.len()
                ),
                old_start: number(old.start),
                old_lines: number(old.len()),
                new_start: number(new.start),
                new_lines: number(new.len()),
                heading: heading::above(&self.old, &self.new, &group),
                rows: Vec::new(),
            };
            let mut row =
                |kind: &str, old: Option<usize>, new: Option<usize>, runs: Option<Vec<Run>>| {
                    if rows_left == 0 {
                        view.clipped = true;
                        return;
                    }
                    rows_left -= 1;
                    let (line, usual) = match (old, new) {
                        (Some(at), None) => (self.old.get(at), old_usual),
                        (_, Some(at)) => (self.new.get(at), new_usual),
                        (None, None) => (None, ""),
                    };
                    let line = line.copied().unwrap_or_default();
                    let (text, end) = split_end(line);
                    let mut runs = runs.unwrap_or_else(|| {
                        vec![Run {
                            text: text.into_owned(),
                            changed: false,
                        }]
                    });
                    view.clipped |= clip(&mut runs);
                    hunk.rows.push(DiffRow {
                        kind: kind.to_owned(),
                        old_line: old.map(number),
                        new_line: new.map(number),
                        runs,
                        end: (end != usual).then(|| end.to_owned()),
                    });
                };
            for op in &group {
                match op.tag() {
                    DiffTag::Equal => {
                        for (old, new) in op.old_range().zip(op.new_range()) {
                            row("same", Some(old), Some(new), None);
                        }
                    }
                    DiffTag::Delete => op
                        .old_range()
                        .for_each(|at| row("del", Some(at), None, None)),
                    DiffTag::Insert => op
                        .new_range()
                        .for_each(|at| row("add", None, Some(at), None)),
                    DiffTag::Replace => {
                        let old = self.old.get(op.old_range()).unwrap_or_default();
                        let new = self.new.get(op.new_range()).unwrap_or_default();
                        let (mut del, mut add) = words::mark(old, new, self.deadline);
                        for (i, at) in op.old_range().enumerate() {
                            row("del", Some(at), None, del.get_mut(i).map(std::mem::take));
                        }
                        for (i, at) in op.new_range().enumerate() {
                            row("add", None, Some(at), add.get_mut(i).map(std::mem::take));
                        }
                    }
                }
            }
            // Line numbers count from 1; an empty side names the line before it, as unified diffs do.
            hunk.old_start += u32::from(hunk.old_lines > 0);
            hunk.new_start += u32::from(hunk.new_lines > 0);
            for row in &mut hunk.rows {
                row.old_line = row.old_line.map(|at| at.saturating_add(1));
                row.new_line = row.new_line.map(|at| at.saturating_add(1));
            }
            if !hunk.rows.is_empty() {
                view.hunks.push(hunk);
            }
        }
    }
}

fn tally(ops: &[DiffOp]) -> (u32, u32) {
    let changed = || ops.iter().filter(|op| op.tag() != DiffTag::Equal);
    (
        number(changed().map(|op| op.new_range().len()).sum()),
        number(changed().map(|op| op.old_range().len()).sum()),
    )
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The end that most lines have.
fn usual_end(bytes: &[u8]) -> &'static str {
    let all = memchr::memchr_iter(b'\n', bytes).count();
    let crlf = memchr::memmem::find_iter(bytes, b"\r\n").count();
    if crlf * 2 > all {
        "crlf"
    } else {
        "lf"
    }
}

/// A line's text and what it ends with.
fn split_end(line: &[u8]) -> (std::borrow::Cow<'_, str>, &'static str) {
    let (text, end) = match line {
        [text @ .., b'\r', b'\n'] => (text, "crlf"),
        [text @ .., b'\n'] => (text, "lf"),
        text => (text, "none"),
    };
    (String::from_utf8_lossy(text), end)
}

/// Cuts a row that is too long to draw; says whether it did.
fn clip(runs: &mut Vec<Run>) -> bool {
    let mut left = MOST_CHARS;
    for at in 0..runs.len() {
        let Some(run) = runs.get_mut(at) else { break };
        match run.text.char_indices().nth(left) {
            Some((cut, _)) => {
                run.text.truncate(cut);
                run.text.push('…');
                runs.truncate(at + 1);
                return true;
            }
            None => left -= run.text.chars().count(),
        }
    }
    false
}

#[cfg(test)]
mod tests;
