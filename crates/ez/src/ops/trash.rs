//! The trash of sessions: before a deletion what exists nowhere else is kept (tracked changes as a commit under
//! `refs/ez/trash/`, untracked and ignored files as copies, the record, the notes), and can be restored. Nothing is moved
//! before the hooks have run. `delete` fills it, the `trash` commands list, restore and empty it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sys::Failure;
use sys::files::{self, Mode};

use super::record;
use super::steps::Step;
use crate::bundled::git_worktree;
use crate::context::Context;
use crate::git::Git;
use crate::hooks::plugins;
use crate::model::gitdir::GitDir;
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
    work: Work,
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
    if let Some(tree) = own_worktree(repo, session) {
        let path = &tree.top;
        kept.owned = true;
        let git = Git::new(context, path);
        entry.tip = tree.tip().or_else(|| git.line(&["rev-parse", "--verify", "--quiet", "HEAD"]));
        if work == Work::Changes {
            entry.changes = git.line(&["stash", "create", &format!("ez trash: {}", session.name)]);
        }
        if let Some(keep) = entry.changes.as_ref().or(entry.tip.as_ref()).filter(|_| work != Work::OnBranch) {
            git.text(&["update-ref", &trash_ref(&session.id), keep])?;
        }
        // The bundled git-worktree moves the whole folder aside, so a copy would be a second one.
        if !bundled_moves_it(context) {
            kept.files = copy_files(context, &git, path, &folder.join("files"))?;
        }
    }
    let text = toml::to_string(&entry).map_err(|error| Failure::new("could not write the trash entry").cause(error))?;
    let file = folder.join("entry.toml");
    // One that is there is of an earlier try.
    files::remove_file(&file)?;
    files::write_new(&file, text.as_bytes(), Mode::Private)?;
    Ok(kept)
}

/// The session's folder when it is a linked worktree of this repository.
fn own_worktree(repo: &Repo, session: &Session) -> Option<GitDir> {
    let tree = GitDir::at(Path::new(session.path.as_ref()?))?;
    let main = GitDir::at(Path::new(&repo.path))?;
    (tree.common == main.common && tree.dir != tree.common).then_some(tree)
}

fn bundled_moves_it(context: &Context) -> bool {
    plugins::usable(context)
        .iter()
        .any(|plugin| plugin.name == "git-worktree" && plugin.source == crate::hooks::Source::Bundled)
}

