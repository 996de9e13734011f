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

pub mod restore;

mod state;
mod timeline;

pub use state::{Certainty, ContentId, EventRef, FileState, PlanStatus, State, Why};
pub use timeline::{Called, Chip, Found, Lanes, Op, Options, Said, Timeline, Version, Zones};
