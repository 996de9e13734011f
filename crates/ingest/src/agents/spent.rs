//! What a record says of the model: tokens of one API message, its cost where the log names one, the model and the
//! size of its window; and the texts that stand before the conversation (instructions, tools).
//!
//! The figures are the log's own; nothing is guessed, and there is no list of prices. Several records of one message
//! repeat its figures: [`Spent::message`] tells which belong together. Asked only when somebody looks.

use super::Agent;
use crate::tape::{Tape, Val};

/// The figures of one record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spent {
    /// The API message that they belong to; the same again replaces the figures from before. `None`: one of its own.
    pub message: Option<String>,
    /// Tokens of the request that came from no cache and went to none.
    pub input: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// Reasoning included.
    pub output: u64,
    /// What the log says it cost, in US dollars.
    pub cost: Option<f64>,
    pub model: Option<String>,
    /// Tokens that the model's window holds.
    pub window: Option<u64>,
    /// The record has figures (and not just the model's name).
    pub counted: bool,
    /// They are those of the whole session, not of one message.
    pub whole: bool,
}

/// A text that stands in front of the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// `system`, `instructions`, `tools`, `skills`, `agents`, `servers`, `environment`.
    pub what: &'static str,
    /// JSON pointer into the record.
    pub pointer: &'static str,
    /// Length of the value's JSON in bytes.
    pub bytes: u64,
    /// How many, of a list.
    pub count: Option<u64>,
}

/// May an entry of this type have figures? By the type alone, so that the others need not be read.
pub fn may_tell_spent(agent: Agent, type_name: &str) -> bool {
    let speech = matches!(
        type_name,
        "message.assistant" | "tool.call" | "message.system"
    );
    match agent {
        Agent::Codex => matches!(type_name, "codex.token_count" | "codex.turn_context"),
        Agent::Kimi => matches!(type_name, "kimi.usage.record" | "kimi.llm.request"),
        Agent::ClaudeCode => {
            speech
                || matches!(
                    type_name,
                    "claude-code.thinking" | "claude-code.redacted_thinking"
                )
        }
        Agent::Copilot => {
            speech
                || matches!(
                    type_name,
                    "copilot-cli.assistant.message"
                        | "copilot-cli.assistant.usage"
                        | "copilot-cli.session.start"
                        | "copilot-cli.session.model_change"
                        | "copilot-cli.session.shutdown"
                )
        }
        Agent::ClineUi => type_name == "cline.api_req_started",
        Agent::GooseDocument | Agent::SweAgent => type_name == "session.start",
        Agent::OpenCodeLines => type_name == "opencode.step-finish",
        _ if agent.name() == "opencode" => type_name == "opencode.message",
        Agent::Pi | Agent::Qwen | Agent::GeminiDocument | Agent::GeminiLines => {
            speech
                || type_name.starts_with("pi.")
                || type_name.starts_with("gemini.")
                || type_name.starts_with("qwen.")
        }
        Agent::OpenHandsDocument | Agent::OpenHandsLines => speech,
        _ => false,
    }
}

/// The figures of a record, where it has any.
pub fn spent(agent: Agent, record: &str) -> Option<Spent> {
    let mut tape = Tape::lenient();
    tape.read(record).ok()?;
    of(agent, tape.root(record))
}

fn count(value: Val<'_>, name: &str) -> u64 {
    value
        .get(name)
        .and_then(|v| v.int())
        .and_then(|n| u64::try_from(n).ok())
        .unwrap_or(0)
}

fn text(value: Val<'_>, path: &[&str]) -> Option<String> {
    let text = value.path(path)?.str()?;
    (!text.is_empty() && text.len() <= 200).then(|| text.into_owned())
}

fn price(value: Option<Val<'_>>) -> Option<f64> {
    value?
        .float()
        .filter(|cost| cost.is_finite() && *cost >= 0.0)
}

