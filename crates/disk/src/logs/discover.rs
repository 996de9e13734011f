//! Where agents leave their logs on this machine: known folders, looked through to a fixed depth. Nothing is opened;
//! only names, sizes and times are read.
//!
//! Left out: a search of the whole disk, and folders of agents that no reader knows.

use super::source::unix_ms;
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
}

impl Agent {
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
        }
    }
}

/// Base folders; they come in so that a test (or `--home`) can choose them.
#[derive(Clone, Debug)]
pub struct Homes {
    pub home: PathBuf,
    /// `$XDG_DATA_HOME` or `~/.local/share`: agents use it on every system.
    pub data: PathBuf,
    /// Where editors keep their state: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
    pub config: PathBuf,
    /// `$CLAUDE_CONFIG_DIR`, `$CODEX_HOME`: instead of the folder below home.
    pub claude: Option<PathBuf>,
    pub codex: Option<PathBuf>,
}

impl Homes {
    /// `None` when this user has no home folder.
    pub fn of_this_machine() -> Option<Homes> {
        let absolute = |name| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = dirs::home_dir()?;
        Some(Homes {
            data: absolute("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")),
            config: dirs::config_dir().unwrap_or_else(|| home.join(".config")),
            claude: absolute("CLAUDE_CONFIG_DIR"),
            codex: absolute("CODEX_HOME"),
            home,
        })
    }
}

/// A log, or a folder that is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub agent: Agent,
    pub path: PathBuf,
    /// Of a folder: of its files directly inside.
    pub bytes: u64,
    /// Unix milliseconds.
    pub modified: Option<i64>,
}

/// What makes a log in a place.
enum Shape {
    /// A file whose name ends so, at most this many folders down.
    File {
        endings: &'static [&'static str],
        depth: usize,
    },
    /// A folder that holds a file (or folder) of this name, at most this many folders down.
    FolderWith { mark: &'static str, depth: usize },
}

fn places(homes: &Homes) -> Vec<(Agent, PathBuf, Shape)> {
    let home = &homes.home;
    let claude = homes.claude.clone().unwrap_or_else(|| home.join(".claude"));
    let codex = homes.codex.clone().unwrap_or_else(|| home.join(".codex"));
    let file = |endings, depth| Shape::File { endings, depth };
    const JSONL: &[&str] = &[".jsonl"];
    const BOTH: &[&str] = &[".jsonl", ".json"];
    // Newer versions compress the sessions that they put away.
    const ROLLOUTS: &[&str] = &[".jsonl", ".jsonl.zst", ".jsonl.gz"];
    let mut places = vec![
        (Agent::ClaudeCode, claude.join("projects"), file(JSONL, 1)),
        (Agent::Codex, codex.join("sessions"), file(ROLLOUTS, 3)),
        (
            Agent::Codex,
            codex.join("archived_sessions"),
            file(ROLLOUTS, 3),
        ),
        (
            Agent::CopilotCli,
            home.join(".copilot/session-state"),
            file(JSONL, 1),
        ),
        (
            Agent::Gemini,
            home.join(".gemini/tmp"),
            Shape::File {
                endings: BOTH,
                depth: 2,
            },
        ),
        (Agent::Qwen, home.join(".qwen/projects"), file(JSONL, 2)),
        (
            Agent::Kimi,
            home.join(".kimi-code/sessions"),
            file(&["wire.jsonl"], 4),
        ),
        (
            Agent::Kimi,
            home.join(".kimi/sessions"),
            file(&["wire.jsonl"], 2),
        ),
        (Agent::Pi, home.join(".pi/agent/sessions"), file(JSONL, 1)),
        (
            Agent::Goose,
            homes.data.join("goose/sessions"),
            file(JSONL, 0),
        ),
        (
            Agent::Opencode,
            homes.data.join("opencode/storage/session"),
            file(&[".json"], 1),
        ),
        (
            Agent::Openhands,
            home.join(".openhands/conversations"),
            Shape::FolderWith {
                mark: "events",
                depth: 1,
            },
        ),
        (
            Agent::Openhands,
            home.join(".openhands/sessions"),
            Shape::FolderWith {
                mark: "events",
                depth: 1,
            },
        ),
        (Agent::Droid, home.join(".factory/sessions"), file(JSONL, 1)),
        (
            Agent::Amp,
            homes.data.join("amp/threads"),
            file(&[".json"], 0),
        ),
    ];
    for editor in ["Code", "Code - Insiders", "Cursor", "VSCodium", "Windsurf"] {
        let storage = homes.config.join(editor).join("User/globalStorage");
        let tasks = || Shape::FolderWith {
            mark: "ui_messages.json",
            depth: 0,
        };
        places.push((
            Agent::Cline,
            storage.join("saoudrizwan.claude-dev/tasks"),
            tasks(),
        ));
        places.push((
            Agent::Roo,
            storage.join("rooveterinaryinc.roo-cline/tasks"),
            tasks(),
        ));
    }
    places
}

