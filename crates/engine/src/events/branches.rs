//! What-if: a branch is laid over an open log, folded, compared with the recorded end, and opened as a log of its own
//! beside it, so that every view works on it. Two open logs are compared in the same way.

use crate::api::*;
use crate::diff::{Content, Side};
use crate::engine::{hold, write, Answer, Inner};
use crate::log::{title, window, Converted, Log, Look};
use chipdeck_disk::logs::FileSource;
use chipdeck_disk::store::{BranchFileError, Scratch};
use chipdeck_event::schema::{Field, Kind, Together, TypeSchema, CATALOGUE};
use chipdeck_event::Session;
use chipdeck_replay::branch::{
    self, differences, first_difference, payload_faults, Branch, BranchError, Differences, Edits,
    Moved, PayloadFault, Standing, Tail,
};
use chipdeck_replay::restore::sha256_hex;
use serde_json::{json, Value};
use std::path::Path;
use std::sync::Arc;

/// Comparisons that are held; branches are held as long as they are open.
const MOST_COMPARED: usize = 8;

/// A branch or a comparison.
pub(super) struct Held {
    view: BranchView,
    differences: Differences,
    /// Of a branch: its file.
    scratch: Option<Scratch>,
}

fn unconverted(why: String) -> ApiError {
    ApiError::new("bad-request", format!("This log has no branch: {why}."))
}

/// Edits of an agent's log as edits of what it became.
fn over(converted: &Converted, edits: &[BranchEdit]) -> Vec<BranchEdit> {
    let entry = |index: u64| u32::try_from(index).unwrap_or(u32::MAX);
    let mut out = Vec::new();
    for edit in edits {
        let mut edit = edit.clone();
        match &mut edit {
            BranchEdit::Skip { index } => {
                let (first, last) = converted.entries(entry(*index));
                out.extend((first..=last).map(|at| BranchEdit::Skip {
                    index: u64::from(at),
                }));
                continue;
            }
            BranchEdit::Replace { index, .. } => {
                *index = u64::from(converted.entries(entry(*index)).0);
            }
            BranchEdit::Insert { after: at, .. } | BranchEdit::Cut { at, .. } => {
                *at = u64::from(converted.position(entry(*at)));
            }
        }
        out.push(edit);
    }
    out
}

impl Inner {
    pub(crate) fn open_branch(&self, id: &str, edits: &[BranchEdit]) -> Answer<BranchView> {
        let base = self.log(id)?;
        let number = self.number();
        let tail = self.tail(edits)?;
        let (made, laid, left_title) = base.look(|look| {
            let converted = match base.format().is_canonical() {
                true => None,
                false => Some(Converted::of(look.timeline, look.source).map_err(unconverted)?),
            };
            let (mut made, mut branch);
            match &converted {
                None => {
                    made = self.edits(look, edits, number)?;
                    made.tail = tail;
                    branch = Branch::lay(look.timeline, base.source.clone(), &made)
                        .map_err(|error| unlaid(&error))?;
                }
                // An agent's log: a branch of what it is in the canonical format.
                Some(converted) => {
                    let laid = Look {
                        timeline: &converted.timeline,
                        source: &*converted.source,
                        findings: look.findings.clone(),
                    };
                    made = self.edits(&laid, &over(converted, edits), number)?;
                    made.tail = tail;
                    branch = Branch::lay(&converted.timeline, converted.source.clone(), &made)
                        .map_err(|error| unlaid(&error))?;
                    branch.divergence = branch.divergence.map(|at| converted.origin(at));
                }
            }
            let found = differences(end(look), end_of(&branch));
            let title = title(&base.path, base.format(), look.timeline.cwd());
            Ok::<_, ApiError>((branch, (found, look.timeline.len()), title))
        })?;
        let (found, left_count) = laid;
        let right_title = format!("{} + {number}", left_title.trim_end_matches(".jsonl"));
        let scratch =
            Scratch::write(&self.config.places, &right_title, &made).map_err(unwritten)?;
        let source = FileSource::open(scratch.path())
            .map_err(|error| ApiError::new("io", format!("The branch cannot be read: {error}.")))?;
        let own = self.own.clone();
        let when_read = move |log: &Log| {
            if let Some(inner) = own.upgrade() {
                inner.root_log(log);
            }
        };
        let right = Log::start(
            format!("branch-{number}"),
            scratch.path(),
            source,
            self.notices.clone(),
            Box::new(when_read),
        );
        write(&self.logs).push(right.clone());
        let mut view = view(id, &right.id, &found, made.divergence);
        view.branch = true;
        view.edits = edits.iter().map(words).collect();
        (view.left_title, view.right_title) = (left_title, right_title);
        (view.left_count, view.right_count) =
            (u64::from(left_count), u64::from(made.timeline.len()));
        hold(&self.deep.branches).push(Held {
            view: view.clone(),
            differences: found,
            scratch: Some(scratch),
        });
        Ok(view)
    }

