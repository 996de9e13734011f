//! Gemini CLI chats: one document that is rewritten on every change, and later lines with `$set` updates, where a
//! message may come again (its new calls and results count). A call and its result are in one record.
//!
//! The project's path is only in texts: it is taken from a result that names the absolute path of a relative one.
//! Left out on purpose: the checkpoints of its hidden repository.

use hashbrown::HashSet;

use chipdeck_event::{Id, Json, Role, Status};

use super::clock;
use super::document::Document;
use super::records::{Mapper, Record, Verdict};
use super::sink::Sink;
use super::tools::{Calls, Proof};
use crate::source::Source;
use crate::tape::{Origin, Val};

pub(crate) fn claims_document(root: Val<'_>) -> bool {
    root.get("sessionId").is_some()
        && root.get("projectHash").is_some()
        && root.get("messages").is_some()
}

pub(crate) fn claims_lines(records: &[Val<'_>]) -> bool {
    records.iter().any(|r| {
        (r.get("sessionId").is_some() && r.get("projectHash").is_some())
            || (r.text_of("type").as_deref() == Some("gemini")
                && r.get("timestamp").is_some()
                && r.get("id").is_some())
    })
}

#[derive(Default)]
pub(crate) struct Gemini {
    calls: Calls,
    messages: HashSet<Id>,
    session: Option<Id>,
}

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

impl Gemini {
    fn header(&mut self, header: Val<'_>, sink: &mut Sink<'_>) {
        let id = header
            .text_of("sessionId")
            .filter(|i| is_id(i))
            .unwrap_or_else(|| "session".into());
        let id = sink.name(&id);
        sink.now.trace = id.clone();
        sink.now.timestamp = header.text_of("startTime").and_then(|t| clock::iso(&t));
        sink.session(&id, None);
        self.session = Some(id);
    }

    fn message(&mut self, message: Val<'_>, origin: Origin, sink: &mut Sink<'_>) {
        let session = self.session.clone().unwrap_or_else(|| sink.name("session"));
        sink.now.trace = session;
        sink.now.timestamp = message.text_of("timestamp").and_then(|t| clock::iso(&t));
        let id: Id = match message.text_of("id").filter(|i| is_id(i)) {
            Some(id) => id.as_ref().into(),
            None => sink.place_id(),
        };
        let kind = message.text_of("type").unwrap_or_default();
        let role = match &*kind {
            "user" => Role::User,
            "gemini" | "model" => Role::Assistant,
            "info" | "error" | "warning" | "compression" | "system" => Role::System,
            other => {
                let id = if self.messages.insert(id.clone()) {
                    id
                } else {
                    sink.place_id()
                };
                return sink.unknown(id, if other.is_empty() { "(none)" } else { other });
            }
        };
        if self.messages.insert(id.clone()) {
            let mut part = 0;
            let content = message.get("content");
            let texts = content.into_iter().flat_map(|c| {
                let list = c.items().filter_map(|i| i.get("text"));
                let one = c.is_string().then_some(c).filter(|c| c.raw().len() > 2);
                one.into_iter().chain(list)
            });
            for text in texts {
                part += 1;
                let id = if part == 1 {
                    id.clone()
                } else {
                    format!("{id}+{part}").into()
                };
                sink.message(id, role, origin.text(text));
            }
            if part == 0 {
                sink.raw(id.clone(), &kind);
            }
        } else {
            let again = sink.place_id();
            sink.raw(again, "update");
        }
        sink.now.parent = Some(id);
        for call in message.get("toolCalls").into_iter().flat_map(|c| c.items()) {
            self.tool(call, origin, sink);
        }
    }

    fn tool(&mut self, call: Val<'_>, origin: Origin, sink: &mut Sink<'_>) {
        let id: Id = match call.text_of("id").filter(|i| is_id(i)) {
            Some(id) => id.as_ref().into(),
            None => format!("{}.{}", sink.place_id(), call.start()).into(),
        };
        let Some(args) = call.get("args") else {
            return;
        };
        if !self.calls.knows(&id) {
            let name = call.text_of("name").unwrap_or_default();
            self.calls.call(&id, &name, args, origin, sink);
        }
        let response = call
            .get("result")
            .and_then(|r| r.items().next())
            .and_then(|r| r.path(&["functionResponse", "response"]));
        let status = match call.text_of("status").as_deref() {
            Some("success") => Status::Ok,
            Some("cancelled") => Status::Cancelled,
            Some("error") => Status::Error,
            _ if response.is_some_and(|r| r.get("error").is_some()) => Status::Error,
            _ if response.is_some() => Status::Ok,
            _ => return,
        };
        if self.calls.settled(&id) {
            return;
        }
        let output = response.and_then(|r| r.get("output").or_else(|| r.get("error")));
        let proof = proof(call.get("resultDisplay"), output, origin);
        let told = output.map(|o| origin.text(o));
        let result = call.get("result").map_or(Json::Absent, |r| origin.json(r));
        self.calls.result(&id, status, told, result, proof, sink);
    }
}

/// What a result shows of the file; Qwen's are the same.
pub(crate) fn proof(display: Option<Val<'_>>, output: Option<Val<'_>>, origin: Origin) -> Proof {
    let side = |name: &str| display?.get(name).filter(|v| v.is_string());
    let output = output.and_then(|o| o.str()).unwrap_or_default();
    let after = side("newContent").map(|v| origin.text(v));
    let created = output.starts_with("Successfully created")
        || (after.is_some() && side("originalContent").is_none());
    Proof {
        created,
        before: side("originalContent")
            .filter(|v| !created && v.raw().len() > 2)
            .map(|v| origin.text(v)),
        after,
        altered: output.contains("User modified the"),
    }
}

/// The folder of the project, from a result that names the absolute path of a relative one.
fn project(root: Val<'_>) -> Option<String> {
    let calls = root
        .get("messages")?
        .items()
        .filter_map(|m| m.get("toolCalls"))
        .flat_map(|c| c.items());
    calls.into_iter().find_map(|call| folder(call))
}

fn folder(call: Val<'_>) -> Option<String> {
    let path = call.path(&["args", "file_path"])?.str()?;
    let relative = path.strip_prefix("./").unwrap_or(&path);
    if super::paths::is_absolute(relative) || relative.contains("..") {
        return None;
    }
    let output = call
        .get("result")?
        .items()
        .next()?
        .path(&["functionResponse", "response", "output"])?
        .str()?;
    let end = output.find(relative)?;
    let before = output.get(..end)?.strip_suffix('/')?;
    let start = before.rfind([' ', '\n']).map_or(0, |at| at + 1);
    before
        .get(start..)
        .filter(|f| super::paths::is_absolute(f))
        .map(str::to_string)
}

impl Document for Gemini {
    fn agent(&self) -> &'static str {
        "gemini"
    }

    fn json(&mut self, root: Val<'_>, sink: &mut Sink<'_>, _source: &dyn Source) {
        let origin = sink.origin;
        if let Some(folder) = project(root) {
            sink.enter(&folder);
        }
        self.header(root, sink);
        for message in root.get("messages").into_iter().flat_map(|m| m.items()) {
            sink.at(message);
            sink.now.parent = None;
            self.message(message, origin, sink);
        }
    }
}

impl Mapper for Gemini {
    fn agent(&self) -> &'static str {
        "gemini"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, _hurry: bool) -> Verdict {
        let value = record.value;
        if value.get("type").is_none() && value.get("sessionId").is_some() {
            self.header(value, sink);
        } else if value.members().any(|(key, _)| key.starts_with('$')) {
            let id = sink.place_id();
            let session = self.session.clone().unwrap_or_else(|| sink.name("session"));
            sink.now.trace = session;
            sink.raw(id, "set");
        } else {
            let found = value
                .get("toolCalls")
                .into_iter()
                .flat_map(|c| c.items())
                .find_map(folder);
            if let Some(folder) = found.filter(|_| sink.shelf.cwd.is_none()) {
                sink.enter(&folder);
            }
            self.message(value, record.origin, sink);
        }
        Verdict::Done
    }
}
