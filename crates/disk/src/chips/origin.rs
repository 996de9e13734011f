//! Where a deleted text came from: a chip of a delete names no file. Edit snapshots of the same second know it, then
//! logs, then a search. The place is found again by the lines around it; what is not the only place is told, never
//! chosen.
//!
//! Left out: writing it back (a restore plan), what may be written (roots are checked there again).

use super::board::Known;
use super::editsnaps::{Deleted, EditSnaps};
use super::files::open_regular;
use super::model::{Certainty, Origin, Origins, RemovedText, RemovedTexts};
use super::search;
use chipdeck_chip::{decode_text, place, workspace_id, Anchor, Lines, Placed, SnapshotRecord};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Larger files are no place, in bytes.
const LARGEST: u64 = 64 << 20;
/// The time of an edit snapshot is that of its chip, or a second later.
const LATER: std::ops::RangeInclusive<i64> = 0..=1;

pub(super) struct Asked<'a> {
    pub text: Vec<u8>,
    pub known: &'a Known,
    /// The chip's times: now, and before it was revived.
    pub times: Vec<i64>,
    pub roots: &'a [PathBuf],
}

pub(super) fn origins(
    asked: &Asked<'_>,
    snaps: &EditSnaps,
    archive: Option<&super::archive::Archive>,
    logs: &dyn RemovedTexts,
) -> Origins {
    let mut found = Finding {
        asked,
        roots: asked.roots.iter().map(|root| Root::new(root)).collect(),
        places: Vec::new(),
        already: Vec::new(),
        elsewhere: Vec::new(),
        notes: Vec::new(),
    };
    let deletes = snaps.deletes(archive);
    for delete in matching(asked.known, &asked.times, &by_text(&deletes)) {
        found.snapshot(delete, archive);
    }
    if found.is_empty() {
        for removed in logs.removed(&asked.text, asked.known.facts.created_at) {
            found.log(&removed);
        }
    }
    if found.is_empty() {
        for root in asked.roots {
            let hits = search::search(root, &asked.text);
            found.notes.extend(hits.notes);
            for version in hits.versions {
                found.version(root, &version);
            }
            for (path, line) in hits.copies {
                found.notes.push(format!(
                    "the text stands in {} after line {line} already",
                    path.display()
                ));
                found.elsewhere.push(Origin {
                    path,
                    root: root.clone(),
                    line: line as u64,
                    certainty: Certainty::Search,
                    because: "the text stands there now".into(),
                    before: None,
                    after: None,
                    moved: false,
                });
            }
        }
    }
    found.origins()
}

/// Deletes by the hash of their text.
pub(super) type ByText<'d, 'a> = HashMap<&'a str, Vec<&'d Deleted<'a>>>;

pub(super) fn by_text<'d, 'a>(deletes: &'d [Deleted<'a>]) -> ByText<'d, 'a> {
    let mut map: ByText<'d, 'a> = HashMap::new();
    for delete in deletes {
        if let Some((hash, _)) = &delete.facts.deleted {
            map.entry(hash).or_default().push(delete);
        }
    }
    map
}

/// Edit snapshots of this very delete: the same text, made at one of these times or a second later.
pub(super) fn matching<'d, 'a>(
    known: &Known,
    times: &[i64],
    deletes: &ByText<'d, 'a>,
) -> Vec<&'d Deleted<'a>> {
    let text = known.facts.deleted.as_deref().unwrap_or_default();
    let same = deletes.get(text).map(Vec::as_slice).unwrap_or_default();
    let close = |delete: &&&'d Deleted<'a>| {
        times
            .iter()
            .any(|time| LATER.contains(&delete.facts.created_at.saturating_sub(*time)))
    };
    same.iter().filter(close).copied().collect()
}

struct Root<'a> {
    path: &'a Path,
    real: Option<PathBuf>,
    /// Workspace ids that a server running there has.
    ids: Vec<String>,
}

impl<'a> Root<'a> {
    fn new(path: &'a Path) -> Root<'a> {
        Root {
            path,
            real: path.canonicalize().ok(),
            ids: workspace_ids(path),
        }
    }

    /// The path below this root, if it lies in it.
    fn holds(&self, path: &Path) -> Option<PathBuf> {
        if path.components().any(|c| matches!(c, Component::ParentDir)) {
            return None;
        }
        if let Ok(rest) = path.strip_prefix(self.path) {
            return Some(self.path.join(rest));
        }
        let rest = path.strip_prefix(self.real.as_deref()?).ok()?;
        Some(self.path.join(rest))
    }

    fn below(&self, relative: &Path) -> Option<PathBuf> {
        relative
            .components()
            .all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
            .then(|| self.path.join(relative))
    }
}

/// The ids that a server working in this folder may have: of its git top level, of the folder itself (as it is named,
/// and with links resolved), of `BETTER_EDIT_WORKSPACE`.
pub fn workspace_ids(folder: &Path) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    let mut add = |path: &std::ffi::OsStr| {
        let id = workspace_id(path.as_encoded_bytes());
        if !ids.contains(&id) {
            ids.push(id);
        }
    };
    add(folder.as_os_str());
    if let Ok(real) = folder.canonicalize() {
        add(real.as_os_str());
    }
    if let Some(top) = git_top_level(folder) {
        add(top.as_os_str());
    }
    if let Some(value) = std::env::var_os("BETTER_EDIT_WORKSPACE").filter(|v| !v.is_empty()) {
        add(&value);
    }
    ids
}

