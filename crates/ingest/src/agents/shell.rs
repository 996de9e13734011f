//! What a shell call may do to files: its text is split into simple commands, and the call is a reader (changes
//! nothing) or a changer with the words that may name paths.
//!
//! Left out on purpose: variables, arithmetic, arrays, functions: a command that is not plainly a reader is a changer.
//! The text is only looked at, never run.

use std::collections::BTreeSet;

use chipdeck_event::Reach;

use super::paths;
pub(crate) use super::shell_words::{split, Simple};

/// Commands that only read, whatever their arguments.
const READERS: &[&str] = &[
    "ls", "cat", "head", "tail", "wc", "nl", "sort", "uniq", "cut", "diff", "grep", "rg", "pwd",
    "echo", "true", "which", "pytest",
];
const GIT_READERS: &[&str] = &["status", "diff", "log", "show", "blame", "ls-files"];
/// `git` commands that may change any file of the working folder without naming it.
const GIT_CHANGERS: &[&str] = &[
    "am",
    "apply",
    "bisect",
    "checkout",
    "cherry-pick",
    "clean",
    "merge",
    "mv",
    "pull",
    "rebase",
    "reset",
    "restore",
    "revert",
    "rm",
    "sparse-checkout",
    "stash",
    "submodule",
    "switch",
];
/// Formatters and fixers that change the files of the working folder when no path is given.
const FORMATTERS: &[(&str, &[&str])] = &[
    ("cargo", &["fmt", "fix", "clippy"]),
    ("go", &["fmt", "fix", "generate"]),
    ("ruff", &["format", "check"]),
    ("black", &[]),
    ("prettier", &[]),
    ("eslint", &[]),
    ("biome", &[]),
    ("rustfmt", &[]),
    ("gofmt", &[]),
    ("goimports", &[]),
    ("dprint", &[]),
    ("pre-commit", &[]),
    ("isort", &[]),
];
/// More words than this are not listed: then the working folder as a whole is what the call may reach.
const MAX_WORDS: usize = 4096;

/// What a call of the shell with this text may do. `patches_shown`: an `apply_patch` in it has events of its own.
pub(crate) fn reach(script: &str, cwd: Option<&str>, patches_shown: bool) -> Reach {
    let commands = split(script);
    let harmless = |c: &Simple| reads_only(c) || (patches_shown && is_patch(c));
    if commands.iter().all(harmless) {
        return Reach::None;
    }
    Reach::Changer {
        words: named(&commands, cwd, patches_shown),
    }
}

/// Is this the patch tool called by its name?
pub(crate) fn is_patch(command: &Simple) -> bool {
    matches!(
        command.words.first().map(String::as_str),
        Some("apply_patch" | "applypatch")
    )
}

fn reads_only(command: &Simple) -> bool {
    if !command.targets.is_empty() {
        return false;
    }
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    let args = words.get(1..).unwrap_or_default();
    match words.first().copied() {
        None => true,
        Some("command") => args.first() == Some(&"-v"),
        Some("find") => {
            let acts = ["-exec", "-ok", "-delete", "-fprint", "-fls"];
            !args
                .iter()
                .any(|a| acts.iter().any(|act| a.starts_with(act)))
        }
        Some("sed") => {
            let short = |a: &&str, flag: char| {
                a.starts_with('-') && !a.starts_with("--") && a.contains(flag)
            };
            args.iter()
                .any(|a| short(a, 'n') || *a == "--quiet" || *a == "--silent")
                && !args
                    .iter()
                    .any(|a| short(a, 'i') || a.starts_with("--in-place"))
        }
        Some("git") => {
            args.first().is_some_and(|a| GIT_READERS.contains(a))
                && !args.iter().any(|a| a.starts_with("--output"))
        }
        Some("sort") => !args
            .iter()
            .any(|a| a.starts_with("-o") || a.starts_with("--output")),
        Some(name) => READERS.contains(&name),
    }
}

