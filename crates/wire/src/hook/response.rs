//! What a plugin answered, read from all it printed (plugin-guide.md, "Response"). Lenient where tools are sloppy:
//! noise around the object, nulls anywhere, numbers of any size, unknown fields; strict where a mistake would be
//! silent: no object, no boolean `success`, a field of another type. Pure; the hook runner and `plugin check` call it.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

/// An answer that can be used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// False is a failure, with or without `error`.
    pub success: bool,
    /// Why not.
    pub error: Option<String>,
    /// Changes of the session.
    pub session: SessionPatch,
    /// Changes of the plugin's state in this repository, key by key.
    pub repo_state: Map<String, Value>,
    /// Run inside ez, at once.
    pub shell_commands: Vec<String>,
    /// Run in the person's shell after ez has ended.
    pub post_shell_commands: Vec<String>,
    /// Where the shell goes.
    pub cd_target: Option<String>,
    /// The items of a view.
    pub view_items: Vec<ViewItem>,
    /// The view's prompt.
    pub view_prompt: Option<String>,
    /// The view's preview command, with fzf's placeholders.
    pub view_preview_cmd: Option<String>,
    /// The name for a URL.
    pub resolved_name: Option<String>,
}

/// `session_mutations`: what is left out stays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionPatch {
    /// The session's folder.
    pub path: Option<String>,
    /// Variables, key by key.
    pub env: BTreeMap<String, String>,
    /// State, key by key.
    pub plugin_state: Map<String, Value>,
}

impl SessionPatch {
    /// True when there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.path.is_none() && self.env.is_empty() && self.plugin_state.is_empty()
    }
}

/// One row of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewItem {
    /// What is shown.
    pub display: String,
    /// What comes back.
    pub value: String,
}

/// Why what was printed is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Nothing at all, or only blanks.
    Silent,
    /// No JSON object in it.
    NoObject,
    /// Objects, but none with a boolean `success`.
    NoSuccess,
    /// A known field has another type; the words say which.
    WrongType(String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent => f.write_str("it printed nothing, where a JSON object was expected"),
            Self::NoObject => f.write_str("it printed no JSON object"),
            Self::NoSuccess => f.write_str("its JSON object has no \"success\" that is true or false"),
            Self::WrongType(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for Unusable {}

/// Places tried at most: a plugin that prints nothing but braces is noise, not a reason to think for minutes.
const TRIES: usize = 20_000;

impl Response {
    /// Reads the answer out of `printed`: the last JSON object with a boolean `success`, since a plugin answers at its
    /// end and what its tools print may be JSON as well (ez-faults-to-avoid.md 16, 18).
    ///
    /// # Errors
    /// See [`Unusable`].
    pub fn read(printed: &[u8]) -> Result<Self, Unusable> {
        let text = String::from_utf8_lossy(printed);
        if text.trim().is_empty() {
            return Err(Unusable::Silent);
        }
        let mut found = None;
        let mut other = false;
        let mut at = 0;
        for _ in 0..TRIES {
            let Some(brace) = text[at..].find('{') else { break };
            at += brace;
            let mut stream = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            match stream.next() {
                Some(Ok(Value::Object(object))) => {
                    at += stream.byte_offset();
                    if matches!(object.get("success"), Some(Value::Bool(_))) {
                        found = Some(object);
                    } else {
                        other = true;
                    }
                }
                _ => at += 1,
            }
        }
        match found {
            Some(object) => Self::of(Fields(object)).map_err(Unusable::WrongType),
            None if other => Err(Unusable::NoSuccess),
            None => Err(Unusable::NoObject),
        }
    }

    fn of(mut fields: Fields) -> Result<Self, String> {
        let mut session = fields.object("session_mutations")?;
        let mut repo = fields.object("repo_mutations")?;
        Ok(Self {
            success: fields.0.remove("success") == Some(Value::Bool(true)),
            error: fields.text("error")?,
            session: SessionPatch {
                path: session.text("path")?,
                env: session.env()?,
                plugin_state: session.object("plugin_state")?.state(),
            },
            repo_state: repo.object("plugin_state")?.state(),
            shell_commands: fields.texts("shell_commands")?,
            post_shell_commands: fields.texts("post_shell_commands")?,
            cd_target: fields.text("cd_target")?.filter(|text| !text.is_empty()),
            view_items: fields.items()?,
            view_prompt: fields.text("view_prompt")?,
            view_preview_cmd: fields.text("view_preview_cmd")?.filter(|text| !text.is_empty()),
            resolved_name: fields.text("resolved_name")?.filter(|text| !text.is_empty()),
        })
    }
}

/// The fields of an object; taking one checks its type, and null counts as absent everywhere.
struct Fields(Map<String, Value>);

impl Fields {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, "a string", &other)),
        }
    }

    fn list(&mut self, name: &str) -> Result<Vec<Value>, String> {
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items.into_iter().filter(|item| !item.is_null()).collect()),
            Some(other) => Err(wrong(name, "a list", &other)),
        }
    }

    fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        let text = |item| match item {
            Value::String(text) => Ok(text),
            other => Err(wrong(name, "a list of strings", &other)),
        };
        self.list(name)?.into_iter().map(text).collect()
    }

    fn object(&mut self, name: &str) -> Result<Self, String> {
        match self.take(name) {
            None => Ok(Self(Map::new())),
            Some(Value::Object(fields)) => Ok(Self(fields)),
            Some(other) => Err(wrong(name, "an object", &other)),
        }
    }

    fn env(&mut self) -> Result<BTreeMap<String, String>, String> {
        let mut env = BTreeMap::new();
        for (name, value) in self.object("env")?.0 {
            let value = match value {
                Value::Null => continue,
                Value::String(text) => text,
                // A port or a flag is meant as its text; there is only one.
                Value::Number(number) => number.to_string(),
                Value::Bool(flag) => flag.to_string(),
                other => return Err(wrong(&format!("env.{name}"), "a string", &other)),
            };
            env.insert(name, value);
        }
        Ok(env)
    }

    fn items(&mut self) -> Result<Vec<ViewItem>, String> {
        let item = |item| {
            let Value::Object(fields) = item else { return Err(wrong("view_items", "a list of objects", &item)) };
            let mut fields = Self(fields);
            let value = fields.text("value")?;
            let display = fields.text("display")?;
            let value = value.or_else(|| display.clone()).unwrap_or_default();
            Ok(ViewItem { display: display.unwrap_or_else(|| value.clone()), value })
        };
        self.list("view_items")?.into_iter().map(item).collect()
    }

    /// Without nulls at any depth, which no TOML file can hold.
    fn state(self) -> Map<String, Value> {
        fn whole(value: Value) -> Option<Value> {
            match value {
                Value::Null => None,
                Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(whole).collect())),
                Value::Object(fields) => {
                    Some(Value::Object(fields.into_iter().filter_map(|(k, v)| Some((k, whole(v)?))).collect()))
                }
                other => Some(other),
            }
        }
        self.0.into_iter().filter_map(|(key, value)| Some((key, whole(value)?))).collect()
    }
}

