//! Where a session comes from, as far as its first record tells: started by another agent's call, forked from another
//! session, or by a person. And where a log says that the conversation was turned back.
//!
//! Asked only of the first record of each session and of the few records that turn back, when somebody looks at the
//! lanes: reading a log costs nothing of this. Left out on purpose: rewinds that only the tree of parents tells
//! (`chipdeck-replay` sees those).

use super::Agent;
use crate::tape::{Tape, Val};

/// What a session is to the one that it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kin {
    /// Nothing is said.
    #[default]
    Alone,
    /// It goes on from a point of another session.
    Fork,
    /// Another agent started it.
    SubAgent,
}

/// What the first record of a session says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    pub kin: Kin,
    /// The session that it comes from.
    pub parent: Option<String>,
    /// The event of that session after which it begins.
    pub after: Option<String>,
    /// The call that started it.
    pub call: Option<String>,
    /// What the log calls it.
    pub title: Option<String>,
}

/// How far a conversation was turned back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnedBack {
    /// By so many messages of the user.
    Turns(u32),
    /// To before this message.
    Before(String),
}

/// Are parents a tree in which going on from an older record is a rewind?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tree {
    /// No parents, or parents that mean something else.
    None,
    /// Only a message of the user begins a lane: calls that run side by side have parents that are not the newest.
    Prompts,
    /// Any record whose parent is not the newest begins a lane.
    Records,
}

/// How this agent's records hang together.
pub fn tree_of(agent: Agent) -> Tree {
    match agent {
        Agent::ClaudeCode => Tree::Prompts,
        Agent::Pi | Agent::Qwen => Tree::Records,
        _ => Tree::None,
    }
}

