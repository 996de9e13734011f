//! Agents that keep their sessions as rows of one SQLite file (OpenCode's `opencode.db`, Goose's `sessions.db`). A
//! session is taken out as the document that the agent's own export writes, one part a line, and read as that.
//!
//! The database stays as it is: without a `-wal` beside it, it is opened immutable; with one, both are copied to our
//! cache and the copy is read. No lock is taken and nothing is left beside it.
//!
//! The tables are those of the agents' own schemas (OpenCode 1.2 on, Goose 1.10 on); columns that are not there count
//! as empty. Left out: what the rows mean (`chipdeck-ingest`), and OpenCode's `session_message`, which is a second
//! account of the same messages.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{json, Value};

use super::unpack::scratch;
use crate::places::{private_folder, Places};

/// A session of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub id: String,
    pub title: String,
    /// The working folder; empty where the row has none.
    pub cwd: String,
    /// The session whose sub-agent this one is.
    pub parent: Option<String>,
    /// Unix milliseconds of the last change; 0 where the row has none.
    pub updated: i64,
    /// Bytes of its rows.
    pub bytes: u64,
}

/// More sessions than this are not listed, newest first.
const MOST: usize = 20_000;
/// A larger session is not taken out.
const LARGEST: u64 = 512 << 20;
/// Sub-agents of a session that are read with it.
const MOST_BELOW: usize = 500;

/// How often a database that is being written to is copied anew.
const COPIES: usize = 5;

/// Is it an SQLite file?
pub fn is_database(path: &Path) -> bool {
    let mut head = [0; 16];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut head))
        .is_ok_and(|()| head == *b"SQLite format 3\0")
}

/// The database and the session that a path like `opencode.db#ses_…` names; `None` for a path to something else, and
/// where a file has that very name.
pub fn named(path: &Path) -> Option<(PathBuf, String)> {
    let name = path.file_name()?.to_str()?;
    let (file, session) = name.rsplit_once('#')?;
    let database = path.with_file_name(file);
    let there = !session.is_empty() && !path.exists() && is_database(&database);
    there.then(|| (database, session.to_owned()))
}

/// The sessions of a database, newest first; `None` where it is none of an agent's.
///
/// # Errors
/// Those of the system, and `InvalidData` for a database that cannot be read.
pub fn sessions(path: &Path) -> io::Result<Option<Vec<Stored>>> {
    let reading = Reading::open(path)?;
    reading.kind().map(|kind| reading.list(kind)).transpose()
}

/// The session and its sub-agents, each as a name and a nameless file in our cache.
pub(super) fn take_out(path: &Path, session: &str) -> io::Result<Vec<(String, File)>> {
    let reading = Reading::open(path)?;
    let kind = reading
        .kind()
        .ok_or_else(|| bad("no database of an agent's sessions"))?;
    let all = reading.list(kind)?;
    let own = all
        .iter()
        .find(|it| it.id == session)
        .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "it holds no such session"))?;
    let mut taken = vec![own];
    let mut at = 0;
    while let Some(above) = taken.get(at).filter(|_| taken.len() < MOST_BELOW) {
        let below = all
            .iter()
            .filter(|it| it.parent.as_ref() == Some(&above.id));
        let below: Vec<&Stored> = below.filter(|it| !taken.contains(it)).collect();
        taken.extend(below.into_iter().rev());
        at += 1;
    }
    let mut files = Vec::new();
    for stored in taken {
        if stored.bytes > LARGEST {
            return Err(bad("the session is larger than 512 MiB"));
        }
        let mut file = scratch()?;
        let mut out = BufWriter::new(&file);
        match kind {
            Kind::OpenCode => reading.open_code(&stored.id, &mut out)?,
            Kind::Goose => reading.goose(&stored.id, &mut out)?,
        }
        out.flush()?;
        drop(out);
        file.seek(SeekFrom::Start(0))?;
        files.push((format!("{}.json", stored.id), file));
    }
    Ok(files)
}

/// Length and time of a database and of its `-wal`.
pub(super) type Stamp = [Option<(u64, std::time::SystemTime)>; 2];

/// What tells whether a database was written to: length and time of it and of its `-wal`.
pub(super) fn stamp(path: &Path) -> Stamp {
    [path.to_owned(), wal(path)].map(|path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    })
}

