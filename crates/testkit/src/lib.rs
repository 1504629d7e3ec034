//! What the tests of both programs stand on: temporary homes, the output of a command, a real terminal with a
//! screen, and `misfit`, the plugin that misbehaves on request. It depends on none of our crates and never asserts
//! anything about them. Only tests (and `xtask`) may use it; it panics instead of returning errors, because a test
//! that cannot set up its world has nothing to go on with. Unix only.

#![allow(
    clippy::disallowed_methods,
    reason = "test support: it starts programs and writes files of its own so that a fault in `sys` cannot hide here"
)]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a harness that cannot set up its world stops the test")]

mod group;
mod home;
mod misfit;
mod needs;
mod output;
mod pty;
mod screen;

pub use group::{Exit, alive, session_members};
pub use home::Home;
pub use misfit::{Misfit, misfit_program};
pub use needs::{find_program, needs, needs_to_run};
pub use output::{DEADLINE, Output, run, run_in, run_within};
pub use pty::{PATIENCE, Pty, TtyModes};
pub use screen::{Cell, Color, Screen};
