//! Restores by the command in odd places: what is there already, what stands in the way, limits of the kept copies, homes
//! that are no roots, text that would steer a terminal, settings with faults.
#![cfg(unix)]

use crate::restore_command::{told, Ran, World};
use serde_json::{json, Value};
use std::fs;
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

/// With other variables than [`World::run`] has.
fn run_with(world: &World, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chipdeck"));
    command.args(arguments).current_dir(world.place.path());
    for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
        command.env_remove(name);
    }
    command.env("HOME", world.place.path().join("home"));
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    Ran {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn chip(world: &World, content: &str) -> String {
    let dir = world.place.path().join("chips");
    fs::create_dir_all(&dir).unwrap();
    let chip = json!({"id": "cafe01", "tool": "be-write", "created_at": 1_764_500_004,
        "args": {"file": "new.rs", "content": content}});
    fs::write(dir.join("chip-cafe01.json"), chip.to_string()).unwrap();
    dir.to_str().unwrap().to_owned()
}

#[test]
fn a_whole_file_is_not_put_there_twice() {
    let world = World::new();
    let dir = chip(&world, "fn main() {\n    work();\n}\n");
    world.write("new.rs", "");
    let to = format!("{}:0", world.project().join("new.rs").display());
    let restore = |to: &str| {
        let arguments = [
            "--json", "chips", "restore", "cafe01", "--dir", &dir, "--form", "content", "--to", to,
        ];
        world.run(&arguments).ends(0).json()
    };
    assert_eq!(restore(&to)["steps"][0]["action"], "replace");
    assert_eq!(
        world.text("new.rs").unwrap(),
        "fn main() {\n    work();\n}\n"
    );
    for again in [to.clone(), to.replace(":0", ":3")] {
        let again = restore(&again);
        assert_eq!(again["steps"][0]["action"], "none");
        assert_eq!(again["applied"], false);
        assert_eq!(again["warnings"][0]["code"], "already-there");
    }
    // Among other lines too, whatever their ends; but a line that is there by chance is no reason.
    world.write(
        "new.rs",
        "// head\r\nfn main() {\r\n    work();\r\n}\r\n// tail\r\n",
    );
    assert_eq!(
        restore(&to.replace(":0", ":1"))["steps"][0]["action"],
        "none"
    );
    assert_eq!(restore(&to)["steps"][0]["action"], "replace");
    let dir = chip(&world, "}\n");
    world.write("new.rs", "{\n}\n");
    let arguments = [
        "--json", "chips", "restore", "cafe01", "--dir", &dir, "--form", "content", "--to",
    ];
    let one = to.replace(":0", ":1");
    let ran = world
        .run(&[&arguments[..], &[&one]].concat())
        .ends(0)
        .json();
    assert_eq!(ran["steps"][0]["action"], "replace");
    assert_eq!(world.text("new.rs").unwrap(), "{\n}\n}\n");
}

#[test]
fn diff_says_what_stands_in_the_place_of_a_file() {
    let world = told();
    fs::remove_file(world.project().join("src/c.rs")).unwrap();
    fs::create_dir(world.project().join("src/c.rs")).unwrap();
    // What the log has deleted is no difference, whatever has its name.
    fs::create_dir(world.project().join("src/b.rs")).unwrap();
    let ran = world
        .on_log("diff", &["--from", "end", "--to", "disk"])
        .ends(0);
    assert_eq!(
        ran.stdout,
        "# src/c.rs: it is no file on the disk: a folder stands there\n"
    );
    let ran = world.on_log(
        "diff",
        &[
            "--from", "end", "--to", "disk", "--file", "src/c.rs", "--json",
        ],
    );
    let file = &ran.ends(0).json()["files"][0];
    assert_eq!((&file["to"], &file["diff"]), (&Value::Null, &Value::Null));
    assert!(file["note"]
        .as_str()
        .unwrap()
        .contains("a folder stands there"));
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_told_and_nothing_hangs() {
    let world = told();
    world.on_log("restore", &["--at", "3", "src/a.rs"]).ends(0);
    let fifo = |path: &Path| {
        let made = Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    fifo(&world.project().join("src/b.rs"));
    let ran = world.on_log("restore", &["--at", "3", "src/b.rs"]).ends(1);
    assert!(
        ran.stderr.contains("a device, socket or pipe stands there"),
        "{}",
        ran.stderr
    );
    let dir = chip(&world, "x\n");
    let to = format!("{}:0", world.project().join("src/b.rs").display());
    let ran = world
        .run(&["chips", "restore", "cafe01", "--dir", &dir, "--to", &to])
        .ends(1);
    assert!(ran.stderr.contains("pipe"), "{}", ran.stderr);
    let journal = world.own_data().join("restores.jsonl");
    fs::remove_file(&journal).unwrap();
    fifo(&journal);
    for arguments in [&["history"][..], &["undo"]] {
        let ran = world.run(arguments).ends(1);
        assert!(
            ran.stderr.contains("it is no regular file"),
            "{}",
            ran.stderr
        );
    }
    let ran = world.on_log("restore", &["--at", "4", "src/a.rs"]).ends(1);
    assert!(
        ran.stderr.contains("it is no regular file"),
        "{}",
        ran.stderr
    );
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nfour\n");
}

#[test]
fn a_name_that_is_too_long_is_one_warning() {
    let world = World::new();
    let long = format!("src/{}", "x".repeat(300));
    world.log(&[
        ("session.start", json!({"cwd": world.project()})),
        ("file.create", json!({"path": long, "content": "no\n"})),
        (
            "file.create",
            json!({"path": "src/a.rs", "content": "yes\n"}),
        ),
    ]);
    let ran = world
        .on_log("restore", &["--at", "end", "--all", "--json"])
        .ends(1);
    assert!(ran.stderr.contains("too long"), "{}", ran.stderr);
    assert_eq!(world.text("src/a.rs"), None);
    let ran = world.on_log(
        "restore",
        &["--at", "end", "--all", "--inside-only", "--json"],
    );
    let said = ran.ends(0).json();
    let about = said["warnings"].as_array().unwrap().iter();
    let about = about.filter(|it| it["code"] == "not-a-file");
    assert_eq!(about.count(), 1, "{said}");
    assert_eq!(world.text("src/a.rs").unwrap(), "yes\n");
    let ran = world
        .on_log("diff", &["--from", "end", "--to", "disk"])
        .ends(0);
    assert!(
        ran.stdout.contains("the name is too long"),
        "{}",
        ran.stdout
    );
}

#[test]
fn no_home_and_no_whole_disk_is_a_root_by_itself() {
    let world = World::new();
    let home = world.place.path().join("home");
    let events = |cwd: &Path| {
        world.log(&[
            ("session.start", json!({"cwd": cwd})),
            (
                "file.create",
                json!({"path": "notes.txt", "content": "n\n"}),
            ),
        ]);
    };
    for cwd in [Path::new("/"), &home, world.place.path()] {
        events(cwd);
        for arguments in [&["--at", "end", "notes.txt"][..], &["--at", "end", "--all"]] {
            let ran = world.on_log("restore", arguments).ends(2);
            assert!(
                ran.stderr.contains("home folder") && ran.stderr.contains("--root DIR"),
                "{}",
                ran.stderr
            );
        }
        let ran = world
            .on_log("diff", &["--from", "0", "--to", "disk"])
            .ends(2);
        assert!(ran.stderr.contains("--root DIR"), "{}", ran.stderr);
        assert!(!cwd.join("notes.txt").exists());
    }
    // By its name it may be.
    events(&home);
    let root = home.to_str().unwrap();
    world
        .on_log("restore", &["--at", "end", "--all", "--root", root])
        .ends(0);
    assert_eq!(fs::read_to_string(home.join("notes.txt")).unwrap(), "n\n");
}

#[test]
fn an_empty_home_is_no_other_home() {
    let world = told();
    let log = world.log_path();
    let log = log.to_str().unwrap();
    let root = world.project();
    let root = root.to_str().unwrap();
    let arguments = ["restore", log, "--at", "3", "src/a.rs", "--root", root];
    let ran = run_with(&world, &[("HOME", "")], &arguments).ends(1);
    assert!(ran.stderr.contains("HOME"), "{}", ran.stderr);
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nFOUR\n");
    let own = world.place.path().join("own");
    let own = own.to_str().unwrap();
    let all = [
        ("HOME", ""),
        ("XDG_DATA_HOME", own),
        ("XDG_CONFIG_HOME", own),
        ("XDG_CACHE_HOME", own),
    ];
    run_with(&world, &all, &arguments).ends(0);
    assert!(Path::new(own).join("chipdeck/restores.jsonl").is_file());
}

#[test]
fn nothing_of_a_log_steers_a_terminal() {
    let world = World::new();
    let evil = "\u{1b}]0;title\u{7}\u{9b}31m\u{202e}txt.exe\u{2069}\u{2028}";
    world.log(&[
        ("session.start", json!({"cwd": world.project()})),
        (
            "file.create",
            json!({"path": "a.txt", "content": format!("{evil}\n")}),
        ),
        ("dialogue.user", json!({"content": evil})),
    ]);
    let dir = chip(&world, &format!("{evil}\n"));
    world.write("b.txt", "b\n");
    let to = format!("{}:0", world.project().join("b.txt").display());
    let strange = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2069}\u{2028}".contains(c);
    let log = world.log_path();
    let log = log.to_str().unwrap();
    for arguments in [
        &["restore", log, "--at", "end", "--all", "--dry-run"][..],
        &[
            "chips",
            "restore",
            "cafe01",
            "--dir",
            &dir,
            "--to",
            &to,
            "--dry-run",
        ],
        &[
            "chips",
            "restore",
            "cafe01",
            "--dir",
            &dir,
            "--to",
            &to,
            "--form",
            "content",
            "--dry-run",
        ],
        &["chips", "show", "cafe01", "--dir", &dir],
        &["log", log],
        &["state", log, "--at", "end"],
        &["log", log, "--json"],
        &[
            "restore",
            log,
            "--at",
            "end",
            "--all",
            "--dry-run",
            "--json",
        ],
    ] {
        let ran = world.run(arguments).ends(0);
        assert!(
            !ran.stdout.contains(strange) && !ran.stderr.contains(strange),
            "{arguments:?}: {:?}",
            ran.stdout
        );
    }
    // Exact all the same.
    let ran = world
        .on_log("restore", &["--at", "end", "--all", "--dry-run", "--json"])
        .json();
    assert!(ran["steps"][0]["diff"].as_str().unwrap().contains(evil));
    // What another program is to read is given as it is.
    let ran = world
        .on_log("diff", &["--from", "0", "--to", "end"])
        .ends(0);
    assert!(ran.stdout.contains(evil));
}

#[test]
fn faulty_settings_are_said() {
    let world = told();
    let config = world.place.path().join("home/.config/chipdeck");
    fs::create_dir_all(&config).unwrap();
    fs::write(
        config.join("config.toml"),
        "[archive]\nmax_days = \"many\"\n",
    )
    .unwrap();
    let ran = world.on_log("restore", &["--at", "3", "src/a.rs"]).ends(0);
    let about: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|it| it.contains("archive.max_days"))
        .collect();
    assert_eq!(about.len(), 1, "{}", ran.stderr);
    assert!(
        about[0].starts_with("warning: settings: "),
        "{}",
        ran.stderr
    );
    fs::write(config.join("config.toml"), "[archive\n").unwrap();
    let ran = world.run(&["chips", "list"]).ends(0);
    assert_eq!(
        ran.stderr.matches("warning: settings: ").count(),
        1,
        "{}",
        ran.stderr
    );
    fs::write(config.join("config.toml"), [0xff, 0xfe]).unwrap();
    let ran = world.run(&["chips", "list"]).ends(0);
    assert!(ran.stderr.contains("cannot be read"), "{}", ran.stderr);
}

#[test]
fn old_kept_copies_go_and_that_is_said() {
    let world = World::new();
    let many: Vec<(String, Value)> = (0..30)
        .map(|n| ("file.change".to_owned(), json!({"path": "a", "edits": [{"old": format!("{n}"), "new": format!("{}", n + 1)}]})))
        .collect();
    let mut events = vec![
        ("session.start", json!({"cwd": world.project()})),
        (
            "file.create",
            json!({"path": "a", "content": format!("0\n{}", "x".repeat(1000))}),
        ),
    ];
    events.extend(
        many.iter()
            .map(|(kind, payload)| (kind.as_str(), payload.clone())),
    );
    world.log(&events);
    let config = world.place.path().join("home/.config/chipdeck");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "[archive]\nmax_bytes = 1\n").unwrap();
    let mut ids = Vec::new();
    let mut last = String::new();
    for n in 2..=28 {
        let ran = world
            .on_log("restore", &["--at", &n.to_string(), "a", "--json"])
            .ends(0);
        last = ran.stderr.clone();
        ids.push(ran.json()["restoreId"].as_str().unwrap().to_owned());
    }
    assert!(last.contains("can no longer be taken back"), "{last}");
    assert!(last.contains("more than archive.max_bytes"), "{last}");
    let ran = world.run(&["history", "--json"]).ends(0).json();
    let gone = ran["restores"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["steps"][0]["diff"].is_null());
    assert!(gone.count() >= 6);
    // The newest twenty can be taken back, one after the other; before them it is said why not.
    for _ in 0..20 {
        world.run(&["undo"]).ends(0);
    }
    let ran = world.run(&["undo"]).ends(1);
    assert!(
        ran.stderr.contains("kept copy of \"a\"") && ran.stderr.contains("limit"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_newest_that_stands_is_taken_back_also_after_a_redo() {
    let world = told();
    let id = |ran: Ran| ran.json()["restoreId"].as_str().unwrap().to_owned();
    let first = id(world
        .on_log("restore", &["--at", "3", "src/a.rs", "--json"])
        .ends(0));
    let undo = id(world.run(&["undo", "--json"]).ends(0));
    let redo = id(world.run(&["undo", &undo, "--json"]).ends(0));
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nfour\n");
    world.run(&["undo"]).ends(0);
    assert_eq!(world.text("src/a.rs").unwrap(), "one\ntwo\nthree\nFOUR\n");
    let history = world.run(&["history", "--json"]).ends(0).json();
    let newest = &history["restores"][0];
    assert_eq!(newest["undoOf"], first.as_str());
    assert_ne!(newest["restoreId"], redo.as_str());
    world.run(&["undo"]).ends(1);
}

#[test]
fn odd_files_come_back_and_go_again_as_they_were() {
    let world = World::new();
    let project = world.project();
    world.log(&[
        ("session.start", json!({"cwd": &project})),
        (
            "file.create",
            json!({"path": "crlf.txt", "content": "a\r\nb"}),
        ),
        (
            "file.create",
            json!({"path": "bom.txt", "content": "\u{feff}a\n"}),
        ),
        (
            "file.create",
            json!({"path": "through.txt", "content": "new\n"}),
        ),
        (
            "file.create",
            json!({"path": "run.sh", "content": "#!/bin/sh\n"}),
        ),
        (
            "file.create",
            json!({"path": "closed/x.txt", "content": "x\n"}),
        ),
    ]);
    world.write("crlf.txt", "old\r\n");
    world.write("bom.txt", "old");
    world.write("real/there.txt", "old\n");
    symlink("real/there.txt", project.join("through.txt")).unwrap();
    world.write("run.sh", "old\n");
    fs::set_permissions(project.join("run.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::write(
        project.join(std::ffi::OsStr::new("r\u{e9}")),
        "a name beside",
    )
    .unwrap();
    let before = fs::metadata(project.join("run.sh")).unwrap();
    world.on_log("restore", &["--at", "end", "--all"]).ends(0);
    assert_eq!(fs::read(project.join("crlf.txt")).unwrap(), b"a\r\nb");
    assert_eq!(
        fs::read(project.join("bom.txt")).unwrap(),
        "\u{feff}a\n".as_bytes()
    );
    assert!(project.join("through.txt").is_symlink());
    assert_eq!(world.text("real/there.txt").unwrap(), "new\n");
    assert_eq!(
        fs::metadata(project.join("run.sh")).unwrap().mode(),
        before.mode()
    );
    world.run(&["undo"]).ends(0);
    assert_eq!(fs::read(project.join("crlf.txt")).unwrap(), b"old\r\n");
    assert_eq!(fs::read(project.join("bom.txt")).unwrap(), b"old");
    assert_eq!(world.text("real/there.txt").unwrap(), "old\n");
    assert_eq!(
        fs::metadata(project.join("run.sh")).unwrap().mode(),
        before.mode()
    );
    assert!(
        !project.join("closed").exists(),
        "a folder that was made goes with its file"
    );
    let left: Vec<_> = fs::read_dir(&project)
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    assert!(
        !left
            .iter()
            .any(|it| it.to_string_lossy().contains("chipdeck")),
        "{left:?}"
    );
}
