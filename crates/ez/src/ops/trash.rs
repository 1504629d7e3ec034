//! The trash of sessions: before a deletion what exists nowhere else is kept (tracked changes as a commit under
//! `refs/ez/trash/`, untracked and ignored files as copies, the record, the notes), and can be restored. Nothing is moved
//! before the hooks have run. `delete` fills it, the `trash` commands list, restore and empty it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sys::Failure;
use sys::files::{self, Mode};

use crate::cli::Out;
use crate::context::Context;
use crate::git::Git;
use crate::hooks::plugins;
use crate::model::gitdir::GitDir;
use crate::model::name::quoted;
use crate::store::{self, Blocks, Repo, Session};

/// What was kept of one session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept {
    /// Files that were copied.
    pub files: usize,
    /// The folder was a worktree that a deletion should have removed.
    pub owned: bool,
}

/// `entry.toml` of a trash entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Entry {
    /// The session's id, and the entry's.
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
    /// The session as sessions.toml held it.
    pub record: String,
}

/// Copies above this are not made without being asked for: 2 GiB.
const COPY_MAX: u64 = 2 << 30;

fn root(context: &Context) -> PathBuf {
    context.store.data.join("trash")
}

fn trash_ref(id: &str) -> String {
    format!("refs/ez/trash/{id}")
}

/// Keeps what only this session has.
///
/// # Errors
/// When it cannot be kept: then nothing may be deleted.
pub fn keep(
    context: &Context,
    repo: &Repo,
    session: &Session,
    branch: Option<&str>,
    dirty: bool,
) -> Result<Kept, Failure> {
    store::check_id(&session.id)?;
    let mut kept = Kept::default();
    let mut entry = Entry {
        id: session.id.clone(),
        name: session.name.clone(),
        repo: repo.id.clone(),
        repo_path: repo.path.clone(),
        deleted_at: store::stamp(),
        branch: branch.map(str::to_owned),
        tip: None,
        changes: None,
        path: session.path.clone(),
        record: session.to_text(),
    };
    let folder = root(context).join(&session.id);
    if let Some(path) = own_worktree(repo, session) {
        kept.owned = true;
        let git = Git::new(context, &path);
        entry.tip = git.line(&["rev-parse", "--verify", "--quiet", "HEAD"]);
        if dirty {
            entry.changes = git.line(&["stash", "create", &format!("ez trash: {}", session.name)]);
        }
        if let Some(keep) = entry.changes.as_ref().or(entry.tip.as_ref()) {
            git.text(&["update-ref", &trash_ref(&session.id), keep])?;
        }
        // The bundled git-worktree moves the whole folder aside, so a copy would be a second one.
        if !bundled_moves_it(context) {
            kept.files = copy_files(context, &git, &path, &folder.join("files"))?;
        }
    }
    let text = toml::to_string(&entry).map_err(|error| Failure::new("could not write the trash entry").cause(error))?;
    files::write_atomic(&folder.join("entry.toml"), text.as_bytes(), Mode::Private)?;
    Ok(kept)
}

/// The session's folder when it is a linked worktree of this repository.
fn own_worktree(repo: &Repo, session: &Session) -> Option<PathBuf> {
    let path = PathBuf::from(session.path.as_ref()?);
    let tree = GitDir::at(&path)?;
    let main = GitDir::at(Path::new(&repo.path))?;
    (tree.common == main.common && tree.dir != tree.common).then_some(path)
}

fn bundled_moves_it(context: &Context) -> bool {
    plugins::usable(context)
        .iter()
        .any(|plugin| plugin.name == "git-worktree" && plugin.source == crate::hooks::Source::Bundled)
}

/// Untracked and ignored files, as git names them.
fn copy_files(context: &Context, git: &Git, path: &Path, to: &Path) -> Result<usize, Failure> {
    let untracked = git.text(&["ls-files", "-z", "--others"])?;
    let names: Vec<&str> = untracked.split('\0').filter(|name| !name.is_empty()).collect();
    let size: u64 = names.iter().filter_map(|name| path.join(name).symlink_metadata().ok()).map(|m| m.len()).sum();
    if size > COPY_MAX && !context.globals.yes {
        return Err(Failure::new(format!(
            "{} holds {} that git does not know",
            path.display(),
            sys::text::human::bytes(size)
        ))
        .hint("remove what is not needed (git clean), or agree to a copy of all of it with --yes"));
    }
    for name in &names {
        files::copy_tree(&path.join(name), &to.join(name))?;
    }
    Ok(names.len())
}

