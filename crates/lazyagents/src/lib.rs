//! lazyagents as a library, so that tests and benchmarks reach the pure parts; the program is `main.rs`. Nothing here
//! reads the process' own environment: it is handed in.

pub mod app;
pub mod board;
pub mod cli;
pub mod config;
pub mod context;
pub mod count;
pub mod demo;
pub mod detection;
pub mod history;
pub mod keep;
pub mod limits;
mod net;
pub mod plugins;
pub mod providers;
pub mod rack;
pub mod reserved;
pub mod resume;
pub mod settings;
pub mod tabs;
pub mod undo;
