//! The filter language of the command line, the window's search and its breakpoints: terms joined by blanks, all of
//! which must hold, `-` before one negates it. `type:` `path:` (glob) `tool:` `status:` `session:` `trace:` `corr:`
//! `after:N` `before:N` `is:error|finding|edit`, `/regex/`, else a text (quotes for blanks) in the event's JSON.
//!
//! A text without capitals matches either case. `after:N` are the entries behind the position N, `before:N` those up
//! to it, so that each entry is on one side. Left out: `or`, brackets and order of results.

use globset::{GlobBuilder, GlobMatcher};
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

/// What a filter asks about an entry. Cheap answers first: `raw` is only asked when all else holds.
pub trait Subject {
    fn index(&self) -> u64;
    /// The type; `opaque` for a line that is no event.
    fn kind(&self) -> &str;
    /// Whether any path that the entry names satisfies the test.
    fn any_path(&self, test: &mut dyn FnMut(&str) -> bool) -> bool;
    /// The tool of a call, or of the call that a result belongs to.
    fn tool(&self) -> Option<&str>;
    fn status(&self) -> Option<&str>;
    /// `dialog` or `exec`.
    fn session(&self) -> Option<&str>;
    fn trace(&self) -> Option<&str>;
    fn correlation(&self) -> Option<&str>;
    fn is_error(&self) -> bool;
    fn has_finding(&self) -> bool;
    fn is_edit(&self) -> bool;
    /// The record's bytes in the log; `None` when they cannot be read (no text is then in it).
    fn raw(&self) -> Option<Vec<u8>>;
}

/// A filter that can be asked about entries. Matching never fails.
#[derive(Debug)]
pub struct Filter {
    /// In the order of cost.
    terms: Vec<Term>,
}

/// Why a filter was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at character {at} of the filter)")]
pub struct Fault {
    pub message: String,
    /// Character of the filter, from 1.
    pub at: usize,
    /// The filter is one, but the log has no such position or event.
    pub names_no_position: bool,
}

#[derive(Debug)]
struct Term {
    negated: bool,
    test: Test,
}

#[derive(Debug)]
enum Test {
    After(u64),
    Before(u64),
    Error,
    Finding,
    Edit,
    Type(Wild),
    Tool(Wild),
    Status(Wild),
    Session(Wild),
    Trace(String),
    Correlation(String),
    Path(PathGlob),
    Text(Text),
    Regex(Box<Regex>),
}

impl Filter {
    /// Reads a filter. `position` reads an N of the command line (`end`, digits, `@ms`, a time, an event id).
    ///
    /// # Errors
    /// A value that is missing or not allowed, a glob or regular expression that is none, an open quote.
    pub fn parse(
        text: &str,
        position: &dyn Fn(&str) -> Result<u64, String>,
    ) -> Result<Filter, Fault> {
        let mut terms = Vec::new();
        for token in tokens(text)? {
            terms.push(Term {
                negated: token.negated,
                test: test(&token, position)?,
            });
        }
        terms.sort_by_key(|term| term.test.cost());
        Ok(Filter { terms })
    }

    /// It has no term: everything matches.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// It reads the record of each entry that the other terms let through.
    pub fn reads_records(&self) -> bool {
        self.terms
            .iter()
            .any(|term| matches!(term.test, Test::Text(_) | Test::Regex(_)))
    }

    pub fn matches(&self, subject: &dyn Subject) -> bool {
        let mut raw: Option<Raw> = None;
        self.terms
            .iter()
            .all(|term| term.test.holds(subject, &mut raw) != term.negated)
    }
}

impl Test {
    fn cost(&self) -> u8 {
        match self {
            Test::After(_) | Test::Before(_) => 0,
            Test::Error | Test::Finding | Test::Edit => 1,
            Test::Type(_) | Test::Session(_) | Test::Tool(_) | Test::Status(_) => 2,
            Test::Trace(_) | Test::Correlation(_) => 3,
            Test::Path(_) => 4,
            Test::Text(_) => 5,
            Test::Regex(_) => 6,
        }
    }

