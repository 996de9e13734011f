//! `file-history`: one file, all authors: what every session of its project, git, the chip server and the disk know of it.

use crate::output::{warn, End, Failure, Out, Outcome};
use chipdeck_engine::api::{AuthorKind, PathAuthor, PathVersion, Settled, SettledBy};
use chipdeck_engine::log::iso;
use chipdeck_engine::{Config, Engine};
use serde_json::json;
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Arguments {
    /// A file; it need not exist any more
    path: PathBuf,
    /// Its project's folder (default: its git top level, else the folder of a session, else the current one)
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

pub fn run(arguments: Arguments, out: &mut Out) -> Outcome {
    let absolute = |path: &PathBuf| {
        std::path::absolute(path)
            .map_err(|error| Failure::no(format!("{}: {error}", path.display())))
    };
    let current = || PathBuf::from(".");
    let top = absolute(&arguments.root.clone().unwrap_or_else(current))?;
    let top = top.canonicalize().unwrap_or(top);
    let file = match &arguments.root {
        Some(_) => top.join(&arguments.path),
        None => absolute(&arguments.path)?,
    };
    let (engine, notices) = Engine::start(Config::of_this_machine());
    let found = engine.history_of_file(&file, &top, &mut |_| {
        // Nobody shows them; they must not pile up.
        notices.try_iter().for_each(drop);
    });
    let history = found.map_err(|error| {
        let failure = Failure::no(error.message.trim_end_matches('.').to_owned());
        match error.hint {
            Some(hint) => failure.hint(hint),
            None => failure.hint("name its project's folder with --root"),
        }
    })?;
    engine.close();
    for unread in &history.gathering.unread {
        warn(format!("{} was not read: {}", unread.what, unread.why));
    }
    // That it is not on the disk is all that the disk says of it.
    let known = |row: &PathVersion| row.author.kind != AuthorKind::Disk || row.exists;
    if !history.rows.iter().any(known) {
        return Err(Failure::no(format!(
            "no session, commit, edit snapshot or disk knows a file {} in {}",
            history.path, history.project.path
        ))
        .hint("if it belongs to another project, name that one's folder with --root"));
    }
    if out.json {
        out.document(&json!({
            "project": history.project.path,
            "path": history.path,
            "clipped": history.clipped,
            "versions": history.rows,
        }))?;
        return Ok(End::Done);
    }
    out.line(format!("{}  in {}", history.path, history.project.path))?;
    for row in &history.rows {
        out.line(line(row))?;
        for also in &row.also {
            out.line(format!(
                "                                      also {}",
                author(&also.author)
            ))?;
        }
    }
    if history.clipped {
        out.line("  git has older commits of it")?;
    }
    Ok(End::Done)
}

fn line(row: &PathVersion) -> String {
    let time = match (row.author.kind, row.time) {
        (AuthorKind::Disk, _) => "now".to_owned(),
        (_, Some(time)) => iso(time),
        (_, None) => "-".to_owned(),
    };
    let hash: String = row
        .sha256
        .as_deref()
        .unwrap_or("-")
        .chars()
        .take(12)
        .collect();
    let op = serde_json::to_value(row.op).ok();
    let op = op.as_ref().and_then(|op| op.as_str()).unwrap_or_default();
    let mut notes = String::new();
    if let Some(settled) = &row.settled {
        notes += &format!("  settled by {}", proof(settled));
    } else if row.touched {
        notes += "  a shell command may have changed it since";
    }
    if row.changed_outside {
        notes += "  changed outside the log";
    }
    if row.on_disk && row.author.kind != AuthorKind::Disk {
        notes += "  still on disk now";
    }
    format!(
        "  {time:<24}  {op:<15} {:<10} {:<12} {hash:<12}  {}{notes}",
        row.certainty,
        row.why,
        author(&row.author)
    )
}

fn author(author: &PathAuthor) -> String {
    let id = author.id.as_deref().unwrap_or_default();
    match author.kind {
        AuthorKind::Session => format!(
            "{} {:?}",
            author.by.as_deref().unwrap_or("session"),
            author.name
        ),
        AuthorKind::Git => format!("commit {id} {:?}", author.name),
        AuthorKind::Snapshot => format!("edit snapshot {id} of {}", author.name),
        AuthorKind::Chip => format!("chip {id}"),
        AuthorKind::Disk => "the disk".to_owned(),
    }
}

fn proof(settled: &Settled) -> String {
    match settled.by {
        SettledBy::Disk => "the disk".to_owned(),
        SettledBy::Commit => format!("git commit {}", settled.what),
        SettledBy::Object => format!("git object {}", settled.what),
        SettledBy::Session => format!("a read in {:?}", settled.what),
        SettledBy::Snapshot => format!("edit snapshot {}", settled.what),
        SettledBy::Backup => format!("backup {}", settled.what),
    }
}
