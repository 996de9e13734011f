//! `chips show`.

use super::list::{entry, size, time};
use super::{failed, find, Folder};
use crate::output::{End, Failure, Out, Outcome};
use chipdeck_chip::{decode_text, insert_text, ChipRecord};
use chipdeck_disk::chips::EntryState;

pub fn run(id: &str, folder: &Folder, out: &mut Out) -> Outcome {
    let chips = folder.look(None, true);
    let key = find(&chips, id)?;
    let detail = chips.detail(&key).map_err(failed)?;
    let row = &detail.entry;
    let Some(record) = &detail.record else {
        let reason = row.reason.as_deref().unwrap_or("it can't be read");
        return Err(Failure::no(format!("{} is damaged: {reason}", row.file)));
    };
    let raw = match detail.raw_clipped {
        true => chips.bytes(&key).map_err(failed)?,
        false => detail.raw.clone(),
    };
    if out.json {
        let members = serde_json::to_vec_pretty(&entry(row)).map_err(std::io::Error::from)?;
        return document(members, record, &raw, out);
    }
    out.line(format!("chip {}", row.id))?;
    out.line(format!("  file     {}", row.path.display()))?;
    out.line(format!("  tool     {}", row.tool))?;
    out.line(format!("  time     {}", time(row.created_at)))?;
    out.line(format!("  size     {}", size(row.bytes)))?;
    let state = match row.state {
        EntryState::Evicted => "evicted, kept in the archive".to_owned(),
        EntryState::Beyond => "the next start of a server drops it".to_owned(),
        _ => match row.queue_place {
            Some(place) if row.next_to_go => format!("queue, {place} (next to go)"),
            Some(place) => format!("queue, {place}"),
            None => "in the folder".to_owned(),
        },
    };
    out.line(format!("  state    {state}"))?;
    if let Some(error) = &row.err_msg {
        out.line(format!("  error    {error}"))?;
    }
    if let Some(linked) = &row.linked {
        out.line(format!("  linked   edit snapshot {linked}"))?;
    }
    if let Some(target) = &row.target {
        let line = target.line.map(|line| format!(":{line}"));
        out.line(format!(
            "  target   {}{} ({})",
            target.path,
            line.unwrap_or_default(),
            target.certainty.as_str()
        ))?;
    }
    out.line("")?;
    match record.content() {
        Some(content) => out.text(&content.to_str())?,
        None => {
            let args = record.args.as_ref().map(|args| args.value().pretty());
            let args = args.unwrap_or_else(|| b"null".to_vec());
            out.text(&decode_text(&args))?;
        }
    }
    out.line("")?;
    Ok(End::Done)
}

/// The entry's members and three more. Arguments may be thousands of levels deep, so they are written by the chips'
/// own writer, which needs no recursion.
fn document(members: Vec<u8>, record: &ChipRecord, raw: &[u8], out: &mut Out) -> Outcome {
    let members = members.strip_suffix(b"\n}").unwrap_or(&members);
    out.bytes(members)?;
    out.bytes(b",\n  \"args\": ")?;
    match &record.args {
        Some(args) => out.bytes(&args.value().compact())?,
        None => out.bytes(b"null")?,
    }
    for (name, text) in [("raw", raw), ("insert_text", &insert_text(record))] {
        out.bytes(format!(",\n  \"{name}\": ").as_bytes())?;
        let text = serde_json::to_vec(&decode_text(text)).map_err(std::io::Error::from)?;
        out.bytes(&text)?;
    }
    out.bytes(b"\n}\n")?;
    Ok(End::Done)
}
