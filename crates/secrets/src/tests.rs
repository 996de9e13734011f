use super::*;
use crate::rules::RULES;

// Made up, and cut in two so that no scanner takes this file for a leak.
const AWS: &str = concat!("AKIA", "QRSTUVWX2345ABCD");
const GITHUB: &str = concat!("ghp_", "x7Kq9ZmB2vNcR4tYwLpD8sFhJgQe3UaXiO5n");

fn found(text: &str) -> Vec<(&'static str, &str)> {
    let hits = scan(text);
    hits.into_iter()
        .map(|hit| (hit.rule, &text[hit.range]))
        .collect()
}

#[test]
fn every_rule_is_ready() {
    assert_eq!(RULES.rules.len(), 222);
    for rule in &RULES.rules {
        assert!(rule.compiles(), "{}", rule.id);
    }
}

#[test]
fn keys_are_found_by_their_rule() {
    let text = format!("AWS_KEY={AWS}\nand {GITHUB} è");
    assert_eq!(
        found(&text),
        [("aws-access-token", AWS), ("github-pat", GITHUB)]
    );
    assert_eq!(
        found("postgres://app:s3cr3t-word@db.local/app"),
        [("url-password", "s3cr3t-word")]
    );
    let assigned = "api_key = \"q8Zt3vLw0XyB7nRk2mPd5sHf\"";
    assert_eq!(
        found(assigned),
        [("generic-api-key", "q8Zt3vLw0XyB7nRk2mPd5sHf")]
    );
}

#[test]
fn ordinary_text_is_left_alone() {
    for text in [
        "",
        "let token = next_token(&mut stream);",
        "the key is under the mat",
        "https://example.org:8080/path?key=value",
        "AKIAIOSFODNN7EXAMPLE",
        "password = \"${DB_PASSWORD}\"",
        "postgres://$USER:$PASSWORD@host/db",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_value_is_masked_everywhere_alike() {
    let mut masker = Masker::new();
    let first = "api_key = \"q8Zt3vLw0XyB7nRk2mPd5sHf\"";
    masker.learn(first);
    masker.learn(AWS);
    let (text, places) =
        masker.mask("sent q8Zt3vLw0XyB7nRk2mPd5sHf, twice q8Zt3vLw0XyB7nRk2mPd5sHf");
    assert_eq!(
        text,
        "sent [masked:generic-api-key:1], twice [masked:generic-api-key:1]"
    );
    assert_eq!(places.len(), 2);
    assert_eq!(masker.mask(AWS).0, "[masked:aws-access-token:2]");
    masker.keep([2]);
    assert_eq!(masker.mask(AWS).0, AWS);
    assert_eq!(masker.mask("nothing").0, "nothing");
}

#[test]
fn a_key_of_many_lines_keeps_its_lines() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n".repeat(3);
    let text = format!("-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----\nafter\n");
    let mut masker = Masker::new();
    masker.learn(&text);
    let (masked, _) = masker.mask(&text);
    assert!(!masked.contains("MIIEvQ"), "{masked}");
    assert_eq!(masked.lines().count(), text.lines().count());
    assert!(masked.ends_with("-----END PRIVATE KEY-----\nafter\n"));
    // Also where it stands as lines of a patch.
    let patch: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let (masked, _) = masker.mask(&patch);
    assert!(!masked.contains("MIIEvQ"), "{masked}");
}

#[test]
fn a_short_value_is_masked_only_in_its_place() {
    let mut masker = Masker::new();
    let text = "redis://:abc@cache and abc";
    masker.learn(text);
    assert_eq!(
        masker.mask(text).0,
        "redis://:[masked:url-password:1]@cache and abc"
    );
}
