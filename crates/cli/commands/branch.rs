//! `branch`: a what-if log. Events are left out, edited, put in, or the log is cut and goes on with another one; the
//! result is folded by itself, compared with the recorded end, and written as a new log.

use super::restoring::open_log;
use crate::output::{warn, End, Failure, Out, Outcome};
use chipdeck_disk::store::{write_branch, BranchFileError};
use chipdeck_engine::log::{Converted, Reading};
use chipdeck_ingest::Source;
use chipdeck_replay::branch::{
    differences, event_faults, payload_faults, Branch, BranchError, Differences, Edits, Look,
    Moved, PayloadFault, Standing, Tail,
};
use chipdeck_replay::restore::unified;
use chipdeck_replay::Timeline;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(clap::Args)]
pub struct Arguments {
    /// A log, file or folder; an agent's is made canonical first
    log: PathBuf,
    /// Leave this event out
    #[arg(long, value_name = "EVENT")]
    skip: Vec<String>,
    /// Give this event the payload that FILE holds
    #[arg(long, value_name = "EVENT=FILE")]
    edit: Vec<String>,
    /// Put the events of FILE in after this event
    #[arg(long, value_name = "EVENT=FILE.jsonl")]
    insert: Vec<String>,
    /// End the log after this position
    #[arg(long, value_name = "N")]
    cut: Option<String>,
    /// Go on with another log's events after the cut
    #[arg(long, value_name = "LOG2", requires = "cut", requires = "from")]
    then: Option<PathBuf>,
    /// The position of LOG2 after which its events are taken
    #[arg(long, value_name = "M", requires = "then", allow_hyphen_values = true, value_parser = crate::output::not_an_option)]
    from: Option<String>,
    /// The new log; an existing file is never written over
    #[arg(long, value_name = "NEW.jsonl")]
    out: PathBuf,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let base = Base::of(&arguments.log)?;
    let edits = edits(&arguments, &base)?;
    let branch = Branch::lay(base.timeline(), base.source(), &edits).map_err(failed)?;
    write_branch(&branch, &arguments.out).map_err(|error| match error {
        BranchFileError::Exists(path) => Failure::no(format!("{} exists already", path.display()))
            .hint("a branch is always a new file"),
        BranchFileError::Io { path, error } => {
            Failure::no(format!("cannot write {}: {error}", path.display()))
        }
    })?;
    let source = base.source();
    let left = Look {
        timeline: base.timeline(),
        state: base.timeline().end(),
        source: &*source,
    };
    let right = Look {
        timeline: &branch.timeline,
        state: branch.timeline.end(),
        source: &*branch.source,
    };
    let found = differences(left, right);
    if out.json {
        let files: Vec<Value> = found
            .files
            .iter()
            .map(|file| {
                json!({
                    "path": file.path,
                    "from": standing(file.left.as_ref()),
                    "to": standing(file.right.as_ref()),
                    "diff": diff(&file.path, left, right),
                })
            })
            .collect();
        out.document(&json!({
            "out": arguments.out.display().to_string(),
            "divergence": branch.divergence,
            "files": files,
            "tools": rows(&found.tools, "callId"),
            "memory": rows(&found.memory, "id"),
            "chips": rows(&found.chips, "id"),
            "plans": rows(&found.plans, "planId"),
            "dialogue": { "from": found.dialogue.0, "to": found.dialogue.1 },
        }))?;
        return Ok(End::Done);
    }
    print(&arguments.out, &branch, &found, (left, right), out)
}

