//! What the terminal sends, decoded: keys, pastes, mouse, focus and the terminal's own answers.
//! It never reads a descriptor, never waits and never asks; bytes go in, [`Input`]s come out, and whatever
//! it does not know is swallowed, not typed. `reader` feeds it; the loops of both programs take what it gives.
//!
//! Why not crossterm's own parser: its unknown answers (OSC replies, device attributes, DCS) leak as key
//! presses, its reader wakes up by itself, and it cannot be paused while a child owns the terminal.

use crate::keys::{Code, Key, Keypad, Mods};

mod csi;
pub mod mouse;
mod paste;
#[cfg(test)]
mod tests;

pub use mouse::{Button, Mouse, MouseKind, Wheel};

use csi::Meaning;
use paste::Paste;

/// Longest answer that is kept while it arrives (OSC, DCS and their kin); the rest is swallowed unread.
const MAX_ANSWER: usize = 64 * 1024;
/// Longest control sequence that is kept; a longer one is swallowed whole.
const MAX_SEQUENCE: usize = 1024;

/// One thing that came from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A key press or repeat.
    Key(Key),
    /// A bracketed paste, as sent (line ends too, often `\r`); bytes that are no UTF-8 are U+FFFD (clause P1).
    Paste(String),
    /// A mouse report.
    Mouse(Mouse),
    /// The window got (true) or lost the focus.
    Focus(bool),
    /// The terminal's answer to a question; never a key.
    Reply(Reply),
    /// The terminal is gone; nothing follows. Only `reader` makes it.
    Closed,
}

/// An answer of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The terminal speaks the kitty keyboard protocol; its present flags.
    KittyFlags(u8),
    /// The background colour (OSC 11).
    #[allow(missing_docs)]
    Background { r: u8, g: u8, b: u8 },
    /// Any other answer.
    Other,
}

/// Where the decoder is between two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ground,
    /// One ESC; never survives the end of a read.
    Esc,
    /// Two of them; never survives the end of a read.
    EscEsc,
    /// In a UTF-8 character of `need` bytes.
    Utf8 {
        alt: bool,
        need: usize,
    },
    /// After `ESC [`; parameters are in `buf`.
    Csi,
    /// After `ESC [ [`: the function keys of the Linux console.
    Console,
    /// After `ESC [ M`: three more bytes are an old mouse report.
    OldMouse,
    /// After `ESC O`.
    Ss3,
    /// In OSC, DCS, SOS, PM or APC; `esc` when the last byte was an ESC that may begin ST.
    Answer {
        kind: u8,
        esc: bool,
    },
    /// In a bracketed paste.
    Paste,
}

/// Turns bytes into [`Input`]s. The end of the slice given to [`Decoder::feed`] is the end of a read: an ESC
/// there is the key `esc` at once; anything longer that is unfinished waits for the next feed or a flush.
#[derive(Debug)]
pub struct Decoder {
    state: State,
    buf: Vec<u8>,
    /// The sequence under way had an ESC of its own before it: `alt+` if it is a key, else an `esc` before it.
    double: bool,
    /// The sequence under way is longer than we keep; it is swallowed.
    cut: bool,
    paste: Paste,
    /// The terminal has answered in kitty's protocol, so its modifier bits have kitty's meaning everywhere.
    kitty: bool,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// A decoder at rest.
    pub fn new() -> Self {
        Self { state: State::Ground, buf: Vec::new(), double: false, cut: false, paste: Paste::default(), kitty: false }
    }

