//! A program in a real terminal: keys go in, a screen comes out, and tests wait for what it shows. It never sleeps for
//! luck (every wait is a condition with a deadline) and answers no query of the program unless told. Tests of what
//! only a terminal shows call it; everything else is cheaper with `run` or without a process.

use std::io::{Read, Write as _};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use rustix::fs::{Mode, OFlags};
use rustix::termios::{InputModes, LocalModes, OutputModes, tcgetattr};

use crate::group::{Exit, kill_group, kill_session};
use crate::home::Home;
use crate::screen::{Cell, Screen};

/// How long a `wait_` without a time of its own waits. Long, because machines are busy: a good run never gets near it.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// After the program's end, how long what it wrote last may take to arrive.
const DRAIN: Duration = Duration::from_secs(2);

/// The line discipline of the terminal, for comparing before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtyModes {
    input: InputModes,
    output: OutputModes,
    local: LocalModes,
}

impl TtyModes {
    /// Lines, echo and signals are the kernel's, as a shell leaves them.
    pub fn cooked(&self) -> bool {
        self.local.contains(LocalModes::ICANON | LocalModes::ISIG) && self.output.contains(OutputModes::OPOST)
    }

    /// What is typed is shown.
    pub fn echo(&self) -> bool {
        self.local.contains(LocalModes::ECHO)
    }
}

/// A program in a terminal of its own. Dropping it kills the whole session.
pub struct Pty {
    shared: Arc<Shared>,
    master: Box<dyn MasterPty + Send>,
    input: mpsc::SyncSender<Vec<u8>>,
    before: TtyModes,
    pid: u32,
    started: Instant,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: vt100::Parser,
    rows: u16,
    cols: u16,
    raw: Vec<u8>,
    answers: Vec<Answer>,
    /// Our own hold on the terminal: it keeps the modes readable, and the reader going until the program has ended.
    tty: Option<OwnedFd>,
    after: Option<TtyModes>,
    exit: Option<Exit>,
    drained: bool,
    /// The emulator could not take what the program wrote.
    broken: Option<String>,
}

/// A query the terminal answers, and how far the output was searched for it.
struct Answer {
    query: Vec<u8>,
    reply: Vec<u8>,
    seen: usize,
}

impl Pty {
    /// Starts `program` in the home's environment and work folder, leading a session in a terminal of this size.
    pub fn spawn(program: impl AsRef<Path>, args: &[&str], home: &Home, rows: u16, cols: u16) -> Self {
        Self::spawn_in(&home.work(), program, args, home, rows, cols)
    }

