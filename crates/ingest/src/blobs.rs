//! Large strings that a log keeps beside itself, by their SHA-256. Each is looked at once.

use crate::source::Source;
use crate::tape::Val;
use chipdeck_event::Text;
use hashbrown::HashMap;
use sha2::{Digest, Sha256};

/// A reference as the log writes it: `{"$blob":"sha256:<hex>","bytes":N}`.
pub(crate) fn reference(value: Val<'_>) -> Option<String> {
    let text = value.get("$blob")?.str()?;
    let hex = text.strip_prefix("sha256:")?;
    let sound = hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit());
    sound.then(|| hex.to_ascii_lowercase())
}

/// The blobs that were looked at: their length where they are what their name says.
#[derive(Default)]
pub(crate) struct Blobs {
    seen: HashMap<String, Option<u64>>,
}

impl Blobs {
    pub(crate) fn text(&mut self, sha256: &str, source: &dyn Source) -> Text {
        let bytes = match self.seen.get(sha256) {
            // A writer puts the blob down before the line; one that was missing may still have come since.
            Some(Some(bytes)) => Some(*bytes),
            _ => {
                let bytes = check(sha256, source);
                self.seen.insert(sha256.to_owned(), bytes);
                bytes
            }
        };
        match bytes {
            Some(bytes) => Text::Blob {
                sha256: sha256.into(),
                bytes,
            },
            None => Text::Missing,
        }
    }
}

/// Its length, if it is there, is text and has that hash.
fn check(sha256: &str, source: &dyn Source) -> Option<u64> {
    let bytes = source.blob(sha256).ok()??;
    let sound = hex(&Sha256::digest(&bytes)) == sha256 && std::str::from_utf8(&bytes).is_ok();
    sound.then_some(bytes.len() as u64)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes
        .iter()
        .fold(String::with_capacity(64), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}
