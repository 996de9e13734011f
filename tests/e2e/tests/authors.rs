//! "What happened to this file, and give me yesterday's": three clicks from the start page.

use crate::restore::wait_bytes;
use chipdeck_e2e::{keys, until, Desk, Page};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

const FIRST: &str = "def price(item):\n    return item.net * 1.19\n";
const SECOND: &str =
    "def price(item):\n    return item.net * item.rate\n\n\ndef old(item):\n    return 1\n";
const CUT: &str = "\n\ndef old(item):\n    return 1\n";
const THIRD: &str = "def price(item):\n    return item.net * item.rate\n";
const LOST: &str = "def price(item):\n    return 0\n";

fn iso(ms: u64) -> String {
    let out = Command::new("date")
        .args(["-u", "-d", &format!("@{}", ms / 1_000)])
        .arg("+%Y-%m-%dT%H:%M:%S.000Z")
        .output()
        .unwrap();
    String::from_utf8(out.stdout).unwrap().trim().to_owned()
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|it| format!("{it}\n")).collect()
}

fn claude(cwd: &Path, session: &str, at: u64, file: &Path, text: &str, before: &str) -> String {
    let record = |n: u64, role: &str, content: Value, result: Value| {
        let mut record = json!({"type": role, "uuid": format!("{session}-{n}"), "parentUuid": null, "isSidechain": false,
            "cwd": cwd, "sessionId": session, "version": "2.1.90", "timestamp": iso(at + n * 1_000),
            "message": {"id": format!("m{n}"), "role": role, "content": content}});
        if !result.is_null() {
            record["toolUseResult"] = result;
        }
        record
    };
    let id = format!("toolu_{}", &session[..4]);
    lines(&[
        record(0, "user", json!("Change the price"), Value::Null),
        record(
            1,
            "assistant",
            json!([{"type": "tool_use", "id": id, "name": "Write", "input": {"file_path": file, "content": text}}]),
            Value::Null,
        ),
        record(
            2,
            "user",
            json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]),
            json!({"type": "update", "filePath": file, "content": text, "structuredPatch": [], "originalFile": before}),
        ),
    ])
}

fn codex(cwd: &Path, at: u64, patch: &str) -> String {
    lines(&[
        json!({"timestamp": iso(at), "type": "session_meta", "payload": {"id": "c0de", "cwd": cwd, "cli_version": "0.120.0"}}),
        json!({"timestamp": iso(at + 1_000), "type": "response_item", "payload":
            {"type": "custom_tool_call", "name": "apply_patch", "call_id": "call_1", "input": patch}}),
        json!({"timestamp": iso(at + 2_000), "type": "response_item", "payload":
            {"type": "custom_tool_call_output", "call_id": "call_1", "output":
            "{\"output\": \"Success. Updated the following files:\\nA shop/price.py\\n\", \"metadata\": {\"exit_code\": 0}}"}}),
    ])
}

