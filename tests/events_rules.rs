//! The rules of the canonical format, one by one: what each event does to the state, and what is found.

use crate::events::fold;
use chipdeck_event::Code;
use chipdeck_ingest::MemorySource;
use chipdeck_replay::Timeline;
use serde_json::{json, Value};

/// A log of `(type, payload)`, ids `e1`, `e2`, … and a `seq`.
struct Log {
    lines: String,
    count: u64,
}

impl Log {
    fn new() -> Log {
        Log {
            lines: String::new(),
            count: 0,
        }
    }

    fn add(self, name: &str, payload: Value) -> Log {
        self.with(name, payload, json!({}))
    }

    /// `extra`: more members of the envelope.
    fn with(mut self, name: &str, payload: Value, extra: Value) -> Log {
        self.count += 1;
        let n = self.count;
        let mut event = json!({
            "eventId": format!("e{n}"), "traceId": "t", "seq": n, "type": name, "timestamp": 1000 + n, "payload": payload,
        });
        for (key, value) in extra.as_object().unwrap() {
            event[key] = value.clone();
        }
        self.lines += &format!("{event}\n");
        self
    }

    fn raw(mut self, line: &str) -> Log {
        self.lines += line;
        self
    }

    fn fold(&self) -> Folded {
        let source = MemorySource::single("a.jsonl", self.lines.as_bytes());
        Folded {
            timeline: fold(&source),
            source,
        }
    }
}

struct Folded {
    timeline: Timeline,
    source: MemorySource,
}

impl Folded {
    fn at(&self, position: u32) -> Value {
        crate::events::state(&self.timeline, &self.source, position)
    }

    fn end(&self) -> Value {
        self.at(self.timeline.len())
    }

    fn codes(&self) -> Vec<&'static str> {
        self.timeline
            .findings()
            .iter()
            .map(|found| found.finding.code.as_str())
            .collect()
    }

    fn text(&self, path: &str) -> Option<String> {
        let file = self.timeline.file(self.timeline.end(), path)?;
        Some(
            self.timeline
                .content(file.content?, &self.source)?
                .to_string(),
        )
    }

    fn file(&self, path: &str) -> Value {
        self.end()["files"][path].clone()
    }
}

fn create(path: &str, content: &str) -> Value {
    json!({"path": path, "content": content})
}

fn sha(text: &str) -> String {
    chipdeck_replay::restore::sha256_hex(text.as_bytes())
}

#[test]
fn a_file_that_exists_is_not_created_again() {
    let log = Log::new()
        .add("file.create", create("a", "1\n"))
        .add("file.create", create("a", "1\n"))
        .add("file.create", create("a", "2\n"))
        .add("file.observe", json!({"path": "b", "sha256": sha("x")}))
        .add("file.create", create("b", "x"))
        .fold();
    assert_eq!(
        log.codes(),
        ["create-on-existing", "create-on-existing"],
        "the same content is no finding"
    );
    assert_eq!(
        log.file("a")["lastEvent"],
        "e1",
        "a skipped event is not applied"
    );
    assert_eq!(
        log.file("b"),
        json!({"exists": true, "certainty": "unknown", "lastEvent": "e4", "bytes": null, "sha256": null})
    );
}

#[test]
fn edits_of_what_was_never_shown_or_is_gone() {
    let edit = |path: &str| json!({"path": path, "edits": [{"old": "a", "new": "b"}]});
    let log = Log::new()
        .add("file.change", edit("never"))
        .add("file.change", edit("never"))
        .add("file.create", create("gone", "a"))
        .add("file.delete", json!({"path": "gone"}))
        .add("file.change", edit("gone"))
        .add("file.change", create("gone", "new\n"))
        .fold();
    assert_eq!(
        log.codes(),
        [
            "change-on-missing",
            "change-on-missing",
            "change-on-missing"
        ]
    );
    assert_eq!(log.file("never")["lastEvent"], "e2");
    assert_eq!(
        log.at(5)["files"]["gone"]["lastEvent"],
        "e4",
        "nothing changes"
    );
    assert_eq!(log.text("gone").as_deref(), Some("new\n"));
    assert_eq!(log.file("gone")["certainty"], "exact");
}

