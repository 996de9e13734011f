//! What `restore`, `undo`, `history`, `diff` (and the chips' own restores) share: the root, the journal, printing a
//! plan and carrying it out.

use crate::output::{warn, End, Failure, Out, Outcome};
use chipdeck_disk::places::{is_home_or_above, Places};
use chipdeck_disk::restore::{Journal, Outcome as Settling, RestoreError, Root};
use chipdeck_engine::log::Reading;
use chipdeck_replay::restore::{unified, Action, Note, RestorePlan, Step, Warning};
use chipdeck_replay::Timeline;
use serde_json::{json, Value};
use std::io::IsTerminal;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn open_log(path: &Path) -> Result<Reading, Failure> {
    Reading::of(path).map_err(|error| Failure::no(error.to_string()))
}

/// Unix milliseconds.
pub fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// `--root`, else the log's first working folder if it exists here.
pub fn root(given: Option<&Path>, cwd: Option<&str>) -> Result<Root, Failure> {
    // A log whose folder is the whole disk says nothing of where a person wants it restored.
    let here = |cwd: &&str| {
        let cwd = Path::new(cwd);
        cwd.is_absolute() && cwd.is_dir() && !is_home_or_above(cwd) && cwd.parent().is_some()
    };
    let path = match (given, cwd.filter(here)) {
        (Some(given), _) => given,
        (None, Some(cwd)) => Path::new(cwd),
        (None, None) => {
            let message = match cwd {
                Some(cwd) if !Path::new(cwd).is_dir() => {
                    format!("the log's folder {cwd:?} is not on this machine")
                }
                Some(cwd) => format!(
                    "the log's folder {cwd:?} is your home folder, or one above it, which no log opens by itself"
                ),
                None => "the log names no working folder".to_owned(),
            };
            return Err(Failure::usage(message).hint("say which folder to write with --root DIR"));
        }
    };
    Root::open(path).map_err(failed)
}

