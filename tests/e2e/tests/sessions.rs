//! From the start page to lost work of an agent's own session: found without being told, opened, restored.

use crate::deck::{wait_at, PLAYHEAD};
use crate::logs::{FIRST, SECOND, THIRD};
use crate::restore::wait_bytes;
use chipdeck_e2e::{keys, until, Desk, Page};
use serde_json::{json, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIST: &str = "[data-testid=logs-list]";

/// A session of Claude Code in `cwd`: a file written, edited, and then written over.
fn claude(cwd: &Path, asked: &str) -> String {
    let file = cwd.join("price.py");
    let file = file.to_str().unwrap();
    let mut lines = Vec::new();
    let mut say = |kind: &str, message: Value, result: Option<Value>| {
        let number = lines.len();
        let mut line = json!({
            "parentUuid": if number == 0 { Value::Null } else { json!(format!("u{}", number - 1)) },
            "isSidechain": false, "userType": "external", "cwd": cwd, "sessionId": "5f1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f",
            "version": "2.1.5", "type": kind, "uuid": format!("u{number}"),
            "timestamp": format!("2026-05-10T10:00:{number:02}.000Z"), "message": message,
        });
        if let Some(result) = result {
            line["toolUseResult"] = result;
        }
        lines.push(line.to_string());
    };
    say("user", json!({"role": "user", "content": asked}), None);
    let calls = [
        (
            "Write",
            json!({"file_path": file, "content": FIRST}),
            json!({"type": "create", "filePath": file, "content": FIRST, "structuredPatch": []}),
        ),
        (
            "Edit",
            json!({"file_path": file, "old_string": "1.19", "new_string": "item.rate"}),
            json!({"filePath": file, "oldString": "1.19", "newString": "item.rate", "originalFile": FIRST, "structuredPatch": [], "userModified": false, "replaceAll": false}),
        ),
        (
            "Write",
            json!({"file_path": file, "content": THIRD}),
            json!({"type": "update", "filePath": file, "content": THIRD, "structuredPatch": []}),
        ),
    ];
    for (number, (tool, input, result)) in calls.into_iter().enumerate() {
        let id = format!("toolu_{number}");
        let call = json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]);
        say(
            "assistant",
            json!({"id": format!("m{number}"), "role": "assistant", "content": call}),
            None,
        );
        let done = json!([{"type": "tool_result", "tool_use_id": id, "content": "done"}]);
        say(
            "user",
            json!({"role": "user", "content": done}),
            Some(result),
        );
    }
    lines.join("\n") + "\n"
}

/// A rollout of Codex in `cwd`: a file added by a patch, and changed by another.
fn codex(cwd: &Path, asked: &str) -> String {
    let file = cwd.join("price.py");
    let file = file.to_str().unwrap();
    let patched = |number: u32, changes: Value| json!({"type": "patch_apply_end", "call_id": format!("call_{number}"), "success": true, "status": "completed", "stdout": "Success.", "stderr": "", "changes": changes});
    let hunk = "@@ -1,3 +1,3 @@\n def price(item):\n-    return item.net * 1.19\n+    return item.net\n \n";
    let records = [
        (
            "session_meta",
            json!({"id": "0196aaaa-0000-7000-8000-000000000001", "timestamp": "2026-05-11T09:00:00.000Z", "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.130.0", "source": "cli"}),
        ),
        (
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": asked}]}),
        ),
        (
            "response_item",
            json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "call_1", "input": "*** Begin Patch\n*** End Patch"}),
        ),
        (
            "event_msg",
            patched(1, json!({file: {"type": "add", "content": FIRST}})),
        ),
        (
            "response_item",
            json!({"type": "custom_tool_call_output", "call_id": "call_1", "output": "{\"output\":\"Success.\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}),
        ),
        (
            "response_item",
            json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "call_2", "input": "*** Begin Patch\n*** End Patch"}),
        ),
        (
            "event_msg",
            patched(
                2,
                json!({file: {"type": "update", "unified_diff": hunk, "move_path": null}}),
            ),
        ),
        (
            "response_item",
            json!({"type": "custom_tool_call_output", "call_id": "call_2", "output": "{\"output\":\"Success.\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}),
        ),
    ];
    let lines = records.iter().enumerate().map(|(number, (kind, payload))| {
        json!({"timestamp": format!("2026-05-11T09:00:{number:02}.000Z"), "type": kind, "payload": payload}).to_string() + "\n"
    });
    lines.collect()
}

