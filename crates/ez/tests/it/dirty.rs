//! Uncommitted work on its way into a session: whatever hooks, people and `kill -9` do meanwhile, it is in the new place,
//! or in the old one, or in a commit that is named. And branches and worktrees whose git was killed in its middle.

use std::path::PathBuf;

use testkit::{Home, Output, run_in};

use crate::{EZ, ez, git, home, names, plugin, repo};

/// A repository with staged, unstaged, deleted and untracked work, and the bundled git-worktree on.
struct Dirty {
    home: Home,
    main: PathBuf,
}

/// What `git status` says of the work.
const WORK: &str = " M README.md\n D gone.txt\nAM staged.txt\n?? new/a b.txt";

impl Dirty {
    fn new() -> Self {
        let home = home();
        let main = repo(&home, "api");
        let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
        let dirty = Self { home, main };
        dirty.home.write(dirty.main.join("gone.txt"), "gone\n");
        dirty.home.write(dirty.main.join("flagged.txt"), "plain\n");
        dirty.git(&["add", "."]);
        dirty.git(&["commit", "-qm", "more"]);
        dirty.work();
        dirty
    }

    fn work(&self) {
        self.home.write(self.main.join("README.md"), "changed\n");
        self.home.write(self.main.join("staged.txt"), "staged\n");
        self.git(&["add", "staged.txt"]);
        self.home.write(self.main.join("staged.txt"), "staged\nand more\n");
        self.home.write(self.main.join("new/a b.txt"), "new\n");
        std::fs::remove_file(self.main.join("gone.txt")).unwrap();
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.home, &self.main.display().to_string(), args)
    }

    fn ez(&self, args: &[&str]) -> Output {
        run_in(&self.main, EZ, args, &self.home, b"")
    }

    fn there(&self, session: &str) -> String {
        self.home.path(format!("ws/.ez/api/{session}")).display().to_string()
    }

    fn status(&self, folder: &str) -> String {
        git(&self.home, folder, &["status", "--porcelain", "--untracked-files=all"])
    }

    fn stayed(&self) {
        assert_eq!(self.status(&self.main.display().to_string()), WORK.replace("new/a b.txt", "\"new/a b.txt\""));
        assert_eq!(self.home.read(self.main.join("staged.txt")), "staged\nand more\n");
    }

    fn moved(&self, session: &str) {
        let there = self.there(session);
        assert_eq!(self.status(&there), WORK.replace("new/a b.txt", "\"new/a b.txt\""));
        assert_eq!(git(&self.home, &there, &["show", ":staged.txt"]), "staged");
        assert_eq!(self.home.read(format!("{there}/new/a b.txt")), "new\n");
        assert_eq!(self.status(&self.main.display().to_string()), "");
        assert!(!self.main.join("new").exists());
    }

    /// No ref of ours, no stash, no temporary index, nothing for doctor.
    fn nothing_left(&self) {
        assert_eq!(self.git(&["for-each-ref", "refs/ez"]), "");
        assert_eq!(self.git(&["stash", "list"]), "");
        let _ = self.ez(&["doctor"]).ok();
        let ops = self.home.root().join("config/ez/repos/ws-api/ops");
        let left: Vec<_> =
            std::fs::read_dir(ops).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    /// A git before the real one: `body` sees its arguments as `$*`, and `$real` is the real one.
    fn misfit_git(&mut self, body: &str) {
        let real = self.home.run("sh", &["-c", "command -v git"]).ok().out().trim().to_owned();
        let bin = self.home.path("bin");
        self.home.executable(bin.join("git"), &format!("#!/bin/sh\nreal={real}\n{body}\nexec $real \"$@\"\n"));
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        self.home.set_env("PATH", path);
    }

    fn whole_git(&self) {
        std::fs::remove_file(self.home.path("bin/git")).unwrap();
    }
}

#[test]
fn all_of_it_moves_and_nothing_is_left_behind() {
    let dirty = Dirty::new();
    let _ = dirty.ez(&["session", "from-dirty", "x"]).ok();
    dirty.moved("x");
    dirty.nothing_left();
    // A main checkout without a session of its own.
    let dirty = Dirty::new();
    let _ = dirty.ez(&["session", "new", "other"]).ok();
    let _ = dirty.ez(&["session", "from-dirty", "x"]).ok();
    dirty.moved("x");
    dirty.nothing_left();
}

