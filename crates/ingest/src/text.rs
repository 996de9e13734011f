//! Texts and values by reference, read when looked at.

use crate::source::Source;
use crate::tape::decode;
use chipdeck_event::{Json, Place, Text};
use std::sync::Arc;

/// The text itself; `None` when its blob is missing or the log no longer has these bytes. A lone surrogate is U+FFFD.
pub fn load_text(text: &Text, source: &dyn Source) -> Option<Arc<str>> {
    match text {
        Text::Inline(text) => Some(text.clone()),
        Text::Missing => None,
        Text::Span(span) => {
            let raw = source
                .read_at(span.file, span.offset, span.len as usize)
                .ok()?;
            if raw.len() != span.len as usize {
                return None;
            }
            let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
            let inner = std::str::from_utf8(inner).ok()?;
            match memchr::memchr(b'\\', inner.as_bytes()) {
                Some(_) => Some(decode(inner).into()),
                None => Some(inner.into()),
            }
        }
        Text::Blob { sha256, .. } => {
            let raw = source.blob(sha256).ok()??;
            std::str::from_utf8(&raw).ok().map(Into::into)
        }
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
