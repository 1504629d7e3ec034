//! git-worktree with the real git.

use super::*;
use crate::bundled::git_worktree::restore;

const PLUGIN: &str = "git-worktree";

impl World {
    #[track_caller]
    fn create(&self, name: &str, change: Value) -> PathBuf {
        let answer = self.ask(PLUGIN, "on_session_create", name, change);
        assert_eq!(answer["success"], json!(true), "{answer}");
        let path = self.worktree(name);
        let mutations = &answer["session_mutations"];
        assert_eq!(mutations["path"], json!(path));
        assert_eq!(mutations["plugin_state"]["worktree_path"], json!(path));
        assert_eq!(mutations["plugin_state"]["branch"], json!(self.head(&path)));
        path
    }

    fn head(&self, path: &Path) -> String {
        self.git_in(path, &["symbolic-ref", "HEAD"]).strip_prefix("refs/heads/").unwrap().to_owned()
    }

    fn commit(&self, dir: &Path, message: &str) -> String {
        self.git_in(dir, &["commit", "-q", "--allow-empty", "-m", message]);
        self.git_in(dir, &["rev-parse", "HEAD"])
    }
}

#[test]
fn a_session_is_a_worktree_on_a_branch_of_its_name() {
    let world = World::new();
    let head = world.git(&["rev-parse", "HEAD"]);
    let path = world.create("team/feat-a", json!({}));
    assert_eq!((world.head(&path), world.git_in(&path, &["rev-parse", "HEAD"])), ("team/feat-a".into(), head));
    // The default session, a plain folder and a bare session get none.
    for change in [
        json!({"session": {"is_default": true}}),
        json!({"repo": {"is_git": false}}),
        json!({"session": {"bare": true}}),
    ] {
        assert_eq!(world.ask(PLUGIN, "on_session_create", "x", change), json!({"success": true}));
    }
    assert!(!world.worktree("x").exists());
}

#[test]
fn odd_names_and_paths() {
    for repo in ["re po's \"x\" $HOME", "two\nlines", "-dash", "bl\tank;touch x"] {
        let world = World::called(repo);
        for (name, branch) in
            [("it's a \"feat\" $x", "it's-a-\"feat\"-$x"), ("zurück: ~v2", "zurück---v2"), ("-x", "x")]
        {
            let path = world.create(name, json!({}));
            assert_eq!(world.head(&path), branch);
            let answer = world.ask(PLUGIN, "on_session_delete", name, json!({"session": {"path": path}}));
            assert_eq!(answer["success"], json!(true), "{answer}");
            assert!(!path.exists());
        }
    }
    let world = World::new();
    for name in ["../../esc", "/etc", ".", "a/../../../b"] {
        assert!(error(&world.ask(PLUGIN, "on_session_create", name, json!({}))).contains("name"));
    }
    assert!(!world.repo.parent().unwrap().join(".ez").exists());
}

#[test]
fn an_existing_branch_is_checked_out_unless_another_worktree_has_it() {
    let world = World::new();
    world.git(&["branch", "keep"]);
    world.git(&["tag", "keep", "HEAD"]);
    let kept = world.git(&["rev-parse", "refs/heads/keep"]);
    world.commit(&world.repo, "later");
    world.git(&["tag", "-f", "keep", "HEAD"]);
    let path = world.create("keep", json!({}));
    assert_eq!(world.git_in(&path, &["rev-parse", "HEAD"]), kept);
    assert_eq!(world.git_in(&path, &["status", "--porcelain"]), "");
    // "keep" again under a name that maps to it, and the branch of the main checkout.
    let answer = world.ask(PLUGIN, "on_session_create", "-keep", json!({}));
    assert!(error(&answer).contains(&format!("ez session register '{}'", path.display())), "{answer}");
    assert!(error(&world.ask(PLUGIN, "on_session_create", "main", json!({}))).contains("checked out in"));
    // The folder was removed by hand: git's entry does not count.
    sys::files::remove_tree(&path).unwrap();
    assert_eq!(world.create("keep", json!({})), path);
}

