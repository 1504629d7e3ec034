//! Where plans are looked at and applied: under one lock for all our processes, each file backed up, written down in the
//! journal, replaced at once and read again. It knows no program's keys. The commands and the driver call it.

use std::path::{Path, PathBuf};

use sys::Failure;

use crate::plan::Plan;

/// The desk of one data folder.
#[derive(Clone, Debug)]
pub struct Desk {
    data: PathBuf,
    command: String,
}

/// What a plan would do, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The plan's own words.
    pub what: String,
    /// One part a file that changes, in the plan's order; files that stay as they are have none.
    pub parts: Vec<Part>,
}

/// What happens to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The file, as the plan names it.
    pub path: PathBuf,
    /// What becomes of it: `change`, `make`, `trash`, `link`, `unlink`.
    pub verb: &'static str,
    /// The lines of a unified diff without its heading, secrets masked; empty for links and the trash.
    pub diff: Vec<String>,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The number of the entry in the history; `None` when nothing had to change, and nothing was written.
    pub id: Option<u64>,
    /// What was changed.
    pub view: View,
}

impl Desk {
    /// The desk of our data folder. `command` tells others who holds its lock: `lazyagents hooks enable x`.
    pub fn of(data: &Path, command: impl Into<String>) -> Self {
        Self { data: data.to_path_buf(), command: command.into() }
    }

    /// What the plan would do. Reads, never writes.
    ///
    /// # Errors
    /// When a file cannot be read or is not understood; with line and column.
    pub fn look(&self, plan: &Plan) -> Result<View, Failure> {
        let _ = (&self.data, &self.command, plan);
        Err(Failure::new("not built yet"))
    }

    /// Makes the plan under the lock, so that what it was made on still holds, and does it: all or nothing. `planner` is
    /// called again when another program changes a file meanwhile.
    ///
    /// # Errors
    /// Those of `planner` and of [`Desk::look`]; when the lock is not free within 10 s; when a step fails. Then every step
    /// before it has been taken back, and the failure says so.
    pub fn apply(&self, planner: &mut dyn FnMut() -> Result<Plan, Failure>) -> Result<Done, Failure> {
        let plan = planner()?;
        self.look(&plan).map(|view| Done { id: None, view })
    }
}
