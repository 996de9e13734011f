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
