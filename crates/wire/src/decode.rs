//! Plugin lines, lenient where the contract is and strict where it is (clauses W1 to W5, B1, B2): unknown types
//! and fields pass, bytes that are not UTF-8 and lone surrogates become U+FFFD, everything else that is not a
//! message is a reason. Pure; the host's session calls it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::plugin::{Command, Exec, Frame, HelpGroup, Manifest, PluginMessage};

/// Why a line is no message, in words for the plugin's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// What is wrong.
    pub reason: String,
    /// The byte column of the fault, from 1, where it is known.
    pub column: Option<usize>,
    /// The first 80 characters of the line, raw: clean them before they are shown.
    pub start: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            Some(column) => write!(f, "column {column}: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

impl std::error::Error for Invalid {}

/// Reads one line, with or without its line end. `Ok(None)` is a line to skip: only white space, or a type that
/// this version does not know.
///
/// # Errors
/// When it is not JSON, not an object, has no `type` or an empty one, or a known field of a wrong type.
pub fn decode(line: &[u8]) -> Result<Option<PluginMessage>, Invalid> {
    const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];
    let line = String::from_utf8_lossy(line);
    let before = line.len() - line.trim_start_matches(BLANK).len();
    let text = line.trim_matches(BLANK);
    if text.is_empty() {
        return Ok(None);
    }
    let repaired = repair_surrogates(text);
    let invalid = |(reason, column): Fault| Invalid {
        reason,
        column: column.map(|column| column + before),
        start: text.chars().take(80).collect(),
    };
    let top: Top =
        serde_json::from_str(repaired.as_deref().unwrap_or(text)).map_err(|error| invalid(not_json(&error)))?;
    message(top).map_err(|reason| invalid((reason, None)))
}

/// What is wrong and, where known, the column.
type Fault = (String, Option<usize>);

/// serde_json's complaint in the words of somebody who wants to help.
fn not_json(error: &serde_json::Error) -> Fault {
    let column = (error.column() > 0).then_some(error.column());
    let words = error.to_string();
    let words = words.split(" at line ").next().unwrap_or(&words);
    if words.starts_with("control character") {
        let hint = "a raw control character inside a string; write it as an escape (ESC is \\u001b, a line end \\n)";
        return (hint.to_owned(), column);
    }
    if words == "expected ident" || words == "expected value" {
        return ("not JSON".to_owned(), column);
    }
    let words = words.replace("EOF while parsing", "the line ends inside");
    (format!("not JSON: {words}"), column)
}

/// The fields that v1 knows. All others are skipped without being understood, so that a number beyond f64 or a
/// nesting without end in them is nobody's business (clause W4: unknown fields are ignored).
const KNOWN: [&str; 12] = [
    "type",
    "title",
    "help",
    "commands",
    "doctor",
    "view",
    "count",
    "capturing",
    "execId",
    "argv",
    "dir",
    "interactive",
];

/// A line: an object with its known fields, or what it is instead.
enum Top {
    Object(Map<String, Value>),
    Other(&'static str),
}

impl<'de> Deserialize<'de> for Top {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TopVisitor)
    }
}

struct TopVisitor;

