//! `kill -9` at any moment, and many commands at once: what is left is named by `doctor`, mended by `doctor --fix`, and no
//! session, file or commit is lost. `EZ_KILLS=100` makes it twenty times longer.

use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use testkit::{Home, run_in};

use crate::{EZ, ez, git, home, names, repo};

/// Moments for each operation.
fn moments() -> u32 {
    std::env::var("EZ_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(5)
}

struct Stage {
    home: Home,
    main: PathBuf,
}

impl Stage {
    fn new() -> Self {
        let home = home();
        let main = repo(&home, "api");
        let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
        // A neighbour that nothing may touch.
        let stage = Self { home, main };
        let _ = stage.ez(&["session", "new", "other"]).ok();
        stage.home.write(stage.place("other").join("mine.txt"), "mine\n");
        stage
    }

    fn ez(&self, args: &[&str]) -> testkit::Output {
        run_in(&self.main, EZ, args, &self.home, b"")
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.home, &self.main.display().to_string(), args)
    }

    /// Where the bundled plugin puts a session.
    fn place(&self, session: &str) -> PathBuf {
        self.home.path(format!("ws/.ez/api/{session}"))
    }

    /// A session with a commit of its own and an untracked file.
    fn worked_in(&self, session: &str) {
        let _ = self.ez(&["session", "new", session]).ok();
        let place = self.place(session);
        self.home.write(place.join("done.txt"), session);
        let folder = place.display().to_string();
        git(&self.home, &folder, &["add", "done.txt"]);
        git(&self.home, &folder, &["commit", "-qm", "done"]);
        self.home.write(place.join("open.txt"), session);
    }

    /// Runs to the end, and says how long it took.
    fn timed(&self, args: &[&str]) -> Duration {
        let started = Instant::now();
        let _ = self.ez(args).ok();
        started.elapsed()
    }

    /// Starts it, kills it after this time and waits until nothing of it runs any more.
    fn killed(&self, args: &[&str], after: Duration) {
        let mut command = Command::new(EZ);
        command.args(args).current_dir(&self.main).env_clear().envs(self.home.env());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + after;
        while Instant::now() < until && child.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        let _ = child.kill();
        let _ = child.wait();
        let deadline = Instant::now() + Duration::from_secs(15);
        while !self.quiet() {
            assert!(Instant::now() < deadline, "something of it still runs");
            thread::yield_now();
        }
    }

    /// No process has our home in its environment.
    fn quiet(&self) -> bool {
        self.processes().is_empty()
    }

    fn processes(&self) -> Vec<String> {
        let mark = format!("HOME={}", self.home.home().display()).into_bytes();
        let ours = |process: &std::fs::DirEntry| {
            let env = std::fs::read(process.path().join("environ")).unwrap_or_default();
            env.split(|byte| *byte == 0).any(|variable| variable == mark)
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        all.filter(ours).map(|process| process.file_name().to_string_lossy().into_owned()).collect()
    }

    /// Ends what outlived its `ez`, as a plugin that hangs does.
    fn stop_all(&self) {
        let deadline = Instant::now() + Duration::from_secs(15);
        while !self.quiet() {
            for pid in self.processes() {
                let _ = Command::new("kill").args(["-9", &pid]).stderr(Stdio::null()).status();
            }
            assert!(Instant::now() < deadline, "something of it still runs");
        }
    }

    /// Doctor mends what it names, and then has nothing to name.
    fn mended(&self, when: &str) {
        let before = self.ez(&["doctor"]);
        let fixed = self.ez(&["doctor", "--fix"]);
        let after = self.ez(&["doctor"]);
        assert_eq!(after.code(), 0, "{when}\nbefore: {before}\nfixing: {fixed}\nafter: {after}");
        assert_eq!(self.home.read(self.place("other").join("mine.txt")), "mine\n", "{when}");
        assert!(self.names().contains(&"other".to_owned()), "{when}");
    }

    fn names(&self) -> Vec<String> {
        names(&self.home, "api")
    }

    fn worktrees(&self) -> String {
        self.git(&["worktree", "list", "--porcelain"])
    }
}

/// The moments at which an operation of this length is killed: one at random in each equal part of it and a little
/// beyond. `EZ_SEED` of a failure's message makes the same ones again.
fn spread(length: Duration) -> impl Iterator<Item = (String, Duration)> {
    let given = std::env::var("EZ_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = given.unwrap_or_else(|| RandomState::new().hash_one(length));
    let count = moments();
    (0..count).map(move |n| {
        let mut dice = DefaultHasher::new();
        (seed, n).hash(&mut dice);
        let part = f64::from(u32::try_from(dice.finish() >> 32).unwrap_or(0)) / f64::from(u32::MAX);
        let after = length.mul_f64((f64::from(n) + part) / f64::from(count) * 1.1);
        (format!("EZ_SEED={seed}: killed after {after:?} of {length:?}"), after)
    })
}

#[test]
fn a_killed_new_is_whole_or_nothing() {
    let stage = Stage::new();
    let length = stage.timed(&["session", "new", "first"]);
    for (n, (when, after)) in spread(length).enumerate() {
        let name = format!("n{n}");
        stage.killed(&["session", "new", &name], after);
        stage.mended(&when);
        let listed = stage.names().contains(&name);
        let there = stage.place(&name).is_dir();
        let branch = stage.git(&["branch", "--list", &name]).contains(&name);
        let known = stage.worktrees().contains(&format!(".ez/api/{name}\n"));
        assert_eq!((there, branch, known), (listed, listed, listed), "{when}: listed {listed}");
        if !listed {
            let _ = stage.ez(&["session", "new", &name]).ok();
        }
        assert!(stage.place(&name).join("README.md").is_file(), "{when}");
    }
}

#[test]
fn ez_killed_while_a_plugin_hangs_leaves_nothing_half_made() {
    let stage = Stage::new();
    // It says that it was asked, and never answers.
    let body = "touch \"$HOME/reached\"; read -r request; exec sleep 600";
    for (hook, name) in [("on_session_create", "made"), ("on_session_delete", "kept")] {
        if hook == "on_session_delete" {
            stage.worked_in(name);
        }
        crate::plugin(&stage.home, "hangs", &[hook], "", body);
        let reached = stage.home.home().join("reached");
        let words: &[&str] = if hook == "on_session_create" { &["new"] } else { &["delete", "--force"] };
        let args: Vec<&str> = ["session"].iter().chain(words).chain([&name]).copied().collect();
        let mut command = Command::new(EZ);
        command.args(&args).current_dir(&stage.main).env_clear().envs(stage.home.env());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while !reached.exists() {
            assert!(Instant::now() < deadline, "the plugin was not asked");
            thread::yield_now();
        }
        // Meanwhile nobody else may touch the session, and lists do not wait.
        let second = stage.ez(&["session", "rename", name, "other-name"]);
        assert!(second.code() == 1 && second.err().contains("at work on the session"), "{second}");
        child.kill().unwrap();
        let _ = child.wait();
        stage.stop_all();
        let _ = ez(&stage.home, &["plugin", "disable", "hangs"]).ok();
        std::fs::remove_file(&reached).unwrap();
        stage.mended(hook);
        if hook == "on_session_create" {
            assert!(!stage.names().contains(&name.to_owned()) && !stage.place(name).exists());
            assert_eq!(stage.git(&["branch", "--list", name]), "");
        } else {
            if !stage.names().contains(&name.to_owned()) {
                let _ = stage.ez(&["trash", "restore", name]).ok();
            }
            assert_eq!(stage.home.read(stage.place(name).join("open.txt")), name);
        }
    }
}

#[test]
fn a_killed_delete_loses_no_work() {
    let stage = Stage::new();
    stage.worked_in("first");
    let length = stage.timed(&["session", "delete", "first", "--force"]);
    for (n, (when, after)) in spread(length).enumerate() {
        let name = format!("d{n}");
        stage.worked_in(&name);
        stage.killed(&["session", "delete", &name, "--force"], after);
        stage.mended(&when);
        if !stage.names().contains(&name) {
            let _ = stage.ez(&["trash", "restore", &name]).ok();
        }
        assert_eq!(stage.home.read(stage.place(&name).join("open.txt")), name, "{when}");
        assert_eq!(stage.git(&["show", &format!("{name}:done.txt")]), name, "{when}");
        assert_eq!(
            stage.git(&["-C", &stage.place(&name).display().to_string(), "status", "--porcelain"]),
            "?? open.txt",
            "{when}"
        );
    }
}

/// A plugin of somebody else in place of git-worktree: it makes worktrees at the same places and removes them for good.
const OTHER: &str = r#"read -r request
name=$(printf %s "$request" | sed -n 's/.*"session":{"id":"[^"]*","name":"\([^"]*\)".*/\1/p')
tree="$HOME/ws/.ez/api/$name"
case $request in
*on_session_create*) git -C "$HOME/ws/api" worktree add -q -b "$name" "$tree" >&2
  echo "{\"success\":true,\"session_mutations\":{\"path\":\"$tree\"}}";;
*) cd /; if git -C "$HOME/ws/api" worktree remove --force "$tree" >&2; then echo '{"success":true}'
  else echo '{"success":false,"error":"it is gone"}'; fi;;
