//! The declared lists of the reference pages against the code that they describe.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::*;
use crate::config::Config;

#[test]
fn every_documented_setting_is_accepted_and_has_an_effect() {
    let nothing = Config::parse("").unwrap();
    for setting in SETTINGS {
        let config = Config::parse(setting.example).unwrap();
        assert_eq!(config.warnings, Vec::<String>::new(), "{}", setting.key);
        if setting.key == "<plugin id>" {
            assert!(config.section("hello").is_some());
            continue;
        }
        // The sections differ whatever is written, so they do not count.
        let effect = (&config.theme, &config.library_dir, &config.tui, &config.resume_in, &config.usage);
        let none = (&nothing.theme, &nothing.library_dir, &nothing.tui, &nothing.resume_in, &nothing.usage);
        assert_ne!(effect, none, "{}", setting.key);
        let (theme, problem) = crate::app::theme(&config);
        assert_eq!(problem, None);
        assert_eq!(theme != Theme::default(), setting.key == "theme");
        let (_, problems) = tui::action::Keymap::new(ACTIONS, &config.tui.keys);
        assert_eq!(problems, Vec::<String>::new());
    }
    assert!(Config::parse("theme: auto").is_ok_and(|config| crate::app::theme(&config).1.is_none()));
}

#[test]
fn every_setting_that_the_code_knows_is_documented() {
    let source = include_str!("../../config.rs");
    let source = source.split("#[cfg(test)]").next().unwrap();
    // What it complains about is named in full.
    let sections = ["tui.", "sessions.", "usage."];
    let ours = |word: &&str| sections.iter().any(|section| word.starts_with(section)) && !word.contains('{');
    let known = source.split('"').filter(ours);
    let known: BTreeSet<_> = known.chain(["theme", "libraryDir"]).collect();
    let documented: BTreeSet<_> = SETTINGS.iter().map(|setting| setting.key).filter(|key| !key.contains('<')).collect();
    assert_eq!(documented, known);
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_variable_that_the_code_reads_is_documented() {
    let page = environment();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for name in ["sys", "tui", "agents", "lazyagents"] {
        sources(&crates.join(name).join("src"), &mut files);
    }
    let mut seen = 0;
    for file in files.iter().filter(|file| !file.ends_with("tests.rs")) {
        let text = std::fs::read_to_string(file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for call in [".get(\"", ".text(\"", ".absolute(\"", ".named(\""] {
            for name in code.split(call).skip(1).filter_map(|rest| rest.split('"').next()) {
                let is_variable = name.len() > 2 && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
                if is_variable {
                    seen += 1;
                    assert!(page.contains(&code_of(name)), "{name}, read in {}", file.display());
                }
            }
        }
    }
    assert!(seen > 20, "the search finds nothing any more");
}

fn code_of(name: &str) -> String {
    format!("`{name}`")
}

#[test]
fn pages_are_whole_and_say_nothing_of_this_machine() {
    let pages = pages();
    let files: BTreeSet<_> = pages.iter().map(|(file, _)| file.as_str()).collect();
    assert_eq!(files.len(), pages.len());
    for (file, text) in &pages {
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{file}");
        assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "{file}");
        assert!(file.ends_with(".json") || text.starts_with(MADE), "{file}");
    }
    let all = |file: &str| pages.iter().find(|(name, _)| name == file).map(|(_, text)| text.as_str()).unwrap();
    for action in ACTIONS {
        assert!(all("keys.md").contains(&code_of(action.id)), "{}", action.id);
    }
    for adapter in adapter::all() {
        assert!(all("agents.md").contains(&code_of(adapter.about().id)));
    }
}
