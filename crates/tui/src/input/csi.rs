//! What a control sequence means: `CSI` and `SS3` keys of every terminal family we know, the kitty keyboard
//! protocol, reports and answers. It never keeps anything between two sequences and never turns an answer
//! into a key. Only `input` calls it.

use super::{Input, Reply, keypad, mouse};
use crate::keys::{Code, Key, Keypad, Media, ModifierKey, Mods, upper};

/// What one sequence means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A key press.
    Key(Key),
    /// Several characters typed at once (an input method).
    Text(String),
    /// Anything else that is told.
    Other(Input),
    /// A bracketed paste begins.
    PasteStart,
    /// Nothing we know, or nothing to tell; swallowed.
    Nothing,
}

impl From<Option<Key>> for Meaning {
    fn from(key: Option<Key>) -> Self {
        key.map_or(Self::Nothing, Self::Key)
    }
}

/// The numbers between introducer and final byte: `a:b;c` and so on.
struct Params<'a> {
    body: &'a [u8],
}

impl Params<'_> {
    /// Parameter `index`, its part `sub`; `None` when absent or empty. Saturates.
    fn get(&self, index: usize, sub: usize) -> Option<u32> {
        let digits = self.body.split(|b| *b == b';').nth(index)?.split(|b| *b == b':').nth(sub)?;
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(digits.iter().fold(0_u32, |sum, digit| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0'))))
    }

    /// How many parameters there are; 0 when the body is empty.
    fn count(&self) -> usize {
        if self.body.is_empty() { 0 } else { self.body.split(|b| *b == b';').count() }
    }

    /// The parts of parameter `index` that are numbers.
    fn parts(&self, index: usize) -> impl Iterator<Item = u32> + '_ {
        let count = self.body.split(|b| *b == b';').nth(index).map_or(0, |p| p.split(|b| *b == b':').count());
        (0..count).filter_map(move |sub| self.get(index, sub))
    }

    /// True when the second parameter says that the key was released (kitty event type 3).
    fn released(&self) -> bool {
        self.get(1, 1) == Some(3)
    }
}

/// True when a `$` after `body` ends a key of rxvt (`CSI 3 $` is shift+delete) and is no intermediate byte.
pub(super) fn ends_with_dollar(body: &[u8]) -> bool {
    Params { body }.get(0, 0).is_some_and(|number| body.iter().all(u8::is_ascii_digit) && tilde_key(number).is_some())
}

/// What `CSI body last` means. `kitty`: the terminal has shown that it speaks kitty's protocol.
pub(super) fn decode(body: &[u8], last: u8, kitty: bool) -> Meaning {
    let params = Params { body };
    if let Some((private @ b'<'..=b'?', rest)) = body.split_first() {
        return answer(*private, &Params { body: rest }, last);
    }
    if body.iter().any(|b| matches!(b, 0x20..=0x2f)) {
        return if matches!(last, b'c' | b'R' | b'n' | b'y' | b't') { other() } else { Meaning::Nothing };
    }
    match last {
        b'u' => kitty_key(&params),
        b'~' => tilde(&params, kitty),
        b'^' => params.get(0, 0).and_then(tilde_key).map(|code| Key::new(code, Mods::CTRL)).into(),
        b'$' => params.get(0, 0).and_then(tilde_key).map(|code| Key::new(code, Mods::SHIFT)).into(),
        b'@' => params.get(0, 0).and_then(tilde_key).map(|code| Key::new(code, Mods::CTRL | Mods::SHIFT)).into(),
        b'I' | b'O' if body.is_empty() => Meaning::Other(Input::Focus(last == b'I')),
        b'M' => urxvt_mouse(&params),
        b'R' => position_or_f3(&params, kitty),
        b'a'..=b'd' if body.is_empty() => arrow(last.to_ascii_uppercase()).map(|c| Key::new(c, Mods::SHIFT)).into(),
        b'c' | b'n' | b'y' | b't' => other(),
        b'Z' => letter(&params, Code::Tab, kitty).map(|key| key.holding(Mods::SHIFT)).into(),
        b'P' => letter(&params, Code::F(1), kitty).into(),
        b'Q' => letter(&params, Code::F(2), kitty).into(),
        b'S' => letter(&params, Code::F(4), kitty).into(),
        _ => arrow(last).and_then(|code| letter(&params, code, kitty)).into(),
    }
}

/// What `SS3 body last` means; some terminals put the modifiers in front of the letter.
pub(super) fn ss3(body: &[u8], last: u8, kitty: bool) -> Option<Key> {
    let params = Params { body };
    let mods = modifiers(params.get(1, 0).or_else(|| params.get(0, 0)), kitty);
    let code = match last {
        b'P'..=b'S' => Code::F(last - b'P' + 1),
        // rxvt: ctrl and an arrow.
        b'a'..=b'd' => return arrow(last.to_ascii_uppercase()).map(|code| Key::new(code, mods | Mods::CTRL)),
        _ => arrow(last).or_else(|| keypad(last).map(Code::Keypad))?,
    };
    Some(Key::new(code, mods))
}

