//! Changes are taken back: the journal does it, here it is wired to the folders and to agents that read something back by
//! a command of their own. The commands and the driver call it.

use std::path::PathBuf;

use agents::Surroundings;
use manage::desk::Part;
use manage::diff;
use sys::Failure;
use sys::files::journal::{Ahead, Entry, Journal, Since, Step, Undone, Way};
use sys::files::trash::{self, Trash};
use sys::proc::Cancel;

use crate::context::Context;

/// What came of an undo, or would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is taken back.
    Undone {
        /// The change.
        entry: Told,
        /// What was done to files for it.
        files: Vec<Part>,
        /// Only the values that it had touched.
        merged: bool,
    },
    /// Nothing was done.
    Blocked {
        /// The change.
        entry: Told,
        /// What was changed since by somebody else.
        since: Vec<Changed>,
    },
}

/// A change, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its number.
    pub id: u64,
    /// What it was. From outside: cleaned before it is shown.
    pub what: String,
}

/// A file that was changed since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its path.
    pub path: PathBuf,
    /// What others changed, where it can be told.
    pub diff: Vec<String>,
    /// Why the change cannot be taken out of it; `None` when it can.
    pub why: Option<String>,
}

/// Takes the change `number` back, or the newest that can be.
///
/// # Errors
/// When there is none, its copies are gone, or a step fails.
pub fn undo(context: &Context, number: Option<u64>, way: Way, cancel: &Cancel) -> Result<Outcome, Failure> {
    let journal = Journal::of(&context.paths.data);
    let mut open = journal.open("lazyagents undo")?;
    let entry = chosen(&journal, &open.history().entries, number)?;
    let files = ahead(&journal, &entry);
    let told = Told { id: entry.id, what: entry.what.clone() };
    let around = Surroundings::of(&context.env).ok_or_else(|| Failure::new("no home folder is known"))?;
    let keys: Vec<String> = keys(&journal.trash(), &entry);
    let undone = open.undo(entry.id, way, &mut |words, folder, file| {
        let key = keys.first().map(String::as_str).unwrap_or_default();
        manage::delete::import(key, words, folder, file, &around, cancel)
    })?;
    Ok(match undone {
        Undone::Exactly => Outcome::Undone { entry: told, files, merged: false },
        Undone::Merged(_) => Outcome::Undone { entry: told, files: written(&entry), merged: true },
        Undone::Since(since) => Outcome::Blocked { entry: told, since: since.iter().map(changed).collect() },
    })
}

/// What [`undo`] would do. Reads, never writes.
///
/// # Errors
/// When there is no such change, or none that can be undone.
pub fn look(context: &Context, number: Option<u64>, merge: bool) -> Result<Outcome, Failure> {
    let journal = Journal::of(&context.paths.data);
    let entry = chosen(&journal, &journal.history()?.entries, number)?;
    let told = Told { id: entry.id, what: entry.what.clone() };
    let since = journal.blocked(&entry);
    if since.is_empty() {
        return Ok(Outcome::Undone { entry: told, files: ahead(&journal, &entry), merged: false });
    }
    if merge && since.iter().all(|since| since.merged.is_some()) {
        let mut files = ahead(&journal, &entry);
        files.extend(since.iter().map(|since| Part {
            path: since.path.clone(),
            verb: "change",
            diff: difference(since.now.as_deref(), since.merged.as_deref()),
        }));
        return Ok(Outcome::Undone { entry: told, files, merged: true });
    }
    Ok(Outcome::Blocked { entry: told, since: since.iter().map(changed).collect() })
}

/// Puts something of the trash back, by the agent's own command where it needs one.
///
/// # Errors
/// Those of [`Trash::restore`].
pub fn restore(
    context: &Context,
    trash: &Trash,
    entry: &trash::Entry,
    cancel: &Cancel,
) -> Result<trash::Entry, Failure> {
    let around = Surroundings::of(&context.env).ok_or_else(|| Failure::new("no home folder is known"))?;
    let key = entry.what.key.clone();
    trash.restore(&entry.id, &mut |words, folder, file| {
        manage::delete::import(&key, words, folder, file, &around, cancel)
    })
}

fn chosen(journal: &Journal, entries: &[Entry], number: Option<u64>) -> Result<Entry, Failure> {
    let found = match number {
        Some(number) => entries.iter().find(|entry| entry.id == number),
        None => entries.iter().rev().find(|entry| journal.can_undo(entry)),
    };
    found.cloned().ok_or_else(|| match number {
        Some(number) => Failure::new(format!("could not undo {number}"))
            .cause("the history has no such number")
            .hint("`lazyagents history` lists what there is"),
        None => Failure::new("there is nothing to undo"),
    })
}

/// The keys of what a change put into the trash.
fn keys(trash: &Trash, entry: &Entry) -> Vec<String> {
    let kept = trash.list().entries;
    let key = |step: &Step| match step {
        Step::Trash { entry, .. } => kept.iter().find(|kept| kept.id == *entry).map(|kept| kept.what.key.clone()),
        _ => None,
    };
    entry.steps.iter().filter_map(key).collect()
}

fn ahead(journal: &Journal, entry: &Entry) -> Vec<Part> {
    let part = |ahead: Ahead| Part {
        verb: if ahead.then.is_some() { "change" } else { "remove" },
        diff: difference(Some(&ahead.now), ahead.then.as_deref()),
        path: ahead.path,
    };
    // What we remember for ourselves, right in the data folder, is nobody's to look at.
    let own = journal.file().parent().map(std::path::Path::to_path_buf);
    let shown = |ahead: &Ahead| ahead.path.parent() != own.as_deref();
    let mut parts: Vec<Part> = journal.ahead(entry).into_iter().filter(shown).map(part).collect();
    for step in entry.steps.iter().rev() {
        let verb = match step {
            Step::Write(_) => continue,
            Step::Trash { .. } => "restore",
            Step::Link { .. } => "unlink",
            Step::Unlink { .. } => "link",
        };
        let paths = step.paths().into_iter();
        parts.extend(paths.map(|path| Part { path: path.to_path_buf(), verb, diff: Vec::new() }));
    }
    parts
}

fn written(entry: &Entry) -> Vec<Part> {
    let paths = entry.paths().into_iter();
    paths.map(|path| Part { path: path.to_path_buf(), verb: "change", diff: Vec::new() }).collect()
}

fn changed(since: &Since) -> Changed {
    let diff = match (&since.ours, &since.now) {
        (Some(ours), now) => difference(Some(ours), now.as_deref()),
        (None, _) => Vec::new(),
    };
    Changed { path: since.path.clone(), diff, why: since.why.clone() }
}

fn difference(old: Option<&[u8]>, new: Option<&[u8]>) -> Vec<String> {
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    diff::unified(&text(old), &text(new), &[])
}
