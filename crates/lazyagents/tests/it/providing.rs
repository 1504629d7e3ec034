//! `provider`: profiles go into the settings of agents and out of them again, and nothing else changes (public reports,
//! group A).

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Duration;

use testkit::{Home, Output, Pty};

use crate::cli::LAZYAGENTS;
use crate::deleting::tree;
use crate::terminal::quit;

const SETTINGS: &str = r#"{
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
  "enabledPlugins": {"a@b": true},
  "permissions": {"allow": ["Bash(ls:*)"],},  // mine
  "statusLine": {"type": "command", "command": "true"},
  "zzz": 1
}
"#;

fn run(home: &Home, args: &[&str]) -> Output {
    home.run(LAZYAGENTS, args)
}

/// A home with Claude Code, Codex and Gemini CLI in it, and two profiles.
fn home() -> Home {
    let home = Home::new();
    home.write(".claude/settings.json", SETTINGS);
    home.write(".codex/config.toml", "# mine\nmodel = \"o9\" # big\n\n[mcp_servers.x]\nurl = \"http://x\"\n");
    home.write(".gemini/settings.json", "{}\n");
    for name in ["aaa", "bbb"] {
        let url = format!("https://{name}.example/v1");
        let args = ["provider", "add", name, "--base-url", &url, "--model", "m", "--env-key", "ANTHROPIC_AUTH_TOKEN"];
        let _ = run(&home, &args).ok();
    }
    home
}

fn settings(home: &Home) -> String {
    home.read(".claude/settings.json")
}

#[test]
fn a1_one_after_the_other_and_none_leave_all_else_as_it_was() {
    let home = home();
    let before = tree(&home.home().join(".claude"));
    let codex = home.read(".codex/config.toml");
    let applied = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code", "--agent", "codex", "--json"]);
    let applied = applied.ok().json();
    assert_eq!((&applied["changed"], applied["files"].as_array().unwrap().len()), (&true.into(), 2), "{applied}");
    assert!(settings(&home).contains("https://aaa.example/v1"));
    assert!(settings(&home).starts_with(&SETTINGS[..SETTINGS.find("\n}").unwrap()]), "{}", settings(&home));
    let listed = run(&home, &["provider", "list", "--json"]).ok().json();
    assert_eq!(listed[0]["agents"]["claude-code"], "applied");
    assert_eq!(listed[0]["agents"]["codex"], "applied");
    assert_eq!(listed[1]["agents"]["claude-code"], "off");
    let _ = run(&home, &["provider", "apply", "bbb", "--agent", "claude-code"]).ok();
    assert!(settings(&home).contains("bbb.example") && !settings(&home).contains("aaa.example"));
    let _ = run(&home, &["provider", "clear"]).ok();
    assert_eq!(settings(&home), SETTINGS);
    assert_eq!(home.read(".codex/config.toml"), codex);
    // One undo for each command, exactly.
    for _ in 0..3 {
        let _ = run(&home, &["undo"]).ok();
    }
    let now = tree(&home.home().join(".claude"));
    let plain = |tree: &std::collections::BTreeMap<String, (u32, Option<std::time::SystemTime>, Vec<u8>)>| {
        tree.iter().map(|(path, (mode, _, bytes))| (path.clone(), *mode, bytes.clone())).collect::<Vec<_>>()
    };
    assert_eq!(plain(&now), plain(&before));
    assert_eq!(home.read(".codex/config.toml"), codex);
}

#[test]
fn a5_nothing_to_change_is_no_write() {
    let home = home();
    let _ = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code"]).ok();
    let path = home.path(".claude/settings.json");
    let before = std::fs::metadata(&path).unwrap();
    let again = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code", "--json"]).ok().json();
    assert_eq!((&again["changed"], &again["id"]), (&false.into(), &serde_json::Value::Null));
    let after = std::fs::metadata(&path).unwrap();
    assert_eq!((before.ino(), before.mtime(), before.mtime_nsec()), (after.ino(), after.mtime(), after.mtime_nsec()));
    let dry = run(&home, &["provider", "apply", "bbb", "--agent", "claude-code", "--dry-run"]).ok();
    assert!(dry.out().contains("+    \"ANTHROPIC_BASE_URL\": \"https://bbb.example/v1\""), "{dry}");
    assert_eq!(std::fs::metadata(&path).unwrap().ino(), after.ino());
}

