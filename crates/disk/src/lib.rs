//! The only crate that touches files: discover, tail, watch, archive, atomic apply, journal.

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

pub mod chips;
pub mod folder;
pub mod fresh;
pub mod git;
#[cfg(unix)]
mod hex;
pub mod logs;
pub mod own;
pub mod places;
pub mod restore;
pub mod store;
