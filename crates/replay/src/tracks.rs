//! Counts over ranges of entries, quick at any zoom, and the time axis.
//!
//! Left out on purpose: pixels (the engine's), what a lane looks like (the page's).

/// What the tracks count of an entry, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lanes(pub u16);

impl Lanes {
    pub const DIALOGUE: Lanes = Lanes(1);
    /// A tool call.
    pub const TOOL: Lanes = Lanes(2);
    /// A result that is not `ok`.
    pub const TOOL_FAILED: Lanes = Lanes(4);
    /// A file was created or changed.
    pub const FILE_PLUS: Lanes = Lanes(8);
    /// A file was deleted or renamed away.
    pub const FILE_MINUS: Lanes = Lanes(16);
    pub const CHIP: Lanes = Lanes(32);
    pub const MEMORY: Lanes = Lanes(64);
    /// A finding of severity error stands here.
    pub const ERROR: Lanes = Lanes(128);
    pub const WARNING: Lanes = Lanes(256);

    pub fn has(self, lane: Lanes) -> bool {
        self.0 & lane.0 != 0
    }

    pub fn with(self, lane: Lanes) -> Lanes {
        Lanes(self.0 | lane.0)
    }

    fn number(self) -> usize {
        (self.0.trailing_zeros() as usize).min(LANES - 1)
    }
}

/// Number of lanes.
pub const LANES: usize = 9;

/// How many entries of a range are in each lane, by the number of the lane's bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts(pub [u32; LANES]);

impl Counts {
    pub fn of(&self, lane: Lanes) -> u32 {
        self.0.get(lane.number()).copied().unwrap_or(0)
    }
}

const BLOCK: usize = 64;

/// Lanes and clock of each entry. Indices are from 0 here.
#[derive(Default)]
pub(crate) struct Tracks {
    lanes: Vec<Lanes>,
    clock: Vec<i64>,
    /// Counts of all entries before each block.
    sums: Vec<[u32; LANES]>,
    /// Blocks whose sums hold.
    summed: usize,
    /// Entries at the start that stand at a time that is not known yet.
    timeless: usize,
}

impl Tracks {
    pub(crate) fn push(&mut self, lanes: Lanes, time: Option<i64>) {
        let last = self
            .clock
            .last()
            .copied()
            .filter(|_| self.timeless < self.clock.len());
        let clock = match (last, time) {
            (Some(last), Some(time)) => time.max(last),
            (Some(last), None) => last,
            (None, Some(time)) => {
                self.clock.fill(time);
                time
            }
            (None, None) => {
                self.timeless += 1;
                0
            }
        };
        if time.is_some() && last.is_none() {
            self.timeless = 0;
        }
        self.clock.push(clock);
        self.lanes.push(lanes);
        self.sum();
    }

    fn sum(&mut self) {
        if self.sums.is_empty() {
            self.sums.push([0; LANES]);
        }
        while (self.summed + 1) * BLOCK <= self.lanes.len() {
            let start = self.summed * BLOCK;
            let block = self.lanes.get(start..start + BLOCK).unwrap_or_default();
            let mut sum = self.sums.get(self.summed).copied().unwrap_or_default();
            for lanes in block {
                add(&mut sum, *lanes, 1);
            }
            self.sums.truncate(self.summed + 1);
            self.sums.push(sum);
            self.summed += 1;
        }
    }

    /// Adds a lane to an entry that is there already.
    pub(crate) fn mark(&mut self, at: usize, lane: Lanes) {
        let Some(lanes) = self.lanes.get_mut(at) else {
            return;
        };
        if lanes.has(lane) {
            return;
        }
        *lanes = lanes.with(lane);
        for sum in self.sums.iter_mut().skip(at / BLOCK + 1) {
            add(sum, lane, 1);
        }
    }

    /// Takes a lane from an entry again.
    pub(crate) fn unmark(&mut self, at: usize, lane: Lanes) {
        let Some(lanes) = self.lanes.get_mut(at) else {
            return;
        };
        if !lanes.has(lane) {
            return;
        }
        *lanes = Lanes(lanes.0 & !lane.0);
        for sum in self.sums.iter_mut().skip(at / BLOCK + 1) {
            if let Some(count) = sum.get_mut(lane.number()) {
                *count = count.saturating_sub(1);
            }
        }
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.lanes.truncate(len);
        self.clock.truncate(len);
        self.timeless = self.timeless.min(len);
        self.summed = self.summed.min(len / BLOCK);
        self.sums.truncate(self.summed + 1);
    }