fn of(agent: Agent, value: Val<'_>) -> Option<Spent> {
    match agent {
        Agent::ClaudeCode => {
            // A sub-agent's message may be wrapped in a record of its progress.
            let around = value.path(&["data", "message"]).unwrap_or(value);
            let message = around.get("message")?;
            let usage = message.get("usage")?;
            let model = text(message, &["model"]);
            if model.as_deref() == Some("<synthetic>") {
                return None;
            }
            Some(Spent {
                message: text(message, &["id"]),
                input: count(usage, "input_tokens"),
                cache_read: count(usage, "cache_read_input_tokens"),
                cache_write: count(usage, "cache_creation_input_tokens"),
                output: count(usage, "output_tokens"),
                cost: price(around.get("costUSD")),
                model,
                counted: true,
                ..Spent::default()
            })
        }
        Agent::Codex => {
            let payload = value.get("payload")?;
            if payload.text_of("type").as_deref() != Some("token_count") {
                // The context of a turn names the model.
                return Some(Spent {
                    model: Some(text(payload, &["model"])?),
                    ..Spent::default()
                });
            }
            let info = payload.get("info").filter(|info| info.is_object())?;
            let last = info.get("last_token_usage")?;
            let total = info.get("total_token_usage");
            let (cached, written) = (
                count(last, "cached_input_tokens"),
                count(last, "cache_write_input_tokens"),
            );
            Some(Spent {
                // The same total again is the same message again: only the limits of the plan are told anew.
                message: total.map(|total| total.raw().to_owned()),
                input: count(last, "input_tokens").saturating_sub(cached + written),
                cache_read: cached,
                cache_write: written,
                output: count(last, "output_tokens"),
                window: Some(count(info, "model_context_window")).filter(|window| *window > 0),
                counted: true,
                ..Spent::default()
            })
        }
        Agent::Kimi => {
            let model = text(value, &["model"]);
            let Some(usage) = value.get("usage") else {
                return model.map(|model| Spent {
                    model: Some(model),
                    ..Spent::default()
                });
            };
            Some(Spent {
                input: count(usage, "inputOther"),
                cache_read: count(usage, "inputCacheRead"),
                cache_write: count(usage, "inputCacheCreation"),
                output: count(usage, "output"),
                model,
                counted: true,
                ..Spent::default()
            })
        }
        Agent::GeminiDocument | Agent::GeminiLines => {
            let tokens = value.get("tokens")?;
            let cached = count(tokens, "cached");
            Some(Spent {
                message: text(value, &["id"]),
                input: (count(tokens, "input") + count(tokens, "tool")).saturating_sub(cached),
                cache_read: cached,
                output: count(tokens, "output") + count(tokens, "thoughts"),
                model: text(value, &["model"]),
                counted: true,
                ..Spent::default()
            })
        }
        Agent::Qwen => {
            let usage = value.get("usageMetadata")?;
            let cached = count(usage, "cachedContentTokenCount");
            Some(Spent {
                message: text(value, &["uuid"]),
                input: count(usage, "promptTokenCount").saturating_sub(cached),
                cache_read: cached,
                output: count(usage, "candidatesTokenCount") + count(usage, "thoughtsTokenCount"),
                model: text(value, &["model"]),
                counted: true,
                ..Spent::default()
            })
        }
        Agent::Pi => {
            let message = value.get("message")?;
            let usage = message.get("usage")?;
            Some(Spent {
                message: text(value, &["id"]),
                input: count(usage, "input"),
                cache_read: count(usage, "cacheRead"),
                cache_write: count(usage, "cacheWrite"),
                output: count(usage, "output"),
                cost: price(usage.path(&["cost", "total"])),
                model: text(message, &["model"]),
                counted: true,
                ..Spent::default()
            })
        }
        Agent::Copilot => copilot(value),
        Agent::ClineUi => {
            let told = value.get("text")?.str()?;
            let mut tape = Tape::lenient();
            tape.read(&told).ok()?;
            let request = tape.root(&told);
            request.get("tokensIn").or(request.get("tokensOut"))?;
            Some(Spent {
                input: count(request, "tokensIn"),
                cache_read: count(request, "cacheReads"),
                cache_write: count(request, "cacheWrites"),
                output: count(request, "tokensOut"),
                cost: price(request.get("cost")),
                counted: true,
                ..Spent::default()
            })
        }
        Agent::OpenHandsDocument | Agent::OpenHandsLines => {
            let answer = value.path(&["tool_call_metadata", "model_response"])?;
            let usage = answer.get("usage")?;
            let cached = count(usage, "cache_read_input_tokens").max(
                usage
                    .get("prompt_tokens_details")
                    .map_or(0, |d| count(d, "cached_tokens")),
            );
            let written = count(usage, "cache_creation_input_tokens");
            Some(Spent {
                message: text(answer, &["id"]),
                input: count(usage, "prompt_tokens").saturating_sub(cached + written),
                cache_read: cached,
                cache_write: written,
                output: count(usage, "completion_tokens"),
                model: text(answer, &["model"]),
                counted: true,
                ..Spent::default()
            })
        }
        Agent::GooseDocument => {
            let usage = value.get("accumulated_usage").or(value.get("usage"))?;
            Some(Spent {
                input: count(usage, "input_tokens"),
                output: count(usage, "output_tokens"),
                cost: price(value.get("accumulated_cost")),
                counted: true,
                whole: true,
                ..Spent::default()
            })
        }
        Agent::SweAgent => {
            let stats = value.path(&["info", "model_stats"])?;
            Some(Spent {
                input: count(stats, "tokens_sent"),
                output: count(stats, "tokens_received"),
                cost: price(stats.get("instance_cost")),
                counted: true,
                whole: true,
                ..Spent::default()
            })
        }
        _ if agent.name() == "opencode" => {
            let info = value.get("info").or(value.get("part")).unwrap_or(value);
            let tokens = info.get("tokens")?;
            let cache = tokens.get("cache");
            Some(Spent {
                message: text(info, &["id"]),
                input: count(tokens, "input"),
                cache_read: cache.map_or(0, |cache| count(cache, "read")),
                cache_write: cache.map_or(0, |cache| count(cache, "write")),
                output: count(tokens, "output") + count(tokens, "reasoning"),
                cost: price(info.get("cost")),
                model: text(info, &["modelID"]),
                counted: true,
                ..Spent::default()
            })
        }
        _ => None,
    }
}

