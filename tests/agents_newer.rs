//! Logs of versions that nobody has seen yet: types renamed, fields of another type, gone, or deeper; lines without an
//! end. Nothing panics, every record keeps its line, what is unknown is shown raw and counted.

use chipdeck_event::{Code, Entry};
use chipdeck_ingest::{Agent, Format, LogSet, Source};
use chipdeck_replay::{Options, Timeline};
use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::agents::{files, open_bytes, walk, Opened};
use crate::fixtures::shared;

/// A fixed sequence: the same damage in every run.
struct Dice(u64);

impl Dice {
    fn pick(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below.max(1)
    }
}

/// Our own logs, and the samples where they are at hand.
fn samples() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents");
    let mut found = Vec::new();
    for folder in [Some(own), shared("agents")].into_iter().flatten() {
        walk(&folder, &mut |path| {
            let name = path.to_string_lossy().into_owned();
            let told = name.ends_with("expected.json") || name.ends_with("want.json");
            let log = [".jsonl", ".json", ".traj"]
                .iter()
                .any(|end| name.ends_with(end));
            if log && !told {
                found.push(path.to_owned());
            }
        });
    }
    found
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
}

/// Changes one value somewhere inside.
fn change(value: &mut Value, dice: &mut Dice, depth: usize) {
    let inside = match value {
        Value::Object(map) => map.len(),
        Value::Array(list) => list.len(),
        _ => 0,
    };
    if inside > 0 && (depth == 0 || dice.pick(4) > 0) {
        let at = dice.pick(inside);
        return match value {
            Value::Object(map) => {
                let name = map.keys().nth(at).unwrap().clone();
                match dice.pick(6) {
                    0 => drop(map.remove(&name)),
                    1 => {
                        let moved = map.remove(&name).unwrap();
                        map.insert(format!("{name}V9"), moved);
                    }
                    _ => change(map.get_mut(&name).unwrap(), dice, depth + 1),
                }
            }
            Value::Array(list) => match dice.pick(6) {
                0 => drop(list.remove(at)),
                1 => list.push(list[at].clone()),
                _ => change(&mut list[at], dice, depth + 1),
            },
            _ => unreachable!(),
        };
    }
    *value = match dice.pick(8) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1.5e300),
        3 => json!(i64::MAX),
        4 => json!([value.take()]),
        5 => json!({"v9": {"value": value.take()}}),
        6 => json!("../../\u{0}\u{202e} \\ud83d"),
        _ => (0..300).fold(value.take(), |inner, _| json!([inner])),
    };
}

/// All that is looked at by a view is there.
fn look(opened: &Opened, name: &str, count: u64) {
    for at in 0..=opened.timeline.len() {
        if at % 37 == 0 || at == opened.timeline.len() {
            opened
                .timeline
                .state_json(&opened.timeline.state_at(at), &opened.source);
        }
    }
    for located in opened.timeline.entries() {
        let line = located.place.line;
        assert!(
            (1..=count).contains(&line),
            "{name}: line {line} of {count}"
        );
    }
    for path in opened.timeline.paths() {
        for version in opened.timeline.versions(path) {
            version
                .content
                .and_then(|content| opened.timeline.content_sha256(content, &opened.source));
        }
    }
}

fn stand(opened: &Opened) -> BTreeSet<u64> {
    let entries = opened.timeline.entries().iter();
    entries.map(|located| located.place.line).collect()
}

#[test]
fn changed_samples_break_nothing() {
    let mut dice = Dice(0x00c0_ffee);
    for path in samples() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        // Large samples take part with their first records.
        let whole = lines(&bytes);
        let jsonl = name.ends_with(".jsonl");
        for round in 0..12 {
            let mut changed = Vec::new();
            if jsonl {
                for line in whole.iter().take(60) {
                    let parsed: Option<Value> = serde_json::from_slice(line).ok();
                    match parsed {
                        Some(mut value) if dice.pick(3) == 0 => {
                            change(&mut value, &mut dice, 0);
                            changed.extend(value.to_string().into_bytes());
                        }
                        _ => changed.extend_from_slice(line),
                    }
                    changed.push(b'\n');
                }
            } else if let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) {
                for _ in 0..=dice.pick(6) {
                    change(&mut value, &mut dice, 0);
                }
                changed = serde_json::to_vec_pretty(&value).unwrap();
            }
            if round % 3 == 2 {
                changed.truncate(dice.pick(changed.len()));
            }
            let count = lines(&changed).len() as u64;
            let set = [(name.clone(), changed.clone())];
            let opened = open_bytes(&set, 1 << 20);
            look(&opened, &name, count);
            let pieces = open_bytes(&set, 1 + dice.pick(5000));
            assert_eq!(
                opened.timeline.entries(),
                pieces.timeline.entries(),
                "{name}"
            );
            let document = match opened.set.format() {
                Format::Agent(agent) => agent.is_document(),
                _ => false,
            };
            if jsonl && !document {
                // Each record stands at its line.
                let there = stand(&opened);
                for (at, line) in (1..).zip(lines(&changed)) {
                    let blank = line.iter().all(u8::is_ascii_whitespace);
                    assert!(
                        blank || there.contains(&at),
                        "{name}: nothing at line {at}: {}",
                        String::from_utf8_lossy(&line[..line.len().min(2000)])
                    );
                }
            }
        }
    }
}

