//! Texts and values by reference, read when looked at.

use crate::source::Source;
use crate::tape::{decode, spells};
use chipdeck_event::{Json, Place, Span, Text};
use std::sync::Arc;

/// The text itself; `None` when its blob is missing or the log no longer has these bytes. A lone surrogate is U+FFFD.
pub fn load_text(text: &Text, source: &dyn Source) -> Option<Arc<str>> {
    match text {
        Text::Inline(text) => Some(text.clone()),
        Text::Missing => None,
        Text::Span(span) => literal(*span, source, |inner| {
            match memchr::memchr(b'\\', inner.as_bytes()) {
                Some(_) => decode(inner).into(),
                None => inner.into(),
            }
        }),
        Text::Blob { sha256, .. } => {
            let raw = source.blob(sha256).ok()??;
            std::str::from_utf8(&raw).ok().map(Into::into)
        }
    }
}

/// Is it this text? `None` as for [`load_text`]. The text itself is not made.
pub fn is_text(text: &Text, wanted: &str, source: &dyn Source) -> Option<bool> {
    match text {
        Text::Span(span) => literal(*span, source, |inner| spells(inner, wanted)),
        _ => Some(*load_text(text, source)? == *wanted),
    }
}

/// Looks at a string literal of the log, without its quotes.
fn literal<T>(span: Span, source: &dyn Source, look: impl FnOnce(&str) -> T) -> Option<T> {
    let len = span.len as usize;
    let read;
    let raw = match source.at_hand(span.file, span.offset, len) {
        Some(raw) => raw,
        None => {
            read = source.read_at(span.file, span.offset, len).ok()?;
            read.as_slice()
        }
    };
    if raw.len() != len {
        return None;
    }
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    Some(look(simdutf8::basic::from_utf8(inner).ok()?))
}

/// The text in parts of at most some megabytes, in order, so that a huge one need not be held. `None` as for
/// [`load_text`]; some parts may have been given before.
pub fn each_part(text: &Text, source: &dyn Source, each: &mut dyn FnMut(&str)) -> Option<()> {
    let Text::Span(span) = text else {
        each(&load_text(text, source)?);
        return Some(());
    };
    if span.len as usize <= PART {
        each(&load_text(text, source)?);
        return Some(());
    }
    let end = span.offset + u64::from(span.len) - 1;
    let mut at = span.offset + 1;
    let mut held: Vec<u8> = Vec::new();
    while at < end {
        let want = PART.min(usize::try_from(end - at).unwrap_or(PART));
        let bytes = source.read_at(span.file, at, want).ok()?;
        if bytes.is_empty() {
            return None;
        }
        at += bytes.len() as u64;
        held.extend_from_slice(&bytes);
        let whole = if at < end {
            whole_letters(&held)
        } else {
            held.len()
        };
        let (ready, rest) = held.split_at_checked(whole)?;
        each(&decode(std::str::from_utf8(ready).ok()?));
        held = rest.to_vec();
    }
    Some(())
}

/// Bytes of a string literal that are read at once.
const PART: usize = 4 << 20;

/// How many bytes of the inside of a string literal end neither within a letter nor within an escape.
fn whole_letters(inner: &[u8]) -> usize {
    let mut at = 0;
    while let Some(hit) = memchr::memchr(b'\\', inner.get(at..).unwrap_or_default()) {
        at += hit;
        // A pair of surrogates is two escapes.
        if at + 12 > inner.len() {
            return at;
        }
        at += match (inner.get(at + 1), inner.get(at + 2), inner.get(at + 3)) {
            (Some(b'u'), Some(b'd' | b'D'), Some(b'8' | b'9' | b'a' | b'b' | b'A' | b'B')) => 12,
            (Some(b'u'), _, _) => 6,
            _ => 2,
        };
    }
    match std::str::from_utf8(inner) {
        Err(fault) if fault.error_len().is_none() => fault.valid_up_to(),
        _ => inner.len(),
    }
}

/// The JSON text of a value; `None` when absent or when the log no longer has these bytes.
pub fn load_json(json: &Json, source: &dyn Source) -> Option<Arc<str>> {
    match json {
        Json::Inline(text) => Some(text.clone()),
        Json::Absent => None,
        Json::Span(span) => {
            let raw = source
                .read_at(span.file, span.offset, span.len as usize)
                .ok()?;
            (raw.len() == span.len as usize).then(|| String::from_utf8_lossy(&raw).into())
        }
    }
}

/// The bytes of a record, fewer when the file was cut since.
pub fn load_record(place: Place, source: &dyn Source) -> Vec<u8> {
    let len = usize::try_from(place.len).unwrap_or(usize::MAX);
    source
        .read_at(place.file, place.offset, len)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemorySource;

    #[test]
    fn a_huge_text_comes_in_parts() {
        let piece = r"plain \n 你好 \ud83d\ude00 \ud83d lone \\ \u00e9 é";
        let literal = format!("\"{}\"", piece.repeat(3 * PART / piece.len()));
        let source = MemorySource::single("a", literal.as_bytes());
        let text = Text::Span(Span {
            file: 0,
            offset: 0,
            len: literal.len() as u32,
        });
        let mut parts = Vec::new();
        each_part(&text, &source, &mut |part| parts.push(part.to_owned())).unwrap();
        assert!(parts.len() > 2);
        assert!(*parts.concat() == *load_text(&text, &source).unwrap());
    }

    #[test]
    fn cuts_are_between_letters() {
        for (inner, whole) in [
            ("abc", 3),
            ("abc\\", 3),
            ("abc\\n", 3),
            ("a\\nbcdefghijklmnop", 18),
            ("\\ud83d\\ude00abc", 15),
            ("\\ud83d\\ude0", 0),
        ] {
            assert_eq!(whole_letters(inner.as_bytes()), whole, "{inner}");
        }
        assert_eq!(whole_letters(&"aé".as_bytes()[..2]), 1);
    }
}
