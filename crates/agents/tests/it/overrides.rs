//! Every override an agent obeys, and what it moves (agent-formats.md, overrides and Skills). It only builds
//! environments. The test runner calls it.

use std::path::PathBuf;

use crate::home::{Home, of};

/// `config_dir`, `managed_dir`, `read_dirs`, `sessions` relative to the home, for one agent in one environment.
fn check(pairs: &[(&str, &str)], id: &str, config: &str, managed: &str, read: &[&str], sessions: &str) {
    let home = Home::new();
    let agents = home.places(pairs);
    let agent = of(&agents, id);
    let at = |path: &str| home.at(path);
    let maybe = |path: &str| (!path.is_empty()).then(|| home.at(path));
    assert_eq!(agent.config_dir, Some(at(config)), "{id} {pairs:?}");
    assert_eq!(agent.managed_dir, maybe(managed), "{id} {pairs:?}");
    assert_eq!(agent.read_dirs, read.iter().map(|dir| at(dir)).collect::<Vec<PathBuf>>(), "{id} {pairs:?}");
    assert_eq!(agent.sessions, maybe(sessions), "{id} {pairs:?}");
    assert!(!agent.installed, "nothing exists yet");
}

#[test]
fn without_any_override() {
    let s = ".agents/skills";
    check(&[], "claude-code", ".claude", ".claude/skills", &[".claude/skills"], ".claude/projects");
    check(&[], "codex", ".codex", ".codex/skills", &[".codex/skills", s], ".codex/sessions");
    check(&[], "gemini-cli", ".gemini", ".gemini/skills", &[".gemini/skills", s], ".gemini/tmp");
    let opencode = [
        ".config/opencode/skills",
        ".config/opencode/skill",
        ".opencode/skills",
        ".opencode/skill",
        ".claude/skills",
        s,
    ];
    check(&[], "opencode", ".config/opencode", opencode[0], &opencode, ".local/share/opencode/opencode.db");
    check(&[], "claude-desktop", ".config/Claude", "", &[], "");
    check(&[], "hermes-agent", ".hermes", ".hermes/skills", &[".hermes/skills"], "");
    check(&[], "pi", ".pi/agent", ".pi/agent/skills", &[".pi/agent/skills", s], ".pi/agent/sessions");
    let crush = [".config/crush/skills", ".config/agents/skills", s, ".claude/skills"];
    check(&[], "crush", ".config/crush", crush[0], &crush, "");
    check(&[], "qwen-code", ".qwen", ".qwen/skills", &[".qwen/skills", s], ".qwen/projects");
    check(&[], "copilot", ".copilot", ".copilot/skills", &[".copilot/skills", s], ".copilot/session-state");
}

#[test]
fn an_agents_own_variable_moves_its_own_folders() {
    let s = ".agents/skills";
    check(&[("CLAUDE_CONFIG_DIR", "~/c/")], "claude-code", "c", "c/skills", &["c/skills"], "c/projects");
    check(&[("CODEX_HOME", "~/x")], "codex", "x", "x/skills", &["x/skills", s], "x/sessions");
    // The whole home of Gemini moves, the shared folder with it: seen with `gemini skills list` of 0.61.0.
    let gemini = ["g/.gemini/skills", "g/.agents/skills"];
    check(&[("GEMINI_CLI_HOME", "~/g")], "gemini-cli", "g/.gemini", gemini[0], &gemini, "g/.gemini/tmp");
    check(&[("PI_CODING_AGENT_DIR", "~/p")], "pi", "p", "p/skills", &["p/skills", s], "p/sessions");
    check(
        &[("PI_CODING_AGENT_SESSION_DIR", "~/q")],
        "pi",
        ".pi/agent",
        ".pi/agent/skills",
        &[".pi/agent/skills", s],
        "q",
    );
    check(&[("QWEN_HOME", "~/w")], "qwen-code", "w", "w/skills", &["w/skills", s], "w/projects");
    check(&[("COPILOT_HOME", "~/o")], "copilot", "o", "o/skills", &["o/skills", s], "o/session-state");
    check(&[("HERMES_HOME", "~/h")], "hermes-agent", "h", "h/skills", &["h/skills"], "");
}

