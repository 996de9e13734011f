//! What a process that died in the middle of a restore left, put right at the next start.
//!
//! The intent says what it was about to do. Where a file still stands as before, the restore is not done: all
//! that it wrote is put back, and the journal says so. Where none does, it was done but for the intent. A file
//! that somebody changed since is left alone.

use super::apply::journal_lines;
use super::error::RestoreError;
use super::images::Images;
use super::journal::{append, read_lines, root_path, Held, Journal};
use super::root::Root;
use super::target::{resolve, Target};
use super::write::{
    hash, make_folders, prune, sweep, take_away, take_place, write_temporary, Flushes,
};
use chipdeck_replay::restore::{sha256_hex, Attributes, Kind};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::folder::{Folder, Stands};

pub(super) const PENDING: &str = "pending";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Intent {
    pub restore: String,
    pub kind: String,
    pub undo_of: Option<String>,
    pub label: Option<String>,
    pub root: String,
    pub root_bytes: Option<String>,
    pub steps: Vec<IntentStep>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct IntentStep {
    pub path: String,
    /// Links followed.
    pub real: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub before_attributes: Option<Attributes>,
    /// Name of the temporary file beside it.
    pub temporary: String,
    /// Folders that it makes, outermost first.
    pub makes: Vec<String>,
    pub prune: Vec<String>,
    /// Folders that stand in its place and go before it, deepest first.
    #[serde(default)]
    pub clears: Vec<String>,
}

impl IntentStep {
    /// The name beside its place of what comes back into it.
    fn way_back(&self) -> OsString {
        format!("{}-back", self.temporary).into()
    }
}

impl Intent {
    pub fn file_name(&self) -> String {
        format!("{}.json", self.restore)
    }

    fn root_path(&self) -> PathBuf {
        root_path(&self.root, self.root_bytes.as_deref())
    }
}

/// How a restore that broke off was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub restore: String,
    pub root: PathBuf,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was whole: it stands.
    Finished,
    /// Everything is as before it.
    PutBack,
    /// Put back, but for these paths: somebody changed them since, and they were left alone. The restore stays in
    /// the history, with the copies of what they were before it.
    PutBackBut(Vec<String>),
    /// Not yet: the root is not there, or can't be written.
    Waiting(String),
}

/// What settling under the lock found.
pub(super) struct Swept(Vec<Settled>);

impl Swept {
    /// A root with a restore that still waits takes no other.
    pub fn refuse_for(&self, root: &Root) -> Result<(), RestoreError> {
        for settled in &self.0 {
            if let Outcome::Waiting(why) = &settled.outcome {
                if settled.root == root.path() {
                    return Err(RestoreError::Unsettled {
                        restore: settled.restore.clone(),
                        why: why.clone(),
                    });
                }
            }
        }
        Ok(())
    }
}

impl Journal {
    /// Settles what died; called at a start. `now` is the time in Unix milliseconds. Makes nothing where there
    /// is nothing to settle.
    pub fn settle(&self, now: i64) -> Result<Vec<Settled>, RestoreError> {
        let Some(data) = self.data()? else {
            return Ok(Vec::new());
        };
        if intents(&data)
            .map_err(RestoreError::io(PENDING))?
            .is_empty()
        {
            return Ok(Vec::new());
        }
        let held = self.hold()?;
        Ok(self.settle_held(&held, now)?.0)
    }

    pub(super) fn settle_held(&self, held: &Held, now: i64) -> Result<Swept, RestoreError> {
        let mut swept = Vec::new();
        for intent in intents(&held.data).map_err(RestoreError::io(PENDING))? {
            let outcome = match self.settle_one(held, &intent, now) {
                Ok(outcome) => outcome,
                Err(error) => Outcome::Waiting(error.to_string()),
            };
            swept.push(Settled {
                restore: intent.restore.clone(),
                root: intent.root_path(),
                outcome,
            });
        }
        Ok(Swept(swept))
    }

    fn settle_one(&self, held: &Held, intent: &Intent, now: i64) -> Result<Outcome, RestoreError> {
        let gone = |source| RestoreError::Io {
            what: PENDING.to_owned(),
            source,
        };
        let journaled = read_lines(&held.data)?;
        let journaled = journaled
            .iter()
            .filter(|line| line.payload.restore_id == intent.restore);
        if journaled.count() < intent.steps.len() {
            // It died before its first write.
            journal_rollback(held, intent, now)?;
            remove_intent(&held.data, intent).map_err(gone)?;
            return Ok(Outcome::PutBack);
        }
        let root = (self.open_root)(&intent.root_path())?;
        let images = Images::new(held.data.clone());
        let (mut unfinished, mut foreign) = (false, Vec::new());
        for step in &intent.steps {
            // Then the step was not done, and what stands there is as if it had never begun.
            if give_displaced_back(&root, step, &images)? {
                unfinished = true;
                continue;
            }
            match stands(&root, step)? {
                Stand::Before => unfinished = true,
                Stand::After(_) => {}
                Stand::Foreign => foreign.push(step.path.clone()),
            }
        }
        let outcome = if unfinished {
            put_back(&root, intent, |_| true, &images, self.many)
                .map_err(|(path, source)| RestoreError::io(format!("{path:?}"))(source))?;
            if foreign.is_empty() {
                journal_rollback(held, intent, now)?;
                Outcome::PutBack
            } else {
                Outcome::PutBackBut(foreign)
            }
        } else {
            let mut flushes = Flushes::new(intent.steps.len(), self.many);
            for step in &intent.steps {
                // Its name may not be on the disk yet.
                if let Stand::After(Some(target)) = stands(&root, step)? {
                    flushes.add(&target.parents, &target.folder);
                }
                leave_nothing(&root, step, &images, &mut flushes).map_err(gone)?;
                prune(&root, &step.prune, &mut flushes);
            }
            flushes.names().map_err(gone)?;
            Outcome::Finished
        };
        remove_intent(&held.data, intent).map_err(gone)?;
        Ok(outcome)
    }
}

