//! The fast way through a sessions file in the layout that we write: line by line, without a general parser. Anything
//! unexpected gives `None`, and the general parser decides; where this answers, that one would say the same (a property
//! test holds it). Pure; only `records` calls it.

use toml::{Table, Value};

use super::records::Session;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Session,
    Env,
    State,
}

/// The sessions of `text`, if every line is one that we would write.
pub(super) fn sessions(text: &str) -> Option<Vec<Session>> {
    let mut found = Vec::new();
    let mut blocks: Option<[Table; 3]> = None;
    let mut seen = [false; 2];
    let mut part = Part::Session;
    for line in text.lines() {
        match line {
            "" => continue,
            "[[sessions]]" => {
                if let Some(block) = blocks.take() {
                    found.push(session(block, seen)?);
                }
                (blocks, seen, part) = (Some([Table::new(), Table::new(), Table::new()]), [false; 2], Part::Session);
                continue;
            }
            "[sessions.env]" | "[sessions.plugin_state]" => {
                let which = usize::from(line != "[sessions.env]");
                if blocks.is_none() || std::mem::replace(&mut seen[which], true) {
                    return None;
                }
                part = if which == 0 { Part::Env } else { Part::State };
                continue;
            }
            _ => {}
        }
        let (key, value) = pair(line)?;
        let table = &mut blocks.as_mut()?[part as usize];
        if table.insert(key, value).is_some() {
            return None;
        }
    }
    if let Some(block) = blocks {
        found.push(session(block, seen)?);
    }
    Some(found)
}

/// `key = value` on one line.
fn pair(line: &str) -> Option<(String, Value)> {
    let (key, value) = line.split_once(" = ")?;
    let bare = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare {
        let simple = match value {
            "true" => Some(Value::Boolean(true)),
            "false" => Some(Value::Boolean(false)),
            "[]" => Some(Value::Array(Vec::new())),
            _ => plain_string(value).map(Value::String),
        };
        if let Some(value) = simple {
            return Some((key.to_owned(), value));
        }
    }
    // One odd value does not make the whole file slow.
    let table: Table = toml::from_str(line).ok()?;
    let mut entries = table.into_iter();
    let (name, value) = entries.next()?;
    // A dotted key is a table of its own here, which other lines may belong to.
    let dotted = !bare && !line.starts_with('"');
    if entries.next().is_some() || dotted || line.starts_with('"') && line.contains("\".") {
        return None;
    }
    Some((name, value))
}

/// A basic string without escapes.
fn plain_string(value: &str) -> Option<String> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    let plain = inner.bytes().all(|b| b != b'"' && b != b'\\' && (b >= 0x20 || b == b'\t') && b != 0x7f);
    plain.then(|| inner.to_owned())
}

fn session([mut own, env, state]: [Table; 3], seen: [bool; 2]) -> Option<Session> {
    // The same names as tables and as values: the general parser has something to say about that.
    if (seen[0] && own.contains_key("env")) || (seen[1] && own.contains_key("plugin_state")) {
        return None;
    }
    if seen[0] {
        own.insert("env".to_owned(), Value::Table(env));
    }
    if seen[1] {
        own.insert("plugin_state".to_owned(), Value::Table(state));
    }
    Session::of_table(own).ok()
}
