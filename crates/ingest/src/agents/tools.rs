//! What the tools of most agents do to files, told by the tool's name and its arguments: whole writes, replacements,
//! insertions, patches, shell commands. Agents whose results say more (Claude Code, Codex) have their own rules.
//!
//! Left out on purpose: tools that nobody knows: they may change whatever their arguments name.

use hashbrown::{HashMap, HashSet};

use chipdeck_event::{Change, Edit, Id, Json, Reach, Status, Text};

use super::patch::{self, FilePatch};
use super::shell;
use super::sink::{Call, Outcome, Sink};
use crate::tape::{Origin, Val};

/// What a call asked for.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Write {
        path: String,
        content: Text,
    },
    Edit {
        path: String,
        edits: Vec<Edit>,
    },
    Patch(Vec<FilePatch>),
    Delete {
        path: String,
    },
    Move {
        from: String,
        to: String,
    },
    /// Changes the file in a way that the log does not tell.
    Touch {
        path: String,
    },
}

/// What a result proves beyond the call.
#[derive(Default)]
pub(crate) struct Proof {
    /// The file was not there before.
    pub created: bool,
    pub before: Option<Text>,
    pub after: Option<Text>,
    /// The user or a formatter changed what was asked for.
    pub altered: bool,
}

const PATHS: &[&str] = &[
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "target_file",
    "filename",
    "file",
];
const CONTENTS: &[&str] = &[
    "content",
    "contents",
    "file_text",
    "new_content",
    "text",
    "CodeContent",
];
const OLD: &[&str] = &["old_string", "oldString", "old_str", "oldText", "old_text"];
const NEW: &[&str] = &["new_string", "newString", "new_str", "newText", "new_text"];
const ALL: &[&str] = &[
    "replace_all",
    "replaceAll",
    "allowMultiple",
    "allow_multiple",
];

/// Words in the names of tools that change nothing.
const QUIET: &[&str] = &[
    "read",
    "ls",
    "glob",
    "grep",
    "search",
    "list",
    "view",
    "think",
    "todo",
    "fetch",
    "web",
    "finish",
    "find",
    "ask",
    "question",
    "plan",
    "goal",
    "memory",
    "diagnostics",
    "skill",
    "task_list",
    "tasklist",
    "taskoutput",
    "image",
    "open",
    "goto",
    "scroll",
    "browse",
    "get",
    "status",
    "intent",
    "recall",
    "cat",
    "load",
];

fn first<'a>(args: Val<'a>, names: &[&str]) -> Option<Val<'a>> {
    names.iter().find_map(|name| args.get(name))
}

fn text(args: Val<'_>, names: &[&str], origin: Origin) -> Option<Text> {
    first(args, names)
        .filter(|v| v.is_string())
        .map(|v| origin.text(v))
}

/// The tool's name without its server or extension.
fn plain(name: &str) -> String {
    let name = name.rsplit("__").next().unwrap_or(name);
    name.to_ascii_lowercase().replace(['-', ' ', '.'], "_")
}

/// The command of a call of the shell.
pub(crate) fn command(name: &str, args: Val<'_>) -> Option<String> {
    let name = plain(name);
    let shell = [
        "bash",
        "shell",
        "terminal",
        "run_command",
        "execute_command",
        "execute_bash",
        "exec",
        "powershell",
        "command",
    ]
    .iter()
    .any(|s| name == *s || name.ends_with(&format!("_{s}")) || name.starts_with(&format!("{s}_")))
        || name.contains("shell")
        || name == "run";
    let command = first(
        args,
        &["command", "cmd", "CommandLine", "commandLine", "script"],
    )?;
    let command = match command.str() {
        Some(text) => text.into_owned(),
        None => command
            .items()
            .filter_map(|i| i.str().map(|s| s.into_owned()))
            .collect::<Vec<_>>()
            .join(" "),
    };
    // A `command` of an editor tool is what to do, not a line of shell.
    (shell && first(args, PATHS).is_none()).then_some(command)
}

