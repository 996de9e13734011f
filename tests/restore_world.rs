//! A project on a real disk and places of our own, for the tests of restores.
#![cfg(unix)]

use chipdeck_disk::places::Places;
use chipdeck_disk::restore::{Journal, RestoreError, Root};
use chipdeck_replay::restore::{FileImage, Kind, RestorePlan, Step};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use tempfile::TempDir;

/// A project and places of our own, in one folder that goes away.
pub struct World {
    pub place: TempDir,
}

impl World {
    pub fn new() -> World {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("project")).unwrap();
        World { place }
    }

    pub fn project(&self) -> PathBuf {
        self.place.path().join("project")
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.project().join(path)
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), bytes).unwrap();
    }

    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    pub fn root(&self) -> Root {
        Root::open(&self.project()).unwrap()
    }

    pub fn places(&self) -> Places {
        Places::below(&self.place.path().join("own"))
    }

    /// As a new process has it.
    pub fn journal(&self) -> Journal {
        Journal::new(&self.places())
    }

    /// A plan of whole contents; `None` deletes.
    pub fn plan(&self, wanted: &[(&str, Option<&[u8]>)]) -> RestorePlan {
        let root = self.root();
        let steps = wanted.iter().map(|(path, after)| {
            let found = root.read(path).unwrap();
            let mut step = Step::new(*path, found.image, after.map(FileImage::of));
            found.notes.into_iter().for_each(|note| step.note(note));
            step
        });
        RestorePlan::new(Kind::Files, steps.collect())
    }

    pub fn restore(&self, wanted: &[(&str, Option<&[u8]>)]) -> String {
        let plan = self.plan(wanted);
        self.journal()
            .apply(&self.root(), &plan, 1_700_000_000_000)
            .unwrap()
            .unwrap()
            .restore
    }

    pub fn undo(&self, restore: Option<&str>) -> Result<String, RestoreError> {
        let journal = self.journal();
        let (root, plan) = journal.plan_undo(restore)?;
        Ok(journal
            .apply(&root, &plan, 1_700_000_000_001)?
            .unwrap()
            .restore)
    }

    /// Everything below the project: kind, mode, bytes.
    pub fn everything(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut all = BTreeMap::new();
        let mut todo = vec![self.project()];
        while let Some(path) = todo.pop() {
            let found = path.symlink_metadata().unwrap();
            let bytes = if found.is_dir() {
                todo.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
                Vec::new()
            } else if found.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else {
                fs::read(&path).unwrap()
            };
            all.insert(path, (found.mode(), bytes));
        }
        all
    }
}
