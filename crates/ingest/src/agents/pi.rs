//! The pi coding agent's sessions. v1: linear, no ids. v3: a tree by `parentId`, of which the path from the last
//! record up is the present. Edits name a unique text; `details.diff` is a picture, not a patch.
//!
//! Left out on purpose: contents from `read` (cut by a limit without a mark).

use hashbrown::HashMap;

use chipdeck_event::{Id, Json, Payload, Role, Status};

use super::clock;
use super::records::{Mapper, Record, Verdict};
use super::shell;
use super::sink::{Call, Outcome, Sink};
use super::tools::{Calls, Proof};
use crate::tape::{Origin, Val};

pub(crate) fn claims(records: &[Val<'_>]) -> bool {
    records.iter().any(|r| match r.text_of("type").as_deref() {
        Some("session") => r.get("cwd").is_some() && r.get("id").is_some(),
        Some("message") => matches!(
            r.path(&["message", "role"])
                .and_then(|m| m.str())
                .as_deref(),
            Some("toolResult" | "bashExecution")
        ),
        _ => false,
    })
}

#[derive(Default)]
pub(crate) struct Pi {
    calls: Calls,
    session: Option<Id>,
    last_message: Option<Id>,
    /// Messages by the number of their record, for compactions that keep the last ones.
    messages: Vec<(u32, Id)>,
    by_record: HashMap<Id, usize>,
    records: u32,
    /// The number of each record with an id.
    numbers: HashMap<Id, u32>,
    /// Files changed so far, by the number of the record.
    changed: Vec<(u32, Id)>,
}

const KNOWN: &[&str] = &[
    "model_change",
    "thinking_level_change",
    "branch_summary",
    "label",
    "custom",
    "custom_message",
    "session_info",
];

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:|".contains(c))
}

impl Mapper for Pi {
    fn agent(&self) -> &'static str {
        "pi"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, _hurry: bool) -> Verdict {
        let (value, origin) = (record.value, record.origin);
        let kind = value.text_of("type").unwrap_or_default();
        let id: Id = match value.text_of("id").filter(|i| is_id(i)) {
            Some(id) => id.as_ref().into(),
            None => sink.place_id(),
        };
        sink.now.timestamp = value.text_of("timestamp").and_then(|t| clock::iso(&t));
        sink.now.parent = value
            .text_of("parentId")
            .filter(|i| is_id(i))
            .map(|i| i.as_ref().into());
        let session = self.session.clone().unwrap_or_else(|| sink.name("session"));
        sink.now.trace = session;
        self.by_record.insert(id.clone(), self.messages.len());
        self.numbers.insert(id.clone(), self.records);
        self.leave_branch(&id, sink);
        match &*kind {
            "session" => {
                if let Some(cwd) = value.text_of("cwd") {
                    sink.enter(&cwd);
                }
                sink.now.trace = id.clone();
                sink.now.parent = None;
                let model = value.text_of("modelId");
                sink.session(&id, model.as_deref());
                self.session = Some(id.clone());
                let raw = sink.place_id();
                sink.raw(raw, "session");
            }
            "message" => self.message(value, id, origin, sink),
            "compaction" => self.compaction(value, id, origin, sink),
            kind if KNOWN.contains(&kind) => sink.raw(id, kind),
            kind => sink.unknown(id, if kind.is_empty() { "(none)" } else { kind }),
        }
        let changed = std::mem::take(&mut sink.changed);
        self.changed
            .extend(changed.into_iter().map(|path| (self.records, path)));
        self.records += 1;
        Verdict::Done
    }
}

impl Pi {
    /// A record whose parent is not the one before it goes back to that parent: what was changed after the parent is
    /// on another branch now, and nobody knows whether the files were put back.
    fn leave_branch(&mut self, id: &Id, sink: &mut Sink<'_>) {
        let parent = sink
            .now
            .parent
            .as_ref()
            .and_then(|p| self.numbers.get(p))
            .copied();
        let Some(parent) = parent.filter(|p| p + 1 < self.records) else {
            return;
        };
        let left = self
            .changed
            .partition_point(|(record, _)| *record <= parent);
        let mut paths: Vec<Id> = self.changed.drain(left..).map(|(_, path)| path).collect();
        paths.sort_unstable();
        paths.dedup();
        for path in paths {
            sink.touched(id, &path);
        }
    }