esac"#;

#[test]
fn a_killed_delete_or_restore_of_what_another_plugin_removes_loses_no_work() {
    let stage = Stage::new();
    let hooks = ["on_session_create", "on_session_delete"];
    crate::plugin(&stage.home, "other", &hooks, "mutates_session_path = true\npriority = 10", OTHER);
    let worked_in = |name: &str| {
        stage.worked_in(name);
        let place = stage.place(name);
        for n in 0..40 {
            stage.home.write(place.join(format!("many/{n}")), format!("{name} {n}"));
        }
        stage.home.write(place.join("README.md"), "changed\n");
    };
    let check = |name: &str, when: &str| {
        if !stage.names().contains(&name.to_owned()) {
            let _ = stage.ez(&["trash", "restore", name]).ok();
        }
        let place = stage.place(name);
        assert_eq!(stage.home.read(place.join("open.txt")), name, "{when}");
        assert!((0..40).all(|n| stage.home.read(place.join(format!("many/{n}"))) == format!("{name} {n}")), "{when}");
        let status = git(&stage.home, &place.display().to_string(), &["status", "--porcelain"]);
        assert_eq!(status, " M README.md\n?? many/\n?? open.txt", "{when}");
        assert_eq!(stage.git(&["show", &format!("{name}:done.txt")]), name, "{when}");
    };
    worked_in("first");
    let deleting = stage.timed(&["session", "delete", "first", "--force"]);
    let restoring = stage.timed(&["trash", "restore", "first"]);
    for (n, (when, after)) in spread(deleting).enumerate() {
        let name = format!("d{n}");
        worked_in(&name);
        stage.killed(&["session", "delete", &name, "--force"], after);
        stage.mended(&when);
        check(&name, &when);
    }
    for (n, (when, after)) in spread(restoring).enumerate() {
        let name = format!("r{n}");
        worked_in(&name);
        let _ = stage.ez(&["session", "delete", &name, "--force"]).ok();
        stage.killed(&["trash", "restore", &name], after);
        stage.mended(&when);
        check(&name, &when);
        let entries = stage.ez(&["trash", "list", "--json"]).ok().json();
        assert_eq!(entries.as_array().map(Vec::len), Some(0), "{when}");
    }
}

