//! Restore on a real disk: hostile paths, links, modes and other attributes, what moved on meanwhile, the history over
//! restarts, two processes.
#![cfg(unix)]

use chipdeck_disk::places::Places;
use chipdeck_disk::restore::{Journal, Located, Reason, RestoreError, Root, Roots};
use chipdeck_replay::restore::{Action, FileImage, Kind, Note, RestorePlan, Step};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A project and places of our own, in one folder that goes away.
struct World {
    place: TempDir,
}

impl World {
    fn new() -> World {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("project")).unwrap();
        World { place }
    }

    fn project(&self) -> PathBuf {
        self.place.path().join("project")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.project().join(path)
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), bytes).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    fn root(&self) -> Root {
        Root::open(&self.project()).unwrap()
    }

    fn places(&self) -> Places {
        Places::below(&self.place.path().join("own"))
    }

    /// As a new process has it.
    fn journal(&self) -> Journal {
        Journal::new(&self.places())
    }

    /// A plan of whole contents; `None` deletes.
    fn plan(&self, wanted: &[(&str, Option<&[u8]>)]) -> RestorePlan {
        let root = self.root();
        let steps = wanted.iter().map(|(path, after)| {
            let found = root.read(path).unwrap();
            let mut step = Step::new(*path, found.image, after.map(FileImage::of));
            found.notes.into_iter().for_each(|note| step.note(note));
            step
        });
        RestorePlan::new(Kind::Files, steps.collect())
    }

    fn restore(&self, wanted: &[(&str, Option<&[u8]>)]) -> String {
        let plan = self.plan(wanted);
        self.journal()
            .apply(&self.root(), &plan, 1_700_000_000_000)
            .unwrap()
            .unwrap()
            .restore
    }

    fn undo(&self, restore: Option<&str>) -> Result<String, RestoreError> {
        let journal = self.journal();
        let (root, plan) = journal.plan_undo(restore)?;
        Ok(journal
            .apply(&root, &plan, 1_700_000_000_001)?
            .unwrap()
            .restore)
    }

    /// Everything below the project: kind, mode, bytes.
    fn everything(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut all = BTreeMap::new();
        let mut todo = vec![self.project()];
        while let Some(path) = todo.pop() {
            let found = path.symlink_metadata().unwrap();
            let bytes = if found.is_dir() {
                todo.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
                Vec::new()
            } else if found.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else {
                fs::read(&path).unwrap()
            };
            all.insert(path, (found.mode(), bytes));
        }
        all
    }
}

