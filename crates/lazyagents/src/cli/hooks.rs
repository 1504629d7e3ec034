//! `lazyagents hooks`: the library of hooks, and which agents run them. It plans with `manage::hooks`, shows, and lets the
//! desk apply; whatever it prints is cleaned.

mod show;

use std::cell::RefCell;
use std::path::PathBuf;

use agents::Surroundings;
use clap::Subcommand;
use manage::desk::{Desk, Done, View};
use manage::hooks::{self, Desks, Library, Line, Planned, Record};
use sys::text::clean;
use sys::{Env, Failure};

use super::Out;
use super::interrupt::Interrupt;
use crate::context::Context;

pub(super) use show::{Changed, HookRow, TriedRow};
pub(crate) use show::{state_words, tried_lines, when};

/// Arguments of `hooks`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: List,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Your hooks and which agents run them; the hooks of others below
    List(List),
    /// Make a new hook: a command that agents run on an event
    Add(Add),
    /// Write a hook into the settings of agents
    Enable(Switch),
    /// Take a hook of yours out of the settings of agents
    Disable(Switch),
    /// Switch a single command of a hook on or off, wherever the hook is enabled
    Switch(Single),
    /// Remove a hook: from every agent, then its file and scripts go into the trash
    Rm(Rm),
    /// Take the hooks of a plugin's folder (hooks/hooks.json), with the scripts they need
    Import(Import),
    /// Run a hook as an agent would, with a real payload, and show how it went
    Test(Test),
}

