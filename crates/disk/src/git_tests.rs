//! Against repositories that git itself makes.

use super::*;
use std::process::Command;

struct Work {
    dir: tempfile::TempDir,
    clock: i64,
}

/// Commit times go up by a minute from here, Unix seconds.
const BEGIN: i64 = 1_796_000_000;

impl Work {
    fn new() -> Work {
        let dir = tempfile::tempdir().unwrap();
        let mut work = Work { dir, clock: BEGIN };
        std::fs::create_dir(work.top()).unwrap();
        work.git(&["init", "-q", "-b", "main"]);
        work
    }

    fn top(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    fn git(&mut self, arguments: &[&str]) {
        let date = format!("{} +0000", self.clock);
        let done = Command::new("git")
            .current_dir(self.top())
            .args(["-c", "user.name=Ada", "-c", "user.email=a@b.c"])
            .args(arguments)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .output()
            .unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        self.clock += 60;
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.top().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn commit(&mut self, subject: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", subject]);
    }

    fn repository(&self) -> Repository {
        Repository::of(&self.top()).unwrap()
    }
}

/// Subject and text of each, newest first.
fn told(repository: &Repository, path: &str) -> Vec<(String, Option<String>)> {
    let commits = repository.commits(path, Bounds::default(), &|| false);
    assert!(!commits.clipped);
    let text = |it: &Commit| {
        let content = repository.content(it.blob.as_ref()?)?;
        Some(String::from_utf8(content).unwrap())
    };
    commits
        .list
        .iter()
        .map(|it| (it.subject.clone(), text(it)))
        .collect()
}

fn one(subject: &str, text: Option<&str>) -> (String, Option<String>) {
    (subject.to_owned(), text.map(str::to_owned))
}

#[test]
fn commits_that_changed_a_file() {
    let mut work = Work::new();
    work.put("src/a.rs", "one\n");
    work.commit("First\n\nwith a body");
    work.put("b.txt", "other\n");
    work.commit("Another file");
    work.put("src/a.rs", "two\n");
    work.commit("Second");
    std::fs::remove_file(work.top().join("src/a.rs")).unwrap();
    work.commit("Gone");
    let repository = work.repository();
    let expected = [
        one("Gone", None),
        one("Second", Some("two\n")),
        one("First", Some("one\n")),
    ];
    assert_eq!(told(&repository, "src/a.rs"), expected);
    assert_eq!(told(&repository, "src"), [], "a folder is no file");
    assert_eq!(told(&repository, "none"), []);
    let list = repository
        .commits("src/a.rs", Bounds::default(), &|| false)
        .list;
    assert_eq!(list[2].author, "Ada");
    // `add` and `commit` each take a minute; the first commit is after `init` and `add`.
    assert_eq!(list[2].time, (BEGIN + 120) * 1_000);
    let few = Bounds {
        versions: 1,
        ..Bounds::default()
    };
    let few = repository.commits("src/a.rs", few, &|| false);
    assert!(few.clipped && few.list.len() == 1);
    assert!(
        repository
            .commits("src/a.rs", Bounds::default(), &|| true)
            .clipped
    );
}

#[test]
fn branches_merges_and_what_was_amended_away() {
    let mut work = Work::new();
    work.put("a", "1\n2\n3\n4\n5\n");
    work.commit("Base");
    work.git(&["checkout", "-q", "-b", "side"]);
    work.put("a", "one\n2\n3\n4\n5\n");
    work.commit("Side");
    work.git(&["checkout", "-q", "main"]);
    work.put("a", "1\n2\n3\n4\nfive\n");
    work.commit("Lost");
    work.put("a", "1\n2\n3\n4\nFIVE\n");
    work.git(&["commit", "-q", "-a", "--amend", "-m", "Amended"]);
    work.git(&["merge", "-q", "side", "-m", "Merge"]);
    work.git(&["checkout", "-q", "-b", "same"]);
    work.git(&["merge", "-q", "--no-ff", "main", "-m", "Nothing new"]);
    let told = told(&work.repository(), "a");
    let subjects: Vec<&str> = told.iter().map(|(subject, _)| subject.as_str()).collect();
    assert_eq!(subjects, ["Merge", "Amended", "Lost", "Side", "Base"]);
    assert_eq!(told[2].1.as_deref(), Some("1\n2\n3\n4\nfive\n"));
}

#[test]
fn stashed_contents_and_objects_at_hand() {
    let mut work = Work::new();
    work.put("a", "committed\n");
    work.commit("Base");
    work.put("a", "stashed\n");
    work.git(&["stash", "-q"]);
    work.put("a", "staged\n");
    work.git(&["add", "a"]);
    work.put("a", "only on disk\n");
    let repository = work.repository();
    let commits = repository.commits("a", Bounds::default(), &|| false).list;
    let stash: Vec<_> = commits.iter().filter(|it| it.stash).collect();
    assert_eq!(stash.len(), 1);
    let blob = stash[0].blob.as_ref().unwrap();
    assert_eq!(repository.content(blob).unwrap(), b"stashed\n");
    for (text, held) in [
        ("committed\n", true),
        ("staged\n", true),
        ("only on disk\n", false),
    ] {
        assert_eq!(repository.holds(text.as_bytes()), held, "{text:?}");
    }
    // `init` took the first minute, `add` the second, the commit was in the third.
    let head = repository.head_at((BEGIN + 125) * 1_000).unwrap();
    assert_eq!(head, commits.iter().find(|it| !it.stash).unwrap().id);
    assert_eq!(repository.head_at((BEGIN + 10) * 1_000), None);
    let blob = repository.blob_at(&head, "a").unwrap();
    assert_eq!(repository.content(&blob).unwrap(), b"committed\n");
}

#[test]
fn work_trees_of_one_repository_know_each_other() {
    let mut work = Work::new();
    work.put("a", "x\n");
    work.commit("Base");
    work.git(&["worktree", "add", "-q", "../beside"]);
    work.git(&["worktree", "add", "-q", "../gone"]);
    let real = std::fs::canonicalize(work.dir.path()).unwrap();
    std::fs::remove_dir_all(real.join("gone")).unwrap();
    let expected = ["beside", "gone", "work"].map(|name| real.join(name));
    for name in ["work", "beside"] {
        let repository = Repository::of(&real.join(name)).unwrap();
        assert_eq!(repository.checkouts(), expected, "from {name}");
        assert_eq!(repository.top(), real.join(name));
        assert_eq!(repository.main(), real.join("work"));
        assert_eq!(told(&repository, "a"), [one("Base", Some("x\n"))]);
    }
}

#[cfg(unix)]
#[test]
fn nothing_of_a_hostile_repository_is_run() {
    let mut work = Work::new();
    work.put("a", "x\n");
    work.commit("Base");
    let mark = work.dir.path().join("mark");
    let run = format!("touch {}", mark.display());
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.editor",
        "core.pager",
        "filter.x.smudge",
        "filter.x.clean",
        "diff.external",
        "alias.log",
    ] {
        let value = if key == "alias.log" {
            format!("!{run}")
        } else {
            run.clone()
        };
        work.git(&["config", key, &value]);
    }
    let config = std::fs::read_to_string(work.top().join(".git/config")).unwrap();
    let more = format!(
        "{config}[include]\n\tpath = {}\n",
        work.dir.path().display()
    );
    std::fs::write(work.top().join(".git/config"), more).unwrap();
    work.put(".gitattributes", "* filter=x diff=x\n");
    let repository = work.repository();
    assert_eq!(told(&repository, "a"), [one("Base", Some("x\n"))]);
    assert!(repository.holds(b"x\n"));
    assert!(!mark.exists());
}

#[test]
fn what_is_no_repository_is_none() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Repository::of(dir.path()).is_none());
    assert!(Repository::of(&dir.path().join("none")).is_none());
    std::fs::create_dir(dir.path().join(".git")).unwrap();
    assert!(Repository::of(dir.path()).is_none(), "an empty one");
    let mut work = Work::new();
    work.put("a", "x\n");
    let nothing = work.repository().commits("a", Bounds::default(), &|| false);
    assert_eq!(nothing.list, [], "before the first commit");
    work.commit("Base");
    // A missing object ends it there.
    let objects = work.top().join(".git/objects");
    for entry in std::fs::read_dir(&objects).unwrap().flatten() {
        if entry.file_name().len() == 2 {
            std::fs::remove_dir_all(entry.path()).unwrap();
        }
    }
    let broken = work.repository();
    assert_eq!(broken.commits("a", Bounds::default(), &|| false).list, []);
    assert!(!broken.holds(b"x\n"));
}
