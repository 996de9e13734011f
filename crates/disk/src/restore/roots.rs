//! The folders that a person opened or allowed, and which of them a path of a log belongs to.
//!
//! Left out: asking. A log never makes its working folder a root.

use super::error::{Outside, Reason, RestoreError};
use super::root::Root;
use crate::places::is_home_or_above;
use std::path::{Path, PathBuf};

#[derive(Clone, Default)]
pub struct Roots {
    /// Oldest first.
    list: Vec<Root>,
}

/// Where a path of a log belongs.
#[derive(Clone)]
pub enum Located {
    Inside {
        root: Root,
        /// Below the root.
        path: String,
    },
    /// It has a place on this machine that no person has opened: this folder would have to become a root, or
    /// this one file of it.
    Ask { folder: PathBuf, file: String },
    /// It has none.
    Never(Outside),
}

impl Roots {
    /// A folder becomes a root (a wider grant replaces that of a single file).
    pub fn allow(&mut self, folder: &Path) -> Result<Root, RestoreError> {
        let root = Root::open(folder)?;
        self.list.retain(|old| old.path() != root.path());
        self.list.push(root.clone());
        Ok(root)
    }

    /// Only this file of the folder; `file` is relative to it.
    pub fn allow_only(&mut self, folder: &Path, file: &str) -> Result<Root, RestoreError> {
        let root = Root::open(folder)?.only(file);
        self.list.push(root.clone());
        Ok(root)
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Root> {
        self.list.iter()
    }

    /// Which root a path of a log belongs to; `cwd` is the log's first working folder.
    pub fn locate(&self, path: &str, cwd: Option<&str>) -> Located {
        self.locate_where(path, cwd, &|_| true)
    }

    /// The same, where a log whose own folder is not on this machine belongs to these roots alone.
    pub fn locate_where(
        &self,
        path: &str,
        cwd: Option<&str>,
        laid: &dyn Fn(&Root) -> bool,
    ) -> Located {
        let absolute = Path::new(path).is_absolute();
        if absolute {
            if let Some(found) = self.deepest(path) {
                return found;
            }
        }
        let cwd_here = cwd
            .map(PathBuf::from)
            .filter(|cwd| cwd.is_absolute() && cwd.is_dir());
        if let (Some(cwd), Some(cwd_text)) = (cwd_here, cwd) {
            // The log's folder is on this machine: that is the place, and no other.
            return match Root::open(&cwd).map(|here| here.place(path, Some(cwd_text))) {
                Ok(Ok(below)) => {
                    let there = cwd.join(&below);
                    let found = there.to_str().and_then(|there| self.deepest(there));
                    found.unwrap_or_else(|| match is_home_or_above(&cwd) {
                        // All of that is nobody's project: at most the folder that the file is in.
                        true => there.to_str().map_or_else(|| too_wide(path), ask_for),
                        false => Located::Ask {
                            folder: cwd,
                            file: below,
                        },
                    })
                }
                Ok(Err(_)) if absolute => ask_for(path),
                Ok(Err(outside)) => Located::Never(outside),
                Err(_) => ask_for(path),
            };
        }
        // Another machine's log, or one without a folder: the newest root that has the file, else the newest.
        let mut why = Outside {
            path: path.to_owned(),
            reason: Reason::NotBelow,
        };
        let mut newest = None;
        for root in self.list.iter().rev() {
            match root.place(path, cwd) {
                Ok(_) if !laid(root) => {}
                Ok(below) => {
                    let has = root.read(&below).is_ok_and(|found| found.image.is_some());
                    let open = root.only_file().is_none();
                    let located = Located::Inside {
                        root: root.clone(),
                        path: below,
                    };
                    if has {
                        return located;
                    }
                    if open && newest.is_none() {
                        newest = Some(located);
                    }
                }
                Err(outside) => why = outside,
            }
        }
        match newest {
            Some(located) => located,
            None if absolute && why.reason == Reason::NotBelow => ask_for(path),
            None => Located::Never(why),
        }
    }

    /// The deepest root that an absolute path of this machine lies in.
    fn deepest(&self, path: &str) -> Option<Located> {
        let fits = self.list.iter().filter_map(|root| {
            let below = root.place(path, None).ok()?;
            let granted = root.only_file().is_none_or(|only| only == below);
            granted.then_some((root, below))
        });
        let (root, path) = fits.max_by_key(|(root, _)| root.path().components().count())?;
        Some(Located::Inside {
            root: root.clone(),
            path,
        })
    }
}

fn too_wide(path: &str) -> Located {
    Located::Never(Outside {
        path: path.to_owned(),
        reason: Reason::TooWide,
    })
}

/// An absolute path of this machine whose folder exists.
fn ask_for(path: &str) -> Located {
    let full = Path::new(path);
    let climbs = full
        .components()
        .any(|part| part == std::path::Component::ParentDir);
    let folder = full.parent().filter(|folder| !climbs && folder.is_dir());
    // Neither the file system's own root nor a person's home is ever offered.
    if folder.is_some_and(is_home_or_above) {
        return too_wide(path);
    }
    let folder = folder.filter(|folder| folder.parent().is_some());
    let name = full.file_name().and_then(std::ffi::OsStr::to_str);
    match (folder, name) {
        (Some(folder), Some(name)) => Located::Ask {
            folder: folder.to_owned(),
            file: name.to_owned(),
        },
        _ => Located::Never(Outside {
            path: path.to_owned(),
            reason: Reason::NotBelow,
        }),
    }
}
