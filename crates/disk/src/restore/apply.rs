//! One plan onto the disk: all of it, or nothing.
//!
//! In this order: the lock; what an earlier crash left; every precondition; images of what is there; the
//! intent (what will be done, for a process that finds us dead); the journal's lines; the files, one by one, each
//! at once; the intent goes. A failing step puts the earlier ones back. Left out: what a crash leaves (`settle`).

use super::error::{Outside, Reason, RestoreError};
use super::images::{made, write_at_once, Images};
use super::journal::{append, read_lines, root_text, Held, Journal, Line, Payload};
use super::root::Root;
use super::settle::{put_back, remove_intent, Intent, IntentStep, PENDING};
use super::target::{resolve, Gone, Target};
use crate::folder::{Access, Folder};
use chipdeck_replay::restore::{
    sha256_hex, Action, Attributes, Content, FileImage, Moved, RestorePlan, Step,
};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::sync::Arc;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The restore's id, for an undo.
    pub restore: String,
    pub steps: Vec<(String, Action)>,
    /// Files whose owner or extended attributes the system would not let us keep.
    pub undressed: Vec<String>,
}

impl Journal {
    /// Writes a plan. `now` is the time in Unix milliseconds. `None`: the disk had it all already, nothing was
    /// written or journaled. On any error but `Broken` every file is as it was.
    pub fn apply(
        &self,
        root: &Root,
        plan: &RestorePlan,
        now: i64,
    ) -> Result<Option<Applied>, RestoreError> {
        let held = self.hold()?;
        self.settle_held(&held, now)?.refuse_for(root)?;
        if let Some(undone) = &plan.undo_of {
            let all = self.all()?;
            if let Some(by) = all
                .iter()
                .find(|p| p.id == *undone)
                .and_then(|p| p.undone_by.clone())
            {
                let restore = undone.clone();
                return Err(RestoreError::AlreadyUndone { restore, by });
            }
        }
        let mut todo = check(self, root, plan)?;
        todo.retain(|(step, _)| step.action() != Action::None);
        if todo.is_empty() {
            return Ok(None);
        }
        // Deletes first: a file may become a folder, and a folder a file.
        todo.sort_by_key(|(step, _)| step.action() != Action::Delete);
        let images = Images::new(held.data.clone());
        let before = todo.iter().filter_map(|(step, _)| step.before.as_ref());
        let after = todo.iter().filter_map(|(step, _)| step.after.as_ref());
        let kept = images
            .keep(before.map(|image| &image.content))
            .and_then(|()| images.keep_for_show(after.map(|image| &image.content)));
        kept.map_err(RestoreError::io("the kept copies"))?;
        let lines = read_lines(&held.data)?;
        let id = new_id(&lines);
        let intent = intent(&id, root, plan, &todo);
        write_intent(&held, &intent).map_err(RestoreError::io("the intent"))?;
        let next = lines.iter().map(|line| line.seq + 1).max().unwrap_or(0);
        if let Err(error) = append(&held.data, &journal_lines(&intent, next, now)) {
            // Nothing is written yet; what was journaled all the same is taken back, here or at the next start.
            if super::settle::journal_rollback(&held, &intent, now).is_ok() {
                let _ = remove_intent(&held.data, &intent);
            }
            return Err(error);
        }
        write_all(&held, root, &intent, &todo, &images, now)
    }
}

/// A file as it was found when the plan was checked.
struct Checked {
    /// Links followed.
    real: String,
    makes: Vec<String>,
    clears: Vec<String>,
    attributes: Option<Attributes>,
}

