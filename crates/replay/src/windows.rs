//! Windows of long lists, and counts over all entries: what a view of a large log asks for, without walking through
//! more of it than it must.

use crate::rows::{Called, Said};
use crate::state::{EventRef, State};
use crate::timeline::Timeline;
use chipdeck_event::Id;

impl Timeline {
    /// Rows `skip..skip + take` of the dialogue.
    pub fn dialogue_window(&self, state: &State, skip: usize, take: usize) -> Vec<Said<'_>> {
        let events = self.book.dialogue(state).iter().skip(skip).take(take);
        events
            .filter_map(|event| self.said(EventRef::unpack(*event)))
            .collect()
    }

    /// Which of some events are still in the model's context.
    pub fn in_context(&self, state: &State, events: &[EventRef]) -> Vec<bool> {
        let mut found = vec![false; events.len()];
        let entries = events.iter().filter_map(|event| match event {
            EventRef::Entry(index) => Some(*index),
            EventRef::Carried(_) => None,
        });
        let (mut low, mut high) = (u32::MAX, 0);
        entries.for_each(|index| (low, high) = (low.min(index), high.max(index)));
        for item in self.book.context(state) {
            let maybe = match item.event {
                EventRef::Entry(index) => (low..=high).contains(&index),
                EventRef::Carried(_) => true,
            };
            if maybe {
                let same = events.iter().position(|event| *event == item.event);
                if let Some(mark) = same.and_then(|at| found.get_mut(at)) {
                    *mark = true;
                }
            }
        }
        found
    }

    /// Calls that are wanted: how many, and rows `skip..skip + take` of them.
    pub fn tools_window(
        &self,
        state: &State,
        skip: usize,
        take: usize,
        wanted: &dyn Fn(&Called) -> bool,
    ) -> (usize, Vec<Called<'_>>) {
        let mut count = 0;
        let mut rows = Vec::new();
        for (row, tool) in self.book.calls.rows().iter().zip(state.tool_states()) {
            let Some(tool) = tool else { continue };
            let call_id = match row.with.entry {
                Some(index) => self.event_id(EventRef::Entry(index)),
                None => Some(&row.name),
            };
            let Some(call_id) = call_id else { continue };
            let called = Called {
                call_id,
                tool_name: &row.with.tool_name,
                index: row.with.entry,
                status: tool.status,
                result: tool.result,
            };
            if !wanted(&called) {
                continue;
            }
            if count >= skip && rows.len() < take {
                rows.push(called);
            }
            count += 1;
        }
        (count, rows)
    }

    /// Events of a trace.
    pub fn trace_events(&self, trace: &Id) -> u32 {
        let events = self.entries().iter().filter_map(|it| it.entry.event());
        events
            .filter(|event| same(&event.envelope.trace_id, trace))
            .count() as u32
    }

    /// Events of a correlation.
    pub fn correlation_events(&self, correlation: &Id) -> u32 {
        let events = self.entries().iter().filter_map(|it| it.entry.event());
        let own = events.filter_map(|event| event.envelope.correlation.as_ref());
        own.filter(|it| same(it, correlation)).count() as u32
    }
}

/// Interned ids are mostly the same allocation.
fn same(a: &Id, b: &Id) -> bool {
    std::sync::Arc::ptr_eq(a, b) || a == b
}
