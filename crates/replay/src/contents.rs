//! Contents of files by reference: a text in the log, or a change of an earlier content. Texts are made when looked
//! at; some are kept so that a long chain of edits stays quick.
//!
//! Left out on purpose: which file has which content (see [`crate::state`]).

use crate::edit;
use crate::state::ContentId;
use chipdeck_event::{Located, Payload, Text};
use chipdeck_ingest::{each_part, load_text, Source};
use hashbrown::HashMap;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// How a content is made.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    /// In full.
    Full(Text),
    /// The change of the entry that brought it on an earlier content.
    Changed { base: ContentId },
    /// Only its hash and length are known (carried by a `state.snapshot` without its text).
    Named,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    pub sha256: [u8; 32],
    pub bytes: u64,
}

#[derive(Debug)]
struct Node {
    recipe: Recipe,
    /// Edits since the last full content.
    depth: u32,
    /// Position of the entry that brought it.
    born: u32,
    measure: OnceLock<Measure>,
}

/// All contents of a timeline.
pub(crate) struct Contents {
    nodes: Vec<Node>,
    kept: Mutex<Kept>,
}

/// Texts in memory: the latest looked at, and every so many of a chain.
struct Kept {
    budget: usize,
    recent: HashMap<u32, Arc<str>>,
    order: VecDeque<u32>,
    recent_bytes: usize,
    marks: BTreeMap<u32, Arc<str>>,
    mark_bytes: usize,
    /// A text is kept at depths that this divides.
    spacing: u32,
}

const FIRST_SPACING: u32 = 32;

impl Contents {
    /// `budget`: bytes of texts that may be kept in memory.
    pub(crate) fn new(budget: usize) -> Contents {
        Contents {
            nodes: Vec::new(),
            kept: Mutex::new(Kept {
                budget: budget / 2,
                recent: HashMap::new(),
                order: VecDeque::new(),
                recent_bytes: 0,
                marks: BTreeMap::new(),
                mark_bytes: 0,
                spacing: FIRST_SPACING,
            }),
        }
    }

