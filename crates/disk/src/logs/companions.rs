//! The files beside a log that are part of it: sub-agents' transcripts, the other half of a task, the messages and
//! parts of a stored session. By name and place; of sub-agents that lie in one folder with all sessions also by the
//! session that their first record names.

use chipdeck_ingest::{companions, Companion};
use std::path::{Path, PathBuf};

/// Most files that are taken in beside one.
const MOST: usize = 20_000;
/// Bytes of a sub-agent's transcript in which its session is named.
const HEAD: u64 = 16 << 10;

/// Names (with `/`, as seen from the log's folder) and paths, sorted.
pub(super) fn beside(path: &Path) -> Vec<(String, PathBuf)> {
    let (Some(folder), Some(file)) = (
        path.parent(),
        path.file_name().and_then(|name| name.to_str()),
    ) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for companion in companions(file) {
        match companion {
            Companion::File(name) => {
                let path = folder.join(name);
                if path.is_file() {
                    found.push((name.to_owned(), path));
                }
            }
            Companion::SubAgents(below) => {
                for (name, path) in files(&folder.join(&below)) {
                    if name.starts_with("agent-") && name.ends_with(".jsonl") {
                        found.push((format!("{below}/{name}"), path));
                    }
                }
                let session = file.trim_end_matches(".jsonl");
                // A session's name is an id: a short one would match anything.
                if session.len() >= 32 {
                    for (name, path) in files(folder) {
                        let agent = name.starts_with("agent-") && name.ends_with(".jsonl");
                        if agent && names_session(&path, session) {
                            found.push((name, path));
                        }
                    }
                }
            }
            Companion::Events => {
                for (name, path) in files(&folder.join("events")) {
                    if name.ends_with(".json") {
                        found.push((format!("events/{name}"), path));
                    }
                }
            }
            Companion::Storage { session } => storage(folder, &session, &mut found),
        }
    }
    found.sort();
    found.truncate(MOST);
    found
}

/// `storage/session/<project>/<session>.json`: its messages are in `storage/message/<session>/`, their parts in
/// `storage/part/<message>/`.
fn storage(folder: &Path, session: &str, found: &mut Vec<(String, PathBuf)>) {
    let Some(root) = folder.parent().and_then(Path::parent) else {
        return;
    };
    for (name, path) in files(&root.join("message").join(session)) {
        let Some(message) = name.strip_suffix(".json").map(str::to_owned) else {
            continue;
        };
        found.push((format!("message/{session}/{name}"), path));
        for (part, path) in files(&root.join("part").join(&message)) {
            if part.ends_with(".json") {
                found.push((format!("part/{message}/{part}"), path));
            }
        }
        if found.len() >= MOST {
            return;
        }
    }
}

/// Regular files directly in a folder, sorted.
fn files(folder: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut found: Vec<(String, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .take(MOST)
        .collect();
    found.sort();
    found
}

fn names_session(path: &Path, session: &str) -> bool {
    let wanted = format!("\"sessionId\":\"{session}\"");
    let head = super::unpack::head(path, HEAD);
    head.is_ok_and(|head| String::from_utf8_lossy(&head).contains(&wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &Path) -> Vec<String> {
        beside(path).into_iter().map(|(name, _)| name).collect()
    }

    fn put(root: &Path, name: &str, text: &str) -> PathBuf {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn sub_agents_below_and_beside() {
        let dir = tempfile::tempdir().unwrap();
        let id = "0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f";
        let log = put(dir.path(), &format!("{id}.jsonl"), "{}\n");
        put(dir.path(), &format!("{id}/subagents/agent-1.jsonl"), "{}\n");
        put(
            dir.path(),
            &format!("{id}/subagents/agent-1.meta.json"),
            "{}",
        );
        put(
            dir.path(),
            "agent-2.jsonl",
            &format!("{{\"sessionId\":\"{id}\"}}\n"),
        );
        put(dir.path(), "agent-3.jsonl", "{\"sessionId\":\"another\"}\n");
        put(
            dir.path(),
            "ffffffff-4e5f-4061-8071-2a3b4c5d6e7f.jsonl",
            "{}\n",
        );
        assert_eq!(
            names(&log),
            [
                format!("{id}/subagents/agent-1.jsonl"),
                "agent-2.jsonl".into()
            ]
        );
        assert!(names(&put(dir.path(), "notes.jsonl", "")).is_empty());
    }

    #[test]
    fn a_task_and_a_stored_session() {
        let dir = tempfile::tempdir().unwrap();
        let ui = put(dir.path(), "ui_messages.json", "[]");
        assert!(names(&ui).is_empty());
        put(dir.path(), "api_conversation_history.json", "[]");
        assert_eq!(names(&ui), ["api_conversation_history.json"]);
        let session = put(dir.path(), "storage/session/p/ses_1.json", "{}");
        put(dir.path(), "storage/message/ses_1/msg_1.json", "{}");
        put(dir.path(), "storage/message/ses_2/msg_9.json", "{}");
        put(dir.path(), "storage/part/msg_1/prt_1.json", "{}");
        assert_eq!(
            names(&session),
            ["message/ses_1/msg_1.json", "part/msg_1/prt_1.json"]
        );
        let state = put(dir.path(), "c/base_state.json", "{}");
        put(dir.path(), "c/events/event-00000-a.json", "{}");
        assert_eq!(names(&state), ["events/event-00000-a.json"]);
    }
}
