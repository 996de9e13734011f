//! Where a server of this user keeps its files: pure functions of the environment's values.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Values of the environment as the server would see them; empty and unset are alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    pub xdg_cache_home: Option<PathBuf>,
    pub home: Option<PathBuf>,
    /// Windows only.
    pub local_app_data: Option<PathBuf>,
    pub better_edit_snapshot_dir: Option<PathBuf>,
    pub better_edit_snapshot_persist: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    pub chips: PathBuf,
    /// Parent of the workspaces' folders.
    pub snapshot_base: PathBuf,
    /// One folder for all workspaces instead.
    pub snapshot_dir: Option<PathBuf>,
    /// The server writes edit snapshots to disk.
    pub snapshots_on: bool,
}

/// `windows`: the rules of Windows. `current`: the server's working folder, which relative values count from.
pub fn folders(variables: &Variables, windows: bool, current: &Path) -> Folders {
    let some = |value: &Option<PathBuf>| value.clone().filter(|v| !v.as_os_str().is_empty());
    let base = if windows {
        some(&variables.local_app_data)
    } else {
        some(&variables.xdg_cache_home)
            .or_else(|| some(&variables.home).map(|home| home.join(".cache")))
    };
    let (chips, snapshot_base) = match base {
        Some(base) => {
            let base = current.join(base).join("better-edit-tools-mcp");
            (base.join("chips"), base.join("snapshots"))
        }
        None => (
            "/tmp/better-edit-tools-mcp-chips".into(),
            "/tmp/better-edit-tools-mcp-snapshots".into(),
        ),
    };
    Folders {
        chips: cleaned(&chips),
        snapshot_base: cleaned(&snapshot_base),
        snapshot_dir: some(&variables.better_edit_snapshot_dir)
            .map(|dir| cleaned(&current.join(dir))),
        snapshots_on: !variables
            .better_edit_snapshot_persist
            .as_deref()
            .is_some_and(|value| crate::record::names(value.trim(), "false")),
    }
}

/// Without `.` and doubled or trailing separators.
fn cleaned(path: &Path) -> PathBuf {
    path.components().collect()
}

/// The name of a workspace's folder under the snapshot base: the first 16 hex digits of SHA-256 over the value's bytes
/// (`BETTER_EDIT_WORKSPACE`, the git top level, or the working folder).
pub fn workspace_id(value: &[u8]) -> String {
    Sha256::digest(value)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
