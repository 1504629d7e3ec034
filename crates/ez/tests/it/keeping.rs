//! Deletions by plugins of others, which remove worktrees for good: nothing of a session is lost, whatever they do.

use std::path::PathBuf;

use testkit::Home;

use crate::{ez, git, home, repo};

/// A repository and a plugin that makes the worktree `kv/s1` with `git worktree add` and runs the script `on-delete` to
/// remove it; the session `s1` with changed, staged, untracked and ignored files.
struct World {
    home: Home,
    main: String,
    tree: PathBuf,
}

const PLUGIN: &str = r#"read -r request
case $request in
*on_session_create*) git -C "$HOME/ws/api" worktree add -q -b s1 "$HOME/kv/s1" >&2
  echo "{\"success\":true,\"session_mutations\":{\"path\":\"$HOME/kv/s1\"}}";;
*) cd /; if sh "$HOME/on-delete" "$HOME/kv/s1" >&2; then echo '{"success":true}'; else echo '{"success":false,"error":"no"}'; fi;;
esac"#;

const REMOVE: &str = "rm -rf \"$1\"";

impl World {
    fn new(on_delete: &str) -> Self {
        let home = home();
        let main = repo(&home, "api");
        home.write(main.join(".gitignore"), "secret\n");
        let main = main.display().to_string();
        git(&home, &main, &["add", "."]);
        git(&home, &main, &["commit", "-qm", "ignore"]);
        let hooks = ["on_session_create", "on_session_delete"];
        crate::plugin(&home, "kv", &hooks, "mutates_session_path = true\npriority = 10", PLUGIN);
        let _ = ez(&home, &["session", "new", "s1", "-r", "api"]).ok();
        let tree = home.path("kv/s1");
        let world = Self { home, main, tree };
        world.on_delete(on_delete);
        world
    }

    fn on_delete(&self, script: &str) {
        self.home.write("on-delete", script);
    }

    /// Some of everything.
    fn work(self) -> Self {
        self.write("staged", "1");
        self.git(&["add", "staged"]);
        self.write("staged", "2");
        self.write("README.md", "changed\n");
        self.write("deep/new", "only here");
        self.write("secret", "only here too");
        self
    }

    fn write(&self, name: &str, text: &str) {
        self.home.write(self.tree.join(name), text);
    }

    fn read(&self, name: &str) -> String {
        self.home.read(self.tree.join(name))
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.home, &self.tree.display().to_string(), args)
    }

    fn status(&self) -> String {
        self.git(&["status", "--porcelain", "--ignored"])
    }

    fn delete(&self) -> testkit::Output {
        ez(&self.home, &["session", "delete", "s1", "-r", "api", "--force"])
    }

    fn restore(&self) -> testkit::Output {
        ez(&self.home, &["trash", "restore", "s1"])
    }

    fn data(&self, name: &str) -> PathBuf {
        self.home.root().join("data/ez").join(name)
    }

    /// Nothing is kept any more.
    fn nothing_kept(&self) {
        let entries = std::fs::read_dir(self.data("trash")).into_iter().flatten().flatten();
        assert_eq!(entries.map(|entry| entry.path()).collect::<Vec<_>>(), Vec::<PathBuf>::new());
        assert_eq!(git(&self.home, &self.main, &["for-each-ref", "refs/ez"]), "");
        let beside = std::fs::read_dir(self.home.path("kv")).into_iter().flatten().flatten();
        assert!(beside.map(|entry| entry.file_name()).all(|name| name == "s1"), "nothing lies beside it");
    }

    fn there_and_back(&self) {
        let (before, staged) = (self.status(), self.git(&["ls-files", "--stage"]));
        let _ = self.delete().ok();
        assert!(!self.tree.exists());
        git(&self.home, &self.main, &["gc", "-q", "--prune=now"]);
        let back = self.restore().ok();
        assert!(!back.err().contains("warning"), "{back}");
        assert_eq!((self.status(), self.git(&["ls-files", "--stage"])), (before, staged), "{back}");
        self.nothing_kept();
    }
}

#[test]
fn what_another_plugin_removed_comes_back_as_it_was() {
    for script in [REMOVE, "git -C \"$1\" worktree remove --force \"$1\""] {
        let world = World::new(script).work();
        for _ in 0..2 {
            world.there_and_back();
            assert_eq!((world.read("staged"), world.read("deep/new")), ("2".to_owned(), "only here".to_owned()));
        }
    }
}

