//! A text in double quotes as Go's `%q` prints it: the tool's name in the header of an inserted chip.

use crate::printable::is_printable;
use std::fmt::Write;

pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if is_printable(c) => out.push(c),
            c => {
                let code = u32::from(c);
                // Writing to a string can't fail.
                let _ = match code {
                    0..=0x1f | 0x7f => write!(out, "\\x{code:02x}"),
                    0x80..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}
