//! Why a replay would give another state than the one before: ties in the order, events that are not idempotent, and
//! inputs that are not in the log.
//!
//! A second timeline folds the same entries, each of them twice. What the second application changes is not
//! idempotent; where the first one does something else than in the timeline that is looked at, something outside the
//! log has a part in it. It goes on in strides, so that a log can be let go of between them.

use crate::effect::Effect;
use crate::state::State;
use crate::timeline::Timeline;
use chipdeck_event::{Code, Finding};
use chipdeck_ingest::Source;
use std::collections::BTreeSet;

/// What is wrong at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// Its place in the order is decided by nothing but a tie.
    Tie,
    /// Applied twice it gave another state than once.
    NotIdempotent,
    /// Folded a second time it did something else.
    HiddenInput,
    /// It ran past its limit and was skipped.
    Timeout,
}

impl Doubt {
    pub fn as_str(self) -> &'static str {
        match self {
            Doubt::Tie => "tie",
            Doubt::NotIdempotent => "not-idempotent",
            Doubt::HiddenInput => "hidden-input",
            Doubt::Timeout => "timeout",
        }
    }
}

/// A diagnosis on its way.
pub struct Diagnosis {
    again: Timeline,
    /// Entries that were folded again.
    done: u32,
    twice: BTreeSet<u32>,
    hidden: BTreeSet<u32>,
}

impl Diagnosis {
    pub fn of(timeline: &Timeline) -> Diagnosis {
        Diagnosis {
            again: Timeline::new(timeline.options().clone()),
            done: 0,
            twice: BTreeSet::new(),
            hidden: BTreeSet::new(),
        }
    }

    /// Folds at most so many entries more. True: all are done.
    pub fn go_on(&mut self, timeline: &Timeline, source: &dyn Source, most: u32) -> bool {
        let until = timeline.len().min(self.done.saturating_add(most));
        while self.done < until {
            let index = self.done + 1;
            let Some(located) = timeline.entry(index) else {
                break;
            };
            if !self.again.append_twice(located.clone(), source) {
                self.twice.insert(index);
            }
            if !timeline.same_effect(&self.again, index) {
                self.hidden.insert(index);
            }
            self.done = index;
        }
        if self.done < timeline.len() {
            return false;
        }
        self.contents(timeline, source);
        true
    }

    /// The contents at the end, which no effect tells.
    fn contents(&mut self, timeline: &Timeline, source: &dyn Source) {
        for (path, file) in timeline.files(timeline.end()) {
            let other = self.again.file(self.again.end(), path);
            let sha256 = |timeline: &Timeline, file: Option<crate::FileState>| {
                timeline.content_sha256(file?.content?, source)
            };
            if sha256(timeline, Some(file)) != sha256(&self.again, other) {
                if let crate::EventRef::Entry(index) = file.last {
                    self.hidden.insert(index);
                }
            }
        }
    }

    /// Entries that were folded again.
    pub fn done(&self) -> u32 {
        self.done
    }

    /// What was found, by entry, with the ties and timeouts that the timeline knows by itself.
    pub fn doubts(&self, timeline: &Timeline) -> Vec<(Doubt, Option<u32>, Finding)> {
        let mut found: Vec<(Doubt, Option<u32>, Finding)> = Vec::new();
        for known in timeline.findings() {
            let doubt = match known.finding.code {
                Code::AmbiguousOrder => Doubt::Tie,
                Code::HandlerTimeout => Doubt::Timeout,
                _ => continue,
            };
            found.push((doubt, known.index, known.finding));
        }
        let own =
            |index: &u32, doubt: Doubt| Some((doubt, Some(*index), made(timeline, *index, doubt)?));
        found.extend(
            self.twice
                .iter()
                .filter_map(|index| own(index, Doubt::NotIdempotent)),
        );
        found.extend(
            self.hidden
                .iter()
                .filter_map(|index| own(index, Doubt::HiddenInput)),
        );
        found.sort_by_key(|(doubt, index, _)| (index.unwrap_or(0), *doubt));
        found
    }

    /// The findings that only a diagnosis makes, in the order of their entries.
    pub fn findings(&self, timeline: &Timeline) -> Vec<(u32, Finding)> {
        let of = |doubt: Doubt| move |index: &u32| Some((*index, made(timeline, *index, doubt)?));
        let twice = self.twice.iter().filter_map(of(Doubt::NotIdempotent));
        let hidden = self.hidden.iter().filter_map(of(Doubt::HiddenInput));
        let mut all: Vec<(u32, Finding)> = twice.chain(hidden).collect();
        all.sort_by_key(|(index, _)| *index);
        all
    }
}

fn made(timeline: &Timeline, index: u32, doubt: Doubt) -> Option<Finding> {
    let located = timeline.entry(index)?;
    let message = match doubt {
        Doubt::HiddenInput => {
            "folded again it gave another state: something outside the log has a part in it"
        }
        _ => "applied twice it gave another state than once",
    };
    let mut finding = Finding::new(
        Code::NotIdempotent,
        located.place.file,
        located.place.line,
        message,
    );
    let event = located.entry.event();
    finding.event_id = event.map(|event| event.envelope.shown().to_string());
    Some(finding)
}

