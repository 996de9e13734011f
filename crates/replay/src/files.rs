//! What events do to files: contents, certainty, versions. The rules are the format's, one function for each type.

use crate::book::{Op, Version};
use crate::contents::measure;
use crate::edit::{self, Failure};
use crate::effect::Effect;
use crate::fold::Fold;
use crate::state::*;
use chipdeck_event::{Change, Code, Id, Payload, Text};
use chipdeck_ingest::{is_text, load_text};
use std::sync::Arc;

/// The part of the fold that is about files.
pub(crate) trait FileFold {
    fn create(&mut self, path: &Id, content: &Text) -> Effect;
    fn change(&mut self, path: &Id, payload: &Payload) -> Effect;
    fn delete(&mut self, path: &Id) -> Effect;
    fn rename(&mut self, from: &Id, to: &Id) -> Effect;
    fn observe(&mut self, path: &Id, sha256: Option<&str>, content: Option<&Text>) -> Effect;
}

impl FileFold for Fold<'_> {
    fn create(&mut self, path: &Id, content: &Text) -> Effect {
        let number = self.book.path(path, self.index);
        // In an agent's log a create is its tool's word that the file was not there: what is known of it is outdated.
        if let Some(file) = self
            .book
            .file(self.state, number)
            .filter(|file| file.exists && self.canonical)
        {
            // It is there already: skipped.
            let held = file.content.and_then(|content| self.text(content));
            let same = held.is_some_and(|held| self.load(content).is_some_and(|new| new == held));
            if !same {
                self.file_finding(
                    Code::CreateOnExisting,
                    path,
                    "the file exists already, with another or an unknown content: skipped",
                );
            }
            return Effect::None;
        }
        let to = self.written(content, Certainty::Exact);
        self.versioned(number, Op::Create, to, false)
    }

    fn change(&mut self, path: &Id, payload: &Payload) -> Effect {
        let Payload::FileChange {
            change,
            before_sha256,
            after_sha256,
            plausible,
            ..
        } = payload
        else {
            return Effect::None;
        };
        let number = self.book.path(path, self.index);
        let file = self.book.file(self.state, number);
        let base = file.and_then(|file| Some((file, file.content?)));
        let wrong_before = before_sha256
            .as_deref()
            .is_some_and(|wanted| match (file, base) {
                (_, Some((_, content))) => !self.has_hash(content, wanted),
                // Known to be absent: no hash is right.
                (Some(file), None) => !file.exists,
                (None, None) => false,
            });
        if wrong_before {
            self.file_finding(
                Code::HashMismatch,
                path,
                "`beforeSha256` is not that of the content before",
            );
        }
        if edit::stands_alone(change) {
            return self.write(number, path, change, after_sha256.as_deref(), *plausible);
        }

        let held = base.and_then(|(file, content)| Some((file, content, self.text(content)?)));
        let Some((file, content, held)) = held else {
            self.file_finding(
                Code::ChangeOnMissing,
                path,
                "an edit of a file whose content the log does not show",
            );
            if file.is_some_and(|file| !file.exists) {
                return Effect::None;
            }
            let to = self.unknown(Why::BaseUnknown);
            return self.versioned(number, Op::Change, to, false);
        };
        let source = self.source;
        match edit::apply_within(&held, change, &|text| load_text(text, source), &self.steps) {
            Ok(text) => {
                let current = file.proven >= self.state.changers;
                let sure =
                    file.certainty == Certainty::Exact && current && !wrong_before && !plausible;
                let certainty = if sure {
                    Certainty::Exact
                } else {
                    Certainty::Unverified
                };
                let right = self.after(path, after_sha256.as_deref(), &text);
                let certainty = match right {
                    Some(true) => Certainty::Exact,
                    Some(false) => Certainty::Unverified,
                    None => certainty,
                };
                let new = if text == held {
                    content
                } else {
                    self.book.contents.changed(self.index, content, text)
                };
                let to = FileState {
                    exists: true,
                    certainty,
                    content: Some(new),
                    last: EventRef::Entry(self.index),
                    why: if current {
                        Why::KnownBase
                    } else {
                        Why::ShellSince
                    },
                    proven: if right == Some(true) {
                        self.state.changers
                    } else {
                        file.proven
                    },
                };
                self.versioned(number, Op::Change, to, false)
            }
            Err(Failure::Missing) => {
                let to = self.unknown(Why::BaseUnknown);
                self.versioned(number, Op::Change, to, false)
            }
            Err(Failure::Misfit(what)) => {
                self.file_finding(
                    Code::EditFailed,
                    path,
                    &format!("the edit does not apply: {what}"),
                );
                let to = FileState {
                    certainty: Certainty::Unverified,
                    last: EventRef::Entry(self.index),
                    ..file
                };
                self.set(number, to)
            }
            Err(Failure::TooMuch) => {
                self.file_finding(
                    Code::HandlerTimeout,
                    path,
                    "the edit takes more work than one event may: skipped",
                );
                Effect::None
            }
        }
    }

    fn delete(&mut self, path: &Id) -> Effect {
        let number = self.book.path(path, self.index);
        let file = self.book.file(self.state, number);
        let to = self.gone(Why::Written);
        match file {
            Some(file) if file.exists => self.versioned(number, Op::Delete, to, false),
            _ => {
                self.file_finding(
                    Code::DeleteOnMissing,
                    path,
                    "the file that is deleted was not there",
                );
                match file {
                    None => self.versioned(number, Op::Delete, to, false),
                    Some(_) => self.set(number, to),
                }
            }
        }
    }

    fn rename(&mut self, from: &Id, to: &Id) -> Effect {
        if from == to {
            return Effect::None;
        }
        let source = self.book.path(from, self.index);
        let Some(file) = self
            .book
            .file(self.state, source)
            .filter(|file| file.exists)
        else {
            self.file_finding(
                Code::ChangeOnMissing,
                from,
                "the file that is renamed was not there",
            );
            return Effect::None;
        };
        let target = self.book.path(to, self.index);
        let moved = FileState {
            last: EventRef::Entry(self.index),
            ..file
        };
        let gone = self.gone(Why::Written);
        self.note(source, Op::Rename, gone, false);
        self.note(target, Op::Rename, moved, false);
        let gone = self.book.file_row(gone, self.index);
        let moved = self.book.file_row(moved, self.index);
        Effect::Files([(source, gone), (target, moved)])
    }

    fn observe(&mut self, path: &Id, sha256: Option<&str>, content: Option<&Text>) -> Effect {
        let number = self.book.path(path, self.index);
        let file = self.book.file(self.state, number);
        let known = file.and_then(|file| file.content);
        let seen = match content {
            Some(Text::Missing) | None => None,
            Some(text) => Some(text),
        };
        if let Some(text) = seen {
            let held = known.and_then(|content| Some((content, self.text(content)?)));
            // What is known already need not be made anew to be compared.
            let same = match &held {
                Some((_, held)) => is_text(text, held, self.source),
                None => Some(false),
            };
            let loaded = match (same, &held) {
                (Some(true), Some((_, held))) => Some(held.clone()),
                // It stands in the log: nothing has to be looked at.
                (Some(_), _) if sha256.is_none() && !matches!(text, Text::Blob { .. }) => None,
                _ => match self.load(text) {
                    Some(loaded) => Some(loaded),
                    None => {
                        let to = self.unknown(Why::Observed);
                        return self.versioned(number, Op::Observe, to, false);
                    }
                },
            };
            let right = loaded.as_deref().and_then(|loaded| {
                self.hash_is(path, sha256, loaded, "`sha256` is not that of the content")
            });
            let (content, outside) = match held {
                Some((content, _)) if same == Some(true) => (content, false),
                Some(_) => (self.book.contents.full(self.index, text.clone()), true),
                None => {
                    let deleted = file.is_some_and(|file| !file.exists);
                    (self.book.contents.full(self.index, text.clone()), deleted)
                }
            };
            let to = FileState {
                exists: true,
                certainty: if right == Some(false) {
                    Certainty::Unverified
                } else {
                    Certainty::Exact
                },
                content: Some(content),
                last: EventRef::Entry(self.index),
                why: Why::Observed,
                proven: self.state.changers,
            };
            return self.versioned(number, Op::Observe, to, outside);
        }
        match (file, known, sha256) {
            (Some(file), Some(content), Some(wanted)) => {
                if self.has_hash(content, wanted) {
                    let to = FileState {
                        certainty: Certainty::Exact,
                        last: EventRef::Entry(self.index),
                        why: Why::Observed,
                        proven: self.state.changers,
                        ..file
                    };
                    return self.versioned(number, Op::Observe, to, false);
                }
                self.file_finding(
                    Code::HashMismatch,
                    path,
                    "the file on disk was another than the log implies",
                );
                let to = self.unknown(Why::Observed);
                self.versioned(number, Op::Observe, to, true)
            }
            _ => {
                let to = self.unknown(Why::Observed);
                self.versioned(number, Op::Observe, to, false)
            }
        }
    }
}

