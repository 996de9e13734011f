//! The one door: [`Engine`] answers a closed table of requests ([`api::Request`]) with plain serializable views
//! and sends [`api::Notice`]s. The window and the command both stand on it.

pub mod api;
pub mod diff;
pub mod filter;
pub mod settings;
