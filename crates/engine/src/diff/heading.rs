//! The line that a hunk stands under: the nearest function, class or section above its first change.

use regex::bytes::Regex;
use similar::{DiffOp, DiffTag};
use std::sync::OnceLock;

/// How far up to look.
const MOST_LINES: usize = 4_000;
const MOST_CHARS: usize = 120;

/// The heading for a group of operations, looked for in the old text, or in the new one where there is no old.
pub fn above(old: &[&[u8]], new: &[&[u8]], group: &[DiffOp]) -> Option<String> {
    let change = group.iter().find(|op| op.tag() != DiffTag::Equal)?;
    let (lines, at) = match old.is_empty() {
        true => (new, change.new_range().start),
        false => (old, change.old_range().start),
    };
    let regex = opener()?;
    let depth = lines
        .get(at)
        .filter(|line| !line.trim_ascii().is_empty())
        .map_or(usize::MAX, |line| indent(line));
    lines
        .get(..at)?
        .iter()
        .rev()
        .take(MOST_LINES)
        .find(|line| (indent(line) < depth || depth == 0) && regex.is_match(line))
        .map(|line| {
            String::from_utf8_lossy(line.trim_ascii())
                .chars()
                .take(MOST_CHARS)
                .collect()
        })
}

fn indent(line: &[u8]) -> usize {
    line.iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// Openers of the languages that agents write most; anything else has no heading.
fn opener() -> Option<&'static Regex> {
    static OPENER: OnceLock<Option<Regex>> = OnceLock::new();
    OPENER
        .get_or_init(|| {
            Regex::new(concat!(
                r"^\s*(?:#{1,6} \S|\[\[?[\w.\-]+\]?\]\s*$|\((?:defun|defmacro|defvar|use-package)\b",
                r"|(?:(?:pub(?:\([^)]*\))?|export|default|async|static|public|private|protected|internal|abstract|final",
                r"|override|unsafe|const|extern|virtual|inline|sealed|partial|open|suspend)\s+)*",
                r"(?:fn|def|class|impl|struct|enum|trait|interface|func|fun|function|module|mod|namespace|type|object",
                r"|record|macro_rules!)\b",
                r"|(?:export\s+)?(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:\(|function)",
                r"|[A-Za-z_][\w:<>,*&\s]*\([^;]*\)\s*(?:const\s*)?\{\s*$)"
            ))
            .ok()
        })
        .as_ref()
}
