//! Moving uncommitted work into a new session: it is held in a commit under a ref of ours while the folder stays as it is;
//! it is put into the new session and compared there; only then it is taken out of the old place. Whatever fails or is
//! killed before that has touched nothing. `session from-dirty` and the browser call it, doctor finishes it.

use std::path::Path;

use sys::Failure;

use super::create::{self, Made, Wanted};
use super::held::{self, Held};
use super::record;
use super::steps::{Operation, Step};
use crate::context::Context;
use crate::git::Git;
use crate::model::SessionName;
use crate::model::gitdir::GitDir;
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
    let path = source(repo, from)?;
    let git = Git::new(context, &path);
    create::check_free(repo, &context.store.sessions(&repo.id)?, name.as_str(), None)?;
    check(&git, &path)?;
    let id = uuid::Uuid::new_v4().to_string();
    let message = format!("ez from-dirty: {name} ({id})");
    let held = Held::make(&git, &message)?;
    if held.work.files(&git)?.is_empty() {
        return Err(Failure::new(format!("what is uncommitted in {path} is within submodules or repositories in it"))
            .hint("from-dirty moves the files of the repository itself; commit or move those there"));
    }
    let kept = Kept { commit: held.commit.clone(), folder: path.clone(), made: id.clone() };
    // The record is the source's: nobody deletes or renames it meanwhile. A main checkout may have none.
    let mut source = from.clone();
    if source.id.is_empty() {
        // Its own: the new session's is taken by its making.
        source.id = uuid::Uuid::new_v4().to_string();
    }
    let mut open = record::open(context, repo, "from-dirty", &source, vec![kept.hold(&message)])?;
    if let Err(failure) = kept.keep(&git) {
        open.close()?;
        return Err(failure);
    }
    let wanted = Wanted {
        parent: parent.map(str::to_owned).or_else(|| Some(from.id.clone()).filter(|id| !id.is_empty())),
        start_point: Some(held.work.head.clone()),
        id,
        ..Wanted::new(name)
    };
    let made = create::create(context, repo, &wanted, out).and_then(|made| {
        let to = place(repo, &made.session, &path).map_err(|failure| and_the_session(failure, &made, None))?;
        let there = Git::new(context, &to);
        let moved = put(&there, &held)
            .and_then(|exact| open.turn(vec![kept.moving(&message, &to)]).map(|()| exact))
            .inspect_err(|_| drop(held.take(&there)));
        match moved {
            Ok(exact) => Ok((made, exact)),
            Err(failure) => Err(and_the_session(failure, &made, Some(&there))),
        }
    });
    let answer = match made {
        Ok((made, exact)) => {
            take(&git, &held, &kept, exact, out);
            Ok(made)
        }
        Err(failure) => Err(still_there(&git, &held, &kept, failure)),
    };
    open.close()?;
    answer
}

/// The folder that the changes are in.
fn source(repo: &Repo, from: &Session) -> Result<String, Failure> {
    if !repo.is_git {
        return Err(Failure::new(format!("{} is no git repository", repo.path)));
    }
    from.path
        .clone()
        .or_else(|| from.is_default.then(|| repo.path.clone()))
        .ok_or_else(|| Failure::new(format!("the session {} has no folder", quoted(&from.name))))
}

/// Refuses what could not be moved whole, before anything is touched.
fn check(git: &Git, path: &str) -> Result<(), Failure> {
    if git.changes()?.is_empty() {
        return Err(Failure::new(format!("there are no uncommitted changes in {path}")));
    }
    if let Some((what, how)) = held::in_progress(Path::new(path)) {
        return Err(Failure::new(format!("{path} is in the middle of {what}, which cannot move to another session"))
            .hint(format!("end it first: {how}")));
    }
    let hidden = held::hidden(git)?;
    if hidden.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "git was told not to look for changes in these files, and they have some: {}",
        list(&hidden)
    ))
    .hint("`git update-index --no-assume-unchanged --no-skip-worktree FILE` makes git see them")
    .hint("or take the changes back in them"))
}

