//! What Claude Code's tools do to files, by their input and their structured results.
//!
//! Left out on purpose: the records around them (see [`super::claude_code`]).

use chipdeck_event::{Change, Edit, Id, Reach, Status, Text};

use super::shell;
use super::sink::Sink;
use crate::tape::{Origin, Val};

/// Tools that change no file, or whose changes their results tell.
const HARMLESS: &[&str] = &[
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Glob",
    "Grep",
    "LS",
    "TodoWrite",
    "TodoRead",
    "WebFetch",
    "WebSearch",
    "ExitPlanMode",
    "EnterPlanMode",
    "AskUserQuestion",
    "BashOutput",
    "TaskOutput",
    "KillShell",
    "KillBash",
    "TaskStop",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "Skill",
    "SlashCommand",
    "ToolSearch",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
    "SendMessage",
    "StructuredOutput",
];

/// What a call asked for: used where the result does not say it.
pub(crate) enum Asked {
    Write { path: String, content: Text },
    Edit { path: String, edits: Vec<Edit> },
    Other,
}

/// How a call ended. `told`: what the model was given; only the start of a failure's is looked at.
pub(crate) fn status(
    denied: bool,
    block: Val<'_>,
    detail: Option<Val<'_>>,
    told: Option<Val<'_>>,
) -> Status {
    let failed = block.truth("is_error")
        || detail.is_some_and(|d| {
            d.truth("is_error") || (d.is_string() && d.raw().get(1..).is_some_and(is_error))
        });
    if !failed {
        return Status::Ok;
    }
    let head = told.and_then(|t| t.str()).unwrap_or_default();
    if denied
        || head.starts_with("The user doesn't want to")
        || head.starts_with("Permission to use")
        || head.starts_with("This command requires approval")
    {
        Status::Denied
    } else if head.starts_with("[Request interrupted") {
        Status::Cancelled
    } else if head.starts_with("Command timed out") {
        Status::Timeout
    } else {
        Status::Error
    }
}

fn is_error(text: &str) -> bool {
    text.starts_with("Error:") || text.starts_with("User rejected")
}

pub(crate) fn reach(name: &str, input: Option<Val<'_>>, cwd: Option<&str>) -> Reach {
    match name {
        "Bash" | "PowerShell" | "bash" => {
            let command = input.and_then(|i| i.text_of("command")).unwrap_or_default();
            shell::reach(&command, cwd, false)
        }
        name if HARMLESS.contains(&name) => Reach::None,
        "Task" | "Agent" => Reach::Changer { words: Vec::new() },
        _ => super::changer(input, cwd),
    }
}

pub(crate) fn asked(name: &str, input: Val<'_>, origin: Origin) -> Option<Asked> {
    match name {
        "Write" => Some(Asked::Write {
            path: input.text_of("file_path")?.into_owned(),
            content: origin.text(input.get("content")?),
        }),
        "Edit" | "MultiEdit" => Some(Asked::Edit {
            path: input.text_of("file_path")?.into_owned(),
            edits: match input.get("edits") {
                Some(edits) => edits
                    .items()
                    .map(|e| edit(e, origin))
                    .collect::<Option<_>>()?,
                None => vec![edit(input, origin)?],
            },
        }),
        _ => None,
    }
}

/// `{old_string, new_string, replace_all}` in either spelling.
fn edit(value: Val<'_>, origin: Origin) -> Option<Edit> {
    let field = |snake: &str, camel: &str| value.get(snake).or_else(|| value.get(camel));
    Some(Edit::ReplaceFirst {
        old: origin.text(field("old_string", "oldString").filter(|v| v.is_string())?),
        new: origin.text(field("new_string", "newString").filter(|v| v.is_string())?),
        all: field("replace_all", "replaceAll").and_then(|v| v.bool()) == Some(true),
    })
}

/// File events of a structured result; false when it should have told a change and did not.
pub(crate) fn file_events(detail: Val<'_>, call: &Id, origin: Origin, sink: &mut Sink<'_>) -> bool {
    if let Some(file) = detail.get("file").filter(|f| f.is_object()) {
        full_read(file, call, origin, sink);
        return true;
    }
    let notebook = detail
        .text_of("notebook_path")
        .or_else(|| detail.text_of("notebookPath"));
    if let Some(path) = notebook {
        let path = sink.path(&path);
        let content = |name: &str| {
            detail
                .get(name)
                .filter(|v| v.is_string())
                .map(|v| origin.text(v))
        };
        if let Some(before) = content("original_file") {
            sink.observe(call, &path, before);
        }
        match content("updated_file") {
            Some(after) => sink.write(call, &path, after, false),
            None => sink.touched(call, &path),
        }
        return true;
    }
    let Some(path) = detail.text_of("filePath") else {
        return false;
    };
    let path = sink.path(&path);
    let before = detail
        .get("originalFile")
        .or_else(|| detail.get("originalFileContents"))
        .filter(|v| v.is_string())
        .map(|v| origin.text(v));
    let edits: Option<Vec<Edit>> = match detail.get("edits") {
        Some(edits) => edits.items().map(|e| edit(e, origin)).collect(),
        None => edit(detail, origin).map(|e| vec![e]),
    };
    if let Some(edits) = edits {
        // An empty old text writes the whole file: then what was there before proves nothing more.
        if let [Edit::ReplaceFirst {
            old: Text::Inline(old),
            new,
            ..
        }] = edits.as_slice()
        {
            if old.is_empty() {
                sink.write(call, &path, new.clone(), false);
                return true;
            }
        }
        if let Some(before) = before {
            sink.observe(call, &path, before);
        }
        sink.change(call, &path, Change::Edits(edits), false);
        return true;
    }
    let written = matches!(detail.text_of("type").as_deref(), Some("create" | "update"));
    if let Some(content) = detail.get("content").filter(|c| written && c.is_string()) {
        if let Some(before) = before {
            sink.observe(call, &path, before);
        }
        let created = detail.text_of("type").as_deref() == Some("create");
        sink.write(call, &path, origin.text(content), created);
        return true;
    }
    // A plan shown to the user has a path too.
    detail.get("plan").is_some()
}

/// A read that shows the whole file proves its content.
pub(crate) fn full_read(file: Val<'_>, id: &Id, origin: Origin, sink: &mut Sink<'_>) {
    let int = |name: &str| file.get(name).and_then(|v| v.int());
    let whole = int("startLine") == Some(1)
        && int("numLines").is_some()
        && int("numLines") == int("totalLines");
    let content = file.get("content").filter(|c| whole && c.is_string());
    if let (Some(path), Some(content)) = (file.text_of("filePath"), content) {
        let path = sink.path(&path);
        sink.observe(id, &path, origin.text(content));
    }
}

/// A success that does not say what it did: what was asked for is plausible.
pub(crate) fn plausible(asked: Option<Asked>, call: &Id, sink: &mut Sink<'_>) {
    match asked {
        Some(Asked::Write { path, content }) => {
            let path = sink.path(&path);
            sink.change(call, &path, Change::Content(content), true);
        }
        Some(Asked::Edit { path, edits }) => {
            let path = sink.path(&path);
            sink.change(call, &path, Change::Edits(edits), true);
        }
        Some(Asked::Other) | None => {}
    }
}
