//! From what a person asks for to a draft: which files, what is to be there, below which root.

use super::Made;
use crate::api::{ApiError, ChipTarget, InsertForm, PlanFrom, PlanNeed, RestoreWhat, Warning};
use crate::chips::Found;
use crate::diff::HunkRef;
use crate::engine::{hold, read, Answer, Inner};
use crate::laid::may_lie;
use crate::log::{Log, Look};
use chipdeck_chip::{insert_content, insert_header, insert_text, stands_there};
use chipdeck_disk::restore::{Located, Outside, RestoreError, Root};
use chipdeck_replay::restore::{
    want_undone, Draft, FileImage, Kind, Known, Mode, Note, Picker, Step, Want,
};
use chipdeck_replay::{Certainty, Timeline, Version};
use std::path::Path;
use std::sync::Arc;

impl Made {
    pub(super) fn new(kind: Kind, from: PlanFrom) -> Made {
        Made {
            kind,
            ready: None,
            needs: None,
            told: Vec::new(),
            before_deletion: None,
            candidates: Vec::new(),
            warnings: Vec::new(),
            from,
        }
    }

    pub(super) fn with(mut self, root: Root, draft: Draft) -> Made {
        self.ready = Some((root, draft));
        self
    }

    /// The lines that would be written to a file that may not be looked at yet.
    pub(super) fn telling(mut self, path: &str, content: &Known) -> Made {
        if let (Known::Content(bytes), true) = (content, self.told.len() < TOLD) {
            let image = FileImage::of(bytes.clone());
            self.told
                .push(Step::new(path.to_owned(), None, Some(image)));
        }
        self
    }

    pub(super) fn needing(mut self, need: PlanNeed) -> Made {
        self.needs = Some(need);
        self
    }
}

/// Files outside the opened folders whose lines are shown before permission is asked for.
const TOLD: usize = 64;

/// Where the files of a log are written.
enum Where {
    Root(Root),
    Need(PlanNeed),
}

impl Inner {
    pub(super) fn make(&self, what: &RestoreWhat) -> Answer<Made> {
        match what {
            RestoreWhat::File { log, path, at } => {
                self.files(Kind::File, log, Some(std::slice::from_ref(path)), *at)
            }
            RestoreWhat::Files { log, paths, at } => self.files(Kind::Files, log, Some(paths), *at),
            RestoreWhat::Tree { log, at } => self.files(Kind::Tree, log, None, *at),
            RestoreWhat::Hunk {
                log,
                path,
                at,
                against,
                hunk,
            } => self.hunk(log, path, *at, against, hunk),
            RestoreWhat::UndoChange { log, path, index } => {
                let log = self.log(log)?;
                let index = u32::try_from(*index).unwrap_or(u32::MAX);
                let want = log.look(|look| want_undone(look.timeline, look.source, path, index));
                if want.theirs == Known::Unknown || want.base == Known::Unknown {
                    return Err(unknown(path));
                }
                let from = PlanFrom::Before {
                    index: u64::from(index),
                };
                self.draft(Made::new(Kind::UndoChange, from), &log, vec![want])
            }
            RestoreWhat::Chip { chip, target, form } => self.chip_into(chip, target, *form),
            RestoreWhat::PutBack { chip, target } => self.put_back(chip, target.as_ref()),
            RestoreWhat::EditSnapshot { snapshot, before } => self.edit_snapshot(snapshot, *before),
            RestoreWhat::PathVersion { history, version } => self.path_version(history, version),
            RestoreWhat::Backup { log, path, backup } => self.backup(log, path, backup),
        }
    }

