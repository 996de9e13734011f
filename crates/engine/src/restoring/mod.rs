//! Restores for the page: plans that are kept here, shown, settled, applied and taken back. What a preview shows is
//! the very plan that is written; a plan whose precondition no longer holds changes nothing.
//!
//! Left out: what a plan is (`chipdeck-replay`), the write (`chipdeck-disk`), the native dialogue (the desktop's).

mod version;
mod what;

use crate::api::*;
use crate::diff::{self, Content, Side};
use crate::engine::{hold, now_ms, write, Answer, Engine, Inner, Reach};
use chipdeck_disk::restore::{PastRestore, RestoreError, Root};
use chipdeck_replay::restore as replay;
use chipdeck_replay::restore::{Action, Draft, FileImage, Step};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Plans that are kept; an older one has to be made again.
const KEPT: usize = 32;

#[derive(Default)]
pub struct Plans {
    kept: VecDeque<Kept>,
    next: u64,
    /// What came of those that were written, newest last: a second click is told the same.
    done: VecDeque<(String, Applied)>,
    /// Held while one is written, so that a second click waits for the first.
    writing: Arc<Mutex<()>>,
    /// Logs of folders that are not here, and the opened folders that a person said they may be written into.
    laid: Vec<Laid>,
}

/// A person's word that a log may be written into a folder that is not its own.
struct Laid {
    log: String,
    folder: PathBuf,
    /// This file of it alone, below the folder.
    only: Option<String>,
}

/// A plan as the page was shown it.
#[derive(Clone)]
struct Kept {
    id: String,
    what: RestoreWhat,
    made: Made,
}

/// What asking for a restore came to.
#[derive(Clone)]
pub(crate) struct Made {
    kind: replay::Kind,
    /// Where it would be written; `None`: nowhere yet.
    ready: Option<(Root, Draft)>,
    needs: Option<PlanNeed>,
    /// What would be written where nothing may be looked at yet: below no opened folder.
    told: Vec<Step>,
    /// Where the file is deleted there: the position of what it was before.
    before_deletion: Option<u32>,
    candidates: Vec<ChipTarget>,
    warnings: Vec<Warning>,
    /// What the new side is.
    from: PlanFrom,
}

impl From<RestoreError> for ApiError {
    fn from(error: RestoreError) -> ApiError {
        let (why, about) = refusal(&error);
        let mut plain = ApiError::new(error.code(), sentence(&error)).why(why);
        plain.about = about;
        match error {
            RestoreError::Moved(_) => plain.hint("Look at the preview again."),
            RestoreError::Outside(_) => plain.hint("Open the folder of its project."),
            _ => plain,
        }
    }
}

impl Inner {
    pub(crate) fn plan_restore(&self, what: RestoreWhat) -> Answer<PlanView> {
        let made = self.make(&what)?;
        let id = {
            let mut plans = hold(&self.plans);
            plans.next += 1;
            format!("plan-{}", plans.next)
        };
        Ok(self.keep(Kept { id, what, made }))
    }

    fn keep(&self, kept: Kept) -> PlanView {
        let view = view(&kept);
        let mut plans = hold(&self.plans);
        plans.kept.retain(|it| it.id != kept.id);
        if plans.kept.len() >= KEPT {
            plans.kept.pop_front();
        }
        plans.kept.push_back(kept);
        view
    }

    fn kept(&self, id: &str) -> Answer<Kept> {
        let found = hold(&self.plans)
            .kept
            .iter()
            .find(|it| it.id == id)
            .cloned();
        found.ok_or_else(|| {
            ApiError::new("not-found", "That plan is no longer here.")
                .why("plan-gone")
                .hint("Look at the preview again.")
        })
    }

    pub(crate) fn settle(&self, id: &str, conflict: u32, choice: Settlement) -> Answer<PlanView> {
        let mut kept = self.kept(id)?;
        let how = match choice {
            Settlement::Ours => replay::Settlement::Ours,
            Settlement::Theirs => replay::Settlement::Theirs,
            Settlement::Both => replay::Settlement::Both,
        };
        let settled = match &mut kept.made.ready {
            Some((_, draft)) => draft.settle(conflict as usize, Some(how)),
            None => false,
        };
        if !settled {
            return Err(ApiError::new(
                "not-found",
                format!("The plan has no conflict {conflict}."),
            )
            .why("no-conflict")
            .about(conflict));
        }
        Ok(self.keep(kept))
    }

