//! GitHub Copilot CLI: `events.jsonl` of one session, linear with `parentId`. A call is announced in the assistant's
//! message and again when it starts: the first counts.

use chipdeck_event::{Id, Json, Payload, Role, Status};

use super::clock;
use super::records::{Mapper, Record, Verdict};
use super::sink::Sink;
use super::tools::{Calls, Proof};
use crate::tape::{Origin, Tape, Val};

pub(crate) fn claims(records: &[Val<'_>]) -> bool {
    records.iter().any(|r| {
        let kind = r.text_of("type").unwrap_or_default();
        r.get("data").is_some_and(|d| d.is_object())
            && r.get("parentId").is_some()
            && [
                "session.",
                "assistant.",
                "user.",
                "tool.",
                "hook.",
                "subagent.",
                "system.",
                "abort",
            ]
            .iter()
            .any(|p| kind.starts_with(p))
    })
}

#[derive(Default)]
pub(crate) struct Copilot {
    calls: Calls,
    session: Option<Id>,
    last_message: Option<Id>,
}

const KNOWN: &[&str] = &[
    "session",
    "assistant",
    "tool",
    "subagent",
    "hook",
    "system",
    "user",
    "skill",
    "abort",
    "external_tool",
    "permission",
    "exit_plan_mode",
];

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

impl Mapper for Copilot {
    fn agent(&self) -> &'static str {
        "copilot-cli"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, _hurry: bool) -> Verdict {
        let (value, origin) = (record.value, record.origin);
        let kind = value.text_of("type").unwrap_or_default();
        let id: Id = match value.text_of("id").filter(|i| is_id(i)) {
            Some(id) => id.as_ref().into(),
            None => sink.place_id(),
        };
        sink.now.timestamp = value.text_of("timestamp").and_then(|t| clock::iso(&t));
        sink.now.parent = value
            .text_of("parentId")
            .filter(|i| is_id(i))
            .map(|i| i.as_ref().into());
        let Some(data) = value.get("data") else {
            sink.unknown(id, &kind);
            return Verdict::Done;
        };
        if let Some(cwd) = data.path(&["context", "cwd"]).and_then(|c| c.str()) {
            sink.enter(&cwd);
        }
        let session = match (
            self.session.clone(),
            data.text_of("sessionId").filter(|i| is_id(i)),
        ) {
            (Some(session), _) => session,
            (None, Some(session)) => sink.name(&session),
            (None, None) => sink.name("session"),
        };
        // What a sub-agent does is on its own lane, under the call that started it.
        let lane = data
            .text_of("parentToolCallId")
            .filter(|i| is_id(i))
            .map(|l| sink.name(&l));
        sink.now.trace = session.clone();
        let model = data.text_of("selectedModel");
        sink.session(&session, model.as_deref());
        self.session = Some(session);
        if let Some(lane) = lane {
            sink.now.trace = lane;
        }
        let call = data
            .text_of("toolCallId")
            .filter(|i| is_id(i))
            .map(|i| Id::from(&*i));
        let content = data.get("content").filter(|c| c.is_string());
        let role = match &*kind {
            "user.message" => Some(Role::User),
            "assistant.message" => Some(Role::Assistant),
            "system.message" => Some(Role::System),
            _ => None,
        };
        match (&*kind, call) {
            (_, _) if role.is_some() => {
                match content.filter(|c| c.raw().len() > 2).zip(role) {
                    Some((text, role)) => {
                        self.last_message = Some(id.clone());
                        sink.message(id.clone(), role, origin.text(text));
                    }
                    None => sink.raw(id.clone(), &kind),
                }
                sink.now.parent = Some(id);
                for request in data.get("toolRequests").into_iter().flat_map(|t| t.items()) {
                    let call = request
                        .text_of("toolCallId")
                        .filter(|i| is_id(i))
                        .map(|i| Id::from(&*i));
                    let name = request.text_of("name").unwrap_or_default();
                    if let (Some(call), Some(args)) = (call, request.get("arguments")) {
                        self.ask(&call, &name, args, origin, sink);
                    }
                }
            }
            ("tool.execution_start", Some(call)) if !self.calls.knows(&call) => {
                let name = data.text_of("toolName").unwrap_or_default();
                match data.get("arguments") {
                    Some(args) => self.ask(&call, &name, args, origin, sink),
                    None => sink.raw(id, &kind),
                }
            }
            ("tool.execution_complete", Some(call)) => {
                let result = data.get("result");
                let kind = result
                    .and_then(|r| r.text_of("result_type").or_else(|| r.text_of("resultType")));
                let status = match (data.get("success").and_then(|s| s.bool()), kind.as_deref()) {
                    (_, Some("rejected" | "denied")) => Status::Denied,
                    (Some(false), _) | (_, Some("failure")) => Status::Error,
                    _ => Status::Ok,
                };
                let text = result.and_then(|r| {
                    r.get("content")
                        .or_else(|| r.get("text_result_for_llm"))
                        .or_else(|| r.get("textResultForLlm"))
                });
                let created = text
                    .and_then(|t| t.str())
                    .is_some_and(|t| t.starts_with("Created file"));
                let told = text.map(|t| origin.text(t));
                let json = result
                    .or_else(|| data.get("error"))
                    .map_or(Json::Absent, |r| origin.json(r));
                self.calls.result(
                    &call,
                    status,
                    told,
                    json,
                    Proof {
                        created,
                        ..Proof::default()
                    },
                    sink,
                );
            }
            ("session.compaction_complete", _) => {
                let summary = data
                    .get("summaryContent")
                    .or_else(|| data.get("summary"))
                    .filter(|s| s.is_string());
                match (self.last_message.clone(), summary) {
                    (Some(through), Some(summary)) => {
                        self.last_message = Some(id.clone());
                        let tokens = |name: &str| data.get(name).and_then(|t| t.int());
                        let (tokens_before, tokens_after) = (
                            tokens("preCompactionTokens"),
                            tokens("postCompactionTokens"),
                        );
                        sink.put(
                            id,
                            Payload::ContextCompact {
                                through,
                                summary: origin.text(summary),
                                tokens_before,
                                tokens_after,
                            },
                        );
                    }
                    _ => sink.raw(id, &kind),
                }
            }
            (kind, _) if KNOWN.iter().any(|k| kind.split('.').next() == Some(k)) => {
                sink.raw(id, kind)
            }
            (kind, _) => sink.unknown(id, if kind.is_empty() { "(none)" } else { kind }),
        }
        Verdict::Done
    }
}

impl Copilot {
    /// Arguments are an object, or JSON in a string.
    fn ask(&mut self, call: &Id, name: &str, args: Val<'_>, origin: Origin, sink: &mut Sink<'_>) {
        match args.str() {
            Some(text) => {
                let mut tape = Tape::default();
                if tape.read(&text).is_ok() {
                    self.calls
                        .call(call, name, tape.root(&text), Origin::Computed, sink);
                }
            }
            None => self.calls.call(call, name, args, origin, sink),
        }
    }
}