/// Most entries that are looked at in one place.
const MOST_ENTRIES: usize = 50_000;

/// Logs of this machine, newest first, at most `most`.
pub fn discover(homes: &Homes, most: usize) -> Vec<Found> {
    let mut found = Vec::new();
    for (agent, place, shape) in places(homes) {
        match shape {
            Shape::File { endings, depth } => {
                let matches = |path: &Path| {
                    let name = path
                        .file_name()
                        .and_then(|name| name.to_str())
                        .unwrap_or_default();
                    // Gemini keeps other JSON beside the chats.
                    let in_chats = agent != Agent::Gemini
                        || path.parent().is_some_and(|it| it.ends_with("chats"));
                    in_chats && endings.iter().any(|ending| name.ends_with(ending))
                };
                walk(&place, depth, &mut |path, metadata| {
                    if metadata.is_file() && matches(path) && metadata.len() > 0 {
                        let path = path.to_owned();
                        found.push(Found {
                            agent,
                            path,
                            bytes: metadata.len(),
                            modified: unix_ms(metadata),
                        });
                    }
                });
            }
            Shape::FolderWith { mark, depth } => walk(&place, depth, &mut |path, metadata| {
                if !metadata.is_dir() {
                    return;
                }
                let Ok(marked) = std::fs::metadata(path.join(mark)) else {
                    return;
                };
                let inside = if marked.is_dir() {
                    path.join(mark)
                } else {
                    path.to_owned()
                };
                let (mut bytes, mut modified) = (0, unix_ms(&marked));
                walk(&inside, 0, &mut |_, metadata| {
                    if metadata.is_file() {
                        bytes += metadata.len();
                        modified = modified.max(unix_ms(metadata));
                    }
                });
                found.push(Found {
                    agent,
                    path: path.to_owned(),
                    bytes,
                    modified,
                });
            }),
        }
    }
    found.sort_by(|a, b| {
        b.modified
            .cmp(&a.modified)
            .then_with(|| a.path.cmp(&b.path))
    });
    found.truncate(most);
    found
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
            ".codex/sessions/2026/11/30/rollout-2.jsonl",
            ".gemini/tmp/abc/chats/session-1.json",
            ".gemini/tmp/abc/logs.json",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/17/ui_messages.json",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/18/other.json",
            ".openhands/conversations/1/events/event-00000-a.json",
        ] {
            put(path);
        }
        let homes = Homes {
            home: home.to_owned(),
            data: home.join(".local/share"),
            config: home.join(".config"),
            claude: None,
            codex: Some(home.join("other-codex")),
        };
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
            ("claude-code", ".claude/projects/-home-me-app/0a.jsonl"),
            (
                "cline",
                ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/17",
            ),
            ("codex", "other-codex/archived_sessions/rollout-0.jsonl.zst"),
            ("codex", "other-codex/sessions/2026/11/30/rollout-1.jsonl"),
            ("gemini", ".gemini/tmp/abc/chats/session-1.json"),
            ("openhands", ".openhands/conversations/1"),
        ];
        assert_eq!(found, want.map(|(agent, path)| (agent, path.to_owned(), 3)));
        assert_eq!(discover(&homes, 2).len(), 2);
    }
}
