//! What was found out about each session, kept over a restart in our own cache folder. A card holds for a file as long
//! as its size and time are those of the card; a damaged file of cards counts as none.

use super::facts::{print_of, Facts};
use crate::api::SessionCounts;
use chipdeck_disk::logs::Found;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Another number: cards of another program version, which are not read.
const VERSION: u32 = 1;
/// Most cards that are kept.
const MOST: usize = 30_000;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Card {
    bytes: u64,
    modified: Option<i64>,
    /// `None`: it was looked at and is no log.
    pub facts: Option<Facts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counts: Option<Counted>,
    /// Made or compared with the file's first bytes since we were started.
    #[serde(skip)]
    sure: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Counted {
    bytes: u64,
    modified: Option<i64>,
    counts: SessionCounts,
}

impl Card {
    pub fn new(found: &Found, facts: Option<Facts>, before: Option<Card>) -> Card {
        // Counts of a file that only grew are nearly right until it is counted again.
        let same = before.filter(|it| it.print() == facts.as_ref().map(|it| it.print.as_str()));
        Card {
            bytes: found.bytes,
            modified: found.modified,
            counts: same.and_then(|it| it.counts),
            facts,
            sure: true,
        }
    }

    fn print(&self) -> Option<&str> {
        self.facts.as_ref().map(|it| it.print.as_str())
    }

    /// It is about the file as it is now.
    pub fn fits(&self, found: &Found) -> bool {
        (self.bytes, self.modified) == (found.bytes, found.modified)
    }

    pub fn is_sure(&self) -> bool {
        self.sure
    }

    /// The same card, once the file's begin is seen to be the one that it was made from.
    pub fn compared(mut self, path: &Path) -> Option<Card> {
        let same =
            !path.is_file() || self.facts.is_none() || print_of(path).as_deref() == self.print();
        self.sure = true;
        same.then_some(self)
    }

    pub fn counts(&self) -> Option<&SessionCounts> {
        self.counts.as_ref().map(|it| &it.counts)
    }

    pub fn is_counted(&self, found: &Found) -> bool {
        let counted = self.counts.as_ref();
        counted.is_some_and(|it| (it.bytes, it.modified) == (found.bytes, found.modified))
    }

    pub fn count(&mut self, found: &Found, counts: SessionCounts) {
        self.counts = Some(Counted {
            bytes: found.bytes,
            modified: found.modified,
            counts,
        });
    }
}

#[derive(Serialize, Deserialize)]
struct Kept<'a> {
    version: u32,
    #[serde(borrow)]
    cards: Vec<(std::borrow::Cow<'a, str>, Card)>,
}

/// Cards of another time, to be compared with their files when there is time for it.
pub fn load(file: &Path) -> HashMap<PathBuf, Arc<Card>> {
    let text = chipdeck_disk::own::read(file).ok().flatten();
    let text = text.unwrap_or_default();
    let kept: Option<Kept> = serde_json::from_str(&text).ok();
    kept.filter(|it| it.version == VERSION)
        .map(|it| it.cards)
        .unwrap_or_default()
        .into_iter()
        .map(|(path, card)| (PathBuf::from(path.into_owned()), Arc::new(card)))
        .collect()
}

/// The text to keep. A path that is no text is looked at again each time.
pub fn text<'a>(cards: impl Iterator<Item = (&'a PathBuf, &'a Arc<Card>)>) -> String {
    let mut cards: Vec<(&str, &Card)> = cards
        .filter_map(|(path, card)| Some((path.to_str()?, card.as_ref())))
        .collect();
    cards.sort_by(|a, b| b.1.modified.cmp(&a.1.modified).then(a.0.cmp(b.0)));
    cards.truncate(MOST);
    serde_json::json!({ "version": VERSION, "cards": cards }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chipdeck_disk::logs::Agent;

    fn found(bytes: u64) -> Found {
        Found {
            agent: Agent::Codex,
            path: "/x/a.jsonl".into(),
            bytes,
            modified: Some(5),
        }
    }

    fn facts(print: &str) -> Option<Facts> {
        Some(Facts {
            print: print.to_owned(),
            format: "codex".to_owned(),
            ..Facts::default()
        })
    }

    const COUNTS: SessionCounts = SessionCounts {
        entries: 3,
        files: 2,
        errors: 1,
    };

    #[test]
    fn a_card_holds_for_the_same_size_and_time() {
        let mut card = Card::new(&found(10), facts("a"), None);
        card.count(&found(10), COUNTS);
        assert!(card.fits(&found(10)) && card.is_counted(&found(10)));
        assert!(!card.fits(&found(11)) && !card.is_counted(&found(11)));
        let grown = Card::new(&found(20), facts("a"), Some(card.clone()));
        assert_eq!(grown.counts(), Some(&COUNTS), "until it is counted again");
        assert!(!grown.is_counted(&found(20)));
        let other = Card::new(&found(20), facts("b"), Some(card));
        assert_eq!(other.counts(), None);
    }

    #[test]
    fn damage_counts_as_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("library.json");
        assert!(load(&file).is_empty());
        let mut card = Card::new(&found(10), facts("a"), None);
        card.count(&found(10), COUNTS);
        let all = HashMap::from([(PathBuf::from("/x/a.jsonl"), Arc::new(card))]);
        let text = text(all.iter());
        std::fs::write(&file, &text).unwrap();
        let kept = load(&file);
        let card = Card::clone(&kept[Path::new("/x/a.jsonl")]);
        assert!(card.fits(&found(10)) && card.counts() == Some(&COUNTS) && !card.is_sure());
        let log = dir.path().join("a.jsonl");
        std::fs::write(&log, "another").unwrap();
        assert_eq!(
            card.clone().compared(&log),
            None,
            "another file of this size and time"
        );
        let mut right = card;
        right.facts = facts(&print_of(&log).unwrap());
        assert!(right.compared(&log).unwrap().is_sure());
        for bad in [
            &text[..text.len() / 2],
            "[]",
            "\u{0}",
            &text.replace("\"version\":1", "\"version\":2"),
        ] {
            std::fs::write(&file, bad).unwrap();
            assert!(load(&file).is_empty(), "{bad}");
        }
    }
}
