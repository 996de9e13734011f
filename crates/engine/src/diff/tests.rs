use super::*;

fn side(bytes: &[u8]) -> Side<'_> {
    Side {
        label: "x".to_owned(),
        content: Content::Bytes(bytes),
        ..Side::default()
    }
}

/// Rows as text: sign, changed words in brackets.
fn drawn(view: &DiffView) -> Vec<String> {
    view.hunks
        .iter()
        .flat_map(|hunk| &hunk.rows)
        .map(|row| {
            let sign = match row.kind.as_str() {
                "add" => '+',
                "del" => '-',
                _ => ' ',
            };
            let runs: String = row
                .runs
                .iter()
                .map(|run| {
                    if run.changed {
                        format!("[{}]", run.text)
                    } else {
                        run.text.clone()
                    }
                })
                .collect();
            format!(
                "{sign}{runs}{}",
                row.end
                    .as_deref()
                    .map(|end| format!(" <{end}>"))
                    .unwrap_or_default()
            )
        })
        .collect()
}

#[test]
fn words_are_marked_in_replaced_lines() {
    let view = view(
        "a.py",
        side(b"def f(a):\n    if a <= 0:\n        raise ValueError(\"x must be positive\")\n"),
        side(b"def f(a):\n    if a <= Decimal(0):\n        raise PaymentError(\"x must be positive\")\n"),
        3,
    );
    assert_eq!(
        drawn(&view),
        [
            " def f(a):",
            "-    if a <= 0:",
            "-        raise [ValueError](\"x must be positive\")",
            "+    if a <= [Decimal(]0[)]:",
            "+        raise [PaymentError](\"x must be positive\")",
        ]
    );
    assert_eq!((view.added, view.removed), (2, 2));
    assert_eq!(view.language.as_deref(), Some("python"));
    let hunk = &view.hunks[0];
    assert_eq!(
        (
            hunk.old_start,
            hunk.old_lines,
            hunk.new_start,
            hunk.new_lines
        ),
        (1, 3, 1, 3)
    );
    assert_eq!(hunk.heading.as_deref(), Some("def f(a):"));
}

#[test]
fn lines_without_anything_in_common_carry_no_marks() {
    let view = view("a", side(b"alpha beta gamma\n"), side(b"1 + 2 = 3;\n"), 3);
    assert_eq!(drawn(&view), ["-alpha beta gamma", "+1 + 2 = 3;"]);
}

#[test]
fn ends_of_lines_are_said() {
    let view = view("a", side(b"a\nb\nc"), side(b"a\nb\r\nc\n"), 3);
    assert_eq!(drawn(&view), [" a", "-b", "-c <none>", "+b <crlf>", "+c"]);
    assert_eq!(view.new.as_ref().unwrap().endings.as_deref(), Some("mixed"));
    assert!(!view.old.as_ref().unwrap().final_newline);
}

#[test]
fn notes_instead_of_hunks() {
    let note = |old, new| view("a", old, new, 3).note;
    let unknown = || Side {
        content: Content::Unknown,
        ..Side::default()
    };
    assert_eq!(note(side(b"a"), side(b"a")).as_deref(), Some("same"));
    assert_eq!(note(Side::default(), side(b"")).as_deref(), Some("same"));
    assert_eq!(note(unknown(), side(b"a")).as_deref(), Some("unknown-old"));
    assert_eq!(note(side(b"a"), unknown()).as_deref(), Some("unknown-new"));
    assert_eq!(note(side(b"a\0"), side(b"a")).as_deref(), Some("binary"));
    assert_eq!(note(side(b"\xff"), side(b"a")).as_deref(), Some("binary"));
    assert_eq!(note(Side::default(), side(b"a\n")), None);
}

#[test]
fn a_hunk_is_taken_back_alone() {
    let old: Vec<u8> = (0..40)
        .flat_map(|n| format!("line {n}\n").into_bytes())
        .collect();
    let new = String::from_utf8(old.clone())
        .unwrap()
        .replace("line 3\n", "changed 3\nmore\n")
        .replace("line 30\n", "");
    let view = view("a", side(&old), side(new.as_bytes()), 3);
    assert_eq!(view.hunks.len(), 2);
    let hunk = HunkRef::parse(&view.hunks[0].id).unwrap();
    let back = hunk.taken_back(&old, new.as_bytes()).unwrap();
    assert_eq!(
        back,
        String::from_utf8(old.clone())
            .unwrap()
            .replace("line 30\n", "")
            .as_bytes()
    );
    assert_eq!(hunk.taken_back(&old, b"other"), None);
    for id in [
        "",
        "1.2.3.4",
        "x.1.1.1.ab",
        "1.1.1.1.ab.c",
        "99999999999999999999.1.1.1.ab",
    ] {
        assert_eq!(HunkRef::parse(id), None, "{id}");
    }
}

#[test]
fn huge_and_hostile_texts_are_bounded() {
    let old: Vec<u8> = (0..200_000u32)
        .flat_map(|n| format!("{}\n", n.wrapping_mul(2_654_435_761)).into_bytes())
        .collect();
    let new: Vec<u8> = (0..200_000u32)
        .flat_map(|n| format!("{}\n", n.wrapping_mul(40_503)).into_bytes())
        .collect();
    let begun = std::time::Instant::now();
    let view = view("a", side(&old), side(&new), 3);
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    assert!(view.clipped && view.added > 100_000);
    assert!(view.hunks.iter().map(|hunk| hunk.rows.len()).sum::<usize>() <= MOST_ROWS);

    let long = "x".repeat(1 << 20);
    let view = super::view("a", side(long.as_bytes()), side(b"y"), 3);
    assert!(view.clipped && view.hunks[0].rows[0].runs[0].text.len() < 20_000);
}

#[test]
fn whole_file_as_context() {
    let old = b"a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n";
    let view = view(
        "a",
        side(old),
        side(b"a\nb\nc\nd\ne\nf\ng\nh\ni\nJ\n"),
        u32::MAX,
    );
    assert_eq!(view.hunks.len(), 1);
    assert_eq!(view.hunks[0].rows.len(), 11);
}
