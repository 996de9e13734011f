//! The bytes that a chip server writes: chips and edit snapshots, names sorted, two spaces a level.

use serde_json::{json, Value};

/// Pretty JSON below a member at the first level, as the server escapes it.
fn member(name: &str, value: &Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    format!("  \"{name}\": {}", escaped(&pretty).replace('\n', "\n  "))
}

/// Outside strings none of these can stand, so the whole text may be treated alike.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

fn object(members: &[String]) -> String {
    format!("{{\n{}\n}}", members.join(",\n"))
}

#[derive(Clone)]
pub struct Chip {
    pub id: String,
    pub tool: String,
    pub args: Value,
    pub error: Option<String>,
    /// Unix seconds.
    pub created: i64,
}

impl Chip {
    pub fn bytes(&self) -> String {
        let mut members = vec![
            member("id", &json!(self.id)),
            member("tool", &json!(self.tool)),
            member("args", &self.args),
        ];
        if let Some(error) = &self.error {
            members.push(member("err_msg", &json!(error)));
        }
        members.push(member("created_at", &json!(self.created)));
        object(&members)
    }

    pub fn value(&self) -> Value {
        serde_json::from_str(&self.bytes()).unwrap_or_default()
    }

    /// The server saves a failed call only when its arguments are longer than this, as compact JSON.
    pub fn worth_saving(args: &Value) -> bool {
        escaped(&args.to_string()).len() > 50
    }
}

pub struct EditSnapshot {
    pub id: String,
    pub tool: &'static str,
    pub file: String,
    pub before: String,
    pub after: String,
    pub args: Value,
    pub summary: String,
    pub created: i64,
}

impl EditSnapshot {
    pub fn bytes(&self) -> String {
        object(&[
            member("id", &json!(self.id)),
            member("tool", &json!(self.tool)),
            member("file", &json!(self.file)),
            side("before", &self.before),
            side("after", &self.after),
            member("args", &self.args),
            member("summary", &json!(self.summary)),
            member("created_at", &json!(self.created)),
        ])
    }
}

/// `start`, `end`, `lines`, in this order.
fn side(name: &str, text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let list = match lines.is_empty() {
        true => "null".into(),
        false => escaped(&serde_json::to_string_pretty(&lines).unwrap_or_default())
            .replace('\n', "\n    "),
    };
    format!(
        "  \"{name}\": {{\n    \"start\": 1,\n    \"end\": {},\n    \"lines\": {list}\n  }}",
        lines.len()
    )
}
