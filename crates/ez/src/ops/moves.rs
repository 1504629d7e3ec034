//! Renaming, registering and syncing sessions, and the automatic main session. A rename moves what belongs to the
//! session (branch, worktree) and puts it back when a part fails. Commands and pickers call it.

use std::path::{Path, PathBuf};

use sys::Failure;
use toml::Value;
use wire::hook::{Hook, RenameContext};

use super::create::check_free;
use super::record;
use super::steps::{self, Operation, Step};
use crate::context::{Context, utf8};
use crate::git::{Git, Worktree};
use crate::hooks::{Call, fire};
use crate::landing::Landing;
use crate::model::SessionName;
use crate::model::gitdir::GitDir;
use crate::model::name::quoted;
use crate::out::Out;
use crate::store::{self, Repo, Session};

/// Renames `session`.
///
/// # Errors
/// When the name is taken, or git cannot move what belongs to it: then nothing has changed.
pub fn rename(
    context: &Context,
    repo: &Repo,
    session: &Session,
    name: &SessionName,
    out: &mut Out,
) -> Result<Landing, Failure> {
    check_free(repo, &context.store.sessions(&repo.id)?, name.as_str(), Some(&session.id))?;
    if session.name == name.as_str() {
        return Ok(Landing::default());
    }
    let steps = if session.is_default { vec![Step::Rename] } else { plan(context, repo, session, name, out)? };
    let open = record::open(context, repo, "rename", session, steps.clone())?;
    let operation = Operation { context, repo, session };
    let moved = move_worktree(context, repo, &steps);
    let renamed = moved.and_then(|()| relist(context, repo, session, name, &steps));
    let renamed = match renamed {
        Ok(renamed) => renamed,
        Err(failure) => {
            let left = steps::undo(&operation, &steps, out);
            open.close()?;
            return Err(left.into_iter().fold(failure, Failure::hint));
        }
    };
    open.close()?;
    let mut call = Call::session(Hook::OnSessionRename, repo, &renamed);
    call.rename = Some(RenameContext {
        old_name: session.name.clone(),
        new_name: renamed.name.clone(),
        old_path: session.path.clone(),
        new_path: renamed.path.clone(),
    });
    let effects = fire(context, &mut call, out);
    let mut landing = Landing { post: effects.post, cd: effects.cd, ..Landing::default() };
    if landing.cd.is_none() {
        landing.cd = follow(context, session, &renamed);
    }
    Ok(landing)
}

/// The session on the list has its new name and folder.
fn relist(
    context: &Context,
    repo: &Repo,
    session: &Session,
    name: &SessionName,
    steps: &[Step],
) -> Result<Session, Failure> {
    let (mut path, mut branch) = (None, None);
    for step in steps {
        match step {
            Step::MoveWorktree { to, .. } => path = Some(to),
            Step::RenameBranch { to, .. } => branch = Some(to),
            _ => {}
        }
    }
    context.store.update_sessions(&repo.id, |sessions| {
        check_free(repo, sessions, name.as_str(), Some(&session.id))?;
        let stored = sessions
            .iter_mut()
            .find(|found| found.id == session.id)
            .ok_or_else(|| Failure::new(format!("the session {} was deleted meanwhile", quoted(&session.name))))?;
        name.as_str().clone_into(&mut stored.name);
        if let Some(path) = path {
            stored.path = Some(path.clone());
        }
        for (key, value) in [("worktree_path", path), ("branch", branch)] {
            if let (Some(own), Some(value)) = (stored.plugin_state.get_mut(key), value) {
                *own = Value::String(value.clone());
            }
        }
        Ok(stored.clone())
    })
}

/// Whoever stands in the moved folder goes with it.
fn follow(context: &Context, old: &Session, new: &Session) -> Option<String> {
    let (old, new) = (old.path.as_deref()?, new.path.as_deref()?);
    let inside = context.cwd.as_deref()?.strip_prefix(old).ok()?;
    (old != new).then(|| Path::new(new).join(inside).to_str().map(str::to_owned))?
}

