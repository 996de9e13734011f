//! Lines of a file as the server cuts them, and what it makes of their endings.

/// A file's line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Lf,
    Crlf,
}

impl Ending {
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Ending::Lf => b"\n",
            Ending::Crlf => b"\r\n",
        }
    }
}

/// The pieces between the line ends. Cut at LF; an empty last piece is none; one CR is dropped from the end of each
/// piece, also of a last one without LF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines<'a> {
    pub pieces: Vec<&'a [u8]>,
    /// CRLF if there are more CRLF pairs than half the pieces, rounded down.
    pub ending: Ending,
    /// The last piece has no LF after it.
    pub open_end: bool,
}

impl<'a> Lines<'a> {
    pub fn cut(bytes: &'a [u8]) -> Lines<'a> {
        let mut pieces: Vec<&[u8]> = Vec::new();
        let mut pairs = 0usize;
        let mut open_end = false;
        for line in bytes.split_inclusive(|b| *b == b'\n') {
            let piece = match line.strip_suffix(b"\n") {
                Some(piece) => {
                    pairs += usize::from(piece.ends_with(b"\r"));
                    piece
                }
                None => {
                    open_end = true;
                    line
                }
            };
            pieces.push(piece.strip_suffix(b"\r").unwrap_or(piece));
        }
        let ending = if pairs > pieces.len() / 2 {
            Ending::Crlf
        } else {
            Ending::Lf
        };
        Lines {
            pieces,
            ending,
            open_end,
        }
    }

    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The whole as the server writes it after any edit: every piece with the file's ending.
    pub fn rewritten(&self) -> Vec<u8> {
        join(&self.pieces, self.ending)
    }
}

/// Pieces, each with this ending.
pub(crate) fn join(pieces: &[&[u8]], ending: Ending) -> Vec<u8> {
    let mut out = Vec::with_capacity(pieces.iter().map(|p| p.len() + 2).sum());
    for piece in pieces {
        out.extend_from_slice(piece);
        out.extend_from_slice(ending.bytes());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn majority() {
        for (text, ending) in [
            (&b"a\r\nb"[..], Ending::Lf),
            (b"a\r\n", Ending::Crlf),
            (b"a\r\nb\r\nc\nd\n", Ending::Lf),
            (b"a\r\nb\r\nc\n", Ending::Crlf),
            (b"", Ending::Lf),
        ] {
            assert_eq!(Lines::cut(text).ending, ending, "{text:?}");
        }
    }
}
