//! What is known of the hooks of agents: which events each one has, where and in which shape it keeps the commands, and
//! which are there now. It never writes: `manage::hooks` plans with it. Adapters fill it in, one `hooks.rs` each.

mod read;
mod rules;
mod sample;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use sys::edit;

use crate::adapter::Places;

pub use crate::jsonc::parse;
pub(crate) use read::{file, value};
pub use read::{kin, words};
pub use rules::{Event, Landing, Miss, Rules, Shape, Unit, Verdict};
pub use sample::sample;

/// The largest settings file that is looked into, bytes: what `sys::edit` edits.
pub const LARGEST: u64 = edit::LONGEST as u64;

/// How an agent runs commands of the person on events of its own.
pub trait Hooks: Sync {
    /// What never changes about it.
    fn rules(&self) -> &'static Rules;
    /// The file that we write into. It need not be there.
    fn file(&self, places: &Places) -> PathBuf;
    /// What is in its files now, [`Hooks::file`] first. Reads only.
    fn look(&self, places: &Places) -> Vec<Look>;
}

/// One file with hooks, as it is now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// The file.
    pub path: PathBuf,
    /// It is there.
    pub exists: bool,
    /// Why nothing in it could be read; in words, with line and column where there is one.
    pub unreadable: Option<String>,
    /// What is odd in it, for people: shapes that the agent does not take, events that it does not know.
    pub oddities: Vec<String>,
    /// Why the agent runs none of them, where it says so (`disableAllHooks`).
    pub off: Option<String>,
    /// What is in it, in its order.
    pub entries: Vec<Entry>,
}

/// One element of an event's list: a group of commands, or a command of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The event, as written.
    pub event: String,
    /// The agent has an event of that name.
    pub known: bool,
    /// The way to it in its file: `hooks`, the event, the position.
    pub at: edit::Path,
    /// How it is written.
    pub shape: Shape,
    /// When it fires, as written; `None` for always.
    pub matcher: Option<String>,
    /// As it is written.
    pub value: Value,
    /// The [`fingerprint`] of that.
    pub print: String,
    /// What it runs.
    pub commands: Vec<Command>,
}

impl Entry {
    /// What tells it from others of its event, whatever the order of its keys.
    pub fn fingerprint(&self) -> &str {
        &self.print
    }
}

/// One command of an [`Entry`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// What is run; of another type of hook (a prompt, a URL) its type and what tells it apart.
    pub command: String,
    /// It is a command, and not something else that the agent does.
    pub runs: bool,
    /// Seconds; `None` when none is set.
    pub timeout: Option<f64>,
    /// The agent goes on without waiting for it.
    pub is_async: bool,
    /// Whether the agent was told to trust it; `None` when the agent asks for no trust.
    pub trust: Option<Trust>,
}

/// Whether an agent runs a hook at all: consent that the person gives to the agent and that nobody else can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Reviewed as it is; it runs.
    Trusted,
    /// Reviewed, and changed since; it does not run.
    Modified,
    /// Never reviewed; it does not run.
    Untrusted,
    /// Switched off in the agent itself; it does not run.
    Off,
}

impl Trust {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Modified => "changed since it was trusted: does not run",
            Self::Untrusted => "not trusted yet: does not run",
            Self::Off => "switched off in the agent",
        }
    }
}

/// A SHA-256 of a value whatever the order of its keys, in hex: what we remember of what we wrote.
pub fn fingerprint(value: &Value) -> String {
    sha256(canonical(value).as_bytes())
}

/// SHA-256 in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compact JSON with sorted keys, nothing escaped that need not be.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.iter().collect();
            keys.sort_by_key(|(key, _)| *key);
            let parts: Vec<_> = keys
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::String(key.clone()), canonical(value)))
                .collect();
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(",")),
        other => other.to_string(),
    }
}

/// The way to an event's list.
pub fn list_of(event: &str) -> edit::Path {
    sys::path!["hooks", event]
}

/// Looks at one JSON file of the usual shape.
pub(crate) fn look(path: &Path, rules: &Rules) -> Look {
    file(path, rules, &[])
}
