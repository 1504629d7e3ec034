//! What the interface does with hooks beside the loop: reads them, plans, applies, tries. The crate `manage` does it; here it
//! is wired to the folders and told in words. The driver calls it.

use std::sync::Arc;

use agents::Surroundings;
use manage::desk::{Desk, View};
use manage::hooks::{self, Cell, Desks, Library, LineState, Planned, Record, Seat, Standing};
use sys::Failure;
use sys::text::{clean, spelled};

use crate::app::event::{Effect, Event};
use crate::app::hooks::{CellLine, CommandLine, HookLine, Job, OtherLine, Prepared, Rack};
use crate::cli::hooks::{installed, parts, state_words, tried_lines, when};
use crate::context::Context;

fn around(context: &Context) -> Result<Surroundings, Failure> {
    Surroundings::of(&context.env).ok_or_else(|| Failure::new("no home folder is known"))
}

/// Carries out an effect on hooks; `None` for any other.
pub fn work(context: &Context, effect: Effect) -> Option<Event> {
    let done = match effect {
        Effect::ReadHooks(number) => load(context).map(|rack| Event::Hooks { number, rack: Arc::new(rack) }),
        Effect::PlanHooks(job) => prepare(context, job).map(|prepared| Event::HooksPlanned(Arc::new(prepared))),
        Effect::ApplyHooks(prepared) => apply(context, &prepared.job, &prepared.seen).map(Event::HooksDone),
        Effect::TestHook { name, agent } => {
            test(context, &name, agent).map(|lines| Event::Text { title: format!("Test of {name}"), lines })
        }
        _ => return None,
    };
    Some(done.unwrap_or_else(|failure| {
        let hints: String = failure.hints().iter().map(|hint| format!("; {hint}")).collect();
        Event::Failed(sys::text::clean(&format!("{failure}{hints}")))
    }))
}

/// Reads the library and the files of the installed agents.
///
/// # Errors
/// When no home folder is known.
pub fn load(context: &Context) -> Result<Rack, Failure> {
    let around = around(context)?;
    let desks = Desks { data: &context.paths.data, around: &around };
    let library = Library::load(desks.data);
    let mut problems = library.problems.clone();
    let record = Record::load(desks.data).unwrap_or_else(|failure| {
        problems.push(clean(&failure.to_string()));
        Record::default()
    });
    let seats = desks.seats(&installed(context));
    for seat in &seats {
        let file = |path: &std::path::Path| context.paths.short(path);
        problems.extend(seat.off().map(|why| clean(&format!("{} runs no hook now: {why}", seat.name))));
        for look in &seat.looks {
            let unreadable = look.unreadable.iter().map(|why| format!("could not be understood: {why}"));
            let all = unreadable.chain(look.oddities.iter().cloned());
            problems.extend(all.map(|why| clean(&format!("{}: {}: {why}", seat.name, file(&look.path)))));
        }
    }
    let mut others = Vec::new();
    for seat in &seats {
        for look in &seat.looks {
            for entry in look.entries.iter().filter(|entry| !record.is_ours(seat.agent, &look.path, entry)) {
                others.extend(entry.commands.iter().map(|command| OtherLine {
                    agent: seat.agent,
                    words: spelled(&format!("{} -> {}", when(&entry.event, entry.matcher.as_deref()), command.command)),
                    file: clean(&context.paths.short(&look.path)),
                    trust: command.trust.map(agents::hooks::Trust::words),
                }));
            }
        }
    }
    let hooks = library.hooks.iter().map(|hook| line(context, hook, &seats, &record)).collect();
    Ok(Rack { agents: seats.iter().map(|seat| (seat.agent, seat.name)).collect(), hooks, others, problems })
}

