//! Two sessions that disagree: the drift is marked, listed and repaired by a preview and an append, and what was done is
//! looked at as traces and in figures.

use chipdeck_e2e::{beside, keys, until, Desk, Page};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const CALLS: [&str; 3] = ["d6", "d9", "d999"];

fn pair(desk: &Desk, name: &str) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/events/pair");
    for file in ["dialog.jsonl", "exec.jsonl"] {
        desk.put(
            &format!("{name}/{file}"),
            std::fs::read(from.join(file)).unwrap(),
        );
    }
    desk.work().join(name)
}

fn lines(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log.join("dialog.jsonl")).unwrap();
    assert!(text.ends_with('\n'), "the last line has its end");
    text.lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect()
}

/// What the command appends to the same log; built here when it is not.
fn by_command(desk: &Desk, log: &Path) {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "chipdeck"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .status()
        .unwrap();
    assert!(built.success(), "the command does not build");
    let out = desk
        .command(beside("chipdeck"))
        .arg("repair")
        .arg(log)
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
}

fn untimed(mut record: Value) -> Value {
    record.as_object_mut().unwrap().remove("timestamp");
    record
}

fn at(page: &Page) -> u64 {
    let now = page.attribute("[data-testid=playhead]", "aria-valuenow");
    now.unwrap().parse().unwrap()
}

#[test]
fn a_drift_is_marked_previewed_and_settled_by_an_append() {
    let desk = Desk::new();
    let log = pair(&desk, "pair");
    let twin = pair(&desk, "twin");
    let before = ["dialog.jsonl", "exec.jsonl"].map(|it| std::fs::read(log.join(it)).unwrap());
    let page = desk.start(&[&log]);

    // The rows of the dialogue say it.
    page.click("[data-testid=tab-dialogue]");
    page.wait_text(
        "[data-testid=message-drift][data-call=d6]",
        "said ok; the execution says denied",
    );
    page.wait_text(
        "[data-testid=message-drift][data-call=d9]",
        "said error; the execution says ok",
    );
    page.wait_text(
        "[data-testid=message-drift][data-call=d999]",
        "said ok; the execution has no result",
    );

    // The list, and from a drift to what was done.
    page.click("[data-testid=tab-findings]");
    page.click("[data-testid=findings-view] [data-value=drift]");
    page.wait("[data-testid=drift-open][data-open='3']");
    page.wait_text("[data-testid=drift] h2", "the execution says denied");
    page.click("[data-testid=drift-go-call]");
    let call = at(&page);
    page.click("[data-testid=drift-go-claim]");
    until("the claim after the call", || {
        (at(&page) > call).then_some(())
    });

    // The preview shows the very lines and writes nothing; Escape leaves it.
    page.click("[data-testid=drift-repair]");
    page.wait_text(
        "[data-testid=repair-apply]",
        "Append 3 corrections to dialog.jsonl",
    );
    let shown: Vec<String> = CALLS
        .iter()
        .map(|it| page.text(&format!("[data-testid=repair-line][data-call={it}] pre")))
        .collect();
    page.press(keys::ESCAPE);
    page.wait_gone("[data-testid=repair]");
    for (name, was) in ["dialog.jsonl", "exec.jsonl"].iter().zip(&before) {
        assert_eq!(&std::fs::read(log.join(name)).unwrap(), was);
    }

    page.click("[data-testid=drift-repair]");
    page.wait("[data-testid=repair-apply]");
    page.click("[data-testid=repair-apply]");
    page.wait_text(
        "[data-testid=toast]",
        "Appended 3 corrections to dialog.jsonl",
    );
    page.wait("[data-testid=drift-open][data-open='0']");
    page.wait("[data-testid=drift-settled]");
    assert_eq!(page.count("[data-testid=drifts] [data-settled]"), 3);

    // The bytes: what was there, then the lines that were shown; as the command would have them but for the time.
    let after = std::fs::read(log.join("dialog.jsonl")).unwrap();
    assert!(after.starts_with(&before[0]));
    assert_eq!(std::fs::read(log.join("exec.jsonl")).unwrap(), before[1]);
    let appended = lines(&log).split_off(lines(&twin).len());
    let previewed = shown
        .iter()
        .map(|it| serde_json::from_str::<Value>(it).unwrap());
    for (line, shown) in appended.iter().zip(previewed) {
        assert_eq!(untimed(line.clone()), untimed(shown));
    }
    by_command(&desk, &twin);
    let same = |log: &Path| -> Vec<Value> { lines(log).into_iter().map(untimed).collect() };
    assert_eq!(same(&log), same(&twin));

    // Nothing is left in the dialogue either: the rows say who corrected them.
    page.click("[data-testid=tab-dialogue]");
    page.wait("[data-testid=message-drift][data-call=d6][data-settled]");
    assert_eq!(
        page.count("[data-testid=message-drift]:not([data-settled])"),
        0
    );
}

