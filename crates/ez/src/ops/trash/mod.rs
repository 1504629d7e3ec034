//! The trash of sessions: before a deletion what exists nowhere else is kept (tracked changes as a commit under
//! `refs/ez/trash/`, untracked and ignored files as copies, the record, the notes), and can be restored. Nothing is moved
//! before the hooks have run. `delete` fills it, the `trash` commands list, restore and empty it.

mod keep;
mod mend;
mod restore;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sys::Failure;
use sys::files::{self, Mode};

pub use keep::keep;
pub use restore::restore;
pub(super) use {mend::take_back, restore::finish};

use crate::bundled::git_worktree;
use crate::context::Context;
use crate::git::Git;
use crate::model::name::quoted;
use crate::out::Out;
use crate::store::{self, Repo, Session};

/// What was kept of one session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept {
    /// Files that were copied.
    pub files: usize,
    /// The folder was a worktree that a deletion should have removed.
    pub owned: bool,
}

/// What a worktree holds that a ref has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Nothing: all of it is on a branch that stays.
    OnBranch,
    /// Commits: no branch is at them, or the branch goes as well.
    Commits,
    /// Tracked changes.
    Changes,
}

/// `entry.toml` of a trash entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Entry {
    /// The entry's id: the session's, with `.2` and so on behind when that had one already.
    pub id: String,
    /// The session's name.
    pub name: String,
    /// The repository.
    pub repo: String,
    /// Its folder.
    pub repo_path: String,
    /// When it was deleted.
    pub deleted_at: String,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// Its commit.
    pub tip: Option<String>,
    /// A commit with the tracked changes.
    pub changes: Option<String>,
    /// Where the files were.
    pub path: Option<String>,
    /// The bundled git-worktree was to move the folder aside whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moved: bool,
    /// Git's own folder of the worktree, where it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_dir: Option<String>,
    /// How many untracked and ignored files, folders and submodules were copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// The session as sessions.toml held it.
    pub record: String,
}

impl Entry {
    /// The session had a folder that restoring has to make.
    fn had_worktree(&self, repo: &Repo) -> bool {
        self.tip.is_some() || self.git_dir.is_some() || !moved_aside(repo, self).is_empty()
    }
}

fn root(context: &Context) -> PathBuf {
    context.store.data.join("trash")
}

fn trash_ref(id: &str) -> String {
    format!("refs/ez/trash/{id}")
}

/// Takes an entry back: the deletion did not happen, or the session is there again.
pub fn forget(context: &Context, repo: &Repo, id: &str) {
    if store::check_id(id).is_err() {
        return;
    }
    let folder = root(context).join(id);
    // Out of sight at once: half an entry must never look like one. What cannot be removed harms nobody there.
    let gone = (1_u32..100).map(|n| root(context).join(format!("{GONE}{n}-{id}")));
    let moved = gone.into_iter().find(|gone| gone.symlink_metadata().is_err() && files::rename(&folder, gone).is_ok());
    let _ = files::remove_tree(moved.as_deref().unwrap_or(&folder));
    let git = Git::new(context, &repo.path);
    if repo.is_git && git.commit(&trash_ref(id)).is_some() {
        let _ = git.run(&["update-ref", "-d", &trash_ref(id)]);
    }
}

/// Folders of the trash that are being removed begin with this.
const GONE: &str = ".gone-";

/// Removes what a killed removal left.
fn sweep(context: &Context) {
    let entries = std::fs::read_dir(root(context)).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(GONE))) {
        let _ = files::remove_tree(&entry.path());
    }
}

/// What lies in the trash without an entry that names it: parts of a keeping that was interrupted, and commits. Nothing
/// was deleted then, so with `fix` those go whose session is still there; others are only named.
pub(super) fn leftovers(context: &Context, fix: bool) -> Vec<String> {
    let repos = context.store.repos().unwrap_or_default();
    let owner = |id: &str| {
        let has = |repo: &&Repo| context.store.sessions(&repo.id).is_ok_and(|all| all.iter().any(|one| one.id == id));
        // One that is at work, or whose record doctor could not settle, is no leftover.
        let quiet = |repo: &&Repo| !super::record::dir(context, &repo.id).join(format!("{id}.json")).exists();
        repos.iter().find(has).filter(quiet)
    };
    let mut told = Vec::new();
    let mut tell = |id: &str, what: String, else_hint: String| match owner(id) {
        Some(repo) if fix => {
            forget(context, repo, id);
            told.push(format!("{what}: its session is still there, so it is removed"));
        }
        Some(_) => told.push(format!("{what} (`ez doctor --fix` removes it: its session is still there)")),
        None => told.push(format!("{what} ({else_hint})")),
    };
    let entries = std::fs::read_dir(root(context)).into_iter().flatten().flatten();
    for folder in entries.map(|entry| entry.path()).filter(|folder| folder.is_dir() && read(folder).is_none()) {
        let Some(id) = folder.file_name().and_then(|name| name.to_str()).filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let busy = repos.iter().any(|repo| super::record::dir(context, &repo.id).join(format!("{id}.json")).exists());
        if !busy {
            tell(id, format!("{} is in the trash without its entry", folder.display()), "look into it".to_owned());
        }
    }
    for repo in repos.iter().filter(|repo| repo.is_git && kept_refs(repo)) {
        let git = Git::new(context, &repo.path);
        let refs = git.text(&["for-each-ref", "--format=%(refname)", "refs/ez/trash/"]).unwrap_or_default();
        for id in refs.lines().filter_map(|name| name.strip_prefix("refs/ez/trash/")) {
            let busy = super::record::dir(context, &repo.id).join(format!("{id}.json")).exists();
            if !busy && !root(context).join(id).exists() {
                let name = trash_ref(id);
                let hint = format!("`git branch NAME {name}` keeps it, `git update-ref -d {name}` removes it");
                tell(id, format!("{}: the commit {name} has no entry in the trash", repo.id), hint);
            }
        }
    }
    told
}

