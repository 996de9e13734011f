//! A folder whose n-th step fails, before or after its effect, once or for good (the process is dead).
//!
//! Reading counts too. Left out: which disk is below; it wraps any.

use super::{Access, Folder, NewFile, Read, Stands};
use chipdeck_replay::restore::Attributes;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing happened, and an error is told.
    Refused,
    /// It happened (of a write: half of it), and an error is told.
    HalfDone,
    /// The process died before it.
    DeadBefore,
    /// The process died in the middle of it (a write) or right after it.
    DeadAfter,
}

impl Fault {
    pub const ALL: [Fault; 4] = [
        Fault::Refused,
        Fault::HalfDone,
        Fault::DeadBefore,
        Fault::DeadAfter,
    ];

    pub fn is_death(self) -> bool {
        matches!(self, Fault::DeadBefore | Fault::DeadAfter)
    }
}

type Meanwhile = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Count {
    steps: usize,
    /// Which step fails, and how.
    fault: Option<(usize, Fault)>,
    dead: bool,
    /// What somebody else does right before a step.
    meanwhile: Option<(usize, Meanwhile)>,
    /// Names of the steps, for the message of a failed test.
    log: Vec<String>,
}

/// Counts the steps of all folders opened from one.
#[derive(Clone, Default)]
pub struct Faults {
    count: Arc<Mutex<Count>>,
}

impl Faults {
    pub fn at(step: usize, fault: Fault) -> Faults {
        let count = Count {
            fault: Some((step, fault)),
            ..Count::default()
        };
        Faults {
            count: Arc::new(Mutex::new(count)),
        }
    }

    /// Somebody else does this right before that step.
    pub fn meanwhile(&self, step: usize, what: impl FnOnce() + Send + 'static) {
        self.count.lock().unwrap().meanwhile = Some((step, Box::new(what)));
    }

    pub fn steps(&self) -> usize {
        self.count.lock().unwrap().steps
    }

    pub fn is_dead(&self) -> bool {
        self.count.lock().unwrap().dead
    }

    pub fn log(&self) -> Vec<String> {
        self.count.lock().unwrap().log.clone()
    }

    pub fn over(&self, inner: Arc<dyn Folder>) -> Arc<dyn Folder> {
        Arc::new(FaultyFolder {
            inner,
            faults: self.clone(),
        })
    }

    /// Runs one step; `half` is what is done of it when it breaks off in the middle.
    fn step<T>(
        &self,
        name: &str,
        half: impl FnOnce() -> io::Result<()>,
        whole: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let fault = {
            let mut count = self.count.lock().unwrap();
            if count.dead {
                return Err(io::Error::other("the process is dead"));
            }
            let step = count.steps;
            count.steps += 1;
            count.log.push(name.to_owned());
            if count.meanwhile.as_ref().is_some_and(|(at, _)| *at == step) {
                let what = count.meanwhile.take();
                what.into_iter().for_each(|(_, what)| what());
            }
            let fault = count
                .fault
                .filter(|(at, _)| *at == step)
                .map(|(_, fault)| fault);
            count.dead = fault.is_some_and(Fault::is_death);
            fault
        };
        match fault {
            None => whole(),
            Some(Fault::Refused | Fault::DeadBefore) => Err(io::Error::other("made to fail")),
            Some(Fault::HalfDone | Fault::DeadAfter) => {
                half()?;
                Err(io::Error::other("made to fail after it was done"))
            }
        }
    }

    /// A step that is done or not.
    fn whole<T>(&self, name: &str, step: impl Fn() -> io::Result<T>) -> io::Result<T> {
        self.step(name, || step().map(|_| ()), &step)
    }
}

struct FaultyFolder {
    inner: Arc<dyn Folder>,
    faults: Faults,
}

impl Folder for FaultyFolder {
    fn folder(&self, name: &OsStr) -> io::Result<Arc<dyn Folder>> {
        let inner = self.faults.whole("folder", || self.inner.folder(name))?;
        Ok(self.faults.over(inner))
    }

    fn look(&self, name: &OsStr) -> io::Result<Option<Stands>> {
        self.faults.whole("look", || self.inner.look(name))
    }

    fn read_link(&self, name: &OsStr) -> io::Result<PathBuf> {
        self.faults
            .whole("read_link", || self.inner.read_link(name))
    }

    fn read(&self, name: &OsStr) -> io::Result<Read> {
        self.faults.whole("read", || self.inner.read(name))
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        self.faults.whole("names", || self.inner.names())
    }

    fn weigh(&self, name: &OsStr) -> io::Result<(u64, i64)> {
        self.faults.whole("weigh", || self.inner.weigh(name))
    }

    fn create(&self, name: &OsStr, access: Access) -> io::Result<Box<dyn NewFile>> {
        let inner = self
            .faults
            .whole("create", || self.inner.create(name, access))?;
        Ok(Box::new(FaultyFile {
            inner,
            faults: self.faults.clone(),
        }))
    }

    fn make_folder(&self, name: &OsStr, access: Access) -> io::Result<()> {
        self.faults
            .whole("make_folder", || self.inner.make_folder(name, access))
    }

    fn replace(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.faults
            .whole("replace", || self.inner.replace(from, to))
    }

    fn name_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.faults
            .whole("name_new", || self.inner.name_new(from, to))
    }

    fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<()> {
        self.faults
            .whole("exchange", || self.inner.exchange(one, other))
    }

    fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        self.faults
            .whole("remove_file", || self.inner.remove_file(name))
    }

    fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        self.faults
            .whole("remove_folder", || self.inner.remove_folder(name))
    }

    fn flush(&self) -> io::Result<()> {
        self.faults.whole("flush", || self.inner.flush())
    }

    fn flush_file(&self, name: &OsStr) -> io::Result<()> {
        self.faults
            .whole("flush_file", || self.inner.flush_file(name))
    }

    fn flush_disk(&self) -> io::Result<()> {
        self.faults.whole("flush_disk", || self.inner.flush_disk())
    }

    fn disk(&self) -> Option<u64> {
        self.inner.disk()
    }

    fn append(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let half = || self.inner.append(name, &bytes[..bytes.len() / 2]);
        self.faults
            .step("append", half, || self.inner.append(name, bytes))
    }

    fn cut(&self, name: &OsStr, len: u64) -> io::Result<()> {
        self.faults.whole("cut", || self.inner.cut(name, len))
    }

    fn lock(&self, name: &OsStr, patience: Duration) -> io::Result<Box<dyn Send + Sync>> {
        self.faults
            .whole("lock", || self.inner.lock(name, patience))
    }
}

struct FaultyFile {
    inner: Box<dyn NewFile>,
    faults: Faults,
}

impl NewFile for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        // One closure at a time may hold the file: the half is written through a cell.
        let inner = std::cell::RefCell::new(&mut self.inner);
        let half = || inner.borrow_mut().write(&bytes[..bytes.len() / 2]);
        self.faults
            .step("write", half, || inner.borrow_mut().write(bytes))
    }

    fn dress(&mut self, attributes: &Attributes) -> io::Result<bool> {
        let inner = std::cell::RefCell::new(&mut self.inner);
        self.faults
            .whole("dress", || inner.borrow_mut().dress(attributes))
    }

    fn flush(&mut self) -> io::Result<()> {
        let inner = std::cell::RefCell::new(&mut self.inner);
        self.faults
            .whole("flush file", || inner.borrow_mut().flush())
    }
}
