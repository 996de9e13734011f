//! Which words of replaced lines differ. Blocks that have little in common are left unmarked: a page full of marks
//! says nothing.

use crate::api::Run;
use similar::{Algorithm, DiffTag};
use std::time::Instant;

/// Larger blocks get no marks.
const MOST_BYTES: usize = 48 << 10;
/// Share of characters that must be common for marks to help.
const LEAST_COMMON: f32 = 0.35;

/// The runs of each old line and of each new line.
type Marked = (Vec<Vec<Run>>, Vec<Vec<Run>>);

/// The runs of each old line and of each new line.
pub fn mark(old: &[&[u8]], new: &[&[u8]], deadline: Instant) -> Marked {
    let plain = || {
        (
            old.iter().map(|it| plain(it)).collect(),
            new.iter().map(|it| plain(it)).collect(),
        )
    };
    let bytes = |lines: &[&[u8]]| lines.iter().map(|it| it.len()).sum::<usize>();
    if bytes(old) + bytes(new) > MOST_BYTES {
        return plain();
    }
    if old.len() == new.len() && old.len() > 1 {
        // Line by line where each has its counterpart: marks stay inside what a reader compares.
        let pairs: Vec<_> = old
            .iter()
            .zip(new)
            .map(|(old, new)| block(&[old], &[new], deadline))
            .collect();
        if pairs.iter().all(Option::is_some) {
            return pairs
                .into_iter()
                .flatten()
                .map(|(mut o, mut n)| (o.remove(0), n.remove(0)))
                .unzip();
        }
    }
    block(old, new, deadline).unwrap_or_else(plain)
}

fn plain(line: &[u8]) -> Vec<Run> {
    vec![Run {
        text: super::split_end(line).0.into_owned(),
        changed: false,
    }]
}

/// `None` when the two have too little in common.
fn block(old: &[&[u8]], new: &[&[u8]], deadline: Instant) -> Option<Marked> {
    let old_texts: Vec<_> = old.iter().map(|line| super::split_end(line).0).collect();
    let new_texts: Vec<_> = new.iter().map(|line| super::split_end(line).0).collect();
    let old_words = words(&old_texts);
    let new_words = words(&new_texts);
    let old_keys: Vec<&str> = old_words.iter().map(|word| word.text).collect();
    let new_keys: Vec<&str> = new_words.iter().map(|word| word.text).collect();
    let ops = similar::capture_diff_slices_deadline(
        Algorithm::Myers,
        &old_keys,
        &new_keys,
        Some(deadline),
    );

    let mut old_changed = vec![true; old_words.len()];
    let mut new_changed = vec![true; new_words.len()];
    let mut common = 0;
    for op in ops.iter().filter(|op| op.tag() == DiffTag::Equal) {
        for (old, new) in op.old_range().zip(op.new_range()) {
            if let (Some(o), Some(n), Some(word)) = (
                old_changed.get_mut(old),
                new_changed.get_mut(new),
                old_words.get(old),
            ) {
                (*o, *n) = (false, false);
                common += word.text.trim().chars().count();
            }
        }
    }
    let length = |words: &[Word]| {
        words
            .iter()
            .map(|word| word.text.trim().chars().count())
            .sum::<usize>()
    };
    let longest = length(&old_words).max(length(&new_words));
    if longest > 0 && (common as f32) < LEAST_COMMON * longest as f32 {
        return None;
    }
    Some((
        runs(&old_words, old_changed, old.len()),
        runs(&new_words, new_changed, new.len()),
    ))
}

struct Word<'a> {
    line: usize,
    text: &'a str,
}

fn words<'a>(texts: &'a [std::borrow::Cow<'a, str>]) -> Vec<Word<'a>> {
    let mut words = Vec::new();
    for (line, text) in texts.iter().enumerate() {
        if line > 0 {
            words.push(Word {
                line: line - 1,
                text: "\n",
            });
        }
        let mut rest: &str = text;
        while let Some(first) = rest.chars().next() {
            let kind = kind(first);
            let end = match kind {
                // Signs, and scripts without blanks: each for itself.
                Kind::Single => first.len_utf8(),
                _ => rest.find(|c| self::kind(c) != kind).unwrap_or(rest.len()),
            };
            let (word, tail) = rest.split_at(end);
            words.push(Word { line, text: word });
            rest = tail;
        }
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Blank,
    Single,
}

fn kind(c: char) -> Kind {
    if c.is_whitespace() {
        Kind::Blank
    } else if c == '_'
        || (c.is_alphanumeric()
            && !matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' | '\u{20000}'..))
    {
        Kind::Word
    } else {
        Kind::Single
    }
}

/// Words back into lines, neighbours of the same kind joined; a blank between two marked words is marked too.
fn runs(words: &[Word], mut changed: Vec<bool>, lines: usize) -> Vec<Vec<Run>> {
    for at in 1..words.len().saturating_sub(1) {
        let blank = words
            .get(at)
            .is_some_and(|word| word.text != "\n" && word.text.trim().is_empty());
        if blank && changed.get(at - 1) == Some(&true) && changed.get(at + 1) == Some(&true) {
            if let Some(it) = changed.get_mut(at) {
                *it = true;
            }
        }
    }
    let mut out: Vec<Vec<Run>> = vec![Vec::new(); lines];
    for (word, changed) in words
        .iter()
        .zip(changed)
        .filter(|(word, _)| word.text != "\n")
    {
        let Some(line) = out.get_mut(word.line) else {
            continue;
        };
        match line.last_mut() {
            Some(run) if run.changed == changed => run.text.push_str(word.text),
            _ => line.push(Run {
                text: word.text.to_owned(),
                changed,
            }),
        }
    }
    for line in &mut out {
        if line.is_empty() {
            line.push(Run {
                text: String::new(),
                changed: false,
            });
        }
    }
    out
}
