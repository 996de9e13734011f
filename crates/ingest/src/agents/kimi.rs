//! Kimi CLI / Kimi Code: `wire.jsonl` of one agent. Tool ids ("Write_6") are unique only inside one file; prompts
//! appear twice, of which the context's is taken; times go back (turns are stamped on arrival).

use chipdeck_event::{Id, Json, Payload, Role, Status};

use super::clock;
use super::records::{Mapper, Record, Verdict};
use super::sink::Sink;
use super::tools::{Calls, Proof};
use crate::tape::{Origin, Val};

pub(crate) fn claims(records: &[Val<'_>]) -> bool {
    records.iter().any(|r| {
        let kind = r.text_of("type").unwrap_or_default();
        (kind == "metadata" && r.get("protocol_version").is_some())
            || (kind.starts_with("context.append_") && r.get("time").is_some())
    })
}

const KNOWN: &[&str] = &[
    "metadata",
    "config.update",
    "tools.set_active_tools",
    "turn.prompt",
    "turn.steer",
    "turn.cancel",
    "turn.ended",
    "llm.request",
    "llm.tools_snapshot",
    "usage.record",
    "permission.record_approval_result",
    "plan_mode.enter",
    "plan_mode.exit",
    "full_compaction.begin",
    "full_compaction.complete",
    "full_compaction.cancel",
    "permission.set_mode",
    "goal.update",
    "context.clear",
    "context.undo",
    "skill.load",
];

#[derive(Default)]
pub(crate) struct Kimi {
    calls: Calls,
    last_message: Option<Id>,
}

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

impl Mapper for Kimi {
    fn agent(&self) -> &'static str {
        "kimi"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, _hurry: bool) -> Verdict {
        let (value, origin) = (record.value, record.origin);
        let kind = value.text_of("type").unwrap_or_default();
        sink.now.timestamp = value
            .get("time")
            .or_else(|| value.get("created_at"))
            .and_then(|t| t.float())
            .and_then(clock::number);
        // The folder of the agent in the session's folder is the lane.
        let lane = sink
            .file_name
            .rsplit('/')
            .nth(1)
            .filter(|l| is_id(l))
            .unwrap_or("main")
            .to_string();
        sink.now.trace = sink.name(&lane);
        if let Some(cwd) = value
            .text_of("cwd")
            .or_else(|| value.path(&["event", "display", "cwd"])?.str())
        {
            sink.enter(&cwd);
        }
        sink.session(&lane, None);
        let id = sink.place_id();
        match &*kind {
            "context.append_message" => self.message(value, id, origin, sink),
            "context.append_loop_event" => self.step(value, id, origin, sink),
            "context.apply_compaction" => {
                let summary = value.get("summary").filter(|s| s.is_string());
                match (self.last_message.clone(), summary) {
                    (Some(through), Some(summary)) => {
                        self.last_message = Some(id.clone());
                        let tokens = |name: &str| value.get(name).and_then(|t| t.int());
                        let (tokens_before, tokens_after) =
                            (tokens("tokensBefore"), tokens("tokensAfter"));
                        sink.put(
                            id,
                            Payload::ContextCompact {
                                through,
                                summary: origin.text(summary),
                                tokens_before,
                                tokens_after,
                            },
                        );
                    }
                    _ => sink.raw(id, &kind),
                }
            }
            kind if KNOWN.contains(&kind) => sink.raw(id, kind),
            kind => sink.unknown(id, if kind.is_empty() { "(none)" } else { kind }),
        }
        Verdict::Done
    }
}

impl Kimi {
    fn message(&mut self, value: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let message = value.get("message");
        let role = match message.and_then(|m| m.text_of("role")).as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            _ => Role::System,
        };
        let injected = message
            .and_then(|m| m.path(&["origin", "kind"]))
            .and_then(|k| k.str())
            .is_some_and(|k| k != "user");
        let role = if injected && role == Role::User {
            Role::System
        } else {
            role
        };
        let mut part = 0;
        for text in message
            .and_then(|m| m.get("content"))
            .into_iter()
            .flat_map(|c| c.items())
            .filter_map(|c| c.get("text"))
        {
            part += 1;
            let id: Id = if part == 1 {
                id.clone()
            } else {
                format!("{id}+{part}").into()
            };
            self.last_message = Some(id.clone());
            sink.message(id, role, origin.text(text));
        }
        if part == 0 {
            sink.raw(id, "message");
        }
    }

    fn step(&mut self, value: Val<'_>, id: Id, origin: Origin, sink: &mut Sink<'_>) {
        let Some(event) = value.get("event") else {
            return sink.raw(id, "loop_event");
        };
        let kind = event.text_of("type").unwrap_or_default();
        // Unique in this file only.
        let call = event
            .text_of("toolCallId")
            .filter(|i| is_id(i))
            .map(|call| match sink.file {
                0 => Id::from(&*call),
                file => format!("{file}:{call}").into(),
            });
        match (&*kind, call) {
            ("content.part", _) => match event.get("part") {
                Some(part) if part.get("text").is_some_and(|t| t.is_string()) => {
                    if let Some(text) = part.get("text") {
                        self.last_message = Some(id.clone());
                        sink.message(id, Role::Assistant, origin.text(text));
                    }
                }
                _ => sink.raw(id, "think"),
            },
            ("tool.call", Some(call)) => {
                let name = event.text_of("name").unwrap_or_default();
                match event.get("args") {
                    Some(args) => self.calls.call(&call, &name, args, origin, sink),
                    None => sink.raw(id, &kind),
                }
            }
            ("tool.result", Some(call)) => {
                let result = event.get("result");
                let output = result.and_then(|r| r.get("output"));
                let text = output.and_then(|o| o.items().find_map(|i| i.get("text")).or(Some(o)));
                let status = if result.is_some_and(|r| r.truth("isError")) {
                    let head = text.and_then(|t| t.str()).unwrap_or_default();
                    if head.contains("rejected by the user") || head.contains("denied") {
                        Status::Denied
                    } else {
                        Status::Error
                    }
                } else {
                    Status::Ok
                };
                let told = text.map(|t| origin.text(t));
                let json = result.map_or(Json::Absent, |r| origin.json(r));
                self.calls
                    .result(&call, status, told, json, Proof::default(), sink);
            }
            ("step.begin" | "step.end" | "step.interrupted" | "step.retry", _) => {
                sink.raw(id, &kind)
            }
            (kind, _) => sink.unknown(id, &format!("loop event {kind}")),
        }
    }
}
