//! The only reader of the clock. Callers that decide something by time take the time as a value,
//! so that a test can choose it. Anyone may call it.

use std::time::{Instant, SystemTime};

/// The monotonic clock, for deadlines and durations.
#[allow(clippy::disallowed_methods)]
pub fn now() -> Instant {
    Instant::now()
}

/// The wall clock, for what is shown or stored.
#[allow(clippy::disallowed_methods)]
pub fn wall() -> SystemTime {
    SystemTime::now()
}
