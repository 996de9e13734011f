//! Each view of the request table on a small log: moments and steps, tools, files and diffs, long texts.

use crate::engine_deck::{log_text, Deck};
use chipdeck_engine::api::*;
use serde_json::{json, Value};

/// A day's work: two files, one edited thrice, a call that failed and one without a result.
fn story() -> String {
    log_text(&[
        ("session.start", json!({"cwd": "/w", "agent": "demo"})),
        ("message.user", json!({"content": "make it so"})),
        (
            "tool.call",
            json!({"toolName": "be-write", "args": {"path": "a.txt"}}),
        ),
        (
            "file.create",
            json!({"path": "a.txt", "content": "one\ntwo\nthree\n"}),
        ),
        (
            "tool.result",
            json!({"callId": "e3", "status": "ok", "durationMs": 38}),
        ),
        (
            "file.change",
            json!({"path": "a.txt", "edits": [{"old": "two\n", "new": "2\n"}]}),
        ),
        (
            "file.create",
            json!({"path": "src/b.txt", "content": "b\n"}),
        ),
        (
            "tool.call",
            json!({"toolName": "bash", "args": {"command": "make"}}),
        ),
        (
            "tool.result",
            json!({"callId": "e8", "status": "error", "error": "no rule\nto make"}),
        ),
        (
            "file.change",
            json!({"path": "a.txt", "edits": [{"old": "three\n", "new": ""}]}),
        ),
        ("file.delete", json!({"path": "src/b.txt"})),
        (
            "tool.call",
            json!({"toolName": "bash", "args": {"command": "sleep 1000"}}),
        ),
        (
            "message.assistant",
            json!({"content": "done \u{1b}[31m <b>x</b>"}),
        ),
    ])
}

#[test]
fn a_moment_and_the_steps_from_it() {
    let deck = Deck::new();
    let log = deck.open(&deck.write("log.jsonl", story()));
    let moment = deck.ask(Request::Moment {
        log: log.clone(),
        at: 10,
        path: Some("a.txt".into()),
    });
    assert_eq!(
        (&moment["version"], &moment["versions"], &moment["touches"]),
        (&json!(3), &json!(3), &json!("a.txt"))
    );
    assert_eq!(
        (&moment["tools"], &moment["files"], &moment["filesChanged"]),
        (&json!(2), &json!(2), &json!(2))
    );
    let step = |from: u64, by: StepBy, forward: bool| {
        deck.ask(Request::Step {
            log: log.clone(),
            from,
            by,
            forward,
            lane: None,
        })
    };
    let file = || StepBy::FileChange {
        path: "a.txt".into(),
    };
    assert_eq!(step(0, StepBy::Event, true), 1);
    assert_eq!(step(13, StepBy::Event, true), Value::Null);
    assert_eq!(step(1, StepBy::Event, false), 0);
    assert_eq!(step(3, StepBy::ToolCall, true), 8);
    assert_eq!(step(12, StepBy::ToolCall, false), 8);
    assert_eq!(step(4, file(), true), 6);
    assert_eq!(step(10, file(), true), Value::Null);
    assert_eq!(step(10, file(), false), 6);
    assert_eq!(step(0, StepBy::Error, true), 9);
    assert_eq!(
        step(
            0,
            StepBy::Filter {
                filter: "path:src/*".into()
            },
            true
        ),
        7
    );
    assert_eq!(
        step(
            13,
            StepBy::Filter {
                filter: "path:src/*".into()
            },
            false
        ),
        11
    );
    assert_eq!(
        step(
            13,
            StepBy::Filter {
                filter: "zzz".into()
            },
            false
        ),
        Value::Null
    );
    let bad = Request::Step {
        log: log.clone(),
        from: 0,
        by: StepBy::Filter {
            filter: "is:x".into(),
        },
        forward: true,
        lane: None,
    };
    assert_eq!(deck.refused(bad).code, "bad-request");

    let locate = |text: &str| {
        deck.ask(Request::Locate {
            log: log.clone(),
            target: SeekTarget::Text { text: text.into() },
        })
    };
    assert_eq!(locate("end")["index"], 13);
    assert_eq!(locate("e7")["index"], 7);
    assert_eq!(locate("@1764500004000")["index"], 4);
    let gone = Request::Locate {
        log: log.clone(),
        target: SeekTarget::Text { text: "e99".into() },
    };
    assert_eq!(deck.refused(gone).code, "not-found");
}

