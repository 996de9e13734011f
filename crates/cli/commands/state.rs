//! `state`: everything that a log proves at a position, or one file's text.

use super::restoring::open_log;
use crate::output::{End, Failure, Out, Outcome};
use chipdeck_disk::places::Places;
use chipdeck_disk::store::KeptStates;
use chipdeck_engine::log::{state_at_end, Least};
use serde_json::json;
use std::io::IsTerminal;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// A log file or folder
    log: PathBuf,
    /// The position: a number, `end`, `@` and Unix milliseconds, a time, or an event's id
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::output::not_an_option)]
    at: String,
    /// Print this file's bytes instead, as `files` prints its path
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    if let (None, "end", Some(places)) = (
        &arguments.file,
        arguments.at.as_str(),
        Places::of_this_user(),
    ) {
        let states = KeptStates::new(&places);
        let found = state_at_end(&arguments.log, &states, Least::default())
            .map_err(|error| Failure::no(error.to_string()))?;
        print(&found.json, out)?;
        return Ok(End::Done);
    }
    let reading = open_log(&arguments.log)?;
    let at = reading.position(&arguments.at).map_err(Failure::no)?;
    let timeline = &reading.timeline;
    let state = timeline.state_at(at);
    let Some(given) = arguments.file else {
        // For people too: the object is made to be read.
        let text = timeline.state_json(&state, &*reading.source);
        print(text.trim_end(), out)?;
        return Ok(End::Done);
    };
    let path = super::files::find(timeline, &given)?;
    let Some(file) = timeline.file(&state, &path) else {
        return Err(
            Failure::no(format!("the log does not name {path} up to position {at}"))
                .hint("`chipdeck files LOG --path` shows from which event on it is known"),
        );
    };
    let content = file
        .content
        .and_then(|content| timeline.content(content, &*reading.source));
    if out.json {
        let sha256 = file
            .content
            .and_then(|content| timeline.content_sha256(content, &*reading.source));
        out.document(&json!({
            "path": path,
            "exists": file.exists,
            "certainty": file.certainty.as_str(),
            "sha256": sha256,
            "content": content.as_deref(),
        }))?;
    }
    match content {
        Some(content) if !out.json => out.bytes(content.as_bytes())?,
        Some(_) => {}
        None if !file.exists => {
            return Err(Failure::no(format!("{path} is deleted at position {at}")))
        }
        None => {
            return Err(Failure::no(format!(
                "the log does not show the content of {path} at position {at}"
            ))
            .hint("`chipdeck files LOG --path` shows from which event on it is known"));
        }
    }
    Ok(End::Done)
}

/// The object on one line; on a terminal indented, and without anything that steers it.
fn print(json: &str, out: &mut Out) -> Result<(), Failure> {
    if std::io::stdout().is_terminal() {
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(json) {
            return out.document(&value);
        }
    }
    out.bytes(json.as_bytes())?;
    out.bytes(b"\n")
}
