//! Registering repositories and taking them off the list: identity by canonical path and by git's shared folder, ids that
//! stay, state that survives a removal. `add`, `clone`, `remove` and the browser call it.

use std::path::{Path, PathBuf};

use sys::{Failure, files};
use wire::hook::Hook;

use crate::context::{Context, utf8};
use crate::git::{self, Git};
use crate::hooks::{Call, fire};
use crate::landing::Landing;
use crate::locate;
use crate::model::gitdir::GitDir;
use crate::model::name::quoted;
use crate::out::Out;
use crate::store::{self, Repo, RepoState};

/// Registers a folder.
///
/// # Errors
/// When it is not there, no folder, or registered already.
pub fn add(context: &Context, path: &Path, out: &mut Out) -> Result<Repo, Failure> {
    let real = path.canonicalize().map_err(|error| Failure::io("register", path, &error))?;
    if !real.is_dir() {
        return Err(Failure::new(format!("{} is no folder", real.display())));
    }
    let text = utf8(&real)?;
    let git = GitDir::at(&real);
    refuse_twice(&context.store.repos()?, &real, git.as_ref())?;
    let state = look(context, &text, git.as_ref());
    if let Some(moved) = moved(context, git.as_ref())? {
        return point_to(context, &moved, &text, out);
    }
    let name = real.file_name().map_or_else(|| text.clone(), |name| name.to_string_lossy().into_owned());
    let base = base_id(&real);
    let repo = context.store.update_repos(|repos| {
        refuse_twice(repos, &real, git.as_ref())?;
        let id = free_id(context, repos, &base, &text);
        let repo = Repo {
            id,
            path: text.clone(),
            name: name.clone(),
            registered_at: store::stamp(),
            is_git: git.is_some(),
            ..Repo::default()
        };
        repos.push(repo.clone());
        Ok(repo)
    })?;
    context.store.update_repo_state(&repo.id, |old| {
        // Labels and plugins' state of an earlier registration stay.
        old.remote_url.clone_from(&state.remote_url);
        old.default_branch.clone_from(&state.default_branch);
        old.git_dir.clone_from(&state.git_dir);
        old.path = Some(text.clone());
        Ok(())
    })?;
    Ok(repo)
}

fn refuse_twice(repos: &[Repo], real: &Path, git: Option<&GitDir>) -> Result<(), Failure> {
    let same_path = repos.iter().find(|repo| Path::new(&repo.path).canonicalize().is_ok_and(|path| path == real));
    if let Some(repo) = same_path {
        return Err(Failure::new(format!("{} is registered already, as {}", real.display(), quoted(&repo.id))));
    }
    if let Some(git) = git
        && let Some(repo) = locate::with_common(repos, &git.common)
    {
        return Err(Failure::new(format!(
            "{} is a worktree of {}, which is registered",
            real.display(),
            quoted(&repo.id)
        ))
        .hint(format!("make it a session: ez session register {}", real.display())));
    }
    Ok(())
}

fn look(context: &Context, path: &str, git: Option<&GitDir>) -> RepoState {
    let Some(git) = git else { return RepoState { path: Some(path.to_owned()), ..RepoState::default() } };
    let call = Git::new(context, path);
    RepoState {
        remote_url: call.line(&["remote", "get-url", "--", "origin"]),
        default_branch: git.origin_head().or_else(|| git::branch(context, git)),
        git_dir: git.identity(),
        path: Some(path.to_owned()),
        ..RepoState::default()
    }
}

/// A registered repository whose folder is gone and whose git folder is this one.
fn moved(context: &Context, git: Option<&GitDir>) -> Result<Option<Repo>, Failure> {
    let Some(identity) = git.and_then(GitDir::identity) else { return Ok(None) };
    for repo in context.store.repos()? {
        if context.store.repo_state(&repo.id)?.git_dir.as_ref() == Some(&identity)
            && (!Path::new(&repo.path).exists() || is_another(context, &repo))
        {
            return Ok(Some(repo));
        }
    }
    Ok(None)
}

/// True when the repository that lies at the registered folder is not the one that was registered there.
pub(super) fn is_another(context: &Context, repo: &Repo) -> bool {
    let known = context.store.repo_state(&repo.id).ok().and_then(|state| state.git_dir);
    let now = GitDir::at(Path::new(&repo.path)).and_then(|git| git.identity());
    known.is_some() && now.is_some() && known != now
}