#[test]
fn tools_say_what_became_of_them() {
    let deck = Deck::new();
    let log = deck.open(&deck.write("log.jsonl", story()));
    let tools = |at: u64, only: Option<&str>| {
        let page = deck.ask(Request::Tools {
            log: log.clone(),
            at,
            offset: 0,
            limit: 10,
            only: only.map(str::to_owned),
        });
        let rows = page["rows"].as_array().unwrap().clone();
        rows.iter()
            .map(|row| {
                format!(
                    "{} {} {}",
                    row["toolName"].as_str().unwrap(),
                    row["status"].as_str().unwrap(),
                    row["summary"].as_str().unwrap()
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(tools(8, None), ["be-write ok a.txt", "bash pending make"]);
    assert_eq!(
        tools(13, None),
        [
            "be-write ok a.txt",
            "bash error make",
            "bash interrupted sleep 1000"
        ]
    );
    assert_eq!(tools(13, Some("failed")), ["bash error make"]);
    assert_eq!(
        tools(13, Some("interrupted")),
        ["bash interrupted sleep 1000"]
    );
    assert_eq!(tools(13, Some("be-write")), ["be-write ok a.txt"]);
    let page = deck.ask(Request::Tools {
        log,
        at: 13,
        offset: 0,
        limit: 10,
        only: None,
    });
    assert_eq!(page["rows"][1]["error"], "no rule to make");
    assert_eq!(page["rows"][0]["durationMs"], 38);
}

#[test]
fn files_diffs_and_history() {
    let deck = Deck::new();
    let log = deck.open(&deck.write("log.jsonl", story()));
    let diff = |path: &str, at: u64, against: Against| {
        deck.ask(Request::Diff {
            log: log.clone(),
            path: path.into(),
            at,
            against,
            context: 3,
        })
    };
    let rows = |view: &Value| -> Vec<String> {
        let hunks = view["hunks"].as_array().unwrap().iter();
        hunks
            .flat_map(|hunk| hunk["rows"].as_array().unwrap())
            .map(|row| {
                let runs = row["runs"].as_array().unwrap().iter();
                let text: String = runs.map(|run| run["text"].as_str().unwrap()).collect();
                format!("{} {text}", row["kind"].as_str().unwrap())
            })
            .collect()
    };
    assert_eq!(
        rows(&diff("a.txt", 6, Against::Previous)),
        ["same one", "del two", "add 2", "same three"]
    );
    // Nothing touched it since: the last change is what there is to see.
    assert_eq!(
        rows(&diff("a.txt", 9, Against::Previous)),
        ["same one", "del two", "add 2", "same three"]
    );
    assert_eq!(
        rows(&diff("a.txt", 13, Against::Position { at: 4 })),
        ["same one", "del two", "del three", "add 2"]
    );
    assert_eq!(
        diff("a.txt", 4, Against::Position { at: 4 })["note"],
        "same"
    );
    assert_eq!(rows(&diff("src/b.txt", 11, Against::Previous)), ["del b"]);
    assert_eq!(rows(&diff("src/b.txt", 7, Against::Previous)), ["add b"]);
    let disk = Request::Diff {
        log: log.clone(),
        path: "a.txt".into(),
        at: 6,
        against: Against::Disk,
        context: 3,
    };
    assert_eq!(
        deck.refused(disk).code,
        "outside-root",
        "no folder was opened"
    );

    let history = deck.ask(Request::FileHistory {
        log: log.clone(),
        path: "a.txt".into(),
    });
    let places: Vec<String> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {} {}", it["op"], it["place"], it["why"]))
        .collect();
    assert_eq!(
        places,
        [
            "\"create\" \"log.jsonl:4\" \"written\"",
            "\"change\" \"log.jsonl:6\" \"known-base\"",
            "\"change\" \"log.jsonl:10\" \"known-base\""
        ]
    );
    let tree = |mode: TreeMode, query: &str| {
        deck.ask(Request::Tree {
            log: log.clone(),
            at: 13,
            mode,
            query: query.into(),
            offset: 0,
            limit: 10,
        })
    };
    let changed = tree(TreeMode::Changed, "");
    let signs: Vec<String> = changed["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {}", it["status"], it["path"]))
        .collect();
    assert_eq!(signs, ["\"A\" \"a.txt\"", "\"D\" \"src/b.txt\""]);
    assert_eq!(tree(TreeMode::All, "B.T")["matching"], 1);
    let missing = Request::File {
        log: log.clone(),
        path: "../../etc/passwd".into(),
        at: 13,
        from_line: 1,
        limit: 9,
    };
    assert_eq!(deck.refused(missing).code, "not-found");

    let event = deck.ask(Request::Event {
        log: log.clone(),
        index: 6,
    });
    assert_eq!(event["changes"][0]["diff"]["added"], 1);
    assert_eq!(event["saidBefore"][0]["content"], "make it so");
    let call = deck.ask(Request::Event {
        log: log.clone(),
        index: 3,
    });
    assert_eq!(
        (
            &call["status"],
            &call["durationMs"],
            &call["counterpart"]["index"]
        ),
        (&json!("ok"), &json!(38), &json!(5))
    );
    let cut = deck.ask(Request::Event {
        log: log.clone(),
        index: 12,
    });
    assert_eq!(cut["status"], "interrupted");
    let last = deck.ask(Request::Entries {
        log,
        offset: 12,
        limit: 5,
        lane: None,
        after: None,
    });
    // Control characters never reach the page in a summary; markup stays text.
    assert_eq!(last["rows"][0]["summary"], "done [31m <b>x</b>");
}

#[test]
fn long_texts_are_cut_and_read_by_slices() {
    let deck = Deck::new();
    let long = "é😀\n".repeat(60_000);
    let text = log_text(&[
        ("message.user", json!({ "content": long })),
        ("tool.call", json!({"toolName": "x", "args": {"a/b": long}})),
    ]);
    let log = deck.open(&deck.write("log.jsonl", text));
    let event = deck.ask(Request::Event {
        log: log.clone(),
        index: 1,
    });
    let at = &event["long"][0];
    assert_eq!(
        (&at["pointer"], &at["bytes"]),
        (&json!("/payload/content"), &json!(long.len()))
    );
    assert!(
        event["record"]["payload"]["content"]
            .as_str()
            .unwrap()
            .len()
            <= 2_000
    );
    let pointer = deck.ask(Request::Event {
        log: log.clone(),
        index: 2,
    })["long"][0]["pointer"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(pointer, "/payload/args/a~1b");
    let mut whole = String::new();
    let mut offset = Some(0);
    while let Some(at) = offset {
        let slice = deck.ask(Request::EventText {
            log: log.clone(),
            index: 2,
            pointer: pointer.clone(),
            offset: at,
            limit: 99_999,
        });
        whole += slice["text"].as_str().unwrap();
        offset = slice["nextOffset"].as_u64();
    }
    assert!(whole == long);
    let dialogue = deck.ask(Request::Dialogue {
        log: log.clone(),
        at: 1,
        offset: 0,
        limit: 1,
        lane: None,
    });
    assert_eq!(
        dialogue["total"],
        1,
        "{}",
        deck.ask(Request::Event {
            log: log.clone(),
            index: 1
        })["row"]
    );
    let content = dialogue["rows"][0]["content"].as_str().unwrap();
    assert!(
        content.len() <= 16 << 10
            && long.starts_with(content)
            && dialogue["rows"][0]["clipped"] == true
    );
    let gone = Request::EventText {
        log,
        index: 1,
        pointer: "/payload/x".into(),
        offset: 0,
        limit: 9,
    };
    assert_eq!(deck.refused(gone).code, "not-found");
}
