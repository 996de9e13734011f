//! The bundled demo, laid out in a temporary folder: a log, chips, edit snapshots and the project that they belong to,
//! which becomes a root, so that every kind of restore can be tried without harm. (Not in our own folders: nothing is
//! ever restored there.) Times are moved so that the hour ended a few minutes ago.

use include_dir::{include_dir, Dir, DirEntry};
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;
use std::time::Duration;

static DEMO: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../demo");

/// How long ago the demo's last event is, in seconds.
const AGO: i64 = 4 * 60;

const PREFIX: &str = "chipdeck-demo-";

/// A folder for the demo, ours as long as this lives. Those of processes that were killed are removed first.
pub struct Place {
    folder: tempfile::TempDir,
    /// Locked while we run; `None` where a folder can't be.
    _lock: Option<std::fs::File>,
}

impl Place {
    pub fn new() -> Option<Place> {
        Place::below(&std::env::temp_dir())
    }

    fn below(temporary: &Path) -> Option<Place> {
        sweep(temporary);
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(temporary)
            .ok()?;
        let lock = std::fs::File::open(folder.path()).ok();
        let lock = lock.filter(|it| it.try_lock().is_ok());
        Some(Place {
            folder,
            _lock: lock,
        })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A folder that nobody has locked a minute after it was made belongs to a process that died.
const FRESH: Duration = Duration::from_secs(60);

fn sweep(temporary: &Path) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // Not through a link.
        let folder = entry.file_type().is_ok_and(|it| it.is_dir());
        if !(ours && folder) {
            continue;
        }
        let age = entry.metadata().and_then(|it| it.modified());
        let old = age.is_ok_and(|it| it.elapsed().is_ok_and(|it| it > FRESH));
        let lock = std::fs::File::open(entry.path());
        if old && lock.is_ok_and(|it| it.try_lock().is_ok()) {
            // Another person's can't be removed, and stays.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Lays the demo out in this folder, unless it is there. `now` is Unix seconds.
pub fn lay_out(demo: &Path, now: i64) -> io::Result<()> {
    if demo.join("project").exists() {
        return Ok(());
    }
    let project = demo.join("project");
    let workspace = Path::new("snapshots").join(workspace_id(&project));
    let moved = now - AGO - last_time();
    let mut left = vec![&DEMO];
    while let Some(dir) = left.pop() {
        for entry in dir.entries() {
            let file = match entry {
                DirEntry::Dir(dir) => {
                    left.push(dir);
                    continue;
                }
                DirEntry::File(file) => file,
            };
            let path = match file.path().strip_prefix("snapshots") {
                Ok(name) => demo.join(&workspace).join(name),
                Err(_) => demo.join(file.path()),
            };
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let text = file.contents_utf8().unwrap_or_default();
            match file.path().starts_with("project") {
                true => std::fs::write(path, text)?,
                false => std::fs::write(path, at_another_time(text, moved))?,
            }
        }
    }
    Ok(())
}

/// The chip server's name for a workspace that is no git repository.
fn workspace_id(folder: &Path) -> String {
    let sum = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    sum.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Members whose numbers are times, and how many of them make a second.
const TIMES: [(&str, i64); 3] = [
    ("\"timestamp\":", 1000),
    ("\"created_at\": ", 1),
    ("\"created_at\":", 1),
];

/// Unix seconds of the last event.
fn last_time() -> i64 {
    let log = DEMO
        .get_file("orders.jsonl")
        .and_then(|file| file.contents_utf8())
        .unwrap_or_default();
    let last = log.rsplit(TIMES[0].0).next().unwrap_or_default();
    digits(last).0 / 1000
}

fn digits(text: &str) -> (i64, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    (number.parse().unwrap_or_default(), rest)
}

/// The text with every time moved by so many seconds. The demo's own strings hold nothing that looks like one.
fn at_another_time(text: &str, seconds: i64) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let next = TIMES
            .iter()
            .filter_map(|(name, unit)| Some((rest.find(name)?, name.len(), unit)))
            .min_by_key(|n| (n.0, -(n.1 as i64)));
        let Some((at, length, unit)) = next else {
            break;
        };
        let (before, after) = rest.split_at(at + length);
        out.push_str(before);
        let (time, after) = digits(after);
        out.push_str(&(time + seconds * unit).to_string());
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn folders_of_processes_that_died_go_and_others_stay() {
        let place = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * FRESH;
        let age = |path: &Path| {
            let folder = std::fs::File::open(path).unwrap();
            folder.set_modified(old).unwrap();
        };
        let dead = place.path().join("chipdeck-demo-dead");
        let other = place.path().join("another-folder");
        let link = place.path().join("chipdeck-demo-link");
        std::fs::create_dir_all(dead.join("project")).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, &link).unwrap();
        age(&dead);
        age(&other);
        let running = Place::below(place.path()).unwrap();
        assert!(!dead.exists());
        age(running.path());
        let fresh = place.path().join("chipdeck-demo-fresh");
        std::fs::create_dir(&fresh).unwrap();
        let second = Place::below(place.path()).unwrap();
        assert!(running.path().exists() && fresh.exists() && other.exists() && link.exists());
        let gone = second.path().to_owned();
        drop(second);
        assert!(!gone.exists());
    }

    #[test]
    fn times_move_and_nothing_else() {
        let text =
            r#"{"timestamp":1764309727037,"payload":{"chip":{"created_at":1764309727,"n":5}}}"#;
        let moved =
            r#"{"timestamp":1764309737037,"payload":{"chip":{"created_at":1764309737,"n":5}}}"#;
        assert_eq!(at_another_time(text, 10), moved);
        assert_eq!(
            at_another_time("{\n  \"created_at\": 7\n}", 1),
            "{\n  \"created_at\": 8\n}"
        );
        assert_eq!(at_another_time("nothing 12", 1), "nothing 12");
    }

    #[test]
    fn the_demo_ends_a_few_minutes_ago_and_is_laid_out_once() {
        let folder = tempfile::tempdir().unwrap();
        let demo = folder.path();
        lay_out(demo, 2_000_000_000).unwrap();
        let log = std::fs::read_to_string(demo.join("orders.jsonl")).unwrap();
        let last = log.trim_end().rsplit("\"timestamp\":").next().unwrap();
        assert!(last.starts_with("1999999760"), "{last}");
        assert_eq!(
            std::fs::read_dir(demo.join("snapshots")).unwrap().count(),
            1
        );
        let file = demo.join("project/orders/refunds.py");
        std::fs::write(&file, "restored").unwrap();
        lay_out(demo, 2_000_000_000).unwrap();
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            "restored",
            "what was tried is not taken back"
        );
    }
}