fn other() -> Meaning {
    Meaning::Other(Input::Reply(Reply::Other))
}

/// A sequence with a private prefix: a mouse report or an answer, never a key.
fn answer(private: u8, params: &Params<'_>, last: u8) -> Meaning {
    match (private, last) {
        (b'<', b'M' | b'm') => {
            let (Some(bits), Some(x), Some(y)) = (params.get(0, 0), params.get(1, 0), params.get(2, 0)) else {
                return Meaning::Nothing;
            };
            mouse::report(bits, x, y, last == b'm')
                .map_or(Meaning::Nothing, |report| Meaning::Other(Input::Mouse(report)))
        }
        (b'?', b'u') => {
            let flags = u8::try_from(params.get(0, 0).unwrap_or(0)).unwrap_or(u8::MAX);
            Meaning::Other(Input::Reply(Reply::KittyFlags(flags)))
        }
        _ => other(),
    }
}

/// `CSI bits;x;y M` of urxvt: like SGR, with the old offset on the bits.
fn urxvt_mouse(params: &Params<'_>) -> Meaning {
    match (params.get(0, 0), params.get(1, 0), params.get(2, 0)) {
        (Some(bits), Some(x), Some(y)) => mouse::report(bits.saturating_sub(32), x, y, false)
            .map_or(Meaning::Nothing, |report| Meaning::Other(Input::Mouse(report))),
        _ => Meaning::Nothing,
    }
}

/// `CSI 1;2R` is shift+f3 in xterm and a cursor report of every terminal. We never ask for the cursor, so row
/// 1 with a column that can be a legacy modifier is the key.
fn position_or_f3(params: &Params<'_>, kitty: bool) -> Meaning {
    match (params.count(), params.get(0, 0).unwrap_or(1), params.get(1, 0)) {
        (0 | 1, 1, _) | (2, 1, Some(2..=16)) => letter(params, Code::F(3), kitty).into(),
        _ => other(),
    }
}

/// The held modifiers in a parameter (its value is their bits plus 1). kitty and xterm differ from bit 8 on.
fn modifiers(value: Option<u32>, kitty: bool) -> Mods {
    let bits = value.unwrap_or(1).saturating_sub(1);
    let high = if kitty { [Mods::SUPER, Mods::HYPER, Mods::META] } else { [Mods::META, Mods::HYPER, Mods::SUPER] };
    let all = [Mods::SHIFT, Mods::ALT, Mods::CTRL].into_iter().chain(high);
    (0..).zip(all).filter(|(bit, _)| bits & (1 << bit) != 0).fold(Mods::NONE, |mods, (_, held)| mods | held)
}

/// A key that is a letter: `CSI A`, `CSI 1;5A`, `CSI 5A` (old xterm). Another first number is no key.
fn letter(params: &Params<'_>, code: Code, kitty: bool) -> Option<Key> {
    if params.released() {
        return None;
    }
    let mods = match (params.count(), params.get(0, 0)) {
        (0, _) => None,
        (1, number) => number,
        (_, None | Some(0 | 1)) => params.get(1, 0),
        _ => return None,
    };
    Some(Key::new(code, modifiers(mods, kitty)))
}

/// The keys that are the same letter after `CSI` and after `SS3`.
fn arrow(last: u8) -> Option<Code> {
    Some(match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'E' => Code::Begin,
        b'F' => Code::End,
        b'H' => Code::Home,
        _ => return None,
    })
}

/// `CSI number ~` and its relatives: pastes, xterm's modifyOtherKeys (27), kitty's numbered keys.
fn tilde(params: &Params<'_>, kitty: bool) -> Meaning {
    let number = params.get(0, 0).unwrap_or(0);
    if params.released() {
        return Meaning::Nothing;
    }
    match number {
        200 => Meaning::PasteStart,
        27 => {
            let code = params.get(2, 0).unwrap_or(0);
            typed(code, None, modifiers(params.get(1, 0), kitty), false).into()
        }
        _ => {
            let mods = modifiers(params.get(1, 0), kitty);
            tilde_key(number).or_else(|| functional(number)).map(|code| Key::new(code, mods)).into()
        }
    }
}

/// The key with a number of its own before `~` (and rxvt's `^`, `$`, `@`).
fn tilde_key(number: u32) -> Option<Code> {
    let number = u8::try_from(number).ok()?;
    Some(match number {
        1 | 7 => Code::Home,
        2 => Code::Insert,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        11..=15 => Code::F(number - 10),
        17..=21 => Code::F(number - 11),
        23..=26 => Code::F(number - 12),
        28..=29 => Code::F(number - 13),
        31..=34 => Code::F(number - 14),
        _ => return None,
    })
}

