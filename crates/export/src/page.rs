//! What a page for people has, in order: who said what, what was called and what came of it, which files changed and
//! how, what was found. Both pages are drawn from this.

use crate::audit::{self, Audit};
use crate::lines::{Line, Lines};
use crate::masking::Masking;
use crate::part::paths;
use crate::Error;
use chipdeck_event::Severity;
use chipdeck_replay::restore::unified;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

pub(crate) struct Page {
    pub title: String,
    pub first: Option<i64>,
    pub last: Option<i64>,
    pub items: Vec<Item>,
    pub files: BTreeMap<String, u32>,
    pub findings: Vec<Found>,
    pub masked: usize,
    /// An agent's records that are no events.
    pub records: u64,
    /// Where the part is an audit.
    pub audit: Option<Audit>,
}

pub(crate) struct Item {
    pub id: String,
    /// Where the log says it: file and line.
    pub place: String,
    /// Unix milliseconds.
    pub time: Option<i64>,
    pub what: What,
}

pub(crate) enum What {
    State {
        files: usize,
        messages: usize,
    },
    Said {
        /// `user`, `assistant`, `system`.
        role: &'static str,
        text: String,
    },
    /// The dialogue's word on a tool's outcome.
    Claim {
        call: String,
        status: String,
        text: String,
    },
    Tool(Tool),
    File {
        name: &'static str,
        path: String,
        diff: String,
        certainty: &'static str,
    },
    Other {
        name: String,
        text: String,
    },
    /// A line that is no event.
    Opaque(String),
}

#[derive(Default)]
pub(crate) struct Tool {
    pub name: String,
    pub args: String,
    /// `pending` where the part has no result.
    pub status: String,
    pub result: String,
    pub duration: Option<i64>,
}

pub(crate) struct Found {
    pub severity: &'static str,
    pub code: &'static str,
    pub message: String,
    pub place: String,
}

impl Page {
    pub(crate) fn of(lines: &Lines<'_>, masking: &Masking) -> Result<Page, Error> {
        let mut page = Page {
            title: masking.text(lines.log.name),
            first: None,
            last: None,
            items: Vec::new(),
            files: BTreeMap::new(),
            findings: findings(lines, masking),
            masked: 0,
            records: 0,
            audit: lines.audit().then(|| audit::figures(lines)),
        };
        // Where the call of an entry is among the items.
        let mut calls: HashMap<u32, usize> = HashMap::new();
        lines.each(&mut |line| {
            page.take(&line, lines, masking, &mut calls);
            Ok(())
        })?;
        page.masked = masking.places().len();
        Ok(page)
    }

    fn take(
        &mut self,
        line: &Line,
        lines: &Lines<'_>,
        masking: &Masking,
        calls: &mut HashMap<u32, usize>,
    ) {
        let text = masking.line(line);
        let value: Value = serde_json::from_str(&text).unwrap_or_default();
        let time = value.get("timestamp").and_then(Value::as_i64);
        if line.index.is_some() {
            self.first = self.first.or(time);
            self.last = time.or(self.last);
        }
        let payload = value.get("payload").unwrap_or(&Value::Null);
        let name = string(&value, "type");
        let canonical = lines.log.timeline.options().canonical;
        let what = match (line.opaque, name) {
            (true, _) => What::Opaque(text),
            (_, "state.snapshot") if line.index.is_none() => What::State {
                files: count(payload, "/state/files"),
                messages: count(payload, "/state/dialogue"),
            },
            (_, "message.user") => said("user", payload),
            (_, "message.assistant") => said("assistant", payload),
            (_, "message.system") => said("system", payload),
            // What is no event of ours says little to people.
            (_, "foreign.record") if !canonical => {
                self.records += 1;
                return;
            }
            (_, "message.toolResult") if self.agrees(line, lines, payload, calls) => return,
            (_, "message.toolResult" | "message.correction") => What::Claim {
                call: string(payload, "callId").to_owned(),
                status: string(payload, "status").to_owned(),
                text: string(payload, "content").to_owned(),
            },
            (_, "tool.call") => {
                line.index
                    .map(|index| calls.insert(index, self.items.len()));
                What::Tool(Tool {
                    name: string(payload, "toolName").to_owned(),
                    args: shown(payload.get("args")),
                    status: "pending".to_owned(),
                    ..Tool::default()
                })
            }
            (_, "tool.result") => {
                let call = line
                    .index
                    .and_then(|index| lines.log.timeline.counterpart(index));
                let result = Tool {
                    name: call
                        .and_then(|call| lines.event(call))
                        .and_then(tool_name)
                        .map_or_else(|| "tool".to_owned(), |name| masking.text(name)),
                    args: String::new(),
                    status: string(payload, "status").to_owned(),
                    result: outcome(payload),
                    duration: payload.get("durationMs").and_then(Value::as_i64),
                };
                let open = call.and_then(|call| calls.get(&call));
                match open.and_then(|at| self.items.get_mut(*at)) {
                    Some(Item {
                        what: What::Tool(tool),
                        time: began,
                        ..
                    }) => {
                        tool.status = result.status;
                        tool.result = result.result;
                        let took = began.zip(time).map(|(from, to)| to - from);
                        tool.duration = result.duration.or(took.filter(|it| *it >= 0));
                        return;
                    }
                    _ => What::Tool(result),
                }
            }
            (_, "file.create" | "file.change" | "file.delete" | "file.rename" | "file.observe") => {
                match self.file(line, name, payload, lines, masking) {
                    Some(what) => what,
                    None => return,
                }
            }
            (_, name) => What::Other {
                name: name.to_owned(),
                text: shown(Some(payload)),
            },
        };
        self.items.push(Item {
            id: line.event_id.clone(),
            place: format!("{}:{}", line.file, line.line),
            time,
            what,
        });
    }

