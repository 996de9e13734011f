//! The whole tree back and forth, and `diff` between positions and against the disk.
#![cfg(unix)]

use crate::restore_command::{told, World};
use serde_json::{json, Value};
use std::fs;
use std::process::Command;

#[test]
fn diff_between_positions_and_against_the_disk() {
    let world = told();
    let text = world
        .on_log("diff", &["--from", "3", "--to", "end"])
        .ends(0)
        .stdout;
    let expected =
        "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,4 +1,4 @@\n one\n two\n three\n-four\n+FOUR\n\
        --- a/src/b.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n\
        --- /dev/null\n+++ b/src/c.rs\n@@ -0,0 +1 @@\n+c\n";
    assert_eq!(text, expected);
    let sha = |text: &str| chipdeck_replay::restore::sha256_hex(text.as_bytes());
    let json = world
        .on_log(
            "diff",
            &["--from", "3", "--to", "end", "--file", "src/b.rs", "--json"],
        )
        .ends(0)
        .json();
    assert_eq!(json["files"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&json["files"][0]["from"], &json["files"][0]["to"]),
        (&json!(sha("b\n")), &Value::Null)
    );
    assert_eq!(
        world
            .on_log("diff", &["--from", "end", "--to", "disk"])
            .ends(0)
            .stdout,
        ""
    );
    world.write("src/c.rs", "changed\n");
    let text = world
        .on_log("diff", &["--from", "end", "--to", "disk"])
        .ends(0)
        .stdout;
    assert_eq!(
        text,
        "--- a/src/c.rs\n+++ b/src/c.rs\n@@ -1 +1 @@\n-c\n+changed\n"
    );
    world
        .on_log(
            "diff",
            &["--from", "3", "--to", "disk", "--file", "nothing"],
        )
        .ends(1);
    // An unknown side.
    world.log(&[
        (
            "file.observe",
            json!({"path": "u", "sha256": "0".repeat(64)}),
        ),
        ("file.change", json!({"path": "u", "content": "now\n"})),
    ]);
    let text = world
        .on_log("diff", &["--from", "1", "--to", "2"])
        .ends(0)
        .stdout;
    assert_eq!(text, "# u: content unknown\n");
}

#[test]
fn what_diff_prints_patch_can_read() {
    let world = told();
    let Ok(found) = Command::new("patch").arg("--version").output() else {
        eprintln!("skipped: no patch");
        return;
    };
    assert!(found.status.success());
    let diff = world
        .on_log("diff", &["--from", "end", "--to", "3"])
        .ends(0)
        .stdout;
    let file = world.place.path().join("a.diff");
    fs::write(&file, diff).unwrap();
    let patched = Command::new("patch")
        .args(["-p1", "-s", "-i"])
        .arg(&file)
        .current_dir(world.project())
        .status()
        .unwrap();
    assert!(patched.success());
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nfour\n");
    assert_eq!(world.text("src/b.rs").unwrap(), "b\n");
    assert_eq!(world.text("src/c.rs"), None);
}

#[test]
fn a_file_that_became_a_folder_comes_back_and_goes_again() {
    let world = World::new();
    world.log(&[
        ("session.start", json!({"cwd": world.project()})),
        (
            "file.create",
            json!({"path": "tool", "content": "a script\n"}),
        ),
        ("file.delete", json!({"path": "tool"})),
        (
            "file.create",
            json!({"path": "tool/main", "content": "main\n"}),
        ),
        (
            "file.create",
            json!({"path": "tool/lib/x", "content": "x\n"}),
        ),
    ]);
    world.write("tool/main", "main\n");
    world.write("tool/lib/x", "x\n");
    // At the end everything is there; that `tool` is no file is no fault.
    let ran = world
        .on_log("restore", &["--at", "end", "--all", "--json"])
        .ends(0)
        .json();
    assert_eq!(ran["applied"], false, "{ran}");
    let diff = world
        .on_log("diff", &["--from", "end", "--to", "disk"])
        .ends(0);
    assert_eq!(diff.stdout, "");
    // Back to the file, and again to the folder.
    world.on_log("restore", &["--at", "2", "--all"]).ends(0);
    assert_eq!(world.text("tool").unwrap(), "a script\n");
    world.run(&["undo"]).ends(0);
    assert_eq!(world.text("tool/lib/x").unwrap(), "x\n");
    assert_eq!(world.text("tool/main").unwrap(), "main\n");
    let history = world.run(&["history", "--json"]).ends(0).json();
    let undo = history["restores"][0]["restoreId"]
        .as_str()
        .unwrap()
        .to_owned();
    world.run(&["undo", &undo]).ends(0);
    assert_eq!(world.text("tool").unwrap(), "a script\n");
    world.run(&["undo"]).ends(0);
    // Somebody's file in the folder: it is not taken away.
    world.write("tool/mine", "mine\n");
    let ran = world.on_log("restore", &["--at", "2", "--all"]).ends(1);
    assert!(
        ran.stderr.contains("a folder stands there"),
        "{}",
        ran.stderr
    );
    assert_eq!(world.text("tool/main").unwrap(), "main\n");
    assert_eq!(world.text("tool/mine").unwrap(), "mine\n");
}

#[test]
fn the_whole_tree() {
    let world = told();
    world.write("never-named.txt", "mine");
    let ran = world
        .on_log("restore", &["--at", "3", "--all", "--json"])
        .ends(0)
        .json();
    let mut steps: Vec<(String, String)> = Vec::new();
    for step in ran["steps"].as_array().unwrap() {
        steps.push((
            step["path"].as_str().unwrap().to_owned(),
            step["action"].as_str().unwrap().to_owned(),
        ));
    }
    steps.sort();
    let expected = [
        ("src/a.rs", "replace"),
        ("src/b.rs", "create"),
        ("src/c.rs", "delete"),
    ];
    assert_eq!(
        steps,
        expected.map(|(path, action)| (path.to_owned(), action.to_owned()))
    );
    assert_eq!(world.text("src/b.rs").unwrap(), "b\n");
    assert_eq!(
        world.text("src/c.rs"),
        None,
        "named only later, born by a create"
    );
    assert_eq!(world.text("never-named.txt").unwrap(), "mine");
    world.run(&["undo"]).ends(0);
    assert_eq!(world.text("src/b.rs"), None);
    assert_eq!(world.text("src/c.rs").unwrap(), "c\n");
    // At the end, b is deleted and everything else is there already.
    let ran = world
        .on_log("restore", &["--at", "end", "--all", "--json"])
        .ends(0)
        .json();
    assert!(ran["steps"]
        .as_array()
        .unwrap()
        .iter()
        .all(|step| step["action"] == "none"));
    assert_eq!(
        (&ran["applied"], &ran["restoreId"]),
        (&json!(false), &Value::Null)
    );
}
