//! A state as JSON for people, scripts and tests: keys sorted, whatever the JSON library's own order is.

use crate::state::*;
use crate::timeline::Timeline;
use chipdeck_ingest::{load_text, Source};
use serde::Serialize;
use std::collections::BTreeMap;

/// The state as it is printed. Serialized as it stands its keys are sorted.
#[derive(Clone, Debug, Serialize)]
pub struct Printed {
    at: At,
    chips: Chips,
    context: Vec<String>,
    dialogue: Vec<Row>,
    files: BTreeMap<String, File>,
    memory: Memory,
    plans: BTreeMap<String, Plan>,
    tools: BTreeMap<String, Tool>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct At {
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    index: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<i64>,
}

#[derive(Clone, Debug, Serialize)]
struct Chips {
    evicted: Vec<String>,
    queue: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<String>,
    content: Option<String>,
    event_id: String,
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum File {
    #[serde(rename_all = "camelCase")]
    There {
        bytes: Option<u64>,
        certainty: &'static str,
        exists: bool,
        last_event: Option<String>,
        sha256: Option<String>,
    },
    #[serde(rename_all = "camelCase")]
    Gone {
        certainty: &'static str,
        exists: bool,
        last_event: Option<String>,
    },
}

#[derive(Clone, Debug, Serialize)]
struct Memory {
    cold: Vec<String>,
    hot: Vec<String>,
    recycled: Vec<String>,
    warm: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct Plan {
    status: &'static str,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    result_event: Option<String>,
    status: &'static str,
    tool_name: String,
}

impl Timeline {
    /// The state with all names, hashes and texts, ready to be serialized.
    pub fn print(&self, state: &State, source: &dyn Source) -> Printed {
        let name = |event: EventRef| self.event_id(event).map(|id| id.to_string());
        let (queue, evicted) = self.chips(state);
        let memory = self.memory(state);
        let ids = |list: Vec<chipdeck_event::Id>| list.iter().map(|id| id.to_string()).collect();
        let file = |file: FileState| {
            if !file.exists {
                return File::Gone {
                    certainty: file.certainty.as_str(),
                    exists: false,
                    last_event: name(file.last),
                };
            }
            File::There {
                bytes: file
                    .content
                    .and_then(|content| self.known_bytes(content, source)),
                certainty: file.certainty.as_str(),
                exists: true,
                last_event: name(file.last),
                sha256: file
                    .content
                    .and_then(|content| self.content_sha256(content, source)),
            }
        };
        Printed {
            at: self.at(state),
            chips: Chips {
                evicted: evicted.iter().map(|chip| chip.id.to_string()).collect(),
                queue: queue.iter().map(|chip| chip.id.to_string()).collect(),
            },
            context: self
                .book
                .context(state)
                .filter_map(|item| name(item.event))
                .collect(),
            dialogue: self
                .dialogue(state)
                .map(|said| Row {
                    call_id: said.call.map(|id| id.to_string()),
                    content: match said.content {
                        Some(text) => load_text(text, source).map(|text| text.to_string()),
                        None => Some(String::new()),
                    },
                    event_id: said.event_id.to_string(),
                    role: said.role,
                    status: said.status.map(|status| status.as_str()),
                })
                .collect(),
            files: self
                .files(state)
                .into_iter()
                .map(|(path, state)| (path.to_string(), file(state)))
                .collect(),
            memory: Memory {
                cold: ids(memory.cold),
                hot: ids(memory.hot),
                recycled: ids(memory.recycled),
                warm: ids(memory.warm),
            },
            plans: self
                .plans(state)
                .into_iter()
                .map(|(id, status)| {
                    (
                        id.to_string(),
                        Plan {
                            status: status.as_str(),
                        },
                    )
                })
                .collect(),
            tools: self
                .tools(state)
                .map(|tool| {
                    let printed = Tool {
                        result_event: tool.result.and_then(name),
                        status: tool.status.map_or("pending", |status| status.as_str()),
                        tool_name: tool.tool_name.to_string(),
                    };
                    (tool.call_id.to_string(), printed)
                })
                .collect(),
        }
    }

    /// [`Timeline::print`] as compact JSON.
    pub fn state_json(&self, state: &State, source: &dyn Source) -> String {
        serde_json::to_string(&self.print(state, source)).unwrap_or_default()
    }

    /// [`Timeline::state_json`] of a timeline that starts with one event for the first `before` entries of its log.
    pub fn state_json_behind(&self, state: &State, source: &dyn Source, before: u32) -> String {
        let mut printed = self.print(state, source);
        printed.at.index = printed.at.index.saturating_add(before).saturating_sub(1);
        serde_json::to_string(&printed).unwrap_or_default()
    }

    fn at(&self, state: &State) -> At {
        let event = self
            .entry(state.position)
            .and_then(|located| located.entry.event());
        At {
            event_id: event.map(|event| event.envelope.shown().to_string()),
            index: state.position,
            seq: event.and_then(|event| event.envelope.seq),
            timestamp: event.and_then(|event| event.envelope.timestamp),
        }
    }
}

/// The payload of a `state.snapshot`: the state with the contents of its files.
#[derive(Clone, Debug, Serialize)]
struct Whole {
    contents: BTreeMap<String, String>,
    state: Printed,
}

impl Timeline {
    /// The payload of a `state.snapshot` of this state, as compact JSON: a part of a log starts with one. A file whose
    /// content the log no longer has is in it without its text.
    pub fn snapshot_payload(&self, state: &State, source: &dyn Source) -> String {
        let text = |file: FileState| self.content(file.content?, source);
        let contents = self.files(state).into_iter();
        let contents =
            contents.filter_map(|(path, file)| Some((path.to_string(), text(file)?.to_string())));
        let whole = Whole {
            contents: contents.collect(),
            state: self.print(state, source),
        };
        serde_json::to_string(&whole).unwrap_or_default()
    }
}
