//! Codex rollouts (`~/.codex/sessions/…/rollout-*.jsonl`), all generations: bare items of mid 2025, then
//! `{timestamp, type, payload}`. Linear; records of the user interface (`event_msg`) double the model's items, of
//! which the latter are taken.
//!
//! What changed files: `patch_apply_end` where the log has it, else the text of the patch that was called with, once
//! its output says that it went well. A forked or spawned thread begins with a copy of its parent's history: that
//! is shown, but changes no file here. Left out on purpose: full contents guessed from `cat` outputs.

use hashbrown::HashMap;

use chipdeck_event::{Change, Code, Id, Json, Payload, Reach, Role, Status, Text};

use super::clock;
use super::codex_calls::{named_call, patch_call, script_call, shell_call, Open, HARMLESS};
use super::codex_outcome::{outcome, printed};
use super::records::{Mapper, Record, Verdict};
use super::sink::{Call, Outcome, Sink};
use crate::tape::{Origin, Tape, Val};

const ITEMS: &[&str] = &[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "web_search_call",
    "tool_search_call",
    "tool_search_output",
    "ghost_snapshot",
    "image_generation_call",
    "agent_message",
    "compaction",
    "compaction_summary",
    "context_compaction",
];

/// Events of the user interface that are known to tell nothing about files.
const EVENTS: &[&str] = &[
    "user_message",
    "agent_message",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "task_started",
    "task_complete",
    "turn_started",
    "turn_complete",
    "turn_aborted",
    "token_count",
    "exec_command_begin",
    "exec_command_end",
    "exec_command_output_delta",
    "patch_apply_begin",
    "patch_apply_updated",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "web_search_begin",
    "web_search_end",
    "context_compacted",
    "thread_rolled_back",
    "undo_started",
    "undo_completed",
    "item_started",
    "item_completed",
    "error",
    "stream_error",
    "warning",
    "entered_review_mode",
    "exited_review_mode",
    "guardian_assessment",
    "image_generation_begin",
    "image_generation_end",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_settings_applied",
    "sub_agent_activity",
    "view_image_tool_call",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "plan_update",
    "plan_delta",
    "background_event",
    "deprecation_notice",
    "shutdown_complete",
    "turn_diff",
    "session_configured",
    "model_reroute",
    "hook_started",
    "hook_completed",
    "skills_update_available",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "elicitation_request",
    "request_user_input",
    "exec_approval_request",
    "apply_patch_approval_request",
    "request_permissions",
];

pub(crate) fn claims(records: &[Val<'_>]) -> bool {
    let new = records.iter().any(|r| {
        r.get("payload").is_some_and(|p| p.is_object())
            && r.text_of("type").is_some_and(|t| {
                matches!(
                    &*t,
                    "session_meta"
                        | "response_item"
                        | "event_msg"
                        | "turn_context"
                        | "compacted"
                        | "world_state"
                )
            })
    });
    let old = || {
        let state = records.iter().any(|r| r.get("record_type").is_some());
        let header = records.first().is_some_and(|r| {
            r.get("id").is_some()
                && r.get("timestamp").is_some()
                && r.get("instructions").is_some()
                && r.get("type").is_none()
        });
        let items = records.iter().any(|r| {
            r.text_of("type").is_some_and(|t| ITEMS.contains(&&*t))
                && (r.get("call_id").is_some()
                    || r.get("summary").is_some()
                    || r.get("content").is_some_and(|c| c.is_array()))
                && r.get("uuid").is_none()
                && r.get("parentId").is_none()
                && r.get("sessionId").is_none()
        });
        header || (state && items)
    };
    new || old()
}

/// The copy of the parent's history at the start of a forked thread.
enum Copy {
    No,
    /// Records come from it while their times are this close.
    Since(Option<i64>),
}

/// A copy is written at once: its records are stamped within some 10 ms. A model takes longer to answer.
const COPY_GAP_MS: i64 = 250;

#[derive(Default)]
pub(crate) struct Codex {
    session: Option<Id>,
    copy: Option<Copy>,
    /// The session that the copy is of.
    parent: Option<Id>,
    /// Sessions of the other files of the set.
    others: Vec<Box<str>>,
    open: HashMap<Id, Open>,
    /// Open calls that are scripts, oldest first.
    scripts: Vec<Id>,
    last_message: Option<Id>,
}

impl Mapper for Codex {
    fn agent(&self) -> &'static str {
        "codex"
    }

    fn beside(&mut self, sessions: &[Box<str>]) {
        self.others = sessions.to_vec();
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, _hurry: bool) -> Verdict {
        let value = record.value;
        let origin = record.origin;
        let kind = value.text_of("type").unwrap_or_default();
        let payload = value.get("payload").filter(|p| p.is_object());
        sink.now.timestamp = value.text_of("timestamp").and_then(|t| clock::iso(&t));
        self.follow_copy(&kind, payload, sink);
        let of = if self.copying() { &self.parent } else { &None };
        // What was copied is of the session that it was copied from.
        let trace = of.clone().or_else(|| self.session.clone());
        sink.now.trace = trace.unwrap_or_else(|| sink.name("session"));
        if self.copying() && self.is_beside() {
            sink.copy_elsewhere();
            return Verdict::Done;
        }
        let turn = payload.and_then(|p| {
            p.text_of("turn_id").or_else(|| {
                p.path(&["internal_chat_message_metadata_passthrough", "turn_id"])?
                    .str()
            })
        });
        sink.now.correlation = turn.filter(|t| is_id(t)).map(|t| sink.name(&t));
        let id = sink.place_id();
        match (&*kind, payload) {
            ("session_meta", Some(meta)) => self.meta(meta, id, sink),
            ("turn_context", Some(turn)) => {
                if let Some(cwd) = turn.text_of("cwd") {
                    sink.enter(&cwd);
                }
                sink.raw(id, "turn_context");
            }
            ("response_item", Some(item)) => self.item(item, id, origin, sink),
            ("event_msg", Some(event)) => self.event(event, id, origin, sink),
            ("compacted", Some(compacted)) => self.compacted(compacted, id, origin, sink),
            ("world_state" | "inter_agent_communication_metadata", Some(_)) => sink.raw(id, &kind),
            ("", None) if value.get("record_type").is_some() => sink.raw(id, "state"),
            ("", None) if value.get("id").is_some() && value.get("timestamp").is_some() => {
                self.meta(value, id, sink)
            }
            (item, None) if ITEMS.contains(&item) => self.item(value, id, origin, sink),
            ("", _) => sink.unknown(id, "(none)"),
            (kind, _) => sink.unknown(id, kind),
        }
        Verdict::Done
    }
}

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:/|".contains(c))
}

