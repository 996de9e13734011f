//! One thread that looks now and then at what nobody tells us: files that a diff against the disk showed, and the
//! journal (the command may restore too).
//!
//! Left out: open logs, the chip folder and the library, which have their own threads.

use crate::api::Notice;
use crate::engine::{hold, Inner};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, Weak};
use std::time::{Duration, SystemTime};

const OFTEN: Duration = Duration::from_millis(400);
/// Files that are looked at: the last ones that were shown.
const MOST_FILES: usize = 24;

/// Size and time of a file; `None`: absent.
type Print = Option<(u64, SystemTime)>;

#[derive(Default)]
pub struct Looking {
    files: Mutex<VecDeque<Shown>>,
}

struct Shown {
    log: String,
    /// As the log writes it.
    named: String,
    path: PathBuf,
    print: Print,
}

fn print(path: &Path) -> Print {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

impl Looking {
    /// A file's content on disk was shown: tell when it is another one.
    pub fn shown(&self, log: &str, named: &str, path: PathBuf) {
        let mut files = hold(&self.files);
        files.retain(|it| it.path != path || it.log != log);
        if files.len() >= MOST_FILES {
            files.pop_front();
        }
        let print = print(&path);
        files.push_back(Shown {
            log: log.to_owned(),
            named: named.to_owned(),
            path,
            print,
        });
    }

    fn changed(&self) -> Vec<Notice> {
        let mut notices = Vec::new();
        for file in hold(&self.files).iter_mut() {
            let now = print(&file.path);
            if now != file.print {
                file.print = now;
                notices.push(Notice::DiskChanged {
                    log: file.log.clone(),
                    path: file.named.clone(),
                });
            }
        }
        notices
    }
}

/// Starts the thread; it ends with the engine.
pub fn start(inner: Weak<Inner>) {
    let run = move || {
        let mut journal: Option<Print> = None;
        loop {
            std::thread::sleep(OFTEN);
            let Some(inner) = inner.upgrade() else { return };
            for notice in inner.looking.changed() {
                inner.tell(notice);
            }
            let now = print(&inner.config.places.data.join("restores.jsonl"));
            if journal.replace(now).is_some_and(|before| before != now) {
                inner.tell(Notice::HistoryChanged);
            }
        }
    };
    // Without a thread the page sees such changes when it asks again.
    let _ = std::thread::Builder::new()
        .name("chipdeck-looking".to_owned())
        .spawn(run);
}
