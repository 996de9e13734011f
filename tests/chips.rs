//! The chip and edit-snapshot formats against what the real server wrote: every case of the kinds save, delete, insert,
//! load and snapshot, and every table.

use chipdeck_chip::*;
use serde_json::Value as Expected;
use std::path::{Path, PathBuf};

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/chips")
}

fn json(path: &Path) -> Expected {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

pub fn table(name: &str) -> Expected {
    json(&folder().join("tables").join(format!("{name}.json")))
}

pub fn rows(name: &str) -> Vec<Expected> {
    table(name)["rows"].as_array().unwrap().clone()
}

/// A byte is written as the character of that value.
pub fn bytes_of(text: &str) -> Vec<u8> {
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect()
}

pub struct Case {
    pub name: String,
    pub meta: Expected,
    dir: PathBuf,
}

impl Case {
    pub fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.dir.join(name)).unwrap_or_else(|e| panic!("{}/{name}: {e}", self.name))
    }

    pub fn has(&self, name: &str) -> bool {
        self.dir.join(name).is_file()
    }

    pub fn json(&self, name: &str) -> Expected {
        json(&self.dir.join(name))
    }

    pub fn text(&self, name: &str) -> String {
        self.meta[name].as_str().unwrap_or_default().to_owned()
    }

    pub fn number(&self, name: &str) -> i64 {
        self.meta[name].as_i64().unwrap()
    }

    pub fn strings(&self, name: &str) -> Vec<String> {
        self.meta[name]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s.as_str().unwrap().to_owned())
            .collect()
    }
}

pub fn cases(kind: &str) -> Vec<Case> {
    let mut found: Vec<Case> = std::fs::read_dir(folder().join("cases"))
        .unwrap()
        .map(|entry| {
            let dir = entry.unwrap().path();
            Case {
                name: dir.file_name().unwrap().to_str().unwrap().to_owned(),
                meta: json(&dir.join("meta.json")),
                dir,
            }
        })
        .filter(|case| case.meta["kind"] == kind)
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!found.is_empty());
    found
}

/// Bytes that differ are shown as text.
#[track_caller]
pub fn same(what: &str, ours: &[u8], theirs: &[u8]) {
    if ours != theirs {
        let at = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
        let part = |bytes: &[u8]| {
            let from = at.saturating_sub(40).min(bytes.len());
            String::from_utf8_lossy(&bytes[from..(at + 60).min(bytes.len())]).into_owned()
        };
        panic!(
            "{what}: differs at byte {at}\n ours: {:?}\ntheirs: {:?}",
            part(ours),
            part(theirs)
        );
    }
}

#[test]
fn saved_chips_are_byte_exact() {
    for case in cases("save") {
        let args =
            Json::parse(&case.file("args.json")).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let saved = case.meta["saved"].as_bool().unwrap();
        assert_eq!(ChipRecord::is_saved(Some(&args)), saved, "{}", case.name);
        if !saved {
            assert!(!case.has("chip.json"));
            continue;
        }
        let record = ChipRecord {
            id: case.text("id"),
            tool: case.text("tool"),
            args: Some(args),
            err_msg: case.text("err_msg"),
            created_at: case.number("created_at"),
        };
        let theirs = case.file("chip.json");
        same(&case.name, &record.write(), &theirs);
        assert_eq!(
            chip_file_name(&record.id).unwrap(),
            case.text("file_name"),
            "{}",
            case.name
        );
        // Read again it is the same record, and the same bytes.
        let read = ChipRecord::read(&theirs).unwrap();
        assert_eq!(read, record, "{}", case.name);
        same(&case.name, &read.write(), &theirs);
        let moved = with_created_at(&theirs, -5).unwrap();
        assert_eq!(ChipRecord::read(&moved).unwrap().created_at, -5);
        same(
            &case.name,
            &with_created_at(&moved, record.created_at).unwrap(),
            &theirs,
        );
    }
}

