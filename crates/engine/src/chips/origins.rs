//! Where chips belong: the places that a deleted text may have come from, and what a target means below the opened
//! folders. Looking for a place reads files and may start git, so it runs beside and is told when it is done.

use super::Detail;
use crate::api::{ApiError, ChipTarget, Notice};
use crate::engine::{hold, read, Answer, Inner};
use crate::log::{thousands, Log};
use chipdeck_disk::chips::{workspace_ids, RemovedText, RemovedTexts, SnapshotEntry};
use chipdeck_disk::restore::{Located, RestoreError, Root};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Looking through the open logs ends after this.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is known of where a chip came from.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Best first.
    pub targets: Vec<ChipTarget>,
    /// The one target is where it came from.
    pub certain: bool,
    pub already_there: bool,
    pub notes: Vec<String>,
}

/// A file below an opened root.
pub struct Place {
    pub root: Root,
    /// Below the root.
    pub path: String,
}

impl Inner {
    pub(crate) fn known_origins(&self, key: &str) -> Option<Found> {
        hold(&self.chips.origins).get(key).cloned()
    }

    /// What was found counts no more: a root or a log came, or a file was written.
    pub(crate) fn forget_origins(&self) {
        hold(&self.chips.origins).clear();
    }

    /// Looks for the origins of a chip beside everything else, and tells when it knows.
    pub(crate) fn seek_origins(&self, key: &str) {
        let Some(own) = self.own.upgrade() else {
            return;
        };
        let weak: Weak<Inner> = Arc::downgrade(&own);
        let key = key.to_owned();
        let run = move || {
            let Some(inner) = weak.upgrade() else { return };
            let Ok(found) = inner.origins(&key) else {
                return;
            };
            inner.tell(Notice::ChipTargets {
                chip: key,
                targets: found.targets,
            });
        };
        // Without a thread the cheap target is all that is shown.
        let _ = std::thread::Builder::new()
            .name("chipdeck-origin".to_owned())
            .spawn(run);
    }

    /// # Errors
    /// There is no such chip, or it is no delete.
    pub(crate) fn origins(&self, key: &str) -> Answer<Found> {
        if let Some(known) = self.known_origins(key) {
            return Ok(known);
        }
        let roots = self.whole_roots();
        let open = read(&self.logs).clone();
        let count = open.len();
        let logs = OpenLogs(open);
        let origins = self.chips.folder().origins(key, &roots, &logs)?;
        let found = Found {
            targets: origins
                .places
                .iter()
                .map(|place| ChipTarget {
                    path: place.path.to_string_lossy().into_owned(),
                    line: Some(place.line),
                    certainty: place.certainty.as_str().to_owned(),
                    allowed: true,
                    because: Some(place.because.clone()),
                })
                .collect(),
            certain: origins.certain,
            already_there: origins.already_there,
            notes: origins.notes,
        };
        // A folder or a log that was opened meanwhile may know more: this is not kept.
        if self.whole_roots() == roots && read(&self.logs).len() == count {
            hold(&self.chips.origins).insert(key.to_owned(), found.clone());
        }
        Ok(found)
    }

    fn whole_roots(&self) -> Vec<PathBuf> {
        let roots = read(&self.roots);
        let whole = roots.iter().filter(|root| root.only_file().is_none());
        whole.map(|root| root.path().to_owned()).collect()
    }

    /// Where a chip most likely belongs.
    ///
    /// # Errors
    /// `not-found`: nobody knows.
    pub(crate) fn best_target(&self, key: &str, detail: &Detail) -> Answer<ChipTarget> {
        if detail.entry.is_delete {
            let found = self.origins(key)?;
            if let Some(best) = found.targets.into_iter().next() {
                return Ok(best);
            }
        }
        self.chip_row(&detail.entry).target.ok_or_else(|| {
            ApiError::new("not-found", "Nothing says where this chip belongs.")
                .why("no-origin")
                .hint("Open the folder of its project.")
        })
    }

    /// The file that a target names, below an opened root.
    ///
    /// # Errors
    /// `outside-root`.
    pub(crate) fn chip_place(&self, detail: &Detail, target: &ChipTarget) -> Answer<Place> {
        let workspace = detail
            .entry
            .target
            .as_ref()
            .and_then(|it| it.workspace.as_deref());
        self.place(&target.path, workspace)
    }

    pub(crate) fn snapshot_place(&self, entry: &SnapshotEntry) -> Answer<Place> {
        let workspace = Some(entry.workspace.as_str()).filter(|it| !it.is_empty());
        self.place(&entry.file, workspace)
    }

    fn place(&self, path: &str, workspace: Option<&str>) -> Answer<Place> {
        let outside = || {
            ApiError::new(
                "outside-root",
                format!("{path} lies in none of the opened folders."),
            )
            .why("in-no-folder")
            .about(path)
            .hint("Open the folder of its project.")
        };
        if !Path::new(path).is_absolute() {
            if let Some(root) = workspace.and_then(|id| self.root_of_workspace(id)) {
                let path = root
                    .place(path, None)
                    .map_err(|error| ApiError::from(RestoreError::Outside(error)))?;
                return Ok(Place { root, path });
            }
            // Of several folders that might be meant, none is guessed.
            if workspace.is_some() && read(&self.roots).iter().count() != 1 {
                return Err(outside());
            }
        }
        match read(&self.roots).locate(path, None) {
            Located::Inside { root, path } => Ok(Place { root, path }),
            Located::Ask { .. } => Err(outside()),
            Located::Never(error) => Err(RestoreError::Outside(error).into()),
        }
    }

    /// The opened root whose workspace id this is.
    pub(crate) fn root_of_workspace(&self, id: &str) -> Option<Root> {
        let roots: Vec<Root> = read(&self.roots)
            .iter()
            .filter(|it| it.only_file().is_none())
            .cloned()
            .collect();
        roots.into_iter().rev().find(|root| {
            let mut known = hold(&self.workspaces);
            let ids = known
                .entry(root.path().to_owned())
                .or_insert_with(|| workspace_ids(root.path()));
            ids.iter().any(|it| it == id)
        })
    }
}

/// The open logs, asked where they show a text being removed.
struct OpenLogs(Vec<Arc<Log>>);

impl RemovedTexts for OpenLogs {
    fn removed(&self, text: &[u8], created_at: i64) -> Vec<RemovedText> {
        let Ok(text) = std::str::from_utf8(text) else {
            return Vec::new();
        };
        let begun = Instant::now();
        let mut found = Vec::new();
        for log in &self.0 {
            let name = crate::log::title(&log.path, log.format(), None);
            log.look(|look| {
                look.removals(text, created_at, begun + PATIENCE, &mut |removal| {
                    let event = look.row(removal.index).and_then(|row| row.event_id);
                    let event =
                        event.unwrap_or_else(|| format!("entry {}", thousands(removal.index)));
                    found.push(RemovedText {
                        path: removal.path,
                        before: removal.before.as_bytes().to_vec(),
                        first_line: removal.first_line,
                        because: format!("{event} of {name}"),
                    });
                })
            });
        }
        found
    }
}