    fn holds(&self, subject: &dyn Subject, raw: &mut Option<Raw>) -> bool {
        match self {
            Test::After(position) => subject.index() > *position,
            Test::Before(position) => subject.index() <= *position,
            Test::Error => subject.is_error(),
            Test::Finding => subject.has_finding(),
            Test::Edit => subject.is_edit(),
            Test::Type(wild) => wild.matches(subject.kind()),
            Test::Tool(wild) => subject.tool().is_some_and(|it| wild.matches(it)),
            Test::Status(wild) => subject.status().is_some_and(|it| wild.matches(it)),
            Test::Session(wild) => subject.session().is_some_and(|it| wild.matches(it)),
            Test::Trace(id) => subject.trace() == Some(id),
            Test::Correlation(id) => subject.correlation() == Some(id),
            Test::Path(glob) => subject.any_path(&mut |path| glob.matches(path)),
            Test::Text(text) => Raw::of(raw, subject).any(text.escapes, |bytes| text.is_in(bytes)),
            Test::Regex(regex) => Raw::of(raw, subject).any(true, |bytes| regex.is_match(bytes)),
        }
    }
}

/// A record's bytes, and the same with the escapes of its strings resolved: what people see is found in either.
struct Raw {
    bytes: Vec<u8>,
    plain: std::cell::OnceCell<Option<Vec<u8>>>,
}

impl Raw {
    fn of<'a>(slot: &'a mut Option<Raw>, subject: &dyn Subject) -> &'a Raw {
        slot.get_or_insert_with(|| Raw {
            bytes: subject.raw().unwrap_or_default(),
            plain: std::cell::OnceCell::new(),
        })
    }

    fn any(&self, escapes: bool, test: impl Fn(&[u8]) -> bool) -> bool {
        if test(&self.bytes) {
            return true;
        }
        let resolved = || memchr::memchr(b'\\', &self.bytes).map(|_| unescaped(&self.bytes));
        escapes
            && self
                .plain
                .get_or_init(resolved)
                .as_deref()
                .is_some_and(test)
    }
}

/// JSON's escapes resolved wherever they stand; what is no escape stays.
pub(crate) fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (before, escape) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        out.extend_from_slice(before);
        let (decoded, used): (Option<char>, usize) = match escape.get(1) {
            Some(b'n') => (Some('\n'), 2),
            Some(b't') => (Some('\t'), 2),
            Some(b'r') => (Some('\r'), 2),
            Some(b'b') => (Some('\u{8}'), 2),
            Some(b'f') => (Some('\u{c}'), 2),
            Some(&c @ (b'"' | b'\\' | b'/')) => (Some(c as char), 2),
            Some(b'u') => match code_unit(escape) {
                Some(high @ 0xd800..=0xdbff) => match escape.get(6..).and_then(code_unit) {
                    Some(low @ 0xdc00..=0xdfff) => {
                        let c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                        (char::from_u32(c), 12)
                    }
                    _ => (Some('\u{fffd}'), 6),
                },
                Some(unit) => (Some(char::from_u32(unit).unwrap_or('\u{fffd}')), 6),
                None => (None, 1),
            },
            _ => (None, 1),
        };
        match decoded {
            Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            None => out.push(b'\\'),
        }
        rest = escape.get(used..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// The value of a `\uXXXX` at the start.
fn code_unit(bytes: &[u8]) -> Option<u32> {
    let hex = bytes.strip_prefix(b"\\u")?.get(..4)?;
    hex.iter().try_fold(0, |value, &digit| {
        Some(value * 16 + (digit as char).to_digit(16)?)
    })
}

/// A word in which `*` stands for anything; without capitals it matches either case.
#[derive(Debug)]
struct Wild(Vec<String>);

impl Wild {
    fn new(pattern: &str) -> Wild {
        Wild(
            pattern
                .to_lowercase()
                .split('*')
                .map(str::to_owned)
                .collect(),
        )
    }

    fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        let [first, middle @ .., last] = self.0.as_slice() else {
            return self.0.first().is_some_and(|only| *only == text);
        };
        let Some(mut rest) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        for part in middle {
            let Some((_, tail)) = rest.split_once(part.as_str()) else {
                return false;
            };
            rest = tail;
        }
        rest.ends_with(last.as_str())
    }
}

