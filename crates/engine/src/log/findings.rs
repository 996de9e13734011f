//! Findings in the order of their entries, and what is found at one of them.

use super::look::Look;
use crate::api::{FindingRow, Page};
use chipdeck_event::{Code, Severity};
use chipdeck_replay::{Drift, Found, Timeline};
use std::collections::HashMap;

/// Characters of the log's line that a row shows.
const EXCERPT: usize = 400;

/// All findings of a log, ready to be asked by entry.
#[derive(Debug, Default)]
pub struct Findings {
    all: Vec<Found>,
    /// (entry, place in `all`), sorted.
    by_entry: Vec<(u32, u32)>,
    /// Drift by call.
    by_call: HashMap<String, u32>,
    /// Claims that the execution denies, settled ones too, in order.
    drifts: Vec<Drift>,
}

impl Findings {
    pub fn of(timeline: &Timeline) -> Findings {
        let all = timeline.findings();
        let mut by_entry: Vec<(u32, u32)> = all
            .iter()
            .enumerate()
            .filter_map(|(at, found)| Some((found.index?, at as u32)))
            .collect();
        by_entry.sort_unstable();
        let drifts = all.iter().enumerate().filter(|(_, found)| is_drift(found));
        let by_call = drifts
            .filter_map(|(at, found)| Some((found.finding.call_id.clone()?, at as u32)))
            .collect();
        Findings {
            all,
            by_entry,
            by_call,
            drifts: timeline.drifts(true),
        }
    }

    /// Claims of the dialogue that the execution denies, settled ones too, in order.
    pub fn drifts(&self) -> &[Drift] {
        &self.drifts
    }

    /// What the dialogue's entry claims against the execution.
    pub fn drift_at(&self, index: u32) -> Option<&Drift> {
        let at = self.drifts.binary_search_by_key(&index, |it| it.index);
        self.drifts.get(at.ok()?)
    }

    pub fn all(&self) -> &[Found] {
        &self.all
    }

    pub fn at(&self, index: u32) -> impl Iterator<Item = &Found> {
        let first = self.by_entry.partition_point(|(it, _)| *it < index);
        self.by_entry
            .get(first..)
            .unwrap_or_default()
            .iter()
            .take_while(move |(it, _)| *it == index)
            .filter_map(|(_, at)| self.all.get(*at as usize))
    }

    /// Those at or before a position; one without an entry counts from the start.
    pub fn count_until(&self, position: u32) -> u64 {
        let placed = self.by_entry.partition_point(|(it, _)| *it <= position);
        (placed + self.all.len() - self.by_entry.len()) as u64
    }

    pub fn count(&self, severity: Severity) -> u64 {
        self.all
            .iter()
            .filter(|found| found.finding.code.severity() == severity)
            .count() as u64
    }

    pub fn worst(&self, index: u32) -> Option<Severity> {
        self.at(index)
            .map(|found| found.finding.code.severity())
            .max()
    }

    /// What the execution says instead, where the dialogue's entry claims otherwise.
    pub fn drift(&self, index: u32) -> Option<&Found> {
        self.at(index).find(|found| is_drift(found))
    }

    /// The same for a call, wherever the dialogue speaks of it.
    pub fn drift_of_call(&self, call_id: &str) -> Option<&Found> {
        self.all.get(*self.by_call.get(call_id)? as usize)
    }
}

fn is_drift(found: &Found) -> bool {
    [Code::DriftUnsupportedSuccess, Code::DriftUnsupportedFailure].contains(&found.finding.code)
}

impl Look<'_> {
    pub fn finding_row(&self, found: &Found) -> FindingRow {
        let finding = &found.finding;
        let excerpt = found
            .index
            .and_then(|index| self.timeline.entry(index))
            .and_then(|located| {
                let place = located.place;
                let len = usize::try_from(place.len)
                    .unwrap_or(usize::MAX)
                    .min(EXCERPT * 4);
                let bytes = self.source.read_at(place.file, place.offset, len).ok()?;
                Some(
                    String::from_utf8_lossy(&bytes)
                        .chars()
                        .take(EXCERPT)
                        .collect::<String>(),
                )
            });
        FindingRow {
            severity: finding.code.severity().as_str().to_owned(),
            code: finding.code.as_str().to_owned(),
            message: finding.message.clone(),
            file: self.source.name(finding.file).to_string(),
            line: finding.line,
            index: found.index.map(u64::from),
            event_id: finding.event_id.clone(),
            path: finding.path.clone(),
            call_id: finding.call_id.clone(),
            dialogue: finding.dialogue.clone(),
            execution: finding.execution.clone().flatten(),
            excerpt,
        }
    }

    pub fn findings(&self, severity: Option<&str>, offset: u64, limit: u64) -> Page<FindingRow> {
        let wanted =
            |found: &&Found| severity.is_none_or(|it| found.finding.code.severity().as_str() == it);
        let (skip, take) = super::window(offset, limit);
        Page {
            offset,
            total: self.findings.all().iter().filter(wanted).count() as u64,
            rows: self
                .findings
                .all()
                .iter()
                .filter(wanted)
                .skip(skip)
                .take(take)
                .map(|it| self.finding_row(it))
                .collect(),
        }
    }
}
