//! What an entry does to a state, kept beside the entry: applying it needs neither the log nor any text.

use crate::state::*;
use chipdeck_event::{Status, Zone};
use imbl::Vector;

/// The effect of one entry. Numbers are those of the timeline's tables.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Effect {
    #[default]
    None,
    /// Numbers of a path and of the state that its file has now.
    File {
        path: u32,
        row: u32,
    },
    /// Both paths of a rename.
    Files([(u32, u32); 2]),
    /// A message: into the dialogue and the context.
    Say,
    /// A compaction: what it stands for, and where what was said goes on behind it.
    Compact {
        at: (u32, u32),
        from: u32,
    },
    Call {
        tool: u32,
        correlation: Option<u32>,
    },
    Result {
        tool: u32,
        correlation: Option<u32>,
        status: Status,
        /// Of a call that may have changed files: those that it names, with the states that they have now.
        changed: Option<Box<[(u32, u32)]>>,
    },
    ChipPut {
        chip: u32,
        place: ChipPlace,
    },
    MemoryPut {
        item: u32,
        place: MemoryPlace,
    },
    Plan {
        plan: u32,
        status: PlanStatus,
    },
    /// A whole state replaces what was folded.
    Snapshot(Box<State>),
}

/// The state after one entry more.
pub(crate) fn apply(state: &mut State, effect: &Effect) {
    state.position += 1;
    let index = state.position;
    match effect {
        Effect::None => {}
        Effect::File { path, row } => put(&mut state.files, *path, row + 1, 0),
        Effect::Files(rows) => {
            for (path, row) in rows {
                put(&mut state.files, *path, row + 1, 0);
            }
        }
        Effect::Say => state.said_to += 1,
        Effect::Compact { at, from } => {
            // The heads are in the order of what they stand for: those that are replaced are in front.
            let kept = state.context_heads.iter().position(|item| item.at > *at);
            state.context_heads = match kept {
                Some(kept) => state.context_heads.split_off(kept),
                None => Vector::new(),
            };
            let event = EventRef::Entry(index);
            state
                .context_heads
                .push_front(ContextItem { event, at: *at });
            state.context_from = state.context_from.max(*from);
        }
        Effect::Call { tool, correlation } => {
            let to = ToolState {
                status: None,
                result: None,
            };
            put(&mut state.tools, *tool, ToolState::pack(Some(to)), 0);
            if let Some(correlation) = correlation {
                state.open.insert((*correlation, *tool));
            }
        }
        Effect::Result {
            tool,
            correlation,
            status,
            changed,
        } => {
            let to = ToolState {
                status: Some(*status),
                result: Some(EventRef::Entry(index)),
            };
            put(&mut state.tools, *tool, ToolState::pack(Some(to)), 0);
            if let Some(correlation) = correlation {
                state.open.remove(&(*correlation, *tool));
            }
            if let Some(files) = changed {
                state.changers += 1;
                for (path, row) in files {
                    put(&mut state.files, *path, row + 1, 0);
                }
            }
        }
        Effect::ChipPut { chip, place } => {
            seat(state, |s| &mut s.chips, *chip, *place, ChipPlace::Gone);
        }
        Effect::MemoryPut { item, place } => {
            seat(state, |s| &mut s.memory, *item, *place, MemoryPlace::Gone);
        }
        Effect::Plan { plan, status } => put(&mut state.plans, *plan, Some(*status), None),
        Effect::Snapshot(whole) => {
            *state = (**whole).clone();
            state.position = index;
        }
    }
}

fn seat<P: Clone>(
    state: &mut State,
    list: fn(&mut State) -> &mut Vector<Seat<P>>,
    number: u32,
    place: P,
    gone: P,
) {
    let arrival = state.arrivals;
    state.arrivals += 1;
    put(
        list(state),
        number,
        Seat { place, arrival },
        Seat {
            place: gone,
            arrival: 0,
        },
    );
}

/// Sets item `number`, making the list longer where needed.
pub(crate) fn put<T: Clone>(list: &mut Vector<T>, number: u32, value: T, empty: T) {
    while list.len() <= number as usize {
        list.push_back(empty.clone());
    }
    list.set(number as usize, value);
}

impl State {
    pub(crate) fn tool(&self, tool: u32) -> Option<ToolState> {
        ToolState::unpack(*self.tools.get(tool as usize)?)
    }

    pub(crate) fn chip(&self, chip: u32) -> ChipPlace {
        self.chips
            .get(chip as usize)
            .map_or(ChipPlace::Gone, |seat| seat.place)
    }

    pub(crate) fn memory_item(&self, item: u32) -> MemoryPlace {
        self.memory
            .get(item as usize)
            .map_or(MemoryPlace::Gone, |seat| seat.place)
    }

    pub(crate) fn plan(&self, plan: u32) -> Option<PlanStatus> {
        self.plans.get(plan as usize).copied().flatten()
    }

    /// The last pending call of a correlation.
    pub(crate) fn last_open(&self, correlation: u32) -> Option<u32> {
        self.open
            .range((correlation, 0)..=(correlation, u32::MAX))
            .next_back()
            .map(|(_, tool)| *tool)
    }
}

impl MemoryPlace {
    pub(crate) fn zone(self) -> Option<Zone> {
        match self {
            MemoryPlace::Zone(zone) => Some(zone),
            _ => None,
        }
    }
}
