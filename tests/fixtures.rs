//! The data with right answers that lies outside the repository: `CHIPDECK_FIXTURES`, else `../shared/fixtures`.
//! A test that needs it and doesn't find it says so and ends; `.ci/run` makes sure that it was found where it is there.

use std::path::{Path, PathBuf};

/// `part` of the shared fixtures (`events`, `agents/codex`), where it is at hand.
pub fn shared(part: &str) -> Option<PathBuf> {
    let path = find(part)?;
    mark(part);
    Some(path)
}

fn find(part: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("CHIPDECK_FIXTURES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures"),
    };
    let path = folder.join(part);
    if !path.exists() {
        eprintln!("skipped: no {} (set CHIPDECK_FIXTURES)", path.display());
        return None;
    }
    Some(path)
}

/// Leaves a mark for `.ci/run`: this part was used.
fn mark(part: &str) {
    if let Some(marks) = std::env::var_os("CHIPDECK_FIXTURES_SEEN") {
        let first = part.split('/').next().unwrap_or(part);
        std::fs::write(Path::new(&marks).join(first), "").unwrap();
    }
}

#[test]
fn the_shared_fixtures_are_whole_where_they_are() {
    for part in ["chips/cases", "events/basic.jsonl", "agents/WEIRD.md"] {
        let Some(path) = find(part) else { return };
        assert!(path.metadata().unwrap().len() > 0, "{}", path.display());
    }
}