#[test]
fn a_hook_that_fails_half_way_is_mended() {
    let everything_but_a_folder =
        "cd \"$1\" && rm -rf README.md staged secret .git && rm -rf \"$HOME/ws/api/.git/worktrees/s1\"; exit 1";
    let git_gone = "rm \"$1/.git\"; exit 1";
    for script in ["rm \"$1/deep/new\" \"$1/secret\" \"$1/README.md\"; exit 1", everything_but_a_folder, git_gone] {
        let world = World::new(script).work();
        let before = (world.status(), world.git(&["ls-files", "--stage"]));
        let failed = world.delete();
        assert!(failed.code() == 1 && failed.err().contains("is still there"), "{failed}");
        assert_eq!((world.status(), world.git(&["ls-files", "--stage"])), before, "{script}: {failed}");
        assert_eq!((world.read("deep/new"), world.read("README.md")), ("only here".to_owned(), "changed\n".to_owned()));
        world.nothing_kept();
    }
}

#[test]
fn what_a_failing_hook_changed_is_told_and_kept() {
    let world = World::new("echo other > \"$1/secret\"; echo other > \"$1/README.md\"; exit 1").work();
    let failed = world.delete();
    for words in ["not as it was", "secret", "README.md", "trash restore"] {
        assert!(failed.err().contains(words), "{words}: {failed}");
    }
    assert_eq!((world.read("secret"), world.read("README.md")), ("other\n".to_owned(), "other\n".to_owned()));
    // A later deletion does not take its place.
    world.on_delete(REMOVE);
    let _ = world.delete().ok();
    let list = ez(&world.home, &["trash", "list", "--json"]).ok().json();
    let ids: Vec<String> =
        list.as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 2, "{list}");
    let first = ids.iter().find(|id| id.ends_with(".2")).unwrap();
    let _ = ez(&world.home, &["trash", "restore", first]).ok();
    assert_eq!((world.read("secret"), world.read("README.md")), ("only here too".to_owned(), "changed\n".to_owned()));
}

#[test]
fn two_plugins_that_remove_worktrees_lose_nothing() {
    let world = World::new(REMOVE).work();
    let _ = ez(&world.home, &["plugin", "enable", "git-worktree"]).ok();
    world.there_and_back();
}

#[test]
fn intent_to_add_hidden_changes_and_a_merge_in_progress_come_back() {
    let world = World::new(REMOVE).work();
    world.write("later", "intended");
    world.git(&["add", "-N", "later"]);
    world.there_and_back();
    assert_eq!((world.read("later"), world.read("README.md")), ("intended".to_owned(), "changed\n".to_owned()));

    let world = World::new(REMOVE);
    world.git(&["update-index", "--assume-unchanged", "README.md"]);
    world.write("README.md", "nobody sees this");
    world.there_and_back();
    assert_eq!(world.read("README.md"), "nobody sees this");

    let world = World::new(REMOVE);
    world.write("README.md", "theirs\n");
    world.git(&["checkout", "-qb", "theirs"]);
    world.git(&["commit", "-qam", "theirs"]);
    world.git(&["checkout", "-q", "s1"]);
    world.write("README.md", "ours\n");
    world.git(&["commit", "-qam", "ours"]);
    let tree = world.tree.display().to_string();
    assert_eq!(world.home.run("git", &["-C", &tree, "merge", "theirs"]).code(), 1);
    world.write("README.md", "half resolved\n");
    world.write(".gitignore", "changed\n");
    world.there_and_back();
    assert_eq!(
        (world.read("README.md"), world.read(".gitignore")),
        ("half resolved\n".to_owned(), "changed\n".to_owned())
    );
    world.git(&["add", "."]);
    world.git(&["commit", "-qm", "the merge goes on"]);
    assert_eq!(world.git(&["rev-list", "--count", "HEAD^2", "--not", "HEAD^1"]), "1");
}

#[test]
fn a_keep_that_fails_stops_the_deletion_and_leaves_nothing() {
    let world = World::new(REMOVE).work();
    world.home.write("ws/api/.git/refs/ez", "in the way");
    let before = world.status();
    let failed = world.delete();
    assert_eq!((failed.code(), world.status()), (1, before), "{failed}");
    std::fs::remove_file(world.home.path("ws/api/.git/refs/ez")).unwrap();
    world.nothing_kept();
    assert_eq!(ez(&world.home, &["doctor"]).code(), 0);
}

#[test]
fn submodules_are_named_and_come_back_with_their_commits() {
    for plugin in ["kv", "git-worktree"] {
        let world = World::new(REMOVE);
        let part = repo(&world.home, "part").display().to_string();
        world.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &part, "part"]);
        world.git(&["commit", "-qm", "with a submodule"]);
        let inside = world.tree.join("part").display().to_string();
        git(&world.home, &inside, &["commit", "-q", "--allow-empty", "-m", "own"]);
        world.git(&["commit", "-qam", "bump"]);
        if plugin == "git-worktree" {
            let _ = ez(&world.home, &["plugin", "disable", "kv"]).ok();
            let _ = ez(&world.home, &["plugin", "enable", "git-worktree"]).ok();
        }
        let told = world.delete().ok().err();
        assert!(told.contains("submodules go to the trash: part (1 commit that no remote has)"), "{told}");
        let _ = world.restore().ok();
        world.write("part/new", "untracked");
        world.write("part/README.md", "changed");
        world.there_and_back();
        assert_eq!(git(&world.home, &inside, &["log", "-1", "--format=%s"]), "own");
        assert_eq!(
            (world.read("part/new"), world.read("part/README.md")),
            ("untracked".to_owned(), "changed".to_owned())
        );
    }
}

