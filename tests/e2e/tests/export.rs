//! A part of a log is exported by keys: reviewed, named in the native dialogue, and it opens with the same states.

use crate::deck::{opened, wait_at};
use crate::logs::shop;
use chipdeck_e2e::{beside, keys, save_as, until, Desk};
use serde_json::Value;
use std::path::Path;

fn state(desk: &Desk, log: &Path, at: &str) -> Value {
    let mut command = desk.command(beside("chipdeck"));
    let ran = command
        .arg("state")
        .arg(log)
        .args(["--at", at])
        .output()
        .unwrap();
    let mut state: Value = serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)));
    state["at"] = Value::Null;
    state
}

#[test]
fn a_part_between_two_points_is_exported_and_opens() {
    let desk = Desk::new();
    let key = ["AKIA", "QRSTUVWX2345ABCD"].concat();
    let log = shop().says(&format!("the key is {key}"));
    let log_file = desk.put("shop.jsonl", log.text());
    let page = desk.start(&[&log_file]);
    opened(&page, &log);
    let end = log.count() as u64;

    page.press("]");
    page.press(&keys::LEFT.repeat(3));
    wait_at(&page, end - 3);
    page.press("[");
    page.press_with(&[keys::CONTROL], "e");
    page.wait("[data-testid=export]");
    let places = page.wait_text("[data-testid=export-places]", "aws-access-token");
    assert!(places.contains("the key is •••"), "{places}");
    assert!(!places.contains(&key), "{places}");
    page.click("[data-testid=export-go]");
    let part = desk.work().join("part.jsonl");
    save_as(&desk, "Export to a new file", &part);
    page.wait_text("[data-testid=toast]", "part.jsonl");
    page.wait_gone("[data-testid=export]");

    let text = until("the part", || std::fs::read_to_string(&part).ok());
    assert_eq!(text.lines().count(), 4);
    assert!(text.starts_with('{') && text.contains("state.snapshot"));
    assert!(text.contains("[masked:aws-access-token:1]") && !text.contains(&key));
    // The states before the masked message are the log's.
    for (alone, whole) in [("1", end - 3), ("2", end - 2), ("3", end - 1)] {
        assert_eq!(
            state(&desk, &part, alone),
            state(&desk, &log_file, &whole.to_string())
        );
    }
    assert_eq!(std::fs::read_to_string(&log_file).unwrap(), log.text());
}
