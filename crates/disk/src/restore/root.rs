//! A folder that may be written, and where a path of a log lies in it.
//!
//! Left out: how folders become roots (`roots` and the window's dialogue).

use super::error::{Outside, Reason, RestoreError};
use super::target::{resolve, resolve_after, Gone, Target};
use crate::folder::{Folder, RealFolder};
use chipdeck_replay::restore::{Content, Draft, FileImage, Kind, Known, Mode, Note, Want};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Canonical, held open.
#[derive(Clone)]
pub struct Root {
    path: PathBuf,
    /// As the person gave it, made absolute; logs may use this form.
    given: PathBuf,
    pub(super) folder: Arc<dyn Folder>,
    /// Only this file below it may be written.
    only: Option<String>,
}

/// What is on the disk at a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// `None`: absent.
    pub image: Option<FileImage>,
    /// Of the file system: hard link, symbolic link, folders to be made.
    pub notes: Vec<Note>,
    /// Where it really is below the root, links inside the root followed.
    pub real: String,
}

impl Root {
    /// `Io` where it is no folder that can be opened.
    pub fn open(path: &Path) -> Result<Root, RestoreError> {
        let said = format!("the folder {}", path.display());
        let canonical = std::fs::canonicalize(path).map_err(RestoreError::io(said.clone()))?;
        let folder = RealFolder::open(&canonical).map_err(RestoreError::io(said))?;
        let given = std::path::absolute(path).unwrap_or_else(|_| canonical.clone());
        Ok(Root {
            path: canonical,
            given,
            folder: Arc::new(folder),
            only: None,
        })
    }

    #[cfg(test)]
    pub(super) fn with(path: &Path, folder: Arc<dyn Folder>) -> Root {
        Root {
            path: path.to_owned(),
            given: path.to_owned(),
            folder,
            only: None,
        }
    }

    /// The same folder with only one file to be written; `file` is relative to it.
    pub fn only(mut self, file: &str) -> Root {
        self.only = Some(file.to_owned());
        self
    }

    pub fn only_file(&self) -> Option<&str> {
        self.only.as_deref()
    }

    /// Canonical.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path below this root for a path of a log. `cwd` is the log's first working folder. Looks at no
    /// disk: links are followed later.
    pub fn place(&self, path: &str, cwd: Option<&str>) -> Result<String, Outside> {
        let outside = |reason| Outside {
            path: path.to_owned(),
            reason,
        };
        let below = match shape(path, cwd).map_err(outside)? {
            Shape::Relative(names) => names,
            Shape::Absolute(names) => {
                let here = [&self.path, &self.given].into_iter();
                let here = here.filter_map(|root| names_of(root.to_str()?));
                let there = cwd.and_then(|cwd| match shape(cwd, None) {
                    Ok(Shape::Absolute(names)) => Some(names),
                    _ => None,
                });
                here.chain(there)
                    .find_map(|root| names.strip_prefix(root.as_slice()).map(<[String]>::to_vec))
                    .ok_or_else(|| outside(Reason::NotBelow))?
            }
        };
        if below.is_empty() {
            return Err(outside(Reason::NoFile));
        }
        Ok(below.join("/"))
    }

    /// What is at a path below the root (as [`Root::place`] gives it).
    pub fn read(&self, path: &str) -> Result<Found, RestoreError> {
        self.read_after(path, &Gone::new())
    }

    /// As it will be once these files are deleted ([`Root::gone`]).
    pub fn read_after(&self, path: &str, gone: &Gone) -> Result<Found, RestoreError> {
        let target = self.target_after(path, gone)?;
        let mut notes = Vec::new();
        if target.linked {
            notes.push(Note::Symlink);
        }
        if !target.missing.is_empty() {
            notes.push(Note::MakesFolders);
        }
        let read = target
            .read()
            .map_err(RestoreError::io(format!("{path:?}")))?;
        if read.as_ref().is_some_and(|read| read.links > 1) {
            notes.push(Note::HardLink);
        }
        Ok(Found {
            image: read.map(|read| FileImage {
                content: Content::new(read.bytes),
                attributes: Some(read.attributes),
            }),
            notes,
            real: target.real(),
        })
    }

