//! An edited payload, or a record that is to come in, checked against the catalogue: each fault with the path of its
//! field, as a form shows it.

use chipdeck_event::schema::{schema_of, Field, Kind, Together};
use serde_json::{Map, Value};

/// Something wrong with a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PayloadFault {
    /// JSON pointer below the payload (or the record); empty for the whole.
    pub pointer: String,
    /// One sentence for people.
    pub message: String,
    /// `missing`, `kind`, `choice`, `together`.
    pub what: &'static str,
    /// What was expected: a kind's name, or the choices.
    pub expected: String,
}

/// The faults of a payload of that type at its newest version; none for a type that the catalogue does not have, as
/// long as the payload is an object.
pub fn payload_faults(type_name: &str, payload: &Value) -> Vec<PayloadFault> {
    let mut faults = Vec::new();
    let Some(object) = payload.as_object() else {
        faults.push(wrong("", Kind::Object));
        return faults;
    };
    let Some(schema) = schema_of(type_name) else {
        return faults;
    };
    fields(schema.fields, object, "", &mut faults);
    if let Some(together) = schema.together {
        let there = |names: &[&str]| names.iter().filter(|it| object.contains_key(**it)).count();
        let fault = match together {
            Together::ExactlyOne(names) if there(names) != 1 => Some(("exactly one of", names)),
            Together::AtLeastOne(names) if there(names) == 0 => Some(("at least one of", names)),
            _ => None,
        };
        if let Some((how, names)) = fault {
            let expected = names.join(", ");
            faults.push(PayloadFault {
                pointer: String::new(),
                message: format!("the payload needs {how} {expected}"),
                what: "together",
                expected,
            });
        }
    }
    if type_name == "chip.save" {
        let id = object.get("chip").and_then(Value::as_object);
        if id.is_some_and(|chip| !chip.get("id").is_some_and(Value::is_string)) {
            faults.push(wrong("/chip/id", Kind::Text));
        }
    }
    faults
}

/// The faults of a whole event: its envelope, then its payload (pointers begin with `/payload`).
pub fn event_faults(event: &Value) -> Vec<PayloadFault> {
    const ENVELOPE: &[Field] = &[
        field("eventId", Kind::Text, true),
        field("traceId", Kind::Text, true),
        field("parentEventId", Kind::Text, false),
        field("correlationId", Kind::Text, false),
        field("seq", Kind::Integer, false),
        field("session", Kind::OneOf(&["dialog", "exec"]), false),
        field("type", Kind::Text, true),
        field("timestamp", Kind::Integer, true),
        field("payload", Kind::Object, true),
        field("version", Kind::Integer, false),
    ];
    let mut faults = Vec::new();
    let Some(object) = event.as_object() else {
        return vec![wrong("", Kind::Object)];
    };
    fields(ENVELOPE, object, "", &mut faults);
    let type_name = object.get("type").and_then(Value::as_str);
    let version = object.get("version").and_then(Value::as_u64).unwrap_or(1);
    let known = type_name.and_then(schema_of);
    if let (Some(known), Some(payload)) = (known, object.get("payload").filter(|it| it.is_object()))
    {
        if version == u64::from(known.version) {
            for mut fault in payload_faults(known.name, payload) {
                fault.pointer = format!("/payload{}", fault.pointer);
                faults.push(fault);
            }
        }
    }
    faults
}

const fn field(name: &'static str, kind: Kind, required: bool) -> Field {
    Field {
        name,
        kind,
        required,
        long: false,
    }
}

fn fields(fields: &[Field], object: &Map<String, Value>, at: &str, faults: &mut Vec<PayloadFault>) {
    for field in fields {
        let pointer = format!("{at}/{}", field.name);
        match object.get(field.name) {
            Some(value) => kind(field.kind, value, &pointer, faults),
            None if field.required => faults.push(PayloadFault {
                message: format!("{pointer} is missing"),
                pointer,
                what: "missing",
                expected: field.kind.name().to_owned(),
            }),
            None => {}
        }
    }
}

fn kind(kind: Kind, value: &Value, pointer: &str, faults: &mut Vec<PayloadFault>) {
    let sound = match kind {
        Kind::Text => is_text(value),
        Kind::OneOf(choices) => {
            let Some(text) = value.as_str() else {
                return faults.push(wrong(pointer, kind));
            };
            if !choices.contains(&text) {
                let expected = choices.join(", ");
                faults.push(PayloadFault {
                    pointer: pointer.to_owned(),
                    message: format!("{pointer} is none of {expected}"),
                    what: "choice",
                    expected,
                });
            }
            true
        }
        Kind::Integer => value.is_i64() || value.is_u64(),
        Kind::Number => value.is_number(),
        Kind::Boolean => value.is_boolean(),
        Kind::Object => value.is_object(),
        Kind::List | Kind::ListOf(_) | Kind::Edits => value.is_array(),
        Kind::Texts => value.is_object(),
        Kind::Any => true,
    };
    if !sound {
        return faults.push(wrong(pointer, kind));
    }
    let items = value.as_array().into_iter().flatten().enumerate();
    match kind {
        Kind::ListOf(wanted) => {
            for (at, item) in items {
                let pointer = format!("{pointer}/{at}");
                match item.as_object() {
                    Some(object) => fields(wanted, object, &pointer, faults),
                    None => faults.push(wrong(&pointer, Kind::Object)),
                }
            }
        }
        Kind::Edits => {
            for (at, item) in items {
                edit(item, &format!("{pointer}/{at}"), faults);
            }
        }
        Kind::Texts => {
            for (name, value) in value.as_object().into_iter().flatten() {
                if !is_text(value) {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    faults.push(wrong(&format!("{pointer}/{name}"), Kind::Text));
                }
            }
        }
        _ => {}
    }
}

fn edit(item: &Value, pointer: &str, faults: &mut Vec<PayloadFault>) {
    const REPLACE: &[Field] = &[
        field("old", Kind::Text, true),
        field("new", Kind::Text, true),
        field("all", Kind::Boolean, false),
    ];
    const LINES: &[Field] = &[
        field("startLine", Kind::Integer, true),
        field("endLine", Kind::Integer, true),
        field("content", Kind::Text, true),
    ];
    let Some(object) = item.as_object() else {
        return faults.push(wrong(pointer, Kind::Object));
    };
    let of = |form: &[Field]| form.iter().any(|it| object.contains_key(it.name));
    let form = if of(REPLACE) || !of(LINES) {
        REPLACE
    } else {
        LINES
    };
    fields(form, object, pointer, faults);
}

/// A string, or a reference to a blob.
fn is_text(value: &Value) -> bool {
    let blob = || {
        let reference = value.get("$blob").and_then(Value::as_str);
        reference.is_some_and(|it| it.starts_with("sha256:") && it.len() == 71)
    };
    value.is_string() || blob()
}

fn wrong(pointer: &str, kind: Kind) -> PayloadFault {
    let name = if pointer.is_empty() {
        "the value"
    } else {
        pointer
    };
    PayloadFault {
        pointer: pointer.to_owned(),
        message: format!("{name} is no {}", kind.name()),
        what: "kind",
        expected: kind.name().to_owned(),
    }
}
