//! Which texts of a conversation are searched, and how much of each. Pure.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::sessions::{Numbering, Piece, Said, Speaker};

/// Bytes of a tool's output that are kept.
pub(super) const OUTPUT: usize = 4 << 10;

/// Hands out the text of `piece`: its turn, who said it, the tool (empty for words), the text. Nothing for a piece
/// without text of its own.
pub(super) fn text(numbering: &mut Numbering, piece: &Piece, each: &mut dyn FnMut(u64, Speaker, &str, &str)) {
    let place = numbering.place(piece);
    match &piece.said {
        Said::Text(text) | Said::Reasoning(text) | Said::Compaction(text) | Said::Notice(text) => {
            each(place.turn, piece.speaker, "", text);
        }
        // A call and what it answered are the model's doing, whoever's record they are in.
        Said::Call { name, input, .. } => each(place.turn, Speaker::Assistant, name, &input_text(input)),
        Said::Result { output, .. } => {
            let output = &output[..output.floor_char_boundary(OUTPUT)];
            each(place.turn, Speaker::Assistant, place.tool.as_deref().unwrap_or("?"), output);
        }
        Said::Subagent { .. } => {}
    }
}

/// A tool's input as people would type it: JSON with escapes in it becomes `key: value` lines, so that a quote or a
/// line end in a command or a file's text is one.
fn input_text(input: &str) -> Cow<'_, str> {
    if !input.contains('\\') {
        return Cow::Borrowed(input);
    }
    let Ok(value) = serde_json::from_str::<serde_json::Value>(input) else { return Cow::Borrowed(input) };
    let mut text = String::with_capacity(input.len());
    write_value(&value, &mut text);
    Cow::Owned(text)
}

fn write_value(value: &serde_json::Value, text: &mut String) {
    match value {
        serde_json::Value::String(string) => {
            text.push_str(string);
            text.push('\n');
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| write_value(value, text)),
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                text.push_str(key);
                text.push_str(": ");
                write_value(value, text);
            }
        }
        // Writing to a string does not fail.
        other => drop(writeln!(text, "{other}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_searched_as_people_would_type_them() {
        assert_eq!(input_text(r#"{"command":"ls -l"}"#), r#"{"command":"ls -l"}"#);
        assert_eq!(input_text(r#"{"command":"say \"hi\"\nls","n":[1,true]}"#), "command: say \"hi\"\nls\nn: 1\ntrue\n");
        assert_eq!(input_text("a \\ b"), "a \\ b");
    }
}
