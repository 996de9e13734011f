//! The places of each agent: folders of its own, and what in them is a log.

use super::homes::Homes;
use super::{Agent, Place};
use std::path::{Path, PathBuf};

/// Editors whose extensions keep their tasks in a folder of the editor.
const EDITORS: &[&str] = &[
    "Code",
    "Code - Insiders",
    "Cursor",
    "VSCodium",
    "Windsurf",
    "Trae",
    "Positron",
];
/// Folders of editors that run on another machine's behalf, below home.
const SERVERS: &[&str] = &[
    ".vscode-server/data",
    ".vscode-server-insiders/data",
    ".vscode-oss/data",
    ".cursor-server/data",
    ".windsurf-server/data",
];

/// All places, those of the own home first.
pub(super) fn places(homes: &Homes) -> Vec<Place> {
    let mut places = Places::default();
    places.of_home(&Base {
        home: &homes.home,
        data: &homes.data,
        configs: vec![homes.config.clone()],
        given: Some(homes),
    });
    for home in homes.other_homes() {
        let configs = [".config", "AppData/Roaming", "Library/Application Support"];
        places.of_home(&Base {
            home: &home,
            data: &home.join(".local/share"),
            configs: configs.map(|it| home.join(it)).to_vec(),
            given: None,
        });
    }
    for folder in &homes.folders {
        places.add(Agent::Other, folder, "**", 0);
    }
    places.0
}

/// One home folder.
struct Base<'a> {
    home: &'a Path,
    data: &'a Path,
    configs: Vec<PathBuf>,
    /// Whose variables hold here.
    given: Option<&'a Homes>,
}

impl Base<'_> {
    fn folder(&self, variable: &str) -> Option<PathBuf> {
        self.given?.folder(variable)
    }

    /// What the variable names, else this folder below home.
    fn or(&self, variable: &str, below: &str) -> PathBuf {
        self.folder(variable)
            .unwrap_or_else(|| self.home.join(below))
    }
}

#[derive(Default)]
struct Places(Vec<Place>);

impl Places {
    fn add(&mut self, agent: Agent, folder: &Path, pattern: &'static str, up: usize) {
        let place = Place {
            agent,
            folder: folder.to_owned(),
            pattern,
            up,
        };
        if !self.0.contains(&place) {
            self.0.push(place);
        }
    }

    fn of_home(&mut self, base: &Base<'_>) {
        let home = base.home;
        let mut claude = base
            .given
            .map(|homes| homes.list("CLAUDE_CONFIG_DIR"))
            .unwrap_or_default();
        if claude.is_empty() {
            claude = vec![home.join(".claude"), home.join(".config/claude")];
        }
        for folder in claude {
            self.add(Agent::ClaudeCode, &folder, "projects/*/*.jsonl", 0);
        }
        let codex = base.or("CODEX_HOME", ".codex");
        // Newer versions compress the sessions that they put away.
        self.add(Agent::Codex, &codex, "sessions/*/*/*/rollout-*", 0);
        self.add(Agent::Codex, &codex, "sessions/rollout-*", 0);
        self.add(Agent::Codex, &codex, "archived_sessions/rollout-*", 0);
        self.add(Agent::Codex, &codex, "archived_sessions/*/*/*/rollout-*", 0);
        self.open_code(base);
        self.google(base);
        self.kimi(base);
        self.others(base);
        self.editors(base);
    }

    fn open_code(&mut self, base: &Base<'_>) {
        let folder = base.data.join("opencode");
        self.add(Agent::Opencode, &folder, "storage/session/*/ses_*.json", 0);
        self.add(Agent::Opencode, &folder, "opencode*.db", 0);
        // A name alone lies in the same folder.
        let named = base
            .given
            .and_then(|homes| homes.variables.get("OPENCODE_DB"))
            .map(|name| folder.join(name));
        if let Some(file) = named {
            self.file(Agent::Opencode, &file);
        }
    }

    /// A single file that a variable names.
    fn file(&mut self, agent: Agent, file: &Path) {
        self.add(agent, file, "", 0);
    }

    fn google(&mut self, base: &Base<'_>) {
        // This one replaces home, not the folder in it.
        let gemini = base
            .folder("GEMINI_CLI_HOME")
            .unwrap_or_else(|| base.home.to_owned())
            .join(".gemini");
        self.add(Agent::Gemini, &gemini, "tmp/*/chats/*.json", 0);
        self.add(Agent::Gemini, &gemini, "tmp/*/chats/*.jsonl", 0);
        let config = base.or("QWEN_HOME", ".qwen");
        for qwen in [base.folder("QWEN_RUNTIME_DIR"), Some(config)]
            .into_iter()
            .flatten()
        {
            self.add(Agent::Qwen, &qwen, "projects/*/chats/*.jsonl", 0);
            self.add(Agent::Qwen, &qwen, "tmp/*/chats/*.jsonl", 0);
        }
    }

