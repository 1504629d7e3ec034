//! Text from outside as a type, and the ways to make it safe: by the same scanner as views, so that what is a
//! control there is one here (clauses S2 to S7, W5, B6). It never keeps styles and never does I/O. Anyone calls it.

use std::fmt;
use std::ops::Deref;

use unicode_width::UnicodeWidthChar;

use super::MAX_CLUSTER;
use super::scan::{Piece, Scanner};

/// Text from outside, as it came. It has no `Display`, so it cannot be printed or drawn by mistake; `Debug`
/// shows it escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Untrusted(String);

impl Untrusted {
    /// Marks `text` as coming from outside.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as it came: to compare, to parse, to hand to another program, never to show.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// One line for a person: escapes and controls gone, each line end and tab a blank, trimmed.
    pub fn clean(&self) -> Clean {
        Clean(clean(&self.0))
    }

    /// Several lines for a person: escapes and controls gone, `\n` kept, a tab is 4 blanks (clause S5).
    pub fn clean_lines(&self) -> Clean {
        Clean(clean_lines(&self.0))
    }
}

impl From<String> for Untrusted {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Untrusted {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// Text that may be shown: made by cleaning, or written in this program's source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Clean(String);

impl Clean {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as an owned string.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl From<&'static str> for Clean {
    fn from(text: &'static str) -> Self {
        Self(text.to_owned())
    }
}

impl Deref for Clean {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Clean {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// `text` as one line: see [`Untrusted::clean`].
pub fn clean(text: &str) -> String {
    let line = strip(text, ' ', " ");
    let trimmed = line.trim();
    if trimmed.len() == line.len() { line } else { trimmed.to_owned() }
}

/// `text` as lines: see [`Untrusted::clean_lines`].
pub fn clean_lines(text: &str) -> String {
    strip(text, '\n', "    ")
}

/// Bytes of another program's output as lines. What is no UTF-8 becomes U+FFFD (clause W5), but not at the
/// start, where the bytes may have been cut inside a character (clause B6).
pub fn clean_bytes(bytes: &[u8]) -> String {
    clean_lines(String::from_utf8_lossy(bytes).trim_start_matches('\u{fffd}'))
}

/// Keeps what may be shown; more zero-width characters in a row than a cluster may hold are dropped.
fn strip(text: &str, newline: char, tab: &str) -> String {
    if super::is_plain(text) {
        return text.to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    let mut marks = 0;
    for piece in Scanner::new(text) {
        match piece {
            Piece::Newline => kept.push(newline),
            Piece::Tab => kept.push_str(tab),
            Piece::Sgr(_) => continue,
            Piece::Char(c) if !c.is_ascii() && c.width() == Some(0) => {
                marks += 1;
                if marks < MAX_CLUSTER {
                    kept.push(c);
                }
                continue;
            }
            Piece::Char(c) => kept.push(c),
        }
        marks = 0;
    }
    kept
}

/// JSON text whose strings hold no character that a terminal obeys and JSON does not demand to be escaped: C1 controls,
/// DEL, and what turns the direction of writing become `\u` escapes. The value stays the same (RFC 8259, section 7).
pub fn json_safe(json: &str) -> std::borrow::Cow<'_, str> {
    let Some(mut at) = next_obeyed(json.as_bytes(), 0) else { return json.into() };
    let mut safe = String::with_capacity(json.len() + 16);
    let mut done = 0;
    loop {
        safe.push_str(&json[done..at]);
        let Some(c) = json[at..].chars().next() else { break };
        safe.push_str(&format!("\\u{:04x}", u32::from(c)));
        done = at + c.len_utf8();
        let Some(next) = next_obeyed(json.as_bytes(), done) else { break };
        at = next;
    }
    safe.push_str(&json[done..]);
    safe.into()
}

/// Where the next character that [`json_safe`] escapes begins, in UTF-8. Most text has none, and is passed over many bytes
/// at a time.
fn next_obeyed(text: &[u8], from: usize) -> Option<usize> {
    let begins = |byte: u8| matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xe2);
    let is = |at: usize| match text[at..] {
        [0x7f, ..] | [0xc2, ..=0x9f, ..] | [0xd8, 0x9c, ..] => true,
        [0xe2, 0x80, last, ..] => matches!(last, 0x8e | 0x8f | 0xaa..=0xae),
        [0xe2, 0x81, last, ..] => matches!(last, 0xa6..=0xa9),
        _ => false,
    };
    let mut start = from;
    for chunk in text.get(from..)?.chunks(64) {
        if chunk.iter().fold(false, |any, byte| any | begins(*byte)) {
            let mut places = (start..start + chunk.len()).filter(|at| begins(text[*at]));
            if let Some(at) = places.find(|at| is(*at)) {
                return Some(at);
            }
        }
        start += chunk.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_has_no_escape_and_no_line_end() {
        let table = [
            ("  a\x1b[31mb\x1b[0m\r\nc\td \n", "ab c d"),
            ("\x1b]0;title\x07plain", "plain"),
            ("rm\u{202e}gpj.exe", "rmgpj.exe"),
            ("\n\t", ""),
        ];
        for (text, shown) in table {
            assert_eq!(clean(text), shown, "{text:?}");
            assert_eq!(Untrusted::from(text).clean().as_str(), shown);
        }
    }

    #[test]
    fn lines_keep_their_ends() {
        assert_eq!(clean_lines("a\r\n\tb\x1bPx\ny\n"), "a\n    b\ny\n");
    }

    #[test]
    fn b6_bytes_cut_inside_a_character_start_clean() {
        assert_eq!(clean_bytes(&"界x".as_bytes()[1..]), "x");
        assert_eq!(clean_bytes(b"a\xffb"), "a\u{fffd}b");
    }

    #[test]
    fn untrusted_text_shows_escaped_only() {
        assert_eq!(format!("{:?}", Untrusted::from("\x1b[31m")), r#"Untrusted("\u{1b}[31m")"#);
        assert_eq!(Untrusted::from("\x1bc").raw(), "\x1bc");
    }

    #[test]
    fn clean_text_pads_like_any_text() {
        assert_eq!(format!("{:>4}|", Clean::from("ab")), "  ab|");
        assert_eq!(Clean::from("ab").len(), 2);
    }

    #[test]
    fn json_is_escaped_where_a_terminal_would_obey_and_nowhere_else() {
        let all: String = ('\u{20}'..='\u{2100}').chain(['界', '\u{1f600}']).collect();
        let wanted = |c: char| match c {
            '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                format!("\\u{:04x}", u32::from(c))
            }
            c => c.to_string(),
        };
        assert_eq!(json_safe(&all), all.chars().map(wanted).collect::<String>());
        assert!(matches!(json_safe("é — \u{2028}"), std::borrow::Cow::Borrowed(_)));
    }

    #[test]
    fn piles_of_marks_are_cut() {
        let text = clean(&format!("a{}b", "\u{301}".repeat(1000)));
        assert_eq!(text.chars().count(), 2 + MAX_CLUSTER - 1);
    }
}
