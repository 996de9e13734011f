//! The catalogue, version 1: a payload as JSON to a [`Payload`], each field checked for its type.

use super::fields::{Checked, Fields};
use super::Ground;
use crate::tape::Val;
use chipdeck_event::schema::schema_of;
use chipdeck_event::{Change, Code, Decision, Edit, Payload, Reach, Role, Status, Zone};

/// Highest version of a type's payload that is known here; `None` for a type that the catalogue does not have.
pub(super) fn known_version(type_name: &str) -> Option<u32> {
    schema_of(type_name).map(|it| it.version)
}

/// The payload of a known type at its highest known version. A bad one is [`Payload::Bad`], with a finding.
pub(super) fn read(type_name: &str, payload: Val<'_>, ground: &mut Ground<'_>) -> Payload {
    let mut fields = Fields::new(payload, ground);
    checked(type_name, &mut fields).unwrap_or(Payload::Bad)
}

fn checked(type_name: &str, p: &mut Fields<'_, '_>) -> Checked<Payload> {
    Ok(match type_name {
        "session.start" => Payload::SessionStart {
            cwd: p.opt_box("cwd"),
            agent: p.opt_box("agent"),
            model: p.opt_box("model"),
        },
        "session.end" => Payload::SessionEnd {
            reason: p.opt_box("reason"),
        },
        "message.user" => Payload::Message {
            role: Role::User,
            content: p.text("content")?,
        },
        "message.assistant" => Payload::Message {
            role: Role::Assistant,
            content: p.text("content")?,
        },
        "message.system" => Payload::Message {
            role: Role::System,
            content: p.text("content")?,
        },
        "message.toolResult" => Payload::MessageToolResult {
            call: p.id("callId")?,
            status: p.one_of("status", Status::parse)?,
            content: p.opt_text("content"),
        },
        "message.correction" => Payload::MessageCorrection {
            corrects: p.id("corrects")?,
            call: p.id("callId")?,
            status: p.one_of("status", Status::parse)?,
            content: p.opt_text("content"),
        },
        "context.compact" => Payload::ContextCompact {
            through: p.id("through")?,
            summary: p.text("summary")?,
            tokens_before: p.opt_int("tokensBefore"),
            tokens_after: p.opt_int("tokensAfter"),
        },
        "tool.call" => Payload::ToolCall {
            tool_name: p.id("toolName")?,
            args: p.any("args")?,
            reach: Reach::None,
        },
        "tool.result" => Payload::ToolResult {
            status: p.one_of("status", Status::parse)?,
            call: p.opt_id("callId"),
            result: p.opt_any("result"),
            error: p.opt_any("error"),
            duration_ms: p.opt_int("durationMs"),
        },
        "file.create" => Payload::FileCreate {
            path: p.id("path")?,
            content: p.text("content")?,
        },
        "file.change" => file_change(p)?,
        "file.delete" => Payload::FileDelete {
            path: p.id("path")?,
        },
        "file.rename" => Payload::FileRename {
            from: p.id("from")?,
            to: p.id("to")?,
        },
        "file.observe" => {
            let path = p.id("path")?;
            let (sha256, content) = (p.opt_box("sha256"), p.opt_text("content"));
            if sha256.is_none() && content.is_none() {
                return p.bad("an observation needs `sha256` or `content`");
            }
            Payload::FileObserve {
                path,
                sha256,
                content,
            }
        }
        "chip.save" => {
            let chip = p.object("chip")?;
            let Some(id) = chip.get("id").and_then(|id| id.str()) else {
                return p.bad("the chip record has no `id`");
            };
            Payload::ChipSave {
                id: p.ground().id(&id),
                chip: p.any("chip")?,
            }
        }
        "chip.evict" => {
            let (id, reason) = (p.id("id")?, p.str("reason")?);
            Payload::ChipEvict {
                id,
                reason: Some(reason.into()),
            }
        }
        "chip.insert" => Payload::ChipInsert {
            id: p.id("id")?,
            path: p.id("path")?,
            line: p.int("line")?,
        },
        "memory.add" => {
            p.opt_str("filePath");
            p.opt_list("tags");
            Payload::MemoryAdd {
                id: p.id("id")?,
                zone: p.one_of("zone", zone)?,
                content: p.text("content")?,
                role: p.opt_box("role"),
                tokens: p.opt_int("tokens"),
            }
        }
        "memory.move" => {
            p.opt_str("reason");
            p.opt_number("score");
            Payload::MemoryMove {
                id: p.id("id")?,
                to: p.one_of("to", zone)?,
                content: p.opt_text("content"),
            }
        }
        "memory.remove" => {
            p.opt_str("reason");
            Payload::MemoryRemove { id: p.id("id")? }
        }
        "memory.restore" => Payload::MemoryRestore { id: p.id("id")? },
        "plan.create" => {
            p.object("plan")?;
            Payload::PlanCreate {
                plan: p.id("planId")?,
                task: p.text("task")?,
                content: p.any("plan")?,
            }
        }
        "plan.review" => {
            p.opt_str("note");
            Payload::PlanReview {
                plan: p.id("planId")?,
                decision: p.one_of("decision", |text| match text {
                    "approved" => Some(Decision::Approved),
                    "rejected" => Some(Decision::Rejected),
                    _ => None,
                })?,
            }
        }
        "context.load" => {
            p.list("segments")?;
            Payload::ContextLoad {
                plan: p.opt_id("planId"),
                tokens: p.int("tokens")?,
            }
        }
        "state.snapshot" => {
            p.object("state")?;
            let listed = p.object("contents")?;
            let mut contents = Vec::new();
            for (path, value) in last_of_each(listed) {
                let Some(text) = p.ground().text_or_blob(value) else {
                    return p.bad("a value of `contents` is no string");
                };
                contents.push((p.ground().id(&path), text));
            }
            Payload::StateSnapshot {
                state: p.any("state")?,
                contents,
            }
        }
        "restore.apply" => {
            p.opt_str("beforeSha256");
            p.opt_str("afterSha256");
            Payload::RestoreApply {
                restore: p.id("restoreId")?,
                kind: p.str("kind")?.into(),
                path: p.id("path")?,
                undo_of: p.opt_id("undoOf"),
            }
        }
        _ => Payload::Unknown,
    })
}

