//! Laws of merge, hunks, diff and plan.

use super::*;
use proptest::prelude::*;

fn finished(merge: &Merge) -> Vec<u8> {
    match merge.finish() {
        Merged::Text(text) => text,
        Merged::Open(open) => panic!("{open} conflicts"),
    }
}

fn merged(base: &str, ours: &str, theirs: &str) -> String {
    String::from_utf8(finished(&merge(
        base.as_bytes(),
        ours.as_bytes(),
        theirs.as_bytes(),
    )))
    .unwrap()
}

#[test]
fn changes_apart_are_both_kept() {
    let base = "one\ntwo\nthree\nfour\nfive\n";
    let ours = "ONE\ntwo\nthree\nfour\nfive\n";
    let theirs = "one\ntwo\nthree\nfour\nFIVE\nsix\n";
    assert_eq!(
        merged(base, ours, theirs),
        "ONE\ntwo\nthree\nfour\nFIVE\nsix\n"
    );
    assert_eq!(
        merged(base, theirs, ours),
        "ONE\ntwo\nthree\nfour\nFIVE\nsix\n"
    );
}

#[test]
fn the_same_change_on_both_sides_is_no_conflict() {
    assert_eq!(
        merged("a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\nd\n"),
        "a\nB\nc\nd\n"
    );
    assert_eq!(merged("a\n", "", ""), "");
}

#[test]
fn overlapping_and_touching_changes_are_conflicts_with_all_three_sides() {
    let mut merge = merge(
        b"a\nb\nc\nd\ne\n",
        b"x\na\nB1\nc\nd\ne\n",
        b"a\nB2\nC2\nd\ne\n",
    );
    let conflicts: Vec<&Conflict> = merge.conflicts().collect();
    assert_eq!(conflicts.len(), 1);
    let conflict = conflicts[0];
    assert_eq!((conflict.number, conflict.line), (0, 3));
    assert_eq!(conflict.base, b"b\nc\n");
    assert_eq!(conflict.ours, b"B1\nc\n");
    assert_eq!(conflict.theirs, b"B2\nC2\n");
    assert_eq!(merge.finish(), Merged::Open(1));
    assert_eq!(merge.shown(), b"x\na\nB1\nc\nd\ne\n");
    for (how, expected) in [
        (Settlement::Ours, "x\na\nB1\nc\nd\ne\n"),
        (Settlement::Theirs, "x\na\nB2\nC2\nd\ne\n"),
        (Settlement::Both, "x\na\nB1\nc\nB2\nC2\nd\ne\n"),
    ] {
        assert!(merge.settle(0, Some(how)));
        assert_eq!(merge.open(), 0);
        assert_eq!(finished(&merge), expected.as_bytes());
    }
    assert!(merge.settle(0, None));
    assert_eq!(merge.open(), 1);
    assert!(!merge.settle(1, Some(Settlement::Ours)));
}

#[test]
fn what_both_sides_of_a_conflict_share_is_not_asked_for() {
    let merge = merge(
        b"a\nold\nz\n",
        b"a\nsame\nours\nend\nz\n",
        b"a\nsame\ntheirs\nend\nz\n",
    );
    let conflict = merge.conflicts().next().unwrap();
    assert_eq!(
        (conflict.ours.as_slice(), conflict.theirs.as_slice()),
        (&b"ours\n"[..], &b"theirs\n"[..])
    );
    assert_eq!(conflict.line, 3);
}

#[test]
fn the_disks_line_ends_and_mark_stay() {
    // The log knows LF, the disk has CRLF and a byte order mark.
    let disk = "\u{feff}one\r\ntwo\r\nthree\r\nfour\r\nmine\r\n";
    let text = merged("one\ntwo\nthree\nfour\n", disk, "ONE\ntwo\nthree\nfour\n");
    assert_eq!(text, "\u{feff}ONE\r\ntwo\r\nthree\r\nfour\r\nmine\r\n");
    // And the other way round.
    let text = merged(
        "a\r\nb\r\nc\r\nd\r\n",
        "a\nb\nc\nD\n",
        "A\r\nb\r\nc\r\nd\r\n",
    );
    assert_eq!(text, "A\nb\nc\nD\n");
    // Mixed ends stay as they are, line by line.
    let text = merged(
        "a\r\nb\nc\nd\r\n",
        "a\r\nb\nc\nD\r\n",
        "a\r\nX\nb\nc\nd\r\n",
    );
    assert_eq!(text, "a\r\nX\nb\nc\nD\r\n");
}