#[test]
fn hashes_before_and_after() {
    let log = Log::new()
        .add("file.create", create("a", "1\n"))
        .add(
            "file.change",
            json!({"path": "a", "content": "2\n", "beforeSha256": sha("other")}),
        )
        .fold();
    assert_eq!(log.codes(), ["hash-mismatch"]);
    assert_eq!(
        log.file("a")["certainty"],
        "exact",
        "beside `content` only a finding"
    );

    let edit = json!([{"old": "1", "new": "2"}]);
    let log = Log::new()
        .add("file.create", create("a", "1\n"))
        .add("file.change", json!({"path": "a", "edits": edit, "beforeSha256": sha("other")}))
        .add("file.change", json!({"path": "a", "edits": [{"old": "2", "new": "3"}]}))
        .add("file.change", json!({"path": "a", "edits": [{"old": "3", "new": "4"}], "afterSha256": sha("4\n").to_uppercase()}))
        .add("file.change", json!({"path": "a", "edits": [{"old": "4", "new": "5"}], "afterSha256": sha("4\n")}))
        .fold();
    let certainties: Vec<Value> = (1..=5)
        .map(|n| log.at(n)["files"]["a"]["certainty"].clone())
        .collect();
    assert_eq!(
        certainties,
        ["exact", "unverified", "unverified", "exact", "unverified"]
    );
    assert_eq!(log.text("a").as_deref(), Some("5\n"));
    assert_eq!(log.codes(), ["hash-mismatch", "hash-mismatch"]);
}

#[test]
fn observations() {
    let log = Log::new()
        .add("file.observe", json!({"path": "a", "sha256": sha("x")}))
        .add("file.observe", json!({"path": "a", "content": "x"}))
        .add("file.observe", json!({"path": "a", "sha256": sha("x")}))
        .add(
            "file.observe",
            json!({"path": "a", "content": "y", "sha256": sha("x")}),
        )
        .add("file.observe", json!({"path": "a", "sha256": sha("z")}))
        .add("file.observe", json!({"path": "a"}))
        .fold();
    let certainties: Vec<Value> = (1..=6)
        .map(|n| log.at(n)["files"]["a"]["certainty"].clone())
        .collect();
    assert_eq!(
        certainties,
        [
            "unknown",
            "exact",
            "exact",
            "unverified",
            "unknown",
            "unknown"
        ]
    );
    assert_eq!(
        log.codes(),
        ["hash-mismatch", "hash-mismatch", "bad-payload"]
    );
    let outside: Vec<bool> = log
        .timeline
        .versions("a")
        .iter()
        .map(|v| v.changed_outside)
        .collect();
    assert_eq!(outside, [false, false, false, true, true]);
}

#[test]
fn renames() {
    let log = Log::new()
        .add("file.create", create("a", "A"))
        .add("file.create", create("b", "B"))
        .add("file.rename", json!({"from": "a", "to": "b"}))
        .add("file.rename", json!({"from": "b", "to": "b"}))
        .add("file.rename", json!({"from": "a", "to": "c"}))
        .add("file.rename", json!({"from": "nowhere", "to": "c"}))
        .fold();
    assert_eq!(log.text("b").as_deref(), Some("A"));
    assert_eq!(
        log.file("a"),
        json!({"exists": false, "certainty": "exact", "lastEvent": "e3"})
    );
    assert_eq!(
        log.file("b")["lastEvent"],
        "e3",
        "onto itself changes nothing"
    );
    assert_eq!(log.file("c"), Value::Null);
    assert_eq!(log.file("nowhere"), Value::Null);
    assert_eq!(log.codes(), ["change-on-missing", "change-on-missing"]);
}

