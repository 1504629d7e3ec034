//! What was written into agents' settings: a fingerprint of each value, never the value, and what takes it back. The file is
//! for its owner only, since what stood there before may be a token of theirs.

use std::path::{Path, PathBuf};

use agents::provider::Spot;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sys::Failure;
use sys::edit::{Change, Format, Step};
use sys::files::journal::sha256;
use sys::files::{Mode, read_bounded};
use sys::path;

use crate::plan::Act;

/// The longest file of this kind that is read, bytes.
const MAX: usize = 8 << 20;

/// The file `provider-applied.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Applied {
    /// Goes into each fingerprint, so that equal values of two people differ.
    #[serde(default)]
    salt: String,
    /// By the agent's id.
    #[serde(default)]
    agents: serde_json::Map<String, Value>,
    /// There was no salt: this one is to be written.
    #[serde(skip)]
    fresh: bool,
}

/// What was written into one agent's settings.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Of {
    profile: String,
    values: Vec<Record>,
}

/// One value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The file.
    pub file: PathBuf,
    /// What it is written in.
    pub format: Format,
    /// Where in it.
    pub at: Vec<Step>,
    /// The salt, a colon, and the SHA-256 of salt and value.
    pub fingerprint: String,
    /// What takes it back.
    pub undo: Vec<Change>,
    /// There was no such file: it goes when nothing is left in it.
    #[serde(default)]
    pub made: bool,
}

impl Applied {
    /// Reads the file; a missing one is an empty one.
    ///
    /// # Errors
    /// When it cannot be read or is not understood: nothing is taken for ours then, and nothing may be written.
    pub fn load(path: &Path) -> Result<Self, Failure> {
        let fresh = || {
            let now = sys::clock::wall().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            let salt = sha256(format!("{} {} {:?}", now.as_nanos(), std::process::id(), path).as_bytes());
            Self { salt: salt[..16].to_owned(), agents: serde_json::Map::new(), fresh: true }
        };
        let Some(bytes) = read_bounded(path, MAX)?.filter(|bytes| !bytes.trim_ascii().is_empty()) else {
            return Ok(fresh());
        };
        let applied: Self = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::new(format!("could not read {}", path.display()))
                .cause(error)
                .hint("it tells which values in agents' settings are ours; move it away, and they count as your own")
        })?;
        Ok(if applied.salt.is_empty() { fresh() } else { applied })
    }

    fn of(&self, agent: &str) -> Option<Of> {
        serde_json::from_value(self.agents.get(agent)?.clone()).ok()
    }

    /// What was written into an agent's settings, in that order.
    pub fn records(&self, agent: &str) -> Vec<Record> {
        self.of(agent).map(|of| of.values).unwrap_or_default()
    }

    /// The profile that was applied last.
    pub fn profile(&self, agent: &str) -> Option<String> {
        self.of(agent).map(|of| of.profile)
    }

    fn print(&self, value: &Value) -> String {
        fingerprint(&self.salt, value)
    }

    /// Writes the salt down, when it is new.
    pub(super) fn salted(&self, path: &Path) -> Option<Act> {
        let change = Change::Set { at: path!["salt"], value: self.salt.as_str().into() };
        self.fresh.then(|| edit(path, change))
    }

    /// Remembers what is written into an agent's settings.
    pub(super) fn set(&self, path: &Path, agent: &str, profile: &str, values: Vec<Record>) -> Act {
        let of = Of { profile: profile.to_owned(), values };
        let value = serde_json::to_value(of).unwrap_or_default();
        edit(path, Change::Set { at: path!["agents", agent], value })
    }

    /// Forgets an agent.
    pub(super) fn forget(&self, path: &Path, agent: &str) -> Act {
        edit(path, Change::Remove { at: path!["agents", agent], hollow: None })
    }
}

fn edit(path: &Path, change: Change) -> Act {
    Act::Edit { path: path.to_path_buf(), format: Format::Json, changes: vec![change], mode: Mode::Private }
}

fn fingerprint(salt: &str, value: &Value) -> String {
    format!("{salt}:{}", sha256(format!("{salt}{}", ordered(value)).as_bytes()))
}

/// The value with its keys in order: a file that was rewritten by its owner says the same.
fn ordered(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut map: serde_json::Map<String, Value> =
                map.iter().map(|(key, value)| (key.clone(), ordered(value))).collect();
            map.sort_keys();
            Value::Object(map)
        }
        Value::Array(list) => Value::Array(list.iter().map(ordered).collect()),
        other => other.clone(),
    }
}

impl Record {
    pub(super) fn new(applied: &Applied, spot: &Spot, undo: Vec<Change>, made: bool) -> Self {
        Self {
            file: spot.path.clone(),
            format: spot.format,
            at: spot.at.clone(),
            fingerprint: applied.print(&spot.value),
            undo,
            made,
        }
    }

    /// True when `value` is what we wrote.
    pub fn is(&self, value: &Value) -> bool {
        let salt = self.fingerprint.split(':').next().unwrap_or_default();
        self.fingerprint == fingerprint(salt, value)
    }

    pub(super) fn is_at(&self, spot: &Spot) -> bool {
        self.file == spot.path && self.at == spot.at
    }
}