#[test]
fn a_killed_rename_is_done_or_not() {
    let stage = Stage::new();
    stage.worked_in("first");
    let length = stage.timed(&["session", "rename", "first", "1st"]);
    for (n, (when, after)) in spread(length).enumerate() {
        let (old, new) = (format!("r{n}"), format!("renamed{n}"));
        stage.worked_in(&old);
        stage.killed(&["session", "rename", &old, &new], after);
        stage.mended(&when);
        let both: Vec<_> = stage.names().into_iter().filter(|name| *name == old || *name == new).collect();
        assert_eq!(both.len(), 1, "{when}: {both:?}");
        let name = &both[0];
        assert_eq!(stage.home.read(stage.place(name).join("open.txt")), old, "{when}: {name}");
        assert_eq!(stage.git(&["show", &format!("{name}:done.txt")]), old, "{when}: {name}");
        let path =
            stage.ez(&["session", "path", name]).ok().out().replace("$ROOT", &stage.home.root().display().to_string());
        assert_eq!(Path::new(path.trim_end()), stage.place(name), "{when}");
    }
}

#[test]
fn a_killed_from_dirty_keeps_the_changes() {
    let stage = Stage::new();
    let make_dirty = || {
        stage.home.write(stage.main.join("README.md"), "changed\n");
        stage.home.write(stage.main.join("new.txt"), "new\n");
    };
    let folder = |place: &Path| git(&stage.home, &place.display().to_string(), &["status", "--porcelain"]);
    make_dirty();
    let length = stage.timed(&["session", "from-dirty", "first"]);
    for (n, (when, after)) in spread(length).enumerate() {
        let name = format!("f{n}");
        make_dirty();
        stage.killed(&["session", "from-dirty", &name], after);
        stage.mended(&when);
        let dirty = " M README.md\n?? new.txt";
        let moved = stage.place(&name).is_dir() && folder(&stage.place(&name)) == dirty;
        let stayed = folder(&stage.main) == dirty;
        assert!(moved != stayed, "{when}: moved {moved}, stayed {stayed}, {:?}", folder(&stage.main));
        assert_eq!(stage.git(&["stash", "list"]), "", "{when}");
        git(&stage.home, &stage.main.display().to_string(), &["reset", "-q", "--hard"]);
        git(&stage.home, &stage.main.display().to_string(), &["clean", "-fdq"]);
    }
}

#[test]
fn fifty_sessions_and_fifty_folders_at_once() {
    let home = home();
    let main = repo(&home, "api");
    let _ = ez(&home, &["plugin", "enable", "git-worktree"]).ok();
    for n in 0..50 {
        home.write(format!("d{n}/app/x"), "");
    }
    thread::scope(|scope| {
        for n in 0..50 {
            let (home, main) = (&home, &main);
            scope.spawn(move || run_in(main, EZ, &["session", "new", &format!("s{n}")], home, b"").ok());
            let path = home.path(format!("d{n}/app")).display().to_string();
            scope.spawn(move || ez(home, &["add", &path]).ok());
        }
    });
    let sessions = names(&home, "api");
    assert!((0..50).all(|n| sessions.contains(&format!("s{n}"))), "{sessions:?}");
    assert!((0..50).all(|n| home.path(format!("ws/.ez/api/s{n}/README.md")).is_file()));
    assert_eq!(ez(&home, &["repo", "list", "--json"]).ok().json().as_array().map(Vec::len), Some(51));
    let _ = ez(&home, &["doctor"]).ok();
}
