//! The event log in depth: drift and its repair, what-if branches and comparisons, traces, figures, diagnosis,
//! breakpoints. Views are functions of a [`Look`](crate::log::Look); what is held between requests is in [`Deep`].

mod branches;
mod diagnosis;
mod drift;
mod figures;
mod stops;
mod traces;

pub(crate) use branches::{faults, schemas};
pub use figures::figures;

use crate::repair::Repair;
use branches::Held;
use std::collections::HashMap;
use std::sync::Mutex;

/// Previews and branches, by the names that the wire has for them.
#[derive(Default)]
pub struct Deep {
    /// With the log that it is of.
    repairs: Mutex<HashMap<String, (String, Repair)>>,
    branches: Mutex<Vec<Held>>,
}
