//! What a log says of itself in its first and last bytes: for a list of many logs that are not read.
//!
//! Left out: what only the whole log tells (counts of events, files, errors), and the disk.

use crate::agents::clock;
use crate::format::{detect, Format};
use crate::reader::Batch;
use crate::source::{MemorySource, Source};
use crate::tape::{Fault, Tape, Val};
use crate::text::load_text;
use chipdeck_event::{Entry, Payload, Role};

/// Each part is what the bytes at hand show, `None` where they don't.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glance {
    pub format: Format,
    /// A name that the agent or the person gave the session.
    pub title: Option<String>,
    /// The first words of the person, one line.
    pub words: Option<String>,
    /// Folder that the session began in, as the log writes it.
    pub cwd: Option<String>,
    /// Earliest and latest time seen, Unix milliseconds.
    pub started: Option<i64>,
    pub ended: Option<i64>,
    /// The agent's own id of the session.
    pub session: Option<String>,
    /// The session that started this one as a sub-agent.
    pub parent: Option<String>,
}

/// Letters of a title that are kept.
const TITLE: usize = 200;
/// Records of the begin that are looked at.
const RECORDS: usize = 24;
/// Records at the end in which the latest time is looked for: times go back now and then.
const LAST: usize = 24;
/// Longer records name no session.
const SHORT: usize = 4 << 10;
/// Bytes that the reader gets at once.
const PART: usize = 8 << 10;
/// What is in every record that names a session.
const NAMING: &[&[u8]] = &[b"itle\"", b"ummary\"", b"thread_name", b"session_info"];

/// Looks at the first bytes of a file (64 KiB do; of a file that is one JSON document all, where that is affordable)
/// and at its last ones, empty where the first are the whole file. The name decides what it decides in
/// [`detect`].
pub fn glance(name: &str, head: &[u8], tail: &[u8]) -> Glance {
    let mut seen = Glance::nothing(detect(name, head));
    events(&mut seen, name, head);
    let mut titles = Titles::default();
    records(head, &mut |record| {
        opening(&mut seen, record);
        titles.take(record);
        seen.see(time(record));
    });
    // The first line of the tail begins anywhere; what is in the middle counts only where it names the session.
    let tail = match memchr::memchr(b'\n', tail) {
        Some(end) => tail.get(end + 1..).unwrap_or_default(),
        None => &[],
    };
    let mut named = Vec::new();
    let lines = tail.rsplit(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.trim_ascii().is_empty());
    for (number, line) in lines.enumerate() {
        let naming = |word: &&[u8]| memchr::memmem::find(line, word).is_some();
        if line.len() <= SHORT && NAMING.iter().any(naming) {
            named.push(line);
        }
        if number < LAST {
            records(line, &mut |record| seen.see(time(record)));
        }
    }
    for line in named.iter().rev() {
        records(line, &mut |record| titles.take(record));
    }
    let (title, summary) = titles.best();
    seen.title = title;
    // A summary may be another session's: it counts where the person's own words are not at hand.
    if seen.title.is_none() && seen.words.is_none() {
        seen.title = summary;
    }
    seen
}

impl Glance {
    /// Nothing seen yet.
    pub fn nothing(format: Format) -> Glance {
        Glance {
            format,
            title: None,
            words: None,
            cwd: None,
            started: None,
            ended: None,
            session: None,
            parent: None,
        }
    }

    /// One entry more, in order.
    pub fn entry(&mut self, entry: &Entry, source: &dyn Source) {
        let event = match entry {
            Entry::Event(event) => event,
            Entry::Opaque(opaque) => return self.see(opaque.timestamp),
        };
        self.see(event.envelope.timestamp);
        match &event.payload {
            Payload::SessionStart { cwd: Some(cwd), .. } if self.cwd.is_none() => {
                self.cwd = Some(cwd.to_string());
            }
            Payload::Message {
                role: Role::User,
                content,
            } if self.words.is_none() => {
                self.words = load_text(content, source).and_then(|text| words(&text));
            }
            _ => {}
        }
    }

    fn see(&mut self, time: Option<i64>) {
        let Some(time) = time else { return };
        self.started = Some(self.started.map_or(time, |it| it.min(time)));
        self.ended = Some(self.ended.map_or(time, |it| it.max(time)));
    }
}

