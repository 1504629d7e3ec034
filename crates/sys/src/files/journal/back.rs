//! A change is taken back: exactly where everything is still as it left it, or only the values it changed where others
//! have changed the file since. What was made after it by somebody else is never lost.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{
    Mode, UPDATE_MAX, mode_of, read_bounded, remove_empty_dir, remove_file, resolve, update_under, write_atomic,
};
use super::run::{link, says};
use super::{Act, Edits, Entry, Exact, Journal, Open, State, Step, Stop, Written, sha256};
use crate::Failure;
use crate::edit;

pub use super::super::trash::Import;

/// How far an undo may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Only when every file is still what the change made of it.
    Exact,
    /// Where a file was changed since, only the values that the change touched go back.
    Merge,
}

/// What an undo did, or would have to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// All is as it was before the change.
    Exactly,
    /// The values are as they were; what others changed since stays. The entry that did it, when anything had to be
    /// written.
    Merged(Option<u64>),
    /// Nothing was done: these were changed since.
    Since(Vec<Since>),
}

/// A path that is not as the change left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Since {
    /// The path.
    pub path: PathBuf,
    /// What the file holds now.
    pub now: Option<Vec<u8>>,
    /// What the change had made of it, where that is known.
    pub ours: Option<Vec<u8>>,
    /// What taking back only our values would make of it; `None` when that is not possible.
    pub merged: Option<Vec<u8>>,
    /// Why it is not possible.
    pub why: Option<String>,
}

/// What an undo would do to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The file.
    pub path: PathBuf,
    /// What it holds.
    pub now: Vec<u8>,
    /// What it would hold; `None`: it would be gone.
    pub then: Option<Vec<u8>>,
}

/// What is at a step's place now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Now {
    /// What the step made.
    After,
    /// What was there before it.
    Before,
    /// Something else.
    Else,
}

impl Journal {
    /// What stands in the way of an exact undo of a change; nothing is changed.
    pub fn blocked(&self, entry: &Entry) -> Vec<Since> {
        entry.steps.iter().filter_map(|step| self.since(step)).collect()
    }

    /// What an exact undo of a change would do to files: each with what it holds now and what it held before. Those that
    /// are back already, and those whose copies are gone, are left out.
    pub fn ahead(&self, entry: &Entry) -> Vec<Ahead> {
        let ahead = |step: &Step| {
            let Step::Write(written) = step else { return None };
            if self.now(step) != Now::After {
                return None;
            }
            let now = read_bounded(&written.target, UPDATE_MAX).ok().flatten()?;
            let then = match &written.before {
                Some(before) => Some(read_bounded(&before.backup, UPDATE_MAX).ok().flatten()?),
                None => None,
            };
            Some(Ahead { path: written.path.clone(), now, then })
        };
        entry.steps.iter().rev().filter_map(ahead).collect()
    }

    /// How a step's place looks now.
    pub(super) fn now(&self, step: &Step) -> Now {
        match step {
            Step::Write(written) => {
                let Ok(now) = read_bounded(&written.target, UPDATE_MAX) else { return Now::Else };
                // A link that points elsewhere now makes it another file.
                if resolve(&written.path).ok().as_deref() != Some(&written.target) {
                    return Now::Else;
                }
                match (now.as_deref().map(sha256), &written.before) {
                    (Some(now), _) if now == written.after => Now::After,
                    (Some(now), Some(before)) if now == before.sha256 => Now::Before,
                    (None, None) => Now::Before,
                    _ => Now::Else,
                }
            }
            Step::Trash { paths, .. } => {
                let there = |path: &Exact| fs::symlink_metadata(&path.0).is_ok();
                match (paths.iter().any(there), self.is_kept(step)) {
                    (false, true) => Now::After,
                    (true, false) => Now::Before,
                    _ => Now::Else,
                }
            }
            Step::Link { path, to, .. } => link_now(path, to, Now::After, Now::Before),
            Step::Unlink { path, to } => link_now(path, to, Now::Before, Now::After),
        }
    }

    /// `None` when the step can be taken back exactly (or is back already).
    fn since(&self, step: &Step) -> Option<Since> {
        if self.now(step) != Now::Else {
            return None;
        }
        let Step::Write(written) = step else {
            let path = step.paths().first().map(|path| path.to_path_buf()).unwrap_or_default();
            let why = Some("something else is there now".to_owned());
            return Some(Since { path, now: None, ours: None, merged: None, why });
        };
        let now = read_bounded(&written.target, UPDATE_MAX).ok().flatten();
        let (merged, why) = match merged(written, now.as_deref()) {
            Ok(merged) => (Some(merged), None),
            Err(why) => (None, Some(why)),
        };
        Some(Since { path: written.path.clone(), now, ours: ours(written), merged, why })
    }
}

