//! Entries to lanes, one after another.
//!
//! A record that names its parent is on its parent's lane. A message of the user whose parent is followed by a later
//! message of the user already is a rewind (calls that run side by side make harmless forks of the tree; those are
//! none); where an agent's records are strictly a line, any record whose parent is not the newest is one. A session
//! whose first record goes on from another session's newest is that session, resumed; from an older one, a fork.

use super::{links, LaneKind, Path, SessionLane, SessionLanes};
use crate::timeline::Timeline;
use chipdeck_event::{Event, Id, Located, Payload, Role};
use chipdeck_ingest::{
    lineage, load_record, load_text, may_turn_back, tree_of, turned_back, Agent, Kin, Lineage,
    Source, Tree, TurnedBack,
};

/// A record larger than this is not read for what it says of its session.
const LARGEST: u64 = 64 << 20;

/// How a message begins that is a command to the program itself, or what that one printed.
const LOCAL: &[&str] = &["<command-name>", "<command-message>", "<local-command-"];

/// What the readers call a session that no record names.
const NO_SESSION: &str = "session";

/// What an entry is placed with.
struct Asked<'a> {
    timeline: &'a Timeline,
    source: &'a dyn Source,
    agent: Agent,
    tree: Tree,
    index: u32,
    located: &'a Located,
    event: &'a Event,
    /// The entry of the parent that the record names.
    parent: Option<u32>,
    prompt: bool,
}

impl SessionLanes {
    /// Takes in the entries that came since. `agent`: whose log it is; `None` for one that has no lanes.
    pub fn grow(&mut self, timeline: &Timeline, source: &dyn Source, agent: Option<Agent>) {
        let from = self.upto() + 1;
        for index in from..=timeline.len() {
            let Some(located) = timeline.entry(index) else {
                break;
            };
            let file = located.place.file as usize;
            let event = located.entry.event();
            let (lane, turn) = match (agent, event) {
                (Some(agent), Some(event)) if !is_loose(event) => {
                    let tree = tree_of(agent);
                    let fresh = || {
                        let now = self.now.get(&event.envelope.trace_id);
                        now.is_none_or(|now| self.get(*now).is_none_or(|row| row.fresh))
                    };
                    let parent = event.envelope.parent.as_ref();
                    let parent = parent
                        .filter(|_| tree != Tree::None || fresh())
                        .and_then(|id| timeline.index_of_event(id))
                        .filter(|parent| *parent < index);
                    let asked = Asked {
                        timeline,
                        source,
                        agent,
                        tree,
                        index,
                        located,
                        event,
                        parent,
                        prompt: is_prompt(event),
                    };
                    self.place(&asked)
                }
                _ => {
                    let lane = match self.last_of_file.get(file) {
                        Some(lane) => *lane,
                        None => self.first_lane(),
                    };
                    (lane, self.get(lane).map_or(0, |row| row.turns))
                }
            };
            self.of.push(lane);
            self.turn.push(turn);
            if self.last_of_file.len() <= file {
                self.last_of_file.resize(file + 1, lane);
            }
            if let Some(last) = self.last_of_file.get_mut(file) {
                *last = lane;
            }
            let Some(row) = self.rows.get_mut(lane as usize) else {
                continue;
            };
            row.own.push(index);
            row.newest = (located.place.file, located.place.offset);
            let Some(event) = event else { continue };
            row.fresh &= matches!(event.payload, Payload::SessionStart { .. });
            row.linked |= event.envelope.parent.is_some();
            match &event.payload {
                Payload::Message { role, .. } => {
                    row.messages += 1;
                    let first_prompt = *role == Role::User && row.prompts.len() == 1;
                    if row.first_said.is_none() || first_prompt {
                        row.first_said = Some(index);
                    }
                }
                Payload::ToolCall { tool_name, .. }
                    if agent.is_some() && links::starts_agents(tool_name) =>
                {
                    self.starter(index);
                }
                _ => {}
            }
        }
        if agent.is_some() {
            self.tie(timeline, source);
        }
    }

    /// The lane of what stands before any session.
    fn first_lane(&mut self) -> u32 {
        if self.rows.is_empty() {
            self.rows.push(SessionLane::new("".into(), LaneKind::Main));
        }
        0
    }

