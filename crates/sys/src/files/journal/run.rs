//! A change is made: everything that can be refused is refused first, then it is written down, then done step by step. A
//! step that fails takes the ones before it back.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::atomic::update_whole_under;
use super::super::backup::backup_whole;
use super::super::trash::{Filling, What};
use super::super::{
    KEEP, Mode, UPDATE_MAX, backup, fault, make_dir, mode_of, parent, read_bounded, remove_file, resolve, sync_folder,
    update_under,
};
use super::back::Now;
use super::{Before, Edits, Exact, Open, State, Step, Written, sha256};
use crate::Failure;

/// A step that is to be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// The file gets this content.
    Write {
        /// The file; links are followed.
        path: PathBuf,
        /// What it must hold now; `None`: there must be none.
        old: Option<Vec<u8>>,
        /// What it is to hold. Equal to the old: nothing is written.
        new: Vec<u8>,
        /// Who may read it.
        mode: Mode,
        /// The change of values, where it is one: what an undo needs when the rest of the file changes later.
        edits: Option<Edits>,
    },
    /// The file or folder goes into the trash; one that is not there is fine.
    Trash(PathBuf),
    /// A symbolic link is made; one that is there and says the same is fine.
    Link {
        /// Where.
        path: PathBuf,
        /// What it is to say.
        to: PathBuf,
    },
    /// A symbolic link is removed; one that is not there is fine.
    Unlink {
        /// Where.
        path: PathBuf,
        /// What it must say.
        to: PathBuf,
    },
}

/// Why nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// This path is not as it was when the change was planned: plan again.
    Changed(PathBuf),
    /// It cannot be done, or a step failed; what was done was taken back unless the failure says otherwise.
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Stop {
    /// The same, for a person.
    pub fn into_failure(self) -> Failure {
        match self {
            Self::Failed(failure) => failure,
            Self::Changed(path) => Failure::new(format!("could not change {}", path.display()))
                .cause("another program changed it meanwhile")
                .hint("nothing was written; try again"),
        }
    }
}

/// A step with what it needs to be done.
struct Ready {
    step: Step,
    work: Work,
}

enum Work {
    Write { old: Option<Vec<u8>>, new: Vec<u8>, mode: Mode },
    Trash(Filling),
    Link,
}

impl Open {
    /// Does all of `acts` or none, and writes it down as `what`. The number of the entry, or `None` when there was nothing
    /// to do: then nothing is written at all.
    ///
    /// # Errors
    /// [`Stop::Changed`] when something is not as the acts say it must be; [`Stop::Failed`] when a step fails.
    pub fn run(&mut self, what: &str, acts: Vec<Act>) -> Result<Option<u64>, Stop> {
        let ready = self.ready(what, acts).map_err(|stop| match stop {
            Stop::Failed(failure) => Stop::Failed(failure.hint("nothing was changed")),
            changed @ Stop::Changed(_) => changed,
        })?;
        if ready.is_empty() {
            return Ok(None);
        }
        let (steps, work): (Vec<Step>, Vec<Work>) = ready.into_iter().map(|ready| (ready.step, ready.work)).unzip();
        let id = match self.add(what, State::Begun, steps.clone()) {
            Ok(id) => id,
            Err(failure) => {
                let failure = work.into_iter().fold(failure, |failure, work| match work {
                    Work::Trash(filling) => filling.undo(failure),
                    Work::Write { .. } | Work::Link => failure,
                });
                return Err(Stop::Failed(failure.hint("nothing was changed")));
            }
        };
        for (at, work) in work.into_iter().enumerate() {
            if let Err(stop) = self.take(&steps[at], work) {
                // It may have come so far that its file, or a folder for it, is in place.
                let half = usize::from(self.journal.now(&steps[at]) != Now::Else);
                return Err(self.give_up(id, &steps[..at + half], stop));
            }
        }
        // The work is done and can be undone as it stands; that it is done can be seen without this line, too.
        let _ = self.mark(id, State::Done);
        Ok(Some(id))
    }

    /// Takes the first steps back.
    fn give_up(&mut self, id: u64, done: &[Step], stop: Stop) -> Stop {
        let mut left = Vec::new();
        for step in done.iter().rev() {
            if let Err(failure) = self.take_back(step, &mut |_, _, _| Ok(())) {
                left.push(failure);
            }
        }
        if left.is_empty() {
            let _ = self.mark(id, State::Failed);
            return match stop {
                Stop::Failed(failure) if done.is_empty() => Stop::Failed(failure.hint("nothing was changed")),
                Stop::Failed(failure) => Stop::Failed(failure.hint("what was done before it was taken back")),
                changed @ Stop::Changed(_) => changed,
            };
        }
        let _ = self.mark(id, State::Done);
        let failure = left.into_iter().fold(stop.into_failure(), |failure, other| failure.hint(other.to_string()));
        Stop::Failed(failure.hint(format!("a part of it stays; the history has it as {id}")))
    }

