//! Which sessions are done with: merged into the base (also by squash: the same tree), gone from the disk, or old. It only
//! decides; `session prune` deletes what it names, into the trash.

use std::path::Path;
use std::time::{Duration, SystemTime};

use sys::Failure;

use crate::context::Context;
use crate::git::{self, Git};
use crate::hooks::repo_view;
use crate::model::gitdir::GitDir;
use crate::store::{Repo, Session};

/// What counts as done with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Why {
    /// Its branch is in the base.
    pub merged: bool,
    /// Its folder is gone.
    pub gone: bool,
    /// Not used for so many days.
    pub older: Option<u64>,
}

/// True when the time `stamp` is more than `days` before `now`.
pub fn older(stamp: &str, days: u64, now: SystemTime) -> bool {
    let Ok(then) = stamp.parse::<jiff::Timestamp>() else { return false };
    let Ok(since) = now.duration_since(SystemTime::UNIX_EPOCH) else { return false };
    let then = Duration::from_secs(u64::try_from(then.as_second()).unwrap_or(0));
    since.saturating_sub(then) >= Duration::from_secs(days.saturating_mul(24 * 60 * 60))
}

/// A number of days: `30d`, `2w` or `30`.
///
/// # Errors
/// When it is something else.
pub fn days(text: &str) -> Result<u64, Failure> {
    let (number, unit) = match text.strip_suffix('w') {
        Some(number) => (number, 7),
        None => (text.strip_suffix('d').unwrap_or(text), 1),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| Failure::usage(format!("'{}' is no number of days, such as 30d", sys::text::clean(text))))?;
    Ok(number.saturating_mul(unit))
}

/// The sessions of `repo` that are done with, each with the reason.
///
/// # Errors
/// When the state cannot be read.
pub fn find(context: &Context, repo: &Repo, why: Why) -> Result<Vec<(Session, &'static str)>, Failure> {
    let base = base(context, repo)?;
    let now = sys::clock::wall();
    let mut found = Vec::new();
    for session in context.store.sessions(&repo.id)?.into_iter().filter(|session| !session.is_default) {
        let path = session.path.clone();
        let there = path.as_deref().is_some_and(|path| Path::new(path).is_dir());
        let reason = if why.gone && path.is_some() && !there {
            Some("its folder is gone")
        } else if why
            .older
            .is_some_and(|days| older(session.last_accessed.as_deref().unwrap_or(&session.created_at), days, now))
        {
            Some("not used for long")
        } else if why.merged && there && merged(context, path.as_deref().unwrap_or_default(), base.as_deref()) {
            Some("merged")
        } else {
            None
        };
        found.extend(reason.map(|reason| (session, reason)));
    }
    Ok(found)
}

fn base(context: &Context, repo: &Repo) -> Result<Option<String>, Failure> {
    if !repo.is_git {
        return Ok(None);
    }
    let git = Git::new(context, &repo.path);
    let branch = repo_view(context, repo)?.default_branch.unwrap_or_else(|| "main".to_owned());
    let candidates = [format!("refs/remotes/origin/{branch}"), format!("refs/heads/{branch}")];
    Ok(candidates.into_iter().find(|name| git.commit(name).is_some()))
}

/// Every commit is in the base, or the base holds the same tree after the fork (a squash).
fn merged(context: &Context, path: &str, base: Option<&str>) -> bool {
    let Some(base) = base else { return false };
    let Some(branch) = GitDir::at(Path::new(path)).and_then(|tree| git::branch(context, &tree)) else { return false };
    let git = Git::new(context, path);
    let full = format!("refs/heads/{branch}");
    if git.commit(&full) == git.commit(base) {
        // Nothing was done in it yet: new, not merged.
        return false;
    }
    let ancestor = git.run(&["merge-base", "--is-ancestor", &full, base]).is_ok_and(|done| done.exit.ok());
    if ancestor {
        // A branch that never moved since it was made is new, however far its base has gone since.
        let places =
            git.text(&["log", "--walk-reflogs", "--format=%H", "--max-count=50", &full, "--"]).unwrap_or_default();
        return places.lines().any(|place| Some(place) != places.lines().next());
    }
    let Some(fork) = git.line(&["merge-base", &full, base]) else { return false };
    let Some(tree) = git.line(&["rev-parse", "--verify", "--quiet", &format!("{full}^{{tree}}")]) else { return false };
    let trees = git.text(&["log", "--format=%T", "--max-count=1000", &format!("{fork}..{base}"), "--"]);
    trees.is_ok_and(|trees| trees.lines().any(|other| other == tree)) || adds_nothing(&git, base, &full)
}

/// Merging the branch into the base would leave the base as it is: a squash that has had company since. git before 2.38
/// cannot say; then only the trees count.
fn adds_nothing(git: &Git, base: &str, branch: &str) -> bool {
    let Some(now) = git.line(&["rev-parse", "--verify", "--quiet", &format!("{base}^{{tree}}")]) else { return false };
    let merged = git.text(&["merge-tree", "--write-tree", "--no-messages", base, branch]);
    merged.is_ok_and(|tree| tree.trim() == now)
}
