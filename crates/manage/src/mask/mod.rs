//! Secrets in text are replaced before it leaves the machine (report C23): keys and tokens by the shapes that their
//! givers document, and what is assigned to a name that says "password". Pure; it never says what a secret was. What has
//! no known shape is not found, so a masked text is safer, not safe. `export` calls it.

mod patterns;

use std::collections::BTreeMap;
use std::ops::Range;

use patterns::{ASSIGNED, KEY_BEGIN, KEY_END, Kind, SHAPES, kind_of_name};
use regex::Regex;

/// The longest private key block, bytes: what follows a begin line without an end for longer is not taken for one.
const LONGEST_KEY: usize = 32 << 10;

/// The patterns, made once.
#[derive(Debug)]
pub struct Masker {
    shapes: Vec<(&'static str, Regex, bool)>,
    assigned: Regex,
    key_begin: Regex,
    key_end: Regex,
}

/// How many secrets of each kind were masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Count(BTreeMap<&'static str, u64>);

impl Count {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// By kind, in words for people.
    pub fn kinds(&self) -> &BTreeMap<&'static str, u64> {
        &self.0
    }
}

impl Masker {
    /// The patterns.
    ///
    /// # Errors
    /// Never with the patterns that are built in; a test makes them all.
    pub fn new() -> Result<Self, sys::Failure> {
        let regex =
            |text: &str| Regex::new(text).map_err(|error| sys::Failure::new("could not look for secrets").cause(error));
        let shapes: Result<Vec<_>, _> =
            SHAPES.iter().map(|shape| Ok((shape.name, regex(shape.pattern)?, shape.mixed))).collect();
        Ok(Self { shapes: shapes?, assigned: regex(ASSIGNED)?, key_begin: regex(KEY_BEGIN)?, key_end: regex(KEY_END)? })
    }

    /// `text` with every secret in it replaced by `[masked: <kind>]`; each is counted.
    pub fn mask(&self, text: &str, count: &mut Count) -> String {
        let found = self.find(text);
        if found.is_empty() {
            return text.to_owned();
        }
        let mut masked = String::with_capacity(text.len());
        let mut at = 0;
        for (range, kind) in found {
            masked.push_str(&text[at..range.start]);
            masked.push_str("[masked: ");
            masked.push_str(kind);
            masked.push(']');
            at = range.end;
            *count.0.entry(kind).or_default() += 1;
        }
        masked.push_str(&text[at..]);
        masked
    }

    /// Where secrets stand, in order, without overlaps.
    fn find(&self, text: &str) -> Vec<(Range<usize>, &'static str)> {
        let mut found = Vec::new();
        self.keys(text, &mut found);
        for (kind, regex, mixed) in &self.shapes {
            for secret in regex.captures_iter(text).filter_map(|captures| captures.name("s")) {
                if !mixed || is_mixed(secret.as_str()) {
                    found.push((secret.range(), *kind));
                }
            }
        }
        self.assignments(text, &mut found);
        found.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut merged: Vec<(Range<usize>, &'static str)> = Vec::with_capacity(found.len());
        for (range, kind) in found {
            match merged.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push((range, kind)),
            }
        }
        merged
    }

    /// Private key blocks (RFC 7468, RFC 4880): from the begin line to the end line, or over what looks like a key when it
    /// was cut off.
    fn keys(&self, text: &str, found: &mut Vec<(Range<usize>, &'static str)>) {
        let mut from = 0;
        while let Some(begin) = self.key_begin.find_at(text, from) {
            let limit = text.floor_char_boundary(begin.end().saturating_add(LONGEST_KEY));
            let end = self.key_end.find(&text[begin.end()..limit]).map(|end| begin.end() + end.end());
            let part = |c: char| c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "+/=\\-:,".contains(c);
            let rest = &text[begin.end()..];
            let end = end.unwrap_or_else(|| begin.end() + rest.find(|c| !part(c)).unwrap_or(rest.len()));
            found.push((begin.start()..end, "private key"));
            from = end;
        }
    }

    fn assignments(&self, text: &str, found: &mut Vec<(Range<usize>, &'static str)>) {
        let mut from = 0;
        while let Some(captures) = self.assigned.captures_at(text, from) {
            let part = |name: &str| captures.name(name).map(|found| found.range());
            let (Some(name), Some(sign)) = (part("name"), part("sign")) else { return };
            let quoted = part("double").or_else(|| part("single"));
            let is_quoted = quoted.is_some();
            let Some(value) = quoted.or_else(|| part("bare")) else { return };
            // The next name may stand in what is no secret: `Cookie: token=...`.
            from = value.start;
            let tight = is_quoted || text[sign.clone()].trim_matches(['"', '\'', '\\']) == "=";
            let kind = kind_of_name(&text[name]);
            let rest = text[value.end..].chars().next();
            if is_secret(&text[value.clone()], kind, tight, is_quoted, rest) {
                from = value.end;
                found.push((value, if kind == Kind::Password { "password" } else { "token" }));
            }
        }
    }
}

/// Digits among the letters: what words, names of classes and identifiers rarely have.
fn is_mixed(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether what is assigned is a secret, rather than code, a type, or a place to fill in.
fn is_secret(value: &str, kind: Kind, tight: bool, quoted: bool, next: Option<char>) -> bool {
    let least = match (kind, tight) {
        (Kind::Password, true) => 3,
        (Kind::Password, false) => 6,
        (Kind::Token, true) => 8,
        (Kind::Token, false) => 12,
    };
    if value.chars().count() < least || is_placeholder(value) {
        return false;
    }
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let number = value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'_' | b'-'));
    match kind {
        Kind::Password if quoted || tight => quoted || next != Some('('),
        Kind::Password => digits && next != Some('('),
        // A count of tokens is no token; an expression has no digits or is called.
        Kind::Token if quoted => !number && !value.contains(char::is_whitespace),
        Kind::Token => is_mixed(value) && next != Some('('),
    }
}

/// Something that stands for a secret: a variable, stars, a word that nobody would use.
fn is_placeholder(value: &str) -> bool {
    const WORDS: [&str; 13] = [
        "none",
        "null",
        "nil",
        "true",
        "false",
        "undefined",
        "string",
        "redacted",
        "changeme",
        "your",
        "example",
        "placeholder",
        "optional",
    ];
    let lower = value.to_ascii_lowercase();
    let marks = ["[masked", "${", "$(", "{{", "<", "process.env", "os.environ", "env.", "import.meta"];
    marks.iter().any(|mark| lower.starts_with(mark))
        || value.starts_with('$') && value[1..].bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        || value.starts_with('%') && value.len() <= 3
        || value.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'-' | b'_' | b'#' | b'?'))
        || WORDS.contains(&lower.as_str())
        || lower.starts_with("your_")
        || lower.starts_with("your-")
}

#[cfg(test)]
mod tests;
