//! Strings of a JSON text, changed where they stand: all other bytes, unknown members and the form of numbers
//! included, stay as they were written. Nesting costs memory, not stack.

use chipdeck_ingest::Source;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// An object or a list that is open.
enum Open {
    Object { key: String, is_key: bool },
    List { index: usize },
}

/// Gives each string (keys too) with its JSON pointer to `each`; what it returns is put in its place.
pub(crate) fn strings(json: &str, each: &mut dyn FnMut(&str, &str) -> Option<String>) -> String {
    walk(json, None, each)
}

/// As [`strings`], and every string that lies in a blob comes back in its place.
pub(crate) fn inline_blobs(json: &str, source: &dyn Source) -> String {
    match json.contains("$blob") {
        true => walk(json, Some(source), &mut |_, _| None),
        false => json.to_owned(),
    }
}

fn walk(
    json: &str,
    blobs: Option<&dyn Source>,
    each: &mut dyn FnMut(&str, &str) -> Option<String>,
) -> String {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len());
    let mut open: Vec<Open> = Vec::new();
    // Up to where the text was copied.
    let mut copied = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' => {
                let blob = blobs.and_then(|source| blob(json.get(at..)?, source));
                if let Some((text, len)) = blob {
                    out.push_str(json.get(copied..at).unwrap_or_default());
                    out.push_str(&literal(&text));
                    copied = at + len;
                    at = copied;
                    continue;
                }
                open.push(Open::Object {
                    key: String::new(),
                    is_key: true,
                });
            }
            b'[' => open.push(Open::List { index: 0 }),
            b'}' | b']' => {
                open.pop();
            }
            b':' => {
                if let Some(Open::Object { is_key, .. }) = open.last_mut() {
                    *is_key = false;
                }
            }
            b',' => match open.last_mut() {
                Some(Open::Object { is_key, .. }) => *is_key = true,
                Some(Open::List { index }) => *index += 1,
                None => {}
            },
            b'"' => {
                let end = end_of_literal(bytes, at);
                let raw = json.get(at..end).unwrap_or_default();
                let text = decoded(raw);
                if let Some(Open::Object { key, is_key: true }) = open.last_mut() {
                    key.clone_from(&text);
                }
                if let Some(new) = each(&pointer(&open), &text) {
                    out.push_str(json.get(copied..at).unwrap_or_default());
                    out.push_str(&literal(&new));
                    copied = end;
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    out.push_str(json.get(copied..).unwrap_or_default());
    out
}

fn end_of_literal(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

/// A literal's text; one with a lone surrogate as it is written.
fn decoded(raw: &str) -> String {
    serde_json::from_str(raw).unwrap_or_else(|_| {
        let inner = raw.strip_prefix('"').unwrap_or(raw);
        inner.strip_suffix('"').unwrap_or(inner).to_owned()
    })
}

pub(crate) fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn pointer(open: &[Open]) -> String {
    let mut out = String::new();
    for step in open {
        let _ = match step {
            Open::Object { key, .. } if key.contains(['~', '/']) => {
                write!(out, "/{}", key.replace('~', "~0").replace('/', "~1"))
            }
            Open::Object { key, .. } => write!(out, "/{key}"),
            Open::List { index } => write!(out, "/{index}"),
        };
    }
    out
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    #[serde(rename = "$blob")]
    blob: String,
    #[serde(rename = "bytes")]
    _bytes: Option<serde_json::Number>,
}

/// The text of a blob that the object at the start of `json` names, and how long that object is.
fn blob(json: &str, source: &dyn Source) -> Option<(String, usize)> {
    let len = json.find('}')? + 1;
    if len > 400 {
        return None;
    }
    let reference: Reference = serde_json::from_str(json.get(..len)?).ok()?;
    let sha256 = reference.blob.strip_prefix("sha256:")?;
    if sha256.len() != 64 || !sha256.bytes().all(|it| it.is_ascii_hexdigit()) {
        return None;
    }
    let bytes = source.blob(sha256).ok()??;
    (hex(&Sha256::digest(&bytes)) == sha256.to_ascii_lowercase()).then_some(())?;
    Some((String::from_utf8(bytes).ok()?, len))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_given_back_changes() {
        let json =
            r#"{"a" : [1.50, "x\n", {"b/c":"é\ud83d\ude00"}], "n":1e400,"s":"\ud800x", "":"x\n"}"#;
        let mut seen = Vec::new();
        let same = strings(json, &mut |at, text| {
            seen.push(format!("{at}={text:?}"));
            None
        });
        assert_eq!(same, json);
        assert_eq!(seen[1], "/a/1=\"x\\n\"");
        assert!(seen.contains(&"/a/2/b~1c=\"é😀\"".to_owned()), "{seen:?}");
        let changed = strings(json, &mut |_, text| {
            (text == "x\n").then(|| "\"y\"".to_owned())
        });
        assert_eq!(changed.matches(r#""\"y\"""#).count(), 2);
        assert!(
            changed.contains("1.50") && changed.contains("1e400") && changed.contains(r"\ud800x")
        );
    }

    #[test]
    fn a_blob_comes_back() {
        let text = "long \"text\"";
        let sha256 = hex(&Sha256::digest(text.as_bytes()));
        let mut source = chipdeck_ingest::MemorySource::new();
        source.add_blob(&sha256, text.as_bytes().to_vec());
        let json = format!(
            r#"{{"content":{{"bytes":11,"$blob":"sha256:{sha256}"}},"o":{{"$blob":"sha256:{}"}}}}"#,
            "0".repeat(64)
        );
        let inlined = inline_blobs(&json, &source);
        assert!(
            inlined.starts_with(r#"{"content":"long \"text\"","o":{"$blob""#),
            "{inlined}"
        );
    }
}
