//! Settings: a closed list of keys in layers, later ones win: defaults, user file (TOML), project file
//! (`.chipdeck.toml` of an opened folder), environment (`CHIPDECK_UI_THEME` for `ui.theme`), arguments. A bad value is
//! a fault with its key and its place, never a failure, and the layer below counts. A project file is not trusted: it
//! sets only how things are shown and played. Changing a setting keeps the user file's comments and order.
//!
//! Pure: texts come in and go out; where the file lies and how it is written is not known here.

use crate::api::{SettingRow, SettingsView};
use crate::settings_layers::{Layer, Layers};
use chipdeck_disk::restore::Keeping;
use serde_json::{json, Value};
use toml_edit::{Document, DocumentMut, Item, Table, TableLike};

/// What a key takes.
#[derive(Clone, Copy)]
enum Takes {
    /// A folder, or null for the place by the rules.
    Folder,
    /// Any number of folders.
    Folders,
    Integer {
        least: i64,
        most: i64,
    },
    Choice(&'static [&'static str]),
    Number(&'static [f64]),
    Switch,
}

struct Key {
    name: &'static str,
    takes: Takes,
    default: fn() -> Value,
}

const KEYS: &[Key] = &[
    Key {
        name: "chips.dir",
        takes: Takes::Folder,
        default: || Value::Null,
    },
    Key {
        name: "archive.max_bytes",
        takes: Takes::Integer {
            least: 0,
            most: 1 << 50,
        },
        default: || json!(1_000_000_000),
    },
    Key {
        name: "archive.max_days",
        takes: Takes::Integer {
            least: 0,
            most: 36_500,
        },
        default: || json!(90),
    },
    Key {
        name: "logs.archive",
        takes: Takes::Switch,
        default: || json!(false),
    },
    Key {
        name: "logs.max_bytes",
        takes: Takes::Integer {
            least: 0,
            most: 1 << 50,
        },
        default: || json!(5_000_000_000_u64),
    },
    Key {
        name: "logs.max_days",
        takes: Takes::Integer {
            least: 0,
            most: 36_500,
        },
        default: || json!(365),
    },
    Key {
        name: "library.homes",
        takes: Takes::Folders,
        default: || json!([]),
    },
    Key {
        name: "library.folders",
        takes: Takes::Folders,
        default: || json!([]),
    },
    Key {
        name: "ui.theme",
        takes: Takes::Choice(&["system", "light", "dark"]),
        default: || json!("system"),
    },
    Key {
        name: "ui.language",
        takes: Takes::Choice(&["system", "en", "zh-CN"]),
        default: || json!("system"),
    },
    Key {
        name: "ui.single_keys",
        takes: Takes::Switch,
        default: || json!(true),
    },
    Key {
        name: "ui.diff",
        takes: Takes::Choice(&["auto", "inline", "split"]),
        default: || json!("auto"),
    },
    Key {
        name: "play.speed",
        takes: Takes::Number(&[0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]),
        default: || json!(1.0),
    },
    Key {
        name: "play.paced",
        takes: Takes::Switch,
        default: || json!(true),
    },
];

/// All settings with where each comes from.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The user file's text; empty when there is none.
    file: String,
    /// Where a project file is, for people, and its text.
    project: Option<(String, String)>,
    environment: Vec<(String, String)>,
    arguments: Vec<(String, String)>,
    rows: Vec<SettingRow>,
    faults: Vec<String>,
}

/// Why a setting was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("there is no setting `{0}`")]
    NoSuchKey(String),
    #[error("{key}: {problem}")]
    BadValue { key: String, problem: String },
    #[error("the settings file has a fault: {0}")]
    BrokenFile(String),
}

impl Settings {
    /// Layers the user file's text over the defaults, the environment (only names with `CHIPDECK_` count) over
    /// that, and arguments (`ui.theme`, `dark`) over all.
    pub fn layered(
        file: &str,
        environment: impl IntoIterator<Item = (String, String)>,
        arguments: impl IntoIterator<Item = (String, String)>,
    ) -> Settings {
        let mut settings = Settings {
            file: file.to_owned(),
            project: None,
            environment: environment
                .into_iter()
                .filter(|(name, _)| name.starts_with("CHIPDECK_"))
                .collect(),
            arguments: arguments.into_iter().collect(),
            rows: Vec::new(),
            faults: Vec::new(),
        };
        settings.resolve();
        settings
    }

