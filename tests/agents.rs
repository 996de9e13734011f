//! The logs of other people's agents, in place: every `*.expected.json` beside a sample is what our fold says, every
//! sample opens, odd inputs of our own break nothing.

use chipdeck_event::{Code, Entry, Payload};
use chipdeck_ingest::{Format, LogSet, MemorySource};
use chipdeck_replay::{Certainty, Op, Options, Timeline};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::fixtures::shared;

pub struct Opened {
    pub source: MemorySource,
    pub set: LogSet,
    pub timeline: Timeline,
    pub names: Vec<String>,
}

/// Reads files as one set, `step` bytes at a time.
pub fn open_bytes(files: &[(String, Vec<u8>)], step: usize) -> Opened {
    let mut source = MemorySource::new();
    for (name, bytes) in files {
        source.add(name, bytes.clone());
    }
    let mut set = LogSet::open(&source);
    let options = Options {
        canonical: set.format().is_canonical(),
        names: files.iter().map(|(name, _)| name.as_str().into()).collect(),
        ..Options::default()
    };
    let mut timeline = Timeline::new(options);
    loop {
        let progress = set
            .read(&source, step, &mut |batch, at| timeline.take(batch, at))
            .unwrap();
        if progress.done() {
            break;
        }
    }
    set.settle(true, &source, &mut |batch, at| timeline.take(batch, at));
    timeline.arrange(&source);
    let names = files.iter().map(|(name, _)| name.clone()).collect();
    Opened {
        source,
        set,
        timeline,
        names,
    }
}

/// The files of a folder (or one file) with names relative to it, sorted.
pub fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    if path.is_file() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        return vec![(name, std::fs::read(path).unwrap())];
    }
    let mut found = Vec::new();
    walk(path, &mut |file| {
        let name = file
            .strip_prefix(path)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        if !name.ends_with("expected.json") {
            found.push((name, std::fs::read(file).unwrap()));
        }
    });
    found.sort();
    found
}

pub fn walk(folder: &Path, each: &mut dyn FnMut(&Path)) {
    let mut inside: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    inside.sort();
    for path in inside {
        if path.is_dir() {
            walk(&path, each);
        } else {
            each(&path);
        }
    }
}

pub fn open(path: &Path) -> Opened {
    open_bytes(&files(path), 1 << 20)
}

/// A version as `files` prints it, and what the samples compare.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    pub path: String,
    pub line: u64,
    pub file: String,
    pub id: String,
    pub op: Op,
    pub certainty: Certainty,
    pub sha256: Option<String>,
    pub outside: bool,
}

impl Opened {
    pub fn versions(&self) -> Vec<Shown> {
        let mut out = Vec::new();
        for path in self.timeline.paths() {
            for version in self.timeline.versions(path) {
                let located = self.timeline.entry(version.index).unwrap();
                let event = located.entry.event().unwrap();
                out.push(Shown {
                    path: path.to_string(),
                    line: located.place.line,
                    file: self.names[located.place.file as usize].clone(),
                    id: event.envelope.shown().to_string(),
                    op: version.op,
                    certainty: version.certainty,
                    sha256: version
                        .content
                        .and_then(|c| self.timeline.content_sha256(c, &self.source)),
                    outside: version.changed_outside,
                });
            }
        }
        out
    }
}

pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("no {name} in {value}"))
}

/// The rule of the samples' README: exact entries other than `observe` are those of `files`, in order.
fn agrees(sample: &Path, expected: &Value, same: &dyn Fn(&Shown, &Value) -> bool) -> Opened {
    let opened = open(sample);
    agreed(&opened, sample, expected, same);
    opened
}

