//! The language of a file by its name, for highlighting.

const BY_EXTENSION: &[(&str, &[&str])] = &[
    ("bash", &["sh", "bash", "zsh", "fish", "ksh"]),
    ("c", &["c", "h"]),
    ("clojure", &["clj", "cljs", "edn"]),
    ("cpp", &["cc", "cpp", "cxx", "hpp", "hh", "hxx", "ino"]),
    ("csharp", &["cs"]),
    ("css", &["css"]),
    ("dart", &["dart"]),
    ("diff", &["diff", "patch"]),
    ("elixir", &["ex", "exs"]),
    ("elisp", &["el"]),
    ("go", &["go"]),
    ("graphql", &["graphql", "gql"]),
    ("haskell", &["hs"]),
    ("html", &["html", "htm", "xhtml"]),
    ("ini", &["ini", "cfg", "conf", "properties", "editorconfig"]),
    ("java", &["java"]),
    ("javascript", &["js", "mjs", "cjs"]),
    ("json", &["json", "jsonc", "json5", "jsonl", "ipynb"]),
    ("jsx", &["jsx"]),
    ("kotlin", &["kt", "kts"]),
    ("lua", &["lua"]),
    ("markdown", &["md", "markdown", "mdx"]),
    ("nix", &["nix"]),
    ("perl", &["pl", "pm"]),
    ("php", &["php"]),
    ("powershell", &["ps1", "psm1"]),
    ("python", &["py", "pyi", "pyw"]),
    ("r", &["r"]),
    ("ruby", &["rb", "rake", "gemspec"]),
    ("rust", &["rs"]),
    ("scala", &["scala", "sc"]),
    ("scss", &["scss", "sass", "less"]),
    ("sql", &["sql"]),
    ("svelte", &["svelte"]),
    ("swift", &["swift"]),
    ("toml", &["toml", "lock"]),
    ("tsx", &["tsx"]),
    ("typescript", &["ts", "mts", "cts"]),
    ("vue", &["vue"]),
    ("xml", &["xml", "svg", "plist", "csproj", "xsl"]),
    ("yaml", &["yaml", "yml"]),
    ("zig", &["zig"]),
];

const BY_NAME: &[(&str, &str)] = &[
    ("dockerfile", "dockerfile"),
    ("containerfile", "dockerfile"),
    ("makefile", "makefile"),
    ("gnumakefile", "makefile"),
    ("justfile", "makefile"),
    ("gemfile", "ruby"),
    ("rakefile", "ruby"),
    (".bashrc", "bash"),
    (".zshrc", "bash"),
    (".profile", "bash"),
    ("cargo.lock", "toml"),
    ("package-lock.json", "json"),
    ("yarn.lock", "yaml"),
    ("cmakelists.txt", "cmake"),
];

/// `rust`, `python`, …; `None` for plain text.
pub fn language_of(path: &str) -> Option<&'static str> {
    let name = path.rsplit(['/', '\\']).next()?.to_lowercase();
    if let Some((_, language)) = BY_NAME.iter().find(|(it, _)| *it == name) {
        return Some(language);
    }
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    BY_EXTENSION
        .iter()
        .find(|(_, extensions)| extensions.contains(&extension))
        .map(|(language, _)| *language)
}
