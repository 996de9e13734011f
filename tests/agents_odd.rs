//! Small logs of our own with odd things in them, one for each agent: what must come out, followed live, damaged.

use crate::agents::{expectation, files, open, open_bytes, text, walk, Opened};
use chipdeck_ingest::{Format, LogSet, MemorySource};
use chipdeck_replay::{Options, Timeline};
use serde_json::Value;
use std::path::Path;

/// Our own small logs with odd things in them: `<log>` and `<log>.want.json`, which says what must come out.
#[test]
fn odd_logs_of_each_agent() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents");
    let mut seen = Vec::new();
    walk(&folder, &mut |path| {
        let name = path.file_name().unwrap().to_string_lossy();
        let Some(stem) = name.strip_suffix(".want.json") else {
            return;
        };
        let mut beside = std::fs::read_dir(path.parent().unwrap())
            .unwrap()
            .map(|e| e.unwrap().path());
        let log = beside
            .find(|p| p.file_stem().is_some_and(|s| *s == *stem) && p != path)
            .unwrap();
        let want = expectation(path);
        let opened = open(&log);
        let shown = log.display();
        assert_eq!(opened.set.format().name(), text(&want, "format"), "{shown}");
        seen.push(text(&want, "format").to_string());

        let found: Vec<Value> = (opened.versions().into_iter())
            .map(|v| {
                let version = opened.timeline.versions(&v.path).iter().find(|w| {
                    let located = opened.timeline.entry(w.index).unwrap();
                    located.place.line == v.line && w.op == v.op && w.certainty == v.certainty
                });
                let content = version.and_then(|w| w.content);
                let content = content.and_then(|c| opened.timeline.content(c, &opened.source));
                let content = content.as_deref().map(str::to_string);
                serde_json::json!([
                    v.path,
                    v.line,
                    v.op.as_str(),
                    v.certainty.as_str(),
                    content,
                    v.id
                ])
            })
            .collect();
        let wanted = want["versions"].as_array().unwrap();
        let both = || format!("{shown}\nfound  {found:#?}\nwanted {wanted:#?}");
        assert_eq!(found.len(), wanted.len(), "{}", both());
        for (found, wanted) in found.iter().zip(wanted) {
            for (index, value) in wanted.as_array().unwrap().iter().enumerate() {
                // A line or an id that the fixture leaves open.
                if !value.is_null() || index == 4 {
                    assert_eq!(&found[index], value, "{}", both());
                }
            }
        }

        let findings: Vec<(u64, &str)> = (opened.timeline.findings().iter())
            .map(|f| (f.finding.line, f.finding.code.as_str()))
            .collect();
        let wanted = want["findings"].as_array().unwrap();
        assert_eq!(findings.len(), wanted.len(), "{shown}: {findings:?}");
        for wanted in wanted {
            let hit = findings.iter().any(|(line, code)| {
                *code == wanted[1] && (wanted[0].is_null() || wanted[0] == *line)
            });
            assert!(hit, "{shown}: no {wanted} in {findings:?}");
        }

        let statuses = want["statuses"].as_object().unwrap();
        let tools: std::collections::BTreeMap<String, Option<&str>> =
            (opened.timeline.tools(opened.timeline.end()))
                .map(|t| (t.call_id.to_string(), t.status.map(|s| s.as_str())))
                .collect();
        for (call, status) in statuses {
            assert_eq!(
                tools.get(call),
                Some(&status.as_str()),
                "{shown}: {call} in {tools:?}"
            );
        }
        let pieces = open_bytes(&files(&log), 1);
        assert_eq!(
            pieces.timeline.entries(),
            opened.timeline.entries(),
            "{shown}"
        );
    });
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 13, "one for each agent: {seen:?}");
}