fn print(
    path: &Path,
    branch: &Branch,
    found: &Differences,
    (left, right): (Look<'_>, Look<'_>),
    out: &mut Out,
) -> Outcome {
    out.line(match branch.divergence {
        Some(at) => format!("diverges at entry {at}"),
        None => "the same as the recorded log".to_owned(),
    })?;
    for file in &found.files {
        let words = |standing: Option<&Standing>| match standing {
            None => "never named".to_owned(),
            Some(it) if !it.exists => "deleted".to_owned(),
            Some(it) => match it.bytes {
                Some(bytes) => format!("{} ({bytes} bytes)", it.certainty.as_str()),
                None => it.certainty.as_str().to_owned(),
            },
        };
        out.line(format!(
            "file {}: {} -> {}",
            file.path,
            words(file.left.as_ref()),
            words(file.right.as_ref())
        ))?;
        if let Some(diff) = diff(&file.path, left, right) {
            out.text(&diff)?;
        }
    }
    for (what, list) in [
        ("tool", &found.tools),
        ("memory", &found.memory),
        ("chip", &found.chips),
        ("plan", &found.plans),
    ] {
        for row in list {
            out.line(format!(
                "{what} {}{}{}: {} -> {}",
                row.id,
                if row.name.is_empty() { "" } else { " " },
                row.name,
                row.left.unwrap_or("none"),
                row.right.unwrap_or("none")
            ))?;
        }
    }
    if found.dialogue != (0, 0) {
        out.line(format!(
            "dialogue: {} rows recorded, {} in the branch, after those that are the same",
            found.dialogue.0, found.dialogue.1
        ))?;
    }
    if found.is_empty() {
        out.line("no difference at the end")?;
    }
    out.line(format!("written to {}", path.display()))?;
    Ok(End::Done)
}

fn standing(standing: Option<&Standing>) -> Value {
    standing.map_or(Value::Null, |it| {
        json!({
            "exists": it.exists,
            "certainty": it.certainty.as_str(),
            "sha256": it.sha256,
            "bytes": it.bytes,
        })
    })
}

fn rows(list: &[Moved], id: &str) -> Vec<Value> {
    list.iter()
        .map(|row| {
            let mut value = json!({ id: row.id, "from": row.left, "to": row.right });
            if let (false, Some(object)) = (row.name.is_empty(), value.as_object_mut()) {
                object.insert("toolName".to_owned(), row.name.as_str().into());
            }
            value
        })
        .collect()
}

