//! `manifest.toml` of a plugin as a type (plugin-guide.md, "manifest.toml"). It reads leniently: an unknown hook or
//! key is a newer ez's business and passes. It neither reads files nor knows TOML; `ez` hands it a deserializer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Hook;

/// The pickers a view or bind may appear in, in the guide's order.
pub const CONTEXTS: [&str; 6] = ["session", "repo", "owner", "workspace", "tree", "label"];

/// What a plugin says about itself.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct Manifest {
    /// For people; the identity is the folder's name.
    pub name: String,
    /// Its version, any text.
    #[serde(default)]
    pub version: String,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// The hooks it wants, as written: names that this version does not know stay.
    #[serde(default)]
    pub hooks: Vec<String>,
    /// The file to run, in the plugin's folder.
    pub executable: String,
    /// It may set a session's folder: runs before those that do not.
    #[serde(default)]
    pub mutates_session_path: bool,
    /// Higher runs earlier.
    #[serde(default)]
    pub priority: i64,
    /// Views it adds to the browser.
    #[serde(default)]
    pub views: Vec<View>,
    /// Keys it adds to pickers.
    #[serde(default)]
    pub binds: Vec<Bind>,
    /// Settings that a person may make.
    #[serde(default)]
    pub config_schema: Vec<Setting>,
}

/// A view of a plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct View {
    /// Its name, also for `--select-by`.
    pub name: String,
    /// The key that opens it.
    pub key: String,
    /// What the key's help says.
    #[serde(default)]
    pub label: String,
    /// The pickers in which the key is active; all when left out.
    #[serde(default = "everywhere")]
    pub contexts: Vec<String>,
}

/// A key of a plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bind {
    /// The key.
    pub key: String,
    /// Its name, told in `bind_context`.
    pub name: String,
    /// What the key's help says.
    #[serde(default)]
    pub label: String,
    /// The pickers in which it is active.
    pub contexts: Vec<String>,
    /// More words.
    #[serde(default)]
    pub description: Option<String>,
}

/// One setting of `[[config_schema]]`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Setting {
    /// The key in `[plugin_settings.<plugin>]`.
    pub name: String,
    /// bool, string, integer, float or array; `ez config set` refuses another type. Any other word takes anything.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Sent when the person has not set it.
    #[serde(default)]
    pub default: Option<serde_json::Value>,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
}

fn everywhere() -> Vec<String> {
    CONTEXTS.iter().map(|&context| context.to_owned()).collect()
}

impl Manifest {
    /// True when the plugin asks for `hook`.
    pub fn handles(&self, hook: Hook) -> bool {
        self.hooks.iter().any(|name| name == hook.name())
    }

    /// Hooks that this version does not know.
    pub fn unknown_hooks(&self) -> impl Iterator<Item = &str> {
        self.hooks.iter().map(String::as_str).filter(|name| Hook::parse(name).is_none())
    }
}
