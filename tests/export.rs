//! Parts of logs: what is exported opens alone and replays to the same states (laws over random logs, every shared
//! set, every agent's sample), secrets are masked alike, the formats for people let nothing of a log out of its text.

use crate::agents::{files, open_bytes};
use crate::events::{fold, open, state, SETS};
use crate::fixtures::shared;
use crate::laws::{events, lines, seeds, spoilt};
use chipdeck_event::Payload;
use chipdeck_export::{audit, export, review, Format, Log, Part, Scope, Secrets, Written};
use chipdeck_ingest::{MemorySource, Source};
use chipdeck_replay::{Op, Timeline};
use proptest::prelude::*;
use serde_json::{json, Value};

pub fn written(
    timeline: &Timeline,
    source: &dyn Source,
    part: &Part,
    format: Format,
    secrets: &Secrets,
) -> (Vec<u8>, Written) {
    let log = Log {
        timeline,
        source,
        name: "a <b>log</b>",
    };
    let mut out = Vec::new();
    let written = export(log, part, format, secrets, &mut out).unwrap();
    (out, written)
}

fn span(from: Option<u32>, to: Option<u32>) -> Part {
    Part {
        from,
        to,
        scope: Scope::All,
    }
}

fn masked() -> Secrets {
    Secrets::Mask { keep: Vec::new() }
}

/// A state without what a part cannot carry by the format: the place, and who said it last where a snapshot stands.
fn comparable(mut state: Value) -> Value {
    state["at"] = Value::Null;
    state
}

/// The part replays to the states of the log.
#[track_caller]
fn same_states(timeline: &Timeline, source: &dyn Source, from: Option<u32>, to: u32) {
    let part = span(from, Some(to));
    let (text, _) = written(timeline, source, &part, Format::Jsonl, &Secrets::Keep);
    let alone = MemorySource::single("part.jsonl", text);
    let again = fold(&alone);
    let (start, before) = (from.unwrap_or(0), u32::from(from.is_some()));
    if from == Some(to) {
        return;
    }
    assert_eq!(again.len(), to - start + before, "entries of {start}..{to}");
    for position in start.max(1 - before)..=to {
        assert_eq!(
            comparable(state(&again, &alone, position - start + before)),
            comparable(state(timeline, source, position)),
            "{start}..{to} at {position}"
        );
    }
}

