//! `config.yaml`, read once at start and again when a plugin is restarted. A file that does not parse never
//! blocks: defaults and a warning (clause G3). Pure but for [`Config::load`]; the CLI and the app call it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use agents::usage::{Prices, Rates};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use sys::{files, text};

/// The largest `config.yaml` that is read, in bytes.
const MAX_CONFIG: usize = 4 << 20;

/// What `config.yaml` says. Every field has a default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// The theme's id.
    pub theme: Option<String>,
    /// The library of skills, as written (`~/` not expanded).
    pub library_dir: Option<String>,
    /// The `tui:` section.
    pub tui: Tui,
    /// `sessions.resumeIn`.
    pub resume_in: ResumeIn,
    /// The `usage:` section.
    pub usage: Usage,
    /// All sections, for plugins (clause G1).
    sections: Map<String, Value>,
    /// What could not be understood, one line each, cleaned.
    pub warnings: Vec<String>,
}

/// Where a session is opened again (lazyagents.md, The interface).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResumeIn {
    /// In this terminal; the interface comes back when the agent ends.
    #[default]
    Here,
    /// In a new window of tmux, a new tab of zellij.
    Window,
    /// In a new pane of either.
    Pane,
}

impl ResumeIn {
    /// All of them, with their names in `config.yaml`.
    pub const ALL: [(&'static str, Self); 3] = [("here", Self::Here), ("window", Self::Window), ("pane", Self::Pane)];
}

/// The `tui:` section.
#[derive(Clone, Debug, PartialEq)]
pub struct Tui {
    /// The tab that is shown first.
    pub start_tab: Option<String>,
    /// Tab ids in the wanted order; the rest follow in the default order.
    pub tabs: Vec<String>,
    /// Tab ids that are not shown; a hidden plugin is not started (clause D8).
    pub hidden: Vec<String>,
    /// Mouse reporting.
    pub mouse: bool,
    /// Action id to the keys that replace its own.
    pub keys: BTreeMap<String, Vec<String>>,
}

impl Default for Tui {
    fn default() -> Self {
        Self { start_tab: None, tabs: Vec::new(), hidden: Vec::new(), mouse: true, keys: BTreeMap::new() }
    }
}

/// The `usage:` section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// What `lazyagents usage` counts without `--since`, as that takes it.
    pub period: Option<String>,
    /// What its rows are when none is named.
    pub view: Option<String>,
    /// Prices of the person's own, by model.
    prices: BTreeMap<String, Rates>,
}

impl Usage {
    /// The prices that come with the program, the person's own over them.
    pub fn prices(&self) -> Prices {
        let mut prices = Prices::default();
        for (model, rates) in &self.prices {
            prices.set(model, *rates);
        }
        prices
    }
}

impl Config {
    /// Reads the file; a missing one is the default.
    pub fn load(path: &Path) -> Self {
        let name = path.display();
        let problem = |why: String| Self {
            warnings: vec![text::clean(&format!("config.yaml is not used: {why} ({name})"))],
            ..Self::default()
        };
        match files::read_bounded(path, MAX_CONFIG) {
            Ok(None) => Self::default(),
            Ok(Some(bytes)) => match std::str::from_utf8(&bytes) {
                Ok(yaml) => Self::parse(yaml).unwrap_or_else(problem),
                Err(error) => problem(format!("it is not UTF-8 (byte {})", error.valid_up_to() + 1)),
            },
            Err(failure) => problem(failure.to_string()),
        }
    }

