//! Where `go` and `enter` lead: main checkouts, one match, several, and back again.

use testkit::run;

use crate::{EZ, ez, home, repo};

#[test]
fn a_repository_with_sessions_and_no_main_one_is_reached_by_its_name() {
    let home = home();
    let main = repo(&home, "api").display().to_string();
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    let shown = home.run("sh", &["-c", &format!("cd {main} && pwd")]).ok().out();
    for args in [&["go", "api", "--print"][..], &["go", "api"], &["session", "enter", "main", "-r", "api"]] {
        assert_eq!(ez(&home, args).ok().out(), shown, "{args:?}");
    }
    assert!(ez(&home, &["go", "api/one", "--print"]).ok().out().ends_with(".ez/api/one\n"));
    assert!(ez(&home, &["go", "api/o", "--print"]).ok().out().ends_with(".ez/api/one\n"));
    assert!(ez(&home, &["repo", "list", "--json"]).ok().json()[0]["last_accessed"].is_string());
    // A name that nothing has is still an error.
    assert_eq!(ez(&home, &["session", "enter", "mian", "-r", "api"]).code(), 1);
}

#[test]
fn back_is_where_one_came_from_main_checkouts_and_exits_included() {
    let home = home();
    repo(&home, "api");
    repo(&home, "web");
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "enter", "one", "-r", "api"]).ok();
    let _ = ez(&home, &["go", "web"]).ok();
    assert!(ez(&home, &["go", "-"]).ok().out().ends_with(".ez/api/one\n"));
    assert!(ez(&home, &["go", "-"]).ok().out().ends_with("ws/web\n"));
    let _ = ez(&home, &["session", "enter", "one", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "exit", "one", "-r", "api"]).ok();
    assert!(ez(&home, &["go", "-"]).ok().out().ends_with(".ez/api/one\n"));
}

#[test]
fn several_matches_are_asked_about_in_plain_lines_without_fzf() {
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["config", "set", "selector.backend", "builtin"]).ok();
    for name in ["login-a", "login-b"] {
        let _ = ez(&home, &["session", "new", name, "-r", "api"]).ok();
    }
    let asked = run(EZ, &["go", "login", "--json"], &home, b"9\n2\n").ok();
    assert!(asked.err().contains("1) api/login-a\n2) api/login-b\n"), "{asked}");
    assert_eq!(asked.json()["session"], "login-b");
    let nobody = ez(&home, &["go", "login"]);
    assert!(nobody.code() == 1 && nobody.err().contains("fits several: api/login-a, api/login-b"), "{nobody}");
}

#[test]
fn a_folder_that_is_gone_is_marked_and_told_and_a_worktree_without_a_session_is_pointed_out() {
    let home = home();
    let main = repo(&home, "api");
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    let other = home.path("ws/other").display().to_string();
    crate::git(&home, &main.display().to_string(), &["worktree", "add", "-q", &other]);
    let lost = testkit::run_in(&home.path("ws/other"), EZ, &["session", "info"], &home, b"");
    assert!(lost.err().contains("ez session register"), "{lost}");
    std::fs::remove_dir_all(home.path("ws/.ez/api/one")).unwrap();
    assert!(ez(&home, &["session", "list", "-r", "api"]).ok().out().ends_with(".ez/api/one) [gone]\n"));
    assert!(ez(&home, &["session", "enter", "one", "-r", "api"]).ok().err().contains("is gone"));
}

#[test]
fn what_is_typed_wrong_is_told() {
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    for (args, word) in [
        (&["config", "set", "on_enter", "bogus"][..], "'bogus' means nothing at on_enter"),
        (&["config", "set", "plugin_settings.git-worktree.cpoy", "[]"], "copy, link, setup, fetch_ttl"),
        (&["repo", "label", "remove", "api", "nope"], "no label 'nope'"),
        (&["session", "label", "remove", "one", "nope", "-r", "api"], "no label 'nope'"),
    ] {
        assert!(ez(&home, args).ok().err().contains(word), "{args:?}: {}", ez(&home, args));
    }
    for args in [&["config", "set", "on_create", "none"][..], &["config", "set", "on_enter", "cd"]] {
        assert_eq!(ez(&home, args).ok().err(), "", "{args:?}");
    }
    let unknown = ez(&home, &["frobnicate"]);
    assert!(unknown.code() == 2 && !unknown.err().contains("similar"), "{unknown}");
    assert!(ez(&home, &["sesion"]).err().contains("session"));
}

#[test]
fn main_is_there_from_the_first_and_is_kept_when_something_is_kept_of_it() {
    let home = home();
    let path = repo(&home, "api").display().to_string();
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    assert!(ez(&home, &["session", "info", "main", "-r", "api"]).ok().out().contains("folder      $ROOT/home/ws/api"));
    assert!(ez(&home, &["session", "delete", "main", "-r", "api"]).err().contains("is the repository itself"));
    assert_eq!(crate::names(&home, "api"), ["one"], "asking makes nothing");
    let _ = ez(&home, &["session", "label", "add", "main", "hot", "-r", "api"]).ok();
    assert_eq!(crate::names(&home, "api"), ["one", "main"]);
    std::fs::rename(&path, home.path("away")).unwrap();
    let gone = ez(&home, &["go", "api"]);
    assert!(gone.err().contains("is gone"), "{gone}");
}

#[test]
fn who_stands_in_a_worktree_means_that_session_whatever_tmux_says() {
    if !testkit::needs("tmux") {
        return;
    }
    let mut home = home();
    let sockets = home.path("sockets");
    home.write(sockets.join("x"), "");
    home.set_env("TMUX_TMPDIR", sockets.display().to_string());
    let main = repo(&home, "api");
    for plugin in ["git-worktree", "tmux"] {
        let _ = ez(&home, &["plugin", "enable", plugin]).ok();
    }
    for name in ["one", "two"] {
        let _ = ez(&home, &["session", "new", name, "-r", "api"]).ok();
    }
    let socket = home.run("tmux", &["display-message", "-p", "-t", "=api/one:", "#{socket_path},#{pid},0"]).ok().out();
    let socket = socket.trim().replace("$ROOT", &home.root().display().to_string());
    let pane = home.run("tmux", &["display-message", "-p", "-t", "=api/one:", "#{pane_id}"]).ok().out();
    home.set_env("TMUX", socket).set_env("TMUX_PANE", pane.trim());
    let inside = |folder: &std::path::Path| testkit::run_in(folder, EZ, &["session", "path"], &home, b"").ok().out();
    let (folder, neutral) = (inside(&home.path("ws/.ez/api/two")), inside(&main));
    let _ = home.run("tmux", &["kill-server"]);
    assert!(folder.ends_with(".ez/api/two\n"), "{folder}");
    assert!(neutral.ends_with(".ez/api/one\n"), "{neutral}");
}

#[test]
fn who_deletes_the_session_around_them_leaves_its_variables() {
    if !testkit::needs("bash") {
        return;
    }
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "env", "set", "GREET", "hi", "-s", "one", "-r", "api"]).ok();
    let script = format!(
        "eval \"$({EZ} init-shell bash)\"; ez session enter one -r api; echo \"in=$GREET\"; ez session delete one; echo \"out=$GREET\"; pwd"
    );
    let told = home.run("bash", &["--norc", "-c", &script]).ok().out();
    assert!(told.contains("in=hi\n") && told.contains("out=\n") && told.ends_with("/ws/api\n"), "{told}");
}
