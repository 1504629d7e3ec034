//! `config.toml`: the person's own file. It is read into defaults, never written unless a command changes something, and
//! then only that key changes: comments, order and unknown keys stay. `store` holds it, every room reads it.

use std::collections::BTreeMap;

use sys::files::{self, Mode};
use sys::{Failure, Paths};
use toml::{Table, Value};
use toml_edit::DocumentMut;

use super::Store;
use super::fields::Fields;

/// One step of "build from parts".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What is asked for.
    pub name: String,
    /// From a list or typed.
    pub kind: StageKind,
    /// The list.
    pub choices: Vec<String>,
}

/// How a stage is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageKind {
    /// From a list; other text may be typed.
    Choice,
    /// Typed.
    Text,
}

/// `[selector]` and `[fzf]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// `fzf` or `builtin`.
    pub backend: String,
    /// fzf's `--height`.
    pub height: String,
    /// Split at blanks and added to list pickers.
    pub extra_opts: Vec<String>,
}

/// The configuration; what the file does not say has its default (ez-behaviour.md, 1).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "named as the keys of the file")]
pub struct Config {
    pub workspace_roots: Vec<String>,
    pub default_shell: Option<String>,
    pub editor: Option<String>,
    pub plugin_timeout: u64,
    pub default_select_by: String,
    pub name_builder_modes: Vec<String>,
    pub session_name_stages: Vec<Stage>,
    pub on_enter: String,
    pub on_create: String,
    pub default_sort: String,
    pub note_open_command: String,
    pub delete_branch: Option<String>,
    pub selector: Selector,
    pub keybinds: BTreeMap<String, String>,
    pub enabled: Vec<String>,
    pub plugin_dir: Option<String>,
    pub plugin_settings: Table,
}

/// Core keys and their defaults (ez-behaviour.md, 6).
pub const KEYS: [(&str, &str); 17] = [
    ("view_tree", "ctrl-t"),
    ("view_workspace", "ctrl-w"),
    ("view_repo", "ctrl-e"),
    ("view_owner", "ctrl-o"),
    ("view_label", "ctrl-g"),
    ("new_session", "alt-n"),
    ("new_bare_session", "alt-N"),
    ("delete_session", "alt-d"),
    ("rename_session", "alt-r"),
    ("edit_labels", "alt-l"),
    ("cd_session", "ctrl-d"),
    ("sort_toggle", "ctrl-s"),
    ("session_from_dirty", "alt-s"),
    ("clone_repo", "alt-a"),
    ("remove_repo", "alt-d"),
    ("note_open", "alt-i"),
    ("note_cd", "alt-I"),
];

fn owned(items: &[&str]) -> Vec<String> {
    items.iter().map(|&item| item.to_owned()).collect()
}

impl Default for Config {
    fn default() -> Self {
        let stage = |name: &str, kind, choices: &[&str]| Stage { name: name.to_owned(), kind, choices: owned(choices) };
        Self {
            workspace_roots: Vec::new(),
            default_shell: None,
            editor: None,
            plugin_timeout: 30,
            default_select_by: "workspace".to_owned(),
            name_builder_modes: owned(&["full_name", "build_from_parts", "git_hub_pr", "jira_url"]),
            session_name_stages: vec![
                stage("prefix", StageKind::Choice, &["feat", "fix", "chore"]),
                stage("ticket-prefix", StageKind::Choice, &[]),
                stage("ticket-number", StageKind::Text, &[]),
            ],
            on_enter: "cd".to_owned(),
            on_create: "none".to_owned(),
            default_sort: "lru".to_owned(),
            note_open_command: "$EDITOR".to_owned(),
            delete_branch: None,
            selector: Selector { backend: "fzf".to_owned(), height: "100%".to_owned(), extra_opts: Vec::new() },
            keybinds: KEYS.iter().map(|(name, key)| ((*name).to_owned(), (*key).to_owned())).collect(),
            enabled: Vec::new(),
            plugin_dir: None,
            plugin_settings: Table::new(),
        }
    }
}

