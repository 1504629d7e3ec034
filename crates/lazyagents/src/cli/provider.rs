//! `lazyagents provider`: profiles of endpoints, their way into agents' settings and out, and one session with one.

use std::ffi::OsString;
use std::path::PathBuf;

use manage::desk::{Part, View};
use manage::providers::{Cell, Left, Profile, Source, State};
use schemars::JsonSchema;
use serde::Serialize;
use sys::text::clean;
use sys::{Failure, proc};

use super::out::{diff_line, table};
use super::{Out, short};
use crate::context::Context;
use crate::detection;
use crate::providers::{Providers, Wish};

/// Arguments of `provider`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(flatten)]
    list: ListArgs,
    #[command(subcommand)]
    command: Option<Which>,
}

#[derive(Clone, Copy, Debug, clap::Args)]
struct ListArgs {
    /// Print tokens as they are
    #[arg(long)]
    reveal: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Which {
    /// List the profiles, and which agent uses which (the same as no command)
    List(ListArgs),
    /// Write a profile down
    Add(Box<AddArgs>),
    /// Write a profile into agents' settings
    Apply {
        /// The profile
        profile: String,
        #[command(flatten)]
        to: ToArgs,
    },
    /// Take what was written out of agents' settings; what was there before comes back
    Clear {
        #[command(flatten)]
        to: ToArgs,
    },
    /// Remove a profile
    Rm {
        /// The profile
        profile: String,
        /// Only show what would be done
        #[arg(long)]
        dry_run: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Start one session of an agent with a profile; no file is changed
    Run {
        /// The profile
        profile: String,
        /// The agent's program and its arguments, after `--`
        #[arg(last = true, required = true, value_name = "AGENT")]
        command: Vec<OsString>,
    },
}

#[derive(Debug, clap::Args)]
struct ToArgs {
    /// Only this agent; may be given several times
    #[arg(long, value_name = "ID")]
    agent: Vec<String>,
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// Its name
    profile: String,
    /// The endpoint, as in https://api.example.com/v1
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The model
    #[arg(long)]
    model: Option<String>,
    /// The token: `-` reads it from stdin; anything else can be seen by others in the list of processes
    #[arg(long, conflicts_with_all = ["env_key", "token_command", "token_file"])]
    token: Option<String>,
    /// The environment variable that holds the token
    #[arg(long, value_name = "NAME", conflicts_with_all = ["token_command", "token_file"])]
    env_key: Option<String>,
    /// The command that prints the token
    #[arg(long, value_name = "COMMAND", conflicts_with = "token_file")]
    token_command: Option<String>,
    /// The file that holds the token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// What the endpoint speaks: responses, chat or anthropic
    #[arg(long, value_name = "API")]
    wire_api: Option<String>,
    /// Give an existing profile of this name these values instead
    #[arg(long)]
    replace: bool,
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// One row of `provider list --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Row {
    /// Its name.
    name: String,
    /// The endpoint.
    base_url: Option<String>,
    /// The model.
    model: Option<String>,
    /// Where the token comes from: none, literal, env, command, file.
    token_from: &'static str,
    /// The token, masked unless `--reveal` is given; null when it is not in the file.
    token: Option<String>,
    /// The environment variable that holds it.
    env_key: Option<String>,
    /// What the endpoint speaks: responses, chat, anthropic.
    wire_api: Option<String>,
    /// By agent: applied, changed (by hand since), off, or no (it has no place for it).
    agents: serde_json::Map<String, serde_json::Value>,
}

/// The answer of `provider apply|clear|add|rm --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Did {
    /// What was done, in words.
    what: String,
    /// Its number in the history; null when nothing had to change, and with --dry-run.
    id: Option<u64>,
    /// Something is changed now.
    changed: bool,
    /// The files it is about.
    files: Vec<FileRow>,
    /// Values that were changed by hand since we wrote them, and stay.
    left: Vec<LeftRow>,
    /// Agents that are here and were left out, with the reason.
    refused: Vec<RefusedRow>,
}

/// One file.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FileRow {
    /// Its path.
    path: String,
    /// What becomes of it: change, make, trash.
    verb: String,
    /// The lines of a unified diff, secrets masked.
    diff: Vec<String>,
}

/// One value that stays.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LeftRow {
    /// The agent.
    agent: String,
    /// The file.
    path: String,
    /// Where in it.
    at: String,
}

/// One agent that was left out.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RefusedRow {
    /// The agent.
    agent: String,
    /// Why.
    why: String,
}

