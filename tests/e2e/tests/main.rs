//! The real window, as a person uses it. Needs Linux; `cargo xtask test` sets everything up.

mod authors;
mod chips;
mod deck;
mod drift;
mod drop;
mod export;
mod instance;
mod keyboard;
mod lanes;
mod logs;
mod restore;
mod safe;
mod sessions;
mod trouble;
mod whatif;
