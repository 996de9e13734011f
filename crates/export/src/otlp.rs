//! A part as OTLP/JSON: one document of `resourceSpans`, by the OpenTelemetry protocol's JSON encoding (ids in hex,
//! 64-bit numbers as strings), attributes by the GenAI semantic conventions.
//!
//! A trace has one root span, the agent's run; each event is a span below its parent's. A tool call and its result are
//! one span. Ids are the first bytes of a SHA-256 of the log's ids, so that two exports of a log meet.

use crate::lines::{Line, Lines};
use crate::masking::Masking;
use crate::walk::hex;
use crate::Error;
use chipdeck_ingest::load_record;
use serde_json::{json, Map, Value};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;

const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const FAILED: u8 = 2;

struct Span {
    id: String,
    parent: Option<String>,
    name: String,
    kind: u8,
    /// Unix milliseconds.
    start: i64,
    end: i64,
    attributes: Map<String, Value>,
    failed: Option<String>,
}

#[derive(Default)]
struct Traces {
    /// By the log's trace id, in order of arrival.
    order: Vec<String>,
    spans: HashMap<String, Vec<Span>>,
    /// The log's event ids, to the span that stands for them.
    of_event: HashMap<String, String>,
    /// Where the call of an entry is.
    calls: HashMap<u32, (String, usize)>,
    agent: Option<String>,
    model: Option<String>,
    conversation: Option<String>,
    /// Answers whose tokens were counted.
    counted: HashSet<String>,
}

pub(crate) fn write(
    lines: &Lines<'_>,
    masking: &Masking,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut traces = Traces::default();
    lines.each(&mut |line| {
        if line.index.is_some() && !line.opaque {
            traces.take(&line, lines, masking);
        } else {
            // Seen for the list of what is masked.
            masking.line(&line);
        }
        Ok(())
    })?;
    let service = traces.agent.clone().unwrap_or_else(|| "agent".to_owned());
    let document = json!({"resourceSpans": [{
        "resource": {"attributes": attributes(&map([("service.name", service.into())]))},
        "scopeSpans": [{
            "scope": {"name": "chipdeck", "version": env!("CARGO_PKG_VERSION")},
            "spans": traces.done(),
        }],
    }]});
    serde_json::to_writer(&mut *out, &document).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

fn map<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    let there = members.into_iter().filter(|(_, value)| !value.is_null());
    there.map(|(key, value)| (key.to_owned(), value)).collect()
}

impl Traces {
    fn take(&mut self, line: &Line, lines: &Lines<'_>, masking: &Masking) {
        let value: Value = serde_json::from_str(&masking.line(line)).unwrap_or_default();
        let Some(index) = line.index else { return };
        let name = string(&value, "type");
        let payload = value.get("payload").unwrap_or(&Value::Null);
        let time = value
            .get("timestamp")
            .and_then(Value::as_i64)
            .unwrap_or(0)
            .max(0);
        let event_id = string(&value, "eventId");
        if name == "session.start" {
            self.agent = some(string(payload, "agent")).or(self.agent.take());
            self.model = some(string(payload, "model")).or(self.model.take());
            self.conversation = self.conversation.take().or(some(event_id));
        }
        if name == "tool.result" && self.settle(index, time, event_id, payload, lines) {
            return;
        }
        let trace = string(&value, "traceId").to_owned();
        let mut span = Span {
            id: span_id(event_id),
            parent: some(string(&value, "parentEventId")),
            name: name.to_owned(),
            kind: INTERNAL,
            start: time,
            end: time,
            attributes: map([
                ("chipdeck.event.id", event_id.into()),
                ("chipdeck.event.type", name.into()),
                ("chipdeck.session", opt(&value, "session")),
                ("chipdeck.correlation.id", opt(&value, "correlationId")),
            ]),
            failed: None,
        };
        self.describe(&mut span, line, lines, name, payload);
        let spans = self.spans.entry(trace.clone()).or_insert_with(|| {
            self.order.push(trace.clone());
            Vec::new()
        });
        // A second event with the same id does nothing.
        if self.of_event.contains_key(event_id) {
            return;
        }
        self.of_event.insert(event_id.to_owned(), span.id.clone());
        if name == "tool.call" {
            self.calls.insert(index, (trace, spans.len()));
        }
        spans.push(span);
    }