impl Config {
    /// Reads the file's text over the defaults.
    ///
    /// # Errors
    /// When it is no TOML, or a key that this version knows has another type; the failure names the place.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let table: Table = toml::from_str(text).map_err(|e| Failure::new(e.to_string().trim_end().to_owned()))?;
        let mut file = Fields { table };
        let mut config = Self::default();
        let mut set = |name: &str, to: &mut String| -> Result<(), Failure> {
            if let Some(text) = file.text(name)? {
                *to = text;
            }
            Ok(())
        };
        set("default_select_by", &mut config.default_select_by)?;
        set("on_enter", &mut config.on_enter)?;
        set("on_create", &mut config.on_create)?;
        set("default_sort", &mut config.default_sort)?;
        set("note_open_command", &mut config.note_open_command)?;
        config.default_shell = file.text("default_shell")?;
        config.editor = file.text("editor")?;
        config.delete_branch = file.text("delete_branch")?;
        config.workspace_roots = file.texts("workspace_roots")?;
        if let Some(value) = file.table.remove("plugin_timeout") {
            config.plugin_timeout = value
                .as_integer()
                .and_then(|seconds| u64::try_from(seconds).ok())
                .ok_or_else(|| Failure::new("`plugin_timeout` must be a whole number of seconds"))?;
        }
        if file.table.contains_key("name_builder_modes") {
            config.name_builder_modes = file.texts("name_builder_modes")?;
        }
        if file.table.contains_key("session_name_stages") {
            config.session_name_stages =
                file.blocks("session_name_stages")?.into_iter().map(stage).collect::<Result<_, _>>()?;
        }
        config.sections(&mut file)?;
        Ok(config)
    }

    fn sections(&mut self, file: &mut Fields) -> Result<(), Failure> {
        let mut selector = Fields { table: file.table("selector")? };
        if let Some(backend) = selector.text("backend")? {
            self.selector.backend = backend;
        }
        let mut fzf = Fields { table: file.table("fzf")? };
        if let Some(height) = fzf.text("height")? {
            self.selector.height = height;
        }
        if let Some(options) = fzf.text("extra_opts")? {
            self.selector.extra_opts = options.split_whitespace().map(str::to_owned).collect();
        }
        self.keybinds.extend(file.env("keybinds")?);
        let mut plugins = Fields { table: file.table("plugins")? };
        self.enabled = plugins.texts("enabled")?;
        self.plugin_dir = plugins.text("plugin_dir")?;
        self.plugin_settings = file.table("plugin_settings")?;
        Ok(())
    }

    /// The configured key of a core action.
    pub fn key(&self, action: &str) -> &str {
        self.keybinds.get(action).map_or("", String::as_str)
    }

    /// The roots as folders.
    pub fn roots(&self, paths: &Paths) -> Vec<std::path::PathBuf> {
        self.workspace_roots.iter().map(|root| paths.expand(root)).collect()
    }
}

fn stage(mut block: Fields) -> Result<Stage, Failure> {
    let kind = match block.text("kind")?.as_deref() {
        None | Some("choice") => StageKind::Choice,
        Some("text") => StageKind::Text,
        Some(other) => return Err(Failure::new(format!("a stage's kind is choice or text, not {other}"))),
    };
    Ok(Stage { name: block.needed("name")?, kind, choices: block.texts("choices")? })
}

impl Store {
    /// The configuration; the defaults when there is no file.
    ///
    /// # Errors
    /// When the file cannot be read or understood; the failure names it and the place.
    pub fn config(&self) -> Result<Config, Failure> {
        let path = self.config_file();
        let Some(bytes) = files::read_bounded(&path, super::MAX)? else { return Ok(Config::default()) };
        let failed = |why: &dyn std::fmt::Display| {
            Failure::new(format!("could not understand {}", path.display()))
                .cause(why)
                .hint("`ez config edit` opens it in your editor")
        };
        let text = std::str::from_utf8(&bytes).map_err(|error| failed(&error))?;
        Config::read(text).map_err(|error| failed(&error))
    }

