//! What `doctor` finds and mends, and what a broken manifest stops.

use crate::{ez, git, home, names, plugin, repo};

/// Puts a manifest that cannot be read into an enabled plugin.
fn break_manifest(home: &testkit::Home, name: &str) {
    home.write(home.root().join("config/ez/plugins").join(name).join("manifest.toml"), "name = [");
}

#[test]
fn a_broken_manifest_is_named_and_stops_what_must_not_go_on_without_it() {
    let home = home();
    repo(&home, "api");
    plugin(&home, "mine", &["on_session_delete", "on_repo_remove"], "", "echo '{\"success\":true}'");
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    break_manifest(&home, "mine");
    for args in [&["session", "delete", "one", "-r", "api"][..], &["remove", "api"]] {
        let refused = ez(&home, args);
        assert!(refused.code() == 1 && refused.err().contains("'mine'"), "{refused}");
    }
    assert_eq!(names(&home, "api"), ["one"]);
    let doctor = ez(&home, &["doctor"]);
    assert!(doctor.code() == 1 && doctor.out().contains("mine: "), "{doctor}");
    // A plugin whose folder is gone stops nothing; that it is gone is told.
    std::fs::remove_dir_all(home.root().join("config/ez/plugins/mine")).unwrap();
    let deleted = ez(&home, &["session", "delete", "one", "-r", "api"]).ok();
    assert!(deleted.err().contains("mine"), "{deleted}");
    assert_eq!(ez(&home, &["doctor"]).code(), 1);
    assert!(names(&home, "api").is_empty());
}

#[test]
fn a_move_that_was_cut_short_is_finished() {
    let home = home();
    let main = repo(&home, "api");
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "register", &main.display().to_string(), "-n", "here", "-r", "api"]);
    let (old, new) = (main.display().to_string(), home.path("ws/moved").display().to_string());
    std::fs::rename(&old, &new).unwrap();
    // As a kill between the two files leaves it: the list is told, the rest is not.
    let index = home.root().join("config/ez/repos/index.toml");
    let text = home.read(&index).replace(&format!("path = \"{old}\""), &format!("path = \"{new}\""));
    home.write(&index, text);
    let found = ez(&home, &["doctor"]);
    assert!(found.code() == 1 && found.out().contains("moved here from"), "{found}");
    let _ = ez(&home, &["doctor", "--fix"]);
    assert_eq!(ez(&home, &["doctor"]).code(), 0, "{}", ez(&home, &["doctor"]));
    assert_eq!(git(&home, &home.path("ws/.ez/api/one").display().to_string(), &["status", "--porcelain"]), "");
    let _ = ez(&home, &["session", "delete", "one", "-r", "api"]).ok();
}

#[test]
fn of_a_repository_whose_folder_is_gone_the_rest_is_looked_at_too() {
    let home = home();
    let main = repo(&home, "api");
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    std::fs::rename(&main, home.path("away")).unwrap();
    home.write(home.root().join("config/ez/repos/ws-api/sessions.toml"), "[[sessions]]\nid = ");
    let found = ez(&home, &["doctor"]);
    assert!(found.out().contains("is gone (moved?") && found.out().contains("sessions.toml is damaged"), "{found}");
}

#[test]
fn a_plugin_that_is_on_without_its_program_is_named() {
    let mut home = home();
    repo(&home, "api");
    let _ = ez(&home, &["plugin", "enable", "zellij"]).ok();
    let bin = home.path("bin");
    home.write(bin.join("x"), "");
    let git = sys::proc::which("git".as_ref(), &home.env().iter().collect()).unwrap();
    std::os::unix::fs::symlink(git, bin.join("git")).unwrap();
    home.set_env("PATH", bin.display().to_string());
    let doctor = ez(&home, &["doctor"]);
    assert!(doctor.code() == 1 && doctor.out().contains("no program zellij is in PATH"), "{doctor}");
}

#[test]
fn a_workspace_that_was_moved_whole_takes_its_worktrees_along() {
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    std::fs::rename(home.path("ws"), home.path("ws2")).unwrap();
    let _ = ez(&home, &["add", &home.path("ws2/api").display().to_string()]).ok();
    let path = ez(&home, &["session", "path", "one", "-r", "api"]).ok().out();
    assert!(path.ends_with("ws2/.ez/api/one\n"), "{path}");
    assert_eq!(git(&home, &home.path("ws2/.ez/api/one").display().to_string(), &["status", "--porcelain"]), "");
    assert_eq!(ez(&home, &["doctor"]).code(), 0, "{}", ez(&home, &["doctor"]));
}

#[test]
fn another_repository_at_the_old_place_does_not_keep_the_moved_one_from_its_sessions() {
    let home = home();
    let main = repo(&home, "api");
    let _ = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    std::fs::rename(&main, home.path("ws/moved")).unwrap();
    home.write("ws/api/README.md", "another\n");
    git(&home, &main.display().to_string(), &["init", "-q"]);
    assert!(ez(&home, &["doctor"]).out().contains("another repository lies at"));
    let added = ez(&home, &["add", &home.path("ws/moved").display().to_string()]).ok();
    assert!(added.err().contains("keeps its sessions"), "{added}");
    assert_eq!(names(&home, "ws-api"), ["one"]);
    assert_eq!(ez(&home, &["doctor"]).code(), 0);
}

#[test]
fn a_purge_waits_for_what_was_interrupted() {
    let home = home();
    repo(&home, "api");
    let record = home.write(home.root().join("config/ez/repos/ws-api/ops/x.json"), "{}");
    let refused = ez(&home, &["remove", "api", "--purge"]);
    assert!(refused.code() == 1 && refused.err().contains("nothing was removed"), "{refused}");
    std::fs::remove_file(record).unwrap();
    let _ = ez(&home, &["remove", "api", "--purge"]).ok();
}

#[test]
fn state_that_could_not_be_read_again_is_left_out_and_told() {
    let home = home();
    repo(&home, "api");
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let body = format!(
        "read -r request; echo '{{\"success\":true,\"session_mutations\":{{\"plugin_state\":{{\"deep\":{deep},\"flat\":1}}}}}}'"
    );
    plugin(&home, "deep", &["on_session_create"], "", &body);
    let made = ez(&home, &["session", "new", "one", "-r", "api"]).ok();
    assert!(made.err().contains("nested too deep, left out: deep"), "{made}");
    assert_eq!(names(&home, "api"), ["one"]);
    assert!(home.read(home.root().join("config/ez/repos/ws-api/sessions.toml")).contains("flat = 1"));
}
