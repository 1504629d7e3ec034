//! Which profile is in use where: told from the agents' settings as they are now, not from what was done once.

use agents::Surroundings;
use agents::adapter::Adapter;
use sys::edit;

use super::{Applied, Desk, Profile, can};

/// How one profile stands to one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// All its values stand in the agent's settings.
    Applied,
    /// It was applied, and a value of it was changed by somebody else since.
    Changed,
    /// It is not in use.
    Off,
    /// The agent's settings have no place for it.
    No,
}

/// One agent's row of the matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The agent's id.
    pub agent: &'static str,
    /// How each profile stands, in the order they were given.
    pub cells: Vec<Cell>,
    /// Why a profile has no place, by the order of the profiles; empty where it has.
    pub why: Vec<String>,
    /// The profile that was applied last and is remembered.
    pub remembered: Option<String>,
    /// Places whose value was changed since we wrote it.
    pub changed: Vec<String>,
    /// Files that hold the token of a profile in use and that others may read.
    pub open: Vec<std::path::PathBuf>,
    /// Why its settings cannot be read; nothing is known then.
    pub problem: Option<String>,
}

/// How every profile stands to one agent. Reads the agent's settings, never writes.
pub fn states(adapter: &'static dyn Adapter, around: &Surroundings, profiles: &[Profile], applied: &Applied) -> State {
    let id = adapter.about().id;
    let mut state = State {
        agent: id,
        cells: Vec::new(),
        why: Vec::new(),
        remembered: applied.profile(id),
        changed: Vec::new(),
        open: Vec::new(),
        problem: None,
    };
    let mut desk = Desk::of(adapter, around);
    for record in applied.records(id) {
        match desk.value(&record.file, record.format, &record.at) {
            Ok(Some(now)) if record.is(&now) => {}
            Ok(_) => state.changed.push(format!("{} in {}", edit::shown(&record.at), record.file.display())),
            Err(failure) => state.problem = Some(failure.to_string()),
        }
    }
    for profile in profiles {
        let (cell, why) = if can(adapter) { cell(&mut desk, profile, &state) } else { refused(&desk, profile) };
        state.cells.push(cell);
        state.why.push(why);
    }
    // A profile that says less than the one in use is not in use as well, though all it says stands there.
    let is = |name: &str| state.remembered.as_deref() == Some(name);
    let whole = profiles.iter().zip(&state.cells).any(|(one, cell)| is(&one.name) && *cell == Cell::Applied);
    for (profile, cell) in profiles.iter().zip(&mut state.cells) {
        if whole && *cell == Cell::Applied && state.remembered.as_deref() != Some(&profile.name) {
            *cell = Cell::Off;
        }
        if *cell == Cell::Applied {
            state.open.extend(open(&desk, profile));
        }
    }
    state.open.dedup();
    state
}

/// Files that hold a token and are readable for others.
fn open(desk: &Desk<'_>, profile: &Profile) -> Vec<std::path::PathBuf> {
    let spots = desk.spots(&profile.wanted()).unwrap_or_default();
    spots.into_iter().filter(|spot| spot.secret && readable(&spot.path)).map(|spot| spot.path).collect()
}

#[cfg(unix)]
fn readable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn readable(_path: &std::path::Path) -> bool {
    false
}

fn refused(desk: &Desk<'_>, profile: &Profile) -> (Cell, String) {
    (Cell::No, desk.spots(&profile.wanted()).err().unwrap_or_default())
}

fn cell(desk: &mut Desk<'_>, profile: &Profile, state: &State) -> (Cell, String) {
    let spots = match desk.spots(&profile.wanted()) {
        Ok(spots) => spots,
        Err(why) => return (Cell::No, why),
    };
    let mut all = true;
    for spot in &spots {
        match desk.value(&spot.path, spot.format, &spot.at) {
            Ok(now) => all &= spot.holds(now.as_ref()),
            Err(_) => return (Cell::Off, String::new()),
        }
    }
    let cell = match (all, state.remembered.as_deref() == Some(&profile.name)) {
        (true, _) => Cell::Applied,
        (false, true) => Cell::Changed,
        (false, false) => Cell::Off,
    };
    (cell, String::new())
}
