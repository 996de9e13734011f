//! Values of a tape, and references to them.

use std::borrow::Cow;

use chipdeck_event::{Json, Span, Text};

use super::literal::decode;
use super::{Kind, Node};

/// One value of a tape.
#[derive(Clone, Copy)]
pub(crate) struct Val<'a> {
    pub(super) text: &'a str,
    pub(super) nodes: &'a [Node],
    pub(super) at: u32,
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