/// Folders that are logs, with one of their documents changed or gone.
#[test]
fn changed_folders_break_nothing() {
    let mut dice = Dice(77);
    for folder in [
        "cline/1770577372307-xml",
        "opencode/storage",
        "openhands/v1-file-editor",
    ] {
        let Some(folder) = shared(&format!("agents/{folder}")) else {
            return;
        };
        let set = files(&folder);
        for _ in 0..20 {
            let mut set = set.clone();
            let at = dice.pick(set.len());
            let mut value: Value = serde_json::from_slice(&set[at].1).unwrap();
            change(&mut value, &mut dice, 0);
            set[at].1 = value.to_string().into_bytes();
            let gone = dice.pick(set.len());
            set.remove(gone);
            let opened = open_bytes(&set, 1 << 20);
            look(&opened, "a folder", u64::MAX);
        }
    }
}

/// Every type of record renamed, one at a time: shown raw at its line, counted once for each kind.
#[test]
fn unknown_types_are_shown_and_counted() {
    let mut seen = 0;
    for path in samples()
        .iter()
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
    {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(path).unwrap();
        let before = open_bytes(&[(name.clone(), bytes.clone())], 1 << 20);
        if !matches!(before.set.format(), Format::Agent(_)) {
            continue;
        }
        // A new record of a type that will come one day, behind all others.
        let parsed = |line: &Vec<u8>| serde_json::from_slice::<Value>(line).ok();
        let Some(mut value) = lines(&bytes).iter().rev().filter_map(parsed).find(|it| {
            let kind = it.get("type").or_else(|| it.get("role"));
            kind.is_some_and(Value::is_string)
        }) else {
            continue;
        };
        for key in ["type", "role", "uuid", "id"] {
            if value.get(key).is_some() {
                value[key] = json!(format!("tomorrow_{key}"));
            }
        }
        if let Some(kind) = value.pointer_mut("/payload/type") {
            *kind = json!("tomorrow_payload");
        }
        let mut more = bytes.clone();
        if !more.ends_with(b"\n") {
            more.push(b'\n');
        }
        more.extend(value.to_string().into_bytes());
        let opened = open_bytes(&[(name.clone(), more.clone())], 1 << 20);
        let line = lines(&more).len() as u64;
        let last = opened.timeline.entries().last().unwrap();
        assert_eq!(last.place.line, line, "{name}");
        assert!(matches!(last.entry, Entry::Event(_)), "{name}");
        let told = opened.timeline.findings().into_iter().any(|found| {
            found.finding.code == Code::UnknownType && found.finding.message.contains("tomorrow")
        });
        // A role decides nothing for some: the message is shown as the system's.
        let by_role = value.get("type").is_none();
        assert!(
            told || by_role,
            "{name}: {:?} is not counted",
            value.get("type")
        );
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}

/// A file of which one line has half a gigabyte, made as it is read.
struct Endless {
    head: Vec<u8>,
    fill: u64,
    tail: Vec<u8>,
}

impl Source for Endless {
    fn files(&self) -> u32 {
        1
    }

    fn name(&self, _: u32) -> Arc<str> {
        "session.jsonl".into()
    }

    fn len(&self, _: u32) -> u64 {
        self.head.len() as u64 + self.fill + self.tail.len() as u64
    }

    fn read_at(&self, file: u32, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let end = (offset + len as u64).min(self.len(file));
        let mut bytes = Vec::with_capacity((end.saturating_sub(offset)) as usize);
        for at in offset..end {
            bytes.push(match at.checked_sub(self.head.len() as u64) {
                None => self.head[at as usize],
                Some(at) if at < self.fill => b'A',
                Some(at) => self.tail[(at - self.fill) as usize],
            });
        }
        Ok(bytes)
    }

    fn blob(&self, _: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

#[test]
fn a_line_of_half_a_gigabyte_is_survived() {
    let record = |uuid: &str, text: &str| {
        let message = json!({"role": "user", "content": text});
        json!({"type": "user", "uuid": uuid, "parentUuid": null, "sessionId": "s", "cwd": "/w", "message": message}).to_string()
    };
    let long = record("u2", "HERE");
    let (before, after) = long.split_once("HERE").unwrap();
    let source = Endless {
        head: format!("{}\n{before}", record("u1", "one")).into_bytes(),
        fill: 500 << 20,
        tail: format!("{after}\n{}\n", record("u3", "three")).into_bytes(),
    };
    let mut set = LogSet::open(&source);
    assert_eq!(set.format(), Format::Agent(Agent::ClaudeCode));
    let mut timeline = Timeline::new(Options {
        canonical: false,
        ..Options::default()
    });
    while !set
        .read(&source, 8 << 20, &mut |batch, at| timeline.take(batch, at))
        .unwrap()
        .done()
    {}
    set.settle(true, &source, &mut |batch, at| timeline.take(batch, at));
    let shown: Vec<(u64, u64)> = timeline
        .entries()
        .iter()
        .map(|located| (located.place.line, located.place.len))
        .collect();
    assert_eq!(shown.last().unwrap().0, 3, "{shown:?}");
    let long = shown.iter().find(|(line, _)| *line == 2).unwrap();
    assert!(long.1 > 500 << 20);
    let findings = timeline.findings();
    assert!(
        findings.iter().any(|found| found.finding.line == 2),
        "{findings:?}"
    );
}
