//! Restores through the request table: what a preview shows is what is written, nothing else, and it is taken back.

use crate::engine_deck::{log_text, Deck};
use chipdeck_engine::api::*;
use chipdeck_engine::{Origin, Reach};
use serde_json::{json, Value};
use std::path::PathBuf;

const OLD: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

/// A project that is open, and a log about it that is open too. The disk is as the log leaves it.
pub struct Story {
    pub deck: Deck,
    pub log: String,
    pub project: PathBuf,
}

impl Story {
    pub fn new() -> Story {
        let story = Story::closed();
        story
            .deck
            .engine
            .open_paths(std::slice::from_ref(&story.project), Origin::Drop);
        story
    }

    /// The same, with no folder opened.
    fn closed() -> Story {
        let deck = Deck::new();
        let project = deck
            .path("project/src/a.txt")
            .parent()
            .unwrap()
            .parent()
            .unwrap()
            .to_owned();
        let cwd = project.to_str().unwrap().to_owned();
        let text = log_text(&[
            ("session.start", json!({ "cwd": cwd })),
            ("file.create", json!({"path": "src/a.txt", "content": OLD})),
            (
                "file.change",
                json!({"path": "src/a.txt", "edits": [{"old": "two\n", "new": "2\n"}]}),
            ),
            (
                "file.change",
                json!({"path": "src/a.txt", "edits": [{"old": "nine\n", "new": ""}]}),
            ),
            ("file.create", json!({"path": "b.txt", "content": "b\n"})),
            ("file.delete", json!({"path": "b.txt"})),
            (
                "file.create",
                json!({"path": "later.txt", "content": "l\n"}),
            ),
            (
                "file.change",
                json!({"path": "unknown.txt", "edits": [{"old": "x", "new": "y"}]}),
            ),
            (
                "file.create",
                json!({"path": "/etc/chipdeck-test", "content": "no\n"}),
            ),
        ]);
        let log = deck.open(&deck.write("log.jsonl", text));
        deck.write(
            "project/src/a.txt",
            OLD.replace("two\n", "2\n").replace("nine\n", ""),
        );
        deck.write("project/later.txt", "l\n");
        Story { deck, log, project }
    }

    pub fn plan(&self, what: RestoreWhat) -> Value {
        self.deck.ask(Request::PlanRestore { what })
    }

    pub fn apply(&self, plan: &Value) -> Value {
        self.deck.ask(Request::Apply { plan: id(plan) })
    }

    pub fn file(&self, at: u64) -> RestoreWhat {
        RestoreWhat::File {
            log: self.log.clone(),
            path: "src/a.txt".into(),
            at,
        }
    }

    pub fn disk(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.project.join(path)).ok()
    }

    pub fn put(&self, path: &str, text: &str) {
        std::fs::write(self.project.join(path), text).unwrap();
    }
}

pub fn id(plan: &Value) -> String {
    plan["plan"].as_str().unwrap().to_owned()
}

