//! The state of a session's folder for lists: what is cheap is read from git's own files, what is not is asked of git,
//! several folders at once. `worktree` gives it to the commands that list.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sys::files;

use crate::context::Context;
use crate::git::Git;
use crate::hooks::repo_view;
use crate::model::gitdir::GitDir;
use crate::store::{Repo, Session};

/// What a list was asked for beyond what is cheap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// `--status`: changes and distance from the base.
    pub status: bool,
    /// `--disk`: sizes.
    pub disk: bool,
}

/// What is known of one folder; `None` where nobody asked or it cannot be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// There is something uncommitted or untracked, submodules included.
    pub dirty: Option<bool>,
    /// Commits that the upstream (else the base branch) lacks.
    pub ahead: Option<u64>,
    /// Commits that are only there.
    pub behind: Option<u64>,
    /// Bytes of the folder's files.
    pub disk: Option<u64>,
}

/// The first line of a session's note.
pub type Note = Option<String>;

/// The branch checked out in `folder`, from two small files; `None` when detached, or no worktree.
pub fn branch(folder: &Path) -> Option<String> {
    let small = |path: &Path| {
        let bytes = files::read_bounded(path, 64 * 1024).ok()??;
        String::from_utf8(bytes).ok()
    };
    let dot = folder.join(".git");
    let head = match small(&dot) {
        Some(text) => folder.join(text.strip_prefix("gitdir:")?.trim()).join("HEAD"),
        None => dot.join("HEAD"),
    };
    small(&head)?.trim_end().strip_prefix("ref: refs/heads/").map(str::to_owned)
}

/// The ids of a repository's sessions that have a folder for notes: one look instead of one for each session.
pub fn noted(context: &Context, repo: &str) -> HashSet<String> {
    let dir = context.store.notes_dir(repo, "");
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The first line with words in a session's README.md, without its `#`.
pub fn note_line(context: &Context, repo: &str, session: &str) -> Note {
    let file = context.store.notes_dir(repo, session).join("README.md");
    let bytes = files::read_bounded(&file, 1 << 20).ok()??;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let line = text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty())?;
    Some(sys::text::clip(&sys::text::clean(line), 200))
}

/// Bytes of all files below `folder`; links are not followed. `None` when the folder cannot be read.
pub fn disk(folder: &Path) -> Option<u64> {
    let mut open = vec![folder.to_path_buf()];
    let mut sum = 0_u64;
    let mut first = true;
    while let Some(next) = open.pop() {
        let entries = match std::fs::read_dir(&next) {
            Ok(entries) => entries,
            Err(_) if first => return None,
            // What cannot be read below is left out, as `du` does.
            Err(_) => continue,
        };
        first = false;
        for entry in entries.flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => open.push(entry.path()),
                Ok(metadata) => sum = sum.saturating_add(metadata.len()),
                Err(_) => {}
            }
        }
    }
    Some(sum)
}

/// What was asked for, of each session's folder, in their order. The expensive questions run beside each other.
pub fn looks(context: &Context, repo: &Repo, sessions: &[Session], asked: Asked) -> Vec<Status> {
    if asked == Asked::default() {
        return vec![Status::default(); sessions.len()];
    }
    let base = if asked.status && repo.is_git { base(context, repo) } else { None };
    beside(sessions, |session| look(context, repo, session, asked, base.as_deref()))
}

/// The branch in each folder, in their order; `None` for none. One after the other: two threads were no faster at
/// opening two small files each.
pub fn branches(folders: &[Option<&Path>]) -> Vec<Option<String>> {
    folders.iter().map(|folder| folder.and_then(branch)).collect()
}

/// What `look` says of each, in order, by several threads: it mostly waits for git or the disk.
fn beside<T: Sync, R: Default + Clone + Send>(items: &[T], look: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from).min(items.len());
    if workers < 2 {
        return items.iter().map(look).collect();
    }
    let found = Mutex::new(vec![R::default(); items.len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let one = look(item);
            if let Ok(mut found) = found.lock() {
                found[at] = one;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn look(context: &Context, repo: &Repo, session: &Session, asked: Asked, base: Option<&str>) -> Status {
    let mut status = Status::default();
    let folder = match &session.path {
        Some(path) => Path::new(path),
        None if session.is_default => Path::new(&repo.path),
        None => return status,
    };
    if asked.disk {
        status.disk = disk(folder);
    }
    if asked.status && repo.is_git && GitDir::at(folder).is_some() {
        ask_git(&Git::new(context, folder), base, &mut status);
    }
    status
}

fn ask_git(git: &Git, base: Option<&str>, status: &mut Status) {
    let args = ["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=none"];
    let Ok(text) = git.text(&args) else { return };
    let mut dirty = false;
    for entry in text.split('\0').filter(|entry| !entry.is_empty()) {
        match entry.strip_prefix("# ") {
            Some(head) => {
                if let Some((ahead, behind)) = head.strip_prefix("branch.ab +").and_then(|two| two.split_once(" -")) {
                    status.ahead = ahead.parse().ok();
                    status.behind = behind.parse().ok();
                }
            }
            None => dirty = true,
        }
    }
    status.dirty = Some(dirty);
    if status.ahead.is_none()
        && let Some(base) = base
        && let Some(two) = git.line(&["rev-list", "--left-right", "--count", &format!("{base}...HEAD"), "--"])
        && let Some((behind, ahead)) = two.split_once('\t')
    {
        status.ahead = ahead.parse().ok();
        status.behind = behind.parse().ok();
    }
}

/// The ref that work starts from: the default branch at `origin`, else the local one.
fn base(context: &Context, repo: &Repo) -> Option<String> {
    let branch = repo_view(context, repo).ok()?.default_branch?;
    let git = Git::new(context, &repo.path);
    [format!("refs/remotes/origin/{branch}"), format!("refs/heads/{branch}")]
        .into_iter()
        .find(|name| git.commit(name).is_some())
}
