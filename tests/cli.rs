//! The command as a script sees it: help, exact JSON, statuses, one sentence and a hint on standard error.

use crate::engine_deck::log_text;
use crate::fixtures;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub struct Ran {
    pub status: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Ran {
    #[track_caller]
    pub fn ends(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "{}\n{}", self.text(), self.stderr);
        self
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        self.text()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

pub struct Place(tempfile::TempDir);

impl Place {
    pub fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.0.path().join("home")).unwrap();
        place
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        let Output {
            status,
            stdout,
            stderr,
        } = Command::new(env!("CARGO_BIN_EXE_chipdeck"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .env("HOME", self.home())
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap();
        Ran {
            status: status.code().unwrap(),
            stdout,
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }
}

/// Compares with a file of `tests/snapshots`; `UPDATE_SNAPSHOTS=1` writes it instead.
#[track_caller]
fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/snapshots")
        .join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        text, wanted,
        "{name} changed; UPDATE_SNAPSHOTS=1 takes it over"
    );
}

#[test]
fn help_of_every_command() {
    let place = Place::new();
    let main = place.run(&["--help"]).ends(0).text();
    let mut all = main.clone();
    let commands = main.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in commands.take_while(|line| !line.is_empty()) {
        let Some(name) = line
            .split_whitespace()
            .next()
            .filter(|_| line.starts_with("  ") && !line.starts_with("   "))
        else {
            continue;
        };
        if name != "help" {
            all += &format!(
                "\n$ chipdeck {name} --help\n{}",
                place.run(&[name, "--help"]).ends(0).text()
            );
        }
    }
    snapshot("help.txt", &all);
}

#[test]
fn states_are_those_of_the_event_sets() {
    let Some(folder) = fixtures::shared("events") else {
        return;
    };
    let place = Place::new();
    for name in [
        "basic",
        "edits",
        "merge",
        "blobs",
        "minimal-no-seq",
        "pair",
        "shards",
        "damaged",
    ] {
        let expected: Vec<Value> = serde_json::from_slice(
            &std::fs::read(folder.join(format!("{name}.expected.json"))).unwrap(),
        )
        .unwrap();
        let dir = folder.join(name);
        let log = if dir.is_dir() {
            dir
        } else {
            folder.join(format!("{name}.jsonl"))
        };
        let log = log.to_str().unwrap();
        for (n, state) in expected.iter().enumerate() {
            let at = (n + 1).to_string();
            let ran = place.run(&["state", log, "--at", &at]).ends(0);
            assert_eq!(ran.json(), *state, "{name} at {at}");
            assert_eq!(
                ran.text(),
                format!("{}\n", sorted(state)),
                "one object, keys sorted"
            );
        }
        assert_eq!(
            place.run(&["state", log, "--at", "end"]).ends(0).json(),
            expected[expected.len() - 1]
        );
        assert_eq!(
            place.run(&["state", log, "--at", "0"]).ends(0).json()["at"],
            json!({"index": 0})
        );
        let beyond = (expected.len() + 1).to_string();
        assert!(place
            .run(&["state", log, "--at", &beyond])
            .ends(1)
            .stderr
            .contains("no position"));
    }
}

fn sorted(value: &Value) -> String {
    // serde_json's own maps are sorted.
    serde_json::to_string(value).unwrap()
}

fn story(place: &Place) -> String {
    let text = log_text(&[
        ("session.start", json!({"cwd": "/w"})),
        (
            "file.create",
            json!({"path": "a.txt", "content": "one\ntwo\n"}),
        ),
        (
            "tool.call",
            json!({"toolName": "bash", "args": {"command": "make \u{1b}]0;x\u{7} all"}}),
        ),
        (
            "tool.result",
            json!({"callId": "e3", "status": "error", "error": "Failed"}),
        ),
        (
            "file.change",
            json!({"path": "a.txt", "edits": [{"old": "zzz", "new": ""}]}),
        ),
        ("file.delete", json!({"path": "a.txt"})),
        (
            "file.change",
            json!({"path": "never.txt", "edits": [{"old": "x", "new": "y"}]}),
        ),
    ]);
    place.write("log.jsonl", text)
}

#[test]
fn one_files_text() {
    let place = Place::new();
    let log = story(&place);
    let state = |at: &str, file: &str, more: &[&str]| {
        let mut all = vec!["state", &log, "--at", at, "--file", file];
        all.extend(more);
        place.run(&all)
    };
    assert_eq!(state("2", "a.txt", &[]).ends(0).stdout, b"one\ntwo\n");
    assert_eq!(state("e5", "./a.txt", &[]).ends(0).stdout, b"one\ntwo\n");
    let json = state("5", "a.txt", &["--json"]).ends(0).json();
    let wanted = json!({"path": "a.txt", "exists": true, "certainty": "unverified", "content": "one\ntwo\n",
        "sha256": json["sha256"]});
    assert_eq!(json, wanted);
    assert_eq!(json["sha256"].as_str().unwrap().len(), 64);
    let deleted = state("6", "a.txt", &[]).ends(1);
    assert!(
        deleted.stdout.is_empty() && deleted.stderr.contains("deleted"),
        "{}",
        deleted.stderr
    );
    assert_eq!(
        state("6", "a.txt", &["--json"]).ends(1).json()["exists"],
        false
    );
    assert!(state("7", "never.txt", &[])
        .ends(1)
        .stderr
        .contains("does not show"));
    assert!(state("1", "a.txt", &[])
        .ends(1)
        .stderr
        .contains("does not name"));
    assert!(state("7", "other", &[]).ends(1).stderr.contains("hint: "));
}

#[test]
fn entries_as_lines() {
    let place = Place::new();
    let log = story(&place);
    let lines = place.run(&["log", &log, "--json"]).ends(0).lines();
    assert_eq!(
        lines[3],
        json!({"index": 4, "file": "log.jsonl", "line": 4, "eventId": "e4", "type": "tool.result",
            "timestamp": 1_764_500_004_000_i64, "session": "exec", "traceId": "t", "summary": "bash error: Failed"})
    );
    let indices = |filter: &str| -> Vec<u64> {
        let ran = place
            .run(&["log", &log, "--json", "--where", filter])
            .ends(0);
        ran.lines()
            .iter()
            .map(|line| line["index"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(indices("is:edit"), [2, 5, 6, 7]);
    assert_eq!(indices("is:error"), [4, 5]);
    assert_eq!(indices("tool:bash"), [3, 4]);
    assert_eq!(indices("status:error"), [4]);
    assert_eq!(indices("after:e3 before:5"), [4, 5]);
    assert_eq!(indices("-type:file.* -type:session.*"), [3, 4]);
    assert_eq!(indices("path:*.txt -path:never*"), [2, 5, 6]);
    assert_eq!(indices("/zz+/"), [5]);
    assert_eq!(
        indices("\"make \u{1b}]\""),
        [3],
        "a text is found through JSON's escapes"
    );
    assert_eq!(indices("before:2025-11-30T10:53:22Z").len(), 2);
    let text = place.run(&["log", &log]).ends(0).text();
    assert!(
        !text.contains('\u{1b}') && !text.contains('\u{7}'),
        "no log steers a terminal"
    );
    let bad = place.run(&["log", &log, "--where", "is:odd"]).ends(2);
    assert!(
        bad.stderr.contains("is:odd") && bad.stderr.contains("hint: "),
        "{}",
        bad.stderr
    );
    place.run(&["log", &log, "--where", "after:e99"]).ends(1);
}

#[test]
fn files_with_the_lines_that_prove_them() {
    let place = Place::new();
    let log = story(&place);
    let files = place.run(&["files", &log, "--json"]).ends(0).json();
    let rows = files["files"]["a.txt"].as_array().unwrap();
    // An edit that failed set nothing.
    assert_eq!(rows.len(), 2, "{files}");
    let first = &rows[0];
    for (key, want) in [
        ("index", json!(2)),
        ("eventId", json!("e2")),
        ("file", json!("log.jsonl")),
        ("line", json!(2)),
        ("op", json!("create")),
        ("bytes", json!(8)),
        ("certainty", json!("exact")),
        ("why", json!("written")),
    ] {
        assert_eq!(first[key], want, "{key}");
    }
    assert_eq!(
        (
            &rows[1]["op"],
            &rows[1]["sha256"],
            &rows[1]["bytes"],
            &rows[1]["certainty"]
        ),
        (&json!("delete"), &json!(null), &json!(0), &json!("exact"))
    );
    let unknown = &files["files"]["never.txt"][0];
    assert_eq!(
        (&unknown["sha256"], &unknown["bytes"], &unknown["certainty"]),
        (&json!(null), &json!(null), &json!("unknown"))
    );
    let one = place
        .run(&["files", &log, "--json", "--path", "a.txt"])
        .ends(0)
        .json();
    assert_eq!(
        one["files"].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["a.txt"]
    );
    place.run(&["files", &log, "--path", "gone"]).ends(1);
}

#[test]
fn findings_and_what_they_end_with() {
    let place = Place::new();
    let log = story(&place);
    let ran = place.run(&["check", &log, "--json"]).ends(0);
    let codes: Vec<String> = ran.json()["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["code"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(codes, ["edit-failed", "change-on-missing"]);
    let first = &ran.json()["findings"][0];
    assert_eq!(
        (
            &first["severity"],
            &first["file"],
            &first["line"],
            &first["eventId"],
            &first["path"]
        ),
        (
            &json!("error"),
            &json!("log.jsonl"),
            &json!(5),
            &json!("e5"),
            &json!("a.txt")
        )
    );
    place.run(&["check", &log, "--fail-on", "error"]).ends(1);
    let warned = place.write(
        "warned.jsonl",
        log_text(&[("file.delete", json!({"path": "x"}))]),
    );
    place.run(&["check", &warned, "--fail-on", "error"]).ends(0);
    place
        .run(&["check", &warned, "--fail-on", "warning"])
        .ends(1);
    place.run(&["check", &warned, "--fail-on", "much"]).ends(2);
    if let Some(events) = fixtures::shared("events") {
        let pair = place
            .run(&["check", events.join("pair").to_str().unwrap(), "--json"])
            .ends(0)
            .json();
        let wanted: Value =
            serde_json::from_slice(&std::fs::read(events.join("pair.findings.json")).unwrap())
                .unwrap();
        let wanted = wanted
            .as_array()
            .cloned()
            .unwrap_or_else(|| wanted["findings"].as_array().unwrap().clone());
        for want in &wanted {
            let found = pair["findings"].as_array().unwrap().iter();
            let hit = found
                .clone()
                .any(|it| it["code"] == want["code"] && it["callId"] == want["callId"]);
            assert!(hit, "{want} is not in {pair}");
        }
    }
}

#[test]
fn what_is_no_log() {
    let place = Place::new();
    for (name, bytes, word) in [
        ("text.txt", &b"hello\n"[..], "line 1 is no JSON"),
        ("data.bin", b"\0\x01\x02", "binary"),
        ("empty", b"", "empty"),
        ("m.db", b"SQLite format 3\0....", "database"),
        (
            "chip-ab12cd.json",
            b"{\"id\":\"a\",\"tool\":\"b\",\"args\":{},\"created_at\":1}",
            "chip",
        ),
    ] {
        let path = place.write(name, bytes);
        for command in [
            &["log"][..],
            &["check"],
            &["files"],
            &["state", "--at", "end"],
        ] {
            let mut all = command.to_vec();
            all.push(&path);
            let ran = place.run(&all).ends(1);
            assert!(
                ran.stdout.is_empty() && ran.stderr.contains(word),
                "{name}: {}",
                ran.stderr
            );
            assert_eq!(
                ran.stderr
                    .lines()
                    .filter(|line| line.starts_with("chipdeck: "))
                    .count(),
                1
            );
        }
    }
    place.run(&["log", "gone.jsonl"]).ends(1);
    place.run(&["log"]).ends(2);
    place.run(&["nonsense"]).ends(2);
    place.run(&["state", "x"]).ends(2);
    std::fs::create_dir(place.0.path().join("void")).unwrap();
    assert!(place
        .run(&["log", "void"])
        .ends(1)
        .stderr
        .contains("holds no log"));
    // Any other JSONL is a log of opaque entries.
    let raw = place.write("raw.jsonl", "{\"a\":1}\nnonsense\n");
    let lines = place.run(&["log", &raw, "--json"]).ends(0).lines();
    assert_eq!(
        lines
            .iter()
            .map(|it| (&it["type"], &it["eventId"]))
            .collect::<Vec<_>>(),
        [(&json!("opaque"), &json!(null)); 2]
    );
}

#[test]
fn a_reader_that_had_enough_ends_it_quietly() {
    let place = Place::new();
    let text = log_text(&vec![
        ("message.user", json!({"content": "x".repeat(200)}));
        5_000
    ]);
    let log = place.write("log.jsonl", text);
    let script = format!(
        "'{}' log '{log}' | head -1; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_chipdeck")
    );
    let out = Command::new("bash")
        .args(["-c", &script])
        .env("HOME", place.home())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&out.stdout).lines().last(),
        Some("0")
    );
    assert!(
        out.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

#[test]
fn sources_of_this_machine() {
    let place = Place::new();
    assert_eq!(
        place.run(&["sources", "--json"]).ends(0).json(),
        json!({"sources": []})
    );
    let chip = "{\"id\":\"a\",\"tool\":\"b\",\"args\":{},\"created_at\":1}";
    place.write("home/.cache/better-edit-tools-mcp/chips/chip-a.json", chip);
    place.write("home/.claude/projects/-x/1.jsonl", "{}\n");
    place.write("chatmemory.db", "SQLite format 3\0");
    let rows = place.run(&["sources", "--json"]).ends(0).json();
    let rows = rows["sources"].as_array().unwrap();
    let said: Vec<String> = rows
        .iter()
        .map(|it| {
            format!(
                "{} {} {} {}",
                it["kind"], it["agent"], it["bytes"], it["count"]
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            format!("\"chips\" null {} 1", chip.len()),
            "\"log\" \"claude-code\" 3 null".into(),
            "\"memory\" null 16 null".into()
        ]
    );
    assert!(rows[1]["path"]
        .as_str()
        .unwrap()
        .ends_with(".claude/projects/-x/1.jsonl"));
    let text = place.run(&["sources"]).ends(0).text();
    assert_eq!(text.lines().count(), 3, "{text}");
    // The settings name another chip folder.
    let other = place.write(
        "elsewhere/chips/chip-b.json",
        chip.replace("\"a\"", "\"b\""),
    );
    let dir = Path::new(&other).parent().unwrap().to_str().unwrap();
    let settings = place.write(
        "home/.config/chipdeck/config.toml",
        format!("[chips]\ndir = {dir:?}\n"),
    );
    let rows = place.run(&["sources", "--json"]).ends(0).json();
    assert_eq!(rows["sources"][0]["path"], dir);
    let list = place
        .run(&["chips", "list", "--json", "--no-archive"])
        .ends(0)
        .json();
    assert_eq!(list["chips"][0]["id"], "b");
    std::fs::remove_dir_all(Path::new(&settings).parent().unwrap().parent().unwrap()).unwrap();
    // A list leaves nothing behind.
    assert!(!place.home().join(".local").exists() && !place.home().join(".config").exists());
}

#[test]
fn the_window_is_started_with_whole_paths() {
    let place = Place::new();
    let log = story(&place);
    assert!(place
        .run(&["open", "gone.jsonl"])
        .ends(1)
        .stderr
        .contains("gone.jsonl"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let dir = place.0.path().join("bin");
        std::fs::create_dir(&dir).unwrap();
        let window = dir.join("chipdeck-desktop");
        std::fs::write(
            &window,
            "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.seen.new\"; mv \"$0.seen.new\" \"$0.seen\"\n",
        )
        .unwrap();
        std::fs::set_permissions(&window, std::fs::Permissions::from_mode(0o755)).unwrap();
        // A copy of the command far from the real window.
        let own = dir.join("chipdeck");
        std::fs::copy(env!("CARGO_BIN_EXE_chipdeck"), &own).unwrap();
        let ran = Command::new(&own)
            .args(["open", "log.jsonl", "home"])
            .current_dir(place.0.path())
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        let seen = dir.join("chipdeck-desktop.seen");
        let end = std::time::Instant::now() + std::time::Duration::from_secs(5);
        while !seen.exists() {
            assert!(
                std::time::Instant::now() < end,
                "the window was not started"
            );
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let home = place.home();
        assert_eq!(
            std::fs::read_to_string(seen).unwrap(),
            format!("{log}\n{}\n", home.display())
        );
        std::fs::remove_file(&window).unwrap();
        let ran = Command::new(&own)
            .arg("open")
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&ran.stderr).contains("hint: "));
    }
}

#[test]
fn one_of_a_thing_is_no_plural_and_no_position_is_negative() {
    let place = Place::new();
    let log = place.write(
        "one.jsonl",
        concat!(
            r#"{"eventId":"e1","traceId":"t1","session":"exec","seq":1,"timestamp":1,"version":1,"type":"file.create","payload":{"path":"/nowhere/a.txt","content":"one\n"}}"#,
            "\nno event\n",
        ),
    );
    let checked = place.run(&["check", &log]).ends(0).text();
    let last = checked.lines().last().unwrap_or_default().to_owned();
    assert!(last.ends_with(" in 2 entries"), "{last}");
    assert!(last.contains("1 error, "), "{last}");
    // An absolute path keeps its one slash.
    let diff = place
        .run(&["diff", &log, "--from", "0", "--to", "1"])
        .ends(0)
        .text();
    assert!(diff.contains("\n+++ b/nowhere/a.txt\n"), "{diff}");
    for arguments in [
        &["diff", &log, "--from", "-5", "--to", "1"][..],
        &["state", &log, "--at", "-1"],
        &["export", &log, "--format", "md", "--from", "-5"],
    ] {
        let ran = place.run(arguments).ends(2);
        assert!(
            ran.stderr.contains("a position is a number from 0 on"),
            "{}",
            ran.stderr
        );
    }
    let chip = include_bytes!("../demo/chips/chip-1706ca.json");
    let folder = "home/.cache/better-edit-tools-mcp/chips";
    place.write(&format!("{folder}/chip-1706ca.json"), chip);
    let none = place.run(&["chips", "search", "xyz"]).ends(0).text();
    assert!(none.contains("No chip matches"), "{none}");
}

#[test]
fn what_codex_printed_and_what_it_sent_to_a_running_command() {
    let item = |payload: serde_json::Value| {
        let record = serde_json::json!({"timestamp": "2026-03-01T10:00:00.000Z", "type": "response_item", "payload": payload});
        format!("{record}\n")
    };
    let call = |id: &str, arguments: &str| {
        item(
            serde_json::json!({"type": "function_call", "name": "write_stdin", "call_id": id, "arguments": arguments}),
        )
    };
    let printed =
        r#"{"output":"total 788\ndrwx one\n","metadata":{"exit_code":0,"duration_seconds":0.1}}"#;
    let output = item(
        serde_json::json!({"type": "function_call_output", "call_id": "c1", "output": printed}),
    );
    let meta = serde_json::json!({"timestamp": "2026-03-01T10:00:00.000Z", "type": "session_meta",
        "payload": {"id": "s", "cwd": "/nowhere", "cli_version": "0.120.0"}});
    let text = [
        format!("{meta}\n"),
        call(
            "c1",
            r#"{"session_id":17248,"chars":"","yield_time_ms":1000}"#,
        ),
        output,
        call("c2", r#"{"session_id":17248,"chars":"yes\n"}"#),
    ];
    let place = Place::new();
    let log = place.write("rollout.jsonl", text.concat());
    let shown = place.run(&["log", &log]).ends(0).text();
    assert!(shown.contains("waits for session 17248"), "{shown}");
    assert!(shown.contains(r"sends yes\n to session 17248"), "{shown}");
    assert!(shown.contains("total 788"), "{shown}");
    assert!(!shown.contains("metadata"), "{shown}");
}
