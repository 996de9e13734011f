//! Laws of the chip formats on arbitrary input.

use chipdeck_chip::*;
use proptest::prelude::*;

/// A JSON value as text, in any spelling that the reader takes.
fn value() -> impl Strategy<Value = String> {
    let text = any::<String>().prop_map(|s| serde_json::to_string(&s).unwrap());
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        any::<f64>()
            .prop_filter("finite", |x| x.is_finite())
            .prop_map(|x| format!("{x:?}")),
        any::<i64>().prop_map(|x| x.to_string()),
        text,
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let name = any::<String>().prop_map(|s| serde_json::to_string(&s).unwrap());
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6)
                .prop_map(|items| format!("[{}]", items.join(" , "))),
            proptest::collection::vec((name, inner), 0..6).prop_map(|members| {
                let members: Vec<String> = members
                    .into_iter()
                    .map(|(name, value)| format!("{name}:{value}"))
                    .collect();
                format!("{{\n{}}}", members.join(","))
            }),
        ]
    })
}

fn object() -> impl Strategy<Value = String> {
    proptest::collection::vec((any::<String>(), value()), 0..5).prop_map(|members| {
        let members: Vec<String> = members
            .into_iter()
            .map(|(name, value)| format!("{}:{value}", serde_json::to_string(&name).unwrap()))
            .collect();
        format!("{{{}}}", members.join(","))
    })
}

fn record() -> impl Strategy<Value = ChipRecord> {
    (
        any::<String>(),
        any::<String>(),
        proptest::option::of(object()),
        any::<String>(),
        any::<i64>(),
    )
        .prop_map(|(id, tool, args, err_msg, created_at)| ChipRecord {
            id,
            tool,
            args: args.map(|text| Json::parse(text.as_bytes()).unwrap()),
            err_msg,
            created_at,
        })
}

fn side() -> impl Strategy<Value = Side> {
    let lines = proptest::collection::vec(any::<String>().prop_map(Text::from), 0..6);
    (any::<i64>(), any::<i64>(), proptest::option::of(lines)).prop_map(|(start, end, lines)| Side {
        start,
        end,
        lines,
    })
}

