//! Opening what a person names: each item is looked at, and becomes a log, a chip, a root, or is refused with the
//! reason. Nothing here fails, and nothing is written but our own list of recent logs.

use crate::api::{ApiError, Done, DropItem, LogView, Notice};
use crate::engine::{hold, now_ms, read, write, Answer, Engine, Inner, Origin};
use crate::kept::Recent;
use crate::log::{title, Log};
use chipdeck_chip::{ChipRecord, SnapshotRecord};
use chipdeck_disk::logs::{FileSource, OpenError};
use chipdeck_disk::restore::Located;
use chipdeck_ingest::{detect, Format, LogSet, Source};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a file that tell what it is.
const HEAD: u64 = 64 << 10;
/// Larger files are no chips.
const MOST_CHIP: u64 = 64 << 20;

/// Ids that stand for paths on the wire.
#[derive(Default)]
pub struct Sources {
    by_id: BTreeMap<String, PathBuf>,
    by_path: BTreeMap<PathBuf, String>,
    /// Databases that were opened, newest last.
    pub memory: Vec<PathBuf>,
}

impl Sources {
    pub fn id(&mut self, path: &Path) -> String {
        if let Some(id) = self.by_path.get(path) {
            return id.clone();
        }
        let id = format!("source-{}", self.by_id.len() + 1);
        self.by_id.insert(id.clone(), path.to_owned());
        self.by_path.insert(path.to_owned(), id.clone());
        id
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        self.by_id.get(id).cloned()
    }
}

/// What an item is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Log(Format),
    /// Files and bytes.
    LogSet(Format, u32, u64),
    Chip,
    EditSnapshot,
    Memory,
    /// A folder that holds no log.
    Folder,
    /// Why it is not understood.
    Unknown(String),
}

/// Looks at an item: its name, its first bytes, of a folder its names.
pub fn classify(path: &Path) -> Kind {
    // A session of a database: `opencode.db#ses_…`.
    if chipdeck_disk::logs::named(path).is_some() {
        return session(path);
    }
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return Kind::Unknown(sentence(&error)),
    };
    if metadata.is_dir() {
        return match FileSource::open(path) {
            Ok(source) => {
                let set = LogSet::open(&source);
                Kind::LogSet(set.format(), source.files(), source.total_bytes())
            }
            Err(OpenError::NoLog(_)) => Kind::Folder,
            Err(error) => Kind::Unknown(error.to_string()),
        };
    }
    if !metadata.is_file() {
        return Kind::Unknown("neither a file nor a folder".to_owned());
    }
    let head = match chipdeck_disk::logs::head(path, HEAD) {
        Ok(head) => head,
        Err(error) => return Kind::Unknown(sentence(&error)),
    };
    if head.starts_with(b"SQLite format 3\0") {
        return match chipdeck_disk::logs::sessions(path) {
            Ok(Some(_)) => session(path),
            Ok(None) | Err(_) => Kind::Memory,
        };
    }
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    // A compressed log is what is in it.
    let name = [".zst", ".gz"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(&name);
    let lines = name.to_lowercase().ends_with(".jsonl");
    match detect(name, &head) {
        Format::Raw if lines => return Kind::Log(Format::Raw),
        Format::Raw => {}
        Format::Canonical if lines || !head.is_empty() && looks_like_lines(&head) => {
            return Kind::Log(Format::Canonical)
        }
        Format::Canonical => {}
        format => return Kind::Log(format),
    }
    record(path, name, metadata.len(), &head)
}

/// A session that is kept in a database.
fn session(path: &Path) -> Kind {
    match FileSource::open(path) {
        Ok(source) => Kind::Log(LogSet::open(&source).format()),
        Err(error) => Kind::Unknown(error.to_string()),
    }
}

