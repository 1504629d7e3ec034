//! The page about the wire: every message, its fields from the JSON Schema of the types, and a line of it as it is
//! really sent. Lines of plugins are the fixtures of the crate `wire`. Only `reference` calls it.

use std::fmt::Write as _;

use serde_json::Value;
use wire::plugin::{Agent, ExecResult, HostMessage, Init, Mouse, MouseKind, PROTOCOL, Theme};

use super::{code, table};

/// Lines of plugins, by the type of the message.
const FIXTURES: [(&str, &str); 3] = [
    ("manifest", include_str!("../../../../wire/src/fixtures/manifest.json")),
    ("frame", include_str!("../../../../wire/src/fixtures/frame.json")),
    ("exec", include_str!("../../../../wire/src/fixtures/exec.json")),
];

/// `messages.md`.
pub(super) fn page() -> String {
    let mut text = format!(
        "# Messages\n\nProtocol {PROTOCOL}: lines of JSON, UTF-8, at most {} bytes each without the line end. What they are for \
         is told in [plugins](../plugins.md). The same as JSON Schema: [host](schema/plugin-host.json), \
         [plugin](schema/plugin-plugin.json).\n\nHost lines are compact, `type` comes first, and fields that are empty are \
         left out (but `code`, `agents`, `x` and `y`). From plugins, unknown types and unknown fields are passed over, \
         `null` counts as absent, and a known field of another type ends the plugin.\n\n",
        wire::MAX_LINE
    );
    let from_host: Vec<_> = samples().iter().map(|message| line(&wire::encode(message))).collect();
    text.push_str("## From lazyagents to a plugin\n\n");
    section(&wire::plugin::schema("host").unwrap_or_default(), &from_host, &mut text);
    text.push_str("## From a plugin to lazyagents\n\n");
    let from_plugin: Vec<_> = FIXTURES.iter().map(|(_, line)| line.trim_end().to_owned()).collect();
    section(&wire::plugin::schema("plugin").unwrap_or_default(), &from_plugin, &mut text);
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn line(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// One message of each type, as a plugin gets it.
fn samples() -> Vec<HostMessage> {
    let text = str::to_owned;
    let colors = [("Primary", "#7bd6b8"), ("ui.accent", "#7bd6b8")];
    let init = Init {
        protocol: PROTOCOL,
        id: text("hello"),
        home: text("/home/dev"),
        config_dir: text("/home/dev/.config/lazyagents"),
        data_dir: text("/home/dev/.local/share/lazyagents"),
        library_dir: text("/home/dev/.local/share/lazyagents/skills"),
        theme: Theme {
            id: text("midnight"),
            colors: colors.into_iter().map(|(name, hex)| (text(name), text(hex))).collect(),
        },
        config: Some(serde_json::json!({"greeting": "hi"})),
        width: 78,
        height: 21,
    };
    let agent = Agent {
        id: text("codex"),
        name: text("Codex"),
        installed: true,
        version: Some(text("0.171.0")),
        managed_dir: Some(text("/home/dev/.codex/skills")),
        read_dirs: vec![text("/home/dev/.codex/skills"), text("/home/dev/.agents/skills")],
    };
    vec![
        HostMessage::Init(init),
        HostMessage::Resize { width: 98, height: 23 },
        HostMessage::Key { key: text("a"), text: text("a") },
        HostMessage::Paste { text: text("two\rlines") },
        HostMessage::Mouse { mouse: Mouse { kind: MouseKind::Click, x: 3, y: 0, button: text("left") } },
        HostMessage::Command { name: text("reset") },
        HostMessage::Reload,
        HostMessage::Agents { agents: vec![agent] },
        HostMessage::ExecResult(ExecResult { exec_id: 7, stdout: text("12:30\n"), ..ExecResult::default() }),
    ]
}

/// Every message of one direction, in the order of its schema.
fn section(schema: &Value, lines: &[String], text: &mut String) {
    let variants = schema["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    for variant in variants {
        let name = variant["properties"]["type"]["const"].as_str().unwrap_or_default();
        let _ = writeln!(text, "### `{name}`\n\n{}\n", words(variant));
        let mut rows = Vec::new();
        fields(schema, variant, "", &mut rows);
        if !rows.is_empty() {
            text.push_str(&table(&["field", "is", "what"], rows));
            text.push('\n');
        }
        let start = format!("{{\"type\":\"{name}\"");
        for line in lines.iter().filter(|line| line.starts_with(&start)) {
            let _ = writeln!(text, "```json\n{line}\n```\n");
        }
    }
}

/// The fields of an object and of the objects in it, without `type`.
fn fields(schema: &Value, object: &Value, prefix: &str, rows: &mut Vec<Vec<String>>) {
    let object = follow(schema, object);
    let own = object["properties"].as_object().into_iter().flatten();
    // A variant that is a struct has the struct's fields beside its own.
    for (name, field) in own.filter(|(name, _)| *name != "type") {
        let inner = follow(schema, field);
        let of = inner.get("items").map(|items| follow(schema, items));
        rows.push(vec![code(format!("{prefix}{name}")), kind(schema, field), words(field)]);
        if let Some(items) = of.filter(|items| items.get("properties").is_some()) {
            fields(schema, items, &format!("{prefix}{name}[]."), rows);
        } else if inner.get("properties").is_some() {
            fields(schema, inner, &format!("{prefix}{name}."), rows);
        }
    }
}

/// The definition that a reference leads to.
fn follow<'a>(schema: &'a Value, value: &'a Value) -> &'a Value {
    let name = value["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    name.map_or(value, |name| &schema["$defs"][name])
}

fn kind(schema: &Value, field: &Value) -> String {
    let field = follow(schema, field);
    if let Some(choices) = field["oneOf"].as_array() {
        let words: Vec<_> = choices.iter().filter_map(|choice| choice["const"].as_str()).map(code).collect();
        return words.join(" or ");
    }
    let names: Vec<&str> = match &field["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect(),
        _ => Vec::new(),
    };
    let name = match names.first().copied() {
        Some("array") => return format!("list of {}", plural(&kind(schema, &field["items"]))),
        Some("object") if field.get("additionalProperties").is_some() => "map of texts",
        Some("string") => "text",
        Some("integer") => "whole number",
        Some("boolean") => "true or false",
        Some(other) => other,
        None => "anything",
    };
    name.to_owned()
}

fn plural(kind: &str) -> String {
    match kind.split_once(' ') {
        Some(("list", rest)) => format!("lists {rest}"),
        _ => format!("{kind}s"),
    }
}

/// The docstring of a type, without its pointers into the contract, which say nothing to a reader of this page.
fn words(value: &Value) -> String {
    let text = value["description"].as_str().unwrap_or_default();
    // Links between docstrings.
    let text = text.replace("[`PROTOCOL`]", &code(PROTOCOL));
    let mut text = text.replace("[`", "`").replace("`]", "`");
    for start in [" (clause", " (seed"] {
        while let Some(at) = text.find(start) {
            let end = text[at..].find(')').map_or(text.len(), |length| at + length + 1);
            text.replace_range(at..end, "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_has_its_line_and_every_field_is_explained() {
        let page = page();
        let headings: Vec<_> = page.lines().filter(|line| line.starts_with("### ")).collect();
        assert_eq!(headings.len(), 12);
        assert_eq!(page.matches("```json").count(), headings.len());
        for row in page.lines().filter(|line| line.starts_with("| `")) {
            assert!(!row.contains("|  |") && !row.contains("clause"), "{row}");
        }
        for text in
            ["`theme.colors`", "`agents[].readDirs`", "`help[].keys`", "`mouse.kind`", "`^[a-z0-9][a-z0-9_-]*$`"]
        {
            assert!(page.contains(text), "{text} is missing in\n{page}");
        }
    }
}
