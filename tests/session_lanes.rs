//! SessionLanes of a session: rewinds, sub-agents, forks and resumed copies, on small logs of our own; and that the shared
//! samples have none that are not there.

use crate::agents::{open_bytes, walk, Opened};
use chipdeck_event::{Code, Payload};
use chipdeck_ingest::Format;
use chipdeck_replay::{LaneKind, SessionLanes};
use std::path::{Path, PathBuf};

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/lanes")
        .join(name)
}

fn lines(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let files = crate::agents::files(folder);
    files
        .into_iter()
        .filter(|(name, _)| name.ends_with(".jsonl"))
        .collect()
}

fn lanes(opened: &Opened) -> SessionLanes {
    let agent = match opened.set.format() {
        Format::Agent(agent) => Some(agent),
        _ => None,
    };
    let mut lanes = SessionLanes::default();
    lanes.grow(&opened.timeline, &opened.source, agent);
    lanes
}

/// What was said on the path of a lane: `user` texts and `assistant` texts.
fn said(opened: &Opened, lanes: &SessionLanes, lane: u32) -> Vec<String> {
    let path = lanes.path(lane);
    let entries = path.runs().flat_map(|(first, last)| first..=last);
    entries
        .filter_map(|index| {
            let event = opened.timeline.entry(index)?.entry.event()?;
            match &event.payload {
                Payload::Message { content, .. } => {
                    chipdeck_ingest::load_text(content, &opened.source).map(|it| it.to_string())
                }
                _ => None,
            }
        })
        .collect()
}

/// Kind, parent, and the text of the message that is the last of its past.
fn shape(opened: &Opened, lanes: &SessionLanes) -> Vec<(LaneKind, Option<u32>, u32)> {
    let line = |index| {
        opened
            .timeline
            .entry(index)
            .map_or(0, |it| it.place.line as u32)
    };
    lanes
        .rows()
        .iter()
        .map(|row| (row.kind, row.parent, line(row.from)))
        .collect()
}

#[test]
fn a_rewind_and_a_sub_agent() {
    let opened = open_bytes(&lines(&fixture("rewind-and-agent")), 1 << 20);
    let found = lanes(&opened);
    assert_eq!(
        shape(&opened, &found),
        [
            (LaneKind::Main, None, 0),
            // Its past ends with the answer before the message that was taken back.
            (LaneKind::Rewound, Some(0), 5),
            // The call that started it.
            (LaneKind::SubAgent, Some(1), 11),
        ]
    );
    assert_eq!(
        said(&opened, &found, 0),
        [
            "Add a greeting to the project",
            "I will write hello.txt.",
            "The greeting is there.",
            "Make it loud",
            "It is loud now."
        ]
    );
    assert_eq!(
        said(&opened, &found, 1),
        [
            "Add a greeting to the project",
            "I will write hello.txt.",
            "The greeting is there.",
            "Make it polite instead",
            "It is polite now.",
            "Add a farewell",
            "Added."
        ]
    );
    assert_eq!(
        said(&opened, &found, 2),
        [
            "Find polite words in the project and list them.",
            "There are none: use \"please\"."
        ]
    );
    let agent = found.get(2).unwrap();
    let result = opened.timeline.counterpart(agent.call.unwrap()).unwrap();
    assert_eq!(opened.timeline.entry(result).unwrap().place.line, 12);
    assert_eq!((agent.messages, found.get(0).unwrap().messages), (2, 5));
    // Files are one tree: the lane that was left did write.
    let hello = opened.timeline.versions("/home/dev/greeter/hello.txt");
    assert!(
        hello.iter().all(|version| !version.changed_outside),
        "{hello:?}"
    );
}

#[test]
fn growing_is_as_reading_at_once() {
    for name in ["rewind-and-agent", "resumed", "codex-fork"] {
        let opened = open_bytes(&lines(&fixture(name)), 1 << 20);
        let whole = lanes(&opened);
        for step in [1, 3, 7] {
            let mut grown = SessionLanes::default();
            let agent = match opened.set.format() {
                Format::Agent(agent) => Some(agent),
                _ => None,
            };
            let len = opened.timeline.len();
            let all = opened.timeline.entries();
            let mut timeline = chipdeck_replay::Timeline::new(opened.timeline.options().clone());
            for at in 0..len {
                timeline.append(all[at as usize].clone(), &opened.source);
                if at % step == 0 || at + 1 == len {
                    grown.grow(&timeline, &opened.source, agent);
                }
            }
            assert_eq!(
                format!("{:?}", shape(&opened, &grown)),
                format!("{:?}", shape(&opened, &whole)),
                "{name} by {step}"
            );
            for index in 1..=len {
                assert_eq!(grown.of(index), whole.of(index), "{name} {index}");
            }
        }
    }
}

