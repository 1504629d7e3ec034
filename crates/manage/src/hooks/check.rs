//! What is wrong with hooks, the person's and everybody else's: doctor's section. It mends nothing by itself and offers to
//! take away only what we wrote: doubles, and what is left of hooks that are not in the library any more.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agents::hooks::{Entry, Look, Trust, words};
use sys::{Env, Failure};

use super::arrange::Sheet;
use super::library::Library;
use super::planner::{Planned, Step, Verb};
use super::record::Record;
use super::trial::starts;
use super::{Desks, Seat};
use crate::plan::Plan;

/// What was found, for people; cleaned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// What is there.
    pub report: Vec<String>,
    /// What is wrong.
    pub problems: Vec<String>,
    /// What [`plan_mend`] would take away.
    pub mends: Vec<Mend>,
}

/// Something of ours that need not be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mend {
    /// The agent.
    pub agent: &'static str,
    /// Its file.
    pub file: PathBuf,
    /// The event.
    pub event: String,
    /// What tells the element.
    pub fingerprint: String,
    /// How many of them go.
    pub times: usize,
    /// The hook that it was written for.
    pub hook: String,
    /// None is left after it.
    pub all: bool,
}

/// Looks at the library, and at the files of these agents. `short` makes paths short for people.
pub fn check(desks: &Desks<'_>, agents: &[&str], env: &Env, short: &dyn Fn(&Path) -> String) -> Findings {
    let mut found = Findings::default();
    let library = Library::load(desks.data);
    found.problems.extend(library.problems.iter().cloned());
    let things = |count: usize| if count == 1 { "1 hook".to_owned() } else { format!("{count} hooks") };
    found.report.push(format!("{} in the library", things(library.hooks.len())));
    let record = Record::load(desks.data).unwrap_or_else(|failure| {
        found.problems.push(sys::text::clean(&failure.to_string()));
        Record::default()
    });
    for seat in desks.seats(agents) {
        seat_report(&seat, &library, &record, env, short, &mut found);
    }
    for (hook, missing) in broken(&library, env) {
        found.problems.push(sys::text::clean(&format!("{hook}: {missing}")));
    }
    found.problems.dedup();
    found
}

/// Commands of the library that do not exist.
fn broken(library: &Library, env: &Env) -> Vec<(String, String)> {
    let mut broken = Vec::new();
    for hook in &library.hooks {
        for line in &hook.lines {
            if let Some(why) = missing(&hook.command(line), env) {
                broken.push((hook.name.clone(), why));
            }
        }
    }
    broken
}

/// Why a command line cannot run: its program is not there, or the script that an interpreter is given.
fn missing(command: &str, env: &Env) -> Option<String> {
    const INTERPRETERS: [&str; 9] = ["sh", "bash", "zsh", "python", "python3", "node", "ruby", "perl", "bun"];
    // What we put before the command of a pack.
    let command = command
        .strip_prefix("export CLAUDE_PLUGIN_ROOT=")
        .and_then(|rest| rest.split_once("; "))
        .map_or(command, |(_, rest)| rest);
    let words = words(command);
    let first = words.first()?;
    if starts(first, env, None) == Some(false) {
        return Some(format!("{first} does not exist"));
    }
    let name = Path::new(first).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let script = words
        .get(1)
        .filter(|word| INTERPRETERS.contains(&name.as_str()) && (word.starts_with('/') || word.starts_with('~')))?;
    (starts(script, env, None) == Some(false)).then(|| format!("{script} does not exist"))
}

fn seat_report(
    seat: &Seat,
    library: &Library,
    record: &Record,
    env: &Env,
    short: &dyn Fn(&Path) -> String,
    found: &mut Findings,
) {
    let clean = |text: String| sys::text::clean(&text);
    let owned = record.owned(seat.agent, &seat.file).cloned().unwrap_or_default();
    let is_ours = |path: &Path, entry: &Entry| {
        *path == seat.file
            && owned.entries.iter().any(|m| m.event == entry.event && m.fingerprint == entry.fingerprint())
    };
    let (mut ours, mut foreign, mut waiting) = (0, 0, 0);
    for look in &seat.looks {
        let file = short(&look.path);
        if let Some(why) = &look.unreadable {
            found.problems.push(clean(format!("{}: {file} could not be understood: {why}", seat.name)));
        }
        if let Some(why) = &look.off {
            found.report.push(clean(format!("  {} runs no hook: {why}", seat.name)));
        }
        found.problems.extend(look.oddities.iter().map(|oddity| clean(format!("{}: {file}: {oddity}", seat.name))));
        for entry in &look.entries {
            let count = if is_ours(&look.path, entry) { &mut ours } else { &mut foreign };
            *count += 1;
            for command in entry.commands.iter().filter(|command| command.runs) {
                if let Some(why) = missing(&command.command, env) {
                    found.problems.push(clean(format!("{}: {file}: {}: {why}", seat.name, entry.event)));
                }
                waiting += usize::from(matches!(command.trust, Some(Trust::Untrusted | Trust::Modified)));
            }
        }
        twice(seat, look, &is_ours, &file, &owned, found);
    }
    let mut line = format!("{}  {ours} of yours, {foreign} of others", seat.name);
    if waiting > 0 {
        line.push_str(&format!(", {waiting} not trusted by you in {} (it does not run them)", seat.name));
    }
    found.report.push(line);
    // Left of hooks that are gone, and older versions of those that are not.
    for mine in &owned.entries {
        let hook = library.hooks.iter().find(|hook| hook.name == mine.hook);
        let wanted = hook.is_some_and(|hook| {
            let wants = hook.wants(seat.rules);
            wants.iter().any(|want| {
                want.landing.event == mine.event && agents::hooks::fingerprint(&want.value) == mine.fingerprint
            })
        });
        let entries = seat.ours().map(|look| look.entries.as_slice()).unwrap_or_default();
        let there = entries.iter().any(|entry| entry.event == mine.event && entry.fingerprint() == mine.fingerprint);
        if wanted || !there || owned.shared(&mine.hook, &mine.event, &mine.fingerprint).is_some() {
            if !there {
                let file = short(&seat.file);
                let what = format!(
                    "  {}: {file}: what was written on {} for {} is gone or was changed by hand",
                    seat.name, mine.event, mine.hook
                );
                found.report.push(clean(what));
            }
            continue;
        }
        let why = match hook {
            Some(hook) => format!("is of an older version of {}", hook.name),
            None => format!("is left of {}, which is not in the library any more", mine.hook),
        };
        let file = short(&seat.file);
        found.problems.push(clean(format!("{}: {file}: a hook on {} {why}", seat.name, mine.event)));
        found.mends.push(Mend {
            agent: seat.agent,
            file: seat.file.clone(),
            event: mine.event.clone(),
            fingerprint: mine.fingerprint.clone(),
            times: 1,
            hook: mine.hook.clone(),
            all: true,
        });
    }
}

