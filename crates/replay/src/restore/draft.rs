//! From what is wanted and what is on the disk to a plan: three-way merges, conflicts to settle, warnings.
//!
//! A [`Draft`] is what a preview shows while there is something to settle; [`Draft::plan`] ends it. Left out: where
//! a path lies on the disk and what is there (the caller looks).

use super::lines::dressed_like;
use super::merge::{merge, Conflict, Merge, Merged, Settlement};
use super::plan::{Content, FileImage, Kind, Note, RestorePlan, Step};
use std::collections::HashSet;
use std::sync::Arc;

/// A file as somebody knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    Absent,
    Content(Arc<[u8]>),
    Unknown,
}

impl Known {
    pub fn text(text: &str) -> Known {
        Known::Content(text.as_bytes().into())
    }

    fn is(&self, image: Option<&FileImage>) -> bool {
        match (self, image) {
            (Known::Absent, None) => true,
            (Known::Content(bytes), Some(image)) => **bytes == *image.content.bytes(),
            _ => false,
        }
    }
}

/// What is to become of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Want {
    /// As the log writes it.
    pub path: String,
    /// What is to be there.
    pub theirs: Known,
    /// What the wanted content and the disk both came from: the log's last state, or the content after an old
    /// change that is taken back.
    pub base: Known,
    /// `theirs` is plausible, not proven.
    pub unverified: bool,
}

/// How much of the disk's own changes is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// None: the file becomes what is wanted.
    Overwrite,
    /// All: three-way merge with `base`.
    Merge,
}

/// Something that a person should know before it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// `disk-differs`, `disk-unknown`, `unverified`, `unknown-content`, `merged`.
    pub code: &'static str,
    /// Of `disk-differs` which: `changed`, `gone`, `unexpected`, `line-ends`; else empty.
    pub why: &'static str,
    /// Below the root where there is a step, else as the log writes it.
    pub path: String,
    pub message: String,
}

/// A merge needs a base, and the log has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoBase {
    pub path: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct DraftStep {
    path: String,
    before: Option<FileImage>,
    after: After,
    notes: Vec<Note>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum After {
    Fixed(Option<FileImage>),
    Merging { merge: Merge, deletes: bool },
}

/// A plan in the making.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    kind: Kind,
    steps: Vec<DraftStep>,
    pub warnings: Vec<Warning>,
    /// Files that the log itself has deleted in the end.
    deleted: HashSet<String>,
}

impl Draft {
    pub fn new(kind: Kind) -> Draft {
        Draft {
            kind,
            steps: Vec::new(),
            warnings: Vec::new(),
            deleted: HashSet::new(),
        }
    }

