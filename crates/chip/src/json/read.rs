//! The reader: one pass over bytes as they come, told to a `Sink` step by step. RFC 8259 strictly, with Go's leniency
//! inside strings. Only what a sink keeps costs memory; a record of 200 MB that is mostly indentation costs little.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read};

/// Deepest nesting of lists and objects; one more is a fault.
pub const MAX_LEVELS: usize = 10_000;

/// Why bytes are no record. Shown in the words of the server's decoder.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The text is cut: what a file being written looks like.
    #[error("unexpected end of JSON input")]
    End,
    #[error("invalid character {} {context}", Character(*.byte))]
    Syntax {
        byte: u8,
        context: &'static str,
        /// Bytes before it.
        offset: u64,
    },
    #[error("exceeded max depth")]
    Depth,
    #[error(transparent)]
    Type(#[from] TypeFault),
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A member has a wrong type or a number that doesn't fit; the whole record doesn't count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("json: cannot unmarshal {found} into Go {place}")]
pub struct TypeFault {
    /// `array`, `number 1.0`, …
    pub found: String,
    /// `struct field ChipRecord.args of type …`
    pub place: String,
}

/// A byte as the server's messages quote it.
struct Character(u8);

impl fmt::Display for Character {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\'' => f.write_str(r"'\''"),
            b'"' => f.write_str("'\"'"),
            byte => {
                let quoted = crate::quote(char::from(byte).encode_utf8(&mut [0; 4]));
                let inner = quoted
                    .strip_prefix('"')
                    .and_then(|q| q.strip_suffix('"'))
                    .unwrap_or(&quoted);
                write!(f, "'{inner}'")
            }
        }
    }
}

/// Bytes to text: each byte that belongs to no valid UTF-8 sequence is one U+FFFD.
pub fn decode_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| '\u{fffd}'));
    }
    Cow::Owned(out)
}

/// Takes what the reader finds, in the order of the text.
pub trait Sink {
    fn null(&mut self);
    fn bool(&mut self, b: bool);
    /// The literal as it stands.
    fn number(&mut self, literal: &str);
    fn text(&mut self, text: String);
    fn begin_list(&mut self);
    fn end_list(&mut self);
    fn begin_object(&mut self);
    fn name(&mut self, name: String);
    fn end_object(&mut self);
    /// The text now coming will not be looked at: it need not be kept.
    fn ignores_text(&self) -> bool {
        false
    }
}

/// Reads one value and nothing after it but white space.
pub(crate) fn read_from(mut input: impl Read, sink: &mut dyn Sink) -> Result<(), Fault> {
    Reader::new(&mut input).run(sink)
}

const VALUE: &str = "looking for beginning of value";

/// Not generic: it is compiled here, with this crate's optimisation.
struct Reader<'a> {
    input: &'a mut dyn Read,
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    /// Bytes of the input before the buffer.
    before: u64,
}

/// What is open, and whether it has something in it already.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    List,
    Object,
}

