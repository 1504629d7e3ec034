//! What becomes of the library and of the agents' files: a plan for each thing that a person can ask for. It reads what is
//! there now; the desk calls it again when that has changed meanwhile.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use sys::edit::{Change, Format};
use sys::files::Mode;
use sys::{Failure, path};

use super::arrange::{Sheet, arrange};
use super::library::{self, Hook, Library, Line, MOST_COMMANDS, Want};
use super::record::Record;
use super::standing::Standing;
use super::{Desks, Seat};
use crate::plan::{Act, Plan};

/// A plan, and what to say of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planned {
    /// What is to be done.
    pub plan: Plan,
    /// Command by command.
    pub steps: Vec<Step>,
    /// What the person has to know besides; cleaned.
    pub notes: Vec<String>,
}

/// What happens to one command at one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The agent.
    pub agent: &'static str,
    /// Its file.
    pub file: PathBuf,
    /// What happens.
    pub verb: Verb,
    /// The agent's event.
    pub event: String,
    /// The matcher, in the agent's words.
    pub matcher: Option<String>,
    /// What is run.
    pub command: String,
}

/// What can happen to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// It is written.
    Add,
    /// It takes the place of an older version of ours.
    Replace,
    /// It goes.
    Remove,
    /// It goes, and hooks of the same event behind it move up.
    RemoveBefore,
    /// It is there already, and ours.
    Keep,
    /// It is there already, because another hook of ours wants the same: one entry for both.
    Share,
    /// It stays, because another hook of ours wants the same.
    Unshare,
    /// The same is there already and not ours: nothing is written, and it is not touched.
    Foreign,
    /// What we wrote is not there any more, or was changed by hand: what is there is not touched.
    Gone,
}

impl Verb {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Remove | Self::RemoveBefore => "remove",
            Self::Keep => "is there already",
            Self::Share => "is there already for another hook of yours",
            Self::Unshare => "stays: another hook of yours wants it",
            Self::Foreign => "is there already and not ours: left as it is",
            Self::Gone => "is gone or was changed by hand: left as it is",
        }
    }

    /// Something is written because of it.
    pub fn changes(self) -> bool {
        matches!(self, Self::Add | Self::Replace | Self::Remove | Self::RemoveBefore)
    }
}

/// What one agent is to run of a hook.
type Wanted<'a> = dyn Fn(&Seat) -> Option<Vec<Want>> + 'a;

/// What becomes of a hook where it is arranged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stay {
    /// It is enabled, if anything of ours is there.
    Enabled,
    /// It was and is enabled, whatever is switched off.
    Kept,
    /// It is not.
    Gone,
}

