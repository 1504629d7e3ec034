//! The command line: which command, its arguments, its exit code. A plugin's subcommand is decided before
//! anything else is parsed, so that its arguments arrive verbatim (clause Z1). `main` calls it.

mod agents;
mod complete;
mod doctor;
mod history;
pub(crate) mod hooks;
mod interrupt;
mod out;
mod plugins;
mod provider;
pub mod reference;
mod schema;
mod sessions;
mod usage;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::{CommandFactory, Parser, Subcommand};
use sys::{Env, Failure, proc};

pub use out::Out;

use crate::context::Context;
use crate::plugins::{Plugin, host};
use crate::{app, demo, reserved};

/// One place for everything the coding agents on this machine use.
///
/// Without a command it opens the full-screen interface. `lazyagents <plugin> ...` runs a plugin's own command.
#[derive(Debug, Parser)]
#[command(name = "lazyagents", version, disable_help_subcommand = true, args_conflicts_with_subcommands = true)]
struct Cli {
    /// Open on an invented home in a temporary folder; nothing of yours is read or written
    #[arg(long)]
    demo: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Open the full-screen interface (the same as no command)
    Tui,
    /// The conversations of all agents: list, show, search, export, delete, name, open again
    Sessions(sessions::Args),
    /// Commands that agents run on their events: make, import, enable, disable, test
    Hooks(hooks::Args),
    /// How many tokens it all took
    Usage(usage::Args),
    /// Endpoints: profiles, applied to agents' settings or to one session
    Provider(provider::Args),
    /// The coding agents on this machine, with versions
    Agents(agents::Args),
    /// The files of the plugins folder, and what became of them
    Plugins(plugins::Args),
    /// Check the agents and the plugins; exit 1 when there is a problem
    Doctor(doctor::Args),
    /// What was changed in files of agents and of ours, and what is in the trash
    History(history::Args),
    /// Take a change back: the newest, or the one with this number in `history`
    Undo(history::UndoArgs),
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the JSON Schema of an answer or of the plugin protocol
    Schema(schema::Args),
    /// Explain lazyagents or one of its commands
    Help {
        /// The command, and a command of it
        command: Vec<String>,
    },
}

/// Runs the command line and gives the exit code: 0 done, 1 failed, 2 not understood, 130 cancelled.
pub fn main(args: Vec<OsString>, env: Env) -> u8 {
    let mut out = Out::new(&env);
    let ran = run(args, env, &mut out);
    match (ran, out.finish()) {
        (Ok(code), None) => code,
        (Err(failure), _) | (Ok(_), Some(failure)) => {
            out.failure(&failure);
            failure.exit_code()
        }
    }
}

fn run(args: Vec<OsString>, env: Env, out: &mut Out) -> Result<u8, Failure> {
    if let Some(first) = args.get(1)
        && let Some(code) = plugin_command(first, &args[2..], &env, out)?
    {
        return Ok(code);
    }
    if let [_, command, flag, kind] = args.as_slice()
        && command == "completions"
        && flag == complete::WORDS
    {
        return complete::words(&kind.to_string_lossy(), env, out);
    }
    if let Some(words) = help_below(&args) {
        return help(&words, &Context::load(env)?, out);
    }
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return Ok(explain(&error, out)),
    };
    if cli.demo {
        return demo::run(&env, out);
    }
    if let Some(Command::Completions { shell }) = cli.command {
        complete::script(shell, out);
        return Ok(0);
    }
    let context = Context::load(env)?;
    match cli.command {
        None | Some(Command::Tui) => open(&context, out),
        Some(command) => {
            warn(&context, out);
            match command {
                Command::Doctor(args) => doctor::run(&args, &context, out),
                Command::Sessions(args) => sessions::run(args, &context, out),
                Command::Hooks(args) => hooks::run(args, &context, out),
                Command::Usage(args) => usage::run(&args, &context, out),
                Command::Provider(args) => provider::run(args, &context, out),
                Command::Agents(args) => agents::run(&args, &context, out),
                Command::Plugins(args) => plugins::run(&args, &context, out),
                Command::History(args) => history::run(&args, &context, out),
                Command::Undo(args) => history::undo(&args, &context, out),
                Command::Schema(args) => schema::run(&args, out),
                Command::Help { command } => help(&command, &context, out),
                Command::Tui | Command::Completions { .. } => Ok(0),
            }
        }
    }
}

/// Opens the interface; the warnings of the start are said again once it has closed (clause D7).
pub fn open(context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let code = app::run(context)?;
    warn(context, out);
    Ok(code)
}

/// What clap has to say: help and version on stdout with 0, a mistake on stderr with 2.
fn explain(error: &clap::Error, out: &mut Out) -> u8 {
    let text = error.render().to_string();
    if error.use_stderr() {
        let text = sys::text::clean_lines(&text);
        out.say(text.trim_start_matches("error: ").trim_end());
        2
    } else {
        out.bytes(text.as_bytes());
        0
    }
}

