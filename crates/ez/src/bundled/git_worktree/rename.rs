//! A renamed session's branch and worktree take the new name: the branch first, because git refuses that most often,
//! then the folder; when the folder cannot move, the branch gets its old name back.
//! A branch that somebody has switched inside of the worktree, a worktree outside of `.ez` and one with submodules
//! (git cannot move those) keep what they have, and the answer says what is.

use std::path::{Path, PathBuf};

use sys::{Env, Failure, files};

use super::create::branch_of;
use super::git::{self, Folder, Git};
use super::plan::{self, Place};
use super::{remove_empty, utf8};
use crate::bundled::request::{Answer, Request, Session};
use crate::bundled::tool::{args, say};

pub(super) fn rename(request: &Request, session: &Session, env: &Env) -> Result<Answer, Failure> {
    let Some(context) = &request.rename else { return Ok(Answer::ok()) };
    let repo = &request.repo.path;
    let place = Place::of(repo)?;
    let target = place.worktree(&context.new_name)?;
    let new = branch_of(&context.new_name);
    // An ez that moves the worktree itself has done so by now, and its session has the new path.
    let paths = [&context.old_path, &session.path, &context.new_path];
    let here = paths.into_iter().flatten().find(|path| path.symlink_metadata().is_ok());
    let Some(here) = here else { return Ok(Answer::ok()) };
    let Folder::Linked(admin) = git::folder(repo, here)? else { return Ok(Answer::ok()) };
    git::refuse_locked(here, &admin)?;
    let git = Git::new(env);

    let target = if place.holds(here) { target } else { here.clone() };
    let moves = target != *here && !has_submodules(&admin);
    if moves && target.symlink_metadata().is_ok() && !here.starts_with(&target) {
        return Err(Failure::new(format!("could not move the worktree {}", here.display()))
            .cause(format!("something is at {} already", target.display())));
    }
    let head = git.head(here)?;
    let recorded = session.noted("branch").map_or_else(|| plan::branch(&context.old_name), str::to_owned);
    let mut renamed = None;
    let mut branch = head.clone().unwrap_or_else(|| recorded.clone());
    match head {
        Some(head) if head == new => {}
        Some(head) if head == recorded => {
            let what = format!("rename the branch '{head}' to '{new}'");
            git.must(&what, here, &args!("branch", "-m", "--", &head, &new))?;
            branch.clone_from(&new);
            renamed = Some(head);
        }
        Some(head) => say(&format!("the worktree is on the branch '{head}', which keeps its name")),
        None => say("the worktree is on no branch; none is renamed"),
    }
    let mut path = here.clone();
    if moves {
        if let Err(failure) = move_worktree(&git, repo, &place, here, &target) {
            return Err(undo(&git, here, renamed.as_deref(), &new, failure));
        }
        path.clone_from(&target);
    } else if target != *here {
        say(&format!("the worktree stays at {}: git cannot move one with submodules", here.display()));
    }
    let text = utf8(&path)?;
    Ok(Answer::ok().path(text).state("worktree_path", text).state("branch", &branch))
}

/// git keeps a worktree's submodules in its own folder, by paths that a move would break.
fn has_submodules(admin: &Path) -> bool {
    admin.join("modules").is_dir()
}

/// The branch's old name comes back; the failure says so when it does not.
fn undo(git: &Git, here: &Path, old: Option<&str>, new: &str, failure: Failure) -> Failure {
    let Some(old) = old else { return failure };
    match git.must(&format!("name the branch '{old}' again"), here, &args!("branch", "-m", "--", new, old)) {
        Ok(_) => failure,
        Err(undo) => failure.cause(undo),
    }
}

/// `git worktree move`, by way of a third name when one path is inside of the other (`feat` -> `feat/x` and back).
fn move_worktree(git: &Git, repo: &Path, place: &Place, from: &Path, to: &Path) -> Result<(), Failure> {
    let step = |from: &Path, to: &Path| -> Result<(), Failure> {
        files::make_dir(to.parent().unwrap_or(to))?;
        // git would move it into a folder that is there.
        if to.symlink_metadata().is_ok() {
            return Err(Failure::new(format!("could not move {} to {}", from.display(), to.display()))
                .cause("something is there already"));
        }
        let what = format!("move the worktree {} to {}", from.display(), to.display());
        git.must(&what, repo, &args!("worktree", "move", "--", from, to)).map(drop)
    };
    let base = place.base();
    let result = if to.starts_with(from) || from.starts_with(to) {
        let between: PathBuf = base.join(format!(".moving-{}", std::process::id()));
        step(from, &between).and_then(|()| {
            remove_empty(from.parent(), &base);
            step(&between, to).inspect_err(|_| drop(step(&between, from)))
        })
    } else {
        step(from, to)
    };
    // Whichever of the two is not there any more.
    remove_empty(from.parent(), &base);
    remove_empty(to.parent(), &base);
    result
}
