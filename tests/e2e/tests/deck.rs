//! Scrubbing: by mouse and keys, the tree, the content and the diff follow.

use crate::logs::{shop, Log};
use chipdeck_e2e::{keys, until, Desk, Page};
use serde_json::json;
use std::path::Path;

pub const PLAYHEAD: &str = "[data-testid=playhead]";

/// The position that the playhead stands on.
pub fn at(page: &Page) -> u64 {
    page.attribute(PLAYHEAD, "aria-valuenow")
        .and_then(|v| v.parse().ok())
        .unwrap_or(0)
}

pub fn wait_at(page: &Page, position: u64) {
    let mut last = 0;
    let start = std::time::Instant::now();
    while start.elapsed() < std::time::Duration::from_secs(15) {
        last = at(page);
        if last == position {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("the playhead stands on {last}, not on {position}");
}

/// Waits until the log is open and read to its end.
pub fn opened(page: &Page, log: &Log) {
    page.wait(PLAYHEAD);
    wait_at(page, log.count() as u64);
    let count = log.count().to_string();
    page.wait_text("[data-testid=transport-count]", &count);
}

/// The rows of the shown diff as `+text`, `-text`, ` text`.
pub fn diff(page: &Page) -> Vec<String> {
    let script =
        "return [...document.querySelectorAll('[data-testid=stage] [data-kind]')].map(row => {
        const sign = {add: '+', del: '-', same: ' '}[row.dataset.kind] ?? '?';
        return sign + (row.querySelector('.src, .code__text, [data-text]') ?? row).textContent })";
    let rows = page.js(script, &[]);
    rows.as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_str().unwrap().to_owned())
        .collect()
}

pub fn wait_diff(page: &Page, has: &[(char, &str)]) {
    let mut last = Vec::new();
    let start = std::time::Instant::now();
    while start.elapsed() < std::time::Duration::from_secs(15) {
        last = diff(page);
        if has.iter().all(|(sign, text)| {
            last.iter()
                .any(|row| row.starts_with(*sign) && row.contains(text))
        }) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("the diff has not {has:?} but {last:#?}");
}

fn open(desk: &Desk) -> (Page, Log) {
    let log = shop();
    let file = desk.put("shop.jsonl", log.text());
    let page = desk.start(&[&file]);
    opened(&page, &log);
    (page, log)
}

#[test]
fn keys_move_the_playhead_and_everything_follows() {
    let desk = Desk::new();
    let (page, _) = open(&desk);
    page.wait("[data-testid=tree] [data-path='shop/price.py']");
    wait_diff(
        &page,
        &[
            ('-', "return item.net * item.rate"),
            ('+', "return item.net"),
        ],
    );

    page.press(keys::HOME);
    wait_at(&page, 0);
    page.wait_gone("[data-testid=tree] [data-path='shop/price.py']");

    page.press(&keys::RIGHT.repeat(3));
    wait_at(&page, 3);
    page.wait("[data-testid=tree] [data-path='shop/price.py']");
    wait_diff(&page, &[('+', "return item.net * 1.19")]);

    page.press(&keys::RIGHT.repeat(2));
    wait_at(&page, 5);
    wait_diff(
        &page,
        &[
            ('-', "return item.net * 1.19"),
            ('+', "return item.net * item.rate"),
        ],
    );

    // One change of the selected file back, and on to the last.
    page.press_with(&[keys::ALT], keys::LEFT);
    wait_at(&page, 3);
    page.press(keys::END);
    wait_at(&page, 7);
    page.click("[data-testid=file-form] [data-value=content]");
    page.wait_text("[data-testid=content]", "return item.net");
    // In the row of forms the arrows choose a form; anywhere else they step.
    page.click("[data-testid=content]");
    page.press(keys::LEFT);
    wait_at(&page, 6);
    page.wait_text("[data-testid=content]", "item.rate");
}

#[test]
fn the_mouse_drags_the_playhead_along() {
    let desk = Desk::new();
    let (page, log) = open(&desk);
    let [x, y, width, height] = page.place(PLAYHEAD);
    let (middle, y) = (x + width * 0.5, y + height * 0.6);
    page.drag(&[(x + width - 30.0, y), (x + width * 0.8, y), (middle, y)]);
    let half_way = until("the playhead to follow", || {
        let now = at(&page);
        (now > 0 && now < log.count() as u64).then_some(now)
    });
    assert!((2..=5).contains(&half_way), "{half_way}");
    page.drag(&[(middle, y), (x + 4.0, y)]);
    until("the start", || (at(&page) <= 1).then_some(()));
    page.drag(&[(x + 4.0, y), (middle, y), (x + width - 4.0, y)]);
    wait_at(&page, log.count() as u64);
    wait_diff(&page, &[('+', "return item.net")]);
}

#[test]
fn a_growing_log_is_followed() {
    use std::io::Write;
    let desk = Desk::new();
    let (page, log) = open(&desk);
    let longer = log.event(
        "file.create",
        json!({"path": "shop/late.py", "content": "late = True\n"}),
    );
    let line = longer.text().lines().last().unwrap().to_owned();
    let file = desk.work().join("shop.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
    // Torn first: held back, not damaged.
    let (one, two) = line.split_at(line.len() / 2);
    file.write_all(one.as_bytes()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(at(&page), 7);
    file.write_all(two.as_bytes()).unwrap();
    file.write_all(b"\n").unwrap();
    wait_at(&page, 8);
    page.wait("[data-testid=tree] [data-path='shop/late.py']");
}

/// Nothing that the page draws breaks its own content policy: no inline style, no foreign picture.
#[test]
fn the_page_keeps_its_own_policy() {
    let desk = Desk::new();
    let (page, _) = open(&desk);
    page.js("window.broken = []; addEventListener('securitypolicyviolation', e => window.broken.push(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample))", &[]);
    for tab in ["dialogue", "tools", "chips", "findings", "files"] {
        page.click(&format!("[data-testid=tab-{tab}]"));
        page.painted();
    }
    page.press(keys::HOME);
    page.press("?");
    page.painted();
    page.press(keys::ESCAPE);
    page.press_with(&[keys::CONTROL], "k");
    page.painted();
    page.press(keys::ESCAPE);
    page.press_with(&[keys::CONTROL], ",");
    page.painted();
    assert_eq!(page.js("return window.broken", &[]), json!([]));
}

#[test]
fn shared_logs_open_and_scrub() {
    let Some(events) = chipdeck_e2e::shared_fixtures("events") else {
        return;
    };
    let desk = Desk::new();
    for name in ["damaged.jsonl", "pair", "blobs.jsonl"] {
        let page = desk.start(&[&events.join(name) as &Path]);
        page.wait(PLAYHEAD);
        until(name, || (at(&page) > 0).then_some(()));
        page.press(&keys::LEFT.repeat(3));
        page.press(keys::HOME);
        wait_at(&page, 0);
        page.click("[data-testid=tab-findings]");
        page.wait("[data-testid=stage]");
    }
}
