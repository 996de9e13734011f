//! Drafts: what a merge keeps, what is asked, what is warned of.

use super::*;

fn content(text: &str) -> Known {
    Known::text(text)
}

fn want(theirs: Known, base: Known) -> Want {
    Want {
        path: "p".to_owned(),
        theirs,
        base,
        unverified: false,
    }
}

fn disk(text: &str) -> Option<FileImage> {
    Some(FileImage::of(text.as_bytes()))
}

fn draft(found: Option<FileImage>, want: &Want, mode: Mode) -> Draft {
    let mut draft = Draft::new(Kind::File);
    draft.add("p", found, Vec::new(), want, mode).unwrap();
    draft
}

/// What would be there, and the codes of the warnings.
fn ends(found: Option<FileImage>, want: &Want, mode: Mode) -> (Option<String>, Vec<&'static str>) {
    let draft = draft(found, want, mode);
    let plan = draft.plan().expect("no conflict");
    let after = plan.steps[0].after.as_ref();
    let text = after.map(|image| String::from_utf8(image.content.bytes().to_vec()).unwrap());
    (
        text,
        draft.warnings.iter().map(|warning| warning.code).collect(),
    )
}

#[test]
fn the_disk_as_the_log_left_it_needs_no_merge_and_no_warning() {
    for mode in [Mode::Overwrite, Mode::Merge] {
        let (text, warned) = ends(
            disk("new\n"),
            &want(content("old\n"), content("new\n")),
            mode,
        );
        assert_eq!(
            (text.as_deref(), warned.as_slice()),
            (Some("old\n"), &[][..])
        );
        let (text, warned) = ends(disk("new\n"), &want(Known::Absent, content("new\n")), mode);
        assert_eq!((text, warned.as_slice()), (None, &[][..]));
        let (text, warned) = ends(None, &want(content("old\n"), Known::Absent), mode);
        assert_eq!(
            (text.as_deref(), warned.as_slice()),
            (Some("old\n"), &[][..])
        );
    }
}

#[test]
fn a_disk_that_moved_on_is_overwritten_with_a_warning_or_merged() {
    let want = want(content("1\n2\n3\n4\n"), content("1\n2\n3\nfour\n"));
    let moved = "one\n2\n3\nfour\n";
    let (text, warned) = ends(disk(moved), &want, Mode::Overwrite);
    assert_eq!(
        (text.as_deref(), warned.as_slice()),
        (Some("1\n2\n3\n4\n"), &["disk-differs"][..])
    );
    let (text, warned) = ends(disk(moved), &want, Mode::Merge);
    assert_eq!(
        (text.as_deref(), warned.as_slice()),
        (Some("one\n2\n3\n4\n"), &["disk-differs"][..])
    );
}

#[test]
fn the_disks_line_ends_and_mark_are_kept_where_the_log_knows_none() {
    let want = want(content("1\n2\n"), content("1\ntwo\n"));
    for mode in [Mode::Overwrite, Mode::Merge] {
        let (text, warned) = ends(disk("1\r\ntwo\r\n"), &want, mode);
        assert_eq!(text.as_deref(), Some("1\r\n2\r\n"));
        assert_eq!(warned, ["disk-differs"]);
        let (text, _) = ends(disk("\u{feff}1\r\ntwo\r\n"), &want, mode);
        assert_eq!(text.as_deref(), Some("\u{feff}1\r\n2\r\n"));
        let draft = draft(disk("1\r\ntwo\r\n"), &want, mode);
        assert!(draft.plan().unwrap().steps[0].notes.is_empty());
    }
    // Where more than that differs, the log's content is taken as it is.
    let (text, _) = ends(disk("1\r\nzwei\r\n"), &want, Mode::Overwrite);
    assert_eq!(text.as_deref(), Some("1\n2\n"));
    // A log that knows line ends is believed.
    let known = super::draft_tests::want(content("1\n"), content("1\r\n"));
    let (text, warned) = ends(disk("1\r\n"), &known, Mode::Overwrite);
    assert_eq!((text.as_deref(), warned.len()), (Some("1\n"), 0));
    // Already so.
    let (text, _) = ends(disk("1\n2\n"), &want, Mode::Overwrite);
    assert_eq!(text.as_deref(), Some("1\n2\n"));
}

#[test]
fn a_conflict_holds_the_plan_back_until_it_is_settled() {
    let want = want(content("a\nold\nz\n"), content("a\nlast\nz\n"));
    let mut draft = draft(disk("a\nmine\nz\n"), &want, Mode::Merge);
    assert_eq!((draft.open(), draft.plan()), (1, None));
    let all: Vec<(usize, String, Vec<u8>)> = draft
        .conflicts()
        .map(|(n, path, c)| (n, path.to_owned(), c.ours.clone()))
        .collect();
    assert_eq!(all, [(0, "p".to_owned(), b"mine\n".to_vec())]);
    assert_eq!(
        draft.preview()[0].action(),
        Action::None,
        "shown with the disk's lines"
    );
    assert!(!draft.settle(1, Some(Settlement::Ours)));
    assert!(draft.settle(0, Some(Settlement::Theirs)));
    let plan = draft.plan().unwrap();
    assert_eq!(
        plan.steps[0].after.as_ref().unwrap().content.bytes(),
        b"a\nold\nz\n"
    );
    assert!(plan.steps[0].notes.contains(&Note::Merged));
}

