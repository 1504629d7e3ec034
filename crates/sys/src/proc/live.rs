//! A process that stays: lines out of its stdout in batches, a bounded queue into its stdin, the tail of its
//! stderr. It knows no protocol; whoever owns it reads [`Live::lines`] and [`Live::exited`] and decides.
//! Nothing here ever blocks the sender.

use std::io::Read;
use std::os::fd::AsFd;
use std::process::{ChildStdin, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use rustix::event::{PollFd, PollFlags, poll};

use super::child::{Leader, locked, thread};
use super::{Exit, Failure, Spec, Stop, command, refused};

/// How long a process may use the closed stdin to end by itself before SIGTERM (clause L1: 100 to 200 ms).
const EOF_HEAD_START: Duration = Duration::from_millis(150);

/// Sizes of a [`Live`].
#[derive(Clone, Copy, Debug)]
pub struct LiveOptions {
    /// Messages that may wait for the process, on top of the kernel's pipe.
    pub queue: usize,
    /// The longest line, in bytes without the newline; a longer one ends the reading.
    pub max_line: usize,
    /// Bytes of stderr that are kept, the last ones.
    pub stderr_tail: usize,
}

/// Complete lines, in the order written.
#[derive(Debug)]
pub enum Batch {
    /// Whole lines, each ended by `\n` (the last one maybe by the end of the stream).
    Lines(Vec<u8>),
    /// A line passed [`LiveOptions::max_line`]; nothing more is delivered.
    TooLong,
    /// The stream ended.
    End,
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The queue is full: the process does not read.
    Full,
    /// stdin is closed.
    Closed,
}

/// A living process. Dropping it stops nothing; call [`Live::stop`].
#[derive(Debug)]
pub struct Live {
    leader: Leader,
    queue: Mutex<Option<Sender<Vec<u8>>>>,
    cancel_write: Mutex<Option<std::io::PipeWriter>>,
    lines: Receiver<Batch>,
    exited: Receiver<Exit>,
    /// Nobody wants the lines any more.
    muted: Arc<AtomicBool>,
    stderr: Arc<Mutex<Tail>>,
    stderr_ended: Receiver<()>,
    counters: Arc<Counters>,
}

/// What passed the pipes.
#[derive(Debug, Default)]
struct Counters {
    read: AtomicU64,
    written: AtomicU64,
}

impl Live {
    /// Starts `spec` in a group of its own with three pipes. `tee` sees all of stderr, as it comes.
    ///
    /// # Errors
    /// When it cannot be started: no such folder, not found in PATH, or refused by the system.
    pub fn start(spec: &Spec, options: LiveOptions, tee: impl FnMut(&[u8]) + Send + 'static) -> Result<Self, Failure> {
        let mut command = command(spec)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (leader, pipes, exited) = Leader::start(command, spec)?;
        let counters = Arc::new(Counters::default());
        let (queue, waiting) = bounded(options.queue);
        // Two batches wait at most: a process that floods is held back by its pipe, not by our memory.
        let (batches, lines) = bounded(2);
        let (cancelled, cancel_write) = std::io::pipe().map_err(|error| refused(spec, &error))?;
        let stderr = Arc::new(Mutex::new(Tail::new(options.stderr_tail)));
        let (ended, stderr_ended) = bounded(0);
        let muted = Arc::new(AtomicBool::new(false));
        let started = (|| {
            if let Some(stdin) = pipes.stdin {
                let counters = Arc::clone(&counters);
                thread("write", move || write(&stdin, &waiting, &cancelled, &counters))?;
            }
            if let Some(stdout) = pipes.stdout {
                let (counters, muted) = (Arc::clone(&counters), Arc::clone(&muted));
                thread("read", move || read(stdout, options.max_line, &batches, &muted, &counters))?;
            }
            if let Some(pipe) = pipes.stderr {
                let tail = Arc::clone(&stderr);
                thread("stderr", move || keep_tail(pipe, &tail, tee, ended))?;
            }
            Ok(())
        })();
        if let Err(error) = started {
            leader.signal(Stop::Kill);
            return Err(refused(spec, &error));
        }
        let (queue, cancel_write) = (Mutex::new(Some(queue)), Mutex::new(Some(cancel_write)));
        Ok(Self { leader, queue, cancel_write, lines, exited, muted, stderr, stderr_ended, counters })
    }

    /// The process id, which is also its group's.
    pub fn pid(&self) -> u32 {
        self.leader.pid()
    }

    /// Puts one line (with its `\n`) into the queue; never waits.
    ///
    /// # Errors
    /// [`Refused::Full`] when the queue is full, [`Refused::Closed`] once stdin is closed.
    pub fn send(&self, line: Vec<u8>) -> Result<(), Refused> {
        match locked(&self.queue).as_ref() {
            None => Err(Refused::Closed),
            Some(queue) => queue.try_send(line).map_err(|error| match error {
                TrySendError::Full(_) => Refused::Full,
                TrySendError::Disconnected(_) => Refused::Closed,
            }),
        }
    }

    /// Messages that wait now.
    pub fn waiting(&self) -> usize {
        locked(&self.queue).as_ref().map_or(0, Sender::len)
    }

    /// Bytes read from stdout and written to stdin so far.
    pub fn traffic(&self) -> (u64, u64) {
        (self.counters.read.load(Ordering::Relaxed), self.counters.written.load(Ordering::Relaxed))
    }

    /// Batches of stdout.
    pub fn lines(&self) -> &Receiver<Batch> {
        &self.lines
    }

    /// Gets the exit, once; what the process left in its group has been killed by then.
    pub fn exited(&self) -> &Receiver<Exit> {
        &self.exited
    }

    /// The last bytes of stderr. After an exit, waits a moment for what is still in the pipe.
    pub fn stderr_tail(&self) -> Vec<u8> {
        if self.leader.wait(Duration::ZERO).is_some() {
            let _ = self.stderr_ended.recv_timeout(Duration::from_millis(200));
        }
        locked(&self.stderr).bytes()
    }

    /// Closes stdin after what is queued has been written.
    pub fn close(&self) {
        locked(&self.queue).take();
    }

    /// The orderly stop: close stdin, a moment later SIGTERM to the group, 2 s later SIGKILL (clause L1).
    /// Blocks until it has ended.
    pub fn stop(&self) -> Exit {
        self.close();
        // A process that waits for its full stdout could not end in order: from here on it is read and thrown away.
        self.muted.store(true, Ordering::SeqCst);
        while self.lines.try_recv().is_ok() {}
        if let Some(exit) = self.leader.wait(EOF_HEAD_START) {
            return exit;
        }
        // A writer that waits for a full pipe would keep stdin open for ever.
        locked(&self.cancel_write).take();
        self.leader.terminate()
    }
}

/// Writes what is queued; ends, closing stdin, when the queue is closed and empty, when the reader is gone, or
/// when `cancelled` hangs up while the pipe is full.
fn write(stdin: &ChildStdin, waiting: &Receiver<Vec<u8>>, cancelled: &std::io::PipeReader, counters: &Counters) {
    // Only our end of the pipe becomes non-blocking; the child's end is another open file.
    if let Ok(flags) = rustix::fs::fcntl_getfl(stdin) {
        let _ = rustix::fs::fcntl_setfl(stdin, flags | rustix::fs::OFlags::NONBLOCK);
    }
    for line in waiting {
        let mut rest = line.as_slice();
        while !rest.is_empty() {
            match rustix::io::write(stdin, rest) {
                Ok(n) => {
                    counters.written.fetch_add(n as u64, Ordering::Relaxed);
                    rest = &rest[n..];
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => {
                    let mut fds = [
                        PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::OUT),
                        PollFd::from_borrowed_fd(cancelled.as_fd(), PollFlags::IN),
                    ];
                    match poll(&mut fds, None) {
                        Err(rustix::io::Errno::INTR) => {}
                        Err(_) => return,
                        Ok(_) if !fds[1].revents().is_empty() => return,
                        Ok(_) => {}
                    }
                }
                Err(_) => return,
            }
        }
    }
}

/// Splits stdout into batches of whole lines. Once nobody listens it goes on reading and throws away, so that
/// the process is not killed by SIGPIPE in the middle of its own orderly end.
fn read(mut stdout: impl Read, max_line: usize, batches: &Sender<Batch>, muted: &AtomicBool, counters: &Counters) {
    let mut buffer: Vec<u8> = Vec::new();
    let mut chunk = vec![0_u8; 64 * 1024];
    let mut listening = true;
    loop {
        let n = match stdout.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        counters.read.fetch_add(n as u64, Ordering::Relaxed);
        listening &= !muted.load(Ordering::SeqCst);
        if !listening {
            buffer = Vec::new();
            continue;
        }
        let old = buffer.len();
        buffer.extend_from_slice(&chunk[..n]);
        let Some(lines_end) = complete_lines(&buffer, old, max_line) else {
            let _ = batches.send(Batch::TooLong);
            (listening, buffer) = (false, Vec::new());
            continue;
        };
        if lines_end > 0 {
            let rest = buffer.split_off(lines_end);
            listening = batches.send(Batch::Lines(std::mem::replace(&mut buffer, rest))).is_ok();
        }
    }
    if listening && !buffer.is_empty() {
        // Clause W1: a last line without a newline is still a line.
        let _ = batches.send(Batch::Lines(buffer));
    }
    if listening {
        let _ = batches.send(Batch::End);
    }
}

/// Where the last complete line of `buffer` ends; `None` when a line is longer than `max_line`. Bytes before
/// `old` are known to hold no newline.
fn complete_lines(buffer: &[u8], old: usize, max_line: usize) -> Option<usize> {
    let (mut start, mut end) = (0, 0);
    for at in memchr::memchr_iter(b'\n', &buffer[old..]).map(|at| old + at) {
        if at - start > max_line {
            return None;
        }
        start = at + 1;
        end = start;
    }
    (buffer.len() - start <= max_line).then_some(end)
}

/// The last bytes of a stream.
#[derive(Debug)]
struct Tail {
    bytes: std::collections::VecDeque<u8>,
    max: usize,
}

impl Tail {
    fn new(max: usize) -> Self {
        Self { bytes: std::collections::VecDeque::with_capacity(max), max }
    }

    fn push(&mut self, chunk: &[u8]) {
        let chunk = &chunk[chunk.len().saturating_sub(self.max)..];
        let excess = (self.bytes.len() + chunk.len()).saturating_sub(self.max);
        self.bytes.drain(..excess);
        self.bytes.extend(chunk);
    }

    fn bytes(&self) -> Vec<u8> {
        self.bytes.iter().copied().collect()
    }
}

/// `ended` is dropped at the end of the stream, which is the signal.
fn keep_tail(mut pipe: impl Read, tail: &Mutex<Tail>, mut tee: impl FnMut(&[u8]), ended: Sender<()>) {
    let mut chunk = [0_u8; 8 * 1024];
    loop {
        match pipe.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => {
                locked(tail).push(&chunk[..n]);
                tee(&chunk[..n]);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    drop(ended);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Env;

    fn start(script: &str, queue: usize) -> Live {
        let env: Env = [("PATH", "/usr/bin:/bin")].into_iter().collect();
        let spec = Spec { program: "sh".into(), args: vec!["-c".into(), script.into()], dir: None, env };
        Live::start(&spec, LiveOptions { queue, max_line: 100, stderr_tail: 8 }, |_| {}).unwrap()
    }

    fn next(live: &Live) -> Batch {
        live.lines().recv_timeout(Duration::from_secs(10)).unwrap()
    }

    #[test]
    fn lines_go_in_and_come_out_and_eof_ends_it() {
        let live = start("while read x; do echo got $x; done; printf last; exit 3", 4);
        live.send(b"one\n".to_vec()).unwrap();
        assert!(matches!(next(&live), Batch::Lines(l) if l == b"got one\n"));
        live.close();
        assert!(matches!(next(&live), Batch::Lines(l) if l == b"last"));
        assert!(matches!(next(&live), Batch::End));
        assert_eq!(live.exited().recv().unwrap(), Exit::Code(3));
        assert_eq!(live.send(Vec::new()), Err(Refused::Closed));
    }

    #[test]
    fn a_full_queue_refuses_and_stop_still_ends_it() {
        let live = start("exec sleep 60", 4);
        let big = vec![b'x'; 100_000];
        let refused = (0..100).find_map(|_| live.send(big.clone()).err());
        assert_eq!(refused, Some(Refused::Full));
        assert_eq!(live.stop(), Exit::Signal(15));
    }

    #[test]
    fn a_process_that_floods_can_still_end_in_order() {
        let live = start("trap 'exit 7' TERM; while :; do echo yes; done", 4);
        // Once both batches wait the process is blocked in its full pipe.
        let until = crate::clock::now() + Duration::from_secs(10);
        while live.lines().len() < 2 && crate::clock::now() < until {
            std::thread::yield_now();
        }
        assert_eq!(live.stop(), Exit::Code(7));
    }

    #[test]
    fn only_the_tail_of_stderr_is_kept() {
        let live = start("printf 0123456789abcdef >&2", 1);
        live.exited().recv().unwrap();
        assert_eq!(live.stderr_tail(), b"89abcdef");
    }

    #[test]
    fn a_line_may_have_exactly_the_limit() {
        assert_eq!(complete_lines(b"abc\n", 0, 3), Some(4));
        assert_eq!(complete_lines(b"abcd\n", 0, 3), None);
        assert_eq!(complete_lines(b"a\nabc", 0, 3), Some(2));
        assert_eq!(complete_lines(b"a\nabcd", 0, 3), None);
        let live = start("printf '%0101d' 1; sleep 60", 1);
        assert!(matches!(next(&live), Batch::TooLong));
        live.stop();
    }
}