    fn place(&mut self, asked: &Asked) -> (u32, u32) {
        let trace = &asked.event.envelope.trace_id;
        let back = may_turn_back(&asked.event.envelope.type_name);
        let lane = match self.turned.get(trace).copied() {
            Some((parent, from)) if !back => {
                self.turned.remove(trace);
                let turns = self.turn_of(from);
                self.begin(LaneKind::Rewound, trace, parent, from, turns)
            }
            _ => match self.now.get(trace).copied() {
                Some(now) => self.go_on(now, asked),
                None => self.begin_session(asked),
            },
        };
        self.now.insert(trace.clone(), lane);
        if back {
            self.turn_back(lane, asked);
        }
        let same = asked
            .parent
            .filter(|parent| asked.tree == Tree::Prompts && self.of(*parent) == Some(lane));
        let at_parent = same.map(|parent| self.turn_of(parent));
        let Some(row) = self.rows.get_mut(lane as usize) else {
            return (lane, 0);
        };
        if row.traces.last() != Some(trace) {
            row.traces.retain(|held| held != trace);
            row.traces.push(trace.clone());
        }
        if asked.prompt {
            row.turns += 1;
            row.prompts.push(asked.index);
            (lane, row.turns)
        } else {
            (lane, at_parent.unwrap_or(row.turns))
        }
    }

    fn turn_of(&self, index: u32) -> u32 {
        (index as usize)
            .checked_sub(1)
            .and_then(|at| self.turn.get(at))
            .copied()
            .unwrap_or(0)
    }

    /// The first entry of a session.
    fn begin_session(&mut self, asked: &Asked) -> u32 {
        let trace = &asked.event.envelope.trace_id;
        let place = asked.located.place;
        let told = if place.len > LARGEST {
            Lineage::default()
        } else {
            let record = load_record(place, asked.source);
            lineage(asked.agent, trace, &String::from_utf8_lossy(&record))
        };
        let kind = match told.kin {
            Kin::Alone => LaneKind::Main,
            Kin::Fork => LaneKind::Fork,
            Kin::SubAgent => LaneKind::SubAgent,
        };
        // What stood before any session is of the first one.
        let unnamed = self.rows.len() == 1 && self.rows.iter().all(|row| row.trace.is_empty());
        if !unnamed {
            self.rows.push(SessionLane::new(trace.clone(), kind));
        }
        let lane = (self.rows.len() - 1) as u32;
        let call = told
            .call
            .as_deref()
            .and_then(|id| asked.timeline.index_of_event(id))
            .or(asked.parent)
            .filter(|index| *index < asked.index && is_call(asked.timeline, *index));
        let after = told
            .after
            .as_deref()
            .and_then(|id| asked.timeline.index_of_event(id))
            .filter(|index| *index < asked.index);
        if let Some(row) = self.rows.get_mut(lane as usize) {
            row.trace = trace.clone();
            row.kind = kind;
            row.title = told.title.map(Into::into);
            row.told = told.parent.map(Into::into);
        }
        match (kind, call, after) {
            (LaneKind::SubAgent, Some(call), _) => self.start_by(lane, call),
            (LaneKind::Fork, _, Some(after)) => {
                let parent = self.of(after);
                let turns = self.turn_of(after);
                if let Some(row) = self.rows.get_mut(lane as usize) {
                    row.parent = parent;
                    row.from = after;
                    row.base = turns;
                    row.turns = turns;
                }
            }
            _ => {}
        }
        match asked.event.payload {
            Payload::SessionStart { .. } => lane,
            _ => self.go_on(lane, asked),
        }
    }

    /// A lane that goes on from another.
    fn begin(&mut self, kind: LaneKind, trace: &Id, parent: u32, from: u32, turns: u32) -> u32 {
        self.rows.push(SessionLane {
            parent: Some(parent),
            from,
            base: turns,
            turns,
            fresh: false,
            linked: true,
            ..SessionLane::new(trace.clone(), kind)
        });
        (self.rows.len() - 1) as u32
    }

