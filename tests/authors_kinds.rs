//! One file, all authors: work trees, the chip server, logs of another machine, and what is not read twice.

use crate::authors_world::*;
use crate::engine_deck::log_text;
use chipdeck_engine::api::*;
use chipdeck_engine::Origin;
use serde_json::json;

fn rows(history: &PathHistory) -> Vec<(AuthorKind, PathOp)> {
    let rows = history.rows.iter();
    rows.map(|row| (row.author.kind, row.op)).collect()
}

#[test]
fn another_work_tree_of_the_repository_is_told_apart() {
    let world = World::new();
    let app = world.app();
    world.git(NOON, &["init", "-q", "-b", "main"]);
    world.put("a.py", "committed\n");
    world.commit(NOON, "Base");
    world.git(NOON, &["worktree", "add", "-q", "../beside"]);
    let beside = app.parent().unwrap().join("beside");
    let file = beside.join("a.py");
    let records = [
        vec![asked(NOON + 1_000, "In the work tree")],
        wrote(NOON + 2_000, "t1", &file, "beside\n", Some("committed\n")).to_vec(),
    ];
    world.claude(
        "77777777-7777-4777-8777-777777777777",
        &beside,
        &records.concat(),
    );
    // A copy that nothing remembers is a project of its own.
    let copy = app.parent().unwrap().join("copy");
    std::fs::create_dir(&copy).unwrap();
    let records = [
        vec![asked(NOON + 3_000, "In the copy")],
        wrote(NOON + 4_000, "t2", &copy.join("a.py"), "copy\n", None).to_vec(),
    ];
    world.claude(
        "88888888-8888-4888-8888-888888888888",
        &copy,
        &records.concat(),
    );
    let world = world.again();
    let project = world.project("app");
    assert_eq!(project.sessions, 1);
    let history = world.history(&project.project, "a.py");
    let [disk, beside_it, commit] = history.rows.as_slice() else {
        panic!("{history:?}")
    };
    assert_eq!((disk.op, disk.on_disk), (PathOp::Disk, true));
    assert_eq!(beside_it.op, PathOp::Change);
    let checkout = beside_it.author.checkout.as_deref();
    assert_eq!(checkout, beside.to_str(), "it says where");
    assert!(!beside_it.on_disk && commit.author.checkout.is_none());
    assert_eq!(commit.op, PathOp::Commit);
    assert_eq!(world.project("copy").sessions, 1);
}

#[test]
fn edits_of_the_chip_server_and_the_chips_they_cut() {
    let world = World::new();
    let app = world.app();
    world.put("src/a.py", "one\nthree\n");
    let id = chipdeck_chip::workspace_id(app.to_str().unwrap().as_bytes());
    let side = |lines: &[&str]| json!({"start": 1, "end": lines.len(), "lines": lines});
    let snapshot = |id: &str, file: &str, at: i64| {
        json!({"id": id, "tool": "be-delete", "file": file, "before": side(&["one\n", "two\n", "three\n"]),
            "after": side(&["one\n", "three\n"]), "args": {"file": file, "start": 2, "end": 2},
            "summary": "be-delete on a.py lines 2-2", "created_at": at / 1_000})
        .to_string()
    };
    let cache = "home/.cache/better-edit-tools-mcp";
    let put = |below: &str, text: &str| world.deck.write(&format!("{cache}/{below}"), text);
    put(
        &format!("snapshots/{id}/snapshot-4d12f6.json"),
        &snapshot("4d12f6", "src/a.py", NOON),
    );
    // The same path in another workspace is another file.
    put(
        "snapshots/0123456789abcdef/snapshot-aaaaaa.json",
        &snapshot("aaaaaa", "src/a.py", NOON - 900_000),
    );
    let chip = json!({"id": "a3f7b2", "tool": "be-delete", "args": {"_content": "two\n"}, "created_at": NOON / 1_000});
    put("chips/chip-a3f7b2.json", &chip.to_string());
    let failed = json!({"id": "c8e101", "tool": "be-write", "args": {"file": app.join("src/a.py"), "content": "never\n"},
        "err_msg": "no", "created_at": NOON / 1_000 + 5});
    put("chips/chip-c8e101.json", &failed.to_string());
    let world = world.again();
    world.deck.engine.open_paths(&[app], Origin::Drop);
    let history = world.history(&world.project("app").project, "src/a.py");
    assert_eq!(
        rows(&history),
        [
            (AuthorKind::Snapshot, PathOp::SnapshotAfter),
            (AuthorKind::Snapshot, PathOp::SnapshotBefore)
        ],
        "{history:?}"
    );
    let after = &history.rows[0];
    let also: Vec<AuthorKind> = after.also.iter().map(|it| it.author.kind).collect();
    assert_eq!(also, [AuthorKind::Chip, AuthorKind::Disk]);
    assert_eq!(after.also[0].author.id.as_deref(), Some("a3f7b2"));
    assert_eq!(
        (after.certainty.as_str(), after.why.as_str()),
        ("exact", "snapshot")
    );
    let before = &history.rows[1];
    assert_eq!(
        (before.certainty.as_str(), before.why.as_str()),
        ("unverified", "lines-rewritten")
    );
    let plan = world.plan(RestoreWhat::PathVersion {
        history: history.history.clone(),
        version: before.version.clone(),
    });
    assert_eq!(plan.warnings[0].code, "unverified");
    world.deck.ask(Request::Apply { plan: plan.plan });
    let text = std::fs::read_to_string(world.app().join("src/a.py")).unwrap();
    assert_eq!(text, "one\ntwo\nthree\n");
}

