//! Are two texts the same JSON value? Order of members, blanks, escapes and the way a number is written do not
//! count; of equal keys the last does.

use crate::tape::{Kind, Tape, Val};
use hashbrown::HashMap;

/// False where one of them is no JSON, unless the bytes are the same.
pub fn same_json(left: &[u8], right: &[u8]) -> bool {
    if left == right {
        return true;
    }
    let (Ok(left), Ok(right)) = (std::str::from_utf8(left), std::str::from_utf8(right)) else {
        return false;
    };
    let (mut of_left, mut of_right) = (Tape::default(), Tape::default());
    if of_left.read(left).is_err() || of_right.read(right).is_err() {
        return false;
    }
    // A list of pairs rather than a recursion: a record may be nested deeply.
    let mut open = vec![(of_left.root(left), of_right.root(right))];
    while let Some((a, b)) = open.pop() {
        if a.raw() == b.raw() {
            continue;
        }
        let same = match (a.kind(), b.kind()) {
            (Kind::String, Kind::String) => a.str() == b.str(),
            (Kind::Number, Kind::Number) => same_number(a, b),
            (Kind::Array, Kind::Array) => {
                let (left, right): (Vec<_>, Vec<_>) = (a.items().collect(), b.items().collect());
                let same = left.len() == right.len();
                open.extend(left.into_iter().zip(right));
                same
            }
            (Kind::Object, Kind::Object) => {
                let (left, mut right): (HashMap<_, _>, HashMap<_, _>) =
                    (a.members().collect(), b.members().collect());
                let same = left.len() == right.len();
                for (name, value) in left {
                    match right.remove(&name) {
                        Some(other) => open.push((value, other)),
                        None => return false,
                    }
                }
                same
            }
            _ => false,
        };
        if !same {
            return false;
        }
    }
    true
}

fn same_number(a: Val<'_>, b: Val<'_>) -> bool {
    let exact = |v: Val<'_>| v.raw().parse::<i128>().ok();
    match (exact(a), exact(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.float() == b.float(),
    }
}

#[cfg(test)]
mod tests {
    use super::same_json;

    #[test]
    fn as_json() {
        for (left, right, same) in [
            (
                r#"{"a":1,"b":[1,{"c":"\u0041"}]}"#,
                r#" { "b": [1.0, {"c":"A"}], "a":1 }"#,
                true,
            ),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, true),
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#, false),
            (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false),
            (
                r#"{"a":9007199254740993}"#,
                r#"{"a":9007199254740992}"#,
                false,
            ),
            (r#"{"a":"1"}"#, r#"{"a":1}"#, false),
            ("torn", "torn", true),
            ("torn", "t", false),
        ] {
            assert_eq!(
                same_json(left.as_bytes(), right.as_bytes()),
                same,
                "{left} and {right}"
            );
        }
    }
}
