//! The rules, made ready when first asked for, and a scan by them.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use regex::bytes::{Captures, Regex, RegexBuilder};
use serde::Deserialize;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Bytes of the text, between letters.
    pub range: Range<usize>,
    /// The rule's id, as Gitleaks names it.
    pub rule: &'static str,
}

const CATALOGUE: &str = include_str!("../rules/gitleaks.json");

/// A password in an address; the same idea as Gitleaks' own, which has no rule for it.
const URL_PASSWORD: &str = r#"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@"'`<>\\]{0,100}:([^\s/:@"'`<>\\$({]{3,200})@[A-Za-z0-9\[]"#;

#[derive(Deserialize)]
struct Catalogue {
    allow: Group,
    rules: Vec<Written>,
}

#[derive(Deserialize)]
struct Written {
    id: String,
    pattern: String,
    keywords: Vec<String>,
    group: Option<usize>,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    allow: Vec<Group>,
}

/// One of these lets a value pass: any of its expressions or words, or (`all`) one of each.
#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
    #[serde(default)]
    target: Target,
    #[serde(default)]
    all: bool,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Target {
    #[default]
    Secret,
    Match,
    Line,
}

pub(crate) struct Rule {
    pub id: String,
    pattern: String,
    group: Option<usize>,
    entropy: f64,
    allow: Vec<Allowed>,
    ready: OnceLock<Option<Regex>>,
}

struct Allowed {
    regexes: Vec<(String, OnceLock<Option<Regex>>)>,
    stopwords: Option<AhoCorasick>,
    target: Target,
    all: bool,
}

pub(crate) struct Rules {
    pub rules: Vec<Rule>,
    allow: Allowed,
    keywords: Option<AhoCorasick>,
    /// By keyword: the rules that ask for it.
    wanted: Vec<Vec<usize>>,
    /// Rules without a keyword.
    always: Vec<usize>,
}

pub(crate) static RULES: LazyLock<Rules> = LazyLock::new(Rules::load);

fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(64 << 20)
        .build()
        .ok()
}

fn words<'w>(words: impl IntoIterator<Item = &'w String>) -> Option<AhoCorasick> {
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .build(words)
        .ok()
}

impl Rules {
    fn load() -> Rules {
        // A catalogue that does not parse is a fault of the build; a test says so, and nothing is found.
        let (allow, mut written) = match serde_json::from_str::<Catalogue>(CATALOGUE) {
            Ok(Catalogue { allow, rules }) => (allow, rules),
            Err(_) => (Group::none(), Vec::new()),
        };
        written.push(Written {
            id: "url-password".to_owned(),
            pattern: URL_PASSWORD.to_owned(),
            keywords: vec!["://".to_owned()],
            group: None,
            entropy: 0.0,
            allow: Vec::new(),
        });
        let mut keywords: Vec<String> = Vec::new();
        let mut wanted: Vec<Vec<usize>> = Vec::new();
        let mut always = Vec::new();
        for (at, rule) in written.iter().enumerate() {
            if rule.keywords.is_empty() {
                always.push(at);
            }
            for keyword in &rule.keywords {
                match keywords.iter().position(|known| known == keyword) {
                    Some(known) => wanted.get_mut(known).into_iter().for_each(|it| it.push(at)),
                    None => {
                        keywords.push(keyword.clone());
                        wanted.push(vec![at]);
                    }
                }
            }
        }
        Rules {
            rules: written.into_iter().map(Rule::of).collect(),
            allow: Allowed::of(allow),
            keywords: words(&keywords),
            wanted,
            always,
        }
    }
}

impl Group {
    fn none() -> Group {
        Group {
            regexes: Vec::new(),
            stopwords: Vec::new(),
            target: Target::Secret,
            all: false,
        }
    }
}

impl Rule {
    fn of(written: Written) -> Rule {
        Rule {
            id: written.id,
            pattern: written.pattern,
            group: written.group,
            entropy: written.entropy,
            allow: written.allow.into_iter().map(Allowed::of).collect(),
            ready: OnceLock::new(),
        }
    }

    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.ready.get_or_init(|| compile(&self.pattern)).as_ref()
    }

    /// The part of a match that is the secret: the group that the rule names, else the first that holds something,
    /// else all of it.
    fn secret(&self, found: &Captures<'_>) -> Option<Range<usize>> {
        let whole = || found.get(0).map(|all| all.range());
        match self.group {
            Some(group) => found.get(group).map(|it| it.range()),
            None => found
                .iter()
                .skip(1)
                .flatten()
                .find(|it| !it.is_empty())
                .map(|it| it.range())
                .or_else(whole),
        }
    }
}

impl Allowed {
    fn of(group: Group) -> Allowed {
        Allowed {
            stopwords: (!group.stopwords.is_empty())
                .then(|| words(&group.stopwords))
                .flatten(),
            regexes: group
                .regexes
                .into_iter()
                .map(|it| (it, OnceLock::new()))
                .collect(),
            target: group.target,
            all: group.all,
        }
    }

