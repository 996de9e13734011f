//! A project on a machine of its own: sessions of two agents, a repository, the chip server's folder.

use crate::engine_deck::Deck;
use chipdeck_engine::api::*;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// 2026-03-01T10:00:00Z, Unix milliseconds.
pub const NOON: i64 = 1_772_359_200_000;

pub fn iso(ms: i64) -> String {
    let time = chrono::DateTime::from_timestamp_millis(ms).unwrap();
    time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

pub struct World {
    pub deck: Deck,
}

impl World {
    pub fn new() -> World {
        World { deck: Deck::new() }
    }

    pub fn app(&self) -> PathBuf {
        self.deck.path("app/.").parent().unwrap().join("app")
    }

    pub fn put(&self, below: &str, text: &str) -> PathBuf {
        self.deck.write(&format!("app/{below}"), text)
    }

    /// In the project, at a time.
    pub fn git(&self, at: i64, arguments: &[&str]) {
        let date = format!("{} +0000", at / 1_000);
        std::fs::create_dir_all(self.app()).unwrap();
        let done = Command::new("git")
            .current_dir(self.app())
            .args(["-c", "user.name=Ada", "-c", "user.email=a@b.c"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }

    pub fn commit(&self, at: i64, subject: &str) {
        self.git(at, &["add", "-A"]);
        self.git(at, &["commit", "-q", "-m", subject]);
    }

    /// A transcript in Claude Code's folder.
    pub fn claude(&self, session: &str, cwd: &Path, records: &[Value]) -> PathBuf {
        let mut text = String::new();
        for (n, record) in records.iter().enumerate() {
            let mut record = record.clone();
            let fields = record.as_object_mut().unwrap();
            if fields.contains_key("message") {
                fields.insert("uuid".into(), json!(format!("{session}-{n}")));
                fields.insert("cwd".into(), json!(cwd));
                fields.insert("sessionId".into(), json!(session));
                fields.insert("version".into(), json!("2.1.90"));
                fields.insert("isSidechain".into(), json!(false));
                fields.insert("parentUuid".into(), Value::Null);
            }
            text += &format!("{record}\n");
        }
        let file = format!("home/.claude/projects/-app/{session}.jsonl");
        self.deck.write(&file, text)
    }

    /// A rollout in Codex' folder.
    pub fn codex(&self, session: &str, cwd: &Path, at: i64, patches: &[(i64, &str)]) -> PathBuf {
        let mut lines = vec![json!({"timestamp": iso(at), "type": "session_meta",
            "payload": {"id": session, "cwd": cwd, "cli_version": "0.120.0"}})];
        for (n, (time, patch)) in patches.iter().enumerate() {
            let call = format!("call_{session}_{n}");
            lines.push(json!({"timestamp": iso(*time), "type": "response_item", "payload":
                {"type": "custom_tool_call", "name": "apply_patch", "call_id": call, "input": patch}}));
            lines.push(json!({"timestamp": iso(time + 100), "type": "response_item", "payload":
                {"type": "custom_tool_call_output", "call_id": call, "output":
                "{\"output\": \"Success. Updated the following files:\\nM x\\n\", \"metadata\": {\"exit_code\": 0, \"duration_seconds\": 0.1}}"}}));
        }
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let file =
            format!("home/.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{session}.jsonl");
        self.deck.write(&file, text)
    }

    /// The list of found logs is looked for anew.
    pub fn again(self) -> World {
        World {
            deck: self.deck.again(),
        }
    }

    #[track_caller]
    pub fn project(&self, name: &str) -> ProjectRow {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let Ok(Reply::Projects(rows)) = self.deck.engine.handle(Request::Projects {}) else {
                panic!("no projects")
            };
            if let Some(row) = rows.iter().find(|row| row.name == name) {
                return row.clone();
            }
            assert!(Instant::now() < end, "no project {name}: {rows:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    pub fn history(&self, project: &str, path: &str) -> PathHistory {
        let end = Instant::now() + Duration::from_secs(30);
        let mut anew = true;
        loop {
            let asked = Request::PathHistory {
                project: project.to_owned(),
                path: path.to_owned(),
                anew,
            };
            anew = false;
            match self.deck.engine.handle(asked) {
                Ok(Reply::PathHistory(history)) if history.gathering.done => return history,
                Ok(Reply::PathHistory(history)) => {
                    assert!(Instant::now() < end, "still gathering: {history:?}");
                }
                other => panic!("{:?}", other.err()),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[track_caller]
    pub fn files(&self, project: &str, query: &str) -> ProjectFiles {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let asked = Request::ProjectFiles {
                project: project.to_owned(),
                query: query.to_owned(),
                offset: 0,
                limit: 100,
            };
            match self.deck.engine.handle(asked) {
                Ok(Reply::ProjectFiles(files)) if files.gathering.done => return files,
                Ok(Reply::ProjectFiles(files)) => {
                    assert!(Instant::now() < end, "still gathering: {files:?}");
                }
                other => panic!("{:?}", other.err()),
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[track_caller]
    pub fn diff(&self, history: &PathHistory, row: usize, against: PathAgainst) -> DiffView {
        let asked = Request::PathDiff {
            history: history.history.clone(),
            version: history.rows[row].version.clone(),
            against,
            context: 3,
        };
        match self.deck.engine.handle(asked) {
            Ok(Reply::PathDiff(diff)) => diff,
            other => panic!("{:?}", other.err()),
        }
    }

    #[track_caller]
    pub fn plan(&self, what: RestoreWhat) -> PlanView {
        match self.deck.engine.handle(Request::PlanRestore { what }) {
            Ok(Reply::PlanRestore(plan)) => plan,
            other => panic!("{:?}", other.err()),
        }
    }
}

fn said(at: i64, role: &str, content: Value) -> Value {
    json!({"type": role, "timestamp": iso(at), "message": {"id": format!("m{at}"), "role": role, "content": content}})
}

pub fn asked(at: i64, text: &str) -> Value {
    said(at, "user", json!(text))
}

/// A call and its result.
pub fn called(at: i64, id: &str, name: &str, input: Value, result: Value) -> [Value; 2] {
    let call = said(
        at,
        "assistant",
        json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
    );
    let mut done = said(
        at + 50,
        "user",
        json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]),
    );
    done["toolUseResult"] = result;
    [call, done]
}

pub fn wrote(at: i64, id: &str, path: &Path, text: &str, before: Option<&str>) -> [Value; 2] {
    let kind = if before.is_some() { "update" } else { "create" };
    called(
        at,
        id,
        "Write",
        json!({"file_path": path, "content": text}),
        json!({"type": kind, "filePath": path, "content": text, "structuredPatch": [], "originalFile": before}),
    )
}

pub fn ran(at: i64, id: &str, command: &str) -> [Value; 2] {
    called(
        at,
        id,
        "Bash",
        json!({"command": command}),
        json!({"stdout": "", "stderr": "", "interrupted": false, "isImage": false}),
    )
}