    /// Understands the text of a `config.yaml`.
    ///
    /// # Errors
    /// When it is not YAML or its root is no map: one line with the place.
    pub fn parse(yaml: &str) -> Result<Self, String> {
        let sections = parse_sections(yaml)?;
        let mut read = Read { warnings: Vec::new() };
        let mut config = Self {
            theme: read.string(&sections, "theme", "theme"),
            library_dir: read.string(&sections, "libraryDir", "libraryDir"),
            ..Self::default()
        };
        match sections.get("tui") {
            None | Some(Value::Null) => {}
            Some(Value::Object(tui)) => config.tui = read.tui(tui),
            Some(other) => read.warn("tui", "a map", other),
        }
        match sections.get("sessions") {
            None | Some(Value::Null) => {}
            Some(Value::Object(own)) => {
                if let Some(word) = read.string(own, "resumeIn", "sessions.resumeIn") {
                    match ResumeIn::ALL.iter().find(|(name, _)| *name == word) {
                        Some((_, place)) => config.resume_in = *place,
                        None => read.warn_word("sessions.resumeIn", "here, window or pane", &word),
                    }
                }
            }
            Some(other) => read.warn("sessions", "a map", other),
        }
        match sections.get("usage") {
            None | Some(Value::Null) => {}
            Some(Value::Object(usage)) => config.usage = read.usage(usage),
            Some(other) => read.warn("usage", "a map", other),
        }
        config.sections = sections;
        config.warnings = read.warnings.iter().map(|warning| text::clean(&format!("config.yaml: {warning}"))).collect();
        Ok(config)
    }

    /// The section of a plugin; absent when there is none or it is empty (clause G2).
    pub fn section(&self, id: &str) -> Option<&Value> {
        self.sections.get(id).filter(|value| !value.is_null())
    }
}

/// The sections of a `config.yaml`.
///
/// # Errors
/// When it is not YAML or its root is no map: one line with the place.
pub fn parse_sections(yaml: &str) -> Result<Map<String, Value>, String> {
    match parse_yaml(yaml)? {
        Value::Object(sections) => Ok(sections),
        Value::Null => Ok(Map::new()),
        other => Err(format!("its root must be a map, not {}", kind(&other))),
    }
}

/// Takes known keys and remembers what was wrong with them; unknown keys are silent (lazyagents.md, Folders).
struct Read {
    warnings: Vec<String>,
}

impl Read {
    fn warn(&mut self, name: &str, wanted: &str, got: &Value) {
        self.warnings.push(format!("{name} must be {wanted}, not {}", kind(got)));
    }

    fn warn_word(&mut self, name: &str, wanted: &str, got: &str) {
        self.warnings.push(format!("{name} must be {wanted}, not {got}"));
    }

    fn string(&mut self, map: &Map<String, Value>, key: &str, name: &str) -> Option<String> {
        match map.get(key)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => {
                self.warn(name, "a text", other);
                None
            }
        }
    }

