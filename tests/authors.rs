//! One file, all authors: what two agents, git, the chip server and the disk know of a path, as one list, and back.

use crate::authors_world::*;
use chipdeck_engine::api::*;
use chipdeck_engine::Origin;
use serde_json::json;

const ONE: &str = "def price(item):\n    return item.net\n";
const TWO: &str = "def price(item):\n    return item.net * 1.19\n";
const THREE: &str = "def price(item):\n    return item.net * item.rate\n";
const LOST: &str = "def price(item):\n    return 0\n";

/// Who, what it did, and the text, newest first.
fn told(world: &World, history: &PathHistory) -> Vec<String> {
    let text = |row: usize| {
        let diff = world.diff(history, row, PathAgainst::Previous);
        diff.new.and_then(|side| side.sha256).unwrap_or_default()
    };
    history
        .rows
        .iter()
        .enumerate()
        .map(|(n, row)| {
            let who = |author: &PathAuthor| match author.kind {
                AuthorKind::Session => author.by.clone().unwrap(),
                AuthorKind::Git => format!("git {}", author.name),
                AuthorKind::Snapshot => "snapshot".to_owned(),
                AuthorKind::Chip => "chip".to_owned(),
                AuthorKind::Disk => "disk".to_owned(),
            };
            let also: Vec<String> = row.also.iter().map(|it| who(&it.author)).collect();
            assert_eq!(text(n), row.sha256.clone().unwrap_or_default());
            let name = [("one", ONE), ("two", TWO), ("three", THREE), ("lost", LOST)]
                .into_iter()
                .find(|(_, text)| row.sha256 == Some(sha256(text)))
                .map_or("?", |it| it.0);
            let also = if also.is_empty() {
                String::new()
            } else {
                format!(" [{}]", also.join(", "))
            };
            format!("{} {:?} {name}{also}", who(&row.author), row.op)
        })
        .collect()
}

fn sha256(text: &str) -> String {
    chipdeck_replay::restore::sha256_hex(text.as_bytes())
}

/// Claude Code makes it, it is committed, Codex changes it, Claude Code loses it today.
fn shop() -> World {
    let world = World::new();
    let app = world.app();
    world.git(NOON, &["init", "-q", "-b", "main"]);
    let file = app.join("src/price.py");
    let first = [
        vec![asked(NOON, "A file for prices")],
        wrote(NOON + 10_000, "toolu_1", &file, ONE, None).to_vec(),
        wrote(NOON + 20_000, "toolu_2", &file, TWO, Some(ONE)).to_vec(),
    ];
    world.claude(
        "11111111-1111-4111-8111-111111111111",
        &app,
        &first.concat(),
    );
    world.put("src/price.py", TWO);
    world.commit(NOON + 30_000, "Prices with tax");
    world.codex(
        "c0de",
        &app.join("src"),
        NOON + 60_000,
        &[(
            NOON + 70_000,
            "*** Begin Patch\n*** Update File: price.py\n@@\n def price(item):\n-    return item.net * 1.19\n+    return item.net * item.rate\n*** End Patch",
        )],
    );
    let day = 24 * 3_600_000;
    let second = [
        vec![asked(NOON + day, "Simpler, please")],
        wrote(NOON + day + 10_000, "toolu_9", &file, LOST, Some(THREE)).to_vec(),
    ];
    world.claude(
        "22222222-2222-4222-8222-222222222222",
        &app,
        &second.concat(),
    );
    world.put("src/price.py", LOST);
    world.put("notes.txt", "nobody named this\n");
    world.again()
}