#[test]
fn deletes_leave_their_text() {
    for case in cases("delete") {
        let before = case.file("before.txt");
        let lines = Lines::cut(&before);
        let whole: Vec<Vec<u8>> = lines
            .pieces
            .iter()
            .map(|piece| [piece, lines.ending.bytes()].concat())
            .collect();
        let (start, end) = (case.number("start") as usize, case.number("end") as usize);
        let removed = whole[start - 1..end].concat();
        let after = [whole[..start - 1].concat(), whole[end..].concat()].concat();
        same(&case.name, &after, &case.file("after.txt"));
        let record = ChipRecord::of_delete(case.text("id"), removed, case.number("created_at"));
        let chip = case.file("chip.json");
        same(&case.name, &record.write(), &chip);
        let read = ChipRecord::read(&chip).unwrap();
        assert!(read.deleted().is_some(), "{}", case.name);
        let into_empty = |record: &ChipRecord| {
            let text = insert_text(record);
            insert_header(b"", 0, &text).unwrap().bytes
        };
        if case.has("inserted.txt") {
            same(&case.name, &into_empty(&read), &case.file("inserted.txt"));
            same(&case.name, &into_empty(&record), &case.file("inserted.txt"));
        } else if case.has("inserted-live.txt") {
            same(
                &case.name,
                &into_empty(&record),
                &case.file("inserted-live.txt"),
            );
            same(
                &case.name,
                &into_empty(&read),
                &case.file("inserted-reloaded.txt"),
            );
        }
        if case.has("snapshot.json") {
            let file = case.file("snapshot.json");
            let snapshot = SnapshotRecord::read(&file).unwrap();
            assert_eq!(snapshot.id, case.text("snapshot_id"));
            assert_eq!(snapshot.created_at, case.number("snapshot_created_at"));
            let (first, lines) = snapshot.removed().unwrap();
            assert_eq!(first, start, "{}", case.name);
            let joined: Vec<u8> = lines.iter().flat_map(|l| l.as_bytes()).copied().collect();
            same(&case.name, &joined, read.deleted().unwrap().as_bytes());
            // From the file's bytes, not from what was read: lost bytes are escapes there.
            let side = |lines: &[Vec<u8>]| Side {
                start: 1,
                end: lines.len() as i64,
                lines: (!lines.is_empty()).then(|| lines.iter().cloned().map(Text::from).collect()),
            };
            let made = SnapshotRecord {
                before: side(&whole),
                after: side(&[&whole[..start - 1], &whole[end..]].concat()),
                ..snapshot
            };
            same(&case.name, &made.write(), &file);
        }
    }
}

#[test]
fn insertions_are_the_servers() {
    for case in cases("insert") {
        let name = &case.name;
        let from = case.text("from");
        let id = parse_source(&from).unwrap();
        if name.starts_with("insert-traversal") {
            // What the server follows out of its folder is refused here.
            assert_eq!(chip_file_name(id), None, "{name}");
            continue;
        }
        let read = ChipRecord::read(&case.file("chip.json"));
        let (path, line) = parse_target(case.meta["to"].as_str().unwrap()).unwrap();
        assert_eq!(line, case.number("line"), "{name}");
        match case.text("result").as_str() {
            "ok" => {
                let record = read.unwrap();
                let before = case.file("before.txt");
                let inserted = insert_header(&before, line, &insert_text(&record)).unwrap();
                same(name, &inserted.bytes, &case.file("after.txt"));
            }
            "crash" => {
                let error = insert_header(&case.file("before.txt"), line, b"x").unwrap_err();
                assert_eq!(error, InsertError::Negative(-1), "{name}");
            }
            _ => {
                let message = case.text("message");
                if let Err(fault) = read {
                    assert_eq!(message, format!("read error: chip {id} corrupt: {fault}"));
                } else if let Err(error) =
                    insert_header(&case.file_or_empty("before.txt"), line, b"x")
                {
                    assert_eq!(message, error.to_string(), "{name}");
                } else {
                    // Outside the working folder, or no such file: the caller's part.
                    assert!(
                        !case.has("before.txt") || path.starts_with("/etc"),
                        "{name}"
                    );
                }
            }
        }
    }
}

impl Case {
    fn file_or_empty(&self, name: &str) -> Vec<u8> {
        if self.has(name) {
            self.file(name)
        } else {
            Vec::new()
        }
    }
}

