//! Deleted sessions come back as they were, and what is emptied is gone.

use std::path::PathBuf;

use testkit::Home;

use crate::{ez, git, home, repo};

/// Everything below the folders where deleted sessions are kept.
fn kept(home: &Home) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![home.path("ws/.ez/.trash"), home.root().join("data/ez/trash")];
    while let Some(folder) = todo.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                todo.push(entry.path());
            } else {
                found.push(entry.path());
            }
        }
    }
    found
}

/// A repository with the bundled git-worktree and a session with staged, changed, untracked and ignored files.
fn world() -> (Home, String, String) {
    let home = home();
    let main = repo(&home, "api");
    home.write(main.join(".gitignore"), "secret\n");
    let main = main.display().to_string();
    git(&home, &main, &["add", "."]);
    git(&home, &main, &["commit", "-qm", "ignore"]);
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let tree = work(&home);
    (home, main, tree)
}

/// Makes the session `feat` and works in it.
fn work(home: &Home) -> String {
    let _ = ez(home, &["session", "new", "feat", "-r", "api"]).ok();
    let tree = home.path("ws/.ez/api/feat");
    home.write(tree.join("staged"), "1");
    git(home, &tree.display().to_string(), &["add", "staged"]);
    home.write(tree.join("staged"), "2");
    home.write(tree.join("README.md"), "changed\n");
    home.write(tree.join("new"), "only here");
    home.write(tree.join("secret"), "only here too");
    tree.display().to_string()
}

const WORK: &str = " M README.md\nAM staged\n?? new\n!! secret";

fn status(home: &Home, tree: &str) -> String {
    git(home, tree, &["status", "--porcelain", "--ignored"])
}

#[test]
fn a_restored_worktree_is_as_it_was_each_time() {
    let (home, main, tree) = world();
    assert_eq!(status(&home, &tree).trim_end(), WORK);
    for how in [vec!["--force"], vec!["--force", "--branch"]] {
        let all = [vec!["session", "delete", "feat", "-r", "api"], how].concat();
        let _ = ez(&home, &all).ok();
        assert!(!home.path("ws/.ez/api/feat").exists());
        let _ = ez(&home, &["trash", "restore", "feat"]).ok();
        assert_eq!(status(&home, &tree).trim_end(), WORK);
        assert_eq!(git(&home, &tree, &["symbolic-ref", "HEAD"]).trim_end(), "refs/heads/feat");
        assert_eq!(kept(&home), Vec::<PathBuf>::new(), "nothing of it is kept twice");
        assert_eq!(git(&home, &main, &["for-each-ref", "refs/ez"]), "");
    }
}

#[test]
fn a_branch_that_has_moved_on_keeps_its_commits() {
    let (home, main, tree) = world();
    let _ = ez(&home, &["session", "delete", "feat", "-r", "api", "--force"]).ok();
    git(&home, &main, &["checkout", "-q", "feat"]);
    home.write(home.path("ws/api/later"), "x");
    git(&home, &main, &["add", "later"]);
    git(&home, &main, &["commit", "-qm", "later"]);
    // Its branch is in use.
    assert_eq!(ez(&home, &["trash", "restore", "feat"]).code(), 1);
    assert!(!kept(&home).is_empty());
    git(&home, &main, &["checkout", "-q", "main"]);
    let _ = ez(&home, &["trash", "restore", "feat"]).ok();
    assert_eq!(status(&home, &tree).trim_end(), WORK);
    assert!(home.path("ws/.ez/api/feat/later").exists());
    assert_eq!(kept(&home), Vec::<PathBuf>::new());
}

