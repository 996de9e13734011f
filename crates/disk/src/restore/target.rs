//! A path below a root, walked one name at a time with folders held open: links are read and followed by us,
//! and only inside the root.

use super::error::{InTheWay, Outside, Reason, RestoreError};
use super::root::Root;
use crate::folder::{Folder, Read, Stands};
use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Component;
use std::sync::Arc;

/// As many as the system follows itself.
const MOST_LINKS: u32 = 40;

/// Where a file is, or would be.
pub(super) struct Target {
    /// Names of the folders from the root to `folder`.
    pub parents: Vec<String>,
    /// The deepest folder that exists.
    pub folder: Arc<dyn Folder>,
    /// Folders to be made below it, outermost first.
    pub missing: Vec<String>,
    pub name: String,
    pub present: bool,
    /// A link was followed.
    pub linked: bool,
    /// Folders that stand in its place and are empty once the plan's deletes are done, deepest first.
    pub clears: Vec<String>,
}

/// Real paths below the root of the files that a plan deletes before it writes others.
pub type Gone = HashSet<String>;

impl Target {
    /// Path below the root, links followed.
    pub fn real(&self) -> String {
        let mut names = self.parents.clone();
        names.extend(self.missing.iter().cloned());
        names.push(self.name.clone());
        names.join("/")
    }

    /// Paths below the root of the folders to be made, outermost first.
    pub fn folders_to_make(&self) -> Vec<String> {
        let mut at = self.parents.clone();
        let made = self.missing.iter().map(|name| {
            at.push(name.clone());
            at.join("/")
        });
        made.collect()
    }

    pub fn read(&self) -> io::Result<Option<Read>> {
        if !self.present {
            return Ok(None);
        }
        self.folder.read(OsStr::new(&self.name)).map(Some)
    }
}

pub(super) fn resolve(root: &Root, path: &str) -> Result<Target, RestoreError> {
    resolve_after(root, path, &Gone::new())
}

/// As it will be once these files are deleted: a file may become a folder, and a folder a file.
pub(super) fn resolve_after(root: &Root, path: &str, gone: &Gone) -> Result<Target, RestoreError> {
    let outside = |reason| {
        RestoreError::Outside(Outside {
            path: path.to_owned(),
            reason,
        })
    };
    let strange = |what| RestoreError::NotAFile {
        path: path.to_owned(),
        what,
    };
    let failed = |source| RestoreError::Io {
        what: format!("{path:?}"),
        source,
    };

    let mut ahead: VecDeque<OsString> = VecDeque::new();
    for name in path.split('/') {
        if matches!(name, "" | "." | "..") || name.contains('\0') {
            return Err(outside(Reason::NoFile));
        }
        ahead.push_back(name.into());
    }
    let mut behind: Vec<(String, Arc<dyn Folder>)> = Vec::new();
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            // Only from a link's target.
            behind.pop().ok_or_else(|| outside(Reason::Link))?;
            continue;
        }
        let folder = behind
            .last()
            .map_or(&root.folder, |(_, folder)| folder)
            .clone();
        let stands = match folder.look(&name) {
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => {
                return Err(strange(InTheWay::NameTooLong));
            }
            stands => stands.map_err(failed)?,
        };
        let text = name.to_str().ok_or_else(|| strange(InTheWay::NotUtf8))?;
        let target = |missing: Vec<String>, name: &str, present: bool| Target {
            parents: behind.iter().map(|(name, _)| name.clone()).collect(),
            folder: folder.clone(),
            missing,
            name: name.to_owned(),
            present,
            linked: links > 0,
            clears: Vec::new(),
        };
        let here = || {
            let names = behind.iter().map(|(name, _)| name.as_str());
            names.chain([text]).collect::<Vec<&str>>().join("/")
        };
        let stands = match stands {
            Some(Stands::File) if !ahead.is_empty() && gone.contains(&here()) => None,
            stands => stands,
        };
        match stands {
            None => {
                let mut missing = vec![text.to_owned()];
                for name in &ahead {
                    match name.to_str() {
                        Some("..") => return Err(strange(InTheWay::MissingBelowLink)),
                        Some(name) => missing.push(name.to_owned()),
                        None => return Err(strange(InTheWay::NotUtf8)),
                    }
                }
                let name = missing.pop().unwrap_or_default();
                return Ok(target(missing, &name, false));
            }
            Some(Stands::Link) => {
                links += 1;
                if links > MOST_LINKS {
                    return Err(strange(InTheWay::Loop));
                }
                let link = folder.read_link(&name).map_err(failed)?;
                let link = if link.has_root() || link.is_absolute() {
                    behind.clear();
                    root.inside(&link).ok_or_else(|| outside(Reason::Link))?
                } else {
                    link
                };
                let mut names = Vec::new();
                for part in link.components() {
                    match part {
                        Component::Normal(name) => names.push(name.to_owned()),
                        Component::ParentDir => names.push("..".into()),
                        Component::CurDir => {}
                        Component::Prefix(_) | Component::RootDir => {
                            return Err(outside(Reason::Link))
                        }
                    }
                }
                for name in names.into_iter().rev() {
                    ahead.push_front(name);
                }
            }
            Some(Stands::Folder) if !ahead.is_empty() => {
                let inner = folder.folder(&name).map_err(failed)?;
                behind.push((text.to_owned(), inner));
            }
            Some(Stands::File) if ahead.is_empty() => return Ok(target(Vec::new(), text, true)),
            Some(Stands::File) => return Err(strange(InTheWay::File)),
            Some(Stands::Folder) => {
                let inner = folder.folder(&name).map_err(failed)?;
                let clears = emptied(&inner, here(), gone).map_err(failed)?;
                let mut target = target(Vec::new(), text, false);
                target.clears = clears.ok_or_else(|| strange(InTheWay::Folder))?;
                return Ok(target);
            }
            Some(Stands::Other) => return Err(strange(InTheWay::Special)),
        }
    }
    // A link to the root itself, or to `..` of a folder.
    Err(strange(InTheWay::Folder))
}

/// The folder and those in it, deepest first, if nothing but files that go are in any of them.
fn emptied(folder: &Arc<dyn Folder>, path: String, gone: &Gone) -> io::Result<Option<Vec<String>>> {
    let mut folders = Vec::new();
    let mut files = false;
    if gone.is_empty() {
        return Ok(None);
    }
    for name in folder.names()? {
        let Some(text) = name.to_str() else {
            return Ok(None);
        };
        let below = format!("{path}/{text}");
        match folder.look(&name)? {
            Some(Stands::File) if gone.contains(&below) => files = true,
            Some(Stands::Folder) => match emptied(&folder.folder(&name)?, below, gone)? {
                Some(inner) => folders.extend(inner),
                None => return Ok(None),
            },
            _ => return Ok(None),
        }
    }
    // An empty folder is somebody's: it is not taken away.
    let some = files || !folders.is_empty();
    folders.push(path);
    Ok(some.then_some(folders))
}
