//! Where plans are looked at and applied: under one lock for all our processes, each file backed up, written down in the
//! journal, replaced at once and read again. It knows no program's keys. The commands and the driver call it.

use std::path::{Path, PathBuf};

use sys::Failure;
use sys::edit::{self, Change};
use sys::files::journal::{Act as Step, Edits, Journal, Open, Stop};
use sys::files::{Mode, UPDATE_MAX, read_bounded};
use sys::text::human;

use crate::diff;
use crate::plan::{Act, Plan};

/// Times a change is planned anew because another program changed a file meanwhile.
const TRIES: usize = 5;

/// The desk of one data folder.
#[derive(Clone, Debug)]
pub struct Desk {
    journal: Journal,
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
        Self { journal: Journal::of(data), command: command.into() }
    }

    /// The journal behind it: history and undo.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// What the plan would do. Reads, never writes.
    ///
    /// # Errors
    /// When a file cannot be read or is not understood; with line and column.
    pub fn look(&self, plan: &Plan) -> Result<View, Failure> {
        drafted(plan).map(|(_, view)| self.shown(view))
    }

    /// Without the files in which we remember things for ourselves: those right in the data folder.
    fn shown(&self, mut view: View) -> View {
        let own = self.journal.file().parent().map(Path::to_path_buf);
        view.parts.retain(|part| part.path.parent() != own.as_deref());
        view
    }

    /// Makes the plan under the lock, so that what it was made on still holds, and does it: all or nothing. `planner` is
    /// called again when another program changes a file meanwhile.
    ///
    /// # Errors
    /// Those of `planner` and of [`Desk::look`]; when the lock is not free within 10 s; when a step fails. Then every step
    /// before it has been taken back, and the failure says so.
    pub fn apply(&self, planner: &mut dyn FnMut() -> Result<Plan, Failure>) -> Result<Done, Failure> {
        self.apply_seen(None, planner)
    }

    /// As [`Desk::apply`], but only when the plan still does what `seen` showed, which the person has agreed to.
    ///
    /// # Errors
    /// As [`Desk::apply`], and when the plan would do anything else by now; nothing is changed then.
    pub fn apply_seen(
        &self,
        seen: Option<&View>,
        planner: &mut dyn FnMut() -> Result<Plan, Failure>,
    ) -> Result<Done, Failure> {
        let mut open = self.journal.open(&self.command)?;
        let mut last = None;
        for _ in 0..TRIES {
            let plan = planner()?;
            match self.once(&mut open, &plan, seen) {
                Err(Stop::Changed(path)) => last = Some(path),
                done => return done.map_err(Stop::into_failure),
            }
        }
        let path = last.unwrap_or_default();
        Err(Failure::new(format!("could not change {}", path.display()))
            .cause("another program keeps changing it")
            .hint("nothing was written; close the program that uses it and try again"))
    }

    fn once(&self, open: &mut Open, plan: &Plan, seen: Option<&View>) -> Result<Done, Stop> {
        let (steps, view) = drafted(plan)?;
        let view = self.shown(view);
        if seen.is_some_and(|seen| *seen != view) {
            return Err(Stop::Failed(
                Failure::new(format!("did not {}", plan.what))
                    .cause("the files were changed since you looked")
                    .hint("nothing was written; look again"),
            ));
        }
        let what = diff::masked(&plan.what, &plan.secrets);
        let id = open.run(&what, steps)?;
        Ok(Done { id, view })
    }
}

/// The plan on the files as they are now.
fn drafted(plan: &Plan) -> Result<(Vec<Step>, View), Failure> {
    let mut steps: Vec<Step> = Vec::new();
    let mut view = View { what: plan.what.clone(), parts: Vec::new() };
    for act in &plan.acts {
        match act {
            Act::Edit { path, format, changes, mode } => {
                let step = edited(path, *format, changes, *mode, &mut steps)?;
                view.parts.extend(part(&step, &plan.secrets));
                steps.push(step);
            }
            Act::Put { path, bytes, mode } => {
                let old = read_bounded(path, UPDATE_MAX)?;
                let step = Step::Write { path: path.clone(), old, new: bytes.clone(), mode: *mode, edits: None };
                view.parts.extend(part(&step, &plan.secrets));
                steps.push(step);
            }
            Act::Trash { path } => {
                if std::fs::symlink_metadata(path).is_ok() {
                    view.parts.push(Part { path: path.clone(), verb: "trash", diff: Vec::new() });
                }
                steps.push(Step::Trash(path.clone()));
            }
            Act::Link { path, to } => {
                if std::fs::read_link(path).ok().as_ref() != Some(to) {
                    view.parts.push(Part { path: path.clone(), verb: "link", diff: Vec::new() });
                }
                steps.push(Step::Link { path: path.clone(), to: to.clone() });
            }
            Act::Unlink { path, to } => {
                if std::fs::read_link(path).ok().as_ref() == Some(to) {
                    view.parts.push(Part { path: path.clone(), verb: "unlink", diff: Vec::new() });
                }
                steps.push(Step::Unlink { path: path.clone(), to: to.clone() });
            }
        }
    }
    Ok((steps, view))
}

/// One edit as a write. A second edit of the same file goes on where the first one ended, in one write.
fn edited(
    path: &Path,
    format: edit::Format,
    changes: &[Change],
    mode: Mode,
    steps: &mut Vec<Step>,
) -> Result<Step, Failure> {
    let failed = |why: String| {
        Failure::new(format!("could not change {}", path.display())).cause(why).hint("nothing was written")
    };
    let same = |step: &Step| matches!(step, Step::Write { path: other, .. } if other == path);
    let earlier = steps.iter().position(same).map(|at| steps.remove(at));
    let (old, text, mut before, mode) = match earlier {
        Some(Step::Write { old, new, edits, mode: first, .. }) => {
            let mode = if first == Mode::Private { first } else { mode };
            (old, new, edits.filter(|edits| edits.format == format), mode)
        }
        _ => {
            let old = read(path)?;
            (old.clone(), old.unwrap_or_default(), None, mode)
        }
    };
    let text = String::from_utf8(text).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count() + 1;
        failed(format!("line {line} is not UTF-8"))
    })?;
    let done = edit::apply(format, &text, changes).map_err(|doubt| failed(doubt.to_string()))?;
    let edits = match before.take() {
        None => Edits { format, changes: changes.to_vec(), undo: done.undo },
        Some(mut edits) => {
            edits.changes.extend_from_slice(changes);
            edits.undo.splice(0..0, done.undo);
            edits
        }
    };
    // What takes back a file that we make is its removal.
    Ok(Step::Write { path: path.to_path_buf(), old, new: done.text.into_bytes(), mode, edits: Some(edits) })
}

/// The file's content. One beyond what is edited is refused before it is read (report A17).
fn read(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    let length = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if length > edit::LONGEST as u64 {
        let (is, most) = (human::bytes(length), human::bytes(edit::LONGEST as u64));
        return Err(Failure::new(format!("could not change {}", path.display()))
            .cause(format!("it has {is}, and settings of more than {most} are not edited"))
            .hint("nothing was written"));
    }
    read_bounded(path, edit::LONGEST)
}

fn part(step: &Step, secrets: &[String]) -> Option<Part> {
    let Step::Write { path, old, new, .. } = step else { return None };
    if old.as_deref() == Some(new.as_slice()) {
        return None;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let diff = diff::unified(&text(old.as_deref().unwrap_or_default()), &text(new), secrets);
    let verb = if old.is_some() { "change" } else { "make" };
    Some(Part { path: path.clone(), verb, diff })
}

#[cfg(all(test, unix))]
mod tests;
