//! The hooks of Codex: `hooks.json`, and tables in config.toml. It runs those alone that the person has reviewed in it:
//! config.toml keeps a hash of each, which is computed here as well, so that it can be told and never has to be forged.
//!
//! Seen with 0.171.0 and its own `hooks/list` (`hook-hashes*.json`): the key of a hook is the file, the event in snake
//! case and two positions, so what comes before it in its list is part of its identity; the hash covers the event, the
//! matcher where the event has one, and the command with its effective timeout. One entry that it does not understand
//! costs all of the file.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::adapter::Places;
use crate::hooks::{self, Entry, Event, Hooks, LARGEST, Look, Rules, Shape, Trust, Unit, Verdict};
use crate::read::small_file;

static RULES: Rules = Rules {
    events: &[
        Event::own("PreModelRequest"),
        Event::same("PreToolUse"),
        Event::same("PermissionRequest"),
        Event::same("PostToolUse"),
        Event::same("PreCompact"),
        Event::same("PostCompact"),
        Event::same("SessionStart"),
        Event::same("SessionEnd"),
        Event::same("UserPromptSubmit"),
        Event::same("SubagentStart"),
        Event::same("SubagentStop"),
        Event::same("Stop"),
        Event::own("Interrupt"),
    ],
    shape: Shape::Nested,
    unit: Unit::Seconds,
    patience: 600,
    is_async: true,
    tools: &[],
    shorter: &[("SessionEnd", 3), ("Interrupt", 3)],
    consent: "start `codex` and review it there: Codex runs a new or changed hook only once you trust it",
    fails: Verdict::TwoBlocks,
    settings: &["state"],
    strict: true,
};

/// Events whose matcher it leaves out of account.
const UNMATCHED: [&str; 4] = ["PreModelRequest", "UserPromptSubmit", "Stop", "Interrupt"];

/// Seconds that the events of [`Rules::shorter`] have when they ask for none.
const HURRY: u64 = 1;

impl Hooks for super::Codex {
    fn rules(&self) -> &'static Rules {
        &RULES
    }

    fn file(&self, places: &Places) -> PathBuf {
        places.config_dir.join("hooks.json")
    }

    fn look(&self, places: &Places) -> Vec<Look> {
        let (config, why) = config(&places.config_dir.join("config.toml"));
        let mut ours = hooks::look(&self.file(places), &RULES);
        let path = places.config_dir.join("config.toml");
        let mut inline = Look { exists: path.exists(), path, unreadable: why, ..Look::default() };
        let at = |keys: &[&str]| keys.iter().try_fold(&config, |at, key| at.get(*key));
        let off =
            ["hooks", "codex_hooks"].into_iter().find(|name| at(&["features", name]) == Some(&Value::Bool(false)));
        hooks::value(&config, &RULES, &mut inline);
        let state = at(&["hooks", "state"]).cloned().unwrap_or_default();
        for look in [&mut ours, &mut inline] {
            look.off = off.map(|name| format!("features.{name} is false in config.toml"));
            let path = look.path.clone();
            for entry in &mut look.entries {
                trust(&path, &state, entry);
            }
            strictly(look);
        }
        vec![ours, inline]
    }
}

/// config.toml as a value, and why it could not be read.
fn config(path: &Path) -> (Value, Option<String>) {
    let none = json!({});
    if !path.exists() {
        return (none, None);
    }
    let Some(text) = small_file(path, LARGEST).and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return (none, Some("it cannot be read, is no file, is not UTF-8, or is too large".to_owned()));
    };
    match text.strip_prefix('\u{feff}').unwrap_or(&text).parse::<toml::Table>() {
        Ok(table) => (serde_json::to_value(table).unwrap_or(none), None),
        Err(error) => (none, Some(error.message().to_owned())),
    }
}

/// What it refuses the whole file for.
fn strictly(look: &mut Look) {
    let mut found = Vec::new();
    for entry in &look.entries {
        let place = || format!("`hooks.{}[{}]`", entry.event, index(entry));
        for one in entry.value.get("hooks").and_then(Value::as_array).into_iter().flatten() {
            if one.get("type").is_none() {
                found.push(format!(
                    "{} holds a command without its type: the agent takes nothing of the file then",
                    place()
                ));
            }
            if one.get("timeout").is_some_and(|timeout| timeout.as_u64().is_none()) {
                found.push(format!(
                    "{} has a timeout that is no whole number of seconds: the agent takes nothing of the file then",
                    place()
                ));
            }
        }
    }
    look.oddities.extend(found);
}

fn index(entry: &Entry) -> usize {
    match entry.at.last() {
        Some(sys::edit::Step::Index(index)) => *index,
        _ => 0,
    }
}

