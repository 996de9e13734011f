//! Which files a shell command may have changed: its words against the paths that the log knows.
//!
//! A word reaches a path that it names, all paths below a folder that it names, and what a glob of it matches. Left
//! out on purpose: telling readers from changers (the agents' readers do).

/// Does one of the words name `path`, a folder above it, or match one of these?
pub(crate) fn reaches(words: &[Box<str>], path: &str) -> bool {
    words.iter().any(|word| word_reaches(word, path))
}

fn word_reaches(word: &str, path: &str) -> bool {
    let word = word.trim_end_matches(['/', '\\']);
    if word.is_empty() {
        return false;
    }
    if let Some(rest) = path.strip_prefix(word) {
        if rest.is_empty() || rest.starts_with(['/', '\\']) {
            return true;
        }
    }
    if !word.contains(['*', '?', '[']) {
        return false;
    }
    let pattern: Vec<&str> = parts(word);
    let names: Vec<&str> = parts(path);
    matches_above(&pattern, &names)
}

fn parts(path: &str) -> Vec<&str> {
    path.split(['/', '\\']).collect()
}

/// The pattern against the path or any folder above it.
fn matches_above(pattern: &[&str], names: &[&str]) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return true;
    };
    if *first == "**" {
        return (0..=names.len())
            .any(|skip| names.get(skip..).is_some_and(|n| matches_above(rest, n)));
    }
    match names.split_first() {
        Some((name, below)) => matches_name(first, name) && matches_above(rest, below),
        None => false,
    }
}

/// `*`, `?` and `[…]` against one name; a leading dot needs to be written.
fn matches_name(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // Where the last star was, and how much it took.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
                continue;
            }
            Some('?') => Some(1),
            Some('[') => class(pattern.get(p..).unwrap_or_default(), name.get(n).copied()),
            Some(c) if Some(c) == name.get(n) => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(step), _) => {
                p += step;
                n += 1;
            }
            (None, Some((after, from))) => {
                p = after;
                n = from + 1;
                star = Some((after, n));
            }
            (None, None) => return false,
        }
    }
    pattern
        .get(p..)
        .is_none_or(|rest| rest.iter().all(|c| *c == '*'))
}

/// The length of a `[…]` that has the letter; a `[` that is never closed is itself.
fn class(pattern: &[char], letter: Option<char>) -> Option<usize> {
    let letter = letter?;
    let negated = matches!(pattern.get(1), Some('!' | '^'));
    let first = if negated { 2 } else { 1 };
    let close = pattern
        .iter()
        .skip(first + 1)
        .position(|c| *c == ']')
        .map(|at| at + first + 1);
    let Some(close) = close else {
        return (letter == '[').then_some(1);
    };
    let set = pattern.get(first..close).unwrap_or_default();
    let mut found = false;
    let mut at = 0;
    while let Some(&low) = set.get(at) {
        if let (Some('-'), Some(&high)) = (set.get(at + 1), set.get(at + 2)) {
            found |= (low..=high).contains(&letter);
            at += 3;
        } else {
            found |= low == letter;
            at += 1;
        }
    }
    (found != negated).then_some(close + 1)
}

#[cfg(test)]
mod tests {
    use super::word_reaches;

    #[test]
    fn words_folders_and_globs() {
        for (word, path, reached) in [
            ("/w/src/a.rs", "/w/src/a.rs", true),
            ("/w/src/", "/w/src/a.rs", true),
            ("/w/src/a", "/w/src/a.rs", false),
            ("/w/src/*.rs", "/w/src/a.rs", true),
            ("/w/src/*.rs", "/w/src/deep/a.rs", false),
            ("/w/*", "/w/src/deep/a.rs", true),
            ("/w/**/a.rs", "/w/src/deep/a.rs", true),
            ("/w/src/[!b-z].r?", "/w/src/a.rs", true),
            ("/w/src/[b-z].rs", "/w/src/a.rs", false),
            ("/w/*", "/w/.git", false),
            ("/w/a*b*c", "/w/aXbYc", true),
            ("/w/a*b*c", "/w/aXcYb", false),
            ("", "/w", false),
            ("[", "[", true),
        ] {
            assert_eq!(word_reaches(word, path), reached, "{word} against {path}");
        }
    }
}