#[test]
fn a_restore_that_fails_undoes_itself_and_the_next_one_works() {
    let world = World::new(REMOVE).work();
    let before = world.status();
    let notes = ez(&world.home, &["session", "note", "path", "-n", "s1", "-r", "api"]).ok().out();
    let notes = PathBuf::from(notes.trim_end().replace("$ROOT", &world.home.root().display().to_string()));
    world.home.write(notes.join("README.md"), "note");
    let _ = world.delete().ok();
    let listed = git(&world.home, &world.main, &["worktree", "list"]);
    // The folder of all notes, and the place of the worktree cannot be written.
    let kv = world.home.path("kv");
    let all_notes = notes.parent().unwrap().to_path_buf();
    for blocked in [&all_notes, &kv] {
        if blocked.exists() {
            std::fs::remove_dir_all(blocked).unwrap();
        }
        world.home.write(blocked, "in the way");
        let failed = world.restore();
        assert!(failed.code() == 1 && failed.err().contains("the trash keeps all of it"), "{failed}");
        assert!(!world.tree.exists() && crate::names(&world.home, "api").is_empty());
        assert_eq!(git(&world.home, &world.main, &["worktree", "list"]), listed);
        assert_eq!(ez(&world.home, &["doctor"]).code(), 0);
        std::fs::remove_file(blocked).unwrap();
    }
    let _ = world.restore().ok();
    assert_eq!((world.status(), world.home.read(notes.join("README.md"))), (before, "note".to_owned()));
    world.nothing_kept();
}

#[test]
fn what_is_not_in_the_trash_any_more_is_told() {
    let world = World::new(REMOVE).work();
    let _ = world.delete().ok();
    let entry = std::fs::read_dir(world.data("trash")).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_dir_all(entry.join("files")).unwrap();
    let told = world.restore().ok().err();
    assert!(told.contains("2 untracked and ignored files are not in the trash any more"), "{told}");

    let world = World::new(REMOVE).work();
    let _ = ez(&world.home, &["plugin", "disable", "kv"]).ok();
    let _ = ez(&world.home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = world.delete().ok();
    std::fs::remove_dir_all(world.home.path("ws/.ez/.trash")).unwrap();
    let told = world.restore().ok().err();
    assert!(told.contains("untracked and ignored files are lost"), "{told}");
    assert_eq!(world.read("README.md"), "changed\n");
}

#[test]
fn another_session_in_the_folder_is_named_and_needs_a_yes() {
    let world = World::new(REMOVE);
    let inner = world.tree.join("inner").display().to_string();
    git(&world.home, &world.main, &["worktree", "add", "-q", "-b", "inner", &inner]);
    let _ = ez(&world.home, &["session", "register", &inner, "-r", "api"]).ok();
    // Not even git tells of it.
    world.home.write("ws/api/.git/info/exclude", "inner\n");
    let kept = ez(&world.home, &["session", "delete", "s1", "-r", "api"]);
    assert!(kept.code() == 1 && kept.err().contains("the folder of the session inner is in it"), "{kept}");
    assert!(world.tree.join("inner/README.md").exists());
    let _ = world.delete().ok();
    assert!(!world.tree.exists());
}

#[test]
fn leftovers_in_the_trash_are_named_and_go_when_their_session_is_there() {
    let world = World::new(REMOVE).work();
    let list = ez(&world.home, &["session", "list", "-r", "api", "--json"]).ok().json();
    let id = list[0]["id"].as_str().unwrap().to_owned();
    world.home.write(world.data("trash").join(&id).join("files/half"), "x");
    let tip = world.git(&["rev-parse", "HEAD"]);
    git(&world.home, &world.main, &["update-ref", &format!("refs/ez/trash/{id}"), &tip]);
    git(&world.home, &world.main, &["update-ref", "refs/ez/trash/other", &tip]);
    let told = ez(&world.home, &["doctor"]);
    assert!(
        told.code() == 1 && told.out().contains("without its entry") && told.out().contains("refs/ez/trash/other"),
        "{told}"
    );
    let _ = ez(&world.home, &["doctor", "--fix"]);
    assert!(!world.data("trash").join(&id).exists());
    assert!(git(&world.home, &world.main, &["for-each-ref", "refs/ez"]).ends_with("refs/ez/trash/other"));
}
