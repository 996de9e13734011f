//! Claude Code's transcripts (`~/.claude/projects/<slug>/<session>.jsonl` and the sub-agents' files), all versions
//! from 1.0 on: a tree of records by `parentUuid`, one content block a line, results beside their messages.
//!
//! What a file is after an edit follows from `toolUseResult`: `originalFile` is the exact content before,
//! `oldString`/`newString` the change; `structuredPatch` is for show only and not used. Deletions exist only as shell
//! text. Left out on purpose: the backups of `file-history/` (they are not in the log), the texts of hooks.

use std::collections::{HashMap, HashSet};

use chipdeck_event::{Id, Json, Payload, Role, Status, Text};

use super::claude_tools::{asked, file_events, full_read, plausible, reach, status, Asked};
use super::clock;
use super::records::{Mapper, Record, Verdict};
use super::sink::{Call, Outcome, Sink};
use crate::tape::{Origin, Val};

/// Types of records outside the tree, and those inside it that only tell.
const KNOWN: &[&str] = &[
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "last-prompt",
    "ai-title",
    "custom-title",
    "agent-name",
    "mode",
    "permission-mode",
    "pr-link",
    "bridge-session",
    "atis-latch",
    "worktree-state",
    "relocated",
    "frame-link",
    "started",
    "result",
    "tag",
    "agent-color",
    "agent-setting",
    "content-replacement",
    "speculation-accept",
];

pub(crate) fn claims(records: &[Val<'_>]) -> bool {
    records.iter().any(|r| {
        let kind = r.text_of("type");
        match kind.as_deref() {
            Some("user" | "assistant" | "system" | "attachment" | "progress") => {
                r.get("sessionId").is_some()
                    && r.get("uuid").is_some()
                    && !r.get("message").is_some_and(is_parts)
            }
            Some("summary") => r.get("leafUuid").is_some() && r.get("summary").is_some(),
            Some("file-history-snapshot") => r.get("snapshot").is_some(),
            Some("queue-operation") => r.get("operation").is_some() && r.get("sessionId").is_some(),
            _ => false,
        }
    })
}

/// Qwen's envelope is the same, its messages are Gemini's.
fn is_parts(message: Val<'_>) -> bool {
    message.get("parts").is_some()
}

#[derive(Default)]
pub(crate) struct ClaudeCode {
    /// Calls without a result so far.
    open: HashMap<Id, Asked>,
    /// Calls that were emitted, and those whose result was.
    calls: HashSet<Id>,
    results: HashSet<Id>,
    records: HashSet<Box<str>>,
    /// Records whose first event is a call: their id to its.
    stands_for: HashMap<Box<str>, Id>,
    /// Records of inline sub-agents: which of them.
    lanes: HashMap<Box<str>, Id>,
    last_message: Option<Id>,
    tokens_before: Option<i64>,
}

impl Mapper for ClaudeCode {
    fn agent(&self) -> &'static str {
        "claude-code"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, hurry: bool) -> Verdict {
        let value = record.value;
        if !hurry {
            if let Some(id) = results_of(value)
                .find(|id| !self.calls.contains(&**id) && !self.results.contains(&**id))
            {
                return Verdict::Needs((*id).into());
            }
        }
        let kind = value.text_of("type").unwrap_or_default();
        if let Some(cwd) = value.text_of("cwd") {
            sink.enter(&cwd);
        }
        let uuid = value.text_of("uuid").filter(|u| is_id(u));
        self.set_now(value, value, sink);
        if let Some(uuid) = &uuid {
            if !self.records.insert(uuid.as_ref().into()) {
                sink.copy();
                return Verdict::Done;
            }
        }
        let lane = sink.now.trace.clone();
        if matches!(
            &*kind,
            "user" | "assistant" | "system" | "attachment" | "progress"
        ) {
            let model = value.path(&["message", "model"]).and_then(|m| m.str());
            sink.session(&lane, model.as_deref());
        }
        let id = uuid.map_or_else(|| sink.place_id(), |u| u.as_ref().into());
        match &*kind {
            "user" | "assistant" => self.message(value, &kind, id, record.origin, sink),
            "system" => {
                let subtype = value.text_of("subtype").unwrap_or_default();
                if subtype == "compact_boundary" {
                    self.tokens_before = value
                        .path(&["compactMetadata", "preTokens"])
                        .and_then(|v| v.int());
                }
                sink.raw(
                    id,
                    if subtype.is_empty() {
                        "system"
                    } else {
                        &subtype
                    },
                );
            }
            "attachment" => self.attachment(value, id, record.origin, sink),
            "progress" => self.progress(value, id, record.origin, sink),
            kind if KNOWN.contains(&kind) => sink.raw(id, kind),
            "" => sink.unknown(id, "(none)"),
            kind => sink.unknown(id, kind),
        }
        Verdict::Done
    }

    fn early(&mut self, record: &Record<'_>, id: &Id, sink: &mut Sink<'_>) -> bool {
        let value = record.value;
        if value.text_of("type").as_deref() != Some("assistant") {
            return false;
        }
        let Some(block) = blocks(value).find(|b| {
            b.text_of("type").as_deref() == Some("tool_use")
                && b.text_of("id").as_deref() == Some(&**id)
        }) else {
            return false;
        };
        self.set_now(value, value, sink);
        self.tool_use(value, block, record.origin, sink);
        true
    }
}