    /// The dialogue's word is what the tool's row says already.
    fn agrees(
        &mut self,
        line: &Line,
        lines: &Lines<'_>,
        payload: &Value,
        calls: &HashMap<u32, usize>,
    ) -> bool {
        let call = line
            .index
            .and_then(|index| lines.log.timeline.counterpart(index));
        let item = call
            .and_then(|call| calls.get(&call))
            .and_then(|at| self.items.get_mut(*at));
        let Some(What::Tool(tool)) = item.map(|it| &mut it.what) else {
            return false;
        };
        let agrees = tool.status == string(payload, "status");
        if agrees && tool.result.is_empty() {
            string(payload, "content").clone_into(&mut tool.result);
        }
        agrees
    }

    fn file(
        &mut self,
        line: &Line,
        name: &str,
        payload: &Value,
        lines: &Lines<'_>,
        masking: &Masking,
    ) -> Option<What> {
        let index = line.index?;
        let timeline = lines.log.timeline;
        let event = lines.event(index)?;
        let mut diff = String::new();
        let mut certainty = "exact";
        for path in paths(event) {
            let versions = timeline.versions(path);
            let at = versions.partition_point(|it| it.index < index);
            let Some(now) = versions.get(at).filter(|it| it.index == index) else {
                continue;
            };
            let before = at.checked_sub(1).and_then(|at| versions.get(at));
            let text = |content| Some(masking.text(&timeline.content(content, lines.log.source)?));
            let old = before.and_then(|it| it.content).and_then(text);
            let new = now.content.and_then(text);
            certainty = now.certainty.as_str();
            // An unknown side has no diff.
            let known = |there: bool, side: &Option<String>| !there || side.is_some();
            if known(before.is_some_and(|it| it.exists), &old) && known(now.exists, &new) {
                let path = masking.text(path);
                let bytes = unified(
                    &path,
                    old.as_deref().map(str::as_bytes),
                    new.as_deref().map(str::as_bytes),
                );
                diff.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        let path = match name {
            "file.rename" => format!("{} → {}", string(payload, "from"), string(payload, "to")),
            _ => string(payload, "path").to_owned(),
        };
        if name == "file.observe" && diff.is_empty() {
            return None;
        }
        *self.files.entry(path.clone()).or_default() += 1;
        Some(What::File {
            name: match name {
                "file.create" => "created",
                "file.delete" => "deleted",
                "file.rename" => "renamed",
                "file.observe" => "seen on disk",
                _ => "changed",
            },
            path,
            diff,
            certainty,
        })
    }
}

fn said(role: &'static str, payload: &Value) -> What {
    What::Said {
        role,
        text: string(payload, "content").to_owned(),
    }
}

fn tool_name(event: &chipdeck_event::Event) -> Option<&str> {
    match &event.payload {
        chipdeck_event::Payload::ToolCall { tool_name, .. } => Some(tool_name),
        _ => None,
    }
}

fn findings(lines: &Lines<'_>, masking: &Masking) -> Vec<Found> {
    let inside: std::collections::HashSet<u32> = lines.indices().collect();
    let all = lines.log.timeline.findings().into_iter();
    all.filter(|it| it.index.is_some_and(|index| inside.contains(&index)))
        .filter(|it| it.finding.code.severity() != Severity::Info)
        .map(|it| Found {
            severity: it.finding.code.severity().as_str(),
            code: it.finding.code.as_str(),
            message: masking.text(&it.finding.message),
            place: format!(
                "{}:{}",
                lines.log.source.name(it.finding.file),
                it.finding.line
            ),
        })
        .collect()
}

fn string<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn count(value: &Value, pointer: &str) -> usize {
    match value.pointer(pointer) {
        Some(Value::Object(it)) => it.len(),
        Some(Value::Array(it)) => it.len(),
        _ => 0,
    }
}

/// A value for people: a text as it is, the rest as indented JSON.
fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

fn outcome(payload: &Value) -> String {
    let parts = [payload.get("error"), payload.get("result")].map(shown);
    let [error, result] = parts;
    match (error.is_empty(), result.is_empty()) {
        (false, false) => format!("{error}\n\n{result}"),
        _ => error + &result,
    }
}

/// `2026-11-30 12:03:22 UTC`.
pub(crate) fn date(unix_ms: i64) -> String {
    let time = chrono::DateTime::from_timestamp_millis(unix_ms);
    time.map_or_else(String::new, |it| {
        it.format("%Y-%m-%d %H:%M:%S UTC").to_string()
    })
}

/// `12:03:22`.
pub(crate) fn clock(unix_ms: i64) -> String {
    let time = chrono::DateTime::from_timestamp_millis(unix_ms);
    time.map_or_else(String::new, |it| it.format("%H:%M:%S").to_string())
}

/// `120 ms`, `3.4 s`, `2 min 5 s`.
pub(crate) fn duration(ms: i64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", ms as f64 / 1e3),
        _ => format!("{} min {} s", ms / 60_000, ms / 1_000 % 60),
    }
}

/// Total, median and longest of a tool's calls; nothing where none was timed.
pub(crate) fn times(of: &crate::ToolFigures) -> [String; 3] {
    let shown = |ms: u64| match of.timed {
        0 => "–".to_owned(),
        _ => duration(i64::try_from(ms).unwrap_or(i64::MAX)),
    };
    [of.total_ms, of.median_ms, of.longest_ms].map(shown)
}
