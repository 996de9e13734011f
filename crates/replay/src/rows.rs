//! A state's rows with their names: what people and programs look at.

use crate::book::Version;
use crate::effect::Effect;
use crate::state::*;
use crate::timeline::Timeline;
use chipdeck_event::{Id, Payload, Role, Status, Text, Zone};

/// A row of the dialogue.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    pub event: EventRef,
    pub event_id: &'a Id,
    /// `user`, `assistant`, `system`, `tool`, `correction`.
    pub role: &'static str,
    /// `None`: the event has none.
    pub content: Option<&'a Text>,
    pub call: Option<&'a Id>,
    pub status: Option<Status>,
}

/// A row of the tools.
#[derive(Clone, Copy, Debug)]
pub struct Called<'a> {
    pub call_id: &'a Id,
    pub tool_name: &'a Id,
    /// The call's entry, from 1; `None` when carried by a `state.snapshot`.
    pub index: Option<u32>,
    /// `None` while pending.
    pub status: Option<Status>,
    pub result: Option<EventRef>,
}

/// A chip in the queue or evicted.
#[derive(Clone, Copy, Debug)]
pub struct Chip<'a> {
    pub id: &'a Id,
    /// Entry of the `chip.save` that put it there, from 1; `None` when carried by a `state.snapshot`.
    pub index: Option<u32>,
}

/// Ids in the order of arrival.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zones {
    pub hot: Vec<Id>,
    pub warm: Vec<Id>,
    pub cold: Vec<Id>,
    pub recycled: Vec<Id>,
}

impl State {
    /// Rows of the dialogue.
    pub fn dialogue_len(&self) -> usize {
        (self.said_to - self.said_from) as usize
    }

    /// Calls so far.
    pub fn tools_len(&self) -> usize {
        self.tool_states().flatten().count()
    }
}

