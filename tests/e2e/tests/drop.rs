//! A real drag of real files between two windows.

use crate::deck::{opened, wait_diff};
use crate::logs::shop;
use chipdeck_e2e::{drag_onto, Desk};

#[test]
fn a_dropped_log_opens() {
    let desk = Desk::new();
    let log = shop();
    let file = desk.put("a log é 日志.jsonl", log.text());
    let page = desk.start(&[]);
    page.wait("#app > *");
    page.painted();
    drag_onto(&desk, &[&file], (500, 350), || {
        let said = page.wait_text("[data-testid=drop-zone]", "a log é 日志.jsonl");
        assert!(said.contains("7") || said.contains("timeline"), "{said}");
    });
    opened(&page, &log);
    page.wait_gone("[data-testid=drop-zone]");
    wait_diff(&page, &[('+', "return item.net")]);
    // A dropped file gives no root: nothing may be written.
    assert_eq!(page.count("[data-testid=library-root]"), 0);
}

#[test]
fn a_dropped_folder_becomes_a_root_and_what_is_not_understood_is_said() {
    let desk = Desk::new();
    desk.put("shop/shop/price.py", "x\n");
    let picture = desk.put("picture.bin", [0u8, 159, 146, 150]);
    let folder = desk.work().join("shop");
    let page = desk.start(&[]);
    page.wait("#app > *");
    page.painted();
    drag_onto(&desk, &[&folder, &picture], (500, 350), || {
        page.wait_text("[data-testid=drop-zone]", "picture.bin");
    });
    page.wait_text("[data-testid=library-root]", "shop");
    page.wait_text("[data-testid=drop-refused]", "picture.bin");
}
