//! The drift list, and its repair: a preview, then the append of exactly that.

use crate::api::*;
use crate::engine::{hold, now_ms, Answer, Inner};
use crate::log::{window, Look};
use crate::repair::{Repair, RepairError};
use chipdeck_disk::store::AppendError;
use chipdeck_event::Status;
use chipdeck_replay::Drift;

/// Previews that are held at once: the oldest goes.
const MOST_PREVIEWS: usize = 16;

impl Look<'_> {
    pub fn drifts(&self, offset: u64, limit: u64) -> Page<DriftRow> {
        let (skip, take) = window(offset, limit);
        let all = self.findings.drifts();
        Page {
            offset,
            total: all.len() as u64,
            rows: all
                .iter()
                .skip(skip)
                .take(take)
                .map(|drift| self.drift_row(drift))
                .collect(),
        }
    }

    pub fn drift_row(&self, drift: &Drift) -> DriftRow {
        let row = self.row(drift.index);
        let code = match drift.dialogue {
            Status::Ok => "drift-unsupported-success",
            _ => "drift-unsupported-failure",
        };
        DriftRow {
            index: u64::from(drift.index),
            event_id: row
                .as_ref()
                .and_then(|row| row.event_id.clone())
                .unwrap_or_default(),
            call_id: drift.call.to_string(),
            dialogue: drift.dialogue.as_str().to_owned(),
            execution: drift.execution.map(|it| it.as_str().to_owned()),
            code: code.to_owned(),
            tool_name: drift
                .call_index
                .and_then(|call| self.tool_name(call))
                .map(str::to_owned),
            call_index: drift.call_index.map(u64::from),
            result_index: drift.result_index.map(u64::from),
            timestamp: self.timestamp(drift.index),
            settled_by: drift.settled_by.map(u64::from),
            place: row
                .as_ref()
                .map(|row| row.place.clone())
                .unwrap_or_default(),
            summary: row.map(|row| row.summary).unwrap_or_default(),
        }
    }
}

impl Inner {
    pub(crate) fn plan_repair(&self, id: &str) -> Answer<RepairView> {
        let log = self.log(id)?;
        let repair = log
            .look(|look| Repair::preview(look.timeline, &log.source, now_ms()))
            .map_err(refused)?;
        let name = format!("repair-{}", self.number());
        let view = view(&name, &repair);
        let mut held = hold(&self.deep.repairs);
        if held.len() >= MOST_PREVIEWS {
            // Names count up: the shortest, then smallest, is the oldest.
            let oldest = held
                .keys()
                .min_by_key(|it| (it.len(), it.as_str()))
                .cloned();
            oldest.and_then(|oldest| held.remove(&oldest));
        }
        held.insert(name, (id.to_owned(), repair));
        Ok(view)
    }

    pub(crate) fn apply_repair(&self, name: &str) -> Answer<Repaired> {
        let (log, repair) = hold(&self.deep.repairs).remove(name).ok_or_else(|| {
            ApiError::new("not-found", "This preview is no longer there.")
                .why("repair-gone")
                .hint("Look at the drift again.")
        })?;
        // A log that was closed meanwhile is not written.
        self.log(&log)?;
        repair.apply().map_err(refused)?;
        Ok(Repaired {
            appended: repair.corrections.len() as u64,
            files: repair.files.iter().map(|it| it.name.clone()).collect(),
        })
    }
}

fn view(name: &str, repair: &Repair) -> RepairView {
    let file = |number: u32| {
        let found = repair.files.iter().find(|it| it.file == number);
        found.map(|it| it.name.clone()).unwrap_or_default()
    };
    RepairView {
        repair: name.to_owned(),
        lines: repair
            .corrections
            .iter()
            .map(|it| RepairLine {
                index: u64::from(it.index),
                call_id: it.call.to_string(),
                dialogue: it.dialogue.as_str().to_owned(),
                execution: it.execution.map(|it| it.as_str().to_owned()),
                status: it.execution.unwrap_or(Status::Error).as_str().to_owned(),
                file: file(it.file),
                text: it.record.clone(),
            })
            .collect(),
        files: repair
            .files
            .iter()
            .map(|it| RepairFileRow {
                file: it.name.clone(),
                lines: it.text.lines().count() as u64,
                bytes: it.text.len() as u64,
            })
            .collect(),
    }
}

fn refused(error: RepairError) -> ApiError {
    let name = |path: &std::path::Path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    };
    let (code, why, about) = match &error {
        RepairError::Foreign => ("bad-request", "repair-foreign", None),
        RepairError::Torn(file) => ("precondition", "repair-torn", Some(file.clone())),
        RepairError::Append(AppendError::Torn(path)) => {
            ("precondition", "repair-torn", Some(name(path)))
        }
        RepairError::Moved(file) => ("precondition", "repair-moved", Some(file.clone())),
        RepairError::Append(AppendError::Moved(path)) => {
            ("precondition", "repair-moved", Some(name(path)))
        }
        RepairError::Io { name, .. } => ("io", "repair-io", Some(name.clone())),
        RepairError::Append(AppendError::Io { path, .. }) => ("io", "repair-io", Some(name(path))),
    };
    let mut message = error.to_string();
    if let Some(first) = message.get(..1) {
        message = format!(
            "{}{}",
            first.to_uppercase(),
            message.get(1..).unwrap_or_default()
        );
    }
    let mut answer = ApiError::new(code, format!("{message}.")).why(why);
    if let Some(about) = about {
        answer = answer.about(about);
    }
    match code {
        "precondition" => answer.hint("Look at the drift again."),
        _ => answer,
    }
}