/// The session that a rollout beginning with this text is of.
pub(crate) fn session_of(head: &str) -> Option<Box<str>> {
    let mut tape = Tape::lenient();
    let whole = tape.read(head).is_ok() || tape.salvage(head.len());
    let meta = whole.then(|| tape.root(head))?;
    let meta = meta.get("payload").unwrap_or(meta);
    meta.text_of("id").filter(|id| is_id(id)).map(Into::into)
}

impl Codex {
    /// The session that the copy is of is read too.
    fn is_beside(&self) -> bool {
        let parent = self.parent.as_deref();
        parent.is_some_and(|parent| self.others.iter().any(|other| **other == *parent))
    }

    fn copying(&self) -> bool {
        matches!(self.copy, Some(Copy::Since(_)))
    }

    fn follow_copy(&mut self, kind: &str, payload: Option<Val<'_>>, sink: &mut Sink<'_>) {
        let time = sink.now.timestamp;
        let end = match &mut self.copy {
            Some(Copy::Since(last)) => {
                let apart = time
                    .zip(*last)
                    .is_some_and(|(now, last)| (now - last).abs() > COPY_GAP_MS);
                *last = time.or(*last);
                apart
            }
            // The second header of a file, right at its start, with another id: the parent's.
            None if kind == "session_meta" => {
                let other = payload
                    .and_then(|p| p.text_of("id"))
                    .filter(|id| self.session.as_deref().is_some_and(|s| s != &**id));
                if let Some(parent) = other {
                    self.copy = Some(Copy::Since(time));
                    self.parent = is_id(&parent).then(|| sink.name(&parent));
                    if !self.is_beside() {
                        let message = "this thread begins with a copy of its parent's history: shown, but it changes no file here";
                        sink.finding(Code::DuplicateEvent, message);
                    }
                } else if self.session.is_some() {
                    self.copy = Some(Copy::No);
                }
                false
            }
            None if self.session.is_some() => {
                self.copy = Some(Copy::No);
                false
            }
            _ => false,
        };
        if end {
            self.copy = Some(Copy::No);
            // Calls of the copy that have no output there never get one here.
            self.open.clear();
            self.scripts.clear();
        }
    }

    fn meta(&mut self, meta: Val<'_>, id: Id, sink: &mut Sink<'_>) {
        if self.copying() {
            return sink.raw(id, "copied.session_meta");
        }
        if let Some(cwd) = meta.text_of("cwd") {
            sink.enter(&cwd);
        }
        let known = self.session.is_some();
        if !known {
            let session = meta
                .text_of("id")
                .filter(|i| is_id(i))
                .unwrap_or_else(|| "session".into());
            let session = sink.name(&session);
            sink.now.trace = session.clone();
            sink.session(&session, None);
            self.session = Some(session);
        }
        sink.raw(id, "session_meta");
    }