#[test]
fn a_log_that_changed_since_the_preview_is_not_written() {
    let desk = Desk::new();
    let log = pair(&desk, "pair");
    let page = desk.start(&[&log]);
    page.click("[data-testid=tab-findings]");
    page.click("[data-testid=findings-view] [data-value=drift]");
    page.click("[data-testid=drift-repair]");
    page.wait("[data-testid=repair-apply]");
    let mut text = std::fs::read_to_string(log.join("dialog.jsonl")).unwrap();
    text.push_str("{\"eventId\":\"d20\",\"traceId\":\"t1\",\"seq\":20,\"type\":\"message.assistant\",\"timestamp\":1764500020000,\"payload\":{\"content\":\"one more\"},\"version\":1}\n");
    std::fs::write(log.join("dialog.jsonl"), &text).unwrap();
    page.click("[data-testid=repair-apply]");
    page.wait_text(
        "[data-testid=repair-fault]",
        "dialog.jsonl is not what the preview showed",
    );
    assert_eq!(
        std::fs::read_to_string(log.join("dialog.jsonl")).unwrap(),
        text
    );
}

#[test]
fn a_diagnosis_a_trace_an_operation_and_figures() {
    let desk = Desk::new();
    let log = pair(&desk, "pair");
    let page = desk.start(&[&log]);
    page.wait("[data-testid=playhead]");

    page.click("[data-testid=tab-findings]");
    page.click("[data-testid=diagnose]");
    page.wait("[data-testid=diagnosis] [data-kind=hidden-input][data-count='0']");

    // From the inspector to the operation of a call, over both sessions.
    page.click("[data-testid=tab-tools]");
    page.click("[data-testid=tools] [data-status=denied]");
    page.press(keys::ENTER);
    page.click("[data-testid=inspector-operation]");
    page.wait("[data-testid=walk][data-kind=operation][data-id=k2]");
    let sides = page.wait_text("[data-testid=walk-sides]", "said");
    assert!(sides.contains("1 said, 2 done"), "{sides}");
    // And to its trace, where a click moves the playhead.
    page.click("[data-testid=inspector-trace]");
    page.wait("[data-testid=walk][data-kind=trace][data-id=t1]");
    page.wait("[data-testid=walk-rows] [data-depth='1'] [data-testid=walk-bar]");
    page.click("[data-testid=walk-rows] [data-at='1']");
    until("the first event", || (at(&page) == 1).then_some(()));
    page.press(keys::DOWN);
    until("the row below", || (at(&page) > 1).then_some(()));

    page.press(keys::END);
    page.click("[data-testid=tools-view] [data-value=figures]");
    page.wait("[data-testid=figures] tbody tr");
    let first = |page: &Page| page.attribute("[data-testid=figures] tbody tr", "data-tool");
    page.click("[data-testid=figures-sort][data-column=toolName]");
    let up = first(&page);
    page.click("[data-testid=figures-sort][data-column=toolName]");
    until("the other way", || (first(&page) != up).then_some(()));
}
