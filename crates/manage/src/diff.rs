//! The difference between two texts, for people: a unified diff with secrets masked. Pure; what it gives may hold text
//! from outside and is cleaned where it is shown. The desk calls it, and whatever shows an undo.

use std::sync::LazyLock;

use regex::Regex;
use similar::{ChangeTag, TextDiff};

use crate::mask::{Count, Masker};

/// Its patterns are built once: a diff is drawn at every look.
static MASKER: LazyLock<Option<Masker>> = LazyLock::new(|| Masker::new().ok());

/// A key whose name ends like that of a secret, and its value: in JSON, in TOML, in a file of variables.
static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let name = r"[A-Za-z0-9_.-]*(?:_key|apikey|api_key|token|secret|password)";
    let value = r#""(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'{}\[\],#][^\s,}]*"#;
    Regex::new(&format!(r#"(?i)((?:^|[\s{{,"'])"?)({name})("?\s*[:=]\s*)({value})"#)).ok()
});

/// Lines shown around a change.
const AROUND: usize = 2;
/// The most lines of one diff; the rest is counted.
const MOST: usize = 400;
/// Where a word of a secret is shorter than this it is no secret, bytes.
const SHORTEST: usize = 4;
/// What stands in the place of a secret.
pub const DOTS: &str = "••••";

/// The lines of a unified diff, without a heading: `@@ line 3`, then lines that begin with a blank, `-` or `+`. Every
/// text of `secrets`, and what looks like one beside a key that says so, is masked. Empty when the texts are equal.
pub fn unified(old: &str, new: &str, secrets: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    if old == new {
        return lines;
    }
    let diff = TextDiff::from_lines(old, new);
    let mut left = 0;
    for group in diff.grouped_ops(AROUND) {
        let first = group.first().map_or(0, |op| op.new_range().start) + 1;
        let heading = format!("@@ line {first}");
        for (at, change) in group.iter().flat_map(|op| diff.iter_changes(op)).enumerate() {
            if lines.len() >= MOST {
                left += 1;
                continue;
            }
            if at == 0 {
                lines.push(heading.clone());
            }
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let text = masked(change.value().trim_end_matches(['\n', '\r']), secrets);
            lines.push(format!("{sign}{}", plain(&text)));
        }
    }
    if left > 0 {
        lines.push(format!("… {left} more lines"));
    }
    lines
}

/// A line without what looks like a secret of somebody else.
fn plain(line: &str) -> String {
    let line = quiet(line);
    match &*MASKER {
        Some(masker) => masker.mask(&line, &mut Count::default()),
        None => DOTS.to_owned(),
    }
}

/// A line without the value of a key whose name says that it is a secret, however plain the value looks: in settings,
/// unlike in a conversation, the name is enough. One that only says where the secret is (`env_key`) stays.
fn quiet(line: &str) -> String {
    let Some(pattern) = &*NAMED else { return DOTS.to_owned() };
    let quiet = pattern.replace_all(line, |found: &regex::Captures<'_>| {
        let (name, value) = (found[2].to_ascii_lowercase(), found[4].trim_matches(['"', '\'']));
        let says_where = name.ends_with("env_key") || name.ends_with("envkey") || value.starts_with(['{', '$', '!']);
        if says_where || value.is_empty() || value == DOTS || value == "none" {
            return found[0].to_owned();
        }
        let quote = found[4].chars().next().filter(|c| matches!(c, '"' | '\'')).map(String::from).unwrap_or_default();
        format!("{}{}{}{quote}{DOTS}{quote}", &found[1], &found[2], &found[3])
    });
    quiet.into_owned()
}

/// `text` with every one of `secrets` replaced by dots.
pub fn masked(text: &str, secrets: &[String]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| secret.len() >= SHORTEST) {
        text = text.replace(secret.as_str(), DOTS);
        // As it stands in JSON.
        let quoted = serde_json::to_string(secret).unwrap_or_default();
        let inner = quoted.trim_matches('"');
        if inner != secret && !inner.is_empty() {
            text = text.replace(inner, DOTS);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_shows_what_changes_and_hides_secrets() {
        let old = "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3,\n  \"d\": 4\n}\n";
        let new = old.replace("\"d\": 4", "\"d\": \"hush-hush\"");
        let lines = unified(old, &new, &["hush-hush".to_owned()]);
        assert_eq!(lines, ["@@ line 3", "   \"b\": 2,", "   \"c\": 3,", "-  \"d\": 4", "+  \"d\": \"••••\"", " }"]);
        assert!(unified(old, old, &[]).is_empty());
    }

    #[test]
    fn keys_of_others_are_hidden_too() {
        let old = "ANTHROPIC_API_KEY=sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\nA=1\n";
        let lines = unified(old, &old.replace("A=1", "A=2"), &[]);
        assert!(!lines.concat().contains("AAAAAAAA"), "{lines:?}");
    }

    #[test]
    fn what_a_key_calls_a_secret_is_hidden_however_it_looks() {
        for line in [
            "GEMINI_API_KEY=aaaa",
            "export GEMINI_API_KEY='a b'",
            "  \"token\": \"aaaa\",",
            "{\"env\":{\"ANTHROPIC_AUTH_TOKEN\":\"aaaa\"}}",
            "{\"options\":{\"apiKey\":\"aa\\\"aa\"}}",
            "api_key = \"aaaa\" # mine",
        ] {
            let shown = unified("", &format!("{line}\n"), &[]).concat();
            assert!(!shown.contains("aa") && !shown.contains("a b") && shown.contains(DOTS), "{shown}");
        }
        for line in ["env_key = \"THE_TOKEN\"", "\"envKey\": \"MINE\"", "\"max_tokens\": 5", "\"apiKey\": \"{env:X}\""]
        {
            assert_eq!(unified("", &format!("{line}\n"), &[]), ["@@ line 1".to_owned(), format!("+{line}")]);
        }
    }

    #[test]
    fn a_secret_with_quotes_is_found_in_json() {
        let lines = unified("", "{\"t\": \"a\\\"b\\\"c\"}\n", &["a\"b\"c".to_owned()]);
        assert_eq!(lines, ["@@ line 1", "+{\"t\": \"••••\"}"]);
    }
}
