//! Whether a log of a folder that is not on this machine may be laid onto one that a person opened.
//!
//! Never because nothing else is open: the folder has the name of the log's own, or it holds a file with a content
//! that the log knows. Left out: where the path then lies (`Roots`), and whether anything is written there.

use crate::log::Look;
use chipdeck_disk::restore::Root;

/// Files of a log that are looked for below a folder.
const MOST_FILES: usize = 400;
/// Bytes that such a file may have: it is read whole.
const MOST_BYTES: usize = 4 << 20;
/// A content with fewer letters and digits than this is everybody's.
const LEAST: usize = 8;

/// The log may be laid onto the root.
pub(crate) fn may_lie(look: &Look, root: &Root) -> bool {
    look.timeline.cwd().is_some_and(|cwd| same_name(cwd, root)) || holds_a_content(look, root)
}

/// The folder of a log and the root have the same last name.
fn same_name(cwd: &str, root: &Root) -> bool {
    let last = cwd.rsplit(['/', '\\']).find(|name| !name.is_empty());
    let name = root.path().file_name().and_then(std::ffi::OsStr::to_str);
    last.is_some() && last == name
}

/// A file of the log stands at its place below the root with a content that the log knows of it.
fn holds_a_content(look: &Look, root: &Root) -> bool {
    let cwd = look.timeline.cwd();
    let paths = look.timeline.paths().into_iter().take(MOST_FILES);
    paths.into_iter().any(|named| {
        let Ok(below) = root.place(named, cwd) else {
            return false;
        };
        let large = std::fs::metadata(root.path().join(&below))
            .map_or(true, |it| it.len() > MOST_BYTES as u64);
        if large {
            return false;
        }
        let Some(image) = root.read(&below).ok().and_then(|found| found.image) else {
            return false;
        };
        let bytes = image.content.bytes();
        if bytes.iter().filter(|it| it.is_ascii_alphanumeric()).count() < LEAST {
            return false;
        }
        let hash = image.content.sha256();
        look.timeline.versions(named).iter().any(|version| {
            let known = version
                .content
                .and_then(|it| look.timeline.content_sha256(it, look.source));
            known.as_deref() == Some(hash)
        })
    })
}
