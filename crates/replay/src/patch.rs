//! Patches of one file: unified hunks, and chunks without line numbers.
//!
//! A unified hunk stands at its line number, moved by what the hunks before it added or removed, else at the only
//! place where its old lines stand. A chunk is searched from the end of the one before. Left out: several files,
//! fuzz, reversal.

use crate::edit::{Failure, Steps, LINE};

/// A hunk's lines, each with its `\n` (or without, where the patch says so).
#[derive(Debug, Default)]
struct Hunk {
    /// First old line, from 1; with no old lines the line that the hunk stands after.
    start: usize,
    old: Vec<String>,
    new: Vec<String>,
}

fn misfit<T>(what: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Misfit(what.into()))
}

/// The text after one file's unified hunks.
///
/// # Errors
/// [`Failure::Misfit`] when a hunk stands nowhere, or the text is no patch; [`Failure::TooMuch`] when looking for it
/// takes too many steps.
pub(crate) fn unified(base: &str, patch: &str, steps: &Steps) -> Result<String, Failure> {
    let hunks = parse(patch)?;
    let mut lines: Vec<&str> = base.split_inclusive('\n').collect();
    let mut moved: isize = 0;
    for (nth, hunk) in hunks.iter().enumerate() {
        let found = place(&lines, hunk, moved, steps);
        if !steps.spend(lines.len() as u64) {
            return Err(Failure::TooMuch);
        }
        let Some(at) = found else {
            return misfit(format!(
                "hunk {} of the patch does not fit the file",
                nth + 1
            ));
        };
        lines.splice(at..at + hunk.old.len(), hunk.new.iter().map(String::as_str));
        moved += hunk.new.len() as isize - hunk.old.len() as isize;
    }
    // A line without its end inside the text would swallow the next.
    let open = lines.iter().rev().skip(1).any(|line| !line.ends_with('\n'));
    if open {
        return misfit("a line that the patch leaves without a newline is not the last");
    }
    Ok(lines.concat())
}

