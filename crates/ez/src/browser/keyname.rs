//! Names of keys as fzf knows them (fzf(1), "AVAILABLE KEYS", of 0.38): read, and brought to one spelling, so that two
//! names of one key are known to be the same. `keys`, `config set` and `doctor` ask it; a name that fzf does not know
//! would keep it from starting at all.

/// What is accepted, for people.
pub const RULE: &str = "keys are ctrl-a to ctrl-z, alt- with one character (alt-n and alt-N are two), ctrl-alt-a to \
    ctrl-alt-z, f1 to f12, one single character, and names such as enter, tab, btab, space, esc, del, up, home, pgdn, shift-up";

/// Names that stand for themselves.
const NAMED: [&str; 34] = [
    "ctrl-space",
    "ctrl-\\",
    "ctrl-]",
    "alt-up",
    "alt-down",
    "alt-left",
    "alt-right",
    "alt-shift-up",
    "alt-shift-down",
    "alt-shift-left",
    "alt-shift-right",
    "btab",
    "esc",
    "del",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "insert",
    "pgup",
    "pgdn",
    "shift-up",
    "shift-down",
    "shift-left",
    "shift-right",
    "left-click",
    "right-click",
    "double-click",
    "f10",
    "f11",
    "f12",
    "bspace",
];

/// Other names of the same key.
const SAME: [(&str, &str); 18] = [
    ("enter", "ctrl-m"),
    ("return", "ctrl-m"),
    ("tab", "ctrl-i"),
    ("space", " "),
    ("bs", "bspace"),
    ("shift-tab", "btab"),
    ("page-up", "pgup"),
    ("page-down", "pgdn"),
    ("ctrl-6", "ctrl-^"),
    ("ctrl-^", "ctrl-^"),
    ("ctrl-_", "ctrl-/"),
    ("ctrl-/", "ctrl-/"),
    ("alt-enter", "ctrl-alt-m"),
    ("alt-return", "ctrl-alt-m"),
    ("alt-space", "alt- "),
    ("alt-bs", "alt-bspace"),
    ("alt-bspace", "alt-bspace"),
    ("shift-alt-up", "alt-shift-up"),
];

/// The one spelling of a key's name; `None` when fzf does not know it. Commas stand between keys, so no key has one.
pub fn parse(name: &str) -> Option<String> {
    if name.contains(',') || name.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    if let Some((_, same)) = SAME.iter().find(|(other, _)| *other == lower) {
        return Some((*same).to_owned());
    }
    if NAMED.contains(&lower.as_str()) {
        return Some(lower);
    }
    let letter = |text: &str| text.len() == 1 && text.starts_with(|c: char| c.is_ascii_lowercase());
    if lower.strip_prefix("ctrl-alt-").is_some_and(letter) || lower.strip_prefix("ctrl-").is_some_and(letter) {
        return Some(lower);
    }
    let one = |text: &str| text.chars().count() == 1;
    if lower.starts_with("alt-") {
        return name.get(4..).filter(|text| one(text)).map(|text| format!("alt-{text}"));
    }
    if lower.strip_prefix('f').is_some_and(|number| number.len() == 1 && ("1"..="9").contains(&number)) {
        return Some(lower);
    }
    one(name).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fzf_knows_is_known_and_nothing_else() {
        for (name, same) in [
            ("ctrl-x", "ctrl-x"),
            ("CTRL-X", "ctrl-x"),
            ("alt-x", "alt-x"),
            ("alt-X", "alt-X"),
            ("Alt-X", "alt-X"),
            ("alt-é", "alt-é"),
            ("ctrl-alt-x", "ctrl-alt-x"),
            ("enter", "ctrl-m"),
            ("f1", "f1"),
            ("F12", "f12"),
            ("?", "?"),
            ("f", "f"),
            ("page-up", "pgup"),
        ] {
            assert_eq!(parse(name).as_deref(), Some(same), "{name}");
        }
        for name in [
            "",
            "foo",
            "alt-",
            "alt-xy",
            "ctrl-",
            "ctrl-1",
            "ctrl-xy",
            "f0",
            "f13",
            "ctrl-alt-1",
            "alt-,",
            ",",
            "a b",
            "start",
            "\n",
        ] {
            assert_eq!(parse(name), None, "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn one_spelling_stays_one_spelling(name in prop_oneof!["\\PC{0,8}", "(ctrl-|alt-|ctrl-alt-|f|shift-)[a-zA-Z0-9^_]{0,3}"]) {
            if let Some(key) = parse(&name).filter(|key| !key.ends_with(' ')) {
                prop_assert!(!key.contains(','));
                prop_assert_eq!(parse(&key), Some(key.clone()), "{}", name);
            }
        }
    }
}
