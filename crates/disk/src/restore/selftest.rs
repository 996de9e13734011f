//! The write path made to fail at every step, in every way: afterwards a target has the old bytes or the new
//! ones, never anything between; all of them the old or all the new; nothing is lost and nothing is left over.

use super::journal::FILE;
use super::*;
use crate::folder::faulty::{Fault, Faults};
use crate::folder::memory::{MemoryFolder, PowerCut};
use crate::folder::{Folder, RealFolder};
use chipdeck_replay::restore::{Action, Kind, Known, Mode, RestorePlan, Want};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

type Tree = BTreeMap<String, (Vec<u8>, Option<u32>)>;

/// A project and our data folder on one disk.
#[derive(Clone)]
struct World {
    project: Arc<dyn Folder>,
    data: Arc<dyn Folder>,
    /// From so many files on, all are flushed together.
    many: usize,
}

const ROOT: &str = "/project";

impl World {
    fn root(&self, faults: &Faults) -> Root {
        Root::with(Path::new(ROOT), faults.over(self.project.clone()))
    }

    fn journal(&self, faults: &Faults) -> Journal {
        let (world, own) = (self.clone(), faults.clone());
        let open = move |path: &Path| {
            assert_eq!(path, Path::new(ROOT));
            Ok(world.root(&own))
        };
        Journal::with(faults.over(self.data.clone()), Box::new(open), self.many)
    }
}

/// One of each: a replaced file, a made one in new folders, a second one there, a deleted one, one through a link, a
/// file that becomes a folder, a folder that becomes a file.
const BEFORE: [(&str, &[u8], u32); 7] = [
    ("becomes-folder", b"a file\n", 0o700),
    ("becomes-file/in/here", b"1", 0o644),
    ("becomes-file/there", b"2", 0o600),
    ("src/a.rs", b"old a\r\n", 0o755),
    ("gone.txt", b"only copy", 0o640),
    ("deep/real.txt", b"behind a link\n", 0o600),
    ("stays.txt", b"never touched", 0o644),
];

fn plan(root: &Root) -> RestorePlan {
    let wanted: [(&str, Option<&[u8]>); 10] = [
        ("src/a.rs", Some(b"\xef\xbb\xbfnew a, longer than before\n")),
        ("becomes-file", Some(b"a file now\n")),
        ("becomes-folder/x/y", Some(b"in a folder now\n")),
        ("becomes-file/in/here", None),
        ("becomes-file/there", None),
        ("becomes-folder", None),
        ("new/folders/b.rs", Some(b"b")),
        ("new/c.rs", Some(b"")),
        ("gone.txt", None),
        ("link.txt", Some(b"written through the link\n")),
    ];
    let wants = wanted.map(|(path, theirs)| Want {
        path: path.to_owned(),
        theirs: theirs.map_or(Known::Absent, |bytes| Known::Content(bytes.into())),
        base: Known::Unknown,
        unverified: false,
    });
    let draft = root
        .draft(Kind::Tree, &wants, None, Mode::Overwrite)
        .unwrap();
    draft.plan().unwrap()
}

/// Files flushed together, and one by one.
const BOTH: [usize; 2] = [1, usize::MAX];

fn memory_world(many: usize) -> (World, MemoryFolder, MemoryFolder) {
    let (project, data) = (MemoryFolder::empty(), MemoryFolder::empty());
    for (path, bytes, mode) in BEFORE {
        project.put(path, bytes, mode);
    }
    project.put_link("link.txt", "deep/../deep/real.txt");
    project.flush_all();
    let world = World {
        project: Arc::new(project.clone()),
        data: Arc::new(data.clone()),
        many,
    };
    (world, project, data)
}

