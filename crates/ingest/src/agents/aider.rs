//! Aider's `.aider.chat.history.md`: Markdown, appended over many sessions. `# aider chat started at` begins one and is
//! the only time; `#### ` is the user, `> ` a tool, all else the model.
//!
//! Only `> Applied edit to` proves that a file changed, nothing tells to what (the text between may quote examples):
//! the file is marked. Left out on purpose: contents, which are in git; the file is read whole, not followed.

use chipdeck_event::{Id, Json, Reach, Role, Status, Text};

use super::clock;
use super::document::Document;
use super::sink::{Call, Outcome, Sink};

pub(crate) const MARK: &str = "# aider chat started at ";

#[derive(Default)]
pub(crate) struct Aider;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Voice {
    User,
    Tool,
    Model,
}

impl Document for Aider {
    fn agent(&self) -> &'static str {
        "aider"
    }

    fn is_json(&self) -> bool {
        false
    }

    fn text(&mut self, text: &str, sink: &mut Sink<'_>) {
        let mut said: Option<(Voice, usize, usize)> = None;
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            let bare = line.trim_end();
            if let Some(time) = bare.strip_prefix(MARK) {
                close(said.take(), text, sink);
                sink.place_at(start, line.len());
                let id = format!("chat {time} {start}");
                sink.now.timestamp = clock::iso(time);
                sink.now.trace = sink.name(&id);
                sink.session(&id, None);
                continue;
            }
            let voice = if bare.starts_with("#### ") || bare == "####" {
                Voice::User
            } else if bare.starts_with("> ") || bare == ">" {
                Voice::Tool
            } else if bare.is_empty() {
                // A blank line belongs to what it stands in.
                if let Some((_, _, end)) = &mut said {
                    *end = at;
                }
                continue;
            } else {
                Voice::Model
            };
            match &mut said {
                Some((before, _, end)) if *before == voice => *end = at,
                _ => {
                    close(said.take(), text, sink);
                    said = Some((voice, start, at));
                }
            }
        }
        close(said, text, sink);
    }
}

fn close(said: Option<(Voice, usize, usize)>, text: &str, sink: &mut Sink<'_>) {
    let Some((voice, start, end)) = said else {
        return;
    };
    let Some(body) = text.get(start..end) else {
        return;
    };
    sink.place_at(start, end - start);
    let id = sink.place_id();
    let unmarked = |mark: &str| {
        let lines = body.trim_end().lines().map(|l| {
            l.trim_end()
                .strip_prefix(mark)
                .unwrap_or_default()
                .to_string()
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    match voice {
        Voice::User => sink.message(id, Role::User, Text::inline(unmarked("#### "))),
        Voice::Model => sink.message(id, Role::Assistant, Text::inline(body.trim_end())),
        Voice::Tool => {
            let told = unmarked("> ");
            sink.message(id.clone(), Role::System, Text::inline(told.as_str()));
            for (index, line) in told.lines().enumerate() {
                if let Some(path) = line.strip_prefix("Applied edit to ") {
                    let call: Id = format!("{id}:{index}").into();
                    sink.call(Call {
                        id: call.clone(),
                        name: "edit",
                        args: Json::Inline("{}".into()),
                        reach: Reach::None,
                    });
                    sink.result(Outcome {
                        call: call.clone(),
                        status: Status::Ok,
                        told: None,
                        result: Json::Absent,
                        duration_ms: None,
                    });
                    let path = sink.path(path.trim());
                    sink.touched(&call, &path);
                }
            }
        }
    }
}