fn git(top: &Path, at: u64, arguments: &[&str]) {
    let date = format!("{} +0000", at / 1_000);
    let done = Command::new("git")
        .current_dir(top)
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

/// Codex makes the file, it is committed, Claude Code changes it, the chip server cuts lines out of it: yesterday.
/// Claude Code loses it: today.
fn project(desk: &Desk) -> (PathBuf, PathBuf) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = now.as_millis() as u64;
    let noon = now - now % 86_400_000 - 43_200_000;
    let file = desk.put("project/shop/price.py", FIRST);
    let top = fs::canonicalize(desk.work().join("project")).unwrap();
    let written = top.join("shop/price.py");
    git(&top, noon, &["init", "-q", "-b", "main"]);
    git(&top, noon + 60_000, &["add", "-A"]);
    git(&top, noon + 60_000, &["commit", "-q", "-m", "Prices"]);
    let added: String = FIRST.lines().map(|line| format!("+{line}\n")).collect();
    let patch = format!("*** Begin Patch\n*** Add File: shop/price.py\n{added}*** End Patch");
    desk.put(
        "../.codex/sessions/2026/11/29/rollout-2026-11-29T12-00-00-c0de.jsonl",
        codex(&top, noon, &patch),
    );
    let sessions = [
        ("1111", noon + 120_000, SECOND, FIRST),
        ("2222", now, LOST, THIRD),
    ];
    for (name, at, text, before) in sessions {
        let session = format!("{name}1111-1111-4111-8111-111111111111");
        desk.put(
            &format!("../.claude/projects/-project/{session}.jsonl"),
            claude(&top, &session, at, &written, text, before),
        );
    }
    let workspace: String = Sha256::digest(top.to_str().unwrap().as_bytes())
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let side = |text: &str| {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        json!({"start": 1, "end": lines.len(), "lines": lines})
    };
    let created_at = noon / 1_000 + 180;
    let snapshot = json!({"id": "4d12f6", "tool": "be-delete", "file": "shop/price.py", "before": side(SECOND),
        "after": side(THIRD), "args": {"file": "shop/price.py", "start": 3, "end": 6},
        "summary": "be-delete on price.py lines 3-6", "created_at": created_at});
    let folder = desk.snapshots().join(workspace);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("snapshot-4d12f6.json"), snapshot.to_string()).unwrap();
    let chip = json!({"id": "a3f7b2", "tool": "be-delete", "args": {"_content": CUT}, "created_at": created_at});
    fs::create_dir_all(desk.chips()).unwrap();
    fs::write(desk.chips().join("chip-a3f7b2.json"), chip.to_string()).unwrap();
    fs::write(&file, LOST).unwrap();
    (top, file)
}

const ROW: &str = "[data-testid=path-versions] [data-version]";

fn attributes(page: &Page, name: &str) -> Vec<String> {
    let script = "return [...document.querySelectorAll(arguments[0])].map((it) => it.getAttribute(arguments[1]))";
    let found = page.js(script, &[json!(ROW), json!(name)]);
    serde_json::from_value(found).unwrap()
}

#[test]
fn yesterdays_version_is_three_clicks_away() {
    let desk = Desk::new();
    let (top, file) = project(&desk);
    let page = desk.start(&[&top]);
    page.wait("[data-testid=library-root]");

    page.click("[data-testid=library-authors]");
    page.click("[data-testid=project-list] [data-path='shop/price.py']");
    page.wait("[data-testid=path-head][data-path='shop/price.py']");
    until("all authors", || {
        let there =
            attributes(&page, "data-op") == ["change", "snapshot-after", "change", "create"];
        (there && !page.there("[data-testid=gathering]")).then_some(())
    });
    assert_eq!(
        attributes(&page, "data-kind"),
        ["session", "snapshot", "session", "session"]
    );
    let days = page.js(
        "return [...document.querySelectorAll('[data-testid=day]')].map((it) => it.textContent)",
        &[],
    );
    assert_eq!(days[0], "Today");
    assert!(days[1].as_str().unwrap().starts_with("Yesterday"), "{days}");
    // The chip and the before-image of today's session had it too.
    page.wait_text("[data-testid=path-also]", "be-delete");
    page.wait_text("[data-testid=path-also]", "Claude Code");
    page.wait_text("[data-testid=path-restore-button]", "price.py");
    page.wait("[data-testid=path-diff] [data-kind=add]");
    assert_eq!(fs::read_to_string(&file).unwrap(), LOST, "a preview");

    page.click("[data-testid=path-restore-button]");
    wait_bytes(&file, THIRD);
    page.wait_text("[data-testid=toast]", "price.py");
    page.click("[data-testid=toast-undo]");
    wait_bytes(&file, LOST);

    // With the keyboard to an older one, which git has too.
    page.click(&format!("{ROW}[data-op=create]"));
    page.wait_text("[data-testid=path-also]", "git");
    page.press(keys::UP);
    until("the one before it", || {
        let chosen = page.attribute("[data-testid=path-version]", "data-version");
        let rows = attributes(&page, "data-version");
        (chosen.as_ref() == rows.get(2)).then_some(())
    });
    page.press(keys::ESCAPE);
    page.wait("[data-testid=project-list]");
}
