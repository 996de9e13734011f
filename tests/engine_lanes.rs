//! Lanes and the model's context through the request table: the dialogue of a lane and where others part from it,
//! steps that stay on it, tokens counted once, what a compaction dropped.

use crate::engine_deck::Deck;
use crate::session_lanes::fixture;
use chipdeck_engine::api::*;
use serde_json::{json, Value};

const SESSION: &str = "rewind-and-agent/5e551000-0000-4000-8000-000000000001.jsonl";

fn texts(page: &Value) -> Vec<String> {
    let rows = page["rows"].as_array().unwrap();
    let said = rows.iter().filter(|row| row["role"] != "tool");
    said.map(|row| row["content"].as_str().unwrap().to_owned())
        .collect()
}

fn dialogue(deck: &Deck, log: &str, at: u64, lane: Option<u32>) -> Value {
    deck.ask(Request::Dialogue {
        log: log.to_owned(),
        at,
        offset: 0,
        limit: 100,
        lane,
    })
}

#[test]
fn the_dialogue_of_a_lane_says_where_others_part() {
    let deck = Deck::new();
    let log = deck.open(&fixture(SESSION));
    let lanes = deck.ask(Request::Lanes { log: log.clone() });
    let told: Vec<(&str, &str)> = lanes
        .as_array()
        .unwrap()
        .iter()
        .map(|lane| {
            (
                lane["kind"].as_str().unwrap(),
                lane["title"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("main", "Add a greeting to the project"),
            ("rewound", "Make it polite instead"),
            ("sub-agent", "Look for the tone"),
        ]
    );
    let all = dialogue(&deck, &log, 9_999, None);
    assert_eq!(texts(&all).len(), 11);
    let first = dialogue(&deck, &log, 9_999, Some(0));
    assert_eq!(texts(&first).last().unwrap(), "It is loud now.");
    let second = dialogue(&deck, &log, 9_999, Some(1));
    assert!(!texts(&second).contains(&"Make it loud".to_owned()));
    let forks: Vec<Value> = second["rows"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| row["forks"].as_array().unwrap().clone())
        .collect();
    // What was taken back, behind the answer before it; the agent, with its result.
    assert_eq!(
        forks,
        [
            json!({"lane": 0, "kind": "left", "messages": 2, "title": "Add a greeting to the project"}),
            json!({"lane": 2, "kind": "sub-agent", "messages": 2, "title": "Look for the tone"}),
        ]
    );
    // At a position before the rewind it has not happened.
    let begins = lanes[1]["first"].as_u64().unwrap();
    let early = dialogue(&deck, &log, begins - 1, Some(0));
    let parted = |page: &Value| {
        let rows = page["rows"].as_array().unwrap();
        rows.iter().any(|row| row["forks"] != json!([]))
    };
    assert!(!parted(&early) && parted(&first));
}

#[test]
fn steps_stay_on_the_lane() {
    let deck = Deck::new();
    let log = deck.open(&fixture(SESSION));
    let walk = |by: StepBy, lane: Option<u32>, forward: bool, from: u64| {
        let mut at = from;
        let mut seen = Vec::new();
        loop {
            let next = deck.ask(Request::Step {
                log: log.clone(),
                from: at,
                by: by.clone(),
                forward,
                lane,
            });
            let Some(next) = next.as_u64() else {
                return seen;
            };
            at = next;
            seen.push(next);
            if next == 0 {
                return seen;
            }
        }
    };
    let entries = deck.ask(Request::Entries {
        log: log.clone(),
        offset: 0,
        limit: 1_000,
        lane: Some(2),
        after: None,
    });
    let own: Vec<u64> = entries["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["index"].as_u64().unwrap())
        .collect();
    assert_eq!(walk(StepBy::Event, Some(2), true, 0), own);
    let mut back: Vec<u64> = own.iter().rev().copied().collect();
    back.push(0);
    assert_eq!(walk(StepBy::Event, Some(2), false, 9_999), back);
    let calls = |lane| walk(StepBy::ToolCall, lane, true, 0).len();
    assert_eq!(
        [calls(None), calls(Some(0)), calls(Some(1)), calls(Some(2))],
        [6, 2, 4, 1]
    );
    let path = "/home/dev/greeter/hello.txt".to_owned();
    let change = |lane| {
        let by = StepBy::FileChange { path: path.clone() };
        walk(by, lane, true, 0).len()
    };
    assert!(change(Some(0)) < change(None) && change(Some(2)) == 0);
}

#[test]
fn lanes_have_their_columns() {
    let deck = Deck::new();
    let log = deck.open(&fixture(SESSION));
    let ask = |lanes: bool| {
        deck.ask(Request::Tracks {
            log: log.clone(),
            query: TracksQuery {
                axis: Axis::Event,
                from: 0.0,
                to: 100.0,
                pixels: 50,
                path: None,
                search: None,
                lanes,
            },
        })
    };
    assert_eq!(ask(false)["lanes"], json!([]));
    let tracks = ask(true);
    let sum = |list: &Value| -> u64 {
        list.as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_u64)
            .sum()
    };
    let lanes = tracks["lanes"].as_array().unwrap();
    let counted: u64 = lanes.iter().map(|lane| sum(&lane["counts"])).sum();
    assert_eq!((lanes.len(), counted), (3, sum(&tracks["entries"])));
}

#[test]
fn what_the_model_had_in_its_window() {
    let deck = Deck::new();
    let log = deck.open(&fixture(SESSION));
    let at = |at: u64, lane: Option<u32>| {
        deck.ask(Request::Context {
            log: log.clone(),
            at,
            lane,
        })
    };
    // The playhead at the end is on the lane that the rewind began.
    let end = at(9_999, None);
    assert_eq!((&end["lane"], &end["lanes"]), (&json!(1), &json!(3)));
    assert_eq!(end["model"], "claude-sonnet-4-5");
    // msg_9: 4 + 40 + 400 + 3.
    assert_eq!(end["fill"], 447);
    // msg_1 stands on two records and counts once: 1, 2, 5, 6, 7, 8, 9.
    assert_eq!(
        end["total"],
        json!({"requests": 7, "input": 36, "cacheRead": 4880, "cacheWrite": 1760, "output": 144, "cost": null})
    );
    assert_eq!(end["turn"]["requests"], 2);
    let compaction = &end["compaction"];
    assert_eq!(compaction["tokensBefore"], 1331);
    assert_eq!(compaction["fillBefore"], 1331);
    assert_eq!(
        compaction["summary"],
        "This session continues: hello.txt greets politely."
    );
    let rows = |dropped: bool| {
        deck.ask(Request::ContextRows {
            log: log.clone(),
            at: 9_999,
            lane: None,
            dropped,
            offset: 0,
            limit: 100,
        })
    };
    let held = rows(false);
    assert_eq!(held["rows"][0]["role"], "summary");
    assert_eq!(
        texts(&held),
        [
            "This session continues: hello.txt greets politely.",
            "Add a farewell",
            "Added."
        ]
    );
    let gone = rows(true);
    assert_eq!(gone["total"], compaction["dropped"]);
    assert_eq!(
        texts(&gone),
        [
            "Add a greeting to the project",
            "I will write hello.txt.",
            "The greeting is there.",
            "Make it polite instead",
            "It is polite now."
        ]
    );
    // The agent's window is its own.
    let agent = at(9_999, Some(2));
    assert_eq!(
        (&agent["fill"], &agent["messages"]),
        (&json!(545), &json!(3))
    );
    assert_eq!(agent["compaction"], Value::Null);
    let turns = deck.ask(Request::Turns {
        log: log.clone(),
        at: 9_999,
        lane: Some(1),
        offset: 0,
        limit: 10,
    });
    let told: Vec<(&str, u64)> = turns["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["summary"].as_str().unwrap(),
                row["spent"]["requests"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("Add a greeting to the project", 2),
            ("Make it polite instead", 3),
            ("Add a farewell", 2)
        ]
    );
}

#[test]
fn codex_counts_each_total_once_and_tells_its_instructions() {
    let deck = Deck::new();
    let log = deck.open(&fixture("codex-fork/rollout-a.jsonl"));
    let context = deck.ask(Request::Context {
        log,
        at: 9_999,
        lane: None,
    });
    assert_eq!(
        (&context["model"], &context["window"]),
        (&json!("gpt-5-codex"), &json!(272_000))
    );
    // The first total stands twice; the turn that was rolled back is on another lane.
    assert_eq!(
        context["total"],
        json!({"requests": 2, "input": 140, "cacheRead": 100, "cacheWrite": 0, "output": 14, "cost": null})
    );
    assert_eq!(context["standing"][0]["what"], "system");
    assert_eq!(
        context["standing"][0]["summary"],
        "You are a careful agent."
    );
}

#[test]
fn a_canonical_logs_context_is_as_the_fold_has_it() {
    let deck = Deck::new();
    let text = crate::engine_deck::log_text(&[
        ("session.start", json!({"model": "m1"})),
        ("message.user", json!({"content": "one"})),
        ("message.assistant", json!({"content": "two"})),
        (
            "context.compact",
            json!({"through": "e2", "summary": "short", "tokensBefore": 50, "tokensAfter": 5}),
        ),
        ("message.user", json!({"content": "three"})),
    ]);
    let log = deck.open(&deck.write("log.jsonl", text));
    let context = deck.ask(Request::Context {
        log: log.clone(),
        at: 5,
        lane: None,
    });
    assert_eq!(
        (&context["model"], &context["lanes"]),
        (&json!("m1"), &json!(1))
    );
    assert_eq!(context["messages"], 3);
    assert_eq!(context["compaction"]["tokensAfter"], 5);
    assert_eq!(context["compaction"]["dropped"], 1);
    let gone = deck.ask(Request::ContextRows {
        log,
        at: 5,
        lane: None,
        dropped: true,
        offset: 0,
        limit: 10,
    });
    assert_eq!(texts(&gone), ["one"]);
}

/// Figures that were counted by hand from the samples, each API message once.
#[test]
fn tokens_of_the_samples() {
    let Some(folder) = crate::fixtures::shared("agents") else {
        return;
    };
    let deck = Deck::new();
    let of = |sample: &str, lane: Option<u32>| {
        let log = deck.open(&folder.join(sample));
        let context = deck.ask(Request::Context {
            log,
            at: u64::from(u32::MAX),
            lane,
        });
        let total = &context["total"];
        let figure = |name: &str| total[name].as_u64().unwrap();
        (
            [
                figure("requests"),
                figure("input"),
                figure("cacheRead"),
                figure("cacheWrite"),
                figure("output"),
            ],
            context["fill"].as_u64(),
        )
    };
    // 20 messages on 54 records; the log's own figure of the compaction is 155,461 tokens.
    assert_eq!(
        of("claude-code/v2.1.5-compaction.jsonl", None),
        ([20, 164, 2_038_052, 199_247, 3_653], Some(78_397))
    );
    assert_eq!(
        of("claude-code/v2.0.76-edits.jsonl", None),
        ([29, 234, 2_356_156, 91_508, 2_670], Some(91_517))
    );
    // The session and its two sub-agents have windows of their own.
    let inline = "claude-code/v1.0.108-sidechain-inline.jsonl";
    assert_eq!(
        of(inline, Some(0)),
        ([10, 64, 190_261, 26_074, 2_003], Some(26_384))
    );
    let agents: Vec<[u64; 5]> = [1, 2].map(|lane| of(inline, Some(lane)).0).to_vec();
    let sum: Vec<u64> = (0..5)
        .map(|at| agents.iter().map(|it| it[at]).sum())
        .collect();
    assert_eq!(sum, [10, 65, 133_998, 21_673, 1_626]);
    // 50 records with figures, 8 of them told again; the log's own total says the same.
    let (figures, fill) = of("codex/v0.126-patch-apply-end.jsonl", None);
    assert_eq!(figures[0], 42);
    assert_eq!(
        (figures[1] + figures[2], figures[2], figures[4], fill),
        (1_222_494, 1_118_464, 9_693, Some(41_992))
    );
}