/// What a snapshot does not carry by the format: a recycled id's zone, an open call's correlation, and where an
/// earlier id stands in the context.
fn carried(events: &mut [Value]) {
    for event in events {
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        let lost = name == "memory.restore"
            || name == "context.compact"
            || name == "tool.result" && event["payload"].get("callId").is_none();
        if lost {
            event["type"] = json!("future.thing");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_part_replays_to_the_same_states(seeds in seeds(40), cut in any::<[prop::sample::Index; 2]>(), seq in any::<bool>()) {
        let mut events = events(&seeds);
        carried(&mut events);
        if !seq {
            events.iter_mut().for_each(|it| { it.as_object_mut().unwrap().remove("seq"); });
        }
        let source = MemorySource::single("a.jsonl", lines(&events));
        let timeline = fold(&source);
        let mut cuts = cut.map(|it| it.index(events.len() + 1) as u32);
        cuts.sort_unstable();
        same_states(&timeline, &source, Some(cuts[0]), cuts[1]);
        same_states(&timeline, &source, None, cuts[1]);
    }

    #[test]
    fn a_whole_damaged_log_stays_what_it_is(seeds in seeds(40)) {
        let bytes = spoilt(&events(&seeds), &seeds);
        let source = MemorySource::single("a.jsonl", bytes);
        let timeline = fold(&source);
        same_states(&timeline, &source, None, timeline.len());
    }

    #[test]
    fn the_files_of_a_trace_are_as_they_were(seeds in seeds(60)) {
        let mut events = events(&seeds);
        carried(&mut events);
        for (event, seed) in events.iter_mut().zip(&seeds) {
            event["traceId"] = json!(["t", "u", "v"][seed[0] as usize % 3]);
        }
        let source = MemorySource::single("a.jsonl", lines(&events));
        let timeline = fold(&source);
        let part = Part { scope: Scope::Trace("u".to_owned()), ..Part::default() };
        let log = Log { timeline: &timeline, source: &source, name: "a" };
        let mut text = Vec::new();
        if export(log, &part, Format::Jsonl, &Secrets::Keep, &mut text).is_err() {
            return Ok(());
        }
        let alone = MemorySource::single("part.jsonl", text);
        let again = fold(&alone);
        // After each of its events the file that it touches is as it was in the log.
        for index in 1..=again.len() {
            let Some(event) = again.entry(index).and_then(|it| it.entry.event()) else { continue };
            if matches!(event.payload, Payload::StateSnapshot { .. }) {
                continue;
            }
            let at = timeline.index_of_event(&event.envelope.event_id).unwrap();
            let Some(path) = again.touches(index) else { continue };
            let now = &state(&again, &alone, index)["files"][&**path];
            prop_assert_eq!(now, &state(&timeline, &source, at)["files"][&**path], "{} of {}", path, index);
        }
    }
}

#[test]
fn every_shared_set_is_exported_to_the_same_states() {
    for set in SETS {
        let source = open(set);
        let timeline = fold(&source);
        let (text, _) = written(
            &timeline,
            &source,
            &Part::default(),
            Format::Jsonl,
            &masked(),
        );
        let alone = MemorySource::single("part.jsonl", text);
        let again = fold(&alone);
        assert_eq!(again.len(), timeline.len(), "{set}");
        assert_eq!(
            comparable(state(&again, &alone, again.len())),
            comparable(state(&timeline, &source, timeline.len())),
            "{set}"
        );
    }
}

/// From any position on: a second event of an id that was applied before the part stays ignored.
#[test]
fn every_part_of_every_shared_set_ends_with_the_same_files() {
    for set in SETS {
        let source = open(set);
        let timeline = fold(&source);
        let end = state(&timeline, &source, timeline.len());
        for from in 0..timeline.len() {
            let part = span(Some(from), None);
            let (text, _) = written(&timeline, &source, &part, Format::Jsonl, &Secrets::Keep);
            let alone = MemorySource::single("part.jsonl", text);
            let again = fold(&alone);
            let told = state(&again, &alone, again.len());
            assert_eq!(told["files"], end["files"], "{set} from {from}");
        }
    }
}

/// Files, messages and outcomes of an agent's log, without ids: several of its events may show the same one.
fn told(timeline: &Timeline, source: &dyn Source) -> Value {
    let end = state(timeline, source, timeline.len());
    let files: serde_json::Map<String, Value> = end["files"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(path, file)| {
            let mut file = file.clone();
            file.as_object_mut().unwrap().remove("lastEvent");
            (path.clone(), file)
        })
        .collect();
    let said: Vec<Value> = end["dialogue"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["role"], row["content"], row["status"]]))
        .collect();
    let tools: std::collections::BTreeMap<String, u32> = end["tools"]
        .as_object()
        .unwrap()
        .values()
        .fold(Default::default(), |mut all, tool| {
            *all.entry(format!("{} {}", tool["toolName"], tool["status"]))
                .or_default() += 1;
            all
        });
    json!({"files": files, "dialogue": said, "tools": tools})
}

#[track_caller]
fn agent_log(name: &str, files: &[(String, Vec<u8>)]) -> usize {
    let opened = open_bytes(files, 1 << 20);
    if opened.timeline.is_empty() || opened.timeline.options().canonical {
        return 0;
    }
    let (timeline, source) = (&opened.timeline, &opened.source);
    let (text, _) = written(
        timeline,
        source,
        &Part::default(),
        Format::Jsonl,
        &Secrets::Keep,
    );
    let alone = MemorySource::single("part.jsonl", text);
    let again = fold(&alone);
    assert_eq!(told(&again, &alone), told(timeline, source), "{name}");
    let ids: Vec<_> = (1..=again.len())
        .filter_map(|at| Some(&again.entry(at)?.entry.event()?.envelope.event_id))
        .collect();
    let different: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(ids.len(), different.len(), "{name}: ids");
    // And a part from the middle.
    let half = timeline.len() / 2;
    let (text, _) = written(
        timeline,
        source,
        &span(Some(half), None),
        Format::Jsonl,
        &Secrets::Keep,
    );
    let alone = MemorySource::single("part.jsonl", text);
    let again = fold(&alone);
    assert_eq!(
        told(&again, &alone),
        told(timeline, source),
        "{name} from {half}"
    );
    for format in [
        Format::Markdown,
        Format::Html,
        Format::Otlp,
        Format::Parquet,
    ] {
        let (bytes, _) = written(timeline, source, &Part::default(), format, &masked());
        assert!(bytes.len() > 100, "{name}");
    }
    1
}

#[test]
fn our_own_agents_logs_become_canonical_ones() {
    let folder = std::path::Path::new("tests/fixtures/agents");
    let mut done = 0;
    for agent in std::fs::read_dir(folder).unwrap().flatten() {
        crate::agents::walk(&agent.path(), &mut |path| {
            let name = path.to_string_lossy().into_owned();
            if !name.ends_with("expected.json") && !name.ends_with(".md") {
                done += agent_log(&name, &files(path));
            }
        });
    }
    assert!(done >= 10, "{done}");
}