/// Takes an entry back: the deletion did not happen.
pub fn forget(context: &Context, repo: &Repo, id: &str) {
    if store::check_id(id).is_err() {
        return;
    }
    // What cannot be removed stays in the trash, where it harms nobody.
    let _ = files::remove_tree(&root(context).join(id));
    let git = Git::new(context, &repo.path);
    if repo.is_git && git.commit(&trash_ref(id)).is_some() {
        let _ = git.run(&["update-ref", "-d", &trash_ref(id)]);
    }
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

/// The entries, newest first.
pub fn list(context: &Context) -> Vec<Entry> {
    let Ok(entries) = std::fs::read_dir(root(context)) else { return Vec::new() };
    let mut found: Vec<Entry> = entries
        .flatten()
        .filter_map(|entry| {
            let bytes = files::read_bounded(&entry.path().join("entry.toml"), 16 << 20).ok()??;
            toml::from_str(std::str::from_utf8(&bytes).ok()?).ok()
        })
        .collect();
    found.sort_by(|a, b| b.deleted_at.cmp(&a.deleted_at));
    found
}

/// The entry with this name or id; the newest of several.
///
/// # Errors
/// When there is none.
pub fn find(context: &Context, name: &str) -> Result<Entry, Failure> {
    list(context).into_iter().find(|entry| entry.name == name || entry.id == name).ok_or_else(|| {
        Failure::new(format!("nothing called {} is in the trash", quoted(name))).hint("`ez trash list` lists what is")
    })
}

/// Brings a session back: its record, worktree, changes, files and notes; says what could not be brought back.
///
/// # Errors
/// When its repository is gone or its name is taken.
pub fn restore(context: &Context, entry: &Entry, out: &mut Out) -> Result<(), Failure> {
    store::check_id(&entry.id)?;
    let repos = context.store.repos()?;
    let repo = repos.iter().find(|repo| repo.id == entry.repo).ok_or_else(|| {
        Failure::new(format!("the repository {} is not registered any more", quoted(&entry.repo)))
            .hint(format!("ez add {}", entry.repo_path))
    })?;
    let session = Blocks::<Session>::read(&entry.record)?
        .items
        .into_iter()
        .next()
        .ok_or_else(|| Failure::new("the trash entry holds no session"))?;
    super::create::check_free(repo, &context.store.sessions(&repo.id)?, &session.name, Some(&session.id))?;
    if let Some(path) = &session.path
        && !Path::new(path).exists()
        && entry.tip.is_some()
    {
        restore_worktree(context, repo, entry, Path::new(path), out)?;
    }
    let folder = root(context).join(&entry.id);
    if folder.join("notes").is_dir() {
        files::move_to(&folder.join("notes"), &context.store.notes_dir(&repo.id, &session.id))?;
    }
    context.store.update_sessions(&repo.id, |sessions| {
        if !sessions.iter().any(|found| found.id == session.id) {
            sessions.push(session.clone());
        }
        Ok(())
    })?;
    forget(context, repo, &entry.id);
    Ok(())
}

fn restore_worktree(context: &Context, repo: &Repo, entry: &Entry, path: &Path, out: &mut Out) -> Result<(), Failure> {
    let git = Git::new(context, &repo.path);
    let tip = entry.tip.clone().unwrap_or_default();
    let to = crate::context::utf8(path)?;
    // A worktree that was only moved aside leaves its old entry in git's list.
    let _ = git.run(&["worktree", "prune"]);
    match &entry.branch {
        Some(branch) if git.commit(&format!("refs/heads/{branch}")).is_some() => {
            git.text(&["worktree", "add", "--quiet", "--", &to, branch])?;
        }
        Some(branch) => {
            git.text(&["worktree", "add", "--quiet", "-b", branch, "--", &to, &tip])?;
        }
        None => {
            git.text(&["worktree", "add", "--quiet", "--detach", "--", &to, &tip])?;
        }
    }
    let tree = Git::new(context, path);
    if let Some(changes) = &entry.changes
        && tree.text(&["stash", "apply", "--quiet", "--index", changes]).is_err()
        && let Err(failure) = tree.text(&["stash", "apply", "--quiet", changes])
    {
        out.warn(&format!("the uncommitted changes are in the commit {changes}, they could not be applied: {failure}"));
        git.text(&["update-ref", &format!("refs/ez/kept/{}", entry.id), changes])?;
    }
    let own = root(context).join(&entry.id).join("files");
    let aside = aside(repo, &entry.id);
    for (from, only_missing) in [(own, false), (aside, true)] {
        bring_back(&from, path, only_missing)?;
    }
    Ok(())
}

/// Where the bundled git-worktree moves a deleted worktree (ez.md, "Bundled plugins").
fn aside(repo: &Repo, id: &str) -> PathBuf {
    let path = Path::new(&repo.path);
    path.parent().unwrap_or(path).join(".ez/.trash").join(path.file_name().unwrap_or_default()).join(id)
}

/// Copies what is not there; nothing that is there is replaced.
fn bring_back(from: &Path, to: &Path, worktree: bool) -> Result<(), Failure> {
    let Ok(entries) = std::fs::read_dir(from) else { return Ok(()) };
    for entry in entries.flatten() {
        if worktree && entry.file_name() == ".git" {
            continue;
        }
        let target = to.join(entry.file_name());
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match target.symlink_metadata() {
            Ok(_) if is_dir && target.is_dir() => bring_back(&entry.path(), &target, worktree)?,
            Ok(_) => {}
            Err(_) => {
                files::copy_tree(&entry.path(), &target)?;
            }
        }
    }
    Ok(())
}

/// Removes entries for good, those older than `days` when given. How many went.
///
/// # Errors
/// When one cannot be removed.
pub fn empty(context: &Context, days: Option<u64>) -> Result<usize, Failure> {
    let repos = context.store.repos()?;
    let now = sys::clock::wall();
    let mut count = 0;
    for entry in list(context) {
        if days.is_some_and(|days| !super::prune::older(&entry.deleted_at, days, now)) {
            continue;
        }
        store::check_id(&entry.id)?;
        if let Some(repo) = repos.iter().find(|repo| repo.id == entry.repo) {
            files::remove_tree(&aside(repo, &entry.id))?;
            forget(context, repo, &entry.id);
        } else {
            files::remove_tree(&root(context).join(&entry.id))?;
        }
        count += 1;
    }
    Ok(count)
}
