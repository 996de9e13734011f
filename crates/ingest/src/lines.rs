//! Chunks of bytes to lines. A line goes out as soon as its `\n` is there; the bytes after the last one are held.
//!
//! A line beyond some megabytes is skimmed where the reader can do with that (see [`crate::skim`]). Left out on
//! purpose: what a line means; a byte order mark is cut, nothing else.

use crate::skim::{Gap, Skim};

/// A line without its `\n`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub bytes: &'a [u8],
    /// Physical line, from 1.
    pub number: u64,
    /// Of the first byte, in the file.
    pub offset: u64,
    /// What stood before it on the same line was taken already (see [`Lines::take_tail`]).
    pub continued: bool,
    /// Where something was left out of the bytes.
    pub gaps: &'a [Gap],
    /// Why what was left out is no JSON.
    pub fault: Option<&'static str>,
}

#[derive(Default)]
pub(crate) struct Lines {
    held: Vec<u8>,
    /// Lines that ended so far.
    ended: u64,
    /// Of the first byte that did not go out.
    start: u64,
    continued: bool,
    /// A held line beyond this many bytes is skimmed.
    most: Option<usize>,
    skim: Option<Box<Skim>>,
}

const MARK: &[u8] = b"\xef\xbb\xbf";

/// A buffer beyond this is given back once its line went out.
const KEEP: usize = 4 << 20;

impl Lines {
    /// Lines of which long ones are skimmed.
    pub(crate) fn skimming(most: usize) -> Lines {
        Lines {
            most: Some(most),
            ..Lines::default()
        }
    }

    /// Bytes pushed so far.
    pub(crate) fn offset(&self) -> u64 {
        self.start + self.held.len() as u64 + self.skim.as_ref().map_or(0, |skim| skim.total())
    }

    pub(crate) fn push(&mut self, chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        let mut rest = chunk;
        while let Some(at) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(at);
            rest = after.get(1..).unwrap_or_default();
            if let Some(mut skim) = self.skim.take() {
                skim.push(line);
                each(self.skimmed(&skim));
                self.start += skim.total() + 1;
            } else if self.held.is_empty() {
                each(self.line(line));
                self.start += line.len() as u64 + 1;
            } else {
                let mut held = std::mem::take(&mut self.held);
                held.extend_from_slice(line);
                each(self.line(&held));
                self.start += held.len() as u64 + 1;
                if held.capacity() <= KEEP {
                    held.clear();
                    self.held = held;
                }
            }
            self.ended += 1;
            self.continued = false;
        }
        if let Some(skim) = &mut self.skim {
            skim.push(rest);
            return;
        }
        self.held.extend_from_slice(rest);
        if self.most.is_some_and(|most| self.held.len() > most) {
            let held = std::mem::take(&mut self.held);
            let marked = self.start == 0 && held.starts_with(MARK);
            if marked {
                self.start = MARK.len() as u64;
            }
            let mut skim = Box::<Skim>::default();
            skim.push(
                held.get(if marked { MARK.len() } else { 0 }..)
                    .unwrap_or_default(),
            );
            self.skim = Some(skim);
        }
    }

    /// What is held: a last line without its `\n`.
    pub(crate) fn tail(&self) -> Line<'_> {
        match &self.skim {
            Some(skim) => self.skimmed(skim),
            None => self.line(&self.held),
        }
    }

    fn skimmed<'a>(&self, skim: &'a Skim) -> Line<'a> {
        let (bytes, gaps) = skim.rest();
        Line {
            bytes,
            number: self.ended + 1,
            offset: self.start,
            continued: self.continued,
            gaps,
            fault: skim.fault(),
        }
    }

    /// The tail went out: only what follows it on its line is still to come.
    pub(crate) fn take_tail(&mut self) {
        self.start = self.offset();
        self.continued = true;
        self.held = Vec::new();
        self.skim = None;
    }

    fn line<'a>(&self, bytes: &'a [u8]) -> Line<'a> {
        let number = self.ended + 1;
        match bytes.strip_prefix(MARK) {
            Some(rest) if self.start == 0 => Line {
                bytes: rest,
                number,
                offset: MARK.len() as u64,
                continued: false,
                gaps: &[],
                fault: None,
            },
            _ => Line {
                bytes,
                number,
                offset: self.start,
                continued: self.continued,
                gaps: &[],
                fault: None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(chunks: &[&[u8]]) -> Vec<(u64, u64, Vec<u8>)> {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        for chunk in chunks {
            lines.push(chunk, |line| {
                out.push((line.number, line.offset, line.bytes.to_vec()))
            });
        }
        let tail = lines.tail();
        out.push((tail.number, tail.offset, tail.bytes.to_vec()));
        out
    }

    #[test]
    fn cuts_change_nothing() {
        let bytes = b"\xef\xbb\xbfone\n\ntwo\r\nthree\n\xef\xbb\xbffour";
        let whole = all(&[bytes]);
        assert_eq!(whole[0], (1, 3, b"one".to_vec()));
        assert_eq!(whole[2], (3, 8, b"two\r".to_vec()));
        assert_eq!(
            whole[4],
            (5, 19, b"\xef\xbb\xbffour".to_vec()),
            "only at the start of the file"
        );
        for cut in 0..bytes.len() {
            assert_eq!(all(&[&bytes[..cut], &bytes[cut..]]), whole, "cut at {cut}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(all(&single), whole);
    }
}