    /// Decodes one read. O(n), also over many small reads.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Input>) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            if self.state == State::Paste {
                let (used, done) = self.paste.take(rest);
                rest = rest.get(used..).unwrap_or_default();
                if done {
                    self.end_paste(out);
                }
                continue;
            }
            // A byte that breaks off a sequence belongs to what comes after it, so it is looked at again.
            while !self.step(byte, out) {}
            rest = after;
        }
        self.end_of_read(out);
    }

    /// True while an unfinished sequence or character waits for more bytes; [`Decoder::flush`] after 50 ms.
    pub fn pending(&self) -> bool {
        !matches!(self.state, State::Ground | State::Paste)
    }

    /// True inside a bracketed paste; [`Decoder::flush_paste`] after 10 s without a byte.
    pub fn pasting(&self) -> bool {
        self.state == State::Paste
    }

    /// Nothing more came: what can only be keys becomes keys (`ESC [` is alt+[), the rest is dropped.
    pub fn flush(&mut self, out: &mut Vec<Input>) {
        if !self.pending() {
            return;
        }
        let esc_left = matches!(self.state, State::Answer { esc: true, .. }) && self.buf.is_empty();
        self.end_of_read(out);
        self.give_up(out);
        if esc_left {
            out.push(Input::Key(Key::plain(Code::Esc)));
        }
    }

    /// The paste will not end: what there is of it is delivered and the mode left.
    pub fn flush_paste(&mut self, out: &mut Vec<Input>) {
        if self.pasting() {
            self.end_paste(out);
        }
    }

    fn end_paste(&mut self, out: &mut Vec<Input>) {
        self.state = State::Ground;
        out.push(Input::Paste(self.paste.finish()));
    }

    fn end_of_read(&mut self, out: &mut Vec<Input>) {
        match self.state {
            State::Esc => out.push(Input::Key(Key::plain(Code::Esc))),
            State::EscEsc => out.push(Input::Key(Key::new(Code::Esc, Mods::ALT))),
            _ => return,
        }
        self.state = State::Ground;
    }

    /// Takes one byte; false when the byte ended something without being part of it.
    fn step(&mut self, byte: u8, out: &mut Vec<Input>) -> bool {
        match self.state {
            State::Ground => self.plain(byte, false, out),
            State::Esc => self.after_esc(byte, out),
            State::EscEsc => self.after_two_esc(byte, out),
            State::Utf8 { alt, need } => self.utf8(byte, alt, need, out),
            State::Csi => self.control(byte, out),
            State::Console => self.console(byte, out),
            State::OldMouse => self.old_mouse(byte, out),
            State::Ss3 => self.ss3(byte, out),
            State::Answer { kind, esc } => self.answer(byte, kind, esc, out),
            // feed() takes pastes apart itself; a byte that gets here is not lost, it is looked at as paste.
            State::Paste => true,
        }
    }

    /// A byte outside any sequence, perhaps with an ESC before it.
    fn plain(&mut self, byte: u8, alt: bool, out: &mut Vec<Input>) -> bool {
        let held = if alt { Mods::ALT } else { Mods::NONE };
        self.state = State::Ground;
        match byte {
            0x1b => self.state = State::Esc,
            0x00..=0x7f => out.push(Input::Key(ascii(byte).holding(held))),
            0xc2..=0xf4 => {
                self.buf.clear();
                self.buf.push(byte);
                let need = 2 + usize::from(byte >= 0xe0) + usize::from(byte >= 0xf0);
                self.state = State::Utf8 { alt, need };
            }
            // No character starts like this. With an ESC before it, that ESC was a key of its own.
            _ if alt => out.push(Input::Key(Key::plain(Code::Esc))),
            _ => {}
        }
        true
    }

    fn after_esc(&mut self, byte: u8, out: &mut Vec<Input>) -> bool {
        if self.introducer(byte, false) {
            return true;
        }
        if byte == 0x1b {
            self.state = State::EscEsc;
            return true;
        }
        self.plain(byte, true, out)
    }

    fn after_two_esc(&mut self, byte: u8, out: &mut Vec<Input>) -> bool {
        if self.introducer(byte, true) {
            return true;
        }
        self.end_of_read(out);
        false
    }

    /// Starts what `ESC byte` introduces; false when it introduces nothing.
    fn introducer(&mut self, byte: u8, double: bool) -> bool {
        self.state = match byte {
            b'[' => State::Csi,
            b'O' => State::Ss3,
            b']' | b'P' | b'X' | b'^' | b'_' => State::Answer { kind: byte, esc: false },
            _ => return false,
        };
        self.buf.clear();
        self.double = double;
        self.cut = false;
        true
    }

    fn utf8(&mut self, byte: u8, alt: bool, need: usize, out: &mut Vec<Input>) -> bool {
        if !matches!(byte, 0x80..=0xbf) {
            self.state = State::Ground;
            return false;
        }
        self.buf.push(byte);
        if self.buf.len() < need {
            return true;
        }
        self.state = State::Ground;
        let held = if alt { Mods::ALT } else { Mods::NONE };
        // C1 controls are valid UTF-8 but no keys (clause S4 thinks the same of them).
        let typed = std::str::from_utf8(&self.buf).ok().and_then(|text| text.chars().next());
        if let Some(c) = typed.filter(|c| !c.is_control()) {
            out.push(Input::Key(Key::new(Code::Char(c), held)));
        }
        true
    }

    fn control(&mut self, byte: u8, out: &mut Vec<Input>) -> bool {
        match byte {
            b'$' if csi::ends_with_dollar(&self.buf) => self.end_control(byte, out),
            0x20..=0x3f => self.keep(byte, MAX_SEQUENCE),
            b'[' if self.buf.is_empty() => self.state = State::Console,
            b'M' if self.buf.is_empty() => self.state = State::OldMouse,
            0x40..=0x7e => self.end_control(byte, out),
            _ => {
                self.give_up(out);
                return false;
            }
        }
        true
    }

    fn end_control(&mut self, last: u8, out: &mut Vec<Input>) {
        self.state = State::Ground;
        let meaning = if self.cut { Meaning::Nothing } else { csi::decode(&self.buf, last, self.kitty) };
        match meaning {
            Meaning::Key(key) => self.push_key(key, out),
            Meaning::Text(text) => {
                self.lone_esc(out);
                out.extend(text.chars().map(|c| Input::Key(Key::plain(Code::Char(c)))));
            }
            Meaning::Other(input) => {
                self.kitty |= matches!(input, Input::Reply(Reply::KittyFlags(_)));
                self.lone_esc(out);
                out.push(input);
            }
            Meaning::PasteStart => {
                self.lone_esc(out);
                self.state = State::Paste;
            }
            Meaning::Nothing => self.lone_esc(out),
        }
    }

    fn console(&mut self, byte: u8, out: &mut Vec<Input>) -> bool {
        match byte {
            b'A'..=b'E' => {
                self.state = State::Ground;
                self.push_key(Key::plain(Code::F(byte - b'A' + 1)), out);
                true
            }
            _ => {
                self.give_up(out);
                // A letter no console sends there is part of the unknown sequence; a control is not.
                matches!(byte, 0x20..=0x7e)
            }
        }
    }

    fn old_mouse(&mut self, byte: u8, out: &mut Vec<Input>) -> bool {
        if byte == 0x1b {
            self.give_up(out);
            return false;
        }
        self.buf.push(byte);
        if let [button, x, y] = *self.buf.as_slice() {
            self.state = State::Ground;
            self.lone_esc(out);
            out.extend(mouse::old_report(button, x, y).map(Input::Mouse));
        }
        true
    }

    fn ss3(&mut self, byte: u8, out: &mut Vec<Input>) -> bool {
        match byte {
            b'0'..=b'9' | b';' => self.keep(byte, MAX_SEQUENCE),
            0x40..=0x7e => {
                self.state = State::Ground;
                match csi::ss3(&self.buf, byte, self.kitty) {
                    Some(key) => self.push_key(key, out),
                    None => self.lone_esc(out),
                }
            }
            _ => {
                self.give_up(out);
                return false;
            }
        }
        true
    }

    fn answer(&mut self, byte: u8, kind: u8, esc: bool, out: &mut Vec<Input>) -> bool {
        match byte {
            b'\\' if esc => self.end_answer(kind, out),
            _ if esc => {
                // That ESC was no ST: the answer broke off, and the ESC starts something new.
                self.give_up(out);
                self.state = State::Esc;
                return false;
            }
            0x07 => self.end_answer(kind, out),
            0x1b => self.state = State::Answer { kind, esc: true },
            // CAN and SUB cancel a string in every terminal.
            0x18 | 0x1a => self.give_up(out),
            _ => self.keep(byte, MAX_ANSWER),
        }
        true
    }

    fn end_answer(&mut self, kind: u8, out: &mut Vec<Input>) {
        self.state = State::Ground;
        self.lone_esc(out);
        let colour = (kind == b']' && !self.cut).then(|| background(&self.buf)).flatten();
        out.push(Input::Reply(colour.unwrap_or(Reply::Other)));
    }

    fn keep(&mut self, byte: u8, limit: usize) {
        if self.buf.len() < limit {
            self.buf.push(byte);
        } else {
            self.cut = true;
        }
    }

    fn push_key(&mut self, key: Key, out: &mut Vec<Input>) {
        let held = if self.double { Mods::ALT } else { Mods::NONE };
        self.double = false;
        out.push(Input::Key(key.holding(held)));
    }

    /// The ESC before a sequence that is no key was the key `esc`.
    fn lone_esc(&mut self, out: &mut Vec<Input>) {
        if std::mem::take(&mut self.double) {
            out.push(Input::Key(Key::plain(Code::Esc)));
        }
    }

    /// The sequence under way will not end. If it is its introducer only, it was alt and that key.
    fn give_up(&mut self, out: &mut Vec<Input>) {
        let key = match self.state {
            State::Csi => Some('['),
            State::Ss3 => Some('O'),
            State::Answer { kind, .. } => Some(char::from(kind)),
            _ => None,
        };
        self.state = State::Ground;
        self.lone_esc(out);
        if let Some(c) = key.filter(|_| self.buf.is_empty()) {
            out.push(Input::Key(Key::new(Code::Char(c), Mods::ALT)));
        }
    }
}

