//! Bytes to records to events: the canonical reader and one file for each agent. Never fails: what is bad comes out
//! as [`chipdeck_event::Finding`]s beside the entries.
//!
//! Left out on purpose: the disk (a [`Source`] gives bytes), the fold.

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

mod agents;
mod blobs;
mod canonical;
mod copies;
mod format;
mod glance;
mod lines;
mod names;
mod order;
mod raw;
mod reader;
mod rewrite;
mod same;
mod set;
mod skim;
mod source;
mod tape;
mod text;
mod time;
mod weave;

pub use agents::{
    asks, companions, lineage, may_stand, may_tell_spent, may_turn_back, spent, standing, telling,
    tree_of, turned_back, Agent, Companion, Kin, Lineage, Spent, Standing, Tree, TurnedBack,
};
pub use canonical::looks_canonical;
pub use format::{detect, Format};
pub use glance::{glance, title_of, Glance};
pub use order::{arrange, Order, Orderly};
pub use reader::{Batch, Reader};
pub use rewrite::{lift, member, read_canonical, with_member, without_member, Lifted};
pub use same::same_json;
pub use set::{members, LogSet, Progress, Shape, Sink};
pub use source::{MemorySource, Source, Window};
pub use text::{each_part, is_text, load_json, load_record, load_text};
