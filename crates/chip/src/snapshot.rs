//! The edit snapshot: what `snapshot-<id>.json` holds, one file for each successful edit of a server.
//!
//! Left out: the queue of edit snapshots and its transactions (the server side).

use crate::json::{read_from, write_string, Fault, Json, Sink, Text, TypeFault, Writer};
use crate::record::{integer, names, Args};
use std::io::Read;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SnapshotRecord {
    pub id: String,
    /// `be-insert`, `be-replace`, `be-delete`, `be-write`.
    pub tool: String,
    /// Path as given to the tool, cleaned; a relative one counts from the server's working folder.
    pub file: String,
    pub before: Side,
    pub after: Side,
    /// Always an object; `None` is left out when written.
    pub args: Option<Json>,
    pub summary: String,
    /// Unix seconds.
    pub created_at: i64,
}

/// The whole file on one side of the edit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    pub start: i64,
    pub end: i64,
    /// Rewritten lines, endings included. `None` is `null`, not the same as an empty list.
    pub lines: Option<Vec<Text>>,
}

impl Side {
    /// All lines joined.
    pub fn text(&self) -> Vec<u8> {
        self.lines()
            .iter()
            .flat_map(|l| l.as_bytes())
            .copied()
            .collect()
    }

    pub fn lines(&self) -> &[Text] {
        self.lines.as_deref().unwrap_or_default()
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.out.push(b'{');
        w.name(2, true, "start");
        w.integer(self.start);
        w.name(2, false, "end");
        w.integer(self.end);
        w.name(2, false, "lines");
        match &self.lines {
            None => w.out.extend_from_slice(b"null"),
            Some(lines) if lines.is_empty() => w.out.extend_from_slice(b"[]"),
            Some(lines) => {
                for (index, line) in lines.iter().enumerate() {
                    w.out.push(if index == 0 { b'[' } else { b',' });
                    w.line(3);
                    write_string(line.as_bytes(), w.out);
                }
                w.line(2);
                w.out.push(b']');
            }
        }
        w.line(1);
        w.out.push(b'}');
    }
}

impl SnapshotRecord {
    /// Reads an edit snapshot as the server's loader does.
    pub fn read(bytes: &[u8]) -> Result<SnapshotRecord, Fault> {
        SnapshotRecord::read_from(bytes)
    }

    pub fn read_from(input: impl Read) -> Result<SnapshotRecord, Fault> {
        let mut sink = Reading::default();
        read_from(input, &mut sink)?;
        sink.record()
    }

    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let mut out = b"{".to_vec();
        let mut w = Writer { out: &mut out };
        for (first, name, text) in [
            (true, "id", &self.id),
            (false, "tool", &self.tool),
            (false, "file", &self.file),
        ] {
            w.name(1, first, name);
            write_string(text.as_bytes(), w.out);
        }
        w.name(1, false, "before");
        self.before.write(&mut w);
        w.name(1, false, "after");
        self.after.write(&mut w);
        if let Some(args) = &self.args {
            if !matches!(args.value().kind(), crate::Kind::Object(o) if o.is_empty()) {
                w.name(1, false, "args");
                w.args(1, Some(args));
            }
        }
        w.name(1, false, "summary");
        write_string(self.summary.as_bytes(), w.out);
        w.name(1, false, "created_at");
        w.integer(self.created_at);
        w.line(0);
        out.push(b'}');
        out
    }

    fn argument(&self, name: &str) -> Option<usize> {
        let x = self.args.as_ref()?.get(name)?.number()?;
        // Line numbers are far below a float's whole range; anything else is no line.
        (x >= 0.0 && x.fract() == 0.0 && x < 9e15).then_some(x as usize)
    }

    /// First removed line (from 1) and the lines that a `be-delete` took out.
    pub fn removed(&self) -> Option<(usize, &[Text])> {
        if self.tool != "be-delete" {
            return None;
        }
        let (start, end) = (self.argument("start")?, self.argument("end")?);
        let lines = self.before.lines().get(start.checked_sub(1)?..end)?;
        Some((start, lines))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Before,
    After,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    Tool,
    File,
    Side(Which),
    Args,
    Summary,
    CreatedAt,
    Start(Which),
    End(Which),
    Lines(Which),
    Unknown,
}

