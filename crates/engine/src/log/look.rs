//! A look at a log: its timeline, its bytes and its findings, held still while one request is answered. The views of
//! this module are functions of it; they read no clock and change nothing.

use super::findings::Findings;
use chipdeck_ingest::Source;
use chipdeck_replay::Timeline;
use std::sync::Arc;

pub struct Look<'a> {
    pub timeline: &'a Timeline,
    pub source: &'a dyn Source,
    pub findings: Arc<Findings>,
}

impl Look<'_> {
    /// A position of the wire, within the log.
    pub fn position(&self, at: u64) -> u32 {
        u32::try_from(at)
            .unwrap_or(u32::MAX)
            .min(self.timeline.len())
    }
}
