//! The command line: which command, its arguments, its exit code. What is done is in `ops`, what is chosen in `browser`;
//! here arguments become values and answers become lines. `main` calls it.

mod answers;
mod complete;
mod config;
mod misc;
mod plugin;
mod preview;
pub mod reference;
mod repo;
mod schema;
mod session;
mod session_args;
mod settings;
mod setup;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use sys::{Env, Failure};

use crate::out::Out;
pub(crate) use session::open_note;

use crate::browser::{self, Start};
use crate::context::{Context, Globals};
use crate::landing::Landing;
use crate::locate;
use crate::model::name::quoted;
use crate::ops::repos;
use crate::shell::{self, Shell};

/// A time of the state files for people: in their zone, and how long ago; as it stands when it is no time.
pub(super) fn when(stamp: &str) -> String {
    let Ok(time) = stamp.parse::<jiff::Timestamp>() else { return sys::text::clean(stamp) };
    let Ok(then) = std::time::SystemTime::try_from(time) else { return sys::text::clean(stamp) };
    let local = time.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
    let ago = sys::text::human::ago(then, sys::clock::wall());
    match ago.as_str() {
        "just now" | "yesterday" => format!("{local} ({ago})"),
        _ if ago.starts_with(|c: char| c.is_ascii_digit()) && !ago.contains('-') => format!("{local} ({ago} ago)"),
        _ => local,
    }
}

/// `text` cleaned, with blanks up to `width` cells.
pub(super) fn pad(text: &str, width: usize) -> String {
    let text = sys::text::clean(text);
    let blanks = width.saturating_sub(sys::text::width(&text));
    text + &" ".repeat(blanks)
}

/// Find, make and enter workspaces: repositories and the sessions in them.
///
/// Without a command it opens the browser.
#[derive(Debug, Parser)]
#[command(name = "ez", version, disable_help_subcommand = false, propagate_version = false)]
#[allow(clippy::struct_excessive_bools, reason = "flags")]
struct Cli {
    /// Print without colour
    #[arg(long, global = true)]
    no_color: bool,
    /// Write a log, and say at the end where it is
    #[arg(long, global = true)]
    debug: bool,
    /// Answer plain questions with yes; never one that loses something
    #[arg(long, short = 'y', global = true)]
    yes: bool,
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    cd_file: Option<PathBuf>,
    #[arg(long, global = true, hide = true, value_name = "FILE")]
    post_cmd_file: Option<PathBuf>,
    #[arg(id = "dialect", long = "shell", global = true, hide = true, value_name = "SHELL")]
    shell: Option<String>,
    /// Work as if started in this folder
    #[arg(id = "start_dir", short = 'C', value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
    /// Open the browser at this workspace root
    #[arg(long, short = 'w')]
    workspace: Option<String>,
    /// Open the browser at this repository
    #[arg(long, short = 'r')]
    repo: Option<String>,
    /// Open the browser with this view: tree, workspace, repo, owner, label or a plugin's
    #[arg(long)]
    select_by: Option<String>,
    /// Open the browser with all repositories, wherever you are
    #[arg(long, short = 'a')]
    all: bool,
    /// What entering a session does: cd, or a plugin's key by name
    #[arg(long)]
    on_enter: Option<String>,
    /// What follows making a session: none, cd, or a plugin's key by name
    #[arg(long)]
    on_create: Option<String>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Set up: roots, the shell line, plugins
    Setup(setup::Args),
    /// Clone a repository and register it
    #[command(after_help = "Examples:\n  ez clone https://github.com/o/api.git ~/src/api")]
    Clone(repo::CloneArgs),
    /// Register a folder
    #[command(after_help = "Examples:\n  ez add\n  ez add ~/src/api")]
    Add(repo::AddArgs),
    /// Take a repository off the list
    #[command(visible_alias = "rm")]
    Remove(repo::RemoveArgs),
    /// Repositories
    #[command(visible_alias = "r")]
    Repo(repo::Args),
    /// Sessions
    #[command(visible_alias = "s")]
    Session(session::Args),
    /// Everything: repositories with their sessions
    #[command(visible_alias = "ls")]
    List(misc::ListArgs),
    /// Enter the best match over repositories, sessions and branches; `-` is the previous one
    #[command(after_help = "Examples:\n  ez go api login\n  ez go -\n  cd \"$(command ez go api --print)\"")]
    Go(misc::GoArgs),
    /// Plugins
    Plugin(plugin::Args),
    /// The configuration
    Config(config::Args),
    /// Print the folder of the current session
    CdToSession,
    /// Deleted sessions
    Trash(misc::TrashArgs),
    /// Check the state; exit 1 when there is a problem
    Doctor(misc::DoctorArgs),
    /// Print the shell wrapper
    #[command(
        after_help = "Examples:\n  eval \"$(ez init-shell bash)\"     # in ~/.bashrc; zsh the same in ~/.zshrc\n  ez init-shell fish | source       # in ~/.config/fish/config.fish"
    )]
    InitShell {
        /// bash, zsh, fish, pwsh or nu
        #[arg(default_value = "zsh")]
        shell: String,
    },
    /// Print the completion script of a shell
    #[command(
        after_help = "Examples:\n  eval \"$(ez completions bash)\"    # in ~/.bashrc; zsh the same, behind compinit\n  ez completions fish | source"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the JSON Schema of an answer
    #[command(after_help = "Examples:\n  ez schema session-list")]
    Schema(schema::Args),
    #[command(hide = true)]
    Preview(preview::Args),
}

