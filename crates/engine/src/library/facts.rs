//! What is known of one session's log: what its first and last bytes say, and what counting all of it gives.
//!
//! Left out: which logs there are, and when they are looked into.

use crate::api::SessionCounts;
use chipdeck_disk::logs::{ends, Agent, FileSource, Found};
use chipdeck_event::{Entry, Event, Payload, Status};
use chipdeck_ingest::{glance, Format, Glance, LogSet, Source};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

/// Bytes at either end that are looked at; of a begin that says nothing, more.
const ENDS: u64 = 64 << 10;
const MORE: u64 = 512 << 10;
/// A log that is one JSON document says nothing unless all of it is read: up to this size.
const DOCUMENT: u64 = 8 << 20;
/// Bytes that tell whether a file is still the one it was.
const PRINT: u64 = 1 << 10;
/// Paths that are told apart in one log.
const MOST_PATHS: usize = 100_000;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Of the first bytes.
    pub print: String,
    pub format: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// As the log writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Files beside it that are its sub-agents'.
    #[serde(default, skip_serializing_if = "is_none")]
    pub parts: u32,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Looks at a log's ends. `None`: it cannot be read, or is no log.
pub fn look(found: &Found) -> Option<Facts> {
    let path = &found.path;
    if path.is_dir() || chipdeck_disk::logs::named(path).is_some() {
        return several(found);
    }
    if chipdeck_disk::logs::named(path).is_some() {
        return stored(found);
    }
    let name = path.file_name()?.to_string_lossy();
    let (mut head, mut tail) = ends(path, ENDS).ok()?;
    let mut seen = glance(&name, &head, &tail);
    let whole = document(seen.format) && found.bytes <= DOCUMENT;
    let silent = seen.words.is_none() && !document(seen.format);
    if !tail.is_empty() && (whole || silent) {
        (head, tail) = ends(path, if whole { DOCUMENT } else { MORE }).ok()?;
        seen = glance(&name, &head, &tail);
    }
    if found.agent == Agent::Other && seen.format == Format::Raw {
        return None;
    }
    if seen.cwd.is_none() && found.agent == Agent::Gemini {
        // Beside the chats' folder, in newer versions.
        let project = path.parent().and_then(Path::parent);
        seen.cwd = project
            .and_then(|it| std::fs::read_to_string(it.join(".project_root")).ok())
            .map(|it| it.trim().to_owned())
            .filter(|it| !it.is_empty() && it.len() < 4096);
    }
    Some(facts(found, seen, print(&head), parts(path)))
}

fn document(format: Format) -> bool {
    matches!(format, Format::Agent(agent) if agent.is_document())
}

/// A session in a database: what its document begins with is enough.
fn stored(found: &Found) -> Option<Facts> {
    let source = FileSource::open(&found.path).ok()?;
    let head = source.read_at(0, 0, DOCUMENT as usize).ok()?;
    let seen = glance("session.json", &head, b"");
    let parts = source.files().saturating_sub(1);
    Some(facts(found, seen, print(&head), parts))
}

/// A log of several files, or one that is kept in a database: its first records are enough.
fn several(found: &Found) -> Option<Facts> {
    let source = FileSource::open(&found.path).ok()?;
    let mut set = LogSet::open(&source);
    let format = set.format();
    let mut seen = Glance::nothing(format);
    // What cannot be read says nothing.
    let _ = set.read(&source, ENDS as usize, &mut |batch, source| {
        for located in batch.entries.drain(..) {
            seen.entry(&located.entry, source);
        }
    });
    if document(format) && found.bytes <= DOCUMENT {
        set.settle(false, &source, &mut |batch, source| {
            for located in batch.entries.drain(..) {
                seen.entry(&located.entry, source);
            }
        });
    }
    // What stands in the session's own record, and in a file of the session's state beside it.
    let first = source.read_at(0, 0, ENDS as usize).unwrap_or_default();
    let state = chipdeck_disk::logs::head(&found.path.join("state.json"), ENDS);
    for (name, bytes) in [
        (source.name(0), first.clone()),
        ("state.json".into(), state.unwrap_or_default()),
    ] {
        let told = glance(&name, &bytes, b"");
        seen.title = told.title.or(seen.title);
        seen.cwd = seen.cwd.or(told.cwd);
        seen.session = seen.session.or(told.session);
    }
    let print = print(&first);
    let parts = match found.agent {
        Agent::Kimi => source.files().saturating_sub(1),
        _ => 0,
    };
    Some(facts(found, seen, print, parts))
}