    fn resolve(&mut self) {
        let mut faults = Vec::new();
        let defaults = Layer {
            origin: "default",
            values: KEYS.iter().map(|key| (key.name, (key.default)())).collect(),
        };
        let mut layers = vec![defaults];
        layers.push(from_file("file", &self.file, None, &mut faults));
        if let Some((name, text)) = &self.project {
            layers.push(from_file("project", text, Some(name), &mut faults));
        }
        layers.push(self.environment_layer(&mut faults));
        layers.push(self.argument_layer(&mut faults));
        let layers = Layers::of(layers);
        self.rows = KEYS.iter().map(|key| row(key, &layers)).collect();
        self.faults = faults;
    }

    fn environment_layer(&self, faults: &mut Vec<String>) -> Layer {
        let mut values = Vec::new();
        for (name, text) in &self.environment {
            let Some(key) = KEYS.iter().find(|key| variable(key.name) == *name) else {
                // Other programs of ours have variables too; one of a section is meant for us.
                let sections = KEYS.iter().filter_map(|key| key.name.split_once('.'));
                let ours = |(section, _): (&str, &str)| {
                    name.strip_prefix("CHIPDECK_")
                        .and_then(|rest| rest.strip_prefix(&section.to_uppercase()))
                        .is_some_and(|rest| rest.starts_with('_'))
                };
                if sections.into_iter().any(ours) {
                    let names = KEYS
                        .iter()
                        .map(|key| variable(key.name))
                        .collect::<Vec<_>>();
                    let near = nearest(name, names.iter().map(String::as_str));
                    faults.push(format!("{name}: there is no such setting{near}"));
                }
                continue;
            };
            if text.is_empty() {
                continue;
            }
            match from_text(text).and_then_check(key) {
                Ok(value) => values.push((key.name, value)),
                Err(error) => faults.push(format!("{}: {error} (in {name})", key.name)),
            }
        }
        Layer {
            origin: "env",
            values,
        }
    }

    fn argument_layer(&self, faults: &mut Vec<String>) -> Layer {
        let mut values = Vec::new();
        for (name, text) in &self.arguments {
            let Some(key) = KEYS.iter().find(|key| key.name == name) else {
                let near = nearest(name, KEYS.iter().map(|key| key.name));
                faults.push(format!(
                    "{name}: there is no such setting{near} (given as an argument)"
                ));
                continue;
            };
            match from_text(text).and_then_check(key) {
                Ok(value) => {
                    values.retain(|(name, _)| *name != key.name);
                    values.push((key.name, value));
                }
                Err(error) => {
                    faults.push(format!("{}: {error} (given as an argument)", key.name));
                }
            }
        }
        Layer {
            origin: "argument",
            values,
        }
    }

    pub fn has_project(&self) -> bool {
        self.project.is_some()
    }

    /// The same layers with another project file: where it is, for people, and its text.
    pub fn with_project(&self, project: Option<(String, String)>) -> Settings {
        let mut next = self.clone();
        next.project = project;
        next.resolve();
        next
    }

    /// What is wrong in the layers: the key, the problem, the line.
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// The limits of the copies that undoing needs: those of the archive.
    pub fn keeping(&self) -> Keeping {
        let usual = Keeping::default();
        let bytes = self.integer("archive.max_bytes");
        let days = self.integer("archive.max_days");
        Keeping {
            max_bytes: bytes
                .and_then(|it| u64::try_from(it).ok())
                .unwrap_or(usual.max_bytes),
            max_days: days
                .and_then(|it| u32::try_from(it).ok())
                .unwrap_or(usual.max_days),
        }
    }

    /// `path` is where the user file is, for people.
    pub fn view(&self, path: &str) -> SettingsView {
        SettingsView {
            rows: self.rows.clone(),
            file: path.to_owned(),
            faults: self.faults.clone(),
        }
    }