fn put_claude(desk: &Desk, name: &str, text: &str) -> PathBuf {
    desk.put(
        &format!("../.claude/projects/-work-shop/{name}-4e5f-4061-8071-2a3b4c5d6e7f.jsonl"),
        text,
    )
}

/// Opens the session with this title from the list, and waits until it is on the deck.
fn open(page: &Page, title: &str) {
    page.wait_text(LIST, title);
    page.js(
        "const rows = [...document.querySelectorAll('[data-testid=logs-list] [data-source]')];
         rows.find(row => row.textContent.includes(arguments[0])).setAttribute('data-wanted', '')",
        &[json!(title)],
    );
    page.click(&format!("{LIST} [data-wanted]"));
    page.wait(PLAYHEAD);
    until("the session to be read", || {
        let (now, last) = (
            page.attribute(PLAYHEAD, "aria-valuenow")?,
            page.attribute(PLAYHEAD, "aria-valuemax")?,
        );
        (now == last && last != "0").then_some(())
    });
}

/// The version of the file before the last one, in view.
fn one_change_back(page: &Page, part: &str) {
    page.click("[data-testid=tab-files]");
    page.click("[data-testid=tree] [data-path$='price.py']");
    page.click("[data-testid=file-form] [data-value=content]");
    // The last records may come after the last change: back until the version is there.
    for _ in 0..3 {
        page.press_with(&[keys::ALT], keys::LEFT);
        std::thread::sleep(Duration::from_millis(400));
        if page.text("[data-testid=content]").contains(part) {
            break;
        }
    }
    page.wait_text("[data-testid=content]", part);
}

#[test]
fn a_claude_code_session_from_the_start_page_to_its_file_on_disk() {
    let desk = Desk::new();
    let folder = desk.work().join("shop");
    let file = desk.put("shop/price.py", THIRD);
    let log = put_claude(
        &desk,
        "5f1b2c3d",
        &claude(&folder, "Take the rate from the item"),
    );
    let before = fs::read(&log).unwrap();

    // Nothing was named: the start page lists what is on this machine.
    let page = desk.start(&[]);
    open(&page, "Take the rate from the item");
    one_change_back(&page, "item.rate");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        THIRD,
        "looking writes nothing"
    );

    // The folder was never opened: what would be written is shown, then the person is asked by the system, and the
    // least reach has the focus.
    std::thread::sleep(Duration::from_millis(600));
    page.click("[data-testid=restore-button]:not(:disabled)");
    page.click("[data-testid=restore-allow]:not(:disabled)");
    let asked = until("the question", || desk.windows("Write outside").pop());
    std::thread::sleep(Duration::from_millis(400));
    desk.xdotool(&["windowfocus", "--sync", &asked]);
    desk.xdotool(&["key", "Return"]);
    page.wait("[data-testid=restore-apply]:not(:disabled)");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        THIRD,
        "nothing before the last click"
    );
    page.click("[data-testid=restore-apply]");
    wait_bytes(&file, SECOND);
    page.click("[data-testid=toast-undo]");
    wait_bytes(&file, THIRD);
    assert_eq!(fs::read(&log).unwrap(), before, "a log is never written to");
}

#[test]
fn a_codex_session_from_the_start_page_to_its_file_on_disk() {
    let desk = Desk::new();
    let folder = desk.work().join("shop");
    let left = FIRST.replace(" * 1.19", "");
    let file = desk.put("shop/price.py", &left);
    desk.put(
        "../.codex/sessions/2026/05/11/rollout-2026-05-11T09-00-00-0196aaaa-0000-7000-8000-000000000001.jsonl",
        codex(&folder, "Prices without tax"),
    );
    let page = desk.start(&[&folder]);
    page.wait("[data-testid=library-root]");
    page.click("[data-testid=library-all]");
    open(&page, "Prices without tax");
    one_change_back(&page, "1.19");
    std::thread::sleep(Duration::from_millis(600));
    page.click("[data-testid=restore-button]:not(:disabled)");
    wait_bytes(&file, FIRST);
    page.press_with(&[keys::CONTROL], "z");
    wait_bytes(&file, &left);
}