/// Every line-based log, followed live: bytes come in bits, and after each bit the reader is told that there is
/// nothing more for now. What comes out in the end is what a reading at rest gives.
#[test]
fn followed_live_is_read_alike() {
    for (name, bytes) in odd_logs() {
        let whole = open_bytes(&[(name.clone(), bytes.clone())], 1 << 20);
        let Format::Agent(agent) = whole.set.format() else {
            panic!("{name}")
        };
        if agent.is_document() {
            continue;
        }
        let mut source = MemorySource::new();
        source.add(&name, Vec::new());
        let head = bytes
            .len()
            .min(bytes.iter().position(|b| *b == b'\n').unwrap() * 3);
        source.grow(0, &bytes[..head]);
        let mut set = LogSet::open(&source);
        let mut timeline = Timeline::new(Options {
            canonical: false,
            ..Options::default()
        });
        let mut at = head;
        loop {
            while !set
                .read(&source, 700, &mut |batch, s| timeline.take(batch, s))
                .unwrap()
                .done()
            {}
            set.settle(at == bytes.len(), &source, &mut |batch, s| {
                timeline.take(batch, s)
            });
            if at == bytes.len() {
                break;
            }
            let next = bytes.len().min(at + 97);
            source.grow(0, &bytes[at..next]);
            at = next;
        }
        timeline.arrange(&source);
        assert_eq!(timeline.entries(), whole.timeline.entries(), "{name}");
    }
}

fn odd_logs() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agents");
    let mut logs = Vec::new();
    walk(&folder, &mut |path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".want.json") {
            logs.push((name, std::fs::read(path).unwrap()));
        }
    });
    logs
}

/// Damage of every kind at places that a fixed sequence picks: nothing panics, nothing hangs, and what comes out in
/// pieces is what comes out whole.
#[test]
fn damage_breaks_nothing() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut pick = move |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below.max(1)
    };
    let bits: [&[u8]; 12] = [
        b"\"",
        b"\\",
        b"{",
        b"]",
        b"\n",
        b"\xff",
        b"null",
        b"9223372036854775807",
        b"\"\\ud83d\"",
        b"[[[[",
        b"\0",
        b"-1e308",
    ];
    for (name, bytes) in odd_logs() {
        for _ in 0..150 {
            let mut damaged = bytes.clone();
            for _ in 0..=pick(3) {
                let at = pick(damaged.len());
                let until = (at + pick(40)).min(damaged.len());
                match pick(4) {
                    0 => damaged.truncate(at),
                    1 => drop(damaged.splice(at..until, bits[pick(bits.len())].iter().copied())),
                    2 => drop(damaged.splice(at..at, bits[pick(bits.len())].iter().copied())),
                    _ => drop(damaged.drain(at..until)),
                }
            }
            let files = [(name.clone(), damaged)];
            let whole = open_bytes(&files, 1 << 20);
            let pieces = open_bytes(&files, 1 + pick(500));
            assert_eq!(
                whole.timeline.entries(),
                pieces.timeline.entries(),
                "{name}"
            );
            for path in whole.timeline.paths() {
                for version in whole.timeline.versions(path) {
                    version
                        .content
                        .and_then(|c| whole.timeline.content_sha256(c, &whole.source));
                }
            }
        }
    }
}

/// An export that went through a Windows shell is UTF-16.
#[test]
fn a_document_in_utf16_is_read() {
    let (name, bytes) = odd_logs()
        .into_iter()
        .find(|(name, _)| name == "sanitised-export.json")
        .unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    let plain = open_bytes(&[(name.clone(), bytes)], 1 << 20);
    let proven = |opened: &Opened| -> Vec<_> {
        opened
            .versions()
            .into_iter()
            .map(|v| (v.path, v.id, v.certainty, v.sha256))
            .collect()
    };
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let mark = std::iter::once(0xfeff);
        let wide: Vec<u8> = mark.chain(text.encode_utf16()).flat_map(order).collect();
        let opened = open_bytes(&[(name.clone(), wide)], 333);
        assert_eq!(opened.set.format().name(), "opencode");
        assert!(!proven(&opened).is_empty());
        assert_eq!(proven(&opened), proven(&plain));
    }
}
