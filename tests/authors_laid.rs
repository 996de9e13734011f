//! Logs of folders that are not on this machine: laid onto an opened folder only where something says that it is theirs.

use crate::authors_world::*;
use crate::engine_deck::log_text;
use chipdeck_engine::api::*;
use serde_json::json;
use std::path::PathBuf;

/// A log that was written in a folder of another machine.
fn foreign(world: &World, name: &str, cwd: &str, file: &str, text: &str) -> String {
    let log = log_text(&[
        ("session.start", json!({"cwd": cwd})),
        ("file.create", json!({"path": file, "content": text})),
    ]);
    let log = world.deck.write(&format!("logs/{name}.jsonl"), &log);
    let id = world.deck.open(&log);
    world.deck.ready(&id);
    id
}

fn opened(world: &World, below: &str, text: &str) -> PathBuf {
    let file = world.deck.write(below, text);
    let top = file.parent().unwrap().canonicalize().unwrap();
    world.deck.opened(std::slice::from_ref(&top));
    top
}

fn paths(world: &World, project: &str) -> Vec<String> {
    let id = world.project(project).project;
    let mut paths: Vec<String> = world
        .files(&id, "")
        .rows
        .into_iter()
        .map(|row| row.path)
        .collect();
    paths.sort();
    paths
}

fn project_of(world: &World, log: &str, path: &str) -> serde_json::Value {
    world.deck.ask(Request::ProjectOf {
        log: log.to_owned(),
        path: path.to_owned(),
    })
}

#[test]
fn another_projects_log_is_not_laid_onto_the_folder_that_is_open() {
    let world = World::new();
    opened(&world, "ghq/main.go", "package main\n");
    let other = foreign(
        &world,
        "other",
        "/nowhere/OpenPrintKit",
        "docs/plan.md",
        "print all of it\n",
    );
    let absolute = foreign(
        &world,
        "absolute",
        "/nowhere/OpenPrintKit",
        "/nowhere/OpenPrintKit/main.go",
        "package printing\n",
    );
    assert_eq!(paths(&world, "ghq"), [""; 0]);
    assert_eq!(paths(&world, "OpenPrintKit"), ["docs/plan.md", "main.go"]);
    assert!(!world.project("OpenPrintKit").here);
    let foreigns = world.project("OpenPrintKit").project;
    for (log, path) in [
        (&other, "docs/plan.md"),
        (&absolute, "/nowhere/OpenPrintKit/main.go"),
    ] {
        assert_eq!(project_of(&world, log, path)["project"], foreigns, "{path}");
    }
    let ghq = world.project("ghq").project;
    let history = world.history(&ghq, "main.go");
    let authors: Vec<AuthorKind> = history.rows.iter().map(|row| row.author.kind).collect();
    assert_eq!(authors, [AuthorKind::Disk]);
}

#[test]
fn a_folder_of_the_same_name_is_the_logs() {
    let world = World::new();
    let top = opened(&world, "ghq/main.go", "package main\n");
    let log = foreign(
        &world,
        "same",
        "/nowhere/src/ghq",
        "cmd/get.go",
        "package get\n",
    );
    assert_eq!(paths(&world, "ghq"), ["cmd/get.go"]);
    let project = world.project("ghq");
    assert!(project.here, "{project:?}");
    assert_eq!(project.sessions, 1);
    let of = project_of(&world, &log, "cmd/get.go");
    assert_eq!(of["project"], project.project, "{top:?}");
}

#[test]
fn a_folder_with_a_content_of_the_log_is_the_logs() {
    let world = World::new();
    opened(&world, "project/refunds.py", "def refund(amount): ...\n");
    let log = foreign(
        &world,
        "sample",
        "/nowhere/orders",
        "refunds.py",
        "def refund(amount): ...\n",
    );
    let project = world.project("project");
    assert_eq!(
        project_of(&world, &log, "refunds.py")["project"],
        project.project
    );
    let files = world.files(&project.project, "");
    assert_eq!(files.rows.len(), 1);
    assert!(files.rows[0].here);
    // One row: the session made it and it is there still.
    let history = world.history(&project.project, "refunds.py");
    assert_eq!(history.rows.len(), 1);
    assert!(history.rows[0].on_disk);
    // The folder that is not here is no second project.
    let Ok(Reply::Projects(rows)) = world.deck.engine.handle(Request::Projects {}) else {
        panic!("no projects")
    };
    assert!(rows.iter().all(|row| row.name != "orders"), "{rows:?}");
}

#[test]
fn the_samples_files_are_those_of_its_project() {
    fn copy(from: &std::path::Path, to: &std::path::Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap().flatten() {
            let there = to.join(entry.file_name());
            match entry.path().is_dir() {
                true => copy(&entry.path(), &there),
                false => drop(std::fs::copy(entry.path(), there).unwrap()),
            }
        }
    }
    let world = World::new();
    let sample = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("demo");
    let top = opened(&world, "project/.keep", "");
    copy(&sample.join("project"), &top);
    let log = std::fs::read(sample.join("orders.jsonl")).unwrap();
    let log = world.deck.write("orders.jsonl", log);
    let id = world.deck.open(&log);
    world.deck.ready(&id);
    let project = world.project("project");
    let files = world.files(&project.project, "");
    let here = files.rows.iter().filter(|row| row.here).count();
    assert!(here > 5, "{here} of {:?}", files.rows);
    let refunds = files
        .rows
        .iter()
        .find(|row| row.path.ends_with("refunds.py"));
    let path = &refunds.unwrap().path;
    let of = project_of(&world, &id, path);
    assert_eq!(of["project"], project.project);
    let history = world.history(&project.project, path);
    assert!(history.rows.iter().any(|row| row.on_disk), "{history:?}");
}
