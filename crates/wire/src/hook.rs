//! The hook protocol of `ez` (plugin-guide.md): which hooks there are, what a request holds, what of a response
//! counts, what an error does. It does no I/O and runs nothing. The runner, `plugin check`, the docs and a test are
//! all driven by the one [`TABLE`]; authors of plugins in Rust may use the types.

mod manifest;
mod printed;
mod response;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub use manifest::{Bind, CONTEXTS, Manifest, Setting, View};
pub use printed::{Printed, PrintedItem, PrintedRepo, PrintedSession};
pub use response::{Response, SessionPatch, Unusable, ViewItem};

/// A moment at which plugins are asked (plugin-guide.md, "Available Hooks", and `on_bind`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the row of the table says when each fires")]
pub enum Hook {
    OnSessionCreate,
    OnSessionDelete,
    OnSessionEnter,
    OnSessionExit,
    OnSessionRename,
    OnSessionSync,
    OnRepoClone,
    OnRepoRemove,
    OnPluginInit,
    OnPluginDeinit,
    OnView,
    OnViewSelect,
    OnNameResolve,
    OnBind,
}

/// What a plugin's failure does to the operation (plugin-guide.md, "Error Handling"; ez.md, "Limits and failures").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// The operation is stopped and undone.
    Abort,
    /// The person is warned, the other plugins still run.
    Warn,
    /// The message is shown and the picker comes back.
    Show,
    /// The candidate name is used.
    Fallback,
}

/// A context or part of a request beyond `hook`, `repo` and `config`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as the request's keys")]
pub enum Part {
    Session,
    ViewContext,
    BindContext,
    NameResolveContext,
    RenameContext,
}

/// A field of a response beyond `success` and `error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as the response's keys")]
pub enum Field {
    SessionMutations,
    RepoMutations,
    ShellCommands,
    PostShellCommands,
    CdTarget,
    View,
    ResolvedName,
}

/// One row of the [`TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The hook.
    pub hook: Hook,
    /// Its name on the wire.
    pub name: &'static str,
    /// When it fires.
    pub when: &'static str,
    /// It has a real repository; otherwise the dummy of view hooks is sent.
    pub repo: bool,
    /// What the request holds.
    pub request: &'static [Part],
    /// What of a response counts.
    pub response: &'static [Field],
    /// What an error does.
    pub on_error: OnError,
}

const WITH_SESSION: &[Field] =
    &[Field::SessionMutations, Field::RepoMutations, Field::ShellCommands, Field::PostShellCommands, Field::CdTarget];
const WITH_REPO: &[Field] = &[Field::RepoMutations, Field::ShellCommands, Field::PostShellCommands, Field::CdTarget];
const WITHOUT: &[Field] = &[Field::ShellCommands, Field::PostShellCommands, Field::CdTarget];
const OF_VIEW: &[Field] = &[Field::View, Field::ShellCommands];

/// THE table: hook, request fields, response fields that count, error policy.
pub const TABLE: [Row; 14] = {
    const fn row(
        hook: Hook,
        name: &'static str,
        when: &'static str,
        repo: bool,
        request: &'static [Part],
        response: &'static [Field],
        on_error: OnError,
    ) -> Row {
        Row { hook, name, when, repo, request, response, on_error }
    }
    use Hook as H;
    use OnError::{Abort, Fallback, Show, Warn};
    const SESSION: &[Part] = &[Part::Session];
    [
        row(
            H::OnSessionCreate,
            "on_session_create",
            "after the session's metadata is created",
            true,
            SESSION,
            WITH_SESSION,
            Abort,
        ),
        row(
            H::OnSessionDelete,
            "on_session_delete",
            "before the session's metadata is removed",
            true,
            SESSION,
            WITH_SESSION,
            Abort,
        ),
        row(H::OnSessionEnter, "on_session_enter", "a session is entered", true, SESSION, WITH_SESSION, Warn),
        row(H::OnSessionExit, "on_session_exit", "a session is left", true, SESSION, WITH_SESSION, Warn),
        row(
            H::OnSessionRename,
            "on_session_rename",
            "after a session got another name",
            true,
            &[Part::Session, Part::RenameContext],
            WITH_SESSION,
            Warn,
        ),
        row(H::OnSessionSync, "on_session_sync", "a sync is asked for", true, SESSION, WITH_SESSION, Warn),
        row(
            H::OnRepoClone,
            "on_repo_clone",
            "after a repository was cloned and registered",
            true,
            &[],
            WITH_REPO,
            Warn,
        ),
        row(H::OnRepoRemove, "on_repo_remove", "before a repository is unregistered", true, &[], WITH_REPO, Abort),
        row(H::OnPluginInit, "on_plugin_init", "the plugin is enabled", false, &[], WITHOUT, Abort),
        row(H::OnPluginDeinit, "on_plugin_deinit", "the plugin is disabled", false, &[], WITHOUT, Warn),
        row(H::OnView, "on_view", "the plugin's view is opened", false, &[Part::ViewContext], OF_VIEW, Show),
        row(
            H::OnViewSelect,
            "on_view_select",
            "an item of the plugin's view is chosen",
            false,
            &[Part::ViewContext],
            WITHOUT,
            Show,
        ),
        row(
            H::OnNameResolve,
            "on_name_resolve",
            "the name builder wants a name for a URL",
            true,
            &[Part::NameResolveContext],
            &[Field::RepoMutations, Field::ShellCommands, Field::ResolvedName],
            Fallback,
        ),
        row(
            H::OnBind,
            "on_bind",
            "a key of the plugin is pressed on an item",
            true,
            &[Part::Session, Part::BindContext],
            WITH_SESSION,
            Show,
        ),
    ]
};

