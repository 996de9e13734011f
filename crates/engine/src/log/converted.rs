//! An agent's log laid out as a canonical one, for what-if: the branch of an agent's log is a branch of that.

use super::reading::options;
use chipdeck_export::{canonical, Log};
use chipdeck_ingest::{Format, LogSet, MemorySource, Source};
use chipdeck_replay::Timeline;
use std::sync::Arc;

pub struct Converted {
    pub timeline: Timeline,
    pub source: Arc<MemorySource>,
    lines: Vec<u32>,
}

impl Converted {
    /// # Errors
    /// One sentence: the log no longer has some of its bytes, or the conversion would change its order.
    pub fn of(timeline: &Timeline, source: &dyn Source) -> Result<Converted, String> {
        let log = Log {
            timeline,
            source,
            name: "",
        };
        let made = canonical(log).map_err(|error| error.to_string())?;
        let source = Arc::new(MemorySource::single("converted.jsonl", made.bytes));
        let mut set = LogSet::open(&*source);
        let mut options = options(&*source, Format::Canonical);
        options.names = vec![source.name(0)];
        let mut timeline = Timeline::new(options);
        loop {
            let before = set.progress(&*source).read;
            let read = set.read(&*source, super::reading::STRIDE, &mut |batch, source| {
                timeline.take(batch, source);
            });
            match read {
                Ok(progress) if progress.done() || progress.read == before => break,
                Ok(_) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        set.settle(true, &*source, &mut |batch, source| {
            timeline.take(batch, source)
        });
        // Its lines are in the order of the entries, and stay in it.
        let kept = timeline.arrange(&*source);
        if kept != timeline.len() || made.lines.last() != Some(&kept) {
            return Err("in the canonical format the log would have another order".to_owned());
        }
        Ok(Converted {
            timeline,
            source,
            lines: made.lines,
        })
    }

    /// Where a position of the agent's log is.
    pub fn position(&self, at: u32) -> u32 {
        let at = self.lines.get(at as usize).or(self.lines.last());
        at.copied().unwrap_or(0)
    }

    /// The first and the last entry that one entry of the agent's log became.
    pub fn entries(&self, index: u32) -> (u32, u32) {
        let before = self.position(index.saturating_sub(1));
        (before + 1, self.position(index))
    }

    /// The entry of the agent's log that an entry comes from.
    pub fn origin(&self, index: u32) -> u32 {
        self.lines.partition_point(|&lines| lines < index) as u32
    }
}
