//! `files`: each file's history, with the line that proves each version.

use super::restoring::open_log;
use crate::output::{End, Failure, Out, Outcome};
use chipdeck_engine::log::Reading;
use chipdeck_ingest::Source;
use chipdeck_replay::{Timeline, Version};
use serde_json::{json, Map, Value};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// A log file or folder
    log: PathBuf,
    /// Only this file
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let reading = open_log(&arguments.log)?;
    let timeline = &reading.timeline;
    let paths: Vec<String> = match &arguments.path {
        Some(given) => vec![find(timeline, given)?],
        None => timeline
            .paths()
            .into_iter()
            .map(|path| path.to_string())
            .collect(),
    };
    if out.json {
        let files: Map<String, Value> = paths
            .iter()
            .map(|path| {
                let rows = timeline
                    .versions(path)
                    .iter()
                    .map(|version| row(&reading, version));
                (path.clone(), Value::Array(rows.collect()))
            })
            .filter(|(_, rows)| rows.as_array().is_some_and(|rows| !rows.is_empty()))
            .collect();
        out.document(&json!({ "files": files }))?;
        return Ok(End::Done);
    }
    for path in &paths {
        let versions = timeline.versions(path);
        if versions.is_empty() {
            continue;
        }
        out.line(path)?;
        for version in versions {
            let row = row(&reading, version);
            let text = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
            let hash: String = text("sha256").chars().take(12).collect();
            let outside = if version.changed_outside {
                "  changed behind the log"
            } else {
                ""
            };
            out.line(format!(
                "  {:>7}  {:<7} {:<10} {:<12} {hash:<12}  {}:{}  {}{outside}",
                version.index,
                text("op"),
                text("certainty"),
                text("why"),
                text("file"),
                row["line"],
                text("eventId"),
            ))?;
        }
    }
    Ok(End::Done)
}

fn row(reading: &Reading, version: &Version) -> Value {
    let timeline = &reading.timeline;
    let located = timeline.entry(version.index);
    let event = located.and_then(|it| it.entry.event());
    let sha256 = version
        .content
        .and_then(|it| timeline.content_sha256(it, &*reading.source));
    let bytes = match version.content {
        Some(content) if sha256.is_some() => {
            Some(timeline.content_bytes(content, &*reading.source))
        }
        _ => (!version.exists).then_some(0),
    };
    json!({
        "index": version.index,
        "eventId": event.map(|it| it.envelope.shown().to_string()),
        "file": located.map(|it| reading.source.name(it.place.file).to_string()),
        "line": located.map(|it| it.place.line),
        "op": version.op.as_str(),
        "sha256": sha256,
        "bytes": bytes,
        "certainty": version.certainty.as_str(),
        "why": version.why.as_str(),
    })
}

/// A path as the log writes it, or as it lies below the log's working folder.
pub fn find(timeline: &Timeline, given: &str) -> Result<String, Failure> {
    let paths = timeline.paths();
    let below = |path: &str| {
        let cwd = timeline.cwd()?;
        path.strip_prefix(cwd.trim_end_matches('/'))?
            .strip_prefix('/')
            .map(str::to_owned)
    };
    let relative = given.strip_prefix("./").unwrap_or(given);
    paths
        .iter()
        .find(|path| path.as_ref() == given)
        .or_else(|| {
            paths
                .iter()
                .find(|path| path.as_ref() == relative || below(path).as_deref() == Some(relative))
        })
        .map(|path| path.to_string())
        .ok_or_else(|| {
            Failure::no(format!("the log names no file {given:?}"))
                .hint("`chipdeck files LOG` lists them")
        })
}
