//! What was said on a lane, and what of it the model still had: a compaction stands for what it replaced.

use super::Path;
use crate::rows::Said;
use crate::state::EventRef;
use crate::timeline::Timeline;
use chipdeck_event::Payload;

/// The model's context at a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContextAt {
    /// What it holds, in order; a compaction in place of what it replaced.
    pub items: Vec<EventRef>,
    /// The last compaction that replaced something.
    pub compaction: Option<u32>,
    /// What that one replaced.
    pub dropped: Vec<EventRef>,
}

impl Timeline {
    /// A row of the dialogue, where the event is one.
    pub fn said_by(&self, event: EventRef) -> Option<Said<'_>> {
        self.said(event)
    }

    /// Entries of the dialogue on a path, in order.
    pub fn said_on(&self, path: &Path) -> Vec<u32> {
        let said = self
            .book
            .said
            .iter()
            .map(|packed| EventRef::unpack(*packed));
        let mut runs = path.runs().peekable();
        said.filter_map(|event| match event {
            EventRef::Entry(index) => Some(index),
            EventRef::Carried(_) => None,
        })
        .filter(|index| {
            while runs.next_if(|(_, last)| last < index).is_some() {}
            runs.peek().is_some_and(|(first, _)| first <= index)
        })
        .collect()
    }

    /// The context on a path at a position, from the messages and compactions on it alone.
    pub fn context_on(&self, path: &Path, position: u32) -> ContextAt {
        // With the place that each stands for.
        let mut items: Vec<(u32, u32)> = Vec::new();
        let mut context = ContextAt::default();
        for index in path.until(position).flat_map(|(first, last)| first..=last) {
            let event = self.entry(index).and_then(|it| it.entry.event());
            match event.map(|event| &event.payload) {
                Some(
                    Payload::Message { .. }
                    | Payload::MessageToolResult { .. }
                    | Payload::MessageCorrection { .. },
                ) => items.push((index, index)),
                Some(Payload::ContextCompact { through, .. }) => {
                    let Some(at) = self.index_of_event(through).filter(|at| *at < index) else {
                        continue;
                    };
                    let kept = items.partition_point(|(place, _)| *place <= at);
                    let rest = items.split_off(kept);
                    let gone: Vec<EventRef> = std::mem::take(&mut items)
                        .into_iter()
                        .map(|(_, index)| EventRef::Entry(index))
                        .collect();
                    if !gone.is_empty() {
                        context.compaction = Some(index);
                        context.dropped = gone;
                    }
                    items.push((at, index));
                    items.extend(rest);
                }
                _ => {}
            }
        }
        context.items = items
            .into_iter()
            .map(|(_, index)| EventRef::Entry(index))
            .collect();
        context
    }

    /// The context of the whole log at a position, as the fold has it.
    pub fn context_at(&self, position: u32) -> ContextAt {
        let state = self.state_at(position);
        let items = self.context(&state);
        let compactions = (1..=state.position()).rev();
        let is_compaction = |index: &u32| {
            let event = self.entry(*index).and_then(|it| it.entry.event());
            matches!(
                event.map(|event| &event.payload),
                Some(Payload::ContextCompact { .. })
            )
        };
        for index in compactions.filter(is_compaction) {
            let before = self.context(&self.state_at(index - 1));
            let after: hashbrown::HashSet<u32> = self
                .context(&self.state_at(index))
                .into_iter()
                .map(EventRef::pack)
                .collect();
            let dropped: Vec<EventRef> = before
                .into_iter()
                .filter(|event| !after.contains(&event.pack()))
                .collect();
            if !dropped.is_empty() {
                return ContextAt {
                    items,
                    compaction: Some(index),
                    dropped,
                };
            }
        }
        ContextAt {
            items,
            ..ContextAt::default()
        }
    }
}
