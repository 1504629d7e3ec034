//! Values between TOML files and JSON pipes. What the other side cannot hold becomes its nearest: a date a text, a whole
//! number beyond 64 bits a float, null nothing. Pure; requests and patches call it.

use serde_json::{Map, Value as Json};
use toml::{Table, Value as Toml};

/// A TOML value as JSON.
pub fn json_of(value: &Toml) -> Json {
    match value {
        Toml::String(text) => Json::String(text.clone()),
        Toml::Integer(number) => Json::from(*number),
        Toml::Float(number) => serde_json::Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Toml::Boolean(flag) => Json::Bool(*flag),
        Toml::Datetime(time) => Json::String(time.to_string()),
        Toml::Array(items) => Json::Array(items.iter().map(json_of).collect()),
        Toml::Table(table) => Json::Object(object_of(table)),
    }
}

/// A TOML table as a JSON object.
pub(super) fn object_of(table: &Table) -> Map<String, Json> {
    table.iter().map(|(key, value)| (key.clone(), json_of(value))).collect()
}

/// Levels of lists and objects that are kept; readers of TOML give up at about eighty.
const DEEPEST: usize = 32;

/// True when a value is nested deeper than what a state file may hold.
pub(super) fn too_deep(value: &Json) -> bool {
    fn deeper(value: &Json, left: usize) -> bool {
        match value {
            Json::Array(items) => left == 0 || items.iter().any(|item| deeper(item, left - 1)),
            Json::Object(fields) => left == 0 || fields.values().any(|field| deeper(field, left - 1)),
            _ => false,
        }
    }
    deeper(value, DEEPEST)
}

/// A JSON value as TOML; `None` for null, and for one that is nested too deep to be read again.
pub fn toml_of(value: &Json) -> Option<Toml> {
    if too_deep(value) { None } else { plain(value) }
}

fn plain(value: &Json) -> Option<Toml> {
    let toml_of = plain;
    Some(match value {
        Json::Null => return None,
        Json::Bool(flag) => Toml::Boolean(*flag),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Toml::Integer(whole),
            None => Toml::Float(number.as_f64()?),
        },
        Json::String(text) => Toml::String(text.clone()),
        Json::Array(items) => Toml::Array(items.iter().filter_map(toml_of).collect()),
        Json::Object(fields) => {
            Toml::Table(fields.iter().filter_map(|(key, value)| Some((key.clone(), toml_of(value)?))).collect())
        }
    })
}