#[test]
fn opencode_crush_and_claude_desktop_follow_xdg_and_their_own() {
    let s = ".agents/skills";
    let db = ".local/share/opencode/opencode.db";
    let read = |base: &str| -> Vec<String> {
        let own = [format!("{base}/opencode/skills"), format!("{base}/opencode/skill")];
        let rest = [".opencode/skills", ".opencode/skill", ".claude/skills", s].map(str::to_owned);
        own.into_iter().chain(rest).collect()
    };
    let strs = |dirs: &[String]| dirs.to_vec();
    let xdg = strs(&read("y"));
    let xdg: Vec<&str> = xdg.iter().map(String::as_str).collect();
    check(&[("XDG_CONFIG_HOME", "~/y")], "opencode", "y/opencode", xdg[0], &xdg, db);
    let plain = read(".config");
    let plain: Vec<&str> = plain.iter().map(String::as_str).collect();
    check(&[("XDG_DATA_HOME", "~/d")], "opencode", ".config/opencode", plain[0], &plain, "d/opencode/opencode.db");
    check(&[("OPENCODE_DB", "~/o.db")], "opencode", ".config/opencode", plain[0], &plain, "o.db");
    // Adds its folders and moves nothing: seen with `opencode debug skill` of 1.18.33.
    let mut added = plain.clone();
    added.splice(4..4, ["a/skills", "a/skill"]);
    check(&[("OPENCODE_CONFIG_DIR", "~/a")], "opencode", ".config/opencode", added[0], &added, db);
    let crush = ["y/crush/skills", "y/agents/skills", s, ".claude/skills"];
    check(&[("XDG_CONFIG_HOME", "~/y")], "crush", "y/crush", crush[0], &crush, "");
    check(&[("CRUSH_SKILLS_DIR", "~/k")], "crush", ".config/crush", "k", &["k"], "");
    let crush = [".config/crush/skills", ".config/agents/skills", s, ".claude/skills"];
    check(&[("CRUSH_GLOBAL_CONFIG", "~/n")], "crush", "n", crush[0], &crush, "");
    check(&[("XDG_CONFIG_HOME", "~/y")], "claude-desktop", "y/Claude", "", &[], "");
}

#[test]
fn a_tilde_is_expanded_only_by_those_that_do_it() {
    let home = Home::new();
    let mut env = home.env(&[]);
    for name in ["PI_CODING_AGENT_DIR", "QWEN_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"] {
        env.set(name, "~/t");
    }
    env.set("COPILOT_HOME", "rel/ative").set("HERMES_HOME", "");
    let agents = agents::detect_places(&env, &home.search());
    let config = |id: &str| of(&agents, id).config_dir.clone().unwrap();
    assert_eq!(config("pi"), home.at("t"));
    assert_eq!(config("qwen-code"), home.at("t"));
    assert_eq!(config("codex"), home.at(".codex"));
    assert_eq!(config("claude-code"), home.at(".claude"));
    assert_eq!(config("copilot"), home.at(".copilot"));
    assert_eq!(config("hermes-agent"), home.at(".hermes"));
    assert!(of(&agents, "codex").warnings[0].starts_with("CODEX_HOME is the relative path ~/t"));
    assert!(of(&agents, "copilot").warnings[0].contains("rel/ative"));
    assert!(of(&agents, "hermes-agent").warnings.is_empty(), "an empty variable is an unset one");
}

#[test]
fn hermes_names_more_folders_in_its_settings() {
    let home = Home::new();
    home.file(
        ".hermes/config.yaml",
        "skills:\n  external_dirs: [~/.agents/skills, ~/team]\n  create_dir: ~/.hermes/skills\n",
    );
    let agents = home.places(&[]);
    let hermes = of(&agents, "hermes-agent");
    assert!(hermes.installed);
    assert_eq!(hermes.read_dirs, [".hermes/skills", ".agents/skills", "team"].map(|dir| home.at(dir)));
}

#[test]
fn any_documented_folder_means_installed() {
    for (dir, pairs, id) in [
        (".claude", &[][..], "claude-code"),
        (".config/Claude", &[], "claude-desktop"),
        (".local/share/crush", &[], "crush"),
        ("data", &[("CRUSH_GLOBAL_DATA", "~/data")], "crush"),
        ("oc", &[("OPENCODE_CONFIG_DIR", "~/oc")], "opencode"),
        ("g/.gemini", &[("GEMINI_CLI_HOME", "~/g")], "gemini-cli"),
    ] {
        let home = Home::new();
        home.folder(dir);
        let agents = home.places(pairs);
        let here: Vec<_> = agents.iter().filter(|agent| agent.installed).map(|agent| agent.id).collect();
        assert_eq!(here, [id]);
        assert!(of(&agents, id).how.iter().any(|line| line.contains("exists")), "{:?}", of(&agents, id).how);
    }
}
