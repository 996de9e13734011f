//! A JSON value as a flat arena: nodes refer to each other by number, so that deep values are dropped, copied and
//! walked without recursion. Members of objects are sorted by their names' bytes; of equal names the last wins.

use super::read::decode_text;
use std::borrow::Cow;
use std::fmt;

/// A string of a record. Text that came from a request or a chip file is always UTF-8; text that the server took from
/// a user's file may hold any bytes, which are written as `\ufffd` each.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(Vec<u8>);

impl Text {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Each byte that belongs to no valid UTF-8 sequence is one U+FFFD.
    pub fn to_str(&self) -> Cow<'_, str> {
        decode_text(&self.0)
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Text {
        Text(bytes)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(text.into_bytes())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(text.as_bytes().to_vec())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_str(), f)
    }
}

#[derive(Clone)]
enum Node {
    Null,
    Bool(bool),
    Number(f64),
    Text(Text),
    /// A range of `items`.
    List(usize, usize),
    /// A range of `members`.
    Object(usize, usize),
}

/// A whole JSON value. Made by `Builder`.
#[derive(Clone)]
pub struct Json {
    nodes: Vec<Node>,
    items: Vec<usize>,
    members: Vec<(String, usize)>,
    root: usize,
}

impl Json {
    pub fn value(&self) -> Value<'_> {
        Value {
            json: self,
            node: self.root,
        }
    }

    /// An object with one text: what a successful delete saves.
    pub fn object_of_text(name: &str, text: Text) -> Json {
        let mut builder = Builder::new();
        builder.begin_object();
        builder.name(name.into());
        builder.text(text);
        builder.end_object();
        builder.finish()
    }

    /// Every text in it, names too, in no useful order; also values that a later member of the same name replaced.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let names = self.members.iter().map(|(name, _)| Cow::Borrowed(&**name));
        let values = self.nodes.iter().filter_map(|node| match node {
            Node::Text(text) => Some(text.to_str()),
            _ => None,
        });
        names.chain(values)
    }

    /// The object's member of that name; `None` too if the value is no object.
    pub fn get(&self, name: &str) -> Option<Value<'_>> {
        self.value().get(name)
    }
}

impl PartialEq for Json {
    /// Equal when they are written alike.
    fn eq(&self, other: &Json) -> bool {
        self.value().compact() == other.value().compact()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.value().compact()))
    }
}

/// A value inside a `Json`.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    json: &'a Json,
    node: usize,
}

#[derive(Clone, Copy)]
pub enum Kind<'a> {
    Null,
    Bool(bool),
    /// Always finite.
    Number(f64),
    Text(&'a Text),
    List(List<'a>),
    Object(Object<'a>),
}

impl<'a> Value<'a> {
    pub fn kind(self) -> Kind<'a> {
        match self.json.nodes.get(self.node) {
            None | Some(Node::Null) => Kind::Null,
            Some(Node::Bool(b)) => Kind::Bool(*b),
            Some(Node::Number(x)) => Kind::Number(*x),
            Some(Node::Text(text)) => Kind::Text(text),
            Some(Node::List(first, end)) => Kind::List(List {
                json: self.json,
                items: self.json.items.get(*first..*end).unwrap_or_default(),
            }),
            Some(Node::Object(first, end)) => Kind::Object(Object {
                json: self.json,
                members: self.json.members.get(*first..*end).unwrap_or_default(),
            }),
        }
    }

    pub fn text(self) -> Option<&'a Text> {
        match self.kind() {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn number(self) -> Option<f64> {
        match self.kind() {
            Kind::Number(x) => Some(x),
            _ => None,
        }
    }

    pub fn get(self, name: &str) -> Option<Value<'a>> {
        match self.kind() {
            Kind::Object(object) => object.get(name),
            _ => None,
        }
    }

    /// Indented as in a chip file, from column 0.
    pub fn pretty(self) -> Vec<u8> {
        let mut out = Vec::new();
        super::write::write_pretty(self, 0, &mut out);
        out
    }

    /// Without any white space; what the 50-byte rule counts.
    pub fn compact(self) -> Vec<u8> {
        let mut out = Vec::new();
        super::write::write_compact(self, &mut out);
        out
    }
}

#[derive(Clone, Copy)]
pub struct List<'a> {
    json: &'a Json,
    items: &'a [usize],
}

impl<'a> List<'a> {
    pub fn len(self) -> usize {
        self.items.len()
    }

    pub fn is_empty(self) -> bool {
        self.items.is_empty()
    }