#[test]
fn chips_in_the_queue() {
    let chip =
        |id: &str| json!({"chip": {"id": id, "tool": "be-delete", "args": {}, "created_at": 1}});
    let mut log = Log::new();
    for n in 0..32 {
        log = log.add("chip.save", chip(&format!("c{n}")));
    }
    let log = log
        .add("chip.save", chip("c0"))
        .add("chip.evict", json!({"id": "c0", "reason": "capacity"}))
        .add("chip.evict", json!({"id": "c0", "reason": "capacity"}))
        .add("chip.evict", json!({"id": "c1", "reason": "capacity"}))
        .add("chip.save", chip("c0"))
        .add("chip.insert", json!({"id": "c9", "path": "f", "line": 1}))
        .fold();
    let end = log.end();
    assert_eq!(
        log.at(32)["chips"]["queue"].as_array().unwrap().len(),
        32,
        "only `chip.evict` removes"
    );
    assert_eq!(
        log.at(33)["chips"]["queue"][0],
        "c0",
        "an id in the queue changes nothing"
    );
    assert_eq!(end["chips"]["evicted"], json!(["c1"]));
    assert_eq!(end["chips"]["queue"][0], "c2");
    assert_eq!(end["chips"]["queue"][30], "c0", "saved again: at the end");
    assert_eq!(
        end["files"],
        json!({}),
        "an insertion is its own file event"
    );
    assert_eq!(log.codes(), ["unknown-id"]);
}

#[test]
fn memory_and_plans() {
    let add = |id: &str, zone: &str| json!({"id": id, "zone": zone, "content": "c"});
    let log = Log::new()
        .add("memory.add", add("m1", "hot"))
        .add("memory.add", add("m2", "warm"))
        .add("memory.add", add("m1", "cold"))
        .add("memory.move", json!({"id": "m1", "to": "warm"}))
        .add("memory.remove", json!({"id": "m2"}))
        .add("memory.add", add("m2", "hot"))
        .add("memory.move", json!({"id": "m2", "to": "hot"}))
        .add("memory.restore", json!({"id": "m2"}))
        .add("memory.restore", json!({"id": "m2"}))
        .add("memory.remove", json!({"id": "m9"}))
        .add("memory.add", add("m3", "lukewarm"))
        .add(
            "plan.review",
            json!({"planId": "p", "decision": "approved"}),
        )
        .add(
            "plan.create",
            json!({"planId": "p", "task": "t", "plan": {}}),
        )
        .add(
            "plan.review",
            json!({"planId": "p", "decision": "rejected"}),
        )
        .add(
            "plan.create",
            json!({"planId": "p", "task": "t", "plan": {}}),
        )
        .add(
            "context.load",
            json!({"planId": "q", "segments": [], "tokens": 1}),
        )
        .add("context.load", json!({"segments": [], "tokens": 1}))
        .fold();
    assert_eq!(
        log.at(5)["memory"],
        json!({"hot": [], "warm": ["m1"], "cold": [], "recycled": ["m2"]})
    );
    let end = log.end();
    assert_eq!(
        end["memory"],
        json!({"hot": [], "warm": ["m1", "m2"], "cold": [], "recycled": []})
    );
    assert_eq!(end["plans"], json!({"p": {"status": "proposed"}}));
    assert_eq!(
        log.codes(),
        [
            "unknown-id",
            "unknown-id",
            "unknown-id",
            "bad-payload",
            "unknown-id",
            "unknown-id"
        ]
    );
}

#[test]
fn which_call_a_result_belongs_to() {
    let call = || json!({"toolName": "t", "args": null});
    let status = |status: &str| json!({"status": status});
    let log = Log::new()
        .with("tool.call", call(), json!({"correlationId": "k"}))
        .with("tool.call", call(), json!({"correlationId": "k"}))
        .with("tool.result", status("ok"), json!({"correlationId": "k"}))
        .with(
            "tool.result",
            status("error"),
            json!({"correlationId": "k", "parentEventId": "e3"}),
        )
        .with(
            "tool.result",
            status("denied"),
            json!({"correlationId": "k"}),
        )
        .add("tool.call", call())
        .with(
            "tool.result",
            status("timeout"),
            json!({"parentEventId": "e6"}),
        )
        .add("tool.result", json!({"callId": "e6", "status": "ok"}))
        .add("tool.result", json!({"callId": "e3", "status": "ok"}))
        .add("tool.result", json!({"callId": "e6", "status": "maybe"}))
        .fold();
    let tools = &log.end()["tools"];
    assert_eq!(
        tools["e2"],
        json!({"toolName": "t", "status": "ok", "resultEvent": "e3"}),
        "the last open"
    );
    assert_eq!(
        tools["e1"]["resultEvent"], "e4",
        "a parent that is no call does not count"
    );
    assert_eq!(log.at(7)["tools"]["e6"]["status"], "timeout");
    assert_eq!(
        tools["e6"],
        json!({"toolName": "t", "status": "ok", "resultEvent": "e8"}),
        "a later one replaces"
    );
    assert_eq!(
        log.codes(),
        ["result-without-call", "result-without-call", "bad-payload"]
    );
}

