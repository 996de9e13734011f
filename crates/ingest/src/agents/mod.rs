//! The logs of other people's agents: one file for each, all giving events of our catalogue. A log is told by its
//! content, never by its name. What a record type does not mean to us stays on the timeline raw.
//!
//! The rules about what a log proves are in each agent's file; how sure a content is, the fold judges
//! (`chipdeck-replay`).

mod aider;
mod asks;
mod claude_code;
mod claude_tools;
mod cline;
pub(crate) mod clock;
mod codex;
mod codex_calls;
mod codex_outcome;
mod copilot;
mod document;
mod gemini;
mod goose;
mod kimi;
mod lineage;
mod opencode;
mod openhands;
mod patch;
mod paths;
mod pi;
mod qwen;
mod records;
mod shell;
mod shell_words;
mod sink;
mod spent;
mod swe_agent;
mod telling;
mod tools;
mod trees;

pub use asks::asks;
pub use lineage::{lineage, may_turn_back, tree_of, turned_back, Kin, Lineage, Tree, TurnedBack};
pub use spent::{may_stand, may_tell_spent, spent, standing, Spent, Standing};
pub use telling::telling;
pub(crate) use trees::{beside, tree};
pub use trees::{companions, Companion};

use std::collections::BTreeSet;

use chipdeck_event::Reach;

use crate::reader::Reader;
use crate::tape::{Fault, Tape, Val};
use document::{Document, DocumentReader};
use records::{Mapper, RecordReader};

/// Whose log a file is, and in which of its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    Aider,
    ClaudeCode,
    ClineApi,
    ClineUi,
    Codex,
    Copilot,
    GeminiDocument,
    GeminiLines,
    GooseDocument,
    GooseLines,
    Kimi,
    OpenCodeExport,
    OpenCodeLines,
    OpenCodeStorage,
    OpenHandsDocument,
    OpenHandsLines,
    Pi,
    Qwen,
    SweAgent,
}

impl Agent {
    /// The name in `session.start`, in `sources` and for people: one for all forms of an agent's logs.
    pub fn name(self) -> &'static str {
        match self {
            Agent::Aider => "aider",
            Agent::ClaudeCode => "claude-code",
            Agent::ClineApi | Agent::ClineUi => "cline",
            Agent::Codex => "codex",
            Agent::Copilot => "copilot-cli",
            Agent::GeminiDocument | Agent::GeminiLines => "gemini",
            Agent::GooseDocument | Agent::GooseLines => "goose",
            Agent::Kimi => "kimi",
            Agent::OpenCodeExport | Agent::OpenCodeLines | Agent::OpenCodeStorage => "opencode",
            Agent::OpenHandsDocument | Agent::OpenHandsLines => "openhands",
            Agent::Pi => "pi",
            Agent::Qwen => "qwen",
            Agent::SweAgent => "swe-agent",
        }
    }

    /// Is a file of this form rewritten whole on each change? Such a file is read anew, not followed.
    pub fn is_document(self) -> bool {
        matches!(
            self,
            Agent::Aider
                | Agent::ClineApi
                | Agent::ClineUi
                | Agent::GeminiDocument
                | Agent::GooseDocument
                | Agent::OpenCodeExport
                | Agent::OpenCodeStorage
                | Agent::OpenHandsDocument
                | Agent::SweAgent
        )
    }

    /// The session that a file beginning with these bytes is of, where readers of other files have to know.
    pub(crate) fn session_of(self, head: &[u8]) -> Option<Box<str>> {
        match self {
            Agent::Codex => codex::session_of(&String::from_utf8_lossy(head)),
            _ => None,
        }
    }

    /// A reader for file `file` of the log set.
    pub fn reader(self, file: u32) -> Box<dyn Reader> {
        match self {
            Agent::Aider => whole(file, aider::Aider),
            Agent::ClaudeCode => lines(file, claude_code::ClaudeCode::default()),
            Agent::ClineApi => whole(file, cline::Api),
            Agent::ClineUi => whole(file, cline::Ui::default()),
            Agent::Codex => lines(file, codex::Codex::default()),
            Agent::Copilot => lines(file, copilot::Copilot::default()),
            Agent::GeminiDocument => whole(file, gemini::Gemini::default()),
            Agent::GeminiLines => lines(file, gemini::Gemini::default()),
            Agent::GooseDocument => whole(file, goose::Goose::default()),
            Agent::GooseLines => lines(file, goose::Goose::default()),
            Agent::Kimi => lines(file, kimi::Kimi::default()),
            Agent::OpenCodeExport => whole(file, opencode::Export::default()),
            Agent::OpenCodeLines => lines(file, opencode::Stream::default()),
            Agent::OpenCodeStorage => whole(file, opencode::Stored::default()),
            Agent::OpenHandsDocument => whole(file, openhands::OpenHands::default()),
            Agent::OpenHandsLines => lines(file, openhands::OpenHands::default()),
            Agent::Pi => lines(file, pi::Pi::default()),
            Agent::Qwen => lines(file, qwen::Qwen::default()),
            Agent::SweAgent => whole(file, swe_agent::SweAgent),
        }
    }
}

