//! Restores of a log whose folder is not on this machine, and of a file that stands at an earlier version of the log.

use crate::authors_world::*;
use crate::engine_deck::log_text;
use chipdeck_engine::api::*;
use chipdeck_engine::Reach;
use serde_json::json;

fn file_at(log: &str, path: &str, at: u64) -> RestoreWhat {
    RestoreWhat::File {
        log: log.to_owned(),
        path: path.to_owned(),
        at,
    }
}

fn open_log(world: &World, cwd: &str, path: &str) -> String {
    let text = log_text(&[
        ("session.start", json!({"cwd": cwd})),
        (
            "file.create",
            json!({"path": path, "content": "first of all\n"}),
        ),
        ("file.delete", json!({"path": path})),
        (
            "file.create",
            json!({"path": path, "content": "second of all\n"}),
        ),
    ]);
    let id = world.deck.open(&world.deck.write("logs/one.jsonl", &text));
    world.deck.ready(&id);
    id
}

fn plan(world: &World, what: RestoreWhat) -> PlanView {
    let view = world.deck.ask(Request::PlanRestore { what });
    serde_json::from_value(view).unwrap()
}

#[test]
fn another_projects_log_writes_into_an_opened_folder_only_when_a_person_says_so() {
    let world = World::new();
    let file = world.deck.write("ghq/main.go", "package main\n");
    let top = file.parent().unwrap().canonicalize().unwrap();
    world.deck.opened(std::slice::from_ref(&top));
    let log = open_log(
        &world,
        "/nowhere/OpenPrintKit",
        "/nowhere/OpenPrintKit/ex/a.txt",
    );
    let asked = plan(&world, file_at(&log, "/nowhere/OpenPrintKit/ex/a.txt", 4));
    assert!(!asked.ready);
    let Some(PlanNeed::Root { folder, file }) = &asked.needs else {
        panic!("{:?}", asked.needs);
    };
    assert_eq!(folder.as_str(), top.to_str().unwrap());
    assert_eq!(file, "ex/a.txt");
    assert!(!top.join("ex/a.txt").exists());
    let allowed = world
        .deck
        .engine
        .allow_root(&asked.plan, Reach::OnlyThisFile)
        .unwrap();
    assert!(allowed.ready, "{:?}", allowed.needs);
}

#[test]
fn a_file_that_stands_at_an_earlier_version_of_the_log_is_replaced_by_the_later_one() {
    let world = World::new();
    let file = world.deck.write("kit/a.txt", "first of all\n");
    let top = file.parent().unwrap().canonicalize().unwrap();
    world.deck.opened(std::slice::from_ref(&top));
    let log = open_log(&world, "/nowhere/kit", "a.txt");
    let view = plan(&world, file_at(&log, "a.txt", 4));
    assert!(view.ready && !view.nothing, "{view:?}");
    assert!(view.warnings.is_empty(), "{:?}", view.warnings);
}