pub fn agreed(
    opened: &Opened,
    sample: &Path,
    expected: &Value,
    same: &dyn Fn(&Shown, &Value) -> bool,
) {
    let versions = opened.versions();
    let name = sample.display();
    let files = expected["files"].as_object().unwrap();
    let exact: Vec<&Shown> = versions
        .iter()
        .filter(|v| v.certainty == Certainty::Exact && v.op != Op::Observe)
        .collect();
    for shown in &exact {
        assert!(
            files.contains_key(&shown.path),
            "{name}: no exact version of this path is expected: {shown:?}"
        );
    }
    for (path, wanted) in files {
        let found: Vec<&&Shown> = exact.iter().filter(|v| v.path == *path).collect();
        let wanted = wanted.as_array().unwrap();
        let both = || format!("{name}: {path}\nfound  {found:#?}\nwanted {wanted:#?}");
        assert_eq!(found.len(), wanted.len(), "{}", both());
        for (found, wanted) in found.iter().zip(wanted) {
            assert!(same(found, wanted), "{}", both());
            assert_eq!(
                found.sha256.as_deref(),
                wanted["sha256"].as_str(),
                "{}",
                both()
            );
        }
    }
    for doubtful in expected["not_certain"].as_array().into_iter().flatten() {
        let certainty = match doubtful.get("plausible_sha256") {
            Some(_) => Certainty::Unverified,
            None => Certainty::Unknown,
        };
        let line = doubtful["line"].as_u64().unwrap() + 1;
        let hit = versions.iter().any(|v| {
            v.path == text(doubtful, "path")
                && v.line == line
                && v.id == text(doubtful, "id")
                && v.certainty == certainty
                && v.sha256.as_deref() == doubtful["plausible_sha256"].as_str()
        });
        let near: Vec<&Shown> = versions
            .iter()
            .filter(|v| v.path == text(doubtful, "path"))
            .collect();
        assert!(hit, "{name}: not so: {doubtful}\n{near:#?}");
    }
    for behind in expected["changed_behind_the_log"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let line = behind["line"].as_u64().unwrap() + 1;
        let hit = versions.iter().any(|v| {
            v.path == text(behind, "path")
                && v.line == line
                && v.op == Op::Observe
                && v.outside
                && v.sha256.as_deref() == behind["sha256"].as_str()
        });
        assert!(hit, "{name}: not so: {behind}");
    }
    for failed in expected["failed_calls_that_change_nothing"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let line = failed["line"].as_u64().unwrap() + 1;
        let hit = versions
            .iter()
            .find(|v| v.line == line && v.op != Op::Observe);
        assert_eq!(hit, None, "{name}: changed by a failed call {failed}");
    }
    for read in expected["full_reads"].as_array().into_iter().flatten() {
        let line = read["line"].as_u64().unwrap() + 1;
        let hit = versions.iter().any(|v| {
            v.path == text(read, "path")
                && v.line == line
                && v.op == Op::Observe
                && v.sha256.as_deref() == read["sha256"].as_str()
        });
        assert!(hit, "{name}: a full read is not seen: {read}");
    }
}