    fn describe(
        &mut self,
        span: &mut Span,
        line: &Line,
        lines: &Lines<'_>,
        name: &str,
        payload: &Value,
    ) {
        let more = match name {
            "tool.call" => {
                let tool = string(payload, "toolName");
                span.name = format!("execute_tool {tool}");
                map([
                    ("gen_ai.operation.name", "execute_tool".into()),
                    ("gen_ai.tool.name", tool.into()),
                    ("gen_ai.tool.call.id", string_of(span, "chipdeck.event.id")),
                    ("gen_ai.tool.type", "function".into()),
                    ("gen_ai.tool.call.arguments", as_text(payload.get("args"))),
                ])
            }
            "tool.result" => map([
                ("gen_ai.operation.name", "execute_tool".into()),
                ("gen_ai.tool.call.id", opt(payload, "callId")),
                ("gen_ai.tool.call.result", as_text(payload.get("result"))),
                (
                    "error.type",
                    failure(payload).map_or(Value::Null, Value::from),
                ),
            ]),
            "message.assistant" => {
                let said = self.usage(line, lines);
                let model = said.model.or_else(|| self.model.clone());
                span.kind = CLIENT;
                span.name = match &model {
                    Some(model) => format!("chat {model}"),
                    None => "chat".to_owned(),
                };
                map([
                    ("gen_ai.operation.name", "chat".into()),
                    (
                        "gen_ai.provider.name",
                        model.as_deref().and_then(provider).into(),
                    ),
                    ("gen_ai.request.model", model.into()),
                    ("gen_ai.response.id", said.id.into()),
                    ("gen_ai.usage.input_tokens", said.input.into()),
                    ("gen_ai.usage.output_tokens", said.output.into()),
                    ("gen_ai.output.messages", message("assistant", payload)),
                ])
            }
            "message.user" => map([("gen_ai.input.messages", message("user", payload))]),
            "message.system" => map([("gen_ai.system_instructions", opt(payload, "content"))]),
            name if name.starts_with("file.") => map([
                ("chipdeck.file.path", opt(payload, "path")),
                ("chipdeck.file.from", opt(payload, "from")),
                ("chipdeck.file.to", opt(payload, "to")),
            ]),
            _ => map([("chipdeck.payload", as_text(Some(payload)))]),
        };
        span.attributes.extend(more);
    }

    /// A result ends its call's span. `false`: the part does not have the call.
    fn settle(
        &mut self,
        index: u32,
        time: i64,
        event_id: &str,
        payload: &Value,
        lines: &Lines<'_>,
    ) -> bool {
        let call = lines.log.timeline.counterpart(index);
        let Some((trace, at)) = call.and_then(|call| self.calls.get(&call)) else {
            return false;
        };
        let Some(span) = self.spans.get_mut(trace).and_then(|it| it.get_mut(*at)) else {
            return false;
        };
        let took = payload.get("durationMs").and_then(Value::as_i64);
        let by_duration = took
            .filter(|it| *it >= 0)
            .map(|it| span.start.saturating_add(it));
        span.end = by_duration.unwrap_or(time).max(span.start);
        span.failed = failure(payload);
        span.attributes.extend(map([
            ("chipdeck.status", opt(payload, "status")),
            ("gen_ai.tool.call.result", as_text(payload.get("result"))),
            ("error.type", span.failed.clone().into()),
            ("chipdeck.error", as_text(payload.get("error"))),
        ]));
        self.of_event.insert(event_id.to_owned(), span.id.clone());
        true
    }