#[test]
fn every_author_of_a_file_in_one_list() {
    let world = shop();
    let project = world.project("app");
    assert!(project.here && project.git, "{project:?}");
    assert_eq!(project.sessions, 3);
    assert_eq!(project.agents, ["claude-code", "codex"]);

    let files = world.files(&project.project, "");
    let paths: Vec<&str> = files.rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths, ["src/price.py"]);
    let row = &files.rows[0];
    assert_eq!((row.sessions, row.changes, row.here), (3, 4, true));
    assert_eq!(world.files(&project.project, "PRICE src").total, 1);
    assert_eq!(world.files(&project.project, "other").total, 0);
    assert_eq!(world.files(&project.project, "other").known, 1);

    let history = world.history(&project.project, "src/price.py");
    assert_eq!(history.gathering.unread, []);
    assert_eq!(
        told(&world, &history),
        [
            "claude-code Change lost [disk]",
            // Codex' own base is not in its log; the before-image of the next session shows what it left.
            "claude-code Observe three",
            "codex Change ?",
            "claude-code Change two [git Prices with tax]",
            // Its before-image in the second call.
            "claude-code Create one [claude-code]",
        ]
    );
    let [lost, three, hunk, two, one] = history.rows.as_slice() else {
        panic!()
    };
    assert!(lost.on_disk && !lost.restorable && three.restorable && two.restorable);
    assert!(!hunk.restorable && hunk.certainty == "unknown" && hunk.why == "base-unknown");
    assert_eq!((two.added, two.removed), (Some(1), Some(1)));
    assert_eq!((one.added, one.removed), (Some(2), Some(0)));
    assert_eq!(one.author.name, "A file for prices");
    assert!(one.author.source.is_some() && one.author.index.is_some());
}

#[test]
fn yesterdays_version_comes_back_and_goes_again() {
    let world = shop();
    let app = world.app();
    let file = app.join("src/price.py");
    let project = world.project("app");
    let history = world.history(&project.project, "src/price.py");
    let what = |row: usize| RestoreWhat::PathVersion {
        history: history.history.clone(),
        version: history.rows[row].version.clone(),
    };
    let diff = world.diff(&history, 1, PathAgainst::Disk);
    assert_eq!((diff.added, diff.removed), (1, 1));
    assert_eq!(diff.old.unwrap().label, "disk now");
    let other = PathAgainst::Version {
        version: history.rows[4].version.clone(),
    };
    assert_eq!(world.diff(&history, 3, other).added, 1);

    // Nobody has opened the folder.
    let plan = world.plan(what(1));
    assert!(
        matches!(&plan.needs, Some(PlanNeed::Root { folder, file }) if *folder == app.to_string_lossy() && file == "src/price.py"),
        "{plan:?}"
    );
    world
        .deck
        .engine
        .open_paths(std::slice::from_ref(&app), Origin::Drop);
    let plan = world.plan(what(1));
    assert!(plan.ready && plan.warnings.is_empty(), "{plan:?}");
    assert_eq!(plan.target, "price.py:2");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), LOST, "a preview");
    let applied = world.deck.ask(Request::Apply { plan: plan.plan });
    assert_eq!(std::fs::read_to_string(&file).unwrap(), THREE);
    // The disk has moved in the list.
    let now = world.history(&project.project, "src/price.py");
    assert!(now.rows[0].op == PathOp::Disk && now.rows[0].sha256 == Some(sha256(THREE)));
    world.deck.ask(Request::Undo {
        restore: Some(applied["restore"].as_str().unwrap().to_owned()),
    });
    assert_eq!(std::fs::read_to_string(&file).unwrap(), LOST);

    // What the disk has and nobody knows is said before it is replaced, and the very version comes, not a merge.
    std::fs::write(&file, "mine\n").unwrap();
    let plan = world.plan(what(3));
    assert_eq!(plan.warnings[0].code, "disk-differs");
    world.deck.ask(Request::Apply { plan: plan.plan });
    assert_eq!(std::fs::read_to_string(&file).unwrap(), TWO);
    world.deck.ask(Request::Undo { restore: None });
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine\n");
}