/// What `git rev-parse --show-toplevel` says in this folder. `None`: no git, no repository.
pub fn git_top_level(folder: &Path) -> Option<PathBuf> {
    let output = std::process::Command::new("git")
        .current_dir(folder)
        .args(["rev-parse", "--show-toplevel"])
        .stdin(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .output()
        .ok()?;
    let line = output.stdout.trim_ascii();
    if !output.status.success() || line.is_empty() {
        return None;
    }
    Some(super::search::path_of(line))
}

struct Finding<'a> {
    asked: &'a Asked<'a>,
    roots: Vec<Root<'a>>,
    places: Vec<Origin>,
    already: Vec<Origin>,
    /// Anchors that agree in a folder that nothing ties to the text: shown only.
    elsewhere: Vec<Origin>,
    notes: Vec<String>,
}

impl Finding<'_> {
    fn is_empty(&self) -> bool {
        self.places.is_empty() && self.already.is_empty()
    }

    fn origins(mut self) -> Origins {
        if self.places.is_empty() && !self.already.is_empty() {
            let already_there = self.already.len() == 1;
            return Origins {
                places: self.already,
                already_there,
                certain: already_there,
                notes: self.notes,
            };
        }
        // A place that has the text already competes with one that doesn't.
        self.places.append(&mut self.already);
        let certain = self.places.len() == 1;
        if self.places.is_empty() {
            self.places = self.elsewhere;
        }
        Origins {
            places: self.places,
            already_there: false,
            certain,
            notes: self.notes,
        }
    }

    fn snapshot(&mut self, delete: &Deleted<'_>, archive: Option<&super::archive::Archive>) {
        let path = delete.folder.join(&delete.name);
        let Ok(bytes) = super::board::bytes_of(&path, delete.sha256, archive) else {
            return;
        };
        let Ok(record) = SnapshotRecord::read(&bytes) else {
            return;
        };
        let Some((first, removed)) = record.removed() else {
            return;
        };
        let lines: Vec<Cow<'_, [u8]>> = record
            .before
            .lines()
            .iter()
            .map(|line| bare(line.as_bytes()))
            .collect();
        let cut = Cut::new(&lines, first, removed.len());
        let because = format!("edit snapshot {}", delete.facts.id);
        let file = PathBuf::from(&delete.facts.file);
        let mut targets = Vec::new();
        let mut strange = Vec::new();
        for (index, root) in self.roots.iter().enumerate() {
            let ours = delete.workspace.is_empty() || root.ids.contains(&delete.workspace);
            let path = if file.is_absolute() {
                root.holds(&file)
            } else {
                root.below(&file)
            };
            let Some(path) = path else { continue };
            if file.is_absolute() || ours {
                targets.push((index, path));
            } else {
                strange.push((index, path));
            }
        }
        if targets.is_empty() {
            self.notes.push(format!(
                "{because} names {}, which lies in none of the folders looked in{}",
                delete.facts.file,
                if file.is_absolute() {
                    String::new()
                } else {
                    format!(" (workspace {})", delete.workspace)
                }
            ));
        }
        let mut seen = HashSet::new();
        for (index, path) in targets {
            if seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
                self.place(index, &path, &cut, Certainty::Snapshot, &because, false);
            }
        }
        for (index, path) in strange {
            if path.is_file() {
                self.place(index, &path, &cut, Certainty::Search, &because, true);
            }
        }
    }

    fn log(&mut self, removed: &RemovedText) {
        let all: Vec<Cow<'_, [u8]>> = pieces(&removed.before);
        let count = Lines::cut(&self.asked.text).len();
        let first = usize::try_from(removed.first_line).unwrap_or(usize::MAX);
        let cut = Cut::new(&all, first, count);
        let file = PathBuf::from(&removed.path);
        let targets: Vec<(usize, PathBuf)> = self
            .roots
            .iter()
            .enumerate()
            .filter_map(|(index, root)| {
                let path = if file.is_absolute() {
                    root.holds(&file)?
                } else {
                    root.below(&file)?
                };
                path.is_file().then_some((index, path))
            })
            .collect();
        if targets.is_empty() {
            self.notes.push(format!(
                "{} names {}, which is in none of the folders looked in",
                removed.because, removed.path
            ));
        }
        for (index, path) in targets {
            self.place(index, &path, &cut, Certainty::Log, &removed.because, false);
        }
    }

    /// An older version of a file that has the text in it.
    fn version(&mut self, root: &Path, version: &search::Version) {
        let Some(index) = self.roots.iter().position(|r| r.path == root) else {
            return;
        };
        let all = pieces(&version.bytes);
        let removed = pieces(&self.asked.text);
        if removed.is_empty() {
            return;
        }
        let starts: Vec<usize> = all
            .windows(removed.len())
            .enumerate()
            .filter(|(_, window)| *window == removed.as_slice())
            .map(|(start, _)| start)
            .collect();
        // Several times in one version: which of them was cut is not known, each is tried.
        for start in starts {
            let cut = Cut::new(&all, start + 1, removed.len());
            self.place(
                index,
                &version.path,
                &cut,
                Certainty::Search,
                &version.because,
                false,
            );
        }
    }

    fn place(
        &mut self,
        root: usize,
        path: &Path,
        cut: &Cut<'_>,
        certainty: Certainty,
        because: &str,
        strange: bool,
    ) {
        let Some(root) = self.roots.get(root).map(|root| root.path.to_owned()) else {
            return;
        };
        let bytes = match read_whole(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                if !strange {
                    self.notes.push(format!("{}: {error}", path.display()));
                }
                return;
            }
        };
        let now = pieces(&bytes);
        let now: Vec<&[u8]> = now.iter().map(|line| line.as_ref()).collect();
        let text = pieces(&self.asked.text);
        let text: Vec<&[u8]> = text.iter().map(|line| line.as_ref()).collect();
        let anchor = Anchor {
            before: cut.before.clone(),
            after: cut.after.clone(),
        };
        let line_text = |index: Option<usize>| {
            let line = index.and_then(|index| now.get(index))?;
            Some(decode_text(line).into_owned())
        };
        let origin = |at: usize, length: usize| Origin {
            path: path.to_owned(),
            root: root.clone(),
            line: at as u64,
            certainty,
            because: because.to_owned(),
            before: line_text(at.checked_sub(1)),
            after: line_text(Some(at + length)),
            moved: at != cut.before.len(),
        };
        match place(&anchor, &text, &now) {
            Placed::At(at) if strange => self.elsewhere.push(origin(at, 0)),
            _ if strange => {}
            Placed::At(at) => self.add(origin(at, 0)),
            Placed::AlreadyAt(at) => {
                let there = origin(at, text.len());
                if !self.already.contains(&there) {
                    self.already.push(there);
                }
            }
            Placed::Several(all) => all.into_iter().for_each(|at| self.add(origin(at, 0))),
            Placed::Nowhere => self.notes.push(format!(
                "{}: the lines around the text are no longer there ({because})",
                path.display()
            )),
        }
    }

    fn add(&mut self, origin: Origin) {
        let known = self
            .places
            .iter()
            .any(|place| place.path == origin.path && place.line == origin.line);
        if !known {
            self.places.push(origin);
        }
    }
}