#[test]
fn a_resumed_copy_is_shown_once() {
    let opened = open_bytes(&lines(&fixture("resumed")), 1 << 20);
    let found = lanes(&opened);
    assert_eq!(
        shape(&opened, &found),
        [(LaneKind::Main, None, 0), (LaneKind::Fork, Some(0), 4)]
    );
    // The one that went on first is the main one.
    assert_eq!(
        said(&opened, &found, 0),
        ["Write notes", "Written.", "Add a heading", "Which one?"]
    );
    assert_eq!(
        said(&opened, &found, 1),
        ["Write notes", "Written.", "Add a list", "Which items?"]
    );
    let told: Vec<String> = opened
        .timeline
        .findings()
        .into_iter()
        .filter(|it| it.finding.code == Code::DuplicateEvent)
        .map(|it| it.finding.message)
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("4 records of this file are copies of those in "));
    assert_eq!(
        opened.timeline.versions("/home/dev/greeter/notes.md").len(),
        1
    );
}

#[test]
fn a_codex_thread_rolled_back_and_its_fork() {
    let opened = open_bytes(&lines(&fixture("codex-fork")), 1 << 20);
    let found = lanes(&opened);
    let kinds: Vec<LaneKind> = found.rows().iter().map(|row| row.kind).collect();
    assert_eq!(kinds, [LaneKind::Main, LaneKind::Rewound, LaneKind::Fork]);
    assert_eq!(
        said(&opened, &found, 1),
        [
            "Write a poem",
            "Roses are red.",
            "Make it shorter",
            "Roses."
        ]
    );
    // Read alone, the fork's copy is its parent's lane.
    let alone: Vec<(String, Vec<u8>)> = lines(&fixture("codex-fork"))
        .into_iter()
        .filter(|(name, _)| name == "rollout-b.jsonl")
        .collect();
    let alone = open_bytes(&alone, 1 << 20);
    let forked = lanes(&alone);
    let fork = forked
        .rows()
        .iter()
        .position(|row| row.kind == LaneKind::Fork);
    assert_eq!(
        said(&alone, &forked, fork.unwrap() as u32),
        [
            "Write a poem",
            "Roses are red.",
            "Translate it",
            "Rosen sind rot."
        ]
    );
    // With its parent beside it, the copy is left out and counted.
    let copies: Vec<String> = opened
        .timeline
        .findings()
        .into_iter()
        .filter(|it| it.finding.code == Code::DuplicateEvent)
        .map(|it| it.finding.message)
        .collect();
    assert_eq!(copies.len(), 1, "{copies:?}");
    assert!(copies[0].starts_with("4 records"), "{copies:?}");
}

/// Claude Code's tree forks wherever calls run side by side; none of that is a rewind.
#[test]
fn the_samples_have_no_rewinds_that_are_not_there() {
    let Some(folder) = crate::fixtures::shared("agents") else {
        return;
    };
    let mut seen = 0;
    walk(&folder.join("claude-code"), &mut |path| {
        if path.extension().is_none_or(|it| it != "jsonl") {
            return;
        }
        let opened = open_bytes(&crate::agents::files(path), 1 << 20);
        let found = lanes(&opened);
        let rewound = found
            .rows()
            .iter()
            .filter(|row| row.kind == LaneKind::Rewound)
            .count();
        let told = || format!("{} {:?}", path.display(), shape(&opened, &found));
        assert_eq!(rewound, 0, "{}", told());
        let agents = found
            .rows()
            .iter()
            .filter(|row| row.kind == LaneKind::SubAgent);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match &*name {
            "v1.0.108-sidechain-inline.jsonl" | "v2.1.12-task-interrupted.jsonl" => {
                let agents: Vec<_> = agents.collect();
                assert!(!agents.is_empty(), "{name}");
                assert!(
                    agents.iter().all(|row| row.call.is_some()),
                    "{name} {agents:?}"
                );
                seen += 1;
            }
            _ => {}
        }
    });
    assert_eq!(seen, 2);
}