#[test]
fn the_start_point_the_parent_and_the_remote_decide_where_a_branch_starts() {
    let world = World::new();
    let first = world.git(&["rev-parse", "HEAD"]);
    let parent = world.create("parent", json!({}));
    let of_parent = world.commit(&parent, "parent's");
    world.git_in(&parent, &["checkout", "-q", "--detach"]);
    let at = |name: &str, change: Value| world.git_in(&world.create(name, change), &["rev-parse", "HEAD"]);
    assert_eq!(at("child", json!({"session": {"parent_name": "parent", "parent_is_default": false}})), of_parent);
    assert_eq!(at("gone", json!({"session": {"parent_name": "no-such", "parent_is_default": false}})), first);
    assert_eq!(at("main-child", json!({"session": {"parent_name": "parent", "parent_is_default": true}})), first);
    assert_eq!(at("pointed", json!({"session": {"start_point": of_parent, "parent_name": "main"}})), of_parent);
    let answer = world.ask(PLUGIN, "on_session_create", "bad", json!({"session": {"start_point": "--no-such"}}));
    assert!(error(&answer).contains("no-such"));
    assert!(!world.worktree("bad").exists());
    // No remote, no fetch.
    assert!(!world.repo.join(".git/ez-fetch-stamp").exists());
}

#[test]
fn origin_is_fetched_when_its_main_branch_is_the_start_and_not_too_often() {
    let world = World::new();
    let origin = world.home.path("ws/origin");
    world.git(&["clone", "-q", ".", origin.to_str().unwrap()]);
    world.git(&["remote", "add", "origin", origin.to_str().unwrap()]);
    let change = || json!({"repo": {"remote_url": "x"}});
    let news = world.commit(&origin, "news");
    world.git_in(&origin, &["branch", "theirs"]);
    let path = world.create("a", change());
    assert_eq!(world.git_in(&path, &["rev-parse", "HEAD"]), news);
    let upstream = ["for-each-ref", "--format=%(upstream:short)", "refs/heads/a"];
    assert_eq!(world.git(&upstream), "", "a branch from main does not follow main");
    // Fresh: what is newer there is not seen; with fetch_ttl = 0 it is.
    let newer = world.commit(&origin, "newer");
    assert_eq!(world.git_in(&world.create("b", change()), &["rev-parse", "HEAD"]), news);
    let now = json!({"repo": {"remote_url": "x"}, "config": {"user_config": {"fetch_ttl": 0}}});
    assert_eq!(world.git_in(&world.create("c", now.clone()), &["rev-parse", "HEAD"]), newer);
    let path = world.create("theirs", change());
    assert_eq!(world.git_in(&path, &["rev-parse", "--abbrev-ref", "@{upstream}"]), "origin/theirs");
    // A branch that only the fetch brings, and a remote that is gone.
    world.git_in(&origin, &["branch", "brought"]);
    let path = world.create("brought", now.clone());
    assert_eq!(world.git_in(&path, &["rev-parse", "--abbrev-ref", "@{upstream}"]), "origin/brought");
    sys::files::remove_tree(&origin).unwrap();
    world.create("offline", now);
}

#[test]
fn a_create_starts_git_once_and_a_delete_never() {
    let world = World::new();
    let real = testkit::find_program("git").unwrap();
    let link = world.home.bin().join("git");
    let _ = sys::files::remove_file(&link);
    let log = world.home.path("git.log");
    let script = format!("#!/bin/sh\necho x >>'{}'\nexec '{}' \"$@\"\n", log.display(), real.display());
    world.home.program("git", &script);
    let path = world.create("a", json!({}));
    // One more is this test's own look at the branch.
    assert_eq!(world.home.read("git.log").lines().count() - 1, 1);
    world.ask(PLUGIN, "on_session_delete", "a", json!({"session": {"path": path}}));
    assert_eq!(world.home.read("git.log").lines().count() - 1, 1);
    assert!(!path.exists());
}

