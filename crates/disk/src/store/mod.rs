//! Log sets written: lines appended and nothing else, so that what was written once stays byte for byte.
//!
//! [`Tail`] and [`append`] add to a log that others may write too (a repair); [`Store`] is the write side of logs of
//! our own, in memory, in one file, or in shards. Left out: what the lines say.

mod append;
mod branch;
mod kinds;
mod scratch;
mod states;

pub use append::{append, AppendError, Tail};
pub use branch::{write_branch, BranchFileError};
pub use kinds::{
    FileStore, Flush, Line, MemoryStore, Mended, Rotation, ShardStore, Store, LONG_STRING,
};
pub use scratch::Scratch;
pub use states::KeptStates;
