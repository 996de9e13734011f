//! Secrets of a part: found in all its lines first, then masked alike in each, with a list of the places.

use crate::lines::{Line, Lines};
use crate::walk::{hex, strings};
use crate::Error;
use chipdeck_secrets::{Masked, Masker};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// A masked place.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The log's file; empty for the state that is told before the part.
    pub file: String,
    /// Physical line, from 1; 0 for the state.
    pub line: u64,
    pub event_id: String,
    /// JSON pointer into the event.
    pub field: String,
    pub rule: &'static str,
    /// Equal values have the same number.
    pub value: u32,
    /// A few letters around the value, itself masked, for people.
    pub excerpt: String,
}

pub(crate) struct Masking {
    masker: Option<Masker>,
    /// SHA-256 of a content as the log has it → of the masked one, and its bytes.
    hashes: HashMap<String, (String, u64)>,
    places: RefCell<Vec<Place>>,
    seen: RefCell<BTreeSet<(u32, u64, String)>>,
}

impl Masking {
    pub(crate) fn none() -> Masking {
        Masking {
            masker: None,
            hashes: HashMap::new(),
            places: RefCell::default(),
            seen: RefCell::default(),
        }
    }

    pub(crate) fn of(lines: &Lines<'_>, keep: &[u32]) -> Result<Masking, Error> {
        let mut masker = Masker::new();
        lines.each(&mut |line| {
            if line.opaque {
                masker.learn(&line.json);
            } else {
                strings(&line.json, &mut |_, text| {
                    masker.learn(text);
                    None
                });
            }
            Ok(())
        })?;
        if masker.is_empty() {
            return Ok(Masking::none());
        }
        masker.keep(keep.iter().copied());
        let mut hashes = HashMap::new();
        lines.each_content(&mut |text| {
            let (masked, places) = masker.mask(text);
            if !places.is_empty() {
                let bytes = masked.len() as u64;
                hashes.insert(sha256(text), (sha256(&masked), bytes));
            }
        });
        Ok(Masking {
            masker: Some(masker),
            hashes,
            places: RefCell::default(),
            seen: RefCell::default(),
        })
    }

    /// A text that is no line: a content that a diff shows. Its places are in the lines.
    pub(crate) fn text(&self, text: &str) -> String {
        match &self.masker {
            Some(masker) => masker.mask(text).0.into_owned(),
            None => text.to_owned(),
        }
    }

    /// A line with its secrets masked; what was masked is added to the list.
    pub(crate) fn line(&self, line: &Line) -> String {
        let Some(masker) = &self.masker else {
            return line.json.clone();
        };
        let mut note = |field: &str, text: &str| -> Option<String> {
            if let Some((hash, _)) = self.hashes.get(text) {
                return Some(hash.clone());
            }
            let (masked, places) = masker.mask(text);
            if places.is_empty() {
                return None;
            }
            let masked = masked.into_owned();
            for (at, place) in places.iter().enumerate() {
                // What is shown around ends where the next secret is.
                let from = at.checked_sub(1).and_then(|it| places.get(it));
                let to = places.get(at + 1);
                let room =
                    from.map_or(0, |it| it.range.end)..to.map_or(text.len(), |it| it.range.start);
                self.note(line, field, text, place, room);
            }
            Some(masked)
        };
        if line.opaque {
            return note("", &line.json).unwrap_or_else(|| line.json.clone());
        }
        let masked = strings(&line.json, &mut note);
        if line.index.is_none() {
            self.measured(&masked).unwrap_or(masked)
        } else {
            masked
        }
    }

    fn note(&self, line: &Line, field: &str, text: &str, place: &Masked, room: Range<usize>) {
        let key = (
            line.index.unwrap_or(0),
            place.range.start as u64,
            format!("{field} {}", place.value),
        );
        if !self.seen.borrow_mut().insert(key) {
            return;
        }
        let before = text.get(room.start..place.range.start).unwrap_or_default();
        let after = text.get(place.range.end..room.end).unwrap_or_default();
        let before: Vec<char> = before
            .chars()
            .rev()
            .take_while(|c| *c != '\n')
            .take(24)
            .collect();
        let after: String = after.chars().take_while(|c| *c != '\n').take(24).collect();
        let before: String = before.into_iter().rev().collect();
        let excerpt = format!("{before}•••{after}");
        self.places.borrow_mut().push(Place {
            file: line.file.clone(),
            line: line.line,
            event_id: line.event_id.clone(),
            field: field.to_owned(),
            rule: place.rule,
            value: place.value,
            excerpt,
        });
    }

    /// The state that is told before tells the bytes of the masked contents.
    fn measured(&self, json: &str) -> Option<String> {
        if self.hashes.is_empty() {
            return None;
        }
        let by_new: HashMap<&str, u64> = self
            .hashes
            .values()
            .map(|(hash, bytes)| (hash.as_str(), *bytes))
            .collect();
        let mut event: Value = serde_json::from_str(json).ok()?;
        let files = event.pointer_mut("/payload/state/files")?.as_object_mut()?;
        for file in files.values_mut() {
            let bytes = file
                .get("sha256")
                .and_then(Value::as_str)
                .and_then(|hash| by_new.get(hash));
            if let (Some(bytes), Some(file)) = (bytes.copied(), file.as_object_mut()) {
                file.insert("bytes".to_owned(), bytes.into());
            }
        }
        Some(event.to_string())
    }

    pub(crate) fn places(&self) -> Vec<Place> {
        self.places.borrow().clone()
    }
}

fn sha256(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}
