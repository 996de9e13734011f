//! What a tool call asks for, in a few words for its row: the command that it runs, the files that it patches, what it
//! looks for and where. Of a call that nobody knows: nothing.
//!
//! Left out on purpose: what the call does to files (the agents' readers say that).

use super::patch::{self, FilePatch};
use crate::tape::{decode, Fault, Kind, Tape, Val};

const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "target_file",
    "notebook_path",
    "filename",
    "file",
    "dir_path",
    "paths",
];
const COMMANDS: &[&str] = &["command", "cmd", "CommandLine", "commandLine", "script"];
const PATTERNS: &[&str] = &["pattern", "regex", "query", "search_term", "glob"];
const PATCHES: &[&str] = &["input", "patch", "patchText", "patch_text"];
/// Lists of steps or questions, with the member that says each.
const LISTS: &[(&str, &[&str])] = &[
    ("plan", &["step", "content"]),
    ("todos", &["content", "step", "title"]),
    ("questions", &["question", "header"]),
];
const WORDS: &[&str] = &[
    "url",
    "description",
    "subject",
    "prompt",
    "task",
    "question",
    "skill",
    "plan",
    "chars",
    "thought",
];

/// Files of a patch that are named; the others are counted.
const NAMED: usize = 4;
/// Texts inside texts: JSON in a string in JSON.
const DEEP: usize = 3;

/// What a call asks for. `args`: the JSON text of its arguments, or the start of it.
pub fn asks(args: &str) -> Option<String> {
    of_text(args, DEEP)
}

fn of_text(json: &str, deep: usize) -> Option<String> {
    let mut tape = Tape::lenient();
    match tape.read(json) {
        Ok(_) => of_value(tape.root(json), deep),
        Err(Fault::Cut) => {
            // The text that is cut may be the one that tells.
            let text = decode(json);
            let told = files_of(&text).or_else(|| commands_of(&text));
            told.or_else(|| {
                let any = tape.salvage(json.len());
                any.then(|| of_value(tape.root(json), deep)).flatten()
            })
        }
        Err(_) => None,
    }
}

fn of_value(value: Val<'_>, deep: usize) -> Option<String> {
    match value.kind() {
        Kind::String => {
            let text = value.str()?;
            of_words(&text, deep)
        }
        Kind::Array => line(value),
        Kind::Object => of_object(value, deep),
        _ => None,
    }
}

/// A text that is all of the arguments: JSON once more, a patch, a script, or what it says.
fn of_words(text: &str, deep: usize) -> Option<String> {
    let inner = text.trim_start().starts_with(['{', '[']) && deep > 0;
    let inner = inner
        .then(|| of_text(text, deep.saturating_sub(1)))
        .flatten();
    inner
        .or_else(|| commands_of(text))
        .or_else(|| files_of(text))
}

fn of_object(args: Val<'_>, deep: usize) -> Option<String> {
    let text = |names: &[&str]| {
        let hit = names.iter().find_map(|name| args.get(name)?.str());
        hit.filter(|text| !text.trim().is_empty())
    };
    if let Some(told) = PATCHES
        .iter()
        .find_map(|name| args.get(name)?.str())
        .and_then(|text| of_words(&text, deep))
    {
        return Some(told);
    }
    let path = text(PATHS);
    let command = COMMANDS.iter().find_map(|name| args.get(name));
    if let Some(command) = command {
        match (&path, command.str()) {
            // What an editor is to do.
            (Some(path), Some(word)) if !word.contains(char::is_whitespace) => {
                return Some(format!("{word} {path}"));
            }
            _ => {
                let told = line(command).filter(|told| !told.is_empty());
                if told.is_some() {
                    return told;
                }
            }
        }
    }
    let pattern = text(PATTERNS);
    match (pattern, path) {
        (Some(pattern), Some(path)) => Some(format!("{pattern} in {path}")),
        (Some(pattern), None) => Some(pattern.into_owned()),
        (None, Some(path)) => Some(match args.get("offset").and_then(|from| from.int()) {
            Some(from) if from > 1 => format!("{path}, from line {from}"),
            _ => path.into_owned(),
        }),
        (None, None) => LISTS
            .iter()
            .find_map(|(list, names)| step(args.get(list)?, names))
            .or_else(|| text(WORDS).map(|words| words.into_owned())),
    }
}

/// The step that is under way, else the first that is not done, else the last.
fn step(list: Val<'_>, names: &[&str]) -> Option<String> {
    let is = |item: &Val<'_>, wanted: &[&str]| {
        let status = item.text_of("status");
        status.is_some_and(|status| wanted.contains(&&*status))
    };
    let count = list.items().count();
    let under_way = list.items().find(|item| is(item, &["in_progress"]));
    let open = || list.items().find(|item| !is(item, &["completed", "done"]));
    let item = under_way.or_else(open).or_else(|| list.items().last())?;
    let said = names.iter().find_map(|name| item.text_of(name))?;
    Some(match count {
        1 => said.into_owned(),
        _ => format!("{said} (of {count})"),
    })
}

/// A command line, without the shell that runs it.
fn line(command: Val<'_>) -> Option<String> {
    if let Some(text) = command.str() {
        return files_of(&text)
            .filter(|_| is_patch(&text))
            .or_else(|| Some(inner(&text)?.to_owned()))
            .or_else(|| Some(text.into_owned()));
    }
    let words: Vec<_> = command.items().filter_map(|word| word.str()).collect();
    let told = match words.as_slice() {
        [shell, flag, script] if is_shell(shell) && flag.starts_with(['-', '/']) => {
            match is_patch(script) {
                true => files_of(script).unwrap_or_else(|| script.to_string()),
                false => script.to_string(),
            }
        }
        [tool, text] if tool.ends_with("apply_patch") => {
            files_of(text).unwrap_or_else(|| text.to_string())
        }
        words => words.join(" "),
    };
    Some(told)
}