fn line(context: &Context, hook: &hooks::Hook, seats: &[Seat], record: &Record) -> HookLine {
    let short = |path: &std::path::Path| clean(&context.paths.short(path));
    let command = |(at, line): (usize, &hooks::Line)| CommandLine {
        when: clean(&when(&line.event, line.matcher.as_deref())),
        command: spelled(&line.command),
        timeout: line.timeout,
        on: !hook.off.contains(&(at + 1)),
    };
    let cell = |seat: &Seat| {
        let standing = Standing::of(hook, seat, record);
        let said =
            |(at, (state, event, trust)): (usize, &(LineState, Option<&'static str>, Option<agents::hooks::Trust>))| {
                // All that is as it should be needs no words.
                let plain = *state == LineState::Enabled && trust.is_none();
                if plain
                    || (standing.cell == Cell::None && *state == LineState::Missing)
                    || standing.cell == Cell::Never
                {
                    return None;
                }
                let event = event.map(|event| format!(" on {event}")).unwrap_or_default();
                let trust = trust.map(|trust| format!(", {}", trust.words())).unwrap_or_default();
                Some(format!("{} {}{event}{trust}", at + 1, state_words(*state)))
            };
        let mut lines: Vec<String> = standing.lines.iter().enumerate().filter_map(said).collect();
        if standing.stale > 0 {
            lines.push("an older version of it is there; enabling it again replaces that".to_owned());
        }
        CellLine { cell: standing.cell, file: short(&seat.file), ours: standing.ours() > 0, lines }
    };
    HookLine {
        name: hook.name.clone(),
        description: clean(&hook.description),
        origin: hook.origin.as_ref().map(|origin| short(std::path::Path::new(origin))),
        path: short(&hook.path),
        commands: hook.lines.iter().enumerate().map(command).collect(),
        cells: seats.iter().map(cell).collect(),
    }
}

fn plan(context: &Context, desks: &Desks<'_>, job: &Job) -> Result<Planned, Failure> {
    match job {
        Job::Enable(name, agents) => hooks::plan_enable(desks, name, agents),
        Job::Disable(name, agents) => hooks::plan_disable(desks, name, agents),
        Job::Switch(name, number, on) => hooks::plan_switch(desks, name, *number, *on),
        Job::Add(name, description, line) => hooks::plan_add(desks, name, description, std::slice::from_ref(line)),
        Job::Remove(name) => hooks::plan_rm(desks, name),
        Job::Import(folder) => hooks::plan_import(desks, &context.paths.expand(folder), None, false),
    }
}

fn desk(context: &Context, job: &Job) -> Desk {
    Desk::of(&context.paths.data, format!("lazyagents: {}", job.words().1))
}

/// What a job would do.
///
/// # Errors
/// When it cannot be done; with the reason.
pub fn prepare(context: &Context, job: Job) -> Result<Prepared, Failure> {
    let around = around(context)?;
    let desks = Desks { data: &context.paths.data, around: &around };
    let planned = plan(context, &desks, &job)?;
    let seen = desk(context, &job).look(&planned.plan)?;
    Ok(Prepared { lines: lines(context, &planned, &seen), nothing: seen.parts.is_empty(), job, seen })
}

fn lines(context: &Context, planned: &Planned, seen: &View) -> Vec<String> {
    let short = |path: &std::path::Path| clean(&context.paths.short(path));
    let mut lines = Vec::new();
    let mut before = None;
    for step in &planned.steps {
        if before != Some(&step.file) {
            lines.push(format!("{}  {}", step.agent, short(&step.file)));
            before = Some(&step.file);
        }
        let words =
            format!("{}  {} -> {}", step.verb.words(), when(&step.event, step.matcher.as_deref()), step.command);
        lines.push(format!("  {}", spelled(&words)));
    }
    lines.extend(planned.notes.iter().map(|note| format!("! {note}")));
    for part in parts(seen) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(format!("{} {}", part.verb, short(&part.path)));
        lines.extend(part.diff.iter().map(|line| format!("  {}", clean_diff(line))));
    }
    lines
}

/// A line of a diff: its blanks are a part of it.
fn clean_diff(line: &str) -> String {
    let text = line.trim_start_matches([' ', '\t']);
    format!("{}{}", " ".repeat(line.len() - text.len()), spelled(text))
}

/// Does what was seen; what to tell the person.
///
/// # Errors
/// When it cannot be done, or would do anything else by now.
pub fn apply(context: &Context, job: &Job, seen: &View) -> Result<String, Failure> {
    let around = around(context)?;
    let desks = Desks { data: &context.paths.data, around: &around };
    let done =
        desk(context, job).apply_seen(Some(seen), &mut || plan(context, &desks, job).map(|planned| planned.plan))?;
    Ok(format!("{}; z undoes it", clean(&done.view.what)))
}

/// Runs all commands of a hook as `agent` would, else as the first agent that runs it; what to show.
///
/// # Errors
/// When there is no such hook, or no agent runs it.
pub fn test(context: &Context, name: &str, agent: Option<&str>) -> Result<Vec<String>, Failure> {
    let around = around(context)?;
    let desks = Desks { data: &context.paths.data, around: &around };
    let library = Library::load(desks.data);
    let hook = library.get(name)?;
    let here = installed(context);
    let seats = desks.seats(&agent.map_or(here, |agent| vec![agent]));
    let seat = seats.iter().find(|seat| hook.fires(seat.rules));
    let seat = seat.ok_or_else(|| Failure::new(format!("no agent here runs {}", clean(name))))?;
    let mut lines =
        vec![format!("As {} would run it, in {}", seat.name, clean(&context.paths.short(&context.paths.home)))];
    for (at, line) in hook.lines.iter().enumerate().filter(|(_, line)| seat.rules.event(&line.event).is_some()) {
        let _ = line;
        let (scratch, cancel) = (&context.paths.cache, &sys::proc::Cancel::never());
        let trial = hooks::Trial {
            hook,
            number: at + 1,
            seat,
            cwd: context.paths.home.clone(),
            env: &context.env,
            scratch,
            cancel,
        };
        lines.push(String::new());
        lines.extend(tried_lines(&hooks::trial(&trial)?, seat.name));
    }
    Ok(lines)
}
