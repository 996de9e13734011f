//! Tokens of each API message of a log, and the texts that stand in front of the messages: read from the records when
//! somebody first asks, and kept. The types of entries tell which records may have any; the others are not read.

use super::look::Look;
use crate::api::SpentView;
use chipdeck_event::Entry;
use chipdeck_ingest::{load_record, may_stand, may_tell_spent, spent, standing, Agent, Spent};
use chipdeck_replay::Path;
use std::collections::HashMap;
use std::sync::Arc;

/// A record larger than this has no figures that are worth reading it.
const LARGEST: u64 = 32 << 20;

/// The figures of one API message, at the entry where it first stands.
#[derive(Clone, Debug)]
pub struct Request {
    pub index: u32,
    pub spent: Spent,
}

impl Request {
    /// Tokens in the window after it.
    pub fn fill(&self) -> u64 {
        let it = &self.spent;
        it.input + it.cache_read + it.cache_write + it.output
    }
}

/// A standing text and where it is.
#[derive(Clone, Debug)]
pub struct Stands {
    pub index: u32,
    pub type_name: Arc<str>,
    pub text: chipdeck_ingest::Standing,
}

#[derive(Default)]
pub struct Spending {
    upto: u32,
    /// In order.
    pub requests: Vec<Request>,
    /// Entries that name the model, in order.
    pub models: Vec<(u32, Arc<str>)>,
    pub windows: Vec<(u32, u64)>,
    pub standing: Vec<Stands>,
    /// What is told of a whole session: the newest.
    pub whole: Vec<(u32, Spent)>,
    /// By file and API message: its number in `requests`.
    known: HashMap<(u32, String), usize>,
    /// The record that was looked at last: file and offset.
    last: Option<(u32, u64)>,
}

impl Spending {
    /// Looks at so many entries more. False: at all there are.
    pub fn scan(&mut self, look: &Look, agent: Agent, stride: u32) -> bool {
        let end = look.timeline.len().min(self.upto.saturating_add(stride));
        for index in self.upto + 1..=end {
            self.take(look, agent, index);
        }
        self.upto = end.max(self.upto);
        self.upto < look.timeline.len()
    }

    fn take(&mut self, look: &Look, agent: Agent, index: u32) {
        let Some(located) = look.timeline.entry(index) else {
            return;
        };
        let Entry::Event(event) = &located.entry else {
            return;
        };
        let (place, type_name) = (located.place, &event.envelope.type_name);
        let (figures, stands) = (may_tell_spent(agent, type_name), may_stand(type_name));
        if !(figures || stands) || place.len > LARGEST {
            return;
        }
        // A record may be several events.
        if self.last.replace((place.file, place.offset)) == Some((place.file, place.offset)) {
            return;
        }
        let record = load_record(place, look.source);
        let Ok(record) = std::str::from_utf8(&record) else {
            return;
        };
        if stands {
            let texts = standing(type_name, record);
            self.standing.extend(texts.into_iter().map(|text| Stands {
                index,
                type_name: type_name.clone(),
                text,
            }));
        }
        if let Some(spent) = figures.then(|| spent(agent, record)).flatten() {
            self.put(index, place.file, spent);
        }
    }

    fn put(&mut self, index: u32, file: u32, spent: Spent) {
        if let Some(model) = &spent.model {
            if self.models.last().is_none_or(|(_, held)| **held != **model) {
                self.models.push((index, model.as_str().into()));
            }
        }
        if let Some(window) = spent.window {
            if self.windows.last().is_none_or(|(_, held)| *held != window) {
                self.windows.push((index, window));
            }
        }
        if !spent.counted {
            return;
        }
        if spent.whole {
            self.whole.push((index, spent));
            return;
        }
        let Some(message) = spent.message.clone() else {
            self.requests.push(Request { index, spent });
            return;
        };
        match self.known.get(&(file, message.clone())).copied() {
            // Told again: the last telling is the whole.
            Some(number) => {
                if let Some(held) = self.requests.get_mut(number) {
                    held.spent = spent;
                }
            }
            None => {
                self.known.insert((file, message), self.requests.len());
                self.requests.push(Request { index, spent });
            }
        }
    }

    /// The requests on a path, up to a position.
    pub fn on<'a>(
        &'a self,
        path: &'a Path,
        until: u32,
    ) -> impl DoubleEndedIterator<Item = &'a Request> {
        let end = self.requests.partition_point(|it| it.index <= until);
        let known = self.requests.get(..end).unwrap_or_default();
        known.iter().filter(|it| path.contains(it.index))
    }
}

/// Sums up.
pub fn sum<'a>(requests: impl Iterator<Item = &'a Request>) -> SpentView {
    requests.fold(SpentView::default(), |mut sum, request| {
        let it = &request.spent;
        sum.requests += 1;
        sum.input += it.input;
        sum.cache_read += it.cache_read;
        sum.cache_write += it.cache_write;
        sum.output += it.output;
        sum.cost = match (sum.cost, it.cost) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
        sum
    })
}