#[derive(Debug, clap::Args)]
struct List {
    /// Only this hook, in detail
    name: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Add {
    /// Its name: letters, digits, `.`, `_`, `-`
    name: String,
    /// The event, by Claude's name (PreToolUse, Stop, ...) or an agent's own
    #[arg(long)]
    event: String,
    /// What is run, by a shell
    #[arg(long)]
    command: String,
    /// Only for these tools or sources: `Bash`, `Edit|Write`
    #[arg(long)]
    matcher: Option<String>,
    /// Seconds it may take
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// What it is for
    #[arg(long, default_value = "")]
    desc: String,
    /// The agent need not wait for it, where it can do that
    #[arg(long = "async")]
    is_async: bool,
    /// Another command for a hook that is there; agents that run the hook follow
    #[arg(long, conflicts_with = "desc")]
    more: bool,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Switch {
    /// The hook
    name: String,
    /// Only for this agent (repeatable); else for every installed one that fires an event of it
    #[arg(long, value_name = "ID")]
    agent: Vec<String>,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Single {
    /// The hook
    name: String,
    /// The number of the command, from 1
    number: usize,
    /// On or off
    state: State,
    #[command(flatten)]
    how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum State {
    /// Run it
    On,
    /// Do not run it
    Off,
}

#[derive(Debug, clap::Args)]
struct Rm {
    /// The hook
    name: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Import {
    /// The plugin's folder, or its hooks.json
    folder: PathBuf,
    /// Under this name; else under the plugin's own
    #[arg(long)]
    name: Option<String>,
    /// Take the place of the hook of that name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
struct Test {
    /// The hook
    name: String,
    /// Only commands of this event
    #[arg(long)]
    event: Option<String>,
    /// As this agent would; else as the first one that runs it
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct How {
    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: Args, context: &Context, out: &mut Out) -> Result<u8, Failure> {
    let around = around(&context.env)?;
    let desks = Desks { data: &context.paths.data, around: &around };
    let work = Work { context, desks };
    match args.command.unwrap_or(Command::List(args.list)) {
        Command::List(list) => work.list(&list, out),
        Command::Add(add) => {
            let Add { name, event, command, matcher, timeout, desc, is_async, more, how } = add;
            let line = Line { event, matcher, command, timeout, is_async };
            work.change(&how, &format!("hooks add {name}"), None, out, &|desks| {
                if more {
                    hooks::plan_more(desks, &name, &line)
                } else {
                    hooks::plan_add(desks, &name, &desc, std::slice::from_ref(&line))
                }
            })
        }
        Command::Enable(Switch { name, agent, how }) => {
            let agents = work.for_enabling(&name, &agent)?;
            let agents: Vec<&str> = agents.iter().map(String::as_str).collect();
            work.change(&how, &format!("hooks enable {name}"), None, out, &|desks| {
                hooks::plan_enable(desks, &name, &agents)
            })
        }
        Command::Disable(Switch { name, agent, how }) => {
            let agents = work.for_disabling(&agent)?;
            let agents: Vec<&str> = agents.iter().map(String::as_str).collect();
            work.change(&how, &format!("hooks disable {name}"), None, out, &|desks| {
                hooks::plan_disable(desks, &name, &agents)
            })
        }
        Command::Switch(Single { name, number, state, how }) => {
            work.change(&how, &format!("hooks switch {name}"), None, out, &|desks| {
                hooks::plan_switch(desks, &name, number, state == State::On)
            })
        }
        Command::Rm(Rm { name, yes, how }) => {
            let question = (!yes).then(|| format!("Remove the hook {}?", clean(&name)));
            work.change(&how, &format!("hooks rm {name}"), question.as_deref(), out, &|desks| {
                hooks::plan_rm(desks, &name)
            })
        }
        Command::Import(Import { folder, name, replace, how }) => {
            work.change(&how, "hooks import", None, out, &|desks| {
                hooks::plan_import(desks, &folder, name.as_deref(), replace)
            })
        }
        Command::Test(test) => work.test(&test, out),
    }
}

/// Environment and home of the agents.
pub(super) fn around(env: &Env) -> Result<Surroundings, Failure> {
    Surroundings::of(env).ok_or_else(|| Failure::new("no home folder is known").hint("set HOME to an absolute path"))
}

/// The installed agents, those with hooks alone.
pub(crate) fn installed(context: &Context) -> Vec<&'static str> {
    let can = |id: &str| agents::adapter::by_id(id).is_some_and(|adapter| adapter.hooks().is_some());
    crate::detection::places(context)
        .iter()
        .filter(|agent| agent.installed && can(agent.id))
        .map(|agent| agent.id)
        .collect()
}

struct Work<'a> {
    context: &'a Context,
    desks: Desks<'a>,
}

impl Work<'_> {
    /// What agents a person means: those named, checked, else every installed one that has an event of the hook.
    fn for_enabling(&self, name: &str, given: &[String]) -> Result<Vec<String>, Failure> {
        let here = installed(self.context);
        if !given.is_empty() {
            for id in given {
                known(id)?;
                if !here.contains(&id.as_str()) && agents::adapter::by_id(id).is_some_and(|a| a.hooks().is_some()) {
                    return Err(Failure::new(format!("{} is not installed here", clean(id)))
                        .hint("`lazyagents agents` shows what was looked for"));
                }
            }
            return Ok(given.to_vec());
        }
        let library = Library::load(self.desks.data);
        let hook = library.get(name)?;
        let seats = self.desks.seats(&here);
        let fires: Vec<String> =
            seats.iter().filter(|seat| hook.fires(seat.rules)).map(|seat| seat.agent.to_owned()).collect();
        if fires.is_empty() {
            return Err(Failure::new(format!("no installed agent runs {}", clean(name))).cause(if here.is_empty() {
                "no agent with hooks is installed"
            } else {
                "none of them has its events"
            }));
        }
        Ok(fires)
    }

    /// Those named, else every agent: what is ours is known.
    fn for_disabling(&self, given: &[String]) -> Result<Vec<String>, Failure> {
        given.iter().try_for_each(|id| known(id))?;
        if !given.is_empty() {
            return Ok(given.to_vec());
        }
        let all = agents::adapter::all().iter().filter(|adapter| adapter.hooks().is_some());
        Ok(all.map(|adapter| adapter.about().id.to_owned()).collect())
    }

    fn list(&self, list: &List, out: &mut Out) -> Result<u8, Failure> {
        let library = Library::load(self.desks.data);
        let record = Record::load(self.desks.data)?;
        let seats = self.desks.seats(&installed(self.context));
        if let Some(name) = &list.name {
            let hook = library.get(name)?;
            let row = HookRow::of(hook, &seats, &record);
            if list.json {
                out.json(&row)?;
            } else {
                show::detail(hook, &seats, &record, self.context, out);
            }
            return Ok(0);
        }
        for problem in &library.problems {
            out.say(problem);
        }
        if list.json {
            let mut rows: Vec<HookRow> = library.hooks.iter().map(|hook| HookRow::of(hook, &seats, &record)).collect();
            rows.extend(show::foreign(&seats, &record));
            out.json(&rows)?;
        } else {
            show::matrix(&library, &seats, &record, self.context, out);
        }
        Ok(0)
    }

    /// Plans, shows, asks where it is asked for, and does it.
    fn change(
        &self,
        how: &How,
        command: &str,
        question: Option<&str>,
        out: &mut Out,
        plan: &dyn Fn(&Desks<'_>) -> Result<Planned, Failure>,
    ) -> Result<u8, Failure> {
        let desk = Desk::of(self.desks.data, format!("lazyagents {}", clean(command)));
        let mut seen = None;
        if how.dry_run || question.is_some() {
            let planned = plan(&self.desks)?;
            let view = &*seen.insert(desk.look(&planned.plan)?);
            if how.dry_run && how.json {
                out.json(&Changed::of(&planned, view, None))?;
                return Ok(0);
            }
            if !how.json {
                show::planned(&planned, Some(view), self.context, out);
            }
            if how.dry_run {
                return Ok(0);
            }
        }
        if let Some(question) = question {
            if !out.can_ask() {
                return Err(Failure::new("this needs somebody who agrees, and nobody is there to be asked")
                    .hint("nothing was changed; agree with --yes, or look first with --dry-run"));
            }
            if !out.confirm(question) {
                return Err(Failure::cancelled("nothing was changed"));
            }
        }
        let (planned, done) = apply(&desk, &self.desks, seen.as_ref(), plan)?;
        if how.json {
            out.json(&Changed::of(&planned, &done.view, done.id))?;
            return Ok(0);
        }
        if question.is_none() {
            show::planned(&planned, None, self.context, out);
        }
        match done.id {
            None => out.line("nothing had to change"),
            Some(_) if done.view.parts.is_empty() => out.line("no file of an agent was changed"),
            Some(id) => out.line(&format!("done: {}; `lazyagents undo {id}` takes it back", clean(&planned.plan.what))),
        }
        Ok(0)
    }

    fn test(&self, test: &Test, out: &mut Out) -> Result<u8, Failure> {
        let library = Library::load(self.desks.data);
        let hook = library.get(&test.name)?;
        let record = Record::load(self.desks.data)?;
        let ids = match &test.agent {
            Some(id) => {
                known(id)?;
                vec![id.as_str()]
            }
            None => {
                let here = installed(self.context);
                if here.is_empty() { vec!["claude-code"] } else { here }
            }
        };
        let seats = self.desks.seats(&ids);
        let runs = |seat: &&hooks::Seat| hooks::Standing::of(hook, seat, &record).ours() > 0;
        let seat = seats
            .iter()
            .find(runs)
            .or_else(|| seats.iter().find(|seat| hook.fires(seat.rules)))
            .or_else(|| seats.first());
        let seat = seat.ok_or_else(|| Failure::new(format!("{} has no hooks", clean(&ids.join(", ")))))?;
        let fits = |line: &Line| {
            let own = seat.rules.event(&line.event);
            own.is_some() && test.event.as_ref().is_none_or(|event| *event == line.event || own == Some(event.as_str()))
        };
        let numbers: Vec<usize> =
            hook.lines.iter().enumerate().filter(|(_, line)| fits(line)).map(|(at, _)| at + 1).collect();
        if numbers.is_empty() {
            let events: Vec<&str> = hook.lines.iter().map(|line| line.event.as_str()).collect();
            let wanted = test.event.as_deref().unwrap_or("an event of it");
            return Err(Failure::new(format!(
                "{} runs nothing of {} on {}",
                seat.name,
                clean(&test.name),
                clean(wanted)
            ))
            .hint(format!("it fires on {}", clean(&events.join(", ")))));
        }
        let interrupt = Interrupt::catch()?;
        let cwd = std::env::current_dir().unwrap_or_else(|_| self.context.paths.home.clone());
        let (mut rows, mut well) = (Vec::new(), true);
        for number in numbers {
            let trial = hooks::Trial {
                hook,
                number,
                seat,
                cwd: cwd.clone(),
                env: &self.context.env,
                scratch: &self.context.paths.cache,
                cancel: &interrupt.cancel,
            };
            let tried = hooks::trial(&trial)?;
            well &= tried.exit.ok() && !tried.timed_out;
            if !test.json {
                show::tried(&tried, seat.name, out);
            }
            rows.push(TriedRow::of(&tried, seat.agent));
        }
        if test.json {
            out.json(&rows)?;
        }
        Ok(u8::from(!well))
    }
}

fn known(id: &str) -> Result<(), Failure> {
    if agents::adapter::by_id(id).is_some() {
        return Ok(());
    }
    let ids: Vec<_> = agents::adapter::all().iter().map(|adapter| adapter.about().id).collect();
    Err(Failure::usage(format!("there is no agent {}", clean(id))).hint(format!("there are: {}", ids.join(", "))))
}

/// Lets the desk do what is planned, planned anew under its lock; with `seen` only what that showed.
fn apply(
    desk: &Desk,
    desks: &Desks<'_>,
    seen: Option<&View>,
    plan: &dyn Fn(&Desks<'_>) -> Result<Planned, Failure>,
) -> Result<(Planned, Done), Failure> {
    let last = RefCell::new(Planned::default());
    let done = desk.apply_seen(seen, &mut || {
        let planned = plan(desks)?;
        let plan = planned.plan.clone();
        last.replace(planned);
        Ok(plan)
    })?;
    Ok((last.into_inner(), done))
}

/// The parts of a view that a person wants to see: not the list of what is ours.
pub(crate) fn parts(view: &View) -> impl Iterator<Item = &manage::desk::Part> {
    view.parts.iter().filter(|part| part.path.file_name().is_none_or(|name| name != "hooks-enabled.json"))
}
