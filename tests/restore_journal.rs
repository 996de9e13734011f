//! The history: undo, undo of an undo, over restarts, by several at once; the journal as a log; damage to it.
#![cfg(unix)]

use crate::restore_world::World;
use chipdeck_disk::restore::RestoreError;
use std::fs;
use std::os::unix::fs::MetadataExt;

#[test]
fn undo_of_an_undo_and_the_history_over_restarts() {
    let world = World::new();
    world.write("a", "1");
    let first = world.restore(&[("a", Some(b"2")), ("made/b", Some(b"b"))]);
    let second = world.restore(&[("a", Some(b"3"))]);
    assert!(
        matches!(world.undo(Some(&first)), Err(RestoreError::Moved(_))),
        "the newer one is in the way"
    );
    let undo_second = world.undo(None).unwrap();
    assert_eq!(world.text("a"), "2");
    let undo_first = world.undo(None).unwrap();
    assert_eq!(world.text("a"), "1");
    assert!(!world.at("made").exists());
    assert!(matches!(world.undo(None), Err(RestoreError::NothingToUndo)));
    assert!(matches!(
        world.undo(Some(&first)),
        Err(RestoreError::AlreadyUndone { .. })
    ));
    // The id of an undo brings its restore back.
    let redo = world.undo(Some(&undo_first)).unwrap();
    assert_eq!(
        (world.text("a").as_str(), world.text("made/b").as_str()),
        ("2", "b")
    );
    let history = world.journal().history().unwrap();
    let rows: Vec<_> = history
        .iter()
        .map(|past| {
            (
                past.id.as_str(),
                past.undo_of.as_deref(),
                past.undone_by.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (redo.as_str(), Some(undo_first.as_str()), None),
            (
                undo_first.as_str(),
                Some(first.as_str()),
                Some(redo.as_str())
            ),
            (undo_second.as_str(), Some(second.as_str()), None),
            (second.as_str(), None, Some(undo_second.as_str())),
            (first.as_str(), None, None),
        ]
    );
    // It stands again, so it can be undone again.
    world.undo(None).unwrap();
    assert_eq!(world.text("a"), "1");
    assert!(matches!(
        world.undo(Some("r0")),
        Err(RestoreError::UnknownRestore(_))
    ));
}

#[test]
fn an_undo_waits_for_the_files_as_its_restore_left_them() {
    let world = World::new();
    world.write("a", "1");
    world.restore(&[("a", Some(b"2")), ("b", Some(b"2"))]);
    world.write("a", "edited since");
    fs::remove_file(world.at("b")).unwrap();
    match world.undo(None) {
        Err(RestoreError::Moved(moved)) => assert_eq!(moved.len(), 2),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.text("a"), "edited since");
    world.write("a", "2");
    world.write("b", "2");
    world.undo(None).unwrap();
    assert_eq!(world.text("a"), "1");
}

#[test]
fn a_folder_that_was_made_stays_if_somebody_used_it() {
    let world = World::new();
    world.restore(&[("x/y/z", Some(b"1"))]);
    world.write("x/other", "mine");
    world.undo(None).unwrap();
    assert!(!world.at("x/y").exists());
    assert_eq!(world.text("x/other"), "mine");
}

#[test]
fn our_own_places_are_closed_to_others_and_the_journal_is_a_log() {
    let world = World::new();
    world.write("a", "1");
    let first = world.restore(&[("a", Some(b"2")), ("b", Some(b"2"))]);
    let undo = world.undo(None).unwrap();
    let data = world.places().data;
    let mut todo = vec![data.clone()];
    while let Some(path) = todo.pop() {
        let found = fs::metadata(&path).unwrap();
        let mode = if found.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(found.mode() & 0o777, mode, "{}", path.display());
        if found.is_dir() {
            todo.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
    }
    let reading = chipdeck_engine::log::Reading::of(&data.join("restores.jsonl")).unwrap();
    assert!(reading.format.is_canonical());
    assert_eq!(reading.timeline.len(), 4);
    assert!(
        reading.timeline.findings().is_empty(),
        "{:?}",
        reading.timeline.findings()
    );
    let text = fs::read_to_string(data.join("restores.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (n, line) in lines.iter().enumerate() {
        assert_eq!(
            (&line["type"], &line["seq"], &line["version"]),
            (&"restore.apply".into(), &n.into(), &1.into())
        );
        assert!(line["timestamp"].is_i64());
    }
    assert_eq!(lines[0]["payload"]["restoreId"], first.as_str());
    assert_eq!(lines[0]["payload"]["path"], "a");
    assert!(
        lines[1]["payload"].get("beforeSha256").is_none(),
        "absent before"
    );
    assert_eq!(lines[2]["payload"]["restoreId"], undo.as_str());
    assert_eq!(lines[2]["payload"]["undoOf"], first.as_str());
}

#[test]
fn a_torn_last_line_of_the_journal_is_mended_before_the_next() {
    let world = World::new();
    world.write("a", "1");
    world.restore(&[("a", Some(b"2"))]);
    let journal = world.places().data.join("restores.jsonl");
    let whole = fs::read(&journal).unwrap();
    let torn = b"{\"eventId\":\"r0123torn";
    fs::write(&journal, [&whole[..], torn].concat()).unwrap();
    assert_eq!(world.journal().history().unwrap().len(), 1);
    world.restore(&[("a", Some(b"3"))]);
    let text = fs::read_to_string(&journal).unwrap();
    assert!(text.as_bytes().starts_with(&whole) && !text.contains("torn"));
    assert_eq!(world.journal().history().unwrap().len(), 2);
    let beside = world.places().data.join("restores.jsonl.torn-1");
    assert_eq!(fs::read(beside).unwrap(), torn, "a copy of what was cut");
    // What is not ours stays as it is, on a line of its own.
    let mut foreign = fs::read(&journal).unwrap();
    foreign.extend_from_slice(b"{\"note\": \"somebody is still writing");
    fs::write(&journal, &foreign).unwrap();
    world.restore(&[("a", Some(b"3b"))]);
    let text = fs::read(&journal).unwrap();
    assert!(text.starts_with(&[&foreign[..], b"\n"].concat()));
    assert_eq!(world.journal().history().unwrap().len(), 3);
    // A line of somebody else's, and one without its newline, are kept.
    let mut text = fs::read(&journal).unwrap();
    text.splice(0..0, b"not ours\n".iter().copied());
    text.pop();
    fs::write(&journal, &text).unwrap();
    world.restore(&[("a", Some(b"4"))]);
    assert!(fs::read(&journal)
        .unwrap()
        .starts_with(&[&text[..], b"\n"].concat()));
    assert_eq!(world.journal().history().unwrap().len(), 4);
}

#[test]
fn a_kept_copy_that_is_gone_or_damaged_is_said_and_nothing_is_written() {
    let world = World::new();
    world.write("a", "1");
    world.restore(&[("a", Some(b"2"))]);
    let images = world.places().data.join("images");
    for shelf in fs::read_dir(&images).unwrap() {
        for image in fs::read_dir(shelf.unwrap().path()).unwrap() {
            fs::write(image.unwrap().path(), "damaged").unwrap();
        }
    }
    assert!(matches!(
        world.undo(None),
        Err(RestoreError::ImageGone { .. })
    ));
    assert_eq!(world.text("a"), "2");
    // The next restore keeps good copies again.
    world.restore(&[("a", Some(b"1"))]);
    world.undo(None).unwrap();
    assert_eq!(world.text("a"), "2");
}

#[test]
fn restores_at_the_same_time_do_not_mix() {
    let world = World::new();
    for n in 0..4 {
        world.write(&format!("f{n}"), "0");
    }
    std::thread::scope(|threads| {
        for n in 0..4 {
            let world = &world;
            threads.spawn(move || {
                let path = format!("f{n}");
                for round in 1..=5_u8 {
                    world.restore(&[(&path, Some(&[b'0' + round]))]);
                }
            });
        }
    });
    let history = world.journal().history().unwrap();
    assert_eq!(history.len(), 20);
    let mut ids: Vec<&str> = history.iter().map(|past| past.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 20);
    for _ in 0..20 {
        world.undo(None).unwrap();
    }
    for n in 0..4 {
        assert_eq!(world.text(&format!("f{n}")), "0");
    }
    let reading =
        chipdeck_engine::log::Reading::of(&world.places().data.join("restores.jsonl")).unwrap();
    assert_eq!(reading.timeline.len(), 40);
    assert!(
        reading.timeline.findings().is_empty(),
        "{:?}",
        reading.timeline.findings()
    );
}

#[test]
fn two_of_the_same_plan_write_once() {
    let world = World::new();
    world.write("a", "1");
    let plan = world.plan(&[("a", Some(b"2"))]);
    let root = world.root();
    let outcomes: Vec<bool> = std::thread::scope(|threads| {
        let both: Vec<_> = (0..2)
            .map(|_| threads.spawn(|| world.journal().apply(&root, &plan, 1).is_ok()))
            .collect();
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|ok| **ok).count(), 1);
    assert_eq!(world.journal().history().unwrap().len(), 1);
}

#[test]
fn a_root_that_became_a_link_takes_no_undo() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().canonicalize().unwrap();
    let run = |arguments: &[&str]| {
        std::process::Command::new(env!("CARGO_BIN_EXE_chipdeck"))
            .args(arguments)
            .current_dir(&base)
            .env("HOME", base.join("home"))
            .env("XDG_DATA_HOME", base.join("data"))
            .output()
            .unwrap()
    };
    let line = r#"{"eventId":"e1","traceId":"t","seq":1,"type":"file.create","timestamp":1,"payload":{"path":"a.txt","content":"one\n"}}"#;
    std::fs::write(base.join("log.jsonl"), format!("{line}\n")).unwrap();
    std::fs::create_dir(base.join("a")).unwrap();
    std::fs::create_dir(base.join("b")).unwrap();
    std::fs::write(base.join("b/a.txt"), "one\n").unwrap();
    let done = run(&["restore", "log.jsonl", "--at", "1", "a.txt", "--root", "a"]);
    assert!(done.status.success(), "{done:?}");
    std::fs::rename(base.join("a"), base.join("a.real")).unwrap();
    std::os::unix::fs::symlink("b", base.join("a")).unwrap();
    let undone = run(&["undo"]);
    assert_eq!(undone.status.code(), Some(1), "{undone:?}");
    assert_eq!(
        std::fs::read_to_string(base.join("b/a.txt")).unwrap(),
        "one\n"
    );

    // A damaged history is said.
    let journal = base.join("data/chipdeck/restores.jsonl");
    let bytes = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, &bytes[..bytes.len() - 20]).unwrap();
    let history = run(&["history"]);
    assert!(
        String::from_utf8_lossy(&history.stderr).contains("is damaged"),
        "{history:?}"
    );
}