    fn strings(&mut self, value: Option<&Value>, name: &str) -> Vec<String> {
        match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(items)) => {
                let mut texts = Vec::new();
                for item in items {
                    match item {
                        Value::String(text) => texts.push(text.clone()),
                        // `keys: { x: 1 }` means the key "1".
                        Value::Number(number) => texts.push(number.to_string()),
                        other => self.warn(name, "a list of texts", other),
                    }
                }
                texts
            }
            Some(Value::Number(number)) => vec![number.to_string()],
            Some(other) => {
                self.warn(name, "a list of texts", other);
                Vec::new()
            }
        }
    }

    fn tui(&mut self, map: &Map<String, Value>) -> Tui {
        let mut tui = Tui {
            start_tab: self.string(map, "startTab", "tui.startTab"),
            tabs: self.strings(map.get("tabs"), "tui.tabs"),
            hidden: self.strings(map.get("hidden"), "tui.hidden"),
            ..Tui::default()
        };
        match map.get("mouse") {
            None | Some(Value::Null) => {}
            Some(Value::Bool(on)) => tui.mouse = *on,
            Some(other) => self.warn("tui.mouse", "true or false", other),
        }
        match map.get("keys") {
            None | Some(Value::Null) => {}
            Some(Value::Object(keys)) => {
                for (action, value) in keys {
                    let keys = self.strings(Some(value), &format!("tui.keys.{action}"));
                    tui.keys.insert(action.clone(), keys);
                }
            }
            Some(other) => self.warn("tui.keys", "a map", other),
        }
        tui
    }

    fn usage(&mut self, map: &Map<String, Value>) -> Usage {
        let mut usage = Usage {
            period: self.string(map, "period", "usage.period"),
            view: self.string(map, "view", "usage.view"),
            ..Usage::default()
        };
        match map.get("prices") {
            None | Some(Value::Null) => {}
            Some(Value::Object(prices)) => {
                for (model, value) in prices {
                    if let Some(rates) = self.rates(value, &format!("usage.prices.{model}")) {
                        usage.prices.insert(model.clone(), rates);
                    }
                }
            }
            Some(other) => self.warn("usage.prices", "a map", other),
        }
        usage
    }

    /// A model's prices: a wrong one, or none for input or output, and the whole model keeps the table's.
    fn rates(&mut self, value: &Value, name: &str) -> Option<Rates> {
        let Value::Object(map) = value else {
            self.warn(name, "a map", value);
            return None;
        };
        let before = self.warnings.len();
        let mut price = |key: &str| match map.get(key)? {
            Value::Null => None,
            Value::Number(number) if number.is_u64() => number.as_u64(),
            other => {
                self.warn(&format!("{name}.{key}"), "a whole number of millionths of a dollar", other);
                None
            }
        };
        let (input, output) = (price("input"), price("output"));
        let rest = [price("cacheRead"), price("cacheWrite"), price("cacheWrite1h")];
        if self.warnings.len() > before {
            return None;
        }
        let (Some(input), Some(output)) = (input, output) else {
            self.warnings.push(format!("{name} needs both input and output"));
            return None;
        };
        let [cache_read, cache_write_5m, cache_write_1h] = rest;
        Some(Rates { input, output, cache_read, cache_write_5m, cache_write_1h })
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// Any YAML document as JSON: keys become their text, tags and anchors are resolved (clause G1).
fn parse_yaml(yaml: &str) -> Result<Value, String> {
    if yaml.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(Value::Null);
    }
    // YAML 1.2: `n`, `on` and `yes` are texts, as every other reader of today has them.
    // JSON has no infinity and no NaN; their text is the least surprising stand-in.
    let options = serde_saphyr::options! {
        strict_booleans: true,
        with_snippet: false,
        non_finite_float_policy: serde_saphyr::options::NonFiniteFloatPolicy::AsString
    };
    serde_saphyr::from_str_with_options::<Yaml>(yaml, options).map(|yaml| yaml.0).map_err(|error| {
        let words = error.to_string();
        let first = words.lines().next().unwrap_or("not YAML").trim_start_matches("error: ").to_owned();
        let first = plain(first);
        match error.location() {
            Some(at) if !first.contains("line ") => format!("line {}, column {}: {first}", at.line(), at.column()),
            _ => first,
        }
    })
}

/// The parser's words about its own options and types, in words about the file.
fn plain(words: String) -> String {
    let place = |words: &str| {
        let at = words.find("line ").filter(|_| words.contains("column "));
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
        let line = digits(words.get(at? + 5..)?);
        let column = digits(words.split_once("column ")?.1);
        Some(format!("line {line}, column {column}: "))
    };
    let lower = words.to_lowercase();
    let ours = if lower.contains("duplicate") {
        "a key stands there twice"
    } else if lower.contains("recursive") || lower.contains("weak") {
        "an alias (*) leads to itself"
    } else if lower.contains("options") || lower.contains("policy") || lower.contains("budget") {
        "this YAML is not understood"
    } else {
        return words;
    };
    format!("{}{ours}", place(&words).unwrap_or_default())
}

/// A JSON value read from YAML.
struct Yaml(Value);

impl<'de> Deserialize<'de> for Yaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyYaml).map(Self)
    }
}

struct AnyYaml;