fn wrong(name: &str, wanted: &str, got: &Value) -> String {
    let kind = match got {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("\"{name}\" in its answer must be {wanted}, this is {kind}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Response, Unusable> {
        Response::read(text.as_bytes())
    }

    #[test]
    fn braces_in_strings_noise_and_other_objects_do_not_disturb() {
        let text = "log {x} {\"level\":1}\n{\"success\":true,\"shell_commands\":[\"echo '}'\",\"{\"]}\nbye }\n{\"a\":{\"success\":false}}";
        assert_eq!(read(text).unwrap().shell_commands, ["echo '}'", "{"]);
        assert!(!read("{\"success\":true}{\"success\":false}").unwrap().success);
    }

    #[test]
    fn nulls_and_large_numbers_pass() {
        let text = r#"{"success":true,"error":null,"shell_commands":null,"view_items":null,"cd_target":null,
            "session_mutations":{"path":null,"env":{"A":null,"B":"1","N":5},"plugin_state":{"x":null,"n":[1,null,18446744073709551617]}},
            "repo_mutations":null}"#;
        let response = read(text).unwrap();
        assert_eq!(response.session.env, [("B".into(), "1".into()), ("N".into(), "5".into())].into());
        assert_eq!(response.session.plugin_state["n"].as_array().unwrap().len(), 2);
        assert!(!response.session.plugin_state.contains_key("x"));
    }

    #[test]
    fn what_is_no_answer_says_why() {
        assert_eq!(read(" \n"), Err(Unusable::Silent));
        assert_eq!(read("{not json"), Err(Unusable::NoObject));
        assert_eq!(read("{\"success\":\"yes\"}"), Err(Unusable::NoSuccess));
        let wrong = read("{\"success\":true,\"shell_commands\":\"ls\"}").unwrap_err().to_string();
        assert_eq!(wrong, "\"shell_commands\" in its answer must be a list, this is a string");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn any_bytes_are_an_answer_or_a_reason(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Err(why) = Response::read(&bytes) {
                prop_assert!(!why.to_string().is_empty());
            }
        }

        #[test]
        fn an_answer_is_found_in_any_noise(before in "[^{]*", after in "[^{]*", command in ".*") {
            let answer = serde_json::json!({"success": true, "shell_commands": [command]});
            let response = read(&format!("{before}{answer}{after}")).unwrap();
            prop_assert_eq!(response.shell_commands, [command]);
        }
    }
}