/// What the format's own reader makes of the first bytes, as far as they are needed.
fn events(seen: &mut Glance, name: &str, head: &[u8]) {
    let mut reader = seen.format.reader(0);
    let source = MemorySource::single(name, head);
    let mut batch = Batch::default();
    for part in head.chunks(PART) {
        reader.push(part, &source, &mut batch);
        for located in batch.entries.drain(..) {
            seen.entry(&located.entry, &source);
        }
        if seen.words.is_some() && seen.cwd.is_some() && seen.started.is_some() {
            return;
        }
    }
    reader.settle(false, &source, &mut batch);
    for located in batch.entries.drain(..) {
        seen.entry(&located.entry, &source);
    }
}

/// The JSON objects of some bytes, those that end within them and the begin of one that does not.
fn records(bytes: &[u8], each: &mut dyn FnMut(Val<'_>)) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(fault) => std::str::from_utf8(bytes.get(..fault.valid_up_to()).unwrap_or_default())
            .unwrap_or_default(),
    };
    let mut tape = Tape::lenient();
    let mut rest = text;
    for _ in 0..RECORDS {
        rest = rest.trim_start();
        if rest.is_empty() {
            return;
        }
        match tape.read(rest) {
            Ok(end) => {
                each(tape.root(rest));
                rest = rest.get(end..).unwrap_or_default();
            }
            Err(Fault::Cut) if tape.salvage(rest.len()) => {
                each(tape.root(rest));
                return;
            }
            Err(_) => rest = rest.split_once('\n').map_or("", |(_, after)| after),
        }
    }
}

/// What stands in an opening record, in whichever agent's words.
fn opening(seen: &mut Glance, record: Val<'_>) {
    let first = |names: &[&[&str]]| {
        names
            .iter()
            .find_map(|path| record.path(path).and_then(|value| value.str()))
            .filter(|text| !text.is_empty() && text.len() < 4096)
            .map(|text| text.into_owned())
    };
    if seen.cwd.is_none() {
        seen.cwd = first(&[
            &["cwd"],
            &["payload", "cwd"],
            &["data", "context", "cwd"],
            &["directory"],
            &["working_dir"],
            &["workDir"],
            &["info", "directory"],
        ]);
    }
    if seen.words.is_none()
        && record
            .path(&["payload", "type"])
            .and_then(|it| it.str())
            .as_deref()
            == Some("user_message")
    {
        let said = record.path(&["payload", "message"]);
        seen.words = said.and_then(|it| it.str()).and_then(|text| words(&text));
    }
    if seen.session.is_none() {
        seen.session = first(&[
            &["sessionId"],
            &["payload", "id"],
            &["data", "sessionId"],
            &["sessionID"],
            &["info", "id"],
            &["id"],
        ]);
    }
    if seen.parent.is_none() {
        seen.parent = first(&[
            &[
                "payload",
                "source",
                "subagent",
                "thread_spawn",
                "parent_thread_id",
            ],
            &["payload", "parent_thread_id"],
            &["parentID"],
            &["info", "parentID"],
        ])
        // Messages name their parents too.
        .filter(|id| seen.session.as_deref() != Some(id) && !id.starts_with("msg_"));
    }
}

/// The time of a record, in whichever agent's form.
fn time(record: Val<'_>) -> Option<i64> {
    const PLACES: &[&[&str]] = &[
        &["timestamp"],
        &["payload", "timestamp"],
        &["time"],
        &["ts"],
        &["created_at"],
        &["created"],
        &["lastUpdated"],
        &["$set", "lastUpdated"],
        &["updatedAt"],
        &["time", "updated"],
        &["info", "time", "updated"],
    ];
    PLACES.iter().find_map(|path| {
        let value = record.path(path)?;
        match value.str() {
            Some(text) => clock::iso(&text),
            None => clock::number(value.float()?),
        }
    })
}

/// Names of the session: a later one replaces an earlier one of its rank.
#[derive(Default)]
struct Titles {
    given: Option<String>,
    made: Option<String>,
    summary: Option<String>,
}

impl Titles {
    fn take(&mut self, record: Val<'_>) {
        let text = |path: &[&str]| {
            let text = record.path(path)?.str()?;
            one_line(&text)
        };
        let kind = record.text_of("type");
        match kind.as_deref() {
            Some("custom-title") => set(&mut self.given, text(&["customTitle"])),
            Some("ai-title") => set(&mut self.made, text(&["aiTitle"])),
            Some("summary") => set(&mut self.summary, text(&["summary"])),
            Some("session_info") => set(&mut self.given, text(&["name"])),
            Some("event_msg") => set(&mut self.given, text(&["payload", "thread_name"])),
            Some("system") if record.text_of("subtype").as_deref() == Some("custom_title") => {
                set(&mut self.given, text(&["title"]));
                set(&mut self.given, text(&["customTitle"]));
            }
            Some(_) => {}
            // A session's own record or document.
            None => {
                set(&mut self.made, text(&["title"]));
                set(&mut self.made, text(&["info", "title"]));
                if record.get("working_dir").is_some() {
                    set(&mut self.made, text(&["description"]));
                    set(&mut self.made, text(&["name"]));
                }
                if record.get("projectHash").is_some() || record.get("$set").is_some() {
                    set(&mut self.made, text(&["summary"]));
                    set(&mut self.made, text(&["$set", "summary"]));
                }
            }
        }
    }

