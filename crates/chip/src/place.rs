//! Finds where removed lines stood in a file that has changed since: by the lines that stood around them. A place that
//! is not the only one is said, never guessed.

use std::cmp::Ordering;

/// The lines around a cut, without their ends: what stood before it and after it in the file that was cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Anchor<'a> {
    pub before: Vec<&'a [u8]>,
    pub after: Vec<&'a [u8]>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed {
    /// Insert after this many lines.
    At(usize),
    /// The removed lines stand there (after this many lines) already.
    AlreadyAt(usize),
    /// Possible places, ascending.
    Several(Vec<usize>),
    Nowhere,
}

impl Placed {
    fn of(places: Vec<usize>, one: impl Fn(usize) -> Placed) -> Placed {
        match places.as_slice() {
            [] => Placed::Nowhere,
            [at] => one(*at),
            _ => Placed::Several(places),
        }
    }
}

/// How far a context is compared at most, in lines.
const FARTHEST: usize = 400;
/// Lines on each side that make a place the place, where they agree and no other place has them.
const NEAR: usize = 3;
/// Where several places have the near lines, the lines farther away decide if one place has so many more of them.
const CLEARLY: usize = 10;
/// Most places that are told.
const MOST: usize = 50;

/// `removed`: the lines to put back; `now`: the file's lines as they are. All without their ends.
pub fn place(anchor: &Anchor<'_>, removed: &[&[u8]], now: &[&[u8]]) -> Placed {
    let seams = Seams { anchor, now };
    let there = |seams: Vec<Seam>| -> Vec<Seam> {
        let stands = |seam: &Seam| now.get(seam.at..seam.at + removed.len()) == Some(removed);
        seams.into_iter().filter(stands).collect()
    };
    let cut = seams.both(0);
    let filled = if removed.is_empty() {
        Vec::new()
    } else {
        // The removed lines between the two sides: somebody has put them back.
        there(seams.both(removed.len()))
    };
    for how in [Seam::near, Seam::loose] {
        let (open, closed) = (decide(&cut, how), decide(&filled, how));
        // Where lines repeat, both may fit: the reading that explains more of the file counts.
        let placed = match agreement(&cut, how).cmp(&agreement(&filled, how)) {
            Ordering::Greater => Placed::of(open, Placed::At),
            Ordering::Less => Placed::of(closed, Placed::AlreadyAt),
            Ordering::Equal if open.is_empty() => Placed::Nowhere,
            Ordering::Equal => {
                let mut both = [open, closed].concat();
                both.sort_unstable();
                both.dedup();
                return Placed::Several(both);
            }
        };
        if placed != Placed::Nowhere {
            return placed;
        }
    }
    // One side was changed, or something stands between them now.
    let mut found = seams.one(true);
    found.extend(seams.one(false));
    found.sort_unstable();
    found.dedup();
    found.truncate(MOST);
    match found.as_slice() {
        [one] => Placed::At(*one),
        [] => {
            // Only lines that say nothing agree (blank, brackets).
            let weak: Vec<usize> = cut.iter().map(|seam| seam.at).take(MOST).collect();
            if weak.is_empty() {
                Placed::Nowhere
            } else {
                Placed::Several(weak)
            }
        }
        _ => Placed::Several(found),
    }
}

/// A possible place and how many lines agree there, the file's ends not counted.
#[derive(Clone, Copy)]
struct Seam {
    at: usize,
    above: usize,
    below: usize,
    /// With the ends.
    all: usize,
    /// All of the nearest lines agree on both sides.
    all_near: bool,
    /// The agreeing lines of a side say something, or the file ends there as it did.
    speaks_above: bool,
    speaks_below: bool,
}

impl Seam {
    fn lines(&self) -> usize {
        self.above + self.below
    }

    /// The lines that other places must have so many more of to win over.
    fn near(&self) -> Option<usize> {
        (self.all_near && (self.speaks_above || self.speaks_below)).then_some(CLEARLY)
    }

    fn loose(&self) -> Option<usize> {
        (self.speaks_above && self.speaks_below).then_some(1)
    }
}

/// The most lines (and ends of the file) that agree at one seam of this kind.
fn agreement(seams: &[Seam], how: impl Fn(&Seam) -> Option<usize>) -> usize {
    let kind = seams.iter().filter(|seam| how(seam).is_some());
    kind.map(|seam| seam.all).max().unwrap_or(0)
}

/// The one place, or those that can't be told apart, among seams of this kind.
fn decide(seams: &[Seam], how: impl Fn(&Seam) -> Option<usize>) -> Vec<usize> {
    let mut field: Vec<&Seam> = seams.iter().filter(|seam| how(seam).is_some()).collect();
    field.sort_by_key(|seam| std::cmp::Reverse(seam.lines()));
    if let [best, second, ..] = field.as_slice() {
        if best.lines() >= second.lines() + how(best).unwrap_or(1) {
            field.truncate(1);
        }
    }
    let mut places: Vec<usize> = field.iter().map(|seam| seam.at).take(MOST).collect();
    places.sort_unstable();
    places
}

struct Seams<'a> {
    anchor: &'a Anchor<'a>,
    now: &'a [&'a [u8]],
}

