//! What two states differ in: files, tools, memory, chips and plans, by name. An event's id alone (a file that was
//! written by another event with the same content) is no difference.

use crate::state::{Certainty, FileState, State};
use crate::timeline::Timeline;
use chipdeck_ingest::Source;
use std::collections::{BTreeMap, BTreeSet};

/// A state with what is needed to name it.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    pub timeline: &'a Timeline,
    pub state: &'a State,
    pub source: &'a dyn Source,
}

/// How a file stands in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub exists: bool,
    pub certainty: Certainty,
    /// `None` when deleted or unknown.
    pub sha256: Option<String>,
    pub bytes: Option<u64>,
}

/// A file that differs; `None` on a side that never names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDifference {
    pub path: String,
    pub left: Option<Standing>,
    pub right: Option<Standing>,
}

/// Something else that differs: a tool's status, a memory item's zone, a chip's or a plan's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub id: String,
    /// A tool's name; empty for the rest.
    pub name: String,
    pub left: Option<&'static str>,
    pub right: Option<&'static str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    pub files: Vec<FileDifference>,
    pub tools: Vec<Moved>,
    pub memory: Vec<Moved>,
    pub chips: Vec<Moved>,
    pub plans: Vec<Moved>,
    /// Rows of the dialogue on each side that the other doesn't have at its place, counted from the first that
    /// differs.
    pub dialogue: (u64, u64),
}

impl Differences {
    pub fn is_empty(&self) -> bool {
        *self == Differences::default()
    }
}

/// What `right` has otherwise than `left`; lists sorted by name.
pub fn differences(left: Look<'_>, right: Look<'_>) -> Differences {
    Differences {
        files: files(left, right),
        tools: moved(tools(left), tools(right)),
        memory: moved(memory(left), memory(right)),
        chips: moved(chips(left), chips(right)),
        plans: moved(plans(left), plans(right)),
        dialogue: dialogue(left, right),
    }
}

fn files(left: Look<'_>, right: Look<'_>) -> Vec<FileDifference> {
    let of = |look: Look<'_>| -> BTreeMap<String, FileState> {
        let files = look.timeline.files(look.state).into_iter();
        files.map(|(path, file)| (path.to_string(), file)).collect()
    };
    let (a, b) = (of(left), of(right));
    let paths: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let standing = |look: Look<'_>, file: Option<&FileState>| {
        file.map(|file| Standing {
            exists: file.exists,
            certainty: file.certainty,
            sha256: file
                .content
                .and_then(|content| look.timeline.content_sha256(content, look.source)),
            bytes: file
                .content
                .and_then(|content| look.timeline.known_bytes(content, look.source)),
        })
    };
    paths
        .into_iter()
        .filter_map(|path| {
            let (left, right) = (standing(left, a.get(path)), standing(right, b.get(path)));
            (left != right).then(|| FileDifference {
                path: path.clone(),
                left,
                right,
            })
        })
        .collect()
}

type Named = BTreeMap<String, (String, &'static str)>;

fn moved(left: Named, right: Named) -> Vec<Moved> {
    let ids: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    ids.into_iter()
        .filter_map(|id| {
            let (a, b) = (left.get(id), right.get(id));
            let of = |it: Option<&(String, &'static str)>| it.map(|it| it.1);
            (of(a) != of(b)).then(|| Moved {
                id: id.clone(),
                name: a.or(b).map(|it| it.0.clone()).unwrap_or_default(),
                left: of(a),
                right: of(b),
            })
        })
        .collect()
}

fn tools(look: Look<'_>) -> Named {
    let tools = look.timeline.tools(look.state);
    tools
        .map(|tool| {
            let status = tool.status.map_or("pending", |it| it.as_str());
            let name = tool.tool_name.to_string();
            (tool.call_id.to_string(), (name, status))
        })
        .collect()
}

fn memory(look: Look<'_>) -> Named {
    let zones = look.timeline.memory(look.state);
    let of = |list: Vec<chipdeck_event::Id>, zone: &'static str| {
        list.into_iter()
            .map(move |id| (id.to_string(), (String::new(), zone)))
    };
    of(zones.hot, "hot")
        .chain(of(zones.warm, "warm"))
        .chain(of(zones.cold, "cold"))
        .chain(of(zones.recycled, "recycled"))
        .collect()
}

fn chips(look: Look<'_>) -> Named {
    let (queue, evicted) = look.timeline.chips(look.state);
    let queue = queue.into_iter().map(|chip| (chip, "queue"));
    let evicted = evicted.into_iter().map(|chip| (chip, "evicted"));
    queue
        .chain(evicted)
        .map(|(chip, place)| (chip.id.to_string(), (String::new(), place)))
        .collect()
}

fn plans(look: Look<'_>) -> Named {
    let plans = look.timeline.plans(look.state).into_iter();
    plans
        .map(|(id, status)| (id.to_string(), (String::new(), status.as_str())))
        .collect()
}

fn dialogue(left: Look<'_>, right: Look<'_>) -> (u64, u64) {
    let (mut a, mut b) = (
        left.timeline.dialogue(left.state),
        right.timeline.dialogue(right.state),
    );
    let mut same = 0;
    let text = |look: Look<'_>, it: Option<&chipdeck_event::Text>| {
        it.map(|text| chipdeck_ingest::load_text(text, look.source))
    };
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y))
                if x.event_id == y.event_id
                    && x.role == y.role
                    && x.status == y.status
                    && text(left, x.content) == text(right, y.content) =>
            {
                same += 1;
            }
            _ => break,
        }
    }
    let of = |look: Look<'_>| look.state.dialogue_len() as u64 - same;
    (of(left), of(right))
}