    /// The log itself deletes this file (as its [`Want`] names it) in the end: that it is gone from the disk is no
    /// surprise. Said before it is added.
    pub fn deleted_by_the_log(&mut self, path: &str) {
        self.deleted.insert(path.to_owned());
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn warn(&mut self, code: &'static str, path: &str, message: String) {
        self.warn_of(code, "", path, message);
    }

    fn warn_of(&mut self, code: &'static str, why: &'static str, path: &str, message: String) {
        self.warnings.push(Warning {
            code,
            why,
            path: path.to_owned(),
            message,
        });
    }

    /// Adds a file. `path` is below the root, `found` and `notes` what is there. An unknown `theirs` adds only a warning.
    /// `NoBase`, and nothing added, where a merge would need a base that the log doesn't know.
    pub fn add(
        &mut self,
        path: &str,
        found: Option<FileImage>,
        mut notes: Vec<Note>,
        want: &Want,
        mode: Mode,
    ) -> Result<(), NoBase> {
        let dressed = dressed(want, found.as_ref());
        let want = dressed.as_ref().unwrap_or(want);
        let wanted = match &want.theirs {
            Known::Unknown => {
                let message =
                    format!("{path}: the log doesn't show its content there, it is not written");
                self.warn("unknown-content", path, message);
                return Ok(());
            }
            Known::Absent => None,
            Known::Content(bytes) => Some(bytes.clone()),
        };
        let nothing = want.theirs.is(found.as_ref());
        let merges = mode == Mode::Merge && found.is_some() && !nothing;
        if merges && want.base == Known::Unknown {
            return Err(NoBase {
                path: path.to_owned(),
            });
        }
        if want.unverified && !nothing {
            notes.push(Note::Unverified);
            let message = format!("{path}: plausible, but not proven by the log");
            self.warn("unverified", path, message);
        }
        if dressed.is_some() {
            let message = format!(
                "{path}: the disk's own line ends or byte order mark are kept, the log has others"
            );
            self.warn_of("disk-differs", "line-ends", path, message);
        }
        match &want.base {
            Known::Unknown if found.is_some() && !nothing => {
                let message = format!("{path}: the log doesn't know what is on the disk now");
                self.warn("disk-unknown", path, message);
            }
            Known::Unknown => {}
            base if base.is(found.as_ref()) => {}
            _ if found.is_none() && self.deleted.contains(&want.path) => {}
            _ => {
                let (why, message) = match (&found, &want.base) {
                    (None, _) => (
                        "gone",
                        format!("{path}: it is gone from the disk, the log doesn't show why"),
                    ),
                    (_, Known::Absent) => (
                        "unexpected",
                        format!("{path}: it is on the disk, the log's last state has no such file"),
                    ),
                    _ => (
                        "changed",
                        format!("{path}: the disk has changes that the log doesn't show"),
                    ),
                };
                self.warn_of("disk-differs", why, path, message);
            }
        }
        let fixed = |bytes: Option<Arc<[u8]>>| After::Fixed(bytes.map(FileImage::of));
        let after = match (&found, &want.base) {
            // Nothing there that could be kept, or nothing is to be.
            (None, _) => fixed(wanted),
            _ if !merges => fixed(wanted),
            (Some(_), base) if base.is(found.as_ref()) => fixed(wanted),
            // The change that is wanted is none: the disk's stays.
            (Some(ours), base) if *base == want.theirs => fixed(Some(ours.content.bytes().into())),
            (Some(ours), base) => {
                notes.push(Note::Merged);
                let base = match base {
                    Known::Content(bytes) => bytes.as_ref(),
                    _ => &[],
                };
                let ours = ours.content.bytes();
                let merge = match &wanted {
                    Some(theirs) => merge(base, ours, theirs),
                    None => Merge::whole(base, ours, b""),
                };
                let deletes = wanted.is_none();
                After::Merging { merge, deletes }
            }
        };
        self.steps.push(DraftStep {
            path: path.to_owned(),
            before: found,
            after,
            notes,
        });
        Ok(())
    }

    /// Each conflict with its file, numbered through from 0.
    pub fn conflicts(&self) -> impl Iterator<Item = (usize, &str, &Conflict)> {
        let all = self.steps.iter().flat_map(|step| {
            let merge = match &step.after {
                After::Merging { merge, .. } => Some(merge),
                After::Fixed(_) => None,
            };
            let conflicts = merge.into_iter().flat_map(Merge::conflicts);
            conflicts.map(|conflict| (step.path.as_str(), conflict))
        });
        all.enumerate()
            .map(|(number, (path, conflict))| (number, path, conflict))
    }

    /// False: there is no such conflict.
    pub fn settle(&mut self, number: usize, how: Option<Settlement>) -> bool {
        let mut left = number;
        for step in &mut self.steps {
            if let After::Merging { merge, .. } = &mut step.after {
                let own = merge.conflicts().count();
                if left < own {
                    return merge.settle(left, how);
                }
                left -= own;
            }
        }
        false
    }

    /// Conflicts that are not settled; while there are any, nothing can be written.
    pub fn open(&self) -> usize {
        self.conflicts()
            .filter(|(_, _, conflict)| conflict.settled.is_none())
            .count()
    }

    /// The plan, once everything is settled.
    pub fn plan(&self) -> Option<RestorePlan> {
        (self.open() == 0).then(|| RestorePlan::new(self.kind, self.preview()))
    }

    /// The steps as they stand; where a conflict is open, with the disk's lines. For a preview only.
    pub fn preview(&self) -> Vec<Step> {
        let steps = self.steps.iter().map(|step| {
            let after = match &step.after {
                After::Fixed(image) => image.clone(),
                After::Merging { merge, deletes } => {
                    let text = match merge.finish() {
                        Merged::Text(text) => text,
                        Merged::Open(_) => merge.shown(),
                    };
                    let given_up = |c: &Conflict| c.settled == Some(Settlement::Theirs);
                    let gone = *deletes && merge.conflicts().all(given_up);
                    (!gone).then(|| FileImage::of(text))
                }
            };
            let mut made = Step::new(step.path.clone(), step.before.clone(), after);
            step.notes.iter().for_each(|note| made.note(*note));
            made
        });
        steps.collect()
    }
}

/// The disk has the log's last state, but with other line ends or a byte order mark: the log doesn't record them (or
/// something like git changed them all), so what is written keeps the disk's.
fn dressed(want: &Want, found: Option<&FileImage>) -> Option<Want> {
    let (Known::Content(base), Known::Content(theirs), Some(found)) =
        (&want.base, &want.theirs, found)
    else {
        return None;
    };
    let ours = found.content.bytes();
    if **base == *ours || **theirs == *ours || dressed_like(base, ours) != ours {
        return None;
    }
    Some(Want {
        base: Known::Content(ours.into()),
        theirs: Known::Content(dressed_like(theirs, ours).into()),
        ..want.clone()
    })
}

impl From<Content> for Known {
    fn from(content: Content) -> Known {
        Known::Content(content.bytes().into())
    }
}
