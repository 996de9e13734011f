//! Where agents leave their logs on this machine: known folders, looked through by the shape of their names. Nothing
//! is opened; only names, sizes and times are read.
//!
//! Left out: a search of the whole disk, and what a log says (the engine looks into it).

mod agents;
mod homes;

pub use homes::{Homes, VARIABLES};

use super::source::unix_ms;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Whose folder it was found in. The format is decided by content when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    ClaudeCode,
    Codex,
    CopilotCli,
    Gemini,
    Qwen,
    Kimi,
    Pi,
    Goose,
    Opencode,
    Cline,
    Roo,
    Openhands,
    Droid,
    Amp,
    SweAgent,
    Aider,
    /// In a folder that was given: its content tells.
    Other,
}

impl Agent {
    const ALL: [Agent; 17] = [
        Agent::ClaudeCode,
        Agent::Codex,
        Agent::CopilotCli,
        Agent::Gemini,
        Agent::Qwen,
        Agent::Kimi,
        Agent::Pi,
        Agent::Goose,
        Agent::Opencode,
        Agent::Cline,
        Agent::Roo,
        Agent::Openhands,
        Agent::Droid,
        Agent::Amp,
        Agent::SweAgent,
        Agent::Aider,
        Agent::Other,
    ];

    /// Whose name that is.
    pub(super) fn named(name: &str) -> Agent {
        let found = Agent::ALL.into_iter().find(|it| it.name() == name);
        found.unwrap_or(Agent::Other)
    }

    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
            Agent::CopilotCli => "copilot-cli",
            Agent::Gemini => "gemini",
            Agent::Qwen => "qwen",
            Agent::Kimi => "kimi",
            Agent::Pi => "pi",
            Agent::Goose => "goose",
            Agent::Opencode => "opencode",
            Agent::Cline => "cline",
            Agent::Roo => "roo-code",
            Agent::Openhands => "openhands",
            Agent::Droid => "droid",
            Agent::Amp => "amp",
            Agent::SweAgent => "swe-agent",
            Agent::Aider => "aider",
            Agent::Other => "log",
        }
    }
}

/// A log, or a folder that is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub agent: Agent,
    pub path: PathBuf,
    /// Of a folder: of the files that make the log.
    pub bytes: u64,
    /// Unix milliseconds.
    pub modified: Option<i64>,
}

/// A folder, and which names below it are logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    agent: Agent,
    folder: PathBuf,
    /// Names with `/`, each with at most one `*`; `**`: any log's name, some folders down; empty: the folder's path
    /// is the file.
    pattern: &'static str,
    /// The log is the folder so many levels above what matches.
    up: usize,
}

/// What is in a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    pub found: Vec<Found>,
    /// Folders in which something new would appear, and when they last changed (Unix milliseconds).
    pub folders: Vec<(PathBuf, i64)>,
}

/// Most entries that are looked at in one place.
const MOST_ENTRIES: usize = 200_000;
/// How far down a given folder is looked through.
const MOST_DEPTH: usize = 6;
/// The name that this agent gives its log in a project's folder.
const AIDER: &str = ".aider.chat.history.md";

/// Where logs are looked for, those of the own home first.
pub fn places(homes: &Homes) -> Vec<Place> {
    agents::places(homes)
}

/// Logs of this machine, newest first, at most `most`.
pub fn discover(homes: &Homes, most: usize) -> Vec<Found> {
    let mut found: Vec<Found> = places(homes)
        .iter()
        .flat_map(|place| place.look().found)
        .collect();
    newest_first(&mut found);
    found.truncate(most);
    found
}

/// Sorts, and drops what was found twice.
pub fn newest_first(found: &mut Vec<Found>) {
    found.sort_by(|a, b| {
        b.modified
            .cmp(&a.modified)
            .then_with(|| a.path.cmp(&b.path))
            // Of two finders the agent's own place knows more.
            .then_with(|| a.agent.cmp(&b.agent))
    });
    found.dedup_by(|later, earlier| later.path == earlier.path);
}

/// Logs that agents leave in the project itself, for projects that other logs name.
pub fn in_projects<'a>(projects: impl IntoIterator<Item = &'a Path>) -> Vec<Found> {
    let files = projects.into_iter().map(|folder| folder.join(AIDER));
    files.filter_map(|file| one(Agent::Aider, &file)).collect()
}

fn one(agent: Agent, file: &Path) -> Option<Found> {
    let metadata = std::fs::metadata(file).ok()?;
    (metadata.is_file() && metadata.len() > 0).then(|| Found {
        agent,
        path: file.to_owned(),
        bytes: metadata.len(),
        modified: unix_ms(&metadata),
    })
}

impl Place {
    /// Looks at names, sizes and times.
    pub fn look(&self) -> Look {
        let mut look = Look::default();
        let mut left = MOST_ENTRIES;
        match self.pattern {
            "" => {
                if let Ok(metadata) = std::fs::metadata(&self.folder) {
                    self.take(&self.folder, &metadata, &mut look);
                }
            }
            "**" => self.anything(&mut look),
            pattern => {
                let parts: Vec<&str> = pattern.split('/').collect();
                self.below(&self.folder, &parts, &mut left, &mut look);
            }
        }
        look
    }