    fn kimi(&mut self, base: &Base<'_>) {
        let kimi = base.or("KIMI_CODE_HOME", ".kimi-code");
        // The session's folder: its sub-agents are part of it.
        self.add(Agent::Kimi, &kimi, "sessions/*/*/agents/main/wire.jsonl", 3);
        let older = base.or("KIMI_SHARE_DIR", ".kimi");
        self.add(Agent::Kimi, &older, "sessions/*/*/wire.jsonl", 0);
    }

    fn others(&mut self, base: &Base<'_>) {
        let home = base.home;
        let copilot = base.or("COPILOT_HOME", ".copilot");
        let state = base.folder("XDG_STATE_HOME").map(|it| it.join(".copilot"));
        for folder in [Some(copilot), state].into_iter().flatten() {
            self.add(Agent::CopilotCli, &folder, "session-state/*.jsonl", 0);
            self.add(
                Agent::CopilotCli,
                &folder,
                "session-state/*/events.jsonl",
                0,
            );
        }
        match base.folder("PI_CODING_AGENT_SESSION_DIR") {
            Some(sessions) => {
                self.add(Agent::Pi, &sessions, "*/*.jsonl", 0);
                self.add(Agent::Pi, &sessions, "*.jsonl", 0);
            }
            None => {
                let pi = base.or("PI_CODING_AGENT_DIR", ".pi/agent");
                self.add(Agent::Pi, &pi, "sessions/*/*.jsonl", 0);
            }
        }
        let goose = match base.folder("GOOSE_PATH_ROOT") {
            Some(root) => root.join("data"),
            None => base.data.join("goose"),
        };
        self.add(Agent::Goose, &goose, "sessions/*.jsonl", 0);
        self.add(Agent::Goose, &goose, "sessions/sessions.db", 0);
        let persisted = base.or("OPENHANDS_PERSISTENCE_DIR", ".openhands");
        let conversations = base
            .folder("OPENHANDS_CONVERSATIONS_DIR")
            .unwrap_or_else(|| persisted.join("conversations"));
        self.add(Agent::Openhands, &conversations, "*/events", 1);
        for folder in [persisted, home.join(".openhands-state")] {
            self.add(Agent::Openhands, &folder, "sessions/*/events", 1);
        }
        let droid = base.or("FACTORY_DIR", ".factory");
        self.add(Agent::Droid, &droid, "sessions/*.jsonl", 0);
        self.add(Agent::Droid, &droid, "sessions/*/*.jsonl", 0);
        let amp = base
            .folder("AMP_HOME")
            .unwrap_or_else(|| base.data.join("amp"));
        self.add(Agent::Amp, &amp, "threads/*.json", 0);
        if let Some(folder) = base.folder("SWE_AGENT_TRAJECTORY_DIR") {
            self.add(Agent::SweAgent, &folder, "**", 0);
        }
        if let Some(file) = base.folder("AIDER_CHAT_HISTORY_FILE") {
            self.file(Agent::Aider, &file);
        }
        self.file(Agent::Aider, &home.join(super::AIDER));
    }

    fn editors(&mut self, base: &Base<'_>) {
        let mut storages: Vec<PathBuf> = Vec::new();
        for config in &base.configs {
            for editor in EDITORS {
                storages.push(config.join(editor).join("User/globalStorage"));
            }
        }
        for server in SERVERS {
            storages.push(base.home.join(server).join("User/globalStorage"));
        }
        if let Some(portable) = base.folder("VSCODE_PORTABLE") {
            storages.push(portable.join("user-data/User/globalStorage"));
        }
        const TASKS: &str = "tasks/*/ui_messages.json";
        for storage in storages {
            for (agent, extension) in [
                (Agent::Cline, "saoudrizwan.claude-dev"),
                (Agent::Roo, "rooveterinaryinc.roo-cline"),
            ] {
                self.add(agent, &storage.join(extension), TASKS, 1);
            }
        }
        let cline = match base.folder("CLINE_DATA_DIR") {
            Some(data) => data,
            None => base.or("CLINE_DIR", ".cline").join("data"),
        };
        self.add(Agent::Cline, &cline, TASKS, 1);
    }
}
