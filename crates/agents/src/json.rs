//! The rows of `lazyagents agents --json`, exactly as in json.md. Types only: it prints nothing and knows no
//! agent. `cli` of lazyagents serialises them, and its schema comes from them.

use std::path::Path;

use serde::Serialize;

use crate::adapter::Capability;
use crate::detect::Detected;

/// One agent. What is not known is null, never "" or left out; paths that are not UTF-8 carry U+FFFD.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct AgentRow {
    /// The agent's id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Its program was found or its config folder exists.
    pub installed: bool,
    /// The version number alone.
    pub version: Option<String>,
    /// Its program as it was found.
    pub binary: Option<String>,
    /// Its settings folder, overrides obeyed, whether it exists or not.
    pub config_dir: Option<String>,
    /// Where skills are enabled for it.
    pub managed_dir: Option<String>,
    /// Every user-level skill folder that it reads.
    pub read_dirs: Vec<String>,
    /// What can be done with it beyond detection.
    pub can: Vec<Capability>,
    /// False when no real program or file of it was seen by us.
    pub tried: bool,
}

impl From<&Detected> for AgentRow {
    fn from(agent: &Detected) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Self {
            id: agent.id.to_owned(),
            name: agent.name.to_owned(),
            installed: agent.installed,
            version: agent.version.clone(),
            binary: agent.binary.as_deref().map(text),
            config_dir: agent.config_dir.as_deref().map(text),
            managed_dir: agent.managed_dir.as_deref().map(text),
            read_dirs: agent.read_dirs.iter().map(|dir| text(dir)).collect(),
            can: agent.can.to_vec(),
            tried: agent.tried,
        }
    }
}

/// The whole answer, in the fixed order.
pub fn rows(agents: &[Detected]) -> Vec<AgentRow> {
    agents.iter().map(AgentRow::from).collect()
}