    /// What the agent's own record says of an answer; its tokens once for each answer.
    fn usage(&mut self, line: &Line, lines: &Lines<'_>) -> Usage {
        let timeline = lines.log.timeline;
        if timeline.options().canonical {
            return Usage::default();
        }
        let located = line.index.and_then(|index| timeline.entry(index));
        let raw = located.map(|it| load_record(it.place, lines.log.source));
        let record: Value = serde_json::from_slice(&raw.unwrap_or_default()).unwrap_or_default();
        let text = |at: &str| {
            record
                .pointer(at)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let id = text("/message/id");
        let mut out = Usage {
            model: text("/message/model"),
            id: id.clone(),
            ..Usage::default()
        };
        if id.is_some_and(|id| self.counted.insert(id)) {
            let number = |at: &str| record.pointer(at).and_then(Value::as_u64);
            let cached = ["cache_read_input_tokens", "cache_creation_input_tokens"];
            let cached = cached.map(|it| number(&format!("/message/usage/{it}")).unwrap_or(0));
            let input = number("/message/usage/input_tokens");
            out.input = input.map(|it| {
                cached
                    .iter()
                    .fold(it, |sum, more| sum.saturating_add(*more))
            });
            out.output = number("/message/usage/output_tokens");
        }
        out
    }

    fn done(mut self) -> Vec<Value> {
        let mut out = Vec::new();
        for trace in std::mem::take(&mut self.order) {
            let spans = self.spans.remove(&trace).unwrap_or_default();
            let trace_id = hash(&["trace", &trace], 16);
            let root = hash(&["root", &trace], 8);
            let here: HashSet<&String> = spans.iter().map(|it| &it.id).collect();
            let start = spans.iter().map(|it| it.start).min().unwrap_or(0);
            let end = spans.iter().map(|it| it.end).max().unwrap_or(start);
            let agent = self.agent.as_deref();
            let attributes = map([
                ("gen_ai.operation.name", "invoke_agent".into()),
                ("gen_ai.agent.name", agent.into()),
                ("gen_ai.conversation.id", self.conversation.clone().into()),
                ("chipdeck.trace.id", trace.as_str().into()),
            ]);
            let run = Span {
                id: root.clone(),
                parent: None,
                name: format!("invoke_agent {}", agent.unwrap_or("agent")),
                kind: INTERNAL,
                start,
                end,
                attributes,
                failed: None,
            };
            let parents: Vec<String> = spans
                .iter()
                .map(|span| {
                    let parent = span.parent.as_ref().and_then(|it| self.of_event.get(it));
                    // One of another trace, or itself, is no parent here.
                    let parent = parent.filter(|it| here.contains(*it) && **it != span.id);
                    parent.unwrap_or(&root).clone()
                })
                .collect();
            out.push(run.json(&trace_id, None));
            let below = spans.iter().zip(&parents);
            out.extend(below.map(|(span, parent)| span.json(&trace_id, Some(parent))));
        }
        out
    }
}

#[derive(Default)]
struct Usage {
    model: Option<String>,
    id: Option<String>,
    input: Option<u64>,
    output: Option<u64>,
}

impl Span {
    fn json(&self, trace_id: &str, parent: Option<&String>) -> Value {
        let nanos = |ms: i64| format!("{}", i128::from(ms) * 1_000_000);
        let mut out = map([
            ("traceId", trace_id.into()),
            ("spanId", self.id.as_str().into()),
            ("parentSpanId", parent.cloned().into()),
            ("name", self.name.as_str().into()),
            ("kind", self.kind.into()),
            ("startTimeUnixNano", nanos(self.start).into()),
            ("endTimeUnixNano", nanos(self.end).into()),
            ("attributes", attributes(&self.attributes)),
        ]);
        if let Some(why) = &self.failed {
            out.insert("status".to_owned(), json!({"code": FAILED, "message": why}));
        }
        Value::Object(out)
    }
}

fn attributes(of: &Map<String, Value>) -> Value {
    // Sorted, whatever the JSON library's own order is.
    let sorted: BTreeMap<&String, &Value> = of.iter().collect();
    let one = |(key, value): (&String, &Value)| {
        let value = match value {
            Value::Bool(it) => json!({ "boolValue": it }),
            Value::Number(it) if it.is_f64() => json!({ "doubleValue": it }),
            Value::Number(it) => json!({ "intValue": it.to_string() }),
            Value::String(it) => json!({ "stringValue": it }),
            other => json!({ "stringValue": other.to_string() }),
        };
        json!({"key": key, "value": value})
    };
    Value::Array(sorted.into_iter().map(one).collect())
}

fn hash(parts: &[&str], bytes: usize) -> String {
    let hash = Sha256::digest(parts.join("\0"));
    hex(hash.get(..bytes).unwrap_or_default())
}

fn span_id(event_id: &str) -> String {
    hash(&["span", event_id], 8)
}

fn string<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn opt(value: &Value, key: &str) -> Value {
    value
        .get(key)
        .filter(|it| it.is_string())
        .cloned()
        .unwrap_or_default()
}

fn string_of(span: &Span, key: &str) -> Value {
    span.attributes.get(key).cloned().unwrap_or_default()
}

fn as_text(value: Option<&Value>) -> Value {
    match value {
        None | Some(Value::Null) => Value::Null,
        Some(Value::String(text)) => text.as_str().into(),
        Some(other) => other.to_string().into(),
    }
}

fn message(role: &str, payload: &Value) -> Value {
    let content = string(payload, "content");
    let parts = json!([{"role": role, "parts": [{"type": "text", "content": content}]}]);
    parts.to_string().into()
}

fn failure(payload: &Value) -> Option<String> {
    some(string(payload, "status")).filter(|it| it != "ok")
}

fn provider(model: &str) -> Option<&'static str> {
    let model = model.to_ascii_lowercase();
    [
        ("claude", "anthropic"),
        ("gpt", "openai"),
        ("o1", "openai"),
        ("o3", "openai"),
        ("o4", "openai"),
        ("codex", "openai"),
        ("gemini", "gcp.gemini"),
        ("mistral", "mistral_ai"),
        ("deepseek", "deepseek"),
        ("grok", "x_ai"),
    ]
    .iter()
    .find(|(start, _)| model.starts_with(start))
    .map(|(_, provider)| *provider)
}
