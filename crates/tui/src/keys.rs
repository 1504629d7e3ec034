//! What a key press is and what it is called: the names are those of Bubble Tea v2, which plugins, the key
//! map and the help share (clauses K1 to K4). It never reads the terminal and knows no action; `input`
//! makes keys out of bytes, `action` binds them. Anyone may call it.

use std::fmt;
use std::ops::BitOr;

mod names;

/// A set of held modifiers. Lock states (caps, num) are not modifiers: they add nothing to a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct Mods(u8);

impl Mods {
    /// Nothing held.
    pub const NONE: Self = Self(0);
    /// Control.
    pub const CTRL: Self = Self(1);
    /// Alt, Option; in legacy terminals an ESC before the key.
    pub const ALT: Self = Self(2);
    /// Shift; only kept where the key types no text (clause K4).
    pub const SHIFT: Self = Self(4);
    /// Meta, where it is a key of its own.
    pub const META: Self = Self(8);
    /// Hyper.
    pub const HYPER: Self = Self(16);
    /// Super, Windows, Command.
    pub const SUPER: Self = Self(32);

    /// Prefixes in the one order names are written in.
    const PREFIXES: [(Self, &'static str); 6] = [
        (Self::CTRL, "ctrl+"),
        (Self::ALT, "alt+"),
        (Self::SHIFT, "shift+"),
        (Self::META, "meta+"),
        (Self::HYPER, "hyper+"),
        (Self::SUPER, "super+"),
    ];

    /// True when all of `other` are held.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// True when nothing is held.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// These and `other`.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These but not `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// What stands before a name: `ctrl+ alt+ shift+ meta+ hyper+ super+`, in that order.
    pub fn prefix(self) -> String {
        Self::PREFIXES.iter().filter(|(held, _)| self.has(*held)).map(|(_, text)| *text).collect()
    }
}

impl BitOr for Mods {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

impl fmt::Debug for Mods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mods({})", self.prefix())
    }
}

/// Which key. Numbers and letters are `Char`, whatever the keyboard calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the variants are the names of the keys
pub enum Code {
    /// A printable character of any script; never a control character.
    Char(char),
    Enter,
    Esc,
    Tab,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Insert,
    Delete,
    /// A function key, 1 to 63.
    F(u8),
    /// The middle of a legacy keypad (`CSI E`).
    Begin,
    CapsLock,
    ScrollLock,
    NumLock,
    PrintScreen,
    Pause,
    Menu,
    Media(Media),
    /// A modifier pressed as a key of its own (kitty keyboard protocol only).
    Modifier(ModifierKey),
    /// A key of the numeric keypad, where the terminal tells it apart.
    Keypad(Keypad),
}

/// Media keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the variants are the names of the keys
pub enum Media {
    Play,
    Pause,
    PlayPause,
    Reverse,
    Stop,
    FastForward,
    Rewind,
    Next,
    Previous,
    Record,
    LowerVolume,
    RaiseVolume,
    Mute,
}

/// Modifiers as keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the variants are the names of the keys
pub enum ModifierKey {
    LeftShift,
    LeftCtrl,
    LeftAlt,
    LeftSuper,
    LeftHyper,
    LeftMeta,
    RightShift,
    RightCtrl,
    RightAlt,
    RightSuper,
    RightHyper,
    RightMeta,
    IsoLevel3Shift,
    IsoLevel5Shift,
}

impl ModifierKey {
    /// The modifier this key itself holds down; its prefix is not repeated (`leftctrl`, not `ctrl+leftctrl`).
    fn own(self) -> Mods {
        match self {
            Self::LeftShift | Self::RightShift => Mods::SHIFT,
            Self::LeftCtrl | Self::RightCtrl => Mods::CTRL,
            Self::LeftAlt | Self::RightAlt => Mods::ALT,
            Self::LeftSuper | Self::RightSuper => Mods::SUPER,
            Self::LeftHyper | Self::RightHyper => Mods::HYPER,
            Self::LeftMeta | Self::RightMeta => Mods::META,
            Self::IsoLevel3Shift | Self::IsoLevel5Shift => Mods::NONE,
        }
    }
}

/// Keys of the numeric keypad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the variants are the names of the keys
pub enum Keypad {
    /// 0 to 9.
    Digit(u8),
    Multiply,
    Plus,
    Comma,
    Minus,
    Period,
    Divide,
    Equal,
    Separator,
    Enter,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Insert,
    Delete,
    Begin,
}

