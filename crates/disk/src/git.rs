//! What git has of a file: the commits that changed it, and the objects at hand. Read by a library and never by a `git`
//! process: a repository's hooks, filters, includes and helpers are somebody else's programs.
//!
//! The library maps pack files into memory: git writes those once, under a name of their content, and never again.
//!
//! Left out: the index, remotes, tags, renames (a file that bore another name before begins with its new one).

use gix::bstr::ByteSlice;
use gix::{ObjectId, Repository as Gix};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Versions of the path, newest first.
    pub versions: usize,
    /// Commits that are looked at.
    pub commits: usize,
    pub time: Duration,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            versions: 200,
            commits: 50_000,
            time: Duration::from_secs(8),
        }
    }
}

/// Larger contents are not read, in bytes.
const MOST_BYTES: u64 = 32 << 20;
/// Entries of a reference's log that are taken as starting points.
const MOST_LOGGED: usize = 500;
/// Trees and commits that are kept unpacked meanwhile, in bytes.
const CACHE: usize = 16 << 20;

/// A repository that a folder lies in.
pub struct Repository {
    git: Gix,
    top: PathBuf,
    main: PathBuf,
}

/// A commit that made a path what it then was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Hex.
    pub id: String,
    /// Unix milliseconds, of the commit (not of its author's work).
    pub time: i64,
    /// Name alone.
    pub author: String,
    /// First line of the message.
    pub subject: String,
    /// Id of the content; `None`: the commit has no such file.
    pub blob: Option<String>,
    /// It was put aside by `git stash`.
    pub stash: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commits {
    /// Newest first.
    pub list: Vec<Commit>,
    /// The bounds were reached, or an object was missing: there may be more.
    pub clipped: bool,
}

impl Repository {
    /// The repository whose work tree this folder lies in. `None`: there is none, or it can't be read.
    pub fn of(folder: &Path) -> Option<Repository> {
        let folder = std::fs::canonicalize(folder).ok()?;
        let top = folder.ancestors().find(|it| it.join(".git").exists())?;
        // Its own configuration alone, with no includes, no environment, and none of what it must be trusted for.
        let options = gix::open::Options::isolated().with(gix::sec::Trust::Reduced);
        let mut git: Gix = gix::open_opts(top, options).ok()?;
        git.object_cache_size(CACHE);
        let common = std::fs::canonicalize(git.common_dir()).ok()?;
        let main = common.parent().filter(|_| common.ends_with(".git"));
        Some(Repository {
            main: main.unwrap_or(top).to_owned(),
            git,
            top: top.to_owned(),
        })
    }

    /// The folder that its paths count from.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The main work tree of this repository: its own, unless it is a linked one.
    pub fn main(&self) -> &Path {
        &self.main
    }

    /// All work trees of this repository that it knows of, this one among them; those that are gone too, as long as the
    /// repository remembers them.
    pub fn checkouts(&self) -> Vec<PathBuf> {
        let mut found = vec![self.top.clone(), self.main.clone()];
        for proxy in self.git.worktrees().unwrap_or_default() {
            let Ok(base) = proxy.base() else { continue };
            found.push(std::fs::canonicalize(&base).unwrap_or(base));
        }
        found.sort();
        found.dedup();
        found
    }

    /// The commits that changed a path (below the top, with `/`), newest first: from all branches, from what was
    /// stashed, and from where branches and the work tree stood before (`reflog`).
    pub fn commits(&self, path: &str, bounds: Bounds, stop: &dyn Fn() -> bool) -> Commits {
        let until = Instant::now() + bounds.time;
        let (tips, stashed) = self.tips();
        let mut found = Commits::default();
        let mut seen: HashMap<ObjectId, Result<Option<ObjectId>, ()>> = HashMap::new();
        let newest_first = gix::revision::walk::Sorting::ByCommitTime(Default::default());
        let Ok(walk) = self.git.rev_walk(tips).sorting(newest_first).all() else {
            found.clipped = true;
            return found;
        };
        for (count, step) in walk.enumerate() {
            let Ok(step) = step else {
                found.clipped = true;
                break;
            };
            if count >= bounds.commits || Instant::now() > until || stop() {
                found.clipped = true;
                break;
            }
            let mut entry = |id: ObjectId| match seen.get(&id) {
                Some(known) => *known,
                None => {
                    let blob = self.blob(id, path);
                    seen.insert(id, blob);
                    blob
                }
            };
            let Ok(blob) = entry(step.id) else {
                found.clipped = true;
                continue;
            };
            let changed = match step.parent_ids.as_slice() {
                [] => blob.is_some(),
                parents => parents.iter().all(|id| entry(*id) != Ok(blob)),
            };
            if !changed {
                continue;
            }
            if found.list.len() >= bounds.versions {
                found.clipped = true;
                break;
            }
            let stash = stashed.contains(&step.id);
            found.list.extend(self.commit(step.id, blob, stash));
        }
        found.list.sort_by_key(|it| std::cmp::Reverse(it.time));
        found
    }

