//! The catalogue as a table: which fields the payload of each type has, of which kind, and which of them it needs.
//! A form is made from it, and an edited payload is checked against it; the reader has the same rules in code, and a
//! test holds the two together.
//!
//! Left out: JSON itself, and what an event does.

use crate::Session;

/// What a field may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string, or a reference to a blob.
    Text,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A number without fraction or exponent.
    Integer,
    Number,
    Boolean,
    Object,
    List,
    /// A list of objects with these fields.
    ListOf(&'static [Field]),
    /// A list of edits: each `{old, new, all?}` or `{startLine, endLine, content}`.
    Edits,
    /// An object whose members are all strings.
    Texts,
    /// Any value but absent.
    Any,
}

impl Kind {
    /// For people and for the form.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Text => "string",
            Kind::OneOf(_) => "choice",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Object => "object",
            Kind::List | Kind::ListOf(_) => "list",
            Kind::Edits => "edits",
            Kind::Texts => "texts",
            Kind::Any => "any",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    /// A long text: the form gives it room.
    pub long: bool,
}

/// A rule over several fields of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    ExactlyOne(&'static [&'static str]),
    AtLeastOne(&'static [&'static str]),
}

/// One type of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSchema {
    pub name: &'static str,
    /// Highest version of the payload's shape that is known.
    pub version: u32,
    pub fields: &'static [Field],
    pub together: Option<Together>,
}

impl TypeSchema {
    /// The session that owns an event of this type which does not say so itself.
    pub fn session(&self) -> Session {
        let dialog = ["message.", "session."];
        if dialog.iter().any(|it| self.name.starts_with(it)) || self.name == "context.compact" {
            Session::Dialog
        } else {
            Session::Exec
        }
    }
}

const fn need(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        required: true,
        long: false,
    }
}

const fn may(name: &'static str, kind: Kind) -> Field {
    Field {
        required: false,
        ..need(name, kind)
    }
}

const fn long(field: Field) -> Field {
    Field {
        long: true,
        ..field
    }
}

const fn of(name: &'static str, fields: &'static [Field]) -> TypeSchema {
    TypeSchema {
        name,
        version: 1,
        fields,
        together: None,
    }
}

const STATUS: Kind = Kind::OneOf(&["ok", "error", "denied", "cancelled", "timeout"]);
const ZONE: Kind = Kind::OneOf(&["hot", "warm", "cold"]);
const CONTENT: &[Field] = &[long(need("content", Kind::Text))];

/// Every type, in the order of the format's table.
pub const CATALOGUE: &[TypeSchema] = &[
    of(
        "session.start",
        &[
            may("cwd", Kind::Text),
            may("agent", Kind::Text),
            may("model", Kind::Text),
        ],
    ),
    of("session.end", &[may("reason", Kind::Text)]),
    of("message.user", CONTENT),
    of("message.assistant", CONTENT),
    of("message.system", CONTENT),
    of(
        "message.toolResult",
        &[
            need("callId", Kind::Text),
            need("status", STATUS),
            long(may("content", Kind::Text)),
        ],
    ),
    of(
        "message.correction",
        &[
            need("corrects", Kind::Text),
            need("callId", Kind::Text),
            need("status", STATUS),
            long(may("content", Kind::Text)),
        ],
    ),
    of(
        "context.compact",
        &[
            need("through", Kind::Text),
            long(need("summary", Kind::Text)),
            may("tokensBefore", Kind::Integer),
            may("tokensAfter", Kind::Integer),
        ],
    ),
    of(
        "tool.call",
        &[need("toolName", Kind::Text), need("args", Kind::Any)],
    ),
    of(
        "tool.result",
        &[
            may("callId", Kind::Text),
            need("status", STATUS),
            may("result", Kind::Any),
            may("error", Kind::Any),
            may("durationMs", Kind::Integer),
        ],
    ),
    of(
        "file.create",
        &[need("path", Kind::Text), long(need("content", Kind::Text))],
    ),
    TypeSchema {
        together: Some(Together::ExactlyOne(&["content", "edits", "patch"])),
        ..of(
            "file.change",
            &[
                need("path", Kind::Text),
                long(may("content", Kind::Text)),
                may("edits", Kind::Edits),
                long(may("patch", Kind::Text)),
                may("beforeSha256", Kind::Text),
                may("afterSha256", Kind::Text),
            ],
        )
    },
    of("file.delete", &[need("path", Kind::Text)]),
    of(
        "file.rename",
        &[need("from", Kind::Text), need("to", Kind::Text)],
    ),
    TypeSchema {
        together: Some(Together::AtLeastOne(&["sha256", "content"])),
        ..of(
            "file.observe",
            &[
                need("path", Kind::Text),
                may("sha256", Kind::Text),
                long(may("content", Kind::Text)),
            ],
        )
    },
    of("chip.save", &[need("chip", Kind::Object)]),
    of(
        "chip.evict",
        &[need("id", Kind::Text), need("reason", Kind::Text)],
    ),
    of(
        "chip.insert",
        &[
            need("id", Kind::Text),
            need("path", Kind::Text),
            need("line", Kind::Integer),
        ],
    ),
    of(
        "memory.add",
        &[
            need("id", Kind::Text),
            need("zone", ZONE),
            may("role", Kind::Text),
            long(need("content", Kind::Text)),
            may("tokens", Kind::Integer),
            may("filePath", Kind::Text),
            may("lineRange", Kind::Any),
            may("tags", Kind::List),
        ],
    ),
    of(
        "memory.move",
        &[
            need("id", Kind::Text),
            need("to", ZONE),
            may("reason", Kind::Text),
            may("score", Kind::Number),
            long(may("content", Kind::Text)),
        ],
    ),
    of(
        "memory.remove",
        &[need("id", Kind::Text), may("reason", Kind::Text)],
    ),
    of("memory.restore", &[need("id", Kind::Text)]),
    of(
        "plan.create",
        &[
            need("planId", Kind::Text),
            long(need("task", Kind::Text)),
            need("plan", Kind::Object),
        ],
    ),
    of(
        "plan.review",
        &[
            need("planId", Kind::Text),
            need("decision", Kind::OneOf(&["approved", "rejected"])),
            long(may("note", Kind::Text)),
        ],
    ),
    of(
        "context.load",
        &[
            may("planId", Kind::Text),
            need(
                "segments",
                Kind::ListOf(&[
                    need("file", Kind::Text),
                    need("section", Kind::Text),
                    need("tokens", Kind::Integer),
                ]),
            ),
            need("tokens", Kind::Integer),
        ],
    ),
    of(
        "state.snapshot",
        &[need("state", Kind::Object), need("contents", Kind::Texts)],
    ),
    of(
        "restore.apply",
        &[
            need("restoreId", Kind::Text),
            need("kind", Kind::Text),
            need("path", Kind::Text),
            may("beforeSha256", Kind::Text),
            may("afterSha256", Kind::Text),
            may("undoOf", Kind::Text),
        ],
    ),
];

/// The table's row of a type; `None` for one that the catalogue does not have.
pub fn schema_of(type_name: &str) -> Option<&'static TypeSchema> {
    CATALOGUE.iter().find(|it| it.name == type_name)
}