#[test]
fn an_open_log_of_another_machine_belongs_to_the_opened_folder() {
    let world = World::new();
    let app = world.app();
    world.put("shop/price.py", "later\n");
    let log = log_text(&[
        (
            "session.start",
            json!({"cwd": "/home/someone/app", "agent": "test"}),
        ),
        (
            "file.create",
            json!({"path": "shop/price.py", "content": "first\n"}),
        ),
        (
            "tool.call",
            json!({"toolName": "be-write", "args": {"file": "shop/price.py", "content": "never\n"}}),
        ),
        (
            "tool.result",
            json!({"callId": "e3", "status": "error", "error": "no"}),
        ),
        ("file.delete", json!({"path": "shop/price.py"})),
    ]);
    let log = world.deck.write("logs/shop.jsonl", log);
    world.deck.opened(&[app]);
    let log = world.deck.open(&log);
    let there = world.deck.ask(Request::ProjectOf {
        log,
        path: "shop/price.py".to_owned(),
    });
    assert_eq!(there["path"], "shop/price.py");
    let project = there["project"].as_str().unwrap();
    assert_eq!(world.project("app").project, project);
    let history = world.history(project, "shop/price.py");
    assert_eq!(
        rows(&history),
        [
            (AuthorKind::Disk, PathOp::Disk),
            (AuthorKind::Session, PathOp::Delete),
            (AuthorKind::Session, PathOp::Create)
        ]
    );
    // A delete is a version too: going back to it takes the file away.
    let plan = world.plan(RestoreWhat::PathVersion {
        history: history.history.clone(),
        version: history.rows[1].version.clone(),
    });
    assert_eq!(plan.steps[0].action, "delete", "{plan:?}");
}

#[test]
fn a_log_that_did_not_change_is_not_read_again() {
    let world = World::new();
    let app = world.app();
    let records = [
        vec![asked(NOON, &"One file. ".repeat(400))],
        wrote(NOON + 1_000, "t1", &app.join("a.py"), "one\n", None).to_vec(),
    ];
    let log = world.claude(
        "99999999-9999-4999-8999-999999999999",
        &app,
        &records.concat(),
    );
    world.put("a.py", "one\n");
    let world = world.again();
    let project = world.project("app").project;
    assert_eq!(world.files(&project, "").known, 1);
    // Other bytes behind the first ones, but nothing tells: same size, same time.
    let metadata = std::fs::metadata(&log).unwrap();
    let mut other = std::fs::read(&log).unwrap();
    other[2_000..].fill(b' ');
    std::fs::write(&log, other).unwrap();
    let file = std::fs::File::options().write(true).open(&log).unwrap();
    file.set_modified(metadata.modified().unwrap()).unwrap();
    let world = world.again();
    let files = world.files(&world.project("app").project, "");
    assert_eq!(files.known, 1, "from the index: {files:?}");
    // It grew: it is read.
    let text = format!(
        "{}\n",
        json!({"type": "summary", "summary": "x", "leafUuid": "y"})
    );
    std::fs::write(&log, text).unwrap();
    let world = world.again();
    let files = world.deck.engine.handle(Request::Projects {});
    assert!(matches!(files, Ok(Reply::Projects(rows)) if rows.iter().all(|row| row.sessions == 0)));
}

#[test]
fn paths_that_lead_elsewhere_are_no_files_of_a_project() {
    let world = World::new();
    let app = world.app();
    world.put("a.py", "one\n");
    world.deck.write("secret", "never\n");
    world.deck.engine.open_paths(&[app], Origin::Drop);
    let project = world.project("app").project;
    for path in [
        "../secret",
        "/etc/passwd",
        "",
        ".",
        "a/../../secret",
        "a\0b",
    ] {
        let refused = world.deck.refused(Request::PathHistory {
            project: project.clone(),
            path: path.to_owned(),
            anew: true,
        });
        assert_eq!(refused.code, "not-found", "{path:?}");
    }
    #[cfg(unix)]
    {
        // A link that leads out shows nothing.
        let link = world.app().join("link");
        std::os::unix::fs::symlink(world.deck.path("secret"), link).unwrap();
        let history = world.history(&project, "link");
        assert_eq!(history.rows, []);
    }
    world.deck.refused(Request::PathHistory {
        project: "project-none".to_owned(),
        path: "a.py".to_owned(),
        anew: true,
    });
}