/// Damaged ones (there is no way to one but by another hand) are passed over.
pub(super) fn intents(data: &Arc<dyn Folder>) -> io::Result<Vec<Intent>> {
    let pending = match data.folder(OsStr::new(PENDING)) {
        Ok(pending) => pending,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut all = Vec::new();
    for name in pending.names()? {
        let whole = name
            .to_str()
            .is_some_and(|name| name.starts_with('r') && name.ends_with(".json"));
        if whole {
            all.extend(serde_json::from_slice::<Intent>(&pending.read(&name)?.bytes).ok());
        }
    }
    Ok(all)
}

pub(super) fn remove_intent(data: &Arc<dyn Folder>, intent: &Intent) -> io::Result<()> {
    let pending = data.folder(OsStr::new(PENDING))?;
    let name = intent.file_name();
    match pending.remove_file(OsStr::new(&name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => pending.flush(),
    }
}

enum Stand {
    Before,
    /// `None`: the file is absent as it should be, and something else has its name or its folder's.
    After(Option<Target>),
    /// Somebody changed it since, or something else stands there.
    Foreign,
}

fn stands(root: &Root, step: &IntentStep) -> Result<Stand, RestoreError> {
    let (target, found) = match resolve(root, &step.real) {
        Ok(target) if !target.linked => {
            let said = format!("{:?}", step.path);
            let read = target.read().map_err(RestoreError::io(said))?;
            let found = read.map(|read| sha256_hex(&read.bytes));
            (Some(target), found)
        }
        Err(RestoreError::NotAFile { what, .. }) if what.means_absent() => (None, None),
        Ok(_) | Err(RestoreError::NotAFile { .. } | RestoreError::Outside(_)) => {
            return Ok(Stand::Foreign)
        }
        Err(error) => return Err(error),
    };
    Ok(if found == step.before {
        Stand::Before
    } else if found == step.after {
        Stand::After(target)
    } else {
        Stand::Foreign
    })
}

/// Puts back those of the steps that stand, the last first, and sweeps what all of them left. A file that somebody changed
/// meanwhile stays as it is. On an error: at which path.
pub(super) fn put_back(
    root: &Root,
    intent: &Intent,
    touched: impl Fn(usize) -> bool,
    images: &Images,
    many: usize,
) -> Result<(), (String, io::Error)> {
    let mut flushes = Flushes::new(intent.steps.len(), many);
    let mut ready: Vec<Ready> = Vec::new();
    for (number, step) in intent.steps.iter().enumerate().rev() {
        let failed = |error| (step.path.clone(), error);
        let other = |error: RestoreError| (step.path.clone(), io::Error::other(error.to_string()));
        if touched(number) {
            give_displaced_back(root, step, images).map_err(other)?;
            if let Stand::After(Some(target)) = stands(root, step).map_err(other)? {
                match &step.before {
                    Some(before) => {
                        let staged =
                            stage_back(target, (number, step), before, images, &mut flushes);
                        ready.push(staged.map_err(failed)?);
                    }
                    None => remove(&target, step, &mut flushes).map_err(failed)?,
                }
            }
        }
        if ready.last().is_none_or(|ready| ready.number != number) {
            leave_nothing(root, step, images, &mut flushes).map_err(failed)?;
        }
        let made: Vec<String> = step.makes.iter().rev().cloned().collect();
        prune(root, &made, &mut flushes);
    }
    let last = |error| (intent.root.clone(), error);
    flushes.files().map_err(last)?;
    for Ready {
        step,
        folder,
        name,
        temporary,
        replaced,
        ..
    } in &ready
    {
        let failed = |error| (step.path.clone(), error);
        // Not done where somebody changed it meanwhile: then it is theirs.
        take_place(folder, temporary, name, *replaced).map_err(failed)?;
    }
    for Ready { step, .. } in &ready {
        let failed = |error| (step.path.clone(), error);
        leave_nothing(root, step, images, &mut flushes).map_err(failed)?;
    }
    flushes.names().map_err(last)
}

/// What a file was, beside its place.
struct Ready<'a> {
    number: usize,
    step: &'a IntentStep,
    folder: Arc<dyn Folder>,
    name: OsString,
    temporary: OsString,
    /// The hash of what it takes the place of.
    replaced: Option<&'a str>,
}

fn stage_back<'a>(
    target: Target,
    (number, step): (usize, &'a IntentStep),
    before: &str,
    images: &Images,
    flushes: &mut Flushes,
) -> io::Result<Ready<'a>> {
    let folder = make_folders(&target, flushes)?;
    let displaced = OsString::from(&step.temporary);
    // Where the very file that was replaced is still there, it is that one which comes back.
    let temporary = if hash(&folder, &displaced)?.as_deref() == Some(before) {
        displaced
    } else {
        let content = images
            .find(before)
            .ok_or_else(|| io::Error::other("its kept copy is gone"))?;
        let temporary = step.way_back();
        sweep(&folder, &temporary, None)?;
        let dress = step.before_attributes.as_ref();
        write_temporary(&folder, &content, dress, &temporary, flushes)?;
        temporary
    };
    Ok(Ready {
        number,
        step,
        folder,
        name: OsString::from(&target.name),
        temporary,
        replaced: step.after.as_deref().filter(|_| target.present),
    })
}

