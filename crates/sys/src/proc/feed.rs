//! A command that is given text on stdin, run to its end: one loop over its pipes, so that neither a command that does
//! not read nor one that writes a lot can block, and its end is noticed at once. What it leaves running is its own
//! business and delays nothing, unless the deadline passed: then the whole group goes. Unix only in substance.

use std::io::{Read, Write};
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Stdio};
use std::time::Instant;

use super::child::{Leader, Pipes};
use super::{Exit, Failure, Finished, Limits, Spec, command, refused};
use crate::clock;

/// What a fed command is given, and who hears its stderr meanwhile.
pub struct Feed<'a> {
    /// All of its stdin; a command that does not read it is fine.
    pub stdin: &'a [u8],
    /// Is given each piece of stderr as it arrives.
    pub stderr: &'a mut dyn FnMut(&[u8]),
}

/// Bytes that are still read once the command has ended; a helper that floods the pipe is not listened to for ever.
const REST: usize = 64 << 20;

/// Runs `spec` to its end within `limits` (not merged) with `feed`. Helpers that the command left in its group live on
/// after its own end, and hold nothing up; past the deadline the whole group is stopped.
///
/// # Errors
/// When it cannot be started: no such folder, not found in PATH, or refused by the system.
#[cfg(unix)]
pub fn run_fed(spec: &Spec, limits: &Limits, feed: Feed<'_>) -> Result<Finished, Failure> {
    let mut command = command(spec)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (child, pipes) = Leader::start_unwatched(command, spec)?;
    let mut open = Open::new(pipes, feed, limits.output);
    let end = limits.deadline.and_then(|deadline| clock::now().checked_add(deadline));
    let (exit, timed_out) = match end_of(&child) {
        Some(ended) => until_ended(child, spec, &mut open, &ended, end)?,
        None => watched(child, spec, &mut open, end)?,
    };
    open.drain();
    Ok(Finished { exit, stdout: open.stdout, stderr: open.stderr, timed_out, cancelled: false })
}

/// A descriptor that becomes readable when the child ends, where the system has such a thing.
#[cfg(target_os = "linux")]
fn end_of(child: &Child) -> Option<OwnedFd> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    pidfd_open(Pid::from_raw(child.id().cast_signed())?, PidfdFlags::empty()).ok()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn end_of(_: &Child) -> Option<OwnedFd> {
    None
}

/// Serves the pipes until the child ends; no other thread has to be woken for that. The exit, and whether it was late.
#[cfg(unix)]
fn until_ended(
    mut child: Child,
    spec: &Spec,
    open: &mut Open<'_>,
    ended: &OwnedFd,
    end: Option<Instant>,
) -> Result<(Exit, bool), Failure> {
    while !open.wait(ended.as_fd(), end) {
        if end.is_some_and(|end| clock::now() >= end) {
            return watched(child, spec, open, end);
        }
    }
    Ok((child.wait().map_or(Exit::Code(-1), Exit::from), false))
}

/// As [`until_ended`], with a thread that waits for the end, and stops the group when it does not come.
#[cfg(unix)]
fn watched(mut child: Child, spec: &Spec, open: &mut Open<'_>, end: Option<Instant>) -> Result<(Exit, bool), Failure> {
    let (wake, waker) = match std::io::pipe() {
        Ok(ends) => ends,
        Err(error) => {
            // Nobody could watch it.
            let _ = child.kill();
            return Err(refused(spec, &error));
        }
    };
    let (leader, exited) = Leader::watch_leaving(child, spec, waker)?;
    let mut timed_out = false;
    while !open.wait(wake.as_fd(), end) {
        if end.is_some_and(|end| clock::now() >= end) {
            timed_out = true;
            leader.terminate();
            break;
        }
    }
    Ok((exited.recv_timeout(super::GRACE).unwrap_or(Exit::Signal(9)), timed_out))
}

#[cfg(unix)]
struct Open<'a> {
    pipes: Pipes,
    feed: Feed<'a>,
    fed: usize,
    max: usize,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    chunk: Vec<u8>,
}

#[cfg(unix)]
impl<'a> Open<'a> {
    fn new(pipes: Pipes, feed: Feed<'a>, max: usize) -> Self {
        if let Some(pipe) = &pipes.stdin {
            unblocked(pipe);
        }
        if let Some(pipe) = &pipes.stdout {
            unblocked(pipe);
        }
        if let Some(pipe) = &pipes.stderr {
            unblocked(pipe);
        }
        Self { pipes, feed, fed: 0, max, stdout: Vec::new(), stderr: Vec::new(), chunk: vec![0; 16 * 1024] }
    }

    /// Waits for the next event and serves it; true when the command has ended.
    fn wait(&mut self, wake: BorrowedFd<'_>, end: Option<Instant>) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let left = end.map(|end| end.saturating_duration_since(clock::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut fds = vec![PollFd::from_borrowed_fd(wake, PollFlags::IN)];
        if let Some(pipe) = &self.pipes.stdin {
            fds.push(PollFd::new(pipe, PollFlags::OUT));
        }
        if let Some(pipe) = &self.pipes.stdout {
            fds.push(PollFd::new(pipe, PollFlags::IN));
        }
        if let Some(pipe) = &self.pipes.stderr {
            fds.push(PollFd::new(pipe, PollFlags::IN));
        }
        let woken = poll(&mut fds, left.as_ref()).is_ok() && !fds[0].revents().is_empty();
        drop(fds);
        self.write();
        self.read();
        woken
    }

