//! OpenHands. V0: a list of actions and observations in one document (or lines), tied by `cause`. V1: one event a
//! file, or lines; actions and observations tied by the call's id, edits with the content on both sides.
//!
//! Times have no zone. Left out on purpose: the model's whole answers that V0 repeats in each record.

use hashbrown::HashMap;

use chipdeck_event::{Id, Json, Payload, Role, Status, Text};

use super::clock;
use super::document::Document;
use super::records::{Mapper, Record, Verdict};
use super::sink::Sink;
use super::tools::{Calls, Proof};
use super::trees::number;
use crate::source::Source;
use crate::tape::{Origin, Tape, Val};

/// Kinds of V1 that only tell.
const KINDS: &[&str] = &[
    "SystemPromptEvent",
    "PauseEvent",
    "ConversationStateUpdateEvent",
    "CondensationRequest",
    "ConversationErrorEvent",
    "TokenEvent",
    "LLMCompletionLogEvent",
    "HookExecutionEvent",
];

pub(crate) fn claims_v1(value: Val<'_>) -> bool {
    let kind = value.text_of("kind").unwrap_or_default();
    (value.get("source").is_some()
        && value.get("timestamp").is_some()
        && (kind.ends_with("Event")
            || kind.contains("Condensation")
            || kind == "UserRejectObservation"))
        || (value.path(&["agent", "kind"]).is_some()
            && value.path(&["workspace", "kind"]).is_some())
}

pub(crate) fn claims_v0(value: Val<'_>) -> bool {
    let record = |v: Val<'_>| {
        v.get("timestamp").is_some()
            && v.get("source").is_some()
            && v.get("id").is_some_and(|i| i.int().is_some())
            && (v.get("action").is_some() || v.get("observation").is_some())
    };
    record(value) || value.items().take(3).any(record)
}

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

/// Both versions, whole or by lines.
#[derive(Default)]
pub(crate) struct OpenHands {
    calls: Calls,
    /// V0: actions by their number.
    actions: HashMap<i64, Id>,
    last_message: Option<Id>,
}

impl OpenHands {
    fn record_of(&mut self, value: Val<'_>, origin: Origin, sink: &mut Sink<'_>) {
        sink.now.timestamp = value.text_of("timestamp").and_then(|t| clock::iso(&t));
        sink.now.trace = sink.name("session");
        // With one event a file the first file opens the session.
        if sink.file == 0 {
            sink.session("session", None);
        }
        if value.get("kind").is_some() {
            self.v1(value, origin, sink);
        } else {
            self.v0(value, origin, sink);
        }
    }