/// What the call does to files, if it is a tool for that.
pub(crate) fn act(name: &str, args: Val<'_>, origin: Origin) -> Option<Act> {
    let name = plain(name);
    let path = || {
        first(args, PATHS)
            .and_then(|p| p.str())
            .filter(|p| !p.is_empty())
            .map(|p| p.into_owned())
    };
    match name.as_str() {
        "write" | "write_file" | "create" | "create_file" | "write_to_file" | "new_file"
        | "save_file" => Some(Act::Write {
            path: path()?,
            content: text(args, CONTENTS, origin)?,
        }),
        "edit" | "replace" | "str_replace" | "edit_file" | "strreplace" | "multiedit"
        | "multi_edit" | "search_replace" => {
            if let Some(command) = args.text_of("command") {
                return editor(&command, args, path()?, origin);
            }
            Some(Act::Edit {
                path: path()?,
                edits: edits(args, origin)?,
            })
        }
        "text_editor" | "str_replace_editor" | "str_replace_based_edit_tool" | "file_editor" => {
            editor(&args.text_of("command")?, args, path()?, origin)
        }
        "insert" => editor("insert", args, path()?, origin),
        "apply_patch" | "applypatch" => {
            let patch = first(args, &["input", "patch", "patchText", "patch_text"])?.str()?;
            patch::parse(&patch).map(Act::Patch)
        }
        "delete_file" | "remove_file" | "delete" => Some(Act::Delete { path: path()? }),
        "move_file" | "rename_file" => {
            let end = |names: &[&str]| {
                first(args, names)
                    .and_then(|p| p.str())
                    .map(|p| p.into_owned())
            };
            Some(Act::Move {
                from: end(&["source", "from", "old_path"])?,
                to: end(&["destination", "to", "new_path"])?,
            })
        }
        "notebookedit" | "edit_notebook" => {
            let path = first(args, &["notebook_path", "path", "target_notebook"])?.str()?;
            Some(Act::Touch {
                path: path.into_owned(),
            })
        }
        _ => None,
    }
}

/// The commands of Anthropic's editor tool and its relatives.
fn editor(command: &str, args: Val<'_>, path: String, origin: Origin) -> Option<Act> {
    match command {
        "create" | "write" => Some(Act::Write {
            path,
            content: text(args, CONTENTS, origin)?,
        }),
        "str_replace" | "edit" | "replace" => Some(Act::Edit {
            path,
            edits: edits(args, origin)?,
        }),
        "insert" => {
            let line = args
                .get("insert_line")
                .or_else(|| args.get("line"))?
                .int()?;
            let new = first(args, NEW)
                .or_else(|| args.get("insert_text"))
                .or_else(|| args.get("text"))?
                .str()?;
            let newline = if new.ends_with('\n') { "" } else { "\n" };
            let content = Text::inline(format!("{new}{newline}"));
            Some(Act::Edit {
                path,
                edits: vec![Edit::Lines {
                    start: line.saturating_add(1),
                    end: line,
                    content,
                }],
            })
        }
        "undo_edit" => Some(Act::Touch { path }),
        _ => None,
    }
}

/// One replacement or a list of them.
fn edits(args: Val<'_>, origin: Origin) -> Option<Vec<Edit>> {
    let one = |args: Val<'_>| {
        let all = first(args, ALL).and_then(|v| v.bool()) == Some(true)
            || args
                .get("expected_replacements")
                .and_then(|v| v.int())
                .is_some_and(|n| n > 1);
        Some(Edit::Replace {
            old: text(args, OLD, origin)?,
            new: text(args, NEW, origin)?,
            all,
        })
    };
    match first(args, &["edits", "edit"]) {
        Some(list) if list.is_array() => list.items().map(one).collect(),
        Some(inner) if inner.is_object() => Some(vec![one(inner)?]),
        _ => Some(vec![one(args)?]),
    }
}

