//! A few words of a record that is shown raw: what a person would look for in it.

use crate::tape::{Fault, Tape, Val};

/// Members by how much they tell.
const TELLING: &[&str] = &[
    "thinking",
    "think",
    "reasoning",
    "text",
    "lastPrompt",
    "aiTitle",
    "customTitle",
    "title",
    "prompt",
    "message",
    "summary",
    "output",
    "stdout",
    "snippet",
    "content",
    "command",
    "hookName",
    "reason",
    "error",
    "operation",
    "permissionMode",
    "mode",
    "filename",
    "path",
    "agentName",
    "description",
    "subject",
    "model",
    "status",
];

/// Values looked at; enough for any record that is not a document of its own.
const MOST: usize = 4000;

/// The most telling text of a record, of which `start` are the first bytes. `None` where it has none.
pub fn telling(start: &str) -> Option<String> {
    let mut tape = Tape::lenient();
    match tape.read(start) {
        Ok(_) => {}
        Err(Fault::Cut) if tape.salvage(start.len()) => {}
        Err(_) => return None,
    }
    let mut best: Option<(usize, String)> = None;
    let mut left = MOST;
    search(tape.root(start), &mut best, &mut left, 0);
    best.map(|(_, text)| text)
}

fn search(value: Val<'_>, best: &mut Option<(usize, String)>, left: &mut usize, depth: usize) {
    if depth > 8 {
        return;
    }
    for (key, inner) in value.members() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let rank = TELLING.iter().position(|name| *name == key);
        let better = rank.filter(|rank| best.as_ref().is_none_or(|(held, _)| rank < held));
        match (better, inner.str()) {
            (Some(rank), Some(text)) if !text.trim().is_empty() => {
                let text: String = text.trim().chars().take(400).collect();
                *best = Some((rank, text));
            }
            _ => search(inner, best, left, depth + 1),
        }
    }
    for inner in value.items() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        search(inner, best, left, depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::telling;

    #[test]
    fn the_words_in_the_middle_of_an_envelope() {
        let thinking = r#"{"uuid":"u","cwd":"/w","message":{"model":"m","content":[{"type":"thinking","thinking":"Let me see."}]}}"#;
        assert_eq!(telling(thinking).as_deref(), Some("Let me see."));
        let cut = &thinking[..thinking.len() - 3];
        assert_eq!(telling(cut).as_deref(), Some("Let me see."));
        let reasoning = r#"{"type":"response_item","payload":{"summary":[{"type":"summary_text","text":"**Plan**"}]}}"#;
        assert_eq!(telling(reasoning).as_deref(), Some("**Plan**"));
        assert_eq!(
            telling(r#"{"type":"mode","mode":"plan"}"#).as_deref(),
            Some("plan")
        );
        assert_eq!(telling(r#"{"type":"turn_duration","ms":5}"#), None);
        assert_eq!(telling("not json"), None);
    }
}
