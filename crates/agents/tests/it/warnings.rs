//! What a person is warned of: shared folders, dangling links, overrides that lead nowhere. Only links and
//! folders are made. The test runner calls it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::home::{Home, of};

#[test]
fn a_link_that_makes_two_folders_one() {
    let home = Home::new();
    home.folder(".agents/skills");
    home.link(".claude/skills", "../.agents/skills");
    home.folder(".codex");
    home.folder(".qwen");
    let agents = home.places(&[]);
    let warnings = &of(&agents, "claude-code").warnings;
    assert_eq!(warnings.len(), 1);
    let text = warnings[0].replace(home.at("").to_str().unwrap(), "~");
    assert_eq!(
        text,
        "its skills folder ~/.claude/skills is the same folder as ~/.agents/skills, which Codex, Qwen Code read: \
         a skill enabled here shows there too"
    );
    assert!(of(&agents, "codex").warnings.is_empty(), "its own folder is its own");
}

#[test]
fn an_override_that_leads_into_another_agents_folder() {
    let home = Home::new();
    home.folder(".codex/skills");
    home.link("alias", ".codex");
    let agents = home.places(&[("QWEN_HOME", "~/alias")]);
    assert!(of(&agents, "qwen-code").warnings[0].contains(", which Codex reads"));
    assert!(of(&agents, "codex").warnings[0].contains(", which Qwen Code reads"));
}

#[test]
fn what_is_shared_by_nature_or_with_nobody_is_no_news() {
    let home = Home::new();
    home.folder(".claude/skills");
    home.folder(".config/opencode");
    let agents = home.places(&[]);
    assert!(agents.iter().all(|agent| agent.warnings.is_empty()));
    // A link out of the home, to a folder that nobody else reads, is how people keep their dotfiles.
    let home = Home::new();
    home.folder("dotfiles/skills");
    home.link(".claude", "dotfiles");
    assert!(of(&home.places(&[]), "claude-code").warnings.is_empty());
}

#[test]
fn a_folder_linked_above_the_skills_counts_before_the_skills_exist() {
    let home = Home::new();
    home.folder(".codex");
    home.link(".qwen", ".codex");
    assert!(of(&home.places(&[]), "qwen-code").warnings[0].contains("which Codex reads"));
}

#[test]
fn dangling_links_files_and_missing_overrides() {
    let home = Home::new();
    home.link(".claude/skills", "gone");
    home.file(".qwen/skills", "");
    home.file(".pi/agent", "");
    let agents = home.places(&[("CODEX_HOME", "~/nowhere"), ("COPILOT_HOME", "~/no")]);
    assert!(of(&agents, "claude-code").warnings[0].ends_with("is a link to gone, which does not exist"));
    assert!(of(&agents, "qwen-code").warnings[0].ends_with("is a file where a folder is expected"));
    assert!(of(&agents, "pi").warnings[0].ends_with("/.pi/agent is a file where a folder is expected"));
    assert!(!of(&agents, "pi").installed);
    assert!(of(&agents, "codex").warnings[0].ends_with("which does not exist; Codex does not start until it does"));
    assert!(of(&agents, "copilot").warnings[0].ends_with("/no, which does not exist"));
}

#[test]
fn a_folder_that_cannot_be_read() {
    let home = Home::new();
    let dir = home.folder(".gemini");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o000)).unwrap();
    // Root reads everything; then there is nothing to warn of.
    let readable = fs::read_dir(&dir).is_ok();
    let agents = home.places(&[]);
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    let warnings = &of(&agents, "gemini-cli").warnings;
    assert_eq!(warnings.iter().any(|line| line.starts_with("could not read")), !readable);
}