/// Content blocks of a record's message.
fn blocks(value: Val<'_>) -> impl Iterator<Item = Val<'_>> {
    value
        .path(&["message", "content"])
        .into_iter()
        .flat_map(|c| c.items())
}

/// Ids of the calls whose results a record holds.
fn results_of<'a>(value: Val<'a>) -> impl Iterator<Item = std::borrow::Cow<'a, str>> {
    let user = value.text_of("type").as_deref() == Some("user");
    blocks(value)
        .filter(move |b| user && b.text_of("type").as_deref() == Some("tool_result"))
        .filter_map(|b| b.text_of("tool_use_id"))
        .filter(|id| is_id(id))
}

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:/".contains(c))
}

impl ClaudeCode {
    /// Lane, parent and time. `inner` is the record itself or the one wrapped in a progress record.
    fn set_now(&mut self, value: Val<'_>, inner: Val<'_>, sink: &mut Sink<'_>) {
        let text = |name: &str| {
            inner
                .text_of(name)
                .or_else(|| value.text_of(name))
                .filter(|t| is_id(t))
        };
        let session = text("sessionId")
            .or_else(|| text("session_id"))
            .unwrap_or_else(|| "session".into());
        let parent = text("parentUuid").or_else(|| text("logicalParentUuid"));
        let lane = match text("agentId") {
            Some(agent) => sink.name(&agent),
            None if value.truth("isSidechain") => {
                // Inline sub-agents: a lane from each root.
                let uuid = text("uuid").unwrap_or_default();
                let above = parent.as_deref().and_then(|p| self.lanes.get(p)).cloned();
                let lane = above.unwrap_or_else(|| sink.name(&format!("{session}/{uuid}")));
                self.lanes.insert(uuid.as_ref().into(), lane.clone());
                lane
            }
            None => sink.name(&session),
        };
        sink.now.trace = lane;
        sink.now.parent = parent.map(|p| match self.stands_for.get(&*p) {
            Some(call) => call.clone(),
            None => p.as_ref().into(),
        });
        sink.now.correlation = text("promptId").map(|p| sink.name(&p));
        sink.now.timestamp = inner
            .text_of("timestamp")
            .or_else(|| value.text_of("timestamp"))
            .and_then(|t| clock::iso(&t))
            .or_else(|| {
                value
                    .path(&["snapshot", "timestamp"])?
                    .str()
                    .and_then(|t| clock::iso(&t))
            });
    }

