//! A record with one member changed, everything else byte for byte as it was: what a branch writes for an edited
//! event. Left out: what the member means.

use crate::reader::Batch;
use crate::source::Source;
use crate::tape::{Tape, Val};
use sha2::{Digest, Sha256};
use std::io;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 20;

/// The record (a JSON object) with the value of a member replaced (of equal names the last one's, which counts), or
/// the member put at the end. `value` is JSON. `None` where the record is no JSON object.
pub fn with_member(record: &str, name: &str, value: &str) -> Option<String> {
    let mut tape = Tape::default();
    tape.read(record).ok()?;
    let root = tape.root(record);
    if !root.is_object() {
        return None;
    }
    let found = root.members().filter(|(key, _)| key == name).last();
    if let Some((_, old)) = found {
        let start = old.start();
        let end = start + old.raw().len();
        let (before, after) = (record.get(..start)?, record.get(end..)?);
        return Some(format!("{before}{value}{after}"));
    }
    let end = root.start() + root.raw().len() - 1;
    let (before, after) = (record.get(..end)?, record.get(end..)?);
    let comma = if root.members().next().is_some() {
        ","
    } else {
        ""
    };
    let key = serde_json::to_string(name).ok()?;
    Some(format!("{before}{comma}{key}:{value}{after}"))
}

/// The record without that member, however often it has it.
pub fn without_member(record: &str, name: &str) -> Option<String> {
    let mut tape = Tape::default();
    tape.read(record).ok()?;
    let root = tape.root(record);
    if !root.is_object() {
        return None;
    }
    let mut kept = Vec::new();
    for (key, value) in root.members().filter(|(key, _)| key != name) {
        kept.push(format!(
            "{}:{}",
            serde_json::to_string(&key).ok()?,
            value.raw()
        ));
    }
    Some(format!("{{{}}}", kept.join(",")))
}

/// The JSON text of a record's member (of equal names the last one's).
pub fn member(record: &str, name: &str) -> Option<String> {
    let mut tape = Tape::default();
    tape.read(record).ok()?;
    let found = tape.root(record).members();
    let found = found.filter(|(key, _)| key == name).last();
    found.map(|(_, value)| value.raw().to_owned())
}

/// A long text that was taken out of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lifted {
    /// Lower-case hex.
    pub sha256: String,
    pub text: String,
}

/// The record with the texts of its payload that are longer than `most` bytes replaced by references to blobs: those
/// that a reader looks up (members of the payload, of its edits, of its contents). Everything else stays byte for
/// byte. `None` where there is nothing to take out.
pub fn lift(record: &str, most: usize) -> Option<(String, Vec<Lifted>)> {
    if record.len() <= most {
        return None;
    }
    let mut tape = Tape::default();
    tape.read(record).ok()?;
    let payload = tape.root(record).get("payload")?;
    let mut long: Vec<(usize, usize, String)> = Vec::new();
    let mut look = |value: Val<'_>| {
        if let Some(text) = value.str().filter(|text| text.len() > most) {
            long.push((value.start(), value.raw().len(), text.into_owned()));
        }
    };
    for (name, value) in payload.members() {
        look(value);
        match &*name {
            "edits" => value
                .items()
                .flat_map(|item| item.members().collect::<Vec<_>>())
                .for_each(|(_, value)| look(value)),
            "contents" => value.members().for_each(|(_, value)| look(value)),
            _ => {}
        }
    }
    if long.is_empty() {
        return None;
    }
    let (mut out, mut lifted, mut from) = (String::new(), Vec::new(), 0);
    for (start, len, text) in long {
        let sha256 = crate::blobs::hex(&Sha256::digest(text.as_bytes()));
        out.push_str(record.get(from..start)?);
        out.push_str(&format!(
            "{{\"$blob\":\"sha256:{sha256}\",\"bytes\":{}}}",
            text.len()
        ));
        from = start + len;
        lifted.push(Lifted { sha256, text });
    }
    out.push_str(record.get(from..)?);
    Some((out, lifted))
}

/// Reads one file of a source to its end as a canonical log, whatever its name.
///
/// # Errors
/// Those of the source.
pub fn read_canonical(source: &dyn Source, file: u32) -> io::Result<Batch> {
    let mut reader = crate::format::Format::Canonical.reader(file);
    let mut batch = Batch::default();
    loop {
        let bytes = source.read_at(file, reader.offset(), CHUNK)?;
        if bytes.is_empty() {
            break;
        }
        reader.push(&bytes, source, &mut batch);
    }
    reader.settle(true, source, &mut batch);
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_member_and_nothing_else() {
        let record = r#"{"a" : 1, "payload":{"x": "\u00e4"},"z":2 }"#;
        assert_eq!(
            with_member(record, "payload", "{}").as_deref(),
            Some(r#"{"a" : 1, "payload":{},"z":2 }"#)
        );
        assert_eq!(
            with_member(record, "seq", "7").as_deref(),
            Some(r#"{"a" : 1, "payload":{"x": "\u00e4"},"z":2 ,"seq":7}"#)
        );
        assert_eq!(
            with_member("{}", "q\"", "1").as_deref(),
            Some(r#"{"q\"":1}"#)
        );
        let twice = r#"{"a":1,"a":2}"#;
        assert_eq!(
            with_member(twice, "a", "3").as_deref(),
            Some(r#"{"a":1,"a":3}"#)
        );
        assert_eq!(
            without_member(record, "a").as_deref(),
            Some(r#"{"payload":{"x": "\u00e4"},"z":2}"#)
        );
        assert_eq!(with_member("[1]", "a", "3"), None);
        assert_eq!(with_member("{torn", "a", "3"), None);
        assert_eq!(
            member(record, "payload").as_deref(),
            Some(r#"{"x": "\u00e4"}"#)
        );
    }

    #[test]
    fn long_texts_are_taken_out_and_nothing_else_moves() {
        let long = "ä\\n".repeat(20);
        let record = format!(
            r#"{{"x":"{long}", "payload":{{"path":"a","edits":[{{"old":"{long}","new":"b"}}],"args":{{"n":"{long}"}}}} }}"#
        );
        let (lifted, texts) = lift(&record, 40).unwrap();
        assert_eq!(texts.len(), 1);
        assert_eq!(texts[0].text, "ä\n".repeat(20));
        let reference = format!(
            r#"{{"$blob":"sha256:{}","bytes":{}}}"#,
            texts[0].sha256,
            texts[0].text.len()
        );
        let old = format!(r#""old":"{long}""#);
        assert_eq!(
            lifted,
            record.replacen(&old, &format!(r#""old":{reference}"#), 1)
        );
        assert_eq!(lift(&record, 1_000), None);
    }
}
