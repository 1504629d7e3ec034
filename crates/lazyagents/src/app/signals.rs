//! Signals as messages. While a command has the terminal, SIGINT and SIGQUIT are its own and SIGTSTP stops us with
//! it; otherwise they are ours. The driver owns it.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use sys::Failure;
use tui::term::Terminal;

/// What a signal means to the app.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// The window changed its size.
    Resize,
    /// End in order (clause L6).
    Terminate,
    /// Stop until continued.
    Suspend,
    /// We were continued.
    Continued,
}

/// Caught signals.
#[derive(Debug)]
pub(super) struct Signals {
    /// All of them, in order; when the app does not read, later ones of a kind that is waiting are the same.
    pub queue: Receiver<Signal>,
    /// Fires when the process is asked to end, for whoever lends the terminal.
    pub terminate: Receiver<()>,
    lent: Arc<Lent>,
    /// The number of the first signal that asked us to end; 0: none did.
    pub ended_by: Arc<AtomicU8>,
}

/// Whether the terminal is lent, or was a moment ago: a signal that ended the command may be looked at only after
/// the command's end was.
#[derive(Debug, Default)]
struct Lent {
    now: AtomicBool,
    /// When the last loan ended.
    ended: Mutex<Option<Instant>>,
}

/// So long after its end a loan still takes the signals of the keyboard.
const ECHO: Duration = Duration::from_millis(200);

impl Lent {
    fn takes_signals(&self) -> bool {
        let ended = *self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        self.now.load(Ordering::SeqCst) || ended.is_some_and(|ended| ended.elapsed() < ECHO)
    }
}

impl Signals {
    /// Catches them from now on.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn catch() -> Result<Self, Failure> {
        let refused = |error: std::io::Error| Failure::new("could not catch signals").cause(error);
        let kinds = [SIGWINCH, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGCONT];
        let mut caught = signal_hook::iterator::Signals::new(kinds).map_err(refused)?;
        let (queue, receiver) = bounded(64);
        let (terminate, terminated) = bounded(1);
        let lent = Arc::new(Lent::default());
        let lending = Arc::clone(&lent);
        let ended_by = Arc::new(AtomicU8::new(0));
        let ending = Arc::clone(&ended_by);
        let body = move || {
            for number in caught.forever() {
                let lent = lending.takes_signals();
                let signal = match number {
                    SIGWINCH => Signal::Resize,
                    SIGCONT => Signal::Continued,
                    SIGINT | SIGQUIT | SIGTSTP if lent => {
                        // Where nobody could continue us the child's stop would be our end.
                        if number == SIGTSTP && Terminal::can_suspend() {
                            // The whole job stops, as a shell expects; SIGCONT wakes both.
                            let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
                        }
                        continue;
                    }
                    SIGTSTP => Signal::Suspend,
                    _ => {
                        let number = u8::try_from(number).unwrap_or(0);
                        let _ = ending.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst);
                        let _ = terminate.try_send(());
                        Signal::Terminate
                    }
                };
                // A full queue holds the same already.
                let _ = queue.try_send(signal);
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).stack_size(128 * 1024).spawn(body).map_err(refused)?;
        Ok(Self { queue: receiver, terminate: terminated, lent, ended_by })
    }

    /// Says whether a command has the terminal.
    pub(super) fn lend(&self, lent: bool) {
        if !lent {
            *self.lent.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(sys::clock::now());
        }
        self.lent.now.store(lent, Ordering::SeqCst);
    }
}
