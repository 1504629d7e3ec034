//! Settings as people write them: JSON with comments and commas too many, read as a value. It edits nothing
//! (`sys::edit` does) and is stricter than no agent. The hooks of this crate call it.

use serde_json::Value;

/// The value of `text`; a byte order mark is fine, and a text of blanks and comments alone means an empty map.
///
/// # Errors
/// What is wrong, with its line and column, in words of the parser.
pub fn parse(text: &str) -> Result<Value, String> {
    let plain = plain(text.strip_prefix('\u{feff}').unwrap_or(text));
    if plain.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(&plain).map_err(|error| error.to_string())
}

/// `text` with blanks where comments and trailing commas were, so that places stay.
fn plain(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let (mut at, mut comma) = (0, None);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                comma = None;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    bytes[at] = b' ';
                    at += 1;
                }
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = text.as_bytes()[at + 2..].windows(2).position(|two| two == b"*/");
                let Some(end) = end.map(|end| at + 2 + end + 2) else { break };
                for byte in &mut bytes[at..end] {
                    if *byte != b'\n' {
                        *byte = b' ';
                    }
                }
                at = end;
            }
            b',' => {
                comma = Some(at);
                at += 1;
            }
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
                at += 1;
            }
            other => {
                if !other.is_ascii_whitespace() {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    // Whole comments were blanked, so it is still text.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_nothing() {
        let text = "\u{feff}// é\n{\"a\": [1, 2,], /* , } */ \"b\": \"// no, /* no */ ,]\\\"\",\n}\n";
        assert_eq!(parse(text).unwrap(), serde_json::json!({"a": [1, 2], "b": "// no, /* no */ ,]\""}));
        assert_eq!(parse(" // nothing\n").unwrap(), serde_json::json!({}));
        assert!(parse("{\"a\": 1,, }").is_err());
        assert!(parse("{,}").is_ok(), "as tolerant as it needs to be");
        assert!(parse("{\"a\": 1 /* ").unwrap_err().contains("line 1"));
    }

    proptest! {
        #[test]
        fn strict_json_is_read_as_it_is(text in "[\\[\\]{}\",:/*a0\\\\ \n]{0,40}") {
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                prop_assert_eq!(parse(&text).ok(), Some(value));
            } else {
                let _ = parse(&text);
            }
        }
    }
}
