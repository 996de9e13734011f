//! The chip folder on a real disk: loading as the server's start does, rows while files are written, the watch, the
//! archive, revive, and where a deleted text came from.

use crate::chips::{bytes_of, cases, Case};
use chipdeck_chip::*;
use chipdeck_disk::chips::*;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        // As the folder is compared: links resolved.
        self.dir.path().canonicalize().unwrap().join(name)
    }

    fn config(&self) -> ChipConfig {
        ChipConfig {
            folder: self.path("chips"),
            snapshots: SnapshotPlaces {
                base: Some(self.path("snapshots")),
                single: None,
            },
            archive: Some(ArchiveConfig::in_dir(self.path("data/archive"))),
            polling: false,
        }
    }

    fn chips(&self) -> PathBuf {
        let folder = self.path("chips");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn write(&self, record: &ChipRecord) -> PathBuf {
        let path = self.chips().join(chip_file_name(&record.id).unwrap());
        std::fs::write(&path, record.write()).unwrap();
        path
    }
}

fn chip(id: &str, created_at: i64) -> ChipRecord {
    ChipRecord {
        id: id.into(),
        tool: "be-write".into(),
        args: Some(Json::parse(br#"{"file":"src/a.rs","content":"fn main() {\n}\n"}"#).unwrap()),
        err_msg: "write: missing content argument".into(),
        created_at,
    }
}

fn states(list: &ChipList) -> Vec<(String, EntryState)> {
    list.rows
        .iter()
        .map(|row| (row.file.clone(), row.state))
        .collect()
}

#[cfg(unix)]
fn file_name(text: &str) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(bytes_of(text))
}

fn fill(folder: &Path, case: &Case) {
    for (name, content) in case.json("dir.json").as_object().unwrap() {
        std::fs::write(
            folder.join(file_name(name)),
            bytes_of(content.as_str().unwrap()),
        )
        .unwrap();
    }
    for name in case.strings("folders") {
        std::fs::create_dir(folder.join(name)).unwrap();
    }
}

#[test]
fn loading_is_a_servers_start() {
    for case in cases("load") {
        let name = &case.name;
        let place = Place::new();
        let folder = place.chips();
        fill(&folder, &case);
        let before: BTreeSet<OsString> = names(&folder);
        let chips = ChipFolder::look(place.config(), true);
        let list = chips.list();
        let listed: Vec<&str> = list
            .rows
            .iter()
            .filter(|row| row.state == EntryState::Queue)
            .map(|row| row.id.as_str())
            .collect();
        assert_eq!(listed, case.strings("listed"), "{name}");
        // The forecast: what a start would delete. The inner id makes the name; a climbing one is never followed.
        let removed: BTreeSet<String> = list
            .rows
            .iter()
            .filter(|row| row.state == EntryState::Beyond)
            .filter_map(|row| chip_file_name(&row.id))
            .filter(|file| folder.join(file).is_file())
            .collect();
        let expected: BTreeSet<String> = case.strings("removed").into_iter().collect();
        assert_eq!(removed, expected, "{name}");
        // Nothing is ever deleted or written there.
        assert_eq!(names(&folder), before, "{name}");
        for insert in case.meta["inserts"].as_array().unwrap() {
            let id = insert["id"].as_str().unwrap();
            let found = chips.find(id).map(|key| chips.detail(&key).unwrap());
            match (insert["result"].as_str().unwrap(), found) {
                ("ok", Some(detail)) => {
                    let record = detail.record.unwrap();
                    let inserted = insert_header(b"", 0, &insert_text(&record)).unwrap();
                    assert_eq!(
                        String::from_utf8(inserted.bytes).unwrap(),
                        insert["inserted"].as_str().unwrap(),
                        "{name} {id}"
                    );
                }
                ("ok", None) => {
                    // The server climbs out of its folder for these.
                    assert!(!safe_id(id), "{name} {id:?}");
                }
                (_, None) => {
                    let message = insert["message"].as_str().unwrap();
                    assert!(message.ends_with("not found"), "{name} {id}: {message}");
                }
                (_, Some(detail)) => {
                    let message = insert["message"].as_str().unwrap();
                    let (_, words) = message.split_once("corrupt: ").unwrap();
                    let reason = detail.entry.reason.unwrap();
                    assert!(reason.contains(words), "{name} {id}: {reason:?} {words:?}");
                }
            }
        }
    }
}

fn names(folder: &Path) -> BTreeSet<OsString> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect()
}