    /// The lane of the next entry of a session whose last one was on `now`.
    fn go_on(&mut self, now: u32, asked: &Asked) -> u32 {
        let trace = &asked.event.envelope.trace_id;
        let Some(row) = self.get(now) else { return now };
        let on = asked
            .parent
            .and_then(|parent| Some((parent, self.of(parent)?)));
        if let (true, Some((parent, lane))) = (row.fresh, on) {
            let free = row.parent.is_none() && row.kind != LaneKind::SubAgent;
            if lane != now && free {
                return self.resume_or_fork(now, parent, lane, asked);
            }
        }
        if asked.tree == Tree::None {
            return now;
        }
        let Some((parent, lane)) = on else {
            let root = asked.event.envelope.parent.is_none() && asked.prompt;
            if root && row.linked && row.kind != LaneKind::SubAgent {
                return self.lane_from_the_start(now, trace);
            }
            return now;
        };
        let Some(row) = self.get(lane) else {
            return now;
        };
        if !row.traces.contains(trace) {
            return now;
        }
        let kind = match row.traces.last() {
            Some(last) if last != trace => LaneKind::Fork,
            _ => LaneKind::Rewound,
        };
        match asked.tree {
            Tree::Prompts if asked.prompt && self.turn_of(parent) < row.turns => {
                let turns = self.turn_of(parent);
                if !self.leaves_anything(lane, turns, asked) {
                    return lane;
                }
                let (from_lane, from) = self.cut(lane, turns);
                self.begin(kind, trace, from_lane, from, turns)
            }
            Tree::Records => {
                let place = asked.located.place;
                let begins = (place.file, place.offset) != row.newest
                    && !matches!(
                        asked.event.payload,
                        Payload::ToolResult { .. }
                            | Payload::MessageToolResult { .. }
                            | Payload::FileCreate { .. }
                            | Payload::FileChange { .. }
                            | Payload::FileDelete { .. }
                            | Payload::FileRename { .. }
                            | Payload::FileObserve { .. }
                    );
                let above = asked.timeline.entry(parent).map(|it| it.place);
                let newest = above.is_none_or(|it| (it.file, it.offset) == row.newest);
                if !begins || newest {
                    return lane;
                }
                let from = self.end_of_record(asked.timeline, lane, parent);
                let turns = self.turn_of(from);
                self.begin(kind, trace, lane, from, turns)
            }
            _ => lane,
        }
    }

    /// A session that goes on from an entry of another.
    fn resume_or_fork(&mut self, now: u32, parent: u32, lane: u32, asked: &Asked) -> u32 {
        let trace = &asked.event.envelope.trace_id;
        let turns = self.turn_of(parent);
        let Some(row) = self.get(lane) else {
            return now;
        };
        let tip = turns == row.turns && row.kind != LaneKind::SubAgent;
        let newest = now as usize + 1 == self.rows.len();
        if tip && newest {
            let Some(gone) = self.rows.pop() else {
                return now;
            };
            for index in gone.own.runs().flat_map(|(first, last)| first..=last) {
                if let Some(of) = self.of.get_mut(index as usize - 1) {
                    *of = lane;
                }
            }
            for last in &mut self.last_of_file {
                if *last == now {
                    *last = lane;
                }
            }
            if let Some(row) = self.rows.get_mut(lane as usize) {
                row.own = Path::of(row.own.runs().chain(gone.own.runs()).collect());
                row.traces.push(trace.clone());
            }
            return lane;
        }
        let (from_lane, from) = if tip {
            (lane, parent)
        } else {
            self.cut(lane, turns)
        };
        if let Some(row) = self.rows.get_mut(now as usize) {
            row.kind = LaneKind::Fork;
            row.parent = Some(from_lane);
            row.from = from;
            row.base = turns;
            row.turns = turns;
        }
        now
    }

    /// Where a lane was left that goes on after so many messages of the user: itself, or what it came from.
    fn cut(&self, lane: u32, turns: u32) -> (u32, u32) {
        let Some(row) = self.get(lane) else {
            return (lane, 0);
        };
        let left = row.prompts.get(turns.saturating_sub(row.base) as usize);
        let from = left.map_or(row.own.last(), |prompt| row.own.previous(*prompt));
        match (from, row.kind, row.parent) {
            (Some(from), _, _) => (lane, from),
            (None, LaneKind::Rewound | LaneKind::Fork, Some(parent)) => (parent, row.from),
            (None, _, _) => (lane, 0),
        }
    }

