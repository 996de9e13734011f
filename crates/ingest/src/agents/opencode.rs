//! OpenCode: what `opencode export` writes (one document), the storage folder (a document for each session, message
//! and part), and the lines of `opencode run --format json`. The part is the event: its id is shown.
//!
//! Contents: whole writes; both sides in `filediff` up to about 1.1; later a diff, which proves the file alone where
//! it holds all of it. Left out on purpose: snapshots and patch hashes, trees of a hidden repository elsewhere.

use chipdeck_event::{Change, Id, Json, Payload, Reach, Role, Status, Text};

use super::clock;
use super::document::Document;
use super::records::{Mapper, Record, Verdict};
use super::sink::{Call, Outcome, Sink};
use super::tools::{self, Act, Proof};
use crate::source::Source;
use crate::tape::{Origin, Tape, Val};

/// Lines of context in its diffs.
const CONTEXT: usize = 4;

pub(crate) fn claims_export(root: Val<'_>) -> bool {
    let info = root.get("info");
    info.and_then(|i| i.text_of("id"))
        .is_some_and(|id| id.starts_with("ses_"))
        && root.get("messages").is_some()
}

pub(crate) fn claims_storage(root: Val<'_>) -> bool {
    let id = root.text_of("id").unwrap_or_default();
    let session = || {
        root.text_of("sessionID")
            .is_some_and(|s| s.starts_with("ses_"))
    };
    (id.starts_with("prt_") && root.get("messageID").is_some() && session())
        || (id.starts_with("msg_") && root.get("role").is_some() && session())
        || (id.starts_with("ses_")
            && (root.get("directory").is_some() || root.get("projectID").is_some()))
        || (root.get("worktree").is_some()
            && root.get("time").is_some()
            && root.get("messages").is_none())
}

