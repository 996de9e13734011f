//! Masking many texts alike: a value that one text shows to be a secret is masked in all of them, with the same
//! number, so that what is told apart stays told apart.
//!
//! First every text is looked at ([`Masker::learn`]), then each is masked. Lines stay lines: of a secret of many
//! lines each is masked by itself, so that line numbers and diffs still fit.

use crate::rules::{scan, Hit};
use aho_corasick::{AhoCorasick, AhoCorasickBuilder, MatchKind};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::OnceLock;

/// Shorter ones are masked only where a rule finds them, not wherever the same letters stand.
const EVERYWHERE: usize = 8;

/// A masked place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    /// Bytes of the text as it was.
    pub range: Range<usize>,
    pub rule: &'static str,
    /// Number of the value, from 1: equal values have the same.
    pub value: u32,
}

#[derive(Default)]
pub struct Masker {
    /// By value: its number and its rule.
    values: HashMap<String, (u32, &'static str)>,
    /// Those that a person looked at and keeps.
    kept: BTreeSet<u32>,
    everywhere: OnceLock<Option<(AhoCorasick, Vec<u32>)>>,
}

impl Masker {
    pub fn new() -> Masker {
        Masker::default()
    }

    /// Takes in the secrets of a text.
    pub fn learn(&mut self, text: &str) {
        for hit in scan(text) {
            for line in lines(text, &hit) {
                let number = self.values.len() as u32 + 1;
                let value = text.get(line).unwrap_or_default();
                self.values
                    .entry(value.to_owned())
                    .or_insert((number, hit.rule));
            }
        }
        self.everywhere = OnceLock::new();
    }

    /// Values that stay as they are, by number.
    pub fn keep(&mut self, values: impl IntoIterator<Item = u32>) {
        self.kept.extend(values);
    }

    /// Nothing was found in any text.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn searcher(&self) -> Option<&(AhoCorasick, Vec<u32>)> {
        let made = self.everywhere.get_or_init(|| {
            let by_number: BTreeMap<u32, &String> = self
                .values
                .iter()
                .filter(|(value, _)| value.len() >= EVERYWHERE)
                .map(|(value, (number, _))| (*number, value))
                .collect();
            let searcher = AhoCorasickBuilder::new()
                .match_kind(MatchKind::LeftmostLongest)
                .build(by_number.values())
                .ok()?;
            Some((searcher, by_number.into_keys().collect()))
        });
        made.as_ref()
    }

    /// The places of a text that are masked, in order, without overlaps.
    pub fn places(&self, text: &str) -> Vec<Masked> {
        if self.values.is_empty() {
            return Vec::new();
        }
        let mut found: Vec<Masked> = Vec::new();
        if let Some((searcher, numbers)) = self.searcher() {
            for hit in searcher.find_iter(text) {
                let Some(value) = numbers.get(hit.pattern().as_usize()) else {
                    continue;
                };
                let known = text.get(hit.range()).and_then(|text| self.values.get(text));
                found.extend(known.map(|(_, rule)| Masked {
                    range: hit.range(),
                    rule,
                    value: *value,
                }));
            }
        }
        for hit in scan(text) {
            for line in lines(text, &hit) {
                let known = text.get(line.clone()).and_then(|it| self.values.get(it));
                found.extend(known.map(|(value, rule)| Masked {
                    range: line,
                    rule,
                    value: *value,
                }));
            }
        }
        found.sort_by_key(|it| (it.range.start, usize::MAX - it.range.end));
        let mut out: Vec<Masked> = Vec::new();
        for place in found {
            if self.kept.contains(&place.value) {
                continue;
            }
            match out.last_mut() {
                Some(last) if place.range.start < last.range.end => {
                    last.range.end = last.range.end.max(place.range.end);
                }
                _ => out.push(place),
            }
        }
        out
    }

    /// The text with the secrets masked, and where they were.
    pub fn mask<'t>(&self, text: &'t str) -> (Cow<'t, str>, Vec<Masked>) {
        let places = self.places(text);
        if places.is_empty() {
            return (text.into(), places);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for place in &places {
            out.push_str(text.get(at..place.range.start).unwrap_or_default());
            out.push_str(&format!("[masked:{}:{}]", place.rule, place.value));
            at = place.range.end;
        }
        out.push_str(text.get(at..).unwrap_or_default());
        (out.into(), places)
    }
}

/// The parts of a secret that are masked: itself, or each of its lines that says something.
fn lines<'t>(text: &'t str, hit: &Hit) -> impl Iterator<Item = Range<usize>> + 't {
    let start = hit.range.start;
    let whole = text.get(hit.range.clone()).unwrap_or_default();
    let many = whole.contains('\n');
    let mut at = start;
    whole.split_inclusive('\n').filter_map(move |line| {
        let from = at + (line.len() - line.trim_start().len());
        at += line.len();
        let shown = line.trim();
        let says = !shown.is_empty() && !(many && (shown.len() < 8 || shown.starts_with("-----")));
        says.then(|| from..from + shown.len())
    })
}
