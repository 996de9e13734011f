//! The library: chips in numbers, logs that are open, recent or found on this machine, databases, roots.

use crate::api::{LibraryView, RootRow, SourceRow};
use crate::engine::{hold, read, Inner};
use crate::kept::Recent;
use crate::log::Phase;
use memchr::memmem;
use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

impl Inner {
    pub(crate) fn library(&self) -> LibraryView {
        let chips = self.chips.counts();
        let archive = self.chips.archive();
        LibraryView {
            chips_in_queue: chips.in_queue,
            chips_evicted: chips.evicted,
            chips_damaged: chips.damaged,
            chip_folder: self.for_people(&chips.folder),
            watch: chips.watch,
            edit_snapshots: chips.edit_snapshots,
            archive_chips: archive.chips,
            archive_bytes: archive.bytes,
            logs: self.log_rows(),
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

    /// Open ones first, then those opened before, then those found on this machine.
    fn log_rows(&self) -> Vec<SourceRow> {
        let mut rows = Vec::new();
        let mut seen = HashSet::new();
        for log in read(&self.logs).iter() {
            let view = log.view();
            let project = view.cwd.as_deref().and_then(last_part);
            seen.insert(log.path.clone());
            if log.phase() == Phase::Ready {
                let recent = Recent {
                    path: log.path.clone(),
                    title: view.title.clone(),
                    format: view.format.clone(),
                    project: project.clone(),
                    entries: Some(view.count),
                    opened: 0,
                };
                // It will be tried again; the list itself is right.
                let _ = self.kept.remember(recent, false);
            }
            rows.push(SourceRow {
                source: hold(&self.sources).id(&log.path),
                log: Some(log.id.clone()),
                title: view.title,
                path: self.for_people(&log.path),
                project,
                format: view.format,
                bytes: log.source.total_bytes(),
                entries: Some(view.count),
                modified: log.source.modified(),
                live: view.live,
                recent: true,
            });
        }
        for recent in self.kept.recent() {
            // What is gone is not offered; it comes back with its file.
            let Ok(metadata) = std::fs::metadata(&recent.path) else {
                continue;
            };
            if !seen.insert(recent.path.clone()) {
                continue;
            }
            rows.push(SourceRow {
                source: hold(&self.sources).id(&recent.path),
                log: None,
                title: recent.title,
                path: self.for_people(&recent.path),
                project: recent.project,
                format: recent.format,
                bytes: if metadata.is_dir() { 0 } else { metadata.len() },
                entries: recent.entries,
                modified: modified(&metadata),
                live: false,
                recent: true,
            });
        }
        for found in self.discovered() {
            if !seen.insert(found.path.clone()) {
                continue;
            }
            rows.push(SourceRow {
                source: hold(&self.sources).id(&found.path),
                log: None,
                title: name(&found.path),
                path: self.for_people(&found.path),
                project: self.project_of(&found.path),
                format: found.agent.name().to_owned(),
                bytes: found.bytes,
                entries: None,
                modified: found.modified,
                live: found
                    .modified
                    .is_some_and(|at| crate::engine::now_ms() - at < 60_000),
                recent: false,
            });
        }
        rows
    }

    fn project_of(&self, path: &Path) -> Option<String> {
        let mut known = hold(&self.looking.projects);
        if let Some(known) = known.get(path) {
            return Some(known.clone());
        }
        let found = project(path)?;
        known.insert(path.to_owned(), found.clone());
        Some(found)
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

/// Bytes of a log in which its working folder is looked for.
const HEAD: u64 = 32 << 10;

/// The name of the folder that an agent's log says it worked in: `cwd` of one of its first lines.
pub fn project(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    std::fs::File::open(path)
        .ok()?
        .take(HEAD)
        .read_to_end(&mut head)
        .ok()?;
    let lines = head
        .split(|byte| *byte == b'\n')
        .filter(|line| memmem::find(line, b"cwd").is_some());
    let cwd = |line: &[u8]| {
        let record: serde_json::Value = serde_json::from_slice(line).ok()?;
        let places = [
            record.get("cwd"),
            record.pointer("/payload/cwd"),
            record.pointer("/data/context/cwd"),
        ];
        let cwd = places
            .into_iter()
            .flatten()
            .find_map(|it| it.as_str().map(str::to_owned));
        cwd
    };
    last_part(&lines.take(8).find_map(cwd)?)
}
