//! What goes wrong between a log and a disk: conflicts, a log that is cut, replaced or taken away, a deleted piece of
//! a file, one hunk of many.

use crate::chips::chip;
use crate::deck::{at, opened, wait_at, PLAYHEAD};
use crate::logs::{shop, Log, FIRST, SECOND, THIRD};
use crate::restore::{project, wait_bytes};
use chipdeck_e2e::{keys, until, Desk, Page};
use std::fs;
use std::path::Path;
use std::time::Duration;

fn restore(page: &Page) {
    std::thread::sleep(Duration::from_millis(600));
    page.click("[data-testid=restore-button]:not(:disabled)");
}

#[test]
fn a_conflict_is_settled_in_the_window_and_nothing_written_before() {
    let desk = Desk::new();
    let (page, file) = project(&desk);
    // The disk and the log both changed the same line.
    let ours = THIRD.replace("return item.net", "return item.net + item.fee");
    fs::write(&file, &ours).unwrap();
    page.press(keys::LEFT);
    wait_at(&page, 6);
    restore(&page);
    page.wait("[data-testid=restore-dialog] [data-testid=settle-theirs]");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        ours,
        "nothing before it is settled"
    );
    // The last button is no way out while a place is open.
    assert!(!page.there("[data-testid=restore-apply]:not(:disabled):not([aria-disabled=true])"));
    page.click("[data-testid=settle-theirs]");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        ours,
        "settled is not written"
    );
    page.click("[data-testid=restore-apply]:not(:disabled):not([aria-disabled=true])");
    wait_bytes(&file, SECOND);
    page.click("[data-testid=toast-undo]");
    wait_bytes(&file, &ours);
}

#[test]
fn a_conflict_may_be_left_alone() {
    let desk = Desk::new();
    let (page, file) = project(&desk);
    let ours = THIRD.replace("return item.net", "return item.net + item.fee");
    fs::write(&file, &ours).unwrap();
    page.press(keys::LEFT);
    wait_at(&page, 6);
    restore(&page);
    page.wait("[data-testid=restore-dialog] [data-testid=settle-ours]");
    page.press(keys::ESCAPE);
    page.wait_gone("[data-testid=restore-dialog]");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(fs::read_to_string(&file).unwrap(), ours);
}

/// The window says what happened, what was read stays, and the place can be left and come back to.
fn survives(what: &str, hurt: impl Fn(&Path)) {
    let desk = Desk::new();
    let log = shop();
    let file = desk.put("shop.jsonl", log.text());
    let page = desk.start(&[&file]);
    opened(&page, &log);
    hurt(&file);
    page.wait_text("[data-testid=live-status]", what);
    page.press(&keys::LEFT.repeat(3));
    wait_at(&page, 4);
    page.wait("[data-testid=tree] [data-path='shop/price.py']");
    page.click("[data-testid=file-form] [data-value=content]");
    page.press(keys::HOME);
    wait_at(&page, 0);
    page.press(keys::END);
    wait_at(&page, 7);
    assert_eq!(at(&page), 7);
}

#[test]
fn a_log_that_is_cut_is_survived_and_said() {
    survives("File was cut", |file| {
        let text = fs::read_to_string(file).unwrap();
        fs::File::options()
            .write(true)
            .open(file)
            .unwrap()
            .set_len(text.len() as u64 / 2)
            .unwrap();
    });
}

#[test]
fn a_log_that_is_replaced_is_survived_and_said() {
    survives("File was replaced", |file| {
        let other = file.with_extension("new");
        fs::write(&other, Log::new().says("Another log.").text()).unwrap();
        fs::rename(other, file).unwrap();
    });
}

#[test]
fn a_log_that_is_taken_away_is_survived_and_said() {
    survives("File was deleted", |file| fs::remove_file(file).unwrap());
}

#[test]
fn a_deleted_piece_goes_back_to_where_the_log_shows_it_was() {
    let desk = Desk::new();
    const PIECE: &str = "def total(items):\n    return sum(price(i) for i in items)\n";
    let rest = FIRST.replace(PIECE, "");
    let log = Log::new()
        .says("A file for prices.")
        .creates("shop/price.py", FIRST)
        .changes("shop/price.py", PIECE, "");
    let file = desk.put("project/shop/price.py", &rest);
    let root = desk.work().join("project");
    let log_file = desk.put("shop.jsonl", log.text());
    fs::create_dir_all(desk.chips()).unwrap();
    fs::write(
        desk.chips().join("chip-ddd444.json"),
        chip("ddd444", PIECE, 1_764_500_006),
    )
    .unwrap();
    let page = desk.start(&[&root, &log_file]);
    opened(&page, &log);
    page.click("[data-testid=library-chips]");
    if page.there("[data-testid=chips-where] [data-value=folder]") {
        page.click("[data-testid=chips-where] [data-value=folder]");
    }
    page.click("[data-testid=chips] [data-chip][data-id='ddd444']");
    page.wait_text("[data-testid=chip-restore-button]", "price.py");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        rest,
        "a preview writes nothing"
    );
    std::thread::sleep(Duration::from_millis(600));
    page.click("[data-testid=chip-restore-button]:not(:disabled)");
    wait_bytes(&file, FIRST);
    page.click("[data-testid=toast-undo]");
    wait_bytes(&file, &rest);
    assert!(
        desk.chips().join("chip-ddd444.json").exists(),
        "the chip stays with its server"
    );
}

#[test]
fn one_hunk_of_two_goes_back() {
    let desk = Desk::new();
    let lines = |first: &str, last: &str| {
        let middle: String = (0..40).map(|n| format!("line {n}\n")).collect();
        format!("{first}\n{middle}{last}\n")
    };
    let (old, new) = (lines("head = 1", "tail = 1"), lines("head = 2", "tail = 2"));
    let log = Log::new()
        .creates("shop/long.py", &old)
        .writes("shop/long.py", &new);
    let file = desk.put("project/shop/long.py", &new);
    let root = desk.work().join("project");
    let log_file = desk.put("shop.jsonl", log.text());
    let page = desk.start(&[&root, &log_file]);
    opened(&page, &log);
    page.click("[data-testid=tree] [data-path='shop/long.py']");
    until("both hunks", || {
        (page.count("[data-testid=hunk]") == 2).then_some(())
    });
    // The first hunk's button: what is put back is what the change took away.
    page.wait("[data-testid=restore-hunk]");
    std::thread::sleep(Duration::from_millis(600));
    page.click("[data-testid=restore-hunk]");
    until("one hunk to be written", || {
        if page.there("[data-testid=restore-apply]:not(:disabled)") {
            page.click("[data-testid=restore-apply]");
        }
        let now = fs::read_to_string(&file).ok()?;
        (now != new).then_some(())
    });
    wait_bytes(&file, &lines("head = 1", "tail = 2"));
    page.press_with(&[keys::CONTROL], "z");
    wait_bytes(&file, &new);
    assert!(page.there(PLAYHEAD));
}