fn outside(result: Result<impl std::fmt::Debug, RestoreError>) -> Reason {
    match result {
        Err(RestoreError::Outside(outside)) => outside.reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn where_a_path_of_a_log_lies() {
    let world = World::new();
    let root = world.root();
    let here = root.path().to_str().unwrap().to_owned();
    let below =
        |path: &str, cwd: Option<&str>| root.place(path, cwd).map_err(|outside| outside.reason);
    assert_eq!(below("src/a.rs", None).unwrap(), "src/a.rs");
    assert_eq!(below("./src//./a.rs", None).unwrap(), "src/a.rs");
    assert_eq!(below("src/../b.rs", None).unwrap(), "b.rs");
    // Another machine's folder.
    let cwd = Some("/home/other/project");
    assert_eq!(
        below("/home/other/project/src/a.rs", cwd).unwrap(),
        "src/a.rs"
    );
    assert_eq!(below("/home/other/project/x/../a.rs", cwd).unwrap(), "a.rs");
    // Already below the root, whatever the log's folder is.
    assert_eq!(below(&format!("{here}/src/a.rs"), cwd).unwrap(), "src/a.rs");
    assert_eq!(
        below(&format!("{here}/src/a.rs"), Some("/")).unwrap(),
        "src/a.rs"
    );
    for (path, cwd, reason) in [
        ("", None, Reason::NoFile),
        (".", None, Reason::NoFile),
        ("a\0b", None, Reason::NoFile),
        ("/home/other/project", cwd, Reason::NoFile),
        ("..", None, Reason::Climbs),
        ("../x", None, Reason::Climbs),
        ("a/../../x", None, Reason::Climbs),
        ("/../etc/passwd", None, Reason::Climbs),
        ("/etc/passwd", None, Reason::NotBelow),
        ("/etc/passwd", cwd, Reason::NotBelow),
        ("/home/other/project2/a", cwd, Reason::NotBelow),
        ("/home/other/project/../x", cwd, Reason::NotBelow),
        ("C:\\Users\\me\\a.rs", None, Reason::Foreign),
        ("c:/Users/me/a.rs", None, Reason::Foreign),
        ("\\\\server\\share\\a.rs", None, Reason::Foreign),
        ("C:\\work\\a.rs", Some("C:\\work"), Reason::Foreign),
        ("src\\a.rs", Some("C:\\work"), Reason::Foreign),
    ] {
        assert_eq!(below(path, cwd), Err(reason), "{path:?} {cwd:?}");
    }
}

#[test]
fn a_link_inside_is_followed_and_stays_a_link() {
    let world = World::new();
    world.write("real/file.txt", "old");
    symlink("real", world.at("folder")).unwrap();
    symlink("../folder/file.txt", world.at("real/up.txt")).unwrap();
    symlink(
        world
            .project()
            .canonicalize()
            .unwrap()
            .join("real/file.txt"),
        world.at("absolute.txt"),
    )
    .unwrap();
    let before = world.everything();
    for path in ["folder/file.txt", "real/up.txt", "absolute.txt"] {
        let found = world.root().read(path).unwrap();
        assert_eq!(
            (found.real.as_str(), found.notes.as_slice()),
            ("real/file.txt", &[Note::Symlink][..]),
            "{path}"
        );
        world.restore(&[(path, Some(b"new"))]);
        assert_eq!(world.text("real/file.txt"), "new");
        world.undo(None).unwrap();
        assert_eq!(world.everything(), before);
    }
    // A link to nothing yet: the file is made where it points.
    symlink("later/made.txt", world.at("dangling")).unwrap();
    world.restore(&[("dangling", Some(b"made"))]);
    assert_eq!(world.text("later/made.txt"), "made");
    assert!(world.at("dangling").is_symlink());
    world.undo(None).unwrap();
    assert!(
        !world.at("later").exists(),
        "the folder that was made is gone"
    );
    assert!(world.at("dangling").is_symlink());
}

#[test]
fn a_link_that_leaves_is_refused() {
    let world = World::new();
    let elsewhere = world.place.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("secret"), "secret").unwrap();
    symlink(&elsewhere, world.at("out")).unwrap();
    symlink("../elsewhere/secret", world.at("file")).unwrap();
    symlink("/etc", world.at("etc")).unwrap();
    symlink("a/../../elsewhere", world.at("climbs")).unwrap();
    symlink("loop", world.at("loop")).unwrap();
    fs::create_dir(world.at("a")).unwrap();
    let root = world.root();
    for path in [
        "out/secret",
        "out/new",
        "file",
        "etc/passwd",
        "climbs/secret",
    ] {
        assert_eq!(outside(root.read(path)), Reason::Link, "{path}");
        let plan = RestorePlan::new(
            Kind::File,
            vec![Step::new(path, None, Some(FileImage::of(&b"x"[..])))],
        );
        assert_eq!(
            outside(world.journal().apply(&root, &plan, 1)),
            Reason::Link,
            "{path}"
        );
    }
    assert!(matches!(
        root.read("loop"),
        Err(RestoreError::NotAFile { .. })
    ));
    assert_eq!(fs::read(elsewhere.join("secret")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
    // The folder becomes a link to elsewhere between the plan and the write.
    world.write("inner/a.txt", "1");
    let plan = world.plan(&[("inner/a.txt", Some(b"2"))]);
    fs::rename(world.at("inner"), world.at("moved")).unwrap();
    symlink(&elsewhere, world.at("inner")).unwrap();
    fs::write(elsewhere.join("a.txt"), "1").unwrap();
    assert_eq!(
        outside(world.journal().apply(&root, &plan, 1)),
        Reason::Link
    );
    assert_eq!(fs::read(elsewhere.join("a.txt")).unwrap(), b"1");
}

#[test]
fn steps_of_a_plan_cannot_climb() {
    let world = World::new();
    for path in ["../x", "a/../../x", "/etc/x", "", "a//b", "./a", "a/\0"] {
        let plan = RestorePlan::new(
            Kind::File,
            vec![Step::new(path, None, Some(FileImage::of(&b"x"[..])))],
        );
        assert_eq!(
            outside(world.journal().apply(&world.root(), &plan, 1)),
            Reason::NoFile,
            "{path:?}"
        );
    }
    assert!(!world.place.path().join("x").exists());
}

#[test]
fn our_own_folders_are_never_written() {
    let world = World::new();
    world.write("a", "1");
    world.restore(&[("a", Some(b"2"))]);
    let wide = Root::open(world.place.path()).unwrap();
    for path in [
        "own/data/chipdeck/restores.jsonl",
        "own/config/chipdeck/config.toml",
    ] {
        let found = wide.read(path).unwrap();
        let step = Step::new(path, found.image, Some(FileImage::of(&b"forged"[..])));
        let plan = RestorePlan::new(Kind::File, vec![step]);
        assert_eq!(
            outside(world.journal().apply(&wide, &plan, 1)),
            Reason::OwnPlace,
            "{path}"
        );
    }
    assert_eq!(world.journal().history().unwrap().len(), 1);
}

#[test]
fn our_own_folders_are_known_by_any_name() {
    let world = World::new();
    let real = world.place.path().join("real-home");
    fs::create_dir(&real).unwrap();
    symlink(&real, world.place.path().join("own")).unwrap();
    world.write("a", "1");
    world.restore(&[("a", Some(b"2"))]);
    let wide = Root::open(&real).unwrap();
    let step = Step::new("data/chipdeck/new", None, Some(FileImage::of(&b"x"[..])));
    let plan = RestorePlan::new(Kind::File, vec![step]);
    assert_eq!(
        outside(world.journal().apply(&wide, &plan, 1)),
        Reason::OwnPlace
    );
}

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
fn only_one_file_may_be_allowed() {
    let world = World::new();
    world.write("a.txt", "1");
    world.write("b.txt", "1");
    symlink("a.txt", world.at("same")).unwrap();
    let root = world.root().only("a.txt");
    let plan = world.plan(&[("a.txt", Some(b"2"))]);
    world.journal().apply(&root, &plan, 1).unwrap().unwrap();
    let plan = world.plan(&[("b.txt", Some(b"2"))]);
    assert_eq!(
        outside(world.journal().apply(&root, &plan, 1)),
        Reason::NotGranted
    );
    assert!(root.read("same").is_ok(), "the same file by another way");
    assert_eq!(world.text("b.txt"), "1");
}

#[test]
fn which_root_a_path_belongs_to() {
    let world = World::new();
    let (one, two) = (world.at("one"), world.at("two"));
    fs::create_dir_all(one.join("deep")).unwrap();
    fs::create_dir_all(&two).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let place = |located: Located| match located {
        Located::Inside { root, path } => (root.path().to_owned(), path),
        Located::Ask { folder, file } => panic!("asks for {folder:?} {file}"),
        Located::Never(outside) => panic!("{outside}"),
    };
    let mut roots = Roots::default();
    // A log never makes its folder a root.
    match roots.locate("a.rs", Some(&path(&one))) {
        Located::Ask { folder, file } => assert_eq!((folder, file.as_str()), (one.clone(), "a.rs")),
        _ => panic!("it must ask"),
    }
    roots.allow(&one).unwrap();
    let (one, two) = (one.canonicalize().unwrap(), two.canonicalize().unwrap());
    assert_eq!(
        place(roots.locate("a.rs", Some(&path(&one)))),
        (one.clone(), "a.rs".to_owned())
    );
    assert_eq!(
        place(roots.locate("a.rs", Some(&path(&one.join("deep"))))),
        (one.clone(), "deep/a.rs".to_owned())
    );
    assert_eq!(
        place(roots.locate(&path(&one.join("x/a.rs")), None)),
        (one.clone(), "x/a.rs".to_owned())
    );
    // The log's folder is here but not opened: no other root takes its files.
    assert!(matches!(
        roots.locate("a.rs", Some(&path(&two))),
        Located::Ask { .. }
    ));
    // Another machine's log: the newest root that has the file, else the newest.
    fs::write(one.join("known.rs"), "").unwrap();
    roots.allow(&two).unwrap();
    let foreign = Some("/nowhere/project");
    assert_eq!(
        place(roots.locate("/nowhere/project/known.rs", foreign)),
        (one.clone(), "known.rs".to_owned())
    );
    assert_eq!(
        place(roots.locate("/nowhere/project/new.rs", foreign)),
        (two.clone(), "new.rs".to_owned())
    );
    // The deepest root wins.
    roots.allow(&one.join("deep")).unwrap();
    assert_eq!(
        place(roots.locate(&path(&one.join("deep/a")), None)),
        (one.join("deep"), "a".to_owned())
    );
    for path in ["../a", "C:\\a", ""] {
        assert!(
            matches!(roots.locate(path, foreign), Located::Never(_)),
            "{path:?}"
        );
    }
    match roots.locate("/etc/hosts", foreign) {
        Located::Ask { folder, file } => {
            assert_eq!((folder, file.as_str()), (PathBuf::from("/etc"), "hosts"))
        }
        _ => panic!("it must ask"),
    }
    assert!(matches!(
        roots.locate("/nowhere/else/a", foreign),
        Located::Never(_)
    ));
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
                what: "a folder stands there",
                ..
            })
        ),
        "{folder:?}"
    );
    let below = world.root().read("a/b/c").unwrap_err();
    assert!(matches!(
        below,
        RestoreError::NotAFile {
            what: "a file stands where a folder is needed",
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

#[test]
fn undo_of_an_undo_and_the_history_over_restarts() {
    let world = World::new();
    world.write("a", "1");
    let first = world.restore(&[("a", Some(b"2")), ("made/b", Some(b"b"))]);
    let second = world.restore(&[("a", Some(b"3"))]);
    assert!(
        matches!(world.undo(Some(&first)), Err(RestoreError::Moved(_))),
        "the newer one is in the way"
    );
    let undo_second = world.undo(None).unwrap();
    assert_eq!(world.text("a"), "2");
    let undo_first = world.undo(None).unwrap();
    assert_eq!(world.text("a"), "1");
    assert!(!world.at("made").exists());
    assert!(matches!(world.undo(None), Err(RestoreError::NothingToUndo)));
    assert!(matches!(
        world.undo(Some(&first)),
        Err(RestoreError::AlreadyUndone { .. })
    ));
    // The id of an undo brings its restore back.
    let redo = world.undo(Some(&undo_first)).unwrap();
    assert_eq!(
        (world.text("a").as_str(), world.text("made/b").as_str()),
        ("2", "b")
    );
    let history = world.journal().history().unwrap();
    let rows: Vec<_> = history
        .iter()
        .map(|past| {
            (
                past.id.as_str(),
                past.undo_of.as_deref(),
                past.undone_by.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (redo.as_str(), Some(undo_first.as_str()), None),
            (
                undo_first.as_str(),
                Some(first.as_str()),
                Some(redo.as_str())
            ),
            (undo_second.as_str(), Some(second.as_str()), None),
            (second.as_str(), None, Some(undo_second.as_str())),
            (first.as_str(), None, None),
        ]
    );
    // It stands again, so it can be undone again.
    world.undo(None).unwrap();
    assert_eq!(world.text("a"), "1");
    assert!(matches!(
        world.undo(Some("r0")),
        Err(RestoreError::UnknownRestore(_))
    ));
}

#[test]
fn an_undo_waits_for_the_files_as_its_restore_left_them() {
    let world = World::new();
    world.write("a", "1");
    world.restore(&[("a", Some(b"2")), ("b", Some(b"2"))]);
    world.write("a", "edited since");
    fs::remove_file(world.at("b")).unwrap();
    match world.undo(None) {
        Err(RestoreError::Moved(moved)) => assert_eq!(moved.len(), 2),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.text("a"), "edited since");
    world.write("a", "2");
    world.write("b", "2");
    world.undo(None).unwrap();
    assert_eq!(world.text("a"), "1");
}

#[test]
fn a_folder_that_was_made_stays_if_somebody_used_it() {
    let world = World::new();
    world.restore(&[("x/y/z", Some(b"1"))]);
    world.write("x/other", "mine");
    world.undo(None).unwrap();
    assert!(!world.at("x/y").exists());
    assert_eq!(world.text("x/other"), "mine");
}

#[test]
fn our_own_places_are_closed_to_others_and_the_journal_is_a_log() {
    let world = World::new();
    world.write("a", "1");
    let first = world.restore(&[("a", Some(b"2")), ("b", Some(b"2"))]);
    let undo = world.undo(None).unwrap();
    let data = world.places().data;
    let mut todo = vec![data.clone()];
    while let Some(path) = todo.pop() {
        let found = fs::metadata(&path).unwrap();
        let mode = if found.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(found.mode() & 0o777, mode, "{}", path.display());
        if found.is_dir() {
            todo.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
    }
    let reading = chipdeck_engine::log::Reading::of(&data.join("restores.jsonl")).unwrap();
    assert!(reading.format.is_canonical());
    assert_eq!(reading.timeline.len(), 4);
    assert!(
        reading.timeline.findings().is_empty(),
        "{:?}",
        reading.timeline.findings()
    );
    let text = fs::read_to_string(data.join("restores.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (n, line) in lines.iter().enumerate() {
        assert_eq!(
            (&line["type"], &line["seq"], &line["version"]),
            (&"restore.apply".into(), &n.into(), &1.into())
        );
        assert!(line["timestamp"].is_i64());
    }
    assert_eq!(lines[0]["payload"]["restoreId"], first.as_str());
    assert_eq!(lines[0]["payload"]["path"], "a");
    assert!(
        lines[1]["payload"].get("beforeSha256").is_none(),
        "absent before"
    );
    assert_eq!(lines[2]["payload"]["restoreId"], undo.as_str());
    assert_eq!(lines[2]["payload"]["undoOf"], first.as_str());
}

#[test]
fn a_torn_last_line_of_the_journal_is_mended_before_the_next() {
    let world = World::new();
    world.write("a", "1");
    world.restore(&[("a", Some(b"2"))]);
    let journal = world.places().data.join("restores.jsonl");
    let whole = fs::read(&journal).unwrap();
    fs::write(&journal, [&whole[..], b"{\"eventId\":\"torn"].concat()).unwrap();
    assert_eq!(world.journal().history().unwrap().len(), 1);
    world.restore(&[("a", Some(b"3"))]);
    let text = fs::read_to_string(&journal).unwrap();
    assert!(text.as_bytes().starts_with(&whole) && !text.contains("torn"));
    assert_eq!(world.journal().history().unwrap().len(), 2);
    // A line of somebody else's, and one without its newline, are kept.
    let mut text = fs::read(&journal).unwrap();
    text.splice(0..0, b"not ours\n".iter().copied());
    text.pop();
    fs::write(&journal, &text).unwrap();
    world.restore(&[("a", Some(b"4"))]);
    assert!(fs::read(&journal)
        .unwrap()
        .starts_with(&[&text[..], b"\n"].concat()));
    assert_eq!(world.journal().history().unwrap().len(), 3);
}

#[test]
fn a_kept_copy_that_is_gone_or_damaged_is_said_and_nothing_is_written() {
    let world = World::new();
    world.write("a", "1");
    world.restore(&[("a", Some(b"2"))]);
    let images = world.places().data.join("images");
    for shelf in fs::read_dir(&images).unwrap() {
        for image in fs::read_dir(shelf.unwrap().path()).unwrap() {
            fs::write(image.unwrap().path(), "damaged").unwrap();
        }
    }
    assert!(matches!(
        world.undo(None),
        Err(RestoreError::ImageGone { .. })
    ));
    assert_eq!(world.text("a"), "2");
    // The next restore keeps good copies again.
    world.restore(&[("a", Some(b"1"))]);
    world.undo(None).unwrap();
    assert_eq!(world.text("a"), "2");
}

#[test]
fn restores_at_the_same_time_do_not_mix() {
    let world = World::new();
    for n in 0..4 {
        world.write(&format!("f{n}"), "0");
    }
    std::thread::scope(|threads| {
        for n in 0..4 {
            let world = &world;
            threads.spawn(move || {
                let path = format!("f{n}");
                for round in 1..=5_u8 {
                    world.restore(&[(&path, Some(&[b'0' + round]))]);
                }
            });
        }
    });
    let history = world.journal().history().unwrap();
    assert_eq!(history.len(), 20);
    let mut ids: Vec<&str> = history.iter().map(|past| past.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 20);
    for _ in 0..20 {
        world.undo(None).unwrap();
    }
    for n in 0..4 {
        assert_eq!(world.text(&format!("f{n}")), "0");
    }
    let reading =
        chipdeck_engine::log::Reading::of(&world.places().data.join("restores.jsonl")).unwrap();
    assert_eq!(reading.timeline.len(), 40);
    assert!(
        reading.timeline.findings().is_empty(),
        "{:?}",
        reading.timeline.findings()
    );
}

#[test]
fn two_of_the_same_plan_write_once() {
    let world = World::new();
    world.write("a", "1");
    let plan = world.plan(&[("a", Some(b"2"))]);
    let root = world.root();
    let outcomes: Vec<bool> = std::thread::scope(|threads| {
        let both: Vec<_> = (0..2)
            .map(|_| threads.spawn(|| world.journal().apply(&root, &plan, 1).is_ok()))
            .collect();
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|ok| **ok).count(), 1);
    assert_eq!(world.journal().history().unwrap().len(), 1);
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
