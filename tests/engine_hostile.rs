//! The request table on agents' logs and hostile input, with every silly number: an answer or a plain refusal.

use crate::engine::{copied, set, SETS};
use crate::engine_deck::Deck;
use crate::fixtures;
use chipdeck_engine::api::*;

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
                lane: None,
            },
            Request::Dialogue {
                log: log(),
                at,
                offset: u64::MAX,
                limit: u64::MAX,
                lane: None,
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
                lane: None,
                after: None,
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
                lane: None,
            },
            Request::Step {
                log: log(),
                from: at,
                by: StepBy::Filter {
                    filter: "is:finding".into(),
                },
                forward: true,
                lane: None,
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
                    lanes: false,
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