/// May a call of this tool change files that the log does not tell of?
pub(crate) fn reach(name: &str, args: Val<'_>, cwd: Option<&str>) -> Reach {
    if let Some(command) = command(name, args) {
        let folder = first(args, &["cwd", "workdir", "directory", "dir_path", "Cwd"])
            .and_then(|d| d.str())
            .filter(|d| !d.is_empty());
        let cwd = match folder {
            Some(folder) => Some(super::paths::join(cwd, &folder)),
            None => cwd.map(str::to_string),
        };
        return shell::reach(&command, cwd.as_deref(), false);
    }
    let name = plain(name);
    let quiet = QUIET.iter().any(|w| {
        name == *w
            || name.starts_with(&format!("{w}_"))
            || name.ends_with(&format!("_{w}"))
            || name.ends_with(&format!("{w}file"))
    }) || [
        "web",
        "todo",
        "enterplan",
        "exitplan",
        "ask",
        "read",
        "list",
        "search",
        "tasklist",
        "taskoutput",
    ]
    .iter()
    .any(|w| name.starts_with(w));
    let viewing = matches!(args.text_of("command").as_deref(), Some("view"));
    if quiet || viewing {
        Reach::None
    } else {
        super::changer(Some(args), cwd)
    }
}

/// Calls of one file and what they asked for.
#[derive(Default)]
pub(crate) struct Calls {
    open: HashMap<Id, Option<Act>>,
    seen: HashSet<Id>,
    results: HashSet<Id>,
}

impl Calls {
    /// A call. Of equal ids the first counts.
    pub(crate) fn call(
        &mut self,
        id: &Id,
        name: &str,
        args: Val<'_>,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) {
        if !self.seen.insert(id.clone()) {
            return sink.copy();
        }
        let act = act(name, args, origin);
        let reach = match act {
            Some(_) => Reach::None,
            None => reach(name, args, sink.shelf.cwd.as_deref()),
        };
        self.open.insert(id.clone(), act);
        sink.call(Call {
            id: id.clone(),
            name,
            args: origin.json(args),
            reach,
        });
    }

    pub(crate) fn knows(&self, id: &str) -> bool {
        self.seen.contains(id)
    }

    pub(crate) fn settled(&self, id: &str) -> bool {
        self.results.contains(id)
    }

    /// The result of a call. Of several the first counts.
    pub(crate) fn result(
        &mut self,
        id: &Id,
        status: Status,
        told: Option<Text>,
        result: Json,
        proof: Proof,
        sink: &mut Sink<'_>,
    ) {
        if !self.results.insert(id.clone()) {
            return sink.copy();
        }
        sink.result(Outcome {
            call: id.clone(),
            status,
            told,
            result,
            duration_ms: None,
        });
        let act = self.open.remove(id).flatten();
        if let (Status::Ok, Some(act)) = (status, act) {
            apply(act, proof, id, sink);
        }
    }
}

/// The file events of a call that went well.
pub(crate) fn apply(act: Act, proof: Proof, call: &Id, sink: &mut Sink<'_>) {
    let target = match &act {
        Act::Write { path, .. } | Act::Edit { path, .. } => Some(sink.path(path)),
        _ => None,
    };
    if let (Some(path), Some(after)) = (&target, proof.after) {
        if let Some(before) = proof.before {
            sink.observe(call, path, before);
        }
        return sink.write(call, path, after, proof.created);
    }
    match act {
        Act::Write { path, content } => {
            let path = sink.path(&path);
            if proof.altered {
                sink.change(call, &path, Change::Content(content), true);
            } else {
                sink.write(call, &path, content, proof.created);
            }
        }
        Act::Edit { path, edits } => {
            let path = sink.path(&path);
            if let Some(before) = proof.before {
                sink.observe(call, &path, before);
            }
            // An empty old text makes a new file, where the tool takes one at all.
            match edits.as_slice() {
                [Edit::Replace {
                    old: Text::Inline(old),
                    new,
                    ..
                }] if old.is_empty() => {
                    sink.write(call, &path, new.clone(), true);
                }
                _ => sink.change(call, &path, Change::Edits(edits), proof.altered),
            }
        }
        Act::Patch(files) => files
            .into_iter()
            .for_each(|file| apply_patch(file, None, call, sink)),
        Act::Delete { path } => {
            let path = sink.path(&path);
            sink.delete(call, &path);
        }
        Act::Move { from, to } => {
            let (from, to) = (sink.path(&from), sink.path(&to));
            sink.rename(call, &from, &to);
        }
        Act::Touch { path } => {
            let path = sink.path(&path);
            sink.touched(call, &path);
        }
    }
}

