//! A line that is too long to be held: its JSON is kept, the middle of its long strings is not.
//!
//! What is left out is checked as it goes by (letters, escapes, control bytes), so that the rest is JSON exactly if
//! the line is. Positions in the rest are told in bytes of the line by [`stretch`].

/// Bytes of a string that are kept.
const KEPT: usize = 64 << 10;

/// Bytes that were left out before a byte of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// Byte of the rest: the closing quote of the string.
    pub before: usize,
    pub bytes: u64,
}

/// Where a byte of the rest is in the line.
pub(crate) fn stretch(gaps: &[Gap], at: usize) -> u64 {
    let left_out: u64 = gaps
        .iter()
        .take_while(|gap| gap.before < at)
        .map(|gap| gap.bytes)
        .sum();
    at as u64 + left_out
}

#[derive(Default)]
pub(crate) struct Skim {
    rest: Vec<u8>,
    gaps: Vec<Gap>,
    /// Bytes of the line so far.
    total: u64,
    fault: Option<&'static str>,
    in_string: bool,
    /// Bytes of an escape that are still to come, counted from its backslash; hex digits are the last four.
    escape: Escape,
    /// Bytes of the current string: kept, left out.
    kept: usize,
    left_out: u64,
    /// The begin of a letter that was cut between two pushes.
    letter: Vec<u8>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Escape {
    #[default]
    None,
    Begun,
    Hex(u8),
}

impl Skim {
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// What was kept, and where something was left out.
    pub(crate) fn rest(&self) -> (&[u8], &[Gap]) {
        (&self.rest, &self.gaps)
    }

    /// Why the line is no JSON, where that lies in what was left out.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        // A string that never ends has no gap yet: the rest is then no JSON by itself.
        self.fault
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let mut left = bytes;
        while !left.is_empty() {
            left = if self.in_string {
                self.string(left)
            } else {
                self.outside(left)
            };
        }
    }

