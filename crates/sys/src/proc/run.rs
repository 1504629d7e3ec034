//! A command run to its end, with a deadline, bounded output and its whole group stopped. stdin is the null
//! device and there is no terminal, not even behind /dev/tty. Blocks the calling thread; callers give it one of its own.

use std::io::Read;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, after, bounded, never, select};

use super::child::{Leader, locked, thread};
use super::{Cancel, Failure, Finished, HELD_PIPE, Limits, Spec, command, refused};
use crate::clock;

/// Runs `spec` to its end within `limits`, or until `cancel`.
///
/// What the command leaves in its process group is killed once it has exited; a helper outside the group that
/// holds a pipe delays the result by at most [`HELD_PIPE`] (seed, Lifecycle; clauses E1 to E9, O3, O5).
///
/// # Errors
/// When it cannot be started: no such folder, not found in PATH, or refused by the system.
pub fn run(spec: &Spec, limits: &Limits, cancel: &Cancel) -> Result<Finished, Failure> {
    let mut command = command(spec)?;
    command.stdin(Stdio::null());
    let mut merged = None;
    if limits.merged {
        let (reader, writer) = std::io::pipe().map_err(|error| refused(spec, &error))?;
        let twin = writer.try_clone().map_err(|error| refused(spec, &error))?;
        command.stdout(writer).stderr(twin);
        merged = Some(reader);
    } else {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
    }
    // `command` owns the pipe's write ends: it is consumed here, so that only the child holds them.
    let (leader, pipes, exited) = Leader::start_alone(command, spec)?;
    let out = match (merged, pipes.stdout) {
        (Some(reader), _) => Capture::start(reader, limits.output),
        (None, Some(reader)) => Capture::start(reader, limits.output),
        (None, None) => Capture::empty(),
    };
    let err = pipes.stderr.map_or_else(Capture::empty, |reader| Capture::start(reader, limits.output));

    let deadline = limits.deadline.map_or_else(never, after);
    let (mut timed_out, mut cancelled) = (false, false);
    let exit = select! {
        recv(exited) -> exit => exit.unwrap_or(super::Exit::Code(-1)),
        recv(deadline) -> _ => { timed_out = true; leader.terminate() }
        recv(cancel.0) -> _ => { cancelled = true; leader.terminate() }
    };
    let until = clock::now() + HELD_PIPE;
    Ok(Finished { exit, stdout: out.take(until), stderr: err.take(until), timed_out, cancelled })
}

/// The first bytes of a stream, read by a thread of its own; the rest is thrown away.
struct Capture {
    bytes: Arc<Mutex<Vec<u8>>>,
    done: Receiver<()>,
}

impl Capture {
    fn empty() -> Self {
        Self { bytes: Arc::default(), done: bounded(0).1 }
    }

    fn start(reader: impl Read + Send + 'static, max: usize) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (ended, done) = bounded(0);
        let kept = Arc::clone(&bytes);
        // Without a thread the stream is closed at once and the capture is empty; the command still runs.
        let _ = thread("capture", move || capture(reader, max, &kept, ended));
        Self { bytes, done }
    }

    /// What was captured, as soon as the stream has ended, at the latest at `until`.
    fn take(self, until: std::time::Instant) -> Vec<u8> {
        // Only ever disconnected: that is the end of the stream.
        let _ = self.done.recv_deadline(until);
        std::mem::take(&mut *locked(&self.bytes))
    }
}