#[test]
fn the_queue_and_what_goes_next() {
    let place = Place::new();
    for n in 0..30 {
        place.write(&chip(&format!("{n:06x}"), 1000 + n));
    }
    let chips = ChipFolder::look(place.config(), true);
    let list = chips.list();
    assert_eq!(list.rows.len(), 30);
    assert!(list.rows[0].next_to_go);
    assert_eq!(list.rows[0].queue_place, Some(1));
    assert_eq!(list.rows[29].queue_place, Some(30));
    assert_eq!(list.rows.iter().filter(|row| row.next_to_go).count(), 1);
    place.write(&chip("ffffff", 5000));
    chips.refresh();
    let list = chips.list();
    assert_eq!(list.rows[0].state, EntryState::Beyond);
    assert_eq!(list.rows[0].queue_place, None);
    assert!(list.rows[1].next_to_go);
}

#[test]
#[cfg(unix)]
fn pipes_devices_and_links() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let folder = place.chips();
    let status = std::process::Command::new("mkfifo")
        .arg(folder.join("chip-pipe.json"))
        .status();
    assert!(status.unwrap().success());
    symlink("/dev/zero", folder.join("chip-zero.json")).unwrap();
    symlink("nowhere", folder.join("chip-dangling.json")).unwrap();
    std::fs::write(place.path("elsewhere"), chip("link", 5).write()).unwrap();
    symlink(place.path("elsewhere"), folder.join("chip-link.json")).unwrap();
    std::fs::create_dir(folder.join("chip-folder.json")).unwrap();
    place.write(&chip("plain", 6));
    let start = Instant::now();
    let chips = ChipFolder::look(place.config(), true);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(
        states(&chips.list()),
        [
            ("chip-link.json".to_owned(), EntryState::Queue),
            ("chip-plain.json".to_owned(), EntryState::Queue),
            ("chip-dangling.json".to_owned(), EntryState::Damaged),
            ("chip-pipe.json".to_owned(), EntryState::Damaged),
            ("chip-zero.json".to_owned(), EntryState::Damaged),
        ]
    );
}

#[test]
fn a_huge_file_survives() {
    let place = Place::new();
    // 9,997 nested lists: about 200 MB of indentation on disk.
    let text = format!("{{\"a\":{}{}}}", "[".repeat(9_997), "]".repeat(9_997));
    let mut record = chip("deep", 5);
    record.args = Some(Json::parse(text.as_bytes()).unwrap());
    let path = place.write(&record);
    drop(record);
    assert!(path.metadata().unwrap().len() > 150_000_000);
    let chips = ChipFolder::look(place.config(), true);
    let list = chips.list();
    assert_eq!(list.rows[0].state, EntryState::Queue);
    let detail = chips.detail(&list.rows[0].key).unwrap();
    assert!(detail.raw_clipped && detail.record.is_some());
}