    /// The tail of another log, where an edit asks for one.
    fn tail(&self, edits: &[BranchEdit]) -> Answer<Option<Tail>> {
        let Some(then) = edits.iter().find_map(|edit| match edit {
            BranchEdit::Cut { then, .. } => then.as_ref(),
            _ => None,
        }) else {
            return Ok(None);
        };
        let other = self.log(&then.log)?;
        other.look(|look| {
            let from = look.position(then.from);
            if other.format().is_canonical() {
                return Ok(Some(Tail::of(look.timeline, other.source.clone(), from)));
            }
            let converted = Converted::of(look.timeline, look.source).map_err(unconverted)?;
            let source = converted.source.clone();
            let from = converted.position(from);
            Ok(Some(Tail::of(&converted.timeline, source, from)))
        })
    }

    fn edits(&self, look: &Look, edits: &[BranchEdit], number: u64) -> Answer<Edits> {
        let mut made = Edits::default();
        let entry = |index: u64| {
            u32::try_from(index)
                .map_err(|_| ApiError::new("not-found", format!("There is no entry {index}.")))
        };
        for (nth, edit) in edits.iter().enumerate() {
            match edit {
                BranchEdit::Skip { index } => {
                    made.skip.insert(entry(*index)?);
                }
                BranchEdit::Replace { index, payload } => {
                    let index = entry(*index)?;
                    let event = look.timeline.entry(index).and_then(|it| it.entry.event());
                    let name = event.map(|event| event.envelope.type_name.to_string());
                    let name = name.ok_or_else(|| unlaid(&BranchError::NoEvent(index)))?;
                    sound(&name, payload)?;
                    made.replace.insert(index, payload.to_string());
                }
                BranchEdit::Insert {
                    after,
                    event_type,
                    payload,
                    ..
                } => {
                    sound(event_type, payload)?;
                    let after = entry(*after)?;
                    let record = new_event(look, after, edit, &format!("{number}-{nth}"));
                    made.insert.entry(after).or_default().push(record);
                }
                BranchEdit::Cut { at, .. } => made.cut = Some(entry(*at)?),
            }
        }
        Ok(made)
    }

    pub(crate) fn branches(&self, id: &str) -> Vec<BranchView> {
        let held = hold(&self.deep.branches);
        let of = held.iter().map(|held| &held.view);
        of.filter(|view| view.branch && (view.left == id || view.right == id))
            .cloned()
            .collect()
    }

    /// A branch was closed: its file goes.
    pub(crate) fn forget_branch(&self, id: &str) {
        hold(&self.deep.branches)
            .retain(|held| held.view.right != id && (held.view.branch || held.view.left != id));
    }

    pub(crate) fn save_branch(&self, id: &str, path: &Path) -> Answer<BranchSaved> {
        let held = hold(&self.deep.branches);
        let scratch = held.iter().find(|it| it.view.branch && it.view.right == id);
        let scratch = scratch.and_then(|it| it.scratch.as_ref());
        let scratch = scratch.ok_or_else(|| no_branch(id))?;
        let bytes = scratch.save(path).map_err(unwritten)?;
        Ok(BranchSaved {
            path: self.for_people(path),
            bytes,
        })
    }

