//! `repair`: corrections are appended where the dialogue claims what the execution denies, once, and nothing else is
//! touched.

use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn chipdeck(arguments: &[&str]) -> Output {
    let home = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_chipdeck"))
        .args(arguments)
        .env("HOME", home.path())
        .env("XDG_DATA_HOME", home.path().join("data"))
        .env("XDG_CONFIG_HOME", home.path().join("config"))
        .env("XDG_CACHE_HOME", home.path().join("cache"))
        .env("XDG_RUNTIME_DIR", home.path().join("run"))
        .output()
        .unwrap()
}

pub fn answer(out: &Output) -> Value {
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    serde_json::from_slice(&out.stdout).unwrap()
}

fn pair() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("pair");
    std::fs::create_dir(&to).unwrap();
    for name in ["dialog.jsonl", "exec.jsonl"] {
        std::fs::copy(
            crate::events::folder().join("pair").join(name),
            to.join(name),
        )
        .unwrap();
    }
    (dir, to)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn drifts(log: &Path) -> Vec<Value> {
    let found = answer(&chipdeck(&["check", &text(log), "--json"]));
    let found = found["findings"].as_array().unwrap().clone();
    found
        .into_iter()
        .filter(|it| it["code"].as_str().unwrap().starts_with("drift-"))
        .collect()
}

fn sha256(text: &str) -> String {
    chipdeck_replay::restore::sha256_hex(text.as_bytes())
}

#[test]
fn every_drift_is_settled_by_one_line_and_a_second_run_adds_nothing() {
    let (_dir, log) = pair();
    let before: Vec<Vec<u8>> = ["dialog.jsonl", "exec.jsonl"]
        .map(|name| std::fs::read(log.join(name)).unwrap())
        .into();
    assert_eq!(drifts(&log).len(), 3);

    let dry = answer(&chipdeck(&["repair", &text(&log), "--dry-run", "--json"]));
    assert_eq!(dry["applied"], false);
    assert_eq!(
        std::fs::read(log.join("dialog.jsonl")).unwrap(),
        before[0],
        "nothing was written"
    );

    let done = answer(&chipdeck(&["repair", &text(&log), "--json"]));
    assert_eq!(done["applied"], true);
    assert_eq!(done["file"], "dialog.jsonl");
    let appended = done["appended"].as_array().unwrap();
    let told: Vec<(&str, &str)> = appended
        .iter()
        .map(|it| {
            (
                it["payload"]["callId"].as_str().unwrap(),
                it["payload"]["status"].as_str().unwrap(),
            )
        })
        .collect();
    // The execution's status; `error` where it has none.
    assert_eq!(told, [("d6", "denied"), ("d9", "ok"), ("d999", "error")]);
    let highest = 16;
    for (nth, event) in (1..).zip(appended) {
        assert_eq!(event["type"], "message.correction");
        assert_eq!(event["traceId"], "t1");
        assert_eq!(event["seq"], highest + nth);
        let (call, status) = told[nth as usize - 1];
        assert_eq!(
            event["eventId"],
            format!("fix-{}", sha256(&format!("{call}{status}")))
        );
        assert_eq!(event["parentEventId"], event["payload"]["corrects"]);
    }
    assert_eq!(appended[0]["parentEventId"], "d8");
    assert_eq!(appended[0]["correlationId"], "k2");

    // Appended, and nothing else.
    let after = std::fs::read(log.join("dialog.jsonl")).unwrap();
    assert!(after.starts_with(&before[0]));
    let lines: Vec<Value> = String::from_utf8_lossy(&after[before[0].len()..])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(json!(lines), done["appended"]);
    assert!(after.ends_with(b"\n"));
    assert_eq!(std::fs::read(log.join("exec.jsonl")).unwrap(), before[1]);

    assert_eq!(drifts(&log), Vec::<Value>::new(), "settled");
    let again = answer(&chipdeck(&["repair", &text(&log), "--json"]));
    assert_eq!(again["appended"], json!([]));
    assert_eq!(again["file"], Value::Null);
    assert_eq!(std::fs::read(log.join("dialog.jsonl")).unwrap(), after);
    // What was settled is shown in the dialogue as a correction.
    let end = answer(&chipdeck(&["state", &text(&log), "--at", "end"]));
    let corrections = end["dialogue"].as_array().unwrap().iter();
    assert_eq!(
        corrections.filter(|it| it["role"] == "correction").count(),
        3
    );
}

#[test]
fn a_last_line_without_its_end_is_refused() {
    let (_dir, log) = pair();
    let path = log.join("dialog.jsonl");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, bytes.strip_suffix(b"\n").unwrap()).unwrap();
    for arguments in [
        &["repair", &text(&log)][..],
        &["repair", &text(&log), "--dry-run"],
    ] {
        let out = chipdeck(arguments);
        assert_eq!(out.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&out.stderr).contains("no line end"));
    }
    assert_eq!(
        std::fs::read(&path).unwrap(),
        bytes.strip_suffix(b"\n").unwrap()
    );
}

#[test]
fn in_shards_each_correction_goes_to_the_file_of_its_claim() {
    let dir = tempfile::tempdir().unwrap();
    let line = |id: &str, kind: &str, time: i64, payload: Value| {
        let event = json!({"eventId": id, "traceId": "t", "type": kind, "timestamp": time, "payload": payload});
        format!("{event}\n")
    };
    let first = [
        line("c1", "tool.call", 1, json!({"toolName": "w", "args": {}})),
        line(
            "r1",
            "tool.result",
            2,
            json!({"callId": "c1", "status": "error"}),
        ),
        line(
            "m1",
            "message.toolResult",
            3,
            json!({"callId": "c1", "status": "ok"}),
        ),
    ]
    .concat();
    let second = line(
        "m2",
        "message.toolResult",
        4,
        json!({"callId": "c9", "status": "ok"}),
    );
    std::fs::write(dir.path().join("2026-01-01.jsonl"), &first).unwrap();
    std::fs::write(dir.path().join("2026-01-02.jsonl"), &second).unwrap();
    let done = answer(&chipdeck(&["repair", &text(dir.path()), "--json"]));
    assert_eq!(
        done["files"],
        json!(["2026-01-01.jsonl", "2026-01-02.jsonl"])
    );
    assert!(done["appended"][0].get("seq").is_none(), "the set has none");
    for (name, old, call) in [
        ("2026-01-01.jsonl", first, "c1"),
        ("2026-01-02.jsonl", second, "c9"),
    ] {
        let now = std::fs::read_to_string(dir.path().join(name)).unwrap();
        let added: Value = serde_json::from_str(now.strip_prefix(&old).unwrap()).unwrap();
        assert_eq!(added["payload"]["callId"], call);
    }
    assert!(drifts(dir.path()).is_empty());
    assert_eq!(
        answer(&chipdeck(&["repair", &text(dir.path()), "--json"]))["appended"],
        json!([])
    );
}

#[test]
fn only_canonical_logs_are_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.jsonl");
    std::fs::write(&path, "{\"x\":1}\n{\"x\":2}\n").unwrap();
    let out = chipdeck(&["repair", &text(&path)]);
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(std::fs::read(&path).unwrap(), b"{\"x\":1}\n{\"x\":2}\n");
    assert_eq!(
        chipdeck(&["repair", "no-such.jsonl"]).status.code(),
        Some(1)
    );
    assert_eq!(chipdeck(&["repair"]).status.code(), Some(2));
}
