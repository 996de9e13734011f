//! The library: chips in numbers, logs that are open, recent or found on this machine, databases, roots.

mod cards;
mod facts;
mod rows;
mod shelf;

pub use rows::Ask;
pub use shelf::{start, Shelf};

use crate::api::{LibraryView, RootRow, SourceRow};
use crate::config::Config;
use crate::engine::{hold, read, Inner};
use chipdeck_disk::logs::Homes;
use std::path::Path;

/// Where this user's logs are looked for, with what the settings add. `None`: no home folder.
pub fn homes_of_this_user() -> Option<Homes> {
    let config = Config::of_this_machine();
    let (settings, _) = config.settings();
    Some(config.homes?.with(
        &settings.texts("library.homes"),
        &settings.texts("library.folders"),
    ))
}

impl Inner {
    pub(crate) fn library(&self) -> LibraryView {
        let chips = self.chips.counts();
        let archive = self.chips.archive();
        let mut known = self.shelf.known();
        let logs = self.short_list(&mut known);
        LibraryView {
            chips_in_queue: chips.in_queue,
            chips_evicted: chips.evicted,
            chips_damaged: chips.damaged,
            chip_folder: self.for_people(&chips.folder),
            watch: chips.watch,
            edit_snapshots: chips.edit_snapshots,
            archive_chips: archive.chips,
            archive_bytes: archive.bytes,
            logs,
            sessions: known.found.len() as u64,
            scanning: known.scanning,
            memory: self.memory_rows(),
            roots: read(&self.roots)
                .iter()
                .map(|root| RootRow {
                    path: self.for_people(root.path()),
                    only: root.only_file().map(str::to_owned),
                })
                .collect(),
        }
    }

    fn memory_rows(&self) -> Vec<SourceRow> {
        let paths = hold(&self.sources).memory.clone();
        paths
            .iter()
            .rev()
            .filter_map(|path| {
                let metadata = std::fs::metadata(path).ok()?;
                Some(SourceRow {
                    source: hold(&self.sources).id(path),
                    log: None,
                    title: name(path),
                    path: self.for_people(path),
                    project: path.parent().map(name),
                    format: "memory".to_owned(),
                    bytes: metadata.len(),
                    entries: None,
                    modified: modified(&metadata),
                    live: false,
                    recent: true,
                    cwd: None,
                    looked: true,
                    started: None,
                    ended: None,
                    counts: None,
                    parts: 0,
                    archived: false,
                })
            })
            .collect()
    }
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn modified(metadata: &std::fs::Metadata) -> Option<i64> {
    let since = metadata
        .modified()
        .ok()?
        .duration_since(std::time::UNIX_EPOCH)
        .ok()?;
    i64::try_from(since.as_millis()).ok()
}

fn last_part(path: &str) -> Option<String> {
    let last = path
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()?;
    (!last.is_empty()).then(|| last.to_owned())
}
