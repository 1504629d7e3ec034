//! A new session gets its worktree: git is asked what there is, the plan says where to start, git makes it. What was
//! begun when it fails (a folder, never a branch with work) is removed again.
//! A path that another plugin has set is not ours: only the branch is checked out there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use sys::{Env, Failure, files};

use super::git::{self, Folder, Git};
use super::plan::{self, Place, Refs, Start};
use super::{ready, remove_empty, utf8};
use crate::bundled::request::{Answer, Request, Session};
use crate::bundled::tool::{args, say};
use crate::shell::{Shell, quote};

/// The branch of the session, told to the person where it is not its name.
pub(super) fn branch_of(session: &str) -> String {
    let branch = plan::branch(session);
    if branch != session {
        say(&format!("the branch is called '{branch}': git cannot hold '{}'", sys::text::clean(session)));
    }
    branch
}

pub(super) fn create(request: &Request, session: &Session, env: &Env) -> Result<Answer, Failure> {
    let git = Git::new(env);
    let repo = &request.repo.path;
    let place = Place::of(repo)?;
    let path = place.worktree(&session.name)?;
    let branch = branch_of(&session.name);
    if let Some(path) = &session.path {
        checkout(&git, request, session, &branch, path)?;
        return Ok(Answer::ok().state("worktree_path", utf8(path)?).state("branch", &branch));
    }
    let text = utf8(&path)?.to_owned();
    refuse_taken(&place, &path)?;
    let start = begin(&git, request, session, &branch, repo)?;
    files::make_dir(path.parent().unwrap_or(&path))?;
    if let Err(failure) = add(&git, repo, &branch, &path, &start) {
        remove_empty(path.parent(), &place.base());
        return Err(failure);
    }
    ready::fill(request, &path);
    let answer = Answer::ok().path(&text).state("worktree_path", &text).state("branch", &branch);
    Ok(match ready::setup(request, &text) {
        Some(command) => answer.shell(command),
        None => answer,
    })
}

/// Nothing is ever made over something, or inside of another worktree.
fn refuse_taken(place: &Place, path: &Path) -> Result<(), Failure> {
    let failed = || Failure::new(format!("could not make the worktree {}", path.display()));
    if path.symlink_metadata().is_ok() {
        let empty = path.read_dir().is_ok_and(|mut entries| entries.next().is_none());
        return if empty { Ok(()) } else { Err(failed().cause("something is there already")) };
    }
    let above = path.ancestors().skip(1).take_while(|above| place.holds(above));
    match above.into_iter().find(|above| above.join(".git").symlink_metadata().is_ok()) {
        Some(other) => Err(failed().cause(format!("{} is a worktree itself", other.display()))),
        None => Ok(()),
    }
}

/// Asks git what there is, fetches where a new branch starts at origin's main branch, and chooses the start.
fn begin(git: &Git, request: &Request, session: &Session, branch: &str, dir: &Path) -> Result<Start, Failure> {
    let repo = &request.repo.path;
    let parent = parent_worktree(repo, session)?;
    let start_point = session.start_point.as_deref();
    let locked_refs = || {
        if let Some(refs) = git::new_refs(&git::common_dir(repo)?, branch)? {
            return Ok(refs);
        }
        let _lock = git::worktrees_lock(repo)?;
        git.refs(dir, branch)
    };
    let mut refs = locked_refs()?;
    let from_main = refs.local.is_none() && !refs.remote && start_point.is_none() && parent.is_none();
    // A remote is one that the request names or that has left refs here; without one nothing is fetched.
    if from_main && (request.repo.remote_url.is_some() || refs.main.is_some()) && fetch(git, request, repo) {
        refs = locked_refs()?;
    }
    refuse_elsewhere(git, repo, branch, &refs, dir)?;
    Ok(plan::start(&refs, branch, start_point, parent))
}

/// The worktree of the session's parent, when that is not the default session and its worktree is there.
fn parent_worktree(repo: &Path, session: &Session) -> Result<Option<PathBuf>, Failure> {
    let Some(parent) = session.parent_name.as_deref().filter(|_| !session.parent_is_default) else { return Ok(None) };
    let Ok(path) = Place::of(repo)?.worktree(parent) else { return Ok(None) };
    Ok(matches!(git::folder(repo, &path)?, Folder::Linked(_)).then_some(path))
}

