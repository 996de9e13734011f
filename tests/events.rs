//! Canonical logs: after every event the state equals the expectation, and the damage is found. The library reads
//! them here; `events_command` asks the command.

use chipdeck_event::{Code, Located};
use chipdeck_ingest::{members, Batch, LogSet, MemorySource, Source};
use chipdeck_replay::{Found, Options, Timeline};
use std::path::{Path, PathBuf};

pub const SETS: [&str; 8] = [
    "basic.jsonl",
    "edits.jsonl",
    "merge",
    "blobs.jsonl",
    "minimal-no-seq.jsonl",
    "pair",
    "shards",
    "damaged.jsonl",
];

pub fn folder() -> PathBuf {
    let near = Path::new("tests/fixtures/events");
    if near.exists() {
        return near.to_owned();
    }
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/events")
}

/// The expected states after each event 1..n.
pub fn expected(set: &str) -> Vec<serde_json::Value> {
    let name = set.trim_end_matches(".jsonl");
    let text = std::fs::read(folder().join(format!("{name}.expected.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn add_blobs(source: &mut MemorySource, folder: &Path) {
    for two in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        for rest in std::fs::read_dir(two.path()).unwrap().flatten() {
            let name = format!(
                "{}{}",
                two.file_name().display(),
                rest.file_name().display()
            );
            source.add_blob(&name, std::fs::read(rest.path()).unwrap());
        }
    }
}

/// The bytes of a set.
pub fn open(set: &str) -> MemorySource {
    let path = folder().join(set);
    let mut source = MemorySource::new();
    if path.is_file() {
        source.add(set, std::fs::read(&path).unwrap());
        add_blobs(&mut source, &folder().join(format!("{set}.blobs")));
        return source;
    }
    let mut names: Vec<String> = std::fs::read_dir(&path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_by(|a, b| b.cmp(a));
    let listed: Vec<&str> = names.iter().map(String::as_str).collect();
    for member in members(&listed).unwrap().1 {
        source.add(
            listed[member],
            std::fs::read(path.join(listed[member])).unwrap(),
        );
    }
    add_blobs(&mut source, &path.join("blobs"));
    source
}

/// Reads everything, `budget` bytes at a time, and folds it.
pub fn fold_with(source: &dyn Source, budget: usize, snapshot_every: u32) -> Timeline {
    let mut set = LogSet::open(source);
    let names = (0..source.files()).map(|file| source.name(file)).collect();
    let canonical = set.format().is_canonical();
    let options = Options {
        names,
        canonical,
        snapshot_every,
        ..Options::default()
    };
    let mut timeline = Timeline::new(options);
    let mut sink = |batch: &mut Batch, source: &dyn Source| timeline.take(batch, source);
    while !set.read(source, budget, &mut sink).unwrap().done() {}
    set.settle(true, source, &mut sink);
    timeline.arrange(source);
    timeline
}

pub fn fold(source: &dyn Source) -> Timeline {
    // More than a chunk: the reader runs ahead in a thread of its own.
    fold_with(source, 8 << 20, 100)
}

pub fn state(timeline: &Timeline, source: &dyn Source, position: u32) -> serde_json::Value {
    serde_json::from_str(&timeline.state_json(&timeline.state_at(position), source)).unwrap()
}

#[test]
fn the_state_equals_every_expectation() {
    for set in SETS {
        let source = open(set);
        let timeline = fold(&source);
        let expected = expected(set);
        assert_eq!(timeline.len() as usize, expected.len(), "{set}: entries");
        for (position, wanted) in (1..).zip(&expected) {
            let found = state(&timeline, &source, position);
            assert_eq!(&found, wanted, "{set} after event {position}");
        }
        let empty = state(&timeline, &source, 0);
        assert_eq!(empty["at"], serde_json::json!({"index": 0}), "{set}");
        assert_eq!(empty["files"], serde_json::json!({}), "{set}");
    }
}

#[test]
fn keys_are_sorted() {
    let source = open("basic.jsonl");
    let timeline = fold(&source);
    let text = timeline.state_json(timeline.end(), &source);
    let mut from = 0;
    for key in [
        "at", "chips", "context", "dialogue", "files", "memory", "plans", "tools",
    ] {
        let at = text[from..]
            .find(&format!("\"{key}\":"))
            .unwrap_or_else(|| panic!("{key} after byte {from}"));
        from += at;
    }
    assert!(text.starts_with(r#"{"at":{"eventId":"e33","index":33,"seq":33,"timestamp":"#));
}

fn findings_file(name: &str) -> serde_json::Value {
    let text = std::fs::read(folder().join(format!("{name}.findings.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

#[test]
fn each_damaged_line_has_its_finding() {
    let source = open("damaged.jsonl");
    let found = fold(&source).findings();
    let wanted = findings_file("damaged");
    for (line, code) in wanted["lines"].as_object().unwrap() {
        let line: u64 = line.parse().unwrap();
        let code = code.as_str().unwrap();
        assert!(
            found
                .iter()
                .any(|f| f.finding.line == line && f.finding.code.as_str() == code),
            "line {line}: {code}"
        );
    }
    let listed = wanted["lines"].as_object().unwrap().len();
    let clocks = found
        .iter()
        .filter(|f| f.finding.code == Code::ClockRegress)
        .count();
    assert_eq!(found.len(), listed + clocks, "and no other: {found:#?}");
    assert!(
        found.iter().all(|f| f.index.is_some()),
        "each stands at an entry"
    );
}

#[test]
fn each_drift_has_its_finding() {
    let source = open("pair");
    let found = fold(&source).findings();
    let wanted = findings_file("pair");
    for wanted in wanted.as_array().unwrap() {
        let text = |name: &str| wanted.get(name).and_then(|v| v.as_str());
        let one = found.iter().find(|f| {
            Some(f.finding.code.as_str()) == text("code")
                && f.finding.call_id.as_deref() == text("callId")
        });
        let Some(Found { finding, .. }) = one else {
            panic!("{wanted}")
        };
        assert_eq!(finding.dialogue.as_deref(), text("dialogue"), "{wanted}");
        let execution = wanted
            .get("execution")
            .map(|v| v.as_str().map(str::to_owned));
        assert_eq!(finding.execution, execution, "{wanted}");
    }
    assert_eq!(
        found.len(),
        wanted.as_array().unwrap().len(),
        "and no other: {found:#?}"
    );
}

#[test]
fn merged_files_say_what_is_doubtful() {
    let source = open("merge");
    let found = fold(&source).findings();
    let codes: Vec<(Code, u64)> = found
        .iter()
        .map(|f| (f.finding.code, f.finding.line))
        .collect();
    assert!(codes.contains(&(Code::MissingSeq, 1)));
    assert!(codes.contains(&(Code::NotJson, 2)));
    assert!(codes.contains(&(Code::ClockRegress, 4)));
}

#[test]
fn the_same_event_in_any_order_of_reading() {
    for set in SETS {
        let source = open(set);
        let whole = fold(&source);
        let entries: Vec<Located> = whole.entries().to_vec();
        for budget in [1, 7, 1000] {
            let chunked = fold_with(&source, budget, 3);
            assert_eq!(chunked.entries(), entries, "{set} by {budget} bytes");
            assert_eq!(
                chunked.findings(),
                whole.findings(),
                "{set} by {budget} bytes"
            );
        }
    }
}
