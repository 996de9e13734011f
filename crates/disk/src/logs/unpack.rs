//! Logs that are compressed whole, as `.zst` or `.gz`, and those of our archive, told by their first bytes. They are
//! unpacked once into a nameless file of our cache, so that reads at any place stay quick and memory stays small.
//!
//! Left out: following a compressed log (nobody appends to one), archives with several files.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::kept;
use crate::places::{private_folder, Places};

/// More is not unpacked: a bomb, or a log that nobody can look through.
const MOST: u64 = 8 << 30;

/// The unpacked bytes of a compressed file; `None` for any other file, whose position is then back at the start. What
/// stands before damage is kept: a cut file is a log that was cut.
///
/// # Errors
/// Those of the system, and `InvalidData` where nothing can be unpacked or it is more than 8 GiB.
pub fn unpack(file: &mut File, path: &Path) -> io::Result<Option<File>> {
    let packing = packing(file)?;
    let plain = io::BufReader::with_capacity(256 << 10, &*file);
    match packing {
        Packing::Zstd | Packing::Gzip => {
            let mut out = scratch()?;
            unpack_into(&packing, plain, &mut out)?;
            Ok(Some(out))
        }
        Packing::Kept => {
            let mut out = scratch()?;
            kept::lay_out(file, path, &mut out)?;
            Ok(Some(out))
        }
        Packing::None => Ok(None),
    }
}

/// Unpacks a `.zst` or a `.gz` that is read from its start.
pub(super) fn unpack_into(
    packing: &Packing,
    plain: impl io::BufRead,
    out: &mut File,
) -> io::Result<()> {
    match packing {
        Packing::Zstd => copy_frames(plain, out),
        Packing::Gzip => copy(flate2::read::MultiGzDecoder::new(plain), out, 0).map(|_| ()),
        Packing::None | Packing::Kept => Ok(()),
    }
}

/// The first `len` bytes of a file as a log is read: unpacked where it is compressed.
///
/// # Errors
/// Those of the system.
pub fn head(path: &Path, len: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let packing = packing(&mut file)?;
    if let Packing::Kept = packing {
        return Ok(kept::ends(&mut file, path, len)?.0);
    }
    let plain = io::BufReader::new(&file);
    let mut head = Vec::new();
    // What stands before damage is enough to tell what a file is.
    let _ = match packing {
        Packing::Zstd => match ruzstd::decoding::StreamingDecoder::new(plain) {
            Ok(decoder) => decoder.take(len).read_to_end(&mut head),
            Err(_) => Ok(0),
        },
        Packing::Gzip => flate2::read::MultiGzDecoder::new(plain)
            .take(len)
            .read_to_end(&mut head),
        Packing::None | Packing::Kept => Ok(plain.take(len).read_to_end(&mut head)?),
    };
    Ok(head)
}

/// The first and the last bytes of a file as a log is read, each at most `len`; the last ones are empty where the
/// first are all there is, and of a compressed file.
///
/// # Errors
/// Those of the system.
pub fn ends(path: &Path, len: u64) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let head = head(path, len)?;
    let mut file = File::open(path)?;
    let packing = packing(&mut file)?;
    if let Packing::Kept = packing {
        return kept::ends(&mut file, path, len);
    }
    let whole = file.metadata()?.len();
    if whole <= head.len() as u64 || !matches!(packing, Packing::None) {
        return Ok((head, Vec::new()));
    }
    let mut tail = Vec::new();
    let from = whole.saturating_sub(len).max(head.len() as u64);
    file.seek(SeekFrom::Start(from))?;
    file.take(len).read_to_end(&mut tail)?;
    Ok((head, tail))
}

pub(super) enum Packing {
    None,
    Zstd,
    Gzip,
    /// A list of pieces in our archive.
    Kept,
}