/// The repository was moved: its id and sessions stay, its folder is another.
fn point_to(context: &Context, repo: &Repo, path: &str, out: &mut Out) -> Result<Repo, Failure> {
    let name = Path::new(path).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let old = repo.path.clone();
    let found = context.store.update_repos(|repos| {
        let stored = repos
            .iter_mut()
            .find(|found| found.id == repo.id)
            .ok_or_else(|| Failure::new(format!("the repository {} is gone", quoted(&repo.id))))?;
        path.clone_into(&mut stored.path);
        stored.name.clone_from(&name);
        Ok(stored.clone())
    })?;
    finish_move(context, &found, &old, out)?;
    Ok(found)
}

/// The folder that a repository was moved from, when that has not reached its sessions: repo.toml is written last.
pub(super) fn moved_from(context: &Context, repo: &Repo) -> Option<String> {
    let old = context.store.repo_state(&repo.id).ok()?.path?;
    (old != repo.path && Path::new(&repo.path).is_dir()).then_some(old)
}

/// Tells the sessions and worktrees of a moved repository where it is.
///
/// # Errors
/// When the state cannot be written; repo.toml names the old folder then, and doctor does it again.
pub(super) fn finish_move(context: &Context, repo: &Repo, old: &str, out: &mut Out) -> Result<(), Failure> {
    context.store.update_sessions(&repo.id, |sessions| {
        for session in sessions.iter_mut() {
            let Some(path) = session.path.clone() else { continue };
            let moved = if path == old { Some(repo.path.clone()) } else { moved_along(old, &repo.path, &path) };
            let Some(moved) = moved else { continue };
            if let Some(noted) =
                session.plugin_state.get_mut("worktree_path").filter(|noted| noted.as_str() == Some(&path))
            {
                *noted = toml::Value::String(moved.clone());
            }
            session.path = Some(moved);
        }
        Ok(())
    })?;
    repair_worktrees(context, repo);
    context.store.update_repo_state(&repo.id, |state| {
        state.path = Some(repo.path.clone());
        Ok(())
    })?;
    out.note(&format!("{old} was moved to {}: {} keeps its sessions", repo.path, quoted(&repo.id)));
    Ok(())
}

/// Where a worktree beside the repository is, when the folder of both was moved.
fn moved_along(old: &str, new: &str, path: &str) -> Option<String> {
    let (old, new) = (Path::new(old).parent()?, Path::new(new).parent()?);
    let rest = Path::new(path).strip_prefix(old).ok()?;
    let moved = new.join(rest);
    let there = old != new && !Path::new(path).exists() && moved.join(".git").is_file();
    there.then(|| moved.to_str().map(str::to_owned))?
}

/// Worktrees know their repository by its folder, and are told the new one. Those that are gone do not matter.
fn repair_worktrees(context: &Context, repo: &Repo) {
    let sessions = context.store.sessions(&repo.id).unwrap_or_default();
    let paths: Vec<&str> = sessions
        .iter()
        .filter_map(|session| session.path.as_deref())
        .filter(|path| *path != repo.path && Path::new(path).join(".git").is_file())
        .collect();
    if !paths.is_empty() {
        let mut args = vec!["worktree", "repair", "--"];
        args.extend(paths);
        // What could not be mended is found by doctor.
        let _ = Git::new(context, &repo.path).run(&args);
    }
}

/// The last two components of the path, joined; lower case, blanks and what no file name likes as dashes.
fn base_id(path: &Path) -> String {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
            _ => None,
        })
        .collect();
    let last = parts[parts.len().saturating_sub(2)..].join("-").to_lowercase();
    let id: String = last
        .chars()
        .map(|c| if c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\') { '-' } else { c })
        .collect();
    let mut end = id.len().min(200);
    while !id.is_char_boundary(end) {
        end -= 1;
    }
    let id = &id[..end];
    if store::check_id(id).is_ok() { id.to_owned() } else { "repo".to_owned() }
}

/// `base`, or `base-2` and so on: not in the list, and no state of another folder under it.
fn free_id(context: &Context, repos: &[Repo], base: &str, path: &str) -> String {
    let mut number = 1_u32;
    loop {
        let id = if number == 1 { base.to_owned() } else { format!("{base}-{number}") };
        let free = !repos.iter().any(|repo| repo.id == id);
        let state = context.store.repo_state(&id);
        let ours = state.is_ok_and(|state| state.path.is_none_or(|owner| owner == path));
        if free && ours {
            return id;
        }
        number += 1;
    }
}

