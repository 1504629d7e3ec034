//! Changes to the text of other programs' settings that leave every other byte as it is. Pure: old text in, new text
//! out, verified by reading the result again; whatever is in doubt is refused with its place. It never touches a file
//! (`files` does) and knows no program's keys. `manage` and the programs' own settings call it.

mod env;
mod json;
mod model;
#[cfg(test)]
mod tests;
mod toml;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest text that is edited, bytes: a settings file beyond it is something else (report A17).
pub const LONGEST: usize = 16 * 1024 * 1024;

/// What the text is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Format {
    /// JSON, with comments and trailing commas where the text has some: agents read both, and a file without
    /// comments stays without.
    Json,
    /// TOML.
    Toml,
    /// Lines of `KEY=value`: a `.env` file. Paths have one key, values are texts.
    Env,
}

/// One step from a value to a value in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Step {
    /// The value of this key.
    Key(String),
    /// The element at this position, from 0.
    Index(usize),
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// The way from the root to a value. `path!["env", "BASE_URL"]` writes one down.
pub type Path = Vec<Step>;

/// A [`Path`] of keys and positions.
#[macro_export]
macro_rules! path {
    ($($step:expr),* $(,)?) => { vec![$($crate::edit::Step::from($step)),*] };
}

/// One change. Changes are applied in order, each to what the one before left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// The value at `at` becomes `value`; maps on the way are made where they are missing. An equal value stays as it
    /// is written. A position must be there already.
    Set {
        /// Where.
        at: Path,
        /// The new value.
        value: Value,
    },
    /// As [`Change::Set`], with the value as it is to be written: what an undo brings back.
    Write {
        /// Where.
        at: Path,
        /// The value in the text's own format.
        raw: String,
    },
    /// `value` comes behind the last element of the list at `at`, which is made where it is missing.
    Append {
        /// Where the list is.
        at: Path,
        /// The new element.
        value: Value,
    },
    /// The value at `at` goes, with its key. One that is not there is fine.
    Remove {
        /// Where.
        at: Path,
        /// How the map or list is written when nothing is left in it; bare brackets without.
        hollow: Option<String>,
    },
    /// As [`Change::Remove`] for a value that was put where maps had to be made for it: those go with it, as far as
    /// nothing else has come into them since.
    Withdraw {
        /// Where.
        at: Path,
        /// How many maps and lists above it were made, at most as many as `at` has steps before the last.
        made: usize,
        /// As in [`Change::Remove`], of what holds the outermost of them.
        hollow: Option<String>,
    },
}

impl Change {
    /// Where it changes something.
    pub fn at(&self) -> &[Step] {
        match self {
            Self::Set { at, .. }
            | Self::Write { at, .. }
            | Self::Append { at, .. }
            | Self::Remove { at, .. }
            | Self::Withdraw { at, .. } => at,
        }
    }
}

/// A text after its changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new text; equal to the old one when nothing had to change.
    pub text: String,
    /// The changes that take it back, in their order: applied to [`Edited::text`] they give the old text byte for
    /// byte unless a value was removed (then the same values, maybe elsewhere in their map). They still do their part
    /// when the rest of the text has changed since.
    pub undo: Vec<Change>,
}

/// Why a text was not edited. Nothing has been changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Line and column, both from 1, the column in characters; `None` when it is no place in the text.
    pub place: Option<(usize, usize)>,
    /// What is wrong, without the place.
    pub why: String,
}

impl Doubt {
    fn at(text: &str, byte: usize, why: impl Into<String>) -> Self {
        let before = &text[..text.floor_char_boundary(byte.min(text.len()))];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        Self { place: Some((line, column)), why: why.into() }
    }

    fn general(why: impl Into<String>) -> Self {
        Self { place: None, why: why.into() }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some((line, column)) => write!(f, "line {line}, column {column}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for Doubt {}

/// `text` with `changes` made to it.
///
/// # Errors
/// When the text is not understood without doubt (a key twice on the way, a syntax that readers differ about, a value
/// of another kind where a map is needed), when it is longer than [`LONGEST`], and when reading the result again would
/// show any other difference than the one asked for.
pub fn apply(format: Format, text: &str, changes: &[Change]) -> Result<Edited, Doubt> {
    if text.len() > LONGEST {
        return Err(Doubt::general(format!("it has {} bytes; more than {LONGEST} are not edited", text.len())));
    }
    let (mark, mut text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest.to_owned()),
        None => ("", text.to_owned()),
    };
    let mut undo = Vec::new();
    for change in changes {
        let plain = withdrawal(format, &text, change)?;
        let change = plain.as_ref().unwrap_or(change);
        let done = match format {
            Format::Json => json::apply(&text, change)?,
            Format::Toml => toml::apply(&text, change)?,
            Format::Env => env::apply(&text, change)?,
        };
        text = done.text;
        undo.splice(0..0, done.undo);
    }
    Ok(Edited { text: format!("{mark}{text}"), undo })
}

/// What takes back the first element of a list that was made for it.
fn first_of_list(undo: Vec<Change>) -> Vec<Change> {
    let first = |change| match change {
        Change::Remove { mut at, hollow } => {
            at.push(Step::Index(0));
            Change::Withdraw { at, made: 1, hollow }
        }
        Change::Withdraw { mut at, made, hollow } => {
            at.push(Step::Index(0));
            Change::Withdraw { at, made: made + 1, hollow }
        }
        other => other,
    };
    undo.into_iter().map(first).collect()
}

/// A [`Change::Withdraw`] as the removal that it means in this text; `None` for any other change.
fn withdrawal(format: Format, text: &str, change: &Change) -> Result<Option<Change>, Doubt> {
    let Change::Withdraw { at, made, hollow } = change else { return Ok(None) };
    let model = model_of(format, text)?;
    let outermost = at.len().saturating_sub(*made).max(1);
    let whole = (outermost..at.len())
        .find(|depth| model.get(&at[..*depth]).is_some_and(|value| value.holds_only(&at[*depth..])))
        .unwrap_or(at.len());
    let hollow = hollow.clone().filter(|_| whole == outermost);
    Ok(Some(Change::Remove { at: at[..whole].to_vec(), hollow }))
}

fn model_of(format: Format, text: &str) -> Result<model::Model, Doubt> {
    match format {
        Format::Json => json::model_of(text),
        Format::Toml => toml::model_of(text),
        Format::Env => env::model(text),
    }
}

/// The values of a text, for those who look before they change; the last one of doubles counts. A number keeps its value,
/// not its way of writing. An empty text is an empty map.
///
/// # Errors
/// When the text is not understood, with its place.
pub fn values(format: Format, text: &str) -> Result<Value, Doubt> {
    if text.len() > LONGEST {
        return Err(Doubt::general(format!("it has {} bytes; more than {LONGEST} are not read", text.len())));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    model_of(format, text).map(model::Model::into_value)
}

/// The value at `at` of what [`values`] gives.
pub fn value_at<'v>(values: &'v Value, at: &[Step]) -> Option<&'v Value> {
    at.iter().try_fold(values, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(index) => value.get(index),
    })
}

/// `path` for people: `env.BASE_URL`, `hooks[0]`.
pub fn shown(path: &[Step]) -> String {
    let mut words = String::new();
    for step in path {
        match step {
            Step::Key(key) if words.is_empty() => words.push_str(key),
            Step::Key(key) => {
                words.push('.');
                words.push_str(key);
            }
            Step::Index(index) => words.push_str(&format!("[{index}]")),
        }
    }
    if words.is_empty() { "the whole file".to_owned() } else { words }
}
