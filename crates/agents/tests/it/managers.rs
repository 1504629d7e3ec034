//! Programs that are not on PATH: one home per manager, as the real ones lay them out. Links, scripts and
//! package.json files only, nothing runs. The test runner calls it.

use std::collections::BTreeSet;

use agents::{VersionCache, VersionFrom};

use crate::home::{Home, of};

const CLAUDE: &str = "@anthropic-ai/claude-code";
const CODEX: &str = "@openai/codex";

/// npm's global layout below `prefix`: a link in `bin` to the program in `lib/node_modules`.
fn npm_global(home: &Home, prefix: &str, package: &str, version: &str, program: &str) {
    home.package(&format!("{prefix}/lib/node_modules"), package, version, "bin/cli.js");
    home.link(&format!("{prefix}/bin/{program}"), &format!("../lib/node_modules/{package}/bin/cli.js"));
}

/// The agent is found at `binary` with this version, from a package.json, and nothing is asked.
fn expect(home: &Home, pairs: &[(&str, &str)], id: &str, binary: &str, version: &str, place: &str) {
    let (agents, asked) = home.detect(pairs, &mut VersionCache::default(), &[]);
    let agent = of(&agents, id);
    assert_eq!(agent.binary, Some(home.at(binary)), "{:?}", agent.how);
    assert_eq!((agent.version.as_deref(), agent.version_from), (Some(version), VersionFrom::PackageJson), "{place}");
    assert!(agent.installed && agent.how[0].contains(place), "{:?}", agent.how);
    assert_eq!(asked.len(), 0, "{asked:?}");
}

#[test]
fn nvm_takes_the_default_version_else_the_highest() {
    let home = Home::new();
    for version in ["v20.1.0", "v22.9.1", "v22.10.0"] {
        npm_global(&home, &format!(".nvm/versions/node/{version}"), CLAUDE, &version[1..], "claude");
    }
    let at = |version: &str| format!(".nvm/versions/node/v{version}/bin/claude");
    expect(&home, &[], "claude-code", &at("22.10.0"), "22.10.0", "nvm");
    for (default, version) in [
        ("20", "20.1.0"),
        ("v22.9.1\n", "22.9.1"),
        ("lts/*", "22.9.1"),
        ("node", "22.10.0"),
        ("../../../etc/passwd", "22.10.0"),
        ("18", "22.10.0"),
        ("default", "22.10.0"),
        ("\u{7}", "22.10.0"),
    ] {
        home.file(".nvm/alias/default", default);
        home.file(".nvm/alias/lts/*", "lts/jod");
        home.file(".nvm/alias/lts/jod", "v22.9.1");
        expect(&home, &[], "claude-code", &at(version), version, "nvm");
    }
    expect(&home, &[("NVM_BIN", "~/.nvm/versions/node/v20.1.0/bin")], "claude-code", &at("20.1.0"), "20.1.0", "nvm");
}

#[test]
fn a_default_without_the_program_falls_back_to_one_that_has_it() {
    let home = Home::new();
    home.folder("n/versions/node/v24.0.0/bin");
    npm_global(&home, "n/versions/node/v22.0.0", CODEX, "0.171.0", "codex");
    home.file("n/alias/default", "24");
    expect(&home, &[("NVM_DIR", "~/n")], "codex", "n/versions/node/v22.0.0/bin/codex", "0.171.0", "nvm");
}

#[test]
fn fnm_in_each_of_its_folders() {
    for (root, pairs) in [(".local/share/fnm", &[][..]), (".fnm", &[]), ("f", &[("FNM_DIR", "~/f")])] {
        let home = Home::new();
        let bin = format!("{root}/node-versions/v22.1.0/installation");
        npm_global(&home, &bin, CODEX, "1.2.3", "codex");
        expect(&home, pairs, "codex", &format!("{bin}/bin/codex"), "1.2.3", "fnm");
    }
    let home = Home::new();
    for (version, number) in [("v22.1.0", "1.0.0"), ("v24.1.0", "2.0.0")] {
        npm_global(&home, &format!(".fnm/node-versions/{version}/installation"), CODEX, number, "codex");
    }
    home.link(".fnm/aliases/default", "../node-versions/v22.1.0/installation");
    expect(&home, &[], "codex", ".fnm/aliases/default/bin/codex", "1.0.0", "fnm");
}

