//! Texts of a log for people: heads of long ones without reading all of them, one line, slices.

use chipdeck_event::{Json, Text};
use chipdeck_ingest::{load_json, load_text, Source};
use std::sync::Arc;

/// The first bytes of a text, at most `most`, and whether there is more. `None`: its blob is missing, or the log no
/// longer has it.
pub fn head(text: &Text, source: &dyn Source, most: usize) -> Option<(String, bool)> {
    if let Text::Span(span) = text {
        // Escapes make a literal up to six times as long as its text.
        let enough = most.saturating_mul(6).saturating_add(2);
        if span.len as usize > enough {
            let raw = source.read_at(span.file, span.offset, enough).ok()?;
            let plain = crate::filter::unescaped(raw.strip_prefix(b"\"")?);
            let text = String::from_utf8_lossy(&plain).into_owned();
            return Some((cut(&text, most).to_owned(), true));
        }
    }
    let whole = load_text(text, source)?;
    let head = cut(&whole, most);
    Some((head.to_owned(), head.len() < whole.len()))
}

/// The first bytes of a JSON value's text.
pub fn json_head(json: &Json, source: &dyn Source, most: usize) -> Option<Arc<str>> {
    match json {
        Json::Span(span) if span.len as usize > most => {
            let raw = source.read_at(span.file, span.offset, most).ok()?;
            Some(String::from_utf8_lossy(&raw).into())
        }
        _ => load_json(json, source),
    }
}

/// The longest start of at most `most` bytes that cuts no character.
pub fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// One line of at most `most` characters: blanks and line ends joined, control characters gone.
pub fn one_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            blank = !out.is_empty();
            continue;
        }
        if count + usize::from(blank) >= most {
            out.push('…');
            break;
        }
        if std::mem::take(&mut blank) {
            out.push(' ');
            count += 1;
        }
        out.push(c);
        count += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use chipdeck_event::Span;
    use chipdeck_ingest::MemorySource;

    #[test]
    fn heads_cut_no_character_and_no_escape() {
        let text = "é\n😀".repeat(3000);
        let literal = serde_json::to_string(&text)
            .unwrap()
            .replace('é', "\\u00e9")
            .replace('😀', "\\ud83d\\ude00");
        let source = MemorySource::single("a", literal.as_bytes().to_vec());
        let span = Text::Span(Span {
            file: 0,
            offset: 0,
            len: literal.len() as u32,
        });
        for most in 0..40 {
            let (head, more) = head(&span, &source, most).unwrap();
            assert!(
                more && text.starts_with(&head) && head.len() <= most && head.len() + 4 > most,
                "{most} {head:?}"
            );
        }
        assert_eq!(head(&span, &source, 1 << 20).unwrap(), (text, false));
        assert_eq!(head(&Text::Missing, &source, 10), None);
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("  a\r\n\tb \u{1b}[31m c ", 20), "a b [31m c");
        assert_eq!(one_line("abcdef", 3), "abc…");
        assert_eq!(one_line("ab cdef", 3), "ab…");
        assert_eq!(one_line("", 3), "");
    }
}
