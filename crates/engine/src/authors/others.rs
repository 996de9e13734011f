//! What is known of a file beside the sessions: git, the chip server's edit snapshots and chips, the disk as it is.

use super::place::Place;
use super::told::{sha256, Contents, From, Told};
use super::Course;
use crate::api::{AuthorKind, PathAuthor, PathOp};
use crate::engine::{hold, Inner};
use chipdeck_chip::workspace_id;
use chipdeck_disk::chips::{ChipEntry, SnapshotEntry};
use chipdeck_disk::git::{Bounds, Commit, Repository};
use chipdeck_disk::restore::Root;
use std::collections::HashMap;

/// Letters of a commit's id that people read.
const SHORT: usize = 10;
/// A larger file on disk is not read, in bytes.
pub const MOST_BYTES: u64 = 64 << 20;

pub fn short(id: &str) -> String {
    id.get(..SHORT).unwrap_or(id).to_owned()
}

fn author(kind: AuthorKind, name: impl Into<String>) -> PathAuthor {
    PathAuthor {
        kind,
        name: name.into(),
        by: None,
        id: None,
        source: None,
        index: None,
        key: None,
        checkout: None,
    }
}

/// Shorter contents are the same in many files: that git has one says nothing of this file. Bytes.
const TELLING: usize = 64;

/// Git has an object with just this content.
pub fn has_object(repository: &Repository, content: &[u8]) -> bool {
    content.len() >= TELLING && repository.holds(content)
}

/// The commits that changed it. True: there are more than were looked at.
pub fn git(
    place: &Place,
    path: &str,
    course: &Course,
    contents: &mut Contents,
) -> (Vec<Told>, bool) {
    let Some(repository) = Repository::of(&place.top).filter(|_| place.git) else {
        return (Vec::new(), false);
    };
    let commits = repository.commits(path, Bounds::default(), &|| course.is_stopped());
    let mut sizes: HashMap<String, Option<(String, u64)>> = HashMap::new();
    let told = commits.list.iter().map(|commit| {
        let measured = commit.blob.as_ref().and_then(|blob| {
            let measure = || {
                let bytes = repository.content(blob)?;
                let (hash, size) = (sha256(&bytes), bytes.len() as u64);
                contents.put(&hash, bytes.into());
                Some((hash, size))
            };
            sizes.entry(blob.clone()).or_insert_with(measure).clone()
        });
        commit_told(commit, measured)
    });
    (told.collect(), commits.clipped)
}

fn commit_told(commit: &Commit, measured: Option<(String, u64)>) -> Told {
    let exists = commit.blob.is_some();
    let known = measured.is_some() || !exists;
    Told {
        time: Some(commit.time),
        author: PathAuthor {
            by: Some(commit.author.clone()),
            id: Some(short(&commit.id)),
            key: None,
            ..author(AuthorKind::Git, commit.subject.clone())
        },
        op: match (commit.stash, exists) {
            (true, _) => PathOp::Stash,
            (false, true) => PathOp::Commit,
            (false, false) => PathOp::Delete,
        },
        exists,
        certainty: if known { "exact" } else { "unknown" },
        why: "committed",
        touched: false,
        changed_outside: false,
        bytes: measured.as_ref().map(|it| it.1).or((!exists).then_some(0)),
        content: measured.map(|it| it.0),
        from: commit.blob.clone().map_or(From::Nowhere, From::Git),
    }
}

/// What is on the disk now; `None` where the project is not on this machine. `Err`: why it can't be read.
pub fn disk(place: &Place, path: &str, contents: &mut Contents) -> Result<Option<Told>, String> {
    if !place.here {
        return Ok(None);
    }
    let file = place.top.join(path);
    let metadata = std::fs::metadata(&file).ok();
    if metadata.as_ref().is_some_and(|it| it.len() > MOST_BYTES) {
        return Err(format!("{path} is too large to be read"));
    }
    let root = Root::open(&place.top).map_err(|error| error.to_string())?;
    let found = root.read(path).map_err(|error| error.to_string())?;
    let written = metadata.and_then(|it| it.modified().ok());
    let since = written.and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok());
    let content = found.image.as_ref().map(|image| {
        let hash = image.content.sha256().to_owned();
        contents.put(&hash, image.content.bytes().into());
        hash
    });
    Ok(Some(Told {
        time: since.and_then(|it| i64::try_from(it.as_millis()).ok()),
        author: author(AuthorKind::Disk, "disk"),
        op: PathOp::Disk,
        exists: content.is_some(),
        certainty: "exact",
        why: "disk",
        touched: false,
        changed_outside: false,
        bytes: Some(
            found
                .image
                .as_ref()
                .map_or(0, |it| it.content.bytes().len() as u64),
        ),
        content,
        from: From::Disk(file),
    }))
}