pub fn expectation(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Every `<sample>.expected.json` beside a `.jsonl` sample of this agent.
fn by_line(agent: &str) -> usize {
    let Some(folder) = shared(&format!("agents/{agent}")) else {
        return 0;
    };
    let mut count = 0;
    walk(&folder, &mut |path| {
        let name = path.file_name().unwrap().to_string_lossy();
        if let Some(stem) = name.strip_suffix(".expected.json") {
            let sample = path.with_file_name(format!("{stem}.jsonl"));
            let same = |found: &Shown, wanted: &Value| {
                found.line == wanted["line"].as_u64().unwrap() + 1 && found.id == text(wanted, "id")
            };
            let opened = agrees(&sample, &expectation(path), &same);
            assert_eq!(opened.set.format().name(), agent);
            count += 1;
        }
    });
    count
}

#[test]
fn claude_code_expectations() {
    if shared("agents/claude-code").is_some() {
        assert_eq!(by_line("claude-code"), 9);
    }
}

#[test]
fn codex_expectations() {
    if shared("agents/codex").is_some() {
        assert_eq!(by_line("codex"), 4);
    }
}

#[test]
fn opencode_expectations() {
    let Some(folder) = shared("agents/opencode") else {
        return;
    };
    let same = |found: &Shown, wanted: &Value| found.id == text(wanted, "part");
    for stem in ["export-v1.1-before-after", "export-v1.17-patch-only"] {
        let expected = expectation(&folder.join(format!("{stem}.expected.json")));
        agrees(&folder.join(format!("{stem}.json")), &expected, &same);
    }
    // The storage folder holds the second session as files: the same history.
    let expected = expectation(&folder.join("export-v1.17-patch-only.expected.json"));
    let stored = agrees(&folder.join("storage"), &expected, &same);
    assert_eq!(stored.timeline.cwd(), Some("/home/dev1/greeter"));
}

#[test]
fn cline_expectations() {
    let Some(folder) = shared("agents/cline/1770577372307-xml") else {
        return;
    };
    let ui: Value = expectation(&folder.join("ui_messages.json"));
    let raw = std::fs::read_to_string(folder.join("ui_messages.json")).unwrap();
    let same = |found: &Shown, wanted: &Value| {
        // The position in the list, told by the message's time.
        let message = &ui[wanted["index"].as_u64().unwrap() as usize];
        let at = raw.find(&format!("\"ts\": {}", message["ts"])).unwrap();
        let line = raw[..at].matches('\n').count() as u64 + 1;
        found.file == "ui_messages.json" && (found.line == line || found.line + 1 == line)
    };
    agrees(&folder, &expectation(&folder.join("expected.json")), &same);
}

#[test]
fn openhands_expectations() {
    let Some(folder) = shared("agents/openhands/v1-file-editor") else {
        return;
    };
    let id = "7d0a5c1e2f3b4a6c8e9d0b1a2c3d4e5f";
    let same = |found: &Shown, wanted: &Value| {
        found.file.contains(&format!(
            "event-{:05}-{}",
            wanted["index"].as_u64().unwrap(),
            text(wanted, "event")
        ))
    };
    agrees(
        &folder.join(id),
        &expectation(&folder.join(format!("{id}.expected.json"))),
        &same,
    );
}

/// The whole of the samples: each file opens as its agent's log, with something on its timeline.
#[test]
fn every_sample_opens() {
    let Some(folder) = shared("agents") else {
        return;
    };
    let mut seen = 0;
    walk(&folder, &mut |path| {
        let name = path
            .strip_prefix(&folder)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        let (agent, rest) = name.split_once('/').unwrap_or(("", &name));
        let log = !rest.ends_with("expected.json") && !rest.ends_with("README.md");
        if agent.is_empty() || !log {
            return;
        }
        seen += 1;
        let opened = open(path);
        let format = opened.set.format().name();
        let raw = ["others", "claude-code/project-layout/0a1b2c3d-4e5f-4061-8071-2a3b4c5d6e7f/subagents/agent-a0ad4f44468bdf20d.meta.json", "kimi/state.json", "cline/1770577372307-xml/task_metadata.json"];
        if raw.iter().any(|r| name.starts_with(r)) {
            assert_eq!(opened.set.format(), Format::Raw, "{name}");
        } else {
            assert_eq!(format, agent, "{name}");
            let other = |f: &chipdeck_replay::Found| {
                matches!(
                    f.finding.code,
                    Code::NotJson | Code::TornLine | Code::ConflictingDuplicate | Code::BadPayload
                )
            };
            let bad: Vec<_> = opened
                .timeline
                .findings()
                .into_iter()
                .filter(other)
                .collect();
            assert!(bad.is_empty(), "{name}: {bad:?}");
        }
        assert!(!opened.timeline.is_empty(), "{name}");
        // The pieces it is read in change nothing.
        let bytes = files(path);
        let pieces = open_bytes(&bytes, 4099);
        assert_eq!(
            pieces.timeline.entries(),
            opened.timeline.entries(),
            "{name}"
        );
    });
    assert!(seen > 80, "{seen} samples");
}

/// Counts of one sample, for the reader of this test as much as for the machine.
fn counts(opened: &Opened) -> (usize, usize, usize, usize) {
    let count = |test: &dyn Fn(&Payload) -> bool| {
        let events = opened
            .timeline
            .entries()
            .iter()
            .filter_map(|l| match &l.entry {
                Entry::Event(event) => Some(&event.payload),
                Entry::Opaque(_) => None,
            });
        events.filter(|p| test(p)).count()
    };
    (
        count(&|p| matches!(p, Payload::Message { .. })),
        count(&|p| matches!(p, Payload::ToolCall { .. })),
        count(&|p| matches!(p, Payload::ToolResult { .. })),
        count(&|p| matches!(p, Payload::ContextCompact { .. })),
    )
}

/// Ids of calls and of results in a log, counted without our readers.
fn ids_in(path: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    fn search(value: &Value, calls: &mut BTreeSet<String>, results: &mut BTreeSet<String>) {
        let id = |name: &str| {
            value[name]
                .as_str()
                .filter(|id| !id.contains('['))
                .map(String::from)
        };
        match value["type"].as_str() {
            Some("tool_use") => calls.extend(id("id")),
            Some("tool_result") => results.extend(id("tool_use_id")),
            Some("function_call" | "custom_tool_call" | "local_shell_call") => {
                calls.extend(id("call_id"))
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                results.extend(id("call_id"))
            }
            _ => {}
        }
        for inner in value.as_object().into_iter().flat_map(|o| o.values()) {
            search(inner, calls, results);
        }
        value
            .as_array()
            .into_iter()
            .flatten()
            .for_each(|v| search(v, calls, results));
    }
    let (mut calls, mut results) = Default::default();
    let text = std::fs::read_to_string(path).unwrap();
    for record in serde_json::Deserializer::from_str(&text).into_iter::<Value>() {
        search(&record.unwrap(), &mut calls, &mut results);
    }
    (calls, results)
}

#[test]
fn calls_and_results_are_all_there_once() {
    let mut seen = 0;
    for agent in ["claude-code", "codex"] {
        let Some(folder) = shared(&format!("agents/{agent}")) else {
            return;
        };
        walk(&folder, &mut |path| {
            let name = path.file_name().unwrap().to_string_lossy();
            if !name.starts_with('v') || !name.ends_with(".jsonl") || name.contains("record-types")
            {
                return;
            }
            let (calls, results) = ids_in(path);
            let opened = open(path);
            let found = counts(&opened);
            assert_eq!((found.1, found.2), (calls.len(), results.len()), "{name}");
            assert!(found.0 > 0, "{name}: messages");
            seen += 1;
        });
    }
    assert_eq!(seen, 15);
}