    fn below(&self, folder: &Path, parts: &[&str], left: &mut usize, look: &mut Look) {
        let Some((part, rest)) = parts.split_first() else {
            return;
        };
        if !part.contains('*') {
            let path = folder.join(part);
            if !rest.is_empty() {
                return self.below(&path, rest, left, look);
            }
            if let Ok(metadata) = std::fs::metadata(&path) {
                self.take(&path, &metadata, look);
            }
            return;
        }
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        if let Some(changed) = std::fs::metadata(folder).ok().as_ref().and_then(unix_ms) {
            look.folders.push((folder.to_owned(), changed));
        }
        for entry in entries.flatten() {
            *left = left.saturating_sub(1);
            if *left == 0 {
                return;
            }
            let name = entry.file_name();
            if !name.to_str().is_some_and(|name| fits(part, name)) {
                continue;
            }
            if !rest.is_empty() {
                // Links to folders are not followed.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    self.below(&entry.path(), rest, left, look);
                }
                continue;
            }
            // A link to a file is as good as the file.
            let metadata = match entry.metadata() {
                Ok(link) if link.is_symlink() => std::fs::metadata(entry.path()),
                other => other,
            };
            if let Ok(metadata) = metadata {
                self.take(&entry.path(), &metadata, look);
            }
        }
    }

    /// The sessions of a database, each by its name behind a `#`; a sub-agent's is a part of its parent's.
    fn stored(&self, path: &Path, look: &mut Look) {
        // What cannot be read has nothing to list.
        let sessions = super::database::sessions(path).ok().flatten();
        let sessions = sessions.into_iter().flatten();
        for session in sessions.filter(|session| session.parent.is_none()) {
            let mut name = path.as_os_str().to_owned();
            name.push("#");
            name.push(&session.id);
            look.found.push(Found {
                agent: self.agent,
                path: name.into(),
                bytes: session.bytes,
                modified: Some(session.updated).filter(|updated| *updated > 0),
            });
        }
    }

    /// What matches: the log, or the mark of a folder that is one.
    fn take(&self, path: &Path, metadata: &Metadata, look: &mut Look) {
        if self.up == 0 {
            if metadata.is_file() && path.extension().is_some_and(|it| it == "db") {
                return self.stored(path, look);
            }
            if metadata.is_file() && metadata.len() > 0 && !is_part(self.agent, path) {
                look.found.push(Found {
                    agent: self.agent,
                    path: path.to_owned(),
                    bytes: metadata.len(),
                    modified: unix_ms(metadata),
                });
            }
            return;
        }
        let Some(log) = path.ancestors().nth(self.up) else {
            return;
        };
        let marked = if metadata.is_dir() {
            Some(path)
        } else {
            path.parent()
        };
        let (mut bytes, mut modified) = (0, unix_ms(metadata));
        for entry in marked
            .and_then(|it| std::fs::read_dir(it).ok())
            .into_iter()
            .flatten()
            .flatten()
        {
            if let Ok(metadata) = entry.metadata() {
                if metadata.is_file() {
                    bytes += metadata.len();
                    modified = modified.max(unix_ms(&metadata));
                }
            }
        }
        if bytes > 0 {
            look.found.push(Found {
                agent: self.agent,
                path: log.to_owned(),
                bytes,
                modified,
            });
        }
    }

    /// Files of any place that bear a log's name.
    fn anything(&self, look: &mut Look) {
        walk(&self.folder, MOST_DEPTH, &mut |path, metadata| {
            if metadata.is_dir() {
                if let Some(changed) = unix_ms(metadata) {
                    look.folders.push((path.to_owned(), changed));
                }
                return;
            }
            let name = path.file_name().and_then(|name| name.to_str());
            let log = name.is_some_and(|name| {
                const ENDS: [&str; 4] = [".jsonl", ".jsonl.zst", ".jsonl.gz", ".traj"];
                ENDS.iter().any(|end| name.ends_with(end)) || name == AIDER
            });
            if log && metadata.is_file() && metadata.len() > 0 && !is_part(self.agent, path) {
                look.found.push(Found {
                    agent: self.agent,
                    path: path.to_owned(),
                    bytes: metadata.len(),
                    modified: unix_ms(metadata),
                });
            }
        });
    }
}

/// A file that belongs to another log: a sub-agent's transcript.
fn is_part(agent: Agent, path: &Path) -> bool {
    if !matches!(agent, Agent::ClaudeCode | Agent::Other) {
        return false;
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let below = path
        .components()
        .any(|part| part.as_os_str() == "subagents");
    below || name.is_some_and(|name| name.starts_with("agent-"))
}

/// `a*b` fits what begins with `a` and ends in `b`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((begin, end)) => {
            name.len() >= begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        }
        None => name == pattern,
    }
}