/// A chip, an edit snapshot, some JSON Lines under another name, or nothing that we know.
fn record(path: &Path, name: &str, len: u64, head: &[u8]) -> Kind {
    if len == 0 {
        return Kind::Unknown("the file is empty".to_owned());
    }
    let named = |prefix: &str| name.starts_with(prefix) && name.ends_with(".json");
    let bytes = if len <= MOST_CHIP {
        std::fs::read(path).ok()
    } else {
        None
    };
    if let Some(bytes) = &bytes {
        let fields = serde_json::from_slice::<serde_json::Value>(bytes).ok();
        let has = |names: &[&str]| {
            fields
                .as_ref()
                .is_some_and(|it| names.iter().all(|name| it.get(name).is_some()))
        };
        if named("chip-") || has(&["id", "tool", "args", "created_at"]) {
            if has(&["before", "after", "file"]) && SnapshotRecord::read(bytes).is_ok() {
                return Kind::EditSnapshot;
            }
            return match ChipRecord::read(bytes) {
                Ok(_) => Kind::Chip,
                Err(fault) => Kind::Unknown(format!("a damaged chip: {fault}")),
            };
        }
        if named("snapshot-") || has(&["id", "tool", "before", "after"]) {
            return match SnapshotRecord::read(bytes) {
                Ok(_) => Kind::EditSnapshot,
                Err(fault) => Kind::Unknown(format!("a damaged edit snapshot: {fault}")),
            };
        }
        if fields.is_some() && !looks_like_lines(head) {
            return Kind::Unknown("a JSON document of no kind that the deck knows".to_owned());
        }
    }
    if looks_like_lines(head) {
        return Kind::Log(Format::Raw);
    }
    if memchr::memchr(0, head).is_some() {
        return Kind::Unknown("a binary file of no kind that the deck knows".to_owned());
    }
    let line = head
        .split(|byte| *byte == b'\n')
        .position(|line| !line.trim_ascii().is_empty())
        .unwrap_or(0)
        + 1;
    Kind::Unknown(format!("line {line} is no JSON"))
}

/// Its first line that is not blank is a JSON object.
fn looks_like_lines(head: &[u8]) -> bool {
    let mut lines = head
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
    serde_json::from_slice::<serde_json::Value>(first).is_ok_and(|it| it.is_object())
}

fn sentence(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        _ => format!("it cannot be read: {error}"),
    }
}