#[test]
fn links_folders_in_the_place_of_files_and_odd_names_move_too() {
    let dirty = Dirty::new();
    let main = &dirty.main;
    dirty.home.write(main.join("dir/x"), "x\n");
    dirty.git(&["add", "."]);
    dirty.git(&["commit", "-qm", "odd"]);
    std::fs::remove_dir_all(main.join("dir")).unwrap();
    dirty.home.write(main.join("dir"), "a file now\n");
    std::fs::remove_file(main.join("flagged.txt")).unwrap();
    dirty.home.write(main.join("flagged.txt/in it"), "a folder now\n");
    dirty.home.write(main.join("line\nend\"q"), "odd\n");
    dirty.home.write(main.join("planned"), "planned\n");
    dirty.git(&["add", "-N", "planned"]);
    dirty.git(&["rm", "-q", "--cached", "README.md"]);
    std::os::unix::fs::symlink("nowhere", main.join("link")).unwrap();
    let before = dirty.status(&main.display().to_string()).replace(" A planned", "?? planned");
    let _ = dirty.ez(&["session", "from-dirty", "x"]).ok();
    let sorted = |text: String| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(sorted(dirty.status(&dirty.there("x")).replace(" A planned", "?? planned")), sorted(before),);
    assert_eq!(dirty.home.read(format!("{}/planned", dirty.there("x"))), "planned\n");
    assert_eq!(dirty.status(&main.display().to_string()), "");
    assert_eq!(dirty.home.read(main.join("dir/x")), "x\n");
}

#[test]
fn a_hook_that_drops_stashes_takes_nothing_and_one_that_takes_the_changes_is_told() {
    let dirty = Dirty::new();
    let fails = "printf '{\"success\":false}'";
    let main = dirty.main.display();
    plugin(
        &dirty.home,
        "drops",
        &["on_session_create"],
        "",
        &format!("cat >/dev/null; git -C {main} stash clear; {fails}"),
    );
    let failed = dirty.ez(&["session", "from-dirty", "x"]);
    assert!(failed.code() == 1 && failed.err().contains("your changes are where they were"), "{failed}");
    dirty.stayed();
    dirty.nothing_left();
    let takes = format!("cat >/dev/null; git -C {main} stash push -qu; git -C {main} stash drop -q; {fails}");
    plugin(&dirty.home, "drops", &["on_session_create"], "", &takes);
    let failed = dirty.ez(&["session", "from-dirty", "x"]);
    assert!(failed.code() == 1 && !failed.err().contains("are where they were"), "{failed}");
    let id = dirty.git(&["for-each-ref", "--format=%(objectname)", "refs/ez/held"]);
    assert!(failed.err().contains(&format!("git stash apply {id}")), "{failed}");
    dirty.git(&["stash", "apply", "-q", "--index", &id]);
    dirty.stayed();
}

#[test]
fn edits_made_while_hooks_run_stay_where_they_are() {
    let dirty = Dirty::new();
    let main = dirty.main.display();
    let body = format!("cat >/dev/null; echo later >{main}/README.md; printf '{{\"success\":true}}'");
    plugin(&dirty.home, "edits", &["on_session_create"], "", &body);
    let moved = dirty.ez(&["session", "from-dirty", "x"]).ok();
    assert!(moved.err().contains("README.md"), "{moved}");
    assert_eq!(dirty.status(&main.to_string()), " M README.md");
    assert_eq!(dirty.home.read(dirty.main.join("README.md")), "later\n");
    assert_eq!(dirty.home.read(format!("{}/README.md", dirty.there("x"))), "changed\n");
}

#[test]
fn edits_that_git_was_told_not_to_see_are_refused_by_name() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let dirty = Dirty::new();
        dirty.git(&["update-index", flag, "flagged.txt"]);
        dirty.home.write(dirty.main.join("flagged.txt"), "mine\n");
        let refused = dirty.ez(&["session", "from-dirty", "x"]);
        assert!(refused.code() == 1 && refused.err().contains("flagged.txt"), "{flag}: {refused}");
        dirty.stayed();
        assert_eq!(dirty.home.read(dirty.main.join("flagged.txt")), "mine\n");
        // One without a change is no reason.
        dirty.home.write(dirty.main.join("flagged.txt"), "plain\n");
        let _ = dirty.ez(&["session", "from-dirty", "x"]).ok();
        dirty.moved("x");
    }
}

#[test]
fn a_merge_that_is_not_ended_is_refused() {
    let dirty = Dirty::new();
    dirty.git(&["stash", "-q", "-u"]);
    dirty.git(&["switch", "-qc", "other"]);
    dirty.home.write(dirty.main.join("README.md"), "other\n");
    dirty.git(&["commit", "-qam", "other"]);
    dirty.git(&["switch", "-q", "main"]);
    dirty.git(&["merge", "-q", "--no-commit", "--no-ff", "other"]);
    let refused = dirty.ez(&["session", "from-dirty", "x"]);
    assert!(refused.code() == 1 && refused.err().contains("in the middle of a merge"), "{refused}");
    assert!(dirty.main.join(".git/MERGE_HEAD").is_file());
    assert_eq!(dirty.status(&dirty.main.display().to_string()), "M  README.md");
}