/// Every precondition, before anything is touched.
fn check<'a>(
    journal: &Journal,
    root: &Root,
    plan: &'a RestorePlan,
) -> Result<Vec<(&'a Step, Checked)>, RestoreError> {
    let mut all = Vec::new();
    let mut moved = Vec::new();
    let mut seen: HashMap<String, &str> = HashMap::new();
    let ours = journal.own_places();
    let mut gone = Gone::new();
    for step in &plan.steps {
        if step.action() == Action::Delete {
            gone.insert(root.target(&step.path)?.real());
        }
    }
    for step in &plan.steps {
        let target = match root.target_after(&step.path, &gone) {
            // Nothing is there, and nothing is to be.
            Err(RestoreError::NotAFile { what, .. })
                if what.means_absent() && step.before.is_none() && step.after.is_none() =>
            {
                continue
            }
            target => target?,
        };
        let real = target.real();
        if let Some(first) = seen.insert(real.clone(), &step.path) {
            return Err(RestoreError::SameFile {
                first: first.to_owned(),
                second: step.path.clone(),
            });
        }
        let full = root.path().join(&real);
        if ours.iter().any(|ours| full.starts_with(ours)) {
            return Err(RestoreError::Outside(Outside {
                path: step.path.clone(),
                reason: Reason::OwnPlace,
            }));
        }
        let said = format!("{:?}", step.path);
        let read = target.read().map_err(RestoreError::io(said))?;
        let found = read.as_ref().map(|read| sha256_hex(&read.bytes));
        if found.as_deref() != step.before_sha256() {
            moved.push(Moved {
                path: step.path.clone(),
                expected: step.before_sha256().map(str::to_owned),
                found,
            });
        }
        let checked = Checked {
            real,
            makes: target.folders_to_make(),
            clears: target.clears.clone(),
            attributes: read.map(|read| read.attributes),
        };
        all.push((step, checked));
    }
    match moved.is_empty() {
        true => Ok(all),
        false => Err(RestoreError::Moved(moved)),
    }
}

fn intent(id: &str, root: &Root, plan: &RestorePlan, todo: &[(&Step, Checked)]) -> Intent {
    let (root, root_bytes) = root_text(root.path());
    let mut folders: HashSet<&str> = HashSet::new();
    let steps = todo.iter().enumerate().map(|(number, (step, checked))| {
        // A folder belongs to the first step that needs it.
        let mut makes = checked.makes.clone();
        makes.retain(|folder| !folders.contains(folder.as_str()));
        folders.extend(checked.makes.iter().map(String::as_str));
        IntentStep {
            path: step.path.clone(),
            real: checked.real.clone(),
            before: step.before_sha256().map(str::to_owned),
            after: step.after_sha256().map(str::to_owned),
            before_attributes: checked.attributes.clone(),
            temporary: format!(".chipdeck-{id}-{number}"),
            makes,
            prune: step.prune.clone(),
            clears: checked.clears.clone(),
        }
    });
    Intent {
        restore: id.to_owned(),
        kind: plan.kind.as_str().to_owned(),
        undo_of: plan.undo_of.clone(),
        label: plan.label.clone(),
        steps: steps.collect(),
        root,
        root_bytes,
    }
}

fn write_intent(held: &Held, intent: &Intent) -> io::Result<()> {
    let pending = made(&held.data, PENDING)?;
    let bytes = serde_json::to_vec(intent).map_err(io::Error::from)?;
    write_at_once(&pending, OsStr::new(&intent.file_name()), &bytes)
}

/// The journal's lines for an intent, from sequence number `next` on.
pub(super) fn journal_lines(intent: &Intent, next: u64, now: i64) -> Vec<Line> {
    let lines = (0_u64..).zip(&intent.steps).map(|(number, step)| Line {
        event_id: format!("{}.{}", intent.restore, number + 1),
        trace_id: intent.restore.clone(),
        parent_event_id: intent.undo_of.as_ref().map(|undone| format!("{undone}.1")),
        seq: next + number,
        session: Some("exec".to_owned()),
        r#type: "restore.apply".to_owned(),
        timestamp: now,
        payload: Payload {
            restore_id: intent.restore.clone(),
            kind: intent.kind.clone(),
            path: step.path.clone(),
            before_sha256: step.before.clone(),
            after_sha256: step.after.clone(),
            undo_of: intent.undo_of.clone(),
            root: intent.root.clone(),
            root_bytes: intent.root_bytes.clone(),
            label: intent.label.clone(),
            real_path: (step.real != step.path).then(|| step.real.clone()),
            made_folders: step.makes.clone(),
            before_attributes: step.before_attributes.clone(),
        },
        version: 1,
    });
    lines.collect()
}

/// Why a step stopped, and whether the file may be changed already.
struct Stopped {
    touched: bool,
    why: Why,
}

enum Why {
    Io(io::Error),
    Moved(Option<String>),
    Place(RestoreError),
}

