//! The terminal as a place to draw: taken at the start, given back at the end, lent to children in between,
//! always exactly as it was before (clauses E6, L8). It never reads input (`reader` does) and never waits
//! for an answer. The loops of both programs own the one [`Terminal`] there is.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcgetwinsize, tcsetattr};
use sys::Env;

use crate::input::Reply;

mod copy;
mod depth;
mod modes;
mod panics;
mod screen;

pub use depth::Depth;
pub use panics::{contain, install_panic_hook};

use modes::Modes;
use screen::Screen;

/// Size of a terminal that does not say.
const FALLBACK: (u16, u16) = (80, 24);
/// The largest size that is believed, so that a terminal that lies cannot take all memory.
const LARGEST: (u16, u16) = (2000, 1000);
/// How long an answer of the terminal may be on its way.
const ANSWER: Duration = Duration::from_secs(1);

/// What to switch on in the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Presses and the wheel (clauses X1, X2).
    pub mouse: bool,
    /// Motion with a button down as well.
    pub drag: bool,
    /// Focus reports.
    pub focus: bool,
    /// Whether questions may be asked; off where the terminal would print them.
    pub ask: bool,
}

impl Options {
    /// Mouse as asked, questions unless the terminal is known not to understand them.
    pub fn detect(env: &Env, mouse: bool) -> Self {
        let mute = matches!(env.text("TERM"), None | Some("dumb" | "linux"));
        Self { mouse, drag: false, focus: false, ask: !mute }
    }
}

/// What has to be undone. One at a time, and reachable from a panic hook.
struct Live {
    tty: Arc<OwnedFd>,
    cooked: Termios,
    modes: Modes,
    owner: ThreadId,
    /// When the terminal was asked something, while an answer may still be under way.
    asked: Option<Instant>,
    /// Answers still expected.
    expected: u8,
}

static LIVE: Mutex<Option<Live>> = Mutex::new(None);

fn live() -> MutexGuard<'static, Option<Live>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True while the terminal is ours.
fn in_use() -> bool {
    live().is_some()
}

/// True when it is ours and this thread took it.
fn owned_here() -> bool {
    live().as_ref().is_some_and(|live| live.owner == std::thread::current().id())
}

/// The terminal, taken. Dropping it gives it back.
pub struct Terminal {
    inner: ratatui::Terminal<Screen>,
    tty: Arc<OwnedFd>,
    cooked: Termios,
    modes: Modes,
    options: Options,
    depth: Depth,
    /// The rows of the last frame about whose clusters terminals disagree.
    doubtful: Vec<bool>,
}