#[test]
fn edit_snapshots_are_byte_exact() {
    for case in cases("snapshot") {
        let name = &case.name;
        let file = case.file("snapshot.json");
        let read = SnapshotRecord::read(&file).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(read.id, case.text("id"), "{name}");
        assert_eq!(read.created_at, case.number("created_at"), "{name}");
        let before = case.file_or_empty("before.txt");
        let after = case.file("after.txt");
        let side = |bytes: &[u8], theirs: &Side| {
            let cut = Lines::cut(bytes);
            let lines: Vec<Text> = cut
                .pieces
                .iter()
                .map(|piece| Text::from([piece, cut.ending.bytes()].concat()))
                .collect();
            Side {
                start: 1,
                end: lines.len() as i64,
                // Null or empty: both are kept as they were read.
                lines: if lines.is_empty() {
                    theirs.lines.clone()
                } else {
                    Some(lines)
                },
            }
        };
        let after = if read.tool == "be-write" {
            // `after` cuts the content that was sent, not the file.
            let request = case.json("request.json");
            request["content"].as_str().unwrap().as_bytes().to_vec()
        } else {
            after
        };
        let made = SnapshotRecord {
            before: side(&before, &read.before),
            after: side(&after, &read.after),
            ..read.clone()
        };
        same(name, &made.write(), &file);
        if name != "snapshot-bad-utf8" {
            same(name, &read.write(), &file);
        }
        // What a later process puts back.
        same(name, &read.before.text(), &case.file("rolled-back.txt"));
        assert_eq!(SnapshotRecord::read(&read.write()).unwrap(), read, "{name}");
    }
}

/// Transactions come later; their edit snapshots must be readable now.
#[test]
fn edit_snapshots_of_transactions_are_read() {
    for case in cases("trx") {
        let files = case.json("snapshots.json");
        let mut read = 0;
        for (name, content) in files.as_object().unwrap() {
            let bytes = bytes_of(content.as_str().unwrap());
            if name.starts_with("snapshot-") && name.ends_with(".json") {
                read += usize::from(SnapshotRecord::read(&bytes).is_ok());
            }
        }
        let status = case.meta["steps"]
            .as_array()
            .unwrap()
            .iter()
            .find(|step| step["arguments"]["action"] == "status");
        if let Some(status) = status.filter(|_| case.name != "trx-commit-fresh") {
            let used = status["answer"]["queue"]["used"].as_u64().unwrap() as usize;
            assert_eq!(read.min(MAX_QUEUE), used, "{}", case.name);
        }
    }
}

#[test]
fn table_numbers() {
    for row in rows("numbers") {
        let json = Json::parse(row[0].as_str().unwrap().as_bytes()).unwrap();
        assert_eq!(
            String::from_utf8(json.value().compact()).unwrap(),
            row[1].as_str().unwrap(),
            "{row}"
        );
    }
}

#[test]
fn table_strings() {
    for row in rows("strings") {
        let json = Json::parse(&bytes_of(row[0].as_str().unwrap())).unwrap();
        same(
            &row.to_string(),
            &json.value().compact(),
            &bytes_of(row[1].as_str().unwrap()),
        );
    }
}

#[test]
fn table_quote() {
    for row in rows("quote") {
        assert_eq!(quote(row[0].as_str().unwrap()), row[1].as_str().unwrap());
    }
}

#[test]
fn table_printable() {
    let ranges: Vec<(u32, u32)> = table("printable")["printable"]
        .as_array()
        .unwrap()
        .iter()
        .map(|range| {
            let end = |i: usize| range[i].as_u64().unwrap() as u32;
            (end(0), end(1))
        })
        .collect();
    let mut printable = vec![false; 0x110000];
    for (first, last) in ranges {
        printable[first as usize..=last as usize].fill(true);
    }
    for c in '\0'..=char::MAX {
        let code = u32::from(c);
        let printable = printable[code as usize];
        let raw = matches!(c, '"' | '\\') || quote(&c.to_string()) == format!("\"{c}\"");
        assert_eq!(raw, printable, "U+{code:04X}");
    }
}

#[test]
fn table_endings() {
    let record = ChipRecord {
        id: "c".into(),
        tool: "t".into(),
        args: Some(Json::parse(b"{}").unwrap()),
        ..ChipRecord::default()
    };
    for row in rows("endings") {
        let before = bytes_of(row[0].as_str().unwrap());
        let result = insert_header(&before, row[1].as_i64().unwrap(), &insert_text(&record));
        match (row[2].as_str().unwrap(), result) {
            ("ok", Ok(inserted)) => same(
                &row.to_string(),
                &inserted.bytes,
                &bytes_of(row[3].as_str().unwrap()),
            ),
            ("error", Err(error)) => assert_eq!(error.to_string(), row[3].as_str().unwrap()),
            // The server dies of it; here it is an error like others.
            ("crash", Err(InsertError::Negative(_))) => {}
            (_, result) => panic!("{row}: {result:?}"),
        }
    }
}