fn write_all(
    held: &Held,
    root: &Root,
    intent: &Intent,
    todo: &[(&Step, Checked)],
    images: &Images,
    now: i64,
) -> Result<Option<Applied>, RestoreError> {
    let mut applied = Applied {
        restore: intent.restore.clone(),
        steps: Vec::new(),
        undressed: Vec::new(),
    };
    let mut flushes = Flushes::default();
    for (number, (plan, (step, _))) in intent.steps.iter().zip(todo).enumerate() {
        match write_one(root, step, plan, &mut flushes) {
            Ok(dressed) => {
                applied.steps.push((step.path.clone(), step.action()));
                if !dressed {
                    applied.undressed.push(step.path.clone());
                }
            }
            Err(stopped) => {
                let reached = number + usize::from(stopped.touched);
                return Err(give_up(
                    held,
                    root,
                    intent,
                    (number, reached),
                    stopped.why,
                    images,
                    now,
                ));
            }
        }
    }
    if let Err(error) = flushes.done() {
        let all = intent.steps.len();
        let at = (all.saturating_sub(1), all);
        return Err(give_up(held, root, intent, at, Why::Io(error), images, now));
    }
    for step in &intent.steps {
        prune(root, &step.prune);
    }
    // The files are written and flushed: what is left of the intent is swept at the next start.
    let _ = remove_intent(&held.data, intent);
    Ok(Some(applied))
}

/// Folders whose names have changed. Each file's bytes are flushed before it gets its name; which names are on the disk
/// matters only when the intent goes, so a folder is flushed once for all its files.
#[derive(Default)]
struct Flushes(HashMap<String, Arc<dyn Folder>>);

impl Flushes {
    fn add(&mut self, path: &[String], folder: &Arc<dyn Folder>) {
        self.0
            .entry(path.join("/"))
            .or_insert_with(|| folder.clone());
    }

    /// A folder that is gone has nothing to flush.
    fn forget(&mut self, path: &str) {
        self.0.remove(path);
    }

    fn done(self) -> io::Result<()> {
        self.0.into_values().try_for_each(|folder| folder.flush())
    }
}

/// Puts the first `reached` steps back; says what happened at step `at`.
fn give_up(
    held: &Held,
    root: &Root,
    intent: &Intent,
    (at, reached): (usize, usize),
    why: Why,
    images: &Images,
    now: i64,
) -> RestoreError {
    let step = intent.steps.get(at);
    let path = step.map(|step| step.path.clone()).unwrap_or_default();
    let back = put_back(root, intent, reached, images);
    let source = match (back, why) {
        (Ok(()), why) => {
            // The rollback's lines are for the history alone; without them the next start writes them.
            let settled = super::settle::journal_rollback(held, intent, now);
            if settled.is_ok() {
                let _ = remove_intent(&held.data, intent);
            }
            match why {
                Why::Place(error) => return error,
                Why::Moved(found) => {
                    return RestoreError::Moved(vec![Moved {
                        path,
                        expected: step.and_then(|step| step.before.clone()),
                        found,
                    }])
                }
                Why::Io(source) => source,
            }
        }
        (Err((left, error)), why) => {
            let source = match why {
                Why::Io(source) => source,
                Why::Moved(_) => io::Error::other("it changed meanwhile"),
                Why::Place(error) => io::Error::other(error.to_string()),
            };
            return RestoreError::Broken {
                path,
                source,
                left,
                why: error,
            };
        }
    };
    RestoreError::PutBack { path, source }
}

fn write_one(
    root: &Root,
    step: &Step,
    plan: &IntentStep,
    flushes: &mut Flushes,
) -> Result<bool, Stopped> {
    let untouched = |why| Stopped {
        touched: false,
        why,
    };
    if !plan.clears.is_empty() {
        // Its files are deleted by now: what is left in it came meanwhile, and stops us.
        clear(root, &plan.clears, flushes).map_err(|error| untouched(Why::Io(error)))?;
    }
    let target = resolve(root, &plan.real).map_err(|error| untouched(Why::Place(error)))?;
    if target.linked {
        // A link appeared on a way that had none.
        return Err(untouched(Why::Moved(None)));
    }
    match &step.after {
        Some(image) => {
            let expected = step.before_sha256();
            put(&target, image, expected, &plan.temporary, flushes)
        }
        None => {
            now_is(&target, step.before_sha256()).map_err(untouched)?;
            let touched = |error| Stopped {
                touched: true,
                why: Why::Io(error),
            };
            target
                .folder
                .remove_file(OsStr::new(&target.name))
                .map_err(touched)?;
            flushes.add(&target.parents, &target.folder);
            Ok(true)
        }
    }
}

/// The target as the plan counts on it, looked at again right before the write.
fn now_is(target: &Target, expected: Option<&str>) -> Result<Option<Attributes>, Why> {
    let read = target.read().map_err(Why::Io)?;
    let found = read.as_ref().map(|read| sha256_hex(&read.bytes));
    match found.as_deref() == expected {
        true => Ok(read.map(|read| read.attributes)),
        false => Err(Why::Moved(found)),
    }
}

