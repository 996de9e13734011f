//! `chipdeck export`: statuses, what it prints and where, and that a part opens again.

use crate::cli::Place;
use serde_json::{json, Value};

fn log() -> String {
    // Cut in two so that no scanner takes this file for a leak.
    let key = ["AKIA", "QRSTUVWX2345ABCD"].concat();
    let line = |value: Value| format!("{value}\n");
    [
        line(json!({"eventId": "a", "traceId": "t", "correlationId": "k", "type": "message.user", "timestamp": 1, "payload": {"content": "go"}})),
        line(json!({"eventId": "b", "traceId": "t", "type": "file.create", "timestamp": 2, "payload": {"path": "f", "content": "one\n"}})),
        line(json!({"eventId": "c", "traceId": "u", "correlationId": "k", "type": "file.change", "timestamp": 3, "payload": {"path": "f", "content": format!("{key}\n")}})),
        line(json!({"eventId": "d", "traceId": "t", "type": "file.change", "timestamp": 4, "payload": {"path": "f", "edits": [{"startLine": 2, "endLine": 1, "content": "two\n"}]}})),
    ]
    .concat()
}

#[test]
fn a_part_opens_alone() {
    let place = Place::new();
    let log = place.write("log.jsonl", log());
    let ran = place
        .run(&["export", &log, "--from", "2", "--format", "jsonl"])
        .ends(0);
    let lines = ran.lines();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["type"], "state.snapshot");
    assert_eq!(lines[0]["payload"]["contents"], json!({"f": "one\n"}));
    assert_eq!(
        ran.stderr.trim(),
        "masked: log.jsonl:3 /payload/content (aws-access-token)"
    );
    let part = place.write("part.jsonl", &ran.stdout);
    let end = place
        .run(&["state", &part, "--at", "end", "--file", "f"])
        .ends(0);
    assert_eq!(end.text(), "[masked:aws-access-token:1]\ntwo\n");
    // The whole log needs no state before it, and stays byte for byte.
    let whole = place
        .run(&["export", &log, "--format", "jsonl", "--secrets", "keep"])
        .ends(0);
    assert_eq!(whole.stdout, std::fs::read(&log).unwrap());
    assert_eq!(whole.stderr, "");
}

#[test]
fn a_trace_or_a_correlation_is_told_with_what_it_needs() {
    let place = Place::new();
    let log = place.write("log.jsonl", log());
    let export = |scope: &[&str]| {
        let mut arguments = vec!["export", &log, "--format", "jsonl", "--secrets", "keep"];
        arguments.extend(scope);
        let lines = place.run(&arguments).ends(0).lines();
        let ids = lines.iter().map(|it| match it["type"].as_str() {
            Some("state.snapshot") => "(state)".to_owned(),
            _ => it["eventId"].as_str().unwrap().to_owned(),
        });
        ids.collect::<Vec<_>>()
    };
    assert_eq!(
        export(&["--correlation", "k"]),
        ["(state)", "a", "(state)", "c"]
    );
    assert_eq!(
        export(&["--trace", "t"]),
        ["(state)", "a", "b", "(state)", "d"]
    );
    assert_eq!(export(&["--trace", "u"]), ["(state)", "c"]);
    place
        .run(&["export", &log, "--format", "jsonl", "--trace", "nowhere"])
        .ends(1);
}

#[test]
fn nothing_is_written_over() {
    let place = Place::new();
    let log = place.write("log.jsonl", log());
    let out = place.write("taken.md", "mine");
    let ran = place
        .run(&["export", &log, "--format", "md", "--out", &out])
        .ends(1);
    assert!(ran.stderr.contains("already there"), "{}", ran.stderr);
    assert_eq!(std::fs::read(&out).unwrap(), b"mine");
    let new = format!("{out}.new");
    let ran = place
        .run(&[
            "export", &log, "--format", "parquet", "--out", &new, "--json",
        ])
        .ends(0);
    assert_eq!(ran.json()["events"], 4);
    assert_eq!(ran.json()["masked"][0]["rule"], "aws-access-token");
    let table = std::fs::read(&new).unwrap();
    assert!(table.starts_with(b"PAR1") && table.ends_with(b"PAR1"));
    // A failure leaves no half of a file.
    place
        .run(&[
            "export",
            &log,
            "--format",
            "jsonl",
            "--trace",
            "x",
            "--out",
            &format!("{out}.x"),
        ])
        .ends(1);
    assert!(!std::path::Path::new(&format!("{out}.x")).exists());
}

#[test]
fn arguments_that_do_not_go_together() {
    let place = Place::new();
    let log = place.write("log.jsonl", log());
    for (status, arguments) in [
        (2, &["--format", "parquet"][..]),
        (2, &["--format", "pdf"]),
        (2, &[]),
        (2, &["--format", "md", "--trace", "t", "--correlation", "k"]),
        (2, &["--format", "md", "--from", "3", "--to", "1"]),
        (1, &["--format", "md", "--from", "9"]),
        (1, &["--format", "md", "--from", "nowhere"]),
        (2, &["--format", "md", "--secrets", "maybe"]),
    ] {
        let mut all = vec!["export", &log];
        all.extend(arguments);
        let ran = place.run(&all).ends(status);
        assert_eq!(ran.text(), "", "{arguments:?}");
    }
    place
        .run(&["export", "absent.jsonl", "--format", "md"])
        .ends(1);
}