    /// The name that a branch is offered to be saved under.
    pub(crate) fn branch_name(&self, id: &str) -> Option<String> {
        let held = hold(&self.deep.branches);
        let found = held
            .iter()
            .find(|it| it.view.branch && it.view.right == id)?;
        let name = found.scratch.as_ref()?.path().file_name()?;
        Some(name.to_string_lossy().into_owned())
    }

    pub(crate) fn compare(&self, left: &str, right: &str) -> Answer<BranchView> {
        let (a, b) = (self.log(left)?, self.log(right)?);
        if left == right {
            return Err(ApiError::new(
                "bad-request",
                "A log is compared with another one.",
            ));
        }
        let (mut view, found) = a.look(|one| {
            b.look(|other| {
                let divergence =
                    first_difference((one.timeline, one.source), (other.timeline, other.source));
                let found = differences(end(one), end(other));
                let mut view = view(left, right, &found, divergence);
                let name =
                    |log: &Log, look: &Look| title(&log.path, log.format(), look.timeline.cwd());
                (view.left_title, view.right_title) = (name(&a, one), name(&b, other));
                (view.left_count, view.right_count) = (
                    u64::from(one.timeline.len()),
                    u64::from(other.timeline.len()),
                );
                (view, found)
            })
        });
        let mut held = hold(&self.deep.branches);
        let same = |it: &Held| it.view.left == left && it.view.right == right;
        // A branch keeps its edits, whatever else it is compared with.
        if let Some(own) = held.iter().find(|it| same(it) && it.view.branch) {
            (view.branch, view.edits) = (true, own.view.edits.clone());
            return Ok(view);
        }
        held.retain(|it| !same(it));
        let compared = held.iter().filter(|it| !it.view.branch).count();
        if compared >= MOST_COMPARED {
            if let Some(oldest) = held.iter().position(|it| !it.view.branch) {
                held.remove(oldest);
            }
        }
        held.push(Held {
            view: view.clone(),
            differences: found,
            scratch: None,
        });
        Ok(view)
    }

    pub(crate) fn difference_rows(
        &self,
        (left, right): (&str, &str),
        part: DifferencePart,
        offset: u64,
        limit: u64,
    ) -> Answer<Page<DifferenceRow>> {
        let held = hold(&self.deep.branches);
        let found = held
            .iter()
            .find(|it| it.view.left == left && it.view.right == right);
        let found = found.ok_or_else(|| no_branch(right))?;
        let all = &found.differences;
        let (skip, take) = window(offset, limit);
        let moved = |list: &[Moved]| {
            let rows = list.iter().skip(skip).take(take).map(moved_row).collect();
            (list.len(), rows)
        };
        let (total, rows) = match part {
            DifferencePart::Files => {
                let rows = all.files.iter().skip(skip).take(take);
                (all.files.len(), rows.map(file_row).collect())
            }
            DifferencePart::Tools => moved(&all.tools),
            DifferencePart::Memory => moved(&all.memory),
            DifferencePart::Chips => moved(&all.chips),
            DifferencePart::Plans => moved(&all.plans),
        };
        Ok(Page {
            offset,
            total: total as u64,
            rows,
        })
    }

    /// A file at the ends of two logs.
    pub(crate) fn difference_diff(
        &self,
        (left, right): (&str, &str),
        path: &str,
        context: u32,
    ) -> Answer<DiffView> {
        let take = |id: &str, label: &str| -> Answer<Taken> {
            Ok(self.log(id)?.look(|look| {
                let mut text = None;
                let side = look.side(path, look.timeline.len(), &mut text);
                let absent = matches!(side.content, Content::Absent);
                let (certainty, sha256) = (side.certainty, side.sha256);
                Taken {
                    label: label.to_owned(),
                    absent,
                    certainty,
                    sha256,
                    text,
                }
            }))
        };
        let (old, new) = (take(left, "recorded")?, take(right, "branch")?);
        Ok(crate::diff::view(path, old.side(), new.side(), context))
    }
}

/// What is needed of a side of a diff once its log was let go of.
struct Taken {
    label: String,
    text: Option<Arc<str>>,
    absent: bool,
    certainty: Option<String>,
    sha256: Option<String>,
}