/// Takes a file away that the step made.
fn remove(target: &Target, step: &IntentStep, flushes: &mut Flushes) -> io::Result<()> {
    let name = OsStr::new(&target.name);
    let way = step.way_back();
    sweep(&target.folder, &way, None)?;
    // Not done where somebody changed it meanwhile: then it is theirs.
    take_away(&target.folder, &way, name, step.after.as_deref())?;
    flushes.add(&target.parents, &target.folder);
    Ok(())
}

/// A file that somebody wrote between the last look and the change of names, and that a dying process had no time to put
/// back into its place. True: it is there again.
fn give_displaced_back(
    root: &Root,
    step: &IntentStep,
    images: &Images,
) -> Result<bool, RestoreError> {
    let Some(before) = &step.before else {
        return Ok(false);
    };
    let Stand::After(Some(target)) = stands(root, step)? else {
        return Ok(false);
    };
    if !target.missing.is_empty() {
        return Ok(false);
    }
    let failed = |source| RestoreError::Io {
        what: format!("{:?}", step.path),
        source,
    };
    let (folder, temporary) = (&target.folder, OsStr::new(&step.temporary));
    match folder.look(temporary).map_err(failed)? {
        None => return Ok(false),
        Some(Stands::File) => {
            let found = folder.read(temporary).map_err(failed)?.bytes;
            let known = sha256_hex(&found);
            // A part of the new content is what a process wrote that died early.
            let part = |hash: &String| {
                let whole = images.find(hash);
                whole.is_none_or(|whole| whole.bytes().starts_with(&found))
            };
            if known == *before || step.after.as_ref().is_some_and(part) {
                return Ok(false);
            }
        }
        Some(_) => {}
    }
    let name = OsStr::new(&target.name);
    match target.present {
        true => folder.exchange(temporary, name).map_err(failed)?,
        false => folder.name_new(temporary, name).map_err(failed)?,
    }
    folder.flush().map_err(failed)?;
    Ok(true)
}

/// Removes the temporary files of a step. Where somebody changed the file, a copy is kept of what is not known.
fn leave_nothing(
    root: &Root,
    step: &IntentStep,
    images: &Images,
    flushes: &mut Flushes,
) -> io::Result<()> {
    let Ok(target) = resolve(root, &step.real) else {
        return Ok(());
    };
    if !target.missing.is_empty() {
        return Ok(());
    }
    let foreign = matches!(stands(root, step), Ok(Stand::Foreign));
    let known = [step.before.as_deref(), step.after.as_deref()];
    for temporary in [OsString::from(&step.temporary), step.way_back()] {
        let spare = foreign.then_some((images, known));
        if sweep(&target.folder, &temporary, spare)? {
            flushes.add(&target.parents, &target.folder);
        }
    }
    Ok(())
}

/// Lines that take the journaled steps of an intent back, those that are not there already. Mends a torn end too.
pub(super) fn journal_rollback(held: &Held, intent: &Intent, now: i64) -> Result<(), RestoreError> {
    let lines = read_lines(&held.data)?;
    let there = |id: &str| lines.iter().any(|line| line.event_id == id);
    let steps = (1..).zip(&intent.steps);
    let steps = steps.filter(|(number, _)| there(&format!("{}.{number}", intent.restore)));
    let steps: Vec<IntentStep> = steps
        .map(|(_, step)| IntentStep {
            before: step.after.clone(),
            after: step.before.clone(),
            before_attributes: None,
            makes: Vec::new(),
            ..step.clone()
        })
        .collect();
    let rollback = Intent {
        restore: format!("{}-back", intent.restore),
        kind: Kind::Rollback.as_str().to_owned(),
        undo_of: Some(intent.restore.clone()),
        steps,
        ..intent.clone()
    };
    let mut missing = journal_lines(&rollback, 0, now);
    missing.retain(|line| !there(&line.event_id));
    let next = lines.iter().map(|line| line.seq + 1).max().unwrap_or(0);
    for (seq, line) in (next..).zip(&mut missing) {
        line.seq = seq;
    }
    append(&held.data, &missing)
}
