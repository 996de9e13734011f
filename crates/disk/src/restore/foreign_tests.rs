//! Somebody else writes a file while a restore is at it, at every step of it: their bytes are never lost.

use super::*;
use crate::folder::faulty::{Fault, Faults};
use crate::folder::memory::MemoryFolder;
use crate::folder::Folder;
use chipdeck_replay::restore::{Kind, Known, Mode, RestorePlan, Want};
use std::path::Path;
use std::sync::Arc;

const ROOT: &str = "/project";
const THEIRS: &[u8] = b"written by somebody else meanwhile\n";

/// What is on the disk before it: a file to be replaced, one to be deleted, another one of each.
const BEFORE: [(&str, &[u8]); 4] = [
    ("a", b"old a"),
    ("b", b"old b"),
    ("gone", b"to be deleted"),
    ("also gone", b"to be deleted too"),
];

struct World {
    project: MemoryFolder,
    data: MemoryFolder,
    many: usize,
}

impl World {
    fn new(many: usize) -> World {
        let project = MemoryFolder::empty();
        for (path, bytes) in BEFORE {
            project.put(path, bytes, 0o644);
        }
        project.flush_all();
        let data = MemoryFolder::empty();
        World {
            project,
            data,
            many,
        }
    }

    fn root(&self, faults: &Faults) -> Root {
        Root::with(Path::new(ROOT), faults.over(Arc::new(self.project.clone())))
    }

    fn journal(&self, faults: &Faults) -> Journal {
        let (project, own) = (self.project.clone(), faults.clone());
        let open = move |_: &Path| {
            Ok(Root::with(
                Path::new(ROOT),
                own.over(Arc::new(project.clone())),
            ))
        };
        let data: Arc<dyn Folder> = Arc::new(self.data.clone());
        Journal::with(faults.over(data), Box::new(open), self.many)
    }

    fn plan(&self) -> RestorePlan {
        let wanted: [(&str, Option<&[u8]>); 5] = [
            ("a", Some(b"new a, which is longer")),
            ("new", Some(b"made")),
            ("b", Some(b"new b")),
            ("gone", None),
            ("also gone", None),
        ];
        let wants = wanted.map(|(path, theirs)| Want {
            path: path.to_owned(),
            theirs: theirs.map_or(Known::Absent, |bytes| Known::Content(bytes.into())),
            base: Known::Unknown,
            unverified: false,
        });
        let root = self.root(&Faults::default());
        let draft = root.draft(Kind::Tree, &wants, None, Mode::Overwrite);
        draft.unwrap().plan().unwrap()
    }

    fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let all = self.project.everything();
        all.get(&format!("/{path}")).map(|(bytes, _)| bytes.clone())
    }

    /// Each other file is as before or as after, all of them the same way.
    fn others_agree(&self, but: &str, said: &str) {
        let steps: Vec<_> = World::new(1)
            .plan()
            .steps
            .iter()
            .map(|step| {
                let bytes = |image: &Option<chipdeck_replay::restore::FileImage>| {
                    image.as_ref().map(|it| it.content.bytes().to_vec())
                };
                (step.path.clone(), bytes(&step.before), bytes(&step.after))
            })
            .filter(|(path, _, _)| path != but)
            .collect();
        let is = |new: bool| {
            steps
                .iter()
                .all(|(path, before, after)| self.bytes(path) == *if new { after } else { before })
        };
        let now = self.project.everything();
        assert!(is(false) || is(true), "{now:?}; {said}");
    }

    /// No temporary file is left.
    fn is_clean(&self, said: &str) {
        let now = self.project.everything();
        assert!(
            !now.keys().any(|it| it.contains("chipdeck")),
            "{now:?}; {said}"
        );
    }
}

const PATHS: [&str; 4] = ["a", "b", "gone", "new"];

/// Before the n-th step of the write: a new file in the place of the old one, as editors save; or another content.
fn meddling(world: &World, path: &'static str, at: usize) -> Faults {
    let project = world.project.clone();
    let faults = Faults::default();
    faults.meanwhile(at, move || project.put(path, THEIRS, 0o600));
    faults
}

