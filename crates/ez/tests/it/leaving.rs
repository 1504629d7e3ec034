//! What `session delete` says before it begins, and what it asks.

use testkit::{Home, Pty, run};

use crate::{EZ, ez, git, home, repo};

/// A session with a worktree; its folder.
fn session(home: &Home, name: &str) -> std::path::PathBuf {
    repo(home, "api");
    let _ = ez(home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(home, &["session", "new", name, "-r", "api"]).ok();
    home.path(format!("ws/.ez/api/{name}"))
}

#[test]
fn ignored_files_own_commits_stashes_and_processes_are_lines_and_no_question() {
    let home = home();
    let tree = session(&home, "feat");
    let folder = tree.display().to_string();
    home.write(tree.join(".gitignore"), ".env\nbuild/\n");
    git(&home, &folder, &["add", "."]);
    git(&home, &folder, &["commit", "-qm", "one"]);
    home.write(tree.join("README.md"), "stashed\n");
    git(&home, &folder, &["stash", "-q"]);
    home.write(tree.join(".env"), "KEY=1\n");
    home.write(tree.join("build/a"), "");
    home.write(tree.join("build/b"), "");
    let _standing = Pty::spawn_in(&tree, "sleep", &["60"], &home, 24, 80);
    let gone = ez(&home, &["session", "delete", "feat", "-r", "api"]).ok().err();
    for line in [
        "ignored files go to the trash: .env, build/",
        "branch feat kept, 1 commit not merged",
        "stashes of feat stay in the repository: stash@{0} WIP on feat",
        "processes in the folder: sleep (",
    ] {
        assert!(gone.contains(line), "{line}\n{gone}");
    }
    assert!(!gone.contains("[y/N]") && !tree.exists(), "{gone}");
}

#[test]
fn a_branch_with_commits_of_its_own_is_deleted_with_force_only() {
    let home = home();
    let tree = session(&home, "feat");
    let main = home.path("ws/api").display().to_string();
    git(&home, &tree.display().to_string(), &["commit", "-q", "--allow-empty", "-m", "own"]);
    let kept = ez(&home, &["session", "delete", "feat", "-r", "api", "--branch"]).ok().err();
    assert!(kept.contains("--branch --force"), "{kept}");
    assert!(git(&home, &main, &["branch"]).contains("feat"));
    let _ = ez(&home, &["trash", "restore", "feat"]).ok();
    let _ = ez(&home, &["session", "delete", "feat", "-r", "api", "--branch", "--force"]).ok();
    assert!(!git(&home, &main, &["branch"]).contains("feat"));
}

#[test]
fn nothing_to_tell_is_nothing_told() {
    let home = home();
    session(&home, "clean");
    assert_eq!(ez(&home, &["session", "delete", "clean", "-r", "api"]).ok().err(), "");
}

#[test]
fn changes_inside_a_submodule_need_a_yes() {
    let home = home();
    let tree = session(&home, "sub");
    let part = repo(&home, "part").display().to_string();
    let folder = tree.display().to_string();
    git(&home, &folder, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &part, "part"]);
    git(&home, &folder, &["commit", "-qm", "with a submodule"]);
    home.write(tree.join("part/new.txt"), "only here");
    let kept = ez(&home, &["session", "delete", "sub", "-r", "api"]);
    assert!(kept.code() == 1 && kept.err().contains(" part"), "{kept}");
    assert!(tree.join("part/new.txt").is_file());
}

#[test]
fn children_and_untracked_files_are_listed_also_with_force_and_end_of_file_is_no() {
    let home = home();
    let tree = session(&home, "top");
    let _ = ez(&home, &["session", "new", "below", "-p", "top", "-r", "api"]).ok();
    home.write(tree.join("new.txt"), "x");
    for (input, code) in [(&b""[..], 1), (b"n\n", 130)] {
        let kept = run(EZ, &["session", "delete", "top", "-r", "api"], &home, input);
        assert!(kept.code() == code && kept.err().contains("below") && kept.err().contains("?? new.txt"), "{kept}");
        assert!(kept.err().contains("children and uncommitted changes"), "{kept}");
    }
    let forced = ez(&home, &["session", "delete", "top", "-r", "api", "--force"]).ok().err();
    assert!(forced.contains("below") && forced.contains("?? new.txt") && !forced.contains("[y/N]"), "{forced}");
}

#[test]
fn a_lock_says_whose_it_is() {
    let home = home();
    let tree = session(&home, "held").display().to_string();
    git(&home, &tree, &["worktree", "lock", "--reason", "on a stick", &tree]);
    let refused = ez(&home, &["session", "delete", "held", "-r", "api", "--force"]);
    assert!(refused.code() == 1, "{refused}");
    for words in ["locked by ", "on a stick", "git worktree unlock"] {
        assert!(refused.err().contains(words), "{refused}");
    }
}

#[test]
fn the_preview_of_a_session_tells_what_stands_there() {
    let home = home();
    let tree = session(&home, "feat");
    git(&home, &tree.display().to_string(), &["commit", "-q", "--allow-empty", "-m", "own"]);
    let _ = ez(&home, &["session", "label", "add", "feat", "urgent", "-r", "api"]).ok();
    let _ = ez(&home, &["session", "env", "set", "K", "v", "-s", "feat", "-r", "api"]).ok();
    let standing = Pty::spawn_in(&tree, "sleep", &["60"], &home, 24, 80);
    let id = ez(&home, &["session", "info", "feat", "-r", "api", "--json"]).ok().json()["id"].clone();
    let shown = ez(&home, &["preview", id.as_str().unwrap_or_default()]).ok().out();
    for line in
        ["feat\n", "labels  urgent", "env     K=v", "branch  feat", "changes 0", "base    1 ahead, 0 behind", "own\n"]
    {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert!(
        shown.contains(&format!("running sleep ({})", standing.pid())) && shown.contains("alt-n new session"),
        "{shown}"
    );
    assert_eq!(ez(&home, &["preview", "nothing"]).ok().out(), "");
}
