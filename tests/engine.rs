//! The request table on real input: the shared event sets against their right answers, agents' logs, hostile input.

use crate::engine_deck::{log_text, Deck};
use crate::fixtures;
use chipdeck_engine::api::*;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};

const SETS: [&str; 8] = [
    "basic",
    "edits",
    "merge",
    "blobs",
    "minimal-no-seq",
    "pair",
    "shards",
    "damaged",
];

fn set(folder: &Path, name: &str) -> PathBuf {
    let dir = folder.join(name);
    if dir.is_dir() {
        dir
    } else {
        folder.join(format!("{name}.jsonl"))
    }
}

/// A copy of a set: an engine that writes beside its input must not find ours.
fn copied(deck: &Deck, from: &Path) -> PathBuf {
    fn copy(from: &Path, to: &Path) {
        if from.is_dir() {
            std::fs::create_dir_all(to).unwrap();
            for entry in std::fs::read_dir(from).unwrap() {
                let entry = entry.unwrap();
                copy(&entry.path(), &to.join(entry.file_name()));
            }
        } else {
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(from, to).unwrap();
            // At rest: nobody is writing it.
            let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
            std::fs::File::open(to).unwrap().set_modified(old).unwrap();
        }
    }
    let to = deck.path("input").join(from.file_name().unwrap());
    copy(from, &to);
    let blobs = PathBuf::from(format!("{}.blobs", from.display()));
    if blobs.is_dir() {
        copy(&blobs, &PathBuf::from(format!("{}.blobs", to.display())));
    }
    to
}

#[test]
fn views_agree_with_the_states_of_the_event_sets() {
    let Some(folder) = fixtures::shared("events") else {
        return;
    };
    let deck = Deck::new();
    for name in SETS {
        let expected: Vec<Value> = serde_json::from_slice(
            &std::fs::read(folder.join(format!("{name}.expected.json"))).unwrap(),
        )
        .unwrap();
        let log = deck.open(&copied(&deck, &set(&folder, name)));
        let view = deck.view(&log);
        assert_eq!(view.count as usize, expected.len(), "{name}");
        for (n, state) in expected.iter().enumerate() {
            let at = n as u64 + 1;
            agrees(&deck, &log, at, state, &format!("{name} at {at}"));
        }
    }
}

fn agrees(deck: &Deck, log: &str, at: u64, state: &Value, said: &str) {
    let log = log.to_owned();
    let tree = deck.ask(Request::Tree {
        log: log.clone(),
        at,
        mode: TreeMode::All,
        query: String::new(),
        offset: 0,
        limit: 1_000,
    });
    let rows = tree["rows"].as_array().unwrap();
    let files = state["files"].as_object().unwrap();
    assert_eq!(rows.len(), files.len(), "{said}");
    for row in rows {
        let file = &files[row["path"].as_str().unwrap()];
        assert_eq!(row["exists"], file["exists"], "{said} {row}");
        assert_eq!(row["certainty"], file["certainty"], "{said} {row}");
        assert_eq!(
            row["status"] == "D",
            file["exists"] == false,
            "{said} {row}"
        );
        let view = deck.ask(Request::File {
            log: log.clone(),
            path: row["path"].as_str().unwrap().to_owned(),
            at,
            from_line: 1,
            limit: 1_000,
        });
        assert_eq!(
            view["sha256"],
            file.get("sha256").cloned().unwrap_or(Value::Null),
            "{said} {row}"
        );
        assert_eq!(view["exists"], file["exists"], "{said} {row}");
        if file["sha256"].is_string() {
            assert_eq!(view["bytes"], file["bytes"], "{said} {row}");
            assert_eq!(row["bytes"], file["bytes"], "{said} {row}");
        }
    }
    let dialogue = deck.ask(Request::Dialogue {
        log: log.clone(),
        at,
        offset: 0,
        limit: 1_000,
    });
    let said_rows = dialogue["rows"].as_array().unwrap();
    let wanted = state["dialogue"].as_array().unwrap();
    assert_eq!(said_rows.len(), wanted.len(), "{said}");
    let context = state["context"].as_array().unwrap();
    for (row, want) in said_rows.iter().zip(wanted) {
        for key in ["eventId", "role", "content"] {
            assert_eq!(row[key], want[key], "{said} {row}");
        }
        assert_eq!(
            row["inContext"],
            context.contains(&want["eventId"]),
            "{said} {row}"
        );
    }
    let tools = deck.ask(Request::Tools {
        log: log.clone(),
        at,
        offset: 0,
        limit: 1_000,
        only: None,
    });
    let calls = tools["rows"].as_array().unwrap();
    let wanted = state["tools"].as_object().unwrap();
    assert_eq!(calls.len(), wanted.len(), "{said}");
    for row in calls {
        let want = &wanted[row["eventId"].as_str().unwrap()];
        assert_eq!(row["toolName"], want["toolName"], "{said}");
        let open = ["pending", "interrupted"].contains(&row["status"].as_str().unwrap());
        assert!(
            row["status"] == want["status"] || (open && want["status"] == "pending"),
            "{said} {row} {want}"
        );
    }
    let chips = deck.ask(Request::LogChips {
        log: log.clone(),
        at,
    });
    let ids = |evicted: bool| -> Vec<Value> {
        chips
            .as_array()
            .unwrap()
            .iter()
            .filter(|row| row["evicted"] == evicted)
            .map(|row| row["id"].clone())
            .collect()
    };
    assert_eq!(Value::Array(ids(false)), state["chips"]["queue"], "{said}");
    let moment = deck.ask(Request::Moment {
        log,
        at,
        path: None,
    });
    assert_eq!(moment["files"], files.len(), "{said}");
    assert_eq!(moment["dialogue"], said_rows.len(), "{said}");
    assert_eq!(moment["chips"], ids(false).len(), "{said}");
    assert_eq!(moment["filesChanged"], tree["totalChanged"], "{said}");
    if let Some(id) = state["at"]["eventId"].as_str() {
        assert_eq!(moment["event"]["eventId"], id, "{said}");
    }
}

