//! JSON with places: one pass over a text makes a flat list of its values, each with its byte range, so that a
//! reader can pick fields and hand out spans of the log without copying. Strings are decoded only when asked for.
//!
//! Left out on purpose: numbers wider than 64 bits, comments, any repair of broken JSON.

use std::borrow::Cow;

use chipdeck_event::{Json, Span, Text};

/// Containers nested deeper than this are not read.
const MAX_DEPTH: usize = 50_000;
/// More values than this in one record are not read: 16 bytes each.
const MAX_NODES: usize = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    True,
    False,
    Number,
    String,
    Array,
    Object,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    start: u32,
    end: u32,
    /// Index of the node after this value and all that is in it.
    next: u32,
    kind: Kind,
    /// A string without escapes.
    plain: bool,
}

/// Why a text is no JSON value that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The text ends inside a value.
    Cut,
    /// Something else than JSON allows stands at this byte.
    At(usize),
    Deep,
    Large,
}

impl Fault {
    pub(crate) fn describe(self) -> String {
        match self {
            Fault::Cut => "the record ends inside a value".to_string(),
            Fault::At(byte) => format!("not JSON at byte {byte} of the record"),
            Fault::Deep => format!("nested deeper than {MAX_DEPTH} levels"),
            Fault::Large => "more values than can be read at once".to_string(),
        }
    }
}

/// The values of one text; reused from record to record.
#[derive(Default)]
pub(crate) struct Tape {
    nodes: Vec<Node>,
    open: Vec<u32>,
    /// The text has bytes below a blank, which JSON allows between values only.
    controls: bool,
    /// Escapes are not looked at: quicker, and good enough for logs of others.
    lenient: bool,
}

impl Tape {
    /// A tape that takes any escape for one: a wrong one is found when the string is decoded, and stays as it is.
    pub(crate) fn lenient() -> Tape {
        Tape {
            lenient: true,
            ..Tape::default()
        }
    }

    /// Reads the first JSON value of `text`, returns the byte after it.
    pub(crate) fn read(&mut self, text: &str) -> Result<usize, Fault> {
        self.nodes.clear();
        self.open.clear();
        let bytes = text.as_bytes();
        if u32::try_from(bytes.len()).is_err() {
            return Err(Fault::Large);
        }
        self.controls = has_controls(bytes);
        let mut at = blanks(bytes, 0);
        loop {
            at = match bytes.get(at) {
                None => return Err(Fault::Cut),
                Some(b'{') => {
                    let node = self.add(Kind::Object, at, at)?;
                    at = blanks(bytes, at + 1);
                    if bytes.get(at) == Some(&b'}') {
                        self.close(node, at + 1);
                        at + 1
                    } else {
                        self.enter(node)?;
                        at = self.key(bytes, at)?;
                        continue;
                    }
                }
                Some(b'[') => {
                    let node = self.add(Kind::Array, at, at)?;
                    at = blanks(bytes, at + 1);
                    if bytes.get(at) == Some(&b']') {
                        self.close(node, at + 1);
                        at + 1
                    } else {
                        self.enter(node)?;
                        continue;
                    }
                }
                Some(b'"') => self.string(bytes, at)?,
                Some(b't') => self.word(bytes, at, b"true", Kind::True)?,
                Some(b'f') => self.word(bytes, at, b"false", Kind::False)?,
                Some(b'n') => self.word(bytes, at, b"null", Kind::Null)?,
                Some(b'-' | b'0'..=b'9') => self.number(bytes, at)?,
                Some(_) => return Err(Fault::At(at)),
            };
            loop {
                let Some(&node) = self.open.last() else {
                    return Ok(at);
                };
                at = blanks(bytes, at);
                let object = self.nodes.get(node as usize).map(|n| n.kind) == Some(Kind::Object);
                match (object, bytes.get(at)) {
                    (_, None) => return Err(Fault::Cut),
                    (true, Some(b',')) => {
                        at = self.key(bytes, blanks(bytes, at + 1))?;
                        break;
                    }
                    (false, Some(b',')) => {
                        at = blanks(bytes, at + 1);
                        break;
                    }
                    (true, Some(b'}')) | (false, Some(b']')) => {
                        at += 1;
                        self.close(node, at);
                        self.open.pop();
                    }
                    _ => return Err(Fault::At(at)),
                }
            }
        }
    }

