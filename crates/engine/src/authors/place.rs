//! Where a project lies, and which file of it a log means by a path.
//!
//! A path is a project's only when that is certain: below its folder as this machine or a session writes it, or below
//! another work tree of the same repository. Left out: checkouts that were moved and that nothing remembers, and
//! names of one file through links inside the project.

use chipdeck_disk::git::Repository;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder that sessions worked in: the top of a git work tree (the main one), else the folder itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Names it on the wire.
    pub id: String,
    /// Real where it is on this machine, else as the sessions write it.
    pub top: PathBuf,
    pub here: bool,
    pub git: bool,
    /// Each way in which the top of a work tree is written, and which work tree that is; longest first.
    names: Vec<(String, PathBuf)>,
    /// Folders of other machines whose logs are laid onto it.
    laid: Vec<String>,
}

/// A file of a project.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spot {
    /// Below the top, with `/`.
    pub path: String,
    /// Where it is in another work tree of the repository: that one's top.
    pub checkout: Option<PathBuf>,
}

impl Place {
    /// The file of this project that an absolute path names. A relative one counts from `cwd`.
    pub fn spot(&self, named: &str, cwd: Option<&str>) -> Option<Spot> {
        let named = plain(&joined(named, cwd)?)?;
        let (below, checkout) = self.strip(&named)?;
        if below.is_empty() {
            return None;
        }
        Some(Spot {
            path: below.to_owned(),
            checkout: (*checkout != self.top).then(|| checkout.clone()),
        })
    }

    /// A folder is the project's or lies in it.
    pub fn holds(&self, folder: &str) -> bool {
        plain(folder).is_some_and(|folder| self.strip(&folder).is_some())
    }

    /// The project lies below this folder.
    pub fn is_below(&self, folder: &str) -> bool {
        let Some(folder) = plain(folder) else {
            return false;
        };
        self.names
            .iter()
            .any(|(name, _)| strip(name, &folder).is_some())
    }

    fn strip<'a>(&self, path: &'a str) -> Option<(&'a str, &PathBuf)> {
        self.names
            .iter()
            .find_map(|(name, checkout)| Some((strip(path, name)?, checkout)))
    }

    /// Every way in which the project's folder is written.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|(name, _)| name.as_str())
    }

    fn name_it(&mut self, name: String, checkout: &Path) {
        if !self.names.iter().any(|(known, _)| *known == name) {
            self.names.push((name, checkout.to_owned()));
            self.names
                .sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        }
    }
}

/// Places by the working folders that sessions name. A folder is looked at once.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// By working folder; `None`: it is no absolute path.
    seen: HashMap<String, Option<PathBuf>>,
    places: BTreeMap<PathBuf, Place>,
}

impl Places {
    pub fn add(&mut self, cwd: &str) {
        if self.seen.contains_key(cwd) {
            return;
        }
        let top = self.look(cwd);
        self.seen.insert(cwd.to_owned(), top);
    }

    /// A folder that is not here is meant by one that is: `top`, which is a place's own.
    pub fn lay(&mut self, cwd: &str, top: &Path) {
        let Some(written) = plain(cwd) else { return };
        if let Some(name) = top.to_str() {
            self.add(name);
        }
        if let Some(place) = self.places.get_mut(top) {
            place.name_it(written.clone(), top);
            if !place.laid.contains(&written) {
                place.laid.push(written);
            }
        }
    }

    /// All of them. A folder that a repository remembers as its own, or that is laid onto another, is no place of its own.
    pub fn all(&self) -> Vec<Arc<Place>> {
        let gone = |place: &Place| {
            let name = place.top.to_str().unwrap_or_default();
            let laid = |other: &Place| other.laid.iter().any(|it| strip(name, it).is_some());
            let mut others = self.places.values();
            !place.here && others.any(|other| laid(other) || (other.git && other.holds(name)))
        };
        let own = self.places.values().filter(|place| !gone(place));
        own.map(|place| Arc::new(place.clone())).collect()
    }

