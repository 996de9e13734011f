//! Laws of the event log in depth, on random logs: branches, repairs, diagnoses, stores.

use crate::events::{fold, state};
use crate::laws::{events, lines, seeds, spoilt};
use chipdeck_disk::store::{FileStore, Flush, Line, MemoryStore, Rotation, ShardStore, Store};
use chipdeck_ingest::{MemorySource, Source};
use chipdeck_replay::branch::{differences, Branch, Edits, Look, Tail};
use chipdeck_replay::{Diagnosis, Timeline};
use proptest::prelude::*;
use serde_json::{json, Value};
use std::sync::Arc;

fn single(bytes: impl Into<Vec<u8>>) -> (Arc<MemorySource>, Timeline) {
    let source = Arc::new(MemorySource::single("a.jsonl", bytes));
    let timeline = fold(&*source);
    (source, timeline)
}

fn written(branch: &Branch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut out = |part: &[u8]| {
        bytes.extend_from_slice(part);
        Ok(())
    };
    branch.write(&mut out).unwrap();
    bytes
}

fn look<'a>(timeline: &'a Timeline, source: &'a dyn Source) -> Look<'a> {
    Look {
        timeline,
        state: timeline.end(),
        source,
    }
}

/// What is written is what was folded, at every position.
fn folds_as_written(branch: &Branch) -> Result<(), TestCaseError> {
    let (source, again) = single(written(branch));
    prop_assert_eq!(again.len(), branch.timeline.len());
    for position in 0..=again.len() {
        let mut wanted = state(&branch.timeline, &*branch.source, position);
        let mut found = state(&again, &*source, position);
        // An event that came in has the number that its line got.
        (wanted["at"], found["at"]) = (Value::Null, Value::Null);
        prop_assert_eq!(wanted, found, "position {}", position);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_branch_without_edits_is_the_log(seeds in seeds(40)) {
        let (source, base) = single(spoilt(&events(&seeds), &seeds));
        // Where every line is spoilt, nothing says what kind of log it was.
        prop_assume!(base.options().canonical);
        let branch = Branch::lay(&base, source.clone(), &Edits::default()).unwrap();
        prop_assert_eq!(branch.divergence, None);
        let found = differences(look(&base, &*source), look(&branch.timeline, &*branch.source));
        prop_assert!(found.is_empty(), "{:?}", found);
        for position in 0..=base.len() {
            prop_assert_eq!(
                state(&base, &*source, position),
                state(&branch.timeline, &*branch.source, position)
            );
        }
        folds_as_written(&branch)?;
    }

    #[test]
    fn any_branch_is_written_as_it_was_folded(
        seeds in seeds(30),
        more in seeds(6),
        skips in prop::collection::vec(any::<u8>(), 0..4),
        places in prop::collection::vec(any::<u8>(), 0..3),
        cut in prop::option::of(any::<u8>()),
        tail in any::<bool>(),
    ) {
        let (source, base) = single(lines(&events(&seeds)));
        let last = base.len();
        let mut edits = Edits::default();
        if let Some(cut) = cut {
            edits.cut = Some(u32::from(cut) % (last + 1));
            if tail {
                let from = u32::from(cut / 2) % (last + 1);
                edits.tail = Some(Tail::of(&base, source.clone(), from));
            }
        }
        let end = edits.cut.unwrap_or(last);
        for skip in skips {
            if end > 0 {
                edits.skip.insert(1 + u32::from(skip) % end);
            }
        }
        for (nth, place) in places.into_iter().enumerate() {
            let records = events(&more).into_iter().enumerate().map(|(at, mut event)| {
                event["eventId"] = json!(format!("new-{nth}-{at}"));
                event.to_string()
            });
            let at = u32::from(place) % (end + 1);
            edits.insert.entry(at).or_default().extend(records);
        }
        let branch = Branch::lay(&base, source.clone(), &edits).unwrap();
        folds_as_written(&branch)?;
        // Before the divergence the branch is the log.
        let same = branch.divergence.map_or(last, |at| at - 1);
        for position in 0..=same {
            prop_assert_eq!(
                state(&base, &*source, position),
                state(&branch.timeline, &*branch.source, position)
            );
        }
        // A branch of the branch without edits is the branch.
        let again = Branch::lay(&branch.timeline, branch.source.clone(), &Edits::default()).unwrap();
        prop_assert_eq!(again.divergence, None);
        prop_assert_eq!(written(&again), written(&branch));
    }

    #[test]
    fn a_repair_settles_all_drift_once(seeds in seeds(60)) {
        let (_, base) = single(lines(&events(&seeds)));
        let corrections = base.corrections(5_000);
        let mut text = lines(&events(&seeds));
        for correction in &corrections {
            text.push_str(&correction.record);
            text.push('\n');
        }
        let (_, repaired) = single(text);
        prop_assert_eq!(repaired.drifts(false), vec![]);
        prop_assert_eq!(repaired.corrections(9_000), vec![]);
        // What was found before is still listed, with what settled it.
        let settled = repaired.drifts(true);
        prop_assert_eq!(settled.len(), base.drifts(true).len());
        prop_assert!(settled.iter().all(|it| it.settled_by.is_some()));
    }

    #[test]
    fn a_sound_fold_gives_no_doubt_however_it_is_interrupted(seeds in seeds(50), strides in prop::collection::vec(1u32..20, 1..10)) {
        let (source, timeline) = single(spoilt(&events(&seeds), &seeds));
        let mut diagnosis = Diagnosis::of(&timeline);
        let mut at = 0;
        while !diagnosis.go_on(&timeline, &*source, strides[at % strides.len()]) {
            at += 1;
        }
        prop_assert_eq!(diagnosis.findings(&timeline), vec![]);
    }

    #[test]
    fn every_store_gives_the_same_log(seeds in seeds(40), sizes in prop::collection::vec(1usize..9, 1..6), kind in 0u8..3) {
        let all = events(&seeds);
        let texts: Vec<String> = all.iter().map(Value::to_string).collect();
        let events: Vec<Line> = texts.iter().zip(&all).map(|(json, event)| Line {
            json,
            time: event["timestamp"].as_i64().unwrap() * 40_000_000,
            session: ["one", "two"][event["timestamp"].as_u64().unwrap() as usize % 2],
        }).collect();
        let dir = tempfile::tempdir().unwrap();
        let rotation = [Rotation::Date, Rotation::Session, Rotation::Size(600)][kind as usize];
        let mut memory = MemoryStore::default();
        let (mut file, _) = FileStore::open(&dir.path().join("one.jsonl"), Flush::Asked).unwrap();
        let mut shards = ShardStore::open(&dir.path().join("shards"), rotation, Flush::Every(3)).unwrap();
        let mut rest = events.as_slice();
        let mut at = 0;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(sizes[at % sizes.len()].min(rest.len()));
            for store in [&mut memory as &mut dyn Store, &mut file, &mut shards] {
                store.append(now).unwrap();
            }
            (rest, at) = (later, at + 1);
        }
        let source = memory.source();
        let wanted = fold(&source);
        let wanted = state(&wanted, &source, wanted.len());
        for path in [dir.path().join("one.jsonl"), dir.path().join("shards")] {
            let source = chipdeck_disk::logs::FileSource::open(&path).unwrap();
            let timeline = fold(&source);
            prop_assert_eq!(timeline.len() as usize, events.len());
            prop_assert_eq!(state(&timeline, &source, timeline.len()), wanted.clone());
        }
    }
}