    pub(crate) fn apply(&self, id: &str) -> Answer<Applied> {
        let writing = hold(&self.plans).writing.clone();
        let _one_at_a_time = hold(&writing);
        let done = hold(&self.plans).done.iter().find(|it| it.0 == id).cloned();
        if let Some((_, applied)) = done {
            return Ok(applied);
        }
        let kept = self.kept(id)?;
        let made = &kept.made;
        match &made.needs {
            Some(PlanNeed::Root { folder, .. }) => {
                return Err(
                    ApiError::new("outside-root", format!("{folder} was not opened."))
                        .why("not-opened")
                        .about(folder),
                );
            }
            Some(PlanNeed::Refused { reason, why, path }) => {
                let mut error = ApiError::new("outside-root", reason.clone());
                error.why = why.clone();
                error.about = path.iter().cloned().collect();
                return Err(error);
            }
            Some(PlanNeed::Overwrite { .. }) | None => {}
        }
        let Some((root, draft)) = &made.ready else {
            return Err(ApiError::new("bad-request", "The plan has no place yet.")
                .why("no-place")
                .hint("Choose one."));
        };
        let label = label(&draft.preview());
        let Some(mut plan) = draft.plan() else {
            let open = draft.open();
            let s = if open == 1 { "" } else { "s" };
            return Err(ApiError::new(
                "conflict",
                format!("{open} conflict{s} must be settled first."),
            )
            .why("unsettled")
            .about(open));
        };
        plan.label = Some(label.clone());
        let applied = self.journal.apply(root, &plan, now_ms())?;
        hold(&self.plans).kept.retain(|it| it.id != kept.id);
        match applied {
            None => Err(ApiError::new(
                "precondition",
                "There is nothing to do: the disk has it already.",
            )
            .why("already-there")),
            Some(done) => {
                let applied = self.written(root, done, label, None);
                let mut plans = hold(&self.plans);
                if plans.done.len() >= KEPT {
                    plans.done.pop_front();
                }
                plans.done.push_back((kept.id, applied.clone()));
                Ok(applied)
            }
        }
    }

    pub(crate) fn undo(&self, restore: Option<&str>) -> Answer<Applied> {
        let (root, plan) = self.journal.plan_undo(restore)?;
        let undo_of = plan.undo_of.clone();
        let label = plan.label.clone().unwrap_or_else(|| label(&plan.steps));
        match self.journal.apply(&root, &plan, now_ms())? {
            None => Err(ApiError::new(
                "nothing-to-undo",
                "There is nothing to undo: the files are as before it.",
            )
            .why("already-there")),
            Some(done) => {
                // What was told of a plan holds no longer.
                hold(&self.plans).done.clear();
                Ok(self.written(&root, done, label, undo_of))
            }
        }
    }

    /// What follows from a write.
    fn written(
        &self,
        root: &Root,
        done: chipdeck_disk::restore::Applied,
        label: String,
        undo_of: Option<String>,
    ) -> Applied {
        let history = self.journal.history().unwrap_or_default();
        let deed = deed(&history, undo_of.as_deref());
        self.forget_origins();
        self.tell(Notice::HistoryChanged);
        let logs = crate::engine::read(&self.logs).clone();
        for (path, _) in &done.steps {
            for log in &logs {
                for named in self.names_in(log, root, path) {
                    self.tell(Notice::DiskChanged {
                        log: log.id.clone(),
                        path: named,
                    });
                }
            }
        }
        if !done.undressed.is_empty() {
            let text = format!(
                "Owner or attributes could not be kept: {}.",
                done.undressed.join(", ")
            );
            self.tell(Notice::Message {
                level: "warning".to_owned(),
                text,
            });
        }
        self.tidy_copies();
        Applied {
            restore: done.restore,
            summary: deed_sentence(deed, &label),
            label,
            deed: deed.to_owned(),
            files: done.steps.into_iter().map(|(path, _)| path).collect(),
            undo_of,
        }
    }