/// The journal, with what a crash left put right.
pub fn journal() -> Result<Journal, Failure> {
    let places = Places::of_this_user().ok_or_else(|| {
        Failure::no("there is no home folder to keep the history in")
            .hint("set HOME or XDG_DATA_HOME")
    })?;
    let journal = Journal::new(&places);
    let settled = match journal.settle(now()) {
        Err(RestoreError::Busy) => {
            warn("another restore is still running");
            Vec::new()
        }
        settled => settled.map_err(failed)?,
    };
    for settled in settled {
        let restore = &settled.restore;
        match settled.outcome {
            Settling::Finished => {}
            Settling::PutBack => warn(format!(
                "restore {restore} had broken off; its files below {} are as they were before it",
                settled.root.display()
            )),
            Settling::PutBackBut(paths) => warn(format!(
                "restore {restore} had broken off; its files below {} are as they were before it, but for {}: changed \
                 since, so left alone; `chipdeck history --json` shows what they were before",
                settled.root.display(),
                paths
                    .iter()
                    .map(|path| format!("{path:?}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            )),
            Settling::Waiting(why) => warn(format!(
                "restore {restore} broke off and could not be put back yet: {why}"
            )),
        }
    }
    match journal.damaged_lines() {
        Ok(0) | Err(_) => {}
        Ok(count) => warn(format!(
            "the history {} is damaged: {count} of its lines cannot be read, and what they recorded cannot be undone",
            places.data.join("restores.jsonl").display()
        )),
    }
    Ok(journal)
}

pub fn failed(error: RestoreError) -> Failure {
    let code = error.code();
    let message = match &error {
        RestoreError::Outside(_) => format!("outside-root: {error}; nothing was written"),
        _ => error.to_string(),
    };
    let failure = Failure::no(message);
    match (&error, code) {
        (RestoreError::Outside(_), _) => failure
            .hint("files outside the root are never written; --root DIR names another folder"),
        (RestoreError::Moved(_), _) => failure.hint("look at the files, then try again"),
        (RestoreError::UnknownRestore(_), _) => failure.hint("`chipdeck history` lists them"),
        (RestoreError::NoBase { .. }, _) => {
            failure.hint("without --merge the log's content is taken as it is")
        }
        _ => failure,
    }
}

/// The log's own way to write a path that was given so, or relative to the root.
pub fn find_path(timeline: &Timeline, root: &Root, given: &str) -> Option<String> {
    let paths = timeline.paths();
    if let Some(exact) = paths.iter().find(|path| path.as_ref() == given) {
        return Some(exact.to_string());
    }
    let cwd = timeline.cwd();
    let wanted = root.place(given, cwd).ok()?;
    let same = |path: &str| root.place(path, cwd).is_ok_and(|place| place == wanted);
    paths
        .iter()
        .find(|path| same(path))
        .map(|path| path.to_string())
}

/// Prints what a plan does, and does it unless it is a dry run.
pub fn carry_out(
    root: &Root,
    plan: &RestorePlan,
    warned: &[Warning],
    dry_run: bool,
    done: &str,
    out: &mut Out,
) -> Outcome {
    let applied = match dry_run {
        true => None,
        false => {
            let journal = journal()?;
            let applied = journal.apply(root, plan, now()).map_err(failed)?;
            if applied.is_some() {
                tidy(&journal);
            }
            applied
        }
    };
    let mut all = warnings(warned);
    let linked =
        |step: &&Step| step.notes.contains(&Note::HardLink) && step.action() == Action::Replace;
    for step in plan.steps.iter().filter(linked) {
        all.push(json!({
            "code": "hard-link",
            "message": format!("{}: other names of this file keep the old content", step.path),
        }));
    }
    for path in applied.iter().flat_map(|applied| &applied.undressed) {
        all.push(json!({
            "code": "attributes",
            "message": format!("{path}: its owner or extended attributes could not be kept"),
        }));
    }
    if out.json {
        out.document(&json!({
            "restoreId": applied.as_ref().map(|applied| &applied.restore),
            "steps": steps(&plan.steps),
            "applied": applied.is_some(),
            "warnings": all,
        }))?;
        return Ok(End::Done);
    }
    for warning in &all {
        warn(warning["message"].as_str().unwrap_or_default());
    }
    for step in &plan.steps {
        let notes: Vec<&str> = step.notes.iter().map(|note| note.as_str()).collect();
        let notes = match notes.is_empty() {
            true => String::new(),
            false => format!(" ({})", notes.join(", ")),
        };
        out.line(format!("{:<8}{}{notes}", step.action().as_str(), step.path))?;
        if dry_run {
            out.text(&String::from_utf8_lossy(&diff(step)))?;
        }
    }
    match &applied {
        Some(applied) => {
            let id = &applied.restore;
            out.line(format!(
                "{done}: {id} (take it back with `chipdeck undo {id}`)"
            ))?;
        }
        None if dry_run => out.line("dry run: nothing was written")?,
        None => out.line("nothing to do: the disk has it already")?,
    }
    Ok(End::Done)
}

/// After a write: kept copies beyond the limits go, and what that means is said.
fn tidy(journal: &Journal) {
    match journal.tidy(super::settings().keeping(), now()) {
        Err(error) => warn(format!(
            "the kept copies could not be looked through: {error}"
        )),
        Ok(tidied) => {
            if tidied.restores > 0 {
                warn(format!(
                    "kept copies beyond the limits of archive.max_bytes and archive.max_days went: {} can no longer be \
                     taken back",
                    match tidied.restores {
                        1 => "1 older restore".to_owned(),
                        n => format!("{n} older restores"),
                    }
                ));
            }
            if tidied.over {
                warn(format!(
                    "the copies that the newest restores need take {} bytes, more than archive.max_bytes; they are kept",
                    tidied.bytes
                ));
            }
        }
    }
}

pub fn warnings(warned: &[Warning]) -> Vec<Value> {
    let one = |warning: &Warning| json!({"code": warning.code, "message": warning.message});
    warned.iter().map(one).collect()
}

pub fn steps(steps: &[Step]) -> Vec<Value> {
    let one = |step: &Step| {
        json!({
            "path": step.path,
            "action": step.action().as_str(),
            "beforeSha256": step.before_sha256(),
            "afterSha256": step.after_sha256(),
            "diff": String::from_utf8_lossy(&diff(step)),
        })
    };
    steps.iter().map(one).collect()
}

fn diff(step: &Step) -> Vec<u8> {
    if step.action() == Action::None {
        return Vec::new();
    }
    let bytes = |image: &Option<_>| -> Option<Vec<u8>> {
        let image: &chipdeck_replay::restore::FileImage = image.as_ref()?;
        Some(image.content.bytes().to_vec())
    };
    unified(
        &step.path,
        bytes(&step.before).as_deref(),
        bytes(&step.after).as_deref(),
    )
}

/// What `diff` prints: raw bytes, so that `patch` can read them; on a terminal nothing that could steer it.
pub fn print_diff(diff: &[u8], out: &mut Out) -> Result<(), Failure> {
    match std::io::stdout().is_terminal() {
        true => out.text(&String::from_utf8_lossy(diff)),
        false => out.bytes(diff),
    }
}
