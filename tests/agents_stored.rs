//! Sessions that an agent keeps in a database: the same history as its export of them.

use chipdeck_disk::logs::{sessions, FileSource};
use chipdeck_ingest::Source;
use rusqlite::{params, Connection};
use serde_json::Value;
use std::path::Path;

use crate::agents::{agreed, expectation, open_bytes, text, Shown};
use crate::fixtures::shared;

/// The rows that OpenCode keeps of what it exports: ids in columns, the rest as JSON.
fn stored(export: &Value, path: &Path) {
    let database = Connection::open(path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, slug text, directory text,
               title text, version text, time_created integer, time_updated integer);
             CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
             CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);",
        )
        .unwrap();
    let info = &export["info"];
    let session = text(info, "id");
    let time = |name: &str| info["time"][name].as_i64();
    let row = params![
        session,
        info["projectID"].as_str(),
        info["slug"].as_str(),
        text(info, "directory"),
        info["title"].as_str(),
        info["version"].as_str(),
        time("created"),
        time("updated")
    ];
    database
        .execute(
            "INSERT INTO session VALUES (?1, ?2, NULL, ?3, ?4, ?5, ?6, ?7, ?8)",
            row,
        )
        .unwrap();
    let rest = |value: &Value| {
        let mut object = value.as_object().unwrap().clone();
        for name in ["id", "sessionID", "messageID"] {
            object.remove(name);
        }
        Value::Object(object).to_string()
    };
    for message in export["messages"].as_array().unwrap() {
        let info = &message["info"];
        let id = text(info, "id");
        database
            .execute(
                "INSERT INTO message VALUES (?1, ?2, 0, 0, ?3)",
                params![id, session, rest(info)],
            )
            .unwrap();
        for part in message["parts"].as_array().unwrap() {
            let row = params![text(part, "id"), id, session, rest(part)];
            database
                .execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4)", row)
                .unwrap();
        }
    }
}

#[test]
fn a_database_of_opencode_tells_what_its_export_tells() {
    let Some(folder) = shared("agents/opencode") else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    for stem in ["export-v1.1-before-after", "export-v1.17-patch-only"] {
        let export = folder.join(format!("{stem}.json"));
        let path = place.path().join(format!("{stem}.db"));
        stored(&expectation(&export), &path);
        let id = sessions(&path).unwrap().unwrap()[0].id.clone();
        let named = place.path().join(format!("{stem}.db#{id}"));
        let source = FileSource::open(&named).unwrap();
        assert_eq!(source.files(), 1);
        let bytes = source.read_at(0, 0, source.len(0) as usize).unwrap();
        let opened = open_bytes(&[(source.name(0).to_string(), bytes)], 1 << 20);
        assert_eq!(opened.set.format().name(), "opencode");
        let same = |found: &Shown, wanted: &Value| found.id == text(wanted, "part");
        let expected = expectation(&folder.join(format!("{stem}.expected.json")));
        agreed(&opened, &export, &expected, &same);
        let plain = open_bytes(
            &[("x.json".to_owned(), std::fs::read(&export).unwrap())],
            1 << 20,
        );
        assert_eq!(opened.timeline.len(), plain.timeline.len());
        assert_eq!(opened.timeline.cwd(), plain.timeline.cwd());
    }
}
