//! What must never be lost: sessions of parallel commands, damaged files, uncommitted work, other repositories' state.

use std::thread;

use testkit::run_in;

use crate::{EZ, ez, git, home, names, plugin, repo};

#[test]
fn twenty_sessions_at_once_are_twenty_sessions() {
    let home = home();
    repo(&home, "api");
    plugin(
        &home,
        "slow",
        &["on_session_create"],
        "",
        "cat >/dev/null; sleep 0.1; echo '{\"success\":true,\"session_mutations\":{\"env\":{\"A\":\"1\"}}}'",
    );
    thread::scope(|scope| {
        for n in 0..20 {
            let home = &home;
            scope.spawn(move || ez(home, &["session", "new", &format!("s{n}"), "-r", "api"]).ok());
        }
    });
    assert_eq!(names(&home, "api").len(), 20);
    let list = ez(&home, &["session", "list", "-r", "api", "--json"]).ok().json();
    assert!(list.as_array().is_some_and(|all| all.iter().all(|session| session["env"]["A"] == "1")));
}

#[test]
fn twenty_folders_at_once_are_twenty_repositories() {
    let home = home();
    thread::scope(|scope| {
        for n in 0..20 {
            let home = &home;
            home.write(format!("d{n}/app/x"), "");
            let path = home.path(format!("d{n}/app")).display().to_string();
            scope.spawn(move || ez(home, &["add", &path]).ok());
        }
    });
    assert_eq!(ez(&home, &["repo", "list", "--json"]).ok().json().as_array().map(Vec::len), Some(20));
}

#[test]
fn a_damaged_file_is_named_and_set_aside() {
    let home = home();
    repo(&home, "api");
    let _ = ez(&home, &["session", "new", "a", "-r", "api"]).ok();
    let file = home.root().join("config/ez/repos/ws-api/sessions.toml");
    for damage in ["", "[[sessions]]\nid = 3\n", "not toml"] {
        home.write(&file, damage);
        let refused = ez(&home, &["session", "new", "b", "-r", "api"]);
        assert!(refused.code() == 1 && refused.err().contains("sessions.toml"), "{refused}");
        assert_eq!(home.read(&file), damage, "it is left as it is");
    }
    assert_eq!(ez(&home, &["doctor", "--fix"]).code(), 1);
    let _ = ez(&home, &["session", "new", "b", "-r", "api"]).ok();
    let folder = home.root().join("config/ez/repos/ws-api");
    let aside = std::fs::read_dir(folder)
        .map(|all| all.flatten().filter(|e| e.file_name().to_string_lossy().contains("damaged")).count());
    assert_eq!(aside.ok(), Some(1));
}

#[test]
fn from_dirty_moves_everything_or_nothing() {
    let home = home();
    let path = repo(&home, "api");
    let folder = path.display().to_string();
    home.write(path.join("README.md"), "changed\n");
    home.write(path.join("new.txt"), "new\n");
    home.write(path.join("staged.txt"), "staged\n");
    git(&home, &folder, &["add", "staged.txt"]);
    let nowhere = run_in(&path, EZ, &["session", "from-dirty", "x"], &home, b"");
    assert_eq!(nowhere.code(), 1, "{nowhere}");
    assert_eq!(git(&home, &folder, &["status", "--porcelain"]), " M README.md\nA  staged.txt\n?? new.txt");
    assert_eq!(git(&home, &folder, &["stash", "list"]), "");
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = run_in(&path, EZ, &["session", "from-dirty", "y"], &home, b"").ok();
    let there = home.path("ws/.ez/api/y").display().to_string();
    assert_eq!(git(&home, &there, &["status", "--porcelain"]), " M README.md\nA  staged.txt\n?? new.txt");
    assert_eq!(git(&home, &folder, &["status", "--porcelain"]), "");
    assert_eq!(git(&home, &folder, &["stash", "list"]), "");
}

#[test]
fn equal_folder_names_stay_apart_and_a_moved_one_is_known_again() {
    let home = home();
    let first = repo(&home, "x/app/api");
    let second = repo(&home, "y/app/api");
    let _ = run_in(&first, EZ, &["session", "new", "precious"], &home, b"").ok();
    let _ = ez(&home, &["remove", &second.display().to_string(), "--purge"]).ok();
    assert_eq!(names(&home, "app-api"), ["precious"]);
    let moved = home.path("ws/moved");
    let _ = home.run("mv", &[&first.display().to_string(), &moved.display().to_string()]).ok();
    let _ = ez(&home, &["add", &moved.display().to_string()]).ok();
    assert_eq!(names(&home, "app-api"), ["precious"]);
}