#[test]
fn a_file_comes_back_and_goes_again() {
    let story = Story::new();
    let before = story.disk("src/a.txt").unwrap();
    let plan = story.plan(story.file(2));
    assert_eq!(
        (&plan["ready"], &plan["target"], &plan["nothing"]),
        (&json!(true), &json!("a.txt:2"), &json!(false))
    );
    assert_eq!(
        (&plan["steps"][0]["action"], &plan["steps"][0]["path"]),
        (&json!("replace"), &json!("src/a.txt"))
    );
    assert_eq!(
        (
            &plan["steps"][0]["diff"]["added"],
            &plan["steps"][0]["diff"]["removed"]
        ),
        (&json!(2), &json!(1))
    );
    assert_eq!(
        story.disk("src/a.txt").unwrap(),
        before,
        "a preview writes nothing"
    );
    let applied = story.apply(&plan);
    assert_eq!(applied["summary"], "Restored a.txt:2");
    assert_eq!(story.disk("src/a.txt").unwrap(), OLD);
    assert_eq!(story.apply(&plan), applied, "once, whoever asks again");
    assert_eq!(story.plan(story.file(2))["nothing"], true);

    let history = story.deck.ask(Request::History {
        offset: 0,
        limit: 10,
    });
    assert_eq!(
        (&history["total"], &history["rows"][0]["undoable"]),
        (&json!(1), &json!(true))
    );
    assert_eq!(history["rows"][0]["steps"][0]["added"], 2);
    let undone = story.deck.ask(Request::Undo { restore: None });
    assert_eq!(undone["undoOf"], applied["restore"]);
    assert_eq!(story.disk("src/a.txt").unwrap(), before);
    // An undo of the undo, after a restart.
    let Story { deck, project, .. } = story;
    let deck = deck.again();
    let history = deck.ask(Request::History {
        offset: 0,
        limit: 10,
    });
    assert_eq!(history["rows"][1]["undoneBy"], undone["restore"]);
    assert!(
        history["rows"][1]["blocked"].is_string() && history["rows"][1]["undoable"] == false,
        "{history}"
    );
    deck.ask(Request::Undo {
        restore: Some(undone["restore"].as_str().unwrap().into()),
    });
    assert_eq!(
        std::fs::read_to_string(project.join("src/a.txt")).unwrap(),
        OLD
    );
    assert_eq!(
        deck.refused(Request::Undo {
            restore: Some("none".into())
        })
        .code,
        "not-found"
    );
}

#[test]
fn one_hunk_of_a_diff() {
    let story = Story::new();
    let (log, path) = (story.log.clone(), "src/a.txt".to_owned());
    let diff = |against: Against, at: u64| {
        story.deck.ask(Request::Diff {
            log: log.clone(),
            path: path.clone(),
            at,
            against,
            context: 1,
        })
    };
    let against = || Against::Position { at: 2 };
    let view = diff(against(), 4);
    assert_eq!(view["hunks"].as_array().unwrap().len(), 2);
    let hunk = view["hunks"][1]["id"].as_str().unwrap().to_owned();
    let what = |against: Against, hunk: &str| RestoreWhat::Hunk {
        log: log.clone(),
        path: path.clone(),
        at: 4,
        against,
        hunk: hunk.to_owned(),
    };
    // The disk moved on elsewhere in the file: that is kept.
    story.put(
        "src/a.txt",
        &story.disk("src/a.txt").unwrap().replace("one\n", "ONE\n"),
    );
    story.apply(&story.plan(what(against(), &hunk)));
    assert_eq!(
        story.disk("src/a.txt").unwrap(),
        OLD.replace("two\n", "2\n").replace("one\n", "ONE\n")
    );
    // Against the disk: the log's lines come back.
    let view = diff(Against::Disk, 2);
    let signs: Vec<&Value> = view["hunks"][0]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["kind"])
        .collect();
    assert_eq!(signs, ["del", "del", "add", "add", "same"]);
    let id = view["hunks"][0]["id"].as_str().unwrap().to_owned();
    let disk = RestoreWhat::Hunk {
        log: log.clone(),
        path: path.clone(),
        at: 2,
        against: Against::Disk,
        hunk: id,
    };
    story.apply(&story.plan(disk));
    assert_eq!(story.disk("src/a.txt").unwrap(), OLD);
    for bad in ["", "1.2.3.4.5", &hunk.replace('.', "9.")] {
        let refused = story.deck.refused(Request::PlanRestore {
            what: what(against(), bad),
        });
        assert_eq!(refused.code, "precondition", "{bad}");
    }
}

