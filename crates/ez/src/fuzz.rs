//! What must hold for any input from outside, as plain functions: the tests run them on generated input, the targets in
//! `fuzz/` on what a fuzzer finds. Each panics when its property does not hold.

use std::path::{Component, Path};

use crate::model::SessionName;
use crate::store::{Blocks, Config, Repo, RepoState, Session};

/// A state file is read or refused with a reason; what was read and written again reads the same, for the general reader
/// and for the one that knows the usual layout.
pub fn state_is_total(text: &str) {
    match Blocks::<Session>::read(text) {
        Ok(blocks) => assert_eq!(Blocks::<Session>::read(&blocks.write()).ok(), Some(blocks)),
        Err(why) => assert!(!why.to_string().is_empty()),
    }
    match Blocks::<Repo>::read(text) {
        Ok(blocks) => assert_eq!(Blocks::<Repo>::read(&blocks.write()).ok(), Some(blocks)),
        Err(why) => assert!(!why.to_string().is_empty()),
    }
    match RepoState::read(text) {
        Ok(state) => assert_eq!(RepoState::read(&state.write()).ok(), Some(state)),
        Err(why) => assert!(!why.to_string().is_empty()),
    }
}

/// A config.toml is read or refused with a reason.
pub fn config_is_total(text: &str) {
    if let Err(why) = Config::read(text) {
        assert!(!why.to_string().is_empty());
    }
}

/// A session's name never leaves the folder that it is put below, and never looks like an option.
pub fn name_stays_inside(text: &str) {
    let Ok(name) = SessionName::parse(text) else { return };
    let path = Path::new("/root").join(name.as_str());
    assert!(path.starts_with("/root") && path != Path::new("/root"));
    assert!(path.components().all(|part| !matches!(part, Component::ParentDir | Component::CurDir)));
    assert!(!name.as_str().starts_with('-') && !name.as_str().chars().any(char::is_control));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// Pieces of state files, whole and broken.
    fn line() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("[[sessions]]".to_owned()),
            Just("[[repos]]".to_owned()),
            Just("[sessions.env]".to_owned()),
            Just("[plugin_state]".to_owned()),
            Just("[plugin_state.x]".to_owned()),
            Just("id = \"a\"".to_owned()),
            Just("name = \"b\\u001b\"".to_owned()),
            Just("path = '/x'".to_owned()),
            Just("labels = [\"x\",\n\"y\"] # c".to_owned()),
            Just("bare = true".to_owned()),
            Just("when = 1979-05-27T07:32:00Z".to_owned()),
            Just(String::new()),
            "[a-z\" =.#\\[\\]{}']{0,12}",
            "\\PC{0,12}",
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn any_state_file(lines in proptest::collection::vec(line(), 0..12)) {
            super::state_is_total(&lines.join("\n"));
            super::config_is_total(&lines.join("\n"));
        }

        #[test]
        fn any_name(text in any::<String>()) {
            super::name_stays_inside(&text);
        }
    }
}
