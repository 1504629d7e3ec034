//! Tries a command of a hook as an agent would run it: a real payload on stdin, a shell, the agent's time limit, the whole
//! group stopped after it. The command does what it does: whoever calls this was told so by the person.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use sys::files::{self, Mode, TempTree};
use sys::proc::{self, Cancel, Exit, Limits, Spec};
use sys::{Env, Failure, clock};

use super::Seat;
use super::library::Hook;

/// Bytes kept of each stream.
const OUTPUT: usize = 1 << 20;

/// What is to be tried.
pub struct Trial<'a> {
    /// The hook.
    pub hook: &'a Hook,
    /// Its command, from 1.
    pub number: usize,
    /// As which agent would run it.
    pub seat: &'a Seat,
    /// The folder it is run in.
    pub cwd: PathBuf,
    /// The environment.
    pub env: &'a Env,
    /// Where a folder can be made for what the command is given; it is removed.
    pub scratch: &'a Path,
    /// Stops it before its time.
    pub cancel: &'a Cancel,
}

/// How it went.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The command, from 1.
    pub number: usize,
    /// The agent's event.
    pub event: &'static str,
    /// What was run.
    pub command: String,
    /// What it was given on stdin.
    pub payload: Value,
    /// A real program sent such a payload; else one was made up of what is common to all.
    pub seen: bool,
    /// How it ended.
    pub exit: Exit,
    /// It took longer than the agent waits, and was stopped.
    pub timed_out: bool,
    /// What it wrote.
    pub stdout: Vec<u8>,
    /// What it wrote there.
    pub stderr: Vec<u8>,
    /// How long it took.
    pub took: Duration,
    /// Seconds after which the agent stops it.
    pub limit: u64,
    /// What the agent makes of it, in words.
    pub verdict: String,
}

/// What gives the command its payload: it is read from a file, so that a command that reads nothing holds nothing up.
const GIVE: &str = r#"exec < "$1"; exec sh -c "$2""#;

/// Runs it, without a terminal; nothing that it starts outlives it.
///
/// # Errors
/// When the agent never runs that command, there is no shell, or it was cancelled.
pub fn trial(trial: &Trial<'_>) -> Result<Tried, Failure> {
    let (hook, rules) = (trial.hook, trial.seat.rules);
    let line = trial.number.checked_sub(1).and_then(|at| hook.lines.get(at));
    let line = line.ok_or_else(|| Failure::usage(format!("{} has no command {}", hook.name, trial.number)))?;
    let landing = rules
        .land(&line.event, line.matcher.as_deref())
        .map_err(|_| Failure::new(format!("{} has no event {}", trial.seat.name, sys::text::clean(&line.event))))?;
    let home = trial.env.home().unwrap_or_else(|| PathBuf::from("/"));
    let (payload, seen) = agents::hooks::sample(trial.seat.agent, landing.event, &trial.cwd, &home);
    let command = hook.command(line);
    let limit = rules.stops_after(landing.event, line.timeout);
    let mut env = trial.env.clone();
    env.set("CLAUDE_PROJECT_DIR", trial.cwd.as_os_str());
    let tree = TempTree::create(trial.scratch, "trial-")?;
    let given = tree.path().join("payload.json");
    files::write_atomic(&given, payload.to_string().as_bytes(), Mode::Private)?;
    let args = ["-c".into(), GIVE.into(), "sh".into(), given.into_os_string(), command.clone().into()];
    let spec = Spec { program: "sh".into(), args: args.to_vec(), dir: Some(trial.cwd.clone()), env };
    let limits = Limits { deadline: Some(Duration::from_secs(limit)), output: OUTPUT, merged: false };
    let begun = clock::now();
    let done = proc::run(&spec, &limits, trial.cancel)?;
    if done.cancelled {
        return Err(Failure::cancelled("the test was interrupted; what it had started is stopped"));
    }
    let took = clock::now().saturating_duration_since(begun);
    let code = match done.exit {
        _ if done.timed_out => None,
        Exit::Code(code) => Some(code),
        Exit::Signal(signal) => Some(128 + signal),
    };
    Ok(Tried {
        number: trial.number,
        event: landing.event,
        command,
        payload,
        seen,
        exit: done.exit,
        timed_out: done.timed_out,
        stdout: done.stdout,
        stderr: done.stderr,
        took,
        limit,
        verdict: rules.verdict(landing.event, code),
    })
}

/// True when `word`, the first of a command line, can be started: a path that is there, a program on PATH, something that
/// a shell knows itself. `None` when that cannot be told without running the shell.
pub(super) fn starts(word: &str, env: &Env, cwd: Option<&Path>) -> Option<bool> {
    const SHELL: [&str; 31] = [
        "!", ".", ":", "[", "[[", "alias", "case", "cd", "command", "echo", "eval", "exec", "exit", "export", "false",
        "for", "if", "printf", "pwd", "read", "return", "set", "shift", "source", "test", "trap", "true", "umask",
        "until", "while", "{",
    ];
    if SHELL.contains(&word) {
        return Some(true);
    }
    let home = env.home()?;
    let home = home.to_string_lossy();
    let word = match word.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
        _ => word.replace("${HOME}", &home).replace("$HOME", &home),
    };
    if word.contains(['$', '*', '?', '`', '{', '%']) {
        return None;
    }
    if !word.contains('/') {
        return Some(sys::proc::which(word.as_ref(), env).is_some());
    }
    let path = Path::new(&word);
    if path.is_relative() {
        return cwd.map(|cwd| cwd.join(path).exists());
    }
    Some(path.exists())
}