#[test]
fn line_ends_of_the_disk_are_kept() {
    let world = shop();
    let app = world.app();
    let file = world.put("src/price.py", &LOST.replace('\n', "\r\n"));
    world.deck.engine.open_paths(&[app], Origin::Drop);
    let project = world.project("app");
    let history = world.history(&project.project, "src/price.py");
    assert_eq!(history.rows[0].op, PathOp::Disk);
    let two = history
        .rows
        .iter()
        .find(|row| row.sha256 == Some(sha256(TWO)));
    let plan = world.plan(RestoreWhat::PathVersion {
        history: history.history.clone(),
        version: two.unwrap().version.clone(),
    });
    world.deck.ask(Request::Apply { plan: plan.plan });
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        TWO.replace('\n', "\r\n")
    );
}

#[test]
fn git_and_the_disk_settle_what_a_shell_may_have_changed() {
    let world = World::new();
    let app = world.app();
    world.git(NOON, &["init", "-q", "-b", "main"]);
    let (a, b, c) = (app.join("a.py"), app.join("b.py"), app.join("c.py"));
    let edit = |at: i64, id: &str, path: &std::path::Path, old: &str, new: &str| {
        called(
            at,
            id,
            "Edit",
            json!({"file_path": path, "old_string": old, "new_string": new}),
            json!({"filePath": path, "oldString": old, "newString": new, "originalFile": null, "structuredPatch": [], "replaceAll": false}),
        )
    };
    let records = [
        vec![asked(NOON, "Three files")],
        wrote(NOON + 1_000, "t1", &a, "one\n", None).to_vec(),
        wrote(NOON + 2_000, "t2", &b, "one\n", None).to_vec(),
        wrote(NOON + 3_000, "t3", &c, "one\n", None).to_vec(),
        ran(NOON + 4_000, "t4", "black a.py b.py c.py").to_vec(),
        edit(NOON + 5_000, "t5", &a, "one", "two").to_vec(),
        edit(NOON + 6_000, "t6", &b, "one", "two").to_vec(),
        edit(NOON + 7_000, "t7", &c, "one", "two").to_vec(),
    ];
    let log = world.claude(
        "33333333-3333-4333-8333-333333333333",
        &app,
        &records.concat(),
    );
    // Of one there is a commit, of one the disk, of one nothing.
    world.put("a.py", "two\n");
    world.commit(NOON + 8_000, "Two");
    world.put("a.py", "three\n");
    world.put("b.py", "two\n");
    world.put("c.py", "other\n");
    let world = world.again();
    let log = world.deck.open(&log);
    let evidence = |path: &std::path::Path| -> Evidence {
        let asked = Request::Evidence {
            log: log.clone(),
            path: path.to_string_lossy().into_owned(),
        };
        match world.deck.engine.handle(asked) {
            Ok(Reply::Evidence(evidence)) => evidence,
            other => panic!("{:?}", other.err()),
        }
    };
    let history = |path: &std::path::Path| -> Vec<FileVersion> {
        let asked = Request::FileHistory {
            log: log.clone(),
            path: path.to_string_lossy().into_owned(),
        };
        match world.deck.engine.handle(asked) {
            Ok(Reply::FileHistory(rows)) => rows,
            other => panic!("{:?}", other.err()),
        }
    };
    let last = |path: &std::path::Path| history(path).last().unwrap().clone();
    assert_eq!(last(&a).why, "shell-since");
    assert_eq!(last(&a).certainty, "unverified", "the log alone says so");

    let settled = evidence(&a).settled;
    assert_eq!(settled.len(), 1, "{settled:?}");
    assert_eq!(settled[0].index, last(&a).index);
    assert_eq!(settled[0].settled.by, SettledBy::Commit);
    assert_eq!(settled[0].settled.what.len(), 10);
    assert_eq!(settled[0].settled.time, Some(NOON + 8_000));
    let settled = evidence(&b).settled;
    assert_eq!(settled.len(), 1, "{settled:?}");
    assert_eq!(settled[0].settled.by, SettledBy::Disk);
    assert_eq!(evidence(&c).settled, []);
    assert_eq!(
        last(&a).certainty,
        "unverified",
        "the log's own state stays"
    );

    // The same in the list over all authors.
    let project = world.project("app");
    let all = world.history(&project.project, "a.py");
    let row = all
        .rows
        .iter()
        .find(|row| row.why == "shell-since")
        .unwrap();
    assert_eq!(row.certainty, "unverified");
    assert_eq!(row.settled.as_ref().unwrap().by, SettledBy::Commit);
    let first = all.rows.last().unwrap();
    assert!(first.touched && first.settled.is_none(), "{first:?}");
}

