//! Failures on purpose, for tests: the n-th step of this thread on a disk fails as a full disk does, or the process ends
//! there as if it were killed. Without the feature `faults` nothing of it exists but an empty function.

/// A step of `files` that a test can make fail. `name` says which.
///
/// # Errors
/// The one a test has ordered.
#[cfg(not(any(test, feature = "faults")))]
#[inline]
#[allow(clippy::unnecessary_wraps)] // the other one of this name fails
pub(super) fn point(_name: &str) -> std::io::Result<()> {
    Ok(())
}

#[cfg(any(test, feature = "faults"))]
pub(super) use ordered::point;
#[cfg(any(test, feature = "faults"))]
pub use ordered::{Kind, order, passed};

#[cfg(any(test, feature = "faults"))]
mod ordered {
    use std::cell::Cell;
    use std::io;

    /// What happens at the step.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// It fails; later ones do not.
        Fail,
        /// The process ends without any clean-up.
        Abort,
    }

    thread_local! {
        static ORDER: Cell<Option<(u64, Kind)>> = const { Cell::new(None) };
        static PASSED: Cell<u64> = const { Cell::new(0) };
    }

    /// From now on in this thread the `at`-th step (from 0) fails so; `None` takes the order back. Counting starts anew.
    pub fn order(fault: Option<(u64, Kind)>) {
        ORDER.set(fault);
        PASSED.set(0);
    }

    /// How many steps this thread has come by since the last order.
    pub fn passed() -> u64 {
        PASSED.get()
    }

    pub(in crate::files) fn point(name: &str) -> io::Result<()> {
        let number = PASSED.replace(PASSED.get() + 1);
        match ORDER.get() {
            Some((at, Kind::Fail)) if at == number => {
                Err(io::Error::other(format!("no space left for {name} (a test)")))
            }
            Some((at, Kind::Abort)) if at == number => std::process::abort(),
            _ => Ok(()),
        }
    }
}