fn facts(found: &Found, seen: Glance, print: String, parts: u32) -> Facts {
    // Where no reader knows it, the place it was found in does.
    let format = match (seen.format, found.agent) {
        (Format::Agent(_), Agent::Roo) => Agent::Roo.name(),
        (Format::Raw, agent) if agent != Agent::Other => agent.name(),
        (format, _) => format.name(),
    };
    Facts {
        print,
        format: format.to_owned(),
        title: seen.title.or(seen.words),
        cwd: seen.cwd,
        started: seen.started,
        ended: seen.ended,
        session: seen.session,
        parent: seen.parent,
        parts,
    }
}

/// Sub-agents' transcripts in the session's own folder.
fn parts(path: &Path) -> u32 {
    let below = path.with_extension("").join("subagents");
    let entries = std::fs::read_dir(below).into_iter().flatten().flatten();
    let logs = entries.filter(|entry| {
        let name = entry.file_name();
        name.to_str()
            .is_some_and(|name| name.starts_with("agent-") && name.ends_with(".jsonl"))
    });
    u32::try_from(logs.count()).unwrap_or(u32::MAX)
}

fn print(head: &[u8]) -> String {
    let first = head.get(..PRINT as usize).unwrap_or(head);
    Sha256::digest(first)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The same print from the disk.
pub fn print_of(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(PRINT).read_to_end(&mut head).ok()?;
    Some(print(&head))
}

/// Counting one log, a piece at a time.
pub struct Counting {
    pub found: Found,
    source: FileSource,
    set: LogSet,
    paths: HashSet<String>,
    cwd: Option<String>,
    entries: u64,
    errors: u64,
}

/// Bytes of a piece.
const PIECE: usize = 512 << 10;

impl Counting {
    /// `None`: it cannot be read.
    pub fn start(found: &Found) -> Option<Counting> {
        let source = FileSource::open(&found.path).ok()?;
        Some(Counting {
            found: found.clone(),
            set: LogSet::open(&source),
            source,
            paths: HashSet::new(),
            cwd: None,
            entries: 0,
            errors: 0,
        })
    }

    /// Reads a piece; the counts when that was the last.
    pub fn go_on(&mut self) -> Option<SessionCounts> {
        let Counting {
            source,
            set,
            paths,
            cwd,
            entries,
            errors,
            ..
        } = self;
        let mut take = |entry: &Entry| {
            *entries += 1;
            let Some(event) = entry.event() else { return };
            count(event, paths, cwd, errors);
        };
        let before = set.progress(source).read;
        let read = set.read(source, PIECE, &mut |batch, _| {
            batch.entries.drain(..).for_each(|it| take(&it.entry));
        });
        match read {
            Ok(progress) if !progress.done() && progress.read > before => return None,
            _ => {}
        }
        set.settle(true, source, &mut |batch, _| {
            batch.entries.drain(..).for_each(|it| take(&it.entry));
        });
        Some(SessionCounts {
            entries: *entries,
            files: paths.len() as u64,
            errors: *errors,
        })
    }
}

fn count(event: &Event, paths: &mut HashSet<String>, cwd: &mut Option<String>, errors: &mut u64) {
    let mut touched = |path: &str| {
        if paths.len() >= MOST_PATHS {
            return;
        }
        // One file under its relative and its absolute name.
        let inside = cwd.as_deref().and_then(|cwd| path.strip_prefix(cwd));
        let inside = inside.and_then(|it| it.strip_prefix(['/', '\\']));
        let path = inside.unwrap_or(path);
        if !paths.contains(path) {
            paths.insert(path.to_owned());
        }
    };
    match &event.payload {
        Payload::SessionStart { cwd: Some(at), .. } if cwd.is_none() => {
            *cwd = Some(at.trim_end_matches(['/', '\\']).to_owned());
        }
        Payload::FileCreate { path, .. }
        | Payload::FileChange { path, .. }
        | Payload::FileDelete { path } => touched(path),
        Payload::FileRename { from, to } => {
            touched(from);
            touched(to);
        }
        Payload::ToolResult {
            status: Status::Error | Status::Timeout,
            ..
        } => *errors += 1,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(dir: &Path, name: &str, text: &str) -> Found {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        Found {
            agent: Agent::ClaudeCode,
            path,
            bytes: text.len() as u64,
            modified: Some(1),
        }
    }

    fn line(number: u32, fields: &str) -> String {
        format!("{{\"uuid\":\"u{number}\",\"parentUuid\":null,\"isSidechain\":false,\"cwd\":\"/w/shop\",\"sessionId\":\"s\",\"version\":\"2.1.5\",\"timestamp\":\"2026-01-29T01:00:{:02}.000Z\",{fields}}}\n", number % 60)
    }

    #[test]
    fn a_session_is_looked_at_and_counted() {
        let dir = tempfile::tempdir().unwrap();
        let mut text = line(
            1,
            "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Rates, please\"}",
        );
        for number in 2..2000 {
            text += &line(number, "\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"thinking about it for a while, and then some more\"}]}");
        }
        text += &line(2000, "\"type\":\"assistant\",\"message\":{\"id\":\"n\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Write\",\"input\":{\"file_path\":\"/w/shop/a.py\",\"content\":\"x\\n\"}}]}");
        text += &line(2001, "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"ok\"}]},\"toolUseResult\":{\"type\":\"create\",\"filePath\":\"/w/shop/a.py\",\"content\":\"x\\n\",\"structuredPatch\":[]}");
        text += &line(2002, "\"type\":\"assistant\",\"message\":{\"id\":\"o\",\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"Bash\",\"input\":{\"command\":\"false\"}}]}");
        text += &line(2003, "\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t2\",\"content\":\"Exit code 1\",\"is_error\":true}]},\"toolUseResult\":\"Error: Exit code 1\"");
        text += "{\"type\":\"ai-title\",\"aiTitle\":\"Rates of the shop\",\"sessionId\":\"s\"}\n";
        let found = put(dir.path(), "p/0a.jsonl", &text);
        put(dir.path(), "p/0a/subagents/agent-1.jsonl", "{}\n");
        let facts = look(&found).unwrap();
        assert_eq!(facts.format, "claude-code");
        assert_eq!(facts.title.as_deref(), Some("Rates of the shop"));
        assert_eq!(facts.cwd.as_deref(), Some("/w/shop"));
        assert_eq!(facts.parts, 1);
        assert!(facts.ended > facts.started);
        assert_eq!(print_of(&found.path).unwrap(), facts.print);

        let mut counting = Counting::start(&found).unwrap();
        let counts = loop {
            if let Some(counts) = counting.go_on() {
                break counts;
            }
        };
        assert_eq!((counts.files, counts.errors), (1, 1));
        assert!(counts.entries > 2000);
    }

    #[test]
    fn a_given_folders_other_files_are_no_logs() {
        let dir = tempfile::tempdir().unwrap();
        let mut found = put(dir.path(), "rows.jsonl", "{\"a\":1}\n");
        found.agent = Agent::Other;
        assert_eq!(look(&found), None);
    }
}
