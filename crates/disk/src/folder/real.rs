//! Folders of the real disk: `cap-std` handles, so that each step starts from an open folder, not from a path.

use super::{Access, Folder, NewFile, Read, Stands};
use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, File, OpenOptions};
use chipdeck_replay::restore::Attributes;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A larger file is not replaced: its copy for the undo would be as large.
const MOST_BYTES: u64 = 1 << 30;

pub struct RealFolder {
    dir: Dir,
}

impl RealFolder {
    /// Opens a folder by its path; links in `path` are followed here, and only here.
    pub fn open(path: &Path) -> io::Result<RealFolder> {
        Dir::open_ambient_dir(path, ambient_authority()).map(|dir| RealFolder { dir })
    }

    /// Never waits for whoever is at the other end of a pipe.
    fn file(&self, name: &OsStr, options: &mut OpenOptions) -> io::Result<File> {
        dont_wait(options);
        let file = self
            .dir
            .open_with(name, options.follow(FollowSymlinks::No))?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("it is no regular file")),
        }
    }
}

impl Folder for RealFolder {
    fn folder(&self, name: &OsStr) -> io::Result<Arc<dyn Folder>> {
        let dir = self.dir.open_dir_nofollow(name)?;
        Ok(Arc::new(RealFolder { dir }))
    }

    fn look(&self, name: &OsStr) -> io::Result<Option<Stands>> {
        let kind = match self.dir.symlink_metadata(name) {
            Ok(found) => found.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(if kind.is_file() {
            Stands::File
        } else if kind.is_dir() {
            Stands::Folder
        } else if kind.is_symlink() {
            Stands::Link
        } else {
            Stands::Other
        }))
    }

    fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        self.dir.read_link_contents(name)
    }

    fn read(&self, name: &OsStr) -> io::Result<Read> {
        let mut file = self.file(name, OpenOptions::new().read(true))?.into_std();
        let found = file.metadata()?;
        let large = || io::Error::other("larger than 1 GiB");
        if found.len() > MOST_BYTES {
            return Err(large());
        }
        let mut bytes = Vec::new();
        (&mut file).take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(large());
        }
        Ok(Read {
            bytes,
            attributes: attributes(&file, &found),
            links: links(&found),
        })
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in self.dir.entries()? {
            names.push(entry?.file_name());
        }
        names.sort();
        Ok(names)
    }

    fn weigh(&self, name: &OsStr) -> io::Result<(u64, i64)> {
        let found = self.dir.symlink_metadata(name)?;
        let written = found.modified()?.into_std();
        let since = written
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Ok((
            found.len(),
            i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        ))
    }

    fn create(&self, name: &OsStr, access: Access) -> io::Result<Box<dyn NewFile>> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        private_file(&mut options, access);
        let file = self.file(name, &mut options)?.into_std();
        Ok(Box::new(RealFile { file }))
    }

    fn make_folder(&self, name: &OsStr, access: Access) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        private_folder(&mut builder, access);
        self.dir.create_dir_with(name, &builder)
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.dir.rename(from, &self.dir, to)
    }

    fn name_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        match rename_to_free(&self.dir, from, to) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            done => return done,
        }
        match self.dir.hard_link(from, &self.dir, to) {
            Ok(()) => self.dir.remove_file(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // A file system without hard links.
            Err(_) => match self.look(to)? {
                Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
                None => self.dir.rename(from, &self.dir, to),
            },
        }
    }

    fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()> {
        exchange(&self.dir, one, other)
    }

    fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        self.dir.remove_file(name)
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        self.dir.remove_dir(name)
    }

    fn flush(&self) -> io::Result<()> {
        flush_folder(&self.dir)
    }

    fn flush_file(&self, name: &OsStr) -> io::Result<()> {
        let file = self.file(name, OpenOptions::new().read(true))?.into_std();
        file.sync_all()
    }

    fn flush_disk(&self) -> io::Result<()> {
        flush_disk(&self.dir)
    }

    fn disk(&self) -> Option<u64> {
        disk(&self.dir)
    }

    fn append(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        private_file(&mut options, Access::Private);
        let mut file = self.file(name, &mut options)?.into_std();
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn cut(&self, name: &OsStr, len: u64) -> io::Result<()> {
        let file = self.file(name, OpenOptions::new().write(true))?.into_std();
        file.set_len(len)?;
        file.sync_all()
    }

    fn lock(&self, name: &OsStr, patience: Duration) -> io::Result<Box<dyn Send + Sync>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        private_file(&mut options, Access::Private);
        let file = self.file(name, &mut options)?.into_std();
        let started = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Box::new(file)),
                Err(std::fs::TryLockError::Error(error)) => return Err(error),
                Err(std::fs::TryLockError::WouldBlock) if started.elapsed() >= patience => {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                Err(std::fs::TryLockError::WouldBlock) => {
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
    }
}

struct RealFile {
    file: std::fs::File,
}

impl NewFile for RealFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn dress(&mut self, attributes: &Attributes) -> io::Result<bool> {
        dress(&self.file, attributes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }
}