/// The same element several times in one list.
fn twice(
    seat: &Seat,
    look: &Look,
    is_ours: &dyn Fn(&Path, &Entry) -> bool,
    file: &str,
    owned: &super::record::Owned,
    found: &mut Findings,
) {
    let mut seen = BTreeSet::new();
    for (at, entry) in look.entries.iter().enumerate() {
        let earlier = look.entries[..at].iter().filter(|other| other.event == entry.event);
        let commands = |entry: &Entry| entry.commands.iter().map(|c| c.command.clone()).collect::<Vec<_>>();
        for other in earlier.flat_map(commands) {
            if let Some(own) = commands(entry).into_iter().find(|own| agents::hooks::kin(own, &other)) {
                let words =
                    format!("{}: {file}: {} runs two versions of one hook: {other} and {own}", seat.name, entry.event);
                found.problems.push(sys::text::clean(&words));
            }
        }
        let print = entry.fingerprint();
        if !seen.insert((entry.event.as_str(), print)) {
            continue;
        }
        let times =
            look.entries.iter().filter(|other| other.event == entry.event && other.fingerprint() == print).count();
        if times < 2 {
            continue;
        }
        let command = entry.commands.first().map(|command| command.command.as_str()).unwrap_or_default();
        let words = format!("{}: {file}: {} has the same hook {times} times: {command}", seat.name, entry.event);
        let words = sys::text::clean(&words);
        if is_ours(&look.path, entry) {
            found.problems.push(words);
            let mine = owned.entries.iter().find(|mine| mine.event == entry.event && mine.fingerprint == print);
            found.mends.push(Mend {
                agent: seat.agent,
                file: seat.file.clone(),
                event: entry.event.clone(),
                fingerprint: print.to_owned(),
                times: times - 1,
                hook: mine.map(|mine| mine.hook.clone()).unwrap_or_default(),
                all: false,
            });
        } else {
            found.problems.push(format!("{words} (not ours: take one away by hand)"));
        }
    }
}

/// Takes away what [`check`] found to be too much of ours.
///
/// # Errors
/// When a file is not understood.
pub fn plan_mend(desks: &Desks<'_>, agents: &[&str], env: &Env) -> Result<Planned, Failure> {
    let mends = check(desks, agents, env, &|path| path.display().to_string()).mends;
    let mut record = Record::load(desks.data)?;
    let before = record.clone();
    let mut planned = Planned::default();
    let mut acts = Vec::new();
    for seat in desks.seats(agents) {
        let mine: Vec<&Mend> = mends.iter().filter(|mend| mend.agent == seat.agent).collect();
        if mine.is_empty() {
            continue;
        }
        let mut sheet = Sheet::of(&seat)?;
        let owned = record.owned_mut(seat.agent, &seat.file);
        for mend in mine {
            for _ in 0..mend.times {
                let places = sheet.places(&mend.event, &mend.fingerprint);
                // The last ones go: what comes before them keeps its position.
                let Some(last) = places.last().filter(|_| mend.all || places.len() > 1) else { break };
                let entry = seat.ours().and_then(|look| {
                    look.entries.iter().find(|e| e.event == mend.event && e.fingerprint() == mend.fingerprint)
                });
                let (matcher, command) = entry.map(|entry| super::arrange::words(&entry.value)).unwrap_or_default();
                sheet.remove(&mend.event, *last, owned)?;
                planned.steps.push(Step {
                    agent: seat.agent,
                    file: seat.file.clone(),
                    verb: Verb::Remove,
                    event: mend.event.clone(),
                    matcher,
                    command,
                });
            }
            if mend.all {
                owned.forget(&mend.hook, &mend.event, &mend.fingerprint);
            }
        }
        let library = Library::load(desks.data);
        owned.enabled.retain(|name| library.hooks.iter().any(|hook| hook.name == *name));
        acts.extend(sheet.act());
    }
    record.tidy();
    if record != before {
        acts.push(record.put(desks.data)?);
    }
    planned.plan =
        Plan { what: "remove hooks of ours that are there twice or left over".to_owned(), acts, secrets: Vec::new() };
    Ok(planned)
}
