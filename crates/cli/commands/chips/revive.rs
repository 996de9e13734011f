//! `chips revive`: an evicted chip goes back into the chip folder.

use super::{failed, find, Folder};
use crate::output::{warn, End, Failure, Out, Outcome};
use chipdeck_disk::chips::{ChipError, EntryState};
use serde_json::json;

#[derive(clap::Args)]
pub struct Revive {
    /// The chip's id
    id: String,
    #[command(flatten)]
    folder: Folder,
    /// Keep the old time; with more than 30 in the folder the server drops it first
    #[arg(long)]
    keep_time: bool,
}

pub fn run(arguments: Revive, out: &mut Out) -> Outcome {
    let chips = arguments.folder.look(None, true);
    let id = &arguments.id;
    let list = chips.list();
    // The newest evicted one of this id; one that is in the folder needs no reviving.
    let evicted = list
        .rows
        .iter()
        .rev()
        .find(|row| row.state == EntryState::Evicted && row.id == *id);
    let key = match evicted {
        Some(row) => row.key.clone(),
        None => find(&chips, id)?,
    };
    let now = (!arguments.keep_time).then(|| super::super::restoring::now() / 1_000);
    let revived = chips.revive(&key, now).map_err(|error| match error {
        ChipError::Exists(file) => {
            Failure::no(format!("{file} is in the chip folder; nothing was written"))
        }
        ChipError::NoArchive => failed(error).hint("set HOME or XDG_DATA_HOME"),
        error => failed(error),
    })?;
    if out.json {
        let last = revived.warnings.len();
        let warnings: Vec<_> = revived
            .warnings
            .iter()
            .enumerate()
            .map(|(index, message)| {
                let drops = revived.drops.is_some() && index + 1 == last;
                let code = if drops { "next-start-drops" } else { "no-time" };
                json!({"code": code, "message": message})
            })
            .collect();
        out.document(&json!({
            "file": revived.file,
            "id": revived.id,
            "created_at": revived.created_at,
            "applied": true,
            "warnings": warnings,
        }))?;
        return Ok(End::Done);
    }
    revived.warnings.iter().for_each(warn);
    out.line(format!("revived {} ({})", revived.id, revived.file))?;
    Ok(End::Done)
}
