//! An opened folder and the few single steps that a write is made of.
//!
//! Everything that a restore does to a disk goes through [`Folder`], one name at a time, never following a link:
//! so no path can lead out, whoever renames things meanwhile, and so each step can be made to fail in the
//! tests. Left out: paths of several names and following links (`target`), what is written and why.

mod real;

#[cfg(test)]
pub mod faulty;
#[cfg(test)]
pub mod memory;

pub use real::RealFolder;

use chipdeck_replay::restore::Attributes;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What stands under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    File,
    Folder,
    Link,
    /// A device, a socket, a pipe.
    Other,
}

/// A file as it was read through one handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub bytes: Vec<u8>,
    pub attributes: Attributes,
    /// Names that the file has.
    pub links: u64,
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As the process makes files (umask).
    Usual,
    /// 0600, or 0700 for a folder.
    Private,
}

/// A folder held open. Names are single names; links are never followed.
pub trait Folder: Send + Sync {
    /// Fails with `NotADirectory` on a file or a link.
    fn folder(&self, name: &OsStr) -> io::Result<Arc<dyn Folder>>;
    fn look(&self, name: &OsStr) -> io::Result<Option<Stands>>;
    fn read_link(&self, name: &OsStr) -> io::Result<PathBuf>;
    fn read(&self, name: &OsStr) -> io::Result<Read>;
    fn names(&self) -> io::Result<Vec<OsString>>;
    /// A file's size in bytes, and when it was last written in Unix milliseconds.
    fn weigh(&self, name: &OsStr) -> io::Result<(u64, i64)>;

    /// A new, empty file; fails with `AlreadyExists`.
    fn create(&self, name: &OsStr, access: Access) -> io::Result<Box<dyn NewFile>>;
    fn make_folder(&self, name: &OsStr, access: Access) -> io::Result<()>;
    /// Puts `from` in the place of `to`, at once, whether it is there or not.
    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()>;
    /// Gives `from` the free name `to`; fails with `AlreadyExists`.
    fn name_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()>;
    /// The two names change places at once, so that nothing is lost of what stood there. `Unsupported` where the system
    /// has no such thing; then nothing happened.
    fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()>;
    fn remove_file(&self, name: &OsStr) -> io::Result<()>;
    /// Fails on a folder that isn't empty.
    fn remove_folder(&self, name: &OsStr) -> io::Result<()>;
    /// The names are on the disk when this returns.
    fn flush(&self) -> io::Result<()>;

    /// A file's bytes are on the disk when this returns.
    fn flush_file(&self, name: &OsStr) -> io::Result<()>;
    /// The bytes of all files of this folder's file system are, which is far quicker than file by file where there are
    /// many. `Unsupported` where the system has no such thing.
    fn flush_disk(&self) -> io::Result<()>;
    /// Which file system the folder is on; `None` where [`Folder::flush_disk`] is of no use.
    fn disk(&self) -> Option<u64>;

    /// Adds to the end of a file (made private where it is missing) and flushes it.
    fn append(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a file to `len` bytes and flushes it.
    fn cut(&self, name: &OsStr, len: u64) -> io::Result<()>;
    /// An exclusive lock between processes, held until dropped; `WouldBlock` after `patience`.
    fn lock(&self, name: &OsStr, patience: Duration) -> io::Result<Box<dyn Send + Sync>>;
}

/// A file that has no name yet that anyone looks at.
pub trait NewFile: Send {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Sets what it can; false where the system refused a part (owner, extended attributes).
    fn dress(&mut self, attributes: &Attributes) -> io::Result<bool>;
    fn flush(&mut self) -> io::Result<()>;
}
