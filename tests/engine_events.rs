//! The requests about the event log in depth: drift and its repair, branches beside the log, traces, breakpoints.

use crate::engine::{copied, set};
use crate::engine_deck::Deck;
use crate::events::folder;
use chipdeck_engine::api::*;
use serde_json::{json, Value};
use std::time::{Duration, Instant};

fn open(deck: &Deck, name: &str) -> String {
    deck.open(&copied(deck, &set(&folder(), name)))
}

fn page(log: &str, offset: u64, limit: u64) -> Request {
    Request::Drifts {
        log: log.to_owned(),
        offset,
        limit,
    }
}

#[test]
fn drift_is_listed_marked_and_repaired() {
    let deck = Deck::new();
    let log = open(&deck, "pair");
    let drifts = deck.ask(page(&log, 0, 10));
    assert_eq!(drifts["total"], 3);
    assert_eq!(drifts["rows"][0]["callId"], "d6");
    assert_eq!(drifts["rows"][0]["dialogue"], "ok");
    assert_eq!(drifts["rows"][0]["execution"], "denied");
    assert_eq!(drifts["rows"][2]["execution"], Value::Null);
    assert_eq!(
        deck.ask(page(&log, 2, 1))["rows"].as_array().unwrap().len(),
        1
    );

    // The row of the dialogue says so by itself.
    let dialogue = |log: &str| {
        deck.ask(Request::Dialogue {
            log: log.to_owned(),
            at: 99,
            offset: 0,
            limit: 99,
            lane: None,
        })
    };
    let rows = dialogue(&log);
    let marked: Vec<&Value> = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it.get("claim").is_some())
        .collect();
    assert_eq!(marked.len(), 3);
    assert_eq!(marked[0]["claim"]["callId"], "d6");
    assert_eq!(marked[0]["claim"]["settledBy"], Value::Null);

    let plan = deck.ask(Request::PlanRepair { log: log.clone() });
    assert_eq!(plan["lines"].as_array().unwrap().len(), 3);
    assert_eq!(plan["lines"][0]["file"], "dialog.jsonl");
    let text: Value = serde_json::from_str(plan["lines"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["type"], "message.correction");
    let path = deck.path("input").join("pair/dialog.jsonl");
    let before = std::fs::read(&path).unwrap();

    // Somebody else writes: the preview no longer holds, and nothing is appended.
    let mut moved = before.clone();
    moved.extend_from_slice(b"{\"eventId\":\"x\",\"traceId\":\"t\",\"seq\":40,\"type\":\"message.user\",\"timestamp\":1764500099000,\"payload\":{\"content\":\"hi\"}}\n");
    std::fs::write(&path, &moved).unwrap();
    let repair = plan["repair"].as_str().unwrap().to_owned();
    let refused = deck.refused(Request::ApplyRepair { repair });
    assert_eq!(refused.code, "precondition");
    assert_eq!(refused.why.as_deref(), Some("repair-moved"));
    assert_eq!(refused.about, ["dialog.jsonl"]);
    assert_eq!(std::fs::read(&path).unwrap(), moved);

    let plan = deck.ask(Request::PlanRepair { log: log.clone() });
    let repair = plan["repair"].as_str().unwrap().to_owned();
    let done = deck.ask(Request::ApplyRepair {
        repair: repair.clone(),
    });
    assert_eq!(done["appended"], 3);
    assert!(std::fs::read(&path).unwrap().starts_with(&moved));
    assert_eq!(
        deck.refused(Request::ApplyRepair { repair }).code,
        "not-found",
        "once"
    );

    // The open log takes the corrections in; the list says what settled each.
    let begun = Instant::now();
    loop {
        let drifts = deck.ask(page(&log, 0, 10));
        let settled = drifts["rows"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| !it["settledBy"].is_null());
        if settled.count() == 3 {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{drifts}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_branch_opens_beside_the_log_with_every_view() {
    let deck = Deck::new();
    let log = open(&deck, "basic");
    let view = deck.view(&log);
    let entries = deck.ask(Request::Entries {
        log: log.clone(),
        offset: 0,
        limit: 99,
        lane: None,
        after: None,
    });
    let change = entries["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["kind"] == "file.change")
        .unwrap()
        .clone();
    let index = change["index"].as_u64().unwrap();
    let event = deck.ask(Request::Event {
        log: log.clone(),
        index,
    });
    let path = event["record"]["payload"]["path"]
        .as_str()
        .unwrap()
        .to_owned();
    let branch = deck.ask(Request::OpenBranch {
        log: log.clone(),
        edits: vec![
            BranchEdit::Replace {
                index,
                payload: json!({"path": path, "content": "what if\n"}),
            },
            BranchEdit::Insert {
                after: index,
                event_type: "message.user".to_owned(),
                payload: json!({"content": "put in"}),
                event_id: None,
                parent_event_id: None,
                correlation_id: None,
                timestamp: None,
            },
        ],
    });
    assert_eq!(branch["divergence"], index);
    assert_eq!(branch["branch"], true);
    assert_eq!(branch["rightCount"], view.count + 1);
    let right = branch["right"].as_str().unwrap().to_owned();
    deck.ready(&right);
    let file = deck.ask(Request::File {
        log: right.clone(),
        path: path.clone(),
        at: index,
        from_line: 1,
        limit: 10,
    });
    assert!(file.to_string().contains("what if"), "{file}");
    let rows = deck.ask(Request::Differences {
        left: log.clone(),
        right: right.clone(),
        part: DifferencePart::Files,
        offset: 0,
        limit: 99,
    });
    assert_eq!(rows["total"], branch["files"]);
    assert_eq!(
        deck.ask(Request::Branches { log: log.clone() })
            .as_array()
            .unwrap()
            .len(),
        1
    );
    // A branch of the branch.
    let second = deck.ask(Request::OpenBranch {
        log: right.clone(),
        edits: vec![BranchEdit::Skip { index: 1 }],
    });
    assert_eq!(second["divergence"], 1);
    // Saved as a new file, never over one.
    let target = deck.path("saved.jsonl");
    let saved = deck.engine.save_branch(&right, &target).unwrap();
    assert_eq!(saved.bytes, target.metadata().unwrap().len());
    assert_eq!(
        deck.engine.save_branch(&right, &target).unwrap_err().code,
        "conflict"
    );
    // Compared as two logs it says the same.
    let opened = deck.open(&target);
    let compared = deck.ask(Request::CompareLogs {
        left: log.clone(),
        right: opened.clone(),
    });
    for part in ["divergence", "files", "tools", "memory", "chips", "plans"] {
        assert_eq!(compared[part], branch[part], "{part}");
    }
    let same = deck.ask(Request::CompareLogs {
        left: right.clone(),
        right: opened,
    });
    assert_eq!(same["same"], true);
    let diff = deck.ask(Request::DifferenceDiff {
        left: log,
        right: right.clone(),
        path,
        context: 3,
    });
    assert!(diff["note"].is_null() || diff["note"] == "same");
    // Closed, its file goes.
    deck.ask(Request::CloseLog { log: right.clone() });
    assert_eq!(deck.refused(Request::Log { log: right }).code, "not-found");
}

#[test]
fn a_payload_is_checked_at_its_fields() {
    let deck = Deck::new();
    let schemas = deck.ask(Request::Schemas {});
    assert_eq!(schemas.as_array().unwrap().len(), 27);
    let faults = |event_type: &str, payload: &str| {
        let faults = deck.ask(Request::CheckPayload {
            event_type: event_type.to_owned(),
            payload: payload.to_owned(),
        });
        let pointers = faults.as_array().unwrap().iter();
        pointers
            .map(|it| {
                (
                    it["pointer"].as_str().unwrap().to_owned(),
                    it["what"].as_str().unwrap().to_owned(),
                )
            })
            .collect::<Vec<_>>()
    };
    let own = |pointer: &str, what: &str| (pointer.to_owned(), what.to_owned());
    assert_eq!(faults("file.delete", r#"{"path":"a"}"#), []);
    assert_eq!(
        faults("file.delete", r#"{"path":1}"#),
        [own("/path", "kind")]
    );
    assert_eq!(
        faults(
            "context.load",
            r#"{"tokens":1.5,"segments":[{"file":"a","section":"s"}]}"#
        ),
        [own("/segments/0/tokens", "missing"), own("/tokens", "kind")]
    );
    assert_eq!(faults("file.delete", "{"), [own("", "json")]);
    let log = open(&deck, "basic");
    let refused = deck.refused(Request::OpenBranch {
        log,
        edits: vec![BranchEdit::Insert {
            after: 0,
            event_type: "file.create".to_owned(),
            payload: json!({"path": "a"}),
            event_id: None,
            parent_event_id: None,
            correlation_id: None,
            timestamp: None,
        }],
    });
    assert_eq!(refused.code, "bad-request");
    assert!(refused.message.contains("/content"), "{}", refused.message);
}

#[test]
fn the_schema_and_the_reader_agree() {
    use chipdeck_event::schema::{Kind, CATALOGUE};
    use chipdeck_replay::branch::payload_faults;
    // A sound payload of each type, and the same with each field gone or of a wrong kind.
    let value = |kind: Kind| match kind {
        Kind::Text | Kind::Any => json!("x"),
        Kind::OneOf(choices) => json!(choices[0]),
        Kind::Integer | Kind::Number => json!(1),
        Kind::Boolean => json!(true),
        Kind::Object => json!({"id": "x"}),
        Kind::List => json!([]),
        Kind::ListOf(_) | Kind::Edits => json!([]),
        Kind::Texts => json!({}),
    };
    let bad = |type_name: &str, payload: &Value| {
        let line = json!({"eventId": "e", "traceId": "t", "type": type_name, "timestamp": 1, "payload": payload});
        let source = chipdeck_ingest::MemorySource::single("a.jsonl", format!("{line}\n"));
        let timeline = crate::events::fold(&source);
        let found = timeline.findings();
        found
            .iter()
            .any(|it| it.finding.code.as_str() == "bad-payload")
    };
    for schema in CATALOGUE {
        let mut sound = json!({});
        for field in schema.fields {
            let alone = ["edits", "patch"].contains(&field.name) && schema.name == "file.change";
            if !alone {
                sound[field.name] = value(field.kind);
            }
        }
        if schema.name != "state.snapshot" {
            assert!(!bad(schema.name, &sound), "{}", schema.name);
        }
        assert_eq!(payload_faults(schema.name, &sound), [], "{}", schema.name);
        for field in schema.fields.iter().filter(|it| it.required) {
            let mut without = sound.clone();
            without.as_object_mut().unwrap().remove(field.name);
            assert!(
                bad(schema.name, &without),
                "{} without {}",
                schema.name,
                field.name
            );
            assert!(!payload_faults(schema.name, &without).is_empty());
            if field.kind == Kind::Any {
                continue;
            }
            let mut wrong = sound.clone();
            wrong[field.name] = json!([[1]]);
            if matches!(field.kind, Kind::ListOf(_)) {
                wrong[field.name] = json!(1);
            }
            assert!(
                bad(schema.name, &wrong),
                "{} with a wrong {}",
                schema.name,
                field.name
            );
            assert!(!payload_faults(schema.name, &wrong).is_empty());
        }
    }
}

fn put(deck: &Deck, name: &str, events: &[Value]) -> String {
    let path = deck.path(name);
    let text: String = events.iter().map(|it| format!("{it}\n")).collect();
    std::fs::write(&path, text).unwrap();
    deck.open(&path)
}

fn event(
    id: &str,
    trace: &str,
    parent: Option<&str>,
    kind: &str,
    time: i64,
    payload: Value,
) -> Value {
    let mut event = json!({"eventId": id, "traceId": trace, "type": kind, "timestamp": time, "payload": payload});
    if let Some(parent) = parent {
        event["parentEventId"] = json!(parent);
    }
    event
}

#[test]
fn traces_are_trees_with_durations() {
    let deck = Deck::new();
    let call = |id: &str, parent: Option<&str>, time| {
        event(
            id,
            "t",
            parent,
            "tool.call",
            time,
            json!({"toolName": "w", "args": {}}),
        )
    };
    let mut events = vec![
        event(
            "m1",
            "t",
            None,
            "message.user",
            1_000,
            json!({"content": "go"}),
        ),
        call("c1", Some("m1"), 1_010),
        event(
            "r1",
            "t",
            Some("c1"),
            "tool.result",
            1_060,
            json!({"status": "error"}),
        ),
        call("c2", Some("c1"), 1_070),
        event(
            "r2",
            "t",
            Some("c2"),
            "tool.result",
            1_100,
            json!({"status": "ok", "durationMs": 7}),
        ),
        event(
            "lost",
            "t",
            Some("nobody"),
            "message.user",
            1_200,
            json!({"content": "x"}),
        ),
        event(
            "early",
            "t",
            Some("late"),
            "message.user",
            1_300,
            json!({"content": "x"}),
        ),
        event(
            "late",
            "t",
            None,
            "message.user",
            1_400,
            json!({"content": "x"}),
        ),
        event(
            "u1",
            "other",
            Some("m1"),
            "message.user",
            1_500,
            json!({"content": "x"}),
        ),
        event(
            "a",
            "ring",
            Some("b"),
            "message.user",
            1_600,
            json!({"content": "x"}),
        ),
        event(
            "b",
            "ring",
            Some("a"),
            "message.user",
            1_700,
            json!({"content": "x"}),
        ),
    ];
    for at in [1, 2] {
        events[at]["correlationId"] = json!("k");
    }
    let log = put(&deck, "traces.jsonl", &events);
    let traces = deck.ask(Request::Traces {
        log: log.clone(),
        offset: 0,
        limit: 10,
    });
    assert_eq!(traces["total"], 3);
    assert_eq!(traces["rows"][0]["events"], 8);
    assert_eq!(
        (&traces["rows"][0]["tools"], &traces["rows"][0]["failed"]),
        (&json!(2), &json!(1))
    );
    let trace = |id: &str| {
        deck.ask(Request::Trace {
            log: log.clone(),
            trace: id.to_owned(),
            offset: 0,
            limit: 50,
        })
    };
    let tree = trace("t");
    let rows: Vec<(String, u64, Value, Value)> = tree["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            (
                it["entry"]["eventId"].as_str().unwrap().to_owned(),
                it["depth"].as_u64().unwrap(),
                it["parentNote"].clone(),
                it["durationMs"].clone(),
            )
        })
        .collect();
    let row =
        |id: &str, depth: u64, note: Value, duration: Value| (id.to_owned(), depth, note, duration);
    let none = Value::Null;
    assert_eq!(
        rows,
        [
            row("m1", 0, none.clone(), json!(100)),
            row("c1", 1, none.clone(), json!(50)),
            row("r1", 2, none.clone(), none.clone()),
            row("c2", 2, none.clone(), json!(7)),
            row("r2", 3, none.clone(), none.clone()),
            row("lost", 0, json!("missing"), none.clone()),
            row("late", 0, none.clone(), json!(0)),
            row("early", 1, json!("later"), none.clone()),
        ]
    );
    assert_eq!(
        (&tree["start"], &tree["end"]),
        (&json!(1_000), &json!(1_400))
    );
    assert_eq!(trace("other")["rows"][0]["parentNote"], "outside");
    assert_eq!(trace("ring")["total"], 2, "a circle is walked once");
    let correlation = deck.ask(Request::Correlation {
        log: log.clone(),
        correlation: "k".to_owned(),
        offset: 0,
        limit: 10,
    });
    assert_eq!(
        (&correlation["total"], &correlation["exec"]),
        (&json!(2), &json!(2))
    );
    let figures = deck.ask(Request::Figures { log, at: 99 });
    assert_eq!(figures["calls"], 2);
    let tool = &figures["tools"][0];
    assert_eq!(
        (
            &tool["error"],
            &tool["ok"],
            &tool["medianMs"],
            &tool["longestMs"]
        ),
        (&json!(1), &json!(1), &json!(7), &json!(50))
    );
}

#[test]
fn playback_stops_where_a_stop_is_met() {
    let deck = Deck::new();
    let log = open(&deck, "damaged");
    let next = |from: u64, stops: Vec<Stop>, forward: bool| {
        deck.ask(Request::NextStop {
            log: log.clone(),
            from,
            stops,
            forward,
        })
    };
    let finding = || Stop::Finding {
        severity: "error".to_owned(),
    };
    let hit = next(0, vec![finding()], true);
    assert_eq!(hit["index"], 3, "{hit}");
    let touch = next(0, vec![finding(), Stop::FirstTouch { path: None }], true);
    let first = touch["index"].as_u64().unwrap();
    assert!(first <= 3);
    assert_eq!(next(99, vec![finding()], true), Value::Null);
    assert!(next(99, vec![finding()], false)["index"].as_u64().unwrap() > 4);
    let filter = next(
        0,
        vec![
            Stop::Filter {
                filter: "type:file.change".to_owned(),
            },
            Stop::Error,
        ],
        true,
    );
    assert!(filter["stops"].as_array().is_some_and(|it| !it.is_empty()));
    let refused = deck.refused(Request::NextStop {
        log: log.clone(),
        from: 0,
        stops: vec![Stop::Filter {
            filter: "after:".to_owned(),
        }],
        forward: true,
    });
    assert_eq!(refused.code, "bad-request");
    let diagnosis = deck.ask(Request::Diagnose { log });
    assert_eq!(
        (&diagnosis["notIdempotent"], &diagnosis["hiddenInputs"]),
        (&json!(0), &json!(0))
    );
}
