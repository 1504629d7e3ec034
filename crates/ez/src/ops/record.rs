//! The record of an operation while it runs: written before its first step, closed after its last, with a lock that the
//! system gives back when its process dies. A second command on the same session learns who is at it; `doctor` finds
//! what a killed process left. Operations open one, doctor reads them.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sys::Failure;
use sys::files::{self, Lock, Mode};

use super::steps::Step;
use crate::context::Context;
use crate::store::{self, Repo, Session};

/// What a record says; enough to finish or undo the operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What is done: create, delete, rename, from-dirty, restore.
    pub kind: String,
    /// The session's id.
    pub session: String,
    /// Its name.
    pub name: String,
    /// Who does it.
    pub pid: u32,
    /// Since when.
    pub at: String,
    /// The session as sessions.toml holds it, or is to.
    pub before: String,
    /// All steps, in their order. That one stands here does not mean that it was begun.
    pub steps: Vec<Step>,
}

/// An open record; closed by [`Open::close`], left for doctor when the process dies.
#[derive(Debug)]
pub struct Open {
    file: PathBuf,
    lock: Lock,
    record: Record,
}

/// The folder of a repository's records.
pub fn dir(context: &Context, repo: &str) -> PathBuf {
    context.store.repo_dir(repo).join("ops")
}

/// Begins an operation on a session; no step of it may have been taken yet.
///
/// # Errors
/// When another process is at it: the failure says who and since when.
pub fn open(context: &Context, repo: &Repo, kind: &str, session: &Session, steps: Vec<Step>) -> Result<Open, Failure> {
    store::check_id(&session.id)?;
    let folder = dir(context, &repo.id);
    let what = format!("{}, since {}", context.what, store::stamp());
    let lock =
        Lock::acquire(&folder.join(format!("{}.lock", session.id)), Duration::ZERO, &what).map_err(|failure| {
            Failure::new(format!("another command is at work on the session '{}'", sys::text::clean(&session.name)))
                .cause(failure)
        })?;
    let file = folder.join(format!("{}.json", session.id));
    if file.symlink_metadata().is_ok() {
        return Err(Failure::new(format!(
            "an earlier command on the session '{}' was interrupted",
            sys::text::clean(&session.name)
        ))
        .hint("`ez doctor --fix` finishes or undoes it"));
    }
    let record = Record {
        kind: kind.to_owned(),
        session: session.id.clone(),
        name: session.name.clone(),
        pid: std::process::id(),
        at: store::stamp(),
        before: session.to_text(),
        steps,
    };
    let open = Open { file, lock, record };
    // Whole or not at all. The lock is held: nobody else can have made it since.
    files::write_whole(&open.file, &open.bytes()?, Mode::Normal)?;
    Ok(open)
}

impl Open {
    fn bytes(&self) -> Result<Vec<u8>, Failure> {
        serde_json::to_vec(&self.record).map_err(|error| Failure::new("could not write the record").cause(error))
    }

    /// From here on these steps are what is to be finished or undone.
    ///
    /// # Errors
    /// When the record cannot be written; the old steps hold then.
    pub fn turn(&mut self, steps: Vec<Step>) -> Result<(), Failure> {
        let old = std::mem::replace(&mut self.record.steps, steps);
        let written = self.bytes().and_then(|bytes| files::write_atomic(&self.file, &bytes, Mode::Normal));
        if written.is_err() {
            self.record.steps = old;
        }
        written.map(drop)
    }

    /// The operation is done or undone.
    ///
    /// # Errors
    /// When the record cannot be removed.
    pub fn close(self) -> Result<(), Failure> {
        files::remove_file(&self.file)?;
        self.lock.remove()
    }
}

/// A record whose process is gone. Nobody else can take it up while this is held.
#[derive(Debug)]
pub struct Left {
    /// Its file.
    pub file: PathBuf,
    /// What it says; `None` when it is damaged or empty, as a kill while it was written leaves it.
    pub record: Option<Record>,
    _lock: Lock,
}

/// True when an operation of the repository goes on, or was interrupted.
pub fn any(context: &Context, repo: &str) -> bool {
    let entries = std::fs::read_dir(dir(context, repo)).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|file| file.extension().is_some_and(|ext| ext == "json"))
}

/// Removes what killed processes leave beside their records: locks that nobody holds and that guard no record, and what
/// was written of a record before it had its name. What cannot be removed stays; it harms nobody.
pub fn sweep(context: &Context, repo: &str) {
    let Ok(entries) = std::fs::read_dir(dir(context, repo)) else { return };
    let hour_ago = sys::clock::wall().checked_sub(Duration::from_secs(60 * 60));
    for entry in entries.flatten() {
        let file = entry.path();
        let written = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("lock") if !file.with_extension("json").exists() => {
                if let Ok(lock) = Lock::acquire(&file, Duration::ZERO, "ez doctor")
                    && !file.with_extension("json").exists()
                {
                    let _ = lock.remove();
                }
            }
            // A younger one may still be in the making.
            Some("tmp") if written.is_some() && written < hour_ago => drop(files::remove_file(&file)),
            _ => {}
        }
    }
}

/// The records of a repository whose process is gone.
pub fn left(context: &Context, repo: &str) -> Vec<Left> {
    let Ok(entries) = std::fs::read_dir(dir(context, repo)) else { return Vec::new() };
    let mut found = Vec::new();
    for file in entries.flatten().map(|entry| entry.path()) {
        if file.extension().is_none_or(|ext| ext != "json") {
            continue;
        }
        let Ok(lock) = Lock::acquire(&file.with_extension("lock"), Duration::ZERO, "ez doctor") else { continue };
        // Read under the lock: its process may have ended well a moment ago.
        let Ok(Some(bytes)) = files::read_bounded(&file, 16 << 20) else { continue };
        found.push(Left { record: serde_json::from_slice(&bytes).ok(), file, _lock: lock });
    }
    // What is made of the changes depends on what becomes of the session that was made for them.
    found.sort_by_key(|left| left.record.as_ref().is_some_and(|record| record.kind == "from-dirty"));
    found
}
