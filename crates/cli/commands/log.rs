//! `log`: the entries of a log as lines, all of them or those that a filter takes.

use super::restoring::open_log;
use crate::output::{End, Failure, Out, Outcome};
use chipdeck_engine::filter::Filter;
use chipdeck_engine::log::{iso, position, Ahead};
use serde_json::json;
use std::cell::RefCell;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// A log file or folder
    log: PathBuf,
    /// Only entries that match: terms joined by blanks, `-` before one negates it. type: path: tool: status: session:
    /// trace: corr: after:N before:N is:error|finding|edit, /regex/, else a text (in quotes where it has blanks)
    #[arg(long = "where", value_name = "FILTER", allow_hyphen_values = true)]
    filter: Option<String>,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let reading = open_log(&arguments.log)?;
    let look = reading.look();
    let text = arguments.filter.as_deref().unwrap_or_default();
    let filter = Filter::parse(text, &|n| position(&reading.timeline, n).map(u64::from)).map_err(
        |fault| {
            // A position that the log does not have is an answer, a filter that is none is not.
            let failure = if fault.names_no_position {
                Failure::no(fault.to_string())
            } else {
                Failure::usage(fault.to_string())
            };
            failure.hint("`chipdeck log --help` lists the terms")
        },
    )?;
    let ahead = RefCell::new(Ahead::default());
    for index in 1..=reading.timeline.len() {
        if !filter.is_empty() && !look.matches(&filter, index, &ahead) {
            continue;
        }
        let (Some(row), Some(located)) = (look.row(index), reading.timeline.entry(index)) else {
            continue;
        };
        if out.json {
            out.json_line(&json!({
                "index": row.index,
                "file": chipdeck_ingest::Source::name(&*reading.source, located.place.file),
                "line": located.place.line,
                "eventId": row.event_id,
                "type": row.kind,
                "timestamp": row.timestamp,
                "session": row.session,
                "traceId": row.trace_id,
                "summary": row.summary,
            }))?;
        } else {
            let time = row.timestamp.map_or_else(|| "-".to_owned(), iso);
            let mark = match row.finding.as_deref() {
                Some("error") => "!",
                Some("warning") => "?",
                _ => " ",
            };
            out.line(format!(
                "{:>7} {mark} {time:<24}  {:<18} {}",
                row.index, row.kind, row.summary
            ))?;
        }
    }
    Ok(End::Done)
}