const MEMBERS: [(&str, Field); 8] = [
    ("id", Field::Id),
    ("tool", Field::Tool),
    ("file", Field::File),
    ("before", Field::Side(Which::Before)),
    ("after", Field::Side(Which::After)),
    ("args", Field::Args),
    ("summary", Field::Summary),
    ("created_at", Field::CreatedAt),
];

impl Field {
    /// Go's name and type, for messages.
    fn described(self) -> (&'static str, &'static str) {
        match self {
            Field::Id => ("id", "string"),
            Field::Tool => ("tool", "string"),
            Field::File => ("file", "string"),
            Field::Side(Which::Before) => ("before", "betools.SnapshotRange"),
            Field::Side(Which::After) => ("after", "betools.SnapshotRange"),
            Field::Args => ("args", "map[string]interface {}"),
            Field::Summary => ("summary", "string"),
            Field::CreatedAt => ("created_at", "int64"),
            Field::Start(_) => ("start", "int"),
            Field::End(_) => ("end", "int"),
            Field::Lines(_) => ("lines", "[]string"),
            Field::Unknown => ("", ""),
        }
    }
}

/// An object or list that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Record,
    Side(Which),
    /// The index of the next line.
    Lines(Which, usize),
    /// So deep inside a value that doesn't count.
    Ignored(usize),
    /// So deep below the arguments' object.
    Args(usize),
}

#[derive(Default)]
struct Reading {
    record: SnapshotRecord,
    args: Args,
    open: Vec<Open>,
    /// The member whose value comes next.
    field: Option<Field>,
    fault: Option<TypeFault>,
}

/// What the next value is.
#[derive(Clone, Copy)]
enum Next {
    Root,
    Member(Field),
    Line(Which, usize),
    Ignored,
    Args,
}

impl Reading {
    fn record(mut self) -> Result<SnapshotRecord, Fault> {
        if let Some(fault) = self.fault {
            return Err(fault.into());
        }
        if let Some(mut fault) = self.args.tree.fault.take() {
            fault.place = "struct field SnapshotRecord.args of type float64".into();
            return Err(fault.into());
        }
        self.record.args = self.args.finish();
        Ok(self.record)
    }

    fn side(&mut self, which: Which) -> &mut Side {
        match which {
            Which::Before => &mut self.record.before,
            Which::After => &mut self.record.after,
        }
    }

    /// Takes the place of the next value.
    fn next(&mut self) -> Next {
        match self.open.last_mut() {
            None => Next::Root,
            Some(Open::Ignored(_)) => Next::Ignored,
            Some(Open::Args(_)) => Next::Args,
            Some(Open::Lines(which, index)) => {
                *index += 1;
                Next::Line(*which, *index - 1)
            }
            Some(Open::Record | Open::Side(_)) => {
                Next::Member(self.field.take().unwrap_or(Field::Unknown))
            }
        }
    }

    fn wrong(&mut self, next: Next, found: impl Into<String>) {
        let place = match next {
            Next::Member(Field::Unknown) | Next::Ignored | Next::Args => return,
            Next::Root => "value of type betools.SnapshotRecord".into(),
            Next::Line(..) => "struct field SnapshotRecord.lines of type string".into(),
            Next::Member(field) => {
                let (name, kind) = field.described();
                format!("struct field SnapshotRecord.{name} of type {kind}")
            }
        };
        self.fault.get_or_insert(TypeFault {
            found: found.into(),
            place,
        });
    }

    fn line(&mut self, which: Which, index: usize, text: Option<String>) {
        let lines = self.side(which).lines.get_or_insert_default();
        if index >= lines.len() {
            lines.push(Text::default());
        }
        // A null leaves what an earlier list had there.
        if let (Some(line), Some(text)) = (lines.get_mut(index), text) {
            *line = text.into();
        }
    }

    fn end(&mut self) {
        match self.open.last_mut() {
            Some(Open::Ignored(depth)) if *depth > 0 => *depth -= 1,
            Some(Open::Lines(which, length)) => {
                let (which, length) = (*which, *length);
                self.side(which)
                    .lines
                    .get_or_insert_default()
                    .truncate(length);
                self.open.pop();
            }
            _ => {
                self.open.pop();
            }
        }
    }
}