impl Fold<'_> {
    /// A change that gives the whole text.
    fn write(
        &mut self,
        number: u32,
        path: &Id,
        change: &Change,
        after: Option<&str>,
        plausible: bool,
    ) -> Effect {
        let mut to = match change {
            Change::Content(text) => self.written(text, Certainty::Exact),
            _ => {
                let source = self.source;
                match edit::apply_within("", change, &|text| load_text(text, source), &self.steps) {
                    Ok(text) => self.written(&Text::Inline(text), Certainty::Exact),
                    Err(_) => self.unknown(Why::BaseUnknown),
                }
            }
        };
        if let Some(content) = to.content {
            let right = match after {
                Some(_) => self
                    .text(content)
                    .and_then(|text| self.after(path, after, &text)),
                None => None,
            };
            if right == Some(false) || plausible && right.is_none() {
                to.certainty = Certainty::Unverified;
            }
        }
        self.versioned(number, Op::Change, to, false)
    }

    fn written(&mut self, text: &Text, certainty: Certainty) -> FileState {
        if *text == Text::Missing {
            return self.unknown(Why::Written);
        }
        FileState {
            exists: true,
            certainty,
            content: Some(self.book.contents.full(self.index, text.clone())),
            last: EventRef::Entry(self.index),
            why: Why::Written,
            proven: self.state.changers,
        }
    }

    fn unknown(&self, why: Why) -> FileState {
        FileState {
            exists: true,
            certainty: Certainty::Unknown,
            content: None,
            last: EventRef::Entry(self.index),
            why,
            proven: self.state.changers,
        }
    }

    fn gone(&self, why: Why) -> FileState {
        FileState {
            exists: false,
            certainty: Certainty::Exact,
            ..self.unknown(why)
        }
    }

    fn versioned(&mut self, path: u32, op: Op, to: FileState, outside: bool) -> Effect {
        self.note(path, op, to, outside);
        self.set(path, to)
    }

    fn set(&mut self, path: u32, to: FileState) -> Effect {
        let row = self.book.file_row(to, self.index);
        Effect::File { path, row }
    }

    pub(crate) fn note(&mut self, path: u32, op: Op, to: FileState, changed_outside: bool) {
        let version = Version {
            index: self.index,
            op,
            certainty: to.certainty,
            why: to.why,
            content: to.content,
            exists: to.exists,
            changed_outside,
        };
        self.book.version(path, version);
    }

    fn text(&self, content: ContentId) -> Option<Arc<str>> {
        self.book.contents.text(content, self.entries, self.source)
    }

    fn load(&self, text: &Text) -> Option<Arc<str>> {
        load_text(text, self.source)
    }

    fn has_hash(&self, content: ContentId, wanted: &str) -> bool {
        let measured = self
            .book
            .contents
            .measure(content, self.entries, self.source);
        measured.is_some_and(|m| hex(&m.sha256).eq_ignore_ascii_case(wanted))
    }

    /// Is the given hash after the change right? `None` without one.
    fn after(&mut self, path: &Id, wanted: Option<&str>, text: &str) -> Option<bool> {
        self.hash_is(
            path,
            wanted,
            text,
            "`afterSha256` is not that of the content after",
        )
    }

    fn hash_is(
        &mut self,
        path: &Id,
        wanted: Option<&str>,
        text: &str,
        message: &str,
    ) -> Option<bool> {
        let wanted = wanted?;
        let right = hex(&measure(text).sha256).eq_ignore_ascii_case(wanted);
        if !right {
            self.file_finding(Code::HashMismatch, path, message);
        }
        Some(right)
    }

    pub(crate) fn file_finding(&mut self, code: Code, path: &Id, message: &str) {
        let mut finding = self.finding(code, message);
        finding.path = Some(path.to_string());
        self.find(finding);
    }
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}
