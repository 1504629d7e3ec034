//! ez: finds, makes and enters workspaces. This file only captures the arguments and the environment and gives the
//! exit code. Everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args = std::env::args_os().collect();
    ExitCode::from(ez::cli::main(args, sys::Env::from_process()))
}