#[test]
fn findings_are_those_of_the_event_sets() {
    let Some(folder) = fixtures::shared("events") else {
        return;
    };
    let deck = Deck::new();
    let log = deck.open(&copied(&deck, &folder.join("damaged.jsonl")));
    let wanted: Value =
        serde_json::from_slice(&std::fs::read(folder.join("damaged.findings.json")).unwrap())
            .unwrap();
    let page = deck.ask(Request::Findings {
        log: log.clone(),
        severity: None,
        offset: 0,
        limit: 1_000,
    });
    let rows = page["rows"].as_array().unwrap();
    for (line, code) in wanted["lines"].as_object().unwrap() {
        let line: u64 = line.parse().unwrap();
        let row = rows
            .iter()
            .find(|row| row["line"] == line && row["code"] == *code);
        let row = row.unwrap_or_else(|| panic!("no {code} at line {line}"));
        assert!(
            row["excerpt"].is_string() && row["file"] == "damaged.jsonl",
            "{row}"
        );
        // The entry that it stands at says so too.
        let event = deck.ask(Request::Event {
            log: log.clone(),
            index: row["index"].as_u64().unwrap(),
        });
        assert!(
            event["findings"]
                .as_array()
                .unwrap()
                .iter()
                .any(|it| it["code"] == *code),
            "{event}"
        );
    }
    let errors = deck.ask(Request::Findings {
        log: log.clone(),
        severity: Some("error".into()),
        offset: 2,
        limit: 3,
    });
    let view = deck.view(&log);
    assert_eq!(errors["total"], view.findings_error);
    assert_eq!(errors["rows"].as_array().unwrap().len(), 3);
    assert!(view.findings_warning > 0 && view.findings_info > 0);

    let pair = deck.open(&copied(&deck, &folder.join("pair")));
    let rows = deck.ask(Request::Dialogue {
        log: pair.clone(),
        at: 1_000,
        offset: 0,
        limit: 1_000,
    });
    let drifts = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["drift"].is_string())
        .count();
    assert!(drifts >= 3, "{rows}");
    let tools = deck.ask(Request::Tools {
        log: pair,
        at: 1_000,
        offset: 0,
        limit: 1_000,
        only: None,
    });
    assert!(
        tools["rows"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["drift"].is_string()),
        "{tools}"
    );
}

