//! `seq` and clock of one file as they go along: what goes backwards or comes twice.

use std::collections::BTreeMap;

/// What is odd about an event's place.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Odd {
    pub seq: Option<String>,
    pub clock: Option<String>,
}

#[derive(Default)]
pub(super) struct Sequence {
    last_seq: Option<u64>,
    last_time: Option<i64>,
    /// The numbers that were used, as ranges: first to last.
    used: BTreeMap<u64, u64>,
}

impl Sequence {
    pub(super) fn next(&mut self, seq: Option<u64>, time: i64) -> Odd {
        let mut odd = Odd::default();
        if let Some(last) = self.last_time.filter(|&last| time < last) {
            let back = last.saturating_sub(time);
            odd.clock = Some(format!("the clock jumps back by {back} ms"));
        }
        self.last_time = Some(time);
        if let Some(seq) = seq {
            let twice = !self.mark(seq);
            if let Some(last) = self.last_seq.filter(|&last| seq < last) {
                odd.seq = Some(format!("`seq` goes back from {last} to {seq}"));
            } else if twice {
                odd.seq = Some(format!("`seq` {seq} is used twice"));
            }
            self.last_seq = Some(seq);
        }
        odd
    }

    /// False where the number was used before.
    fn mark(&mut self, seq: u64) -> bool {
        let before = self
            .used
            .range(..=seq)
            .next_back()
            .map(|(&first, &last)| (first, last));
        if before.is_some_and(|(_, last)| last >= seq) {
            return false;
        }
        let next = seq.checked_add(1).and_then(|next| self.used.remove(&next));
        let last = next.unwrap_or(seq);
        match before {
            Some((first, end)) if end.checked_add(1) == Some(seq) => self.used.insert(first, last),
            _ => self.used.insert(seq, last),
        };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backwards_and_twice() {
        let mut sequence = Sequence::default();
        let mut odd = |seq| sequence.next(Some(seq), 0).seq.is_some();
        let found: Vec<bool> = [1, 2, 4, 3, 5, 5, 4, 9, u64::MAX, u64::MAX]
            .map(&mut odd)
            .to_vec();
        assert_eq!(
            found,
            [false, false, false, true, false, true, true, false, false, true]
        );
        assert_eq!(
            sequence.used,
            BTreeMap::from([(1, 5), (9, 9), (u64::MAX, u64::MAX)])
        );
    }

    #[test]
    fn a_clock_that_jumps_is_told_once() {
        let mut sequence = Sequence::default();
        let found: Vec<bool> = [5, 9, 2, 3, 9, 9, 8]
            .map(|time| sequence.next(None, time).clock.is_some())
            .to_vec();
        assert_eq!(found, [false, false, true, false, false, false, true]);
    }
}
