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
use super::write::{
    clear, make_folders, prune, sweep, take_away, take_place, write_temporary, Done, Flushes,
};
use crate::folder::Folder;
use chipdeck_replay::restore::{
    sha256_hex, Action, Attributes, FileImage, Moved, RestorePlan, Step,
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
            .keep(before.map(|image| &image.content), self.many)
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
        let writing = Writing {
            held: &held,
            root,
            intent: &intent,
            todo: &todo,
            images: &images,
            many: self.many,
            flushes: Flushes::new(todo.len(), self.many),
            staged: Vec::new(),
            touched: HashSet::new(),
            undressed: HashSet::new(),
        };
        write_all(writing, now)
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

/// Why a step stopped.
enum Why {
    Io(io::Error),
    Moved(Option<String>),
    Place(RestoreError),
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Why {
        Why::Io(error)
    }
}

/// The files of one plan on their way onto the disk.
struct Writing<'a> {
    held: &'a Held,
    root: &'a Root,
    intent: &'a Intent,
    todo: &'a [(&'a Step, Checked)],
    images: &'a Images,
    many: usize,
    flushes: Flushes,
    /// Files that are written beside their places.
    staged: Vec<Staged>,
    /// Steps whose place may have changed.
    touched: HashSet<usize>,
    undressed: HashSet<usize>,
}

struct Staged {
    number: usize,
    folder: Arc<dyn Folder>,
    name: String,
}

/// Everything new is written beside its place and flushed before the first file changes, as far as its folder is there;
/// then the names change, one at a time.
fn write_all(mut writing: Writing, now: i64) -> Result<Option<Applied>, RestoreError> {
    let mut at = 0;
    if let Err(why) = writing.all(&mut at) {
        return Err(give_up(writing, at, why, now));
    }
    let Writing {
        held,
        intent,
        todo,
        undressed,
        ..
    } = writing;
    let mut applied = Applied {
        restore: intent.restore.clone(),
        steps: Vec::new(),
        undressed: Vec::new(),
    };
    for (number, (step, _)) in todo.iter().enumerate() {
        applied.steps.push((step.path.clone(), step.action()));
        if undressed.contains(&number) {
            applied.undressed.push(step.path.clone());
        }
    }
    // The files are written and flushed: what is left of the intent is swept at the next start.
    let _ = remove_intent(&held.data, intent);
    Ok(Some(applied))
}

impl Writing<'_> {
    /// `at`: the step that it is at.
    fn all(&mut self, at: &mut usize) -> Result<(), Why> {
        let (todo, intent) = (self.todo, self.intent);
        let steps = || todo.iter().zip(&intent.steps).enumerate();
        let early = |step: &Checked| step.makes.is_empty() && step.clears.is_empty();
        for (number, ((step, checked), plan)) in steps() {
            if let Some(image) = step.after.as_ref().filter(|_| early(checked)) {
                *at = number;
                self.stage(number, image, step, plan)?;
            }
        }
        for (number, ((step, _), plan)) in
            steps().filter(|(_, ((step, _), _))| step.after.is_none())
        {
            *at = number;
            self.delete(number, step, plan)?;
        }
        for (number, ((step, checked), plan)) in steps() {
            if let Some(image) = step.after.as_ref().filter(|_| !early(checked)) {
                *at = number;
                if !plan.clears.is_empty() {
                    // Its files are deleted by now: what is left in it came meanwhile, and stops us.
                    self.touched.insert(number);
                    clear(self.root, &plan.clears, &mut self.flushes)?;
                }
                self.stage(number, image, step, plan)?;
            }
        }
        self.flushes.files()?;
        let staged = std::mem::take(&mut self.staged);
        for Staged {
            number,
            folder,
            name,
        } in &staged
        {
            let (Some((step, _)), Some(plan)) = (todo.get(*number), intent.steps.get(*number))
            else {
                continue;
            };
            *at = *number;
            self.touched.insert(*number);
            let temporary = OsStr::new(&plan.temporary);
            let name = OsStr::new(name);
            match take_place(folder, temporary, name, step.before_sha256())? {
                Done::Yes => {}
                Done::Moved(found) => {
                    self.touched.remove(number);
                    return Err(Why::Moved(found));
                }
            }
        }
        // What was replaced, now that all are in their places.
        for Staged { number, folder, .. } in &staged {
            if let Some(plan) = intent.steps.get(*number).filter(|it| it.before.is_some()) {
                *at = *number;
                sweep(folder, OsStr::new(&plan.temporary), None)?;
            }
        }
        for step in &intent.steps {
            prune(self.root, &step.prune, &mut self.flushes);
        }
        let many = self.many;
        std::mem::replace(&mut self.flushes, Flushes::new(0, many)).names()?;
        Ok(())
    }

    /// Where the step's file is, no link on the way.
    fn place(&self, plan: &IntentStep) -> Result<Target, Why> {
        let target = resolve(self.root, &plan.real).map_err(Why::Place)?;
        match target.linked {
            false => Ok(target),
            // A link appeared on a way that had none.
            true => Err(Why::Moved(None)),
        }
    }

    fn stage(
        &mut self,
        number: usize,
        image: &FileImage,
        step: &Step,
        plan: &IntentStep,
    ) -> Result<(), Why> {
        let target = self.place(plan)?;
        let dress = match now_is(&target, step.before_sha256())? {
            Some(there) => Some(there),
            None => image.attributes.clone(),
        };
        let folder = make_folders(&target, &mut self.flushes)?;
        let temporary = OsStr::new(&plan.temporary);
        let (content, dress) = (&image.content, dress.as_ref());
        if !write_temporary(&folder, content, dress, temporary, &mut self.flushes)? {
            self.undressed.insert(number);
        }
        let name = target.name;
        self.staged.push(Staged {
            number,
            folder,
            name,
        });
        Ok(())
    }

    fn delete(&mut self, number: usize, step: &Step, plan: &IntentStep) -> Result<(), Why> {
        let target = self.place(plan)?;
        let expected = step.before_sha256();
        now_is(&target, expected)?;
        self.touched.insert(number);
        let (temporary, name) = (OsStr::new(&plan.temporary), OsStr::new(&target.name));
        if let Done::Moved(found) = take_away(&target.folder, temporary, name, expected)? {
            self.touched.remove(&number);
            return Err(Why::Moved(found));
        }
        self.flushes.add(&target.parents, &target.folder);
        Ok(())
    }
}

/// Puts back what was touched; says what happened at step `at`.
fn give_up(writing: Writing, at: usize, why: Why, now: i64) -> RestoreError {
    let Writing {
        held,
        root,
        intent,
        images,
        many,
        touched,
        ..
    } = writing;
    let step = intent.steps.get(at);
    let path = step.map(|step| step.path.clone()).unwrap_or_default();
    let back = put_back(
        root,
        intent,
        |number| touched.contains(&number),
        images,
        many,
    );
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

/// The target as the plan counts on it, looked at again right before the write.
fn now_is(target: &Target, expected: Option<&str>) -> Result<Option<Attributes>, Why> {
    let read = target.read().map_err(Why::Io)?;
    let found = read.as_ref().map(|read| sha256_hex(&read.bytes));
    match found.as_deref() == expected {
        true => Ok(read.map(|read| read.attributes)),
        false => Err(Why::Moved(found)),
    }
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