#[test]
fn the_whole_tree_and_what_is_not_known() {
    let story = Story::new();
    let tree = |at: u64| RestoreWhat::Tree {
        log: story.log.clone(),
        at,
    };
    let plan = story.plan(tree(5));
    let steps: Vec<String> = plan["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| format!("{} {}", step["action"], step["path"]))
        .collect();
    assert_eq!(
        steps,
        [
            "\"create\" \"b.txt\"",
            "\"delete\" \"later.txt\"",
            "\"none\" \"src/a.txt\""
        ]
    );
    let codes: Vec<&str> = plan["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["code"].as_str().unwrap())
        .collect();
    assert!(
        codes.contains(&"unknown-content") && codes.contains(&"outside-root"),
        "{codes:?}"
    );
    story.apply(&plan);
    assert_eq!(
        (story.disk("b.txt").as_deref(), story.disk("later.txt")),
        (Some("b\n"), None)
    );
    assert!(!std::path::Path::new("/etc/chipdeck-test").exists());
    story.deck.ask(Request::Undo { restore: None });
    assert_eq!(
        (story.disk("b.txt"), story.disk("later.txt").as_deref()),
        (None, Some("l\n"))
    );

    let unknown = RestoreWhat::File {
        log: story.log.clone(),
        path: "unknown.txt".into(),
        at: 8,
    };
    assert_eq!(
        story
            .deck
            .refused(Request::PlanRestore { what: unknown })
            .code,
        "unknown-content"
    );
    let outside = RestoreWhat::File {
        log: story.log.clone(),
        path: "/etc/chipdeck-test".into(),
        at: 9,
    };
    let plan = story.plan(outside);
    assert_eq!(
        (&plan["ready"], &plan["needs"]["kind"]),
        (&json!(false), &json!("root")),
        "{plan}"
    );
    assert_eq!(
        story.deck.refused(Request::Apply { plan: id(&plan) }).code,
        "outside-root"
    );
}

#[test]
fn only_this_change_is_taken_back() {
    let story = Story::new();
    let what = RestoreWhat::UndoChange {
        log: story.log.clone(),
        path: "src/a.txt".into(),
        index: 3,
    };
    story.apply(&story.plan(what));
    assert_eq!(
        story.disk("src/a.txt").unwrap(),
        OLD.replace("nine\n", ""),
        "the later change stays"
    );
}

#[test]
fn conflicts_are_settled_first() {
    let story = Story::new();
    story.put(
        "src/a.txt",
        &OLD.replace("two\n", "zwei\n")
            .replace("nine\n", "")
            .replace("five\n", "fünf\n"),
    );
    let plan = story.plan(story.file(2));
    assert_eq!(
        (&plan["ready"], plan["conflicts"].as_array().unwrap().len()),
        (&json!(false), 1),
        "{plan}"
    );
    let conflict = &plan["conflicts"][0];
    assert_eq!(
        (
            &conflict["base"],
            &conflict["ours"],
            &conflict["theirs"],
            &conflict["line"]
        ),
        (&json!(["2"]), &json!(["zwei"]), &json!(["two"]), &json!(2))
    );
    assert_eq!(
        story.deck.refused(Request::Apply { plan: id(&plan) }).code,
        "conflict"
    );
    let settle = |conflict: u32, choice: Settlement| Request::Settle {
        plan: id(&plan),
        conflict,
        choice,
    };
    assert_eq!(
        story.deck.refused(settle(1, Settlement::Ours)).code,
        "not-found"
    );
    let ours = story.deck.ask(settle(0, Settlement::Ours));
    assert_eq!(
        (&ours["ready"], &ours["conflicts"][0]["settled"]),
        (&json!(true), &json!("ours"))
    );
    let both = story.deck.ask(settle(0, Settlement::Both));
    assert_eq!(both["plan"], plan["plan"]);
    story.apply(&both);
    // What the disk alone changed is kept; what the log had comes back.
    assert_eq!(
        story.disk("src/a.txt").unwrap(),
        OLD.replace("two\n", "zwei\ntwo\n")
            .replace("five\n", "fünf\n")
    );
}

#[test]
fn a_file_that_moved_since_the_preview_is_left_alone() {
    let story = Story::new();
    let plan = story.plan(story.file(2));
    story.put("src/a.txt", "someone else was here\n");
    let refused = story.deck.refused(Request::Apply { plan: id(&plan) });
    assert_eq!(refused.code, "precondition");
    assert!(refused.message.contains("src/a.txt"), "{refused:?}");
    assert_eq!(story.disk("src/a.txt").unwrap(), "someone else was here\n");
    assert_eq!(
        story.deck.ask(Request::History {
            offset: 0,
            limit: 1
        })["total"],
        0
    );
}

#[test]
fn nothing_is_written_outside_what_was_opened() {
    for reach in [Reach::OnlyThisFile, Reach::ThisFolder] {
        let story = Story::closed();
        let plan = story.plan(story.file(2));
        assert_eq!(
            (&plan["ready"], &plan["needs"]["kind"]),
            (&json!(false), &json!("root"))
        );
        assert_eq!(
            (&plan["needs"]["folder"], &plan["needs"]["file"]),
            (&json!(story.project), &json!("src/a.txt"))
        );
        assert_eq!(
            story.deck.refused(Request::Apply { plan: id(&plan) }).code,
            "outside-root"
        );
        assert_eq!(
            story.deck.engine.wanted_root(&id(&plan)),
            Some((story.project.clone(), "src/a.txt".to_owned()))
        );

        let allowed = story.deck.engine.allow_root(&id(&plan), reach).unwrap();
        assert!(allowed.ready && allowed.plan == id(&plan), "{allowed:?}");
        story.deck.ask(Request::Apply { plan: id(&plan) });
        assert_eq!(story.disk("src/a.txt").unwrap(), OLD);
        let other = story.plan(RestoreWhat::File {
            log: story.log.clone(),
            path: "b.txt".into(),
            at: 5,
        });
        assert_eq!(other["ready"], reach == Reach::ThisFolder, "{other}");
        let view = story.deck.view(&story.log);
        assert_eq!(
            view.root.is_some(),
            reach == Reach::ThisFolder || view.root.is_some()
        );
        assert!(story.deck.engine.allow_root(&id(&plan), reach).is_err());
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leaves_the_root_is_refused() {
    let story = Story::new();
    let outside = story.deck.path("outside/a.txt");
    std::fs::write(&outside, "theirs\n").unwrap();
    std::fs::remove_dir_all(story.project.join("src")).unwrap();
    std::os::unix::fs::symlink(outside.parent().unwrap(), story.project.join("src")).unwrap();
    let refused = story.deck.refused(Request::PlanRestore {
        what: story.file(2),
    });
    assert_eq!(refused.code, "outside-root");
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "theirs\n");
}

/// A chip of a delete, and the file that it was cut from.
fn chip(id: &str, tool: &str, args: Value, err_msg: Option<&str>) -> String {
    let mut chip = json!({"id": id, "tool": tool, "args": args, "created_at": 1_764_500_004});
    if let Some(err_msg) = err_msg {
        chip["err_msg"] = err_msg.into();
    }
    serde_json::to_string_pretty(&chip).unwrap()
}

#[test]
fn chips_are_listed_compared_inserted_and_put_back() {
    let story = Story::new();
    let deck = &story.deck;
    let folder = "home/.cache/better-edit-tools-mcp/chips";
    deck.write(
        &format!("{folder}/chip-aaaaaa.json"),
        chip("aaaaaa", "be-delete", json!({"_content": "nine\n"}), None),
    );
    deck.write(&format!("{folder}/chip-bbbbbb.json"), chip("bbbbbb", "be-insert",
        json!({"file": story.project.join("src/a.txt").to_str().unwrap().to_owned() + ":1", "content": "new line of some length, so that it is kept"}), Some("insert: no")));
    deck.write(&format!("{folder}/chip-cccccc.json"), "{\"id\": ");
    let list = |only: ChipFilter, query: &str| {
        deck.ask(Request::Chips {
            query: query.into(),
            only,
            offset: 0,
            limit: 10,
        })
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while list(ChipFilter::All, "")["damaged"] != 1 {
        assert!(
            std::time::Instant::now() < end,
            "{}",
            list(ChipFilter::All, "")
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let all = list(ChipFilter::All, "");
    assert_eq!(
        (
            &all["all"],
            &all["failed"],
            &all["deleted"],
            &all["damaged"]
        ),
        (&json!(3), &json!(1), &json!(1), &json!(1))
    );
    assert_eq!(list(ChipFilter::Failed, "")["rows"][0]["id"], "bbbbbb");
    assert_eq!(list(ChipFilter::All, "NINE")["rows"][0]["id"], "aaaaaa");
    assert_eq!(list(ChipFilter::Damaged, "")["total"], 1);

    // A deleted text: the log that is open shows where it was.
    let row = &list(ChipFilter::Deleted, "")["rows"][0];
    let key = row["chip"].as_str().unwrap().to_owned();
    deck.ask(Request::Chip { chip: key.clone() });
    let targets = deck.wait(|notice| match notice {
        Notice::ChipTargets { chip, targets } if *chip == key => Some(targets.clone()),
        _ => None,
    });
    assert_eq!(targets.len(), 1, "{targets:?}");
    assert_eq!(
        (
            targets[0].certainty.as_str(),
            targets[0].line,
            targets[0].allowed
        ),
        ("log", Some(8), true)
    );
    assert!(targets[0]
        .because
        .as_deref()
        .is_some_and(|it| it.contains("e4") && it.contains("log.jsonl")));
    let diff = deck.ask(Request::ChipDiff {
        chip: key.clone(),
        target: None,
    });
    assert_eq!((&diff["added"], &diff["removed"]), (&json!(1), &json!(0)));
    let plan = story.plan(RestoreWhat::PutBack {
        chip: key,
        target: None,
    });
    assert_eq!(
        (&plan["ready"], &plan["target"]),
        (&json!(true), &json!("a.txt:9")),
        "{plan}"
    );
    story.apply(&plan);
    assert_eq!(
        story.disk("src/a.txt").unwrap(),
        OLD.replace("two\n", "2\n")
    );
    deck.ask(Request::Undo { restore: None });

    // A failed insert says itself where it was to go.
    let row = list(ChipFilter::Failed, "")["rows"][0].clone();
    let target: ChipTarget = serde_json::from_value(row["target"].clone()).unwrap();
    assert!(target.allowed && target.line == Some(1), "{target:?}");
    let chip = row["chip"].as_str().unwrap().to_owned();
    let before = story.disk("src/a.txt").unwrap();
    let plan = story.plan(RestoreWhat::Chip {
        chip: chip.clone(),
        target: target.clone(),
        form: InsertForm::Content,
    });
    story.apply(&plan);
    assert_eq!(
        story.disk("src/a.txt").unwrap(),
        before.replace(
            "one\n",
            "one\nnew line of some length, so that it is kept\n"
        )
    );
    deck.ask(Request::Undo { restore: None });
    let plan = story.plan(RestoreWhat::Chip {
        chip: chip.clone(),
        target: target.clone(),
        form: InsertForm::Header,
    });
    story.apply(&plan);
    assert!(story
        .disk("src/a.txt")
        .unwrap()
        .starts_with("one\n// Chip bbbbbb from tool \"be-insert\"\n// Original arguments:\n{\n"));
    let elsewhere = ChipTarget {
        path: "/etc/hosts".into(),
        ..target
    };
    let plan = story.plan(RestoreWhat::Chip {
        chip,
        target: elsewhere,
        form: InsertForm::Content,
    });
    assert_eq!(
        (&plan["ready"], &plan["needs"]["kind"]),
        (&json!(false), &json!("root"))
    );
}