    /// Forgets the contents that came with an entry after `position`.
    pub(crate) fn truncate(&mut self, position: u32) {
        while self.nodes.pop_if(|node| node.born > position).is_some() {}
        let len = self.nodes.len() as u32;
        self.kept().forget_from(len);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn full(&mut self, born: u32, text: Text) -> ContentId {
        self.push(born, Recipe::Full(text), 0)
    }

    pub(crate) fn named(&mut self, born: u32, measure: Measure) -> ContentId {
        let id = self.push(born, Recipe::Named, 0);
        if let Some(node) = self.nodes.last() {
            let _ = node.measure.set(measure);
        }
        id
    }

    /// The text was just made by the change of the entry at position `born` on `base`.
    pub(crate) fn changed(&mut self, born: u32, base: ContentId, text: Arc<str>) -> ContentId {
        let depth = self
            .nodes
            .get(base.0 as usize)
            .map_or(0, |node| node.depth + 1);
        let id = self.push(born, Recipe::Changed { base }, depth);
        let mut kept = self.kept();
        kept.mark(id.0, depth, &text, &self.nodes);
        kept.remember(id.0, text);
        id
    }

    fn push(&mut self, born: u32, recipe: Recipe, depth: u32) -> ContentId {
        self.nodes.push(Node {
            recipe,
            depth,
            born,
            measure: OnceLock::new(),
        });
        ContentId((self.nodes.len() - 1) as u32)
    }

    /// The text; `None` when the log no longer has what it needs.
    pub(crate) fn text(
        &self,
        id: ContentId,
        entries: &[Located],
        source: &dyn Source,
    ) -> Option<Arc<str>> {
        let mut steps: Vec<(u32, u32)> = Vec::new();
        let mut at = id.0;
        let mut text = loop {
            if let Some(text) = self.kept().get(at) {
                break text;
            }
            let node = self.nodes.get(at as usize)?;
            match &node.recipe {
                Recipe::Full(text) => break load_text(text, source)?,
                Recipe::Named => return None,
                Recipe::Changed { base } => {
                    steps.push((at, node.born));
                    // A base always comes before what is made of it.
                    if base.0 >= at {
                        return None;
                    }
                    at = base.0;
                }
            }
        };
        while let Some((made, born)) = steps.pop() {
            let event = entries
                .get((born as usize).checked_sub(1)?)?
                .entry
                .event()?;
            let Payload::FileChange { change, .. } = &event.payload else {
                return None;
            };
            text = edit::apply(&text, change, &|text| load_text(text, source)).ok()?;
            // On a long way leave marks for the next walk.
            if steps.len().is_multiple_of(FIRST_SPACING as usize) && !steps.is_empty() {
                self.kept().remember(made, text.clone());
            }
        }
        self.kept().remember(id.0, text.clone());
        Some(text)
    }

    /// Hash and length, computed when first asked for.
    pub(crate) fn measure(
        &self,
        id: ContentId,
        entries: &[Located],
        source: &dyn Source,
    ) -> Option<Measure> {
        let node = self.nodes.get(id.0 as usize)?;
        if let Some(measure) = node.measure.get() {
            return Some(*measure);
        }
        let held = self.kept().get(id.0);
        let measured = match (&node.recipe, held) {
            // A full text need not be held to be measured.
            (Recipe::Full(text), None) => {
                let (mut hash, mut bytes) = (Sha256::new(), 0);
                each_part(text, source, &mut |part| {
                    hash.update(part.as_bytes());
                    bytes += part.len() as u64;
                })?;
                Measure {
                    sha256: hash.finalize().into(),
                    bytes,
                }
            }
            _ => measure(&self.text(id, entries, source)?),
        };
        Some(*node.measure.get_or_init(|| measured))
    }
}

pub(crate) fn measure(text: &str) -> Measure {
    Measure {
        sha256: Sha256::digest(text.as_bytes()).into(),
        bytes: text.len() as u64,
    }
}

impl Kept {
    fn get(&self, id: u32) -> Option<Arc<str>> {
        self.recent
            .get(&id)
            .or_else(|| self.marks.get(&id))
            .cloned()
    }

    fn remember(&mut self, id: u32, text: Arc<str>) {
        if text.len() > self.budget || self.recent.contains_key(&id) {
            return;
        }
        self.recent_bytes += text.len();
        self.recent.insert(id, text);
        self.order.push_back(id);
        while self.recent_bytes > self.budget {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            if let Some(text) = self.recent.remove(&oldest) {
                self.recent_bytes -= text.len();
            }
        }
    }

    /// Keeps the text if its depth is one of those kept; when they get too many every second one goes.
    fn mark(&mut self, id: u32, depth: u32, text: &Arc<str>, nodes: &[Node]) {
        if !depth.is_multiple_of(self.spacing) {
            return;
        }
        self.mark_bytes += text.len();
        self.marks.insert(id, text.clone());
        while self.mark_bytes > self.budget && !self.marks.is_empty() {
            self.spacing = self.spacing.saturating_mul(2);
            let spacing = self.spacing;
            self.marks.retain(|id, _| {
                nodes
                    .get(*id as usize)
                    .is_some_and(|node| node.depth % spacing == 0)
            });
            self.mark_bytes = self.marks.values().map(|text| text.len()).sum();
            if spacing > 1 << 20 {
                self.marks.clear();
                self.mark_bytes = 0;
            }
        }
    }

    fn forget_from(&mut self, len: u32) {
        self.recent.retain(|id, _| *id < len);
        self.order.retain(|id| *id < len);
        self.recent_bytes = self.recent.values().map(|text| text.len()).sum();
        self.marks.split_off(&len);
        self.mark_bytes = self.marks.values().map(|text| text.len()).sum();
    }
}
