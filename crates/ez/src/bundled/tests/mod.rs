//! The bundled plugins as a whole: a request in, the answer and the world out. git and tmux are the real ones, in a
//! temporary home; zellij is a stand-in that writes down how it was called.

mod git_worktree;
mod mux;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sys::Env;
use testkit::{Home, needs, run_in};

use super::{manifest, names, serve};

/// A home with one repository that has one commit.
struct World {
    home: Home,
    repo: PathBuf,
}

impl World {
    fn new() -> Self {
        Self::called("repo")
    }

    /// As [`World::new`], the repository in a folder of this name.
    fn called(name: &str) -> Self {
        let mut home = Home::new();
        for who in ["AUTHOR", "COMMITTER"] {
            home.set_env(&format!("GIT_{who}_NAME"), "T");
            home.set_env(&format!("GIT_{who}_EMAIL"), "t@example.com");
        }
        home.link("git");
        home.link("tmux");
        let world = Self { repo: home.path("ws").join(name), home };
        world.home.write(world.repo.join("README.md"), "hello\n");
        world.git(&["init", "-q", "-b", "main"]);
        world.git(&["add", "."]);
        world.git(&["commit", "-qm", "first"]);
        world
    }

    fn env(&self) -> Env {
        self.home.env().iter().collect()
    }

    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.repo, args)
    }

    #[track_caller]
    fn git_in(&self, dir: &Path, args: &[&str]) -> String {
        let out = run_in(dir, "git", args, &self.home, b"").ok();
        String::from_utf8(out.stdout).unwrap().trim_end().to_owned()
    }

    /// Where the session `name` is to have its worktree.
    fn worktree(&self, name: &str) -> PathBuf {
        self.repo.parent().unwrap().join(".ez").join(self.repo.file_name().unwrap()).join(name)
    }

    /// A request; `change` is merged into it.
    fn request(&self, hook: &str, name: &str, change: Value) -> Value {
        let mut request = json!({
            "hook": hook,
            "repo": {"id": "ws-repo", "path": self.repo, "remote_url": null, "default_branch": "main", "is_git": true},
            "session": {"id": format!("id-{name}"), "name": name, "parent_id": null, "parent_name": null,
                "parent_is_default": null, "path": null, "env": {}, "plugin_state": {}, "is_default": false},
            "config": {"plugin_state": {}, "user_config": {}},
            "view_context": null, "bind_context": null,
        });
        merge(&mut request, change);
        request
    }

    fn ask_in(&self, plugin: &str, request: &Value, env: &Env) -> Value {
        let line = serve(plugin, &request.to_string(), env);
        assert!(!line.contains('\n'));
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&self, plugin: &str, hook: &str, name: &str, change: Value) -> Value {
        self.ask_in(plugin, &self.request(hook, name, change), &self.env())
    }
}

fn merge(into: &mut Value, change: Value) {
    match (into, change) {
        (Value::Object(into), Value::Object(change)) => {
            for (key, value) in change {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, change) => *into = change,
    }
}

/// The text of a failure.
#[track_caller]
fn error(answer: &Value) -> &str {
    assert_eq!(answer["success"], json!(false), "{answer}");
    answer["error"].as_str().unwrap()
}

#[test]
fn what_is_no_request_and_what_no_plugin_knows() {
    let env = Env::empty();
    for name in names() {
        assert!(manifest(name).unwrap().starts_with(&format!("name = \"{name}\"\n")));
        assert_eq!(serve(name, r#"{"hook":"on_something_new"}"#, &env), r#"{"success":true}"#);
        for bad in ["", "[]", "{}", "null", r#"{"hook":7}"#, "{\"hook\":\"on_session_create\"}"] {
            let answer: Value = serde_json::from_str(&serve(name, bad, &env)).unwrap();
            assert!(!error(&answer).is_empty());
        }
    }
    assert_eq!(manifest("kv"), None);
    let answer: Value = serde_json::from_str(&serve("kv", r#"{"hook":"on_view"}"#, &env)).unwrap();
    assert!(error(&answer).contains("kv"));
}