pub(crate) fn claims_stream(records: &[Val<'_>]) -> bool {
    records.iter().any(|r| {
        r.get("part").is_some()
            && r.text_of("sessionID")
                .is_some_and(|s| s.starts_with("ses_"))
    })
}

/// What is common to the three.
#[derive(Default)]
struct Parts {
    last_message: Option<Id>,
}

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

fn millis(value: Val<'_>, names: &[&str]) -> Option<i64> {
    let time = value
        .get("time")
        .or_else(|| value.path(&["state", "time"]))?;
    names
        .iter()
        .find_map(|n| time.get(n)?.float())
        .and_then(clock::number)
}

impl Parts {
    /// One part. `compacting`: its message is the summary of a compaction.
    fn part(
        &mut self,
        part: Val<'_>,
        role: Role,
        compacting: bool,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) {
        let id: Id = match part.text_of("id").filter(|i| is_id(i)) {
            Some(id) => id.as_ref().into(),
            None => sink.place_id(),
        };
        if let Some(time) = millis(part, &["end", "start", "created"]) {
            sink.now.timestamp = Some(time);
        }
        let kind = part.text_of("type").unwrap_or_default();
        match (&*kind, part.get("text").filter(|t| t.is_string())) {
            ("text", Some(text)) if compacting => {
                let summary = origin.text(text);
                match self.last_message.replace(id.clone()) {
                    Some(through) => {
                        sink.put(
                            id,
                            Payload::ContextCompact {
                                through,
                                summary,
                                tokens_before: None,
                                tokens_after: None,
                            },
                        );
                    }
                    None => sink.message(id, role, summary),
                }
            }
            ("text", Some(text)) => {
                let role = if part.truth("synthetic") {
                    Role::System
                } else {
                    role
                };
                self.last_message = Some(id.clone());
                sink.message(id, role, origin.text(text));
            }
            ("tool", _) => self.tool(part, id, origin, sink),
            (
                "text" | "reasoning" | "file" | "step-start" | "step-finish" | "snapshot" | "patch"
                | "subtask" | "agent" | "compaction" | "retry",
                _,
            ) => {
                sink.raw(id, &kind);
            }
            ("", _) => sink.unknown(id, "part (none)"),
            (kind, _) => sink.unknown(id, &format!("part {kind}")),
        }
    }

    fn tool(&mut self, part: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let name = part.text_of("tool").unwrap_or_default();
        let state = part.get("state");
        let input = state.and_then(|s| s.get("input"));
        let metadata = state.and_then(|s| s.get("metadata"));
        let act = input.and_then(|i| tools::act(&name, i, origin));
        let files = metadata
            .and_then(|m| m.get("files"))
            .filter(|f| f.is_array() && name == "apply_patch");
        let reach = match input {
            _ if act.is_some() || files.is_some() => Reach::None,
            Some(input) => tools::reach(&name, input, sink.shelf.cwd.as_deref()),
            None => Reach::Changer { words: Vec::new() },
        };
        let args = input.map_or(Json::Absent, |i| origin.json(i));
        sink.call(Call {
            id: id.clone(),
            name: &name,
            args,
            reach,
        });
        let Some(state) = state else {
            return;
        };
        let error = state.text_of("error").unwrap_or_default();
        let status = match state.text_of("status").as_deref() {
            Some("completed") => Status::Ok,
            Some("error")
                if error.contains("rejected permission") || error.contains("user rejected") =>
            {
                Status::Denied
            }
            Some("error") if error.contains("aborted") => Status::Cancelled,
            Some("error") => Status::Error,
            _ => return,
        };
        let output = state.get(if status == Status::Ok {
            "output"
        } else {
            "error"
        });
        let started = millis(part, &["start"]);
        let duration_ms = millis(part, &["end"])
            .zip(started)
            .map(|(end, start)| end - start);
        sink.result(Outcome {
            call: id.clone(),
            status,
            told: output.map(|o| origin.text(o)),
            result: output.map_or(Json::Absent, |o| origin.json(o)),
            duration_ms,
        });
        if status != Status::Ok {
            return;
        }
        if let Some(files) = files {
            for file in files.items() {
                if let Some(path) = file
                    .text_of("filePath")
                    .or_else(|| file.text_of("relativePath"))
                {
                    let path = sink.path(&path);
                    let to = file
                        .text_of("movePath")
                        .or_else(|| file.text_of("move_path"));
                    match file.text_of("type").as_deref() {
                        Some("delete") => sink.delete(&id, &path),
                        kind => told(file, &path, kind == Some("add"), None, &id, origin, sink),
                    }
                    if let Some(to) = to {
                        let to = sink.path(&to);
                        sink.rename(&id, &path, &to);
                    }
                }
            }
            return;
        }
        match (act, metadata) {
            (Some(Act::Edit { path, edits }), Some(metadata)) => {
                let path = sink.path(&path);
                let diff = metadata
                    .get("filediff")
                    .filter(|d| d.is_object())
                    .unwrap_or(metadata);
                told(
                    diff,
                    &path,
                    false,
                    Some(Change::Edits(edits)),
                    &id,
                    origin,
                    sink,
                );
            }
            (Some(act), metadata) => {
                let created = metadata
                    .and_then(|m| m.get("exists"))
                    .and_then(|e| e.bool())
                    == Some(false);
                tools::apply(
                    act,
                    Proof {
                        created,
                        ..Proof::default()
                    },
                    &id,
                    sink,
                );
            }
            (None, _) => {}
        }
    }
}

/// A change by what its record tells: both sides, else a diff, else what was asked for.
fn told(
    diff: Val<'_>,
    path: &Id,
    added: bool,
    asked: Option<Change>,
    id: &Id,
    origin: Origin,
    sink: &mut Sink<'_>,
) {
    let text = |name: &str| diff.get(name).filter(|v| v.is_string());
    if let Some(after) = text("after") {
        match text("before") {
            // An empty text stands for a file that was not there, too.
            Some(before) if before.raw().len() > 2 => sink.observe(id, path, origin.text(before)),
            _ => {}
        }
        return sink.write(id, path, origin.text(after), added);
    }
    let patch = text("patch").or_else(|| text("diff"));
    if let Some((before, after)) = patch.and_then(|p| tools::whole_file(&p.str()?, CONTEXT)) {
        if !before.is_empty() {
            sink.observe(id, path, Text::inline(before));
        }
        return sink.write(id, path, Text::inline(after), added);
    }
    match (text("patch"), asked) {
        (Some(patch), _) => sink.change(id, path, Change::Patch(origin.text(patch)), false),
        (None, Some(asked)) => sink.change(id, path, asked, false),
        (None, None) => sink.touched(id, path),
    }
}

fn role(info: Val<'_>) -> Role {
    match info.text_of("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => Role::System,
    }
}

fn is_summary(info: Val<'_>) -> bool {
    info.text_of("mode").as_deref() == Some("compaction") || info.truth("summary")
}

/// `opencode export`.
#[derive(Default)]
pub(crate) struct Export {
    parts: Parts,
}

impl Document for Export {
    fn agent(&self) -> &'static str {
        "opencode"
    }

    fn json(&mut self, root: Val<'_>, sink: &mut Sink<'_>, _source: &dyn Source) {
        let origin = sink.origin;
        let info = root.get("info").unwrap_or(root);
        sink.at(info);
        session(info, sink);
        for message in root.get("messages").into_iter().flat_map(|m| m.items()) {
            let info = message.get("info").unwrap_or(message);
            sink.at(info);
            head(info, sink);
            for part in message.get("parts").into_iter().flat_map(|p| p.items()) {
                sink.at(part);
                sink.now.parent = info
                    .text_of("id")
                    .filter(|i| is_id(i))
                    .map(|i| i.as_ref().into());
                self.parts
                    .part(part, role(info), is_summary(info), origin, sink);
            }
        }
    }
}

