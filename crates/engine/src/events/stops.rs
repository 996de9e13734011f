//! Breakpoints: the next entry at which playback stops, and which of the given stops it is.

use crate::api::*;
use crate::engine::{Answer, Inner};
use crate::log::Log;
use chipdeck_event::Severity;
use chipdeck_replay::Lanes;

/// Stops that one request may have.
const MOST_STOPS: usize = 64;

impl Inner {
    /// `None`: none of the stops is met in that direction.
    pub(crate) fn next_stop(
        &self,
        id: &str,
        from: u64,
        stops: &[Stop],
        forward: bool,
    ) -> Answer<Option<StopHit>> {
        let log = self.log(id)?;
        if stops.len() > MOST_STOPS {
            return Err(ApiError::new(
                "bad-request",
                format!("More than {MOST_STOPS} stops are too many."),
            ));
        }
        let at = log.look(|look| look.position(from));
        let mut nearest: Option<u32> = None;
        let mut hits = Vec::new();
        for (number, stop) in (0u32..).zip(stops) {
            let Some(hit) = self.one_stop(&log, stop, at, forward)? else {
                continue;
            };
            let nearer = |nearest: u32| {
                if forward {
                    hit < nearest
                } else {
                    hit > nearest
                }
            };
            if nearest.is_none_or(nearer) {
                nearest = Some(hit);
                hits.clear();
            }
            if nearest == Some(hit) {
                hits.push(number);
            }
        }
        Ok(nearest.map(|index| StopHit {
            index: u64::from(index),
            stops: hits,
            entry: log.look(|look| look.row(index)),
        }))
    }

    fn one_stop(&self, log: &Log, stop: &Stop, at: u32, forward: bool) -> Answer<Option<u32>> {
        match stop {
            Stop::Filter { filter } => self.step_filter(log, filter, at, forward),
            Stop::Error => {
                Ok(log
                    .look(|look| look.step_lane(&[Lanes::ERROR, Lanes::TOOL_FAILED], at, forward)))
            }
            Stop::FirstTouch { path } => Ok(log.look(|look| {
                let first = |path: &str| look.timeline.versions(path).first().map(|it| it.index);
                let mut touches: Vec<u32> = match path {
                    Some(path) => first(path).into_iter().collect(),
                    None => {
                        let paths = look.timeline.paths();
                        paths.into_iter().filter_map(|path| first(path)).collect()
                    }
                };
                touches.sort_unstable();
                crate::log::Look::step_list(&touches, at, forward)
            })),
            Stop::Finding { severity } => {
                let least = match severity.as_str() {
                    "error" => Severity::Error,
                    "warning" => Severity::Warning,
                    "info" => Severity::Info,
                    other => {
                        return Err(ApiError::new(
                            "bad-request",
                            format!("There is no severity {other}."),
                        ))
                    }
                };
                Ok(log.look(|look| {
                    let found = look.findings.all().iter();
                    let mut at_least: Vec<u32> = found
                        .filter(|it| it.finding.code.severity() >= least)
                        .filter_map(|it| it.index)
                        .collect();
                    at_least.sort_unstable();
                    at_least.dedup();
                    crate::log::Look::step_list(&at_least, at, forward)
                }))
            }
        }
    }
}
