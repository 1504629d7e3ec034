//! Detection on a home of one's choice, for trying the adapters against real layouts:
//! `cargo run -p agents --example detect -- HOME PATH [NAME=VALUE ...]`. It prints the JSON rows and how each agent
//! was found; programs are asked in a scratch home. Called as `detect agents --json` it takes its own environment and
//! prints the rows only, so that `cargo xtask agents --bin` can try it in the place of lazyagents.
#![allow(clippy::print_stdout, reason = "a developer's tool, it has no other way to answer")]
#![allow(clippy::disallowed_methods, reason = "it stands for the program's main: arguments, clock and processes")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use agents::{Search, VersionCache, detect_all, json};
use sys::Env;

fn main() {
    let mut args = std::env::args().skip(1).peekable();
    if args.peek().is_some_and(|first| first == "agents") {
        return rows_only();
    }
    let (home, path) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
    let mut env: Env = [("HOME", home), ("PATH", path)].into_iter().collect();
    for pair in args {
        if let Some((name, value)) = pair.split_once('=') {
            env.set(name, value);
        }
    }
    let scratch = tempfile::tempdir().ok();
    let search = Search { system: false, scratch: scratch.as_ref().map(|dir| dir.path().to_owned()) };
    let started = Instant::now();
    let agents = detect_all(&env, &search, &mut VersionCache::default(), &ask);
    let took = started.elapsed();
    println!("{}", serde_json::to_string_pretty(&json::rows(&agents)).unwrap_or_default());
    for agent in &agents {
        println!("{}: {:?} {:?}", agent.id, agent.version, agent.version_from);
        for line in agent.how.iter().chain(&agent.warnings) {
            println!("    {line}");
        }
    }
    println!("{took:?}");
}

fn rows_only() {
    let scratch = tempfile::tempdir().ok();
    let search = Search { system: false, scratch: scratch.as_ref().map(|dir| dir.path().to_owned()) };
    let agents = detect_all(&Env::from_process(), &search, &mut VersionCache::default(), &ask);
    println!("{}", serde_json::to_string(&json::rows(&agents)).unwrap_or_default());
}

/// No deadline here: whoever tries this can press ctrl+c.
fn ask(program: &Path, env: &Env) -> Option<Vec<u8>> {
    let mut command = Command::new(program);
    command.arg("--version").env_clear().envs(env.iter()).stdin(Stdio::null());
    let output = command.output().ok()?;
    Some(if output.stdout.is_empty() { output.stderr } else { output.stdout })
}
