//! Moving uncommitted work into a new session: everything is checked first, the work is held in a commit whose id is kept,
//! and it is only taken out of the old place once it is in the new one. On any failure it is back where it was.

use std::path::Path;

use sys::Failure;

use super::create::{self, Made, Wanted};
use super::record;
use super::steps::Step;
use crate::context::Context;
use crate::git::Git;
use crate::model::SessionName;
use crate::model::name::quoted;
use crate::out::Out;
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
    let id = uuid::Uuid::new_v4().to_string();
    // By its message the stash is known again, whatever else is stashed meanwhile.
    let message = format!("ez from-dirty: {name} ({id})");
    let hold = Step::Hold { folder: path.clone(), message: message.clone() };
    // The record is the source's: nobody deletes or renames it meanwhile. A main checkout may have none.
    let mut source = from.clone();
    if source.id.is_empty() {
        source.id = id;
    }
    let mut open = record::open(context, repo, "from-dirty", &source, vec![hold])?;
    let held = match hold_changes(&git, &message) {
        Ok(held) => held,
        Err(failure) => {
            open.close()?;
            return Err(failure);
        }
    };
    let wanted = Wanted {
        parent: parent.map(str::to_owned).or_else(|| Some(from.id.clone()).filter(|id| !id.is_empty())),
        start_point: Some(head),
        ..Wanted::new(name)
    };
    let made = match create::create(context, repo, &wanted, out) {
        Ok(made) => made,
        Err(failure) => {
            let failure = put_back(context, &path, &message, failure);
            open.close()?;
            return Err(failure);
        }
    };
    let place = made.session.path.clone().filter(|place| Path::new(place).is_dir());
    let place = place.filter(|place| *place != path && *place != repo.path).ok_or_else(|| {
        Failure::new("the new session has no folder of its own, so the changes stay where they were")
            .hint("enable a plugin that makes worktrees: ez plugin enable git-worktree")
    });
    let moved = place.and_then(|to| {
        open.turn(vec![Step::Move { folder: path.clone(), message: message.clone(), to: to.clone() }])?;
        apply(&Git::new(context, &to), &held)
    });
    let answer = match moved {
        Ok(()) => {
            drop_stash(&git, &held);
            Ok(made)
        }
        Err(failure) => {
            let failure = put_back(context, &path, &message, failure);
            Err(failure.hint(format!("the session {} was made and is empty", quoted(&made.session.name))))
        }
    };
    open.close()?;
    answer
}

/// Takes the changes out of the folder; the commit that holds them.
fn hold_changes(git: &Git, message: &str) -> Result<String, Failure> {
    git.text(&["stash", "push", "--quiet", "--include-untracked", "-m", message])?;
    held(git, message).ok_or_else(|| {
        Failure::new("git kept no changes, although there were some")
            .hint("`git stash list` and `git status` tell more")
    })
}

/// The stash with this message.
fn held(git: &Git, message: &str) -> Option<String> {
    let list = git.text(&["stash", "list", "--format=%H %gs"]).ok()?;
    // `On <branch>: <message>`
    let line = list.lines().find(|line| line.ends_with(message))?;
    line.split_once(' ').map(|(commit, _)| commit.to_owned())
}

/// Undoes a killed from-dirty: what it held is back in `folder`.
///
/// # Errors
/// When it could not be put back; the failure names the commit that holds it.
pub(super) fn take_back(context: &Context, folder: &str, message: &str) -> Result<(), Failure> {
    let git = Git::new(context, folder);
    let Some(held) = held(&git, message) else { return Ok(()) };
    apply(&git, &held)
        .map_err(|why| Failure::new(format!("they are in the commit {held} (git stash apply {held})")).cause(why))?;
    drop_stash(&git, &held);
    Ok(())
}

/// Finishes a killed from-dirty: what is held is in `to`, and nowhere else.
///
/// # Errors
/// As [`take_back`].
pub(super) fn finish(context: &Context, folder: &str, message: &str, to: &str) -> Result<(), Failure> {
    let git = Git::new(context, folder);
    let Some(held) = held(&git, message) else { return Ok(()) };
    let there = Git::new(context, to);
    let kept = || Failure::new(format!("the changes are in the commit {held} (git stash apply {held})"));
    if there.changes().map_err(|why| kept().cause(why))?.is_empty() {
        apply(&there, &held).map_err(|why| kept().cause(why))?;
    } else if !is_applied(&there, &held) {
        return Err(kept().cause(format!("{to} has other changes")));
    }
    drop_stash(&git, &held);
    Ok(())
}

/// The folder's files are those of the stash.
fn is_applied(git: &Git, held: &str) -> bool {
    let tracked = git.run(&["diff", "--quiet", "--no-ext-diff", held, "--"]).is_ok();
    let untracked = git.text(&["ls-tree", "-r", "-z", "--name-only", &format!("{held}^3")]).unwrap_or_default();
    let same = |name: &str| {
        let now = git.line(&["hash-object", "--", name]);
        now.is_some() && now == git.line(&["rev-parse", "--verify", "--quiet", &format!("{held}^3:{name}")])
    };
    tracked && untracked.split('\0').filter(|name| !name.is_empty()).all(same)
}

/// Applies what is held, the index as well where that can be.
fn apply(git: &Git, held: &str) -> Result<(), Failure> {
    match git.text(&["stash", "apply", "--quiet", "--index", held]) {
        Ok(_) => Ok(()),
        // The index could not be kept apart; the changes themselves matter more.
        Err(_) if git.changes()?.is_empty() => git.text(&["stash", "apply", "--quiet", held]).map(drop),
        Err(failure) => Err(failure),
    }
}

/// The changes come back where they were; if even that fails, the failure says which commit holds them.
fn put_back(context: &Context, folder: &str, message: &str, failure: Failure) -> Failure {
    match take_back(context, folder, message) {
        Ok(()) => failure.hint("your changes are back where they were"),
        Err(why) => failure.hint(format!("your changes could not be put back: {why}")),
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
