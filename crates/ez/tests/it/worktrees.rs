//! The bundled git-worktree through the commands: what `link` makes is no change, renamed sessions keep their children's
//! start, repositories with submodules.

use testkit::run;

use crate::{EZ, ez, git, home, names, repo};

#[test]
fn a_create_that_a_later_plugin_stops_takes_the_tmux_session_of_an_earlier_one_with_it() {
    if !testkit::needs("tmux") {
        return;
    }
    let mut home = home();
    let sockets = home.path("sockets");
    home.write(sockets.join("x"), "");
    home.set_env("TMUX_TMPDIR", sockets.display().to_string());
    repo(&home, "api");
    let _ = ez(&home, &["plugin", "enable", "tmux"]).ok();
    let body = "read -r request; echo '{\"success\":false,\"error\":\"no\"}'";
    crate::plugin(&home, "stops", &["on_session_create"], "", body);
    let _ = home.run("tmux", &["new-session", "-d", "-s", "mine"]).ok();
    let failed = ez(&home, &["session", "new", "one", "-r", "api"]);
    let left = home.run("tmux", &["list-sessions", "-F", "#{session_name}"]).out();
    let _ = home.run("tmux", &["kill-server"]);
    assert!(failed.code() == 1 && failed.err().contains("nothing of the session 'one' is left"), "{failed}");
    assert_eq!(left, "mine\n");
}

#[test]
fn a_linked_folder_is_no_uncommitted_change() {
    let home = home();
    let main = repo(&home, "api");
    home.write(main.join("node_modules/m"), "m");
    home.write(main.join(".gitignore"), "node_modules/\n");
    let main = main.display().to_string();
    git(&home, &main, &["add", "."]);
    git(&home, &main, &["commit", "-qm", "ignore"]);
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let file = home.root().join("config/ez/config.toml");
    let config = home.read(&file) + "\n[plugin_settings.git-worktree]\nlink = [\"node_modules\"]\n";
    home.write(&file, config);
    let _ = ez(&home, &["session", "new", "feat", "-r", "api"]).ok();
    let tree = home.path("ws/.ez/api/feat");
    assert_eq!(home.read(tree.join("node_modules/m")), "m");
    // git itself sees a link where the pattern names a folder.
    assert_eq!(git(&home, &tree.display().to_string(), &["status", "--porcelain"]), "?? node_modules");
    home.write(tree.join("mine"), "x");
    let refused = ez(&home, &["session", "delete", "feat", "-r", "api"]);
    assert!(refused.code() == 1 && refused.err().contains("mine") && !refused.err().contains("node_modules"));
    sys::files::remove_file(&tree.join("mine")).unwrap();
    let _ = ez(&home, &["session", "delete", "feat", "-r", "api"]).ok();
    assert_eq!(home.read(home.path("ws/api/node_modules/m")), "m");
}

#[test]
fn children_of_a_renamed_session_start_at_its_work() {
    let home = home();
    let main = repo(&home, "api").display().to_string();
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "rename", "one", "two words", "-r", "api"]).ok();
    let tree = home.path("ws/.ez/api/two words").display().to_string();
    git(&home, &tree, &["commit", "-q", "--allow-empty", "-m", "work"]);
    let _ = ez(&home, &["session", "new", "child", "-p", "two words", "-r", "api"]).ok();
    assert_eq!(git(&home, &main, &["rev-parse", "child"]), git(&home, &main, &["rev-parse", "two-words"]));
}

#[test]
fn a_worktree_with_submodules_is_renamed_in_place_and_restored_whole() {
    let home = home();
    home.write(".gitconfig", "[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n");
    let library = repo(&home, "library").display().to_string();
    let main = repo(&home, "api").display().to_string();
    git(&home, &main, &["submodule", "--quiet", "add", &library, "library"]);
    git(&home, &main, &["commit", "-qm", "library"]);
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "feat", "-r", "api"]).ok();
    let tree = home.path("ws/.ez/api/feat");
    let folder = tree.display().to_string();
    git(&home, &folder, &["submodule", "--quiet", "update", "--init"]);
    home.write(tree.join("library/README.md"), "changed\n");
    let renamed = ez(&home, &["session", "rename", "feat", "other", "-r", "api"]).ok();
    assert!(renamed.err().contains("submodules"), "{renamed}");
    assert_eq!(git(&home, &folder, &["symbolic-ref", "HEAD"]), "refs/heads/other");
    let refused = ez(&home, &["session", "delete", "other", "-r", "api"]);
    assert!(refused.code() == 1 && refused.err().contains("library"));
    let _ = ez(&home, &["session", "delete", "other", "-r", "api", "--force"]).ok();
    let _ = ez(&home, &["trash", "restore", "other"]).ok();
    assert_eq!(home.read(tree.join("library/README.md")), "changed\n");
    assert_eq!(git(&home, &folder, &["status", "--porcelain"]), " M library");
}

#[test]
fn a_name_in_the_trash_of_two_repositories_is_the_current_ones() {
    let home = home();
    let (one, two) = (repo(&home, "one"), repo(&home, "two"));
    for name in ["one", "two"] {
        let _ = ez(&home, &["session", "new", "same", "-r", name]).ok();
        let _ = ez(&home, &["session", "delete", "same", "-r", name]).ok();
    }
    let refused = run(EZ, &["trash", "restore", "same"], &home, b"");
    assert!(refused.code() == 1 && refused.err().contains("ws-one") && refused.err().contains("ws-two"), "{refused}");
    let _ = testkit::run_in(&one, EZ, &["trash", "restore", "same"], &home, b"").ok();
    assert_eq!((names(&home, "one"), names(&home, "two")), (vec!["same".to_owned()], Vec::new()));
    let _ = testkit::run_in(&two, EZ, &["trash", "restore", "same"], &home, b"").ok();
    assert_eq!(names(&home, "two"), ["same"]);
}
