use super::*;
use crate::canonical::CanonicalReader;
use crate::reader::{Batch, Reader};
use crate::source::MemorySource;

/// Entries of files written as `id time [seq] [<parent]`, a line each; `!` is an opaque line.
fn entries(files: &[(&str, &[&str])]) -> Vec<Located> {
    let mut batch = Batch::default();
    for (file, (_, lines)) in files.iter().enumerate() {
        let mut reader = CanonicalReader::new(file as u32);
        for line in *lines {
            let mut words = line.split(' ');
            let (id, time) = (words.next().unwrap(), words.next());
            let mut extra = String::new();
            for word in words {
                extra += &match word.strip_prefix('<') {
                    Some(parent) => format!(r#","parentEventId":"{parent}""#),
                    None => format!(r#","seq":{word}"#),
                };
            }
            let text = match time {
                Some(time) => format!(
                    "{{\"eventId\":\"{id}\",\"traceId\":\"t\",\"type\":\"session.end\",\"timestamp\":{time},\"payload\":{{}}{extra}}}\n"
                ),
                None => format!("{id}\n"),
            };
            reader.push(text.as_bytes(), &MemorySource::new(), &mut batch);
        }
    }
    batch.entries
}

fn order(files: &[(&str, &[&str])]) -> (Vec<String>, Vec<(Code, String)>) {
    let entries = entries(files);
    let names: Vec<Arc<str>> = files.iter().map(|(name, _)| (*name).into()).collect();
    let found = arrange(&entries, &names, true);
    let mut orderly = Orderly::new(true);
    entries.iter().for_each(|entry| orderly.push(entry));
    if orderly.holds() {
        assert_eq!(found, Order::default(), "nothing to do, nothing to say");
    }
    let order = found
        .moved
        .unwrap_or_else(|| (0..entries.len() as u32).collect());
    let ids = order
        .iter()
        .map(|&i| match entries[i as usize].entry.event() {
            Some(event) => event.envelope.event_id.to_string(),
            None => "!".to_string(),
        });
    let findings = found
        .findings
        .into_iter()
        .map(|f| (f.code, f.event_id.unwrap_or_default()));
    (ids.collect(), findings.collect())
}

fn ids(files: &[(&str, &[&str])]) -> String {
    order(files).0.join(" ")
}

#[test]
fn by_seq_where_every_event_has_one() {
    assert_eq!(
        ids(&[("a", &["a1 9 3", "!", "a2 1 1"]), ("b", &["!", "b1 5 2"])]),
        "a2 ! b1 a1 !"
    );
    let (ids, findings) = order(&[("b", &["b1 5 1"]), ("a", &["a1 5 1", "a2 4 1"])]);
    assert_eq!(ids.join(" "), "a2 a1 b1", "then time, then file name");
    assert_eq!(
        findings,
        [
            (Code::SeqRegress, "b1".into()),
            (Code::AmbiguousOrder, "b1".into())
        ]
    );
}

#[test]
fn a_file_without_seq_is_never_reordered() {
    let (ids, findings) = order(&[("a", &["a1 9 3", "a2 1", "a3 9 1"])]);
    assert_eq!(ids.join(" "), "a1 a2 a3");
    assert_eq!(findings, []);
}

#[test]
fn files_are_merged_by_a_clock_that_never_runs_back() {
    let (ids, findings) = order(&[
        ("a", &["a1 1", "a2 6", "a3 3"]),
        ("b", &["b1 2", "b2 4", "b3 7"]),
    ]);
    assert_eq!(ids.join(" "), "a1 b1 b2 a2 a3 b3");
    assert_eq!(findings, [(Code::MissingSeq, "a1".into())]);
    let (ids, findings) = order(&[("b", &["b1 1", "b2 2"]), ("a", &["a1 1 7"])]);
    assert_eq!(ids.join(" "), "a1 b1 b2");
    assert_eq!(
        findings,
        [
            (Code::MissingSeq, "b1".into()),
            (Code::AmbiguousOrder, "a1".into())
        ]
    );
}

#[test]
fn a_parent_in_another_file_comes_first() {
    assert_eq!(
        ids(&[("a", &["a1 9", "a2 10"]), ("b", &["b1 1 <a1", "b2 2 <a2"])]),
        "a1 b1 a2 b2"
    );
    assert_eq!(
        ids(&[("a", &["a1 9 <b2"]), ("b", &["b1 10 <a1", "b2 11"])]),
        "a1 b1 b2",
        "all wait"
    );
    assert_eq!(
        ids(&[("a", &["a1 9"]), ("b", &["b1 1 <b2", "b2 2 <nowhere"])]),
        "b1 b2 a1"
    );
}

#[test]
fn what_is_orderly_needs_no_look() {
    let orderly = |files: &[(&str, &[&str])]| {
        let mut orderly = Orderly::new(true);
        entries(files).iter().for_each(|entry| orderly.push(entry));
        order(files);
        orderly.holds()
    };
    assert!(orderly(&[("a", &["!", "a1 9 1", "!", "a2 1 2"])]));
    assert!(orderly(&[("a", &["a1 9 3", "a2 1", "a3 9 1"])]));
    assert!(orderly(&[
        ("a", &["a1 1 1", "!", "a2 2 2"]),
        ("b", &["b1 3 3", "!"])
    ]));
    assert!(!orderly(&[("a", &["a1 1 2", "a2 2 1"])]));
    assert!(
        !orderly(&[("a", &["a1 1 1"]), ("b", &["!", "b1 3 3"])]),
        "the opaque one belongs before"
    );
    assert!(!orderly(&[("a", &["a1 1 1"]), ("b", &["b1 1 1"])]));
    assert!(!orderly(&[("a", &["a1 1"]), ("b", &["b1 3"])]));
}