#[test]
fn volta_keeps_each_package_in_an_image() {
    let home = Home::new();
    home.program(".volta/bin/volta-shim", "\u{7f}ELF");
    home.link(".volta/bin/codex", "volta-shim");
    home.link(".volta/bin/claude", "volta-shim");
    let image = format!(".volta/tools/image/packages/{CODEX}/lib/node_modules");
    home.package(&image, CODEX, "0.9.8", "bin/codex.js");
    let (agents, asked) = home.detect(&[], &mut VersionCache::default(), &[("claude", "2.0.1 (Claude Code)")]);
    assert_eq!(of(&agents, "codex").version.as_deref(), Some("0.9.8"));
    assert_eq!(of(&agents, "claude-code").version.as_deref(), Some("2.0.1"), "no image: it is asked");
    assert_eq!(asked, [home.at(".volta/bin/claude")]);
}

#[test]
fn a_dispatcher_is_never_remembered() {
    let home = Home::new();
    home.program(".volta/bin/volta-shim", "\u{7f}ELF");
    home.link(".volta/bin/claude", "volta-shim");
    home.link(".volta/bin/codex", "volta-shim");
    let mut cache = VersionCache::default();
    let answers = [("claude", "2.0.1 (Claude Code)"), ("codex", "codex-cli 0.1.2")];
    for _ in 0..2 {
        let (agents, asked) = home.detect(&[], &mut cache, &answers);
        assert_eq!(of(&agents, "codex").version.as_deref(), Some("0.1.2"));
        assert_eq!(of(&agents, "claude-code").version.as_deref(), Some("2.0.1"));
        assert_eq!(asked.len(), 2);
    }
    assert_eq!(cache, VersionCache::default());
}

#[test]
fn asdf_shims_and_several_node_versions() {
    let home = Home::new();
    home.program(
        ".asdf/shims/codex",
        "#!/usr/bin/env bash\n# asdf-plugin: nodejs 22.1.0\nexec asdf exec \"codex\" \"$@\"\n",
    );
    npm_global(&home, ".asdf/installs/nodejs/22.1.0", CODEX, "1.0.0", "codex");
    expect(&home, &[], "codex", ".asdf/shims/codex", "1.0.0", "asdf");
    npm_global(&home, ".asdf/installs/nodejs/24.0.0", CODEX, "2.0.0", "codex");
    let (agents, asked) = home.detect(&[], &mut VersionCache::default(), &[("codex", "codex-cli 2.0.0")]);
    assert_eq!(of(&agents, "codex").version_from, VersionFrom::Program, "two versions: it cannot be told");
    assert_eq!(asked.len(), 1);
    home.file(".tool-versions", "ruby 3.3\nnodejs 22.1.0\n");
    expect(&home, &[], "codex", ".asdf/shims/codex", "1.0.0", "asdf");
}

#[test]
fn mise_shims_node_versions_and_tools_of_their_own() {
    let home = Home::new();
    home.program("opt/mise", "\u{7f}ELF");
    home.link(".local/share/mise/shims/codex", home.at("opt/mise").to_str().unwrap());
    let tool = ".local/share/mise/installs/npm-openai-codex/1.5.0";
    npm_global(&home, tool, CODEX, "1.5.0", "codex");
    home.link(".local/share/mise/installs/npm-openai-codex/latest", "./1.5.0");
    expect(&home, &[], "codex", ".local/share/mise/shims/codex", "1.5.0", "mise");
    let home = Home::new();
    npm_global(&home, "m/installs/npm-openai-codex/1.6.0", CODEX, "1.6.0", "codex");
    home.link("m/installs/npm-openai-codex/latest", "./1.6.0");
    let binary = "m/installs/npm-openai-codex/latest/bin/codex";
    expect(&home, &[("MISE_DATA_DIR", "~/m")], "codex", binary, "1.6.0", "mise");
    let home = Home::new();
    npm_global(&home, ".local/share/mise/installs/node/22.3.0", CODEX, "1.7.0", "codex");
    expect(&home, &[], "codex", ".local/share/mise/installs/node/22.3.0/bin/codex", "1.7.0", "mise");
}

#[test]
fn the_npm_prefix_however_it_is_set() {
    for (prefix, npmrc, pairs) in [
        ("p", "", &[("NPM_CONFIG_PREFIX", "~/p")][..]),
        ("p", "", &[("npm_config_prefix", "~/p")]),
        ("q", "prefix=${HOME}/q\n", &[]),
        ("q", "registry=https://r\nprefix = ~/q\n", &[]),
        (".npm-global", "", &[]),
        (".npm-packages", "prefix=\n", &[]),
    ] {
        let home = Home::new();
        home.file(".npmrc", npmrc);
        npm_global(&home, prefix, CLAUDE, "2.1.332", "claude");
        expect(&home, pairs, "claude-code", &format!("{prefix}/bin/claude"), "2.1.332", "npm prefix");
    }
}

