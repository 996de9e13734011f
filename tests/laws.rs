//! Laws of reading and folding, on random logs: property tests.

use crate::events::{fold, fold_with, state};
use chipdeck_event::{Code, Located};
use chipdeck_ingest::{Batch, LogSet, MemorySource, Source};
use chipdeck_replay::{Options, Timeline};
use proptest::prelude::*;
use serde_json::{json, Value};

/// Numbers that make one event; small ones make events that meet.
pub type Seed = [u8; 6];

pub fn seeds(most: usize) -> impl Strategy<Value = Vec<Seed>> {
    prop::collection::vec(any::<Seed>(), 1..most)
}

const TEXTS: [&str; 6] = [
    "",
    "a\n",
    "a\nb\n",
    "b\na\nb",
    "ä\r\nb\r\n",
    "one\ntwo\nthree\nfour\n",
];

pub fn sha256(text: &str) -> String {
    use chipdeck_replay::restore::sha256_hex;
    sha256_hex(text.as_bytes())
}

/// Event number `n` (from 1) of a log, with a `seq`.
fn event(n: usize, seed: Seed) -> Value {
    let [kind, a, b, c, d, e] = seed;
    let path = |x: u8| ["f", "g", "src/h"][x as usize % 3];
    let text = |x: u8| TEXTS[x as usize % TEXTS.len()];
    let id = |x: u8| format!("e{}", 1 + x as usize % n.max(1));
    let item = |x: u8| ["m1", "m2", "m3"][x as usize % 3];
    let zone = |x: u8| ["hot", "warm", "cold"][x as usize % 3];
    let status = |x: u8| ["ok", "error", "denied", "cancelled", "timeout"][x as usize % 5];
    let (name, payload) = match kind % 26 {
        0 | 1 => ("file.create", json!({"path": path(a), "content": text(b)})),
        2 => ("file.change", json!({"path": path(a), "content": text(b)})),
        3 => {
            let after = if c % 2 == 0 {
                sha256(text(b))
            } else {
                sha256("other")
            };
            (
                "file.change",
                json!({"path": path(a), "content": text(b), "afterSha256": after}),
            )
        }
        4 | 5 => {
            let edit = json!({"startLine": b % 5, "endLine": i64::from(b % 5) + i64::from(c % 3) - 1, "content": text(d)});
            ("file.change", json!({"path": path(a), "edits": [edit]}))
        }
        6 | 7 => {
            let old = ["a", "b", "\n", ""][b as usize % 4];
            let edit = json!({"old": old, "new": text(c), "all": d % 2 == 0});
            let second = json!({"startLine": 1, "endLine": e % 3, "content": "x\n"});
            (
                "file.change",
                json!({"path": path(a), "edits": if e % 2 == 0 { json!([edit]) } else { json!([edit, second]) }}),
            )
        }
        8 => {
            let patch = format!(
                "@@ -{},1 +1,1 @@\n-{}\n+{}\n",
                b % 4,
                ["a", "b", "two"][c as usize % 3],
                "z"
            );
            ("file.change", json!({"path": path(a), "patch": patch}))
        }
        9 => ("file.delete", json!({"path": path(a)})),
        10 => ("file.rename", json!({"from": path(a), "to": path(b)})),
        11 => ("file.observe", json!({"path": path(a), "content": text(b)})),
        12 => (
            "file.observe",
            json!({"path": path(a), "sha256": sha256(text(b))}),
        ),
        13 => ("message.user", json!({"content": text(a)})),
        14 => ("message.assistant", json!({"content": text(a)})),
        15 => (
            "message.toolResult",
            json!({"callId": id(a), "status": status(b)}),
        ),
        16 => ("context.compact", json!({"through": id(a), "summary": "s"})),
        17 => ("tool.call", json!({"toolName": "t", "args": {"n": a}})),
        18 => ("tool.result", json!({"callId": id(a), "status": status(b)})),
        19 => ("tool.result", json!({"status": status(b)})),
        20 => (
            "chip.save",
            json!({"chip": {"id": item(a), "tool": "t", "args": {}, "created_at": 1}}),
        ),
        21 => ("chip.evict", json!({"id": item(a), "reason": "r"})),
        22 => (
            "memory.add",
            json!({"id": item(a), "zone": zone(b), "content": "c", "tokens": c}),
        ),
        23 => match b % 3 {
            0 => ("memory.move", json!({"id": item(a), "to": zone(c)})),
            1 => ("memory.remove", json!({"id": item(a)})),
            _ => ("memory.restore", json!({"id": item(a)})),
        },
        24 => match b % 3 {
            0 => (
                "plan.create",
                json!({"planId": item(a), "task": "t", "plan": {}}),
            ),
            1 => (
                "plan.review",
                json!({"planId": item(a), "decision": "approved"}),
            ),
            _ => (
                "context.load",
                json!({"planId": item(a), "segments": [], "tokens": 1}),
            ),
        },
        _ => ["future.thing", "file.change"].map(|name| (name, json!({"odd": a})))[b as usize % 2]
            .clone(),
    };
    let mut event = json!({
        "eventId": format!("e{n}"), "traceId": "t", "seq": n, "type": name,
        "timestamp": 1_000 + i64::from(e) + n as i64, "payload": payload,
    });
    if d % 3 == 0 {
        event["parentEventId"] = json!(id(e));
    }
    if d % 5 == 0 {
        event["correlationId"] = json!(["k1", "k2"][c as usize % 2]);
    }
    event
}