    fn lets_pass(&self, secret: &[u8], whole: &[u8], line: &[u8]) -> bool {
        let target = match self.target {
            Target::Secret => secret,
            Target::Match => whole,
            Target::Line => line,
        };
        let matches = |(pattern, ready): &(String, OnceLock<Option<Regex>>)| {
            let regex = ready.get_or_init(|| compile(pattern));
            regex.as_ref().is_some_and(|it| it.is_match(target))
        };
        let by_regex = self.regexes.iter().any(matches);
        let by_word = self
            .stopwords
            .as_ref()
            .is_some_and(|it| it.is_match(secret));
        match self.all {
            true => {
                (by_regex || self.regexes.is_empty())
                    && (by_word || self.stopwords.is_none())
                    && (by_regex || by_word)
            }
            false => by_regex || by_word,
        }
    }

    #[cfg(test)]
    pub(crate) fn compiles(&self) -> bool {
        self.regexes.iter().all(|(it, _)| compile(it).is_some())
    }
}

impl Rule {
    #[cfg(test)]
    pub(crate) fn compiles(&self) -> bool {
        self.regex().is_some() && self.allow.iter().all(Allowed::compiles)
    }
}

/// Shannon entropy of bytes, bits each.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let all = bytes.len() as f64;
    let part = |count: &u32| {
        let share = f64::from(*count) / all;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(part).sum()
}

/// The secrets of a text in order, without overlaps. Where two rules find the same, the one that names a provider
/// is told, not the general one.
pub fn scan(text: &str) -> Vec<Hit> {
    let rules = &*RULES;
    let bytes = text.as_bytes();
    let mut ask: Vec<bool> = vec![false; rules.rules.len()];
    let mut mark = |at: usize| ask.get_mut(at).into_iter().for_each(|it| *it = true);
    rules.always.iter().for_each(|at| mark(*at));
    if let Some(keywords) = &rules.keywords {
        let mut seen = vec![false; rules.wanted.len()];
        for found in keywords.find_overlapping_iter(bytes) {
            let at = found.pattern().as_usize();
            if seen.get(at) == Some(&false) {
                seen.get_mut(at).into_iter().for_each(|it| *it = true);
                rules
                    .wanted
                    .get(at)
                    .into_iter()
                    .flatten()
                    .for_each(|at| mark(*at));
            }
        }
    }
    let mut hits = Vec::new();
    for (rule, _) in rules.rules.iter().zip(&ask).filter(|(_, ask)| **ask) {
        find(rule, &rules.allow, text, &mut hits);
    }
    settle(hits)
}

fn find(rule: &'static Rule, allow: &Allowed, text: &str, hits: &mut Vec<Hit>) {
    let bytes = text.as_bytes();
    let Some(regex) = rule.regex() else { return };
    let mut at = 0;
    while let Some(found) = regex.captures_at(bytes, at) {
        let Some(whole) = found.get(0) else { break };
        // What ends one secret may begin the next.
        let secret = rule.secret(&found).unwrap_or(whole.range());
        at = secret.end.max(whole.start() + 1);
        let value = bytes.get(secret.clone()).unwrap_or_default();
        if value.is_empty() || rule.entropy > 0.0 && entropy(value) <= rule.entropy {
            continue;
        }
        let line = line_of(bytes, whole.range());
        let passes = |it: &Allowed| it.lets_pass(value, whole.as_bytes(), line);
        if passes(allow) || rule.allow.iter().any(passes) {
            continue;
        }
        hits.push(Hit {
            range: between_letters(text, secret),
            rule: &rule.id,
        });
        if at > bytes.len() {
            break;
        }
    }
}

fn line_of(bytes: &[u8], range: Range<usize>) -> &[u8] {
    let before = bytes.get(..range.start).unwrap_or_default();
    let after = bytes.get(range.end..).unwrap_or_default();
    let from = before
        .iter()
        .rposition(|b| *b == b'\n')
        .map_or(0, |at| at + 1);
    let to = after.iter().position(|b| *b == b'\n');
    bytes
        .get(from..to.map_or(bytes.len(), |at| range.end + at))
        .unwrap_or_default()
}

fn between_letters(text: &str, mut range: Range<usize>) -> Range<usize> {
    while !text.is_char_boundary(range.start) {
        range.start -= 1;
    }
    while range.end < text.len() && !text.is_char_boundary(range.end) {
        range.end += 1;
    }
    range
}

fn general(rule: &str) -> bool {
    rule.starts_with("generic") || rule == "url-password" || rule == "curl-auth-header"
}

fn settle(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| {
        (
            hit.range.start,
            general(hit.rule),
            usize::MAX - hit.range.end,
        )
    });
    let mut out: Vec<Hit> = Vec::new();
    for hit in hits {
        match out.last_mut() {
            Some(last) if hit.range.start < last.range.end => {
                if general(last.rule) && !general(hit.rule) {
                    last.rule = hit.rule;
                }
                last.range.end = last.range.end.max(hit.range.end);
            }
            _ => out.push(hit),
        }
    }
    out
}
