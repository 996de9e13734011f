//! Single files onto the disk: a new one is written whole beside its place, and takes the place at once.
//!
//! What it replaces is never thrown away unseen: the two change places, and only if what came out is what was counted
//! on does it go; else they change back. Left out: which files and in which order (`apply`, `settle`).

use super::images::Images;
use super::root::Root;
use super::target::Target;
use crate::folder::{Access, Folder, Stands};
use chipdeck_replay::restore::{sha256_hex, Attributes, Content};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::Arc;

/// From so many files on, the bytes of all are flushed in one go.
pub(super) const MANY: usize = 16;

/// A file that was written, in its folder.
type Written = (Arc<dyn Folder>, OsString);

/// What has to be flushed. A file's bytes are on the disk before it gets its name. Which names are, matters only when the
/// intent goes, so a folder is flushed once for all its files.
pub(super) struct Flushes {
    together: bool,
    /// By file system.
    written: BTreeMap<u64, Vec<Written>>,
    names: HashMap<String, Arc<dyn Folder>>,
}

impl Flushes {
    /// For so many files; `many` as [`MANY`].
    pub fn new(files: usize, many: usize) -> Flushes {
        Flushes {
            together: files >= many,
            written: BTreeMap::new(),
            names: HashMap::new(),
        }
    }

    /// The names of this folder have changed.
    pub fn add(&mut self, path: &[String], folder: &Arc<dyn Folder>) {
        self.names
            .entry(path.join("/"))
            .or_insert_with(|| folder.clone());
    }

    /// A folder that is gone has nothing to flush; the one it was in has.
    fn gone(&mut self, path: &str, parent: &Arc<dyn Folder>) {
        self.names.remove(path);
        let above: Vec<String> = path.split('/').map(str::to_owned).collect();
        self.add(above.split_last().map_or(&[], |(_, above)| above), parent);
    }

    /// The bytes of every file written so far.
    pub fn files(&mut self) -> io::Result<()> {
        for files in std::mem::take(&mut self.written).into_values() {
            let together = files.first().map(|(folder, _)| folder.flush_disk());
            if !matches!(together, Some(Ok(()))) {
                for (folder, name) in files {
                    folder.flush_file(&name)?;
                }
            }
        }
        Ok(())
    }

    pub fn names(self) -> io::Result<()> {
        self.names.into_values().try_for_each(|it| it.flush())
    }
}

/// A whole file under a name that nobody looks at; flushed, or noted to be. False: not all attributes could be kept.
pub(super) fn write_temporary(
    folder: &Arc<dyn Folder>,
    content: &Content,
    dress: Option<&Attributes>,
    temporary: &OsStr,
    flushes: &mut Flushes,
) -> io::Result<bool> {
    let access = match dress {
        Some(_) => Access::Private,
        None => Access::Usual,
    };
    let mut file = folder.create(temporary, access)?;
    file.write(content.bytes())?;
    let dressed = match dress {
        Some(attributes) => file.dress(attributes)?,
        None => true,
    };
    match folder.disk().filter(|_| flushes.together) {
        None => file.flush()?,
        Some(disk) => {
            let files = flushes.written.entry(disk).or_default();
            files.push((folder.clone(), temporary.to_owned()));
        }
    }
    Ok(dressed)
}

/// What came of a change of names.
pub(super) enum Done {
    Yes,
    /// What was there was not what was counted on: it is there as it was. Its hash; `None`: no file.
    Moved(Option<String>),
}

/// The temporary file takes the place of what has the hash `expected`, which is then the temporary file (or is gone,
/// where the system can't change two names at once); `None`: of nothing.
pub(super) fn take_place(
    folder: &Arc<dyn Folder>,
    temporary: &OsStr,
    name: &OsStr,
    expected: Option<&str>,
) -> io::Result<Done> {
    let Some(expected) = expected else {
        return match folder.name_new(temporary, name) {
            // Somebody made the file meanwhile: it is theirs.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Ok(Done::Moved(hash(folder, name).ok().flatten()))
            }
            done => done.map(|()| Done::Yes),
        };
    };
    match folder.exchange(temporary, name) {
        Ok(()) => match hash(folder, temporary) {
            Ok(Some(found)) if found == expected => Ok(Done::Yes),
            found => {
                folder.exchange(temporary, name)?;
                found.map(Done::Moved)
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Done::Moved(None)),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            match hash(folder, name)? {
                Some(found) if found == expected => folder.replace(temporary, name)?,
                found => return Ok(Done::Moved(found)),
            }
            Ok(Done::Yes)
        }
        Err(error) => Err(error),
    }
}

