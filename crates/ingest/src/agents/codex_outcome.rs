//! How a call of Codex ended, told by the text that its model was given.
//!
//! Left out on purpose: which events that proves (see [`super::codex`]).

use chipdeck_event::Status;

use crate::tape::Tape;

/// How a call ended, by the text that the model was given. Five shapes, see the tests.
pub(crate) fn outcome(text: &str) -> (Status, Option<i64>) {
    if text.starts_with('{') {
        let mut tape = Tape::default();
        if tape.read(text).is_ok() {
            let root = tape.root(text);
            if let Some(metadata) = root.get("metadata") {
                let code = metadata.get("exit_code").and_then(|c| c.int());
                let seconds = metadata.get("duration_seconds").and_then(|d| d.float());
                let output = root.text_of("output").unwrap_or_default();
                let status = match code {
                    Some(0) => Status::Ok,
                    Some(124) if output.contains("timed out") => Status::Timeout,
                    Some(_) => Status::Error,
                    None => by_words(&output),
                };
                return (status, seconds.map(|s| (s * 1000.0) as i64));
            }
        }
    }
    // Only the first lines are the tool's own words.
    let head: String = text.chars().take(400).collect();
    let seconds = head
        .split_once("Wall time: ")
        .or_else(|| head.split_once("Wall time "))
        .and_then(|(_, rest)| rest.split([' ', '\n']).next()?.parse::<f64>().ok());
    // Of several such lines the first is the tool's: what follows it is the command's output.
    let code = ["Exit code: ", "Process exited with code "]
        .iter()
        .filter_map(|mark| Some((head.find(mark)?, *mark)))
        .min()
        .and_then(|(at, mark)| {
            let before = head.get(..at)?;
            let own = before.is_empty()
                || ["Chunk ID", "Wall time", "Command:"]
                    .iter()
                    .any(|first| before.starts_with(first));
            let rest = head.get(at + mark.len()..).filter(|_| own)?;
            rest.split(|c: char| !c.is_ascii_digit() && c != '-')
                .next()?
                .parse::<i64>()
                .ok()
        });
    let status = match code {
        Some(0) => Status::Ok,
        Some(_) => Status::Error,
        None => by_words(&head),
    };
    (status, seconds.map(|s| (s * 1000.0) as i64))
}

/// What the tool printed, where the model was given an object around it: `{"output":…,"metadata":…}`.
pub(crate) fn printed(text: &str) -> Option<String> {
    if !text.starts_with('{') {
        return None;
    }
    let mut tape = Tape::default();
    tape.read(text).ok()?;
    let root = tape.root(text);
    root.get("metadata")?;
    Some(root.text_of("output")?.into_owned())
}

fn by_words(head: &str) -> Status {
    let lower = head.to_ascii_lowercase();
    let starts = |marks: &[&str]| marks.iter().any(|m| lower.starts_with(m));
    if starts(&[
        "exec command rejected",
        "command rejected",
        "rejected by user",
        "patch rejected",
        "user rejected",
        "the user rejected",
        "user denied",
        "denied by user",
    ]) || lower.contains("rejected by user approval settings")
    {
        Status::Denied
    } else if starts(&[
        "aborted by user",
        "aborted",
        "command aborted",
        "interrupted by user",
    ]) {
        Status::Cancelled
    } else if starts(&["command timed out", "timed out", "exec timed out"]) {
        Status::Timeout
    } else if starts(&[
        "error",
        "failed",
        "script failed",
        "script error",
        "apply_patch verification failed",
        "execution error",
        "invalid patch",
        "invalid hunk",
        "unsupported call",
        "unknown tool",
        "unable to",
        "sandbox error",
        "err:",
        "tool call error",
    ]) {
        Status::Error
    } else {
        Status::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_printed_without_the_object_around_it() {
        let text = r#"{"output":"total 788\ndrwx","metadata":{"exit_code":0}}"#;
        assert_eq!(printed(text).as_deref(), Some("total 788\ndrwx"));
        // A tool that prints such an object itself.
        for text in [r#"{"output":"x"}"#, r#"{"metadata":{}}"#, "{", "plain"] {
            assert_eq!(printed(text), None, "{text}");
        }
    }

    #[test]
    fn five_shapes_of_an_output() {
        for (text, status) in [
            (r#"{"output":"x","metadata":{"exit_code":0,"duration_seconds":1.5}}"#, Status::Ok),
            (r#"{"output":"x","metadata":{"exit_code":2,"duration_seconds":1.5}}"#, Status::Error),
            ("Exit code: 1\nWall time: 0 seconds\nOutput:\n", Status::Error),
            ("Chunk ID: 36\nWall time: 0.0 seconds\nProcess exited with code 0\nOutput:\nExit code: 7", Status::Ok),
            ("Chunk ID: 36\nWall time: 1.0 seconds\nProcess running with session ID 5", Status::Ok),
            ("failed in sandbox LinuxSeccomp with execution error: …, exit code: 127", Status::Error),
            ("error: invalid hunk at line 2", Status::Error),
            ("Script failed\nWall time 0.1 seconds", Status::Error),
            ("Script completed\nWall time 0.1 seconds", Status::Ok),
            ("exec command rejected by user", Status::Denied),
            ("aborted by user after 3.1s", Status::Cancelled),
            ("Plan updated", Status::Ok),
        ] {
            assert_eq!(outcome(text).0, status, "{text}");
        }
        assert_eq!(
            outcome("Exit code: 0\nWall time: 2.5 seconds").1,
            Some(2500)
        );
    }
}