/// One file of a patch envelope. `cwd`: the folder of its paths, the one in force where none is given.
pub(crate) fn apply_patch(file: FilePatch, cwd: Option<&str>, call: &Id, sink: &mut Sink<'_>) {
    let mut resolve = |path: &str| match cwd {
        Some(cwd) => {
            let joined = super::paths::join(Some(cwd), path);
            sink.name(&joined)
        }
        None => sink.path(path),
    };
    match file {
        FilePatch::Add { path, content } => {
            let path = resolve(&path);
            sink.write(call, &path, Text::inline(content), true);
        }
        FilePatch::Delete { path } => {
            let path = resolve(&path);
            sink.delete(call, &path);
        }
        FilePatch::Update { path, to, chunks } => {
            let path = resolve(&path);
            let to = to.map(|t| resolve(&t));
            if !chunks.is_empty() {
                sink.change(call, &path, Change::Chunks(Text::inline(chunks)), false);
            }
            if let Some(to) = to {
                sink.rename(call, &path, &to);
            }
        }
    }
}

/// What a unified diff proves alone: a single hunk from the first line to the end of the file holds all of it. A diff
/// tool gives at least `context` lines after the last change unless the file ends before.
pub(crate) fn whole_file(diff: &str, context: usize) -> Option<(String, String)> {
    let mut hunks = diff
        .match_indices("@@ -")
        .filter(|(at, _)| *at == 0 || diff.get(..*at).is_some_and(|b| b.ends_with('\n')));
    let (at, _) = hunks.next()?;
    if hunks.next().is_some() {
        return None;
    }
    let (head, body) = diff.get(at..)?.split_once('\n')?;
    let mut ranges = head.split(' ').skip(1);
    let starts_at_top = |range: Option<&str>| {
        let range = range?.trim_start_matches(['-', '+']);
        let start = range.split(',').next()?;
        matches!(start, "0" | "1").then_some(())
    };
    starts_at_top(ranges.next())?;
    starts_at_top(ranges.next())?;
    let (mut before, mut after) = (String::new(), String::new());
    let mut trailing = 0;
    let mut last = ' ';
    for line in body.split_inclusive('\n') {
        let mut chars = line.chars();
        let kind = chars.next().unwrap_or(' ');
        let text = chars.as_str();
        match kind {
            ' ' => {
                before.push_str(text);
                after.push_str(text);
                trailing += 1;
            }
            '-' => {
                before.push_str(text);
                trailing = 0;
            }
            '+' => {
                after.push_str(text);
                trailing = 0;
            }
            '\\' => {
                let cut = |s: &mut String| {
                    if s.ends_with('\n') {
                        s.pop();
                    }
                };
                if matches!(last, ' ' | '-') {
                    cut(&mut before);
                }
                if matches!(last, ' ' | '+') {
                    cut(&mut after);
                }
                continue;
            }
            _ => return None,
        }
        last = kind;
    }
    (trailing < context).then_some((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape::Tape;

    fn acted(name: &str, json: &str) -> String {
        let mut tape = Tape::default();
        tape.read(json).unwrap();
        match act(name, tape.root(json), Origin::Computed) {
            Some(Act::Write {
                path,
                content: Text::Inline(content),
            }) => format!("write {path} {content}"),
            Some(Act::Edit { path, edits }) => format!("edit {path} {}", edits.len()),
            Some(Act::Patch(files)) => format!("patch {}", files.len()),
            Some(Act::Delete { path }) => format!("delete {path}"),
            Some(Act::Move { from, to }) => format!("move {from} {to}"),
            Some(Act::Touch { path }) => format!("touch {path}"),
            Some(Act::Write { .. }) | None => "nothing".into(),
        }
    }

    #[test]
    fn tools_of_many_agents() {
        assert_eq!(
            acted("write_file", r#"{"file_path":"a","content":"x"}"#),
            "write a x"
        );
        assert_eq!(
            acted(
                "developer__text_editor",
                r#"{"command":"write","path":"a","file_text":"x"}"#
            ),
            "write a x"
        );
        assert_eq!(
            acted("str_replace_editor", r#"{"command":"view","path":"a"}"#),
            "nothing"
        );
        assert_eq!(
            acted(
                "str_replace_editor",
                r#"{"command":"insert","path":"a","insert_line":2,"new_str":"x"}"#
            ),
            "edit a 1"
        );
        assert_eq!(
            acted(
                "edit",
                r#"{"path":"a","edits":[{"oldText":"x","newText":"y"},{"oldText":"z","newText":""}]}"#
            ),
            "edit a 2"
        );
        assert_eq!(
            acted("StrReplace", r#"{"path":"a","old_str":"x","new_str":"y"}"#),
            "edit a 1"
        );
        assert_eq!(
            acted(
                "apply_patch",
                r#"{"patchText":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}"#
            ),
            "patch 1"
        );
        assert_eq!(acted("edit", r#"{"path":"a","old_str":"x"}"#), "nothing");
        assert_eq!(acted("bash", r#"{"command":"rm a"}"#), "nothing");
        assert_eq!(acted("undo", "{}"), "nothing");
    }

    #[test]
    fn quiet_tools_and_changers() {
        let read = |name: &str, json: &str| {
            let mut tape = Tape::default();
            tape.read(json).unwrap();
            reach(name, tape.root(json), Some("/w")) == Reach::None
        };
        assert!(
            read("read_file", r#"{"path":"a"}"#)
                && read("Grep", "{}")
                && read("list_directory", "{}")
        );
        assert!(
            read("run_shell_command", r#"{"command":"ls -F"}"#)
                && read("Bash", r#"{"command":"git log -1"}"#)
        );
        assert!(
            !read("Bash", r#"{"command":"rm a"}"#)
                && !read("run_shell_command", r#"{"command":"make"}"#)
        );
        assert!(
            !read("Agent", r#"{"prompt":"x"}"#)
                && !read("mcp__x__do", "{}")
                && !read("create_sub_session", "{}")
        );
        assert!(read(
            "str_replace_editor",
            r#"{"command":"view","path":"a"}"#
        ));
    }

    #[test]
    fn a_diff_that_holds_the_whole_file_proves_it() {
        let diff = "Index: a\n===\n--- a\n+++ a\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+three\n";
        assert_eq!(
            whole_file(diff, 4),
            Some(("one\ntwo\n".into(), "one\n2\nthree\n".into()))
        );
        let end = "@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n\\ No newline at end of file\n";
        assert_eq!(
            whole_file(end, 4),
            Some(("one\ntwo".into(), "one\n2".into()))
        );
        let open = "@@ -1,5 +1,5 @@\n-one\n+1\n two\n three\n four\n five\n";
        assert_eq!(whole_file(open, 4), None, "the file may go on");
        assert_eq!(whole_file("@@ -3,2 +3,2 @@\n-a\n+b\n c\n", 4), None);
        assert_eq!(
            whole_file("@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n", 4),
            None
        );
        assert_eq!(whole_file("[redacted]", 4), None);
    }
}