    /// The value that counts; null for a key that there is not.
    pub fn get(&self, key: &str) -> Value {
        self.rows
            .iter()
            .find(|row| row.key == key)
            .map(|row| row.value.clone())
            .unwrap_or_default()
    }

    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key).as_str().map(str::to_owned)
    }

    /// The texts of a list.
    pub fn texts(&self, key: &str) -> Vec<String> {
        folders(&self.get(key)).unwrap_or_default()
    }

    pub fn integer(&self, key: &str) -> Option<i64> {
        self.get(key).as_i64()
    }

    /// The user file's text with one value set (`null`: back to the default). The settings themselves change when
    /// they are layered again.
    ///
    /// # Errors
    /// An unknown key, a value that it does not take, a file that does not parse.
    pub fn with(&self, key: &str, value: Value) -> Result<String, Refused> {
        let known = KEYS
            .iter()
            .find(|it| it.name == key)
            .ok_or_else(|| Refused::NoSuchKey(key.to_owned()))?;
        let mut document = self
            .file
            .parse::<DocumentMut>()
            .map_err(|error| Refused::BrokenFile(parse_fault(&self.file, &error)))?;
        let (section, name) = key.split_once('.').unwrap_or(("", key));
        let bad = |problem: String| Refused::BadValue {
            key: key.to_owned(),
            problem,
        };
        if value.is_null() {
            if let Some(table) = document.get_mut(section).and_then(Item::as_table_like_mut) {
                table.remove(name);
            }
            return Ok(document.to_string());
        }
        let value = check(known, value).map_err(bad)?;
        let item =
            to_item(&value).ok_or_else(|| bad("not a value of a settings file".to_owned()))?;
        let table = document
            .entry(section)
            .or_insert_with(|| Item::Table(Table::new()));
        let Some(table) = table.as_table_like_mut() else {
            return Err(bad(format!("`{section}` of the settings file is no table")));
        };
        match table.get_mut(name).and_then(Item::as_value_mut) {
            // The blanks and the comment around the old value stay.
            Some(old) => {
                let decor = old.decor().clone();
                *old = item;
                *old.decor_mut() = decor;
            }
            None => {
                table.insert(name, Item::Value(item));
            }
        }
        Ok(document.to_string())
    }

    /// The same layers over another file text.
    pub fn over(&self, file: String) -> Settings {
        let mut next = self.clone();
        next.file = file;
        next.resolve();
        next
    }
}

fn row(key: &Key, layers: &Layers) -> SettingRow {
    let (value, source) = layers
        .get(key.name)
        .unwrap_or_else(|| ((key.default)(), "default".to_owned()));
    SettingRow {
        key: key.name.to_owned(),
        value,
        default: (key.default)(),
        source,
        choices: match key.takes {
            Takes::Choice(choices) => Some(choices.iter().map(|it| it.to_string()).collect()),
            Takes::Number(choices) => Some(choices.iter().map(|it| it.to_string()).collect()),
            Takes::Folder | Takes::Folders | Takes::Integer { .. } | Takes::Switch => None,
        },
    }
}

/// The valid values of a file, the rest as faults: key, what is wrong, line, and the file where it is not the user's.
fn from_file(
    origin: &'static str,
    text: &str,
    name: Option<&str>,
    faults: &mut Vec<String>,
) -> Layer {
    let mut values = Vec::new();
    let named = |line: Option<usize>| match (name, line) {
        (Some(name), Some(line)) => format!(" ({name}, line {line})"),
        (Some(name), None) => format!(" ({name})"),
        (None, Some(line)) => format!(" (line {line})"),
        (None, None) => String::new(),
    };
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            faults.push(parse_fault(text, &error) + &named(None));
            return Layer { origin, values };
        }
    };
    for (path, line) in unknown_keys(document.as_table(), text) {
        let near = nearest(&path, KEYS.iter().map(|key| key.name));
        faults.push(format!(
            "{path}: there is no such setting{near}{}",
            named(line)
        ));
    }
    for key in KEYS {
        let Some(item) = lookup(document.as_table(), key.name) else {
            continue;
        };
        let line = line_of(item.span(), text);
        if origin == "project" && !HARMLESS.contains(&key.name) {
            faults.push(format!(
                "{}: a project's file may not set this{}",
                key.name,
                named(line)
            ));
            continue;
        }
        match from_item(item).and_then(|value| check(key, value)) {
            Ok(value) => values.push((key.name, value)),
            Err(error) => faults.push(format!("{}: {error}{}", key.name, named(line))),
        }
    }
    Layer { origin, values }
}

/// What a folder that somebody else made may set: how things are shown and played, never where anything is read or
/// written.
const HARMLESS: [&str; 3] = ["ui.diff", "play.speed", "play.paced"];

/// `; did you mean x?`, where one of the names is near.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    let last = |it: &'n str| it.rsplit_once('.').map_or(it, |(_, last)| last);
    let near = names
        .map(|it| {
            // The right name in the wrong section is near too.
            let whole = strsim::jaro_winkler(name, it);
            let part = strsim::jaro_winkler(name.rsplit('.').next().unwrap_or(name), last(it));
            (whole.max(part - 0.05), it)
        })
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((score, it)) if score >= 0.85 => format!("; did you mean {it}?"),
        _ => String::new(),
    }
}