    fn v1(&mut self, value: Val<'_>, origin: Origin, sink: &mut Sink<'_>) {
        let id: Id = match value.text_of("id").filter(|i| is_id(i)) {
            Some(id) => id.as_ref().into(),
            None => sink.place_id(),
        };
        let call = value
            .text_of("tool_call_id")
            .filter(|i| is_id(i))
            .map(|c| Id::from(&*c));
        let kind = value.text_of("kind").unwrap_or_default();
        match &*kind {
            "MessageEvent" => {
                let role = match value.text_of("source").as_deref() {
                    Some("user") => Role::User,
                    Some("agent") => Role::Assistant,
                    _ => Role::System,
                };
                let content = value.path(&["llm_message", "content"]);
                self.say(
                    id,
                    role,
                    content
                        .into_iter()
                        .flat_map(|c| c.items())
                        .filter_map(|c| c.get("text")),
                    origin,
                    sink,
                );
            }
            "ActionEvent" => {
                let thought = value
                    .get("thought")
                    .into_iter()
                    .flat_map(|c| c.items())
                    .filter_map(|c| c.get("text"));
                self.say(id.clone(), Role::Assistant, thought, origin, sink);
                sink.now.parent = Some(id.clone());
                let call = call.unwrap_or(id);
                let name = value.text_of("tool_name").unwrap_or_default();
                // Without `action` the arguments were invalid: the call did nothing.
                match value.get("action").filter(|a| a.is_object()) {
                    Some(action) => self.calls.call(&call, &name, action, origin, sink),
                    None => {
                        let text = value
                            .path(&["tool_call", "arguments"])
                            .and_then(|a| a.str())
                            .unwrap_or_default();
                        let mut tape = Tape::default();
                        if tape.read(&text).is_ok() {
                            self.calls
                                .call(&call, &name, tape.root(&text), Origin::Computed, sink);
                        }
                    }
                }
            }
            "ObservationEvent" => {
                let Some(observation) = value.get("observation") else {
                    return sink.raw(id, &kind);
                };
                let call = call.unwrap_or_else(|| id.clone());
                let failed = observation.truth("is_error")
                    || observation
                        .get("exit_code")
                        .and_then(|e| e.int())
                        .is_some_and(|e| e > 0);
                let status = if failed { Status::Error } else { Status::Ok };
                let told = observation
                    .get("content")
                    .or_else(|| observation.get("output"))
                    .and_then(|c| c.items().find_map(|i| i.get("text")).or(Some(c)))
                    .map(|c| origin.text(c));
                let result = origin.json(observation);
                if !self.calls.knows(&call) {
                    // One event a file: the call is in another.
                    self.alone(observation, &call, status, told, result, origin, sink);
                } else {
                    let proof = sides(observation, origin);
                    self.calls.result(&call, status, told, result, proof, sink);
                }
            }
            "AgentErrorEvent" | "UserRejectObservation" => {
                let status = if kind == "AgentErrorEvent" {
                    Status::Error
                } else {
                    Status::Denied
                };
                let told = value
                    .get("error")
                    .or_else(|| value.get("rejection_reason"))
                    .map(|e| origin.text(e));
                match call {
                    Some(call) => {
                        self.calls
                            .result(&call, status, told, Json::Absent, Proof::default(), sink)
                    }
                    None => sink.raw(id, &kind),
                }
            }
            "Condensation" | "CondensationSummaryEvent" => {
                let summary = value
                    .get("summary")
                    .filter(|s| s.is_string())
                    .map(|s| origin.text(s));
                match (self.last_message.clone(), summary) {
                    (Some(through), Some(summary)) => {
                        self.last_message = Some(id.clone());
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
                    _ => sink.raw(id, &kind),
                }
            }
            kind if KINDS.contains(&kind) => sink.raw(id, kind),
            kind => sink.unknown(id, kind),
        }
    }

    /// An observation whose action is in another file: it tells the change alone.
    #[allow(clippy::too_many_arguments)]
    fn alone(
        &mut self,
        observation: Val<'_>,
        call: &Id,
        status: Status,
        told: Option<Text>,
        result: Json,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) {
        self.calls
            .result(call, status, told, result, Proof::default(), sink);
        let proof = sides(observation, origin);
        let path = observation.text_of("path").filter(|_| status == Status::Ok);
        if let (Some(path), Some(after)) = (path, proof.after) {
            let path = sink.path(&path);
            if let Some(before) = proof.before {
                sink.observe(call, &path, before);
            }
            if observation.text_of("command").as_deref() == Some("view") {
                return;
            }
            sink.write(call, &path, after, proof.created);
        }
    }

    fn say<'v>(
        &mut self,
        id: Id,
        role: Role,
        texts: impl Iterator<Item = Val<'v>>,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) {
        let mut part = 0;
        for text in texts.filter(|t| t.is_string() && t.raw().len() > 2) {
            part += 1;
            let id: Id = if part == 1 {
                id.clone()
            } else {
                format!("{id}+{part}").into()
            };
            self.last_message = Some(id.clone());
            sink.message(id, role, origin.text(text));
        }
    }