impl Open {
    /// Takes the change `id` back. `import` is called for what an agent's own command brings back (see
    /// [`super::super::trash::Trash::restore`]).
    ///
    /// # Errors
    /// When there is no such change, it is not done, its copies are gone, or a step fails; what was taken back before it
    /// is said.
    pub fn undo(&mut self, id: u64, way: Way, import: &mut Import<'_>) -> Result<Undone, Failure> {
        let entry = self.undoable(id)?;
        let since = self.journal.blocked(&entry);
        if !since.is_empty() {
            return match way {
                Way::Exact => Ok(Undone::Since(since)),
                Way::Merge => self.merge(&entry, since),
            };
        }
        self.check_copies(&entry)?;
        self.mark(id, State::Undoing)?;
        for (at, step) in entry.steps.iter().enumerate().rev() {
            if let Err(failure) = self.take_back(step, import) {
                let rest = entry.steps[..=at].iter().flat_map(Step::paths).map(|path| path.display().to_string());
                let failure = failure.hint(format!("not taken back yet: {}", rest.collect::<Vec<_>>().join(", ")));
                // It is as done as before for those; a second undo goes on with them.
                let _ = self.mark(id, State::Done);
                return Err(failure);
            }
        }
        self.mark(id, State::Undone)?;
        Ok(Undone::Exactly)
    }

    fn undoable(&self, id: u64) -> Result<Entry, Failure> {
        let failed = || Failure::new(format!("could not undo {id}"));
        let entry = self.entry(id).ok_or_else(|| failed().cause("the history has no such number"))?;
        match entry.state {
            State::Done => Ok(entry.clone()),
            State::Undone | State::Undoing => Err(failed().cause("it is undone already")),
            State::Begun | State::Failed => Err(failed().cause("it was never done")),
        }
    }

