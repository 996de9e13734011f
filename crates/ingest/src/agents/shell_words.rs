//! A shell text as simple commands: words without quotes, targets of redirections, bodies of here-documents.
//!
//! Left out on purpose: expansion of any kind. The text is only looked at, never run.

/// Scripts inside scripts are followed this deep.
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
}