/// The words of all commands that may name a path, absolute where a folder is known, each once.
fn named(commands: &[Simple], cwd: Option<&str>, patches_shown: bool) -> Vec<Box<str>> {
    let mut found = BTreeSet::new();
    let mut folder = cwd.map(str::to_string);
    for command in commands {
        if patches_shown && is_patch(command) {
            continue;
        }
        let here = folder.clone();
        let mut add = |word: &str| {
            for candidate in candidates(word) {
                found.insert(paths::join(here.as_deref(), &candidate));
            }
        };
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let name = words.first().copied().unwrap_or_default();
        if name.contains(['/', '\\']) {
            add(name);
        }
        for word in words.get(1..).unwrap_or_default() {
            add(word);
        }
        command.targets.iter().for_each(|t| add(t));
        command.bodies.iter().for_each(|b| add(b));
        if reaches_folder(&words) {
            add(".");
        }
        if matches!(name, "cd" | "pushd") {
            if let Some(to) = words.get(1).filter(|w| !w.starts_with(['-', '$', '~'])) {
                folder = Some(paths::join(folder.as_deref(), to));
            }
        }
        if found.len() > MAX_WORDS {
            let whole = paths::join(cwd, ".");
            return vec![whole.into()];
        }
    }
    found.into_iter().map(Into::into).collect()
}

fn reaches_folder(words: &[&str]) -> bool {
    let name = words
        .first()
        .map(|w| w.rsplit(['/', '\\']).next().unwrap_or(w))
        .unwrap_or_default();
    let sub = words
        .iter()
        .skip(1)
        .find(|w| !w.starts_with('-'))
        .copied()
        .unwrap_or_default();
    if name == "git" {
        return words.iter().any(|w| GIT_CHANGERS.contains(w));
    }
    if matches!(
        name,
        "npx" | "pnpm" | "yarn" | "bunx" | "uvx" | "poetry" | "uv"
    ) {
        return words
            .iter()
            .skip(1)
            .any(|w| FORMATTERS.iter().any(|(f, _)| f == w));
    }
    FORMATTERS
        .iter()
        .any(|(tool, subs)| *tool == name && (subs.is_empty() || subs.contains(&sub)))
}

/// Texts in a word that may be paths or globs.
fn candidates(word: &str) -> Vec<String> {
    let word = match word.strip_prefix('-') {
        Some(option) => match option.split_once('=') {
            Some((_, value)) => value,
            None => return Vec::new(),
        },
        None => word,
    };
    let code = word.contains(|c: char| c.is_whitespace() || "(){}\"'`;,<>|&=[]".contains(c));
    let mut out = Vec::new();
    if !word.contains('\n') && word.len() <= 256 {
        push_path(word, &mut out);
    }
    if !code {
        return out;
    }
    if !word.contains(char::is_whitespace) {
        for expanded in braces(word) {
            push_path(&expanded, &mut out);
        }
    }
    for part in word.split(|c: char| c.is_whitespace() || "(){}\"'`;,<>|&=".contains(c)) {
        push_path(part, &mut out);
        if out.len() > MAX_WORDS {
            break;
        }
    }
    out
}

fn push_path(text: &str, out: &mut Vec<String>) {
    let text = text.trim_matches(|c: char| c == ':' || c == '"' || c == '\'');
    let text = text
        .strip_prefix("$PWD/")
        .or_else(|| text.strip_prefix("${PWD}/"))
        .unwrap_or(text);
    let telling =
        text.chars().any(|c| c.is_alphanumeric() || c == '*') || text == "." || text == "..";
    if telling && text.len() <= 4096 && !text.contains('$') {
        out.push(text.to_string());
    }
}

