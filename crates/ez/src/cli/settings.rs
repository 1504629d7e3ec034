//! The settings of `config.toml` in one table: key, kind, default, what it does. `config get|set|show`, completions and
//! the reference page go by it; a test holds it and `store::config` together.

use serde_json::{Value, json};

use crate::store::Config;

/// One setting.
pub(super) struct Setting {
    /// Its key, dotted for one inside a section.
    pub(super) key: &'static str,
    /// What stands there.
    pub(super) kind: Kind,
    /// What it does, for the reference page.
    pub(super) does: &'static str,
    /// What counts now.
    pub(super) value: fn(&Config) -> Value,
}

/// What stands at a key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Seconds,
    Flag,
    /// Changed by other commands, or in the editor.
    List,
}

impl Kind {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Seconds => "whole number of seconds",
            Self::Flag => "true or false",
            Self::List => "list",
        }
    }
}

const fn setting(key: &'static str, kind: Kind, does: &'static str, value: fn(&Config) -> Value) -> Setting {
    Setting { key, kind, does, value }
}

/// Every setting beside `keybinds.*` and `plugin_settings.*`.
pub(super) const SETTINGS: [Setting; 18] = [
    setting(
        "workspace_roots",
        Kind::List,
        "folders that hold repositories; `~/` is the home folder. `ez config add-root`",
        |c| json!(c.workspace_roots),
    ),
    setting(
        "default_select_by",
        Kind::Text,
        "the view that the browser begins with: `tree`, `workspace`, `repo`, `owner`, `label`, or a plugin's",
        |c| json!(c.default_select_by),
    ),
    setting("on_enter", Kind::Text, "what entering a session does: `cd`, or the name, label or plugin of a key", |c| {
        json!(c.on_enter)
    }),
    setting("on_create", Kind::Text, "what follows making a session: `none`, `cd`, or such a key", |c| {
        json!(c.on_create)
    }),
    setting(
        "delete_branch",
        Kind::Text,
        "`merged`: deleting a session deletes its branch too, when nothing is lost with it",
        |c| json!(c.delete_branch),
    ),
    setting("default_sort", Kind::Text, "`lru` (last used first) or `alpha`", |c| json!(c.default_sort)),
    setting(
        "name_builder_modes",
        Kind::List,
        "ways to build a name: `full_name`, `build_from_parts`, `github_pr` (also `git_hub_pr`), `jira_url`",
        |c| json!(c.name_builder_modes),
    ),
    setting(
        "session_name_stages",
        Kind::List,
        "`[[session_name_stages]]` with `name`, `kind` (`choice` or `text`) and `choices`: the parts of a name",
        stages,
    ),
    setting("editor", Kind::Text, "for `config edit` and notes; else `$VISUAL`, `$EDITOR`, `vi`", |c| json!(c.editor)),
    setting("note_open_command", Kind::Text, "opens a note; `$EDITOR` is the editor above", |c| {
        json!(c.note_open_command)
    }),
    setting("default_shell", Kind::Text, "kept for other installations; not used", |c| json!(c.default_shell)),
    setting("plugin_timeout", Kind::Seconds, "after which a plugin and all its processes are stopped", |c| {
        json!(c.plugin_timeout)
    }),
    setting(
        "plugins.enabled",
        Kind::List,
        "the plugins that are on, in the order they are asked. `ez plugin enable`",
        |c| json!(c.enabled),
    ),
    setting("plugins.plugin_dir", Kind::Text, "the plugins' folder; else `plugins` beside this file", |c| {
        json!(c.plugin_dir)
    }),
    setting("selector.backend", Kind::Text, "`fzf`, or `builtin` to ask in plain lines", |c| json!(c.selector.backend)),
    setting("fzf.height", Kind::Text, "fzf's `--height`", |c| json!(c.selector.height)),
    setting("fzf.extra_opts", Kind::Text, "more options for fzf's lists, split at blanks", |c| {
        json!(c.selector.extra_opts.join(" "))
    }),
    setting(
        "copy_cursor_conversations",
        Kind::Flag,
        "kept for plugins that read this file; ez does not use it",
        |_| Value::Null,
    ),
];

fn stages(config: &Config) -> Value {
    let kind = |kind| if kind == crate::store::StageKind::Text { "text" } else { "choice" };
    let stage =
        |stage: &crate::store::Stage| json!({"name": stage.name, "kind": kind(stage.kind), "choices": stage.choices});
    config.session_name_stages.iter().map(stage).collect()
}

/// The setting of this key.
pub(super) fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Every key that `config get` knows, those of `keybinds` included.
pub(super) fn keys(config: &Config) -> Vec<String> {
    let binds = config.keybinds.keys().map(|action| format!("keybinds.{action}"));
    SETTINGS.iter().map(|setting| setting.key.to_owned()).chain(binds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_set_is_what_counts() {
        for setting in SETTINGS.iter().filter(|setting| setting.kind == Kind::Text) {
            let (section, name) = setting.key.split_once('.').unwrap_or(("", setting.key));
            let head = if section.is_empty() { String::new() } else { format!("[{section}]\n") };
            let config = Config::read(&format!("{head}{name} = \"zzz\"\n")).unwrap();
            assert_eq!((setting.value)(&config), json!("zzz"), "{}", setting.key);
        }
    }
}
