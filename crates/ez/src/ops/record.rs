//! The record of an operation while it runs: written before its first step, closed after its last, with a lock that the
//! system gives back when its process dies. A second command on the same session learns who is at it; `doctor` finds
//! what a killed process left. Operations open one, doctor reads them.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sys::Failure;
use sys::files::{self, Lock, Mode};

use crate::context::Context;
use crate::store::{self, Repo, Session};

/// What a record says; enough to finish or undo the operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// create, delete or rename.
    pub kind: String,
    /// The session's id.
    pub session: String,
    /// Its name.
    pub name: String,
    /// Who does it.
    pub pid: u32,
    /// Since when.
    pub at: String,
    /// The local branches before, for a create.
    #[serde(default)]
    pub branches: Option<Vec<String>>,
    /// The session as sessions.toml holds it.
    #[serde(default)]
    pub before: String,
    /// The plugins that take part, in order.
    #[serde(default)]
    pub plugins: Vec<String>,
}

/// An open record; closed by [`Open::close`], left for doctor when the process dies.
#[derive(Debug)]
pub struct Open {
    file: PathBuf,
    lock: Lock,
}

/// The folder of a repository's records.
pub fn dir(context: &Context, repo: &str) -> PathBuf {
    context.store.repo_dir(repo).join("ops")
}

/// Begins an operation on a session.
///
/// # Errors
/// When another process is at it: the failure says who and since when.
pub fn open(
    context: &Context,
    repo: &Repo,
    kind: &str,
    session: &Session,
    plugins: Vec<String>,
) -> Result<Open, Failure> {
    open_with(context, repo, kind, session, plugins, None)
}

/// As [`open`], with the branches that are there before.
///
/// # Errors
/// As [`open`].
pub fn open_with(
    context: &Context,
    repo: &Repo,
    kind: &str,
    session: &Session,
    plugins: Vec<String>,
    branches: Option<Vec<String>>,
) -> Result<Open, Failure> {
    store::check_id(&session.id)?;
    let folder = dir(context, &repo.id);
    let what = format!("{}, since {}", context.what, store::stamp());
    let lock =
        Lock::acquire(&folder.join(format!("{}.lock", session.id)), Duration::ZERO, &what).map_err(|failure| {
            Failure::new(format!("another command is at work on the session '{}'", sys::text::clean(&session.name)))
                .cause(failure)
        })?;
    let record = Record {
        kind: kind.to_owned(),
        session: session.id.clone(),
        name: session.name.clone(),
        pid: std::process::id(),
        at: store::stamp(),
        branches,
        before: session.to_text(),
        plugins,
    };
    let text = serde_json::to_vec(&record).map_err(|error| Failure::new("could not write the record").cause(error))?;
    let file = folder.join(format!("{}.json", session.id));
    files::remove_file(&file)?;
    files::write_new(&file, &text, Mode::Normal)?;
    Ok(Open { file, lock })
}

impl Open {
    /// The operation is done or undone.
    ///
    /// # Errors
    /// When the record cannot be removed.
    pub fn close(self) -> Result<(), Failure> {
        files::remove_file(&self.file)?;
        // While it is held: nobody else can have it open, and who comes later makes a new one.
        files::remove_file(self.lock.path())?;
        Ok(())
    }
}

/// The records of a repository whose process is gone.
pub fn left(context: &Context, repo: &str) -> Vec<(PathBuf, Record)> {
    let Ok(entries) = std::fs::read_dir(dir(context, repo)) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|ext| ext != "json") {
            continue;
        }
        let Ok(Some(bytes)) = files::read_bounded(&path, 16 << 20) else { continue };
        let Ok(record) = serde_json::from_slice::<Record>(&bytes) else { continue };
        if Lock::acquire(&path.with_extension("lock"), Duration::ZERO, "ez doctor").is_ok() {
            found.push((path, record));
        }
    }
    found
}