fn zone(text: &str) -> Option<Zone> {
    match text {
        "hot" => Some(Zone::Hot),
        "warm" => Some(Zone::Warm),
        "cold" => Some(Zone::Cold),
        _ => None,
    }
}

/// Members of an object in order; of equal keys the last.
fn last_of_each(object: Val<'_>) -> Vec<(String, Val<'_>)> {
    let mut members: Vec<(String, Val<'_>)> = Vec::new();
    let mut places = hashbrown::HashMap::new();
    for (key, value) in object.members() {
        let key = key.into_owned();
        match places.get(&key).and_then(|&at: &usize| members.get_mut(at)) {
            Some(member) => member.1 = value,
            None => {
                places.insert(key.clone(), members.len());
                members.push((key, value));
            }
        }
    }
    members
}

fn file_change(p: &mut Fields<'_, '_>) -> Checked<Payload> {
    let path = p.id("path")?;
    let (before_sha256, after_sha256) = (p.opt_box("beforeSha256"), p.opt_box("afterSha256"));
    let content = p.opt_text("content");
    let edits = p.opt_list("edits");
    let patch = p.opt_text("patch");
    let change = match (content, edits, patch) {
        (Some(content), None, None) => Change::Content(content),
        (None, Some(edits), None) => {
            let mut items = Vec::new();
            for item in edits.items() {
                items.push(edit(item, p)?);
            }
            Change::Edits(items)
        }
        (None, None, Some(patch)) => Change::Patch(patch),
        (None, None, None) => return p.bad("a change needs `content`, `edits` or `patch`"),
        _ => return p.bad("a change has more than one of `content`, `edits` and `patch`"),
    };
    Ok(Payload::FileChange {
        path,
        change,
        before_sha256,
        after_sha256,
        plausible: false,
    })
}

fn edit(item: Val<'_>, p: &mut Fields<'_, '_>) -> Checked<Edit> {
    let ground = p.ground();
    let mut text = |name: &str| item.get(name).and_then(|value| ground.text_or_blob(value));
    if let (Some(old), Some(new)) = (text("old"), text("new")) {
        let all = item.get("all");
        if all.is_some_and(|all| all.bool().is_none()) {
            ground.find(Code::BadField, "`all` of an edit is no boolean: ignored");
        }
        let all = all.and_then(|all| all.bool()).unwrap_or(false);
        return Ok(Edit::Replace { old, new, all });
    }
    let line = |name: &str| item.get(name).and_then(super::fields::integer);
    if let (Some(start), Some(end), Some(content)) =
        (line("startLine"), line("endLine"), text("content"))
    {
        return Ok(Edit::Lines {
            start,
            end,
            content,
        });
    }
    p.bad("an item of `edits` is neither `{old, new}` nor `{startLine, endLine, content}`")
}