impl<'de> Visitor<'de> for TopVisitor {
    type Value = Top;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Top, A::Error> {
        let mut fields = Map::new();
        while let Some(name) = map.next_key::<String>()? {
            if KNOWN.contains(&name.as_str()) {
                fields.insert(name, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(Top::Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Top, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Top::Other("a list"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Top, E> {
        Ok(Top::Other("a boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Top, E> {
        Ok(Top::Other("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Top, E> {
        Ok(Top::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Top, E> {
        Ok(Top::Other("a number"))
    }

    fn visit_str<E>(self, _: &str) -> Result<Top, E> {
        Ok(Top::Other("a string"))
    }

    fn visit_unit<E>(self) -> Result<Top, E> {
        Ok(Top::Other("null"))
    }
}

fn message(top: Top) -> Result<Option<PluginMessage>, String> {
    let mut fields = match top {
        Top::Object(fields) => fields,
        Top::Other(kind) => return Err(format!("a message is an object, this is {kind}")),
    };
    let tag = match fields.remove("type") {
        None | Some(Value::Null) => return Err("the message has no \"type\"".to_owned()),
        Some(Value::String(tag)) if tag.is_empty() => return Err("the message has an empty \"type\"".to_owned()),
        Some(Value::String(tag)) => tag,
        Some(other) => return Err(format!("\"type\" must be a string, this is {}", kind(&other))),
    };
    let mut fields = Fields(fields);
    Ok(match tag.as_str() {
        "manifest" => Some(PluginMessage::Manifest(fields.manifest()?)),
        "frame" => Some(PluginMessage::Frame(Frame {
            view: fields.string("view")?,
            count: fields.integer("count")?,
            capturing: fields.boolean("capturing")?,
        })),
        "exec" => Some(PluginMessage::Exec(Exec {
            exec_id: fields.integer("execId")?.unwrap_or(0),
            argv: fields.list("argv")?.into_iter().map(|v| string("argv", v)).collect::<Result<_, _>>()?,
            dir: fields.string("dir")?,
            interactive: fields.boolean("interactive")?,
        })),
        _ => None,
    })
}

/// The fields of one message; taking one checks its type. `null` counts as absent (clause W4).
struct Fields(Map<String, Value>);

impl Fields {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    fn string(&mut self, name: &str) -> Result<String, String> {
        self.take(name).map_or_else(|| Ok(String::new()), |value| string(name, value))
    }

    fn boolean(&mut self, name: &str) -> Result<bool, String> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(other) => Err(wrong(name, "true or false", &other)),
        }
    }

    fn integer(&mut self, name: &str) -> Result<Option<i64>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => value.as_i64().map(Some).ok_or_else(|| wrong(name, "a whole number", &value)),
        }
    }

    fn list(&mut self, name: &str) -> Result<Vec<Value>, String> {
        self.take(name).map_or_else(|| Ok(Vec::new()), |value| list(name, value))
    }

    fn manifest(&mut self) -> Result<Manifest, String> {
        let group = |value| {
            let mut group = object("help", value)?;
            let keys = group.list("keys")?;
            let pair =
                |value| list("keys", value)?.into_iter().map(|v| string("keys", v)).collect::<Result<_, String>>();
            Ok::<_, String>(HelpGroup {
                title: group.string("title")?,
                keys: keys.into_iter().map(pair).collect::<Result<_, _>>()?,
            })
        };
        let command = |value| {
            let mut command = object("commands", value)?;
            Ok::<_, String>(Command { name: command.string("name")?, desc: command.string("desc")? })
        };
        Ok(Manifest {
            title: self.string("title")?,
            help: self.list("help")?.into_iter().map(group).collect::<Result<_, _>>()?,
            commands: self.list("commands")?.into_iter().map(command).collect::<Result<_, _>>()?,
            doctor: self.boolean("doctor")?,
        })
    }
}

fn string(name: &str, value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Null => Ok(String::new()),
        other => Err(wrong(name, "a string", &other)),
    }
}

fn list(name: &str, value: Value) -> Result<Vec<Value>, String> {
    match value {
        Value::Array(items) => Ok(items),
        Value::Null => Ok(Vec::new()),
        other => Err(wrong(name, "a list", &other)),
    }
}

fn object(name: &str, value: Value) -> Result<Fields, String> {
    match value {
        Value::Object(fields) => Ok(Fields(fields)),
        Value::Null => Ok(Fields(Map::new())),
        other => Err(wrong(name, "a list of objects", &other)),
    }
}

fn wrong(name: &str, wanted: &str, got: &Value) -> String {
    format!("\"{name}\" must be {wanted}, this is {}", kind(got))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(n) if n.is_f64() => "a number that is not whole, or too large",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// `text` with lone `\uD800`-`\uDFFF` escapes replaced by `\uFFFD`; `None` when there are none (clause W5:
/// Python's surrogateescape writes them, serde_json refuses them).
fn repair_surrogates(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut repaired: Option<Vec<u8>> = None;
    let mut at = 0;
    while at < bytes.len() {
        let Some(found) = bytes[at..].iter().position(|b| *b == b'\\') else { break };
        at += found;
        match (unit(bytes, at), unit(bytes, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => {
                let copy = repaired.get_or_insert_with(|| bytes.to_vec());
                copy[at..at + 6].copy_from_slice(b"\\uFFFD");
                at += 6;
            }
            (Some(_), _) => at += 6,
            (None, _) => at += 2,
        }
    }
    repaired.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// The code unit of a `\uXXXX` escape that starts at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let hex = escape.strip_prefix(b"\\u")?;
    if !hex.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(line: &str) -> Frame {
        match decode(line.as_bytes()) {
            Ok(Some(PluginMessage::Frame(frame))) => frame,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn reason(line: &[u8]) -> String {
        decode(line).unwrap_err().to_string()
    }

    #[test]
    fn w1_blanks_around_and_empty_lines_are_fine() {
        assert_eq!(frame(" \t{\"type\":\"frame\",\"view\":\"x\"} \r").view, "x");
        assert_eq!(decode(b"  \r"), Ok(None));
    }

    #[test]
    fn w4_unknown_types_and_fields_pass_and_null_is_absent() {
        assert_eq!(decode(br#"{"type":"later","count":"no matter"}"#), Ok(None));
        let got = frame(r#"{"type":"frame","view":"x","extra":{"deep":[1]},"count":null,"capturing":null}"#);
        assert_eq!(got, Frame { view: "x".into(), count: None, capturing: false });
    }

    #[test]
    fn w4_what_is_not_known_is_not_looked_into() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let line = format!("{{\"type\":\"frame\",\"big\":1e999,\"deep\":{deep},\"view\":\"x\"}}");
        assert_eq!(frame(&line).view, "x");
    }

    #[test]
    fn w4_known_fields_of_a_wrong_type_are_named() {
        let why = |fields: &str| reason(format!("{{\"type\":\"frame\",{fields}}}").as_bytes());
        assert_eq!(why(r#""count":"3""#), "\"count\" must be a whole number, this is a string");
        assert_eq!(
            why(r#""count":1.5"#),
            "\"count\" must be a whole number, this is a number that is not whole, or too large"
        );
        assert_eq!(why(r#""view":7"#), "\"view\" must be a string, this is a number");
        assert_eq!(reason(br#"{"type":"exec","execId":"1"}"#), "\"execId\" must be a whole number, this is a string");
        assert_eq!(
            reason(br#"{"type":"manifest","help":[{"keys":[1]}]}"#),
            "\"keys\" must be a list, this is a number"
        );
    }

    #[test]
    fn w5_bad_utf8_and_lone_surrogates_become_replacement_characters() {
        assert_eq!(
            decode(b"{\"type\":\"frame\",\"view\":\"a\xffb\"}"),
            decode("{\"type\":\"frame\",\"view\":\"a\u{fffd}b\"}".as_bytes())
        );
        assert_eq!(
            frame(r#"{"type":"frame","view":"\ud83d\ude00 \udcff \ud800x \\ud800"}"#).view,
            "😀 \u{fffd} \u{fffd}x \\ud800"
        );
        assert_eq!(frame(r#"{"type":"frame","view":"\ud800\ud83d\ude00"}"#).view, "\u{fffd}😀");
    }

    #[test]
    fn b1_b2_what_is_no_message_says_why() {
        assert_eq!(reason(b"this is not json"), "column 2: not JSON");
        assert_eq!(reason(b"[1,2]"), "a message is an object, this is a list");
        assert_eq!(reason(b"42"), "a message is an object, this is a number");
        assert_eq!(reason(br#"{"type":"","view":"x"}"#), "the message has an empty \"type\"");
        assert_eq!(reason(br#"{"view":"x"}"#), "the message has no \"type\"");
        let raw = reason(b"{\"type\":\"frame\",\"view\":\"\x1b[1m\"}");
        assert_eq!(
            raw,
            "column 25: a raw control character inside a string; write it as an escape (ESC is \\u001b, a line end \\n)"
        );
        assert!(decode(format!("{{\"type\":\"frame\",\"x\":{}", "[".repeat(100_000)).as_bytes()).is_err());
        assert!(decode(format!("{{\"type\":\"frame\",\"view\":{}", "[".repeat(100_000)).as_bytes()).is_err());
    }

    #[test]
    fn of_two_equal_keys_the_last_counts() {
        assert_eq!(frame(r#"{"type":"frame","view":"a","view":"b"}"#).view, "b");
    }

    #[test]
    fn fixtures_are_read_as_they_are_documented() {
        let read = |bytes: &[u8]| {
            let message = decode(bytes).unwrap().unwrap();
            let again = serde_json::to_vec(&message).unwrap();
            assert_eq!(decode(&again).unwrap().as_ref(), Some(&message));
            message
        };
        let manifest = read(include_bytes!("fixtures/manifest.json"));
        assert!(matches!(manifest, PluginMessage::Manifest(m) if m.commands.len() == 1 && m.doctor));
        let frame = read(include_bytes!("fixtures/frame.json"));
        assert!(matches!(frame, PluginMessage::Frame(f) if f.count == Some(2)));
        let exec = read(include_bytes!("fixtures/exec.json"));
        assert!(matches!(exec, PluginMessage::Exec(e) if e.argv.len() == 2 && e.interactive));
    }

    proptest::proptest! {
        #[test]
        fn decoding_is_total(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
            crate::fuzz::decode_is_total(&bytes);
        }

        #[test]
        fn decoding_near_json_is_total(text in r#"[{}\[\]",:\\a-z0-9u. -]{0,120}"#) {
            crate::fuzz::decode_is_total(text.as_bytes());
            crate::fuzz::decode_is_total(format!("{{\"type\":\"frame\",\"view\":\"{text}").as_bytes());
            crate::fuzz::decode_is_total(format!("{{\"type\":\"manifest\",\"help\":{text}}}").as_bytes());
        }
    }
}
