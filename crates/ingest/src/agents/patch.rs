//! The patch envelope of Codex (`*** Begin Patch` … `*** End Patch`): its parser, and finding it where it is hidden:
//! in a here-document of a shell text or in a string literal of a JavaScript text ("code mode").
//!
//! Left out on purpose: applying chunks (the fold does), running JavaScript: a patch that a script computes is only
//! known from the log's own event.

/// What an envelope does to one file. Paths as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FilePatch {
    Add {
        path: String,
        content: String,
    },
    Delete {
        path: String,
    },
    /// `chunks`: the lines from `@@` on, for `Change::Chunks`; empty when the file is only moved.
    Update {
        path: String,
        to: Option<String>,
        chunks: String,
    },
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// The parts of an envelope in order; `None` where the text has none or breaks the grammar (the tool refuses it then).
pub(crate) fn parse(text: &str) -> Option<Vec<FilePatch>> {
    let text = envelope(text)?;
    let mut out: Vec<FilePatch> = Vec::new();
    for line in text.lines().skip(1) {
        if line.trim_end() == END {
            break;
        }
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            out.push(FilePatch::Add {
                path: path.trim_end().into(),
                content: String::new(),
            });
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            out.push(FilePatch::Delete {
                path: path.trim_end().into(),
            });
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            out.push(FilePatch::Update {
                path: path.trim_end().into(),
                to: None,
                chunks: String::new(),
            });
        } else if let Some(target) = line.strip_prefix("*** Move to: ") {
            match out.last_mut() {
                Some(FilePatch::Update { to, chunks, .. }) if chunks.is_empty() => {
                    *to = Some(target.trim_end().into())
                }
                _ => return None,
            }
        } else {
            match out.last_mut() {
                Some(FilePatch::Add { content, .. }) => {
                    content.push_str(line.strip_prefix('+')?);
                    content.push('\n');
                }
                Some(FilePatch::Update { chunks, .. }) => {
                    let sound = line.is_empty()
                        || line.starts_with([' ', '+', '-'])
                        || line.starts_with("@@")
                        || line.trim_end() == "*** End of File";
                    if !sound {
                        return None;
                    }
                    chunks.push_str(line);
                    chunks.push('\n');
                }
                Some(FilePatch::Delete { .. }) if line.trim().is_empty() => {}
                None if line.trim().is_empty() => {}
                _ => return None,
            }
        }
    }
    (!out.is_empty()).then_some(out)
}

/// The envelope in a text, if it stands on lines of its own.
pub(crate) fn envelope(text: &str) -> Option<&str> {
    let start = text.match_indices(BEGIN).map(|(at, _)| at).find(|at| {
        text.get(..*at)
            .is_some_and(|before| before.is_empty() || before.ends_with(['\n', '\'', '"', '`']))
    })?;
    text.get(start..)
}

/// The patches in a script of code mode: string literals that hold an envelope, in order.
pub(crate) fn in_javascript(script: &str) -> Vec<String> {
    literals(script)
        .into_iter()
        .filter(|text| text.starts_with(BEGIN))
        .collect()
}

/// The shell commands of a script of code mode: `cmd: "…"` with the `workdir` that follows it.
pub(crate) fn commands_in_javascript(script: &str) -> Vec<(String, Option<String>)> {
    let mut out = Vec::new();
    for (at, _) in script.match_indices("exec_command") {
        let call = script.get(at..).unwrap_or_default();
        let call = call.get("exec_command".len()..).unwrap_or_default();
        let end = call.find("exec_command").unwrap_or(call.len());
        let call = call.get(..end).unwrap_or_default();
        if let Some(cmd) = member(call, "cmd") {
            out.push((cmd, member(call, "workdir")));
        }
    }
    out
}

/// The string literal after `name:` or `"name":`.
fn member(text: &str, name: &str) -> Option<String> {
    text.match_indices(name).find_map(|(at, _)| {
        let rest = text.get(at + name.len()..)?;
        let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest).trim_start();
        let rest = rest.strip_prefix(':')?.trim_start();
        let mut chars = rest.chars();
        let quote = chars.next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
        literal(&mut chars, quote, false).0
    })
}

/// All string literals without interpolation; comments are not understood, which at worst loses a literal.
fn literals(script: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut chars = script.chars();
    let mut before = String::new();
    while let Some(c) = chars.next() {
        if matches!(c, '"' | '\'' | '`') {
            let raw = c == '`' && before.ends_with("String.raw");
            if let (Some(text), rest) = literal(&mut chars, c, raw) {
                out.push(text);
                chars = rest;
            }
            before.clear();
        } else {
            before.push(c);
        }
    }
    out
}

