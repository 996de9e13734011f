//! The one door: [`Engine`] answers a closed table of requests ([`api::Request`]) with plain serializable views
//! and sends [`api::Notice`]s. The window and the command both stand on it.

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

pub mod api;
mod archiving;
mod asking;
mod authors;
mod chips;
mod config;
pub mod diff;
mod engine;
mod events;
mod exporting;
pub mod filter;
mod kept;
mod laid;
mod lanes;
mod library;
pub mod log;
mod looking;
mod opening;
mod repair;
mod restoring;
pub mod settings;
mod settings_layers;

pub use chips::chip_config_of_this_user;
pub use config::Config;
pub use engine::{Engine, Origin, Reach};
pub use library::homes_of_this_user;
pub use opening::{classify, size, Kind};
pub use repair::{Repair, RepairError, RepairFile};