/// Bytes with JSON's own characters in them more often than chance has it.
fn jsonish() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\\u",
            "\\uD83D",
            "\\uDE00",
            "null",
            "tru",
            "-",
            "0",
            "1e",
            "1.5",
            "e400",
            "\"id\":",
            "\"args\":{",
            "\"lines\":[",
            "\"before\":{",
            " ",
            "\n",
            "\"x\""
        ])
        .prop_map(|s| s.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_written_reads_back(record in record()) {
        let bytes = record.write();
        let read = ChipRecord::read(&bytes).unwrap();
        prop_assert_eq!(&read, &record);
        prop_assert_eq!(read.write(), bytes.clone());
        // It is JSON to everybody.
        let general: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        prop_assert_eq!(general["id"].as_str(), Some(record.id.as_str()));
        prop_assert_eq!(general["created_at"].as_i64(), Some(record.created_at));
        // Only the digits of the time change.
        let moved = with_created_at(&bytes, 12345).unwrap();
        prop_assert_eq!(&ChipRecord::read(&moved).unwrap(), &ChipRecord { created_at: 12345, ..record });
        prop_assert_eq!(with_created_at(&moved, read.created_at).unwrap(), bytes);
    }

    #[test]
    fn edit_snapshots_read_back(before in side(), after in side(), id in any::<String>(), args in proptest::option::of(object())) {
        let record = SnapshotRecord {
            id,
            tool: "be-delete".into(),
            file: "t.txt".into(),
            before,
            after,
            args: args
                .map(|text| Json::parse(text.as_bytes()).unwrap())
                // Empty ones are left out.
                .filter(|args| args.value().compact() != b"{}"),
            summary: String::new(),
            created_at: -1,
        };
        let bytes = record.write();
        let read = SnapshotRecord::read(&bytes).unwrap();
        prop_assert_eq!(&read, &record);
        prop_assert_eq!(read.write(), bytes);
        let _ = record.removed();
    }

    #[test]
    fn reading_never_panics(bytes in jsonish()) {
        let _ = Json::parse(&bytes);
        let _ = with_created_at(&bytes, 5);
        if let Ok(record) = ChipRecord::read(&bytes) {
            let again = ChipRecord::read(&record.write()).unwrap();
            prop_assert_eq!(again, record);
        }
        if let Ok(record) = SnapshotRecord::read(&bytes) {
            let _ = record.removed();
            let again = SnapshotRecord::read(&record.write()).unwrap();
            prop_assert_eq!(again.write(), record.write());
        }
    }

    /// What serde_json takes (it is stricter about bytes and depth), we take, and mean the same.
    #[test]
    fn agrees_with_a_general_reader(text in value()) {
        let ours = Json::parse(text.as_bytes()).unwrap();
        let back: serde_json::Value = serde_json::from_slice(&ours.value().compact()).unwrap();
        let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
        // Integers have passed through a float on our side; the general reader is off by a digit now and then.
        fn floats(value: serde_json::Value) -> serde_json::Value {
            use serde_json::Value::*;
            match value {
                Number(n) => format!("{:.12e}", n.as_f64().unwrap()).into(),
                Array(items) => items.into_iter().map(floats).collect(),
                Object(members) => members.into_iter().map(|(k, v)| (k, floats(v))).collect(),
                other => other,
            }
        }
        prop_assert_eq!(floats(back), floats(theirs));
    }

    #[test]
    fn insertions_keep_every_other_line(target in any::<Vec<u8>>(), line in 0i64..20, text in any::<Vec<u8>>()) {
        let lines = Lines::cut(&target);
        for (bare, result) in [
            (false, insert_header(&target, line, &text)),
            (true, insert_content(&target, line, &text)),
        ] {
            let Ok(inserted) = result else {
                prop_assert!(line as usize > lines.len());
                continue;
            };
            let after = Lines::cut(&inserted.bytes);
            let at = line as usize;
            prop_assert_eq!(&after.pieces[..at], &lines.pieces[..at]);
            prop_assert_eq!(&after.pieces[at + inserted.lines..], &lines.pieces[at..]);
            if bare {
                // Taking the inserted bytes out again gives the old file.
                let head = target.iter().zip(&inserted.bytes).take_while(|(a, b)| a == b).count();
                let added = inserted.bytes.len() - target.len();
                prop_assert!((0..=head).any(|at| inserted.bytes[..at] == target[..at]
                    && inserted.bytes[at + added..] == target[at..]));
            }
        }
    }

    /// The place of an untouched cut is found, or said to be one of several.
    #[test]
    fn an_untouched_cut_is_found(
        lines in proptest::collection::vec(proptest::sample::select(vec!["a", "b", "c", "", "}", "x1", "y2"]), 1..12),
        from in 0usize..12,
        count in 1usize..4,
    ) {
        let lines: Vec<&[u8]> = lines.into_iter().map(str::as_bytes).collect();
        let from = from.min(lines.len() - 1);
        let end = (from + count).min(lines.len());
        let anchor = Anchor { before: lines[..from].to_vec(), after: lines[end..].to_vec() };
        let now = [&lines[..from], &lines[end..]].concat();
        match place(&anchor, &lines[from..end], &now) {
            Placed::At(at) => prop_assert_eq!(at, from),
            Placed::Several(places) => prop_assert!(places.contains(&from)),
            // The same lines stand there still: nobody can tell.
            Placed::AlreadyAt(_) => {}
            Placed::Nowhere => prop_assert!(false, "lost"),
        }
        match place(&anchor, &lines[from..end], &lines) {
            Placed::AlreadyAt(at) => prop_assert_eq!(at, from),
            Placed::Several(_) => {}
            Placed::At(_) => prop_assert!(false, "put back twice"),
            Placed::Nowhere => prop_assert!(false, "lost"),
        }
    }
}
