//! `chipdeck chips …` as a person and a script use it: what is printed, what is on the disk, how it ends.
#![cfg(unix)]

use crate::chips::{cases, same};
use chipdeck_chip::*;
use serde_json::{json, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

struct World {
    place: TempDir,
}

struct Ran {
    status: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{e}: {} / {}", self.stdout, self.stderr))
    }

    #[track_caller]
    fn ends(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "{}\n{}", self.stdout, self.stderr);
        // Errors are one sentence and a hint, never a panic.
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }
}

impl World {
    fn new() -> World {
        let place = tempfile::tempdir().unwrap();
        let world = World { place };
        fs::create_dir_all(world.path("project")).unwrap();
        fs::create_dir_all(world.chips()).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().canonicalize().unwrap().join(name)
    }

    fn chips(&self) -> PathBuf {
        self.path("cache/better-edit-tools-mcp/chips")
    }

    fn snapshots(&self) -> PathBuf {
        self.path("cache/better-edit-tools-mcp/snapshots")
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.chips().join(name), bytes).unwrap();
    }

    fn chip(&self, record: &ChipRecord) {
        self.write(&chip_file_name(&record.id).unwrap(), &record.write());
    }

    /// `chipdeck chips …` in the project folder.
    fn run(&self, arguments: &[&str]) -> Ran {
        let project = self.path("project");
        let output = Command::new(env!("CARGO_BIN_EXE_chipdeck"))
            .arg("chips")
            .args(arguments)
            .current_dir(&project)
            .env("PWD", &project)
            .env("HOME", self.path("home"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("BETTER_EDIT_SNAPSHOT_DIR")
            .env_remove("BETTER_EDIT_WORKSPACE")
            .output()
            .unwrap();
        Ran {
            status: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn file(&self, text: &[u8]) {
        fs::write(self.path("project/t.txt"), text).unwrap();
    }

    fn text(&self) -> Vec<u8> {
        fs::read(self.path("project/t.txt")).unwrap()
    }
}

fn failed_write(id: &str, created_at: i64) -> ChipRecord {
    ChipRecord {
        id: id.into(),
        tool: "be-write".into(),
        args: Some(Json::parse(br#"{"content":"fn main() {\n    run();\n}","n":1.0}"#).unwrap()),
        err_msg: "write: missing file argument".into(),
        created_at,
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_list() {
    let world = World::new();
    for n in 0..31 {
        world.chip(&failed_write(&format!("{n:06x}"), 1_796_000_000 + n));
    }
    world.write("chip-torn.json", b"{\"id\":");
    let list = world.run(&["list", "--json"]).ends(0).json();
    assert_eq!(list["dir"], world.chips().to_str().unwrap());
    let chips = list["chips"].as_array().unwrap();
    assert_eq!(chips.len(), 31);
    assert_eq!(
        chips[0],
        json!({
            "id": "000000", "tool": "be-write", "created_at": 1_796_000_000,
            "bytes": failed_write("000000", 1_796_000_000).write().len(),
            "err_msg": "write: missing file argument", "summary": "fn main() { (+2 lines)",
            "file": "chip-000000.json", "next_start_drops": true,
        })
    );
    assert_eq!(chips[1].get("next_start_drops"), None);
    assert_eq!(list["damaged"][0]["file"], "chip-torn.json");
    assert_eq!(list["evicted"], json!([]));
    // Dropped: it stays in the list, from the archive.
    fs::remove_file(world.chips().join("chip-000000.json")).unwrap();
    let list = world.run(&["list", "--json"]).ends(0).json();
    assert_eq!(list["chips"].as_array().unwrap().len(), 30);
    assert_eq!(list["evicted"][0]["id"], "000000");
    let people = world.run(&["list"]).ends(0).stdout;
    assert!(
        people.contains("next to go") && people.contains("evicted"),
        "{people}"
    );
}

#[test]
fn without_the_archive_nothing_is_written() {
    let world = World::new();
    world.chip(&failed_write("aaaaaa", 5));
    world.run(&["list", "--no-archive"]).ends(0);
    assert!(!world.path("data").exists());
    world.run(&["list"]).ends(0);
    assert!(world.path("data/chipdeck/archive/index.jsonl").is_file());
    fs::remove_file(world.chips().join("chip-aaaaaa.json")).unwrap();
    // What is there already is still shown.
    let list = world
        .run(&["list", "--no-archive", "--json"])
        .ends(0)
        .json();
    assert_eq!(list["evicted"][0]["id"], "aaaaaa");
}

#[test]
fn another_folder_and_one_that_is_missing() {
    let world = World::new();
    let other = world.path("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("x.json"), failed_write("other", 5).write()).unwrap();
    let list = world
        .run(&["list", "--dir", other.to_str().unwrap(), "--json"])
        .ends(0)
        .json();
    assert_eq!(list["chips"][0]["id"], "other");
    let list = world
        .run(&["list", "--dir", "nowhere", "--json"])
        .ends(0)
        .json();
    assert_eq!(list["chips"], json!([]));
    assert!(!world.path("project/nowhere").exists());
}

#[test]
fn one_chip_with_everything() {
    let world = World::new();
    let record = failed_write("aaaaaa", 5);
    world.chip(&record);
    let shown = world.run(&["show", "aaaaaa", "--json"]).ends(0).json();
    assert_eq!(shown["id"], "aaaaaa");
    assert_eq!(shown["args"]["n"], 1);
    assert_eq!(shown["raw"], String::from_utf8(record.write()).unwrap());
    assert_eq!(
        shown["insert_text"],
        String::from_utf8(insert_text(&record)).unwrap()
    );
    let people = world.run(&["show", "aaaaaa"]).ends(0).stdout;
    assert!(people.contains("    run();"), "{people}");
    world.run(&["show", "bbbbbb"]).ends(1);
    world.write("chip-torn.json", b"{");
    let ran = world.run(&["show", "torn"]).ends(1);
    assert!(ran.stderr.contains("damaged"), "{}", ran.stderr);
    // Ten thousand levels.
    let deep = format!(
        "{{\"id\":\"deep\",\"args\":{{\"a\":{}{}}}}}",
        "[".repeat(2_000),
        "]".repeat(2_000)
    );
    world.write("chip-deep.json", deep.as_bytes());
    let ran = world.run(&["show", "deep", "--json"]).ends(0);
    assert!(ran.stdout.contains(&"[".repeat(2_000)));
    let fixture = cases("load")
        .into_iter()
        .find(|case| case.name == "load-deep")
        .unwrap();
    for (name, content) in fixture.json("dir.json").as_object().unwrap() {
        world.write(name, content.as_str().unwrap().as_bytes());
    }
    let list = world.run(&["list", "--json"]).ends(0).json();
    assert!(list["chips"]
        .as_array()
        .unwrap()
        .iter()
        .any(|chip| chip["id"] == "deep-ok"));
}

#[test]
fn searching() {
    let world = World::new();
    world.chip(&failed_write("aaaaaa", 5));
    world.chip(&ChipRecord::of_delete(
        "bbbbbb".into(),
        b"one\nNeedle here\n".to_vec(),
        6,
    ));
    world.write("chip-torn.json", b"{");
    for (query, ids) in [
        ("needle HERE", vec!["bbbbbb"]),
        ("run();", vec!["aaaaaa"]),
        ("missing file", vec!["aaaaaa"]),
        ("be-", vec!["aaaaaa", "bbbbbb"]),
        ("nothing of the kind", vec![]),
    ] {
        let found = world.run(&["search", query, "--json"]).ends(0).json();
        let chips = found["chips"].as_array().unwrap();
        let found: Vec<&str> = chips.iter().map(|c| c["id"].as_str().unwrap()).collect();
        assert_eq!(found, ids, "{query}");
    }
}

#[test]
fn the_servers_own_form() {
    for case in cases("insert") {
        let world = World::new();
        world.write(&case.text("file_name"), &case.file("chip.json"));
        if case.has("extra.json") {
            let extra = case.json("extra.json");
            for (path, content) in extra.as_object().unwrap() {
                fs::write(world.path(path), content.as_str().unwrap()).unwrap();
            }
        }
        if case.has("before.txt") {
            world.file(&case.file("before.txt"));
        }
        let from = case.text("from");
        let id = from.strip_prefix("chip://").unwrap();
        let to = format!("t.txt:{}", case.meta["line"]);
        if case.name == "insert-outside" {
            continue;
        }
        let ok = case.text("result") == "ok" && !case.name.contains("traversal");
        let ran = world.run(&["restore", id, "--to", &to, "--json"]);
        if !ok {
            // A negative line is no line: the arguments don't parse.
            let status = if case.text("result") == "crash" { 2 } else { 1 };
            ran.ends(status);
            if case.has("before.txt") {
                same(&case.name, &world.text(), &case.file("before.txt"));
            }
            continue;
        }
        let before = case.file("before.txt");
        let done = ran.ends(0).json();
        same(&case.name, &world.text(), &case.file("after.txt"));
        assert_eq!(done["applied"], true);
        assert_eq!(done["steps"][0]["path"], "t.txt");
        assert_eq!(done["steps"][0]["action"], "replace");
        let codes: Vec<&str> = done["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|warning| warning["code"].as_str().unwrap())
            .collect();
        let rewritten = insert_header(&before, 0, b"x").unwrap();
        assert_eq!(
            codes.contains(&"line-endings"),
            rewritten.rewritten_endings > 0,
            "{}",
            case.name
        );
        assert_eq!(
            codes.contains(&"final-newline"),
            rewritten.added_final_newline,
            "{}",
            case.name
        );
        assert_eq!(
            names(&world.path("project"))
                .iter()
                .filter(|n| n.starts_with('.'))
                .count(),
            0
        );
        // And back.
        let undone = Command::new(env!("CARGO_BIN_EXE_chipdeck"))
            .arg("undo")
            .env("HOME", world.path("home"))
            .env("XDG_DATA_HOME", world.path("data"))
            .output()
            .unwrap();
        assert!(undone.status.success(), "{undone:?}");
        same(&case.name, &world.text(), &before);
    }
}

#[test]
fn the_bare_content() {
    let world = World::new();
    world.chip(&ChipRecord::of_delete("del".into(), b"x\ny\n".to_vec(), 5));
    world.chip(&failed_write("write", 6));
    world.chip(&ChipRecord {
        args: Some(Json::parse(b"{\"a\":1}").unwrap()),
        ..failed_write("none", 7)
    });
    for (before, id, line, after) in [
        ("a\nb\n", "del", 1, "a\nx\ny\nb\n"),
        ("a\nb\n", "del", 0, "x\ny\na\nb\n"),
        ("a\nb", "del", 2, "a\nb\nx\ny"),
        ("a\r\nb\n", "del", 1, "a\r\nx\r\ny\r\nb\n"),
        ("a\r\nb\n", "del", 2, "a\r\nb\nx\ny\n"),
        ("a\r\nb\r\nc", "del", 3, "a\r\nb\r\nc\r\nx\r\ny"),
        ("", "del", 0, "x\ny\n"),
        ("a\n", "write", 1, "a\nfn main() {\n    run();\n}\n"),
        ("\u{feff}a\r\n", "del", 1, "\u{feff}a\r\nx\r\ny\r\n"),
    ] {
        world.file(before.as_bytes());
        let to = format!("t.txt:{line}");
        world
            .run(&["restore", id, "--to", &to, "--form", "content"])
            .ends(0);
        same(before, &world.text(), after.as_bytes());
    }
    world.file(b"a\n");
    world
        .run(&["restore", "none", "--to", "t.txt:0", "--form", "content"])
        .ends(1);
    same("stays", &world.text(), b"a\n");
}

#[test]
fn what_restore_refuses() {
    let world = World::new();
    world.chip(&failed_write("aaaaaa", 5));
    world.file(b"a\nb\n");
    let dry = world
        .run(&[
            "restore",
            "aaaaaa",
            "--to",
            "t.txt:1",
            "--dry-run",
            "--json",
        ])
        .ends(0)
        .json();
    assert_eq!(dry["applied"], false);
    assert_eq!(dry["restoreId"], Value::Null);
    assert!(dry["steps"][0]["diff"]
        .as_str()
        .unwrap()
        .contains("+// Chip aaaaaa"));
    same("a dry run", &world.text(), b"a\nb\n");
    assert!(
        !world.path("data").exists(),
        "a dry run writes nothing at all"
    );
    for (to, status) in [
        ("t.txt", 2),
        ("t.txt:", 2),
        ("t.txt:x", 2),
        ("t.txt:+1", 2),
        ("t.txt:-1", 2),
        ("t.txt: 1", 2),
        (":1", 2),
        ("t.txt:3", 1),
        ("t.txt:99999999999999999999999", 1),
        ("none.txt:0", 1),
        ("nowhere/none.txt:0", 1),
        (".:0", 1),
        ("..:0", 1),
    ] {
        let ran = world.run(&["restore", "aaaaaa", "--to", to]).ends(status);
        assert!(!ran.stderr.is_empty(), "{to}");
    }
    world
        .run(&["restore", "aaaaaa", "--to", "t.txt:1", "--form", "bare"])
        .ends(2);
    world
        .run(&["restore", "unknown", "--to", "t.txt:1"])
        .ends(1);
    same("nothing written", &world.text(), b"a\nb\n");
}

#[test]
fn reviving() {
    let world = World::new();
    world.chip(&failed_write("aaaaaa", 5));
    world.run(&["list"]).ends(0);
    let ran = world.run(&["revive", "aaaaaa"]).ends(1);
    assert!(
        ran.stderr.contains("is in the chip folder"),
        "{}",
        ran.stderr
    );
    fs::remove_file(world.chips().join("chip-aaaaaa.json")).unwrap();
    world.run(&["revive", "unknown"]).ends(1);
    world.run(&["revive", "x/../../aaaaaa"]).ends(1);
    let revived = world.run(&["revive", "aaaaaa", "--json"]).ends(0).json();
    let now = revived["created_at"].as_i64().unwrap();
    assert!(now > 1_700_000_000);
    assert_eq!(
        revived,
        json!({"file": "chip-aaaaaa.json", "id": "aaaaaa", "created_at": now, "applied": true, "warnings": []})
    );
    let written = fs::read(world.chips().join("chip-aaaaaa.json")).unwrap();
    same("revived", &written, &failed_write("aaaaaa", now).write());
    assert_eq!(names(&world.chips()), ["chip-aaaaaa.json"]);
    // With the old time, into a full folder: it is the first to go.
    fs::remove_file(world.chips().join("chip-aaaaaa.json")).unwrap();
    world.run(&["list"]).ends(0);
    for n in 0..30 {
        world.chip(&failed_write(&format!("{n:06x}"), 2_000_000_000 + n));
    }
    let revived = world
        .run(&["revive", "aaaaaa", "--keep-time", "--json"])
        .ends(0)
        .json();
    assert!(revived["warnings"][0]["message"]
        .as_str()
        .unwrap()
        .contains("chip-aaaaaa.json"));
    assert_eq!(revived["warnings"][0]["code"], "next-start-drops");
}

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\n";

/// Line 3 was deleted by a server working in `folder`.
fn delete(world: &World, folder: &Path) {
    world.file(BEFORE.replace("three\n", "").as_bytes());
    world.chip(&ChipRecord::of_delete(
        "del".into(),
        b"three\n".to_vec(),
        1_796_059_073,
    ));
    let side = |text: &str| Side {
        start: 1,
        end: text.lines().count() as i64,
        lines: Some(text.split_inclusive('\n').map(Text::from).collect()),
    };
    let snapshot = SnapshotRecord {
        id: "4d12f6".into(),
        tool: "be-delete".into(),
        file: "t.txt".into(),
        before: side(BEFORE),
        after: side(&BEFORE.replace("three\n", "")),
        args: Some(Json::parse(br#"{"start":3,"end":3,"file":"t.txt"}"#).unwrap()),
        summary: "be-delete on t.txt lines 3-3".into(),
        created_at: 1_796_059_074,
    };
    let workspace = workspace_id(folder.as_os_str().as_encoded_bytes());
    fs::create_dir_all(world.snapshots().join(&workspace)).unwrap();
    let path = world
        .snapshots()
        .join(workspace)
        .join("snapshot-4d12f6.json");
    fs::write(path, snapshot.write()).unwrap();
}

#[test]
fn put_back_by_the_edit_snapshot() {
    let world = World::new();
    delete(&world, &world.path("project"));
    let list = world.run(&["list", "--json"]).ends(0).json();
    assert_eq!(list["chips"][0]["linked"], "4d12f6");
    assert_eq!(
        list["chips"][0]["target"],
        json!({"path": "t.txt", "line": 2, "certainty": "snapshot"})
    );
    let dry = world
        .run(&["put-back", "del", "--dry-run", "--json"])
        .ends(0)
        .json();
    assert_eq!(dry["applied"], false);
    assert_eq!(world.text(), BEFORE.replace("three\n", "").as_bytes());
    let done = world.run(&["put-back", "del", "--json"]).ends(0).json();
    assert_eq!(done["applied"], true);
    same("put back", &world.text(), BEFORE.as_bytes());
    // Once is enough.
    let again = world.run(&["put-back", "del", "--json"]).ends(0).json();
    assert_eq!(again["applied"], false);
    assert_eq!(again["steps"][0]["action"], "none");
    same("once", &world.text(), BEFORE.as_bytes());
    // Lines have moved.
    world.file(b"zero\none\ntwo\nfour\nfive\nsix\n");
    world.run(&["put-back", "del"]).ends(0);
    same(
        "moved",
        &world.text(),
        b"zero\none\ntwo\nthree\nfour\nfive\nsix\n",
    );
    // From elsewhere, with everything named.
    world.file(b"one\ntwo\nfour\nfive\n");
    let project = world.path("project");
    let elsewhere = Command::new(env!("CARGO_BIN_EXE_chipdeck"))
        .args(["chips", "put-back", "del", "--dir"])
        .arg(world.chips())
        .arg("--snapshots")
        .arg(world.snapshots())
        .arg("--root")
        .arg(&project)
        .current_dir(world.path("cache"))
        .env("HOME", world.path("home"))
        .env("XDG_DATA_HOME", world.path("data"))
        .env_remove("XDG_CACHE_HOME")
        .output()
        .unwrap();
    assert!(elsewhere.status.success(), "{elsewhere:?}");
    same("from elsewhere", &world.text(), BEFORE.as_bytes());
}

#[test]
fn put_back_never_guesses() {
    let world = World::new();
    delete(&world, &world.path("project"));
    let twice = "one\ntwo\nfour\nfive\none\ntwo\nfour\nfive\n";
    world.file(twice.as_bytes());
    let found = world.run(&["put-back", "del", "--json"]).ends(1).json();
    assert_eq!(found["applied"], false);
    let candidates = found["candidates"].as_array().unwrap();
    let places: Vec<(&str, i64, &str)> = candidates
        .iter()
        .map(|c| {
            (
                c["path"].as_str().unwrap(),
                c["line"].as_i64().unwrap(),
                c["certainty"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(places, [("t.txt", 2, "snapshot"), ("t.txt", 6, "snapshot")]);
    same("nothing written", &world.text(), twice.as_bytes());
    let people = world.run(&["put-back", "del"]).ends(1);
    assert!(people.stdout.contains("t.txt:6"), "{}", people.stdout);
    // Another project's edit snapshot.
    let world = World::new();
    delete(&world, Path::new("/somewhere/else"));
    let before = world.text();
    let found = world.run(&["put-back", "del", "--json"]).ends(1).json();
    assert_eq!(found["applied"], false);
    same("nothing written", &world.text(), &before);
    // A failed call was cut from nowhere.
    world.chip(&failed_write("write", 5));
    world.run(&["put-back", "write"]).ends(1);
}

#[test]
fn put_back_by_a_log() {
    let world = World::new();
    delete(&world, &world.path("project"));
    fs::remove_dir_all(world.snapshots()).unwrap();
    let mut log = String::new();
    let events = [
        ("file.create", json!({"path": "t.txt", "content": BEFORE})),
        (
            "file.change",
            json!({"path": "t.txt", "content": BEFORE.replace("three\n", "")}),
        ),
    ];
    for (n, (kind, payload)) in events.into_iter().enumerate() {
        let event = json!({"eventId": format!("e{n}"), "traceId": "t", "seq": n, "type": kind,
            "timestamp": 1_796_059_073_000_i64, "payload": payload});
        log += &format!("{event}\n");
    }
    fs::write(world.path("log.jsonl"), log).unwrap();
    world.run(&["put-back", "del"]).ends(1);
    let log = world.path("log.jsonl");
    world
        .run(&["put-back", "del", "--log", log.to_str().unwrap()])
        .ends(0);
    same("put back", &world.text(), BEFORE.as_bytes());
    world
        .run(&["put-back", "del", "--log", "nowhere.jsonl"])
        .ends(1);
}

#[test]
fn hostile_ids_and_texts() {
    let world = World::new();
    let odd = "x\ny \u{1b}[31m\"<b>%s";
    let record = ChipRecord {
        id: odd.into(),
        tool: "\u{1b}]0;title\u{7}".into(),
        ..failed_write("", 5)
    };
    world.write("chip-odd.json", &record.write());
    let people = world.run(&["list"]).ends(0).stdout;
    assert!(
        !people.contains('\u{1b}') && !people.contains('\u{7}'),
        "{people:?}"
    );
    let shown = world.run(&["show", odd, "--json"]).ends(0).json();
    assert_eq!(shown["id"], odd);
    let people = world.run(&["show", odd]).ends(0).stdout;
    assert!(!people.contains('\u{1b}'), "{people:?}");
    // An empty id is an id.
    world.write("notes.json", b"{}");
    world.run(&["show", ""]).ends(0);
    let outside = world.path("cache/secret.json");
    fs::write(&outside, failed_write("secret", 5).write()).unwrap();
    for id in ["x/../../../secret", "../../secret", "x/../chip-odd"] {
        world.run(&["show", id]).ends(1);
        world.run(&["put-back", id]).ends(1);
        world.run(&["revive", id]).ends(1);
    }
}

/// What the real server deleted goes back: the file is what the server's rewriting makes of it.
#[test]
fn put_back_what_the_server_cut() {
    for case in cases("delete") {
        if !case.has("snapshot.json") || case.name == "delete-bad-utf8" {
            continue;
        }
        let world = World::new();
        world.write(&case.text("file_name"), &case.file("chip.json"));
        let project = world.path("project");
        let workspace = workspace_id(project.as_os_str().as_encoded_bytes());
        let folder = world.snapshots().join(workspace);
        fs::create_dir_all(&folder).unwrap();
        let name = snapshot_file_name(&case.text("snapshot_id")).unwrap();
        fs::write(folder.join(name), case.file("snapshot.json")).unwrap();
        world.file(&case.file("after.txt"));
        world.run(&["put-back", &case.text("id")]).ends(0);
        let before = case.file("before.txt");
        same(&case.name, &world.text(), &Lines::cut(&before).rewritten());
    }
}

#[test]
fn a_byte_order_mark_stays_first_in_the_content_form() {
    let inserted = insert_content(b"\xef\xbb\xbfone\ntwo\n", 0, b"gone\n").unwrap();
    assert_eq!(inserted.bytes, b"\xef\xbb\xbfgone\none\ntwo\n");
    let inserted = insert_content(b"\xef\xbb\xbfone\r\n", 1, b"gone\n").unwrap();
    assert_eq!(inserted.bytes, b"\xef\xbb\xbfone\r\ngone\r\n");
}

#[test]
fn a_chip_folder_that_is_no_folder_is_said() {
    let world = World::new();
    let file = world.path("project/file");
    fs::write(&file, "x").unwrap();
    let ran = world
        .run(&["list", "--dir", file.to_str().unwrap()])
        .ends(1);
    assert!(
        ran.stderr.contains("cannot read the chip folder"),
        "{}",
        ran.stderr
    );
    let absent = world.path("project/absent");
    let ran = world
        .run(&["list", "--dir", absent.to_str().unwrap()])
        .ends(0);
    assert!(ran.stdout.contains("does not exist"), "{}", ran.stdout);
}

#[test]
fn an_id_that_climbs_is_not_revived() {
    let world = World::new();
    world.write(
        "chip-e.json",
        b"{\"id\":\"../../evil\",\"tool\":\"be-write\",\"args\":{\"content\":\"x\"},\"created_at\":5}",
    );
    world.run(&["list"]).ends(0);
    fs::remove_file(world.chips().join("chip-e.json")).unwrap();
    let ran = world.run(&["revive", "../../evil"]).ends(1);
    assert!(!ran.stderr.is_empty());
    assert_eq!(fs::read_dir(world.chips()).unwrap().count(), 0);
}
