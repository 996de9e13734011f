//! What the calls of Codex may do to files, by their arguments: lists of words, shell texts, here-documents with
//! patches, JavaScript of code mode.
//!
//! Left out on purpose: what became of a call (see [`super::codex_outcome`]).

use chipdeck_event::{Id, Reach};

use super::patch::{self, FilePatch};
use super::paths;
use super::shell;
use crate::tape::Val;

/// Tools that change no file, or whose changes the log tells.
pub(crate) const HARMLESS: &[&str] = &[
    "update_plan",
    "view_image",
    "web_search",
    "apply_patch",
    "list_mcp_resources",
    "read_mcp_resource",
    "list_mcp_resource_templates",
    "request_user_input",
    "get_goal",
    "create_goal",
    "update_goal",
    "read_file",
    "list_dir",
    "grep_files",
    "tool_search",
    "text",
    "image",
    "image_gen",
    "notify",
];

/// A call without an output so far.
#[derive(Default)]
pub(crate) struct Open {
    /// The patches in its text and the folder they are relative to.
    pub patches: Vec<(Vec<FilePatch>, Option<Id>)>,
    /// A script: its patch events have ids of their own.
    pub code: bool,
    /// An event told what became of its patches.
    pub told: bool,
    /// Nothing else was called, so that its exit status is the patch's.
    pub alone: bool,
}

pub(crate) fn patch_call(text: &str, cwd: Option<&str>) -> Open {
    let patches = patch::parse(text)
        .into_iter()
        .map(|p| (p, cwd.map(Id::from)))
        .collect();
    Open {
        patches,
        alone: true,
        ..Open::default()
    }
}

/// A function call by name and parsed arguments.
pub(crate) fn named_call(name: &str, args: Val<'_>, cwd: Option<&str>) -> (Open, Reach) {
    if args.get("command").is_some() || args.get("cmd").is_some() {
        return shell_call(args, cwd);
    }
    match name {
        "apply_patch" => (
            patch_call(
                &args
                    .text_of("input")
                    .or_else(|| args.text_of("patch"))
                    .unwrap_or_default(),
                cwd,
            ),
            Reach::None,
        ),
        name if HARMLESS.contains(&name) => (Open::default(), Reach::None),
        _ => (Open::default(), super::changer(Some(args), cwd)),
    }
}

/// `{command: […] or "…"}` or `{cmd: "…"}` with a folder of its own.
pub(crate) fn shell_call(args: Val<'_>, cwd: Option<&str>) -> (Open, Reach) {
    let folder = args
        .text_of("workdir")
        .or_else(|| args.text_of("working_directory"))
        .filter(|w| !w.is_empty());
    let cwd = match folder {
        Some(folder) => Some(paths::join(cwd, &folder)),
        None => cwd.map(str::to_string),
    };
    let cwd = cwd.as_deref();
    let Some(command) = args.get("command").or_else(|| args.get("cmd")) else {
        return (Open::default(), Reach::Changer { words: Vec::new() });
    };
    if let Some(script) = command.str() {
        return script_reach(&script, cwd);
    }
    let words: Vec<String> = command
        .items()
        .filter_map(|w| w.str())
        .map(|w| w.into_owned())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["apply_patch" | "applypatch", text] => (patch_call(text, cwd), Reach::None),
        [sh, flag, script]
            if is_shell(sh)
                && matches!(*flag, "-lc" | "-c" | "-Command" | "/c" | "-ic" | "-lic") =>
        {
            script_reach(script, cwd)
        }
        [sh, flags @ .., script]
            if is_shell(sh)
                && flags
                    .iter()
                    .any(|f| matches!(*f, "-Command" | "-lc" | "-c" | "/c")) =>
        {
            script_reach(script, cwd)
        }
        words => (Open::default(), shell::reach(&quoted(words), cwd, false)),
    }
}

fn is_shell(name: &str) -> bool {
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    matches!(
        name,
        "bash" | "sh" | "zsh" | "dash" | "fish" | "powershell" | "pwsh" | "cmd"
    )
}

/// A list of arguments as one line of shell.
fn quoted(words: &[&str]) -> String {
    words
        .iter()
        .map(|w| format!("'{}'", w.replace('\'', "'\\''")))
        .collect::<Vec<_>>()
        .join(" ")
}