fn session(info: Val<'_>, sink: &mut Sink<'_>) {
    if let Some(cwd) = info.text_of("directory") {
        sink.enter(&cwd);
    }
    let id = info
        .text_of("id")
        .filter(|i| is_id(i))
        .unwrap_or_else(|| "session".into());
    sink.now.trace = sink.name(&id);
    sink.now.timestamp = millis(info, &["created"]);
    sink.session(&id, None);
}

/// A message without its parts.
fn head(info: Val<'_>, sink: &mut Sink<'_>) {
    if let Some(cwd) = info.path(&["path", "cwd"]).and_then(|c| c.str()) {
        sink.enter(&cwd);
    }
    sink.now.timestamp = millis(info, &["created"]);
    sink.now.parent = info
        .text_of("parentID")
        .filter(|i| is_id(i))
        .map(|i| i.as_ref().into());
    let id = match info.text_of("id").filter(|i| is_id(i)) {
        Some(id) => id.as_ref().into(),
        None => sink.place_id(),
    };
    sink.raw(id, "message");
}

/// One file of the storage folder. The order of parts is that of their ids, whatever the files are called.
#[derive(Default)]
pub(crate) struct Stored {
    parts: Parts,
}

impl Document for Stored {
    fn agent(&self) -> &'static str {
        "opencode"
    }

    fn json(&mut self, root: Val<'_>, sink: &mut Sink<'_>, source: &dyn Source) {
        let id = root.text_of("id").unwrap_or_default();
        let origin = sink.origin;
        sink.order_by(moment(&id));
        if id.starts_with("ses_") {
            sink.order_by(0);
            return session(root, sink);
        }
        let session = root.text_of("sessionID").unwrap_or_default();
        sink.now.trace = sink.name(&session);
        if let Some(message) = root.text_of("messageID").filter(|_| id.starts_with("prt_")) {
            let mut tape = Tape::default();
            let end = format!("/{message}.json");
            let text = sibling(source, &end);
            let info = text
                .as_deref()
                .filter(|t| tape.read(t).is_ok())
                .map(|t| tape.root(t));
            let found = info.map_or(
                if root.get("time").is_some() {
                    Role::Assistant
                } else {
                    Role::User
                },
                role,
            );
            if let Some(info) = info {
                if let Some(cwd) = info.path(&["path", "cwd"]).and_then(|c| c.str()) {
                    sink.enter(&cwd);
                }
                sink.now.timestamp = millis(info, &["created"]);
            }
            sink.now.parent = is_id(&message).then(|| message.as_ref().into());
            self.parts
                .part(root, found, info.is_some_and(is_summary), origin, sink);
        } else if id.starts_with("msg_") {
            head(root, sink);
        } else {
            sink.order_by(0);
            sink.now.timestamp = millis(root, &["created"]);
            let id = sink.place_id();
            sink.raw(id, "project");
        }
    }
}

/// The time and the counter in an id, as a number that sorts as the ids do.
fn moment(id: &str) -> u64 {
    let hex = id.get(4..16).unwrap_or_default();
    u64::from_str_radix(hex, 16).map_or(u64::MAX >> 12, |n| n << 8)
}

/// The text of the file of the set whose name ends so.
fn sibling(source: &dyn Source, end: &str) -> Option<String> {
    let file = (0..source.files()).find(|&f| source.name(f).ends_with(end))?;
    let len = usize::try_from(source.len(file))
        .ok()
        .filter(|&l| l < 64 << 20)?;
    String::from_utf8(source.read_at(file, 0, len).ok()?).ok()
}

/// `opencode run --format json`.
#[derive(Default)]
pub(crate) struct Stream {
    parts: Parts,
}

impl Mapper for Stream {
    fn agent(&self) -> &'static str {
        "opencode"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, _hurry: bool) -> Verdict {
        let value = record.value;
        let session = value
            .text_of("sessionID")
            .filter(|s| is_id(s))
            .unwrap_or_else(|| "session".into());
        sink.now.trace = sink.name(&session);
        sink.now.timestamp = value
            .get("timestamp")
            .and_then(|t| t.float())
            .and_then(clock::number);
        sink.session(&session, None);
        match value.get("part").filter(|p| p.is_object()) {
            Some(part) => self
                .parts
                .part(part, Role::Assistant, false, record.origin, sink),
            None => {
                let id = sink.place_id();
                let kind = value.text_of("type").unwrap_or_default();
                if matches!(&*kind, "error" | "session" | "status") {
                    sink.raw(id, &kind);
                } else {
                    sink.unknown(id, &kind);
                }
            }
        }
        Verdict::Done
    }
}