/// Writes a file whole under a temporary name beside its place, then puts it there at once. `expected` is the
/// hash of what it replaces. False: not all attributes could be kept.
fn put(
    target: &Target,
    image: &FileImage,
    expected: Option<&str>,
    temporary: &str,
    flushes: &mut Flushes,
) -> Result<bool, Stopped> {
    // Folders and the temporary file are ours to remove: that counts as touched.
    let touched = |error| Stopped {
        touched: true,
        why: Why::Io(error),
    };
    let dress = match now_is(target, expected) {
        Ok(Some(there)) => Some(there),
        Ok(None) => image.attributes.clone(),
        Err(why) => {
            return Err(Stopped {
                touched: false,
                why,
            })
        }
    };
    let folder = make_folders(target, flushes).map_err(touched)?;
    let dressed =
        write_temporary(&folder, &image.content, dress.as_ref(), temporary).map_err(touched)?;
    let (from, to) = (OsStr::new(temporary), OsStr::new(&target.name));
    let named = match expected {
        None => folder.name_new(from, to),
        Some(_) => match now_is(target, expected) {
            Ok(_) => folder.replace(from, to),
            Err(why) => {
                let _ = folder.remove_file(from);
                return Err(Stopped {
                    touched: false,
                    why,
                });
            }
        },
    };
    match named {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && expected.is_none() => {
            // Somebody made the file meanwhile: it is theirs.
            let _ = folder.remove_file(from);
            let found = folder.read(to).ok().map(|read| sha256_hex(&read.bytes));
            return Err(Stopped {
                touched: false,
                why: Why::Moved(found),
            });
        }
        named => named.map_err(touched)?,
    }
    Ok(dressed)
}

/// The file's folder, with those that are missing on the way to it.
fn make_folders(target: &Target, flushes: &mut Flushes) -> io::Result<Arc<dyn Folder>> {
    let mut folder = target.folder.clone();
    let mut path = target.parents.clone();
    for name in &target.missing {
        folder.make_folder(OsStr::new(name), Access::Usual)?;
        flushes.add(&path, &folder);
        folder = folder.folder(OsStr::new(name))?;
        path.push(name.clone());
    }
    flushes.add(&path, &folder);
    Ok(folder)
}

/// A whole file under a name that nobody looks at, flushed.
pub(super) fn write_temporary(
    folder: &Arc<dyn Folder>,
    content: &Content,
    dress: Option<&Attributes>,
    temporary: &str,
) -> io::Result<bool> {
    let access = match dress {
        Some(_) => Access::Private,
        None => Access::Usual,
    };
    let mut file = folder.create(OsStr::new(temporary), access)?;
    file.write(content.bytes())?;
    let dressed = match dress {
        Some(attributes) => file.dress(attributes)?,
        None => true,
    };
    file.flush()?;
    Ok(dressed)
}

/// Removes those of the folders that are empty, deepest first; what can't be removed stays.
pub(super) fn prune(root: &Root, folders: &[String]) {
    for path in folders {
        if let Ok((parent, name)) = parent_of(root, path) {
            if parent.remove_folder(OsStr::new(name)).is_ok() {
                let _ = parent.flush();
            }
        }
    }
}

/// Removes all of the folders, deepest first.
fn clear(root: &Root, folders: &[String], flushes: &mut Flushes) -> io::Result<()> {
    for path in folders {
        let (parent, name) = parent_of(root, path)?;
        parent.remove_folder(OsStr::new(name))?;
        flushes.forget(path);
        let above: Vec<String> = path.split('/').map(str::to_owned).collect();
        flushes.add(above.split_last().map_or(&[], |(_, above)| above), &parent);
    }
    Ok(())
}

/// The folder that a folder below the root is in, and its name there. Follows no link.
fn parent_of<'a>(root: &Root, path: &'a str) -> io::Result<(Arc<dyn Folder>, &'a str)> {
    let (above, name) = match path.rsplit_once('/') {
        Some((above, name)) => (Some(above), name),
        None => (None, path),
    };
    let mut folder = root.folder.clone();
    for name in above.into_iter().flat_map(|above| above.split('/')) {
        folder = folder.folder(OsStr::new(name))?;
    }
    Ok((folder, name))
}

/// Short enough to type; unlike all in the journal.
fn new_id(lines: &[Line]) -> String {
    loop {
        // The standard library's own source of randomness.
        let random = std::collections::hash_map::RandomState::new()
            .build_hasher()
            .finish();
        let id = format!("r{:08x}", random & 0xffff_ffff);
        if lines.iter().all(|line| line.payload.restore_id != id) {
            return id;
        }
    }
}
