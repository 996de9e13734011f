//! Restores killed at any moment, and several at the same time: processes of their own.
#![cfg(unix)]

use crate::restore_command::World;
use serde_json::{json, Value};
use std::fs;
use std::process::Command;

/// Many files, all made by one log, so that a restore takes a while.
fn many(world: &World, files: usize) {
    let mut events = vec![("session.start", json!({"cwd": world.project()}))];
    let old = "old line\n".repeat(2_000);
    for n in 0..files {
        events.push((
            "file.create",
            json!({"path": format!("f{n}"), "content": format!("{n}\n{old}")}),
        ));
    }
    world.log(&events);
    for n in 0..files {
        world.write(&format!("f{n}"), "now\n");
    }
}

#[test]
fn killed_at_any_moment_every_file_is_old_or_new_and_the_next_start_settles_it() {
    const FILES: usize = 60;
    let mut torn = 0;
    for round in 0..12_u64 {
        let world = World::new();
        many(&world, FILES);
        let home = world.place.path().join("home");
        let mut child = Command::new(env!("CARGO_BIN_EXE_chipdeck"))
            .args([
                "restore",
                world.log_path().to_str().unwrap(),
                "--at",
                "end",
                "--all",
            ])
            .env("HOME", &home)
            .env_remove("XDG_DATA_HOME")
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Killed once some of the files are written.
        let enough = round as usize * 4;
        let written = || {
            (0..FILES)
                .filter(|n| {
                    world
                        .text(&format!("f{n}"))
                        .is_some_and(|text| text != "now\n")
                })
                .count()
        };
        let started = std::time::Instant::now();
        while written() <= enough && child.try_wait().unwrap().is_none() {
            assert!(started.elapsed().as_secs() < 60, "it takes too long");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let is_new = |n: &usize| match world.text(&format!("f{n}")).unwrap() {
            text if text == "now\n" => false,
            text => {
                assert!(
                    text.starts_with(&format!("{n}\nold line\n")) && text.len() > 18_000,
                    "between: {n}"
                );
                true
            }
        };
        let new = (0..FILES).filter(is_new).count();
        torn += usize::from(new > 0 && new < FILES);
        let history = world.run(&["history", "--json"]).ends(0).json();
        let stands = history["restores"].as_array().unwrap().len();
        let new = (0..FILES).filter(is_new).count();
        assert!(new == 0 || new == FILES, "round {round}: {new}");
        assert_eq!(
            stands,
            usize::from(new == FILES),
            "the history agrees with the disk"
        );
        let left = fs::read_dir(world.project()).unwrap().count();
        assert_eq!(left, FILES + 1, "the files and src, no temporary file");
    }
    assert!(torn > 0, "no kill came in the middle");
}

#[test]
fn two_commands_at_once_wait_for_each_other() {
    let world = World::new();
    many(&world, 12);
    let restored: Vec<i32> = std::thread::scope(|threads| {
        let runs: Vec<_> = (0..6)
            .map(|n| {
                let world = &world;
                let files = [format!("f{}", 2 * n), format!("f{}", 2 * n + 1)];
                threads.spawn(move || {
                    world
                        .on_log("restore", &["--at", "end", &files[0], &files[1]])
                        .status
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert_eq!(restored, [0; 6]);
    for n in 0..12 {
        assert!(world
            .text(&format!("f{n}"))
            .unwrap()
            .starts_with(&format!("{n}\n")));
    }
    let history = world.run(&["history", "--json"]).ends(0).json();
    assert_eq!(history["restores"].as_array().unwrap().len(), 6);
    let journal = fs::read_to_string(world.own_data().join("restores.jsonl")).unwrap();
    let seqs: Vec<u64> = journal
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["seq"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(seqs, (0..12).collect::<Vec<u64>>());
    for _ in 0..6 {
        world.run(&["undo"]).ends(0);
    }
    for n in 0..12 {
        assert_eq!(world.text(&format!("f{n}")).unwrap(), "now\n");
    }
}
