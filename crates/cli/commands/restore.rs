//! `restore`: files of a log as they were at a position.

use super::restoring::{self, failed};
use crate::output::{warn, Failure, Out, Outcome};
use chipdeck_disk::restore::{RestoreError, Root};
use chipdeck_engine::log::Reading;
use chipdeck_replay::restore::{Draft, Kind, Known, Mode, Picker, Want};
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// A log file or folder
    log: PathBuf,
    /// The position: a number, `end`, `@` and Unix milliseconds, a time, or an event's id
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = crate::output::not_an_option)]
    at: String,
    /// Files, as `files` prints them or relative to the root
    #[arg(value_name = "PATH", required_unless_present = "all")]
    paths: Vec<String>,
    /// The whole tree; files that did not exist are deleted
    #[arg(long, conflicts_with = "paths")]
    all: bool,
    /// With --all: leave out the files that lie outside the root, instead of writing nothing
    #[arg(long, requires = "all")]
    inside_only: bool,
    /// The folder that is written (default: the log's first working folder)
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Keep what changed on the disk since the log's end
    #[arg(long)]
    merge: bool,
    /// Show what would be written, write nothing
    #[arg(long)]
    dry_run: bool,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let log = restoring::open_log(&arguments.log)?;
    let position = log.position(&arguments.at).map_err(Failure::no)?;
    let root = restoring::root(arguments.root.as_deref(), log.timeline.cwd())?;
    let picker = Picker::new(&log.timeline, &*log.source, position);
    let mut wants = match arguments.all {
        true => picker.all(),
        false => named(&log, &picker, &root, &arguments.paths)?,
    };
    let kind = match (arguments.all, wants.len()) {
        (true, _) => Kind::Tree,
        (false, 1) => Kind::File,
        (false, _) => Kind::Files,
    };
    let mode = match arguments.merge {
        true => Mode::Merge,
        false => Mode::Overwrite,
    };
    let cwd = log.timeline.cwd();
    let left_out = match arguments.inside_only {
        true => leave_out(&mut wants, &root, cwd),
        false => Vec::new(),
    };
    let mut draft = root.draft(kind, &wants, cwd, mode).map_err(|error| {
        let outside = matches!(error, RestoreError::Outside(_));
        let failure = failed(error);
        match outside && arguments.all {
            true => failure.hint("--inside-only leaves out the files that lie outside the root"),
            false => failure,
        }
    })?;
    for (path, error) in left_out {
        let code = match &error {
            RestoreError::NotAFile { .. } => "not-a-file",
            error => error.code(),
        };
        draft.warn(code, &path, format!("{error}: it is not written"));
    }
    match draft.plan() {
        Some(plan) => restoring::carry_out(
            &root,
            &plan,
            &draft.warnings,
            arguments.dry_run,
            "restored",
            out,
        ),
        None => conflicts(&draft, out),
    }
}

/// The files that were named; an unknown one, or one that isn't there, fails all.
fn named(
    log: &Reading,
    picker: &Picker,
    root: &Root,
    paths: &[String],
) -> Result<Vec<Want>, Failure> {
    let mut wants: Vec<Want> = Vec::new();
    for path in paths {
        let found = restoring::find_path(&log.timeline, root, path).ok_or_else(|| {
            Failure::no(format!("the log names no file {path:?}"))
                .hint("`chipdeck files LOG` lists them")
        })?;
        if wants.iter().any(|want| want.path == found) {
            continue;
        }
        let want = picker.want(&found);
        if want.theirs == Known::Unknown {
            return Err(Failure::no(format!(
                "the log doesn't show the content of {found:?} there; nothing was written"
            ))
            .hint("`chipdeck files LOG --path` shows from which event on it is known"));
        }
        wants.push(want);
    }
    Ok(wants)
}

/// Takes out the files that lie outside or can't be there, and says which and why.
fn leave_out(wants: &mut Vec<Want>, root: &Root, cwd: Option<&str>) -> Vec<(String, RestoreError)> {
    let mut inside = Vec::new();
    let mut left_out = Vec::new();
    let gone = root.gone(wants, cwd);
    for want in wants.drain(..) {
        if want.theirs == Known::Unknown {
            inside.push(want);
            continue;
        }
        let read = root.place(&want.path, cwd).map_err(RestoreError::from);
        match read.and_then(|path| root.read_after(&path, &gone)) {
            Err(RestoreError::NotAFile { what, .. })
                if want.theirs == Known::Absent && what.means_absent() =>
            {
                inside.push(want);
            }
            Err(error) => left_out.push((want.path, error)),
            Ok(_) => inside.push(want),
        }
    }
    *wants = inside;
    left_out
}

/// Nothing is written while there are conflicts.
fn conflicts(draft: &Draft, out: &mut Out) -> Outcome {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if out.json {
        let conflicts: Vec<_> = draft
            .conflicts()
            .map(|(_, path, conflict)| {
                json!({
                    "path": path,
                    "line": conflict.line,
                    "base": text(&conflict.base),
                    "ours": text(&conflict.ours),
                    "theirs": text(&conflict.theirs),
                })
            })
            .collect();
        out.document(&json!({
            "restoreId": null,
            "steps": restoring::steps(&draft.preview()),
            "applied": false,
            "warnings": restoring::warnings(&draft.warnings),
            "conflicts": conflicts,
        }))?;
    } else {
        draft
            .warnings
            .iter()
            .for_each(|warning| warn(&warning.message));
        for (_, path, conflict) in draft.conflicts() {
            out.line(format!("conflict in {path}, line {}", conflict.line))?;
            for (sign, side) in [("disk", &conflict.ours), ("log", &conflict.theirs)] {
                for line in text(side).lines() {
                    out.line(format!("  {sign:>4} | {line}"))?;
                }
            }
        }
    }
    let open = draft.open();
    let s = if open == 1 { "" } else { "s" };
    Err(Failure::no(format!(
        "{open} conflict{s} between the disk and the log; nothing was written"
    ))
    .hint("without --merge the log's content is taken as it is; the window settles conflicts one by one"))
}
