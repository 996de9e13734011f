//! Files at a position: the tree, a content, diffs, the versions over time.

use super::look::Look;
use crate::api::{Against, DiffView, FileRow, FileVersion, FileView, TreeMode, TreeView};
use crate::diff::{self, Content, Side};
use chipdeck_event::{Change, Edit, Payload};
use chipdeck_ingest::load_text;
use chipdeck_replay::{Certainty, ContentId, EventRef, FileState, Op, Version};
use std::sync::Arc;

/// Lines that one request carries.
const MOST_LINES: u64 = 20_000;
/// Bytes of lines that one request carries; a line that is too long for it is cut.
const MOST_BYTES: usize = 4 << 20;

/// Files that the log knows at a position, and how many of them it changed.
pub struct PathCounts {
    pub known: u64,
    pub changed: u64,
}

/// It set another content than there was, rather than only proving one.
pub fn changes_content(version: &Version) -> bool {
    version.op != Op::Observe || version.changed_outside
}

/// A file's two ends at a position.
pub struct Shown {
    pub state: Option<FileState>,
    /// Versions up to the position.
    pub until: usize,
    pub versions: usize,
}

impl Look<'_> {
    pub fn path_counts(&self, at: u32) -> PathCounts {
        let state = self.timeline.state_at(at);
        let (known, changed) = self.timeline.file_counts(&state, changes_content);
        PathCounts {
            known: known as u64,
            changed: changed as u64,
        }
    }

    /// The entries that change a file, sorted.
    pub fn change_indices(&self, path: &str) -> Vec<u32> {
        self.timeline
            .versions(path)
            .iter()
            .filter(|it| changes_content(it))
            .map(|it| it.index)
            .collect()
    }

    pub fn shown(&self, path: &str, at: u32) -> Shown {
        let versions = self.timeline.versions(path);
        let until = versions.partition_point(|version| version.index <= at);
        Shown {
            state: self.timeline.file(&self.timeline.state_at(at), path),
            until,
            versions: versions.len(),
        }
    }

    /// The log changed it up to here, rather than only seeing it.
    fn is_changed(&self, path: &str, at: u32) -> bool {
        let until = self
            .timeline
            .versions(path)
            .iter()
            .take_while(|it| it.index <= at);
        until.into_iter().any(changes_content)
    }

    /// `A`, `M`, `D`, `R`, `?`, `=`, and where it was renamed from.
    fn status(&self, path: &str, file: &FileState, at: u32) -> (&'static str, Option<String>) {
        let versions = self.timeline.versions(path);
        let until = versions
            .get(..versions.partition_point(|it| it.index <= at))
            .unwrap_or_default();
        if !file.exists {
            return ("D", None);
        }
        let last_change = until.iter().rev().find(|it| changes_content(it));
        if let Some(version) = last_change.filter(|it| it.op == Op::Rename) {
            let from = self.timeline.entry(version.index).and_then(|it| {
                match &it.entry.event()?.payload {
                    Payload::FileRename { from, .. } => Some(from.to_string()),
                    _ => None,
                }
            });
            return ("R", from);
        }
        if file.certainty == Certainty::Unknown {
            return ("?", None);
        }
        let added = until.first().is_some_and(|it| it.op == Op::Create);
        match last_change {
            _ if added => ("A", None),
            Some(_) => ("M", None),
            None => ("=", None),
        }
    }

    pub fn tree(&self, at: u64, mode: TreeMode, query: &str, offset: u64, limit: u64) -> TreeView {
        let at = self.position(at);
        let state = self.timeline.state_at(at);
        let files = self.timeline.files(&state);
        let base = common_folder(files.iter().map(|(path, _)| path.as_ref()));
        let query = query.trim().to_lowercase();
        let (skip, take) = super::window(offset, limit);
        let mut view = TreeView {
            total_changed: 0,
            total: files.len() as u64,
            matching: 0,
            offset,
            rows: Vec::new(),
            base: base.to_owned(),
        };
        for (path, file) in &files {
            let changed = self.is_changed(path, at);
            view.total_changed += u64::from(changed);
            if mode == TreeMode::Changed && !changed {
                continue;
            }
            let label = path.strip_prefix(base).unwrap_or(path);
            if !query.is_empty() && !label.to_lowercase().contains(&query) {
                continue;
            }
            view.matching += 1;
            let place = view.matching as usize - 1;
            if place < skip || place >= skip.saturating_add(take) {
                continue;
            }
            view.rows.push(self.row_of_file(path, file, at, base));
        }
        view
    }

    /// One file at a position; `None`: the log does not know it there.
    pub fn file_row(&self, path: &str, at: u64) -> Option<FileRow> {
        let at = self.position(at);
        let file = self.timeline.file(&self.timeline.state_at(at), path)?;
        Some(self.row_of_file(path, &file, at, ""))
    }

    fn row_of_file(&self, path: &str, file: &FileState, at: u32, base: &str) -> FileRow {
        let (status, renamed_from) = self.status(path, file, at);
        FileRow {
            path: path.to_owned(),
            label: path.strip_prefix(base).unwrap_or(path).to_owned(),
            status: status.to_owned(),
            certainty: file.certainty.as_str().to_owned(),
            exists: file.exists,
            renamed_from,
            last_index: match file.last {
                EventRef::Entry(index) => u64::from(index),
                EventRef::Carried(_) => 0,
            },
            touched_now: self
                .timeline
                .touches(at)
                .is_some_and(|it| it.as_ref() == path),
            bytes: file
                .content
                .map(|it| self.timeline.content_bytes(it, self.source)),
        }
    }

    /// The text of a content; `None` when it is unknown or the log no longer has its bytes.
    pub fn content(&self, content: Option<ContentId>) -> Option<Arc<str>> {
        self.timeline.content(content?, self.source)
    }

    pub fn file(&self, path: &str, at: u64, from_line: u64, limit: u64) -> Option<FileView> {
        let shown = self.shown(path, self.position(at));
        let file = shown.state;
        if file.is_none() && shown.versions == 0 {
            return None;
        }
        let text = self.content(file.and_then(|it| it.content));
        let sha256 = file
            .and_then(|it| it.content)
            .and_then(|it| self.timeline.content_sha256(it, self.source));
        let bytes = text.as_deref().map(str::as_bytes);
        let binary = bytes.is_some_and(diff::is_binary);
        let from_line = from_line.max(1);
        Some(FileView {
            path: path.to_owned(),
            exists: file.is_some_and(|it| it.exists),
            certainty: file
                .map_or(Certainty::Unknown, |it| it.certainty)
                .as_str()
                .to_owned(),
            why: file.map_or("observed", |it| it.why.as_str()).to_owned(),
            sha256,
            bytes: bytes.map(|it| it.len() as u64),
            lines: text
                .as_deref()
                .map_or(0, |it| it.split_inclusive('\n').count() as u64),
            from_line,
            text: text
                .as_deref()
                .filter(|_| !binary)
                .map(|it| lines(it, from_line, limit)),
            binary,
            language: diff::language_of(path).map(str::to_owned),
            endings: bytes.map(|it| diff::endings(it).to_owned()),
            final_newline: bytes.is_some_and(|it| it.last() == Some(&b'\n')),
            version: shown.until as u64,
            versions: shown.versions as u64,
        })
    }

    pub fn history(&self, path: &str) -> Vec<FileVersion> {
        self.timeline
            .versions(path)
            .iter()
            .filter_map(|version| {
                let row = self.row(version.index)?;
                Some(FileVersion {
                    index: u64::from(version.index),
                    event_id: row.event_id,
                    timestamp: row.timestamp,
                    op: version.op.as_str().to_owned(),
                    certainty: version.certainty.as_str().to_owned(),
                    why: version.why.as_str().to_owned(),
                    sha256: version
                        .content
                        .and_then(|it| self.timeline.content_sha256(it, self.source)),
                    bytes: match version.content {
                        Some(content) => Some(self.timeline.content_bytes(content, self.source)),
                        None => (!version.exists).then_some(0),
                    },
                    place: row.place,
                    changed_outside: version.changed_outside,
                })
            })
            .collect()
    }

    /// The file after a position, as one side of a diff.
    pub fn side<'t>(&self, path: &str, at: u32, text: &'t mut Option<Arc<str>>) -> Side<'t> {
        let state = self.timeline.state_at(at);
        let file = self.timeline.file(&state, path);
        *text = self.content(file.and_then(|it| it.content));
        Side {
            label: if at == 0 {
                "before the log".to_owned()
            } else {
                format!("event {}", thousands(at))
            },
            content: match (&file, text) {
                // The log never named it up to here.
                (None, _) => Content::Absent,
                (Some(file), _) if !file.exists => Content::Absent,
                (Some(_), Some(text)) => Content::Bytes(text.as_bytes()),
                (Some(_), None) => Content::Unknown,
            },
            certainty: file.map(|it| it.certainty.as_str().to_owned()),
            sha256: file
                .and_then(|it| it.content)
                .and_then(|it| self.timeline.content_sha256(it, self.source)),
        }
    }

    /// The positions whose contents a diff compares: the earlier one and the later one.
    pub fn diff_ends(&self, path: &str, at: u32, against: &Against) -> (u32, u32) {
        match against {
            Against::Position { at: other } => {
                let other = self.position(*other);
                (at.min(other), at.max(other))
            }
            Against::Previous | Against::Disk => {
                let versions = self.timeline.versions(path);
                let until = versions
                    .get(..versions.partition_point(|it| it.index <= at))
                    .unwrap_or_default();
                // What only proved the content is no change to look at.
                let change = until
                    .iter()
                    .rev()
                    .find(|it| changes_content(it))
                    .or(until.first());
                match change {
                    Some(version) => (version.index.saturating_sub(1), at),
                    None => (at, at),
                }
            }
        }
    }

    /// Diff of two positions of the log. The disk is the caller's.
    pub fn diff(&self, path: &str, at: u64, against: &Against, context: u32) -> DiffView {
        let (from, to) = self.diff_ends(path, self.position(at), against);
        let (mut old_text, mut new_text) = (None, None);
        let mut old = self.side(path, from, &mut old_text);
        let mut new = self.side(path, to, &mut new_text);
        if *against == Against::Previous && new.content == Content::Unknown {
            if let Some(view) = self.lone_edit(path, to, &old, &new, context) {
                return view;
            }
        }
        let earlier_known = self
            .timeline
            .versions(path)
            .iter()
            .any(|it| it.index <= from);
        if !earlier_known && old.content == Content::Absent && !self.begins_here(path, from) {
            // It was there before the log first showed it.
            old.content = Content::Unknown;
            old.certainty = Some(Certainty::Unknown.as_str().to_owned());
        }
        if from == to {
            new.content = old.content;
        }
        diff::view(path, old, new, context)
    }

    /// The first thing that the log says of a path is that it was made.
    fn begins_here(&self, path: &str, position: u32) -> bool {
        let versions = self.timeline.versions(path);
        let first = versions.iter().find(|it| it.index > position);
        first.is_none_or(|it| matches!(it.op, Op::Create | Op::Rename))
    }

    /// An edit whose base the log never showed: the hunk alone.
    fn lone_edit(
        &self,
        path: &str,
        at: u32,
        old: &Side,
        new: &Side,
        context: u32,
    ) -> Option<DiffView> {
        let versions = self.timeline.versions(path);
        let until = versions.get(..versions.partition_point(|it| it.index <= at))?;
        let version = until.last().filter(|it| it.op == Op::Change)?;
        let Payload::FileChange {
            change: Change::Edits(edits),
            ..
        } = &self.timeline.entry(version.index)?.entry.event()?.payload
        else {
            return None;
        };
        let (mut before, mut after) = (String::new(), String::new());
        for edit in edits {
            let (Edit::Replace { old, new, .. } | Edit::ReplaceFirst { old, new, .. }) = edit
            else {
                return None;
            };
            for (text, out) in [(old, &mut before), (new, &mut after)] {
                out.push_str(&load_text(text, self.source)?);
                if !out.is_empty() && !out.ends_with('\n') {
                    out.push('\n');
                }
            }
        }
        let mut view = diff::view(path, edited(old, &before), edited(new, &after), context);
        for hunk in &mut view.hunks {
            // Its line numbers are not the file's: nothing to restore by.
            hunk.id.clear();
        }
        Some(view)
    }
}

