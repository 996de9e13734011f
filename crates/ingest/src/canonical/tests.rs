use super::*;
use crate::source::MemorySource;
use crate::text::load_text;

fn read(lines: Lines, bytes: &[u8], step: usize) -> (Vec<Located>, Vec<(Code, u64)>) {
    let source = MemorySource::single("a", bytes);
    let mut reader = CanonicalReader {
        lines,
        shared: Shared::default(),
    };
    let mut out = Batch::default();
    for chunk in bytes.chunks(step) {
        reader.push(chunk, &source, &mut out);
    }
    reader.settle(true, &source, &mut out);
    assert_eq!(reader.offset(), bytes.len() as u64);
    // Why a line is no JSON is told in other words.
    for located in &mut out.entries {
        if let Entry::Opaque(opaque) = &mut located.entry {
            opaque.message.clear();
        }
    }
    (
        out.entries,
        out.findings.into_iter().map(|f| (f.code, f.line)).collect(),
    )
}

fn line(id: &str, content: &str) -> Vec<u8> {
    let event = format!(
        r#"{{"eventId":"{id}","traceId":"t","type":"file.create","timestamp":1,"payload":{{"path":"p","content":"{content}"}},"parentEventId":"far"}}"#
    );
    event.into_bytes()
}

#[test]
fn a_long_line_is_read_as_if_it_were_held() {
    let long = "one\\ntwo é 你 \\ud83d ".repeat(12_000);
    let bad = [
        b"{\"eventId\":\"",
        "x".repeat(200_000).as_bytes(),
        b"\xff\"}",
    ]
    .concat();
    let parts: [Vec<u8>; 9] = [
        [b"\xef\xbb\xbf".to_vec(), line("a", &long), b"\r\n".to_vec()].concat(),
        [line("b", "short"), b"\n".to_vec()].concat(),
        [
            line("c", &long),
            line("d", &long),
            b" ".to_vec(),
            line("e", "x"),
            b"\n".to_vec(),
        ]
        .concat(),
        [line("f", &format!("{long}\\q{long}")), b"\n".to_vec()].concat(),
        [line("g", &format!("{long}\t{long}")), b"\n".to_vec()].concat(),
        [bad, b"\n".to_vec()].concat(),
        [
            b"[\"".to_vec(),
            long.clone().into_bytes(),
            b"\"]\n".to_vec(),
        ]
        .concat(),
        [vec![b'x'; 300_000], b"\n".to_vec()].concat(),
        line("h", &long),
    ];
    let bytes = parts.concat();
    let held = read(Lines::default(), &bytes, bytes.len());
    assert_eq!(held.0.len(), 11);
    let ids = held.0.iter().filter_map(|l| l.entry.event());
    let ids: Vec<&str> = ids.map(|event| &*event.envelope.event_id).collect();
    assert_eq!(ids, ["a", "b", "c", "d", "e", "h"]);
    for step in [999, 65_536, bytes.len()] {
        let skimmed = read(Lines::skimming(100_000), &bytes, step);
        assert_eq!(skimmed, held, "by {step}");
    }
    let source = MemorySource::single("a", &bytes[..]);
    let Payload::FileCreate { content, .. } = &held.0[0].entry.event().unwrap().payload else {
        panic!()
    };
    let text = load_text(content, &source).unwrap();
    assert_eq!(
        *text,
        long.replace("\\n", "\n").replace("\\ud83d", "\u{fffd}")
    );
    // A torn last line that is long.
    let torn = &bytes[..bytes.len() - 9];
    assert_eq!(
        read(Lines::skimming(100_000), torn, 4096),
        read(Lines::default(), torn, 4096)
    );
}