    /// Kept copies beyond the limits of the settings go; what that means is said.
    pub(crate) fn tidy_copies(&self) {
        let keeping = crate::engine::read(&self.settings).keeping();
        let text = match self.journal.tidy(keeping, now_ms()) {
            Err(error) => format!("The kept copies of restores could not be looked through: {error}."),
            Ok(tidied) if tidied.restores > 0 => format!(
                "Older copies were dropped to keep within the limits: {} can no longer be taken back.",
                match tidied.restores {
                    1 => "1 restore".to_owned(),
                    n => format!("{n} restores"),
                }
            ),
            Ok(tidied) if tidied.over => format!(
                "The copies that the newest restores need take {}, more than the limit; they are kept.",
                crate::size(tidied.bytes)
            ),
            Ok(_) => return,
        };
        let level = "warning".to_owned();
        self.tell(Notice::Message { level, text });
    }

    /// How a log names a file below a root.
    fn names_in(&self, log: &crate::log::Log, root: &Root, path: &str) -> Vec<String> {
        log.look(|look| {
            let cwd = look.timeline.cwd();
            let same =
                |it: &&chipdeck_event::Id| root.place(it, cwd).is_ok_and(|place| place == path);
            look.timeline
                .paths()
                .into_iter()
                .filter(same)
                .map(|it| it.to_string())
                .collect()
        })
    }

    pub(crate) fn history(&self, offset: u64, limit: u64) -> Answer<Page<HistoryRow>> {
        let all = self.journal.history()?;
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let take = usize::try_from(limit.min(500)).unwrap_or(0);
        Ok(Page {
            offset,
            total: all.len() as u64,
            rows: all
                .iter()
                .skip(skip)
                .take(take)
                .map(|past| self.history_row(&all, past))
                .collect(),
        })
    }

    fn history_row(&self, all: &[PastRestore], past: &PastRestore) -> HistoryRow {
        let image = |hash: &Option<String>| {
            let content = hash.as_deref().and_then(|hash| self.journal.image(hash));
            content.map(|it| it.bytes().to_vec()).unwrap_or_default()
        };
        let steps: Vec<HistoryStep> = past
            .steps
            .iter()
            .map(|step| {
                let (added, removed) =
                    diff::count(&image(&step.before_sha256), &image(&step.after_sha256));
                HistoryStep {
                    path: step.path.clone(),
                    action: step.action().to_owned(),
                    added,
                    removed,
                }
            })
            .collect();
        let blocked: Option<ApiError> = match &past.undone_by {
            Some(by) => Some(
                ApiError::new("precondition", format!("It was taken back by {by}."))
                    .why("undone-already"),
            ),
            None => self.journal.plan_undo_of(past).err().map(ApiError::from),
        };
        let deed = deed(all, past.undo_of.as_deref());
        let what = past
            .label
            .clone()
            .unwrap_or_else(|| match past.steps.as_slice() {
                [one] => one.path.clone(),
                many => format!("{} files", many.len()),
            });
        HistoryRow {
            restore: past.id.clone(),
            time: past.time,
            kind: past.kind.clone(),
            summary: deed_sentence(deed, &what),
            label: what,
            deed: deed.to_owned(),
            root: self.for_people(&past.root),
            steps,
            undo_of: past.undo_of.clone(),
            undone_by: past.undone_by.clone(),
            undoable: blocked.is_none(),
            blocked_why: blocked.as_ref().and_then(|it| it.why.clone()),
            blocked_about: blocked
                .as_ref()
                .map(|it| it.about.clone())
                .unwrap_or_default(),
            blocked: blocked.map(|it| it.message),
        }
    }
}

impl Engine {
    /// The folder and the file that a plan wants to write and may not: what the native dialogue names. `None`: it
    /// needs no permission.
    pub fn wanted_root(&self, plan: &str) -> Option<(PathBuf, String)> {
        match self.inner.kept(plan).ok()?.made.needs? {
            PlanNeed::Root { folder, file } => Some((PathBuf::from(folder), file)),
            PlanNeed::Refused { .. } | PlanNeed::Overwrite { .. } => None,
        }
    }

