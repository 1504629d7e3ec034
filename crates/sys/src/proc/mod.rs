//! The only room that starts processes: run to completion, keep one alive, hand the terminal over, become
//! another program. Every child leads its own process group (but one that owns the terminal) and nothing
//! it leaves behind outlives it. It never draws and never reads the environment: callers pass an [`Env`].

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::Env;

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
    /// Bytes kept of each stream; the rest is read and thrown away.
    pub output: usize,
    /// stdout and stderr share one pipe, in the order written; all of it is in `stdout`.
    pub merged: bool,
}

/// Time between SIGTERM and SIGKILL (seed, Lifecycle: "and, 2 s later, SIGKILL").
pub const GRACE: Duration = Duration::from_secs(2);

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself with this code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
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
