//! Provider profiles: named endpoints with model and token, and their way into the settings of agents and out again. Plans
//! only: what is decided here is shown and applied by the desk. What was written is remembered as a fingerprint, with
//! what stood there before, so that a value of the person's own is never taken for ours (lazyagents.md, Providers).

mod applied;
mod profile;
mod state;
#[cfg(all(test, unix))]
mod tests;

use std::path::{Path, PathBuf};

use agents::adapter::Adapter;
use agents::provider::{Spot, Token, Wanted};
use agents::{Capability, Places, Surroundings};
use serde_json::Value;
use sys::Failure;
use sys::edit::{self, Change, Format};
use sys::files::Mode;

pub use applied::{Applied, Record};
pub use profile::{Profile, Profiles, Source, token_of};
pub use state::{Cell, State, states};

use crate::plan::{Act, Plan};

/// A name for a profile: what may stand in a file and on a command line as it is.
///
/// # Errors
/// When it is empty, longer than 64 bytes, or has other characters than letters, digits, `-`, `_` and `.`.
pub fn check_name(name: &str) -> Result<&str, Failure> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(plain) && !name.starts_with(['-', '.']) {
        return Ok(name);
    }
    Err(Failure::usage(format!("{:?} is no name for a profile", sys::text::clean(name)))
        .hint("letters, digits, - _ and . in at most 64 characters, a letter or digit first"))
}

/// The files of ours: `providers.json` in the config folder, what was written in the data folder.
#[derive(Clone, Debug)]
pub struct Store {
    /// The profiles.
    pub profiles: PathBuf,
    /// What was written where.
    pub applied: PathBuf,
}

impl Store {
    /// The store of these folders.
    pub fn of(config: &Path, data: &Path) -> Self {
        Self { profiles: config.join("providers.json"), applied: data.join("provider-applied.json") }
    }
}

/// The agents that can be told an endpoint at all, and whether their settings keep one.
pub fn agents() -> impl Iterator<Item = (&'static dyn Adapter, bool)> {
    let all = agents::adapter::all().iter().copied();
    all.filter_map(|adapter| adapter.provides().map(|provides| (adapter, provides.keeps())))
}

/// What is there for one agent, read anew.
struct Desk<'a> {
    adapter: &'static dyn Adapter,
    around: &'a Surroundings,
    places: Places,
    texts: Vec<(PathBuf, Format, String, Vec<Change>, bool)>,
}

impl<'a> Desk<'a> {
    fn of(adapter: &'static dyn Adapter, around: &'a Surroundings) -> Self {
        Self { adapter, around, places: adapter.places(around), texts: Vec::new() }
    }

    /// What its settings need; why not, in a sentence.
    fn spots(&self, wanted: &Wanted) -> Result<Vec<Spot>, String> {
        let provides = self.adapter.provides().ok_or("this version does not know its settings")?;
        let mut wanted = wanted.clone();
        if let Token::File(path) = &mut wanted.token
            && let Ok(below) = path.strip_prefix("~")
        {
            // No agent's reader knows the sign.
            *path = self.around.home().join(below);
        }
        provides.spots(self.around, &self.places, &wanted)
    }

    /// The text of a file as the plan has it so far.
    fn text(&mut self, path: &Path, format: Format) -> Result<usize, Failure> {
        if let Some(at) = self.texts.iter().position(|(known, ..)| known == path) {
            return Ok(at);
        }
        let text = read(path)?;
        self.texts.push((path.to_path_buf(), format, text, Vec::new(), false));
        Ok(self.texts.len() - 1)
    }

    fn value(&mut self, path: &Path, format: Format, at: &[edit::Step]) -> Result<Option<Value>, Failure> {
        let file = self.text(path, format)?;
        let (path, format, text, ..) = &self.texts[file];
        let values = edit::values(*format, text).map_err(|doubt| doubtful(path, &doubt.to_string()))?;
        Ok(edit::value_at(&values, at).cloned())
    }

    fn change(&mut self, path: &Path, format: Format, change: Change, secret: bool) -> Result<Vec<Change>, Failure> {
        let file = self.text(path, format)?;
        let (path, format, text, changes, private) = &mut self.texts[file];
        let done = edit::apply(*format, text, std::slice::from_ref(&change))
            .map_err(|doubt| doubtful(path, &doubt.to_string()))?;
        *text = done.text;
        *private |= secret;
        changes.push(change);
        Ok(done.undo)
    }

