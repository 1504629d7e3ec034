//! Protocol v1 of lazyagents plugins, message by message, in the order and with the names of the seed's tables.
//! Plain data; reading and writing of lines is in `decode` and `encode`. Hosts and plugins use it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the protocol, sent in `init` and in `LAZYAGENTS_PROTOCOL`.
pub const PROTOCOL: u32 = 1;

/// What the host tells a plugin (seed, "Host -> plugin").
///
/// Fields that are empty are left out of the line, but `code`, `agents` and the mouse's `x` and `y` (clause W2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum HostMessage {
    /// The first line after the start.
    Init(Init),
    /// The usable area of the tab changed.
    Resize {
        /// Columns of the tab's body.
        width: u16,
        /// Rows of the tab's body.
        height: u16,
    },
    /// A key press, only while the tab is active.
    Key {
        /// The Bubble Tea name: `a`, `enter`, `space`, `esc`, `ctrl+x`, `shift+tab`.
        key: String,
        /// What was typed; empty for keys that type nothing.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    /// Pasted text, untouched.
    Paste {
        /// The text; a long one comes in several messages.
        #[serde(default)]
        text: String,
    },
    /// A click or a turn of the wheel inside the tab's body.
    Mouse {
        /// What happened, and where.
        mouse: Mouse,
    },
    /// The user picked `<id> <name>` in the palette.
    Command {
        /// The command's name, without the id.
        name: String,
    },
    /// `:reload`, or the reload key.
    Reload,
    /// All agents that the host knows, after detection and again after a restart.
    Agents {
        /// Installed or not, in a fixed order.
        agents: Vec<Agent>,
    },
    /// A requested command finished.
    ExecResult(ExecResult),
}

/// The fields of `init`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Init {
    /// Always [`PROTOCOL`].
    pub protocol: u32,
    /// The plugin's id: the file name without its extension.
    #[serde(default)]
    pub id: String,
    /// The user's home folder.
    #[serde(default)]
    pub home: String,
    /// Where `config.yaml` and `plugins/` are.
    #[serde(default)]
    pub config_dir: String,
    /// Where lazyagents keeps its data.
    #[serde(default)]
    pub data_dir: String,
    /// Where the library of skills is.
    #[serde(default)]
    pub library_dir: String,
    /// The active theme.
    #[serde(default)]
    pub theme: Theme,
    /// The `<id>:` section of `config.yaml`; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<serde_json::Value>,
    /// Columns of the tab's body.
    #[serde(default)]
    pub width: u16,
    /// Rows of the tab's body.
    #[serde(default)]
    pub height: u16,
}

/// The active theme.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Theme {
    /// Its name.
    #[serde(default)]
    pub id: String,
    /// Tokens (`Primary`) and roles (`ui.accent`) to `#rrggbb` (clause T1).
    #[serde(default)]
    pub colors: BTreeMap<String, String>,
}

/// Where and what the mouse did, relative to the tab's body, from 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mouse {
    /// What happened.
    pub kind: MouseKind,
    /// Column.
    #[serde(default)]
    pub x: u16,
    /// Row.
    #[serde(default)]
    pub y: u16,
    /// `left`, `middle`, `right`, `wheelup`, ... with `ctrl+` and the like in front.
    #[serde(default)]
    pub button: String,
}

/// The two kinds of mouse events in v1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MouseKind {
    /// The wheel was turned.
    Wheel,
    /// A button was pressed.
    Click,
}

/// A coding agent on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// A stable name, such as `claude-code`.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// Its program is there, or its config folder.
    pub installed: bool,
    /// The number alone; absent when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The folder in which skills are enabled; absent when the agent has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed_dir: Option<String>,
    /// Every folder it reads skills from, `managedDir` among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_dirs: Vec<String>,
}

/// How a requested command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecResult {
    /// The number that the plugin chose; left out when 0 (clause E1).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub exec_id: i64,
    /// The exit code; -1 when it could not start or a signal ended it (clause E3).
    #[serde(default)]
    pub code: i32,
    /// The first part of its output; only when it was not interactive.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// The first part of its errors; only when it was not interactive.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// Why it could not run; empty when it ran, whatever its code.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// What a plugin tells the host (seed, "Plugin -> host").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PluginMessage {
    /// The first line, within 3 s of `init`.
    Manifest(Manifest),
    /// The whole state of the tab; the last one wins.
    Frame(Frame),
    /// Asks the host to run a command.
    Exec(Exec),
}

/// What a plugin says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// The tab's title, up to 40 characters.
    #[serde(default)]
    pub title: String,
    /// Shown by `?`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<HelpGroup>,
    /// Shown in the palette as `<id> <name>`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
    /// `<bin> doctor` is to be run by `lazyagents doctor`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub doctor: bool,
}

/// A group of keys in the help.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HelpGroup {
    /// Its heading.
    #[serde(default)]
    pub title: String,
    /// Pairs of key and description.
    #[serde(default)]
    pub keys: Vec<Vec<String>>,
}

/// A command of the palette.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Command {
    /// `^[a-z0-9][a-z0-9_-]*$`.
    #[serde(default)]
    pub name: String,
    /// A few words.
    #[serde(default)]
    pub desc: String,
}

impl Command {
    /// True when `name` may stand in the palette (seed, `manifest`).
    pub fn is_name(name: &str) -> bool {
        let first = name.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        first && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
    }
}

/// The whole state of the tab. A missing field is its default, never "unchanged" (clause F1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// Text with `\n`; SGR is kept.
    #[serde(default)]
    pub view: String,
    /// The number on the tab; absent hides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
    /// The host's global keys go to the plugin.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub capturing: bool,
}

/// A command that the host is asked to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Exec {
    /// Chosen by the plugin, echoed in the result.
    #[serde(default)]
    pub exec_id: i64,
    /// Program and arguments.
    #[serde(default)]
    pub argv: Vec<String>,
    /// Working folder; empty is the host's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub dir: String,
    /// The process gets the terminal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interactive: bool,
}

/// The JSON Schema of one direction: `host` or `plugin`.
pub fn schema(direction: &str) -> Option<serde_json::Value> {
    let schema = match direction {
        "host" => schemars::schema_for!(HostMessage),
        "plugin" => schemars::schema_for!(PluginMessage),
        _ => return None,
    };
    Some(schema.to_value())
}