/// A file with this hash goes: under the temporary name first, so that another that has come meanwhile is not lost.
pub(super) fn take_away(
    folder: &Arc<dyn Folder>,
    temporary: &OsStr,
    name: &OsStr,
    expected: Option<&str>,
) -> io::Result<Done> {
    match folder.name_new(name, temporary) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Done::Moved(None)),
        done => done?,
    }
    match hash(folder, temporary) {
        Ok(Some(found)) if Some(found.as_str()) == expected => {
            folder.remove_file(temporary)?;
            Ok(Done::Yes)
        }
        found => {
            folder.name_new(temporary, name)?;
            found.map(Done::Moved)
        }
    }
}

/// `None`: there is no file of that name (nothing, a folder, a link, a pipe).
pub(super) fn hash(folder: &Arc<dyn Folder>, name: &OsStr) -> io::Result<Option<String>> {
    match folder.look(name)? {
        Some(Stands::File) => Ok(Some(sha256_hex(&folder.read(name)?.bytes))),
        _ => Ok(None),
    }
}

/// Removes a temporary file of ours, where it is; true: it was there. `spare`: it may be what somebody else has written meanwhile (it is
/// none of the `known` hashes); then it stays unless a copy can be kept.
pub(super) fn sweep(
    folder: &Arc<dyn Folder>,
    temporary: &OsStr,
    spare: Option<(&Images, [Option<&str>; 2])>,
) -> io::Result<bool> {
    match folder.look(temporary)? {
        None | Some(Stands::Folder | Stands::Other) => return Ok(false),
        Some(Stands::Link) => {}
        Some(Stands::File) => {
            if let Some((images, known)) = spare {
                let content = Content::new(folder.read(temporary)?.bytes);
                let ours = known.contains(&Some(content.sha256()));
                if !ours && images.keep([&content].into_iter(), MANY).is_err() {
                    return Ok(false);
                }
            }
        }
    }
    folder.remove_file(temporary)?;
    Ok(true)
}

/// The file's folder, with those that are missing on the way to it.
pub(super) fn make_folders(target: &Target, flushes: &mut Flushes) -> io::Result<Arc<dyn Folder>> {
    let mut folder = target.folder.clone();
    let mut path = target.parents.clone();
    for name in &target.missing {
        folder.make_folder(OsStr::new(name), Access::Usual)?;
        flushes.add(&path, &folder);
        folder = folder.folder(OsStr::new(name))?;
        path.push(name.clone());
    }
    flushes.add(&path, &folder);
    Ok(folder)
}

/// Removes those of the folders that are empty, deepest first; what can't be removed stays.
pub(super) fn prune(root: &Root, folders: &[String], flushes: &mut Flushes) {
    for path in folders {
        if let Ok((parent, name)) = parent_of(root, path) {
            if parent.remove_folder(OsStr::new(name)).is_ok() {
                flushes.gone(path, &parent);
            }
        }
    }
}

/// Removes all of the folders, deepest first.
pub(super) fn clear(root: &Root, folders: &[String], flushes: &mut Flushes) -> io::Result<()> {
    for path in folders {
        let (parent, name) = parent_of(root, path)?;
        parent.remove_folder(OsStr::new(name))?;
        flushes.gone(path, &parent);
    }
    Ok(())
}

/// The folder that a folder below the root is in, and its name there. Follows no link.
fn parent_of<'a>(root: &Root, path: &'a str) -> io::Result<(Arc<dyn Folder>, &'a str)> {
    let (above, name) = match path.rsplit_once('/') {
        Some((above, name)) => (Some(above), name),
        None => (None, path),
    };
    let mut folder = root.folder.clone();
    for name in above.into_iter().flat_map(|above| above.split('/')) {
        folder = folder.folder(OsStr::new(name))?;
    }
    Ok((folder, name))
}