/// Untracked and ignored files, as git names them.
fn copy_files(context: &Context, git: &Git, path: &Path, to: &Path) -> Result<usize, Failure> {
    let untracked = git.bytes(&["ls-files", "-z", "--others"])?;
    let names: Vec<PathBuf> =
        untracked.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(crate::git::path).collect();
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

fn of_entry(context: &Context, entry: &Entry) -> Result<(Repo, Session), Failure> {
    let repo = context.store.repos()?.into_iter().find(|repo| repo.id == entry.repo).ok_or_else(|| {
        Failure::new(format!("the repository {} is not registered any more", quoted(&entry.repo)))
            .hint(format!("ez add {}", entry.repo_path))
    })?;
    Ok((repo, super::steps::recorded(&entry.record)?))
}

/// Brings a session back: its record, worktree, changes, files and notes; says what could not be brought back.
///
/// # Errors
/// When its repository is gone or its name is taken.
pub fn restore(context: &Context, entry: &Entry, out: &mut Out) -> Result<(), Failure> {
    store::check_id(&entry.id)?;
    let (repo, session) = of_entry(context, entry)?;
    let repo = &repo;
    super::create::check_free(repo, &context.store.sessions(&repo.id)?, &session.name, Some(&session.id))?;
    let open = record::open(context, repo, "restore", &session, vec![Step::Restore])?;
    let restored = bring_back_entry(context, entry, false, out);
    open.close()?;
    restored
}

/// As [`restore`], whatever an earlier one has done of it already.
///
/// # Errors
/// When a part of it cannot be brought back; the entry holds everything until its end.
pub(super) fn bring_back_entry(context: &Context, entry: &Entry, again: bool, out: &mut Out) -> Result<(), Failure> {
    let (repo, session) = of_entry(context, entry)?;
    let repo = &repo;
    let had_worktree = entry.tip.is_some() || !moved_aside(repo, entry).is_empty();
    if let Some(path) = session.path.as_deref().map(Path::new).filter(|_| had_worktree) {
        if !again && path.exists() {
            return Err(Failure::new(format!("could not restore {}", quoted(&session.name)))
                .cause(format!("something is at {} already", path.display()))
                .hint("move it away and try again; the trash keeps the session"));
        }
        restore_worktree(context, repo, entry, path, out)?;
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
    if let Some(path) = session.path.as_deref().filter(|path| !had_worktree && !Path::new(path).exists()) {
        out.warn(&format!("its folder was gone before it was deleted, so it does not come back: {path}"));
        let branch = session.plugin_state.get("branch").and_then(toml::Value::as_str);
        if let Some(branch) = branch.filter(|branch| Git::new(context, &repo.path).commit(branch).is_some()) {
            let word = |text: &str| crate::shell::quote(crate::shell::Shell::Bash, text);
            out.note(&format!(
                "  its branch is there; a new folder: git -C {} worktree add {} {}",
                word(&repo.path),
                word(path),
                word(branch)
            ));
        }
    }
    Ok(())
}

/// Undoes a deletion that a plugin stopped after another one had removed the worktree: it stands again, and the entry goes.
///
/// # Errors
/// When it could not be brought back; the entry keeps everything then.
pub(super) fn take_back(context: &Context, repo: &Repo, session: &Session, out: &mut Out) -> Result<(), Failure> {
    let gone = session.path.as_deref().map(Path::new).filter(|path| !path.exists());
    if let Some(path) = gone
        && let Some(entry) = list(context).into_iter().find(|entry| entry.id == session.id)
        && (entry.tip.is_some() || !moved_aside(repo, &entry).is_empty())
    {
        restore_worktree(context, repo, &entry, path, out)?;
    }
    forget(context, repo, &session.id);
    Ok(())
}

/// The worktree as it was, where it was only moved aside; else a new one with the changes and files that were kept.
fn restore_worktree(context: &Context, repo: &Repo, entry: &Entry, path: &Path, out: &mut Out) -> Result<(), Failure> {
    let aside = moved_aside(repo, entry);
    if let Some(last) = aside.last()
        && !path.exists()
        && bring_branch_back(context, repo, entry)?
    {
        match git_worktree::restore(last, path, &context.child_env()) {
            Ok(()) => return Ok(()),
            Err(failure) => out.warn(&format!("{failure}; a new worktree is made")),
        }
    }
    let whole = remake_worktree(context, repo, entry, path, aside.last(), out)?;
    // What could not be applied is still there to be looked at.
    if whole {
        remove_aside(&aside)?;
    }
    Ok(())
}

/// The branch is where it was, again if need be. False when it has moved on: the worktree's files are not its own then.
fn bring_branch_back(context: &Context, repo: &Repo, entry: &Entry) -> Result<bool, Failure> {
    let (Some(branch), Some(tip)) = (&entry.branch, &entry.tip) else { return Ok(entry.branch.is_none()) };
    let git = Git::new(context, &repo.path);
    let full = format!("refs/heads/{branch}");
    match git.commit(&full) {
        Some(now) => Ok(now == *tip),
        None => git.text(&["update-ref", &full, tip, ""]).map(|_| true),
    }
}

/// True when all of it could be brought back.
fn remake_worktree(
    context: &Context,
    repo: &Repo,
    entry: &Entry,
    path: &Path,
    aside: Option<&PathBuf>,
    out: &mut Out,
) -> Result<bool, Failure> {
    let git = Git::new(context, &repo.path);
    let tip = entry.tip.clone().unwrap_or_default();
    let to = crate::context::utf8(path)?;
    // A worktree that was only moved aside leaves its old entry in git's list.
    let _ = git.run(&["worktree", "prune"]);
    // An interrupted restore has made it already; what was to follow may be missing.
    let made = path.join(".git").is_file();
    match &entry.branch {
        _ if made => {}
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
    let mut whole = true;
    if let Some(changes) = &entry.changes
        && !(made && tree.text(&["status", "--porcelain", "--untracked-files=no"]).is_ok_and(|text| !text.is_empty()))
        && tree.text(&["stash", "apply", "--quiet", "--index", changes]).is_err()
        && let Err(failure) = tree.text(&["stash", "apply", "--quiet", changes])
    {
        out.warn(&format!("the uncommitted changes are in the commit {changes}, they could not be applied: {failure}"));
        git.text(&["update-ref", &format!("refs/ez/kept/{}", entry.id), changes])?;
        whole = false;
    }
    bring_back(&root(context).join(&entry.id).join("files"), path, false)?;
    if let Some(aside) = aside {
        bring_back(aside, path, true)?;
    }
    Ok(whole)
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

/// How long a deleted session can be restored, days (ez.md, "Bundled plugins").
pub const DAYS: u64 = 30;

/// Removes for good what has been in the trash for [`DAYS`]. Costs a look at each entry's time; that one cannot be removed
/// is told and stops nothing.
pub fn expire(context: &Context, out: &mut Out) {
    let Some(limit) = sys::clock::wall().checked_sub(std::time::Duration::from_secs(DAYS * 24 * 60 * 60)) else {
        return;
    };
    let Ok(entries) = std::fs::read_dir(root(context)) else { return };
    let old = |folder: &Path| {
        let written = folder.join("entry.toml").metadata().and_then(|meta| meta.modified());
        written.is_ok_and(|at| at < limit)
    };
    if !entries.flatten().any(|entry| old(&entry.path())) {
        return;
    }
    match empty(context, Some(DAYS)) {
        Ok(0) => {}
        Ok(count) => out.note(&format!("{count} sessions deleted more than {DAYS} days ago left the trash for good")),
        Err(failure) => out.warn(&failure.to_string()),
    }
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
            remove_aside(&moved_aside(repo, &entry))?;
            forget(context, repo, &entry.id);
        } else {
            files::remove_tree(&root(context).join(&entry.id))?;
        }
        count += 1;
    }
    Ok(count)
}
