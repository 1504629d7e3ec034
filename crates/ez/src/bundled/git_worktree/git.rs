//! git for this plugin: its calls, and the few of its files that are cheaper to read than to ask for. No variable of a
//! git hook or alias reaches it, so it acts on the repository it is told and on no other (report B39).
//! It never decides anything; the hooks beside it do.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sys::{Env, Failure, clock, files};

use super::plan::{REF_FORMAT, Refs, path};
use crate::bundled::tool::{GIT_LOCATION, Tool, args, words};

/// Bytes read of git's small files, and of the list of packed refs.
const SMALL: usize = 64 << 10;
const PACKED: usize = 64 << 20;

/// git, in a clean environment.
#[derive(Debug)]
pub(super) struct Git(Tool);

impl Git {
    /// git by the PATH of `env`. There is nobody to ask for a password.
    pub(super) fn new(env: &Env) -> Self {
        let mut tool = Tool::new("git", env);
        for name in GIT_LOCATION {
            tool.env().remove(name);
        }
        // Its words are read here: whether a path is registered, whose lock one is. Only messages follow this variable.
        tool.env().set("GIT_TERMINAL_PROMPT", "0").set("LANGUAGE", "C");
        Self(tool)
    }

    /// Runs git in `dir`; `what` names the failure.
    pub(super) fn must(&self, what: &str, dir: &Path, args: &[&OsStr]) -> Result<Vec<u8>, Failure> {
        let whole = [&args!("-C", dir), args].concat();
        self.0.must(what, None, &whole)
    }

    /// Runs git in `dir`: its stdout when it ended with 0, else its words.
    pub(super) fn try_to(&self, dir: &Path, args: &[&OsStr]) -> Result<Result<Vec<u8>, String>, Failure> {
        let done = self.0.call(None, &[&args!("-C", dir), args].concat())?;
        Ok(if done.exit.ok() { Ok(done.stdout) } else { Err(words(&done)) })
    }

    /// What there is under the names that matter for `branch`.
    pub(super) fn refs(&self, dir: &Path, branch: &str) -> Result<Refs, Failure> {
        let patterns = Refs::patterns(branch);
        let mut args = args!("for-each-ref", REF_FORMAT).to_vec();
        args.extend(patterns.iter().map(OsStr::new));
        let what = format!("read the branches of {}", dir.display());
        Ok(Refs::read(&self.must(&what, dir, &args)?, branch))
    }

    /// The branch that `dir` has checked out; none when it is detached.
    pub(super) fn head(&self, dir: &Path) -> Result<Option<String>, Failure> {
        let out = self.try_to(dir, &args!("symbolic-ref", "--quiet", "HEAD"))?;
        let head = out.map(|out| String::from_utf8_lossy(&out).trim_end().to_owned()).unwrap_or_default();
        Ok(head.strip_prefix("refs/heads/").map(str::to_owned))
    }
}

/// What there is under the names that matter for a new `branch`, from git's files alone: where the branch is there
/// already, only git tells which worktree has it. None when that is so, and when refs are kept in another way.
pub(super) fn new_refs(common: &Path, branch: &str) -> Result<Option<Refs>, Failure> {
    if common.join("reftable").exists() {
        return Ok(None);
    }
    let packed = files::read_bounded(&common.join("packed-refs"), PACKED)?.unwrap_or_default();
    let is_there = |name: &str| {
        // A file that somebody is writing, or a power cut has emptied, is git's to judge.
        let loose = std::fs::metadata(common.join(name)).is_ok_and(|metadata| metadata.is_file());
        let named = |line: &[u8]| line.strip_suffix(name.as_bytes()).is_some_and(|before| before.ends_with(b" "));
        loose || packed.split(|byte| *byte == b'\n').any(named)
    };
    Ok(Refs::unless_local(branch, is_there))
}

/// The git folder that all worktrees of the repository at `repo` share, links resolved.
pub(super) fn common_dir(repo: &Path) -> Result<PathBuf, Failure> {
    let dot_git = repo.join(".git");
    let git_dir = if dot_git.is_dir() {
        dot_git
    } else if let Some(target) = points_to(repo)? {
        target
    } else if repo.join("HEAD").is_file() && repo.join("objects").is_dir() {
        repo.to_path_buf()
    } else {
        return Err(Failure::new(format!("{} is no git repository", repo.display())));
    };
    canonical(&shared(&git_dir)?)
}

/// Held while git lists or makes worktrees: it dies of another worktree's half-written folder.
///
/// # Errors
/// When another process holds it for [`files::LOCK_WAIT`], or it cannot be written.
pub(super) fn worktrees_lock(repo: &Path) -> Result<files::Lock, Failure> {
    let lock = common_dir(repo)?.join("ez-worktrees.lock");
    files::Lock::acquire(&lock, files::LOCK_WAIT, "the worktrees of this repository")
}

/// The folder that `git_dir` shares with the other worktrees; itself when it is the main one.
fn shared(git_dir: &Path) -> Result<PathBuf, Failure> {
    match line_of(&git_dir.join("commondir"))? {
        Some(common) => Ok(git_dir.join(common)),
        None => Ok(git_dir.to_path_buf()),
    }
}

/// Where the file `.git` of `dir` points, when it is such a file.
pub(super) fn points_to(dir: &Path) -> Result<Option<PathBuf>, Failure> {
    let file = dir.join(".git");
    if !file.is_file() {
        return Ok(None);
    }
    let Some(bytes) = files::read_bounded(&file, SMALL)? else { return Ok(None) };
    let Some(target) = bytes.strip_prefix(b"gitdir: ") else { return Ok(None) };
    Ok(Some(dir.join(path(target.strip_suffix(b"\n").unwrap_or(target)))))
}

