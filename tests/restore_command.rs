//! `restore`, `undo`, `history`, `diff` as a person and a script use them: what is on the disk, what is printed, and
//! with which status it ends.
#![cfg(unix)]

use serde_json::{json, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A project, a log and a home of their own.
pub struct World {
    pub place: TempDir,
}

pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{e}: {} / {}", self.stdout, self.stderr))
    }

    #[track_caller]
    pub fn ends(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "{}\n{}", self.stdout, self.stderr);
        self
    }
}

impl World {
    pub fn new() -> World {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("project/src")).unwrap();
        fs::create_dir(place.path().join("home")).unwrap();
        World { place }
    }

    pub fn project(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("project")
    }

    pub fn log_path(&self) -> PathBuf {
        self.place.path().join("log.jsonl")
    }

    /// Events with ids `e1`, `e2`, … of the given type and payload.
    pub fn log(&self, events: &[(&str, Value)]) {
        let mut text = String::new();
        for (n, (kind, payload)) in events.iter().enumerate() {
            let n = n + 1;
            let event = json!({"eventId": format!("e{n}"), "traceId": "t", "seq": n, "type": kind,
                "timestamp": 1_764_500_000_000_i64 + n as i64, "payload": payload});
            text += &format!("{event}\n");
        }
        fs::write(self.log_path(), text).unwrap();
    }

    pub fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.project().join(path).parent().unwrap()).unwrap();
        fs::write(self.project().join(path), text).unwrap();
    }

    pub fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.project().join(path)).ok()
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        let home = self.place.path().join("home");
        let Output {
            status,
            stdout,
            stderr,
        } = Command::new(env!("CARGO_BIN_EXE_chipdeck"))
            .args(arguments)
            .current_dir(&home)
            .env("HOME", &home)
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .output()
            .unwrap();
        Ran {
            status: status.code().unwrap(),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    /// `chipdeck COMMAND LOG …`.
    pub fn on_log(&self, command: &str, more: &[&str]) -> Ran {
        let log = self.log_path();
        let mut all = vec![command, log.to_str().unwrap()];
        all.extend_from_slice(more);
        self.run(&all)
    }

    pub fn own_data(&self) -> PathBuf {
        self.place.path().join("home/.local/share/chipdeck")
    }
}

/// Position 3: a and b made; 4: a changed; 5: b deleted; 6: c made.
pub fn story(cwd: &Path) -> Vec<(&'static str, Value)> {
    vec![
        ("session.start", json!({"cwd": cwd})),
        (
            "file.create",
            json!({"path": "src/a.rs", "content": "one\ntwo\nthree\nfour\n"}),
        ),
        ("file.create", json!({"path": "src/b.rs", "content": "b\n"})),
        (
            "file.change",
            json!({"path": "src/a.rs", "edits": [{"old": "four", "new": "FOUR"}]}),
        ),
        ("file.delete", json!({"path": "src/b.rs"})),
        ("file.create", json!({"path": "src/c.rs", "content": "c\n"})),
    ]
}

/// The disk as the story leaves it.
pub fn told() -> World {
    let world = World::new();
    world.log(&story(&world.project()));
    world.write("src/a.rs", "one\ntwo\nthree\nFOUR\n");
    world.write("src/c.rs", "c\n");
    world
}

#[test]
fn a_file_comes_back_and_goes_again() {
    let world = told();
    let ran = world
        .on_log("restore", &["--at", "3", "src/a.rs", "--json"])
        .ends(0);
    let restored = ran.json();
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nfour\n");
    let id = restored["restoreId"].as_str().unwrap().to_owned();
    assert_eq!(
        (&restored["applied"], &restored["warnings"]),
        (&json!(true), &json!([]))
    );
    let step = &restored["steps"][0];
    assert_eq!(
        (&step["path"], &step["action"]),
        (&json!("src/a.rs"), &json!("replace"))
    );
    let sha = |text: &str| chipdeck_replay::restore::sha256_hex(text.as_bytes());
    assert_eq!(step["beforeSha256"], sha("one\ntwo\nthree\nFOUR\n"));
    assert_eq!(step["afterSha256"], sha("one\ntwo\nthree\nfour\n"));
    let diff =
        "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,4 +1,4 @@\n one\n two\n three\n-FOUR\n+four\n";
    assert_eq!(step["diff"], diff);

    let history = world.run(&["history", "--json"]).ends(0).json();
    let row = &history["restores"][0];
    assert_eq!(
        (&row["restoreId"], &row["kind"]),
        (&json!(id), &json!("file"))
    );
    assert!(row["time"].is_i64() && row.get("undoneBy").is_none() && row.get("undoOf").is_none());
    assert_eq!(row["steps"][0]["diff"], diff);

    let undone = world.run(&["undo", "--json"]).ends(0).json();
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nFOUR\n");
    let undo = undone["restoreId"].as_str().unwrap().to_owned();
    assert_eq!(undone["steps"][0]["action"], "replace");
    world.run(&["undo"]).ends(1);
    // The undo's id brings the restore back.
    world.run(&["undo", &undo]).ends(0);
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nfour\n");
    let history = world.run(&["history", "--json"]).ends(0).json();
    let rows = history["restores"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0]["undoOf"], undo);
    assert_eq!(
        (&rows[1]["undoOf"], &rows[1]["undoneBy"]),
        (&json!(id), &rows[0]["restoreId"])
    );
    assert!(rows[2].get("undoneBy").is_none(), "it stands again");
}

