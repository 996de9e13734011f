//! The filter language of the command line, the window's search and its breakpoints: terms joined by blanks, all of
//! which must hold, `-` before one negates it. `type:` `path:` (glob) `tool:` `status:` `session:` `trace:` `corr:`
//! `after:N` `before:N` `is:error|finding|edit`, `/regex/`, else a text (quotes for blanks) in the event's JSON.
//!
//! A text without capitals matches either case. `after:N` are the entries behind the position N, `before:N` those up
//! to it, so that each entry is on one side. Left out: `or`, brackets and order of results.

mod parse;
mod patterns;
mod text;

pub(crate) use text::unescaped;

use parse::{test, tokens};
use patterns::{PathGlob, Wild};
use regex::bytes::Regex;
use text::{Raw, Text};

/// What a filter asks about an entry. Cheap answers first: `raw` is only asked when all else holds.
pub trait Subject {
    fn index(&self) -> u64;
    /// The type; `opaque` for a line that is no event.
    fn kind(&self) -> &str;
    /// Whether any path that the entry names satisfies the test.
    fn any_path(&self, test: &mut dyn FnMut(&str) -> bool) -> bool;
    /// The tool of a call, or of the call that a result belongs to.
    fn tool(&self) -> Option<&str>;
    fn status(&self) -> Option<&str>;
    /// `dialog` or `exec`.
    fn session(&self) -> Option<&str>;
    fn trace(&self) -> Option<&str>;
    fn correlation(&self) -> Option<&str>;
    fn is_error(&self) -> bool;
    fn has_finding(&self) -> bool;
    fn is_edit(&self) -> bool;
    /// The record's bytes in the log; `None` when they cannot be read (no text is then in it).
    fn raw(&self) -> Option<Vec<u8>>;
}

/// A filter that can be asked about entries. Matching never fails.
#[derive(Debug)]
pub struct Filter {
    /// In the order of cost.
    terms: Vec<Term>,
}

/// Why a filter was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at character {at} of the filter)")]
pub struct Fault {
    pub message: String,
    /// Character of the filter, from 1.
    pub at: usize,
    /// The filter is one, but the log has no such position or event.
    pub names_no_position: bool,
}

#[derive(Debug)]
struct Term {
    negated: bool,
    test: Test,
}

#[derive(Debug)]
enum Test {
    After(u64),
    Before(u64),
    Error,
    Finding,
    Edit,
    Type(Wild),
    Tool(Wild),
    Status(Wild),
    Session(Wild),
    Trace(String),
    Correlation(String),
    Path(PathGlob),
    Text(Text),
    Regex(Box<Regex>),
}

impl Filter {
    /// Reads a filter. `position` reads an N of the command line (`end`, digits, `@ms`, a time, an event id).
    ///
    /// # Errors
    /// A value that is missing or not allowed, a glob or regular expression that is none, an open quote.
    pub fn parse(
        text: &str,
        position: &dyn Fn(&str) -> Result<u64, String>,
    ) -> Result<Filter, Fault> {
        let mut terms = Vec::new();
        for token in tokens(text)? {
            terms.push(Term {
                negated: token.negated,
                test: test(&token, position)?,
            });
        }
        terms.sort_by_key(|term| term.test.cost());
        Ok(Filter { terms })
    }

    /// It has no term: everything matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// It reads the record of each entry that the other terms let through.
    pub fn reads_records(&self) -> bool {
        self.terms
            .iter()
            .any(|term| matches!(term.test, Test::Text(_) | Test::Regex(_)))
    }

    pub fn matches(&self, subject: &dyn Subject) -> bool {
        let mut raw: Option<Raw> = None;
        self.terms
            .iter()
            .all(|term| term.test.holds(subject, &mut raw) != term.negated)
    }
}

impl Test {
    fn cost(&self) -> u8 {
        match self {
            Test::After(_) | Test::Before(_) => 0,
            Test::Error | Test::Finding | Test::Edit => 1,
            Test::Type(_) | Test::Session(_) | Test::Tool(_) | Test::Status(_) => 2,
            Test::Trace(_) | Test::Correlation(_) => 3,
            Test::Path(_) => 4,
            Test::Text(_) => 5,
            Test::Regex(_) => 6,
        }
    }

    fn holds(&self, subject: &dyn Subject, raw: &mut Option<Raw>) -> bool {
        match self {
            Test::After(position) => subject.index() > *position,
            Test::Before(position) => subject.index() <= *position,
            Test::Error => subject.is_error(),
            Test::Finding => subject.has_finding(),
            Test::Edit => subject.is_edit(),
            Test::Type(wild) => wild.matches(subject.kind()),
            Test::Tool(wild) => subject.tool().is_some_and(|it| wild.matches(it)),
            Test::Status(wild) => subject.status().is_some_and(|it| wild.matches(it)),
            Test::Session(wild) => subject.session().is_some_and(|it| wild.matches(it)),
            Test::Trace(id) => subject.trace() == Some(id),
            Test::Correlation(id) => subject.correlation() == Some(id),
            Test::Path(glob) => subject.any_path(&mut |path| glob.matches(path)),
            Test::Text(text) => Raw::of(raw, subject).any(text.escapes, |bytes| text.is_in(bytes)),
            Test::Regex(regex) => Raw::of(raw, subject).any(true, |bytes| regex.is_match(bytes)),
        }
    }
}

#[cfg(test)]
mod tests;
