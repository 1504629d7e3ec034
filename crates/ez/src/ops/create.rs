//! Making a session: checks, the metadata, then on_session_create; whatever a plugin did is undone when one of them
//! fails (ez.md, "Sessions" and "Limits and failures"). No lock is held while a plugin runs. `session new`, from-dirty
//! and the pickers call it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sys::Failure;
use wire::hook::Hook;

use super::record::{self, Open};
use super::steps::{self, Operation, Step};
use crate::context::Context;
use crate::git::Git;
use crate::hooks::{Call, Effects, fire, plugins};
use crate::model::SessionName;
use crate::model::gitdir::GitDir;
use crate::model::name::quoted;
use crate::out::Out;
use crate::store::{self, Repo, Session};

/// What is to be made.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The name.
    pub name: SessionName,
    /// The parent's name or id; else the default session, if there is one.
    pub parent: Option<String>,
    /// No worktree, no hooks.
    pub bare: bool,
    /// A commit or ref to start from.
    pub start_point: Option<String>,
    /// Variables from the start.
    pub env: BTreeMap<String, String>,
    /// The id it gets; empty: a new one.
    pub id: String,
}

impl Wanted {
    /// A plain session of this name.
    pub fn new(name: SessionName) -> Self {
        Self { name, parent: None, bare: false, start_point: None, env: BTreeMap::new(), id: String::new() }
    }
}

/// A made session and what its hooks want of the shell.
#[derive(Debug)]
pub struct Made {
    /// As stored.
    pub session: Session,
    /// Commands for the person's shell.
    pub post: Vec<String>,
    /// Where a hook wants the shell to go.
    pub cd: Option<String>,
}

/// Makes a session.
///
/// # Errors
/// When the name is taken, a check fails, or a plugin does; then nothing of it is left, or the failure says what is.
pub fn create(context: &Context, repo: &Repo, wanted: &Wanted, out: &mut Out) -> Result<Made, Failure> {
    let sessions = context.store.sessions(&repo.id)?;
    check_free(repo, &sessions, wanted.name.as_str(), None)?;
    let parent = parent_of(&sessions, repo, wanted.parent.as_deref())?;
    let hooked = repo.is_git && !wanted.bare;
    let git_dir = if repo.is_git { GitDir::at(Path::new(&repo.path)) } else { None };
    if repo.is_git && git_dir.is_none() {
        return Err(Failure::new(format!("{} is no git repository any more", repo.path))
            .hint("`ez doctor` tells what can be done"));
    }
    let all = if hooked { branches(context, repo, git_dir.as_ref()) } else { None };
    let exists = all.as_ref().is_some_and(|all| all.contains(wanted.name.as_str()));
    let replaced = if exists { existing_branch(context, repo, &wanted.name, out)? } else { None };
    let session = fresh(repo, wanted, parent);
    let branches = all.map(|mut all| {
        if replaced.is_some() {
            all.remove(wanted.name.as_str());
        }
        all
    });
    let (plugins, broken) =
        if hooked { plugins::in_order(context, Hook::OnSessionCreate) } else { (Vec::new(), Vec::new()) };
    let mut steps: Vec<Step> = replaced.iter().cloned().collect();
    steps.extend(branches.map(|before| Step::NewBranches { before }));
    steps.push(Step::List);
    let begun = steps.len();
    steps.extend(plugins.iter().map(|plugin| Step::Create { plugin: plugin.name.clone() }));
    let alone = plugins.is_empty() && replaced.is_none();
    let open = if alone { None } else { Some(record::open(context, repo, "create", &session, steps.clone())?) };
    let listed = drop_branch(context, repo, replaced.as_ref(), out)
        .and_then(|()| store_new(context, repo, &session, open.is_some()));
    if let Err(failure) = listed {
        let operation = Operation { context, repo, session: &session };
        let failure = undone(&operation, &steps[..begun], failure, out);
        close(open, out);
        return Err(failure);
    }
    if !hooked {
        return Ok(Made { session, post: Vec::new(), cd: None });
    }
    let mut call = Call::session(Hook::OnSessionCreate, repo, &session);
    // What cannot be asked is told where the hook is fired, which looks again then.
    call.only = broken.is_empty().then_some(plugins);
    let mut effects = fire(context, &mut call, out);
    if let Some(failure) = effects.failure.take() {
        let session = call.session.take().unwrap_or(session);
        steps.truncate(begun);
        steps.extend(effects.ran.iter().map(|plugin| Step::Create { plugin: plugin.name.clone() }));
        let operation = Operation { context, repo, session: &session };
        let failure = undone(&operation, &steps, failure, out);
        close(open, out);
        return Err(failure);
    }
    let made = call.session.unwrap_or_else(|| session.clone());
    if open.is_some() && made == session {
        // Else the plugins' patch has been written, and the session with it.
        context.store.settle(&repo.id);
    }
    close(open, out);
    let Effects { post, cd, .. } = effects;
    Ok(Made { session: made, post, cd })
}

/// Undoes a create: the failure, with what was undone and what was not.
fn undone(operation: &Operation<'_>, steps: &[Step], failure: Failure, out: &mut Out) -> Failure {
    let left = steps::undo(operation, steps, out);
    if left.is_empty() {
        return failure.hint(format!("nothing of the session {} is left behind", quoted(&operation.session.name)));
    }
    left.into_iter().fold(failure, Failure::hint)
}