/// A glob on paths. One without a slash is tried on the last part of the path; a relative one also on each tail of
/// the path, so that `src/*.rs` finds the files of a log that writes absolute paths.
#[derive(Debug)]
struct PathGlob {
    glob: GlobMatcher,
    name_only: bool,
    absolute: bool,
}

impl PathGlob {
    fn new(pattern: &str) -> Result<PathGlob, String> {
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .backslash_escape(false)
            .build()
            .map_err(|error| format!("`{pattern}` is not a path pattern: {}", error.kind()))?;
        Ok(PathGlob {
            glob: glob.compile_matcher(),
            name_only: !pattern.contains('/'),
            absolute: pattern.starts_with('/'),
        })
    }

    fn matches(&self, path: &str) -> bool {
        if self.name_only {
            let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
            return self.glob.is_match(name) || self.glob.is_match(path);
        }
        if self.glob.is_match(path) {
            return true;
        }
        !self.absolute
            && path.match_indices('/').any(|(at, _)| {
                path.get(at + 1..)
                    .is_some_and(|tail| self.glob.is_match(tail))
            })
    }
}

/// A text to find; without capitals it is found in either case.
#[derive(Debug)]
struct Text {
    way: Way,
    /// JSON may write it with escapes.
    escapes: bool,
}

#[derive(Debug)]
enum Way {
    Exact(Box<Finder<'static>>),
    /// All its letters with cases are ASCII, in lower case here; the byte at `rare` is looked for.
    AnyAscii {
        low: Vec<u8>,
        rare: usize,
    },
    AnyCase(Regex),
}

/// Letters by how common they are in English text and code.
const COMMON: &[u8] = b"etaoinsrlcdupmhgfbyw_v.kx-/:0j1q2z";

impl Text {
    fn new(text: &str) -> Text {
        let escapes = text
            .chars()
            .any(|c| !c.is_ascii() || c.is_ascii_control() || matches!(c, '"' | '\\' | '/'));
        let cased = |c: char| c.is_uppercase() || c.to_uppercase().ne(std::iter::once(c));
        let exact = || Way::Exact(Box::new(Finder::new(text.as_bytes()).into_owned()));
        let way = if text.chars().any(char::is_uppercase) || !text.chars().any(cased) {
            exact()
        } else if text.chars().all(|c| c.is_ascii() || !cased(c)) {
            let low = text.as_bytes().to_vec();
            let common = |byte: &u8| {
                COMMON
                    .iter()
                    .position(|it| it == byte)
                    .unwrap_or(usize::MAX)
            };
            let rare = low
                .iter()
                .enumerate()
                .max_by_key(|(_, byte)| common(byte))
                .map_or(0, |(at, _)| at);
            Way::AnyAscii { low, rare }
        } else {
            match RegexBuilder::new(&regex::escape(text))
                .case_insensitive(true)
                .build()
            {
                Ok(regex) => Way::AnyCase(regex),
                Err(_) => exact(),
            }
        };
        Text { way, escapes }
    }

    fn is_in(&self, bytes: &[u8]) -> bool {
        match &self.way {
            Way::Exact(finder) => finder.find(bytes).is_some(),
            Way::AnyCase(regex) => regex.is_match(bytes),
            Way::AnyAscii { low, rare } => {
                let Some(byte) = low.get(*rare) else {
                    return true;
                };
                memchr::memchr2_iter(*byte, byte.to_ascii_uppercase(), bytes).any(|at| {
                    let here = at
                        .checked_sub(*rare)
                        .and_then(|start| bytes.get(start..start + low.len()));
                    here.is_some_and(|here| here.eq_ignore_ascii_case(low))
                })
            }
        }
    }
}

struct Token {
    /// Character of the filter, from 1.
    at: usize,
    negated: bool,
    /// `type` of `type:x`; a quoted text has none.
    key: Option<&'static str>,
    value: String,
    /// `Some(ignore case)` for `/regex/` and `/regex/i`.
    regex: Option<bool>,
}

const KEYS: [&str; 9] = [
    "type", "path", "tool", "status", "session", "trace", "corr", "after", "before",
];

fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        // A dash alone is a text.
        let negated = c == '-' && chars.get(at + 1).is_some_and(|next| !next.is_whitespace());
        at += usize::from(negated);
        let mut token = Token {
            at: start + 1,
            negated,
            key: None,
            value: String::new(),
            regex: None,
        };
        match regex_end(&chars, at) {
            Some((end, ignore_case)) => {
                token.value = chars.get(at + 1..end).unwrap_or_default().iter().collect();
                token.regex = Some(ignore_case);
                at = end + 1 + usize::from(ignore_case);
            }
            None => at = word(&chars, at, &mut token)?,
        }
        tokens.push(token);
    }
    Ok(tokens)
}