/// The first line of a small file, as a path.
fn line_of(file: &Path) -> Result<Option<PathBuf>, Failure> {
    let bytes = files::read_bounded(file, SMALL)?;
    Ok(bytes.map(|bytes| path(bytes.strip_suffix(b"\n").unwrap_or(&bytes))))
}

/// The real path of something that is there.
pub(super) fn canonical(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| Failure::io("find", path, &error))
}

/// The branch that a git folder has checked out, by its HEAD; none when it is detached, and with a reftable.
pub(super) fn branch_in(git_dir: &Path) -> Result<Option<String>, Failure> {
    let head = files::read_bounded(&git_dir.join("HEAD"), SMALL)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&head)
        .trim_end()
        .strip_prefix("ref: refs/heads/")
        .filter(|name| *name != ".invalid")
        .map(str::to_owned))
}

/// What a folder is to a repository.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// Nothing is there.
    Missing,
    /// The repository's own folder.
    Main,
    /// A linked worktree, with git's own folder for it, `<common>/worktrees/<id>`.
    Linked(PathBuf),
    /// Something else: a folder made by hand, a worktree that git has forgotten, one of another repository.
    Other,
}

/// Finds out what the folder `path` is to the repository at `repo`, by the files of both (report B1: only linked
/// worktrees are ever touched).
pub(super) fn folder(repo: &Path, path: &Path) -> Result<Folder, Failure> {
    if path.symlink_metadata().is_err() {
        return Ok(Folder::Missing);
    }
    if canonical(path)? == canonical(repo)? {
        return Ok(Folder::Main);
    }
    let Some(admin) = points_to(path)? else { return Ok(Folder::Other) };
    let Ok(admin) = admin.canonicalize() else { return Ok(Folder::Other) };
    let below = admin.parent().is_some_and(|parent| parent.file_name() == Some(OsStr::new("worktrees")));
    if below && shared(&admin)?.canonicalize().ok() == Some(common_dir(repo)?) {
        return Ok(Folder::Linked(admin));
    }
    Ok(Folder::Other)
}

/// Why the worktree of `admin` is locked (empty when nobody said); none when it is not (report B5).
pub(super) fn locked(admin: &Path) -> Result<Option<String>, Failure> {
    let reason = files::read_bounded(&admin.join("locked"), SMALL)?;
    Ok(reason.map(|reason| sys::text::clean(String::from_utf8_lossy(&reason).trim())))
}

/// The reason of git's own lock on a worktree that it is making (`git worktree add`).
const MAKING: &str = "initializing";

/// Takes git's own lock from a worktree whose making was killed; any other lock stays.
pub(super) fn unlock_unfinished(admin: &Path) -> Result<(), Failure> {
    if locked(admin)?.as_deref() == Some(MAKING) {
        files::remove_file(&admin.join("locked"))?;
    }
    Ok(())
}

/// Removes what a killed `git worktree add` left of a worktree at `path` before it was one: git's folder for it, and the
/// file `.git`. False when git has begun none there.
pub(super) fn remove_unfinished(repo: &Path, path: &Path) -> Result<bool, Failure> {
    let Ok(entries) = std::fs::read_dir(common_dir(repo)?.join("worktrees")) else { return Ok(false) };
    let dot_git = path.join(".git");
    for admin in entries.flatten().map(|entry| entry.path()) {
        let begun = locked(&admin)?.as_deref() == Some(MAKING);
        if !begun || line_of(&admin.join("gitdir"))?.is_none_or(|there| there != dot_git) {
            continue;
        }
        let alone = path.read_dir().map_or(0, |entries| entries.flatten().filter(|e| e.file_name() != ".git").count());
        if alone > 0 {
            return Ok(false);
        }
        files::remove_file(&dot_git)?;
        files::remove_empty_dir(path)?;
        files::remove_tree(&admin)?;
        return Ok(true);
    }
    Ok(false)
}

/// The refusal of a locked worktree.
pub(super) fn refuse_locked(path: &Path, admin: &Path) -> Result<(), Failure> {
    match locked(admin)? {
        None => Ok(()),
        Some(reason) => {
            let why =
                if reason.is_empty() { "no reason was given".to_owned() } else { format!("the reason: {reason}") };
            Err(Failure::new(format!("the worktree {} is locked", path.display()))
                .cause(why)
                .hint("`git worktree unlock` frees it"))
        }
    }
}

/// The file that remembers the last fetch, in git's folder.
const STAMP: &str = "ez-fetch-stamp";

/// True when the last fetch of the repository with git folder `common` is at least `ttl` old.
pub(super) fn fetch_due(common: &Path, ttl: Duration) -> bool {
    let Ok(modified) = std::fs::metadata(common.join(STAMP)).and_then(|meta| meta.modified()) else { return true };
    // A stamp from the future (a clock set back) is no reason never to fetch again.
    clock::wall().duration_since(modified).map_or(true, |age| age >= ttl)
}

/// Notes that a fetch was tried now, by the file's time. What a power cut leaves of it costs one fetch more at most.
pub(super) fn stamp_fetch(common: &Path) -> Result<(), Failure> {
    let now = clock::wall().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    files::overwrite(&common.join(STAMP), format!("{}\n", now.as_nanos()).as_bytes())
}