fn close(open: Option<Open>, out: &mut Out) {
    if let Some(Err(failure)) = open.map(Open::close) {
        out.warn(&failure.to_string());
    }
}

/// Refuses a name that another session has, also by case alone on a disk that ignores case.
pub(super) fn check_free(repo: &Repo, sessions: &[Session], name: &str, but: Option<&str>) -> Result<(), Failure> {
    let others = || sessions.iter().filter(|session| Some(session.id.as_str()) != but);
    if others().any(|session| session.name == name) {
        return Err(Failure::new(format!("there is a session {} already", quoted(name)))
            .hint(format!("enter it with: ez session enter {}", quoted(name))));
    }
    let lower = name.to_lowercase();
    if let Some(twin) = others().find(|session| session.name.to_lowercase() == lower)
        && ignores_case(Path::new(&repo.path))
    {
        return Err(Failure::new(format!("there is a session {} already", quoted(&twin.name)))
            .cause("the disk of this repository does not tell upper from lower case"));
    }
    Ok(())
}

/// Asks the disk: the same folder under a name in other case is the same folder.
fn ignores_case(folder: &Path) -> bool {
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return false };
    let swapped: String =
        name.chars().map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect();
    if swapped == name {
        return cfg!(any(windows, target_os = "macos"));
    }
    match (folder.canonicalize(), folder.with_file_name(swapped).canonicalize()) {
        (Ok(one), Ok(two)) => one == two,
        _ => false,
    }
}

fn parent_of(sessions: &[Session], repo: &Repo, given: Option<&str>) -> Result<Option<String>, Failure> {
    match given {
        Some(given) => sessions
            .iter()
            .find(|session| session.name == given || session.id == given)
            .map(|session| Some(session.id.clone()))
            .ok_or_else(|| {
                Failure::new(format!(
                    "there is no session {} in {} to be the parent",
                    quoted(given),
                    quoted(&repo.name)
                ))
            }),
        None => Ok(sessions.iter().find(|session| session.is_default).map(|session| session.id.clone())),
    }
}

fn fresh(repo: &Repo, wanted: &Wanted, parent_id: Option<String>) -> Session {
    let mut env = wanted.env.clone();
    if let Some(point) = &wanted.start_point {
        env.insert("ez_start_point".to_owned(), point.clone());
    }
    Session {
        id: if wanted.id.is_empty() { uuid::Uuid::new_v4().to_string() } else { wanted.id.clone() },
        name: wanted.name.as_str().to_owned(),
        parent_id,
        // A plain folder is the session's place; no hook could give another.
        path: (!repo.is_git && !wanted.bare).then(|| repo.path.clone()),
        created_at: store::stamp(),
        bare: wanted.bare,
        env,
        ..Session::default()
    }
}

/// `begins`: more of the operation follows.
fn store_new(context: &Context, repo: &Repo, session: &Session, begins: bool) -> Result<(), Failure> {
    let add = |sessions: &mut Vec<Session>| {
        // Somebody may have been quicker since we looked.
        check_free(repo, sessions, &session.name, None)?;
        sessions.push(session.clone());
        Ok(())
    };
    if begins { context.store.begin_sessions(&repo.id, add) } else { context.store.update_sessions(&repo.id, add) }
}

/// All local branches, by looking, or by git where refs are kept in another way.
pub(super) fn branches(context: &Context, repo: &Repo, git: Option<&GitDir>) -> Option<BTreeSet<String>> {
    git.and_then(GitDir::branches).or_else(|| {
        let all = Git::new(context, &repo.path).branches().ok()?;
        Some(all.into_iter().map(|(name, _)| name).collect())
    })
}

/// What is done about a branch that has the session's name already: used (the default), or made anew: then it is
/// to go first.
fn existing_branch(context: &Context, repo: &Repo, name: &SessionName, out: &mut Out) -> Result<Option<Step>, Failure> {
    let git = Git::new(context, &repo.path);
    let elsewhere = git.worktrees()?.into_iter().find(|tree| tree.branch.as_deref() == Some(name.as_str()));
    if let Some(tree) = elsewhere {
        return Err(Failure::new(format!("the branch {} is checked out in {}", quoted(name.as_str()), tree.path))
            .hint(format!("make that worktree a session: ez session register {}", tree.path))
            .hint("or choose another name"));
    }
    out.note(&format!("Branch {} already exists.", quoted(name.as_str())));
    if out.confirm("Delete it and start anew? (no uses it as it is)") != Some(true) {
        return Ok(None);
    }
    let full = format!("refs/heads/{name}");
    let tip = git.commit(&full).ok_or_else(|| Failure::new(format!("could not read {full}")))?;
    Ok(Some(Step::DropBranch { branch: full, tip }))
}

fn drop_branch(context: &Context, repo: &Repo, step: Option<&Step>, out: &mut Out) -> Result<(), Failure> {
    let Some(Step::DropBranch { branch, tip }) = step else { return Ok(()) };
    Git::new(context, &repo.path).text(&["update-ref", "-d", branch, tip])?;
    let name = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    out.note(&format!("Deleted branch {name} (was {tip}; `git branch {} {tip}` brings it back).", quoted(name)));
    Ok(())
}
