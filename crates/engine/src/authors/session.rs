//! What one session's log says of a file: its versions, the backups that the agent made, and what git brought back.
//!
//! Left out: which logs belong to a project, and the disk.

use super::backups;
use super::brought::brought;
use super::place::Place;
use super::told::{sha256, Contents, From, Told};
use crate::api::{AuthorKind, PathAuthor, PathOp};
use crate::log::{Log, Look, Phase};
use chipdeck_disk::git::Repository;
use chipdeck_replay::{Certainty, Op};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A log of this machine.
#[derive(Clone)]
pub struct Session {
    pub path: PathBuf,
    pub title: String,
    pub format: String,
    pub bytes: u64,
    pub modified: Option<i64>,
    /// As the log writes it; `None`: its first bytes don't say it.
    pub cwd: Option<String>,
    /// For `OpenSource`.
    pub source: String,
    /// It is open: it need not be read again.
    pub open: Option<Arc<Log>>,
}

impl Session {
    pub fn is_open(&self) -> bool {
        self.open
            .as_ref()
            .is_some_and(|log| log.phase() == Phase::Ready)
    }
}

/// Where a path of an open log lies on this machine, by what a person opened; `None`: nowhere.
pub type Locate<'a> = &'a dyn Fn(&str, Option<&str>) -> Option<PathBuf>;

/// A file of a project under each name that one log has for it.
pub fn names(
    look: &Look,
    place: &Place,
    path: &str,
    locate: Locate,
) -> Vec<(String, Option<PathBuf>)> {
    let cwd = look.timeline.cwd();
    let paths = look.timeline.paths().into_iter();
    let found = paths.filter_map(|named| {
        let spot = spot(place, named, cwd, locate)?;
        (spot.path == path).then(|| (named.to_string(), spot.checkout))
    });
    found.collect()
}

pub fn spot(
    place: &Place,
    named: &str,
    cwd: Option<&str>,
    locate: Locate,
) -> Option<super::place::Spot> {
    place.spot(named, cwd).or_else(|| {
        let there = locate(named, cwd)?;
        place.spot(there.to_str()?, None)
    })
}

/// Everything that a log says of one file, oldest first.
pub fn told(
    look: &Look,
    session: &Session,
    place: &Place,
    path: &str,
    locate: Locate,
    contents: &mut Contents,
) -> Vec<Told> {
    let mut all = Vec::new();
    for (named, checkout) in names(look, place, path, locate) {
        let versions = look.timeline.versions(&named);
        let author = |index: u32, id: Option<String>| PathAuthor {
            kind: AuthorKind::Session,
            name: session.title.clone(),
            by: Some(session.format.clone()),
            id,
            source: Some(session.source.clone()),
            index: Some(u64::from(index)),
            key: None,
            checkout: checkout.as_ref().map(|it| it.display().to_string()),
        };
        for (at, version) in versions.iter().enumerate() {
            let next = versions
                .get(at + 1)
                .map_or(look.timeline.len(), |it| it.index.saturating_sub(1));
            let sha256 = version
                .content
                .and_then(|it| look.timeline.content_sha256(it, look.source));
            if let (Some(sha256), Some(text)) = (&sha256, look.content(version.content)) {
                contents.put(sha256, text.as_bytes().into());
            }
            let row = look.row(version.index);
            all.push((
                version.index,
                Told {
                    time: look.timeline.clock(version.index),
                    author: author(version.index, row.and_then(|it| it.event_id)),
                    op: match version.op {
                        Op::Create => PathOp::Create,
                        Op::Change => PathOp::Change,
                        Op::Delete => PathOp::Delete,
                        Op::Rename => PathOp::Rename,
                        Op::Observe => PathOp::Observe,
                    },
                    exists: version.exists,
                    certainty: version.certainty.as_str(),
                    why: version.why.as_str(),
                    touched: version.exists
                        && version.certainty == Certainty::Exact
                        && is_touched(look, &named, next),
                    changed_outside: version.changed_outside,
                    bytes: match version.content {
                        Some(content) => Some(look.timeline.content_bytes(content, look.source)),
                        None => (!version.exists).then_some(0),
                    },
                    content: sha256,
                    from: From::Session {
                        log: session.path.clone(),
                        named: named.clone(),
                        at: version.index,
                    },
                },
            ));
        }
        // Another work tree has a `HEAD` of its own.
        let repository = Repository::of(&place.top).filter(|_| place.git && checkout.is_none());
        for brought in repository
            .iter()
            .flat_map(|it| brought(look, place, path, it))
        {
            let bytes = repository.as_ref().and_then(|it| it.content(&brought.blob));
            let Some(bytes) = bytes else { continue };
            let hash = sha256(&bytes);
            all.push((
                brought.index,
                Told {
                    time: Some(brought.time),
                    author: PathAuthor {
                        id: Some(brought.commit.chars().take(10).collect()),
                        ..author(brought.index, None)
                    },
                    op: PathOp::Checkout,
                    exists: true,
                    certainty: "unverified",
                    why: "git-restored",
                    touched: false,
                    changed_outside: false,
                    bytes: Some(bytes.len() as u64),
                    content: Some(hash.clone()),
                    from: From::Git(brought.blob),
                },
            ));
            contents.put(&hash, bytes.into());
        }
        for backup in backups::named(look, &session.path, &named) {
            let Some((sha256, bytes)) = backup.read() else {
                continue;
            };
            let author = PathAuthor {
                name: backup.name.clone(),
                id: Some(backup.name.clone()),
                ..author(backup.index, None)
            };
            all.push((
                backup.index,
                Told {
                    time: backup.time,
                    author,
                    op: PathOp::Backup,
                    exists: true,
                    certainty: "exact",
                    why: "backup",
                    touched: false,
                    changed_outside: false,
                    bytes: Some(bytes.len() as u64),
                    content: Some(sha256.clone()),
                    from: From::Disk(backup.file.clone()),
                },
            ));
            contents.put(&sha256, bytes.into());
        }
    }
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, told)| told).collect()
}