impl Keypad {
    /// The character this key types when nothing is held.
    fn character(self) -> Option<char> {
        Some(match self {
            Self::Digit(digit) => char::from(b'0' + digit.min(9)),
            Self::Multiply => '*',
            Self::Plus => '+',
            Self::Comma | Self::Separator => ',',
            Self::Minus => '-',
            Self::Period => '.',
            Self::Divide => '/',
            Self::Equal => '=',
            _ => return None,
        })
    }
}

/// One key press (a repeat is a press; releases do not exist). Build it with [`Key::new`], which brings the
/// many ways to say one press to a single form, so that equal presses compare equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which key.
    pub code: Code,
    /// What was held.
    pub mods: Mods,
}

impl Key {
    /// The key in its one form: a character with at most shift held is that character alone (`A`, not
    /// shift+a); with anything else held it is lower case plus shift (`alt+shift+a`); a keypad digit with
    /// nothing held is the digit; a modifier key does not hold itself (clauses K1, K4 and their table).
    pub fn new(code: Code, mods: Mods) -> Self {
        let (code, mods) = match code {
            Code::Char(c) => Self::character(c, mods),
            Code::Keypad(key) if mods.is_empty() => (key.character().map_or(code, Code::Char), mods),
            Code::Modifier(key) => (code, mods.without(key.own())),
            _ => (code, mods),
        };
        Self { code, mods }
    }

    /// A key with nothing held.
    pub fn plain(code: Code) -> Self {
        Self::new(code, Mods::NONE)
    }

    fn character(c: char, mods: Mods) -> (Code, Mods) {
        if mods.without(Mods::SHIFT).is_empty() {
            let typed = if mods.has(Mods::SHIFT) { upper(c) } else { c };
            return (Code::Char(typed), Mods::NONE);
        }
        let shift = if c.is_uppercase() { Mods::SHIFT } else { Mods::NONE };
        (Code::Char(lower(c)), mods | shift)
    }

    /// The same press with more held.
    #[must_use]
    pub fn holding(self, mods: Mods) -> Self {
        Self::new(self.code, self.mods | mods)
    }

    /// The Bubble Tea v2 name: `a`, `A`, `space`, `enter`, `ctrl+x`, `shift+tab`, `alt+shift+a` (clauses K1 to K4).
    pub fn name(&self) -> String {
        let Self { code, mods } = Self::new(self.code, self.mods);
        let mut name = mods.prefix();
        match code {
            Code::Char(' ') => name.push_str("space"),
            Code::Char(c) => name.push(c),
            Code::F(number) => name.push_str(&format!("f{number}")),
            Code::Keypad(Keypad::Digit(digit)) => name.push_str(&format!("kp{digit}")),
            _ => name.push_str(names::of(code)),
        }
        name
    }

    /// What was typed: the character of a printable key with nothing but shift held, `" "` for space;
    /// everything else typed nothing (clause K1).
    pub fn text(&self) -> Option<String> {
        let Self { code, mods } = Self::new(self.code, self.mods);
        match code {
            Code::Char(c) if mods.is_empty() => Some(c.to_string()),
            _ => None,
        }
    }

    /// The key a config file means: `ctrl+x`, `D`, `space`, `shift+tab`, `alt+enter`. Prefixes may come in any
    /// order; names longer than one letter in any case; a few common spellings (`escape`, `return`, `pageup`)
    /// are understood. `None` when it names no key.
    pub fn parse(name: &str) -> Option<Self> {
        let mut rest = name;
        let mut mods = Mods::NONE;
        while let Some((held, length)) = Self::leading_prefix(rest) {
            mods = mods | held;
            rest = rest.get(length..)?;
        }
        let mut letters = rest.chars();
        let code = match (letters.next(), letters.next()) {
            (Some(c), None) if !c.is_control() => Code::Char(c),
            _ => names::find(rest)?,
        };
        Some(Self::new(code, mods))
    }