impl Terminal {
    /// Takes the terminal: raw mode, alternate screen, hidden cursor, bracketed paste, mouse as asked. Nothing
    /// is asked and nothing awaited. Output goes to standard output if it is a terminal, else to standard
    /// error, else to the controlling terminal.
    ///
    /// # Errors
    /// When there is no terminal, it does not obey, or it is taken already.
    pub fn enter(options: Options, depth: Depth) -> io::Result<Self> {
        if in_use() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the terminal is already in use"));
        }
        let tty = Arc::new(output()?);
        let cooked = tcgetattr(&tty)?;
        let measured = Arc::clone(&tty);
        let inner = ratatui::Terminal::new(Screen::new(Box::new(move || measure(&measured))))?;
        let modes = Modes { mouse: options.mouse, drag: options.drag, focus: options.focus, kitty: false };
        let mut terminal = Self { inner, tty, cooked, modes, options, depth, doubtful: Vec::new() };
        terminal.resume()?;
        Ok(terminal)
    }

    /// Draws one frame: only what changed is written, in one write, as a synchronized update. Colours are
    /// brought down to the terminal's. Does nothing while the terminal is lent out.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        if !in_use() {
            return Ok(());
        }
        let (depth, before) = (self.depth, std::mem::take(&mut self.doubtful));
        let mut doubtful = Vec::new();
        self.inner.draw(|frame| {
            render(frame);
            depth.apply(frame.buffer_mut());
            doubtful = redraw_doubtful(frame.buffer_mut(), &before);
        })?;
        self.doubtful = doubtful;
        let bytes = self.inner.backend_mut().take();
        // Under the lock, so that no frame lands on a screen that was given back meanwhile.
        match *live() {
            Some(_) => write_all(&self.tty, bytes.as_bytes()),
            None => Ok(()),
        }
    }

    /// Asks, after the first frame, whether the terminal speaks kitty's keyboard protocol and, if wanted, for
    /// its background colour. Nothing waits for the answers; they come as [`crate::input::Input::Reply`].
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn ask(&mut self, background: bool) -> io::Result<()> {
        let mut live = live();
        let Some(state) = live.as_mut().filter(|_| self.options.ask) else { return Ok(()) };
        state.asked = Some(sys::clock::now());
        state.expected = 1 + u8::from(background);
        let question = if background { "\x1b[?u\x1b]11;?\x1b\\" } else { "\x1b[?u" };
        write_all(&self.tty, question.as_bytes())
    }

    /// Takes an answer. If the terminal speaks kitty's keyboard protocol, it is asked to tell keys apart
    /// (flag 1), now and after every [`Terminal::resume`].
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn on_reply(&mut self, reply: &Reply) -> io::Result<()> {
        let mut live = live();
        if let Some(state) = live.as_mut().filter(|_| !matches!(reply, Reply::Other)) {
            state.expected = state.expected.saturating_sub(1);
            if state.expected == 0 {
                state.asked = None;
            }
        }
        if !matches!(reply, Reply::KittyFlags(_)) || self.modes.kitty {
            return Ok(());
        }
        self.modes.kitty = true;
        // An answer that comes while the terminal is lent out takes effect when it is back.
        let Some(state) = live.as_mut() else { return Ok(()) };
        state.modes.kitty = true;
        write_all(&self.tty, modes::KITTY_ON.as_bytes())
    }

    /// Lends the terminal out: everything undone, as it was at entry (clause E6). Pause the reader first.
    pub fn suspend(&mut self) {
        Self::restore_everything();
    }

    /// Takes the terminal back: everything on again, the next frame drawn whole. Does nothing when it is ours.
    ///
    /// # Errors
    /// When the terminal does not obey; it is given back then.
    pub fn resume(&mut self) -> io::Result<()> {
        if in_use() {
            return Ok(());
        }
        // Registered before anything changes, so that a panic half-way is undone too.
        *live() = Some(Live {
            tty: Arc::clone(&self.tty),
            cooked: self.cooked.clone(),
            modes: self.modes,
            owner: std::thread::current().id(),
            asked: None,
            expected: 0,
        });
        let taken = self.take_over();
        if taken.is_err() {
            Self::restore_everything();
        }
        taken
    }

    fn take_over(&mut self) -> io::Result<()> {
        // From the state at entry, not from what a child may have left behind.
        let mut raw = self.cooked.clone();
        raw.make_raw();
        set(&self.tty, &raw)?;
        write_all(&self.tty, self.modes.on().as_bytes())?;
        self.redraw()
    }

    /// Makes the next frame draw everything: after a resume, or when something else wrote on the screen.
    ///
    /// # Errors
    /// Never in practice; the screen is only marked.
    pub fn redraw(&mut self) -> io::Result<()> {
        self.inner.backend_mut().forget_cursor();
        let size = self.inner.size()?;
        self.inner.resize(size.into())
    }

    /// Puts the modes back without giving the terminal up first, and marks the screen for a whole redraw: for
    /// SIGCONT after a SIGSTOP that nobody could see coming.
    ///
    /// # Errors
    /// When the terminal does not obey.
    pub fn reassert(&mut self) -> io::Result<()> {
        if !in_use() {
            return Ok(());
        }
        // kitty's flags are a stack; what was pushed before the stop comes off before it is pushed again.
        write_all(&self.tty, self.modes.off().as_bytes())?;
        self.take_over()
    }

    /// Gives the terminal back. Dropping does the same.
    pub fn leave(self) {
        drop(self);
    }

    /// Undoes everything: kitty's keys, mouse, paste, cursor, colours, screen, and the line discipline as it
    /// was at entry. Safe at any time, any number of times, from any thread, a panic hook included.
    pub fn restore_everything() {
        let Some(state) = live().take() else { return };
        // The terminal may be gone; there is nothing to be done about it then, and nobody to tell.
        let _ = write_all(&state.tty, state.modes.off().as_bytes());
        let _ = set(&state.tty, &state.cooked);
        // An answer still under way would end up in the shell's prompt or the child's input.
        if state.asked.is_some_and(|asked| sys::clock::now().duration_since(asked) < ANSWER) {
            let _ = tcflush(&state.tty, QueueSelector::IFlush);
        }
    }

    /// Stops this process as ctrl+z does (`:suspend`, SIGTSTP): the terminal is given back, the process stops,
    /// and when it is continued the terminal is taken again. Pause the reader first.
    ///
    /// # Errors
    /// When the terminal does not obey afterwards.
    pub fn suspend_process(&mut self) -> io::Result<()> {
        self.suspend();
        stop_wrappers();
        // SIGSTOP sent to this very thread takes effect before the call returns; sent to the process it might
        // hit another thread first, and this one would take the terminal back before stopping.
        let stopped = signal_hook::low_level::raise(signal_hook::consts::SIGSTOP);
        self.resume()?;
        stopped
    }

    /// False when nobody could continue a stopped process: its group has no parent of another group in its session
    /// (POSIX: the group is orphaned), as under a terminal emulator that runs it directly.
    pub fn can_suspend() -> bool {
        use rustix::process::getpid;
        let Some(own) = Kin::of(getpid()) else { return false };
        // The parent of the group's leader; where that cannot be asked, our own.
        let leader = own.group.and_then(Kin::of);
        let Some(parent) = leader.and_then(|leader| leader.parent).or(own.parent) else { return false };
        // A group or session of another process namespace has no number here: nobody in sight could continue us.
        own.group.is_some()
            && own.session.is_some()
            && Kin::of(parent).is_some_and(|of| of.session == own.session && of.group != own.group)
    }

    /// Asks the terminal to put `text` into the clipboard (OSC 52). Whether it did is never told.
    ///
    /// # Errors
    /// When there is more than 1 MiB of it, the terminal is lent out or gone.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        if text.len() > copy::MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "more than 1 MiB cannot be copied"));
        }
        if !in_use() {
            return Err(io::Error::new(io::ErrorKind::NotConnected, "the terminal is lent out"));
        }
        write_all(&self.tty, copy::sequence(text).as_bytes())
    }

    /// Columns and rows, never 0; 80x24 when the terminal does not say.
    pub fn size(&self) -> (u16, u16) {
        measure(&self.tty)
    }

    /// How many colours frames are drawn with.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// True once the terminal has said that it speaks kitty's keyboard protocol.
    pub fn speaks_kitty(&self) -> bool {
        self.modes.kitty
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        Self::restore_everything();
    }
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terminal").field("options", &self.options).field("depth", &self.depth).finish_non_exhaustive()
    }
}

