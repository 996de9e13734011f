//! From the text of a filter to its terms.

use super::patterns::{PathGlob, Wild};
use super::text::Text;
use super::{Fault, Test};
use regex::bytes::RegexBuilder;

pub(super) struct Token {
    /// Character of the filter, from 1.
    at: usize,
    pub(super) negated: bool,
    /// `type` of `type:x`; a quoted text has none.
    key: Option<&'static str>,
    value: String,
    /// `Some(ignore case)` for `/regex/` and `/regex/i`.
    regex: Option<bool>,
}

const KEYS: [&str; 9] = [
    "type", "path", "tool", "status", "session", "trace", "corr", "after", "before",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
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

pub(super) fn test(
    token: &Token,
    position: &dyn Fn(&str) -> Result<u64, String>,
) -> Result<Test, Fault> {
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
