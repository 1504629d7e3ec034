//! The difference between two texts, for people: a unified diff with secrets masked. Pure; what it gives may hold text
//! from outside and is cleaned where it is shown. The desk calls it, and whatever shows an undo.

use std::sync::LazyLock;

use similar::{ChangeTag, TextDiff};

use crate::mask::{Count, Masker};

/// Its patterns are built once: a diff is drawn at every look.
static MASKER: LazyLock<Option<Masker>> = LazyLock::new(|| Masker::new().ok());

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

/// True for the name of a value that is a secret whatever it looks like: `API_KEY`, `authToken`, `password`. Names of
/// variables that hold one, of files and of counts are not.
pub fn is_secret_name(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let says =
        ["token", "apikey", "secret", "password", "passwd", "authorization", "bearer", "credential", "accesskey"];
    let about =
        ["envkey", "helper", "command", "file", "path", "max", "tokens", "count", "limit", "name", "type", "url"];
    (says.iter().any(|word| plain.contains(word)) || plain == "key" || plain == "sig")
        && !about.iter().any(|word| plain.ends_with(word) || *word == "max" && plain.starts_with(word))
}

/// The line with dots in place of a value whose name says that it is a secret: `KEY=value`, `"key": "value",`, `key = "value"`.
fn named(line: &str) -> Option<String> {
    let at = line.find(['=', ':'])?;
    let name = line[..at].trim().trim_start_matches("export ").trim_matches(['"', '\'', ' ']);
    let value = line[at + 1..].trim_start();
    let start = line.len() - value.len();
    let bare = value.trim_end().trim_end_matches(',').trim_matches(['"', '\'']);
    // A place where it stands, and what holds other values, is none.
    if bare.is_empty() || bare.starts_with(['$', '{', '[']) || matches!(bare, "null" | "true" | "false") {
        return None;
    }
    let end = if line.trim_end().ends_with(',') { "," } else { "" };
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'')).map(String::from).unwrap_or_default();
    is_secret_name(name).then(|| format!("{}{quote}{DOTS}{quote}{end}", &line[..start]))
}

/// A line without what is a secret of somebody else by its name, or looks like one.
fn plain(line: &str) -> String {
    if let Some(line) = named(line) {
        return line;
    }
    match &*MASKER {
        Some(masker) => masker.mask(line, &mut Count::default()),
        None => DOTS.to_owned(),
    }
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
    fn what_is_named_a_secret_is_hidden_whatever_it_looks_like() {
        let old = "GEMINI_API_KEY=my-secret-api-key-value\n  \"ANTHROPIC_AUTH_TOKEN\": \"hunter2\",\nexperimental_bearer_token = \"hunter2\"\n\"Authorization\": \"Bearer hunter2\"\nenv_key = \"MY_KEY\"\nmax_tokens: 10\n\"apiKey\": \"{env:X}\"\n";
        let lines = unified(old, &format!("{old}x\n"), &[]);
        let shown = unified("", old, &[]).concat();
        assert!(!shown.contains("hunter2") && !shown.contains("my-secret"), "{shown} {lines:?}");
        assert!(shown.contains("MY_KEY") && shown.contains("max_tokens: 10") && shown.contains("{env:X}"), "{shown}");
    }

    #[test]
    fn a_secret_with_quotes_is_found_in_json() {
        let lines = unified("", "{\"t\": \"a\\\"b\\\"c\"}\n", &["a\"b\"c".to_owned()]);
        assert_eq!(lines, ["@@ line 1", "+{\"t\": \"••••\"}"]);
    }
}
