//! The lanes of a session: lines of conversation that run beside each other in one log. A rewind goes on from an
//! older message, a fork from a point of another session, a sub-agent has a conversation of its own.
//!
//! Seen from the entries when somebody asks, and grown as the log grows; reading a log costs nothing of it. Files are
//! not split by lanes: all of them wrote to one disk, in the order of time. A canonical log has one lane.

mod context;
mod grow;
mod links;
mod path;

pub use context::ContextAt;
pub use path::Path;

use chipdeck_event::Id;
use hashbrown::HashMap;
use links::Starter;

/// What a lane is to the one that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneKind {
    /// A session of its own.
    Main,
    /// It goes on from an older message of its parent.
    Rewound,
    /// Another session that begins with its parent's past.
    Fork,
    /// Started by a call of its parent; its past is its own.
    SubAgent,
}

impl LaneKind {
    pub fn as_str(self) -> &'static str {
        match self {
            LaneKind::Main => "main",
            LaneKind::Rewound => "rewound",
            LaneKind::Fork => "fork",
            LaneKind::SubAgent => "sub-agent",
        }
    }
}

/// One line of conversation. SessionLanes are numbered in the order in which the log begins them.
#[derive(Clone, Debug)]
pub struct SessionLane {
    pub kind: LaneKind,
    /// The session, or the sub-agent, as the log names it.
    pub trace: Id,
    /// `None` where it has none or where the parent is not in this log.
    pub parent: Option<u32>,
    /// The parent's last entry that belongs to this lane's past; of a sub-agent the entry that started it. 0: none.
    pub from: u32,
    /// The call that started a sub-agent.
    pub call: Option<u32>,
    /// What the log calls it.
    pub title: Option<Box<str>>,
    /// Its first message of a user, which its name is made from.
    pub first_said: Option<u32>,
    /// Messages on it (not those of its past).
    pub messages: u32,
    own: Path,
    /// Messages of the user on it and in its past, when it began and now.
    base: u32,
    turns: u32,
    prompts: Vec<u32>,
    /// File and offset of its newest record.
    newest: (u32, u64),
    /// Nothing but its `session.start` so far.
    fresh: bool,
    /// Some record of it names its parent.
    linked: bool,
    /// The sessions that its entries are of, the last one last.
    traces: Vec<Id>,
    /// The session that the log says it comes from.
    told: Option<Box<str>>,
}

impl SessionLane {
    /// Its own entries, without its past.
    pub fn own(&self) -> &Path {
        &self.own
    }

    pub fn first(&self) -> u32 {
        self.own.nth(0).unwrap_or(0)
    }

    pub fn last(&self) -> u32 {
        self.own.last().unwrap_or(0)
    }
}

/// The lanes of a log, as of its first [`SessionLanes::upto`] entries.
#[derive(Clone, Debug, Default)]
pub struct SessionLanes {
    rows: Vec<SessionLane>,
    /// By entry: its lane, and the user's messages so far on its path.
    of: Vec<u32>,
    turn: Vec<u32>,
    /// The lane that a session's next entries are on.
    now: HashMap<Id, u32>,
    /// By file: the lane of its last entry, for lines that are no events.
    last_of_file: Vec<u32>,
    /// A session's next entry begins a lane from there: lane and entry.
    turned: HashMap<Id, (u32, u32)>,
    /// Calls that may have started an agent.
    starters: Vec<Starter>,
    /// What was known when calls were last looked for.
    looked: (usize, usize),
}

impl SessionLanes {
    pub fn rows(&self) -> &[SessionLane] {
        &self.rows
    }

    pub fn get(&self, lane: u32) -> Option<&SessionLane> {
        self.rows.get(lane as usize)
    }

    /// Entries that were looked at.
    pub fn upto(&self) -> u32 {
        self.of.len() as u32
    }

    /// The lane of an entry, from 1.
    pub fn of(&self, index: u32) -> Option<u32> {
        self.of.get((index as usize).checked_sub(1)?).copied()
    }

    /// All entries that a lane is made of, its past included, in order.
    pub fn path(&self, lane: u32) -> Path {
        let mut parts: Vec<(u32, u32)> = Vec::new();
        let (mut at, mut until) = (lane, u32::MAX);
        // A parent is older than its child; the bound is for a log that lies.
        for _ in 0..=self.rows.len() {
            let Some(row) = self.get(at) else { break };
            parts.extend(row.own.until(until));
            match (row.kind, row.parent) {
                (LaneKind::Rewound | LaneKind::Fork, Some(parent)) if parent != at => {
                    until = until.min(row.from);
                    at = parent;
                }
                _ => break,
            }
        }
        Path::of(parts)
    }

    /// The lanes that a lane's past runs through, with the last entry of each; itself last.
    pub fn past(&self, lane: u32) -> Vec<(u32, u32)> {
        let mut past = Vec::new();
        let (mut at, mut until) = (lane, u32::MAX);
        for _ in 0..=self.rows.len() {
            let Some(row) = self.get(at) else { break };
            past.push((at, until));
            match (row.kind, row.parent) {
                (LaneKind::Rewound | LaneKind::Fork, Some(parent)) if parent != at => {
                    until = until.min(row.from);
                    at = parent;
                }
                _ => break,
            }
        }
        past.reverse();
        past
    }
}
