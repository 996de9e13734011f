//! Rows and details of chips and edit snapshots.

use super::{watch, Detail};
use crate::api::*;
use crate::diff::{self, Content, Side};
use crate::engine::{read, Answer, Inner};
use chipdeck_chip::{insert_content, insert_text, Text};
use chipdeck_disk::chips::{ChipEntry, EntryState, SnapshotEntry};
use chipdeck_disk::restore::Located;

/// Characters of a string among the arguments.
const ARGUMENT: usize = 2_000;
/// Bytes of raw text and of a content.
const RAW: usize = 256 << 10;
/// Chips whose whole text is searched.
const SEARCHED: usize = 300;

fn state(state: EntryState) -> ChipState {
    match state {
        EntryState::Queue => ChipState::Queue,
        EntryState::Beyond => ChipState::Beyond,
        EntryState::Writing => ChipState::Writing,
        EntryState::Damaged => ChipState::Damaged,
        EntryState::Evicted => ChipState::Evicted,
    }
}

impl Inner {
    pub(crate) fn chips_view(
        &self,
        query: &str,
        only: ChipFilter,
        offset: u64,
        limit: u64,
    ) -> ChipsView {
        let list = self.chips.list();
        let mut rows = self.chips.loose_chips();
        // Newest first; then the evicted ones, newest first.
        let evicted = |row: &&ChipEntry| row.state == EntryState::Evicted;
        let mut here: Vec<ChipEntry> = list
            .rows
            .iter()
            .filter(|row| !evicted(row))
            .rev()
            .cloned()
            .collect();
        // Damaged ones have no time: they come where people look first.
        here.sort_by_key(|row| !matches!(row.state, EntryState::Writing | EntryState::Damaged));
        rows.extend(here);
        rows.extend(list.rows.iter().filter(evicted).rev().cloned());
        let count =
            |test: &dyn Fn(&ChipEntry) -> bool| rows.iter().filter(|row| test(row)).count() as u64;
        let mut view = ChipsView {
            folder: self.for_people(&list.folder),
            watch: watch(list.watch),
            all: rows.len() as u64,
            failed: count(&|row| row.err_msg.is_some()),
            deleted: count(&|row| row.is_delete),
            damaged: count(&|row| row.state == EntryState::Damaged),
            evicted: count(&|row| row.state == EntryState::Evicted),
            in_queue: count(&|row| row.state == EntryState::Queue),
            offset,
            total: 0,
            rows: Vec::new(),
        };
        let query = query.trim().to_lowercase();
        let mut looked = 0;
        let skip = usize::try_from(offset).unwrap_or(usize::MAX);
        let take = usize::try_from(limit.min(2_000)).unwrap_or(0);
        for row in &rows {
            let wanted = match only {
                ChipFilter::All => true,
                ChipFilter::Failed => row.err_msg.is_some(),
                ChipFilter::Deleted => row.is_delete,
                ChipFilter::Damaged => {
                    matches!(row.state, EntryState::Damaged | EntryState::Writing)
                }
                ChipFilter::Evicted => row.state == EntryState::Evicted,
            };
            if !wanted || !(query.is_empty() || self.chip_has(row, &query, &mut looked)) {
                continue;
            }
            let place = view.total as usize;
            view.total += 1;
            if place >= skip && place < skip.saturating_add(take) {
                view.rows.push(self.chip_row(row));
            }
        }
        view
    }

    /// A text (lower case) in what is said of a chip, else in the chip itself.
    fn chip_has(&self, row: &ChipEntry, query: &str, looked: &mut usize) -> bool {
        let said = [&row.id, &row.tool, &row.summary, &row.file];
        let target = row
            .target
            .as_ref()
            .map(|it| it.path.as_str())
            .unwrap_or_default();
        let said = said
            .into_iter()
            .map(String::as_str)
            .chain(row.err_msg.as_deref())
            .chain([target]);
        if said
            .into_iter()
            .any(|text| text.to_lowercase().contains(query))
        {
            return true;
        }
        *looked += 1;
        if *looked > SEARCHED {
            return false;
        }
        let detail = self.chips.detail(&row.key).ok();
        let args = detail.and_then(|it| it.record).and_then(|it| it.args);
        args.is_some_and(|args| {
            let raw = args.value().compact();
            let plain = crate::filter::unescaped(&raw);
            String::from_utf8_lossy(&plain)
                .to_lowercase()
                .contains(query)
        })
    }

