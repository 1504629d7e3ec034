//! The browser through a scripted stand-in for fzf: what it is told, what comes back after a key, what is refused.

use std::path::PathBuf;

use testkit::{Home, run};

use crate::{EZ, ez, git, home, names, plugin, repo};

/// A stand-in that answers as the next line of the script says: `CODE QUERY KEY PATTERN`, `-` for nothing; the row is
/// the first that holds the pattern. It writes its arguments down, and knows no other keys than fzf does.
const FZF: &str = r#"#!/bin/sh
case "$*" in *--version*) echo '0.38.0 (scripted)'; exit 0;; esac
for arg in "$@"; do
  case "$arg" in
    --expect=*foo*) echo 'unsupported key: foo' >&2; exit 2;;
  esac
done
case "$*" in *--filter=*) exit 0;; esac
{ printf '== '; for arg in "$@"; do printf '%s\n' "$arg"; done; } >> "$FZF_DIR/log"
cat > "$FZF_DIR/rows"
read -r code query key pattern < "$FZF_DIR/script" || exit 130
sed 1d "$FZF_DIR/script" > "$FZF_DIR/rest"; mv "$FZF_DIR/rest" "$FZF_DIR/script"
[ "$code" = 130 ] && exit 130
[ "$query" = - ] && query=
[ "$key" = - ] && key=
printf '%s\n' "$query"
case "$*" in *--expect=*) printf '%s\n' "$key";; esac
[ "$pattern" = - ] || grep -m 1 -e "$pattern" "$FZF_DIR/rows"
exit "$code"
"#;

/// A home whose `fzf` is the stand-in, with this script.
fn scripted(home: &mut Home, script: &str) -> PathBuf {
    let bin = home.path("fzf/bin");
    home.executable(bin.join("fzf"), FZF);
    home.write("fzf/script", script);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let folder = home.path("fzf");
    home.set_env("PATH", path).set_env("FZF_DIR", folder.display().to_string());
    folder
}

/// The arguments of each start, the last first.
fn starts(home: &Home) -> Vec<String> {
    let log = home.read("fzf/log");
    log.split("== ").skip(1).map(str::to_owned).collect()
}

