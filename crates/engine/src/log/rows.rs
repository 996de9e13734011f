//! One line for each entry: what kind, when, where, and a summary for people.

use super::look::Look;
use super::text::{cut, head, json_head, one_line};
use crate::api::{EntryRow, Page, RowSays};
use chipdeck_event::{Change, Decision, Entry, Json, Located, Payload, Session, Status, Text};
use serde_json::Value;

/// Characters of a summary.
pub const SUMMARY: usize = 200;
/// Bytes that are read of a text to make its summary.
const ENOUGH: usize = 1_000;
/// Arguments up to this size are parsed for the one that says most.
const ARGS: usize = 64 << 10;

/// Arguments that say best what a call is about, best first.
const TELLING: [&str; 22] = [
    "file_path",
    "filePath",
    "path",
    "file",
    "filename",
    "target_file",
    "notebook_path",
    "command",
    "cmd",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
    "id",
    "chip_id",
    "name",
    "task",
    "text",
    "message",
    "content",
    "input",
];

impl Look<'_> {
    pub fn row(&self, index: u32) -> Option<EntryRow> {
        let located = self.timeline.entry(index)?;
        let (kind, session, timestamp, event_id, trace) = match &located.entry {
            Entry::Event(event) => {
                let envelope = &event.envelope;
                (
                    envelope.type_name.to_string(),
                    Some(session_name(envelope.session).to_owned()),
                    envelope.timestamp,
                    Some(envelope.shown().to_string()),
                    Some(envelope.trace_id.to_string()).filter(|it| !it.is_empty()),
                )
            }
            Entry::Opaque(opaque) => ("opaque".to_owned(), None, opaque.timestamp, None, None),
        };
        Some(EntryRow {
            index: u64::from(index),
            event_id,
            kind,
            session,
            timestamp,
            trace_id: trace,
            summary: one_line(&self.summary(index, located), SUMMARY),
            says: self.says(index, located),
            finding: self.findings.worst(index).map(|it| it.as_str().to_owned()),
            place: self.place(located),
        })
    }

    /// `file:line` in the log.
    pub fn place(&self, located: &Located) -> String {
        format!(
            "{}:{}",
            self.source.name(located.place.file),
            located.place.line
        )
    }

    pub fn entries(&self, offset: u64, limit: u64) -> Page<EntryRow> {
        let (skip, take) = super::window(offset, limit);
        let last = self.timeline.len();
        let first = u32::try_from(skip).unwrap_or(u32::MAX).saturating_add(1);
        let end = first
            .saturating_add(u32::try_from(take).unwrap_or(u32::MAX).saturating_sub(1))
            .min(last);
        let rows = if take == 0 {
            Vec::new()
        } else {
            (first..=end).filter_map(|index| self.row(index)).collect()
        };
        Page {
            offset,
            total: u64::from(last),
            rows,
        }
    }

    /// The tool of a call, or of the call that a result belongs to.
    pub fn tool_name(&self, index: u32) -> Option<&str> {
        match &self.timeline.entry(index)?.entry.event()?.payload {
            Payload::ToolCall { tool_name, .. } => Some(tool_name),
            Payload::ToolResult { .. }
            | Payload::MessageToolResult { .. }
            | Payload::MessageCorrection { .. } => {
                let call = self.call_of(index)?;
                match &self.timeline.entry(call)?.entry.event()?.payload {
                    Payload::ToolCall { tool_name, .. } => Some(tool_name),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The call that an entry is about: of a result, or of the dialogue's copy of one.
    pub fn call_of(&self, index: u32) -> Option<u32> {
        match &self.timeline.entry(index)?.entry.event()?.payload {
            Payload::ToolResult { .. } => self.timeline.counterpart(index),
            Payload::MessageToolResult { call, .. } | Payload::MessageCorrection { call, .. } => {
                self.timeline.index_of_event(call)
            }
            _ => None,
        }
    }

    fn text(&self, text: &Text) -> String {
        head(text, self.source, ENOUGH)
            .map_or_else(|| "(its content is missing)".to_owned(), |(text, _)| text)
    }

    fn summary(&self, index: u32, located: &Located) -> String {
        let event = match &located.entry {
            Entry::Event(event) => event,
            Entry::Opaque(opaque) => return opaque.message.clone(),
        };
        let lines = |text: &Text| match head(text, self.source, 1 << 20) {
            Some((text, false)) => format!(", {}", counted(text.lines().count(), "line")),
            _ => String::new(),
        };
        match &event.payload {
            Payload::SessionStart { cwd, agent, model } => {
                let parts = [agent, model, cwd];
                parts
                    .into_iter()
                    .flatten()
                    .map(|it| it.as_ref())
                    .collect::<Vec<_>>()
                    .join(" · ")
            }
            Payload::SessionEnd { reason } => {
                reason.as_deref().unwrap_or("the session ended").to_owned()
            }
            Payload::Message { content, .. } => self.text(content),
            Payload::MessageToolResult {
                status, content, ..
            } => {
                let tool = self
                    .tool_name(index)
                    .map(|it| format!("{it} "))
                    .unwrap_or_default();
                let said = content
                    .as_ref()
                    .map(|it| format!(": {}", self.text(it)))
                    .unwrap_or_default();
                format!("{tool}{}{said}", status.as_str())
            }
            Payload::MessageCorrection {
                corrects, status, ..
            } => {
                format!("corrects {corrects}: {}", status.as_str())
            }
            Payload::ContextCompact {
                summary,
                tokens_before,
                tokens_after,
                ..
            } => {
                let tokens = match (tokens_before, tokens_after) {
                    (Some(before), Some(after)) => format!("{before} → {after} tokens: "),
                    _ => String::new(),
                };
                format!("{tokens}{}", self.text(summary))
            }
            Payload::ToolCall {
                tool_name, args, ..
            } => match self.terminal_input(tool_name, args) {
                Some(told) => format!("{tool_name} {told}"),
                None => format!("{tool_name} {}", self.arguments(args)),
            },
            Payload::ToolResult {
                status,
                result,
                error,
                duration_ms,
                ..
            } => {
                let tool = self
                    .tool_name(index)
                    .map(|it| format!("{it} "))
                    .unwrap_or_default();
                let took = duration_ms
                    .map(|ms| format!(", {ms} ms"))
                    .unwrap_or_default();
                let says = if *status == Status::Ok { result } else { error };
                let says = self
                    .value(says)
                    .map(|it| format!(": {it}"))
                    .unwrap_or_default();
                format!("{tool}{}{took}{says}", status.as_str())
            }
            Payload::FileCreate { path, content } => format!("{path}{}", lines(content)),
            Payload::FileChange { path, change, .. } => match change {
                Change::Content(content) => format!("{path}{}", lines(content)),
                Change::Edits(edits) => format!("{path}, {}", counted(edits.len(), "edit")),
                Change::Patch(_) | Change::Chunks(_) => format!("{path}, a patch"),
            },
            Payload::FileDelete { path } => path.to_string(),
            Payload::FileRename { from, to } => format!("{from} → {to}"),
            Payload::FileObserve { path, content, .. } => {
                format!(
                    "{path}{}",
                    if content.is_some() {
                        ", seen whole"
                    } else {
                        ", seen"
                    }
                )
            }
            Payload::ChipSave { id, chip } => {
                let tool = self
                    .parsed(chip)
                    .and_then(|it| it.get("tool")?.as_str().map(str::to_owned));
                format!("{id} {}", tool.unwrap_or_default())
            }
            Payload::ChipEvict { id, reason } => {
                format!("{id} {}", reason.as_deref().unwrap_or_default())
            }
            Payload::ChipInsert { id, path, line } => format!("{id} → {path}:{line}"),
            Payload::MemoryAdd {
                id, zone, content, ..
            } => {
                format!("{id} into {}: {}", zone_name(*zone), self.text(content))
            }
            Payload::MemoryMove { id, to, .. } => format!("{id} to {}", zone_name(*to)),
            Payload::MemoryRemove { id } | Payload::MemoryRestore { id } => id.to_string(),
            Payload::PlanCreate { plan, task, .. } => format!("{plan}: {}", self.text(task)),
            Payload::PlanReview { plan, decision } => format!("{plan} {decision:?}").to_lowercase(),
            Payload::ContextLoad { plan, tokens } => {
                let plan = plan
                    .as_deref()
                    .map(|it| format!("{it}: "))
                    .unwrap_or_default();
                format!("{plan}{tokens} tokens")
            }
            Payload::StateSnapshot { contents, .. } => {
                format!("the whole state, {}", counted(contents.len(), "file"))
            }
            Payload::RestoreApply {
                restore,
                kind,
                path,
                undo_of,
            } => match undo_of {
                Some(undone) => format!("{path}: undo of {undone}"),
                None => format!("{path}: {kind} {restore}"),
            },
            Payload::Unknown | Payload::Bad => {
                let place = located.place;
                let len = usize::try_from(place.len)
                    .unwrap_or(usize::MAX)
                    .min(16 << 10);
                let bytes = self
                    .source
                    .read_at(place.file, place.offset, len)
                    .unwrap_or_default();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                // A record of another agent: its words rather than its envelope.
                if let Some(words) = chipdeck_ingest::telling(&text) {
                    return words;
                }
                let text = cut(&text, ENOUGH);
                // What differs between such lines is rarely in the envelope.
                match text.find("\"payload\"") {
                    Some(at) => text
                        .get(at + 9..)
                        .unwrap_or_default()
                        .trim_start_matches([':', ' '])
                        .to_owned(),
                    None => text.to_owned(),
                }
            }
        }
    }

    /// The summary in parts, where words of ours are in it.
    fn says(&self, index: u32, located: &Located) -> Option<RowSays> {
        let event = located.entry.event()?;
        let lines = |text: &Text| match head(text, self.source, 1 << 20) {
            Some((text, false)) => Some(text.lines().count() as u64),
            _ => None,
        };
        let cut = |text: String| one_line(&text, SUMMARY);
        let tool = || self.tool_name(index).unwrap_or_default().to_owned();
        Some(match &event.payload {
            Payload::SessionEnd { reason: None } => RowSays::SessionEnded,
            Payload::MessageToolResult {
                status, content, ..
            } => RowSays::Outcome {
                tool: tool(),
                status: status.as_str().to_owned(),
                ms: None,
                text: cut(content.as_ref().map(|it| self.text(it)).unwrap_or_default()),
            },
            Payload::ToolResult {
                status,
                result,
                error,
                duration_ms,
                ..
            } => RowSays::Outcome {
                tool: tool(),
                status: status.as_str().to_owned(),
                ms: *duration_ms,
                text: cut(self
                    .value(if *status == Status::Ok { result } else { error })
                    .unwrap_or_default()),
            },
            Payload::MessageCorrection {
                corrects, status, ..
            } => RowSays::Corrects {
                id: corrects.to_string(),
                status: status.as_str().to_owned(),
            },
            Payload::FileCreate { path, content }
            | Payload::FileChange {
                path,
                change: Change::Content(content),
                ..
            } => RowSays::Lines {
                path: path.to_string(),
                count: lines(content)?,
            },
            Payload::FileChange {
                path,
                change: Change::Edits(edits),
                ..
            } => RowSays::Edits {
                path: path.to_string(),
                count: edits.len() as u64,
            },
            Payload::FileChange { path, .. } => RowSays::Patch {
                path: path.to_string(),
            },
            Payload::FileObserve { path, content, .. } => RowSays::Seen {
                path: path.to_string(),
                whole: content.is_some(),
            },
            Payload::MemoryAdd {
                id, zone, content, ..
            } => RowSays::IntoZone {
                id: id.to_string(),
                zone: zone_name(*zone).to_owned(),
                text: cut(self.text(content)),
            },
            Payload::MemoryMove { id, to, .. } => RowSays::ToZone {
                id: id.to_string(),
                zone: zone_name(*to).to_owned(),
            },
            Payload::PlanReview { plan, decision } => RowSays::Reviewed {
                plan: plan.to_string(),
                approved: *decision == Decision::Approved,
            },
            Payload::ContextLoad { plan, tokens } => RowSays::Tokens {
                plan: plan.as_deref().unwrap_or_default().to_owned(),
                count: *tokens,
            },
            Payload::StateSnapshot { contents, .. } => RowSays::WholeState {
                files: contents.len() as u64,
            },
            Payload::RestoreApply {
                path,
                undo_of: Some(undone),
                ..
            } => RowSays::UndoOf {
                path: path.to_string(),
                restore: undone.to_string(),
            },
            _ => return None,
        })
    }

    /// What a call is about: its most telling argument, else all of them.
    fn arguments(&self, args: &Json) -> String {
        let start = json_head(args, self.source, ARGS);
        if let Some(told) = start.and_then(|start| chipdeck_ingest::asks(&start)) {
            return cut(&told, ENOUGH).to_owned();
        }
        let Some(Value::Object(object)) = self.parsed(args) else {
            return self.value(args).unwrap_or_default();
        };
        let told = TELLING.iter().find_map(|key| match object.get(*key)? {
            Value::String(text) if !text.is_empty() => Some(cut(text, ENOUGH).to_owned()),
            Value::Array(words) => Some(
                words
                    .iter()
                    .filter_map(Value::as_str)
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
            _ => None,
        });
        told.unwrap_or_else(|| {
            object
                .iter()
                .take(8)
                .map(|(key, value)| format!("{key}={}", brief(value)))
                .collect::<Vec<_>>()
                .join(" ")
        })
    }

    /// What Codex' call that writes to a running command does.
    fn terminal_input(&self, tool: &str, args: &Json) -> Option<String> {
        if tool != "write_stdin" {
            return None;
        }
        let args = self.parsed(args)?;
        let session = brief(args.get("session_id")?);
        let chars = args.get("chars").and_then(Value::as_str);
        Some(match chars.filter(|chars| !chars.is_empty()) {
            None => format!("waits for session {session}"),
            Some(chars) => {
                let shown = cut(chars, ENOUGH).escape_debug();
                format!("sends {shown} to session {session}")
            }
        })
    }

    fn parsed(&self, json: &Json) -> Option<Value> {
        serde_json::from_str(&json_head(json, self.source, ARGS)?).ok()
    }

    /// A JSON value in words; a text without its quotes.
    fn value(&self, json: &Json) -> Option<String> {
        let text = json_head(json, self.source, ARGS)?;
        match serde_json::from_str::<Value>(&text) {
            Ok(Value::Null) => None,
            // An object that was given as a text.
            Ok(Value::String(text)) if text.starts_with("{\"output\":") => {
                let inner = serde_json::from_str::<Value>(&text);
                Some(brief(&inner.unwrap_or(Value::String(text))))
            }
            Ok(value) => Some(brief(&value)),
            Err(_) => Some(cut(&text, ENOUGH).to_owned()),
        }
    }
}

fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => cut(text, ENOUGH).to_owned(),
        Value::Object(object) => {
            let told = ["message", "error", "stdout", "output", "text", "content"];
            let told = told.iter().find_map(|key| {
                object
                    .get(*key)?
                    .as_str()
                    .filter(|it| !it.trim().is_empty())
            });
            told.map_or_else(
                || cut(&value.to_string(), ENOUGH).to_owned(),
                |it| cut(it, ENOUGH).to_owned(),
            )
        }
        other => cut(&other.to_string(), ENOUGH).to_owned(),
    }
}

fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

pub fn session_name(session: Session) -> &'static str {
    match session {
        Session::Dialog => "dialog",
        Session::Exec => "exec",
    }
}

fn zone_name(zone: chipdeck_event::Zone) -> &'static str {
    match zone {
        chipdeck_event::Zone::Hot => "hot",
        chipdeck_event::Zone::Warm => "warm",
        chipdeck_event::Zone::Cold => "cold",
    }
}

/// The status that an entry states.
pub fn status_of(payload: &Payload) -> Option<Status> {
    match payload {
        Payload::ToolResult { status, .. }
        | Payload::MessageToolResult { status, .. }
        | Payload::MessageCorrection { status, .. } => Some(*status),
        _ => None,
    }
}