pub(super) fn run(args: Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let command = match &args.command {
        None | Some(Which::List(_)) => "list",
        Some(Which::Add(_)) => "add",
        Some(Which::Apply { .. }) => "apply",
        Some(Which::Clear { .. }) => "clear",
        Some(Which::Rm { .. }) => "rm",
        Some(Which::Run { .. }) => "run",
    };
    let providers = Providers::of(context, command)?;
    match args.command {
        None => list(args.list, &providers, context, out),
        Some(Which::List(args)) => list(args, &providers, context, out),
        Some(Which::Add(args)) => add(*args, &providers, context, out),
        Some(Which::Apply { profile, to }) => apply(profile, to, &providers, context, out),
        Some(Which::Clear { to }) => clear(to, &providers, context, out),
        Some(Which::Rm { profile, dry_run, json }) => {
            let used = providers.written_of(&profile)?;
            let wish = Wish::Remove { profile };
            let code = fulfil(&wish, dry_run, json, Vec::new(), &providers, context, out)?;
            if !used.is_empty() && !json && !dry_run {
                out.say(&format!(
                    "it stays in the settings of {}; `lazyagents provider clear` takes it out",
                    used.join(", ")
                ));
            }
            Ok(code)
        }
        Some(Which::Run { profile, command }) => {
            let spec = providers.run(&profile, &command)?;
            out.flush();
            match proc::replace(&spec)? {
                proc::Exit::Code(code) => Ok(u8::try_from(code).unwrap_or(1)),
                proc::Exit::Signal(signal) => Ok(128_u8.saturating_add(u8::try_from(signal).unwrap_or(0))),
            }
        }
    }
}

fn list(args: ListArgs, providers: &Providers<'_>, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let profiles = providers.profiles()?;
    for problem in &profiles.problems {
        out.say(&clean(&format!("{}: {problem}", short(context, providers.file()))));
    }
    let states = providers.states(&profiles.list, &detection::places(context))?;
    if args.json {
        let rows = profiles.list.iter().enumerate().map(|(at, profile)| row(at, profile, &states, args.reveal));
        out.json(&rows.collect::<Vec<_>>())?;
        return Ok(0);
    }
    let mut lines = Vec::new();
    for (at, profile) in profiles.list.iter().enumerate() {
        let uses: Vec<String> = states
            .iter()
            .filter_map(|state| match state.cells.get(at)? {
                Cell::Applied => Some(state.agent.to_owned()),
                Cell::Changed => Some(format!("{} (changed by hand)", state.agent)),
                Cell::Off | Cell::No => None,
            })
            .collect();
        lines.push(vec![
            clean(&profile.name),
            profile.base_url.as_deref().map_or("-".to_owned(), clean),
            profile.model.as_deref().map_or("-".to_owned(), clean),
            token(profile, args.reveal),
            uses.join(", "),
        ]);
    }
    for line in table(&lines) {
        out.line(&line);
    }
    if profiles.list.is_empty() {
        out.line("No profiles yet.  `lazyagents provider add <name> --base-url URL --model M --token -` makes one.");
    }
    Ok(0)
}

fn row(at: usize, profile: &Profile, states: &[State], reveal: bool) -> Row {
    let cell = |state: &State| {
        let word = match state.cells.get(at) {
            Some(Cell::Applied) => "applied",
            Some(Cell::Changed) => "changed",
            Some(Cell::Off) | None => "off",
            Some(Cell::No) => "no",
        };
        (state.agent.to_owned(), serde_json::Value::from(word))
    };
    let token_from = match profile.source() {
        Source::None => "none",
        Source::Literal => "literal",
        Source::Env => "env",
        Source::Command => "command",
        Source::File => "file",
    };
    Row {
        name: profile.name.clone(),
        base_url: profile.base_url.clone(),
        model: profile.model.clone(),
        token_from,
        token: profile.token.as_deref().map(|token| shown(token, reveal)),
        env_key: profile.env_key.clone(),
        wire_api: profile.wire_api.clone(),
        agents: states.iter().map(cell).collect(),
    }
}

/// A token for people: its last four characters at most, and none of a short one.
fn shown(token: &str, reveal: bool) -> String {
    if reveal {
        return clean(token);
    }
    let count = token.chars().count();
    let end: String = token.chars().skip(count.saturating_sub(4)).collect();
    if count >= 16 { format!("••••{}", clean(&end)) } else { "••••".to_owned() }
}

fn token(profile: &Profile, reveal: bool) -> String {
    match profile {
        Profile { env_key: Some(name), .. } => format!("${}", clean(name)),
        Profile { token_command: Some(command), .. } => format!("`{}`", clean(command)),
        Profile { token_file: Some(path), .. } => clean(&path.to_string_lossy()),
        Profile { token: Some(token), .. } => shown(token, reveal),
        _ => "-".to_owned(),
    }
}

fn add(args: AddArgs, providers: &Providers<'_>, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let token = match args.token.as_deref() {
        Some("-") => Some(from_stdin(out)?),
        Some(_) => {
            out.say("a token on the command line can be seen by others in the list of processes; `--token -` reads it from stdin");
            args.token
        }
        None => None,
    };
    let profile = Profile {
        name: args.profile,
        base_url: args.base_url,
        model: args.model,
        token,
        env_key: args.env_key,
        wire_api: args.wire_api,
        token_command: args.token_command,
        token_file: args.token_file.map(whole),
    };
    let wish = Wish::Add { profile: Box::new(profile), replace: args.replace, keep: false };
    fulfil(&wish, args.dry_run, args.json, Vec::new(), providers, context, out)
}