    /// Files in which nothing is left.
    fn blank(&self) -> impl Iterator<Item = PathBuf> + '_ {
        self.texts.iter().filter(|(_, _, text, ..)| text.trim().is_empty()).map(|(path, ..)| path.clone())
    }

    /// The edits of all files.
    fn acts(self) -> impl Iterator<Item = Act> {
        let some = self.texts.into_iter().filter(|(.., changes, _)| !changes.is_empty());
        some.map(|(path, format, _, changes, private)| {
            let mode = if private { Mode::Private } else { Mode::Normal };
            Act::Edit { path, format, changes, mode }
        })
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if length > edit::LONGEST as u64 {
        let (is, most) = (sys::text::human::bytes(length), sys::text::human::bytes(edit::LONGEST as u64));
        return Err(Failure::new(format!("could not change {}", path.display()))
            .cause(format!("it has {is}, and settings of more than {most} are not edited"))
            .hint("nothing was written"));
    }
    let bytes = sys::files::read_bounded(path, edit::LONGEST)?.unwrap_or_default();
    String::from_utf8(bytes).map_err(|_| doubtful(path, "it is not UTF-8"))
}

fn doubtful(path: &Path, why: &str) -> Failure {
    Failure::new(format!("could not change {}", path.display())).cause(why).hint("nothing was written")
}

/// Writes a profile into the settings of these agents.
///
/// # Errors
/// When one of them has no place for it, or a file is not understood: then none is changed.
pub fn plan_apply(
    store: &Store,
    profile: &Profile,
    adapters: &[&'static dyn Adapter],
    around: &Surroundings,
) -> Result<Plan, Failure> {
    let applied = Applied::load(&store.applied)?;
    let ids: Vec<&str> = adapters.iter().map(|adapter| adapter.about().id).collect();
    let what = format!("apply provider {} to {}", profile.name, ids.join(", "));
    let mut plan = Plan { what, acts: Vec::new(), secrets: profile.token.iter().cloned().collect() };
    let (mut records, mut edits) = (Vec::new(), Vec::new());
    for adapter in adapters {
        let id = adapter.about().id;
        let mut desk = Desk::of(*adapter, around);
        let spots = desk.spots(&profile.wanted()).map_err(|why| {
            Failure::new(format!("could not apply {} to {id}", sys::text::clean(&profile.name))).cause(why)
        })?;
        let old = applied.records(id);
        let mut same = old.iter().all(|record| spots.iter().any(|spot| record.is_at(spot)));
        for spot in &spots {
            same &= spot.holds(desk.value(&spot.path, spot.format, &spot.at)?.as_ref());
        }
        if same && (old.is_empty() || applied.profile(id).as_deref() == Some(&profile.name)) {
            continue;
        }
        // Back to what was there before the first of ours, so that what is remembered is always the person's own.
        for record in old.iter().rev() {
            take_back(&mut desk, record)?;
        }
        let mut kept: Vec<Record> = Vec::new();
        for spot in &spots {
            // What the person wrote themselves is theirs, even when it is the same.
            if !spot.holds(desk.value(&spot.path, spot.format, &spot.at)?.as_ref()) {
                let change = Change::Set { at: spot.at.clone(), value: spot.value.clone() };
                let undo = desk.change(&spot.path, spot.format, change, spot.secret)?;
                let made = !spot.path.exists() || old.iter().any(|old| old.file == spot.path && old.made);
                kept.push(Record::new(&applied, spot, undo, made));
            }
        }
        records.push(applied.set(&store.applied, id, &profile.name, kept));
        edits.extend(desk.acts());
    }
    // First what is remembered: a value that is remembered and not there harms nobody.
    if !records.is_empty() {
        plan.acts.extend(applied.salted(&store.applied));
    }
    plan.acts.extend(records);
    plan.acts.extend(edits);
    Ok(plan)
}

fn take_back(desk: &mut Desk<'_>, record: &Record) -> Result<bool, Failure> {
    let now = desk.value(&record.file, record.format, &record.at)?;
    if !now.is_some_and(|now| record.is(&now)) {
        return Ok(false);
    }
    for change in &record.undo {
        desk.change(&record.file, record.format, change.clone(), false)?;
    }
    Ok(true)
}

/// What a plan to clear leaves alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The agent.
    pub agent: &'static str,
    /// The file.
    pub file: PathBuf,
    /// Where in it.
    pub at: String,
}