#[test]
fn conflicts_are_numbered_through_all_files() {
    let want = want(content("old\n"), content("last\n"));
    let mut draft = Draft::new(Kind::Files);
    for path in ["a", "b", "c"] {
        let found = match path {
            "b" => disk("last\n"),
            _ => disk("mine\n"),
        };
        draft
            .add(path, found, Vec::new(), &want, Mode::Merge)
            .unwrap();
    }
    let paths: Vec<(usize, &str)> = draft.conflicts().map(|(n, path, _)| (n, path)).collect();
    assert_eq!(paths, [(0, "a"), (1, "c")]);
    assert!(draft.settle(1, Some(Settlement::Both)));
    assert_eq!(draft.open(), 1);
    assert!(draft.settle(0, Some(Settlement::Ours)));
    let texts: Vec<String> = draft
        .plan()
        .unwrap()
        .steps
        .iter()
        .map(|step| {
            String::from_utf8(step.after.as_ref().unwrap().content.bytes().to_vec()).unwrap()
        })
        .collect();
    assert_eq!(texts, ["mine\n", "old\n", "mine\nold\n"]);
}

#[test]
fn deleting_a_file_that_has_changes_of_its_own_is_asked() {
    let want = want(Known::Absent, content("last\n"));
    for (how, expected) in [
        (Settlement::Ours, Some(&b"mine\n"[..])),
        (Settlement::Theirs, None),
        (Settlement::Both, Some(&b"mine\n"[..])),
    ] {
        let mut draft = draft(disk("mine\n"), &want, Mode::Merge);
        assert_eq!(draft.open(), 1);
        assert_eq!(draft.preview()[0].action(), Action::None);
        draft.settle(0, Some(how));
        let plan = draft.plan().unwrap();
        let after = plan.steps[0]
            .after
            .as_ref()
            .map(|image| image.content.bytes());
        assert_eq!(after, expected, "{how:?}");
    }
    // An empty file that is to be kept is kept.
    let mut draft = draft(disk(""), &want, Mode::Merge);
    draft.settle(0, Some(Settlement::Ours));
    assert_eq!(draft.plan().unwrap().steps[0].action(), Action::None);
}

#[test]
fn nothing_on_the_disk_leaves_nothing_to_merge() {
    let (text, warned) = ends(
        None,
        &want(content("old\n"), content("last\n")),
        Mode::Merge,
    );
    assert_eq!(
        (text.as_deref(), warned.as_slice()),
        (Some("old\n"), &["disk-differs"][..])
    );
}

#[test]
fn a_change_that_is_none_keeps_the_disks() {
    let (text, _) = ends(
        disk("mine\n"),
        &want(content("last\n"), content("last\n")),
        Mode::Merge,
    );
    assert_eq!(text.as_deref(), Some("mine\n"));
    let (text, _) = ends(
        disk("mine\n"),
        &want(Known::Absent, Known::Absent),
        Mode::Merge,
    );
    assert_eq!(text.as_deref(), Some("mine\n"));
}

#[test]
fn a_merge_without_a_base_is_refused_and_an_overwrite_is_warned_of() {
    let want = want(content("old\n"), Known::Unknown);
    let mut draft = Draft::new(Kind::File);
    let refused = draft.add("p", disk("mine\n"), Vec::new(), &want, Mode::Merge);
    assert_eq!(
        refused,
        Err(NoBase {
            path: "p".to_owned()
        })
    );
    let (text, warned) = ends(disk("mine\n"), &want, Mode::Overwrite);
    assert_eq!(
        (text.as_deref(), warned.as_slice()),
        (Some("old\n"), &["disk-unknown"][..])
    );
    // The disk has it already: nothing is lost whatever the log knows.
    let (_, warned) = ends(disk("old\n"), &want, Mode::Merge);
    assert_eq!(warned, Vec::<&str>::new());
}

#[test]
fn a_plausible_content_is_warned_of() {
    let mut want = want(content("old\n"), content("last\n"));
    want.unverified = true;
    let draft = draft(disk("last\n"), &want, Mode::Overwrite);
    assert_eq!(draft.warnings[0].code, "unverified");
    assert_eq!(draft.plan().unwrap().steps[0].notes, [Note::Unverified]);
}

#[test]
fn an_unknown_content_is_never_a_step() {
    let draft = draft(
        disk("mine\n"),
        &want(Known::Unknown, content("last\n")),
        Mode::Overwrite,
    );
    assert!(draft.plan().unwrap().steps.is_empty());
}