#[test]
fn tracks_count_every_entry_once_at_any_zoom() {
    let Some(folder) = fixtures::shared("events") else {
        return;
    };
    let deck = Deck::new();
    for name in SETS {
        let log = deck.open(&copied(&deck, &set(&folder, name)));
        let totals = deck.view(&log).tracks;
        for axis in [Axis::Event, Axis::Time] {
            let whole = tracks(&deck, &log, axis, (0.0, 1.0), 1);
            let (start, end) = (
                whole["start"].as_f64().unwrap(),
                whole["end"].as_f64().unwrap(),
            );
            for pixels in [1, 2, 3, 7, 100, 8_192] {
                let view = tracks(&deck, &log, axis, (start, end.max(start + 1.0)), pixels);
                let sum = |track: &str| -> u64 {
                    let columns = view[track].as_array().unwrap();
                    assert_eq!(columns.len(), pixels as usize, "{name} {track}");
                    columns.iter().map(|it| it.as_u64().unwrap()).sum()
                };
                let marks = |track: &str| -> u64 {
                    let marks = view[track].as_array().unwrap();
                    let columns: Vec<u64> = marks
                        .iter()
                        .map(|it| it["column"].as_u64().unwrap())
                        .collect();
                    assert!(
                        columns.windows(2).all(|pair| pair[0] < pair[1]),
                        "{name} {track} {columns:?}"
                    );
                    marks.iter().map(|it| it["count"].as_u64().unwrap()).sum()
                };
                let said = format!("{name} {axis:?} {pixels}");
                assert_eq!(sum("dialogue"), totals.dialogue, "{said}");
                assert_eq!(sum("tools"), totals.tools, "{said}");
                assert_eq!(sum("filesPlus") + sum("filesMinus"), totals.files, "{said}");
                assert_eq!(marks("chips"), totals.chips, "{said}");
                assert_eq!(marks("errors"), totals.errors, "{said}");
            }
        }
        // A column's entries are where `Locate` puts its place.
        let count = deck.view(&log).count;
        for index in 1..=count {
            let place = deck.ask(Request::Locate {
                log: log.clone(),
                target: SeekTarget::Index { index },
            });
            if let Some(time) = place["time"].as_f64() {
                let target = SeekTarget::Axis {
                    axis: Axis::Time,
                    value: time,
                };
                let back = deck.ask(Request::Locate {
                    log: log.clone(),
                    target,
                });
                assert!(
                    back["index"].as_u64().unwrap() >= index && back["time"] == time,
                    "{name} {index} {back}"
                );
            }
        }
    }
}

fn tracks(deck: &Deck, log: &str, axis: Axis, (from, to): (f64, f64), pixels: u32) -> Value {
    let query = TracksQuery {
        axis,
        from,
        to,
        pixels,
        path: None,
        search: None,
    };
    deck.ask(Request::Tracks {
        log: log.to_owned(),
        query,
    })
}

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
    });
    assert_eq!(dialogue["total"], 1, "{}", deck.ask(Request::Event { log: log.clone(), index: 1 })["row"]);
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

#[test]
fn nothing_asked_of_hostile_input_fails_inside() {
    let deck = Deck::new();
    let mut inputs = Vec::new();
    if let Some(events) = fixtures::shared("events") {
        inputs.extend(SETS.map(|name| set(&events, name)));
    }
    if let Some(agents) = fixtures::shared("agents") {
        for agent in std::fs::read_dir(&agents).unwrap() {
            let agent = agent.unwrap().path();
            if agent.is_dir() {
                inputs.push(agent.clone());
                inputs.extend(
                    std::fs::read_dir(&agent)
                        .unwrap()
                        .map(|it| it.unwrap().path()),
                );
            }
        }
    }
    for input in &inputs {
        let (logs, _) = deck.opened(&[copied(&deck, input)]);
        for log in logs {
            deck.ready(&log);
            sweep(&deck, &log);
            deck.ask(Request::CloseLog { log });
        }
    }
    // Lines that no writer would leave.
    let nasty = [
        b"\xff\xfe\x00\n{\"eventId\":1}\n{}\n[]\nnull\n\"x\"\n{\"eventId\":\"".to_vec(),
        format!("{}\n", "[".repeat(200_000)).into_bytes(),
        format!("{{\"eventId\":\"e1\",\"traceId\":\"t\",\"type\":\"tool.call\",\"timestamp\":{},\"payload\":{{\"toolName\":\"x\",\"args\":{}1{}}}}}\n", i64::MAX, "[".repeat(500), "]".repeat(500)).into_bytes(),
        Vec::new(),
        b"\n\n\r\n".to_vec(),
    ];
    for (n, bytes) in nasty.iter().enumerate() {
        let log = deck.open(&deck.write(&format!("nasty{n}.jsonl"), bytes));
        sweep(&deck, &log);
    }
}

