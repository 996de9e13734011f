//! One click writes, one click takes it back.

use crate::deck::{opened, wait_at};
use crate::logs::{shop, FIRST, SECOND, THIRD};
use chipdeck_e2e::{choose, keys, until, Desk, Page};
use std::fs;
use std::path::{Path, PathBuf};

/// The project as the log left it, opened by argument as a root, and its log.
pub fn project(desk: &Desk) -> (Page, PathBuf) {
    let log = shop();
    let file = desk.put("project/shop/price.py", THIRD);
    let root = desk.work().join("project");
    let log_file = desk.put("shop.jsonl", log.text());
    let page = desk.start(&[&root, &log_file]);
    opened(&page, &log);
    page.wait("[data-testid=library-root]");
    (page, file)
}

pub fn wait_bytes(file: &Path, content: &str) {
    until(&format!("{} to hold {content:?}", file.display()), || {
        (fs::read_to_string(file).ok().as_deref() == Some(content)).then_some(())
    });
}

/// Clicks *Restore* once the preview for this place is there; before, a click would only open the preview.
fn restore(page: &Page) {
    std::thread::sleep(std::time::Duration::from_millis(600));
    page.wait("[data-testid=restore-button]:not(:disabled)");
    page.click("[data-testid=restore-button]");
}

#[test]
fn restore_writes_the_bytes_and_undo_takes_them_back() {
    let desk = Desk::new();
    let (page, file) = project(&desk);
    page.press(&keys::LEFT.repeat(2));
    wait_at(&page, 5);
    page.wait_text("[data-testid=restore-button]", "price.py");
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        THIRD,
        "a preview writes nothing"
    );
    restore(&page);
    wait_bytes(&file, SECOND);
    page.wait_text("[data-testid=toast]", "price.py");
    page.click("[data-testid=toast-undo]");
    wait_bytes(&file, THIRD);

    // The history has both, and an undo of the undo.
    page.click("[data-testid=library-history]");
    until("both in the history", || {
        (page.count("[data-testid=history] [data-restore]") == 2).then_some(())
    });
}

#[test]
fn when_the_disk_has_moved_on_it_is_merged() {
    let desk = Desk::new();
    let (page, file) = project(&desk);
    let edited = format!("# prices without tax\n{THIRD}");
    fs::write(&file, &edited).unwrap();
    page.press(keys::LEFT);
    wait_at(&page, 6);
    restore(&page);
    wait_bytes(&file, &format!("# prices without tax\n{SECOND}"));
    page.press_with(&[keys::CONTROL], "z");
    wait_bytes(&file, &edited);
}

#[test]
fn outside_the_opened_folders_a_native_dialogue_asks() {
    let desk = Desk::new();
    let log = shop();
    // The log says that it was made here, so its paths are real; nobody has opened the folder.
    let here = desk.work().join("elsewhere");
    let text = log
        .text()
        .replace(crate::logs::CWD, here.to_str().unwrap())
        .replace(
            "\"shop/price.py\"",
            &format!("\"{}/shop/price.py\"", here.display()),
        );
    let file = desk.put("elsewhere/shop/price.py", THIRD);
    let log_file = desk.put("shop.jsonl", text);
    let page = desk.start(&[&log_file]);
    opened(&page, &log);
    page.press(&keys::LEFT.repeat(2));
    wait_at(&page, 5);

    // What would be written is on screen before the system asks.
    restore(&page);
    page.wait("[data-testid=restore-dialog] [data-testid=plan-diff] .l--a");
    page.click("[data-testid=restore-allow]");

    // Escape: nothing is allowed, nothing written.
    let asked = until("the dialogue", || desk.windows("Write outside").pop());
    std::thread::sleep(std::time::Duration::from_millis(400));
    desk.xdotool(&["windowfocus", "--sync", &asked]);
    desk.xdotool(&["key", "Escape"]);
    until("the dialogue to close", || {
        desk.windows("Write outside").is_empty().then_some(())
    });
    assert_eq!(fs::read_to_string(&file).unwrap(), THIRD);

    // Return: the button with the focus, which is the one with the least reach. Then the file itself is compared.
    page.click("[data-testid=restore-allow]:not(:disabled)");
    let asked = until("the dialogue again", || desk.windows("Write outside").pop());
    std::thread::sleep(std::time::Duration::from_millis(400));
    desk.xdotool(&["windowfocus", "--sync", &asked]);
    desk.xdotool(&["key", "Return"]);
    page.wait("[data-testid=restore-apply]:not(:disabled)");
    assert_eq!(fs::read_to_string(&file).unwrap(), THIRD);
    page.click("[data-testid=restore-apply]");
    wait_bytes(&file, SECOND);
    page.wait_text("[data-testid=library-root]", "price.py");
    assert_eq!(page.count("[data-testid=library-root]"), 1);
    assert_ne!(FIRST, SECOND);
}

#[test]
fn a_folder_is_opened_by_the_native_chooser() {
    let desk = Desk::new();
    let log = shop();
    let file = desk.put("project/shop/price.py", THIRD);
    // Two folders in it: the chooser would complete a single one.
    desk.put("project/web/index.html", "");
    let log_file = desk.put("shop.jsonl", log.text());
    let page = desk.start(&[&log_file]);
    opened(&page, &log);
    page.press_with(&[keys::CONTROL, keys::SHIFT], "o");
    choose(&desk, "Open a folder", &desk.work().join("project"));
    page.wait_text("[data-testid=library-root]", "project");
    page.press(keys::LEFT);
    wait_at(&page, 6);
    restore(&page);
    wait_bytes(&file, SECOND);
}
