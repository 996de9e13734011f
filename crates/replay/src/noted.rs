//! The readers' findings, each at the entry of its line.

use chipdeck_event::{Code, Finding, Located, Severity};
use hashbrown::HashMap;

/// Findings by file and line, matched with the entries as these come.
#[derive(Default)]
pub(crate) struct Noted {
    list: Vec<(Option<u32>, Finding)>,
    /// Findings without an entry yet, by (file, line).
    waiting: HashMap<(u32, u64), Vec<u32>>,
}

impl Noted {
    pub(crate) fn add(&mut self, finding: Finding) {
        let number = self.list.len() as u32;
        self.waiting
            .entry((finding.file, finding.line))
            .or_default()
            .push(number);
        self.list.push((None, finding));
    }

    pub(crate) fn list(&self) -> &[(Option<u32>, Finding)] {
        &self.list
    }

    /// Gives the entry its findings; the worst severity among them.
    pub(crate) fn settle(&mut self, located: &Located, index: u32) -> Option<Severity> {
        let key = (located.place.file, located.place.line);
        let waiting = self.waiting.get_mut(&key)?;
        let event = located.entry.event();
        let mut worst = None;
        waiting.retain(|&number| {
            let Some((at, finding)) = self.list.get_mut(number as usize) else {
                return false;
            };
            // A glued line has several entries.
            let mine = match (event, &finding.event_id) {
                (Some(event), Some(id)) => {
                    **id == *event.envelope.event_id || **id == **event.envelope.shown()
                }
                (Some(_), None) => !of_opaque(finding.code),
                (None, id) => id.is_none(),
            };
            if mine {
                *at = Some(index);
                worst = worst.max(Some(finding.code.severity()));
            }
            !mine
        });
        if waiting.is_empty() {
            self.waiting.remove(&key);
        }
        worst
    }

    /// The entries after `position` are gone: their findings wait again.
    pub(crate) fn truncate(&mut self, position: u32) {
        for (number, (at, finding)) in (0u32..).zip(&mut self.list) {
            if at.is_some_and(|index| index > position) {
                *at = None;
                self.waiting
                    .entry((finding.file, finding.line))
                    .or_default()
                    .push(number);
            }
        }
    }
}

fn of_opaque(code: Code) -> bool {
    matches!(
        code,
        Code::NotJson | Code::NotAnObject | Code::MissingField | Code::TornLine
    )
}