/// A repository with the sessions `main`, `one` and `two`.
fn with_sessions(home: &Home) -> PathBuf {
    let path = repo(home, "api");
    let _ = ez(home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(home, &["session", "new", "one", "-r", "api"]).ok();
    let _ = ez(home, &["session", "new", "two", "-r", "api"]).ok();
    path
}

#[test]
fn a_key_that_fzf_does_not_know_is_refused_left_out_and_told() {
    let mut home = home();
    with_sessions(&home);
    scripted(&mut home, "130\n");
    let refused = ez(&home, &["config", "set", "keybinds.new_session", "foo"]);
    assert!(refused.code() == 1 && refused.err().contains("ctrl-a to ctrl-z"), "{refused}");
    for key in ["alt-X", "ctrl-x", "f5", "ctrl-alt-n", "alt-n", ""] {
        let _ = ez(&home, &["config", "set", "keybinds.new_session", key]).ok();
    }
    home.write(home.root().join("config/ez/config.toml"), "[keybinds]\nnew_session = \"foo\"\n");
    let shown = ez(&home, &["-r", "api"]).ok();
    assert_eq!(shown.err().matches("'foo', a key that fzf does not know").count(), 1, "{shown}");
    assert!(starts(&home)[0].contains("! keybinds.new_session is 'foo'"), "{:?}", starts(&home));
    let doctor = ez(&home, &["doctor"]);
    assert!(doctor.code() == 1 && doctor.out().contains("keybinds.new_session is 'foo'"), "{doctor}");
}

#[test]
fn two_actions_of_one_picker_do_not_get_one_key() {
    let home = home();
    repo(&home, "api");
    for (action, key) in [("new_session", "alt-d"), ("view_repo", "CTRL-T"), ("sort_toggle", "alt-l")] {
        let refused = ez(&home, &["config", "set", &format!("keybinds.{action}"), key]);
        assert!(refused.code() == 1 && refused.err().contains("are both"), "{refused}");
    }
    // clone_repo and new_session never meet.
    let _ = ez(&home, &["config", "set", "keybinds.clone_repo", "alt-d"]).ok();
    home.write(home.root().join("config/ez/config.toml"), "[keybinds]\nnew_session = \"alt-d\"\n");
    let doctor = ez(&home, &["doctor"]);
    assert!(doctor.out().contains("keybinds.delete_session and keybinds.new_session are both 'alt-d'"), "{doctor}");
    let _ = ez(&home, &["config", "set", "keybinds.new_session", "alt-m"]).ok();
    assert_eq!(ez(&home, &["doctor"]).code(), 0);
}

#[test]
fn what_fzf_complains_of_is_told_in_its_words() {
    let mut home = home();
    repo(&home, "api");
    let bin = scripted(&mut home, "").join("bin");
    home.executable(bin.join("fzf"), "#!/bin/sh\necho 'unknown option: --nope' >&2\nexit 2\n");
    let failed = ez(&home, &["-r", "api"]);
    assert!(failed.code() == 2 && failed.err().contains("fzf says: unknown option: --nope"), "{failed}");
    assert!(!failed.err().contains("terminal") && failed.err().contains("extra_opts"), "{failed}");
}

#[test]
fn without_a_terminal_a_name_is_asked_for_on_the_command_line() {
    let mut home = home();
    repo(&home, "api");
    let bin = scripted(&mut home, "").join("bin");
    let broken =
        "#!/bin/sh\ncase \"$*\" in *--filter*) exit 1;; esac\necho 'inappropriate ioctl for device' >&2\nexit 2\n";
    home.executable(bin.join("fzf"), broken);
    let failed = home.run("setsid", &["-w", EZ, "session", "new", "-r", "api"]);
    assert!(failed.code() == 2 && failed.err().contains("give a name: ez session new NAME"), "{failed}");
}

#[test]
fn wrong_values_are_refused_and_named_where_they_stand() {
    let home = home();
    repo(&home, "api");
    for (key, value, word) in [
        ("default_sort", "foo", "'lru', 'alpha'"),
        ("selector.backend", "foo", "'fzf', 'builtin'"),
        ("delete_branch", "foo", "'merged'"),
        ("plugin_settings.tmux.auto_attach", "maybe", "true or false"),
        ("plugin_settings.git-worktree.fetch_ttl", "soon", "a whole number"),
        ("plugin_settings.git-worktree.copy", ".env", "a list"),
    ] {
        let refused = ez(&home, &["config", "set", key, value]);
        assert!(refused.code() == 1 && refused.err().contains(word), "{key}: {refused}");
    }
    for (key, value) in [
        ("default_sort", "alpha"),
        ("delete_branch", ""),
        ("plugin_settings.tmux.auto_attach", "true"),
        ("plugin_settings.git-worktree.fetch_ttl", "5"),
        ("plugin_settings.git-worktree.copy", "[\".env*\"]"),
        ("plugin_settings.git-worktree.setup", "true"),
        ("plugin_settings.other.thing", "maybe"),
    ] {
        let _ = ez(&home, &["config", "set", key, value]).ok();
    }
    let file = home.root().join("config/ez/config.toml");
    assert!(home.read(&file).contains("setup = \"true\""), "{}", home.read(&file));
    assert_eq!(ez(&home, &["doctor"]).code(), 0, "{}", ez(&home, &["doctor"]));
    let text = "default_sort = \"foo\"\non_enter = \"bogus\"\n[selector]\nbackend = \"x\"\n\
        [plugin_settings.tmux]\nauto_attach = \"maybe\"\nauto_atach = true\n";
    home.write(&file, text);
    let doctor = ez(&home, &["doctor"]);
    assert_eq!(doctor.code(), 1);
    for word in [
        "default_sort is 'foo'",
        "selector.backend is 'x'",
        "on_enter is 'bogus'",
        "plugin_settings.tmux.auto_attach: it is true or false",
        "plugin_settings.tmux.auto_atach: the plugin has no such setting",
    ] {
        assert!(doctor.out().contains(word), "{word}: {doctor}");
    }
}

#[test]
fn a_failure_stands_in_the_picker_that_comes_back_with_its_text_and_its_place() {
    let mut home = home();
    with_sessions(&home);
    // Rename `two` to a taken name; the second prompt is the text prompt.
    scripted(&mut home, "0 - alt-r two\n1 one - -\n0 t alt-r two\n130\n130\n");
    let _ = ez(&home, &["-r", "api"]).ok();
    let starts = starts(&home);
    // The last is the view that Esc leads to.
    assert_eq!(starts.len(), 6, "{starts:?}");
    assert!(starts[2].contains("--header=! ") && starts[2].contains("'one'"), "{}", starts[2]);
    assert!(starts[2].contains("--bind=load:pos("), "{}", starts[2]);
    assert!(starts[4].contains("--query=t\n") && !starts[4].contains("--bind=load"), "{}", starts[4]);
    assert!(!starts[4].contains("--header=! "), "told once: {}", starts[4]);
}

#[test]
fn what_can_be_known_before_a_name_is_asked_for_is_told_before() {
    let mut home = home();
    with_sessions(&home);
    let _ = ez(&home, &["session", "new", "bare", "--bare", "-r", "api"]).ok();
    scripted(&mut home, "0 - alt-s bare\n0 - alt-s one\n130\n");
    let _ = ez(&home, &["-r", "api"]).ok();
    let starts = starts(&home);
    assert_eq!(starts.len(), 4, "nobody was asked for a name: {starts:?}");
    assert!(starts[1].contains("has no folder"), "{}", starts[1]);
    assert!(starts[2].contains("no uncommitted changes"), "{}", starts[2]);
}

#[test]
fn a_typed_name_that_fits_nothing_is_made() {
    let mut home = home();
    with_sessions(&home);
    scripted(&mut home, "1 nothing - -\n1 nothing alt-r -\n1 -bad alt-n -\n1 fresh alt-n -\n130\n");
    let _ = ez(&home, &["-r", "api"]).ok();
    let starts = starts(&home);
    assert_eq!(starts.len(), 6, "{starts:?}");
    assert!(starts[1].contains("--query=nothing") && starts[2].contains("--query=nothing"), "{starts:?}");
    assert!(starts[3].contains("--header=! "), "{}", starts[3]);
    assert_eq!(names(&home, "api"), ["one", "two", "fresh"]);
    let made = ez(&home, &["session", "list", "-r", "api", "--json"]).ok().json();
    assert!(made[2]["parent_id"].is_null(), "{made}");
}

#[test]
fn only_keys_that_work_are_told_and_none_is_cut() {
    let mut home = home();
    repo(&home, "api");
    plugin(
        &home,
        "mine",
        &["on_bind"],
        "[[binds]]\nkey = \"alt-a\"\nname = \"mine\"\nlabel = \"attach mine\"\ncontexts = [\"session\"]",
        "echo '{\"success\":true}'",
    );
    scripted(&mut home, "130\n130\n130\n");
    for args in [&["-r", "api"][..], &["--all", "--select-by", "tree"]] {
        let _ = ez(&home, args).ok();
    }
    let starts = starts(&home);
    for start in &starts {
        let header = start.split("--header=").nth(1).unwrap().split("\n--").next().unwrap();
        assert!(header.lines().all(|line| line.chars().count() <= 36), "{header}");
        assert!(header.lines().flat_map(|line| line.split(" · ")).all(|key| key.contains(' ')), "{header}");
    }
    let keys = |picker: &str| ez(&home, &["preview", "--picker", picker, "--any", "--", "x"]).ok().out();
    assert!(keys("session").contains("alt-a attach mine  "), "{}", keys("session"));
    assert!(!keys("tree").contains("attach mine") && !keys("tree").contains("note"), "{}", keys("tree"));
    for help in keys("tree").trim().split("  ") {
        let key = help.split(' ').next().unwrap();
        let expected = starts.last().unwrap().split("--expect=").nth(1).unwrap().lines().next().unwrap();
        assert!(expected.split(',').any(|own| own == key), "{key} of {expected}");
    }
}

#[test]
fn in_the_tree_sessions_are_made_renamed_and_deleted() {
    let mut home = home();
    with_sessions(&home);
    let script =
        "0 - alt-r two\n0 dos - -\n0 - alt-d dos\n0 - alt-d api\n0 - alt-n api\n0 - - Full\n0 three - -\n130\n";
    scripted(&mut home, script);
    let _ = run(EZ, &["--all", "--select-by", "tree"], &home, b"y\n").ok();
    assert_eq!(names(&home, "api"), ["one", "three"]);
    assert!(starts(&home)[4].contains("! that key is for sessions"), "{:?}", starts(&home));
}

#[test]
fn without_fzf_a_number_picks_and_other_text_is_a_text() {
    let home = home();
    let path = repo(&home, "api");
    let _ = ez(&home, &["config", "set", "selector.backend", "builtin"]).ok();
    let made = run(EZ, &["session", "new", "-r", "api"], &home, b"2\n2\nABC\n42\nlogin\n").ok();
    assert!(made.err().contains("1) feat\n2) fix\n3) chore\n4) (none)\n"), "{made}");
    assert!(!made.err().contains("ctrl-p"), "{made}");
    let _ = run(EZ, &["session", "new", "-r", "api"], &home, b"2\nhot\n\n\nlogin\n").ok();
    assert_eq!(names(&home, "api"), ["fix-ABC-42-login", "hot-login"]);
    assert!(git(&home, &path.display().to_string(), &["status", "--porcelain"]).is_empty());
}

#[test]
fn a_name_that_is_given_stands_in_the_prompt() {
    let mut home = home();
    repo(&home, "api");
    scripted(&mut home, "0 - - Full\n1 foo-bar - -\n");
    let _ = ez(&home, &["session", "new", "-i", "foo", "-r", "api"]).ok();
    assert!(starts(&home)[1].contains("--query=foo\n"), "{:?}", starts(&home));
    assert_eq!(names(&home, "api"), ["foo-bar"]);
}

#[test]
fn what_the_text_of_repo_info_shows_is_in_its_json() {
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    let info = ez(&home, &["repo", "info", "api", "--json"]).ok().json();
    assert_eq!((info["branch"].as_str(), info["sessions"].as_u64()), (Some("main"), Some(1)), "{info}");
}

#[test]
fn esc_at_a_question_is_no_and_a_typo_gets_no_empty_tip() {
    let mut home = home();
    with_sessions(&home);
    scripted(&mut home, "0 - alt-d two\n130\n");
    let _ = run(EZ, &["-r", "api"], &home, b"\x1b\n").ok();
    assert!(names(&home, "api").contains(&"two".to_owned()));
    let unknown = ez(&home, &["session", "nw"]);
    let told = unknown.err();
    assert!(unknown.code() == 2 && !told.contains("tip:") && !told.contains("\n\n\n"), "{unknown}");
}

#[test]
fn a_question_that_was_declined_leaves_nothing_on_the_terminal() {
    let mut home = home();
    with_sessions(&home);
    scripted(&mut home, "0 - alt-d two\n130\n130\n");
    let pty = testkit::Pty::spawn(EZ, &["-r", "api"], &home, 20, 80);
    pty.wait_text("Delete it? [y/N]");
    pty.send("\x1b\r");
    pty.wait_exit(std::time::Duration::from_secs(10));
    assert_eq!(pty.text().trim(), "");
    assert!(names(&home, "api").contains(&"two".to_owned()));
}
