//! The one scanner for text with escape sequences: it says what is text, line end, tab or SGR, and leaves
//! out everything else (clauses S2 to S7). It never interprets SGR and holds no text of its own. Only
//! `text` calls it.
//!
//! Written by hand, not over `vte`: the clauses end every sequence at `\n` and give the interrupting
//! character back, whereas `vte` follows the terminals (C0 runs inside a sequence, a string runs on over
//! line ends). The price of one rule more is less here than undoing that outside the parser.

use std::str::Chars;

/// What the scanner finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A character that may be shown.
    Char(char),
    /// `\t`.
    Tab,
    /// `\n`; `\r\n` is one too, because `\r` is left out everywhere (clause S4).
    Newline,
    /// The parameters between `ESC[` and `m`: digits, `;` and `:` only.
    Sgr(&'a str),
}

/// Walks over text once, front to back, in linear time.
pub(super) struct Scanner<'a> {
    rest: Chars<'a>,
}

impl<'a> Scanner<'a> {
    /// Starts at the front of `text`.
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text.chars() }
    }

    /// True when nothing is left, not even something that will be left out.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.as_str().is_empty()
    }

    /// Goes on behind the next line end. Every sequence ends at a line end, so none needs to be looked at.
    pub(super) fn skip_line(&mut self) {
        let text = self.rest.as_str();
        let after = memchr::memchr(b'\n', text.as_bytes()).map_or(text.len(), |at| at + 1);
        self.skip(after);
    }

    /// Steps over `bytes` bytes; callers stop at ASCII bytes only, so this is a character border.
    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.as_str().get(bytes..).unwrap_or_default().chars();
    }

    /// Behind an ESC. A character that starts no sequence stays (clause S2).
    fn escape(&mut self) -> Option<Piece<'a>> {
        let bytes = self.rest.as_str().as_bytes();
        match bytes.first()? {
            b'[' => {
                self.skip(1);
                return self.control_sequence();
            }
            b']' => {
                self.skip(1);
                self.payload(true);
            }
            b'P' | b'X' | b'^' | b'_' => {
                self.skip(1);
                self.payload(false);
            }
            0x20..=0x2f => {
                let between = bytes.iter().take_while(|byte| matches!(byte, 0x20..=0x2f)).count();
                let last = matches!(bytes.get(between), Some(0x30..=0x7e));
                self.skip(between + usize::from(last));
            }
            0x30..=0x7e => self.skip(1),
            _ => {}
        }
        None
    }

    /// Behind `ESC[` or its C1 form. Ends at the first byte that cannot belong to it, which stays (clause S2).
    fn control_sequence(&mut self) -> Option<Piece<'a>> {
        let text = self.rest.as_str();
        let bytes = text.as_bytes();
        let body = bytes.iter().take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
        let last = bytes.get(body).copied().filter(|byte| matches!(byte, 0x40..=0x7e));
        self.skip(body + usize::from(last.is_some()));
        let parameters = text.get(..body)?;
        // Private or intermediate bytes make another command of it: `ESC[>4;2m` switches a keyboard mode (S7).
        let plain = parameters.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b';' | b':'));
        (last == Some(b'm') && plain).then_some(Piece::Sgr(parameters))
    }

    /// Behind a C1 introducer. Hardly anybody means one: it takes what follows along only when that is surely its
    /// own, parameters and a final byte, or a payload with its end; else just the character goes (clause S4).
    fn eight_bit(&mut self, introducer: char) -> Option<Piece<'a>> {
        let text = self.rest.as_str();
        if introducer == '\u{9b}' {
            let body = text.bytes().take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
            let first = text.bytes().next().is_some_and(|byte| matches!(byte, 0x30..=0x3f));
            let ended = text.as_bytes().get(body).is_some_and(|byte| matches!(byte, 0x40..=0x7e));
            return if first && ended { self.control_sequence() } else { None };
        }
        let bell_ends = introducer == '\u{9d}';
        let rest = text.find(char::is_control).and_then(|at| text.get(at..)).unwrap_or_default();
        if rest.starts_with("\u{1b}\\") || rest.starts_with('\u{9c}') || (bell_ends && rest.starts_with('\u{7}')) {
            self.payload(bell_ends);
        }
        None
    }

    /// Inside OSC (`bell_ends`), DCS, SOS, PM or APC: up to ST, or up to `\n`, which stays (clauses S3, S6).
    fn payload(&mut self, bell_ends: bool) {
        let bytes = self.rest.as_str().as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let end = match (byte, bytes.get(at + 1)) {
                (b'\n', _) => 0,
                (0x07, _) if bell_ends => 1,
                (0x1b, Some(b'\\')) | (0xc2, Some(0x9c)) => 2,
                _ => {
                    at += 1;
                    continue;
                }
            };
            at += end;
            break;
        }
        self.skip(at);
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            let found = match self.rest.next()? {
                '\n' => Some(Piece::Newline),
                '\t' => Some(Piece::Tab),
                '\u{1b}' => self.escape(),
                c @ ('\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}') => self.eight_bit(c),
                c if is_hidden_control(c) => None,
                c => Some(Piece::Char(c)),
            };
            if found.is_some() {
                return found;
            }
        }
    }
}

/// Characters that are never text: C0, DEL, C1 (clause S4), line and paragraph separators, the byte order
/// mark, and the bidi embeddings, overrides and isolates, which re-order what stands beside them.
pub(super) fn is_hidden_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
