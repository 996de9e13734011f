//! A what-if from end to end: an event is left out, the two ends differ, every view works on the branch, and it is saved
//! as a new log through the native dialogue, equal to what the command writes; nothing of the original is touched.

use crate::deck::{opened, wait_diff};
use crate::logs::shop;
use chipdeck_e2e::{beside, save_as, until, Desk, Page};
use std::path::Path;
use std::process::Command;

/// What the command makes of the same edit; built here when it is not.
fn by_command(desk: &Desk, log: &Path, event: &str) -> Vec<u8> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "chipdeck"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .status()
        .unwrap();
    assert!(built.success(), "the command does not build");
    let out = desk.work().join("by-command.jsonl");
    let ran = desk
        .command(beside("chipdeck"))
        .arg("branch")
        .arg(log)
        .args(["--skip", event, "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    std::fs::read(out).unwrap()
}

fn shown(page: &Page, title: &str) {
    page.wait_text("[data-testid=branch-pick]", title);
}

#[test]
fn an_event_is_left_out_looked_at_and_saved() {
    let desk = Desk::new();
    let log = shop();
    let log_file = desk.put("shop.jsonl", log.text());
    let page = desk.start(&[&log_file]);
    opened(&page, &log);
    let end = log.count() as u64;

    // The last event overwrote the file; without it, the change before it stays.
    page.click("[data-testid=inspector-whatif]");
    page.click("[data-testid=whatif-skip]");
    page.wait_text("[data-testid=whatif-strip]", "1 change");
    let at = page.attribute("[data-testid=whatif-lane]", "data-divergence");
    assert_eq!(at, Some(end.to_string()));

    page.click("[data-testid=whatif-differences]");
    page.wait_text("[data-testid=differences-first]", &format!("event {end}"));
    page.wait_text("[data-testid=differences-list]", "price.py");
    wait_diff(&page, &[('-', "return item.net"), ('+', "item.rate")]);

    // Every view works on the branch.
    page.click("[data-testid=branch-pick]");
    page.click("[data-testid=branch-1]");
    shown(&page, "shop + ");
    page.wait_text("[data-testid=transport-count]", &(end - 1).to_string());
    page.click("#tab-files");
    page.wait_text("[data-testid=stage]", "item.rate");
    page.click("[data-testid=branch-pick]");
    page.click("[data-testid=branch-0]");
    shown(&page, "recorded");
    page.wait_text("[data-testid=transport-count]", &end.to_string());

    // Saved by the native dialogue.
    page.click("[data-testid=whatif-save]");
    let saved = desk.work().join("otherwise.jsonl");
    save_as(&desk, "Export to a new file", &saved);
    page.wait_text("[data-testid=toast]", "otherwise.jsonl");
    let bytes = until("the branch", || std::fs::read(&saved).ok());
    let event = log.text().lines().last().map(|line| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["eventId"].as_str().unwrap().to_owned()
    });
    assert_eq!(bytes, by_command(&desk, &log_file, &event.unwrap()));
    assert_eq!(std::fs::read_to_string(&log_file).unwrap(), log.text());

    // Taken back, the branch is gone.
    page.click("[data-testid=whatif-remove-0]");
    page.wait_gone("[data-testid=whatif-strip]");
    page.wait_gone("[data-testid=whatif-lane]");
    page.wait_gone("[data-testid=branch-pick]");
}
