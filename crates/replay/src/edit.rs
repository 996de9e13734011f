//! Edits of a text: line ranges, replacements, all or none.
//!
//! Lines are split at `\n` only and keep it. Patches are in [`crate::patch`]. Nothing here knows events or files.

use chipdeck_event::{Change, Edit, Text};
use std::borrow::Cow;
use std::sync::Arc;

/// Why a change could not be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It does not fit the text; one sentence for people.
    Misfit(String),
    /// One of its texts is not there (a missing blob, a log that was cut).
    Missing,
    /// It would take more work than one event may.
    TooMuch,
}

/// Steps that one event may take: far beyond any real edit, short enough that a hostile one doesn't hang the fold. A
/// step is about the work of moving a byte, so this is the time limit of an event too (under a second), without a
/// clock: the same log folds the same on every machine.
pub const MOST_STEPS: u64 = 512 << 20;

/// What comparing a line costs.
pub(crate) const LINE: u64 = 16;

/// The steps that are left to an event.
pub(crate) struct Steps {
    left: std::cell::Cell<u64>,
}

impl Steps {
    pub(crate) fn new(most: u64) -> Steps {
        Steps {
            left: std::cell::Cell::new(most),
        }
    }

    /// False when there are no more.
    pub(crate) fn spend(&self, steps: u64) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.is_some_and(|left| left > 0)
    }

    pub(crate) fn are_over(&self) -> bool {
        self.left.get() == 0
    }
}

/// Bytes by which one replacement may make a text longer than the log's own words do.
const GROWTH: usize = 8 << 20;

/// Gives the text behind a reference.
pub type Load<'a> = &'a dyn Fn(&Text) -> Option<Arc<str>>;

/// The text after a change of `base`. `base` is not looked at where the change has the whole text.
///
/// # Errors
/// See [`Failure`]; the base is then as it was.
pub fn apply(base: &str, change: &Change, load: Load<'_>) -> Result<Arc<str>, Failure> {
    apply_within(base, change, load, &Steps::new(MOST_STEPS))
}

/// The same, with so many steps.
pub(crate) fn apply_within(
    base: &str,
    change: &Change,
    load: Load<'_>,
    steps: &Steps,
) -> Result<Arc<str>, Failure> {
    let get = |text: &Text| load(text).ok_or(Failure::Missing);
    match change {
        Change::Content(text) => get(text),
        Change::Patch(text) => crate::patch::unified(base, &get(text)?, steps).map(Into::into),
        Change::Chunks(text) => crate::patch::chunks(base, &get(text)?, steps).map(Into::into),
        Change::Edits(edits) => {
            let mut current = Cow::Borrowed(base);
            for edit in edits {
                if !steps.spend(current.len() as u64) {
                    return Err(Failure::TooMuch);
                }
                current = Cow::Owned(match edit {
                    Edit::Replace { old, new, all } => {
                        replace(&current, &get(old)?, &get(new)?, *all)?
                    }
                    Edit::ReplaceFirst { old, new, all } => {
                        replace_first(&current, &get(old)?, &get(new)?, *all)?
                    }
                    Edit::Lines {
                        start,
                        end,
                        content,
                    } => lines(&current, *start, *end, &get(content)?)?,
                });
            }
            Ok(Arc::from(&*current))
        }
    }
}

/// Does the change give a text without looking at the base?
pub fn stands_alone(change: &Change) -> bool {
    match change {
        Change::Content(_) => true,
        Change::Edits(edits) => match edits.first() {
            Some(Edit::ReplaceFirst {
                old: Text::Inline(old),
                ..
            }) => old.is_empty(),
            _ => false,
        },
        Change::Patch(_) | Change::Chunks(_) => false,
    }
}

fn misfit<T>(what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Misfit(what.into()))
}

