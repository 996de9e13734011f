//! `chipdeck file-history`: what it prints, and when it says no.

use crate::authors_world::{asked, iso, wrote, NOON};
use crate::cli::Place;
use serde_json::{json, Value};
use std::path::Path;

fn transcript(cwd: &Path, records: &[Value]) -> String {
    let mut text = String::new();
    for (n, record) in records.iter().enumerate() {
        let mut record = record.clone();
        record["uuid"] = json!(format!("u{n}"));
        record["cwd"] = json!(cwd);
        record["sessionId"] = json!("11111111-1111-4111-8111-111111111111");
        record["version"] = json!("2.1.90");
        text += &format!("{record}\n");
    }
    text
}

#[test]
fn a_file_that_is_gone_is_known_to_its_session() {
    let place = Place::new();
    let other = place.write("app/other.txt", "x\n");
    let app = Path::new(&other).parent().unwrap().canonicalize().unwrap();
    let records = [
        vec![asked(NOON, "One file")],
        wrote(NOON + 1_000, "t1", &app.join("src/a.py"), "one\n", None).to_vec(),
    ];
    place.write(
        "home/.claude/projects/-app/11111111-1111-4111-8111-111111111111.jsonl",
        transcript(&app, &records.concat()),
    );
    let ran = place.run(&["file-history", "app/src/a.py"]).ends(0);
    let lines: Vec<String> = ran.text().lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("src/a.py  in "), "{lines:?}");
    assert!(
        lines[1].contains("now") && lines[1].contains("the disk"),
        "{lines:?}"
    );
    let made = &lines[2];
    assert!(made.contains(&iso(NOON + 1_050)[..19]), "{made}");
    assert!(
        made.contains("create") && made.contains("claude-code \"One file\""),
        "{made}"
    );

    let whole = place
        .run(&["file-history", "src/a.py", "--root", "app", "--json"])
        .ends(0)
        .json();
    assert_eq!(whole["path"], "src/a.py");
    assert_eq!(whole["versions"][1]["op"], "create");
    assert_eq!(whole["versions"][1]["author"]["by"], "claude-code");
    assert_eq!(whole["versions"][0]["exists"], false);

    // Known by nobody and not there: no history of nothing.
    for given in [
        &["file-history", "app/nothere.txt"][..],
        &["file-history", "a.py"],
        &["file-history", "src/b.py", "--root", "app", "--json"],
    ] {
        let none = place.run(given).ends(1);
        assert!(none.text().is_empty(), "{given:?}: {}", none.text());
        assert!(none.stderr.contains("knows a file"), "{}", none.stderr);
        assert!(none.stderr.contains("--root"), "{}", none.stderr);
    }

    let none = place.run(&["file-history", "/elsewhere/a.py"]).ends(1);
    assert!(none.stderr.contains("hint: "), "{}", none.stderr);
    place.run(&["file-history"]).ends(2);
}
