//! Detection from outside, on invented homes. It runs no real agent and looks at nothing outside its temporary
//! folders. `cargo test -p agents` runs it.
#![allow(clippy::disallowed_methods, reason = "the homes are made here, with the plainest means")]
#![allow(clippy::unwrap_used, reason = "helpers of tests count as tests")]
#![cfg(unix)]

mod home;
mod managers;
mod overrides;
mod path;
mod versions;
mod warnings;
