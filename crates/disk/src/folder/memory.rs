//! A disk in memory for the selftest: it knows what was flushed, so that a power cut can be tried.

use super::{Access, Folder, NewFile, Read, Stands};
use chipdeck_replay::restore::Attributes;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

type Names = BTreeMap<OsString, usize>;

#[derive(Clone)]
enum Node {
    File {
        bytes: Vec<u8>,
        /// What a power cut leaves.
        flushed: Vec<u8>,
        attributes: Attributes,
    },
    Folder {
        names: Names,
        flushed: Names,
    },
    Link(PathBuf),
}

#[derive(Default)]
pub struct Disk {
    nodes: Vec<Node>,
    locked: bool,
}

/// What a power cut does to names that were not flushed. Bytes that were not flushed are always lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerCut {
    /// The old names stand.
    NamesLost,
    /// The new names stand.
    NamesKept,
    /// Each folder on its own, by the bits of a number.
    Some(u64),
}

#[derive(Clone)]
pub struct MemoryFolder {
    disk: Arc<Mutex<Disk>>,
    node: usize,
}

fn error<T>(kind: ErrorKind) -> io::Result<T> {
    Err(kind.into())
}

impl MemoryFolder {
    pub fn empty() -> MemoryFolder {
        let folder = Node::Folder {
            names: Names::new(),
            flushed: Names::new(),
        };
        let disk = Disk {
            nodes: vec![folder],
            locked: false,
        };
        MemoryFolder {
            disk: Arc::new(Mutex::new(disk)),
            node: 0,
        }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap()
    }

    /// Everything down there is flushed.
    pub fn flush_all(&self) {
        for node in &mut self.disk().nodes {
            match node {
                Node::File { bytes, flushed, .. } => flushed.clone_from(bytes),
                Node::Folder { names, flushed } => flushed.clone_from(names),
                Node::Link(_) => {}
            }
        }
    }

    /// The process that held the lock has died.
    pub fn unlock(&self) {
        self.disk().locked = false;
    }

    pub fn cut_power(&self, cut: PowerCut) {
        let mut disk = self.disk();
        disk.locked = false;
        for (n, node) in disk.nodes.iter_mut().enumerate() {
            match node {
                Node::File { bytes, flushed, .. } => bytes.clone_from(flushed),
                Node::Folder { names, flushed } => {
                    let kept = match cut {
                        PowerCut::NamesLost => false,
                        PowerCut::NamesKept => true,
                        PowerCut::Some(bits) => bits >> (n % 64) & 1 == 1,
                    };
                    if kept {
                        flushed.clone_from(names);
                    } else {
                        names.clone_from(flushed);
                    }
                }
                Node::Link(_) => {}
            }
        }
    }

    /// A file for the set-up of a test; folders on the way are made.
    pub fn put(&self, path: &str, bytes: &[u8], mode: u32) {
        let attributes = Attributes {
            mode: Some(mode),
            owner: Some((7, 8)),
            extended: BTreeMap::from([("user.a".to_owned(), "00ff".to_owned())]),
        };
        self.place(
            path,
            Node::File {
                bytes: bytes.to_vec(),
                flushed: Vec::new(),
                attributes,
            },
        );
    }

    pub fn put_link(&self, path: &str, target: &str) {
        self.place(path, Node::Link(target.into()));
    }

    fn place(&self, path: &str, node: Node) {
        let mut at = self.clone();
        let (folders, name) = path
            .rsplit_once('/')
            .map_or((None, path), |(f, n)| (Some(f), n));
        for folder in folders.into_iter().flat_map(|f| f.split('/')) {
            let _ = at.make_folder(OsStr::new(folder), Access::Usual);
            at = at.child(OsStr::new(folder)).unwrap();
        }
        let mut disk = at.disk();
        disk.nodes.push(node);
        let new = disk.nodes.len() - 1;
        at.names_mut(&mut disk).insert(name.into(), new);
    }