#[test]
fn table_sizes() {
    for row in rows("sizes") {
        let args = Json::parse(row[0].as_str().unwrap().as_bytes()).unwrap();
        assert_eq!(
            ChipRecord::is_saved(Some(&args)),
            row[1].as_bool().unwrap(),
            "{row}"
        );
    }
    assert!(!ChipRecord::is_saved(None));
}

/// The parts of the table that need no disk: forms and line numbers.
#[test]
fn table_targets() {
    for row in rows("targets") {
        let [from, to, result, message] =
            [0, 1, 2, 3].map(|index| row[index].as_str().unwrap().to_owned());
        let source = parse_source(&from);
        let target = parse_target(&to);
        if result == "ok" {
            assert!(target.is_ok(), "{row}");
            if from.contains("..") {
                // The server finds `chip-c` by climbing; no name is made of such an id here.
                assert_eq!(chip_file_name(source.unwrap()), None);
            }
            continue;
        }
        if message.starts_with("invalid from format") {
            assert_eq!(source.unwrap_err().to_string(), message, "{row}");
        } else if message.starts_with("invalid to format") || message.starts_with("invalid line") {
            assert_eq!(target.unwrap_err().to_string(), message, "{row}");
        } else if message.starts_with("invalid argument: insert") {
            let (_, line) = target.unwrap();
            let error = insert_header(b"one\n", line, b"x").unwrap_err();
            assert_eq!(error.to_string(), message, "{row}");
        } else {
            // An unknown id, or a path that can't be read.
            assert!(target.is_ok(), "{row}");
            assert!(source.is_ok() || from.starts_with("file://"), "{row}");
        }
    }
}

#[test]
fn table_folders() {
    for row in rows("folders") {
        let value = |name: &str| row[0][name].as_str().map(PathBuf::from);
        let variables = Variables {
            xdg_cache_home: value("XDG_CACHE_HOME"),
            home: value("HOME"),
            local_app_data: None,
            better_edit_snapshot_dir: value("BETTER_EDIT_SNAPSHOT_DIR"),
            better_edit_snapshot_persist: row[0]["BETTER_EDIT_SNAPSHOT_PERSIST"]
                .as_str()
                .map(str::to_owned),
        };
        let found = folders(&variables, false, Path::new("/project"));
        assert_eq!(found.chips.to_str(), row[1].as_str(), "{row}");
        let workspace = row[0]["BETTER_EDIT_WORKSPACE"]
            .as_str()
            .unwrap_or("/project");
        let snapshots = found
            .snapshot_dir
            .unwrap_or_else(|| found.snapshot_base.join(workspace_id(workspace.as_bytes())));
        let snapshots = found.snapshots_on.then_some(snapshots);
        assert_eq!(
            snapshots.as_deref().and_then(Path::to_str),
            row[2].as_str(),
            "{row}"
        );
    }
    let windows = folders(
        &Variables {
            local_app_data: Some("/local".into()),
            xdg_cache_home: Some("/xdg".into()),
            ..Variables::default()
        },
        true,
        Path::new("/project"),
    );
    assert_eq!(
        windows.chips,
        Path::new("/local/better-edit-tools-mcp/chips")
    );
}

#[test]
fn table_workspaces() {
    for row in rows("workspaces") {
        assert_eq!(
            workspace_id(row[0].as_str().unwrap().as_bytes()),
            row[1].as_str().unwrap()
        );
    }
}

#[test]
fn our_copy_of_the_cases_is_the_shared_one() {
    let Some(shared) = crate::fixtures::shared("chips") else {
        return;
    };
    let ours = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/chips");
    let mut compared = 0;
    for folder in ["tables", "cases"] {
        let mut waiting = vec![std::path::PathBuf::from(folder)];
        while let Some(at) = waiting.pop() {
            for entry in std::fs::read_dir(shared.join(&at)).unwrap() {
                let entry = entry.unwrap();
                let name = at.join(entry.file_name());
                if entry.file_type().unwrap().is_dir() {
                    waiting.push(name);
                } else {
                    let copy = std::fs::read(ours.join(&name)).unwrap();
                    assert_eq!(copy, std::fs::read(entry.path()).unwrap(), "{name:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 200);
}