/// What a rename takes: branch and worktree go along when they bear the session's name.
fn plan(
    context: &Context,
    repo: &Repo,
    session: &Session,
    name: &SessionName,
    out: &mut Out,
) -> Result<Vec<Step>, Failure> {
    let mut steps = Vec::new();
    let path = session.path.as_deref().filter(|path| repo.is_git && Path::new(path).is_dir());
    let trees = path.and_then(|path| Some((path, GitDir::at(Path::new(path))?, GitDir::at(Path::new(&repo.path))?)));
    if let Some((path, tree, main)) = trees
        && tree.common == main.common
        && tree.dir != tree.common
    {
        let new_branch = git_name(name.as_str());
        let branch = crate::git::branch(context, &tree)
            .filter(|branch| *branch == session.name || *branch == git_name(&session.name));
        if let Some(from) = branch {
            let tip = Git::new(context, &repo.path).commit(&format!("refs/heads/{from}"));
            steps.push(Step::RenameBranch { from, to: new_branch.clone(), tip });
        }
        // The session's name, not the branch's: git-worktree finds the worktree of a parent by it.
        let target = new_folder(path, session, name.as_str());
        if target.is_some() && tree.dir.join("modules").is_dir() {
            out.note(&format!("the worktree stays at {path}: git cannot move one with submodules"));
        } else if let Some(target) = target {
            if target.exists() && !Path::new(path).starts_with(&target) {
                return Err(Failure::new(format!("{} exists already", target.display())));
            }
            steps.push(Step::MoveWorktree { from: path.to_owned(), to: utf8(&target)? });
        }
    }
    steps.push(Step::Rename);
    Ok(steps)
}

fn move_worktree(context: &Context, repo: &Repo, steps: &[Step]) -> Result<(), Failure> {
    let git = Git::new(context, &repo.path);
    for step in steps {
        match step {
            Step::RenameBranch { from, to, .. } => drop(git.text(&["branch", "-m", "--", from, to])?),
            Step::MoveWorktree { from, to } => move_folder(&git, from, Path::new(to), to)?,
            _ => {}
        }
    }
    Ok(())
}

/// Undoes the renaming of a branch, however far git came: it has no way back of its own from its middle, where neither
/// name is there. Worktrees that are on the new name are on the old one again.
///
/// # Errors
/// When git refuses, or the branch was lost and nobody knows where it was.
pub(super) fn name_back(git: &Git, from: &str, to: &str, tip: Option<&str>) -> Result<(), Failure> {
    let full = |name: &str| format!("refs/heads/{name}");
    let (old, new) = (full(from), full(to));
    match (git.commit(&old), git.commit(&new), tip) {
        (None, Some(_), _) => return git.text(&["branch", "-m", "--", to, from]).map(drop),
        (None, None, Some(tip)) => drop(git.text(&["update-ref", &old, tip, ""])?),
        (None, None, None) => return Err(Failure::new(format!("there is no branch {from} and none {to}"))),
        (Some(_), None, _) => {}
        // Whoever made one of them again meanwhile has the word.
        (Some(_), Some(_), _) => return Ok(()),
    }
    for tree in git.worktrees()?.iter().filter(|tree| tree.branch.as_deref() == Some(to)) {
        git.text(&["-C", &tree.path, "symbolic-ref", "-m", "ez: the rename was undone", "HEAD", &old])?;
    }
    Ok(())
}

/// Undoes a move, however far it came: wherever the worktree stands now, it goes back to `from`.
///
/// # Errors
/// When something else is at `from`, or git cannot move it.
pub(super) fn move_back(git: &Git, from: &str, to: &str) -> Result<(), Failure> {
    let target = Path::new(to);
    let aside = aside(from, target);
    let at = [target, aside.as_path()].into_iter().find(|place| place.join(".git").exists());
    let Some(at) = at.filter(|_| !Path::new(from).join(".git").exists()) else {
        // A killed git may have moved the folder and not its own note of where it is.
        return git.text(&["worktree", "repair", "--", from]).map(drop);
    };
    let at = utf8(at)?;
    git.text(&["worktree", "repair", "--", &at])?;
    move_folder(git, &at, Path::new(from), from)
}