#[test]
fn a7_what_no_endpoint_has_is_refused_with_its_place() {
    let home = Home::new();
    let refused = run(&home, &["provider", "add", "x", "--base-url", "https://“x”/v1"]);
    assert_eq!(refused.code(), 2, "{refused}");
    assert!(refused.err().contains("baseUrl cannot be written: character 9"), "{refused}");
    assert!(!home.config_dir().join("providers.json").exists());
}

#[test]
fn a9_a11_links_are_written_through() {
    let home = Home::new();
    home.write("dotfiles/claude/settings.json", SETTINGS);
    std::os::unix::fs::symlink("dotfiles/claude", home.path(".claude")).unwrap();
    home.write("elsewhere/real.json", SETTINGS);
    std::fs::remove_file(home.path("dotfiles/claude/settings.json")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere/real.json", home.path("dotfiles/claude/settings.json")).unwrap();
    let _ = run(&home, &["provider", "add", "aaa", "--base-url", "https://aaa.example"]).ok();
    let _ = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code"]).ok();
    assert!(home.path(".claude").is_symlink() && home.path("dotfiles/claude/settings.json").is_symlink());
    assert!(home.read("elsewhere/real.json").contains("aaa.example"));
    let _ = run(&home, &["provider", "clear"]).ok();
    assert_eq!(home.read("elsewhere/real.json"), SETTINGS);
}

#[test]
fn a15_tokens_come_by_stdin_and_are_shown_to_nobody() {
    let home = home();
    let warned = run(&home, &["provider", "add", "loud", "--token", "hush-hush-hush-hush-1"]).ok();
    assert!(warned.err().contains("`--token -` reads it from stdin"), "{warned}");
    let file = home.config_dir().join("providers.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let _ = run(&home, &["provider", "apply", "loud", "--agent", "claude-code"]).ok();
    let mode = std::fs::metadata(home.path(".claude/settings.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it holds a token now");
    for args in [
        &["provider"][..],
        &["provider", "list", "--json"],
        &["provider", "apply", "loud", "--agent", "gemini-cli", "--dry-run", "--json"],
        &["provider", "clear", "--dry-run"],
        &["history", "--json"],
        &["undo", "--dry-run"],
        &["doctor"],
    ] {
        let output = run(&home, args);
        assert!(!format!("{output}").contains("hush"), "{args:?}: {output}");
    }
    assert!(run(&home, &["provider", "list", "--json", "--reveal"]).ok().out().contains("hush-hush-hush-hush-1"));
}

#[test]
fn a17_a_huge_file_is_refused_with_its_size() {
    let home = home();
    let path = home.path(".claude/settings.json");
    std::fs::File::options().write(true).open(&path).unwrap().set_len(200 << 20).unwrap();
    let refused = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code"]);
    assert_eq!(refused.code(), 1);
    assert!(refused.err().contains("settings of more than"), "{refused}");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 200 << 20);
}

#[test]
fn what_is_not_understood_is_refused_with_its_place_and_nothing_is_written() {
    let home = home();
    home.write(".claude/settings.json", "{\n  \"env\": {,\n}\n");
    let before = (settings(&home), home.read(".codex/config.toml"));
    let refused = run(&home, &["provider", "apply", "aaa", "--agent", "codex", "--agent", "claude-code"]);
    assert_eq!(refused.code(), 1);
    assert!(refused.err().contains("settings.json: line 2, column 11"), "{refused}");
    assert_eq!((settings(&home), home.read(".codex/config.toml")), before, "neither of them");
}

#[test]
fn a13_twenty_at_once_on_one_home_lose_nothing() {
    let home = Home::new();
    home.write(".claude/settings.json", SETTINGS);
    std::thread::scope(|scope| {
        for number in 0..20 {
            let home = &home;
            scope.spawn(move || {
                let (name, url) = (format!("p{number}"), format!("https://p{number}.example"));
                let _ = run(home, &["provider", "add", &name, "--base-url", &url]).ok();
                let _ = run(home, &["provider", "apply", &name, "--agent", "claude-code"]).ok();
            });
        }
    });
    let listed = run(&home, &["provider", "--json"]).ok().json();
    let rows = listed.as_array().unwrap();
    assert_eq!(rows.len(), 20);
    let applied = rows.iter().filter(|row| row["agents"]["claude-code"] == "applied").count();
    assert_eq!(applied, 1, "{listed}");
    assert_eq!(run(&home, &["history", "--json"]).ok().json().as_array().unwrap().len(), 40);
    let _ = run(&home, &["provider", "clear"]).ok();
    assert_eq!(settings(&home), SETTINGS);
    let _ = run(&home, &["doctor"]).ok();
}

#[test]
fn the_holder_of_the_lock_is_named() {
    let home = home();
    let lock = home.write(home.data_dir().join("journal.lock"), "");
    let held = std::fs::File::options().write(true).open(&lock).unwrap();
    held.lock().unwrap();
    std::io::Write::write_all(&mut &held, b"4711 lazyagents hooks enable x\n").unwrap();
    let began = std::time::Instant::now();
    let refused = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code"]);
    assert_eq!(refused.code(), 1);
    assert!(refused.err().contains("process 4711 (lazyagents hooks enable x) holds it"), "{refused}");
    assert!(began.elapsed() >= Duration::from_secs(10));
    assert_eq!(settings(&home), SETTINGS);
}

#[test]
fn an_undo_keeps_what_others_wrote_since() {
    let home = home();
    let _ = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code"]).ok();
    home.write(".claude/settings.json", settings(&home).replace("\"zzz\": 1", "\"zzz\": 1,\n  \"theirs\": 2"));
    let refused = run(&home, &["undo"]);
    assert_eq!(refused.code(), 1);
    assert!(refused.out().contains("+  \"theirs\": 2"), "{refused}");
    assert!(refused.err().contains("--merge"), "{refused}");
    let _ = run(&home, &["undo", "--merge"]).ok();
    assert_eq!(settings(&home), SETTINGS.replace("\"zzz\": 1", "\"zzz\": 1,\n  \"theirs\": 2"));
}

#[test]
fn one_session_with_a_profile_changes_no_file() {
    let mut home = home();
    let show = "#!/bin/sh\nprintf '%s\\n' \"$@\"\nenv | grep -E '^(ANTHROPIC|LAZYAGENTS|COPILOT)' | sort\n";
    for name in ["claude", "codex", "copilot"] {
        home.program(name, show);
    }
    let before = tree(&home.home());
    home.set_env("ANTHROPIC_AUTH_TOKEN", "hush-hush");
    let claude = run(&home, &["provider", "run", "aaa", "--", "claude", "-p", "hi there"]).ok();
    assert_eq!(
        claude.out(),
        "--settings\n{\"apiKeyHelper\":\"printenv LAZYAGENTS_TOKEN\",\"env\":{\"ANTHROPIC_BASE_URL\":\"https://aaa.example/v1\",\
         \"ANTHROPIC_MODEL\":\"m\",\"ANTHROPIC_AUTH_TOKEN\":\"\",\"ANTHROPIC_API_KEY\":\"\"}}\n-p\nhi there\n\
         ANTHROPIC_AUTH_TOKEN=hush-hush\nLAZYAGENTS_TOKEN=hush-hush\n"
    );
    let own = run(&home, &["provider", "run", "aaa", "--", "claude", "--settings=x"]);
    assert!(own.code() == 1 && own.err().contains("--settings is how Claude Code is told the profile"), "{own}");
    let codex = run(&home, &["provider", "run", "aaa", "--", "codex", "exec", "hi"]).ok();
    let args: Vec<String> =
        codex.out().lines().take_while(|line| !line.starts_with("ANTHROPIC")).map(str::to_owned).collect();
    assert!(args.iter().all(|arg| !arg.contains("hush")), "{args:?}");
    assert!(
        args.contains(&"model_providers.lazyagents-run.base_url=\"https://aaa.example/v1\"".to_owned()),
        "{args:?}"
    );
    assert!(codex.out().contains("LAZYAGENTS_TOKEN=hush-hush"));
    let copilot = run(&home, &["provider", "run", "bbb", "--", "copilot"]).ok();
    assert!(copilot.out().contains("COPILOT_PROVIDER_BASE_URL=https://bbb.example/v1"), "{copilot}");
    assert_eq!(tree(&home.home()), before);
    home.unset_env("ANTHROPIC_AUTH_TOKEN");
    let refused = run(&home, &["provider", "run", "aaa", "--", "claude"]);
    assert!(refused.code() == 1 && refused.err().contains("ANTHROPIC_AUTH_TOKEN is not set"), "{refused}");
    let unknown = run(&home, &["provider", "run", "aaa", "--", "vim"]);
    assert!(unknown.code() == 2 && unknown.err().contains("vim is no agent"), "{unknown}");
}

/// Agents lay what they are started with over their settings, key by key: the token of the profile that is applied must
/// not go to the endpoint of the one that a session is started with.
#[test]
fn a_session_takes_nothing_of_the_profile_that_is_applied() {
    let home = home();
    let show = "#!/bin/sh\nprintf '%s\\n' \"$@\"\nenv | grep -E '^(OPENAI|GEMINI|GOOGLE|OPENCODE|LAZYAGENTS)' | sort\n";
    for name in ["claude", "codex", "gemini", "qwen", "opencode"] {
        home.program(name, show);
    }
    let add = ["provider", "add", "plain", "--base-url", "http://plain.example/v1", "--model", "p"];
    let _ = run(&home, &add).ok();
    let started = |args: &[&str]| run(&home, &[&["provider", "run", "plain", "--"], args].concat());
    let refused = started(&["gemini"]);
    assert!(refused.code() == 1 && refused.err().contains("security.auth.selectedType"), "{refused}");
    home.write(".gemini/settings.json", "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}}");
    assert!(started(&["gemini"]).ok().out().contains("GEMINI_API_KEY=none"));
    let qwen = started(&["qwen", "-p", "hi"]).ok();
    assert!(qwen.out().starts_with("--auth-type\nopenai\n--model\np\n-p\nhi\nOPENAI_API_KEY=none\n"), "{qwen}");
    let own = started(&["qwen", "--model", "q"]).ok();
    assert!(own.out().starts_with("--auth-type\nopenai\n--model\nq\nOPENAI"), "{own}");
    assert!(started(&["claude"]).ok().out().ends_with("LAZYAGENTS_TOKEN=none\n"));
    // Another name than what is applied has.
    for agent in ["codex", "opencode"] {
        let out = started(&[agent]).ok();
        assert!(out.out().contains("lazyagents-run") && !out.out().contains("\"lazyagents\""), "{out}");
    }
}

#[cfg(unix)]
#[test]
fn doctor_names_an_agents_file_whose_token_others_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let add = ["provider", "add", "open", "--base-url", "https://o.example", "--token", "hush-hush-hush"];
    let _ = run(&home, &add).ok();
    let _ = run(&home, &["provider", "apply", "open", "--agent", "claude-code"]).ok();
    let _ = run(&home, &["doctor"]).ok();
    let file = home.home().join(".claude/settings.json");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let told = run(&home, &["doctor"]);
    assert!(told.code() == 1 && told.out().contains("settings.json holds a token and others may read it"), "{told}");
    assert!(!told.out().contains("hush"), "{told}");
}

#[test]
fn no_look_at_a_change_shows_a_token_of_anybody() {
    let home = home();
    home.program("gemini", "#!/bin/sh\n");
    home.write(".gemini/.env", "GEMINI_API_KEY=my-own-plain-key\n");
    home.write(".claude/settings.json", "{\"env\": {\"ANTHROPIC_AUTH_TOKEN\": \"my-own-plain-key\"}}\n");
    for name in ["one", "two"] {
        let token = format!("plain-token-of-{name}");
        let add = ["provider", "add", name, "--base-url", "https://x.example", "--token", &token];
        let _ = run(&home, &add).ok();
    }
    let both = ["--agent", "gemini-cli", "--agent", "claude-code"];
    let mut told = run(&home, &[&["provider", "apply", "one"][..], &both].concat()).ok().out();
    for args in [
        [&["provider", "apply", "two", "--dry-run"][..], &both].concat(),
        vec!["provider", "clear", "--dry-run"],
        vec!["provider", "clear", "--dry-run", "--json"],
        vec!["provider", "add", "one", "--base-url", "https://y.example", "--replace", "--dry-run"],
        vec!["provider", "rm", "two", "--dry-run"],
        vec!["undo", "--dry-run"],
        vec!["history", "--json"],
    ] {
        told.push_str(&run(&home, &args).ok().out());
    }
    assert!(told.contains("GEMINI_API_KEY"), "{told}");
    assert!(!told.contains("plain-token") && !told.contains("my-own-plain"), "{told}");
}

#[test]
fn doctor_tells_what_is_wrong_with_profiles() {
    let home = home();
    let _ = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code"]).ok();
    let fine = run(&home, &["doctor"]).ok();
    assert!(fine.out().contains("claude-code uses aaa"), "{fine}");
    home.write(".claude/settings.json", settings(&home).replace("aaa.example", "by-hand.example"));
    let changed = run(&home, &["doctor"]).ok();
    assert!(changed.out().contains("env.ANTHROPIC_BASE_URL"), "{changed}");
    let _ = run(&home, &["provider", "rm", "aaa"]).ok();
    let gone = run(&home, &["doctor"]);
    assert!(gone.code() == 1 && gone.out().contains("the profile aaa is in use there and does not exist"), "{gone}");
    home.write(home.config_dir().join("providers.json"), "{\"profiles\": [");
    let broken = run(&home, &["doctor"]);
    assert!(broken.code() == 1 && broken.out().contains("providers.json: line 1"), "{broken}");
}

#[test]
fn the_tab_adds_applies_and_undoes() {
    let home = Home::new();
    home.config("tui: {startTab: providers}\n");
    home.write(".claude/settings.json", SETTINGS);
    let pty = Pty::spawn(LAZYAGENTS, &[], &home, 30, 110);
    pty.wait_text("No profiles yet");
    pty.send("n");
    pty.wait_text("Name of the profile");
    pty.send("work\r");
    pty.wait_text("Which endpoint?");
    pty.send("nonsense\r");
    pty.wait_text("is no base URL");
    pty.send("\x15https://w.example\r");
    pty.wait_text("Which model?");
    pty.send("m\r");
    pty.wait_text("What does the endpoint speak?");
    pty.send("\r");
    pty.wait_text("The token?");
    pty.send("hush-hush");
    pty.wait_text("•••••••••");
    pty.send("\r");
    pty.wait_text("Add work");
    pty.send("y");
    pty.wait_text("Providers 1");
    pty.send(" ");
    pty.wait_text("Apply work");
    pty.wait_text("\"ANTHROPIC_AUTH_TOKEN\": \"••••\"");
    pty.send("y");
    pty.wait_text("apply provider work to");
    assert!(settings(&home).contains("hush-hush"));
    pty.send("z");
    pty.wait_text("Undo 2");
    pty.send("y");
    pty.wait_text("undone: apply");
    assert_eq!(settings(&home), SETTINGS);
    // A profile that is changed keeps its token when none is typed.
    pty.send("e");
    pty.wait_text("Which endpoint?");
    pty.send("\r");
    pty.wait_text("Which model?");
    pty.send("2\r");
    pty.wait_text("What does the endpoint speak?");
    pty.send("\r");
    pty.wait_text("nothing keeps it");
    pty.send("\r");
    pty.wait_text("Change work");
    pty.send("y");
    pty.wait_text("change provider work");
    let profiles = home.read(home.config_dir().join("providers.json"));
    assert!(profiles.contains("\"m2\"") && profiles.contains("hush-hush"), "{profiles}");
    quit(&pty);
}

#[test]
fn an_undo_by_values_leaves_nothing_that_cannot_be_read() {
    let home = home();
    let _ = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code"]).ok();
    home.write(".claude/settings.json", format!("{}\n", settings(&home)));
    let _ = run(&home, &["undo", "--merge"]).ok();
    assert_eq!(settings(&home), format!("{SETTINGS}\n"));
    let _ = run(&home, &["doctor"]).ok();
    let _ = run(&home, &["provider", "apply", "bbb", "--agent", "claude-code"]).ok();
    let _ = run(&home, &["provider", "clear"]).ok();
    assert_eq!(settings(&home), format!("{SETTINGS}\n"));
}

/// Changes of two kinds, taken back in another order than they were made.
#[test]
fn an_older_change_is_taken_out_from_under_a_newer_one() {
    let home = home();
    let add = ["hooks", "add", "h", "--event", "PreToolUse", "--matcher", "Bash", "--command", "true"];
    let _ = run(&home, &add).ok();
    let id = |out: serde_json::Value| out["id"].as_u64().unwrap().to_string();
    let apply = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code", "--json"]).ok().json();
    let _ = run(&home, &["hooks", "enable", "h", "--agent", "claude-code"]).ok();
    let enable = run(&home, &["history", "--json", "--limit", "1"]).ok().json()[0]["id"].as_u64().unwrap().to_string();
    let _ = run(&home, &["provider", "apply", "bbb", "--agent", "codex"]).ok();
    let refused = run(&home, &["undo", &enable]);
    assert!(refused.code() == 0 || refused.err().contains("--merge"), "{refused}");
    if refused.code() != 0 {
        let _ = run(&home, &["undo", &enable, "--merge"]).ok();
    }
    assert!(!settings(&home).contains("PreToolUse"), "{}", settings(&home));
    let _ = run(&home, &["undo", &id(apply), "--merge"]).ok();
    assert_eq!(settings(&home), SETTINGS);
    let _ = run(&home, &["doctor"]).ok();
}

#[test]
fn what_the_person_has_in_a_table_of_our_name_stays() {
    let mine = "[model_providers.lazyagents]\nname = \"x\"\na = 1\nb = 2 # two\nc = 3\n\n[z]\nq = 1\n";
    let below = "[model_providers.lazyagents.http_headers]\nX = \"1\"\n";
    for text in [mine, below, "model_providers.lazyagents.zz = 1\nmodel_providers.lazyagents.yy = 1\n"] {
        let home = home();
        home.write(".codex/config.toml", text);
        let applied = run(&home, &["provider", "apply", "aaa", "--agent", "codex"]);
        if applied.code() == 0 {
            assert!(home.read(".codex/config.toml").contains("aaa.example"));
            let _ = run(&home, &["provider", "clear"]).ok();
        }
        assert_eq!(home.read(".codex/config.toml"), text, "{applied}");
    }
}

#[test]
fn a_link_to_nowhere_stays_and_its_target_goes() {
    let home = Home::new();
    home.write("dot/other", "x");
    home.write(".claude/other", "x");
    std::os::unix::fs::symlink("../dot/none.json", home.path(".claude/settings.json")).unwrap();
    let _ = run(&home, &["provider", "add", "aaa", "--base-url", "https://aaa.example"]).ok();
    let _ = run(&home, &["provider", "apply", "aaa", "--agent", "claude-code"]).ok();
    assert!(home.read("dot/none.json").contains("aaa.example"));
    let _ = run(&home, &["provider", "clear"]).ok();
    assert!(home.path(".claude/settings.json").is_symlink() && !home.path("dot/none.json").exists());
}

#[test]
fn a_command_hides_nothing_before_it_is_enabled() {
    let home = home();
    let command = "true \u{1b}]0; touch pwned; \u{7}\u{202e}";
    let pack = serde_json::json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}});
    home.write("pack/hooks/hooks.json", pack.to_string());
    let _ = run(&home, &["hooks", "import", home.path("pack").to_str().unwrap()]).ok();
    for args in [&["hooks", "list", "pack"][..], &["hooks", "enable", "pack", "--agent", "claude-code", "--dry-run"]] {
        let shown = run(&home, args).ok();
        assert!(shown.out().contains("\\u{1b}]0; touch pwned; \\u{7}\\u{202e}"), "{shown}");
        assert!(!shown.out().contains('\u{1b}') && !shown.out().contains('\u{202e}'));
    }
}

