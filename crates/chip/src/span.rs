//! Finds a number of a record in its bytes, to change it in place.

use crate::record::names;
use std::ops::Range;

/// Bytes of the last number literal of a member of the outermost object whose name means `field`. `bytes` must be valid
/// by the reader's rules; `None` if there is no such number.
pub(crate) fn number_of_member(bytes: &[u8], field: &str) -> Option<Range<usize>> {
    let mut depth = 0usize;
    let mut at = 0;
    let mut found = None;
    // The string just read, as a possible name at depth 1.
    let mut name: Option<bool> = None;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let start = at;
                at += 1;
                while let Some(&inner) = bytes.get(at) {
                    match inner {
                        b'\\' => at += 1,
                        b'"' => break,
                        _ => {}
                    }
                    at += 1;
                }
                if depth == 1 {
                    let literal = bytes.get(start..=at)?;
                    let text = crate::Json::parse(literal).ok()?;
                    name = text.value().text().map(|t| names(&t.to_str(), field));
                }
            }
            b',' => name = None,
            b'-' | b'0'..=b'9' => {
                let start = at;
                while matches!(
                    bytes.get(at + 1),
                    Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')
                ) {
                    at += 1;
                }
                if depth == 1 && name == Some(true) {
                    found = Some(start..at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}