#[track_caller]
fn wait_for(chips: &ChipFolder, what: &str, done: impl Fn(&ChipList) -> bool) -> Duration {
    let start = Instant::now();
    loop {
        let list = chips.list();
        if done(&list) {
            return start.elapsed();
        }
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{what}: {:?}",
            states(&list)
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn told(changes: &Receiver<Change>) -> bool {
    changes
        .recv_timeout(Duration::from_secs(5))
        .is_ok_and(|change| change == Change::Chips)
}

#[test]
fn a_new_chip_is_listed_at_once() {
    let place = Place::new();
    place.chips();
    let (chips, changes) = ChipFolder::open(place.config());
    assert_eq!(chips.list().watch, WatchState::Events);
    let mut slowest = Duration::ZERO;
    for n in 0..10 {
        place.write(&chip(&format!("{n:06x}"), n));
        let took = wait_for(&chips, "new chip", |list| list.rows.len() as i64 == n + 1);
        slowest = slowest.max(took);
        assert!(told(&changes));
    }
    // 100 ms are promised; a busy machine may need more here.
    assert!(slowest < Duration::from_millis(600), "{slowest:?}");
}

#[test]
fn a_row_stays_while_its_file_is_written() {
    let place = Place::new();
    let record = chip("aaaaaa", 7);
    let path = place.write(&record);
    let bytes = record.write();
    let (chips, _changes) = ChipFolder::open(place.config());
    // As the server writes: emptied, then written in parts.
    std::fs::write(&path, b"").unwrap();
    let writing = |list: &ChipList| list.rows[0].state == EntryState::Writing;
    wait_for(&chips, "emptied", writing);
    for part in [10, 60, bytes.len() - 1] {
        std::fs::write(&path, &bytes[..part]).unwrap();
        std::thread::sleep(Duration::from_millis(60));
        let list = chips.list();
        assert_eq!(list.rows.len(), 1);
        assert_eq!(list.rows[0].state, EntryState::Writing);
        assert_eq!(list.rows[0].id, "aaaaaa", "what was known stays");
    }
    std::fs::write(&path, &bytes).unwrap();
    let ready = |list: &ChipList| list.rows[0].state == EntryState::Queue;
    wait_for(&chips, "whole", ready);
    // Cut for good: damaged after two seconds, and not before.
    std::fs::write(&path, &bytes[..40]).unwrap();
    let cut = Instant::now();
    wait_for(&chips, "cut", writing);
    let damaged = |list: &ChipList| list.rows[0].state == EntryState::Damaged;
    wait_for(&chips, "damaged", damaged);
    assert!(
        cut.elapsed() >= Duration::from_millis(1900),
        "{:?}",
        cut.elapsed()
    );
    assert_eq!(chips.list().rows.len(), 1);
}

#[test]
fn the_folder_may_come_go_and_be_replaced() {
    let place = Place::new();
    let (chips, _changes) = ChipFolder::open(place.config());
    assert_eq!(chips.list().watch, WatchState::Missing);
    place.write(&chip("aaaaaa", 7));
    wait_for(&chips, "appeared", |list| {
        list.rows.len() == 1 && list.watch == WatchState::Events
    });
    std::fs::remove_dir_all(place.path("chips")).unwrap();
    wait_for(&chips, "vanished", |list| {
        list.watch == WatchState::Missing
            && list.rows.len() == 1
            && list.rows[0].state == EntryState::Evicted
    });
    place.write(&chip("bbbbbb", 8));
    let both = |list: &ChipList| {
        list.watch == WatchState::Events
            && states(list)
                == [
                    ("chip-bbbbbb.json".to_owned(), EntryState::Queue),
                    ("chip-aaaaaa.json".to_owned(), EntryState::Evicted),
                ]
    };
    wait_for(&chips, "again", both);
    // Another folder takes its place.
    let other = place.path("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("chip-cccccc.json"), chip("cccccc", 9).write()).unwrap();
    std::fs::rename(place.path("chips"), place.path("old")).unwrap();
    std::fs::rename(&other, place.path("chips")).unwrap();
    wait_for(&chips, "replaced", |list| {
        list.rows.len() == 3 && list.rows[0].id == "cccccc"
    });
    // Events come from the new one.
    place.write(&chip("dddddd", 10));
    let took = wait_for(&chips, "in the new folder", |list| list.rows.len() == 4);
    assert!(took < Duration::from_millis(1500), "{took:?}");
}

#[test]
fn another_folder_by_the_settings() {
    let place = Place::new();
    place.write(&chip("aaaaaa", 7));
    let (chips, _changes) = ChipFolder::open(place.config());
    let other = place.path("other/chips");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("chip-bbbbbb.json"), chip("bbbbbb", 8).write()).unwrap();
    chips.configure(ChipConfig {
        folder: other.clone(),
        ..place.config()
    });
    let ids =
        |list: &ChipList| -> Vec<String> { list.rows.iter().map(|row| row.id.clone()).collect() };
    assert_eq!(ids(&chips.list()), ["bbbbbb"], "at once");
    // It is watched, and the first one no longer.
    std::thread::sleep(Duration::from_millis(200));
    std::fs::write(other.join("chip-cccccc.json"), chip("cccccc", 9).write()).unwrap();
    let took = wait_for(&chips, "watched", |list| list.rows.len() == 2);
    assert!(took < Duration::from_millis(1_500), "{took:?}");
    place.write(&chip("dddddd", 10));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(ids(&chips.list()), ["bbbbbb", "cccccc"]);
}

#[test]
fn polling_where_there_are_no_events() {
    let place = Place::new();
    place.chips();
    let (chips, changes) = ChipFolder::open(ChipConfig {
        polling: true,
        ..place.config()
    });
    assert_eq!(chips.list().watch, WatchState::Polling);
    place.write(&chip("aaaaaa", 7));
    let took = wait_for(&chips, "polled", |list| list.rows.len() == 1);
    assert!(took < Duration::from_millis(1500), "{took:?}");
    assert!(told(&changes));
}

#[test]
fn evicted_chips_stay_over_a_restart() {
    let place = Place::new();
    let record = chip("aaaaaa", 7);
    let path = place.write(&record);
    let (chips, _changes) = ChipFolder::open(place.config());
    let key = chips.list().rows[0].key.clone();
    std::fs::remove_file(&path).unwrap();
    wait_for(&chips, "evicted", |list| {
        list.rows[0].state == EntryState::Evicted
    });
    assert_eq!(chips.list().rows[0].key, key, "the key stays");
    drop(chips);
    let chips = ChipFolder::look(place.config(), true);
    let list = chips.list();
    assert_eq!(list.rows.len(), 1);
    assert_eq!(list.rows[0].state, EntryState::Evicted);
    let detail = chips.detail(&list.rows[0].key).unwrap();
    assert_eq!(detail.record.unwrap(), record);
    assert_eq!(detail.raw, record.write());
    assert_eq!(chips.archive().chips, 1);
    // Another folder has its own.
    let other = ChipFolder::look(
        ChipConfig {
            folder: place.path("elsewhere"),
            ..place.config()
        },
        true,
    );
    assert!(other.list().rows.is_empty());
}

#[test]
#[cfg(unix)]
fn the_archive_is_private_and_content_addressed() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.write(&chip("aaaaaa", 7));
    std::fs::write(place.chips().join("copy.json"), chip("aaaaaa", 7).write()).unwrap();
    ChipFolder::look(place.config(), true);
    let mut files = 0;
    let mut folders = vec![place.path("data/archive")];
    while let Some(folder) = folders.pop() {
        let mode = folder.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", path.display());
            files += usize::from(path.to_string_lossy().contains("objects"));
        }
    }
    assert_eq!(files, 1, "equal contents are kept once");
}

