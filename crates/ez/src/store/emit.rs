//! TOML as awk scripts can read it: `key = "value"` at column 0, basic strings always, a blank line between blocks
//! (ez-behaviour.md, 1: the tmux plugin parses these files with awk). Pure; only the store's files call it.

use std::fmt::Write;

use toml::{Table, Value};

/// `text` as a basic string: one line, double quotes.
pub(super) fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A key: bare where TOML allows it.
pub(super) fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_owned() } else { string(name) }
}

/// Any value on one line.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => float(*number),
        Value::Boolean(flag) => flag.to_string(),
        Value::Datetime(time) => time.to_string(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(self::value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let pairs: Vec<_> = table.iter().map(|(k, v)| format!("{} = {}", key(k), self::value(v))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

fn float(number: f64) -> String {
    if number.is_nan() {
        "nan".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "inf".to_owned() } else { "-inf".to_owned() }
    } else {
        // Debug keeps a point or an exponent, so that it stays a float.
        format!("{number:?}")
    }
}

/// `key = value` as a line.
pub(super) fn line(out: &mut String, name: &str, content: &Value) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{} = {}", key(name), value(content));
}

/// The rest of a block: values that no field stands for, then tables below `prefix` with a blank line before each.
pub(super) fn rest(out: &mut String, extra: &Table) {
    for (name, content) in extra {
        line(out, name, content);
    }
}

/// A table with its header, after a blank line.
pub(super) fn section(out: &mut String, header: &str, table: &Table) {
    let _ = writeln!(out, "\n[{header}]");
    for (name, content) in table {
        line(out, name, content);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_survives(key_text in any::<String>(), text in any::<String>()) {
            let mut out = String::new();
            line(&mut out, &key_text, &Value::String(text.clone()));
            prop_assert_eq!(out.lines().count(), 1);
            let table: Table = toml::from_str(&out).unwrap();
            prop_assert_eq!(table.get(&key_text).and_then(Value::as_str), Some(text.as_str()));
        }

        #[test]
        fn any_float_survives(number in any::<f64>()) {
            let mut out = String::new();
            line(&mut out, "n", &Value::Float(number));
            let table: Table = toml::from_str(&out).unwrap();
            let back = table["n"].as_float().unwrap();
            prop_assert!(back == number || (back.is_nan() && number.is_nan()));
        }
    }
}