    pub fn get(self, index: usize) -> Option<Value<'a>> {
        let node = *self.items.get(index)?;
        Some(Value {
            json: self.json,
            node,
        })
    }

    pub fn iter(self) -> impl Iterator<Item = Value<'a>> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }
}

#[derive(Clone, Copy)]
pub struct Object<'a> {
    json: &'a Json,
    members: &'a [(String, usize)],
}

impl<'a> Object<'a> {
    pub fn len(self) -> usize {
        self.members.len()
    }

    pub fn is_empty(self) -> bool {
        self.members.is_empty()
    }

    /// In the order of the names' bytes.
    pub fn member(self, index: usize) -> Option<(&'a str, Value<'a>)> {
        let (name, node) = self.members.get(index)?;
        Some((
            name,
            Value {
                json: self.json,
                node: *node,
            },
        ))
    }

    pub fn get(self, name: &str) -> Option<Value<'a>> {
        let index = self
            .members
            .binary_search_by(|(member, _)| member.as_str().cmp(name))
            .ok()?;
        self.member(index).map(|(_, value)| value)
    }

    pub fn iter(self) -> impl Iterator<Item = (&'a str, Value<'a>)> {
        (0..self.len()).filter_map(move |index| self.member(index))
    }
}

/// What is open and where its children begin in the builder's stacks.
enum Open {
    List(usize),
    Object(usize),
}

/// Builds a `Json` from its parts in the order of writing. Wrong order (an end without its begin, a value without a
/// name) never fails; it gives some value.
#[derive(Default)]
pub struct Builder {
    nodes: Vec<Node>,
    items: Vec<usize>,
    members: Vec<(String, usize)>,
    open: Vec<Open>,
    waiting_items: Vec<usize>,
    waiting_members: Vec<(String, usize)>,
    names: Vec<String>,
    root: Option<usize>,
}

impl Builder {
    pub fn new() -> Builder {
        Builder::default()
    }

    pub fn null(&mut self) {
        self.add(Node::Null);
    }

    pub fn bool(&mut self, b: bool) {
        self.add(Node::Bool(b));
    }

    /// Infinite and NaN become null.
    pub fn number(&mut self, x: f64) {
        self.add(if x.is_finite() {
            Node::Number(x)
        } else {
            Node::Null
        });
    }

    pub fn text(&mut self, text: impl Into<Text>) {
        self.add(Node::Text(text.into()));
    }

    pub fn begin_list(&mut self) {
        self.open.push(Open::List(self.waiting_items.len()));
    }

    pub fn begin_object(&mut self) {
        self.open.push(Open::Object(self.waiting_members.len()));
    }

    /// The name of the next value in an object.
    pub fn name(&mut self, name: String) {
        self.names.push(name);
    }

    pub fn end_list(&mut self) {
        self.end();
    }

    pub fn end_object(&mut self) {
        self.end();
    }

    /// How many lists and objects are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    fn end(&mut self) {
        let node = match self.open.pop() {
            None => return,
            Some(Open::List(from)) => {
                let first = self.items.len();
                let from = from.min(self.waiting_items.len());
                self.items.extend(self.waiting_items.drain(from..));
                Node::List(first, self.items.len())
            }
            Some(Open::Object(from)) => {
                let first = self.members.len();
                let from = from.min(self.waiting_members.len());
                let members = self.waiting_members.drain(from..).collect();
                self.members.extend(sorted(members));
                Node::Object(first, self.members.len())
            }
        };
        self.add(node);
    }

    fn add(&mut self, node: Node) {
        let number = self.nodes.len();
        self.nodes.push(node);
        match self.open.last() {
            None => self.root = Some(number),
            Some(Open::List(_)) => self.waiting_items.push(number),
            Some(Open::Object(_)) => {
                let name = self.names.pop().unwrap_or_default();
                self.waiting_members.push((name, number));
            }
        }
    }

    /// Closes what is still open. Nothing added: null.
    pub fn finish(mut self) -> Json {
        while !self.open.is_empty() {
            self.end();
        }
        if self.root.is_none() {
            self.null();
        }
        Json {
            root: self.root.unwrap_or_default(),
            nodes: self.nodes,
            items: self.items,
            members: self.members,
        }
    }
}

/// By the names' bytes, of equal ones the last.
fn sorted(mut members: Vec<(String, usize)>) -> Vec<(String, usize)> {
    // Stable: equal names stay in the order of arrival.
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    members.reverse();
    members.dedup_by(|(later, _), (kept, _)| later == kept);
    members.reverse();
    members
}