/// `18.2 MB`.
pub fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut unit = "B";
    for next in ["kB", "MB", "GB", "TB"] {
        if value < 1_000.0 {
            break;
        }
        value /= 1_000.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

impl Engine {
    /// What dropping these would do.
    pub fn describe_drop(&self, paths: &[PathBuf]) -> Vec<DropItem> {
        paths
            .iter()
            .map(|path| describe(path, &classify(path)))
            .collect()
    }

    /// Opens what a person named and tells it as [`Notice::Opened`]. Never fails; an item that is not understood is
    /// among the refused ones.
    pub fn open_paths(&self, paths: &[PathBuf], origin: Origin) {
        let inner = &self.inner;
        let mut logs = Vec::new();
        let (mut chip, mut snapshot, mut root) = (None, None, None);
        let mut refused = Vec::new();
        for path in paths {
            // The command's current folder is not ours to rely on later.
            let path = &std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let kind = classify(path);
            let mut refuse = |reason: String| refused.push(describe(path, &Kind::Unknown(reason)));
            if path.is_dir() && origin != Origin::Recent {
                match write(&inner.roots).allow(path) {
                    Ok(opened) => {
                        inner.project_settings(opened.path());
                        root = Some(opened.path().to_string_lossy().into_owned());
                    }
                    Err(error) => refuse(error.to_string()),
                }
            }
            match kind {
                Kind::Log(_) | Kind::LogSet(..) => match inner.open_log(path) {
                    Ok(log) => logs.push(log.id.clone()),
                    Err(error) => refuse(error.to_string()),
                },
                Kind::Chip => match inner.chips.open_file(path) {
                    Ok(key) => chip = Some(key),
                    Err(error) => refuse(error.message),
                },
                Kind::EditSnapshot => match inner.chips.open_snapshot(path) {
                    Ok(key) => snapshot = Some(key),
                    Err(error) => refuse(error.message),
                },
                Kind::Memory => {
                    let mut sources = hold(&inner.sources);
                    sources.memory.retain(|it| it != path);
                    sources.memory.push(path.clone());
                }
                Kind::Folder => {}
                Kind::Unknown(reason) => refuse(reason),
            }
        }
        if root.is_some() {
            inner.root_logs();
        }
        let focus = logs.last().cloned();
        if focus.is_some() {
            *hold(&inner.focus) = focus.clone();
        }
        inner.tell(Notice::Opened {
            logs,
            focus,
            chip,
            snapshot,
            root,
            refused,
        });
        inner.tell(Notice::LibraryChanged);
    }

    pub(crate) fn open_source(&self, source: &str) -> Answer<Done> {
        let path = hold(&self.inner.sources).path(source);
        let path = path
            .ok_or_else(|| ApiError::new("not-found", format!("There is no source {source}.")))?;
        self.open_paths(&[path], Origin::Recent);
        Ok(Done {})
    }

    /// Opens the bundled demo: its log, its chips, and its project as a root.
    pub(crate) fn open_demo(&self) -> Answer<Done> {
        let demo = self.inner.config.demo.clone();
        let demo = demo.ok_or_else(|| ApiError::new("not-found", "There is no demo here."))?;
        let log = match classify(&demo.join("log")) {
            Kind::LogSet(..) => demo.join("log"),
            _ => demo.join("orders.jsonl"),
        };
        self.inner
            .demo
            .store(true, std::sync::atomic::Ordering::SeqCst);
        self.inner.chips.show_demo(&self.inner.config, &demo);
        self.open_paths(&[demo.join("project"), log], Origin::Argument);
        Ok(Done {})
    }
}

fn describe(path: &Path, kind: &Kind) -> DropItem {
    let bytes = || std::fs::metadata(path).map_or(0, |it| it.len());
    let (name, detail) = match kind {
        Kind::Log(Format::Raw) => (
            "log",
            format!("JSON Lines of no known kind, {}", size(bytes())),
        ),
        Kind::Log(Format::Canonical) => ("log", format!("one timeline, {}", size(bytes()))),
        Kind::Log(format) => (
            "log",
            format!("one timeline ({}), {}", format.name(), size(bytes())),
        ),
        Kind::LogSet(_, files, bytes) => (
            "log-set",
            format!(
                "one timeline of {files} files, {}; its folder may be restored into",
                size(*bytes)
            ),
        ),
        Kind::Chip => ("chip", "a chip".to_owned()),
        Kind::EditSnapshot => ("edit-snapshot", "an edit snapshot".to_owned()),
        Kind::Memory => ("memory", format!("a database, {}", size(bytes()))),
        Kind::Folder => ("root", "a folder that may be restored into".to_owned()),
        Kind::Unknown(reason) => ("unknown", reason.clone()),
    };
    DropItem {
        name: path.file_name().map_or_else(
            || path.display().to_string(),
            |it| it.to_string_lossy().into_owned(),
        ),
        kind: name.to_owned(),
        detail,
        understood: !matches!(kind, Kind::Unknown(_)),
    }
}

impl Inner {
    fn open_log(&self, path: &Path) -> Result<Arc<Log>, OpenError> {
        let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut logs = write(&self.logs);
        let there = logs.iter().find(|log| log.path == real).cloned();
        if let Some(open) = there.iter().find(|log| !log.is_over()) {
            return Ok(open.clone());
        }
        let source = FileSource::open_behind(&real)?;
        // One that was cut short, or whose file is another one now, is read anew under its old name.
        let id = match &there {
            Some(over) => {
                over.close();
                logs.retain(|log| log.path != real);
                over.id.clone()
            }
            None => format!("log-{}", self.number()),
        };
        let own = self.own.clone();
        let when_read = move |log: &Log| {
            if let Some(inner) = own.upgrade() {
                *hold(&log.root) = inner.root_of(log);
            }
        };
        let log = Log::start(id, &real, source, self.notices.clone(), Box::new(when_read));
        *hold(&log.bookmarks) = self.kept.bookmarks(&log.source);
        logs.push(log.clone());
        drop(logs);
        let recent = Recent {
            title: title(&real, log.format(), None),
            path: real,
            format: log.format().name().to_owned(),
            project: None,
            entries: None,
            opened: now_ms(),
        };
        // The bundled demo is no log of this person's.
        let demo = self.config.demo.as_ref().is_some_and(|demo| {
            let demo = std::fs::canonicalize(demo).unwrap_or_else(|_| demo.clone());
            log.path.starts_with(demo)
        });
        if demo {
            return Ok(log);
        }
        if let Err(error) = self.kept.remember(recent, true) {
            let text = format!("The list of recent logs cannot be written: {error}.");
            self.tell(Notice::Message {
                level: "warning".to_owned(),
                text,
            });
        }
        Ok(log)
    }

    pub(crate) fn close_log(&self, id: &str) -> Answer<Done> {
        let log = self.log(id)?;
        log.close();
        write(&self.logs).retain(|it| it.id != id);
        self.forget_branch(id);
        let mut focus = hold(&self.focus);
        if focus.as_deref() == Some(id) {
            *focus = read(&self.logs).last().map(|log| log.id.clone());
        }
        drop(focus);
        self.tell(Notice::LibraryChanged);
        Ok(Done {})
    }

    /// Finds the root of a log that was just read.
    pub(crate) fn root_log(&self, log: &Log) {
        *hold(&log.root) = self.root_of(log);
    }

    /// Finds the root of each log anew, and tells those that changed.
    pub(crate) fn root_logs(&self) {
        let logs = read(&self.logs).clone();
        for log in logs {
            let root = self.root_of(&log);
            let changed = std::mem::replace(&mut *hold(&log.root), root.clone()) != root;
            if changed {
                log.tell();
            }
        }
    }

    /// The opened folder that this log's paths are restored below.
    fn root_of(&self, log: &Log) -> Option<String> {
        let (paths, cwd) = log.look(|look| {
            let paths: Vec<String> = look
                .timeline
                .paths()
                .into_iter()
                .take(50)
                .map(|it| it.to_string())
                .collect();
            (paths, look.timeline.cwd().map(str::to_owned))
        });
        let roots = read(&self.roots);
        paths
            .iter()
            .find_map(|path| match roots.locate(path, cwd.as_deref()) {
                Located::Inside { root, .. } => Some(root.path().to_string_lossy().into_owned()),
                Located::Ask { .. } | Located::Never(_) => None,
            })
    }

    /// A log's view with its root looked up: it may have become known only by reading.
    pub(crate) fn log_view(&self, id: &str) -> Answer<LogView> {
        let log = self.log(id)?;
        if hold(&log.root).is_none() {
            let root = self.root_of(&log);
            *hold(&log.root) = root;
        }
        Ok(log.view())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size(999), "999 B");
        assert_eq!(size(18_200_000), "18.2 MB");
        assert_eq!(size(1_000), "1.0 kB");
    }

    #[test]
    fn items_are_what_they_hold() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let event = br#"{"eventId":"e1","traceId":"t","type":"message.user","timestamp":1,"payload":{"content":"x"}}"#;
        assert_eq!(
            classify(&put("a.jsonl", event)),
            Kind::Log(Format::Canonical)
        );
        assert_eq!(
            classify(&put("b.jsonl", b"{\"x\":1}\n{\"x\":2}\n")),
            Kind::Log(Format::Raw)
        );
        assert_eq!(
            classify(&put("b.log", b"{\"x\":1}\n{\"x\":2}\n")),
            Kind::Log(Format::Raw)
        );
        assert_eq!(
            classify(&put("m.db", b"SQLite format 3\0rest")),
            Kind::Memory
        );
        let chip = b"{\n  \"id\": \"a1\",\n  \"tool\": \"be-write\",\n  \"args\": {},\n  \"created_at\": 1\n}";
        assert_eq!(classify(&put("chip-a1.json", chip)), Kind::Chip);
        assert_eq!(classify(&put("other.json", chip)), Kind::Chip);
        assert!(
            matches!(classify(&put("chip-b.json", b"{\n \"id\"")), Kind::Unknown(why) if why.contains("damaged chip"))
        );
        assert!(
            matches!(classify(&put("x.json", b"{\n \"a\": 1}")), Kind::Unknown(why) if why.contains("JSON document"))
        );
        assert!(
            matches!(classify(&put("x.txt", b"\nhello")), Kind::Unknown(why) if why == "line 2 is no JSON")
        );
        assert!(
            matches!(classify(&put("x.bin", b"\0\0")), Kind::Unknown(why) if why.contains("binary"))
        );
        assert!(
            matches!(classify(&dir.path().join("gone")), Kind::Unknown(why) if why == "there is no such file")
        );
        put("set/dialog.jsonl", event);
        put("set/exec.jsonl", event);
        assert!(matches!(
            classify(&dir.path().join("set")),
            Kind::LogSet(Format::Canonical, 2, _)
        ));
        put("empty/readme.md", b"x");
        assert_eq!(classify(&dir.path().join("empty")), Kind::Folder);
    }
}
