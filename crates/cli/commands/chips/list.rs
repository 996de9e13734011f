//! `chips list` and `chips search`.

use super::Folder;
use crate::output::{End, Failure, Out, Outcome};
use chipdeck_disk::chips::{ChipEntry, ChipFolder, EntryState};
use chrono::{DateTime, Local};
use serde_json::{json, Map, Value};

pub fn run(folder: &Folder, query: Option<&str>, out: &mut Out) -> Outcome {
    let chips = folder.look(None, true);
    let list = chips.list();
    let mut missing = false;
    match chips.readable() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => missing = true,
        Err(error) => {
            return Err(Failure::no(format!(
                "cannot read the chip folder {}: {error}",
                list.folder.display()
            )))
        }
        Ok(()) => {}
    }
    let query = query.map(str::to_lowercase);
    let wanted = |row: &&ChipEntry| {
        query
            .as_deref()
            .is_none_or(|query| matches(&chips, row, query))
    };
    let rows: Vec<&ChipEntry> = list.rows.iter().filter(wanted).collect();
    let of = |states: &[EntryState]| -> Vec<&ChipEntry> {
        rows.iter()
            .copied()
            .filter(|row| states.contains(&row.state))
            .collect()
    };
    let readable = of(&[EntryState::Queue, EntryState::Beyond]);
    let damaged = of(&[EntryState::Damaged, EntryState::Writing]);
    let evicted = of(&[EntryState::Evicted]);
    if out.json {
        let entries = |rows: &[&ChipEntry]| rows.iter().copied().map(entry).collect::<Vec<_>>();
        let reasons: Vec<Value> = damaged
            .iter()
            .map(|row| json!({"file": row.file, "reason": row.reason}))
            .collect();
        out.document(&json!({
            "dir": list.folder.to_string_lossy(),
            "chips": entries(&readable),
            "damaged": reasons,
            "evicted": entries(&evicted),
        }))?;
        return Ok(End::Done);
    }
    out.line(format!("{}:", list.folder.display()))?;
    for row in &readable {
        print(row, out)?;
    }
    if missing {
        out.line("  the folder does not exist; a server makes it at its start")?;
    } else if rows.is_empty() && query.is_some() {
        out.line("  No chip matches")?;
    } else if readable.is_empty() {
        out.line("  no chips")?;
    }
    if !damaged.is_empty() {
        out.line("damaged:")?;
        for row in &damaged {
            let reason = row.reason.as_deref().unwrap_or_default();
            out.line(format!("  {}: {reason}", row.file))?;
        }
    }
    if !evicted.is_empty() {
        out.line("evicted, kept in the archive (`chipdeck chips revive ID` brings one back):")?;
        for row in &evicted {
            print(row, out)?;
        }
    }
    Ok(End::Done)
}

/// One entry of the list, as JSON.
pub fn entry(row: &ChipEntry) -> Value {
    let mut entry = Map::new();
    let mut put = |name: &str, value: Value| entry.insert(name.to_owned(), value);
    put("id", json!(row.id));
    put("tool", json!(row.tool));
    put("created_at", json!(row.created_at));
    put("bytes", json!(row.bytes));
    if let Some(error) = &row.err_msg {
        put("err_msg", json!(error));
    }
    put("summary", json!(row.summary));
    put("file", json!(row.file));
    if let Some(linked) = &row.linked {
        put("linked", json!(linked));
    }
    if let Some(target) = &row.target {
        let mut place = Map::new();
        place.insert("path".into(), json!(target.path));
        if let Some(line) = target.line {
            place.insert("line".into(), json!(line));
        }
        place.insert("certainty".into(), json!(target.certainty.as_str()));
        put("target", Value::Object(place));
    }
    if row.state == EntryState::Beyond {
        put("next_start_drops", json!(true));
    }
    Value::Object(entry)
}

fn matches(chips: &ChipFolder, row: &ChipEntry, query: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(query);
    let target = row.target.as_ref().map(|target| target.path.as_str());
    let cheap = [
        Some(row.id.as_str()),
        Some(row.tool.as_str()),
        row.err_msg.as_deref(),
        Some(row.summary.as_str()),
        Some(row.file.as_str()),
        row.reason.as_deref(),
        target,
    ];
    if cheap.into_iter().flatten().any(has) {
        return true;
    }
    // It may have gone since it was listed.
    let record = chips.detail(&row.key).ok().and_then(|detail| detail.record);
    let args = record.as_ref().and_then(|record| record.args.as_ref());
    args.is_some_and(|args| args.texts().any(|text| has(&text)))
}

fn print(row: &ChipEntry, out: &mut Out) -> Result<(), crate::output::Failure> {
    let mut marks = Vec::new();
    if row.state == EntryState::Beyond {
        marks.push("the next start of a server drops it".to_owned());
    }
    if row.next_to_go {
        marks.push("next to go".to_owned());
    }
    if let Some(linked) = &row.linked {
        marks.push(format!("edit snapshot {linked}"));
    }
    if let Some(target) = &row.target {
        marks.push(match target.line {
            Some(line) => format!("{}:{line}", target.path),
            None => target.path.clone(),
        });
    }
    let marks = match marks.is_empty() {
        true => String::new(),
        false => format!("  [{}]", marks.join("; ")),
    };
    out.line(format!(
        "  {:<12} {:<16} {} {:>9}  {}{marks}",
        row.id,
        row.tool,
        time(row.created_at),
        size(row.bytes),
        row.summary
    ))?;
    if let Some(error) = &row.err_msg {
        out.line(format!("  {:<12} {error}", ""))?;
    }
    Ok(())
}

/// Unix seconds as local time.
pub fn time(seconds: i64) -> String {
    match DateTime::from_timestamp(seconds, 0) {
        Some(time) => time
            .with_timezone(&Local)
            .format("%Y-%m-%d %H:%M:%S")
            .to_string(),
        None => format!("{seconds} s"),
    }
}

pub fn size(bytes: u64) -> String {
    match bytes {
        0..=999 => format!("{bytes} B"),
        1_000..=999_999 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
