//! The journal `restores.jsonl`: a canonical log of `restore.apply` events, one for each step, only ever added to.
//!
//! Beside the catalogue's fields a payload has what an undo needs: `root`, `madeFolders`, `beforeAttributes`,
//! and a `label` for people. A rollback is a restore too (kind `rollback`), so the journal alone says what
//! stands. Left out: writing the files (`apply`), settling a crash (`settle`).

use super::error::RestoreError;
use super::images::{write_at_once, Images};
use super::root::{Found, Root};
use super::write::MANY;
use crate::folder::{Folder, RealFolder, Stands};
use crate::places::{private_folder, Places};
use chipdeck_replay::restore::{Attributes, Content, FileImage, Kind, Moved, RestorePlan, Step};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(super) const FILE: &str = "restores.jsonl";
const LOCK: &str = "restores.lock";
const PATIENCE: Duration = Duration::from_secs(10);

type OpenRoot = dyn Fn(&Path) -> Result<Root, RestoreError> + Send + Sync;

/// The history of restores of this user, and the one way to write into a root.
pub struct Journal {
    data: Data,
    /// Never written by a restore.
    ours: Vec<PathBuf>,
    pub(super) open_root: Box<OpenRoot>,
    /// From so many files on, all are flushed together.
    pub(super) many: usize,
}

enum Data {
    /// Made when first needed.
    At(PathBuf),
    #[cfg(test)]
    Given(Arc<dyn Folder>),
}

/// A restore of the history.
#[derive(Clone, Debug, PartialEq)]
pub struct PastRestore {
    pub id: String,
    /// Unix milliseconds.
    pub time: i64,
    /// As the journal has it: a [`Kind`]'s name, or one of a later version.
    pub kind: String,
    /// What it put where, for people.
    pub label: Option<String>,
    pub root: PathBuf,
    pub undo_of: Option<String>,
    /// The restore that took it back and stands itself.
    pub undone_by: Option<String>,
    pub steps: Vec<PastStep>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PastStep {
    /// Below the root.
    pub path: String,
    /// Where it really was, links followed.
    pub real: String,
    pub before_sha256: Option<String>,
    pub after_sha256: Option<String>,
    /// Folders that were made for it, outermost first.
    pub made_folders: Vec<String>,
    pub before_attributes: Option<Attributes>,
}

impl PastStep {
    /// `create`, `replace` or `delete`.
    pub fn action(&self) -> &'static str {
        match (&self.before_sha256, &self.after_sha256) {
            (None, _) => "create",
            (Some(_), Some(_)) => "replace",
            (Some(_), None) => "delete",
        }
    }
}

/// A line of the journal, in the order of the format's table.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    pub event_id: String,
    pub trace_id: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent_event_id: Option<String>,
    #[serde(default)]
    pub seq: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    pub r#type: String,
    pub timestamp: i64,
    pub payload: Payload,
    #[serde(default = "one")]
    pub version: u32,
}