#[test]
fn packed_refs_and_reftables_hold_branches_as_well() {
    let world = World::new();
    let first = world.git(&["rev-parse", "HEAD"]);
    world.git(&["remote", "add", "origin", "/none"]);
    for kind in ["packed", "reftable"] {
        let names = [format!("{kind}-old"), format!("{kind}-theirs"), format!("{kind}-new")];
        world.git(&["branch", &names[0], &first]);
        world.git(&["update-ref", &format!("refs/remotes/origin/{}", names[1]), &first]);
        let newest = world.commit(&world.repo, "more");
        if kind == "packed" {
            world.git(&["pack-refs", "--all"]);
        } else if !run_in(&world.repo, "git", &["refs", "migrate", "--ref-format=reftable"], &world.home, b"").code()
            != 0
        {
            // git before 2.46 has none.
            return;
        }
        for (name, commit) in names.iter().zip([&first, &first, &newest]) {
            let path = world.create(name, json!({}));
            assert_eq!(world.git_in(&path, &["rev-parse", "HEAD"]), *commit, "{name}");
            assert_eq!(world.git_in(&path, &["symbolic-ref", "HEAD"]), format!("refs/heads/{name}"));
        }
        world.git(&["worktree", "list"]);
        for name in &names {
            let delete =
                world.ask(PLUGIN, "on_session_delete", name, json!({"session": {"path": world.worktree(name)}}));
            assert_eq!(delete["success"], json!(true), "{delete}");
        }
    }
}

#[test]
fn nothing_is_made_over_what_is_there_or_inside_of_a_worktree() {
    let world = World::new();
    let path = world.home.write(world.worktree("taken").join("mine"), "x");
    assert!(error(&world.ask(PLUGIN, "on_session_create", "taken", json!({}))).contains("there already"));
    assert!(path.exists() && world.git(&["branch", "--list", "taken"]).is_empty());
    let feat = world.create("feat", json!({}));
    world.git_in(&feat, &["checkout", "-q", "-b", "other"]);
    world.git(&["branch", "-D", "feat"]);
    assert!(error(&world.ask(PLUGIN, "on_session_create", "feat/x", json!({}))).contains("worktree itself"));
    // git refuses this one; no empty folder stays.
    assert!(error(&world.ask(PLUGIN, "on_session_create", "other/x", json!({}))).contains("other"));
    assert!(!world.worktree("other").exists());
}

#[test]
fn a_path_that_another_plugin_set_only_gets_the_branch() {
    let world = World::new();
    let path = world.home.path("ws/fork");
    world.git(&["worktree", "add", "-q", "--detach", path.to_str().unwrap()]);
    let answer = world.ask(PLUGIN, "on_session_create", "feat", json!({"session": {"path": path}}));
    let expected =
        json!({"success": true, "session_mutations": {"plugin_state": {"worktree_path": path, "branch": "feat"}}});
    assert_eq!(answer, expected);
    assert_eq!(world.head(&path), "feat");
    assert!(!world.worktree("feat").exists());
    world.git_in(&path, &["checkout", "-q", "--detach"]);
    assert_eq!(world.ask(PLUGIN, "on_session_create", "feat", json!({"session": {"path": path}})), expected);
    assert_eq!(world.head(&path), "feat");
}

