//! The input thread: reads the terminal, decodes, delivers. It can be paused, so that a child may own the
//! terminal, and it wakes up for nothing but input. It never draws and never decides; the loops of both
//! programs start it and take what it delivers.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::input::{Decoder, Input};

/// How much one read takes at most, in bytes.
const CHUNK: usize = 64 * 1024;
/// A read of this many bytes or more may have been cut by the kernel's buffer rather than by the terminal.
const LARGE: usize = 1024;
/// How long an unfinished sequence waits for its rest.
const REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// How long a paste may stand still before it counts as ended.
const PASTE_REST: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
/// How long an ESC at the end of a read waits for the rest of a sequence; nobody types so fast.
const ESC_REST: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// What the thread is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Read,
    Pause,
    Stop,
}

/// What the thread is doing. Only in `Reading` it may touch the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Reading,
    /// In the receiver's hands, perhaps for long: its queue may be full.
    Delivering,
    Paused,
    Ended,
}

/// What the thread and its owner share.
#[derive(Debug)]
struct Shared {
    state: Mutex<(Wish, Doing)>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, (Wish, Doing)> {
        // The pair is whole at every instant, so a panic elsewhere spoils nothing.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Called by the thread before it touches the terminal: waits while paused; false when it should end.
    fn may_read(&self) -> bool {
        let mut state = self.lock();
        while state.0 == Wish::Pause {
            self.become_(&mut state, Doing::Paused);
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let go_on = state.0 == Wish::Read;
        self.become_(&mut state, if go_on { Doing::Reading } else { Doing::Ended });
        go_on
    }

    fn become_(&self, state: &mut MutexGuard<'_, (Wish, Doing)>, doing: Doing) {
        if state.1 != doing {
            state.1 = doing;
            self.changed.notify_all();
        }
    }

    fn set(&self, doing: Doing) {
        self.become_(&mut self.lock(), doing);
    }
}

/// Says that the thread has ended, however it ended.
struct EndMark(Arc<Shared>);

impl Drop for EndMark {
    fn drop(&mut self) {
        self.0.set(Doing::Ended);
    }
}

/// The running input thread. Dropping it stops it.
#[derive(Debug)]
pub struct Reader {
    shared: Arc<Shared>,
    wake: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Reader {
    /// Starts reading `tty`. `deliver` is called on the reader's thread for each input, in order, and says
    /// whether anyone still listens; it may block (a full queue), which holds the terminal's input back and
    /// nothing else. The last input is [`Input::Closed`], when the terminal is gone.
    ///
    /// # Errors
    /// When the system has no pipe or thread left.
    pub fn start(tty: OwnedFd, deliver: impl FnMut(Input) -> bool + Send + 'static) -> io::Result<Self> {
        let (woken, wake) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let shared = Arc::new(Shared { state: Mutex::new((Wish::Read, Doing::Reading)), changed: Condvar::new() });
        let work =
            Work { tty, woken, shared: Arc::clone(&shared), decoder: Decoder::new(), chunk: vec![0; CHUNK], deliver };
        let thread = std::thread::Builder::new().name("input".to_owned()).spawn(move || work.run())?;
        Ok(Self { shared, wake, thread: Some(thread) })
    }

    /// Stops reading. Once this returns the terminal's bytes are whoever's reads them; bytes read but not yet
    /// decoded are kept. Never waits for `deliver`.
    pub fn pause(&self) {
        let mut state = self.wish(Wish::Pause);
        while state.1 == Doing::Reading {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads again after [`Reader::pause`].
    pub fn resume(&self) {
        drop(self.wish(Wish::Read));
    }

    fn wish(&self, wish: Wish) -> MutexGuard<'_, (Wish, Doing)> {
        let mut state = self.shared.lock();
        state.0 = wish;
        self.shared.changed.notify_all();
        // A full pipe already wakes it; a closed one means it has ended.
        let _ = rustix::io::write(&self.wake, &[0]);
        state
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.wish(Wish::Stop);
        while matches!(state.1, Doing::Reading | Doing::Paused) {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let blocked = state.1 == Doing::Delivering;
        drop(state);
        // A thread in `deliver` may wait for the very thread that drops us; it ends by itself once it is back.
        if let Some(thread) = self.thread.take().filter(|_| !blocked) {
            let _ = thread.join();
        }
    }
}

/// The terminal to read: standard input if it is one, else the controlling terminal (input was piped in).
/// The descriptor shares its state with standard input, so it is never made non-blocking.
///
/// # Errors
/// When there is no terminal at all.
pub fn open_tty() -> io::Result<OwnedFd> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return stdin.as_fd().try_clone_to_owned();
    }
    // macOS cannot poll this device; there a terminal on standard input is the only way.
    Ok(OpenOptions::new().read(true).write(true).open("/dev/tty")?.into())
}

/// What a wait ended with.
enum Woke {
    /// Bytes, or the terminal's end, are there to be read.
    Ready,
    /// The time an unfinished sequence or paste had is over.
    Silence,
    /// The owner wants something.
    Called,
    /// The terminal is gone.
    Gone,
}

/// The thread's own side.
struct Work<D> {
    tty: OwnedFd,
    woken: OwnedFd,
    shared: Arc<Shared>,
    decoder: Decoder,
    chunk: Vec<u8>,
    deliver: D,
}

impl<D: FnMut(Input) -> bool> Work<D> {
    fn run(mut self) {
        let _mark = EndMark(Arc::clone(&self.shared));
        let mut inputs = Vec::new();
        while self.shared.may_read() {
            let open = match self.wait() {
                Woke::Called => continue,
                Woke::Ready => self.read(&mut inputs),
                Woke::Gone => false,
                Woke::Silence => {
                    self.decoder.flush(&mut inputs);
                    self.decoder.flush_paste(&mut inputs);
                    true
                }
            };
            if !open {
                self.decoder.flush(&mut inputs);
                self.decoder.flush_paste(&mut inputs);
                inputs.push(Input::Closed);
            }
            // From here on the terminal is not touched until may_read() says so.
            self.shared.set(Doing::Delivering);
            for input in inputs.drain(..) {
                if !(self.deliver)(input) {
                    return;
                }
            }
            if !open {
                return;
            }
        }
    }

    /// Sleeps until there is something to do; without an unfinished sequence there is no time-out, so that an
    /// idle program does not wake up at all (public report F9).
    fn wait(&self) -> Woke {
        let limit = match (self.decoder.pending(), self.decoder.pasting()) {
            (true, _) => Some(&REST),
            (_, true) => Some(&PASTE_REST),
            _ => None,
        };
        let mut fds = [PollFd::new(&self.woken, PollFlags::IN), PollFd::new(&self.tty, PollFlags::IN)];
        match poll(&mut fds, limit) {
            Ok(0) => return Woke::Silence,
            Ok(_) => {}
            Err(Errno::INTR | Errno::AGAIN) => return Woke::Called,
            Err(_) => return Woke::Gone,
        }
        let [called, tty] = [fds[0].revents(), fds[1].revents()];
        if !called.is_empty() {
            let mut sink = [0; 64];
            let _ = rustix::io::read(&self.woken, &mut sink);
            return Woke::Called;
        }
        // POLLHUP may come with bytes still to read; the read after them tells.
        if tty.contains(PollFlags::IN) { Woke::Ready } else { Woke::Gone }
    }

    /// One read and what it decodes to; false when the terminal is gone.
    fn read(&mut self, inputs: &mut Vec<Input>) -> bool {
        let Some(mut length) = self.read_at(0) else { return false };
        // An ESC at the very end may be a sequence that was cut on its way: it waits a moment for what only a
        // terminal sends so soon. An ESC and a key that follows are two keys, whatever the time between.
        let mut first = length;
        if length.checked_sub(1).and_then(|last| self.chunk.get(last)) == Some(&0x1b) && self.more_soon() {
            match self.read_at(length) {
                Some(more) => length += more,
                None => return false,
            }
            let cut = first >= LARGE || self.chunk.get(first).is_some_and(|byte| b"[O]PX^_".contains(byte));
            if cut {
                first = length;
            }
        }
        self.decoder.feed(self.chunk.get(..first).unwrap_or_default(), inputs);
        if first < length {
            self.decoder.feed(self.chunk.get(first..length).unwrap_or_default(), inputs);
        }
        true
    }

    /// Reads behind the first `start` bytes of the chunk: how many, 0 when it has to be tried again; `None` at the end.
    fn read_at(&mut self, start: usize) -> Option<usize> {
        let room = self.chunk.get_mut(start..).filter(|room| !room.is_empty());
        let Some(room) = room else { return Some(0) };
        match rustix::io::read(&self.tty, room) {
            Ok(0) => None,
            Ok(length) => Some(length),
            Err(Errno::INTR | Errno::AGAIN) => Some(0),
            Err(_) => None,
        }
    }

    fn more_soon(&self) -> bool {
        let mut fds = [PollFd::new(&self.tty, PollFlags::IN)];
        matches!(poll(&mut fds, Some(&ESC_REST)), Ok(1)) && fds[0].revents().contains(PollFlags::IN)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crossbeam_channel::{Receiver, bounded};

    use super::*;

    /// A pipe stands in for the terminal: (its writing end, the reader, what it delivers).
    fn started(room: usize) -> (OwnedFd, Reader, Receiver<Input>) {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let (send, receive) = bounded(room);
        let reader = Reader::start(read, move |input| send.send(input).is_ok()).unwrap();
        (write, reader, receive)
    }

    fn next(from: &Receiver<Input>) -> String {
        match from.recv_timeout(Duration::from_secs(10)).unwrap() {
            Input::Key(key) => key.name(),
            other => format!("{other:?}"),
        }
    }

    fn send(to: &OwnedFd, bytes: &[u8]) {
        assert_eq!(rustix::io::write(to, bytes), Ok(bytes.len()));
    }

    #[test]
    fn keys_arrive_in_order_and_the_end_is_told_once() {
        let (tty, _reader, inputs) = started(16);
        send(&tty, b"a\x1b[A");
        assert_eq!([next(&inputs), next(&inputs)], ["a", "up"]);
        send(&tty, b"\x1b");
        assert_eq!(next(&inputs), "esc");
        send(&tty, b"\x1b[");
        assert_eq!(next(&inputs), "alt+[", "after 50 ms of silence");
        send(&tty, b"\x1b[200~cut off");
        drop(tty);
        assert_eq!([next(&inputs), next(&inputs)], ["Paste(\"cut off\")", "Closed"]);
        assert!(inputs.recv_timeout(Duration::from_secs(10)).is_err(), "the thread has ended");
    }

    #[test]
    fn while_paused_the_bytes_are_somebody_elses() {
        let (read, tty) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let child = read.try_clone().unwrap();
        let (send_input, inputs) = bounded(16);
        let reader = Reader::start(read, move |input| send_input.send(input).is_ok()).unwrap();
        for round in 0..50 {
            reader.pause();
            reader.pause();
            send(&tty, b"child");
            let mut buf = [0; 16];
            assert_eq!(rustix::io::read(&child, &mut buf), Ok(5), "round {round}");
            reader.resume();
            send(&tty, b"x");
            assert_eq!(next(&inputs), "x", "round {round}");
        }
    }

    #[test]
    fn a_full_queue_blocks_neither_pause_nor_drop() {
        let (tty, reader, inputs) = started(1);
        send(&tty, b"abcdef");
        assert_eq!(next(&inputs), "a");
        reader.pause();
        reader.resume();
        reader.pause();
        drop(reader);
        assert_eq!(next(&inputs), "b");
    }

    #[test]
    fn nobody_listening_ends_the_thread() {
        let (tty, reader, inputs) = started(4);
        drop(inputs);
        send(&tty, b"a");
        reader.pause();
        drop(reader);
        // The reading end is closed with the thread.
        assert!(rustix::io::write(&tty, b"b").is_err());
    }
}
