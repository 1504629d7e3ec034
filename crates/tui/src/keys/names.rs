//! The fixed names of keys that type no text, once, for writing and for reading them (the table of
//! clauses K2 to K4). It never decides what a press means. Only `keys` calls it.

use super::{Code, Keypad, Media, ModifierKey};

/// Every code with a fixed name. Characters, `f1`... and keypad digits are made, not listed.
const NAMES: &[(Code, &str)] = &[
    (Code::Enter, "enter"),
    (Code::Esc, "esc"),
    (Code::Tab, "tab"),
    (Code::Backspace, "backspace"),
    (Code::Up, "up"),
    (Code::Down, "down"),
    (Code::Left, "left"),
    (Code::Right, "right"),
    (Code::Home, "home"),
    (Code::End, "end"),
    (Code::PageUp, "pgup"),
    (Code::PageDown, "pgdown"),
    (Code::Insert, "insert"),
    (Code::Delete, "delete"),
    (Code::Begin, "begin"),
    (Code::CapsLock, "capslock"),
    (Code::ScrollLock, "scrolllock"),
    (Code::NumLock, "numlock"),
    (Code::PrintScreen, "printscreen"),
    (Code::Pause, "pause"),
    (Code::Menu, "menu"),
    (Code::Media(Media::Play), "mediaplay"),
    (Code::Media(Media::Pause), "mediapause"),
    (Code::Media(Media::PlayPause), "mediaplaypause"),
    (Code::Media(Media::Reverse), "mediareverse"),
    (Code::Media(Media::Stop), "mediastop"),
    (Code::Media(Media::FastForward), "mediafastforward"),
    (Code::Media(Media::Rewind), "mediarewind"),
    (Code::Media(Media::Next), "medianext"),
    (Code::Media(Media::Previous), "mediaprev"),
    (Code::Media(Media::Record), "mediarecord"),
    (Code::Media(Media::LowerVolume), "lowervol"),
    (Code::Media(Media::RaiseVolume), "raisevol"),
    (Code::Media(Media::Mute), "mute"),
    (Code::Modifier(ModifierKey::LeftShift), "leftshift"),
    (Code::Modifier(ModifierKey::LeftAlt), "leftalt"),
    (Code::Modifier(ModifierKey::LeftCtrl), "leftctrl"),
    (Code::Modifier(ModifierKey::LeftSuper), "leftsuper"),
    (Code::Modifier(ModifierKey::LeftHyper), "lefthyper"),
    (Code::Modifier(ModifierKey::LeftMeta), "leftmeta"),
    (Code::Modifier(ModifierKey::RightShift), "rightshift"),
    (Code::Modifier(ModifierKey::RightAlt), "rightalt"),
    (Code::Modifier(ModifierKey::RightCtrl), "rightctrl"),
    (Code::Modifier(ModifierKey::RightSuper), "rightsuper"),
    (Code::Modifier(ModifierKey::RightHyper), "righthyper"),
    (Code::Modifier(ModifierKey::RightMeta), "rightmeta"),
    (Code::Modifier(ModifierKey::IsoLevel3Shift), "isolevel3shift"),
    (Code::Modifier(ModifierKey::IsoLevel5Shift), "isolevel5shift"),
    (Code::Keypad(Keypad::Multiply), "kpmul"),
    (Code::Keypad(Keypad::Plus), "kpplus"),
    (Code::Keypad(Keypad::Comma), "kpcomma"),
    (Code::Keypad(Keypad::Minus), "kpminus"),
    (Code::Keypad(Keypad::Period), "kpperiod"),
    (Code::Keypad(Keypad::Divide), "kpdiv"),
    (Code::Keypad(Keypad::Equal), "kpequal"),
    (Code::Keypad(Keypad::Separator), "kpsep"),
    (Code::Keypad(Keypad::Enter), "kpenter"),
    (Code::Keypad(Keypad::Up), "kpup"),
    (Code::Keypad(Keypad::Down), "kpdown"),
    (Code::Keypad(Keypad::Left), "kpleft"),
    (Code::Keypad(Keypad::Right), "kpright"),
    (Code::Keypad(Keypad::PageUp), "kppgup"),
    (Code::Keypad(Keypad::PageDown), "kppgdown"),
    (Code::Keypad(Keypad::Home), "kphome"),
    (Code::Keypad(Keypad::End), "kpend"),
    (Code::Keypad(Keypad::Insert), "kpinsert"),
    (Code::Keypad(Keypad::Delete), "kpdelete"),
    (Code::Keypad(Keypad::Begin), "kpbegin"),
];

/// Spellings people write in config files; they are read, never written.
const SPELLINGS: &[(&str, Code)] = &[
    ("escape", Code::Esc),
    ("return", Code::Enter),
    ("pageup", Code::PageUp),
    ("pagedown", Code::PageDown),
    ("pgdn", Code::PageDown),
    ("del", Code::Delete),
    ("ins", Code::Insert),
    ("space", Code::Char(' ')),
];

/// The highest function key that has a name.
const LAST_FUNCTION_KEY: u8 = 63;

/// The fixed name of `code`; empty for the codes whose names are made.
pub(super) fn of(code: Code) -> &'static str {
    NAMES.iter().find(|(known, _)| *known == code).map_or("", |(_, name)| name)
}

/// The code `name` stands for, in any case.
pub(super) fn find(name: &str) -> Option<Code> {
    let name = name.to_ascii_lowercase();
    let listed = NAMES.iter().find(|(_, known)| *known == name).map(|(code, _)| *code);
    let spelled = || SPELLINGS.iter().find(|(known, _)| *known == name).map(|(_, code)| *code);
    let function = || number(&name, "f").filter(|n| (1..=LAST_FUNCTION_KEY).contains(n)).map(Code::F);
    let keypad = || number(&name, "kp").filter(|n| *n <= 9).map(|n| Code::Keypad(Keypad::Digit(n)));
    listed.or_else(spelled).or_else(function).or_else(keypad)
}

/// The number behind `prefix`, in its plain form only (`f5`, not `f05` or `f+5`).
fn number(name: &str, prefix: &str) -> Option<u8> {
    let digits = name.strip_prefix(prefix)?;
    let value: u8 = digits.parse().ok()?;
    (value.to_string() == digits).then_some(value)
}

/// Every code with a fixed name.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = Code> {
    NAMES.iter().map(|(code, _)| *code)
}
