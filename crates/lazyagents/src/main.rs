//! lazyagents: the terminal home of people who work with coding agents. This file only captures the arguments and
//! the environment and gives the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args = std::env::args_os().collect();
    ExitCode::from(lazyagents::cli::main(args, sys::Env::from_process()))
}