    /// The modifier `text` starts with, if something follows it (`ctrl++` is ctrl and `+`).
    fn leading_prefix(text: &str) -> Option<(Mods, usize)> {
        Mods::PREFIXES
            .iter()
            .find(|(_, prefix)| {
                text.len() > prefix.len()
                    && text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
            })
            .map(|(held, prefix)| (*held, prefix.len()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// The upper case of `c` where it is one character (not for `ß`).
pub(crate) fn upper(c: char) -> char {
    let mut all = c.to_uppercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// The lower case of `c` where it is one character.
fn lower(c: char) -> char {
    let mut all = c.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_codes() -> Vec<Code> {
        let mut codes: Vec<Code> = names::all().collect();
        codes.extend((1..=63).map(Code::F));
        codes.extend((0..=9).map(|digit| Code::Keypad(Keypad::Digit(digit))));
        codes.extend((' '..='~').map(Code::Char));
        codes.extend("äÄßẞéñçğİıЖжΣσς日本語עברية한👍ǅ+".chars().map(Code::Char));
        codes
    }

    #[test]
    fn a_name_leads_back_to_its_key() {
        for code in all_codes() {
            for bits in 0..64 {
                let key = Key::new(code, Mods(bits));
                let name = key.name();
                assert_eq!(Key::parse(&name), Some(key), "{name}");
                assert_eq!(Key::new(key.code, key.mods), key, "one form: {name}");
            }
        }
    }

    #[test]
    fn characters_are_their_own_name_and_text() {
        for c in "aAzZ0!?:é日Ж".chars() {
            let key = Key::new(Code::Char(c), Mods::NONE);
            assert_eq!((key.name(), key.text()), (c.to_string(), Some(c.to_string())));
            assert_eq!(Key::new(Code::Char(c), Mods::SHIFT).text().map(|text| text.chars().count()), Some(1));
        }
        let space = Key::plain(Code::Char(' '));
        assert_eq!((space.name().as_str(), space.text().as_deref()), ("space", Some(" ")));
        assert_eq!(Key::new(Code::Char(' '), Mods::SHIFT), space);
        assert_eq!(Key::new(Code::Char('a'), Mods::SHIFT).name(), "A");
    }

    #[test]
    fn shift_shows_only_where_there_is_no_text() {
        let cases = [
            (Code::Char('A'), Mods::ALT, "alt+shift+a"),
            (Code::Char('a'), Mods::ALT | Mods::SHIFT, "alt+shift+a"),
            (Code::Char('x'), Mods::CTRL, "ctrl+x"),
            (Code::Char('a'), Mods::CTRL | Mods::SHIFT, "ctrl+shift+a"),
            (Code::Char(' '), Mods::CTRL, "ctrl+space"),
            (Code::Left, Mods::CTRL | Mods::SHIFT, "ctrl+shift+left"),
            (Code::Tab, Mods::SHIFT, "shift+tab"),
            (Code::F(5), Mods::SHIFT, "shift+f5"),
            (
                Code::Up,
                Mods::SUPER | Mods::HYPER | Mods::META | Mods::SHIFT | Mods::ALT | Mods::CTRL,
                "ctrl+alt+shift+meta+hyper+super+up",
            ),
            (Code::Keypad(Keypad::Digit(7)), Mods::NONE, "7"),
            (Code::Keypad(Keypad::Digit(7)), Mods::CTRL, "ctrl+kp7"),
            (Code::Keypad(Keypad::Multiply), Mods::SHIFT, "shift+kpmul"),
            (Code::Keypad(Keypad::Enter), Mods::NONE, "kpenter"),
            (Code::Modifier(ModifierKey::LeftCtrl), Mods::CTRL, "leftctrl"),
            (Code::Modifier(ModifierKey::LeftShift), Mods::CTRL | Mods::SHIFT, "ctrl+leftshift"),
        ];
        for (code, mods, name) in cases {
            assert_eq!(Key::new(code, mods).name(), name);
        }
        assert_eq!(Key::new(Code::Char('x'), Mods::ALT).text(), None);
        assert_eq!(Key::new(Code::Keypad(Keypad::Digit(7)), Mods::NONE).text().as_deref(), Some("7"));
    }

    #[test]
    fn config_spellings() {
        let cases = [
            ("D", "D"),
            ("ctrl+x", "ctrl+x"),
            ("Ctrl+X", "ctrl+shift+x"),
            ("alt+ctrl+up", "ctrl+alt+up"),
            ("shift+a", "A"),
            (" ", "space"),
            ("Escape", "esc"),
            ("return", "enter"),
            ("PageUp", "pgup"),
            ("F12", "f12"),
            ("ctrl++", "ctrl++"),
            ("+", "+"),
            ("kp3", "3"),
        ];
        for (written, name) in cases {
            assert_eq!(Key::parse(written).map(|key| key.name()).as_deref(), Some(name), "{written}");
        }
        for none in ["", "ctrl+", "ctrl", "f0", "f64", "f01", "foo", "ctrl+foo", "\n", "ab", "kp10"] {
            assert_eq!(Key::parse(none), None, "{none:?}");
        }
    }
}