fn place(lines: &[&str], hunk: &Hunk, moved: isize, steps: &Steps) -> Option<usize> {
    let start = if hunk.old.is_empty() {
        hunk.start
    } else {
        hunk.start.checked_sub(1)?
    };
    let stated = start.checked_add_signed(moved);
    if let Some(at) = stated.filter(|&at| stands(lines, &hunk.old, at, steps)) {
        return Some(at);
    }
    if hunk.old.is_empty() {
        return None;
    }
    let mut found = (0..lines.len())
        .take_while(|_| !steps.are_over())
        .filter(|&at| stands(lines, &hunk.old, at, steps));
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

fn stands(lines: &[&str], old: &[String], at: usize, steps: &Steps) -> bool {
    at.checked_add(old.len())
        .and_then(|end| lines.get(at..end))
        .is_some_and(|part| {
            let mut pairs = part.iter().zip(old);
            pairs.all(|(line, wanted)| steps.spend(LINE) && line == wanted)
        })
}

fn parse(patch: &str) -> Result<Vec<Hunk>, Failure> {
    let mut hunks: Vec<Hunk> = Vec::new();
    // Lines that the head of the current hunk still promises: (old, new).
    let mut owed = (0usize, 0usize);
    let mut last = ' ';
    for line in patch.split_inclusive('\n') {
        if let Some(head) = line.strip_prefix("@@ ") {
            let Some((start, old, new)) = ranges(head) else {
                return misfit("a hunk's head is not `@@ -a,b +c,d @@`");
            };
            owed = (old, new);
            hunks.push(Hunk {
                start,
                ..Hunk::default()
            });
            last = ' ';
            continue;
        }
        let Some(hunk) = hunks.last_mut() else {
            continue;
        };
        let mut chars = line.chars();
        let sign = chars.next().unwrap_or(' ');
        let body = match chars.as_str() {
            // The patch itself may lack its last newline; the line has one.
            body if !body.ends_with('\n') && sign != '\\' => format!("{body}\n"),
            body => body.to_owned(),
        };
        match sign {
            ' ' | '\n' | '\r' => {
                // An empty context line whose blank was lost.
                let body = if sign == ' ' { body } else { line.to_owned() };
                hunk.old.push(body.clone());
                hunk.new.push(body);
                owed = (owed.0.saturating_sub(1), owed.1.saturating_sub(1));
                last = ' ';
            }
            '-' if owed.0 > 0 || !line.starts_with("--- ") => {
                hunk.old.push(body);
                owed.0 = owed.0.saturating_sub(1);
                last = '-';
            }
            '+' if owed.1 > 0 || !line.starts_with("+++ ") => {
                hunk.new.push(body);
                owed.1 = owed.1.saturating_sub(1);
                last = '+';
            }
            '\\' => {
                let cut = |lines: &mut Vec<String>| {
                    if let Some(line) = lines.last_mut() {
                        line.pop();
                    }
                };
                if last != '+' {
                    cut(&mut hunk.old);
                }
                if last != '-' {
                    cut(&mut hunk.new);
                }
            }
            _ if owed == (0, 0) => {}
            _ => return misfit("a line of the patch is neither context nor a change"),
        }
    }
    if hunks.is_empty() {
        return misfit("the patch has no hunk");
    }
    Ok(hunks)
}

/// `-a,b +c,d @@…` to (a, b, d).
fn ranges(head: &str) -> Option<(usize, usize, usize)> {
    let mut words = head.split_whitespace();
    let pair = |word: &str, sign: char| -> Option<(usize, usize)> {
        let word = word.strip_prefix(sign)?;
        match word.split_once(',') {
            Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
            None => Some((word.parse().ok()?, 1)),
        }
    };
    let (start, old) = pair(words.next()?, '-')?;
    let (_, new) = pair(words.next()?, '+')?;
    words.next()?.starts_with("@@").then_some((start, old, new))
}

/// The text after chunks without line numbers: lines ` +-` under `@@ [context line]` heads. Each chunk's old lines
/// are searched from the end of the chunk before: exactly, then without trailing blanks, then without outer blanks.
/// The file ends with a newline after.
///
/// # Errors
/// [`Failure::Misfit`] when a chunk stands nowhere; [`Failure::TooMuch`] as for [`unified`].
pub(crate) fn chunks(base: &str, text: &str, steps: &Steps) -> Result<String, Failure> {
    let mut lines: Vec<String> = base.lines_kept().map(str::to_owned).collect();
    let mut from = 0;
    for (nth, chunk) in parse_chunks(text).iter().enumerate() {
        let lost = || match steps.are_over() {
            true => Failure::TooMuch,
            false => Failure::Misfit(format!(
                "chunk {} of the patch does not fit the file",
                nth + 1
            )),
        };
        if !steps.spend(lines.len() as u64) {
            return Err(Failure::TooMuch);
        }
        if let Some(context) = &chunk.context {
            let heading = std::slice::from_ref(context);
            from = seek(&lines, heading, from, false, steps).ok_or_else(lost)? + 1;
        }
        if chunk.old.is_empty() {
            // Only new lines: at the end of the file, before an empty last line.
            let at = match lines.last() {
                Some(last) if last.is_empty() => lines.len() - 1,
                _ => lines.len(),
            };
            lines.splice(at..at, chunk.new.iter().cloned());
            continue;
        }
        // A trailing empty line of the chunk may stand for the end of the file.
        let trimmed = |lines: &[String]| match lines.split_last() {
            Some((last, rest)) if last.is_empty() => rest.to_vec(),
            _ => lines.to_vec(),
        };
        let (old, new, at) = match seek(&lines, &chunk.old, from, chunk.at_end, steps) {
            Some(at) => (chunk.old.clone(), chunk.new.clone(), at),
            None => {
                let old = trimmed(&chunk.old);
                let at = (old.len() < chunk.old.len())
                    .then(|| seek(&lines, &old, from, chunk.at_end, steps))
                    .flatten()
                    .ok_or_else(lost)?;
                (old, trimmed(&chunk.new), at)
            }
        };
        from = at + new.len();
        lines.splice(at..at + old.len(), new);
    }
    let mut out = lines.join("\n");
    if !out.is_empty() {
        out.push('\n');
    }
    Ok(out)
}

trait LinesKept {
    /// Lines without their `\n`; `\r` stays.
    fn lines_kept(&self) -> impl Iterator<Item = &str>;
}

impl LinesKept for str {
    fn lines_kept(&self) -> impl Iterator<Item = &str> {
        self.split_inclusive('\n')
            .map(|line| line.strip_suffix('\n').unwrap_or(line))
    }
}

#[derive(Debug, Default)]
struct Chunk {
    /// A line above the chunk, given in its head.
    context: Option<String>,
    old: Vec<String>,
    new: Vec<String>,
    at_end: bool,
}

fn parse_chunks(text: &str) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for line in text.lines_kept() {
        if let Some(head) = line.strip_prefix("@@") {
            let context = head
                .strip_prefix(' ')
                .filter(|head| !head.is_empty())
                .map(str::to_owned);
            chunks.push(Chunk {
                context,
                ..Chunk::default()
            });
            continue;
        }
        if line.trim_end() == "*** End of File" {
            if let Some(chunk) = chunks.last_mut() {
                chunk.at_end = true;
            }
            continue;
        }
        if chunks.is_empty() {
            chunks.push(Chunk::default());
        }
        let Some(chunk) = chunks.last_mut() else {
            continue;
        };
        let mut chars = line.chars();
        match chars.next() {
            Some('+') => chunk.new.push(chars.as_str().to_owned()),
            Some('-') => chunk.old.push(chars.as_str().to_owned()),
            Some(' ') => {
                chunk.old.push(chars.as_str().to_owned());
                chunk.new.push(chars.as_str().to_owned());
            }
            None => {
                chunk.old.push(String::new());
                chunk.new.push(String::new());
            }
            Some(_) => {}
        }
    }
    // A head alone changes nothing.
    chunks
        .retain(|chunk| chunk.context.is_some() || !chunk.old.is_empty() || !chunk.new.is_empty());
    chunks
}