    /// Every file with its bytes and mode, for comparing.
    pub fn everything(&self) -> BTreeMap<String, (Vec<u8>, Option<u32>)> {
        let mut all = BTreeMap::new();
        let disk = self.disk();
        let mut todo = vec![(String::new(), self.node)];
        while let Some((path, node)) = todo.pop() {
            match &disk.nodes[node] {
                Node::File {
                    bytes, attributes, ..
                } => {
                    all.insert(path, (bytes.clone(), attributes.mode));
                }
                Node::Link(target) => {
                    all.insert(
                        path,
                        (format!("-> {}", target.display()).into_bytes(), None),
                    );
                }
                Node::Folder { names, .. } => {
                    all.insert(format!("{path}/"), (Vec::new(), None));
                    todo.extend(
                        names
                            .iter()
                            .map(|(n, id)| (format!("{path}/{}", n.to_str().unwrap()), *id)),
                    );
                }
            }
        }
        all
    }

    fn child(&self, name: &OsStr) -> io::Result<MemoryFolder> {
        let disk = self.disk();
        let node = *self.names(&disk).get(name).ok_or(ErrorKind::NotFound)?;
        match disk.nodes[node] {
            Node::Folder { .. } => Ok(MemoryFolder {
                disk: self.disk.clone(),
                node,
            }),
            _ => error(ErrorKind::NotADirectory),
        }
    }

    fn names<'a>(&self, disk: &'a Disk) -> &'a Names {
        match &disk.nodes[self.node] {
            Node::Folder { names, .. } => names,
            _ => unreachable!(),
        }
    }

    fn names_mut<'a>(&self, disk: &'a mut Disk) -> &'a mut Names {
        match &mut disk.nodes[self.node] {
            Node::Folder { names, .. } => names,
            _ => unreachable!(),
        }
    }

    fn add(&self, name: &OsStr, node: Node) -> io::Result<usize> {
        let mut disk = self.disk();
        if self.names(&disk).contains_key(name) {
            return error(ErrorKind::AlreadyExists);
        }
        disk.nodes.push(node);
        let new = disk.nodes.len() - 1;
        self.names_mut(&mut disk).insert(name.into(), new);
        Ok(new)
    }

    fn new_file(&self, name: &OsStr, access: Access) -> io::Result<MemoryFile> {
        let mode = match access {
            Access::Usual => 0o644,
            Access::Private => 0o600,
        };
        let attributes = Attributes {
            mode: Some(mode),
            owner: Some((1, 1)),
            extended: BTreeMap::new(),
        };
        let node = self.add(
            name,
            Node::File {
                bytes: Vec::new(),
                flushed: Vec::new(),
                attributes,
            },
        )?;
        Ok(MemoryFile {
            disk: self.disk.clone(),
            node,
        })
    }

    fn file(&self, name: &OsStr) -> io::Result<MemoryFile> {
        let disk = self.disk();
        let node = *self.names(&disk).get(name).ok_or(ErrorKind::NotFound)?;
        match disk.nodes[node] {
            Node::File { .. } => Ok(MemoryFile {
                disk: self.disk.clone(),
                node,
            }),
            Node::Folder { .. } => error(ErrorKind::IsADirectory),
            Node::Link(_) => error(ErrorKind::InvalidInput),
        }
    }
}

impl Folder for MemoryFolder {
    fn folder(&self, name: &OsStr) -> io::Result<Arc<dyn Folder>> {
        Ok(Arc::new(self.child(name)?))
    }

    fn look(&self, name: &OsStr) -> io::Result<Option<Stands>> {
        let disk = self.disk();
        Ok(self
            .names(&disk)
            .get(name)
            .map(|node| match disk.nodes[*node] {
                Node::File { .. } => Stands::File,
                Node::Folder { .. } => Stands::Folder,
                Node::Link(_) => Stands::Link,
            }))
    }

    fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        let disk = self.disk();
        match self.names(&disk).get(name).map(|node| &disk.nodes[*node]) {
            Some(Node::Link(target)) => Ok(target.clone()),
            _ => error(ErrorKind::InvalidInput),
        }
    }

    fn read(&self, name: &OsStr) -> io::Result<Read> {
        let file = self.file(name)?;
        let disk = self.disk();
        match &disk.nodes[file.node] {
            Node::File {
                bytes, attributes, ..
            } => Ok(Read {
                bytes: bytes.clone(),
                attributes: attributes.clone(),
                links: 1,
            }),
            _ => unreachable!(),
        }
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let disk = self.disk();
        Ok(MemoryFolder::names(self, &disk).keys().cloned().collect())
    }

    fn weigh(&self, name: &OsStr) -> io::Result<(u64, i64)> {
        Ok((self.read(name)?.bytes.len() as u64, 0))
    }

    fn create(&self, name: &OsStr, access: Access) -> io::Result<Box<dyn NewFile>> {
        Ok(Box::new(self.new_file(name, access)?))
    }

    fn make_folder(&self, name: &OsStr, _: Access) -> io::Result<()> {
        self.add(
            name,
            Node::Folder {
                names: Names::new(),
                flushed: Names::new(),
            },
        )
        .map(|_| ())
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let mut disk = self.disk();
        let names = self.names_mut(&mut disk);
        let node = names.remove(from).ok_or(ErrorKind::NotFound)?;
        names.insert(to.into(), node);
        Ok(())
    }

    fn name_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let mut disk = self.disk();
        let names = self.names_mut(&mut disk);
        if names.contains_key(to) {
            return error(ErrorKind::AlreadyExists);
        }
        let node = names.remove(from).ok_or(ErrorKind::NotFound)?;
        names.insert(to.into(), node);
        Ok(())
    }

    fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()> {
        let mut disk = self.disk();
        let names = self.names_mut(&mut disk);
        let node = |name| names.get(name).copied().ok_or(ErrorKind::NotFound);
        let (first, second) = (node(one)?, node(other)?);
        names.insert(one.into(), second);
        names.insert(other.into(), first);
        Ok(())
    }

    fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        self.file(name)?;
        let mut disk = self.disk();
        self.names_mut(&mut disk).remove(name);
        Ok(())
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        let child = self.child(name)?;
        let mut disk = self.disk();
        if !child.names(&disk).is_empty() {
            return error(ErrorKind::DirectoryNotEmpty);
        }
        self.names_mut(&mut disk).remove(name);
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        match &mut self.disk().nodes[self.node] {
            Node::Folder { names, flushed } => flushed.clone_from(names),
            _ => unreachable!(),
        }
        Ok(())
    }

    fn flush_file(&self, name: &OsStr) -> io::Result<()> {
        self.file(name)?.flush()
    }

    /// Bytes alone: that names are flushed too is not counted on.
    fn flush_disk(&self) -> io::Result<()> {
        for node in &mut self.disk().nodes {
            if let Node::File { bytes, flushed, .. } = node {
                flushed.clone_from(bytes);
            }
        }
        Ok(())
    }

    fn disk(&self) -> Option<u64> {
        Some(1)
    }

    fn append(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let mut file = match self.file(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.new_file(name, Access::Private)?
            }
            file => file?,
        };
        file.write(bytes)?;
        file.flush()
    }

    fn cut(&self, name: &OsStr, len: u64) -> io::Result<()> {
        let file = self.file(name)?;
        match &mut self.disk().nodes[file.node] {
            Node::File { bytes, flushed, .. } => {
                bytes.truncate(len as usize);
                flushed.clone_from(bytes);
            }
            _ => unreachable!(),
        }
        Ok(())
    }

    fn lock(&self, _: &OsStr, _: Duration) -> io::Result<Box<dyn Send + Sync>> {
        let mut disk = self.disk();
        if disk.locked {
            return error(ErrorKind::WouldBlock);
        }
        disk.locked = true;
        Ok(Box::new(MemoryLock(self.disk.clone())))
    }
}

struct MemoryLock(Arc<Mutex<Disk>>);

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.0.lock().unwrap().locked = false;
    }
}

struct MemoryFile {
    disk: Arc<Mutex<Disk>>,
    node: usize,
}

impl NewFile for MemoryFile {
    fn write(&mut self, more: &[u8]) -> io::Result<()> {
        match &mut self.disk.lock().unwrap().nodes[self.node] {
            Node::File { bytes, .. } => bytes.extend_from_slice(more),
            _ => unreachable!(),
        }
        Ok(())
    }

    fn dress(&mut self, wanted: &Attributes) -> io::Result<bool> {
        match &mut self.disk.lock().unwrap().nodes[self.node] {
            Node::File { attributes, .. } => attributes.clone_from(wanted),
            _ => unreachable!(),
        }
        Ok(true)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.disk.lock().unwrap().nodes[self.node] {
            Node::File { bytes, flushed, .. } => flushed.clone_from(bytes),
            _ => unreachable!(),
        }
        Ok(())
    }
}