/// `CSI code:shifted:base ; mods:event ; text u`.
fn kitty_key(params: &Params<'_>) -> Meaning {
    if params.released() {
        return Meaning::Nothing;
    }
    let value = params.get(1, 0);
    let mods = modifiers(value, true);
    let caps = value.unwrap_or(1).saturating_sub(1) & 64 != 0;
    let text: String = params.parts(2).filter_map(char::from_u32).filter(|c| !c.is_control()).collect();
    if mods.without(Mods::SHIFT).is_empty() && !text.is_empty() {
        return Meaning::Text(text);
    }
    let code = params.get(0, 0).unwrap_or(0);
    typed(code, params.get(0, 1), mods, caps).into()
}

/// The key behind a code point; `shifted` is what it is with shift, where the terminal says so.
fn typed(code: u32, shifted: Option<u32>, mods: Mods, caps: bool) -> Option<Key> {
    let special = match code {
        9 => Some(Code::Tab),
        13 => Some(Code::Enter),
        27 => Some(Code::Esc),
        8 | 127 => Some(Code::Backspace),
        57_344..=63_743 => Some(functional(code)?),
        _ => None,
    };
    if let Some(code) = special {
        return Some(Key::new(code, mods));
    }
    let c = char::from_u32(code).filter(|c| !c.is_control())?;
    if !mods.without(Mods::SHIFT).is_empty() {
        return Some(Key::new(Code::Char(c), mods));
    }
    let shift = mods.has(Mods::SHIFT);
    let named = shifted.and_then(char::from_u32).filter(|c| shift && !caps && !c.is_control());
    // Caps lock adds nothing to a name, but it did change what was typed.
    let c = named.unwrap_or_else(|| if shift != caps { upper(c) } else { c });
    Some(Key::plain(Code::Char(c)))
}

/// kitty's 57344 and up.
const FUNCTIONAL: &[Code] = &[
    Code::Esc,
    Code::Enter,
    Code::Tab,
    Code::Backspace,
    Code::Insert,
    Code::Delete,
    Code::Left,
    Code::Right,
    Code::Up,
    Code::Down,
    Code::PageUp,
    Code::PageDown,
    Code::Home,
    Code::End,
    Code::CapsLock,
    Code::ScrollLock,
    Code::NumLock,
    Code::PrintScreen,
    Code::Pause,
    Code::Menu,
];

/// kitty's 57409 and up, after the digits of the keypad.
const AFTER_DIGITS: &[Code] = &[
    Code::Keypad(Keypad::Period),
    Code::Keypad(Keypad::Divide),
    Code::Keypad(Keypad::Multiply),
    Code::Keypad(Keypad::Minus),
    Code::Keypad(Keypad::Plus),
    Code::Keypad(Keypad::Enter),
    Code::Keypad(Keypad::Equal),
    Code::Keypad(Keypad::Separator),
    Code::Keypad(Keypad::Left),
    Code::Keypad(Keypad::Right),
    Code::Keypad(Keypad::Up),
    Code::Keypad(Keypad::Down),
    Code::Keypad(Keypad::PageUp),
    Code::Keypad(Keypad::PageDown),
    Code::Keypad(Keypad::Home),
    Code::Keypad(Keypad::End),
    Code::Keypad(Keypad::Insert),
    Code::Keypad(Keypad::Delete),
    Code::Keypad(Keypad::Begin),
    Code::Media(Media::Play),
    Code::Media(Media::Pause),
    Code::Media(Media::PlayPause),
    Code::Media(Media::Reverse),
    Code::Media(Media::Stop),
    Code::Media(Media::FastForward),
    Code::Media(Media::Rewind),
    Code::Media(Media::Next),
    Code::Media(Media::Previous),
    Code::Media(Media::Record),
    Code::Media(Media::LowerVolume),
    Code::Media(Media::RaiseVolume),
    Code::Media(Media::Mute),
    Code::Modifier(ModifierKey::LeftShift),
    Code::Modifier(ModifierKey::LeftCtrl),
    Code::Modifier(ModifierKey::LeftAlt),
    Code::Modifier(ModifierKey::LeftSuper),
    Code::Modifier(ModifierKey::LeftHyper),
    Code::Modifier(ModifierKey::LeftMeta),
    Code::Modifier(ModifierKey::RightShift),
    Code::Modifier(ModifierKey::RightCtrl),
    Code::Modifier(ModifierKey::RightAlt),
    Code::Modifier(ModifierKey::RightSuper),
    Code::Modifier(ModifierKey::RightHyper),
    Code::Modifier(ModifierKey::RightMeta),
    Code::Modifier(ModifierKey::IsoLevel3Shift),
    Code::Modifier(ModifierKey::IsoLevel5Shift),
];

/// The keys kitty gives numbers in the private use area of Unicode.
fn functional(code: u32) -> Option<Code> {
    let number = |first: u32| u8::try_from(code - first).ok();
    match code {
        57_344..=57_363 => FUNCTIONAL.get(usize::from(number(57_344)?)).copied(),
        57_364..=57_398 => Some(Code::F(number(57_363)?)),
        57_399..=57_408 => Some(Code::Keypad(Keypad::Digit(number(57_399)?))),
        57_409.. => AFTER_DIGITS.get(usize::from(number(57_409)?)).copied(),
        _ => None,
    }
}