    fn outside<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(at) = memchr::memchr(b'"', bytes) else {
            self.rest.extend_from_slice(bytes);
            return &[];
        };
        let (before, after) = bytes.split_at(at + 1);
        self.rest.extend_from_slice(before);
        self.in_string = true;
        (self.kept, self.left_out) = (0, 0);
        after
    }

    fn string<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.escape != Escape::None {
            let (one, after) = bytes.split_at(1);
            self.escaped(one);
            return after;
        }
        let at = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
        let (plain, after) = bytes.split_at(at);
        self.plain(plain);
        let Some((&end, after)) = after.split_first() else {
            return after;
        };
        if !self.letter.is_empty() {
            self.fault = Some("a letter of a string is cut");
        }
        if end == b'\\' {
            self.escape = Escape::Begun;
            self.take(b"\\");
            return after;
        }
        if self.left_out > 0 {
            let gap = Gap {
                before: self.rest.len(),
                bytes: self.left_out,
            };
            self.gaps.push(gap);
        }
        self.rest.push(b'"');
        self.in_string = false;
        after
    }

    fn escaped(&mut self, one: &[u8]) {
        let next = match (self.escape, one.first()) {
            (Escape::Begun, Some(b'u')) => Some(Escape::Hex(4)),
            (Escape::Begun, Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => {
                Some(Escape::None)
            }
            (Escape::Hex(left), Some(digit)) if digit.is_ascii_hexdigit() => match left {
                1 => Some(Escape::None),
                _ => Some(Escape::Hex(left - 1)),
            },
            _ => None,
        };
        if next.is_none() {
            self.fault = Some("an escape of a string is none of JSON's");
        }
        self.escape = next.unwrap_or_default();
        self.take(one);
    }

    /// A byte of an escape: kept if the ones before it are.
    fn take(&mut self, one: &[u8]) {
        if self.left_out == 0 {
            self.rest.extend_from_slice(one);
            self.kept += one.len();
        } else {
            self.left_out += one.len() as u64;
        }
    }

    fn plain(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        if self.left_out == 0 {
            let mut room = KEPT.saturating_sub(self.kept).min(bytes.len());
            // A letter stays whole.
            while bytes.get(room).is_some_and(|byte| byte & 0xc0 == 0x80) {
                room += 1;
            }
            let (kept, left) = bytes.split_at(room);
            self.rest.extend_from_slice(kept);
            self.kept += kept.len();
            bytes = left;
        }
        if bytes.is_empty() {
            return;
        }
        self.left_out += bytes.len() as u64;
        if bytes
            .iter()
            .fold(false, |found, &byte| found | (byte < 0x20))
        {
            self.fault = Some("a control byte stands in a string");
        }
        while let (false, Some((&byte, after))) = (self.letter.is_empty(), bytes.split_first()) {
            self.letter.push(byte);
            bytes = after;
            match std::str::from_utf8(&self.letter) {
                Ok(_) => self.letter.clear(),
                Err(fault) if fault.error_len().is_none() => {}
                Err(_) => {
                    self.letter.clear();
                    self.fault = Some("no UTF-8 in a string");
                }
            }
        }
        if let Err(fault) = std::str::from_utf8(bytes) {
            match fault.error_len() {
                None => {
                    self.letter = bytes
                        .get(fault.valid_up_to()..)
                        .unwrap_or_default()
                        .to_vec()
                }
                Some(_) => self.fault = Some("no UTF-8 in a string"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape::Tape;

    fn skim(line: &[u8], step: usize) -> Skim {
        let mut skim = Skim::default();
        line.chunks(step).for_each(|chunk| skim.push(chunk));
        skim
    }

    #[test]
    fn long_strings_lose_their_middle() {
        let long = "aé\\n\\u00e9你\\\"".repeat(40_000);
        let line = format!(r#"{{"a":"short","b":"{long}","c":[1,"{long}"],"d":"end"}}"#);
        let whole = skim(line.as_bytes(), line.len());
        let (rest, gaps) = whole.rest();
        assert!(rest.len() < 300_000, "{}", rest.len());
        assert_eq!(gaps.len(), 2);
        assert_eq!(whole.fault(), None);
        assert_eq!(whole.total(), line.len() as u64);
        for step in [1, 7, 4096] {
            let parts = skim(line.as_bytes(), step);
            assert_eq!(parts.rest(), whole.rest(), "by {step}");
            assert_eq!(parts.fault(), None);
        }
        let text = std::str::from_utf8(rest).unwrap();
        let mut tape = Tape::default();
        assert_eq!(tape.read(text), Ok(rest.len()));
        let root = tape.root(text);
        for (name, inner) in [("b", format!("\"{long}\"")), ("d", "\"end\"".to_owned())] {
            let value = root.get(name).unwrap();
            let from = stretch(gaps, value.start()) as usize;
            let to = stretch(gaps, value.start() + value.raw().len()) as usize;
            assert_eq!(&line[from..to], inner, "{name}");
        }
    }

    #[test]
    fn what_is_left_out_is_checked() {
        let fill = "x".repeat(100_000);
        for (bad, step) in [("\\q", 5), ("\\u12g4", 5), ("\t", 3), ("\u{0}", 3)] {
            let line = format!("{{\"a\":\"{fill}{bad}{fill}\"}}");
            assert!(skim(line.as_bytes(), step).fault().is_some(), "{bad:?}");
        }
        for bytes in [&b"\xff"[..], b"\xc3", b"\xe4\xbd", b"\xed\xa0\x80"] {
            let line = [
                b"{\"a\":\"",
                fill.as_bytes(),
                bytes,
                fill.as_bytes(),
                b"\"}",
            ]
            .concat();
            assert!(skim(&line, 1).fault().is_some(), "{bytes:?}");
            let line = [b"{\"a\":\"", fill.as_bytes(), bytes, b"\"}"].concat();
            assert!(skim(&line, 64).fault().is_some(), "{bytes:?} at the end");
        }
    }
}
