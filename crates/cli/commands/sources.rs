//! `sources`: what is found on this machine, with sizes.

use crate::output::{End, Out, Outcome};
use chipdeck_disk::chips::{ChipFolder, EntryState};
use chipdeck_disk::logs::{discover, memories};
use chipdeck_engine::{chip_config_of_this_user, homes_of_this_user, size};
use serde_json::{json, Map, Value};
use std::path::Path;

#[derive(clap::Args)]
pub struct Arguments {}

/// Logs that are listed, newest first.
const MOST_LOGS: usize = 10_000;

pub fn run(_: Arguments, out: &mut Out) -> Outcome {
    let mut rows = Vec::new();
    // Looked at only: nothing is archived by a list.
    super::settings();
    let mut config = chip_config_of_this_user(None, None);
    config.archive = None;
    let folder = ChipFolder::look(config, false);
    let list = folder.list();
    let here: Vec<_> = list
        .rows
        .iter()
        .filter(|row| row.state != EntryState::Evicted)
        .collect();
    if list.folder.is_dir() {
        let bytes = here.iter().map(|row| row.bytes).sum();
        rows.push(source("chips", None, &list.folder, bytes, Some(here.len())));
    }
    for workspace in folder.workspaces().iter() {
        let bytes = workspace.rows.iter().map(|row| row.bytes).sum();
        rows.push(source(
            "snapshots",
            None,
            &workspace.folder,
            bytes,
            Some(workspace.rows.len()),
        ));
    }
    if let Some(homes) = homes_of_this_user() {
        for found in discover(&homes, MOST_LOGS) {
            rows.push(source(
                "log",
                Some(found.agent.name()),
                &found.path,
                found.bytes,
                None,
            ));
        }
        let current = std::env::current_dir().unwrap_or_default();
        for (path, bytes) in memories(&homes, &current) {
            rows.push(source("memory", None, &path, bytes, None));
        }
    }
    if out.json {
        out.document(&json!({ "sources": rows }))?;
        return Ok(End::Done);
    }
    for row in &rows {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let bytes = row["bytes"].as_u64().unwrap_or(0);
        let count = row["count"]
            .as_u64()
            .map(|count| format!("  ({count})"))
            .unwrap_or_default();
        out.line(format!(
            "{:<9} {:<12} {:>9}  {}{count}",
            text("kind"),
            text("agent"),
            size(bytes),
            text("path")
        ))?;
    }
    if rows.is_empty() {
        out.line("nothing was found: no chip folder, no agent's logs, no memory database")?;
    }
    Ok(End::Done)
}

fn source(kind: &str, agent: Option<&str>, path: &Path, bytes: u64, count: Option<usize>) -> Value {
    let mut row = Map::new();
    row.insert("kind".to_owned(), kind.into());
    if let Some(agent) = agent {
        row.insert("agent".to_owned(), agent.into());
    }
    row.insert("path".to_owned(), path.to_string_lossy().into());
    row.insert("bytes".to_owned(), bytes.into());
    if let Some(count) = count {
        row.insert("count".to_owned(), count.into());
    }
    Value::Object(row)
}
