//! The journal: every change of several steps is written down before its first step, with what takes it back, so that it
//! is done whole or not at all, can be undone later, and a killed process leaves nothing that nobody knows of. One file of
//! lines for each program; one format and code for both. It knows no program's keys. `manage` and the programs call it.
//!
//! `<data>/journal.jsonl` (0600: what takes a change back may hold secrets) is only appended to; the last line of an id
//! counts. `<data>/journal.lock` is held while a change is made or taken back, so that our processes come one by one.

mod back;
mod run;
mod settle;
mod store;
#[cfg(all(test, unix))]
mod tests;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use back::{Ahead, Import, Since, Undone, Way};
pub use run::{Act, Stop};

use super::trash::Trash;
use super::{LOCK_WAIT, Lock, exact_path};
use crate::Failure;
use crate::edit::{Change, Format};

/// Old contents that are kept of one file: lazyagents.md, Safety.
pub use super::KEEP;

/// The journal of one data folder.
#[derive(Clone, Debug)]
pub struct Journal {
    data: PathBuf,
}

/// One change, with all its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number: 1 and up, never used again.
    pub id: u64,
    /// When it was begun.
    pub at: Timestamp,
    /// What it was, for people. May hold names from outside: cleaned before it is shown.
    pub what: String,
    /// How far it came.
    pub state: State,
    /// What was done, in order.
    pub steps: Vec<Step>,
}

/// How far a change came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Its steps are being taken, or its process was killed in between.
    Begun,
    /// All steps are taken.
    Done,
    /// A step failed, or the process was killed: nothing of it is left.
    Failed,
    /// It is being taken back.
    Undoing,
    /// It was taken back.
    Undone,
}

/// One step that was taken, and what takes it back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A file was written.
    Write(Written),
    /// Files and folders were put into the trash.
    Trash {
        /// The trash's entry.
        entry: String,
        /// Where they were.
        paths: Vec<Exact>,
    },
    /// A symbolic link was made.
    Link {
        /// Where.
        #[serde(with = "exact_path")]
        path: PathBuf,
        /// What it says.
        #[serde(with = "exact_path")]
        to: PathBuf,
        /// Folders that were made for it, the outermost first.
        #[serde(default)]
        folders: Vec<Exact>,
    },
    /// A symbolic link was removed.
    Unlink {
        /// Where.
        #[serde(with = "exact_path")]
        path: PathBuf,
        /// What it said.
        #[serde(with = "exact_path")]
        to: PathBuf,
    },
}

/// A path that need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exact(#[serde(with = "exact_path")] pub PathBuf);

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The file as it was named.
    #[serde(with = "exact_path")]
    pub path: PathBuf,
    /// The file that was replaced: the end of its links.
    #[serde(with = "exact_path")]
    pub target: PathBuf,
    /// What it held; `None` when there was no file.
    pub before: Option<Before>,
    /// The SHA-256 of what was written, in hex.
    pub after: String,
    /// Folders that were made for it, the outermost first.
    #[serde(default)]
    pub folders: Vec<Exact>,
    /// The change of values, where it was one.
    #[serde(default)]
    pub edits: Option<Edits>,
}

/// What a file held before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Before {
    /// The SHA-256 of it, in hex.
    pub sha256: String,
    /// Permission bits; 0 where there are none.
    pub mode: u32,
    /// The copy of it.
    #[serde(with = "exact_path")]
    pub backup: PathBuf,
}

/// A change of values, and the change that takes it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edits {
    /// What the file is written in.
    pub format: Format,
    /// What was changed.
    pub changes: Vec<Change>,
    /// What takes it back.
    pub undo: Vec<Change>,
}

impl Step {
    /// The paths it is about, as they were named.
    pub fn paths(&self) -> Vec<&Path> {
        match self {
            Self::Write(written) => vec![&written.path],
            Self::Trash { paths, .. } => paths.iter().map(|path| path.0.as_path()).collect(),
            Self::Link { path, .. } | Self::Unlink { path, .. } => vec![path],
        }
    }
}

impl Entry {
    /// Every path it is about, in the order of its steps.
    pub fn paths(&self) -> Vec<&Path> {
        self.steps.iter().flat_map(Step::paths).collect()
    }
}