fn replace(text: &str, old: &str, new: &str, all: bool) -> Result<String, Failure> {
    if old.is_empty() {
        return misfit("the old text is empty");
    }
    let finder = memchr::memmem::Finder::new(old.as_bytes());
    let mut places = finder.find_iter(text.as_bytes());
    match (places.next(), all) {
        (None, _) => misfit("the old text does not occur"),
        (Some(_), false) if places.next().is_some() => misfit("the old text occurs more than once"),
        (Some(_), true) => grown(text, old, new).map(|()| text.replace(old, new)),
        (Some(at), false) => Ok(swapped(text, at, old, new)),
    }
}

/// Refuses a replacement that would make a text huge: what is put in many times over is not in the log.
fn grown(text: &str, old: &str, new: &str) -> Result<(), Failure> {
    let Some(more) = new.len().checked_sub(old.len()).filter(|more| *more > 0) else {
        return Ok(());
    };
    let most = GROWTH / more;
    let found = memchr::memmem::find_iter(text.as_bytes(), old.as_bytes());
    match found.take(most + 2).count() {
        times if times > most + 1 => Err(Failure::TooMuch),
        _ => Ok(()),
    }
}

/// Claude Code's rule, see [`Edit::ReplaceFirst`].
fn replace_first(text: &str, old: &str, new: &str, all: bool) -> Result<String, Failure> {
    if old.is_empty() {
        return Ok(new.to_owned());
    }
    let longer;
    let old = if new.is_empty() && !old.ends_with('\n') {
        longer = format!("{old}\n");
        if find(text, &longer).is_some() {
            longer.as_str()
        } else {
            old
        }
    } else {
        old
    };
    match (find(text, old), all) {
        (None, _) => misfit("the old text does not occur"),
        (Some(_), true) => grown(text, old, new).map(|()| text.replace(old, new)),
        (Some(at), false) => Ok(swapped(text, at, old, new)),
    }
}

fn find(text: &str, part: &str) -> Option<usize> {
    memchr::memmem::find(text.as_bytes(), part.as_bytes())
}

/// The text with `old` at byte `at` made `new`.
fn swapped(text: &str, at: usize, old: &str, new: &str) -> String {
    let before = text.get(..at).unwrap_or_default();
    let after = text.get(at + old.len()..).unwrap_or_default();
    [before, new, after].concat()
}

fn lines(text: &str, start: i64, end: i64, content: &str) -> Result<String, Failure> {
    let count = line_count(text);
    if start < 1 || end < start - 1 || start > count + 1 {
        return misfit(format!(
            "lines {start} to {end} are no range in a file of {count} lines"
        ));
    }
    if end > count {
        return misfit(format!(
            "line {end} is past the end: the file has {count} lines"
        ));
    }
    let from = skip_lines(text, start - 1);
    let (before, rest) = text.split_at_checked(from).unwrap_or((text, ""));
    let after = rest
        .split_at_checked(skip_lines(rest, end - start + 1))
        .map_or("", |(_, after)| after);
    let mut out = String::with_capacity(before.len() + content.len() + after.len() + 1);
    out.push_str(before);
    if start == count + 1 && !text.is_empty() && !text.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(content);
    out.push_str(after);
    Ok(out)
}