fn wal(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

fn bad(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    OpenCode,
    Goose,
}

struct Reading {
    connection: Connection,
    /// Holds the copy until all is read.
    _copy: Option<tempfile::TempDir>,
}

impl Reading {
    fn open(path: &Path) -> io::Result<Reading> {
        let waiting = std::fs::metadata(wal(path)).is_ok_and(|wal| wal.len() > 0);
        if !waiting {
            let mut uri = String::from("file:");
            for byte in std::path::absolute(path)?.to_string_lossy().bytes() {
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b':' => {
                        uri.push(char::from(byte));
                    }
                    other => uri.push_str(&format!("%{other:02X}")),
                }
            }
            uri.push_str("?mode=ro&immutable=1");
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_URI
                | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(uri, flags).map_err(bad)?;
            return Ok(Reading {
                connection,
                _copy: None,
            });
        }
        let cache = Places::of_this_user().map(|places| places.cache);
        let folder = match cache.filter(|cache| private_folder(cache).is_ok()) {
            Some(cache) => tempfile::tempdir_in(cache)?,
            None => tempfile::tempdir()?,
        };
        let copy = folder.path().join("copy.db");
        // Copies of two moments would not fit together.
        for _ in 0..COPIES {
            let before = stamp(path);
            std::fs::copy(path, &copy)?;
            match std::fs::copy(wal(path), wal(&copy)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            if stamp(path) == before {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let connection = Connection::open(&copy).map_err(bad)?;
        Ok(Reading {
            connection,
            _copy: Some(folder),
        })
    }

    fn columns(&self, table: &str) -> Vec<String> {
        let ask = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self
                .connection
                .prepare("SELECT name FROM pragma_table_info(?1)")?;
            let rows = statement.query_map([table], |row| row.get(0))?;
            rows.collect()
        };
        ask().unwrap_or_default()
    }

    fn kind(&self) -> Option<Kind> {
        let has = |table: &str, wanted: &[&str]| {
            let columns = self.columns(table);
            wanted
                .iter()
                .all(|name| columns.iter().any(|it| it == name))
        };
        match () {
            () if has("session", &["id", "directory"])
                && has("message", &["id", "session_id", "data"])
                && has("part", &["id", "message_id", "data"]) =>
            {
                Some(Kind::OpenCode)
            }
            () if has("sessions", &["id", "working_dir"])
                && has("messages", &["session_id", "role", "content_json"]) =>
            {
                Some(Kind::Goose)
            }
            () => None,
        }
    }

    /// Each row of a query as (column, value).
    fn rows(
        &self,
        query: &str,
        bound: &[&dyn rusqlite::ToSql],
        mut each: impl FnMut(&serde_json::Map<String, Value>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut statement = self.connection.prepare(query).map_err(bad)?;
        let names: Vec<String> = statement
            .column_names()
            .into_iter()
            .map(Into::into)
            .collect();
        let mut rows = statement.query(bound).map_err(bad)?;
        while let Some(row) = rows.next().map_err(bad)? {
            let mut found = serde_json::Map::new();
            for (at, name) in names.iter().enumerate() {
                let value = match row.get_ref(at).map_err(bad)? {
                    ValueRef::Null => Value::Null,
                    ValueRef::Integer(number) => number.into(),
                    ValueRef::Real(number) => number.into(),
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                        String::from_utf8_lossy(bytes).into_owned().into()
                    }
                };
                found.insert(name.clone(), value);
            }
            each(&found)?;
        }
        Ok(())
    }

    fn list(&self, kind: Kind) -> io::Result<Vec<Stored>> {
        let query = match kind {
            Kind::OpenCode => {
                "SELECT s.*, (SELECT sum(octet_length(data)) FROM message m WHERE m.session_id = s.id) AS a, \
                 (SELECT sum(octet_length(p.data)) FROM message m JOIN part p ON p.message_id = m.id \
                  WHERE m.session_id = s.id) AS b FROM session s"
            }
            Kind::Goose => {
                "SELECT s.*, (SELECT sum(octet_length(content_json)) FROM messages m WHERE m.session_id = s.id) AS a \
                 FROM sessions s"
            }
        };
        let mut found = Vec::new();
        self.rows(query, &[], |row| {
            let text = |names: &[&str]| {
                let hit = names.iter().find_map(|name| row.get(*name)?.as_str());
                hit.unwrap_or_default().to_owned()
            };
            let number = |name: &str| row.get(name).and_then(Value::as_i64).unwrap_or(0);
            let updated = match kind {
                Kind::OpenCode => number("time_updated"),
                Kind::Goose => time(&text(&["updated_at"])).unwrap_or(0),
            };
            found.push(Stored {
                id: text(&["id"]),
                title: text(&["title", "name", "description"]),
                cwd: text(&["directory", "working_dir"]),
                parent: Some(text(&["parent_id"])).filter(|parent| !parent.is_empty()),
                updated,
                bytes: u64::try_from(number("a") + number("b")).unwrap_or(0),
            });
            Ok(())
        })?;
        found.sort_by(|a, b| (b.updated, &b.id).cmp(&(a.updated, &a.id)));
        found.truncate(MOST);
        Ok(found)
    }

    /// As `opencode export` writes it.
    fn open_code(&self, session: &str, out: &mut impl Write) -> io::Result<()> {
        let mut info = json!({});
        self.rows("SELECT * FROM session WHERE id = ?1", &[&session], |row| {
            let get = |name: &str| row.get(name).cloned().unwrap_or(Value::Null);
            info = json!({
                "id": session, "slug": get("slug"), "projectID": get("project_id"), "directory": get("directory"),
                "title": get("title"), "version": get("version"), "parentID": get("parent_id"),
                "time": {"created": get("time_created"), "updated": get("time_updated")},
            });
            if let (Some(info), Some(revert)) = (info.as_object_mut(), parsed(&get("revert"))) {
                info.insert("revert".to_owned(), revert);
            }
            Ok(())
        })?;
        write!(out, "{{\"info\":{info},\n\"messages\":[")?;
        let mut first = true;
        let messages = "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY id";
        self.rows(messages, &[&session], |row| {
            let id = row.get("id").and_then(Value::as_str).unwrap_or_default();
            let own = json!({"id": id, "sessionID": session});
            let comma = if std::mem::take(&mut first) { "" } else { "," };
            write!(
                out,
                "{comma}\n{{\"info\":{},\n\"parts\":[",
                with(own, row.get("data"))
            )?;
            let mut first = true;
            let parts = "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id";
            self.rows(parts, &[&id], |row| {
                let part = row.get("id").cloned().unwrap_or_default();
                let own = json!({"id": part, "sessionID": session, "messageID": id});
                let comma = if std::mem::take(&mut first) { "" } else { "," };
                write!(out, "{comma}\n{}", with(own, row.get("data")))
            })?;
            out.write_all(b"]}")
        })?;
        out.write_all(b"]}\n")
    }

    /// As `goose session export --format json` writes it.
    fn goose(&self, session: &str, out: &mut impl Write) -> io::Result<()> {
        let mut head = String::new();
        self.rows("SELECT * FROM sessions WHERE id = ?1", &[&session], |row| {
            let rows: serde_json::Map<String, Value> = row
                .iter()
                .filter(|(name, value)| !value.is_null() && *name != "conversation")
                .map(|(name, value)| {
                    let value = match name.ends_with("_at") {
                        true => instant(value),
                        false => value.clone(),
                    };
                    (name.clone(), value)
                })
                .collect();
            head = Value::Object(rows).to_string();
            Ok(())
        })?;
        let head = head.strip_suffix('}').unwrap_or("{\"id\":\"\"");
        write!(out, "{head},\n\"conversation\":[")?;
        let known = self.columns("messages");
        let own_id = known.iter().any(|name| name == "message_id");
        let order = if known.iter().any(|name| name == "created_timestamp") {
            "created_timestamp, rowid"
        } else {
            "rowid"
        };
        let mut first = true;
        let query = format!("SELECT * FROM messages WHERE session_id = ?1 ORDER BY {order}");
        self.rows(&query, &[&session], |row| {
            let get = |name: &str| row.get(name).cloned().unwrap_or(Value::Null);
            let id = match (own_id, get("message_id"), get("id")) {
                (true, Value::String(id), _) => id,
                (_, _, Value::String(id)) => id,
                (_, _, number) => format!("{session}-{number}"),
            };
            let message = json!({
                "id": id, "role": get("role"), "created": get("created_timestamp"),
                "content": parsed(&get("content_json")).unwrap_or_else(|| json!([])),
                "metadata": parsed(&get("metadata_json")),
            });
            let comma = if std::mem::take(&mut first) { "" } else { "," };
            write!(out, "{comma}\n{message}")
        })?;
        out.write_all(b"]}\n")
    }
}

/// The JSON in a column, `None` where it is none.
fn parsed(column: &Value) -> Option<Value> {
    serde_json::from_str(column.as_str()?).ok()
}

/// The object of a column with these members before its own, as text: its own text stays as it is.
fn with(own: Value, column: Option<&Value>) -> String {
    let own = own.to_string();
    let text = column.and_then(Value::as_str).unwrap_or_default().trim();
    let rest = text.strip_prefix('{').map(str::trim_start);
    let is_object = serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
    match (rest.filter(|_| is_object), own.strip_suffix('}')) {
        (Some("}"), _) | (None, _) => own,
        // The rows have a line each.
        (Some(rest), Some(own)) => format!("{own},{}", rest.replace(['\n', '\r'], " ")),
        (Some(_), None) => own,
    }
}

/// `YYYY-MM-DD HH:MM:SS`, as SQLite writes the time in UTC, as ISO 8601.
fn instant(value: &Value) -> Value {
    match value.as_str() {
        Some(text) if !text.contains('T') => format!("{}Z", text.replace(' ', "T")).into(),
        _ => value.clone(),
    }
}

/// The same in Unix milliseconds.
fn time(text: &str) -> Option<i64> {
    let numbers: Vec<i64> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|word| word.parse().ok())
        .collect();
    let [year, month, day, hour, minute, second, ..] = numbers.as_slice() else {
        return None;
    };
    // Days of the civil calendar, March first.
    let (y, m) = if *month > 2 {
        (*year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}

#[cfg(test)]
#[path = "database_tests.rs"]
mod tests;