#[test]
fn a_dry_run_writes_nothing_anywhere() {
    let world = told();
    let ran = world
        .on_log("restore", &["--at", "3", "--all", "--dry-run", "--json"])
        .ends(0)
        .json();
    assert_eq!(
        (&ran["applied"], &ran["restoreId"]),
        (&json!(false), &Value::Null)
    );
    assert_eq!(ran["steps"].as_array().unwrap().len(), 3);
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nFOUR\n");
    assert_eq!(world.text("src/b.rs"), None);
    assert!(!world.own_data().join("restores.jsonl").exists());
    let text = world
        .on_log("restore", &["--at", "3", "src/a.rs", "--dry-run"])
        .ends(0);
    assert!(text.stdout.contains("-FOUR\n+four\n"), "{}", text.stdout);
    world.run(&["undo"]).ends(1);
}

#[test]
fn what_the_log_does_not_know_is_never_written() {
    let world = World::new();
    world.log(&[
        ("session.start", json!({"cwd": world.project()})),
        ("file.create", json!({"path": "known", "content": "k\n"})),
        (
            "file.observe",
            json!({"path": "unknown", "sha256": "0".repeat(64)}),
        ),
        (
            "file.change",
            json!({"path": "known", "edits": [{"old": "nowhere", "new": "x"}]}),
        ),
        ("file.change", json!({"path": "later", "content": "l\n"})),
    ]);
    world.write("unknown", "mine\n");
    world.write("later", "l\n");
    // Named: status 1 and nothing at all.
    let ran = world
        .on_log("restore", &["--at", "4", "known", "unknown"])
        .ends(1);
    assert!(ran.stderr.contains("unknown"), "{}", ran.stderr);
    assert_eq!(world.text("known"), None);
    // With --all: a warning, the rest is written.
    let ran = world
        .on_log("restore", &["--at", "4", "--all", "--json"])
        .ends(0)
        .json();
    let mut codes: Vec<&str> = ran["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| w["code"].as_str().unwrap())
        .collect();
    codes.sort_unstable();
    assert_eq!(
        codes,
        [
            "disk-differs",
            "unknown-content",
            "unknown-content",
            "unverified"
        ]
    );
    assert_eq!(world.text("known").unwrap(), "k\n");
    assert_eq!(world.text("unknown").unwrap(), "mine\n");
    assert_eq!(
        world.text("later").unwrap(),
        "l\n",
        "first named by a change: unknown before"
    );
    world
        .on_log("restore", &["--at", "4", "nothing-of-that-name"])
        .ends(1);
    world.on_log("restore", &["--at", "99", "known"]).ends(1);
    world
        .on_log("restore", &["--at", "no-such-event", "known"])
        .ends(1);
}

#[test]
fn a_disk_that_moved_on() {
    let world = told();
    world.write("src/a.rs", "ONE\ntwo\nthree\nFOUR\n");
    let ran = world
        .on_log("restore", &["--at", "3", "src/a.rs", "--dry-run", "--json"])
        .ends(0)
        .json();
    assert_eq!(ran["warnings"][0]["code"], "disk-differs");
    assert_eq!(
        ran["steps"][0]["afterSha256"],
        chipdeck_replay::restore::sha256_hex(b"one\ntwo\nthree\nfour\n")
    );
    world
        .on_log("restore", &["--at", "3", "src/a.rs", "--merge"])
        .ends(0);
    assert_eq!(world.text("src/a.rs").unwrap(), "ONE\ntwo\nthree\nfour\n");
    world.run(&["undo"]).ends(0);
    assert_eq!(world.text("src/a.rs").unwrap(), "ONE\ntwo\nthree\nFOUR\n");
    // The same line on both sides: nothing is written.
    world.write("src/a.rs", "one\ntwo\nthree\nvier\n");
    let ran = world
        .on_log("restore", &["--at", "3", "src/a.rs", "--merge", "--json"])
        .ends(1);
    let conflict = &ran.json()["conflicts"][0];
    assert_eq!(
        (&conflict["ours"], &conflict["theirs"]),
        (&json!("vier\n"), &json!("four\n"))
    );
    assert_eq!(
        (&conflict["line"], &ran.json()["applied"]),
        (&json!(4), &json!(false))
    );
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nvier\n");
    // Without --merge the log's content is taken, and an undo gives the disk's back.
    world.on_log("restore", &["--at", "3", "src/a.rs"]).ends(0);
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nfour\n");
    world.write("src/a.rs", "edited since\n");
    let ran = world.run(&["undo"]).ends(1);
    assert!(ran.stderr.contains("src/a.rs"), "{}", ran.stderr);
    assert_eq!(world.text("src/a.rs").unwrap(), "edited since\n");
}

#[test]
fn where_the_root_comes_from() {
    let world = World::new();
    world.log(&story(Path::new("/home/somebody/elsewhere/project")));
    // The log's folder is not here.
    let ran = world.on_log("restore", &["--at", "3", "src/a.rs"]).ends(2);
    assert!(ran.stderr.contains("--root"), "{}", ran.stderr);
    world
        .on_log("diff", &["--from", "3", "--to", "disk"])
        .ends(2);
    world.on_log("diff", &["--from", "3", "--to", "4"]).ends(0);
    let root = world.project();
    let root = root.to_str().unwrap();
    world
        .on_log("restore", &["--at", "3", "src/a.rs", "--root", root])
        .ends(0);
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nfour\n");
    // The undo knows the root from the journal.
    world.run(&["undo"]).ends(0);
    assert_eq!(world.text("src/a.rs"), None);
    world
        .on_log(
            "restore",
            &["--at", "3", "src/a.rs", "--root", "/no/such/folder"],
        )
        .ends(1);
    world.on_log("restore", &["--at", "3"]).ends(2);
    world
        .on_log("restore", &["--at", "3", "--all", "src/a.rs"])
        .ends(2);
    world
        .run(&["restore", "/no/such/log", "--at", "3", "x"])
        .ends(1);
}

#[test]
fn another_machines_log_and_a_path_given_relative_to_the_root() {
    let world = World::new();
    let cwd = "/home/somebody/elsewhere/project";
    world.log(&[
        ("session.start", json!({"cwd": cwd})),
        (
            "file.create",
            json!({"path": format!("{cwd}/src/a.rs"), "content": "a\n"}),
        ),
    ]);
    let root = world.project();
    let root = root.to_str().unwrap();
    world
        .on_log("restore", &["--at", "end", "src/a.rs", "--root", root])
        .ends(0);
    assert_eq!(world.text("src/a.rs").unwrap(), "a\n");
    world
        .on_log(
            "restore",
            &["--at", "1", &format!("{cwd}/src/a.rs"), "--root", root],
        )
        .ends(0);
    assert_eq!(
        world.text("src/a.rs"),
        None,
        "before its create it was absent"
    );
}

#[test]
fn hostile_paths_write_nothing() {
    let world = World::new();
    let outside = world.place.path().join("outside.txt");
    let hostile = [
        "../outside.txt".to_owned(),
        "src/../../outside.txt".to_owned(),
        outside.to_str().unwrap().to_owned(),
        "C:\\Windows\\outside.txt".to_owned(),
        "link/outside.txt".to_owned(),
    ];
    std::os::unix::fs::symlink(world.place.path(), world.project().join("link")).unwrap();
    for path in &hostile {
        world.log(&[
            ("session.start", json!({"cwd": world.project()})),
            (
                "file.create",
                json!({"path": "fine.txt", "content": "fine\n"}),
            ),
            ("file.create", json!({"path": path, "content": "hostile\n"})),
        ]);
        for named in [&["fine.txt", path.as_str()][..], &["--all"][..]] {
            let mut arguments = vec!["--at", "end"];
            arguments.extend_from_slice(named);
            let ran = world.on_log("restore", &arguments).ends(1);
            assert!(
                ran.stderr.contains("outside-root"),
                "{path}: {}",
                ran.stderr
            );
        }
        assert!(!outside.exists(), "{path}");
        assert_eq!(world.text("fine.txt"), None, "nothing at all: {path}");
        let ran = world
            .on_log(
                "restore",
                &["--at", "end", "--all", "--inside-only", "--json"],
            )
            .ends(0)
            .json();
        assert_eq!(ran["warnings"].as_array().unwrap().len(), 2, "{ran}");
        assert!(ran["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|w| w["code"] == "outside-root"));
        assert!(!outside.exists(), "{path}");
        assert_eq!(world.text("fine.txt").unwrap(), "fine\n");
        world.run(&["undo"]).ends(0);
        let diff = world
            .on_log("diff", &["--from", "end", "--to", "disk", "--json"])
            .ends(0)
            .json();
        assert_eq!(diff["files"].as_array().unwrap().len(), 2, "{path}");
    }
}

#[test]
fn a_command_that_is_killed_is_settled_by_the_next() {
    // The intent of a restore whose process died after the first of two files.
    let world = told();
    world.write("src/b.rs", "other\n");
    world
        .on_log("restore", &["--at", "3", "src/a.rs", "src/b.rs"])
        .ends(0);
    let journal = fs::read_to_string(world.own_data().join("restores.jsonl")).unwrap();
    let lines: Vec<Value> = journal
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let step = |line: &Value| {
        let payload = &line["payload"];
        json!({"path": payload["path"], "real": payload["path"], "before": payload["beforeSha256"],
            "after": payload["afterSha256"], "before_attributes": payload["beforeAttributes"],
            "temporary": ".chipdeck-x", "makes": [], "prune": []})
    };
    let id = lines[0]["payload"]["restoreId"].as_str().unwrap();
    let intent = json!({"restore": id, "kind": "files", "undo_of": null, "label": null,
        "root": lines[0]["payload"]["root"], "root_bytes": null, "steps": [step(&lines[0]), step(&lines[1])]});
    let pending = world.own_data().join("pending");
    fs::write(pending.join(format!("{id}.json")), intent.to_string()).unwrap();
    world.write("src/b.rs", "other\n");
    let ran = world.run(&["history", "--json"]).ends(0);
    assert!(ran.stderr.contains("broken off"), "{}", ran.stderr);
    assert_eq!(ran.json()["restores"], json!([]));
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nFOUR\n");
    assert_eq!(world.text("src/b.rs").unwrap(), "other\n");
    assert_eq!(fs::read_dir(&pending).unwrap().count(), 0);
    let ran = world.run(&["history"]).ends(0);
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("no restores yet\n", "")
    );
}

#[test]
fn a_pair_of_logs_and_a_bom_and_crlf_come_back_byte_for_byte() {
    let world = World::new();
    let content = "\u{feff}eins\r\nzwei\r\nohne Ende";
    world.log(&[
        ("session.start", json!({"cwd": world.project()})),
        ("file.create", json!({"path": "t.txt", "content": content})),
    ]);
    world.write("t.txt", "eins\nzwei\n");
    let ran = world.on_log("restore", &["--at", "end", "t.txt"]).ends(0);
    assert!(
        ran.stdout.contains("line-endings") && ran.stdout.contains("byte-order-mark"),
        "{}",
        ran.stdout
    );
    assert_eq!(world.text("t.txt").unwrap(), content);
    world.run(&["undo"]).ends(0);
    assert_eq!(world.text("t.txt").unwrap(), "eins\nzwei\n");
}

#[test]
fn the_preview_says_that_a_hard_link_is_broken() {
    let world = told();
    fs::hard_link(
        world.project().join("src/a.rs"),
        world.project().join("other"),
    )
    .unwrap();
    let ran = world
        .on_log("restore", &["--at", "3", "src/a.rs", "--dry-run", "--json"])
        .ends(0)
        .json();
    assert_eq!(ran["warnings"][0]["code"], "hard-link");
    world.on_log("restore", &["--at", "3", "src/a.rs"]).ends(0);
    assert_eq!(world.text("other").unwrap(), "one\ntwo\nthree\nFOUR\n");
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nfour\n");
}
