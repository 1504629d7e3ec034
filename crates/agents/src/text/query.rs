//! What is searched for: words and filters, and what they become for the matcher. Pure.

use jiff::{Span, ZonedDateTime, civil::Date};
use regex::{Regex, RegexBuilder};

use super::fold;
use crate::sessions::Speaker;

/// The longest query, bytes.
const LONGEST: usize = 1_000;
/// Words of one query, at most: they are the bits of a mask.
const WORDS: usize = 32;

/// How much is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sessions, at most.
    pub sessions: usize,
    /// Excerpts of one session, at most.
    pub excerpts: usize,
    /// Bytes of text shown on each side of a match, about.
    pub around: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sessions: usize::MAX, excerpts: 3, around: 80 }
    }
}

/// What is searched for. All words must occur in one turn, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words and phrases, taken literally. Case counts only in those that have capitals.
    pub words: Vec<String>,
    /// Only this agent (its id).
    pub agent: Option<String>,
    /// Only sessions whose folder contains this, whatever the case.
    pub project: Option<String>,
    /// Only sessions with a record at or after this instant, milliseconds since 1970.
    pub since: Option<i64>,
    /// Only what this one said.
    pub role: Option<Speaker>,
    /// Only calls and results of this tool, whatever the case.
    pub tool: Option<String>,
    /// How much is wanted.
    pub limits: Limits,
}

impl Query {
    /// Reads `deploy fail agent:codex since:7d role:user tool:Bash project:webshop "exact phrase"`. A quote that is
    /// not closed ends with the text; `word:` with another word before it is text. `now` says when `7d` ago was and
    /// in which zone a date begins.
    ///
    /// # Errors
    /// In words for people: no word to search for, a filter that makes no sense, a text that is too long.
    pub fn parse(text: &str, now: &ZonedDateTime) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("a search may have {LONGEST} bytes, this one has {}", text.len()));
        }
        let mut query = Self::default();
        for Token { key, value } in tokens(text) {
            match key {
                None if value.is_empty() => {}
                None => query.words.push(value),
                Some(key) if value.is_empty() => return Err(format!("{key}: says nothing; write {key}:something")),
                Some("agent") => query.agent = Some(value),
                Some("project") => query.project = Some(value),
                Some("tool") => query.tool = Some(value),
                Some("since") => query.since = Some(since(&value, now)?),
                Some(_) => query.role = Some(role(&value)?),
            }
        }
        if query.words.is_empty() {
            return Err("there is no word to search for".to_owned());
        }
        if query.words.len() > WORDS {
            return Err(format!("a search may have {WORDS} words, this one has {}", query.words.len()));
        }
        Ok(query)
    }
}

fn role(value: &str) -> Result<Speaker, String> {
    match value.to_lowercase().as_str() {
        "user" | "me" => Ok(Speaker::User),
        "assistant" | "agent" | "model" => Ok(Speaker::Assistant),
        "system" => Ok(Speaker::System),
        _ => Err(format!("role:{value} is nobody; it is user, assistant or system")),
    }
}

/// The instant that `7d`, `24h`, `30m`, `2w` or `2026-11-30` means.
fn since(value: &str, now: &ZonedDateTime) -> Result<i64, String> {
    let wrong = || format!("since:{value} is no time; write 7d, 24h, 30m, 2w or 2026-11-30");
    let then = match value.parse::<Date>() {
        Ok(date) => now.time_zone().to_timestamp(date.at(0, 0, 0, 0)).map_err(|_| wrong())?,
        Err(_) => {
            let digits = value.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
            let count: i64 = value[..digits].parse().map_err(|_| wrong())?;
            let span = match &value[digits..] {
                "m" => Span::new().try_minutes(count),
                "h" => Span::new().try_hours(count),
                "d" => Span::new().try_days(count),
                "w" => Span::new().try_weeks(count),
                _ => return Err(wrong()),
            };
            now.checked_sub(span.map_err(|_| wrong())?).map_err(|_| wrong())?.timestamp()
        }
    };
    Ok(then.as_millisecond())
}

struct Token {
    key: Option<&'static str>,
    value: String,
}