    /// Files as they were at a position; `None`: the whole tree.
    fn files(&self, kind: Kind, log: &str, paths: Option<&[String]>, at: u64) -> Answer<Made> {
        let log = self.log(log)?;
        let (at, wants) = log.look(|look| {
            let at = look.position(at);
            let picker = Picker::new(look.timeline, look.source, at);
            let wants = match paths {
                Some(paths) => paths.iter().map(|path| picker.want(path)).collect(),
                None => picker.all(),
            };
            (at, wants)
        });
        let named = paths.is_some();
        if let Some(want) = wants
            .iter()
            .find(|want| named && want.theirs == Known::Unknown)
        {
            return Err(unknown(&want.path));
        }
        let mut made = Made::new(kind, event(at));
        if let (Kind::File, [want]) = (kind, wants.as_slice()) {
            made.before_deletion = log.look(|look| before_deletion(look.timeline, &want.path, at));
        }
        self.draft(made, &log, wants)
    }

    /// The old side's lines of one hunk, in the file as it is now.
    fn hunk(
        &self,
        log: &str,
        path: &str,
        at: u64,
        against: &crate::api::Against,
        hunk: &str,
    ) -> Answer<Made> {
        let stale = || {
            ApiError::new("precondition", "That hunk is of another diff.")
                .why("stale-hunk")
                .hint("Look at the diff again.")
        };
        let hunk = HunkRef::parse(hunk).ok_or_else(stale)?;
        let log = self.log(log)?;
        let disk = match against {
            crate::api::Against::Disk => Some(self.on_disk(&log, path)?),
            _ => None,
        };
        let (from, want) = log.look(|look| -> Answer<_> {
            let at = look.position(at);
            let (from, to) = match against {
                crate::api::Against::Disk => (at, at),
                other => look.diff_ends(path, at, other),
            };
            let bytes = |position: u32| {
                let (known, unverified) =
                    Picker::new(look.timeline, look.source, position).known(path);
                match known {
                    Known::Content(bytes) => Ok((bytes.to_vec(), unverified)),
                    Known::Absent => Ok((Vec::new(), unverified)),
                    Known::Unknown => Err(unknown(path)),
                }
            };
            let (old, unverified) = bytes(from)?;
            let new = match &disk {
                Some(image) => image
                    .as_ref()
                    .map(|it| it.content.bytes().to_vec())
                    .unwrap_or_default(),
                None => bytes(to)?.0,
            };
            let after = hunk.taken_back(&old, &new).ok_or_else(stale)?;
            let want = Want {
                path: path.to_owned(),
                theirs: Known::Content(after.into()),
                base: Known::Content(new.into()),
                unverified,
            };
            Ok((from, want))
        })?;
        self.draft(Made::new(Kind::Hunk, event(from)), &log, vec![want])
    }

    /// What is at a log's path on the disk, below an opened root.
    pub(crate) fn on_disk(&self, log: &Log, path: &str) -> Answer<Option<FileImage>> {
        let cwd = log.look(|look| look.timeline.cwd().map(str::to_owned));
        let located = read(&self.roots).locate(path, cwd.as_deref());
        match located {
            Located::Inside { root, path: below } => {
                let image = root.read(&below)?.image;
                self.looking.shown(&log.id, path, root.path().join(&below));
                Ok(image)
            }
            Located::Ask { folder, .. } => Err(ApiError::new(
                "outside-root",
                format!(
                    "{path} lies in {}, which was not opened.",
                    self.for_people(&folder)
                ),
            )
            .why("not-opened")
            .about(self.for_people(&folder))
            .hint("Open that folder.")),
            Located::Never(error) => Err(RestoreError::Outside(error).into()),
        }
    }

    /// The one root that these paths are written below.
    fn place_all(&self, cwd: Option<&str>, wants: &[Want]) -> Where {
        let roots = read(&self.roots);
        let mut need = None;
        for want in wants.iter().filter(|want| want.theirs != Known::Unknown) {
            match roots.locate(&want.path, cwd) {
                Located::Inside { root, .. } => return Where::Root(root),
                Located::Ask { folder, file } => {
                    let folder = folder.to_string_lossy().into_owned();
                    need = Some(PlanNeed::Root { folder, file });
                }
                Located::Never(error) => {
                    need.get_or_insert(refused(&error));
                }
            }
        }
        let none = || PlanNeed::Refused {
            reason: "There is nothing to write: no content is known there.".to_owned(),
            why: Some("nothing-known".to_owned()),
            path: None,
        };
        Where::Need(need.unwrap_or_else(none))
    }