#[test]
fn the_archive_has_limits_and_pins() {
    let place = Place::new();
    let mut config = place.config();
    for n in 0..10 {
        place.write(&chip(&format!("{n:06x}"), n));
    }
    let chips = ChipFolder::look(config.clone(), true);
    let size = chips.archive().bytes / 10;
    let pinned = chips.find("000003").unwrap();
    chips.pin(&pinned, true).unwrap();
    assert!(chips.list().rows[3].pinned);
    std::fs::remove_dir_all(place.path("chips")).unwrap();
    // Room for three.
    config.archive.as_mut().unwrap().max_bytes = size * 3 + 10;
    let chips = ChipFolder::look(config.clone(), true);
    let list = chips.list();
    assert_eq!(list.rows.len(), 3, "{:?}", states(&list));
    assert!(list.rows.iter().any(|row| row.id == "000003" && row.pinned));
    assert!(chips.archive().bytes <= size * 3 + 10);
    // Everything is too old now, except what is pinned.
    std::thread::sleep(Duration::from_millis(1100));
    config.archive.as_mut().unwrap().max_age = Duration::ZERO;
    let chips = ChipFolder::look(config, true);
    let ids: Vec<String> = chips.list().rows.iter().map(|row| row.id.clone()).collect();
    assert_eq!(ids, ["000003"]);
}