/// Where a worktree waits that moves below or above itself.
fn aside(from: &str, target: &Path) -> PathBuf {
    let outer = if target.starts_with(from) { Path::new(from) } else { target };
    let name = outer.file_name().unwrap_or_default().to_string_lossy();
    outer.with_file_name(format!(".ez-moving-{name}"))
}

/// Moves a worktree; below or above itself by way of a name beside it, since `a` cannot move into `a/b` at once.
fn move_folder(git: &Git, from: &str, target: &Path, text: &str) -> Result<(), Failure> {
    let nested = target.starts_with(from) || Path::new(from).starts_with(target);
    if nested {
        let aside = utf8(&aside(from, target))?;
        git.text(&["worktree", "move", "--", from, &aside])?;
        for folder in Path::new(from).ancestors().skip(1).take_while(|folder| folder.starts_with(target)) {
            // Only an empty one goes; the next step says so when it does not.
            let _ = sys::files::remove_empty_dir(folder);
        }
        let moved = make_parent(target).and_then(|()| git.text(&["worktree", "move", "--", &aside, text]));
        return match moved {
            Ok(_) => Ok(()),
            Err(failure) => {
                let back =
                    make_parent(Path::new(from)).and_then(|()| git.text(&["worktree", "move", "--", &aside, from]));
                Err(match back {
                    Ok(_) => failure,
                    Err(why) => failure.hint(format!("the worktree is in {aside} now: {why}")),
                })
            }
        };
    }
    make_parent(target)?;
    git.text(&["worktree", "move", "--", from, text]).map(drop)
}

fn make_parent(path: &Path) -> Result<(), Failure> {
    path.parent().map_or(Ok(()), sys::files::make_dir)
}

/// The name as a branch, as the bundled git-worktree names it: what git refuses becomes dashes.
pub fn git_name(name: &str) -> String {
    crate::bundled::git_worktree::branch_name(name)
}

/// Beside the old folder, under the new name; `None` when the folder does not bear the old one.
fn new_folder(path: &str, session: &Session, new: &str) -> Option<PathBuf> {
    let old = Path::new(path);
    [session.name.clone(), git_name(&session.name)].iter().find_map(|name| {
        if !old.ends_with(name) {
            return None;
        }
        let parts = Path::new(name).components().count();
        old.ancestors().nth(parts).map(|base| base.join(new))
    })
}

/// Makes a worktree that is there already a session; no hook fires.
///
/// # Errors
/// When it is no worktree of the repository, or a session has it or the name already.
pub fn register(
    context: &Context,
    repo: &Repo,
    path: &Path,
    name: Option<&str>,
    parent: Option<&str>,
) -> Result<Session, Failure> {
    let real = path.canonicalize().map_err(|error| Failure::io("find", path, &error))?;
    let git = GitDir::around(&real).ok_or_else(|| Failure::new(format!("{} is in no git worktree", real.display())))?;
    let main = GitDir::at(Path::new(&repo.path));
    if main.as_ref().is_none_or(|main| main.common != git.common) {
        return Err(Failure::new(format!("{} is no worktree of {}", git.top.display(), quoted(&repo.name))));
    }
    let top = utf8(&git.top)?;
    let branch = crate::git::branch(context, &git);
    let name = match (name, &branch) {
        (Some(name), _) => SessionName::parse(name)?,
        (None, Some(branch)) => SessionName::parse(branch)?,
        (None, None) => {
            let short = Git::new(context, &git.top).line(&["rev-parse", "--short", "HEAD"]).unwrap_or_default();
            return Err(Failure::new(format!("{top} has no branch checked out (detached at {short})"))
                .hint("give the session a name: --name NAME"));
        }
    };
    let mut plugin_state = toml::Table::new();
    plugin_state.insert("worktree_path".to_owned(), Value::String(top.clone()));
    if let Some(branch) = branch {
        plugin_state.insert("branch".to_owned(), Value::String(branch));
    }
    context.store.update_sessions(&repo.id, |sessions| {
        let same = |other: &Session| {
            other.path.as_deref().is_some_and(|other| Path::new(other).canonicalize().is_ok_and(|p| p == git.top))
        };
        if let Some(other) = sessions.iter().find(|other| same(other)) {
            return Err(Failure::new(format!("{top} is the session {} already", quoted(&other.name))));
        }
        check_free(repo, sessions, name.as_str(), None)?;
        let parent_id = match parent {
            Some(given) => Some(
                sessions
                    .iter()
                    .find(|session| session.name == given || session.id == given)
                    .ok_or_else(|| Failure::new(format!("there is no session {} to be the parent", quoted(given))))?
                    .id
                    .clone(),
            ),
            None => sessions.iter().find(|session| session.is_default).map(|session| session.id.clone()),
        };
        let session = Session {
            id: uuid::Uuid::new_v4().to_string(),
            name: name.as_str().to_owned(),
            parent_id,
            path: Some(top.clone()),
            created_at: store::stamp(),
            plugin_state: plugin_state.clone(),
            ..Session::default()
        };
        sessions.push(session.clone());
        Ok(session)
    })
}