impl<'a> Reader<'a> {
    fn new(input: &'a mut dyn Read) -> Reader<'a> {
        Reader {
            input,
            buffer: vec![0; 64 * 1024],
            at: 0,
            filled: 0,
            before: 0,
        }
    }

    /// The next byte, left in place.
    fn peek(&mut self) -> Result<Option<u8>, Fault> {
        if self.at >= self.filled {
            self.before += self.filled as u64;
            self.at = 0;
            self.filled = 0;
            loop {
                match self.input.read(&mut self.buffer) {
                    Ok(n) => {
                        self.filled = n.min(self.buffer.len());
                        break;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(Fault::Io(error)),
                }
            }
        }
        Ok(self
            .buffer
            .get(self.at..self.filled)
            .and_then(|rest| rest.first())
            .copied())
    }

    fn next(&mut self) -> Result<u8, Fault> {
        let byte = self.peek()?.ok_or(Fault::End)?;
        self.at += 1;
        Ok(byte)
    }

    /// A fault at the byte that `next` just gave.
    fn wrong(&self, byte: u8, context: &'static str) -> Fault {
        Fault::Syntax {
            byte,
            context,
            offset: (self.before + self.at as u64).saturating_sub(1),
        }
    }

    /// The next byte that is no white space, taken.
    fn token(&mut self) -> Result<u8, Fault> {
        loop {
            let byte = self.next()?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Ok(byte);
            }
        }
    }

    fn run(&mut self, sink: &mut dyn Sink) -> Result<(), Fault> {
        let mut open: Vec<Open> = Vec::new();
        let mut first = self.token()?;
        loop {
            // `first` begins a value.
            match first {
                b'{' => {
                    Self::deeper(&mut open, Open::Object)?;
                    sink.begin_object();
                    match self.token()? {
                        b'}' => {
                            open.pop();
                            sink.end_object();
                        }
                        byte => {
                            first = self.member(byte, sink)?;
                            continue;
                        }
                    }
                }
                b'[' => {
                    Self::deeper(&mut open, Open::List)?;
                    sink.begin_list();
                    match self.token()? {
                        b']' => {
                            open.pop();
                            sink.end_list();
                        }
                        byte => {
                            first = byte;
                            continue;
                        }
                    }
                }
                byte => self.scalar(byte, sink)?,
            }
            // A value has ended; close what ends with it.
            loop {
                match open.last().copied() {
                    None => {
                        return match self.token() {
                            Err(Fault::End) => Ok(()),
                            Err(fault) => Err(fault),
                            Ok(byte) => Err(self.wrong(byte, "after top-level value")),
                        }
                    }
                    Some(Open::List) => match self.token()? {
                        b',' => {
                            first = self.token()?;
                            break;
                        }
                        b']' => {
                            open.pop();
                            sink.end_list();
                        }
                        byte => return Err(self.wrong(byte, "after array element")),
                    },
                    Some(Open::Object) => match self.token()? {
                        b',' => {
                            let byte = self.token()?;
                            first = self.member(byte, sink)?;
                            break;
                        }
                        b'}' => {
                            open.pop();
                            sink.end_object();
                        }
                        byte => return Err(self.wrong(byte, "after object key:value pair")),
                    },
                }
            }
        }
    }

    fn deeper(open: &mut Vec<Open>, what: Open) -> Result<(), Fault> {
        if open.len() >= MAX_LEVELS {
            return Err(Fault::Depth);
        }
        open.push(what);
        Ok(())
    }

    /// A member's name and colon; gives the first byte of its value.
    fn member(&mut self, byte: u8, sink: &mut dyn Sink) -> Result<u8, Fault> {
        if byte != b'"' {
            return Err(self.wrong(byte, "looking for beginning of object key string"));
        }
        let name = self.string(true)?;
        sink.name(name);
        match self.token()? {
            b':' => self.token(),
            byte => Err(self.wrong(byte, "after object key")),
        }
    }

    fn scalar(&mut self, byte: u8, sink: &mut dyn Sink) -> Result<(), Fault> {
        match byte {
            b'"' => {
                let text = self.string(!sink.ignores_text())?;
                sink.text(text);
            }
            b'-' | b'0'..=b'9' => {
                let literal = self.number(byte)?;
                sink.number(&literal);
            }
            b't' => {
                self.literal(&[
                    (b'r', "in literal true (expecting 'r')"),
                    (b'u', "in literal true (expecting 'u')"),
                    (b'e', "in literal true (expecting 'e')"),
                ])?;
                sink.bool(true);
            }
            b'f' => {
                self.literal(&[
                    (b'a', "in literal false (expecting 'a')"),
                    (b'l', "in literal false (expecting 'l')"),
                    (b's', "in literal false (expecting 's')"),
                    (b'e', "in literal false (expecting 'e')"),
                ])?;
                sink.bool(false);
            }
            b'n' => {
                self.literal(&[
                    (b'u', "in literal null (expecting 'u')"),
                    (b'l', "in literal null (expecting 'l')"),
                    (b'l', "in literal null (expecting 'l')"),
                ])?;
                sink.null();
            }
            byte => return Err(self.wrong(byte, VALUE)),
        }
        Ok(())
    }

    fn literal(&mut self, rest: &[(u8, &'static str)]) -> Result<(), Fault> {
        for (expected, context) in rest {
            let byte = self.next()?;
            if byte != *expected {
                return Err(self.wrong(byte, context));
            }
        }
        Ok(())
    }

    fn number(&mut self, first: u8) -> Result<String, Fault> {
        let mut literal = String::new();
        literal.push(char::from(first));
        let mut lead = first;
        if first == b'-' {
            lead = self.next()?;
            if !lead.is_ascii_digit() {
                return Err(self.wrong(lead, "in numeric literal"));
            }
            literal.push(char::from(lead));
        }
        if lead != b'0' {
            self.digits(&mut literal)?;
        }
        if self.peek()? == Some(b'.') {
            self.at += 1;
            literal.push('.');
            let byte = self.next()?;
            if !byte.is_ascii_digit() {
                return Err(self.wrong(byte, "after decimal point in numeric literal"));
            }
            literal.push(char::from(byte));
            self.digits(&mut literal)?;
        }
        if let Some(mark @ (b'e' | b'E')) = self.peek()? {
            self.at += 1;
            literal.push(char::from(mark));
            let mut byte = self.next()?;
            if matches!(byte, b'+' | b'-') {
                literal.push(char::from(byte));
                byte = self.next()?;
            }
            if !byte.is_ascii_digit() {
                return Err(self.wrong(byte, "in exponent of numeric literal"));
            }
            literal.push(char::from(byte));
            self.digits(&mut literal)?;
        }
        Ok(literal)
    }

    fn digits(&mut self, literal: &mut String) -> Result<(), Fault> {
        while let Some(byte @ b'0'..=b'9') = self.peek()? {
            literal.push(char::from(byte));
            self.at += 1;
        }
        Ok(())
    }

    /// The rest of a string after its opening quote. With `keep` false it is checked and thrown away.
    fn string(&mut self, keep: bool) -> Result<String, Fault> {
        // Raw bytes collect in `bytes`; what an escape means is appended as UTF-8, which can't make a broken raw
        // sequence before it valid: escapes never give continuation bytes alone.
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            self.peek()?;
            let rest = self.buffer.get(self.at..self.filled).unwrap_or_default();
            let plain = rest
                .iter()
                .position(|b| *b < 0x20 || matches!(b, b'"' | b'\\'))
                .unwrap_or(rest.len());
            if keep {
                bytes.extend_from_slice(rest.get(..plain).unwrap_or_default());
            }
            let all = plain == rest.len();
            self.at += plain;
            if all && plain > 0 {
                continue;
            }
            match self.next()? {
                b'"' => {
                    return Ok(match String::from_utf8(bytes) {
                        Ok(text) => text,
                        Err(error) => decode_text(error.as_bytes()).into_owned(),
                    })
                }
                b'\\' => self.escape(&mut bytes)?,
                byte => return Err(self.wrong(byte, "in string literal")),
            }
        }
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Fault> {
        let mut byte = self.next()?;
        loop {
            let plain = match byte {
                b'"' | b'\\' | b'/' => byte,
                b'b' => 0x08,
                b'f' => 0x0c,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'u' => {
                    let unit = self.hex4()?;
                    match self.unit(unit, bytes)? {
                        // The escape after a lone half is read on its own.
                        Some(next) => {
                            byte = next;
                            continue;
                        }
                        None => return Ok(()),
                    }
                }
                byte => return Err(self.wrong(byte, "in string escape code")),
            };
            bytes.push(plain);
            return Ok(());
        }
    }

    /// Appends what a `\u` escape means, joined with the half that may follow. Gives the byte after the backslash of a
    /// following escape that was looked at but didn't fit.
    fn unit(&mut self, mut unit: u32, bytes: &mut Vec<u8>) -> Result<Option<u8>, Fault> {
        let mut push = |code: u32| {
            let c = char::from_u32(code).unwrap_or('\u{fffd}');
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        };
        loop {
            if !(0xd800..0xdc00).contains(&unit) {
                push(unit);
                return Ok(None);
            }
            if self.peek()? != Some(b'\\') {
                push(0xfffd);
                return Ok(None);
            }
            self.at += 1;
            let next = self.next()?;
            if next != b'u' {
                push(0xfffd);
                return Ok(Some(next));
            }
            let low = self.hex4()?;
            if (0xdc00..0xe000).contains(&low) {
                push(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
                return Ok(None);
            }
            push(0xfffd);
            unit = low;
        }
    }

    fn hex4(&mut self) -> Result<u32, Fault> {
        let mut unit = 0;
        for _ in 0..4 {
            let byte = self.next()?;
            match char::from(byte).to_digit(16) {
                Some(digit) => unit = unit * 16 + digit,
                None => return Err(self.wrong(byte, "in \\u hexadecimal character escape")),
            }
        }
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);
    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.split_first() {
                Some((byte, rest)) => {
                    buffer[0] = *byte;
                    self.0 = rest;
                    Ok(1)
                }
                None => Ok(0),
            }
        }
    }

    fn value(text: &[u8]) -> Result<String, String> {
        let whole = crate::json::Json::parse(text).map_err(|fault| fault.to_string());
        let slow = crate::json::Json::parse_from(Slow(text)).map_err(|fault| fault.to_string());
        assert_eq!(whole, slow);
        whole.map(|json| String::from_utf8(json.value().compact()).unwrap())
    }

    #[test]
    fn broken_bytes_are_one_mark_each() {
        assert_eq!(value(b"\"\xe2\x82\"").unwrap(), "\"\u{fffd}\u{fffd}\"");
        assert_eq!(
            value(b"\"\xf0\x9f\x98\"").unwrap(),
            "\"\u{fffd}\u{fffd}\u{fffd}\""
        );
        assert_eq!(
            value(b"\"\xed\xa0\x80\"").unwrap(),
            "\"\u{fffd}\u{fffd}\u{fffd}\""
        );
        // A broken start before an escape stays broken.
        assert_eq!(value(b"\"\xc3\\u00a9\"").unwrap(), "\"\u{fffd}\u{a9}\"");
    }

    #[test]
    fn halves() {
        assert_eq!(value(br#""\uD83D\uDE00""#).unwrap(), "\"\u{1f600}\"");
        assert_eq!(value(br#""\uD83D\u0041""#).unwrap(), "\"\u{fffd}A\"");
        assert_eq!(
            value(br#""\uD83D\uD83D\uDE00""#).unwrap(),
            "\"\u{fffd}\u{1f600}\""
        );
        assert_eq!(value(br#""\uD83D\n""#).unwrap(), "\"\u{fffd}\\n\"");
        assert_eq!(value(br#""\uDE00x""#).unwrap(), "\"\u{fffd}x\"");
        assert_eq!(
            value(br#""\uD83D\x""#).unwrap_err(),
            "invalid character 'x' in string escape code"
        );
    }

    #[test]
    fn faults_in_the_servers_words() {
        for (text, words) in [
            ("", "unexpected end of JSON input"),
            ("{\"a\":1", "unexpected end of JSON input"),
            ("{} x", "invalid character 'x' after top-level value"),
            (
                "\0",
                "invalid character '\\x00' looking for beginning of value",
            ),
            ("[1 2]", "invalid character '2' after array element"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            (
                "{\"a\":1 1}",
                "invalid character '1' after object key:value pair",
            ),
            (
                "{'a':1}",
                "invalid character '\\'' looking for beginning of object key string",
            ),
            (
                "[1,]",
                "invalid character ']' looking for beginning of value",
            ),
            ("01", "invalid character '1' after top-level value"),
            ("-x", "invalid character 'x' in numeric literal"),
            (
                "1.x",
                "invalid character 'x' after decimal point in numeric literal",
            ),
            (
                "1ex",
                "invalid character 'x' in exponent of numeric literal",
            ),
            (
                "trux",
                "invalid character 'x' in literal true (expecting 'e')",
            ),
            ("\"\t\"", "invalid character '\\t' in string literal"),
            (
                "\"\\u12g4\"",
                "invalid character 'g' in \\u hexadecimal character escape",
            ),
            (
                "\u{feff}{}",
                "invalid character 'ï' looking for beginning of value",
            ),
        ] {
            assert_eq!(value(text.as_bytes()).unwrap_err(), words, "{text:?}");
        }
    }

    #[test]
    fn ten_thousand_levels_and_no_more() {
        for (levels, good) in [(10_000, true), (10_001, false)] {
            let text = "[".repeat(levels) + &"]".repeat(levels);
            let read = crate::json::Json::parse(text.as_bytes());
            assert_eq!(read.is_ok(), good, "{levels}");
            if let Ok(json) = read {
                assert_eq!(json.clone().value().compact(), text.as_bytes());
            }
        }
    }
}
