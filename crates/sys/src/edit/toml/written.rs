//! What is written into a TOML text: values on one line, and tables with a header of their own.

use serde_json::Value;
use toml_edit::{Key, Value as Node};

use crate::edit::{Doubt, Step};

/// What is to be written.
pub(super) enum New {
    /// On one line.
    Raw(String),
    /// With a header of its own.
    Table(Vec<(String, String)>),
}

impl New {
    pub(super) fn of(value: &Value) -> Result<Self, Doubt> {
        match value {
            Value::Object(map) => {
                Ok(Self::Table(map.iter().map(|(k, v)| Ok((k.clone(), inline(v)?))).collect::<Result<_, Doubt>>()?))
            }
            other => Ok(Self::Raw(inline(other)?)),
        }
    }

    pub(super) fn is_table(&self) -> bool {
        matches!(self, Self::Table(_))
    }

    pub(super) fn inline(&self) -> String {
        match self {
            Self::Raw(raw) => raw.clone(),
            Self::Table(map) if map.is_empty() => "{}".to_owned(),
            Self::Table(map) => {
                let parts: Vec<_> = map.iter().map(|(k, v)| format!("{} = {v}", word(k))).collect();
                format!("{{ {} }}", parts.join(", "))
            }
        }
    }
}

/// `value` on one line.
pub(super) fn inline(value: &Value) -> Result<String, Doubt> {
    Ok(match value {
        Value::Null => return Err(Doubt::general("TOML has no null")),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => Node::from(text.as_str()).to_string(),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(inline).collect::<Result<Vec<_>, _>>()?.join(", "))
        }
        Value::Object(_) => New::of(value)?.inline(),
    })
}

pub(super) fn nested(path: &[Step], value: &str) -> String {
    path.iter().rev().fold(value.to_owned(), |value, step| format!("{{ {} = {value} }}", key(step)))
}

pub(super) fn key_of(step: &Step) -> Option<&str> {
    match step {
        Step::Key(key) => Some(key),
        Step::Index(_) => None,
    }
}

pub(super) fn key(step: &Step) -> String {
    key_of(step).map(word).unwrap_or_default()
}

pub(super) fn word(key: &str) -> String {
    Key::new(key).to_string()
}
