//! Events to state: fold, snapshots, timeline, drift, restore plan and its inverse. Pure and total.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

pub mod branch;
pub mod restore;

mod book;
mod carry;
mod contents;
mod diagnose;
mod edit;
mod effect;
mod files;
mod fold;
mod ids;
mod judge;
mod noted;
mod numbers;
mod patch;
mod print;
mod reach;
mod repair;
mod rows;
mod session_lanes;
mod state;
mod timeline;
mod traces;
mod tracks;
mod windows;

pub use book::{Op, Version};
pub use diagnose::{Diagnosis, Doubt};
pub use edit::{apply as apply_change, Failure, MOST_STEPS};
pub use print::Printed;
pub use repair::{correction_id, Correction, Drift};
pub use rows::{Called, Chip, Said, Zones};
pub use session_lanes::{ContextAt, LaneKind, Path, SessionLane, SessionLanes};
pub use state::{Certainty, ContentId, EventRef, FileState, PlanStatus, State, Why};
pub use timeline::{Found, Options, Timeline};
pub use traces::{ParentNote, TraceNode, TraceSpan};
pub use tracks::{Counts, Lanes, LANES};

/// Raised with every change of what a log folds to: a state that another version kept is not believed.
pub const FOLD_VERSION: u32 = 1;