    /// Makes what was read before a [`Fault::Cut`] usable: open containers end at the cut, an unfinished member is
    /// dropped. False when nothing of worth is left.
    pub(crate) fn salvage(&mut self, end: usize) -> bool {
        while let Some(node) = self.open.pop() {
            let object = self.nodes.get(node as usize).map(|n| n.kind) == Some(Kind::Object);
            if object {
                // A key whose value is missing.
                let mut at = node + 1;
                let mut dangling = None;
                while (at as usize) < self.nodes.len() {
                    let value = at + 1;
                    match self.nodes.get(value as usize) {
                        Some(v) => at = v.next.max(value + 1),
                        None => {
                            dangling = Some(at as usize);
                            break;
                        }
                    }
                }
                if let Some(at) = dangling {
                    self.nodes.truncate(at);
                }
            }
            self.close(node, end);
        }
        self.nodes.len() > 1
    }

    /// The value that was read last, with the text it was read from.
    pub(crate) fn root<'a>(&'a self, text: &'a str) -> Val<'a> {
        Val {
            text,
            nodes: &self.nodes,
            at: 0,
        }
    }

    /// Gives memory of an unusually large record back.
    pub(crate) fn trim(&mut self) {
        if self.nodes.capacity() > 1 << 16 {
            self.nodes = Vec::new();
        }
    }

    fn add(&mut self, kind: Kind, start: usize, end: usize) -> Result<u32, Fault> {
        if self.nodes.len() >= MAX_NODES {
            return Err(Fault::Large);
        }
        let index = self.nodes.len() as u32;
        self.nodes.push(Node {
            start: start as u32,
            end: end as u32,
            next: index + 1,
            kind,
            plain: true,
        });
        Ok(index)
    }

    fn enter(&mut self, node: u32) -> Result<(), Fault> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Fault::Deep);
        }
        self.open.push(node);
        Ok(())
    }

    fn close(&mut self, node: u32, end: usize) {
        let next = self.nodes.len() as u32;
        if let Some(n) = self.nodes.get_mut(node as usize) {
            n.end = end as u32;
            n.next = next;
        }
    }

    /// A key, its colon and the blanks after it.
    fn key(&mut self, bytes: &[u8], at: usize) -> Result<usize, Fault> {
        match bytes.get(at) {
            Some(b'"') => {}
            None => return Err(Fault::Cut),
            Some(_) => return Err(Fault::At(at)),
        }
        let at = blanks(bytes, self.string(bytes, at)?);
        match bytes.get(at) {
            Some(b':') => Ok(blanks(bytes, at + 1)),
            None => Err(Fault::Cut),
            Some(_) => Err(Fault::At(at)),
        }
    }

    fn string(&mut self, bytes: &[u8], start: usize) -> Result<usize, Fault> {
        let mut at = start + 1;
        let mut plain = true;
        if self.lenient && !self.controls {
            let end = lenient_end(bytes, at)?;
            let inner = bytes.get(at..end).unwrap_or_default();
            let node = self.add(Kind::String, start, end + 1)?;
            if let Some(n) = self.nodes.get_mut(node as usize) {
                n.plain = memchr::memchr(b'\\', inner).is_none();
            }
            return Ok(end + 1);
        }
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let Some(hit) = memchr::memchr2(b'"', b'\\', rest) else {
                return Err(Fault::Cut);
            };
            if self.controls && rest.get(..hit).is_some_and(has_controls) {
                return Err(Fault::At(at));
            }
            at += hit;
            if bytes.get(at) == Some(&b'"') {
                let node = self.add(Kind::String, start, at + 1)?;
                if let Some(n) = self.nodes.get_mut(node as usize) {
                    n.plain = plain;
                }
                return Ok(at + 1);
            }
            plain = false;
            match bytes.get(at + 1) {
                None => return Err(Fault::Cut),
                Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                Some(b'u') => match bytes.get(at + 2..at + 6) {
                    None => return Err(Fault::Cut),
                    Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => at += 6,
                    Some(_) => return Err(Fault::At(at)),
                },
                Some(_) => return Err(Fault::At(at)),
            }
        }
    }

    fn word(&mut self, bytes: &[u8], at: usize, word: &[u8], kind: Kind) -> Result<usize, Fault> {
        let end = at + word.len();
        match bytes.get(at..end) {
            Some(found) if found == word => {
                self.add(kind, at, end)?;
                Ok(end)
            }
            Some(_) => Err(Fault::At(at)),
            None => Err(Fault::Cut),
        }
    }

    fn number(&mut self, bytes: &[u8], start: usize) -> Result<usize, Fault> {
        let digits = |at: usize| {
            let rest = bytes.get(at..).unwrap_or_default();
            at + rest.iter().take_while(|b| b.is_ascii_digit()).count()
        };
        let need = |from: usize| match digits(from) {
            to if to > from => Ok(to),
            _ if from >= bytes.len() => Err(Fault::Cut),
            _ => Err(Fault::At(from)),
        };
        let first = start + usize::from(bytes.get(start) == Some(&b'-'));
        let mut at = if bytes.get(first) == Some(&b'0') {
            first + 1
        } else {
            need(first)?
        };
        if bytes.get(at) == Some(&b'.') {
            at = need(at + 1)?;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
            at = need(at + 1 + usize::from(signed))?;
        }
        self.add(Kind::Number, start, at)?;
        Ok(at)
    }
}