/// The key behind a legacy byte below 0x80 (the table under clause K4).
fn ascii(byte: u8) -> Key {
    match byte {
        0x00 => Key::new(Code::Char(' '), Mods::CTRL),
        0x09 => Key::plain(Code::Tab),
        0x0d => Key::plain(Code::Enter),
        0x1b => Key::plain(Code::Esc),
        0x7f => Key::plain(Code::Backspace),
        0x01..=0x1a => Key::new(Code::Char(char::from(byte - 1 + b'a')), Mods::CTRL),
        0x1c..=0x1f => Key::new(Code::Char(char::from(byte + 0x40)), Mods::CTRL),
        _ => Key::plain(Code::Char(char::from(byte))),
    }
}

/// The colour in the payload of an OSC 11 answer: `11;rgb:RRRR/GGGG/BBBB` with one to four digits each, or `rgba:`.
fn background(payload: &[u8]) -> Option<Reply> {
    let text = std::str::from_utf8(payload).ok()?.strip_prefix("11;")?;
    let colour = text.strip_prefix("rgb:").or_else(|| text.strip_prefix("rgba:"))?;
    let mut parts = colour.split('/').map(|digits| {
        let top = match digits.len() {
            1 => 0xf_u32,
            2 => 0xff,
            3 => 0xfff,
            4 => 0xffff,
            _ => return None,
        };
        let value = u32::from_str_radix(digits, 16).ok()?;
        u8::try_from((value * 255 + top / 2) / top).ok()
    });
    let (r, g, b) = (parts.next()??, parts.next()??, parts.next()??);
    Some(Reply::Background { r, g, b })
}

