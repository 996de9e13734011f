//! Codex rollouts (`~/.codex/sessions/…/rollout-*.jsonl`), all generations: bare items of mid 2025, then
//! `{timestamp, type, payload}`. Linear; records of the user interface (`event_msg`) double the model's items, of
//! which the latter are taken.
//!
//! What changed files: `patch_apply_end` where the log has it, else the text of the patch that was called with, once
//! its output says that it went well. A forked or spawned thread begins with a copy of its parent's history: that
//! is shown, but changes no file here. Left out on purpose: full contents guessed from `cat` outputs.

use std::collections::HashMap;

use chipdeck_event::{Change, Code, Id, Json, Payload, Reach, Role, Status, Text};

use super::clock;
use super::patch::{self, FilePatch};
use super::paths;
use super::records::{Mapper, Record, Verdict};
use super::shell;
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

/// Tools that change no file, or whose changes the log tells.
const HARMLESS: &[&str] = &[
    "update_plan",
    "view_image",
    "web_search",
    "apply_patch",
    "list_mcp_resources",
    "read_mcp_resource",
    "list_mcp_resource_templates",
    "request_user_input",
    "get_goal",
    "create_goal",
    "update_goal",
    "read_file",
    "list_dir",
    "grep_files",
    "tool_search",
    "text",
    "image",
    "image_gen",
    "notify",
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

/// A call without an output so far.
#[derive(Default)]
struct Open {
    /// The patches in its text and the folder they are relative to.
    patches: Vec<(Vec<FilePatch>, Option<Id>)>,
    /// A script: its patch events have ids of their own.
    code: bool,
    /// An event told what became of its patches.
    told: bool,
    /// Nothing else was called, so that its exit status is the patch's.
    alone: bool,
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
    copied: u64,
    open: HashMap<Id, Open>,
    /// Open calls that are scripts, oldest first.
    scripts: Vec<Id>,
    last_message: Option<Id>,
}

impl Mapper for Codex {
    fn agent(&self) -> &'static str {
        "codex"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, _hurry: bool) -> Verdict {
        let value = record.value;
        let origin = record.origin;
        let kind = value.text_of("type").unwrap_or_default();
        let payload = value.get("payload").filter(|p| p.is_object());
        sink.now.timestamp = value.text_of("timestamp").and_then(|t| clock::iso(&t));
        self.follow_copy(&kind, payload, sink);
        let trace = self.session.clone().unwrap_or_else(|| sink.name("session"));
        sink.now.trace = trace;
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

impl Codex {
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
                if other.is_some() {
                    self.copy = Some(Copy::Since(time));
                    let message = "this thread begins with a copy of its parent's history: shown, but it changes no file here";
                    sink.finding(Code::DuplicateEvent, message);
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
        if self.copying() {
            self.copied += 1;
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
        let told = first.map(|f| origin.text(f));
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

fn patch_call(text: &str, cwd: Option<&str>) -> Open {
    let patches = patch::parse(text)
        .into_iter()
        .map(|p| (p, cwd.map(Id::from)))
        .collect();
    Open {
        patches,
        alone: true,
        ..Open::default()
    }
}

/// A function call by name and parsed arguments.
fn named_call(name: &str, args: Val<'_>, cwd: Option<&str>) -> (Open, Reach) {
    if args.get("command").is_some() || args.get("cmd").is_some() {
        return shell_call(args, cwd);
    }
    match name {
        "apply_patch" => (
            patch_call(
                &args
                    .text_of("input")
                    .or_else(|| args.text_of("patch"))
                    .unwrap_or_default(),
                cwd,
            ),
            Reach::None,
        ),
        name if HARMLESS.contains(&name) => (Open::default(), Reach::None),
        _ => (Open::default(), super::changer(Some(args), cwd)),
    }
}

/// `{command: […] or "…"}` or `{cmd: "…"}` with a folder of its own.
fn shell_call(args: Val<'_>, cwd: Option<&str>) -> (Open, Reach) {
    let folder = args
        .text_of("workdir")
        .or_else(|| args.text_of("working_directory"))
        .filter(|w| !w.is_empty());
    let cwd = match folder {
        Some(folder) => Some(paths::join(cwd, &folder)),
        None => cwd.map(str::to_string),
    };
    let cwd = cwd.as_deref();
    let Some(command) = args.get("command").or_else(|| args.get("cmd")) else {
        return (Open::default(), Reach::Changer { words: Vec::new() });
    };
    if let Some(script) = command.str() {
        return script_reach(&script, cwd);
    }
    let words: Vec<String> = command
        .items()
        .filter_map(|w| w.str())
        .map(|w| w.into_owned())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["apply_patch" | "applypatch", text] => (patch_call(text, cwd), Reach::None),
        [sh, flag, script]
            if is_shell(sh)
                && matches!(*flag, "-lc" | "-c" | "-Command" | "/c" | "-ic" | "-lic") =>
        {
            script_reach(script, cwd)
        }
        [sh, flags @ .., script]
            if is_shell(sh)
                && flags
                    .iter()
                    .any(|f| matches!(*f, "-Command" | "-lc" | "-c" | "/c")) =>
        {
            script_reach(script, cwd)
        }
        words => (Open::default(), shell::reach(&quoted(words), cwd, false)),
    }
}

fn is_shell(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    matches!(
        name,
        "bash" | "sh" | "zsh" | "dash" | "fish" | "powershell" | "pwsh" | "cmd"
    )
}

/// A list of arguments as one line of shell.
fn quoted(words: &[&str]) -> String {
    words
        .iter()
        .map(|w| format!("'{}'", w.replace('\'', "'\\''")))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A shell text: the patches in its here-documents, and what else it may do.
fn script_reach(script: &str, cwd: Option<&str>) -> (Open, Reach) {
    let commands = shell::split(script);
    let mut folder = cwd.map(str::to_string);
    let mut patches = Vec::new();
    for command in &commands {
        if shell::is_patch(command) {
            let text = command.bodies.first().or_else(|| command.words.get(1));
            if let Some(parsed) = text.and_then(|t| patch::parse(t)) {
                patches.push((parsed, folder.as_deref().map(Id::from)));
            }
        } else if let [cd, to] = command.words.as_slice() {
            if cd == "cd" {
                folder = Some(paths::join(folder.as_deref(), to));
            }
        }
    }
    // Before the patch only a change of folder: its exit status is the patch's.
    let alone = commands.last().is_some_and(shell::is_patch)
        && commands
            .iter()
            .all(|c| shell::is_patch(c) || c.words.first().is_some_and(|w| w == "cd"));
    let only_patch = alone && !patches.is_empty();
    let reach = if only_patch {
        Reach::None
    } else {
        shell::reach(script, cwd, !patches.is_empty())
    };
    (
        Open {
            patches,
            alone,
            ..Open::default()
        },
        reach,
    )
}

/// JavaScript of code mode.
fn script_call(script: &str, cwd: Option<&str>) -> (Open, Reach) {
    let patches: Vec<_> = patch::in_javascript(script)
        .iter()
        .filter_map(|text| patch::parse(text))
        .map(|p| (p, cwd.map(Id::from)))
        .collect();
    let mut words = std::collections::BTreeSet::new();
    let mut changes = false;
    let commands = patch::commands_in_javascript(script);
    let mut shells = 0;
    for (at, _) in script.match_indices("tools.") {
        let rest = script.get(at + "tools.".len()..).unwrap_or_default();
        let tool: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        match tool.as_str() {
            "exec_command" => shells += 1,
            tool if HARMLESS.contains(&tool) => {}
            _ => changes = true,
        }
    }
    for (command, folder) in &commands {
        let cwd = folder
            .as_deref()
            .map(|f| paths::join(cwd, f))
            .or_else(|| cwd.map(str::to_string));
        if let Reach::Changer { words: more } = shell::reach(command, cwd.as_deref(), false) {
            changes = true;
            words.extend(more);
        }
    }
    // A command that is computed may be any.
    changes |= shells > commands.len();
    let reach = if changes {
        Reach::Changer {
            words: words.into_iter().collect(),
        }
    } else {
        Reach::None
    };
    (
        Open {
            patches,
            code: true,
            ..Open::default()
        },
        reach,
    )
}

/// How a call ended, by the text that the model was given. Five shapes, see the tests.
fn outcome(text: &str) -> (Status, Option<i64>) {
    if text.starts_with('{') {
        let mut tape = Tape::default();
        if tape.read(text).is_ok() {
            let root = tape.root(text);
            if let Some(metadata) = root.get("metadata") {
                let code = metadata.get("exit_code").and_then(|c| c.int());
                let seconds = metadata.get("duration_seconds").and_then(|d| d.float());
                let output = root.text_of("output").unwrap_or_default();
                let status = match code {
                    Some(0) => Status::Ok,
                    Some(124) if output.contains("timed out") => Status::Timeout,
                    Some(_) => Status::Error,
                    None => by_words(&output),
                };
                return (status, seconds.map(|s| (s * 1000.0) as i64));
            }
        }
    }
    // Only the first lines are the tool's own words.
    let head: String = text.chars().take(400).collect();
    let seconds = head
        .split_once("Wall time: ")
        .or_else(|| head.split_once("Wall time "))
        .and_then(|(_, rest)| rest.split([' ', '\n']).next()?.parse::<f64>().ok());
    // Of several such lines the first is the tool's: what follows it is the command's output.
    let code = ["Exit code: ", "Process exited with code "]
        .iter()
        .filter_map(|mark| Some((head.find(mark)?, *mark)))
        .min()
        .and_then(|(at, mark)| {
            let before = head.get(..at)?;
            let own = before.is_empty()
                || ["Chunk ID", "Wall time", "Command:"]
                    .iter()
                    .any(|first| before.starts_with(first));
            let rest = head.get(at + mark.len()..).filter(|_| own)?;
            rest.split(|c: char| !c.is_ascii_digit() && c != '-')
                .next()?
                .parse::<i64>()
                .ok()
        });
    let status = match code {
        Some(0) => Status::Ok,
        Some(_) => Status::Error,
        None => by_words(&head),
    };
    (status, seconds.map(|s| (s * 1000.0) as i64))
}

fn by_words(head: &str) -> Status {
    let lower = head.to_ascii_lowercase();
    let starts = |marks: &[&str]| marks.iter().any(|m| lower.starts_with(m));
    if starts(&[
        "exec command rejected",
        "command rejected",
        "rejected by user",
        "patch rejected",
        "user rejected",
        "the user rejected",
        "user denied",
        "denied by user",
    ]) || lower.contains("rejected by user approval settings")
    {
        Status::Denied
    } else if starts(&[
        "aborted by user",
        "aborted",
        "command aborted",
        "interrupted by user",
    ]) {
        Status::Cancelled
    } else if starts(&["command timed out", "timed out", "exec timed out"]) {
        Status::Timeout
    } else if starts(&[
        "error",
        "failed",
        "script failed",
        "script error",
        "apply_patch verification failed",
        "execution error",
        "invalid patch",
        "invalid hunk",
        "unsupported call",
        "unknown tool",
        "unable to",
        "sandbox error",
        "err:",
        "tool call error",
    ]) {
        Status::Error
    } else {
        Status::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_shapes_of_an_output() {
        for (text, status) in [
            (r#"{"output":"x","metadata":{"exit_code":0,"duration_seconds":1.5}}"#, Status::Ok),
            (r#"{"output":"x","metadata":{"exit_code":2,"duration_seconds":1.5}}"#, Status::Error),
            ("Exit code: 1\nWall time: 0 seconds\nOutput:\n", Status::Error),
            ("Chunk ID: 36\nWall time: 0.0 seconds\nProcess exited with code 0\nOutput:\nExit code: 7", Status::Ok),
            ("Chunk ID: 36\nWall time: 1.0 seconds\nProcess running with session ID 5", Status::Ok),
            ("failed in sandbox LinuxSeccomp with execution error: …, exit code: 127", Status::Error),
            ("error: invalid hunk at line 2", Status::Error),
            ("Script failed\nWall time 0.1 seconds", Status::Error),
            ("Script completed\nWall time 0.1 seconds", Status::Ok),
            ("exec command rejected by user", Status::Denied),
            ("aborted by user after 3.1s", Status::Cancelled),
            ("Plan updated", Status::Ok),
        ] {
            assert_eq!(outcome(text).0, status, "{text}");
        }
        assert_eq!(
            outcome("Exit code: 0\nWall time: 2.5 seconds").1,
            Some(2500)
        );
    }

    #[test]
    fn shells_of_every_shape() {
        let read = |json: &str| {
            let mut tape = Tape::default();
            tape.read(json).unwrap();
            let (open, reach) = shell_call(tape.root(json), Some("/w"));
            (open.patches.len(), open.alone, reach == Reach::None)
        };
        let heredoc =
            "apply_patch <<'P'\\n*** Begin Patch\\n*** Add File: a\\n+x\\n*** End Patch\\nP";
        assert_eq!(
            read(&format!(r#"{{"command":["bash","-lc","{heredoc}"]}}"#)),
            (1, true, true)
        );
        assert_eq!(
            read(&format!(
                r#"{{"command":["bash","-lc","cd sub && {heredoc}"]}}"#
            )),
            (1, true, true)
        );
        assert_eq!(
            read(&format!(
                r#"{{"command":["bash","-lc","{heredoc}\nmake"]}}"#
            )),
            (1, false, false)
        );
        assert_eq!(
            read(&format!(r#"{{"cmd":"{heredoc}","workdir":"/x"}}"#)),
            (1, true, true)
        );
        assert_eq!(
            read(
                r#"{"command":["bash","-lc","*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"]}"#
            ),
            (0, false, false)
        );
        assert_eq!(read(r#"{"command":["ls","a b"]}"#), (0, false, true));
        assert_eq!(
            read(r#"{"command":["powershell.exe","-NoProfile","-Command","Get-Content x"]}"#),
            (0, false, false)
        );
        assert_eq!(read(r#"{"command":["rm","a;b"]}"#).2, false);
    }

    #[test]
    fn scripts_of_code_mode() {
        let none = |script: &str| script_call(script, Some("/w")).1 == Reach::None;
        assert!(none(
            r#"const r = await tools.exec_command({cmd:"git status"}); text(r.output)"#
        ));
        assert!(none(
            r#"text(await tools.apply_patch("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"))"#
        ));
        assert!(!none(r#"await tools.exec_command({cmd:"git pull"})"#));
        assert!(!none("await tools.exec_command({cmd:`rm ${x}`})"));
        assert!(!none("await tools.mcp__x__write({})"));
        assert_eq!(
            script_call(
                "tools.apply_patch('*** Begin Patch\\n*** Delete File: a\\n*** End Patch')",
                None
            )
            .0
            .patches
            .len(),
            1
        );
    }
}