    /// The person allowed it: the folder, or only the file, becomes a root, and the plan is made again.
    ///
    /// # Errors
    /// The plan is gone or needs nothing, or the folder cannot be opened.
    pub fn allow_root(&self, plan: &str, reach: Reach) -> Answer<PlanView> {
        let kept = self.inner.kept(plan)?;
        let (folder, file) = self
            .wanted_root(plan)
            .ok_or_else(|| ApiError::new("bad-request", "The plan needs no permission."))?;
        let opened = crate::engine::read(&self.inner.roots)
            .iter()
            .any(|root| root.path() == folder && root.only_file().is_none());
        if let (true, Some(log)) = (opened, log_of(&kept.what)) {
            hold(&self.inner.plans).laid.push(Laid {
                log: log.to_owned(),
                folder: folder.clone(),
                only: (reach == Reach::OnlyThisFile).then_some(file),
            });
        } else {
            let mut roots = write(&self.inner.roots);
            match reach {
                Reach::ThisFolder => roots.allow(&folder)?,
                Reach::OnlyThisFile => roots.allow_only(&folder, &file)?,
            };
        }
        self.inner.forget_origins();
        self.inner.root_logs();
        self.inner.tell(Notice::LibraryChanged);
        let made = self.inner.make(&kept.what)?;
        Ok(self.inner.keep(Kept { made, ..kept }))
    }
}

/// The log whose paths are written.
fn log_of(what: &RestoreWhat) -> Option<&str> {
    match what {
        RestoreWhat::File { log, .. }
        | RestoreWhat::Files { log, .. }
        | RestoreWhat::Tree { log, .. }
        | RestoreWhat::Hunk { log, .. }
        | RestoreWhat::UndoChange { log, .. }
        | RestoreWhat::Backup { log, .. } => Some(log),
        _ => None,
    }
}

fn view(kept: &Kept) -> PlanView {
    let made = &kept.made;
    let steps = made
        .ready
        .as_ref()
        .map_or_else(|| made.told.clone(), |(_, draft)| draft.preview());
    let from = from_words(&made.from);
    let open = made.ready.as_ref().map_or(0, |(_, draft)| draft.open());
    // While a place is not settled the disk's side stands there: that is not nothing to do.
    let still = steps.iter().all(|step| step.action() == Action::None);
    let nothing = made.ready.is_some() && open == 0 && still;
    let shown: Vec<PlanStep> = steps
        .iter()
        .map(|step| {
            let mut step = plan_step(step, &from);
            if made.ready.is_none() {
                step.notes.push(codes::NOT_LOOKED_AT.to_owned());
            }
            step
        })
        .collect();
    let mut warnings = made.warnings.clone();
    let drafted = made.ready.iter().flat_map(|(_, draft)| &draft.warnings);
    warnings.extend(drafted.map(|it| Warning {
        code: it.code.to_owned(),
        message: it.message.clone(),
        why: Some(it.why.to_owned()).filter(|it| !it.is_empty()),
        path: Some(it.path.clone()),
        count: None,
    }));
    let target = match (&made.needs, steps.as_slice()) {
        (Some(PlanNeed::Root { file, .. }), []) => file.clone(),
        _ => label(&steps),
    };
    PlanView {
        plan: kept.id.clone(),
        kind: made.kind.as_str().to_owned(),
        summary: if made.ready.is_none() {
            format!("{target} from {from}.")
        } else {
            summary(&shown, &target, &from, nothing)
        },
        from: Some(made.from.clone()),
        target,
        ready: made.ready.is_some() && open == 0 && made.needs.is_none() && !nothing,
        nothing,
        needs: made.needs.clone(),
        conflicts: made
            .ready
            .iter()
            .flat_map(|(_, draft)| draft.conflicts())
            .map(conflict)
            .collect(),
        candidates: made.candidates.clone(),
        before_deletion: made.before_deletion.map(u64::from),
        steps: shown,
        warnings,
    }
}