/// The key of a keypad in application mode (`SS3` and a letter).
fn keypad(last: u8) -> Option<Keypad> {
    Some(match last {
        b'M' => Keypad::Enter,
        b'X' => Keypad::Equal,
        b'j' => Keypad::Multiply,
        b'k' => Keypad::Plus,
        b'l' => Keypad::Comma,
        b'm' => Keypad::Minus,
        b'n' => Keypad::Period,
        b'o' => Keypad::Divide,
        b'p'..=b'y' => Keypad::Digit(last - b'p'),
        _ => return None,
    })
}

/// The fuzz body of this room (`fuzz/` is a thin call of it; the tests run it on generated bytes).
#[doc(hidden)]
pub mod fuzz {
    use super::{Decoder, Input};

    /// Decodes `bytes` in reads of the lengths in `reads` (0 counts as 1, repeated; empty: one read), flushing
    /// at the end. Never panics, and what comes out is never more than twice what went in.
    pub fn decode(bytes: &[u8], reads: &[usize]) -> Vec<Input> {
        let mut decoder = Decoder::new();
        let mut out = Vec::new();
        let mut rest = bytes;
        let mut lengths = reads.iter().copied().cycle();
        while !rest.is_empty() {
            let length = lengths.next().unwrap_or(rest.len()).clamp(1, rest.len());
            let (read, after) = rest.split_at(length);
            decoder.feed(read, &mut out);
            rest = after;
        }
        decoder.flush(&mut out);
        decoder.flush_paste(&mut out);
        assert!(!decoder.pending() && !decoder.pasting(), "a flush leaves nothing behind");
        assert!(out.len() <= bytes.len() * 2, "{} inputs from {} bytes", out.len(), bytes.len());
        out
    }
}
