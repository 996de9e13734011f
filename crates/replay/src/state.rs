//! The state at a position: references only, structure shared with the states around it.
//!
//! A [`State`] is small and cheap to clone; names, texts and hashes are in the [`Timeline`](crate::Timeline) that
//! made it. Paths, calls, chips, memory items and plans are numbered in the order in which the log first names them.

use chipdeck_event::Status;
use imbl::{OrdSet, Vector};

/// What a log proves about a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Certainty {
    /// Follows from the log alone.
    Exact,
    /// Plausible: a hash doesn't match, an edit failed, or something that the log doesn't show may have changed it.
    Unverified,
    /// The log never showed it.
    Unknown,
}

impl Certainty {
    pub fn as_str(self) -> &'static str {
        match self {
            Certainty::Exact => "exact",
            Certainty::Unverified => "unverified",
            Certainty::Unknown => "unknown",
        }
    }
}

/// Where a version's content comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// In full in the log.
    Written,
    /// An edit on a base that the log knows.
    KnownBase,
    /// An edit on a base that the log never showed: only the hunk is known.
    BaseUnknown,
    /// A shell command may have changed the base since it was last proven.
    ShellSince,
    /// Seen on disk at that moment.
    Observed,
}

impl Why {
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Written => "written",
            Why::KnownBase => "known-base",
            Why::BaseUnknown => "base-unknown",
            Why::ShellSince => "shell-since",
            Why::Observed => "observed",
        }
    }
}

/// A content that the log knows; [`Timeline::content`](crate::Timeline::content) gives its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentId(pub(crate) u32);

/// An event: an entry of the timeline, or one that a `state.snapshot` carried over from an earlier log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventRef {
    /// The entry's index, from 1.
    Entry(u32),
    /// Number of a carried id.
    Carried(u32),
}

/// A file at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileState {
    pub exists: bool,
    pub certainty: Certainty,
    /// `None` when deleted or unknown.
    pub content: Option<ContentId>,
    /// The last event applied to it.
    pub last: EventRef,
    pub why: Why,
    /// Changers (shell calls and the like) that had run when the content was last proven.
    pub(crate) proven: u32,
}

/// A call's outcome; pending without a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ToolState {
    pub status: Option<Status>,
    pub result: Option<EventRef>,
}

/// Where a chip or a memory item is, and since when: lists are in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat<P> {
    pub place: P,
    pub arrival: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChipPlace {
    /// With the index of the `chip.save`; 0 where a `state.snapshot` carried it.
    Queue(u32),
    Evicted(u32),
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryPlace {
    Zone(chipdeck_event::Zone),
    /// In the recycle bin, and the zone that it came from.
    Recycled(chipdeck_event::Zone),
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanStatus {
    Proposed,
    Approved,
    Rejected,
    Loaded,
}

impl PlanStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            PlanStatus::Proposed => "proposed",
            PlanStatus::Approved => "approved",
            PlanStatus::Rejected => "rejected",
            PlanStatus::Loaded => "loaded",
        }
    }
}

/// An id in the model's context. `at` orders it: the position it stands for, and its rank among those that a
/// `state.snapshot` carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContextItem {
    pub event: EventRef,
    pub at: (u32, u32),
}

/// The whole state after the first [`State::position`] entries. Many of these are kept: the long lists are of plain
/// numbers, so that what one state does not share with the next is small.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub(crate) position: u32,
    /// By path number: the number of a file's state, plus one; 0 before the path is first named.
    pub(crate) files: Vector<u32>,
    /// The dialogue: this part of all that was said in the log (see [`crate::book::Book::said`]).
    pub(crate) said_from: u32,
    pub(crate) said_to: u32,
    /// The context begins with these, in the order of what they stand for: compactions, and what a `state.snapshot`
    /// carried.
    pub(crate) context_heads: Vector<ContextItem>,
    /// And goes on with what was said from here on.
    pub(crate) context_from: u32,
    /// By call number, packed; 0 where a `state.snapshot` dropped it.
    pub(crate) tools: Vector<u32>,
    /// Pending calls with a correlation: (correlation number, call number).
    pub(crate) open: OrdSet<(u32, u32)>,
    pub(crate) chips: Vector<Seat<ChipPlace>>,
    pub(crate) memory: Vector<Seat<MemoryPlace>>,
    pub(crate) plans: Vector<Option<PlanStatus>>,
    /// Next arrival number.
    pub(crate) arrivals: u32,
    /// Changers that have run.
    pub(crate) changers: u32,
}

impl State {
    /// The playhead stands after this entry; 0 is before the first.
    pub fn position(&self) -> u32 {
        self.position
    }

    /// Number of the state of a file.
    pub(crate) fn file_row(&self, path: u32) -> Option<u32> {
        self.files.get(path as usize)?.checked_sub(1)
    }

    /// By call number.
    pub(crate) fn tool_states(&self) -> impl Iterator<Item = Option<ToolState>> + '_ {
        self.tools.iter().map(|packed| ToolState::unpack(*packed))
    }
}

const CARRIED: u32 = 1 << 31;

impl EventRef {
    pub(crate) fn pack(self) -> u32 {
        match self {
            EventRef::Entry(index) => index & !CARRIED,
            EventRef::Carried(number) => number | CARRIED,
        }
    }

    pub(crate) fn unpack(packed: u32) -> EventRef {
        match packed & CARRIED {
            0 => EventRef::Entry(packed),
            _ => EventRef::Carried(packed & !CARRIED),
        }
    }
}

impl ToolState {
    /// Three bits of status (0: no call, 1: pending), one for a carried result, the rest the result's number; all
    /// ones where there is none.
    pub(crate) fn pack(tool: Option<ToolState>) -> u32 {
        let Some(tool) = tool else { return 0 };
        let status = tool.status.map_or(1, |status| {
            let at = Status::ALL.iter().position(|it| *it == status);
            at.unwrap_or_default() as u32 + 2
        });
        let (carried, number) = match tool.result {
            None => (0, NO_RESULT),
            Some(EventRef::Entry(index)) => (0, index.min(NO_RESULT)),
            Some(EventRef::Carried(number)) => (8, number.min(NO_RESULT)),
        };
        status | carried | number << 4
    }

    pub(crate) fn unpack(packed: u32) -> Option<ToolState> {
        let status = match packed & 7 {
            0 => return None,
            1 => None,
            other => Status::ALL.get(other as usize - 2).copied(),
        };
        let result = match (packed >> 4, packed & 8) {
            (NO_RESULT, _) => None,
            (index, 0) => Some(EventRef::Entry(index)),
            (number, _) => Some(EventRef::Carried(number)),
        };
        Some(ToolState { status, result })
    }
}

const NO_RESULT: u32 = u32::MAX >> 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_and_unpacked() {
        for event in [
            EventRef::Entry(1),
            EventRef::Entry(123_456_789),
            EventRef::Carried(0),
            EventRef::Carried(7),
        ] {
            assert_eq!(EventRef::unpack(event.pack()), event);
            for status in Status::ALL {
                let tool = Some(ToolState {
                    status: Some(status),
                    result: Some(event),
                });
                assert_eq!(ToolState::unpack(ToolState::pack(tool)), tool);
            }
        }
        for tool in [
            None,
            Some(ToolState {
                status: None,
                result: None,
            }),
        ] {
            assert_eq!(ToolState::unpack(ToolState::pack(tool)), tool);
        }
    }
}
