//! Kept copies of files, by their hash: `images/<first two hex>/<rest>` in our data folder.
//!
//! Left out: how long they are kept (`keeping`).

use crate::folder::{Access, Folder};
use chipdeck_replay::restore::{sha256_hex, Content};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::Arc;

pub(super) const FOLDER: &str = "images";

pub(super) struct Images {
    data: Arc<dyn Folder>,
}

impl Images {
    pub fn new(data: Arc<dyn Folder>) -> Images {
        Images { data }
    }

    /// On the disk when this returns. The caller holds the lock.
    /// `many`: from so many on they are flushed together.
    pub fn keep<'a>(
        &self,
        contents: impl Iterator<Item = &'a Content>,
        many: usize,
    ) -> io::Result<()> {
        let mut seen = HashSet::new();
        let contents: Vec<&Content> = contents.filter(|it| seen.insert(it.sha256())).collect();
        let together = contents.len() >= many && self.data.disk().is_some();
        let mut new = Vec::new();
        let kept = self.keep_all(&contents, together, &mut new);
        if kept.is_err() {
            for (shelf, name) in new {
                let _ = shelf.remove_file(&beside(&name));
            }
        }
        kept
    }

    /// `new`: what is not under its name yet.
    fn keep_all(
        &self,
        contents: &[&Content],
        together: bool,
        new: &mut Vec<(Arc<dyn Folder>, OsString)>,
    ) -> io::Result<()> {
        let mut shelves = HashMap::new();
        for content in contents {
            let (shelf, name) = self.shelf(content, &mut shelves)?;
            if !together {
                // Kept before, perhaps for show: it is written anew, since it must be on the disk.
                write_named(&shelf, &name, content.bytes(), true)?;
            } else if !has(&shelf, &name, content) {
                write_beside(&shelf, &name, content.bytes(), false)?;
                new.push((shelf, name));
            }
        }
        if together && self.data.flush_disk().is_err() {
            for shelf in shelves.values() {
                for name in shelf.names()? {
                    shelf.flush_file(&name)?;
                }
            }
        }
        for (shelf, name) in new.iter() {
            shelf.replace(&beside(name), name)?;
        }
        shelves.into_values().try_for_each(|shelf| shelf.flush())
    }

    /// For the history's diffs alone: a power cut may take them. The caller holds the lock.
    pub fn keep_for_show<'a>(&self, contents: impl Iterator<Item = &'a Content>) -> io::Result<()> {
        let mut shelves = HashMap::new();
        for content in contents {
            let (shelf, name) = self.shelf(content, &mut shelves)?;
            if !has(&shelf, &name, content) {
                write_named(&shelf, &name, content.bytes(), false)?;
            }
        }
        Ok(())
    }

    /// Where a content belongs.
    fn shelf(
        &self,
        content: &Content,
        shelves: &mut HashMap<String, Arc<dyn Folder>>,
    ) -> io::Result<(Arc<dyn Folder>, OsString)> {
        let Some((shelf, name)) = content.sha256().split_at_checked(2) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let open = match shelves.get(shelf) {
            Some(open) => open.clone(),
            None => {
                let images = made(&self.data, FOLDER)?;
                let open = made(&images, shelf)?;
                shelves.insert(shelf.to_owned(), open.clone());
                open
            }
        };
        Ok((open, name.into()))
    }

    /// `None`: not kept, or damaged.
    pub fn find(&self, sha256: &str) -> Option<Content> {
        let (shelf, name) = sha256.split_at_checked(2)?;
        let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if sha256.len() != 64 || !hex(sha256) {
            return None;
        }
        let shelf = self
            .data
            .folder(OsStr::new(FOLDER))
            .ok()?
            .folder(OsStr::new(shelf))
            .ok()?;
        let bytes = shelf.read(OsStr::new(name)).ok()?.bytes;
        (sha256_hex(&bytes) == sha256).then(|| Content::new(bytes))
    }
}

/// A folder of ours, made where it is missing.
pub(super) fn made(parent: &Arc<dyn Folder>, name: &str) -> io::Result<Arc<dyn Folder>> {
    let name = OsStr::new(name);
    match parent.folder(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match parent.make_folder(name, Access::Private) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => parent.flush()?,
            }
            parent.folder(name)
        }
        found => found,
    }
}

/// A file of ours, whole or not at all, on the disk when this returns. The caller holds the lock.
pub(super) fn write_at_once(
    folder: &Arc<dyn Folder>,
    name: &OsStr,
    bytes: &[u8],
) -> io::Result<()> {
    write_named(folder, name, bytes, true)?;
    folder.flush()
}

/// The name itself is not flushed.
fn write_named(
    folder: &Arc<dyn Folder>,
    name: &OsStr,
    bytes: &[u8],
    flushed: bool,
) -> io::Result<()> {
    write_beside(folder, name, bytes, flushed)?;
    folder.replace(&beside(name), name)
}

/// A file under the name that it has until it is whole; nothing is left of it on an error.
fn write_beside(
    folder: &Arc<dyn Folder>,
    name: &OsStr,
    bytes: &[u8],
    flushed: bool,
) -> io::Result<()> {
    let temporary = beside(name);
    if folder.look(&temporary)?.is_some() {
        // Of a process that died.
        folder.remove_file(&temporary)?;
    }
    let write = || {
        let mut file = folder.create(&temporary, Access::Private)?;
        file.write(bytes)?;
        match flushed {
            true => file.flush(),
            false => Ok(()),
        }
    };
    write().inspect_err(|_| {
        let _ = folder.remove_file(&temporary);
    })
}

fn beside(name: &OsStr) -> OsString {
    let mut temporary = OsString::from(".new-");
    temporary.push(name);
    temporary
}

fn has(shelf: &Arc<dyn Folder>, name: &OsStr, content: &Content) -> bool {
    let read = shelf.read(name);
    read.is_ok_and(|read| read.bytes == content.bytes())
}