impl Timeline {
    /// Every path that the state has (deleted ones too), sorted.
    pub fn files<'a>(&'a self, state: &State) -> Vec<(&'a Id, FileState)> {
        let rows = self.book.paths.rows();
        let numbers = self.sorted_paths();
        let named = |&number: &u32| {
            let file = self.book.file(state, number)?;
            Some((&rows.get(number as usize)?.name, file))
        };
        numbers.iter().filter_map(named).collect()
    }

    /// How many files the state has, and how many of them have a version up to there that counts as a change.
    pub fn file_counts(&self, state: &State, changes: impl Fn(&Version) -> bool) -> (usize, usize) {
        let (mut known, mut changed) = (0, 0);
        for (number, row) in (0u32..).zip(self.book.paths.rows()) {
            if self.book.file(state, number).is_none() {
                continue;
            }
            known += 1;
            let mut versions = row.with.iter().take_while(|it| it.index <= state.position);
            changed += usize::from(versions.any(&changes));
        }
        (known, changed)
    }

    pub fn file(&self, state: &State, path: &str) -> Option<FileState> {
        self.book.file(state, self.book.paths.get(path)?)
    }

    pub fn dialogue<'a>(
        &'a self,
        state: &'a State,
    ) -> impl ExactSizeIterator<Item = Said<'a>> + DoubleEndedIterator + 'a {
        let events = self.book.dialogue(state).iter();
        events.map(|packed| EventRef::unpack(*packed)).map(|event| {
            self.said(event).unwrap_or(Said {
                event,
                event_id: &self.nameless,
                role: "system",
                content: None,
                call: None,
                status: None,
            })
        })
    }

    pub(crate) fn said(&self, event: EventRef) -> Option<Said<'_>> {
        let event_id = self.event_id(event)?;
        let said = |role, content, call, status| {
            Some(Said {
                event,
                event_id,
                role,
                content,
                call,
                status,
            })
        };
        let index = match event {
            EventRef::Entry(index) => index,
            EventRef::Carried(number) => {
                let row = self.book.carried(number)?.said.as_ref()?;
                return said(
                    row.role,
                    row.content.as_ref(),
                    row.call.as_ref(),
                    row.status,
                );
            }
        };
        match &self.entry(index)?.entry.event()?.payload {
            Payload::Message { role, content } => {
                let role = match role {
                    Role::User => "user",
                    Role::Assistant => "assistant",
                    Role::System => "system",
                };
                said(role, Some(content), None, None)
            }
            Payload::MessageToolResult {
                call,
                status,
                content,
            } => said("tool", content.as_ref(), Some(call), Some(*status)),
            Payload::MessageCorrection {
                call,
                status,
                content,
                ..
            } => said("correction", content.as_ref(), Some(call), Some(*status)),
            _ => None,
        }
    }

    /// What the model would still see, in order.
    pub fn context(&self, state: &State) -> Vec<EventRef> {
        self.book.context(state).map(|item| item.event).collect()
    }

    /// Calls in the order in which they came.
    pub fn tools<'a>(&'a self, state: &'a State) -> impl Iterator<Item = Called<'a>> + 'a {
        let rows = self.book.calls.rows().iter().zip(state.tool_states());
        rows.filter_map(|(row, tool)| {
            let tool = tool?;
            let call_id = match row.with.entry {
                Some(index) => self.event_id(EventRef::Entry(index))?,
                None => &row.name,
            };
            Some(Called {
                call_id,
                tool_name: &row.with.tool_name,
                index: row.with.entry,
                status: tool.status,
                result: tool.result,
            })
        })
    }

    /// One call, by its event id.
    pub fn tool<'a>(&'a self, state: &State, call_id: &str) -> Option<Called<'a>> {
        let number = self.book.calls.get(call_id)?;
        let row = self.book.calls.row(number)?;
        let tool = state.tool(number)?;
        Some(Called {
            call_id: &row.name,
            tool_name: &row.with.tool_name,
            index: row.with.entry,
            status: tool.status,
            result: tool.result,
        })
    }

    /// The queue, oldest first, and the evicted ones in the order in which they went.
    pub fn chips(&self, state: &State) -> (Vec<Chip<'_>>, Vec<Chip<'_>>) {
        let mut queue = Vec::new();
        let mut evicted = Vec::new();
        for (row, seat) in self.book.chips.rows().iter().zip(&state.chips) {
            let (list, saved) = match seat.place {
                ChipPlace::Queue(saved) => (&mut queue, saved),
                ChipPlace::Evicted(saved) => (&mut evicted, saved),
                ChipPlace::Gone => continue,
            };
            let index = (saved > 0).then_some(saved);
            list.push((
                seat.arrival,
                Chip {
                    id: &row.name,
                    index,
                },
            ));
        }
        (in_order(queue), in_order(evicted))
    }

    pub fn memory(&self, state: &State) -> Zones {
        let (mut hot, mut warm, mut cold, mut recycled) = (vec![], vec![], vec![], vec![]);
        for (row, seat) in self.book.memory.rows().iter().zip(&state.memory) {
            let list = match seat.place {
                MemoryPlace::Zone(Zone::Hot) => &mut hot,
                MemoryPlace::Zone(Zone::Warm) => &mut warm,
                MemoryPlace::Zone(Zone::Cold) => &mut cold,
                MemoryPlace::Recycled(_) => &mut recycled,
                MemoryPlace::Gone => continue,
            };
            list.push((seat.arrival, row.name.clone()));
        }
        Zones {
            hot: in_order(hot),
            warm: in_order(warm),
            cold: in_order(cold),
            recycled: in_order(recycled),
        }
    }

    /// Sorted by id.
    pub fn plans<'a>(&'a self, state: &State) -> Vec<(&'a Id, PlanStatus)> {
        let rows = self.book.plans.rows().iter().zip(&state.plans);
        let mut plans: Vec<(&Id, PlanStatus)> = rows
            .filter_map(|(row, status)| Some((&row.name, (*status)?)))
            .collect();
        plans.sort_unstable_by_key(|(id, _)| *id);
        plans
    }

    /// The call of a result entry, or the last result of a call entry in the whole log (indices from 1).
    pub fn counterpart(&self, index: u32) -> Option<u32> {
        if let Some(Effect::Result { tool, .. }) = self.effect(index) {
            return self.book.calls.row(*tool)?.with.entry;
        }
        let event = self.entry(index)?.entry.event()?;
        match &event.payload {
            Payload::ToolCall { .. } => {
                let tool = self
                    .end()
                    .tool(self.book.calls.get(&event.envelope.event_id)?)?;
                match tool.result? {
                    EventRef::Entry(index) => Some(index),
                    EventRef::Carried(_) => None,
                }
            }
            Payload::MessageToolResult { call, .. } | Payload::MessageCorrection { call, .. } => {
                self.book.calls.row(self.book.calls.get(call)?)?.with.entry
            }
            _ => None,
        }
    }
}

fn in_order<T>(mut list: Vec<(u32, T)>) -> Vec<T> {
    list.sort_by_key(|(arrival, _)| *arrival);
    list.into_iter().map(|(_, item)| item).collect()
}
