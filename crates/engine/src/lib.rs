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
mod config;
pub mod diff;
pub mod filter;
pub mod log;
pub mod settings;

pub use config::Config;