    fn v0(&mut self, value: Val<'_>, origin: Origin, sink: &mut Sink<'_>) {
        let number = value.get("id").and_then(|i| i.int()).unwrap_or(-1);
        let id: Id = format!("{}:{number}", sink.file).into();
        let metadata = value.get("tool_call_metadata");
        let call_id = metadata
            .and_then(|m| m.text_of("tool_call_id"))
            .filter(|i| is_id(i))
            .map(|i| Id::from(&*i));
        if let Some(action) = value.text_of("action") {
            let args = value.get("args");
            let text = |name: &str| {
                args.and_then(|a| a.get(name))
                    .filter(|t| t.is_string() && t.raw().len() > 2)
            };
            match &*action {
                "message" | "finish" | "think" => {
                    let role = if value.text_of("source").as_deref() == Some("user") {
                        Role::User
                    } else {
                        Role::Assistant
                    };
                    let said = text("content")
                        .or_else(|| text("thought"))
                        .or_else(|| text("final_thought"));
                    match said {
                        Some(_) => self.say(id, role, said.into_iter(), origin, sink),
                        None => sink.raw(id, &action),
                    }
                }
                "system" => self.say(id, Role::System, text("content").into_iter(), origin, sink),
                "run" | "run_ipython" | "edit" | "write" | "read" | "browse"
                | "browse_interactive" | "delegate" | "call_tool_mcp" => {
                    self.say(
                        id.clone(),
                        Role::Assistant,
                        text("thought").into_iter(),
                        origin,
                        sink,
                    );
                    let call = call_id.unwrap_or_else(|| format!("{id}:call").into());
                    self.actions.insert(number, call.clone());
                    // The tool's own arguments, where they are kept, say what `args` leaves empty.
                    let arguments = metadata
                        .and_then(|m| m.path(&["model_response", "choices"]))
                        .and_then(|c| c.items().next())
                        .and_then(|c| c.path(&["message", "tool_calls"]))
                        .and_then(|c| {
                            c.items()
                                .find(|t| t.text_of("id").as_deref() == Some(&*call))
                        })
                        .and_then(|c| c.path(&["function", "arguments"]))
                        .and_then(|a| a.str());
                    let name = metadata
                        .and_then(|m| m.text_of("function_name"))
                        .unwrap_or_else(|| action.clone());
                    let mut tape = Tape::default();
                    match (&arguments, args) {
                        (Some(text), _) if tape.read(text).is_ok() => {
                            self.calls
                                .call(&call, &name, tape.root(text), Origin::Computed, sink);
                        }
                        (_, Some(args)) => self.calls.call(&call, &name, args, origin, sink),
                        _ => sink.raw(id, &action),
                    }
                }
                _ => sink.raw(id, &action),
            }
        } else if let Some(observation) = value.text_of("observation") {
            let cause = value
                .get("cause")
                .and_then(|c| c.int())
                .and_then(|c| self.actions.get(&c).cloned());
            let call = cause
                .or(call_id)
                .filter(|c| self.calls.knows(c) && !self.calls.settled(c));
            let Some(call) = call else {
                return sink.raw(id, &observation);
            };
            let extras = value.get("extras");
            let code = extras
                .and_then(|e| {
                    e.path(&["metadata", "exit_code"])
                        .or_else(|| e.get("exit_code"))
                })
                .and_then(|c| c.int());
            let content = value.get("content");
            let text = content.and_then(|c| c.str()).unwrap_or_default();
            let status = match &*observation {
                "error" => Status::Error,
                "user_rejected" => Status::Denied,
                // -1: it still runs.
                _ if code.is_some_and(|c| c > 0) => Status::Error,
                "edit" | "write"
                    if text.starts_with("ERROR:")
                        || text.contains("No replacement was performed") =>
                {
                    Status::Error
                }
                _ => Status::Ok,
            };
            let proof = extras.map_or(Proof::default(), |e| sides(e, origin));
            let told = content.map(|c| origin.text(c));
            let result = extras.map_or(Json::Absent, |e| origin.json(e));
            self.calls.result(&call, status, told, result, proof, sink);
        } else {
            sink.unknown(id, "(none)");
        }
    }
}

/// The content on both sides of an edit.
fn sides(observation: Val<'_>, origin: Origin) -> Proof {
    let text = |name: &str| {
        observation
            .get(name)
            .filter(|v| v.is_string())
            .map(|v| origin.text(v))
    };
    let existed = observation.get("prev_exist").and_then(|v| v.bool());
    Proof {
        created: existed == Some(false),
        before: text("old_content").filter(|_| existed != Some(false)),
        after: text("new_content"),
        altered: false,
    }
}

impl Document for OpenHands {
    fn agent(&self) -> &'static str {
        "openhands"
    }

    fn json(&mut self, root: Val<'_>, sink: &mut Sink<'_>, _source: &dyn Source) {
        let origin = sink.origin;
        if root.is_array() {
            for value in root.items() {
                sink.at(value);
                sink.now.parent = None;
                self.record_of(value, origin, sink);
            }
        } else if root.get("kind").is_some()
            || root.get("action").is_some()
            || root.get("observation").is_some()
        {
            // From 1, so that the state comes first.
            sink.order_by((number(&sink.file_name) + 1) << 8);
            self.record_of(root, origin, sink);
        } else {
            // base_state.json
            sink.order_by(0);
            if let Some(cwd) = root
                .path(&["workspace", "working_dir"])
                .and_then(|c| c.str())
            {
                sink.enter(&cwd);
            }
            sink.now.trace = sink.name("session");
            sink.session("session", None);
            let id = sink.place_id();
            sink.raw(id, "base_state");
        }
    }
}

impl Mapper for OpenHands {
    fn agent(&self) -> &'static str {
        "openhands"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, _hurry: bool) -> Verdict {
        self.record_of(record.value, record.origin, sink);
        Verdict::Done
    }
}