#[test]
fn a_missing_final_newline_stays_missing() {
    assert_eq!(merged("a\nb\nc", "A\nb\nc", "a\nb\nc"), "A\nb\nc");
    assert_eq!(merged("a\nb\nc", "A\nb\nc", "a\nb\nc\n"), "A\nb\nc\n");
    // Both at the end of a text without one: a newline goes between.
    let mut merge = merge(b"a\nb", b"a\nours", b"a\ntheirs");
    merge.settle(0, Some(Settlement::Both));
    assert_eq!(finished(&merge), b"a\nours\ntheirs");
    let mut merge = super::merge(b"a\r\nb", b"a\r\nours", b"a\r\ntheirs");
    merge.settle(0, Some(Settlement::Both));
    assert_eq!(finished(&merge), b"a\r\nours\r\ntheirs");
}

#[test]
fn one_old_change_is_taken_back_and_later_ones_stay() {
    let before = b"fn a() {\n    1\n}\n\nfn b() {\n    2\n}\n";
    let after = b"fn a() {\n    10\n}\n\nfn b() {\n    2\n}\n";
    let now = b"// head\nfn a() {\n    10\n}\n\nfn b() {\n    20\n}\n";
    let back = finished(&undo_change(before, after, now));
    assert_eq!(
        back,
        b"// head\nfn a() {\n    1\n}\n\nfn b() {\n    20\n}\n"
    );
}

#[test]
fn bytes_that_are_no_text_merge_too() {
    let text = finished(&merge(
        b"\xff\nb\nc\nd\n",
        b"\xfe\nb\nc\nd\n",
        b"\xff\nb\nc\n\x00\n",
    ));
    assert_eq!(text, b"\xfe\nb\nc\n\x00\n");
}

#[test]
fn a_hunk_alone_is_taken_over() {
    let from = b"a\nb\nc\nd\ne\nf\ng\nh\n";
    let to = b"A\nb\nc\nd\ne\nf\ng\nH\nI\n";
    let (old, new) = (split_lines(from), split_lines(to));
    let all = changes(&old, &new);
    assert_eq!(
        all,
        [
            Change {
                old: 0..1,
                new: 0..1
            },
            Change {
                old: 7..8,
                new: 7..9
            }
        ]
    );
    let first = restore_hunk(from, to, 0..1, 0..1).unwrap();
    assert_eq!(first, b"A\nb\nc\nd\ne\nf\ng\nh\n");
    // With context.
    let second = restore_hunk(from, to, 5..8, 5..9).unwrap();
    assert_eq!(second, b"a\nb\nc\nd\ne\nf\ng\nH\nI\n");
    // Lines that don't belong together.
    assert_eq!(restore_hunk(from, to, 5..8, 4..9), None);
    assert_eq!(restore_hunk(from, to, 0..90, 0..1), None);
    assert_eq!(restore_hunk(b"a\nb", b"c\nd\n", 0..1, 0..1), None);
}

#[test]
fn unified_text_is_what_patch_reads() {
    let old = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12";
    let new = b"1\n2\nx\n4\n5\n6\n7\n8\n9\n10\n11\n12\n";
    let text = String::from_utf8(unified("src/a.rs", Some(old), Some(new))).unwrap();
    let expected = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+x\n 4\n 5\n 6\n@@ -9,4 +9,4 @@\n 9\n 10\n 11\n-12\n\\ No newline at end of file\n+12\n";
    assert_eq!(text, expected);
    let made = String::from_utf8(unified("n", None, Some(b"x\n"))).unwrap();
    assert_eq!(made, "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n");
    let gone = String::from_utf8(unified("n", Some(b"x\ny\n"), None)).unwrap();
    assert_eq!(gone, "--- a/n\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n");
    assert!(unified("n", Some(b"x\n"), Some(b"x\n")).is_empty());
    let binary = unified("n", Some(b"x\0"), None);
    assert_eq!(binary, b"Binary files a/n and /dev/null differ\n");
    // A hostile name cannot forge a line.
    let forged = String::from_utf8(unified("a\n+++ b/c", Some(b"x\n"), None)).unwrap();
    assert!(forged.starts_with("--- \"a/a\\n+++ b/c\"\n"), "{forged}");
}

