//! What a log wants at a position: which files, with which contents.
//!
//! Left out: paths on the disk, and what is there.

use super::draft::{Known, Want};
use crate::{Certainty, State, Timeline};
use chipdeck_event::{Entry, Payload};
use chipdeck_ingest::Source;
use std::collections::HashSet;

/// A log at a position, asked for its files.
pub struct Picker<'a> {
    timeline: &'a Timeline,
    source: &'a dyn Source,
    state: State,
    /// Paths whose first event is a `file.create`.
    born: HashSet<&'a str>,
}

impl<'a> Picker<'a> {
    pub fn new(timeline: &'a Timeline, source: &'a dyn Source, position: u32) -> Picker<'a> {
        Picker {
            timeline,
            source,
            state: timeline.state_at(position),
            born: born_by_create(timeline),
        }
    }

    /// Every path of the state, and those that the log names only later: what a restore of the whole tree looks at.
    pub fn all(&self) -> Vec<Want> {
        self.timeline
            .paths()
            .into_iter()
            .map(|path| self.want(path))
            .collect()
    }

    /// Paths of the state alone, deleted ones too.
    pub fn stated(&self) -> Vec<&'a str> {
        let files = self.timeline.files(&self.state);
        files.into_iter().map(|(path, _)| path.as_ref()).collect()
    }

    /// One file as it was, against the log's last state.
    pub fn want(&self, path: &str) -> Want {
        let (theirs, unverified) = self.known(path);
        let (base, _) = self.side(path, self.timeline.end());
        Want {
            path: path.to_owned(),
            theirs,
            base,
            unverified,
        }
    }

    /// What the log knows of a file at the position, and whether it is only plausible. A file that is named only
    /// later was absent if its first event made it; else nothing is known of it.
    pub fn known(&self, path: &str) -> (Known, bool) {
        self.side(path, &self.state)
    }

    fn side(&self, path: &str, state: &State) -> (Known, bool) {
        let Some(file) = self.timeline.file(state, path) else {
            let known = match self.born.contains(path) {
                true => Known::Absent,
                false => Known::Unknown,
            };
            return (known, false);
        };
        let unverified = file.certainty == Certainty::Unverified;
        let known = match (file.certainty, file.exists, file.content) {
            (Certainty::Unknown, _, _) => Known::Unknown,
            (_, false, _) => Known::Absent,
            (_, true, Some(content)) => match self.timeline.content(content, self.source) {
                Some(text) => Known::text(&text),
                // The log's bytes are gone.
                None => Known::Unknown,
            },
            (_, true, None) => Known::Unknown,
        };
        (known, unverified)
    }
}

/// One entry's change of a file, to be taken back alone: `base` is the content after it, `theirs` that before it.
pub fn want_undone(timeline: &Timeline, source: &dyn Source, path: &str, index: u32) -> Want {
    let (theirs, unverified) = Picker::new(timeline, source, index.saturating_sub(1)).known(path);
    let (base, _) = Picker::new(timeline, source, index).known(path);
    Want {
        path: path.to_owned(),
        theirs,
        base,
        unverified,
    }
}

fn born_by_create(timeline: &Timeline) -> HashSet<&str> {
    let (mut born, mut named) = (HashSet::new(), HashSet::new());
    for located in timeline.entries() {
        let Entry::Event(event) = &located.entry else {
            continue;
        };
        let mut name = |path: &'_ std::sync::Arc<str>| named.insert(path.clone());
        match &event.payload {
            Payload::FileCreate { path, .. } => {
                let first = name(path);
                born.extend(first.then_some(path.as_ref()));
            }
            Payload::FileChange { path, .. }
            | Payload::FileDelete { path }
            | Payload::FileObserve { path, .. } => {
                name(path);
            }
            Payload::FileRename { from, to } => {
                name(from);
                name(to);
            }
            Payload::StateSnapshot { contents, .. } => {
                for (path, _) in contents {
                    name(path);
                }
            }
            _ => {}
        }
    }
    born
}