    fn look(&mut self, cwd: &str) -> Option<PathBuf> {
        let written = plain(cwd)?;
        let folder = Path::new(&written);
        let there = folder.ancestors().find(|it| it.is_dir())?;
        let real = std::fs::canonicalize(there).ok()?;
        let missing = folder.strip_prefix(there).unwrap_or(Path::new(""));
        // A folder of a repository that is gone is still the repository's.
        let repository = Repository::of(&real);
        let Some(repository) = repository else {
            let here = missing.as_os_str().is_empty();
            let top = if here { real } else { folder.to_owned() };
            let place = self.place(&top, here, false);
            place.name_it(written.clone(), &top);
            return Some(top);
        };
        let checkouts = repository.checkouts();
        let top = repository.main().to_owned();
        let own = repository.top().to_owned();
        let place = self.place(&top, true, true);
        for checkout in &checkouts {
            if let Some(name) = checkout.to_str().and_then(plain) {
                place.name_it(name, checkout);
            }
        }
        // The session's own way of writing the work tree's top.
        let below = real
            .strip_prefix(&own)
            .unwrap_or(Path::new(""))
            .join(missing);
        let depth = below.components().count();
        if let Some(name) = folder.ancestors().nth(depth).and_then(Path::to_str) {
            if std::fs::canonicalize(name).is_ok_and(|it| it == own) {
                place.name_it(name.to_owned(), &own);
            }
        }
        Some(top)
    }

    fn place(&mut self, top: &Path, here: bool, git: bool) -> &mut Place {
        self.places.entry(top.to_owned()).or_insert_with(|| {
            let mut place = Place {
                id: id_of(top),
                top: top.to_owned(),
                here,
                git,
                names: Vec::new(),
                laid: Vec::new(),
            };
            if let Some(name) = top.to_str().and_then(plain) {
                place.name_it(name, top);
            }
            place
        })
    }
}

fn id_of(top: &Path) -> String {
    let hash = Sha256::digest(top.as_os_str().as_encoded_bytes());
    let hex: String = hash
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("project-{hex}")
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || Path::new(path).is_absolute()
}

fn joined(named: &str, cwd: Option<&str>) -> Option<String> {
    if is_absolute(named) {
        return Some(named.to_owned());
    }
    let cwd = cwd.filter(|cwd| is_absolute(cwd))?;
    Some(format!("{cwd}/{named}"))
}

/// An absolute path without `.`, `..` and doubled slashes, none at the end. `None`: it is none, or it climbs out.
fn plain(path: &str) -> Option<String> {
    if !is_absolute(path) || path.contains('\0') {
        return None;
    }
    let slashed = if cfg!(windows) {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    let mut names: Vec<&str> = Vec::new();
    for name in slashed.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    let root = if slashed.starts_with('/') { "/" } else { "" };
    Some(format!("{root}{}", names.join("/")))
}

/// What is below a folder; empty for the folder itself.
fn strip<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() || folder == "/" {
        return Some(rest);
    }
    rest.strip_prefix('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(place: &Place, named: &str, cwd: Option<&str>) -> Option<String> {
        Some(place.spot(named, cwd)?.path)
    }

    #[test]
    fn a_folder_that_is_gone_is_its_own_project() {
        let mut places = Places::default();
        places.add("/nowhere/at/all/");
        places.add("relative");
        let all = places.all();
        let [place] = all.as_slice() else {
            panic!("{all:?}")
        };
        assert!(!place.here && !place.git);
        for (named, cwd, path) in [
            ("/nowhere/at/all/src/a.rs", None, Some("src/a.rs")),
            ("/nowhere/at/all//./src/../b", None, Some("b")),
            ("c.rs", Some("/nowhere/at/all/src"), Some("src/c.rs")),
            ("../d", Some("/nowhere/at/all/src"), Some("d")),
            ("../../d", Some("/nowhere/at/all/src"), None),
            ("/nowhere/at/all", None, None),
            ("/nowhere/at/allelse/x", None, None),
            ("c.rs", None, None),
        ] {
            assert_eq!(below(place, named, cwd).as_deref(), path, "{named}");
        }
        assert!(place.holds("/nowhere/at/all/src"));
        assert!(place.is_below("/nowhere") && place.is_below("/"));
        assert!(!place.is_below("/nowhere/at/al"));
    }

    #[cfg(unix)]
    #[test]
    fn one_folder_under_two_names() {
        let dir = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir_all(real.join("app")).unwrap();
        std::os::unix::fs::symlink(real.join("app"), real.join("link")).unwrap();
        let mut places = Places::default();
        let link = real.join("link").display().to_string();
        places.add(&link);
        places.add(&real.join("app").display().to_string());
        let all = places.all();
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].top, real.join("app"));
        let named = format!("{link}/a.rs");
        assert_eq!(below(&all[0], &named, None).as_deref(), Some("a.rs"));
    }
}
