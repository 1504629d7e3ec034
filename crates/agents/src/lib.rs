//! What is known of the coding agents on this machine: where each keeps its things, whether it is here,
//! which version it is. It only reads: it never writes, never starts a process by itself (a caller hands in
//! the probe) and never reads this process' environment. `manage` and `lazyagents` call it.

pub mod account;
pub mod adapter;
mod adapters;
pub mod cache;
pub mod detect;
pub mod find;
pub mod hooks;
pub mod json;
mod jsonc;
pub mod limits;
mod managers;
pub mod provider;
mod read;
mod records;
pub mod running;
pub mod sessions;
mod sqlite;
pub mod text;
pub mod usage;
pub mod version;

pub use adapter::{About, Adapter, Capability, Places, Surroundings};
pub use cache::VersionCache;
pub use detect::{Detected, Probe, VersionFrom, detect_all, detect_places, fill_versions, find_version};
pub use find::{Found, Search, Via};
