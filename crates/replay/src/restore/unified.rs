//! Unified diffs as `diff` and the previews print them.
//!
//! `--- a/PATH`, `+++ b/PATH`, `/dev/null` for absent, three lines of context, `\ No newline at end of file`.
//! Bytes stay bytes; of files with a NUL it only says that they differ. Left out: colours and words (the engine's diff view).

use super::lines::{changes, hunks, split_lines, Hunk};
use std::ops::Range;

const CONTEXT: usize = 3;

/// Where a NUL makes a file binary.
const HEAD: usize = 8_000;

/// Empty when both sides are equal.
pub fn unified(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    if old == new {
        return out;
    }
    let name = |prefix: &str, side: Option<&[u8]>| match side {
        // As the log writes it; an absolute one has its slash already.
        Some(_) => shown(&format!(
            "{prefix}/{}",
            path.strip_prefix('/').unwrap_or(path)
        )),
        None => "/dev/null".to_owned(),
    };
    let (a, b) = (name("a", old), name("b", new));
    let binary = |side: &[u8]| side.iter().take(HEAD).any(|byte| *byte == 0);
    if [old, new].into_iter().flatten().any(binary) {
        out.extend_from_slice(format!("Binary files {a} and {b} differ\n").as_bytes());
        return out;
    }
    out.extend_from_slice(format!("--- {a}\n+++ {b}\n").as_bytes());
    let old = split_lines(old.unwrap_or_default());
    let new = split_lines(new.unwrap_or_default());
    let all = changes(&old, &new);
    for hunk in hunks(&all, old.len(), new.len(), CONTEXT) {
        let head = format!("@@ -{} +{} @@\n", span(&hunk.old), span(&hunk.new));
        out.extend_from_slice(head.as_bytes());
        body(&mut out, &hunk, &old, &new);
    }
    out
}

/// A path of a log is hostile: line breaks and other controls are shown escaped.
fn shown(path: &str) -> String {
    if path.chars().any(char::is_control) {
        format!("\"{}\"", path.escape_debug())
    } else {
        path.to_owned()
    }
}

fn span(range: &Range<usize>) -> String {
    match range.len() {
        // A side without lines stands after the line before it.
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        len => format!("{},{len}", range.start + 1),
    }
}

fn body(out: &mut Vec<u8>, hunk: &Hunk, old: &[&[u8]], new: &[&[u8]]) {
    let mut at = hunk.old.start;
    for change in &hunk.changes {
        lines(out, b' ', old, at..change.old.start);
        lines(out, b'-', old, change.old.clone());
        lines(out, b'+', new, change.new.clone());
        at = change.old.end;
    }
    lines(out, b' ', old, at..hunk.old.end);
}

fn lines(out: &mut Vec<u8>, sign: u8, lines: &[&[u8]], range: Range<usize>) {
    for line in lines.get(range).unwrap_or_default() {
        out.push(sign);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}
