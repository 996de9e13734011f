//! Texts stay in the log and are read when looked at: an event holds references.

use std::sync::Arc;

/// The byte range of a JSON value (a string literal with its quotes, or any value) in a log file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// Index into the log set's list of files.
    pub file: u32,
    pub offset: u64,
    pub len: u32,
}

/// A text of a payload.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    /// Held in memory: short ones, and those that an agent's reader had to compute.
    Inline(Arc<str>),
    /// A JSON string literal (with its quotes) in the log.
    Span(Span),
    /// Raw text in a blob file of the log set, found and with the right hash.
    Blob { sha256: Arc<str>, bytes: u64 },
    /// Its blob is missing or has another hash: nothing is known of it.
    Missing,
}

impl Text {
    pub fn inline(text: impl Into<Arc<str>>) -> Text {
        Text::Inline(text.into())
    }
}

/// Any JSON value of a payload, kept as its source text.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// Compact JSON text.
    Inline(Arc<str>),
    /// A JSON value in the log.
    Span(Span),
    Absent,
}
