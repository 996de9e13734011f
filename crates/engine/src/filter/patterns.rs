//! Words with stars, and globs on paths.

use globset::{GlobBuilder, GlobMatcher};

/// A word in which `*` stands for anything; without capitals it matches either case.
#[derive(Debug)]
pub(super) struct Wild(Vec<String>);

impl Wild {
    pub(super) fn new(pattern: &str) -> Wild {
        Wild(
            pattern
                .to_lowercase()
                .split('*')
                .map(str::to_owned)
                .collect(),
        )
    }

    pub(super) fn matches(&self, text: &str) -> bool {
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
pub(super) struct PathGlob {
    glob: GlobMatcher,
    name_only: bool,
    absolute: bool,
}

impl PathGlob {
    pub(super) fn new(pattern: &str) -> Result<PathGlob, String> {
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

    pub(super) fn matches(&self, path: &str) -> bool {
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