fn one() -> u32 {
    1
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Payload {
    pub restore_id: String,
    pub kind: String,
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after_sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undo_of: Option<String>,
    #[serde(default)]
    pub root: String,
    /// Hex, where `root` is no UTF-8.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub root_bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<String>,
    /// Where it differs from `path`: links were followed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub real_path: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub made_folders: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub before_attributes: Option<Attributes>,
}

/// Our data folder with the lock on it.
pub(super) struct Held {
    pub data: Arc<dyn Folder>,
    _lock: Box<dyn Send + Sync>,
}

impl Journal {
    /// Touches no disk.
    pub fn new(places: &Places) -> Journal {
        Journal {
            data: Data::At(places.data.clone()),
            ours: places.all().into_iter().map(Path::to_path_buf).collect(),
            open_root: Box::new(open_as_recorded),
            many: MANY,
        }
    }

    #[cfg(test)]
    pub(super) fn with(data: Arc<dyn Folder>, open_root: Box<OpenRoot>, many: usize) -> Journal {
        Journal {
            data: Data::Given(data),
            ours: Vec::new(),
            open_root,
            many,
        }
    }

    /// All restores, newest first. Those that broke off and were put back are left out with their rollback.
    pub fn history(&self) -> Result<Vec<PastRestore>, RestoreError> {
        let mut all = self.all()?;
        let broken: Vec<String> = all
            .iter()
            .filter(|past| past.kind == Kind::Rollback.as_str())
            .filter_map(|past| past.undo_of.clone())
            .collect();
        all.retain(|past| past.kind != Kind::Rollback.as_str() && !broken.contains(&past.id));
        all.reverse();
        Ok(all)
    }

    /// How many pieces of the journal can't be read: a torn end that a dying process left, or damage by another
    /// hand. What they said can't be undone.
    pub fn damaged_lines(&self) -> Result<usize, RestoreError> {
        let Some(data) = self.data()? else {
            return Ok(0);
        };
        let bytes = read_bytes(&data)?;
        Ok(bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| {
                !line.is_empty() && serde_json::from_slice::<serde_json::Value>(line).is_err()
            })
            .count())
    }

    /// Bytes of an image that the history names; `None`: gone.
    pub fn image(&self, sha256: &str) -> Option<Content> {
        let data = self.data().ok().flatten()?;
        Images::new(data).find(sha256)
    }

    /// The restore that an undo without an id takes back.
    pub fn newest_to_undo(&self) -> Result<PastRestore, RestoreError> {
        let mut history = self.history()?.into_iter();
        let fits = |past: &PastRestore| past.undo_of.is_none() && past.undone_by.is_none();
        history.find(fits).ok_or(RestoreError::NothingToUndo)
    }

    /// Plans to take a restore back (the newest that stands and is no undo, or that one), with its root.
    /// `Moved` where the files are not as it left them.
    pub fn plan_undo(&self, restore: Option<&str>) -> Result<(Root, RestorePlan), RestoreError> {
        let past = match restore {
            None => self.newest_to_undo()?,
            Some(id) => {
                let mut history = self.history()?.into_iter();
                let found = history.find(|past| past.id == id);
                found.ok_or_else(|| RestoreError::UnknownRestore(id.to_owned()))?
            }
        };
        self.plan_undo_of(&past)
    }

    /// The same for a row of the history.
    pub fn plan_undo_of(&self, past: &PastRestore) -> Result<(Root, RestorePlan), RestoreError> {
        if let Some(by) = &past.undone_by {
            return Err(RestoreError::AlreadyUndone {
                restore: past.id.clone(),
                by: by.clone(),
            });
        }
        let root = (self.open_root)(&past.root)?;
        let mut steps = Vec::new();
        let mut moved = Vec::new();
        let made = past.steps.iter().filter(|s| s.before_sha256.is_none());
        let gone = made.map(|step| step.real.clone()).collect();
        for step in past.steps.iter().rev() {
            let found = match root.read_after(&step.real, &gone) {
                Err(RestoreError::NotAFile { what, .. }) if what.means_absent() => Found::default(),
                found => found?,
            };
            let hash = found
                .image
                .as_ref()
                .map(|image| image.content.sha256().to_owned());
            if hash != step.after_sha256 {
                moved.push(Moved {
                    path: step.path.clone(),
                    expected: step.after_sha256.clone(),
                    found: hash,
                });
                continue;
            }
            let after = match &step.before_sha256 {
                None => None,
                Some(sha256) => Some(FileImage {
                    content: self.image(sha256).ok_or_else(|| RestoreError::ImageGone {
                        path: step.path.clone(),
                        sha256: sha256.clone(),
                    })?,
                    attributes: step.before_attributes.clone(),
                }),
            };
            let mut back = Step::new(step.real.clone(), found.image, after);
            back.prune = step.made_folders.iter().rev().cloned().collect();
            found.notes.into_iter().for_each(|note| back.note(note));
            steps.push(back);
        }
        if !moved.is_empty() {
            return Err(RestoreError::Moved(moved));
        }
        let mut plan = RestorePlan::new(Kind::Undo, steps);
        plan.undo_of = Some(past.id.clone());
        plan.label = past.label.clone();
        Ok((root, plan))
    }

    /// Our own folders, as named and with links followed.
    pub(super) fn own_places(&self) -> Vec<PathBuf> {
        let real = self.ours.iter().filter_map(|path| path.canonicalize().ok());
        real.chain(self.ours.iter().cloned()).collect()
    }

    /// The data folder, where it exists.
    pub(super) fn data(&self) -> Result<Option<Arc<dyn Folder>>, RestoreError> {
        match &self.data {
            Data::At(path) => match RealFolder::open(path) {
                Ok(folder) => Ok(Some(Arc::new(folder))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(RestoreError::io(path.display().to_string())(error)),
            },
            #[cfg(test)]
            Data::Given(folder) => Ok(Some(folder.clone())),
        }
    }

    /// The data folder, made where it is missing, and the lock.
    pub(super) fn hold(&self) -> Result<Held, RestoreError> {
        let data: Arc<dyn Folder> = match &self.data {
            Data::At(path) => {
                let said = path.display().to_string();
                private_folder(path).map_err(RestoreError::io(said.clone()))?;
                Arc::new(RealFolder::open(path).map_err(RestoreError::io(said))?)
            }
            #[cfg(test)]
            Data::Given(folder) => folder.clone(),
        };
        match data.lock(OsStr::new(LOCK), PATIENCE) {
            Ok(lock) => Ok(Held { data, _lock: lock }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(RestoreError::Busy),
            Err(error) => Err(RestoreError::io(LOCK)(error)),
        }
    }

    /// Oldest first, rollbacks included.
    pub(super) fn all(&self) -> Result<Vec<PastRestore>, RestoreError> {
        match self.data()? {
            None => Ok(Vec::new()),
            Some(data) => Ok(group(read_lines(&data)?)),
        }
    }
}

/// The root that the journal names, if it is still that folder: where a link stands in its place or above it, the
/// files below are others.
fn open_as_recorded(path: &Path) -> Result<Root, RestoreError> {
    let root = Root::open(path)?;
    if root.path() == path {
        return Ok(root);
    }
    Err(RestoreError::Io {
        what: format!("the folder {}", path.display()),
        source: std::io::Error::other(format!(
            "it is now a link to {}, another folder",
            root.path().display()
        )),
    })
}

/// The journal's bytes; none where there is no journal yet.
fn read_bytes(data: &Arc<dyn Folder>) -> Result<Vec<u8>, RestoreError> {
    let name = OsStr::new(FILE);
    match data.look(name).map_err(RestoreError::io(FILE))? {
        None => Ok(Vec::new()),
        Some(_) => data
            .read(name)
            .map(|read| read.bytes)
            .map_err(RestoreError::io(FILE)),
    }
}

/// The `restore.apply` lines; anything else in the file is passed over.
pub(super) fn read_lines(data: &Arc<dyn Folder>) -> Result<Vec<Line>, RestoreError> {
    let bytes = read_bytes(data)?;
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    Ok(lines
        .filter(|line| line.r#type == "restore.apply")
        .collect())
}

/// Adds lines; on the disk when this returns. A line of ours that a dying process left unfinished at the end is cut off:
/// nothing was written on its strength; a copy stays beside. Anything else at the end is somebody else's and stays.
pub(super) fn append(data: &Arc<dyn Folder>, lines: &[Line]) -> Result<(), RestoreError> {
    let failed = |source| RestoreError::Io {
        what: FILE.to_owned(),
        source,
    };
    let old = read_bytes(data)?;
    let name = OsStr::new(FILE);
    let mut bytes = Vec::new();
    let torn = old.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    if !torn.is_empty() {
        let whole = serde_json::from_slice::<serde_json::Value>(torn).is_ok();
        if whole || !is_ours(torn) {
            bytes.push(b'\n');
        } else {
            put_aside(data, torn).map_err(failed)?;
            data.cut(name, (old.len() - torn.len()) as u64)
                .map_err(failed)?;
        }
    }
    for line in lines {
        serde_json::to_writer(&mut bytes, line).map_err(|error| failed(error.into()))?;
        bytes.push(b'\n');
    }
    if bytes.is_empty() {
        return Ok(());
    }
    data.append(name, &bytes).map_err(failed)?;
    data.flush().map_err(failed)
}

/// The beginning of a line as [`append`] writes it.
fn is_ours(torn: &[u8]) -> bool {
    const BEGIN: &[u8] = b"{\"eventId\":\"r";
    let shared = torn.len().min(BEGIN.len());
    torn.get(..shared) == BEGIN.get(..shared)
}

/// A copy of what is cut from the journal, in a file of its own.
fn put_aside(data: &Arc<dyn Folder>, torn: &[u8]) -> io::Result<()> {
    let mut number = 1_u32;
    loop {
        let name = format!("{FILE}.torn-{number}");
        match data.look(OsStr::new(&name))? {
            None => return write_at_once(data, OsStr::new(&name), torn),
            // The same piece again: a process that died between the copy and the cut.
            Some(Stands::File) if data.read(OsStr::new(&name))?.bytes == torn => return Ok(()),
            Some(_) => number = number.checked_add(1).ok_or(io::ErrorKind::AlreadyExists)?,
        }
    }
}

fn group(lines: Vec<Line>) -> Vec<PastRestore> {
    let mut all: Vec<PastRestore> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for line in lines {
        let Payload {
            restore_id,
            kind,
            path,
            before_sha256,
            after_sha256,
            undo_of,
            root,
            root_bytes,
            label,
            real_path,
            made_folders,
            before_attributes,
        } = line.payload;
        let at = *places.entry(restore_id.clone()).or_insert(all.len());
        if at == all.len() {
            all.push(PastRestore {
                id: restore_id,
                time: line.timestamp,
                kind,
                label,
                root: root_path(&root, root_bytes.as_deref()),
                undo_of,
                undone_by: None,
                steps: Vec::new(),
            });
        }
        if let Some(past) = all.get_mut(at) {
            past.steps.push(PastStep {
                real: real_path.unwrap_or_else(|| path.clone()),
                path,
                before_sha256,
                after_sha256,
                made_folders,
                before_attributes,
            });
        }
    }
    // From the newest back: an undo counts while nothing took it back itself.
    let mut undone: HashMap<String, String> = HashMap::new();
    for past in all.iter_mut().rev() {
        past.undone_by = undone.get(&past.id).cloned();
        if let (Some(of), None) = (&past.undo_of, &past.undone_by) {
            undone.entry(of.clone()).or_insert_with(|| past.id.clone());
        }
    }
    all
}

/// A root's path for JSON, and its bytes where it is no UTF-8.
#[cfg(unix)]
pub(super) fn root_text(path: &Path) -> (String, Option<String>) {
    use std::os::unix::ffi::OsStrExt;
    match path.to_str() {
        Some(text) => (text.to_owned(), None),
        None => {
            let bytes = crate::hex::encode(path.as_os_str().as_bytes());
            (path.to_string_lossy().into_owned(), Some(bytes))
        }
    }
}

#[cfg(unix)]
pub(super) fn root_path(text: &str, bytes: Option<&str>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    match bytes.and_then(crate::hex::decode) {
        Some(bytes) => std::ffi::OsString::from_vec(bytes).into(),
        None => text.into(),
    }
}

#[cfg(not(unix))]
pub(super) fn root_text(path: &Path) -> (String, Option<String>) {
    (path.to_string_lossy().into_owned(), None)
}

#[cfg(not(unix))]
pub(super) fn root_path(text: &str, _: Option<&str>) -> PathBuf {
    text.into()
}
