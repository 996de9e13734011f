//! Logs that are a folder: which of its files make one session, and which files beside a log belong to it.
//!
//! By names alone; what a file is, its content tells when it is read.

use hashbrown::HashSet;

/// Indices of the files of an agent's own folder (names with `/`, below what was opened) in the order of the set.
pub(crate) fn tree(names: &[&str]) -> Option<Vec<usize>> {
    cline(names)
        .or_else(|| openhands(names))
        .or_else(|| opencode(names))
        .or_else(|| wires(names))
        .or_else(|| subagents(names))
}

/// What stands before `/end`, or nothing where the name is `end`.
fn before<'a>(name: &'a str, end: &str) -> Option<&'a str> {
    let rest = name.strip_suffix(end)?;
    (rest.is_empty() || rest.ends_with('/')).then_some(rest)
}

fn cline(names: &[&str]) -> Option<Vec<usize>> {
    let at = |end: &str| -> Vec<(usize, &str)> {
        let hits = names.iter().enumerate();
        hits.filter_map(|(i, name)| Some((i, before(name, end)?)))
            .collect()
    };
    let ui = at("ui_messages.json");
    let api = at("api_conversation_history.json");
    match (ui.as_slice(), api.as_slice()) {
        ([(ui, folder)], [(api, same)]) if folder == same => Some(vec![*ui, *api]),
        ([(ui, _)], []) => Some(vec![*ui]),
        ([], [(api, _)]) => Some(vec![*api]),
        _ => None,
    }
}

fn openhands(names: &[&str]) -> Option<Vec<usize>> {
    let event = |name: &str| {
        let (folder, file) = name.rsplit_once('/')?;
        let root = before(folder, "events")?;
        let stem = file.strip_suffix(".json")?;
        let stem = stem.strip_prefix("event-").unwrap_or(stem);
        let numbered = stem
            .split('-')
            .next()
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        numbered.then(|| root.to_string())
    };
    let events: Vec<(usize, String)> = names
        .iter()
        .enumerate()
        .filter_map(|(i, name)| Some((i, event(name)?)))
        .collect();
    let (_, root) = events.first()?;
    if events.iter().any(|(_, other)| other != root) {
        return None;
    }
    let state = names
        .iter()
        .position(|name| before(name, "base_state.json") == Some(root));
    let mut found: Vec<usize> = events.iter().map(|(i, _)| *i).collect();
    // `10.json` comes after `9.json`.
    found.sort_by_key(|&i| names.get(i).map(|name| (number(name), *name)));
    Some(state.into_iter().chain(found).collect())
}

/// The number that a file's name begins with, after `event-`.
pub(crate) fn number(name: &str) -> u64 {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.strip_prefix("event-").unwrap_or(name);
    let digits: String = name
        .chars()
        .take_while(char::is_ascii_digit)
        .take(12)
        .collect();
    digits.parse().unwrap_or(0)
}

fn opencode(names: &[&str]) -> Option<Vec<usize>> {
    let rank = |name: &str| {
        let mut parts = name.rsplit('/');
        let (file, folder) = (parts.next()?, parts.next()?);
        let above = parts.next();
        if !file.ends_with(".json") {
            return None;
        }
        match () {
            () if file.starts_with("ses_") && above == Some("session") => Some(0),
            () if folder == "project" => Some(1),
            () if file.starts_with("msg_") && above == Some("message") => Some(2),
            () if file.starts_with("prt_") && above == Some("part") => Some(3),
            () => None,
        }
    };
    let mut found: Vec<(u8, &str, usize)> = names
        .iter()
        .enumerate()
        .filter_map(|(i, name)| Some((rank(name)?, *name, i)))
        .collect();
    found.sort_unstable();
    let session = found.first().is_some_and(|(rank, _, _)| *rank == 0);
    session.then(|| found.into_iter().map(|(_, _, i)| i).collect())
}

fn wires(names: &[&str]) -> Option<Vec<usize>> {
    let mut found: Vec<(bool, &str, usize)> = names
        .iter()
        .enumerate()
        .filter(|(_, name)| name.ends_with("/wire.jsonl") || **name == "wire.jsonl")
        .map(|(i, name)| (!name.ends_with("/main/wire.jsonl"), *name, i))
        .collect();
    found.sort_unstable();
    // One session: one main agent.
    let mains = found.iter().filter(|(other, _, _)| !other).count();
    let one = !found.is_empty() && (mains == 1 || found.len() == 1);
    one.then(|| found.into_iter().map(|(_, _, i)| i).collect())
}

fn subagents(names: &[&str]) -> Option<Vec<usize>> {
    let mut found: Vec<(&str, usize)> = names
        .iter()
        .enumerate()
        .filter(|(_, name)| {
            name.strip_suffix(".jsonl").is_some_and(|n| {
                n.split('/').any(|part| part == "subagents") && n.contains("agent-")
            })
        })
        .map(|(i, name)| (*name, i))
        .collect();
    found.sort_unstable();
    (!found.is_empty()).then(|| found.into_iter().map(|(_, i)| i).collect())
}