#[test]
fn an_object_that_no_commit_has_settles_too() {
    let world = World::new();
    let app = world.app();
    world.git(NOON, &["init", "-q", "-b", "main"]);
    let a = app.join("a.py");
    let rest = "# The rest of the file, long enough that no other file has just the same.\n";
    let (one, two) = (format!("one\n{rest}"), format!("two\n{rest}"));
    let records = [
        vec![asked(NOON, "One file")],
        wrote(NOON + 1_000, "t1", &a, &one, None).to_vec(),
        ran(NOON + 2_000, "t2", "black a.py").to_vec(),
        called(
            NOON + 3_000,
            "t3",
            "Edit",
            json!({"file_path": a, "old_string": "one", "new_string": "two"}),
            json!({"filePath": a, "oldString": "one", "newString": "two", "originalFile": null, "structuredPatch": [], "replaceAll": false}),
        )
        .to_vec(),
    ];
    world.claude(
        "44444444-4444-4444-8444-444444444444",
        &app,
        &records.concat(),
    );
    world.put("a.py", &two);
    world.git(NOON + 4_000, &["add", "a.py"]);
    world.put("a.py", "three\n");
    let world = world.again();
    let history = world.history(&world.project("app").project, "a.py");
    let row = history.rows.iter().find(|row| row.why == "shell-since");
    let settled = row.unwrap().settled.as_ref().unwrap();
    assert_eq!(settled.by, SettledBy::Object);
}

#[test]
fn what_was_stashed_is_a_version() {
    let world = shop();
    let at = NOON + 2 * 24 * 3_600_000;
    world.put("src/price.py", "put aside\n");
    world.git(at, &["stash", "-q"]);
    let world = world.again();
    let history = world.history(&world.project("app").project, "src/price.py");
    let stash = history.rows.iter().find(|row| row.op == PathOp::Stash);
    let stash = stash.unwrap();
    assert_eq!(stash.sha256, Some(sha256("put aside\n")));
    assert!(stash.restorable);
    assert_eq!(history.rows[0].op, PathOp::Disk);
    assert_eq!(history.rows[0].sha256, Some(sha256(TWO)), "as committed");
}

