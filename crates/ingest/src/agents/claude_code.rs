//! Claude Code's transcripts (`~/.claude/projects/<slug>/<session>.jsonl` and the sub-agents' files), all versions
//! from 1.0 on: a tree of records by `parentUuid`, one content block a line, results beside their messages.
//!
//! What a file is after an edit follows from `toolUseResult`: `originalFile` is the exact content before,
//! `oldString`/`newString` the change; `structuredPatch` is for show only and not used. Deletions exist only as shell
//! text. Left out on purpose: the backups of `file-history/` (they are not in the log), the texts of hooks.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;

use chipdeck_event::{Id, Json, Payload, Role, Status, Text};

use super::claude_tools::{asked, file_events, full_read, plausible, reach, status, Asked};
use super::clock;
use super::paths;
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
    /// Records so far, and of those that are a call or a result the event that stands for them.
    records: HashMap<Id, Option<Id>>,
    /// Records of inline sub-agents: which of them.
    lanes: HashMap<Box<str>, Id>,
    last_message: Option<Id>,
    tokens_before: Option<i64>,
    /// As they were last named.
    session: Option<Id>,
    prompt: Option<Id>,
}

/// The fields of a record that are looked at, found in one pass.
#[derive(Clone, Copy, Default)]
struct Head<'a> {
    kind: Option<Val<'a>>,
    uuid: Option<Val<'a>>,
    parent: Option<Val<'a>>,
    logical_parent: Option<Val<'a>>,
    session: Option<Val<'a>>,
    agent: Option<Val<'a>>,
    prompt: Option<Val<'a>>,
    cwd: Option<Val<'a>>,
    timestamp: Option<Val<'a>>,
    sidechain: bool,
    meta: bool,
    api_error: bool,
    summary: bool,
    message: Option<Val<'a>>,
    /// The structured result beside a message.
    detail: Option<Val<'a>>,
    denied: Option<Val<'a>>,
    wire_inputs: Option<Val<'a>>,
    wire_context: Option<Val<'a>>,
}

impl<'a> Head<'a> {
    fn of(value: Val<'a>) -> Head<'a> {
        let mut head = Head::default();
        let truth = |v: Val<'_>| v.bool() == Some(true);
        for (key, v) in value.members() {
            match key.as_ref() {
                "type" => head.kind = Some(v),
                "uuid" => head.uuid = Some(v),
                "parentUuid" => head.parent = Some(v),
                "logicalParentUuid" => head.logical_parent = Some(v),
                "sessionId" => head.session = Some(v),
                "session_id" => head.session = head.session.or(Some(v)),
                "agentId" => head.agent = Some(v),
                "promptId" => head.prompt = Some(v),
                "cwd" => head.cwd = Some(v),
                "timestamp" => head.timestamp = Some(v),
                "isSidechain" => head.sidechain = truth(v),
                "isMeta" => head.meta = truth(v),
                "isApiErrorMessage" => head.api_error = truth(v),
                "isCompactSummary" => head.summary = truth(v),
                "message" => head.message = Some(v),
                "toolUseResult" | "tool_use_result" => head.detail = Some(v),
                "toolDenialKind" => head.denied = Some(v).filter(|v| v.is_string()),
                "wireToolInputs" => head.wire_inputs = Some(v),
                "wireIngestContext" => head.wire_context = Some(v),
                _ => {}
            }
        }
        head
    }

    /// A record wrapped in another: what it lacks is the other's.
    fn within(self, outer: Head<'a>) -> Head<'a> {
        Head {
            uuid: self.uuid.or(outer.uuid),
            parent: self.parent.or(outer.parent),
            session: self.session.or(outer.session),
            agent: self.agent.or(outer.agent),
            prompt: self.prompt.or(outer.prompt),
            cwd: self.cwd.or(outer.cwd),
            timestamp: self.timestamp.or(outer.timestamp),
            sidechain: outer.sidechain,
            ..self
        }
    }

    fn kind(&self) -> Cow<'a, str> {
        self.kind.and_then(|k| k.str()).unwrap_or_default()
    }

    /// The blocks of the message.
    fn blocks(&self) -> impl Iterator<Item = Val<'a>> {
        let content = self.message.and_then(|m| m.get("content"));
        content.into_iter().flat_map(|c| c.items())
    }
}