    /// The log's own folder is not on this machine, and nothing says that this root is the same project: a person
    /// has to say so before anything of it is written there.
    fn foreign(
        &self,
        log: &Log,
        root: &Root,
        cwd: Option<&str>,
        wants: &[Want],
    ) -> Option<PlanNeed> {
        let cwd = Path::new(cwd?);
        // A path that lies in the root as it is written needs no folder to be laid onto another.
        let laid = |want: &&Want| {
            Path::new(&want.path).is_relative() || root.place(&want.path, None).is_err()
        };
        let want = wants
            .iter()
            .filter(|want| want.theirs != Known::Unknown)
            .find(laid)?;
        if !cwd.is_absolute() || cwd.is_dir() {
            return None;
        }
        let below = |want: &Want| root.place(&want.path, cwd.to_str()).ok();
        let consented = hold(&self.plans).laid.iter().any(|it| {
            it.log == log.id
                && it.folder == root.path()
                && it
                    .only
                    .as_ref()
                    .is_none_or(|only| wants.iter().all(|want| below(want).as_ref() == Some(only)))
        });
        if consented || log.look(|look| may_lie(look, root)) {
            return None;
        }
        Some(PlanNeed::Root {
            folder: root.path().to_string_lossy().into_owned(),
            file: below(want)?,
        })
    }

