//! What `lazyagents hooks` prints: tables, details, plans, and the JSON of each.

use std::collections::BTreeMap;

use agents::hooks::Trust;
use manage::desk::View;
use manage::hooks::{Cell, Hook, Library, LineState, Planned, Record, Seat, Standing, Tried, Verb};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use sys::text::{clean, clean_lines, spelled};

use super::super::out::table;
use super::super::{Out, short};
use crate::context::{Context, things};

/// One row of `hooks list --json`: a hook of the library, or one of somebody else in an agent's file.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct HookRow {
    /// Its name; null for what is not in the library.
    name: Option<String>,
    /// It is in the library.
    library: bool,
    /// What it is for.
    description: Option<String>,
    /// Where it was imported from.
    origin: Option<String>,
    /// Its file: the library's, or the agent's that holds it.
    path: String,
    /// What it runs.
    commands: Vec<CommandRow>,
    /// How it stands, by the id of each installed agent with hooks.
    agents: BTreeMap<String, Cell>,
    /// Command by command, by agent; empty for what is not in the library.
    details: BTreeMap<String, Vec<StandingRow>>,
}

/// A command of a hook.
#[derive(Debug, Serialize, JsonSchema)]
struct CommandRow {
    /// From 1.
    number: usize,
    /// The event, as it is written there.
    event: String,
    /// Only for these; null for all.
    matcher: Option<String>,
    /// What is run.
    command: String,
    /// Seconds it may take; null when it is left to the agent.
    timeout: Option<f64>,
    /// The agent need not wait.
    #[serde(rename = "async")]
    is_async: bool,
    /// Not switched off.
    on: bool,
}

/// A command at an agent.
#[derive(Debug, Serialize, JsonSchema)]
struct StandingRow {
    /// From 1.
    number: usize,
    /// How it stands.
    state: LineState,
    /// The agent's event; null when it has none.
    event: Option<String>,
    /// Whether the agent was told to trust it; null where agents ask for no trust, or it is not there.
    trust: Option<Trust>,
}

impl HookRow {
    /// A hook of the library.
    pub(super) fn of(hook: &Hook, seats: &[Seat], record: &Record) -> Self {
        let command = |(at, line): (usize, &manage::hooks::Line)| CommandRow {
            number: at + 1,
            event: line.event.clone(),
            matcher: line.matcher.clone(),
            command: line.command.clone(),
            timeout: line.timeout.and_then(|seconds| u32::try_from(seconds).ok()).map(f64::from),
            is_async: line.is_async,
            on: !hook.off.contains(&(at + 1)),
        };
        let standings: Vec<Standing> = seats.iter().map(|seat| Standing::of(hook, seat, record)).collect();
        let rows = |standing: &Standing| {
            let row = |(at, (state, event, trust)): (usize, &(LineState, Option<&'static str>, Option<Trust>))| {
                StandingRow { number: at + 1, state: *state, event: event.map(str::to_owned), trust: *trust }
            };
            standing.lines.iter().enumerate().map(row).collect()
        };
        Self {
            name: Some(hook.name.clone()),
            library: true,
            description: Some(hook.description.clone()).filter(|words| !words.is_empty()),
            origin: hook.origin.clone(),
            path: hook.path.to_string_lossy().into_owned(),
            commands: hook.lines.iter().enumerate().map(command).collect(),
            agents: standings.iter().map(|standing| (standing.agent.to_owned(), standing.cell)).collect(),
            details: standings.iter().map(|standing| (standing.agent.to_owned(), rows(standing))).collect(),
        }
    }
}

/// What is in agents' files and not ours.
fn others<'a>(
    seats: &'a [Seat],
    record: &'a Record,
) -> impl Iterator<Item = (&'a Seat, &'a agents::hooks::Look, &'a agents::hooks::Entry)> {
    let all = seats.iter().flat_map(|seat| {
        seat.looks.iter().flat_map(move |look| look.entries.iter().map(move |entry| (seat, look, entry)))
    });
    all.filter(|(seat, look, entry)| !record.is_ours(seat.agent, &look.path, entry))
}

/// Rows of what is not ours.
pub(super) fn foreign(seats: &[Seat], record: &Record) -> Vec<HookRow> {
    let row = |(seat, look, entry): (&Seat, &agents::hooks::Look, &agents::hooks::Entry)| HookRow {
        name: None,
        library: false,
        description: None,
        origin: None,
        path: look.path.to_string_lossy().into_owned(),
        commands: entry
            .commands
            .iter()
            .enumerate()
            .map(|(at, command)| CommandRow {
                number: at + 1,
                event: entry.event.clone(),
                matcher: entry.matcher.clone(),
                command: command.command.clone(),
                timeout: command.timeout,
                is_async: command.is_async,
                on: command.trust.is_none_or(|trust| trust != Trust::Off),
            })
            .collect(),
        agents: BTreeMap::from([(seat.agent.to_owned(), Cell::All)]),
        details: BTreeMap::new(),
    };
    others(seats, record).map(row).collect()
}

