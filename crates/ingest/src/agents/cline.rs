//! Cline and Roo Code: a task folder with two JSON lists, `ui_messages.json` (what the user saw, with times) and
//! `api_conversation_history.json` (what the model saw). The first gives the events; from the second comes what a
//! file was after a save, which includes the user's own changes and the editor's formatting.
//!
//! Paths stay as they are written, below the workspace. Left out on purpose: checkpoints, commits of a hidden
//! repository; applying a SEARCH/REPLACE text when the second file does not show the outcome is only plausible.

use std::collections::BTreeMap;

use chipdeck_event::{Change, Edit, Id, Json, Reach, Role, Status, Text};

use super::clock;
use super::document::Document;
use super::shell;
use super::sink::{Call, Outcome, Sink};
use crate::source::Source;
use crate::tape::{Origin, Tape, Val};

pub(crate) fn claims_ui(root: Val<'_>) -> bool {
    root.items().take(3).any(|m| {
        m.get("ts").is_some()
            && matches!(m.text_of("type").as_deref(), Some("say" | "ask"))
            && (m.get("say").is_some() || m.get("ask").is_some())
    })
}

pub(crate) fn claims_api(root: Val<'_>) -> bool {
    let mut items = root.items();
    let anthropic = |m: Val<'_>| {
        matches!(m.text_of("role").as_deref(), Some("user" | "assistant"))
            && m.get("content").is_some()
    };
    let first = items.next();
    first.is_some_and(|m| {
        anthropic(m)
            && m.get("content")
                .into_iter()
                .flat_map(|c| c.items())
                .filter_map(|b| b.text_of("text"))
                .any(|t| {
                    t.starts_with("<task>")
                        || t.contains("<environment_details>")
                        || t.contains("<feedback>")
                        || t.contains("[TASK RESUMPTION]")
                })
    })
}

const KINDS: &[&str] = &[
    "checkpoint_created",
    "api_req_started",
    "api_req_finished",
    "api_req_retried",
    "api_req_failed",
    "command_output",
    "task_progress",
    "error_retry",
    "resume_task",
    "resume_completed_task",
    "mcp_server_request_started",
    "mcp_server_response",
    "use_mcp_server",
    "mcp_notification",
    "browser_action",
    "browser_action_launch",
    "browser_action_result",
    "deleted_api_reqs",
    "clineignore_error",
    "rooignore_error",
    "load_mcp_documentation",
    "info",
    "condense",
    "subtask_result",
    "user_feedback_diff",
    "shell_integration_warning",
    "completion_result",
    "command",
    "tool",
    "mistake_limit_reached",
    "new_task",
    "hook",
    "condense_context",
    "codebase_search_result",
    "diff_error",
    "generate_explanation",
    "auto_approval_max_req_reached",
];

/// What the model was told about one tool, from the second file.
#[derive(Clone)]
struct Told {
    /// `final_file_content`.
    after: Option<String>,
    failed: bool,
    denied: bool,
}

#[derive(Default)]
pub(crate) struct Ui {
    results: BTreeMap<String, Vec<Told>>,
    last_message: Option<Id>,
}

impl Document for Ui {
    fn agent(&self) -> &'static str {
        "cline"
    }

    fn json(&mut self, root: Val<'_>, sink: &mut Sink<'_>, source: &dyn Source) {
        let folder = sink
            .file_name
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder)
            .to_string();
        let history = read(source, &folder, "api_conversation_history.json");
        let mut cwd = None;
        if let Some(text) = &history {
            let mut tape = Tape::default();
            if tape.read(text).is_ok() {
                cwd = workspace(tape.root(text));
                self.results = results(tape.root(text));
            }
        }
        sink.now.trace = sink.name("task");
        sink.now.timestamp = root
            .items()
            .next()
            .and_then(|m| m.get("ts")?.float())
            .and_then(clock::number);
        let origin = sink.origin;
        if let Some(first) = root.items().next() {
            sink.at(first);
        }
        sink.session_in("task", cwd.as_deref());
        for (index, message) in root.items().enumerate() {
            sink.at(message);
            sink.now.timestamp = message
                .get("ts")
                .and_then(|t| t.float())
                .and_then(clock::number);
            let id: Id = format!("{}:{index}", sink.file).into();
            self.message(message, id, origin, sink);
        }
    }
}

