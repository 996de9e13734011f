//! The wire format between the engine and the page. Everything here is plain data, generated into
//! `ui/src/api/` as TypeScript; positions are `u64` on the Rust side and `number` on the page's.
//!
//! Conventions: camelCase; a *position* is 0..=count, "after entry n"; an *index* is an entry, 1..=count (the
//! position right after it); times are Unix milliseconds; sizes are bytes; ids (`log`, `source`, `plan`, …) are
//! opaque strings that the engine gave out, never paths. No request carries a path that the engine would open
//! or write without checking it against what a person opened.

mod authors;
mod chips;
pub mod codes;
mod events;
mod export;
mod lanes;
mod library;
mod log;
mod notice;
mod request;
mod restore;
mod shared;
pub mod typescript;

pub use authors::*;
pub use chips::*;
pub use events::*;
pub use export::*;
pub use lanes::*;
pub use library::*;
pub use log::*;
pub use notice::*;
pub use request::*;
pub use restore::*;
pub use shared::*;
