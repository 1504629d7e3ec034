//! Reads what is in a file with hooks, whatever wrote it: the shapes that agents take, those of older versions, and what
//! nobody takes, which is named and never fatal. Pure but for one bounded read.

use std::path::Path;

use serde_json::Value;

use super::{Command, Entry, LARGEST, Look, Rules, Shape};
use crate::read::small_file;

/// Entries of one file that are kept: more is no settings file of a person.
const MOST: usize = 10_000;

/// Looks at a JSON file whose `hooks` are a map from events to lists. `off` names switches of the file, each with the
/// value that switches all hooks off.
pub(crate) fn file(path: &Path, rules: &Rules, off: &[(&[&str], Value)]) -> Look {
    let mut look = Look { path: path.to_owned(), exists: path.exists(), ..Look::default() };
    if !look.exists {
        return look;
    }
    let Some(bytes) = small_file(path, LARGEST) else {
        look.unreadable = Some(format!("it cannot be read, is no file, or has more than {} MiB", LARGEST >> 20));
        return look;
    };
    let read = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8".to_owned()).and_then(crate::jsonc::parse);
    match read {
        Err(why) => look.unreadable = Some(why),
        Ok(root) => {
            for (keys, value) in off {
                let found = keys.iter().try_fold(&root, |at, key| at.get(key));
                if found == Some(value) {
                    look.off = Some(format!("{} is {value} in it", keys.join(".")));
                }
            }
            self::value(&root, rules, &mut look);
        }
    }
    look
}

/// Takes what `root`, a whole file, holds.
pub(crate) fn value(root: &Value, rules: &Rules, look: &mut Look) {
    let Value::Object(map) = root else {
        look.oddities.push(format!("the file is {}, not a map", kind(root)));
        return;
    };
    let events = match map.get("hooks") {
        None => return,
        Some(Value::Object(events)) => events,
        Some(other) => {
            look.oddities.push(format!("`hooks` is {}, not a map of events: the agent takes none of it", kind(other)));
            return;
        }
    };
    for (event, list) in events.iter().filter(|(event, _)| !rules.settings.contains(&event.as_str())) {
        let known = rules.knows(event);
        if !known {
            look.oddities.push(format!("`{event}` is no event of it"));
        }
        let Value::Array(list) = list else {
            look.oddities.push(format!("`hooks.{event}` is {}, not a list: the agent takes none of it", kind(list)));
            continue;
        };
        for (index, element) in list.iter().enumerate() {
            if look.entries.len() >= MOST {
                look.oddities.push(format!("it has more than {MOST} hooks; the rest is not shown"));
                return;
            }
            match entry(event, known, index, element, rules) {
                Ok(entry) => {
                    if entry.shape != rules.shape {
                        let takes =
                            if rules.strict { "the agent takes nothing of the file then" } else { "an old shape" };
                        look.oddities.push(format!("`hooks.{event}[{index}]` {}: {takes}", form(entry.shape)));
                    }
                    look.entries.push(entry);
                }
                Err(why) => look.oddities.push(format!("`hooks.{event}[{index}]` {why}")),
            }
        }
    }
}

fn form(shape: Shape) -> &'static str {
    match shape {
        Shape::Nested => "is a group of commands",
        Shape::Flat => "is a command without its group",
        Shape::Text => "is a text alone",
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a yes or no",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

fn entry(event: &str, known: bool, index: usize, element: &Value, rules: &Rules) -> Result<Entry, String> {
    let (shape, matcher, commands) = match element {
        Value::String(text) => (Shape::Text, None, vec![alone(text)]),
        Value::Object(map) => {
            let matcher = map.get("matcher").and_then(Value::as_str).filter(|m| !m.is_empty()).map(str::to_owned);
            match map.get("hooks") {
                Some(Value::Array(inner)) => {
                    let commands: Result<Vec<_>, _> = inner.iter().map(|one| command(one, rules)).collect();
                    (Shape::Nested, matcher, commands.map_err(|why| format!("holds {why}"))?)
                }
                Some(other) => return Err(format!("has `hooks` that are {}, not a list", kind(other))),
                None => (Shape::Flat, matcher, vec![command(element, rules)?]),
            }
        }
        other => return Err(format!("is {}", kind(other))),
    };
    Ok(Entry {
        event: event.to_owned(),
        known,
        at: sys::path!["hooks", event, index],
        shape,
        matcher,
        print: super::fingerprint(element),
        value: element.clone(),
        commands,
    })
}

fn alone(text: &str) -> Command {
    Command { command: text.to_owned(), runs: true, ..Command::default() }
}

fn command(value: &Value, rules: &Rules) -> Result<Command, String> {
    let map = match value {
        Value::String(text) => return Ok(alone(text)),
        Value::Object(map) => map,
        other => return Err(format!("{} where a command belongs", kind(other))),
    };
    let text = |key: &str| map.get(key).and_then(Value::as_str);
    let seconds = |key: &str, per: f64| map.get(key).and_then(Value::as_f64).map(|count| count / per);
    #[allow(clippy::cast_precision_loss, reason = "1 or 1000")]
    let unit = rules.unit.per_second() as f64;
    let kind = text("type").unwrap_or("command");
    let run = ["command", "bash", "powershell"].into_iter().find_map(text);
    let (command, runs) = match (kind, run) {
        ("command", Some(run)) => (run.to_owned(), true),
        ("command", None) => return Err("no command".to_owned()),
        (other, _) => {
            let more = ["prompt", "url", "name"].into_iter().find_map(text).unwrap_or_default();
            (format!("{other}: {more}").trim_end_matches([':', ' ']).to_owned(), false)
        }
    };
    Ok(Command {
        command,
        runs,
        timeout: seconds("timeoutSec", 1.0).or_else(|| seconds("timeout", unit)),
        is_async: map.get("async") == Some(&Value::Bool(true)),
        trust: None,
    })
}

/// True when two command lines start a program of the same name from different places, with the same words after it: two
/// versions of one hook (report E1).
pub fn kin(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    let (Some((first, rest)), Some((second, same))) = (one.split_first(), other.split_first()) else { return false };
    let name = |path: &String| Path::new(path).file_name().map(|name| name.to_owned());
    first != second && rest == same && name(first).is_some() && name(first) == name(second)
}

/// The words of a shell command line up to the first thing that is more than a word: what it starts. Quotes and
/// backslashes are undone; assignments before it are left out. Empty when it cannot be told (`if`, `$(...)`).
pub fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut open) = (Vec::new(), String::new(), false);
    let mut chars = command.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => {
                open = true;
                word.extend(chars.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                open = true;
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => word.extend(chars.next()),
                        '`' => return Vec::new(),
                        other => word.push(other),
                    }
                }
            }
            '\\' => word.extend(chars.next()),
            ';' | '|' | '&' | '<' | '>' | '\n' => break,
            '(' | '`' => return Vec::new(),
            c if c.is_whitespace() => {
                if open || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                    open = false;
                }
            }
            other => word.push(other),
        }
    }
    if open || !word.is_empty() {
        words.push(word);
    }
    let assignment = |word: &String| {
        let name = word.split('=').next().unwrap_or_default();
        word.contains('=') && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let first = words.iter().position(|word| !assignment(word)).unwrap_or(words.len());
    words.drain(..first);
    words
}