/// The script of `bash -lc '…'`, where it is the whole command.
fn inner(text: &str) -> Option<&str> {
    let (shell, rest) = text.trim().split_once(' ')?;
    let (flag, script) = rest.trim_start().split_once(' ')?;
    if !is_shell(shell) || !matches!(flag, "-c" | "-lc" | "-ic" | "-Command") {
        return None;
    }
    let script = script.trim();
    let quoted = ['\'', '"'].iter().find_map(|quote| {
        let inside = script.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (!inside.contains(*quote)).then_some(inside)
    });
    quoted.or(Some(script))
}

fn is_shell(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    matches!(
        name.strip_suffix(".exe").unwrap_or(name),
        "bash" | "sh" | "zsh" | "dash" | "fish" | "pwsh" | "powershell" | "cmd"
    )
}

fn is_patch(script: &str) -> bool {
    script.trim_start().starts_with("apply_patch")
}

/// The files of a patch envelope, also of one that is cut.
fn files_of(text: &str) -> Option<String> {
    let files: Vec<String> = patch::parse(text)?.into_iter().map(one_file).collect();
    let more = files.len().saturating_sub(NAMED);
    let mut told = files.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        told.push_str(&format!(" and {more} more"));
    }
    (!told.is_empty()).then_some(told)
}

fn one_file(file: FilePatch) -> String {
    match file {
        FilePatch::Add { path, .. } => format!("add {path}"),
        FilePatch::Delete { path } => format!("delete {path}"),
        FilePatch::Update { path, to: None, .. } => format!("change {path}"),
        FilePatch::Update {
            path, to: Some(to), ..
        } => format!("move {path} to {to}"),
    }
}

/// What a script of code mode runs: its shell commands and its patches, in order of kind.
fn commands_of(script: &str) -> Option<String> {
    if !script.contains("tools.") {
        return None;
    }
    let commands = patch::commands_in_javascript(script)
        .into_iter()
        .map(|(command, _)| command);
    let patches = patch::in_javascript(script)
        .into_iter()
        .filter_map(|text| files_of(&text));
    let told: Vec<String> = commands.chain(patches).collect();
    if told.is_empty() {
        // A patch that is computed, or another of its tools.
        let (_, rest) = script.split_once("tools.")?;
        let name: String = rest
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect();
        return (!name.is_empty()).then(|| format!("{name}, in a script"));
    }
    Some(told.join(" ; "))
}

#[cfg(test)]
mod tests {
    use super::asks;

    #[test]
    fn what_calls_ask_for() {
        for (args, told) in [
            (
                r#"{"command":["bash","-lc","cargo test"],"workdir":"/w"}"#,
                "cargo test",
            ),
            (r#"{"command":"bash -lc 'cargo test'"}"#, "cargo test"),
            (r#"{"command":["ls","-l"]}"#, "ls -l"),
            (
                r#""{\"command\":[\"/usr/bin/zsh\",\"-lc\",\"make\"]}""#,
                "make",
            ),
            (r#"{"cmd":"git status","yield_time_ms":1000}"#, "git status"),
            (
                r#"{"command":["apply_patch","*** Begin Patch\n*** Update File: a.md\n@@\n-x\n+y\n*** Add File: b\n+1\n*** End Patch"]}"#,
                "change a.md, add b",
            ),
            (
                r#"{"command":["bash","-lc","apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF"]}"#,
                "delete a",
            ),
            (
                r#""*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch""#,
                "move a to b",
            ),
            // Cut inside the text of the patch.
            (
                r#""*** Begin Patch\n*** Update File: a\n@@\n-lon"#,
                "change a",
            ),
            (
                r#""const r = await tools.exec_command({cmd:\"ls -la\", workdir: \"/w\"}); text(r.output)""#,
                "ls -la",
            ),
            (
                r#""await tools.apply_patch(\"*** Begin Patch\\n*** Add File: a\\n+x\\n*** End Patch\")""#,
                "add a",
            ),
            (
                r#""const p = f(x); await tools.apply_patch(p)""#,
                "apply_patch, in a script",
            ),
            (
                r#"{"pattern":"fn main","path":"/w/src","glob":"*.rs"}"#,
                "fn main in /w/src",
            ),
            (
                r#"{"file_path":"/w/a","old_string":"x","new_string":"y"}"#,
                "/w/a",
            ),
            (
                r#"{"file_path":"/w/a","offset":100,"limit":50}"#,
                "/w/a, from line 100",
            ),
            (
                r#"{"command":"str_replace","path":"/w/a"}"#,
                "str_replace /w/a",
            ),
            (
                r#"{"plan":[{"step":"one","status":"completed"},{"step":"two","status":"in_progress"}]}"#,
                "two (of 2)",
            ),
            (
                r#"{"todos":[{"content":"only","status":"pending"}]}"#,
                "only",
            ),
            (
                r#"{"description":"look around","prompt":"long"}"#,
                "look around",
            ),
            (r#"{"session_id":7,"chars":"y\n"}"#, "y\n"),
            (
                r#""{\"tool\":\"newFileCreated\",\"path\":\"index.html\",\"content\":\"x\"}""#,
                "index.html",
            ),
        ] {
            assert_eq!(asks(args).as_deref(), Some(told), "{args}");
        }
        for none in [
            "",
            "nothing",
            "{}",
            "17",
            r#"{"cell_id":55}"#,
            r#""plain words""#,
        ] {
            assert_eq!(asks(none), None, "{none}");
        }
    }
}