impl Sink for Reading {
    fn null(&mut self) {
        match self.next() {
            Next::Args => self.args.tree.null(),
            Next::Member(Field::Args) => self.args.null(),
            Next::Member(Field::Lines(which)) => self.side(which).lines = None,
            Next::Line(which, index) => self.line(which, index, None),
            _ => {}
        }
    }

    fn bool(&mut self, b: bool) {
        match self.next() {
            Next::Args => self.args.tree.bool(b),
            next => self.wrong(next, "bool"),
        }
    }

    fn number(&mut self, literal: &str) {
        let next = self.next();
        let whole = integer(literal);
        match (next, whole) {
            (Next::Args, _) => self.args.tree.number(literal),
            (Next::Member(Field::CreatedAt), Some(n)) => self.record.created_at = n,
            (Next::Member(Field::Start(which)), Some(n)) => self.side(which).start = n,
            (Next::Member(Field::End(which)), Some(n)) => self.side(which).end = n,
            (Next::Member(Field::CreatedAt | Field::Start(_) | Field::End(_)), None) => {
                self.wrong(next, format!("number {literal}"))
            }
            _ => self.wrong(next, "number"),
        }
    }

    fn text(&mut self, text: String) {
        match self.next() {
            Next::Args => self.args.tree.text(text),
            Next::Member(Field::Id) => self.record.id = text,
            Next::Member(Field::Tool) => self.record.tool = text,
            Next::Member(Field::File) => self.record.file = text,
            Next::Member(Field::Summary) => self.record.summary = text,
            Next::Line(which, index) => self.line(which, index, Some(text)),
            next => self.wrong(next, "string"),
        }
    }

    fn ignores_text(&self) -> bool {
        match self.open.last() {
            Some(Open::Ignored(_)) => true,
            Some(Open::Record | Open::Side(_)) => self.field == Some(Field::Unknown),
            _ => false,
        }
    }

    fn begin_list(&mut self) {
        match self.open.last_mut() {
            Some(Open::Args(depth)) => {
                *depth += 1;
                self.args.tree.begin_list();
                return;
            }
            Some(Open::Ignored(depth)) => {
                *depth += 1;
                return;
            }
            _ => {}
        }
        match self.next() {
            Next::Member(Field::Lines(which)) => {
                self.side(which).lines.get_or_insert_default();
                self.open.push(Open::Lines(which, 0));
            }
            next => {
                self.wrong(next, "array");
                self.open.push(Open::Ignored(0));
            }
        }
    }

    fn begin_object(&mut self) {
        match self.open.last_mut() {
            Some(Open::Args(depth)) => {
                *depth += 1;
                self.args.tree.begin_object();
                return;
            }
            Some(Open::Ignored(depth)) => {
                *depth += 1;
                return;
            }
            _ => {}
        }
        let next = self.next();
        let open = match next {
            Next::Root => Open::Record,
            Next::Member(Field::Side(which)) => Open::Side(which),
            Next::Member(Field::Args) => {
                self.args.open();
                Open::Args(0)
            }
            next => {
                self.wrong(next, "object");
                Open::Ignored(0)
            }
        };
        self.open.push(open);
    }

    fn name(&mut self, name: String) {
        self.field = match self.open.last().copied() {
            Some(Open::Args(_)) => {
                self.args.tree.name(name);
                None
            }
            Some(Open::Record) => MEMBERS
                .iter()
                .find(|member| names(&name, member.0))
                .map(|member| member.1)
                .or(Some(Field::Unknown)),
            Some(Open::Side(which)) => Some(if names(&name, "start") {
                Field::Start(which)
            } else if names(&name, "end") {
                Field::End(which)
            } else if names(&name, "lines") {
                Field::Lines(which)
            } else {
                Field::Unknown
            }),
            _ => None,
        };
    }

    fn end_list(&mut self) {
        match self.open.last_mut() {
            Some(Open::Args(depth)) => {
                *depth = depth.saturating_sub(1);
                self.args.tree.end_list();
            }
            _ => self.end(),
        }
    }

    fn end_object(&mut self) {
        match self.open.last_mut() {
            // The arguments' own object stays open: another may be laid over it.
            Some(Open::Args(depth)) if *depth > 0 => {
                *depth -= 1;
                self.args.tree.end_object();
            }
            _ => self.end(),
        }
    }
}