/// Reads a literal up to its closing quote; `None` for one that is never closed or holds `${`.
fn literal<'a>(
    chars: &mut std::str::Chars<'a>,
    quote: char,
    raw: bool,
) -> (Option<String>, std::str::Chars<'a>) {
    let mut out = String::new();
    let mut plain = true;
    let mut rest = chars.clone();
    while let Some(c) = rest.next() {
        match c {
            c if c == quote => {
                *chars = rest.clone();
                return (plain.then_some(out), rest);
            }
            '\n' if quote != '`' => break,
            '$' if quote == '`' && rest.as_str().starts_with('{') => plain = false,
            '\\' if raw => {
                out.push('\\');
                if let Some(next) = rest.next() {
                    out.push(next);
                }
                continue;
            }
            '\\' => {
                escape(&mut rest, &mut out);
                continue;
            }
            _ => {}
        }
        out.push(c);
    }
    (None, rest)
}

fn escape(rest: &mut std::str::Chars<'_>, out: &mut String) {
    match rest.next() {
        Some('n') => out.push('\n'),
        Some('t') => out.push('\t'),
        Some('r') => out.push('\r'),
        Some('b') => out.push('\u{8}'),
        Some('f') => out.push('\u{c}'),
        Some('v') => out.push('\u{b}'),
        Some('0') => out.push('\0'),
        Some('\n') | None => {}
        Some('x') => out.push(hex(rest, 2)),
        Some('u') if rest.as_str().starts_with('{') => {
            let body = rest.as_str().get(1..).unwrap_or_default();
            let (digits, after) = body.split_once('}').unwrap_or((body, ""));
            let code = u32::from_str_radix(digits, 16)
                .ok()
                .and_then(char::from_u32);
            out.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
            *rest = after.chars();
        }
        Some('u') => {
            let tail = rest.as_str();
            let wide = tail
                .get(..4)
                .is_some_and(|h| h.to_ascii_lowercase().starts_with(['d']))
                && tail.get(4..6) == Some("\\u");
            let len = if wide { 10 } else { 4 };
            let text = format!("\\u{}", tail.get(..len).unwrap_or(tail));
            out.push_str(&crate::tape::decode(&text));
            *rest = tail.get(len..).unwrap_or_default().chars();
        }
        Some(other) => out.push(other),
    }
}

fn hex(rest: &mut std::str::Chars<'_>, len: usize) -> char {
    let tail = rest.as_str();
    let code = tail
        .get(..len)
        .and_then(|h| u32::from_str_radix(h, 16).ok())
        .and_then(char::from_u32);
    *rest = tail.get(len..).unwrap_or_default().chars();
    code.unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_an_envelope() {
        let text = "*** Begin Patch\n*** Add File: a/b.txt\n+one\n+\n+ two\n*** Delete File: c\n*** Update File: d\n\
                    *** Move to: e\n@@ fn x\n-old\n+new\n ctx\n*** End of File\n*** End Patch\ntail";
        assert_eq!(
            parse(text).unwrap(),
            [
                FilePatch::Add {
                    path: "a/b.txt".into(),
                    content: "one\n\n two\n".into()
                },
                FilePatch::Delete { path: "c".into() },
                FilePatch::Update {
                    path: "d".into(),
                    to: Some("e".into()),
                    chunks: "@@ fn x\n-old\n+new\n ctx\n*** End of File\n".into()
                },
            ]
        );
    }

    #[test]
    fn refuses_what_the_tool_refuses() {
        for text in [
            "",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\nno plus\n*** End Patch",
            "*** Begin Patch\n+lost\n*** End Patch",
            "echo *** Begin Patch",
            "*** Begin Patch\n*** Update File: a\n@@\n?x\n*** End Patch",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn keeps_carriage_returns_of_added_lines() {
        let text = "*** Begin Patch\n*** Add File: a\n+x\r\n*** End Patch";
        // `lines` drops the `\r` of a CRLF line end: the tool does so too.
        assert_eq!(
            parse(text).unwrap(),
            [FilePatch::Add {
                path: "a".into(),
                content: "x\n".into()
            }]
        );
    }

    #[test]
    fn finds_patches_and_commands_in_javascript() {
        let script = r#"const p = "*** Begin Patch\n*** Add File: a\n+say \"hi\" \u00e9\ud83d\ude00\n*** End Patch"; await tools.apply_patch(p)"#;
        assert_eq!(
            in_javascript(script),
            ["*** Begin Patch\n*** Add File: a\n+say \"hi\" é😀\n*** End Patch"]
        );
        let raw = "x(String.raw`*** Begin Patch\n*** Add File: a\n+\\n\n*** End Patch`)";
        assert_eq!(
            in_javascript(raw),
            ["*** Begin Patch\n*** Add File: a\n+\\n\n*** End Patch"]
        );
        assert!(
            in_javascript("x(`*** Begin Patch\n*** Add File: ${name}\n*** End Patch`)").is_empty()
        );
        assert!(in_javascript("\"*** Begin Patch").is_empty());
        let script = r#"const r = await tools.exec_command({cmd:"ls 'a' \"b\"","workdir":"/w"}); tools.exec_command({"cmd": 'rm x'})"#;
        assert_eq!(
            commands_in_javascript(script),
            [
                ("ls 'a' \"b\"".into(), Some("/w".into())),
                ("rm x".into(), None)
            ]
        );
        assert!(commands_in_javascript("tools.exec_command({cmd: `rm ${x}`})").is_empty());
    }
}
