//! Unpacking a compressed log while what is there of it is read already: told by compressed bytes, stopped on demand.
//!
//! Left out: the formats (see [`super::unpack`]).

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::unpack::{packing, scratch, unpack_into, Packing};

/// Bytes that tell what is in a file.
const HEAD: u64 = 64 << 10;

/// A compressed file that is being unpacked. Dropped, it stops.
pub struct Unpacking(Arc<Behind>);

#[derive(Default)]
struct Behind {
    /// Bytes of the compressed file that were read.
    read: AtomicU64,
    total: u64,
    over: AtomicBool,
    stop: AtomicBool,
    failed: Mutex<Option<String>>,
}

impl Unpacking {
    /// Compressed bytes that were read, and all; `None` when it is over.
    pub fn progress(&self) -> Option<(u64, u64)> {
        let over = self.0.over.load(Ordering::SeqCst);
        let read = self.0.read.load(Ordering::SeqCst).min(self.0.total);
        (!over).then_some((read, self.0.total))
    }

    /// Why it stopped before the end.
    pub fn failed(&self) -> Option<String> {
        let failed = self.0.failed.lock();
        failed.unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::SeqCst);
    }
}

impl Drop for Unpacking {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Counts what is read of a compressed file, until it is told to stop.
struct Counted<'a> {
    file: &'a File,
    behind: &'a Behind,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.behind.stop.load(Ordering::SeqCst) {
            return Err(io::Error::other("stopped"));
        }
        let mut file = self.file;
        let read = file.read(buffer)?;
        self.behind.read.fetch_add(read as u64, Ordering::SeqCst);
        Ok(read)
    }
}

/// The unpacked bytes of a `.zst` or `.gz`, in a file that grows until [`Unpacking::progress`] is `None`; `None` for
/// any other file. Waits for the first bytes, which tell what is in it.
///
/// # Errors
/// Those of the system, and `InvalidData` where nothing can be unpacked.
pub fn unpack_behind(file: &mut File) -> io::Result<Option<(File, Unpacking)>> {
    let packing = packing(file)?;
    if matches!(packing, Packing::None | Packing::Kept) {
        return Ok(None);
    }
    let out = scratch()?;
    let mut filled = out.try_clone()?;
    let plain = file.try_clone()?;
    let behind = Arc::new(Behind {
        total: file.metadata()?.len(),
        ..Behind::default()
    });
    let unpacking = Unpacking(behind.clone());
    let work = move || {
        let counted = Counted {
            file: &plain,
            behind: &behind,
        };
        let counted = io::BufReader::with_capacity(256 << 10, counted);
        if let Err(error) = unpack_into(&packing, counted, &mut filled) {
            let mut failed = behind.failed.lock().unwrap_or_else(PoisonError::into_inner);
            *failed = Some(error.to_string());
        }
        behind.over.store(true, Ordering::SeqCst);
    };
    std::thread::Builder::new()
        .name("unpacking".to_owned())
        .spawn(work)?;
    while unpacking.progress().is_some() && out.metadata()?.len() < HEAD {
        std::thread::sleep(Duration::from_millis(1));
    }
    match unpacking.failed() {
        Some(failed) if out.metadata()?.len() == 0 => {
            Err(io::Error::new(io::ErrorKind::InvalidData, failed))
        }
        _ => Ok(Some((out, unpacking))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom, Write};

    fn packed(text: &str, times: usize) -> File {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        holding(&encoder.finish().unwrap().repeat(times))
    }

    fn holding(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file
    }

    #[test]
    fn it_goes_on_behind() {
        let text = "{\"type\":\"x\"}\n".repeat(500_000);
        let mut file = packed(&text, 2);
        let len = file.metadata().unwrap().len();
        let (out, unpacking) = unpack_behind(&mut file).unwrap().unwrap();
        let mut last = 0;
        while let Some((read, total)) = unpacking.progress() {
            assert!(last <= read && read <= total && total == len);
            last = read;
        }
        assert_eq!(out.metadata().unwrap().len(), 2 * text.len() as u64);
        assert_eq!(unpacking.failed(), None);
        assert!(unpack_behind(&mut holding(&[0x1f, 0x8b, 0xff, 0xff, 0xff])).is_err());
        assert!(unpack_behind(&mut holding(b"{}\n")).unwrap().is_none());
    }

    #[test]
    fn it_can_be_stopped() {
        let mut random = 88_172_645_463_325_252u64;
        let mut letter = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            char::from(b'a' + (random % 26) as u8)
        };
        let text: String = (0..2_000_000).map(|_| letter()).collect();
        let mut file = packed(&text, 40);
        let (out, unpacking) = unpack_behind(&mut file).unwrap().unwrap();
        unpacking.stop();
        while unpacking.progress().is_some() {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(out.metadata().unwrap().len() < 40 * text.len() as u64);
    }
}