/// Fetches when the last fetch is too old; true when there may be something new. A fetch that fails (no network) is
/// told and no more: the worktree then starts from what is here.
fn fetch(git: &Git, request: &Request, repo: &Path) -> bool {
    let ttl = request.setting("fetch_ttl").and_then(Value::as_u64).unwrap_or(60);
    let Ok(common) = git::common_dir(repo) else { return false };
    if !git::fetch_due(&common, Duration::from_secs(ttl)) {
        return false;
    }
    // Before the fetch: two creates at once fetch once, and a network that hangs is not waited for again at once.
    if let Err(failure) = git::stamp_fetch(&common) {
        say(&failure.to_string());
    }
    match git.must("fetch from origin", repo, &args!("fetch", "--quiet", "--no-recurse-submodules", "origin")) {
        Ok(_) => true,
        Err(failure) => {
            say(&format!("{failure}; going on with what is here"));
            false
        }
    }
}

/// A branch can be checked out in one worktree only. An entry whose folder is gone does not count: git forgets it.
fn refuse_elsewhere(git: &Git, repo: &Path, branch: &str, refs: &Refs, here: &Path) -> Result<(), Failure> {
    let Some(Some(other)) = &refs.local else { return Ok(()) };
    if other.symlink_metadata().is_err() {
        git.must("forget worktrees that are gone", repo, &args!("worktree", "prune"))?;
        return Ok(());
    }
    if other.canonicalize().ok() == here.canonicalize().ok() && here != repo {
        return Ok(());
    }
    let path = quote(Shell::Bash, &other.display().to_string());
    Err(Failure::new(format!("the branch '{branch}' is checked out in {}", other.display()))
        .hint(format!("`ez session register {path}` makes that worktree a session")))
}

/// `git worktree add`; once more after forgetting worktrees that are gone, when nothing is at `path`.
fn add(git: &Git, repo: &Path, branch: &str, path: &Path, start: &Start) -> Result<(), Failure> {
    let _lock = git::worktrees_lock(repo)?;
    let mut dir = repo;
    let mut args = args!("worktree", "add", "--quiet").to_vec();
    match start {
        Start::Existing => args.extend(args!("--", path, branch)),
        Start::Track(at) => args.extend(args!("--track", "-b", branch, "--", path, at)),
        Start::At(at) => args.extend(args!("--no-track", "-b", branch, "--", path, at)),
        Start::Head => args.extend(args!("--no-track", "-b", branch, "--", path, "HEAD")),
        Start::ParentHead(parent) => {
            // Run there, HEAD is the parent's; asking for it first would be one start more.
            dir = parent;
            args.extend(args!("--no-track", "-b", branch, "--", path, "HEAD"));
        }
    }
    let Err(first) = git.try_to(dir, &args)? else { return Ok(()) };
    let failed = || Failure::new(format!("could not make the worktree {}", path.display()));
    if *start == Start::Head && git.try_to(repo, &args!("rev-parse", "--quiet", "--verify", "HEAD^{commit}"))?.is_err()
    {
        return Err(failed()
            .cause("the repository has no commit yet")
            .hint("make one first: git commit --allow-empty -m 'first commit'"));
    }
    if path.symlink_metadata().is_err() && first.contains("registered") {
        git.must("forget worktrees that are gone", repo, &args!("worktree", "prune"))?;
        return match git.try_to(dir, &args)? {
            Ok(_) => Ok(()),
            Err(words) => Err(failed().cause(words)),
        };
    }
    Err(failed().cause(first))
}

/// Checks the branch out in `path`, a folder that another plugin made.
fn checkout(git: &Git, request: &Request, session: &Session, branch: &str, path: &Path) -> Result<(), Failure> {
    if git.head(path)?.as_deref() == Some(branch) {
        return Ok(());
    }
    let what = format!("check '{branch}' out in {}", path.display());
    let new = |at: &str| git.must(&what, path, &args!("checkout", "--quiet", "--no-track", "-b", branch, at, "--"));
    match begin(git, request, session, branch, path)? {
        Start::Existing => git.must(&what, path, &args!("checkout", "--quiet", branch, "--")),
        Start::Track(at) => git.must(&what, path, &args!("checkout", "--quiet", "--track", "-b", branch, &at, "--")),
        Start::At(at) if at.starts_with('-') => Err(Failure::new(format!("could not {what}")).cause("no such start")),
        Start::At(at) => new(&at),
        Start::ParentHead(parent) => {
            let head = git.must(&what, &parent, &args!("rev-parse", "--verify", "HEAD"))?;
            new(String::from_utf8_lossy(&head).trim_end())
        }
        Start::Head => new("HEAD"),
    }
    .map(drop)
}
