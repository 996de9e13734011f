//! Which reader a file gets: a closed list, decided by content rather than by name.

use crate::agents::{self, Agent};
use crate::reader::Reader;

/// Every format that the app reads. A new agent adds a variant, a line in [`Format::name`], one in [`detect`] and one
/// in [`Format::reader`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Our own event log, the only one that is also written (`repair`, `branch`).
    Canonical,
    /// The log of somebody else's agent.
    Agent(Agent),
    /// Any other JSON Lines: each line an opaque entry.
    Raw,
}

impl Format {
    /// The name in `LogView.format`, `sources` and messages.
    pub fn name(self) -> &'static str {
        match self {
            Format::Canonical => "canonical",
            Format::Agent(agent) => agent.name(),
            Format::Raw => "raw",
        }
    }

    /// Order and shape findings (parents, `seq`, clocks) are judged in canonical logs only.
    pub fn is_canonical(self) -> bool {
        self == Format::Canonical
    }

    /// A reader for file `file` of the log set.
    pub fn reader(self, file: u32) -> Box<dyn Reader> {
        match self {
            Format::Canonical => Box::new(crate::canonical::CanonicalReader::new(file)),
            Format::Agent(agent) => agent.reader(file),
            Format::Raw => Box::new(crate::raw::RawReader::new(file)),
        }
    }
}

/// Guesses the format from the file's name and its first bytes (64 KiB are enough; fewer do no harm).
pub fn detect(name: &str, head: &[u8]) -> Format {
    if crate::canonical::looks_canonical(head) {
        Format::Canonical
    } else if let Some(agent) = agents::detect(name, head) {
        Format::Agent(agent)
    } else {
        Format::Raw
    }
}
