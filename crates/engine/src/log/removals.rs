//! Where a log shows a text being removed from a file: for a chip that names no file.

use super::look::Look;
use std::sync::Arc;
use std::time::Instant;

/// Entries this near to the chip's time are looked at first (milliseconds).
const NEAR: i64 = 120_000;

/// One change that took the text away.
pub struct Removal {
    pub index: u32,
    pub path: String,
    /// The whole file before.
    pub before: Arc<str>,
    /// First removed line, from 1.
    pub first_line: u64,
}

impl Look<'_> {
    /// Tells each change that removed `text`, those near the time (Unix seconds) first; all others only when none of
    /// these did. Ends at the deadline.
    pub fn removals(
        &self,
        text: &str,
        time: i64,
        deadline: Instant,
        tell: &mut dyn FnMut(Removal),
    ) {
        let mut near = Vec::new();
        let mut far = Vec::new();
        for path in self.timeline.paths() {
            let versions = self.timeline.versions(path);
            for (before, after) in versions.iter().zip(versions.iter().skip(1)) {
                if before.content.is_none() || (after.exists && after.content.is_none()) {
                    continue;
                }
                let shrinks = match (before.content, after.content) {
                    (Some(before), Some(after)) => {
                        self.timeline.content_bytes(before, self.source)
                            > self.timeline.content_bytes(after, self.source)
                    }
                    _ => true,
                };
                if !shrinks {
                    continue;
                }
                let at = self.timestamp(after.index);
                let is_near = at.is_some_and(|at| (at - time.saturating_mul(1_000)).abs() <= NEAR);
                if is_near { &mut near } else { &mut far }.push((
                    path.to_string(),
                    *before,
                    *after,
                ));
            }
        }
        far.sort_by_key(|(_, _, after)| std::cmp::Reverse(after.index));
        let mut told = false;
        for (list, last) in [(near, false), (far, true)] {
            if last && told {
                return;
            }
            for (path, before, after) in list {
                if Instant::now() > deadline {
                    return;
                }
                let Some(old) = self.content(before.content) else {
                    continue;
                };
                let new = self.content(after.content);
                let Some(first_line) = removed_at(&old, new.as_deref().unwrap_or_default(), text)
                else {
                    continue;
                };
                told = true;
                tell(Removal {
                    index: after.index,
                    path,
                    before: old,
                    first_line,
                });
            }
        }
    }
}

/// The line where `old` has `text` as whole lines and `new` lacks exactly those; line ends don't matter.
fn removed_at(old: &str, new: &str, text: &str) -> Option<u64> {
    let bare = |text: &'_ str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let (old, new, cut) = (bare(old), bare(new), bare(text));
    if cut.is_empty() || old.len() < cut.len() {
        return None;
    }
    let places = (0..=old.len() - cut.len())
        .filter(|at| old.get(*at..at + cut.len()).is_some_and(|it| it == cut));
    let mut fits = places.filter(|at| {
        let (head, tail) = (old.get(..*at), old.get(at + cut.len()..));
        // Without these lines the file is what it is after: the change removed them and nothing else.
        let without = head.into_iter().chain(tail).flatten();
        without.eq(new.iter())
    });
    let exact = fits.next();
    exact
        .or_else(|| {
            // The change did more: the lines must be in it fewer times than before.
            let count = |lines: &[String]| lines.windows(cut.len()).filter(|it| *it == cut).count();
            (count(&old) > count(&new))
                .then(|| old.windows(cut.len()).position(|it| it == cut))
                .flatten()
        })
        .map(|at| at as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::removed_at;

    #[test]
    fn whole_lines_that_are_gone() {
        assert_eq!(removed_at("a\nb\nc\n", "a\nc\n", "b\n"), Some(2));
        assert_eq!(removed_at("a\nb\nb\nc\n", "a\nb\nc\n", "b\n"), Some(2));
        assert_eq!(removed_at("a\r\nb\r\n", "a\r\n", "b\n"), Some(2));
        assert_eq!(removed_at("a\nb\nc\n", "x\nc\n", "b\n"), Some(2));
        assert_eq!(removed_at("a\nb\n", "a\nb\n", "b\n"), None);
        assert_eq!(removed_at("a\n", "", "b\n"), None);
        assert_eq!(removed_at("a\n", "", ""), None);
    }
}
