//! Lines, line ends, and the changes between two texts.
//!
//! Lines end at `\n` only and keep it, so that joining them gives the bytes back whatever they are.

use super::Note;
use std::collections::HashMap;
use std::ops::Range;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Lines with their ends; the last may have none. No line for no bytes.
pub fn split_lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

/// How the lines of a text end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnds {
    /// No line end at all.
    None,
    Lf,
    CrLf,
    Mixed,
}

impl LineEnds {
    pub fn of(bytes: &[u8]) -> LineEnds {
        let (mut lf, mut crlf) = (false, false);
        for line in split_lines(bytes) {
            if line.ends_with(b"\r\n") {
                crlf = true;
            } else if line.ends_with(b"\n") {
                lf = true;
            }
        }
        match (lf, crlf) {
            (false, false) => LineEnds::None,
            (true, false) => LineEnds::Lf,
            (false, true) => LineEnds::CrLf,
            (true, true) => LineEnds::Mixed,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            LineEnds::None => "none",
            LineEnds::Lf => "lf",
            LineEnds::CrLf => "crlf",
            LineEnds::Mixed => "mixed",
        }
    }
}

/// What a change of the whole text does to its ends and its mark.
pub(super) fn notes(before: &[u8], after: &[u8]) -> Vec<Note> {
    let mut notes = Vec::new();
    if before == after {
        return notes;
    }
    let ends = (LineEnds::of(before), LineEnds::of(after));
    if ends.0 != ends.1 && ends.0 != LineEnds::None && ends.1 != LineEnds::None {
        notes.push(Note::LineEndings);
    }
    if !before.is_empty() && !after.is_empty() && before.ends_with(b"\n") != after.ends_with(b"\n")
    {
        notes.push(Note::FinalNewline);
    }
    if before.starts_with(BOM) != after.starts_with(BOM) {
        notes.push(Note::ByteOrderMark);
    }
    notes
}

/// `text` in the dress of `model`: its line ends and its byte order mark, where both sides are of one kind.
pub fn dressed_like(text: &[u8], model: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    let bare = text.strip_prefix(BOM).unwrap_or(text);
    if model.starts_with(BOM) {
        out.extend_from_slice(BOM);
    }
    match (LineEnds::of(model), LineEnds::of(bare)) {
        (LineEnds::CrLf, LineEnds::Lf) => {
            for line in split_lines(bare) {
                match line.strip_suffix(b"\n") {
                    Some(line) => {
                        out.extend_from_slice(line);
                        out.extend_from_slice(b"\r\n");
                    }
                    None => out.extend_from_slice(line),
                }
            }
        }
        (LineEnds::Lf, LineEnds::CrLf) => {
            for line in split_lines(bare) {
                match line.strip_suffix(b"\r\n") {
                    Some(line) => {
                        out.extend_from_slice(line);
                        out.push(b'\n');
                    }
                    None => out.extend_from_slice(line),
                }
            }
        }
        _ => out.extend_from_slice(bare),
    }
    out
}

/// Lines `old` of the one side stand where lines `new` of the other do; both from 0, either may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

/// The changes between two lists of lines, in order, never touching each other.
pub fn changes(old: &[&[u8]], new: &[&[u8]]) -> Vec<Change> {
    let mut out = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    let ends = [(old.len(), new.len())];
    for (i, j) in matches(old, new).into_iter().chain(ends) {
        if i > at_old || j > at_new {
            out.push(Change {
                old: at_old..i,
                new: at_new..j,
            });
        }
        at_old = i + 1;
        at_new = j + 1;
    }
    out
}

/// Pairs of equal lines, rising on both sides: a longest common subsequence, approximated where the texts are
/// so large and so different that it would take minutes.
fn matches(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (rest_old, rest_new) = (tail(old, head), tail(new, head));
    let foot = rest_old.iter().rev().zip(rest_new.iter().rev());
    let foot = foot.take_while(|(a, b)| a == b).count();
    let (mid_old, mid_new) = (trim(rest_old, foot), trim(rest_new, foot));

    let mut pairs: Vec<(usize, usize)> = (0..head).map(|i| (i, i)).collect();
    pairs.extend(
        middle(mid_old, mid_new)
            .into_iter()
            .map(|(i, j)| (i + head, j + head)),
    );
    let (start_old, start_new) = (old.len() - foot, new.len() - foot);
    pairs.extend((0..foot).map(|i| (start_old + i, start_new + i)));
    pairs
}

fn tail<T>(list: &[T], from: usize) -> &[T] {
    list.get(from..).unwrap_or_default()
}

fn trim<T>(list: &[T], foot: usize) -> &[T] {
    list.get(..list.len().saturating_sub(foot))
        .unwrap_or_default()
}

/// Lines that stand on one side only can match nothing: they are left out before the search.
fn middle(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() {
        return Vec::new();
    }
    let mut ids: HashMap<&[u8], (u32, bool)> = HashMap::new();
    for line in old {
        let next = ids.len() as u32;
        ids.entry(line).or_insert((next, false));
    }
    let mut kept_new = Vec::new();
    for (j, line) in new.iter().enumerate() {
        if let Some((id, both)) = ids.get_mut(line) {
            *both = true;
            kept_new.push((j, *id));
        }
    }
    let mut kept_old = Vec::new();
    for (i, line) in old.iter().enumerate() {
        if let Some((id, true)) = ids.get(line) {
            kept_old.push((i, *id));
        }
    }
    let a: Vec<u32> = kept_old.iter().map(|(_, id)| *id).collect();
    let b: Vec<u32> = kept_new.iter().map(|(_, id)| *id).collect();
    let mut pairs = Vec::new();
    for (i, j) in common(&a, &b) {
        if let (Some((i, _)), Some((j, _))) = (kept_old.get(i), kept_new.get(j)) {
            pairs.push((*i, *j));
        }
    }
    pairs
}