#[test]
fn revived_with_a_new_time_and_nothing_else_changed() {
    let place = Place::new();
    // Another hand's bytes: order and spaces stay.
    let bytes = b"{ \"created_at\" : 7,\n\"tool\":\"be-write\",\"extra\":[1],\"id\":\"aa\" }";
    let path = place.chips().join("chip-aa.json");
    std::fs::write(&path, bytes).unwrap();
    let chips = ChipFolder::look(place.config(), true);
    let key = chips.find("aa").unwrap();
    let error = chips.revive(&key, Some(99)).unwrap_err();
    assert!(matches!(error, ChipError::Exists(_)), "{error}");
    std::fs::remove_file(&path).unwrap();
    chips.refresh();
    let revived = chips.revive(&key, Some(1_796_059_073)).unwrap();
    assert_eq!(revived.created_at, 1_796_059_073);
    assert!(revived.warnings.is_empty());
    let written = std::fs::read(&path).unwrap();
    assert_eq!(
        String::from_utf8(written).unwrap(),
        "{ \"created_at\" : 1796059073,\n\"tool\":\"be-write\",\"extra\":[1],\"id\":\"aa\" }"
    );
    let list = chips.list();
    assert_eq!(
        states(&list),
        [("chip-aa.json".to_owned(), EntryState::Queue)]
    );
    assert_eq!(names(&place.chips()).len(), 1, "no temporary file is left");
}

#[test]
fn reviving_into_a_full_folder_says_what_goes() {
    let place = Place::new();
    let gone = place.write(&chip("old", 1));
    ChipFolder::look(place.config(), true);
    std::fs::remove_file(gone).unwrap();
    for n in 0..30 {
        place.write(&chip(&format!("{n:06x}"), 1000 + n));
    }
    let chips = ChipFolder::look(place.config(), true);
    let key = chips.find("old").unwrap();
    let revived = chips.revive(&key, Some(9_999)).unwrap();
    assert_eq!(revived.drops.as_deref(), Some("chip-000000.json"));
    assert!(revived.warnings[0].contains("000000"));
}