struct Cut<'a> {
    before: Vec<&'a [u8]>,
    after: Vec<&'a [u8]>,
}

impl<'a> Cut<'a> {
    /// `first` from 1.
    fn new(lines: &'a [Cow<'_, [u8]>], first: usize, count: usize) -> Cut<'a> {
        let start = first.saturating_sub(1).min(lines.len());
        let end = start.saturating_add(count).min(lines.len());
        let part = |range: &'a [Cow<'_, [u8]>]| range.iter().map(|line| line.as_ref()).collect();
        Cut {
            before: part(lines.get(..start).unwrap_or_default()),
            after: part(lines.get(end..).unwrap_or_default()),
        }
    }
}

/// Lines without their ends, as a chip shows them: bytes that are no UTF-8 are U+FFFD there.
fn pieces(bytes: &[u8]) -> Vec<Cow<'_, [u8]>> {
    Lines::cut(bytes).pieces.into_iter().map(shown).collect()
}

fn shown(piece: &[u8]) -> Cow<'_, [u8]> {
    match decode_text(piece) {
        Cow::Borrowed(_) => Cow::Borrowed(piece),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn bare(line: &[u8]) -> Cow<'_, [u8]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    shown(line.strip_suffix(b"\r").unwrap_or(line))
}

fn read_whole(path: &Path) -> std::io::Result<Vec<u8>> {
    let (file, metadata) = open_regular(path)?;
    if metadata.len() > LARGEST {
        return Err(std::io::Error::other("too large to look for a place in"));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