fn id_of(value: Option<Val<'_>>) -> Option<Cow<'_, str>> {
    value.and_then(|v| v.str()).filter(|t| is_id(t))
}

impl Mapper for ClaudeCode {
    fn agent(&self) -> &'static str {
        "claude-code"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, hurry: bool) -> Verdict {
        let value = record.value;
        let head = Head::of(value);
        let kind = head.kind();
        if !hurry && kind == "user" {
            let early = head
                .blocks()
                .filter(|b| b.get("type").is_some_and(|t| t.raw() == "\"tool_result\""))
                .filter_map(|b| id_of(b.get("tool_use_id")))
                .find(|id| !self.calls.contains(&**id) && !self.results.contains(&**id));
            if let Some(id) = early {
                return Verdict::Needs((*id).into());
            }
        }
        if let Some(cwd) = head.cwd.and_then(|c| c.str()) {
            sink.enter(&cwd);
        }
        let id: Option<Id> = id_of(head.uuid).map(|u| u.as_ref().into());
        self.set_now(head, sink);
        if let Some(id) = &id {
            if !is_new(&mut self.records, id) {
                sink.copy();
                return Verdict::Done;
            }
        }
        let id = id.unwrap_or_else(|| sink.place_id());
        let tree = matches!(
            &*kind,
            "user" | "assistant" | "system" | "attachment" | "progress"
        );
        if tree {
            let lane = sink.now.trace.clone();
            let model = head.message.and_then(|m| m.text_of("model"));
            sink.session(&lane, model.as_deref());
        }
        match &*kind {
            "user" | "assistant" => self.message(head, &kind, id, record.origin, sink),
            "system" => {
                let subtype = value.text_of("subtype").unwrap_or_default();
                if subtype == "compact_boundary" {
                    let tokens = value.path(&["compactMetadata", "preTokens"]);
                    self.tokens_before = tokens.and_then(|v| v.int());
                }
                let kind = if subtype.is_empty() {
                    "system"
                } else {
                    &subtype
                };
                sink.raw(id, kind);
            }
            "attachment" => self.attachment(value, id, record.origin, sink),
            "progress" => self.progress(value, head, id, record.origin, sink),
            "file-history-snapshot" => {
                let time = value.path(&["snapshot", "timestamp"]).and_then(|t| t.str());
                sink.now.timestamp = time.and_then(|t| clock::iso(&t));
                sink.raw(id, "file-history-snapshot");
            }
            kind if KNOWN.contains(&kind) => sink.raw(id, kind),
            "" => sink.unknown(id, "(none)"),
            kind => sink.unknown(id, kind),
        }
        Verdict::Done
    }

    fn early(&mut self, record: &Record<'_>, id: &Id, sink: &mut Sink<'_>) -> bool {
        let head = Head::of(record.value);
        if head.kind() != "assistant" {
            return false;
        }
        let Some(block) = head.blocks().find(|b| {
            b.text_of("type").as_deref() == Some("tool_use")
                && b.text_of("id").as_deref() == Some(&**id)
        }) else {
            return false;
        };
        self.set_now(head, sink);
        self.tool_use(head, block, record.origin, sink);
        true
    }
}

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .bytes()
            .all(|b| PLAIN.get(usize::from(b)) == Some(&true))
}

/// Takes the record in, unless it is there.
fn is_new(records: &mut HashMap<Id, Option<Id>>, id: &Id) -> bool {
    match records.entry(id.clone()) {
        Entry::Occupied(_) => false,
        Entry::Vacant(place) => {
            place.insert(None);
            true
        }
    }
}

/// Letters of ids.
#[allow(clippy::indexing_slicing)]
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut b = 0;
    while b < 256 {
        let c = b as u8;
        plain[b] = c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b':' | b'/');
        b += 1;
    }
    plain
};

impl ClaudeCode {
    /// Lane, parent and time.
    fn set_now(&mut self, head: Head<'_>, sink: &mut Sink<'_>) {
        let session = id_of(head.session).unwrap_or_else(|| "session".into());
        let parent = id_of(head.parent).or_else(|| id_of(head.logical_parent));
        let lane = match id_of(head.agent) {
            Some(agent) => sink.name(&agent),
            None if head.sidechain => {
                // Inline sub-agents: a lane from each root.
                let uuid = id_of(head.uuid).unwrap_or_default();
                let above = parent.as_deref().and_then(|p| self.lanes.get(p)).cloned();
                let lane = above.unwrap_or_else(|| sink.name(&format!("{session}/{uuid}")));
                self.lanes.insert(uuid.as_ref().into(), lane.clone());
                lane
            }
            None => match &self.session {
                Some(held) if **held == *session => held.clone(),
                _ => self.session.insert(sink.name(&session)).clone(),
            },
        };
        sink.now.trace = lane;
        sink.now.parent = parent.map(|p| match self.records.get_key_value(&*p) {
            Some((_, Some(event))) => event.clone(),
            Some((record, None)) => record.clone(),
            None => p.as_ref().into(),
        });
        sink.now.correlation = id_of(head.prompt).map(|p| match &self.prompt {
            Some(held) if **held == *p => held.clone(),
            _ => self.prompt.insert(sink.name(&p)).clone(),
        });
        let time = head.timestamp.and_then(|t| t.str());
        sink.now.timestamp = time.and_then(|t| clock::iso(&t));
    }