fn with<T>(record: &str, read: impl FnOnce(Val<'_>) -> T) -> Option<T> {
    let mut tape = Tape::lenient();
    tape.read(record).ok()?;
    Some(read(tape.root(record)))
}

fn owned(value: Val<'_>, path: &[&str]) -> Option<String> {
    let text = value.path(path)?.str()?;
    (!text.is_empty() && text.len() <= 500).then(|| text.into_owned())
}

/// Reads the first record of the session `trace`.
pub fn lineage(agent: Agent, trace: &str, record: &str) -> Lineage {
    with(record, |value| of(agent, trace, value)).unwrap_or_default()
}

fn of(agent: Agent, trace: &str, value: Val<'_>) -> Lineage {
    let sub = |parent: Option<String>| Lineage {
        kin: Kin::SubAgent,
        parent: parent.filter(|p| p != trace),
        ..Lineage::default()
    };
    match agent {
        Agent::ClaudeCode | Agent::Qwen => {
            let wrapped = value.path(&["data", "agentId"]).is_some();
            if value.truth("isSidechain") || value.get("agentId").is_some() || wrapped {
                return Lineage {
                    call: owned(value, &["parentToolUseID"])
                        .or_else(|| owned(value, &["parentToolUseId"])),
                    ..sub(owned(value, &["sessionId"]))
                };
            }
            match value.get("forkedFrom") {
                Some(from) => Lineage {
                    kin: Kin::Fork,
                    parent: owned(from, &["sessionId"]),
                    after: owned(from, &["messageUuid"]),
                    ..Lineage::default()
                },
                None => Lineage::default(),
            }
        }
        Agent::Codex => {
            let Some(meta) = value.get("payload") else {
                return Lineage::default();
            };
            let spawn = meta.path(&["source", "subagent", "thread_spawn"]);
            let parent = owned(meta, &["parent_thread_id"])
                .or_else(|| spawn.and_then(|s| owned(s, &["parent_thread_id"])));
            if meta.path(&["source", "subagent"]).is_some() {
                let named = |key: &str| {
                    owned(meta, &[key]).or_else(|| spawn.and_then(|s| owned(s, &[key])))
                };
                let title = match (named("agent_nickname"), named("agent_role")) {
                    (Some(name), Some(role)) => Some(format!("{name} ({role})")),
                    (name, role) => name.or(role),
                };
                return Lineage {
                    title,
                    ..sub(parent)
                };
            }
            let from = owned(meta, &["forked_from_id"]).or(parent);
            Lineage {
                kin: if from.is_some() {
                    Kin::Fork
                } else {
                    Kin::Alone
                },
                parent: from,
                ..Lineage::default()
            }
        }
        Agent::Kimi if trace != "main" => sub(None),
        Agent::Copilot => {
            let call = value
                .get("data")
                .and_then(|data| owned(data, &["parentToolCallId"]));
            match call {
                Some(call) => Lineage {
                    call: Some(call),
                    ..sub(None)
                },
                None => Lineage::default(),
            }
        }
        Agent::GeminiDocument | Agent::GeminiLines
            if value.text_of("kind").as_deref() == Some("subagent") =>
        {
            sub(None)
        }
        Agent::Pi => {
            let parent =
                owned(value, &["parentSession"]).or_else(|| owned(value, &["branchedFrom"]));
            Lineage {
                kin: if parent.is_some() {
                    Kin::Fork
                } else {
                    Kin::Alone
                },
                parent,
                ..Lineage::default()
            }
        }
        _ if agent.name() == "opencode" => {
            let info = value.get("info").unwrap_or(value);
            let title = owned(info, &["title"]);
            match owned(info, &["parentID"]).filter(|id| id.starts_with("ses")) {
                Some(parent) => Lineage {
                    title,
                    ..sub(Some(parent))
                },
                None => Lineage {
                    title,
                    ..Lineage::default()
                },
            }
        }
        _ => Lineage::default(),
    }
}

/// May an entry of this type turn the conversation back?
pub fn may_turn_back(type_name: &str) -> bool {
    matches!(
        type_name,
        "codex.thread_rolled_back" | "gemini.set" | "gemini.rewind"
    )
}

/// How far an entry of such a type turns it back.
pub fn turned_back(agent: Agent, record: &str) -> Option<TurnedBack> {
    with(record, |value| match agent {
        Agent::Codex => {
            let turns = value.path(&["payload", "num_turns"])?.int()?;
            u32::try_from(turns)
                .ok()
                .filter(|turns| *turns > 0)
                .map(TurnedBack::Turns)
        }
        Agent::GeminiLines => owned(value, &["$rewindTo"]).map(TurnedBack::Before),
        _ => None,
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_come_from_others() {
        let claude = |record| lineage(Agent::ClaudeCode, "a1", record);
        assert_eq!(
            claude(r#"{"type":"user","sessionId":"s"}"#),
            Lineage::default()
        );
        let beside = claude(r#"{"type":"user","isSidechain":true,"agentId":"a1","sessionId":"s"}"#);
        assert_eq!(
            (beside.kin, beside.parent.as_deref()),
            (Kin::SubAgent, Some("s"))
        );
        let told = claude(r#"{"type":"progress","parentToolUseID":"t9","data":{"agentId":"a1"}}"#);
        assert_eq!(told.call.as_deref(), Some("t9"));
        let fork = claude(r#"{"forkedFrom":{"sessionId":"p","messageUuid":"u"}}"#);
        assert_eq!((fork.kin, fork.after.as_deref()), (Kin::Fork, Some("u")));

        let codex = |payload: &str| {
            lineage(
                Agent::Codex,
                "c",
                &format!(r#"{{"type":"session_meta","payload":{payload}}}"#),
            )
        };
        assert_eq!(codex(r#"{"id":"c","source":"cli"}"#), Lineage::default());
        assert_eq!(codex(r#"{"id":"c","forked_from_id":"p"}"#).kin, Kin::Fork);
        let spawned = codex(
            r#"{"id":"c","forked_from_id":"p","source":{"subagent":{"thread_spawn":{"parent_thread_id":"p","agent_nickname":"Ada","agent_role":"explorer"}}}}"#,
        );
        assert_eq!(spawned.kin, Kin::SubAgent);
        assert_eq!(spawned.title.as_deref(), Some("Ada (explorer)"));

        let child = lineage(
            Agent::OpenCodeExport,
            "ses_2",
            r#"{"id":"ses_2","parentID":"ses_1","title":"look"}"#,
        );
        assert_eq!(
            (child.kin, child.parent.as_deref()),
            (Kin::SubAgent, Some("ses_1"))
        );
        assert_eq!(lineage(Agent::Kimi, "agent-0", "{}").kin, Kin::SubAgent);
        assert_eq!(lineage(Agent::Kimi, "main", "{}").kin, Kin::Alone);
        assert_eq!(lineage(Agent::Codex, "c", "no json"), Lineage::default());
    }

    #[test]
    fn turning_back() {
        let codex = |turns: &str| {
            let record =
                format!(r#"{{"payload":{{"type":"thread_rolled_back","num_turns":{turns}}}}}"#);
            turned_back(Agent::Codex, &record)
        };
        assert_eq!(codex("2"), Some(TurnedBack::Turns(2)));
        assert_eq!(codex("0"), None);
        assert_eq!(codex("\"x\""), None);
        assert_eq!(
            turned_back(Agent::GeminiLines, r#"{"$rewindTo":"m7"}"#),
            Some(TurnedBack::Before("m7".into()))
        );
        assert_eq!(turned_back(Agent::GeminiLines, r#"{"$set":{}}"#), None);
    }
}