/// Arranges `hook` at every seat for which `wanted` says something. The step that remembers, and those that change files.
fn everywhere(
    desks: &Desks<'_>,
    seats: &[Seat],
    hook: &str,
    (stay, wanted): (Stay, &Wanted<'_>),
    planned: &mut Planned,
) -> Result<(Option<Act>, Vec<Act>), Failure> {
    let mut record = Record::load(desks.data)?;
    let before = record.clone();
    let mut edits = Vec::new();
    for seat in seats {
        let Some(wants) = wanted(seat) else { continue };
        let mut sheet = Sheet::of(seat)?;
        let owned = record.owned_mut(seat.agent, &seat.file);
        let from = planned.steps.len();
        arrange(seat, &mut sheet, owned, hook, &wants, planned)?;
        match stay {
            // Where only somebody else has it, nothing of ours is there to be remembered.
            Stay::Enabled if !owned.entries.iter().any(|mine| mine.hook == hook) => {}
            Stay::Enabled | Stay::Kept => {
                owned.enabled.insert(hook.to_owned());
            }
            Stay::Gone => {
                owned.enabled.remove(hook);
            }
        }
        notes(seat, from, planned);
        edits.extend(sheet.act());
    }
    record.tidy();
    let put = if record == before { None } else { Some(record.put(desks.data)?) };
    Ok((put, edits))
}

/// What has to be known of what was planned for one agent.
fn notes(seat: &Seat, from: usize, planned: &mut Planned) {
    let steps = &planned.steps[from..];
    let mut notes = Vec::new();
    let written = steps.iter().any(|step| matches!(step.verb, Verb::Add | Verb::Replace));
    if written && !seat.rules.consent.is_empty() {
        notes.push(format!("{}: {}", seat.name, seat.rules.consent));
    }
    if written && let Some(why) = seat.off() {
        notes.push(format!("{} runs no hook now: {why}", seat.name));
    }
    if !seat.rules.consent.is_empty() && steps.iter().any(|step| step.verb == Verb::RemoveBefore) {
        notes.push(format!(
            "{}: hooks of the same event that come behind it get another number, so it asks for them again",
            seat.name
        ));
    }
    if seat.rules.strict
        && written
        && let Some(oddity) =
            seat.ours().and_then(|look| look.oddities.iter().find(|o| o.contains("nothing of the file")))
    {
        notes.push(format!("{} takes nothing of {} as it is: {oddity}", seat.name, seat.file.display()));
    }
    let elsewhere = seat.looks.iter().skip(1).find(|look| !look.entries.is_empty());
    if let Some(other) =
        elsewhere.filter(|_| seat.rules.strict && written && seat.ours().is_none_or(|look| !look.exists))
    {
        let (name, file) = (other.path.display(), seat.file.display());
        notes.push(format!(
            "{}: hooks of yours are in {name}; it reads {file} too, and says at its start that there are both",
            seat.name
        ));
    }
    let there = seat.looks.iter().flat_map(|look| &look.entries);
    for entry in there.filter(|_| written) {
        let mine = |step: &&Step| matches!(step.verb, Verb::Add) && step.event == entry.event;
        for (step, command) in steps.iter().filter(mine).flat_map(|step| entry.commands.iter().map(move |c| (step, c)))
        {
            if agents::hooks::kin(&step.command, &command.command) {
                notes.push(format!(
                    "{} runs {} from another place on {} already: {}; that is not ours, so both will run",
                    seat.name, step.command, step.event, command.command
                ));
            }
        }
    }
    for note in notes {
        planned.notes.push(sys::text::clean(&note));
    }
}

fn names(seats: &[Seat]) -> String {
    seats.iter().map(|seat| seat.agent).collect::<Vec<_>>().join(", ")
}

/// Enables a hook for these agents: what is on of it and has an event there. Twice is once; an older version of ours is
/// replaced; the same hook of somebody else is neither doubled nor taken over.
///
/// # Errors
/// When there is no such hook, an agent fires none of its events or has no hooks, or a file is not understood.
pub fn plan_enable(desks: &Desks<'_>, name: &str, agents: &[&str]) -> Result<Planned, Failure> {
    let library = Library::load(desks.data);
    let hook = library.get(name)?;
    let seats = desks.seats(agents);
    able(agents, &seats)?;
    let mut planned = Planned::default();
    for seat in &seats {
        if !hook.fires(seat.rules) {
            let events: BTreeSet<_> = hook.lines.iter().map(|line| line.event.as_str()).collect();
            let events = sys::text::clean(&events.into_iter().collect::<Vec<_>>().join(", "));
            return Err(
                Failure::new(format!("{} has no event for {name}", seat.name)).cause(format!("it fires on {events}"))
            );
        }
        for line in &hook.lines {
            if seat.rules.land(&line.event, line.matcher.as_deref()).is_err() {
                planned
                    .notes
                    .push(sys::text::clean(&format!("{} has no {}: that command is left out", seat.name, line.event)));
            }
            if line.is_async && !seat.rules.is_async {
                planned.notes.push(format!("{} waits for a command that need not be waited for", seat.name));
            }
        }
    }
    let (put, edits) =
        everywhere(desks, &seats, name, (Stay::Enabled, &|seat| Some(hook.wants(seat.rules))), &mut planned)?;
    planned.notes.dedup();
    // Ours first: after a crash there is at worst something remembered that is not there.
    planned.plan = Plan {
        what: format!("enable hook {name} for {}", names(&seats)),
        acts: put.into_iter().chain(edits).collect(),
        secrets: Vec::new(),
    };
    Ok(planned)
}

/// Takes away what we wrote for a hook, at these agents. It need not be in the library any more.
///
/// # Errors
/// When an agent has no hooks, a file is not understood, or nobody knows the hook.
pub fn plan_disable(desks: &Desks<'_>, name: &str, agents: &[&str]) -> Result<Planned, Failure> {
    let seats = desks.seats(agents);
    able(agents, &seats)?;
    let record = Record::load(desks.data)?;
    let ours = |seat: &Seat| record.is_enabled(seat.agent, &seat.file, name);
    let library = Library::load(desks.data);
    if !seats.iter().any(ours) {
        library.get(name)?;
    }
    let mut planned = Planned::default();
    if let Ok(hook) = library.get(name) {
        for seat in seats.iter().filter(|seat| !ours(seat)) {
            let standing = Standing::of(hook, seat, &record);
            if standing.foreign() > 0 {
                planned.notes.push(format!("{} has the same hook, but it is not ours: left as it is", seat.name));
            }
        }
    }
    let wanted = |seat: &Seat| ours(seat).then(Vec::new);
    let (put, edits) = everywhere(desks, &seats, name, (Stay::Gone, &wanted), &mut planned)?;
    let with: Vec<_> = seats.iter().filter(|seat| ours(seat)).map(|seat| seat.agent).collect();
    planned.plan = Plan {
        what: format!("disable hook {name} for {}", with.join(", ")),
        acts: edits.into_iter().chain(put).collect(),
        secrets: Vec::new(),
    };
    Ok(planned)
}

fn able(agents: &[&str], seats: &[Seat]) -> Result<(), Failure> {
    match agents.iter().find(|agent| !seats.iter().any(|seat| seat.agent == **agent)) {
        None => Ok(()),
        Some(agent) => Err(Failure::new(format!("{} has no hooks that could be written", sys::text::clean(agent)))
            .hint(format!(
                "these have: {}",
                agents::adapter::all()
                    .iter()
                    .filter(|a| a.hooks().is_some())
                    .map(|a| a.about().id)
                    .collect::<Vec<_>>()
                    .join(", ")
            ))),
    }
}

/// Puts a new hook into the library.
///
/// # Errors
/// When the name is taken or cannot be one, there is no command or no event, or no agent has the event.
pub fn plan_add(desks: &Desks<'_>, name: &str, description: &str, lines: &[Line]) -> Result<Planned, Failure> {
    library::name(name)?;
    free(desks.data, name).map_err(|failure| {
        let words = format!("`--more` gives {name} another command, `lazyagents hooks rm {name}` removes it");
        failure.hint(format!("{words}; or take another name"))
    })?;
    let mut planned = Planned::default();
    if lines.is_empty() {
        return Err(Failure::usage("a hook has one command at least"));
    }
    for line in lines {
        known(&line.event)?;
        if line.command.trim().is_empty() {
            return Err(Failure::usage("a hook has a command that is run"));
        }
    }
    let act = put(desks.data, name, description, lines, None, Map::new())?;
    planned.plan = Plan { what: format!("add hook {name}"), acts: vec![act], secrets: Vec::new() };
    Ok(planned)
}

/// Gives a hook one more command; agents that run the hook follow. One that it has already changes nothing.
///
/// # Errors
/// When there is no such hook, no agent has the event, there are too many commands, or a file is not understood.
pub fn plan_more(desks: &Desks<'_>, name: &str, line: &Line) -> Result<Planned, Failure> {
    known(&line.event)?;
    if line.command.trim().is_empty() {
        return Err(Failure::usage("a hook has a command that is run"));
    }
    let library = Library::load(desks.data);
    let hook = library.get(name)?;
    let mut after: Hook = hook.clone();
    let mut acts = Vec::new();
    if !hook.lines.contains(line) {
        if hook.lines.len() >= MOST_COMMANDS {
            return Err(Failure::new(format!("{name} has {MOST_COMMANDS} commands already, and more are not read")));
        }
        after.lines.push(line.clone());
        acts.push(Act::Edit {
            path: hook.path.clone(),
            format: Format::Json,
            changes: vec![Change::Append { at: path!["hooks"], value: line.value() }],
            mode: Mode::Normal,
        });
    }
    let (followed, planned) = follow(desks, hook, &after)?;
    acts.extend(followed);
    let plan = Plan { what: format!("add a command to hook {name}"), acts, secrets: Vec::new() };
    Ok(Planned { plan, ..planned })
}

/// What agents that run `hook` do when it becomes `after`: what is remembered first.
fn follow(desks: &Desks<'_>, hook: &Hook, after: &Hook) -> Result<(Vec<Act>, Planned), Failure> {
    let ids: Vec<&str> = agents::adapter::all().iter().map(|adapter| adapter.about().id).collect();
    let seats = desks.seats(&ids);
    let record = Record::load(desks.data)?;
    let mut planned = Planned::default();
    let wanted = |seat: &Seat| record.is_enabled(seat.agent, &seat.file, &hook.name).then(|| after.wants(seat.rules));
    let (put, edits) = everywhere(desks, &seats, &hook.name, (Stay::Kept, &wanted), &mut planned)?;
    Ok((put.into_iter().chain(edits).collect(), planned))
}

/// Refuses an event that no agent has.
fn known(event: &str) -> Result<(), Failure> {
    let rules: Vec<_> =
        agents::adapter::all().iter().filter_map(|adapter| adapter.hooks()).map(agents::hooks::Hooks::rules).collect();
    if rules.iter().any(|rules| rules.event(event).is_some()) {
        return Ok(());
    }
    let common: Vec<&str> = rules.iter().flat_map(|rules| rules.events).map(|event| event.name).collect();
    let near = common
        .iter()
        .find(|known| known.eq_ignore_ascii_case(event) || known.to_lowercase().contains(&event.to_lowercase()));
    let failure = Failure::usage(format!("no agent has an event {}", sys::text::clean(event)));
    Err(match near.filter(|_| event.len() > 2) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint(
            "for example PreToolUse, PostToolUse, UserPromptSubmit, SessionStart, SessionEnd, Stop, Notification",
        ),
    })
}