    /// A `user` or `assistant` record.
    fn message(&mut self, head: Head<'_>, kind: &str, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let role = match kind {
            "assistant" if head.api_error => Role::System,
            "assistant" => Role::Assistant,
            _ if head.meta => Role::System,
            _ => Role::User,
        };
        let Some(content) = head.message.and_then(|m| m.get("content")) else {
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
        if head.summary {
            let text = content.items().find_map(|b| b.get("text"));
            return self.compacted(next(), origin.text(text.unwrap_or(content)), sink);
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
            match &*block_kind {
                "text" => {
                    let id = next();
                    match block.get("text") {
                        Some(text) => {
                            self.last_message = Some(id.clone());
                            sink.message(id, role, origin.text(text));
                        }
                        None => sink.raw(id, "text"),
                    }
                }
                "tool_use" => {
                    let first = part.get() == 0;
                    match self.tool_use(head, block, origin, sink) {
                        // What has this record as its parent means the call.
                        Some(call) if first => {
                            self.records.insert(id.clone(), Some(call));
                        }
                        Some(_) => {}
                        None => sink.raw(next(), "tool_use"),
                    }
                }
                "tool_result" => match id_of(block.get("tool_use_id")) {
                    Some(call) => {
                        let call = call.as_ref().into();
                        if let Some(result) = self.tool_result(head, block, call, origin, sink) {
                            self.records.insert(id.clone(), Some(result));
                        }
                    }
                    None => sink.raw(next(), "tool_result"),
                },
                "thinking" | "redacted_thinking" | "image" | "document" | "fallback" => {
                    sink.raw(next(), &block_kind);
                }
                kind => sink.unknown(next(), &format!("content block {kind}")),
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
        head: Head<'_>,
        block: Val<'_>,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) -> Option<Id> {
        let id: Id = id_of(block.get("id"))?.as_ref().into();
        if !self.calls.insert(id.clone()) {
            return Some(id);
        }
        let name = block.text_of("name").unwrap_or_default();
        // Newer versions shorten the input for show and keep the real one beside the message.
        let wired = head.wire_inputs.and_then(|w| w.get(&id));
        let input = wired.or_else(|| block.get("input"));
        let wired = head.wire_context.and_then(|w| w.path(&[&id, "cwd"]));
        let cwd = wired.and_then(|c| c.str()).map(|c| paths::join(None, &c));
        let cwd = cwd.as_deref().or(sink.shelf.cwd.as_deref());
        let reach = reach(&name, input, cwd);
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

    /// The id of the result's event; `None` for a copy.
    fn tool_result(
        &mut self,
        head: Head<'_>,
        block: Val<'_>,
        call: Id,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) -> Option<Id> {
        if !self.results.insert(call.clone()) {
            sink.copy();
            return None;
        }
        let asked = self.open.remove(&call);
        let detail = head.detail;
        let content = block.get("content");
        let told = content.map(|c| c.items().find_map(|b| b.get("text")).unwrap_or(c));
        let status = status(head.denied.is_some(), block, detail, told);
        let duration_ms = detail.and_then(|d| {
            d.get("totalDurationMs")
                .or_else(|| d.get("durationMs"))?
                .int()
        });
        let result = detail.or(content).map_or(Json::Absent, |v| origin.json(v));
        let id = sink.result(Outcome {
            call: call.clone(),
            status,
            told: told.map(|t| origin.text(t)),
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
        Some(id)
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

    fn progress(
        &mut self,
        value: Val<'_>,
        head: Head<'_>,
        id: Id,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) {
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
        let inner = Head::of(inner).within(head);
        self.set_now(inner, sink);
        if let Some(agent) = id_of(detail.get("agentId")) {
            sink.now.trace = sink.name(&agent);
        }
        if let Some(call) = id_of(value.get("parentToolUseID")) {
            sink.now.parent = Some(sink.name(&call));
        }
        let role = inner.kind();
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
