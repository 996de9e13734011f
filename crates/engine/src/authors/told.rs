//! What an author says of a path at one moment, before the authors are laid side by side.

use crate::api::{AuthorKind, PathAuthor, PathOp};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Unix milliseconds; `None`: nothing says when.
    pub time: Option<i64>,
    pub author: PathAuthor,
    pub op: PathOp,
    pub exists: bool,
    /// `exact`, `unverified`, `unknown`.
    pub certainty: &'static str,
    pub why: &'static str,
    /// A shell command of the session may have changed it since.
    pub touched: bool,
    pub changed_outside: bool,
    /// SHA-256, lower-case hex; `None`: it is absent or unknown.
    pub content: Option<String>,
    pub bytes: Option<u64>,
    pub from: From,
}

/// Where the content can be read again.
#[derive(Clone, Debug, PartialEq)]
pub enum From {
    /// A log, the path as it writes it, and the entry after which it stands so.
    Session {
        log: PathBuf,
        named: String,
        at: u32,
    },
    /// A blob's id.
    Git(String),
    Snapshot {
        key: String,
        before: bool,
    },
    /// A file.
    Disk(PathBuf),
    Nowhere,
}

impl Told {
    /// Names it for as long as its author says the same.
    pub fn id(&self) -> String {
        let mut hash = Sha256::new();
        let author = &self.author;
        for part in [
            &format!("{:?} {:?}", author.kind, self.op),
            author.id.as_deref().unwrap_or_default(),
            author.source.as_deref().unwrap_or_default(),
            author.key.as_deref().unwrap_or_default(),
            &author.index.unwrap_or_default().to_string(),
            self.content.as_deref().unwrap_or_default(),
        ] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hex(&hash.finalize(), 10)
    }

    /// The same event in another file: a session that was resumed or forked begins with a copy.
    pub fn is_copy_of(&self, other: &Told) -> bool {
        let (own, its) = (&self.author, &other.author);
        own.kind == AuthorKind::Session
            && its.kind == AuthorKind::Session
            && own.source != its.source
            && own.id.is_some()
            && own.id == its.id
            && own.by == its.by
            && self.op == other.op
            && self.content == other.content
            // Ids of our own logs are short: the time tells them apart.
            && (own.by.as_deref() != Some("canonical") || self.time == other.time)
    }

    /// It has a content that its author alone does not prove, or that something may have changed since.
    pub fn is_open(&self) -> bool {
        self.content.is_some() && (self.certainty != "exact" || self.touched)
    }

    /// Its content is known, or it is known to be absent.
    pub fn is_known(&self) -> bool {
        !self.exists || self.content.is_some()
    }

    pub fn same_content(&self, other: &Told) -> bool {
        match (&self.content, &other.content) {
            (Some(own), Some(its)) => own == its,
            (None, None) => !self.exists && !other.exists,
            _ => false,
        }
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes), 32)
}

fn hex(bytes: &[u8], most: usize) -> String {
    bytes
        .iter()
        .take(most)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Bytes of contents that one history keeps; older ones are read again when they are looked at.
const MOST_BYTES: usize = 64 << 20;

/// Contents by their hash.
#[derive(Default)]
pub struct Contents {
    held: HashMap<String, Arc<[u8]>>,
    order: VecDeque<String>,
    bytes: usize,
}

impl Contents {
    pub fn get(&self, sha256: &str) -> Option<Arc<[u8]>> {
        self.held.get(sha256).cloned()
    }

    pub fn take(&mut self, mut other: Contents) {
        for sha256 in other.order {
            if let Some(content) = other.held.remove(&sha256) {
                self.put(&sha256, content);
            }
        }
    }

    pub fn put(&mut self, sha256: &str, content: Arc<[u8]>) {
        if self.held.contains_key(sha256) {
            return;
        }
        self.bytes += content.len();
        self.held.insert(sha256.to_owned(), content);
        self.order.push_back(sha256.to_owned());
        while self.bytes > MOST_BYTES && self.order.len() > 1 {
            let oldest = self.order.pop_front().unwrap_or_default();
            let gone = self.held.remove(&oldest);
            self.bytes -= gone.map_or(0, |content| content.len());
        }
    }
}