    fn best(self) -> (Option<String>, Option<String>) {
        (self.given.or(self.made), self.summary)
    }
}

fn set(place: &mut Option<String>, text: Option<String>) {
    if text.is_some() {
        *place = text;
    }
}

/// What a person wrote, without what the agent put around it. `None` where nothing of theirs is in it.
fn words(text: &str) -> Option<String> {
    let mut rest = text.trim();
    // `# Context from my IDE setup: …` stands before what was asked.
    if let Some((_, after)) = rest.split_once("## My request for Codex:") {
        rest = after.trim();
    }
    if let Some(command) = between(rest, "<command-name>", "</command-name>") {
        let arguments = between(rest, "<command-args>", "</command-args>").unwrap_or_default();
        return one_line(&format!("{command} {arguments}"));
    }
    // A command's message alone says what it does.
    if let Some(message) = between(rest, "<command-message>", "</command-message>") {
        return one_line(message);
    }
    while let Some(after) = rest.strip_prefix('<') {
        let tag: String = after
            .chars()
            .take_while(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-'))
            .collect();
        let inner = between(rest, &format!("<{tag}>"), &format!("</{tag}>"));
        match (tag.as_str(), inner) {
            ("task" | "user_query" | "user_message" | "feedback", Some(inner)) => {
                return one_line(inner);
            }
            // Context that was put in: what comes after it counts.
            (tag, Some(_)) if !tag.is_empty() => {
                rest = rest.split_once(&format!("</{tag}>"))?.1.trim();
            }
            _ => break,
        }
    }
    if rest.starts_with("Caveat: The messages below") || rest.starts_with("[Request interrupted") {
        return None;
    }
    one_line(&bare(rest)).or_else(|| one_line(rest))
}

/// One line that names a text a person or an agent wrote, a prompt or a document in Markdown too: without the tags that
/// agents put around commands and context, headings' marks and fences of code. `None` where nothing is left.
pub fn title_of(text: &str) -> Option<String> {
    words(text)
}

/// Headings that say only what stands below them.
const HEADS: &[&str] = &[
    "user input",
    "input",
    "task",
    "prompt",
    "request",
    "context",
];

/// Without the marks of Markdown: fences and empty headings go, of a heading with a text of its own the text stays.
fn bare(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") || line.starts_with("---") {
            continue;
        }
        let depth = line.bytes().take_while(|it| *it == b'#').count();
        let after = line.get(depth..).unwrap_or_default();
        let heading = (1..=6).contains(&depth) && after.starts_with(' ');
        let said = if heading { after.trim() } else { line };
        let name = said.trim_end_matches(':').to_ascii_lowercase();
        if heading && HEADS.contains(&name.as_str()) {
            continue;
        }
        out.push_str(&said.replace("**", ""));
        out.push('\n');
        if out.len() > 8 * TITLE {
            break;
        }
    }
    out
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(from)?;
    Some(after.split_once(to)?.0.trim())
}

