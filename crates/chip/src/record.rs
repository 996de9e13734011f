//! The chip record: what `chip-<id>.json` holds.
//!
//! Left out: names of files (`id`), the queue (`queue`).

use crate::json::{
    read_from, write_string, Fault, Json, Sink, Text, Tree, TypeFault, Value, Writer,
};
use std::io::Read;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChipRecord {
    /// Any text; see `safe_id` before it becomes part of a name.
    pub id: String,
    /// The tool that failed, or `be-delete`.
    pub tool: String,
    /// The call's arguments; `{"_content": …}` for a successful delete. `None` is `null`. Always an object.
    pub args: Option<Json>,
    /// Empty: no failure.
    pub err_msg: String,
    /// Unix seconds.
    pub created_at: i64,
}

/// Arguments must be longer than this to be saved, in bytes of compact JSON.
const SAVED_ABOVE: usize = 50;

impl ChipRecord {
    /// Reads a chip file as the server's loader does.
    pub fn read(bytes: &[u8]) -> Result<ChipRecord, Fault> {
        ChipRecord::read_from(bytes)
    }

    /// The same from a stream; only what the record holds is kept in memory.
    pub fn read_from(input: impl Read) -> Result<ChipRecord, Fault> {
        let mut sink = Reading::default();
        read_from(input, &mut sink)?;
        sink.record()
    }

    /// The record of a successful delete: the removed lines as the server rewrites them (`Lines::rewritten`).
    pub fn of_delete(id: String, content: Vec<u8>, created_at: i64) -> ChipRecord {
        ChipRecord {
            id,
            tool: "be-delete".into(),
            args: Some(Json::object_of_text("_content", Text::from(content))),
            err_msg: String::new(),
            created_at,
        }
    }

    /// Whether a failed call with these arguments leaves a chip (a delete always does).
    pub fn is_saved(args: Option<&Json>) -> bool {
        args.is_some_and(|args| args.value().compact().len() > SAVED_ABOVE)
    }

    /// The bytes of the chip file.
    pub fn write(&self) -> Vec<u8> {
        let mut out = b"{".to_vec();
        let mut w = Writer { out: &mut out };
        w.name(1, true, "id");
        write_string(self.id.as_bytes(), w.out);
        w.name(1, false, "tool");
        write_string(self.tool.as_bytes(), w.out);
        w.name(1, false, "args");
        w.args(1, self.args.as_ref());
        if !self.err_msg.is_empty() {
            w.name(1, false, "err_msg");
            write_string(self.err_msg.as_bytes(), w.out);
        }
        w.name(1, false, "created_at");
        w.integer(self.created_at);
        w.line(0);
        out.push(b'}');
        out
    }

    pub fn argument(&self, name: &str) -> Option<Value<'_>> {
        self.args.as_ref()?.get(name)
    }

    /// A successful delete: its removed text.
    pub fn deleted(&self) -> Option<&Text> {
        if self.tool != "be-delete" || !self.err_msg.is_empty() {
            return None;
        }
        self.argument("_content")?.text()
    }

    /// What was lost: `_content` of a delete, else the argument `content`.
    pub fn content(&self) -> Option<&Text> {
        ["_content", "content"]
            .into_iter()
            .find_map(|name| self.argument(name)?.text())
    }

    /// A failed replace: its old text and its new one.
    pub fn replacement(&self) -> Option<(&Text, &Text)> {
        let old = ["old", "old_text"]
            .into_iter()
            .find_map(|name| self.argument(name)?.text())?;
        Some((old, self.argument("content")?.text()?))
    }
}

impl Writer<'_> {
    pub(crate) fn args(&mut self, level: usize, args: Option<&Json>) {
        match args {
            Some(args) => crate::json::write_pretty(args.value(), level, self.out),
            None => self.out.extend_from_slice(b"null"),
        }
    }

    pub(crate) fn integer(&mut self, n: i64) {
        self.out.extend_from_slice(n.to_string().as_bytes());
    }
}

/// Whether a member's name means `field` (lower case): ASCII case and `ſ` don't count.
pub(crate) fn names(name: &str, field: &str) -> bool {
    let mut left = name.chars().map(|c| match c {
        'ſ' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    });
    let mut right = field.chars();
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (a, b) if a == b => {}
            _ => return false,
        }
    }
}

/// An integer literal of 64 bits, by the rules of `created_at`.
pub(crate) fn integer(literal: &str) -> Option<i64> {
    literal.parse().ok()
}

/// Arguments as they arrive: of several objects the later ones are laid over the earlier, name by name.
#[derive(Default)]
pub(crate) struct Args {
    pub tree: Tree,
    some: bool,
}

impl Args {
    /// Forgets what came so far, except a fault.
    pub fn null(&mut self) {
        *self = Args {
            tree: Tree {
                fault: self.tree.fault.take(),
                ..Tree::default()
            },
            some: false,
        };
    }

    /// Begins an object at the root, or goes on with the one that is there.
    pub fn open(&mut self) {
        if !self.some {
            self.some = true;
            self.tree.begin_object();
        }
    }

    pub fn finish(self) -> Option<Json> {
        self.some.then(|| self.tree.builder.finish())
    }
}

/// Where the reader stands, and so what it does with the next value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    /// The record itself.
    Record,
    /// A member of the record.
    Field(Field),
    /// Inside an ignored or mistyped value, so deep.
    Ignored(usize),
    /// Inside `args`, so deep below its object.
    Args(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    Tool,
    Args,
    ErrMsg,
    CreatedAt,
    Unknown,
}