/// Worktrees that belong to no session: all but the main one, vanished ones and those of sessions.
///
/// # Errors
/// When git fails.
pub fn unmanaged(context: &Context, repo: &Repo, sessions: &[Session]) -> Result<Vec<Worktree>, Failure> {
    if !repo.is_git {
        return Ok(Vec::new());
    }
    // Without linked worktrees git keeps no such folder, and need not be asked.
    let git = GitDir::at(Path::new(&repo.path));
    if git.as_ref().is_some_and(|git| !git.common.join("worktrees").is_dir()) {
        return Ok(Vec::new());
    }
    let known: Vec<PathBuf> = sessions
        .iter()
        .filter_map(|session| session.path.as_deref())
        .map(|path| Path::new(path).canonicalize().unwrap_or_else(|_| PathBuf::from(path)))
        .collect();
    let trees = Git::new(context, &repo.path).worktrees()?;
    let ours = |tree: &Worktree| {
        let path = Path::new(&tree.path);
        path.is_dir() && !tree.bare && path.canonicalize().is_ok_and(|path| !known.contains(&path))
    };
    Ok(trees.into_iter().skip(1).filter(ours).collect())
}

/// The default session of a repository, made when there is no session at all.
///
/// # Errors
/// When the state cannot be read or written.
pub fn main_session(context: &Context, repo: &Repo) -> Result<Vec<Session>, Failure> {
    let sessions = context.store.sessions(&repo.id)?;
    if !sessions.is_empty() {
        return Ok(sessions);
    }
    context.store.update_sessions(&repo.id, |sessions| {
        if sessions.is_empty() {
            sessions.push(default_session(repo));
        }
        Ok(sessions.clone())
    })
}

/// The default session of a repository, made where there is none: something is to be kept of it.
///
/// # Errors
/// When the state cannot be read or written.
pub fn make_main(context: &Context, repo: &Repo) -> Result<Session, Failure> {
    context.store.update_sessions(&repo.id, |sessions| {
        if let Some(main) = sessions.iter().find(|session| session.is_default) {
            return Ok(main.clone());
        }
        let main = default_session(repo);
        sessions.push(main.clone());
        Ok(main)
    })
}

fn default_session(repo: &Repo) -> Session {
    Session {
        id: uuid::Uuid::new_v4().to_string(),
        name: "main".to_owned(),
        path: Some(repo.path.clone()),
        created_at: store::stamp(),
        is_default: true,
        ..Session::default()
    }
}

/// Fires on_session_sync.
pub fn sync(context: &Context, repo: &Repo, session: &Session, out: &mut Out) -> Landing {
    let mut call = Call::session(Hook::OnSessionSync, repo, session);
    let effects = fire(context, &mut call, out);
    Landing { post: effects.post, cd: effects.cd, ..Landing::default() }
}