/// Where the closing slash of a regular expression stands that opens at `at`; a slash closes only before a blank or
/// the end (or an `i` before one), so that a path is a text.
fn regex_end(chars: &[char], at: usize) -> Option<(usize, bool)> {
    if chars.get(at) != Some(&'/') {
        return None;
    }
    let ends = |at: usize| chars.get(at).is_none_or(|c| c.is_whitespace());
    let mut escaped = false;
    for (place, &c) in chars.iter().enumerate().skip(at + 1) {
        if c == '/' && !escaped && place > at + 1 {
            if ends(place + 1) {
                return Some((place, false));
            }
            if chars.get(place + 1) == Some(&'i') && ends(place + 2) {
                return Some((place, true));
            }
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

/// Reads a word, quotes resolved, and says where it ends.
fn word(chars: &[char], mut at: usize, token: &mut Token) -> Result<usize, Fault> {
    let mut quote: Option<usize> = None;
    let mut quoted = false;
    while let Some(&c) = chars.get(at) {
        match (c, quote) {
            ('\\', Some(_)) if matches!(chars.get(at + 1), Some('"' | '\\')) => {
                at += 1;
                token.value.extend(chars.get(at));
            }
            ('"', Some(_)) => quote = None,
            // A quote inside a word that began without one is part of it: `say"x`.
            ('"', None) if token.value.is_empty() => {
                quote = Some(at);
                quoted = true;
            }
            (':', None) if token.key.is_none() && !quoted => {
                match KEYS.iter().chain(&["is"]).find(|key| **key == token.value) {
                    Some(key) => {
                        token.key = Some(key);
                        token.value.clear();
                    }
                    None => token.value.push(c),
                }
            }
            (c, None) if c.is_whitespace() => break,
            (c, _) => token.value.push(c),
        }
        at += 1;
    }
    match quote {
        Some(open) => Err(Fault {
            message: "a quote is not closed".to_owned(),
            at: open + 1,
            names_no_position: false,
        }),
        None => Ok(at),
    }
}

fn test(token: &Token, position: &dyn Fn(&str) -> Result<u64, String>) -> Result<Test, Fault> {
    let fault = |message: String| Fault {
        message,
        at: token.at,
        names_no_position: false,
    };
    let nowhere = |message: String| Fault {
        message,
        at: token.at,
        names_no_position: true,
    };
    let value = token.value.as_str();
    if let Some(ignore_case) = token.regex {
        let regex = RegexBuilder::new(value)
            .case_insensitive(ignore_case)
            .size_limit(4 << 20)
            .build()
            .map_err(|error| {
                fault(format!(
                    "`{value}` is not a regular expression: {}",
                    last_line(&error)
                ))
            })?;
        return Ok(Test::Regex(Box::new(regex)));
    }
    let Some(key) = token.key else {
        if value.is_empty() {
            return Err(fault("an empty text is in every event".to_owned()));
        }
        return Ok(Test::Text(Text::new(value)));
    };
    if value.is_empty() {
        return Err(fault(format!("`{key}:` lacks its value")));
    }
    Ok(match key {
        "type" => Test::Type(Wild::new(value)),
        "tool" => Test::Tool(Wild::new(value)),
        "status" => Test::Status(Wild::new(value)),
        "session" => Test::Session(Wild::new(value)),
        "trace" => Test::Trace(value.to_owned()),
        "corr" => Test::Correlation(value.to_owned()),
        "path" => Test::Path(PathGlob::new(value).map_err(fault)?),
        "after" => Test::After(position(value).map_err(nowhere)?),
        "before" => Test::Before(position(value).map_err(nowhere)?),
        _ => match value {
            "error" => Test::Error,
            "finding" => Test::Finding,
            "edit" => Test::Edit,
            _ => {
                return Err(fault(format!(
                    "`is:{value}` is none of is:error, is:finding, is:edit"
                )))
            }
        },
    })
}

/// A regular expression's fault without its drawing.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    line.trim().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Line(&'static str);

    impl Subject for Line {
        fn index(&self) -> u64 {
            7
        }
        fn kind(&self) -> &str {
            "tool.result"
        }
        fn any_path(&self, test: &mut dyn FnMut(&str) -> bool) -> bool {
            test("/home/me/app/src/auth.py")
        }
        fn tool(&self) -> Option<&str> {
            Some("be-write")
        }
        fn status(&self) -> Option<&str> {
            Some("error")
        }
        fn session(&self) -> Option<&str> {
            Some("exec")
        }
        fn trace(&self) -> Option<&str> {
            Some("t1")
        }
        fn correlation(&self) -> Option<&str> {
            None
        }
        fn is_error(&self) -> bool {
            true
        }
        fn has_finding(&self) -> bool {
            false
        }
        fn is_edit(&self) -> bool {
            false
        }
        fn raw(&self) -> Option<Vec<u8>> {
            Some(self.0.as_bytes().to_vec())
        }
    }

    fn filter(text: &str) -> Result<Filter, Fault> {
        Filter::parse(text, &|n| n.parse().map_err(|_| format!("no event `{n}`")))
    }

    #[track_caller]
    fn holds(text: &str) -> bool {
        filter(text).unwrap().matches(&Line(
            r#"{"a":"Say \"hi\" to C:\\x","b":"\u4f60\u597d \ud83d\ude00","c":1}"#,
        ))
    }

    #[test]
    fn each_term() {
        for yes in [
            "",
            "type:tool.result",
            "type:tool.*",
            "type:*result",
            "-type:message.*",
            "tool:be-*",
            "tool:BE-WRITE",
            "status:error",
            "session:exec",
            "trace:t1",
            "-corr:x",
            "after:6",
            "-after:7",
            "before:7",
            "-before:6",
            "is:error",
            "-is:finding",
            "-is:edit",
            "path:auth.py",
            "path:src/*.py",
            "path:/home/**",
            "path:*.py",
            "path:**/auth.*",
            "say",
            "Say",
            "\"say \\\"hi\"",
            "/S.y/",
            "/s.y/i",
            "/C:\\\\x/",
            "你好",
            "😀",
            "-SAY",
            "type:tool.* is:error say",
            "-",
            "/\\d+\\}/",
            "-/zzz/",
            "path:{auth,b}.py",
        ] {
            if yes == "-" {
                assert!(!holds(yes));
            } else {
                assert!(holds(yes), "{yes}");
            }
        }
        for no in [
            "type:tool",
            "after:7",
            "before:6",
            "path:src/*.rs",
            "path:/src/auth.py",
            "zzz",
            "/^say/",
            "-say",
            "corr:x",
            "path:*/auth.py/x",
            "/home/me",
            "is:edit",
            "type:tool.* zzz",
        ] {
            assert!(!holds(no), "{no}");
        }
    }

    #[test]
    fn faults_say_where() {
        for (text, at, word) in [
            ("a is:x", 3, "is:x"),
            ("type:", 1, "lacks"),
            ("x \"open", 3, "not closed"),
            ("/(/", 1, "regular expression"),
            ("a after:q", 3, "no event"),
            ("path:{a", 1, "path pattern"),
            ("\"\"", 1, "empty"),
        ] {
            let fault = filter(text).unwrap_err();
            assert_eq!(fault.at, at, "{text}");
            assert!(fault.to_string().contains(word), "{fault}");
        }
    }

    #[test]
    fn unknown_keys_and_paths_are_texts() {
        assert!(filter("https://x.y/z /usr/lib foo:bar").is_ok());
        assert!(!holds("https://x.y/z"));
    }
}