    pub(crate) fn chip_row(&self, entry: &ChipEntry) -> ChipRow {
        ChipRow {
            chip: entry.key.clone(),
            id: entry.id.clone(),
            tool: entry.tool.clone(),
            created_at: entry.created_at,
            bytes: entry.bytes,
            err_msg: entry.err_msg.clone(),
            summary: entry.summary.clone(),
            file: entry.file.clone(),
            state: state(entry.state),
            queue_place: entry.queue_place,
            next_to_go: entry.next_to_go,
            pinned: entry.pinned,
            target: entry
                .target
                .as_ref()
                .map(|target| self.cheap_target(target)),
            linked: entry.linked.clone(),
            reason: entry.reason.clone(),
        }
    }

    pub(crate) fn chip(&self, key: &str) -> Answer<ChipView> {
        let detail = self.chips.detail(key)?;
        let Detail {
            entry,
            record,
            raw,
            raw_clipped,
        } = &detail;
        let content = record
            .as_ref()
            .and_then(|it| it.content())
            .map(Text::to_str);
        let clipped = |text: &str| crate::log::cut(text, RAW).to_owned();
        let raw_text = String::from_utf8_lossy(raw);
        let target = entry.target.as_ref();
        let row = self.chip_row(entry);
        let targets = match self.known_origins(key) {
            Some(found) if !found.targets.is_empty() => found.targets,
            known => {
                if known.is_none() && entry.is_delete {
                    self.seek_origins(key);
                }
                row.target.clone().into_iter().collect()
            }
        };
        let path = target
            .map(|it| it.path.clone())
            .or_else(|| targets.first().map(|it| it.path.clone()));
        let language = path
            .as_deref()
            .and_then(diff::language_of)
            .map(str::to_owned);
        let replace = record
            .as_ref()
            .filter(|it| !it.err_msg.is_empty())
            .and_then(|it| it.replacement());
        Ok(ChipView {
            args: record
                .as_ref()
                .map(|it| arguments(it.args.as_ref()))
                .unwrap_or_default(),
            raw: clipped(&raw_text),
            raw_clipped: *raw_clipped || raw_text.len() > RAW,
            content_lines: content
                .as_deref()
                .map_or(0, |it| it.split_inclusive('\n').count() as u64),
            content_clipped: content.as_deref().is_some_and(|it| it.len() > RAW),
            content: content.as_deref().map(clipped),
            replace: replace.map(|(old, new)| {
                let side = |label: &str, text: &'_ Text| -> (String, Vec<u8>) {
                    (label.to_owned(), text.as_bytes().to_vec())
                };
                let (old, new) = (side("old text", old), side("new text", new));
                diff::view(
                    path.as_deref().unwrap_or_default(),
                    Side {
                        label: old.0,
                        content: Content::Bytes(&old.1),
                        ..Side::default()
                    },
                    Side {
                        label: new.0,
                        content: Content::Bytes(&new.1),
                        ..Side::default()
                    },
                    3,
                )
            }),
            insert_text: record
                .as_ref()
                .map(|it| clipped(&String::from_utf8_lossy(&insert_text(it)))),
            language,
            targets,
            row,
        })
    }

    pub(crate) fn pin_chip(&self, key: &str, pinned: bool) -> Answer<Done> {
        self.chips.folder().pin(key, pinned)?;
        self.tell(Notice::ChipsChanged);
        Ok(Done {})
    }

    pub(crate) fn revive_chip(&self, key: &str) -> Answer<Revived> {
        let revived = self
            .chips
            .folder()
            .revive(key, Some(crate::engine::now_ms() / 1_000))?;
        self.tell(Notice::ChipsChanged);
        self.tell(Notice::LibraryChanged);
        Ok(Revived {
            chip: revived.key,
            file: revived.file,
            created_at: revived.created_at,
            warnings: revived.warnings,
        })
    }

    /// The target as it is now against the target with the content in it.
    pub(crate) fn chip_diff(&self, key: &str, target: Option<&ChipTarget>) -> Answer<DiffView> {
        let detail = self.chips.detail(key)?;
        let record = detail.record.as_ref();
        let content = record.and_then(|it| it.content());
        let content =
            content.ok_or_else(|| ApiError::new("bad-request", "This chip has no content."))?;
        let target = match target {
            Some(target) => target.clone(),
            None => self.best_target(key, &detail)?,
        };
        let place = self.chip_place(&detail, &target)?;
        let found = place.root.read(&place.path)?;
        let bytes = found.image.as_ref().map(|image| image.content.bytes());
        let after = match target.line {
            // A whole file was to be written.
            None => content.as_bytes().to_vec(),
            Some(line) => {
                let line = i64::try_from(line).unwrap_or(i64::MAX);
                insert_content(bytes.unwrap_or_default(), line, content.as_bytes())
                    .map_err(|error| ApiError::new("bad-request", format!("{error}.")))?
                    .bytes
            }
        };
        Ok(diff::view(
            &place.path,
            Side {
                label: "disk now".to_owned(),
                content: bytes.map_or(Content::Absent, Content::Bytes),
                certainty: None,
                sha256: found
                    .image
                    .as_ref()
                    .map(|image| image.content.sha256().to_owned()),
            },
            Side {
                label: format!("chip {}", detail.entry.id),
                content: Content::Bytes(&after),
                ..Side::default()
            },
            3,
        ))
    }

    pub(crate) fn snapshots(&self) -> Vec<SnapshotWorkspace> {
        self.chips
            .workspaces()
            .iter()
            .map(|workspace| SnapshotWorkspace {
                root: self
                    .root_of_workspace(&workspace.id)
                    .map(|root| self.for_people(root.path())),
                rows: workspace.rows.iter().rev().map(snapshot_row).collect(),
                damaged: workspace
                    .damaged
                    .iter()
                    .map(|(file, reason)| format!("{file}: {reason}"))
                    .collect(),
                order_unknown: workspace.order_unknown,
                workspace: workspace.id.clone(),
            })
            .collect()
    }

    pub(crate) fn snapshot(&self, key: &str) -> Answer<SnapshotView> {
        let detail = self.chips.snapshot(key)?;
        let (before, after) = (detail.record.before.text(), detail.record.after.text());
        let side = |label: &str, bytes: &[u8]| -> (String, String) {
            (
                label.to_owned(),
                chipdeck_replay::restore::sha256_hex(bytes),
            )
        };
        let (old, new) = (side("before", &before), side("after", &after));
        let diff = diff::view(
            &detail.record.file,
            Side {
                label: old.0,
                content: Content::Bytes(&before),
                certainty: None,
                sha256: Some(old.1),
            },
            Side {
                label: new.0,
                content: Content::Bytes(&after),
                certainty: None,
                sha256: Some(new.1),
            },
            3,
        );
        let place = self.snapshot_place(&detail.entry).ok();
        Ok(SnapshotView {
            row: snapshot_row(&detail.entry),
            diff,
            target: place.map(|place| ChipTarget {
                path: place
                    .root
                    .path()
                    .join(&place.path)
                    .to_string_lossy()
                    .into_owned(),
                line: None,
                certainty: "snapshot".to_owned(),
                allowed: true,
                because: None,
            }),
            raw: crate::log::cut(&String::from_utf8_lossy(&detail.raw), RAW).to_owned(),
        })
    }

    /// A target that was not looked up on disk.
    fn cheap_target(&self, target: &chipdeck_disk::chips::Target) -> ChipTarget {
        let allowed = match &target.workspace {
            Some(id) if !std::path::Path::new(&target.path).is_absolute() => {
                self.root_of_workspace(id).is_some()
            }
            _ => matches!(
                read(&self.roots).locate(&target.path, None),
                Located::Inside { .. }
            ),
        };
        ChipTarget {
            path: target.path.clone(),
            line: target.line,
            certainty: target.certainty.as_str().to_owned(),
            allowed,
            because: target
                .because
                .as_ref()
                .map(|id| format!("edit snapshot {id}")),
        }
    }
}

fn snapshot_row(entry: &SnapshotEntry) -> SnapshotRow {
    SnapshotRow {
        snapshot: entry.key.clone(),
        id: entry.id.clone(),
        tool: entry.tool.clone(),
        file: entry.file.clone(),
        summary: entry.summary.clone(),
        created_at: entry.created_at,
        added: entry.added,
        removed: entry.removed,
    }
}

/// A record's arguments as JSON, long strings cut.
fn arguments(args: Option<&chipdeck_chip::Json>) -> serde_json::Value {
    let Some(args) = args else {
        return serde_json::Value::Null;
    };
    let mut value = serde_json::from_slice(&args.value().compact()).unwrap_or_default();
    shorten(&mut value);
    value
}

fn shorten(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) if text.chars().nth(ARGUMENT).is_some() => {
            *text = text.chars().take(ARGUMENT).chain(['…']).collect();
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(shorten),
        serde_json::Value::Object(object) => object.values_mut().for_each(shorten),
        _ => {}
    }
}
