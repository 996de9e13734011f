//! JSON string literals: where they end, what they say. Sixteen bytes at a time where it can be done.

/// Bytes that are looked at together.
const BLOCK: usize = 16;

const ONES: u128 = u128::from_le_bytes([1; BLOCK]);
const HIGHS: u128 = u128::from_le_bytes([0x80; BLOCK]);
const BACKSLASH: u128 = u128::from_le_bytes([b'\\'; BLOCK]);
const QUOTE: u128 = u128::from_le_bytes([b'"'; BLOCK]);

/// A bit in each byte of the block that is the wanted one; only the lowest bit is sure.
fn hits(block: u128, wanted: u128) -> u128 {
    let zero = block ^ wanted;
    zero.wrapping_sub(ONES) & !zero & HIGHS
}

/// The first quote or backslash at or after `at`.
pub(super) fn plain_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut at = at;
    // Most strings are short: looking for the widest way to go through them takes longer than going.
    for _ in 0..3 {
        let Some(block) = bytes.get(at..)?.first_chunk::<BLOCK>() else {
            break;
        };
        let block = u128::from_le_bytes(*block);
        let found = hits(block, QUOTE) | hits(block, BACKSLASH);
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += BLOCK;
    }
    Some(at + memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?)
}

/// The text of a JSON string literal without its quotes. Total: what is no escape stays, a lone surrogate becomes
/// U+FFFD.
pub(crate) fn decode(inner: &str) -> String {
    let bytes = inner.as_bytes();
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len() + BLOCK);
    let mut at = 0;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let found = hits(u128::from_le_bytes(*block), BACKSLASH);
        out.extend_from_slice(block);
        if found == 0 {
            at += BLOCK;
            continue;
        }
        let plain = found.trailing_zeros() as usize / 8;
        out.truncate(out.len() - BLOCK + plain);
        at += plain;
        match short(bytes, at) {
            Some(byte) => {
                out.push(byte);
                at += 2;
            }
            None => at = long(inner, at, &mut out),
        }
    }
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
        out.extend_from_slice(rest.get(..plain).unwrap_or_default());
        at += plain;
        match short(bytes, at) {
            Some(byte) => {
                out.push(byte);
                at += 2;
            }
            None if at < bytes.len() => at = long(inner, at, &mut out),
            None => {}
        }
    }
    // Whole letters went in.
    String::from_utf8(out).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into())
}

/// What the byte after a backslash stands for; `None` for a `\u` and at the end.
#[inline(always)]
fn short(bytes: &[u8], at: usize) -> Option<u8> {
    Some(match bytes.get(at + 1)? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'u' => return None,
        // Also the first byte of a longer letter: the others follow by themselves.
        &other => other,
    })
}

/// The escape at `at` that is not a short one; gives the byte after it.
fn long(inner: &str, at: usize, out: &mut Vec<u8>) -> usize {
    if inner.len() <= at + 1 {
        return at + 1;
    }
    let (letter, used) = letter(inner.get(at + 2..).unwrap_or_default());
    out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    at + 2 + used
}

/// The letter of an escape, and the bytes that it takes of what stands after its `\u`.
fn letter(tail: &str) -> (char, usize) {
    const LOST: char = char::REPLACEMENT_CHARACTER;
    let Some(first) = unit(tail) else {
        return (LOST, 0);
    };
    if let 0xD800..=0xDBFF = first {
        let low = tail
            .get(4..)
            .and_then(|rest| rest.strip_prefix("\\u"))
            .and_then(unit);
        if let Some(low @ 0xDC00..=0xDFFF) = low {
            let wide = 0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00);
            return (char::from_u32(wide).unwrap_or(LOST), 10);
        }
    }
    (char::from_u32(first).unwrap_or(LOST), 4)
}

fn unit(text: &str) -> Option<u32> {
    u32::from_str_radix(text.get(..4)?, 16).ok()
}