#[test]
fn a_detached_worktree_keeps_its_commit_and_emptying_leaves_nothing() {
    let (home, main, tree) = world();
    git(&home, &tree, &["checkout", "-q", "--detach"]);
    git(&home, &tree, &["commit", "-qm", "nowhere else"]);
    let tip = git(&home, &tree, &["rev-parse", "HEAD"]);
    let _ = ez(&home, &["session", "delete", "feat", "-r", "api", "--force"]).ok();
    assert!(git(&home, &main, &["for-each-ref", "--contains", tip.trim_end(), "refs/ez"]).contains("refs/ez/trash/"));
    git(&home, &main, &["gc", "-q", "--prune=now"]);
    let _ = ez(&home, &["trash", "restore", "feat"]).ok();
    assert_eq!(git(&home, &tree, &["rev-parse", "HEAD"]), tip);
    let _ = ez(&home, &["session", "delete", "feat", "-r", "api", "--force"]).ok();
    work(&home);
    let _ = ez(&home, &["session", "delete", "feat", "-r", "api", "--force"]).ok();
    let emptied = testkit::run(crate::EZ, &["trash", "empty"], &home, b"y\n");
    assert_eq!(emptied.code(), 0, "{emptied}");
    assert_eq!(kept(&home), Vec::<PathBuf>::new());
    assert_eq!(git(&home, &main, &["for-each-ref", "refs/ez"]), "");
}

#[test]
fn a_branch_with_commits_of_its_own_is_told_and_kept() {
    let (home, main, tree) = world();
    let _ = ez(&home, &["session", "delete", "feat", "-r", "api", "--force"]).ok();
    let _ = ez(&home, &["session", "new", "feat", "-r", "api"]).ok();
    git(&home, &tree, &["commit", "-q", "--allow-empty", "-m", "own"]);
    let deleted = ez(&home, &["session", "delete", "feat", "-r", "api", "--branch"]).ok();
    assert!(deleted.err().contains("1 commit"), "{deleted}");
    assert_eq!(git(&home, &main, &["log", "-1", "--format=%s", "feat"]), "own");
    let _ = ez(&home, &["trash", "restore", "feat"]).ok();
    let _ = ez(&home, &["session", "delete", "feat", "-r", "api", "--branch", "--force"]).ok();
    assert_eq!(git(&home, &main, &["branch", "--list", "feat"]), "");
    let _ = ez(&home, &["trash", "restore", "feat"]).ok();
    assert_eq!(git(&home, &tree, &["log", "-1", "--format=%s"]), "own");
}

#[test]
fn after_thirty_days_an_entry_goes_with_the_second_deletion_that_sees_it() {
    let (home, _, _) = world();
    let delete = || ez(&home, &["session", "delete", "feat", "-r", "api", "--force"]).ok().err();
    let count = || ez(&home, &["trash", "list", "--json"]).ok().json().as_array().map(Vec::len);
    delete();
    let folder = home.root().join("data/ez/trash");
    let entry = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let text = home.read(entry.join("entry.toml"));
    let line = text.lines().find(|line| line.starts_with("deleted_at")).unwrap();
    home.write(entry.join("entry.toml"), text.replace(line, "deleted_at = \"2020-01-01T00:00:00Z\""));
    let touch =
        |file: &str, date: &str| drop(home.run("touch", &["-d", date, &entry.join(file).display().to_string()]).ok());
    work(&home);
    delete();
    assert!(!entry.join("old").exists(), "its file was just written");
    touch("entry.toml", "2020-01-01");
    // Looking removes nothing, and one deletion under a clock that is wrong does not either.
    assert_eq!(count(), Some(2));
    work(&home);
    assert!(!delete().contains("left the trash"));
    assert_eq!((count(), entry.join("old").exists()), (Some(3), true));
    // A mark from a future that did not come.
    touch("old", "2100-01-01");
    work(&home);
    assert!(!delete().contains("left the trash"));
    assert_eq!(count(), Some(4));
    touch("old", "2020-02-02");
    work(&home);
    let told = delete();
    assert!(told.contains("1 sessions deleted more than 30 days ago left the trash"), "{told}");
    assert_eq!((count(), entry.exists()), (Some(4), false));
}