    /// The content of a blob; `None` where it is missing, no content, or too large.
    pub fn content(&self, blob: &str) -> Option<Vec<u8>> {
        let id = ObjectId::from_hex(blob.as_bytes()).ok()?;
        let header = self.git.find_header(id).ok()?;
        if header.size() > MOST_BYTES || header.kind() != gix::object::Kind::Blob {
            return None;
        }
        let mut object = self.git.find_object(id).ok()?;
        Some(std::mem::take(&mut object.data))
    }

    /// The id of the blob that has this content.
    pub fn blob_id(&self, content: &[u8]) -> Option<String> {
        let kind = gix::object::Kind::Blob;
        let id = gix::objs::compute_hash(self.git.object_hash(), kind, content).ok()?;
        Some(id.to_string())
    }

    /// Git has an object with this content: it was committed, staged or stashed once.
    pub fn holds(&self, content: &[u8]) -> bool {
        let id = self.blob_id(content);
        let id = id.and_then(|id| ObjectId::from_hex(id.as_bytes()).ok());
        id.is_some_and(|id| self.git.has_object(id))
    }

    /// Where `HEAD` of this work tree stood at a time, by its log. `None`: the log doesn't go back that far.
    pub fn head_at(&self, unix_ms: i64) -> Option<String> {
        let head = self.git.head().ok()?;
        let mut log = head.log_iter();
        let lines = log.rev().ok()??;
        for line in lines.take(MOST_LOGGED * 20) {
            let line = line.ok()?;
            if line.signature.time.seconds.saturating_mul(1_000) <= unix_ms {
                return Some(line.new_oid.to_string());
            }
        }
        None
    }

    /// What a commit has at a path: a blob's id.
    pub fn blob_at(&self, commit: &str, path: &str) -> Option<String> {
        let id = ObjectId::from_hex(commit.as_bytes()).ok()?;
        self.blob(id, path).ok()?.map(|blob| blob.to_string())
    }

    /// `Err`: an object is missing.
    fn blob(&self, commit: ObjectId, path: &str) -> Result<Option<ObjectId>, ()> {
        let commit = self.git.find_commit(commit).map_err(drop)?;
        let tree = commit.tree().map_err(drop)?;
        let names = path.split('/').map(str::as_bytes);
        let entry = tree.lookup_entry(names.map(Name)).map_err(drop)?;
        Ok(entry
            .filter(|entry| entry.mode().is_blob())
            .map(|entry| entry.object_id()))
    }

    fn commit(&self, id: ObjectId, blob: Option<ObjectId>, stash: bool) -> Option<Commit> {
        let commit = self.git.find_commit(id).ok()?;
        let time = commit.time().ok()?.seconds.saturating_mul(1_000);
        let author = commit.author().ok().map(|it| lossy(it.name));
        let subject = commit.message_raw_sloppy().lines().next().map(lossy);
        Some(Commit {
            id: id.to_string(),
            time,
            author: author.unwrap_or_default(),
            subject: subject.unwrap_or_default(),
            blob: blob.map(|it| it.to_string()),
            stash,
        })
    }

    /// Where to start from, and which of these commits are of `git stash`.
    fn tips(&self) -> (Vec<ObjectId>, HashSet<ObjectId>) {
        let mut tips = Vec::new();
        let mut stashed = HashSet::new();
        if let Ok(head) = self.git.head_id() {
            tips.push(head.detach());
        }
        if let Ok(head) = self.git.head() {
            let mut log = head.log_iter();
            if let Ok(Some(lines)) = log.rev() {
                let lines = lines.take(MOST_LOGGED).filter_map(Result::ok);
                tips.extend(lines.map(|line| line.new_oid));
            }
        }
        if let Ok(references) = self.git.references() {
            let branches = references.local_branches();
            for branch in branches.into_iter().flatten().flatten() {
                tips.extend(branch.try_id().map(|id| id.detach()));
            }
        }
        if let Ok(stash) = self.git.find_reference("refs/stash") {
            let mut ids: Vec<ObjectId> = stash.try_id().map(|id| id.detach()).into_iter().collect();
            let mut log = stash.log_iter();
            if let Ok(Some(lines)) = log.rev() {
                let lines = lines.take(MOST_LOGGED).filter_map(Result::ok);
                ids.extend(lines.map(|line| line.new_oid));
            }
            for id in ids {
                tips.push(id);
                stashed.insert(id);
                // The index and what was untracked are its other parents.
                let parents = self.git.find_commit(id).map(|commit| {
                    let others = commit.parent_ids().skip(1);
                    others.map(|it| it.detach()).collect::<Vec<_>>()
                });
                stashed.extend(parents.unwrap_or_default());
            }
        }
        // What a log names may be gone from the repository long since.
        let mut known = HashSet::new();
        tips.retain(|id| known.insert(*id) && self.git.find_commit(*id).is_ok());
        (tips, stashed)
    }
}

/// A name in a tree.
struct Name<'a>(&'a [u8]);

impl PartialEq<gix::bstr::BStr> for Name<'_> {
    fn eq(&self, other: &gix::bstr::BStr) -> bool {
        self.0 == other.as_bytes()
    }
}

fn lossy(text: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(text.as_ref()).trim().to_owned()
}

#[cfg(test)]
#[path = "git_tests.rs"]
mod tests;