/// There may be refs of the trash: seen without starting git.
fn kept_refs(repo: &Repo) -> bool {
    crate::model::gitdir::GitDir::at(Path::new(&repo.path)).is_some_and(|git| {
        let packed = files::read_bounded(&git.common.join("packed-refs"), 64 << 20).ok().flatten().unwrap_or_default();
        git.reftable()
            || git.common.join("refs/ez/trash").is_dir()
            || packed.windows(14).any(|part| part == b"refs/ez/trash/")
    })
}

/// Makes room for a new entry of this session: an earlier one that still holds something gets another id, and what an
/// interrupted keeping left goes.
fn put_aside(context: &Context, repo: &Repo, id: &str) -> Result<(), Failure> {
    let folder = root(context).join(id);
    if folder.symlink_metadata().is_err() {
        return Ok(());
    }
    let Some(mut entry) = read(&folder) else {
        forget(context, repo, id);
        return Ok(());
    };
    let free = |other: &String| root(context).join(other).symlink_metadata().is_err();
    // Not `-2`: that is how git-worktree numbers its folders.
    let Some(other) = (2..1000).map(|n| format!("{id}.{n}")).find(free) else {
        return Err(Failure::new("the trash is full").hint("ez trash empty"));
    };
    let git = Git::new(context, &repo.path);
    if let Some(kept) = git.commit(&trash_ref(id)).filter(|_| repo.is_git) {
        git.text(&["update-ref", &trash_ref(&other), &kept])?;
    }
    entry.id.clone_from(&other);
    let text = toml::to_string(&entry).map_err(|error| Failure::new("could not write the trash entry").cause(error))?;
    files::write_atomic(&folder.join("entry.toml"), text.as_bytes(), Mode::Private)?;
    files::rename(&folder, &root(context).join(&other))
}

/// Moves the notes of a deleted session into its entry.
///
/// # Errors
/// When they cannot be moved.
pub fn keep_notes(context: &Context, repo: &Repo, session: &Session) -> Result<(), Failure> {
    let notes = context.store.notes_dir(&repo.id, &session.id);
    if notes.is_dir() {
        files::move_to(&notes, &root(context).join(&session.id).join("notes"))?;
    }
    Ok(())
}

fn read(folder: &Path) -> Option<Entry> {
    let bytes = files::read_bounded(&folder.join("entry.toml"), 16 << 20).ok()??;
    let entry: Entry = toml::from_str(std::str::from_utf8(&bytes).ok()?).ok()?;
    // The id is what everything of it is found by.
    (folder.file_name().and_then(|name| name.to_str()) == Some(entry.id.as_str())).then_some(entry)
}

/// The entries, newest first.
pub fn list(context: &Context) -> Vec<Entry> {
    let Ok(entries) = std::fs::read_dir(root(context)) else { return Vec::new() };
    let hidden = |entry: &std::fs::DirEntry| entry.file_name().to_str().is_none_or(|name| name.starts_with('.'));
    let mut found: Vec<Entry> =
        entries.flatten().filter(|entry| !hidden(entry)).filter_map(|entry| read(&entry.path())).collect();
    found.sort_by(|a, b| b.deleted_at.cmp(&a.deleted_at));
    found
}

/// The entry with this name or id; the newest of several of one repository, which is the current one if that has any.
///
/// # Errors
/// When there is none, or when several other repositories have one.
pub fn find(context: &Context, name: &str) -> Result<Entry, Failure> {
    let mut found = list(context);
    found.retain(|entry| entry.name == name || entry.id == name);
    if let Ok(here) = crate::locate::repo(context, None)
        && let Some(own) = found.iter().find(|entry| entry.repo == here.id)
    {
        return Ok(own.clone());
    }
    let Some(newest) = found.first() else {
        return Err(Failure::new(format!("nothing called {} is in the trash", quoted(name)))
            .hint("`ez trash list` lists what is"));
    };
    if let Some(other) = found.iter().find(|entry| entry.repo != newest.repo) {
        return Err(Failure::new(format!("more than one repository has {} in the trash", quoted(name))).hint(format!(
            "name one by its id: {} ({}), {} ({})",
            newest.id,
            sys::text::clean(&newest.repo),
            other.id,
            sys::text::clean(&other.repo)
        )));
    }
    Ok(newest.clone())
}