/// The sub-agents' files of those sessions, which lie in a folder named after each: indices into `names`, sorted.
pub(crate) fn beside(names: &[&str], sessions: &[usize]) -> Vec<usize> {
    let stems: HashSet<&str> = sessions
        .iter()
        .filter_map(|&i| names.get(i)?.strip_suffix(".jsonl"))
        .collect();
    let mut found: Vec<(&str, usize)> = names
        .iter()
        .enumerate()
        .filter(|(_, name)| {
            name.ends_with(".jsonl")
                && name
                    .split_once("/subagents/")
                    .is_some_and(|(stem, rest)| stems.contains(stem) && rest.contains("agent-"))
        })
        .map(|(i, name)| (*name, i))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, i)| i).collect()
}

/// Where the rest of a log may be, seen from one of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Companion {
    /// The file of this name beside it.
    File(&'static str),
    /// The files of this folder beside it (a path with `/`) with names like `agent-….jsonl`.
    SubAgents(String),
    /// The session of the storage folder three levels up: its messages' folder, and the folders of their parts.
    Storage { session: String },
    /// The numbered files of the folder `events` beside it.
    Events,
}

/// What belongs to a file of this name (the last part of its path), by name: to be looked for, not sure to be there.
pub fn companions(file: &str) -> Vec<Companion> {
    match file {
        "ui_messages.json" => vec![Companion::File("api_conversation_history.json")],
        "api_conversation_history.json" => vec![Companion::File("ui_messages.json")],
        "base_state.json" => vec![Companion::Events],
        _ => match (file.strip_suffix(".jsonl"), file.strip_suffix(".json")) {
            (Some(stem), _) if !stem.starts_with("agent-") => {
                vec![Companion::SubAgents(format!("{stem}/subagents"))]
            }
            (_, Some(stem)) if stem.starts_with("ses_") => {
                vec![Companion::Storage {
                    session: stem.to_string(),
                }]
            }
            _ => Vec::new(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked<'a>(names: &[&'a str]) -> Vec<&'a str> {
        tree(names)
            .unwrap_or_default()
            .into_iter()
            .map(|i| names[i])
            .collect()
    }

    #[test]
    fn folders_of_each_agent() {
        assert_eq!(
            picked(&[
                "api_conversation_history.json",
                "task_metadata.json",
                "ui_messages.json"
            ]),
            ["ui_messages.json", "api_conversation_history.json"]
        );
        assert_eq!(
            picked(&[
                "id/base_state.json",
                "id/events/10.json",
                "id/events/9.json",
                "id/x.json"
            ]),
            [
                "id/base_state.json",
                "id/events/9.json",
                "id/events/10.json"
            ]
        );
        assert_eq!(
            picked(&[
                "events/event-00001-b.json",
                "events/event-00000-a.json",
                "events/.lock"
            ]),
            ["events/event-00000-a.json", "events/event-00001-b.json"]
        );
        assert!(
            picked(&["a/events/1.json", "b/events/1.json"]).is_empty(),
            "two conversations"
        );
        assert_eq!(
            picked(&[
                "message/ses_1/msg_1.json",
                "part/msg_1/prt_1.json",
                "project/abc.json",
                "session/abc/ses_1.json",
                "todo/ses_1.json"
            ]),
            [
                "session/abc/ses_1.json",
                "project/abc.json",
                "message/ses_1/msg_1.json",
                "part/msg_1/prt_1.json"
            ]
        );
        assert_eq!(
            picked(&[
                "agents/agent-0/wire.jsonl",
                "agents/main/wire.jsonl",
                "state.json"
            ]),
            ["agents/main/wire.jsonl", "agents/agent-0/wire.jsonl"]
        );
        assert_eq!(
            picked(&["subagents/agent-1.jsonl", "subagents/agent-1.meta.json"]),
            ["subagents/agent-1.jsonl"]
        );
        assert!(picked(&["src/a.json", "package.json", "data/x.jsonl"]).is_empty());
    }

    #[test]
    fn sub_agents_of_the_sessions_of_a_folder() {
        let names = [
            "b.jsonl",
            "a.jsonl",
            "a/subagents/agent-2.jsonl",
            "a/subagents/agent-1.jsonl",
            "a/subagents/agent-1.meta.json",
            "c/subagents/agent-3.jsonl",
        ];
        assert_eq!(beside(&names, &[1, 0]), [3, 2]);
        assert!(beside(&names, &[]).is_empty());
    }

    #[test]
    fn companions_by_name() {
        assert_eq!(
            companions("ui_messages.json"),
            [Companion::File("api_conversation_history.json")]
        );
        assert_eq!(
            companions("0a-1b.jsonl"),
            [Companion::SubAgents("0a-1b/subagents".into())]
        );
        assert_eq!(
            companions("ses_1.json"),
            [Companion::Storage {
                session: "ses_1".into()
            }]
        );
        assert!(companions("agent-1.jsonl").is_empty() && companions("x.json").is_empty());
    }
}