/// What content a restore takes, in words.
fn from_words(from: &PlanFrom) -> String {
    let thousands = |n: u64| crate::log::thousands(u32::try_from(n).unwrap_or(u32::MAX));
    match from {
        PlanFrom::Event { at: 0 } => "before the log".to_owned(),
        PlanFrom::Event { at } => format!("event {}", thousands(*at)),
        PlanFrom::Before { index } => format!("before event {}", thousands(*index)),
        PlanFrom::Chip { id } => format!("chip {id}"),
        PlanFrom::EditSnapshot { id, before: true } => format!("before edit snapshot {id}"),
        PlanFrom::EditSnapshot { id, before: false } => format!("after edit snapshot {id}"),
        PlanFrom::Version {
            author, name, id, ..
        } => match (author, id) {
            (AuthorKind::Git, Some(id)) => format!("commit {id}"),
            (AuthorKind::Snapshot, Some(id)) => format!("edit snapshot {id}"),
            (AuthorKind::Chip, Some(id)) => format!("chip {id}"),
            (AuthorKind::Disk, _) => "the disk".to_owned(),
            _ => format!("session {name}"),
        },
        PlanFrom::Backup { name, .. } => format!("backup {name}"),
    }
}

/// A restore, its undo, or the undo of that: what is there afterwards decides, not how it came about.
fn deed(history: &[PastRestore], undo_of: Option<&str>) -> &'static str {
    let mut undone = undo_of;
    let mut undos = 0_usize;
    // No chain is longer than the history; a damaged one may lead in a circle.
    while let Some(id) = undone.filter(|_| undos <= history.len()) {
        undos += 1;
        undone = history
            .iter()
            .find(|past| past.id == id)
            .and_then(|past| past.undo_of.as_deref());
    }
    match undos {
        0 => "restored",
        n if n % 2 == 1 => "took-back",
        _ => "restored-again",
    }
}

fn deed_sentence(deed: &str, what: &str) -> String {
    match deed {
        "took-back" => format!("Took back {what}"),
        "restored-again" => format!("Restored again {what}"),
        _ => format!("Restored {what}"),
    }
}

/// An error of the disk as a sentence: a capital first, unless a path is.
fn sentence(error: &RestoreError) -> String {
    let text = error.to_string();
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), chars.as_str()),
        None => text,
    }
}

/// Which refusal of the table it is, and what it names.
fn refusal(error: &RestoreError) -> (&'static str, Vec<String>) {
    use chipdeck_disk::restore::{InTheWay, Outside, Reason};
    let names = |them: &[&String]| them.iter().map(|it| (*it).clone()).collect();
    match error {
        RestoreError::Outside(Outside { path, reason }) => {
            let why = match reason {
                Reason::NoFile => "no-file",
                Reason::Climbs => "climbs",
                Reason::Foreign => "foreign",
                Reason::NotBelow => "not-below",
                Reason::Link => "link",
                Reason::OwnPlace => "own-place",
                Reason::TooWide => "too-wide",
                Reason::NotGranted => "not-granted",
            };
            (why, names(&[path]))
        }
        RestoreError::NotAFile { path, what } => {
            let why = match what {
                InTheWay::Folder => "folder-there",
                InTheWay::File => "file-in-the-way",
                InTheWay::Special => "special-file",
                InTheWay::Loop => "link-loop",
                InTheWay::MissingBelowLink => "link-missing",
                InTheWay::NameTooLong => "name-too-long",
                InTheWay::NotUtf8 => "not-utf8",
            };
            (why, names(&[path]))
        }
        RestoreError::Moved(moved) => (
            "moved",
            moved.iter().take(3).map(|it| it.path.clone()).collect(),
        ),
        RestoreError::SameFile { first, second } => ("same-file", names(&[first, second])),
        RestoreError::NoBase { path } => ("no-base", names(&[path])),
        RestoreError::UnknownRestore(_) => ("unknown-restore", Vec::new()),
        RestoreError::NothingToUndo => ("nothing-to-undo", Vec::new()),
        RestoreError::AlreadyUndone { .. } => ("undone-already", Vec::new()),
        RestoreError::ImageGone { path, .. } => ("image-gone", names(&[path])),
        RestoreError::Busy => ("busy", Vec::new()),
        RestoreError::Unsettled { .. } => ("broke-off", Vec::new()),
        RestoreError::PutBack { path, .. } => ("put-back", names(&[path])),
        RestoreError::Broken { path, left, .. } => ("broken", names(&[path, left])),
        RestoreError::Io { .. } => ("io", Vec::new()),
    }
}

