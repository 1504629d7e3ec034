//! A deleted session's worktree goes to `<parent>/.ez/.trash/<repository>/<session id>` by one rename, and git's own
//! folder for it (its HEAD, index, reflog, submodules) to the same name with `.git` behind: git has forgotten the
//! worktree then, nothing is lost, and [`restore`] brings both back as they were.
//! Only a linked worktree of this repository moves; whatever else is at the path stays there and is named.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use sys::{Env, Failure, files};

use super::git::{self, Folder, Git};
use super::plan::{self, Place};
use super::{remove_empty, utf8};
use crate::bundled::request::{Answer, Request, Session};
use crate::bundled::tool::{args, say};

pub(super) fn delete(request: &Request, session: &Session, env: &Env) -> Result<Answer, Failure> {
    let repo = &request.repo.path;
    let place = Place::of(repo)?;
    let path = match &session.path {
        Some(path) => path.clone(),
        None => place.worktree(&session.name)?,
    };
    let shown = path.display();
    let admin = match git::folder(repo, &path)? {
        Folder::Linked(admin) => admin,
        Folder::Main => {
            say(&format!("{shown} is the repository's own folder and stays as it is"));
            return Ok(Answer::ok());
        }
        Folder::Missing => {
            // A create that failed has made none; there is nothing to tell then.
            if session.path.is_some() {
                say(&format!("the worktree {shown} was gone already"));
            } else {
                git::remove_unfinished(repo, &path)?;
            }
            forget(&Git::new(env), repo, &path);
            remove_empty(path.parent(), &place.base());
            return Ok(Answer::ok());
        }
        Folder::Other if session.path.is_none() && git::remove_unfinished(repo, &path)? => {
            remove_empty(path.parent(), &place.base());
            return Ok(Answer::ok());
        }
        Folder::Other => {
            say(&format!(
                "{shown} is no worktree of this repository (any more) and stays; `git worktree prune` forgets"
            ));
            return Ok(Answer::ok());
        }
    };
    if session.path.is_none() {
        // A create is undone that did not come to its answer, so this may be a worktree that was there before it. Its
        // own is on the session's branch, or on none yet.
        let own = plan::branch(&session.name);
        if let Some(other) = git::branch_in(&admin)?.filter(|branch| *branch != own) {
            say(&format!(
                "{shown} is on the branch '{}', was made by another command and stays",
                sys::text::clean(&other)
            ));
            return Ok(Answer::ok());
        }
        git::unlock_unfinished(&admin)?;
    }
    git::refuse_locked(&path, &admin)?;
    let trash = move_to_trash(&place, session, &path)?;
    let kept = kept_beside(&trash);
    if let Err(failure) = files::rename(&admin, &kept) {
        // Another file system: git removes its entry itself. The folder is gone from its path, so only that goes.
        say(&format!("{failure}; the index is not kept"));
        let removed = Git::new(env).must(
            &format!("make git forget {shown}"),
            repo,
            &args!("worktree", "remove", "--force", "--", &path),
        );
        if let Err(failure) = removed {
            files::rename(&trash, &path).map_err(|undo| failure.clone().cause(undo))?;
            return Err(failure);
        }
    }
    remove_empty(path.parent(), &place.base());
    Ok(Answer::ok().state("trash_path", utf8(&trash)?))
}

/// The folder's git entry may outlive it; then git is told. That it cannot be told keeps no session alive.
fn forget(git: &Git, repo: &Path, path: &Path) {
    // An entry that is not there, or is locked, is the only refusal, and both are fine.
    let _ = git.try_to(repo, &args!("worktree", "remove", "--", path));
}

/// One rename into the first free place of the trash; beside the worktree, when that is on another file system.
fn move_to_trash(place: &Place, session: &Session, path: &Path) -> Result<PathBuf, Failure> {
    let free = |place: &Place| {
        (1..)
            .map(|n| place.trash(&session.id, n))
            .find(|trash| trash.symlink_metadata().is_err() && kept_beside(trash).symlink_metadata().is_err())
    };
    let Some(trash) = free(place) else { return Err(Failure::new("the trash is full")) };
    let Err(first) = files::rename(path, &trash) else { return Ok(trash) };
    // The folders that were made for nothing.
    remove_empty(trash.parent(), trash.ancestors().nth(3).unwrap_or(&trash));
    let near = Place::of(path).ok().filter(|_| !place.holds(path)).and_then(|near| free(&near));
    match near {
        Some(trash) => files::rename(path, &trash).map(|()| trash).map_err(|_| first),
        None => Err(first),
    }
}

/// Where git's own folder of a worktree in the trash is kept.
pub fn kept_beside(trash: &Path) -> PathBuf {
    let mut name = OsString::from(trash.as_os_str());
    name.push(".git");
    PathBuf::from(name)
}

/// Brings a worktree back from `trash` (the `trash_path` of the delete's answer) to `to`, with its index, HEAD and
/// submodules as they were.
///
/// # Errors
/// When something is at `to`, when its branch is checked out elsewhere by now, and when git's folder for it was not
/// kept or its place is taken; nothing has been moved then.
pub fn restore(trash: &Path, to: &Path, env: &Env) -> Result<(), Failure> {
    let failed = || Failure::new(format!("could not restore the worktree {}", to.display()));
    let kept = kept_beside(trash);
    let Some(admin) = git::points_to(trash)?.filter(|_| kept.is_dir()) else {
        return Err(failed().cause(format!("{} is not kept with its git folder", trash.display())));
    };
    let common = admin.parent().filter(|folder| folder.file_name() == Some(OsStr::new("worktrees")));
    let Some(common) = common.and_then(Path::parent) else {
        return Err(failed().cause(format!("{} is no linked worktree", trash.display())));
    };
    let git = Git::new(env);
    if let Some(branch) = git::branch_in(&kept)?
        && let Some(Some(other)) = git.refs(common, &branch)?.local
        && other.symlink_metadata().is_ok()
    {
        return Err(failed().cause(format!("the branch '{branch}' is checked out in {}", other.display())));
    }
    files::rename(&kept, &admin)?;
    let moved = files::rename(trash, to).and_then(|()| {
        // The entry still names the old path when `to` is another one, and a path that is relative was right there only.
        git.must(&format!("tell git of {}", to.display()), common, &args!("worktree", "repair", "--", to))
            .inspect_err(|_| drop(files::rename(to, trash)))
    });
    match moved {
        Ok(_) => Ok(()),
        Err(failure) => match files::rename(&admin, &kept) {
            Ok(()) => Err(failure),
            Err(undo) => Err(failure.cause(undo)),
        },
    }
}
