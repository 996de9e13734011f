//! Events of agents' logs as canonical ones. Ids stay. What only an agent's log says is told by what it did: an edit
//! by the agent's own rules becomes the edit, or the whole content, that gives the same file; what a shell command
//! may have changed becomes a change whose hash does not hold, which is how the format says *unverified*.
//!
//! Left out: records that are no event stay as they were, inside an event that folds as nothing.

use crate::lines::{place, Line};
use crate::Log;
use chipdeck_event::*;
use chipdeck_ingest::{load_json, load_record, load_text};
use chipdeck_replay::{apply_change, Certainty, FileState, State};
use serde_json::{json, Map, Value};

/// Stands for a hash that nothing has: the format's sign of an unverified content.
const UNVERIFIED: &str = "unverified";

pub(crate) fn lines(log: &Log<'_>, index: u32, located: &Located) -> Vec<Line> {
    let event = match &located.entry {
        Entry::Event(event) => event,
        Entry::Opaque(_) => return vec![foreign(log, index, located, None)],
    };
    let it = Convert {
        log,
        before: log.timeline.state_at(index - 1),
        after: log.timeline.state_at(index),
    };
    let mut out: Vec<(String, String, Value)> = Vec::new();
    let own = event.envelope.event_id.to_string();
    match it.payload(event) {
        Some((name, payload)) => out.push((own.clone(), name, payload)),
        None => return vec![foreign(log, index, located, Some(event))],
    }
    out.extend(it.beside(event, &own));
    let line = |(id, name, payload): (String, String, Value)| {
        let mut line = place(log, index, located);
        line.json = envelope(log, index, event, &id, &name, payload).to_string();
        line.event_id = id;
        line
    };
    out.into_iter().map(line).collect()
}

fn envelope(
    log: &Log<'_>,
    index: u32,
    event: &Event,
    id: &str,
    name: &str,
    payload: Value,
) -> Value {
    let envelope = &event.envelope;
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
    put("eventId", id.into());
    put("traceId", (*envelope.trace_id).into());
    if let Some(parent) = &envelope.parent {
        put("parentEventId", (**parent).into());
    }
    if let Some(correlation) = &envelope.correlation {
        put("correlationId", (**correlation).into());
    }
    let session = match envelope.session {
        Session::Dialog => "dialog",
        Session::Exec => "exec",
    };
    put("session", session.into());
    put("type", name.into());
    let time = envelope.timestamp.or_else(|| log.timeline.clock(index));
    put("timestamp", time.unwrap_or(0).into());
    put("payload", payload);
    Value::Object(out)
}

/// A record that is no event here, kept as it was written.
fn foreign(log: &Log<'_>, index: u32, located: &Located, event: Option<&Event>) -> Line {
    let mut line = place(log, index, located);
    let raw = load_record(located.place, log.source);
    let raw = String::from_utf8_lossy(&raw);
    let record = serde_json::from_str(&raw).unwrap_or_else(|_| Value::from(&*raw));
    let payload = json!({ "record": record });
    line.opaque = false;
    let value = match event {
        Some(event) => envelope(log, index, event, &line.event_id, "foreign.record", payload),
        None => {
            line.event_id = format!("record-{}-{}", located.place.file, located.place.offset);
            json!({
                "eventId": line.event_id, "traceId": "records", "type": "foreign.record",
                "timestamp": log.timeline.clock(index).unwrap_or(0), "payload": payload,
            })
        }
    };
    line.json = value.to_string();
    line
}

struct Convert<'a> {
    log: &'a Log<'a>,
    before: State,
    after: State,
}

type Made = Option<(String, Value)>;

