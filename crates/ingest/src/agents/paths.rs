//! Paths as agents write them: joined to the working folder in force, `.` and `..` resolved, on text alone (the disk
//! is not asked). Knows Windows paths by their drive letter or leading `\\`; everything else is taken as POSIX.
//!
//! Left out on purpose: symbolic links, `~` (nobody knows whose), environment variables.

/// Is this an absolute path of either kind?
pub(crate) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_windows(path)
}

/// `C:\x`, `c:/x` or `\\host\share`.
pub(crate) fn is_windows(path: &str) -> bool {
    let mut chars = path.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('\\'), Some('\\'), _) => true,
        (Some(letter), Some(':'), Some('\\' | '/')) => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

/// `path` in the folder `cwd`; as it is (resolved) when absolute or when no folder is known.
pub(crate) fn join(cwd: Option<&str>, path: &str) -> String {
    let path = strip_file_url(path);
    if is_windows(path) {
        return resolve(&upper_drive(path), '\\');
    }
    if path.starts_with('/') {
        return resolve(path, '/');
    }
    match cwd {
        Some(cwd) if is_windows(cwd) => resolve(&format!("{}\\{}", upper_drive(cwd), path), '\\'),
        Some(cwd) if !cwd.is_empty() => resolve(&format!("{cwd}/{path}"), '/'),
        _ => resolve(path, '/'),
    }
}

fn strip_file_url(path: &str) -> &str {
    match path.strip_prefix("file://") {
        Some(rest) if rest.starts_with('/') => rest,
        _ => path,
    }
}

/// `c:\` and `C:\` are one folder.
fn upper_drive(path: &str) -> String {
    let mut chars = path.chars();
    match chars.next() {
        Some(letter) if path.get(1..2) == Some(":") => {
            format!("{}{}", letter.to_ascii_uppercase(), chars.as_str())
        }
        _ => path.to_string(),
    }
}

fn resolve(path: &str, separator: char) -> String {
    let split = |c: char| c == separator || (separator == '\\' && c == '/');
    let (root, body) = if separator == '\\' {
        if path.starts_with("\\\\") {
            ("\\\\", path.trim_start_matches(split))
        } else {
            let at = path.find(split).map_or(path.len(), |at| at + 1);
            path.split_at(at)
        }
    } else if path.starts_with('/') {
        ("/", path.trim_start_matches('/'))
    } else {
        ("", path)
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in body.split(split) {
        match part {
            "" | "." => {}
            ".." => match parts.last() {
                Some(&last) if last != ".." => {
                    parts.pop();
                }
                _ if root.is_empty() => parts.push(".."),
                _ => {}
            },
            other => parts.push(other),
        }
    }
    let mut out = root.replace('/', &separator.to_string());
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.push(separator);
        }
        out.push_str(part);
    }
    if out.is_empty() {
        out.push('.');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_and_resolves() {
        let cwd = Some("/home/dev/proj");
        assert_eq!(join(cwd, "src/a.rs"), "/home/dev/proj/src/a.rs");
        assert_eq!(join(cwd, "./../b//c/."), "/home/dev/b/c");
        assert_eq!(join(cwd, "/etc/../x"), "/x");
        assert_eq!(join(cwd, "../../../../../x"), "/x");
        assert_eq!(join(cwd, "."), "/home/dev/proj");
        assert_eq!(join(None, "a/../../b"), "../b");
        assert_eq!(join(cwd, "file:///tmp/a"), "/tmp/a");
    }

    #[test]
    fn windows_drives_are_one_folder_in_either_case() {
        assert_eq!(
            join(Some("c:\\Users\\d\\p"), "src/a.py"),
            "C:\\Users\\d\\p\\src\\a.py"
        );
        assert_eq!(
            join(Some("C:\\Users\\d\\p"), "..\\b.py"),
            "C:\\Users\\d\\b.py"
        );
        assert_eq!(join(Some("/mnt/c"), "c:\\Users\\x"), "C:\\Users\\x");
        assert_eq!(join(None, "\\\\host\\share\\..\\a"), "\\\\host\\a");
        assert!(!is_absolute("a:b") && is_absolute("Z:/q"));
    }
}
