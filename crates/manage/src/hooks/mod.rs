//! Hooks of the person: a library of ours, and which of them the agents run. Everything is planned first: what is to
//! become of the agents' files and of ours is a [`crate::plan::Plan`] that [`crate::desk`] shows and applies. It writes
//! nothing itself and touches no hook that we did not write. The commands, the tab and doctor call it.

mod arrange;
mod check;
mod import;
mod library;
mod planner;
mod record;
mod standing;
#[cfg(test)]
mod tests;
mod trial;

use std::path::{Path, PathBuf};

use agents::hooks::{Hooks, Look, Rules};
use agents::{Adapter, Surroundings};

pub use check::{Findings, Mend, check, plan_mend};
pub use import::plan_import;
pub use library::{Hook, Library, Line, MOST_COMMANDS, name};
pub use planner::{Planned, Step, Verb, plan_add, plan_disable, plan_enable, plan_more, plan_rm, plan_switch};
pub use record::Record;
pub use standing::{Cell, LineState, Standing};
pub use trial::{Trial, Tried, trial};

/// An agent with hooks, and its files as they are now.
pub struct Seat {
    /// Its id.
    pub agent: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// What never changes about its hooks.
    pub rules: &'static Rules,
    /// The file that we write into.
    pub file: PathBuf,
    /// Its files, that one first.
    pub looks: Vec<Look>,
}

impl Seat {
    /// The seat of `adapter`; `None` when it has no hooks.
    pub fn of(adapter: &'static dyn Adapter, around: &Surroundings) -> Option<Self> {
        let (about, places) = (adapter.about(), adapter.places(around));
        let hooks: &dyn Hooks = adapter.hooks()?;
        let (file, looks) = (hooks.file(&places), hooks.look(&places));
        Some(Self { agent: about.id, name: about.name, rules: hooks.rules(), file, looks })
    }

    /// The file that we write into, as it is.
    pub(crate) fn ours(&self) -> Option<&Look> {
        self.looks.first()
    }

    /// Why the agent runs no hook now.
    pub fn off(&self) -> Option<&str> {
        self.looks.iter().find_map(|look| look.off.as_deref())
    }
}

/// Where the library is, who else is there.
#[derive(Clone, Copy, Debug)]
pub struct Desks<'a> {
    /// Our data folder.
    pub data: &'a Path,
    /// Environment and home folder.
    pub around: &'a Surroundings,
}

impl Desks<'_> {
    /// The seats of these agents; those without hooks are left out.
    pub fn seats(&self, agents: &[&str]) -> Vec<Seat> {
        let known = agents::adapter::all().iter().filter(|adapter| agents.contains(&adapter.about().id));
        known.filter_map(|adapter| Seat::of(*adapter, self.around)).collect()
    }
}
