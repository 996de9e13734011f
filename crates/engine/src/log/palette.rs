//! What the palette finds in a log: files, code lines and events, within a moment's time.

use super::look::Look;
use super::search::Ahead;
use crate::api::{CodeHit, PaletteView};
use crate::filter::Filter;
use std::cell::RefCell;
use std::time::{Duration, Instant};

const MOST_FILES: usize = 8;
const MOST_CODE: usize = 8;
const MOST_EVENTS: usize = 8;
/// Looking into contents, and into events, ends after this.
const PATIENCE: Duration = Duration::from_millis(120);
/// Larger contents are not looked into.
const MOST_CONTENT: u64 = 1 << 20;

impl Look<'_> {
    pub fn palette(&self, at: u64, query: &str) -> PaletteView {
        let query = query.trim();
        if query.is_empty() {
            return PaletteView {
                files: Vec::new(),
                code: Vec::new(),
                events: Vec::new(),
            };
        }
        let state = self.timeline.state_at(self.position(at));
        let known = self.timeline.files(&state);
        let mut scored: Vec<(i64, &str)> = known
            .iter()
            .filter_map(|(path, _)| Some((fuzzy(path, query)?, path.as_ref())))
            .collect();
        scored.sort_by_key(|(score, path)| (std::cmp::Reverse(*score), *path));
        scored.truncate(MOST_FILES);
        let files = scored
            .iter()
            .filter_map(|(_, path)| self.file_row(path, at))
            .collect();
        PaletteView {
            files,
            code: self.code(at, query),
            events: self.matching_events(query),
        }
    }

    /// Lines of the files at a position, and lines that an earlier version had.
    fn code(&self, at: u64, query: &str) -> Vec<CodeHit> {
        let at = self.position(at);
        let begun = Instant::now();
        let state = self.timeline.state_at(at);
        let wanted = query.to_lowercase();
        let mut hits: Vec<CodeHit> = Vec::new();
        let mut gone: Vec<CodeHit> = Vec::new();
        for (path, file) in self.timeline.files(&state) {
            if hits.len() >= MOST_CODE || begun.elapsed() > PATIENCE {
                break;
            }
            let now = file.content.filter(|content| {
                self.timeline.content_bytes(*content, self.source) <= MOST_CONTENT
            });
            let now = self.content(now);
            let found = now.as_deref().and_then(|text| first_line(text, &wanted));
            if let Some((line, text)) = found {
                hits.push(CodeHit {
                    path: path.to_string(),
                    line,
                    text,
                    at: u64::from(at),
                    gone: false,
                });
                continue;
            }
            // The newest version that had it.
            let versions = self.timeline.versions(path);
            let until = versions.partition_point(|it| it.index <= at);
            for version in versions
                .get(..until)
                .unwrap_or_default()
                .iter()
                .rev()
                .take(20)
            {
                if gone.len() >= MOST_CODE || begun.elapsed() > PATIENCE {
                    break;
                }
                let text = version
                    .content
                    .filter(|it| self.timeline.content_bytes(*it, self.source) <= MOST_CONTENT);
                if let Some((line, text)) = self
                    .content(text)
                    .as_deref()
                    .and_then(|text| first_line(text, &wanted))
                {
                    let at = u64::from(version.index);
                    gone.push(CodeHit {
                        path: path.to_string(),
                        line,
                        text,
                        at,
                        gone: true,
                    });
                    break;
                }
            }
        }
        hits.extend(gone);
        hits.truncate(MOST_CODE);
        hits
    }

    fn matching_events(&self, query: &str) -> Vec<crate::api::EntryRow> {
        let mut rows = Vec::new();
        if let Ok(at) = super::position::position(self.timeline, query) {
            rows.extend(self.row(at));
        }
        let quoted = format!("\"{}\"", query.replace('\\', "\\\\").replace('"', "\\\""));
        let Ok(filter) = Filter::parse(&quoted, &|_| Ok(0)) else {
            return rows;
        };
        let ahead = RefCell::new(Ahead::default());
        let begun = Instant::now();
        // Newest first: what a person looks for is mostly what just happened.
        for index in (1..=self.timeline.len()).rev() {
            if rows.len() >= MOST_EVENTS || (index % 64 == 0 && begun.elapsed() > PATIENCE) {
                break;
            }
            if self.matches(&filter, index, &ahead)
                && !rows.iter().any(|row| row.index == u64::from(index))
            {
                rows.extend(self.row(index));
            }
        }
        rows
    }
}

/// The first line that has a text (lower case): its number from 1, and itself in short.
fn first_line(text: &str, wanted: &str) -> Option<(u64, String)> {
    let mut lines = text.lines().enumerate();
    let (at, line) = lines.find(|(_, line)| line.to_lowercase().contains(wanted))?;
    Some((at as u64 + 1, super::text::one_line(line, 160)))
}

/// How well a path fits: all characters in order, better together, at the start of a word and in the file's name.
pub fn fuzzy(path: &str, query: &str) -> Option<i64> {
    let name_at = path.rfind('/').map_or(0, |at| at + 1);
    let lower = path.to_lowercase();
    let query = query.to_lowercase();
    if let Some(at) = lower.rfind(&query) {
        let in_name = at >= name_at;
        return Some(10_000 + if in_name { 2_000 } else { 0 } - path.len() as i64);
    }
    let mut score = 0i64;
    let mut chars = lower.char_indices().peekable();
    let mut last: Option<usize> = None;
    for wanted in query.chars().filter(|c| !c.is_whitespace()) {
        let (at, _) = chars.by_ref().find(|(_, c)| *c == wanted)?;
        score += match last {
            Some(before) if before + 1 == at => 30,
            _ => 0,
        };
        let begins = at == 0
            || matches!(
                lower.as_bytes().get(at - 1),
                Some(b'/' | b'_' | b'-' | b'.')
            );
        score += if begins { 20 } else { 0 } + if at >= name_at { 10 } else { 0 };
        last = Some(at);
    }
    Some(score - path.len() as i64)
}

#[cfg(test)]
mod tests {
    use super::fuzzy;

    #[test]
    fn names_before_folders() {
        let best = |query: &str| {
            let paths = [
                "src/pay/card.py",
                "src/payment_service.py",
                "tests/test_pay.py",
                "docs/readme.md",
            ];
            paths
                .into_iter()
                .filter_map(|path| Some((fuzzy(path, query)?, path)))
                .max()
                .map(|it| it.1)
        };
        assert_eq!(best("payment"), Some("src/payment_service.py"));
        assert_eq!(best("pser"), Some("src/payment_service.py"));
        assert_eq!(best("readme"), Some("docs/readme.md"));
        assert_eq!(best("zzz"), None);
    }
}
