//! Goose: `goose session export --format json` (one document) and the older session files (metadata on line 1, then
//! messages). Times are seconds; the session may be newer than its messages (imported ones).

use chipdeck_event::{Id, Json, Role, Status};

use super::clock;
use super::document::Document;
use super::records::{Mapper, Record, Verdict};
use super::sink::Sink;
use super::tools::{Calls, Proof};
use crate::source::Source;
use crate::tape::{Origin, Val};

pub(crate) fn claims_export(root: Val<'_>) -> bool {
    root.get("working_dir").is_some() && root.get("conversation").is_some()
}

pub(crate) fn claims_lines(records: &[Val<'_>]) -> bool {
    records.iter().any(|r| {
        (r.get("working_dir").is_some() && r.get("description").is_some())
            || (r.get("role").is_some()
                && r.get("created").is_some_and(|c| c.int().is_some())
                && r.get("content")
                    .into_iter()
                    .flat_map(|c| c.items())
                    .any(|b| b.get("type").is_some()))
    })
}

#[derive(Default)]
pub(crate) struct Goose {
    calls: Calls,
    session: Option<Id>,
}

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

impl Goose {
    fn header(&mut self, root: Val<'_>, sink: &mut Sink<'_>) {
        if let Some(cwd) = root.text_of("working_dir") {
            sink.enter(&cwd);
        }
        let id = root
            .text_of("id")
            .filter(|i| is_id(i))
            .unwrap_or_else(|| "session".into());
        let id = sink.name(&id);
        sink.now.trace = id.clone();
        // The session's own time may be later than its messages.
        let first = root
            .get("conversation")
            .and_then(|c| c.items().next())
            .and_then(|m| m.get("created")?.float());
        sink.now.timestamp = first
            .and_then(clock::number)
            .or_else(|| root.text_of("created_at").and_then(|t| clock::iso(&t)));
        sink.session(&id, None);
        self.session = Some(id);
    }

    fn message(&mut self, message: Val<'_>, origin: Origin, sink: &mut Sink<'_>) {
        let session = self.session.clone().unwrap_or_else(|| sink.name("session"));
        sink.now.trace = session;
        sink.now.parent = None;
        sink.now.timestamp = message
            .get("created")
            .and_then(|c| c.float())
            .and_then(clock::number);
        let id: Id = match message.text_of("id").filter(|i| is_id(i)) {
            Some(id) => id.as_ref().into(),
            None => sink.place_id(),
        };
        let role = match message.text_of("role").as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => Role::System,
        };
        let mut part = 0;
        let own = |part: &mut u32| -> Id {
            *part += 1;
            if *part == 1 {
                id.clone()
            } else {
                format!("{id}+{part}").into()
            }
        };
        for block in message.get("content").into_iter().flat_map(|c| c.items()) {
            let kind = block.text_of("type").unwrap_or_default();
            let call = block
                .text_of("id")
                .filter(|i| is_id(i))
                .map(|i| Id::from(&*i));
            match (&*kind, call) {
                ("text", _) => match block.get("text") {
                    Some(text) => sink.message(own(&mut part), role, origin.text(text)),
                    None => sink.raw(own(&mut part), "text"),
                },
                ("toolRequest" | "frontendToolRequest", Some(call)) => {
                    let value = block.path(&["toolCall", "value"]);
                    let name = value.and_then(|v| v.text_of("name")).unwrap_or_default();
                    match value.and_then(|v| v.get("arguments")) {
                        Some(args) => self.calls.call(&call, &name, args, origin, sink),
                        None => sink.raw(own(&mut part), &kind),
                    }
                }
                ("toolResponse", Some(call)) => {
                    let result = block.get("toolResult");
                    let value = result.and_then(|r| r.get("value"));
                    let failed = result.and_then(|r| r.text_of("status")).as_deref()
                        == Some("error")
                        || value.is_some_and(|v| v.truth("isError"));
                    let text = value
                        .and_then(|v| {
                            v.get("content")
                                .unwrap_or(v)
                                .items()
                                .find_map(|i| i.get("text"))
                        })
                        .or_else(|| result?.get("error"));
                    let head = text.and_then(|t| t.str()).unwrap_or_default();
                    let status = match failed {
                        true if head.contains("user has declined") || head.contains("denied") => {
                            Status::Denied
                        }
                        true => Status::Error,
                        false => Status::Ok,
                    };
                    let told = text.map(|t| origin.text(t));
                    let json = result.map_or(Json::Absent, |r| origin.json(r));
                    self.calls
                        .result(&call, status, told, json, Proof::default(), sink);
                }
                (
                    "image"
                    | "thinking"
                    | "redactedThinking"
                    | "toolConfirmationRequest"
                    | "contextLengthExceeded"
                    | "summarizationRequested"
                    | "systemNotification",
                    _,
                ) => {
                    sink.raw(own(&mut part), &kind);
                }
                (kind, _) => sink.unknown(own(&mut part), &format!("content {kind}")),
            }
        }
        if message
            .get("content")
            .is_none_or(|c| c.items().next().is_none())
        {
            sink.raw(id, "message");
        }
    }
}

impl Document for Goose {
    fn agent(&self) -> &'static str {
        "goose"
    }

    fn json(&mut self, root: Val<'_>, sink: &mut Sink<'_>, _source: &dyn Source) {
        let origin = sink.origin;
        self.header(root, sink);
        for message in root.get("conversation").into_iter().flat_map(|c| c.items()) {
            sink.at(message);
            self.message(message, origin, sink);
        }
    }
}

impl Mapper for Goose {
    fn agent(&self) -> &'static str {
        "goose"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, _hurry: bool) -> Verdict {
        if record.value.get("role").is_none() && record.value.get("working_dir").is_some() {
            self.header(record.value, sink);
        } else {
            self.message(record.value, record.origin, sink);
        }
        Verdict::Done
    }
}