    /// A `user` or `assistant` record.
    fn message(&mut self, value: Val<'_>, kind: &str, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let role = match kind {
            "assistant" if value.truth("isApiErrorMessage") => Role::System,
            "assistant" => Role::Assistant,
            _ if value.truth("isMeta") => Role::System,
            _ => Role::User,
        };
        let Some(content) = value.path(&["message", "content"]) else {
            return sink.raw(id, kind);
        };
        // The first event of the record has the record's id, the others a number behind it.
        let part = std::cell::Cell::new(0);
        let next = || -> Id {
            part.set(part.get() + 1);
            match part.get() {
                1 => id.clone(),
                n => format!("{id}+{n}").into(),
            }
        };
        if value.truth("isCompactSummary") {
            let text = content
                .items()
                .find_map(|b| b.get("text"))
                .unwrap_or(content);
            return self.compacted(next(), origin.text(text), sink);
        }
        if content.is_string() {
            let id = next();
            self.last_message = Some(id.clone());
            return sink.message(id, role, origin.text(content));
        }
        let mut any = false;
        for block in content.items() {
            any = true;
            let block_kind = block.text_of("type").unwrap_or_default();
            match (&*block_kind, block.get("text")) {
                ("text", Some(text)) => {
                    let id = next();
                    self.last_message = Some(id.clone());
                    sink.message(id, role, origin.text(text));
                }
                ("tool_use", _) => {
                    let first = part.get() == 0;
                    if let Some(call) = self.tool_use(value, block, origin, sink) {
                        if first {
                            if let Some(uuid) = value.text_of("uuid") {
                                self.stands_for.insert(uuid.as_ref().into(), call);
                            }
                        }
                    } else {
                        sink.raw(next(), "tool_use");
                    }
                }
                ("tool_result", _) => match block.text_of("tool_use_id").filter(|t| is_id(t)) {
                    Some(call) => {
                        let call = call.as_ref().into();
                        self.tool_result(value, block, call, origin, sink);
                        // What points to this record as its parent means the result.
                        if let Some(uuid) = value.text_of("uuid") {
                            let shown: Id = format!(
                                "{}#result",
                                block.text_of("tool_use_id").unwrap_or_default()
                            )
                            .into();
                            self.stands_for.insert(uuid.as_ref().into(), shown);
                        }
                    }
                    None => sink.raw(next(), "tool_result"),
                },
                ("thinking" | "redacted_thinking" | "image" | "document" | "fallback", _) => {
                    sink.raw(next(), &block_kind)
                }
                (kind, _) => sink.unknown(next(), &format!("content block {kind}")),
            }
        }
        if !any {
            sink.raw(next(), kind);
        }
    }

    fn compacted(&mut self, id: Id, summary: Text, sink: &mut Sink<'_>) {
        let tokens_before = self.tokens_before.take();
        match self.last_message.replace(id.clone()) {
            Some(through) => {
                sink.put(
                    id,
                    Payload::ContextCompact {
                        through,
                        summary,
                        tokens_before,
                        tokens_after: None,
                    },
                );
            }
            None => sink.message(id, Role::User, summary),
        }
    }

    /// Emits the call unless it was; returns its id.
    fn tool_use(
        &mut self,
        value: Val<'_>,
        block: Val<'_>,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) -> Option<Id> {
        let id: Id = block.text_of("id").filter(|i| is_id(i))?.as_ref().into();
        if !self.calls.insert(id.clone()) {
            return Some(id);
        }
        let name = block.text_of("name").unwrap_or_default();
        // Newer versions shorten the input for show and keep the real one beside the message.
        let input = value
            .path(&["wireToolInputs", &id])
            .or_else(|| block.get("input"));
        let cwd = value
            .path(&["wireIngestContext", &id, "cwd"])
            .or_else(|| value.get("cwd"))
            .and_then(|c| c.str())
            .map(|c| super::paths::join(None, &c));
        let cwd = cwd.or_else(|| sink.shelf.cwd.as_deref().map(str::to_string));
        let reach = reach(&name, input, cwd.as_deref());
        let asked = input
            .and_then(|input| asked(&name, input, origin))
            .unwrap_or(Asked::Other);
        self.open.insert(id.clone(), asked);
        let args = input.map_or(Json::Absent, |v| origin.json(v));
        sink.call(Call {
            id: id.clone(),
            name: &name,
            args,
            reach,
        });
        Some(id)
    }

    fn tool_result(
        &mut self,
        value: Val<'_>,
        block: Val<'_>,
        call: Id,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) {
        if !self.results.insert(call.clone()) {
            return sink.copy();
        }
        let asked = self.open.remove(&call);
        let detail = value
            .get("toolUseResult")
            .or_else(|| value.get("tool_use_result"));
        let content = block.get("content");
        let told = content.map(|c| {
            let first = c.items().find_map(|b| b.get("text"));
            origin.text(first.unwrap_or(c))
        });
        let head = content
            .and_then(|c| c.items().find_map(|b| b.get("text")).unwrap_or(c).str())
            .unwrap_or_default();
        let status = status(value, block, detail, &head);
        let duration_ms = detail.and_then(|d| {
            d.get("totalDurationMs")
                .or_else(|| d.get("durationMs"))?
                .int()
        });
        let result = detail.or(content).map_or(Json::Absent, |v| origin.json(v));
        sink.result(Outcome {
            call: call.clone(),
            status,
            told,
            result,
            duration_ms,
        });
        if status == Status::Ok {
            let told_all =
                detail.is_some_and(|d| d.is_object() && file_events(d, &call, origin, sink));
            if !told_all {
                plausible(asked, &call, sink);
            }
        }
    }

    fn attachment(&mut self, value: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let Some(attachment) = value.get("attachment") else {
            return sink.raw(id, "attachment");
        };
        let kind = attachment.text_of("type").unwrap_or_default();
        match &*kind {
            "queued_command" if attachment.get("prompt").is_some_and(|p| p.is_string()) => {
                if let Some(prompt) = attachment.get("prompt") {
                    self.last_message = Some(id.clone());
                    sink.message(id, Role::User, origin.text(prompt));
                }
            }
            "edited_text_file" => {
                sink.raw(id.clone(), &format!("attachment.{kind}"));
                if let Some(path) = attachment
                    .text_of("filename")
                    .filter(|p| super::paths::is_absolute(p))
                {
                    let path = sink.path(&path);
                    sink.touched(&id, &path);
                }
            }
            "file" => {
                sink.raw(id.clone(), &format!("attachment.{kind}"));
                if let Some(file) = attachment.path(&["content", "file"]) {
                    full_read(file, &id, origin, sink);
                }
            }
            _ => sink.raw(id, &format!("attachment.{kind}")),
        }
    }

    fn progress(&mut self, value: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let Some(detail) = value.get("data") else {
            return sink.raw(id, "progress");
        };
        let kind = detail.text_of("type").unwrap_or_default();
        let inner = detail
            .get("message")
            .filter(|m| m.is_object() && kind == "agent_progress");
        let Some(inner) = inner else {
            return sink.raw(id, if kind.is_empty() { "progress" } else { &kind });
        };
        // A whole message of a sub-agent, wrapped: on the lane of that agent, under the call that started it.
        self.set_now(value, inner, sink);
        if let Some(agent) = detail.text_of("agentId").filter(|a| is_id(a)) {
            sink.now.trace = sink.name(&agent);
        }
        if let Some(call) = value.text_of("parentToolUseID").filter(|c| is_id(c)) {
            sink.now.parent = Some(call.as_ref().into());
        }
        let role = inner.text_of("type").unwrap_or_default();
        let last = self.last_message.clone();
        if matches!(&*role, "user" | "assistant") {
            self.message(inner, &role, id, origin, sink);
        } else {
            sink.raw(id, &kind);
        }
        // The sub-agent's messages are not in the parent's context.
        self.last_message = last;
    }
}