    /// Is there more on a lane behind so many messages of the user than commands to the program itself? What `/exit`
    /// left behind is no conversation.
    fn leaves_anything(&self, lane: u32, turns: u32, asked: &Asked) -> bool {
        let Some(row) = self.get(lane) else {
            return false;
        };
        let left = row
            .prompts
            .get(turns.saturating_sub(row.base) as usize..)
            .unwrap_or_default();
        let Some(&first) = left.first() else {
            return false;
        };
        let payload = |index: u32| {
            let event = asked.timeline.entry(index)?.entry.event()?;
            Some(&event.payload)
        };
        let said = left.iter().any(|prompt| match payload(*prompt) {
            Some(Payload::Message { content, .. }) => load_text(content, asked.source)
                .is_none_or(|text| !LOCAL.iter().any(|mark| text.starts_with(mark))),
            _ => false,
        });
        let answered = || {
            let after = row.own.runs().flat_map(|(from, to)| from.max(first)..=to);
            let mut after = after.filter(|index| self.turn_of(*index) > turns);
            after.any(|index| {
                matches!(
                    payload(index),
                    Some(
                        Payload::ToolCall { .. }
                            | Payload::Message {
                                role: Role::Assistant,
                                ..
                            }
                    )
                )
            })
        };
        said || answered()
    }

    /// The first message of all was written anew.
    fn lane_from_the_start(&mut self, now: u32, trace: &Id) -> u32 {
        let root = self.past(now).first().map_or(now, |(lane, _)| *lane);
        let (_, from) = self.cut(root, 0);
        self.begin(LaneKind::Rewound, trace, root, from, 0)
    }

    /// The last entry of the record that `index` is of.
    fn end_of_record(&self, timeline: &Timeline, lane: u32, index: u32) -> u32 {
        let place = |index: u32| {
            let place = timeline.entry(index)?.place;
            Some((place.file, place.offset))
        };
        let record = place(index);
        let mut end = index;
        while self.of(end + 1) == Some(lane) && place(end + 1) == record {
            end += 1;
        }
        end
    }

    /// The log says that the conversation was turned back: what comes next is a lane.
    fn turn_back(&mut self, lane: u32, asked: &Asked) {
        if asked.located.place.len > LARGEST {
            return;
        }
        let record = load_record(asked.located.place, asked.source);
        let prompt = match turned_back(asked.agent, &String::from_utf8_lossy(&record)) {
            Some(TurnedBack::Turns(turns)) => self.prompt_back(lane, turns),
            Some(TurnedBack::Before(id)) => asked
                .timeline
                .index_of_event(&id)
                .filter(|index| *index < asked.index),
            None => None,
        };
        let Some(prompt) = prompt else { return };
        let Some(on) = self.of(prompt) else { return };
        let Some(row) = self.get(on) else { return };
        let (on, from) = match (row.own.previous(prompt), row.kind, row.parent) {
            (Some(from), _, _) => (on, from),
            (None, LaneKind::Rewound | LaneKind::Fork, Some(parent)) => (parent, row.from),
            (None, _, _) => (on, 0),
        };
        let trace = asked.event.envelope.trace_id.clone();
        self.turned.insert(trace, (on, from));
    }

    /// The message of the user that is so many messages back, on the lane or in its past.
    fn prompt_back(&self, lane: u32, turns: u32) -> Option<u32> {
        let mut left = turns as usize;
        for (at, until) in self.past(lane).into_iter().rev() {
            let row = self.get(at)?;
            let there = row.prompts.partition_point(|prompt| *prompt <= until);
            if let Some(nth) = there.checked_sub(left) {
                return row.prompts.get(nth).copied();
            }
            left -= there;
        }
        // More than there are: to the start.
        let (root, _) = *self.past(lane).first()?;
        self.get(root)?.prompts.first().copied()
    }
}

impl SessionLane {
    fn new(trace: Id, kind: LaneKind) -> SessionLane {
        SessionLane {
            kind,
            traces: vec![trace.clone()],
            trace,
            parent: None,
            from: 0,
            call: None,
            title: None,
            first_said: None,
            messages: 0,
            own: Path::default(),
            base: 0,
            turns: 0,
            prompts: Vec::new(),
            newest: (0, 0),
            fresh: true,
            linked: false,
            told: None,
        }
    }
}

/// A record of no session, as Claude Code's titles and snapshots: it goes with what stands before it.
fn is_loose(event: &Event) -> bool {
    matches!(event.payload, Payload::Unknown)
        && &*event.envelope.trace_id == NO_SESSION
        && event.envelope.parent.is_none()
}

fn is_prompt(event: &Event) -> bool {
    matches!(
        event.payload,
        Payload::Message {
            role: Role::User,
            ..
        }
    )
}

fn is_call(timeline: &Timeline, index: u32) -> bool {
    let event = timeline.entry(index).and_then(|it| it.entry.event());
    matches!(
        event.map(|event| &event.payload),
        Some(Payload::ToolCall { .. })
    )
}
