//! git-worktree: a session's body is a git worktree in `<parent of the repository>/.ez/<repository>/<session>`, on a
//! branch of the session's name (ez-behaviour.md 7; ez.md, Bundled plugins).
//! It touches linked worktrees of the repository only, below `.ez` or at the path the session has recorded, and never
//! the main checkout; a folder that is neither is left alone and named.
//! A new branch costs one start of git, one that is there two or three, a delete none at all.

mod create;
mod delete;
mod git;
mod plan;
mod ready;
mod rename;

pub use delete::{kept_beside, restore};

use std::path::Path;

use sys::{Env, Failure, files};

use super::request::{Answer, Request};

/// Answers one request.
pub(super) fn serve(request: &Request, env: &Env) -> Result<Answer, Failure> {
    let hook = match request.hook.as_str() {
        "on_session_create" => create::create,
        "on_session_delete" => delete::delete,
        "on_session_rename" => rename::rename,
        _ => return Ok(Answer::ok()),
    };
    let session = request.session()?;
    if session.is_default || session.bare || !request.repo.is_git {
        return Ok(Answer::ok());
    }
    hook(request, session, env)
}

/// What the branch of the session `name` is called: the name itself where git can hold it, else the nearest name.
pub fn branch_name(name: &str) -> String {
    plan::branch(name)
}

/// `path` as text; JSON has no other.
fn utf8(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| Failure::new(format!("the path {} is not UTF-8", path.display())))
}

/// Removes the folders from `from` upwards that are empty, below `base` and `base` itself excluded (report B15). That
/// one cannot be removed is nothing to report: it is not empty, then.
fn remove_empty(from: Option<&Path>, base: &Path) {
    let mut here = from;
    while let Some(folder) = here.filter(|folder| folder.starts_with(base) && *folder != base) {
        if !files::remove_empty_dir(folder).unwrap_or(false) {
            return;
        }
        here = folder.parent();
    }
}
