//! Chip and edit-snapshot records: byte-exact encoding, queue rules, insert text. No disk.
//!
//! What the chip server (a Go program) writes is read and written here with its own rules, which differ from usual
//! JSON libraries: names match without regard to case, bytes that are no UTF-8 become one U+FFFD each, numbers pass
//! through a 64-bit float, 10,000 levels are allowed. Everything is a pure function of the bytes that come in.
//!
//! Left out: files and folders (`chipdeck-disk`), clocks, randomness, the environment (its values come in).
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

mod folders;
mod id;
mod insert;
mod json;
mod lines;
mod place;
mod printable;
mod queue;
mod quote;
mod record;
mod snapshot;
mod span;
mod summary;

pub use folders::{folders, workspace_id, Folders, Variables};
pub use id::{chip_file_name, safe_id, snapshot_file_name};
pub use insert::{
    insert_content, insert_header, insert_text, parse_source, parse_target, stands_there,
    InsertError, Inserted, TargetError,
};
pub use json::{
    decode_text, Builder, Fault, Json, Kind, List, Object, Text, TypeFault, Value, MAX_LEVELS,
};
pub use lines::{Ending, Lines};
pub use place::{place, Anchor, Placed};
pub use queue::{order, MAX_QUEUE};
pub use quote::quote;
pub use record::{with_created_at, ChipRecord};
pub use snapshot::{Side, SnapshotRecord};
pub use summary::{summary, target_argument, ArgumentTarget};
