//! An agent's log as a canonical one in memory, with which of its lines come from which entry: what-if works on that.

use crate::lines::Lines;
use crate::{Error, Log, Part};

/// A log in the canonical format.
#[derive(Clone, Debug, Default)]
pub struct Canonical {
    pub bytes: Vec<u8>,
    /// How many lines the first `n` entries became, for each position `n` from 0 on.
    pub lines: Vec<u32>,
}

/// Converts a whole log; secrets stay.
///
/// # Errors
/// A log that was cut meanwhile.
pub fn canonical(log: Log<'_>) -> Result<Canonical, Error> {
    let lines = Lines::of(log, &Part::default())?;
    let mut out = Canonical {
        bytes: Vec::new(),
        lines: vec![0],
    };
    let mut count = 0u32;
    for index in lines.indices() {
        for line in lines.lines_of(index)? {
            match line.raw {
                Some(raw) => out.bytes.extend_from_slice(&raw),
                None => out.bytes.extend_from_slice(line.json.as_bytes()),
            }
            out.bytes.push(b'\n');
            count += 1;
        }
        out.lines.push(count);
    }
    Ok(out)
}