impl Inner {
    /// Both sides of each edit that the chip server kept, and the chips cut by these edits.
    pub(super) fn snapshots_of(
        &self,
        place: &Place,
        path: &str,
        contents: &mut Contents,
    ) -> Vec<Told> {
        let ids: Vec<String> = place
            .names()
            .map(|name| workspace_id(name.as_bytes()))
            .collect();
        let chips = self.chips.list();
        let mut told = Vec::new();
        for workspace in self.chips.workspaces().iter() {
            for row in &workspace.rows {
                if !is_of(row, &ids, place, path) {
                    continue;
                }
                let Ok(detail) = self.chips.snapshot(&row.key) else {
                    continue;
                };
                let record = &detail.record;
                let time = row.created_at.saturating_mul(1_000);
                let sides = [
                    (true, record.before.text(), record.before.lines().is_empty()),
                    (false, record.after.text(), false),
                ];
                for (before, text, missing) in sides {
                    // No lines before: the file was empty or missing, nothing says which.
                    if before && missing {
                        continue;
                    }
                    let hash = sha256(&text);
                    let bytes = text.len() as u64;
                    contents.put(&hash, text.into());
                    // The server keeps lines with ends made alike; they are the file's bytes where it wrote them.
                    let exact = !before && row.tool != "be-write";
                    told.push(Told {
                        time: Some(time - i64::from(before)),
                        author: PathAuthor {
                            id: Some(row.id.clone()),
                            key: Some(row.key.clone()),
                            ..author(AuthorKind::Snapshot, row.tool.clone())
                        },
                        op: if before {
                            PathOp::SnapshotBefore
                        } else {
                            PathOp::SnapshotAfter
                        },
                        exists: true,
                        certainty: if exact { "exact" } else { "unverified" },
                        why: if exact { "snapshot" } else { "lines-rewritten" },
                        touched: false,
                        changed_outside: false,
                        content: Some(hash.clone()),
                        bytes: Some(bytes),
                        from: From::Snapshot {
                            key: row.key.clone(),
                            before,
                        },
                    });
                    if before {
                        continue;
                    }
                    let linked = chips.rows.iter().filter(|chip| {
                        chip.linked.as_deref() == Some(row.id.as_str()) && chip.is_delete
                    });
                    told.extend(linked.map(|chip| Told {
                        time: Some(time),
                        content: Some(hash.clone()),
                        bytes: Some(bytes),
                        certainty: if exact { "exact" } else { "unverified" },
                        why: "snapshot",
                        from: From::Snapshot {
                            key: row.key.clone(),
                            before: false,
                        },
                        ..cut(chip)
                    }));
                }
            }
        }
        told.extend(self.cut_elsewhere(place, path, &chips.rows, &told));
        told
    }

    /// Chips that are known to be cut from this file, but by no edit snapshot: lines, and no whole content.
    fn cut_elsewhere(
        &self,
        place: &Place,
        path: &str,
        chips: &[ChipEntry],
        told: &[Told],
    ) -> Vec<Told> {
        let here = |named: &str| {
            place
                .spot(named, None)
                .is_some_and(|spot| spot.path == path)
        };
        let known = |chip: &&ChipEntry| {
            told.iter()
                .any(|it| it.author.key.as_ref() == Some(&chip.key))
        };
        let cut_here = |chip: &&ChipEntry| {
            let found = self.known_origins(&chip.key);
            chip.is_delete
                && found.is_some_and(|it| {
                    it.certain && it.targets.first().is_some_and(|target| here(&target.path))
                })
        };
        chips
            .iter()
            .filter(|chip| !known(chip) && cut_here(chip))
            .map(cut)
            .collect()
    }

    /// A history's disk now; true when it is another content than before.
    pub(super) fn look_at_disk(&self, history: &super::History) -> bool {
        let mut contents = hold(&history.contents);
        let now = disk(&history.place, &history.path, &mut contents)
            .ok()
            .flatten();
        drop(contents);
        let mut told = hold(&history.told);
        let before = told
            .iter()
            .position(|it| it.author.kind == AuthorKind::Disk);
        let held = before.and_then(|at| told.get(at));
        if held == now.as_ref() {
            return false;
        }
        told.retain(|it| it.author.kind != AuthorKind::Disk);
        told.extend(now);
        true
    }
}

fn cut(chip: &ChipEntry) -> Told {
    Told {
        time: Some(chip.created_at.saturating_mul(1_000)),
        author: PathAuthor {
            id: Some(chip.id.clone()),
            key: Some(chip.key.clone()),
            ..author(AuthorKind::Chip, chip.tool.clone())
        },
        op: PathOp::Cut,
        exists: true,
        certainty: "unknown",
        why: "snapshot",
        touched: false,
        changed_outside: false,
        content: None,
        bytes: None,
        from: From::Nowhere,
    }
}

/// An edit snapshot is of this file: an absolute path, or one below the project by its workspace.
fn is_of(row: &SnapshotEntry, ids: &[String], place: &Place, path: &str) -> bool {
    if let Some(spot) = place.spot(&row.file, None) {
        return spot.path == path;
    }
    let top = place.top.to_str().filter(|_| ids.contains(&row.workspace));
    place
        .spot(&row.file, top)
        .is_some_and(|spot| spot.path == path)
}