#[test]
fn long_strings_lie_beside_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let long = "line ü\n".repeat(20_000);
    let event = json!({"eventId": "e1", "traceId": "t", "type": "file.create", "timestamp": 1,
        "payload": {"path": "a", "content": long}})
    .to_string();
    let line = Line {
        json: &event,
        time: 1,
        session: "s",
    };
    let path = dir.path().join("one.jsonl");
    let (mut file, _) = FileStore::open(&path, Flush::Each).unwrap();
    file.append(&[line]).unwrap();
    let shards = dir.path().join("shards");
    let mut store = ShardStore::open(&shards, Rotation::Date, Flush::Each).unwrap();
    store.append(&[line]).unwrap();
    assert!(path.metadata().unwrap().len() < 400);
    for path in [path, shards] {
        let source = chipdeck_disk::logs::FileSource::open(&path).unwrap();
        let timeline = fold(&source);
        let file = timeline.file(timeline.end(), "a").unwrap();
        let text = timeline.content(file.content.unwrap(), &source).unwrap();
        assert_eq!(*text, *long, "{}", path.display());
        assert!(timeline.findings().is_empty());
    }
}

#[test]
fn thousands_of_shards_are_one_log() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = ShardStore::open(dir.path(), Rotation::Date, Flush::Asked).unwrap();
    let texts: Vec<String> = (1..=6_000)
        .map(|n: i64| {
            json!({"eventId": format!("e{n}"), "traceId": "t", "seq": n, "type": "file.change",
                "timestamp": n, "payload": {"path": format!("f{}", n % 7), "content": format!("{n}\n")}})
            .to_string()
        })
        .collect();
    let day = 86_400_000;
    // Each day is written twice, far apart: the order is that of `seq`, over all shards.
    let lines: Vec<Line> = (0..)
        .zip(&texts)
        .map(|(n, json)| Line {
            json,
            time: (n % 3_000) * day,
            session: "s",
        })
        .collect();
    store.append(&lines).unwrap();
    store.flush().unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3_000);
    let source = chipdeck_disk::logs::FileSource::open(dir.path()).unwrap();
    let timeline = fold(&source);
    assert_eq!(timeline.len(), 6_000);
    let whole = MemorySource::single("a.jsonl", texts.join("\n") + "\n");
    let wanted = fold(&whole);
    for position in [1, 2_999, 3_000, 3_001, 6_000] {
        assert_eq!(
            state(&timeline, &source, position),
            state(&wanted, &whole, position)
        );
    }
    assert!(timeline
        .findings()
        .iter()
        .all(|found| found.finding.code.severity() == chipdeck_event::Severity::Info));
}
