//! Kept states: one that holds gives what a full replay gives, one that doesn't is as if it were not there.

use crate::laws::{events, lines, spoilt, Seed};
use chipdeck_disk::places::Places;
use chipdeck_disk::store::KeptStates;
use chipdeck_engine::log::{state_at_end, Least, Reading, Start};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use std::cell::Cell;
use std::io::Write;
use std::path::{Path, PathBuf};

const ANY: Least = Least {
    entries: 1,
    bytes: 0,
};

struct Bench {
    dir: tempfile::TempDir,
    states: KeptStates,
    log: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        Bench {
            states: KeptStates::new(&Places::below(dir.path())),
            log: dir.path().join("a.jsonl"),
            dir,
        }
    }

    fn end(&self) -> (String, Start) {
        let end = state_at_end(&self.log, &self.states, ANY).unwrap();
        (end.json, end.start)
    }

    fn append(&self, bytes: &[u8]) {
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.log)
            .unwrap();
        file.write_all(bytes).unwrap();
    }

    /// The one file in the cache.
    fn kept(&self) -> PathBuf {
        let folder = Places::below(self.dir.path()).cache.join("states");
        let mut files = std::fs::read_dir(folder).unwrap();
        let file = files.next().unwrap().unwrap().path();
        assert!(files.next().is_none());
        file
    }
}

fn replay(log: &Path) -> String {
    let reading = Reading::of(log).unwrap();
    reading
        .timeline
        .state_json(reading.timeline.end(), &*reading.source)
}

/// A log without faults: messages, files written and changed, calls with results, memory.
fn sound(from: usize, to: usize) -> String {
    let line = |n: usize| {
        let (name, payload) = match n % 5 {
            0 => (
                "message.user",
                json!({"role": "user", "content": format!("say {n}")}),
            ),
            1 => (
                "file.create",
                json!({"path": format!("f{n}"), "content": "a\nb\n"}),
            ),
            2 => (
                "file.change",
                json!({"path": format!("f{}", n - 1), "content": format!("a\n{n}\n")}),
            ),
            3 => ("tool.call", json!({"toolName": "Bash", "args": {}})),
            _ => (
                "tool.result",
                json!({"callId": format!("e{}", n - 1), "status": "ok", "output": "done"}),
            ),
        };
        json!({"eventId": format!("e{n}"), "traceId": "t", "type": name, "timestamp": 1_700_000_000_000i64 + n as i64, "seq": n, "payload": payload}).to_string() + "\n"
    };
    (from..=to).map(line).collect()
}

#[test]
fn a_log_that_has_not_changed_or_grew_starts_from_its_kept_state() {
    let bench = Bench::new();
    bench.append(sound(1, 103).as_bytes());
    let (first, start) = bench.end();
    assert_eq!((start, &first), (Start::Beginning, &replay(&bench.log)));
    assert_eq!(bench.end(), (first, Start::Kept(103)));
    // The call of entry 103 gets its result behind the kept state.
    bench.append(sound(104, 140).as_bytes());
    assert_eq!(bench.end(), (replay(&bench.log), Start::Kept(103)));
}

#[test]
fn what_no_longer_holds_is_ignored() {
    let log = sound(1, 50);
    let fresh = || {
        let bench = Bench::new();
        bench.append(log.as_bytes());
        assert_eq!(bench.end().1, Start::Beginning);
        assert_eq!(bench.end().1, Start::Kept(50));
        bench
    };
    let ignored = |bench: &Bench, why: &str| {
        assert_eq!(bench.end(), (replay(&bench.log), Start::Beginning), "{why}");
    };

    let bench = fresh();
    std::fs::write(&bench.log, log.replacen("say 5", "say 6", 1)).unwrap();
    ignored(&bench, "a byte of what it covers is another");
    let bench = fresh();
    std::fs::write(&bench.log, sound(1, 40)).unwrap();
    ignored(&bench, "the log is shorter");
    let bench = fresh();
    let bytes = std::fs::read(bench.kept()).unwrap();
    std::fs::write(bench.kept(), &bytes[..bytes.len() / 2]).unwrap();
    ignored(&bench, "truncated");
    let bench = fresh();
    let mut damaged = bytes.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 4;
    std::fs::write(bench.kept(), damaged).unwrap();
    ignored(&bench, "damaged");
    // Sealed, but of another fold.
    let bench = fresh();
    let body = String::from_utf8_lossy(&bytes[32..]).into_owned();
    assert!(body.contains("\"fold\":1,"));
    let other: Vec<u8> = {
        let at = bytes
            .windows(9)
            .position(|it| it == b"\"fold\":1,")
            .unwrap();
        let mut other = bytes[32..].to_vec();
        other[at - 32 + 7] = b'0';
        other
    };
    std::fs::remove_file(bench.kept()).unwrap();
    assert!(bench.states.write(&bench.log, 50, &[&other]).unwrap());
    ignored(&bench, "another version's");
    // An id that was there before, and a time before what is covered.
    for (why, line) in [
        ("an id that was there", sound(10, 10)),
        (
            "a place further ahead",
            sound(51, 51).replace("\"seq\":51", "\"seq\":3"),
        ),
        (
            "a torn line",
            sound(51, 51).trim_end_matches("}\n").to_owned(),
        ),
    ] {
        let bench = fresh();
        bench.append(line.as_bytes());
        ignored(&bench, why);
    }
}

#[test]
fn starting_from_a_kept_state_is_a_full_replay() {
    let resumed = Cell::new(0);
    let all = Cell::new(0);
    let mut runner = TestRunner::new(Config {
        cases: 400,
        failure_persistence: None,
        ..Config::default()
    });
    let given = (
        prop::collection::vec(any::<Seed>(), 2..40),
        1usize..5,
        any::<bool>(),
    );
    runner
        .run(&given, |(seeds, behind, broken)| {
            let bench = Bench::new();
            let events = events(&seeds);
            let cut = seeds.len().saturating_sub(behind).max(1);
            match broken {
                true => bench.append(&spoilt(&events[..cut], &seeds[..cut])),
                false => bench.append(lines(&events[..cut]).as_bytes()),
            }
            let (before, _) = bench.end();
            prop_assert_eq!(bench.end().0, before);
            bench.append(lines(&events[cut..]).as_bytes());
            let (found, start) = bench.end();
            prop_assert_eq!(found, replay(&bench.log));
            all.set(all.get() + 1);
            resumed.set(resumed.get() + usize::from(start != Start::Beginning));
            Ok(())
        })
        .unwrap();
    // A law about what never happens would say nothing.
    assert!(resumed.get() >= 5, "{} of {}", resumed.get(), all.get());
}