    fn message(&mut self, value: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let Some(message) = value.get("message") else {
            return sink.raw(id, "message");
        };
        let role = message.text_of("role").unwrap_or_default();
        let content = message.get("content");
        let texts = || {
            content.into_iter().flat_map(|c| {
                c.items()
                    .filter_map(|b| b.get("text"))
                    .chain(c.is_string().then_some(c))
            })
        };
        match &*role {
            "toolResult" => match message.text_of("toolCallId").filter(|i| is_id(i)) {
                Some(call) => {
                    let status = if message.truth("isError") {
                        Status::Error
                    } else {
                        Status::Ok
                    };
                    let told = texts().next().map(|t| origin.text(t));
                    let result = message
                        .get("details")
                        .or(content)
                        .map_or(Json::Absent, |v| origin.json(v));
                    self.calls.result(
                        &call.as_ref().into(),
                        status,
                        told,
                        result,
                        Proof::default(),
                        sink,
                    );
                }
                None => sink.raw(id, "toolResult"),
            },
            "bashExecution" => {
                // The user's own command, through the agent.
                let command = message.text_of("command").unwrap_or_default();
                let reach = shell::reach(&command, sink.shelf.cwd.as_deref(), false);
                let args = message
                    .get("command")
                    .map_or(Json::Absent, |c| origin.json(c));
                sink.call(Call {
                    id: id.clone(),
                    name: "bash (user)",
                    args,
                    reach,
                });
                let code = message.get("exitCode").and_then(|c| c.int());
                let status = if message.truth("cancelled") {
                    Status::Cancelled
                } else if code.unwrap_or(0) == 0 {
                    Status::Ok
                } else {
                    Status::Error
                };
                let told = message.get("output").map(|o| origin.text(o));
                sink.result(Outcome {
                    call: id,
                    status,
                    told,
                    result: Json::Absent,
                    duration_ms: None,
                });
            }
            "user" | "assistant" => {
                let speaker = if role == "user" {
                    Role::User
                } else {
                    Role::Assistant
                };
                let mut part = 0;
                let own = |part: &mut u32| -> Id {
                    *part += 1;
                    if *part == 1 {
                        id.clone()
                    } else {
                        format!("{id}+{part}").into()
                    }
                };
                if let Some(text) = content.filter(|c| c.is_string()) {
                    let own = own(&mut part);
                    self.said(&own);
                    sink.message(own, speaker, origin.text(text));
                }
                for block in content.into_iter().flat_map(|c| c.items()) {
                    let kind = block.text_of("type").unwrap_or_default();
                    match (&*kind, block.get("text")) {
                        ("text", Some(text)) => {
                            let own = own(&mut part);
                            self.said(&own);
                            sink.message(own, speaker, origin.text(text));
                        }
                        ("toolCall", _) => {
                            let call: Id = match block.text_of("id").filter(|i| is_id(i)) {
                                Some(call) => call.as_ref().into(),
                                None => own(&mut part),
                            };
                            let name = block.text_of("name").unwrap_or_default();
                            if let Some(args) = block.get("arguments") {
                                self.calls.call(&call, &name, args, origin, sink);
                            }
                        }
                        ("thinking" | "image", _) => sink.raw(own(&mut part), &kind),
                        (kind, _) => sink.unknown(own(&mut part), &format!("content {kind}")),
                    }
                }
                if content.is_none_or(|c| !c.is_string() && c.items().next().is_none()) {
                    sink.raw(id, "message");
                }
            }
            _ => sink.raw(id, if role.is_empty() { "message" } else { &role }),
        }
    }

    fn said(&mut self, id: &Id) {
        self.last_message = Some(id.clone());
        self.messages.push((self.records, id.clone()));
    }

    /// Everything before the first kept record is replaced.
    fn compaction(&mut self, value: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let kept = match value.text_of("firstKeptEntryId") {
            Some(kept) => self.by_record.get(&*kept).copied(),
            None => value
                .get("firstKeptEntryIndex")
                .and_then(|i| i.int())
                .map(|index| {
                    self.messages
                        .partition_point(|(record, _)| i64::from(*record) < index)
                }),
        };
        let through = match kept {
            Some(kept) => kept
                .checked_sub(1)
                .and_then(|last| self.messages.get(last))
                .map(|(_, id)| id.clone()),
            None => self.last_message.clone(),
        };
        let summary = value.get("summary").filter(|s| s.is_string());
        match (through, summary) {
            (Some(through), Some(summary)) => {
                let tokens_before = value.get("tokensBefore").and_then(|t| t.int());
                sink.put(
                    id,
                    Payload::ContextCompact {
                        through,
                        summary: origin.text(summary),
                        tokens_before,
                        tokens_after: None,
                    },
                );
            }
            _ => sink.raw(id, "compaction"),
        }
    }
}