impl Taken {
    fn side(&self) -> Side<'_> {
        Side {
            label: self.label.clone(),
            content: match &self.text {
                _ if self.absent => Content::Absent,
                Some(text) => Content::Bytes(text.as_bytes()),
                None => Content::Unknown,
            },
            certainty: self.certainty.clone(),
            sha256: self.sha256.clone(),
        }
    }
}

fn end<'a>(look: &'a Look<'a>) -> branch::Look<'a> {
    branch::Look {
        timeline: look.timeline,
        state: look.timeline.end(),
        source: look.source,
    }
}

fn end_of(branch: &Branch) -> branch::Look<'_> {
    branch::Look {
        timeline: &branch.timeline,
        state: branch.timeline.end(),
        source: &*branch.source,
    }
}

fn view(left: &str, right: &str, found: &Differences, divergence: Option<u32>) -> BranchView {
    BranchView {
        left: left.to_owned(),
        right: right.to_owned(),
        left_title: String::new(),
        right_title: String::new(),
        branch: false,
        edits: Vec::new(),
        left_count: 0,
        right_count: 0,
        divergence: divergence.map(u64::from),
        files: found.files.len() as u64,
        tools: found.tools.len() as u64,
        memory: found.memory.len() as u64,
        chips: found.chips.len() as u64,
        plans: found.plans.len() as u64,
        dialogue_left: found.dialogue.0,
        dialogue_right: found.dialogue.1,
        same: divergence.is_none() && found.is_empty(),
    }
}

/// An edit for people.
fn words(edit: &BranchEdit) -> String {
    match edit {
        BranchEdit::Skip { index } => format!("skip {index}"),
        BranchEdit::Replace { index, .. } => format!("edit {index}"),
        BranchEdit::Insert {
            after, event_type, ..
        } => format!("insert {event_type} after {after}"),
        BranchEdit::Cut { at, then: None } => format!("cut {at}"),
        BranchEdit::Cut {
            at,
            then: Some(then),
        } => format!("cut {at}, then {} from {}", then.log, then.from),
    }
}

/// A whole event of what the page gave: the rest is taken from the entry before it.
fn new_event(look: &Look, after: u32, edit: &BranchEdit, salt: &str) -> String {
    let BranchEdit::Insert {
        event_type,
        payload,
        event_id,
        parent_event_id,
        correlation_id,
        timestamp,
        ..
    } = edit
    else {
        return String::new();
    };
    let near = (1..=after)
        .rev()
        .chain(after + 1..=look.timeline.len())
        .find_map(|index| look.timeline.entry(index)?.entry.event());
    let near = near.map(|event| &event.envelope);
    let given = |given: &Option<String>| given.clone().filter(|it| !it.is_empty());
    let id = given(event_id).unwrap_or_else(|| {
        let of = sha256_hex(format!("{salt} {after} {event_type} {payload}").as_bytes());
        format!("what-if-{}", of.get(..16).unwrap_or_default())
    });
    let mut event = json!({
        "eventId": id,
        "traceId": near.map_or("what-if", |it| &*it.trace_id),
        "type": event_type,
        "timestamp": timestamp.or_else(|| near?.timestamp).unwrap_or(0),
        "payload": payload,
        "version": 1,
    });
    let parent = given(parent_event_id);
    let correlation = given(correlation_id);
    for (name, value) in [("parentEventId", parent), ("correlationId", correlation)] {
        if let (Some(value), Some(object)) = (value, event.as_object_mut()) {
            object.insert(name.to_owned(), value.into());
        }
    }
    event.to_string()
}

/// Refuses a payload that is not of its type's shape; the form asks for the faults one by one.
fn sound(type_name: &str, payload: &Value) -> Answer<()> {
    match payload_faults(type_name, payload).first() {
        None => Ok(()),
        Some(fault) => Err(ApiError::new(
            "bad-request",
            format!(
                "The payload of {type_name} is not sound: {}.",
                fault.message
            ),
        )),
    }
}