    /// Drafts a restore of files of a log (`cwd`: its first working folder) against what is on the disk now.
    /// Nothing of it where one path lies outside. An unknown content is no step, only a warning of the draft.
    pub fn draft(
        &self,
        kind: Kind,
        wants: &[Want],
        cwd: Option<&str>,
        mode: Mode,
    ) -> Result<Draft, RestoreError> {
        let mut draft = Draft::new(kind);
        let mut seen: HashMap<String, &Want> = HashMap::new();
        let gone = self.gone(wants, cwd);
        for want in wants {
            if want.theirs == Known::Unknown {
                let message = format!(
                    "{}: the log doesn't show its content there, it is not written",
                    want.path
                );
                draft.warn("unknown-content", &want.path, message);
                continue;
            }
            let path = self.place(&want.path, cwd)?;
            // A log may write one file in several ways.
            match seen.insert(path.clone(), want) {
                Some(other) if other.theirs == want.theirs => continue,
                Some(other) => {
                    return Err(RestoreError::SameFile {
                        first: other.path.clone(),
                        second: want.path.clone(),
                    })
                }
                None => {}
            }
            let found = match self.read_after(&path, &gone) {
                // It is to be absent, and it is: a folder has its name, or a file that of its folder.
                Err(RestoreError::NotAFile { what, .. })
                    if want.theirs == Known::Absent && what.means_absent() =>
                {
                    continue
                }
                found => found?,
            };
            let added = draft.add(&path, found.image, found.notes, want, mode);
            added.map_err(|none| RestoreError::NoBase { path: none.path })?;
        }
        Ok(draft)
    }

    /// The files that these wants delete, by their real paths below the root.
    pub fn gone(&self, wants: &[Want], cwd: Option<&str>) -> Gone {
        let deletes = wants.iter().filter(|want| want.theirs == Known::Absent);
        let places = deletes.filter_map(|want| self.place(&want.path, cwd).ok());
        let targets = places.filter_map(|path| resolve(self, &path).ok());
        let there = targets.filter(|target| target.present);
        there.map(|target| target.real()).collect()
    }

    /// Follows links inside the root and checks the grant.
    pub(super) fn target(&self, path: &str) -> Result<Target, RestoreError> {
        self.target_after(path, &Gone::new())
    }

    /// As it will be once these files are deleted.
    pub(super) fn target_after(&self, path: &str, gone: &Gone) -> Result<Target, RestoreError> {
        let target = resolve_after(self, path, gone)?;
        if let Some(only) = &self.only {
            let granted =
                only == path || resolve(self, only).is_ok_and(|o| o.real() == target.real());
            if !granted {
                return Err(RestoreError::Outside(Outside {
                    path: path.to_owned(),
                    reason: Reason::NotGranted,
                }));
            }
        }
        Ok(target)
    }

    /// The names below the root of an absolute link target; `None`: it leads elsewhere.
    pub(super) fn inside(&self, link: &Path) -> Option<PathBuf> {
        let stripped = link.strip_prefix(&self.path);
        stripped
            .or_else(|_| link.strip_prefix(&self.given))
            .ok()
            .map(Path::to_path_buf)
    }
}

/// A path's names, `.` and inner `..` taken out.
enum Shape {
    Relative(Vec<String>),
    Absolute(Vec<String>),
}

fn shape(path: &str, cwd: Option<&str>) -> Result<Shape, Reason> {
    if path.is_empty() || path.contains('\0') {
        return Err(Reason::NoFile);
    }
    let windows = is_windows(path) || (path.contains('\\') && cwd.is_some_and(is_windows));
    if windows && !cfg!(windows) {
        return Err(Reason::Foreign);
    }
    let slashed = if cfg!(windows) {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    let absolute = slashed.starts_with('/') || is_windows(&slashed);
    let mut names: Vec<String> = Vec::new();
    for name in slashed.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop().ok_or(Reason::Climbs)?;
            }
            name => names.push(name.to_owned()),
        }
    }
    Ok(match absolute {
        true => Shape::Absolute(names),
        false => Shape::Relative(names),
    })
}

fn names_of(path: &str) -> Option<Vec<String>> {
    match shape(path, None) {
        Ok(Shape::Absolute(names)) => Some(names),
        _ => None,
    }
}

/// `C:\…`, `C:/…`, `\\server\…`.
fn is_windows(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = matches!(bytes, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    drive || bytes.starts_with(b"\\\\")
}