#[test]
fn compactions() {
    let say = || json!({"content": "x"});
    let compact = |through: &str| json!({"through": through, "summary": "s"});
    let log = Log::new()
        .add("message.user", say())
        .add("message.user", say())
        .add("session.end", json!({}))
        .add("message.user", say())
        .add("context.compact", compact("e3"))
        .add("message.user", say())
        .add("context.compact", compact("e2"))
        .add("context.compact", compact("nowhere"))
        .add("context.compact", compact("e10"))
        .add("message.user", say())
        .add("context.compact", compact("e4"))
        .add("context.compact", compact("e12"))
        .fold();
    let context = |n| log.at(n)["context"].clone();
    assert_eq!(context(5), json!(["e5", "e4"]));
    assert_eq!(
        context(7),
        json!(["e7", "e5", "e4", "e6"]),
        "replaces nothing: in front"
    );
    assert_eq!(context(9), context(7));
    assert_eq!(
        context(11),
        json!(["e11", "e6", "e10"]),
        "earlier ones are replaced with what they stand for"
    );
    assert_eq!(context(12), json!(["e12"]), "through itself");
    assert_eq!(
        log.end()["dialogue"].as_array().unwrap().len(),
        5,
        "the dialogue stays"
    );
    assert_eq!(log.codes(), ["unknown-id", "unknown-id"]);
}

#[test]
fn a_state_carried_over() {
    let file = |sha256: &str| json!({"exists": true, "certainty": "exact", "lastEvent": "old9", "sha256": sha256, "bytes": 2});
    let state = json!({
        "at": {"index": 99},
        "files": {"a": file(&sha("1\n")), "b": file(&sha("other")), "c": file(&sha("c\n")), "d": {"exists": false, "certainty": "exact", "lastEvent": "old1"}},
        "dialogue": [{"eventId": "old2", "role": "user", "content": "hi"}, {"eventId": "old3", "role": "tool", "callId": "old4", "status": "ok", "content": null}],
        "context": ["old2", "old3"],
        "tools": {"old4": {"toolName": "t", "status": "pending", "resultEvent": null}},
        "chips": {"queue": ["c1"], "evicted": ["c2"]},
        "memory": {"hot": ["m1"], "warm": [], "cold": [], "recycled": ["m2"]},
        "plans": {"p": {"status": "approved"}},
    });
    let log = Log::new()
        .add("message.user", json!({"content": "before"}))
        .add(
            "state.snapshot",
            json!({"state": state, "contents": {"a": "1\n", "b": "2\n"}}),
        )
        .add("message.user", json!({"content": "after"}))
        .add(
            "context.compact",
            json!({"through": "old2", "summary": "s"}),
        )
        .add("memory.restore", json!({"id": "m2"}))
        .add("tool.result", json!({"callId": "old4", "status": "ok"}))
        .add(
            "file.change",
            json!({"path": "a", "edits": [{"old": "1", "new": "2"}]}),
        )
        .add(
            "file.change",
            json!({"path": "c", "edits": [{"old": "c", "new": "d"}]}),
        )
        .add("context.compact", json!({"through": "e1", "summary": "s"}))
        .fold();
    let at = log.at(2);
    assert_eq!(at["dialogue"], state["dialogue"]);
    assert_eq!(at["context"], state["context"]);
    assert_eq!(at["tools"], state["tools"]);
    assert_eq!(at["files"]["a"], state["files"]["a"]);
    assert_eq!(
        at["files"]["b"]["certainty"], "unverified",
        "its content has another hash"
    );
    assert_eq!(at["files"]["c"], state["files"]["c"], "without its text");
    assert_eq!(
        at["at"],
        json!({"index": 2, "eventId": "e2", "seq": 2, "timestamp": 1002})
    );
    let end = log.end();
    assert_eq!(
        log.at(4)["context"],
        json!(["e4", "old3", "e3"]),
        "in the order of its list"
    );
    assert_eq!(
        end["context"],
        json!(["e9", "e4", "old3", "e3"]),
        "what is before the snapshot is in front"
    );
    assert_eq!(
        end["memory"]["hot"],
        json!(["m1", "m2"]),
        "a recycled id goes back to hot"
    );
    assert_eq!(end["tools"]["old4"]["resultEvent"], "e6");
    assert_eq!(log.text("a").as_deref(), Some("2\n"));
    assert_eq!(end["files"]["c"]["certainty"], "unknown");
    assert_eq!(log.codes(), ["hash-mismatch", "change-on-missing"]);
}