/// Refuses a name that is taken.
pub(super) fn free(data: &Path, name: &str) -> Result<(), Failure> {
    let taken = [library::file(data, name), library::folder(data).join(name)];
    if taken.iter().any(|path| path.symlink_metadata().is_ok()) {
        return Err(Failure::new(format!("there is a hook {name} already")));
    }
    Ok(())
}

/// The step that writes a file of the library.
pub(super) fn put(
    data: &Path,
    name: &str,
    description: &str,
    lines: &[Line],
    origin: Option<&str>,
    more: Map<String, Value>,
) -> Result<Act, Failure> {
    let mut map = Map::new();
    map.insert("name".to_owned(), json!(name));
    map.insert("description".to_owned(), json!(description));
    map.insert("hooks".to_owned(), lines.iter().map(Line::value).collect());
    map.insert("off".to_owned(), json!([]));
    if let Some(origin) = origin {
        map.insert("origin".to_owned(), json!(origin));
    }
    map.extend(more);
    let text =
        serde_json::to_string_pretty(&map).map_err(|error| Failure::new("could not write the hook").cause(error))?;
    Ok(Act::Put { path: library::file(data, name), bytes: format!("{text}\n").into_bytes(), mode: Mode::Normal })
}

/// Removes a hook: first from every agent, then its file and its scripts go into the trash.
///
/// # Errors
/// When there is no such hook, or a file is not understood.
pub fn plan_rm(desks: &Desks<'_>, name: &str) -> Result<Planned, Failure> {
    library::name(name)?;
    let path = library::file(desks.data, name);
    if path.symlink_metadata().is_err() {
        Library::load(desks.data).get(name)?;
    }
    let ids: Vec<&str> = agents::adapter::all().iter().map(|adapter| adapter.about().id).collect();
    let seats = desks.seats(&ids);
    let record = Record::load(desks.data)?;
    let ours = |seat: &Seat| record.is_enabled(seat.agent, &seat.file, name);
    let mut planned = Planned::default();
    let wanted = |seat: &Seat| ours(seat).then(Vec::new);
    let (record, edits) = everywhere(desks, &seats, name, (Stay::Gone, &wanted), &mut planned)?;
    let mut acts: Vec<Act> = edits.into_iter().chain(record).collect();
    acts.push(Act::Trash { path });
    let folder = library::folder(desks.data).join(name);
    if folder.symlink_metadata().is_ok() {
        acts.push(Act::Trash { path: folder });
    }
    planned.plan = Plan { what: format!("remove hook {name}"), acts, secrets: Vec::new() };
    Ok(planned)
}