/// The table of hooks and agents.
pub(super) fn matrix(library: &Library, seats: &[Seat], record: &Record, context: &Context, out: &mut Out) {
    if library.hooks.is_empty() {
        out.line("No hooks yet.  `lazyagents hooks add` makes one, `lazyagents hooks import <folder>` takes those of a plugin");
    } else {
        let mut rows = vec![vec![String::new()]];
        rows[0].extend(seats.iter().map(|seat| seat.agent.to_owned()));
        rows[0].push(String::new());
        for hook in &library.hooks {
            let mut row = vec![clean(&hook.name)];
            row.extend(seats.iter().map(|seat| Standing::of(hook, seat, record).cell.sign().to_owned()));
            row.push(clean(&hook.description));
            rows.push(row);
        }
        for line in table(&rows) {
            out.line(&line);
        }
        out.line("");
        out.line("● all of it  ◐ some  ○ none  – the agent fires none of its events");
    }
    if seats.is_empty() {
        out.line("No agent with hooks is installed.");
    }
    for seat in seats {
        let count = others(std::slice::from_ref(seat), record).count();
        if count > 0 {
            out.line("");
            let are = if count == 1 { "is" } else { "are" };
            out.line(&format!("{}: {} {are} not yours, and never touched", seat.name, things(count, "hook")));
            for (_, look, entry) in others(std::slice::from_ref(seat), record) {
                for command in &entry.commands {
                    let trust = command.trust.map(|trust| format!("  ({})", trust.words())).unwrap_or_default();
                    let event = when(&entry.event, entry.matcher.as_deref());
                    let line = format!("{event} -> {}{trust}  {}", command.command, short(context, &look.path));
                    out.line(&format!("  {}", spelled(&line)));
                }
            }
        }
        if let Some(why) = seat.off() {
            out.line(&clean(&format!("{} runs no hook now: {why}", seat.name)));
        }
    }
}

/// An event with its matcher, for people.
pub(crate) fn when(event: &str, matcher: Option<&str>) -> String {
    matcher.map_or_else(|| event.to_owned(), |matcher| format!("{event} ({matcher})"))
}

/// One hook, all of it.
pub(super) fn detail(hook: &Hook, seats: &[Seat], record: &Record, context: &Context, out: &mut Out) {
    out.heading(&clean(&hook.name));
    if !hook.description.is_empty() {
        out.line(&clean(&hook.description));
    }
    if let Some(origin) = &hook.origin {
        out.line(&format!("from {}", short(context, std::path::Path::new(origin))));
    }
    for (at, line) in hook.lines.iter().enumerate() {
        let off = if hook.off.contains(&(at + 1)) { "  (off)" } else { "" };
        let timeout = line.timeout.map(|seconds| format!("  ({seconds} s)")).unwrap_or_default();
        let line = format!("{} -> {}{timeout}{off}", when(&line.event, line.matcher.as_deref()), line.command);
        out.line(&format!("  {}  {}", at + 1, spelled(&line)));
    }
    out.line("");
    for seat in seats {
        let standing = Standing::of(hook, seat, record);
        out.line(&format!("{} {}  {}", standing.cell.sign(), seat.name, short(context, &seat.file)));
        for (at, (state, event, trust)) in standing.lines.iter().enumerate() {
            let trust = trust.map(|trust| format!(", {}", trust.words())).unwrap_or_default();
            let event = event.map(|event| format!(" on {event}")).unwrap_or_default();
            out.line(&format!("    {}  {}{event}{trust}", at + 1, state_words(*state)));
        }
    }
}

/// For people.
pub(crate) fn state_words(state: LineState) -> &'static str {
    match state {
        LineState::Enabled => "enabled",
        LineState::Foreign => "there, but not ours",
        LineState::Missing => "not there",
        LineState::Off => "switched off",
        LineState::NoEvent => "the agent has no such event",
    }
}

/// Steps, notes, and with a view the differences.
pub(super) fn planned(planned: &Planned, view: Option<&View>, context: &Context, out: &mut Out) {
    let mut before = None;
    for step in &planned.steps {
        if before != Some((step.agent, &step.file)) {
            out.line(&format!("{}  {}", step.agent, short(context, &step.file)));
            before = Some((step.agent, &step.file));
        }
        let command = if step.command.is_empty() { String::new() } else { format!(" -> {}", step.command) };
        let what = format!("{}  {}{command}", step.verb.words(), when(&step.event, step.matcher.as_deref()));
        out.line(&format!("  {}", spelled(&what)));
    }
    if let Some(view) = view {
        for part in super::parts(view) {
            out.line(&format!("{} {}", part.verb, short(context, &part.path)));
            part.diff.iter().for_each(|line| out.line(&format!("  {}", spelled(line))));
        }
    }
    planned.notes.iter().for_each(|note| out.line(note));
}