/// The first place of `wanted` at or after `from`; with `at_end` the end of the file is tried first.
fn seek(
    lines: &[String],
    wanted: &[String],
    from: usize,
    at_end: bool,
    steps: &Steps,
) -> Option<usize> {
    let last = lines.len().checked_sub(wanted.len())?;
    let exact: fn(&str) -> &str = |line| line;
    let trailing: fn(&str) -> &str = |line| line.trim_end();
    let outer: fn(&str) -> &str = |line| line.trim();
    for loose in [exact, trailing, outer] {
        let fits = |at: usize| {
            lines.get(at..at + wanted.len()).is_some_and(|part| {
                part.iter()
                    .zip(wanted)
                    .all(|(line, wanted)| steps.spend(LINE) && loose(line) == loose(wanted))
            })
        };
        if at_end && last >= from && fits(last) {
            return Some(last);
        }
        if let Some(at) = (from..=last).find(|&at| fits(at)) {
            return Some(at);
        }
    }
    // Typographic dashes, quotes and blanks count as plain ones.
    let fits = |at: usize| {
        lines.get(at..at + wanted.len()).is_some_and(|part| {
            part.iter()
                .zip(wanted)
                .all(|(line, wanted)| steps.spend(LINE * 4) && plain(line) == plain(wanted))
        })
    };
    (from..=last).find(|&at| fits(at))
}