/// Stops the parents that wait for us in our own group (a script, `cargo run`): a shell gives its prompt only when the
/// whole job has stopped, as ctrl+z does it. `fg` continues the group.
fn stop_wrappers() {
    use rustix::process::{Signal, getpid, kill_process};
    let Some(own) = Kin::of(getpid()) else { return };
    let mut next = own.parent;
    for _ in 0..16 {
        let Some((pid, kin)) = next.and_then(|pid| Some((pid, Kin::of(pid)?))) else { return };
        if kin.group.is_none() || kin.group != own.group {
            return;
        }
        // One that is gone needs no stopping.
        let _ = kill_process(pid, Signal::STOP);
        next = kin.parent;
    }
}

/// Whom a process belongs to; nothing stands for a number that this process namespace does not show (the kernel
/// says 0, as in a container entered from outside, and the calls of libc pass that on as if it were a process).
struct Kin {
    parent: Option<rustix::process::Pid>,
    group: Option<rustix::process::Pid>,
    session: Option<rustix::process::Pid>,
}

impl Kin {
    #[cfg(target_os = "linux")]
    fn of(process: rustix::process::Pid) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
        // proc(5): pid (name) state parent group session; the name may hold anything, so count from its last `)`.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
        let mut number = || fields.next()?.parse().ok().map(rustix::process::Pid::from_raw);
        Some(Self { parent: number()?, group: number()?, session: number()? })
    }

    /// Without process namespaces the calls tell the truth; only our own parent can be asked for.
    #[cfg(not(target_os = "linux"))]
    fn of(process: rustix::process::Pid) -> Option<Self> {
        use rustix::process::{getpgid, getpid, getppid, getsid};
        let parent = (process == getpid()).then(getppid).flatten();
        Some(Self { parent, group: getpgid(Some(process)).ok(), session: getsid(Some(process)).ok() })
    }
}