/// The answer of what changes something, as JSON.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct Changed {
    /// In words.
    what: String,
    /// Something was written, or would be.
    changes: bool,
    /// The number of it in the history; null when nothing was written.
    history: Option<u64>,
    /// Command by command.
    steps: Vec<StepRow>,
    /// File by file.
    files: Vec<FileRow>,
    /// What has to be known besides.
    notes: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct StepRow {
    /// The agent's id.
    agent: String,
    /// Its file.
    file: String,
    /// What happens.
    verb: Verb,
    /// The agent's event.
    event: String,
    /// The matcher, in the agent's words; null for all.
    matcher: Option<String>,
    /// What is run.
    command: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileRow {
    /// The file.
    path: String,
    /// `change`, `make` or `trash`.
    verb: String,
    /// The lines of a unified diff.
    diff: Vec<String>,
}

impl Changed {
    pub(super) fn of(planned: &Planned, view: &View, history: Option<u64>) -> Self {
        let step = |step: &manage::hooks::Step| StepRow {
            agent: step.agent.to_owned(),
            file: step.file.to_string_lossy().into_owned(),
            verb: step.verb,
            event: step.event.clone(),
            matcher: step.matcher.clone(),
            command: step.command.clone(),
        };
        let file = |part: &manage::desk::Part| FileRow {
            path: part.path.to_string_lossy().into_owned(),
            verb: part.verb.to_owned(),
            diff: part.diff.clone(),
        };
        Self {
            what: planned.plan.what.clone(),
            changes: !view.parts.is_empty(),
            history,
            steps: planned.steps.iter().map(step).collect(),
            files: view.parts.iter().map(file).collect(),
            notes: planned.notes.clone(),
        }
    }
}

/// One row of `hooks test --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct TriedRow {
    /// As which agent it was run.
    agent: String,
    /// The command, from 1.
    number: usize,
    /// The agent's event.
    event: String,
    /// What was run.
    command: String,
    /// What it was given on stdin.
    payload: Value,
    /// A real program sent such a payload.
    payload_seen: bool,
    /// Its exit code; null when a signal ended it.
    exit: Option<i32>,
    /// How it ended, in words.
    ended: String,
    /// It was stopped because the agent waits no longer.
    timed_out: bool,
    /// Milliseconds.
    ms: u64,
    /// Seconds that the agent waits.
    limit: u64,
    /// What it wrote.
    stdout: String,
    /// What it wrote there.
    stderr: String,
    /// What the agent makes of it, in words.
    verdict: String,
}

impl TriedRow {
    pub(super) fn of(tried: &Tried, agent: &str) -> Self {
        let exit = match tried.exit {
            sys::proc::Exit::Code(code) if !tried.timed_out => Some(code),
            _ => None,
        };
        Self {
            agent: agent.to_owned(),
            number: tried.number,
            event: tried.event.to_owned(),
            command: tried.command.clone(),
            payload: tried.payload.clone(),
            payload_seen: tried.seen,
            exit,
            ended: tried.exit.to_string(),
            timed_out: tried.timed_out,
            ms: u64::try_from(tried.took.as_millis()).unwrap_or(u64::MAX),
            limit: tried.limit,
            stdout: String::from_utf8_lossy(&tried.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&tried.stderr).into_owned(),
            verdict: tried.verdict.clone(),
        }
    }
}

/// How a trial went, for people: used by the tab as well.
pub(crate) fn tried_lines(tried: &Tried, agent: &str) -> Vec<String> {
    let ended = if tried.timed_out { format!("stopped after {} s", tried.limit) } else { tried.exit.to_string() };
    let mut lines = vec![
        format!("{}  {} -> {}", tried.number, tried.event, spelled(&tried.command)),
        format!("   {ended}, {} ms; {agent} waits {} s", tried.took.as_millis(), tried.limit),
        format!("   {agent}: {}", tried.verdict),
    ];
    if !tried.seen {
        lines.push("   no real payload of this event was seen: it was given what all events have".to_owned());
    }
    for (name, bytes) in [("stdout", &tried.stdout), ("stderr", &tried.stderr)] {
        let text = clean_lines(&String::from_utf8_lossy(bytes));
        if !text.trim().is_empty() {
            lines.push(format!("   {name}"));
            lines.extend(text.trim_end().lines().map(|line| format!("     {line}")));
        }
    }
    lines
}

pub(super) fn tried(tried: &Tried, agent: &str, out: &mut Out) {
    tried_lines(tried, agent).iter().for_each(|line| out.line(line));
}