#[test]
fn states_of_a_repository() {
    // Bare, with links relative; a linked worktree that is registered itself; detached; without a commit.
    let world = World::new();
    world.git(&["config", "worktree.useRelativePaths", "true"]);
    world.git(&["checkout", "-q", "--detach"]);
    let path = world.create("relative", json!({}));
    let answer = world.ask(PLUGIN, "on_session_delete", "relative", json!({"session": {"path": path}}));
    assert!(answer["session_mutations"]["plugin_state"]["trash_path"].is_string(), "{answer}");

    let mut bare = World::new();
    let to = bare.home.path("ws/bare.git");
    bare.git(&["clone", "-q", "--bare", ".", to.to_str().unwrap()]);
    bare.repo = to;
    let path = bare.create("x", json!({}));
    assert!(path.ends_with(".ez/bare.git/x") && path.join("README.md").exists());
    assert_eq!(bare.ask(PLUGIN, "on_session_delete", "x", json!({"session": {"path": path}}))["success"], json!(true));
    assert!(!path.exists());

    let mut linked = World::new();
    let to = linked.home.path("ws/linked");
    linked.git(&["worktree", "add", "-q", to.to_str().unwrap()]);
    linked.repo = to;
    let path = linked.create("x", json!({}));
    assert_eq!(
        linked.ask(PLUGIN, "on_session_delete", "x", json!({"session": {"path": path}}))["success"],
        json!(true)
    );
    assert!(!path.exists() && linked.repo.exists());

    let mut empty = World::new();
    empty.repo = empty.home.path("ws/empty");
    sys::files::make_dir(&empty.repo).unwrap();
    empty.git(&["init", "-q"]);
    assert!(error(&empty.ask(PLUGIN, "on_session_create", "x", json!({}))).contains("no commit yet"));
    assert!(!empty.worktree("x").exists());
}

#[test]
fn variables_of_a_git_hook_do_not_lead_elsewhere() {
    let world = World::new();
    let other = World::called("other");
    let mut env = world.env();
    env.set("GIT_DIR", other.repo.join(".git")).set("GIT_WORK_TREE", &other.repo).set("GIT_INDEX_FILE", "/no/such");
    let answer = world.ask_in(PLUGIN, &world.request("on_session_create", "a", json!({})), &env);
    assert_eq!(answer["success"], json!(true), "{answer}");
    assert_eq!(world.head(&world.worktree("a")), "a");
    assert_eq!(other.git(&["branch", "--list", "a"]), "");
}

#[test]
fn a_delete_moves_the_worktree_to_the_trash_and_a_restore_brings_all_of_it_back() {
    let world = World::new();
    let path = world.create("team/a", json!({}));
    world.home.write(path.join("README.md"), "changed\n");
    world.home.write(path.join("staged"), "s\n");
    world.git_in(&path, &["add", "staged"]);
    world.home.write(path.join("staged"), "and more\n");
    let before = world.git_in(&path, &["status", "--porcelain"]);
    let answer = world.ask(PLUGIN, "on_session_delete", "team/a", json!({"session": {"path": path}}));
    let trash = world.repo.parent().unwrap().join(".ez/.trash/repo/id-team_a");
    assert_eq!(answer, json!({"success": true, "session_mutations": {"plugin_state": {"trash_path": trash}}}));
    assert!(!world.worktree("team").exists(), "the empty folder above is gone");
    assert!(trash.join("README.md").exists());
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(world.git(&["branch", "--list", "team/a"]).trim(), "team/a");
    // Again, with the same id: another place.
    let again = world.create("team/a", json!({}));
    assert!(restore(&trash, &path, &world.env()).unwrap_err().to_string().contains("checked out in"));
    let answer = world.ask(PLUGIN, "on_session_delete", "team/a", json!({"session": {"path": again}}));
    assert_eq!(answer["session_mutations"]["plugin_state"]["trash_path"], json!(format!("{}-2", trash.display())));
    let elsewhere = world.worktree("b/c");
    restore(&trash, &elsewhere, &world.env()).unwrap();
    assert_eq!(world.git_in(&elsewhere, &["status", "--porcelain"]), before);
    assert_eq!(world.head(&elsewhere), "team/a");
    assert!(world.git(&["worktree", "list"]).contains("b/c"));
    assert!(restore(&trash, &path, &world.env()).is_err());
}

