//! Where this user's server keeps its files, from the environment of this process.

use super::{ArchiveConfig, ChipConfig, SnapshotPlaces};
use crate::places::Places;
use chipdeck_chip::{folders, Variables};
use std::path::{Path, PathBuf};

/// The variables that decide about the folders, as this process sees them.
pub fn variables_of_this_process() -> Variables {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
    Variables {
        xdg_cache_home: path("XDG_CACHE_HOME"),
        home: path("HOME"),
        local_app_data: path("LOCALAPPDATA"),
        better_edit_snapshot_dir: path("BETTER_EDIT_SNAPSHOT_DIR"),
        better_edit_snapshot_persist: std::env::var("BETTER_EDIT_SNAPSHOT_PERSIST").ok(),
    }
}

/// The archive's folder in our own data folder.
pub fn archive_dir(places: &Places) -> PathBuf {
    places.data.join("archive")
}

impl ChipConfig {
    /// The folders of this user's server. `dir`: another chip folder; edit snapshots are then those beside it, where
    /// there are any, else the user's. `snapshots`: another snapshot base. The archive has its default limits; it is off
    /// where there is no home folder.
    pub fn of_this_user(dir: Option<&Path>, snapshots: Option<&Path>) -> ChipConfig {
        let current = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let found = folders(&variables_of_this_process(), cfg!(windows), &current);
        let places = match (snapshots, dir) {
            (Some(base), _) => SnapshotPlaces {
                base: Some(base.to_owned()),
                single: None,
            },
            (None, Some(dir))
                if dir.ends_with("chips") && dir.with_file_name("snapshots").is_dir() =>
            {
                SnapshotPlaces {
                    base: Some(dir.with_file_name("snapshots")),
                    single: None,
                }
            }
            _ => SnapshotPlaces {
                base: Some(found.snapshot_base),
                single: found.snapshot_dir,
            },
        };
        ChipConfig {
            folder: dir.map_or(found.chips, Path::to_owned),
            snapshots: places,
            archive: Places::of_this_user()
                .map(|places| ArchiveConfig::in_dir(archive_dir(&places))),
            polling: false,
        }
    }
}