/// A side of which only the edited lines are known.
fn edited<'a>(side: &Side, text: &'a str) -> Side<'a> {
    Side {
        label: format!("{} (only the edited lines are known)", side.label),
        content: Content::Bytes(text.as_bytes()),
        certainty: Some(Certainty::Unknown.as_str().to_owned()),
        sha256: None,
    }
}

/// `4,211`.
pub fn thousands(n: u32) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

fn lines(text: &str, from_line: u64, limit: u64) -> Vec<String> {
    let skip = usize::try_from(from_line.saturating_sub(1)).unwrap_or(usize::MAX);
    let take = usize::try_from(limit.min(MOST_LINES)).unwrap_or(usize::MAX);
    let mut left = MOST_BYTES;
    let mut rows = Vec::new();
    for line in text.split_inclusive('\n').skip(skip).take(take) {
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        let head = super::text::cut(line, left);
        left -= head.len();
        rows.push(head.to_owned());
        if head.len() < line.len() {
            break;
        }
    }
    rows
}

/// The deepest folder that all paths lie in, with its slash; empty when there is none.
fn common_folder<'a>(mut paths: impl Iterator<Item = &'a str>) -> &'a str {
    let Some(first) = paths.next() else { return "" };
    let folder = |path: &'a str| path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or("");
    let mut base = folder(first);
    for path in paths {
        while !path.starts_with(base) {
            base = folder(base.trim_end_matches('/'));
        }
    }
    // The file system's own root is no folder worth cutting off.
    if base == "/" {
        ""
    } else {
        base
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_things() {
        assert_eq!(common_folder(["/a/b/c", "/a/b/d/e"].into_iter()), "/a/b/");
        assert_eq!(common_folder(["/a/bc", "/a/b"].into_iter()), "/a/");
        assert_eq!(common_folder(["/a", "/b"].into_iter()), "");
        assert_eq!(common_folder(["a", "b/c"].into_iter()), "");
        assert_eq!(common_folder(["src/a", "src/a"].into_iter()), "src/");
        assert_eq!(thousands(4211), "4,211");
        assert_eq!(thousands(1_204_331), "1,204,331");
        assert_eq!(thousands(12), "12");
        assert_eq!(lines("a\r\nb\nc", 2, 5), ["b", "c"]);
    }
}