impl State {
    /// Equal but for the position.
    pub(crate) fn same_but_position(&self, other: &State) -> bool {
        // Lists that share their structure are equal: nearly always that is all there is to look at.
        macro_rules! same {
            ($($field:ident)*) => {
                $((self.$field.ptr_eq(&other.$field) || self.$field == other.$field))&&*
            };
        }
        let plain = |state: &State| {
            (
                state.said_from,
                state.said_to,
                state.context_from,
                state.arrivals,
                state.changers,
            )
        };
        plain(self) == plain(other) && same!(files context_heads tools open chips memory plans)
    }
}

impl Timeline {
    /// Does an entry do in another timeline of the same entries what it does here?
    fn same_effect(&self, other: &Timeline, index: u32) -> bool {
        let (Some(a), Some(b)) = (self.effect(index), other.effect(index)) else {
            return false;
        };
        let row = |timeline: &Timeline, row: u32| {
            timeline
                .book
                .file_rows
                .get(row as usize)
                .map(|(file, _)| *file)
        };
        let rows: Vec<(u32, u32)> = match a {
            Effect::File { row, .. } => vec![(*row, *row)],
            Effect::Files(rows) => rows.iter().map(|(_, row)| (*row, *row)).collect(),
            _ => Vec::new(),
        };
        a == b && rows.iter().all(|(x, y)| row(self, *x) == row(other, *y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chipdeck_ingest::{Batch, LogSet, MemorySource};

    const LOG: &str = concat!(
        r#"{"eventId":"e1","traceId":"t","seq":1,"type":"message.user","timestamp":1,"payload":{"content":"x"}}"#,
        "\n",
        r#"{"eventId":"e2","traceId":"t","seq":2,"type":"file.create","timestamp":2,"payload":{"path":"a","content":"x\n"}}"#,
        "\n",
        r#"{"eventId":"e3","traceId":"t","seq":3,"type":"file.change","timestamp":3,"payload":{"path":"a","edits":[{"startLine":1,"endLine":0,"content":"y\n"}]}}"#,
        "\n",
        r#"{"eventId":"e4","traceId":"t","seq":4,"type":"plan.create","timestamp":4,"payload":{"planId":"p","task":"t","plan":{}}}"#,
        "\n",
    );

    fn fold(source: &MemorySource) -> Timeline {
        let mut timeline = Timeline::new(crate::Options::default());
        let mut set = LogSet::open(source);
        let mut sink = |batch: &mut Batch, source: &dyn Source| timeline.take(batch, source);
        while !set.read(source, 1 << 20, &mut sink).unwrap().done() {}
        set.settle(true, source, &mut sink);
        timeline.arrange(source);
        timeline
    }

    fn codes(diagnosis: &Diagnosis, timeline: &Timeline) -> Vec<(u32, &'static str)> {
        let doubts = diagnosis.doubts(timeline);
        doubts
            .into_iter()
            .map(|(doubt, index, _)| (index.unwrap(), doubt.as_str()))
            .collect()
    }

    #[test]
    fn a_sound_log_has_no_doubts_however_it_is_cut() {
        let source = MemorySource::single("a.jsonl", LOG);
        let timeline = fold(&source);
        for stride in 1..6 {
            let mut diagnosis = Diagnosis::of(&timeline);
            while !diagnosis.go_on(&timeline, &source, stride) {}
            assert_eq!(diagnosis.done(), 4);
            assert_eq!(codes(&diagnosis, &timeline), []);
        }
    }

    #[test]
    fn a_handler_that_does_it_again_is_found() {
        let source = MemorySource::single("a.jsonl", LOG);
        let timeline = fold(&source);
        let mut diagnosis = Diagnosis::of(&timeline);
        // Without the memory of ids the handlers run twice: a message is said twice, a line comes in twice; a file
        // that is created again and a plan that is proposed again stay what they are.
        diagnosis.again.forgetful = true;
        while !diagnosis.go_on(&timeline, &source, 1) {}
        let found = codes(&diagnosis, &timeline);
        assert!(found.contains(&(1, "not-idempotent")), "{found:?}");
        assert!(found.contains(&(3, "not-idempotent")), "{found:?}");
        assert!(!found.contains(&(4, "not-idempotent")), "{found:?}");
        let (index, finding) = &diagnosis.findings(&timeline)[0];
        assert_eq!(
            (*index, finding.line, finding.code),
            (1, 1, Code::NotIdempotent)
        );
        assert_eq!(finding.event_id.as_deref(), Some("e1"));
    }

    #[test]
    fn an_input_from_outside_is_found() {
        // The same length, another text: the log was rewritten behind the first fold.
        let long = "a".repeat(400);
        let text = LOG.replace(
            "\"content\":\"x\\n\"",
            &format!("\"content\":\"{long}\\n\""),
        );
        let source = MemorySource::single("a.jsonl", text.clone());
        let timeline = fold(&source);
        let hash = timeline.file(timeline.end(), "a").unwrap().content.unwrap();
        timeline.content_sha256(hash, &source).unwrap();
        let other = MemorySource::single("a.jsonl", text.replace("aaaa", "aaab"));
        let mut diagnosis = Diagnosis::of(&timeline);
        while !diagnosis.go_on(&timeline, &other, 10) {}
        assert_eq!(codes(&diagnosis, &timeline), [(3, "hidden-input")]);
    }
}