/// The tree before and after the plan.
fn both_trees() -> (Tree, Tree) {
    let (world, project, _) = memory_world(1);
    let before = project.everything();
    let none = Faults::default();
    let root = world.root(&none);
    let plan = plan(&root);
    assert!(plan.steps.iter().all(|step| step.action() != Action::None));
    assert_eq!(plan.steps.len(), 10);
    world
        .journal(&none)
        .apply(&root, &plan, 1)
        .unwrap()
        .unwrap();
    let after = project.everything();
    assert_eq!(
        after["/src/a.rs"],
        (
            b"\xef\xbb\xbfnew a, longer than before\n".to_vec(),
            Some(0o755)
        )
    );
    assert_eq!(after["/new/folders/b.rs"], (b"b".to_vec(), Some(0o644)));
    assert_eq!(
        after["/deep/real.txt"],
        (b"written through the link\n".to_vec(), Some(0o600))
    );
    assert!(
        after["/link.txt"].0.starts_with(b"-> "),
        "the link stays a link"
    );
    assert!(!after.contains_key("/gone.txt"));
    assert_eq!(after["/becomes-file"].0, b"a file now\n");
    assert_eq!(after["/becomes-folder/x/y"].0, b"in a folder now\n");
    (before, after)
}

/// Temporary files are nobody's target; they may be there until the next start.
fn targets(tree: &Tree) -> Tree {
    let own = |path: &String| path.contains("/.chipdeck-") || path.ends_with('/');
    tree.iter()
        .filter(|(path, _)| !own(path))
        .map(|(path, file)| (path.clone(), file.clone()))
        .collect()
}

fn assert_never_between(now: &Tree, before: &Tree, after: &Tree, said: &str) {
    for path in before
        .keys()
        .chain(after.keys())
        .filter(|path| !path.ends_with('/'))
    {
        let found = now.get(path);
        assert!(
            found == before.get(path) || found == after.get(path),
            "{path} is between: {found:?}; {said}"
        );
    }
    for path in targets(now).keys() {
        assert!(
            before.contains_key(path) || after.contains_key(path),
            "{path} came from nowhere; {said}"
        );
    }
}

/// The journal must agree with the disk, and everything must still be undoable.
fn assert_story(
    world: &World,
    project: &MemoryFolder,
    (before, after): (&Tree, &Tree),
    said: &str,
) {
    let none = Faults::default();
    let journal = world.journal(&none);
    let history = journal.history().unwrap();
    let now = project.everything();
    if now == *before {
        assert!(history.is_empty(), "{history:?}; {said}");
    } else {
        assert_eq!(now, *after, "{said}");
        assert_eq!(history.len(), 1, "{said}");
        let (root, undo) = journal.plan_undo(None).unwrap();
        journal.apply(&root, &undo, 3).unwrap().unwrap();
        assert_eq!(project.everything(), *before, "undone; {said}");
    }
    let bytes = match world.data.read(OsStr::new(FILE)) {
        Ok(read) => read.bytes,
        Err(_) => return,
    };
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let value: serde_json::Value =
            serde_json::from_slice(line).unwrap_or_else(|e| panic!("{e}; {said}"));
        assert_eq!(value["type"], "restore.apply", "{said}");
    }
}

#[test]
fn every_step_fails_once_in_every_way() {
    let (before, after) = both_trees();
    let mut tried = 0;
    let ways = BOTH.map(|many| Fault::ALL.map(|fault| (many, fault)));
    for (many, fault) in ways.into_iter().flatten() {
        for at in 0.. {
            let (world, project, _) = memory_world(many);
            let none = Faults::default();
            let plan = plan(&world.root(&none));
            let faults = Faults::at(at, fault);
            let outcome = world.journal(&faults).apply(&world.root(&faults), &plan, 1);
            if faults.steps() <= at {
                assert!(outcome.is_ok());
                break;
            }
            tried += 1;
            let said = format!(
                "{fault:?} at step {at} ({:?}): {outcome:?}",
                faults.log().last()
            );
            let now = project.everything();
            assert_never_between(&now, &before, &after, &said);
            if !fault.is_death() {
                match &outcome {
                    Ok(_) => assert_eq!(now, after, "{said}"),
                    Err(RestoreError::Broken { .. }) => {
                        panic!("one fault cannot break the way back: {said}")
                    }
                    Err(_) => assert_eq!(now, before, "{said}"),
                }
            }
            let settled = world.journal(&none).settle(2).unwrap();
            assert!(
                settled
                    .iter()
                    .all(|s| !matches!(s.outcome, Outcome::Waiting(_))),
                "{settled:?}; {said}"
            );
            assert_story(&world, &project, (&before, &after), &said);
        }
    }
    assert!(tried > 600, "{tried}");
}