    /// Writes as much as the pipe takes; closes it at the end or when nobody reads any more.
    fn write(&mut self) {
        while let Some(pipe) = &mut self.pipes.stdin {
            let rest = self.feed.stdin.get(self.fed..).unwrap_or_default();
            if rest.is_empty() {
                self.pipes.stdin = None;
                return;
            }
            match pipe.write(rest) {
                Ok(n) => self.fed += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                // A broken pipe: it does not read, which is its right.
                Err(_) => self.pipes.stdin = None,
            }
        }
    }

    /// Reads what is there; a stream that has ended is closed. The number of bytes.
    fn read(&mut self) -> usize {
        let (max, mut total) = (self.max, 0);
        let (stdout, stderr) = (&mut self.stdout, &mut self.stderr);
        let (hear, chunk) = (&mut self.feed.stderr, &mut self.chunk);
        total += available(&mut self.pipes.stdout, chunk, |bytes| keep(stdout, bytes, max));
        total += available(&mut self.pipes.stderr, chunk, |bytes| {
            keep(stderr, bytes, max);
            hear(bytes);
        });
        total
    }

    /// What the command wrote before it ended is in the pipes by now.
    fn drain(&mut self) {
        self.pipes.stdin = None;
        let mut total = 0;
        loop {
            let read = self.read();
            total += read;
            if read == 0 || total > REST {
                return;
            }
        }
    }
}

#[cfg(unix)]
fn keep(kept: &mut Vec<u8>, bytes: &[u8], max: usize) {
    let room = max.saturating_sub(kept.len()).min(bytes.len());
    kept.extend_from_slice(&bytes[..room]);
}

/// One round of reading without waiting.
#[cfg(unix)]
fn available(pipe: &mut Option<impl Read>, chunk: &mut [u8], mut take: impl FnMut(&[u8])) -> usize {
    let Some(open) = pipe else { return 0 };
    match open.read(chunk) {
        Ok(0) => {
            *pipe = None;
            0
        }
        Ok(n) => {
            take(&chunk[..n]);
            n
        }
        Err(error) if matches!(error.kind(), std::io::ErrorKind::Interrupted | std::io::ErrorKind::WouldBlock) => 0,
        Err(_) => {
            *pipe = None;
            0
        }
    }
}

#[cfg(unix)]
fn unblocked(pipe: &impl std::os::fd::AsFd) {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    // A pipe of ours always has flags; if the system says no, the loop blocks a little more.
    if let Ok(flags) = fcntl_getfl(pipe) {
        let _ = fcntl_setfl(pipe, flags | OFlags::NONBLOCK);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Env;

    #[allow(clippy::unwrap_used, reason = "a test's helper")]
    fn fed(script: &str, stdin: &[u8], deadline: Duration) -> (Finished, Vec<u8>) {
        let env: Env = [("PATH", "/usr/bin:/bin")].into_iter().collect();
        let spec = Spec { program: "sh".into(), args: vec!["-c".into(), script.into()], dir: None, env };
        let limits = Limits { deadline: Some(deadline), output: 16 << 20, merged: false };
        let mut heard = Vec::new();
        let feed = Feed { stdin, stderr: &mut |bytes| heard.extend_from_slice(bytes) };
        let finished = run_fed(&spec, &limits, feed).unwrap();
        (finished, heard)
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_large_input_comes_back_whole() {
        let input: Vec<u8> = (0..3_000_000_u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let (done, heard) = fed("cat; echo heard >&2", &input, LONG);
        assert_eq!((done.exit, done.stdout == input, heard.as_slice()), (Exit::Code(0), true, &b"heard\n"[..]));
    }

    #[test]
    fn without_a_descriptor_for_the_end_a_thread_waits_for_it() {
        let env: Env = [("PATH", "/usr/bin:/bin")].into_iter().collect();
        let spec = Spec { program: "sh".into(), args: vec!["-c".into(), "cat; exit 3".into()], dir: None, env };
        let mut command = command(&spec).unwrap();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (child, pipes) = Leader::start_unwatched(command, &spec).unwrap();
        let mut deaf = |_: &[u8]| {};
        let mut open = Open::new(pipes, Feed { stdin: b"there", stderr: &mut deaf }, 100);
        let ended = watched(child, &spec, &mut open, clock::now().checked_add(LONG)).unwrap();
        open.drain();
        assert_eq!((ended, open.stdout.as_slice()), ((Exit::Code(3), false), &b"there"[..]));
    }

    #[test]
    fn one_that_does_not_read_is_fine() {
        let (done, _) = fed("echo done", &vec![b'x'; 1 << 20], LONG);
        assert_eq!((done.exit, done.stdout.as_slice()), (Exit::Code(0), &b"done\n"[..]));
    }

    #[test]
    fn what_it_leaves_running_delays_nothing_and_lives() {
        let start = clock::now();
        let (done, _) = fed("sleep 30 & echo $!", b"", LONG);
        assert!(start.elapsed() < Duration::from_secs(5));
        let pid: i32 = String::from_utf8(done.stdout).unwrap().trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        assert!(rustix::process::kill_process(pid, rustix::process::Signal::KILL).is_ok());
    }

    #[test]
    fn the_deadline_ends_the_whole_group() {
        let (done, _) = fed("sleep 60 & echo $!; sleep 60", &vec![b'x'; 1 << 20], Duration::from_millis(300));
        assert!(done.timed_out);
        let pid = String::from_utf8(done.stdout).unwrap();
        let stat = format!("/proc/{}/stat", pid.trim());
        let until = clock::now() + Duration::from_secs(5);
        while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z")) {
            assert!(clock::now() < until, "{pid} lives");
            std::thread::yield_now();
        }
    }
}
