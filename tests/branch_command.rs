//! `branch`: a what-if log is a new file in the same format; what it says of the end is what folding it gives.

use crate::events::{folder, SETS};
use crate::repair_command::{answer, chipdeck};
use serde_json::{json, Value};
use std::path::{Path, PathBuf};

fn set(name: &str) -> String {
    folder().join(name).display().to_string()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn put(&self, name: &str, content: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn out(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs it with `--json`, gives what it printed and the new file.
    fn branch(&self, log: &str, arguments: &[&str], out: &str) -> (Value, PathBuf) {
        let out = self.out(out);
        let path = text(&out);
        let mut all = vec!["branch", log, "--out", &path, "--json"];
        all.extend(arguments);
        let done = answer(&chipdeck(&all));
        assert_eq!(done["out"], path);
        (done, out)
    }
}

fn state(log: &str, at: &str) -> Value {
    answer(&chipdeck(&["state", log, "--at", at]))
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(str::to_owned).collect()
}

#[test]
fn without_edits_there_is_no_difference() {
    for name in SETS {
        let bench = Bench::new();
        let (done, out) = bench.branch(&set(name), &[], "new.jsonl");
        assert_eq!(done["divergence"], Value::Null, "{name}");
        for part in ["files", "tools", "memory", "chips", "plans"] {
            assert_eq!(done[part], json!([]), "{name}: {part}");
        }
        let (old, mut new) = (state(&set(name), "end"), state(&text(&out), "end"));
        // A torn last line is one of its own now, at the same place.
        new["at"] = old["at"].clone();
        assert_eq!(old, new, "{name}");
    }
}

#[test]
fn an_event_is_left_out() {
    let bench = Bench::new();
    let log = set("basic.jsonl");
    let old = lines(Path::new(&log));
    for (nth, line) in old.iter().enumerate() {
        let event: Value = serde_json::from_str(line).unwrap();
        let id = event["eventId"].as_str().unwrap();
        let (done, out) = bench.branch(&log, &["--skip", id], &format!("{id}.jsonl"));
        assert_eq!(done["divergence"], nth as u64 + 1);
        let mut left = old.clone();
        left.remove(nth);
        assert_eq!(lines(&out), left, "all others byte for byte");
        let (before, after) = (state(&log, "end"), state(&text(&out), "end"));
        let changed: Vec<&String> = before["files"]
            .as_object()
            .unwrap()
            .keys()
            .chain(after["files"].as_object().unwrap().keys())
            .filter(|path| {
                let of = |state: &Value| {
                    let mut file = state["files"][path.as_str()].clone();
                    if let Some(file) = file.as_object_mut() {
                        file.remove("lastEvent");
                    }
                    file
                };
                of(&before) != of(&after)
            })
            .collect();
        let mut told: Vec<&str> = done["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["path"].as_str().unwrap())
            .collect();
        let mut changed: Vec<&str> = changed.into_iter().map(String::as_str).collect();
        changed.sort_unstable();
        changed.dedup();
        told.sort_unstable();
        assert_eq!(told, changed, "{id}");
        let tools = done["tools"].as_array().unwrap();
        for (call, tool) in before["tools"].as_object().unwrap() {
            let now = after["tools"].get(call).map(|it| &it["status"]);
            let differs = now != Some(&tool["status"]);
            assert_eq!(
                tools.iter().any(|it| it["callId"] == *call),
                differs,
                "{id}: {call}"
            );
        }
    }
}

#[test]
fn a_payload_is_replaced_and_nothing_else_of_the_line() {
    let bench = Bench::new();
    let log = bench.put(
        "a.jsonl",
        concat!(
            r#"{ "eventId":"e1", "traceId":"t","seq":1,"type":"file.create","timestamp":1,"payload":{"path":"a","content":"x\n"},"future":[1, 2] }"#,
            "\n",
            r#"{"eventId":"e2","traceId":"t","seq":2,"type":"file.change","timestamp":2,"payload":{"path":"a","edits":[{"old":"x","new":"y"}]}}"#,
            "\n"
        ),
    );
    let payload = bench.put(
        "p.json",
        "{\n \"path\": \"a\",\n \"content\": \"x\\nz\\n\"\n}\n",
    );
    let edit = format!("e1={}", text(&payload));
    let (done, out) = bench.branch(&text(&log), &["--edit", &edit], "new.jsonl");
    assert_eq!(done["divergence"], 1);
    assert_eq!(done["files"][0]["path"], "a");
    assert!(done["files"][0]["diff"].as_str().unwrap().contains("+z"));
    assert_eq!(
        lines(&out)[0],
        r#"{ "eventId":"e1", "traceId":"t","seq":1,"type":"file.create","timestamp":1,"payload":{  "path": "a",  "content": "x\nz\n" },"future":[1, 2] }"#
    );
    let file = answer(&chipdeck(&[
        "state",
        &text(&out),
        "--at",
        "end",
        "--file",
        "a",
        "--json",
    ]));
    assert_eq!(file["content"], "y\nz\n");
    // The same payload, written otherwise, is no difference.
    let same = bench.put("s.json", r#"{"content":"x\u000a","path":"a"}"#);
    let (done, _) = bench.branch(
        &text(&log),
        &["--edit", &format!("e1={}", text(&same))],
        "same.jsonl",
    );
    assert_eq!(done["divergence"], Value::Null);
}

#[test]
fn a_payload_of_another_shape_is_refused_at_its_field() {
    let bench = Bench::new();
    let log = set("basic.jsonl");
    let cases = [
        ("file.create", r#"{"path":1,"content":"x"}"#, "/path"),
        ("file.create", r#"{"path":"a"}"#, "/content"),
        ("file.create", "[]", "object"),
        ("tool.result", r#"{"status":"fine"}"#, "/status"),
        (
            "file.change",
            r#"{"path":"a","edits":[{"old":"a"}]}"#,
            "/edits/0/new",
        ),
        (
            "file.change",
            r#"{"path":"a","content":"a","patch":"b"}"#,
            "exactly one",
        ),
        ("file.create", "{torn", "no JSON"),
    ];
    for (kind, payload, said) in cases {
        let event = lines(Path::new(&log))
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .find(|event| event["type"] == kind)
            .unwrap();
        let file = bench.put("p.json", payload);
        let edit = format!("{}={}", event["eventId"].as_str().unwrap(), text(&file));
        let out = text(&bench.out("new.jsonl"));
        let done = chipdeck(&["branch", &log, "--edit", &edit, "--out", &out]);
        let errors = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(1), "{kind} {payload}");
        assert!(errors.contains(said), "{kind} {payload}: {errors}");
        assert!(!Path::new(&out).exists());
    }
}

#[test]
fn events_come_in_after_one() {
    let bench = Bench::new();
    let line = |id: &str, seq: Option<u64>, path: &str| {
        let mut event = json!({"eventId": id, "traceId": "t", "type": "file.create", "timestamp": 5,
            "payload": {"path": path, "content": path}});
        if let Some(seq) = seq {
            event["seq"] = json!(seq);
        }
        format!("{event}\n")
    };
    let dense = bench.put(
        "dense.jsonl",
        &[line("e1", Some(1), "a"), line("e2", Some(2), "b")].concat(),
    );
    let wide = bench.put(
        "wide.jsonl",
        &[line("e1", Some(10), "a"), line("e2", Some(20), "b")].concat(),
    );
    let more = bench.put(
        "more.jsonl",
        &[
            line("n1", None, "c"),
            "\n".to_owned(),
            line("n2", None, "d"),
        ]
        .concat(),
    );
    let insert = format!("e1={}", text(&more));
    for (log, seqs) in [(&dense, [None, None]), (&wide, [Some(11), Some(12)])] {
        let name = format!("new-{}", log.file_name().unwrap().display());
        let (done, out) = bench.branch(&text(log), &["--insert", &insert], &name);
        assert_eq!(done["divergence"], 2);
        let written = lines(&out);
        assert_eq!(written[0], lines(log)[0]);
        assert_eq!(written[3], lines(log)[1], "recorded lines stay as they are");
        for (line, seq) in written[1..3].iter().zip(seqs) {
            let event: Value = serde_json::from_str(line).unwrap();
            assert_eq!(event.get("seq").and_then(Value::as_u64), seq);
        }
        let printed = answer(&chipdeck(&["check", &text(&out), "--json"]));
        assert_eq!(printed["findings"], json!([]), "in order, without a doubt");
        assert_eq!(state(&text(&out), "2")["at"]["eventId"], "n1");
        assert_eq!(state(&text(&out), "end")["at"]["eventId"], "e2");
    }
    let bad = bench.put(
        "bad.jsonl",
        &[
            line("n1", None, "c"),
            r#"{"eventId":"n2","type":"x"}"#.to_owned(),
        ]
        .concat(),
    );
    let out = text(&bench.out("never.jsonl"));
    let done = chipdeck(&[
        "branch",
        &text(&dense),
        "--insert",
        &format!("e1={}", text(&bad)),
        "--out",
        &out,
    ]);
    assert_eq!(done.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        errors.contains("line 2") && errors.contains("/traceId"),
        "{errors}"
    );
}

#[test]
fn a_cut_goes_on_with_another_log() {
    let bench = Bench::new();
    let (done, out) = bench.branch(&set("basic.jsonl"), &["--cut", "10"], "cut.jsonl");
    assert_eq!(done["divergence"], 11);
    assert_eq!(lines(&out), lines(Path::new(&set("basic.jsonl")))[..10]);
    assert_eq!(state(&text(&out), "end"), state(&set("basic.jsonl"), "10"));

    // The tail's numbers go on where the cut log's end.
    let (done, out) = bench.branch(
        &set("basic.jsonl"),
        &[
            "--cut",
            "e10",
            "--then",
            &set("edits.jsonl"),
            "--from",
            "20",
        ],
        "both.jsonl",
    );
    assert_eq!(done["divergence"], 11);
    let seqs = |out: &Path| -> Vec<u64> {
        let of = |line: &String| {
            let seq = chipdeck_ingest::member(line, "seq").unwrap();
            seq.parse().unwrap()
        };
        lines(out).iter().map(of).collect()
    };
    assert_eq!(seqs(&out), (1..=10).chain(21..=27).collect::<Vec<u64>>());
    assert_eq!(state(&text(&out), "11")["at"]["eventId"], "q21");
    assert_eq!(
        lines(&out)[10..],
        lines(Path::new(&set("edits.jsonl")))[20..]
    );
    let edits = set("edits.jsonl");
    let (_, out) = bench.branch(
        &set("basic.jsonl"),
        &["--cut", "e10", "--then", &edits, "--from", "3"],
        "moved.jsonl",
    );
    assert_eq!(seqs(&out), (1..=34).collect::<Vec<u64>>());
    assert_eq!(state(&text(&out), "11")["at"]["eventId"], "q4");
    let same = bench.branch(
        &set("basic.jsonl"),
        &["--cut", "10", "--then", &set("basic.jsonl"), "--from", "10"],
        "same.jsonl",
    );
    assert_eq!(same.0["divergence"], Value::Null, "its own tail");
}

#[test]
fn a_branch_has_branches_and_blobs_go_along() {
    let bench = Bench::new();
    let (_, one) = bench.branch(&set("blobs.jsonl"), &[], "one.jsonl");
    let old = state(&set("blobs.jsonl"), "end");
    let mut new = state(&text(&one), "end");
    new["at"] = old["at"].clone();
    assert_eq!(old, new, "what the blobs hold is there");
    assert!(bench.out("one.jsonl.blobs").is_dir());
    let (_, two) = bench.branch(&text(&one), &["--cut", "2"], "two.jsonl");
    let (done, three) = bench.branch(&text(&two), &["--skip", "1"], "three.jsonl");
    assert_eq!(done["divergence"], 1);
    assert_eq!(lines(&three).len(), 1);
    assert_eq!(lines(&three)[0], lines(Path::new(&set("blobs.jsonl")))[1]);
}

#[test]
fn a_copy_of_a_skipped_event_does_not_come_in_its_place() {
    let bench = Bench::new();
    let event = r#"{"eventId":"e1","traceId":"t","type":"file.create","timestamp":1,"payload":{"path":"a","content":"x"}}"#;
    let log = bench.put("a.jsonl", &format!("{event}\n{event}\n"));
    let (done, out) = bench.branch(&text(&log), &["--skip", "e1"], "new.jsonl");
    assert_eq!(done["divergence"], 1);
    assert_eq!(std::fs::read(&out).unwrap(), b"");
}

#[test]
fn what_does_not_go_together_or_is_not_there() {
    let bench = Bench::new();
    let log = set("basic.jsonl");
    let out = text(&bench.out("new.jsonl"));
    let status = |arguments: &[&str]| {
        let mut all = vec!["branch", &log, "--out", &out];
        all.extend(arguments);
        chipdeck(&all).status.code()
    };
    let payload = text(&bench.put("p.json", r#"{"content":"x"}"#));
    assert_eq!(status(&["--skip", "nobody"]), Some(1));
    assert_eq!(status(&["--cut", "999"]), Some(1));
    assert_eq!(status(&["--edit", "e1"]), Some(2));
    assert_eq!(status(&["--edit", &format!("nobody={payload}")]), Some(1));
    assert_eq!(status(&["--edit", "e2=no-such.json"]), Some(1));
    assert_eq!(status(&["--then", &log, "--from", "1"]), Some(2));
    assert_eq!(status(&["--cut", "1", "--then", &log]), Some(2));
    assert_eq!(status(&["--cut", "1", "--from", "1"]), Some(2));
    assert_eq!(status(&["--cut", "1", "--skip", "e9"]), Some(2));
    assert!(!Path::new(&out).exists());
    // An existing file, also the recorded log itself, is never written over.
    let there = bench.put("there.jsonl", "mine\n");
    let done = chipdeck(&["branch", &log, "--out", &text(&there)]);
    assert_eq!(done.status.code(), Some(1));
    assert_eq!(std::fs::read(&there).unwrap(), b"mine\n");
    assert_eq!(chipdeck(&["branch", &log]).status.code(), Some(2));
    let left: Vec<_> = std::fs::read_dir(bench.dir.path())
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "nothing is left over: {left:?}");
}

/// A session of Claude Code that writes a file twice.
fn of_an_agent() -> String {
    let line = |n: usize, kind: &str, message: Value| {
        json!({
            "type": kind, "uuid": format!("u{n}"), "parentUuid": (n > 1).then(|| format!("u{}", n - 1)),
            "sessionId": "s", "cwd": "/work/x", "version": "2.1.5", "isSidechain": false,
            "timestamp": format!("2026-01-01T00:00:{n:02}.000Z"), "message": message,
        })
        .to_string()
            + "\n"
    };
    let write = |id: &str, text: &str| json!({"id": format!("m-{id}"), "role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Write", "input": {"file_path": "/work/x/a.py", "content": text}}]});
    let done = |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]});
    [
        line(1, "user", json!({"role": "user", "content": "write it"})),
        line(2, "assistant", write("t1", "x = 1\n")),
        line(3, "user", done("t1")),
        line(4, "assistant", write("t2", "x = 2\n")),
        line(5, "user", done("t2")),
    ]
    .concat()
}

#[test]
fn an_agents_log_is_made_canonical_and_branched() {
    let bench = Bench::new();
    let log = text(&bench.put("session.jsonl", &of_an_agent()));
    let recorded = state(&log, "end");
    let (same, out) = bench.branch(&log, &[], "same.jsonl");
    assert_eq!(same["files"], json!([]), "no edits, no difference: {same}");
    let sha = |state: &Value| -> Vec<Value> {
        let files = state["files"].as_object().unwrap().values();
        files.map(|file| file["sha256"].clone()).collect()
    };
    assert_eq!(sha(&state(&text(&out), "end")), sha(&recorded));
    // Cut behind the first write: numbers are those of the agent's log.
    let whole = answer(&chipdeck(&["state", &log, "--at", "end"]));
    let entries = whole["at"]["index"].as_u64().unwrap();
    let first = (1..=entries)
        .find(|at| {
            let files = &state(&log, &at.to_string())["files"];
            files.as_object().is_some_and(|it| !it.is_empty())
        })
        .unwrap();
    let (cut, out) = bench.branch(&log, &["--cut", &first.to_string()], "cut.jsonl");
    assert_eq!(cut["files"].as_array().unwrap().len(), 1, "{cut}");
    let at_cut = state(&log, &first.to_string());
    assert_eq!(sha(&state(&text(&out), "end")), sha(&at_cut));
    assert_ne!(sha(&at_cut), sha(&recorded));
}