/// The folders that the bundled git-worktree moved this session's worktree to, the last one last (ez.md, "Bundled
/// plugins"): `<id>`, and `<id>-2` and so on where one was there already.
///
/// One on another disk than the repository is moved to the trash beside itself.
fn moved_aside(repo: &Repo, entry: &Entry) -> Vec<PathBuf> {
    let trash = |path: &Path| Some(path.parent()?.join(".ez/.trash").join(path.file_name()?));
    let own = entry.path.as_deref().and_then(|path| trash(Path::new(path)));
    let folders = [own, trash(Path::new(&repo.path))];
    let number = |name: &str| match name.strip_prefix(entry.id.as_str())? {
        "" => Some(1),
        rest => rest.strip_prefix('-')?.parse::<u32>().ok(),
    };
    let entries = folders.iter().flatten().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> =
        entries.filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path()))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// Removes them for good, with git's folder that is kept beside each.
fn remove_aside(aside: &[PathBuf]) -> Result<(), Failure> {
    for folder in aside {
        files::remove_tree(folder)?;
        files::remove_tree(&git_worktree::kept_beside(folder))?;
    }
    Ok(())
}

/// How long a deleted session can be restored, days (ez.md, "Bundled plugins").
pub const DAYS: u64 = 30;

/// How long after an entry was first seen to be old it goes, at the earliest.
const GRACE: Duration = Duration::from_secs(24 * 60 * 60);

/// In an entry that was seen to be old: the time of this file is when.
const OLD: &str = "old";

/// Removes for good what has been in the trash for [`DAYS`], by what the entry says and by the time of its file. A clock
/// that is wrong for a while must not empty the trash, so one deletion marks what is old, and another one at least a day
/// later removes what is still marked. Costs a look at each entry's time; that one cannot be removed is told and stops
/// nothing.
pub fn expire(context: &Context, out: &mut Out) {
    let now = sys::clock::wall();
    sweep(context);
    let age = |file: &Path| file.metadata().and_then(|meta| meta.modified()).map(|at| now.duration_since(at));
    let entries = std::fs::read_dir(root(context)).into_iter().flatten().flatten();
    let (mut ripe, mut marked) = (Vec::new(), Vec::new());
    for folder in entries.map(|entry| entry.path()) {
        let mark = age(&folder.join(OLD));
        match age(&folder.join("entry.toml")) {
            Ok(Ok(age)) if age >= Duration::from_secs(DAYS * 24 * 60 * 60) => match mark {
                Ok(Ok(since)) if since >= GRACE => ripe.push(folder),
                Ok(Ok(_)) => {}
                // Not marked yet, or in a future that did not come.
                _ => marked.push(folder),
            },
            _ if mark.is_ok() => drop(files::remove_file(&folder.join(OLD))),
            _ => {}
        }
    }
    for folder in marked {
        let _ = files::remove_file(&folder.join(OLD));
        // Without a mark it only stays longer.
        let _ = files::write_new(&folder.join(OLD), b"", Mode::Private);
    }
    let old: Vec<Entry> = ripe
        .iter()
        .filter_map(|folder| read(folder))
        .filter(|entry| crate::ops::prune::older(&entry.deleted_at, DAYS, now))
        .collect();
    match remove_all(context, &old) {
        Ok(()) if old.is_empty() => {}
        Ok(()) => {
            out.note(&format!("{} sessions deleted more than {DAYS} days ago left the trash for good", old.len()));
        }
        Err(failure) => out.warn(&failure.to_string()),
    }
}

/// Removes entries for good, those older than `days` when given. How many went.
///
/// # Errors
/// When one cannot be removed.
pub fn empty(context: &Context, days: Option<u64>) -> Result<usize, Failure> {
    let now = sys::clock::wall();
    let mut all = list(context);
    all.retain(|entry| days.is_none_or(|days| crate::ops::prune::older(&entry.deleted_at, days, now)));
    remove_all(context, &all)?;
    sweep(context);
    Ok(all.len())
}

fn remove_all(context: &Context, entries: &[Entry]) -> Result<(), Failure> {
    if entries.is_empty() {
        return Ok(());
    }
    let repos = context.store.repos()?;
    for entry in entries {
        store::check_id(&entry.id)?;
        if let Some(repo) = repos.iter().find(|repo| repo.id == entry.repo) {
            remove_aside(&moved_aside(repo, entry))?;
            forget(context, repo, &entry.id);
        } else {
            files::remove_tree(&root(context).join(&entry.id))?;
        }
    }
    Ok(())
}