impl Ui {
    fn message(&mut self, message: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let ask = message.text_of("type").as_deref() == Some("ask");
        let kind = message
            .text_of("say")
            .or_else(|| message.text_of("ask"))
            .unwrap_or_default();
        let text = message.get("text").filter(|t| t.is_string());
        // The unfinished form of a message that comes again.
        if message.truth("partial") {
            return sink.raw(id, "partial");
        }
        let role = match (&*kind, ask) {
            ("task" | "user_feedback", _) => Role::User,
            (
                "text" | "completion_result" | "followup" | "plan_mode_respond"
                | "act_mode_respond",
                _,
            ) => Role::Assistant,
            ("error", _) => Role::System,
            ("tool", _) => return self.tool(ask, text, id, origin, sink),
            ("command", _) => {
                // Offered; it ran when its output follows. It may have changed what it names.
                let command = text.and_then(|t| t.str()).unwrap_or_default();
                let reach = shell::reach(&command, None, false);
                let args = text.map_or(Json::Absent, |t| origin.json(t));
                sink.call(Call {
                    id: id.clone(),
                    name: "execute_command",
                    args,
                    reach,
                });
                sink.result(Outcome {
                    call: id,
                    status: Status::Ok,
                    told: None,
                    result: Json::Absent,
                    duration_ms: None,
                });
                return;
            }
            ("reasoning", _) => return sink.raw(id, "reasoning"),
            (kind, _) if KINDS.contains(&kind) => return sink.raw(id, kind),
            (kind, _) => return sink.unknown(id, if kind.is_empty() { "(none)" } else { kind }),
        };
        match text {
            Some(text) if text.raw().len() > 2 => {
                self.last_message = Some(id.clone());
                sink.message(id, role, origin.text(text));
            }
            _ => sink.raw(id, &kind),
        }
    }

    fn tool(
        &mut self,
        ask: bool,
        text: Option<Val<'_>>,
        id: Id,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) {
        let body = text.and_then(|t| t.str()).unwrap_or_default();
        let mut tape = Tape::default();
        let Some(tool) = tape.read(&body).ok().map(|_| tape.root(&body)) else {
            return sink.raw(id, "tool");
        };
        let name = tool.text_of("tool").unwrap_or_default();
        let args = text.map_or(Json::Absent, |t| origin.json(t));
        let written = tool.text_of("path").unwrap_or_default();
        let edits = matches!(
            &*name,
            "newFileCreated"
                | "editedExistingFile"
                | "fileDeleted"
                | "appliedDiff"
                | "insertContent"
                | "searchAndReplace"
        );
        let told = edits.then(|| self.next_result(&written)).flatten();
        // Offered for approval: done only if a result says so.
        let status = match &told {
            Some(told) if told.denied => Status::Denied,
            Some(told) if told.failed => Status::Error,
            None if ask && edits => Status::Cancelled,
            _ => Status::Ok,
        };
        sink.call(Call {
            id: id.clone(),
            name: &name,
            args,
            reach: Reach::None,
        });
        sink.result(Outcome {
            call: id.clone(),
            status,
            told: None,
            result: Json::Absent,
            duration_ms: None,
        });
        if !edits || status != Status::Ok || written.is_empty() {
            return;
        }
        let path = sink.name(&written);
        let content = tool
            .text_of("content")
            .or_else(|| tool.text_of("diff"))
            .unwrap_or_default();
        match (&*name, told.and_then(|t| t.after)) {
            ("fileDeleted", _) => sink.delete(&id, &path),
            ("newFileCreated", Some(after)) => sink.write(&id, &path, Text::inline(after), true),
            (_, Some(after)) => sink.write(&id, &path, Text::inline(after), false),
            ("newFileCreated", None) => {
                sink.change(&id, &path, Change::Content(Text::inline(content)), true)
            }
            _ => match search_replace(&content) {
                Some(edits) => sink.change(&id, &path, Change::Edits(edits), true),
                None => sink.touched(&id, &path),
            },
        }
    }

    fn next_result(&mut self, path: &str) -> Option<Told> {
        let list = self.results.get_mut(path)?;
        (!list.is_empty()).then(|| list.remove(0))
    }
}

fn read(source: &dyn Source, folder: &str, name: &str) -> Option<String> {
    let wanted = if folder.is_empty() {
        name.to_string()
    } else {
        format!("{folder}/{name}")
    };
    let file = (0..source.files()).find(|&f| *source.name(f) == *wanted)?;
    let len = usize::try_from(source.len(file))
        .ok()
        .filter(|&l| l < 256 << 20)?;
    String::from_utf8(source.read_at(file, 0, len).ok()?).ok()
}

fn workspace(history: Val<'_>) -> Option<String> {
    texts(history).find_map(|text| {
        let (_, rest) = text
            .split_once("# Current Working Directory (")
            .or_else(|| text.split_once("# Current Workspace Directory ("))?;
        let (cwd, _) = rest.split_once(')')?;
        super::paths::is_absolute(cwd).then(|| cwd.to_string())
    })
}

/// Texts of the user's side: results of tools among them.
fn texts<'a>(history: Val<'a>) -> impl Iterator<Item = std::borrow::Cow<'a, str>> {
    history
        .items()
        .filter(|m| m.text_of("role").as_deref() == Some("user"))
        .flat_map(|m| m.get("content"))
        .flat_map(|c| c.items().chain(std::iter::once(c)).collect::<Vec<_>>())
        .flat_map(|b| match b.get("content") {
            Some(inner) if inner.is_array() => inner
                .items()
                .filter_map(|i| i.text_of("text"))
                .collect::<Vec<_>>(),
            Some(inner) => inner.str().into_iter().collect(),
            None => b.text_of("text").or_else(|| b.str()).into_iter().collect(),
        })
}