    /// Looks at every act, keeps old contents, and leaves out what is so already.
    fn ready(&self, what: &str, acts: Vec<Act>) -> Result<Vec<Ready>, Stop> {
        let mut ready = Vec::new();
        let mut trash: Vec<PathBuf> = Vec::new();
        for act in acts {
            match act {
                Act::Write { path, old, new, mode, edits } => {
                    ready.extend(self.ready_write(path, old, new, mode, edits)?);
                }
                Act::Trash(path) => {
                    if fs::symlink_metadata(&path).is_ok() {
                        trash.push(path);
                    }
                }
                Act::Link { path, to } => match fs::symlink_metadata(&path) {
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                        let folders = missing_folders(&path);
                        ready.push(Ready { step: Step::Link { path, to, folders }, work: Work::Link });
                    }
                    Ok(metadata) if metadata.is_symlink() && says(&path, &to) => {}
                    Ok(_) => return Err(Stop::Changed(path)),
                    Err(error) => return Err(Failure::io("look at", &path, &error).into()),
                },
                Act::Unlink { path, to } => match fs::symlink_metadata(&path) {
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    Ok(_) if says(&path, &to) => {
                        ready.push(Ready { step: Step::Unlink { path, to }, work: Work::Link });
                    }
                    Ok(_) => return Err(Stop::Changed(path)),
                    Err(error) => return Err(Failure::io("look at", &path, &error).into()),
                },
            }
        }
        if !trash.is_empty() {
            let about = What { kind: "change".to_owned(), key: what.to_owned(), title: what.to_owned() };
            let name = trash[0].file_name().unwrap_or_default().to_string_lossy().into_owned();
            let filling = self.journal.trash().begin(about, &name)?;
            let paths = trash.into_iter().map(Exact).collect();
            let step = Step::Trash { entry: filling.entry().id.clone(), paths };
            // First: what takes its place may be written afterwards.
            ready.insert(0, Ready { step, work: Work::Trash(filling) });
        }
        Ok(ready)
    }

    fn ready_write(
        &self,
        path: PathBuf,
        old: Option<Vec<u8>>,
        new: Vec<u8>,
        mode: Mode,
        edits: Option<Edits>,
    ) -> Result<Option<Ready>, Stop> {
        let target = resolve(&path)?;
        if read_bounded(&target, UPDATE_MAX)? != old {
            return Err(Stop::Changed(path));
        }
        if old.as_deref() == Some(new.as_slice()) {
            return Ok(None);
        }
        let before = match &old {
            None => None,
            Some(bytes) => {
                let metadata = fs::metadata(&target).map_err(|error| Failure::io("read", &target, &error))?;
                // What we remember for ourselves can be made again: it is whole, but not waited for.
                let keep = if self.is_own(&target) { backup_whole } else { backup };
                let Some(backup) = keep(&target, &self.journal.backups(&target), KEEP)? else {
                    return Err(Stop::Changed(path));
                };
                Some(Before { sha256: sha256(bytes), mode: mode_of(&metadata), backup })
            }
        };
        let folders = missing_folders(&target);
        let after = sha256(&new);
        let step = Step::Write(Written { path, target, before, after, folders, edits });
        Ok(Some(Ready { step, work: Work::Write { old, new, mode } }))
    }

    /// Takes one step.
    fn take(&self, step: &Step, work: Work) -> Result<(), Stop> {
        match (step, work) {
            (Step::Write(written), Work::Write { old, new, mode }) => self.write(written, old.as_deref(), &new, mode),
            (Step::Trash { paths, .. }, Work::Trash(mut filling)) => {
                for path in paths {
                    if let Err(failure) = filling.take(&path.0) {
                        return Err(Stop::Failed(filling.undo(failure)));
                    }
                }
                filling.finish().map(drop).map_err(Stop::Failed)
            }
            (Step::Link { path, to, .. }, _) => link(path, to).map_err(Stop::Failed),
            (Step::Unlink { path, to }, _) if says(path, to) => remove_file(path).map(drop).map_err(Stop::Failed),
            (Step::Unlink { path, .. }, _) => Err(Stop::Changed(path.clone())),
            _ => Err(Stop::Failed(Failure::new("a step and its work do not belong together"))),
        }
    }

    /// A file in which we remember things for ourselves: right in the data folder.
    pub(super) fn is_own(&self, target: &Path) -> bool {
        target.parent() == Some(&self.journal.data)
    }

    fn write(&self, written: &Written, old: Option<&[u8]>, new: &[u8], mode: Mode) -> Result<(), Stop> {
        let mut changed = false;
        let change = |now: Option<&[u8]>| {
            changed = now != old;
            Ok((!changed).then(|| new.to_vec()))
        };
        if self.is_own(&written.target) {
            update_whole_under(&self._lock, &written.target, mode, change)?;
        } else {
            update_under(&self._lock, &written.target, mode, change)?;
        }
        if changed {
            return Err(Stop::Changed(written.path.clone()));
        }
        // What is there now is either ours or written by somebody else since, which is nothing to take back.
        match read_bounded(&written.target, UPDATE_MAX)? {
            Some(now) if now == new => Ok(()),
            _ => Err(Stop::Failed(
                Failure::new(format!("could not keep {} as written", written.path.display()))
                    .cause("another program changed it right afterwards"),
            )),
        }
    }
}

/// The link says just this.
pub(super) fn says(path: &Path, to: &Path) -> bool {
    fs::read_link(path).is_ok_and(|found| found == to)
}

#[cfg(unix)]
pub(super) fn link(path: &Path, to: &Path) -> Result<(), Failure> {
    make_dir(parent(path))?;
    fault::point("a link")
        .and_then(|()| std::os::unix::fs::symlink(to, path))
        .map_err(|error| Failure::io("make the link", path, &error))?;
    sync_folder(parent(path));
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn link(path: &Path, _to: &Path) -> Result<(), Failure> {
    let _ = (make_dir, fault::point, sync_folder, parent);
    Err(Failure::new(format!("could not make the link {}", path.display())).cause("not done on this system"))
}

/// The folders that have to be made for `path`, the outermost first.
fn missing_folders(path: &Path) -> Vec<Exact> {
    let mut folders: Vec<Exact> = path
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.as_os_str().is_empty() && fs::symlink_metadata(folder).is_err())
        .map(|folder| Exact(folder.to_path_buf()))
        .collect();
    folders.reverse();
    folders
}
