//! The traps of PATH, and that detection leaves a home as it was. Files that look like programs and are none.
//! The test runner calls it.

use std::fs;
use std::path::Path;

use agents::{Search, VersionCache, detect_all, detect_places};
use sys::Env;

use crate::home::{Home, of};

#[test]
fn only_a_regular_executable_file_is_a_program() {
    let home = Home::new();
    home.folder("a/claude");
    home.file("b/claude", "#!/bin/sh\n");
    home.link("c/claude", "nowhere");
    home.link("d/claude", "claude");
    home.link("e/claude", "/dev/null");
    home.file("f", "not a folder");
    let path = "~/a:~/b:~/c:~/d:~/e:~/f:~/missing::.:rel";
    assert!(!of(&home.places(&[("PATH", path)]), "claude-code").installed);
    home.program("g/claude", "#!/bin/sh\n");
    let agents = home.places(&[("PATH", &format!("{path}:~/g/"))]);
    assert_eq!(of(&agents, "claude-code").binary, Some(home.at("g/claude")));
}

#[test]
fn a_relative_entry_is_not_searched_even_where_it_would_lead_to_one() {
    let home = Home::new();
    home.program("bin/claude", "#!/bin/sh\n");
    let here = std::env::current_dir().unwrap();
    let ups: String = here.components().skip(1).map(|_| "../").collect();
    let relative = format!("{ups}{}", home.at("bin").strip_prefix("/").unwrap().display());
    assert!(Path::new(&relative).join("claude").is_file());
    let mut env: Env = [("HOME", home.at("empty"))].into_iter().collect();
    env.set("PATH", relative);
    assert!(!of(&detect_places(&env, &Search::default()), "claude-code").installed);
}

#[test]
fn path_comes_first_and_in_its_order() {
    let home = Home::new();
    home.program("one/codex", "#!/bin/sh\n");
    home.program("two/codex", "#!/bin/sh\n");
    home.program(".local/bin/codex", "#!/bin/sh\n");
    let agents = home.places(&[("PATH", "~/two:~/one")]);
    assert_eq!(of(&agents, "codex").binary, Some(home.at("two/codex")));
    assert_eq!(of(&agents, "codex").how[0], format!("found on PATH at {}", home.at("two/codex").display()));
}

#[test]
fn a_link_is_shown_as_found_and_where_it_leads() {
    let home = Home::new();
    home.program("real/qwen", "#!/bin/sh\n");
    home.link("bin/qwen", "../real/qwen");
    let agents = home.places(&[("PATH", "~/bin")]);
    let found = of(&agents, "qwen-code").found.clone().unwrap();
    assert_eq!((found.path, found.resolved), (home.at("bin/qwen"), home.at("real/qwen")));
}

#[test]
fn an_empty_home_has_nothing_and_a_missing_one_says_so() {
    let home = Home::new();
    let agents = home.places(&[]);
    assert!(agents.iter().all(|agent| !agent.installed && agent.warnings.is_empty() && agent.how.is_empty()));
    let agents = detect_places(&Env::empty(), &Search::default());
    assert_eq!(agents.len(), 10);
    assert!(agents.iter().all(|agent| !agent.installed && agent.config_dir.is_none() && agent.warnings.len() == 1));
}

#[test]
fn a_poor_path_is_made_rich_enough_to_run_what_was_found() {
    let home = Home::new();
    home.program(".nvm/versions/node/v22.1.0/bin/qwen", "#!/usr/bin/env node\n");
    let env = home.env(&[("PATH", "/usr/bin:/bin")]);
    let agents = detect_places(&env, &home.search());
    let ran = of(&agents, "qwen-code").found.clone().unwrap().env(&env);
    let want = format!("{}:/usr/bin:/bin", home.at(".nvm/versions/node/v22.1.0/bin").display());
    assert_eq!(ran.text("PATH"), Some(want.as_str()));
}

#[test]
fn detection_leaves_the_home_byte_for_byte_as_it_was() {
    let home = Home::new();
    home.program("bin/gemini", "#!/bin/sh\n");
    home.program("bin/copilot", "#!/bin/sh\n");
    home.program(".local/bin/claude", "#!/bin/sh\n");
    home.file(".codex/config.toml", "model = \"x\"\n");
    home.file(".hermes/config.yaml", "skills:\n");
    home.file(".npmrc", "prefix=~/x\n");
    home.file(".nvm/alias/default", "22");
    home.file("cfg/opencode.json", "{}");
    home.link(".claude/skills", "../.agents/skills");
    let pairs = [
        ("PATH", "~/bin"),
        ("OPENCODE_CONFIG_DIR", "~/cfg"),
        ("COPILOT_HOME", "~/cp"),
        ("GEMINI_CLI_HOME", "~"),
        ("XDG_CACHE_HOME", "~/.cache"),
    ];
    let before = home.picture();
    // What the real ones do on --version: write wherever their variables lead.
    let writes = |program: &Path, env: &Env| {
        let dirs = ["HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR", "COPILOT_HOME", "GEMINI_CLI_HOME"];
        for dir in dirs.iter().filter_map(|name| env.absolute(name)) {
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(program.file_name().unwrap()), "x").unwrap();
        }
        Some(b"1.2.3".to_vec())
    };
    let agents = detect_all(&home.env(&pairs), &home.search(), &mut VersionCache::default(), &writes);
    assert_eq!(of(&agents, "copilot").version.as_deref(), Some("1.2.3"));
    assert_eq!(home.picture(), before);
    assert!(home.scratch().join("gemini").is_file(), "it did write, in the scratch home");
}
