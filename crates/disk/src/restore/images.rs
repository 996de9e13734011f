//! Kept copies of files, by their hash: `images/<first two hex>/<rest>` in our data folder.
//!
//! Left out: how long they are kept (for good: they are what makes an undo possible).

use crate::folder::{Access, Folder};
use chipdeck_replay::restore::{sha256_hex, Content};
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
    pub fn keep(&self, content: &Content) -> io::Result<()> {
        let Some((shelf, name)) = content.sha256().split_at_checked(2) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let images = made(&self.data, FOLDER)?;
        let shelf = made(&images, shelf)?;
        let name = OsStr::new(name);
        if let Ok(read) = shelf.read(name) {
            if read.bytes == content.bytes() {
                return Ok(());
            }
        }
        write_at_once(&shelf, name, content.bytes())
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
    let mut temporary = std::ffi::OsString::from(".new-");
    temporary.push(name);
    if folder.look(&temporary)?.is_some() {
        // Of a process that died.
        folder.remove_file(&temporary)?;
    }
    let mut file = folder.create(&temporary, Access::Private)?;
    file.write(bytes)?;
    file.flush()?;
    drop(file);
    folder.replace(&temporary, name)?;
    folder.flush()
}