#[test]
fn shared_agents_logs_become_canonical_ones() {
    let Some(folder) = shared("agents") else {
        return;
    };
    let mut done = 0;
    crate::agents::walk(&folder, &mut |path| {
        let name = path.to_string_lossy().into_owned();
        let small = path.metadata().is_ok_and(|it| it.len() < 4_000_000);
        if small && name.ends_with(".jsonl") {
            done += agent_log(&name, &files(path));
        }
    });
    assert!(done >= 10, "{done}");
}

// Made up, and cut in two so that no scanner takes this file for a leak.
const KEY: &str = concat!("AKIA", "QRSTUVWX2345ABCD");

fn log_with_a_key() -> String {
    let env = format!("HOST=a\nKEY={KEY}\n");
    lines(&[
        json!({"eventId": "e1", "traceId": "t", "type": "message.user", "timestamp": 1, "payload": {"content": format!("use {KEY} ok?")}}),
        json!({"eventId": "e2", "traceId": "t", "type": "tool.call", "timestamp": 2, "payload": {"toolName": "be-write", "args": {"path": ".env", "content": env}}}),
        json!({"eventId": "e3", "traceId": "t", "type": "file.create", "timestamp": 3, "payload": {"path": ".env", "content": env}}),
        json!({"eventId": "e4", "traceId": "t", "type": "tool.result", "timestamp": 1503, "payload": {"callId": "e2", "status": "ok", "result": "</script><img src=x onerror=alert(1)>\n```\n# not a heading"}}),
        json!({"eventId": "e5", "traceId": "t", "type": "file.change", "timestamp": 2000, "payload": {"path": ".env", "edits": [{"old": "HOST=a", "new": "HOST=b"}],
            "afterSha256": crate::laws::sha256(&env.replace("HOST=a", "HOST=b"))}}),
        json!({"eventId": "e6", "traceId": "u", "type": "file.observe", "timestamp": 2001, "payload": {"path": ".env",
            "sha256": crate::laws::sha256(&env.replace("HOST=a", "HOST=b"))}}),
    ])
}

#[test]
fn secrets_are_masked_in_every_format_and_kept_when_asked() {
    let source = MemorySource::single("a.jsonl", log_with_a_key());
    let timeline = fold(&source);
    for format in Format::ALL {
        let (bytes, done) = written(&timeline, &source, &Part::default(), format, &masked());
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(KEY), "{format:?}");
        assert_eq!(done.masked.len(), 3, "{format:?}");
        if format != Format::Parquet {
            assert!(text.contains("[masked:aws-access-token:1]"), "{format:?}");
            let (bytes, done) =
                written(&timeline, &source, &Part::default(), format, &Secrets::Keep);
            assert!(String::from_utf8_lossy(&bytes).contains(KEY), "{format:?}");
            assert_eq!(done.masked, [], "{format:?}");
        }
    }
    let log = Log {
        timeline: &timeline,
        source: &source,
        name: "a",
    };
    let places = review(log, &Part::default()).unwrap();
    let told: Vec<_> = places
        .iter()
        .map(|it| (it.line, &*it.field, it.rule, it.value, &*it.excerpt))
        .collect();
    assert_eq!(
        told,
        [
            (1, "/payload/content", "aws-access-token", 1, "use ••• ok?"),
            (2, "/payload/args/content", "aws-access-token", 1, "KEY=•••"),
            (3, "/payload/content", "aws-access-token", 1, "KEY=•••"),
        ]
    );
    let keep = Secrets::Mask { keep: vec![1] };
    let (bytes, done) = written(&timeline, &source, &Part::default(), Format::Jsonl, &keep);
    assert!(String::from_utf8_lossy(&bytes).contains(KEY));
    assert_eq!(done.masked, []);
}

#[test]
fn a_masked_log_still_replays_and_its_hashes_hold() {
    let source = MemorySource::single("a.jsonl", log_with_a_key());
    let timeline = fold(&source);
    for from in [None, Some(2), Some(4)] {
        let (text, _) = written(
            &timeline,
            &source,
            &span(from, None),
            Format::Jsonl,
            &masked(),
        );
        let alone = MemorySource::single("part.jsonl", text);
        let again = fold(&alone);
        assert_eq!(
            again
                .findings()
                .iter()
                .filter(|it| it.finding.code.as_str() == "hash-mismatch")
                .count(),
            0
        );
        let end = state(&again, &alone, again.len());
        assert_eq!(end["files"][".env"]["certainty"], "exact", "{from:?}");
        let content = again
            .file(again.end(), ".env")
            .and_then(|it| again.content(it.content?, &alone));
        assert_eq!(
            content.as_deref(),
            Some("HOST=b\nKEY=[masked:aws-access-token:1]\n")
        );
    }
}