/// By a position, something that the log doesn't show may have changed the file.
pub fn is_touched(look: &Look, named: &str, at: u32) -> bool {
    let file = look.timeline.file(&look.timeline.state_at(at), named);
    file.is_some_and(|file| file.certainty == Certainty::Unverified)
}

/// Letters and digits of a file's name that stand in a log as they are, however it escapes: what a log that names the
/// file holds. `None`: too few of them to look for.
pub fn needle(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next()?;
    let plain = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let longest = name.split(plain).max_by_key(|part| part.len())?;
    (longest.len() >= 3).then_some(longest)
}

/// Bytes that are looked at in one piece.
const PIECE: usize = 4 << 20;

/// The raw bytes of a log hold a text. True also where they are no text to look in.
pub fn holds(
    source: &dyn chipdeck_ingest::Source,
    needle: &str,
    go_on: &mut dyn FnMut() -> bool,
) -> bool {
    let finder = memchr::memmem::Finder::new(needle.as_bytes());
    for file in 0..source.files() {
        let mut offset = 0;
        loop {
            if !go_on() {
                return false;
            }
            let Ok(bytes) = source.read_at(file, offset, PIECE) else {
                return true;
            };
            // Pages of a database cut texts anywhere.
            if offset == 0 && bytes.starts_with(b"SQLite format 3\0") {
                return true;
            }
            if finder.find(&bytes).is_some() {
                return true;
            }
            if bytes.len() < PIECE {
                break;
            }
            offset += (PIECE - needle.len()) as u64;
        }
    }
    false
}

/// A name for people where the log says none: its file's.
pub fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chipdeck_ingest::MemorySource;

    #[test]
    fn what_is_looked_for_in_raw_bytes() {
        for (path, wanted) in [
            ("src/app.py", Some("app.py")),
            ("a/größe.txt", Some("e.txt")),
            ("a/日本", None),
            ("Makefile", Some("Makefile")),
            ("x", None),
        ] {
            assert_eq!(needle(path), wanted, "{path}");
        }
        let mut text = vec![b'x'; PIECE - 3];
        text.extend(b"app.py and more");
        let source = MemorySource::single("a.jsonl", text);
        assert!(holds(&source, "app.py", &mut || true), "over a seam");
        assert!(!holds(&source, "app.pyx", &mut || true));
        assert!(!holds(&source, "app.py", &mut || false), "told to stop");
        let mut text = vec![b'x'; 2 * PIECE];
        text.extend(b"app.py");
        let source = MemorySource::single("a.jsonl", text);
        assert!(holds(&source, "app.py", &mut || true));
        let source = MemorySource::single("a.db", &b"SQLite format 3\0"[..]);
        assert!(holds(&source, "app.py", &mut || true));
    }
}
