//! A command that runs other programs and is asked to end: what it runs is stopped in order first. It catches SIGINT,
//! SIGTERM and SIGHUP for the rest of the process, so only such commands call it.

use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use sys::Failure;
use sys::proc::{self, Cancel, CancelHandle};

/// Whether the command was asked to end.
#[derive(Clone, Debug)]
pub(super) struct Interrupt {
    handle: Arc<Mutex<Option<CancelHandle>>>,
    /// What the command's programs look at.
    pub(super) cancel: Cancel,
}

impl Interrupt {
    /// Catches the signals from now on.
    ///
    /// # Errors
    /// When the system refuses.
    pub(super) fn catch() -> Result<Self, Failure> {
        let refused = |error: std::io::Error| Failure::new("could not catch signals").cause(error);
        let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(refused)?;
        let (handle, cancel) = proc::cancel_pair();
        let handle = Arc::new(Mutex::new(Some(handle)));
        let held = Arc::clone(&handle);
        let body = move || {
            for _ in signals.forever() {
                // Dropping the handle is the cancellation.
                held.lock().unwrap_or_else(PoisonError::into_inner).take();
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).stack_size(128 * 1024).spawn(body).map_err(refused)?;
        Ok(Self { handle, cancel })
    }

    /// True once the command was asked to end.
    pub(super) fn came(&self) -> bool {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}
