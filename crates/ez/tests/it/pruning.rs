//! What is done with, and what a person is asked before it goes.

use testkit::{Home, run};

use crate::{EZ, ez, git, home, names, repo};

/// A repository with sessions: `squashed`, whose work is in main beside later work; `open`, whose work is not; `gone`.
fn world() -> Home {
    let home = home();
    let main = repo(&home, "api").display().to_string();
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    for name in ["squashed", "open", "gone"] {
        let _ = ez(&home, &["session", "new", name, "-r", "api"]).ok();
        let tree = home.path(format!("ws/.ez/api/{name}"));
        home.write(tree.join(name), name);
        let tree = tree.display().to_string();
        git(&home, &tree, &["add", "."]);
        git(&home, &tree, &["commit", "-qm", name]);
    }
    home.write("ws/api/before", "x");
    for args in [
        &["add", "."][..],
        &["commit", "-qm", "before"],
        &["merge", "-q", "--squash", "squashed"],
        &["commit", "-qm", "squash"],
    ] {
        git(&home, &main, args);
    }
    home.write("ws/api/after", "x");
    git(&home, &main, &["add", "."]);
    git(&home, &main, &["commit", "-qm", "after"]);
    std::fs::remove_dir_all(home.path("ws/.ez/api/gone")).unwrap();
    home
}

#[test]
fn without_a_reason_the_list_is_shown_and_asked_about_once() {
    let home = world();
    let nobody = ez(&home, &["session", "prune", "-r", "api"]);
    assert_eq!(
        (nobody.code(), nobody.out().as_str()),
        (130, "squashed (merged)\ngone (its folder is gone)\n"),
        "{nobody}"
    );
    let no = run(EZ, &["session", "prune", "-r", "api"], &home, b"n\n");
    assert_eq!(no.code(), 130);
    assert_eq!(names(&home, "api").len(), 3);
    let yes = run(EZ, &["session", "prune", "-r", "api"], &home, b"y\n").ok();
    assert_eq!(yes.err().matches("[y/N]").count(), 1, "{yes}");
    assert_eq!(names(&home, "api"), ["open"]);
}

#[test]
fn a_named_reason_is_the_decision_and_a_folder_that_was_gone_is_said_to_stay_so() {
    let home = world();
    let _ = ez(&home, &["session", "prune", "--merged", "-r", "api"]).ok();
    assert_eq!(names(&home, "api"), ["open", "gone"]);
    let _ = ez(&home, &["session", "prune", "--gone", "-r", "api"]).ok();
    let restored = ez(&home, &["trash", "restore", "gone"]).ok();
    assert!(restored.err().contains("its folder was gone") && restored.err().contains("worktree add"), "{restored}");
    // The line that is printed does it.
    let line = restored.err().lines().find_map(|line| line.split_once("a new folder: ")).unwrap().1.to_owned();
    let line = line.replace("$ROOT", &home.root().display().to_string());
    git(&home, &home.path("ws/api").display().to_string(), &["worktree", "prune"]);
    let _ = home.run("sh", &["-c", &line]).ok();
    assert_eq!(home.read("ws/.ez/api/gone/gone"), "gone");
}

#[test]
fn a_renamed_file_is_one_line_of_what_goes() {
    let home = world();
    let tree = home.path("ws/.ez/api/open").display().to_string();
    git(&home, &tree, &["mv", "open", "opened"]);
    let refused = ez(&home, &["session", "delete", "open", "-r", "api"]);
    assert!(refused.err().contains("      R  open -> opened\n"), "{refused}");
}
