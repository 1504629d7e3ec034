//! Changes to the text of other programs' settings that leave every other byte as it is. Pure: old text in, new text
//! out, verified by reading the result again; whatever is in doubt is refused with its place. It never touches a file
//! (`files` does) and knows no program's keys. `manage` and the programs' own settings call it.

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
        let done = match format {
            Format::Json => json::apply(&text, change)?,
            Format::Toml => toml::apply(&text, change)?,
        };
        text = done.text;
        undo.splice(0..0, done.undo);
    }
    Ok(Edited { text: format!("{mark}{text}"), undo })
}

/// `path` for people: `env.BASE_URL`, `hooks[0]`.
fn shown(path: &[Step]) -> String {
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
