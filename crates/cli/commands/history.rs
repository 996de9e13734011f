//! `history`: the restores, newest first.

use super::restoring::{self, failed};
use crate::output::{End, Out, Outcome};
use chipdeck_disk::restore::{Journal, PastRestore, PastStep};
use chipdeck_replay::restore::unified;
use serde_json::{json, Value};

#[derive(clap::Args)]
pub struct Arguments {}

pub fn run(_: Arguments, out: &mut Out) -> Outcome {
    let journal = restoring::journal()?;
    let history = journal.history().map_err(failed)?;
    if out.json {
        let restores: Vec<Value> = history.iter().map(|past| row(&journal, past)).collect();
        out.document(&json!({ "restores": restores }))?;
        return Ok(End::Done);
    }
    if history.is_empty() {
        out.line("no restores yet")?;
    }
    for past in &history {
        let undo = match (&past.undo_of, &past.undone_by) {
            (Some(of), Some(by)) => format!(", undo of {of}, undone by {by}"),
            (Some(of), None) => format!(", undo of {of}"),
            (None, Some(by)) => format!(", undone by {by}"),
            (None, None) => String::new(),
        };
        let time = time(past.time);
        let root = past.root.display();
        out.line(format!("{}  {time}  {}{undo}  {root}", past.id, past.kind))?;
        for step in &past.steps {
            out.line(format!("    {:<8}{}", step.action(), step.path))?;
        }
    }
    Ok(End::Done)
}

fn row(journal: &Journal, past: &PastRestore) -> Value {
    let steps: Vec<Value> = past.steps.iter().map(|one| step(journal, one)).collect();
    let mut row = json!({
        "restoreId": past.id,
        "time": past.time,
        "kind": past.kind,
        "root": past.root.to_string_lossy(),
        "steps": steps,
    });
    for (name, value) in [("undoOf", &past.undo_of), ("undoneBy", &past.undone_by)] {
        if let Some(id) = value {
            row[name] = json!(id);
        }
    }
    row
}

/// The diff is null where a kept copy is gone.
fn step(journal: &Journal, step: &PastStep) -> Value {
    let side = |hash: &Option<String>| match hash {
        None => Some(None),
        Some(hash) => journal.image(hash).map(Some),
    };
    let diff = match (side(&step.before_sha256), side(&step.after_sha256)) {
        (Some(before), Some(after)) => {
            let before = before.as_ref().map(|content| content.bytes());
            let after = after.as_ref().map(|content| content.bytes());
            let diff = unified(&step.path, before, after);
            json!(String::from_utf8_lossy(&diff))
        }
        _ => Value::Null,
    };
    json!({
        "path": step.path,
        "action": step.action(),
        "beforeSha256": step.before_sha256,
        "afterSha256": step.after_sha256,
        "diff": diff,
    })
}

/// Local time for people.
fn time(unix_ms: i64) -> String {
    match chrono::DateTime::from_timestamp_millis(unix_ms) {
        Some(time) => {
            let local = time.with_timezone(&chrono::Local);
            local.format("%Y-%m-%d %H:%M:%S").to_string()
        }
        None => format!("@{unix_ms}"),
    }
}
