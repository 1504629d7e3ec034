//! A request as the bundled plugins read it, and the answer they give. Reading is lenient the way a third party's
//! plugin is (absent and null are the same, unknown fields are nobody's business), because any `ez` that speaks the
//! contract may be asking. The types of the contract itself are in `wire::hook`; these three plugins do not share them,
//! so that a fault there shows here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use sys::Failure;

/// One request.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) hook: String,
    pub(crate) repo: Repo,
    pub(crate) session: Option<Session>,
    pub(crate) settings: Map<String, Value>,
    /// `view_context.selected_value`.
    pub(crate) selected: Option<String>,
    pub(crate) rename: Option<Rename>,
}

/// `repo`.
#[derive(Debug, Default)]
pub(crate) struct Repo {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    pub(crate) remote_url: Option<String>,
    pub(crate) is_git: bool,
}

/// `session`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) parent_name: Option<String>,
    pub(crate) parent_is_default: bool,
    pub(crate) path: Option<PathBuf>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) state: Map<String, Value>,
    pub(crate) is_default: bool,
    pub(crate) bare: bool,
    pub(crate) start_point: Option<String>,
}

/// `rename_context`.
#[derive(Debug, Default)]
pub(crate) struct Rename {
    pub(crate) old_name: String,
    pub(crate) new_name: String,
    pub(crate) old_path: Option<PathBuf>,
    pub(crate) new_path: Option<PathBuf>,
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn flag(value: &Value, key: &str) -> Option<bool> {
    value.get(key).and_then(Value::as_bool)
}

impl Session {
    /// A session of a request or of `session list --json`.
    pub(crate) fn of(value: &Value) -> Self {
        let env = value.get("env").and_then(Value::as_object);
        let env = env.into_iter().flatten().filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        Self {
            id: text(value, "id").unwrap_or_default(),
            name: text(value, "name").unwrap_or_default(),
            parent_name: text(value, "parent_name"),
            parent_is_default: flag(value, "parent_is_default").unwrap_or(false),
            path: text(value, "path").map(PathBuf::from),
            env: env.collect(),
            state: value.get("plugin_state").and_then(Value::as_object).cloned().unwrap_or_default(),
            is_default: flag(value, "is_default").unwrap_or(false),
            bare: flag(value, "bare").unwrap_or(false),
            start_point: text(value, "start_point"),
        }
    }

    /// A text of the session's plugin_state.
    pub(crate) fn noted(&self, key: &str) -> Option<&str> {
        self.state.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
}

impl Request {
    /// Reads one request.
    pub(crate) fn parse(line: &str) -> Result<Self, Failure> {
        let value: Value =
            serde_json::from_str(line).map_err(|error| Failure::new("could not read the request").cause(error))?;
        let Some(hook) = text(&value, "hook") else {
            return Err(Failure::new("could not read the request").cause("it names no hook"));
        };
        let null = Value::Null;
        let part = |key: &str| value.get(key).unwrap_or(&null);
        let repo = part("repo");
        let rename = part("rename_context");
        Ok(Self {
            hook,
            repo: Repo {
                id: text(repo, "id").unwrap_or_default(),
                path: text(repo, "path").map(PathBuf::from).unwrap_or_default(),
                remote_url: text(repo, "remote_url"),
                is_git: flag(repo, "is_git").unwrap_or(true),
            },
            session: part("session").is_object().then(|| Session::of(part("session"))),
            settings: part("config").get("user_config").and_then(Value::as_object).cloned().unwrap_or_default(),
            selected: text(part("view_context"), "selected_value"),
            rename: rename.is_object().then(|| Rename {
                old_name: text(rename, "old_name").unwrap_or_default(),
                new_name: text(rename, "new_name").unwrap_or_default(),
                old_path: text(rename, "old_path").map(PathBuf::from),
                new_path: text(rename, "new_path").map(PathBuf::from),
            }),
        })
    }

