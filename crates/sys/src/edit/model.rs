//! What a text means, and what a change makes of it: the other half of every verification. Every format's reader
//! turns its text into this; numbers stay as they are written, maps keep their order and their doubles.

use serde_json::Value;

use super::{Doubt, Step, shown};

/// A value of a settings file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Model {
    Null,
    Bool(bool),
    /// As written.
    Number(String),
    Text(String),
    List(Vec<Model>),
    Map(Vec<(String, Model)>),
}

impl From<&Value> for Model {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(yes) => Self::Bool(*yes),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(list) => Self::List(list.iter().map(Self::from).collect()),
            Value::Object(map) => Self::Map(map.iter().map(|(key, value)| (key.clone(), value.into())).collect()),
        }
    }
}

impl Model {
    /// The same for those who only look.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(yes) => Value::Bool(yes),
            Self::Number(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
            Self::Text(text) => Value::String(text),
            Self::List(list) => Value::Array(list.into_iter().map(Self::into_value).collect()),
            Self::Map(map) => Value::Object(map.into_iter().map(|(key, value)| (key, value.into_value())).collect()),
        }
    }

    /// The value at `path`; the last one of doubles, as readers take it.
    pub(super) fn get(&self, path: &[Step]) -> Option<&Self> {
        let Some((first, rest)) = path.split_first() else { return Some(self) };
        match (first, self) {
            (Step::Key(key), Self::Map(map)) => map.iter().rev().find(|(name, _)| name == key)?.1.get(rest),
            (Step::Index(index), Self::List(list)) => list.get(*index)?.get(rest),
            _ => None,
        }
    }

    /// True when nothing is in it but what leads to the value at `path`.
    pub(super) fn holds_only(&self, path: &[Step]) -> bool {
        let Some((first, rest)) = path.split_first() else { return true };
        match (first, self) {
            (Step::Key(key), Self::Map(map)) => {
                matches!(map.as_slice(), [(name, value)] if name == key && value.holds_only(rest))
            }
            (Step::Index(0), Self::List(list)) => matches!(list.as_slice(), [value] if value.holds_only(rest)),
            _ => false,
        }
    }

    /// Makes the value at `path` be `value`, and maps on the way.
    pub(super) fn set(&mut self, path: &[Step], value: Self) -> Result<(), Doubt> {
        let Some((first, rest)) = path.split_first() else {
            *self = value;
            return Ok(());
        };
        match (first, self) {
            (Step::Key(key), Self::Map(map)) => {
                let at = match map.iter().rposition(|(name, _)| name == key) {
                    Some(at) => at,
                    None => {
                        map.push((key.clone(), Self::Map(Vec::new())));
                        map.len() - 1
                    }
                };
                map[at].1.set(rest, value)
            }
            (Step::Index(index), Self::List(list)) if *index < list.len() => list[*index].set(rest, value),
            _ => Err(wrong_kind(path)),
        }
    }

    /// Puts `value` behind the last element of the list at `path`.
    pub(super) fn append(&mut self, path: &[Step], value: Self) -> Result<(), Doubt> {
        let mut list = match self.get(path) {
            Some(Self::List(list)) => list.clone(),
            None => Vec::new(),
            Some(_) => return Err(wrong_kind(path)),
        };
        list.push(value);
        self.set(path, Self::List(list))
    }

    /// Takes the value at `path` away, with its key. True when it was there.
    pub(super) fn remove(&mut self, path: &[Step]) -> bool {
        let Some((first, rest)) = path.split_first() else { return false };
        match (first, self) {
            (Step::Key(key), Self::Map(map)) => {
                let Some(at) = map.iter().rposition(|(name, _)| name == key) else { return false };
                if rest.is_empty() {
                    map.remove(at);
                    return true;
                }
                map[at].1.remove(rest)
            }
            (Step::Index(index), Self::List(list)) if *index < list.len() => {
                if rest.is_empty() {
                    list.remove(*index);
                    return true;
                }
                list[*index].remove(rest)
            }
            _ => false,
        }
    }
}

impl Model {
    /// Without maps that hold nothing: some formats cannot tell them from none.
    pub(super) fn without_hollows(self) -> Self {
        match self {
            Self::Map(map) => {
                let map = map.into_iter().map(|(key, value)| (key, value.without_hollows()));
                Self::Map(map.filter(|(_, value)| *value != Self::Map(Vec::new())).collect())
            }
            other => other,
        }
    }
}

pub(super) fn wrong_kind(path: &[Step]) -> Doubt {
    Doubt::general(format!("{} cannot be changed: what is there is of another kind", shown(path)))
}

/// Equal for every reader: the order of keys means nothing, a number may be written in several ways.
pub(super) fn same(a: &Model, b: &Model) -> bool {
    match (a, b) {
        (Model::Map(a), Model::Map(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.iter().any(|(name, other)| name == key && same(value, other)))
        }
        (Model::List(a), Model::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Model::Number(a), Model::Number(b)) => a == b || a.parse::<f64>().ok() == b.parse().ok() && a.len() < 16,
        _ => a == b,
    }
}
