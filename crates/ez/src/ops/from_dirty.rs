//! Moving uncommitted work into a new session: everything is checked first, the work is held in a commit whose id is kept,
//! and it is only taken out of the old place once it is in the new one. On any failure it is back where it was.

use std::path::Path;

use sys::Failure;

use super::create::{self, Made, Wanted};
use crate::cli::Out;
use crate::context::Context;
use crate::git::Git;
use crate::model::SessionName;
use crate::model::name::quoted;
use crate::store::{Repo, Session};

/// Makes the session `name` and moves the uncommitted changes in `from` into it.
///
/// # Errors
/// When there is nothing to move, the name is taken, a plugin fails, or there is no new place for the changes.
pub fn from_dirty(
    context: &Context,
    repo: &Repo,
    from: &Session,
    name: SessionName,
    parent: Option<&str>,
    out: &mut Out,
) -> Result<Made, Failure> {
    if !repo.is_git {
        return Err(Failure::new(format!("{} is no git repository", repo.path)));
    }
    let path = from
        .path
        .clone()
        .or_else(|| from.is_default.then(|| repo.path.clone()))
        .ok_or_else(|| Failure::new(format!("the session {} has no folder", quoted(&from.name))))?;
    let git = Git::new(context, &path);
    create::check_free(repo, &context.store.sessions(&repo.id)?, name.as_str(), None)?;
    if git.changes()?.is_empty() {
        return Err(Failure::new(format!("there are no uncommitted changes in {path}")));
    }
    let head = git.commit("HEAD").ok_or_else(|| {
        Failure::new(format!("{path} has no commit yet"))
            .hint("make a first commit; changes need something to stand on")
    })?;
    let message = format!("ez from-dirty: {name}");
    let before = git.commit("refs/stash");
    git.text(&["stash", "push", "--quiet", "--include-untracked", "-m", &message])?;
    let held = git.commit("refs/stash").filter(|held| Some(held) != before.as_ref()).ok_or_else(|| {
        Failure::new("git kept no changes, although there were some")
            .hint("`git stash list` and `git status` tell more")
    })?;
    let wanted = Wanted {
        parent: Some(parent.map_or_else(|| from.id.clone(), str::to_owned)),
        start_point: Some(head),
        ..Wanted::new(name)
    };
    let made = match create::create(context, repo, &wanted, out) {
        Ok(made) => made,
        Err(failure) => return Err(put_back(&git, &held, failure)),
    };
    match move_in(context, repo, &made.session, &path, &held) {
        Ok(()) => {
            drop_stash(&git, &held);
            Ok(made)
        }
        Err(failure) => {
            let failure = put_back(&git, &held, failure);
            Err(failure.hint(format!("the session {} was made and is empty", quoted(&made.session.name))))
        }
    }
}

fn move_in(context: &Context, repo: &Repo, session: &Session, old: &str, held: &str) -> Result<(), Failure> {
    let place = session.path.as_deref().filter(|path| Path::new(path).is_dir() && *path != old && *path != repo.path);
    let Some(place) = place else {
        return Err(Failure::new("the new session has no folder of its own, so the changes stay where they were")
            .hint("enable a plugin that makes worktrees: ez plugin enable git-worktree"));
    };
    let git = Git::new(context, place);
    match git.text(&["stash", "apply", "--quiet", "--index", held]) {
        Ok(_) => Ok(()),
        // The index could not be kept apart; the changes themselves matter more.
        Err(_) if git.changes()?.is_empty() => git.text(&["stash", "apply", "--quiet", held]).map(drop),
        Err(failure) => Err(failure),
    }
}

/// The changes come back where they were; if even that fails, the failure says which commit holds them.
fn put_back(git: &Git, held: &str, failure: Failure) -> Failure {
    let back = git
        .text(&["stash", "apply", "--quiet", "--index", held])
        .or_else(|_| git.text(&["stash", "apply", "--quiet", held]));
    match back {
        Ok(_) => {
            drop_stash(git, held);
            failure.hint("your changes are back where they were")
        }
        Err(why) => failure.hint(format!(
            "your changes are in the commit {held} (git stash apply {held}); they could not be put back: {why}"
        )),
    }
}

/// Drops exactly that stash, wherever it is in the list by now.
fn drop_stash(git: &Git, held: &str) {
    let Ok(list) = git.text(&["stash", "list", "--format=%H"]) else { return };
    if let Some(at) = list.lines().position(|line| line == held) {
        // It is in the new place already; one left in the list harms nobody.
        let _ = git.run(&["stash", "drop", "--quiet", &format!("stash@{{{at}}}")]);
    }
}
