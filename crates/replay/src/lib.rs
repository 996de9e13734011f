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
