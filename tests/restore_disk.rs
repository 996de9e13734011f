//! Restore on a real disk: bytes, modes and other attributes, what stands in the way, what moved on meanwhile.
#![cfg(unix)]

use crate::restore_world::World;
use chipdeck_disk::restore::{InTheWay, RestoreError, Root};
use chipdeck_replay::restore::{Action, FileImage, Kind, Note, RestorePlan, Step};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

#[test]
fn a_plan_that_knows_no_attributes_keeps_them_all_the_same() {
    let world = World::new();
    world.write("a", "1");
    fs::set_permissions(world.at("a"), PermissionsExt::from_mode(0o750)).unwrap();
    let step = Step::new("a", Some(FileImage::of(&b"1"[..])), None);
    let plan = RestorePlan::new(Kind::File, vec![step]);
    let root = world.root();
    world.journal().apply(&root, &plan, 1).unwrap().unwrap();
    assert!(!world.at("a").exists());
    world.undo(None).unwrap();
    assert_eq!(fs::metadata(world.at("a")).unwrap().mode() & 0o7777, 0o750);
}

#[test]
fn a_tree_of_many_files_takes_seconds_at_most() {
    let world = World::new();
    let names: Vec<String> = (0..1_500).map(|n| format!("d{}/f{n}", n % 40)).collect();
    let wanted: Vec<(&str, Option<&[u8]>)> = names
        .iter()
        .map(|name| (name.as_str(), Some(name.as_bytes())))
        .collect();
    let started = std::time::Instant::now();
    world.restore(&wanted);
    let undone = world.undo(None);
    eprintln!("1,500 files there and back: {:?}", started.elapsed());
    undone.unwrap();
    assert_eq!(fs::read_dir(world.project()).unwrap().count(), 0);
    assert!(started.elapsed().as_secs() < 120);
}

#[test]
fn mode_owner_and_extended_attributes_stay() {
    let world = World::new();
    world.write("run.sh", "old");
    fs::set_permissions(world.at("run.sh"), PermissionsExt::from_mode(0o4751)).unwrap();
    let attributes = xattr::set(world.at("run.sh"), "user.note", b"\x00\xff").is_ok();
    // As root another owner can be tried.
    let owner = std::os::unix::fs::chown(world.at("run.sh"), Some(12345), Some(23456)).is_ok();
    fs::set_permissions(world.at("run.sh"), PermissionsExt::from_mode(0o4751)).unwrap();
    let look = || {
        let found = fs::metadata(world.at("run.sh")).unwrap();
        let note = xattr::get(world.at("run.sh"), "user.note").ok().flatten();
        (found.mode() & 0o7777, found.uid(), found.gid(), note)
    };
    let before = look();
    assert_eq!(before.0, 0o4751);
    assert!(!owner || before.1 == 12345);
    assert!(!attributes || before.3.is_some());
    world.restore(&[("run.sh", Some(b"new"))]);
    assert_eq!(
        (world.text("run.sh").as_str(), look()),
        ("new", before.clone())
    );
    world.undo(None).unwrap();
    assert_eq!(
        (world.text("run.sh").as_str(), look()),
        ("old", before.clone())
    );
    // Deleted and brought back.
    world.restore(&[("run.sh", None)]);
    assert!(!world.at("run.sh").exists());
    world.undo(None).unwrap();
    assert_eq!((world.text("run.sh").as_str(), look()), ("old", before));
}

#[test]
fn a_hard_link_is_broken_and_said_so() {
    let world = World::new();
    world.write("a.txt", "old");
    fs::hard_link(world.at("a.txt"), world.at("b.txt")).unwrap();
    let plan = world.plan(&[("a.txt", Some(b"new"))]);
    assert!(plan.steps[0].notes.contains(&Note::HardLink));
    world.restore(&[("a.txt", Some(b"new"))]);
    assert_eq!(
        (world.text("a.txt").as_str(), world.text("b.txt").as_str()),
        ("new", "old")
    );
}

#[test]
fn bytes_are_bytes() {
    let world = World::new();
    let texts: [&[u8]; 6] = [
        b"\xef\xbb\xbfa\r\nb\r\n",
        b"a\r\nb\nc",
        b"",
        b"\n",
        b"\x00\xff\xfe",
        b"no newline",
    ];
    for before in texts {
        for after in texts {
            world.write("f", before);
            if before == after {
                let plan = world.plan(&[("f", Some(after))]);
                assert_eq!(plan.steps[0].action(), Action::None);
                assert_eq!(
                    world.journal().apply(&world.root(), &plan, 1).unwrap(),
                    None
                );
                continue;
            }
            world.restore(&[("f", Some(after))]);
            assert_eq!(fs::read(world.at("f")).unwrap(), after);
            world.undo(None).unwrap();
            assert_eq!(fs::read(world.at("f")).unwrap(), before);
        }
    }
}

