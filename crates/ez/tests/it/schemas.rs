//! What `--json` prints against the schema of the same name. The part of JSON Schema that our schemas use is checked
//! here; a word that this does not know fails, so that nothing passes unread.

use serde_json::{Map, Value};
use testkit::Home;

use crate::{ez, home, plugin, repo};

/// What is wrong with `value`, each with its place.
fn faults(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let Some(rules) = schema.as_object() else {
        return if schema == &Value::Bool(false) { vec![format!("{at}: nothing may stand here")] } else { Vec::new() };
    };
    let mut found = Vec::new();
    for (word, rule) in rules {
        match word.as_str() {
            "$schema" | "title" | "description" | "$defs" | "default" | "format" | "properties" => {}
            "$ref" => {
                let name = rule.as_str().unwrap_or_default().trim_start_matches('#');
                let target = root.pointer(name).unwrap_or(&Value::Bool(false));
                found.extend(faults(root, target, value, at));
            }
            "type" => {
                let kinds = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                if !kinds.iter().any(|kind| is(kind.as_str().unwrap_or_default(), value)) {
                    found.push(format!("{at}: {value} is not {rule}"));
                }
            }
            "anyOf" => {
                let fits = |one: &Value| faults(root, one, value, at).is_empty();
                if !rule.as_array().is_some_and(|all| all.iter().any(fits)) {
                    found.push(format!("{at}: {value} fits none of {rule}"));
                }
            }
            "enum" | "const" => {
                if !(rule == value || rule.as_array().is_some_and(|all| all.contains(value))) {
                    found.push(format!("{at}: {value} is not one of {rule}"));
                }
            }
            "minimum" => {
                if value.as_f64() < rule.as_f64() && value.is_number() {
                    found.push(format!("{at}: {value} is below {rule}"));
                }
            }
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(faults(root, rule, item, &format!("{at}[{n}]")));
                }
            }
            "required" => {
                for name in rule.as_array().into_iter().flatten().filter_map(Value::as_str) {
                    if value.as_object().is_some_and(|object| !object.contains_key(name)) {
                        found.push(format!("{at}: {name} is missing"));
                    }
                }
            }
            "additionalProperties" => {}
            other => found.push(format!("{at}: this test does not know the word {other}")),
        }
    }
    found.extend(members(root, rules, value, at));
    found
}

