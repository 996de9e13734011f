//! SWE-agent trajectories (`.traj`): one document, no times. An action is a line of its own language or of bash; a
//! refused edit shows only in the observation.
//!
//! What files are after a step cannot be told, but for `str_replace_editor create`: other edits mark their file.

use chipdeck_event::{Id, Json, Reach, Role, Status, Text};

use super::document::Document;
use super::shell;
use super::sink::{Call, Outcome, Sink};
use crate::source::Source;
use crate::tape::{Origin, Tape, Val};

pub(crate) fn claims(root: Val<'_>) -> bool {
    let step = root.get("trajectory").and_then(|t| t.items().next());
    let steps = step.is_some_and(|s| s.get("action").is_some() && s.get("observation").is_some());
    let history = || {
        root.get("history").is_some_and(|h| {
            h.items().any(|m| {
                m.get("role").is_some()
                    && (m.get("agent").is_some()
                        || m.get("message_type").is_some()
                        || m.get("tool_calls").is_some())
            })
        })
    };
    steps || history()
}

#[derive(Default)]
pub(crate) struct SweAgent;

impl Document for SweAgent {
    fn agent(&self) -> &'static str {
        "swe-agent"
    }

    fn json(&mut self, root: Val<'_>, sink: &mut Sink<'_>, _source: &dyn Source) {
        let origin = sink.origin;
        sink.now.trace = sink.name("main");
        let steps: Vec<Val<'_>> = root
            .get("trajectory")
            .into_iter()
            .flat_map(|t| t.items())
            .collect();
        if let Some(cwd) = steps.first().and_then(|s| state(*s)).map(|(_, cwd)| cwd) {
            sink.enter(&cwd);
        }
        sink.session("main", None);
        // The task; the rest of the history is the steps again.
        let history = || root.get("history").into_iter().flat_map(|h| h.items());
        for (index, message) in history().enumerate() {
            let role = match message.text_of("role").as_deref() {
                Some("system") => Role::System,
                Some("user") if steps.is_empty() || index < 3 => Role::User,
                Some("assistant") if steps.is_empty() => Role::Assistant,
                Some("tool") if steps.is_empty() => Role::System,
                _ => continue,
            };
            if message.truth("is_demo") {
                continue;
            }
            sink.at(message);
            let content = message
                .get("content")
                .and_then(|c| c.items().find_map(|i| i.get("text")).or(Some(c)));
            let id: Id = format!("history:{index}").into();
            match content.filter(|c| c.is_string()) {
                Some(text) => sink.message(id, role, origin.text(text)),
                None => sink.raw(id, "message"),
            }
        }
        for (index, step) in steps.into_iter().enumerate() {
            sink.at(step);
            one(step, index, origin, sink);
        }
        if let Some(info) = root.get("info") {
            sink.at(info);
            let id = sink.place_id();
            sink.raw(id, "info");
        }
    }
}

/// (open file, working folder) after a step: an object, or JSON in a string.
fn state(step: Val<'_>) -> Option<(Option<String>, String)> {
    let state = step.get("state")?;
    let pick = |state: Val<'_>| {
        let open = state
            .text_of("open_file")
            .filter(|o| o != "n/a" && !o.is_empty())
            .map(|o| o.into_owned());
        Some((open, state.text_of("working_dir")?.into_owned()))
    };
    match state.str() {
        Some(text) => {
            let mut tape = Tape::default();
            tape.read(&text).ok()?;
            pick(tape.root(&text))
        }
        None => pick(state),
    }
}

fn one(step: Val<'_>, index: usize, origin: Origin, sink: &mut Sink<'_>) {
    let said = step
        .get("thought")
        .or_else(|| step.get("response"))
        .filter(|t| t.is_string() && t.raw().len() > 2);
    if let Some(said) = said {
        sink.message(
            format!("step:{index}").into(),
            Role::Assistant,
            origin.text(said),
        );
    }
    let action = step.text_of("action").unwrap_or_default();
    let observation = step.get("observation");
    let seen = observation.and_then(|o| o.str()).unwrap_or_default();
    let call: Id = format!("step:{index}:call").into();
    let words = shell::split(&action)
        .into_iter()
        .next()
        .map(|c| c.words)
        .unwrap_or_default();
    let name = words.first().map_or("bash", String::as_str).to_string();
    let open = state(step).and_then(|(open, _)| open);
    let act = act(&name, &words, &action, open.as_deref());
    let quiet = [
        "open",
        "goto",
        "scroll_up",
        "scroll_down",
        "find_file",
        "search_file",
        "search_dir",
        "submit",
        "exit",
        "view",
        "str_replace_editor",
    ];
    let reach = match &act {
        Some(_) => Reach::None,
        None if quiet.contains(&name.as_str()) => Reach::None,
        None => shell::reach(&action, sink.shelf.cwd.as_deref(), false),
    };
    let args = step.get("action").map_or(Json::Absent, |a| origin.json(a));
    sink.call(Call {
        id: call.clone(),
        name: &name,
        args,
        reach,
    });
    let refused = seen.contains("Your proposed edit has introduced new syntax error")
        || seen.contains("No replacement was performed")
        || seen.contains("EDIT FAILED")
        || seen.contains("bash command contained syntax errors and was NOT executed")
        || (act.is_some()
            && (seen.starts_with("Error")
                || seen.starts_with("Text not found")
                || seen.starts_with("usage:")));
    let status = if refused { Status::Error } else { Status::Ok };
    let seconds = step.get("execution_time").and_then(|t| t.float());
    sink.result(Outcome {
        call: call.clone(),
        status,
        told: observation.map(|o| origin.text(o)),
        result: Json::Absent,
        duration_ms: seconds.map(|s| (s * 1000.0) as i64),
    });
    if status == Status::Ok {
        match act {
            Some(Act::Create { path, content }) => {
                let path = sink.path(&path);
                sink.write(&call, &path, Text::inline(content), true);
            }
            Some(Act::Touch { path }) => {
                let path = sink.path(&path);
                sink.touched(&call, &path);
            }
            None => {}
        }
    }
    if let Some((_, cwd)) = state(step) {
        sink.enter(&cwd);
    }
}

enum Act {
    Create { path: String, content: String },
    Touch { path: String },
}

fn act(name: &str, words: &[String], action: &str, open: Option<&str>) -> Option<Act> {
    match name {
        "str_replace_editor" => {
            let path = words.get(2)?.clone();
            match words.get(1)?.as_str() {
                "create" => {
                    let at = words.iter().position(|w| w == "--file_text")?;
                    Some(Act::Create {
                        path,
                        content: words.get(at + 1)?.clone(),
                    })
                }
                "view" => None,
                _ => Some(Act::Touch { path }),
            }
        }
        "create" => Some(Act::Touch {
            path: words.get(1)?.clone(),
        }),
        "edit" | "insert" | "append" => {
            let named = words
                .get(1)
                .filter(|w| w.contains('/') && !action.contains('\n'));
            Some(Act::Touch {
                path: named.cloned().or_else(|| open.map(str::to_string))?,
            })
        }
        _ => None,
    }
}