fn conflict((number, path, conflict): (usize, &str, &replay::Conflict)) -> Conflict {
    let lines = |bytes: &[u8]| {
        String::from_utf8_lossy(bytes)
            .lines()
            .map(str::to_owned)
            .collect()
    };
    Conflict {
        path: path.to_owned(),
        number: u32::try_from(number).unwrap_or(u32::MAX),
        base: lines(&conflict.base),
        ours: lines(&conflict.ours),
        theirs: lines(&conflict.theirs),
        line: u32::try_from(conflict.line).unwrap_or(u32::MAX),
        settled: conflict.settled.map(|it| match it {
            replay::Settlement::Ours => Settlement::Ours,
            replay::Settlement::Theirs => Settlement::Theirs,
            replay::Settlement::Both => Settlement::Both,
        }),
    }
}

fn plan_step(step: &Step, from: &str) -> PlanStep {
    PlanStep {
        path: step.path.clone(),
        action: step.action().as_str().to_owned(),
        before_sha256: step.before_sha256().map(str::to_owned),
        after_sha256: step.after_sha256().map(str::to_owned),
        diff: diff::view(
            &step.path,
            image_side("disk now", &step.before),
            image_side(from, &step.after),
            3,
        ),
        notes: step
            .notes
            .iter()
            .map(|note| note.as_str().to_owned())
            .collect(),
    }
}

/// A file as a side of a diff.
pub(crate) fn image_side<'a>(label: &str, image: &'a Option<FileImage>) -> Side<'a> {
    Side {
        label: label.to_owned(),
        content: image
            .as_ref()
            .map_or(Content::Absent, |it| Content::Bytes(it.content.bytes())),
        certainty: None,
        sha256: image.as_ref().map(|it| it.content.sha256().to_owned()),
    }
}

/// `payment_service.py:30` of one file, `3 files` of several: what the button says.
fn label(steps: &[Step]) -> String {
    let changed: Vec<&Step> = steps
        .iter()
        .filter(|step| step.action() != Action::None)
        .collect();
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    match (changed.as_slice(), steps) {
        ([one], _) => {
            let line = match (&one.before, &one.after) {
                (Some(before), Some(after)) => {
                    first_change(before.content.bytes(), after.content.bytes())
                }
                _ => None,
            };
            match line {
                Some(line) => format!("{}:{line}", name(&one.path)),
                None => name(&one.path),
            }
        }
        ([], [one]) => name(&one.path),
        ([], many) => format!("{} files", many.len()),
        (many, _) => format!("{} files", many.len()),
    }
}

/// The first line of the new text that differs, from 1.
fn first_change(old: &[u8], new: &[u8]) -> Option<usize> {
    if diff::is_binary(old) || diff::is_binary(new) {
        return None;
    }
    let (old, new) = (diff::lines(old), diff::lines(new));
    Some(old.iter().zip(&new).take_while(|(a, b)| a == b).count() + 1)
}

/// One sentence: what it puts where and what is lost by it.
fn summary(steps: &[PlanStep], target: &str, from: &str, nothing: bool) -> String {
    if steps.is_empty() {
        return format!("{target} from {from}.");
    }
    if nothing {
        return "The disk has it already.".to_owned();
    }
    let (added, removed) = steps.iter().fold((0, 0), |(a, r), step| {
        (a + step.diff.added, r + step.diff.removed)
    });
    let lines = |n: u32| {
        if n == 1 {
            "1 line".to_owned()
        } else {
            format!("{n} lines")
        }
    };
    let deleted = steps.iter().filter(|step| step.action == "delete").count();
    let what = match steps {
        [one] if one.action == "delete" => format!("Deletes {}, as in {from}", one.path),
        [one] if one.action == "create" => {
            format!("Writes {}, {} from {from}", one.path, lines(added))
        }
        [one] => format!("Puts {} from {from} into {}", lines(added), one.path),
        many => {
            let gone = if deleted > 0 {
                format!(", {deleted} of them deleted")
            } else {
                String::new()
            };
            format!(
                "Writes {} files from {from}{gone}",
                many.iter().filter(|it| it.action != "none").count()
            )
        }
    };
    match removed {
        0 => format!("{what}. Nothing is overwritten."),
        n => format!(
            "{what}. {} on disk {} replaced; Undo brings {} back.",
            lines(n),
            if n == 1 { "is" } else { "are" },
            if n == 1 { "it" } else { "them" }
        ),
    }
}