    /// [`Pty::spawn`] in another folder.
    pub fn spawn_in(dir: &Path, program: impl AsRef<Path>, args: &[&str], home: &Home, rows: u16, cols: u16) -> Self {
        let pair = native_pty_system().openpty(size(rows, cols)).expect("a terminal");
        let tty = open_tty(pair.master.as_ref());
        let before = modes(&tty).expect("the modes of a new terminal");

        let mut command = CommandBuilder::new(program.as_ref());
        command.args(args);
        command.env_clear();
        for (name, value) in home.env() {
            command.env(name, value);
        }
        command.cwd(dir);
        let started = Instant::now();
        let child = pair
            .slave
            .spawn_command(command)
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", program.as_ref().display()));
        drop(pair.slave);
        let pid = child.process_id().expect("a process number");

        let state = State {
            parser: parser(rows, cols),
            rows,
            cols,
            raw: Vec::new(),
            answers: Vec::new(),
            tty: Some(tty),
            after: None,
            exit: None,
            drained: false,
            broken: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let input = write_thread(pair.master.take_writer().expect("the way in"));
        let reader = pair.master.try_clone_reader().expect("the way out");
        let (for_reader, for_waiter, replies) = (Arc::clone(&shared), Arc::clone(&shared), input.clone());
        std::thread::spawn(move || read_loop(reader, &for_reader, &replies));
        std::thread::spawn(move || wait_loop(child, &for_waiter));
        Self { shared, master: pair.master, input, before, pid, started }
    }

    /// The process number of the program, which is also its group and its session.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Types these bytes. Returns at once: a thread of its own feeds the terminal.
    #[track_caller]
    pub fn send(&self, bytes: impl AsRef<[u8]>) {
        match self.input.try_send(bytes.as_ref().to_vec()) {
            Ok(()) => {}
            Err(mpsc::TrySendError::Full(_)) => panic!("the program reads no keys; screen:\n{}", self.screen()),
            // It has ended; a wait that follows says so with the screen.
            Err(mpsc::TrySendError::Disconnected(_)) => {}
        }
    }

    /// Makes the window this large; the program gets SIGWINCH.
    pub fn resize(&self, rows: u16, cols: u16) {
        let mut state = self.state();
        let (at_least_rows, at_least_cols) = emulated(rows, cols);
        state.parser.set_size(at_least_rows, at_least_cols);
        (state.rows, state.cols) = (rows, cols);
        drop(state);
        self.master.resize(size(rows, cols)).expect("the terminal takes a size");
        self.shared.changed.notify_all();
    }

    /// From now on the terminal answers `query` (also one it was asked already) with `reply`, each time.
    pub fn answer(&self, query: impl AsRef<[u8]>, reply: impl AsRef<[u8]>) {
        let mut state = self.state();
        state.answers.push(Answer { query: query.as_ref().to_vec(), reply: reply.as_ref().to_vec(), seen: 0 });
        let replies = state.take_replies();
        drop(state);
        for reply in replies {
            self.send(reply);
        }
    }

    /// Answers what terminals of today answer: device attributes, "are you well", and both default colours, with a
    /// dark background.
    pub fn answer_as_a_terminal(&self) {
        self.answer("\x1b[c", "\x1b[?62;22c");
        self.answer("\x1b[5n", "\x1b[0n");
        self.answer("\x1b]10;?", "\x1b]10;rgb:dddd/dddd/dddd\x1b\\");
        self.answer("\x1b]11;?", "\x1b]11;rgb:1111/1111/1111\x1b\\");
    }

    /// What the terminal shows now.
    pub fn screen(&self) -> Screen {
        self.state().screen()
    }

    /// The rows of the screen, joined by newlines, without the blanks at their ends.
    pub fn text(&self) -> String {
        self.screen().text()
    }

    /// Row and column of the first place that shows this text now.
    pub fn find(&self, text: &str) -> Option<(u16, u16)> {
        self.screen().find(text)
    }

    /// The cell at this place now.
    #[track_caller]
    pub fn cell(&self, row: u16, col: u16) -> Cell {
        self.screen().cell(row, col)
    }

    /// True while the alternate screen is shown.
    pub fn alternate(&self) -> bool {
        self.screen().alternate()
    }

    /// Every byte the program wrote so far.
    pub fn raw(&self) -> Vec<u8> {
        self.state().raw.clone()
    }

    /// The terminal's modes before the program started, and now (after its end: at its end).
    pub fn tty_modes(&self) -> (TtyModes, TtyModes) {
        let state = self.state();
        let now = state.tty.as_ref().and_then(modes).or(state.after);
        (self.before, now.expect("the modes of the terminal"))
    }

    /// How the program ended; `None` while it runs.
    pub fn exit(&self) -> Option<Exit> {
        self.state().exit
    }

    /// Waits until the condition holds for the screen, at most [`PATIENCE`]; `what` says in the failure what was
    /// waited for. Returns the screen it held for.
    #[track_caller]
    pub fn wait_for(&self, condition: impl FnMut(&Screen) -> bool, what: &str) -> Screen {
        self.wait_within(PATIENCE, condition, what)
    }

    /// [`Pty::wait_for`] with a time of your own.
    #[track_caller]
    pub fn wait_within(&self, time: Duration, mut condition: impl FnMut(&Screen) -> bool, what: &str) -> Screen {
        let deadline = Instant::now() + time;
        let mut state = self.state();
        loop {
            let screen = state.screen();
            if condition(&screen) {
                return screen;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let verdict = match (&state.broken, state.exit) {
                (Some(why), _) => Some(format!("the emulator stopped ({why})")),
                (None, Some(exit)) if state.drained => Some(format!("the program ended (exit: {exit})")),
                _ if left.is_zero() => Some(format!("{:.1} s have passed", time.as_secs_f64())),
                _ => None,
            };
            if let Some(verdict) = verdict {
                // The lock must not be poisoned: dropping the terminal needs it.
                drop(state);
                panic!("waited for {what}, but {verdict}; screen:\n{screen}");
            }
            state = self.wait_change(state, left);
        }
    }

    /// Waits until one row shows this text.
    #[track_caller]
    pub fn wait_text(&self, text: &str) -> Screen {
        self.wait_for(|screen| screen.has(text), &format!("{text:?} on the screen"))
    }

    /// Waits until no row shows this text.
    #[track_caller]
    pub fn wait_gone(&self, text: &str) -> Screen {
        self.wait_for(|screen| !screen.has(text), &format!("{text:?} to go from the screen"))
    }

    /// Waits until the raw output, from byte `from` on, holds these bytes; returns where they end. For what is not on
    /// the screen: a title, a clipboard write, a bell.
    #[track_caller]
    pub fn wait_raw(&self, bytes: impl AsRef<[u8]>, from: usize) -> usize {
        let bytes = bytes.as_ref();
        let deadline = Instant::now() + PATIENCE;
        let mut searched = from;
        let mut state = self.state();
        loop {
            if let Some(at) = position(&state.raw, searched, bytes) {
                return at + bytes.len();
            }
            searched = searched.max((state.raw.len() + 1).saturating_sub(bytes.len()));
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || state.drained {
                let screen = state.screen();
                drop(state);
                panic!("waited for {:?} in the output; screen:\n{screen}", String::from_utf8_lossy(bytes));
            }
            state = self.wait_change(state, left);
        }
    }

    /// Waits for the program's end and for the last it wrote.
    #[track_caller]
    pub fn wait_exit(&self, time: Duration) -> Exit {
        let deadline = Instant::now() + time;
        let mut state = self.state();
        while state.exit.is_none() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let screen = state.screen();
                drop(state);
                panic!("the program did not end within {:.1} s; screen:\n{screen}", time.as_secs_f64());
            }
            state = self.wait_change(state, left);
        }
        // Something it left behind may hold the terminal for ever, so this wait is short and may fail.
        let drain = Instant::now() + DRAIN;
        while !state.drained && Instant::now() < drain {
            state = self.wait_change(state, drain.saturating_duration_since(Instant::now()));
        }
        state.exit.unwrap_or(Exit::Deadline)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_change<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.shared.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // Plugins lead groups of their own, so the members of the session go one by one. The leader may be reaped
        // already: the kernel does not give its number away while the session has members.
        kill_session(self.pid);
        if self.exit().is_none() {
            kill_group(self.pid);
        }
        // Lets go of the terminal even if the waiting thread did not get to it, so that the reader ends.
        self.state().tty = None;
    }
}

