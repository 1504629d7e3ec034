//! An answer as a plugin prints it (plugin-guide.md, "Response"): for the JSON Schema, and for authors of plugins in
//! Rust. What ez makes of it is [`super::Response`].

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// One JSON object on stdout. All but `success` may be left out or null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Printed {
    /// False is a failure, with or without `error`.
    pub success: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Changes of the session; what is left out stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_mutations: Option<PrintedSession>,
    /// Changes of the repository; what is left out stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_mutations: Option<PrintedRepo>,
    /// Run inside ez, at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell_commands: Option<Vec<String>>,
    /// Run in the person's shell after ez has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_shell_commands: Option<Vec<String>>,
    /// Where the shell goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cd_target: Option<String>,
    /// The items of a view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_items: Option<Vec<PrintedItem>>,
    /// The view's prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_prompt: Option<String>,
    /// The view's preview command, with fzf's placeholders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_preview_cmd: Option<String>,
    /// The name for a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_name: Option<String>,
}

/// `session_mutations`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PrintedSession {
    /// The session's folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Variables, key by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, Option<String>>>,
    /// State, key by key; one map that all plugins share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_state: Option<Map<String, Value>>,
}

/// `repo_mutations`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PrintedRepo {
    /// The plugin's state in this repository, key by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_state: Option<Map<String, Value>>,
}

/// One row of a view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrintedItem {
    /// What is shown.
    pub display: String,
    /// What comes back.
    pub value: String,
}

#[cfg(test)]
mod tests {
    use super::super::Response;
    use super::*;

    #[test]
    fn what_is_printed_with_the_type_is_read_as_meant() {
        let printed = Printed {
            success: true,
            session_mutations: Some(PrintedSession { path: Some("/a".into()), ..PrintedSession::default() }),
            shell_commands: Some(vec!["true".into()]),
            view_items: Some(vec![PrintedItem { display: "d".into(), value: "v".into() }]),
            ..Printed::default()
        };
        let read = Response::read(serde_json::to_string(&printed).unwrap().as_bytes()).unwrap();
        assert_eq!(
            (read.session.path.as_deref(), read.shell_commands.len(), read.view_items.len()),
            (Some("/a"), 1, 1)
        );
    }
}