fn lines(file: u32, mapper: impl Mapper + 'static) -> Box<dyn Reader> {
    Box::new(RecordReader::new(file, Box::new(mapper)))
}

fn whole(file: u32, document: impl Document + 'static) -> Box<dyn Reader> {
    Box::new(DocumentReader::new(file, Box::new(document)))
}

/// Records of the head that are looked at.
const LOOK: usize = 60;

/// Whose log begins with these bytes (64 KiB are enough)? The name decides one thing only: whether a single record
/// is a document of its own or the first line of a log.
pub fn detect(name: &str, head: &[u8]) -> Option<Agent> {
    let name = [".zst", ".gz"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let wide = document::utf16(head);
    let text = match (&wide, std::str::from_utf8(head)) {
        (Some(wide), _) => wide.as_str(),
        (None, Ok(text)) => text,
        (None, Err(fault)) => std::str::from_utf8(head.get(..fault.valid_up_to())?).ok()?,
    };
    // Lines in UTF-16 have been met nowhere.
    whose(name, text).filter(|agent| wide.is_none() || agent.is_document())
}

fn whose(name: &str, text: &str) -> Option<Agent> {
    if !text.trim_start().starts_with(['{', '[']) {
        let marked = text.lines().any(|line| line.starts_with(aider::MARK));
        return marked.then_some(Agent::Aider);
    }
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
    let records: Vec<Val<'_>> = tapes.iter().map(|(tape, text)| tape.root(text)).collect();
    let first = *records.first()?;
    if first.is_array() {
        return match () {
            () if cline::claims_ui(first) => Some(Agent::ClineUi),
            () if openhands::claims_v0(first) => Some(Agent::OpenHandsDocument),
            () if cline::claims_api(first) => Some(Agent::ClineApi),
            () => None,
        };
    }
    let alone = records.len() == 1 && !name.ends_with(".jsonl");
    match () {
        () if gemini::claims_document(first) => Some(Agent::GeminiDocument),
        () if opencode::claims_export(first) => Some(Agent::OpenCodeExport),
        () if goose::claims_export(first) => Some(Agent::GooseDocument),
        () if swe_agent::claims(first) => Some(Agent::SweAgent),
        () if alone && opencode::claims_storage(first) => Some(Agent::OpenCodeStorage),
        () if alone && (openhands::claims_v1(first) || openhands::claims_v0(first)) => {
            Some(Agent::OpenHandsDocument)
        }
        () if codex::claims(&records) => Some(Agent::Codex),
        () if qwen::claims(&records) => Some(Agent::Qwen),
        () if claude_code::claims(&records) => Some(Agent::ClaudeCode),
        () if opencode::claims_stream(&records) => Some(Agent::OpenCodeLines),
        () if gemini::claims_lines(&records) => Some(Agent::GeminiLines),
        () if copilot::claims(&records) => Some(Agent::Copilot),
        () if kimi::claims(&records) => Some(Agent::Kimi),
        () if records
            .iter()
            .any(|r| openhands::claims_v1(*r) || openhands::claims_v0(*r)) =>
        {
            Some(Agent::OpenHandsLines)
        }
        () if pi::claims(&records) => Some(Agent::Pi),
        () if goose::claims_lines(&records) => Some(Agent::GooseLines),
        () => None,
    }
}

/// A call that nobody knows: it may change whatever its arguments name.
fn changer(input: Option<Val<'_>>, cwd: Option<&str>) -> Reach {
    let mut words = BTreeSet::new();
    if let Some(input) = input {
        collect_words(input, cwd, &mut words, 0);
    }
    Reach::Changer {
        words: words.into_iter().collect(),
    }
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
    value
        .items()
        .for_each(|v| collect_words(v, cwd, words, depth + 1));
    value
        .members()
        .for_each(|(_, v)| collect_words(v, cwd, words, depth + 1));
}