    /// The session, for hooks that cannot do without.
    pub(crate) fn session(&self) -> Result<&Session, Failure> {
        self.session.as_ref().ok_or_else(|| Failure::new(format!("{} came without a session", self.hook)))
    }

    /// A setting; one under `repos.<repo id>` comes before the general one.
    pub(crate) fn setting(&self, name: &str) -> Option<&Value> {
        let own = self.settings.get("repos").and_then(|repos| repos.get(&self.repo.id)?.get(name));
        own.or_else(|| self.settings.get(name)).filter(|value| !value.is_null())
    }

    /// A yes or no; false is false (fault 45).
    pub(crate) fn flag(&self, name: &str, default: bool) -> bool {
        self.setting(name).and_then(Value::as_bool).unwrap_or(default)
    }

    /// A list of texts; one text alone counts as a list of one.
    pub(crate) fn texts(&self, name: &str) -> Vec<&str> {
        match self.setting(name) {
            Some(Value::String(text)) if !text.is_empty() => vec![text],
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).filter(|text| !text.is_empty()).collect(),
            _ => Vec::new(),
        }
    }
}

/// One answer; built up by what happened.
#[derive(Debug, Default)]
pub(crate) struct Answer(Map<String, Value>);

impl Answer {
    /// Success, nothing else.
    pub(crate) fn ok() -> Self {
        Self(Map::from_iter([("success".to_owned(), Value::Bool(true))]))
    }

    /// No success, and why.
    pub(crate) fn failed(failure: &Failure) -> Self {
        let mut text = failure.to_string();
        for hint in failure.hints() {
            text.push_str("; ");
            text.push_str(hint);
        }
        Self(Map::from_iter([("success".to_owned(), Value::Bool(false)), ("error".to_owned(), text.into())]))
    }

    /// Puts `value` at `session_mutations.<part>.<key>`, or at `session_mutations.<key>` when `part` is empty.
    fn mutate(mut self, part: &str, key: &str, value: Value) -> Self {
        // Only ever an object: nothing but this puts anything there.
        let root = self.0.entry("session_mutations").or_insert_with(|| json!({}));
        let at = if part.is_empty() { root } else { &mut root[part] };
        at[key] = value;
        self
    }

    /// session_mutations.path.
    pub(crate) fn path(self, path: &str) -> Self {
        self.mutate("", "path", path.into())
    }

    /// session_mutations.env.
    pub(crate) fn env(self, key: &str, value: &str) -> Self {
        self.mutate("env", key, value.into())
    }

    /// session_mutations.plugin_state.
    pub(crate) fn state(self, key: &str, value: &str) -> Self {
        self.mutate("plugin_state", key, value.into())
    }

    fn push(mut self, key: &str, value: Value) -> Self {
        if let Some(list) = self.0.entry(key).or_insert_with(|| json!([])).as_array_mut() {
            list.push(value);
        }
        self
    }

    /// One of shell_commands.
    pub(crate) fn shell(self, command: String) -> Self {
        self.push("shell_commands", command.into())
    }

    /// One of post_shell_commands.
    pub(crate) fn post(self, command: String) -> Self {
        self.push("post_shell_commands", command.into())
    }

    /// cd_target.
    pub(crate) fn cd(mut self, folder: &std::path::Path) -> Self {
        // A folder that is not text cannot be told; the shell goes where it would have gone.
        if let Some(folder) = folder.to_str() {
            self.0.insert("cd_target".to_owned(), folder.into());
        }
        self
    }

    /// One of view_items.
    pub(crate) fn item(self, display: &str, value: &str) -> Self {
        self.push("view_items", json!({ "display": display, "value": value }))
    }

    /// view_prompt, and an empty list of items to begin with.
    pub(crate) fn view(mut self, prompt: &str) -> Self {
        self.0.insert("view_items".to_owned(), json!([]));
        self.0.insert("view_prompt".to_owned(), prompt.into());
        self
    }

    /// The answer as it is written.
    pub(crate) fn line(self) -> String {
        Value::Object(self.0).to_string()
    }
}