impl Convert<'_> {
    fn text(&self, text: &Text) -> String {
        let loaded = load_text(text, self.log.source);
        loaded.map_or_else(String::new, |text| text.to_string())
    }

    fn json(&self, json: &Json) -> Option<Value> {
        let text = load_json(json, self.log.source)?;
        Some(serde_json::from_str(&text).unwrap_or_else(|_| Value::from(&*text)))
    }

    fn file(&self, state: &State, path: &str) -> Option<FileState> {
        self.log.timeline.file(state, path)
    }

    fn content(&self, file: Option<FileState>) -> Option<std::sync::Arc<str>> {
        self.log.timeline.content(file?.content?, self.log.source)
    }

    /// `None`: it did nothing that the format has an event for.
    fn payload(&self, event: &Event) -> Made {
        let name = |name: &str| name.to_owned();
        Some(match &event.payload {
            Payload::SessionStart { cwd, agent, model } => (
                name("session.start"),
                object([("cwd", cwd), ("agent", agent), ("model", model)]),
            ),
            Payload::SessionEnd { reason } => (name("session.end"), object([("reason", reason)])),
            Payload::Message { role, content } => {
                let role = match role {
                    Role::User => "message.user",
                    Role::Assistant => "message.assistant",
                    Role::System => "message.system",
                };
                (name(role), json!({ "content": self.text(content) }))
            }
            Payload::MessageToolResult {
                call,
                status,
                content,
            } => {
                let mut out = json!({"callId": **call, "status": status.as_str()});
                put(
                    &mut out,
                    "content",
                    content.as_ref().map(|it| self.text(it)),
                );
                (name("message.toolResult"), out)
            }
            Payload::MessageCorrection {
                corrects,
                call,
                status,
                content,
            } => {
                let mut out =
                    json!({"corrects": **corrects, "callId": **call, "status": status.as_str()});
                put(
                    &mut out,
                    "content",
                    content.as_ref().map(|it| self.text(it)),
                );
                (name("message.correction"), out)
            }
            Payload::ContextCompact {
                through,
                summary,
                tokens_before,
                tokens_after,
            } => {
                let mut out = json!({"through": **through, "summary": self.text(summary)});
                put(&mut out, "tokensBefore", *tokens_before);
                put(&mut out, "tokensAfter", *tokens_after);
                (name("context.compact"), out)
            }
            Payload::ToolCall {
                tool_name, args, ..
            } => {
                let args = self.json(args).unwrap_or_else(|| json!({}));
                (
                    name("tool.call"),
                    json!({"toolName": **tool_name, "args": args}),
                )
            }
            Payload::ToolResult {
                call,
                status,
                result,
                error,
                duration_ms,
            } => {
                let mut out = json!({"status": status.as_str()});
                put(&mut out, "callId", call.as_deref().map(str::to_owned));
                put(&mut out, "result", self.json(result));
                put(&mut out, "error", self.json(error));
                put(&mut out, "durationMs", *duration_ms);
                (name("tool.result"), out)
            }
            Payload::FileCreate { path, .. }
            | Payload::FileDelete { path }
            | Payload::FileObserve { path, .. } => return self.whole(path, &event.payload),
            Payload::FileChange { path, change, .. } => {
                return self
                    .edited(path, change)
                    .or_else(|| self.whole(path, &event.payload));
            }
            Payload::FileRename { from, to } => return self.renamed(from, to),
            _ => return None,
        })
    }

    /// What the file is after the event, told in full.
    fn whole(&self, path: &str, payload: &Payload) -> Made {
        let (before, after) = (self.file(&self.before, path), self.file(&self.after, path)?);
        if before == Some(after) {
            return None;
        }
        if !after.exists {
            return Some(("file.delete".to_owned(), json!({ "path": path })));
        }
        let Some(text) = self.content(Some(after)) else {
            return Some((
                "file.observe".to_owned(),
                json!({"path": path, "sha256": "unknown"}),
            ));
        };
        let fresh =
            before.is_none_or(|it| !it.exists) && matches!(payload, Payload::FileCreate { .. });
        let exact = after.certainty == Certainty::Exact;
        Some(match payload {
            _ if !exact => (
                "file.change".to_owned(),
                json!({"path": path, "content": *text, "afterSha256": UNVERIFIED}),
            ),
            Payload::FileObserve { .. } => (
                "file.observe".to_owned(),
                json!({"path": path, "content": *text}),
            ),
            _ if fresh => (
                "file.create".to_owned(),
                json!({"path": path, "content": *text}),
            ),
            _ => (
                "file.change".to_owned(),
                json!({"path": path, "content": *text}),
            ),
        })
    }

    /// The edit itself, where the format's own rules give the same file by it.
    fn edited(&self, path: &str, change: &Change) -> Made {
        let (before, after) = (self.file(&self.before, path), self.file(&self.after, path)?);
        let Change::Edits(edits) = change else {
            return None;
        };
        let edits: Vec<Edit> = edits.iter().map(|it| plain(it.clone())).collect();
        let written: Vec<Value> = edits.iter().map(|it| self.edit(it)).collect();
        let mut out = json!({"path": path, "edits": written});
        match (self.content(before), self.content(Some(after))) {
            (Some(old), Some(new)) => {
                let load = |text: &Text| load_text(text, self.log.source);
                let given = apply_change(&old, &Change::Edits(edits), &load).ok()?;
                if given != new {
                    return None;
                }
                let was = before.map(|it| it.certainty);
                match (was, after.certainty) {
                    (Some(Certainty::Exact), Certainty::Exact)
                    | (Some(Certainty::Unverified), Certainty::Unverified) => {}
                    (_, Certainty::Unverified) => put(&mut out, "afterSha256", Some(UNVERIFIED)),
                    _ => return None,
                }
            }
            // Only the hunk is known.
            (None, None) if after.exists && before.is_none_or(|it| it.exists) => {}
            _ => return None,
        }
        Some(("file.change".to_owned(), out))
    }

    fn edit(&self, edit: &Edit) -> Value {
        match edit {
            Edit::Replace { old, new, all } | Edit::ReplaceFirst { old, new, all } => {
                let mut out = json!({"old": self.text(old), "new": self.text(new)});
                put(&mut out, "all", all.then_some(true));
                out
            }
            Edit::Lines {
                start,
                end,
                content,
            } => json!({"startLine": start, "endLine": end, "content": self.text(content)}),
        }
    }

    fn renamed(&self, from: &str, to: &str) -> Made {
        let after = self.file(&self.after, to)?;
        if self.file(&self.before, to) == Some(after) {
            return None;
        }
        let was = self.file(&self.before, from);
        let same =
            was.is_some_and(|it| it.content == after.content && it.certainty == after.certainty);
        match same {
            true => Some(("file.rename".to_owned(), json!({"from": from, "to": to}))),
            false => self.whole(to, &Payload::Unknown),
        }
    }

    /// Changes that the event brought beside its own: what a shell command may have touched, the other side of a
    /// rename that is told in full.
    fn beside(&self, event: &Event, own: &str) -> Vec<(String, String, Value)> {
        let changed: Vec<String> = match &event.payload {
            Payload::ToolCall { .. } | Payload::ToolResult { .. } => {
                let timeline = self.log.timeline;
                let files = timeline.files(&self.after).into_iter();
                files
                    .filter(|(path, file)| self.file(&self.before, path) != Some(*file))
                    .map(|(path, _)| path.to_string())
                    .collect()
            }
            Payload::FileRename { from, .. } => match self.payload(event) {
                Some((name, _)) if name != "file.rename" => vec![from.to_string()],
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let made = changed.into_iter().enumerate().filter_map(|(at, path)| {
            let (name, payload) = self.whole(&path, &Payload::Unknown)?;
            Some((format!("{own}.{}", at + 1), name, payload))
        });
        made.collect()
    }
}

/// An edit by an agent's rule as one by the format's; whether it gives the same is looked at afterwards.
fn plain(edit: Edit) -> Edit {
    match edit {
        Edit::ReplaceFirst { old, new, all } => Edit::Replace { old, new, all },
        other => other,
    }
}

fn put(out: &mut Value, key: &str, value: Option<impl Into<Value>>) {
    if let (Some(object), Some(value)) = (out.as_object_mut(), value) {
        object.insert(key.to_owned(), value.into());
    }
}

fn object<const N: usize>(members: [(&str, &Option<Box<str>>); N]) -> Value {
    let there = members
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value.as_deref()?.into())));
    Value::Object(there.collect())
}