/// Switches one command of a hook on or off, by its number from 1; agents that run the hook follow.
///
/// # Errors
/// When there is no such hook or command, or a file is not understood.
pub fn plan_switch(desks: &Desks<'_>, name: &str, number: usize, on: bool) -> Result<Planned, Failure> {
    let library = Library::load(desks.data);
    let hook = library.get(name)?;
    if number == 0 || number > hook.lines.len() {
        return Err(Failure::usage(format!("{name} has no command {number}"))
            .hint(format!("it has {}, counted from 1: `lazyagents hooks list {name}`", hook.lines.len())));
    }
    let mut after: Hook = hook.clone();
    if on {
        after.off.remove(&number);
    } else {
        after.off.insert(number);
    }
    let (followed, planned) = follow(desks, hook, &after)?;
    let word = if on { "on" } else { "off" };
    let mut acts = Vec::new();
    if after.off != hook.off {
        let off: Vec<usize> = after.off.iter().copied().collect();
        acts.push(Act::Edit {
            path: hook.path.clone(),
            format: Format::Json,
            changes: vec![Change::Set { at: path!["off"], value: json!(off) }],
            mode: Mode::Normal,
        });
    }
    acts.extend(followed);
    let plan = Plan { what: format!("switch command {number} of hook {name} {word}"), acts, secrets: Vec::new() };
    Ok(Planned { plan, ..planned })
}