#[cfg(unix)]
mod system {
    use super::*;
    use cap_std::fs::{DirBuilderExt, OpenOptionsExt};
    use std::collections::BTreeMap;
    use std::os::unix::fs::{fchown, MetadataExt, PermissionsExt};
    use xattr::FileExt;

    pub fn dont_wait(options: &mut OpenOptions) {
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }

    pub fn private_file(options: &mut OpenOptions, access: Access) {
        if access == Access::Private {
            options.mode(0o600);
        }
    }

    pub fn private_folder(builder: &mut DirBuilder, access: Access) {
        if access == Access::Private {
            builder.mode(0o700);
        }
    }

    pub fn attributes(file: &std::fs::File, found: &std::fs::Metadata) -> Attributes {
        let mut extended = BTreeMap::new();
        for name in file.list_xattr().into_iter().flatten() {
            // A name that is no UTF-8 cannot be kept in the journal; none is known in the wild.
            if let (Some(text), Ok(Some(value))) = (name.to_str(), file.get_xattr(&name)) {
                extended.insert(text.to_owned(), crate::hex::encode(&value));
            }
        }
        Attributes {
            mode: Some(found.mode() & 0o7777),
            owner: Some((found.uid(), found.gid())),
            extended,
        }
    }

    pub fn links(found: &std::fs::Metadata) -> u64 {
        found.nlink()
    }

    pub fn dress(file: &std::fs::File, wanted: &Attributes) -> io::Result<bool> {
        let found = file.metadata()?;
        let mut all = true;
        let mut owned = true;
        if let Some((user, group)) = wanted.owner {
            if (found.uid(), found.gid()) != (user, group) {
                // The group alone may be ours to give where the user isn't.
                owned = fchown(file, Some(user), Some(group)).is_ok();
                if !owned && found.gid() != group {
                    let _ = fchown(file, None, Some(group));
                }
                all &= owned;
            }
        }
        for (name, value) in &wanted.extended {
            let value = crate::hex::decode(value).unwrap_or_default();
            let same = matches!(file.get_xattr(name), Ok(Some(now)) if now == value);
            all &= same || file.set_xattr(name, &value).is_ok();
        }
        if let Some(mode) = wanted.mode {
            // A file that changed hands doesn't keep the right to run as its owner.
            let mode = if owned { mode } else { mode & 0o777 };
            file.set_permissions(std::fs::Permissions::from_mode(mode))?;
        }
        Ok(all)
    }

    pub fn flush_folder(dir: &Dir) -> io::Result<()> {
        // The handle may be one that only names the folder: it is opened again for reading.
        dir.open(".")?.into_std().sync_all()
    }
}

/// Calls that only Linux has.
#[cfg(target_os = "linux")]
mod names {
    use super::*;
    use rustix::fs::{renameat_with, syncfs, RenameFlags};
    use rustix::io::Errno;
    use std::os::unix::fs::MetadataExt as _;

    fn rename(dir: &Dir, from: &OsStr, to: &OsStr, how: RenameFlags) -> io::Result<()> {
        match renameat_with(dir, from, dir, to, how) {
            // An older kernel, or a file system that can't.
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                Err(io::ErrorKind::Unsupported.into())
            }
            done => Ok(done?),
        }
    }

    pub fn exchange(dir: &Dir, one: &OsStr, other: &OsStr) -> io::Result<()> {
        rename(dir, one, other, RenameFlags::EXCHANGE)
    }

    pub fn rename_to_free(dir: &Dir, from: &OsStr, to: &OsStr) -> io::Result<()> {
        rename(dir, from, to, RenameFlags::NOREPLACE)
    }

    pub fn flush_disk(dir: &Dir) -> io::Result<()> {
        Ok(syncfs(dir.open(".")?)?)
    }

    pub fn disk(dir: &Dir) -> Option<u64> {
        let own = dir.try_clone().ok()?.into_std_file();
        own.metadata().ok().map(|found| found.dev())
    }
}

#[cfg(not(target_os = "linux"))]
mod names {
    use super::*;

    pub fn exchange(_: &Dir, _: &OsStr, _: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn rename_to_free(_: &Dir, _: &OsStr, _: &OsStr) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn flush_disk(_: &Dir) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn disk(_: &Dir) -> Option<u64> {
        None
    }
}

#[cfg(not(unix))]
mod system {
    use super::*;

    pub fn dont_wait(_: &mut OpenOptions) {}

    pub fn private_file(_: &mut OpenOptions, _: Access) {}

    pub fn private_folder(_: &mut DirBuilder, _: Access) {}

    pub fn attributes(_: &std::fs::File, _: &std::fs::Metadata) -> Attributes {
        Attributes::default()
    }

    pub fn links(_: &std::fs::Metadata) -> u64 {
        1
    }

    pub fn dress(_: &std::fs::File, _: &Attributes) -> io::Result<bool> {
        Ok(true)
    }

    /// These systems write names with the file.
    pub fn flush_folder(_: &Dir) -> io::Result<()> {
        Ok(())
    }
}

use names::{disk, exchange, flush_disk, rename_to_free};
use system::{attributes, dont_wait, dress, flush_folder, links, private_file, private_folder};