pub fn events(seeds: &[Seed]) -> Vec<Value> {
    seeds
        .iter()
        .enumerate()
        .map(|(n, seed)| event(n + 1, *seed))
        .collect()
}

pub fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// A log with some lines spoilt.
pub fn spoilt(events: &[Value], seeds: &[Seed]) -> Vec<u8> {
    let mut out = Vec::new();
    for (event, seed) in events.iter().zip(seeds) {
        let line = event.to_string();
        match seed[5] {
            0..=9 => out.extend_from_slice(b"not json\n"),
            10..=19 => out.extend_from_slice(&line.as_bytes()[..line.len() / 2]),
            20..=29 => out.extend_from_slice(line.as_bytes()),
            30..=39 => out.extend_from_slice(format!("\r\n  \n{line}\r\n").as_bytes()),
            40..=44 => out.extend_from_slice(b"\xff\xfe\n"),
            45..=49 => out.extend_from_slice(b"{\"eventId\":1}\n"),
            _ => out.extend_from_slice(format!("{line}\n").as_bytes()),
        }
    }
    out
}

fn without_at(mut state: Value) -> Value {
    state["at"] = Value::Null;
    state
}

fn end(timeline: &Timeline, source: &dyn Source) -> Value {
    state(timeline, source, timeline.len())
}