impl Seams<'_> {
    /// The `k`-th line before place `at` (from 1) in the file now; `None`: above its top.
    fn above(&self, at: usize, k: usize) -> Option<&[u8]> {
        self.now.get(at.checked_sub(k)?).copied()
    }

    fn anchor_above(&self, k: usize) -> Option<&[u8]> {
        let before = &self.anchor.before;
        before.get(before.len().checked_sub(k)?).copied()
    }

    /// How many lines agree upwards from `at`; the top of both files counts as one, and ends it.
    fn agree_above(&self, at: usize) -> usize {
        let mut k = 1;
        while k <= FARTHEST {
            match (self.anchor_above(k), self.above(at, k)) {
                (None, None) => return k,
                (Some(a), Some(b)) if a == b => k += 1,
                _ => break,
            }
        }
        k - 1
    }

    fn agree_below(&self, at: usize) -> usize {
        let mut k = 0;
        while k < FARTHEST {
            match (self.anchor.after.get(k), self.now.get(at + k)) {
                (None, None) => return k + 1,
                (Some(a), Some(b)) if a == b => k += 1,
                _ => break,
            }
        }
        k
    }

    fn speaks(line: Option<&[u8]>) -> bool {
        line.is_some_and(|line| line.iter().any(|b| b.is_ascii_alphanumeric() || *b >= 0x80))
    }

    fn speaks_above(&self, lines: usize) -> bool {
        (1..=lines).any(|k| Self::speaks(self.anchor_above(k)))
    }

    fn speaks_below(&self, lines: usize) -> bool {
        (0..lines).any(|k| Self::speaks(self.anchor.after.get(k).copied()))
    }

    /// Places where both sides agree, `gap` lines lying between them.
    fn both(&self, gap: usize) -> Vec<Seam> {
        let Some(last) = self.now.len().checked_sub(gap) else {
            return Vec::new();
        };
        let (all_above, all_below) = (self.anchor.before.len(), self.anchor.after.len());
        let mut seams = Vec::new();
        for at in 0..=last {
            let above = self.agree_above(at);
            if above == 0 {
                continue;
            }
            let below = self.agree_below(at + gap);
            if below == 0 {
                continue;
            }
            // Past the last line of an anchor only the file's end can agree.
            let (ends_above, ends_below) = (above > all_above, below > all_below);
            let seam = Seam {
                at,
                above: above - usize::from(ends_above),
                below: below - usize::from(ends_below),
                all: above + below,
                all_near: above >= all_above.min(NEAR) && below >= all_below.min(NEAR),
                speaks_above: ends_above || self.speaks_above(above),
                speaks_below: ends_below || self.speaks_below(below),
            };
            seams.push(seam);
        }
        seams
    }

    /// Places where one side alone agrees, with at least one line that says something.
    fn one(&self, upper: bool) -> Vec<usize> {
        let mut depth = 0;
        let mut best = Vec::new();
        for at in 0..=self.now.len() {
            let (agree, speaks) = if upper {
                let agree = self.agree_above(at);
                (agree, self.speaks_above(agree))
            } else {
                let agree = self.agree_below(at);
                (agree, self.speaks_below(agree))
            };
            if agree == 0 || !speaks || agree < depth {
                continue;
            }
            if agree > depth {
                best.clear();
                depth = agree;
            }
            if best.len() < MOST {
                best.push(at);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&[u8]> {
        text.split_whitespace()
            .map(|word| {
                if word == "_" {
                    &b""[..]
                } else {
                    word.as_bytes()
                }
            })
            .collect()
    }

    /// `before | removed | after` as words, and the file now.
    fn placed(cut: &str, now: &str) -> Placed {
        let mut parts = cut.split('|').map(lines);
        let before = parts.next().unwrap();
        let removed = parts.next().unwrap();
        let after = parts.next().unwrap();
        place(&Anchor { before, after }, &removed, &lines(now))
    }

    #[test]
    fn as_it_was_left() {
        assert_eq!(placed("a b | c | d e", "a b d e"), Placed::At(2));
        assert_eq!(placed("| c | d e", "d e"), Placed::At(0));
        assert_eq!(placed("a | c |", "a"), Placed::At(1));
        assert_eq!(placed("| c |", ""), Placed::At(0));
    }

    #[test]
    fn moved_lines() {
        assert_eq!(placed("a b | c | d e", "x y a b d e z"), Placed::At(4));
        assert_eq!(
            placed("a b | c | d e", "d e a b q"),
            Placed::Several(vec![0, 4])
        );
        // At the top, with new lines above; at the end, with new lines below.
        assert_eq!(placed("| c | d e", "new d e"), Placed::At(1));
        assert_eq!(placed("a b | c |", "a b new"), Placed::At(2));
        // The line before was changed, the one after is still there.
        assert_eq!(placed("a b | c | d e", "a B d e"), Placed::At(2));
    }

    #[test]
    fn never_guessed() {
        assert_eq!(
            placed("a b | c | d e", "a b d e a b d e"),
            Placed::Several(vec![2, 6])
        );
        assert_eq!(
            placed("a b | c | d e", "x a b d e y a b d e"),
            Placed::Several(vec![3, 8])
        );
        assert_eq!(placed("x | c | y", "x y x y"), Placed::Several(vec![1, 3]));
        // Something new stands between the two sides.
        assert_eq!(
            placed("a b | c | d e", "a b new d e"),
            Placed::Several(vec![2, 3])
        );
        assert_eq!(placed("a b | c | d e", "k l m"), Placed::Nowhere);
        assert_eq!(placed("| c |", "k l m"), Placed::Nowhere);
        // Blank lines and brackets alone say nothing.
        assert_eq!(placed("a _ | c | _ e", "k _ _ l"), Placed::Several(vec![2]));
    }

    #[test]
    fn there_already() {
        assert_eq!(placed("a b | c | d e", "a b c d e"), Placed::AlreadyAt(2));
        assert_eq!(
            placed("a b | c | d e", "new a b c d e"),
            Placed::AlreadyAt(3)
        );
        assert_eq!(
            placed("use _ | f p } _ | g b }", "use _ f p } _ g b }"),
            Placed::AlreadyAt(2)
        );
        // The same text elsewhere is not the place.
        assert_eq!(placed("a b | c | d e", "c a b d e"), Placed::At(3));
    }
}
