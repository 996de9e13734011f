//! Without a mouse: open, scrub, pick a file, restore, undo.

use crate::deck::{opened, wait_at};
use crate::logs::{shop, SECOND, THIRD};
use crate::restore::wait_bytes;
use chipdeck_e2e::{choose, keys, Desk, Page};

/// Tab until what has the focus matches.
fn tab_to(page: &Page, css: &str) {
    for _ in 0..120 {
        let there = page.js(
            "return document.activeElement?.matches(arguments[0]) ?? false",
            &[css.into()],
        );
        if there == true {
            return;
        }
        page.press(keys::TAB);
    }
    panic!("Tab never comes to {css}");
}

#[test]
fn everything_by_keyboard_alone() {
    let desk = Desk::new();
    let log = shop().creates("shop/other.py", "other = 1\n");
    let file = desk.put("project/shop/price.py", THIRD);
    desk.put("project/shop/other.py", "other = 1\n");
    let log_file = desk.put("shop.jsonl", log.text());
    let page = desk.start(&[&desk.work().join("project")]);
    page.wait("[data-testid=library-root]");

    // Open.
    page.press_with(&[keys::CONTROL], "o");
    choose(&desk, "Open logs", &log_file);
    opened(&page, &log);

    // Scrub.
    page.press(&keys::LEFT.repeat(2));
    wait_at(&page, 6);

    // Pick the file in the tree: it shows the one touched; the arrows move.
    tab_to(&page, "[data-testid=tree]");
    page.press(keys::UP);
    page.press(keys::DOWN);
    page.wait("[data-testid=file-head][data-path='shop/price.py']");

    // Restore.
    tab_to(&page, "[data-testid=restore-button]");
    page.press(keys::ENTER);
    wait_bytes(&file, SECOND);

    // Undo.
    page.press_with(&[keys::CONTROL], "z");
    wait_bytes(&file, THIRD);
}