/// Takes what we wrote out of the settings of these agents; what stood there before comes back. A value that was changed
/// by hand since stays, and is named.
///
/// # Errors
/// When a file is not understood: then none is changed.
pub fn plan_clear(
    store: &Store,
    adapters: &[&'static dyn Adapter],
    around: &Surroundings,
) -> Result<(Plan, Vec<Left>), Failure> {
    let applied = Applied::load(&store.applied)?;
    let ids: Vec<&str> = adapters.iter().map(|adapter| adapter.about().id).collect();
    let mut plan =
        Plan { what: format!("clear the provider of {}", ids.join(", ")), acts: Vec::new(), secrets: Vec::new() };
    let (mut left, mut forgotten) = (Vec::new(), Vec::new());
    for adapter in adapters {
        let id = adapter.about().id;
        let records = applied.records(id);
        if applied.profile(id).is_none() {
            continue;
        }
        let mut desk = Desk::of(*adapter, around);
        for record in records.iter().rev() {
            if !take_back(&mut desk, record)? {
                left.push(Left { agent: id, file: record.file.clone(), at: edit::shown(&record.at) });
            }
        }
        // A file that was not there before goes with the last of ours.
        let made = |path: &PathBuf| records.iter().any(|record| record.file == *path && record.made);
        let gone: Vec<PathBuf> = desk.blank().filter(|path| made(path)).collect();
        plan.acts.extend(desk.acts().map(|act| match act {
            // Through its links: the person's own stay.
            Act::Edit { path, .. } if gone.contains(&path) => {
                Act::Trash { path: sys::files::resolve(&path).unwrap_or(path) }
            }
            act => act,
        }));
        forgotten.push(applied.forget(&store.applied, id));
    }
    // Last what is remembered: see `plan_apply`.
    plan.acts.extend(forgotten);
    Ok((plan, left))
}

/// Adds a profile, or replaces the one of its name.
///
/// # Errors
/// When there is one of this name and `replace` is false, when a value is not fit to be written, or the file is not
/// understood.
pub fn plan_add(store: &Store, profile: &Profile, replace: bool) -> Result<Plan, Failure> {
    profile.check()?;
    let profiles = Profiles::load(&store.profiles)?;
    let found = profiles.list.iter().position(|known| known.name == profile.name);
    if found.is_some() && !replace {
        return Err(Failure::new(format!("there is a profile {} already", profile.name))
            .hint("--replace gives it the new values; `lazyagents provider rm` removes it"));
    }
    let changes = match found {
        None => vec![Change::Append { at: profiles.root(), value: profile.to_value() }],
        Some(at) => {
            let mut place = profiles.root();
            place.push(at.into());
            profile.changes(&place)
        }
    };
    Ok(Plan {
        what: format!("{} provider {}", if found.is_some() { "change" } else { "add" }, profile.name),
        acts: vec![Act::Edit { path: store.profiles.clone(), format: Format::Json, changes, mode: Mode::Private }],
        secrets: profile.token.iter().chain(found.and_then(|at| profiles.list[at].token.as_ref())).cloned().collect(),
    })
}

/// Removes a profile. Where it is in use it stays in the agents' settings until it is cleared.
///
/// # Errors
/// When there is none of this name, or the file is not understood.
pub fn plan_rm(store: &Store, name: &str) -> Result<Plan, Failure> {
    let profiles = Profiles::load(&store.profiles)?;
    let at = profiles.list.iter().position(|known| known.name == name).ok_or_else(|| profiles.unknown(name))?;
    let mut place = profiles.root();
    place.push(at.into());
    Ok(Plan {
        what: format!("remove provider {name}"),
        acts: vec![Act::Edit {
            path: store.profiles.clone(),
            format: Format::Json,
            changes: vec![Change::Remove { at: place, hollow: None }],
            mode: Mode::Private,
        }],
        secrets: profiles.list[at].token.iter().cloned().collect(),
    })
}

/// The adapters of these ids that can be told an endpoint.
///
/// # Errors
/// When an id is unknown.
pub fn named(ids: &[String]) -> Result<Vec<&'static dyn Adapter>, Failure> {
    let one = |id: &String| {
        agents::adapter::by_id(id).ok_or_else(|| {
            let known: Vec<&str> = agents::adapter::all().iter().map(|adapter| adapter.about().id).collect();
            Failure::usage(format!("there is no agent {}", sys::text::clean(id)))
                .hint(format!("there are: {}", known.join(", ")))
        })
    };
    ids.iter().map(one).collect()
}

/// The first value that must stand in an agent's settings for one session with a profile, and does not.
///
/// # Errors
/// When its settings are not understood.
pub fn lacking(adapter: &'static dyn Adapter, around: &Surroundings) -> Result<Option<Spot>, Failure> {
    let mut desk = Desk::of(adapter, around);
    let needs = adapter.provides().map(|provides| provides.needs(&desk.places)).unwrap_or_default();
    for spot in needs {
        if !spot.holds(desk.value(&spot.path, spot.format, &spot.at)?.as_ref()) {
            return Ok(Some(spot));
        }
    }
    Ok(None)
}

/// True when its settings keep an endpoint.
pub fn can(adapter: &dyn Adapter) -> bool {
    adapter.about().can.contains(&Capability::Providers)
}