/// Runs `<plugin> args...` when the first argument names a plugin; `None` when it is ours.
fn plugin_command(first: &OsStr, rest: &[OsString], env: &Env, out: &mut Out) -> Result<Option<u8>, Failure> {
    let name = first.to_string_lossy();
    if name.starts_with('-') {
        return Ok(None);
    }
    if reserved::COMMANDS.contains(&&*name) {
        let known = Cli::command().get_subcommands().any(|command| command.get_name() == name);
        if known {
            return Ok(None);
        }
        warn(&Context::load(env.clone())?, out);
        return Err(not_yet(&name));
    }
    let context = Context::load(env.clone())?;
    match first.to_str().and_then(|id| context.discovery.find(id)) {
        Some(plugin) => pass_through(plugin, rest, &context).map(Some),
        None => {
            warn(&context, out);
            Err(unknown(&name, &context))
        }
    }
}

/// The warnings of the start, before the output of a command (clause D7).
fn warn(context: &Context, out: &mut Out) {
    for warning in context.warnings() {
        out.say(&warning);
    }
}

fn not_yet(name: &str) -> Failure {
    Failure::usage(format!("`{name}` is a command of lazyagents that this version does not have yet"))
        .hint("`lazyagents help` lists the commands that it has")
}

/// Becomes the plugin: same descriptors, same process id, its exit code (clauses Z1 to Z4).
fn pass_through(plugin: &Plugin, args: &[OsString], context: &Context) -> Result<u8, Failure> {
    let spec = host::command(plugin, args.to_vec(), &context.plugin_env());
    let exit = proc::replace(&spec)?;
    Ok(match exit {
        proc::Exit::Code(code) => u8::try_from(code).unwrap_or(1),
        proc::Exit::Signal(signal) => 128_u8.saturating_add(u8::try_from(signal).unwrap_or(0)),
    })
}

/// An unknown first argument: exit 2, the nearest name, where plugins live (lazyagents.md, CLI).
fn unknown(name: &str, context: &Context) -> Failure {
    let name = sys::text::clean(name);
    let ours = Cli::command();
    let names = ours.get_subcommands().map(clap::Command::get_name);
    let names = names.chain(context.discovery.plugins.iter().map(|plugin| plugin.id.as_str()));
    let near = names
        .map(|known| (strsim::jaro_winkler(&name, known), known))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let mut failure = Failure::usage(format!("`{name}` is neither a command nor a plugin"));
    if let Some((_, known)) = near {
        failure = failure.hint(format!("did you mean `{known}`?"));
    }
    let ignored = context.discovery.ignored.iter().find(|file| file.file.split('.').next() == Some(&name));
    if let Some(ignored) = ignored {
        failure = failure.hint(ignored.warning());
    }
    failure.hint(format!("plugins live in {}", context.discovery.dir.display()))
}

/// `plugins help info` means `help plugins info`, where the command has commands of its own.
fn help_below(args: &[OsString]) -> Option<Vec<String>> {
    let words: Vec<String> = args.get(1..)?.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let [command, help, rest @ ..] = words.as_slice() else { return None };
    let ours = Cli::command();
    let below = ours.find_subcommand(command).is_some_and(clap::Command::has_subcommands);
    let asked = below && help == "help" && !rest.iter().any(|word| word.starts_with('-'));
    asked.then(|| std::iter::once(command).chain(rest).cloned().collect())
}

fn help(words: &[String], context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let mut cli = Cli::command();
    cli.build();
    let Some((name, rest)) = words.split_first() else {
        let text = cli.render_long_help().to_string();
        out.bytes(text.as_bytes());
        if !context.discovery.plugins.is_empty() {
            out.line("\nPlugins:");
            let width = context.discovery.plugins.iter().map(|plugin| plugin.id.len()).max().unwrap_or(0);
            for plugin in &context.discovery.plugins {
                out.line(&format!("  {:width$}  {}", plugin.id, short(context, &plugin.path)));
            }
        }
        return Ok(0);
    };
    if let Some(mut found) = cli.find_subcommand(name).cloned() {
        for word in rest {
            let Some(next) = found.find_subcommand(word).cloned() else {
                let (word, name) = (sys::text::clean(word), found.get_name());
                return Err(Failure::usage(format!("`{name}` has no command `{word}`"))
                    .hint(format!("`lazyagents {name} --help` lists what it has")));
            };
            found = next;
        }
        let text = found.render_long_help().to_string();
        out.bytes(text.as_bytes());
        return Ok(0);
    }
    if context.discovery.find(name).is_some() {
        out.line(&format!("{name} is a plugin; ask it: lazyagents {name} --help"));
        return Ok(0);
    }
    if reserved::COMMANDS.contains(&name.as_str()) {
        return Err(not_yet(name));
    }
    Err(unknown(name, context))
}

/// A path for people, cleaned.
pub(crate) fn short(context: &Context, path: &Path) -> String {
    sys::text::clean(&context.paths.short(path))
}