/// A path as it is meant here, for readers that are started elsewhere.
fn whole(path: PathBuf) -> PathBuf {
    if path.starts_with("~") { path } else { std::path::absolute(&path).unwrap_or(path) }
}

fn from_stdin(out: &mut Out) -> Result<String, Failure> {
    if out.can_ask() {
        out.say("type the token and enter; what you type can be seen");
    }
    let mut text = String::new();
    let read = std::io::Read::read_to_string(&mut std::io::Read::take(std::io::stdin(), 64 << 10), &mut text);
    read.map_err(|error| Failure::new("could not read the token from stdin").cause(sys::failure::plain(&error)))?;
    let token = text.trim().to_owned();
    if token.is_empty() {
        return Err(Failure::usage("the token on stdin is empty"));
    }
    Ok(token)
}

fn apply(
    profile: String,
    to: ToArgs,
    providers: &Providers<'_>,
    context: &Context,
    out: &mut Out,
) -> Result<u8, Failure> {
    // A wrong name is said before any agent is.
    let profiles = providers.profiles()?;
    let wanted = profiles.one(&profile)?;
    wanted.check()?;
    let (mut agents, mut refused) = (to.agent.clone(), Vec::new());
    if agents.is_empty() {
        // Each agent that can is meant; those that cannot are named.
        for adapter in providers.installed() {
            let id = adapter.about().id.to_owned();
            match providers.look(&Wish::Apply { profile: profile.clone(), agents: vec![id.clone()] }) {
                Ok(_) => agents.push(id),
                Err(failure) => refused.push(RefusedRow { agent: id, why: failure.to_string() }),
            }
        }
        if agents.is_empty() {
            let failure = Failure::new(format!("could not apply {} to any agent", clean(&profile)));
            let failure = refused.iter().fold(failure, |failure, refused| failure.hint(refused.why.clone()));
            return Err(if refused.is_empty() {
                failure.cause("none is installed that can be told an endpoint")
            } else {
                failure
            });
        }
    }
    fulfil(&Wish::Apply { profile, agents }, to.dry_run, to.json, refused, providers, context, out)
}

fn clear(to: ToArgs, providers: &Providers<'_>, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let agents = match to.agent.is_empty() {
        true => providers.written()?.iter().map(|adapter| adapter.about().id.to_owned()).collect(),
        false => to.agent,
    };
    fulfil(&Wish::Clear { agents }, to.dry_run, to.json, Vec::new(), providers, context, out)
}

fn fulfil(
    wish: &Wish,
    dry_run: bool,
    json: bool,
    refused: Vec<RefusedRow>,
    providers: &Providers<'_>,
    context: &Context,
    out: &mut Out,
) -> Result<u8, Failure> {
    let (id, view, left) = if dry_run {
        let (view, left) = providers.look(wish)?;
        (None, view, left)
    } else {
        let (done, left) = providers.fulfil(wish, None)?;
        (done.id, done.view, left)
    };
    if json {
        out.json(&did(id, &view, &left, refused))?;
        return Ok(0);
    }
    for refused in &refused {
        out.say(&clean(&refused.why));
    }
    if view.parts.is_empty() && id.is_none() {
        out.line(if dry_run { "nothing would change" } else { "nothing had to change" });
    } else {
        out.line(&format!("{}{}", if dry_run { "would " } else { "did " }, clean(&view.what)).replacen("did ", "", 1));
    }
    for part in &view.parts {
        out.line(&format!("  {} {}", part.verb, short(context, &part.path)));
        if dry_run {
            for line in &part.diff {
                out.line(&format!("    {}", diff_line(line)));
            }
        }
    }
    for left in &left {
        let file = short(context, &left.file);
        out.say(&format!("{} in {file} was changed by hand since and stays as it is", clean(&left.at)));
    }
    if id.is_some() {
        out.say("`lazyagents undo` takes it back");
    }
    Ok(0)
}

fn did(id: Option<u64>, view: &View, left: &[Left], refused: Vec<RefusedRow>) -> Did {
    let file = |part: &Part| FileRow {
        path: part.path.to_string_lossy().into_owned(),
        verb: part.verb.to_owned(),
        diff: part.diff.clone(),
    };
    let stays = |left: &Left| LeftRow {
        agent: left.agent.to_owned(),
        path: left.file.to_string_lossy().into_owned(),
        at: left.at.clone(),
    };
    Did {
        what: view.what.clone(),
        id,
        changed: id.is_some(),
        files: view.parts.iter().map(file).collect(),
        left: left.iter().map(stays).collect(),
        refused,
    }
}