/// Outcomes of edits for each path, in order: those that went well show the file.
fn results(history: Val<'_>) -> BTreeMap<String, Vec<Told>> {
    let mut out: BTreeMap<String, Vec<Told>> = BTreeMap::new();
    let mut pending: Option<String> = None;
    for text in texts(history) {
        // A heading and its text may be one block or two.
        let mut text = &*text;
        if let Some((path, rest)) = heading(text) {
            pending = Some(path);
            text = rest.trim_start();
            if text.is_empty() {
                continue;
            }
        }
        let shown = text
            .split_once("<final_file_content path=\"")
            .and_then(|(_, rest)| {
                let (path, rest) = rest.split_once("\">")?;
                let (content, _) = rest.rsplit_once("</final_file_content>")?;
                let content = content.strip_prefix('\n').unwrap_or(content);
                Some((
                    path.to_string(),
                    content.strip_suffix('\n').unwrap_or(content).to_string(),
                ))
            });
        let heading = pending.take();
        if let Some((path, content)) = shown {
            out.entry(path).or_default().push(Told {
                after: Some(content),
                failed: false,
                denied: false,
            });
        } else if let Some(path) = heading {
            let failed = text.contains("The tool execution failed")
                || text.contains("<error>")
                || text.contains("doesn't match");
            let denied = text.contains("The user denied this operation");
            out.entry(path).or_default().push(Told {
                after: None,
                failed,
                denied,
            });
        }
    }
    // A text that was refused before it was shown as a tool is a `diff_error`, not a tool message.
    out.values_mut()
        .for_each(|list| list.retain(|told| !told.failed || told.denied));
    out
}

/// `[write_to_file for 'p'] Result:`
fn heading(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix('[')?;
    let (head, rest) = rest.split_once("] Result:")?;
    let (tool, path) = head.split_once(" for '")?;
    let edits = [
        "write_to_file",
        "replace_in_file",
        "new_file",
        "apply_diff",
        "insert_content",
        "search_and_replace",
        "delete_file",
        "edit_file",
        "apply_patch",
    ];
    edits
        .contains(&tool)
        .then(|| (path.trim_end_matches('\'').to_string(), rest))
}

/// The blocks of a SEARCH/REPLACE text.
fn search_replace(text: &str) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    let mut part: Option<(String, Option<String>)> = None;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        let start = bare.starts_with("<<<<<<< SEARCH") || bare.starts_with("------- SEARCH");
        let end = bare.ends_with("REPLACE") && bare.starts_with(['+', '>']);
        match &mut part {
            None if start => part = Some((String::new(), None)),
            None => {}
            Some((_, new @ None)) if bare.starts_with("=======") => *new = Some(String::new()),
            Some((old, None))
                if !(bare.starts_with(":start_line:") || old.is_empty() && bare == "-------") =>
            {
                old.push_str(line)
            }
            Some((_, None)) => {}
            Some((old, Some(new))) if end => {
                edits.push(Edit::Replace {
                    old: Text::inline(old.as_str()),
                    new: Text::inline(new.as_str()),
                    all: false,
                });
                part = None;
            }
            Some((_, Some(new))) => new.push_str(line),
        }
    }
    (!edits.is_empty()).then_some(edits)
}

/// `api_conversation_history.json`: beside the other file it only stands there; alone it is the conversation.
#[derive(Default)]
pub(crate) struct Api;

impl Document for Api {
    fn agent(&self) -> &'static str {
        "cline"
    }

    fn json(&mut self, root: Val<'_>, sink: &mut Sink<'_>, source: &dyn Source) {
        let folder = sink
            .file_name
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder)
            .to_string();
        let beside = read(source, &folder, "ui_messages.json").is_some();
        let origin = sink.origin;
        sink.now.trace = sink.name("task");
        if !beside {
            let cwd = workspace(root);
            sink.session_in("task", cwd.as_deref());
        }
        let results = if beside {
            BTreeMap::new()
        } else {
            results(root)
        };
        for (index, message) in root.items().enumerate() {
            sink.at(message);
            sink.now.timestamp = message
                .get("ts")
                .and_then(|t| t.float())
                .and_then(clock::number)
                .or(sink.now.timestamp);
            let id: Id = format!("{}:{index}", sink.file).into();
            let text = message
                .get("content")
                .and_then(|c| c.items().find_map(|b| b.get("text")).or(Some(c)));
            let role = match message.text_of("role").as_deref() {
                Some("assistant") => Role::Assistant,
                _ => Role::User,
            };
            match text.filter(|t| !beside && t.is_string()) {
                Some(text) => sink.message(id, role, origin.text(text)),
                None => sink.raw(id, "api_message"),
            }
        }
        // Without the other file nobody knows when: what was shown last is at the end.
        for (path, list) in results {
            let Some(after) = list.into_iter().filter_map(|t| t.after).next_back() else {
                continue;
            };
            let call = sink.place_id();
            let path = sink.name(&path);
            sink.write(&call, &path, Text::inline(after), false);
        }
    }
}