/// Unified, where both sides are known.
fn diff(path: &str, left: Look<'_>, right: Look<'_>) -> Option<String> {
    /// `None`: unknown; `Some(None)`: absent.
    fn side(look: Look<'_>, path: &str) -> Option<Option<Arc<str>>> {
        match look.timeline.file(look.state, path) {
            None => Some(None),
            Some(file) if !file.exists => Some(None),
            Some(file) => Some(Some(look.timeline.content(file.content?, look.source)?)),
        }
    }
    let (old, new) = (side(left, path)?, side(right, path)?);
    let bytes = unified(
        path,
        old.as_deref().map(str::as_bytes),
        new.as_deref().map(str::as_bytes),
    );
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn edits(arguments: &Arguments, base: &Base) -> Result<Edits, Failure> {
    let mut edits = Edits::default();
    if let Some(cut) = &arguments.cut {
        edits.cut = Some(base.position(cut)?);
    }
    for given in &arguments.skip {
        let (first, last) = event(base, given)?;
        edits.skip.extend(first..=last);
    }
    for given in &arguments.edit {
        let ((entry, _), file) = named(base, given, "--edit")?;
        let payload = edited(base, entry, &file)?;
        if edits.replace.insert(entry, payload).is_some() {
            return Err(Failure::usage(format!("--edit {given}: edited twice")));
        }
    }
    for given in &arguments.insert {
        let ((_, entry), file) = named(base, given, "--insert")?;
        let records = inserted(base, &file)?;
        edits.insert.entry(entry).or_default().extend(records);
    }
    if let (Some(then), Some(from)) = (&arguments.then, &arguments.from) {
        let other = Base::of(then)?;
        let from = other.position(from)?;
        edits.tail = Some(Tail::of(other.timeline(), other.source(), from));
    }
    Ok(edits)
}

/// A log with branches: as it is, or an agent's made canonical.
struct Base {
    read: Reading,
    converted: Option<Converted>,
}

impl Base {
    fn of(path: &Path) -> Result<Base, Failure> {
        let read = open_log(path)?;
        let converted = match read.format.is_canonical() {
            true => None,
            false => {
                let made = Converted::of(&read.timeline, &*read.source);
                Some(made.map_err(|why| Failure::no(format!("no branch of this log: {why}")))?)
            }
        };
        Ok(Base { read, converted })
    }

    fn timeline(&self) -> &Timeline {
        match &self.converted {
            Some(converted) => &converted.timeline,
            None => &self.read.timeline,
        }
    }

    fn source(&self) -> Arc<dyn Source> {
        match &self.converted {
            Some(converted) => converted.source.clone(),
            None => self.read.source.clone(),
        }
    }

    /// A position, as the log that was given has it.
    fn position(&self, text: &str) -> Result<u32, Failure> {
        let at = self.read.position(text).map_err(Failure::no)?;
        Ok(match &self.converted {
            Some(converted) => converted.position(at),
            None => at,
        })
    }
}

/// The first and the last entry of an event, from 1 (an agent's event may become several): its id, or what else names
/// a position.
fn event(base: &Base, given: &str) -> Result<(u32, u32), Failure> {
    let missing = || {
        Failure::no(format!("no event of the log has the id `{given}`"))
            .hint("`chipdeck log LOG` lists the events")
    };
    let entry = match base.read.timeline.index_of_event(given) {
        Some(entry) => entry,
        None => match base.read.position(given) {
            Ok(0) | Err(_) => return Err(missing()),
            Ok(entry) => entry,
        },
    };
    Ok(match &base.converted {
        Some(converted) => converted.entries(entry),
        None => (entry, entry),
    })
}

/// `EVENT=FILE`. Either may have a `=` in it: the first one counts whose left side is an event.
fn named(base: &Base, given: &str, option: &str) -> Result<((u32, u32), PathBuf), Failure> {
    let mut first = None;
    for (at, _) in given.match_indices('=') {
        let (name, file) = (given.get(..at).unwrap_or_default(), given.get(at + 1..));
        let Some(file) = file.filter(|it| !it.is_empty()) else {
            continue;
        };
        match event(base, name) {
            Ok(entry) => return Ok((entry, PathBuf::from(file))),
            Err(failure) => first = first.or(Some(failure)),
        }
    }
    Err(first.unwrap_or_else(|| {
        Failure::usage(format!(
            "{option} {given}: expected an event, `=` and a file"
        ))
    }))
}

fn read(path: &Path) -> Result<String, Failure> {
    let cannot = |why: String| Failure::no(format!("cannot read {}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| cannot(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| cannot("it is no UTF-8".to_owned()))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn faulty(what: String, faults: &[PayloadFault]) -> Failure {
    let words: Vec<&str> = faults.iter().map(|it| it.message.as_str()).collect();
    Failure::no(format!("{what}: {}", words.join("; ")))
}

/// The new payload of an entry, checked.
fn edited(base: &Base, entry: u32, file: &Path) -> Result<String, Failure> {
    let text = read(file)?;
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::no(format!("{} is no JSON: {error}", file.display())))?;
    let type_name = base
        .timeline()
        .entry(entry)
        .and_then(|it| it.entry.event())
        .map(|it| it.envelope.type_name.clone());
    let Some(type_name) = type_name else {
        return Err(failed(BranchError::NoEvent(entry)));
    };
    let faults = payload_faults(&type_name, &value);
    if !faults.is_empty() {
        let what = format!("{} is no payload of {type_name}", file.display());
        return Err(faulty(what, &faults));
    }
    Ok(text)
}

/// The records of a file of events, checked line by line.
fn inserted(base: &Base, file: &Path) -> Result<Vec<String>, Failure> {
    let text = read(file)?;
    let mut records = Vec::new();
    for (line, record) in (1..).zip(text.split('\n')) {
        let record = record.trim();
        if record.is_empty() {
            continue;
        }
        let what = || format!("line {line} of {} is no event", file.display());
        let value: Value = serde_json::from_str(record)
            .map_err(|error| Failure::no(format!("{}: {error}", what())))?;
        let faults = event_faults(&value);
        if !faults.is_empty() {
            return Err(faulty(what(), &faults));
        }
        let id = value.get("eventId").and_then(Value::as_str);
        if let Some(id) = id.filter(|id| base.timeline().index_of_event(id).is_some()) {
            warn(format!(
                "the log has an event `{id}` already: of the two the later one is ignored"
            ));
        }
        records.push(record.to_owned());
    }
    Ok(records)
}

fn failed(error: BranchError) -> Failure {
    match error {
        BranchError::Twice(_) | BranchError::BehindCut { .. } => Failure::usage(error.to_string()),
        _ => Failure::no(error.to_string()),
    }
}