/// The quote that ends a string whose text begins at `from`: the first that no backslash makes a letter.
fn lenient_end(bytes: &[u8], from: usize) -> Result<usize, Fault> {
    let mut at = from;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let hit = at + memchr::memchr(b'"', rest).ok_or(Fault::Cut)?;
        let before = bytes.get(from..hit).unwrap_or_default();
        let slashes = before.iter().rev().take_while(|b| **b == b'\\').count();
        if slashes % 2 == 0 {
            return Ok(hit);
        }
        at = hit + 1;
    }
}

/// Any byte below a blank? Written so that it runs many bytes at a time.
fn has_controls(bytes: &[u8]) -> bool {
    bytes
        .chunks(256)
        .any(|part| part.iter().fold(false, |found, &b| found | (b < 0x20)))
}

/// The first byte at or after `at` that is no blank.
pub(crate) fn blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
        .count()
}

/// One value of a tape.
#[derive(Clone, Copy)]
pub(crate) struct Val<'a> {
    text: &'a str,
    nodes: &'a [Node],
    at: u32,
}

impl<'a> Val<'a> {
    fn node(&self) -> Node {
        self.nodes.get(self.at as usize).copied().unwrap_or(Node {
            start: 0,
            end: 0,
            next: 0,
            kind: Kind::Null,
            plain: true,
        })
    }

    pub(crate) fn kind(&self) -> Kind {
        self.node().kind
    }

    pub(crate) fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    pub(crate) fn is_array(&self) -> bool {
        self.kind() == Kind::Array
    }

    pub(crate) fn is_string(&self) -> bool {
        self.kind() == Kind::String
    }

    /// The value's JSON text as it stands in the record.
    pub(crate) fn raw(&self) -> &'a str {
        let node = self.node();
        self.text
            .get(node.start as usize..node.end as usize)
            .unwrap_or_default()
    }

    /// First byte of the value, counted from the start of the record's text.
    pub(crate) fn start(&self) -> usize {
        self.node().start as usize
    }

    fn at(&self, at: u32) -> Val<'a> {
        Val { at, ..*self }
    }

    /// Members of an object in order; nothing for other values.
    pub(crate) fn members(&self) -> impl Iterator<Item = (Cow<'a, str>, Val<'a>)> + 'a {
        let me = *self;
        let node = self.node();
        let (mut at, end) = if node.kind == Kind::Object {
            (self.at + 1, node.next)
        } else {
            (0, 0)
        };
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let key = me.at(at);
            let value = me.at(at + 1);
            at = value.node().next.max(at + 2);
            Some((key.str().unwrap_or_default(), value))
        })
    }

    /// Items of an array in order; nothing for other values.
    pub(crate) fn items(&self) -> impl Iterator<Item = Val<'a>> + 'a {
        let me = *self;
        let node = self.node();
        let (mut at, end) = if node.kind == Kind::Array {
            (self.at + 1, node.next)
        } else {
            (0, 0)
        };
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let value = me.at(at);
            at = value.node().next.max(at + 1);
            Some(value)
        })
    }

    /// The member of this name; of equal names the last.
    pub(crate) fn get(&self, name: &str) -> Option<Val<'a>> {
        let node = self.node();
        if node.kind != Kind::Object {
            return None;
        }
        let mut found = None;
        let mut at = self.at + 1;
        while at < node.next {
            let next = self
                .nodes
                .get(at as usize + 1)
                .map_or(0, |value| value.next);
            if self.at(at).is(name) {
                found = Some(self.at(at + 1));
            }
            at = next.max(at + 2);
        }
        found
    }

    /// `get` along several names.
    pub(crate) fn path(&self, names: &[&str]) -> Option<Val<'a>> {
        names.iter().try_fold(*self, |value, name| value.get(name))
    }

    fn is(&self, name: &str) -> bool {
        let Some(node) = self.nodes.get(self.at as usize) else {
            return false;
        };
        if !node.plain {
            return self.str().as_deref() == Some(name);
        }
        // Lengths differ nearly always.
        if (node.end - node.start) as usize != name.len() + 2 {
            return false;
        }
        let start = node.start as usize + 1;
        self.text.as_bytes().get(start..start + name.len()) == Some(name.as_bytes())
    }

    fn inner(&self) -> Option<&'a str> {
        let node = self.node();
        if node.kind != Kind::String {
            return None;
        }
        self.text
            .get(node.start as usize + 1..(node.end as usize).saturating_sub(1))
    }

    /// The text of a string value; a lone surrogate becomes U+FFFD.
    pub(crate) fn str(&self) -> Option<Cow<'a, str>> {
        let inner = self.inner()?;
        if self.node().plain {
            Some(Cow::Borrowed(inner))
        } else {
            Some(Cow::Owned(decode(inner)))
        }
    }

    /// The text of a member, if it is a string.
    pub(crate) fn text_of(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.str()
    }

    pub(crate) fn int(&self) -> Option<i64> {
        if self.kind() != Kind::Number {
            return None;
        }
        let raw = self.raw();
        raw.parse::<i64>().ok().or_else(|| {
            let wide = raw.parse::<f64>().ok()?;
            (wide.is_finite() && wide.abs() < 9e15).then_some(wide as i64)
        })
    }

    pub(crate) fn float(&self) -> Option<f64> {
        if self.kind() != Kind::Number {
            return None;
        }
        self.raw().parse().ok()
    }

    pub(crate) fn bool(&self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    pub(crate) fn truth(&self, name: &str) -> bool {
        self.get(name).and_then(|v| v.bool()) == Some(true)
    }
}

