//! Keys of the pickers: the core ones under `[keybinds]`, those of plugins, and who wins. A core key wins in the pickers
//! that use it; between plugins the one enabled first. Pickers ask for their keys, `doctor` for the losers.

use wire::hook::{Bind, View};

use crate::context::Context;
use crate::hooks::{Plugin, plugins};

/// The keys that switch views, in every picker.
pub const VIEWS: [&str; 5] = ["view_tree", "view_workspace", "view_repo", "view_owner", "view_label"];

/// The core actions of each context, beside the views.
pub fn actions(context: &str) -> &'static [&'static str] {
    match context {
        "session" => &[
            "new_session",
            "new_bare_session",
            "session_from_dirty",
            "delete_session",
            "rename_session",
            "edit_labels",
            "cd_session",
            "sort_toggle",
            "note_open",
            "note_cd",
        ],
        "repo" => &["edit_labels", "remove_repo", "sort_toggle"],
        "workspace" => &["clone_repo"],
        _ => &[],
    }
}

/// What a plugin's key does.
#[derive(Clone, Debug)]
pub enum Does {
    /// Opens a view.
    View(View),
    /// Acts on the chosen row.
    Bind(Bind),
}

/// A key of a plugin.
#[derive(Clone, Debug)]
pub struct Key {
    /// The key.
    pub key: String,
    /// Whose.
    pub plugin: Plugin,
    /// What it does.
    pub does: Does,
}

impl Key {
    /// What the help says.
    pub fn label(&self) -> &str {
        let (label, name) = match &self.does {
            Does::View(view) => (&view.label, &view.name),
            Does::Bind(bind) => (&bind.label, &bind.name),
        };
        if label.is_empty() { name } else { label }
    }
}

fn core(context: &Context, picker: &str) -> Vec<String> {
    VIEWS.iter().chain(actions(picker)).map(|action| context.config.key(action).to_owned()).collect()
}

/// The plugin keys that are active in a picker, and the losers in words. In a plugin's view all views are.
pub fn of_plugins(context: &Context, picker: &str) -> (Vec<Key>, Vec<String>) {
    let core = core(context, picker);
    let (mut keys, mut lost): (Vec<Key>, Vec<String>) = (Vec::new(), Vec::new());
    for plugin in plugins::usable(context) {
        let here = |contexts: &[String]| contexts.iter().any(|context| context == picker);
        let views = plugin.manifest.views.iter().filter(|view| picker == "plugin" || here(&view.contexts));
        let binds = plugin.manifest.binds.iter().filter(|bind| here(&bind.contexts));
        let all = views.cloned().map(Does::View).chain(binds.cloned().map(Does::Bind));
        for does in all.collect::<Vec<_>>() {
            let key = match &does {
                Does::View(view) => view.key.clone(),
                Does::Bind(bind) => bind.key.clone(),
            };
            if key.is_empty() || key.contains([',', ' ']) {
                lost.push(format!("plugin '{}': the key '{key}' is no key", plugin.name));
            } else if core.contains(&key) {
                lost.push(format!(
                    "plugin '{}': the key {key} conflicts with core keybind, skipping ({picker})",
                    plugin.name
                ));
            } else if let Some(other) = keys.iter().find(|other| other.key == key) {
                lost.push(format!(
                    "plugin '{}': the key {key} is taken by plugin '{}' ({picker})",
                    plugin.name, other.plugin.name
                ));
            } else {
                keys.push(Key { key, plugin: plugin.clone(), does });
            }
        }
    }
    for text in &lost {
        context.debug(text);
    }
    (keys, lost)
}

/// Every key that a plugin asked for and does not get.
pub fn conflicts(context: &Context) -> Vec<String> {
    wire::hook::CONTEXTS.iter().flat_map(|picker| of_plugins(context, picker).1).collect()
}

/// Keys and their help, as a picker's header.
pub fn header(core: &[(String, &str)], plugins: &[Key]) -> String {
    let core = core.iter().map(|(key, what)| format!("{key} {what}"));
    let plugins = plugins.iter().map(|key| format!("{} {}", key.key, sys::text::clean(key.label())));
    core.chain(plugins).collect::<Vec<_>>().join(" · ")
}