#[test]
fn edit_snapshots_of_every_workspace() {
    let place = Place::new();
    for case in cases("snapshot") {
        let folder = place
            .path("snapshots")
            .join(workspace_id(case.name.as_bytes()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join(case.text("file_name")),
            case.file("snapshot.json"),
        )
        .unwrap();
        std::fs::write(folder.join("snapshot-torn.json"), b"{\"id\":").unwrap();
        std::fs::write(folder.join("other.json"), b"{}").unwrap();
    }
    let chips = ChipFolder::look(place.config(), true);
    let workspaces = chips.workspaces();
    assert_eq!(workspaces.len(), cases("snapshot").len());
    for workspace in workspaces.iter() {
        assert_eq!(workspace.rows.len(), 1);
        assert_eq!(workspace.damaged.len(), 1);
        let row = &workspace.rows[0];
        let detail = chips.snapshot(&row.key).unwrap();
        assert_eq!(detail.record.id, row.id);
        assert_ne!(detail.record.before.text(), detail.record.after.text());
    }
    // Gone from the folder, still in the archive.
    std::fs::remove_dir_all(place.path("snapshots")).unwrap();
    chips.refresh();
    let workspaces = chips.workspaces();
    assert_eq!(workspaces.len(), cases("snapshot").len());
    for workspace in workspaces.iter() {
        assert!(workspace.rows[0].evicted);
        chips.snapshot(&workspace.rows[0].key).unwrap();
    }
}

/// A project with one file, a delete in it, and what the server left.
struct Deleted {
    place: Place,
    root: PathBuf,
}

const BEFORE: &str =
    "use std::fs;\n\nfn charge() {\n    pay();\n}\n\nfn refund() {\n    back();\n}\n";

impl Deleted {
    /// Lines `first..=last` of `BEFORE` are cut from `pay.rs`.
    fn new(first: usize, last: usize) -> Deleted {
        let place = Place::new();
        let root = place.path("project");
        std::fs::create_dir(&root).unwrap();
        let deleted = Deleted { place, root };
        deleted.cut(
            "pay.rs",
            &workspace_id(deleted.root.as_os_str().as_encoded_bytes()),
            first,
            last,
        );
        deleted
    }

    fn cut(&self, file: &str, workspace: &str, first: usize, last: usize) {
        let lines: Vec<&str> = BEFORE.split_inclusive('\n').collect();
        let removed = lines[first - 1..last].concat();
        let after = [&lines[..first - 1], &lines[last..]].concat();
        std::fs::write(self.root.join("pay.rs"), after.concat()).unwrap();
        self.place.write(&ChipRecord::of_delete(
            "del001".into(),
            removed.into(),
            5000,
        ));
        let side = |lines: &[&str]| Side {
            start: 1,
            end: lines.len() as i64,
            lines: Some(lines.iter().map(|line| Text::from(*line)).collect()),
        };
        let snapshot = SnapshotRecord {
            id: "4d12f6".into(),
            tool: "be-delete".into(),
            file: file.into(),
            before: side(&lines),
            after: side(&after),
            args: Some(
                Json::parse(
                    format!("{{\"start\":{first},\"end\":{last},\"file\":\"{file}\"}}").as_bytes(),
                )
                .unwrap(),
            ),
            summary: format!("be-delete on pay.rs lines {first}-{last}"),
            created_at: 5001,
        };
        let folder = self.place.path("snapshots").join(workspace);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("snapshot-4d12f6.json"), snapshot.write()).unwrap();
    }

    fn origins(&self) -> Origins {
        let chips = ChipFolder::look(self.place.config(), true);
        let key = chips.find("del001").unwrap();
        chips
            .origins(&key, std::slice::from_ref(&self.root), &())
            .unwrap()
    }

    fn now(&self, text: &str) {
        std::fs::write(self.root.join("pay.rs"), text).unwrap();
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.root.join("pay.rs")).unwrap()
    }

    #[track_caller]
    fn one(&self, line: u64) -> Origin {
        let origins = self.origins();
        assert!(origins.certain, "{origins:?}");
        let place = origins.places[0].clone();
        assert_eq!(place.line, line, "{place:?}");
        place
    }
}

#[test]
fn a_delete_is_linked_to_its_edit_snapshot() {
    let deleted = Deleted::new(3, 6);
    let chips = ChipFolder::look(deleted.place.config(), true);
    let row = &chips.list().rows[0];
    assert_eq!(row.linked.as_deref(), Some("4d12f6"));
    let target = row.target.as_ref().unwrap();
    assert_eq!((target.path.as_str(), target.line), ("pay.rs", Some(2)));
    assert_eq!(target.certainty, Certainty::Snapshot);
    let place = deleted.one(2);
    assert_eq!(place.path, deleted.root.join("pay.rs"));
    assert_eq!(place.certainty, Certainty::Snapshot);
    assert!(!place.moved);
    let record = chips.detail(&row.key).unwrap().record.unwrap();
    let text = record.deleted().unwrap().as_bytes();
    let whole = insert_content(deleted.text().as_bytes(), 2, text);
    assert_eq!(whole.unwrap().bytes, BEFORE.as_bytes());
}