#[test]
fn a_deletion_that_a_later_plugin_stops_brings_the_worktree_back() {
    let (home, main, tree) = world();
    crate::plugin(
        &home,
        "bad",
        &["on_session_delete"],
        "",
        "cat >/dev/null; echo '{\"success\":false,\"error\":\"no\"}'",
    );
    let before = git(&home, &tree, &["status", "--porcelain", "--ignored"]);
    let stopped = ez(&home, &["session", "delete", "feat", "-r", "api", "--force"]);
    assert!(stopped.code() == 1 && stopped.err().contains("the session 'feat' is still there"), "{stopped}");
    assert_eq!(git(&home, &tree, &["status", "--porcelain", "--ignored"]), before);
    assert_eq!(kept(&home), Vec::<PathBuf>::new());
    assert_eq!(git(&home, &main, &["for-each-ref", "refs/ez"]), "");
    // The same where the plugin that makes worktrees removes them for good.
    let body = "p=$(cat | sed -n 's/.*\"session\":{[^}]*\"path\":\"\\([^\"]*\\)\".*/\\1/p'); \
        git -C \"$p\" worktree remove --force \"$p\" && touch \"$p.gone\"; echo '{\"success\":true}'";
    let _ = ez(&home, &["plugin", "disable", "git-worktree"]).ok();
    let _ = ez(&home, &["plugin", "disable", "bad"]).ok();
    crate::plugin(&home, "other", &["on_session_delete"], "mutates_session_path = true", body);
    let _ = ez(&home, &["plugin", "enable", "bad"]).ok();
    let stopped = ez(&home, &["session", "delete", "feat", "-r", "api", "--force"]);
    assert_eq!(stopped.code(), 1, "{stopped}");
    assert!(std::path::Path::new(&format!("{tree}.gone")).exists(), "it was removed: {stopped}");
    assert_eq!(git(&home, &tree, &["status", "--porcelain", "--ignored"]), before, "{stopped}");
}

#[test]
fn a_restore_never_goes_where_something_else_is() {
    let (home, _, tree) = world();
    let _ = ez(&home, &["session", "delete", "feat", "-r", "api", "--force"]).ok();
    home.write(format!("{tree}/mine"), "mine");
    let refused = ez(&home, &["trash", "restore", "feat"]);
    assert!(refused.code() == 1 && refused.err().contains("is at "), "{refused}");
    assert_eq!(home.read(format!("{tree}/mine")), "mine");
    std::fs::remove_dir_all(&tree).unwrap();
    let _ = ez(&home, &["trash", "restore", "feat"]).ok();
    assert!(git(&home, &tree, &["status", "--porcelain"]).contains("??"));
}

#[test]
fn a_session_is_deleted_from_inside_with_a_plugin_that_comes_later() {
    let (home, _, tree) = world();
    crate::plugin(&home, "later", &["on_session_delete"], "", "cat >/dev/null; pwd >&2; echo '{\"success\":true}'");
    let deleted = testkit::run_in(&PathBuf::from(&tree), crate::EZ, &["session", "delete", "--force"], &home, b"");
    assert_eq!(deleted.code(), 0, "{deleted}");
    let _ = ez(&home, &["trash", "restore", "feat"]).ok();
    assert!(git(&home, &tree, &["status", "--porcelain"]).contains("??"));
}

#[test]
fn a_new_session_is_not_merged_however_far_its_base_has_gone() {
    let (home, main, tree) = world();
    let _ = ez(&home, &["session", "new", "done", "-r", "api"]).ok();
    let done = home.path("ws/.ez/api/done").display().to_string();
    git(&home, &done, &["commit", "-q", "--allow-empty", "-m", "work"]);
    git(&home, &main, &["merge", "-q", "--ff-only", "done"]);
    git(&home, &main, &["commit", "-q", "--allow-empty", "-m", "on"]);
    git(&home, &tree, &["reset", "-q", "--hard"]);
    let told = ez(&home, &["session", "prune", "--merged", "--dry-run", "-r", "api"]).ok().out();
    assert!(told.contains("done") && !told.contains("feat"), "{told}");
}