/// Memory databases (`chatmemory.db`) in the places where a memory server leaves its own: the current folder and those
/// above it, home, and its data folder. Path and bytes.
pub fn memories(homes: &Homes, current: &Path) -> Vec<(PathBuf, u64)> {
    const NAME: &str = "chatmemory.db";
    let above = current
        .ancestors()
        .filter(|folder| folder.parent().is_some());
    let mut folders: Vec<PathBuf> = above.map(Path::to_owned).collect();
    folders.extend([
        homes.home.clone(),
        homes.home.join(".chatmemory"),
        homes.data.join("chatmemory"),
    ]);
    let mut found: Vec<(PathBuf, u64)> = Vec::new();
    for folder in folders {
        let path = folder.join(NAME);
        let Ok(metadata) = std::fs::metadata(&path) else {
            continue;
        };
        if metadata.is_file() && !found.iter().any(|(known, _)| *known == path) {
            found.push((path, metadata.len()));
        }
    }
    found
}

/// Entries of a folder and of its subfolders, `depth` down. Links are not followed.
fn walk(folder: &Path, depth: usize, each: &mut dyn FnMut(&Path, &std::fs::Metadata)) {
    let mut waiting = vec![(folder.to_owned(), depth)];
    let mut looked = 0;
    while let Some((dir, depth)) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries.flatten() {
            looked += 1;
            if looked > MOST_ENTRIES {
                return;
            }
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let path = entry.path();
            each(&path, &metadata);
            if metadata.is_dir() && depth > 0 {
                waiting.push((path, depth - 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_in_known_places_only() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        let put = |path: &str| {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"{}\n").unwrap();
        };
        for path in [
            ".claude/projects/-home-me-app/0a.jsonl",
            ".claude/projects/-home-me-app/0a/subagents/agent-1.jsonl",
            ".claude/history.jsonl",
            "other-codex/sessions/2026/11/30/rollout-1.jsonl",
            "other-codex/archived_sessions/rollout-0.jsonl.zst",
            ".claude/projects/-home-me-app/agent-2.jsonl",
            ".codex/sessions/2026/11/30/rollout-2.jsonl",
            ".kimi-code/sessions/wd_app_1/session_1/agents/main/wire.jsonl",
            ".kimi-code/sessions/wd_app_1/session_1/agents/agent-0/wire.jsonl",
            "win/Users/me/.claude/projects/c--app/1b.jsonl",
            "win/Users/me/AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/9/ui_messages.json",
            "given/deep/er/any.jsonl",
            "given/deep/er/any/subagents/agent-7.jsonl",
            "given/deep/er/notes.txt",
            ".aider.chat.history.md",
            "app/.aider.chat.history.md",
            ".gemini/tmp/abc/chats/session-1.json",
            ".gemini/tmp/abc/logs.json",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/17/ui_messages.json",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/18/other.json",
            ".openhands/conversations/1/events/event-00000-a.json",
        ] {
            put(path);
        }
        let mut homes = Homes::below(home).with(
            &[home.join("win/Users/*").display().to_string()],
            &[home.join("given").display().to_string()],
        );
        homes.variables.insert(
            "CODEX_HOME".to_owned(),
            home.join("other-codex").display().to_string(),
        );
        let mut found: Vec<_> = discover(&homes, 100)
            .into_iter()
            .map(|it| {
                (
                    it.agent.name(),
                    it.path
                        .strip_prefix(home)
                        .unwrap()
                        .to_string_lossy()
                        .into_owned(),
                    it.bytes,
                )
            })
            .collect();
        found.sort();
        let want = [
            ("aider", ".aider.chat.history.md"),
            ("claude-code", ".claude/projects/-home-me-app/0a.jsonl"),
            ("claude-code", "win/Users/me/.claude/projects/c--app/1b.jsonl"),
            (
                "cline",
                ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/17",
            ),
            ("cline", "win/Users/me/AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/9"),
            ("codex", "other-codex/archived_sessions/rollout-0.jsonl.zst"),
            ("codex", "other-codex/sessions/2026/11/30/rollout-1.jsonl"),
            ("gemini", ".gemini/tmp/abc/chats/session-1.json"),
            ("kimi", ".kimi-code/sessions/wd_app_1/session_1"),
            ("log", "given/deep/er/any.jsonl"),
            ("openhands", ".openhands/conversations/1"),
        ];
        assert_eq!(found, want.map(|(agent, path)| (agent, path.to_owned(), 3)));
        assert_eq!(discover(&homes, 2).len(), 2);
        let (app, none) = (home.join("app"), home.join("none"));
        let aider = in_projects([app.as_path(), none.as_path()]);
        assert_eq!(aider.len(), 1);
        // Where a session appears, there is something to watch.
        let watched: Vec<PathBuf> = places(&homes)
            .iter()
            .flat_map(|place| place.look().folders)
            .map(|(folder, _)| folder)
            .collect();
        for folder in [
            ".claude/projects",
            ".claude/projects/-home-me-app",
            "other-codex/sessions/2026/11/30",
        ] {
            assert!(watched.contains(&home.join(folder)), "{folder}");
        }
    }
}
