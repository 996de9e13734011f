//! What can only be said at the end of the set: drift between dialogue and execution, calls without a result,
//! parents that came later or never.

use crate::book::Book;
use crate::state::State;
use chipdeck_event::{Code, Event, Finding, Id, Located, Payload, Status};
use hashbrown::HashMap;

/// Findings with the entry that they stand at, from 1.
pub(crate) fn judge(book: &Book, entries: &[Located], end: &State) -> Vec<(u32, Finding)> {
    let mut found = Vec::new();
    parents(book, entries, &mut found);
    pending(book, entries, end, &mut found);
    drift(book, entries, end, &mut found);
    found
}

fn at(entries: &[Located], index: u32) -> Option<(&Located, &Event)> {
    let located = entries.get((index as usize).checked_sub(1)?)?;
    Some((located, located.entry.event()?))
}

fn finding(located: &Located, event: &Event, code: Code, message: String) -> Finding {
    let mut finding = Finding::new(code, located.place.file, located.place.line, message);
    finding.event_id = Some(event.envelope.shown().to_string());
    finding
}

fn parents(book: &Book, entries: &[Located], found: &mut Vec<(u32, Finding)>) {
    for &index in &book.orphans {
        let Some((located, event)) = at(entries, index) else {
            continue;
        };
        let Some(parent) = &event.envelope.parent else {
            continue;
        };
        let shown: String = parent.chars().take(80).collect();
        let (code, message) = if book.ids.get(parent, entries).is_some() {
            (
                Code::ParentLater,
                format!("the parent `{shown}` comes later"),
            )
        } else {
            (
                Code::ParentMissing,
                format!("the parent `{shown}` is not in the log"),
            )
        };
        found.push((index, finding(located, event, code, message)));
    }
}

fn pending(book: &Book, entries: &[Located], end: &State, found: &mut Vec<(u32, Finding)>) {
    for (call, row) in (0u32..).zip(book.calls.rows()) {
        if end.tool(call).is_none_or(|tool| tool.status.is_some()) {
            continue;
        }
        let Some(index) = row.with.entry else {
            continue;
        };
        let Some((located, event)) = at(entries, index) else {
            continue;
        };
        let message = "the call never got a result: interrupted".to_owned();
        let mut finding = finding(located, event, Code::CallWithoutResult, message);
        finding.call_id = Some(event.envelope.shown().to_string());
        found.push((index, finding));
    }
}

fn drift(book: &Book, entries: &[Located], end: &State, found: &mut Vec<(u32, Finding)>) {
    let claims = || {
        book.claims
            .iter()
            .filter_map(|&index| Some((index, at(entries, index)?)))
    };
    let mut settled: HashMap<&Id, u32> = HashMap::new();
    for (index, (_, event)) in claims() {
        if let Payload::MessageCorrection { call, .. } = &event.payload {
            settled.insert(call, index);
        }
    }
    // Results whose call the log lacks still say what the execution did.
    let mut strays: HashMap<&Id, Status> = HashMap::new();
    for &index in &book.strays {
        if let Some((_, event)) = at(entries, index) {
            if let Payload::ToolResult {
                call: Some(call),
                status,
                ..
            } = &event.payload
            {
                strays.insert(call, *status);
            }
        }
    }
    for (index, (located, event)) in claims() {
        let Payload::MessageToolResult {
            call, status: said, ..
        } = &event.payload
        else {
            continue;
        };
        if settled
            .get(call)
            .is_some_and(|&correction| correction > index)
        {
            continue;
        }
        let tool = book.calls.get(call).and_then(|number| end.tool(number));
        let done = tool
            .and_then(|tool| tool.status)
            .or_else(|| strays.get(call).copied());
        let (code, message) = match (said, done) {
            (Status::Ok, Some(Status::Ok)) => continue,
            (Status::Ok, Some(done)) => (
                Code::DriftUnsupportedSuccess,
                format!("the dialogue says ok, the execution says {}", done.as_str()),
            ),
            (Status::Ok, None) => (
                Code::DriftUnsupportedSuccess,
                "the dialogue says ok, the execution has no result".to_owned(),
            ),
            (said, Some(Status::Ok)) => (
                Code::DriftUnsupportedFailure,
                format!("the dialogue says {}, the execution says ok", said.as_str()),
            ),
            _ => continue,
        };
        let mut finding = finding(located, event, code, message);
        finding.call_id = Some(call.to_string());
        finding.dialogue = Some(said.as_str().to_owned());
        finding.execution = Some(done.map(|done| done.as_str().to_owned()));
        found.push((index, finding));
    }
}