impl<'de> Visitor<'de> for AnyYaml {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Value::String(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Value::String(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or_else(|| Value::String(value.to_string()), Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Yaml(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(Yaml(key)) = map.next_key()? {
            let key = match key {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let Yaml(value) = map.next_value()?;
            entries.insert(key, value);
        }
        Ok(Value::Object(entries.into_iter().collect()))
    }
}

/// The library of skills: `libraryDir` with `~/` expanded, else `<data>/skills` (clause V1).
pub fn library_dir(config: &Config, paths: &sys::Paths) -> std::path::PathBuf {
    match config.library_dir.as_deref().map(str::trim).filter(|dir| !dir.is_empty()) {
        Some(dir) => {
            let dir = paths.expand(dir);
            // A relative folder would mean another one in every working folder.
            let dir = if dir.is_absolute() { dir } else { paths.home.join(dir) };
            dir.components().collect()
        }
        None => paths.data.join("skills"),
    }
}

/// Bodies of property tests and fuzz targets.
#[doc(hidden)]
pub mod fuzz {
    /// Any text is a config or one line of reason.
    pub fn config_is_total(yaml: &str) {
        match super::Config::parse(yaml) {
            Ok(config) => assert!(config.warnings.iter().all(|warning| !warning.contains(char::is_control))),
            Err(why) => assert!(!why.is_empty() && !why.contains('\n')),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn g1_a_section_keeps_its_types_and_keys_become_text() {
        let yaml = "probe:\n  greeting: hi\n  n: 3\n  ratio: 1.5\n  on: true\n  none: null\n  list: [1, \"two\", {k: v}]\n  \
                    nest:\n    deep:\n      - a\n  text: \"olá ✓\"\n  1: one\n  true: yes\n  inf: .inf\nscalar: 7\nbase: &b {x: 1}\nuse: *b\n\
                    tagged: !mine {y: 2}\n";
        let config = Config::parse(yaml).unwrap();
        let probe = config.section("probe").unwrap();
        assert_eq!(probe["n"], json!(3));
        assert_eq!(probe["ratio"], json!(1.5));
        assert_eq!(probe["on"], json!(true));
        assert_eq!(probe["none"], json!(null));
        assert_eq!(probe["list"], json!([1, "two", {"k": "v"}]));
        assert_eq!(probe["nest"], json!({"deep": ["a"]}));
        assert_eq!(probe["text"], json!("olá ✓"));
        assert_eq!(probe["1"], json!("one"));
        assert_eq!(config.section("scalar"), Some(&json!(7)));
        assert_eq!(config.section("use"), Some(&json!({"x": 1})));
        assert_eq!(config.section("tagged"), Some(&json!({"y": 2})));
    }

    #[test]
    fn g2_no_section_and_an_empty_one_are_absent() {
        let config = Config::parse("hello:\nother: {a: 1}\n").unwrap();
        assert_eq!(config.section("hello"), None);
        assert_eq!(config.section("missing"), None);
        assert_eq!(Config::parse("").unwrap(), Config::default());
        assert_eq!(Config::parse("# only words\n").unwrap().tui, Tui::default());
    }

    #[test]
    fn the_tui_section_is_read_and_what_is_wrong_is_said() {
        let config = Config::parse(
            "theme: daylight\ntui:\n  startTab: hello\n  tabs: [hello, agents]\n  hidden: clock\n  mouse: false\n  splash: 3\n  \
             keys: { plugins.restart: [R, f5], app.quit: Q, app.help: 1 }\n",
        )
        .unwrap();
        assert_eq!(config.theme.as_deref(), Some("daylight"));
        assert_eq!(config.tui.tabs, ["hello", "agents"]);
        assert_eq!(config.tui.hidden, ["clock"]);
        assert!(!config.tui.mouse && config.warnings.is_empty());
        assert_eq!(config.tui.keys["plugins.restart"], ["R", "f5"]);
        assert_eq!(config.tui.keys["app.help"], ["1"]);
        let config = Config::parse("theme: [a]\ntui:\n  mouse: maybe\n  keys: 3\n").unwrap();
        assert_eq!(
            config.warnings,
            [
                "config.yaml: theme must be a text, not a list",
                "config.yaml: tui.mouse must be true or false, not a text",
                "config.yaml: tui.keys must be a map, not a number"
            ]
        );
    }

    #[test]
    fn the_usage_section_is_read_and_a_wrong_price_keeps_the_tables() {
        let config = Config::parse(
            "usage:\n  period: 30d\n  view: projects\n  prices:\n    mine: { input: 2000000, output: 4000000, cacheRead: 1 }\n",
        )
        .unwrap();
        assert_eq!((config.usage.period.as_deref(), config.usage.view.as_deref()), (Some("30d"), Some("projects")));
        assert!(config.warnings.is_empty());
        let model = *config.usage.prices().of("mine", 0).unwrap();
        assert_eq!((model.rates.input, model.rates.cache_read, model.rates.cache_write_5m), (2_000_000, Some(1), None));
        let config = Config::parse(
            "usage:\n  period: 7\n  prices:\n    a: { input: 1.5, output: 2 }\n    b: { input: -1, output: 1 }\n    c: { input: 1 }\n    d: free\n",
        )
        .unwrap();
        assert_eq!(
            config.warnings,
            [
                "config.yaml: usage.period must be a text, not a number",
                "config.yaml: usage.prices.a.input must be a whole number of millionths of a dollar, not a number",
                "config.yaml: usage.prices.b.input must be a whole number of millionths of a dollar, not a number",
                "config.yaml: usage.prices.c needs both input and output",
                "config.yaml: usage.prices.d must be a map, not a text",
            ]
        );
        assert_eq!(config.usage.prices(), Prices::default());
    }

    #[test]
    fn g3_what_does_not_parse_is_one_line_with_the_place() {
        let why = Config::parse("a: [1\nb: 2\n").unwrap_err();
        assert!(why.contains("line ") && !why.contains('\n'), "{why}");
        assert_eq!(Config::parse("- a\n").unwrap_err(), "its root must be a map, not a list");
        assert!(Config::parse(&format!("a: {}", "[".repeat(50_000))).is_err());
    }

    #[test]
    fn what_the_parser_says_of_itself_is_not_passed_on() {
        let why = Config::parse("a: 1\nb: 2\na: 3\n").unwrap_err();
        assert!(why.starts_with("line 3, column 1: ") && why.ends_with("a key stands there twice"), "{why}");
        let why = Config::parse("a: &x [1, *x]\n").unwrap_err();
        assert!(why.starts_with("line 1, ") && why.ends_with("an alias (*) leads to itself"), "{why}");
    }

    #[test]
    fn v1_the_library_follows_the_config_and_has_no_trailing_slash() {
        let env = [("HOME", "/h")].into_iter().collect();
        let paths = sys::Paths::of("lazyagents", &env).unwrap();
        let at = |yaml: &str| library_dir(&Config::parse(yaml).unwrap(), &paths).display().to_string();
        assert_eq!(at(""), "/h/.local/share/lazyagents/skills");
        assert_eq!(at("libraryDir: ~/my/skills/"), "/h/my/skills");
        assert_eq!(at("libraryDir: /abs//x"), "/abs/x");
        assert_eq!(at("libraryDir: ''"), "/h/.local/share/lazyagents/skills");
    }

    proptest::proptest! {
        #[test]
        fn config_is_total(yaml in r#"[a-z:&*!\[\]{}'",\n #\-|>%0-9\t.]{0,200}"#) {
            fuzz::config_is_total(&yaml);
        }

        #[test]
        fn config_is_total_on_any_text(yaml in ".{0,100}") {
            fuzz::config_is_total(&yaml);
        }
    }
}
