//! Finding a text in a record's JSON: as it is written there, and as people see it, escapes resolved.

use super::Subject;
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

/// A record's bytes, and the same with the escapes of its strings resolved: what people see is found in either.
pub(super) struct Raw {
    bytes: Vec<u8>,
    plain: std::cell::OnceCell<Option<Vec<u8>>>,
}

impl Raw {
    pub(super) fn of<'a>(slot: &'a mut Option<Raw>, subject: &dyn Subject) -> &'a Raw {
        slot.get_or_insert_with(|| Raw {
            bytes: subject.raw().unwrap_or_default(),
            plain: std::cell::OnceCell::new(),
        })
    }

    pub(super) fn any(&self, escapes: bool, test: impl Fn(&[u8]) -> bool) -> bool {
        if test(&self.bytes) {
            return true;
        }
        let resolved = || memchr::memchr(b'\\', &self.bytes).map(|_| unescaped(&self.bytes));
        escapes
            && self
                .plain
                .get_or_init(resolved)
                .as_deref()
                .is_some_and(test)
    }
}

/// JSON's escapes resolved wherever they stand; what is no escape stays.
pub(crate) fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (before, escape) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        out.extend_from_slice(before);
        let (decoded, used): (Option<char>, usize) = match escape.get(1) {
            Some(b'n') => (Some('\n'), 2),
            Some(b't') => (Some('\t'), 2),
            Some(b'r') => (Some('\r'), 2),
            Some(b'b') => (Some('\u{8}'), 2),
            Some(b'f') => (Some('\u{c}'), 2),
            Some(&c @ (b'"' | b'\\' | b'/')) => (Some(c as char), 2),
            Some(b'u') => match code_unit(escape) {
                Some(high @ 0xd800..=0xdbff) => match escape.get(6..).and_then(code_unit) {
                    Some(low @ 0xdc00..=0xdfff) => {
                        let c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        (char::from_u32(c), 12)
                    }
                    _ => (Some('\u{fffd}'), 6),
                },
                Some(unit) => (Some(char::from_u32(unit).unwrap_or('\u{fffd}')), 6),
                None => (None, 1),
            },
            _ => (None, 1),
        };
        match decoded {
            Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            None => out.push(b'\\'),
        }
        rest = escape.get(used..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// The value of a `\uXXXX` at the start.
pub(super) fn code_unit(bytes: &[u8]) -> Option<u32> {
    let hex = bytes.strip_prefix(b"\\u")?.get(..4)?;
    hex.iter().try_fold(0, |value, &digit| {
        Some(value * 16 + (digit as char).to_digit(16)?)
    })
}

/// A text to find; without capitals it is found in either case.
#[derive(Debug)]
pub(super) struct Text {
    way: Way,
    /// JSON may write it with escapes.
    pub(super) escapes: bool,
}

#[derive(Debug)]
pub(super) enum Way {
    Exact(Box<Finder<'static>>),
    /// All its letters with cases are ASCII, in lower case here; the byte at `rare` is looked for.
    AnyAscii {
        low: Vec<u8>,
        rare: usize,
    },
    AnyCase(Regex),
}

/// Letters by how common they are in English text and code.
const COMMON: &[u8] = b"etaoinsrlcdupmhgfbyw_v.kx-/:0j1q2z";

impl Text {
    pub(super) fn new(text: &str) -> Text {
        let escapes = text
            .chars()
            .any(|c| !c.is_ascii() || c.is_ascii_control() || matches!(c, '"' | '\\' | '/'));
        let cased = |c: char| c.is_uppercase() || c.to_uppercase().ne(std::iter::once(c));
        let exact = || Way::Exact(Box::new(Finder::new(text.as_bytes()).into_owned()));
        let way = if text.chars().any(char::is_uppercase) || !text.chars().any(cased) {
            exact()
        } else if text.chars().all(|c| c.is_ascii() || !cased(c)) {
            let low = text.as_bytes().to_vec();
            let common = |byte: &u8| {
                COMMON
                    .iter()
                    .position(|it| it == byte)
                    .unwrap_or(usize::MAX)
            };
            let rare = low
                .iter()
                .enumerate()
                .max_by_key(|(_, byte)| common(byte))
                .map_or(0, |(at, _)| at);
            Way::AnyAscii { low, rare }
        } else {
            match RegexBuilder::new(&regex::escape(text))
                .case_insensitive(true)
                .build()
            {
                Ok(regex) => Way::AnyCase(regex),
                Err(_) => exact(),
            }
        };
        Text { way, escapes }
    }

    pub(super) fn is_in(&self, bytes: &[u8]) -> bool {
        match &self.way {
            Way::Exact(finder) => finder.find(bytes).is_some(),
            Way::AnyCase(regex) => regex.is_match(bytes),
            Way::AnyAscii { low, rare } => {
                let Some(byte) = low.get(*rare) else {
                    return true;
                };
                memchr::memchr2_iter(*byte, byte.to_ascii_uppercase(), bytes).any(|at| {
                    let here = at
                        .checked_sub(*rare)
                        .and_then(|start| bytes.get(start..start + low.len()));
                    here.is_some_and(|here| here.eq_ignore_ascii_case(low))
                })
            }
        }
    }
}
