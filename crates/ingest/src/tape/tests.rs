use super::*;

fn read(text: &str) -> Result<usize, Fault> {
    Tape::default().read(text)
}

#[test]
fn picks_fields_with_their_places() {
    let text = r#" {"a":[1,{"b":"x\ny"}],"a2":null,"a":{"c":"é"}} {"next":1}"#;
    let mut tape = Tape::default();
    let end = tape.read(text).unwrap();
    assert_eq!(&text[end..], r#" {"next":1}"#);
    let root = tape.root(text);
    assert_eq!(
        root.path(&["a", "c"]).unwrap().str().unwrap(),
        "é",
        "of equal names the last"
    );
    let first = root.members().next().unwrap().1;
    let b = first.items().nth(1).unwrap().get("b").unwrap();
    assert_eq!(b.str().unwrap(), "x\ny");
    assert_eq!(&text[b.start()..b.start() + b.raw().len()], r#""x\ny""#);
    assert_eq!(root.members().count(), 3);
}

#[test]
fn agrees_with_serde_on_what_is_json() {
    for text in [
        "{}",
        "[]",
        "[1,2.5e-3,-0]",
        r#"{"a":{"b":[{}]},"c":"\u00e9\"\\"}"#,
        "true",
        "null",
        "\"\"",
        "[[[]]]",
        "{",
        "[1,",
        "{\"a\"",
        "{\"a\":",
        "\"abc",
        "tru",
        "{]",
        "[1 2]",
        "{\"a\" 1}",
        "{a:1}",
        "[,]",
        "-",
        "\"\\x\"",
        "\"\\u12g4\"",
        "[1,]",
        "{\"a\":1,}",
        "nul1",
        "01",
        "1.",
        "-",
        "+1",
        ".5",
        "1e",
        "1e+",
        "1E-2",
        "-0.0e0",
        "\"a\tb\"",
        "[\t1,\r\n2]",
        "\"\u{0}\"",
        "[1]\u{0}",
    ] {
        let ours = read(text).is_ok_and(|end| blanks(text.as_bytes(), end) == text.len());
        assert_eq!(
            ours,
            serde_json::from_str::<serde_json::Value>(text).is_ok(),
            "{text}"
        );
    }
}

#[test]
fn a_lenient_tape_finds_the_same_values() {
    let text = r#"{"a\\":"x\"y\\\"","b":["","\\\\","\n\"\n"],"c":{"d":"z"}} rest"#;
    let (mut strict, mut lenient) = (Tape::default(), Tape::lenient());
    assert_eq!(strict.read(text), lenient.read(text));
    let all = |tape: &Tape| -> Vec<String> {
        tape.root(text)
            .members()
            .map(|(key, v)| format!("{key}={}", v.raw()))
            .collect()
    };
    assert_eq!(all(&strict), all(&lenient));
    for cut in 0..text.len() - 5 {
        assert_eq!(
            Tape::lenient().read(&text[..cut]).is_ok(),
            read(&text[..cut]).is_ok(),
            "{cut}"
        );
    }
    assert!(read(r#""\x""#).is_err() && Tape::lenient().read(r#""\x""#).is_ok());
}

#[test]
fn lone_surrogates_become_the_replacement_character() {
    assert_eq!(decode(r"a\ud83db"), "a\u{fffd}b");
    assert_eq!(decode(r"\ud83d\ude00"), "😀");
    assert_eq!(decode(r"\ude00\ud83d\u0041"), "\u{fffd}\u{fffd}A");
    assert_eq!(decode(r"\ud83dé"), "\u{fffd}é");
}

#[test]
fn what_was_read_before_a_cut_can_be_used() {
    let text = r#"{"a":[{"b":1,"c":"#;
    let mut tape = Tape::default();
    assert_eq!(tape.read(text), Err(Fault::Cut));
    assert!(tape.salvage(text.len()));
    let item = tape.root(text).get("a").unwrap().items().next().unwrap();
    assert_eq!(item.members().count(), 1);
    assert_eq!(item.get("b").unwrap().int(), Some(1));
    for cut in 0..text.len() {
        let text = &text[..cut];
        if tape.read(text).is_err() {
            tape.salvage(cut);
            let root = tape.root(text);
            root.members()
                .for_each(|(_, v)| v.items().for_each(|i| assert!(i.members().count() < 3)));
        }
    }
}

#[test]
fn depth_and_cuts_are_faults() {
    assert_eq!(read(&"[".repeat(100_000)), Err(Fault::Deep));
    assert_eq!(read(r#"{"a":"b"#), Err(Fault::Cut));
    assert_eq!(read(""), Err(Fault::Cut));
}