/// Above this product of lengths an exact search may take too long.
const EXACT: usize = 200_000_000;

fn common(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    if a.len().saturating_mul(b.len()) <= EXACT {
        return exact(a, b);
    }
    let mut pairs = Vec::new();
    let (mut from_a, mut from_b) = (0, 0);
    for (i, j) in unique_anchors(a, b).into_iter().chain([(a.len(), b.len())]) {
        let gap_a = a.get(from_a..i).unwrap_or_default();
        let gap_b = b.get(from_b..j).unwrap_or_default();
        if gap_a.len().saturating_mul(gap_b.len()) <= EXACT {
            pairs.extend(
                exact(gap_a, gap_b)
                    .into_iter()
                    .map(|(x, y)| (x + from_a, y + from_b)),
            );
        }
        if i < a.len() {
            pairs.push((i, j));
        }
        from_a = i + 1;
        from_b = j + 1;
    }
    pairs
}

fn exact(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for op in similar::capture_diff_slices(similar::Algorithm::Myers, a, b) {
        if let similar::DiffOp::Equal {
            old_index,
            new_index,
            len,
        } = op
        {
            pairs.extend((0..len).map(|k| (old_index + k, new_index + k)));
        }
    }
    pairs
}

/// The longest rising run of those lines that stand once on each side.
fn unique_anchors(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let mut seen: HashMap<u32, (u32, u32, usize, usize)> = HashMap::new();
    for (i, id) in a.iter().enumerate() {
        let entry = seen.entry(*id).or_default();
        entry.0 += 1;
        entry.2 = i;
    }
    for (j, id) in b.iter().enumerate() {
        let entry = seen.entry(*id).or_default();
        entry.1 += 1;
        entry.3 = j;
    }
    let once = seen.into_values().filter(|e| e.0 == 1 && e.1 == 1);
    let mut pairs: Vec<(usize, usize)> = once.map(|e| (e.2, e.3)).collect();
    pairs.sort_unstable();
    // Patience: piles by their top, each card remembers the one below it.
    let mut tops: Vec<usize> = Vec::new();
    let mut below: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (k, (_, j)) in pairs.iter().enumerate() {
        let at = tops.partition_point(|top| pairs.get(*top).is_some_and(|pair| pair.1 < *j));
        below.push(at.checked_sub(1).and_then(|at| tops.get(at)).copied());
        match tops.get_mut(at) {
            Some(top) => *top = k,
            None => tops.push(k),
        }
    }
    let mut run = Vec::new();
    let mut card = tops.last().copied();
    while let Some(k) = card {
        run.extend(pairs.get(k).copied());
        card = below.get(k).copied().flatten();
    }
    run.reverse();
    run
}

/// Changes that stand close together, as a diff shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of both sides with the context around, from 0.
    pub old: Range<usize>,
    pub new: Range<usize>,
    pub changes: Vec<Change>,
}

/// Groups changes with `context` lines around; `old_len` and `new_len` are the sides' line counts.
pub fn hunks(changes: &[Change], old_len: usize, new_len: usize, context: usize) -> Vec<Hunk> {
    let mut out: Vec<Hunk> = Vec::new();
    for change in changes {
        let close = out.last().and_then(|hunk| hunk.changes.last());
        let close = close.is_some_and(|last| {
            change.old.start.saturating_sub(last.old.end) <= context.saturating_mul(2)
        });
        let end_old = change.old.end.saturating_add(context).min(old_len);
        let end_new = change.new.end.saturating_add(context).min(new_len);
        match out.last_mut() {
            Some(hunk) if close => {
                hunk.old.end = end_old;
                hunk.new.end = end_new;
                hunk.changes.push(change.clone());
            }
            _ => out.push(Hunk {
                old: change.old.start.saturating_sub(context)..end_old,
                new: change.new.start.saturating_sub(context)..end_new,
                changes: vec![change.clone()],
            }),
        }
    }
    out
}

/// `from` with one hunk of the diff from `from` to `to` taken over: lines `old` of the one become lines `new` of the
/// other, both from 0, with or without context. `None`: the lines before or after don't belong together.
pub fn restore_hunk(
    from: &[u8],
    to: &[u8],
    old: Range<usize>,
    new: Range<usize>,
) -> Option<Vec<u8>> {
    let (from, to) = (split_lines(from), split_lines(to));
    let all = changes(&from, &to);
    let joined = |a: usize, b: usize| {
        let inside = all.iter().any(|change| {
            let within = change.old.start < a && a < change.old.end;
            let within_new = change.new.start < b && b < change.new.end;
            within || within_new
        });
        // The same number of lines behind all changes that end before.
        let before = all
            .iter()
            .take_while(|change| change.old.end <= a && change.new.end <= b);
        let shift: isize = before
            .map(|c| c.new.len() as isize - c.old.len() as isize)
            .sum();
        let opens = all
            .iter()
            .any(|change| change.old.start == a && change.new.start == b);
        !inside && (opens || a.checked_add_signed(shift) == Some(b))
    };
    if !joined(old.start, new.start) || !joined(old.end, new.end) {
        return None;
    }
    let mut out = Vec::new();
    for lines in [from.get(..old.start)?, to.get(new)?, from.get(old.end..)?] {
        // A piece without a final newline that no longer stands at the end.
        if !lines.is_empty() && !out.is_empty() && !out.ends_with(b"\n") {
            out.push(b'\n');
        }
        out.extend(lines.iter().copied().flatten());
    }
    Some(out)
}