impl Hook {
    /// Its row of the [`TABLE`].
    pub fn row(self) -> &'static Row {
        // The table is in the order of the enum, which a test holds.
        &TABLE[self as usize]
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The hook of this name; `None` for one of a newer ez.
    pub fn parse(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.hook)
    }

    /// True when this field of a response counts for this hook.
    pub fn takes(self, field: Field) -> bool {
        self.row().response.contains(&field)
    }
}

/// What a plugin reads on stdin: one line of JSON. `session` and the contexts are explicit nulls where they do not
/// apply (plugin-guide.md, "Request").
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Request {
    /// The hook's name.
    pub hook: &'static str,
    /// The repository; a dummy for hooks without one.
    pub repo: Repo,
    /// The session, null for repository and view hooks.
    pub session: Option<Session>,
    /// The plugin's own state and settings.
    pub config: Config,
    /// For `on_view` and `on_view_select`.
    pub view_context: Option<ViewContext>,
    /// For `on_bind`.
    pub bind_context: Option<BindContext>,
    /// For `on_name_resolve`.
    pub name_resolve_context: Option<NameResolveContext>,
    /// For `on_session_rename`.
    pub rename_context: Option<RenameContext>,
}

/// The repository of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Repo {
    /// Its id.
    pub id: String,
    /// Its folder.
    pub path: String,
    /// The URL of `origin`.
    pub remote_url: Option<String>,
    /// The branch new work starts from.
    pub default_branch: Option<String>,
    /// False for a plain folder.
    pub is_git: bool,
}

impl Default for Repo {
    /// The dummy of hooks without a repository (ez-behaviour.md 4): `path` stays a string, since plugins run
    /// `basename` on it.
    fn default() -> Self {
        Self { id: String::new(), path: String::new(), remote_url: None, default_branch: None, is_git: true }
    }
}

/// The session of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Session {
    /// A UUID.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The parent's id.
    pub parent_id: Option<String>,
    /// The parent's name (git-worktree starts a branch from it).
    pub parent_name: Option<String>,
    /// The parent is the repository's default session.
    pub parent_is_default: Option<bool>,
    /// Its folder, once a plugin has set one.
    pub path: Option<String>,
    /// Its variables.
    pub env: BTreeMap<String, String>,
    /// What plugins keep about it: one map that all of them share.
    pub plugin_state: Map<String, Value>,
    /// It is the repository's own folder.
    pub is_default: bool,
    /// The commit or ref to start from; only present when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_point: Option<String>,
}

/// What belongs to the plugin itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Config {
    /// The plugin's state in this repository.
    pub plugin_state: Map<String, Value>,
    /// `[plugin_settings.<plugin>]` over the defaults of its `config_schema`.
    pub user_config: Map<String, Value>,
}

/// Which view, and what was chosen in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ViewContext {
    /// The name in the manifest.
    pub view_name: String,
    /// The chosen item's value, in `on_view_select`.
    pub selected_value: Option<String>,
    /// The chosen item's text, in `on_view_select`.
    pub selected_display: Option<String>,
}

/// Which key, and on what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BindContext {
    /// The bind's name in the manifest.
    pub name: String,
    /// Its key.
    pub key: String,
    /// The picker: session, repo, owner, workspace, tree or label.
    pub view: String,
    /// The item's value.
    pub selected_value: Option<String>,
    /// The item's text.
    pub selected_display: Option<String>,
}

/// The URL that a name is wanted for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NameResolveContext {
    /// As it was typed.
    pub raw_url: String,
    /// What is used when nobody knows better.
    pub candidate_name: String,
}

/// What changed with a rename.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RenameContext {
    /// The name before.
    pub old_name: String,
    /// The name now.
    pub new_name: String,
    /// The folder before.
    pub old_path: Option<String>,
    /// The folder now.
    pub new_path: Option<String>,
}

impl Request {
    /// A request of `hook` with nothing in it yet.
    pub fn new(hook: Hook) -> Self {
        Self {
            hook: hook.name(),
            repo: Repo::default(),
            session: None,
            config: Config::default(),
            view_context: None,
            bind_context: None,
            name_resolve_context: None,
            rename_context: None,
        }
    }

    /// The line that goes to the plugin, with its line end.
    pub fn line(&self) -> String {
        // Maps with text keys always have a JSON form; a failure would be a bug, and an empty request a broken plugin.
        let mut line = serde_json::to_string(self).unwrap_or_else(|_| "{}".to_owned());
        line.push('\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum_and_names_round_trip() {
        for (at, row) in TABLE.iter().enumerate() {
            assert_eq!(row.hook as usize, at);
            assert_eq!(Hook::parse(row.name), Some(row.hook));
            assert_eq!(serde_json::to_value(row.hook).unwrap(), row.name);
        }
        assert_eq!(Hook::parse("on_something_new"), None);
    }

    #[test]
    fn what_does_not_apply_is_an_explicit_null() {
        let value: Value = serde_json::from_str(&Request::new(Hook::OnView).line()).unwrap();
        for key in ["session", "view_context", "bind_context", "name_resolve_context", "rename_context"] {
            assert_eq!(value.get(key), Some(&Value::Null), "{key}");
        }
        assert_eq!(value["repo"]["path"], "");
        let session = serde_json::to_value(Session::default()).unwrap();
        assert!(session.get("start_point").is_none() && session["parent_id"].is_null());
    }

    #[test]
    fn session_fields_count_wherever_there_is_a_session() {
        for row in TABLE {
            let session = row.request.contains(&Part::Session);
            assert_eq!(row.response.contains(&Field::SessionMutations), session, "{}", row.name);
            assert!(!row.response.contains(&Field::RepoMutations) || row.repo, "{}", row.name);
        }
    }
}