/// Tells by the first bytes and goes back to the start.
pub(super) fn packing(file: &mut File) -> io::Result<Packing> {
    let mut magic = Vec::new();
    (&*file)
        .take(kept::MAGIC.len() as u64)
        .read_to_end(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(match magic.as_slice() {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
        [0x1f, 0x8b, ..] => Packing::Gzip,
        kept::MAGIC => Packing::Kept,
        _ => Packing::None,
    })
}

/// A Zstandard file may be several frames, one after the other.
fn copy_frames(mut plain: impl io::BufRead, out: &mut File) -> io::Result<()> {
    let mut total = 0;
    loop {
        let decoder = match ruzstd::decoding::StreamingDecoder::new(&mut plain) {
            Ok(decoder) => decoder,
            // Skippable frames and rubbish at the end; at the start there is nothing to show.
            Err(_) if total > 0 => return Ok(()),
            Err(error) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    error.to_string(),
                ))
            }
        };
        total = copy(decoder, out, total)?;
        if plain.fill_buf()?.is_empty() {
            return Ok(());
        }
    }
}

/// Copies to the end or to damage behind something; gives all bytes in the file.
fn copy(mut from: impl Read, out: &mut File, mut total: u64) -> io::Result<u64> {
    let mut buffer = vec![0; 256 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                total += n as u64;
                if total > MOST {
                    let message = "unpacks to more than 8 GiB";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                }
                out.write_all(buffer.get(..n).unwrap_or_default())?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if total == 0 => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    error.to_string(),
                ));
            }
            Err(_) => break,
        }
    }
    Ok(total)
}

/// A file without a name, in our cache where that is possible.
pub(super) fn scratch() -> io::Result<File> {
    let cache = Places::of_this_user().map(|places| places.cache);
    match cache.filter(|cache| private_folder(cache).is_ok()) {
        Some(cache) => tempfile::tempfile_in(cache).or_else(|_| tempfile::tempfile()),
        None => tempfile::tempfile(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(bytes: &[u8]) -> io::Result<Option<String>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        Ok(unpack(&mut file, Path::new("x"))?.map(|mut out| {
            let mut text = String::new();
            out.seek(SeekFrom::Start(0)).unwrap();
            out.read_to_string(&mut text).unwrap();
            text
        }))
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &str) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(
            text.as_bytes(),
            ruzstd::encoding::CompressionLevel::Fastest,
        )
    }

    #[test]
    fn both_kinds_whole_and_in_pieces() {
        let line = "{\"type\":\"x\",\"text\":\"abcabcabc\"}\n".repeat(5000);
        for packed in [gzip(&line), zstd(&line)] {
            assert!(packed.len() < line.len() / 10);
            assert_eq!(unpacked(&packed).unwrap().as_deref(), Some(&*line));
            let twice = [packed.clone(), packed].concat();
            assert_eq!(
                unpacked(&twice).unwrap().unwrap(),
                line.repeat(2),
                "one after the other"
            );
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        for bytes in [gzip(&line), zstd(&line), line.clone().into_bytes()] {
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(head(&path, 100).unwrap(), &line.as_bytes()[..100]);
        }
        let (first, last) = ends(&path, 100).unwrap();
        assert_eq!(
            (first.len(), &*last),
            (100, &line.as_bytes()[line.len() - 100..])
        );
        std::fs::write(&path, "0123456789").unwrap();
        assert_eq!(
            ends(&path, 6).unwrap(),
            (b"012345".to_vec(), b"6789".to_vec())
        );
        assert_eq!(ends(&path, 10).unwrap().1, b"");
        assert_eq!(unpacked(b"{\"a\":1}\n").unwrap(), None);
        assert_eq!(unpacked(b"").unwrap(), None);
    }

    #[test]
    fn a_cut_file_gives_what_stands_before_the_cut() {
        let text: String = (0..200_000)
            .map(|n| format!("line {}\n", n * 7919 % 100_003))
            .collect();
        let packed = gzip(&text);
        let got = unpacked(&packed[..packed.len() / 2]).unwrap().unwrap();
        assert!(!got.is_empty() && text.starts_with(&got));
        assert!(unpacked(&[0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3]).is_err());
        assert!(unpacked(&[0x1f, 0x8b, 0xff, 0xff, 0xff]).is_err());
    }
}
