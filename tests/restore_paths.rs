//! Where a restore may write: hostile paths, links, roots, our own folders.
#![cfg(unix)]

use crate::restore_world::World;
use chipdeck_disk::restore::{Located, Reason, RestoreError, Root, Roots};
use chipdeck_replay::restore::{FileImage, Kind, Note, RestorePlan, Step};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

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
fn a_root_by_another_name_and_one_that_is_no_text() {
    use std::os::unix::ffi::OsStringExt;
    let world = World::new();
    world.write("a.txt", "old");
    let alias = world.place.path().join("alias");
    symlink(world.project(), &alias).unwrap();
    // A log that ran below the other name.
    let root = Root::open(&alias).unwrap();
    assert_eq!(root.path(), world.project().canonicalize().unwrap());
    let named = alias.join("a.txt");
    assert_eq!(root.place(named.to_str().unwrap(), None).unwrap(), "a.txt");
    // Links that point below that name lead inside.
    symlink(&named, world.at("by-alias")).unwrap();
    assert_eq!(root.read("by-alias").unwrap().real, "a.txt");

    let odd = world
        .place
        .path()
        .join(std::ffi::OsString::from_vec(b"pr\xffoject".to_vec()));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("a.txt"), "old").unwrap();
    let root = Root::open(&odd).unwrap();
    let found = root.read("a.txt").unwrap();
    let step = Step::new("a.txt", found.image, Some(FileImage::of(&b"new"[..])));
    let plan = RestorePlan::new(Kind::File, vec![step]);
    world.journal().apply(&root, &plan, 1).unwrap().unwrap();
    assert_eq!(fs::read(odd.join("a.txt")).unwrap(), b"new");
    world.undo(None).unwrap();
    assert_eq!(fs::read(odd.join("a.txt")).unwrap(), b"old");
}