fn copilot(value: Val<'_>) -> Option<Spent> {
    let data = value.get("data")?;
    let kind = value.text_of("type").unwrap_or_default();
    let model = text(data, &["model"])
        .or_else(|| text(data, &["selectedModel"]))
        .or_else(|| text(data, &["newModel"]))
        .or_else(|| text(data, &["currentModel"]));
    let named = Spent {
        model,
        ..Spent::default()
    };
    match &*kind {
        "session.shutdown" => {
            let detail = data.get("tokenDetails")?;
            let of = |name: &str| detail.get(name).map_or(0, |d| count(d, "tokenCount"));
            Some(Spent {
                input: of("input"),
                output: of("output"),
                cache_read: of("cache_read"),
                cache_write: of("cache_write"),
                counted: true,
                whole: true,
                ..named
            })
        }
        "assistant.usage" => Some(Spent {
            message: text(data, &["apiCallId"]),
            input: count(data, "inputTokens")
                .saturating_sub(count(data, "cacheReadTokens") + count(data, "cacheWriteTokens")),
            cache_read: count(data, "cacheReadTokens"),
            cache_write: count(data, "cacheWriteTokens"),
            output: count(data, "outputTokens"),
            counted: true,
            ..named
        }),
        "assistant.message" if data.get("outputTokens").is_some() => Some(Spent {
            message: text(data, &["apiCallId"]).or_else(|| text(data, &["messageId"])),
            output: count(data, "outputTokens"),
            counted: true,
            ..named
        }),
        _ => named.model.is_some().then_some(named),
    }
}

/// Where standing texts are, by the type of the entry.
const PLACES: &[(&str, &str, &str)] = &[
    (
        "codex.session_meta",
        "system",
        "/payload/base_instructions/text",
    ),
    (
        "codex.session_meta",
        "instructions",
        "/payload/instructions",
    ),
    ("codex.session_meta", "instructions", "/instructions"),
    ("codex.session_meta", "tools", "/payload/dynamic_tools"),
    (
        "codex.turn_context",
        "instructions",
        "/payload/user_instructions",
    ),
    (
        "codex.turn_context",
        "instructions",
        "/payload/developer_instructions",
    ),
    ("codex.tool_search_output", "tools", "/payload/tools"),
    ("kimi.config.update", "system", "/systemPrompt"),
    ("kimi.llm.tools_snapshot", "tools", "/tools"),
    (
        "claude-code.attachment.skill_listing",
        "skills",
        "/attachment/content",
    ),
    (
        "claude-code.attachment.mcp_instructions_delta",
        "servers",
        "/attachment",
    ),
    (
        "claude-code.attachment.agent_listing_delta",
        "agents",
        "/attachment",
    ),
    (
        "claude-code.attachment.deferred_tools_delta",
        "tools",
        "/attachment",
    ),
    (
        "claude-code.attachment.deferred_tools_record",
        "tools",
        "/attachment",
    ),
    (
        "claude-code.attachment.nested_memory",
        "instructions",
        "/attachment/content",
    ),
    (
        "claude-code.attachment.environment",
        "environment",
        "/attachment",
    ),
    (
        "openhands.SystemPromptEvent",
        "system",
        "/system_prompt/text",
    ),
    ("openhands.SystemPromptEvent", "tools", "/tools"),
];

/// May an entry of this type have standing texts?
pub fn may_stand(type_name: &str) -> bool {
    PLACES.iter().any(|(kind, _, _)| *kind == type_name)
}

/// The standing texts of a record.
pub fn standing(type_name: &str, record: &str) -> Vec<Standing> {
    let mut tape = Tape::lenient();
    if tape.read(record).is_err() {
        return Vec::new();
    }
    let root = tape.root(record);
    let places = PLACES.iter().filter(|(kind, _, _)| *kind == type_name);
    places
        .filter_map(|(_, what, pointer)| {
            let names: Vec<&str> = pointer.split('/').skip(1).collect();
            let value = root.path(&names)?;
            let empty = value.raw().len() <= 2 || value.raw() == "null";
            (!empty).then(|| Standing {
                what,
                pointer,
                bytes: value.raw().len() as u64,
                count: value.is_array().then(|| value.items().count() as u64),
            })
        })
        .collect()
}

#[cfg(test)]
#[path = "spent_tests.rs"]
mod tests;