/// Reads to the end; `ended` is dropped then, which is the signal.
fn capture(mut reader: impl Read, max: usize, kept: &Mutex<Vec<u8>>, ended: Sender<()>) {
    let mut chunk = [0_u8; 16 * 1024];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => {
                let mut kept = locked(kept);
                let room = max.saturating_sub(kept.len()).min(n);
                kept.extend_from_slice(&chunk[..room]);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    drop(ended);
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use super::super::{Exit, cancel_pair};
    use super::*;
    use crate::Env;

    fn sh(script: &str) -> Spec {
        let env: Env = [("PATH", "/usr/bin:/bin"), ("GIVEN", "yes")].into_iter().collect();
        Spec { program: "sh".into(), args: vec!["-c".into(), script.into()], dir: None, env }
    }

    fn limits() -> Limits {
        Limits { deadline: Some(Duration::from_secs(20)), output: 1 << 20, merged: false }
    }

    #[test]
    fn both_streams_the_code_and_only_the_given_environment() {
        let done = run(&sh("printf out; printf err >&2; printf \"$GIVEN$HOME\"; exit 7"), &limits(), &Cancel::never());
        let done = done.unwrap();
        assert_eq!(done.exit, Exit::Code(7));
        assert_eq!((done.stdout.as_slice(), done.stderr.as_slice()), (&b"outyes"[..], &b"err"[..]));
    }

    #[test]
    fn output_beyond_the_limit_is_read_and_thrown_away() {
        let done =
            run(&sh("yes | head -c 3000000; echo end >&2"), &Limits { output: 1000, ..limits() }, &Cancel::never());
        let done = done.unwrap();
        assert_eq!((done.exit, done.stdout.len(), done.stderr.as_slice()), (Exit::Code(0), 1000, &b"end\n"[..]));
    }

    #[test]
    fn merged_output_keeps_the_order() {
        let done = run(&sh("printf 1; printf 2 >&2; printf 3"), &Limits { merged: true, ..limits() }, &Cancel::never());
        assert_eq!(done.unwrap().stdout, b"123");
    }

    #[test]
    fn what_it_leaves_in_its_group_is_killed_and_does_not_delay() {
        let start = clock::now();
        let done = run(&sh("sleep 60 & echo $!"), &limits(), &Cancel::never()).unwrap();
        assert!(start.elapsed() < Duration::from_secs(10));
        let pid = String::from_utf8(done.stdout).unwrap();
        let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
        let gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat", pid = pid.as_raw_nonzero()));
            stat.map_or(true, |stat| stat.contains(") Z"))
        };
        let until = clock::now() + Duration::from_secs(5);
        while !gone() && clock::now() < until {
            std::thread::yield_now();
        }
        assert!(gone());
    }

    #[test]
    fn a_helper_outside_the_group_that_holds_both_pipes_delays_by_two_seconds_at_most() {
        let start = clock::now();
        let done = run(&sh("setsid sleep 20 & echo hi; exit 4"), &limits(), &Cancel::never()).unwrap();
        assert_eq!((done.exit, done.stdout.as_slice()), (Exit::Code(4), &b"hi\n"[..]));
        assert!(start.elapsed() < Duration::from_secs(4));
    }

    #[test]
    fn a_deadline_and_a_cancel_stop_a_command_that_ignores_sigterm() {
        let stubborn = sh("trap '' TERM; echo ready; while :; do sleep 1; done");
        let short = Limits { deadline: Some(Duration::from_millis(300)), ..limits() };
        let done = run(&stubborn, &short, &Cancel::never()).unwrap();
        assert!(done.timed_out && !done.cancelled);
        assert_eq!((done.exit, done.stdout.as_slice()), (Exit::Signal(9), &b"ready\n"[..]));
        let (handle, cancel) = cancel_pair();
        drop(handle);
        let done = run(&sh("sleep 60"), &limits(), &cancel).unwrap();
        assert!(done.cancelled && done.exit == Exit::Signal(15));
    }

    #[test]
    fn each_way_not_to_start_has_its_words() {
        let mut spec = sh("");
        spec.program = "no-such-program".into();
        let why = |spec: &Spec| run(spec, &limits(), &Cancel::never()).unwrap_err().to_string();
        assert_eq!(why(&spec), "could not start no-such-program: not found in PATH");
        let mut spec = sh("");
        spec.dir = Some("/no/such/folder".into());
        assert_eq!(why(&spec), "could not start sh: there is no folder /no/such/folder");
    }
}
