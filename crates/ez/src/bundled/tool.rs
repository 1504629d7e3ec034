//! Running another program for a plugin: bounded, with a deadline, its words in the failure. Nothing here goes through a
//! shell, and a program that is not installed has its own failure, so that a plugin can do without it where it may.
//! All three plugins call it.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use sys::proc::{Cancel, Finished, Limits, Spec, run, which};
use sys::{Env, Failure, text};

/// Bytes kept of what a program prints.
const OUTPUT: usize = 16 << 20;

/// Lines of a program's stderr that a failure quotes, the last ones.
const QUOTED: usize = 6;

/// The variables that tell git where a repository is, and what a running git hands down to its hooks
/// (`git rev-parse --local-env-vars`, less the settings a person may have put there).
pub(crate) const GIT_LOCATION: [&str; 14] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_QUARANTINE_PATH",
];

/// A program, its environment, and how long it may take.
#[derive(Debug)]
pub(crate) struct Tool {
    program: OsString,
    env: Env,
    deadline: Duration,
}

impl Tool {
    /// `program` by the PATH of `env`. It gets two seconds less than the plugin has (`EZ_PLUGIN_TIMEOUT`, else the 30
    /// seconds of the seed): it runs in a process group of its own, so it must be stopped by us, before we are.
    pub(crate) fn new(program: &str, env: &Env) -> Self {
        Self::program(program.as_ref(), env)
    }

    /// As [`Tool::new`]; the program may be a path.
    pub(crate) fn program(program: &OsStr, env: &Env) -> Self {
        let whole = env.text("EZ_PLUGIN_TIMEOUT").and_then(|text| text.parse::<u64>().ok()).unwrap_or(30);
        Self {
            program: program.to_owned(),
            env: env.clone(),
            deadline: Duration::from_secs(whole.saturating_sub(2).max(1)),
        }
    }

    /// The environment, to be changed before the first call.
    pub(crate) fn env(&mut self) -> &mut Env {
        &mut self.env
    }

    /// True when the program is there.
    pub(crate) fn is_there(&self) -> bool {
        which(&self.program, &self.env).is_some()
    }

    /// Runs it to its end; a status other than 0 is the caller's to judge.
    pub(crate) fn call(&self, dir: Option<&Path>, args: &[&OsStr]) -> Result<Finished, Failure> {
        let spec = Spec {
            program: self.program.clone(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            dir: dir.map(Path::to_path_buf),
            env: self.env.clone(),
        };
        let limits = Limits { deadline: Some(self.deadline), output: OUTPUT, merged: false };
        let done = run(&spec, &limits, &Cancel::never())?;
        if done.timed_out {
            let what = args.iter().map(|arg| arg.to_string_lossy()).find(|arg| !arg.starts_with('-'));
            let seconds = self.deadline.as_secs();
            return Err(Failure::new(format!("{} {} was stopped", self.program.display(), what.unwrap_or_default()))
                .cause(format!("it had not ended after {seconds} s")));
        }
        Ok(done)
    }

    /// Runs it to its end; `what` ("make the worktree /x") names the failure when the status is not 0.
    pub(crate) fn must(&self, what: &str, dir: Option<&Path>, args: &[&OsStr]) -> Result<Vec<u8>, Failure> {
        let done = self.call(dir, args)?;
        if done.exit.ok() {
            Ok(done.stdout)
        } else {
            Err(Failure::new(format!("could not {what}")).cause(words(&done)))
        }
    }
}

/// What a program said about its failure: the end of its stderr, or how it ended.
pub(crate) fn words(done: &Finished) -> String {
    let said = text::clean_lines(&String::from_utf8_lossy(&done.stderr));
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.len() {
        0 => done.exit.to_string(),
        n => lines[n.saturating_sub(QUOTED)..].join("\n"),
    }
}

/// A message for the person; ez shows a plugin's stderr line by line.
pub(crate) fn say(message: &str) {
    // Nobody to read it is no reason to fail.
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Arguments of several kinds as one list.
macro_rules! args {
    ($($arg:expr),* $(,)?) => { [$(std::ffi::OsStr::new($arg)),*] };
}
pub(crate) use args;