/// A shell text: the patches in its here-documents, and what else it may do.
fn script_reach(script: &str, cwd: Option<&str>) -> (Open, Reach) {
    let commands = shell::split(script);
    let mut folder = cwd.map(str::to_string);
    let mut patches = Vec::new();
    for command in &commands {
        if shell::is_patch(command) {
            let text = command.bodies.first().or_else(|| command.words.get(1));
            if let Some(parsed) = text.and_then(|t| patch::parse(t)) {
                patches.push((parsed, folder.as_deref().map(Id::from)));
            }
        } else if let [cd, to] = command.words.as_slice() {
            if cd == "cd" {
                folder = Some(paths::join(folder.as_deref(), to));
            }
        }
    }
    // Before the patch only a change of folder: its exit status is the patch's.
    let alone = commands.last().is_some_and(shell::is_patch)
        && commands
            .iter()
            .all(|c| shell::is_patch(c) || c.words.first().is_some_and(|w| w == "cd"));
    let only_patch = alone && !patches.is_empty();
    let reach = if only_patch {
        Reach::None
    } else {
        shell::reach(script, cwd, !patches.is_empty())
    };
    (
        Open {
            patches,
            alone,
            ..Open::default()
        },
        reach,
    )
}

/// JavaScript of code mode.
pub(crate) fn script_call(script: &str, cwd: Option<&str>) -> (Open, Reach) {
    let patches: Vec<_> = patch::in_javascript(script)
        .iter()
        .filter_map(|text| patch::parse(text))
        .map(|p| (p, cwd.map(Id::from)))
        .collect();
    let mut words = std::collections::BTreeSet::new();
    let mut changes = false;
    let commands = patch::commands_in_javascript(script);
    let mut shells = 0;
    for (at, _) in script.match_indices("tools.") {
        let rest = script.get(at + "tools.".len()..).unwrap_or_default();
        let tool: String = rest
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        match tool.as_str() {
            "exec_command" => shells += 1,
            tool if HARMLESS.contains(&tool) => {}
            _ => changes = true,
        }
    }
    for (command, folder) in &commands {
        let cwd = folder
            .as_deref()
            .map(|f| paths::join(cwd, f))
            .or_else(|| cwd.map(str::to_string));
        if let Reach::Changer { words: more } = shell::reach(command, cwd.as_deref(), false) {
            changes = true;
            words.extend(more);
        }
    }
    // A command that is computed may be any.
    changes |= shells > commands.len();
    let reach = if changes {
        Reach::Changer {
            words: words.into_iter().collect(),
        }
    } else {
        Reach::None
    };
    (
        Open {
            patches,
            code: true,
            ..Open::default()
        },
        reach,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape::Tape;

    #[test]
    fn shells_of_every_shape() {
        let read = |json: &str| {
            let mut tape = Tape::default();
            tape.read(json).unwrap();
            let (open, reach) = shell_call(tape.root(json), Some("/w"));
            (open.patches.len(), open.alone, reach == Reach::None)
        };
        let heredoc =
            "apply_patch <<'P'\\n*** Begin Patch\\n*** Add File: a\\n+x\\n*** End Patch\\nP";
        assert_eq!(
            read(&format!(r#"{{"command":["bash","-lc","{heredoc}"]}}"#)),
            (1, true, true)
        );
        assert_eq!(
            read(&format!(
                r#"{{"command":["bash","-lc","cd sub && {heredoc}"]}}"#
            )),
            (1, true, true)
        );
        assert_eq!(
            read(&format!(
                r#"{{"command":["bash","-lc","{heredoc}\nmake"]}}"#
            )),
            (1, false, false)
        );
        assert_eq!(
            read(&format!(r#"{{"cmd":"{heredoc}","workdir":"/x"}}"#)),
            (1, true, true)
        );
        assert_eq!(
            read(
                r#"{"command":["bash","-lc","*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"]}"#
            ),
            (0, false, false)
        );
        assert_eq!(read(r#"{"command":["ls","a b"]}"#), (0, false, true));
        assert_eq!(
            read(r#"{"command":["powershell.exe","-NoProfile","-Command","Get-Content x"]}"#),
            (0, false, false)
        );
        assert!(!read(r#"{"command":["rm","a;b"]}"#).2);
    }

    #[test]
    fn scripts_of_code_mode() {
        let none = |script: &str| script_call(script, Some("/w")).1 == Reach::None;
        assert!(none(
            r#"const r = await tools.exec_command({cmd:"git status"}); text(r.output)"#
        ));
        assert!(none(
            r#"text(await tools.apply_patch("*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"))"#
        ));
        assert!(!none(r#"await tools.exec_command({cmd:"git pull"})"#));
        assert!(!none("await tools.exec_command({cmd:`rm ${x}`})"));
        assert!(!none("await tools.mcp__x__write({})"));
        assert_eq!(
            script_call(
                "tools.apply_patch('*** Begin Patch\\n*** Delete File: a\\n*** End Patch')",
                None
            )
            .0
            .patches
            .len(),
            1
        );
    }
}
