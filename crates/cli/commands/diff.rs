//! `diff`: files between two positions of a log, or between a position and the disk.

use super::restoring::{self, failed};
use crate::output::{End, Failure, Out, Outcome};
use chipdeck_disk::restore::{RestoreError, Root};
use chipdeck_engine::log::Reading;
use chipdeck_replay::restore::{sha256_hex, unified, Known, Picker};
use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// A log file or folder
    log: PathBuf,
    /// The old side: a position
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::output::not_an_option)]
    from: String,
    /// The new side: a position, or `disk`
    #[arg(long, value_name = "M", allow_hyphen_values = true, value_parser = crate::output::not_an_option)]
    to: String,
    /// One file alone, as `files` prints it or relative to the root
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// The folder on the disk (default: the log's first working folder)
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// The new side.
enum To<'a> {
    Position(Box<Picker<'a>>),
    Disk(Root),
}

/// One side of one file.
enum Side {
    Known(Known),
    /// The path has no place below the root.
    Outside(String),
    /// What is there can't be read as a file.
    Unreadable(String),
    /// Something else has its name: there is no such file, but it was not just deleted.
    Other(String),
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let log = restoring::open_log(&arguments.log)?;
    let position = |text: &str| log.position(text).map_err(Failure::no);
    let at = |position| Picker::new(&log.timeline, &*log.source, position);
    let from = at(position(&arguments.from)?);
    let to = match arguments.to.as_str() {
        "disk" => To::Disk(restoring::root(
            arguments.root.as_deref(),
            log.timeline.cwd(),
        )?),
        other => To::Position(Box::new(at(position(other)?))),
    };
    let paths = match &arguments.file {
        Some(given) => vec![one(&log, &to, given)?],
        None => paths(&log, &from, &to),
    };
    let mut files: Vec<Value> = Vec::new();
    for path in &paths {
        let old = Side::Known(from.known(path).0);
        let new = match &to {
            To::Position(to) => Side::Known(to.known(path).0),
            To::Disk(root) => on_disk(&log, root, path)?,
        };
        if let (Some(_), Side::Outside(why) | Side::Unreadable(why)) = (&arguments.file, &new) {
            return Err(Failure::no(why.clone()));
        }
        files.extend(show(path, &old, &new, out)?);
    }
    if out.json {
        out.document(&json!({ "files": files }))?;
    }
    Ok(End::Done)
}

fn one(log: &Reading, to: &To, given: &str) -> Result<String, Failure> {
    let missing = || {
        Failure::no(format!("the log names no file {given:?}"))
            .hint("`chipdeck files LOG` lists them")
    };
    match to {
        To::Disk(root) => restoring::find_path(&log.timeline, root, given).ok_or_else(missing),
        To::Position(_) => {
            let mut paths = log.timeline.paths().into_iter();
            let exact = paths.find(|path| path.as_ref() == given);
            let exact = exact.map(|path| path.to_string());
            // Below the log's own folder, where that is here; between positions no folder is needed.
            let near = || {
                let root = restoring::root(None, log.timeline.cwd()).ok()?;
                restoring::find_path(&log.timeline, &root, given)
            };
            exact.or_else(near).ok_or_else(missing)
        }
    }
}

/// Against the disk: every path that the log names; between positions: those of both states.
fn paths(log: &Reading, from: &Picker, to: &To) -> Vec<String> {
    let paths: BTreeSet<&str> = match to {
        To::Disk(_) => log
            .timeline
            .paths()
            .into_iter()
            .map(AsRef::as_ref)
            .collect(),
        To::Position(to) => from.stated().into_iter().chain(to.stated()).collect(),
    };
    paths.into_iter().map(str::to_owned).collect()
}

fn on_disk(log: &Reading, root: &Root, path: &str) -> Result<Side, Failure> {
    let place = match root.place(path, log.timeline.cwd()) {
        Ok(place) => place,
        Err(outside) => return Ok(Side::Outside(format!("outside-root: {outside}"))),
    };
    match root.read(&place) {
        Ok(found) => Ok(Side::Known(match found.image {
            Some(image) => image.content.into(),
            None => Known::Absent,
        })),
        Err(RestoreError::Outside(outside)) => {
            Ok(Side::Outside(format!("outside-root: {outside}")))
        }
        Err(RestoreError::NotAFile { what, .. }) if what.means_absent() => {
            Ok(Side::Other(what.sentence().to_owned()))
        }
        Err(error @ (RestoreError::NotAFile { .. } | RestoreError::Io { .. })) => {
            Ok(Side::Unreadable(error.to_string()))
        }
        Err(error) => Err(failed(error)),
    }
}

/// Prints a file's difference; `None` where both sides are equal.
fn show(path: &str, old: &Side, new: &Side, out: &mut Out) -> Result<Option<Value>, Failure> {
    let note = match (old, new) {
        (Side::Outside(why) | Side::Unreadable(why) | Side::Other(why), _)
        | (_, Side::Outside(why) | Side::Unreadable(why)) => why.clone(),
        (Side::Known(Known::Absent), Side::Other(_)) => return Ok(None),
        (_, Side::Other(why)) => format!("it is no file on the disk: {why}"),
        (Side::Known(Known::Unknown), _) | (_, Side::Known(Known::Unknown)) => {
            "content unknown".to_owned()
        }
        (Side::Known(old), Side::Known(new)) => {
            let (old, new) = (bytes(old), bytes(new));
            if old == new {
                return Ok(None);
            }
            let diff = unified(path, old, new);
            if !out.json {
                restoring::print_diff(&diff, out)?;
            }
            return Ok(Some(json!({
                "path": path,
                "from": old.map(sha256_hex),
                "to": new.map(sha256_hex),
                "diff": String::from_utf8_lossy(&diff),
            })));
        }
    };
    if !out.json {
        out.line(format!("# {path}: {note}"))?;
    }
    Ok(Some(json!({
        "path": path,
        "from": hash(old),
        "to": hash(new),
        "diff": null,
        "note": note,
    })))
}

fn bytes(known: &Known) -> Option<&[u8]> {
    match known {
        Known::Content(bytes) => Some(bytes),
        Known::Absent | Known::Unknown => None,
    }
}

fn hash(side: &Side) -> Option<String> {
    match side {
        Side::Known(known) => bytes(known).map(sha256_hex),
        _ => None,
    }
}