    fn check_copies(&self, entry: &Entry) -> Result<(), Failure> {
        for step in &entry.steps {
            let failed = || Failure::new(format!("could not undo {}", entry.id));
            match step {
                Step::Write(Written { before: Some(before), path, .. }) if self.journal.now(step) == Now::After => {
                    let copy = read_bounded(&before.backup, UPDATE_MAX)?;
                    if copy.is_none_or(|bytes| sha256(&bytes) != before.sha256) {
                        return Err(failed().cause(format!(
                            "the copy of {} is not kept any more: the newest {} of a file are",
                            path.display(),
                            super::KEEP
                        )));
                    }
                }
                Step::Trash { entry: kept, .. } if !self.journal.is_kept(step) => {
                    return Err(failed().cause(format!("the trash has no {kept} any more")));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn merge(&mut self, entry: &Entry, since: Vec<Since>) -> Result<Undone, Failure> {
        let failed = || Failure::new(format!("could not undo {}", entry.id));
        for blocked in &since {
            let own = resolve(&blocked.path).is_ok_and(|target| self.is_own(&target));
            if let Some(why) = blocked.why.as_ref().filter(|_| !own) {
                return Err(failed().cause(format!("{}: {why}", blocked.path.display())).hint("nothing was changed"));
            }
        }
        let mut acts = Vec::new();
        for step in entry.steps.iter().rev() {
            match (step, self.journal.now(step)) {
                (_, Now::Before) => {}
                // What we only remember for ourselves is told from the files themselves.
                (Step::Write(written), Now::Else) if written.edits.is_none() && self.is_own(&written.target) => {}
                (Step::Write(written), _) => acts.push(self.merging(written)?),
                (Step::Link { path, to, .. }, _) => acts.push(Act::Unlink { path: path.clone(), to: to.clone() }),
                (Step::Unlink { path, to }, _) => acts.push(Act::Link { path: path.clone(), to: to.clone() }),
                (Step::Trash { .. }, _) => {
                    return Err(failed()
                        .cause("a part of it is in the trash, and a file was changed since")
                        .hint("restore it from the trash by itself"));
                }
            }
        }
        let what = format!("undo of {}: {}", entry.id, entry.what);
        let id = self.run(&what, acts).map_err(Stop::into_failure)?;
        self.mark(entry.id, State::Undone)?;
        Ok(Undone::Merged(id))
    }

    /// The act that takes the values of one file back.
    fn merging(&self, written: &Written) -> Result<Act, Failure> {
        let old = read_bounded(&written.target, UPDATE_MAX)?;
        let failed = |why: String| Failure::new(format!("could not change {}", written.path.display())).cause(why);
        let new = merged(written, old.as_deref()).map_err(failed)?;
        let edits = match (&written.edits, old.as_deref().map(String::from_utf8_lossy)) {
            (Some(edits), Some(text)) => edit::apply(edits.format, &text, &edits.undo).ok().map(|done| Edits {
                format: edits.format,
                changes: edits.undo.clone(),
                undo: done.undo,
            }),
            _ => None,
        };
        if written.before.is_none() && new.trim_ascii().is_empty() {
            // There was no such file: an empty one would be something else.
            return Ok(Act::Trash(written.target.clone()));
        }
        Ok(Act::Write { path: written.path.clone(), old, new, mode: Mode::Normal, edits })
    }

    /// Takes one step back exactly; one that is back already is fine.
    pub(super) fn take_back(&self, step: &Step, import: &mut Import<'_>) -> Result<(), Failure> {
        match (step, self.journal.now(step)) {
            (Step::Write(Written { folders, .. }) | Step::Link { folders, .. }, Now::Before) => {
                remove_folders(folders);
                Ok(())
            }
            (_, Now::Before) => Ok(()),
            (_, Now::Else) => {
                let paths = step.paths().into_iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
                Err(Failure::new(format!("could not take back the change of {}", paths.join(", ")))
                    .cause("it was changed since by somebody else"))
            }
            (Step::Write(written), Now::After) => self.write_back(written),
            (Step::Trash { entry, .. }, Now::After) => self.journal.trash().restore(entry, import).map(drop),
            (Step::Link { path, folders, .. }, Now::After) => {
                remove_file(path)?;
                remove_folders(folders);
                Ok(())
            }
            (Step::Unlink { path, to }, Now::After) => link(path, to),
        }
    }

    fn write_back(&self, written: &Written) -> Result<(), Failure> {
        let Some(before) = &written.before else {
            remove_file(&written.target)?;
            remove_folders(&written.folders);
            return Ok(());
        };
        let failed = || Failure::new(format!("could not bring back {}", written.path.display()));
        let bytes = read_bounded(&before.backup, UPDATE_MAX)?
            .filter(|bytes| sha256(bytes) == before.sha256)
            .ok_or_else(|| failed().cause(format!("its copy {} is not what it was", before.backup.display())))?;
        let mut ours = false;
        let mode = if cfg!(unix) { Mode::Exactly(before.mode) } else { Mode::Normal };
        update_under(&self._lock, &written.target, mode, |now| {
            ours = now.is_some_and(|now| sha256(now) == written.after);
            Ok(ours.then(|| bytes.clone()))
        })?;
        if !ours {
            return Err(failed().cause("it was changed since by somebody else"));
        }
        // Equal contents with other bits: the write above had nothing to do.
        let other = fs::metadata(&written.target).is_ok_and(|metadata| mode_of(&metadata) != before.mode);
        if cfg!(unix) && other {
            write_atomic(&written.target, &bytes, mode)?;
        }
        Ok(())
    }
}

fn link_now(path: &Path, to: &Path, there: Now, gone: Now) -> Now {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => gone,
        Ok(_) if says(path, to) => there,
        _ => Now::Else,
    }
}

/// Folders that were made for a file, when nothing is in them any more.
fn remove_folders(folders: &[Exact]) {
    for folder in folders.iter().rev() {
        let gone = fs::symlink_metadata(&folder.0).is_err();
        if !gone && remove_empty_dir(&folder.0).is_err() {
            break;
        }
    }
}

/// What the change had made of the file.
fn ours(written: &Written) -> Option<Vec<u8>> {
    let edits = written.edits.as_ref()?;
    let old = match &written.before {
        Some(before) => read_bounded(&before.backup, UPDATE_MAX).ok().flatten()?,
        None => Vec::new(),
    };
    let text = String::from_utf8(old).ok()?;
    let made = edit::apply(edits.format, &text, &edits.changes).ok()?.text.into_bytes();
    (sha256(&made) == written.after).then_some(made)
}

/// The file as it is now without what the change did to it. A value that somebody else has changed since is theirs.
fn merged(written: &Written, now: Option<&[u8]>) -> Result<Vec<u8>, String> {
    let now = now.ok_or("it is not there any more")?;
    let edits = written.edits.as_ref().ok_or("it was written as a whole, so no part of it can be taken back")?;
    let text = std::str::from_utf8(now).map_err(|_| "it is not UTF-8")?;
    let ours = ours(written).and_then(|ours| String::from_utf8(ours).ok());
    let ours = ours.ok_or("the copy that tells what was written is not kept any more")?;
    let (ours, is) = (read(edits.format, &ours)?, read(edits.format, text)?);
    for change in &edits.undo {
        let (wrote, found) = (edit::value_at(&ours, change.at()), edit::value_at(&is, change.at()));
        if wrote != found {
            return Err(format!("{} was changed since", edit::shown(change.at())));
        }
    }
    edit::apply(edits.format, text, &edits.undo).map(|done| done.text.into_bytes()).map_err(|doubt| doubt.to_string())
}

fn read(format: edit::Format, text: &str) -> Result<serde_json::Value, String> {
    edit::values(format, text).map_err(|doubt| doubt.to_string())
}
