//! One child that leads its own process group, watched by a thread of its own. It kills what the child leaves
//! in the group before the child is reaped, so that the group's number cannot belong to anyone else meanwhile.
//! Only the rooms of `proc` call it.

use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded};

use super::{Exit, Failure, GRACE, Spec, refused};
use crate::clock;

/// The two signals of a stop (seed, Lifecycle).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
    /// SIGHUP: the terminal goes away.
    Hangup,
}

/// A running group leader. Clones share it.
#[derive(Clone, Debug)]
pub(super) struct Leader {
    pid: u32,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Debug, Default)]
struct State {
    exit: Option<Exit>,
    /// What the leader leaves in the group lives on; taken back when it is told to stop.
    leave: bool,
}

/// A poisoned lock only means that another thread panicked while it held plain data; the data is still whole.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a thread whose failure to start is an error, not a panic. Stacks are small: these threads only move bytes.
pub(super) fn thread(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(256 * 1024).spawn(body).map(drop)
}

/// Spawns `command`, trying again for a moment while the file is still being written by somebody (ETXTBSY).
pub(super) fn spawn(command: &mut Command, spec: &Spec) -> Result<Child, Failure> {
    let mut tries = 0;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy && tries < 5 => {
                tries += 1;
                let _ = crossbeam_channel::after(Duration::from_millis(20)).recv();
            }
            Err(error) => return Err(refused(spec, &error)),
            Ok(child) => return Ok(child),
        }
    }
}

/// Makes the child the leader of a new session, and so of a new group: it has no controlling terminal then.
#[cfg(unix)]
#[allow(unsafe_code, reason = "std has no stable way to call setsid(2) between fork and exec")]
fn own_session(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: the closure runs in the forked child and makes one system call, which is async-signal-safe; it
    // allocates nothing and touches no lock.
    unsafe {
        command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into));
    }
}

impl Leader {
    /// Puts `command` at the head of a new group and starts it. The receiver gets the exit once.
    pub(super) fn start(command: Command, spec: &Spec) -> Result<(Self, Pipes, Receiver<Exit>), Failure> {
        Self::start_with(command, spec, false)
    }

    /// As [`Leader::start`], but in a session of its own, so that it has no terminal (seed, doctor; clause E7).
    pub(super) fn start_alone(command: Command, spec: &Spec) -> Result<(Self, Pipes, Receiver<Exit>), Failure> {
        Self::start_with(command, spec, true)
    }

    /// Puts `command` at the head of a new group and starts it, without a thread that watches it.
    #[cfg(unix)]
    pub(super) fn start_unwatched(mut command: Command, spec: &Spec) -> Result<(Child, Pipes), Failure> {
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = spawn(&mut command, spec)?;
        let pipes = Pipes::of(&mut child);
        Ok((child, pipes))
    }

    /// Watches a group leader from now on. What it leaves in its group when it ends by itself lives on. `waker` is closed
    /// once the exit is known.
    #[cfg(unix)]
    pub(super) fn watch_leaving(
        child: Child,
        spec: &Spec,
        waker: std::io::PipeWriter,
    ) -> Result<(Self, Receiver<Exit>), Failure> {
        Self::watch(child, spec, true, Some(waker))
    }

    fn start_with(mut command: Command, spec: &Spec, session: bool) -> Result<(Self, Pipes, Receiver<Exit>), Failure> {
        #[cfg(unix)]
        if session {
            own_session(&mut command);
        } else {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        let mut child = spawn(&mut command, spec)?;
        let pipes = Pipes::of(&mut child);
        let (leader, exited) = Self::watch(child, spec, false, None)?;
        Ok((leader, pipes, exited))
    }

    fn watch(
        mut child: Child,
        spec: &Spec,
        leave: bool,
        waker: Option<std::io::PipeWriter>,
    ) -> Result<(Self, Receiver<Exit>), Failure> {
        let leader = Self { pid: child.id(), state: Arc::default() };
        locked(&leader.state.0).leave = leave;
        let (sender, receiver) = bounded(1);
        let watched = leader.clone();
        let started = thread("watch", move || {
            let exit = watched.reap(&mut child);
            // The receiver may be gone; the state holds the exit for everybody else.
            let _ = sender.send(exit);
            drop(waker);
        });
        match started {
            Ok(()) => Ok((leader, receiver)),
            Err(error) => {
                leader.signal(Stop::Kill);
                Err(refused(spec, &error))
            }
        }
    }

    /// The process id, which is also the group's.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits without reaping, ends the rest of the group, then reaps.
    fn reap(&self, child: &mut Child) -> Exit {
        #[cfg(unix)]
        if let Some(pid) = rustix::process::Pid::from_raw(self.pid.cast_signed()) {
            use rustix::process::{WaitId, WaitIdOptions, waitid};
            while let Err(rustix::io::Errno::INTR) =
                waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            {}
        }
        let mut state = None;
        if cfg!(unix) {
            // Held until the exit is stored: no signal may go to a group that has been reaped.
            let guard = locked(&self.state.0);
            if !guard.leave {
                self.send(Stop::Kill);
            }
            state = Some(guard);
        }
        let exit = child.wait().map_or(Exit::Code(-1), Exit::from);
        let mut state = state.unwrap_or_else(|| locked(&self.state.0));
        state.exit = Some(exit);
        drop(state);
        self.state.1.notify_all();
        exit
    }

    /// Sends to the whole group, unless it has ended.
    pub(super) fn signal(&self, stop: Stop) {
        let state = locked(&self.state.0);
        if state.exit.is_none() {
            self.send(stop);
        }
    }

    #[cfg(unix)]
    fn send(&self, stop: Stop) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = match stop {
            Stop::Term => Signal::TERM,
            Stop::Kill => Signal::KILL,
            Stop::Hangup => Signal::HUP,
        };
        if let Some(pid) = Pid::from_raw(self.pid.cast_signed()) {
            // Nobody left to signal is fine.
            let _ = kill_process_group(pid, signal);
        }
    }

    #[cfg(not(unix))]
    fn send(&self, _stop: Stop) {}

    /// The exit, if it comes within `wait`.
    pub(super) fn wait(&self, wait: Duration) -> Option<Exit> {
        let until = clock::now() + wait;
        let mut state = locked(&self.state.0);
        loop {
            if state.exit.is_some() {
                return state.exit;
            }
            let left = until.saturating_duration_since(clock::now());
            if left.is_zero() {
                return None;
            }
            state = self.state.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// SIGTERM to the group, [`GRACE`] later SIGKILL. Returns once the leader has ended; a process that even
    /// SIGKILL does not end (stuck in the kernel) is given up after another second.
    pub(super) fn terminate(&self) -> Exit {
        locked(&self.state.0).leave = false;
        self.signal(Stop::Term);
        if let Some(exit) = self.wait(GRACE) {
            return exit;
        }
        self.signal(Stop::Kill);
        self.wait(Duration::from_secs(1)).unwrap_or(Exit::Signal(9))
    }
}

/// The pipe ends of a started child.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: Option<std::process::ChildStdin>,
    pub(super) stdout: Option<std::process::ChildStdout>,
    pub(super) stderr: Option<std::process::ChildStderr>,
}

impl Pipes {
    fn of(child: &mut Child) -> Self {
        Self { stdin: child.stdin.take(), stdout: child.stdout.take(), stderr: child.stderr.take() }
    }
}
