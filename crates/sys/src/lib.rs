//! The doors to the system. Everything that starts a process, writes a file, reads the clock or the
//! environment, or turns outside text into text that may be shown, goes through here.
//! It never draws and knows neither program. Both programs and every other crate but `wire` call it.

pub mod clock;
pub mod edit;
pub mod env;
pub mod failure;
pub mod files;
pub mod log;
pub mod paths;
pub mod proc;
pub mod text;

pub use env::Env;
pub use failure::Failure;
pub use paths::Paths;
