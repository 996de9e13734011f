//! Restores through the request table: a second click, an undo of an undo, files that the log itself has deleted, chips
//! whose text is there already, homes that are no roots.

use crate::engine_deck::{log_text, Deck};
use crate::engine_restore::{id, Story};
use chipdeck_engine::api::*;
use serde_json::json;

#[test]
fn a_second_click_is_told_the_same() {
    let story = Story::new();
    let plan = story.plan(story.file(2));
    let first = story.apply(&plan);
    let after = story.disk("src/a.txt");
    let second = story.apply(&plan);
    assert_eq!(first, second);
    assert_eq!(story.disk("src/a.txt"), after);
    let history = story.deck.ask(Request::History {
        offset: 0,
        limit: 10,
    });
    assert_eq!(history["total"], 1);
    // Two at the same moment.
    story.deck.ask(Request::Undo { restore: None });
    let plan = story.plan(story.file(2));
    let (engine, request) = (&story.deck.engine, Request::Apply { plan: id(&plan) });
    let click = || serde_json::to_value(engine.handle(request.clone()).unwrap()).unwrap();
    let (one, other) = std::thread::scope(|threads| {
        let run = || threads.spawn(click);
        let (one, other) = (run(), run());
        (one.join().unwrap(), other.join().unwrap())
    });
    assert_eq!(one, other);
    // Once it is taken back, the old answer is no longer true.
    let undone = story.deck.ask(Request::Undo { restore: None });
    assert!(
        undone["summary"].as_str().unwrap().starts_with("Took back"),
        "{undone}"
    );
    let refused = story.deck.refused(Request::Apply { plan: id(&plan) });
    assert_eq!(refused.code, "not-found");
    let again = undone["restore"].as_str().unwrap().to_owned();
    let again = story.deck.ask(Request::Undo {
        restore: Some(again),
    });
    assert!(
        again["summary"]
            .as_str()
            .unwrap()
            .starts_with("Restored again"),
        "{again}"
    );
    let last = story.deck.ask(Request::Undo { restore: None });
    assert_eq!(
        last["undoOf"], one["restore"],
        "the one that was brought back is the newest that stands"
    );
}

#[test]
fn what_the_log_itself_deleted_is_no_surprise_and_can_be_had_as_it_was_before() {
    let story = Story::new();
    let b = |at| RestoreWhat::File {
        log: story.log.clone(),
        path: "b.txt".into(),
        at,
    };
    let end = story.plan(b(9));
    assert_eq!(end["nothing"], true);
    let before = end["beforeDeletion"].as_u64().unwrap();
    assert_eq!(before, 5);
    let plan = story.plan(b(before));
    assert_eq!(plan["beforeDeletion"], serde_json::Value::Null);
    assert_eq!(plan["warnings"], json!([]), "{plan}");
    story.apply(&plan);
    assert_eq!(story.disk("b.txt").as_deref(), Some("b\n"));
    assert_eq!(
        story.plan(story.file(2))["beforeDeletion"],
        serde_json::Value::Null
    );
}

#[test]
fn one_change_of_a_file_that_the_log_deletes_later() {
    let deck = Deck::new();
    let project = deck.path("project/x").parent().unwrap().to_owned();
    let log = deck.open(&deck.write(
        "log.jsonl",
        log_text(&[
            ("session.start", json!({ "cwd": project.to_str().unwrap() })),
            (
                "file.create",
                json!({"path": "a.txt", "content": "one\ntwo\n"}),
            ),
            (
                "file.change",
                json!({"path": "a.txt", "edits": [{"old": "two", "new": "2"}]}),
            ),
            ("file.delete", json!({"path": "a.txt"})),
        ]),
    ));
    deck.write("project/other", "");
    deck.engine.open_paths(
        std::slice::from_ref(&project),
        chipdeck_engine::Origin::Drop,
    );
    let what = RestoreWhat::UndoChange {
        log: log.clone(),
        path: "a.txt".into(),
        index: 3,
    };
    let plan = deck.ask(Request::PlanRestore { what });
    assert_eq!(plan["warnings"], json!([]), "{plan}");
    assert_eq!(plan["steps"][0]["action"], "create");
}

#[test]
fn a_log_in_the_home_folder_does_not_open_it() {
    let deck = Deck::new();
    let home = std::env::var("HOME").unwrap();
    let log = deck.open(&deck.write(
        "log.jsonl",
        log_text(&[
            ("session.start", json!({ "cwd": home })),
            (
                "file.create",
                json!({"path": "chipdeck-test-notes.txt", "content": "n\n"}),
            ),
        ]),
    ));
    let what = RestoreWhat::File {
        log,
        path: "chipdeck-test-notes.txt".into(),
        at: 2,
    };
    let plan = deck.ask(Request::PlanRestore { what });
    assert_eq!(plan["needs"]["kind"], "refused", "{plan}");
    assert_eq!(plan["needs"]["why"], "too-wide");
}
