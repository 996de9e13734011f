//! The logs of other people's agents: one file for each, all giving events of our catalogue. A log is told by its
//! content, never by its name. What a record type does not mean to us stays on the timeline raw.
//!
//! The rules about what a log proves are in each agent's file; how sure a content is, the fold judges
//! (`chipdeck-replay`).

mod claude_code;
mod clock;
mod codex;
mod document;
mod patch;
mod paths;
mod records;
mod shell;
mod sink;

use std::collections::BTreeSet;

use chipdeck_event::Reach;

use crate::reader::Reader;
use crate::tape::{Fault, Tape, Val};
use document::{Document, DocumentReader};
use records::{Mapper, RecordReader};

/// An agent whose logs are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    ClaudeCode,
    Codex,
}

impl Agent {
    pub const ALL: &'static [Agent] = &[Agent::ClaudeCode, Agent::Codex];

    /// The name in `session.start`, in `sources` and for people.
    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
        }
    }

    /// A reader for file `file` of the log set.
    pub fn reader(self, file: u32) -> Box<dyn Reader> {
        let lines = |mapper: Box<dyn Mapper>| -> Box<dyn Reader> { Box::new(RecordReader::new(file, mapper)) };
        let _whole = |document: Box<dyn Document>| -> Box<dyn Reader> { Box::new(DocumentReader::new(file, document)) };
        match self {
            Agent::ClaudeCode => lines(Box::<claude_code::ClaudeCode>::default()),
            Agent::Codex => lines(Box::<codex::Codex>::default()),
        }
    }
}

/// Records of the head that are looked at.
const LOOK: usize = 60;

/// Whose log begins with these bytes (64 KiB are enough)?
pub fn detect(head: &[u8]) -> Option<Agent> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(fault) => std::str::from_utf8(head.get(..fault.valid_up_to())?).ok()?,
    };
    let mut tapes: Vec<(Tape, &str)> = Vec::new();
    let mut rest = text;
    while tapes.len() < LOOK {
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        let mut tape = Tape::default();
        match tape.read(rest) {
            Ok(end) => {
                tapes.push((tape, rest.get(..end)?));
                rest = rest.get(end..)?;
            }
            Err(fault) => {
                // The head ends inside a record: what there is of it may tell.
                if fault == Fault::Cut && tape.salvage(rest.len()) {
                    tapes.push((tape, rest));
                    break;
                }
                rest = rest.split_once('\n').map_or("", |(_, after)| after);
            }
        }
    }
    let records: Vec<Val<'_>> =
        tapes.iter().map(|(tape, text)| tape.root(text)).filter(|v| v.is_object()).collect();
    if codex::claims(&records) {
        Some(Agent::Codex)
    } else if claude_code::claims(&records) {
        Some(Agent::ClaudeCode)
    } else {
        None
    }
}

/// A call that nobody knows: it may change whatever its arguments name.
fn changer(input: Option<Val<'_>>, cwd: Option<&str>) -> Reach {
    let mut words = BTreeSet::new();
    if let Some(input) = input {
        collect_words(input, cwd, &mut words, 0);
    }
    Reach::Changer { words: words.into_iter().collect() }
}

fn collect_words(value: Val<'_>, cwd: Option<&str>, words: &mut BTreeSet<Box<str>>, depth: usize) {
    if words.len() > 256 || depth > 16 {
        return;
    }
    if let Some(text) = value.str().filter(|t| t.len() <= 4096 && !t.contains('\n')) {
        if text.contains(['/', '\\', '.']) && !text.contains("://") {
            words.insert(paths::join(cwd, text.trim()).into());
        }
    }
    value.items().for_each(|v| collect_words(v, cwd, words, depth + 1));
    value.members().for_each(|(_, v)| collect_words(v, cwd, words, depth + 1));
}
