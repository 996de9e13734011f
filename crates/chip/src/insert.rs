//! Putting a chip into a file: the server's own form, the bare text, and the parsing of source and target.
//!
//! Left out: reading and writing the file, and whether it may be touched (roots).

use crate::lines::{join, Ending, Lines};
use crate::{quote, ChipRecord};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What `be-insert-chip` inserts: LF between the lines, none at the end.
pub fn insert_text(record: &ChipRecord) -> Vec<u8> {
    let mut out = format!(
        "// Chip {} from tool {}\n// Original arguments:\n",
        record.id,
        quote(&record.tool)
    )
    .into_bytes();
    match &record.args {
        Some(args) => crate::json::write_pretty(args.value(), 0, &mut out),
        None => out.extend_from_slice(b"null"),
    }
    out
}

/// The target's new bytes and what else the insertion changed in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inserted {
    pub bytes: Vec<u8>,
    /// Lines of the target that got another line end.
    pub rewritten_endings: usize,
    /// The target's last line had no line end and got one.
    pub added_final_newline: bool,
    /// Lines that were inserted.
    pub lines: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InsertError {
    #[error("invalid argument: insert: line ({line}) out of range (0..{lines})")]
    OutOfRange { line: i64, lines: usize },
    /// The server dies of it.
    #[error("a negative line: {0}")]
    Negative(i64),
}

fn place(line: i64, lines: usize) -> Result<usize, InsertError> {
    let at = usize::try_from(line).map_err(|_| InsertError::Negative(line))?;
    if at > lines {
        return Err(InsertError::OutOfRange { line, lines });
    }
    Ok(at)
}

/// `text` after line `line` of `target`, byte for byte as the server leaves it: all line ends become alike, a missing
/// last one is added.
pub fn insert_header(target: &[u8], line: i64, text: &[u8]) -> Result<Inserted, InsertError> {
    let lines = Lines::cut(target);
    let at = place(line, lines.len())?;
    let mut new = Lines::cut(text).pieces;
    while new
        .last()
        .is_some_and(|piece| piece.iter().all(|b| *b == b'\r'))
    {
        new.pop();
    }
    let (before, after) = lines.pieces.split_at_checked(at).unwrap_or_default();
    let mut bytes = join(before, lines.ending);
    bytes.extend(join(&new, lines.ending));
    bytes.extend(join(after, lines.ending));
    Ok(Inserted {
        bytes,
        rewritten_endings: changed_endings(target, lines.ending),
        added_final_newline: lines.open_end,
        lines: new.len(),
    })
}

/// How many lines of the target don't have this ending now (a last line without any is not counted).
fn changed_endings(target: &[u8], ending: Ending) -> usize {
    target
        .split_inclusive(|b| *b == b'\n')
        .filter(|line| match line.strip_suffix(b"\n") {
            Some(piece) => piece.ends_with(b"\r") != (ending == Ending::Crlf),
            // A last CR without LF is lost.
            None => line.ends_with(b"\r"),
        })
        .count()
}

/// The bare text after line `line` of `target`, as whole lines with the line ends of the line before (else of the
/// file's majority, in an empty file its own). Nothing else of the file changes; after a last line without a line end one goes before the text
/// and none after it.
pub fn insert_content(target: &[u8], line: i64, text: &[u8]) -> Result<Inserted, InsertError> {
    // A byte order mark stays first.
    if let Some(rest) = target.strip_prefix(BYTE_ORDER_MARK) {
        let mut inserted = insert_content(rest, line, text)?;
        inserted.bytes = [BYTE_ORDER_MARK, &inserted.bytes].concat();
        return Ok(inserted);
    }
    let lines = Lines::cut(target);
    let at = place(line, lines.len())?;
    let mut offset = 0;
    let mut ending = lines.ending;
    let mut open = false;
    for whole in target.split_inclusive(|b| *b == b'\n').take(at) {
        offset += whole.len();
        match whole.strip_suffix(b"\n") {
            Some(piece) if piece.ends_with(b"\r") => ending = Ending::Crlf,
            Some(_) => ending = Ending::Lf,
            // The last line, without an end: the majority decides.
            None => {
                ending = lines.ending;
                open = true;
            }
        }
    }
    let new = Lines::cut(text);
    if lines.is_empty() {
        // Nothing to go by but the text itself.
        ending = new.ending;
    }
    let (before, after) = target.split_at_checked(offset).unwrap_or_default();
    let mut bytes = before.to_vec();
    let body = join(&new.pieces, ending);
    if open && !new.is_empty() {
        bytes.extend_from_slice(ending.bytes());
        bytes.extend_from_slice(body.strip_suffix(ending.bytes()).unwrap_or(&body));
    } else {
        bytes.extend_from_slice(&body);
    }
    bytes.extend_from_slice(after);
    Ok(Inserted {
        bytes,
        rewritten_endings: 0,
        added_final_newline: false,
        lines: new.len(),
    })
}

/// Whether the bare text stands where [`insert_content`] would put it already: it is all of the file, or (a text of more
/// than one line with something in it, so that it is no chance) its lines stand right after the line, or right before.
/// Line ends don't matter.
pub fn stands_there(target: &[u8], line: i64, text: &[u8]) -> bool {
    let target = target.strip_prefix(BYTE_ORDER_MARK).unwrap_or(target);
    let (lines, new) = (Lines::cut(target), Lines::cut(text));
    if new.is_empty() {
        return false;
    }
    if lines.pieces == new.pieces {
        return true;
    }
    let Ok(at) = place(line, lines.len()) else {
        return false;
    };
    let count = new.pieces.len();
    let same = |from: usize| lines.pieces.get(from..from + count) == Some(&new.pieces);
    let blank = |piece: &&[u8]| piece.iter().all(u8::is_ascii_whitespace);
    let telling = new.pieces.iter().filter(|piece| !blank(piece)).count() > 1;
    telling && (same(at) || at.checked_sub(count).is_some_and(same))
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("invalid from format: use file:///path or chip://{{id}}")]
    From,
    #[error("invalid to format: use file:///absolute/path:line_number")]
    To,
    #[error("invalid to format: missing :line_number after file:///path")]
    NoLine,
    #[error("invalid line number: {0}")]
    Line(String),
}

/// `chip://<id>`: the id as it is.
pub fn parse_source(from: &str) -> Result<&str, TargetError> {
    from.strip_prefix("chip://").ok_or(TargetError::From)
}

/// `file://<path>:<n>`, split at the last colon: path as it is (nothing is decoded) and line.
pub fn parse_target(to: &str) -> Result<(&str, i64), TargetError> {
    let rest = to.strip_prefix("file://").ok_or(TargetError::To)?;
    let (path, line) = rest.rsplit_once(':').ok_or(TargetError::NoLine)?;
    let digits = line.strip_prefix(['+', '-']).unwrap_or(line);
    let number = if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        line.parse().ok()
    } else {
        None
    };
    match number {
        Some(n) => Ok((path, n)),
        None => Err(TargetError::Line(line.into())),
    }
}