/// `a{b,c}d` as the shell expands it, at most 64 words.
fn braces(word: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut todo = vec![word.to_string()];
    while let Some(next) = todo.pop() {
        let expanded = next.split_once('{').and_then(|(head, rest)| {
            let (inner, tail) = rest.split_once('}')?;
            inner.contains(',').then(|| {
                inner
                    .split(',')
                    .map(|item| format!("{head}{item}{tail}"))
                    .collect::<Vec<_>>()
            })
        });
        match expanded {
            Some(words) if todo.len() + done.len() + words.len() <= 64 => todo.extend(words),
            _ => done.push(next),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(script: &str) -> bool {
        reach(script, Some("/w"), false) == Reach::None
    }

    fn changed(script: &str) -> Vec<String> {
        match reach(script, Some("/w"), false) {
            Reach::Changer { words } => words.iter().map(|w| w.to_string()).collect(),
            Reach::None => panic!("a reader: {script}"),
        }
    }

    #[test]
    fn readers_only_read() {
        for script in [
            "ls -la",
            "cat a | head -5 | sort | uniq -c",
            "FOO=1 pytest -q tests",
            "rg -n 'a > b' src && pwd",
            "sed -n '1,20p' f",
            "sed -n 1p f && nl -ba f",
            "git status -s; git log -1",
            "find . -name '*.rs'",
            "command -v node",
            "cat <a.txt",
            "ls 2>/dev/null",
            "ls >/dev/null 2>&1",
            "grep x <<< 'a > b'",
            "",
            "cat <<'EOF'\nrm -rf /\nEOF",
            "# only a note",
            "git diff HEAD~1 -- a b",
        ] {
            assert!(reader(script), "{script}");
        }
        for script in [
            "rm a",
            "ls > out",
            "ls >> out",
            "cat a | tee b",
            "sed -i s/a/b/ f",
            "sed -ni p f",
            "sed s/a/b/ f",
            "find . -delete",
            "find . -exec rm {} +",
            "git checkout .",
            "git",
            "command ls",
            "cd x && ls",
            "echo $(rm x)",
            "echo `rm x`",
            "cat <(rm x)",
            "ls &> out",
            "python - <<'EOF'\nprint(1)\nEOF",
            "ls; make",
            "sort -o a a",
            "echo \"$(touch y)\"",
            "ls 2> err.log",
            "(ls)",
            "ls >| x",
            "git diff --output=x",
        ] {
            assert!(!reader(script), "{script}");
        }
    }

    #[test]
    fn names_what_it_may_reach() {
        assert_eq!(
            changed("rm -rf 'my file' src/*.rs /abs/x"),
            ["/abs/x", "/w/my", "/w/file", "/w/my file", "/w/src/*.rs"]
                .iter()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .map(|s| s.to_string())
                .collect::<Vec<_>>()
        );
        assert_eq!(changed("cd sub && touch ../a"), ["/w/a", "/w/sub"]);
        assert_eq!(changed("ls > out.txt"), ["/w/out.txt"]);
        assert_eq!(changed("git stash"), ["/w", "/w/stash"]);
        assert_eq!(changed("cargo fmt"), ["/w", "/w/fmt"]);
        assert!(changed("gofmt -w .").contains(&"/w".to_string()));
        assert_eq!(changed("make --file=build/Makefile"), ["/w/build/Makefile"]);
        assert!(
            changed("python - <<'EOF'\nopen('src/x.py','w').write(1)\nEOF")
                .contains(&"/w/src/x.py".to_string())
        );
        assert!(changed("touch {a,b}.txt").contains(&"/w/b.txt".to_string()));
        assert!(changed("./run.sh").contains(&"/w/run.sh".to_string()));
    }

    #[test]
    fn patches_that_are_shown_elsewhere_are_no_changers() {
        let script = "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF";
        assert_eq!(reach(script, None, true), Reach::None);
        assert!(matches!(reach(script, None, false), Reach::Changer { .. }));
    }

    #[test]
    fn hostile_texts_end() {
        for script in [
            "$(".repeat(50_000),
            "`".repeat(9999),
            "{a,b}".repeat(40),
            "<<".repeat(5000),
            "a=".repeat(9000),
        ] {
            reach(&script, None, false);
        }
    }
}
