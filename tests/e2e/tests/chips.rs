//! Chips, live from the folder.

use chipdeck_e2e::{until, Desk};
use std::fs;
use std::time::Instant;

pub fn chip(id: &str, content: &str, created: i64) -> String {
    let content = serde_json::Value::from(content).to_string();
    format!("{{\n  \"id\": \"{id}\",\n  \"tool\": \"be-delete\",\n  \"args\": {{\n    \"_content\": {content}\n  }},\n  \"created_at\": {created}\n}}")
}

fn row(id: &str) -> String {
    format!("[data-testid=chips] [data-chip][data-id='{id}']")
}

#[test]
fn a_chip_appears_on_disk_and_then_in_the_list() {
    let desk = Desk::new();
    fs::create_dir_all(desk.chips()).unwrap();
    fs::write(
        desk.chips().join("chip-aaa111.json"),
        chip("aaa111", "first = 1\n", 1_764_500_000),
    )
    .unwrap();
    let page = desk.start(&[]);
    page.wait(&row("aaa111"));

    // Half of it first, as the server may be caught; it is being written, not damaged.
    let late = chip("bbb222", "second = 2\n", 1_764_500_100);
    let file = desk.chips().join("chip-bbb222.json");
    fs::write(&file, &late[..late.len() / 2]).unwrap();
    page.wait("[data-testid=chips] [data-state=writing]");
    assert_eq!(
        page.count("[data-testid=chips] [data-state=damaged]"),
        0,
        "it is being written"
    );
    let whole = Instant::now();
    fs::write(&file, &late).unwrap();
    page.wait(&row("bbb222"));
    println!(
        "a chip is on screen {:?} after it is whole",
        whole.elapsed()
    );
    page.wait_text("[data-testid=library-chips]", "2");

    // Evicted: it stays in the list.
    fs::remove_file(desk.chips().join("chip-aaa111.json")).unwrap();
    until("aaa111 to be shown as evicted", || {
        (page.attribute(&row("aaa111"), "data-state").as_deref() == Some("evicted")).then_some(())
    });
    page.click(&row("aaa111"));
    page.click("[data-testid=revive]");
    until("the file to be back", || {
        desk.chips().join("chip-aaa111.json").exists().then_some(())
    });
}

#[test]
fn a_folder_that_comes_later_is_watched() {
    let desk = Desk::new();
    let page = desk.start(&[]);
    page.wait("#app > *");
    fs::create_dir_all(desk.chips()).unwrap();
    fs::write(
        desk.chips().join("chip-ccc333.json"),
        chip("ccc333", "x\n", 1_764_500_000),
    )
    .unwrap();
    page.click("[data-testid=library-chips]");
    page.wait(&row("ccc333"));
}