#[test]
fn the_power_goes_at_every_step() {
    let (before, after) = both_trees();
    let cuts = [
        PowerCut::NamesLost,
        PowerCut::NamesKept,
        PowerCut::Some(0x5a5a_a5a5_1234_9876),
        PowerCut::Some(0xa5a5_5a5a_8765_4321),
    ];
    let mut tried = 0;
    let ways = BOTH.map(|many| cuts.map(|cut| (many, cut)));
    for (many, cut) in ways.into_iter().flatten() {
        for fault in [Fault::DeadBefore, Fault::DeadAfter] {
            for at in 0.. {
                let (world, project, data) = memory_world(many);
                let none = Faults::default();
                let plan = plan(&world.root(&none));
                let faults = Faults::at(at, fault);
                let outcome = world.journal(&faults).apply(&world.root(&faults), &plan, 1);
                if faults.steps() <= at {
                    break;
                }
                tried += 1;
                project.cut_power(cut);
                data.cut_power(cut);
                let said = format!(
                    "{cut:?} {fault:?} at step {at} ({:?}): {outcome:?}",
                    faults.log().last()
                );
                assert_never_between(&project.everything(), &before, &after, &said);
                let settled = world.journal(&none).settle(2).unwrap();
                assert!(
                    settled
                        .iter()
                        .all(|s| !matches!(s.outcome, Outcome::Waiting(_))),
                    "{settled:?}; {said}"
                );
                assert_story(&world, &project, (&before, &after), &said);
            }
        }
    }
    assert!(tried > 600, "{tried}");
}

#[test]
fn what_was_told_as_done_outlives_a_power_cut() {
    for cut in [PowerCut::NamesLost, PowerCut::NamesKept] {
        let (_, after) = both_trees();
        let (world, project, data) = memory_world(1);
        let none = Faults::default();
        let root = world.root(&none);
        world
            .journal(&none)
            .apply(&root, &plan(&root), 1)
            .unwrap()
            .unwrap();
        project.cut_power(cut);
        data.cut_power(cut);
        assert_eq!(project.everything(), after);
        world.journal(&none).settle(2).unwrap();
        assert_eq!(world.journal(&none).history().unwrap().len(), 1);
        assert_eq!(project.everything(), after);
    }
}

#[test]
fn settling_dies_at_every_step_and_is_settled_by_the_next_start() {
    let (before, after) = both_trees();
    // Deaths of the restore at some places, then of the settling at every place.
    let (world, _, _) = memory_world(1);
    let none = Faults::default();
    let counting = Faults::default();
    let root = world.root(&none);
    world
        .journal(&counting)
        .apply(&world.root(&counting), &plan(&root), 1)
        .unwrap();
    let steps = counting.steps();
    let mut tried = 0;
    for first in (steps / 2..steps).step_by(7) {
        for at in 0.. {
            let (world, project, data) = memory_world(if first % 2 == 0 { 1 } else { usize::MAX });
            let plan = plan(&world.root(&none));
            let faults = Faults::at(first, Fault::DeadAfter);
            let _ = world.journal(&faults).apply(&world.root(&faults), &plan, 1);
            data.cut_power(PowerCut::NamesKept);
            let faults = Faults::at(at, Fault::DeadAfter);
            let _ = world.journal(&faults).settle(2);
            if faults.steps() <= at {
                break;
            }
            tried += 1;
            data.cut_power(PowerCut::NamesKept);
            project.cut_power(PowerCut::NamesKept);
            let said = format!("died at {first}, then at {at} ({:?})", faults.log().last());
            assert_never_between(&project.everything(), &before, &after, &said);
            let settled = world.journal(&none).settle(3).unwrap();
            assert!(
                settled
                    .iter()
                    .all(|s| !matches!(s.outcome, Outcome::Waiting(_))),
                "{settled:?}; {said}"
            );
            assert_story(&world, &project, (&before, &after), &said);
        }
    }
    assert!(tried > 500, "{tried}");
}

