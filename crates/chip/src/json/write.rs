//! The writer: the server's bytes for a value. Iterative; output goes to anything that takes bytes.

use super::number::write_number;
use super::tree::{Kind, List, Object, Value};

const SPACES: &[u8] = &[b' '; 128];

/// Appends indented text piece by piece; used for values and for the records around them.
pub(crate) struct Writer<'o> {
    pub out: &'o mut Vec<u8>,
}

impl Writer<'_> {
    pub fn line(&mut self, level: usize) {
        self.out.push(b'\n');
        let mut left = level * 2;
        while left > 0 {
            let now = left.min(SPACES.len());
            self.out
                .extend_from_slice(SPACES.get(..now).unwrap_or_default());
            left -= now;
        }
    }

    /// `"name": `, where `first` says whether a comma has to go before it.
    pub fn name(&mut self, level: usize, first: bool, name: &str) {
        if !first {
            self.out.push(b',');
        }
        self.line(level);
        write_string(name.as_bytes(), self.out);
        self.out.extend_from_slice(b": ");
    }
}

enum Open<'a> {
    List(List<'a>, usize),
    Object(Object<'a>, usize),
}

/// Two spaces a level, LF, one element or member a line; the first line starts where the output stands.
pub(crate) fn write_pretty(value: Value<'_>, level: usize, out: &mut Vec<u8>) {
    write(value, Some(level), out);
}

pub(crate) fn write_compact(value: Value<'_>, out: &mut Vec<u8>) {
    write(value, None, out);
}

fn write(value: Value<'_>, level: Option<usize>, out: &mut Vec<u8>) {
    let mut open: Vec<Open> = Vec::new();
    let mut now = Some(value);
    let mut digits = String::new();
    loop {
        if let Some(value) = now.take() {
            match value.kind() {
                Kind::Null => out.extend_from_slice(b"null"),
                Kind::Bool(true) => out.extend_from_slice(b"true"),
                Kind::Bool(false) => out.extend_from_slice(b"false"),
                Kind::Number(x) => {
                    digits.clear();
                    write_number(x, &mut digits);
                    out.extend_from_slice(digits.as_bytes());
                }
                Kind::Text(text) => write_string(text.as_bytes(), out),
                Kind::List(list) if list.is_empty() => out.extend_from_slice(b"[]"),
                Kind::Object(object) if object.is_empty() => out.extend_from_slice(b"{}"),
                Kind::List(list) => {
                    out.push(b'[');
                    open.push(Open::List(list, 0));
                }
                Kind::Object(object) => {
                    out.push(b'{');
                    open.push(Open::Object(object, 0));
                }
            }
        }
        let depth = open.len();
        let Some(top) = open.last_mut() else { return };
        let (index, end) = match top {
            Open::List(list, index) => {
                let ended = *index >= list.len();
                (index, ended.then_some(b']'))
            }
            Open::Object(object, index) => {
                let ended = *index >= object.len();
                (index, ended.then_some(b'}'))
            }
        };
        if let Some(end) = end {
            open.pop();
            if let Some(level) = level {
                Writer { out }.line(level + depth - 1);
            }
            out.push(end);
            continue;
        }
        if *index > 0 {
            out.push(b',');
        }
        let at = *index;
        *index += 1;
        if let Some(level) = level {
            Writer { out }.line(level + depth);
        }
        now = match top {
            Open::List(list, _) => list.get(at),
            Open::Object(object, _) => object.member(at).map(|(name, value)| {
                write_string(name.as_bytes(), out);
                out.extend_from_slice(if level.is_some() { b": " } else { b":" });
                value
            }),
        };
    }
}

/// A JSON string in the server's form, quotes included. Each byte that belongs to no valid UTF-8 sequence becomes
/// `\ufffd`.
pub(crate) fn write_string(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for chunk in bytes.utf8_chunks() {
        write_valid(chunk.valid(), out);
        for _ in chunk.invalid() {
            out.extend_from_slice(b"\\ufffd");
        }
    }
    out.push(b'"');
}

fn write_valid(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let hex = |n: u8| HEX.get(usize::from(n & 15)).copied().unwrap_or(b'0');
    let mut rest = text.as_bytes();
    // E2 80 A8 and E2 80 A9 are U+2028 and U+2029.
    let special = |rest: &[u8]| {
        rest.iter()
            .position(|b| *b < 0x20 || matches!(b, b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2))
            .unwrap_or(rest.len())
    };
    loop {
        let (plain, more) = rest.split_at(special(rest));
        out.extend_from_slice(plain);
        let Some((&byte, after)) = more.split_first() else {
            return;
        };
        rest = after;
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0xe2 => match after {
                [0x80, last @ (0xa8 | 0xa9), tail @ ..] => {
                    out.extend_from_slice(if *last == 0xa8 {
                        b"\\u2028"
                    } else {
                        b"\\u2029"
                    });
                    rest = tail;
                }
                _ => out.push(byte),
            },
            _ => {
                out.extend_from_slice(b"\\u00");
                out.push(hex(byte >> 4));
                out.push(hex(byte));
            }
        }
    }
}