    /// Changes `config.toml` under its lock; what `change` does not touch stays byte for byte.
    ///
    /// # Errors
    /// Those of `change`, of reading and of writing; also when the result could not be read again.
    pub fn update_config(
        &self,
        mut change: impl FnMut(&mut DocumentMut) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let path = self.config_file();
        files::update(&path, Mode::Normal, |old| {
            let text = std::str::from_utf8(old.unwrap_or_default())
                .map_err(|error| Failure::new(format!("could not understand {}", path.display())).cause(error))?;
            let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
                Failure::new(format!("could not understand {}", path.display())).cause(error.to_string().trim_end())
            })?;
            change(&mut document)?;
            let new = document.to_string();
            Config::read(&new)?;
            Ok((new != text).then(|| new.into_bytes()))
        })
    }
}

/// Sets `key` (dotted for one inside a section), keeping the comment behind an old value.
///
/// # Errors
/// When a part of the way is no table.
pub fn set(document: &mut DocumentMut, key: &str, value: impl Into<toml_edit::Value>) -> Result<(), Failure> {
    let mut value = value.into();
    let mut parts: Vec<&str> = key.split('.').collect();
    let last = parts.pop().unwrap_or_default();
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for part in parts {
        let item = table.entry(part).or_insert_with(|| {
            let mut made = toml_edit::Table::new();
            made.set_implicit(true);
            toml_edit::Item::Table(made)
        });
        table = item.as_table_like_mut().ok_or_else(|| Failure::new(format!("`{part}` is no table in config.toml")))?;
    }
    match table.get_mut(last).and_then(toml_edit::Item::as_value_mut) {
        Some(old) => {
            // The decor holds what stands around the value: blanks and the comment behind it.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            table.insert(last, toml_edit::Item::Value(value));
        }
    }
    Ok(())
}

/// The texts of the list `key` in `section` (`None`: at the top), changed and written back.
///
/// # Errors
/// When it is something else than a list of texts.
pub fn edit_list(document: &mut DocumentMut, key: &str, change: impl FnOnce(&mut Vec<String>)) -> Result<(), Failure> {
    let mut old = Vec::new();
    let mut item = Some(document.as_item());
    for part in key.split('.') {
        item = item.and_then(|item| item.get(part));
    }
    if let Some(item) = item {
        let list = item.as_array().ok_or_else(|| Failure::new(format!("`{key}` is no list in config.toml")))?;
        old.extend(list.iter().filter_map(toml_edit::Value::as_str).map(str::to_owned));
    }
    let mut new = old.clone();
    change(&mut new);
    if new == old && item.is_some() {
        return Ok(());
    }
    set(document, key, new.iter().map(String::as_str).collect::<toml_edit::Array>())
}

/// A setting for people: texts without quotes, lists one a line.
pub fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join("\n"),
        other => super::emit::value(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_unknown_keys_survive_a_change() {
        let text = "# mine\nplugin_timeout = 3 # fast\nzzz = { a = 1 }\n\n[plugins] # here\nenabled = [\"a\"] # list\n";
        let mut document: DocumentMut = text.parse().unwrap();
        set(&mut document, "plugin_timeout", 5).unwrap();
        edit_list(&mut document, "plugins.enabled", |list| list.push("b".into())).unwrap();
        set(&mut document, "fzf.height", "50%").unwrap();
        let new = document.to_string();
        assert!(new.starts_with("# mine\nplugin_timeout = 5 # fast\nzzz = { a = 1 }\n\n[plugins] # here\n"), "{new}");
        assert!(new.contains("enabled = [\"a\", \"b\"] # list\n\n[fzf]\nheight = \"50%\""), "{new}");
        let config = Config::read(&new).unwrap();
        assert_eq!((config.plugin_timeout, config.enabled.len()), (5, 2));
    }

    #[test]
    fn a_wrong_type_names_its_key() {
        assert!(Config::read("on_enter = 3").unwrap_err().to_string().contains("on_enter"));
        assert!(Config::read("plugin_timeout = -1").unwrap_err().to_string().contains("plugin_timeout"));
    }
}
