//! lazyagents: the terminal home of people who work with coding agents. This file only captures the arguments and
//! the environment and gives the exit code.

mod app;
mod cli;
mod config;
mod context;
mod demo;
mod detection;
mod plugins;
mod reserved;
mod settings;
mod tabs;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args = std::env::args_os().collect();
    ExitCode::from(cli::main(args, sys::Env::from_process()))
}
