//! Looks for a deleted text in an opened folder when neither edit snapshots nor logs know it: in the last committed
//! versions of its files (git), and in the files themselves (then nothing was lost). Bounded in time, files and bytes.
//!
//! Left out: placing it.

use super::files::open_regular;
use chipdeck_chip::Lines;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(2);
const MOST_FILES: usize = 20_000;
const LARGEST: u64 = 2 << 20;
const MOST_VERSIONS: usize = 20;
/// Folders that hold no work of the user.
const SKIPPED: [&str; 6] = [
    ".git",
    "node_modules",
    "target",
    ".venv",
    "__pycache__",
    ".cache",
];

#[derive(Default)]
pub(super) struct Hits {
    pub versions: Vec<Version>,
    /// Files that have the text now, and the line that it stands after.
    pub copies: Vec<(PathBuf, usize)>,
    pub notes: Vec<String>,
}

/// An older version of a file that is still there.
pub(super) struct Version {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub because: String,
}

pub(super) fn search(root: &Path, text: &[u8]) -> Hits {
    let mut hits = Hits::default();
    let Some(line) = telling_line(text) else {
        hits.notes
            .push("the text is too short to be searched for".into());
        return hits;
    };
    committed(root, line, &mut hits);
    copies(root, text, &mut hits);
    hits
}

/// The longest line, if it says something.
fn telling_line(text: &[u8]) -> Option<&[u8]> {
    let longest = Lines::cut(text)
        .pieces
        .into_iter()
        .max_by_key(|piece| piece.trim_ascii().len())?;
    let letters = longest
        .iter()
        .filter(|b| b.is_ascii_alphanumeric() || **b >= 0x80);
    (letters.count() >= 4).then_some(longest)
}

fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(root)
        .args([
            "--no-optional-locks",
            "-c",
            "core.fsmonitor=false",
            "-c",
            "core.quotePath=false",
        ])
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stderr(Stdio::null());
    command
}

/// Versions in the last commit, below `root`, that have the line.
fn committed(root: &Path, line: &[u8], hits: &mut Hits) {
    let end = Instant::now() + TIME;
    let mut grep = git(root);
    grep.args([
        "grep",
        "-z",
        "-l",
        "-F",
        "--no-textconv",
        "-f",
        "-",
        "HEAD",
        "--",
        ".",
    ]);
    let Some(names) = bounded(grep, line, end) else {
        return;
    };
    for name in names.split(|b| *b == 0).take(MOST_VERSIONS) {
        // `HEAD:path`, the path relative to the folder searched in.
        let Some(name) = name.strip_prefix(b"HEAD:") else {
            continue;
        };
        let relative = path_of(name);
        let plain = relative
            .components()
            .all(|c| matches!(c, std::path::Component::Normal(_)));
        let path = root.join(&relative);
        if !plain || !path.is_file() {
            continue;
        }
        let mut object = std::ffi::OsString::from("HEAD:./");
        object.push(&relative);
        let mut show = git(root);
        show.args(["cat-file", "blob"]).arg(object);
        if let Some(bytes) = bounded(show, b"", end) {
            hits.versions.push(Version {
                path,
                bytes,
                because: "the last commit".into(),
            });
        }
    }
}

/// What the command prints; `None` where it fails, is not done in time, or prints too much.
fn bounded(mut command: Command, input: &[u8], end: Instant) -> Option<Vec<u8>> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
    let mut line = input.to_vec();
    line.push(b'\n');
    // A command that has ended takes no input.
    let feed = std::thread::spawn(move || {
        let mut stdin = stdin;
        let _ = stdin.write_all(&line);
    });
    let drain = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(LARGEST * 8 + 1).read_to_end(&mut bytes);
        read.ok().map(|_| bytes)
    });
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(2)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
    };
    let _ = feed.join();
    let bytes = drain.join().ok().flatten()?;
    (status?.success() && bytes.len() as u64 <= LARGEST * 8).then_some(bytes)
}

/// Files that have the text as whole lines now.
fn copies(root: &Path, text: &[u8], hits: &mut Hits) {
    let wanted = Lines::cut(text).pieces;
    let end = Instant::now() + TIME;
    let mut folders = vec![root.to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            if files >= MOST_FILES || Instant::now() > end {
                hits.notes
                    .push(format!("not all of {} was searched", root.display()));
                return;
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = entry.path();
            if kind.is_dir() {
                let name = entry.file_name();
                if !SKIPPED.iter().any(|skipped| name == *skipped) {
                    folders.push(path);
                }
            } else if kind.is_file() {
                files += 1;
                let Ok((file, metadata)) = open_regular(&path) else {
                    continue;
                };
                if metadata.len() > LARGEST || metadata.len() < text.len() as u64 / 2 {
                    continue;
                }
                let mut bytes = Vec::new();
                if file.take(LARGEST).read_to_end(&mut bytes).is_err() {
                    continue;
                }
                let lines = Lines::cut(&bytes).pieces;
                let found = lines
                    .windows(wanted.len().max(1))
                    .position(|window| window == wanted.as_slice());
                if let Some(at) = found {
                    hits.copies.push((path, at));
                }
            }
        }
    }
}

/// A path from bytes that git printed.
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        std::ffi::OsStr::from_bytes(bytes).into()
    }
    #[cfg(not(unix))]
    {
        String::from_utf8_lossy(bytes).into_owned().into()
    }
}
