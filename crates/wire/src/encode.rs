//! Host lines: compact, `type` first, fields in the table's order, never over the limit (clauses W2, W3).
//! Pure; the host's queue and authors' tests call it.

use crate::plugin::{ExecResult, HostMessage};

/// The most bytes that a line may have, without its newline (seed: "at most 1 MiB per line"; clause W3).
pub const MAX_LINE: usize = 1 << 20;

/// One compact line with its `\n`.
pub fn encode(message: &HostMessage) -> Vec<u8> {
    // The types hold only strings, numbers and lists: serializing them into memory cannot fail.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

/// The messages of a paste: one, or as many as it takes for no line to pass [`MAX_LINE`], cut at character borders
/// (clause P1).
pub fn paste(text: &str) -> Vec<HostMessage> {
    const AROUND: usize = r#"{"type":"paste","text":""}"#.len();
    let mut messages = Vec::new();
    let mut rest = text;
    loop {
        let (part, more) = rest.split_at(prefix_within(rest, MAX_LINE - AROUND));
        messages.push(HostMessage::Paste { text: part.to_owned() });
        rest = more;
        if rest.is_empty() {
            return messages;
        }
    }
}

/// `result` with its streams cut so that its line does not pass [`MAX_LINE`] (clause E5). A short stream leaves
/// its room to the other one.
pub fn exec_result_that_fits(mut result: ExecResult) -> HostMessage {
    const AROUND: usize =
        r#"{"type":"exec_result","execId":-9223372036854775808,"code":-2147483648,"stdout":"","stderr":"","error":""}"#
            .len();
    result.error.truncate(prefix_within(&result.error, 4096));
    let room = MAX_LINE - AROUND - 4096;
    let (out, err) = (escaped(&result.stdout), escaped(&result.stderr));
    if out + err > room {
        let half = room / 2;
        let for_out = if err < half { room - err } else { half };
        let for_err = if out < half { room - out } else { half };
        result.stdout.truncate(prefix_within(&result.stdout, for_out));
        result.stderr.truncate(prefix_within(&result.stderr, for_err));
    }
    HostMessage::ExecResult(result)
}

/// Bytes that a character takes inside a JSON string.
fn cost(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        _ => c.len_utf8(),
    }
}

fn escaped(text: &str) -> usize {
    text.chars().map(cost).sum()
}

/// The length of the longest prefix of `text`, at a character border, that takes at most `room` bytes escaped.
fn prefix_within(text: &str, room: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += cost(c);
        if used > room {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::{Mouse, MouseKind};

    fn text(message: &HostMessage) -> String {
        String::from_utf8(encode(message)).unwrap()
    }

    #[test]
    fn w2_lines_are_compact_with_type_first_and_empty_fields_left_out() {
        let key = |key: &str, text: &str| HostMessage::Key { key: key.into(), text: text.into() };
        assert_eq!(text(&key("a", "a")), "{\"type\":\"key\",\"key\":\"a\",\"text\":\"a\"}\n");
        assert_eq!(text(&key("enter", "")), "{\"type\":\"key\",\"key\":\"enter\"}\n");
        assert_eq!(text(&HostMessage::Reload), "{\"type\":\"reload\"}\n");
        let mouse = Mouse { kind: MouseKind::Click, x: 0, y: 0, button: "left".into() };
        assert_eq!(
            text(&HostMessage::Mouse { mouse }),
            "{\"type\":\"mouse\",\"mouse\":{\"kind\":\"click\",\"x\":0,\"y\":0,\"button\":\"left\"}}\n"
        );
        assert_eq!(text(&HostMessage::ExecResult(ExecResult::default())), "{\"type\":\"exec_result\",\"code\":0}\n");
        assert_eq!(text(&HostMessage::Agents { agents: vec![] }), "{\"type\":\"agents\",\"agents\":[]}\n");
        assert_eq!(text(&key("é", "é")), "{\"type\":\"key\",\"key\":\"é\",\"text\":\"é\"}\n");
    }

    #[test]
    fn e5_two_full_streams_of_control_characters_fit() {
        let stream = "\u{1}\"é界".repeat(200_000);
        let result =
            ExecResult { exec_id: i64::MIN, code: -1, stdout: stream.clone(), stderr: stream, error: "x".into() };
        let line = encode(&exec_result_that_fits(result.clone()));
        assert!(line.len() <= MAX_LINE + 1 && line.len() > MAX_LINE - 9000);
        let short = ExecResult { stderr: "short".into(), ..result };
        let line = encode(&exec_result_that_fits(short));
        assert!(line.len() <= MAX_LINE + 1 && line.len() > MAX_LINE - 9000);
        assert!(String::from_utf8(line).unwrap().contains("\"stderr\":\"short\""));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
        #[test]
        fn p1_a_paste_is_whole(text in ".{0,200}", times in 1_usize..40_000) {
            crate::fuzz::paste_is_whole(&text.repeat(times.min(3_000_000 / text.len().max(1))));
        }
    }
}