#[test]
fn back_to_its_place_when_lines_have_moved() {
    let deleted = Deleted::new(3, 6);
    deleted.now(&format!("// new\n// lines\n{}", deleted.text()));
    assert!(deleted.one(4).moved);
    // The other side was edited, other line ends.
    let text = deleted.text().replace("use std::fs;", "use std::io;");
    deleted.now(&text.replace('\n', "\r\n"));
    deleted.one(4);
}

#[test]
fn a_place_that_is_not_the_only_one_is_shown() {
    let deleted = Deleted::new(3, 6);
    let twice = deleted.text().repeat(2);
    deleted.now(&twice);
    let origins = deleted.origins();
    assert!(!origins.certain);
    let lines: Vec<u64> = origins.places.iter().map(|place| place.line).collect();
    assert_eq!(lines, [2, 7]);
}

#[test]
fn a_text_that_is_back_already_is_said() {
    let deleted = Deleted::new(3, 6);
    deleted.now(BEFORE);
    let origins = deleted.origins();
    assert!(origins.already_there && origins.certain, "{origins:?}");
    assert_eq!(origins.places[0].line, 2);
}

#[test]
fn another_workspaces_file_is_no_place() {
    let deleted = Deleted::new(3, 6);
    std::fs::remove_dir_all(deleted.place.path("snapshots")).unwrap();
    deleted.cut("pay.rs", "0123456789abcdef", 3, 6);
    let origins = deleted.origins();
    assert!(!origins.certain);
    assert_eq!(origins.places.len(), 1, "shown, not chosen");
    assert_eq!(origins.places[0].certainty, Certainty::Search);
    // An absolute path needs no workspace, but has to be inside an opened folder.
    std::fs::remove_dir_all(deleted.place.path("snapshots")).unwrap();
    std::fs::remove_dir_all(deleted.place.path("data")).unwrap();
    let path = deleted.root.join("pay.rs");
    deleted.cut(path.to_str().unwrap(), "0123456789abcdef", 3, 6);
    deleted.one(2);
    for outside in ["/etc/passwd", "../pay.rs"] {
        std::fs::remove_dir_all(deleted.place.path("snapshots")).unwrap();
        std::fs::remove_dir_all(deleted.place.path("data")).unwrap();
        let workspace = workspace_id(deleted.root.as_os_str().as_encoded_bytes());
        deleted.cut(outside, &workspace, 3, 6);
        let origins = deleted.origins();
        assert!(origins.places.is_empty() && !origins.certain, "{origins:?}");
    }
}

#[test]
fn a_revived_delete_keeps_its_link() {
    let deleted = Deleted::new(3, 6);
    let chips = ChipFolder::look(deleted.place.config(), true);
    let key = chips.find("del001").unwrap();
    std::fs::remove_file(deleted.place.path("chips/chip-del001.json")).unwrap();
    chips.refresh();
    chips.revive(&key, Some(1_796_059_073)).unwrap();
    assert_eq!(chips.list().rows[0].linked.as_deref(), Some("4d12f6"));
    deleted.one(2);
}

/// Logs that are open know it too.
#[test]
fn a_log_knows_where_it_came_from() {
    struct Log;
    impl RemovedTexts for Log {
        fn removed(&self, text: &[u8], created_at: i64) -> Vec<RemovedText> {
            assert_eq!(created_at, 5000);
            assert!(BEFORE
                .as_bytes()
                .windows(text.len())
                .any(|part| part == text));
            vec![RemovedText {
                path: "pay.rs".into(),
                before: BEFORE.into(),
                first_line: 3,
                because: "e12 of basic.jsonl".into(),
            }]
        }
    }
    let deleted = Deleted::new(3, 6);
    std::fs::remove_dir_all(deleted.place.path("snapshots")).unwrap();
    let chips = ChipFolder::look(deleted.place.config(), true);
    let key = chips.find("del001").unwrap();
    let roots = [deleted.root.clone()];
    let origins = chips.origins(&key, &roots, &Log).unwrap();
    assert!(origins.certain, "{origins:?}");
    assert_eq!(origins.places[0].line, 2);
    assert_eq!(origins.places[0].certainty, Certainty::Log);
}