#[test]
fn drift_is_judged_at_the_end() {
    let call = || json!({"toolName": "t", "args": {}});
    let said = |id: &str, status: &str| json!({"callId": id, "status": status});
    let log = Log::new()
        .add("tool.call", call())
        .add("message.toolResult", said("e1", "ok"))
        .add("tool.result", said("e1", "error"))
        .add("tool.call", call())
        .add("message.toolResult", said("e4", "error"))
        .add("tool.result", said("e4", "denied"))
        .add("message.toolResult", said("nowhere", "error"))
        .fold();
    let found: Vec<_> = log.timeline.findings();
    assert_eq!(
        log.codes(),
        ["drift-unsupported-success"],
        "two failures are no drift"
    );
    assert_eq!(found[0].index, Some(2), "at the dialogue's event");
    let log = Log::new()
        .add("tool.call", call())
        .add("message.toolResult", said("e1", "ok"))
        .add("tool.result", said("e1", "error"))
        .add(
            "message.correction",
            json!({"corrects": "e2", "callId": "e1", "status": "error"}),
        )
        .fold();
    assert_eq!(log.codes(), [""; 0], "a later correction settles it");
    let log = Log::new()
        .add("tool.call", call())
        .add(
            "message.correction",
            json!({"corrects": "e2", "callId": "e1", "status": "error"}),
        )
        .add("message.toolResult", said("e1", "ok"))
        .add("tool.result", said("e1", "error"))
        .fold();
    assert_eq!(
        log.codes(),
        ["drift-unsupported-success"],
        "an earlier one does not"
    );
}

#[test]
fn payloads_of_the_wrong_shape() {
    let cases = [
        ("file.create", json!({"path": "a"}), "bad-payload"),
        (
            "file.create",
            json!({"path": 1, "content": ""}),
            "bad-payload",
        ),
        (
            "file.change",
            json!({"path": "a", "content": "", "patch": ""}),
            "bad-payload",
        ),
        (
            "file.change",
            json!({"path": "a", "edits": [{"old": "a"}]}),
            "bad-payload",
        ),
        (
            "file.change",
            json!({"path": "a", "edits": {}}),
            "bad-field bad-payload",
        ),
        (
            "file.change",
            json!({"path": "a", "content": "x", "afterSha256": 5}),
            "bad-field",
        ),
        (
            "file.change",
            json!({"path": "a", "content": "x", "edits": null}),
            "bad-field",
        ),
        ("tool.call", json!({"toolName": "t"}), "bad-payload"),
        (
            "tool.call",
            json!({"toolName": "t", "args": null}),
            "call-without-result",
        ),
        ("tool.result", json!({"status": "fine"}), "bad-payload"),
        ("message.user", json!({"content": null}), "bad-payload"),
        (
            "message.user",
            json!({"content": {"$blob": "sha256:zz"}}),
            "bad-payload",
        ),
        ("chip.save", json!({"chip": {"tool": "t"}}), "bad-payload"),
        (
            "chip.insert",
            json!({"id": "a", "path": "b", "line": 1.5}),
            "bad-payload",
        ),
        (
            "plan.review",
            json!({"planId": "p", "decision": "perhaps"}),
            "bad-payload",
        ),
        (
            "context.load",
            json!({"segments": {}, "tokens": 1}),
            "bad-payload",
        ),
        ("session.start", json!({"cwd": 5}), "bad-field"),
        (
            "state.snapshot",
            json!({"state": {}, "contents": {"a": 1}}),
            "bad-payload",
        ),
        (
            "memory.add",
            json!({"id": "m", "zone": "hot", "content": "", "tags": "x"}),
            "bad-field",
        ),
    ];
    for (name, payload, codes) in cases {
        let log = Log::new().add(name, payload.clone()).fold();
        assert_eq!(log.codes().join(" "), codes, "{name} {payload}");
    }
}

