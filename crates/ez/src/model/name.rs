//! Names of sessions, parsed once into a type that alone reaches paths, git and shells (ez.md, "Sessions"). Whatever is
//! refused is refused with the rule that was broken. Pure; whoever takes a name from outside calls it.

use std::fmt;

use sys::Failure;

/// The longest name in bytes.
const MAX: usize = 200;

/// A name that may become a folder, a branch and an argument.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionName(String);

impl SessionName {
    /// Parses `text`; a trailing `/` is stripped.
    ///
    /// # Errors
    /// With the rule that was broken.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let name = text.strip_suffix('/').unwrap_or(text);
        match broken_rule(name) {
            None => Ok(Self(name.to_owned())),
            Some(rule) => Err(Failure::new(format!("the session name {} is not valid", quoted(text))).cause(rule)),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A name in a message: cleaned and in quotes.
pub fn quoted(name: &str) -> String {
    format!("'{}'", sys::text::clip(&sys::text::clean(name), 60))
}

fn broken_rule(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        return Some("it is empty or blank");
    }
    if name.chars().all(|c| c == '.') {
        return Some("it is only dots");
    }
    if name.len() > MAX {
        return Some("it is longer than 200 bytes");
    }
    if name.chars().any(char::is_control) {
        return Some("it holds a control character");
    }
    if name.chars().any(is_bidi) {
        return Some("it holds a character that changes the direction of text");
    }
    if name.contains('\\') {
        return Some("it holds a backslash");
    }
    if name.starts_with('/') {
        return Some("it begins with a slash");
    }
    name.split('/').find_map(broken_component)
}

fn broken_component(part: &str) -> Option<&'static str> {
    if part.is_empty() {
        return Some("it holds two slashes in a row, or ends in one too many");
    }
    if part == "." || part == ".." {
        return Some("a part of it is . or ..");
    }
    if part.starts_with('-') {
        return Some("a part of it begins with a dash");
    }
    if part.starts_with('.') {
        return Some("a part of it begins with a dot");
    }
    part.ends_with(".lock").then_some("a part of it ends in .lock")
}

/// Controls and marks that reorder what a person sees (Unicode TR 36).
fn is_bidi(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// The rule of shell variables; what breaks it is never written into a shell script.
pub fn env_key_ok(key: &str) -> bool {
    let mut bytes = key.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A label: one word without commas, so that lists of them can be typed.
///
/// # Errors
/// With the rule that was broken.
pub fn label(text: &str) -> Result<String, Failure> {
    let text = text.trim();
    let bad = text.is_empty()
        || text.len() > 100
        || text.starts_with('-')
        || text.chars().any(|c| c.is_control() || c == ',' || is_bidi(c));
    if bad {
        return Err(Failure::new(format!("the label {} is not valid", quoted(text)))
            .cause("it is empty, too long, begins with a dash, or holds a comma or a control character"));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_rules() {
        for good in ["a", "feat x", "it's", "a:b", "a~b", "日本", "a/b/c", "q\"uote", "x.y", "a/"] {
            assert!(SessionName::parse(good).is_ok(), "{good}");
        }
        let long = "x".repeat(201);
        let bad = [
            "",
            " ",
            ".",
            "..",
            "...",
            "/a",
            "a//b",
            "a/./b",
            "../x",
            "-x",
            "a/-b",
            ".x",
            "x.lock",
            "a\nb",
            "a\\b",
            &long,
            "a\u{202e}b",
            "//",
            "/",
        ];
        for bad in bad {
            assert!(SessionName::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(SessionName::parse("a/").unwrap().as_str(), "a");
    }

    proptest! {
        #[test]
        fn a_name_never_leaves_its_folder(text in any::<String>()) {
            if let Ok(name) = SessionName::parse(&text) {
                let path = std::path::Path::new("/root").join(name.as_str());
                prop_assert!(path.components().all(|part| !matches!(part, std::path::Component::ParentDir)));
                prop_assert!(path.starts_with("/root") && path != std::path::Path::new("/root"));
            }
        }
    }
}
