//! An agent's transcript many times over: every uuid and tool id is fresh in each copy, the rest stays.

use std::io::{self, BufWriter, Write};
use std::path::Path;

pub fn write(sample: &Path, out: &Path, size: u64) -> io::Result<()> {
    let text = std::fs::read_to_string(sample)?;
    let mut file = BufWriter::new(std::fs::File::create(out)?);
    let mut written = 0u64;
    let mut copy = 0u32;
    while written < size {
        let fresh = fresh(&text, copy);
        for line in fresh.lines() {
            file.write_all(line.as_bytes())?;
            file.write_all(b"\n")?;
            written += line.len() as u64 + 1;
            if written >= size {
                break;
            }
        }
        copy += 1;
    }
    file.flush()
}

/// The text with its uuids and `toolu_` ids changed by the number of the copy.
fn fresh(text: &str, copy: u32) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 50);
    let mut rest = text;
    while let Some(at) = rest.find(['-', '_']) {
        let (before, after) = rest.split_at(at);
        let head = before
            .len()
            .checked_sub(8)
            .and_then(|from| Some((before.get(..from)?, before.get(from..)?)));
        match head {
            Some((kept, first)) if is_uuid(first, after) => {
                let number =
                    u32::from_str_radix(first, 16).unwrap_or(0) ^ copy.wrapping_mul(0x9e37_79b9);
                out.push_str(kept);
                out.push_str(&format!("{number:08x}"));
                let (tail, more) = after.split_at(28);
                out.push_str(tail);
                rest = more;
            }
            _ if before.ends_with("toolu") => {
                out.push_str(before);
                out.push_str(&format!("_{copy:04}"));
                rest = after.get(1..).unwrap_or_default();
            }
            _ => {
                out.push_str(before);
                out.push_str(after.get(..1).unwrap_or_default());
                rest = after.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// Eight hex digits before, and `-4-4-4-12` after.
fn is_uuid(first: &str, after: &str) -> bool {
    let hex = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
    };
    let groups = [(0, 5), (5, 10), (10, 15), (15, 28)];
    hex(first)
        && groups.iter().all(|&(from, to)| {
            after
                .get(from..to)
                .and_then(|group| group.strip_prefix('-'))
                .is_some_and(hex)
        })
}

#[cfg(test)]
mod tests {
    use super::fresh;

    #[test]
    fn ids_are_fresh_and_the_rest_stays() {
        let text =
            r#"{"uuid":"0198a1b2-0000-4000-8000-0123456789ab","id":"toolu_01Ab","a-b_c":"é-1"}"#;
        assert_eq!(fresh(text, 0), text.replace("toolu_01Ab", "toolu_000001Ab"));
        let other = fresh(text, 1);
        assert_ne!(other, fresh(text, 2));
        assert_eq!(other.len(), text.len() + 4);
        assert!(other.ends_with(r#""a-b_c":"é-1"}"#));
    }
}
