//! The request table on the shared event sets, against their right answers.

use crate::engine_deck::Deck;
use crate::fixtures;
use chipdeck_engine::api::*;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub const SETS: [&str; 8] = [
    "basic",
    "edits",
    "merge",
    "blobs",
    "minimal-no-seq",
    "pair",
    "shards",
    "damaged",
];

pub fn set(folder: &Path, name: &str) -> PathBuf {
    let dir = folder.join(name);
    if dir.is_dir() {
        dir
    } else {
        folder.join(format!("{name}.jsonl"))
    }
}

/// A copy of a set: an engine that writes beside its input must not find ours.
pub fn copied(deck: &Deck, from: &Path) -> PathBuf {
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
        lane: None,
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
        lane: None,
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
        lanes: false,
    };
    deck.ask(Request::Tracks {
        log: log.to_owned(),
        query,
    })
}