#[test]
fn an_edit_at_any_moment_of_a_restore_is_kept() {
    let (mut refused, mut done) = (0, 0);
    for many in [1, usize::MAX] {
        for path in PATHS {
            for at in 0.. {
                let world = World::new(many);
                let plan = world.plan();
                let faults = meddling(&world, path, at);
                let outcome = world.journal(&faults).apply(&world.root(&faults), &plan, 1);
                if faults.steps() <= at {
                    break;
                }
                let said = format!(
                    "{path} before step {at} ({:?}): {outcome:?}",
                    faults.log().get(at)
                );
                assert_eq!(world.bytes(path).as_deref(), Some(THEIRS), "{said}");
                world.others_agree(path, &said);
                world.is_clean(&said);
                match outcome {
                    Ok(_) => done += 1,
                    Err(RestoreError::Moved(moved)) => {
                        assert_eq!(moved[0].path, path, "{said}");
                        refused += 1;
                    }
                    Err(other) => panic!("{other}; {said}"),
                }
                assert_eq!(
                    world.journal(&Faults::default()).settle(2).unwrap(),
                    [],
                    "{said}"
                );
            }
        }
    }
    assert!(refused > 100 && done > 20, "{refused} {done}");
}

/// The process dies at a step, and somebody writes a file before that step or after the death; the next start puts
/// right what it may, and leaves alone what is theirs.
#[test]
fn settling_leaves_alone_what_somebody_wrote_before_and_after_a_death() {
    let mut outcomes = std::collections::BTreeMap::<String, usize>::new();
    for (many, path) in [1, usize::MAX]
        .into_iter()
        .flat_map(|many| PATHS.map(|path| (many, path)))
    {
        for fault in [Fault::DeadBefore, Fault::DeadAfter] {
            'steps: for dies in 0.. {
                // Written just before the death (the restore may have it in its hands), or long after.
                for late in [false, true] {
                    let world = World::new(many);
                    let plan = world.plan();
                    let faults = Faults::at(dies, fault);
                    if !late {
                        let project = world.project.clone();
                        faults.meanwhile(dies.saturating_sub(1), move || {
                            project.put(path, THEIRS, 0o600)
                        });
                    }
                    let _ = world.journal(&faults).apply(&world.root(&faults), &plan, 1);
                    if !faults.is_dead() {
                        break 'steps;
                    }
                    if late {
                        world.project.put(path, THEIRS, 0o600);
                    }
                    world.data.unlock();
                    let said = format!(
                        "{path}, {fault:?} at {dies} ({:?}), late: {late}",
                        faults.log().last()
                    );
                    let none = Faults::default();
                    let settled = world.journal(&none).settle(2).unwrap();
                    let said = format!("{said}; {settled:?}");
                    assert_eq!(world.bytes(path).as_deref(), Some(THEIRS), "{said}");
                    world.others_agree(path, &said);
                    world.is_clean(&said);
                    for one in &settled {
                        if let Outcome::PutBackBut(paths) = &one.outcome {
                            assert_eq!(paths, &[path], "{said}");
                            // It can still be seen what the file was.
                            let history = world.journal(&none).history().unwrap();
                            let step = history[0]
                                .steps
                                .iter()
                                .find(|step| step.path == path)
                                .unwrap();
                            let before = step.before_sha256.as_ref();
                            assert!(
                                before.is_none_or(|it| world.journal(&none).image(it).is_some()),
                                "{said}"
                            );
                        }
                        assert!(!matches!(one.outcome, Outcome::Waiting(_)), "{said}");
                        let name = format!("{:?}", one.outcome);
                        *outcomes
                            .entry(name.split('(').next().unwrap().to_owned())
                            .or_default() += 1;
                    }
                    assert_eq!(world.journal(&none).settle(3).unwrap(), [], "{said}");
                }
            }
        }
    }
    for name in ["Finished", "PutBack", "PutBackBut"] {
        assert!(outcomes.get(name).is_some_and(|n| *n > 10), "{outcomes:?}");
    }
}