#[test]
fn a_new_session_appears_by_itself_with_its_counts() {
    let desk = Desk::new();
    let folder = desk.work().join("shop");
    put_claude(
        &desk,
        "5f1b2c3d",
        &claude(&folder, "Take the rate from the item"),
    );
    let page = desk.start(&[]);
    page.wait_text(LIST, "Take the rate from the item");
    page.wait_text("[data-testid=logs-count]", "1 session");

    put_claude(
        &desk,
        "6f1b2c3d",
        &claude(&folder, "Now the shipping costs"),
    );
    page.wait_text(LIST, "Now the shipping costs");
    page.wait_text("[data-testid=logs-count]", "2 sessions");
    // One that nobody writes any more is counted: its one file.
    let old = fs::File::options()
        .append(true)
        .open(
            desk.work()
                .join("../.claude/projects/-work-shop/5f1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f.jsonl"),
        )
        .unwrap();
    old.set_modified(std::time::SystemTime::now() - Duration::from_secs(3600))
        .unwrap();
    page.wait(&format!("{LIST} [data-counted=true]"));

    // Searched, and opened by keys alone.
    page.click("[data-testid=logs-filter]");
    page.press("shipping");
    page.wait_text("[data-testid=logs-count]", "1 of 2 sessions");
    page.press(keys::DOWN);
    page.press(keys::ENTER);
    page.wait(PLAYHEAD);
    wait_at(
        &page,
        page.attribute(PLAYHEAD, "aria-valuemax")
            .unwrap()
            .parse()
            .unwrap(),
    );
}

/// Thousands of sessions, a hundred gigabytes by their sizes: the window is there at once and stays fluid while they
/// are looked into and counted. Prints its figures.
#[test]
#[ignore = "writes half a gigabyte; for figures"]
fn thousands_of_sessions() {
    const FILES: usize = 25;
    const NAMES: usize = 200;
    let desk = Desk::new();
    let mut bytes = 0;
    for file in 0..FILES {
        let folder = desk.work().join(format!("project-{file}"));
        let session = claude(&folder, &format!("Task {file} of many"));
        let lines: Vec<&str> = session.lines().collect();
        let mut text = session.clone();
        // Steps of a long session: the same calls under fresh ids.
        let mut round = 0;
        while text.len() < 20_000_000 {
            round += 1;
            for line in &lines[1..] {
                let line = line
                    .replace("\"u", &format!("\"r{round}u"))
                    .replace("toolu_", &format!("toolu_{round}_"));
                text += &line;
                text.push('\n');
            }
        }
        let first = desk.put(&format!("../.claude/projects/-work-project-{file}/{file:08x}-0000-4061-8071-2a3b4c5d6e7f.jsonl"), &text);
        let old = fs::File::options().append(true).open(&first).unwrap();
        old.set_modified(
            std::time::SystemTime::now() - Duration::from_secs(3600 * (file as u64 + 1)),
        )
        .unwrap();
        bytes += text.len() * NAMES;
        for name in 1..NAMES {
            fs::hard_link(
                &first,
                first.with_file_name(format!(
                    "{file:08x}-{name:04x}-4061-8071-2a3b4c5d6e7f.jsonl"
                )),
            )
            .unwrap();
        }
    }
    for start in ["first start", "second start"] {
        let begun = std::time::Instant::now();
        let page = desk.start(&[]);
        page.wait(&format!("{LIST} [data-source]"));
        println!(
            "{start}: first rows after {:?}, of {} GB in {}",
            begun.elapsed(),
            bytes / 1_000_000_000,
            FILES * NAMES
        );
        let frames = "const done = arguments[0]; const list = document.querySelector('[data-testid=logs-list]'); const all = []; let last = performance.now(), n = 0;
            const step = () => { const now = performance.now(); all.push(now - last); last = now; list.scrollTop += 400; if (++n < 240) requestAnimationFrame(step); else done(all.slice(5).sort((a, b) => a - b)) };
            requestAnimationFrame(step)";
        let frames = page.js_async(frames, &[]);
        let frames: Vec<f64> = frames
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_f64)
            .collect();
        println!(
            "{start}: while scrolling, a frame takes {:.0} ms (median), {:.0} ms (99 of 100)",
            frames[frames.len() / 2],
            frames[frames.len() * 99 / 100]
        );
        until("all titles", || {
            let said = page.text("[data-testid=logs] .busy");
            (!said.contains("titles") && !said.contains("Looking")).then_some(())
        });
        println!(
            "{start}: all titles after {:?}; {}",
            begun.elapsed(),
            page.text("[data-testid=logs-count]")
        );
        page.wait(&format!("{LIST} [data-counted=true]"));
        println!(
            "{start}: first counts after {:?}; {}",
            begun.elapsed(),
            page.text("[data-testid=logs] .busy")
        );
        // The cards are kept.
        until("the cache", || {
            desk.work()
                .join("../cache/chipdeck/library.json")
                .exists()
                .then_some(())
        });
    }
}