/// What the journal holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The oldest first, those that failed included.
    pub entries: Vec<Entry>,
    /// Lines that could not be read. The last one of a process that was killed while it wrote is one of them.
    pub skipped: usize,
}

/// The journal while its lock is held.
#[derive(Debug)]
pub struct Open {
    journal: Journal,
    history: History,
    _lock: Lock,
}

impl Journal {
    /// The journal in a data folder of ours; made when the first change is written down.
    pub fn of(data: &Path) -> Self {
        Self { data: data.to_path_buf() }
    }

    /// The file of lines.
    pub fn file(&self) -> PathBuf {
        self.data.join("journal.jsonl")
    }

    /// The trash of the same folder.
    pub fn trash(&self) -> Trash {
        Trash::of(&self.data)
    }

    /// Where old contents of the file `target` are kept: a folder for each path, so that equal names do not mix.
    pub fn backups(&self, target: &Path) -> PathBuf {
        self.data.join("backups").join(&sha256(target.as_os_str().as_encoded_bytes())[..16])
    }

    /// What it holds. Waits for nobody: a change that is being made is there as begun.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn history(&self) -> Result<History, Failure> {
        store::load(&self.file())
    }

    /// Takes the lock, and settles what a killed process left. `what` tells others who holds it.
    ///
    /// # Errors
    /// When another process holds it for 10 s, or the journal cannot be read.
    pub fn open(&self, what: &str) -> Result<Open, Failure> {
        let lock = Lock::acquire(&self.data.join("journal.lock"), LOCK_WAIT, what)?;
        let mut open = Open { journal: self.clone(), history: self.history()?, _lock: lock };
        open.settle()?;
        Ok(open)
    }

    /// True when the step can still be taken back, as far as the copies go that it needs.
    pub fn is_kept(&self, step: &Step) -> bool {
        match step {
            Step::Write(written) => {
                written.before.as_ref().is_none_or(|before| before.backup.exists()) || written.edits.is_some()
            }
            Step::Trash { entry, .. } => self.trash().list().entries.iter().any(|kept| kept.id == *entry),
            Step::Link { .. } | Step::Unlink { .. } => true,
        }
    }

    /// True when `undo` of the change has something to take back and the copies for it.
    pub fn can_undo(&self, entry: &Entry) -> bool {
        entry.state == State::Done && entry.steps.iter().all(|step| self.is_kept(step))
    }
}

impl Open {
    /// What it held when it was opened, and what was added since.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The entry of this number.
    pub fn entry(&self, id: u64) -> Option<&Entry> {
        self.history.entries.iter().find(|entry| entry.id == id)
    }

    /// The newest change that can be undone.
    pub fn last(&self) -> Option<&Entry> {
        self.history.entries.iter().rev().find(|entry| self.journal.can_undo(entry))
    }

    /// Writes down how far an entry has come.
    fn mark(&mut self, id: u64, state: State) -> Result<(), Failure> {
        store::append_state(&self.journal.file(), id, state)?;
        if let Some(entry) = self.history.entries.iter_mut().find(|entry| entry.id == id) {
            entry.state = state;
        }
        Ok(())
    }

    /// Writes down a new entry.
    fn add(&mut self, what: &str, state: State, steps: Vec<Step>) -> Result<u64, Failure> {
        let id = self.history.entries.last().map_or(0, |entry| entry.id) + 1;
        let at = Timestamp::try_from(crate::clock::wall())
            .map_err(|error| Failure::new("could not tell the time").cause(error))?;
        let entry = Entry { id, at, what: what.to_owned(), state, steps };
        store::append(&self.journal.file(), &entry)?;
        self.history.entries.push(entry);
        Ok(id)
    }

    /// Writes down something that has been done already by other means, such as a deletion by an agent's own command.
    ///
    /// # Errors
    /// When the journal cannot be written.
    pub fn note(&mut self, what: &str, steps: Vec<Step>) -> Result<u64, Failure> {
        self.add(what, State::Done, steps)
    }
}

/// The SHA-256 of some bytes, in hex.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
