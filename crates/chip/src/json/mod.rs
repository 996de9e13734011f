//! JSON as Go's `encoding/json` reads and writes it. Iterative throughout: 10,000 levels cost no stack, neither when
//! read nor when written, copied or dropped.
//!
//! Left out: integers beyond a float's precision (the server loses them too), streaming output.

mod number;
mod read;
mod tree;
mod write;

pub use read::{decode_text, Fault, Sink, TypeFault, MAX_LEVELS};
pub use tree::{Builder, Json, Kind, List, Object, Text, Value};

pub(crate) use read::read_from;
pub(crate) use write::{write_pretty, write_string, Writer};

impl Json {
    /// Reads a value by the reader's rules; a number must stay finite.
    pub fn parse(bytes: &[u8]) -> Result<Json, Fault> {
        Json::parse_from(bytes)
    }

    pub fn parse_from(input: impl std::io::Read) -> Result<Json, Fault> {
        let mut sink = Tree::default();
        read_from(input, &mut sink)?;
        match sink.fault {
            Some(fault) => Err(fault.into()),
            None => Ok(sink.builder.finish()),
        }
    }
}

/// Keeps everything.
#[derive(Default)]
pub(crate) struct Tree {
    pub builder: Builder,
    /// The first number that is no finite float; `place` is filled in by who knows it.
    pub fault: Option<TypeFault>,
}

impl Sink for Tree {
    fn null(&mut self) {
        self.builder.null();
    }
    fn bool(&mut self, b: bool) {
        self.builder.bool(b);
    }
    fn number(&mut self, literal: &str) {
        match literal.parse::<f64>() {
            Ok(x) if x.is_finite() => self.builder.number(x),
            _ => {
                self.builder.null();
                self.fault.get_or_insert_with(|| TypeFault {
                    found: format!("number {literal}"),
                    place: "value of type float64".into(),
                });
            }
        }
    }
    fn text(&mut self, text: String) {
        self.builder.text(text);
    }
    fn begin_list(&mut self) {
        self.builder.begin_list();
    }
    fn end_list(&mut self) {
        self.builder.end_list();
    }
    fn begin_object(&mut self) {
        self.builder.begin_object();
    }
    fn name(&mut self, name: String) {
        self.builder.name(name);
    }
    fn end_object(&mut self) {
        self.builder.end_object();
    }
}