fn line_of(span: Option<std::ops::Range<usize>>, text: &str) -> Option<usize> {
    let before = text.get(..span?.start)?;
    Some(before.matches('\n').count() + 1)
}

trait Checked {
    fn and_then_check(self, key: &Key) -> Result<Value, String>;
}

impl Checked for Value {
    fn and_then_check(self, key: &Key) -> Result<Value, String> {
        // A text that looks like a number is still a folder's name.
        match (key.takes, self) {
            (Takes::Folder | Takes::Choice(_), Value::Number(n)) => {
                check(key, Value::String(n.to_string()))
            }
            (Takes::Folder | Takes::Choice(_), Value::Bool(b)) => {
                check(key, Value::String(b.to_string()))
            }
            (_, value) => check(key, value),
        }
    }
}

/// `ui.theme` → `CHIPDECK_UI_THEME`.
fn variable(key: &str) -> String {
    format!("CHIPDECK_{}", key.replace('.', "_").to_uppercase())
}

fn from_text(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

fn from_item(item: &Item) -> Result<Value, String> {
    match item.as_value() {
        Some(toml_edit::Value::String(it)) => Ok(json!(it.value())),
        Some(toml_edit::Value::Integer(it)) => Ok(json!(it.value())),
        Some(toml_edit::Value::Float(it)) => Ok(json!(it.value())),
        Some(toml_edit::Value::Boolean(it)) => Ok(json!(it.value())),
        Some(toml_edit::Value::Array(list)) => list
            .iter()
            .map(|it| it.as_str().map(Value::from))
            .collect::<Option<Vec<_>>>()
            .map(Value::Array)
            .ok_or_else(|| "is a list of something else than texts".to_owned()),
        _ => Err("is neither text, number, true nor false".to_owned()),
    }
}

fn to_item(value: &Value) -> Option<toml_edit::Value> {
    match value {
        Value::String(text) => Some(text.as_str().into()),
        Value::Bool(it) => Some((*it).into()),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Some(integer.into()),
            None => number.as_f64().map(Into::into),
        },
        Value::Array(list) => {
            let texts: Option<toml_edit::Array> = list.iter().map(Value::as_str).collect();
            texts.map(toml_edit::Value::Array)
        }
        Value::Null | Value::Object(_) => None,
    }
}

fn check(key: &Key, value: Value) -> Result<Value, String> {
    match key.takes {
        Takes::Folder => match value.as_str() {
            Some("") | None => Err("must be the path of a folder".to_owned()),
            Some(text) if text.contains('\0') => Err("a path has no NUL".to_owned()),
            Some(_) => Ok(value),
        },
        Takes::Folders => folders(&value)
            .map(Value::from)
            .ok_or_else(|| "must be a list of folders".to_owned()),
        Takes::Integer { least, most } => match value.as_i64() {
            Some(it) if (least..=most).contains(&it) => Ok(json!(it)),
            _ => Err(format!("must be a whole number from {least} to {most}")),
        },
        Takes::Choice(choices) => match value.as_str() {
            Some(text) if choices.contains(&text) => Ok(value),
            _ => Err(format!("must be one of {}", choices.join(", "))),
        },
        Takes::Number(choices) => match value.as_f64() {
            Some(it) if choices.contains(&it) => Ok(json!(it)),
            _ => {
                let choices: Vec<_> = choices.iter().map(f64::to_string).collect();
                Err(format!("must be one of {}", choices.join(", ")))
            }
        },
        Takes::Switch => value
            .as_bool()
            .map(Value::Bool)
            .ok_or_else(|| "must be true or false".to_owned()),
    }
}

/// A list, or in a text several as in `PATH`.
fn folders(value: &Value) -> Option<Vec<String>> {
    let texts: Vec<String> = match value {
        Value::String(text) => std::env::split_paths(text)
            .map(|path| path.to_string_lossy().into_owned())
            .filter(|text| !text.is_empty())
            .collect(),
        Value::Array(list) => list
            .iter()
            .map(|it| it.as_str().map(str::to_owned))
            .collect::<Option<_>>()?,
        _ => return None,
    };
    texts
        .iter()
        .all(|text| !text.is_empty() && !text.contains('\0'))
        .then_some(texts)
}

