//! The program from outside: each command on its happy and a failing path, hooks against plugins written in `sh`, and what
//! must never be lost. Every test has a home of its own; nothing of the machine's configuration is read.
#![allow(clippy::disallowed_methods, reason = "homes are made and programs started here, with the plainest means")]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "helpers of tests count as tests")]

mod browser;
mod commands;
mod completions;
mod crash;
mod dirty;
mod doctor;
mod going;
mod guide;
mod hooks;
mod keeping;
mod layout;
mod leaving;
mod lossless;
mod pruning;
mod schemas;
mod setup;
mod table;
mod trash;
mod worktrees;
mod wrappers;

use std::path::PathBuf;

use testkit::{Home, Output};

/// The program under test.
const EZ: &str = env!("CARGO_BIN_EXE_ez");

/// A home with git's identity set.
fn home() -> Home {
    let mut home = Home::new();
    for who in ["AUTHOR", "COMMITTER"] {
        home.set_env(&format!("GIT_{who}_NAME"), "T").set_env(&format!("GIT_{who}_EMAIL"), "t@example.invalid");
    }
    home.write(".gitconfig", "[init]\n\tdefaultBranch = main\n");
    home
}

/// Runs `ez` with no stdin.
fn ez(home: &Home, args: &[&str]) -> Output {
    home.run(EZ, args)
}

/// A committed and registered repository `ws/<name>` in the home.
fn repo(home: &Home, name: &str) -> PathBuf {
    let path = home.path(format!("ws/{name}"));
    home.write(format!("ws/{name}/README.md"), "hello\n");
    let folder = path.display().to_string();
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "init"]] {
        git(home, &folder, args);
    }
    let _ = ez(home, &["add", &folder]).ok();
    path
}

/// git in a folder; its output without the last line end.
fn git(home: &Home, folder: &str, args: &[&str]) -> String {
    let all: Vec<&str> = ["-C", folder].iter().chain(args).copied().collect();
    home.run("git", &all).ok().out().trim_end().to_owned()
}

/// An enabled plugin in `sh` that asks for these hooks.
fn plugin(home: &Home, name: &str, hooks: &[&str], more: &str, body: &str) {
    let hooks: Vec<String> = hooks.iter().map(|hook| format!("{hook:?}")).collect();
    let folder = home.root().join("config/ez/plugins").join(name);
    let manifest = format!(
        "name = \"{name}\"\nversion = \"1\"\ndescription = \"\"\nhooks = [{}]\nexecutable = \"run\"\n{more}\n",
        hooks.join(", ")
    );
    home.write(folder.join("manifest.toml"), manifest);
    home.executable(folder.join("run"), &format!("#!/bin/sh\n{body}\n"));
    let _ = ez(home, &["plugin", "enable", name]).ok();
}

/// The names of a repository's sessions.
fn names(home: &Home, repo: &str) -> Vec<String> {
    let list = ez(home, &["session", "list", "-r", repo, "--json"]).ok().json();
    let list = list.as_array().cloned().unwrap_or_default();
    list.iter().map(|session| session["name"].as_str().unwrap_or_default().to_owned()).collect()
}
