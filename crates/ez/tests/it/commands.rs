//! One happy and one failing path of each command.

use testkit::run;

use crate::{EZ, ez, git, home, names, repo};

#[test]
fn repositories_are_added_listed_labelled_and_removed() {
    let home = home();
    let path = repo(&home, "api").display().to_string();
    assert!(ez(&home, &["add", &path]).err().contains("registered already"));
    assert_eq!(ez(&home, &["add", "/no/such"]).code(), 1);
    assert_eq!(ez(&home, &["repo", "label", "add", "api", "b", "a"]).ok().out(), "Labels on api → a, b\n");
    assert_eq!(ez(&home, &["repo", "label", "remove", "api", "b"]).ok().out(), "Labels on api → a\n");
    assert_eq!(ez(&home, &["repo", "list", "--json"]).ok().json()[0]["labels"][0], "a");
    assert_eq!(ez(&home, &["repo", "info", "api", "--json"]).ok().json()["id"], "ws-api");
    assert_eq!(ez(&home, &["remove", "nope"]).code(), 1);
    let _ = ez(&home, &["remove", &path]).ok();
    let _ = ez(&home, &["add", &path]).ok();
    assert_eq!(ez(&home, &["repo", "list", "--json"]).ok().json()[0]["labels"][0], "a", "labels survive");
    assert!(ez(&home, &["remove", "api", "--purge"]).ok().out().starts_with("Purged metadata for: api"));
}

#[test]
fn a_clone_is_registered_and_a_bad_url_is_refused() {
    let home = home();
    let from = repo(&home, "from").display().to_string();
    let to = home.path("ws/copy").display().to_string();
    assert!(ez(&home, &["clone", &from, &to]).ok().out().contains("Registered: "));
    assert_eq!(ez(&home, &["clone", "--", "--upload-pack=x"]).code(), 2);
    assert_eq!(ez(&home, &["clone", &from, &to]).code(), 1);
}

#[test]
fn sessions_are_made_listed_renamed_and_deleted() {
    let home = home();
    repo(&home, "api");
    assert_eq!(ez(&home, &["session", "new", "a b", "-r", "api"]).ok().out(), "Created session: a b\n");
    let _ = ez(&home, &["session", "new", "child", "-p", "a b", "-r", "api"]).ok();
    assert_eq!(ez(&home, &["session", "new", "a b", "-r", "api"]).code(), 1);
    assert_eq!(ez(&home, &["session", "list", "-r", "api"]).ok().out(), "a b\n└── child\n");
    let refused = ez(&home, &["session", "delete", "a b", "-r", "api"]);
    assert!(refused.code() == 1 && refused.err().contains("child"));
    let no = run(EZ, &["session", "delete", "a b", "-r", "api"], &home, b"n\n");
    assert_eq!(no.code(), 130);
    let _ = ez(&home, &["session", "rename", "child", "kid", "-r", "api"]).ok();
    assert_eq!(ez(&home, &["session", "rename", "kid", "../x", "-r", "api"]).code(), 1);
    let _ = ez(&home, &["session", "delete", "a b", "-r", "api", "--force"]).ok();
    assert!(names(&home, "api").is_empty());
    assert!(ez(&home, &["trash", "list"]).ok().out().contains("kid"));
    let _ = ez(&home, &["trash", "restore", "kid"]).ok();
    assert_eq!(names(&home, "api"), ["kid"]);
}

#[test]
fn env_labels_notes_and_paths_of_a_session() {
    let home = home();
    let path = repo(&home, "api").display().to_string();
    let _ = ez(&home, &["session", "new", "a", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "env", "set", "K", "v'\n\"", "-s", "a", "-r", "api"]).ok();
    assert_eq!(ez(&home, &["session", "env", "set", "A;x", "v", "-s", "a", "-r", "api"]).code(), 2);
    assert_eq!(ez(&home, &["session", "env", "list", "--json", "-s", "a", "-r", "api"]).ok().json()["K"], "v'\n\"");
    let _ = ez(&home, &["session", "env", "unset", "K", "-s", "a", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "label", "add", "a", "x", "-r", "api"]).ok();
    assert_eq!(ez(&home, &["session", "label", "add", "a", "x,y", "-r", "api"]).code(), 1);
    assert_eq!(
        ez(&home, &["session", "path", "a", "-r", "api"]).ok().out().trim_end(),
        ez(&home, &["session", "enter", "a", "-r", "api"]).ok().out().trim_end()
    );
    assert!(ez(&home, &["session", "note", "path", "-n", "a", "-r", "api"]).ok().out().contains("/notes/"));
    assert_eq!(ez(&home, &["session", "exec", "a", "-r", "api", "--", "sh", "-c", "exit 7"]).code(), 7);
    let _ = path;
}