/// Runs the command line and gives the exit code: 0 done, 1 failed, 2 not understood, 130 cancelled.
pub fn main(args: Vec<OsString>, env: Env) -> u8 {
    let mut out = Out::new(&env);
    match run(args, env, &mut out) {
        Ok(code) => code,
        Err(failure) => {
            out.failure(&failure);
            failure.exit_code()
        }
    }
}

fn run(args: Vec<OsString>, env: Env, out: &mut Out) -> Result<u8, Failure> {
    // Asked for by prompts and scripts at every turn: no parser is built for it.
    if let [_, only] = args.as_slice()
        && (only == "--version" || only == "-V")
    {
        out.line(concat!("ez ", env!("CARGO_PKG_VERSION")));
        return Ok(0);
    }
    if args.get(1).is_some_and(|first| first == "__complete") {
        return complete::run(&args[2..], env, out);
    }
    let what = args.iter().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let cli = match Cli::try_parse_from(&args) {
        Ok(cli) => cli,
        Err(error) => return Ok(explain(error, out)),
    };
    if cli.no_color {
        out.plain();
    }
    let globals = Globals {
        cd_file: cli.cd_file.clone(),
        post_file: cli.post_cmd_file.clone(),
        shell: cli.shell.as_deref().map(str::parse).transpose()?.unwrap_or(Shell::Bash),
        yes: cli.yes,
        debug: cli.debug,
        no_color: cli.no_color,
        on_enter: cli.on_enter.clone(),
        on_create: cli.on_create.clone(),
    };
    match &cli.command {
        Some(Command::InitShell { shell }) => {
            let text = shell::init(shell.parse()?, &own_path()?);
            out.bytes(text.as_bytes());
            return Ok(0);
        }
        Some(Command::Completions { shell }) => {
            out.bytes(&complete::script(*shell, &own_path()?));
            return Ok(0);
        }
        Some(Command::Schema(args)) => return schema::run(args, out),
        Some(Command::Plugin(args)) => {
            if let Some(code) = plugin::serve(args, &env, out)? {
                return Ok(code);
            }
        }
        _ => {}
    }
    let dir = cli.dir.as_deref();
    let lenient = matches!(cli.command, Some(Command::Config(_) | Command::Doctor(_)));
    let context = match Context::load(env.clone(), globals.clone(), dir, what.clone()) {
        Err(_) if lenient => Context::without_config(env, globals, dir, what)?,
        other => other?,
    };
    let ended = dispatch(cli, &context, out);
    if let Some(path) = &context.log_file {
        out.note(&format!("debug log: {}", path.display()));
    }
    ended
}

/// The program that shell texts start.
fn own_path() -> Result<String, Failure> {
    crate::context::utf8(&std::env::current_exe().unwrap_or_else(|_| PathBuf::from("ez")))
}

