//! `repair`: appends what puts the dialogue's false claims right.

use super::restoring::{now, open_log};
use crate::output::{counted, End, Failure, Out, Outcome};
use chipdeck_engine::{Repair, RepairError};
use serde_json::{json, Value};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// A canonical log, file or folder
    log: PathBuf,
    /// Show what would be appended and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let reading = open_log(&arguments.log)?;
    let repair = Repair::preview(&reading.timeline, &reading.source, now()).map_err(failed)?;
    let applied = !arguments.dry_run;
    if applied {
        repair.apply().map_err(failed)?;
    }
    if out.json {
        let appended: Vec<Value> = repair
            .corrections
            .iter()
            .filter_map(|it| serde_json::from_str(&it.record).ok())
            .collect();
        let names: Vec<&str> = repair.files.iter().map(|it| it.name.as_str()).collect();
        let mut document = json!({
            "appended": appended,
            "file": names.first(),
            "applied": applied,
        });
        // Claims of one set may stand in several shards.
        if let (true, Some(object)) = (names.len() > 1, document.as_object_mut()) {
            object.insert("files".to_owned(), json!(names));
        }
        out.document(&document)?;
        return Ok(End::Done);
    }
    for correction in &repair.corrections {
        let execution = correction.execution.map_or("nothing", |it| it.as_str());
        let name = repair.files.iter().find(|it| it.file == correction.file);
        out.line(format!(
            "{}  call {}: the dialogue says {}, the execution says {execution}",
            name.map_or("", |it| it.name.as_str()),
            correction.call,
            correction.dialogue.as_str(),
        ))?;
        out.line(format!("  + {}", correction.record))?;
    }
    out.line(match (repair.corrections.len(), applied) {
        (0, _) => "nothing to repair: the dialogue claims nothing that the execution denies".into(),
        (count, true) => format!("{} appended", counted(count, "correction")),
        (count, false) => format!(
            "{} would be appended; nothing was written",
            counted(count, "correction")
        ),
    })?;
    Ok(End::Done)
}

fn failed(error: RepairError) -> Failure {
    let failure = Failure::no(error.to_string());
    match error {
        RepairError::Foreign => {
            failure.hint("agents' logs belong to their agents: they are only read")
        }
        RepairError::Torn(_) => {
            failure.hint("`chipdeck check` shows the line; nothing was appended")
        }
        _ => failure,
    }
}
