//! Keys of the pickers: the core ones under `[keybinds]`, those of plugins, and who wins. A core key wins in the pickers
//! that use it; between plugins the one enabled first. A name that fzf does not know is left out, and of two core actions
//! with one key the first has it. Pickers ask for their keys, `config set` and `doctor` for what is wrong with them.

use std::collections::BTreeMap;

use wire::hook::{Bind, View};

use super::fzf::{ALONE, BESIDE};
use super::keyname;
use crate::context::Context;
use crate::hooks::{Plugin, plugins};
use crate::model::name::quoted;
use crate::store::KEYS;

/// The keys that switch views, in every picker.
pub const VIEWS: [&str; 5] = ["view_tree", "view_workspace", "view_repo", "view_owner", "view_label"];

/// Every picker that has keys.
const PICKERS: [&str; 7] = ["session", "repo", "workspace", "tree", "owner", "label", "plugin"];

/// The core actions of each context, beside the views; what is used most comes first, in the help too.
pub fn actions(context: &str) -> &'static [&'static str] {
    match context {
        "session" => &[
            "new_session",
            "delete_session",
            "rename_session",
            "edit_labels",
            "cd_session",
            "new_bare_session",
            "session_from_dirty",
            "sort_toggle",
            "note_open",
            "note_cd",
        ],
        "repo" => &["edit_labels", "remove_repo", "sort_toggle"],
        "workspace" => &["clone_repo"],
        "tree" => &["new_session", "delete_session", "rename_session", "edit_labels"],
        _ => &[],
    }
}

/// What the help says of a core action.
fn words(action: &str) -> &str {
    match action {
        "new_session" => "new",
        "new_bare_session" => "new bare",
        "session_from_dirty" => "from dirty",
        "delete_session" => "delete",
        "rename_session" => "rename",
        "edit_labels" => "labels",
        "cd_session" => "cd",
        "sort_toggle" => "sort",
        "note_open" => "note",
        "note_cd" => "cd note",
        "remove_repo" => "remove",
        "clone_repo" => "clone here",
        other => other.strip_prefix("view_").unwrap_or(other),
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

/// The core actions of a picker with the keys that they have there: its own first, then the views.
fn core(context: &Context, picker: &str) -> Vec<(String, &'static str)> {
    let mut taken = Vec::new();
    let mut keys = Vec::new();
    for &action in actions(picker).iter().chain(&VIEWS) {
        let key = context.config.key(action);
        if let Some(same) = keyname::parse(key).filter(|same| !taken.contains(same)) {
            taken.push(same);
            keys.push((key.to_owned(), action));
        }
    }
    keys
}

/// The core action that a pressed key means in a picker.
pub fn action(context: &Context, picker: &str, key: &str) -> Option<&'static str> {
    core(context, picker).into_iter().find(|(own, _)| own == key).map(|(_, action)| action)
}

/// The keys that end a picker, for fzf.
pub fn expected(context: &Context, picker: &str, plugins: &[Key]) -> Vec<String> {
    let core = core(context, picker).into_iter().map(|(key, _)| key);
    core.chain(plugins.iter().map(|key| key.key.clone())).collect()
}

/// The plugin keys that are active in a picker, and the losers in words. In a plugin's view all views are.
pub fn of_plugins(context: &Context, picker: &str) -> (Vec<Key>, Vec<String>) {
    let core: Vec<String> = core(context, picker).iter().filter_map(|(key, _)| keyname::parse(key)).collect();
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
            let Some(same) = keyname::parse(&key) else {
                lost.push(format!("plugin '{}': the key {} is none that fzf knows", plugin.name, quoted(&key)));
                continue;
            };
            if core.contains(&same) {
                lost.push(format!(
                    "plugin '{}': the key {key} conflicts with core keybind, skipping ({picker})",
                    plugin.name
                ));
            } else if let Some(other) = keys.iter().find(|other| keyname::parse(&other.key).as_ref() == Some(&same)) {
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

/// What is wrong with the core keys: names that fzf does not know, actions that do not exist, one key twice in a picker.
pub fn wrong(keybinds: &BTreeMap<String, String>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (action, key) in keybinds {
        if !KEYS.iter().any(|(known, _)| known == action) {
            wrong.push(format!("keybinds.{} is no action of ez", sys::text::clean(action)));
        } else if !key.is_empty() && keyname::parse(key).is_none() {
            wrong.push(format!("keybinds.{action} is {}, a key that fzf does not know; it is left out", quoted(key)));
        }
    }
    let mut told: Vec<(&str, &str)> = Vec::new();
    for picker in PICKERS {
        let all: Vec<(&str, String)> = actions(picker)
            .iter()
            .chain(&VIEWS)
            .filter_map(|&action| Some((action, keyname::parse(keybinds.get(action)?)?)))
            .collect();
        for (at, (action, key)) in all.iter().enumerate() {
            let Some((first, _)) = all.iter().take(at).find(|(_, other)| other == key) else { continue };
            if !told.contains(&(first, action)) {
                told.push((first, action));
                wrong.push(format!(
                    "keybinds.{action} and keybinds.{first} are both {}, which is {first} in the picker '{picker}'",
                    quoted(&keybinds[*action])
                ));
            }
        }
    }
    wrong
}

/// Why `action` cannot have `key`: what [`wrong`] says of it then and does not say now.
pub fn refused(context: &Context, action: &str, key: &str) -> Option<String> {
    let mut keybinds = context.config.keybinds.clone();
    let before = wrong(&keybinds);
    keybinds.insert(action.to_owned(), key.to_owned());
    // What stands there already may be set again only when it is right.
    wrong(&keybinds).into_iter().find(|text| !before.contains(text) || text.contains(&format!("keybinds.{action} ")))
}

/// Every key of a picker with its help, in whole words where there is room.
pub fn help(context: &Context, picker: &str, plugins: &[Key], whole: bool) -> Vec<String> {
    let core = core(context, picker);
    let (views, own): (Vec<_>, Vec<_>) = core.iter().partition(|(_, action)| VIEWS.contains(action));
    let line = |(key, action): &&(String, &'static str)| {
        let words = if whole { action.replace('_', " ") } else { words(action).to_owned() };
        format!("{} {words}", sys::text::clean(key))
    };
    let plugins = plugins.iter().map(|key| format!("{} {}", sys::text::clean(&key.key), sys::text::clean(key.label())));
    own.iter().map(line).chain(plugins).chain(views.iter().map(line)).collect()
}

/// Help in lines of at most `width` cells, a gap between keys and none cut.
pub fn lines(help: &[String], gap: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for help in help {
        match lines.last_mut() {
            Some(line) if sys::text::width(line) + sys::text::width(gap) + sys::text::width(help) <= width => {
                line.push_str(gap);
                line.push_str(help);
            }
            _ => lines.push(help.clone()),
        }
    }
    lines
}

/// Keys and their help, as a picker's header: as many as three lines hold at 80 columns, none cut. The preview has all.
pub fn header(context: &Context, picker: &str, plugins: &[Key], preview: bool) -> String {
    let width = if preview { BESIDE } else { ALONE };
    let mut help = help(context, picker, plugins, false);
    help.retain(|help| sys::text::width(help) <= width);
    let mut lines = lines(&help, " · ", width);
    lines.truncate(3);
    lines.join("\n")
}