    pub(crate) fn lanes(&self, at: usize) -> Lanes {
        self.lanes.get(at).copied().unwrap_or_default()
    }

    pub(crate) fn clock(&self, at: usize) -> Option<i64> {
        self.clock
            .get(at)
            .copied()
            .filter(|_| self.timeless < self.clock.len())
    }

    /// Entries whose clock is not later.
    pub(crate) fn until(&self, time: f64) -> usize {
        if self.timeless == self.clock.len() {
            return 0;
        }
        self.clock.partition_point(|&clock| clock as f64 <= time)
    }

    /// Counts of the entries `from..to`.
    pub(crate) fn counts(&self, from: usize, to: usize) -> Counts {
        let (from, to) = (from.min(self.lanes.len()), to.min(self.lanes.len()));
        let mut counts = [0; LANES];
        if from >= to {
            return Counts(counts);
        }
        let before = |at: usize| -> [u32; LANES] {
            let block = (at / BLOCK).min(self.summed);
            let mut sum = self.sums.get(block).copied().unwrap_or_default();
            for lanes in self.lanes.get(block * BLOCK..at).unwrap_or_default() {
                add(&mut sum, *lanes, 1);
            }
            sum
        };
        let (low, high) = (before(from), before(to));
        for ((count, high), low) in counts.iter_mut().zip(high).zip(low) {
            *count = high - low;
        }
        Counts(counts)
    }

    /// The first entry at or after `from` in a lane.
    pub(crate) fn next(&self, lane: Lanes, from: usize) -> Option<usize> {
        let rest = self.lanes.get(from..)?;
        rest.iter()
            .position(|lanes| lanes.has(lane))
            .map(|at| at + from)
    }

    /// The last entry before `to` in a lane.
    pub(crate) fn previous(&self, lane: Lanes, to: usize) -> Option<usize> {
        let rest = self.lanes.get(..to.min(self.lanes.len()))?;
        rest.iter().rposition(|lanes| lanes.has(lane))
    }
}

fn add(sum: &mut [u32; LANES], lanes: Lanes, times: u32) {
    let mut bits = lanes.0;
    while bits != 0 {
        if let Some(count) = sum.get_mut(bits.trailing_zeros() as usize) {
            *count += times;
        }
        bits &= bits - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_equal_a_plain_count() {
        let mut tracks = Tracks::default();
        let mut plain: Vec<Lanes> = Vec::new();
        let all = |tracks: &Tracks, plain: &[Lanes]| {
            for from in (0..=plain.len()).step_by(7) {
                for to in (from..=plain.len()).step_by(11) {
                    let counts = tracks.counts(from, to);
                    for bit in 0..LANES {
                        let lane = Lanes(1 << bit);
                        let count = plain[from..to].iter().filter(|l| l.has(lane)).count();
                        assert_eq!(counts.of(lane) as usize, count, "{from}..{to} lane {bit}");
                    }
                }
            }
        };
        for n in 0..300u32 {
            let lanes = Lanes((n.wrapping_mul(2_654_435_761) >> 13) as u16 & 0x1ff);
            tracks.push(lanes, Some(i64::from(n)));
            plain.push(lanes);
        }
        all(&tracks, &plain);
        tracks.mark(70, Lanes::ERROR);
        plain[70] = plain[70].with(Lanes::ERROR);
        all(&tracks, &plain);
        tracks.mark(71, Lanes::ERROR);
        if !plain[71].has(Lanes::ERROR) {
            tracks.unmark(71, Lanes::ERROR);
        }
        all(&tracks, &plain);
        tracks.truncate(130);
        plain.truncate(130);
        tracks.push(Lanes::CHIP, None);
        plain.push(Lanes::CHIP);
        all(&tracks, &plain);
    }

    #[test]
    fn the_clock_never_runs_back() {
        let mut tracks = Tracks::default();
        for time in [None, None, Some(5), Some(3), None, Some(9)] {
            tracks.push(Lanes::default(), time);
        }
        let clock: Vec<_> = (0..6).map(|at| tracks.clock(at).unwrap()).collect();
        assert_eq!(clock, [5, 5, 5, 5, 5, 9]);
        assert_eq!(
            (tracks.until(4.9), tracks.until(5.0), tracks.until(9.0)),
            (0, 5, 6)
        );
    }
}