fn line_count(text: &str) -> i64 {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count() as i64;
    ends + i64::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The byte after the first `lines` lines; the end of the text where there are fewer.
fn skip_lines(text: &str, lines: i64) -> usize {
    let Some(nth) = usize::try_from(lines)
        .ok()
        .and_then(|lines| lines.checked_sub(1))
    else {
        return 0;
    };
    memchr::memchr_iter(b'\n', text.as_bytes())
        .nth(nth)
        .map_or(text.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(base: &str, edits: Vec<Edit>) -> Option<String> {
        let load = |text: &Text| match text {
            Text::Inline(text) => Some(text.clone()),
            _ => None,
        };
        apply(base, &Change::Edits(edits), &load)
            .ok()
            .map(|text| text.to_string())
    }

    fn range(base: &str, start: i64, end: i64, content: &str) -> Option<String> {
        edit(
            base,
            vec![Edit::Lines {
                start,
                end,
                content: Text::inline(content),
            }],
        )
    }

    fn swap(base: &str, old: &str, new: &str, all: bool) -> Option<String> {
        edit(
            base,
            vec![Edit::Replace {
                old: Text::inline(old),
                new: Text::inline(new),
                all,
            }],
        )
    }

    fn first(base: &str, old: &str, new: &str) -> Option<String> {
        edit(
            base,
            vec![Edit::ReplaceFirst {
                old: Text::inline(old),
                new: Text::inline(new),
                all: false,
            }],
        )
    }

    #[test]
    fn line_ranges() {
        assert_eq!(
            range("a\nb\nc\n", 2, 2, "B\n").as_deref(),
            Some("a\nB\nc\n")
        );
        assert_eq!(range("a\nb\nc\n", 1, 3, "").as_deref(), Some(""));
        assert_eq!(
            range("a\nb\nc\n", 2, 1, "x\n").as_deref(),
            Some("a\nx\nb\nc\n")
        );
        assert_eq!(
            range("a\nb", 3, 2, "c").as_deref(),
            Some("a\nb\nc"),
            "one newline first"
        );
        assert_eq!(range("a\nb\n", 3, 2, "c").as_deref(), Some("a\nb\nc"));
        assert_eq!(range("", 1, 0, "c").as_deref(), Some("c"));
        assert_eq!(
            range("a\nb\n", 2, 2, "B").as_deref(),
            Some("a\nB"),
            "as it is"
        );
        for (start, end) in [
            (0, 0),
            (2, 0),
            (4, 3),
            (3, 3),
            (2, 9),
            (-1, -2),
            (i64::MAX, i64::MAX - 1),
        ] {
            assert_eq!(range("a\nb\n", start, end, "x"), None, "{start} to {end}");
        }
    }

    #[test]
    fn replacements() {
        assert_eq!(swap("aXbX", "X", "", false), None);
        assert_eq!(swap("aXbX", "X", "yy", true).as_deref(), Some("ayybyy"));
        assert_eq!(
            swap("aaa", "aa", "b", true).as_deref(),
            Some("ba"),
            "left to right, no overlap"
        );
        assert_eq!(
            swap("aaa", "aa", "b", false).as_deref(),
            Some("ba"),
            "one occurrence without overlap"
        );
        assert_eq!(swap("abc", "", "x", true), None);
        assert_eq!(swap("abc", "z", "x", true), None);
    }

    #[test]
    fn all_or_none() {
        let edits = vec![
            Edit::Replace {
                old: Text::inline("a"),
                new: Text::inline("b"),
                all: false,
            },
            Edit::Lines {
                start: 9,
                end: 9,
                content: Text::inline(""),
            },
        ];
        assert_eq!(edit("a\n", edits), None);
    }

    #[test]
    fn a_deletion_takes_the_line_end_with_it() {
        assert_eq!(first("a\nb\nb\n", "b", "").as_deref(), Some("a\nb\n"));
        assert_eq!(first("ab", "b", "").as_deref(), Some("a"));
        assert_eq!(first("a\nb\n", "b", "c").as_deref(), Some("a\nc\n"));
        assert_eq!(first("old", "", "whole").as_deref(), Some("whole"));
    }

    #[test]
    fn a_bomb_is_refused() {
        let edits: Vec<Edit> = (0..40)
            .map(|_| Edit::Replace {
                old: Text::inline("a"),
                new: Text::inline("aaaaaaaa"),
                all: true,
            })
            .collect();
        let load = |text: &Text| match text {
            Text::Inline(text) => Some(text.clone()),
            _ => None,
        };
        assert_eq!(
            apply("a", &Change::Edits(edits), &load),
            Err(Failure::TooMuch)
        );
    }
}