/// The first `n` entries folded from zero.
fn replay(entries: &[Located], n: usize, source: &dyn Source, options: Options) -> Timeline {
    let mut timeline = Timeline::new(options);
    for entry in entries.iter().take(n) {
        timeline.append(entry.clone(), source);
    }
    timeline
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn seek_is_replay_from_zero(seeds in seeds(60), every in 1u32..12) {
        let bytes = spoilt(&events(&seeds), &seeds);
        let source = MemorySource::single("a.jsonl", bytes);
        let timeline = fold_with(&source, 1 << 20, every);
        for position in 0..=timeline.len() {
            let sought = state(&timeline, &source, position);
            // Another spacing of snapshots, no cache, no later entry.
            let options = Options { snapshot_every: 1000, cache_bytes: 0, ..Options::default() };
            let replayed = replay(timeline.entries(), position as usize, &source, options);
            prop_assert_eq!(&sought, &end(&replayed, &source), "position {}", position);
        }
    }

    #[test]
    fn twice_is_once(seeds in seeds(60)) {
        let events = events(&seeds);
        let source = MemorySource::single("a.jsonl", lines(&events));
        let once = fold(&source);
        let doubled: Vec<Value> = events.iter().flat_map(|event| [event.clone(), event.clone()]).collect();
        let again: Vec<Value> = events.iter().chain(&events).cloned().collect();
        for twice in [doubled, again] {
            let source2 = MemorySource::single("a.jsonl", lines(&twice));
            let twice = fold(&source2);
            prop_assert_eq!(without_at(end(&once, &source)), without_at(end(&twice, &source2)));
            let duplicates =
                twice.findings().iter().filter(|f| f.finding.code == Code::DuplicateEvent).count();
            prop_assert_eq!(duplicates, events.len());
        }
    }

    #[test]
    fn chunked_reading_is_whole_reading(seeds in seeds(40), cuts in prop::collection::vec(1usize..400, 1..20)) {
        let bytes = spoilt(&events(&seeds), &seeds);
        let source = MemorySource::single("a.jsonl", bytes.clone());
        let whole = fold(&source);
        let mut set = LogSet::open(&source);
        let mut batch = Batch::default();
        let mut sizes = cuts.iter().cycle();
        loop {
            let mut sink = |part: &mut Batch, _: &dyn Source| {
                batch.entries.append(&mut part.entries);
                batch.findings.append(&mut part.findings);
            };
            if set.read(&source, *sizes.next().unwrap(), &mut sink).unwrap().done() {
                set.settle(true, &source, &mut sink);
                break;
            }
        }
        let chunked = {
            let mut timeline = Timeline::new(whole.options().clone());
            timeline.take(&mut batch, &source);
            timeline.arrange(&source);
            timeline
        };
        prop_assert_eq!(chunked.entries(), whole.entries());
        prop_assert_eq!(chunked.findings(), whole.findings());
    }

    #[test]
    fn a_growing_log_ends_as_the_whole(seeds in seeds(40), steps in prop::collection::vec(1usize..300, 1..20)) {
        let bytes = lines(&events(&seeds)).into_bytes();
        let whole_source = MemorySource::single("a.jsonl", bytes.clone());
        let whole = fold(&whole_source);
        let mut source = MemorySource::single("a.jsonl", Vec::new());
        let mut set = LogSet::open(&source);
        let mut timeline = Timeline::new(whole.options().clone());
        let (mut at, mut sizes) = (0, steps.iter().cycle());
        while at < bytes.len() {
            let next = (at + sizes.next().unwrap()).min(bytes.len());
            source.grow(0, &bytes[at..next]);
            at = next;
            let mut sink = |part: &mut Batch, source: &dyn Source| timeline.take(part, source);
            while !set.read(&source, 1 << 20, &mut sink).unwrap().done() {}
            set.settle(false, &source, &mut sink);
            timeline.arrange(&source);
        }
        prop_assert_eq!(timeline.len(), whole.len());
        prop_assert_eq!(end(&timeline, &source), end(&whole, &whole_source));
        prop_assert_eq!(timeline.findings(), whole.findings());
    }

    /// A pair whose files grow one after the other, and not in step.
    #[test]
    fn growing_files_end_as_the_whole(seeds in seeds(40), steps in prop::collection::vec((any::<bool>(), 1usize..500), 1..20)) {
        let events = events(&seeds);
        let own = |first: bool| -> Vec<u8> {
            let of = |(_, seed): &(&Value, &Seed)| (seed[4] % 2 == 0) == first;
            lines(&events.iter().zip(&seeds).filter(of).map(|(event, _)| event.clone()).collect::<Vec<_>>()).into_bytes()
        };
        let files = [own(true), own(false)];
        let mut whole_source = MemorySource::new();
        let mut source = MemorySource::new();
        for (name, bytes) in ["dialog.jsonl", "exec.jsonl"].into_iter().zip(&files) {
            whole_source.add(name, bytes.clone());
            source.add(name, Vec::new());
        }
        let whole = fold(&whole_source);
        let mut set = LogSet::open(&source);
        let mut timeline = Timeline::new(whole.options().clone());
        let mut at = [0usize; 2];
        let mut steps = steps.iter().cycle();
        while at[0] < files[0].len() || at[1] < files[1].len() {
            let (first, size) = steps.next().unwrap();
            let mut file = usize::from(!first);
            if at[file] >= files[file].len() {
                file = 1 - file;
            }
            let next = (at[file] + size).min(files[file].len());
            source.grow(file as u32, &files[file][at[file]..next]);
            at[file] = next;
            let mut sink = |part: &mut Batch, source: &dyn Source| timeline.take(part, source);
            while !set.read(&source, 1 << 20, &mut sink).unwrap().done() {}
            set.settle(false, &source, &mut sink);
            timeline.arrange(&source);
        }
        prop_assert_eq!(timeline.len(), whole.len());
        prop_assert_eq!(end(&timeline, &source), end(&whole, &whole_source));
        prop_assert_eq!(timeline.findings(), whole.findings());
    }

    #[test]
    fn failed_edits_change_nothing(seeds in seeds(60)) {
        let source = MemorySource::single("a.jsonl", lines(&events(&seeds)));
        let timeline = fold(&source);
        for found in timeline.findings() {
            if found.finding.code != Code::EditFailed {
                continue;
            }
            let (index, path) = (found.index.unwrap(), found.finding.path.unwrap());
            let before = timeline.file(&timeline.state_at(index - 1), &path).unwrap();
            let after = timeline.file(&timeline.state_at(index), &path).unwrap();
            prop_assert_eq!(before.content, after.content);
            prop_assert_eq!(after.certainty, chipdeck_replay::Certainty::Unverified);
            prop_assert!(timeline.versions(&path).iter().all(|version| version.index != index));
        }
    }

    #[test]
    fn a_split_with_seq_merges_to_the_original(seeds in seeds(50), files in 2usize..4) {
        let events = events(&seeds);
        let source = MemorySource::single("a.jsonl", lines(&events));
        let whole = fold(&source);
        let mut split = MemorySource::new();
        for file in (0..files).rev() {
            let own: Vec<Value> = events
                .iter()
                .zip(&seeds)
                .filter(|(_, seed)| seed[4] as usize % files == file)
                .map(|(event, _)| event.clone())
                .collect();
            split.add(&format!("{file}.jsonl"), lines(&own));
        }
        let merged = fold_with(&split, 100, 7);
        prop_assert_eq!(merged.len(), whole.len());
        for position in 0..=whole.len() {
            prop_assert_eq!(state(&merged, &split, position), state(&whole, &source, position));
        }
        let codes = |timeline: &Timeline| {
            let mut codes: Vec<_> = timeline
                .findings()
                .into_iter()
                .filter(|f| f.finding.code != Code::ClockRegress)
                .map(|f| (f.index, f.finding.code.as_str(), f.finding.event_id))
                .collect();
            codes.sort();
            codes
        };
        prop_assert_eq!(codes(&merged), codes(&whole));
    }

    #[test]
    fn what_is_forgotten_and_folded_again_is_the_same(seeds in seeds(50), back in 0u32..50) {
        let source = MemorySource::single("a.jsonl", lines(&events(&seeds)));
        let mut timeline = fold_with(&source, 1 << 20, 9);
        let (before, findings) = (end(&timeline, &source), timeline.findings());
        let entries = timeline.entries().to_vec();
        let position = back.min(timeline.len());
        timeline.truncate(position);
        let short = replay(&entries, position as usize, &source, timeline.options().clone());
        prop_assert_eq!(end(&timeline, &source), end(&short, &source));
        for entry in entries.into_iter().skip(position as usize) {
            timeline.append(entry, &source);
        }
        timeline.arrange(&source);
        prop_assert_eq!(end(&timeline, &source), before);
        prop_assert_eq!(timeline.findings(), findings);
        let whole = fold_with(&source, 1 << 20, 9);
        for index in 1..=timeline.len() {
            prop_assert_eq!(timeline.lanes(index), whole.lanes(index));
            prop_assert_eq!(timeline.clock(index), whole.clock(index));
        }
        for path in whole.paths() {
            let hashes = |timeline: &Timeline| -> Vec<_> {
                let versions = timeline.versions(path).iter();
                versions.map(|v| (v.index, v.op, v.certainty, v.content.and_then(|c| timeline.content_sha256(c, &source)))).collect()
            };
            prop_assert_eq!(hashes(&timeline), hashes(&whole));
        }
    }

    /// A part taken out of a log starts with a snapshot of the state there.
    #[test]
    fn a_snapshot_stands_for_what_was_before(seeds in seeds(40), cut in 0usize..40) {
        // What a snapshot does not carry: where a recycled id came from, open calls by correlation, positions.
        let told = |event: &&Value| {
            let (name, payload) = (event["type"].as_str().unwrap(), &event["payload"]);
            let blind = name == "tool.result" && payload.get("callId").is_none();
            !blind && name != "memory.restore" && name != "context.compact"
        };
        let events: Vec<Value> = events(&seeds).iter().filter(told).cloned().collect();
        let cut = cut.min(events.len());
        let source = MemorySource::single("a.jsonl", lines(&events));
        let whole = fold(&source);
        let payload: Value =
            serde_json::from_str(&whole.snapshot_payload(&whole.state_at(cut as u32), &source)).unwrap();
        let snapshot = json!({
            "eventId": "snap", "traceId": "t", "seq": 0, "type": "state.snapshot", "timestamp": 0, "payload": payload,
        });
        let mut part = vec![snapshot];
        part.extend_from_slice(&events[cut..]);
        let taken = MemorySource::single("a.jsonl", lines(&part));
        let timeline = fold(&taken);
        for after in 0..=(events.len() - cut) as u32 {
            prop_assert_eq!(
                without_at(state(&timeline, &taken, after + 1)),
                without_at(state(&whole, &source, cut as u32 + after))
            );
        }
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..600), canonical in any::<bool>()) {
        let mut all = if canonical { lines(&[event(1, [0; 6])]).into_bytes() } else { Vec::new() };
        all.extend(bytes);
        let source = MemorySource::single("a.jsonl", all);
        let timeline = fold(&source);
        let _ = end(&timeline, &source);
    }

    #[test]
    fn bytes_changed_in_a_log_are_read(seeds in seeds(12), changes in prop::collection::vec((any::<u16>(), any::<u8>()), 0..20)) {
        let mut bytes = lines(&events(&seeds)).into_bytes();
        for (at, byte) in changes {
            let at = at as usize % bytes.len();
            bytes[at] = byte;
        }
        let source = MemorySource::single("a.jsonl", bytes);
        let timeline = fold(&source);
        for position in 0..=timeline.len() {
            let _ = state(&timeline, &source, position);
        }
        prop_assert!(timeline.findings().iter().all(|f| f.finding.line >= 1));
    }
}
