//! The command on the canonical logs: `state` after every event, `check` with its findings, and what N may be.

use crate::events::{expected, folder, SETS};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn chipdeck(arguments: &[&str]) -> Output {
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

fn answer(out: &Output) -> Value {
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    serde_json::from_slice(&out.stdout).unwrap()
}

fn path(set: &str) -> String {
    folder().join(set).display().to_string()
}

fn state(log: &str, at: &str) -> Value {
    answer(&chipdeck(&["state", log, "--at", at]))
}

#[test]
fn the_state_after_every_event() {
    for set in SETS {
        for (position, wanted) in (1..).zip(&expected(set)) {
            let at = format!("{position}");
            assert_eq!(&state(&path(set), &at), wanted, "{set} --at {at}");
        }
    }
}

#[test]
fn what_n_may_be() {
    let log = path("edits.jsonl");
    let index = |at: &str| state(&log, at)["at"]["index"].as_u64().unwrap();
    assert_eq!(index("0"), 0);
    assert_eq!(index("end"), 27);
    assert_eq!(index("q8"), 8);
    assert_eq!(index("id:q8"), 8);
    assert_eq!(index("@1764500009999"), 9);
    assert_eq!(index("@1"), 0);
    assert_eq!(index("2025-11-30T10:53:29Z"), 9);
    let beyond = chipdeck(&["state", &log, "--at", "28"]);
    assert_eq!(beyond.status.code(), Some(1));
    assert_eq!(
        chipdeck(&["state", &log, "--at", "q99"]).status.code(),
        Some(1)
    );
    assert_eq!(
        chipdeck(&["state", "no-such.jsonl", "--at", "1"])
            .status
            .code(),
        Some(1)
    );
    assert_eq!(chipdeck(&["state", &log, "--never"]).status.code(), Some(2));
}

#[test]
fn a_file_as_it_was() {
    let log = path("edits.jsonl");
    let out = chipdeck(&["state", &log, "--at", "q21", "--file", "a"]);
    assert_eq!(out.stdout, b"no newline", "the bytes, nothing added");
    let json = answer(&chipdeck(&[
        "state", &log, "--at", "q21", "--file", "a", "--json",
    ]));
    assert_eq!(json["content"], "no newline");
    assert_eq!(json["certainty"], "exact");
    assert_eq!(
        chipdeck(&["state", &log, "--at", "q17", "--file", "a"])
            .status
            .code(),
        Some(1),
        "deleted"
    );
    assert_eq!(
        chipdeck(&["state", &log, "--at", "q15", "--file", "a"])
            .status
            .code(),
        Some(1),
        "unknown"
    );
}

fn findings(set: &str) -> Vec<Value> {
    let found = answer(&chipdeck(&["check", &path(set), "--json"]));
    found["findings"].as_array().unwrap().clone()
}

fn wanted(name: &str) -> Value {
    let file = folder().join(format!("{name}.findings.json"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

#[test]
fn check_finds_the_damage() {
    let found = findings("damaged.jsonl");
    for (line, code) in wanted("damaged")["lines"].as_object().unwrap() {
        let line: u64 = line.parse().unwrap();
        let hit = found
            .iter()
            .any(|f| f["line"] == line && f["code"] == *code);
        assert!(hit, "line {line}: {code}");
    }
    assert!(found.iter().all(|f| f["file"] == "damaged.jsonl"));
}

#[test]
fn check_finds_the_drift() {
    let found = findings("pair");
    for wanted in wanted("pair").as_array().unwrap() {
        let members = wanted.as_object().unwrap();
        let hit = found.iter().any(|f| {
            members
                .iter()
                .all(|(name, value)| f.get(name) == Some(value))
        });
        assert!(hit, "{wanted}");
    }
}

#[test]
fn damage_alone_never_fails_a_command() {
    let log = path("damaged.jsonl");
    assert_eq!(chipdeck(&["check", &log]).status.code(), Some(0));
    assert_eq!(
        chipdeck(&["check", &log, "--fail-on", "warning"])
            .status
            .code(),
        Some(1)
    );
    assert_eq!(
        chipdeck(&["check", &path("basic.jsonl"), "--fail-on", "warning"])
            .status
            .code(),
        Some(0)
    );
}

#[test]
fn any_other_jsonl_opens_with_one_finding() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.jsonl");
    std::fs::write(
        &file,
        "{\"level\":\"info\",\"msg\":\"a\"}\n{\"level\":\"warn\",\"msg\":\"b\"}\n",
    )
    .unwrap();
    let log = |path: &Path| path.display().to_string();
    let found = answer(&chipdeck(&["check", &log(&file), "--json"]));
    let found = found["findings"].as_array().unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["code"], "foreign-log");
    assert_eq!(
        state(&log(&file), "end")["at"],
        serde_json::json!({"index": 2})
    );
}
