//! What git most likely brought back: after `git checkout -- FILE`, `git restore FILE`, `git reset --hard` or
//! `git stash` a file has what the commit had that `HEAD` was then.
//!
//! Most likely, and no more: the index may have held something else. So it is never exact by itself. Left out: another
//! commit named by the command, and aliases.

use super::place::Place;
use crate::log::Look;
use chipdeck_disk::git::Repository;
use chipdeck_event::{Payload, Reach, Status};
use chipdeck_ingest::load_json;
use serde_json::Value;

/// A call that brought a file back.
pub struct Brought {
    /// The call's entry.
    pub index: u32,
    /// Unix milliseconds.
    pub time: i64,
    pub blob: String,
    pub commit: String,
}

/// Larger arguments are no command, in bytes.
const MOST: usize = 64 << 10;

/// The calls of a log that brought a file of this work tree back. `path`: below the project.
pub fn brought(look: &Look, place: &Place, path: &str, repository: &Repository) -> Vec<Brought> {
    let mut found = Vec::new();
    for index in 1..=look.timeline.len() {
        let event = look.timeline.entry(index).and_then(|it| it.entry.event());
        let Some(Payload::ToolCall { args, reach, .. }) = event.map(|it| &it.payload) else {
            continue;
        };
        if !matches!(reach, Reach::Changer { .. }) {
            continue;
        }
        let Some(text) = load_json(args, look.source) else {
            continue;
        };
        if text.len() > MOST || !text.contains("git") {
            continue;
        }
        let Ok(args) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        let cwd = args.get("workdir").and_then(Value::as_str);
        let cwd = cwd.or(look.timeline.cwd());
        let hits = command(&args)
            .is_some_and(|command| simple(&command).any(|words| reaches(&words, place, path, cwd)));
        if !hits || !went_well(look, index) {
            continue;
        }
        let Some(time) = look.timeline.clock(index) else {
            continue;
        };
        let Some(commit) = repository.head_at(time) else {
            continue;
        };
        if let Some(blob) = repository.blob_at(&commit, path) {
            found.push(Brought {
                index,
                time,
                blob,
                commit,
            });
        }
    }
    found
}

fn went_well(look: &Look, call: u32) -> bool {
    let result = look.timeline.counterpart(call);
    let result = result.and_then(|index| look.timeline.entry(index)?.entry.event());
    let payload = result.map(|it| &it.payload);
    matches!(
        payload,
        Some(Payload::ToolResult {
            status: Status::Ok,
            ..
        })
    )
}

/// The text that a shell got.
fn command(args: &Value) -> Option<String> {
    let value = ["command", "cmd"].iter().find_map(|name| args.get(name))?;
    match value {
        Value::String(text) => Some(text.clone()),
        // `["bash", "-lc", "…"]`
        Value::Array(words) => words.last()?.as_str().map(str::to_owned),
        _ => None,
    }
}

/// Simple commands, split where a shell would, quotes taken off whole words.
fn simple(command: &str) -> impl Iterator<Item = Vec<String>> + '_ {
    let commands = command.split(['\n', ';', '|', '&']);
    commands.map(|one| {
        let words = one.split_whitespace();
        words
            .map(|word| word.trim_matches(['"', '\'']).to_owned())
            .collect()
    })
}

/// A command brings this file back from where `HEAD` is.
fn reaches(words: &[String], place: &Place, path: &str, cwd: Option<&str>) -> bool {
    let mut words = words.iter().map(String::as_str);
    if words.next() != Some("git") {
        return false;
    }
    let verb = words.next().unwrap_or_default();
    let rest: Vec<&str> = words.collect();
    let options: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|it| it.starts_with('-'))
        .collect();
    let named: Vec<&str> = rest
        .iter()
        .copied()
        .filter(|it| !it.starts_with('-'))
        .collect();
    let names_it = || {
        named.iter().any(|word| {
            let whole = matches!(*word, "." | ":/" | "./");
            if whole {
                let here = cwd.and_then(|cwd| place.spot("x", Some(cwd)));
                let folder = here.map(|it| it.path);
                let folder = folder.as_deref().and_then(|it| it.strip_suffix('x'));
                return folder.is_some_and(|folder| path.starts_with(folder));
            }
            let spot = place.spot(word.trim_end_matches('/'), cwd);
            spot.is_some_and(|spot| {
                let below = path.strip_prefix(spot.path.as_str());
                spot.checkout.is_none()
                    && below.is_some_and(|it| it.is_empty() || it.starts_with('/'))
            })
        })
    };
    match verb {
        // Only the file's names: with a branch or a commit among them it is another command.
        "checkout" => {
            let only_names = options
                .iter()
                .all(|it| matches!(*it, "--" | "-f" | "-q" | "--quiet" | "--force"));
            only_names && (options.contains(&"--") || named.len() == 1) && names_it()
        }
        "restore" => {
            let only_names = options
                .iter()
                .all(|it| matches!(*it, "--" | "-q" | "--quiet" | "--worktree" | "-W"));
            only_names && names_it()
        }
        "reset" => options.contains(&"--hard") && matches!(named.as_slice(), [] | ["HEAD"]),
        "stash" => matches!(named.as_slice(), [] | ["push"] | ["save"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::place::Places;
    use super::*;

    #[test]
    fn commands_that_bring_a_file_back() {
        let mut places = Places::default();
        places.add("/nowhere/app");
        let place = places.all().remove(0);
        let hits = |command: &str, cwd: &str| {
            simple(command).any(|words| reaches(&words, &place, "src/a.py", Some(cwd)))
        };
        for (command, cwd) in [
            ("git checkout -- src/a.py", "/nowhere/app"),
            ("git checkout a.py", "/nowhere/app/src"),
            ("cd x; git checkout -- 'src/a.py' && ls", "/nowhere/app"),
            ("git checkout .", "/nowhere/app"),
            ("git checkout -- src", "/nowhere/app"),
            ("git restore src/", "/nowhere/app"),
            ("git restore /nowhere/app/src/a.py", "/elsewhere"),
            ("git reset --hard", "/nowhere/app"),
            ("git reset --hard HEAD", "/nowhere/app"),
            ("git stash", "/nowhere/app"),
            ("git stash push -q", "/nowhere/app"),
        ] {
            assert!(hits(command, cwd), "{command}");
        }
        for (command, cwd) in [
            ("git checkout main", "/nowhere/app"),
            ("git checkout -b src/a.py", "/nowhere/app"),
            ("git checkout HEAD~1 src/a.py", "/nowhere/app"),
            ("git checkout .", "/nowhere/app/web"),
            ("git checkout -- src/b.py", "/nowhere/app"),
            ("git restore --staged src/a.py", "/nowhere/app"),
            ("git restore --source=HEAD~1 src/a.py", "/nowhere/app"),
            ("git reset src/a.py", "/nowhere/app"),
            ("git reset --hard HEAD~1", "/nowhere/app"),
            ("git stash pop", "/nowhere/app"),
            ("git stash list", "/nowhere/app"),
            ("git status src/a.py", "/nowhere/app"),
            ("echo git checkout -- src/a.py", "/nowhere/app"),
        ] {
            assert!(!hits(command, cwd), "{command}");
        }
    }
}