#[test]
fn copies_that_claude_code_kept() {
    let world = World::new();
    let app = world.app();
    let session = "55555555-5555-4555-8555-555555555555";
    let a = app.join("a.py");
    let record = |name: &str, version: u64, at: i64| {
        json!({"type": "file-history-snapshot", "messageId": "m", "isSnapshotUpdate": true, "snapshot": {
            "messageId": "m", "timestamp": iso(at), "trackedFileBackups": {
                "a.py": {"backupFileName": name, "version": version, "backupTime": iso(at)},
                "gone.py": {"backupFileName": null, "version": 1, "backupTime": iso(at)},
                "b.py": {"backupFileName": "bbbbbbbbbbbbbbbb@v1", "version": 1, "backupTime": iso(at)}}}})
    };
    let records = [
        vec![
            asked(NOON, "Change it"),
            record("aaaaaaaaaaaaaaaa@v1", 1, NOON + 500),
        ],
        wrote(NOON + 1_000, "t1", &a, "written\n", Some("as it was\n")).to_vec(),
        vec![
            record("aaaaaaaaaaaaaaaa@v2", 2, NOON + 2_000),
            record("../../../secret", 3, NOON + 2_500),
            record("aaaaaaaaaaaaaaaa@v9", 9, NOON + 2_600),
        ],
    ];
    let log = world.claude(session, &app, &records.concat());
    let kept = |name: &str, text: &str| {
        let path = format!("home/.claude/file-history/{session}/{name}");
        world.deck.write(&path, text)
    };
    kept("aaaaaaaaaaaaaaaa@v1", "as it was\n");
    kept("aaaaaaaaaaaaaaaa@v2", "by a shell\n");
    kept("bbbbbbbbbbbbbbbb@v1", "another file\n");
    world.deck.write("home/secret", "never\n");
    let file = world.put("a.py", "later\n");
    let world = world.again();
    let log = world.deck.open(&log);
    let asked = Request::Evidence {
        log: log.clone(),
        path: a.to_string_lossy().into_owned(),
    };
    let evidence = world.deck.ask(asked);
    let names: Vec<&str> = evidence["backups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["backup"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["aaaaaaaaaaaaaaaa@v1", "aaaaaaaaaaaaaaaa@v2"]);
    assert_eq!(evidence["backups"][1]["sha256"], sha256("by a shell\n"));
    assert_eq!(evidence["backups"][1]["time"], NOON + 2_000);

    let history = world.history(&world.project("app").project, "a.py");
    let shown: Vec<String> = history
        .rows
        .iter()
        .map(|row| {
            let also: Vec<_> = row.also.iter().map(|it| it.op).collect();
            format!("{:?} {also:?}", row.op)
        })
        .collect();
    assert_eq!(
        shown,
        ["Disk []", "Backup []", "Change []", "Backup [Observe]"],
        "{history:?}"
    );
    world.deck.engine.open_paths(&[app], Origin::Drop);
    let plan = world.plan(RestoreWhat::Backup {
        log,
        path: a.to_string_lossy().into_owned(),
        backup: "aaaaaaaaaaaaaaaa@v2".to_owned(),
    });
    assert!(plan.ready, "{plan:?}");
    world.deck.ask(Request::Apply { plan: plan.plan });
    assert_eq!(std::fs::read_to_string(file).unwrap(), "by a shell\n");
}

#[test]
fn what_git_brought_back_is_supposed_and_settled_by_what_comes_later() {
    let world = World::new();
    let app = world.app();
    world.git(NOON, &["init", "-q", "-b", "main"]);
    world.put("a.py", ONE);
    world.commit(NOON, "One");
    let a = app.join("a.py");
    let records = [
        vec![asked(NOON + 1_000, "Try it")],
        wrote(NOON + 2_000, "t1", &a, LOST, Some(ONE)).to_vec(),
        ran(NOON + 3_000, "t2", "git checkout -- a.py").to_vec(),
    ];
    world.claude(
        "66666666-6666-4666-8666-666666666666",
        &app,
        &records.concat(),
    );
    let shown = |world: &World| {
        let history = world.history(&world.project("app").project, "a.py");
        let rows = history.rows.iter();
        rows.map(|row| {
            (
                row.op,
                row.certainty.clone(),
                row.settled.as_ref().map(|it| it.by),
            )
        })
        .collect::<Vec<_>>()
    };
    world.put("a.py", "by hand\n");
    let world = world.again();
    let rows = shown(&world);
    assert_eq!(
        rows[1],
        (PathOp::Checkout, "unverified".to_owned(), None),
        "{rows:?}"
    );
    assert_eq!(rows[2].0, PathOp::Change);
    world.put("a.py", ONE);
    let history = world.history(&world.project("app").project, "a.py");
    let first = &history.rows[0];
    assert!(first.op == PathOp::Checkout && first.on_disk);
    assert_eq!(first.settled.as_ref().unwrap().by, SettledBy::Disk);
}
