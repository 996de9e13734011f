//! Kept copies of files, by their hash: `images/<first two hex>/<rest>` in our data folder.
//!
//! Left out: how long they are kept (for good: they are what makes an undo possible).

use crate::folder::{Access, Folder};
use chipdeck_replay::restore::{sha256_hex, Content};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;

const FOLDER: &str = "images";

pub(super) struct Images {
    data: Arc<dyn Folder>,
}

impl Images {
    pub fn new(data: Arc<dyn Folder>) -> Images {
        Images { data }
    }

    /// On the disk when this returns. The caller holds the lock.
    pub fn keep<'a>(&self, contents: impl Iterator<Item = &'a Content>) -> io::Result<()> {
        let mut shelves = HashMap::new();
        for content in contents {
            self.put(content, true, &mut shelves)?;
        }
        shelves.into_values().try_for_each(|shelf| shelf.flush())
    }

    /// For the history's diffs alone: a power cut may take them. The caller holds the lock.
    pub fn keep_for_show<'a>(&self, contents: impl Iterator<Item = &'a Content>) -> io::Result<()> {
        let mut shelves = HashMap::new();
        for content in contents {
            self.put(content, false, &mut shelves)?;
        }
        Ok(())
    }

    fn put(
        &self,
        content: &Content,
        flushed: bool,
        shelves: &mut HashMap<String, Arc<dyn Folder>>,
    ) -> io::Result<()> {
        let Some((shelf, name)) = content.sha256().split_at_checked(2) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let shelf = match shelves.get(shelf) {
            Some(open) => open.clone(),
            None => {
                let images = made(&self.data, FOLDER)?;
                let open = made(&images, shelf)?;
                shelves.insert(shelf.to_owned(), open.clone());
                open
            }
        };
        let name = OsStr::new(name);
        if let Ok(read) = shelf.read(name) {
            if read.bytes == content.bytes() && !flushed {
                return Ok(());
            }
            // Kept before, perhaps for show: it is written anew where it must be on the disk.
        }
        write_named(&shelf, name, content.bytes(), flushed)
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
    let mut temporary = std::ffi::OsString::from(".new-");
    temporary.push(name);
    if folder.look(&temporary)?.is_some() {
        // Of a process that died.
        folder.remove_file(&temporary)?;
    }
    let mut file = folder.create(&temporary, Access::Private)?;
    file.write(bytes)?;
    if flushed {
        file.flush()?;
    }
    drop(file);
    folder.replace(&temporary, name)
}
