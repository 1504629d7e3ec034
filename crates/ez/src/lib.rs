//! Repositories, sessions and hook plugins.

pub mod bundled;
pub mod shell;