/// Has every row written whole that holds a cluster of several characters, or held one before: a terminal may draw
/// it wider than we think, into cells that seem unchanged (clauses S11, S12; report F3). Says which rows do.
fn redraw_doubtful(buffer: &mut Buffer, before: &[bool]) -> Vec<bool> {
    let width = usize::from(buffer.area.width).max(1);
    let doubtful = |cell: &Cell| cell.symbol().len() > 1 && cell.symbol().chars().nth(1).is_some();
    let rows: Vec<bool> = buffer.content.chunks(width).map(|row| row.iter().any(doubtful)).collect();
    for (at, row) in buffer.content.chunks_mut(width).enumerate() {
        if rows.get(at) == Some(&true) || before.get(at) == Some(&true) {
            for cell in row {
                cell.set_diff_option(CellDiffOption::AlwaysUpdate);
            }
        }
    }
    rows
}

/// Where to draw: the first of the standard streams that is a terminal (`ez`'s shell function catches
/// standard output), else the controlling terminal.
fn output() -> io::Result<OwnedFd> {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    if stdout.is_terminal() {
        return stdout.as_fd().try_clone_to_owned();
    }
    if stderr.is_terminal() {
        return stderr.as_fd().try_clone_to_owned();
    }
    Ok(OpenOptions::new().read(true).write(true).open("/dev/tty")?.into())
}

/// The size of `tty`, made sane.
fn measure(tty: &OwnedFd) -> (u16, u16) {
    sane(tcgetwinsize(tty).map_or((0, 0), |size| (size.ws_col, size.ws_row)))
}

/// Columns and rows as they can be drawn: the fallback for 0x0, at least 1x1, no more than is believable.
fn sane(told: (u16, u16)) -> (u16, u16) {
    if told == (0, 0) {
        return FALLBACK;
    }
    (told.0.clamp(1, LARGEST.0), told.1.clamp(1, LARGEST.1))
}

/// Sets the line discipline at once; again when a stop and its continuation broke in (SIGTTOU).
fn set(tty: &OwnedFd, termios: &Termios) -> io::Result<()> {
    Ok(retry_on_intr(|| tcsetattr(tty, OptionalActions::Now, termios))?)
}

/// Writes all of it, also where somebody made the shared terminal non-blocking.
fn write_all(tty: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(tty, rest) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let mut ready = [PollFd::new(tty, PollFlags::OUT)];
                match poll(&mut ready, None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_made_sane() {
        assert_eq!(sane((0, 0)), (80, 24));
        assert_eq!(sane((80, 0)), (80, 1));
        assert_eq!(sane((0, 5)), (1, 5));
        assert_eq!(sane((1, 200)), (1, 200));
        assert_eq!(sane((u16::MAX, u16::MAX)), LARGEST);
    }

    #[test]
    fn questions_depend_on_the_terminal() {
        let ask = |term: &str| Options::detect(&[("TERM", term)].into_iter().collect(), true).ask;
        assert!(ask("xterm-256color") && ask("tmux-256color"));
        assert!(!ask("linux") && !ask("dumb") && !ask(""));
    }

    #[test]
    fn restoring_what_was_never_taken_does_nothing() {
        Terminal::restore_everything();
        assert!(!in_use() && !owned_here());
    }
}