    fn item(&mut self, item: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let kind = item.text_of("type").unwrap_or_default();
        if self.session.is_none() {
            let session = sink.name("session");
            sink.session(&session, None);
            self.session = Some(session);
        }
        match &*kind {
            "message" => self.message(item, id, origin, sink),
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                self.call(&kind, item, id, origin, sink)
            }
            "function_call_output" | "custom_tool_call_output" => {
                self.output(item, id, origin, sink)
            }
            kind if ITEMS.contains(&kind) => sink.raw(id, kind),
            kind => sink.unknown(id, if kind.is_empty() { "item (none)" } else { kind }),
        }
    }

    fn message(&mut self, item: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let role = match item.text_of("role").as_deref() {
            Some("assistant") => Role::Assistant,
            Some("user") => Role::User,
            _ => Role::System,
        };
        let mut part = 0;
        for text in item
            .get("content")
            .into_iter()
            .flat_map(|c| c.items())
            .filter_map(|c| c.get("text"))
        {
            let Some(head) = text.str() else {
                continue;
            };
            if head.starts_with("<environment_context>") {
                if let Some(cwd) = working_folder(&head) {
                    sink.enter(cwd);
                }
            }
            let injected = role == Role::User
                && [
                    "<environment_context>",
                    "<user_instructions>",
                    "# AGENTS.md",
                    "<permissions",
                    "<turn_aborted>",
                    "<skill>",
                ]
                .iter()
                .any(|mark| head.starts_with(mark));
            part += 1;
            let id: Id = if part == 1 {
                id.clone()
            } else {
                format!("{id}+{part}").into()
            };
            self.last_message = Some(id.clone());
            sink.message(
                id,
                if injected { Role::System } else { role },
                origin.text(text),
            );
        }
        if part == 0 {
            sink.raw(id, "message");
        }
    }

    fn call(&mut self, kind: &str, item: Val<'_>, place: Id, origin: Origin, sink: &mut Sink<'_>) {
        let id: Id = match item
            .text_of("call_id")
            .or_else(|| item.text_of("id"))
            .filter(|i| is_id(i))
        {
            Some(id) => id.as_ref().into(),
            None => place,
        };
        let name = item.text_of("name").unwrap_or_else(|| "shell".into());
        let input = item
            .get("arguments")
            .or_else(|| item.get("input"))
            .or_else(|| item.get("action"));
        let text = input.and_then(|i| i.str()).unwrap_or_default();
        let args = match input {
            Some(i)
                if i.is_string()
                    && text.len() <= 4096
                    && text.starts_with('{')
                    && is_json(&text) =>
            {
                Json::Inline(text.as_ref().into())
            }
            Some(i) => origin.json(i),
            None => Json::Absent,
        };
        let cwd = sink.shelf.cwd.clone();
        let (open, reach) = match kind {
            "local_shell_call" => match input {
                Some(action) => shell_call(action, cwd.as_deref()),
                None => (Open::default(), Reach::Changer { words: Vec::new() }),
            },
            "custom_tool_call" if name == "apply_patch" => {
                (patch_call(&text, cwd.as_deref()), Reach::None)
            }
            "custom_tool_call" if !text.starts_with('{') => script_call(&text, cwd.as_deref()),
            _ => {
                let mut tape = Tape::default();
                match tape.read(&text) {
                    Ok(_) => named_call(&name, tape.root(&text), cwd.as_deref()),
                    Err(_) => (
                        Open::default(),
                        if HARMLESS.contains(&&*name) {
                            Reach::None
                        } else {
                            Reach::Changer { words: Vec::new() }
                        },
                    ),
                }
            }
        };
        // What the parent did elsewhere is no change of this thread.
        let (open, reach) = if self.copying() {
            (Open::default(), Reach::None)
        } else {
            (open, reach)
        };
        if open.code {
            self.scripts.push(id.clone());
        }
        self.open.insert(id.clone(), open);
        sink.call(Call {
            id,
            name: &name,
            args,
            reach,
        });
    }

    fn output(&mut self, item: Val<'_>, place: Id, origin: Origin, sink: &mut Sink<'_>) {
        let Some(call) = item
            .text_of("call_id")
            .filter(|i| is_id(i))
            .map(|i| Id::from(&*i))
        else {
            return sink.raw(place, "tool_output");
        };
        let open = self.open.remove(&call).unwrap_or_default();
        self.scripts.retain(|s| *s != call);
        let output = item.get("output");
        // One text, or a list of them, or an object around it.
        let first = output.map(|o| {
            let content = o.get("content").unwrap_or(o);
            content
                .items()
                .find_map(|i| i.get("text"))
                .or_else(|| content.get("text"))
                .unwrap_or(content)
        });
        let text = first.and_then(|f| f.str()).unwrap_or_default();
        let all_ok = output.and_then(|o| o.get("success")).and_then(|s| s.bool()) != Some(false);
        let (status, duration_ms) = outcome(&text);
        let status = if all_ok { status } else { Status::Error };
        let told = first.map(|f| match printed(&text) {
            Some(printed) => Text::inline(printed),
            None => origin.text(f),
        });
        let result = output.map_or(Json::Absent, |o| origin.json(o));
        sink.result(Outcome {
            call: call.clone(),
            status,
            told,
            result,
            duration_ms,
        });
        let proven = status == Status::Ok
            && (open.alone || open.code || text.contains("Success. Updated the following files"));
        if proven && !open.told && !self.copying() {
            for (patches, cwd) in open.patches {
                for patch in patches {
                    super::tools::apply_patch(patch, cwd.as_deref(), &call, sink);
                }
            }
        }
    }

    fn event(&mut self, event: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let kind = event.text_of("type").unwrap_or_default();
        match &*kind {
            "patch_apply_end" => self.patched(event, id, origin, sink),
            kind if EVENTS.contains(&kind) => sink.raw(id, kind),
            kind => sink.unknown(id, &format!("event {kind}")),
        }
    }

    /// The log's own account of a patch: full contents of added and deleted files, hunks of the others.
    fn patched(&mut self, event: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let call: Id = match event.text_of("call_id").filter(|i| is_id(i)) {
            Some(call) => call.as_ref().into(),
            None => id.clone(),
        };
        // A script's patches have ids of their own: they belong to the script that runs now.
        let owner = if self.open.contains_key(&call) {
            Some(call.clone())
        } else {
            self.scripts.last().cloned()
        };
        if let Some(open) = owner.as_ref().and_then(|o| self.open.get_mut(o)) {
            open.told = true;
        }
        sink.now.parent = owner;
        sink.raw(id, "patch_apply_end");
        let failed = event.get("success").and_then(|s| s.bool()) == Some(false);
        if failed || self.copying() {
            return;
        }
        for (path, change) in event.get("changes").into_iter().flat_map(|c| c.members()) {
            let path = sink.path(&path);
            // `{type: "add", …}` or, in some versions, `{"add": {…}}`.
            let (kind, change) = match change.text_of("type") {
                Some(kind) => (kind.into_owned(), change),
                None => match change.members().next() {
                    Some((kind, inner)) => (kind.into_owned(), inner),
                    None => continue,
                },
            };
            let text = |name: &str| {
                change
                    .get(name)
                    .filter(|v| v.is_string())
                    .map(|v| origin.text(v))
            };
            match kind.as_str() {
                "add" => match text("content") {
                    Some(content) => sink.write(&call, &path, content, true),
                    None => sink.touched(&call, &path),
                },
                "delete" => {
                    if let Some(content) = text("content") {
                        sink.observe(&call, &path, content);
                    }
                    sink.delete(&call, &path);
                }
                "update" => {
                    match text("unified_diff") {
                        Some(Text::Inline(diff)) if diff.is_empty() => {}
                        Some(diff) => sink.change(&call, &path, Change::Patch(diff), false),
                        None => sink.touched(&call, &path),
                    }
                    if let Some(to) = change.text_of("move_path") {
                        let to = sink.path(&to);
                        sink.rename(&call, &path, &to);
                    }
                }
                _ => sink.touched(&call, &path),
            }
        }
    }

    fn compacted(&mut self, compacted: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let summary = compacted.get("message").filter(|m| m.is_string());
        let summary = summary.map_or_else(|| Text::inline(""), |m| origin.text(m));
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
            None => sink.raw(id, "compacted"),
        }
    }
}

fn is_json(text: &str) -> bool {
    Tape::default()
        .read(text)
        .is_ok_and(|end| text.get(end..).is_some_and(|rest| rest.trim().is_empty()))
}

/// The folder in an `<environment_context>`, in either of its forms.
fn working_folder(text: &str) -> Option<&str> {
    let tagged = text
        .split_once("<cwd>")
        .and_then(|(_, rest)| rest.split_once("</cwd>"))
        .map(|(cwd, _)| cwd);
    let named = || {
        let (_, rest) = text.split_once("Current working directory:")?;
        rest.lines().next()
    };
    tagged.or_else(named).map(str::trim)
}
