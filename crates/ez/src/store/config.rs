//! `config.toml`: the person's own file. It is read into defaults, never written unless a command changes something, and
//! then only that key changes: comments, order and unknown keys stay. `store` holds it, every room reads it.

use std::collections::BTreeMap;

use sys::edit::{self, Change, Format, Step};
use sys::files::{self, Mode};
use sys::{Failure, Paths};
use toml::{Table, Value};

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

/// Settings that take one of a few words.
pub const CLOSED: [(&str, &[&str]); 3] = [
    ("default_sort", &["lru", "alpha"]),
    ("selector.backend", &["fzf", "builtin"]),
    ("delete_branch", &["merged", ""]),
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
    pub fn update_config(&self, mut change: impl FnMut(&mut Draft) -> Result<(), Failure>) -> Result<bool, Failure> {
        let path = self.config_file();
        let failed = || Failure::new(format!("could not understand {}", path.display()));
        files::update(&path, Mode::Normal, |old| {
            let old = old.unwrap_or_default();
            let text = std::str::from_utf8(old).map_err(|error| failed().cause(error))?;
            let mut draft = Draft { text: text.to_owned(), path: path.clone() };
            change(&mut draft)?;
            Config::read(&draft.text)?;
            Ok((draft.text != text).then(|| draft.text.into_bytes()))
        })
    }
}

/// `config.toml` while it is changed.
#[derive(Debug)]
pub struct Draft {
    text: String,
    path: std::path::PathBuf,
}

impl Draft {
    /// Sets `key` (dotted for one inside a section).
    ///
    /// # Errors
    /// When a part of the way is no table, or the text is not understood without doubt.
    pub fn set(&mut self, key: &str, value: impl Into<serde_json::Value>) -> Result<(), Failure> {
        self.apply(&[Change::Set { at: way(key), value: value.into() }])
    }

    /// Sets `key` to what `raw` is in TOML.
    ///
    /// # Errors
    /// When it is none; as [`Draft::set`].
    pub fn write(&mut self, key: &str, raw: &str) -> Result<(), Failure> {
        self.apply(&[Change::Write { at: way(key), raw: raw.to_owned() }])
    }

    /// The texts of the list `key` are as `change` leaves them; comments between those that stay do, too.
    ///
    /// # Errors
    /// When it is something else than a list of texts; as [`Draft::set`].
    pub fn list(&mut self, key: &str, change: impl FnOnce(&mut Vec<String>)) -> Result<(), Failure> {
        let table: Table = self.text.parse().map_err(|error: toml::de::Error| Failure::new(error.message()))?;
        let mut parts = key.split('.');
        let mut found = parts.next().and_then(|part| table.get(part));
        for part in parts {
            found = found.and_then(|value| value.get(part));
        }
        let no_list = || Failure::new(format!("`{key}` in {} is no list of texts", self.path.display()));
        let old: Vec<String> = match found {
            None => Vec::new(),
            Some(Value::Array(list)) => {
                let texts = list.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(no_list));
                texts.collect::<Result<_, _>>()?
            }
            Some(_) => return Err(no_list()),
        };
        let mut new = old.clone();
        change(&mut new);
        let gone = (0..old.len()).rev().filter(|at| !new.contains(&old[*at]));
        let at = |index: usize| way(key).into_iter().chain([Step::Index(index)]).collect();
        let mut changes: Vec<_> = gone.map(|index| Change::Remove { at: at(index), hollow: None }).collect();
        let kept: Vec<&String> = old.iter().filter(|text| new.contains(text)).collect();
        if new.iter().take(kept.len()).eq(kept.iter().copied()) {
            let added = new.iter().skip(kept.len());
            changes.extend(added.map(|text| Change::Append { at: way(key), value: text.as_str().into() }));
        } else {
            changes = vec![Change::Set { at: way(key), value: new.into() }];
        }
        self.apply(&changes)
    }

    fn apply(&mut self, changes: &[Change]) -> Result<(), Failure> {
        let edited = edit::apply(Format::Toml, &self.text, changes);
        let failed = || Failure::new(format!("could not change {}", self.path.display()));
        self.text =
            edited.map_err(|doubt| failed().cause(doubt).hint("`ez config edit` opens it in your editor"))?.text;
        Ok(())
    }
}

fn way(key: &str) -> Vec<Step> {
    key.split('.').map(Step::from).collect()
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
        let text = "# mine\nplugin_timeout = 3 # fast\nzzz = { a = 1 }\n\n[plugins] # here\nenabled = [\n  \"a\", # of a\n  \"b\",\n] # list\n";
        let mut draft = Draft { text: text.to_owned(), path: "config.toml".into() };
        draft.set("plugin_timeout", 5).unwrap();
        draft.list("plugins.enabled", |list| list.push("c".into())).unwrap();
        draft.list("plugins.enabled", |list| list.retain(|name| name != "b")).unwrap();
        draft.set("fzf.height", "50%").unwrap();
        let new = text.replace("= 3", "= 5").replace("\"b\"", "\"c\"");
        assert_eq!(draft.text, format!("{new}\n[fzf]\nheight = \"50%\"\n"));
        let config = Config::read(&draft.text).unwrap();
        assert_eq!((config.plugin_timeout, config.enabled.len()), (5, 2));
        assert!(draft.list("plugin_timeout", |_| {}).is_err());
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2000))]

        #[test]
        fn any_text_is_a_configuration_or_a_reason(
            text in proptest::prelude::prop_oneof!["\\PC*", "(?s)((plugins|selector|fzf|keybinds|on_enter|\\[|\\]|=|\"|\n|[0-9a-z. ]){0,4}\n?){0,8}"],
            name in "\\PC{0,8}",
        ) {
            if Config::read(&text).is_err() {
                return Ok(());
            }
            // What could be read can be changed, or is refused; and reads the same but for that.
            let mut draft = Draft { text: text.clone(), path: "config.toml".into() };
            if draft.list("workspace_roots", |roots| roots.push(name.clone())).is_ok() {
                let (before, after) = (Config::read(&text).unwrap(), Config::read(&draft.text).unwrap());
                proptest::prop_assert_eq!(after.workspace_roots.last(), Some(&name));
                proptest::prop_assert_eq!(Config { workspace_roots: before.workspace_roots.clone(), ..after }, before);
            }
        }
    }

    #[test]
    fn a_wrong_type_names_its_key() {
        assert!(Config::read("on_enter = 3").unwrap_err().to_string().contains("on_enter"));
        assert!(Config::read("plugin_timeout = -1").unwrap_err().to_string().contains("plugin_timeout"));
    }
}