/// Blanks and line breaks as one blank, at most [`TITLE`] letters; `None` for nothing.
fn one_line(text: &str) -> Option<String> {
    let mut line = String::new();
    let mut letters = 0;
    for word in text.split(|it: char| it.is_whitespace() || it.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        for letter in word.chars() {
            letters += 1;
            if letters > TITLE {
                line.push('…');
                return Some(line);
            }
            line.push(letter);
        }
        letters += 1;
    }
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_with_its_own_title() {
        let head = br#"{"type":"summary","summary":"Another session","leafUuid":"x"}
{"type":"user","uuid":"a","parentUuid":null,"isSidechain":false,"cwd":"/home/me/shop","sessionId":"s-1","version":"2.1.5","timestamp":"2026-01-29T01:29:10.744Z","message":{"role":"user","content":"Make the prices\n right"}}
"#;
        let seen = glance("x.jsonl", head, b"");
        assert_eq!(seen.format.name(), "claude-code");
        assert_eq!(seen.cwd.as_deref(), Some("/home/me/shop"));
        assert_eq!(seen.words.as_deref(), Some("Make the prices right"));
        assert_eq!(seen.title, None, "a summary may be another session's");
        assert_eq!(seen.session.as_deref(), Some("s-1"));
        assert_eq!(seen.started, Some(1_769_650_150_744));
        assert_eq!(seen.started, seen.ended);

        let tail = br#"lf a line"}
{"type":"ai-title","aiTitle":"Prices","sessionId":"s-1"}
{"type":"assistant","timestamp":"2026-01-29T03:00:00.000Z","message":{"content":"..."}}
{"type":"ai-title","aiTitle":"Prices and rates","sessionId":"s-1"}
{"type":"user","timestamp":"2026-01-29T02:59:59.000Z","message":{"role":"user","content":"cut h"#;
        let seen = glance("x.jsonl", head, tail);
        assert_eq!(seen.title.as_deref(), Some("Prices and rates"));
        assert_eq!(seen.ended, Some(1_769_655_600_000));
        assert_eq!(seen.words.as_deref(), Some("Make the prices right"));
    }

    #[test]
    fn a_rollout_started_by_another() {
        let head = br#"{"timestamp":"2026-03-01T10:00:00.000Z","type":"session_meta","payload":{"id":"child","cwd":"/w/app","originator":"codex_cli_rs","cli_version":"0.130.0","source":{"subagent":{"thread_spawn":{"parent_thread_id":"mother","depth":1}}}}}
{"timestamp":"2026-03-01T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n<cwd>/w/app</cwd>\n</environment_context>"}]}}
{"timestamp":"2026-03-01T10:00:02.000Z","type":"event_msg","payload":{"type":"user_message","message":"Look for dead code"}}
"#;
        let seen = glance("rollout-1.jsonl", head, b"");
        assert_eq!(seen.format.name(), "codex");
        assert_eq!(seen.parent.as_deref(), Some("mother"));
        assert_eq!(seen.session.as_deref(), Some("child"));
        assert_eq!(seen.cwd.as_deref(), Some("/w/app"));
        assert_eq!(seen.words.as_deref(), Some("Look for dead code"));
        let named = br#"x
{"timestamp":"2026-03-01T10:09:00.000Z","type":"event_msg","payload":{"type":"thread_name_updated","thread_name":"Dead code"}}
"#;
        let seen = glance("rollout-1.jsonl", head, named);
        assert_eq!(seen.title.as_deref(), Some("Dead code"));
    }

    #[test]
    fn only_a_persons_own_words() {
        assert_eq!(
            words("<command-message>init</command-message>\n<command-name>/init</command-name>\n<command-args>now</command-args>").as_deref(),
            Some("/init now")
        );
        assert_eq!(
            words("<command-message>orchestrator is running…</command-message>").as_deref(),
            Some("orchestrator is running…")
        );
        assert_eq!(
            words("## User Input\n\n```text\nAdd a board\n```\n\nYou must").as_deref(),
            Some("Add a board You must")
        );
        assert_eq!(
            words("# Fix **all** of it\nnow").as_deref(),
            Some("Fix all of it now")
        );
        assert_eq!(words("#12 is open").as_deref(), Some("#12 is open"));
        assert_eq!(words("```\n```").as_deref(), Some("``` ```"));
        assert_eq!(
            words("<ide_opened_file>x.rs</ide_opened_file>\n\nFix it").as_deref(),
            Some("Fix it")
        );
        assert_eq!(
            words("<local-command-stdout>x</local-command-stdout>"),
            None
        );
        assert_eq!(words("Caveat: The messages below were"), None);
        assert_eq!(
            words("<task>\nAdd a page\n</task>\n<environment_details>x").as_deref(),
            Some("Add a page")
        );
        assert_eq!(
            words("<div> is not closed").as_deref(),
            Some("<div> is not closed")
        );
        assert_eq!(
            words("# Context from my IDE setup:\n## Open tabs\n- x\n## My request for Codex:\nRename it\n").as_deref(),
            Some("Rename it")
        );
        let long = "word ".repeat(100);
        assert!(one_line(&long).unwrap().ends_with('…'));
        assert_eq!(one_line(" \n\t"), None);
    }

    #[test]
    fn damage_is_no_obstacle() {
        for bytes in [
            &b""[..],
            b"\n\n",
            b"{",
            b"\xff\xfe\x00",
            b"{\"type\":\"user\"",
            b"[]",
            b"nonsense\n{}",
        ] {
            let seen = glance("x.jsonl", bytes, bytes);
            assert_eq!((seen.title, seen.words, seen.cwd), (None, None, None));
        }
    }
}
