//! Ids and file names. An id is any text that a server or another hand wrote; only a safe one becomes part of a name.

/// Longest file name that common file systems take, in bytes.
const LONGEST_NAME: usize = 255;

/// Whether the id may stand in a file name: no `/`, `\`, NUL, `..`, and short enough.
pub fn safe_id(id: &str) -> bool {
    !id.contains(['/', '\\', '\0'])
        && !id.contains("..")
        && "chip-.json".len() + id.len() <= LONGEST_NAME
}

/// `chip-<id>.json`; `None` for an id that is not safe.
pub fn chip_file_name(id: &str) -> Option<String> {
    safe_id(id).then(|| format!("chip-{id}.json"))
}

/// `snapshot-<id>.json`; `None` for an id that is not safe.
pub fn snapshot_file_name(id: &str) -> Option<String> {
    let name = safe_id(id).then(|| format!("snapshot-{id}.json"))?;
    (name.len() <= LONGEST_NAME).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn climbing_ids_never_become_names() {
        for id in ["x/../../etc/thing", "..", "a\\b", "\0", &"n".repeat(300)] {
            assert_eq!(chip_file_name(id), None, "{id:?}");
        }
        assert!(chip_file_name(&"n".repeat(245)).is_some());
        assert_eq!(snapshot_file_name(&"n".repeat(245)), None);
        for id in ["a3f7b2", "", " u6 ", "x\ny", "\"", "."] {
            assert!(chip_file_name(id).is_some(), "{id:?}");
        }
    }
}
