//! `check`: what is wrong or doubtful in a log.

use super::restoring::open_log;
use crate::output::{counted, End, Out, Outcome};
use chipdeck_engine::log::Reading;
use chipdeck_event::{Finding, Severity};
use chipdeck_ingest::Source;
use chipdeck_replay::{Diagnosis, Found};
use serde_json::{json, Map, Value};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// A log file or folder
    log: PathBuf,
    /// End with status 1 if there are findings of at least this severity
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<Level>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Level {
    Error,
    Warning,
    Info,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let reading = open_log(&arguments.log)?;
    let mut findings = reading.timeline.findings();
    findings.extend(diagnose(&reading));
    findings.sort_by_key(|found| found.index.unwrap_or(u32::MAX));
    if out.json {
        let rows: Vec<Value> = findings
            .iter()
            .map(|found| row(&reading, &found.finding))
            .collect();
        out.document(&json!({ "findings": rows }))?;
    } else {
        for found in &findings {
            let finding = &found.finding;
            let name = reading.source.name(finding.file);
            out.line(format!(
                "{:<7} {:<26} {name}:{}  {}",
                finding.code.severity().as_str(),
                finding.code.as_str(),
                finding.line,
                finding.message,
            ))?;
        }
        let count = |severity| {
            findings
                .iter()
                .filter(|it| it.finding.code.severity() == severity)
                .count()
        };
        out.line(format!(
            "{}, {}, {} in {}",
            counted(count(Severity::Error), "error"),
            counted(count(Severity::Warning), "warning"),
            counted(count(Severity::Info), "info"),
            match reading.timeline.len() {
                1 => "1 entry".to_owned(),
                entries => format!("{entries} entries"),
            },
        ))?;
    }
    let least = arguments.fail_on.map(|level| match level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Info => Severity::Info,
    });
    let fails = least.is_some_and(|least| {
        findings
            .iter()
            .any(|it| it.finding.code.severity() >= least)
    });
    Ok(if fails { End::No } else { End::Done })
}

/// Folds the log again, each event twice.
fn diagnose(reading: &Reading) -> Vec<Found> {
    let mut diagnosis = Diagnosis::of(&reading.timeline);
    while !diagnosis.go_on(&reading.timeline, &*reading.source, u32::MAX) {}
    let found = diagnosis.findings(&reading.timeline).into_iter();
    found
        .map(|(index, finding)| Found {
            index: Some(index),
            finding,
        })
        .collect()
}

fn row(reading: &Reading, finding: &Finding) -> Value {
    let mut row = Map::new();
    let mut put = |key: &str, value: Value| row.insert(key.to_owned(), value);
    put("severity", finding.code.severity().as_str().into());
    put("code", finding.code.as_str().into());
    put("message", finding.message.as_str().into());
    put("file", (*reading.source.name(finding.file)).into());
    put("line", finding.line.into());
    for (key, value) in [
        ("eventId", &finding.event_id),
        ("path", &finding.path),
        ("callId", &finding.call_id),
        ("dialogue", &finding.dialogue),
    ] {
        if let Some(value) = value {
            put(key, value.as_str().into());
        }
    }
    // What the execution says may be nothing at all, which is said as null.
    if let Some(execution) = &finding.execution {
        put("execution", execution.as_deref().into());
    }
    Value::Object(row)
}
