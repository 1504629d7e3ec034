//! The project's chores: `cargo xtask <name>`. Nothing here ends up in a program that people install. Contributors
//! and `.ci/run` call it; what it does is printed before it is done.

#![allow(clippy::disallowed_methods, reason = "chores run cargo and python, and write where they say")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a chore talks to the person who started it")]

mod agents;
mod chores;
mod ci;
mod docs;
mod exceptions;
mod machine;
mod picture;
mod step;
mod suites;
mod test;

use std::process::ExitCode;

/// A chore: its name, how it is called, what it does, and the function.
struct Chore {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "test",
        usage: "[--no-install] [filter]",
        about: "format, lints, all tests, docs; with a filter only the tests it names",
        run: test::run,
    },
    Chore {
        name: "ci",
        usage: "",
        about: "optimised programs and the conformance suites, as in .ci/run",
        run: ci::run,
    },
    Chore { name: "install", usage: "[--root DIR]", about: "build and install the programs", run: chores::install },
    Chore { name: "demo", usage: "[args]", about: "run lazyagents on an invented home", run: chores::demo },
    Chore { name: "docs", usage: "[--check]", about: "write generated pages; check links and paths", run: docs::run },
    Chore { name: "picture", usage: "", about: "take the pictures of the docs again", run: picture::run },
    Chore { name: "bench", usage: "", about: "the benchmarks; nothing else should run meanwhile", run: chores::bench },
    Chore { name: "agents", usage: "[args]", about: "try the real agents (network, minutes)", run: agents::run },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let name = args.first().map_or("help", String::as_str);
    if matches!(name, "help" | "--help" | "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(chore) = CHORES.iter().find(|chore| chore.name == name) else {
        eprint!("there is no chore named {name}\n\n{}", help());
        return ExitCode::from(2);
    };
    match (chore.run)(&args[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {name}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let mut text = String::from("cargo xtask <chore>\n\n");
    for chore in CHORES {
        let call = format!("{} {}", chore.name, chore.usage);
        text.push_str(&format!("  {call:<32}{}\n", chore.about));
    }
    text.push_str(&format!("  {:<32}{}\n", "help", "this list"));
    text
}
