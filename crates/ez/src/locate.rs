//! Which repository and which session are meant: by name, id or path, or by where the person stands (tmux, zellij, the
//! working folder). It only reads. Commands and the browser ask it.

use std::path::{Path, PathBuf};

use sys::proc::{self, Cancel, Limits, Spec};
use sys::{Failure, text};

use crate::context::Context;
use crate::model::gitdir::GitDir;
use crate::model::name::quoted;
use crate::model::zellij;
use crate::store::{Repo, Session};

fn canonical(path: &str) -> PathBuf {
    Path::new(path).canonicalize().unwrap_or_else(|_| PathBuf::from(path))
}

/// True for an argument that can only be a path.
fn is_pathy(text: &str) -> bool {
    text.contains('/') || text.starts_with(['.', '~'])
}

/// The repository `given` names, or the one the person is in.
///
/// # Errors
/// When there is none, or more than one has that name.
pub fn repo(context: &Context, given: Option<&str>) -> Result<Repo, Failure> {
    match given {
        Some(given) => named_repo(context, given),
        None => match current_repo(context)? {
            Some(repo) => Ok(repo),
            None => Err(Failure::new("this folder belongs to no registered repository")
                .hint("register it with `ez add`, or name one with --repo (`ez repo list` lists them)")),
        },
    }
}

/// The repository with this id, name or path; a path inside it counts.
///
/// # Errors
/// When there is none, or more than one has that name.
pub fn named_repo(context: &Context, given: &str) -> Result<Repo, Failure> {
    let repos = context.store.repos()?;
    if let Some(found) = repos.iter().find(|repo| repo.id == given) {
        return Ok(found.clone());
    }
    let by_name: Vec<_> = repos.iter().filter(|repo| repo.name == given).collect();
    match by_name.as_slice() {
        [one] => return Ok((*one).clone()),
        [] => {}
        many => {
            let ids: Vec<_> = many.iter().map(|repo| text::clean(&repo.id)).collect();
            return Err(Failure::new(format!("more than one repository is called {}", quoted(given)))
                .hint(format!("name one by its id: {}", ids.join(", "))));
        }
    }
    if is_pathy(given) {
        let path = context.typed(given);
        // A registered folder that is gone is still meant by its path.
        if let Some(found) = repos.iter().find(|repo| Path::new(&repo.path) == path) {
            return Ok(found.clone());
        }
        if let Ok(path) = path.canonicalize()
            && let Some(found) = around(&repos, &path)
        {
            return Ok(found);
        }
    }
    let near = repos
        .iter()
        .map(|repo| (strsim::jaro_winkler(given, &repo.name), &repo.name))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let failure = Failure::new(format!("there is no repository {}", quoted(given)));
    Err(match near {
        Some((_, name)) => failure.hint(format!("did you mean {}?", quoted(name))),
        None => failure.hint("`ez repo list` lists them"),
    })
}

/// The registered repository that `path` (canonical) is in: the innermost folder, or the one whose worktree it is.
pub fn around(repos: &[Repo], path: &Path) -> Option<Repo> {
    let inside = repos
        .iter()
        .map(|repo| (repo, canonical(&repo.path)))
        .filter(|(_, root)| path.starts_with(root))
        .max_by_key(|(_, root)| root.components().count());
    let git = GitDir::around(path);
    if let Some(git) = git
        && inside.as_ref().is_none_or(|(_, root)| git.top.starts_with(root) && git.top != *root)
        && let Some(found) = with_common(repos, &git.common)
    {
        return Some(found);
    }
    inside.map(|(repo, _)| repo.clone())
}

/// The registered repository that shares this git folder.
pub fn with_common(repos: &[Repo], common: &Path) -> Option<Repo> {
    let same = |repo: &&Repo| repo.is_git && GitDir::at(Path::new(&repo.path)).is_some_and(|git| git.common == common);
    repos.iter().find(same).cloned()
}

fn current_repo(context: &Context) -> Result<Option<Repo>, Failure> {
    let repos = context.store.repos()?;
    let Some(cwd) = &context.cwd else { return Ok(None) };
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.clone());
    if let Some(found) = around(&repos, &cwd) {
        return Ok(Some(found));
    }
    Ok(by_folder(context, &repos, &cwd).map(|(repo, _)| repo))
}

/// The session whose folder is the deepest around `cwd`; a default session without one counts as its repository's.
fn by_folder(context: &Context, repos: &[Repo], cwd: &Path) -> Option<(Repo, Session)> {
    let mut best: Option<(usize, Repo, Session)> = None;
    for repo in repos {
        // A damaged file of one repository does not hide the others.
        for session in context.store.sessions(&repo.id).unwrap_or_default() {
            let root = match &session.path {
                Some(path) => canonical(path),
                None if session.is_default => canonical(&repo.path),
                None => continue,
            };
            let depth = root.components().count();
            let better = best.as_ref().is_none_or(|(found, _, other)| {
                depth > *found || (depth == *found && session.is_default && !other.is_default)
            });
            if cwd.starts_with(&root) && better {
                best = Some((depth, repo.clone(), session));
            }
        }
    }
    best.map(|(_, repo, session)| (repo, session))
}