fn list(names: &[String]) -> String {
    let more = names.len().saturating_sub(10);
    let shown = names.iter().take(10).map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// The commit that holds the changes, and what it is for.
struct Kept {
    commit: String,
    folder: String,
    /// The id of the session that is made for them.
    made: String,
}

impl Kept {
    fn hold(&self, message: &str) -> Step {
        Step::Hold {
            folder: self.folder.clone(),
            message: message.to_owned(),
            commit: self.commit.clone(),
            made: self.made.clone(),
        }
    }

    fn moving(&self, message: &str, to: &str) -> Step {
        Step::Move {
            folder: self.folder.clone(),
            message: message.to_owned(),
            to: to.to_owned(),
            commit: self.commit.clone(),
            made: self.made.clone(),
        }
    }

    fn name(&self) -> String {
        format!("refs/ez/held/{}", self.made)
    }

    /// Neither `git gc` nor a hook that clears the stashes takes it away.
    fn keep(&self, git: &Git) -> Result<(), Failure> {
        git.text(&["update-ref", &self.name(), &self.commit]).map(drop)
    }

    /// All of it is where it belongs. A ref that cannot be removed harms nobody.
    fn let_go(&self, git: &Git) {
        let _ = git.run(&["update-ref", "-d", &self.name(), &self.commit]);
    }

    fn way_back(&self) -> String {
        format!("they are kept in the commit {} ({}): git stash apply {}", self.commit, self.name(), self.commit)
    }
}

/// The new session's own folder.
fn place(repo: &Repo, session: &Session, from: &str) -> Result<String, Failure> {
    let place = session.path.clone().filter(|place| Path::new(place).is_dir());
    place.filter(|place| *place != from && *place != repo.path).ok_or_else(|| {
        Failure::new("the new session has no folder of its own, so the changes stay where they were")
            .hint("enable a plugin that makes worktrees: ez plugin enable git-worktree")
    })
}

/// Puts what is held into the new folder, and makes sure that it is there.
///
/// True when it is there exactly as it is held, staged as it was.
fn put(there: &Git, held: &Held) -> Result<bool, Failure> {
    held.put(there)?;
    let compared = held.compare(there)?;
    // On another commit git has merged it, and has said that it could.
    if compared.other.is_empty() || there.commit("HEAD").as_ref() != Some(&held.work.head) {
        return Ok(compared.other.is_empty() && compared.staged);
    }
    Err(Failure::new(format!("{} has other files than the changes", there.dir().display()))
        .cause(list(&compared.other)))
}

/// The changes are in the new session: they go from the old place, and what does not is told.
fn take(git: &Git, held: &Held, kept: &Kept, exact: bool, out: &mut Out) {
    match held.take(git) {
        Ok(left) if left.is_empty() => {}
        Ok(left) => out.warn(&format!(
            "the changes are in the new session; some are in {} as well, they were changed meanwhile or may not be removed: {}",
            git.dir().display(),
            list(&left)
        )),
        Err(failure) => out.warn(&format!(
            "the changes are in the new session, and could not be taken out of {}: {failure}",
            git.dir().display()
        )),
    }
    if exact {
        kept.let_go(git);
    } else {
        out.note(&format!(
            "the changes were put in with other files or nothing staged; as they were, {}",
            kept.way_back()
        ));
    }
}

/// The failure, with what became of the changes: only what is so now is said.
fn still_there(git: &Git, held: &Held, kept: &Kept, failure: Failure) -> Failure {
    if held.is_in(git) {
        kept.let_go(git);
        return failure.hint(format!("your changes are where they were, in {}", kept.folder));
    }
    failure.hint(format!(
        "{} has changed meanwhile; your changes as they were before: {}",
        kept.folder,
        kept.way_back()
    ))
}

/// The failure, with what became of the session that was made.
fn and_the_session(failure: Failure, made: &Made, there: Option<&Git>) -> Failure {
    let name = quoted(&made.session.name);
    let empty = there.is_none_or(|there| there.changes().is_ok_and(|changes| changes.is_empty()));
    let how = if empty { "was made and is empty" } else { "was made, and has a part of the changes" };
    failure.hint(format!("the session {name} {how}; `ez session delete {name}` deletes it"))
}

/// Takes up a from-dirty that was killed: where its session stands the changes go there, else they are where they were.
/// `to` is the new folder once all of it was there.
///
/// # Errors
/// When it cannot be finished; the failure names the commit that holds the changes.
pub(super) fn settle(
    operation: &Operation<'_>,
    (folder, commit, made): (&str, &str, &str),
    to: Option<&str>,
    out: &mut Out,
) -> Result<&'static str, Failure> {
    let Operation { context, repo, .. } = *operation;
    let kept = Kept { commit: commit.to_owned(), folder: folder.to_owned(), made: made.to_owned() };
    let git = Git::new(context, &repo.path);
    let Some(held) = Held::of(&git, commit) else {
        // Before it was kept nothing had been touched.
        return match to {
            None => Ok("undone"),
            Some(to) => Err(Failure::new(format!("the commit {commit} of the changes is gone; they are in {to}"))),
        };
    };
    if record::dir(context, &repo.id).join(format!("{made}.json")).symlink_metadata().is_ok() {
        return Err(Failure::new("the session that was made for it is not cleaned up"));
    }
    let old = Git::new(context, folder);
    let session = context.store.sessions(&repo.id)?.into_iter().find(|session| session.id == made);
    let all_of_it_there = to.is_some();
    let Some(to) = session.and_then(|session| place(repo, &session, folder).ok()) else {
        return without_session(&old, &held, &kept, all_of_it_there, out);
    };
    let there = Git::new(context, &to);
    let failed = |why: Failure| {
        let failure = Failure::new(format!("the changes could not be put into {to}")).cause(why).hint(kept.way_back());
        let lock = GitDir::at(Path::new(&to)).map(|tree| tree.dir.join("index.lock"));
        failure.hint(match lock.filter(|lock| lock.exists()) {
            Some(lock) => format!("unless git is at work there, remove {} and try again", lock.display()),
            None => "with no changes in the new folder, `ez doctor --fix` can do it".to_owned(),
        })
    };
    let compared = held.compare(&there).map_err(failed)?;
    let mut exact = compared.other.is_empty() && compared.staged;
    if !all_of_it_there && !compared.other.is_empty() {
        // What a killed git has put in already is there again in a moment.
        exact = held.take(&there).and_then(|_| put(&there, &held)).map_err(failed)?;
    }
    if Path::new(folder).is_dir() {
        take(&old, &held, &kept, exact, out);
    } else if exact {
        kept.let_go(&git);
    }
    Ok("finished")
}

/// There is no new session: the changes belong where they were.
fn without_session(old: &Git, held: &Held, kept: &Kept, taken: bool, out: &mut Out) -> Result<&'static str, Failure> {
    if held.is_in(old) {
        kept.let_go(old);
        return Ok("undone");
    }
    if !taken {
        out.note(&format!("{} has changed since; the changes as they were: {}", kept.folder, kept.way_back()));
        return Ok("undone");
    }
    let lost = |why: Failure| Failure::new("its session is gone").cause(why).hint(kept.way_back());
    held.take(old).and_then(|_| put(old, held)).map_err(lost)?;
    kept.let_go(old);
    Ok("undone")
}