fn snake(event: &str) -> String {
    let mut name = String::new();
    for c in event.chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// Whether each command of an entry runs.
fn trust(path: &Path, state: &Value, entry: &mut Entry) {
    let (group, event, known) = (index(entry), snake(&entry.event), entry.known);
    let raw = entry.value.get("hooks").and_then(Value::as_array).cloned().unwrap_or_default();
    // It writes the file as it found it; through a link that may be the other name.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    for (at, command) in entry.commands.iter_mut().enumerate().filter(|(_, command)| command.runs && known) {
        let Some(raw) = raw.get(at) else { continue };
        let keys = [path, &real].map(|path| format!("{}:{event}:{group}:{at}", path.display()));
        let told = keys.iter().find_map(|key| state.get(key));
        let matcher = entry.value.get("matcher").and_then(Value::as_str);
        let hash = hash(&entry.event, matcher, raw);
        command.trust = Some(match told {
            Some(told) if told.get("enabled") == Some(&Value::Bool(false)) => Trust::Off,
            Some(told) => match told.get("trusted_hash").and_then(Value::as_str) {
                Some(known) if known == hash => Trust::Trusted,
                Some(_) => Trust::Modified,
                None => Trust::Untrusted,
            },
            None => Trust::Untrusted,
        });
    }
}

/// What it remembers of a hook that was trusted.
fn hash(event: &str, matcher: Option<&str>, raw: &Value) -> String {
    let hurried = RULES.shorter.iter().find(|(name, _)| *name == event);
    let usual = if hurried.is_some() { HURRY } else { RULES.patience };
    let timeout = raw.get("timeout").and_then(Value::as_u64).unwrap_or(usual).max(1);
    let timeout = hurried.map_or(timeout, |(_, most)| timeout.min(*most));
    let mut command = json!({
        "async": raw.get("async") == Some(&Value::Bool(true)),
        "command": raw.get("command"),
        "timeout": timeout,
        "type": "command",
    });
    if let (Some(map), Some(message)) = (command.as_object_mut(), raw.get("statusMessage").filter(|m| m.is_string())) {
        map.insert("statusMessage".to_owned(), message.clone());
    }
    let mut all = json!({ "event_name": snake(event), "hooks": [command] });
    if let (Some(map), Some(matcher)) = (all.as_object_mut(), matcher.filter(|_| !UNMATCHED.contains(&event))) {
        map.insert("matcher".to_owned(), json!(matcher));
    }
    format!("sha256:{}", hooks::sha256(hooks::canonical(&all).as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(text: &str) -> (Value, Vec<Value>) {
        let all: Value = serde_json::from_str(text).unwrap();
        let list = |key: &str| all[key].as_array().cloned().unwrap_or_default();
        (all["hooks_json"].clone(), list("hooks_list"))
    }

    /// What Codex itself said of two files (`codex app-server`, `hooks/list`, 0.171.0).
    #[test]
    fn the_hashes_are_those_of_codex() {
        let mut seen = 0;
        for text in [include_str!("hook-hashes.json"), include_str!("hook-hashes-more.json")] {
            let (file, list) = vectors(text);
            let path = Path::new("/home/dev/.codex/hooks.json");
            let read = |state: &Value| {
                let mut look = Look::default();
                hooks::value(&file, &RULES, &mut look);
                look.entries.iter_mut().for_each(|entry| trust(path, state, entry));
                look.entries
            };
            let mut state = serde_json::Map::new();
            for one in &list {
                state.insert(one["key"].as_str().unwrap().to_owned(), json!({ "trusted_hash": one["currentHash"] }));
            }
            let told = read(&Value::Object(state.clone()));
            for one in &list {
                let key = one["key"].as_str().unwrap();
                let found = told.iter().flat_map(|entry| {
                    let key = |at| format!("{}:{}:{}:{at}", path.display(), snake(&entry.event), index(entry));
                    entry.commands.iter().enumerate().map(move |(at, command)| (key(at), command))
                });
                let command = found.filter(|(found, _)| found == key).map(|(_, command)| command).next().unwrap();
                assert_eq!(command.trust, Some(Trust::Trusted), "{key}");
                assert_eq!(Some(command.command.as_str()), one["command"].as_str());
                seen += 1;
            }
            for value in state.values_mut() {
                value["trusted_hash"] = json!("sha256:00");
            }
            let told = read(&Value::Object(state));
            assert!(told.iter().flat_map(|e| &e.commands).all(|c| c.trust != Some(Trust::Trusted)));
            let told = read(&Value::Null);
            assert!(
                told.iter().flat_map(|e| &e.commands).all(|c| c.trust.is_none() || c.trust == Some(Trust::Untrusted))
            );
        }
        assert!(seen >= 18, "{seen}");
    }

    /// The hashes of one command on every event, as listed beside the first vectors.
    #[test]
    fn the_hashes_of_every_event() {
        let all: Value = serde_json::from_str(include_str!("hook-hashes.json")).unwrap();
        let more = all["more"].as_array().unwrap();
        assert!(more.len() > 8);
        for one in more {
            let snake_name = one["key"].as_str().unwrap().split(':').nth(1).unwrap();
            let event = RULES.events.iter().find(|event| snake(event.name) == snake_name).unwrap();
            let raw = json!({ "command": one["command"], "timeout": one["timeoutSec"] });
            assert_eq!(hash(event.name, one["matcher"].as_str(), &raw), one["currentHash"].as_str().unwrap());
        }
    }
}