impl State {
    fn screen(&self) -> Screen {
        Screen::new(self.parser.screen().clone(), self.rows, self.cols)
    }

    fn take_replies(&mut self) -> Vec<Vec<u8>> {
        let mut replies = Vec::new();
        for answer in &mut self.answers {
            while let Some(at) = position(&self.raw, answer.seen, &answer.query) {
                replies.push(answer.reply.clone());
                answer.seen = at + answer.query.len();
            }
            // All but a beginning that the next read may complete is done with.
            answer.seen = answer.seen.max((self.raw.len() + 1).saturating_sub(answer.query.len()));
        }
        replies
    }
}

fn read_loop(mut reader: Box<dyn Read + Send>, shared: &Shared, replies: &mpsc::SyncSender<Vec<u8>>) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        // On Linux a terminal that nobody holds reads as EIO, not as the end of a file: both mean the end.
        let read = reader.read(&mut buffer).unwrap_or(0);
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        if read == 0 {
            state.drained = true;
            drop(state);
            shared.changed.notify_all();
            return;
        }
        state.raw.extend_from_slice(&buffer[..read]);
        if state.broken.is_none() {
            let parser = &mut state.parser;
            let fed = catch_unwind(AssertUnwindSafe(|| parser.process(&buffer[..read])));
            if fed.is_err() {
                state.broken = Some("it panicked on this output".into());
            }
        }
        let due = state.take_replies();
        drop(state);
        shared.changed.notify_all();
        for reply in due {
            // A program that asks without ever reading does not get to stop this thread.
            let _ = replies.try_send(reply);
        }
    }
}

fn wait_loop(mut child: Box<dyn portable_pty::Child + Send + Sync>, shared: &Shared) {
    // The std child knows the signal; portable-pty's status knows its English name only.
    let plain: &mut dyn portable_pty::Child = child.as_mut();
    let exit = match plain.downcast_mut::<std::process::Child>() {
        Some(child) => child.wait().ok().map(Exit::from),
        None => plain.wait().ok().map(|status| Exit::Code(i32::try_from(status.exit_code()).unwrap_or(-1))),
    };
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    state.after = state.tty.as_ref().and_then(modes);
    // Letting go of the terminal is what ends the reader.
    state.tty = None;
    state.exit = exit.or(Some(Exit::Deadline));
    drop(state);
    shared.changed.notify_all();
}

fn write_thread(mut writer: Box<dyn std::io::Write + Send>) -> mpsc::SyncSender<Vec<u8>> {
    let (sender, receiver) = mpsc::sync_channel::<Vec<u8>>(256);
    std::thread::spawn(move || {
        for bytes in receiver {
            if writer.write_all(&bytes).is_err() {
                return;
            }
        }
    });
    sender
}

fn open_tty(master: &dyn MasterPty) -> OwnedFd {
    let name = master.tty_name().expect("the name of the terminal");
    // Without NOCTTY a test runner that leads a session would get this terminal as its own.
    rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).expect("the terminal opens")
}

fn modes(tty: &OwnedFd) -> Option<TtyModes> {
    let termios = tcgetattr(tty).ok()?;
    Some(TtyModes { input: termios.input_modes, output: termios.output_modes, local: termios.local_modes })
}

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn parser(rows: u16, cols: u16) -> vt100::Parser {
    let (rows, cols) = emulated(rows, cols);
    vt100::Parser::new(rows, cols, 0)
}

/// vt100 panics on screens below 2x2; the program is told the real size, only the emulator is larger.
fn emulated(rows: u16, cols: u16) -> (std::num::NonZeroU16, std::num::NonZeroU16) {
    let at_least_two = |n: u16| std::num::NonZeroU16::new(n.max(2)).unwrap_or(std::num::NonZeroU16::MIN);
    (at_least_two(rows), at_least_two(cols))
}

fn position(haystack: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    let rest = haystack.get(from..)?;
    rest.windows(needle.len()).position(|window| window == needle).map(|at| from + at)
}
