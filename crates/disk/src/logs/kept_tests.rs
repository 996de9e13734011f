use super::kept::{KeptLog, LogArchive};
use super::{ends, head, Agent, FileSource, Found};
use crate::places::Places;
use chipdeck_ingest::Source;
use std::path::{Path, PathBuf};

struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(tempfile::tempdir().unwrap())
    }

    fn archive(&self) -> LogArchive {
        LogArchive::new(&Places::below(&self.0.path().join("own")))
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join("agent").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn only(&self) -> KeptLog {
        let mut list = self.archive().list();
        assert_eq!(list.len(), 1);
        list.remove(0)
    }

    fn pieces(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        walk(
            &self.0.path().join("own/data/chipdeck/logs/pieces"),
            &mut found,
        );
        found
    }
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => walk(&entry.path(), found),
            false => found.push(entry.path()),
        }
    }
}

fn keep(
    archive: &LogArchive,
    path: &Path,
    agent: &str,
    now: i64,
) -> std::io::Result<super::KeepDone> {
    let bytes = path.metadata().map_or(0, |it| it.len());
    let agent = Agent::named(agent);
    let (path, modified) = (path.to_owned(), Some(now));
    let found = Found {
        agent,
        path,
        bytes,
        modified,
    };
    archive.keep(&found, now)
}

/// Lines that do not repeat, so that pieces differ.
fn lines(from: usize, to: usize) -> Vec<u8> {
    (from..to)
        .flat_map(|n| format!("{{\"n\":{n},\"x\":\"{:x}\"}}\n", n * 2_654_435_761).into_bytes())
        .collect()
}

fn all(path: &Path) -> Vec<Vec<u8>> {
    let source = FileSource::open(path).unwrap();
    let whole = |file| source.read_at(file, 0, usize::MAX >> 1).unwrap();
    (0..source.files()).map(whole).collect()
}

#[test]
fn a_log_that_grew_shares_what_it_had() {
    let desk = Desk::new();
    let archive = desk.archive();
    let first = lines(0, 100_000);
    let path = desk.write("log.jsonl", &first);
    assert!(keep(&archive, &path, "codex", 1).unwrap().written > 0);
    let pieces = desk.pieces().len();
    assert_eq!(pieces, first.len().div_ceil(1 << 20));
    assert!(archive.bytes() < first.len() as u64, "compressed");
    // The same again writes nothing.
    assert_eq!(keep(&archive, &path, "codex", 2).unwrap().written, 0);
    let grown = lines(0, 120_000);
    std::fs::write(&path, &grown).unwrap();
    let done = keep(&archive, &path, "codex", 3).unwrap();
    assert!(done.written > 0 && !done.earlier);
    let new = grown.len().div_ceil(1 << 20) - first.len() / (1 << 20);
    assert_eq!(desk.pieces().len(), pieces + new, "whole pieces are shared");
    std::fs::remove_file(&path).unwrap();
    let kept = desk.only();
    assert_eq!(
        (&*kept.agent, kept.bytes, kept.seen),
        ("codex", grown.len() as u64, 3)
    );
    assert_eq!(kept.original, path);
    assert_eq!(all(&kept.path), std::slice::from_ref(&grown));
    assert_eq!(head(&kept.path, 5).unwrap(), &grown[..5]);
    let (start, end) = ends(&kept.path, 1_000).unwrap();
    assert_eq!(start, &grown[..1_000]);
    assert_eq!(end, &grown[grown.len() - 1_000..]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mut files = desk.pieces();
        files.push(kept.path.clone());
        for file in files {
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
            let folder = file.parent().unwrap().metadata().unwrap();
            assert_eq!(folder.permissions().mode() & 0o777, 0o700);
        }
    }
}

#[test]
fn what_was_cut_or_written_anew_is_kept_beside() {
    let desk = Desk::new();
    let archive = desk.archive();
    let path = desk.write("log.jsonl", lines(0, 10));
    keep(&archive, &path, "codex", 1).unwrap();
    for (now, text) in [(2, lines(0, 3)), (3, lines(50, 90)), (4, Vec::new())] {
        std::fs::write(&path, &text).unwrap();
        assert!(
            keep(&archive, &path, "codex", now).unwrap().earlier,
            "{now}"
        );
    }
    let mut list = archive.list();
    list.sort_by_key(|it| it.seen);
    let found: Vec<_> = list
        .iter()
        .map(|it| (it.earlier, all(&it.path).concat()))
        .collect();
    assert_eq!(
        found,
        [
            (true, lines(0, 10)),
            (true, lines(0, 3)),
            (true, lines(50, 90)),
            (false, Vec::new())
        ]
    );
    // A document is written anew each time: only a shorter one is another.
    let document = desk.write("chat.json", "{\"a\":1}");
    keep(&archive, &document, "gemini", 1).unwrap();
    std::fs::write(&document, "{\"a\":[1,2]}").unwrap();
    assert!(!keep(&archive, &document, "gemini", 2).unwrap().earlier);
}