/// The last commit has the file as it was.
#[test]
fn the_last_commit_is_searched() {
    let deleted = Deleted::new(3, 6);
    std::fs::remove_dir_all(deleted.place.path("snapshots")).unwrap();
    let cut = deleted.text();
    deleted.now(BEFORE);
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .current_dir(&deleted.root)
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "pay.rs"]);
    git(&["commit", "-q", "-m", "one"]);
    deleted.now(&format!("// moved\n{cut}"));
    let place = deleted.one(3);
    assert_eq!(place.certainty, Certainty::Search);
}

#[test]
fn a_failed_call_is_no_delete() {
    let place = Place::new();
    place.write(&chip("aaaaaa", 7));
    let chips = ChipFolder::look(place.config(), true);
    let key = chips.find("aaaaaa").unwrap();
    let error = chips.origins(&key, &[], &()).unwrap_err();
    assert!(matches!(error, ChipError::NotADelete));
    let target = chips.list().rows[0].target.clone().unwrap();
    assert_eq!(target.path, "src/a.rs");
    assert_eq!(target.certainty, Certainty::Arguments);
}

#[test]
fn climbing_ids_find_no_file() {
    let place = Place::new();
    std::fs::write(place.path("secret.json"), chip("s", 1).write()).unwrap();
    place.write(&chip("c", 1));
    let chips = ChipFolder::look(place.config(), true);
    for id in ["x/../../secret", "x/../chip-c", "../secret", "./c"] {
        assert_eq!(chips.find(id), None, "{id}");
    }
}

/// Years of use: thousands of evicted chips and edit snapshots don't slow the list down.
#[test]
fn a_large_archive_is_no_burden() {
    let deleted = Deleted::new(3, 6);
    let place = &deleted.place;
    let folder = place.path("snapshots/0123456789abcdef");
    std::fs::create_dir_all(&folder).unwrap();
    for n in 0..1_500 {
        let text = format!("line {n}\n");
        let id = format!("{n:06x}");
        place.write(&ChipRecord::of_delete(id.clone(), text.clone().into(), n));
        let lines = vec![Text::from(text.as_str())];
        let snapshot = SnapshotRecord {
            id: id.clone(),
            tool: "be-delete".into(),
            file: "t.txt".into(),
            before: Side {
                start: 1,
                end: 1,
                lines: Some(lines),
            },
            args: Some(Json::parse(b"{\"start\":1,\"end\":1}").unwrap()),
            created_at: n,
            ..SnapshotRecord::default()
        };
        std::fs::write(folder.join(format!("snapshot-{id}.json")), snapshot.write()).unwrap();
    }
    let (chips, _changes) = ChipFolder::open(place.config());
    assert_eq!(chips.list().rows.len(), 1_501);
    std::fs::remove_dir_all(place.path("chips")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    wait_for(&chips, "all evicted", |list| {
        list.rows
            .iter()
            .all(|row| row.state == EntryState::Evicted && row.linked.is_some())
    });
    std::thread::sleep(Duration::from_millis(300));
    place.chips();
    wait_for(&chips, "watched", |list| list.watch == WatchState::Events);
    place.write(&chip("ffffff", 5_000));
    let took = wait_for(&chips, "new", |list| list.rows[0].id == "ffffff");
    assert!(took < Duration::from_millis(1_000), "{took:?}");
    eprintln!("a new chip beside 1,501 evicted ones: {took:?}");
}