/// Where a tape's text stands in the log set: turns values into references.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// The text is these bytes of a file.
    Log { file: u32, offset: u64 },
    /// The text was computed (JSON inside a JSON string): values are copied.
    Computed,
}

/// Texts up to this many bytes are held in memory: as small as the reference.
const SHORT: usize = 24;

impl Origin {
    fn span(self, value: Val<'_>) -> Option<Span> {
        let Origin::Log { file, offset } = self else {
            return None;
        };
        let len = u32::try_from(value.raw().len()).ok()?;
        Some(Span {
            file,
            offset: offset + value.start() as u64,
            len,
        })
    }

    /// A string value as a text; anything else as its JSON.
    pub(crate) fn text(self, value: Val<'_>) -> Text {
        match (self.span(value), value.is_string()) {
            (Some(span), true) if value.raw().len() > SHORT => Text::Span(span),
            (_, true) => Text::inline(value.str().unwrap_or_default()),
            (_, false) => Text::inline(value.raw()),
        }
    }

    pub(crate) fn json(self, value: Val<'_>) -> Json {
        match self.span(value) {
            Some(span) if value.raw().len() > SHORT => Json::Span(span),
            _ => Json::Inline(value.raw().into()),
        }
    }
}

/// The text of a JSON string literal without its quotes. Total: what is no escape stays, a lone surrogate becomes
/// U+FFFD.
pub(crate) fn decode(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(hit) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (before, after) = rest.split_at_checked(hit).unwrap_or((rest, ""));
        out.push_str(before);
        let mut chars = after.get(1..).unwrap_or_default().chars();
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let tail = chars.as_str();
                let (letter, used) = unit(tail).map_or((char::REPLACEMENT_CHARACTER, 0), |first| {
                    if let 0xD800..=0xDBFF = first {
                        let low = tail
                            .get(4..)
                            .and_then(|t| t.strip_prefix("\\u"))
                            .and_then(unit);
                        if let Some(low @ 0xDC00..=0xDFFF) = low {
                            let wide = 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00);
                            return (
                                char::from_u32(wide).unwrap_or(char::REPLACEMENT_CHARACTER),
                                10,
                            );
                        }
                    }
                    (
                        char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER),
                        4,
                    )
                });
                out.push(letter);
                rest = tail.get(used..).unwrap_or_default();
                continue;
            }
            Some(other) => out.push(other),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

fn unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.get(..4)?, 16).ok()
}

#[cfg(test)]
#[path = "tape_tests.rs"]
mod tests;