/// Keys that the schema names by their rule, the others by `additionalProperties`. A key that nobody described is a
/// fault, although a schema without the word allows it.
fn members(root: &Value, rules: &Map<String, Value>, value: &Value, at: &str) -> Vec<String> {
    let Some(object) = value.as_object().filter(|_| rules.get("type") == Some(&"object".into())) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (key, member) in object {
        let rule = rules.get("properties").and_then(|all| all.get(key)).or_else(|| rules.get("additionalProperties"));
        match rule {
            Some(rule) => found.extend(faults(root, rule, member, &format!("{at}.{key}"))),
            None => found.push(format!("{at}: the schema does not know {key}")),
        }
    }
    found
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

fn fits(home: &Home, name: &str, value: &Value) {
    let schema = ez(home, &["schema", name]).ok().json();
    assert_eq!(faults(&schema, &schema, value, name), Vec::<String>::new());
}

#[test]
fn every_answer_fits_its_schema() {
    let home = home();
    repo(&home, "api");
    let binds = "[[binds]]\nkey = \"alt-x\"\nname = \"b\"\ncontexts = [\"session\"]\n\
                 [[config_schema]]\nname = \"n\"\ntype = \"int\"\ndefault = 7\n";
    plugin(&home, "mine", &["on_bind"], binds, "echo '{\"success\":true}'");
    let folder = home.root().join("config/ez/plugins/mine").display().to_string();
    for args in [
        &["plugin", "enable", "git-worktree"][..],
        &["session", "new", "feat", "-r", "api"],
        &["session", "new", "bare", "--bare", "-p", "feat", "-r", "api"],
        &["session", "new", "gone", "-r", "api"],
        &["session", "env", "set", "K", "v", "-s", "feat", "-r", "api"],
        &["session", "label", "add", "feat", "l", "-r", "api"],
        &["repo", "label", "add", "api", "back"],
        &["session", "enter", "feat", "-r", "api"],
        &["session", "delete", "gone", "-r", "api"],
        &["config", "set", "plugin_timeout", "5"],
    ] {
        let _ = ez(&home, args).ok();
    }
    let notes = ez(&home, &["session", "note", "path", "-n", "feat", "-r", "api"]).ok().out();
    home.write(format!("{}/README.md", notes.trim_end()), "# The note\n");
    home.write(home.path("ws/.ez/api/feat/new.txt"), "x");
    let commands: [(&str, &[&str]); 22] = [
        ("list", &["list", "--json"]),
        ("list", &["session", "list", "--all", "--json", "--status", "--disk"]),
        ("repo-list", &["repo", "list", "--json"]),
        ("repo-list", &["repo", "list", "--json", "--status", "--disk"]),
        ("repo-info", &["repo", "info", "api", "--json"]),
        ("session-list", &["session", "list", "-r", "api", "--json"]),
        ("session-list", &["session", "list", "-r", "api", "--json", "--status", "--disk"]),
        ("session-info", &["session", "info", "feat", "-r", "api", "--json"]),
        ("session-path", &["session", "path", "feat", "-r", "api", "--json"]),
        ("session-path", &["go", "feat", "--json"]),
        ("label-list", &["repo", "label", "list", "--json"]),
        ("label-list", &["session", "label", "list", "-r", "api", "--json"]),
        ("env-list", &["session", "env", "list", "-s", "feat", "-r", "api", "--json"]),
        ("note", &["session", "note", "path", "-n", "feat", "-r", "api", "--json"]),
        ("prune", &["session", "prune", "--older", "0d", "-r", "api", "--json"]),
        ("plugin-list", &["plugin", "list", "--json"]),
        ("plugin-info", &["plugin", "info", "mine", "--json"]),
        ("plugin-check", &["plugin", "check", &folder, "--json"]),
        ("config-show", &["config", "show", "--json"]),
        ("config-get", &["config", "get", "plugin_timeout", "--json"]),
        ("trash-list", &["trash", "list", "--json"]),
        ("doctor", &["doctor", "--json"]),
    ];
    for (name, args) in commands {
        let told = ez(&home, args).ok().json();
        assert!(told != Value::Array(Vec::new()), "{args:?} tells nothing");
        fits(&home, name, &told);
    }
    let request = ez(&home, &["plugin", "run", "mine", "on_bind", "-r", "api", "-s", "feat"]).ok().out();
    let request = serde_json::from_str(request.lines().next().unwrap_or_default()).unwrap_or_default();
    fits(&home, "request", &request);
    let listed = ez(&home, &["schema"]).ok().out();
    let named: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for name in named {
        let checked = commands.iter().any(|(known, _)| *known == name);
        assert!(checked || ["request", "response", "manifest"].contains(&name), "{name} is checked by no command");
    }
}

#[test]
fn lists_say_more_when_asked_and_null_when_not() {
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "feat", "-r", "api"]).ok();
    let tree = home.path("ws/.ez/api/feat").display().to_string();
    crate::git(&home, &tree, &["commit", "-q", "--allow-empty", "-m", "own"]);
    home.write(home.path("ws/.ez/api/feat/new.txt"), "x");
    let plain = &ez(&home, &["session", "list", "-r", "api", "--json"]).ok().json()[0];
    for key in ["branch", "dirty", "ahead", "behind", "disk", "note"] {
        assert!(plain[key].is_null(), "{key}: {plain}");
    }
    let full = &ez(&home, &["session", "list", "-r", "api", "--json", "--status", "--disk"]).ok().json()[0];
    assert_eq!(full["branch"], "feat");
    assert_eq!((&full["dirty"], &full["ahead"], &full["behind"]), (&true.into(), &1.into(), &0.into()), "{full}");
    assert!(full["disk"].as_u64().is_some_and(|size| size > 6), "{full}");
    let text = ez(&home, &["session", "list", "-r", "api", "--status"]).ok().out();
    assert!(text.trim_end().ends_with("/feat)  feat ± ↑1"), "{text}");
    let text = ez(&home, &["session", "list", "-r", "api"]).ok().out();
    assert!(text.starts_with("feat (") && text.ends_with("/feat)\n"), "{text}");
}