#[test]
fn one_killed_before_its_end_is_finished() {
    let places = ["*\"stash apply\"*", "*checkout-index*", "*\" restore \"*"];
    for (at, first) in places.into_iter().flat_map(|at| [(at, ""), (at, "$real \"$@\";")]) {
        let mut dirty = Dirty::new();
        dirty.misfit_git(&format!("case \" $* \" in {at}) {first} kill -9 $PPID; exit 1;; esac"));
        let _ = dirty.ez(&["session", "from-dirty", "x"]);
        dirty.whole_git();
        let fixed = dirty.ez(&["doctor", "--fix"]);
        assert!(fixed.out().contains("is finished now"), "{at}: {fixed}");
        dirty.moved("x");
        dirty.nothing_left();
    }
}

#[test]
fn a_branch_whose_renaming_was_killed_is_where_it_was() {
    for killer in ["kill -9 $PPID; exit 137", "exit 137"] {
        let mut dirty = Dirty::new();
        let _ = dirty.ez(&["session", "new", "old"]).ok();
        let there = dirty.there("old");
        dirty.home.write(format!("{there}/own.txt"), "own\n");
        git(&dirty.home, &there, &["add", "own.txt"]);
        git(&dirty.home, &there, &["commit", "-qm", "own"]);
        let tip = dirty.git(&["rev-parse", "old"]);
        // Where git is after it has removed the old name and before it has made the new one.
        dirty
            .misfit_git(&format!("case \"$*\" in \"branch -m\"*) $real update-ref -d refs/heads/old; {killer};; esac"));
        let _ = dirty.ez(&["session", "rename", "old", "new"]);
        dirty.whole_git();
        let fixed = dirty.ez(&["doctor", "--fix"]);
        let _ = dirty.ez(&["doctor"]).ok();
        assert_eq!(names(&dirty.home, "api"), ["old"], "{fixed}");
        assert_eq!(git(&dirty.home, &there, &["rev-parse", "HEAD"]), tip);
        assert_eq!(git(&dirty.home, &there, &["symbolic-ref", "HEAD"]), "refs/heads/old");
        assert_eq!(dirty.status(&there), "");
    }
}

/// The bundled plugin that started git, and the ez that started that.
const KILL_BOTH: &str = "read -r _ _ _ ez _ </proc/$PPID/stat; kill -9 $ez $PPID";

#[test]
fn a_worktree_whose_making_was_killed_goes() {
    let locks = [
        "$real \"$@\"; echo initializing >.git/worktrees/n/locked",
        "mkdir -p .git/worktrees/n ../.ez/api/n; echo initializing >.git/worktrees/n/locked; (cd ../.ez/api/n; echo $PWD/.git) >.git/worktrees/n/gitdir",
    ];
    for lock in locks {
        let mut dirty = Dirty::new();
        let main = dirty.main.display().to_string();
        dirty.misfit_git(&format!("case \"$*\" in *\"worktree add\"*) cd {main}; {lock}; {KILL_BOTH}; exit 1;; esac"));
        let _ = dirty.ez(&["session", "new", "n"]);
        dirty.whole_git();
        let fixed = dirty.ez(&["doctor", "--fix"]);
        assert!(fixed.out().contains("is undone now"), "{lock}: {fixed}");
        let list = dirty.git(&["worktree", "list", "--porcelain"]);
        assert!(!list.contains(".ez/api/n"), "{list}");
        assert_eq!(dirty.git(&["branch", "--list", "n"]), "");
        let _ = dirty.ez(&["session", "new", "n"]).ok();
    }
}

#[test]
fn a_worktree_of_somebody_else_at_a_killed_sessions_place_stays() {
    let dirty = Dirty::new();
    let there = dirty.there("n");
    dirty.git(&["worktree", "add", "-q", "-b", "mine", &there]);
    plugin(&dirty.home, "kills", &["on_session_create"], "priority = 1", "cat >/dev/null; kill -9 $PPID");
    let _ = dirty.ez(&["session", "new", "n"]);
    let _ = dirty.ez(&["plugin", "disable", "kills"]);
    let _ = dirty.ez(&["doctor", "--fix"]);
    let _ = dirty.ez(&["doctor"]).ok();
    assert_eq!(git(&dirty.home, &there, &["symbolic-ref", "HEAD"]), "refs/heads/mine");
}

#[test]
fn locks_that_killed_commands_left_go() {
    let dirty = Dirty::new();
    let ops = dirty.home.root().join("config/ez/repos/ws-api/ops");
    dirty.home.write(ops.join("0b54c9d8-1111-4222-8333-944455556666.lock"), "");
    let _ = dirty.ez(&["doctor", "--fix"]).ok();
    dirty.nothing_left();
}