#[test]
fn notes_say_what_a_rewrite_does_beside_the_lines() {
    let step = |a: &str, b: &str| {
        Step::new(
            "p",
            Some(FileImage::of(a.as_bytes())),
            Some(FileImage::of(b.as_bytes())),
        )
        .notes
    };
    assert_eq!(step("a\r\nb\r\n", "a\nb\n"), [Note::LineEndings]);
    assert_eq!(step("a\nb", "a\nb\n"), [Note::FinalNewline]);
    assert_eq!(step("\u{feff}a\n", "a\n"), [Note::ByteOrderMark]);
    assert_eq!(step("a\n", "b\n"), []);
    assert_eq!(step("a\n", ""), []);
}

#[test]
fn huge_and_wholly_different_texts_end_soon() {
    let line = |seed: u64, n: u64| format!("{}\n", (n.wrapping_mul(seed) ^ (n >> 3)) % 5_000);
    let a: String = (0..40_000).map(|n| line(7919, n)).collect();
    let b: String = (0..40_000).map(|n| line(104_729, n)).collect();
    let started = std::time::Instant::now();
    let (old, new) = (split_lines(a.as_bytes()), split_lines(b.as_bytes()));
    let all = changes(&old, &new);
    assert!(!all.is_empty());
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    assert_eq!(patched(&old, &new, &all), b.as_bytes());
}

#[test]
fn a_plan_compares_each_precondition() {
    let plan = RestorePlan::new(
        Kind::Files,
        vec![
            Step::new(
                "a",
                Some(FileImage::of(&b"1"[..])),
                Some(FileImage::of(&b"2"[..])),
            ),
            Step::new("b", None, Some(FileImage::of(&b"2"[..]))),
            Step::new("c", Some(FileImage::of(&b"1"[..])), None),
        ],
    );
    let actions: Vec<Action> = plan.steps.iter().map(Step::action).collect();
    assert_eq!(actions, [Action::Replace, Action::Create, Action::Delete]);
    let one = sha256_hex(b"1");
    assert!(plan
        .check(|path| (path != "b").then(|| one.clone()))
        .is_empty());
    let moved = plan.check(|path| (path != "c").then(|| one.clone()));
    assert_eq!(moved.len(), 2);
    assert_eq!(
        (moved[0].path.as_str(), &moved[0].expected, &moved[0].found),
        ("b", &None, &Some(one.clone()))
    );
    assert_eq!(
        (moved[1].path.as_str(), &moved[1].expected, &moved[1].found),
        ("c", &Some(one), &None)
    );
}

/// `old` with its changes made.
fn patched(old: &[&[u8]], new: &[&[u8]], all: &[Change]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::new();
    let mut at = 0;
    for change in all {
        out.extend(old[at..change.old.start].concat());
        out.extend(new[change.new.clone()].concat());
        at = change.old.end;
    }
    out.extend(old[at..].concat());
    out
}

/// Few different lines, several line ends, so that equal lines and torn ends are frequent.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof!["[ab]{0,1}\n", "[a-d]\r\n", Just("}\n".to_owned())];
    (
        prop::collection::vec(line, 0..14),
        prop_oneof![3 => Just(String::new()), 1 => Just("tail".to_owned())],
    )
        .prop_map(|(lines, tail)| (lines.concat() + &tail).into_bytes())
}

