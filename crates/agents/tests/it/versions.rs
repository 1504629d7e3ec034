//! Where a version comes from, when a program is asked, and the JSON rows. Probes are closures here, nothing is
//! started. The test runner calls it.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use agents::{Search, VersionCache, VersionFrom, detect_all, json};
use sys::Env;

use crate::home::{Home, of};

/// The layouts of the real packages (agent-formats.md, first table), each on PATH as npm links it.
const NPM: [(&str, &str, &str, &str, &str); 8] = [
    ("claude-code", "claude", "@anthropic-ai/claude-code", "bin/claude.exe", "2.1.332"),
    ("codex", "codex", "@openai/codex", "bin/codex.js", "0.171.0"),
    ("gemini-cli", "gemini", "@google/gemini-cli", "bundle/gemini.js", "0.61.0"),
    ("opencode", "opencode", "opencode-ai", "bin/opencode.exe", "1.18.33"),
    ("pi", "pi", "@earendil-works/pi-coding-agent", "dist/bundle/cli.js", "1.6.0"),
    ("pi", "pi", "@mariozechner/pi-coding-agent", "dist/cli.js", "0.73.1"),
    ("qwen-code", "qwen", "@qwen-code/qwen-code", "cli-entry.js", "0.24.4"),
    ("copilot", "copilot", "@github/copilot", "npm-loader.js", "1.0.102"),
];

