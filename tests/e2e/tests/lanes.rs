//! A Claude Code session with a rewind, a sub-agent and a compaction: lanes, what follows them, the model's context.

use chipdeck_e2e::{keys, Desk, Page};
use std::path::Path;

const SESSION: &str = "5e551000-0000-4000-8000-000000000001";

/// The session with its agent's file, on the deck.
fn session(desk: &Desk) -> Page {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/lanes/rewind-and-agent");
    let names = [
        format!("{SESSION}.jsonl"),
        format!("{SESSION}/subagents/agent-a1b2c3d4e5f60718.jsonl"),
        format!("{SESSION}/subagents/agent-a1b2c3d4e5f60718.meta.json"),
    ];
    for name in &names {
        desk.put(name, std::fs::read(from.join(name)).unwrap());
    }
    let page = desk.start(&[&desk.work().join(&names[0])]);
    page.wait("[data-testid=lane-pick][data-lane=all]");
    page.wait("[data-testid=lane-strip]");
    page
}

/// Scrolls the dialogue: only what is in view is in the page.
fn scroll(page: &Page, to: u32) {
    let script = "for (const e of document.querySelectorAll('[data-testid=dialogue] *')) if (e.scrollHeight > e.clientHeight + 4) e.scrollTop = arguments[0]; return 1";
    page.painted();
    page.js(script, &[to.into()]);
    page.painted();
}

fn said(page: &Page) -> String {
    page.painted();
    page.text("[data-testid=dialogue]")
}

#[test]
fn the_dialogue_and_the_steps_follow_the_lane() {
    let desk = Desk::new();
    let page = session(&desk);
    page.click("#tab-dialogue");
    // All lanes first, and which of them speaks.
    page.wait_text("[data-testid=dialogue]", "Add a farewell");
    page.wait("[data-testid=dialogue-fork][data-kind=speaks]");
    scroll(&page, 0);
    page.wait_text("[data-testid=dialogue]", "Make it loud");

    // By keyboard: the session as it was before the rewind, then the lane that goes on.
    page.press("l");
    page.wait("[data-testid=lane-pick][data-lane='0']");
    page.wait("[data-testid=dialogue-fork][data-kind=rewound][data-lane='1']");
    assert!(said(&page).contains("It is loud now.") && !said(&page).contains("Add a farewell"));
    page.press("l");
    page.wait("[data-testid=lane-bar][data-lane='1']");
    page.wait_text("[data-testid=dialogue]", "Add a farewell");
    scroll(&page, 0);
    page.wait("[data-testid=dialogue-fork][data-kind=left][data-lane='0']");
    page.wait_text(
        "[data-testid=dialogue-fork][data-kind=left]",
        "Rewound here: 2 messages",
    );
    assert!(!said(&page).contains("Make it loud"));
    scroll(&page, 260);

    // Into the agent, where its result stands, and back to where it comes from.
    page.click("[data-testid=dialogue-fork][data-kind='sub-agent'] button");
    page.wait("[data-testid=lane-bar][data-lane='2']");
    page.wait_text("[data-testid=dialogue]", "There are none");
    assert_eq!(page.count("[data-testid=message][data-role=user]"), 1);
    // A step is one of the agent's own.
    page.press(keys::LEFT);
    page.press_with(&[keys::SHIFT], keys::LEFT);
    let at = |page: &Page| page.attribute("[data-testid=playhead]", "aria-valuenow");
    let call = chipdeck_e2e::until("the call", || {
        let now = at(&page)?.parse::<u64>().ok()?;
        (page.text("[data-testid=inspector]").contains("Grep")).then_some(now)
    });
    page.press_with(&[keys::SHIFT], keys::LEFT);
    page.wait("[data-testid=toast]");
    assert_eq!(at(&page).unwrap().parse::<u64>().unwrap(), call);
    page.click("[data-testid=lane-parent]");
    page.wait("[data-testid=lane-bar][data-lane='1']");
    page.press("L");
    page.wait("[data-testid=lane-pick][data-lane='0']");
    page.press("L");
    page.wait("[data-testid=lane-pick][data-lane=all]");
    page.wait_gone("[data-testid=lane-bar]");
}

#[test]
fn the_context_says_what_a_compaction_dropped() {
    let desk = Desk::new();
    let page = session(&desk);
    page.click("#tab-context");
    page.wait_text("[data-testid=context-fill]", "447");
    page.wait_text("[data-testid=context-model]", "claude-sonnet-4-5");
    let total = page.wait_text("[data-testid=context-figures] [data-row=total]", "144");
    assert!(total.contains("4,880"), "{total}");
    page.wait_text("[data-testid=context-rows]", "greets politely");
    assert!(!page
        .text("[data-testid=context-rows]")
        .contains("Make it polite instead"));
    page.click("[data-testid=context-part] [data-value=dropped]");
    page.wait("[data-testid=context-rows][data-part=dropped]");
    page.wait_text("[data-testid=context-rows]", "Make it polite instead");
    let told = page.text("[data-testid=context-compaction]");
    assert!(told.contains("1,331 tokens before"), "{told}");
    // Before the compaction nothing was dropped: the summary is not there yet.
    page.press(keys::HOME);
    page.wait("[data-testid=context-none]");
}
