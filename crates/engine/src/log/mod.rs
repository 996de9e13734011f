//! A log on the timeline: read in the background, followed while it grows, looked at from any request.
//!
//! [`Log`] owns the thread and the lock; the views are functions of a [`Look`]. Left out: which logs are open
//! (`engine`), the disk (`chipdeck-disk`), the fold (`chipdeck-replay`).

mod context;
mod converted;
mod dialogue;
mod event;
mod files;
mod findings;
mod kept_states;
mod lanes;
mod live;
mod look;
mod moment;
mod palette;
mod position;
mod reading;
mod removals;
mod rows;
mod search;
mod spending;
mod text;
mod tracks;

pub use context::Window;
pub use converted::Converted;
pub use files::thousands;
pub use findings::Findings;
pub use kept_states::{keep, state_at_end, AtEnd, Least, Start};
pub use lanes::{LaneBook, OnLane};
pub use live::{title, Log, Phase, WhenRead};
pub use look::Look;
pub use palette::fuzzy;
pub use position::{iso, position};
pub use reading::{ReadError, Reading};
pub use rows::{session_name, status_of};
pub use search::{Ahead, Hits, Search, Searches};
pub use spending::Spending;
pub use text::{cut, one_line};
pub use tracks::Marked;

/// A window of a list as a reader's terms: at most 2,000 rows.
pub(crate) fn window(offset: u64, limit: u64) -> (usize, usize) {
    (
        usize::try_from(offset).unwrap_or(usize::MAX),
        usize::try_from(limit.min(2_000)).unwrap_or(0),
    )
}