#[test]
fn a_damaged_piece_is_told_from_a_good_one() {
    let desk = Desk::new();
    let archive = desk.archive();
    let text = lines(0, 100_000);
    let path = desk.write("log.jsonl", &text);
    keep(&archive, &path, "codex", 1).unwrap();
    let kept = desk.only();
    let list = std::fs::read_to_string(&kept.path).unwrap();
    let second = list.split('"').filter(|it| it.len() == 64).nth(1).unwrap();
    let place = desk
        .pieces()
        .into_iter()
        .find(|it| second.ends_with(it.file_name().unwrap().to_str().unwrap()))
        .unwrap();
    let good = std::fs::read(&place).unwrap();
    // Another content under that name, a cut one, none at all.
    let other = zstd::bulk::compress(&vec![b'x'; 1 << 20], 1).unwrap();
    for damage in [Some(other), Some(good[..good.len() / 2].to_vec()), None] {
        match damage {
            Some(bytes) => std::fs::write(&place, bytes).unwrap(),
            None => std::fs::remove_file(&place).unwrap(),
        }
        let read = all(&kept.path).concat();
        let piece = 1 << 20;
        assert_eq!(read, [&text[..piece], b"\n", &text[2 * piece..]].concat());
    }
    // Kept again, the piece is whole again.
    keep(&archive, &path, "codex", 2).unwrap();
    assert_eq!(all(&desk.only().path).concat(), text);
    for piece in desk.pieces() {
        std::fs::write(piece, "rubbish").unwrap();
    }
    let error = FileSource::open(&kept.path).err().unwrap().to_string();
    assert!(error.contains("damaged"), "{error}");
}

#[test]
fn limits_take_the_longest_gone_first() {
    let desk = Desk::new();
    let archive = desk.archive();
    let day = 86_400_000;
    for (n, seen) in [(1, day), (2, 20 * day), (3, 30 * day)] {
        let path = desk.write(
            &format!("{n}.jsonl"),
            lines(n * 1_000_000, n * 1_000_000 + 5_000),
        );
        keep(&archive, &path, "codex", seen).unwrap();
    }
    let names = || {
        let mut names: Vec<_> = archive
            .list()
            .iter()
            .map(|it| it.original.file_name().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    archive.limit(u64::MAX, 15, 31 * day, &|_| false).unwrap();
    assert_eq!(names(), ["2.jsonl", "3.jsonl"]);
    assert_eq!(desk.pieces().len(), 2);
    archive
        .limit(archive.bytes() - 1, 15, 31 * day, &|_| false)
        .unwrap();
    assert_eq!(names(), ["3.jsonl"]);
    assert_eq!(desk.pieces().len(), 1);
    archive.limit(0, 15, 31 * day, &|_| true).unwrap();
    assert_eq!(desk.pieces().len(), 0);
}

#[test]
fn a_set_of_files_opens_with_all_of_them_and_nothing_is_written_beside() {
    let desk = Desk::new();
    let archive = desk.archive();
    let folder = desk
        .write("set/dialog.jsonl", lines(0, 5))
        .parent()
        .unwrap()
        .to_owned();
    desk.write("set/exec.jsonl", lines(5, 9));
    let session = "0b0e5a6e-0000-4000-8000-000000000001";
    let single = desk.write(&format!("p/{session}.jsonl"), "{\"type\":\"user\"}\n");
    desk.write(
        &format!("p/{session}/subagents/agent-1.jsonl"),
        "{\"type\":\"assistant\"}\n",
    );
    let before = all(&single);
    let mut there = Vec::new();
    walk(&desk.0.path().join("agent"), &mut there);
    for (path, now) in [(&folder, 1), (&single, 2)] {
        keep(&archive, path, "claude-code", now).unwrap();
    }
    let mut after = Vec::new();
    walk(&desk.0.path().join("agent"), &mut after);
    assert_eq!(there, after);
    std::fs::remove_dir_all(desk.0.path().join("agent")).unwrap();
    let list = archive.list();
    let of = |original: &Path| list.iter().find(|it| it.original == original).unwrap();
    assert_eq!(all(&of(&folder).path), [lines(0, 5), lines(5, 9)]);
    assert_eq!(before.len(), 2);
    assert_eq!(all(&of(&single).path), before);
}
