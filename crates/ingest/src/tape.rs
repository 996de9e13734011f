//! JSON with places: one pass over a text makes a flat list of its values, each with its byte range, so that a
//! reader can pick fields and hand out spans of the log without copying. Strings are decoded only when asked for.
//!
//! Left out on purpose: numbers wider than 64 bits, comments, any repair of broken JSON.

mod literal;
mod value;

pub(crate) use literal::{decode, spells};
pub(crate) use value::{Origin, Val};

use literal::plain_end;

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
        self.put(kind, start, end, true)
    }

    fn put(&mut self, kind: Kind, start: usize, end: usize, plain: bool) -> Result<u32, Fault> {
        if self.nodes.len() >= MAX_NODES {
            return Err(Fault::Large);
        }
        let index = self.nodes.len() as u32;
        self.nodes.push(Node {
            start: start as u32,
            end: end as u32,
            next: index + 1,
            kind,
            plain,
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
            let (end, plain) = lenient_end(bytes, at)?;
            self.put(Kind::String, start, end + 1, plain)?;
            return Ok(end + 1);
        }
        loop {
            let hit = plain_end(bytes, at).ok_or(Fault::Cut)?;
            if self.controls && bytes.get(at..hit).is_some_and(has_controls) {
                return Err(Fault::At(at));
            }
            at = hit;
            if bytes.get(at) == Some(&b'"') {
                self.put(Kind::String, start, at + 1, plain)?;
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

/// The quote that ends a string whose text begins at `from`, the first that no backslash makes a letter; and whether
/// there is no backslash before it.
fn lenient_end(bytes: &[u8], from: usize) -> Result<(usize, bool), Fault> {
    let mut at = plain_end(bytes, from).ok_or(Fault::Cut)?;
    if bytes.get(at) == Some(&b'"') {
        return Ok((at, true));
    }
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let hit = at + memchr::memchr(b'"', rest).ok_or(Fault::Cut)?;
        let before = bytes.get(from..hit).unwrap_or_default();
        let slashes = before.iter().rev().take_while(|b| **b == b'\\').count();
        if slashes % 2 == 0 {
            return Ok((hit, false));
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

#[cfg(test)]
mod tests;