/// Is the literal, given without its quotes, this text? As [`decode`] and a comparison, without making the text.
pub(crate) fn spells(inner: &str, text: &str) -> bool {
    // An escape is never shorter than what it stands for, but for the half of a lone surrogate that is cut.
    if inner.len() < text.len() / 2 {
        return false;
    }
    let (bytes, wanted) = (inner.as_bytes(), text.as_bytes());
    let (mut at, mut told) = (0, 0);
    let mut said = Vec::with_capacity(4);
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let left = wanted.get(told..).unwrap_or_default();
        let plain = match (rest.first_chunk::<BLOCK>(), left.first_chunk::<BLOCK>()) {
            (Some(block), Some(same)) => {
                let found = hits(u128::from_le_bytes(*block), BACKSLASH);
                if found == 0 {
                    if block != same {
                        return false;
                    }
                    at += BLOCK;
                    told += BLOCK;
                    continue;
                }
                found.trailing_zeros() as usize / 8
            }
            _ => memchr::memchr(b'\\', rest).unwrap_or(rest.len()),
        };
        if rest.get(..plain) != left.get(..plain) {
            return false;
        }
        at += plain;
        told += plain;
        if at >= bytes.len() {
            continue;
        }
        if let Some(byte) = short(bytes, at) {
            if wanted.get(told) != Some(&byte) {
                return false;
            }
            at += 2;
            told += 1;
        } else {
            said.clear();
            at = long(inner, at, &mut said);
            if !wanted
                .get(told..)
                .is_some_and(|left| left.starts_with(&said))
            {
                return false;
            }
            told += said.len();
        }
    }
    told == wanted.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Byte by byte, as the format of JSON says it.
    fn slow(inner: &str) -> String {
        let mut out = String::new();
        let mut rest = inner;
        while let Some(first) = rest.chars().next() {
            rest = &rest[first.len_utf8()..];
            if first != '\\' {
                out.push(first);
                continue;
            }
            let Some(kind) = rest.chars().next() else {
                break;
            };
            rest = &rest[kind.len_utf8()..];
            out.push(match kind {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => {
                    let (letter, used) = letter(rest);
                    rest = &rest[used..];
                    letter
                }
                other => other,
            });
        }
        out
    }

    #[test]
    fn escapes_and_what_is_none() {
        for (inner, text) in [
            ("", ""),
            ("plain", "plain"),
            (r"a\nb\tc\\d\u0041", "a\nb\tc\\dA"),
            (
                r"\ud83d\ude00 \ud83d lone \ude00",
                "😀 \u{fffd} lone \u{fffd}",
            ),
            (r"\u12", "\u{fffd}12"),
            (r"odd \é escape and an end \", "odd é escape and an end "),
            (
                r"0123456789abcde\n0123456789abcdef\n",
                "0123456789abcde\n0123456789abcdef\n",
            ),
        ] {
            assert_eq!(decode(inner), text, "{inner}");
            assert!(spells(inner, text), "{inner}");
            assert!(!spells(inner, &format!("{text}x")), "{inner}");
        }
        assert!(!spells("abc", "abd") && !spells("abc", "ab"));
    }

    proptest! {
        #[test]
        fn quick_is_slow(pieces in prop::collection::vec(
            prop_oneof!["[a-zé你]{0,40}", Just("\\n".to_owned()), Just("\\".to_owned()), Just("\\\"".to_owned()),
                Just("\\u00e9".to_owned()), Just("\\ud83d".to_owned()), Just("\\ude00".to_owned())], 0..12)) {
            let inner = pieces.concat();
            let text = slow(&inner);
            prop_assert_eq!(&decode(&inner), &text);
            prop_assert!(spells(&inner, &text));
            let mut other = text.clone();
            other.push('x');
            prop_assert!(!spells(&inner, &other));
            if let Some((at, letter)) = text.char_indices().nth(text.chars().count() / 2) {
                let mut other = text.clone();
                other.replace_range(at..at + letter.len_utf8(), "~");
                prop_assert!(!spells(&inner, &other));
            }
        }
    }
}
