use super::*;
use chipdeck_ingest::Source;

use crate::logs::{Fate, FileSource};

const OPENCODE: &str = "
CREATE TABLE project (id text PRIMARY KEY, worktree text);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text, slug text NOT NULL,
  directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text, time_created integer NOT NULL,
  time_updated integer NOT NULL, time_compacting integer, time_archived integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer, time_updated integer, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer,
  time_updated integer, data text NOT NULL);
INSERT INTO session VALUES ('ses_a','p',NULL,NULL,'one','/w','The first','1.17.0',NULL,1000,5000,NULL,NULL);
INSERT INTO session VALUES ('ses_b','p',NULL,'ses_a','two','/w','A sub-agent','1.17.0',NULL,2000,6000,NULL,NULL);
INSERT INTO message VALUES ('msg_1','ses_a',1000,1000,'{\"role\":\"user\",\"time\":{\"created\":1000}}');
INSERT INTO message VALUES ('msg_2','ses_a',2000,2000,'{\"role\":\"assistant\",\"time\":{\"created\":2000},\"path\":{\"cwd\":\"/w\",\"root\":\"/w\"}}');
INSERT INTO part VALUES ('prt_1','msg_1','ses_a',1000,1000,'{\"type\":\"text\",
  \"text\":\"make it\"}');
INSERT INTO part VALUES ('prt_2','msg_2','ses_a',2000,2000,'{\"type\":\"tool\",\"tool\":\"write\",\"callID\":\"c1\",\"state\":{\"status\":\"completed\",
  \"input\":{\"filePath\":\"/w/a.txt\",\"content\":\"one\\ntwo\\n\"},\"metadata\":{\"filepath\":\"/w/a.txt\",\"exists\":false},\"time\":{\"start\":2000,\"end\":2100}}}');
INSERT INTO part VALUES ('prt_3','msg_2','ses_a',2000,2000,'not json at all');
INSERT INTO message VALUES ('msg_3','ses_b',3000,3000,'{\"role\":\"assistant\",\"time\":{\"created\":3000}}');
INSERT INTO part VALUES ('prt_4','msg_3','ses_b',3000,3000,'{\"type\":\"text\",\"text\":\"below\"}');
";

fn made(path: &Path, schema: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(schema).unwrap();
    connection
}

fn text(source: &FileSource, file: u32) -> String {
    let len = source.len(file) as usize;
    String::from_utf8(source.read_at(file, 0, len).unwrap()).unwrap()
}

#[test]
fn a_session_of_opencode_is_its_export() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some name.db");
    drop(made(&path, OPENCODE));
    let before = std::fs::read_dir(folder.path()).unwrap().count();
    let found = sessions(&path).unwrap().unwrap();
    assert_eq!(
        found
            .iter()
            .map(|it| (&*it.id, &*it.title, it.updated))
            .collect::<Vec<_>>(),
        [("ses_b", "A sub-agent", 6000), ("ses_a", "The first", 5000)]
    );
    assert_eq!(found[0].parent.as_deref(), Some("ses_a"));
    assert!(found[1].bytes > 300);

    // Without a name the newest that is nobody's sub-agent.
    for named in [path.clone(), folder.path().join("some name.db#ses_a")] {
        let source = FileSource::open(&named).unwrap();
        assert_eq!(source.files(), 2, "with its sub-agent");
        assert_eq!(&*source.name(1), "ses_b.json");
        let document: Value = serde_json::from_str(&text(&source, 0)).unwrap();
        assert_eq!(document["info"]["directory"], "/w");
        let parts = &document["messages"][1]["parts"];
        assert_eq!(parts[0]["id"], "prt_2");
        assert_eq!(parts[0]["messageID"], "msg_2");
        assert_eq!(parts[0]["state"]["input"]["content"], "one\ntwo\n");
        assert_eq!(
            parts[1],
            json!({"id": "prt_3", "sessionID": "ses_a", "messageID": "msg_2"})
        );
        assert_eq!(document["messages"][0]["parts"][0]["text"], "make it");
    }
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        before,
        "nothing is left beside it"
    );
    let gone = folder.path().join("some name.db#ses_x");
    assert!(FileSource::open(&gone).is_err());
}

#[test]
fn what_waits_beside_a_database_is_read_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let writer = made(&path, OPENCODE);
    let mode: String = writer
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
    let add = |id: &str| {
        let sql = "INSERT INTO part VALUES (?1,'msg_2','ses_a',1,1,'{\"type\":\"text\",\"text\":\"late\"}')";
        writer.execute(sql, [id]).unwrap();
    };
    add("prt_5");
    assert!(std::fs::metadata(wal(&path)).unwrap().len() > 0);
    let bytes = (
        std::fs::read(&path).unwrap(),
        std::fs::read(wal(&path)).unwrap(),
    );
    let source = FileSource::open(&path).unwrap();
    assert!(text(&source, 0).contains("prt_5"));
    assert_eq!(
        bytes,
        (
            std::fs::read(&path).unwrap(),
            std::fs::read(wal(&path)).unwrap()
        )
    );
    assert_eq!(source.look(0, source.len(0)), Fate::Same);
    add("prt_6");
    assert_eq!(
        source.look(0, source.len(0)),
        Fate::Replaced,
        "it is read anew"
    );
    // A writer that holds the lock does not stop us.
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(text(&FileSource::open(&path).unwrap(), 0).contains("prt_6"));
}

#[test]
fn goose_and_what_is_no_agents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    drop(made(
        &path,
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, working_dir TEXT NOT NULL,
           created_at TIMESTAMP, updated_at TIMESTAMP, extension_data TEXT);
         CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT NOT NULL, role TEXT,
           content_json TEXT NOT NULL, created_timestamp INTEGER, timestamp TIMESTAMP, metadata_json TEXT);
         INSERT INTO sessions VALUES ('20251130_1','Chat','','/w','2025-11-30 10:00:00','2025-11-30 10:00:01','{}');
         INSERT INTO messages VALUES (1,NULL,'20251130_1','user','[{\"type\":\"text\",\"text\":\"hello\"}]',1764496800,NULL,NULL);",
    ));
    let found = sessions(&path).unwrap().unwrap();
    assert_eq!(
        (found[0].updated, &*found[0].title),
        (1_764_496_801_000, "Chat")
    );
    let source = FileSource::open(&path).unwrap();
    let document: Value = serde_json::from_str(&text(&source, 0)).unwrap();
    assert_eq!(document["working_dir"], "/w");
    assert_eq!(document["created_at"], "2025-11-30T10:00:00Z");
    assert_eq!(document["conversation"][0]["id"], "20251130_1-1");
    assert_eq!(document["conversation"][0]["content"][0]["text"], "hello");

    let other = folder.path().join("other.db");
    drop(made(&other, "CREATE TABLE session (id text)"));
    assert_eq!(sessions(&other).unwrap(), None);
    assert!(FileSource::open(&other).is_err());
    std::fs::write(&other, b"SQLite format 3\0 and then nothing of one").unwrap();
    assert!(sessions(&other).map_or(true, |found| found.is_none()));
}
