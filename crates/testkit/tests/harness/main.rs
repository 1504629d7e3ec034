//! The harness tested on /bin/sh and on misfit. It never starts one of our two programs. One binary for all of it.

#![allow(clippy::disallowed_methods, clippy::expect_used, reason = "tests of test support")]

mod home;
mod misfit;
mod output;
mod pty;