#[test]
fn bun_yarn_and_the_folders_of_the_home() {
    let home = Home::new();
    home.package(".bun/install/global/node_modules", CODEX, "0.171.0", "bin/codex.js");
    home.link(".bun/bin/codex", &format!("../install/global/node_modules/{CODEX}/bin/codex.js"));
    expect(&home, &[], "codex", ".bun/bin/codex", "0.171.0", "Bun");
    let home = Home::new();
    home.package(".config/yarn/global/node_modules", CODEX, "0.171.0", "bin/codex.js");
    let bin = ".config/yarn/global/node_modules/.bin/codex";
    home.link(bin, &format!("../{CODEX}/bin/codex.js"));
    expect(&home, &[], "codex", bin, "0.171.0", "Yarn");
    let home = Home::new();
    npm_global(&home, ".local", CODEX, "0.171.0", "codex");
    expect(&home, &[], "codex", ".local/bin/codex", "0.171.0", "the home folder");
}

#[test]
fn pnpm_scripts_lead_to_the_version_they_name() {
    let home = Home::new();
    let store = ".local/share/pnpm/global/v11";
    home.package(&format!("{store}/aaaa/node_modules"), CODEX, "1.0.0", "bin/codex.js");
    home.package(&format!("{store}/bbbb/node_modules"), CODEX, "2.0.0", "bin/codex.js");
    let script =
        format!("#!/bin/sh\nexec node \"$basedir/../global/v11/bbbb/node_modules/{CODEX}/bin/codex.js\" \"$@\"\n");
    home.program(".local/share/pnpm/bin/codex", &script);
    expect(&home, &[], "codex", ".local/share/pnpm/bin/codex", "2.0.0", "pnpm");
    let home = Home::new();
    home.package("pn/global/5/node_modules", CODEX, "1.1.0", "bin/codex.js");
    home.program(
        "pn/codex",
        &format!("#!/bin/sh\nexec node \"$basedir/global/5/node_modules/{CODEX}/bin/codex.js\"\n"),
    );
    expect(&home, &[("PNPM_HOME", "~/pn")], "codex", "pn/codex", "1.1.0", "pnpm");
}

#[test]
fn where_the_agents_own_installers_put_them() {
    let home = Home::new();
    home.file(".claude/local/package.json", r#"{"name":"claude-local","version":"0.0.1"}"#);
    home.package(".claude/local/node_modules", CLAUDE, "1.0.128", "cli.js");
    home.program(".claude/local/claude", "#!/bin/bash\nexec \"/h/.claude/local/node_modules/.bin/claude\" \"$@\"");
    expect(&home, &[], "claude-code", ".claude/local/claude", "1.0.128", "where its installer puts it");
    let home = Home::new();
    home.program(".opencode/bin/opencode", "\u{7f}ELF");
    home.program("go/bin/crush", "\u{7f}ELF");
    home.program(".local/share/claude/versions/2.1.332", "\u{7f}ELF");
    home.link(".local/bin/claude", "../share/claude/versions/2.1.332");
    home.program(".local/bin/hermes", "#!/usr/bin/env python3\n");
    let answers = [("claude", "2.1.332 (Claude Code)"), ("opencode", "1.18.33\n"), ("crush", "crush version v0.96.1")];
    let (agents, asked) = home.detect(&[], &mut VersionCache::default(), &answers);
    let version = |id: &str| of(&agents, id).version.clone().unwrap_or_default();
    assert_eq!([version("claude-code"), version("opencode"), version("crush")], ["2.1.332", "1.18.33", "0.96.1"]);
    assert!(of(&agents, "hermes-agent").installed && version("hermes-agent").is_empty());
    assert_eq!(asked.len(), 4);
}

#[test]
fn a_wrapper_of_ones_own_is_not_taken_for_the_package_beside_it() {
    let home = Home::new();
    npm_global(&home, ".local", CLAUDE, "1.0.0", "other");
    home.program(".local/bin/claude", "#!/bin/sh\nexec /opt/claude/claude \"$@\"\n");
    let (agents, _) = home.detect(&[], &mut VersionCache::default(), &[("claude", "2.1.332 (Claude Code)")]);
    assert_eq!(of(&agents, "claude-code").version.as_deref(), Some("2.1.332"));
}

#[test]
fn a_folder_with_thousands_of_entries_is_looked_at_in_part() {
    let home = Home::new();
    for n in 0..600 {
        home.folder(&format!(".nvm/versions/node/v{n}.0.0"));
    }
    let agents = home.places(&[]);
    assert!(agents.iter().all(|agent| !agent.installed));
    let ids: BTreeSet<_> = agents.iter().map(|agent| agent.id).collect();
    assert_eq!(ids.len(), 10);
}
