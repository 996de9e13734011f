//! Writes the bundled demo: a log of an hour in which an agent works on a small order service and loses things, the
//! chips and edit snapshots that go with it, and the project as it lies on disk afterwards. Everything in it is made
//! up; it is the same at every run.

mod records;
mod story;
mod telling;

use crate::steps::Done;
use std::fs;
use std::path::Path;

/// Writes `demo/` anew.
pub fn write(to: &Path) -> Done {
    let told = story::tell();
    let failed = |error: std::io::Error| format!("{}: {error}", to.display());
    if to.exists() {
        fs::remove_dir_all(to).map_err(failed)?;
    }
    for (name, content) in told.bundle() {
        let path = to.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        fs::write(&path, content).map_err(failed)?;
    }
    println!("{}: {}", to.display(), told.summary());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is committed is what the generator writes.
    #[test]
    fn the_committed_demo_is_up_to_date() {
        let demo = crate::steps::root().join("demo");
        for (name, content) in story::tell().bundle() {
            let there = fs::read(demo.join(&name)).unwrap_or_default();
            assert!(
                there == content,
                "demo/{name} differs: run `cargo xtask demo`"
            );
        }
    }
}
