//! What a shell call may do to files: its text is split into simple commands, and the call is a reader (changes
//! nothing) or a changer with the words that may name paths.
//!
//! Left out on purpose: variables, arithmetic, arrays, functions: a command that is not plainly a reader is a changer.
//! The text is only looked at, never run.

use std::collections::BTreeSet;

use chipdeck_event::Reach;

use super::paths;

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
const MAX_NESTING: usize = 8;

/// One simple command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    /// As the shell would see them: without quotes, leading `NAME=value` removed.
    pub words: Vec<String>,
    /// Files that its output goes to.
    pub targets: Vec<String>,
    /// Bodies of its here-documents.
    pub bodies: Vec<String>,
}

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

/// Splits a script into simple commands, outside quotes at `&& || ; | &` and line ends; the scripts inside `$(…)`,
/// backticks and `<(…)` are commands too.
pub(crate) fn split(script: &str) -> Vec<Simple> {
    let mut out = Vec::new();
    split_into(script, 0, &mut out);
    out
}

fn split_into(script: &str, nesting: usize, out: &mut Vec<Simple>) {
    let mut reader = Reader {
        chars: script.chars().collect(),
        at: 0,
    };
    let mut now = Simple::default();
    let mut word: Option<String> = None;
    // The next word is the target of an output redirection, or of something that is read.
    let mut into: Option<Next> = None;
    let mut waiting: Vec<(String, bool)> = Vec::new();
    let mut inner: Vec<String> = Vec::new();
    macro_rules! end_word {
        () => {
            if let Some(text) = word.take() {
                match into.take() {
                    Some(Next::Target) => {
                        if !matches!(
                            text.as_str(),
                            "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty"
                        ) {
                            now.targets.push(text);
                        }
                    }
                    Some(Next::Source) => {}
                    Some(Next::Body { tabs }) => waiting.push((text, tabs)),
                    None if now.words.is_empty() && is_assignment(&text) => {}
                    None => now.words.push(text),
                }
            }
        };
    }
    macro_rules! end_command {
        () => {
            end_word!();
            let _ = into.take();
            if now != Simple::default() {
                out.push(std::mem::take(&mut now));
            }
        };
    }
    while let Some(c) = reader.next() {
        match c {
            '\\' => match reader.next() {
                Some('\n') => {}
                Some('\r') if reader.peek() == Some('\n') => {
                    reader.next();
                }
                Some(next) => word.get_or_insert_default().push(next),
                None => {}
            },
            '\'' => word.get_or_insert_default().push_str(&reader.until('\'')),
            '"' => {
                let text = reader.double_quoted(&mut inner);
                word.get_or_insert_default().push_str(&text);
            }
            '`' => inner.push(reader.until('`')),
            '$' if reader.peek() == Some('(') => {
                reader.next();
                inner.push(reader.balanced());
                word.get_or_insert_default().push('$');
            }
            '#' if word.is_none() => {
                reader.skip_line();
            }
            '>' => {
                if word
                    .as_deref()
                    .is_some_and(|w| w.chars().all(|d| d.is_ascii_digit()))
                {
                    word = None;
                }
                end_word!();
                if matches!(reader.peek(), Some('>' | '|')) {
                    reader.next();
                }
                if reader.peek() == Some('(') {
                    reader.next();
                    inner.push(reader.balanced());
                } else if reader.peek() == Some('&') {
                    reader.next();
                    let to: String = reader.take_while(|c| c.is_ascii_digit() || c == '-');
                    if to.is_empty() {
                        into = Some(Next::Target);
                    }
                } else {
                    into = Some(Next::Target);
                }
            }
            '<' => {
                if word
                    .as_deref()
                    .is_some_and(|w| w.chars().all(|d| d.is_ascii_digit()))
                {
                    word = None;
                }
                end_word!();
                if reader.peek() == Some('(') {
                    reader.next();
                    inner.push(reader.balanced());
                } else if reader.peek() == Some('<') {
                    reader.next();
                    if reader.peek() == Some('<') {
                        reader.next();
                        into = Some(Next::Source);
                    } else {
                        let tabs = reader.peek() == Some('-');
                        if tabs {
                            reader.next();
                        }
                        into = Some(Next::Body { tabs });
                    }
                } else {
                    into = Some(Next::Source);
                }
            }
            '&' if reader.peek() == Some('>') => {
                end_word!();
            }
            '\n' => {
                end_word!();
                for (end, tabs) in waiting.drain(..) {
                    now.bodies.push(reader.heredoc(&end, tabs));
                }
                end_command!();
            }
            ';' | '|' | '&' if waiting.is_empty() => {
                end_command!();
            }
            // The body of a here-document belongs to the command that it follows, the rest of the line comes first.
            ';' | '|' | '&' => {
                end_word!();
                let mut look = Reader {
                    chars: reader.chars.clone(),
                    at: reader.at,
                };
                look.skip_line();
                look.next();
                let begin = look.at;
                for (end, tabs) in waiting.drain(..) {
                    now.bodies.push(look.heredoc(&end, tabs));
                }
                reader.cut(begin, look.at);
                end_command!();
            }
            c if c.is_whitespace() => {
                end_word!();
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    end_word!();
    end_command!();
    if nesting < MAX_NESTING {
        for text in inner {
            split_into(&text, nesting + 1, out);
        }
    }
}

/// What the next word is.
enum Next {
    Target,
    Source,
    Body { tabs: bool },
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn take_while(&mut self, test: impl Fn(char) -> bool) -> String {
        let mut out = String::new();
        while let Some(c) = self.peek().filter(|c| test(*c)) {
            out.push(c);
            self.at += 1;
        }
        out
    }

    /// Text up to the closing quote, which is skipped.
    fn until(&mut self, quote: char) -> String {
        let text = self.take_while(|c| c != quote);
        self.next();
        text
    }

    fn skip_line(&mut self) {
        self.take_while(|c| c != '\n');
    }

    fn double_quoted(&mut self, inner: &mut Vec<String>) -> String {
        let mut out = String::new();
        while let Some(c) = self.next() {
            match c {
                '"' => break,
                '\\' => match self.next() {
                    Some('\n') => {}
                    Some(next @ ('"' | '\\' | '$' | '`')) => out.push(next),
                    Some(next) => {
                        out.push('\\');
                        out.push(next);
                    }
                    None => {}
                },
                '`' => inner.push(self.until('`')),
                '$' if self.peek() == Some('(') => {
                    self.next();
                    inner.push(self.balanced());
                    out.push('$');
                }
                other => out.push(other),
            }
        }
        out
    }

    /// Text up to the closing parenthesis that belongs to one already read.
    fn balanced(&mut self) -> String {
        let mut out = String::new();
        let mut open = 1;
        while let Some(c) = self.next() {
            match c {
                '(' => open += 1,
                ')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                '\'' => {
                    out.push('\'');
                    out.push_str(&self.until('\''));
                    out.push('\'');
                    continue;
                }
                _ => {}
            }
            out.push(c);
        }
        out
    }

    /// Lines up to the one that is `end`; without it all that is left (the shell warns and goes on).
    fn heredoc(&mut self, end: &str, tabs: bool) -> String {
        let mut body = String::new();
        while self.at < self.chars.len() {
            let line = self.take_while(|c| c != '\n');
            let newline = self.next().is_some();
            let shown = if tabs {
                line.trim_start_matches('\t')
            } else {
                &line
            };
            if shown.trim_end_matches('\r') == end {
                break;
            }
            body.push_str(shown);
            if newline {
                body.push('\n');
            }
        }
        body
    }

    fn cut(&mut self, from: usize, to: usize) {
        let to = to.min(self.chars.len());
        if from < to {
            self.chars.drain(from..to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(script: &str) -> Vec<Vec<String>> {
        split(script).into_iter().map(|c| c.words).collect()
    }

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
    fn splits_outside_quotes() {
        assert_eq!(
            words("a 'b; c' \"d && e\" && f|g;h & i\nj"),
            [
                vec!["a", "b; c", "d && e"],
                vec!["f"],
                vec!["g"],
                vec!["h"],
                vec!["i"],
                vec!["j"]
            ]
        );
        assert_eq!(
            words("A=1 B='x y' ls a\\ b \\\n c"),
            [vec!["ls", "a b", "c"]]
        );
        assert_eq!(
            words("ls 2>&1 # note; rm x\nrm y"),
            [vec!["ls"], vec!["rm", "y"]]
        );
        assert!(words("").is_empty() && words(" ; && \n").is_empty());
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
    fn bodies_belong_to_their_command() {
        let commands = split("cat <<A | grep x > y; ls\none\ntwo\nA\nrm z");
        assert_eq!(commands[0].bodies, ["one\ntwo\n"]);
        assert_eq!(commands[1].targets, ["y"]);
        assert_eq!(commands[3].words, ["rm", "z"]);
        assert_eq!(
            split("apply_patch <<-'E O'\n\tx\n\tE O\n")[0].bodies,
            ["x\n"]
        );
        assert_eq!(split("cat <<EOF\nnever ended")[0].bodies, ["never ended"]);
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
