//! The diagnosis of a log: it is folded again beside the log that is shown, which is let go of between strides.

use crate::api::{DiagnosisRow, DiagnosisView, Notice};
use crate::engine::{Answer, Inner};
use chipdeck_replay::{Diagnosis, Doubt};

/// Entries that are folded while the log is held.
const STRIDE: u32 = 5_000;
/// Rows that an answer lists.
const MOST_ROWS: usize = 500;

impl Inner {
    pub(crate) fn diagnose(&self, id: &str) -> Answer<DiagnosisView> {
        let log = self.log(id)?;
        let mut diagnosis = log.look(|look| Diagnosis::of(look.timeline));
        while !log.look(|look| diagnosis.go_on(look.timeline, look.source, STRIDE)) {
            // A log that was closed is not worth the work.
            self.log(id)?;
            self.tell(Notice::DiagnoseProgress {
                log: id.to_owned(),
                done: u64::from(diagnosis.done()),
                total: log.look(|look| look.timeline.entries().len()) as u64,
            });
        }
        Ok(log.look(|look| {
            let doubts = diagnosis.doubts(look.timeline);
            let count = |wanted: Doubt| {
                let found = doubts.iter().filter(|(doubt, _, _)| *doubt == wanted);
                found.count() as u64
            };
            DiagnosisView {
                entries: u64::from(diagnosis.done()),
                ties: count(Doubt::Tie),
                not_idempotent: count(Doubt::NotIdempotent),
                hidden_inputs: count(Doubt::HiddenInput),
                timeouts: count(Doubt::Timeout),
                clipped: doubts.len() > MOST_ROWS,
                rows: doubts
                    .iter()
                    .take(MOST_ROWS)
                    .map(|(doubt, index, finding)| DiagnosisRow {
                        kind: doubt.as_str().to_owned(),
                        message: finding.message.clone(),
                        entry: index.and_then(|index| look.row(index)),
                    })
                    .collect(),
            }
        }))
    }
}