fn dispatch(cli: Cli, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    match cli.command {
        None => browse(&cli, context, out),
        Some(Command::Setup(args)) => setup::run(&args, context, out),
        Some(Command::Clone(args)) => repo::clone(&args, context, out),
        Some(Command::Add(args)) => repo::add(&args, context, out),
        Some(Command::Remove(args)) => repo::remove(&args, context, out),
        Some(Command::Repo(args)) => repo::run(args, context, out),
        Some(Command::Session(args)) => session::run(args, context, out),
        Some(Command::List(args)) => misc::list(&args, context, out),
        Some(Command::Go(args)) => misc::go(&args, context, out),
        Some(Command::Plugin(args)) => plugin::run(args, context, out),
        Some(Command::Config(args)) => config::run(args, context, out),
        Some(Command::CdToSession) => misc::cd_to_session(context, out),
        Some(Command::Trash(args)) => misc::trash(args, context, out),
        Some(Command::Doctor(args)) => misc::doctor(&args, context, out),
        Some(Command::Preview(args)) => preview::run(&args, context, out),
        Some(Command::InitShell { .. } | Command::Completions { .. } | Command::Schema(_)) => Ok(0),
    }
}

/// Writes where a command leaves the person.
fn land(landing: Landing, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    landing.finish(context, out)?;
    Ok(0)
}

fn browse(cli: &Cli, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let start = if let Some(given) = &cli.repo {
        let repo = match locate::named_repo(context, given) {
            Ok(repo) => repo,
            Err(_) if context.typed(given).is_dir() => repos::add(context, &context.typed(given), out)?,
            Err(failure) => return Err(failure),
        };
        Start::Repo { repo, onward: true }
    } else if let Some(given) = &cli.workspace {
        Start::Root(root_called(context, given)?)
    } else if cli.all || cli.select_by.is_some() {
        Start::View(cli.select_by.clone().unwrap_or_else(|| context.config.default_select_by.clone()))
    } else {
        match locate::repo(context, None) {
            Ok(repo) => Start::Repo { repo, onward: false },
            Err(_) => Start::View(context.config.default_select_by.clone()),
        }
    };
    if context.store.repos()?.is_empty() && !context.store.config_file().exists() {
        // Offered, never done unasked; a script is not asked.
        if out.can_ask() && out.agree("Nothing is set up yet. Run ez setup now?") == Some(true) {
            return setup::run(&setup::Args {}, context, out);
        }
        out.note("Nothing is set up yet: `ez setup` asks a few questions, `ez add` registers this folder.");
    }
    let landing = browser::open(context, start, None, out)?;
    land(landing, context, out)
}

/// The root with this path or last name; else the folder, when it is one.
fn root_called(context: &Context, given: &str) -> Result<PathBuf, Failure> {
    let roots = context.config.roots(&context.paths);
    let typed = context.typed(given);
    let same = |root: &&PathBuf| **root == typed || root.file_name().is_some_and(|name| name == given);
    match roots.iter().find(same) {
        Some(root) => Ok(root.clone()),
        None if typed.is_dir() => Ok(typed),
        None => {
            let known: Vec<_> = roots.iter().map(|root| context.paths.short(root)).collect();
            let hint = if known.is_empty() { "ez config add-root FOLDER".to_owned() } else { known.join(", ") };
            Err(Failure::new(format!("there is no workspace {}", quoted(given))).hint(format!("workspaces: {hint}")))
        }
    }
}

/// What clap has to say: help and version on stdout with 0, a mistake on stderr with 2.
fn explain(mut error: clap::Error, out: &mut Out) -> u8 {
    use clap::error::{ContextKind, ContextValue};
    // A command's one-letter alias is like anything that holds the letter.
    let near = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(near)) => near.iter().filter(|name| name.len() > 1).cloned().collect(),
        _ => Vec::new(),
    };
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        // Nothing to suggest is no suggestion: one without a word would still be printed.
        let _ = error.remove(ContextKind::SuggestedSubcommand);
        if !near.is_empty() {
            let _ = error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(near));
        }
    }
    let text = error.render().to_string();
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        out.note(text.trim_end());
        2
    } else if error.use_stderr() {
        // Where a tip was taken out, its blank line stays.
        out.say(&text.trim_start_matches("error: ").trim_end().replace("\n\n\n", "\n\n"));
        2
    } else {
        out.bytes(text.as_bytes());
        0
    }
}