#[test]
fn a_git_hook_does_not_send_us_elsewhere() {
    let mut home = home();
    let path = repo(&home, "api").display().to_string();
    let other = repo(&home, "other").display().to_string();
    home.set_env("GIT_DIR", format!("{other}/.git")).set_env("GIT_WORK_TREE", other.clone());
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    let _ = ez(&home, &["session", "new", "feat", "-r", "api"]).ok();
    home.unset_env("GIT_DIR").unset_env("GIT_WORK_TREE");
    assert!(git(&home, &path, &["branch"]).contains("feat"));
    assert!(!git(&home, &other, &["branch"]).contains("feat"));
}

#[test]
fn a_lock_is_waited_for_and_then_its_holder_is_named() {
    if !testkit::needs("flock") {
        return;
    }
    let home = home();
    repo(&home, "api");
    let file = home.root().join("config/ez/repos/ws-api/sessions.toml");
    let _ = ez(&home, &["session", "new", "a", "-r", "api"]).ok();
    let folder = file.parent().unwrap();
    let locks: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    let lock =
        locks.into_iter().find(|path| path.display().to_string().contains("sessions.toml") && *path != file).unwrap();
    let held = home.work().join("held");
    let script = format!("echo '4711 someone else' >&9; touch {}; cat", held.display());
    let mut holder = std::process::Command::new("sh")
        .args(["-c", &format!("exec 9>>'{}'; flock 9; {script}", lock.display())])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while !held.exists() {
        assert!(holder.try_wait().unwrap().is_none());
        thread::yield_now();
    }
    let started = std::time::Instant::now();
    let refused = ez(&home, &["session", "new", "b", "-r", "api"]);
    assert!(started.elapsed() >= std::time::Duration::from_secs(9), "it waits");
    assert_eq!(refused.code(), 1);
    assert!(refused.err().contains("process 4711 (someone else) holds it"), "{refused}");
    drop(holder.stdin.take());
    let _ = holder.wait();
    let _ = ez(&home, &["session", "new", "b", "-r", "api"]).ok();
    assert_eq!(names(&home, "api"), ["a", "b"]);
}

#[test]
fn one_repository_has_one_registration_however_it_is_reached() {
    let home = home();
    let path = repo(&home, "app/api");
    let at = |path: &std::path::Path| path.display().to_string();
    // Through a link, and from a worktree.
    let link = home.path("link");
    let _ = home.run("ln", &["-s", &at(&path), &at(&link)]).ok();
    assert!(ez(&home, &["add", &at(&link)]).err().contains("registered already"));
    let tree = home.path("tree");
    git(&home, &at(&path), &["worktree", "add", "-q", &at(&tree)]);
    assert!(ez(&home, &["add", &at(&tree)]).err().contains("is a worktree of 'app-api', which is registered"));
    // Nested: the innermost one is meant.
    let inner = repo(&home, "app/api/vendor/inner");
    let _ = run_in(&inner, EZ, &["session", "new", "in"], &home, b"").ok();
    let _ = run_in(&path, EZ, &["session", "new", "out"], &home, b"").ok();
    assert_eq!(
        (names(&home, "vendor-inner"), names(&home, "app-api")),
        (vec!["in".to_owned()], vec!["out".to_owned()])
    );
    // Bare, and twins by case.
    let bare = home.path("ws/store.git");
    let _ = home.run("git", &["clone", "-q", "--bare", &at(&path), &at(&bare)]).ok();
    let _ = ez(&home, &["add", &at(&bare)]).ok();
    repo(&home, "app/API");
    let ids = ez(&home, &["repo", "list", "--json"]).ok().json();
    let mut ids: Vec<_> = ids.as_array().unwrap().iter().map(|repo| repo["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    assert_eq!(ids, ["app-api", "app-api-2", "vendor-inner", "ws-store.git"]);
    assert_eq!(ez(&home, &["session", "list", "-r", "api"]).code(), 0, "the exact name is meant");
}

#[test]
fn a_record_that_was_not_written_whole_blocks_nothing_after_doctor() {
    let home = home();
    let path = repo(&home, "api");
    let _ = ez(&home, &["session", "new", "a", "-r", "api"]).ok();
    let all = run_in(&path, EZ, &["session", "list", "--json"], &home, b"").ok().json();
    let file = home.root().join("config/ez/repos/ws-api/ops").join(format!("{}.json", all[0]["id"].as_str().unwrap()));
    for damage in ["", "{\"kind\":\"delete\"", "{\"kind\":\"delete\",\"session\":\"x\"}"] {
        home.write(&file, damage);
        assert_eq!(ez(&home, &["session", "rename", "a", "b", "-r", "api"]).code(), 1);
        assert!(ez(&home, &["doctor"]).out().contains("is damaged"), "{damage:?}");
        let _ = ez(&home, &["doctor", "--fix"]);
        let _ = ez(&home, &["doctor"]).ok();
        let _ = ez(&home, &["session", "rename", "a", "b", "-r", "api"]).ok();
        let _ = ez(&home, &["session", "rename", "b", "a", "-r", "api"]).ok();
    }
}