/// Splits at white space outside of quotes. A known key directly before a colon makes a filter.
fn tokens(text: &str) -> Vec<Token> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let key = ["agent", "project", "since", "role", "tool"].into_iter().find(|key| {
            rest.get(..key.len()).is_some_and(|start| start.eq_ignore_ascii_case(key))
                && rest[key.len()..].starts_with(':')
        });
        rest = key.map_or(rest, |key| &rest[key.len() + 1..]);
        let value = match rest.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"').unwrap_or(quoted.len());
                rest = quoted[end..].strip_prefix('"').unwrap_or_default();
                &quoted[..end]
            }
            None => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let value = &rest[..end];
                rest = &rest[end..];
                value
            }
        };
        found.push(Token { key, value: value.to_owned() });
        rest = rest.trim_start();
    }
    found
}

/// One word, ready to be looked for.
pub(super) struct Needle {
    /// Finds it in text.
    pub(super) text: Regex,
    /// Its trigrams as [`fold`] hashes them; empty for a word of less than three bytes, which is looked for everywhere.
    pub(super) grams: Vec<u16>,
    /// Finds, in the bytes of a JSON file, a part of it that no escaping changes; `None` when every part may be.
    pub(super) bytes: Option<regex::bytes::Regex>,
}

impl Needle {
    pub(super) fn of(word: &str) -> Result<Self, String> {
        let exact = word.chars().any(char::is_uppercase);
        let failed = |error: regex::Error| format!("cannot search for {word}: {error}");
        let text = RegexBuilder::new(&regex::escape(word)).case_insensitive(!exact).build().map_err(failed)?;
        let part = plain_part(word);
        let bytes = (part.len() >= 2).then(|| {
            regex::bytes::RegexBuilder::new(&regex::escape(part)).case_insensitive(!exact).build().map_err(failed)
        });
        Ok(Self { text, grams: fold::grams(word), bytes: bytes.transpose()? })
    }
}

/// The longest part of `word` that every writer of JSON leaves as it is: no quotes, no slashes, no control
/// characters, nothing that is written `\u....` by some (non-ASCII, `<`, `>`, `&`, `'`).
fn plain_part(word: &str) -> &str {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _-.,:;!?()[]{}=+*#@%^|~$".contains(c);
    word.split(|c| !plain(c)).max_by_key(|part| part.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[allow(clippy::unwrap_used)]
    fn now() -> ZonedDateTime {
        "2026-12-01T12:00:00[UTC]".parse().unwrap()
    }

    #[test]
    fn words_phrases_and_filters() {
        let text = r#"deploy fail agent:codex since:7d role:user tool:Bash project:"my shop" "exact phrase" http://x"#;
        let query = Query::parse(text, &now()).unwrap();
        assert_eq!(query.words, ["deploy", "fail", "exact phrase", "http://x"]);
        assert_eq!(query.agent.as_deref(), Some("codex"));
        assert_eq!(query.project.as_deref(), Some("my shop"));
        assert_eq!(query.tool.as_deref(), Some("Bash"));
        assert_eq!(query.role, Some(Speaker::User));
        assert_eq!(query.since, Some(1_795_521_600_000));
        let day = Query::parse("x since:2026-11-30", &now()).unwrap().since;
        assert_eq!(day, Some(1_795_996_800_000));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |text: &str| Query::parse(text, &now()).unwrap_err();
        assert_eq!(wrong("  "), "there is no word to search for");
        assert_eq!(wrong("x role:cook"), "role:cook is nobody; it is user, assistant or system");
        assert_eq!(wrong("x since:soon"), "since:soon is no time; write 7d, 24h, 30m, 2w or 2026-11-30");
        assert_eq!(wrong("x agent:"), "agent: says nothing; write agent:something");
        assert!(wrong("x since:99999999999999999d").starts_with("since:"));
    }

    #[test]
    fn what_json_may_escape_is_not_looked_for_in_bytes() {
        assert_eq!(plain_part("say \"hello there\" now"), "hello there");
        assert_eq!(plain_part("größe"), "gr");
        assert!(Needle::of("ü").unwrap().bytes.is_none());
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC{0,60}|[a-z:\" 0-9]{0,40}") {
            if let Ok(query) = Query::parse(&text, &now()) {
                prop_assert!(query.words.iter().all(|word| Needle::of(word).is_ok()));
            }
        }
    }
}