/// Every request, with every silly number.
fn sweep(deck: &Deck, log: &str) {
    let log = || log.to_owned();
    let paths: Vec<String> = {
        let tree = deck.ask(Request::Tree {
            log: log(),
            at: u64::MAX,
            mode: TreeMode::All,
            query: String::new(),
            offset: 0,
            limit: 40,
        });
        let rows = tree["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["path"].as_str().unwrap().to_owned());
        rows.chain(["\0".to_owned(), "/".to_owned(), String::new()])
            .collect()
    };
    let count = deck.view(&log()).count;
    let positions: Vec<u64> = [0, 1, 2, count / 2, count, count + 1, u64::MAX].into();
    let mut requests = Vec::new();
    for &at in &positions {
        requests.extend([
            Request::Moment {
                log: log(),
                at,
                path: Some("x".into()),
            },
            Request::Dialogue {
                log: log(),
                at,
                offset: 0,
                limit: u64::MAX,
            },
            Request::Dialogue {
                log: log(),
                at,
                offset: u64::MAX,
                limit: u64::MAX,
            },
            Request::Tools {
                log: log(),
                at,
                offset: 0,
                limit: 50,
                only: None,
            },
            Request::Tools {
                log: log(),
                at,
                offset: u64::MAX,
                limit: u64::MAX,
                only: Some("ok".into()),
            },
            Request::LogChips { log: log(), at },
            Request::Entries {
                log: log(),
                offset: at,
                limit: u64::MAX,
            },
            Request::Tree {
                log: log(),
                at,
                mode: TreeMode::Changed,
                query: "\\".into(),
                offset: u64::MAX,
                limit: u64::MAX,
            },
            Request::Event {
                log: log(),
                index: at,
            },
            Request::EventText {
                log: log(),
                index: at,
                pointer: "/payload".into(),
                offset: u64::MAX,
                limit: 0,
            },
            Request::Step {
                log: log(),
                from: at,
                by: StepBy::Error,
                forward: false,
            },
            Request::Step {
                log: log(),
                from: at,
                by: StepBy::Filter {
                    filter: "is:finding".into(),
                },
                forward: true,
            },
            Request::Palette {
                log: Some(log()),
                at,
                query: "e".into(),
            },
            Request::SetBookmark {
                log: log(),
                index: at,
                label: Some("\u{202e}x\n".into()),
            },
            Request::SetBookmark {
                log: log(),
                index: at,
                label: None,
            },
        ]);
        for path in &paths {
            requests.extend([
                Request::File {
                    log: log(),
                    path: path.clone(),
                    at,
                    from_line: u64::MAX,
                    limit: u64::MAX,
                },
                Request::Diff {
                    log: log(),
                    path: path.clone(),
                    at,
                    against: Against::Previous,
                    context: u32::MAX,
                },
                Request::Diff {
                    log: log(),
                    path: path.clone(),
                    at,
                    against: Against::Position { at: u64::MAX },
                    context: 0,
                },
                Request::Diff {
                    log: log(),
                    path: path.clone(),
                    at,
                    against: Against::Disk,
                    context: 0,
                },
            ]);
        }
    }
    for path in &paths {
        requests.push(Request::FileHistory {
            log: log(),
            path: path.clone(),
        });
    }
    let spans = [
        (0.0, 1.0),
        (1.0, 0.0),
        (f64::NAN, 1.0),
        (f64::NEG_INFINITY, f64::INFINITY),
        (-1e300, 1e300),
        (0.0, 1e-300),
    ];
    for axis in [Axis::Time, Axis::Event] {
        for (from, to) in spans {
            for pixels in [0, 1, u32::MAX] {
                let query = TracksQuery {
                    axis,
                    from,
                    to,
                    pixels,
                    path: paths.first().cloned(),
                    search: None,
                };
                requests.push(Request::Tracks { log: log(), query });
            }
            requests.push(Request::Locate {
                log: log(),
                target: SeekTarget::Axis { axis, value: from },
            });
            requests.push(Request::Locate {
                log: log(),
                target: SeekTarget::Axis { axis, value: to },
            });
        }
    }
    requests.push(Request::Findings {
        log: log(),
        severity: None,
        offset: 0,
        limit: u64::MAX,
    });
    requests.push(Request::Search {
        log: log(),
        filter: "/a|b/ -x".into(),
    });
    for request in requests {
        // An answer or a plain refusal; a panic or a fault inside is the failure.
        if let Err(error) = deck.engine.handle(request.clone()) {
            assert!(
                ["not-found", "outside-root", "io"].contains(&error.code.as_str()),
                "{request:?} {error:?}"
            );
            assert!(error.code != "io" || count == 0, "{request:?} {error:?}");
        }
    }
}

#[test]
fn requests_that_name_nothing_open_are_refused() {
    let deck = Deck::new();
    for request in [
        Request::Log {
            log: "log-1".into(),
        },
        Request::Log {
            log: "../../etc/passwd".into(),
        },
        Request::OpenSource {
            source: "/etc/passwd".into(),
        },
        Request::Chip {
            chip: "../x".into(),
        },
        Request::Snapshot {
            snapshot: "x".into(),
        },
        Request::Apply {
            plan: "plan-1".into(),
        },
        Request::OpenDemo {},
        Request::CloseLog { log: "x".into() },
    ] {
        assert_eq!(
            deck.refused(request.clone()).code,
            "not-found",
            "{request:?}"
        );
    }
    for request in [
        Request::PickFiles {},
        Request::PickFolder {},
        Request::AllowRoot { plan: "x".into() },
        Request::Reveal {
            what: RevealTarget::ChipFolder,
        },
    ] {
        assert_eq!(
            deck.refused(request.clone()).code,
            "host-only",
            "{request:?}"
        );
    }
    assert_eq!(
        deck.refused(Request::Undo { restore: None }).code,
        "nothing-to-undo"
    );
}
