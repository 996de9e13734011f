//! One line about a chip for a list, and where its arguments point.

use crate::{ChipRecord, Kind, Text, Value};

/// Longest summary, in characters.
const LONGEST: usize = 160;

/// The first line of what was lost that says something, else the arguments in short. One line, no control characters.
pub fn summary(record: &ChipRecord) -> String {
    if let Some(content) = record.content() {
        let (first, lines) = first_line(content);
        let more = match lines {
            0 | 1 => String::new(),
            n => format!(" (+{} lines)", n - 1),
        };
        return clipped(&first, LONGEST - more.chars().count()) + &more;
    }
    match record.args.as_ref().map(|args| args.value()) {
        None => String::new(),
        Some(args) => clipped(&short(args), LONGEST),
    }
}

/// The first line with something visible in it, and the number of lines.
fn first_line(content: &Text) -> (String, usize) {
    let text = content.as_bytes();
    let lines = crate::Lines::cut(text);
    let first = lines
        .pieces
        .iter()
        .find(|piece| !piece.trim_ascii().is_empty())
        .map(|piece| piece.get(..piece.len().min(LONGEST * 4)).unwrap_or(piece))
        .map(|piece| crate::decode_text(piece).trim().to_owned())
        .unwrap_or_default();
    (first, lines.len())
}

/// The arguments in one line, cut early: deep or huge values cost nothing.
fn short(args: Value<'_>) -> String {
    let Kind::Object(object) = args.kind() else {
        return String::new();
    };
    let mut out = String::new();
    for (name, value) in object.iter() {
        if out.len() > LONGEST * 4 {
            break;
        }
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(&clipped(name, 40));
        out.push_str(": ");
        match value.kind() {
            Kind::Null => out.push_str("null"),
            Kind::Bool(b) => out.push_str(if b { "true" } else { "false" }),
            Kind::Number(x) => out.push_str(&x.to_string()),
            Kind::Text(text) => {
                let bytes = text.as_bytes();
                let head = bytes.get(..bytes.len().min(LONGEST * 4)).unwrap_or(bytes);
                out.push_str(&clipped(&crate::decode_text(head), 80));
            }
            Kind::List(list) => out.push_str(&format!("[{}]", list.len())),
            Kind::Object(object) => out.push_str(&format!("{{{}}}", object.len())),
        }
    }
    out
}

fn clipped(text: &str, most: usize) -> String {
    let mut out: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(most)
        .collect();
    if text.chars().nth(most).is_some() {
        out.pop();
        out.push('…');
    }
    out
}

/// Where the arguments of a failed call point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentTarget {
    /// As written.
    pub path: String,
    /// Insert after this line: for `path:n` of an insert n, for the lines `a-b` of a replace or delete a - 1.
    pub line: Option<u64>,
}

/// `file` of the arguments (`to` of an insertion of a chip), with the line that its tool puts after the last colon.
pub fn target_argument(record: &ChipRecord) -> Option<ArgumentTarget> {
    if record.deleted().is_some() {
        return None;
    }
    if record.tool == "be-insert-chip" {
        let to = record.argument("to")?.text()?.to_str().into_owned();
        let (path, line) = crate::parse_target(&to).ok()?;
        return Some(ArgumentTarget {
            path: path.into(),
            line: u64::try_from(line).ok(),
        });
    }
    let file = record.argument("file")?.text()?.to_str().into_owned();
    if file.is_empty() {
        return None;
    }
    let split = match record.tool.as_str() {
        "be-replace" | "be-delete" => file.rsplit_once(':').and_then(|(path, lines)| {
            if lines == "ALL" {
                return Some((path, 0));
            }
            let first = lines.split_once('-').map_or(lines, |(first, _)| first);
            Some((path, first.parse::<u64>().ok()?.saturating_sub(1)))
        }),
        "be-insert" => file
            .rsplit_once(':')
            .and_then(|(path, line)| Some((path, line.parse::<u64>().ok()?))),
        _ => None,
    };
    Some(match split {
        Some((path, line)) if !path.is_empty() => ArgumentTarget {
            path: path.into(),
            line: Some(line),
        },
        _ => ArgumentTarget {
            path: file,
            line: None,
        },
    })
}