#[test]
fn npm_packages_tell_their_version_and_nothing_is_asked() {
    for (id, program, package, script, version) in NPM {
        let home = Home::new();
        home.package("n/node_modules", package, version, script);
        home.file("n/package.json", r#"{"name":"project","version":"9.9.9"}"#);
        home.file(&format!("n/node_modules/{package}/dist/package.json"), r#"{"type":"module"}"#);
        home.link(&format!("n/node_modules/.bin/{program}"), &format!("../{package}/{script}"));
        let (agents, asked) = home.detect(&[("PATH", "~/n/node_modules/.bin")], &mut VersionCache::default(), &[]);
        let agent = of(&agents, id);
        assert_eq!((agent.version.as_deref(), agent.version_from), (Some(version), VersionFrom::PackageJson));
        assert!(asked.is_empty());
    }
}

#[test]
fn native_programs_in_platform_packages() {
    for (id, program, folder, name, version, number) in [
        // Codex' platform folder carries the main package's name and a suffixed version.
        ("codex", "codex", "@openai/codex-linux-x64", "@openai/codex", "0.171.0-linux-x64", "0.171.0"),
        ("copilot", "copilot", "@github/copilot-linux-x64", "@github/copilot-linux-x64", "1.0.102", "1.0.102"),
        ("opencode", "opencode", "opencode-linux-x64", "opencode-linux-x64", "1.18.33", "1.18.33"),
    ] {
        let home = Home::new();
        home.file(
            &format!("m/node_modules/{folder}/package.json"),
            &format!(r#"{{"name":"{name}","version":"{version}"}}"#),
        );
        home.program(&format!("m/node_modules/{folder}/vendor/x86_64-unknown-linux-musl/bin/{program}"), "\u{7f}ELF");
        home.link(
            &format!("bin/{program}"),
            &format!("../m/node_modules/{folder}/vendor/x86_64-unknown-linux-musl/bin/{program}"),
        );
        let (agents, asked) = home.detect(&[("PATH", "~/bin")], &mut VersionCache::default(), &[]);
        assert_eq!(of(&agents, id).version.as_deref(), Some(number));
        assert!(asked.is_empty());
    }
}

#[test]
fn someone_elses_package_json_tells_nothing() {
    for (file, text) in [
        ("n/package.json", r#"{"name":"@openai/codex-sdk","version":"9.9.9"}"#),
        ("n/package.json", r#"{"name":"mine","version":"9.9.9"}"#),
        ("n/package.json", "{ not json"),
        ("n/bin/package.json", r#"{"name":"@openai/codex"}"#),
    ] {
        let home = Home::new();
        home.file(file, text);
        home.program("n/bin/codex", "\u{7f}ELF");
        let answers = [("codex", "codex-cli 0.171.0\n")];
        let (agents, asked) = home.detect(&[("PATH", "~/n/bin")], &mut VersionCache::default(), &answers);
        assert_eq!(of(&agents, "codex").version.as_deref(), Some("0.171.0"));
        assert_eq!(asked.len(), 1);
    }
    let home = Home::new();
    home.link("n/package.json", "/dev/zero");
    home.program("n/bin/codex", "\u{7f}ELF");
    assert!(of(&home.places(&[("PATH", "~/n/bin")]), "codex").installed, "and nothing hangs on a device");
}

#[test]
fn an_answer_is_remembered_until_the_program_changes() {
    let home = Home::new();
    home.program("bin/codex", "one");
    let mut cache = VersionCache::default();
    let pairs = [("PATH", "~/bin")];
    let (agents, asked) = home.detect(&pairs, &mut cache, &[("codex", "codex-cli 0.1.0")]);
    assert_eq!((of(&agents, "codex").version_from, asked.len()), (VersionFrom::Program, 1));
    let mut cache = VersionCache::from_json(&cache.to_json());
    let (agents, asked) = home.detect(&pairs, &mut cache, &[("codex", "codex-cli 0.2.0")]);
    assert_eq!((of(&agents, "codex").version.as_deref(), asked.len()), (Some("0.1.0"), 0));
    assert_eq!(of(&agents, "codex").version_from, VersionFrom::Cache);
    home.program("bin/codex", "another");
    let (agents, asked) = home.detect(&pairs, &mut cache, &[("codex", "codex-cli 0.2.0")]);
    assert_eq!((of(&agents, "codex").version.as_deref(), asked.len()), (Some("0.2.0"), 1));
}

#[test]
fn one_that_never_answers_is_asked_three_times_in_its_life() {
    let home = Home::new();
    home.program("bin/copilot", "slow");
    let mut cache = VersionCache::default();
    let asked: usize = (0..5).map(|_| home.detect(&[("PATH", "~/bin")], &mut cache, &[]).1.len()).sum();
    assert_eq!(asked, 3);
    let (agents, _) = home.detect(&[("PATH", "~/bin")], &mut cache, &[]);
    assert_eq!(of(&agents, "copilot").version, None);
    assert!(of(&agents, "copilot").installed);
}

#[test]
fn without_a_scratch_home_nothing_is_run() {
    let home = Home::new();
    home.program("bin/codex", "one");
    let count = AtomicUsize::new(0);
    let probe = |_: &Path, _: &Env| {
        count.fetch_add(1, Ordering::Relaxed);
        None
    };
    let env = home.env(&[("PATH", "~/bin")]);
    detect_all(&env, &Search { system: false, scratch: None }, &mut VersionCache::default(), &probe);
    assert_eq!(count.into_inner(), 0);
}

#[test]
fn a_probe_that_panics_costs_versions_only() {
    let home = Home::new();
    home.program("bin/codex", "one");
    let env = home.env(&[("PATH", "~/bin")]);
    let probe = |_: &Path, _: &Env| -> Option<Vec<u8>> { panic!("a fault in the probe") };
    let agents = detect_all(&env, &home.search(), &mut VersionCache::default(), &probe);
    assert_eq!((agents.len(), of(&agents, "codex").version.clone()), (10, None));
}

#[test]
fn the_rows_are_those_of_json_md() {
    let home = Home::new();
    home.package("n/node_modules", "@openai/codex", "0.171.0", "bin/codex.js");
    home.link("bin/codex", "../n/node_modules/@openai/codex/bin/codex.js");
    let (agents, _) = home.detect(&[("PATH", "~/bin")], &mut VersionCache::default(), &[]);
    let rows = json::rows(&agents);
    let text = serde_json::to_string_pretty(&[&rows[1], &rows[4]]).unwrap();
    let text = text.replace(home.at("").to_str().unwrap(), "/home/dev");
    insta::assert_snapshot!(text, @r#"
    [
      {
        "id": "codex",
        "name": "Codex",
        "installed": true,
        "version": "0.171.0",
        "binary": "/home/dev/bin/codex",
        "config_dir": "/home/dev/.codex",
        "managed_dir": "/home/dev/.codex/skills",
        "read_dirs": [
          "/home/dev/.codex/skills",
          "/home/dev/.agents/skills"
        ],
        "can": [
          "sessions",
          "resume",
          "delete",
          "usage",
          "limits",
          "auth",
          "providers",
          "hooks",
          "live"
        ],
        "tried": true
      },
      {
        "id": "claude-desktop",
        "name": "Claude Desktop",
        "installed": false,
        "version": null,
        "binary": null,
        "config_dir": "/home/dev/.config/Claude",
        "managed_dir": null,
        "read_dirs": [],
        "can": [],
        "tried": false
      }
    ]
    "#);
}