/// The session the person is in: the one whose own worktree they stand in, else tmux, then zellij, then the working folder
/// (ez-behaviour.md, 2, where a multiplexer comes first even in another session's worktree).
///
/// # Errors
/// When the list of repositories cannot be read.
pub fn current_session(context: &Context, given: Option<&str>) -> Result<Option<(Repo, Session)>, Failure> {
    let repos = match given {
        Some(given) => vec![named_repo(context, given)?],
        None => context.store.repos()?,
    };
    let cwd = context.cwd.as_ref().map(|cwd| cwd.canonicalize().unwrap_or_else(|_| cwd.clone()));
    let here = cwd.and_then(|cwd| by_folder(context, &repos, &cwd));
    // Who stands in the worktree of another session means that one, whatever multiplexer is around it.
    let own = here.as_ref().is_some_and(|(repo, session)| {
        !session.is_default && session.path.as_ref().is_some_and(|path| *path != repo.path)
    });
    if own {
        return Ok(here);
    }
    Ok(by_tmux(context, &repos).or_else(|| by_zellij(context, &repos)).or(here))
}

fn by_tmux(context: &Context, repos: &[Repo]) -> Option<(Repo, Session)> {
    context.env.get("TMUX")?;
    let format = "#{@ez_repo_id}\n#{@ez_session_name}\n#{@ez_session_path}";
    let args = vec!["display-message".into(), "-p".into(), format.into()];
    let spec = Spec { program: "tmux".into(), args, dir: None, env: context.child_env() };
    let limits = Limits { deadline: Some(std::time::Duration::from_secs(2)), output: 64 * 1024, merged: false };
    let done = proc::run(&spec, &limits, &Cancel::never()).ok().filter(|done| done.exit.ok())?;
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    let mut lines = text.lines();
    let (id, name, path) = (lines.next()?, lines.next()?, lines.next().unwrap_or_default());
    for repo in repos.iter().filter(|repo| repo.id == id) {
        let found = context.store.sessions(&repo.id).ok()?.into_iter().find(|session| session.name == name);
        if let Some(session) = found {
            return Some((repo.clone(), session));
        }
    }
    if path.is_empty() {
        return None;
    }
    repos.iter().find_map(|repo| {
        let sessions = context.store.sessions(&repo.id).ok()?;
        let session = sessions.into_iter().find(|session| session.path.as_deref() == Some(path))?;
        Some((repo.clone(), session))
    })
}

fn by_zellij(context: &Context, repos: &[Repo]) -> Option<(Repo, Session)> {
    let current = context.env.text("ZELLIJ_SESSION_NAME")?;
    let base = |repo: &Repo| Path::new(&repo.path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    repos.iter().find_map(|repo| {
        let sessions = context.store.sessions(&repo.id).ok()?;
        let session =
            sessions.into_iter().find(|session| zellij::is_zellij_name(current, &base(repo), &session.name))?;
        Some((repo.clone(), session))
    })
}

/// The session `name` of a repository; its id works too. `main` is there also where none is stored, without an id.
///
/// # Errors
/// When there is none; the nearest name is told.
pub fn session(context: &Context, repo: &Repo, name: &str) -> Result<Session, Failure> {
    let sessions = context.store.sessions(&repo.id)?;
    let name = name.strip_suffix('/').filter(|name| !name.is_empty()).unwrap_or(name);
    if let Some(found) = sessions.iter().find(|session| session.name == name || session.id == name) {
        return Ok(found.clone());
    }
    if name == "main" && !sessions.iter().any(|session| session.is_default) {
        // Made when something is to be kept of it.
        let path = Some(repo.path.clone());
        return Ok(Session { name: name.to_owned(), is_default: true, path, ..Session::default() });
    }
    let near = sessions
        .iter()
        .map(|session| (strsim::jaro_winkler(name, &session.name), &session.name))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let failure = Failure::new(format!("there is no session {} in {}", quoted(name), quoted(&repo.name)));
    Err(match near {
        Some((_, near)) => failure.hint(format!("did you mean {}?", quoted(near))),
        None => failure.hint("`ez session list` lists them"),
    })
}

/// The session `name`, or the current one.
///
/// # Errors
/// When it is not there.
pub fn given_or_current(
    context: &Context,
    repo_given: Option<&str>,
    name: Option<&str>,
) -> Result<(Repo, Session), Failure> {
    if let Some(name) = name {
        let repo = repo(context, repo_given)?;
        let session = session(context, &repo, name)?;
        return Ok((repo, session));
    }
    current_session(context, repo_given)?.ok_or_else(|| {
        let failure = Failure::new("this folder belongs to no session");
        match unregistered(context) {
            Some(top) => failure.hint(format!("make this worktree one with `ez session register {}`", top.display())),
            None => failure.hint("name a session, or go into one with `ez session enter`"),
        }
    })
}

/// The linked worktree of a registered repository that the person stands in.
fn unregistered(context: &Context) -> Option<PathBuf> {
    let tree = GitDir::around(&context.here())?;
    let repos = context.store.repos().ok()?;
    (tree.dir != tree.common && with_common(&repos, &tree.common).is_some()).then_some(tree.top)
}