fn plain(line: &str) -> String {
    line.trim()
        .chars()
        .map(|c| match c {
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => '\'',
            '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{201f}' => '"',
            '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(base: &str, patch: &str) -> Result<String, Failure> {
        super::unified(base, patch, &Steps::new(1 << 20))
    }

    fn chunks(base: &str, patch: &str) -> Result<String, Failure> {
        super::chunks(base, patch, &Steps::new(1 << 20))
    }

    #[test]
    fn hunks_stand_at_their_number_moved_by_those_before() {
        let base = "a\nb\nc\nd\ne\n";
        let patch =
            "--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@ fn x\n a\n+new\n b\n@@ -4,2 +5,1 @@\n d\n-e\n";
        assert_eq!(unified(base, patch).as_deref(), Ok("a\nnew\nb\nc\nd\n"));
        assert_eq!(
            unified(base, "@@ -2,0 +3 @@\n+after two\n").as_deref(),
            Ok("a\nb\nafter two\nc\nd\ne\n")
        );
        assert_eq!(
            unified(base, "@@ -0,0 +1 @@\n+top\n").as_deref(),
            Ok("top\na\nb\nc\nd\ne\n")
        );
        assert_eq!(unified("", "@@ -0,0 +1 @@\n+top").as_deref(), Ok("top\n"));
        assert_eq!(
            unified(base, "@@ -5 +0,0 @@\n-e\n").as_deref(),
            Ok("a\nb\nc\nd\n")
        );
    }

    #[test]
    fn else_at_the_only_place() {
        assert_eq!(
            unified("x\ny\nz\n", "@@ -40,1 +40,1 @@\n-y\n+Y\n").as_deref(),
            Ok("x\nY\nz\n")
        );
        assert!(unified("y\nx\ny\n", "@@ -40,1 +40,1 @@\n-y\n+Y\n").is_err());
        assert!(unified("x\n", "@@ -9,0 +10 @@\n+y\n").is_err());
        assert!(unified("x\n", "no patch").is_err());
        assert!(unified("x\n", "@@ nonsense\n+y\n").is_err());
    }

    #[test]
    fn the_missing_newline_counts() {
        let cut = "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n";
        assert_eq!(unified("a\n", cut).as_deref(), Ok("b"));
        assert!(
            unified("a", cut).is_err(),
            "the old line ends with a newline there"
        );
        let both = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file";
        assert_eq!(unified("a\nb", both).as_deref(), Ok("A\nb"));
        let added = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n";
        assert_eq!(unified("a", added).as_deref(), Ok("a\n"));
        assert!(
            unified("a", "@@ -1,0 +2 @@\n+b\n").is_err(),
            "nothing may follow an open line"
        );
    }

    #[test]
    fn lines_that_look_like_heads_are_lines_where_the_count_says_so() {
        assert_eq!(
            unified("-- x\ny\n", "@@ -1,2 +1,2 @@\n--- x\n+++ z\n y\n").as_deref(),
            Ok("++ z\ny\n")
        );
    }

    #[test]
    fn chunks_are_searched_onward() {
        let base = "fn a() {\n  1\n}\nfn b() {\n  1\n}\n";
        let patch = "@@ fn b() {\n-  1\n+  2\n";
        assert_eq!(
            chunks(base, patch).as_deref(),
            Ok("fn a() {\n  1\n}\nfn b() {\n  2\n}\n")
        );
        assert_eq!(
            chunks("a  \nb", "@@\n-a\n+A\n").as_deref(),
            Ok("A\nb\n"),
            "trailing blanks"
        );
        assert_eq!(chunks("a\n", "@@\n+z\n").as_deref(), Ok("a\nz\n"));
        assert!(chunks("a\n", "@@\n-q\n").is_err());
        let end = "x\ny\nx\n";
        assert_eq!(
            chunks(end, "@@\n-x\n+z\n*** End of File\n").as_deref(),
            Ok("x\ny\nz\n")
        );
    }
}