    fn draft(&self, mut made: Made, log: &Log, wants: Vec<Want>) -> Answer<Made> {
        let cwd = log.look(|look| look.timeline.cwd().map(str::to_owned));
        let root = match self.place_all(cwd.as_deref(), &wants) {
            Where::Root(root) => root,
            Where::Need(need) => {
                if matches!(need, PlanNeed::Root { .. }) {
                    for want in &wants {
                        made = made.telling(&want.path, &want.theirs);
                    }
                }
                return Ok(made.needing(need));
            }
        };
        if let Some(need) = self.foreign(log, &root, cwd.as_deref(), &wants) {
            for want in &wants {
                made = made.telling(&want.path, &want.theirs);
            }
            return Ok(made.needing(need));
        }
        let mut draft = Draft::new(made.kind);
        log.look(|look| {
            let last = look.timeline.end();
            for want in &wants {
                let file = look.timeline.file(last, &want.path);
                if file.is_some_and(|it| !it.exists && it.certainty != Certainty::Unknown) {
                    draft.deleted_by_the_log(&want.path);
                }
            }
        });
        let mut outside = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        let gone = root.gone(&wants, cwd.as_deref());
        for want in &wants {
            if want.theirs == Known::Unknown {
                let message = format!(
                    "{}: the log doesn't show its content there, it is not written",
                    want.path
                );
                draft.warn("unknown-content", &want.path, message);
                continue;
            }
            let path = match self.below(&root, &want.path, cwd.as_deref()) {
                Some(path) => path,
                None if made.kind == Kind::File || made.kind == Kind::Hunk => {
                    return Ok(made.needing(PlanNeed::Refused {
                        reason: format!("{} lies elsewhere.", want.path),
                        why: Some("elsewhere".to_owned()),
                        path: Some(want.path.clone()),
                    }));
                }
                None => {
                    outside.push(want.path.clone());
                    continue;
                }
            };
            if seen.contains(&path) {
                continue;
            }
            seen.push(path.clone());
            let found = match root.read_after(&path, &gone) {
                Ok(found) => found,
                // It is to be absent, and it is: a folder has its name.
                Err(RestoreError::NotAFile { what, .. })
                    if want.theirs == Known::Absent && what.means_absent() =>
                {
                    continue
                }
                Err(error) if made.kind == Kind::Tree => {
                    draft.warn("outside-root", &path, error.to_string());
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let whole = matches!(made.kind, Kind::File | Kind::Files | Kind::Tree);
            let settled = match &found.image {
                Some(image) if whole && log.look(|look| knows(look, &want.path, image)) => {
                    // The log has what is on the disk as one of its versions: nothing is lost, nothing to merge.
                    let base = Known::Content(image.content.bytes().into());
                    Some(Want {
                        base,
                        ..want.clone()
                    })
                }
                _ => None,
            };
            let want = settled.as_ref().unwrap_or(want);
            let kept = draft.add(
                &path,
                found.image.clone(),
                found.notes.clone(),
                want,
                Mode::Merge,
            );
            if kept.is_err() {
                // Nothing says what the disk's content and the log's have in common: it is replaced, and said so.
                let replaced = draft.add(&path, found.image, found.notes, want, Mode::Overwrite);
                replaced.map_err(|none| {
                    ApiError::new("unknown-content", format!("{}: no base.", none.path))
                        .why("no-base")
                        .about(&none.path)
                })?;
            }
        }
        if !outside.is_empty() {
            let shown: Vec<&str> = outside.iter().take(3).map(String::as_str).collect();
            let more = outside.len().saturating_sub(3);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            made.warnings.push(Warning {
                code: "outside-root".to_owned(),
                message: format!(
                    "{}{more} lie elsewhere and are not written",
                    shown.join(", ")
                ),
                why: None,
                path: outside.first().cloned(),
                count: u32::try_from(outside.len()).ok(),
            });
        }
        Ok(made.with(root, draft))
    }

    /// A log's path below one root, where the roots say that it belongs there.
    fn below(&self, root: &Root, path: &str, cwd: Option<&str>) -> Option<String> {
        match read(&self.roots).locate(path, cwd) {
            Located::Inside { root: own, path } if own.path() == root.path() => Some(path),
            _ => None,
        }
    }

    fn chip_into(&self, key: &str, target: &ChipTarget, form: InsertForm) -> Answer<Made> {
        let detail = self.chips.detail(key)?;
        let record = detail.record.as_ref().ok_or_else(|| {
            ApiError::new("bad-request", "The chip is damaged.").why("damaged-chip")
        })?;
        let from = PlanFrom::Chip {
            id: detail.entry.id.clone(),
        };
        let mut made = Made::new(Kind::Chip, from);
        let place = match self.chip_place(&detail, target) {
            Ok(place) => place,
            Err(error) => {
                let text = match form {
                    InsertForm::Header => insert_text(record),
                    InsertForm::Content => {
                        let content = record.content();
                        content.map_or_else(Vec::new, |it| it.as_bytes().to_vec())
                    }
                };
                let made = made.telling(&target.path, &Known::Content(text.into()));
                return self.ask_for(made, &target.path, error);
            }
        };
        let found = place.root.read(&place.path)?;
        let now = found
            .image
            .as_ref()
            .map(|it| it.content.bytes())
            .unwrap_or_default();
        let lines = now.split_inclusive(|byte| *byte == b'\n').count();
        let line = target
            .line
            .map_or(lines as i64, |line| i64::try_from(line).unwrap_or(i64::MAX));
        let inserted = match form {
            InsertForm::Header => insert_header(now, line, &insert_text(record)),
            InsertForm::Content => {
                let content = record.content();
                let content = content.ok_or_else(|| {
                    ApiError::new("bad-request", "This chip has no content.").why("no-content")
                })?;
                let inserted = insert_content(now, line, content.as_bytes());
                let there = stands_there(now, line, content.as_bytes());
                inserted.map(|mut inserted| {
                    if there {
                        inserted.bytes = now.to_vec();
                    }
                    inserted
                })
            }
        };
        let inserted =
            inserted.map_err(|error| ApiError::new("bad-request", format!("{error}.")))?;
        let mut notes = found.notes.clone();
        if form == InsertForm::Header
            && (inserted.rewritten_endings > 0 || inserted.added_final_newline)
        {
            notes.push(Note::ServerForm);
            let n = inserted.rewritten_endings;
            let s = if n == 1 { "" } else { "s" };
            let ends = if n > 0 {
                format!("{n} line end{s} of the file change")
            } else {
                String::new()
            };
            let last = if inserted.added_final_newline {
                "a last newline is added"
            } else {
                ""
            };
            let both = [ends.as_str(), last]
                .into_iter()
                .filter(|it| !it.is_empty())
                .collect::<Vec<_>>()
                .join(", ");
            made.warnings.push(Warning {
                code: "server-form".to_owned(),
                message: format!("The server's own form: {both}"),
                why: Some(
                    match (n, inserted.added_final_newline) {
                        (0, _) => "newline",
                        (_, false) => "line-ends",
                        _ => "both",
                    }
                    .to_owned(),
                ),
                path: Some(place.path.clone()),
                count: u32::try_from(n).ok(),
            });
        }
        let draft = fixed(Kind::Chip, &place.path, found.image, notes, inserted.bytes)?;
        Ok(made.with(place.root, draft))
    }

    fn put_back(&self, key: &str, target: Option<&ChipTarget>) -> Answer<Made> {
        let detail = self.chips.detail(key)?;
        let content = detail.record.as_ref().and_then(|it| it.deleted());
        let content = content.ok_or_else(|| {
            ApiError::new("bad-request", "Only a deleted text can be put back.").why("only-deleted")
        })?;
        let from = PlanFrom::Chip {
            id: detail.entry.id.clone(),
        };
        let mut made = Made::new(Kind::PutBack, from);
        // Looked up anew: the file may have changed since the page was told.
        self.forget_origins();
        let Found {
            targets,
            certain,
            already_there,
            notes,
        } = self.origins(key)?;
        made.warnings
            .extend(notes.into_iter().map(|message| Warning {
                code: "note".to_owned(),
                message,
                why: None,
                path: None,
                count: None,
            }));
        made.candidates = targets.clone();
        let chosen = match target {
            Some(chosen) => targets
                .iter()
                .find(|it| it.path == chosen.path && it.line == chosen.line)
                .cloned(),
            None if certain => targets.first().cloned(),
            None => None,
        };
        let chosen = match (chosen, target) {
            (Some(chosen), _) => chosen,
            // A place that the person chose himself.
            (None, Some(own)) if own.certainty == "chosen" => own.clone(),
            (None, Some(_)) => {
                return Err(
                    ApiError::new("precondition", "The text would no longer go there.")
                        .why("moved-place")
                        .hint("Choose among the places again."),
                );
            }
            (None, None) => return Ok(made),
        };
        let place = match self.chip_place(&detail, &chosen) {
            Ok(place) => place,
            Err(error) => {
                let made = made.telling(&chosen.path, &Known::Content(content.as_bytes().into()));
                return self.ask_for(made, &chosen.path, error);
            }
        };
        let found = place.root.read(&place.path)?;
        let now = found
            .image
            .as_ref()
            .map(|it| it.content.bytes())
            .unwrap_or_default()
            .to_vec();
        let bytes = if already_there {
            now
        } else {
            let line = i64::try_from(chosen.line.unwrap_or(0)).unwrap_or(i64::MAX);
            insert_content(&now, line, content.as_bytes())
                .map_err(|error| ApiError::new("bad-request", format!("{error}.")))?
                .bytes
        };
        let draft = fixed(Kind::PutBack, &place.path, found.image, found.notes, bytes)?;
        Ok(made.with(place.root, draft))
    }

    fn edit_snapshot(&self, key: &str, before: bool) -> Answer<Made> {
        let detail = self.chips.snapshot(key)?;
        let record = &detail.record;
        let (wanted, other) = match before {
            true => (record.before.text(), record.after.text()),
            false => (record.after.text(), record.before.text()),
        };
        let from = PlanFrom::EditSnapshot {
            id: record.id.clone(),
            before,
        };
        let made = Made::new(Kind::EditSnapshot, from);
        let place = match self.snapshot_place(&detail.entry) {
            Ok(place) => place,
            Err(error) => {
                let made = made.telling(&record.file, &Known::Content(wanted.into()));
                return self.ask_for(made, &record.file, error);
            }
        };
        let found = place.root.read(&place.path)?;
        let want = Want {
            path: place.path.clone(),
            theirs: Known::Content(wanted.into()),
            base: Known::Content(other.into()),
            unverified: false,
        };
        let mut draft = Draft::new(Kind::EditSnapshot);
        draft
            .add(&place.path, found.image, found.notes, &want, Mode::Merge)
            .map_err(|none| {
                ApiError::new("unknown-content", format!("{}: no base.", none.path))
                    .why("no-base")
                    .about(&none.path)
            })?;
        Ok(made.with(place.root, draft))
    }

    /// A path that is in no opened root: permission may be asked for, where it has a place here.
    fn ask_for(&self, made: Made, path: &str, error: ApiError) -> Answer<Made> {
        match read(&self.roots).locate(path, None) {
            Located::Ask { folder, file } => {
                let folder = folder.to_string_lossy().into_owned();
                Ok(made.needing(PlanNeed::Root { folder, file }))
            }
            _ => Ok(made.needing(PlanNeed::Refused {
                reason: error.message,
                why: error.why,
                path: Some(path.to_owned()),
            })),
        }
    }
}

/// One file that becomes these bytes.
fn fixed(
    kind: Kind,
    path: &str,
    found: Option<FileImage>,
    notes: Vec<Note>,
    bytes: Vec<u8>,
) -> Answer<Draft> {
    let base = match &found {
        Some(image) => Known::Content(image.content.bytes().into()),
        None => Known::Absent,
    };
    let theirs = Known::Content(Arc::from(bytes));
    let want = Want {
        path: path.to_owned(),
        theirs,
        base,
        unverified: false,
    };
    let mut draft = Draft::new(kind);
    draft
        .add(path, found, notes, &want, Mode::Overwrite)
        .map_err(|none| {
            ApiError::new("unknown-content", format!("{}: no base.", none.path))
                .why("no-base")
                .about(&none.path)
        })?;
    Ok(draft)
}

/// The content on the disk is one of the versions that the log has of a file.
fn knows(look: &Look, path: &str, image: &FileImage) -> bool {
    let hash = image.content.sha256();
    look.timeline.versions(path).iter().any(|version| {
        let known = version
            .content
            .and_then(|it| look.timeline.content_sha256(it, look.source));
        known.as_deref() == Some(hash)
    })
}

/// The position of the last content of a file that is deleted at a position.
fn before_deletion(timeline: &Timeline, path: &str, at: u32) -> Option<u32> {
    let until = |it: &&Version| it.index <= at;
    let mut back = timeline.versions(path).iter().filter(until).rev();
    let mut gone = back.next().filter(|it| !it.exists)?.index;
    for version in back {
        if version.exists {
            return version.content.is_some().then(|| gone.saturating_sub(1));
        }
        gone = version.index;
    }
    None
}

fn event(at: u32) -> PlanFrom {
    PlanFrom::Event { at: u64::from(at) }
}

/// A path that is not written, and which refusal of the table it is.
pub(super) fn refused(error: &Outside) -> PlanNeed {
    let (why, about) = super::refusal(&RestoreError::Outside(error.clone()));
    PlanNeed::Refused {
        reason: format!("{error}."),
        why: Some(why.to_owned()),
        path: about.into_iter().next(),
    }
}

fn unknown(path: &str) -> ApiError {
    ApiError::new(
        "unknown-content",
        format!("The log doesn't show the content of {path} there."),
    )
    .why("unknown-there")
    .about(path)
}