impl Field {
    const KNOWN: [(&'static str, Field, &'static str); 5] = [
        ("id", Field::Id, "string"),
        ("tool", Field::Tool, "string"),
        ("args", Field::Args, "map[string]interface {}"),
        ("err_msg", Field::ErrMsg, "string"),
        ("created_at", Field::CreatedAt, "int64"),
    ];
}

struct Reading {
    record: ChipRecord,
    args: Args,
    at: Want,
    /// Inside the record object.
    inside: bool,
    fault: Option<TypeFault>,
}

impl Default for Reading {
    fn default() -> Reading {
        Reading {
            record: ChipRecord::default(),
            args: Args::default(),
            at: Want::Record,
            inside: false,
            fault: None,
        }
    }
}

impl Reading {
    fn record(mut self) -> Result<ChipRecord, Fault> {
        if let Some(fault) = self.fault {
            return Err(fault.into());
        }
        if let Some(mut fault) = self.args.tree.fault.take() {
            fault.place = "struct field ChipRecord.args of type float64".into();
            return Err(fault.into());
        }
        self.record.args = self.args.finish();
        Ok(self.record)
    }

    fn wrong(&mut self, found: impl Into<String>) {
        let place = match self.at {
            Want::Field(field) => Field::KNOWN
                .iter()
                .find(|known| known.1 == field)
                .map(|(name, _, kind)| format!("struct field ChipRecord.{name} of type {kind}")),
            _ => Some("value of type betools.ChipRecord".into()),
        };
        if let Some(place) = place {
            self.fault.get_or_insert(TypeFault {
                found: found.into(),
                place,
            });
        }
    }

    /// A list, or an object where none belongs.
    fn ignore(&mut self, found: &str) {
        if self.at != Want::Field(Field::Unknown) {
            self.wrong(found);
        }
        self.at = Want::Ignored(1);
    }
}

impl Sink for Reading {
    fn null(&mut self) {
        match self.at {
            Want::Args(_) => self.args.tree.null(),
            Want::Field(Field::Args) => self.args.null(),
            _ => {}
        }
    }

    fn bool(&mut self, b: bool) {
        match self.at {
            Want::Args(_) => self.args.tree.bool(b),
            Want::Ignored(_) | Want::Field(Field::Unknown) => {}
            _ => self.wrong("bool"),
        }
    }

    fn number(&mut self, literal: &str) {
        match self.at {
            Want::Args(_) => self.args.tree.number(literal),
            Want::Ignored(_) | Want::Field(Field::Unknown) => {}
            Want::Field(Field::CreatedAt) => match integer(literal) {
                Some(n) => self.record.created_at = n,
                None => self.wrong(format!("number {literal}")),
            },
            _ => self.wrong("number"),
        }
    }

    fn text(&mut self, text: String) {
        match self.at {
            Want::Args(_) => self.args.tree.text(text),
            Want::Ignored(_) | Want::Field(Field::Unknown) => {}
            Want::Field(Field::Id) => self.record.id = text,
            Want::Field(Field::Tool) => self.record.tool = text,
            Want::Field(Field::ErrMsg) => self.record.err_msg = text,
            _ => self.wrong("string"),
        }
    }

    fn ignores_text(&self) -> bool {
        matches!(self.at, Want::Ignored(_) | Want::Field(Field::Unknown))
    }

    fn begin_list(&mut self) {
        match &mut self.at {
            Want::Args(depth) => {
                *depth += 1;
                self.args.tree.begin_list();
            }
            Want::Ignored(depth) => *depth += 1,
            _ => self.ignore("array"),
        }
    }

    fn begin_object(&mut self) {
        match &mut self.at {
            Want::Args(depth) => {
                *depth += 1;
                self.args.tree.begin_object();
            }
            Want::Ignored(depth) => *depth += 1,
            Want::Field(Field::Args) => {
                self.args.open();
                self.at = Want::Args(0);
            }
            Want::Record if !self.inside => self.inside = true,
            _ => self.ignore("object"),
        }
    }

    fn name(&mut self, name: String) {
        match self.at {
            Want::Args(_) => self.args.tree.name(name),
            Want::Ignored(_) => {}
            _ => {
                self.at = Want::Field(
                    Field::KNOWN
                        .iter()
                        .find(|known| names(&name, known.0))
                        .map_or(Field::Unknown, |known| known.1),
                )
            }
        }
    }

    fn end_list(&mut self) {
        match &mut self.at {
            Want::Args(depth) => {
                *depth = depth.saturating_sub(1);
                self.args.tree.end_list();
            }
            Want::Ignored(1) => self.at = Want::Record,
            Want::Ignored(depth) => *depth -= 1,
            _ => {}
        }
    }

    fn end_object(&mut self) {
        match &mut self.at {
            // The arguments' own object stays open: another may be laid over it.
            Want::Args(0) => self.at = Want::Record,
            Want::Args(depth) => {
                *depth -= 1;
                self.args.tree.end_object();
            }
            Want::Ignored(1) => self.at = Want::Record,
            Want::Ignored(depth) => *depth -= 1,
            _ => {}
        }
    }
}

/// The same file with another `created_at`: only its digits change, everything else stays byte for byte. `None` if the
/// bytes are no record or have no such member with a number.
pub fn with_created_at(bytes: &[u8], created_at: i64) -> Option<Vec<u8>> {
    let record = ChipRecord::read(bytes).ok()?;
    let range = crate::span::number_of_member(bytes, "created_at")?;
    let mut out = bytes.get(..range.start)?.to_vec();
    out.extend_from_slice(created_at.to_string().as_bytes());
    out.extend_from_slice(bytes.get(range.end..)?);
    // Another spelling later in the file would win over the changed one.
    let changed = ChipRecord::read(&out).ok()?;
    (changed
        == ChipRecord {
            created_at,
            ..record
        })
    .then_some(out)
}
