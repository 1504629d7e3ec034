//! The only room that starts processes: run to completion, keep one alive, hand the terminal over, become
//! another program. Every child leads its own process group (but one that owns the terminal) and nothing
//! it leaves in that group outlives it. It never draws and never reads the environment: callers pass an [`Env`].

mod child;
mod feed;
mod live;
mod run;
mod terminal;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};

pub use child::Stop;
pub use feed::Feed;
#[cfg(unix)]
pub use feed::run_fed;
pub use live::{Batch, Live, LiveOptions, Refused};
pub use run::run;
pub use terminal::{HandOver, hand_over, hand_over_fed, lend_terminal, replace};

use crate::{Env, Failure, failure};

/// What to start. The environment is exactly `env`, nothing is inherited.
#[derive(Clone, Debug)]
pub struct Spec {
    /// A path, or a bare name that is looked up in `env`'s PATH.
    pub program: OsString,
    /// The arguments, verbatim, without the program's name.
    pub args: Vec<OsString>,
    /// The working folder; `None` is this process' own.
    pub dir: Option<PathBuf>,
    /// The whole environment of the child.
    pub env: Env,
}

/// Bounds of a [`run`].
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// After this the whole group gets SIGTERM, and SIGKILL [`GRACE`] later.
    pub deadline: Option<Duration>,
    /// Bytes kept of each stream; the rest is read and thrown away, so that the command is not disturbed.
    pub output: usize,
    /// stdout and stderr share one pipe, in the order written; all of it is in `stdout`.
    pub merged: bool,
}

/// Time between SIGTERM and SIGKILL (seed, Lifecycle: "and, 2 s later, SIGKILL").
pub const GRACE: Duration = Duration::from_secs(2);

/// How long helpers that hold a finished command's pipes may delay its result (clauses E9, O3).
pub const HELD_PIPE: Duration = Duration::from_secs(2);

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

impl Exit {
    /// True for code 0.
    pub fn ok(self) -> bool {
        self == Self::Code(0)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => match signal_name(*signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(signal);
        }
        Self::Code(status.code().unwrap_or(-1))
    }
}

/// The signals a person meets, by number (POSIX, Linux numbering).
fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return None,
    })
}

/// What a finished [`run`] left.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// The first [`Limits::output`] bytes.
    pub stdout: Vec<u8>,
    /// The first [`Limits::output`] bytes; empty when merged.
    pub stderr: Vec<u8>,
    /// The deadline passed and it was stopped.
    pub timed_out: bool,
    /// It was cancelled by [`Cancel`] and stopped.
    pub cancelled: bool,
}

/// Something that can be cancelled looks at this; see [`cancel_pair`].
#[derive(Clone, Debug)]
pub struct Cancel(Receiver<()>);

/// Dropping this cancels.
#[derive(Debug)]
pub struct CancelHandle(#[allow(dead_code, reason = "held for its drop")] Sender<()>);

impl Cancel {
    /// A cancellation that never comes.
    pub fn never() -> Self {
        Self(crossbeam_channel::never())
    }

    /// What to select on: it is disconnected by the cancellation.
    pub fn receiver(&self) -> &Receiver<()> {
        &self.0
    }
}

/// For [`hand_over`]: nobody asks us to end.
pub fn never() -> Receiver<()> {
    crossbeam_channel::never()
}

/// A handle and what it cancels.
pub fn cancel_pair() -> (CancelHandle, Cancel) {
    let (sender, receiver) = crossbeam_channel::bounded(0);
    (CancelHandle(sender), Cancel(receiver))
}

/// The file that `program` names: a path as it is, a bare name by the PATH of `env` (clause E3).
pub fn which(program: &OsStr, env: &Env) -> Option<PathBuf> {
    if program.is_empty() {
        return None;
    }
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(program));
    }
    env.path_dirs().into_iter().map(|dir| dir.join(program)).find(|path| is_executable(path))
}

/// A regular file, after following links, with any execute bit (clause D2).
pub fn is_executable(path: &Path) -> bool {
    let Ok(meta) = std::fs::metadata(path) else { return false };
    if !meta.is_file() {
        return false;
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0
    }
    #[cfg(not(unix))]
    {
        path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("exe"))
    }
}

/// The command of `spec`, with the program resolved and the folder checked, so that each of the three ways to
/// fail has its own words.
#[allow(clippy::disallowed_methods, reason = "this is the door")]
fn command(spec: &Spec) -> Result<Command, Failure> {
    let name = spec.program.to_string_lossy().into_owned();
    if let Some(dir) = &spec.dir
        && !dir.is_dir()
    {
        return Err(Failure::new(format!("could not start {name}: there is no folder {}", dir.display())));
    }
    let Some(program) = which(&spec.program, &spec.env) else {
        return Err(Failure::new(format!("could not start {name}: not found in PATH")));
    };
    let mut command = Command::new(program);
    command.args(&spec.args).env_clear().envs(spec.env.iter());
    if let Some(dir) = &spec.dir {
        command.current_dir(dir);
    }
    Ok(command)
}

/// The words for a spawn that the system refused.
fn refused(spec: &Spec, error: &std::io::Error) -> Failure {
    let failure = Failure::new(format!("could not start {}", spec.program.to_string_lossy()));
    // The system says the same of a missing file and of a script whose interpreter is missing.
    if error.kind() == std::io::ErrorKind::NotFound && Path::new(&spec.program).is_file() {
        return failure.cause("the program that its first line names is not there");
    }
    failure.cause(failure::plain(error))
}