#[test]
fn a_delete_touches_linked_worktrees_only() {
    let world = World::new();
    let delete = |path: &Path| world.ask(PLUGIN, "on_session_delete", "x", json!({"session": {"path": path}}));
    // The main checkout, also by a link; a folder made by hand; another repository's worktree.
    let link = world.home.path("link");
    std::os::unix::fs::symlink(&world.repo, &link).unwrap();
    let hand = world.home.write("hand/file", "x").parent().unwrap().to_path_buf();
    let other = World::called("other");
    let foreign = other.create("f", json!({}));
    for path in [&world.repo, &link, &hand, &foreign, &world.home.path("none")] {
        assert_eq!(delete(path), json!({"success": true}));
    }
    assert!(world.repo.join("README.md").exists() && hand.join("file").exists() && foreign.join("README.md").exists());
    // A worktree elsewhere that the session has recorded is its own; without a record only the computed path counts.
    let outside = world.home.path("out side");
    world.git(&["worktree", "add", "-q", "-b", "out", outside.to_str().unwrap()]);
    assert_eq!(world.ask(PLUGIN, "on_session_delete", "x", json!({})), json!({"success": true}));
    assert!(outside.exists());
    assert!(delete(&outside)["session_mutations"].is_object());
    assert!(!outside.exists());
    // Gone by hand: git's entry goes too, and only that one.
    let (a, b) = (world.create("a", json!({})), world.create("b", json!({})));
    sys::files::remove_tree(&a).unwrap();
    sys::files::remove_tree(&b).unwrap();
    assert_eq!(delete(&a), json!({"success": true}));
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn a_locked_worktree_is_refused_with_the_reason() {
    let world = World::new();
    let path = world.create("a", json!({}));
    world.git(&["worktree", "lock", "--reason", "in use by T", path.to_str().unwrap()]);
    let session = json!({"session": {"path": path}, "rename_context": {"old_name": "a", "new_name": "b"}});
    for hook in ["on_session_delete", "on_session_rename"] {
        let answer = world.ask(PLUGIN, hook, "a", session.clone());
        assert!(error(&answer).contains("in use by T"), "{answer}");
        assert!(path.join("README.md").exists());
    }
}

#[test]
fn submodules_survive_delete_and_restore() {
    let world = World::new();
    let sub = World::called("sub");
    let url = sub.repo.to_str().unwrap();
    world.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
    world.git(&["commit", "-qm", "sub"]);
    let path = world.create("a", json!({}));
    world.git_in(&path, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"]);
    let inside = world.commit(&path.join("sub"), "only here");
    let rename = json!({"session": {"path": path}, "rename_context": {"old_name": "a", "new_name": "b"}});
    let answer = world.ask(PLUGIN, "on_session_rename", "a", rename);
    assert_eq!(
        answer["session_mutations"],
        json!({"path": path, "plugin_state": {"worktree_path": path, "branch": "b"}})
    );
    let answer = world.ask(PLUGIN, "on_session_delete", "a", json!({"session": {"path": path}}));
    let trash = answer["session_mutations"]["plugin_state"]["trash_path"].as_str().unwrap();
    restore(Path::new(trash), &path, &world.env()).unwrap();
    assert_eq!(world.git_in(&path.join("sub"), &["rev-parse", "HEAD"]), inside);
}

#[test]
fn a_rename_moves_branch_and_worktree() {
    let world = World::new();
    let rename = |path: &Path, old: &str, new: &str| {
        let context = json!({"old_name": old, "new_name": new, "old_path": path, "new_path": null});
        world.ask(PLUGIN, "on_session_rename", new, json!({"session": {"path": path}, "rename_context": context}))
    };
    let mut path = world.create("a", json!({}));
    world.home.write(path.join("work"), "x");
    let mut old = "a";
    // Also into a folder of its own name and out again.
    for new in ["b", "b/c", "d/e/f", "d", "two words"] {
        let answer = rename(&path, old, new);
        let branch = new.replace(' ', "-");
        let to = world.worktree(new);
        let expected = json!({"path": to, "plugin_state": {"worktree_path": to, "branch": branch}});
        assert_eq!(answer["session_mutations"], expected, "{answer}");
        assert!(!path.exists() || to.starts_with(&path));
        assert_eq!((world.head(&to), to.join("work").exists()), (branch, true));
        (path, old) = (to, new);
    }
    // A branch or a folder in the way: nothing has changed.
    world.git(&["branch", "taken"]);
    assert!(error(&rename(&path, old, "taken")).contains("taken"));
    world.home.write(world.worktree("folder").join("x"), "x");
    assert!(error(&rename(&path, old, "folder")).contains("already"));
    assert!(error(&rename(&path, old, "../../../esc")).contains("name"));
    assert_eq!((world.head(&path), path.join("work").exists()), ("two-words".into(), true));
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 2);
    // Switched inside: that branch keeps its name.
    world.git_in(&path, &["checkout", "-q", "-b", "mine"]);
    let answer = rename(&path, old, "g");
    assert_eq!(answer["session_mutations"]["plugin_state"]["branch"], json!("mine"), "{answer}");
    assert_eq!(world.head(&world.worktree("g")), "mine");
    // An ez that has moved all of it already is told what is.
    let context =
        json!({"old_name": "f", "new_name": "g", "old_path": world.worktree("f"), "new_path": world.worktree("g")});
    let answer = world.ask(PLUGIN, "on_session_rename", "g", json!({"rename_context": context}));
    assert_eq!(answer["session_mutations"]["path"], json!(world.worktree("g")));
}

#[test]
fn a_folder_that_cannot_move_gives_the_branch_its_name_back() {
    let world = World::new();
    let path = world.create("a", json!({}));
    // A file where the folder of the new name is to be.
    world.home.write(world.worktree("blocked"), "x");
    let context = json!({"old_name": "a", "new_name": "blocked/b"});
    let answer =
        world.ask(PLUGIN, "on_session_rename", "b", json!({"session": {"path": path}, "rename_context": context}));
    assert!(!error(&answer).is_empty());
    assert_eq!((world.head(&path), world.git(&["branch", "--list", "blocked/b"])), ("a".into(), String::new()));
}

#[test]
fn copies_links_and_setup_are_off_until_asked_for() {
    let world = World::new();
    for name in [".env", ".env.local", "node_modules/x", "app/.env", "secret"] {
        world.home.write(world.repo.join(name), name);
    }
    let plain = world.create("plain", json!({}));
    assert!(!plain.join(".env").exists());
    let settings = json!({"copy": [".env*", "*/.env", "../x", "README.md"], "link": "node_modules", "setup": "none",
        "repos": {"ws-repo": {"setup": " make setup "}}});
    let answer = world.ask(PLUGIN, "on_session_create", "it's", json!({"config": {"user_config": settings}}));
    let path = world.worktree("it's");
    let quoted = path.display().to_string().replace('\'', r"'\''");
    assert_eq!(answer["shell_commands"], json!([format!("cd -- '{quoted}' && {{\nmake setup\n}}")]));
    assert_eq!(std::fs::read_to_string(path.join(".env.local")).unwrap(), ".env.local");
    assert!(path.join("app/.env").is_file() && !path.join("secret").exists());
    assert_eq!(std::fs::read_link(path.join("node_modules")).unwrap(), world.repo.join("node_modules"));
    assert_eq!(world.git_in(&path, &["status", "--porcelain", "README.md"]), "");
}

#[test]
fn many_sessions_at_once() {
    let world = World::new();
    let paths: Vec<PathBuf> = std::thread::scope(|scope| {
        let world = &world;
        let threads: Vec<_> = (0..16).map(|n| scope.spawn(move || world.create(&format!("p{n}"), json!({})))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 17);
    std::thread::scope(|scope| {
        for (n, path) in paths.iter().enumerate() {
            let world = &world;
            scope.spawn(move || {
                let session = json!({"session": {"path": path}});
                assert_eq!(world.ask(PLUGIN, "on_session_delete", &format!("p{n}"), session)["success"], json!(true));
            });
        }
    });
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(world.git(&["fsck", "--no-progress"]), "");
}