/// The faults of a payload, for the form.
pub(crate) fn faults(type_name: &str, payload: &str) -> Vec<PayloadFaultRow> {
    let row = |fault: PayloadFault| PayloadFaultRow {
        pointer: fault.pointer,
        what: fault.what.to_owned(),
        expected: fault.expected,
        message: fault.message,
    };
    match serde_json::from_str::<Value>(payload) {
        Ok(value) => payload_faults(type_name, &value)
            .into_iter()
            .map(row)
            .collect(),
        Err(error) => vec![PayloadFaultRow {
            pointer: String::new(),
            what: "json".to_owned(),
            expected: "JSON".to_owned(),
            message: format!(
                "not JSON at line {}, column {}",
                error.line(),
                error.column()
            ),
        }],
    }
}

/// The catalogue for the form.
pub(crate) fn schemas() -> Vec<TypeSchemaView> {
    CATALOGUE.iter().map(schema).collect()
}

fn schema(schema: &TypeSchema) -> TypeSchemaView {
    let owned = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let (exactly_one, at_least_one) = match schema.together {
        Some(Together::ExactlyOne(names)) => (owned(names), Vec::new()),
        Some(Together::AtLeastOne(names)) => (Vec::new(), owned(names)),
        None => (Vec::new(), Vec::new()),
    };
    TypeSchemaView {
        name: schema.name.to_owned(),
        version: schema.version,
        session: match schema.session() {
            Session::Dialog => "dialog",
            Session::Exec => "exec",
        }
        .to_owned(),
        fields: schema.fields.iter().map(field).collect(),
        exactly_one,
        at_least_one,
    }
}

fn field(it: &Field) -> FieldSchema {
    FieldSchema {
        name: it.name.to_owned(),
        kind: it.kind.name().to_owned(),
        required: it.required,
        long: it.long,
        choices: match it.kind {
            Kind::OneOf(choices) => choices.iter().map(|it| (*it).to_owned()).collect(),
            _ => Vec::new(),
        },
        items: match it.kind {
            Kind::ListOf(fields) => fields.iter().map(field).collect(),
            _ => Vec::new(),
        },
    }
}

fn file_row(file: &branch::FileDifference) -> DifferenceRow {
    let words = |it: &Option<Standing>| {
        it.as_ref().map(|it| match it.exists {
            false => "deleted".to_owned(),
            true => it.certainty.as_str().to_owned(),
        })
    };
    let sha256 = |it: &Option<Standing>| it.as_ref().and_then(|it| it.sha256.clone());
    let bytes = |it: &Option<Standing>| it.as_ref().and_then(|it| it.bytes);
    DifferenceRow {
        name: file.path.clone(),
        tool_name: None,
        left: words(&file.left),
        right: words(&file.right),
        left_sha256: sha256(&file.left),
        right_sha256: sha256(&file.right),
        left_bytes: bytes(&file.left),
        right_bytes: bytes(&file.right),
    }
}

fn moved_row(row: &Moved) -> DifferenceRow {
    DifferenceRow {
        name: row.id.clone(),
        tool_name: Some(row.name.clone()).filter(|it| !it.is_empty()),
        left: row.left.map(str::to_owned),
        right: row.right.map(str::to_owned),
        left_sha256: None,
        right_sha256: None,
        left_bytes: None,
        right_bytes: None,
    }
}

fn no_branch(id: &str) -> ApiError {
    ApiError::new(
        "not-found",
        format!("There is no branch or comparison {id}."),
    )
}

fn unlaid(error: &BranchError) -> ApiError {
    let code = match error {
        BranchError::NoEntry(_) => "not-found",
        BranchError::Gone(_) => "io",
        _ => "bad-request",
    };
    ApiError::new(code, format!("The branch cannot be laid: {error}."))
}

fn unwritten(error: BranchFileError) -> ApiError {
    match &error {
        BranchFileError::Exists(_) => ApiError::new("conflict", format!("{error}."))
            .hint("A branch is always saved as a new file."),
        BranchFileError::Io { .. } => ApiError::new("io", format!("{error}.")),
    }
}