/// With `\n` only: a side of other ends would be dressed like the disk.
fn lf_text() -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec("[a-d]{0,1}\n", 0..14), any::<bool>())
        .prop_map(|(lines, tail)| (lines.concat() + if tail { "tail" } else { "" }).into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn changes_lead_from_the_old_to_the_new(a in text(), b in text()) {
        let (old, new) = (split_lines(&a), split_lines(&b));
        let all = changes(&old, &new);
        prop_assert_eq!(patched(&old, &new, &all), b);
        for pair in all.windows(2) {
            prop_assert!(pair[0].old.end < pair[1].old.start && pair[0].new.end < pair[1].new.start);
        }
    }

    #[test]
    fn as_few_changes_as_a_longest_common_subsequence_needs(a in text(), b in text()) {
        let (old, new) = (split_lines(&a), split_lines(&b));
        let mut best = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
        for i in 0..old.len() {
            for j in 0..new.len() {
                best[i + 1][j + 1] = if old[i] == new[j] { best[i][j] + 1 } else { best[i][j + 1].max(best[i + 1][j]) };
            }
        }
        let kept = old.len() - changes(&old, &new).iter().map(|c| c.old.len()).sum::<usize>();
        prop_assert_eq!(kept, best[old.len()][new.len()]);
    }

    #[test]
    fn a_side_that_did_not_move_takes_the_other(base in text(), other in text()) {
        prop_assert_eq!(finished(&merge(&base, &base, &other)), other.clone());
        prop_assert_eq!(finished(&merge(&base, &other, &base)), other.clone());
        prop_assert_eq!(finished(&merge(&base, &other, &other)), other);
    }

    #[test]
    fn settled_for_one_side_everywhere_keeps_that_sides_changes(base in text(), ours in text(), theirs in text()) {
        let mut merge = merge(&base, &ours, &theirs);
        let numbers: Vec<usize> = merge.conflicts().map(|c| c.number).collect();
        prop_assert_eq!(&numbers, &(0..numbers.len()).collect::<Vec<_>>());
        for n in &numbers {
            let line = merge.conflicts().nth(*n).unwrap().line;
            let text = merge.conflicts().nth(*n).unwrap().ours.clone();
            // The line is where the conflict's lines stand on disk.
            let from: Vec<u8> = split_lines(&ours)[line - 1..].concat();
            prop_assert!(from.starts_with(&text));
        }
        for n in numbers { merge.settle(n, Some(Settlement::Ours)); }
        prop_assert_eq!(merge.open(), 0);
    }

    #[test]
    fn changes_far_apart_merge_without_a_conflict(
        head in prop::collection::vec("h[0-9]\n", 0..4),
        foot in prop::collection::vec("f[0-9]\n", 0..4),
        ours in lf_text(), theirs in lf_text(),
    ) {
        // Lines between that stand once: nothing can be aligned across them.
        let wall = "wall one\nwall two\n";
        let ours = [ours.as_slice(), if ours.ends_with(b"tail") { b"\n" } else { b"" }].concat();
        let parts = |top: &[u8], bottom: &[u8]| [top, wall.as_bytes(), bottom].concat();
        let (head, foot) = (head.concat().into_bytes(), foot.concat().into_bytes());
        let base = parts(&head, &foot);
        let a = parts(&ours, &foot);
        let b = parts(&head, &theirs);
        prop_assert_eq!(finished(&merge(&base, &a, &b)), parts(&ours, &theirs));
        prop_assert_eq!(finished(&merge(&base, &b, &a)), parts(&ours, &theirs));
    }

    #[test]
    fn every_hunk_taken_over_alone_and_all_together(a in text(), b in text(), context in 0..4_usize) {
        let (old, new) = (split_lines(&a), split_lines(&b));
        let all = changes(&old, &new);
        let hunks = hunks(&all, old.len(), new.len(), context);
        prop_assert_eq!(hunks.iter().map(|h| h.changes.len()).sum::<usize>(), all.len());
        let mut now = a.clone();
        for hunk in hunks.iter().rev() {
            let alone = restore_hunk(&a, &b, hunk.old.clone(), hunk.new.clone());
            prop_assert!(alone.is_some(), "{:?} of {:?}", hunk, all);
            // From the last to the first, so that the lines before keep their numbers.
            let lines = split_lines(&now);
            now = [lines[..hunk.old.start].concat(), new[hunk.new.clone()].concat(), lines[hunk.old.end..].concat()].concat();
        }
        prop_assert_eq!(now, b);
    }

    #[test]
    fn twice_inverted_is_the_plan(a in prop::option::of(text()), b in prop::option::of(text())) {
        let image = |text: Option<Vec<u8>>| text.map(FileImage::of);
        let plan = RestorePlan::new(Kind::File, vec![Step::new("p", image(a), image(b))]);
        let back = plan.invert(Kind::Undo, Some("r".to_owned()));
        prop_assert_eq!(back.steps[0].before_sha256(), plan.steps[0].after_sha256());
        prop_assert_eq!(back.steps[0].after_sha256(), plan.steps[0].before_sha256());
        prop_assert_eq!(back.invert(Kind::File, None).steps, plan.steps);
    }
}