#[test]
fn the_bundled_git_worktree_makes_moves_and_restores() {
    let home = home();
    let main = repo(&home, "api").display().to_string();
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "feat", "-r", "api"]).ok();
    let tree = home.path("ws/.ez/api/feat");
    assert!(tree.join("README.md").is_file());
    home.write(tree.join("new.txt"), "only here");
    let kept = ez(&home, &["session", "delete", "feat", "-r", "api"]);
    assert!(kept.code() == 1 && kept.err().contains("new.txt"));
    let _ = ez(&home, &["session", "delete", "feat", "-r", "api", "--force"]).ok();
    assert!(!tree.exists());
    let _ = ez(&home, &["trash", "restore", "feat"]).ok();
    assert_eq!(home.read(tree.join("new.txt")), "only here");
    let _ = ez(&home, &["session", "rename", "feat", "feat/two", "-r", "api"]).ok();
    assert_eq!(home.read(tree.join("two/new.txt")), "only here");
    assert!(git(&home, &main, &["branch", "--list", "feat/two"]).contains("feat/two"));
    git(&home, &main, &["worktree", "lock", &tree.join("two").display().to_string()]);
    assert_eq!(ez(&home, &["session", "delete", "feat/two", "-r", "api", "--force"]).code(), 1);
}

#[test]
fn the_configuration_keeps_what_a_person_wrote() {
    let home = home();
    let file = home.root().join("config/ez/config.toml");
    home.write(&file, "# mine\nzzz = 1\nplugin_timeout = 3 # fast\n");
    let _ = ez(&home, &["config", "set", "plugin_timeout", "5"]).ok();
    let _ = ez(&home, &["config", "add-root", home.root().to_str().unwrap_or_default()]).ok();
    let text = home.read(&file);
    assert!(text.starts_with("# mine\nzzz = 1\nplugin_timeout = 5 # fast\n"), "{text}");
    assert_eq!(ez(&home, &["config", "get", "plugin_timeout"]).ok().out(), "5\n");
    assert_eq!(ez(&home, &["config", "set", "plugin_timeout", "x"]).code(), 1);
    assert_eq!(ez(&home, &["config", "get", "nope"]).code(), 1);
    home.write(&file, "broken = [");
    let broken = ez(&home, &["repo", "list"]);
    assert!(broken.code() == 1 && broken.err().contains("config.toml"));
    assert_eq!(ez(&home, &["config", "path"]).code(), 0);
}

#[test]
fn a_plugin_is_started_checked_run_and_turned_off() {
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["plugin", "new", "mine"]).ok();
    let folder = home.root().join("config/ez/plugins/mine").display().to_string();
    let _ = ez(&home, &["plugin", "check", &folder]).ok();
    let _ = ez(&home, &["plugin", "enable", "mine"]).ok();
    let _ = ez(&home, &["session", "new", "a", "-r", "api"]).ok();
    let ran = ez(&home, &["plugin", "run", "mine", "on_session_create", "-r", "api", "-s", "a"]).ok().out();
    assert!(ran.contains("\"view_context\":null") && ran.contains("HELLO"), "{ran}");
    assert_eq!(ez(&home, &["plugin", "run", "mine", "nope"]).code(), 2);
    let _ = ez(&home, &["plugin", "disable", "mine"]).ok();
    assert_eq!(ez(&home, &["plugin", "enable", "../x"]).code(), 1);
    assert!(ez(&home, &["plugin", "list"]).ok().out().contains("git-worktree"));
}

#[test]
fn going_listing_checking_and_the_texts_for_shells() {
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "new", "two", "-r", "api"]).ok();
    assert!(ez(&home, &["go", "api", "two", "--print"]).ok().out().ends_with("ws/api\n"));
    assert_eq!(ez(&home, &["go", "nothing-like-it"]).code(), 1);
    let _ = ez(&home, &["session", "enter", "one", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "enter", "two", "-r", "api"]).ok();
    let _ = ez(&home, &["go", "-"]).ok();
    assert_eq!(ez(&home, &["list", "--json"]).ok().json()[0]["sessions"][1]["name"], "two");
    assert_eq!(ez(&home, &["doctor", "--json"]).ok().json()["ok"], true);
    for shell in ["bash", "zsh", "fish"] {
        assert!(ez(&home, &["init-shell", shell]).ok().out().contains("ez"));
        assert!(ez(&home, &["completions", shell]).ok().out().contains("__complete"));
    }
    assert_eq!(ez(&home, &["init-shell", "tcsh"]).code(), 2);
    assert!(ez(&home, &["schema", "request"]).ok().json()["properties"]["hook"].is_object());
    assert_eq!(ez(&home, &["bogus"]).code(), 2);
    assert_eq!(ez(&home, &["--version"]).code(), 0);
    assert!(ez(&home, &["setup", "--yes"]).ok().out().contains("on_create = cd"));
    let _ = ez(&home, &["session", "prune", "--dry-run", "-r", "api"]).ok();
}

#[test]
fn a_workspace_is_a_root_by_path_or_name() {
    let home = home();
    home.write("work/x", "");
    let _ = ez(&home, &["config", "add-root", &home.path("work").display().to_string()]).ok();
    let refused = ez(&home, &["-w", "nowhere"]);
    assert!(refused.code() == 1 && refused.err().contains("workspaces: ~/work"), "{refused}");
}

#[test]
fn the_session_that_was_made_and_entered_is_the_previous_one_later() {
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["config", "set", "on_create", "cd"]).ok();
    for name in ["one", "two"] {
        let _ = ez(&home, &["session", "new", name, "-r", "api"]).ok();
    }
    let _ = ez(&home, &["session", "enter", "two", "-r", "api"]).ok();
    assert!(!ez(&home, &["go", "-", "--print"]).err().contains("no previous session"));
}
