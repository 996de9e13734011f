//! Which files of a folder make its log set.

use chipdeck_ingest::Shape;
use std::path::Path;

/// Deepest folder, and most files, that are looked at for the files of a set.
const MOST_DEPTH: usize = 5;
const MOST_FILES: usize = 20_000;
/// Names (with `/`) of the files of a folder that make its log set, in the order of the set.
pub fn members_of(folder: &Path) -> Vec<String> {
    // Plain logs lie directly in their folder; only an agent's own tree goes deeper, so that a project that has some
    // .jsonl somewhere is no log.
    let plain = |shape| matches!(shape, Shape::Pair | Shape::Shards);
    pick(&names_below(folder, 1), |_| true)
        .or_else(|| pick(&names_below(folder, MOST_DEPTH), |shape| !plain(shape)))
        .unwrap_or_default()
}

fn pick(names: &[String], wanted: impl Fn(Shape) -> bool) -> Option<Vec<String>> {
    let refs: Vec<&str> = names.iter().map(String::as_str).collect();
    let (shape, picked) = chipdeck_ingest::members(&refs)?;
    wanted(shape).then_some(())?;
    Some(
        picked
            .into_iter()
            .filter_map(|at| names.get(at).cloned())
            .collect(),
    )
}

/// Regular files below a folder, sorted; links to folders are not followed.
fn names_below(folder: &Path, depth: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut waiting = vec![(folder.to_owned(), String::new(), depth)];
    while let Some((dir, prefix, depth)) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else {
            continue;
        };
        for entry in entries.flatten() {
            // A name that is no text cannot be a log of any format.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = format!("{prefix}{name}");
            if kind.is_dir() {
                if depth > 1 {
                    waiting.push((entry.path(), format!("{path}/"), depth - 1));
                }
            } else if kind.is_file() || entry.path().is_file() {
                names.push(path);
            }
            if names.len() >= MOST_FILES {
                break;
            }
        }
    }
    names.sort();
    names
}