#[test]
fn a_precondition_that_fails_changes_nothing_at_all() {
    let world = World::new();
    world.write("a", "1");
    world.write("b", "1");
    let plan = world.plan(&[("a", Some(b"2")), ("b", Some(b"2")), ("new", Some(b"2"))]);
    world.write("b", "moved on");
    world.write("new", "somebody's");
    let before = world.everything();
    match world.journal().apply(&world.root(), &plan, 1) {
        Err(RestoreError::Moved(moved)) => {
            let paths: Vec<&str> = moved.iter().map(|moved| moved.path.as_str()).collect();
            assert_eq!(paths, ["b", "new"]);
            assert_eq!(moved[1].expected, None);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(world.everything(), before);
    assert!(world.journal().history().unwrap().is_empty());
}

#[test]
fn what_stands_in_the_way_is_told_and_left_alone() {
    let world = World::new();
    world.write("a/b", "1");
    world.write("file", "1");
    let plan = world.plan(&[("file", Some(b"2"))]);
    fs::remove_file(world.at("file")).unwrap();
    fs::create_dir(world.at("file")).unwrap();
    let folder = world.journal().apply(&world.root(), &plan, 1);
    assert!(
        matches!(
            folder,
            Err(RestoreError::NotAFile {
                what: InTheWay::Folder,
                ..
            })
        ),
        "{folder:?}"
    );
    let below = world.root().read("a/b/c").unwrap_err();
    assert!(matches!(
        below,
        RestoreError::NotAFile {
            what: InTheWay::File,
            ..
        }
    ));
    let socket = std::os::unix::net::UnixListener::bind(world.at("socket")).unwrap();
    assert!(matches!(
        world.root().read("socket"),
        Err(RestoreError::NotAFile { .. })
    ));
    drop(socket);
    // One file by two ways in one plan.
    symlink("a/b", world.at("link")).unwrap();
    let plan = world.plan(&[("a/b", Some(b"2")), ("link", Some(b"3"))]);
    let twice = world.journal().apply(&world.root(), &plan, 1);
    assert!(
        matches!(twice, Err(RestoreError::SameFile { .. })),
        "{twice:?}"
    );
    assert_eq!(world.text("a/b"), "1");
}

#[test]
fn a_folder_that_cannot_be_written_fails_cleanly() {
    // Nobody can make files in sysfs, not even root.
    let Ok(root) = Root::open(Path::new("/sys/kernel")) else {
        eprintln!("skipped: no /sys/kernel");
        return;
    };
    let world = World::new();
    let step = Step::new("chipdeck-test", None, Some(FileImage::of(&b"x"[..])));
    let plan = RestorePlan::new(Kind::File, vec![step]);
    let outcome = world.journal().apply(&root, &plan, 1);
    assert!(
        matches!(outcome, Err(RestoreError::PutBack { .. })),
        "{outcome:?}"
    );
    assert!(world.journal().history().unwrap().is_empty());
    assert!(
        world.journal().settle(2).unwrap().is_empty(),
        "nothing is left to settle"
    );
}

/// A name, a content, a mode; a wanted content or none.
type Wish = (u8, Option<Vec<u8>>, u32, Option<Vec<u8>>);

fn wishes() -> impl Strategy<Value = Vec<Wish>> {
    let bytes = || {
        prop::option::of(prop::collection::vec(
            prop::sample::select(b"ab\r\n\0\xff".to_vec()),
            0..6,
        ))
    };
    let mode = prop::sample::select(vec![0o644, 0o600, 0o755, 0o400, 0o666]);
    prop::collection::vec((0..6_u8, bytes(), mode, bytes()), 1..6).prop_map(|mut all| {
        all.sort_by_key(|wish| wish.0);
        all.dedup_by_key(|wish| wish.0);
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_and_its_inverse_leave_everything_as_it_was(wishes in wishes()) {
        const NAMES: [&str; 6] = ["a", "b/c", "b/d", "e/f/g", "e/h", "ü 名.txt"];
        let world = World::new();
        for (name, before, mode, _) in &wishes {
            if let Some(bytes) = before {
                let path = NAMES[usize::from(*name)];
                world.write(path, bytes);
                fs::set_permissions(world.at(path), PermissionsExt::from_mode(*mode)).unwrap();
            }
        }
        let before = world.everything();
        let wanted: Vec<(&str, Option<&[u8]>)> =
            wishes.iter().map(|(name, _, _, after)| (NAMES[usize::from(*name)], after.as_deref())).collect();
        let plan = world.plan(&wanted);
        let applied = world.journal().apply(&world.root(), &plan, 1).unwrap();
        for (path, after) in &wanted {
            let found = fs::read(world.at(path)).ok();
            prop_assert_eq!(found.as_deref(), *after);
        }
        if applied.is_none() {
            prop_assert_eq!(world.everything(), before);
            return Ok(());
        }
        let after = world.everything();
        // The journal's undo, and an undo of that.
        let undo = world.undo(None).unwrap();
        prop_assert_eq!(&world.everything(), &before);
        let redo = world.undo(Some(&undo)).unwrap();
        prop_assert_eq!(&world.everything(), &after);
        world.undo(Some(&redo)).unwrap();
        prop_assert_eq!(&world.everything(), &before);
        // And the plan's own inverse.
        world.journal().apply(&world.root(), &plan, 2).unwrap().unwrap();
        let mut inverse = plan.invert(Kind::Undo, None);
        // What a plan makes on the way is the journal's to know.
        let made = world.journal().history().unwrap()[0].steps.iter().flat_map(|s| s.made_folders.clone()).rev().collect();
        if let Some(last) = inverse.steps.last_mut() { last.prune = made; }
        world.journal().apply(&world.root(), &inverse, 3).unwrap().unwrap();
        let files = |all: BTreeMap<PathBuf, (u32, Vec<u8>)>| all.into_iter().filter(|(p, _)| !p.is_dir()).collect::<Vec<_>>();
        prop_assert_eq!(files(world.everything()), files(before));
    }
}
