//! Where plans are looked at and applied: under one lock for all our processes, each file backed up, written down in the
//! journal, replaced at once and read again. It knows no program's keys. The commands and the driver call it.

use std::path::{Path, PathBuf};

use sys::Failure;
use sys::edit::{self, Change};
use sys::files::journal::{Act as Step, Edits, Journal, Open, Stop};
use sys::files::{Mode, UPDATE_MAX, read_bounded, resolve};
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
        drafted(plan).map(|drafts| self.view(plan, &drafts))
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
                Err(Stop::Failed(failure)) => return Err(failure),
                Ok((id, drafts)) => {
                    // Nobody has to wait while differences are drawn.
                    drop(open);
                    return Ok(Done { id, view: self.view(&plan, &drafts) });
                }
            }
        }
        let path = last.unwrap_or_default();
        Err(Failure::new(format!("could not change {}", path.display()))
            .cause("another program keeps changing it")
            .hint("nothing was written; close the program that uses it and try again"))
    }

    fn once(&self, open: &mut Open, plan: &Plan, seen: Option<&View>) -> Result<(Option<u64>, Vec<Draft>), Stop> {
        let drafts = drafted(plan)?;
        if seen.is_some_and(|seen| *seen != self.view(plan, &drafts)) {
            return Err(Stop::Failed(
                Failure::new(format!("did not {}", plan.what))
                    .cause("the files were changed since you looked")
                    .hint("nothing was written; look again"),
            ));
        }
        let what = diff::masked(&plan.what, &plan.secrets);
        let id = open.run(&what, drafts.iter().map(|draft| draft.step.clone()).collect())?;
        Ok((id, drafts))
    }

    /// Without the files in which we remember things for ourselves: those right in the data folder.
    fn view(&self, plan: &Plan, drafts: &[Draft]) -> View {
        let own = self.journal.file().parent().map(Path::to_path_buf);
        let parts = drafts.iter().filter_map(|draft| draft.part(&plan.secrets));
        let parts = parts.filter(|part| part.path.parent() != own.as_deref()).collect();
        View { what: plan.what.clone(), parts }
    }
}

/// A step, and what it is for people; `None` when it has nothing to do.
struct Draft {
    step: Step,
    verb: Option<&'static str>,
}

impl Draft {
    fn part(&self, secrets: &[String]) -> Option<Part> {
        let verb = self.verb?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (path, diff) = match &self.step {
            Step::Write { path, old, new, .. } => {
                (path, diff::unified(&text(old.as_deref().unwrap_or_default()), &text(new), secrets))
            }
            Step::Trash(path) | Step::Link { path, .. } | Step::Unlink { path, .. } => (path, Vec::new()),
        };
        Some(Part { path: path.clone(), verb, diff })
    }
}

/// The plan on the files as they are now.
fn drafted(plan: &Plan) -> Result<Vec<Draft>, Failure> {
    let mut drafts: Vec<Draft> = Vec::new();
    for act in &plan.acts {
        let (step, verb) = match act {
            Act::Edit { path, format, changes, mode } => {
                let step = edited(path, *format, changes, *mode, &mut drafts)?;
                let verb = writes(&step);
                (step, verb)
            }
            Act::Put { path, bytes, mode } => {
                let old = read_bounded(path, UPDATE_MAX)?;
                let step = Step::Write { path: path.clone(), old, new: bytes.clone(), mode: *mode, edits: None };
                let verb = writes(&step);
                (step, verb)
            }
            Act::Trash { path } => {
                let there = std::fs::symlink_metadata(path).is_ok();
                (Step::Trash(path.clone()), there.then_some("trash"))
            }
            Act::Link { path, to } => {
                let says = std::fs::read_link(path).ok().as_ref() == Some(to);
                (Step::Link { path: path.clone(), to: to.clone() }, (!says).then_some("link"))
            }
            Act::Unlink { path, to } => {
                let says = std::fs::read_link(path).ok().as_ref() == Some(to);
                (Step::Unlink { path: path.clone(), to: to.clone() }, says.then_some("unlink"))
            }
        };
        drafts.push(Draft { step, verb });
    }
    Ok(drafts)
}

fn writes(step: &Step) -> Option<&'static str> {
    let Step::Write { old, new, .. } = step else { return None };
    match old {
        Some(old) if old == new => None,
        Some(_) => Some("change"),
        None => Some("make"),
    }
}

/// One edit as a write. A second edit of the same file goes on where the first one ended, in one write.
fn edited(
    path: &Path,
    format: edit::Format,
    changes: &[Change],
    mode: Mode,
    drafts: &mut Vec<Draft>,
) -> Result<Step, Failure> {
    let failed = |why: String| {
        Failure::new(format!("could not change {}", path.display())).cause(why).hint("nothing was written")
    };
    // Two agents may share one file by a link.
    let target = resolve(path)?;
    let same = |draft: &Draft| matches!(&draft.step, Step::Write { path: other, .. } if resolve(other).is_ok_and(|other| other == target));
    let earlier = drafts.iter().position(same).map(|at| drafts.remove(at).step);
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

#[cfg(all(test, unix))]
mod tests;