fn lookup<'a>(table: &'a Table, key: &str) -> Option<&'a Item> {
    let mut parts = key.split('.');
    let first = table.get(parts.next()?)?;
    parts
        .try_fold(first, |item, part| item.as_table_like()?.get(part))
        .filter(|item| !item.is_none())
}

/// Keys of a file that no setting has, and their lines.
fn unknown_keys(table: &dyn TableLike, text: &str) -> Vec<(String, Option<usize>)> {
    let mut found = Vec::new();
    for (section, item) in table.iter() {
        let start = format!("{section}.");
        let line = line_of(item.span(), text);
        let inner = item
            .as_table_like()
            .filter(|_| KEYS.iter().any(|key| key.name.starts_with(&start)));
        let Some(inner) = inner else {
            found.push((section.to_owned(), line));
            continue;
        };
        for (name, item) in inner.iter() {
            let path = format!("{section}.{name}");
            if !KEYS.iter().any(|key| key.name == path) {
                found.push((path, line_of(item.span(), text)));
            }
        }
    }
    found
}

/// `line 3: …`, one line.
fn parse_fault(text: &str, error: &toml_edit::TomlError) -> String {
    let message = error
        .message()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(a, b)| (a.to_string(), b.to_string()))
            .collect()
    }

    #[test]
    fn layers_in_order() {
        let file = "[ui]\ntheme = \"dark\"\nlanguage = 'en'\n[archive]\nmax_days = 7\n";
        let settings = Settings::layered(
            file,
            pairs(&[
                ("CHIPDECK_UI_LANGUAGE", "zh-CN"),
                ("CHIPDECK_CHIPS_DIR", "12"),
                ("HOME", "/x"),
            ]),
            pairs(&[("ui.diff", "split")]),
        );
        let source = |key: &str| {
            let row = settings.rows.iter().find(|row| row.key == key).unwrap();
            (row.value.clone(), row.source.clone())
        };
        assert_eq!(source("ui.theme"), (json!("dark"), "file".into()));
        assert_eq!(source("ui.language"), (json!("zh-CN"), "env".into()));
        assert_eq!(source("ui.diff"), (json!("split"), "argument".into()));
        assert_eq!(source("archive.max_days"), (json!(7), "file".into()));
        assert_eq!(source("chips.dir"), (json!("12"), "env".into()));
        assert_eq!(source("play.speed"), (json!(1.0), "default".into()));
        assert!(settings.faults.is_empty(), "{:?}", settings.faults);
    }

    #[test]
    fn faults_name_the_key_and_the_next_layer_counts() {
        let settings = Settings::layered(
            "[ui]\ntheme = \"pink\"\nthem = 1\n[play]\nspeed = 3\n[x]\ny = 1\n",
            pairs(&[("CHIPDECK_UI_SINGLE_KEYS", "maybe")]),
            [],
        );
        assert_eq!(settings.get("ui.theme"), json!("system"));
        assert_eq!(settings.get("ui.single_keys"), json!(true));
        let all = settings.faults.join("\n");
        for part in [
            "ui.theme: must be one of",
            "ui.them: there is no such setting; did you mean ui.theme? (line 3)",
            "play.speed: must be one of 0.5, 1, 2, 4, 8, 16, 32, 64 (line 5)",
            "x: there",
            "CHIPDECK_UI_SINGLE_KEYS",
        ] {
            assert!(all.contains(part), "{part} in {all}");
        }
        let broken = Settings::layered("a = 1\nb = = 2\n", [], []);
        assert!(
            broken
                .faults
                .iter()
                .any(|fault| fault.starts_with("line 2: ")),
            "{:?}",
            broken.faults
        );
        assert!(matches!(
            broken.with("ui.theme", json!("dark")),
            Err(Refused::BrokenFile(_))
        ));
    }

    #[test]
    fn lists_of_folders() {
        let file = "[library]\nhomes = [\"/mnt/c/Users/*\"]\nfolders = [1]\n";
        let settings = Settings::layered(file, [], []);
        assert_eq!(settings.texts("library.homes"), ["/mnt/c/Users/*"]);
        assert!(settings.texts("library.folders").is_empty());
        assert_eq!(settings.view("x").faults.len(), 1);
        let texts = |value: &str| {
            let variable = ("CHIPDECK_LIBRARY_HOMES".to_owned(), value.to_owned());
            Settings::layered(file, [variable], []).texts("library.homes")
        };
        let joined = std::env::join_paths(["/a", "/b"]).unwrap();
        assert_eq!(texts(joined.to_str().unwrap()), ["/a", "/b"]);
        let text = settings.with("library.folders", json!(["/x"])).unwrap();
        assert!(text.ends_with("folders = [\"/x\"]\n"), "{text}");
    }

    #[test]
    fn a_project_sets_only_what_is_harmless() {
        let user = "[ui]\ndiff = \"inline\"\n[play]\nspeed = 2\n";
        let project = "[ui]\ndiff = \"split\"\n[chips]\ndir = \"/etc\"\n[play]\npaced = 3\n[archive]\nmax_bytes = 0\n";
        let settings = Settings::layered(user, [], [])
            .with_project(Some((".chipdeck.toml".to_owned(), project.to_owned())));
        let source = |key: &str| {
            let row = settings.rows.iter().find(|row| row.key == key).unwrap();
            (row.value.clone(), row.source.clone())
        };
        assert_eq!(source("ui.diff"), (json!("split"), "project".into()));
        assert_eq!(source("play.speed"), (json!(2.0), "file".into()));
        assert_eq!(source("chips.dir"), (Value::Null, "default".into()));
        assert_eq!(source("archive.max_bytes").1, "default");
        assert_eq!(
            settings.faults,
            [
                "chips.dir: a project's file may not set this (.chipdeck.toml, line 4)",
                "archive.max_bytes: a project's file may not set this (.chipdeck.toml, line 8)",
                "play.paced: must be true or false (.chipdeck.toml, line 6)",
            ]
        );
        // The environment is over it, and without it all is as before.
        let over = Settings::layered(user, pairs(&[("CHIPDECK_UI_DIFF", "auto")]), [])
            .with_project(Some(("p".to_owned(), project.to_owned())));
        assert_eq!(over.get("ui.diff"), json!("auto"));
        assert_eq!(settings.with_project(None).get("ui.diff"), json!("inline"));
        let broken = settings.with_project(Some(("p".to_owned(), "[ui\n".to_owned())));
        assert!(broken.faults[0].starts_with("line 1: ") && broken.faults[0].ends_with(" (p)"));
        assert_eq!(broken.get("ui.diff"), json!("inline"));
    }

    #[test]
    fn unknown_names_are_told_with_the_nearest_known_one() {
        let settings = Settings::layered(
            "theme = 1\n[ui]\nspeed = 1\nzzz = 1\n",
            pairs(&[
                ("CHIPDECK_UI_THEM", "dark"),
                ("CHIPDECK_FIXTURES", "/x"),
                ("CHIPDECK_PLAY_SPEED", "99"),
            ]),
            pairs(&[
                ("ui.langage", "en"),
                ("play.speed", "4"),
                ("play.speed", "8"),
            ]),
        );
        assert_eq!(
            settings.faults,
            [
                "theme: there is no such setting; did you mean ui.theme? (line 1)",
                "ui.speed: there is no such setting; did you mean play.speed? (line 3)",
                "ui.zzz: there is no such setting (line 4)",
                "CHIPDECK_UI_THEM: there is no such setting; did you mean CHIPDECK_UI_THEME?",
                "play.speed: must be one of 0.5, 1, 2, 4, 8, 16, 32, 64 (in CHIPDECK_PLAY_SPEED)",
                "ui.langage: there is no such setting; did you mean ui.language? (given as an argument)",
            ]
        );
        assert_eq!(settings.get("play.speed"), json!(8.0));
    }

    #[test]
    fn a_change_keeps_comments() {
        let file = "# mine\n[ui]\ntheme = \"dark\" # at night\n\n[play]\nspeed = 2\n";
        let settings = Settings::layered(file, [], []);
        assert_eq!(
            settings.with("ui.theme", json!("light")).unwrap(),
            "# mine\n[ui]\ntheme = \"light\" # at night\n\n[play]\nspeed = 2\n"
        );
        let next = settings.with("archive.max_days", json!(30)).unwrap();
        assert!(
            next.starts_with(file) && next.ends_with("[archive]\nmax_days = 30\n"),
            "{next}"
        );
        let gone = settings.with("play.speed", Value::Null).unwrap();
        assert_eq!(settings.over(gone).get("play.speed"), json!(1.0));
        assert!(matches!(
            settings.with("ui.x", json!(1)),
            Err(Refused::NoSuchKey(_))
        ));
        assert!(matches!(
            settings.with("ui.theme", json!(1)),
            Err(Refused::BadValue { .. })
        ));
        assert!(Settings::layered("ui = 3\n", [], [])
            .with("ui.theme", json!("dark"))
            .is_err());
    }
}