/// The same on the real file system.
#[test]
fn every_step_fails_once_on_the_real_disk() {
    let none = Faults::default();
    let make = || {
        // In memory where there is such a file system: thousands of flushes.
        let place = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let place = place.unwrap();
        let (project, data) = (place.path().join("project"), place.path().join("data"));
        std::fs::create_dir(&project).unwrap();
        std::fs::create_dir(&data).unwrap();
        for (path, bytes, mode) in BEFORE {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            set_mode(&path, mode);
        }
        link("deep/../deep/real.txt", &project.join("link.txt"));
        let world = World {
            project: Arc::new(RealFolder::open(&project).unwrap()),
            data: Arc::new(RealFolder::open(&data).unwrap()),
            // Flushing a whole disk a thousand times is for no test.
            many: usize::MAX,
        };
        (place, project, world)
    };
    let (_place, project, world) = make();
    let before = walk(&project);
    let root = world.root(&none);
    world
        .journal(&none)
        .apply(&root, &plan(&root), 1)
        .unwrap()
        .unwrap();
    let after = walk(&project);
    let mut tried = 0;
    for fault in Fault::ALL {
        for at in 0.. {
            let (_place, project, world) = make();
            let faults = Faults::at(at, fault);
            let plan = plan(&world.root(&none));
            let outcome = world.journal(&faults).apply(&world.root(&faults), &plan, 1);
            if faults.steps() <= at {
                break;
            }
            tried += 1;
            let said = format!(
                "{fault:?} at step {at} ({:?}): {outcome:?}",
                faults.log().last()
            );
            assert_never_between(&walk(&project), &before, &after, &said);
            world.journal(&none).settle(2).unwrap();
            let now = walk(&project);
            assert!(now == before || now == after, "{now:?}; {said}");
            assert_eq!(
                world.journal(&none).history().unwrap().len(),
                usize::from(now == after),
                "{said}"
            );
        }
    }
    assert!(tried > 600, "{tried}");
}

fn walk(folder: &Path) -> Tree {
    let mut all = Tree::new();
    let mut todo = vec![(String::new(), folder.to_owned())];
    while let Some((name, path)) = todo.pop() {
        let found = path.symlink_metadata().unwrap();
        if found.is_dir() {
            all.insert(format!("{name}/"), (Vec::new(), None));
            for entry in std::fs::read_dir(&path).unwrap() {
                let entry = entry.unwrap();
                todo.push((
                    format!("{name}/{}", entry.file_name().to_str().unwrap()),
                    entry.path(),
                ));
            }
        } else if found.is_symlink() {
            all.insert(name, (b"link".to_vec(), None));
        } else {
            all.insert(name, (std::fs::read(&path).unwrap(), mode(&found)));
        }
    }
    all
}

#[cfg(unix)]
fn mode(found: &std::fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(found.permissions().mode() & 0o7777)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
fn link(target: &str, path: &Path) {
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(not(unix))]
fn mode(_: &std::fs::Metadata) -> Option<u32> {
    None
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) {}

#[cfg(not(unix))]
fn link(target: &str, path: &Path) {
    std::os::windows::fs::symlink_file(target, path).unwrap();
}