#[test]
fn a_url_with_a_password_is_refused() {
    let home = Home::new();
    for url in ["https://user:SEKRET@h.test/v1", "https://h.test/v1?api_key=SEKRET"] {
        let refused = run(&home, &["provider", "add", "u", "--base-url", url]);
        assert!(refused.code() == 2 && !refused.err().contains("SEKRET"), "{refused}");
    }
}

/// Processes that are killed at any moment: every file parses, nothing of others is changed, and what follows works.
#[test]
fn killed_at_random_moments_nothing_is_half_done() {
    let home = home();
    let add = ["hooks", "add", "h", "--event", "PreToolUse", "--matcher", "Bash", "--command", "true"];
    let _ = run(&home, &add).ok();
    let commands: [&[&str]; 5] = [
        &["provider", "apply", "aaa", "--agent", "claude-code", "--agent", "codex"],
        &["hooks", "enable", "h", "--agent", "claude-code", "--agent", "codex"],
        &["provider", "apply", "bbb", "--agent", "codex"],
        &["hooks", "disable", "h"],
        &["provider", "clear"],
    ];
    // How long one takes here; the moments are spread over it and a little more.
    let began = std::time::Instant::now();
    let _ = run(&home, commands[0]).ok();
    let whole = began.elapsed();
    for round in 0..25_u32 {
        let mut command = std::process::Command::new(LAZYAGENTS);
        command.args(commands[round as usize % commands.len()]).env_clear().envs(home.env());
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        // Not evenly: a step of 7 goes through all of 25.
        std::thread::sleep(whole * (round * 7 % 25) / 22);
        child.kill().unwrap();
        child.wait().unwrap();
        let text = settings(&home);
        for line in SETTINGS.lines().filter(|line| line.contains(':') && !line.contains("hooks")) {
            assert!(text.contains(line.trim_end_matches(',')), "round {round}: {line} is gone from\n{text}");
        }
        let doctor = run(&home, &["doctor"]);
        assert!(!doctor.out().contains("settings.json: line"), "round {round}: {doctor}");
    }
    let _ = run(&home, &["hooks", "disable", "h"]).ok();
    let _ = run(&home, &["provider", "clear"]).ok();
    assert_eq!(settings(&home), SETTINGS);
    let codex = "# mine\nmodel = \"o9\" # big\n\n[mcp_servers.x]\nurl = \"http://x\"\n";
    assert_eq!(home.read(".codex/config.toml"), codex);
    let _ = run(&home, &["doctor"]).ok();
}
