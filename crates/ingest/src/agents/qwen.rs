//! Qwen Code chats: Claude's envelope around Gemini's messages. A tree by `parentUuid`: a `rewind` leaves a branch
//! behind, whose messages stay on the timeline. A record may come again with the same uuid and other parts.

use hashbrown::HashSet;

use chipdeck_event::{Id, Json, Payload, Role, Status, Text};

use super::clock;
use super::gemini;
use super::records::{Mapper, Record, Verdict};
use super::sink::Sink;
use super::tools::Calls;
use crate::tape::Val;

pub(crate) fn claims(records: &[Val<'_>]) -> bool {
    records.iter().any(|r| {
        r.get("uuid").is_some()
            && r.get("sessionId").is_some()
            && r.path(&["message", "parts"]).is_some()
    })
}

#[derive(Default)]
pub(crate) struct Qwen {
    calls: Calls,
    records: HashSet<Id>,
    last_message: Option<Id>,
}

const SYSTEM: &[&str] = &[
    "ui_telemetry",
    "attribution_snapshot",
    "slash_command",
    "at_command",
    "rewind",
    "session_artifact",
    "session_artifact_snapshot",
    "custom_title",
    "notification",
    "chat_compression",
    "file_history_snapshot",
];

fn is_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 200
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.:".contains(c))
}

impl Mapper for Qwen {
    fn agent(&self) -> &'static str {
        "qwen"
    }

    fn record(&mut self, record: &Record<'_>, sink: &mut Sink<'_>, _hurry: bool) -> Verdict {
        let (value, origin) = (record.value, record.origin);
        if let Some(cwd) = value.text_of("cwd") {
            sink.enter(&cwd);
        }
        let session = value
            .text_of("sessionId")
            .filter(|i| is_id(i))
            .unwrap_or_else(|| "session".into());
        sink.now.trace = sink.name(&session);
        sink.now.timestamp = value.text_of("timestamp").and_then(|t| clock::iso(&t));
        sink.now.parent = value
            .text_of("parentUuid")
            .filter(|i| is_id(i))
            .map(|i| i.as_ref().into());
        let model = value.text_of("model");
        sink.session(&session, model.as_deref());
        let mut id: Id = match value.text_of("uuid").filter(|i| is_id(i)) {
            Some(id) => id.as_ref().into(),
            None => sink.place_id(),
        };
        // The same uuid with other parts is more of the same message.
        if !self.records.insert(id.clone()) {
            id = format!("{id}+{}", sink.place.offset).into();
        }
        let kind = value.text_of("type").unwrap_or_default();
        let subtype = value.text_of("subtype").unwrap_or_default();
        let role = match &*kind {
            "user" if subtype == "notification" => Role::System,
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool_result" => Role::System,
            "system" if subtype == "chat_compression" => {
                let summary = value
                    .path(&["systemPayload", "summary"])
                    .map_or(Text::inline(""), |s| origin.text(s));
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
                    None => sink.raw(id, &subtype),
                }
                return Verdict::Done;
            }
            "system" if SYSTEM.contains(&&*subtype) || subtype.is_empty() => {
                sink.raw(
                    id,
                    if subtype.is_empty() {
                        "system"
                    } else {
                        &subtype
                    },
                );
                return Verdict::Done;
            }
            "system" => {
                sink.unknown(id, &format!("system {subtype}"));
                return Verdict::Done;
            }
            other => {
                sink.unknown(id, if other.is_empty() { "(none)" } else { other });
                return Verdict::Done;
            }
        };
        let mut part = 0;
        for block in value
            .path(&["message", "parts"])
            .into_iter()
            .flat_map(|p| p.items())
        {
            let own = |part: &mut u32| -> Id {
                *part += 1;
                if *part == 1 {
                    id.clone()
                } else {
                    format!("{id}+{part}").into()
                }
            };
            if let Some(call) = block.get("functionCall") {
                let call_id: Id = match call.text_of("id").filter(|i| is_id(i)) {
                    Some(call_id) => call_id.as_ref().into(),
                    None => own(&mut part),
                };
                let name = call.text_of("name").unwrap_or_default();
                if let Some(args) = call.get("args") {
                    self.calls.call(&call_id, &name, args, origin, sink);
                }
            } else if let Some(response) = block.get("functionResponse") {
                let detail = value.get("toolCallResult");
                let call_id = response
                    .text_of("id")
                    .or_else(|| detail?.text_of("callId"))
                    .filter(|i| is_id(i));
                let Some(call_id) = call_id else {
                    sink.raw(own(&mut part), "tool_result");
                    continue;
                };
                let body = response.get("response");
                let status = match detail.and_then(|d| d.text_of("status")).as_deref() {
                    Some("success") => Status::Ok,
                    Some("cancelled") => Status::Cancelled,
                    Some(_) => Status::Error,
                    None if body.is_some_and(|b| b.get("error").is_some()) => Status::Error,
                    None => Status::Ok,
                };
                let output = body.and_then(|b| b.get("output").or_else(|| b.get("error")));
                let proof =
                    gemini::proof(detail.and_then(|d| d.get("resultDisplay")), output, origin);
                let told = output.map(|o| origin.text(o));
                let result = detail.or(body).map_or(Json::Absent, |v| origin.json(v));
                self.calls
                    .result(&call_id.as_ref().into(), status, told, result, proof, sink);
            } else if block.truth("thought") {
                sink.raw(own(&mut part), "thought");
            } else if let Some(text) = block.get("text").filter(|t| t.is_string()) {
                let own = own(&mut part);
                self.last_message = Some(own.clone());
                sink.message(own, role, origin.text(text));
            } else {
                sink.raw(own(&mut part), "part");
            }
        }
        Verdict::Done
    }
}
