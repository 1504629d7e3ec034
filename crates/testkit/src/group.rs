//! How processes end, and ending those that a test started: a group, or everything in a session. It never touches a
//! process that the harness did not start. `output`, `pty` and tests that look for leftovers may call it.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Not at all: it was stopped at the deadline.
    Deadline,
}

impl Exit {
    /// The code of a program that ended by itself; `None` for the other two.
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) | Self::Deadline => None,
        }
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Deadline,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "{code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Deadline => write!(f, "stopped at the deadline"),
        }
    }
}

/// True while the process runs; a zombie counts as gone, because it can do nothing any more.
pub fn alive(pid: u32) -> bool {
    match stat_field(pid, 0) {
        Some(state) => state != "Z" && state != "X",
        // No /proc (macOS): ask the kernel whether the number is taken.
        None => !proc_is_there() && to_pid(pid).is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok()),
    }
}

/// The living processes of the session that `leader` leads, itself included. Empty where there is no /proc.
pub fn session_members(leader: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| stat_field(*pid, 3).is_some_and(|session| session == leader.to_string()) && alive(*pid))
        .collect()
}

/// SIGKILL to a whole process group; one that is empty already is fine.
pub(crate) fn kill_group(leader: u32) {
    if let Some(pid) = to_pid(leader) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// SIGKILL to every process of a session, whatever its group.
pub(crate) fn kill_session(leader: u32) {
    for member in session_members(leader) {
        if let Some(pid) = to_pid(member) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn to_pid(pid: u32) -> Option<Pid> {
    // 0 would be our own group.
    i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw)
}

fn proc_is_there() -> bool {
    std::path::Path::new("/proc/self/stat").exists()
}

/// Field `n` of /proc/<pid>/stat, counted from the state. The name before it may hold blanks and brackets.
fn stat_field(pid: u32, n: usize) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after) = stat.rsplit_once(") ")?;
    after.split_ascii_whitespace().nth(n).map(str::to_owned)
}
