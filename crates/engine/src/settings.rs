//! Settings: a closed list of keys, each from the first of argument, environment (`CHIPDECK_UI_THEME` for
//! `ui.theme`), user file (TOML) and default that has a valid value. A bad value is a fault with its key, never a
//! failure, and the next layer counts. Changing one keeps the file's comments and order.
//!
//! Pure: texts come in and go out; where the file lies and how it is written is not known here.

use crate::api::{SettingRow, SettingsView};
use serde_json::{json, Value};
use toml_edit::{DocumentMut, Item, Table, TableLike};

/// What a key takes.
#[derive(Clone, Copy)]
enum Takes {
    /// A folder, or null for the place by the rules.
    Folder,
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
        self.faults.clear();
        let document = match self.file.parse::<DocumentMut>() {
            Ok(document) => document,
            Err(error) => {
                self.faults.push(parse_fault(&self.file, &error));
                DocumentMut::new()
            }
        };
        unknown_keys(document.as_table(), "", &mut self.faults);
        self.rows = KEYS
            .iter()
            .map(|key| self.row(key, &document))
            .collect::<Vec<_>>();
        let faults: Vec<String> = KEYS
            .iter()
            .flat_map(|key| self.key_faults(key, &document))
            .collect();
        self.faults.extend(faults);
        for (name, _) in &self.arguments {
            if !KEYS.iter().any(|key| key.name == name) {
                self.faults.push(format!(
                    "{name}: there is no such setting (given as an argument)"
                ));
            }
        }
    }

    fn row(&self, key: &Key, document: &DocumentMut) -> SettingRow {
        let (value, source) = self
            .candidates(key, document)
            .into_iter()
            .find_map(|(value, source)| value.ok().map(|value| (value, source)))
            .unwrap_or_else(|| ((key.default)(), "default"));
        SettingRow {
            key: key.name.to_owned(),
            value,
            default: (key.default)(),
            source: source.to_owned(),
            choices: match key.takes {
                Takes::Choice(choices) => Some(choices.iter().map(|it| it.to_string()).collect()),
                Takes::Number(choices) => Some(choices.iter().map(|it| it.to_string()).collect()),
                Takes::Folder | Takes::Integer { .. } | Takes::Switch => None,
            },
        }
    }

    /// What each layer says, highest first.
    fn candidates(
        &self,
        key: &Key,
        document: &DocumentMut,
    ) -> Vec<(Result<Value, String>, &'static str)> {
        let mut found = Vec::new();
        if let Some((_, text)) = self
            .arguments
            .iter()
            .rev()
            .find(|(name, _)| name == key.name)
        {
            found.push((from_text(text).and_then_check(key), "argument"));
        }
        let variable = variable(key.name);
        if let Some((_, text)) = self.environment.iter().find(|(name, _)| *name == variable) {
            if !text.is_empty() {
                found.push((from_text(text).and_then_check(key), "env"));
            }
        }
        if let Some(item) = lookup(document, key.name) {
            found.push((from_item(item).and_then(|value| check(key, value)), "file"));
        }
        found
    }

    fn key_faults(&self, key: &Key, document: &DocumentMut) -> Vec<String> {
        let place = |source| match source {
            "env" => format!(" (in {})", variable(key.name)),
            "argument" => " (given as an argument)".to_owned(),
            _ => String::new(),
        };
        self.candidates(key, document)
            .into_iter()
            .filter_map(|(value, source)| {
                value
                    .err()
                    .map(|error| format!("{}: {error}{}", key.name, place(source)))
            })
            .collect()
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
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn check(key: &Key, value: Value) -> Result<Value, String> {
    match key.takes {
        Takes::Folder => match value.as_str() {
            Some("") | None => Err("must be the path of a folder".to_owned()),
            Some(text) if text.contains('\0') => Err("a path has no NUL".to_owned()),
            Some(_) => Ok(value),
        },
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

fn lookup<'a>(document: &'a DocumentMut, key: &str) -> Option<&'a Item> {
    let mut parts = key.split('.');
    let first = document.get(parts.next()?)?;
    parts
        .try_fold(first, |item, part| item.as_table_like()?.get(part))
        .filter(|item| !item.is_none())
}

/// Keys of the file that no setting has.
fn unknown_keys(table: &dyn TableLike, above: &str, faults: &mut Vec<String>) {
    for (name, item) in table.iter() {
        let path = if above.is_empty() {
            name.to_owned()
        } else {
            format!("{above}.{name}")
        };
        if KEYS.iter().any(|key| key.name == path) {
            continue;
        }
        let section = format!("{path}.");
        match item.as_table_like() {
            Some(inner) if KEYS.iter().any(|key| key.name.starts_with(&section)) => {
                unknown_keys(inner, &path, faults)
            }
            _ => faults.push(format!("{path}: there is no such setting")),
        }
    }
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
            "ui.them: there is no",
            "play.speed: must",
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
