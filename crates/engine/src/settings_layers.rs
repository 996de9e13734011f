//! One layer of settings for the `config` crate, which lays them over each other and remembers where each value came
//! from. Left out: what a key takes (`settings`).

use config::{Config, ConfigError, Map, Source, Value as Laid, ValueKind};
use serde_json::Value;

/// Values of one origin, all of them checked.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// `default`, `file`, `project`, `env` or `argument`.
    pub origin: &'static str,
    /// By dotted key.
    pub values: Vec<(&'static str, Value)>,
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Laid>, ConfigError> {
        let laid = |(key, value): &(&'static str, Value)| {
            let origin = self.origin.to_owned();
            (key.to_string(), Laid::new(Some(&origin), kind(value)))
        };
        Ok(self.values.iter().map(laid).collect())
    }
}

fn kind(value: &Value) -> ValueKind {
    match value {
        Value::Null | Value::Object(_) => ValueKind::Nil,
        Value::Bool(it) => ValueKind::Boolean(*it),
        Value::Number(it) => match it.as_i64() {
            Some(it) => ValueKind::I64(it),
            None => ValueKind::Float(it.as_f64().unwrap_or_default()),
        },
        Value::String(it) => ValueKind::String(it.clone()),
        Value::Array(list) => {
            ValueKind::Array(list.iter().map(|it| Laid::new(None, kind(it))).collect())
        }
    }
}

fn plain(value: &Laid) -> Value {
    match &value.kind {
        ValueKind::Boolean(it) => (*it).into(),
        ValueKind::I64(it) => (*it).into(),
        ValueKind::Float(it) => (*it).into(),
        ValueKind::String(it) => it.as_str().into(),
        ValueKind::Array(list) => Value::Array(list.iter().map(plain).collect()),
        _ => Value::Null,
    }
}

/// The layers over each other, the last one on top.
pub(crate) struct Layers(Map<String, Laid>);

impl Layers {
    pub(crate) fn of(layers: Vec<Layer>) -> Layers {
        let builder = layers
            .into_iter()
            .fold(Config::builder(), |builder, layer| {
                builder.add_source(layer)
            });
        let all = builder.build().and_then(|config| config.collect());
        Layers(all.unwrap_or_default())
    }

    /// The value that counts, and the origin of it.
    pub(crate) fn get(&self, key: &str) -> Option<(Value, String)> {
        let (section, name) = key.split_once('.')?;
        let found = match &self.0.get(section)?.kind {
            ValueKind::Table(table) => table.get(name)?,
            _ => return None,
        };
        Some((plain(found), found.origin()?.to_owned()))
    }
}