/// Clones `url` and registers the clone.
///
/// # Errors
/// When git fails or the folder cannot be registered.
pub fn clone(context: &Context, url: &str, path: Option<&str>, out: &mut Out) -> Result<(Repo, Landing), Failure> {
    if url.starts_with('-') || url.trim().is_empty() || url.chars().any(char::is_control) {
        return Err(Failure::usage(format!("{} is no URL", quoted(url))));
    }
    let target = match path {
        Some(path) => context.typed(path),
        None => context.here().join(last_segment(url)?),
    };
    let text = utf8(&target)?;
    let occupied = std::fs::read_dir(&target).is_ok_and(|mut entries| entries.next().is_some());
    if occupied {
        return Err(Failure::new(format!("{text} is there already and not empty")));
    }
    out.line(&format!("Cloning {} into {text}...", sys::text::clean(url)));
    out.flush();
    Git::new(context, context.here()).on_terminal(&["clone", "--", url, &text])?;
    let repo = add(context, &target, out)?;
    let mut call = Call::repo(Hook::OnRepoClone, &repo);
    let effects = fire(context, &mut call, out);
    Ok((repo, Landing { post: effects.post, cd: effects.cd, ..Landing::default() }))
}

/// The folder a URL is cloned into.
fn last_segment(url: &str) -> Result<String, Failure> {
    let trimmed = url.trim_end_matches('/');
    let last = trimmed.rsplit(['/', ':']).next().unwrap_or_default();
    let last = last.strip_suffix(".git").unwrap_or(last);
    if last.is_empty() || last.chars().all(|c| c == '.') {
        return Err(Failure::usage(format!("{} names no repository", quoted(url))).hint("give a folder after it"));
    }
    Ok(last.to_owned())
}

/// Takes a repository off the list; with `purge` its state goes as well. The folder itself is never touched.
///
/// # Errors
/// When a plugin stops it.
pub fn remove(context: &Context, repo: &Repo, purge: bool, out: &mut Out) -> Result<Landing, Failure> {
    if purge && super::record::any(context, &repo.id) {
        return Err(Failure::new(format!("a command is at work in {}, or was interrupted there", quoted(&repo.name)))
            .hint("`ez doctor` says what it is, `ez doctor --fix` finishes or undoes it; nothing was removed"));
    }
    let mut call = Call::repo(Hook::OnRepoRemove, repo);
    let effects = fire(context, &mut call, out);
    if let Some(failure) = effects.failure {
        return Err(failure.hint(format!("the repository {} is still registered", quoted(&repo.name))));
    }
    context.store.update_repos(|repos| {
        repos.retain(|found| found.id != repo.id);
        Ok(())
    })?;
    if purge {
        store::check_id(&repo.id)?;
        files::remove_tree(&context.store.repo_dir(&repo.id))?;
        files::remove_tree(&context.store.data.join("repos").join(&repo.id))?;
        out.line(&format!("Purged metadata for: {}", sys::text::clean(&repo.name)));
    }
    out.line(&format!("Removed: {}", sys::text::clean(&repo.name)));
    Ok(Landing { post: effects.post, cd: effects.cd, ..Landing::default() })
}

/// The account part of a remote URL; the parent folder's name without one.
pub fn owner(repo: &Repo, remote: Option<&str>) -> String {
    let parent = || {
        let parent = Path::new(&repo.path).parent().and_then(Path::file_name);
        parent.map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned())
    };
    let Some(remote) = remote else { return parent() };
    let path = match remote.split_once("://") {
        Some(("file", _)) => return parent(),
        Some((_, rest)) => rest.split_once('/').map(|(_, path)| path),
        None if remote.starts_with('/') => None,
        None => remote.split_once(':').map(|(_, path)| path),
    };
    let first = path.and_then(|path| path.trim_start_matches('/').split('/').next());
    first.filter(|owner| !owner.is_empty()).map_or_else(parent, str::to_owned)
}

/// Repositories below the roots that are not registered yet, at most `depth` folders down.
pub fn unregistered(root: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(root) else { return found };
    for path in entries.flatten().map(|entry| entry.path()) {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden || !path.is_dir() {
            continue;
        }
        if path.join(".git").exists() {
            found.push(path);
        } else if depth > 1 {
            found.extend(unregistered(&path, depth - 1));
        }
    }
    found.sort();
    found
}
