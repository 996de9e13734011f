//! Entries that follow each other on a lane, as runs of numbers.

/// Sorted entries (from 1), in runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    runs: Vec<Run>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u32,
    last: u32,
    /// Entries in the runs before.
    before: u32,
}

impl Path {
    /// Of runs in any order that do not overlap.
    pub(crate) fn of(mut parts: Vec<(u32, u32)>) -> Path {
        parts.sort_unstable();
        let mut path = Path::default();
        for (first, last) in parts {
            path.add(first, last);
        }
        path
    }

    /// Every entry of a log of that length.
    pub fn whole(len: u32) -> Path {
        Path::of(if len == 0 { vec![] } else { vec![(1, len)] })
    }

    /// Entries behind all that are there.
    fn add(&mut self, first: u32, last: u32) {
        let before = self.len();
        match self.runs.last_mut() {
            Some(run) if run.last + 1 == first => run.last = last,
            _ => self.runs.push(Run {
                first,
                last,
                before,
            }),
        }
    }

    pub(crate) fn push(&mut self, index: u32) {
        self.add(index, index);
    }

    pub fn len(&self) -> u32 {
        self.runs
            .last()
            .map_or(0, |run| run.before + (run.last - run.first) + 1)
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub fn last(&self) -> Option<u32> {
        self.runs.last().map(|run| run.last)
    }

    /// First and last entry of each run.
    pub fn runs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.runs.iter().map(|run| (run.first, run.last))
    }

    /// The runs up to an entry.
    pub(crate) fn until(&self, last: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.runs()
            .take_while(move |(first, _)| *first <= last)
            .map(move |(first, end)| (first, end.min(last)))
    }

    /// How many of its entries are not after `index`.
    pub fn count_until(&self, index: u32) -> u32 {
        let after = self.runs.partition_point(|run| run.first <= index);
        let run = after.checked_sub(1).and_then(|at| self.runs.get(at));
        run.map_or(0, |run| run.before + (index.min(run.last) - run.first) + 1)
    }

    /// Its entry number `at`, from 0.
    pub fn nth(&self, at: u32) -> Option<u32> {
        let after = self.runs.partition_point(|run| run.before <= at);
        let run = self.runs.get(after.checked_sub(1)?)?;
        let index = run.first.checked_add(at - run.before)?;
        (index <= run.last).then_some(index)
    }

    pub fn contains(&self, index: u32) -> bool {
        index > 0 && self.count_until(index) > self.count_until(index - 1)
    }

    /// Its next entry after `index`.
    pub fn next(&self, index: u32) -> Option<u32> {
        self.nth(self.count_until(index))
    }

    /// Its last entry before `index`.
    pub fn previous(&self, index: u32) -> Option<u32> {
        let before = self.count_until(index.saturating_sub(1));
        self.nth(before.checked_sub(1)?)
    }

    /// The last entry that is not after `index`.
    pub fn at_or_before(&self, index: u32) -> Option<u32> {
        self.nth(self.count_until(index).checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn numbers_in_runs() {
        let path = Path::of(vec![(7, 7), (1, 3), (8, 9)]);
        assert_eq!(path.runs().collect::<Vec<_>>(), [(1, 3), (7, 9)]);
        assert_eq!((path.len(), path.last()), (6, Some(9)));
        let all: Vec<u32> = (0..9).filter_map(|at| path.nth(at)).collect();
        assert_eq!(all, [1, 2, 3, 7, 8, 9]);
        for index in 0..12 {
            assert_eq!(path.contains(index), all.contains(&index), "{index}");
            let before = all.iter().filter(|it| **it <= index).count();
            assert_eq!(path.count_until(index), before as u32, "{index}");
            assert_eq!(path.next(index), all.iter().copied().find(|it| *it > index));
            assert_eq!(
                path.previous(index),
                all.iter().copied().rev().find(|it| *it < index)
            );
            assert_eq!(
                path.at_or_before(index),
                all.iter().copied().rev().find(|it| *it <= index)
            );
        }
        assert_eq!(path.until(7).collect::<Vec<_>>(), [(1, 3), (7, 7)]);
        assert!(Path::whole(0).is_empty() && !Path::whole(2).contains(3));
    }
}