#[test]
fn a_log_cannot_get_out_of_its_page() {
    let source = MemorySource::single("a.jsonl", log_with_a_key());
    let timeline = fold(&source);
    let (html, _) = written(
        &timeline,
        &source,
        &Part::default(),
        Format::Html,
        &masked(),
    );
    let html = String::from_utf8(html).unwrap();
    let body = &html[html.find("<body>").unwrap()..];
    assert!(
        !body.contains("<img") && !body.contains("<script") && !body.contains("<b>log"),
        "{body}"
    );
    assert!(body.contains("&lt;img src=x onerror=alert(1)&gt;"));
    assert!(body.contains("1.5 s"));
    assert!(
        html.contains("default-src 'none'")
            && !html.contains("http://")
            && !html.contains("https://")
    );
    let (md, _) = written(
        &timeline,
        &source,
        &Part::default(),
        Format::Markdown,
        &masked(),
    );
    let md = String::from_utf8(md).unwrap();
    // The fence is longer than the one in the result.
    let fenced = md.split("````text\n").nth(1).unwrap();
    assert!(
        fenced
            .split("\n````")
            .next()
            .unwrap()
            .contains("```\n# not a heading"),
        "{md}"
    );
    assert!(md.contains("+HOST=b"));
}

#[test]
fn spans_have_their_tree_and_times() {
    let source = MemorySource::single("a.jsonl", log_with_a_key());
    let timeline = fold(&source);
    let (text, _) = written(
        &timeline,
        &source,
        &Part::default(),
        Format::Otlp,
        &masked(),
    );
    let document: Value = serde_json::from_slice(&text).unwrap();
    let spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
        .as_array()
        .unwrap();
    let named = |name: &str| spans.iter().find(|it| it["name"] == name).unwrap();
    let tool = named("execute_tool be-write");
    let root = named("invoke_agent agent");
    assert_eq!(tool["startTimeUnixNano"], "2000000");
    assert_eq!(tool["endTimeUnixNano"], "1503000000");
    assert_eq!(tool["parentSpanId"], root["spanId"]);
    assert_eq!(tool["traceId"].as_str().unwrap().len(), 32);
    assert_eq!(tool["spanId"].as_str().unwrap().len(), 16);
    assert!(spans.iter().all(|it| it["name"] != "tool.result"));
    let attribute = |span: &Value, key: &str| {
        let all = span["attributes"].as_array().unwrap();
        all.iter()
            .find(|it| it["key"] == key)
            .map(|it| it["value"]["stringValue"].clone())
    };
    assert_eq!(attribute(tool, "gen_ai.tool.name"), Some(json!("be-write")));
    assert_eq!(
        attribute(tool, "gen_ai.operation.name"),
        Some(json!("execute_tool"))
    );
    assert_eq!(attribute(tool, "gen_ai.tool.call.id"), Some(json!("e2")));
}

#[test]
fn an_audit_counts_by_tool_status_and_duration() {
    let source = open("pair");
    let timeline = fold(&source);
    let log = Log {
        timeline: &timeline,
        source: &source,
        name: "pair",
    };
    let figures = audit(log, &Part::default()).unwrap();
    let calls = (1..=timeline.len())
        .filter_map(|at| timeline.entry(at)?.entry.event())
        .filter(|it| matches!(it.payload, Payload::ToolCall { .. }))
        .count();
    assert_eq!(figures.all.calls as usize, calls);
    assert!(calls > 0);
    let sum = |it: &chipdeck_export::ToolFigures| {
        it.ok + it.error + it.denied + it.cancelled + it.timeout + it.interrupted
    };
    assert!(figures.tools.iter().all(|it| sum(it) == it.calls));
    // The export has no line of the dialogue.
    let part = Part {
        scope: Scope::Exec,
        ..Part::default()
    };
    let (text, _) = written(&timeline, &source, &part, Format::Jsonl, &masked());
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.lines().skip(1).all(|it| !it.contains("\"message.")),
        "{text}"
    );
    let (md, _) = written(&timeline, &source, &part, Format::Markdown, &masked());
    assert!(String::from_utf8(md).unwrap().contains("| tool |"));
    let seen = (1..=timeline.len()).any(|at| {
        let paths = timeline.touches(at).map(|it| timeline.versions(it));
        paths.is_some_and(|it| it.iter().any(|it| it.op != Op::Observe))
    });
    assert!(seen);
}
