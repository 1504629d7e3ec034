//! What is done to what the coding agents keep: conversations are exported, put away, named. Everything is planned
//! first, as a value that can be shown, and then applied. It never draws, prints or asks; it knows no agent's files but
//! through `agents`, and writes through `sys::files` only. `lazyagents` calls it.

pub mod aliases;
pub mod delete;
pub mod desk;
pub mod diff;

pub mod export;
pub mod hooks;
pub mod mask;
pub mod plan;
pub mod providers;
