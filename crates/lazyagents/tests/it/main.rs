//! lazyagents from outside: the pure middle driven without a terminal, its screens, its commands, and the real program
//! with real plugins in a real terminal. Every home is temporary; nothing of the machine's own is read.
#![allow(clippy::disallowed_methods, reason = "homes are made and programs started here, with the plainest means")]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "helpers of tests count as tests")]
#![cfg(unix)]

mod cli;

mod conformance;
mod deleting;
mod exporting;
mod history;
mod hooks;
mod leaving;
mod limits;
mod misfits;
mod ours;
mod providing;
mod races;
mod reading;
mod screens;
mod terminal;
mod undoing;
mod update;
mod world;
