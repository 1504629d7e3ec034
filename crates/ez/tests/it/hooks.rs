//! Hooks against plugins in `sh`: what they may do wrong without harm, and what is undone.

use crate::{ez, home, names, plugin, repo};

const YES: &str = "cat >/dev/null; echo '{\"success\":true}'";

#[test]
fn a_failing_create_leaves_nothing_and_can_be_repeated() {
    let home = home();
    let path = repo(&home, "api").display().to_string();
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let no = home.root().join("no").display().to_string();
    let body = format!(
        "cat >/dev/null; if [ -e {no} ]; then echo '{{\"success\":true}}'; else echo '{{\"success\":false}}'; fi"
    );
    plugin(&home, "late", &["on_session_create"], "", &body);
    let failed = ez(&home, &["session", "new", "x", "-r", "api"]);
    assert!(failed.code() == 1 && failed.err().contains("'late'"), "{failed}");
    assert!(names(&home, "api").is_empty() && !home.path("ws/.ez/api/x").exists());
    assert!(!crate::git(&home, &path, &["branch"]).contains('x'));
    assert_eq!(ez(&home, &["doctor", "--json"]).ok().json()["ok"], true);
    home.write(&no, "");
    let _ = ez(&home, &["session", "new", "x", "-r", "api"]).ok();
}

#[test]
fn a_plugin_that_hangs_is_stopped_with_its_children() {
    let home = home();
    repo(&home, "api");
    home.write(home.root().join("config/ez/config.toml"), "plugin_timeout = 1\n");
    let pid = home.root().join("pid").display().to_string();
    plugin(&home, "slow", &["on_session_create"], "", &format!("sleep 60 & echo $! > {pid}; sleep 60"));
    let stopped = ez(&home, &["session", "new", "x", "-r", "api"]);
    assert!(stopped.code() == 1 && stopped.err().contains("within 1 s"), "{stopped}");
    let pid: u32 = home.read(&pid).trim().parse().expect("a pid");
    assert!(!testkit::alive(pid), "{pid} lives");
}

#[test]
fn state_of_plugins_comes_back_and_defaults_are_sent() {
    let home = home();
    repo(&home, "api");
    let seen = home.root().join("seen").display().to_string();
    let schema = "[[config_schema]]\nname = \"n\"\ntype = \"int\"\ndefault = 7\n";
    let answer = r#"{"success":true,"repo_mutations":{"plugin_state":{"k":1}},"session_mutations":{"env":{"A":"1","bad key":"2"}}}"#;
    plugin(
        &home,
        "state",
        &["on_session_create", "on_session_enter"],
        schema,
        &format!("cat >> {seen}; echo '{answer}'"),
    );
    let made = ez(&home, &["session", "new", "x", "-r", "api"]).ok();
    assert!(made.err().contains("bad key"));
    let _ = ez(&home, &["session", "enter", "x", "-r", "api"]).ok();
    let text = home.read(&seen);
    let second = text.lines().nth(1).unwrap_or_default();
    assert!(second.contains(r#""config":{"plugin_state":{"k":1},"user_config":{"n":7}}"#), "{second}");
    assert!(second.contains(r#""env":{"A":"1"}"#), "{second}");
}

#[test]
fn a_failing_delete_keeps_the_session_and_no_hooks_overrides() {
    let home = home();
    repo(&home, "api");
    plugin(&home, "keep", &["on_session_delete"], "", "cat >/dev/null; exit 3");
    let _ = ez(&home, &["session", "new", "x", "-r", "api"]).ok();
    let kept = ez(&home, &["session", "delete", "x", "-r", "api"]);
    assert!(kept.code() == 1 && kept.err().contains("--no-hooks"), "{kept}");
    assert_eq!(names(&home, "api"), ["x"]);
    assert_eq!(ez(&home, &["trash", "list", "--json"]).ok().json().as_array().map(Vec::len), Some(0));
    let _ = ez(&home, &["session", "delete", "x", "-r", "api", "--no-hooks"]).ok();
}

#[test]
fn an_init_that_fails_leaves_the_plugin_off_and_a_newer_manifest_works() {
    let home = home();
    repo(&home, "api");
    let folder = home.root().join("config/ez/plugins/bad");
    home.write(folder.join("manifest.toml"), "name = \"bad\"\nhooks = [\"on_plugin_init\"]\nexecutable = \"run\"\n");
    home.executable(folder.join("run"), "#!/bin/sh\nexit 1\n");
    assert_eq!(ez(&home, &["plugin", "enable", "bad"]).code(), 1);
    assert_eq!(ez(&home, &["config", "get", "plugins.enabled"]).ok().out().trim(), "");
    plugin(&home, "newer", &["on_session_create", "on_moon_landing"], "orbit = 3", YES);
    let _ = ez(&home, &["session", "new", "x", "-r", "api"]).ok();
    home.write(home.root().join("config/ez/plugins/newer/manifest.toml"), "name = [");
    assert_eq!(ez(&home, &["session", "enter", "x", "-r", "api"]).ok().code(), 0);
    assert_eq!(ez(&home, &["session", "new", "y", "-r", "api"]).code(), 1);
}