#[test]
fn envelopes_of_the_wrong_shape() {
    for (extra, codes) in [
        (json!({"parentEventId": 5}), "bad-field"),
        (json!({"correlationId": null}), "bad-field"),
        (json!({"seq": -1}), "bad-field"),
        (json!({"seq": 1.0}), "bad-field"),
        (json!({"session": "other"}), "bad-field"),
        (json!({"session": "exec"}), ""),
        (json!({"version": "1"}), "bad-field"),
        (json!({"version": 2}), "unknown-version"),
        (json!({"type": "new.thing", "version": 9}), "unknown-type"),
        (json!({"timestamp": 1.5}), "missing-field"),
        (json!({"traceId": 7}), "missing-field"),
        (json!({"parentEventId": "e1"}), "parent-later"),
        (json!({"parentEventId": "e9"}), "parent-missing"),
    ] {
        let log = Log::new()
            .with("message.user", json!({"content": "x"}), extra.clone())
            .fold();
        assert_eq!(log.codes().join(" "), codes, "{extra}");
        assert_eq!(log.timeline.len(), 1, "{extra}: it keeps its place");
    }
}

#[test]
fn lines_of_every_kind() {
    let good = |id: &str| {
        format!(
            r#"{{"eventId":"{id}","traceId":"t","type":"message.user","timestamp":1,"payload":{{"content":"x"}}}}"#
        )
    };
    let log = Log::new()
        .raw("\u{feff}\r\n \t \n")
        .raw(&format!("{}\r\n", good("a")))
        .raw(&format!("{}{}\n", good("b"), good("c")))
        .raw(&format!("{} 5\n", good("d")))
        .raw(&format!("{}{{\"half\n", good("e")))
        .raw(&format!("{}{{\"eventId\":1}}\n", good("f")))
        .raw("\"text\"\nnull\n")
        .raw("{\"eventId\":\"x\",\"eventId\":\"g\",\"traceId\":\"t\",\"type\":\"message.user\",\"timestamp\":1,\"payload\":{\"content\":\"first\",\"content\":\"\\ud83d\\u0041\\ude00\"}}\n")
        .raw("{\"eventId\":\"tab\there\",\"traceId\":\"t\"}\n")
        .raw(&good("last"))
        .fold();
    let found: Vec<(u64, &str)> = log
        .timeline
        .findings()
        .iter()
        .map(|f| (f.finding.line, f.finding.code.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (4, "glued-line"),
            (5, "not-json"),
            (6, "not-json"),
            (7, "glued-line"),
            (7, "missing-field"),
            (8, "not-an-object"),
            (9, "not-an-object"),
            (11, "not-json"),
        ]
    );
    assert_eq!(log.timeline.len(), 12);
    let end = log.end();
    let ids: Vec<&str> = end["dialogue"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["eventId"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["a", "b", "c", "f", "g", "last"]);
    assert_eq!(end["dialogue"][4]["content"], "\u{fffd}A\u{fffd}");
}

#[test]
fn duplicates_equal_as_json_or_not() {
    let log = Log::new()
        .raw("{\"eventId\":\"a\",\"traceId\":\"t\",\"type\":\"message.user\",\"timestamp\":1,\"payload\":{\"content\":\"x\"}}\n")
        .raw("{ \"traceId\":\"t\", \"eventId\":\"a\", \"type\":\"message.user\",\"timestamp\":1,\"payload\":{\"content\":\"\\u0078\"}}\n")
        .raw("{\"eventId\":\"a\",\"traceId\":\"t\",\"type\":\"message.user\",\"timestamp\":1,\"payload\":{\"content\":\"x\"},\"more\":1}\n")
        .fold();
    assert_eq!(log.codes(), ["duplicate-event", "conflicting-duplicate"]);
    assert_eq!(log.end()["context"], json!(["a"]));
    assert_eq!(log.end()["at"]["eventId"], "a");
}

#[test]
fn seq_and_clock_of_one_file() {
    let line = |id: &str, seq: &str, time: u64| {
        format!("{{\"eventId\":\"{id}\",\"traceId\":\"t\",\"type\":\"message.user\",\"timestamp\":{time},\"payload\":{{\"content\":\"x\"}}{seq}}}\n")
    };
    let log = Log::new()
        .raw(&line("c", ",\"seq\":3", 30))
        .raw(&line("a", ",\"seq\":1", 10))
        .raw("noise\n")
        .raw(&line("b", ",\"seq\":2", 20))
        .raw(&line("b2", ",\"seq\":2", 20))
        .fold();
    assert_eq!(
        log.end()["context"],
        json!(["a", "b", "b2", "c"]),
        "by seq, also inside one file"
    );
    assert_eq!(
        log.at(2)["at"],
        json!({"index": 2}),
        "the noise stays behind the entry before it"
    );
    assert_eq!(
        log.codes(),
        ["seq-regress", "clock-regress", "not-json", "seq-regress"]
    );
    let log = Log::new()
        .raw(&line("b", ",\"seq\":2", 1))
        .raw(&line("n", "", 1))
        .raw(&line("a", ",\"seq\":1", 1))
        .fold();
    assert_eq!(
        log.end()["context"],
        json!(["b", "n", "a"]),
        "one without: the order of the file"
    );
    assert_eq!(log.codes(), ["seq-regress"]);
}

#[test]
fn a_hostile_edit_ends() {
    let mut edits = vec![];
    for _ in 0..64 {
        edits.push(json!({"old": "a", "new": "aaaaaaaa", "all": true}));
    }
    let log = Log::new()
        .add("file.create", create("a", "aaaa"))
        .add("file.change", json!({"path": "a", "edits": edits}))
        .fold();
    assert_eq!(
        log.timeline.findings()[0].finding.code,
        Code::HandlerTimeout
    );
    assert_eq!(log.text("a").as_deref(), Some("aaaa"));
    assert_eq!(log.file("a")["lastEvent"], "e1", "skipped");
}

#[test]
fn growth_over_many_events_ends() {
    let mut log = Log::new().add("file.create", create("a", "a"));
    let double = json!({"path": "a", "edits": [{"old": "a", "new": "aa", "all": true}]});
    for _ in 0..30 {
        log = log.add("file.change", double.clone());
    }
    let begun = std::time::Instant::now();
    let log = log.fold();
    assert!(log.codes().contains(&"handler-timeout"));
    assert!(log.text("a").unwrap().len() <= 64 << 20);
    let at_once =
        json!({"path": "a", "edits": vec![json!({"old": "a", "new": "aa", "all": true}); 40]});
    let once = Log::new()
        .add("file.create", create("a", "a"))
        .add("file.change", at_once)
        .fold();
    assert_eq!(once.codes(), ["handler-timeout"]);
    assert_eq!(once.text("a").as_deref(), Some("a"));
    assert!(begun.elapsed().as_secs() < 60, "bounded work");
}

#[test]
fn a_carried_state_of_another_shape_folds_as_nothing() {
    for state in [
        json!({"files": [1]}),
        json!({"files": {"a": 1}}),
        json!({"dialogue": {}}),
        json!({"dialogue": [{"role": "user"}]}),
        json!({"context": [1]}),
        json!({"tools": {"t": "ok"}}),
        json!({"chips": {"queue": "c"}}),
        json!({"memory": []}),
        json!({"plans": {"p": null}}),
    ] {
        let log = Log::new()
            .add("file.create", create("a", "1"))
            .add("state.snapshot", json!({"state": state, "contents": {}}))
            .fold();
        assert_eq!(log.codes(), ["bad-payload"], "{state}");
        assert_eq!(log.text("a").as_deref(), Some("1"), "{state}");
    }
}
